//! The operations.

use crate::operation::{Make, Operation};

/// What is asked of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// Reads a secret of the key/value engine, version 2.
    KvGet,
    /// The same; finding the key in the answer is timed as a part of its own.
    KvGetDecode,
    /// Lists the names of `SECRETS` secrets.
    KvList,
    /// Writes a new version of a secret.
    KvSet,
    /// Reads a secret of the key/value engine, version 1.
    Kv1Get,
    /// Asks about the store's health: the cheapest request there is.
    Null,
    /// Makes a data key, which comes in plain and encrypted.
    TransitDatakey,
    /// Decrypts.
    TransitDecrypt,
    /// Encrypts.
    TransitEncrypt,
    /// Encrypts `BATCH` texts in one request.
    TransitEncryptBatch,
    /// An HMAC with SHA-256.
    TransitHmac,
    /// Random bytes.
    TransitRandom,
    /// Encrypts anew, under the key's newest version, what an older one encrypted.
    TransitRewrap,
    /// An Ed25519 signature.
    TransitSign,
    /// Verifies an Ed25519 signature.
    TransitVerify,
}

/// How many secrets are written.
pub(super) const SECRETS: usize = 100;
/// Bytes of the key in a secret.
pub(super) const SECRET_BYTES: usize = 32;
/// How many texts the operations of the transit engine take turns with.
pub(super) const TEXTS: usize = 64;
/// Bytes of a text.
pub(super) const TEXT_BYTES: usize = 256;
/// Texts in a batch.
pub(super) const BATCH: usize = 32;
/// Bytes of a data key, and random bytes in a request.
pub(super) const KEY_BYTES: usize = 32;

/// Every operation. One more is one line more, and an arm in `prepare`.
pub const OPERATIONS: &[Operation] = &[
    row("vault.kv.get", Shape::KvGet, SECRET_BYTES),
    row("vault.kv.get.decode", Shape::KvGetDecode, SECRET_BYTES),
    row("vault.kv.list", Shape::KvList, 0),
    row("vault.kv.set", Shape::KvSet, SECRET_BYTES),
    row("vault.kv1.get", Shape::Kv1Get, SECRET_BYTES),
    row("vault.null", Shape::Null, 0),
    row("vault.transit.datakey", Shape::TransitDatakey, KEY_BYTES),
    row("vault.transit.decrypt", Shape::TransitDecrypt, TEXT_BYTES),
    row("vault.transit.encrypt", Shape::TransitEncrypt, TEXT_BYTES),
    row(
        "vault.transit.encrypt.batch",
        Shape::TransitEncryptBatch,
        BATCH * TEXT_BYTES,
    ),
    row("vault.transit.hmac", Shape::TransitHmac, TEXT_BYTES),
    row("vault.transit.random", Shape::TransitRandom, KEY_BYTES),
    row("vault.transit.rewrap", Shape::TransitRewrap, TEXT_BYTES),
    row("vault.transit.sign", Shape::TransitSign, TEXT_BYTES),
    row("vault.transit.verify", Shape::TransitVerify, TEXT_BYTES),
];

const fn row(name: &'static str, shape: Shape, bytes: usize) -> Operation {
    Operation {
        name,
        target: match shape.engine() {
            Engine::Transit => "transit",
            Engine::KeyValue | Engine::KeyValue1 => "kv",
        },
        unit: match shape {
            Shape::TransitEncryptBatch => "items",
            Shape::Null => "requests",
            _ => "operations",
        },
        units: match shape {
            Shape::TransitEncryptBatch => BATCH as u64,
            _ => 1,
        },
        bytes: bytes as u64,
        make: Make::Store(shape),
    }
}

/// Which part of the store an operation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    KeyValue,
    KeyValue1,
    Transit,
}

impl Shape {
    pub(super) const fn engine(self) -> Engine {
        match self {
            Self::KvGet | Self::KvGetDecode | Self::KvList | Self::KvSet | Self::Null => {
                Engine::KeyValue
            }
            Self::Kv1Get => Engine::KeyValue1,
            _ => Engine::Transit,
        }
    }

    /// Its operation's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        let is_it = |row: &&Operation| matches!(row.make, Make::Store(shape) if shape == self);
        OPERATIONS
            .iter()
            .find(is_it)
            .map_or("vault", |row| row.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_dotted_lower_case_and_each_there_once() {
        let mut names: Vec<_> = OPERATIONS.iter().map(|row| row.name).collect();
        for name in &names {
            let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '.';
            assert!(
                name.starts_with("vault.") && name.chars().all(fine),
                "{name}"
            );
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn an_operation_finds_its_name_again() {
        for row in OPERATIONS {
            let Make::Store(shape) = row.make else {
                panic!("{} is of another kind", row.name);
            };
            assert_eq!(shape.name(), row.name);
        }
    }
}
