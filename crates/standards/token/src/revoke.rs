//! Tokens and branches of tokens that are revoked before they expire.

use std::collections::HashMap;
use std::fmt;

use keywright_encoding::hex;

use crate::claims::UnixSeconds;

/// Names a token, or a branch of it that begins with one block: the token's id, or 16 bytes of a hash over
/// the block's tag. Not secret.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct RevocationId([u8; 16]);

impl RevocationId {
    /// Takes the bytes of an id.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes of the id.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// 32 lower-case hexadecimal digits.
impl fmt::Display for RevocationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for RevocationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RevocationId({self})")
    }
}

/// Who knows what is revoked. There is no answer "unknown": whoever cannot tell says yes.
pub trait Revocations {
    /// Whether this token or branch is revoked.
    fn is_revoked(&self, id: &RevocationId) -> bool;
}

/// Revoked ids in memory, each until what it names would have expired anyway.
#[derive(Clone, Debug, Default)]
pub struct DenySet(HashMap<RevocationId, UnixSeconds>);

impl DenySet {
    /// Nothing is revoked.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Revokes. `expires` is the end of the token; revoked twice, the later end counts.
    pub fn insert(&mut self, id: RevocationId, expires: UnixSeconds) {
        let end = self.0.entry(id).or_insert(expires);
        *end = expires.max(*end);
    }

    /// Forgets what no verifier would accept any more, whatever its tolerance for clocks. Until this is
    /// called an entry counts, even if its time is over.
    pub fn forget_expired(&mut self, now: UnixSeconds) {
        self.0
            .retain(|_, expires| now.number().saturating_sub(LONGEST_SKEW) < expires.number());
    }

    /// How many ids are revoked.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Revocations for DenySet {
    fn is_revoked(&self, id: &RevocationId) -> bool {
        !self.0.is_empty() && self.0.contains_key(id)
    }
}

/// Seconds by which clocks may differ at most.
pub(crate) const LONGEST_SKEW: u64 = 60;
