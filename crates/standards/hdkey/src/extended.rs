//! Extended keys: `xprv` and `xpub` (BIP-32, "Serialization format"), 78 bytes in Base58Check.
//!
//! ```text
//! version 4 | depth 1 | parent fingerprint 4 | child number 4 | chain code 32 | key 33
//! ```
//!
//! The format has no room for the name of a scheme, so whoever reads one says which it is.

use keywright_primitives::secp256k1;
use keywright_secret::{SecretBytes, wipe};

use crate::Error;
use crate::base58::{self, Wrong};
use crate::node::{PrivateNode, SoftChildren};
use crate::path::ChildIndex;
use crate::public::{PublicKey, PublicNode};
use crate::scheme::{Curve, Scheme, SeedScheme};

const LENGTH: usize = 78;
const PRIVATE: [u8; 4] = [0x04, 0x88, 0xAD, 0xE4];
const PUBLIC: [u8; 4] = [0x04, 0x88, 0xB2, 0x1E];

/// Why a text is no extended key. None shows a part of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExtendedKeyError {
    /// A character that is no digit of Base58.
    #[error("character {position} of the extended key is no digit of base58")]
    Character {
        /// The character, the first being 1.
        position: usize,
    },
    /// Another length than 78 bytes.
    #[error("an extended key has 78 bytes and a checksum")]
    Length,
    /// The checksum.
    #[error("the checksum of the extended key does not fit")]
    Checksum,
    /// Neither `xprv` nor `xpub`.
    #[error("the extended key is of an unknown version, neither xprv nor xpub")]
    Version,
    /// A root with a parent.
    #[error("the extended key has depth 0 and a parent's fingerprint")]
    RootWithParent,
    /// A root that is a child.
    #[error("the extended key has depth 0 and a child number")]
    RootWithIndex,
    /// `xpub` with a private key in it.
    #[error("the version says public and the key is private")]
    PrivateInPublic,
    /// `xprv` with a public key in it.
    #[error("the version says private and the key is public")]
    PublicInPrivate,
    /// `xpub` whose key begins with something else than 2 or 3.
    #[error("the public key begins with {first:#04x}, not with 0x02 or 0x03")]
    PublicPrefix {
        /// The first byte.
        first: u8,
    },
    /// `xprv` whose key begins with something else than 0.
    #[error("the private key begins with {first:#04x}, not with 0x00")]
    PrivatePrefix {
        /// The first byte.
        first: u8,
    },
    /// A private key of zero.
    #[error("the private key is zero")]
    PrivateZero,
    /// A private key beyond the order.
    #[error("the private key is not below the order of the curve")]
    PrivateTooLarge,
    /// A public key that is no point.
    #[error("the public key is no point of the curve")]
    NotOnCurve,
    /// The parent's fingerprint was never computed.
    #[error("the parent's fingerprint is unknown; derive the key with its parent")]
    ParentUnknown,
}

/// What a text holds.
#[derive(Debug)]
#[non_exhaustive]
pub enum ExtendedKey {
    /// `xprv`.
    Private(Box<PrivateNode>),
    /// `xpub`.
    Public(PublicNode),
}

impl ExtendedKey {
    /// Reads `xprv` or `xpub` as a key of `scheme`, which is one over secp256k1. The node's soft children are
    /// off, and what its seed was is unknown.
    ///
    /// # Errors
    /// [`ExtendedKeyError`], or [`Error::WrongUse`] for a scheme without extended keys.
    pub fn parse(text: &str, scheme: Scheme) -> Result<Self, Error> {
        supported(scheme)?;
        let mut bytes = base58::decode::<LENGTH>(text).map_err(ExtendedKeyError::from)?;
        let read = read(&bytes, scheme);
        wipe(&mut bytes);
        Ok(read?)
    }
}

impl From<Wrong> for ExtendedKeyError {
    fn from(wrong: Wrong) -> Self {
        match wrong {
            Wrong::Character(position) => Self::Character {
                position: position + 1,
            },
            Wrong::Checksum => Self::Checksum,
            Wrong::Length => Self::Length,
        }
    }
}

fn read(bytes: &[u8; LENGTH], scheme: Scheme) -> Result<ExtendedKey, ExtendedKeyError> {
    let (version, rest) = bytes
        .split_first_chunk::<4>()
        .ok_or(ExtendedKeyError::Length)?;
    let (&[depth], rest) = rest
        .split_first_chunk::<1>()
        .ok_or(ExtendedKeyError::Length)?;
    let (parent, rest) = rest
        .split_first_chunk::<4>()
        .ok_or(ExtendedKeyError::Length)?;
    let (index, rest) = rest
        .split_first_chunk::<4>()
        .ok_or(ExtendedKeyError::Length)?;
    let (chain, key) = rest
        .split_first_chunk::<32>()
        .ok_or(ExtendedKeyError::Length)?;
    let key: &[u8; 33] = key.try_into().map_err(|_| ExtendedKeyError::Length)?;
    let index = ChildIndex::from_raw(u32::from_be_bytes(*index));
    if depth == 0 && *parent != [0; 4] {
        return Err(ExtendedKeyError::RootWithParent);
    }
    if depth == 0 && index.to_raw() != 0 {
        return Err(ExtendedKeyError::RootWithIndex);
    }
    match *version {
        PRIVATE => {
            let mut node = PrivateNode::blank(scheme, SeedScheme::Node);
            private(key, &mut node.key)?;
            node.depth = depth;
            node.parent = Some(*parent);
            node.index = index;
            node.chain = *chain;
            Ok(ExtendedKey::Private(node))
        }
        PUBLIC => Ok(ExtendedKey::Public(PublicNode {
            seed: SeedScheme::Node,
            depth,
            parent: Some(*parent),
            index,
            key: public(key, scheme)?,
            chain: *chain,
        })),
        _ => Err(ExtendedKeyError::Version),
    }
}

fn private(key: &[u8; 33], out: &mut [u8; 32]) -> Result<(), ExtendedKeyError> {
    let [first, bytes @ ..] = key;
    match first {
        0 => {}
        2 | 3 => return Err(ExtendedKeyError::PublicInPrivate),
        _ => return Err(ExtendedKeyError::PrivatePrefix { first: *first }),
    }
    if secp256k1::is_private_key(bytes) {
        *out = *bytes;
        Ok(())
    } else if *bytes == [0; 32] {
        Err(ExtendedKeyError::PrivateZero)
    } else {
        Err(ExtendedKeyError::PrivateTooLarge)
    }
}

fn public(key: &[u8; 33], scheme: Scheme) -> Result<PublicKey, ExtendedKeyError> {
    match key[0] {
        2 | 3 => PublicKey::from_bytes(scheme, key).map_err(|_| ExtendedKeyError::NotOnCurve),
        0 => Err(ExtendedKeyError::PrivateInPublic),
        first => Err(ExtendedKeyError::PublicPrefix { first }),
    }
}

fn supported(scheme: Scheme) -> Result<(), Error> {
    match scheme.curve() {
        Some(Curve::Secp256k1) => Ok(()),
        _ => Err(Error::WrongUse {
            scheme,
            wanted: "have extended keys",
        }),
    }
}

/// The fields before the key.
struct Front {
    version: [u8; 4],
    depth: u8,
    parent: Option<[u8; 4]>,
    index: ChildIndex,
}

impl Front {
    fn text(&self, chain: &[u8; 32], key: &[u8; 33]) -> Result<String, Error> {
        let parent = self.parent.ok_or(ExtendedKeyError::ParentUnknown)?;
        let mut bytes = [0; LENGTH];
        bytes[..4].copy_from_slice(&self.version);
        bytes[4] = self.depth;
        bytes[5..9].copy_from_slice(&parent);
        bytes[9..13].copy_from_slice(&self.index.to_raw().to_be_bytes());
        bytes[13..45].copy_from_slice(chain);
        bytes[45..].copy_from_slice(key);
        let text = base58::encode(&bytes);
        wipe(&mut bytes);
        Ok(text)
    }
}

impl PrivateNode {
    /// The node as `xprv`. It takes a whole subtree along, so it needs what a public node needs, and that
    /// none was handed out.
    ///
    /// # Errors
    /// [`Error::PublicNodesOff`], [`Error::PublicNodeShared`], [`Error::WrongUse`] for a scheme without
    /// extended keys, [`ExtendedKeyError::ParentUnknown`] unless it was made by
    /// [`Self::derive_with_parent`].
    pub fn to_xprv(&self) -> Result<SecretBytes, Error> {
        supported(self.scheme)?;
        self.may_leave()?;
        if self.soft_children() == SoftChildren::Refuse {
            return Err(Error::PublicNodesOff);
        }
        let mut key = [0; 33];
        key[1..].copy_from_slice(&self.key);
        let front = Front {
            version: PRIVATE,
            depth: self.depth,
            parent: self.parent,
            index: self.index,
        };
        let text = front.text(&self.chain, &key);
        wipe(&mut key);
        Ok(SecretBytes::from_vec(text?.into_bytes()))
    }
}

impl PublicNode {
    /// The node as `xpub`.
    ///
    /// # Errors
    /// [`Error::WrongUse`] for a scheme without extended keys, [`ExtendedKeyError::ParentUnknown`] unless its
    /// private node was made by [`PrivateNode::derive_with_parent`].
    pub fn to_xpub(&self) -> Result<String, Error> {
        supported(self.scheme())?;
        let front = Front {
            version: PUBLIC,
            depth: self.depth,
            parent: self.parent,
            index: self.index,
        };
        front.text(&self.chain, self.key.serialized())
    }
}
