//! RSA signatures over SHA-256: PSS with a salt as long as the hash, and PKCS#1 v1.5 (RFC 8017 8.1, 8.2).

use aws_lc_rs::digest::{Digest, SHA256};
use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    KeyPair as _, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256,
    RSA_PSS_2048_8192_SHA256, RSA_PSS_SHA256, RsaEncoding, RsaKeyPair,
};
use keywright_secret::SecretBytes;

use crate::encoding::one_sequence;
use crate::rsa::{RsaSize, read_public};
use crate::{Error, Rejected, opaque_debug};

/// A key that signs.
pub struct RsaSigningKey {
    pair: RsaKeyPair,
    size: RsaSize,
}

/// A key that verifies.
#[derive(Clone)]
pub struct RsaVerifyingKey {
    pss: ParsedPublicKey,
    pkcs1: ParsedPublicKey,
    size: RsaSize,
    spki: Vec<u8>,
}

opaque_debug! { RsaSigningKey RsaVerifyingKey }

impl RsaSigningKey {
    /// A new key. Takes from tenths of a second to seconds.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn generate(size: RsaSize) -> Result<Self, Error> {
        let pair = RsaKeyPair::generate(size.backend()).map_err(|_| Error::Backend)?;
        Ok(Self { pair, size })
    }

    /// Reads an unencrypted PKCS#8 document (RFC 5958).
    ///
    /// # Errors
    /// [`Error::KeyRejected`] if it is none, or holds no RSA key of an [`RsaSize`].
    pub fn from_pkcs8(der: &SecretBytes) -> Result<Self, Error> {
        let der = one_sequence(der.expose())?;
        let pair = RsaKeyPair::from_pkcs8(der).map_err(|_| Error::KeyRejected)?;
        let (size, _) = read_public(pair.public_key().as_ref())?;
        Ok(Self { pair, size })
    }

    /// The unencrypted PKCS#8 document of the key.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn to_pkcs8(&self) -> Result<SecretBytes, Error> {
        let der: Pkcs8V1Der<'_> = self.pair.as_der().map_err(|_| Error::Backend)?;
        Ok(SecretBytes::from_vec(der.as_ref().to_vec()))
    }

    /// The size of the modulus, and so of a signature.
    #[must_use]
    pub const fn size(&self) -> RsaSize {
        self.size
    }

    /// The public half.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn verifying_key(&self) -> Result<RsaVerifyingKey, Error> {
        RsaVerifyingKey::from_der(self.pair.public_key().as_ref()).map_err(|_| Error::Backend)
    }

    /// Signs `message` with PSS. The salt is random, so no two signatures are equal.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn sign_pss(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        self.sign(&RSA_PSS_SHA256, message)
    }

    /// Signs `message` with PKCS#1 v1.5: the same signature each time.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn sign_pkcs1(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        self.sign(&RSA_PKCS1_SHA256, message)
    }

    /// Signs the SHA-256 of a message with PSS.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn sign_pss_digest(&self, digest: &[u8; 32]) -> Result<Vec<u8>, Error> {
        self.sign_digest(&RSA_PSS_SHA256, digest)
    }

    /// Signs the SHA-256 of a message with PKCS#1 v1.5, which names the hash in what is signed.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn sign_pkcs1_digest(&self, digest: &[u8; 32]) -> Result<Vec<u8>, Error> {
        self.sign_digest(&RSA_PKCS1_SHA256, digest)
    }

    fn sign_digest(
        &self,
        encoding: &'static dyn RsaEncoding,
        digest: &[u8; 32],
    ) -> Result<Vec<u8>, Error> {
        let digest = Digest::import_less_safe(digest, &SHA256).map_err(|_| Error::Backend)?;
        // As in `sign`.
        let mut signature = vec![0; self.pair.public_modulus_len()];
        self.pair
            .sign_digest(encoding, &digest, &mut signature)
            .map_err(|_| Error::Backend)?;
        Ok(signature)
    }

    fn sign(&self, encoding: &'static dyn RsaEncoding, message: &[u8]) -> Result<Vec<u8>, Error> {
        // The backend panics if this is not the modulus' length, which it tells itself.
        let mut signature = vec![0; self.pair.public_modulus_len()];
        self.pair
            .sign(encoding, &SystemRandom::new(), message, &mut signature)
            .map_err(|_| Error::Backend)?;
        Ok(signature)
    }
}

impl RsaVerifyingKey {
    /// Reads a `SubjectPublicKeyInfo` (RFC 5280) or an `RSAPublicKey` (RFC 8017).
    ///
    /// # Errors
    /// [`Error::KeyRejected`] if it is neither, or its key has no [`RsaSize`].
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        let (size, spki) = read_public(der)?;
        let pss = ParsedPublicKey::new(&RSA_PSS_2048_8192_SHA256, &spki);
        let pkcs1 = ParsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, &spki);
        Ok(Self {
            pss: pss.map_err(|_| Error::KeyRejected)?,
            pkcs1: pkcs1.map_err(|_| Error::KeyRejected)?,
            size,
            spki,
        })
    }

    /// The `SubjectPublicKeyInfo` (RFC 5280) of the key.
    #[must_use]
    pub fn as_spki_der(&self) -> &[u8] {
        &self.spki
    }

    /// The size of the modulus, and so of a signature.
    #[must_use]
    pub const fn size(&self) -> RsaSize {
        self.size
    }

    /// Verifies a PSS signature with a salt of 32 bytes.
    ///
    /// # Errors
    /// [`Rejected`] if it does not fit.
    pub fn verify_pss(&self, message: &[u8], signature: &[u8]) -> Result<(), Rejected> {
        let verified = self.pss.verify_sig(message, signature);
        verified.map_err(|_| Rejected)
    }

    /// Verifies a PKCS#1 v1.5 signature.
    ///
    /// # Errors
    /// [`Rejected`] if it does not fit.
    pub fn verify_pkcs1(&self, message: &[u8], signature: &[u8]) -> Result<(), Rejected> {
        let verified = self.pkcs1.verify_sig(message, signature);
        verified.map_err(|_| Rejected)
    }

    /// Verifies a PSS signature over a digest.
    ///
    /// # Errors
    /// [`Rejected`] if it does not fit.
    pub fn verify_pss_digest(&self, digest: &[u8; 32], signature: &[u8]) -> Result<(), Rejected> {
        verify_digest(&self.pss, digest, signature)
    }

    /// Verifies a PKCS#1 v1.5 signature over a digest.
    ///
    /// # Errors
    /// [`Rejected`] if it does not fit.
    pub fn verify_pkcs1_digest(&self, digest: &[u8; 32], signature: &[u8]) -> Result<(), Rejected> {
        verify_digest(&self.pkcs1, digest, signature)
    }
}

fn verify_digest(
    key: &ParsedPublicKey,
    digest: &[u8; 32],
    signature: &[u8],
) -> Result<(), Rejected> {
    let digest = Digest::import_less_safe(digest, &SHA256).map_err(|_| Rejected)?;
    let verified = key.verify_digest_sig(&digest, signature);
    verified.map_err(|_| Rejected)
}
