//! Bad requests: each has its status, its stable code and exactly one record, over both protocols.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, header};
use http_body_util::Full;
use keywright_api::route::{ROUTES, Route, Verb};
use keywright_policy::{ContextPattern, Effect, Grant};
use keywright_tls::Protocol;
use keywright_types::Operation;
use serde_json::Value;

use crate::fixture::*;

/// What a bad request must come to.
struct Expected {
    status: u16,
    code: &'static str,
    operation: &'static str,
}

/// Requests that were refused, to be looked up in the log once it is closed.
#[derive(Default)]
struct Refused(Vec<(String, Expected)>);

impl Refused {
    fn check(&mut self, what: &str, got: &Got, expected: Expected) {
        assert_eq!(
            (got.status, got.code().as_str()),
            (expected.status, expected.code),
            "{what}"
        );
        assert_eq!(
            got.header("content-type"),
            Some("application/json"),
            "{what}"
        );
        let body = got.json();
        let keys: Vec<_> = body["error"].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["code", "message", "request"], "{what}");
        self.0.push((got.request(), expected));
    }

    /// Exactly one record for each, with the same outcome; their reasons by request.
    fn recorded(self, home: &Home) -> BTreeMap<String, Option<Value>> {
        let requests = home.requests();
        let mut reasons = BTreeMap::new();
        for (id, expected) in self.0 {
            let found: Vec<_> = requests
                .iter()
                .filter(|one| one["request"] == *id)
                .collect();
            assert_eq!(found.len(), 1, "{id}: {found:?}");
            assert_eq!(found[0]["outcome"], expected.code, "{id}");
            assert_eq!(found[0]["operation"], expected.operation, "{id}");
            reasons.insert(id, field(found[0], "reason").cloned());
        }
        home.verify();
        reasons
    }
}

const fn encrypt(status: u16, code: &'static str) -> Expected {
    Expected {
        status,
        code,
        operation: "encrypt",
    }
}

const fn decrypt(status: u16, code: &'static str) -> Expected {
    Expected {
        status,
        code,
        operation: "decrypt",
    }
}

/// Bodies that `encrypt` does not take.
const MALFORMED: [&str; 31] = [
    "",
    " ",
    "{",
    "}",
    "null",
    "true",
    "7",
    "\"plaintext\"",
    "[]",
    "{}",
    "\u{FEFF}{}",
    "{\"plaintext\":\"\"",
    "{\"plaintext\":\"\"}}",
    "{\"plaintext\":\"\"} x",
    "{\"plaintext\":\"\",}",
    "{'plaintext':''}",
    "{\"plaintext\":7}",
    "{\"plaintext\":null}",
    "{\"plaintext\":[\"\"]}",
    "{\"Plaintext\":\"\"}",
    "{\"plaintext\":\"\",\"plaintext\":\"\"}",
    "{\"plaintext\":\"\",\"extra\":1}",
    "{\"plaintext\":\"\",\"nonce\":\"\"}",
    "{\"items\":[]}",
    "{\"items\":{}}",
    "{\"items\":[{}]}",
    "{\"items\":[{\"plaintext\":\"\"},7]}",
    "{\"items\":[{\"plaintext\":\"\"}],\"plaintext\":\"\"}",
    "{\"plaintext\":\"\",\"items\":[]}",
    "{\"aad\":\"\"}",
    "{\"plaintext\":\"\\ud800\"}",
];

#[test]
fn bodies_that_are_not_what_the_route_takes_are_refused() {
    let site = Site::start();
    let mut refused = Refused::default();
    for protocol in BOTH {
        let mut wire = site.wire(TRADING, protocol);
        for body in MALFORMED {
            let got = wire.post(&path(EXCHANGE, "encrypt"), body);
            refused.check(body, &got, encrypt(400, "request_malformed"));
        }
        let not_text = wire.post(&path(EXCHANGE, "encrypt"), &b"{\"plaintext\":\"\xFF\"}"[..]);
        refused.check("not UTF-8", &not_text, encrypt(400, "request_malformed"));
        let deep = "[".repeat(100_000);
        let got = wire.post(
            &path(EXCHANGE, "encrypt"),
            format!("{{\"plaintext\":{deep}"),
        );
        refused.check("nested", &got, encrypt(400, "request_malformed"));
        for text in [
            "A", "AA", "AAA", "AA=", "AA==A", "AB==", "AAB=", "A===", "====", "AA-_", "A A=",
        ] {
            let body = format!("{{\"plaintext\":\"{text}\"}}");
            let got = wire.post(&path(EXCHANGE, "encrypt"), body);
            refused.check(text, &got, encrypt(400, "base64_invalid"));
            let body = format!("{{\"plaintext\":\"\",\"aad\":\"{text}\"}}");
            let got = wire.post(&path(EXCHANGE, "encrypt"), body);
            refused.check(text, &got, encrypt(400, "base64_invalid"));
        }
        for bytes in ["-1", "0", "65537", "18446744073709551615"] {
            let got = wire.post("/v1/random", format!("{{\"bytes\":{bytes}}}"));
            let code = match bytes {
                "-1" => "request_malformed",
                _ => "value_invalid",
            };
            refused.check(
                bytes,
                &got,
                Expected {
                    status: 400,
                    code,
                    operation: "random",
                },
            );
        }
    }
    refused.recorded(&site.stop());
}

#[test]
fn limits_are_kept_to_the_byte_and_the_item() {
    let site = Site::start();
    let mut refused = Refused::default();
    for protocol in BOTH {
        let mut wire = site.wire(TRADING, protocol);
        let aad = |length| item(&[("plaintext", b"x"), ("aad", &vec![7; length])]);
        assert_eq!(
            wire.post(&path(EXCHANGE, "encrypt"), aad(16 << 10)).status,
            200
        );
        let got = wire.post(&path(EXCHANGE, "encrypt"), aad((16 << 10) + 1));
        refused.check("aad", &got, encrypt(400, "aad_too_large"));
        let many = |count| batch((0..count).map(|_| item(&[("plaintext", b"")])));
        let got = wire.post(&path(EXCHANGE, "encrypt"), many(10_001));
        refused.check("10,001 items", &got, encrypt(413, "too_many_items"));
        let mut body = vec![b' '; 16 << 20];
        let text = item(&[("plaintext", b"x")]);
        body[..text.len()].copy_from_slice(text.as_bytes());
        assert_eq!(
            wire.post(&path(EXCHANGE, "encrypt"), body.clone()).status,
            200
        );
        if protocol == Protocol::Http2 {
            body.push(b' ');
            let got = wire.post(&path(EXCHANGE, "encrypt"), body);
            refused.check("16 MiB and a byte", &got, encrypt(413, "body_too_large"));
            assert!(
                got.json()["error"]["message"]
                    .as_str()
                    .unwrap()
                    .contains("16777216")
            );
        }
    }
    // Over HTTP/1.1 the answer comes before the body, and ends the connection.
    let tls = site
        .home
        .tls(Some(site.home.identity(TRADING)), Protocol::Http1);
    let mut text = format!(
        "POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16777217\r\n\r\n",
        path(EXCHANGE, "encrypt")
    );
    text.push_str(&" ".repeat(1 << 16));
    let answer = raw(
        site.address(),
        tls,
        text.as_bytes(),
        Duration::from_secs(10),
    )
    .unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 413") && answer.contains("body_too_large"),
        "{answer}"
    );
    let home = site.stop();
    let too_large = |record: &&Value| record["outcome"] == "body_too_large";
    assert_eq!(home.requests().iter().filter(too_large).count(), 2);
    refused.recorded(&home);
}

#[test]
fn a_hidden_context_answers_like_one_that_is_not_there() {
    let site = Site::start();
    let mut refused = Refused::default();
    let mut pairs = Vec::new();
    for protocol in BOTH {
        let mut wire = site.wire(TRADING, protocol);
        let sealed = seal(
            &mut site.wire(WEB, protocol),
            TWO_FACTOR,
            b"SecretCode",
            b"",
        );
        let mut ask = |context: &str, action: &str| {
            let body = match action {
                "encrypt" => item(&[("plaintext", b"x")]),
                "datakey" => "{}".to_owned(),
                _ => item(&[("ciphertext", &sealed)]),
            };
            wire.post(&path(context, action), body)
        };
        for (action, operation) in [
            ("encrypt", "encrypt"),
            ("decrypt", "decrypt"),
            ("rewrap", "rewrap"),
            ("datakey", "datakey"),
            ("datakey/open", "datakey-open"),
        ] {
            let (hidden, unknown) = (ask(TWO_FACTOR, action), ask("xyz", action));
            let expected = || Expected {
                status: 404,
                code: "context_not_found",
                operation,
            };
            refused.check(action, &hidden, expected());
            refused.check(action, &unknown, expected());
            assert_eq!(
                hidden.json()["error"]["message"],
                unknown.json()["error"]["message"]
            );
            let but_the_id =
                |got: &Got| String::from_utf8_lossy(&got.body).replace(&got.request(), "");
            assert_eq!(but_the_id(&hidden), but_the_id(&unknown));
            let names = |got: &Got| got.headers.keys().cloned().collect::<Vec<_>>();
            assert_eq!(names(&hidden), names(&unknown));
            pairs.push((hidden.request(), unknown.request()));
        }
    }
    let home = site.stop();
    let reasons = refused.recorded(&home);
    for (hidden, unknown) in pairs {
        assert_eq!(reasons[&hidden], Some("context-hidden".into()));
        assert_eq!(reasons[&unknown], Some("context-unknown".into()));
    }
}

#[test]
fn a_right_that_is_missing_beside_others_is_named() {
    let site = Site::start();
    let mut refused = Refused::default();
    site.change_policy(|document| {
        for grant in &mut document.grants {
            grant
                .operations
                .retain(|one| !matches!(one, Operation::Decrypt | Operation::Random));
        }
    });
    for protocol in BOTH {
        let mut wire = site.wire(TRADING, protocol);
        let sealed = seal(&mut wire, EXCHANGE, b"x", b"");
        let got = wire.post(&path(EXCHANGE, "decrypt"), item(&[("ciphertext", &sealed)]));
        refused.check("decrypt", &got, decrypt(403, "operation_denied"));
        let got = wire.post("/v1/random", "{\"bytes\":8}");
        let random = Expected {
            status: 403,
            code: "operation_denied",
            operation: "random",
        };
        refused.check("random", &got, random);
    }
    let reasons = refused.recorded(&site.stop());
    assert!(
        reasons
            .values()
            .all(|reason| *reason == Some("policy-denied".into()))
    );
}

/// A header (7.4) with a group's id, nonce, commitment and tag; the message may be empty.
const SHORTEST: usize = 42 + 24 + 32 + 16;

#[test]
fn a_cut_envelope_does_not_open_at_any_length() {
    let site = Site::start();
    let mut refused = Refused::default();
    for protocol in BOTH {
        let mut wire = site.wire(TRADING, protocol);
        let sealed = seal(&mut wire, EXCHANGE, b"0123456789", b"");
        assert_eq!(sealed.len(), SHORTEST + 10);
        let code = |length: usize| match length < SHORTEST {
            true => "ciphertext_malformed",
            false => "decryption_failed",
        };
        for length in (0..sealed.len())
            .step_by(7)
            .chain(SHORTEST - 2..sealed.len())
        {
            let body = item(&[("ciphertext", &sealed[..length])]);
            let got = wire.post(&path(EXCHANGE, "decrypt"), body);
            refused.check(&format!("{length} bytes"), &got, decrypt(400, code(length)));
        }
        let all = (0..sealed.len()).map(|length| item(&[("ciphertext", &sealed[..length])]));
        let got = wire.post(&path(EXCHANGE, "decrypt"), batch(all)).json();
        assert_eq!(got["failed"], sealed.len());
        for (length, result) in got["items"].as_array().unwrap().iter().enumerate() {
            assert_eq!(result["error"]["code"], code(length), "{length} bytes");
        }
        let longer = [&sealed[..], b"\0"].concat();
        let got = wire.post(&path(EXCHANGE, "decrypt"), item(&[("ciphertext", &longer)]));
        refused.check("a byte more", &got, decrypt(400, "decryption_failed"));
    }
    refused.recorded(&site.stop());
}

#[test]
fn a_flipped_bit_does_not_open_wherever_it_is() {
    let site = Site::start();
    let mut refused = Refused::default();
    for protocol in BOTH {
        let mut wire = site.wire(TRADING, protocol);
        let sealed = seal(&mut wire, EXCHANGE, b"0123456789", b"aad");
        let flipped = |index: usize, bit: u32| {
            let mut flipped = sealed.clone();
            flipped[index] ^= 1 << bit;
            item(&[("ciphertext", &flipped), ("aad", b"aad")])
        };
        let all = (0..sealed.len()).flat_map(|index| (0..8).map(move |bit| (index, bit)));
        let got = wire.post(
            &path(EXCHANGE, "decrypt"),
            batch(all.clone().map(|(index, bit)| flipped(index, bit))),
        );
        let got = got.json();
        assert_eq!(got["failed"], sealed.len() * 8);
        for ((index, bit), result) in all.zip(got["items"].as_array().unwrap()) {
            let code = result["error"]["code"].as_str().unwrap();
            // Magic, suite, kind and kind of binding decide how the rest is read.
            let expected: &[&str] = match index {
                0..=2 => &["ciphertext_malformed"],
                3..=5 => &["ciphertext_malformed", "decryption_failed"],
                _ => &["decryption_failed"],
            };
            assert!(expected.contains(&code), "byte {index}, bit {bit}: {code}");
        }
        for index in (6..sealed.len()).step_by(11) {
            let got = wire.post(&path(EXCHANGE, "decrypt"), flipped(index, 0));
            refused.check(
                &format!("byte {index}"),
                &got,
                decrypt(400, "decryption_failed"),
            );
        }
    }
    refused.recorded(&site.stop());
}

#[test]
fn what_belongs_elsewhere_does_not_open_and_does_not_say_why() {
    let site = Site::start();
    let mut refused = Refused::default();
    site.change_policy(|document| {
        // So that one caller may ask both contexts, and it is the envelope that does not fit.
        let all = document
            .grants
            .iter_mut()
            .filter(|grant| !grant.contexts.is_empty());
        all.for_each(|grant| grant.contexts = vec![ContextPattern::Any]);
    });
    let mut sentences = Vec::new();
    for protocol in BOTH {
        let mut wire = site.wire(TRADING, protocol);
        let sealed = seal(&mut wire, EXCHANGE, b"x", b"aad");
        let foreign = seal(&mut wire, TWO_FACTOR, b"x", b"aad");
        let version = |number: u32| {
            let mut edited = sealed.clone();
            edited[22..26].copy_from_slice(&number.to_be_bytes());
            edited
        };
        let key = wire.post(&path(EXCHANGE, "datakey"), item(&[("aad", b"aad")]));
        let mut swapped = foreign[..42].to_vec();
        swapped.extend_from_slice(&sealed[42..]);
        for (what, envelope, aad) in [
            ("of another context", &foreign, &b"aad"[..]),
            ("with another context's header", &swapped, b"aad"),
            ("with other aad", &sealed, b"other"),
            ("with longer aad", &sealed, b"aad\0"),
            ("without its aad", &sealed, b""),
            ("of version 0", &version(0), b"aad"),
            ("of version 2", &version(2), b"aad"),
            ("of the last version", &version(u32::MAX), b"aad"),
            ("a data key as a message", &key.binary("ciphertext"), b"aad"),
        ] {
            let body = item(&[("ciphertext", envelope), ("aad", aad)]);
            let got = wire.post(&path(EXCHANGE, "decrypt"), body.clone());
            refused.check(what, &got, decrypt(400, "decryption_failed"));
            sentences.push(got.json()["error"]["message"].to_string());
            if what != "a data key as a message" {
                let got = wire.post(&path(EXCHANGE, "rewrap"), body);
                let rewrap = Expected {
                    status: 400,
                    code: "decryption_failed",
                    operation: "rewrap",
                };
                refused.check(what, &got, rewrap);
            }
        }
        let body = item(&[("ciphertext", &sealed), ("aad", b"aad")]);
        let got = wire.post(&path(EXCHANGE, "datakey/open"), body);
        let open = Expected {
            status: 400,
            code: "decryption_failed",
            operation: "datakey-open",
        };
        refused.check("a message as a data key", &got, open);
    }
    sentences.dedup();
    assert_eq!(sentences.len(), 1, "{sentences:?}");
    refused.recorded(&site.stop());
}

fn share_two_factor(document: &mut keywright_policy::PolicyDocument) {
    document.grants.push(Grant {
        tenant: name("default"),
        principals: vec![name(TRADING)],
        groups: vec![],
        effect: Effect::Allow,
        operations: vec![Operation::Decrypt, Operation::Encrypt],
        contexts: vec![ContextPattern::Exact(name(TWO_FACTOR))],
        paths: vec![],
    });
}

#[test]
fn what_is_bound_to_a_principal_opens_for_it_and_its_heirs_alone() {
    let site = Site::start();
    let mut refused = Refused::default();
    site.change_policy(share_two_factor);
    let sealed_by = |client: &str| {
        let sealed = seal(
            &mut site.wire(client, BOTH[0]),
            TWO_FACTOR,
            b"SecretCode",
            b"",
        );
        item(&[("ciphertext", &sealed)])
    };
    let (of_web, of_trading) = (sealed_by(WEB), sealed_by(TRADING));
    let open = |client: &str, protocol, body: &str| {
        site.wire(client, protocol)
            .post(&path(TWO_FACTOR, "decrypt"), body.to_owned())
    };
    let denied = || decrypt(400, "decryption_failed");
    for protocol in BOTH {
        let got = open(TRADING, protocol, &of_web);
        refused.check("granted, not the owner", &got, denied());
        let got = open(WEB, protocol, &of_trading);
        refused.check("the other way round", &got, denied());
    }
    site.change_policy(|document| {
        let mut entries = document.principals.iter_mut();
        let owner = entries.find(|entry| entry.name.as_str() == WEB).unwrap();
        owner.heirs.push(name(TRADING));
    });
    for protocol in BOTH {
        let got = open(TRADING, protocol, &of_web);
        assert_eq!(got.binary("plaintext"), b"SecretCode");
        // An inheritance has one direction.
        let got = open(WEB, protocol, &of_trading);
        refused.check("an heir's own", &got, denied());
    }
    refused.recorded(&site.stop());
}

#[test]
fn routes_and_methods_that_are_not_there_are_refused() {
    let site = Site::start();
    let mut refused = Refused::default();
    let unrouted = |status, code| Expected {
        status,
        code,
        operation: "unrouted",
    };
    for protocol in BOTH {
        let mut wire = site.wire(TRADING, protocol);
        for path in [
            "/",
            "/v1",
            "/v1/",
            "/v1/health/",
            "/V1/health",
            "/v1//health",
            "/v1/./health",
            "/v1/x/../health",
            "/v1/%68ealth",
            "/health",
            "/encrypt",
            "/v1/contexts/",
            "/v1/contexts/exchange-key",
            "/v1/contexts/exchange-key/",
            "/v1/contexts//encrypt",
            "/v1/contexts/exchange-key/encrypt/",
            "/v1/contexts/exchange-key/Encrypt",
            "/v1/contexts/exchange%2dkey/encrypt",
            "/v1/contexts/../encrypt",
            "/v1/contexts/exchange-key/datakey/close",
            "/v1/contexts/a/b/encrypt",
        ] {
            for method in [Method::GET, Method::POST] {
                let got = wire.send(method, path, "").unwrap();
                refused.check(path, &got, unrouted(404, "route_not_found"));
            }
        }
        for (method, path, allow) in [
            (Method::GET, "/v1/contexts/exchange-key/encrypt", "POST"),
            (Method::PUT, "/v1/contexts/exchange-key/decrypt", "POST"),
            (Method::DELETE, "/v1/random", "POST"),
            (Method::POST, "/v1/health", "GET"),
            (Method::PATCH, "/v1/contexts", "GET"),
            (Method::OPTIONS, "/metrics", "GET"),
            (
                Method::from_bytes(b"BREW").unwrap(),
                "/v1/openapi.json",
                "GET",
            ),
        ] {
            let got = wire.send(method, path, "").unwrap();
            assert_eq!(got.header(header::ALLOW), Some(allow), "{path}");
            refused.check(path, &got, unrouted(405, "method_not_allowed"));
        }
    }
    refused.recorded(&site.stop());
}

#[test]
fn every_request_has_one_record_and_no_record_lacks_its_request() {
    let site = Site::start();
    let mut asked: BTreeMap<(String, String), u64> = BTreeMap::new();
    for (client, protocol) in [(TRADING, BOTH[0]), (WEB, BOTH[1])] {
        let mut wire = site.wire(client, protocol);
        let sealed = if client == TRADING {
            EXCHANGE
        } else {
            TWO_FACTOR
        };
        let sealed = item(&[("ciphertext", &seal(&mut wire, sealed, b"x", b""))]);
        let bodies = [
            item(&[("plaintext", b"x")]),
            sealed,
            "{}".to_owned(),
            "{".to_owned(),
        ];
        *asked.entry(("encrypt".into(), "ok".into())).or_default() += 1;
        for context in [EXCHANGE, TWO_FACTOR, "none"] {
            for (action, operation) in [
                ("encrypt", "encrypt"),
                ("decrypt", "decrypt"),
                ("rewrap", "rewrap"),
                ("datakey", "datakey"),
                ("datakey/open", "datakey-open"),
                ("nothing", "unrouted"),
            ] {
                for body in &bodies {
                    let got = wire.post(&path(context, action), body.clone());
                    *asked.entry((operation.to_owned(), got.code())).or_default() += 1;
                }
            }
        }
        for (path, operation) in [
            ("/v1/contexts", "context-list"),
            ("/v1/health", "health-read"),
            ("/metrics", "metrics-read"),
            ("/v1/openapi.json", "api-read"),
        ] {
            let code = wire.get(path).code();
            *asked.entry((operation.to_owned(), code)).or_default() += 1;
        }
    }
    let home = site.stop();
    let mut recorded: BTreeMap<(String, String), u64> = BTreeMap::new();
    for record in home.requests() {
        let text = |name: &str| record[name].as_str().unwrap().to_owned();
        *recorded
            .entry((text("operation"), text("outcome")))
            .or_default() += 1;
    }
    assert_eq!(asked, recorded);
    home.verify();
}

#[test]
fn every_route_of_the_table_has_one_record_for_each_request_whatever_came_of_it() {
    let site = Site::start();
    let good = crate::uses::good_requests(&site);
    let in_contexts = ROUTES.iter().filter(|route| route.takes_context());
    let all: BTreeSet<_> = in_contexts.map(|route| route.operation.name()).collect();
    let all: Vec<_> = all.into_iter().collect();
    crate::life::grant(&site, TRADING, EXCHANGE, &all);
    let mut asked: BTreeMap<(String, String), u64> = BTreeMap::new();
    for (client, protocol) in [(TRADING, BOTH[0]), (WEB, BOTH[1])] {
        let mut wire = site.wire(client, protocol);
        for route in &ROUTES {
            for (path, body) in requests_of(route, &good) {
                let got = match route.verb {
                    Verb::Get => wire.get(&path),
                    Verb::Post => wire.post(&path, body),
                };
                let outcome = (route.operation.name().to_owned(), got.code());
                *asked.entry(outcome).or_default() += 1;
            }
        }
    }
    let home = site.stop();
    let mut recorded: BTreeMap<(String, String), u64> = BTreeMap::new();
    for record in home.requests() {
        let text = |name: &str| record[name].as_str().unwrap().to_owned();
        let outcome = (text("operation"), text("outcome"));
        *recorded.entry(outcome).or_default() += 1;
    }
    // A request that sealed something for the others to use.
    let made = recorded.get_mut(&("deterministic-encrypt".to_owned(), "ok".to_owned()));
    *made.unwrap() -= 1;
    assert_eq!(asked, recorded);
    for route in ROUTES.iter().filter(|route| route.takes_context()) {
        let own = asked.keys();
        let own = own.filter(|(operation, _)| operation == route.operation.name());
        assert!(own.count() >= 3, "too few outcomes of {}", route.path);
    }
    home.verify();
}

/// Requests of a route, good and bad, in a context where the caller may do everything, in one that is another's, and in
/// one that is nobody's.
fn requests_of(
    route: &Route,
    good: &[(&'static str, &'static str, Value)],
) -> Vec<(String, String)> {
    let template = route.path.to_string();
    if !route.takes_context() {
        let bodies = ["{\"bytes\":8}", "{", "{}"];
        return bodies
            .map(|body| (template.clone(), body.to_owned()))
            .to_vec();
    }
    let bodies = [
        item(&[("plaintext", b"x")]),
        item(&[("ciphertext", b"x")]),
        "{}".to_owned(),
        "{".to_owned(),
        "{\"version\":1}".to_owned(),
        "{\"order\":\"destroy\",\"version\":7}".to_owned(),
    ];
    let mut requests = Vec::new();
    for context in [EXCHANGE, TWO_FACTOR, "none"] {
        let path = template.replace("{context}", context);
        requests.extend(bodies.iter().map(|body| (path.clone(), body.clone())));
    }
    let fitting = good
        .iter()
        .filter(|(action, ..)| template.ends_with(&format!("/{{context}}/{action}")));
    requests.extend(
        fitting
            .map(|(_, context, body)| (template.replace("{context}", context), body.to_string())),
    );
    requests
}

#[test]
fn heads_that_are_too_long_are_refused_and_harm_nobody_else() {
    let site = Site::start();
    for protocol in BOTH {
        let mut wire = site.wire(TRADING, protocol);
        // hyper keeps the limit of HTTP/1.1 to within what one read may bring.
        let long = "x".repeat(match protocol {
            Protocol::Http2 => 66_000,
            _ => 140_000,
        });
        let request = wire
            .request(Method::GET, "/v1/health")
            .header("x-long", long)
            .body(Full::new(Bytes::new()))
            .unwrap();
        // Whether the answer can still be read depends on who is quicker; a good one it is not.
        if let Ok(got) = wire.send_request(request) {
            assert_eq!(got.status, 431);
        }
        assert_eq!(site.wire(TRADING, protocol).get("/v1/health").status, 200);
    }
    site.stop();
}

#[test]
fn heads_that_are_no_http_get_no_answer_of_a_route() {
    let site = Site::start();
    let tls = || {
        site.home
            .tls(Some(site.home.identity(TRADING)), Protocol::Http1)
    };
    for text in [
        "GARBAGE\r\n\r\n",
        "GET /v1/health HTTP/9.9\r\nHost: localhost\r\n\r\n",
        "GET /v1/health HTTP/1.1\r\nHost : localhost\r\n\r\n",
        "GET /v1/health HTTP/1.1\r\nBad\0Name: x\r\n\r\n",
        "POST /v1/random HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        "POST /v1/random HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "\u{16}\u{3}\u{1}\0\0",
    ] {
        let answer = raw(
            site.address(),
            tls(),
            text.as_bytes(),
            Duration::from_secs(10),
        );
        let answer = answer.expect("the connection ends");
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
            "{text:?}: {answer}"
        );
    }
    assert_eq!(
        site.wire(TRADING, Protocol::Http1).get("/v1/health").status,
        200
    );
    site.stop();
}

#[test]
fn a_slow_client_is_cut_off_and_one_beside_it_is_not() {
    let home = Home::demo()
        .configure("body_timeout_s = 30", "body_timeout_s = 1")
        .configure("header_timeout_s = 5", "header_timeout_s = 1");
    let site = Site::over(home);
    let tls = || {
        site.home
            .tls(Some(site.home.identity(TRADING)), Protocol::Http1)
    };
    let mut beside = site.wire(TRADING, Protocol::Http2);
    let head = "POST /v1/contexts/exchange-key/encrypt HTTP/1.1\r\nHost: localhost\r\n";
    let half_a_body = format!("{head}Content-Length: 100\r\n\r\n{{\"plaintext\":");
    let answer = raw(
        site.address(),
        tls(),
        half_a_body.as_bytes(),
        Duration::from_secs(10),
    );
    let answer = answer.expect("the connection ends");
    assert!(
        answer.starts_with("HTTP/1.1 408") && answer.contains("request_timeout"),
        "{answer}"
    );
    let answer = raw(
        site.address(),
        tls(),
        head.as_bytes(),
        Duration::from_secs(10),
    );
    assert_eq!(
        answer.as_deref(),
        Some(""),
        "half a head has no answer, and its connection ends"
    );
    assert_eq!(beside.post(&path(EXCHANGE, "datakey"), "{}").status, 200);
    let home = site.stop();
    let outcome = |code: &str| {
        home.requests()
            .iter()
            .filter(|one| one["outcome"] == code)
            .count()
    };
    assert_eq!((outcome("request_timeout"), outcome("ok")), (1, 1));
}
