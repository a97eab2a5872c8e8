//! Everything of one tenant, asked for by another, looks as if it did not exist: to the byte, but for the id under
//! which the request is in the log (W16).

use http::Method;
use keywright_api::route::{ROUTES, Verb};
use keywright_home::{Answer, Order};
use keywright_policy::{ContextPattern, Effect, Grant};
use keywright_tls::Protocol;
use keywright_types::{BindingKind, KeySpec, Operation};

use crate::fixture::*;
use crate::questions::body_of;
use crate::uses::good_requests;

const MIRROR: &str = "mirror";
/// As long as the longest name that is there, so that nothing can be told from lengths.
const NEVER_MADE: &str = "never-made-x";

fn make_mirrored(site: &Site, context: &str) {
    let order = Order::ContextCreate {
        tenant: name(MIRROR),
        name: name(context),
        binding: BindingKind::None,
        spec: KeySpec::seal(),
        rules: keywright_custody::Rules::default(),
        detail: None,
        secret: None,
    };
    let made = site.node().carry_out(order).unwrap();
    assert!(matches!(made, Answer::ContextCreated { .. }));
}

/// Moves a client of the demonstration into the other tenant, where it may do everything.
fn move_over(site: &Site, client: &str) {
    site.change_policy(|document| {
        let mut moved = document
            .principals
            .iter()
            .find(|one| one.name == name(client))
            .unwrap()
            .clone();
        document.principals.retain(|one| one.name != name(client));
        (moved.tenant, moved.group, moved.id) = (name(MIRROR), None, None);
        document.principals.push(moved);
        for grant in &mut document.grants {
            grant.principals.retain(|one| *one != name(client));
        }
        document
            .grants
            .retain(|grant| !(grant.principals.is_empty() && grant.groups.is_empty()));
        let (in_context, plain): (Vec<_>, Vec<_>) =
            ROUTES.iter().partition(|route| route.takes_context());
        let operations = |routes: &[&keywright_api::route::Route]| {
            let mut operations: Vec<_> = routes.iter().map(|route| route.operation).collect();
            operations.sort_unstable();
            operations.dedup();
            operations
        };
        let free = [
            Operation::HealthRead,
            Operation::ContextList,
            Operation::ApiRead,
        ];
        let plain: Vec<_> = operations(&plain)
            .into_iter()
            .filter(|one| !free.contains(one))
            .collect();
        for (operations, contexts) in [
            (operations(&in_context), vec![ContextPattern::Any]),
            (plain, Vec::new()),
        ] {
            document.grants.push(Grant {
                tenant: name(MIRROR),
                principals: vec![name(client)],
                groups: Vec::new(),
                effect: Effect::Allow,
                operations,
                contexts,
                paths: Vec::new(),
            });
        }
    });
}

/// A site with two tenants; what the first has, and who asks from the second.
fn site() -> (Site, Vec<String>) {
    let home = Home::demo().configure("vault_transit = false", "vault_transit = true");
    let site = Site::over(home);
    let mut theirs = vec![EXCHANGE.to_owned(), TWO_FACTOR.to_owned()];
    theirs.extend(
        good_requests(&site)
            .into_iter()
            .map(|(_, context, _)| context.to_owned()),
    );
    theirs.sort_unstable();
    theirs.dedup();
    site.node().admin().create_tenant(&name(MIRROR)).unwrap();
    make_mirrored(&site, "own");
    move_over(&site, WEB);
    (site, theirs)
}

/// Everything that an answer shows, without the time and the request's own id.
fn shown(got: &Got) -> (u16, Vec<(String, String)>, String) {
    let mut headers: Vec<_> = got
        .headers
        .iter()
        .filter(|(name, _)| *name != "date")
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect();
    headers.sort();
    let mut body = String::from_utf8_lossy(&got.body).into_owned();
    let json: serde_json::Value = serde_json::from_slice(&got.body).unwrap_or_default();
    // Of our own answers, and of those for Vault's clients.
    for id in [&json["error"]["request"], &json["request_id"]] {
        if let Some(id) = id.as_str() {
            body = body.replace(id, "");
        }
    }
    (got.status, headers, body)
}

/// The bodies to ask a route with: understood, not understood, none, and many.
fn bodies(operation: Operation) -> Vec<String> {
    let good = body_of(operation).to_owned();
    let many = format!("{{\"items\":[{good},{good}]}}");
    vec![
        good,
        many,
        "{}".to_owned(),
        "nonsense".to_owned(),
        String::new(),
    ]
}

#[test]
fn whatever_is_asked_of_another_tenants_contexts_is_answered_as_if_they_were_not_there() {
    let (site, theirs) = site();
    let mut asked = 0;
    for protocol in BOTH {
        let mut wire = site.wire(WEB, protocol);
        for route in ROUTES.iter().filter(|route| route.takes_context()) {
            let template = route.path.to_string();
            let mut ask = |context: &str, body: &str| {
                let path = template.replace("{context}", context);
                let (method, body) = match route.verb {
                    Verb::Get => (Method::GET, ""),
                    Verb::Post => (Method::POST, body),
                };
                shown(&wire.send(method, &path, body.to_owned()).unwrap())
            };
            for body in bodies(route.operation) {
                let nothing = ask(NEVER_MADE, &body);
                for context in &theirs {
                    assert_eq!(ask(context, &body), nothing, "{template} {context}: {body}");
                    asked += 1;
                }
            }
            // What is answered is that there is no such context, and the test would see another word.
            let good = body_of(route.operation);
            let (status, _, body) = ask(NEVER_MADE, good);
            assert!(
                status == 404 && body.contains("context_not_found"),
                "{template}: {body}"
            );
            let (_, _, own) = ask("own", good);
            assert!(!own.contains("context_not_found"), "{template}: {own}");
        }
    }
    assert!(asked > 2000, "{asked}");
    site.stop().verify();
}

#[test]
fn what_another_tenant_has_sealed_and_signed_is_as_good_as_made_up() {
    let (site, _) = site();
    make_mirrored(&site, EXCHANGE);
    let mut ours = site.wire(TRADING, Protocol::Http2);
    let sealed = seal(&mut ours, EXCHANGE, b"of the first tenant", b"");
    let wrapped = ours
        .post(&path(EXCHANGE, "datakey"), "{}")
        .binary("ciphertext");
    for protocol in BOTH {
        let mut wire = site.wire(WEB, protocol);
        for theirs in [&sealed, &wrapped] {
            // Magic, suite, kind and binding, then the key's id (design 7.4): here one that nobody has.
            let mut made_up = theirs.clone();
            made_up[6..6 + 16].fill(0x5A);
            for action in ["decrypt", "rewrap", "datakey/open"] {
                for context in [EXCHANGE, "own"] {
                    let mut ask = |envelope: &[u8]| {
                        let one = item(&[("ciphertext", envelope)]);
                        let alone = wire.post(&path(context, action), one.clone());
                        let among = wire.post(&path(context, action), batch([one.clone(), one]));
                        [shown(&alone), shown(&among)]
                    };
                    let answered = ask(theirs);
                    assert_eq!(answered, ask(&made_up), "{action} {context}");
                    assert_eq!(answered[0].0, 400, "{action} {context}: {answered:?}");
                }
            }
        }
    }
    site.stop().verify();
}

#[test]
fn no_list_and_no_page_names_what_another_tenant_has() {
    let (site, theirs) = site();
    let ids: Vec<String> = {
        let mut wire = site.wire(TRADING, Protocol::Http2);
        let listed = wire.get("/v1/contexts").json();
        let listed = listed["contexts"].as_array().unwrap().clone();
        assert!(listed.len() > 5, "{listed:?}");
        listed
            .iter()
            .map(|one| one["id"].as_str().unwrap().to_owned())
            .collect()
    };
    for protocol in BOTH {
        let mut wire = site.wire(WEB, protocol);
        let listed = wire.get("/v1/contexts").json();
        let names: Vec<_> = listed["contexts"].as_array().unwrap().iter().collect();
        assert_eq!(names.len(), 1, "{listed}");
        assert_eq!(names[0]["name"], "own");
        for page in ["/v1/contexts", "/v1/health", "/v1/openapi.json", "/metrics"] {
            let got = wire.get(page);
            let text = String::from_utf8_lossy(&got.body).into_owned();
            let named = theirs
                .iter()
                .filter(|name| name.starts_with("any-") || *name == EXCHANGE);
            for word in named.chain(&ids) {
                // The description's examples have names of their own.
                let example = page.ends_with("openapi.json") && word == EXCHANGE;
                assert!(
                    example || !text.contains(word.as_str()),
                    "{page} names {word}"
                );
            }
        }
    }
    site.stop();
}

#[test]
fn the_door_for_vaults_clients_shows_no_more_of_another_tenant() {
    let (site, theirs) = site();
    let mut wire = site.wire(WEB, Protocol::Http1);
    for (method, action, body) in [
        (Method::POST, "encrypt/{}", r#"{"plaintext":"eA=="}"#),
        (
            Method::POST,
            "decrypt/{}",
            r#"{"ciphertext":"vault:v1:KWR1"}"#,
        ),
        (
            Method::POST,
            "rewrap/{}",
            r#"{"ciphertext":"vault:v1:KWR1"}"#,
        ),
        (Method::POST, "datakey/plaintext/{}", "{}"),
        (Method::POST, "datakey/wrapped/{}", "{}"),
        (Method::POST, "sign/{}", r#"{"input":"eA=="}"#),
        (
            Method::POST,
            "verify/{}",
            r#"{"input":"eA==","signature":"vault:v1:eA=="}"#,
        ),
        (Method::POST, "hmac/{}", r#"{"input":"eA=="}"#),
        (Method::GET, "keys/{}", ""),
        (Method::POST, "keys/{}/rotate", "{}"),
    ] {
        let mut ask = |context: &str| {
            let path = format!("/v1/transit/{}", action.replace("{}", context));
            shown(&wire.send(method.clone(), &path, body).unwrap())
        };
        let nothing = ask(NEVER_MADE);
        assert!(nothing.0 >= 400, "{action}: {nothing:?}");
        for context in &theirs {
            assert_eq!(ask(context), nothing, "{action} {context}");
        }
    }
    let listed = wire.send(Method::from_bytes(b"LIST").unwrap(), "/v1/transit/keys", "");
    let listed = listed.unwrap();
    let text = String::from_utf8_lossy(&listed.body).into_owned();
    for context in theirs.iter().filter(|one| one.starts_with("any-")) {
        assert!(!text.contains(context.as_str()), "{text}");
    }
    site.stop();
}
