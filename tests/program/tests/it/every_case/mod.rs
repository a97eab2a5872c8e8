//! Every route, asked by every kind of client about every kind of key in every state: the answer is what the tables
//! below say, which were written from the documents and know nothing of the service's code (W3, W16).
//!
//! Left out: orders that would change what is asked about, which are counted, and `pre-active`, to which no order leads.

mod cases;
mod scene;
mod tables;

use keywright_api::route::{Endpoint, ROUTES, Route, Verb};
use keywright_encoding::base64;
use keywright_tls::Protocol;
use serde_json::{Value, json};

use cases::{Case, Kind, body};
use tables::{Does, Who, expected, of_keys, status};

use crate::fixture::*;

const TEXT: &[u8] = b"kept";
const CARD: &str = "4111111111111111";

fn text(answer: &Value, field: &str) -> String {
    answer[field].as_str().unwrap().to_owned()
}

/// What is wrong with a good answer, if anything is: its version, and what came back.
fn wrong(route: &Route, who: Who, case: &Case, got: &Got) -> Option<String> {
    let (_, does) = of_keys(route.endpoint)?;
    let version = match does {
        Does::Opens => Some(1),
        Does::Moves | Does::Seals => case.stand.active(),
    };
    if route.is_stream() {
        let told = got.header("keywright-key-version").map(str::to_owned);
        let opened = route.endpoint == Endpoint::EncryptStream || got.body == TEXT;
        let right = told == version.map(|number| number.to_string()) && opened;
        return (!right).then(|| format!("{told:?}, {} bytes", got.body.len()));
    }
    let answer = got.json();
    let whose = who == Who::Holder || case.kind.is_rsa();
    let (field, value) = match route.endpoint {
        Endpoint::Decrypt | Endpoint::DeterministicDecrypt => {
            ("plaintext", json!(base64::encode(TEXT)))
        }
        // The key of RSA is the same one on both sides.
        Endpoint::Verify | Endpoint::MacVerify => ("valid", json!(whose)),
        Endpoint::Detokenize if who == Who::Holder => ("value", json!(CARD)),
        _ => ("key_version", json!(version)),
    };
    let right = answer["key_version"] == json!(version) && answer[field] == value;
    (!right).then(|| answer.to_string())
}

/// Asks; what was wrong with the answer, or with nothing.
fn judge(
    wire: &mut Wire,
    route: &Route,
    (who, case): (Who, &Case),
    wanted: &str,
) -> Option<String> {
    let place = route.path.to_string().replace("{context}", &case.name);
    let got = match route.verb {
        Verb::Get => wire.get(&place),
        Verb::Post => wire.post(&place, body(route.endpoint, case)),
    };
    let (code, verb) = (got.code(), route.verb.name());
    if (got.status, code.as_str()) != (status(wanted), wanted) {
        let status = got.status;
        return Some(format!(
            "{who:?} {verb} {place} {case}: {status} {code}, not {wanted}"
        ));
    }
    let wrong = (wanted == "ok").then(|| wrong(route, who, case, &got))??;
    Some(format!("{who:?} {verb} {place} {case}: {wrong}"))
}

#[test]
fn every_route_tells_every_client_about_every_key_in_every_state_what_the_tables_say() {
    let (site, cases) = scene::site();
    let mut wires = Who::ALL.map(|who| (who, site.wire(who.name(), Protocol::Http2)));
    let (mut asked, mut left, mut failed) = (0, 0, Vec::new());
    let routes = ROUTES.iter().filter(|route| route.takes_context());
    for route in routes.clone() {
        scene::set_rights(&site, route.operation);
        for (who, wire) in &mut wires {
            for case in &cases {
                let Some(wanted) = expected(route, *who, case) else {
                    left += 1;
                    continue;
                };
                failed.extend(judge(wire, route, (*who, case), wanted));
                asked += 1;
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {asked} answers are wrong:\n{}",
        failed.len(),
        failed.join("\n")
    );
    // 18 kinds that rotate stand in 9 ways; 8 of trees and 2 of RSA in 5.
    assert_eq!((Kind::all().len(), cases.len()), (28, 18 * 9 + 10 * 5));
    assert_eq!(asked + left, routes.count() * cases.len() * Who::ALL.len());
    assert_eq!((asked, left), (23_612, 980));
    site.stop().verify();
}

#[test]
fn every_route_without_a_context_answers_by_right_alone() {
    let site = scene::two_tenants();
    let mut asked = 0;
    for route in ROUTES.iter().filter(|route| !route.takes_context()) {
        scene::set_rights(&site, route.operation);
        // The protocol names what any principal may ask.
        let free = ["/v1/health", "/v1/contexts", "/v1/openapi.json"];
        let place = route.path.to_string();
        for who in Who::ALL {
            let mut wire = site.wire(who.name(), Protocol::Http2);
            let got = match route.verb {
                Verb::Get => wire.get(&place),
                Verb::Post => wire.post(&place, r#"{"bytes":8}"#),
            };
            let may = matches!(who, Who::Holder | Who::Stranger) || free.contains(&&*place);
            let wanted = if may { "ok" } else { "operation_denied" };
            assert_eq!(got.code(), wanted, "{who:?} {place}");
            asked += 1;
        }
    }
    assert_eq!(asked, 5 * 4);
    site.stop().verify();
}
