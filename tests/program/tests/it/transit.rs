//! The routes for Vault's clients: the Python client hvac, Vault's own Go library and sigstore's signer against a real
//! service, and over raw connections what no client sends.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use http::Method;
use keywright_encoding::base64;
use keywright_types::{Algorithm, Operation, Purpose};
use serde_json::{Value, json};

use crate::audit_first::skipped;
use crate::fixture::*;
use crate::uses::{allow, make, spec};

const SEALING: [Operation; 8] = [
    Operation::Encrypt,
    Operation::Decrypt,
    Operation::Rewrap,
    Operation::Datakey,
    Operation::DatakeyOpen,
    Operation::KeyRotate,
    Operation::KeyList,
    // A right that a key for sealing has no use for.
    Operation::Mac,
];
const SIGNING: [Operation; 4] = [
    Operation::Sign,
    Operation::Verify,
    Operation::PublicKey,
    Operation::KeyList,
];
const CODES: [Operation; 3] = [Operation::Mac, Operation::MacVerify, Operation::KeyList];

/// A site whose door is open, with contexts of every kind that its routes use.
fn open_site(token_seconds: u32) -> Site {
    let home = Home::demo()
        .configure("vault_transit = false", "vault_transit = true")
        .configure(
            "vault_token_s = 3600",
            &format!("vault_token_s = {token_seconds}"),
        );
    let site = Site::over(home);
    for (context, purpose, algorithm, operations) in [
        ("edwards", Purpose::Sign, Algorithm::Ed25519, &SIGNING[..]),
        ("nist", Purpose::Sign, Algorithm::EcdsaP256, &SIGNING),
        ("codes", Purpose::Mac, Algorithm::HmacSha256, &CODES),
        ("rsa", Purpose::Sign, Algorithm::Rsa2048Pkcs1, &SIGNING),
    ] {
        make(site.node(), context, spec(purpose, algorithm), None);
        allow(&site, context, operations, &[]);
    }
    allow(&site, EXCHANGE, &SEALING, &[]);
    site
}

// === hvac ===

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A Python that can import what a client needs: the one that `scripts/run-tests` makes, or the system's. Without it `test` is
/// skipped.
pub(crate) fn python(test: &str, imports: &str) -> Option<PathBuf> {
    let own = repository().join("target/clients/bin/python");
    let works = |python: &PathBuf| {
        let asked = Command::new(python).args(["-c", imports]).output();
        asked.is_ok_and(|answer| answer.status.success())
    };
    let found = [own, PathBuf::from("python3")].into_iter().find(works);
    if found.is_none() {
        let because = format!("no Python in which this works: {imports}");
        skipped(test, &because);
    }
    found
}

/// A client in Go that `scripts/go-clients` has built. Without it `test` is skipped.
fn go_client(name: &str, test: &str) -> Option<PathBuf> {
    let program = repository().join("target/go-clients").join(name);
    if program.is_file() {
        return Some(program);
    }
    skipped(test, &format!("scripts/go-clients has not built {name}"));
    None
}

/// Runs a client against a site; what it said.
fn run_client(site: &Site, program: &Path) -> String {
    let asked = Command::new(program)
        .arg(site.address().to_string())
        .arg(site.home.path())
        // What the machine knows of a Vault is not this one.
        .env_clear()
        .env("HOME", site.home.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&asked.stdout).into_owned();
    let errors = String::from_utf8_lossy(&asked.stderr);
    assert!(asked.status.success(), "{said}{errors}");
    said
}

#[test]
fn vault_go_library_does_all_of_it() {
    let Some(program) = go_client("vault-api", "vault-api") else {
        return;
    };
    let site = open_site(3600);
    let said = run_client(&site, &program);
    assert_eq!(said.lines().count(), 9, "{said}");
    let home = site.stop();
    home.verify();
    let records = home.requests();
    for operation in ["key-rotate", "datakey", "random", "connect", "sign", "mac"] {
        let done = |one: &Value| one["operation"] == operation && one["outcome"] == "ok";
        assert!(records.iter().any(done), "{operation}");
    }
}

#[test]
fn sigstore_signer_signs_and_verifies() {
    let Some(program) = go_client("sigstore", "sigstore") else {
        return;
    };
    let site = open_site(3600);
    let said = run_client(&site, &program);
    assert_eq!(said.lines().count(), 3, "{said}");
    site.stop();
}

#[test]
fn hvac_does_all_of_it_and_is_refused_where_it_must_be() {
    let Some(python) = python("hvac", "import hvac, cryptography") else {
        return;
    };
    let site = open_site(3600);
    let asked = Command::new(python)
        .args(["-B", "-I"])
        .arg(repository().join("tests/program/clients/transit.py"))
        .arg(site.address().to_string())
        .arg(site.home.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&asked.stdout).into_owned();
    let errors = String::from_utf8_lossy(&asked.stderr);
    assert!(asked.status.success(), "{said}{errors}");
    assert!(said.lines().count() >= 14, "{said}");
    let home = site.stop();
    home.verify();
    // The same operations, in the same records, as on native routes.
    let records = home.requests();
    let done = |operation: &str, outcome: &str| {
        let same =
            |record: &&Value| record["operation"] == operation && record["outcome"] == outcome;
        records.iter().filter(same).count()
    };
    for operation in [
        "encrypt",
        "decrypt",
        "rewrap",
        "datakey",
        "datakey-open",
        "sign",
        "verify",
        "mac",
        "mac-verify",
        "random",
        "key-rotate",
        "key-list",
        "context-list",
        "public-key",
        "connect",
    ] {
        assert!(done(operation, "ok") > 0, "{operation}");
    }
    assert!(done("encrypt", "token_refused") >= 6);
    assert!(done("encrypt", "context_not_found") > 0 && done("decrypt", "decryption_failed") > 0);
}

// === without it ===

/// Asks with these headers.
fn ask(wire: &mut Wire, (method, path): (&str, &str), headers: &[(&str, &str)], body: &str) -> Got {
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let mut request = wire.request(method, path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request
        .body(http_body_util::Full::new(body.to_owned().into()))
        .unwrap();
    wire.send_request(request).unwrap()
}

fn post(wire: &mut Wire, path: &str, body: &Value) -> Got {
    ask(wire, ("POST", path), &[], &body.to_string())
}

fn token(wire: &mut Wire) -> String {
    let got = ask(wire, ("POST", "/v1/auth/cert/login"), &[], "");
    assert_eq!(got.status, 200);
    got.json()["auth"]["client_token"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn without_the_switch_none_of_these_routes_is_there() {
    let site = Site::start();
    let mut wire = site.wire(TRADING, BOTH[0]);
    for (method, path) in [
        ("POST", "/v1/transit/encrypt/exchange-key"),
        ("GET", "/v1/transit/keys?list=true"),
        ("LIST", "/v1/transit/keys"),
        ("POST", "/v1/auth/cert/login"),
        ("GET", "/v1/auth/token/lookup-self"),
    ] {
        let got = ask(&mut wire, (method, path), &[], "{}");
        assert_eq!(
            (got.status, got.code().as_str()),
            (404, "route_not_found"),
            "{path}"
        );
    }
    let document = wire.get("/v1/openapi.json").json();
    assert!(document["paths"].get("/v1/transit/keys").is_none());
    site.stop();
}

#[test]
fn a_token_ends_when_it_says_and_the_certificate_goes_on() {
    let site = open_site(1);
    let mut wire = site.wire(TRADING, BOTH[1]);
    let token = token(&mut wire);
    let path = "/v1/transit/encrypt/exchange-key";
    let with = [("x-vault-token", token.as_str())];
    let body = json!({ "plaintext": "" }).to_string();
    std::thread::sleep(Duration::from_millis(1200));
    let over = ask(&mut wire, ("POST", path), &with, &body);
    assert_eq!(
        (over.status, &over.json()["code"]),
        (403, &json!("token_refused"))
    );
    let bearer = format!("Bearer {token}");
    let over = ask(
        &mut wire,
        ("POST", path),
        &[("authorization", &bearer)],
        &body,
    );
    assert_eq!(over.status, 403);
    assert_eq!(ask(&mut wire, ("POST", path), &[], &body).status, 200);
    site.stop();
}

#[test]
fn a_token_is_good_on_every_connection_of_its_certificate_and_on_no_other() {
    let site = open_site(3600);
    let token = token(&mut site.wire(TRADING, BOTH[0]));
    let with = [("x-vault-token", token.as_str())];
    for protocol in BOTH {
        let path = "/v1/auth/token/lookup-self";
        let mine = ask(&mut site.wire(TRADING, protocol), ("GET", path), &with, "");
        assert_eq!(mine.status, 200);
        let thief = ask(&mut site.wire(WEB, protocol), ("GET", path), &with, "");
        assert_eq!(
            (thief.status, &thief.json()["code"]),
            (403, &json!("token_refused"))
        );
        let none = ask(&mut site.wire(TRADING, protocol), ("GET", path), &[], "");
        assert_eq!(none.status, 403);
    }
    // Another process knows nothing of it.
    let home = site.stop();
    let site = Site::over(home);
    let path = ("GET", "/v1/auth/token/lookup-self");
    let got = ask(&mut site.wire(TRADING, BOTH[0]), path, &with, "");
    assert_eq!(got.status, 403);
    site.stop();
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn errors_have_the_form_of_vault_and_name_the_record() {
    let site = open_site(3600);
    let mut wire = site.wire(TRADING, BOTH[0]);
    let sealed = post(
        &mut wire,
        "/v1/transit/encrypt/exchange-key",
        &json!({ "plaintext": "" }),
    );
    let sealed = sealed.json()["data"]["ciphertext"].clone();
    let (encrypt, decrypt) = (
        "/v1/transit/encrypt/exchange-key",
        "/v1/transit/decrypt/exchange-key",
    );
    let mut ids = Vec::new();
    for (method, path, body, status, code) in [
        ("POST", encrypt, "{}", 400, "request_malformed"),
        ("POST", encrypt, "", 400, "request_malformed"),
        ("POST", encrypt, "[]", 400, "request_malformed"),
        ("POST", encrypt, "[\"\"]", 400, "request_malformed"),
        ("POST", encrypt, "{\"plaintext\":", 400, "request_malformed"),
        (
            "POST",
            encrypt,
            "{\"plaintext\":\"\",\"plaintext\":\"\"}",
            400,
            "request_malformed",
        ),
        (
            "POST",
            encrypt,
            "{\"plaintext\":1}",
            400,
            "request_malformed",
        ),
        (
            "POST",
            encrypt,
            "{\"plaintext\":\"\",\"nonces\":\"\"}",
            400,
            "request_malformed",
        ),
        (
            "POST",
            encrypt,
            "{\"plaintext\":\"*\"}",
            400,
            "base64_invalid",
        ),
        (
            "PUT",
            encrypt,
            "{\"plaintext\":\"\",\"context\":\"*\"}",
            400,
            "base64_invalid",
        ),
        (
            "POST",
            encrypt,
            "{\"plaintext\":\"\",\"key_version\":\"1x\"}",
            400,
            "request_malformed",
        ),
        (
            "POST",
            encrypt,
            "{\"plaintext\":\"\",\"key_version\":-1}",
            400,
            "request_malformed",
        ),
        (
            "POST",
            encrypt,
            "{\"plaintext\":\"\",\"key_version\":\"7\"}",
            400,
            "value_invalid",
        ),
        (
            "POST",
            decrypt,
            "{\"ciphertext\":\"vault:v1:KWR1\"}",
            400,
            "ciphertext_malformed",
        ),
        (
            "POST",
            "/v1/transit/encrypt/edwards",
            "{\"plaintext\":\"\"}",
            403,
            "operation_denied",
        ),
        (
            "POST",
            "/v1/transit/encrypt/2fa",
            "{\"plaintext\":\"\"}",
            403,
            "context_not_found",
        ),
        (
            "POST",
            "/v1/transit/sign/exchange-key",
            "{\"input\":\"\"}",
            403,
            "operation_denied",
        ),
        (
            "POST",
            "/v1/transit/sign/2fa",
            "{\"input\":\"\"}",
            403,
            "context_not_found",
        ),
        ("GET", encrypt, "", 405, "method_not_allowed"),
        ("GET", "/v1/transit/keys", "", 405, "method_not_allowed"),
        (
            "DELETE",
            "/v1/transit/keys/exchange-key",
            "",
            405,
            "method_not_allowed",
        ),
        (
            "POST",
            "/v1/transit/encrypt/exchange-key/",
            "{}",
            404,
            "route_not_found",
        ),
        (
            "POST",
            "/v1/transit/encrypt/..",
            "{}",
            404,
            "route_not_found",
        ),
        (
            "POST",
            "/v1/transit/sign/nist/md5",
            "{}",
            404,
            "route_not_found",
        ),
        (
            "POST",
            "/v1/transit/random/-1",
            "{}",
            404,
            "route_not_found",
        ),
        (
            "POST",
            "/v1/transit/random/65537",
            "{}",
            400,
            "value_invalid",
        ),
        (
            "POST",
            "/v1/transit/random/1",
            "{\"bytes\":2}",
            400,
            "value_invalid",
        ),
        (
            "POST",
            "/v1/transit/datakey/both/exchange-key",
            "{}",
            404,
            "route_not_found",
        ),
        (
            "POST",
            "/v1/auth/userpass/login/me",
            "{}",
            404,
            "route_not_found",
        ),
        (
            "POST",
            "/v1/auth/cert/login",
            "{\"name\":\"web-2fa-1\"}",
            400,
            "value_invalid",
        ),
    ] {
        let got = ask(&mut wire, (method, path), &[], body);
        let answer = got.json();
        assert_eq!(
            (got.status, &answer["code"]),
            (status, &json!(code)),
            "{method} {path} {body}"
        );
        assert!(
            answer["errors"][0]
                .as_str()
                .is_some_and(|text| !text.is_empty()),
            "{answer}"
        );
        assert_eq!(got.header("allow").is_some(), status == 405);
        ids.push((
            answer["request_id"].as_str().unwrap().replace('-', ""),
            code,
        ));
    }
    // Additional data that is not given.
    let body = json!({ "ciphertext": sealed, "associated_data": "cm93" });
    let got = post(&mut wire, decrypt, &body);
    assert_eq!(
        (got.status, &got.json()["code"]),
        (400, &json!("decryption_failed"))
    );
    let home = site.stop();
    let records = home.requests();
    for (id, code) in ids {
        let record = records
            .iter()
            .find(|record| record["request"] == id.as_str());
        assert_eq!(record.unwrap()["outcome"], code);
    }
    home.verify();
}

#[test]
fn native_routes_and_these_open_what_the_other_has_sealed_unless_it_has_a_context() {
    let site = open_site(3600);
    let mut wire = site.wire(TRADING, BOTH[0]);
    let envelope = seal(&mut wire, EXCHANGE, b"native", b"row 7");
    let text = format!("vault:v1:{}", base64::encode(&envelope));
    let body = json!({ "ciphertext": text, "associated_data": base64::encode(b"row 7") });
    let got = post(&mut wire, "/v1/transit/decrypt/exchange-key", &body).json();
    assert_eq!(
        got["data"],
        json!({ "plaintext": base64::encode(b"native") })
    );
    for (context, status) in [("", 200), ("Yw==", 400)] {
        let body = json!({ "plaintext": base64::encode(b"foreign"), "context": context });
        let got = post(&mut wire, "/v1/transit/encrypt/exchange-key", &body).json();
        let text = got["data"]["ciphertext"].as_str().unwrap();
        let body = json!({ "ciphertext": text.strip_prefix("vault:v1:").unwrap() });
        let opened = wire.post(&path(EXCHANGE, "decrypt"), body.to_string());
        assert_eq!(opened.status, status);
    }
    site.stop();
}

#[test]
fn more_items_than_the_limit_are_refused_before_anything_is_done() {
    let home = Home::demo()
        .configure("vault_transit = false", "vault_transit = true")
        .configure("items = 10000", "items = 3");
    let site = Site::over(home);
    let mut wire = site.wire(TRADING, BOTH[0]);
    for (count, status) in [(1, 200), (3, 200), (4, 413), (10_001, 400)] {
        let items = vec![json!({ "plaintext": "" }); count];
        let got = post(
            &mut wire,
            "/v1/transit/encrypt/exchange-key",
            &json!({ "batch_input": items }),
        );
        assert_eq!(got.status, status, "{count}");
    }
    let beside = json!({ "plaintext": "AA==", "batch_input": [{ "plaintext": "" }] });
    assert_eq!(
        post(&mut wire, "/v1/transit/encrypt/exchange-key", &beside).status,
        400
    );
    site.stop();
}
