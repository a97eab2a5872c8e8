//! What goes wrong when tokens are made, and why one is not accepted.

use std::fmt;

use crate::format::{KeyId, MAX_LEN};

/// Why no token was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The environment's: no randomness, or the backend refused.
    #[error("the crypto backend failed")]
    Backend(#[from] keywright_primitives::Error),
    /// The caller's: the last block of this token lets nobody add another.
    #[error("the token is closed, nobody can add a block to it")]
    Closed,
    /// The caller's: data of more than [`crate::MAX_DATA`] bytes, or of none.
    #[error("data of a token has 1 to 1024 bytes")]
    Data,
    /// The caller's: a token with a MAC names a delegation key. Everybody can narrow it without.
    #[error("only a signed token names a delegation key")]
    DelegationWithMac,
    /// The caller's: it does not begin before it ends.
    #[error("the token would expire before it begins")]
    Empty,
    /// The caller's: this id has a key already.
    #[error("the key id {0} is taken")]
    KeyIdTaken(KeyId),
    /// The caller's: the key is not the one that the token names.
    #[error("the token names another delegation key")]
    KeyOther,
    /// The data's: the bytes are no token.
    #[error("the bytes are no token")]
    Malformed,
    /// The caller's: an audience or subject is not 1 to 255 visible characters of ASCII.
    #[error("an audience or subject has 1 to 255 visible ASCII characters")]
    Name,
    /// The caller's: a signed token is narrowed with a delegation key, a token with a MAC without.
    #[error("tokens of this suite are narrowed in the other way")]
    OtherWay,
    /// The caller's: a scope is not words of 1 to 64 visible ASCII characters, ascending, with one space
    /// between them and none twice, in at most [`crate::MAX_SCOPE`] bytes.
    #[error("a scope is ascending words of visible ASCII characters with one space between them")]
    Scope,
    /// The caller's: tolerance for clocks beyond a minute.
    #[error("clocks may differ by at most 60 seconds")]
    Skew,
    /// The caller's: a time after the year 9999.
    #[error("a time after the year 9999")]
    Time,
    /// The caller's: more blocks than [`crate::MAX_BLOCKS`].
    #[error("a token has at most 8 blocks")]
    TooManyBlocks,
    /// The caller's: longer than [`MAX_LEN`].
    #[error("the token would have more than {MAX_LEN} bytes")]
    TooLong,
    /// The caller's: a block that says nothing, or more than the token does.
    #[error("a block must narrow what the token says")]
    Widens,
}

/// The token is not accepted. Whoever presents it learns no more; the reason is for the audit record.
#[derive(Clone, Copy, thiserror::Error)]
#[error("the token is not accepted")]
pub struct Rejected(Reason);

impl Rejected {
    /// Why, for the audit record and for nobody else.
    #[must_use]
    pub const fn reason_for_audit(&self) -> Reason {
        self.0
    }
}

impl fmt::Debug for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rejected")
    }
}

/// Why a token was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The token is for somebody else, or names nobody where a name is wanted.
    Audience,
    /// The token is bound to a session and there is none, or it is not bound and has to be.
    Binding,
    /// The time is over.
    Expired,
    /// No key has this id.
    KeyUnknown,
    /// The bytes are no token.
    Malformed,
    /// The token names a delegation key and was not closed by its holder.
    NotClosed,
    /// The time has not come.
    NotYetValid,
    /// The token or one of its blocks is in the deny set.
    Revoked,
    /// The scope does not hold what is wanted.
    Scope,
    /// The key with this id belongs to another suite.
    Suite,
    /// A MAC or signature does not fit: another key, another session, or changed bytes.
    Tag,
    /// A block says more than what stands before it.
    Widened,
}

impl Reason {
    /// A stable name, for records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Audience => "audience",
            Self::Binding => "binding",
            Self::Expired => "expired",
            Self::KeyUnknown => "key_unknown",
            Self::Malformed => "malformed",
            Self::NotClosed => "not_closed",
            Self::NotYetValid => "not_yet_valid",
            Self::Revoked => "revoked",
            Self::Scope => "scope",
            Self::Suite => "suite",
            Self::Tag => "tag",
            Self::Widened => "widened",
        }
    }
}

impl From<Reason> for Rejected {
    fn from(reason: Reason) -> Self {
        Self(reason)
    }
}

/// Bytes that are no token, before it is known who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

impl From<keywright_encoding::Truncated> for Malformed {
    fn from(_: keywright_encoding::Truncated) -> Self {
        Self
    }
}

impl From<Malformed> for Error {
    fn from(_: Malformed) -> Self {
        Self::Malformed
    }
}

impl From<Malformed> for Rejected {
    fn from(_: Malformed) -> Self {
        Self(Reason::Malformed)
    }
}
