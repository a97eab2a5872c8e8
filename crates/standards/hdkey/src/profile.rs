//! Keys that libraries of Identus made of BIP32-Ed25519 nodes, for whoever has to go on using them.
//!
//! | profile | key |
//! |---|---|
//! | `identus-ed25519-jvm` | an Ed25519 key whose seed is the node's left half: JVM, Android, Apple |
//! | `identus-ed25519-js` | an Ed25519 key hashed from all 64 bytes of the node: JavaScript |
//! | `identus-x25519` | the beginning of SHA-512 over the node's left half, as an X25519 key |
//!
//! One seed and path give another public key under each, and none of them is the node's own. They follow the
//! text of those libraries (Apollo at ccee22b) and were not compared with keys that the libraries made:
//! before such a key is relied on, its public key is held against one that is known. New keys are made under
//! [`Scheme::Slip10Ed25519`] and [`Scheme::Slip10Curve25519`].
//!
//! `identus-x25519` makes an agreement key of a secret that also signs. Nothing else here does, and whoever
//! records uses writes the profile's name into the record.

use std::fmt;
use std::str::FromStr;

use keywright_primitives::agreement::{X25519PrivateKey, X25519PublicKey};
use keywright_primitives::ed25519_extended::ExtendedKey;
use keywright_primitives::hash::sha512;
use keywright_primitives::signature::SigningKey;
use keywright_secret::{Secret, wipe};

use crate::Error;
use crate::node::PrivateNode;
use crate::scheme::{Scheme, UnknownScheme};
use crate::stack::swept;

/// Whose way of making a key of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Profile {
    /// JavaScript.
    IdentusEd25519Js,
    /// JVM, Android and Apple.
    IdentusEd25519Jvm,
    /// All of them, for agreement.
    IdentusX25519,
}

/// A key under a profile. Wiped on drop.
pub struct ProfileKey {
    profile: Profile,
    /// The seed of Ed25519, the scalar, or the X25519 key.
    key: Secret<32>,
    /// The prefix of nonces, where the key is a scalar.
    prefix: Secret<32>,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Self; 3] = [
        Self::IdentusEd25519Js,
        Self::IdentusEd25519Jvm,
        Self::IdentusX25519,
    ];

    /// The name that stays the same for ever.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::IdentusEd25519Js => "identus-ed25519-js",
            Self::IdentusEd25519Jvm => "identus-ed25519-jvm",
            Self::IdentusX25519 => "identus-x25519",
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Profile {
    type Err = UnknownScheme;

    fn from_str(text: &str) -> Result<Self, UnknownScheme> {
        let found = Self::ALL.into_iter().find(|one| one.name() == text);
        found.ok_or(UnknownScheme)
    }
}

impl ProfileKey {
    /// The key of a node.
    ///
    /// # Errors
    /// [`Error::OtherScheme`] unless the node is one of BIP32-Ed25519.
    pub fn of(node: &PrivateNode, profile: Profile) -> Result<Self, Error> {
        if node.scheme() != Scheme::Bip32Ed25519V2 {
            return Err(Error::OtherScheme {
                found: node.scheme(),
                expected: Scheme::Bip32Ed25519V2,
            });
        }
        let copy = |bytes: &[u8; 32]| Secret::from_fill(|key| *key = *bytes);
        if profile == Profile::IdentusEd25519Jvm {
            let (key, prefix) = (copy(&node.key), copy(&[0; 32]));
            return Ok(Self {
                profile,
                key,
                prefix,
            });
        }
        let mut both = [0; 64];
        both[..32].copy_from_slice(&node.key);
        both[32..].copy_from_slice(&node.right);
        let mut hash = match profile {
            Profile::IdentusX25519 => sha512(&both[..32]),
            _ => sha512(&both),
        };
        let half = |from: usize| {
            Secret::from_fill(|key: &mut [u8; 32]| key.copy_from_slice(&hash[from..from + 32]))
        };
        let (hashed, prefix) = (half(0), half(32));
        let key = Secret::from_fill(|key| {
            *key = *hashed.expose();
            key[0] &= 0xF8;
            key[31] = key[31] & 0x7F | 0x40;
        });
        wipe(&mut both);
        wipe(&mut hash);
        Ok(Self {
            profile,
            key,
            prefix,
        })
    }

    /// The profile.
    #[must_use]
    pub const fn profile(&self) -> Profile {
        self.profile
    }

    /// The public key, 32 bytes.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn public_key(&self) -> Result<[u8; 32], Error> {
        swept(|| match self.profile {
            Profile::IdentusEd25519Js => {
                Ok(ExtendedKey::new(self.key.expose(), self.prefix.expose()).public_key())
            }
            Profile::IdentusEd25519Jvm => {
                Ok(*SigningKey::from_seed(&self.key)?.verifying_key().as_bytes())
            }
            Profile::IdentusX25519 => Ok(X25519PrivateKey::from_bytes(&self.key)?.public_bytes()?),
        })
    }

    /// An Ed25519 signature.
    ///
    /// # Errors
    /// [`Error::WrongUse`] for the agreement key.
    pub fn sign(&self, message: &[u8]) -> Result<[u8; 64], Error> {
        swept(|| match self.profile {
            Profile::IdentusEd25519Js => {
                Ok(ExtendedKey::new(self.key.expose(), self.prefix.expose()).sign(message))
            }
            Profile::IdentusEd25519Jvm => Ok(SigningKey::from_seed(&self.key)?.sign(message)),
            Profile::IdentusX25519 => Err(Error::WrongUse {
                scheme: Scheme::Bip32Ed25519V2,
                wanted: "sign under identus-x25519",
            }),
        })
    }

    /// The secret shared with the owner of `peer`.
    ///
    /// # Errors
    /// [`Error::WrongUse`] for a key that signs, [`Error::PublicKeyRejected`] or [`Error::Rejected`] if the
    /// peer's key makes no secret.
    pub fn agree(&self, peer: &[u8; 32]) -> Result<Secret<32>, Error> {
        if self.profile != Profile::IdentusX25519 {
            return Err(Error::WrongUse {
                scheme: Scheme::Bip32Ed25519V2,
                wanted: "agree under this profile",
            });
        }
        let peer = X25519PublicKey::from_bytes(peer).map_err(|_| Error::PublicKeyRejected)?;
        swept(|| Ok(X25519PrivateKey::from_bytes(&self.key)?.agree(&peer)?))
    }
}

impl fmt::Debug for ProfileKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProfileKey({})", self.profile)
    }
}
