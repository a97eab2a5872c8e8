//! Files with keys: 32 bytes, or 64 hexadecimal digits.

use std::path::{Path, PathBuf};

use keywright_encoding::hex;
use keywright_primitives::hash::sha256;
use keywright_primitives::kdf::blake3_derive;
use keywright_primitives::random::RandomStream;
use keywright_primitives::signature;
use keywright_secret::{Secret, SecretBytes};
use keywright_token::{Binder, IssuingKey, KeyId, VerifyingKey};

use super::refused::refused;
use super::text::{file, write_new};
use crate::exit::{Exit, Failure};

/// How tokens are authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum SuiteName {
    /// A MAC: keyed BLAKE3.
    Blake3,
    /// A MAC: HMAC-SHA-256.
    #[value(name = "hmac-sha-256")]
    HmacSha256,
    /// A signature: who verifies cannot issue.
    Ed25519,
}

/// Which key.
#[derive(Debug, clap::Args)]
pub(super) struct Named {
    /// How tokens are authenticated.
    #[arg(long, value_enum, default_value_t = SuiteName::Blake3)]
    suite: SuiteName,
    /// The key's id, 8 hexadecimal digits [default: made of the key].
    #[arg(long, value_name = "HEX")]
    key_id: Option<String>,
}

impl Named {
    pub(super) fn is_signature(&self) -> bool {
        self.suite == SuiteName::Ed25519
    }

    /// The key that issues with this secret.
    pub(super) fn issuing(&self, secret: &Secret<32>) -> Result<IssuingKey, Failure> {
        let given = self.given_id()?;
        match self.suite {
            SuiteName::Blake3 => Ok(IssuingKey::blake3(
                given.unwrap_or_else(|| of_secret(secret)),
                secret,
            )),
            SuiteName::HmacSha256 => {
                let id = given.unwrap_or_else(|| of_secret(secret));
                Ok(IssuingKey::hmac_sha256(id, secret))
            }
            SuiteName::Ed25519 => {
                let id = match given {
                    Some(id) => id,
                    None => of_public(&pair(secret)?.verifying_key()),
                };
                IssuingKey::ed25519(id, secret).map_err(refused)
            }
        }
    }

    /// The key that verifies what is signed with the other half of this one.
    pub(super) fn public(&self, key: signature::VerifyingKey) -> Result<VerifyingKey, Failure> {
        let id = self.given_id()?.unwrap_or_else(|| of_public(&key));
        Ok(VerifyingKey::ed25519(id, key))
    }

    fn given_id(&self) -> Result<Option<KeyId>, Failure> {
        let Some(digits) = &self.key_id else {
            return Ok(None);
        };
        let id = hex::decode_array(&digits.to_ascii_lowercase()).map_err(|_| {
            Failure::new(
                Exit::Usage,
                "the key id is not 8 hexadecimal digits",
                "give --key-id such as 00c0ffee, or leave it out",
            )
        })?;
        Ok(Some(KeyId::new(id)))
    }
}

/// The id of a key for MACs that has no other: it says nothing about the key.
fn of_secret(secret: &Secret<32>) -> KeyId {
    let mut id = [0; 4];
    blake3_derive("keywright/token/key-id/v1", &[secret.expose()], &mut id);
    KeyId::new(id)
}

/// The id of a public key that has no other.
fn of_public(key: &signature::VerifyingKey) -> KeyId {
    let [a, b, c, d, ..] = sha256(key.as_bytes());
    KeyId::new([a, b, c, d])
}

pub(super) fn pair(seed: &Secret<32>) -> Result<signature::SigningKey, Failure> {
    signature::SigningKey::from_seed(seed).map_err(|error| refused(error.into()))
}

/// A secret of 32 bytes from a file.
pub(super) fn secret(path: &Path) -> Result<Secret<32>, Failure> {
    let bytes = file(path, LONGEST)?;
    let decoded = digits(bytes.expose());
    let exact = decoded.as_ref().unwrap_or(&bytes);
    Secret::copy_from(exact.expose()).ok_or_else(|| {
        Failure::new(
            Exit::Usage,
            format!("{} holds no key of 32 bytes", path.display()),
            "give a file of 32 bytes or 64 hexadecimal digits; `token build --new-key` makes one",
        )
    })
}

/// A public key from a file.
pub(super) fn public(path: &Path) -> Result<signature::VerifyingKey, Failure> {
    Ok(signature::VerifyingKey::from_bytes(*secret(path)?.expose()))
}

/// What both ends of a session have exported, from a file.
pub(super) fn binder(path: Option<&PathBuf>) -> Result<Option<Binder>, Failure> {
    let bytes = path.map(|path| secret(path)).transpose()?;
    Ok(bytes.map(|bytes| Binder::from_bytes(bytes.expose())))
}

/// Makes a secret and the file with it.
pub(super) fn create(path: &Path) -> Result<Secret<32>, Failure> {
    let made = RandomStream::new().and_then(|mut random| random.secret());
    let made: Secret<32> = made.map_err(|error| refused(error.into()))?;
    let digits = SecretBytes::from_vec(hex::encode(made.expose()).into_bytes());
    write_new(path, &[digits.expose(), b"\n"], 0o600)?;
    Ok(made)
}

/// 64 digits with ends of lines.
const LONGEST: usize = 66;

fn digits(file: &[u8]) -> Option<SecretBytes> {
    let text = std::str::from_utf8(file).ok()?.trim_ascii();
    if text.len() != 64 {
        return None;
    }
    let lower = SecretBytes::from_vec(text.to_ascii_lowercase().into_bytes());
    let decoded = hex::decode(std::str::from_utf8(lower.expose()).ok()?).ok()?;
    Some(SecretBytes::from_vec(decoded))
}
