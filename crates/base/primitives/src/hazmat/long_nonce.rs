//! AES-256-GCM (SP 800-38D) as some wrote it, with a nonce of 16 bytes, from which the first counter block is made by
//! GHASH (7.1, step 2). Opening only: what is sealed here has a nonce of 12 bytes, which goes into that block as it is.
//!
//! The backend has no other nonces than those, so the mode comes from the `aes-gcm` crate. It runs on the processor's
//! instructions where there are any, else in constant time and slowly.

use aes_gcm::aead::consts::U16;
use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::aes::Aes256;
use aes_gcm::{AeadInOut as _, AesGcm, KeyInit as _};

use crate::aead::Tag;
use crate::{Rejected, opaque_debug};

/// A key that opens, and whose schedule is wiped when it goes.
pub struct LongNonceGcm(Box<AesGcm<Aes256, U16>>);

impl LongNonceGcm {
    /// Sets up the key for many messages.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        Self(Box::new(AesGcm::new(key.into())))
    }

    /// Decrypts `in_out` if `tag` fits; leaves it as it was if not: the tag is looked at first.
    ///
    /// # Errors
    /// [`Rejected`] if key, nonce, aad, ciphertext or tag differ from those of the sealing.
    pub fn open(
        &self,
        nonce: &[u8; 16],
        aad: &[u8],
        in_out: &mut [u8],
        tag: &Tag,
    ) -> Result<(), Rejected> {
        let buffer = InOutBuf::from(in_out);
        let opened = self
            .0
            .decrypt_inout_detached(nonce.into(), aad, buffer, tag.into());
        opened.map_err(|_| Rejected)
    }
}

opaque_debug! { LongNonceGcm }
