//! Ed25519 (RFC 8032) with a key that is no seed: a scalar and a nonce prefix of 32 bytes each.
//!
//! Trees after BIP32-Ed25519 change scalar and prefix apart, so no 32-byte seed stands behind their keys and
//! the backend cannot hold them. Scalars are taken modulo the order of the group and not clamped: clamping
//! would move a derived key to another one. The public key is always computed from the scalar and never
//! taken from a caller: signing under a public key of someone's choice gives the scalar away.
//!
//! Verification is that of [`crate::signature::VerifyingKey`].

use curve25519_dalek::edwards::{CompressedEdwardsY, EdwardsPoint};
use curve25519_dalek::scalar::Scalar;
use keywright_secret::wipe;

use crate::hash::Sha512;
use crate::{Error, opaque_debug};

/// A key that signs: scalar and nonce prefix, where their owner keeps them.
pub struct ExtendedKey<'a> {
    scalar: Scalar,
    prefix: &'a [u8; 32],
}

impl<'a> ExtendedKey<'a> {
    /// Takes a little-endian scalar, of any size, and the prefix of its nonces.
    #[must_use]
    pub fn new(scalar: &[u8; 32], prefix: &'a [u8; 32]) -> Self {
        Self {
            scalar: reduced(scalar),
            prefix,
        }
    }

    /// The public half: the scalar times the base point.
    #[must_use]
    pub fn public_key(&self) -> [u8; 32] {
        EdwardsPoint::mul_base(&self.scalar).compress().to_bytes()
    }

    /// Signs `message` (RFC 8032, 5.1.6 from step 2 on).
    #[must_use]
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        // 2. r = SHA-512(prefix || M).
        let mut nonce = hash(&[self.prefix, message]);
        let r = Scalar::from_bytes_mod_order_wide(&nonce);
        wipe(&mut nonce);
        // 3. R = [r]B.
        let point = EdwardsPoint::mul_base(&r).compress().to_bytes();
        // 4. k = SHA-512(R || A || M).
        let public = self.public_key();
        let k = Scalar::from_bytes_mod_order_wide(&hash(&[&point, &public, message]));
        // 5. S = r + k * s.
        let s = r + k * self.scalar;
        let mut signature = [0; 64];
        signature[..32].copy_from_slice(&point);
        signature[32..].copy_from_slice(s.as_bytes());
        signature
    }
}

impl Drop for ExtendedKey<'_> {
    fn drop(&mut self) {
        self.scalar = Scalar::ZERO;
        // Keeps the compiler from leaving the zeros out.
        std::hint::black_box(&mut self.scalar);
    }
}

impl std::fmt::Debug for ExtendedKey<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ExtendedKey")
    }
}

/// A public key as a point, to which multiples of the base point are added.
#[derive(Clone, Copy)]
pub struct ExtendedPublicKey(EdwardsPoint);

opaque_debug! { ExtendedPublicKey }

impl ExtendedPublicKey {
    /// Takes a public key.
    ///
    /// # Errors
    /// [`Error::KeyRejected`] if it is no point of the curve, is not spelled canonically, or is of small order.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, Error> {
        let point = CompressedEdwardsY(*bytes).decompress();
        let point =
            point.filter(|point| !point.is_small_order() && point.compress().as_bytes() == bytes);
        point.map(Self).ok_or(Error::KeyRejected)
    }

    /// The 32 bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 32] {
        self.0.compress().to_bytes()
    }

    /// The point plus `scalar` (little-endian) times the base point.
    ///
    /// # Errors
    /// [`Error::KeyRejected`] if the sum is of small order.
    pub fn tweak(&self, scalar: &[u8; 32]) -> Result<Self, Error> {
        let sum = self.0 + EdwardsPoint::mul_base(&reduced(scalar));
        match sum.is_small_order() {
            true => Err(Error::KeyRejected),
            false => Ok(Self(sum)),
        }
    }
}

fn reduced(scalar: &[u8; 32]) -> Scalar {
    let mut wide = [0; 64];
    wide[..32].copy_from_slice(scalar);
    let reduced = Scalar::from_bytes_mod_order_wide(&wide);
    wipe(&mut wide);
    reduced
}

fn hash(pieces: &[&[u8]]) -> [u8; 64] {
    let mut hash = Sha512::new();
    pieces.iter().for_each(|piece| hash.update(piece));
    hash.finish()
}

#[cfg(test)]
mod tests {
    use keywright_secret::Secret;

    use super::*;
    use crate::hash::sha512;
    use crate::signature::{SigningKey, VerifyingKey};

    /// The scalar and prefix of a seed (RFC 8032, 5.1.5).
    fn expanded(seed: u8) -> ([u8; 32], [u8; 32]) {
        let hash = sha512(&[seed; 32]);
        let (mut scalar, mut prefix) = ([0; 32], [0; 32]);
        scalar.copy_from_slice(&hash[..32]);
        prefix.copy_from_slice(&hash[32..]);
        scalar[0] &= 0xF8;
        scalar[31] = (scalar[31] & 0x7F) | 0x40;
        (scalar, prefix)
    }

    #[test]
    fn a_key_made_of_a_seed_is_the_backends_key_of_that_seed() {
        for seed in 0..50 {
            let (scalar, prefix) = expanded(seed);
            let ours = ExtendedKey::new(&scalar, &prefix);
            let secret = Secret::copy_from(&[seed; 32]).unwrap();
            let theirs = SigningKey::from_seed(&secret).unwrap();
            assert_eq!(ours.public_key(), *theirs.verifying_key().as_bytes());
            for message in [&b""[..], b"m", &[7; 300]] {
                assert_eq!(ours.sign(message), theirs.sign(message));
            }
        }
    }

    #[test]
    fn a_scalar_is_not_clamped_and_its_signatures_verify() {
        let (mut scalar, prefix) = expanded(1);
        for low in 0..8 {
            scalar[0] = (scalar[0] & 0xF8) | low;
            scalar[31] = 0x1F;
            let key = ExtendedKey::new(&scalar, &prefix);
            let public = VerifyingKey::from_bytes(key.public_key());
            let signature = key.sign(b"message");
            assert_eq!(public.verify(b"message", &signature), Ok(()));
            assert!(public.verify(b"massage", &signature).is_err());
        }
        let one = ExtendedKey::new(&scalar, &prefix).public_key();
        scalar[0] ^= 1;
        assert_ne!(one, ExtendedKey::new(&scalar, &prefix).public_key());
        assert_eq!(
            format!("{:?}", ExtendedKey::new(&scalar, &prefix)),
            "ExtendedKey"
        );
    }

    #[test]
    fn tweaks_of_scalar_and_point_meet_and_what_is_no_key_is_refused() {
        let (mut scalar, prefix) = expanded(2);
        let mut tweak = [0; 32];
        (scalar[1], tweak[1]) = (0, 5);
        let before = ExtendedKey::new(&scalar, &prefix).public_key();
        let before = ExtendedPublicKey::from_bytes(&before).unwrap();
        scalar[1] = 5;
        let after = ExtendedKey::new(&scalar, &prefix).public_key();
        assert_eq!(before.tweak(&tweak).unwrap().to_bytes(), after);
        let mut one = [0; 32];
        one[0] = 1;
        // The neutral element, a point of order 8, a y beyond the field, no point at all.
        let order_eight = [
            0xC7, 0x17, 0x6A, 0x70, 0x3D, 0x4D, 0xD8, 0x4F, 0xBA, 0x3C, 0x0B, 0x76, 0x0D, 0x10,
            0x67, 0x0F, 0x2A, 0x20, 0x53, 0xFA, 0x2C, 0x39, 0xCC, 0xC6, 0x4E, 0xC7, 0xFD, 0x77,
            0x92, 0xAC, 0x03, 0x7A,
        ];
        let mut no_point = [0; 32];
        no_point[0] = 2;
        for bad in [one, order_eight, [0xFF; 32], no_point] {
            assert!(ExtendedPublicKey::from_bytes(&bad).is_err(), "{bad:02x?}");
        }
    }
}
