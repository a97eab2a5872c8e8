//! Hash functions: SHA-2 (FIPS 180-4), SHA-3 and SHAKE (FIPS 202), and BLAKE3.
//!
//! A keyed hash is a MAC and stands in [`crate::mac`].

mod blake3;
#[cfg(feature = "hd")]
mod hash160;
mod shake;

use aws_lc_rs::digest::{Context, Digest, SHA3_256, SHA256, SHA384, SHA512, digest};

use crate::opaque_debug;

#[cfg(feature = "threads")]
pub use self::blake3::blake3_on_all_cores;
pub use self::blake3::{Blake3, Blake3Digest, blake3};
#[cfg(feature = "hd")]
pub use self::hash160::hash160;
pub use self::shake::{Shake128, Shake256};

/// A SHA-256 value.
pub type Sha256Digest = [u8; 32];
/// A SHA-384 value.
pub type Sha384Digest = [u8; 48];
/// A SHA-512 value.
pub type Sha512Digest = [u8; 64];

macro_rules! sha2 {
    ($name:ident, $one_shot:ident, $digest:ident, $algorithm:ident, $spoken:literal) => {
        #[doc = concat!($spoken, " of `bytes`.")]
        #[must_use]
        pub fn $one_shot(bytes: &[u8]) -> $digest {
            to_array(&digest(&$algorithm, bytes))
        }

        #[doc = concat!($spoken, " of bytes that come in pieces.")]
        #[derive(Clone)]
        pub struct $name(Context);

        impl $name {
            /// Nothing hashed yet.
            #[must_use]
            pub fn new() -> Self {
                Self(Context::new(&$algorithm))
            }

            /// Adds bytes.
            pub fn update(&mut self, bytes: &[u8]) {
                self.0.update(bytes);
            }

            /// The value over everything added.
            #[must_use]
            pub fn finish(self) -> $digest {
                to_array(&self.0.finish())
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }
    };
}

sha2!(Sha256, sha256, Sha256Digest, SHA256, "SHA-256");
sha2!(Sha384, sha384, Sha384Digest, SHA384, "SHA-384");
sha2!(Sha512, sha512, Sha512Digest, SHA512, "SHA-512");
opaque_debug! { Sha256 Sha384 Sha512 }

/// SHA3-256 of pieces as if they were joined; the caller makes the joining injective.
#[must_use]
pub fn sha3_256(pieces: &[&[u8]]) -> [u8; 32] {
    let mut context = Context::new(&SHA3_256);
    pieces.iter().for_each(|piece| context.update(piece));
    to_array(&context.finish())
}

fn to_array<const N: usize>(digest: &Digest) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(digest.as_ref());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! pieces_and_whole_agree {
        ($name:ident, $one_shot:ident, $begins_with:expr) => {
            let mut pieces = $name::default();
            pieces.update(b"ab");
            pieces.update(b"");
            let other = pieces.clone();
            pieces.update(b"c");
            let value = pieces.finish();
            assert_eq!(value, $one_shot(b"abc"));
            assert_eq!(value[..8], $begins_with);
            assert_ne!(other.finish(), value);
        };
    }

    /// The values for "abc" are those that NIST publishes as examples for FIPS 180-4.
    #[test]
    fn pieces_and_whole_agree_and_are_the_published_value() {
        pieces_and_whole_agree!(
            Sha256,
            sha256,
            [0xBA, 0x78, 0x16, 0xBF, 0x8F, 0x01, 0xCF, 0xEA]
        );
        pieces_and_whole_agree!(
            Sha384,
            sha384,
            [0xCB, 0x00, 0x75, 0x3F, 0x45, 0xA3, 0x5E, 0x8B]
        );
        pieces_and_whole_agree!(
            Sha512,
            sha512,
            [0xDD, 0xAF, 0x35, 0xA1, 0x93, 0x61, 0x7A, 0xBA]
        );
    }

    /// The beginning of the value that NIST publishes for the empty message in FIPS 202.
    #[test]
    fn sha3_256_gives_the_published_value_whatever_the_pieces() {
        let empty = sha3_256(&[]);
        assert_eq!(empty[..8], [0xA7, 0xFF, 0xC6, 0xF8, 0xBF, 0x1E, 0xD7, 0x66]);
        assert_eq!(sha3_256(&[b"ab", b"", b"c"]), sha3_256(&[b"abc"]));
        assert_ne!(sha3_256(&[b"abc"]), empty);
    }
}
