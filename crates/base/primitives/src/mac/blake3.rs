//! BLAKE3 in its keyed mode.

use keywright_secret::Secret;

use super::{Mac, compare};
use crate::{Rejected, opaque_debug};

/// A key for keyed BLAKE3.
pub struct Blake3Mac(Secret<32>);

impl Blake3Mac {
    /// Keeps a copy of the key.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        Self(Secret::from_fill(|buffer| buffer.copy_from_slice(key)))
    }

    /// The MAC of `bytes`.
    #[must_use]
    pub fn mac(&self, bytes: &[u8]) -> Mac {
        Self::mac_once(self.0.expose(), bytes)
    }

    /// The MAC of `bytes` under a key that is used once, without keeping a copy of it: nothing is allocated.
    #[must_use]
    pub fn mac_once(key: &[u8; 32], bytes: &[u8]) -> Mac {
        blake3::keyed_hash(key, bytes).into()
    }

    /// The MAC of pieces as if they were joined; the caller makes the joining injective.
    #[must_use]
    pub fn mac_pieces(&self, pieces: &[&[u8]]) -> Mac {
        let mut hasher = blake3::Hasher::new_keyed(self.0.expose());
        for piece in pieces {
            hasher.update(piece);
        }
        hasher.finalize().into()
    }

    /// Compares in constant time.
    ///
    /// # Errors
    /// [`Rejected`] if `mac` is not the MAC of `bytes`.
    pub fn verify(&self, bytes: &[u8], mac: &Mac) -> Result<(), Rejected> {
        compare(&self.mac(bytes), mac)
    }
}

opaque_debug! { Blake3Mac }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_key_message_or_mac_is_rejected_and_no_key_is_another_function() {
        let (key, other) = (Blake3Mac::new(&[1; 32]), Blake3Mac::new(&[2; 32]));
        let mut mac = key.mac(b"row");
        assert_eq!(key.verify(b"row", &mac), Ok(()));
        assert_eq!(key.mac_pieces(&[b"r", b"ow"]), mac);
        assert_eq!(key.verify(b"rov", &mac), Err(Rejected));
        assert_eq!(other.verify(b"row", &mac), Err(Rejected));
        assert_ne!(
            Blake3Mac::new(&[0; 32]).mac(b"row"),
            crate::hash::blake3(b"row")
        );
        mac[31] ^= 1;
        assert_eq!(key.verify(b"row", &mac), Err(Rejected));
    }
}
