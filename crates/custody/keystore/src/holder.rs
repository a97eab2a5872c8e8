//! The embedded keystore as a [`KeyHolder`].

use std::sync::Arc;

use keywright_clock::Clock;
use keywright_custody::{
    Detail, HolderError, HolderOperation, Items, KeyHolder, KeyMaterial, NewKey, Particulars,
    Placement, Reply, Request, RootKey, StreamStart,
};
use keywright_envelope::stream::{Prefix, StreamOpener, StreamSealer};
use keywright_envelope::{Aad, Binding, Envelope};
use keywright_policy::Permit;
use keywright_primitives::random::RandomStream;
use keywright_secret::locked::Locking;
use keywright_secret::{Secret, SecretBytes, wipe};
use keywright_types::{
    Algorithm, Custody, Export, InstallationId, KeyId, KeySpec, Operation, Purpose,
};
use smallvec::SmallVec;

use crate::cache::{Cache, Loaded, Pair, Use, derive_pair, suite_of};
use crate::formats::{self, Ready};
use crate::messages::{Job, OVERHEAD};
use crate::pairs;
use crate::readers::{self, ReadingKey};
use crate::root::{Error, OpenRoot, Root};
use crate::trees::Prefixes;
use crate::uses::{Held, is_private_key};
use crate::working::{self, Working};

/// The embedded holder.
#[derive(Debug)]
pub struct Keystore {
    root: Box<dyn RootKey>,
    cache: Cache,
    prefixes: Prefixes,
    clock: Clock,
}

/// A secret of the service itself, sealed by the root: neither a tenant's nor a caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServiceKey {
    /// The seed that signs heads of the audit log.
    AuditSigning,
    /// The key of the MAC over rows of the store.
    StoreRows,
}

impl ServiceKey {
    /// What the sealed secret is nailed to, so that one cannot stand in for the other.
    const fn attributes(self) -> &'static [u8] {
        match self {
            Self::AuditSigning => b"keywright/service-key/v1/audit-signing",
            Self::StoreRows => b"keywright/service-key/v1/store-rows",
        }
    }
}

impl Keystore {
    /// A holder over an opened root with room for `slots` unwrapped keys.
    ///
    /// # Errors
    /// [`Error::Io`] if the arena cannot be mapped, [`Error::Seal`] if the backend refuses.
    pub fn new(root: &Root, slots: usize, clock: Clock) -> Result<Self, Error> {
        Self::with_root(Box::new(OpenRoot::new(root)?), slots, clock)
    }

    /// A holder under a root that is kept somewhere else, such as in a token.
    ///
    /// # Errors
    /// [`Error::Io`] if the arena cannot be mapped.
    pub fn with_root(root: Box<dyn RootKey>, slots: usize, clock: Clock) -> Result<Self, Error> {
        let cache = Cache::new(slots).map_err(Error::Io)?;
        let prefixes = Prefixes::new(clock.clone());
        Ok(Self {
            root,
            cache,
            prefixes,
            clock,
        })
    }

    /// Which installation this is the root of.
    #[must_use]
    pub fn installation(&self) -> InstallationId {
        self.root.installation()
    }

    /// Whether the memory for unwrapped keys is locked.
    #[must_use]
    pub fn locking(&self) -> Locking {
        self.cache.locking()
    }

    /// Makes a secret of the service itself and returns it sealed by the root.
    ///
    /// # Errors
    /// [`Error::Backend`] or [`Error::Seal`] if the backend refuses.
    pub fn generate_service_key(&self, which: ServiceKey) -> Result<Vec<u8>, Error> {
        let mut random = RandomStream::new()?;
        let secret: Secret<32> = random.secret()?;
        let message = Secret::from_fill(|message: &mut [u8; 48]| {
            let (id, rest) = message.split_at_mut(16);
            id.copy_from_slice(self.root.key_id().as_bytes());
            rest.copy_from_slice(secret.expose());
        });
        let aad = Aad::EMPTY.attributes(which.attributes());
        let mut out = Vec::new();
        self.root.seal(&message, &aad, &mut random, &mut out)?;
        Ok(out)
    }

    /// Opens a secret of the service itself.
    ///
    /// # Errors
    /// [`Error::Rejected`] if it is not `which` of this root.
    pub fn open_service_key(&self, which: ServiceKey, sealed: &[u8]) -> Result<Secret<32>, Error> {
        let aad = Aad::EMPTY.attributes(which.attributes());
        self.open_under_root(sealed, &aad, self.root.key_id())
            .map_err(|error| match error {
                HolderError::KeyRejected => Error::Rejected,
                other => Error::Root(other),
            })
    }

    fn open_under_root<const N: usize>(
        &self,
        sealed: &[u8],
        aad: &Aad<'_>,
        id: KeyId,
    ) -> Result<Secret<N>, HolderError> {
        open_key(sealed, id, |envelope, out| {
            self.root.open(envelope, aad, out)
        })
    }

    /// The keys for one use of `material`, unwrapped first if need be.
    pub(crate) fn pair(
        &self,
        material: &Arc<KeyMaterial>,
        for_use: Use,
    ) -> Result<Pair, HolderError> {
        let loaded = || {
            material
                .cell()
                .with(|loaded: &Loaded| loaded.pair(material, for_use).cloned())
        };
        if let Some(pair) = loaded() {
            return pair;
        }
        let secret: Secret<32> = self.unwrap(material)?;
        self.cache.load(material, secret.expose());
        // More threads than slots may have left no room, or have taken it again already. The key is
        // in hand, and works once without a place in the arena.
        loaded().unwrap_or_else(|| derive_pair(secret.expose(), material, for_use))
    }

    /// The keys for streams under `material`, which are those of its messages under another suite.
    fn stream_pair(&self, material: &Arc<KeyMaterial>) -> Result<Pair, HolderError> {
        let spec = material.spec();
        if spec.custody != Custody::Wrapped || spec.purpose != Purpose::Seal {
            return Err(HolderError::Unsupported(spec.custody));
        }
        self.pair(material, Use::Streams)
    }

    /// A format key's version, opened first if need be.
    fn ready(&self, material: &Arc<KeyMaterial>) -> Result<Arc<Ready>, HolderError> {
        let loaded = material
            .cell()
            .with(|loaded: &formats::Loaded| Arc::clone(&loaded.ready));
        if let Some(ready) = loaded {
            return Ok(ready);
        }
        let secret: Secret<32> = self.unwrap(material)?;
        let ready = Arc::new(Ready::new(secret.expose(), material)?);
        self.cache
            .load_as(material, secret.expose(), |slot| formats::Loaded {
                _secret: slot,
                ready: Arc::clone(&ready),
            });
        Ok(ready)
    }

    /// A version that signs, agrees, authenticates or is a tree, opened first if need be.
    fn working(&self, material: &Arc<KeyMaterial>) -> Result<Arc<Working>, HolderError> {
        let loaded = material
            .cell()
            .with(|loaded: &working::Loaded| Arc::clone(&loaded.0));
        if let Some(working) = loaded {
            return Ok(working);
        }
        if working::is_pair(material.spec()) {
            return self.working_pair(material);
        }
        let mut halves = Vec::with_capacity(2);
        if working::secret_len(material.spec()) == 32 {
            halves.push(self.hold(self.unwrap::<32>(material)?));
        } else {
            let seed: Secret<64> = self.unwrap(material)?;
            for half in seed.expose().as_chunks::<32>().0 {
                halves.push(self.hold(Secret::from_fill(|copy| *copy = *half)));
            }
        }
        // Without room in the arena the key works this once and is not remembered.
        let kept = halves.iter().all(|half| matches!(half, Held::Slot(_)));
        let working = Arc::new(Working::new(material, halves)?);
        if kept {
            let loaded = working::Loaded(Arc::clone(&working));
            self.cache.remember(material, loaded);
        }
        Ok(working)
    }

    /// The same for a pair, whose secret has a seat in the arena and lies elsewhere.
    fn working_pair(&self, material: &Arc<KeyMaterial>) -> Result<Arc<Working>, HolderError> {
        let secret = self.unwrap_whole(material)?;
        let seat = self.cache.insert(&[0; 32]);
        let kept = seat.is_some();
        let working = Arc::new(Working::pair(material, &secret, seat)?);
        if kept {
            let loaded = working::Loaded(Arc::clone(&working));
            self.cache.remember(material, loaded);
        }
        Ok(working)
    }

    /// The keys of those versions that were brought in from the seed service, in the places of the versions.
    pub(crate) fn readers(
        &self,
        versions: &[Arc<KeyMaterial>],
    ) -> Result<Vec<Option<Arc<ReadingKey>>>, HolderError> {
        if versions.iter().all(|version| version.reader().is_none()) {
            return Ok(Vec::new());
        }
        let key = |version: &Arc<KeyMaterial>| {
            let reads = version.reader().is_some();
            reads.then(|| self.reading_key(version)).transpose()
        };
        versions.iter().map(key).collect()
    }

    /// The key of a version that reads, opened first if need be.
    fn reading_key(&self, material: &Arc<KeyMaterial>) -> Result<Arc<ReadingKey>, HolderError> {
        let loaded = material
            .cell()
            .with(|loaded: &readers::Loaded| Arc::clone(&loaded.key));
        if let Some(key) = loaded {
            return Ok(key);
        }
        let secret: Secret<32> = self.unwrap(material)?;
        let key = Arc::new(ReadingKey::new(material, &secret)?);
        self.cache
            .load_as(material, secret.expose(), |slot| readers::Loaded {
                _secret: slot,
                key: Arc::clone(&key),
            });
        Ok(key)
    }

    /// In the arena, if room can be found.
    fn hold(&self, secret: Secret<32>) -> Held {
        match self.cache.insert(secret.expose()) {
            Some(slot) => Held::Slot(slot),
            None => Held::Heap(secret),
        }
    }

    fn unwrap<const N: usize>(&self, material: &KeyMaterial) -> Result<Secret<N>, HolderError> {
        Secret::copy_from(self.unwrap_whole(material)?.expose()).ok_or(HolderError::KeyRejected)
    }

    /// A secret of any length.
    fn unwrap_whole(&self, material: &KeyMaterial) -> Result<SecretBytes, HolderError> {
        let attributes = material.attributes();
        let aad = Aad::EMPTY.attributes(&attributes);
        let (sealed, id) = (material.sealed(), material.key());
        let Some(parent) = material.parent() else {
            return open_secret(sealed, id, |envelope, out| {
                self.root.open(envelope, &aad, out)
            });
        };
        let pair = self.pair(parent, Use::Keys)?;
        open_secret(sealed, id, |envelope, out| {
            let opened = pair.1.open_into(envelope, &aad, out);
            opened.map_err(|_| HolderError::KeyRejected)
        })
    }
}

impl KeyHolder for Keystore {
    fn name(&self) -> &'static str {
        "keystore"
    }

    fn supports(&self, spec: &KeySpec, operation: HolderOperation) -> bool {
        let purpose = match operation {
            HolderOperation::Reseal if spec.purpose == Purpose::Deterministic => {
                Purpose::Deterministic
            }
            HolderOperation::Seal
            | HolderOperation::Open
            | HolderOperation::Reseal
            | HolderOperation::MakeDataKey
            | HolderOperation::OpenDataKey => Purpose::Seal,
            HolderOperation::SealDeterministic | HolderOperation::OpenDeterministic => {
                Purpose::Deterministic
            }
            HolderOperation::Tokenize | HolderOperation::Detokenize | HolderOperation::Mask => {
                Purpose::Tokenise
            }
            other => {
                return spec.custody == Custody::Wrapped
                    && keeps(spec)
                    && working::does(spec.purpose, other);
            }
        };
        spec.custody == Custody::Wrapped && spec.purpose == purpose && keeps(spec)
    }

    fn placement(&self) -> Placement {
        self.root.placement()
    }

    /// Keys in the arena wait for nobody, wherever the root is. One that is evicted at this very moment costs
    /// its thread one operation of the root.
    fn placement_of(&self, versions: &[Arc<KeyMaterial>]) -> Placement {
        let loaded = |material: &Arc<KeyMaterial>| material.cell().is_loaded();
        if versions.iter().all(loaded) {
            Placement::Inline
        } else {
            self.root.placement()
        }
    }

    fn generate(&self, permit: &Permit, new: NewKey) -> Result<KeyMaterial, HolderError> {
        self.generate_with(permit, new, Particulars::default())
    }

    fn generate_with(
        &self,
        permit: &Permit,
        new: NewKey,
        particulars: Particulars<'_>,
    ) -> Result<KeyMaterial, HolderError> {
        let NewKey { identity, parent } = new;
        let Particulars { detail, secret } = particulars;
        let makes = matches!(
            permit.operation(),
            Operation::ContextCreate
                | Operation::KeyRotate
                | Operation::HomeCreate
                | Operation::ReaderImport
        );
        let reads = permit.operation() == Operation::ReaderImport;
        if permit.key() != identity.key || !makes {
            return Err(HolderError::PermitMismatch);
        }
        let spec = identity.spec;
        let reader = match detail.as_deref() {
            Some(Detail::Reader(reader)) => Some(reader),
            _ => None,
        };
        // One that is used in a token is not kept here; and what is made here reads nothing.
        let elsewhere = reader.is_some_and(|reader| reader.object.is_some());
        if reads != reader.is_some()
            || reads && (elsewhere || secret.is_none() || spec.purpose != Purpose::Seal)
        {
            return Err(HolderError::Unsupported(spec.custody));
        }
        let of_format = matches!(detail.as_deref(), Some(Detail::Format(_)));
        let of_tree = matches!(detail.as_deref(), Some(Detail::Tree(_)));
        let fits = of_format == (spec.purpose == Purpose::Tokenise)
            && of_tree == (spec.purpose == Purpose::Tree);
        if spec.custody != Custody::Wrapped || !keeps(&spec) || !fits {
            return Err(HolderError::Unsupported(spec.custody));
        }
        let mut random = RandomStream::new().map_err(|_| HolderError::Unavailable)?;
        let secret = match secret {
            Some(given) => imported(given, &spec)?,
            None => fresh(&mut random, &spec)?,
        };
        let blank = KeyMaterial::new(identity, Vec::new(), None).with_detail(detail.clone());
        // A key that cannot be served is found out now, not by the first caller.
        try_out(&blank, &secret)?;
        let message = key_message(identity.key, &secret);
        let attributes = blank.attributes();
        let aad = Aad::EMPTY.attributes(&attributes);
        let mut sealed = Vec::new();
        match &parent {
            None => {
                let message = Secret::copy_from(message.expose());
                let message = message.ok_or(HolderError::Unsupported(spec.custody))?;
                self.root.seal(&message, &aad, &mut random, &mut sealed)?;
            }
            Some(parent) => {
                let pair = self.pair(parent, Use::Keys)?;
                let (text, binding) = (message.expose(), Binding::None);
                pair.0
                    .seal_into(binding, &aad, text, &mut random, &mut sealed)
                    .map_err(|_| HolderError::Unavailable)?;
            }
        }
        Ok(KeyMaterial::new(identity, sealed, parent).with_detail(detail))
    }

    fn reveal(
        &self,
        permit: &Permit,
        material: &Arc<KeyMaterial>,
    ) -> Result<SecretBytes, HolderError> {
        if permit.key() != material.key() || permit.operation() != Operation::KeyExport {
            return Err(HolderError::PermitMismatch);
        }
        let spec = material.spec();
        // Keys that wrap others are no contexts, and stay whatever their row says.
        if spec.purpose == Purpose::Wrap || !matches!(spec.export, Export::Sealed | Export::Plain) {
            return Err(HolderError::Unsupported(spec.custody));
        }
        self.unwrap_whole(material)
    }

    /// The sealed secret is the row's, which the caller removes; here goes what was made of it.
    fn destroy(&self, permit: &Permit, material: &KeyMaterial) -> Result<(), HolderError> {
        if permit.key() != material.key() || permit.operation() != Operation::KeyDestroy {
            return Err(HolderError::PermitMismatch);
        }
        if material.spec().custody != Custody::Wrapped {
            return Err(HolderError::Unsupported(material.spec().custody));
        }
        material.cell().clear();
        if material.spec().purpose == Purpose::Tree {
            self.prefixes.forget(material);
        }
        Ok(())
    }

    fn perform(
        &self,
        permit: &Permit,
        request: &Request,
        items: Items,
        random: &mut RandomStream,
    ) -> Result<Reply, HolderError> {
        request.check(permit)?;
        if request.expired(&self.clock) {
            return Err(HolderError::DeadlineExceeded);
        }
        if matches!(
            request.operation,
            HolderOperation::Tokenize | HolderOperation::Detokenize | HolderOperation::Mask
        ) {
            let ready: SmallVec<[_; 1]> = request
                .versions
                .iter()
                .map(|version| self.ready(version))
                .collect::<Result<_, _>>()?;
            return formats::run(request, &ready, &items);
        }
        if working::is_work(request.operation) {
            // Nearly always it is one, which costs no allocation.
            let working: SmallVec<[_; 1]> = request
                .versions
                .iter()
                .map(|version| self.working(version))
                .collect::<Result<_, _>>()?;
            let keys = (working.as_slice(), &self.prefixes, &self.clock);
            return working::run(request, keys, &items, random);
        }
        Job::new(self, request)?.run(&items, random)
    }

    fn seal_stream(
        &self,
        permit: &Permit,
        start: StreamStart<'_>,
        random: &mut RandomStream,
        out: &mut Vec<u8>,
    ) -> Result<StreamSealer, HolderError> {
        start.check(permit, Operation::Encrypt)?;
        let pair = self.stream_pair(start.material)?;
        let aad = caller_aad(start.aad)?;
        let begun = StreamSealer::new(&pair.0, start.binding, &aad, random, out);
        begun.map_err(|_| HolderError::Unavailable)
    }

    fn open_stream(
        &self,
        permit: &Permit,
        start: StreamStart<'_>,
        prefix: &Prefix,
    ) -> Result<Option<StreamOpener>, HolderError> {
        start.check(permit, Operation::Decrypt)?;
        let pair = self.stream_pair(start.material)?;
        let aad = caller_aad(start.aad)?;
        Ok(StreamOpener::new(&pair.1, prefix, &aad).ok())
    }

    fn probe(&self) -> Result<(), HolderError> {
        self.root.probe().map_err(|_| HolderError::Unavailable)
    }
}

/// The associated data of a stream; whoever asks has looked at its length.
fn caller_aad(bytes: &[u8]) -> Result<Aad<'_>, HolderError> {
    let aad = Aad::EMPTY.caller(bytes);
    aad.map_err(|_| HolderError::Unavailable)
}

/// Whether keys like this are kept here at all.
const fn keeps(spec: &KeySpec) -> bool {
    match spec.purpose {
        Purpose::Seal | Purpose::Wrap => {
            suite_of(spec.algorithm).is_some() && !matches!(spec.algorithm, Algorithm::Aes256Siv)
        }
        Purpose::Deterministic => matches!(spec.algorithm, Algorithm::Aes256Siv),
        Purpose::Tokenise => formats::cipher_of(spec.algorithm).is_some(),
        _ => working::keeps(spec),
    }
}

/// A new secret of keys like this.
fn fresh(random: &mut RandomStream, spec: &KeySpec) -> Result<SecretBytes, HolderError> {
    if let Some(document) = pairs::generate(spec.algorithm) {
        return document.map_err(|_| HolderError::Unavailable);
    }
    let mut secret = SecretBytes::zeroed(working::secret_len(spec));
    // One string in 2^32 is no scalar of P-256, one in 2^128 none of secp256k1, one in 2^190 none of P-384.
    for _ in 0..TRIES {
        let filled = random.fill(secret.expose_mut());
        filled.map_err(|_| HolderError::Unavailable)?;
        if is_key(&secret, spec) {
            return Ok(secret);
        }
    }
    Err(HolderError::Unavailable)
}

/// A secret that was brought in, if it is one of keys like this.
fn imported(given: &SecretBytes, spec: &KeySpec) -> Result<SecretBytes, HolderError> {
    if working::is_pair(spec) {
        return pairs::canonical(spec.algorithm, given).ok_or(HolderError::SecretLength);
    }
    let fits = given.len() == working::secret_len(spec) && is_key(given, spec);
    let copy = || SecretBytes::from_vec(given.expose().to_vec());
    fits.then(copy).ok_or(HolderError::SecretLength)
}

fn is_key(secret: &SecretBytes, spec: &KeySpec) -> bool {
    if working::is_pair(spec) {
        return pairs::canonical(spec.algorithm, secret).is_some();
    }
    let whole = <&[u8; 32]>::try_from(secret.expose());
    whole.map_or(true, |secret| is_private_key(spec.algorithm, secret))
}

/// Makes of a secret what its first use would make of it.
fn try_out(blank: &KeyMaterial, secret: &SecretBytes) -> Result<(), HolderError> {
    let halves = secret.expose().as_chunks::<32>().0.iter();
    match blank.spec().purpose {
        Purpose::Tokenise => {
            let secret = secret.expose().try_into();
            let secret = secret.map_err(|_| HolderError::SecretLength)?;
            Ready::new(secret, blank).map(drop)
        }
        Purpose::Deterministic | Purpose::Seal | Purpose::Wrap => Ok(()),
        _ if working::is_pair(blank.spec()) => Working::pair(blank, secret, None).map(drop),
        _ => {
            let held = halves.map(|half| Held::Heap(Secret::from_fill(|copy| *copy = *half)));
            Working::new(blank, held.collect()).map(drop)
        }
    }
}

/// How often a new secret is drawn until it is a key.
const TRIES: usize = 8;

/// Opens an envelope of kind 2 and takes the secret out of it, if it is the secret of `id`.
fn open_key<const N: usize>(
    sealed: &[u8],
    id: KeyId,
    open: impl FnOnce(&Envelope<'_>, &mut Vec<u8>) -> Result<(), HolderError>,
) -> Result<Secret<N>, HolderError> {
    let secret = open_secret(sealed, id, open)?;
    Secret::copy_from(secret.expose()).ok_or(HolderError::KeyRejected)
}

/// The same for a secret of any length.
fn open_secret(
    sealed: &[u8],
    id: KeyId,
    open: impl FnOnce(&Envelope<'_>, &mut Vec<u8>) -> Result<(), HolderError>,
) -> Result<SecretBytes, HolderError> {
    let envelope = Envelope::parse(sealed).map_err(|_| HolderError::KeyRejected)?;
    // Room for what a device appends before its zeros are taken away: a buffer that grows leaves a copy.
    let mut plain = Vec::with_capacity(envelope.plaintext_len() + OVERHEAD);
    let opened = open(&envelope, &mut plain);
    let secret = plain
        .strip_prefix(id.as_bytes())
        .map(|secret| SecretBytes::from_vec(secret.to_vec()));
    wipe(&mut plain);
    opened?;
    secret.ok_or(HolderError::KeyRejected)
}

/// id 16 + secret: the message of an envelope of kind 2 (design 7.9).
fn key_message(id: KeyId, secret: &SecretBytes) -> SecretBytes {
    let mut message = SecretBytes::zeroed(16 + secret.len());
    let (front, back) = message.expose_mut().split_at_mut(16);
    front.copy_from_slice(id.as_bytes());
    back.copy_from_slice(secret.expose());
    message
}
