//! The routes of the seed service: every row of key-service.md 1.3 and every leniency of it, what is different on purpose
//! (C1, C2), and that native routes refuse what passes here.

use std::sync::Arc;

use http::Method;
use keywright_encoding::base64;
use keywright_holders::{Broken, Fault};
use keywright_home::{Life, Order};
use keywright_policy::{LimitEntry, PolicyDocument};
use keywright_types::{KeyVersion, Operation};
use serde_json::{Value, json};

use super::scene::*;
use crate::fixture::*;

const PATHS: [&str; 3] = ["/encrypt", "/decrypt", "/health"];

/// Status and body of a refusal, as text.
#[track_caller]
fn assert_refused(got: &Got, (status, sentence, code): (u16, &str, &str), what: &str) {
    let body = String::from_utf8_lossy(&got.body);
    let expected = format!("{{\"error\":\"{sentence}\",\"code\":\"{code}\"}}\n");
    assert_eq!(
        (got.status, body.as_ref()),
        (status, expected.as_str()),
        "{what}"
    );
    assert_eq!(
        got.header("content-type"),
        Some("application/json"),
        "{what}"
    );
}

fn good() -> Value {
    json!({ "context": EXCHANGE, "plaintext": "SGVsbG8gV29ybGQh" })
}

#[test]
fn without_the_switch_none_of_these_routes_is_there() {
    let site = Site::start();
    let mut wire = site.wire(TRADING, BOTH[0]);
    for path in PATHS {
        for method in [Method::GET, Method::POST] {
            let got = wire.send(method, path, good().to_string()).unwrap();
            assert_eq!((got.status, got.code().as_str()), (404, "route_not_found"));
        }
    }
    let document = wire.get("/v1/openapi.json").json();
    assert!(
        PATHS
            .iter()
            .all(|path| document["paths"].get(path).is_none())
    );
    site.stop();
}

#[test]
fn with_it_they_are_described_and_answer_in_the_shapes_of_that_service() {
    let site = open_site();
    for protocol in BOTH {
        let mut wire = site.wire(TRADING, protocol);
        let document = wire.get("/v1/openapi.json").json();
        assert!(
            PATHS
                .iter()
                .all(|path| document["paths"].get(path).is_some())
        );
        let sealed = wire.post("/encrypt", good().to_string());
        assert_eq!(sealed.status, 200);
        assert_eq!(sealed.header("content-type"), Some("application/json"));
        let answer = sealed.json();
        let fields: Vec<_> = answer.as_object().unwrap().keys().cloned().collect();
        assert_eq!(fields, ["ciphertext", "key_id"]);
        assert!(answer["ciphertext"].as_str().unwrap().starts_with("KWR1"));
        assert!(sealed.body.ends_with(b"}\n"));
        let label = answer["key_id"].as_str().unwrap();
        let got = decrypt(&mut wire, EXCHANGE, &sealed.binary("ciphertext"), label);
        assert_opens(&got, b"Hello World!");
        for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE] {
            let got = wire.send(method.clone(), "/health", "ignored").unwrap();
            let health = got.json();
            assert_eq!(
                (got.status, &health["status"]),
                (200, &json!("healthy")),
                "{method}"
            );
            assert_eq!(health["hsm_available"], true);
            // What the caller may know of, and nothing else: the client of the other context sees its own (D16).
            let labels = json!({ V1.label: "available", label: "available" });
            assert_eq!(health["kek_status"], labels);
            assert!(got.body.ends_with(b"}\n"));
        }
    }
    site.stop().verify();
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn every_row_of_its_table_has_its_status_and_its_sentence_and_a_code() {
    let site = Site::over(open_home().configure("body_bytes = 16777216", "body_bytes = 1048576"));
    let mut wire = site.wire(TRADING, BOTH[0]);
    for path in ["/encrypt", "/decrypt"] {
        for method in [Method::GET, Method::PUT, Method::DELETE] {
            let got = wire.send(method.clone(), path, good().to_string()).unwrap();
            let row = (405, "only POST allowed", "method_not_allowed");
            assert_refused(&got, row, method.as_str());
            assert_eq!(got.header("allow"), Some("POST"));
        }
        for body in [
            "",
            " ",
            "x",
            "{",
            "[]",
            "\"\"",
            "7",
            "null",
            "{\"context\":7}",
            "{'a':1}",
        ] {
            let row = (400, "invalid JSON", "request_malformed");
            assert_refused(&wire.post(path, body), row, body);
        }
        // 413 where it said 400 (C2).
        let large = format!("{{\"more\":\"{}\"}}", "x".repeat(1 << 20));
        let row = (413, "request body too large", "body_too_large");
        assert_refused(&wire.post(path, large), row, "large");
    }
    let denied = "access denied: insufficient permissions";
    for (context, code) in [
        (TWO_FACTOR, "context_not_found"),
        ("nowhere", "context_not_found"),
        ("", "context_not_found"),
        ("a/b\u{0}", "context_not_found"),
    ] {
        // Access is looked at before base64.
        let body = json!({ "context": context, "plaintext": "%", "ciphertext": "%" });
        for path in ["/encrypt", "/decrypt"] {
            let got = wire.post(path, body.to_string());
            assert_refused(&got, (403, denied, code), context);
        }
    }
    for bad in [
        "%",
        "SGVsbG8",
        "SGVsbG8gV29ybGQ",
        "SGVs bG8=",
        "SGVs-G8=",
        "SGVsbG8==",
        "=",
    ] {
        let body = json!({ "context": EXCHANGE, "plaintext": bad, "ciphertext": bad });
        let row = (400, "invalid base64 plaintext", "base64_invalid");
        assert_refused(&wire.post("/encrypt", body.to_string()), row, bad);
        let row = (400, "invalid base64 ciphertext", "base64_invalid");
        assert_refused(&wire.post("/decrypt", body.to_string()), row, bad);
    }
    // An unclean path is nobody's, and nobody is sent elsewhere.
    for path in [
        "//encrypt",
        "/encrypt/",
        "/Encrypt",
        "/encrypt%20",
        "/rotate/exchange-key",
    ] {
        let got = wire.post(path, good().to_string());
        assert_eq!(
            (got.status, got.code().as_str()),
            (404, "route_not_found"),
            "{path}"
        );
    }
    site.stop();
}

#[test]
fn rights_are_the_native_ones_and_each_of_them_counts() {
    let site = open_site();
    let mut wire = site.wire(TRADING, BOTH[0]);
    let denied = "access denied: insufficient permissions";
    let take = |operation: Operation| {
        site.change_policy(|document: &mut PolicyDocument| {
            for grant in &mut document.grants {
                grant.operations.retain(|one| *one != operation);
            }
        });
    };
    take(Operation::Encrypt);
    let got = wire.post("/encrypt", good().to_string());
    assert_refused(&got, (403, denied, "operation_denied"), "encrypt");
    assert_opens(
        &decrypt(&mut wire, EXCHANGE, &V1.sealed(), V1.label),
        V1.text,
    );
    take(Operation::Decrypt);
    let got = decrypt(&mut wire, EXCHANGE, &V1.sealed(), V1.label);
    assert_refused(&got, (403, denied, "operation_denied"), "decrypt");
    assert_eq!(wire.get("/metrics").status, 200);
    take(Operation::MetricsRead);
    // Metrics are the native ones, under their own right.
    assert_eq!(wire.get("/metrics").code(), "operation_denied");
    assert_eq!(wire.get("/health").status, 200);
    site.stop();
}

#[test]
fn a_context_without_a_key_that_seals_is_500_and_too_many_requests_are_429() {
    let site = open_site();
    let mut wire = site.wire(TRADING, BOTH[0]);
    let retire = Order::KeyLife {
        tenant: name("default"),
        name: name(EXCHANGE),
        life: Life::Retire,
        version: Some(KeyVersion::FIRST),
        despite_use: false,
    };
    site.node().carry_out(retire).unwrap();
    let got = wire.post("/encrypt", good().to_string());
    assert_refused(
        &got,
        (500, "encryption failed", "no_active_version"),
        "no key",
    );
    site.change_policy(|document| {
        document.limits.push(limit());
    });
    let mut wire = site.wire(TRADING, BOTH[0]);
    for path in PATHS {
        let mut answers = (0..4).map(|_| wire.post(path, good().to_string()));
        let got = answers.find(|got| got.status == 429).unwrap();
        assert_refused(&got, (429, "rate limit exceeded", "rate_limited"), path);
        assert!(got.header("retry-after").unwrap().parse::<u32>().unwrap() >= 1);
    }
    site.stop();
}

fn limit() -> LimitEntry {
    LimitEntry {
        tenant: name("default"),
        principals: vec![name(TRADING)],
        groups: Vec::new(),
        per_second: 1,
        burst: Some(1),
        costs: std::collections::BTreeMap::new(),
    }
}

#[test]
fn a_holder_that_is_gone_is_503_on_both_operations_and_health_says_so() {
    let home = open_site().stop();
    let mut switch = None;
    let site = Site::with_holder(home, |holder| {
        let (broken, faults) = Broken::new(holder);
        switch = Some(faults);
        Arc::new(broken)
    });
    let faults = switch.unwrap();
    let mut wire = site.wire(TRADING, BOTH[0]);
    faults.fail(Fault::Unavailable);
    // Not 400, as if the data were bad (D26), and not green (D6).
    for path in ["/encrypt", "/decrypt"] {
        let mut body = good();
        body["ciphertext"] = json!(base64::encode(&V1.sealed()));
        body["key_id"] = json!(V1.label);
        let got = wire.post(path, body.to_string());
        assert_eq!(
            (got.status, &got.json()["code"]),
            (503, &json!("holder_unavailable"))
        );
        assert!(got.header("retry-after").is_some(), "{path}");
    }
    let got = wire.get("/health");
    let health = got.json();
    assert_eq!((got.status, &health["status"]), (503, &json!("degraded")));
    assert_eq!(health["hsm_available"], false);
    assert_eq!(health["kek_status"][V1.label], "unavailable");
    assert!(got.header("retry-after").is_some());
    faults.heal();
    assert_opens(
        &decrypt(&mut wire, EXCHANGE, &V1.sealed(), V1.label),
        V1.text,
    );
    assert_eq!(wire.get("/health").status, 200);
    site.stop();
}

#[test]
fn each_leniency_passes_here_and_is_refused_on_native_routes() {
    let site = open_site();
    let mut wire = site.wire(TRADING, BOTH[0]);
    let native = path(EXCHANGE, "encrypt");
    // A body of that service, and the native body with the same liberty.
    for (lenient, strict) in [
        // Unknown fields.
        (
            r#"{"context":"exchange-key","plaintext":"SGk=","trace":{"a":[1,{"b":null}]}}"#,
            r#"{"plaintext":"SGk=","trace":1}"#,
        ),
        // Names without case.
        (
            r#"{"CONTEXT":"exchange-key","PlainText":"SGk="}"#,
            r#"{"PlainText":"SGk="}"#,
        ),
        // Bytes behind the value.
        (
            r#"{"context":"exchange-key","plaintext":"SGk="} and more {"#,
            r#"{"plaintext":"SGk="} and more {"#,
        ),
        // A missing field is empty, and so is null.
        (r#"{"context":"exchange-key"}"#, "{}"),
        (
            r#"{"context":"exchange-key","plaintext":null}"#,
            r#"{"plaintext":null}"#,
        ),
        // Line ends in base64, as JSON writes them.
        (
            r#"{"context":"exchange-key","plaintext":"SG\r\nk=\n"}"#,
            r#"{"plaintext":"SG\r\nk=\n"}"#,
        ),
        // The last of several wins.
        (
            r#"{"context":"x","context":"exchange-key","plaintext":"%","plaintext":"SGk="}"#,
            r#"{"plaintext":"%","plaintext":"SGk="}"#,
        ),
    ] {
        let got = wire.post("/encrypt", lenient);
        assert_eq!(got.status, 200, "{lenient}: {}", got.json());
        let refused = wire.post(&native, strict);
        assert_eq!(refused.status, 400, "{strict}");
        let code = refused.code();
        assert!(
            ["request_malformed", "base64_invalid"].contains(&code.as_str()),
            "{strict}: {code}"
        );
    }
    // The empty text is a text, there and here.
    let empty = wire.post("/encrypt", r#"{"context":"exchange-key","plaintext":""}"#);
    let label = empty.json()["key_id"].as_str().unwrap().to_owned();
    assert_opens(
        &decrypt(&mut wire, EXCHANGE, &empty.binary("ciphertext"), &label),
        b"",
    );
    // Old ciphertexts come with line ends as well.
    let text = base64::encode(&V1.sealed());
    let (front, back) = text.split_at(20);
    let body = json!({ "context": EXCHANGE, "ciphertext": format!("{front}\r\n{back}\n"), "KEY_ID": V1.label });
    assert_opens(&wire.post("/decrypt", body.to_string()), V1.text);
    // Any content type, or none.
    for kind in ["text/plain", "application/x-www-form-urlencoded", "?", ""] {
        let request = wire
            .request(Method::POST, "/encrypt")
            .header("content-type", kind)
            .body(http_body_util::Full::new(good().to_string().into()))
            .unwrap();
        assert_eq!(wire.send_request(request).unwrap().status, 200, "{kind}");
    }
    site.stop();
}

#[test]
fn every_answer_has_one_record_like_those_of_native_routes() {
    let site = open_site();
    let mut wire = site.wire(TRADING, BOTH[0]);
    let mut codes = Vec::new();
    for (path, body) in [
        ("/encrypt", good().to_string()),
        ("/encrypt", "x".to_owned()),
        ("/encrypt", json!({ "context": TWO_FACTOR }).to_string()),
        (
            "/encrypt",
            json!({ "context": EXCHANGE, "plaintext": "%" }).to_string(),
        ),
        (
            "/decrypt",
            asked(EXCHANGE, &V1.sealed(), V1.label).to_string(),
        ),
        (
            "/decrypt",
            asked(EXCHANGE, &V1.sealed(), "other").to_string(),
        ),
        ("/health", String::new()),
    ] {
        let got = wire.post(path, body);
        let code = match got.status {
            200 => "ok".to_owned(),
            _ => got.json()["code"].as_str().unwrap().to_owned(),
        };
        codes.push(code);
    }
    let wrong = wire.get("/encrypt").json()["code"]
        .as_str()
        .unwrap()
        .to_owned();
    codes.push(wrong);
    let home = site.stop();
    home.verify();
    let records = home.requests();
    let connection = records.last().unwrap()["connection"].clone();
    let told: Vec<_> = records
        .iter()
        .filter(|record| record["connection"] == connection)
        .map(|record| record["outcome"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(told, codes);
}
