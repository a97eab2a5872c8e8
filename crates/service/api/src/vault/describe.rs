//! What the OpenAPI document says of these routes, where they are switched on.

use keywright_types::Plane;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::answer::{
    Errors, KeyFacts, KeyNames, LoginAnswer, TokenFacts, TransitCiphertext, TransitCode,
    TransitDatakeyAnswer, TransitItemError, TransitPlaintext, TransitRandomBytes, TransitSignature,
    TransitValid,
};
use super::request::{
    DatakeyBody, DecryptBody, EncryptBody, HmacBody, LoginBody, NothingBody, RandomBody,
    RewrapBody, SignBody, VerifyBody,
};
use super::route::{Ask, Endpoint, HASHES, KINDS, ROUTES, Route};
use crate::Limits;

/// Adds these routes and their types to a document of the native ones.
pub fn add_to(document: &mut Value, limits: &Limits) {
    add_to_on(None, document, limits);
}

/// The same for a listener of one plane.
pub fn add_to_on(plane: Option<Plane>, document: &mut Value, limits: &Limits) {
    let mut paths = Map::new();
    let here = |route: &&Route| plane.is_none_or(|plane| route.is_on(plane));
    for route in ROUTES.iter().filter(here) {
        paths.insert(route.path.to_owned(), path_item(route, limits));
    }
    let token = json!({ "vaultToken": {
        "type": "apiKey",
        "in": "header",
        "name": "X-Vault-Token",
        "description": "A token of `/v1/auth/cert/login` for the certificate of the connection. It grants nothing, and may be \
            left out.",
    } });
    let schemes = token.as_object().cloned().unwrap_or_default();
    for (place, more) in [
        ("/paths", paths),
        ("/components/schemas", schemas()),
        ("/components/securitySchemes", schemes),
    ] {
        if let Some(Value::Object(known)) = document.pointer_mut(place) {
            known.extend(more);
        }
    }
}

fn path_item(route: &Route, limits: &Limits) -> Value {
    let mut parameters: Vec<Value> = route.path.split('/').filter_map(parameter).collect();
    match route.ask {
        Ask::Read => json!({ "parameters": parameters, "get": operation(route, "", limits) }),
        Ask::List => {
            parameters.push(json!({
                "name": "list", "in": "query", "required": true, "schema": { "const": "true" },
                "description": "The method LIST is another way to say it.",
            }));
            json!({ "parameters": parameters, "get": operation(route, "", limits) })
        }
        Ask::Write => json!({
            "parameters": parameters,
            "post": operation(route, "", limits),
            "put": operation(route, "_put", limits),
        }),
    }
}

/// What stands for a component of a path in braces.
fn parameter(part: &str) -> Option<Value> {
    let name = part.strip_prefix('{')?.strip_suffix('}')?;
    let (description, schema) = match name {
        "kind" => (
            "Whether the answer has the plain key beside the wrapped one.",
            json!({ "enum": KINDS }),
        ),
        "hash" => (
            "The hash function, which must be that of the key.",
            json!({ "enum": HASHES }),
        ),
        "bytes" => (
            "How many.",
            json!({ "type": "integer", "minimum": 1, "maximum": crate::MAX_RANDOM }),
        ),
        _ => (
            "The name of a context in the caller's tenant.",
            json!({ "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$" }),
        ),
    };
    Some(
        json!({ "name": name, "in": "path", "required": true, "description": description, "schema": schema }),
    )
}

fn operation(route: &Route, suffix: &str, limits: &Limits) -> Value {
    let mut operation = json!({
        "operationId": format!("{}{suffix}", operation_id(route)),
        "summary": route.summary,
        "tags": ["transit"],
        "security": [{ "clientCertificate": [] }, { "clientCertificate": [], "vaultToken": [] }],
        "responses": responses(route),
    });
    if let Some(body) = route.request {
        operation["requestBody"] = json!({
            "required": false,
            "description": format!("At most {} bytes.", limits.body_bytes),
            "content": { "application/json": { "schema": reference(body) } },
        });
    }
    operation
}

/// `transit_sign_name_hash`: each path has its own.
fn operation_id(route: &Route) -> String {
    let plain = |character: char| match character {
        '/' | '-' => '_',
        other => other,
    };
    let path = route.path.trim_start_matches("/v1/");
    path.chars()
        .filter(|character| !matches!(character, '{' | '}'))
        .map(plain)
        .collect()
}

fn responses(route: &Route) -> Value {
    let mut responses = Map::new();
    let mut put = |status: &str, description: &str, schema: Option<Value>| {
        let mut response = json!({ "description": description });
        if let Some(schema) = schema {
            response["content"] = json!({ "application/json": { "schema": schema } });
        }
        if matches!(status, "429" | "503") {
            response["headers"] = json!({ "Retry-After": { "description": "Seconds.", "schema": { "type": "integer" } } });
        }
        responses.insert(status.to_owned(), response);
    };
    match (route.endpoint, route.answer) {
        (Endpoint::Login, _) => put("200", "Done.", Some(reference("LoginAnswer"))),
        (_, Some(answer)) => put("200", "Done.", Some(done(route, answer))),
        (_, None) => put("204", "Done.", None),
    }
    let errors = || reference("TransitErrors");
    let refused = match takes_batch(route) {
        true => json!({ "oneOf": [errors(), in_data(&batch(route.answer.unwrap_or_default()))] }),
        false => errors(),
    };
    put(
        "400",
        "The request, an item of it, or its state is not good.",
        Some(refused),
    );
    put(
        "403",
        "The token, the certificate or the policy forbids it, or there is no such key.",
        Some(errors()),
    );
    if route.path.contains('{') {
        let none = "A part of the path is none that it can be.";
        put("404", none, Some(errors()));
    }
    put(
        "405",
        "This route is asked in another way; see the Allow header.",
        Some(errors()),
    );
    put("408", "The request did not arrive in time.", Some(errors()));
    put(
        "413",
        "The body is too large, or has too many items.",
        Some(errors()),
    );
    put(
        "429",
        "Asked for more than the policy allows in this time.",
        Some(errors()),
    );
    put("500", "A fault of the service.", Some(errors()));
    put("503", "Later.", Some(errors()));
    responses.into()
}

fn done(route: &Route, answer: &str) -> Value {
    match takes_batch(route) {
        true => in_data(&json!({ "oneOf": [reference(answer), batch(answer)] })),
        false => in_data(&reference(answer)),
    }
}

fn batch(answer: &str) -> Value {
    json!({
        "type": "object",
        "required": ["batch_results"],
        "properties": { "batch_results": {
            "type": "array",
            "description": "The result of each item, in the order of the request.",
            "items": { "anyOf": [reference(answer), reference("TransitItemError")] },
        } },
    })
}

/// What stands around the data of an answer.
fn in_data(data: &Value) -> Value {
    json!({
        "type": "object",
        "required": ["request_id", "lease_id", "renewable", "lease_duration", "data", "wrap_info", "warnings", "auth"],
        "properties": {
            "request_id": { "type": "string", "description": "The id under which the audit log has the request." },
            "lease_id": { "const": "" },
            "renewable": { "const": false },
            "lease_duration": { "const": 0 },
            "data": data,
            "wrap_info": { "type": "null" },
            "warnings": { "type": "null" },
            "auth": { "type": "null" },
        },
    })
}

const fn takes_batch(route: &Route) -> bool {
    matches!(
        route.endpoint,
        Endpoint::Decrypt
            | Endpoint::Encrypt
            | Endpoint::Hmac
            | Endpoint::Rewrap
            | Endpoint::Sign
            | Endpoint::Verify
    )
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn schemas() -> Map<String, Value> {
    let mut generator = SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        })
        .into_generator();
    macro_rules! put {
        ($($name:ty),* $(,)?) => { $(generator.subschema_for::<$name>();)* };
    }
    put![
        EncryptBody<'_>,
        DecryptBody<'_>,
        RewrapBody<'_>,
        DatakeyBody<'_>,
        SignBody<'_>,
        VerifyBody<'_>,
        HmacBody<'_>,
        RandomBody<'_>,
        NothingBody,
        LoginBody<'_>,
        LoginAnswer,
        TokenFacts,
        KeyNames,
        KeyFacts,
        TransitCiphertext,
        TransitPlaintext,
        TransitDatakeyAnswer,
        TransitSignature,
        TransitValid,
        TransitCode,
        TransitRandomBytes,
        TransitItemError,
        Errors,
    ];
    generator.take_definitions(true)
}
