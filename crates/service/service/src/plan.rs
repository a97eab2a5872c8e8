//! From a decided request to what a holder is asked: which version, which binding, which items.
//!
//! Everything that can be decided from an envelope's header is decided here, before a key is touched
//! (design 7.7, 7.8). A holder then sees only versions that may be used.

use std::sync::Arc;

use keywright_audit::Reason;
use keywright_audit::field::PathList;
use keywright_custody::{
    HolderOperation, Items, Key, Request, TooMuch, Version, Versions, lifecycle,
};
use keywright_envelope::{Binding, Envelope, Header};
use keywright_policy::{PathRights, Policy, Principal};
use keywright_types::{BindingKind, Code, KeyVersion, Kind, Operation, Purpose};

use crate::paths::{MOST_LISTED, Paths};

/// What a caller can ask of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "each has its own way through every layer"
)]
pub enum DataOperation {
    /// Make secrets with the owners of public keys.
    Agree,
    /// Make data keys.
    Datakey,
    /// Open data keys.
    DatakeyOpen,
    /// Open messages.
    Decrypt,
    /// Open messages that were sealed so that equal ones look alike.
    DeterministicDecrypt,
    /// Seal messages so that equal ones look alike.
    DeterministicEncrypt,
    /// Make values of tokens.
    Detokenize,
    /// Seal messages.
    Encrypt,
    /// Let private keys of a tree out.
    KeyExport,
    /// Make message authentication codes.
    Mac,
    /// Show what a mask leaves of the values of tokens.
    Mask,
    /// Show public keys.
    PublicKey,
    /// Seal again under the newest version.
    Rewrap,
    /// Sign.
    Sign,
    /// Make tokens of values.
    Tokenize,
    /// Look whether signatures fit.
    Verify,
    /// Look whether message authentication codes fit.
    VerifyMac,
    /// Show extended public keys.
    Xpub,
}

impl DataOperation {
    /// What the caller must be allowed to do.
    #[must_use]
    pub const fn operation(self) -> Operation {
        match self {
            Self::Agree => Operation::Agree,
            Self::KeyExport => Operation::KeyExport,
            Self::Mac => Operation::Mac,
            Self::PublicKey => Operation::PublicKey,
            Self::Sign => Operation::Sign,
            Self::Verify => Operation::Verify,
            Self::VerifyMac => Operation::MacVerify,
            Self::Xpub => Operation::Xpub,
            Self::Datakey => Operation::Datakey,
            Self::DatakeyOpen => Operation::DatakeyOpen,
            Self::Decrypt => Operation::Decrypt,
            Self::DeterministicDecrypt => Operation::DeterministicDecrypt,
            Self::DeterministicEncrypt => Operation::DeterministicEncrypt,
            Self::Detokenize => Operation::Detokenize,
            Self::Encrypt => Operation::Encrypt,
            Self::Mask => Operation::Mask,
            Self::Rewrap => Operation::Rewrap,
            Self::Tokenize => Operation::Tokenize,
        }
    }

    /// Whether its answers hand out key material, which is synced first (design 7.29).
    #[must_use]
    pub const fn hands_out_keys(self) -> bool {
        matches!(
            self,
            Self::Datakey | Self::DatakeyOpen | Self::Agree | Self::KeyExport
        )
    }

    const fn holder_operation(self) -> HolderOperation {
        match self {
            Self::Agree => HolderOperation::Agree,
            Self::KeyExport => HolderOperation::ExportKey,
            Self::Mac => HolderOperation::Mac,
            Self::PublicKey => HolderOperation::PublicKey,
            Self::Sign => HolderOperation::Sign,
            Self::Verify => HolderOperation::Verify,
            Self::VerifyMac => HolderOperation::VerifyMac,
            Self::Xpub => HolderOperation::Xpub,
            Self::Datakey => HolderOperation::MakeDataKey,
            Self::DatakeyOpen => HolderOperation::OpenDataKey,
            Self::Decrypt => HolderOperation::Open,
            Self::DeterministicDecrypt => HolderOperation::OpenDeterministic,
            Self::DeterministicEncrypt => HolderOperation::SealDeterministic,
            Self::Detokenize => HolderOperation::Detokenize,
            Self::Encrypt => HolderOperation::Seal,
            Self::Mask => HolderOperation::Mask,
            Self::Rewrap => HolderOperation::Reseal,
            Self::Tokenize => HolderOperation::Tokenize,
        }
    }

    /// Whether keys of this purpose are for it.
    pub(crate) const fn is_of(self, purpose: Purpose) -> bool {
        match self {
            Self::Datakey | Self::DatakeyOpen | Self::Decrypt | Self::Encrypt => {
                matches!(purpose, Purpose::Seal)
            }
            Self::DeterministicDecrypt | Self::DeterministicEncrypt => {
                matches!(purpose, Purpose::Deterministic)
            }
            Self::Rewrap => matches!(purpose, Purpose::Deterministic | Purpose::Seal),
            Self::Detokenize | Self::Mask | Self::Tokenize => matches!(purpose, Purpose::Tokenise),
            Self::Mac | Self::VerifyMac => matches!(purpose, Purpose::Mac),
            Self::Sign | Self::Verify => matches!(purpose, Purpose::Sign | Purpose::Tree),
            Self::Agree => matches!(purpose, Purpose::Agree | Purpose::Tree),
            Self::PublicKey => matches!(purpose, Purpose::Sign | Purpose::Agree | Purpose::Tree),
            Self::KeyExport | Self::Xpub => matches!(purpose, Purpose::Tree),
        }
    }

    /// Whether each item names the version that it is for, because nothing in it does (design 7.18).
    #[must_use]
    pub const fn names_version(self) -> bool {
        matches!(
            self,
            Self::Agree
                | Self::Detokenize
                | Self::Mask
                | Self::PublicKey
                | Self::Verify
                | Self::VerifyMac
        )
    }

    /// Whether an item that names no version is for the active one. Where a signature, a code or a token comes back, it
    /// is for none.
    const fn may_leave_version_out(self) -> bool {
        matches!(self, Self::Agree | Self::PublicKey)
    }

    /// Whether it is done with the active version.
    const fn seals(self) -> bool {
        matches!(
            self,
            Self::Datakey
                | Self::DeterministicEncrypt
                | Self::Encrypt
                | Self::KeyExport
                | Self::Mac
                | Self::Rewrap
                | Self::Sign
                | Self::Tokenize
                | Self::Xpub
        )
    }

    const fn opens(self) -> bool {
        matches!(
            self,
            Self::DatakeyOpen | Self::Decrypt | Self::DeterministicDecrypt | Self::Rewrap
        )
    }

    /// What the counters of a version call it; `None` for what uses no secret.
    pub(crate) const fn use_of_key(self) -> Option<UseOfKey> {
        match self {
            Self::Datakey
            | Self::DeterministicEncrypt
            | Self::Encrypt
            | Self::Mac
            | Self::Sign
            | Self::Tokenize => Some(UseOfKey::Seal),
            Self::Rewrap => Some(UseOfKey::Move),
            Self::PublicKey | Self::Xpub => None,
            Self::Agree
            | Self::DatakeyOpen
            | Self::Decrypt
            | Self::DeterministicDecrypt
            | Self::Detokenize
            | Self::KeyExport
            | Self::Mask
            | Self::Verify
            | Self::VerifyMac => Some(UseOfKey::Open),
        }
    }
}

/// What the counters of a version tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UseOfKey {
    /// From the version that the item came from to the one that answers.
    Move,
    /// With a version that an item names, in its header or beside it.
    Open,
    /// With the active version.
    Seal,
}

/// The items of a request, and which of them are refused already because a field of theirs is wrong.
#[derive(Debug, Default)]
pub struct Prepared {
    pub(crate) items: Items,
    pub(crate) refused: Refused,
    /// Nothing for most operations, whose items are moved a few times and should not carry room for it.
    beside: Option<Box<Beside>>,
}

/// What stands beside the items of some operations.
#[derive(Debug, Default)]
struct Beside {
    /// The version that each item names; empty for operations whose items name none.
    named: Vec<KeyVersion>,
    /// The path that each item names, empty for none; no entry for operations whose items name none.
    paths: Vec<String>,
    /// The label beside each item, where labels stand beside them; no entry where none does.
    labels: Vec<Option<String>>,
    /// The version that reads each item which the seed service sealed, none for envelopes; no entry without labels.
    readers: Vec<KeyVersion>,
}

/// What stands beside items that nothing stands beside.
static NOTHING: Beside = Beside {
    named: Vec::new(),
    paths: Vec::new(),
    labels: Vec::new(),
    readers: Vec::new(),
};

impl Prepared {
    /// Room for `items` items of `bytes` bytes together.
    #[must_use]
    pub fn with_capacity(items: usize, bytes: usize) -> Self {
        Self {
            items: Items::with_capacity(items, bytes),
            refused: Refused::default(),
            beside: None,
        }
    }

    fn beside(&mut self) -> &mut Beside {
        self.beside.get_or_insert_default()
    }

    /// Says which label stands beside the item that is added next, if one does: it alone says who reads the item. Where
    /// one stands beside any item, every item must be preceded by this.
    pub fn label(&mut self, label: Option<String>) {
        self.beside().labels.push(label);
    }

    /// Says which key of a tree the item that is added next is for. For operations whose items may name a path,
    /// every item must be preceded by this.
    pub fn path(&mut self, path: &str) {
        self.beside().paths.push(path.to_owned());
    }

    /// Says which version the item that is added next names. For operations whose items name one, every item
    /// must be preceded by this.
    pub fn name(&mut self, version: KeyVersion) {
        self.beside().named.push(version);
    }

    /// The label beside the item at `index`.
    pub(crate) fn label_of(&self, index: usize) -> Option<&str> {
        self.labels().get(index)?.as_deref()
    }

    /// Whether labels stand beside the items.
    pub(crate) fn has_labels(&self) -> bool {
        !self.labels().is_empty()
    }

    fn labels(&self) -> &[Option<String>] {
        &self.beside.as_deref().unwrap_or(&NOTHING).labels
    }

    /// Says which version reads the item that is added next, or that it is an envelope.
    pub(crate) fn read_by(&mut self, version: KeyVersion) {
        self.beside().readers.push(version);
    }

    /// Whether the seed service sealed any of the items.
    fn has_readers(&self) -> bool {
        let beside = self.beside.as_deref().unwrap_or(&NOTHING);
        let reads = |version: &KeyVersion| *version != KeyVersion::NONE;
        beside.readers.iter().any(reads)
    }

    /// Adds an item; `payload` and `aad` append their bytes. If one of them fails, the item keeps its
    /// place and its code, and never reaches a holder's key.
    pub fn push(
        &mut self,
        payload: impl FnOnce(&mut Vec<u8>) -> Result<(), Code>,
        aad: impl FnOnce(&mut Vec<u8>) -> Result<(), Code>,
    ) {
        let pushed = self.items.push::<Wrong>(
            0,
            |out| payload(out).map_err(Wrong),
            |out| aad(out).map_err(Wrong),
        );
        if let Err(Wrong(code)) = pushed {
            self.refused.0.push((self.items.len(), (code, None)));
            // An empty item cannot be too much after a longer one was not.
            let _ = self.items.push_slices(REFUSED, &[], &[]);
        }
    }

    /// Gives the item that was added last a derivation context, for operations that seal and open.
    pub fn context(&mut self, context: &[u8]) {
        // An item that was refused before keeps its code, and reaches no key.
        if self.items.add_context(context).is_err() {
            let last = self.items.len().saturating_sub(1);
            if self.refused.find(last).is_none() {
                self.refused.0.push((last, (Code::BodyTooLarge, None)));
            }
        }
    }

    /// Number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

/// Why an item is refused before it is sealed or opened.
struct Wrong(Code);

impl From<TooMuch> for Wrong {
    fn from(_: TooMuch) -> Self {
        Self(Code::BodyTooLarge)
    }
}

/// A request on its way to the holder, decided where it lies: what was just written in parts is slow to be moved as a
/// whole.
#[derive(Debug)]
pub(crate) struct Plan {
    /// What the holder is asked.
    pub(crate) request: Request,
    /// Its items, and those that are refused whatever the holder says.
    pub(crate) prepared: Prepared,
    /// What is counted besides.
    pub(crate) noted: Noted,
}

/// Items that were refused before the holder; empty in the usual case.
#[derive(Debug, Default)]
pub(crate) struct Refused(Vec<(usize, Why)>);

/// Versions that only the counters ask for.
#[derive(Debug, Default)]
pub(crate) struct Noted {
    /// One for each item that was refused because of its version's state.
    pub(crate) closed: Vec<KeyVersion>,
    /// The version that each item is moved from; no entry unless items are moved.
    pub(crate) sources: Vec<KeyVersion>,
}

/// What the caller is told, and the reason that only the log may know where the code hides it.
pub(crate) type Why = (Code, Option<Reason>);

impl Refused {
    /// The code of the item at `index`, given what the holder said.
    pub(crate) fn code(&self, index: usize, holder: Code) -> Code {
        self.find(index).map_or(holder, |(code, _)| code)
    }

    /// Why the item at `index` was refused, where its code does not say it.
    pub(crate) fn reason(&self, index: usize) -> Option<Reason> {
        self.find(index)?.1
    }

    /// The same, as it is.
    pub(crate) fn why(&self, index: usize) -> Option<Why> {
        self.find(index)
    }

    /// Refuses one more item, behind those that are refused already.
    pub(crate) fn note(&mut self, index: usize, why: Why) {
        self.0.push((index, why));
    }

    fn find(&self, index: usize) -> Option<Why> {
        if self.0.is_empty() {
            return None;
        }
        let found = self.0.binary_search_by_key(&index, |(index, _)| *index);
        found.ok().map(|place| self.0[place].1)
    }

    fn add(&mut self, more: Vec<(usize, Why)>) {
        if !more.is_empty() {
            self.0.extend(more);
            self.0.sort_unstable_by_key(|(index, _)| *index);
        }
    }
}

/// For whom a request is decided: the policy, the principal, and which keys it may use where the context is a tree.
pub(crate) type For<'a> = (&'a Policy, &'a Principal, Option<PathRights<'a>>);

impl Plan {
    /// Of an operation on these items, with nothing decided.
    pub(crate) fn new(operation: DataOperation, prepared: Prepared, deadline_ns: u64) -> Self {
        Self {
            request: Request {
                operation: operation.holder_operation(),
                versions: Versions::new(),
                binding: Binding::None,
                deadline_ns,
            },
            prepared,
            noted: Noted::default(),
        }
    }

    /// Decides which versions of `key` the operation is done with, and points each item at its own. Keys of a tree that
    /// it is for are added to `listed`.
    pub(crate) fn decide(
        &mut self,
        operation: DataOperation,
        key: &Key,
        (policy, principal, rights): For<'_>,
        listed: &mut PathList,
    ) -> Result<(), Code> {
        // A holder would refuse it too, but as a whole machine's fault rather than a key's kind.
        if !operation.is_of(key.spec().purpose) {
            return Err(Code::Unsupported);
        }
        if operation.seals() {
            self.seal_with_active(operation, key, principal)?;
        }
        let Self {
            request,
            prepared,
            noted,
        } = self;
        let Prepared {
            items,
            refused,
            beside,
        } = prepared;
        let Beside {
            named,
            paths,
            readers,
            ..
        } = beside.as_deref().unwrap_or(&NOTHING);
        if operation.opens() {
            let openable = Openable {
                operation,
                key,
                policy,
                principal,
                request,
                noted,
            };
            assign_opened(openable, readers, items, refused);
        }
        if let Some(rights) = rights {
            let decider = Paths::new(key, operation.operation(), rights)?;
            decide_paths(&decider, paths, (items, refused), listed)?;
        }
        if operation.names_version() {
            let into = (request, refused, noted);
            assign_named((operation, key), named, items, into);
        }
        Ok(())
    }

    fn seal_with_active(
        &mut self,
        operation: DataOperation,
        key: &Key,
        principal: &Principal,
    ) -> Result<(), Code> {
        let active = key.active().ok_or(Code::NoActiveVersion)?;
        self.request.versions.push(Arc::clone(active.material()));
        // What is rewrapped keeps the binding it has (7.7); what the seed service sealed has none that it could keep.
        if operation != DataOperation::Rewrap || self.prepared.has_readers() {
            self.request.binding = binding_for(key.binding(), principal)?;
        }
        Ok(())
    }
}

/// Points each envelope at the version that its header names, and anything else at the one that reads it.
fn assign_opened(
    mut openable: Openable<'_>,
    readers: &[KeyVersion],
    items: &mut Items,
    refused: &mut Refused,
) {
    let mut found = Vec::new();
    let mut index = 0;
    items.assign(|item| {
        let known = refused.find(index);
        let place = match known {
            Some(_) => REFUSED,
            None => {
                let reader = readers.get(index).copied().unwrap_or(KeyVersion::NONE);
                let placed = match reader {
                    KeyVersion::NONE => openable.place(item.payload),
                    reader => openable.place_reader(reader),
                };
                placed.unwrap_or_else(|why| {
                    found.push((index, why));
                    REFUSED
                })
            }
        };
        openable.note_source(place);
        index += 1;
        place
    });
    refused.add(found);
}

/// Decides about the path of each item. One that is refused points at no version.
fn decide_paths(
    decider: &Paths<'_>,
    paths: &[String],
    (items, refused): (&mut Items, &mut Refused),
    listed: &mut PathList,
) -> Result<(), Code> {
    let (mut found, mut index) = (Vec::new(), 0);
    items.assign(|item| {
        let text = paths.get(index).map_or("", String::as_str);
        let decided = decider.decide(text, listed);
        let version = u16::try_from(item.version).unwrap_or(REFUSED);
        let place = match (refused.find(index), decided) {
            (Some(_), _) => REFUSED,
            (None, Ok(())) => version,
            (None, Err(why)) => {
                found.push((index, why));
                REFUSED
            }
        };
        index += 1;
        place
    });
    refused.add(found);
    match listed.byte_len() <= MOST_LISTED {
        true => Ok(()),
        false => Err(Code::TooManyItems),
    }
}

/// Points each item at the version that it names. There is no default and no trial.
fn assign_named(
    (operation, key): (DataOperation, &Key),
    named: &[KeyVersion],
    items: &mut Items,
    (request, refused, noted): (&mut Request, &mut Refused, &mut Noted),
) {
    let mut found = Vec::new();
    let mut index = 0;
    items.assign(|_| {
        let known = refused.find(index);
        let number = named.get(index).copied().unwrap_or(KeyVersion::NONE);
        let place = match known {
            Some(_) => REFUSED,
            None => {
                named_place((operation, key), number, &mut request.versions).unwrap_or_else(|why| {
                    if why.0 == Code::KeyVersionUnavailable {
                        noted.closed.push(number);
                    }
                    found.push((index, why));
                    REFUSED
                })
            }
        };
        index += 1;
        place
    });
    refused.add(found);
}

/// The place of the version of this number among a request's versions.
fn named_place(
    (operation, key): (DataOperation, &Key),
    number: KeyVersion,
    versions: &mut Versions,
) -> Result<u16, Why> {
    if number == KeyVersion::NONE && operation.may_leave_version_out() {
        let active = key.active().ok_or((Code::KeyVersionUnavailable, None))?;
        return place_among(versions, active);
    }
    let version = key.version(number);
    let version = version.ok_or((Code::VersionNotFound, None))?;
    if !key.may_open(version) {
        let reason = closed_for(version);
        return Err((Code::KeyVersionUnavailable, Some(reason)));
    }
    place_among(versions, version)
}

/// Why a version that is there may not open.
const fn closed_for(version: &Version) -> Reason {
    if lifecycle::may_open(version.state()) {
        Reason::VersionTooOld
    } else {
        Reason::VersionState
    }
}

/// The place of a version among a request's versions, where it is put if it is not there.
fn place_among(versions: &mut Versions, version: &Version) -> Result<u16, Why> {
    let known = versions
        .iter()
        .position(|known| known.version() == version.number());
    let place = known.unwrap_or_else(|| {
        versions.push(Arc::clone(version.material()));
        versions.len() - 1
    });
    u16::try_from(place).map_err(|_| (Code::TooManyItems, None))
}

/// What new envelopes of a context are bound to, when this caller seals.
pub(crate) fn binding_for(kind: BindingKind, principal: &Principal) -> Result<Binding, Code> {
    match kind {
        BindingKind::None => Ok(Binding::None),
        BindingKind::Principal => Ok(Binding::Principal(principal.id())),
        // Whoever is in no group could seal for nobody.
        BindingKind::Group => principal
            .group()
            .map(Binding::Group)
            .ok_or(Code::OperationDenied),
        _ => Err(Code::Unsupported),
    }
}

struct Openable<'a> {
    operation: DataOperation,
    key: &'a Key,
    policy: &'a Policy,
    principal: &'a Principal,
    request: &'a mut Request,
    noted: &'a mut Noted,
}

impl Openable<'_> {
    /// The place of the envelope's version among the request's versions.
    fn place(&mut self, envelope: &[u8]) -> Result<u16, Why> {
        let malformed = (Code::CiphertextMalformed, Some(Reason::Malformed));
        let envelope = Envelope::parse(envelope).map_err(|_| malformed)?;
        let header = envelope.header();
        let who = (self.policy, self.principal);
        let checked = check(self.operation, self.key, who, header);
        if let Err((Code::KeyVersionUnavailable, _)) = checked {
            self.noted.closed.push(header.version);
        }
        place_among(&mut self.request.versions, checked?)
    }

    /// The place of a version that was brought in from the seed service. Who may open what it reads is said by the
    /// names that the caller has or had, not by a header.
    fn place_reader(&mut self, number: KeyVersion) -> Result<u16, Why> {
        let failed = (Code::DecryptionFailed, Some(Reason::VersionUnknown));
        let version = self.key.version(number).ok_or(failed)?;
        if !self.key.may_open(version) {
            self.noted.closed.push(number);
            let reason = closed_for(version);
            return Err((Code::KeyVersionUnavailable, Some(reason)));
        }
        place_among(&mut self.request.versions, version)
    }

    /// Takes note of the version that an item is moved from.
    fn note_source(&mut self, place: u16) {
        if self.operation == DataOperation::Rewrap {
            let version = self.request.versions.get(usize::from(place));
            let version = version.map_or(KeyVersion::NONE, |material| material.version());
            self.noted.sources.push(version);
        }
    }
}

/// Design 7.8: a state that forbids is named; everything else is one answer, whose reason is for the
/// log alone.
pub(crate) fn check<'a>(
    operation: DataOperation,
    key: &'a Key,
    (policy, principal): (&Policy, &Principal),
    header: &Header,
) -> Result<&'a Version, Why> {
    let kind = match operation {
        DataOperation::DatakeyOpen => header.kind == Kind::Key,
        DataOperation::Decrypt | DataOperation::DeterministicDecrypt => {
            header.kind == Kind::Message
        }
        _ => true,
    };
    // `rewrap` needs only its own right (7.7): whoever may rewrap a context may rewrap all of it.
    let bound = operation == DataOperation::Rewrap || {
        let id = header.binding.id().unwrap_or(&[0; 16]);
        policy.may_open(principal, header.binding.kind(), id)
    };
    let failed = |reason| Err((Code::DecryptionFailed, Some(reason)));
    if header.key != key.id() {
        return failed(Reason::KeyForeign);
    }
    if !kind {
        return failed(Reason::KindMismatch);
    }
    if !bound {
        return failed(Reason::BindingMismatch);
    }
    // A version that was brought in has made no envelope, and opens none.
    let version = key.version(header.version);
    let Some(version) = version.filter(|version| version.material().reader().is_none()) else {
        return failed(Reason::VersionUnknown);
    };
    if key.may_open(version) {
        return Ok(version);
    }
    Err((Code::KeyVersionUnavailable, Some(closed_for(version))))
}

/// Points at no version: a holder fails such an item without touching a key.
const REFUSED: u16 = u16::MAX;

#[cfg(test)]
mod tests {
    use keywright_clock::WallTime;
    use keywright_custody::{Description, Identity, KeyMaterial};
    use keywright_policy::PolicyDocument;
    use keywright_types::{GroupId, KeyId, KeySpec, KeyVersion, PrincipalId, State, TenantId};

    use super::*;

    const KEY: KeyId = KeyId::from_bytes([7; 16]);
    const ME: PrincipalId = PrincipalId::from_bytes([1; 16]);
    const OTHER: PrincipalId = PrincipalId::from_bytes([2; 16]);
    const TESTATOR: PrincipalId = PrincipalId::from_bytes([3; 16]);
    const LONER: PrincipalId = PrincipalId::from_bytes([4; 16]);
    const OURS: GroupId = GroupId::from_bytes([8; 16]);
    const THEIRS: GroupId = GroupId::from_bytes([9; 16]);
    /// One version in each state, numbered from 1 in this order.
    const STATES: [State; 6] = [
        State::Destroyed,
        State::DestroyScheduled,
        State::Suspended,
        State::Retired,
        State::Active,
        State::PreActive,
    ];

    fn policy() -> Policy {
        let text = format!(
            "version = 1\n[[group]]\nname = \"ours\"\nid = \"{OURS}\"\n\
             [[group]]\nname = \"theirs\"\nid = \"{THEIRS}\"\n\
             [[principal]]\nname = \"me\"\nid = \"{ME}\"\ngroup = \"ours\"\n\
             [[principal]]\nname = \"other\"\nid = \"{OTHER}\"\ngroup = \"theirs\"\n\
             [[principal]]\nname = \"loner\"\nid = \"{LONER}\"\n\
             [[principal]]\nname = \"testator\"\nid = \"{TESTATOR}\"\ngroup = \"theirs\"\nheirs = [\"me\"]\n"
        );
        let document = PolicyDocument::parse(&text).unwrap();
        Policy::compile(&document, |_| Some(TenantId::from_bytes([6; 16])), 1).unwrap()
    }

    fn key(binding: BindingKind, states: &[State]) -> Key {
        let (tenant, spec) = (TenantId::from_bytes([6; 16]), KeySpec::seal());
        let versions = (1..).zip(states).map(|(number, state)| {
            let version = KeyVersion::from_number(number);
            let created = WallTime::from_unix_millis(0);
            let identity = Identity {
                tenant,
                key: KEY,
                version,
                spec,
                created,
            };
            Version::new(Arc::new(KeyMaterial::new(identity, vec![], None)), *state)
        });
        let (name, min_open) = ("k".parse().unwrap(), KeyVersion::FIRST);
        let description = Description {
            id: KEY,
            tenant,
            name,
            spec,
            detail: None,
            binding,
            min_open,
            rules: keywright_custody::Rules::default(),
        };
        Key::new(description, versions.collect())
    }

    /// An envelope of suite 1 that parses; it opens nowhere (design 7.4).
    fn envelope(kind: Kind, binding: Binding, key: KeyId, version: u32) -> Vec<u8> {
        let mut out = vec![0x29, 0x64, 0x75, 1, kind.number(), binding.kind().number()];
        out.extend_from_slice(key.as_bytes());
        out.extend_from_slice(&version.to_be_bytes());
        out.extend_from_slice(binding.id().map_or(&[][..], |id| id));
        out.extend_from_slice(&[0xAA; 24 + 32 + 16]);
        out
    }

    fn planned(
        operation: DataOperation,
        key: &Key,
        who: PrincipalId,
        items: &[Vec<u8>],
    ) -> Result<Plan, Code> {
        let policy = policy();
        let principal = policy.principal(who).unwrap();
        let mut prepared = Prepared::default();
        for item in items {
            let payload = |out: &mut Vec<u8>| {
                out.extend_from_slice(item);
                Ok(())
            };
            prepared.push(payload, |_| Ok(()));
        }
        plan(operation, key, (&policy, &principal, None), prepared)
    }

    fn plan(
        operation: DataOperation,
        key: &Key,
        whom: For<'_>,
        prepared: Prepared,
    ) -> Result<Plan, Code> {
        let mut plan = Plan::new(operation, prepared, 0);
        let decided = plan.decide(operation, key, whom, &mut PathList::new());
        decided.map(|()| plan)
    }

    /// What becomes of one envelope: its version's number, or what the caller is told.
    fn fate(operation: DataOperation, who: PrincipalId, item: Vec<u8>) -> Result<u32, Code> {
        judged(operation, who, item).map_err(|(code, _)| code)
    }

    /// [`fate`] with what the log is told.
    fn judged(operation: DataOperation, who: PrincipalId, item: Vec<u8>) -> Result<u32, Why> {
        let key = key(BindingKind::None, &STATES);
        let plan = planned(operation, &key, who, &[item]).unwrap();
        let Prepared { items, refused, .. } = &plan.prepared;
        match refused.find(0) {
            Some(why) => {
                assert_eq!(items.item(0).unwrap().version, usize::from(REFUSED));
                Err(why)
            }
            None => Ok(plan.request.versions[items.item(0).unwrap().version]
                .version()
                .number()),
        }
    }

    const OPENING: [(DataOperation, Kind); 4] = [
        (DataOperation::Decrypt, Kind::Message),
        (DataOperation::DatakeyOpen, Kind::Key),
        (DataOperation::Rewrap, Kind::Message),
        (DataOperation::Rewrap, Kind::Key),
    ];

    /// Every operation, and a purpose that its keys have.
    const EVERY: [(DataOperation, Purpose); 18] = [
        (DataOperation::Agree, Purpose::Agree),
        (DataOperation::Datakey, Purpose::Seal),
        (DataOperation::DatakeyOpen, Purpose::Seal),
        (DataOperation::Decrypt, Purpose::Seal),
        (DataOperation::DeterministicDecrypt, Purpose::Deterministic),
        (DataOperation::DeterministicEncrypt, Purpose::Deterministic),
        (DataOperation::Detokenize, Purpose::Tokenise),
        (DataOperation::Encrypt, Purpose::Seal),
        (DataOperation::KeyExport, Purpose::Tree),
        (DataOperation::Mac, Purpose::Mac),
        (DataOperation::Mask, Purpose::Tokenise),
        (DataOperation::PublicKey, Purpose::Sign),
        (DataOperation::Rewrap, Purpose::Seal),
        (DataOperation::Sign, Purpose::Sign),
        (DataOperation::Tokenize, Purpose::Tokenise),
        (DataOperation::Verify, Purpose::Sign),
        (DataOperation::VerifyMac, Purpose::Mac),
        (DataOperation::Xpub, Purpose::Tree),
    ];

    /// What becomes of an operation on the one version of a key that is in `state`.
    fn alone(operation: DataOperation, purpose: Purpose, state: State) -> Result<(), Code> {
        let policy = policy();
        let principal = policy.principal(ME).unwrap();
        let mut key = key(BindingKind::None, &[state]);
        let spec = KeySpec {
            purpose,
            ..KeySpec::seal()
        };
        let mut description = description_of(&key);
        description.spec = spec;
        key = Key::new(description, key.versions().to_vec());
        let kind = match operation {
            DataOperation::DatakeyOpen => Kind::Key,
            _ => Kind::Message,
        };
        let mut prepared = Prepared::default();
        prepared.name(KeyVersion::FIRST);
        let item = envelope(kind, Binding::None, KEY, 1);
        let payload = |out: &mut Vec<u8>| {
            out.extend_from_slice(&item);
            Ok(())
        };
        prepared.push(payload, |_| Ok(()));
        let who = (&policy, &*principal, None);
        let plan = plan(operation, &key, who, prepared)?;
        let Prepared { items, refused, .. } = &plan.prepared;
        match refused.find(0) {
            Some((code, _)) => Err(code),
            None => {
                assert_eq!(items.item(0).unwrap().version, 0, "{operation:?}");
                assert_eq!(plan.request.versions.len(), 1);
                Ok(())
            }
        }
    }

    fn description_of(key: &Key) -> Description {
        Description {
            id: key.id(),
            tenant: key.tenant(),
            name: key.name().clone(),
            spec: *key.spec(),
            detail: key.detail().cloned(),
            binding: key.binding(),
            min_open: key.min_open(),
            rules: key.rules().clone(),
        }
    }

    #[test]
    fn every_operation_in_every_state_is_what_the_table_of_states_says() {
        for (operation, purpose) in EVERY {
            for &state in State::ALL {
                let (seals, opens) = (lifecycle::may_seal(state), lifecycle::may_open(state));
                let expected = match operation.seals() {
                    true if !seals => Err(Code::NoActiveVersion),
                    false if !opens => Err(Code::KeyVersionUnavailable),
                    _ => Ok(()),
                };
                let done = alone(operation, purpose, state);
                assert_eq!(done, expected, "{operation:?} {state}");
            }
        }
    }

    #[test]
    fn no_operation_is_for_keys_of_every_purpose_and_each_is_for_some() {
        for (operation, purpose) in EVERY {
            assert!(operation.is_of(purpose));
            for other in [Purpose::Wrap, Purpose::Deterministic] {
                if operation.is_of(other) {
                    continue;
                }
                let done = alone(operation, other, State::Active);
                assert_eq!(done, Err(Code::Unsupported), "{operation:?}");
            }
        }
    }

    #[test]
    fn keys_that_seal_alike_are_for_two_operations_of_their_own_and_to_be_moved() {
        let of_purpose = |purpose| {
            let all = EVERY.into_iter().map(|(operation, _)| operation);
            all.filter(|operation| operation.is_of(purpose))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            of_purpose(Purpose::Deterministic),
            [
                DataOperation::DeterministicDecrypt,
                DataOperation::DeterministicEncrypt,
                DataOperation::Rewrap
            ]
        );
        assert!(of_purpose(Purpose::Wrap).is_empty());
    }

    #[test]
    fn what_is_refused_for_a_state_is_noted_with_its_version_and_nothing_else_is() {
        let key = key(BindingKind::None, &STATES);
        let of = |version| envelope(Kind::Message, Binding::None, KEY, version);
        let items = [of(3), of(5), of(9), of(2), b"garbage".to_vec(), of(3)];
        let plan = planned(DataOperation::Rewrap, &key, ME, &items).unwrap();
        let numbers = |versions: &[KeyVersion]| {
            let numbers = versions.iter().map(|version| version.number());
            numbers.collect::<Vec<_>>()
        };
        assert_eq!(numbers(&plan.noted.closed), [3, 2, 3]);
        assert_eq!(numbers(&plan.noted.sources), [0, 5, 0, 0, 0, 0]);
        let plan = planned(DataOperation::Decrypt, &key, ME, &items).unwrap();
        assert!(plan.noted.sources.is_empty());
    }

    #[test]
    fn a_state_that_forbids_is_named_and_an_unknown_version_is_not() {
        for (operation, kind) in OPENING {
            for (number, state) in (1..).zip(STATES) {
                let expected = match state {
                    State::PreActive | State::Active | State::Retired => Ok(number),
                    _ => Err(Code::KeyVersionUnavailable),
                };
                let item = envelope(kind, Binding::None, KEY, number);
                assert_eq!(fate(operation, ME, item), expected, "{operation:?} {state}");
            }
            for number in [0, 7, u32::MAX] {
                let item = envelope(kind, Binding::None, KEY, number);
                assert_eq!(fate(operation, ME, item), Err(Code::DecryptionFailed));
            }
        }
    }

    #[test]
    fn a_forbidden_state_does_not_show_what_is_not_the_callers() {
        // Not bound to the caller, or of another key: one answer, whatever the version's state.
        for version in 1..=6 {
            let foreign = envelope(Kind::Message, Binding::Principal(OTHER), KEY, version);
            assert_eq!(
                fate(DataOperation::Decrypt, ME, foreign),
                Err(Code::DecryptionFailed)
            );
            let elsewhere = envelope(
                Kind::Message,
                Binding::None,
                KeyId::from_bytes([5; 16]),
                version,
            );
            assert_eq!(
                fate(DataOperation::Rewrap, ME, elsewhere),
                Err(Code::DecryptionFailed)
            );
        }
    }

    #[test]
    fn each_operation_opens_its_own_kind() {
        for (operation, kind) in [
            (DataOperation::Decrypt, Kind::Key),
            (DataOperation::DatakeyOpen, Kind::Message),
        ] {
            let item = envelope(kind, Binding::None, KEY, 5);
            assert_eq!(
                fate(operation, ME, item),
                Err(Code::DecryptionFailed),
                "{operation:?}"
            );
        }
    }

    #[test]
    fn bindings_open_for_the_bound_their_group_and_their_heirs() {
        let bindings = [
            (Binding::None, &[ME, OTHER, TESTATOR, LONER][..]),
            (Binding::Principal(ME), &[ME]),
            (Binding::Principal(TESTATOR), &[TESTATOR, ME]),
            (Binding::Principal(PrincipalId::from_bytes([0xEE; 16])), &[]),
            (Binding::Group(OURS), &[ME]),
            (Binding::Group(THEIRS), &[OTHER, TESTATOR]),
            (Binding::Group(GroupId::from_bytes([0xEE; 16])), &[]),
        ];
        for (binding, may) in bindings {
            for who in [ME, OTHER, TESTATOR, LONER] {
                let item = || envelope(Kind::Message, binding, KEY, 5);
                let opens = fate(DataOperation::Decrypt, who, item());
                let expected = if may.contains(&who) {
                    Ok(5)
                } else {
                    Err(Code::DecryptionFailed)
                };
                assert_eq!(opens, expected, "{binding:?} {who}");
                assert_eq!(
                    fate(DataOperation::Rewrap, who, item()),
                    Ok(5),
                    "its own right is enough"
                );
            }
        }
    }

    #[test]
    fn what_does_not_parse_is_malformed_whoever_asks() {
        let good = envelope(Kind::Message, Binding::None, KEY, 5);
        let mut other_version = good.clone();
        other_version[2] ^= 1;
        for item in [
            Vec::new(),
            b"text".to_vec(),
            good[..good.len() - 40].to_vec(),
            other_version,
        ] {
            assert_eq!(
                fate(DataOperation::Decrypt, LONER, item),
                Err(Code::CiphertextMalformed)
            );
        }
    }

    #[test]
    fn the_log_is_told_what_the_answer_hides() {
        use DataOperation::{DatakeyOpen, Decrypt, Rewrap};
        let (message, data_key) = (Kind::Message, Kind::Key);
        let elsewhere = KeyId::from_bytes([5; 16]);
        for (operation, item, reason) in [
            (Decrypt, b"text".to_vec(), Reason::Malformed),
            (
                Rewrap,
                envelope(message, Binding::None, elsewhere, 5),
                Reason::KeyForeign,
            ),
            (
                DatakeyOpen,
                envelope(message, Binding::None, KEY, 5),
                Reason::KindMismatch,
            ),
            (
                Decrypt,
                envelope(data_key, Binding::Principal(OTHER), KEY, 9),
                Reason::KindMismatch,
            ),
            (
                Decrypt,
                envelope(message, Binding::Principal(OTHER), KEY, 9),
                Reason::BindingMismatch,
            ),
            (
                Decrypt,
                envelope(message, Binding::None, KEY, 9),
                Reason::VersionUnknown,
            ),
            (
                Decrypt,
                envelope(message, Binding::None, KEY, 3),
                Reason::VersionState,
            ),
        ] {
            let (code, told) = judged(operation, ME, item).unwrap_err();
            assert_eq!(told, Some(reason));
            let expected = match reason {
                Reason::Malformed => Code::CiphertextMalformed,
                Reason::VersionState => Code::KeyVersionUnavailable,
                _ => Code::DecryptionFailed,
            };
            assert_eq!(code, expected, "{reason}");
        }
    }

    #[test]
    fn sealing_takes_the_active_version_and_the_binding_of_the_context() {
        let sealing = [
            DataOperation::Encrypt,
            DataOperation::Datakey,
            DataOperation::Rewrap,
        ];
        for operation in sealing {
            for (kind, who, expected) in [
                (BindingKind::None, ME, Ok(Binding::None)),
                (BindingKind::Principal, ME, Ok(Binding::Principal(ME))),
                (BindingKind::Group, ME, Ok(Binding::Group(OURS))),
                (BindingKind::Group, LONER, Err(Code::OperationDenied)),
            ] {
                let plan = planned(operation, &key(kind, &STATES), who, &[]);
                let request = plan.map(|plan| plan.request);
                if let Ok(request) = &request {
                    assert_eq!(request.versions[0].version().number(), 5);
                }
                // What is rewrapped keeps the binding it has, so nobody is refused for want of one.
                let kept = operation == DataOperation::Rewrap;
                let expected = if kept { Ok(Binding::None) } else { expected };
                assert_eq!(request.map(|request| request.binding), expected);
            }
            let idle = key(BindingKind::None, &[State::Retired, State::Suspended]);
            let refused = planned(operation, &idle, ME, &[]).err();
            assert_eq!(refused, Some(Code::NoActiveVersion));
        }
    }

    #[test]
    fn each_version_travels_once_and_refused_items_keep_their_codes_and_places() {
        let key = key(BindingKind::None, &[State::Retired, State::Active]);
        let of = |version| envelope(Kind::Message, Binding::None, KEY, version);
        let items = [of(1), of(2), of(9), of(1), b"garbage".to_vec(), of(2)];
        let plan = planned(DataOperation::Decrypt, &key, ME, &items).unwrap();
        let Prepared { items, refused, .. } = &plan.prepared;
        let versions: Vec<_> = plan
            .request
            .versions
            .iter()
            .map(|one| one.version().number())
            .collect();
        assert_eq!(versions, [1, 2]);
        let places: Vec<_> = items.iter().map(|item| item.version).collect();
        let none = usize::from(REFUSED);
        assert_eq!(places, [0, 1, none, 0, none, 1]);
        let codes: Vec<_> = (0..6).map(|index| refused.code(index, Code::Ok)).collect();
        let (ok, failed, bad) = (Code::Ok, Code::DecryptionFailed, Code::CiphertextMalformed);
        assert_eq!(codes, [ok, ok, failed, ok, bad, ok]);
    }

    #[test]
    fn a_field_that_was_wrong_already_is_not_judged_a_second_time() {
        let key = key(BindingKind::None, &[State::Active]);
        let policy = policy();
        let mut prepared = Prepared::default();
        prepared.push(|_| Err(Code::Base64Invalid), |_| Ok(()));
        prepared.push(|_| Ok(()), |_| Err(Code::AadTooLarge));
        let principal = policy.principal(ME).unwrap();
        let plan = plan(
            DataOperation::Decrypt,
            &key,
            (&policy, &principal, None),
            prepared,
        )
        .unwrap();
        let Prepared { items, refused, .. } = &plan.prepared;
        assert!(plan.request.versions.is_empty());
        let codes: Vec<_> = (0..2).map(|index| refused.code(index, Code::Ok)).collect();
        assert_eq!(codes, [Code::Base64Invalid, Code::AadTooLarge]);
        assert!(items.iter().all(|item| item.payload.is_empty()));
    }
}
