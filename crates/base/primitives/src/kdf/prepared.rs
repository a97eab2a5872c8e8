//! HKDF with the hash states of its keys prepared, over inputs in pieces, without memory from the heap.

use aws_lc_rs::hmac::{Context, HMAC_SHA256, HMAC_SHA384, HMAC_SHA512, Key};
use keywright_secret::wipe;

use crate::{Error, opaque_debug};

macro_rules! prepared {
    ($spoken:literal, $salt:ident, $prk:ident, $hmac:ident, $hash_len:literal) => {
        #[doc = concat!("A salt of ", $spoken, ", prepared for any number of extractions.")]
        pub struct $salt(Key);

        impl $salt {
            /// Prepares a salt of any length; an empty one is as good as one of zeros.
            #[must_use]
            pub fn new(salt: &[u8]) -> Self {
                Self(Key::new($hmac, salt))
            }

            /// HKDF-Extract (section 2.2) of pieces as if they were joined; the caller makes the joining
            /// injective, and wipes what comes out where it is secret.
            #[must_use]
            pub fn extract(&self, ikm: &[&[u8]]) -> [u8; $hash_len] {
                mac(&self.0, ikm)
            }
        }

        #[doc = concat!("The pseudo-random key of ", $spoken, ", prepared for any number of expansions.")]
        pub struct $prk(Key);

        impl $prk {
            /// Takes what was extracted, or is uniform for another reason.
            #[must_use]
            pub fn new(prk: &[u8; $hash_len]) -> Self {
                Self(Key::new($hmac, prk))
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
                    let mut context = Context::with_key(&self.0);
                    if number > 1 {
                        context.update(&block);
                    }
                    info.iter().for_each(|piece| context.update(piece));
                    context.update(&[number]);
                    block.copy_from_slice(context.sign().as_ref());
                    part.copy_from_slice(&block[..part.len()]);
                }
                wipe(&mut block);
                Ok(())
            }
        }
    };
}

prepared!(
    "HKDF-SHA-256",
    HkdfSha256Salt,
    HkdfSha256Prk,
    HMAC_SHA256,
    32
);
prepared!(
    "HKDF-SHA-384",
    HkdfSha384Salt,
    HkdfSha384Prk,
    HMAC_SHA384,
    48
);
prepared!(
    "HKDF-SHA-512",
    HkdfSha512Salt,
    HkdfSha512Prk,
    HMAC_SHA512,
    64
);
opaque_debug! {
    HkdfSha256Salt HkdfSha256Prk HkdfSha384Salt HkdfSha384Prk HkdfSha512Salt HkdfSha512Prk
}

fn mac<const N: usize>(key: &Key, pieces: &[&[u8]]) -> [u8; N] {
    let mut context = Context::with_key(key);
    pieces.iter().for_each(|piece| context.update(piece));
    let mut out = [0; N];
    out.copy_from_slice(context.sign().as_ref());
    out
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
