//! What one message of XChaCha20-Poly1305 costs before the first byte of it: for measurements.

use crate::Error;
use crate::aead::{ChaCha20Poly1305, ExtendedNonce, extended};

/// One HChaCha20, and the key that it makes set up; the nonce is the one that belongs to it.
///
/// # Errors
/// [`Error::Backend`] if the backend refuses.
pub fn message_key(
    key: &[u8; 32],
    nonce: &ExtendedNonce,
) -> Result<(ChaCha20Poly1305, [u8; 12]), Error> {
    extended::subkey(key, nonce)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aead::XChaCha20Poly1305;

    #[test]
    fn the_key_and_nonce_seal_what_the_whole_seals() {
        let (key, nonce) = ([7; 32], [1; 24]);
        let (mut one, mut other) = (*b"message", *b"message");
        let (message_key, rest) = message_key(&key, &nonce).unwrap();
        let tag = message_key.seal(&rest, b"aad", &mut one).unwrap();
        let whole = XChaCha20Poly1305::seal_once(&key, &nonce, b"aad", &mut other);
        assert_eq!((one, tag), (other, whole.unwrap()));
    }
}
