//! Message authentication codes: HMAC (RFC 2104) here, [`Aes128Cmac`] and [`Aes256Cmac`] (SP 800-38B),
//! and [`Blake3Mac`].
//!
//! [`MacKey`] is HMAC-SHA-256 for keys that this project makes; the others take what is given elsewhere.
//! Tags are whole: shortening one is the business of the format that does it.

mod blake3;
mod cmac;
#[cfg(feature = "hd")]
mod pads;
#[cfg(feature = "chain")]
mod pads256;

use aws_lc_rs::hmac::{Context, HMAC_SHA256, HMAC_SHA384, HMAC_SHA512, Key, Tag, sign};
use keywright_secret::ct_eq;

use crate::{Error, Rejected, opaque_debug};

pub use self::blake3::Blake3Mac;
pub use cmac::{Aes128Cmac, Aes256Cmac};
#[cfg(feature = "hd")]
pub use pads::{PADS_LEN, Sha512Pads};
#[cfg(feature = "chain")]
pub use pads256::Sha256Pads;

/// A MAC value.
pub type Mac = [u8; 32];

/// Bytes in the longest key that HMAC takes here. The standard knows no bound; a key longer than a block is
/// hashed, and nobody's key is this long.
pub const MAX_KEY_LEN: usize = 1 << 16;

macro_rules! hmac {
    ($(#[$doc:meta])* $name:ident, $algorithm:ident, $tag_len:literal) => {
        $(#[$doc])*
        pub struct $name(Key);

        impl $name {
            /// Prepares the inner and outer hash states.
            ///
            /// # Errors
            /// [`Error::TooLong`] beyond [`MAX_KEY_LEN`].
            pub fn new(key: &[u8]) -> Result<Self, Error> {
                if key.len() > MAX_KEY_LEN {
                    return Err(Error::TooLong);
                }
                Ok(Self(Key::new($algorithm, key)))
            }

            /// The MAC of `bytes`.
            #[must_use]
            pub fn mac(&self, bytes: &[u8]) -> [u8; $tag_len] {
                to_array(&sign(&self.0, bytes))
            }

            /// The MAC of pieces as if they were joined; the caller makes the joining injective.
            #[must_use]
            pub fn mac_pieces(&self, pieces: &[&[u8]]) -> [u8; $tag_len] {
                let mut context = Context::with_key(&self.0);
                pieces.iter().for_each(|piece| context.update(piece));
                to_array(&context.sign())
            }

            /// Compares in constant time.
            ///
            /// # Errors
            /// [`Rejected`] if `mac` is not the MAC of `bytes`.
            pub fn verify(&self, bytes: &[u8], mac: &[u8; $tag_len]) -> Result<(), Rejected> {
                compare(&self.mac(bytes), mac)
            }
        }
    };
}

hmac! {
    /// A key of any length for HMAC-SHA-256.
    HmacSha256, HMAC_SHA256, 32
}
hmac! {
    /// A key of any length for HMAC-SHA-384.
    HmacSha384, HMAC_SHA384, 48
}
hmac! {
    /// A key of any length for HMAC-SHA-512.
    HmacSha512, HMAC_SHA512, 64
}

/// A key of 32 bytes for HMAC-SHA-256.
pub struct MacKey(HmacSha256);

impl MacKey {
    /// Prepares the inner and outer hash states.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        Self(HmacSha256(Key::new(HMAC_SHA256, key)))
    }

    /// The MAC of `bytes`.
    #[must_use]
    pub fn mac(&self, bytes: &[u8]) -> Mac {
        self.0.mac(bytes)
    }

    /// The MAC of pieces as if they were joined; the caller makes the joining injective.
    #[must_use]
    pub fn mac_pieces(&self, pieces: &[&[u8]]) -> Mac {
        self.0.mac_pieces(pieces)
    }

    /// Compares in constant time.
    ///
    /// # Errors
    /// [`Rejected`] if `mac` is not the MAC of `bytes`.
    pub fn verify(&self, bytes: &[u8], mac: &Mac) -> Result<(), Rejected> {
        self.0.verify(bytes, mac)
    }
}

opaque_debug! { HmacSha256 HmacSha384 HmacSha512 MacKey }

fn to_array<const N: usize>(tag: &Tag) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(tag.as_ref());
    out
}

fn compare(made: &[u8], given: &[u8]) -> Result<(), Rejected> {
    if ct_eq(made, given) {
        Ok(())
    } else {
        Err(Rejected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! rejects_everything_else {
        ($key:expr, $other:expr) => {
            let (key, other) = ($key, $other);
            let mac = key.mac(b"row");
            assert_eq!(key.verify(b"row", &mac), Ok(()));
            assert_eq!(key.mac_pieces(&[b"r", b"", b"ow"]), mac);
            assert_eq!(key.verify(b"rov", &mac), Err(Rejected));
            assert_eq!(key.verify(b"ro", &mac), Err(Rejected));
            assert_eq!(other.verify(b"row", &mac), Err(Rejected));
            for bit in 0..mac.len() * 8 {
                let mut changed = mac;
                changed[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(key.verify(b"row", &changed), Err(Rejected), "bit {bit}");
            }
        };
    }

    #[test]
    fn another_key_message_or_mac_is_rejected() {
        rejects_everything_else!(MacKey::new(&[1; 32]), MacKey::new(&[2; 32]));
        macro_rules! for_each_length {
            ($name:ident) => {
                for length in [1, 32, 64, 128, 129, 1000, MAX_KEY_LEN] {
                    rejects_everything_else!(
                        $name::new(&vec![1; length]).unwrap(),
                        $name::new(&vec![2; length]).unwrap()
                    );
                }
            };
        }
        for_each_length!(HmacSha256);
        for_each_length!(HmacSha384);
        for_each_length!(HmacSha512);
    }

    #[test]
    fn a_key_beyond_the_bound_is_refused() {
        let key = vec![1; MAX_KEY_LEN + 1];
        assert_eq!(HmacSha256::new(&key).err(), Some(Error::TooLong));
        assert_eq!(HmacSha384::new(&key).err(), Some(Error::TooLong));
        assert_eq!(HmacSha512::new(&key).err(), Some(Error::TooLong));
    }

    #[test]
    fn a_key_of_32_bytes_is_the_same_key_in_both_types() {
        let (fixed, any) = (MacKey::new(&[9; 32]), HmacSha256::new(&[9; 32]).unwrap());
        assert_eq!(fixed.mac(b"row"), any.mac(b"row"));
    }
}
