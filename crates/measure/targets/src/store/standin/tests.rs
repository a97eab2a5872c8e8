//! The stand-in's answers, without sockets.

use http::{Method, StatusCode};
use keywright_clock::Clock;
use keywright_primitives::random::RandomStream;
use keywright_secret::Secret;
use serde_json::{Value, json};

use super::MARK;
use super::state::{Asked, State};

const TOKEN: &[u8; 32] = b"0123456789abcdef0123456789abcdef";

struct Client(State);

impl Client {
    fn new() -> Self {
        let token = Secret::copy_from(TOKEN).unwrap();
        let random = RandomStream::new().unwrap();
        Self(State::new(token, Clock::system(), random))
    }

    fn ask(&mut self, method: Method, path: &str, body: &[u8], token: &[u8]) -> (u16, Value) {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let answer = self.0.answer(&Asked {
            method: &method,
            path,
            query,
            token,
            body,
        });
        (answer.status().as_u16(), answer.body().clone())
    }

    fn post(&mut self, path: &str, body: &Value) -> (u16, Value) {
        self.ask(Method::POST, path, body.to_string().as_bytes(), TOKEN)
    }

    fn get(&mut self, path: &str) -> (u16, Value) {
        self.ask(Method::GET, path, b"", TOKEN)
    }

    fn delete(&mut self, path: &str) -> u16 {
        self.ask(Method::DELETE, path, b"", TOKEN).0
    }
}

#[test]
fn only_health_and_seal_are_told_without_the_token() {
    let mut client = Client::new();
    client.post("/v1/secret/data/a", &json!({ "data": { "k": "v" } }));
    for token in [b"".as_slice(), b"wrong", &TOKEN[..31]] {
        for path in [
            "/v1/secret/data/a",
            "/v1/kv/a",
            "/v1/transit/keys/a",
            "/v1/other",
        ] {
            let (status, body) = client.ask(Method::GET, path, b"", token);
            assert_eq!(status, 403, "{path}");
            assert_eq!(body, json!({ "errors": ["permission denied"] }));
        }
        let (status, body) = client.ask(Method::GET, "/v1/sys/health", b"", token);
        assert_eq!((status, &body["cluster_name"]), (200, &json!(MARK)));
    }
}

#[test]
fn a_sealed_one_answers_nothing_but_its_health() {
    let mut client = Client::new();
    client.0.sealed = true;
    assert_eq!(client.get("/v1/secret/data/a").0, 503);
    let (status, body) = client.get("/v1/sys/health");
    assert_eq!((status, &body["sealed"]), (503, &json!(true)));
    assert_eq!(client.get("/v1/sys/seal-status").0, 200);
}

#[test]
fn versions_of_a_secret_are_read_by_number_and_removed_together() {
    let mut client = Client::new();
    for number in 1..=3 {
        let (status, body) =
            client.post("/v1/secret/data/a/b", &json!({ "data": { "n": number } }));
        assert_eq!((status, &body["data"]["version"]), (200, &json!(number)));
    }
    assert_eq!(client.get("/v1/secret/data/a/b").1["data"]["data"]["n"], 3);
    assert_eq!(
        client.get("/v1/secret/data/a/b?version=2").1["data"]["data"]["n"],
        2
    );
    assert_eq!(client.get("/v1/secret/data/a/b?version=4").0, 404);
    assert_eq!(client.get("/v1/secret/data/a/b?version=x").0, 400);
    assert_eq!(
        client.get("/v1/secret/metadata/a?list=true").1["data"]["keys"],
        json!(["b"])
    );
    assert_eq!(client.delete("/v1/secret/metadata/a/b"), 204);
    assert_eq!(
        client.get("/v1/secret/data/a/b"),
        (404, json!({ "errors": [] }))
    );
    assert_eq!(client.0.holdings(), 0);
}

#[test]
fn unversioned_secrets_come_back_as_they_were_written() {
    let mut client = Client::new();
    assert_eq!(
        client.post("/v1/kv/a", &json!({ "k": "v" })),
        (204, Value::Null)
    );
    assert_eq!(client.get("/v1/kv/a").1["data"], json!({ "k": "v" }));
    assert_eq!(client.delete("/v1/kv/a"), 204);
    assert_eq!(client.get("/v1/kv/a").0, 404);
}

#[test]
fn bodies_that_are_no_json_objects_are_bad_requests() {
    let mut client = Client::new();
    client.post("/v1/transit/keys/k", &json!({}));
    for path in ["/v1/secret/data/a", "/v1/kv/a", "/v1/transit/encrypt/k"] {
        for body in [b"{".as_slice(), b"[]", b"null", b"\xff", b"\"text\""] {
            assert_eq!(client.ask(Method::POST, path, body, TOKEN).0, 400, "{path}");
        }
    }
    assert_eq!(client.post("/v1/secret/data/a", &json!({})).0, 400);
    assert_eq!(client.post("/v1/transit/encrypt/k", &json!({})).0, 400);
    assert_eq!(
        client
            .post("/v1/transit/encrypt/k", &json!({ "batch_input": [] }))
            .0,
        400
    );
}

#[test]
fn unknown_routes_and_keys_are_told_from_each_other() {
    let mut client = Client::new();
    for path in [
        "/",
        "/v1",
        "/v1/",
        "/v1/other/x",
        "/v2/secret/data/a",
        "/v1/secret/a",
    ] {
        assert_eq!(client.get(path).0, 404, "{path}");
    }
    assert_eq!(client.get("/v1/transit/keys/none").0, 404);
    assert_eq!(
        client
            .post("/v1/transit/encrypt/none", &json!({ "plaintext": "" }))
            .0,
        400
    );
    assert_eq!(
        client
            .post("/v1/transit/keys/k", &json!({ "type": "other" }))
            .0,
        400
    );
    for count in ["0", "x", "-1", "999999999999999999999"] {
        assert_eq!(
            client
                .post(&format!("/v1/transit/random/{count}"), &json!({}))
                .0,
            400
        );
    }
}

#[test]
fn a_key_is_deleted_only_after_that_was_allowed() {
    let mut client = Client::new();
    client.post("/v1/transit/keys/k", &json!({ "type": "ed25519" }));
    assert_eq!(client.delete("/v1/transit/keys/k"), 400);
    let allow = json!({ "deletion_allowed": true });
    client.post("/v1/transit/keys/k/config", &allow);
    assert_eq!(client.delete("/v1/transit/keys/k"), 204);
    assert_eq!(client.delete("/v1/transit/keys/k"), 400);
    assert_eq!(client.get("/v1/transit/keys/k").0, 404);
}

#[test]
fn a_batch_answers_item_by_item_and_fails_as_a_whole() {
    let mut client = Client::new();
    client.post("/v1/transit/keys/k", &json!({}));
    let batch = json!({ "batch_input": [{ "plaintext": "AQ==" }, { "plaintext": "Ag==" }] });
    let (status, body) = client.post("/v1/transit/encrypt/k", &batch);
    assert_eq!(status, 200);
    let batch = json!({ "batch_input": body["data"]["batch_results"] });
    let (_, opened) = client.post("/v1/transit/decrypt/k", &batch);
    let expected = json!([{ "plaintext": "AQ==" }, { "plaintext": "Ag==" }]);
    assert_eq!(opened["data"]["batch_results"], expected);
    let broken = json!({ "batch_input": [{ "plaintext": "AQ==" }, { "plaintext": "?" }] });
    let status = client.post("/v1/transit/encrypt/k", &broken).0;
    assert_eq!(status, StatusCode::BAD_REQUEST.as_u16());
}
