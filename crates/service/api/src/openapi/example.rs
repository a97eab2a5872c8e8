//! Examples of the document, made by the code that reads and writes the real thing.

use keywright_clock::WallTime;
use keywright_types::{Code, ContextId, DataKeyId, KeyVersion, Name, State};
use serde::Serialize;
use serde_json::Value;

use crate::Binary;
use crate::answer::{
    ContextEntry, ContextsAnswer, HealthAnswer, Memory, Probe, Readiness, VersionEntry,
};
use crate::request::{Body, DatakeyItem, OpenItem, RandomItem, SealItem};
use crate::route::Endpoint;
use crate::write::{Batch, Done, one};

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
            Endpoint::Rewrap => items(open, SEALED, Code::DecryptionFailed),
            Endpoint::Datakey => items(datakey, DATAKEY, Code::AadTooLarge),
            Endpoint::DatakeyOpen => items(open, DATAKEY_OPENED, Code::CiphertextMalformed),
            Endpoint::Random => items(|| RandomItem { bytes: 16 }, RANDOM, Code::ValueInvalid),
            Endpoint::Health => Self::read(&health()),
            Endpoint::Contexts => Self::read(&contexts()),
            Endpoint::Metrics | Endpoint::Openapi => Self {
                requests: Vec::new(),
                answers: Vec::new(),
            },
        }
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
    let mut batch = Batch::with_capacity(0);
    batch.push(Ok(done));
    batch.push(Err(failed));
    Examples {
        requests: vec![
            ("one", value(&Body::One(item()))),
            ("batch", value(&Body::Many(vec![item(), item()]))),
        ],
        answers: vec![
            ("one", read_back(&one(&done))),
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
        audit: Probe::Ok,
        memory: Memory::Locked,
        epoch: 7,
    }
}

fn contexts() -> ContextsAnswer {
    ContextsAnswer {
        contexts: vec![ContextEntry {
            name: "exchange-key"
                .parse()
                .unwrap_or_else(|_| Name::default_tenant()),
            id: ContextId::from_bytes([0x11; 16]),
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
const RANDOM: Done<'static> = Done::Random(&[0; 16]);
