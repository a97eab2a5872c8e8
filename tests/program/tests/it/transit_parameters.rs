//! The table of docs/transit.md that says what each parameter is to each kind of key, cell by cell against a real
//! service.

use keywright_encoding::base64;
use keywright_primitives::hash::{sha256, sha384};
use keywright_types::{Algorithm, Operation, Purpose};
use serde_json::{Map, Value, json};

use crate::fixture::*;
use crate::uses::{allow, make, spec};

const PAGE: &str = include_str!("../../../../docs/transit.md");
const MESSAGE: &[u8] = b"order 4711: 250 at 17.35";

const EVERYTHING: [Operation; 11] = [
    Operation::Encrypt,
    Operation::Decrypt,
    Operation::Rewrap,
    Operation::Datakey,
    Operation::DatakeyOpen,
    Operation::Sign,
    Operation::Verify,
    Operation::PublicKey,
    Operation::Mac,
    Operation::MacVerify,
    Operation::KeyList,
];

/// The columns of the table, each with the key that it stands for.
const COLUMNS: [(&str, &str, Purpose, Algorithm); 9] = [
    ("XAES", "xaes", Purpose::Seal, Algorithm::Xaes256Gcm),
    (
        "XChaCha20",
        "chacha",
        Purpose::Seal,
        Algorithm::XChaCha20Poly1305,
    ),
    ("Ed25519", "edwards", Purpose::Sign, Algorithm::Ed25519),
    ("P-256", "p256", Purpose::Sign, Algorithm::EcdsaP256),
    ("P-384", "p384", Purpose::Sign, Algorithm::EcdsaP384),
    (
        "RSA-2048",
        "rsa2048",
        Purpose::Sign,
        Algorithm::Rsa2048Pkcs1,
    ),
    (
        "RSA-3072 PSS",
        "rsa3072",
        Purpose::Sign,
        Algorithm::Rsa3072Pss,
    ),
    (
        "RSA-4096",
        "rsa4096",
        Purpose::Sign,
        Algorithm::Rsa4096Pkcs1,
    ),
    ("HMAC", "codes", Purpose::Mac, Algorithm::HmacSha256),
];

/// What a cell says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    /// It does what it says.
    Used,
    /// The answer is the one without it.
    PassedOver,
    /// 400.
    Refused,
    /// 400, because the key is not one for the operation.
    NotOfTheKey,
}

impl Cell {
    fn read(text: &str) -> Self {
        match text {
            "used" => Self::Used,
            "ignored" => Self::PassedOver,
            "refused" => Self::Refused,
            "no" => Self::NotOfTheKey,
            other => panic!("a cell says {other}"),
        }
    }
}

/// A row: the operation, the parameter with its value, a cell for each column.
struct Row {
    operation: &'static str,
    parameter: Option<(&'static str, Value)>,
    cells: Vec<Cell>,
}

fn rows() -> Vec<Row> {
    let (_, rest) = PAGE.split_once("\n## Parameters by kind of key\n").unwrap();
    let (table, _) = rest.split_once("\n## ").unwrap();
    let mut lines = table.lines().filter(|line| line.starts_with('|'));
    let cells = |line: &'static str| -> Vec<&'static str> {
        let inner = line.trim_matches('|');
        inner.split('|').map(str::trim).collect()
    };
    let head = cells(lines.next().unwrap());
    let titles = COLUMNS.map(|(title, ..)| title);
    assert_eq!(head[2..], titles);
    lines.next().unwrap();
    lines
        .map(|line| {
            let cells = cells(line);
            let parameter = cells[1].trim_matches('`');
            let parameter = parameter.split_once('=').map(|(name, value)| {
                let value = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
                (name, value)
            });
            Row {
                operation: cells[0].trim_matches('`'),
                parameter,
                cells: cells[2..].iter().map(|cell| Cell::read(cell)).collect(),
            }
        })
        .collect()
}

/// A key in the making of a request.
struct Subject<'a> {
    wire: &'a mut Wire,
    name: &'static str,
    algorithm: Algorithm,
}

impl Subject<'_> {
    fn post(&mut self, operation: &str, body: &Map<String, Value>) -> (u16, Value) {
        let operation = operation.split(' ').next().unwrap();
        let path = format!("/v1/transit/{operation}/{}", self.name);
        let got = self
            .wire
            .post(&path, Value::Object(body.clone()).to_string());
        (got.status, got.json())
    }

    /// A good answer to a body without anything special.
    fn good(&mut self, operation: &str, field: &str) -> Value {
        let body = self.plain(operation);
        let (status, answer) = self.post(operation, &body);
        match status {
            200 => answer["data"][field].clone(),
            // Of another kind of key.
            _ => json!("vault:v1:AAAA"),
        }
    }

    /// What the operation needs, and nothing else.
    fn plain(&mut self, operation: &str) -> Map<String, Value> {
        let message = json!(base64::encode(MESSAGE));
        let own = match self.algorithm {
            Algorithm::EcdsaP384 => json!("sha2-384"),
            _ => Value::Null,
        };
        let body = match operation {
            "encrypt" => json!({ "plaintext": message }),
            "decrypt" | "rewrap" => json!({ "ciphertext": self.good("encrypt", "ciphertext") }),
            "datakey/plaintext" => json!({}),
            "sign" => json!({ "input": message, "hash_algorithm": own }),
            "verify" => {
                let signature = self.good("sign", "signature");
                json!({ "input": message, "hash_algorithm": own, "signature": signature })
            }
            "hmac" => json!({ "input": message }),
            "verify (hmac)" => json!({ "input": message, "hmac": self.good("hmac", "hmac") }),
            other => panic!("no operation {other}"),
        };
        body.as_object().unwrap().clone()
    }

    /// The body with the parameter, and with what has to go with it.
    fn with(&mut self, operation: &str, name: &str, value: &Value) -> Map<String, Value> {
        let mut body = self.plain(operation);
        body.insert(name.to_owned(), value.clone());
        if (name, value) == ("prehashed", &json!(true)) && self.algorithm != Algorithm::HmacSha256 {
            let digest = match self.algorithm {
                Algorithm::EcdsaP384 => base64::encode(&sha384(MESSAGE)),
                _ => base64::encode(&sha256(MESSAGE)),
            };
            body.insert("input".to_owned(), json!(digest));
            if self.algorithm == Algorithm::Ed25519 && operation == "verify" {
                let signed = json!({ "input": digest }).as_object().unwrap().clone();
                let signature = self.post("sign", &signed).1["data"]["signature"].clone();
                body.insert("signature".to_owned(), signature);
            }
        }
        if (name, value) == ("marshaling_algorithm", &json!("jws")) && operation == "verify" {
            let mut signed = self.plain("sign");
            signed.insert(name.to_owned(), value.clone());
            let signature = self.post("sign", &signed).1["data"]["signature"].clone();
            body.insert("signature".to_owned(), signature);
        }
        body
    }

    /// Demands that what was answered is right: that it opens, verifies, or says that it does.
    fn is_right(&mut self, operation: &str, sent: &Map<String, Value>, data: &Value) {
        match operation {
            "encrypt" | "rewrap" => {
                let mut body = Map::new();
                body.insert("ciphertext".to_owned(), data["ciphertext"].clone());
                for beside in ["associated_data", "context"] {
                    let value = sent.get(beside).cloned().unwrap_or(Value::Null);
                    body.insert(beside.to_owned(), value);
                }
                let (status, opened) = self.post("decrypt", &body);
                assert_eq!(status, 200, "{opened}");
                assert_eq!(opened["data"]["plaintext"], base64::encode(MESSAGE));
            }
            "decrypt" => assert_eq!(data["plaintext"], base64::encode(MESSAGE)),
            "datakey/plaintext" => {
                let key = data["plaintext"].as_str().unwrap();
                assert_eq!(base64::decode(key).unwrap().len(), 32);
            }
            "sign" => {
                let mut body = self.plain("verify");
                body.extend(sent.clone());
                body.remove("key_version");
                body.insert("signature".to_owned(), data["signature"].clone());
                let (status, verified) = self.post("verify", &body);
                assert_eq!((status, &verified["data"]["valid"]), (200, &json!(true)));
            }
            "hmac" => assert_eq!(data["hmac"], self.good("hmac", "hmac")),
            _ => assert_eq!(data["valid"], true),
        }
    }
}

/// Asks for a cell, and says what is wrong with it.
fn judge(subject: &mut Subject<'_>, row: &Row, cell: Cell) -> Result<(), String> {
    let body = match &row.parameter {
        None => subject.plain(row.operation),
        Some((name, value)) => subject.with(row.operation, name, value),
    };
    let (status, answer) = subject.post(row.operation, &body);
    let code = answer["code"].as_str().unwrap_or("ok");
    let good = match cell {
        Cell::Used | Cell::PassedOver => status == 200,
        Cell::Refused => status == 400,
        // A body that no key takes is refused before the key is asked.
        Cell::NotOfTheKey => status == 400 && (code == "unsupported" || row.parameter.is_some()),
    };
    if !good {
        return Err(format!("{status} {code}: {answer}"));
    }
    if status != 200 {
        return Ok(());
    }
    subject.is_right(row.operation, &body, &answer["data"]);
    if cell == Cell::PassedOver && row.operation == "sign" {
        // It verifies as what was signed without the parameter.
        let mut plain = body.clone();
        plain.remove(row.parameter.as_ref().unwrap().0);
        subject.is_right("sign", &plain, &answer["data"]);
    }
    Ok(())
}

#[test]
fn parameters_are_to_each_kind_of_key_what_the_page_says() {
    let home = Home::demo().configure("vault_transit = false", "vault_transit = true");
    let site = Site::over(home);
    for (_, context, purpose, algorithm) in COLUMNS {
        make(site.node(), context, spec(purpose, algorithm), None);
        allow(&site, context, &EVERYTHING, &[]);
    }
    let rows = rows();
    let mut wrong = Vec::new();
    let mut wire = site.wire(TRADING, BOTH[0]);
    for row in &rows {
        assert_eq!(row.cells.len(), COLUMNS.len(), "{}", row.operation);
        for ((title, name, _, algorithm), cell) in COLUMNS.into_iter().zip(&row.cells) {
            let mut subject = Subject {
                wire: &mut wire,
                name,
                algorithm,
            };
            if let Err(told) = judge(&mut subject, row, *cell) {
                let parameter = row
                    .parameter
                    .as_ref()
                    .map(|(name, value)| format!("{name}={value}"));
                let at = (row.operation, parameter, title);
                wrong.push(format!("{at:?} is not {cell:?}: {told}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(rows.len() >= 70, "{}", rows.len());
    site.stop();
}

#[test]
#[expect(clippy::too_many_lines, reason = "two tables")]
fn body_null_header_and_method_of_vault_clients_are_taken() {
    let home = Home::demo().configure("vault_transit = false", "vault_transit = true");
    let site = Site::over(home);
    allow(&site, EXCHANGE, &EVERYTHING, &[]);
    allow(&site, EXCHANGE, &[Operation::KeyRotate], &[]);
    let nothing = ["", " \n", "{}", "null", " null "];
    let headers: [&[(&str, &str)]; 5] = [
        &[],
        &[
            ("content-type", "application/json"),
            ("x-vault-request", "true"),
        ],
        &[("content-type", "application/merge-patch+json")],
        &[
            ("content-type", "application/x-www-form-urlencoded"),
            ("x-vault-namespace", "root"),
        ],
        &[
            ("x-vault-policy-override", "true"),
            ("x-vault-wrap-ttl", "0"),
            ("x-vault-index", "AA=="),
        ],
    ];
    for protocol in BOTH {
        let mut wire = site.wire(TRADING, protocol);
        for (path, status) in [
            ("keys/exchange-key/rotate", 204),
            ("datakey/plaintext/exchange-key", 200),
            ("datakey/wrapped/exchange-key", 200),
            ("random", 200),
            ("random/16", 200),
            ("encrypt/exchange-key", 400),
            ("decrypt/exchange-key", 400),
            ("rewrap/exchange-key", 400),
        ] {
            let path = format!("/v1/transit/{path}");
            for (number, body) in nothing.into_iter().enumerate() {
                let method = ["POST", "PUT"][number % 2];
                let got = send(&mut wire, (method, path.as_str()), headers[number], body);
                assert_eq!(got.status, status, "{path} {body:?}");
                if status == 400 {
                    let told = got.json()["errors"][0].to_string();
                    assert!(told.contains("missing"), "the field is named: {told}");
                }
            }
        }
        for body in nothing {
            let got = send(&mut wire, ("PUT", "/v1/auth/cert/login"), headers[1], body);
            assert_eq!(got.status, 200, "{body:?}");
        }
        for header in [("x-vault-namespace", "team"), ("x-vault-wrap-ttl", "60")] {
            let got = send(&mut wire, ("PUT", "/v1/transit/random"), &[header], "null");
            assert_eq!(got.status, 400, "{header:?}");
        }
        let got = send(
            &mut wire,
            ("PATCH", "/v1/transit/random"),
            headers[2],
            "null",
        );
        assert_eq!(got.status, 405);
        // A native route says what it needs, and `null` is not it.
        let got = wire.post(&path(EXCHANGE, "datakey"), "null");
        assert_eq!(
            (got.status, got.code().as_str()),
            (400, "request_malformed")
        );
    }
    site.stop();
}

fn send(wire: &mut Wire, asked: (&str, &str), headers: &[(&str, &str)], body: &'static str) -> Got {
    let mut request = wire.request(asked.0.parse().unwrap(), asked.1);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = http_body_util::Full::new(body.into());
    wire.send_request(request.body(body).unwrap()).unwrap()
}
