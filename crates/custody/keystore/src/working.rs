//! Requests of keys that sign, agree, authenticate, or grow a tree, item by item.

use std::sync::Arc;

use keywright_clock::Clock;
use keywright_custody::{
    HolderError, HolderOperation, Item, Items, KeyMaterial, Reply, Request, Usage,
};
use keywright_primitives::random::RandomStream;
use keywright_secret::SecretBytes;
use keywright_secret::locked::Slot;
use keywright_types::{Code, Custody, Export, KeySpec, KeyVersion, Purpose};

use crate::macs::{MacVersion, makes_macs};
use crate::pairs::{self, KeyPair};
use crate::trees::{Prefixes, SEED_LEN, Tree, scheme_of};
use crate::uses::{Held, OwnKey, Private, curve_of};

/// What a version is once its secret is open.
pub(crate) enum Working {
    Mac(Box<MacVersion>),
    Own(OwnKey),
    /// The slot is the place of the pair, which lies elsewhere, among what is loaded: as many are kept as there are
    /// slots.
    Pair {
        key: Box<KeyPair>,
        _seat: Option<Slot>,
    },
    Tree(Tree),
}

/// The same, as a version remembers it.
pub(crate) struct Loaded(pub(crate) Arc<Working>);

/// Whether it is one of these operations.
pub(crate) const fn is_work(operation: HolderOperation) -> bool {
    matches!(
        operation,
        HolderOperation::Agree
            | HolderOperation::ExportKey
            | HolderOperation::Mac
            | HolderOperation::PublicKey
            | HolderOperation::Sign
            | HolderOperation::Verify
            | HolderOperation::VerifyMac
            | HolderOperation::Xpub
    )
}

/// Whether keys of this purpose do this operation.
pub(crate) const fn does(purpose: Purpose, operation: HolderOperation) -> bool {
    use HolderOperation as H;
    match purpose {
        Purpose::Mac => matches!(operation, H::Mac | H::VerifyMac),
        Purpose::Sign => matches!(operation, H::Sign | H::Verify | H::PublicKey),
        Purpose::Agree => matches!(operation, H::Agree | H::PublicKey),
        Purpose::Tree => matches!(
            operation,
            H::Agree | H::ExportKey | H::PublicKey | H::Sign | H::Verify | H::Xpub
        ),
        _ => false,
    }
}

/// Whether the secret lies outside the arena.
pub(crate) const fn is_pair(spec: &KeySpec) -> bool {
    matches!(spec.purpose, Purpose::Sign) && pairs::is_pair(spec.algorithm)
}

/// Bytes of the secret of keys like this, where it is no document.
pub(crate) const fn secret_len(spec: &KeySpec) -> usize {
    match spec.purpose {
        Purpose::Tree => SEED_LEN,
        Purpose::Sign => pairs::secret_len(spec.algorithm),
        _ => 32,
    }
}

/// Whether keys of this specification are kept.
pub(crate) const fn keeps(spec: &KeySpec) -> bool {
    match spec.purpose {
        Purpose::Mac => makes_macs(spec.algorithm),
        Purpose::Sign => curve_of(spec.algorithm).is_some() || pairs::is_pair(spec.algorithm),
        Purpose::Agree => curve_of(spec.algorithm).is_some(),
        Purpose::Tree => scheme_of(spec.algorithm).is_some(),
        _ => false,
    }
}

impl Working {
    /// What a version is whose secret this is, 32 bytes in each half.
    pub(crate) fn new(material: &KeyMaterial, halves: Vec<Held>) -> Result<Self, HolderError> {
        let spec = material.spec();
        let unsupported = HolderError::Unsupported(spec.custody);
        let failed = |code| match code {
            Code::Unsupported => unsupported,
            _ => HolderError::Unavailable,
        };
        if spec.custody != Custody::Wrapped || !keeps(spec) {
            return Err(unsupported);
        }
        if spec.purpose == Purpose::Tree {
            let seed = <[Held; 2]>::try_from(halves).map_err(|_| HolderError::KeyRejected)?;
            return Tree::new(material, seed).map(Self::Tree);
        }
        let [secret] = <[Held; 1]>::try_from(halves).map_err(|_| HolderError::KeyRejected)?;
        match spec.purpose {
            Purpose::Mac => MacVersion::new(spec.algorithm, secret.expose())
                .map(|version| Self::Mac(Box::new(version)))
                .map_err(failed),
            _ => OwnKey::new(spec.algorithm, secret)
                .map(Self::Own)
                .map_err(failed),
        }
    }
}

impl Working {
    /// What a version is whose secret lies outside the arena.
    pub(crate) fn pair(
        material: &KeyMaterial,
        secret: &SecretBytes,
        seat: Option<Slot>,
    ) -> Result<Self, HolderError> {
        let spec = material.spec();
        if spec.custody != Custody::Wrapped || !is_pair(spec) {
            return Err(HolderError::Unsupported(spec.custody));
        }
        let pair = KeyPair::new(spec.algorithm, secret).map_err(|_| HolderError::Unavailable)?;
        Ok(Self::Pair {
            key: Box::new(pair),
            _seat: seat,
        })
    }
}

/// Does a request; `working` are its versions, opened, in their order. A long batch is left where its deadline passes:
/// nobody waits for it any more, and others wait for the thread.
pub(crate) fn run(
    request: &Request,
    (working, prefixes, clock): (&[Arc<Working>], &Prefixes, &Clock),
    items: &Items,
    random: &mut RandomStream,
) -> Result<Reply, HolderError> {
    let room = items.len() * room_of(request.operation);
    let mut reply = Reply::with_capacity(items.len(), room);
    for item in items.iter() {
        if request.expired(clock) {
            return Err(HolderError::DeadlineExceeded);
        }
        let material = request.versions.get(item.version);
        let version = material.map_or(KeyVersion::NONE, |material| material.version());
        let both = material.zip(working.get(item.version));
        reply.push(version, |out| {
            let (material, working) = both.ok_or(Code::VersionNotFound)?;
            let operation = request.operation;
            if operation == HolderOperation::ExportKey && material.spec().export != Export::Plain {
                return Err(Code::Unsupported);
            }
            let job = (operation, &item);
            one(job, (working, prefixes), random, out)?;
            Ok([0; 16])
        });
    }
    Ok(reply)
}

fn one(
    (operation, item): (HolderOperation, &Item<'_>),
    (working, prefixes): (&Working, &Prefixes),
    random: &mut RandomStream,
    out: &mut Vec<u8>,
) -> Result<(), Code> {
    let usage = Usage::read(item.aad).ok_or(Code::Internal)?;
    let asked = (&usage, item.payload);
    match working {
        Working::Mac(key) => key.work(operation, asked, out),
        Working::Pair { key, .. } => {
            if !usage.path.is_empty() {
                return Err(Code::PathInvalid);
            }
            key.work(operation, asked, out)
        }
        Working::Own(key) => {
            if !usage.path.is_empty() {
                return Err(Code::PathInvalid);
            }
            Private::Own(key).work(operation, asked, random, out)
        }
        Working::Tree(tree) => {
            let key = tree.key(prefixes, operation, &usage)?;
            key.work(operation, asked, random, out)
        }
    }
}

/// As many bytes as a result has at most, where it is a secret: the buffer does not grow and leave a copy. What is
/// public may be longer.
const fn room_of(operation: HolderOperation) -> usize {
    match operation {
        HolderOperation::PublicKey => 512,
        HolderOperation::ExportKey => 128,
        HolderOperation::Xpub => 112,
        HolderOperation::Verify | HolderOperation::VerifyMac => 1,
        _ => 65,
    }
}
