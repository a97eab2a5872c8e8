//! One key of a tree: from the seed, or from a prefix that is kept.

use keywright_clock::Clock;
use keywright_hdkey::cache::{Keep, Limits, Owner, PrefixCache, Wanted};
use keywright_hdkey::{Digest, PrivateNode, PublicKey, Scheme, SoftChildren};
use keywright_measure::{Fault, TargetError, Worker};
use keywright_primitives::secp256k1;

use super::super::output::Output;
use super::super::row::{Row, refused};
use super::super::worker::{Act, Ring, rotating};
use super::answers::{Task, identus, path, tasks, tasks_of};

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
pub(in super::super) fn private(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    cold(row, Scheme::Bip32Secp256k1, Then::Nothing)
}

/// Five levels, private and public.
pub(in super::super) fn both(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    cold(row, Scheme::Bip32Secp256k1, Then::Public)
}

/// Five levels and a signature.
pub(in super::super) fn sign(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    cold(row, Scheme::Bip32Secp256k1, Then::Sign)
}

/// Five levels under SLIP-0010 on P-256.
pub(in super::super) fn nist256p1(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    cold(row, Scheme::Slip10NistP256, Then::Nothing)
}

/// Five levels under SLIP-0010 on Ed25519.
pub(in super::super) fn ed25519(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    cold(row, Scheme::Slip10Ed25519, Then::Nothing)
}

/// The published comparison: four levels.
pub(in super::super) fn four_levels(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
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
    let cache = cache.map_err(|error| row.fails(error))?;
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
pub(in super::super) fn account(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    kept(row, Keep::Account, Then::Nothing)
}

/// The account is kept; private and public.
pub(in super::super) fn account_both(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    kept(row, Keep::Account, Then::Public)
}

/// The account is kept; a signature.
pub(in super::super) fn account_sign(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    kept(row, Keep::Account, Then::Sign)
}

/// The parent is kept.
pub(in super::super) fn usage(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    kept(row, Keep::Usage, Then::Nothing)
}
