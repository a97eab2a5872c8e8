//! AES key wrap with padding (SP 800-38F KWP, RFC 5649) under keys of 256 bits.
//!
//! It wraps keys of any length, each way the same: who sees two wrapped keys sees whether they are equal. What
//! does not fit fails with one [`Rejected`].

use aws_lc_rs::key_wrap::{AES_256, AesKek, KeyWrapPadded as _};
use keywright_secret::{Secret, SecretBytes};

use crate::{Error, Rejected};

/// Bytes that a wrapped key is longer than the key, at most: one semiblock in front and seven bytes of padding.
pub const OVERHEAD: usize = 15;
/// Bytes of the longest key that is wrapped here. The standard's bound is higher; nobody's key is this long.
pub const MAX_LEN: usize = 1 << 16;

/// Wraps `key` under `kek`.
///
/// # Errors
/// [`Error::TooLong`] beyond [`MAX_LEN`], [`Error::Backend`] for an empty key, or if the backend refuses.
pub fn wrap(kek: &Secret<32>, key: &[u8]) -> Result<Vec<u8>, Error> {
    if key.len() > MAX_LEN {
        return Err(Error::TooLong);
    }
    let mut out = vec![0; key.len() + OVERHEAD];
    let kek = AesKek::new(&AES_256, kek.expose()).map_err(|_| Error::Backend)?;
    let wrapped = kek.wrap_with_padding(key, &mut out);
    let length = wrapped.map_err(|_| Error::Backend)?.len();
    out.truncate(length);
    Ok(out)
}

/// Unwraps what [`wrap`] wrapped.
///
/// # Errors
/// [`Rejected`] if key or bytes are not those of the wrapping.
pub fn unwrap(kek: &Secret<32>, wrapped: &[u8]) -> Result<SecretBytes, Rejected> {
    if wrapped.len() > MAX_LEN + OVERHEAD {
        return Err(Rejected);
    }
    let mut out = SecretBytes::zeroed(wrapped.len());
    let kek = AesKek::new(&AES_256, kek.expose()).map_err(|_| Rejected)?;
    let key = kek.unwrap_with_padding(wrapped, out.expose_mut());
    Ok(SecretBytes::from_vec(key.map_err(|_| Rejected)?.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_every_length_come_back_and_changed_ones_do_not() {
        let (kek, other) = (
            Secret::<32>::from_fill(|key| key.fill(1)),
            Secret::<32>::from_fill(|key| key.fill(2)),
        );
        for length in [1, 7, 8, 9, 16, 31, 32, 33, 1217, MAX_LEN] {
            let key = vec![9; length];
            let wrapped = wrap(&kek, &key).unwrap();
            assert!(wrapped.len() > length && wrapped.len() <= length + OVERHEAD);
            assert_eq!(unwrap(&kek, &wrapped).unwrap().expose(), key);
            assert!(unwrap(&other, &wrapped).is_err());
            assert!(unwrap(&kek, &wrapped[..wrapped.len() - 8]).is_err());
            assert!(unwrap(&kek, &wrapped[..wrapped.len() - 1]).is_err());
            assert!(unwrap(&kek, &[&wrapped[..], &[0; 8]].concat()).is_err());
            for place in [0, wrapped.len() / 2, wrapped.len() - 1] {
                let mut changed = wrapped.clone();
                changed[place] ^= 1;
                assert!(unwrap(&kek, &changed).is_err());
            }
        }
        assert_eq!(wrap(&kek, &[]), Err(Error::Backend));
        assert_eq!(wrap(&kek, &vec![0; MAX_LEN + 1]), Err(Error::TooLong));
        assert!(unwrap(&kek, &[]).is_err());
    }

    /// RFC 5649 has its examples under a key of 192 bits, which is not here: `aes_wrap` of OpenSSL is the judge, in
    /// the tests of the crate.
    #[test]
    fn a_wrapped_key_says_its_length_under_the_key_alone() {
        let kek = Secret::<32>::from_fill(|key| key.fill(1));
        let (short, long) = (wrap(&kek, &[9; 25]).unwrap(), wrap(&kek, &[9; 32]).unwrap());
        assert_eq!((short.len(), long.len()), (40, 40));
        assert_ne!(short, long);
    }
}
