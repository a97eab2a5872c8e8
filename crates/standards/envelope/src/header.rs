//! What stands in front of every envelope (design 7.4).

use keywright_encoding::Reader;
use keywright_types::{BindingKind, GroupId, KeyId, KeyVersion, Kind, PrincipalId, Suite};

use crate::{Identity, Malformed};

/// Magic and version 1; in base64 it begins `KWR1` together with the suite.
pub(crate) const MAGIC: [u8; 3] = [0x29, 0x64, 0x75];

/// What an envelope is bound to besides its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever opens has to face every binding"
)]
pub enum Binding {
    /// Nothing.
    None,
    /// One principal.
    Principal(PrincipalId),
    /// One group.
    Group(GroupId),
}

impl Binding {
    /// Which of the three it is.
    #[must_use]
    pub const fn kind(&self) -> BindingKind {
        match self {
            Self::None => BindingKind::None,
            Self::Principal(_) => BindingKind::Principal,
            Self::Group(_) => BindingKind::Group,
        }
    }

    /// The id of what it is bound to; `None` without a binding.
    #[must_use]
    pub const fn id(&self) -> Option<&[u8; 16]> {
        match self {
            Self::None => None,
            Self::Principal(id) => Some(id.as_bytes()),
            Self::Group(id) => Some(id.as_bytes()),
        }
    }
}

/// The header of an envelope, which is also the first part of its associated data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the format has these fields for ever"
)]
pub struct Header {
    /// How the ciphertext is built.
    pub suite: Suite,
    /// What it holds.
    pub kind: Kind,
    /// What it is bound to.
    pub binding: Binding,
    /// The key.
    pub key: KeyId,
    /// The key's version; 0 for a data key.
    pub version: KeyVersion,
}

impl Header {
    /// Bytes of a header without a binding.
    pub const LEN: usize = 26;
    /// Bytes of a header with a binding.
    pub const BOUND_LEN: usize = Self::LEN + 16;

    /// What a key's envelopes with this binding begin with.
    pub(crate) const fn of(identity: Identity, binding: Binding) -> Self {
        let Identity {
            suite,
            kind,
            key,
            version,
        } = identity;
        Self {
            suite,
            kind,
            binding,
            key,
            version,
        }
    }

    /// Appends the header's bytes.
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(Encoded::of(self).as_bytes());
    }

    /// How many bytes the header has.
    #[must_use]
    pub const fn encoded_len(&self) -> usize {
        match self.binding {
            Binding::None => Self::LEN,
            Binding::Principal(_) | Binding::Group(_) => Self::BOUND_LEN,
        }
    }

    /// Which key opens it, for what.
    #[must_use]
    pub const fn identity(&self) -> Identity {
        Identity {
            suite: self.suite,
            kind: self.kind,
            key: self.key,
            version: self.version,
        }
    }

    pub(crate) fn parse(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        if *reader.array()? != MAGIC {
            return Err(Malformed);
        }
        let suite = Suite::from_number(reader.u8()?)?;
        let kind = Kind::from_number(reader.u8()?)?;
        let binding = BindingKind::from_number(reader.u8()?)?;
        if !holds(suite, kind) {
            return Err(Malformed);
        }
        let key = KeyId::from_bytes(*reader.array()?);
        let version = KeyVersion::from_number(reader.u32()?);
        let binding = match binding {
            BindingKind::None => Binding::None,
            BindingKind::Principal => Binding::Principal(PrincipalId::from_bytes(*reader.array()?)),
            BindingKind::Group => Binding::Group(GroupId::from_bytes(*reader.array()?)),
            _ => return Err(Malformed),
        };
        Ok(Self {
            suite,
            kind,
            binding,
            key,
            version,
        })
    }
}

/// Keys are wrapped by suites 1 to 4 alone (design 7.9).
pub(crate) fn holds(suite: Suite, kind: Kind) -> bool {
    kind == Kind::Message || !matches!(suite, Suite::Siv | Suite::Chunked)
}

/// The header of a key's envelopes without a binding, written once.
pub(crate) struct Front([u8; Header::LEN]);

/// Where the number of the binding's kind stands.
const BINDING_AT: usize = 5;

impl Front {
    pub(crate) fn of(identity: Identity) -> Self {
        let header = Encoded::of(&Header::of(identity, Binding::None));
        let mut front = [0; Header::LEN];
        front.copy_from_slice(&header.bytes[..Header::LEN]);
        Self(front)
    }

    /// Appends the header with this binding.
    pub(crate) fn put(&self, binding: Binding, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&self.0);
        if let Some(id) = binding.id() {
            out[start + BINDING_AT] = binding.kind().number();
            out.extend_from_slice(id);
        }
    }
}

/// A header's bytes on the stack.
pub(crate) struct Encoded {
    bytes: [u8; Header::BOUND_LEN],
    length: usize,
}

impl Encoded {
    pub(crate) fn of(header: &Header) -> Self {
        let mut bytes = [0; Header::BOUND_LEN];
        bytes[..3].copy_from_slice(&MAGIC);
        bytes[3] = header.suite.number();
        bytes[4] = header.kind.number();
        bytes[BINDING_AT] = header.binding.kind().number();
        bytes[6..22].copy_from_slice(header.key.as_bytes());
        bytes[22..26].copy_from_slice(&header.version.number().to_be_bytes());
        if let Some(id) = header.binding.id() {
            bytes[26..].copy_from_slice(id);
        }
        Self {
            bytes,
            length: header.encoded_len(),
        }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}
