//! HKDF-Expand (RFC 5869 section 2.3) from a key that is uniform already.

use aws_lc_rs::hkdf::{self, HKDF_SHA256, HKDF_SHA512, KeyType, Prk};

use crate::Error;

/// HKDF-Expand with SHA-256: fills `out` from `key` and the joined pieces of `info`.
///
/// The caller makes the joining of `info` injective.
///
/// # Errors
/// [`Error::TooLong`] if `out` is longer than 255 hashes.
pub fn expand_sha256(key: &[u8; 32], info: &[&[u8]], out: &mut [u8]) -> Result<(), Error> {
    expand(HKDF_SHA256, key, info, out)
}

/// HKDF-Expand with SHA-512, otherwise as [`expand_sha256`].
///
/// # Errors
/// [`Error::TooLong`] if `out` is longer than 255 hashes.
pub fn expand_sha512(key: &[u8; 32], info: &[&[u8]], out: &mut [u8]) -> Result<(), Error> {
    expand(HKDF_SHA512, key, info, out)
}

fn expand(
    algorithm: hkdf::Algorithm,
    key: &[u8; 32],
    info: &[&[u8]],
    out: &mut [u8],
) -> Result<(), Error> {
    let key = Prk::new_less_safe(algorithm, key);
    let okm = key
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
}
