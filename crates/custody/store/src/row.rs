//! Rows, the same in every table and engine.

use std::fmt;

use keywright_encoding::hex;
use keywright_primitives::mac::Mac;
use keywright_types::TenantId;

/// The longest key of a row.
pub(crate) const MAX_KEY_LEN: usize = 1024;
/// The longest body of a row.
pub(crate) const MAX_BODY_LEN: usize = 16 << 20;

/// One row.
#[derive(Clone, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "engines build rows, and a new column must be faced by each of them"
)]
pub struct Row {
    /// The key within its table.
    pub key: Vec<u8>,
    /// The tenant the row belongs to, for ever; all zero for none.
    pub tenant: TenantId,
    /// 1 at creation and one more at each write; 0 stands for a row that is not there.
    pub revision: u64,
    /// The state epoch of the transaction that wrote the row.
    pub epoch: u64,
    /// What the caller stored.
    pub body: Vec<u8>,
    /// The row MAC of design 7.15, for audit records and approvals; all zero in `meta`.
    pub mac: Mac,
}

// A body is sealed or public by the rules of the floors above, but a log line is no place for it.
impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Row")
            .field("key", &hex::encode(&self.key))
            .field("tenant", &self.tenant)
            .field("revision", &self.revision)
            .field("epoch", &self.epoch)
            .field("body_len", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// The key of a row, for messages: it prints as hexadecimal digits.
#[derive(Clone, PartialEq, Eq)]
pub struct RowKey(Vec<u8>);

impl RowKey {
    /// The key with these bytes.
    #[must_use]
    pub const fn from_vec(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for RowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for RowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RowKey({self})")
    }
}
