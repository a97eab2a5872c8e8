//! RSA encryption with OAEP, SHA-256 in both its places (RFC 8017 7.1).
//!
//! It encrypts keys, not messages: at most the modulus' length less [`OAEP_OVERHEAD`].

use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der};
use aws_lc_rs::rsa::{
    OAEP_SHA256_MGF1SHA256, OaepPrivateDecryptingKey, OaepPublicEncryptingKey,
    PrivateDecryptingKey, PublicEncryptingKey,
};
use keywright_secret::SecretBytes;

use crate::encoding::one_sequence;
use crate::rsa::{RsaSize, read_public};
use crate::{Error, Rejected, opaque_debug};

/// Bytes that the padding takes: two hashes and two bytes.
pub const OAEP_OVERHEAD: usize = 2 * 32 + 2;

/// A private key that decrypts.
pub struct RsaDecryptionKey {
    key: PrivateDecryptingKey,
    size: RsaSize,
}

/// A public key that encrypts.
pub struct RsaEncryptionKey {
    key: PublicEncryptingKey,
    size: RsaSize,
    spki: Vec<u8>,
}

opaque_debug! { RsaDecryptionKey RsaEncryptionKey }

impl RsaDecryptionKey {
    /// A new key. Takes from tenths of a second to seconds.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn generate(size: RsaSize) -> Result<Self, Error> {
        let key = PrivateDecryptingKey::generate(size.backend()).map_err(|_| Error::Backend)?;
        Ok(Self { key, size })
    }

    /// Reads an unencrypted PKCS#8 document (RFC 5958).
    ///
    /// # Errors
    /// [`Error::KeyRejected`] if it is none, or holds no RSA key of an [`RsaSize`].
    pub fn from_pkcs8(der: &SecretBytes) -> Result<Self, Error> {
        let der = one_sequence(der.expose())?;
        let key = PrivateDecryptingKey::from_pkcs8(der).map_err(|_| Error::KeyRejected)?;
        let size = RsaSize::of_bits(key.key_size_bits())?;
        Ok(Self { key, size })
    }

    /// The unencrypted PKCS#8 document of the key.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn to_pkcs8(&self) -> Result<SecretBytes, Error> {
        let der: Pkcs8V1Der<'_> = self.key.as_der().map_err(|_| Error::Backend)?;
        Ok(SecretBytes::from_vec(der.as_ref().to_vec()))
    }

    /// The public half.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn encryption_key(&self) -> Result<RsaEncryptionKey, Error> {
        let der = self.key.public_key().as_der().map_err(|_| Error::Backend)?;
        RsaEncryptionKey::from_der(der.as_ref())
    }

    /// The size of the modulus.
    #[must_use]
    pub const fn size(&self) -> RsaSize {
        self.size
    }

    /// Decrypts what was encrypted with OAEP under the same `label`.
    ///
    /// # Errors
    /// [`Rejected`] if key, label or ciphertext are not those of the encryption.
    pub fn decrypt_oaep(&self, ciphertext: &[u8], label: &[u8]) -> Result<SecretBytes, Rejected> {
        let key = OaepPrivateDecryptingKey::new(self.backend()).map_err(|_| Rejected)?;
        let mut buffer = SecretBytes::zeroed(self.size.bytes());
        let (oaep, out) = (&OAEP_SHA256_MGF1SHA256, buffer.expose_mut());
        let text = key.decrypt(oaep, ciphertext, out, Some(label));
        Ok(SecretBytes::from_vec(text.map_err(|_| Rejected)?.to_vec()))
    }

    /// Another reference to the backend's key, not a copy of it.
    pub(crate) fn backend(&self) -> PrivateDecryptingKey {
        self.key.clone()
    }
}

impl RsaEncryptionKey {
    /// Reads a `SubjectPublicKeyInfo` (RFC 5280) or an `RSAPublicKey` (RFC 8017).
    ///
    /// # Errors
    /// [`Error::KeyRejected`] if it is neither, or its key has no [`RsaSize`].
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        let (size, spki) = read_public(der)?;
        let key = PublicEncryptingKey::from_der(&spki).map_err(|_| Error::KeyRejected)?;
        Ok(Self { key, size, spki })
    }

    /// The `SubjectPublicKeyInfo` (RFC 5280) of the key.
    #[must_use]
    pub fn as_spki_der(&self) -> &[u8] {
        &self.spki
    }

    /// The size of the modulus.
    #[must_use]
    pub const fn size(&self) -> RsaSize {
        self.size
    }

    /// Encrypts `text` with OAEP, bound to `label`, which is mostly empty and is not part of the result.
    ///
    /// # Errors
    /// [`Error::TooLong`] if `text` is longer than the modulus less [`OAEP_OVERHEAD`], [`Error::Backend`] if
    /// the backend refuses.
    pub fn encrypt_oaep(&self, text: &[u8], label: &[u8]) -> Result<Vec<u8>, Error> {
        if text.len() > self.size.bytes() - OAEP_OVERHEAD {
            return Err(Error::TooLong);
        }
        let key = OaepPublicEncryptingKey::new(self.backend()).map_err(|_| Error::Backend)?;
        let mut out = vec![0; self.size.bytes()];
        key.encrypt(&OAEP_SHA256_MGF1SHA256, text, &mut out, Some(label))
            .map_err(|_| Error::Backend)?;
        Ok(out)
    }

    /// Another reference to the backend's key.
    pub(crate) fn backend(&self) -> PublicEncryptingKey {
        self.key.clone()
    }
}
