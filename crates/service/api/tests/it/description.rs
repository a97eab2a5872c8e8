//! The OpenAPI document says what the routes, types and errors are.

use keywright_api::answer::{
    AgreeAnswer, BatchAnswer, ContextsAnswer, DatakeyAnswer, DatakeyOpenAnswer, HealthAnswer,
    KeyExportAnswer, MacAnswer, MaskAnswer, OpenAnswer, PublicKeyAnswer, RandomAnswer, SealAnswer,
    SignAnswer, TokenAnswer, ValueAnswer, VerifyAnswer, XpubAnswer,
};
use keywright_api::error::entry;
use keywright_api::orders::{
    ApproveAnswer, ApproveOrder, KeyOrder, KeyOrderAnswer, KeyVersionsAnswer, RotateAnswer,
    RotateOrder, parse_order,
};
use keywright_api::request::{
    AgreeItem, DatakeyItem, MacItem, MacVerifyItem, OpenItem, PathItem, PublicKeyItem, RandomItem,
    RewrapItem, SealItem, SignItem, TokenItem, ValueItem, VerifyItem, parse,
};
use keywright_api::route::{Endpoint, ROUTES, Route};
use keywright_api::{Codec, Limits, openapi};
use serde_json::Value;

fn document() -> Value {
    openapi::document(&Limits::DEFAULT)
}

fn operation<'a>(document: &'a Value, route: &Route) -> &'a Value {
    let method = route.verb.name().to_ascii_lowercase();
    let operation = &document["paths"][route.path.to_string()][method];
    assert!(operation.is_object(), "{} is not documented", route.path);
    operation
}

#[test]
fn every_route_is_documented_and_nothing_else() {
    let document = document();
    let paths = document["paths"].as_object().unwrap();
    assert_eq!(paths.len(), ROUTES.len());
    for route in &ROUTES {
        let operation = operation(&document, route);
        let item = &paths[&route.path.to_string()];
        let methods = item
            .as_object()
            .unwrap()
            .keys()
            .filter(|key| *key != "parameters");
        assert_eq!(methods.count(), 1, "{}", route.path);
        assert_eq!(
            item.get("parameters").is_some(),
            route.takes_context(),
            "{}",
            route.path
        );
        assert_eq!(
            operation.get("requestBody").is_some(),
            route.request.is_some(),
            "{}",
            route.path
        );
        assert!(
            operation["summary"]
                .as_str()
                .is_some_and(|text| text.ends_with('.'))
        );
    }
}

#[test]
fn every_code_of_a_route_is_documented_under_its_status() {
    let document = document();
    for route in &ROUTES {
        let responses = operation(&document, route)["responses"]
            .as_object()
            .unwrap();
        for code in route.codes() {
            let response = &responses[entry(code).status().as_str()];
            let text = response["description"].as_str().unwrap();
            let line = format!("- `{code}`: {}", entry(code).message(&Limits::DEFAULT));
            assert!(
                text.lines().any(|have| have == line),
                "{} {code}",
                route.path
            );
            let header = response["headers"].get("Retry-After").is_some();
            assert_eq!(header, entry(code).retry_after().is_some(), "{code}");
        }
        let lines = responses
            .values()
            .flat_map(|response| response["description"].as_str().unwrap().lines());
        let listed = lines.filter(|line| line.starts_with("- `")).count();
        assert_eq!(
            listed,
            route.codes().count(),
            "{} documents codes it does not have",
            route.path
        );
    }
}

#[test]
fn streams_are_bytes_both_ways_and_name_their_headers() {
    let document = document();
    for route in ROUTES.iter().filter(|route| route.is_stream()) {
        let operation = operation(&document, route);
        let answer = &operation["responses"]["200"];
        for content in [&operation["requestBody"]["content"], &answer["content"]] {
            let types: Vec<_> = content.as_object().unwrap().keys().collect();
            assert_eq!(types, ["application/octet-stream"]);
        }
        assert_eq!(operation["parameters"][0]["name"], "keywright-aad");
        assert!(answer["headers"].get("keywright-key-version").is_some());
    }
}

#[test]
fn routes_that_take_items_have_both_forms_and_no_other_has() {
    let document = document();
    for route in &ROUTES {
        let operation = operation(&document, route);
        let request = operation.get("requestBody");
        let answers = operation["responses"].as_object().unwrap().values();
        for body in request.into_iter().chain(answers) {
            let content = body["content"].as_object().unwrap();
            let cbor = content.get(Codec::Cbor.media_type());
            assert_eq!(cbor.is_some(), route.takes_items(), "{}", route.path);
            if let Some(cbor) = cbor {
                let json = &content[Codec::Json.media_type()];
                assert_eq!(cbor["schema"], json["schema"], "{}", route.path);
            }
        }
        let said = request.is_some_and(|body| {
            let text = body["description"].as_str();
            text.is_some_and(|text| text.contains("is a byte string"))
        });
        assert_eq!(said, route.takes_items(), "{}", route.path);
    }
}

#[test]
fn limits_in_force_are_the_ones_documented() {
    let mut limits = Limits::DEFAULT;
    limits.items = 77;
    limits.body_bytes = 4321;
    let text = openapi::document(&limits).to_string();
    assert!(text.contains("\"maxItems\":77"));
    assert!(text.contains("At most 4321 bytes."));
    assert!(text.contains("more than 77 items"));
}

#[test]
fn every_reference_has_its_schema_and_every_schema_is_used() {
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
    for route in &ROUTES {
        for name in route.request.iter().chain([&route.answer]) {
            let plain = ["bytes", "text", "document"].contains(name);
            assert_eq!(schemas.contains_key(*name), !plain, "{name}");
        }
    }
}

fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(map) => {
            if let Some(Value::String(target)) = map.get("$ref") {
                found.extend(target.strip_prefix("#/components/schemas/"));
            }
            map.values().for_each(|value| references(value, found));
        }
        Value::Array(list) => list.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[test]
fn requests_are_closed_and_binary_fields_say_so() {
    let document = document();
    let schemas = &document["components"]["schemas"];
    let names = [
        "SealItem",
        "OpenItem",
        "RewrapItem",
        "DatakeyItem",
        "RandomItem",
        "ValueItem",
        "TokenItem",
        "SignItem",
        "VerifyItem",
        "AgreeItem",
        "PublicKeyItem",
        "PathItem",
        "MacItem",
        "MacVerifyItem",
    ];
    for name in names {
        assert_eq!(schemas[name]["additionalProperties"], false, "{name}");
    }
    assert_eq!(
        schemas["SealItem"]["required"],
        serde_json::json!(["plaintext"])
    );
    assert_eq!(schemas["Binary"]["contentEncoding"], "base64");
    assert_eq!(
        schemas["RandomItem"]["properties"]["bytes"]["maximum"],
        65_536
    );
    assert_eq!(
        schemas["DatakeyItem"]["properties"]["plain"]["default"],
        true
    );
}

/// The examples under `content` with their names.
fn examples(content: &Value) -> Vec<(String, String)> {
    let examples = content["application/json"]["examples"].as_object().unwrap();
    let named = examples
        .iter()
        .map(|(name, example)| (name.clone(), example["value"].to_string()));
    named.collect()
}

/// Whether the real type of the route reads it, and as a batch or not.
fn read(endpoint: Endpoint, body: &str) -> Option<bool> {
    let (body, limits) = (body.as_bytes(), &Limits::DEFAULT);
    match endpoint {
        Endpoint::DeterministicEncrypt | Endpoint::Encrypt => parse::<SealItem<'_>>(body, limits)
            .ok()
            .map(|r| r.is_batch()),
        Endpoint::Decrypt | Endpoint::DeterministicDecrypt | Endpoint::DatakeyOpen => {
            parse::<OpenItem<'_>>(body, limits)
                .ok()
                .map(|r| r.is_batch())
        }
        Endpoint::Rewrap => parse::<RewrapItem<'_>>(body, limits)
            .ok()
            .map(|r| r.is_batch()),
        Endpoint::Datakey => parse::<DatakeyItem<'_>>(body, limits)
            .ok()
            .map(|r| r.is_batch()),
        Endpoint::Random => parse::<RandomItem>(body, limits).ok().map(|r| r.is_batch()),
        Endpoint::Tokenize => parse::<ValueItem<'_>>(body, limits)
            .ok()
            .map(|r| r.is_batch()),
        Endpoint::Sign => parse::<SignItem<'_>>(body, limits)
            .ok()
            .map(|r| r.is_batch()),
        Endpoint::Verify => parse::<VerifyItem<'_>>(body, limits)
            .ok()
            .map(|r| r.is_batch()),
        Endpoint::Agree => parse::<AgreeItem<'_>>(body, limits)
            .ok()
            .map(|r| r.is_batch()),
        Endpoint::PublicKey => parse::<PublicKeyItem<'_>>(body, limits)
            .ok()
            .map(|r| r.is_batch()),
        Endpoint::Xpub | Endpoint::KeyExport => parse::<PathItem<'_>>(body, limits)
            .ok()
            .map(|r| r.is_batch()),
        Endpoint::Mac => parse::<MacItem<'_>>(body, limits)
            .ok()
            .map(|r| r.is_batch()),
        Endpoint::MacVerify => parse::<MacVerifyItem<'_>>(body, limits)
            .ok()
            .map(|r| r.is_batch()),
        Endpoint::Detokenize | Endpoint::Mask => parse::<TokenItem<'_>>(body, limits)
            .ok()
            .map(|r| r.is_batch()),
        _ => None,
    }
}

#[test]
fn examples_of_requests_are_read_by_the_real_types() {
    let document = document();
    for route in ROUTES.iter().filter(|route| route.takes_items()) {
        let examples = examples(&operation(&document, route)["requestBody"]["content"]);
        assert_eq!(examples.len(), 2, "{}", route.path);
        for (name, body) in examples {
            assert_eq!(
                read(route.endpoint, &body),
                Some(name == "batch"),
                "{} {body}",
                route.path
            );
        }
    }
}

#[test]
fn examples_of_orders_are_read_by_the_real_parser() {
    let document = document();
    let limits = &Limits::DEFAULT;
    for route in ROUTES.iter().filter(|route| route.is_order()) {
        let examples = examples(&operation(&document, route)["requestBody"]["content"]);
        assert_eq!(examples.len(), 1, "{}", route.path);
        for (_, body) in examples {
            let body = body.as_bytes();
            let read = match route.request.unwrap() {
                "KeyOrder" => parse_order::<KeyOrder>(body, limits).is_ok(),
                "RotateOrder" => parse_order::<RotateOrder>(body, limits).is_ok(),
                "ApproveOrder" => parse_order::<ApproveOrder>(body, limits).is_ok(),
                other => panic!("{other}"),
            };
            assert!(read, "{}", route.path);
        }
    }
}

#[test]
fn examples_of_answers_are_read_by_the_real_types() {
    fn reads<'a, T: serde::Deserialize<'a>>(name: &str, body: &'a str) -> bool {
        match name {
            "batch" => serde_json::from_str::<BatchAnswer<T>>(body)
                .is_ok_and(|b| b.failed == 1 && b.items.len() == 2),
            _ => serde_json::from_str::<T>(body).is_ok(),
        }
    }
    let document = document();
    for route in &ROUTES {
        if matches!(route.endpoint, Endpoint::Metrics | Endpoint::Openapi) || route.is_stream() {
            continue;
        }
        let examples = examples(&operation(&document, route)["responses"]["200"]["content"]);
        assert!(!examples.is_empty(), "{}", route.path);
        for (name, body) in examples {
            let read = match route.answer {
                "SealAnswer" => reads::<SealAnswer<'_>>(&name, &body),
                "OpenAnswer" => reads::<OpenAnswer<'_>>(&name, &body),
                "DatakeyAnswer" => reads::<DatakeyAnswer<'_>>(&name, &body),
                "DatakeyOpenAnswer" => reads::<DatakeyOpenAnswer<'_>>(&name, &body),
                "RandomAnswer" => reads::<RandomAnswer<'_>>(&name, &body),
                "SignAnswer" => reads::<SignAnswer<'_>>(&name, &body),
                "VerifyAnswer" => reads::<VerifyAnswer>(&name, &body),
                "AgreeAnswer" => reads::<AgreeAnswer<'_>>(&name, &body),
                "PublicKeyAnswer" => reads::<PublicKeyAnswer<'_>>(&name, &body),
                "XpubAnswer" => reads::<XpubAnswer>(&name, &body),
                "KeyExportAnswer" => reads::<KeyExportAnswer<'_>>(&name, &body),
                "MacAnswer" => reads::<MacAnswer<'_>>(&name, &body),
                "TokenAnswer" => reads::<TokenAnswer<'_>>(&name, &body),
                "ValueAnswer" => reads::<ValueAnswer<'_>>(&name, &body),
                "MaskAnswer" => reads::<MaskAnswer<'_>>(&name, &body),
                "KeyOrderAnswer" => reads::<KeyOrderAnswer>(&name, &body),
                "RotateAnswer" => reads::<RotateAnswer>(&name, &body),
                "ApproveAnswer" => reads::<ApproveAnswer>(&name, &body),
                "KeyVersionsAnswer" => reads::<KeyVersionsAnswer>(&name, &body),
                "HealthAnswer" => reads::<HealthAnswer>(&name, &body),
                "ContextsAnswer" => reads::<ContextsAnswer>(&name, &body),
                other => panic!("{other}"),
            };
            assert!(read, "{} {name}: {body}", route.path);
        }
    }
}

#[test]
fn fields_of_the_examples_are_fields_of_the_schemas() {
    let document = document();
    let schemas = &document["components"]["schemas"];
    for route in ROUTES.iter().filter(|route| route.takes_items()) {
        let operation = operation(&document, route);
        let pairs = [
            (route.request.unwrap(), &operation["requestBody"]["content"]),
            (route.answer, &operation["responses"]["200"]["content"]),
        ];
        for (schema, content) in pairs {
            let example = &content["application/json"]["examples"]["one"]["value"];
            let properties = schemas[schema]["properties"].as_object().unwrap();
            for field in example.as_object().unwrap().keys() {
                assert!(properties.contains_key(field), "{schema} has no {field}");
            }
            for required in schemas[schema]["required"].as_array().into_iter().flatten() {
                assert!(
                    example.get(required.as_str().unwrap()).is_some(),
                    "{schema}: {required}"
                );
            }
        }
    }
}
