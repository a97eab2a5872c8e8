//! The OpenAPI 3.1 document, generated from the routes, the types and the table of errors.

use std::collections::BTreeMap;

use keywright_types::{Code, Plane};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::answer::{
    AgreeAnswer, ContextsAnswer, DatakeyAnswer, DatakeyOpenAnswer, ErrorAnswer, HealthAnswer,
    KeyExportAnswer, MacAnswer, MaskAnswer, OpenAnswer, PublicKeyAnswer, RandomAnswer, SealAnswer,
    SignAnswer, TokenAnswer, ValueAnswer, VerifyAnswer, XpubAnswer,
};
use crate::error::entry;
use crate::orders::{
    ApproveAnswer, ApproveOrder, KeyOrder, KeyOrderAnswer, KeyVersionsAnswer, RotateAnswer,
    RotateOrder,
};
use crate::request::{
    AgreeItem, DatakeyItem, MacItem, MacVerifyItem, OpenItem, PathItem, PublicKeyItem, RandomItem,
    RewrapItem, SealItem, SignItem, TokenItem, ValueItem, VerifyItem,
};
use crate::route::{Endpoint, ROUTES, Route};
use crate::{AAD_HEADER, Codec, KEY_VERSION_HEADER, Limits, MAX_AAD, openapi::example::Examples};

mod example;

/// The document.
#[must_use]
pub fn document(limits: &Limits) -> Value {
    document_on(None, limits)
}

/// The same for a listener of one plane, which has some of the routes.
#[must_use]
pub fn document_on(plane: Option<Plane>, limits: &Limits) -> Value {
    let mut paths = Map::new();
    let here = |route: &&Route| plane.is_none_or(|plane| route.is_on(plane));
    for route in ROUTES.iter().filter(here) {
        let method = route.verb.name().to_ascii_lowercase();
        let mut item = json!({ method: operation(route, limits) });
        if route.takes_context() {
            item["parameters"] = json!([context_parameter()]);
        }
        paths.insert(route.path.to_string(), item);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Keywright key service",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT" },
            "description": "Encryption under keys that stay in the service. Every connection is TLS 1.3 \
                with a client certificate; who it belongs to and what it may do is decided by policy. \
                Any other path answers 404 `route_not_found`.",
        },
        "security": [{ "clientCertificate": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "clientCertificate": { "type": "mutualTLS" } },
            "schemas": schemas(),
        },
    })
}

fn context_parameter() -> Value {
    json!({
        "name": "context",
        "in": "path",
        "required": true,
        "description": "The name of the context in the caller's tenant.",
        "schema": { "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$" },
    })
}

// === one operation ===

fn operation(route: &Route, limits: &Limits) -> Value {
    let examples = Examples::of(route.endpoint);
    let mut operation = json!({
        "operationId": operation_id(route),
        "summary": summary(route.endpoint),
        "responses": responses(route, &examples, limits),
    });
    if route.is_stream() {
        operation["parameters"] = json!([aad_parameter()]);
        operation["requestBody"] = json!({
            "required": true,
            "description": "Bytes of any number. The answer comes while they are sent: read it meanwhile.",
            "content": bytes(),
        });
    } else if let Some(item) = route.request {
        operation["requestBody"] = json!({
            "required": true,
            "description": format!("At most {} bytes.{}", limits.body_bytes, in_both(route)),
            "content": content(route, Some(&examples.requests), match route.takes_items() {
                true => one_or_items(item, limits),
                false => reference(item),
            }),
        });
    }
    operation
}

/// `datakey-open` is no identifier in the languages that clients are generated for.
fn operation_id(route: &Route) -> String {
    let stream = if route.is_stream() { "_stream" } else { "" };
    route.operation.name().replace('-', "_") + stream
}

fn aad_parameter() -> Value {
    json!({
        "name": AAD_HEADER,
        "in": "header",
        "required": false,
        "description": format!("Additional data of at most {MAX_AAD} bytes, in base64; once."),
        "schema": { "type": "string", "contentEncoding": "base64" },
    })
}

/// The forms of a body that the route has, with examples in the one that people read.
fn content(route: &Route, examples: Option<&[(&'static str, Value)]>, schema: Value) -> Value {
    let mut in_json = json!({ "schema": schema });
    if let Some(examples) = examples {
        in_json["examples"] = named(examples);
    }
    let mut content = Map::new();
    if route.takes_items() {
        content.insert(
            Codec::Cbor.media_type().to_owned(),
            json!({ "schema": in_json["schema"] }),
        );
    }
    content.insert(Codec::Json.media_type().to_owned(), in_json);
    content.into()
}

/// What the schema cannot say of the other form.
const fn in_both(route: &Route) -> &'static str {
    match route.takes_items() {
        true => {
            " In application/cbor a field in base64 is a byte string, and nothing else differs."
        }
        false => "",
    }
}

/// A body of bytes.
fn bytes() -> Value {
    json!({ "application/octet-stream": {
        "schema": { "type": "string", "contentMediaType": "application/octet-stream" },
    } })
}

const fn summary(endpoint: Endpoint) -> &'static str {
    match endpoint {
        Endpoint::Agree => "Make a secret with the owner of a public key.",
        Endpoint::Contexts => "The contexts on which the caller has a right.",
        Endpoint::Datakey => "Make a data key for local work, plain and wrapped.",
        Endpoint::DatakeyOpen => "Open a wrapped data key.",
        Endpoint::Decrypt => "Open ciphertexts of the context.",
        Endpoint::DecryptStream => "Open a stream of any length, as it comes.",
        Endpoint::DeterministicDecrypt => "Open what was sealed so that equal texts look alike.",
        Endpoint::DeterministicEncrypt => {
            "Seal so that equal texts look alike under one version, binding and additional data."
        }
        Endpoint::Detokenize => "Make values of tokens; the version is named, and not tried.",
        Endpoint::Encrypt => "Seal under the context's active key version.",
        Endpoint::EncryptStream => "Seal a stream of any length, as it comes.",
        Endpoint::Health => "Whether key holder and audit log work; 503 if one does not.",
        Endpoint::KeyApprove => "Approve an order of somebody else, for a day.",
        Endpoint::KeyCancelDestroy => "Take the date of a destruction back.",
        Endpoint::KeyDestroy => "Destroy key versions whose day has come.",
        Endpoint::KeyResume => "Take suspended key versions up again.",
        Endpoint::KeyRetire => "Let the active key version seal no more.",
        Endpoint::KeyRotate => "Make a new key version active and retire the one before.",
        Endpoint::KeyScheduleDestroy => {
            "Set the date on which key versions are destroyed; nothing opens from now on."
        }
        Endpoint::KeySuspend => "Forbid every use of key versions, for now.",
        Endpoint::KeyVersions => "The versions of the context's key, and how often they were used.",
        Endpoint::KeyExport => "Let a private key of a tree out, where its context allows that.",
        Endpoint::Mac => "Make message authentication codes.",
        Endpoint::MacVerify => "Look whether message authentication codes fit.",
        Endpoint::Mask => "Show what the context's mask leaves of the values of tokens.",
        Endpoint::Metrics => "Prometheus metrics.",
        Endpoint::Openapi => "This document.",
        Endpoint::PublicKey => "Show public keys.",
        Endpoint::Random => "Random bytes.",
        Endpoint::Rewrap => {
            "Seal again under the active key version, without showing the plaintext."
        }
        Endpoint::Sign => "Sign messages or digests.",
        Endpoint::Tokenize => "Make tokens, which are values of the same format.",
        Endpoint::Verify => "Look whether signatures fit.",
        Endpoint::Xpub => "Show extended public keys of a tree that hands them out.",
    }
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn named(examples: &[(&'static str, Value)]) -> Value {
    let examples = examples.iter();
    examples
        .map(|(name, value)| ((*name).to_owned(), json!({ "value": value })))
        .collect::<Map<_, _>>()
        .into()
}

fn one_or_items(item: &str, limits: &Limits) -> Value {
    json!({ "oneOf": [
        reference(item),
        {
            "type": "object",
            "required": ["items"],
            "additionalProperties": false,
            "properties": { "items": {
                "type": "array",
                "minItems": 1,
                "maxItems": limits.items,
                "items": reference(item),
            } },
        },
    ] })
}

fn one_or_results(answer: &str) -> Value {
    json!({ "oneOf": [
        reference(answer),
        {
            "type": "object",
            "required": ["items", "failed"],
            "properties": {
                "items": {
                    "type": "array",
                    "description": "The result of each item, in the order of the request.",
                    "items": { "oneOf": [reference(answer), reference("ErrorAnswer")] },
                },
                "failed": { "type": "integer", "minimum": 0 },
            },
        },
    ] })
}

// === its answers ===

fn responses(route: &Route, examples: &Examples, limits: &Limits) -> Value {
    let mut responses = Map::new();
    responses.insert("200".to_owned(), success(route, examples));
    let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in route.codes() {
        let codes = by_status.entry(entry(code).status().as_u16()).or_default();
        codes.push(code);
    }
    for (status, codes) in by_status {
        responses.insert(status.to_string(), refusal(route, &codes, limits));
    }
    responses.into()
}

fn success(route: &Route, examples: &Examples) -> Value {
    let schema = match route.endpoint {
        Endpoint::Metrics => {
            return json!({
                "description": "Prometheus text format 0.0.4.",
                "content": { "text/plain": { "schema": { "type": "string" } } },
            });
        }
        _ if route.is_stream() => {
            return json!({
                "description": "Under way. It is whole only if it ends as HTTP says; what fails on the way is reset.",
                "headers": { KEY_VERSION_HEADER: {
                    "description": "The key version.",
                    "schema": { "type": "integer" },
                } },
                "content": bytes(),
            });
        }
        Endpoint::Openapi => json!({ "type": "object" }),
        _ if route.takes_items() => one_or_results(route.answer),
        _ => reference(route.answer),
    };
    let mut description = String::from("Done.");
    if route.takes_items() {
        let codes: Vec<_> = route
            .item_codes
            .iter()
            .map(|code| format!("`{code}`"))
            .collect();
        let codes = codes.join(", ");
        description = format!("Done. In a batch single items may fail: {codes}.");
    }
    json!({
        "description": description,
        "content": content(route, Some(&examples.answers), schema),
    })
}

fn refusal(route: &Route, codes: &[Code], limits: &Limits) -> Value {
    let line = |code: &Code| format!("- `{code}`: {}", entry(*code).message(limits));
    let description: Vec<_> = codes.iter().map(line).collect();
    let mut schema = json!({
        "allOf": [
            reference("ErrorAnswer"),
            { "properties": { "error": { "properties": { "code": { "enum": codes } } } } },
        ],
    });
    let retry = codes
        .iter()
        .any(|&code| entry(code).retry_after().is_some());
    // A degraded service answers the same body as a ready one, with this status.
    let degraded = codes.contains(&Code::AuditUnavailable);
    if degraded && route.endpoint == Endpoint::Health {
        schema = json!({ "oneOf": [schema, reference("HealthAnswer")] });
    }
    let mut response = json!({
        "description": description.join("\n"),
        "content": content(route, None, schema),
    });
    if retry {
        response["headers"] = json!({ "Retry-After": {
            "description": "Seconds.",
            "schema": { "type": "integer" },
        } });
    }
    response
}

// === schemas ===

fn schemas() -> Value {
    let mut generator = SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        })
        .into_generator();
    request::<SealItem<'_>>(&mut generator);
    request::<OpenItem<'_>>(&mut generator);
    request::<RewrapItem<'_>>(&mut generator);
    request::<DatakeyItem<'_>>(&mut generator);
    request::<RandomItem>(&mut generator);
    request::<ValueItem<'_>>(&mut generator);
    request::<TokenItem<'_>>(&mut generator);
    request::<TokenAnswer<'_>>(&mut generator);
    request::<ValueAnswer<'_>>(&mut generator);
    request::<MaskAnswer<'_>>(&mut generator);
    request::<SignItem<'_>>(&mut generator);
    request::<SignAnswer<'_>>(&mut generator);
    request::<VerifyItem<'_>>(&mut generator);
    request::<VerifyAnswer>(&mut generator);
    request::<AgreeItem<'_>>(&mut generator);
    request::<AgreeAnswer<'_>>(&mut generator);
    request::<PublicKeyItem<'_>>(&mut generator);
    request::<PublicKeyAnswer<'_>>(&mut generator);
    request::<PathItem<'_>>(&mut generator);
    request::<XpubAnswer>(&mut generator);
    request::<KeyExportAnswer<'_>>(&mut generator);
    request::<MacItem<'_>>(&mut generator);
    request::<MacAnswer<'_>>(&mut generator);
    request::<MacVerifyItem<'_>>(&mut generator);
    request::<SealAnswer<'_>>(&mut generator);
    request::<OpenAnswer<'_>>(&mut generator);
    request::<DatakeyAnswer<'_>>(&mut generator);
    request::<DatakeyOpenAnswer<'_>>(&mut generator);
    request::<RandomAnswer<'_>>(&mut generator);
    request::<HealthAnswer>(&mut generator);
    request::<ContextsAnswer>(&mut generator);
    request::<KeyOrder>(&mut generator);
    request::<KeyOrderAnswer>(&mut generator);
    request::<RotateOrder>(&mut generator);
    request::<RotateAnswer>(&mut generator);
    request::<ApproveOrder>(&mut generator);
    request::<ApproveAnswer>(&mut generator);
    request::<KeyVersionsAnswer>(&mut generator);
    request::<ErrorAnswer>(&mut generator);
    generator.take_definitions(true).into()
}

/// Puts the type's schema and those it needs among the definitions.
fn request<T: JsonSchema>(generator: &mut SchemaGenerator) {
    generator.subschema_for::<T>();
}
