//! Bodies and answers of routes that use keys: signatures, agreement, public keys, MACs.

use std::collections::BTreeMap;

use keywright_types::KeyVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Binary, Text};

/// The form of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "the words of the JSON")]
pub enum SignatureForm {
    /// ECDSA: r and s as long as the field; of 32 bytes s is the lower one. The usual one of secp256k1, P-256 and P-384.
    Ecdsa,
    /// As `ecdsa`, and one byte more from which the public key can be computed.
    EcdsaRecoverable,
    /// Ed25519.
    Ed25519,
    /// BIP-340.
    Schnorr,
}

/// An item of `sign`: a message or a digest.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct SignItem<'a> {
    /// What is signed; ECDSA and RSA sign its SHA-256, over P-384 its SHA-384, over P-521 its SHA-512.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Binary<'a>>,
    /// In its place a digest of 32 bytes (48 for P-384, 64 for P-521), for ECDSA, BIP-340 and RSA.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Binary<'a>>,
    /// Where the key lies, if the context is a tree of keys.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Text<'a>>,
    /// The form of the signature; absent for the usual one of the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<SignatureForm>,
}

/// An item of `verify`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct VerifyItem<'a> {
    /// What was signed.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Binary<'a>>,
    /// In its place a digest of 32 bytes.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Binary<'a>>,
    /// The signature.
    #[serde(borrow)]
    pub signature: Binary<'a>,
    /// The version that `sign` answered.
    #[schemars(with = "u32")]
    pub key_version: KeyVersion,
    /// Where the key lies, if the context is a tree of keys.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Text<'a>>,
    /// The form of the signature; absent for the usual one of the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<SignatureForm>,
}

/// An item of `agree`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct AgreeItem<'a> {
    /// The public key of the other: 32 bytes of X25519, or a point as SEC 1 writes it.
    #[serde(borrow)]
    pub public_key: Binary<'a>,
    /// Where the key lies, if the context is a tree of keys.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Text<'a>>,
    /// The version to use; absent for the active one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<u32>")]
    pub key_version: Option<KeyVersion>,
}

/// An item of `public-key`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct PublicKeyItem<'a> {
    /// Where the key lies, if the context is a tree of keys.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Text<'a>>,
    /// The version to show; absent for the active one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<u32>")]
    pub key_version: Option<KeyVersion>,
}

/// An item of `xpub` and `key/export`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct PathItem<'a> {
    /// Where the key lies.
    #[serde(borrow)]
    pub path: Text<'a>,
}

/// An item of `mac`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct MacItem<'a> {
    /// What the MAC is made of.
    #[serde(borrow)]
    pub message: Binary<'a>,
}

/// An item of `mac/verify`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct MacVerifyItem<'a> {
    /// What the MAC was made of.
    #[serde(borrow)]
    pub message: Binary<'a>,
    /// The MAC, whole.
    #[serde(borrow)]
    pub mac: Binary<'a>,
    /// The version that `mac` answered.
    #[schemars(with = "u32")]
    pub key_version: KeyVersion,
}

/// The answer of `sign`.
#[derive(Debug, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SignAnswer<'a> {
    /// The signature, in the form that was asked for.
    #[serde(borrow)]
    pub signature: Binary<'a>,
    /// The version that made it. `verify` must be told.
    #[schemars(with = "u32")]
    pub key_version: KeyVersion,
}

/// The answer of `verify` and `mac/verify`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct VerifyAnswer {
    /// Whether it fits. What does not fit is no error.
    pub valid: bool,
    /// The version that was named.
    #[schemars(with = "u32")]
    pub key_version: KeyVersion,
}

/// The answer of `agree`.
#[derive(Debug, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct AgreeAnswer<'a> {
    /// 32 bytes that both have: derive keys of them, with both public keys, before you encrypt.
    #[serde(borrow)]
    pub secret: Binary<'a>,
    /// The version that was used.
    #[schemars(with = "u32")]
    pub key_version: KeyVersion,
}

/// The answer of `public-key`.
#[derive(Debug, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PublicKeyAnswer<'a> {
    /// The key as its standard writes it: a compressed point, 32 bytes, an `RSAPublicKey`, or 1,952 bytes of ML-DSA-65.
    #[serde(borrow)]
    pub public_key: Binary<'a>,
    /// The same as a JSON Web Key (RFC 7517).
    pub jwk: BTreeMap<String, String>,
    /// The same as a `SubjectPublicKeyInfo` in PEM (RFC 7468).
    pub pem: String,
    /// Its version.
    #[schemars(with = "u32")]
    pub key_version: KeyVersion,
}

/// The answer of `xpub`.
#[derive(Debug, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct XpubAnswer {
    /// The extended public key.
    pub xpub: String,
    /// Its version.
    #[schemars(with = "u32")]
    pub key_version: KeyVersion,
}

/// The answer of `key/export`.
#[derive(Debug, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct KeyExportAnswer<'a> {
    /// The private key.
    #[serde(borrow)]
    pub private_key: Binary<'a>,
    /// The scheme of its tree, without which it must not be used again.
    pub scheme: String,
    /// How the seed of its tree came to be.
    pub seed: String,
    /// Its version.
    #[schemars(with = "u32")]
    pub key_version: KeyVersion,
}

/// The answer of `mac`.
#[derive(Debug, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct MacAnswer<'a> {
    /// The MAC.
    #[serde(borrow)]
    pub mac: Binary<'a>,
    /// The version that made it. `mac/verify` must be told.
    #[schemars(with = "u32")]
    pub key_version: KeyVersion,
}
