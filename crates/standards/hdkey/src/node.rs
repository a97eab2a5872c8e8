//! A private node: a key, the chain code under which its children are made, and where it stands.

use std::fmt;

use keywright_primitives::mac::Sha512Pads;
use keywright_secret::{SecretBytes, wipe};

use crate::Error;
use crate::derive;
use crate::path::{ChildIndex, Path};
use crate::public::{PublicKey, PublicNode};
use crate::scheme::{Curve, Scheme, SeedScheme};
use crate::seed::Seed;
use crate::stack::swept;

/// Whether a tree makes children that a public parent could make too.
///
/// One such child's private key and its parent's public node together give the parent's private key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "they are made or they are not")]
pub enum SoftChildren {
    /// They are made, and public nodes may be handed out.
    Allow,
    /// They are refused.
    Refuse,
}

/// A private key with its names and its place. Wiped on drop; handed out in a box or by reference only, so
/// that moving it leaves no copy behind.
pub struct PrivateNode {
    pub(crate) scheme: Scheme,
    pub(crate) seed: SeedScheme,
    pub(crate) soft: SoftChildren,
    /// A public node at or above this one was handed out.
    pub(crate) shared: bool,
    pub(crate) depth: u8,
    /// Of the parent's public key, which costs a multiplication, so it is computed where it is asked for.
    pub(crate) parent: Option<[u8; 4]>,
    pub(crate) index: ChildIndex,
    /// What the curve takes: a big-endian scalar, a seed, or the little-endian left half.
    pub(crate) key: [u8; 32],
    /// The right half under BIP32-Ed25519, else unused.
    pub(crate) right: [u8; 32],
    pub(crate) chain: [u8; 32],
}

/// A private key on its way out, with the names without which it must not be used again.
#[derive(Debug)]
#[non_exhaustive]
pub struct ExportedKey {
    /// The scheme of the tree.
    pub scheme: Scheme,
    /// How the tree's seed came to be.
    pub seed_scheme: SeedScheme,
    /// 32 bytes: a big-endian scalar, or a seed of Ed25519 or X25519. 64 under BIP32-Ed25519: scalar and
    /// nonce prefix.
    pub key: SecretBytes,
}

impl PrivateNode {
    /// The root of a tree.
    ///
    /// # Errors
    /// [`Error::SeedLengthOfScheme`], [`Error::InvalidRoot`], or [`Error::WrongUse`] for SLIP-0021, whose
    /// trees are [`crate::slip21::LabelNode`]s.
    pub fn root(seed: &Seed, scheme: Scheme) -> Result<Box<Self>, Error> {
        let mut node = Self::blank(scheme, seed.scheme());
        derive::root(&mut node, seed.expose())?;
        Ok(node)
    }

    /// The key at `path` below the root of a seed. One allocation, whatever the depth.
    ///
    /// # Errors
    /// Those of [`Self::root`] and [`Self::derive`].
    pub fn derive_from(seed: &Seed, scheme: Scheme, path: &Path) -> Result<Box<Self>, Error> {
        let mut node = Self::root(seed, scheme)?;
        node.descend(path.children())?;
        Ok(node)
    }

    /// The root of a BIP32-Ed25519 tree that is given as scalar, nonce prefix and chain code.
    ///
    /// # Errors
    /// [`Error::PrivateKeyRejected`] unless the scalar is of the form that a root has: a multiple of 8 below
    /// 2^254 + 2^253 with the bit of 2^254 set.
    pub fn from_ed25519_parts(
        scalar: &[u8; 32],
        prefix: &[u8; 32],
        chain: &[u8; 32],
    ) -> Result<Box<Self>, Error> {
        if scalar[0] & 7 != 0 || scalar[31] & 0xE0 != 0x40 {
            return Err(Error::PrivateKeyRejected);
        }
        let mut node = Self::blank(Scheme::Bip32Ed25519V2, SeedScheme::Node);
        node.key = *scalar;
        node.right = *prefix;
        node.chain = *chain;
        Ok(node)
    }

    /// A node without a key yet, at the root.
    pub(crate) fn blank(scheme: Scheme, seed: SeedScheme) -> Box<Self> {
        Box::new(Self::empty(scheme, seed))
    }

    /// As [`Self::blank`], where the memory is there already. Without a key it may be moved.
    pub(crate) const fn empty(scheme: Scheme, seed: SeedScheme) -> Self {
        Self {
            scheme,
            seed,
            soft: SoftChildren::Refuse,
            shared: false,
            depth: 0,
            parent: Some([0; 4]),
            index: ChildIndex::from_raw(0),
            key: [0; 32],
            right: [0; 32],
            chain: [0; 32],
        }
    }

    /// Takes all that `other` holds.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.scheme = other.scheme;
        self.seed = other.seed;
        self.soft = other.soft;
        self.shared = other.shared;
        self.depth = other.depth;
        self.parent = other.parent;
        self.index = other.index;
        self.key = other.key;
        self.right = other.right;
        self.chain = other.chain;
    }

    /// A second node of the same key.
    pub(crate) fn duplicate(&self) -> Box<Self> {
        let mut node = Self::blank(self.scheme, self.seed);
        node.copy_from(self);
        node
    }

    /// Switches on children that a public parent could make, here and below, and public nodes with them.
    pub fn allow_soft(&mut self) {
        self.soft = SoftChildren::Allow;
    }

    /// The key at `path` below this node. One allocation, whatever the depth.
    ///
    /// # Errors
    /// [`Error::HardenedOnly`], [`Error::SoftChild`], [`Error::InvalidChild`] with the component's position,
    /// or [`Error::TooDeep`].
    pub fn derive(&self, path: &Path) -> Result<Box<Self>, Error> {
        let mut node = self.duplicate();
        node.descend(path.children())?;
        Ok(node)
    }

    /// Steps down these children in place.
    pub(crate) fn descend(&mut self, children: &[ChildIndex]) -> Result<(), Error> {
        children.iter().enumerate().try_for_each(|(above, child)| {
            let pads = Sha512Pads::new(&self.chain);
            derive::step(self, &pads, *child, None).map_err(|error| error.below(above))
        })
    }

    /// As [`Self::derive`], with the fingerprint of the key's parent, which extended keys carry. Costs one
    /// public key more.
    ///
    /// # Errors
    /// Those of [`Self::derive`].
    pub fn derive_with_parent(&self, path: &Path) -> Result<Box<Self>, Error> {
        let mut node = self.duplicate();
        if let Some((last, above)) = path.children().split_last() {
            node.descend(above)?;
            let parent = node.fingerprint()?;
            node.descend(&[*last])
                .map_err(|error| error.below(above.len()))?;
            node.parent = Some(parent);
        }
        Ok(node)
    }

    /// The scheme of the tree.
    #[must_use]
    pub const fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// How the tree's seed came to be.
    #[must_use]
    pub const fn seed_scheme(&self) -> SeedScheme {
        self.seed
    }

    /// Whether children that a public parent could make are switched on.
    #[must_use]
    pub const fn soft_children(&self) -> SoftChildren {
        self.soft
    }

    /// Levels below the root.
    #[must_use]
    pub const fn depth(&self) -> u8 {
        self.depth
    }

    /// Which child this is; 0 for the root.
    #[must_use]
    pub const fn index(&self) -> ChildIndex {
        self.index
    }

    /// The public key. Costs one multiplication.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn public_key(&self) -> Result<PublicKey, Error> {
        swept(|| PublicKey::of(self))
    }

    /// The first four bytes of the name of the public key, by which children name their parent.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn fingerprint(&self) -> Result<[u8; 4], Error> {
        Ok(self.public_key()?.fingerprint())
    }

    /// Hands out the public node, from which others make the public keys of all soft children. From then on
    /// no private key leaves this node, nor one derived of it.
    ///
    /// # Errors
    /// [`Error::PublicNodesOff`] unless soft children are allowed, [`Error::WrongUse`] if the scheme has none.
    pub fn share_public(&mut self) -> Result<PublicNode, Error> {
        if !self.scheme.has_soft_children() {
            return Err(Error::WrongUse {
                scheme: self.scheme,
                wanted: "have public nodes",
            });
        }
        if self.soft == SoftChildren::Refuse {
            return Err(Error::PublicNodesOff);
        }
        let node = PublicNode::of(self)?;
        self.shared = true;
        Ok(node)
    }

    /// Lets the private key out.
    ///
    /// # Errors
    /// [`Error::PublicNodeShared`] if a public node at or above this one was handed out.
    pub fn export(&self) -> Result<ExportedKey, Error> {
        self.may_leave()?;
        let key = match self.scheme {
            Scheme::Bip32Ed25519V2 => [self.key, self.right].concat(),
            _ => self.key.to_vec(),
        };
        Ok(ExportedKey {
            scheme: self.scheme,
            seed_scheme: self.seed,
            key: SecretBytes::from_vec(key),
        })
    }

    pub(crate) const fn may_leave(&self) -> Result<(), Error> {
        match self.shared {
            true => Err(Error::PublicNodeShared),
            false => Ok(()),
        }
    }

    fn wipe(&mut self) {
        wipe(&mut self.key);
        wipe(&mut self.right);
        wipe(&mut self.chain);
    }

    /// Refuses a key of another curve.
    pub(crate) fn expect(&self, curve: Curve, wanted: &'static str) -> Result<(), Error> {
        match self.scheme.curve() == Some(curve) {
            true => Ok(()),
            false => Err(Error::WrongUse {
                scheme: self.scheme,
                wanted,
            }),
        }
    }
}

impl Drop for PrivateNode {
    fn drop(&mut self) {
        self.wipe();
    }
}

impl fmt::Debug for PrivateNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "PrivateNode({}, {}, depth {})",
            self.scheme, self.seed, self.depth
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a dropped node does to itself, seen while it is still there.
    #[test]
    fn a_wiped_node_has_no_key_left_where_it_was() {
        let mut node = PrivateNode::blank(Scheme::Bip32Ed25519V2, SeedScheme::Raw);
        (node.key, node.right, node.chain) = ([1; 32], [2; 32], [3; 32]);
        node.wipe();
        let all = [node.key, node.right, node.chain].concat();
        assert!(all.iter().all(|byte| *byte == 0));
    }

    #[test]
    fn printing_shows_names_and_depth_only() {
        let node = PrivateNode::blank(Scheme::Slip10Ed25519, SeedScheme::Bip39);
        assert_eq!(
            format!("{node:?}"),
            "PrivateNode(slip10-ed25519, bip39, depth 0)"
        );
    }
}
