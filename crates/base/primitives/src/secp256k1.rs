//! secp256k1: keys and their tweaks, ECDSA, BIP-340, ECDH, over libsecp256k1.
//!
//! * ECDSA (FIPS 186-5) over a digest that the caller made, the nonce after RFC 6979, s always the lower of
//!   the two; verification refuses the higher one, so that a signature has one form.
//! * Signatures with a recovery id, from which the public key comes back.
//! * Schnorr signatures after BIP-340, over messages of any length.
//!
//! Each thread has a context of its own that is blinded by fresh randomness when it is made. The binding's
//! newer line blinds it again after every use, which costs more than half a multiplication each time; the
//! library is constant-time without any blinding.
//!
//! Not here: hashing of messages, DER, and what belongs to one currency.

use keywright_secret::Secret;
use secp256k1::ecdsa::{RecoverableSignature, RecoveryId, Signature};
use secp256k1::{
    All, Keypair, Message, Scalar, Secp256k1, SecretKey, XOnlyPublicKey, ecdh, schnorr,
};

use crate::random::RandomStream;
use crate::{Error, Rejected, scalar};

thread_local! {
    static CONTEXT: Secp256k1<All> = context();
}

fn context() -> Secp256k1<All> {
    let mut made = Secp256k1::new();
    // Without randomness there is no blinding; the library is constant-time all the same.
    if let Ok(seed) = RandomStream::new().and_then(|mut stream| stream.secret()) {
        made.seeded_randomize(seed.expose());
    }
    made
}

/// A private key where its owner keeps it.
pub struct PrivateKey<'a>(&'a [u8; 32]);

/// A point of the curve that is not the point at infinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey(secp256k1::PublicKey);

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
    scalar::SECP256K1.add(key, tweak)
}

/// Whether these bytes are a private key: 1 to the order less one.
#[must_use]
pub fn is_private_key(bytes: &[u8; 32]) -> bool {
    scalar::SECP256K1.holds(bytes)
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
        self.with(|context, key| PublicKey(secp256k1::PublicKey::from_secret_key(context, key)))
    }

    /// ECDSA over a digest: r and s, 32 bytes each, s the lower one.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn sign_ecdsa(&self, digest: &[u8; 32]) -> Result<[u8; 64], Error> {
        self.with(|context, key| {
            let signature = context.sign_ecdsa(Message::from_digest(*digest), key);
            signature.serialize_compact()
        })
    }

    /// As [`Self::sign_ecdsa`], with the recovery id, 0 to 3.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn sign_recoverable(&self, digest: &[u8; 32]) -> Result<([u8; 64], u8), Error> {
        self.with(|context, key| {
            let signature = context.sign_ecdsa_recoverable(Message::from_digest(*digest), key);
            let (id, bytes) = signature.serialize_compact();
            (bytes, number(id))
        })
    }

    /// A Schnorr signature after BIP-340; `aux` is fresh randomness, or zeros where there is none.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn sign_schnorr(&self, message: &[u8], aux: &[u8; 32]) -> Result<[u8; 64], Error> {
        self.with(|context, key| {
            let mut pair = Keypair::from_secret_key(context, key);
            let signature = context.sign_schnorr_with_aux_rand(message, &pair, aux);
            pair.non_secure_erase();
            signature.to_byte_array()
        })
    }

    /// ECDH (SEC 1, 3.3.1): the x coordinate of the shared point, big-endian.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn agree(&self, peer: &PublicKey) -> Result<Secret<32>, Error> {
        let mut point = self.with(|_, key| ecdh::shared_secret_point(&peer.0, key))?;
        let secret = Secret::copy_from(&point[..32]).ok_or(Error::Backend);
        keywright_secret::wipe(&mut point);
        secret
    }

    /// The backend's own copy of the key lives as long as `work`.
    fn with<T>(&self, work: impl FnOnce(&Secp256k1<All>, &SecretKey) -> T) -> Result<T, Error> {
        let mut key = SecretKey::from_byte_array(*self.0).map_err(|_| Error::Backend)?;
        let made = CONTEXT.with(|context| work(context, &key));
        key.non_secure_erase();
        Ok(made)
    }
}

impl PublicKey {
    /// Reads a point as SEC 1 writes it: 33 bytes compressed, or 65 bytes that begin with 4.
    ///
    /// # Errors
    /// [`Error::KeyRejected`] if it is no such point of the curve.
    pub fn from_sec1(bytes: &[u8]) -> Result<Self, Error> {
        // The backend also reads a hybrid form that nobody should write.
        match bytes.first() {
            Some(2..=4) => secp256k1::PublicKey::from_slice(bytes)
                .map(Self)
                .map_err(|_| Error::KeyRejected),
            _ => Err(Error::KeyRejected),
        }
    }

    /// The compressed point.
    #[must_use]
    pub fn to_compressed(&self) -> [u8; 33] {
        self.0.serialize()
    }

    /// The uncompressed point.
    #[must_use]
    pub fn to_uncompressed(&self) -> [u8; 65] {
        self.0.serialize_uncompressed()
    }

    /// The x coordinate, by which BIP-340 names a key.
    #[must_use]
    pub fn to_x_only(&self) -> [u8; 32] {
        self.0.x_only_public_key().0.serialize()
    }

    /// The point plus `tweak` times the base point.
    ///
    /// # Errors
    /// [`Error::KeyRejected`] if the tweak is not below the order, or the sum is the point at infinity.
    pub fn tweak(&self, tweak: &[u8; 32]) -> Result<Self, Error> {
        let tweak = Scalar::from_be_bytes(*tweak).map_err(|_| Error::KeyRejected)?;
        let sum = CONTEXT.with(|context| self.0.add_exp_tweak(context, &tweak));
        sum.map(Self).map_err(|_| Error::KeyRejected)
    }

    /// Verifies ECDSA: r and s, 32 bytes each.
    ///
    /// # Errors
    /// [`Rejected`] if they do not fit, or s is the higher one.
    pub fn verify_ecdsa(&self, digest: &[u8; 32], signature: &[u8; 64]) -> Result<(), Rejected> {
        let signature = Signature::from_compact(signature).map_err(|_| Rejected)?;
        let message = Message::from_digest(*digest);
        CONTEXT
            .with(|context| context.verify_ecdsa(message, &signature, &self.0))
            .map_err(|_| Rejected)
    }

    /// The key that made this signature with this recovery id.
    ///
    /// # Errors
    /// [`Rejected`] if there is none.
    pub fn recover(digest: &[u8; 32], signature: &[u8; 64], id: u8) -> Result<Self, Rejected> {
        let id = RecoveryId::try_from(i32::from(id)).map_err(|_| Rejected)?;
        let signature = RecoverableSignature::from_compact(signature, id).map_err(|_| Rejected)?;
        let message = Message::from_digest(*digest);
        CONTEXT
            .with(|context| context.recover_ecdsa(message, &signature))
            .map(Self)
            .map_err(|_| Rejected)
    }
}

/// Verifies a Schnorr signature after BIP-340 by the x coordinate of the public key.
///
/// # Errors
/// [`Rejected`] if it does not fit, or the coordinate is of no point.
pub fn verify_schnorr(
    x_only: &[u8; 32],
    message: &[u8],
    signature: &[u8; 64],
) -> Result<(), Rejected> {
    let key = XOnlyPublicKey::from_byte_array(*x_only).map_err(|_| Rejected)?;
    let signature = schnorr::Signature::from_byte_array(*signature);
    CONTEXT
        .with(|context| context.verify_schnorr(&signature, message, &key))
        .map_err(|_| Rejected)
}

const fn number(id: RecoveryId) -> u8 {
    match id {
        RecoveryId::Zero => 0,
        RecoveryId::One => 1,
        RecoveryId::Two => 2,
        RecoveryId::Three => 3,
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

    #[test]
    fn what_is_no_key_or_no_point_is_refused() {
        for bytes in [[0; 32], [0xFF; 32]] {
            assert!(PrivateKey::from_bytes(&bytes).is_err());
            assert!(!is_private_key(&bytes));
        }
        let secret = key(1);
        let public = PrivateKey::from_bytes(&secret)
            .unwrap()
            .public_key()
            .unwrap();
        let (short, long) = (public.to_compressed(), public.to_uncompressed());
        assert_eq!(PublicKey::from_sec1(&short), Ok(public));
        assert_eq!(PublicKey::from_sec1(&long), Ok(public));
        for head in [0, 1, 5, 6, 7, 0xFF] {
            let (mut short, mut long) = (short, long);
            short[0] = head;
            long[0] = head;
            assert!(PublicKey::from_sec1(&short).is_err(), "{head}");
            assert!(PublicKey::from_sec1(&long).is_err(), "{head}");
        }
        assert!(PublicKey::from_sec1(&short[..32]).is_err());
        assert!(PublicKey::from_sec1(&long[..64]).is_err());
        assert!(PublicKey::from_sec1(&[]).is_err());
    }

    #[test]
    fn tweaks_of_private_and_public_keys_meet_and_the_opposite_has_no_sum() {
        let (mut secret, tweak) = (key(7), key(9));
        let before = PrivateKey::from_bytes(&secret)
            .unwrap()
            .public_key()
            .unwrap();
        tweak_private(&mut secret, &tweak).unwrap();
        let after = PrivateKey::from_bytes(&secret)
            .unwrap()
            .public_key()
            .unwrap();
        assert_eq!(before.tweak(&tweak), Ok(after));
        assert_eq!(before.tweak(&[0; 32]), Ok(before));
        assert!(before.tweak(&[0xFF; 32]).is_err());
        let negated = SecretKey::from_byte_array(key(7)).unwrap().negate();
        assert!(before.tweak(&negated.secret_bytes()).is_err());
    }

    #[test]
    fn signatures_have_low_s_are_deterministic_and_fit_only_their_message_and_key() {
        let order_half = {
            let mut half = [0xFF; 32];
            half[0] = 0x7F;
            half
        };
        for last in 1..=40 {
            let (secret, other) = (key(last), key(last + 100));
            let private = PrivateKey::from_bytes(&secret).unwrap();
            let public = private.public_key().unwrap();
            let other = PrivateKey::from_bytes(&other)
                .unwrap()
                .public_key()
                .unwrap();
            let digest = [last; 32];
            let signature = private.sign_ecdsa(&digest).unwrap();
            assert_eq!(signature, private.sign_ecdsa(&digest).unwrap());
            assert!(signature[32..] <= order_half[..], "{last}");
            assert_eq!(public.verify_ecdsa(&digest, &signature), Ok(()));
            assert_eq!(public.verify_ecdsa(&[0xAA; 32], &signature), Err(Rejected));
            assert_eq!(other.verify_ecdsa(&digest, &signature), Err(Rejected));
            let (with_id, id) = private.sign_recoverable(&digest).unwrap();
            assert_eq!(with_id, signature);
            assert_eq!(PublicKey::recover(&digest, &signature, id), Ok(public));
            assert_ne!(PublicKey::recover(&digest, &signature, id ^ 1), Ok(public));
            assert_eq!(PublicKey::recover(&digest, &signature, 4), Err(Rejected));
            for bit in [0, 100, 255, 256, 300, 511] {
                let mut changed = signature;
                changed[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(public.verify_ecdsa(&digest, &changed), Err(Rejected));
            }
        }
    }

    #[test]
    fn the_higher_s_is_refused() {
        let secret = key(3);
        let private = PrivateKey::from_bytes(&secret).unwrap();
        let signature = private.sign_ecdsa(&[1; 32]).unwrap();
        let mut s = [0; 32];
        s.copy_from_slice(&signature[32..]);
        let high = SecretKey::from_byte_array(s)
            .unwrap()
            .negate()
            .secret_bytes();
        let mut changed = signature;
        changed[32..].copy_from_slice(&high);
        let public = private.public_key().unwrap();
        assert_eq!(public.verify_ecdsa(&[1; 32], &changed), Err(Rejected));
    }

    #[test]
    fn two_owners_agree_and_a_third_does_not() {
        let [a, b, c] = [key(1), key(2), key(3)];
        let [a, b, c] = [&a, &b, &c].map(|key| PrivateKey::from_bytes(key).unwrap());
        let shared = a.agree(&b.public_key().unwrap()).unwrap();
        assert!(shared.ct_eq(&b.agree(&a.public_key().unwrap()).unwrap()));
        assert!(!shared.ct_eq(&c.agree(&a.public_key().unwrap()).unwrap()));
        assert_eq!(format!("{a:?}"), "PrivateKey");
    }
}
