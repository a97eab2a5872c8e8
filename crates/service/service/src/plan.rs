//! From a decided request to what a holder is asked: which version, which binding, which items.
//!
//! Everything that can be decided from an envelope's header is decided here, before a key is touched
//! (design 7.7, 7.8). A holder then sees only versions that may be used.

use std::sync::Arc;

use keywright_custody::{HolderOperation, Items, Key, Request, TooMuch, Version};
use keywright_envelope::{Binding, Envelope, Header};
use keywright_policy::{Policy, Principal};
use keywright_types::{BindingKind, Code, Kind, Operation};

/// What a caller can ask of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "each has its own way through every layer")]
pub enum DataOperation {
    /// Make data keys.
    Datakey,
    /// Open data keys.
    DatakeyOpen,
    /// Open messages.
    Decrypt,
    /// Seal messages.
    Encrypt,
    /// Seal again under the newest version.
    Rewrap,
}

impl DataOperation {
    /// What the caller must be allowed to do.
    #[must_use]
    pub const fn operation(self) -> Operation {
        match self {
            Self::Datakey => Operation::Datakey,
            Self::DatakeyOpen => Operation::DatakeyOpen,
            Self::Decrypt => Operation::Decrypt,
            Self::Encrypt => Operation::Encrypt,
            Self::Rewrap => Operation::Rewrap,
        }
    }

    /// Whether its answers hand out key material, which is synced first (design 7.29).
    #[must_use]
    pub const fn hands_out_keys(self) -> bool {
        matches!(self, Self::Datakey | Self::DatakeyOpen)
    }

    const fn holder_operation(self) -> HolderOperation {
        match self {
            Self::Datakey => HolderOperation::MakeDataKey,
            Self::DatakeyOpen => HolderOperation::OpenDataKey,
            Self::Decrypt => HolderOperation::Open,
            Self::Encrypt => HolderOperation::Seal,
            Self::Rewrap => HolderOperation::Reseal,
        }
    }

    const fn seals(self) -> bool {
        matches!(self, Self::Datakey | Self::Encrypt | Self::Rewrap)
    }

    const fn opens(self) -> bool {
        matches!(self, Self::DatakeyOpen | Self::Decrypt | Self::Rewrap)
    }
}

/// The items of a request, and which of them are refused already because a field of theirs is wrong.
#[derive(Debug, Default)]
pub struct Prepared {
    pub(crate) items: Items,
    pub(crate) refused: Refused,
}

impl Prepared {
    /// Room for `items` items of `bytes` bytes together.
    #[must_use]
    pub fn with_capacity(items: usize, bytes: usize) -> Self {
        Self { items: Items::with_capacity(items, bytes), refused: Refused::default() }
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
            self.refused.0.push((self.items.len(), code));
            // An empty item cannot be too much after a longer one was not.
            let _ = self.items.push_slices(REFUSED, &[], &[]);
        }
    }

    /// Number of items.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
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

/// What goes to the holder, and the items that are refused whatever it says.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) request: Request,
    pub(crate) refused: Refused,
}

/// Codes of items that were refused before the holder; empty in the usual case.
#[derive(Debug, Default)]
pub(crate) struct Refused(Vec<(usize, Code)>);

impl Refused {
    /// The code of the item at `index`, given what the holder said.
    pub(crate) fn code(&self, index: usize, holder: Code) -> Code {
        self.find(index).unwrap_or(holder)
    }

    fn find(&self, index: usize) -> Option<Code> {
        if self.0.is_empty() {
            return None;
        }
        let found = self.0.binary_search_by_key(&index, |(index, _)| *index);
        found.ok().map(|place| self.0[place].1)
    }

    fn add(&mut self, more: Vec<(usize, Code)>) {
        if !more.is_empty() {
            self.0.extend(more);
            self.0.sort_unstable_by_key(|(index, _)| *index);
        }
    }
}

/// Plans `operation` on `key` for `principal`, and points each item at its version.
pub(crate) fn plan(
    operation: DataOperation,
    key: &Key,
    (policy, principal): (&Policy, &Principal),
    prepared: Prepared,
    deadline_ns: u64,
) -> Result<(Plan, Items), Code> {
    let Prepared { mut items, mut refused } = prepared;
    let mut request = Request {
        operation: operation.holder_operation(),
        versions: Vec::with_capacity(1),
        binding: Binding::None,
        deadline_ns,
    };
    if operation.seals() {
        let active = key.active().ok_or(Code::NoActiveVersion)?;
        request.versions.push(Arc::clone(active.material()));
        request.binding = binding_for(key.binding(), principal)?;
    }
    if operation.opens() {
        let mut openable = Openable { operation, key, policy, principal, request: &mut request };
        let mut found = Vec::new();
        let mut index = 0;
        items.assign(|item| {
            let known = refused.find(index);
            let place = match known {
                Some(_) => REFUSED,
                None => openable.place(item.payload).unwrap_or_else(|code| {
                    found.push((index, code));
                    REFUSED
                }),
            };
            index += 1;
            place
        });
        refused.add(found);
    }
    Ok((Plan { request, refused }, items))
}

/// What new envelopes of a context are bound to, when this caller seals.
fn binding_for(kind: BindingKind, principal: &Principal) -> Result<Binding, Code> {
    match kind {
        BindingKind::None => Ok(Binding::None),
        BindingKind::Principal => Ok(Binding::Principal(principal.id())),
        // Whoever is in no group could seal for nobody.
        BindingKind::Group => principal.group().map(Binding::Group).ok_or(Code::OperationDenied),
        _ => Err(Code::Unsupported),
    }
}

struct Openable<'a> {
    operation: DataOperation,
    key: &'a Key,
    policy: &'a Policy,
    principal: &'a Principal,
    request: &'a mut Request,
}

impl Openable<'_> {
    /// The place of the envelope's version among the request's versions.
    fn place(&mut self, envelope: &[u8]) -> Result<u16, Code> {
        let envelope = Envelope::parse(envelope).map_err(|_| Code::CiphertextMalformed)?;
        let version = self.check(envelope.header())?;
        let versions = &mut self.request.versions;
        let known = versions.iter().position(|known| known.version() == version.number());
        let place = known.unwrap_or_else(|| {
            versions.push(Arc::clone(version.material()));
            versions.len() - 1
        });
        u16::try_from(place).map_err(|_| Code::TooManyItems)
    }

    /// Design 7.8: a state that forbids is named; everything else is one answer.
    fn check(&self, header: &Header) -> Result<&'a Version, Code> {
        let kind = match self.operation {
            DataOperation::DatakeyOpen => header.kind == Kind::Key,
            DataOperation::Decrypt => header.kind == Kind::Message,
            _ => true,
        };
        // `rewrap` needs only its own right (7.7): whoever may rewrap a context may rewrap all of it.
        let bound = self.operation == DataOperation::Rewrap || {
            let id = header.binding.id().unwrap_or(&[0; 16]);
            self.policy.may_open(self.principal, header.binding.kind(), id)
        };
        if header.key != self.key.id() || !kind || !bound {
            return Err(Code::DecryptionFailed);
        }
        let version = self.key.version(header.version).ok_or(Code::DecryptionFailed)?;
        if self.key.may_open(version) { Ok(version) } else { Err(Code::KeyVersionUnavailable) }
    }
}

/// Points at no version: a holder fails such an item without touching a key.
const REFUSED: u16 = u16::MAX;
