//! Public keys and public nodes.

use keywright_primitives::agreement::X25519PrivateKey;
use keywright_primitives::ed25519_extended::{ExtendedKey, ExtendedPublicKey};
use keywright_primitives::hash::hash160;
use keywright_primitives::mac::Sha512Pads;
use keywright_primitives::signature::{SigningKey, VerifyingKey};
use keywright_primitives::{p256, secp256k1};
use keywright_secret::Secret;

use crate::Error;
use crate::derive::eightfold;
use crate::node::PrivateNode;
use crate::path::{ChildIndex, Path};
use crate::scheme::{Curve, Scheme, SeedScheme};
use crate::r#use::Digest;

/// A public key with the name of its scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey {
    scheme: Scheme,
    /// A compressed point, or a zero and 32 bytes for the curves of 255 bits.
    serialized: [u8; 33],
}

/// A public key with a chain code: it makes the public keys of all children that are not hardened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicNode {
    pub(crate) seed: SeedScheme,
    pub(crate) depth: u8,
    pub(crate) parent: Option<[u8; 4]>,
    pub(crate) index: ChildIndex,
    pub(crate) key: PublicKey,
    pub(crate) chain: [u8; 32],
}

impl PublicKey {
    pub(crate) fn of(node: &PrivateNode) -> Result<Self, Error> {
        let serialized = match node.scheme {
            Scheme::Bip32Secp256k1 | Scheme::Slip10Secp256k1 => {
                secp256k1::PrivateKey::from_bytes(&node.key)?
                    .public_key()?
                    .to_compressed()
            }
            Scheme::Slip10NistP256 => p256::PrivateKey::from_bytes(&node.key)?
                .public_key()?
                .to_compressed(),
            Scheme::Slip10Ed25519 => {
                let key = SigningKey::from_seed(&secret(&node.key))?;
                padded(key.verifying_key().as_bytes())
            }
            Scheme::Slip10Curve25519 => {
                let key = X25519PrivateKey::from_bytes(&secret(&node.key))?;
                padded(key.public_key()?.as_bytes())
            }
            Scheme::Bip32Ed25519V2 => {
                padded(&ExtendedKey::new(&node.key, &node.right).public_key())
            }
            Scheme::Slip21 => return Err(no_public_key(node.scheme)),
        };
        Ok(Self {
            scheme: node.scheme,
            serialized,
        })
    }

    /// Reads a public key: a SEC 1 point for secp256k1 and P-256, else 32 bytes.
    ///
    /// # Errors
    /// [`Error::PublicKeyRejected`] if it is none of the scheme's curve.
    pub fn from_bytes(scheme: Scheme, bytes: &[u8]) -> Result<Self, Error> {
        let refused = Error::PublicKeyRejected;
        let serialized = match scheme.curve() {
            Some(Curve::Secp256k1) => {
                let key = secp256k1::PublicKey::from_sec1(bytes).map_err(|_| refused)?;
                key.to_compressed()
            }
            Some(Curve::P256) => {
                let key = p256::PublicKey::from_sec1(bytes).map_err(|_| refused)?;
                key.to_compressed()
            }
            Some(Curve::Ed25519) => {
                let array = bytes.try_into().map_err(|_| refused)?;
                ExtendedPublicKey::from_bytes(array).map_err(|_| refused)?;
                padded(bytes)
            }
            Some(Curve::Curve25519) => {
                let array: &[u8; 32] = bytes.try_into().map_err(|_| refused)?;
                padded(array)
            }
            None => return Err(no_public_key(scheme)),
        };
        Ok(Self { scheme, serialized })
    }

    /// The scheme.
    #[must_use]
    pub const fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// As the standards of the curve write it: a compressed point of 33 bytes, or 32 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match self.scheme.curve() {
            Some(Curve::Secp256k1 | Curve::P256) => &self.serialized,
            _ => &self.serialized[1..],
        }
    }

    /// As trees write it: 33 bytes, the first of which is zero for the curves of 255 bits.
    #[must_use]
    pub const fn serialized(&self) -> &[u8; 33] {
        &self.serialized
    }

    /// The first four bytes of the hash by which trees name the key.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 4] {
        let [a, b, c, d, ..] = hash160(&self.serialized);
        [a, b, c, d]
    }

    /// Verifies ECDSA over secp256k1 or P-256: r and s, 32 bytes each.
    ///
    /// # Errors
    /// [`Error::Rejected`] if it does not fit or s is the higher one, [`Error::WrongUse`] for another curve.
    pub fn verify_ecdsa(&self, digest: &Digest, signature: &[u8; 64]) -> Result<(), Error> {
        match self.scheme.curve() {
            Some(Curve::Secp256k1) => {
                let key = secp256k1::PublicKey::from_sec1(&self.serialized)?;
                Ok(key.verify_ecdsa(digest.as_bytes(), signature)?)
            }
            Some(Curve::P256) => {
                let key = p256::PublicKey::from_sec1(&self.serialized)?;
                Ok(key.verify_ecdsa(digest.as_bytes(), signature)?)
            }
            _ => Err(self.wrong_use("verify ECDSA")),
        }
    }

    /// Verifies a Schnorr signature after BIP-340.
    ///
    /// # Errors
    /// [`Error::Rejected`] if it does not fit, [`Error::WrongUse`] for another curve.
    pub fn verify_schnorr(&self, message: &[u8], signature: &[u8; 64]) -> Result<(), Error> {
        if self.scheme.curve() != Some(Curve::Secp256k1) {
            return Err(self.wrong_use("verify BIP-340"));
        }
        let [_, x_only @ ..] = self.serialized;
        Ok(secp256k1::verify_schnorr(&x_only, message, signature)?)
    }

    /// Verifies Ed25519.
    ///
    /// # Errors
    /// [`Error::Rejected`] if it does not fit, [`Error::WrongUse`] for another curve.
    pub fn verify_ed25519(&self, message: &[u8], signature: &[u8; 64]) -> Result<(), Error> {
        if self.scheme.curve() != Some(Curve::Ed25519) {
            return Err(self.wrong_use("verify Ed25519"));
        }
        let [_, bytes @ ..] = self.serialized;
        Ok(VerifyingKey::from_bytes(bytes).verify(message, signature)?)
    }

    const fn wrong_use(&self, wanted: &'static str) -> Error {
        Error::WrongUse {
            scheme: self.scheme,
            wanted,
        }
    }
}

impl PublicNode {
    pub(crate) fn of(node: &PrivateNode) -> Result<Self, Error> {
        Ok(Self {
            seed: node.seed,
            depth: node.depth,
            parent: node.parent,
            index: node.index,
            key: node.public_key()?,
            chain: node.chain,
        })
    }

    /// The public key.
    #[must_use]
    pub const fn key(&self) -> &PublicKey {
        &self.key
    }

    /// The scheme.
    #[must_use]
    pub const fn scheme(&self) -> Scheme {
        self.key.scheme
    }

    /// How the tree's seed came to be.
    #[must_use]
    pub const fn seed_scheme(&self) -> SeedScheme {
        self.seed
    }

    /// Levels below the root.
    #[must_use]
    pub const fn depth(&self) -> u8 {
        self.depth
    }

    /// The chain code. With it and the public key, every soft child's public key is known.
    #[must_use]
    pub const fn chain_code(&self) -> &[u8; 32] {
        &self.chain
    }

    /// The node of a BIP32-Ed25519 tree that is given as public key and chain code.
    ///
    /// # Errors
    /// [`Error::PublicKeyRejected`] if the key is no point of the curve.
    pub fn from_ed25519_parts(key: &[u8; 32], chain: &[u8; 32]) -> Result<Self, Error> {
        Ok(Self {
            seed: SeedScheme::Node,
            depth: 0,
            parent: Some([0; 4]),
            index: ChildIndex::from_raw(0),
            key: PublicKey::from_bytes(Scheme::Bip32Ed25519V2, key)?,
            chain: *chain,
        })
    }

    /// The public node at `path` below this one.
    ///
    /// # Errors
    /// [`Error::HardenedPublicChild`] or [`Error::InvalidChild`] with the component's position,
    /// [`Error::TooDeep`].
    pub fn derive(&self, path: &Path) -> Result<Self, Error> {
        let mut node = self.clone();
        for (above, child) in path.children().iter().enumerate() {
            node.step(*child).map_err(|error| error.below(above))?;
        }
        Ok(node)
    }

    fn step(&mut self, child: ChildIndex) -> Result<(), Error> {
        let depth = self.depth.checked_add(1).ok_or(Error::TooDeep)?;
        if child.is_hardened() {
            return Err(Error::HardenedPublicChild { position: 1 });
        }
        let parent = self.key.fingerprint();
        let pads = Sha512Pads::new(&self.chain);
        match self.scheme() {
            Scheme::Bip32Ed25519V2 => self.step_ed25519(&pads, child)?,
            _ => self.step_by_sum(&pads, child)?,
        }
        self.depth = depth;
        self.parent = Some(parent);
        self.index = child;
        Ok(())
    }

    fn step_by_sum(&mut self, pads: &Sha512Pads, child: ChildIndex) -> Result<(), Error> {
        let number = child.to_raw().to_be_bytes();
        let mut image = [0; 64];
        pads.mac_into(&[&self.key.serialized, &number], &mut image);
        let (mut left, mut right) = ([0; 32], [0; 32]);
        loop {
            left.copy_from_slice(&image[..32]);
            right.copy_from_slice(&image[32..]);
            match self.sum(&left) {
                Ok(serialized) => {
                    self.key.serialized = serialized;
                    self.chain = right;
                    return Ok(());
                }
                Err(error) if self.scheme() == Scheme::Bip32Secp256k1 => return Err(error),
                Err(_) => pads.mac_into(&[&[1], &right, &number], &mut image),
            }
        }
    }

    fn sum(&self, tweak: &[u8; 32]) -> Result<[u8; 33], Error> {
        let invalid = |_| Error::InvalidChild { position: 1 };
        match self.scheme().curve() {
            Some(Curve::Secp256k1) => {
                let key = secp256k1::PublicKey::from_sec1(&self.key.serialized)?;
                Ok(key.tweak(tweak).map_err(invalid)?.to_compressed())
            }
            Some(Curve::P256) => {
                let key = p256::PublicKey::from_sec1(&self.key.serialized)?;
                Ok(key.tweak(tweak).map_err(invalid)?.to_compressed())
            }
            _ => Err(self.key.wrong_use("have soft children")),
        }
    }

    fn step_ed25519(&mut self, pads: &Sha512Pads, child: ChildIndex) -> Result<(), Error> {
        let number = child.to_raw().to_le_bytes();
        let [_, own @ ..] = self.key.serialized;
        let (mut z, mut c) = ([0; 64], [0; 64]);
        pads.mac_into(&[&[2], &own, &number], &mut z);
        pads.mac_into(&[&[3], &own, &number], &mut c);
        let sum = ExtendedPublicKey::from_bytes(&own)?.tweak(&eightfold(&z));
        let sum = sum.map_err(|_| Error::InvalidChild { position: 1 })?;
        self.key.serialized = padded(&sum.to_bytes());
        self.chain.copy_from_slice(&c[32..]);
        Ok(())
    }
}

const fn no_public_key(scheme: Scheme) -> Error {
    Error::WrongUse {
        scheme,
        wanted: "have public keys",
    }
}

fn secret(key: &[u8; 32]) -> Secret<32> {
    Secret::from_fill(|secret| secret.copy_from_slice(key))
}

/// A zero and 32 bytes.
fn padded(key: &[u8]) -> [u8; 33] {
    let mut out = [0; 33];
    for (out, byte) in out[1..].iter_mut().zip(key) {
        *out = *byte;
    }
    out
}
