//! The table. A name never changes its meaning: what is done otherwise gets another name.

use keywright_pkcs11::{Curve, Hash, PairKind, SecretKind};

use super::TARGET;
use super::task::{Code, Padding, Shape, Signature, Task, Whose};
use crate::operation::{Make, Operation};

const KIB: u64 = 1 << 10;
/// What is signed, encrypted with RSA, and given a code.
const SHORT: u64 = 32;

const fn row(name: &'static str, bytes: u64, task: Task) -> Operation {
    Operation {
        name,
        target: TARGET,
        unit: "operations",
        units: 1,
        bytes,
        make: Make::Token(Shape {
            task,
            whose: Whose::Made,
        }),
    }
}

const fn rsa(bits: u32) -> Signature {
    Signature::RsaPkcs1 { bits }
}

const fn pss(bits: u32) -> Signature {
    Signature::RsaPss { bits }
}

/// The rows of the published benchmark, in its order and by its names, as operations of this table.
pub const SEED_ROWS: &[(&str, &str)] = &[
    ("RSA-2048 Sign", "pkcs11.rsa2048-pkcs1.sign"),
    ("RSA-4096 Sign", "pkcs11.rsa4096-pkcs1.sign"),
    ("ECDSA-P-256 Sign", "pkcs11.ecdsa-p256.sign"),
    ("ECDSA-P-384 Sign", "pkcs11.ecdsa-p384.sign"),
    ("RSA-2048 Verify", "pkcs11.rsa2048-pkcs1.verify"),
    ("ECDSA-P256 Verify", "pkcs11.ecdsa-p256.verify"),
    ("RSA-2048 Encrypt", "pkcs11.rsa2048-pkcs1.encrypt"),
    ("AES-256-GCM Encrypt (1KB)", "pkcs11.aes-256-gcm.seal.1k"),
    ("SHA-256 Hash (1KB)", "pkcs11.hash.sha256.1k"),
    ("SHA-384 Hash (1KB)", "pkcs11.hash.sha384.1k"),
    ("SHA-512 Hash (1KB)", "pkcs11.hash.sha512.1k"),
    ("HMAC-SHA256", "pkcs11.hmac-sha256.sign"),
    ("AES-CMAC", "pkcs11.aes-cmac.sign"),
    ("Random (32 bytes)", "pkcs11.random.32"),
];

/// Every operation of a token.
pub const OPERATIONS: &[Operation] = &[
    row("pkcs11.rsa2048-pkcs1.sign", SHORT, Task::Sign(rsa(2048))),
    row("pkcs11.rsa4096-pkcs1.sign", SHORT, Task::Sign(rsa(4096))),
    row(
        "pkcs11.ecdsa-p256.sign",
        SHORT,
        Task::Sign(Signature::Ecdsa(Curve::P256)),
    ),
    row(
        "pkcs11.ecdsa-p384.sign",
        SHORT,
        Task::Sign(Signature::Ecdsa(Curve::P384)),
    ),
    row(
        "pkcs11.rsa2048-pkcs1.verify",
        SHORT,
        Task::Verify(rsa(2048)),
    ),
    row(
        "pkcs11.ecdsa-p256.verify",
        SHORT,
        Task::Verify(Signature::Ecdsa(Curve::P256)),
    ),
    row(
        "pkcs11.rsa2048-pkcs1.encrypt",
        SHORT,
        Task::Encrypt(Padding::Pkcs1, 2048),
    ),
    row("pkcs11.aes-256-gcm.seal.1k", KIB, Task::Seal(32)),
    row("pkcs11.hash.sha256.1k", KIB, Task::Hash(Hash::Sha256)),
    row("pkcs11.hash.sha384.1k", KIB, Task::Hash(Hash::Sha384)),
    row("pkcs11.hash.sha512.1k", KIB, Task::Hash(Hash::Sha512)),
    row(
        "pkcs11.hmac-sha256.sign",
        SHORT,
        Task::Mac(Code::HmacSha256),
    ),
    row("pkcs11.aes-cmac.sign", SHORT, Task::Mac(Code::Cmac)),
    row("pkcs11.random.32", SHORT, Task::Random),
    row("pkcs11.rsa2048-pss.sign", SHORT, Task::Sign(pss(2048))),
    row("pkcs11.rsa3072-pkcs1.sign", SHORT, Task::Sign(rsa(3072))),
    row(
        "pkcs11.rsa4096-pkcs1.verify",
        SHORT,
        Task::Verify(rsa(4096)),
    ),
    row(
        "pkcs11.ecdsa-p384.verify",
        SHORT,
        Task::Verify(Signature::Ecdsa(Curve::P384)),
    ),
    row(
        "pkcs11.ecdsa-p521.sign",
        SHORT,
        Task::Sign(Signature::Ecdsa(Curve::P521)),
    ),
    row(
        "pkcs11.ecdsa-p521.verify",
        SHORT,
        Task::Verify(Signature::Ecdsa(Curve::P521)),
    ),
    row(
        "pkcs11.ed25519.sign",
        SHORT,
        Task::Sign(Signature::Eddsa(Curve::Ed25519)),
    ),
    row(
        "pkcs11.ed25519.verify",
        SHORT,
        Task::Verify(Signature::Eddsa(Curve::Ed25519)),
    ),
    row("pkcs11.ml-dsa-65.sign", SHORT, Task::Sign(Signature::MlDsa)),
    row(
        "pkcs11.ml-dsa-65.verify",
        SHORT,
        Task::Verify(Signature::MlDsa),
    ),
    row(
        "pkcs11.rsa2048-pkcs1.decrypt",
        SHORT,
        Task::Decrypt(Padding::Pkcs1, 2048),
    ),
    row(
        "pkcs11.rsa2048-oaep-sha1.encrypt",
        SHORT,
        Task::Encrypt(Padding::Oaep(Hash::Sha1), 2048),
    ),
    row(
        "pkcs11.rsa2048-oaep-sha1.decrypt",
        SHORT,
        Task::Decrypt(Padding::Oaep(Hash::Sha1), 2048),
    ),
    row(
        "pkcs11.rsa2048-oaep-sha256.encrypt",
        SHORT,
        Task::Encrypt(Padding::Oaep(Hash::Sha256), 2048),
    ),
    row(
        "pkcs11.rsa2048-oaep-sha256.decrypt",
        SHORT,
        Task::Decrypt(Padding::Oaep(Hash::Sha256), 2048),
    ),
    row("pkcs11.aes-256-gcm.seal.32", SHORT, Task::Seal(32)),
    row("pkcs11.aes-256-gcm.seal.10k", 10 * KIB, Task::Seal(32)),
    row("pkcs11.aes-256-gcm.seal.100k", 100 * KIB, Task::Seal(32)),
    row("pkcs11.aes-256-gcm.seal.1m", KIB * KIB, Task::Seal(32)),
    row("pkcs11.aes-256-gcm.open.1k", KIB, Task::Open(32)),
    row("pkcs11.hash.sha256.10k", 10 * KIB, Task::Hash(Hash::Sha256)),
    row(
        "pkcs11.hash.sha256.100k",
        100 * KIB,
        Task::Hash(Hash::Sha256),
    ),
    row("pkcs11.hash.sha256.1m", KIB * KIB, Task::Hash(Hash::Sha256)),
    row(
        "pkcs11.hmac-sha256.verify",
        SHORT,
        Task::MacVerify(Code::HmacSha256),
    ),
    row("pkcs11.aes-cmac.verify", SHORT, Task::MacVerify(Code::Cmac)),
    row("pkcs11.aes-256.wrap", 0, Task::Wrap),
    row("pkcs11.aes-256.unwrap", 0, Task::Unwrap),
    row("pkcs11.agreement.p256", 0, Task::Agree(Curve::P256)),
    row("pkcs11.agreement.x25519", 0, Task::Agree(Curve::X25519)),
    row("pkcs11.ml-kem-768.encapsulate", 0, Task::Encapsulate),
    row("pkcs11.ml-kem-768.decapsulate", 0, Task::Decapsulate),
    row(
        "pkcs11.keygen.aes-256",
        0,
        Task::MakeSecret(SecretKind::Aes { len: 32 }),
    ),
    row(
        "pkcs11.keygen.p256",
        0,
        Task::MakePair(PairKind::Curve(Curve::P256)),
    ),
    row(
        "pkcs11.keygen.rsa2048",
        0,
        Task::MakePair(PairKind::Rsa { bits: 2048 }),
    ),
    row("pkcs11.session.open", 0, Task::OpenSession),
    row("pkcs11.object.find", 0, Task::Find),
    row("pkcs11.null", 0, Task::Null),
    row("pkcs11.login", 0, Task::Login),
];
