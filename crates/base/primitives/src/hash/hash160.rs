//! HASH160: RIPEMD-160 over SHA-256, by which Bitcoin's formats name public keys.
//!
//! Here because formats ask for it. RIPEMD-160 alone has 80 bits of resistance to collisions, too few for
//! anything new, so it is not offered alone.

use ripemd::{Digest as _, Ripemd160};

use super::sha256;

/// RIPEMD-160 of SHA-256 of `bytes`: 20 bytes.
#[must_use]
pub fn hash160(bytes: &[u8]) -> [u8; 20] {
    Ripemd160::digest(sha256(bytes)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fingerprint of the root of the first seed in BIP-32 begins its children's parent field.
    #[test]
    fn the_name_of_a_known_key_is_the_published_one() {
        let key = [
            0x03, 0x39, 0xA3, 0x60, 0x13, 0x30, 0x15, 0x97, 0xDA, 0xEF, 0x41, 0xFB, 0xE5, 0x93,
            0xA0, 0x2C, 0xC5, 0x13, 0xD0, 0xB5, 0x55, 0x27, 0xEC, 0x2D, 0xF1, 0x05, 0x0E, 0x2E,
            0x8F, 0xF4, 0x9C, 0x85, 0xC2,
        ];
        assert_eq!(hash160(&key)[..4], [0x34, 0x42, 0x19, 0x3E]);
        assert_ne!(hash160(&key[1..])[..4], [0x34, 0x42, 0x19, 0x3E]);
    }
}
