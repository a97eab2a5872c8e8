//! Keys that were brought in from the seed service: they open what that one sealed, and nothing else.

use std::sync::Arc;

use keywright_custody::reader::{Digest, NonceLen, OldCiphertext, OldNonce, candidates};
use keywright_custody::{HolderError, Item, KeyMaterial};
use keywright_primitives::aead::Aes256Gcm;
use keywright_primitives::hazmat::long_nonce::LongNonceGcm;
use keywright_secret::locked::Slot;
use keywright_secret::{Secret, wipe};
use keywright_types::Code;

/// The key of one version, with the one length of nonce that it was brought in for.
pub(crate) enum ReadingKey {
    Twelve(Box<Aes256Gcm>),
    Sixteen(LongNonceGcm),
}

/// The same, as a version remembers it.
pub(crate) struct Loaded {
    pub(crate) _secret: Slot,
    pub(crate) key: Arc<ReadingKey>,
}

impl ReadingKey {
    pub(crate) fn new(material: &KeyMaterial, secret: &Secret<32>) -> Result<Self, HolderError> {
        let unsupported = HolderError::Unsupported(material.spec().custody);
        let reader = material.reader().ok_or(unsupported)?;
        match reader.nonce {
            NonceLen::Twelve => Aes256Gcm::new(secret.expose())
                .map(|key| Self::Twelve(Box::new(key)))
                .map_err(|_| HolderError::Unavailable),
            NonceLen::Sixteen => Ok(Self::Sixteen(LongNonceGcm::new(secret.expose()))),
        }
    }

    /// Opens an item whose associated data are the digests to try. There is one failure, whatever it was.
    pub(crate) fn open(&self, item: &Item<'_>, out: &mut Vec<u8>) -> Result<[u8; 16], Code> {
        let failed = Code::DecryptionFailed;
        let length = match self {
            Self::Twelve(_) => NonceLen::Twelve,
            Self::Sixteen(_) => NonceLen::Sixteen,
        };
        let old = OldCiphertext::parse(item.payload, length).ok_or(failed)?;
        let digests = candidates(item.aad).ok_or(failed)?;
        let start = out.len();
        for digest in digests {
            out.extend_from_slice(old.body);
            let text = out.get_mut(start..).unwrap_or_default();
            if self.opens(&old, digest, text) {
                return Ok(old.nonce.message_id());
            }
            wipe(text);
            out.truncate(start);
        }
        Err(failed)
    }

    fn opens(&self, old: &OldCiphertext<'_>, aad: &Digest, text: &mut [u8]) -> bool {
        match (self, old.nonce) {
            (Self::Twelve(key), OldNonce::Twelve(nonce)) => {
                key.open(nonce, aad, text, old.tag).is_ok()
            }
            (Self::Sixteen(key), OldNonce::Sixteen(nonce)) => {
                key.open(nonce, aad, text, old.tag).is_ok()
            }
            // It was taken apart with the length of this key.
            _ => false,
        }
    }
}
