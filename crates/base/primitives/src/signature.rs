//! Signatures: Ed25519 (RFC 8032) here, and what others ask for.
//!
//! * [`ecdsa`]: over P-256 and P-384.
//! * [`ml_dsa`]: ML-DSA-65, against which no quantum algorithm is known.
//! * [`rsa`]: PSS and PKCS#1 v1.5.

pub mod ecdsa;
pub mod ml_dsa;
pub mod rsa;

use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use keywright_secret::Secret;

use crate::{Error, Rejected};

/// Bytes in an Ed25519 signature.
pub const SIGNATURE_LEN: usize = 64;

/// A key that signs.
pub struct SigningKey(Ed25519KeyPair);

/// A key that verifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyingKey([u8; 32]);

impl SigningKey {
    /// The key pair of a 32-byte seed.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn from_seed(seed: &Secret<32>) -> Result<Self, Error> {
        Ed25519KeyPair::from_seed_unchecked(seed.expose())
            .map(Self)
            .map_err(|_| Error::Backend)
    }

    /// Signs `message`.
    #[must_use]
    pub fn sign(&self, message: &[u8]) -> [u8; SIGNATURE_LEN] {
        let mut out = [0; SIGNATURE_LEN];
        out.copy_from_slice(self.0.sign(message).as_ref());
        out
    }

    /// The public half.
    #[must_use]
    pub fn verifying_key(&self) -> VerifyingKey {
        let mut out = [0; 32];
        out.copy_from_slice(self.0.public_key().as_ref());
        VerifyingKey(out)
    }
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SigningKey({:?})", self.verifying_key())
    }
}

impl VerifyingKey {
    /// Takes a public key as it is; one that is no curve point verifies nothing.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Verifies a signature.
    ///
    /// # Errors
    /// [`Rejected`] if it does not fit.
    pub fn verify(&self, message: &[u8], signature: &[u8; SIGNATURE_LEN]) -> Result<(), Rejected> {
        UnparsedPublicKey::new(&ED25519, self.0)
            .verify(message, signature)
            .map_err(|_| Rejected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_message_key_or_signature_is_rejected() {
        let key = SigningKey::from_seed(&Secret::copy_from(&[1; 32]).unwrap()).unwrap();
        let other = SigningKey::from_seed(&Secret::copy_from(&[2; 32]).unwrap()).unwrap();
        let mut signature = key.sign(b"head");
        assert_eq!(key.verifying_key().verify(b"head", &signature), Ok(()));
        assert_eq!(
            key.verifying_key().verify(b"heap", &signature),
            Err(Rejected)
        );
        assert_eq!(
            other.verifying_key().verify(b"head", &signature),
            Err(Rejected)
        );
        assert_eq!(
            VerifyingKey::from_bytes([0xFF; 32]).verify(b"head", &signature),
            Err(Rejected)
        );
        signature[0] ^= 1;
        assert_eq!(
            key.verifying_key().verify(b"head", &signature),
            Err(Rejected)
        );
    }
}
