//! ML-DSA-65 (FIPS 204), the pure variant with an empty context.
//!
//! Signing is hedged: fresh randomness goes into each signature, so no two are equal. Not here: contexts,
//! the pre-hashed variant and signing of an external mu, which the backend does not offer.

use aws_lc_rs::signature::{
    KeyPair as _, ML_DSA_65, ML_DSA_65_SIGNING, ParsedPublicKey, PqdsaKeyPair,
};
use keywright_secret::{Secret, SecretBytes};

use crate::encoding::one_sequence;
use crate::{Error, Rejected, opaque_debug};

/// Bytes in a public key.
pub const PUBLIC_KEY_LEN: usize = 1952;
/// Bytes in a signature.
pub const SIGNATURE_LEN: usize = 3309;

/// A key that signs with ML-DSA-65.
pub struct MlDsa65SigningKey(PqdsaKeyPair);

/// A key that verifies with ML-DSA-65.
#[derive(Clone)]
pub struct MlDsa65VerifyingKey(ParsedPublicKey);

opaque_debug! { MlDsa65SigningKey MlDsa65VerifyingKey }

impl MlDsa65SigningKey {
    /// A new key.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn generate() -> Result<Self, Error> {
        let pair = PqdsaKeyPair::generate(&ML_DSA_65_SIGNING);
        pair.map(Self).map_err(|_| Error::Backend)
    }

    /// The key pair of a 32-byte seed (FIPS 204 algorithm 6).
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn from_seed(seed: &Secret<32>) -> Result<Self, Error> {
        let pair = PqdsaKeyPair::from_seed(&ML_DSA_65_SIGNING, seed.expose());
        pair.map(Self).map_err(|_| Error::Backend)
    }

    /// Reads an unencrypted PKCS#8 document (RFC 9881) with a seed, an expanded key, or both.
    ///
    /// # Errors
    /// [`Error::KeyRejected`] if it is none, holds no key of this algorithm, or two that differ.
    pub fn from_pkcs8(der: &SecretBytes) -> Result<Self, Error> {
        let pair = PqdsaKeyPair::from_pkcs8(&ML_DSA_65_SIGNING, one_sequence(der.expose())?);
        pair.map(Self).map_err(|_| Error::KeyRejected)
    }

    /// The unencrypted PKCS#8 document of the key's seed.
    ///
    /// # Errors
    /// [`Error::Backend`] if the key was read without its seed, or the backend refuses.
    pub fn to_pkcs8(&self) -> Result<SecretBytes, Error> {
        let document = self.0.to_pkcs8v1().map_err(|_| Error::Backend)?;
        Ok(SecretBytes::from_vec(document.as_ref().to_vec()))
    }

    /// Signs `message`.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn sign(&self, message: &[u8]) -> Result<[u8; SIGNATURE_LEN], Error> {
        let mut signature = [0; SIGNATURE_LEN];
        match self.0.sign(message, &mut signature) {
            Ok(SIGNATURE_LEN) => Ok(signature),
            _ => Err(Error::Backend),
        }
    }

    /// The public half.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn verifying_key(&self) -> Result<MlDsa65VerifyingKey, Error> {
        let key = self.0.public_key().as_ref().try_into();
        let key = key.map_err(|_| Error::Backend)?;
        MlDsa65VerifyingKey::from_bytes(key).map_err(|_| Error::Backend)
    }
}

impl MlDsa65VerifyingKey {
    /// Reads a public key as FIPS 204 writes it.
    ///
    /// # Errors
    /// [`Error::KeyRejected`] if the backend refuses it.
    pub fn from_bytes(bytes: &[u8; PUBLIC_KEY_LEN]) -> Result<Self, Error> {
        let key = ParsedPublicKey::new(&ML_DSA_65, bytes);
        key.map(Self).map_err(|_| Error::KeyRejected)
    }

    /// The public key as FIPS 204 writes it.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_ref()
    }

    /// Verifies a signature.
    ///
    /// # Errors
    /// [`Rejected`] if it does not fit.
    pub fn verify(&self, message: &[u8], signature: &[u8; SIGNATURE_LEN]) -> Result<(), Rejected> {
        let verified = self.0.verify_sig(message, signature);
        verified.map_err(|_| Rejected)
    }
}
