//! What a key does where it is: sign and agree.
//!
//! No call takes a public key beside the private one: Ed25519 under a public key of someone else's choice
//! gives the private key away. Keys of Ed25519 do not agree and keys of X25519 do not sign.

use keywright_primitives::agreement::{
    P256PrivateKey, P256PublicKey, X25519PrivateKey, X25519PublicKey,
};
use keywright_primitives::ed25519_extended::ExtendedKey;
use keywright_primitives::hash::sha256;
use keywright_primitives::signature::SigningKey;
use keywright_primitives::{p256, secp256k1};
use keywright_secret::Secret;

use crate::Error;
use crate::node::PrivateNode;
use crate::public::PublicKey;
use crate::scheme::{Curve, Scheme};
use crate::stack::swept;

/// What ECDSA signs: the hash of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest([u8; 32]);

/// An ECDSA signature from which the public key can be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecoverableSignature {
    /// r and s, 32 bytes each, s the lower one.
    pub signature: [u8; 64],
    /// Which of the keys that fit: 0 to 3.
    pub id: u8,
}

impl Digest {
    /// SHA-256 of a message.
    #[must_use]
    pub fn of_sha256(message: &[u8]) -> Self {
        Self(sha256(message))
    }

    /// A digest that was made elsewhere. Whoever lets others choose it signs what others choose.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl PrivateNode {
    /// ECDSA over secp256k1 or P-256, nonce by RFC 6979: r and s, 32 bytes each, s the lower one.
    ///
    /// # Errors
    /// [`Error::WrongUse`] for another curve.
    pub fn sign_ecdsa(&self, digest: &Digest) -> Result<[u8; 64], Error> {
        swept(|| match self.scheme.curve() {
            Some(Curve::Secp256k1) => {
                Ok(secp256k1::PrivateKey::from_bytes(&self.key)?.sign_ecdsa(&digest.0)?)
            }
            Some(Curve::P256) => {
                Ok(p256::PrivateKey::from_bytes(&self.key)?.sign_ecdsa(&digest.0)?)
            }
            _ => Err(self.wrong_use("sign with ECDSA")),
        })
    }

    /// As [`Self::sign_ecdsa`], with what is needed to compute the public key.
    ///
    /// # Errors
    /// [`Error::WrongUse`] for another curve.
    pub fn sign_ecdsa_recoverable(&self, digest: &Digest) -> Result<RecoverableSignature, Error> {
        let (signature, id) = swept(|| match self.scheme.curve() {
            Some(Curve::Secp256k1) => {
                Ok(secp256k1::PrivateKey::from_bytes(&self.key)?.sign_recoverable(&digest.0)?)
            }
            Some(Curve::P256) => {
                Ok(p256::PrivateKey::from_bytes(&self.key)?.sign_recoverable(&digest.0)?)
            }
            _ => Err(self.wrong_use("sign with ECDSA")),
        })?;
        Ok(RecoverableSignature { signature, id })
    }

    /// A Schnorr signature after BIP-340; `aux` is fresh randomness, or zeros where there is none.
    ///
    /// # Errors
    /// [`Error::WrongUse`] for another curve.
    pub fn sign_schnorr(&self, message: &[u8], aux: &[u8; 32]) -> Result<[u8; 64], Error> {
        self.expect(Curve::Secp256k1, "sign with BIP-340")?;
        swept(|| Ok(secp256k1::PrivateKey::from_bytes(&self.key)?.sign_schnorr(message, aux)?))
    }

    /// An Ed25519 signature.
    ///
    /// # Errors
    /// [`Error::WrongUse`] for another curve.
    pub fn sign_ed25519(&self, message: &[u8]) -> Result<[u8; 64], Error> {
        swept(|| match self.scheme {
            Scheme::Slip10Ed25519 => {
                let seed = Secret::from_fill(|seed| seed.copy_from_slice(&self.key));
                Ok(SigningKey::from_seed(&seed)?.sign(message))
            }
            Scheme::Bip32Ed25519V2 => Ok(ExtendedKey::new(&self.key, &self.right).sign(message)),
            _ => Err(self.wrong_use("sign with Ed25519")),
        })
    }

    /// The secret shared with the owner of `peer`: X25519, or the x coordinate of ECDH. It goes through a key
    /// derivation, with both public keys in it, before anything is encrypted with it.
    ///
    /// # Errors
    /// [`Error::OtherScheme`] if the peer's key is of another curve, [`Error::WrongUse`] for Ed25519,
    /// [`Error::Rejected`] if the two make no secret.
    pub fn agree(&self, peer: &PublicKey) -> Result<Secret<32>, Error> {
        if matches!(self.scheme.curve(), None | Some(Curve::Ed25519)) {
            return Err(self.wrong_use("agree"));
        }
        if peer.scheme().curve() != self.scheme.curve() {
            return Err(Error::OtherScheme {
                found: peer.scheme(),
                expected: self.scheme,
            });
        }
        let key = Secret::from_fill(|key| key.copy_from_slice(&self.key));
        swept(|| match self.scheme {
            Scheme::Slip10Curve25519 => {
                let [_, bytes @ ..] = peer.serialized();
                let peer = X25519PublicKey::from_bytes(bytes)?;
                Ok(X25519PrivateKey::from_bytes(&key)?.agree(&peer)?)
            }
            Scheme::Slip10NistP256 => {
                let peer = P256PublicKey::from_sec1(peer.serialized())?;
                Ok(P256PrivateKey::from_bytes(&key)?.agree(&peer)?)
            }
            _ => {
                let peer = secp256k1::PublicKey::from_sec1(peer.serialized())?;
                Ok(secp256k1::PrivateKey::from_bytes(&self.key)?.agree(&peer)?)
            }
        })
    }

    const fn wrong_use(&self, wanted: &'static str) -> Error {
        Error::WrongUse {
            scheme: self.scheme,
            wanted,
        }
    }
}

impl RecoverableSignature {
    /// A signature from its parts: r and s, and the id.
    #[must_use]
    pub const fn new(signature: [u8; 64], id: u8) -> Self {
        Self { signature, id }
    }

    /// The public key that made the signature over this digest.
    ///
    /// # Errors
    /// [`Error::Rejected`] if there is none, [`Error::WrongUse`] if the scheme has no ECDSA.
    pub fn recover(&self, scheme: Scheme, digest: &Digest) -> Result<PublicKey, Error> {
        let point = match scheme.curve() {
            Some(Curve::Secp256k1) => {
                secp256k1::PublicKey::recover(&digest.0, &self.signature, self.id)?.to_compressed()
            }
            Some(Curve::P256) => {
                p256::PublicKey::recover(&digest.0, &self.signature, self.id)?.to_compressed()
            }
            _ => {
                return Err(Error::WrongUse {
                    scheme,
                    wanted: "recover keys",
                });
            }
        };
        PublicKey::from_bytes(scheme, &point)
    }
}
