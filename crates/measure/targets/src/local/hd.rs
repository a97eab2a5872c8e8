//! Trees of keys: one key of an Identus wallet, from the seed or from a kept prefix.
//!
//! | row | one operation |
//! |---|---|
//! | `hd.identus.derive.private` | from a seed of 64 bytes down five hardened levels, the private key |
//! | `hd.identus.derive` | the same, and its public key |
//! | `hd.identus.derive.cached` | the private key, the account `m/29'/29'/did'` being kept |
//! | `hd.identus.derive.usage` | the private key, its parent being kept |
//! | `hd.identus.derive.cached.public`, `hd.identus.sign`, `hd.identus.sign.cached` | with the public key, with an ECDSA signature |
//! | `hd.identus.siblings` | the private keys of 1,000 indices under one parent |
//! | `hd.benchmark.derive` | the four levels `m/29'/0'/0'/i'` of the published comparison, private and public key |
//! | `hd.public.secp256k1` | a public key of a private key that is there |
//! | `hd.slip10-...derive.private` | five hardened levels under another scheme, the private key |
//! | `mac.hmac-sha512.new-key.37` | the backend's HMAC-SHA-512 over 37 bytes, each under a key of its own: what a level costs whoever keeps nothing |
//!
//! Paths are parsed beforehand. Answers are put together from the backend's HMAC and the sum of keys.

use keywright_clock::Clock;
use keywright_hdkey::cache::{Keep, Limits, Owner, PrefixCache, Wanted};
use keywright_hdkey::{
    Batch, ChildIndex, Digest, Path, PrivateNode, PublicKey, Scheme, Seed, SoftChildren,
};
use keywright_measure::{Fault, TargetError, Worker};
use keywright_primitives::mac::HmacSha512;
use keywright_primitives::{p256, secp256k1};
use keywright_secret::Secret;

use super::output::Output;
use super::row::{Row, Seeded, refused};
use super::worker::{Act, Ring, answered, ring_of, rotating};

/// Keys in a batch of siblings.
pub(super) const SIBLINGS: u32 = 1_000;

/// Bytes that a hardened child is hashed from.
const CHILD_LEN: usize = 37;

/// A seed, a path and the key that lies there.
pub(super) struct Task {
    pub(super) seed: Seed,
    pub(super) path: Path,
    pub(super) answer: Secret<32>,
}

/// What an operation made. Each field is there if the operation makes it.
#[derive(Default)]
pub(super) struct Derived {
    node: Option<Box<PrivateNode>>,
    public: Option<PublicKey>,
    signature: Option<[u8; 64]>,
    #[cfg(test)]
    spoilt: bool,
}

impl Output for Derived {
    /// Both are held against the private key beside the input instead.
    fn equals(&self, _: &Self) -> bool {
        false
    }

    #[cfg(test)]
    fn spoil(&mut self) {
        self.spoilt = true;
    }
}

impl Derived {
    fn fits(&self, task: &Task) -> bool {
        #[cfg(test)]
        if self.spoilt {
            return false;
        }
        let Some(node) = &self.node else {
            return false;
        };
        let private = node
            .export()
            .is_ok_and(|key| key.key.expose() == task.answer.expose());
        let known = secp256k1::PrivateKey::from_bytes(task.answer.expose())
            .and_then(|key| key.public_key())
            .map(|key| key.to_compressed());
        let public = match &self.public {
            Some(public) => known.is_ok_and(|known| public.as_bytes() == known),
            None => true,
        };
        let signature = match &self.signature {
            Some(signature) => node
                .public_key()
                .is_ok_and(|key| key.verify_ecdsa(&MESSAGE, signature).is_ok()),
            None => true,
        };
        private && public && signature
    }
}

/// What is signed: a digest costs no hash of ours.
const MESSAGE: Digest = Digest::from_bytes([0x5A; 32]);

/// What comes after the derivation.
#[derive(Clone, Copy)]
enum Then {
    Nothing,
    Public,
    Sign,
}

struct Deriving<F> {
    derive: F,
    then: Then,
}

impl<F> Act for Deriving<F>
where
    F: FnMut(&Task) -> Result<Box<PrivateNode>, keywright_hdkey::Error> + Send,
{
    type Input = Task;
    type Output = Derived;

    #[inline]
    fn act(&mut self, task: &Task, output: &mut Derived) -> Result<(), Fault> {
        let node = (self.derive)(task).map_err(refused)?;
        match self.then {
            Then::Nothing => {}
            Then::Public => output.public = Some(node.public_key().map_err(refused)?),
            Then::Sign => output.signature = Some(node.sign_ecdsa(&MESSAGE).map_err(refused)?),
        }
        output.node = Some(node);
        Ok(())
    }

    fn is_right(&mut self, task: &Task, output: &Derived) -> bool {
        output.fits(task)
    }
}

fn worker<F>(ring: Ring<Task>, derive: F, then: Then) -> Box<dyn Worker>
where
    F: FnMut(&Task) -> Result<Box<PrivateNode>, keywright_hdkey::Error> + Send + 'static,
{
    rotating(Deriving { derive, then }, ring, Derived::default())
}

// === Cold ===

fn cold(row: &Row<'_>, scheme: Scheme, then: Then) -> Result<Box<dyn Worker>, TargetError> {
    let ring = tasks(row, scheme, |number| identus(row, number % 3, number))?;
    let derive = move |task: &Task| PrivateNode::derive_from(&task.seed, scheme, &task.path);
    Ok(worker(ring, derive, then))
}

/// Five levels, private.
pub(super) fn private(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    cold(row, Scheme::Bip32Secp256k1, Then::Nothing)
}

/// Five levels, private and public.
pub(super) fn both(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    cold(row, Scheme::Bip32Secp256k1, Then::Public)
}

/// Five levels and a signature.
pub(super) fn sign(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    cold(row, Scheme::Bip32Secp256k1, Then::Sign)
}

/// Five levels under SLIP-0010 on P-256.
pub(super) fn nist256p1(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    cold(row, Scheme::Slip10NistP256, Then::Nothing)
}

/// Five levels under SLIP-0010 on Ed25519.
pub(super) fn ed25519(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    cold(row, Scheme::Slip10Ed25519, Then::Nothing)
}

/// The published comparison: four levels.
pub(super) fn four_levels(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let scheme = Scheme::Bip32Secp256k1;
    let ring = tasks(row, scheme, |number| path(row, &[29, 0, 0, number + 1]))?;
    let derive = move |task: &Task| PrivateNode::derive_from(&task.seed, scheme, &task.path);
    Ok(worker(ring, derive, Then::Public))
}

// === Kept prefixes ===

fn kept(row: &Row<'_>, keep: Keep, then: Then) -> Result<Box<dyn Worker>, TargetError> {
    // One tree of one tenant, as a wallet in use has it.
    let seed = row.seeded().array::<64>();
    let scheme = Scheme::Bip32Secp256k1;
    let ring = tasks_of(row, scheme, |number| Ok((seed, identus(row, 0, number)?)))?;
    let cache = PrefixCache::new(Clock::system(), Limits::default());
    let cache = cache.map_err(|error| row.lacks(error))?;
    let owner = Owner {
        tenant: [1; 16],
        tree: [2; 16],
    };
    let derive = move |task: &Task| {
        let wanted = Wanted {
            owner,
            scheme,
            soft: SoftChildren::Refuse,
            path: &task.path,
            keep,
        };
        cache.derive(&wanted, || PrivateNode::root(&task.seed, scheme))
    };
    Ok(worker(ring, derive, then))
}

/// The account is kept.
pub(super) fn account(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    kept(row, Keep::Account, Then::Nothing)
}

/// The account is kept; private and public.
pub(super) fn account_both(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    kept(row, Keep::Account, Then::Public)
}

/// The account is kept; a signature.
pub(super) fn account_sign(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    kept(row, Keep::Account, Then::Sign)
}

/// The parent is kept.
pub(super) fn usage(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    kept(row, Keep::Usage, Then::Nothing)
}

// === Siblings ===

/// A parent and the private keys of its first children.
struct Family {
    parent: Box<PrivateNode>,
    answers: Vec<Secret<32>>,
}

#[derive(Default)]
struct Made {
    batch: Option<Batch>,
    #[cfg(test)]
    spoilt: bool,
}

impl Output for Made {
    fn equals(&self, _: &Self) -> bool {
        false
    }

    #[cfg(test)]
    fn spoil(&mut self) {
        self.spoilt = true;
    }
}

struct Multiplying;

impl Act for Multiplying {
    type Input = Family;
    type Output = Made;

    #[inline]
    fn act(&mut self, family: &Family, output: &mut Made) -> Result<(), Fault> {
        let siblings = family.parent.siblings().map_err(refused)?;
        output.batch = Some(siblings.derive((0..SIBLINGS).map(hardened)));
        Ok(())
    }

    fn is_right(&mut self, family: &Family, output: &Made) -> bool {
        #[cfg(test)]
        if output.spoilt {
            return false;
        }
        let Some(batch) = &output.batch else {
            return false;
        };
        let mut pairs = batch.iter().zip(&family.answers);
        batch.len() == family.answers.len()
            && pairs.all(|(node, answer)| {
                let key = node.and_then(PrivateNode::export);
                key.is_ok_and(|key| key.key.expose() == answer.expose())
            })
    }
}

/// A thousand children of one parent.
pub(super) fn siblings(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let mut seeded = row.seeded();
    let scheme = Scheme::Bip32Secp256k1;
    let ring = Ring::fill(1, || {
        let seed = seeded.array::<64>();
        let at = path(row, &[29, 29, 0, 1])?;
        let parent = made(&seed, scheme, &at).map_err(|error| row.lacks(error))?;
        let answers = (0..SIBLINGS).map(|number| {
            let mut level = parent.copy();
            level.step(scheme, hardened(number)).map(|()| level.key)
        });
        let answers: Result<Vec<_>, _> = answers.collect();
        let seed = Seed::raw(&seed).map_err(|error| row.lacks(error))?;
        let parent = PrivateNode::derive_from(&seed, scheme, &at);
        Ok(Family {
            parent: parent.map_err(|error| row.lacks(error))?,
            answers: answers.map_err(|error| row.lacks(error))?,
        })
    })?;
    Ok(rotating(Multiplying, ring, Made::default()))
}

const fn hardened(number: u32) -> ChildIndex {
    ChildIndex::from_raw(number | 1 << 31)
}

// === Parts ===

/// A private key whose public key is wanted.
struct Private(Box<PrivateNode>);

/// One public key.
pub(super) fn public_key(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let ring = tasks(row, Scheme::Bip32Secp256k1, |number| {
        identus(row, 0, number)
    })?;
    let mut pairs = Vec::new();
    for turn in 0..1 << ring_of(64) {
        let task = ring.at(turn);
        let seed = Seed::raw(task.seed.expose()).map_err(|error| row.lacks(error))?;
        let node = PrivateNode::derive_from(&seed, Scheme::Bip32Secp256k1, &task.path);
        let node = node.map_err(|error| row.lacks(error))?;
        let answer = secp256k1::PrivateKey::from_bytes(task.answer.expose())
            .and_then(|key| key.public_key())
            .map_err(|error| row.lacks(error))?;
        pairs.push((Private(node), answer.to_compressed()));
    }
    let mut pairs = pairs.into_iter();
    let ring = Ring::fill(ring_of(64), || {
        pairs.next().ok_or_else(|| row.lacks("no key"))
    })?;
    Ok(answered(ring, [0; 33], |key: &Private, out| {
        *out = *key.0.public_key().map_err(refused)?.serialized();
        Ok(())
    }))
}

/// One HMAC over what a hardened child is hashed from, under a new key.
pub(super) fn hmac(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let mut seeded = row.seeded();
    let ring = Ring::fill(ring_of(64), || {
        let (key, message) = (seeded.array::<32>(), seeded.array::<CHILD_LEN>());
        let mut answer = [0; 64];
        keywright_primitives::mac::Sha512Pads::new(&key).mac_into(&[&message], &mut answer);
        Ok(((key, message), answer))
    })?;
    Ok(answered(
        ring,
        [0; 64],
        |(key, message): &([u8; 32], [u8; CHILD_LEN]), out| {
            *out = HmacSha512::new(key).map_err(refused)?.mac(message);
            Ok(())
        },
    ))
}

// === Inputs and answers ===

/// As many tasks as fit the ring, each with a seed of its own.
pub(super) fn tasks(
    row: &Row<'_>,
    scheme: Scheme,
    mut path: impl FnMut(u32) -> Result<Path, TargetError>,
) -> Result<Ring<Task>, TargetError> {
    let mut seeded: Seeded = row.seeded();
    tasks_of(row, scheme, |number| {
        Ok((seeded.array::<64>(), path(number)?))
    })
}

fn tasks_of(
    row: &Row<'_>,
    scheme: Scheme,
    mut of: impl FnMut(u32) -> Result<([u8; 64], Path), TargetError>,
) -> Result<Ring<Task>, TargetError> {
    let mut number = 0;
    Ring::fill(ring_of(64), || {
        let (seed, path) = of(number)?;
        number += 1;
        let answer = made(&seed, scheme, &path).map_err(|error| row.lacks(error))?;
        Ok(Task {
            seed: Seed::raw(&seed).map_err(|error| row.lacks(error))?,
            path,
            answer: answer.key,
        })
    })
}

/// The path of a key of an Identus wallet.
pub(super) fn identus(row: &Row<'_>, did: u32, index: u32) -> Result<Path, TargetError> {
    path(row, &[29, 29, did, 1 + index % 8, index])
}

fn path(row: &Row<'_>, numbers: &[u32]) -> Result<Path, TargetError> {
    Path::new(numbers.iter().copied().map(hardened).collect()).map_err(|error| row.lacks(error))
}

/// A key and its chain code, put together from the backend's HMAC.
struct Level {
    key: Secret<32>,
    chain: Secret<32>,
}

impl Level {
    fn of(image: &[u8; 64]) -> Self {
        Self {
            key: Secret::from_fill(|key| key.copy_from_slice(&image[..32])),
            chain: Secret::from_fill(|chain| chain.copy_from_slice(&image[32..])),
        }
    }

    fn copy(&self) -> Self {
        Self {
            key: Secret::from_fill(|key| key.copy_from_slice(self.key.expose())),
            chain: Secret::from_fill(|chain| chain.copy_from_slice(self.chain.expose())),
        }
    }

    /// A hardened child. Invalid numbers are met once in 2^32 times at most, and are an error here.
    fn step(
        &mut self,
        scheme: Scheme,
        child: ChildIndex,
    ) -> Result<(), keywright_primitives::Error> {
        let hmac = HmacSha512::new(self.chain.expose())?;
        let image = hmac.mac_pieces(&[&[0], self.key.expose(), &child.to_raw().to_be_bytes()]);
        let child = Self::of(&image);
        let key = Secret::try_from_fill(|key| {
            *key = *self.key.expose();
            match scheme {
                Scheme::Slip10NistP256 => p256::tweak_private(key, child.key.expose()),
                Scheme::Slip10Ed25519 => {
                    *key = *child.key.expose();
                    Ok(())
                }
                _ => secp256k1::tweak_private(key, child.key.expose()),
            }
        })?;
        *self = Self {
            key,
            chain: child.chain,
        };
        Ok(())
    }
}

fn made(seed: &[u8], scheme: Scheme, path: &Path) -> Result<Level, keywright_primitives::Error> {
    let root: &[u8] = match scheme {
        Scheme::Slip10NistP256 => b"Nist256p1 seed",
        Scheme::Slip10Ed25519 => b"ed25519 seed",
        _ => b"Bitcoin seed",
    };
    let mut level = Level::of(&HmacSha512::new(root)?.mac(seed));
    for child in path.children() {
        level.step(scheme, *child)?;
    }
    Ok(level)
}

#[cfg(feature = "peers")]
pub(super) mod peers {
    //! The same keys by the `bip32` crate, which computes the public key of each parent on the way, and a
    //! public key by libsecp256k1 as its binding offers it.

    use super::*;

    /// Five levels, private and public, by the `bip32` crate.
    pub(in super::super) fn bip32_crate(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
        let ring = tasks(row, Scheme::Bip32Secp256k1, |number| {
            identus(row, number % 3, number)
        })?;
        let ring = with_public(row, &ring)?;
        Ok(answered(
            ring,
            [0; 33],
            |(seed, path): &(Vec<u8>, Path), out| {
                let mut node = bip32::XPrv::new(seed).map_err(refused)?;
                for child in path.children() {
                    node = node
                        .derive_child(bip32::ChildNumber(child.to_raw()))
                        .map_err(refused)?;
                }
                *out = node.public_key().to_bytes();
                Ok(())
            },
        ))
    }

    /// One public key by libsecp256k1.
    pub(in super::super) fn libsecp256k1(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
        let mut seeded = row.seeded();
        let ring = Ring::fill(ring_of(64), || {
            let bytes = seeded.array::<32>();
            let answer = secp256k1::PrivateKey::from_bytes(&bytes)
                .and_then(|key| key.public_key())
                .map_err(|error| row.lacks(error))?;
            let key = ::secp256k1::SecretKey::from_byte_array(bytes);
            Ok((
                key.map_err(|error| row.lacks(error))?,
                answer.to_compressed(),
            ))
        })?;
        let context = ::secp256k1::Secp256k1::signing_only();
        Ok(answered(
            ring,
            [0; 33],
            move |key: &::secp256k1::SecretKey, out| {
                *out = ::secp256k1::PublicKey::from_secret_key(&context, key).serialize();
                Ok(())
            },
        ))
    }

    type WithPublic = ((Vec<u8>, Path), [u8; 33]);

    fn with_public(row: &Row<'_>, tasks: &Ring<Task>) -> Result<Ring<WithPublic>, TargetError> {
        let mut turn = 0;
        Ring::fill(ring_of(64), || {
            let task = tasks.at(turn);
            turn += 1;
            let public = secp256k1::PrivateKey::from_bytes(task.answer.expose())
                .and_then(|key| key.public_key())
                .map_err(|error| row.lacks(error))?;
            let input = (task.seed.expose().to_vec(), task.path.clone());
            Ok((input, public.to_compressed()))
        })
    }
}
