//! HKDF with the hash states of its keys prepared, over inputs in pieces, without memory from the heap.
//!
//! SHA-256, which nearly all suites have, keeps them as two states of eight words ([`Sha256Pads`]); the others
//! leave them to the backend.

use aws_lc_rs::hmac::{self, HMAC_SHA384, HMAC_SHA512, Key};
use keywright_secret::wipe;

use crate::mac::Sha256Pads;
use crate::{Error, opaque_debug};

macro_rules! prepared {
    ($spoken:literal, $salt:ident, $prk:ident, $hmac:ident, $hash_len:literal) => {
        #[doc = concat!("A salt of ", $spoken, ", prepared for any number of extractions.")]
        pub struct $salt($hmac);

        impl $salt {
            /// Prepares a salt of any length; an empty one is as good as one of zeros.
            #[must_use]
            pub fn new(salt: &[u8]) -> Self {
                Self($hmac::new(salt))
            }

            /// HKDF-Extract (section 2.2) of pieces as if they were joined; the caller makes the joining
            /// injective, and wipes what comes out where it is secret.
            #[must_use]
            pub fn extract(&self, ikm: &[&[u8]]) -> [u8; $hash_len] {
                let mut out = [0; $hash_len];
                let mut running = self.0.begin();
                ikm.iter().for_each(|piece| running.update(piece));
                running.finish(&mut out);
                out
            }
        }

        #[doc = concat!("The pseudo-random key of ", $spoken, ", prepared for any number of expansions.")]
        pub struct $prk($hmac);

        impl $prk {
            /// Takes what was extracted, or is uniform for another reason.
            #[must_use]
            pub fn new(prk: &[u8; $hash_len]) -> Self {
                Self($hmac::new(prk))
            }

            /// HKDF-Expand (section 2.3): fills `out` from the key and the joined pieces of `info`. The
            /// caller makes the joining injective.
            ///
            /// # Errors
            /// [`Error::TooLong`] if `out` is longer than 255 hashes; it is not touched then.
            pub fn expand(&self, info: &[&[u8]], out: &mut [u8]) -> Result<(), Error> {
                if out.len() > 255 * $hash_len {
                    return Err(Error::TooLong);
                }
                // T(i) = HMAC(PRK, T(i - 1) | info | i), T(0) is empty.
                let mut block = [0; $hash_len];
                for (number, part) in (1_u8..=255).zip(out.chunks_mut($hash_len)) {
                    let mut running = self.0.begin();
                    if number > 1 {
                        running.update(&block);
                    }
                    info.iter().for_each(|piece| running.update(piece));
                    running.update(&[number]);
                    running.finish(&mut block);
                    part.copy_from_slice(&block[..part.len()]);
                }
                wipe(&mut block);
                Ok(())
            }
        }
    };
}

/// HMAC of the backend, in the form that [`Sha256Pads`] has.
macro_rules! of_backend {
    ($name:ident, $algorithm:ident, $hash_len:literal) => {
        struct $name(Key);

        impl $name {
            fn new(key: &[u8]) -> Self {
                Self(Key::new($algorithm, key))
            }

            fn begin(&self) -> Running<$hash_len> {
                Running(hmac::Context::with_key(&self.0))
            }
        }
    };
}

of_backend!(Hmac384, HMAC_SHA384, 48);
of_backend!(Hmac512, HMAC_SHA512, 64);

struct Running<const N: usize>(hmac::Context);

impl<const N: usize> Running<N> {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(self, out: &mut [u8; N]) {
        out.copy_from_slice(self.0.sign().as_ref());
    }
}

prepared!(
    "HKDF-SHA-256",
    HkdfSha256Salt,
    HkdfSha256Prk,
    Sha256Pads,
    32
);
prepared!("HKDF-SHA-384", HkdfSha384Salt, HkdfSha384Prk, Hmac384, 48);
prepared!("HKDF-SHA-512", HkdfSha512Salt, HkdfSha512Prk, Hmac512, 64);
opaque_debug! {
    HkdfSha256Salt HkdfSha256Prk HkdfSha384Salt HkdfSha384Prk HkdfSha512Salt HkdfSha512Prk
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kdf::{HkdfSha256, HkdfSha384, HkdfSha512};

    /// What the backend's own HKDF, which the foreign vectors judge, makes of the same.
    macro_rules! agrees {
        ($salt:ident, $prk:ident, $plain:ident, $hash_len:literal) => {
            for salt in [&b""[..], b"salt", &[7; 300]] {
                let prepared = $salt::new(salt);
                let prk = prepared.extract(&[b"i", b"", b"km"]);
                let (key, plain) = ($prk::new(&prk), $plain::extract(salt, b"ikm").unwrap());
                for length in [
                    0,
                    1,
                    $hash_len - 1,
                    $hash_len,
                    $hash_len + 1,
                    255 * $hash_len,
                ] {
                    let (mut ours, mut theirs) = (vec![1; length], vec![2; length]);
                    key.expand(&[b"in", b"fo"], &mut ours).unwrap();
                    plain.expand(&[b"info"], &mut theirs).unwrap();
                    assert_eq!(ours, theirs, "{length}");
                }
                let mut long = vec![9; 255 * $hash_len + 1];
                assert_eq!(key.expand(&[], &mut long), Err(Error::TooLong));
                assert!(long.iter().all(|byte| *byte == 9));
            }
        };
    }

    #[test]
    fn what_was_prepared_gives_what_was_not() {
        agrees!(HkdfSha256Salt, HkdfSha256Prk, HkdfSha256, 32);
        agrees!(HkdfSha384Salt, HkdfSha384Prk, HkdfSha384, 48);
        agrees!(HkdfSha512Salt, HkdfSha512Prk, HkdfSha512, 64);
    }
}
