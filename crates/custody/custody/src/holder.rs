//! The one trait behind which keys work.

use std::sync::Arc;

use keywright_clock::{Clock, MonotonicTime};
use keywright_envelope::Binding;
use keywright_envelope::stream::{Prefix, StreamOpener, StreamSealer};
use keywright_policy::Permit;
use keywright_primitives::random::RandomStream;
use keywright_secret::SecretBytes;
use keywright_types::{Code, Custody, KeySpec, Operation, Purpose};
use smallvec::SmallVec;

use crate::{Detail, Identity, Items, KeyMaterial, Reply};

/// Something that holds keys and puts them to work: the embedded keystore, or a token.
///
/// `perform` is synchronous; [`KeyHolder::placement`] says whether a caller may run it on the
/// thread that serves requests.
pub trait KeyHolder: Send + Sync {
    /// A short name for logs, metrics and health.
    fn name(&self) -> &'static str;

    /// Whether keys of `spec` can do `operation` here. What is not supported is refused when a
    /// context is created, and again by `perform`.
    fn supports(&self, spec: &KeySpec, operation: HolderOperation) -> bool;

    /// Where `perform` may run.
    fn placement(&self) -> Placement;

    /// Where `perform` may run for a request with these versions: a key that is in memory already waits for nobody,
    /// even if others of this holder do.
    fn placement_of(&self, versions: &[Arc<KeyMaterial>]) -> Placement {
        let _ = versions;
        self.placement()
    }

    /// Makes the secret of a new key version and returns it sealed.
    ///
    /// # Errors
    /// [`HolderError::Unsupported`] for a `spec` that this holder cannot keep, else as `perform`.
    fn generate(&self, permit: &Permit, new: NewKey) -> Result<KeyMaterial, HolderError>;

    /// As [`KeyHolder::generate`], for a key that has a detail, or whose secret is brought in.
    ///
    /// # Errors
    /// [`HolderError::Unsupported`] for particulars that this holder cannot keep,
    /// [`HolderError::SecretLength`] for a secret that is no key of this kind; [`HolderError::NoSuchKey`],
    /// [`HolderError::ManyKeys`] and [`HolderError::UnfitKey`] for a key that is to be taken where it is; else as
    /// `generate`.
    fn generate_with(
        &self,
        permit: &Permit,
        new: NewKey,
        particulars: Particulars<'_>,
    ) -> Result<KeyMaterial, HolderError> {
        if particulars.is_empty() {
            return self.generate(permit, new);
        }
        Err(HolderError::Unsupported(new.identity.spec.custody))
    }

    /// Takes back what `generate` made, under the same permit, for an order that came to nothing: no row names
    /// the version. A holder that keeps nothing by itself has nothing to do; one that fails leaves an object
    /// that nobody uses.
    fn discard(&self, permit: &Permit, material: &KeyMaterial) {
        let _ = (permit, material);
    }

    /// Destroys the key of a version for ever, wherever this holder has it: its object, and everything that was
    /// made of it in memory. One that is gone already counts as destroyed: an order that a crash cut short is
    /// given again.
    ///
    /// # Errors
    /// [`HolderError::PermitMismatch`]; [`HolderError::Unavailable`] if it cannot be told that the key is gone;
    /// [`HolderError::Unsupported`] by a holder that cannot destroy.
    fn destroy(&self, permit: &Permit, material: &KeyMaterial) -> Result<(), HolderError> {
        let _ = permit;
        Err(HolderError::Unsupported(material.spec().custody))
    }

    /// Gives out the secret of a version whose key may leave.
    ///
    /// # Errors
    /// [`HolderError::Unsupported`] for a key whose export is `never`, for keys that wrap others, and by holders that
    /// let none out; [`HolderError::PermitMismatch`]; else as `perform`.
    fn reveal(
        &self,
        permit: &Permit,
        material: &Arc<KeyMaterial>,
    ) -> Result<SecretBytes, HolderError> {
        let _ = permit;
        Err(HolderError::Unsupported(material.spec().custody))
    }

    /// Does `request` for each item. Failures of single items are results in the reply.
    ///
    /// `random` belongs to the caller's job (design 7.24); a holder with a source of its own leaves
    /// it alone.
    ///
    /// # Errors
    /// Only for what concerns the request as a whole: the permit is for something else, the holder
    /// cannot be reached, the deadline has passed.
    fn perform(
        &self,
        permit: &Permit,
        request: &Request,
        items: Items,
        random: &mut RandomStream,
    ) -> Result<Reply, HolderError>;

    /// Does `request` at once on the caller's thread, if that is a matter of microseconds: for a holder that is
    /// placed on a pool, whose threads cost more than a short operation of a device that is quick at the moment.
    /// Such a holder may hold up the caller for one operation of a device that has just ceased to be quick.
    ///
    /// What is asked comes with the moment of the call, on the clock that the holder has too: whoever asks has just
    /// looked at it, and is told when the work was done ([`AtOnce`]).
    ///
    /// # Errors
    /// The items, unchanged, if it is to be done on the pool; nothing was answered for them then.
    fn perform_now(
        &self,
        permit: &Permit,
        asked: (&Request, MonotonicTime),
        items: Items,
        random: &mut RandomStream,
    ) -> Result<AtOnce, Items> {
        let _ = (permit, asked, random);
        Err(items)
    }

    /// Begins to seal a stream (suite 6): appends its beginning to `out`. What follows needs no key of this
    /// holder any more, and is done where the bytes are. A key that stays in a token seals no streams.
    ///
    /// # Errors
    /// [`HolderError::Unsupported`] for keys that are not for messages, or stay in a token;
    /// [`HolderError::PermitMismatch`]; else as `perform`.
    fn seal_stream(
        &self,
        permit: &Permit,
        start: StreamStart<'_>,
        random: &mut RandomStream,
        out: &mut Vec<u8>,
    ) -> Result<StreamSealer, HolderError> {
        let _ = (permit, random, out);
        Err(HolderError::Unsupported(start.material.spec().custody))
    }

    /// Begins to open the stream of `prefix`; `None` if it does not open under this key and associated data.
    ///
    /// # Errors
    /// As [`KeyHolder::seal_stream`].
    fn open_stream(
        &self,
        permit: &Permit,
        start: StreamStart<'_>,
        prefix: &Prefix,
    ) -> Result<Option<StreamOpener>, HolderError> {
        let _ = (permit, prefix);
        Err(HolderError::Unsupported(start.material.spec().custody))
    }

    /// Checks that what this holder has for `material` now is that key (design 7.21), without waiting for its next
    /// use and whatever earlier ones found. A holder whose keys come sealed has nothing to check: what is not the key does not open.
    ///
    /// # Errors
    /// [`HolderError::KeyRejected`] if it is another, or none; [`HolderError::Unavailable`] if that cannot be told.
    fn check_key(&self, material: &Arc<KeyMaterial>) -> Result<(), HolderError> {
        let _ = material;
        Ok(())
    }

    /// Proves that the holder works now, by using its root key.
    ///
    /// # Errors
    /// [`HolderError::Unavailable`] if it does not.
    fn probe(&self) -> Result<(), HolderError>;
}

/// With what a stream begins.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a plain message between a caller and a holder"
)]
pub struct StreamStart<'a> {
    /// The version.
    pub material: &'a Arc<KeyMaterial>,
    /// What it is bound to; one that is opened says that itself.
    pub binding: Binding,
    /// The caller's associated data.
    pub aad: &'a [u8],
}

impl StreamStart<'_> {
    /// Refuses a permit for another operation, or for another key.
    ///
    /// # Errors
    /// [`HolderError::PermitMismatch`].
    pub fn check(&self, permit: &Permit, operation: Operation) -> Result<(), HolderError> {
        if permit.operation() == operation && permit.key() == self.material.key() {
            Ok(())
        } else {
            Err(HolderError::PermitMismatch)
        }
    }
}

/// What a holder can be asked to do with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum HolderOperation {
    /// Make a secret with the owner of a public key, which is the payload; associated data is a
    /// [`Usage`](crate::Usage), here and below.
    Agree,
    /// Make values of tokens: payloads and replies are UTF-8, associated data is the cells of other columns
    /// that the tweak needs, lp(name) + lp(cell) for each.
    Detokenize,
    /// Let the private key at a path out: lp(key) + lp(scheme) + lp(how the seed came to be).
    ExportKey,
    /// Make a MAC of the payload.
    Mac,
    /// Make a data key and seal it: the payload of an item is ignored, the reply's payload is the
    /// data key's 48 bytes (design 7.9) and the envelope behind them.
    MakeDataKey,
    /// As `Detokenize`, and what the key's mask leaves of each value.
    Mask,
    /// Open messages: payloads are envelopes of kind 1.
    Open,
    /// Open data keys: payloads are envelopes of kind 2, replies are 48 bytes.
    OpenDataKey,
    /// As `Open`, with keys that seal equal messages alike.
    OpenDeterministic,
    /// Show a public key: lp(key) + lp(JSON Web Key) + lp(PEM).
    PublicKey,
    /// Open with the item's version and seal again with version 0 of the request, keeping kind,
    /// binding and associated data. The plaintext stays inside.
    Reseal,
    /// Seal messages: payloads are plaintexts, replies are envelopes.
    Seal,
    /// As `Seal`, with keys that seal equal messages alike.
    SealDeterministic,
    /// Sign the payload.
    Sign,
    /// Make tokens of values, in the form of `Detokenize`.
    Tokenize,
    /// Look whether the signature of the usage fits the payload: one byte, 1 if it does.
    Verify,
    /// Look whether the MAC of the usage fits the payload: one byte, 1 if it does.
    VerifyMac,
    /// Show an extended public key.
    Xpub,
}

impl HolderOperation {
    /// The operation that a permit must name.
    #[must_use]
    pub const fn permitted_by(self) -> Operation {
        match self {
            Self::Agree => Operation::Agree,
            Self::Detokenize => Operation::Detokenize,
            Self::ExportKey => Operation::KeyExport,
            Self::Mac => Operation::Mac,
            Self::MakeDataKey => Operation::Datakey,
            Self::Mask => Operation::Mask,
            Self::Open => Operation::Decrypt,
            Self::OpenDataKey => Operation::DatakeyOpen,
            Self::OpenDeterministic => Operation::DeterministicDecrypt,
            Self::Reseal => Operation::Rewrap,
            Self::PublicKey => Operation::PublicKey,
            Self::Seal => Operation::Encrypt,
            Self::SealDeterministic => Operation::DeterministicEncrypt,
            Self::Sign => Operation::Sign,
            Self::Tokenize => Operation::Tokenize,
            Self::Verify => Operation::Verify,
            Self::VerifyMac => Operation::MacVerify,
            Self::Xpub => Operation::Xpub,
        }
    }

    /// What every key of this purpose can be asked, if it can be asked anything.
    #[must_use]
    pub const fn first_of(purpose: Purpose) -> Self {
        match purpose {
            Purpose::Deterministic => Self::SealDeterministic,
            Purpose::Tokenise => Self::Tokenize,
            Purpose::Mac => Self::Mac,
            Purpose::Sign => Self::Sign,
            Purpose::Agree => Self::Agree,
            Purpose::Tree => Self::PublicKey,
            _ => Self::Seal,
        }
    }

    /// Whether it makes one new envelope for each item.
    #[must_use]
    pub const fn seals(self) -> bool {
        matches!(
            self,
            Self::MakeDataKey | Self::Reseal | Self::Seal | Self::SealDeterministic
        )
    }
}

/// Work that was done at once: what came of it, and when.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "an answer and its time, which every holder of this kind makes"
)]
pub struct AtOnce {
    /// As [`KeyHolder::perform`] would have ended.
    pub reply: Result<Reply, HolderError>,
    /// When that was, on the clock of the call.
    pub ended: MonotonicTime,
}

impl AtOnce {
    /// Nothing was done, so no time has passed.
    #[must_use]
    pub const fn refused(error: HolderError, now: MonotonicTime) -> Self {
        Self {
            reply: Err(error),
            ended: now,
        }
    }
}

/// Where a holder's work may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever runs the work must know every place"
)]
pub enum Placement {
    /// On the caller's thread: it takes microseconds and never waits.
    Inline,
    /// On a bounded pool of threads: it waits for a device.
    Pool,
}

/// One order to a holder.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a plain message between a caller and a holder"
)]
pub struct Request {
    /// What to do.
    pub operation: HolderOperation,
    /// The versions that items refer to by index. Sealing uses the first.
    pub versions: Versions,
    /// What new envelopes are bound to, as its kind's number and 16 bytes.
    #[serde(with = "binding_as_bytes")]
    pub binding: Binding,
    /// After this the answer is of no use to anybody. Nanoseconds of the caller's monotonic clock, or
    /// [`NO_DEADLINE`].
    pub deadline_ns: u64,
}

/// The versions of one request. Nearly always there is one, which costs no allocation.
pub type Versions = SmallVec<[Arc<KeyMaterial>; 1]>;

/// The deadline of a request whose caller does the work itself, and so cannot be kept waiting by it.
pub const NO_DEADLINE: u64 = u64::MAX;

impl Request {
    /// Refuses a permit for another operation, or for another key than all versions here are of.
    ///
    /// # Errors
    /// [`HolderError::PermitMismatch`].
    pub fn check(&self, permit: &Permit) -> Result<(), HolderError> {
        let ours = self
            .versions
            .iter()
            .all(|version| version.key() == permit.key());
        if permit.operation() == self.operation.permitted_by() && ours {
            Ok(())
        } else {
            Err(HolderError::PermitMismatch)
        }
    }

    /// Whether the deadline has passed. Without one the clock is not read.
    #[must_use]
    pub fn expired(&self, clock: &Clock) -> bool {
        self.deadline_ns != NO_DEADLINE && clock.monotonic().nanos() > self.deadline_ns
    }

    /// The same for whoever has read the clock already: nanoseconds of the caller's monotonic clock.
    #[must_use]
    pub const fn expired_at(&self, now_ns: u64) -> bool {
        self.deadline_ns != NO_DEADLINE && now_ns > self.deadline_ns
    }
}

/// What to make, and under whose key.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a plain message between a caller and a holder"
)]
pub struct NewKey {
    /// Who the new version is.
    pub identity: Identity,
    /// The key that seals it; `None` for the root.
    pub parent: Option<Arc<KeyMaterial>>,
}

/// What a new key has besides its identity.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a plain message between a caller and a holder"
)]
pub struct Particulars<'a> {
    /// What is fixed about it for ever.
    pub detail: Option<Arc<Detail>>,
    /// Its secret, if it is not to be made.
    pub secret: Option<&'a SecretBytes>,
}

impl Particulars<'_> {
    /// Whether there is nothing besides.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.detail.is_none() && self.secret.is_none()
    }
}

/// Why a holder did not do what it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HolderError {
    /// The permit is for another key or operation: a bug of the caller.
    #[error("the permit does not cover this key and operation")]
    PermitMismatch,
    /// The key cannot do this here.
    #[error("this holder does not support {0} keys for that")]
    Unsupported(Custody),
    /// A secret that was brought in is no key of its kind: another length, zero, another size of RSA.
    #[error("the secret that is brought in is no key of this kind, or has another length")]
    SecretLength,
    /// The holder cannot be reached or broke down.
    #[error("the key holder is not available")]
    Unavailable,
    /// A sealed key does not open under its parent: a moved, edited or foreign row.
    #[error("a stored key does not open under its parent")]
    KeyRejected,
    /// All slots for unwrapped keys are in use at this moment.
    #[error("no room for another unwrapped key")]
    Full,
    /// The deadline had passed before the work began.
    #[error("the deadline had passed")]
    DeadlineExceeded,
    /// The version has sealed as often as it ever may (design 7.19).
    #[error("the key version has sealed as often as it may; rotate the key")]
    SealLimit,
    /// Seals could not be counted in the store.
    #[error("the store cannot count the seals of the key")]
    Store,
    /// The device has an object of this key version that no row names: of an order that was cut short.
    #[error(
        "the token has an object of this key version already, left by an order that was cut short"
    )]
    Leftover,
    /// A key that was to be taken into the service is not in the token. Nothing is stored of it yet, so this says
    /// nothing about the store.
    #[error("the token has no secret key of this label and id")]
    NoSuchKey,
    /// More than one key in the token may be the one that was to be taken.
    #[error("the token has more than one secret key of this label")]
    ManyKeys,
    /// The key that was to be taken cannot be held to an id, or is of another kind.
    #[error("the key in the token has no id, or is no AES-256 key")]
    UnfitKey,
}

impl HolderError {
    /// The code that a caller of the service sees.
    #[must_use]
    pub const fn code(self) -> Code {
        match self {
            Self::PermitMismatch => Code::Internal,
            Self::Unsupported(_) => Code::Unsupported,
            Self::SecretLength | Self::UnfitKey => Code::ValueInvalid,
            Self::Unavailable | Self::KeyRejected => Code::HolderUnavailable,
            Self::Full => Code::Overloaded,
            Self::DeadlineExceeded => Code::DeadlineExceeded,
            // To a caller it is as if the key had no version to seal with: its owner has to rotate it.
            Self::SealLimit => Code::NoActiveVersion,
            Self::Store => Code::StoreUnavailable,
            Self::Leftover | Self::ManyKeys => Code::StateConflict,
            // The version that was to be made of it is not there to be had.
            Self::NoSuchKey => Code::VersionNotFound,
        }
    }
}

mod binding_as_bytes {
    use keywright_envelope::Binding;
    use keywright_types::{GroupId, PrincipalId};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        binding: &Binding,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match binding {
            Binding::None => (0_u8, [0_u8; 16]),
            Binding::Principal(id) => (1, *id.as_bytes()),
            Binding::Group(id) => (2, *id.as_bytes()),
        }
        .serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Binding, D::Error> {
        match <(u8, [u8; 16])>::deserialize(deserializer)? {
            (0, id) if id == [0; 16] => Ok(Binding::None),
            (1, id) => Ok(Binding::Principal(PrincipalId::from_bytes(id))),
            (2, id) => Ok(Binding::Group(GroupId::from_bytes(id))),
            _ => Err(serde::de::Error::custom("unknown binding")),
        }
    }
}
