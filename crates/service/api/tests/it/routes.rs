//! Paths are compared byte for byte, and lead where the table says.

use std::collections::HashSet;

use http::Method;
use keywright_api::route::{
    Endpoint, Path, ROUTES, Route, RouteMatch, match_route, match_route_on,
};
use keywright_types::{Operation, Plane};

fn concrete(route: &Route) -> String {
    route.path.to_string().replace("{context}", "exchange-key")
}

fn method(route: &Route) -> Method {
    route.verb.name().parse().unwrap()
}

#[test]
fn every_route_is_on_a_listener_and_orders_are_on_that_of_administration_alone() {
    for route in &ROUTES {
        let path = concrete(route);
        let (admin, data) = (route.is_on(Plane::Admin), route.is_on(Plane::Data));
        assert!(admin || data, "{path}");
        assert_eq!(data, !route.is_order(), "{path}");
        // What is on both changes nothing and uses no key.
        assert_eq!(admin && data, route.request.is_none(), "{path}");
        for (plane, here) in [(Plane::Admin, admin), (Plane::Data, data)] {
            for verb in [Method::GET, Method::POST, Method::PUT] {
                let found = match_route_on(Some(plane), &verb, &path);
                let nowhere = matches!(found, RouteMatch::NotFound);
                assert_eq!(nowhere, !here, "{verb} {path}");
            }
        }
    }
}

#[test]
fn every_route_is_found_by_its_own_path_and_no_other_method() {
    for route in &ROUTES {
        let path = concrete(route);
        match match_route(&method(route), &path) {
            RouteMatch::Found {
                route: found,
                context,
            } => {
                assert_eq!(found.endpoint, route.endpoint);
                assert_eq!(context, route.takes_context().then_some("exchange-key"));
            }
            other => panic!("{path}: {other:?}"),
        }
        for other in [
            "GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "get", "BREW",
        ] {
            if other == route.verb.name() {
                continue;
            }
            match match_route(&other.parse().unwrap(), &path) {
                RouteMatch::WrongMethod { allow } => assert_eq!(allow, route.verb.name()),
                found => panic!("{other} {path}: {found:?}"),
            }
        }
    }
}

#[test]
fn paths_operations_and_endpoints_are_each_used_once() {
    let distinct = |count: usize| assert_eq!(count, ROUTES.len());
    distinct(ROUTES.iter().map(concrete).collect::<HashSet<_>>().len());
    distinct(
        ROUTES
            .iter()
            .map(|route| route.endpoint)
            .collect::<HashSet<_>>()
            .len(),
    );
    // A stream is another way to ask for the same, and needs the same right.
    let whole = ROUTES.iter().filter(|route| !route.is_stream());
    let operations: Vec<_> = whole.map(|route| route.operation).collect();
    assert_eq!(
        operations.iter().collect::<HashSet<_>>().len(),
        operations.len()
    );
    let streams = ROUTES.iter().filter(|route| route.is_stream());
    for route in streams {
        assert!(operations.contains(&route.operation), "{}", route.path);
    }
}

#[test]
fn the_table_is_the_one_that_was_decided() {
    let lines: Vec<_> = ROUTES
        .iter()
        .map(|route| format!("{} {} {}", route.verb.name(), route.path, route.operation))
        .collect();
    assert_eq!(
        lines,
        [
            "POST /v1/contexts/{context}/encrypt encrypt",
            "POST /v1/contexts/{context}/decrypt decrypt",
            "POST /v1/contexts/{context}/encrypt/stream encrypt",
            "POST /v1/contexts/{context}/decrypt/stream decrypt",
            "POST /v1/contexts/{context}/rewrap rewrap",
            "POST /v1/contexts/{context}/datakey datakey",
            "POST /v1/contexts/{context}/datakey/open datakey-open",
            "POST /v1/contexts/{context}/deterministic/encrypt deterministic-encrypt",
            "POST /v1/contexts/{context}/deterministic/decrypt deterministic-decrypt",
            "POST /v1/contexts/{context}/tokenize tokenize",
            "POST /v1/contexts/{context}/detokenize detokenize",
            "POST /v1/contexts/{context}/mask mask",
            "POST /v1/contexts/{context}/sign sign",
            "POST /v1/contexts/{context}/verify verify",
            "POST /v1/contexts/{context}/agree agree",
            "POST /v1/contexts/{context}/public-key public-key",
            "POST /v1/contexts/{context}/xpub xpub",
            "POST /v1/contexts/{context}/key/export key-export",
            "POST /v1/contexts/{context}/mac mac",
            "POST /v1/contexts/{context}/mac/verify mac-verify",
            "POST /v1/contexts/{context}/key/suspend key-suspend",
            "POST /v1/contexts/{context}/key/resume key-resume",
            "POST /v1/contexts/{context}/key/retire key-retire",
            "POST /v1/contexts/{context}/key/schedule-destroy key-schedule-destroy",
            "POST /v1/contexts/{context}/key/cancel-destroy key-cancel-destroy",
            "POST /v1/contexts/{context}/key/destroy key-destroy",
            "POST /v1/contexts/{context}/key/approve key-approve",
            "POST /v1/contexts/{context}/key/rotate key-rotate",
            "GET /v1/contexts/{context}/key/versions key-list",
            "POST /v1/random random",
            "GET /v1/health health-read",
            "GET /v1/contexts context-list",
            "GET /metrics metrics-read",
            "GET /v1/openapi.json api-read",
        ]
    );
}

#[test]
fn unclean_paths_lead_nowhere() {
    let long = format!("/v1/contexts/{}/encrypt", "x".repeat(64));
    let nowhere = [
        "",
        "/",
        "//",
        "*",
        "/v1",
        "/v1/",
        "/v2/random",
        "v1/random",
        "/V1/random",
        "/v1/Random",
        "/v1/random/",
        "//v1/random",
        "/v1//random",
        "/v1/./random",
        "/v1/x/../random",
        "/v1/random?x",
        "/v1/random#x",
        "/v1/random%20",
        "/v1/%72andom",
        "/v1/random\0",
        "/v1/random ",
        " /v1/random",
        "/metrics/",
        "/v1/metrics",
        "/health",
        "/v1/health/",
        "/v1/openapi",
        "/v1/contexts/",
        "/v1/contexts/exchange-key",
        "/v1/contexts/exchange-key/",
        "/v1/contexts//encrypt",
        "/v1/contexts/a//encrypt",
        "/v1/contexts/a/encrypt/",
        "/v1/contexts/a/b/encrypt",
        "/v1/contexts/../encrypt",
        "/v1/contexts/./encrypt",
        "/v1/contexts/.a/encrypt",
        "/v1/contexts/a%2Fb/encrypt",
        "/v1/contexts/%61/encrypt",
        "/v1/contexts/a b/encrypt",
        "/v1/contexts/*/encrypt",
        "/v1/contexts/{context}/encrypt",
        "/v1/contexts/ä/encrypt",
        "/v1/contexts/a\0/encrypt",
        "/v1/contexts/a;b/encrypt",
        "/v1/contexts/a/Encrypt",
        "/v1/contexts/a/encrypts",
        "/v1/contexts/a/encryp",
        "/v1/contexts/a/datakey/",
        "/v1/contexts/a/datakey/Open",
        "/v1/contexts/a/datakey//open",
        "/v1/contexts/a/open",
        "/v1/contexts/a/encrypt/stream/",
        "/v1/contexts/a/encrypt/streams",
        "/v1/contexts/a/rewrap/stream",
        "/v1/contexts/a/stream",
        "/encrypt",
        "/decrypt",
        &long,
    ];
    for path in nowhere {
        for method in [Method::GET, Method::POST] {
            let found = match_route(&method, path);
            assert!(matches!(found, RouteMatch::NotFound), "{path:?}: {found:?}");
        }
    }
}

#[test]
fn the_longest_name_and_odd_but_valid_names_are_found() {
    let longest = "x".repeat(63);
    for name in [
        longest.as_str(),
        "2fa",
        "A.b_c-9",
        "a..b",
        "encrypt",
        "datakey",
        "v1",
    ] {
        let path = format!("/v1/contexts/{name}/datakey/open");
        match match_route(&Method::POST, &path) {
            RouteMatch::Found { route, context } => {
                assert_eq!(
                    (route.endpoint, context),
                    (Endpoint::DatakeyOpen, Some(name))
                );
            }
            other => panic!("{path}: {other:?}"),
        }
    }
}

#[test]
fn what_hands_out_or_changes_is_never_read_with_get() {
    let read = [
        Operation::HealthRead,
        Operation::ContextList,
        Operation::MetricsRead,
        Operation::ApiRead,
        Operation::KeyList,
    ];
    for route in &ROUTES {
        let get = route.verb.name() == "GET";
        assert_eq!(get, read.contains(&route.operation), "{}", route.path);
        assert_eq!(get, route.request.is_none(), "{}", route.path);
        let listed = route.operation == Operation::KeyList;
        assert!(!get || listed || matches!(route.path, Path::Fixed(_)));
    }
}
