//! Signatures verified by other code than the token's, where there is any here.

use keywright_hsm::public_key::PublicKey;
use keywright_pkcs11::{Curve, Error, Mechanism, ObjectHandle, Session};
use keywright_primitives::hash::{sha256, sha384, sha512};
use keywright_primitives::signature::VerifyingKey;
use keywright_primitives::signature::ecdsa::{P256VerifyingKey, P384VerifyingKey};
use keywright_primitives::signature::rsa::RsaVerifyingKey;

use super::task::Signature;

/// Whoever can say that a signature fits.
pub(super) enum Verifier {
    Ed25519(VerifyingKey),
    P256(Box<P256VerifyingKey>),
    P384(Box<P384VerifyingKey>),
    Rsa(Box<RsaVerifyingKey>, Signature),
    /// The token's own public key: curves and keys that are not known here.
    Token(ObjectHandle, Signature),
}

impl Verifier {
    pub(super) fn new(session: &Session, how: Signature, public: ObjectHandle) -> Self {
        PublicKey::read(session, public)
            .ok()
            .and_then(|key| Self::here(&key, how))
            .unwrap_or(Self::Token(public, how))
    }

    fn here(key: &PublicKey, how: Signature) -> Option<Self> {
        let spki = key.spki();
        match (how, key) {
            (Signature::RsaPkcs1 { .. } | Signature::RsaPss { .. }, _) => {
                let key = RsaVerifyingKey::from_der(&spki).ok()?;
                Some(Self::Rsa(Box::new(key), how))
            }
            (Signature::Ecdsa(Curve::P256), _) => {
                let key = P256VerifyingKey::from_spki_der(&spki).ok()?;
                Some(Self::P256(Box::new(key)))
            }
            (Signature::Ecdsa(Curve::P384), _) => {
                let key = P384VerifyingKey::from_spki_der(&spki).ok()?;
                Some(Self::P384(Box::new(key)))
            }
            (Signature::Eddsa(Curve::Ed25519), PublicKey::Curve { point, .. }) => {
                let point = point.as_slice().try_into().ok()?;
                Some(Self::Ed25519(VerifyingKey::from_bytes(point)))
            }
            _ => None,
        }
    }

    pub(super) fn accepts(&self, session: &Session, message: &[u8], signature: &[u8]) -> bool {
        match self {
            Self::Ed25519(key) => signature
                .try_into()
                .is_ok_and(|signature| key.verify(message, signature).is_ok()),
            Self::P256(key) => signature
                .try_into()
                .is_ok_and(|signature| key.verify_fixed(message, signature).is_ok()),
            Self::P384(key) => signature
                .try_into()
                .is_ok_and(|signature| key.verify_fixed(message, signature).is_ok()),
            Self::Rsa(key, Signature::RsaPss { .. }) => key.verify_pss(message, signature).is_ok(),
            Self::Rsa(key, _) => key.verify_pkcs1(message, signature).is_ok(),
            Self::Token(key, how) => verify(session, (*how, *key), message, signature).is_ok(),
        }
    }
}

/// The hash of a message that ECDSA on this curve takes.
struct Digest([u8; 64], usize);

impl Digest {
    fn new(curve: Curve, message: &[u8]) -> Self {
        let mut bytes = [0; 64];
        let length = match curve.bits() {
            0..=256 => put(&mut bytes, &sha256(message)),
            257..=384 => put(&mut bytes, &sha384(message)),
            _ => put(&mut bytes, &sha512(message)),
        };
        Self(bytes, length)
    }

    fn bytes(&self) -> &[u8] {
        self.0.get(..self.1).unwrap_or_default()
    }
}

fn put(bytes: &mut [u8; 64], hash: &[u8]) -> usize {
    bytes[..hash.len()].copy_from_slice(hash);
    hash.len()
}

/// Signs as a caller of the token does: what the token does not hash itself is hashed here.
pub(super) fn sign(
    session: &Session,
    (how, key): (Signature, ObjectHandle),
    message: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    match how {
        Signature::Ecdsa(curve) => {
            let digest = Digest::new(curve, message);
            session.sign(&Mechanism::Ecdsa, key, digest.bytes(), out)
        }
        _ => session.sign(&how.mechanism(), key, message, out),
    }
}

/// Verifies in the token.
pub(super) fn verify(
    session: &Session,
    (how, key): (Signature, ObjectHandle),
    message: &[u8],
    signature: &[u8],
) -> Result<(), Error> {
    match how {
        Signature::Ecdsa(curve) => {
            let digest = Digest::new(curve, message);
            session.verify(&Mechanism::Ecdsa, key, digest.bytes(), signature)
        }
        _ => session.verify(&how.mechanism(), key, message, signature),
    }
}
