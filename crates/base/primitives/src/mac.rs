//! HMAC-SHA-256 (RFC 2104).

use aws_lc_rs::hmac::{Context, HMAC_SHA256, Key, sign};
use keywright_secret::ct_eq;

use crate::Rejected;

/// A MAC value.
pub type Mac = [u8; 32];

/// A key for HMAC-SHA-256.
pub struct MacKey(Key);

impl MacKey {
    /// Prepares the inner and outer hash states.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        Self(Key::new(HMAC_SHA256, key))
    }

    /// The MAC of `bytes`.
    #[must_use]
    pub fn mac(&self, bytes: &[u8]) -> Mac {
        let tag = sign(&self.0, bytes);
        let mut out = [0; 32];
        out.copy_from_slice(tag.as_ref());
        out
    }

    /// The MAC of pieces as if they were joined; the caller makes the joining injective.
    #[must_use]
    pub fn mac_pieces(&self, pieces: &[&[u8]]) -> Mac {
        let mut context = Context::with_key(&self.0);
        pieces.iter().for_each(|piece| context.update(piece));
        let mut out = [0; 32];
        out.copy_from_slice(context.sign().as_ref());
        out
    }

    /// Compares in constant time.
    ///
    /// # Errors
    /// [`Rejected`] if `mac` is not the MAC of `bytes`.
    pub fn verify(&self, bytes: &[u8], mac: &Mac) -> Result<(), Rejected> {
        if ct_eq(&self.mac(bytes), mac) {
            Ok(())
        } else {
            Err(Rejected)
        }
    }
}

impl std::fmt::Debug for MacKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MacKey")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_key_message_or_mac_is_rejected() {
        let (key, other) = (MacKey::new(&[1; 32]), MacKey::new(&[2; 32]));
        let mut mac = key.mac(b"row");
        assert_eq!(key.verify(b"row", &mac), Ok(()));
        assert_eq!(key.mac_pieces(&[b"r", b"ow"]), mac);
        assert_eq!(key.verify(b"rov", &mac), Err(Rejected));
        assert_eq!(other.verify(b"row", &mac), Err(Rejected));
        mac[31] ^= 1;
        assert_eq!(key.verify(b"row", &mac), Err(Rejected));
    }
}
