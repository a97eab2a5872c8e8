//! What the OpenAPI document says of these routes, where they are switched on.

use serde_json::{Value, json};

use super::Endpoint;
use crate::Limits;

/// Adds these routes and their types to a document of the native ones.
pub fn add_to(document: &mut Value, limits: &Limits) {
    if let Some(Value::Object(paths)) = document.pointer_mut("/paths") {
        for endpoint in Endpoint::ALL {
            paths.insert(endpoint.path().to_owned(), path_item(endpoint, limits));
        }
    }
    if let Some(Value::Object(schemas)) = document.pointer_mut("/components/schemas") {
        for (name, schema) in schemas_of() {
            schemas.insert(name.to_owned(), schema);
        }
    }
}

fn path_item(endpoint: Endpoint, limits: &Limits) -> Value {
    let (method, id, summary) = match endpoint {
        Endpoint::Decrypt => (
            "post",
            "seed_decrypt",
            "Open an envelope or what the seed service sealed: the label beside it says which it is.",
        ),
        Endpoint::Encrypt => (
            "post",
            "seed_encrypt",
            "Seal under the active version of a context. The answer is an envelope and the label of the version.",
        ),
        Endpoint::Health => (
            "get",
            "seed_health",
            "Whether the service works, and the labels of versions that the caller may know of. Any method asks.",
        ),
    };
    let mut operation = json!({
        "operationId": id,
        "summary": summary,
        "tags": ["seed"],
        "security": [{ "clientCertificate": [] }],
        "responses": responses(endpoint),
    });
    let body = match endpoint {
        Endpoint::Decrypt => Some("SeedDecrypt"),
        Endpoint::Encrypt => Some("SeedEncrypt"),
        Endpoint::Health => None,
    };
    if let Some(body) = body {
        operation["requestBody"] = json!({
            "required": true,
            "description": format!("At most {} bytes, of any content type.", limits.body_bytes),
            "content": { "application/json": { "schema": reference(body) } },
        });
    }
    json!({ method: operation })
}

fn responses(endpoint: Endpoint) -> Value {
    let refused = |description: &str| {
        json!({
            "description": description,
            "content": { "application/json": { "schema": reference("SeedError") } },
        })
    };
    let later = |description: &str| {
        let mut response = refused(description);
        response["headers"] = json!({
            "Retry-After": { "description": "Seconds.", "schema": { "type": "integer" } },
        });
        response
    };
    let done = |answer: &str| {
        json!({
            "description": "Done.",
            "content": { "application/json": { "schema": reference(answer) } },
        })
    };
    let mut responses = json!({
        "403": refused("The certificate or the policy forbids it, or there is no such context."),
        "429": later("Asked for more than the policy allows in this time."),
        "500": refused("A fault of the service, or no key of the context seals."),
        "503": later("Later."),
    });
    let more = match endpoint {
        Endpoint::Decrypt => Some((
            "SeedPlaintext",
            "The body, its base64, or what it holds is not good.",
        )),
        Endpoint::Encrypt => Some(("SeedCiphertext", "The body or its base64 is not good.")),
        Endpoint::Health => None,
    };
    if let Some((answer, bad)) = more {
        responses["200"] = done(answer);
        responses["400"] = refused(bad);
        responses["405"] = refused("Only POST is allowed.");
        responses["408"] = refused("The request did not arrive in time.");
        responses["413"] = refused("The body is too large.");
    }
    if endpoint == Endpoint::Health {
        responses["200"] = done("SeedHealth");
        let either = json!({ "oneOf": [reference("SeedHealth"), reference("SeedError")] });
        responses["503"]["content"]["application/json"]["schema"] = either;
    }
    responses
}

fn schemas_of() -> [(&'static str, Value); 6] {
    let text = || json!({ "type": "string" });
    let object = |properties: Value, required: &[&str]| json!({ "type": "object", "properties": properties, "required": required });
    let binary = json!({
        "type": "string",
        "contentEncoding": "base64",
        "description": "Standard base64 with padding; line ends inside it do not count. Absent means empty.",
    });
    let label = json!({
        "type": "string",
        "description": "The label of a key version: one that was brought in, or `kw1.`, the key's id, `.` and the version.",
    });
    [
        (
            "SeedEncrypt",
            object(json!({ "context": text(), "plaintext": binary }), &[]),
        ),
        (
            "SeedDecrypt",
            object(
                json!({ "context": text(), "ciphertext": binary, "key_id": label }),
                &[],
            ),
        ),
        (
            "SeedCiphertext",
            object(
                json!({ "ciphertext": text(), "key_id": label }),
                &["ciphertext", "key_id"],
            ),
        ),
        (
            "SeedPlaintext",
            object(json!({ "plaintext": text() }), &["plaintext"]),
        ),
        (
            "SeedHealth",
            object(
                json!({
                    "status": { "enum": ["healthy", "degraded"] },
                    "hsm_available": { "type": "boolean" },
                    "kek_status": {
                        "type": "object",
                        "additionalProperties": { "enum": ["available", "unavailable"] },
                    },
                }),
                &["status", "hsm_available", "kek_status"],
            ),
        ),
        (
            "SeedError",
            object(
                json!({
                    "error": { "type": "string", "description": "For people, as the seed service said it." },
                    "code": { "type": "string", "description": "The stable code." },
                }),
                &["error", "code"],
            ),
        ),
    ]
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}
