//! What is asked about: kinds of keys, where their versions stand, and a well-formed request of each route.

use std::fmt;

use bytes::Bytes;
use keywright_api::route::Endpoint;
use keywright_custody::{Detail, TreeDetail, fit};
use keywright_encoding::base64;
use keywright_home::Life;
use keywright_types::{Algorithm, Export, KeySpec, Origin, Purpose, State};
use serde_json::{Value, json};

use super::{CARD, TEXT, text};
use crate::fixture::*;

const ACCOUNT: &str = "m/44'/0'/7'";

/// A kind of key, as a context is made for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) purpose: Purpose,
    pub(super) algorithm: Algorithm,
    /// Of a tree: whether it hands out public nodes, and then no private keys.
    pub(super) soft: bool,
}

impl Kind {
    /// Every kind that the embedded keystore makes. RSA in its smallest size alone: the others take seconds to make.
    pub(super) fn all() -> Vec<Self> {
        let mut all = Vec::new();
        let purposes = Purpose::ALL.iter().filter(|one| **one != Purpose::Wrap);
        for purpose in purposes {
            for algorithm in Algorithm::ALL {
                let one = Self {
                    purpose: *purpose,
                    algorithm: *algorithm,
                    soft: false,
                };
                let name = algorithm.name();
                let large = name.starts_with("rsa-") && !name.starts_with("rsa-2048-");
                if fit::check(&one.spec()).is_ok() && !large {
                    all.push(one);
                    all.extend(one.has_soft_twin().then_some(Self { soft: true, ..one }));
                }
            }
        }
        all
    }

    const fn has_soft_twin(self) -> bool {
        matches!(
            self.algorithm,
            Algorithm::Bip32Secp256k1 | Algorithm::Slip10Secp256k1 | Algorithm::Slip10NistP256
        )
    }

    pub(super) fn is_tree(self) -> bool {
        self.purpose == Purpose::Tree
    }

    pub(super) fn is_rsa(self) -> bool {
        self.algorithm.name().starts_with("rsa-")
    }

    /// Trees have one seed for ever, and a key of RSA is made once for all of these tests.
    pub(super) fn rotates(self) -> bool {
        !self.is_tree() && !self.is_rsa()
    }

    pub(super) fn spec(self) -> KeySpec {
        let export = match self.is_tree() && !self.soft {
            true => Export::Plain,
            false => Export::Never,
        };
        let origin = match self.is_rsa() {
            true => Origin::Imported,
            false => Origin::Generated,
        };
        KeySpec {
            purpose: self.purpose,
            algorithm: self.algorithm,
            export,
            origin,
            ..KeySpec::seal()
        }
    }

    pub(super) fn detail(self) -> Option<Detail> {
        let seed = if self.soft { "raw" } else { "bip39" };
        match self.purpose {
            Purpose::Tokenise => Some(crate::formats::cards("column", Some("last4"))),
            Purpose::Tree => Some(Detail::Tree(TreeDetail {
                seed: seed.to_owned(),
                soft_children: self.soft,
            })),
            _ => None,
        }
    }
}

/// Where the first version of a context stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stand {
    /// It is the only one.
    Alone(State),
    /// A second one is active.
    Behind(State),
}

impl Stand {
    pub(super) const ALL: [Self; 9] = [
        Self::Alone(State::Active),
        Self::Alone(State::Retired),
        Self::Alone(State::Suspended),
        Self::Alone(State::DestroyScheduled),
        Self::Alone(State::Destroyed),
        Self::Behind(State::Retired),
        Self::Behind(State::Suspended),
        Self::Behind(State::DestroyScheduled),
        Self::Behind(State::Destroyed),
    ];

    pub(super) const fn state(self) -> State {
        match self {
            Self::Alone(state) | Self::Behind(state) => state,
        }
    }

    /// The version that seals.
    pub(super) const fn active(self) -> Option<u32> {
        match self {
            Self::Alone(State::Active) => Some(1),
            Self::Alone(_) => None,
            Self::Behind(_) => Some(2),
        }
    }

    /// The orders that bring an active version here, but the last of a destruction.
    pub(super) fn orders(self) -> Vec<Life> {
        let retire = matches!(self, Self::Alone(_)).then_some(Life::Retire);
        match self.state() {
            State::Retired => retire.into_iter().collect(),
            State::Suspended => vec![Life::Suspend],
            State::DestroyScheduled | State::Destroyed => {
                retire.into_iter().chain([Life::ScheduleDestroy]).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// A context, and what was made in it while its first version was active.
pub(super) struct Case {
    pub(super) kind: Kind,
    pub(super) stand: Stand,
    pub(super) name: String,
    pub(super) made: Made,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Kind { purpose, .. } = self.kind;
        write!(f, "{} ({purpose}, {:?})", self.name, self.stand)
    }
}

/// What requests bring along. Where a kind makes no such thing, another's or none is as good: it is not looked at.
#[derive(Clone, Debug)]
pub(super) struct Made {
    ciphertext: String,
    wrapped: String,
    stream: Bytes,
    signature: String,
    mac: String,
    public_key: String,
    token: String,
}

impl Made {
    /// Of a context that seals.
    fn sealed(wire: &mut Wire, context: &str) -> Self {
        let encrypted = ask(
            wire,
            context,
            "encrypt",
            &json!({ "plaintext": base64::encode(TEXT) }),
        );
        let streamed = wire.post(&path(context, "encrypt/stream"), TEXT);
        assert_eq!(streamed.status, 200);
        Self {
            ciphertext: text(&encrypted, "ciphertext"),
            wrapped: text(&ask(wire, context, "datakey", &json!({})), "ciphertext"),
            stream: streamed.body,
            signature: base64::encode(&[1; 64]),
            mac: base64::encode(&[1; 32]),
            public_key: base64::encode(&[9; 32]),
            token: CARD.to_owned(),
        }
    }

    /// What this context makes, beside what `other` made.
    pub(super) fn of(wire: &mut Wire, kind: Kind, context: &str, other: Option<&Self>) -> Self {
        let Some(other) = other.filter(|_| kind.purpose != Purpose::Seal) else {
            return Self::sealed(wire, context);
        };
        let mut made = other.clone();
        let mut field = |action, body: &Value, name| text(&ask(wire, context, action, body), name);
        match kind.purpose {
            Purpose::Deterministic => {
                let body = json!({ "plaintext": base64::encode(TEXT) });
                made.ciphertext = field("deterministic/encrypt", &body, "ciphertext");
            }
            Purpose::Tokenise => {
                made.token = field("tokenize", &json!({ "value": CARD }), "token");
            }
            Purpose::Mac => made.mac = field("mac", &message(kind), "mac"),
            Purpose::Sign => made.signature = field("sign", &message(kind), "signature"),
            Purpose::Agree | Purpose::Tree => {
                made.public_key = field("public-key", &pathed(kind, json!({})), "public_key");
                if kind.is_tree() && kind.algorithm != Algorithm::Slip10Curve25519 {
                    made.signature = field("sign", &message(kind), "signature");
                }
            }
            other => panic!("a kind of key that nobody thought of: {other}"),
        }
        made
    }
}

fn ask(wire: &mut Wire, context: &str, action: &str, body: &Value) -> Value {
    let got = wire.post(&path(context, action), body.to_string());
    assert_eq!(got.code(), "ok", "{context} {action}");
    got.json()
}

fn pathed(kind: Kind, mut body: Value) -> Value {
    if kind.is_tree() {
        body["path"] = json!(ACCOUNT);
    }
    body
}

fn message(kind: Kind) -> Value {
    pathed(kind, json!({ "message": base64::encode(TEXT) }))
}

/// A well-formed request of a route. A route that is new does not compile until it is thought of here.
pub(super) fn body(endpoint: Endpoint, case: &Case) -> Bytes {
    let (kind, made) = (case.kind, &case.made);
    let with = |mut body: Value, field: &str, value: Value| {
        body[field] = value;
        body
    };
    let body = match endpoint {
        Endpoint::EncryptStream => return Bytes::from_static(TEXT),
        Endpoint::DecryptStream => return made.stream.clone(),
        Endpoint::Contexts
        | Endpoint::Health
        | Endpoint::KeyVersions
        | Endpoint::Metrics
        | Endpoint::Openapi => return Bytes::new(),
        Endpoint::Encrypt | Endpoint::DeterministicEncrypt => {
            json!({ "plaintext": base64::encode(TEXT) })
        }
        Endpoint::Decrypt | Endpoint::DeterministicDecrypt | Endpoint::Rewrap => {
            json!({ "ciphertext": made.ciphertext })
        }
        Endpoint::Datakey | Endpoint::KeyRotate => json!({}),
        Endpoint::DatakeyOpen => json!({ "ciphertext": made.wrapped }),
        Endpoint::Tokenize => json!({ "value": CARD }),
        Endpoint::Detokenize | Endpoint::Mask => json!({ "token": made.token, "key_version": 1 }),
        Endpoint::Sign => message(kind),
        Endpoint::Verify => {
            let body = with(message(kind), "signature", json!(made.signature));
            with(body, "key_version", json!(1))
        }
        Endpoint::Agree => pathed(
            kind,
            json!({ "public_key": made.public_key, "key_version": 1 }),
        ),
        Endpoint::PublicKey => pathed(kind, json!({ "key_version": 1 })),
        Endpoint::Xpub | Endpoint::KeyExport => json!({ "path": ACCOUNT }),
        Endpoint::Mac => json!({ "message": base64::encode(TEXT) }),
        Endpoint::MacVerify => {
            json!({ "message": base64::encode(TEXT), "mac": made.mac, "key_version": 1 })
        }
        Endpoint::Random => json!({ "bytes": 8 }),
        Endpoint::KeyApprove => json!({ "order": "schedule-destroy", "version": 1 }),
        Endpoint::KeyCancelDestroy
        | Endpoint::KeyDestroy
        | Endpoint::KeyResume
        | Endpoint::KeyRetire
        | Endpoint::KeyScheduleDestroy
        | Endpoint::KeySuspend => json!({ "version": 1 }),
    };
    body.to_string().into()
}
