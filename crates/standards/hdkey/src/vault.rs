//! What the cloud agent of Identus keeps in a key/value store of version 2: seeds of wallets and other
//! secrets, by path below the mount.
//!
//! | object | path | value |
//! |---|---|---|
//! | seed | `WALLET/seed` | 128 hexadecimal digits |
//! | key of a peer DID | `WALLET/dids/peer/DID/keys/agreement` or `authentication` | a private JWK |
//! | random key of a PRISM DID | `WALLET/dids/prism/DID/keys/ID/HASH` | a private JWK |
//! | link secret | `WALLET/generic-secrets/link-secret/ID` | JSON |
//! | key of a credential definition | `WALLET/generic-secrets/credential-definitions/UUID` | JSON |
//!
//! `WALLET` is a UUID in lower case. Each value is the field `value` of its secret. Where the agent does not
//! use speaking paths, what stands behind `dids/peer/`, `dids/prism/` or `generic-secrets/` is the SHA-256 of
//! it, and the original is `semanticPath` in the secret's custom metadata.
//!
//! Everything is checked before it is taken: the hash of an original, the length and digits of a seed, the
//! halves of a key. [`Secret::read`] takes one secret as the store's own interface describes it,
//! [`Export::read`] a file of many.
//!
//! Not here: how a store is asked, where what is read is kept. Usage and index of derived keys do not stand
//! in the store at all.

use std::collections::BTreeMap;

use keywright_encoding::{base64, hex};
use keywright_primitives::hash::sha256;
use keywright_secret::{Secret as Bytes, SecretBytes, wipe};
use serde_json::Value;

use crate::Seed;
use crate::jwk::require_same;
use crate::scheme::Curve;

/// Bytes in the largest secret.
const LARGEST: usize = 256 << 10;

/// The id of a wallet: a UUID in lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WalletId(String);

/// What lies at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// The key of a credential definition.
    CredentialDefinition,
    /// A secret of the agent whose kind its path does not say.
    Generic,
    /// A link secret.
    LinkSecret,
    /// A key of a peer DID.
    PeerKey,
    /// A random key of a PRISM DID.
    PrismKey,
    /// The seed of the wallet.
    Seed,
}

/// A secret of a wallet, checked.
#[derive(Debug)]
pub struct Secret {
    wallet: WalletId,
    kind: Kind,
    path: String,
    semantic_path: Option<String>,
    value: SecretBytes,
}

/// All secrets of a file, by their wallets and paths.
#[derive(Debug)]
#[non_exhaustive]
pub struct Export {
    /// The secrets of each wallet, in the order of their paths.
    pub wallets: BTreeMap<WalletId, Vec<Secret>>,
}

/// Why a secret is not taken. No variant holds a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VaultError {
    /// The data's: the path is none of the agent's.
    #[error("the path is none of an Identus wallet's")]
    Path,
    /// The data's: no JSON of the form that the store's interface has.
    #[error("the secret is not of the form data and metadata")]
    Form,
    /// The data's: the secret has other fields than `value`.
    #[error("the secret has no field value, or others beside it")]
    Fields,
    /// The data's: more than is taken.
    #[error("the secret has more than 256 KiB")]
    TooLarge,
    /// The data's: the original of a hashed path is that of another.
    #[error("the hash of semanticPath is not the one in the path")]
    SemanticPath,
    /// The data's: no seed.
    #[error("the seed is not 128 hexadecimal digits in lower case")]
    Seed,
    /// The data's: no private key as JSON.
    #[error("the key is no private JWK of a known curve")]
    Jwk,
    /// The data's: the public half of another key.
    #[error("the public half of the key is not that of its private half")]
    Halves,
    /// The data's: what has to be JSON is none.
    #[error("the value is not JSON")]
    Json,
    /// The data's: a file that is no object of paths.
    #[error("the file is no JSON object of paths and secrets")]
    File,
    /// The data's: one path twice.
    #[error("the file has a path twice")]
    Twice,
}

impl WalletId {
    /// Reads a UUID.
    ///
    /// # Errors
    /// [`VaultError::Path`] for any other text.
    pub fn parse(text: &str) -> Result<Self, VaultError> {
        let is_digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        let fits = text.len() == 36
            && text.char_indices().all(|(place, c)| match place {
                8 | 13 | 18 | 23 => c == '-',
                _ => is_digit(c),
            });
        match fits {
            true => Ok(Self(text.to_owned())),
            false => Err(VaultError::Path),
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for WalletId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Secret {
    /// Reads a secret: its path below the mount, and the `data` of the store's answer about it.
    ///
    /// # Errors
    /// [`VaultError`] with the reason.
    pub fn read(path: &str, json: &[u8]) -> Result<Self, VaultError> {
        if json.len() > LARGEST {
            return Err(VaultError::TooLarge);
        }
        let answer: Value = serde_json::from_slice(json).map_err(|_| VaultError::Form)?;
        let answer = Wiped(answer);
        Self::of(path, &answer.0)
    }

    fn of(path: &str, answer: &Value) -> Result<Self, VaultError> {
        let (wallet, rest) = path.split_once('/').ok_or(VaultError::Path)?;
        let wallet = WalletId::parse(wallet)?;
        let fields = answer["data"].as_object().ok_or(VaultError::Form)?;
        let value = match (fields.len(), fields.get("value")) {
            (1, Some(Value::String(value))) => value,
            _ => return Err(VaultError::Fields),
        };
        if value.len() > LARGEST {
            return Err(VaultError::TooLarge);
        }
        let semantic_path = match &answer["metadata"]["custom_metadata"]["semanticPath"] {
            Value::Null => None,
            Value::String(original) => Some(original.clone()),
            _ => return Err(VaultError::Form),
        };
        let kind = kind(rest, semantic_path.as_deref())?;
        check(kind, value)?;
        Ok(Self {
            wallet,
            kind,
            path: path.to_owned(),
            semantic_path,
            value: SecretBytes::from_vec(value.as_bytes().to_vec()),
        })
    }

    /// The seed of a wallet, as its store has it.
    ///
    /// # Errors
    /// [`VaultError::Seed`] unless it has 64 bytes.
    pub fn of_seed(wallet: &WalletId, seed: &Seed) -> Result<Self, VaultError> {
        if seed.expose().len() != 64 {
            return Err(VaultError::Seed);
        }
        Ok(Self {
            wallet: wallet.clone(),
            kind: Kind::Seed,
            path: format!("{wallet}/seed"),
            semantic_path: None,
            value: SecretBytes::from_vec(hex::encode(seed.expose()).into_bytes()),
        })
    }

    /// Whose it is.
    #[must_use]
    pub const fn wallet(&self) -> &WalletId {
        &self.wallet
    }

    /// What it is.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// Where it lies below the mount.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The original of a hashed path.
    #[must_use]
    pub fn semantic_path(&self) -> Option<&str> {
        self.semantic_path.as_deref()
    }

    /// The value, as the store has it.
    #[must_use]
    pub const fn value(&self) -> &SecretBytes {
        &self.value
    }

    /// The seed, if it is one.
    #[must_use]
    pub fn seed(&self) -> Option<Seed> {
        let digits = std::str::from_utf8(self.value.expose()).ok()?;
        match self.kind {
            Kind::Seed => seed(digits).ok(),
            _ => None,
        }
    }
}

impl Export {
    /// Reads a file: an object that has for each path, with or without the mount and a slash before it, what
    /// [`Secret::read`] takes.
    ///
    /// # Errors
    /// The path and the reason; no path where the file itself is none.
    pub fn read(json: &[u8], mount: &str) -> Result<Self, (Option<String>, VaultError)> {
        let file: Value = serde_json::from_slice(json).map_err(|_| (None, VaultError::File))?;
        let file = Wiped(file);
        let entries = file.0.as_object().ok_or((None, VaultError::File))?;
        let mut wallets: BTreeMap<WalletId, Vec<Secret>> = BTreeMap::new();
        for (path, answer) in entries {
            let failed = |error| (Some(path.clone()), error);
            let below = path.strip_prefix(mount);
            let below = below
                .and_then(|path| path.strip_prefix('/'))
                .unwrap_or(path);
            let secret = Secret::of(below, answer).map_err(failed)?;
            let others = wallets.entry(secret.wallet.clone()).or_default();
            if others.iter().any(|other| other.path == secret.path) {
                return Err(failed(VaultError::Twice));
            }
            others.push(secret);
        }
        for secrets in wallets.values_mut() {
            secrets.sort_by(|one, other| one.path.cmp(&other.path));
        }
        Ok(Self { wallets })
    }

    /// The same file again, with paths below the mount; an agent's store takes it back path by path.
    #[must_use]
    pub fn write<'a>(secrets: impl Iterator<Item = &'a Secret>) -> SecretBytes {
        let mut file = serde_json::Map::new();
        for secret in secrets {
            let value = String::from_utf8_lossy(secret.value.expose()).into_owned();
            let custom = secret
                .semantic_path
                .as_ref()
                .map(|path| serde_json::json!({ "semanticPath": path }));
            let answer = serde_json::json!({
                "data": { "value": value },
                "metadata": { "custom_metadata": custom },
            });
            file.insert(secret.path.clone(), answer);
        }
        let file = Wiped(Value::Object(file));
        SecretBytes::from_vec(file.0.to_string().into_bytes())
    }
}

/// Texts in it are wiped on drop.
struct Wiped(Value);

impl Drop for Wiped {
    fn drop(&mut self) {
        wipe_texts(&mut self.0);
    }
}

fn wipe_texts(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(wipe_texts),
        Value::Object(fields) => fields.values_mut().for_each(wipe_texts),
        Value::String(text) => {
            let mut bytes = std::mem::take(text).into_bytes();
            wipe(&mut bytes);
        }
        Value::Bool(_) | Value::Null | Value::Number(_) => {}
    }
}

/// What lies at a path below its wallet.
fn kind(rest: &str, semantic_path: Option<&str>) -> Result<Kind, VaultError> {
    if rest == "seed" {
        return match semantic_path {
            None => Ok(Kind::Seed),
            Some(_) => Err(VaultError::SemanticPath),
        };
    }
    let families = [
        ("dids/peer/", Kind::PeerKey),
        ("dids/prism/", Kind::PrismKey),
        ("generic-secrets/", Kind::Generic),
    ];
    for (family, hashed) in families {
        let Some(leaf) = rest.strip_prefix(family) else {
            continue;
        };
        return match (is_hash(leaf), semantic_path) {
            (true, Some(original)) if leaf == hex::encode(&sha256(original.as_bytes())) => {
                speaking(hashed, original)
            }
            (true, None) => Ok(hashed),
            (false, None) => speaking(hashed, leaf),
            (_, Some(_)) => Err(VaultError::SemanticPath),
        };
    }
    Err(VaultError::Path)
}

/// What a path says that is not hashed.
fn speaking(family: Kind, path: &str) -> Result<Kind, VaultError> {
    let parts: Vec<&str> = path.split('/').collect();
    if parts.iter().any(|part| part.is_empty()) {
        return Err(VaultError::Path);
    }
    match (family, parts.as_slice()) {
        (Kind::PeerKey, [_, "keys", "agreement" | "authentication"]) => Ok(Kind::PeerKey),
        (Kind::PrismKey, [_, "keys", _, hash]) if hex::decode(hash).is_ok() => Ok(Kind::PrismKey),
        (Kind::Generic, ["link-secret", _]) => Ok(Kind::LinkSecret),
        (Kind::Generic, ["credential-definitions", _]) => Ok(Kind::CredentialDefinition),
        _ => Err(VaultError::Path),
    }
}

fn is_hash(text: &str) -> bool {
    text.len() == 64 && hex::decode(text).is_ok()
}

fn check(kind: Kind, value: &str) -> Result<(), VaultError> {
    match kind {
        Kind::Seed => seed(value).map(drop),
        Kind::PeerKey | Kind::PrismKey => key(value),
        Kind::CredentialDefinition | Kind::Generic | Kind::LinkSecret => {
            let parsed: Value = serde_json::from_str(value).map_err(|_| VaultError::Json)?;
            drop(Wiped(parsed));
            Ok(())
        }
    }
}

fn seed(digits: &str) -> Result<Seed, VaultError> {
    let mut bytes: [u8; 64] = hex::decode_array(digits).map_err(|_| VaultError::Seed)?;
    let seed = Seed::raw(&bytes).map_err(|_| VaultError::Seed);
    wipe(&mut bytes);
    seed
}

/// A private key whose public half is its own.
fn key(value: &str) -> Result<(), VaultError> {
    let jwk = Wiped(serde_json::from_str(value).map_err(|_| VaultError::Jwk)?);
    let field = |name: &str| jwk.0[name].as_str().and_then(base64url);
    let curve = jwk.0["crv"].as_str().and_then(Curve::of_jwk_name);
    let (Some(curve), Some(d), Some(x)) = (curve, field("d"), field("x")) else {
        return Err(VaultError::Jwk);
    };
    let public = match curve {
        Curve::Curve25519 | Curve::Ed25519 => x.expose().to_vec(),
        Curve::P256 | Curve::Secp256k1 => {
            let y = field("y").ok_or(VaultError::Jwk)?;
            [&[4], x.expose(), y.expose()].concat()
        }
    };
    let private = Bytes::copy_from(d.expose()).ok_or(VaultError::Jwk)?;
    require_same(curve, &private, &public).map_err(|error| match error {
        crate::Error::HalvesDiffer => VaultError::Halves,
        _ => VaultError::Jwk,
    })
}

/// Base64 for addresses, without padding; in time that tells nothing of a private key.
fn base64url(text: &str) -> Option<SecretBytes> {
    base64::decode_url_secret(text)
        .ok()
        .map(SecretBytes::from_vec)
}
