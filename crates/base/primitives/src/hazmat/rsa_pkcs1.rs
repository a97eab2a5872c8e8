//! RSA encryption with PKCS#1 v1.5 padding (RFC 8017 7.2).
//!
//! Whoever learns whether [`decrypt`] succeeded can decrypt any ciphertext of the key with some ten
//! thousand questions (Bleichenbacher 1998), so the answer must not leave the process, nor the time it
//! took. [`decrypt_or`] gives a substitute instead of an error, for the one use that is left: a key whose
//! length is known. Use [`crate::rsa_encryption`] for everything else.

use aws_lc_rs::rsa::{Pkcs1PrivateDecryptingKey, Pkcs1PublicEncryptingKey};
use keywright_secret::{Secret, SecretBytes};

use crate::rsa_encryption::{RsaDecryptionKey, RsaEncryptionKey};
use crate::{Error, Rejected};

/// Bytes that the padding takes at least.
pub const OVERHEAD: usize = 11;

/// Pads and encrypts `text` of at most the modulus' length less [`OVERHEAD`].
///
/// # Errors
/// [`Error::TooLong`] if `text` is longer, [`Error::Backend`] if the backend refuses.
pub fn encrypt(key: &RsaEncryptionKey, text: &[u8]) -> Result<Vec<u8>, Error> {
    let length = key.size().bytes();
    if text.len() > length - OVERHEAD {
        return Err(Error::TooLong);
    }
    let backend = Pkcs1PublicEncryptingKey::new(key.backend()).map_err(|_| Error::Backend)?;
    let mut out = vec![0; length];
    backend
        .encrypt(text, &mut out)
        .map_err(|_| Error::Backend)?;
    Ok(out)
}

/// Decrypts `ciphertext` and removes the padding.
///
/// # Errors
/// [`Rejected`] if the padding is not right; see the module about whom this may be told.
pub fn decrypt(key: &RsaDecryptionKey, ciphertext: &[u8]) -> Result<SecretBytes, Rejected> {
    let backend = Pkcs1PrivateDecryptingKey::new(key.backend()).map_err(|_| Rejected)?;
    let mut buffer = SecretBytes::zeroed(key.size().bytes());
    let text = backend.decrypt(ciphertext, buffer.expose_mut());
    Ok(SecretBytes::from_vec(text.map_err(|_| Rejected)?.to_vec()))
}

/// The decrypted key of `N` bytes or, if the padding or the length is not right, `substitute`.
///
/// `substitute` must be random and made before, each time: what the wrong key then opens fails as it would
/// for any other wrong key. The time this takes still differs a little between the two ways.
#[must_use]
pub fn decrypt_or<const N: usize>(
    key: &RsaDecryptionKey,
    ciphertext: &[u8],
    substitute: Secret<N>,
) -> Secret<N> {
    decrypt(key, ciphertext)
        .ok()
        .and_then(|text| Secret::copy_from(text.expose()))
        .unwrap_or(substitute)
}
