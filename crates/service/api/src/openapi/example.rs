//! Examples of the document, made by the code that reads and writes the real thing.

use keywright_clock::WallTime;
use keywright_types::{ApprovalId, Code, ContextId, DataKeyId, KeyVersion, Name, Purpose, State};
use serde::Serialize;
use serde_json::Value;

use crate::answer::{
    ClockWord, ContextEntry, ContextsAnswer, HealthAnswer, Memory, Probe, Readiness, VersionEntry,
};
use crate::orders::{
    Approvable, ApproveAnswer, ApproveOrder, KeyOrder, KeyOrderAnswer, KeyVersionsAnswer,
    RotateAnswer, RotateOrder, VersionUses,
};
use crate::request::{
    AgreeItem, Body, DatakeyItem, MacItem, MacVerifyItem, OpenItem, PathItem, PublicKeyItem,
    RandomItem, RewrapItem, SealItem, SignItem, SignatureForm, TokenItem, ValueItem, VerifyItem,
};
use crate::route::Endpoint;
use crate::write::{Batch, Done, one};
use crate::{Binary, Codec, Text, Tweak};

/// Examples of one route.
pub(super) struct Examples {
    pub(super) requests: Vec<(&'static str, Value)>,
    pub(super) answers: Vec<(&'static str, Value)>,
}

impl Examples {
    pub(super) fn of(endpoint: Endpoint) -> Self {
        match endpoint {
            Endpoint::Encrypt => items(seal, SEALED, Code::Base64Invalid),
            Endpoint::Decrypt => items(open, OPENED, Code::DecryptionFailed),
            Endpoint::DeterministicEncrypt => items(seal, SEALED, Code::Base64Invalid),
            Endpoint::DeterministicDecrypt => items(open, OPENED, Code::DecryptionFailed),
            Endpoint::Rewrap => items(rewrap, SEALED, Code::DecryptionFailed),
            Endpoint::Datakey => items(datakey, DATAKEY, Code::AadTooLarge),
            Endpoint::DatakeyOpen => items(open, DATAKEY_OPENED, Code::CiphertextMalformed),
            Endpoint::Random => items(|| RandomItem { bytes: 16 }, RANDOM, Code::ValueInvalid),
            Endpoint::Tokenize => items(to_token, TOKENIZED, Code::ValueUnfit),
            Endpoint::Detokenize => items(of_token, DETOKENIZED, Code::VersionNotFound),
            Endpoint::Mask => items(of_token, MASKED, Code::ValueUnfit),
            Endpoint::Sign => items(sign, SIGNED, Code::DigestInvalid),
            Endpoint::Verify => items(verify, VERIFIED, Code::VersionNotFound),
            Endpoint::Agree => items(agree, AGREED, Code::PeerKeyInvalid),
            Endpoint::PublicKey => items(public_key, PUBLIC_KEY, Code::PathInvalid),
            Endpoint::Xpub => items(at_path, XPUB, Code::PathInvalid),
            Endpoint::KeyExport => items(at_path, EXPORTED, Code::PathInvalid),
            Endpoint::Mac => items(mac, MAC, Code::Base64Invalid),
            Endpoint::MacVerify => items(mac_verify, VERIFIED, Code::VersionNotFound),
            Endpoint::KeyApprove => Self::ordered(
                &ApproveOrder {
                    order: Approvable::ScheduleDestroy,
                    version: Some(KeyVersion::FIRST),
                    all: false,
                },
                &approved(),
            ),
            Endpoint::KeyRotate => Self::ordered(&RotateOrder {}, &rotated()),
            Endpoint::KeyCancelDestroy => Self::of_versions(State::Retired),
            Endpoint::KeyDestroy => Self::of_versions(State::Destroyed),
            Endpoint::KeyResume => Self::of_versions(State::Active),
            Endpoint::KeyRetire => Self::of_versions(State::Retired),
            Endpoint::KeyScheduleDestroy => Self::of_versions(State::DestroyScheduled),
            Endpoint::KeySuspend => Self::of_versions(State::Suspended),
            Endpoint::KeyVersions => Self::read(&versions()),
            Endpoint::Health => Self::read(&health()),
            Endpoint::Contexts => Self::read(&contexts()),
            Endpoint::DecryptStream
            | Endpoint::EncryptStream
            | Endpoint::Metrics
            | Endpoint::Openapi => Self {
                requests: Vec::new(),
                answers: Vec::new(),
            },
        }
    }

    fn ordered(order: &impl Serialize, answer: &impl Serialize) -> Self {
        Self {
            requests: vec![("one", value(order))],
            answers: vec![("answer", value(answer))],
        }
    }

    fn of_versions(state: State) -> Self {
        let order = KeyOrder {
            version: Some(KeyVersion::FIRST),
            ..KeyOrder::default()
        };
        let version = KeyVersion::FIRST;
        let versions = vec![VersionEntry { version, state }];
        Self::ordered(&order, &KeyOrderAnswer { versions })
    }

    fn read(answer: &impl Serialize) -> Self {
        Self {
            requests: Vec::new(),
            answers: vec![("answer", value(answer))],
        }
    }
}

fn value(from: &impl Serialize) -> Value {
    serde_json::to_value(from).unwrap_or_default()
}

fn read_back(answer: &[u8]) -> Value {
    serde_json::from_slice(answer).unwrap_or_default()
}

fn items<T: Serialize>(item: impl Fn() -> T, done: Done<'static>, failed: Code) -> Examples {
    let mut batch = Batch::new(Codec::Json, 2, 0);
    batch.push(Ok(done));
    batch.push(Err(failed));
    Examples {
        requests: vec![
            ("one", value(&Body::One(item()))),
            ("batch", value(&Body::Many(vec![item(), item()]))),
        ],
        answers: vec![
            ("one", read_back(&one(Codec::Json, &done))),
            ("batch", read_back(&batch.finish())),
        ],
    }
}

fn seal() -> SealItem<'static> {
    SealItem {
        plaintext: Binary::encode(b"Hello World!"),
        aad: Some(Binary::encode(b"row 7")),
    }
}

/// A header alone: enough to show the `KWR1` that every ciphertext begins with.
fn open() -> OpenItem<'static> {
    OpenItem {
        ciphertext: Binary::encode(HEADER),
        aad: Some(Binary::encode(b"row 7")),
    }
}

fn rewrap() -> RewrapItem<'static> {
    let OpenItem { ciphertext, aad } = open();
    RewrapItem {
        ciphertext,
        aad,
        key_id: None,
    }
}

fn to_token() -> ValueItem<'static> {
    ValueItem {
        value: Text::new("4111111111111111"),
        tweak: Some(tweak()),
    }
}

fn of_token() -> TokenItem<'static> {
    TokenItem {
        token: Text::new("8034527126841111"),
        key_version: KeyVersion::FIRST,
        tweak: Some(tweak()),
    }
}

fn tweak() -> Tweak<'static> {
    Tweak::new(vec![(Text::new("customer"), Text::new("17"))])
}

fn path() -> Option<Text<'static>> {
    Some(Text::new("m/44'/0'/7'"))
}

fn sign() -> SignItem<'static> {
    SignItem {
        message: Some(Binary::encode(b"Hello World!")),
        digest: None,
        path: path(),
        form: Some(SignatureForm::Ecdsa),
    }
}

fn verify() -> VerifyItem<'static> {
    VerifyItem {
        message: None,
        digest: Some(Binary::encode(&[7; 32])),
        signature: Binary::encode(&[0; 64]),
        key_version: KeyVersion::FIRST,
        path: path(),
        form: None,
    }
}

fn agree() -> AgreeItem<'static> {
    AgreeItem {
        public_key: Binary::encode(&[9; 32]),
        path: None,
        key_version: None,
    }
}

fn public_key() -> PublicKeyItem<'static> {
    PublicKeyItem {
        path: path(),
        key_version: Some(KeyVersion::FIRST),
    }
}

fn at_path() -> PathItem<'static> {
    PathItem {
        path: Text::new("m/44'/0'/7'"),
    }
}

fn mac() -> MacItem<'static> {
    MacItem {
        message: Binary::encode(b"Hello World!"),
    }
}

fn mac_verify() -> MacVerifyItem<'static> {
    MacVerifyItem {
        message: Binary::encode(b"Hello World!"),
        mac: Binary::encode(&[0; 32]),
        key_version: KeyVersion::FIRST,
    }
}

fn datakey() -> DatakeyItem<'static> {
    DatakeyItem {
        aad: None,
        plain: true,
    }
}

fn health() -> HealthAnswer {
    HealthAnswer {
        status: Readiness::Ready,
        holder: Probe::Ok,
        unfit_keys: 0,
        audit: Probe::Ok,
        store: Probe::Ok,
        certificates: Probe::Ok,
        clock: ClockWord::Sure,
        memory: Memory::Locked,
        epoch: 7,
    }
}

fn approved() -> ApproveAnswer {
    ApproveAnswer {
        approval: ApprovalId::from_bytes([0x33; 16]),
        not_after: NOT_AFTER.rfc3339(),
    }
}

const fn rotated() -> RotateAnswer {
    RotateAnswer {
        key_version: KeyVersion::from_number(2),
    }
}

fn versions() -> KeyVersionsAnswer {
    KeyVersionsAnswer {
        versions: vec![VersionUses {
            version: KeyVersion::FIRST,
            state: State::Active,
            seals: 1200,
            opens: 800,
            rewrapped: 0,
            refused: 0,
            last_use: Some(NOT_AFTER.rfc3339()),
            last_open: Some(NOT_AFTER.rfc3339()),
            due: None,
        }],
        min_open: KeyVersion::FIRST,
    }
}

fn contexts() -> ContextsAnswer {
    ContextsAnswer {
        contexts: vec![ContextEntry {
            name: "exchange-key"
                .parse()
                .unwrap_or_else(|_| Name::default_tenant()),
            id: ContextId::from_bytes([0x11; 16]),
            purpose: Purpose::Seal,
            format: None,
            active_version: Some(KeyVersion::FIRST),
            versions: vec![VersionEntry {
                version: KeyVersion::FIRST,
                state: State::Active,
            }],
        }],
    }
}

const HEADER: &[u8] = b"\x29\x64\x75\x01\x01\x00\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x00\x00\x00\x01";
const ID: DataKeyId = DataKeyId::from_bytes([0x22; 16]);
const NOT_AFTER: WallTime = WallTime::from_unix_seconds(1_800_000_000);

const SEALED: Done<'static> = Done::Sealed {
    ciphertext: HEADER,
    version: KeyVersion::FIRST,
};
const OPENED: Done<'static> = Done::Opened {
    plaintext: b"Hello World!",
    version: KeyVersion::FIRST,
};
const DATAKEY: Done<'static> = Done::Datakey {
    id: ID,
    plaintext: Some(&[0; 32]),
    ciphertext: HEADER,
    version: KeyVersion::FIRST,
    not_after: NOT_AFTER,
};
const DATAKEY_OPENED: Done<'static> = Done::DatakeyOpened {
    id: ID,
    plaintext: &[0; 32],
    version: KeyVersion::FIRST,
    not_after: NOT_AFTER,
};
const TOKENIZED: Done<'static> = Done::Tokenized {
    token: "8034527126841111",
    version: KeyVersion::FIRST,
};
const DETOKENIZED: Done<'static> = Done::Detokenized {
    value: "4111111111111111",
    version: KeyVersion::FIRST,
};
const MASKED: Done<'static> = Done::Masked {
    masked: "************1111",
    version: KeyVersion::FIRST,
};
const SIGNED: Done<'static> = Done::Signed {
    signature: &[0; 64],
    version: KeyVersion::FIRST,
};
const VERIFIED: Done<'static> = Done::Verified {
    valid: true,
    version: KeyVersion::FIRST,
};
const AGREED: Done<'static> = Done::Agreed {
    secret: &[0; 32],
    version: KeyVersion::FIRST,
};
const PUBLIC_KEY: Done<'static> = Done::PublicKey {
    public_key: &[9; 32],
    jwk: r#"{"crv":"X25519","kty":"OKP","x":"CQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQk"}"#,
    pem: "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VuAyEACQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQk=\n-----END PUBLIC KEY-----\n",
    version: KeyVersion::FIRST,
};
const XPUB: Done<'static> = Done::Xpub {
    xpub: "xpub6D4BDPcP2GT577Vvch3R8wDkScZWzQzMMUm3PWbmWvVJrZwQY4VUNgqFJPMM3No2dFDFGTsxxpG5uJh7n7epu4trkrX7x7DogT5Uv6fcLW5",
    version: KeyVersion::FIRST,
};
const EXPORTED: Done<'static> = Done::Exported {
    private_key: &[0; 32],
    scheme: "bip32-secp256k1",
    seed: "bip39",
    version: KeyVersion::FIRST,
};
const MAC: Done<'static> = Done::Mac {
    mac: &[0; 32],
    version: KeyVersion::FIRST,
};
const RANDOM: Done<'static> = Done::Random(&[0; 16]);
