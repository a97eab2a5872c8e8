//! HKDF (RFC 5869), and HKDF-Expand alone (section 2.3) from a key that is uniform already.
//!
//! [`HkdfSha256`] and its kin are for one derivation. Whoever extracts many times under one salt, or expands
//! many times from one key, prepares the hash states once: `HkdfSha256Salt`, `HkdfSha256Prk` (feature `chain`).
//! [`blake3_derive`] is the mode of BLAKE3 that derives keys.

mod blake3;
#[cfg(feature = "hd")]
mod pbkdf2;
#[cfg(feature = "chain")]
mod prepared;

use aws_lc_rs::hkdf::{self, HKDF_SHA256, HKDF_SHA384, HKDF_SHA512, KeyType, Prk};
use aws_lc_rs::hmac::{self, HMAC_SHA256, HMAC_SHA384, HMAC_SHA512, sign_to_buffer};
use keywright_secret::wipe;

use crate::{Error, opaque_debug};

pub use self::blake3::blake3_derive;
#[cfg(feature = "hd")]
pub use pbkdf2::pbkdf2_sha512;
#[cfg(feature = "chain")]
pub use prepared::{
    HkdfSha256Prk, HkdfSha256Salt, HkdfSha384Prk, HkdfSha384Salt, HkdfSha512Prk, HkdfSha512Salt,
};

/// HKDF-Expand with SHA-256: fills `out` from `key` and the joined pieces of `info`.
///
/// The caller makes the joining of `info` injective.
///
/// # Errors
/// [`Error::TooLong`] if `out` is longer than 255 hashes.
pub fn expand_sha256(key: &[u8; 32], info: &[&[u8]], out: &mut [u8]) -> Result<(), Error> {
    expand(&Prk::new_less_safe(HKDF_SHA256, key), info, out)
}

/// HKDF-Expand with SHA-512, otherwise as [`expand_sha256`].
///
/// # Errors
/// [`Error::TooLong`] if `out` is longer than 255 hashes.
pub fn expand_sha512(key: &[u8; 32], info: &[&[u8]], out: &mut [u8]) -> Result<(), Error> {
    expand(&Prk::new_less_safe(HKDF_SHA512, key), info, out)
}

macro_rules! hkdf {
    ($name:ident, $algorithm:ident, $hmac:ident, $hash_len:literal, $spoken:literal) => {
        #[doc = concat!("The pseudo-random key of ", $spoken, ": what extraction makes and expansion uses.")]
        pub struct $name(Prk);

        impl $name {
            /// HKDF-Extract (section 2.2): concentrates `ikm` under `salt`. An empty salt is as good as one
            /// of zeros. Both may have any length.
            ///
            /// # Errors
            /// [`Error::Backend`] if the backend refuses.
            pub fn extract(salt: &[u8], ikm: &[u8]) -> Result<Self, Error> {
                // PRK = HMAC-Hash(salt, IKM). The backend's own extraction is put off to each expansion.
                let salt = hmac::Key::new($hmac, salt);
                let mut prk = [0; $hash_len];
                let made = sign_to_buffer(&salt, ikm, &mut prk).map(|_| ());
                let key = Self::from_prk(&prk);
                wipe(&mut prk);
                made.map(|()| key).map_err(|_| Error::Backend)
            }

            /// Takes a pseudo-random key that was extracted before, or is uniform for another reason.
            #[must_use]
            pub fn from_prk(prk: &[u8; $hash_len]) -> Self {
                Self(Prk::new_less_safe($algorithm, prk))
            }

            /// HKDF-Expand (section 2.3): fills `out` from the key and the joined pieces of `info`.
            ///
            /// The caller makes the joining of `info` injective.
            ///
            /// # Errors
            /// [`Error::TooLong`] if `out` is longer than 255 hashes.
            pub fn expand(&self, info: &[&[u8]], out: &mut [u8]) -> Result<(), Error> {
                expand(&self.0, info, out)
            }
        }
    };
}

hkdf!(HkdfSha256, HKDF_SHA256, HMAC_SHA256, 32, "HKDF-SHA-256");
hkdf!(HkdfSha384, HKDF_SHA384, HMAC_SHA384, 48, "HKDF-SHA-384");
hkdf!(HkdfSha512, HKDF_SHA512, HMAC_SHA512, 64, "HKDF-SHA-512");
opaque_debug! { HkdfSha256 HkdfSha384 HkdfSha512 }

fn expand(key: &Prk, info: &[&[u8]], out: &mut [u8]) -> Result<(), Error> {
    let okm: hkdf::Okm<'_, Length> = key
        .expand(info, Length(out.len()))
        .map_err(|_| Error::TooLong)?;
    okm.fill(out).map_err(|_| Error::Backend)
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn info_and_length_matter_and_the_limit_is_kept() {
        let key = [3; 32];
        let (mut a, mut b, mut long) = ([0; 32], [0; 32], vec![0; 255 * 32 + 1]);
        expand_sha256(&key, &[b"a"], &mut a).unwrap();
        expand_sha256(&key, &[b"b"], &mut b).unwrap();
        assert_ne!(a, b);
        expand_sha512(&key, &[b"a"], &mut b).unwrap();
        assert_ne!(a, b);
        assert_eq!(expand_sha256(&key, &[], &mut long), Err(Error::TooLong));
    }

    macro_rules! every_input_matters {
        ($name:ident, $hash_len:literal) => {
            let derive = |salt: &[u8], ikm: &[u8], info: &[&[u8]]| {
                let mut out = [0; 32];
                let key = $name::extract(salt, ikm).unwrap();
                key.expand(info, &mut out).unwrap();
                out
            };
            let one = derive(b"salt", b"ikm", &[b"in", b"fo"]);
            assert_eq!(one, derive(b"salt", b"ikm", &[b"info"]));
            assert_ne!(one, derive(b"salu", b"ikm", &[b"info"]));
            assert_ne!(one, derive(b"", b"ikm", &[b"info"]));
            assert_ne!(one, derive(b"salt", b"ikn", &[b"info"]));
            assert_ne!(one, derive(b"salt", b"ikm", &[b"inf"]));
            // Section 2.2: no salt is a string of HashLen zeros.
            assert_eq!(
                derive(b"", b"ikm", &[]),
                derive(&[0; $hash_len], b"ikm", &[])
            );
            let (key, mut out) = (
                $name::from_prk(&[5; $hash_len]),
                vec![0; 255 * $hash_len + 1],
            );
            assert_eq!(key.expand(&[], &mut out), Err(Error::TooLong));
            assert_eq!(key.expand(&[], &mut out[1..]), Ok(()));
        };
    }

    #[test]
    fn salt_material_and_info_matter_and_the_limit_is_255_hashes() {
        every_input_matters!(HkdfSha256, 32);
        every_input_matters!(HkdfSha384, 48);
        every_input_matters!(HkdfSha512, 64);
    }

    #[test]
    fn a_prk_and_a_uniform_key_expand_alike() {
        let (mut a, mut b) = ([0; 100], [0; 100]);
        HkdfSha256::from_prk(&[7; 32])
            .expand(&[b"x"], &mut a)
            .unwrap();
        expand_sha256(&[7; 32], &[b"x"], &mut b).unwrap();
        assert_eq!(a, b);
    }
}
