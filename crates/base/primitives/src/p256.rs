//! P-256 for trees of keys: tweaks of keys, and ECDSA with low s and a deterministic nonce (RFC 6979).
//!
//! Public keys are made and signatures verified by the backend; what it does not offer (sums of points, nonces that
//! follow from key and message, keys that are found from signatures) is done by the `p256` crate. Signatures for X.509
//! and TLS are those of [`crate::signature::ecdsa`], agreement is [`crate::agreement`].

use aws_lc_rs::agreement::{self, ECDH_P256};
use p256::ecdsa::{RecoveryId, Signature, SigningKey, VerifyingKey};
use p256::elliptic_curve::PrimeField as _;
use p256::elliptic_curve::group::Group as _;
use p256::elliptic_curve::sec1::ToSec1Point as _;
use p256::{ProjectivePoint, Scalar};

use crate::signature::ecdsa::P256VerifyingKey;
use crate::{Error, Rejected, scalar};

/// A private key where its owner keeps it.
pub struct PrivateKey<'a>(&'a [u8; 32]);

/// A point of the curve that is not the point at infinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey(p256::PublicKey);

impl std::fmt::Debug for PrivateKey<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PrivateKey")
    }
}

/// Adds `tweak` to the private key `key`, modulo the order of the group.
///
/// # Errors
/// [`Error::KeyRejected`], with `key` as it was, if the tweak is not below the order or the sum is zero.
pub fn tweak_private(key: &mut [u8; 32], tweak: &[u8; 32]) -> Result<(), Error> {
    scalar::P256.add(key, tweak)
}

/// Whether these bytes are a private key: 1 to the order less one.
#[must_use]
pub fn is_private_key(bytes: &[u8; 32]) -> bool {
    scalar::P256.holds(bytes)
}

impl<'a> PrivateKey<'a> {
    /// Takes 32 big-endian bytes.
    ///
    /// # Errors
    /// [`Error::KeyRejected`] if they are not 1 to the order less one.
    pub fn from_bytes(bytes: &'a [u8; 32]) -> Result<Self, Error> {
        match is_private_key(bytes) {
            true => Ok(Self(bytes)),
            false => Err(Error::KeyRejected),
        }
    }

    /// The public half.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn public_key(&self) -> Result<PublicKey, Error> {
        let key = agreement::PrivateKey::from_private_key(&ECDH_P256, self.0);
        let point = key.and_then(|key| Ok(key.compute_public_key()?));
        let point = point.map_err(|_| Error::Backend)?;
        PublicKey::from_sec1(point.as_ref()).map_err(|_| Error::Backend)
    }

    /// ECDSA over a digest: r and s, 32 bytes each, s the lower one, with the recovery id, 0 to 3.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn sign_recoverable(&self, digest: &[u8; 32]) -> Result<([u8; 64], u8), Error> {
        let key = SigningKey::from_slice(self.0).map_err(|_| Error::Backend)?;
        let (signature, id) = key.sign_prehash_recoverable(digest);
        let low = signature.normalize_s();
        // The negative s belongs to the mirrored point.
        let id = match low == signature {
            true => id,
            false => RecoveryId::new(!id.is_y_odd(), id.is_x_reduced()),
        };
        Ok((low.to_bytes().into(), id.to_byte()))
    }

    /// As [`Self::sign_recoverable`], without the id.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn sign_ecdsa(&self, digest: &[u8; 32]) -> Result<[u8; 64], Error> {
        self.sign_recoverable(digest)
            .map(|(signature, _)| signature)
    }
}

/// A signature with the lower s of the two that fit.
///
/// # Errors
/// [`Error::Backend`] if r or s is no number below the order, which no signature of ours has.
pub fn with_lower_s(signature: &[u8; 64]) -> Result<[u8; 64], Error> {
    let signature = Signature::from_slice(signature).map_err(|_| Error::Backend)?;
    Ok(signature.normalize_s().to_bytes().into())
}

impl PublicKey {
    /// Reads a point as SEC 1 writes it: 33 bytes compressed, or 65 bytes that begin with 4.
    ///
    /// # Errors
    /// [`Error::KeyRejected`] if it is no such point of the curve.
    pub fn from_sec1(bytes: &[u8]) -> Result<Self, Error> {
        match bytes.first() {
            Some(2..=4) => p256::PublicKey::from_sec1_bytes(bytes)
                .map(Self)
                .map_err(|_| Error::KeyRejected),
            _ => Err(Error::KeyRejected),
        }
    }

    /// The compressed point.
    #[must_use]
    pub fn to_compressed(&self) -> [u8; 33] {
        let mut out = [0; 33];
        let point = self.0.to_sec1_point(true);
        // A point that is not at infinity has exactly this many bytes.
        for (out, byte) in out.iter_mut().zip(point.as_bytes()) {
            *out = *byte;
        }
        out
    }

    /// The point with both coordinates: 4, then 32 bytes each.
    #[must_use]
    pub fn to_uncompressed(&self) -> [u8; 65] {
        let mut out = [0; 65];
        let point = self.0.to_sec1_point(false);
        // A point that is not at infinity has exactly this many bytes.
        for (out, byte) in out.iter_mut().zip(point.as_bytes()) {
            *out = *byte;
        }
        out
    }

    /// The point plus `tweak` times the base point.
    ///
    /// # Errors
    /// [`Error::KeyRejected`] if the tweak is not below the order, or the sum is the point at infinity.
    pub fn tweak(&self, tweak: &[u8; 32]) -> Result<Self, Error> {
        let tweak = Scalar::from_repr((*tweak).into()).into_option();
        let tweak = tweak.ok_or(Error::KeyRejected)?;
        let sum = self.0.to_projective() + ProjectivePoint::mul_by_generator(&tweak);
        let sum = p256::PublicKey::from_affine(sum.to_affine());
        sum.map(Self).map_err(|_| Error::KeyRejected)
    }

    /// Verifies ECDSA: r and s, 32 bytes each.
    ///
    /// # Errors
    /// [`Rejected`] if they do not fit, or s is the higher one.
    pub fn verify_ecdsa(&self, digest: &[u8; 32], signature: &[u8; 64]) -> Result<(), Rejected> {
        let signature = Signature::from_slice(signature).map_err(|_| Rejected)?;
        if signature.normalize_s() != signature {
            return Err(Rejected);
        }
        let key = P256VerifyingKey::from_sec1(&self.to_uncompressed()).map_err(|_| Rejected)?;
        key.verify_digest(digest, &signature.to_bytes().into())
    }

    /// The key that made this signature with this recovery id.
    ///
    /// # Errors
    /// [`Rejected`] if there is none.
    pub fn recover(digest: &[u8; 32], signature: &[u8; 64], id: u8) -> Result<Self, Rejected> {
        let signature = Signature::from_slice(signature).map_err(|_| Rejected)?;
        let id = RecoveryId::from_byte(id).ok_or(Rejected)?;
        let key = VerifyingKey::recover_from_prehash(digest, &signature, id);
        key.map(|key| Self(key.into())).map_err(|_| Rejected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(last: u8) -> [u8; 32] {
        let mut bytes = [0x5A; 32];
        bytes[31] = last;
        bytes
    }

    fn public(secret: &[u8; 32]) -> PublicKey {
        PrivateKey::from_bytes(secret)
            .unwrap()
            .public_key()
            .unwrap()
    }

    #[test]
    fn what_is_no_key_or_no_point_is_refused() {
        for bytes in [[0; 32], [0xFF; 32]] {
            assert!(PrivateKey::from_bytes(&bytes).is_err());
            assert!(!is_private_key(&bytes));
        }
        let whole = public(&key(1)).to_uncompressed();
        assert_eq!(PublicKey::from_sec1(&whole), Ok(public(&key(1))));
        let point = public(&key(1)).to_compressed();
        assert_eq!(whole[1..33], point[1..]);
        assert_eq!(PublicKey::from_sec1(&point), Ok(public(&key(1))));
        for head in [0, 1, 4, 5, 6, 7, 0xFF] {
            let mut point = point;
            point[0] = head;
            assert!(PublicKey::from_sec1(&point).is_err(), "{head}");
        }
        assert!(PublicKey::from_sec1(&point[..32]).is_err());
        assert!(PublicKey::from_sec1(&[]).is_err());
    }

    #[test]
    fn tweaks_of_private_and_public_keys_meet() {
        let (mut secret, tweak) = (key(7), key(9));
        let before = public(&secret);
        tweak_private(&mut secret, &tweak).unwrap();
        assert_eq!(before.tweak(&tweak), Ok(public(&secret)));
        assert_eq!(before.tweak(&[0; 32]), Ok(before));
        assert!(before.tweak(&[0xFF; 32]).is_err());
        let negated = -Scalar::from_repr(key(7).into()).unwrap();
        assert!(before.tweak(&negated.to_repr().into()).is_err());
    }

    /// RFC 6979, A.2.5, SHA-256 of "sample"; s is above half the order there, so its negative is ours.
    #[test]
    fn the_published_signature_comes_out_with_its_lower_s() {
        let secret = [
            0xC9, 0xAF, 0xA9, 0xD8, 0x45, 0xBA, 0x75, 0x16, 0x6B, 0x5C, 0x21, 0x57, 0x67, 0xB1,
            0xD6, 0x93, 0x4E, 0x50, 0xC3, 0xDB, 0x36, 0xE8, 0x9B, 0x12, 0x7B, 0x8A, 0x62, 0x2B,
            0x12, 0x0F, 0x67, 0x21,
        ];
        let digest = crate::hash::sha256(b"sample");
        let key = PrivateKey::from_bytes(&secret).unwrap();
        let signature = key.sign_ecdsa(&digest).unwrap();
        assert_eq!(signature[..4], [0xEF, 0xD4, 0x8B, 0x2A]);
        let published = [
            0xF7, 0xCB, 0x1C, 0x94, 0x2D, 0x65, 0x7C, 0x41, 0xD4, 0x36, 0xC7, 0xA1, 0xB6, 0xE2,
            0x9F, 0x65, 0xF3, 0xE9, 0x00, 0xDB, 0xB9, 0xAF, 0xF4, 0x06, 0x4D, 0xC4, 0xAB, 0x2F,
            0x84, 0x3A, 0xCD, 0xA8,
        ];
        let high = Scalar::from_repr(published.into()).unwrap();
        let low: [u8; 32] = (-high).to_repr().into();
        assert_eq!(signature[32..], low);
        let mut changed = signature;
        changed[32..].copy_from_slice(&published);
        let public = key.public_key().unwrap();
        assert_eq!(public.verify_ecdsa(&digest, &signature), Ok(()));
        assert_eq!(public.verify_ecdsa(&digest, &changed), Err(Rejected));
    }

    #[test]
    fn signatures_fit_only_their_message_and_key_and_name_the_key() {
        for last in 1..=20 {
            let secret = key(last);
            let private = PrivateKey::from_bytes(&secret).unwrap();
            let (digest, public) = ([last; 32], public(&secret));
            let (signature, id) = private.sign_recoverable(&digest).unwrap();
            assert_eq!(public.verify_ecdsa(&digest, &signature), Ok(()));
            assert_eq!(public.verify_ecdsa(&[0xAA; 32], &signature), Err(Rejected));
            let other = self::public(&key(last + 100));
            assert_eq!(other.verify_ecdsa(&digest, &signature), Err(Rejected));
            assert_eq!(PublicKey::recover(&digest, &signature, id), Ok(public));
            assert_ne!(PublicKey::recover(&digest, &signature, id ^ 1), Ok(public));
            assert_eq!(PublicKey::recover(&digest, &signature, 4), Err(Rejected));
            for bit in [0, 100, 255, 256, 300, 511] {
                let mut changed = signature;
                changed[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(public.verify_ecdsa(&digest, &changed), Err(Rejected));
            }
        }
        assert_eq!(
            format!("{:?}", PrivateKey::from_bytes(&key(1)).unwrap()),
            "PrivateKey"
        );
    }
}
