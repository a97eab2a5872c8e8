//! The routes for Vault's clients: their table, their bodies, their answers, their page and their description.

use std::collections::HashSet;

use http::{Method, StatusCode};
use keywright_api::error::entry;
use keywright_api::vault::add_to;
use keywright_api::vault::answer::{Done, Refused, Spelling, batch, one, status};
use keywright_api::vault::request::{
    DatakeyBody, EncryptBody, LoginBody, NothingBody, Number, RandomBody, VerifyBody, Versioned,
    parse,
};
use keywright_api::vault::route::{Ask, Endpoint, ROUTES, RouteMatch, match_route};
use keywright_api::{Limits, fuzzing, openapi, route};
use keywright_mutate::{mutants, mutations};
use keywright_types::{Code, KeyVersion, RequestId};
use serde_json::{Value, json};

const PAGE: &str = include_str!("../../../../../docs/transit.md");
const LIMITS: Limits = Limits::DEFAULT;

fn concrete(path: &str) -> String {
    let path = path
        .replace("{name}", "exchange-key")
        .replace("{kind}", "wrapped");
    path.replace("{hash}", "sha2-256").replace("{bytes}", "32")
}

fn found(method: &str, path: &str, query: Option<&str>) -> Option<(Endpoint, String, String)> {
    match match_route(&method.parse().unwrap(), path, query) {
        RouteMatch::Found(found) => Some((
            found.route.endpoint,
            found.name.to_owned(),
            found.word.to_owned(),
        )),
        _ => None,
    }
}

#[test]
fn every_route_is_found_in_its_ways_and_in_no_other() {
    for route in &ROUTES {
        let path = concrete(route.path);
        let good: &[&str] = match route.ask {
            Ask::List => &["LIST"],
            Ask::Read => &["GET"],
            Ask::Write => &["POST", "PUT"],
        };
        for method in [
            "GET", "LIST", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "post", "list",
        ] {
            let got = match_route(&method.parse().unwrap(), &path, None);
            match got {
                RouteMatch::Found(found) => {
                    assert!(good.contains(&method), "{method} {path}");
                    assert_eq!(found.route.endpoint, route.endpoint);
                    assert_eq!(found.name.is_empty(), !route.path.contains("{name}"));
                }
                RouteMatch::WrongMethod { allow } => {
                    assert!(!good.contains(&method), "{method} {path}");
                    assert_eq!(allow, route.ask.allow());
                }
                RouteMatch::NotFound => panic!("{method} {path}"),
            }
        }
    }
    let keys = "/v1/transit/keys";
    for query in ["list=true", "a=b&list=true"] {
        assert!(found("GET", keys, Some(query)).is_some());
    }
    for query in [
        None,
        Some(""),
        Some("list=false"),
        Some("list=1"),
        Some("list=trues"),
    ] {
        assert!(found("GET", keys, query).is_none(), "{query:?}");
    }
}

#[test]
fn no_native_route_lies_behind_this_door_and_none_of_these_beside_it() {
    for route in &ROUTES {
        let path = concrete(route.path);
        assert!(path.starts_with("/v1/transit/") || path.starts_with("/v1/auth/"));
        for method in [Method::GET, Method::POST] {
            assert!(matches!(
                route::match_route(&method, &path),
                route::RouteMatch::NotFound
            ));
        }
    }
    let paths: HashSet<_> = ROUTES.iter().map(|route| route.path).collect();
    assert_eq!(paths.len(), ROUTES.len());
}

#[test]
fn every_operation_is_one_that_a_native_route_or_a_connection_has() {
    let native: HashSet<_> = route::ROUTES.iter().map(|route| route.operation).collect();
    for route in &ROUTES {
        let connects = matches!(route.endpoint, Endpoint::Login | Endpoint::LookupSelf);
        assert_ne!(
            native.contains(&route.operation),
            connects,
            "{}",
            route.path
        );
    }
}

#[test]
fn unclean_paths_lead_nowhere() {
    let long = format!("/v1/transit/encrypt/{}", "x".repeat(64));
    for path in [
        "",
        "/v1/transit",
        "/v1/transit/",
        "/v1/transit/encrypt",
        "/v1/transit/encrypt/",
        "/v1/transit/encrypt/a/",
        "/v1/transit//encrypt/a",
        "/v1/transit/encrypt/a/b",
        "/v1/transit/encrypt/..",
        "/v1/transit/encrypt/.a",
        "/v1/transit/encrypt/%61",
        "/v1/transit/encrypt/a b",
        "/v1/transit/encrypt/{name}",
        "/v1/transit/Encrypt/a",
        "/V1/transit/encrypt/a",
        "v1/transit/encrypt/a",
        "/v1/transit/datakey/a",
        "/v1/transit/datakey/plain/a",
        "/v1/transit/datakey/{kind}/a",
        "/v1/transit/sign/a/md5",
        "/v1/transit/sign/a/{hash}",
        "/v1/transit/sign/a/sha2-256/x",
        "/v1/transit/random/",
        "/v1/transit/random/x",
        "/v1/transit/random/+1",
        "/v1/transit/random/12345678901",
        "/v1/transit/keys/",
        "/v1/transit/keys/a/rotate/",
        "/v1/transit/keys/a/config",
        "/v1/transit/export/encryption-key/a",
        "/v1/auth/cert/login/",
        "/v1/auth/cert",
        "/v1/auth/token/lookup",
        &long,
    ] {
        for method in ["GET", "LIST", "POST", "PUT"] {
            let got = match_route(&method.parse().unwrap(), path, Some("list=true"));
            assert!(
                matches!(got, RouteMatch::NotFound),
                "{method} {path}: {got:?}"
            );
        }
    }
}

#[test]
fn the_page_has_these_routes_and_no_others() {
    let (_, rest) = PAGE.split_once("\n## Routes\n").unwrap();
    let rows = rest.lines().take_while(|line| !line.starts_with('#'));
    let rows: Vec<_> = rows
        .filter(|line| line.starts_with("| ") && line.contains('`'))
        .collect();
    let expected: Vec<_> = ROUTES
        .iter()
        .map(|route| {
            format!(
                "| {} | `{}` | `{}` |",
                route.ask.allow(),
                route.path,
                route.operation
            )
        })
        .collect();
    assert_eq!(rows, expected);
}

// === bodies ===

#[test]
#[expect(clippy::too_many_lines, reason = "tables")]
fn numbers_and_truth_values_may_be_texts_and_nothing_else_may() {
    let number = |text: &str| {
        let body = format!("{{\"plaintext\":\"\",\"key_version\":{text}}}");
        parse::<EncryptBody<'_>>(body.as_bytes(), &LIMITS).map(|body| body.key_version)
    };
    for (text, expected) in [
        ("0", 0),
        ("7", 7),
        ("\"7\"", 7),
        ("\"0007\"", 7),
        ("\"\"", 0),
        ("18446744073709551615", u64::MAX),
    ] {
        assert_eq!(number(text).unwrap(), Some(Number(expected)), "{text}");
    }
    assert_eq!(number("null").unwrap(), None);
    for text in [
        "-1",
        "1.0",
        "\"+1\"",
        "\"-1\"",
        "\" 1\"",
        "\"1e3\"",
        "true",
        "[1]",
        "{}",
        "18446744073709551616",
        "\"18446744073709551616\"",
    ] {
        assert_eq!(
            number(text).unwrap_err().code(),
            Code::RequestMalformed,
            "{text}"
        );
    }
    let flag = |text: &str| {
        let body = format!("{{\"input\":\"\",\"prehashed\":{text}}}");
        parse::<VerifyBody<'_>>(body.as_bytes(), &LIMITS)
            .map(|body| body.prehashed.map(|flag| flag.0))
    };
    for text in [
        "true", "1", "\"true\"", "\"True\"", "\"TRUE\"", "\"1\"", "\"t\"",
    ] {
        assert_eq!(flag(text).unwrap(), Some(true), "{text}");
    }
    for text in [
        "false",
        "0",
        "\"\"",
        "\"false\"",
        "\"False\"",
        "\"0\"",
        "\"F\"",
    ] {
        assert_eq!(flag(text).unwrap(), Some(false), "{text}");
    }
    for text in [
        "2",
        "-1",
        "1.0",
        "\"yes\"",
        "\" true\"",
        "\"tRUE\"",
        "[true]",
    ] {
        assert_eq!(
            flag(text).unwrap_err().code(),
            Code::RequestMalformed,
            "{text}"
        );
    }
}

#[test]
fn body_that_says_nothing_is_an_object_without_fields() {
    let nothing = ["", " ", "\r\n\t ", "{}", " {} \n", "null", " null\n"];
    for body in nothing {
        let body = body.as_bytes();
        assert!(parse::<NothingBody>(body, &LIMITS).is_ok(), "{body:?}");
        assert!(
            parse::<LoginBody<'_>>(body, &LIMITS)
                .unwrap()
                .name
                .is_none()
        );
        assert!(
            parse::<RandomBody<'_>>(body, &LIMITS)
                .unwrap()
                .bytes
                .is_none()
        );
        assert!(
            parse::<DatakeyBody<'_>>(body, &LIMITS)
                .unwrap()
                .check("key")
                .is_ok()
        );
        let mut encrypt = parse::<EncryptBody<'_>>(body, &LIMITS).unwrap();
        let asked = encrypt.take("key", &LIMITS).unwrap();
        assert!(asked.items[0].plaintext.is_none() && !asked.batch);
    }
    for body in [
        "nul",
        "Null",
        "null null",
        "null{}",
        "{}null",
        "[]",
        "[null]",
        "\"\"",
        "0",
        "false",
    ] {
        let refused = parse::<NothingBody>(body.as_bytes(), &LIMITS).unwrap_err();
        assert_eq!(refused.code(), Code::RequestMalformed, "{body}");
    }
}

#[test]
fn a_batch_stands_alone_and_has_items() {
    let take = |body: &str, limits: &Limits| {
        let mut body = parse::<EncryptBody<'_>>(body.as_bytes(), limits)?;
        body.take("key", limits)
            .map(|asked| (asked.items.len(), asked.batch))
    };
    let few = {
        let mut limits = LIMITS;
        limits.items = 2;
        limits
    };
    let one = json!({ "plaintext": "" });
    for (body, expected) in [
        (json!({ "plaintext": "" }), Ok((1, false))),
        (
            json!({ "plaintext": null, "batch_input": [one] }),
            Ok((1, true)),
        ),
        (
            json!({ "plaintext": "", "batch_input": [one, one] }),
            Ok((2, true)),
        ),
        (json!({ "name": "key", "plaintext": "" }), Ok((1, false))),
        (
            json!({ "name": "other", "plaintext": "" }),
            Err(Code::RequestMalformed),
        ),
        (
            json!({ "plaintext": "AA==", "batch_input": [one] }),
            Err(Code::RequestMalformed),
        ),
        (
            json!({ "context": "AA==", "batch_input": [one] }),
            Err(Code::RequestMalformed),
        ),
        (json!({ "batch_input": [] }), Err(Code::RequestMalformed)),
        (json!({ "batch_input": {} }), Err(Code::RequestMalformed)),
        (
            json!({ "batch_input": [one, one, one] }),
            Err(Code::TooManyItems),
        ),
        (
            json!({ "batch_input": [{ "plaintext": "", "batch_input": [] }] }),
            Err(Code::RequestMalformed),
        ),
    ] {
        let got = take(&body.to_string(), &few).map_err(|refused| refused.code());
        assert_eq!(got, expected, "{body}");
    }
    let endless = format!("{{\"batch_input\":[{}{{}}]}}", "{},".repeat(10_000));
    assert_eq!(
        take(&endless, &LIMITS).unwrap_err().code(),
        Code::RequestMalformed
    );
}

#[test]
fn a_version_has_one_spelling() {
    let read = |text| Versioned::read(text).map(|read| (read.version.number(), read.encoded));
    assert_eq!(read("vault:v1:AAAA"), Some((1, "AAAA")));
    assert_eq!(read("vault:v4294967295:"), Some((u32::MAX, "")));
    assert_eq!(read("vault:v2:a:b"), Some((2, "a:b")));
    for text in [
        "",
        "vault",
        "vault:",
        "vault:v",
        "vault:v:",
        "vault:v1",
        "vault:v0:A",
        "vault:v01:A",
        "vault:v+1:A",
        "vault:v-1:A",
        "vault:v4294967296:A",
        "Vault:v1:A",
        "vault:V1:A",
        " vault:v1:A",
        "vault:v1 :A",
        "vault:1:A",
        "vault:v\u{661}:A",
    ] {
        assert_eq!(read(text), None, "{text}");
    }
}

#[test]
fn damaged_bodies_paths_and_texts_are_refused_or_mean_what_they_say() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../fuzz/corpus/transit_request");
    let files = std::fs::read_dir(folder).unwrap();
    let mut corpus: Vec<_> = files
        .map(|file| std::fs::read(file.unwrap().path()).unwrap())
        .collect();
    corpus.sort();
    assert!(corpus.len() >= 5, "the corpus is gone");
    let seeds: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    seeds.iter().for_each(|seed| fuzzing::transit(seed));
    for mutant in mutations(&seeds, mutants(), 5) {
        fuzzing::transit(&mutant);
    }
}

// === answers ===

const ID: RequestId = RequestId::from_bytes([0xAB; 16]);

/// What stands in the answer of one item.
fn done(done: Done<'_>) -> Value {
    let answer: Value = serde_json::from_slice(&one(&done, ID)).unwrap();
    assert_eq!(answer["request_id"], "abababab-abab-abab-abab-abababababab");
    assert_eq!(answer["auth"], Value::Null);
    answer["data"].clone()
}

#[test]
fn answers_are_what_clients_read() {
    let version = KeyVersion::from_number(3);
    assert_eq!(
        done(Done::Sealed {
            ciphertext: b"x",
            version
        }),
        json!({ "ciphertext": "vault:v3:eA==", "key_version": 3 })
    );
    assert_eq!(done(Done::Opened(b"x")), json!({ "plaintext": "eA==" }));
    assert_eq!(done(Done::Random(&[])), json!({ "random_bytes": "" }));
    assert_eq!(
        done(Done::RandomHex(&[0, 0xAF])),
        json!({ "random_bytes": "00af" })
    );
    assert_eq!(done(Done::Verified(false)), json!({ "valid": false }));
    assert_eq!(
        done(Done::Code {
            code: b"x",
            version
        }),
        json!({ "hmac": "vault:v3:eA==" })
    );
    for (plaintext, expected) in [
        (
            None,
            json!({ "ciphertext": "vault:v3:eA==", "key_version": 3 }),
        ),
        (
            Some(&b"y"[..]),
            json!({ "plaintext": "eQ==", "ciphertext": "vault:v3:eA==", "key_version": 3 }),
        ),
    ] {
        let datakey = Done::Datakey {
            plaintext,
            ciphertext: b"x",
            version,
        };
        assert_eq!(done(datakey), expected);
    }
}

#[test]
fn signatures_are_spelled_as_they_were_asked_for() {
    let version = KeyVersion::from_number(3);
    let halves = [&[0x81; 32][..], &[1; 32]].concat();
    for (spelling, signature, expected) in [
        (Spelling::Standard, &[0xFF, 0xFE][..], "vault:v3://4="),
        (Spelling::Url, &[0xFF, 0xFE], "vault:v3:__4"),
        (Spelling::Der, &halves, "vault:v3:MEUCIQCBgYGB"),
    ] {
        let signed = done(Done::Signed {
            signature,
            spelling,
            version,
        });
        assert!(
            signed["signature"].as_str().unwrap().starts_with(expected),
            "{signed}"
        );
    }
}

#[test]
fn a_batch_has_a_result_for_each_item_with_its_reference() {
    let results = [
        (Ok(Done::Opened(b"x")), Some("a\"b\\\n")),
        (Err(Code::DecryptionFailed), Some("second")),
        (Err(Code::OperationDenied), None),
        (Ok(Done::Opened(&[7; 5000])), None),
    ];
    let answer = batch(results.into_iter(), (ID, &LIMITS), 0);
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    let results = answer["data"]["batch_results"].as_array().unwrap();
    assert_eq!(
        results[0],
        json!({ "plaintext": "eA==", "reference": "a\"b\\\n" })
    );
    assert_eq!(results[1]["reference"], "second");
    assert!(
        results[1]["error"]
            .as_str()
            .unwrap()
            .contains("does not open")
    );
    assert_eq!(results[2], json!({ "error": "permission denied" }));
    assert_eq!(
        results[3]["plaintext"].as_str().unwrap().len(),
        5000_usize.div_ceil(3) * 4
    );
}

#[test]
fn every_code_has_a_status_that_clients_of_vault_know() {
    for &code in Code::ALL {
        let known = [200, 400, 403, 404, 405, 408, 413, 429, 500, 503];
        assert!(known.contains(&status(code).as_u16()), "{code}");
        let body: Value = serde_json::from_slice(&Refused::new(code).body(&LIMITS, ID)).unwrap();
        assert_eq!(body["code"], code.name());
        assert!(
            body["errors"][0]
                .as_str()
                .is_some_and(|text| !text.contains('{'))
        );
        assert_eq!(Refused::new(code).retry_after(), entry(code).retry_after());
    }
    // What is forbidden and what is not there look alike.
    for code in [Code::ContextNotFound, Code::OperationDenied] {
        assert_eq!(status(code), StatusCode::FORBIDDEN);
        let body: Value = serde_json::from_slice(&Refused::new(code).body(&LIMITS, ID)).unwrap();
        assert_eq!(body["errors"], json!(["permission denied"]));
    }
}

// === the description ===

fn document() -> Value {
    let mut document = openapi::document(&LIMITS);
    add_to(&mut document, &LIMITS);
    document
}

fn references<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(reference)) = fields.get("$ref") {
                found.push(reference.strip_prefix("#/components/schemas/").unwrap());
            }
            fields.values().for_each(|field| references(field, found));
        }
        Value::Array(values) => values.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[test]
fn every_route_is_described_beside_the_native_ones() {
    let document = document();
    let paths = document["paths"].as_object().unwrap();
    assert_eq!(paths.len(), ROUTES.len() + route::ROUTES.len());
    let mut ids = HashSet::new();
    for route in &ROUTES {
        let item = &paths[route.path];
        let methods: &[&str] = match route.ask {
            Ask::List | Ask::Read => &["get"],
            Ask::Write => &["post", "put"],
        };
        for method in methods {
            let operation = &item[method];
            assert!(
                ids.insert(operation["operationId"].as_str().unwrap()),
                "{}",
                route.path
            );
            assert_eq!(
                operation.get("requestBody").is_some(),
                route.request.is_some()
            );
            let done = if route.answer.is_some() || route.endpoint == Endpoint::Login {
                "200"
            } else {
                "204"
            };
            assert!(operation["responses"].get(done).is_some(), "{}", route.path);
        }
        assert_eq!(item.as_object().unwrap().len(), methods.len() + 1);
        let named = item["parameters"].as_array().unwrap().iter();
        let named = named.filter(|parameter| parameter["in"] == "path").count();
        assert_eq!(named, route.path.matches('{').count(), "{}", route.path);
    }
}

#[test]
fn every_status_of_a_code_is_described() {
    let document = document();
    for route in &ROUTES {
        let method = if route.ask == Ask::Write {
            "post"
        } else {
            "get"
        };
        let responses = document["paths"][route.path][method]["responses"]
            .as_object()
            .unwrap();
        for &code in Code::ALL.iter().filter(|&&code| code != Code::Ok) {
            // The router answers for what is no route; TLS and the command line for the rest.
            let status = status(code);
            let elsewhere = code == Code::RouteNotFound;
            assert!(
                elsewhere || responses.contains_key(status.as_str()),
                "{} {code}",
                route.path
            );
        }
    }
}

#[test]
fn every_schema_is_there_and_used() {
    let document = document();
    let mut found = Vec::new();
    references(&document, &mut found);
    let schemas = document["components"]["schemas"].as_object().unwrap();
    for name in schemas.keys() {
        assert!(found.contains(&name.as_str()), "{name} is never used");
    }
    for name in found {
        assert!(schemas.contains_key(name), "{name} has no schema");
    }
}
