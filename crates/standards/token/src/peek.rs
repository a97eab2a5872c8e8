//! What a token says about itself before anybody has verified it.

use crate::error::Error;
use crate::format::{End, KeyId, Parsed, Suite};
use crate::revoke::RevocationId;

/// Where a token says it comes from. True only once it was verified: good for finding a key or a way to
/// narrow, never for deciding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peek {
    suite: Suite,
    key: KeyId,
    id: RevocationId,
    blocks: usize,
    open: bool,
    bound: bool,
}

impl Peek {
    /// Reads the shape of a token.
    ///
    /// # Errors
    /// [`Error::Malformed`] if it has none.
    pub fn at(token: &[u8]) -> Result<Self, Error> {
        let parsed = Parsed::of(token)?;
        Ok(Self {
            suite: parsed.header.suite,
            key: parsed.header.key,
            id: parsed.header.id,
            blocks: parsed.count,
            open: matches!(parsed.end, End::Open(_)),
            bound: parsed.header.bound,
        })
    }

    /// How it is authenticated.
    #[must_use]
    pub const fn suite(&self) -> Suite {
        self.suite
    }

    /// The key by which it is to be verified.
    #[must_use]
    pub const fn key_id(&self) -> KeyId {
        self.key
    }

    /// Its id.
    #[must_use]
    pub const fn id(&self) -> RevocationId {
        self.id
    }

    /// How many blocks it has.
    #[must_use]
    pub const fn blocks(&self) -> usize {
        self.blocks
    }

    /// Whether the holder of a delegation key has to close it before it is accepted.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.open
    }

    /// Whether it is bound to a session.
    #[must_use]
    pub const fn is_bound(&self) -> bool {
        self.bound
    }
}
