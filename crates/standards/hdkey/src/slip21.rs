//! SLIP-0021: symmetric keys by labels.
//!
//! A node is 64 bytes: the first half makes children, the second half is the key. Labels are texts of the
//! caller's; their order matters, and each is one level, whatever characters it has.

use keywright_primitives::mac::Sha512Pads;
use keywright_secret::Secret;

use crate::scheme::{Scheme, SeedScheme};
use crate::seed::Seed;

/// A place in the tree of labels.
#[derive(Debug)]
pub struct LabelNode {
    halves: Secret<64>,
    seed: SeedScheme,
}

impl LabelNode {
    /// The root over a seed.
    #[must_use]
    pub fn root(seed: &Seed) -> Self {
        let pads = Sha512Pads::new(b"Symmetric key seed");
        Self {
            halves: Secret::from_fill(|halves| pads.mac_into(&[seed.expose()], halves)),
            seed: seed.scheme(),
        }
    }

    /// The child of this label.
    #[must_use]
    pub fn child(&self, label: &str) -> Self {
        let pads = Sha512Pads::new(&self.halves.expose()[..32]);
        Self {
            halves: Secret::from_fill(|out| pads.mac_into(&[&[0], label.as_bytes()], out)),
            seed: self.seed,
        }
    }

    /// The key below these labels.
    #[must_use]
    pub fn derive(&self, labels: &[&str]) -> Self {
        let mut node = Self {
            halves: Secret::from_fill(|halves| halves.copy_from_slice(self.halves.expose())),
            seed: self.seed,
        };
        for label in labels {
            node = node.child(label);
        }
        node
    }

    /// The key of this node.
    #[must_use]
    pub fn key(&self) -> Secret<32> {
        Secret::from_fill(|key| key.copy_from_slice(&self.halves.expose()[32..]))
    }

    /// The name of the scheme.
    #[must_use]
    pub const fn scheme(&self) -> Scheme {
        Scheme::Slip21
    }

    /// How the seed came to be.
    #[must_use]
    pub const fn seed_scheme(&self) -> SeedScheme {
        self.seed
    }
}
