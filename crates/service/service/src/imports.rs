//! Keys that are brought in wrapped, each to a key of the service that is there for it alone.
//!
//! The wrapping is that of `CKM_RSA_AES_KEY_WRAP` (PKCS#11 v3.0, 2.1.21), which token vendors and clouds have: a fresh
//! AES-256 key under RSA-OAEP with SHA-256 in both its places and an empty label, and behind it the key under AES key
//! wrap with padding. The private key lies in the memory of this process, is stored nowhere, and goes with its first
//! use, whatever comes of that: who guesses at wrapped keys is answered once.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use keywright_audit::field::Field;
use keywright_clock::WallTime;
use keywright_custody::{
    HolderOperation, Items, KeyMaterial, NO_DEADLINE, Request, Usage, Versions,
};
use keywright_encoding::{Reader, base64, hex};
use keywright_envelope::Binding;
use keywright_policy::Policy;
use keywright_primitives::hash::sha256;
use keywright_primitives::key_wrap;
use keywright_primitives::mac::Aes256Cmac;
use keywright_primitives::random::RandomStream;
use keywright_primitives::rsa::RsaSize;
use keywright_primitives::rsa_encryption::RsaDecryptionKey;
use keywright_secret::{Secret, SecretBytes, ct_eq};
use keywright_store::Transaction;
use keywright_types::{Operation, Purpose};

use crate::life::Author;
use crate::order::{Intent, Prepared};
use crate::{Admin, AdminError};

/// What a key is wrapped to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportKey {
    /// How the import names it.
    pub id: String,
    /// Its `SubjectPublicKeyInfo`.
    pub info: Vec<u8>,
    /// When it is forgotten, if it was not used.
    pub not_after: WallTime,
}

/// A wrapped key.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "the three parts of an import")]
pub struct WrappedKey<'a> {
    /// The import key that it is wrapped to.
    pub import: &'a str,
    /// RSA-OAEP of an AES-256 key, and AES-KWP under that.
    pub wrapped: &'a [u8],
    /// What says that it is the key that was meant: see [`Admin::begin_import`].
    pub check: &'a [u8],
}

/// Import keys that wait.
#[derive(Default)]
pub(crate) struct Imports(Mutex<Vec<OneTime>>);

struct OneTime {
    id: String,
    key: RsaDecryptionKey,
    not_after: WallTime,
}

/// The size of import keys.
const SIZE: RsaSize = RsaSize::Rsa3072;
/// How long one waits.
const LIFETIME: Duration = Duration::from_secs(24 * 3600);
/// How many wait at most: each is a private key in memory that nobody may ever use.
const MOST: usize = 16;
/// Bytes of the check value of a secret key: the leftmost of its CMAC over a block of zeros (ANSI X9.24-1).
const CHECK_LEN: usize = 5;

impl Admin {
    /// Makes a key for one import. It is recorded like an order that changes something, and changes no row.
    ///
    /// The check value of a secret of 32 bytes is the first five of its AES-CMAC over sixteen zeros; that of a key
    /// that signs or agrees is the SHA-256 of its public key's `SubjectPublicKeyInfo`.
    ///
    /// # Errors
    /// [`AdminError::TooManyImports`]; [`AdminError::Audit`] and what other orders end with.
    pub fn begin_import(&self, author: &Author) -> Result<ImportKey, AdminError> {
        // Takes up to seconds, in which no other order waits.
        let key = RsaDecryptionKey::generate(SIZE)?;
        let info = key.encryption_key()?.as_spki_der().to_vec();
        let id: [u8; 16] = RandomStream::new()?.array()?;
        let intent = Intent {
            facts: self.facts_of(author, Operation::ImportBegin)?,
            fields: &[Field::OrderDigest(sha256(&info))],
            trust: None,
        };
        let now = self.shared.clock().wall();
        let lifetime = u64::try_from(LIFETIME.as_millis()).unwrap_or_default();
        let not_after = WallTime::from_unix_millis(now.unix_millis() + lifetime);
        let made = ImportKey {
            id: hex::encode(&id),
            info,
            not_after,
        };
        let one = OneTime {
            id: made.id.clone(),
            key,
            not_after,
        };
        let begun = self.carry_out(intent, |next| {
            self.imports.add(one, now)?;
            Ok(Prepared {
                answer: (),
                transaction: Transaction::new(),
                next,
            })
        });
        if begun.is_err() {
            drop(self.imports.take(&made.id, now));
        }
        begun.map(|_| made)
    }

    /// Unwraps a key that is brought in; its import key is spent.
    pub(crate) fn unwrap_key(&self, given: &WrappedKey<'_>) -> Result<SecretBytes, AdminError> {
        let now = self.shared.clock().wall();
        let key = self.imports.take(given.import, now);
        let key = key.ok_or(AdminError::ImportUnknown)?;
        unwrapped(&key, given.wrapped).ok_or(AdminError::ImportRejected)
    }

    /// Refuses a key that is another than its check value says.
    pub(crate) fn hold_against(
        &self,
        material: &Arc<KeyMaterial>,
        secret: &SecretBytes,
        check: &[u8],
    ) -> Result<(), AdminError> {
        let made = match material.spec().purpose {
            Purpose::Sign | Purpose::Agree => {
                let info = self.public_info(material).ok_or(AdminError::CheckValue)?;
                sha256(&info).to_vec()
            }
            _ => {
                let secret = secret.expose().try_into();
                let mac = Aes256Cmac::new(secret.map_err(|_| AdminError::CheckValue)?)?;
                let mac = mac.mac(&[0; 16])?;
                mac.get(..CHECK_LEN).unwrap_or_default().to_vec()
            }
        };
        match ct_eq(&made, check) {
            true => Ok(()),
            false => Err(AdminError::CheckValue),
        }
    }

    /// The `SubjectPublicKeyInfo` of a version.
    fn public_info(&self, material: &Arc<KeyMaterial>) -> Option<Vec<u8>> {
        let shown = self.public_forms(material)?;
        let mut reader = Reader::new(&shown);
        let (_, _, pem) = (reader.lp().ok()?, reader.lp().ok()?, reader.lp().ok()?);
        let pem = std::str::from_utf8(pem).ok()?;
        let text: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
        base64::decode(&text).ok()
    }

    /// What the holder shows of a public key: lp(key) + lp(JSON Web Key) + lp(PEM).
    pub(crate) fn public_forms(&self, material: &Arc<KeyMaterial>) -> Option<Vec<u8>> {
        let permit = Policy::owner()
            .at(self.store.epoch())
            .permit(material.key(), Operation::PublicKey);
        let request = Request {
            operation: HolderOperation::PublicKey,
            versions: Versions::from_iter([Arc::clone(material)]),
            binding: Binding::None,
            deadline_ns: NO_DEADLINE,
        };
        let (mut items, mut usage) = (Items::default(), Vec::new());
        Usage::default().put(&mut usage);
        items.push_slices(0, &[], &usage).ok()?;
        let mut random = RandomStream::new().ok()?;
        let holder = self.shared.holder();
        let reply = holder.perform(&permit, &request, items, &mut random).ok()?;
        Some(reply.iter().next()?.payload.to_vec())
    }
}

impl Imports {
    fn add(&self, one: OneTime, now: WallTime) -> Result<(), AdminError> {
        let mut keys = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        keys.retain(|key| key.not_after > now);
        if keys.len() >= MOST {
            return Err(AdminError::TooManyImports);
        }
        keys.push(one);
        Ok(())
    }

    /// The key of this id, which is not here any more.
    fn take(&self, id: &str, now: WallTime) -> Option<RsaDecryptionKey> {
        let mut keys = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        keys.retain(|key| key.not_after > now);
        let place = keys.iter().position(|key| key.id == id)?;
        Some(keys.swap_remove(place).key)
    }
}

/// The key that was wrapped. Why it does not open is nobody's business.
fn unwrapped(key: &RsaDecryptionKey, wrapped: &[u8]) -> Option<SecretBytes> {
    let (transport, wrapped) = wrapped.split_at_checked(key.size().bytes())?;
    let transport = key.decrypt_oaep(transport, b"").ok()?;
    let transport: Secret<32> = Secret::copy_from(transport.expose())?;
    key_wrap::unwrap(&transport, wrapped).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(key: &RsaDecryptionKey, transport: &[u8], label: &[u8], secret: &[u8]) -> Vec<u8> {
        let public = key.encryption_key().unwrap();
        let kek = Secret::from_fill(|kek: &mut [u8; 32]| kek.fill(7));
        let front = public.encrypt_oaep(transport, label).unwrap();
        [front, key_wrap::wrap(&kek, secret).unwrap()].concat()
    }

    #[test]
    fn only_what_was_wrapped_as_the_standard_says_opens() {
        let key = RsaDecryptionKey::generate(RsaSize::Rsa2048).unwrap();
        let good = wrapped(&key, &[7; 32], b"", b"secret");
        assert_eq!(unwrapped(&key, &good).unwrap().expose(), b"secret");
        for (transport, label) in [
            (&[7; 16][..], &b""[..]),
            (&[8; 32], b""),
            (&[7; 33], b""),
            (&[7; 32], b"x"),
        ] {
            let bad = wrapped(&key, transport, label, b"secret");
            assert!(unwrapped(&key, &bad).is_none());
        }
        for length in [0, 1, 255, 256, 257, good.len() - 1] {
            assert!(unwrapped(&key, &good[..length]).is_none(), "{length}");
        }
        assert!(unwrapped(&key, &[&good[..], &[0]].concat()).is_none());
        for place in [0, 100, 255, 256, good.len() - 1] {
            let mut changed = good.clone();
            changed[place] ^= 1;
            assert!(unwrapped(&key, &changed).is_none(), "{place}");
        }
        let other = RsaDecryptionKey::generate(RsaSize::Rsa2048).unwrap();
        assert!(unwrapped(&other, &good).is_none());
    }

    #[test]
    fn a_key_is_taken_once_until_its_day_and_not_too_many_wait() {
        let imports = Imports::default();
        let at = WallTime::from_unix_millis;
        let key = RsaDecryptionKey::generate(RsaSize::Rsa2048).unwrap();
        let document = key.to_pkcs8().unwrap();
        let one = |id: &str, until| OneTime {
            id: id.to_owned(),
            key: RsaDecryptionKey::from_pkcs8(&document).unwrap(),
            not_after: at(until),
        };
        imports.add(one("a", 10), at(1)).unwrap();
        imports.add(one("b", 10), at(1)).unwrap();
        assert!(imports.take("c", at(2)).is_none());
        assert!(imports.take("a", at(2)).is_some());
        assert!(imports.take("a", at(2)).is_none());
        assert!(imports.take("b", at(10)).is_none());
        for _ in 0..MOST {
            imports.add(one("x", 20), at(11)).unwrap();
        }
        let refused = imports.add(one("y", 20), at(11));
        assert!(matches!(refused, Err(AdminError::TooManyImports)));
        imports.add(one("y", 30), at(20)).unwrap();
    }
}
