//! How much a request may bring or ask for. Sentences of errors and the OpenAPI document name these.

/// Most bytes of additional data of one item (design 7.5).
pub const MAX_AAD: usize = 16 << 10;
/// The header of a stream that has its additional data, in base64.
pub const AAD_HEADER: &str = "keywright-aad";
/// The header of a stream's answer that says under which key version it is.
pub const KEY_VERSION_HEADER: &str = "keywright-key-version";
/// Most bytes of the tweak of one item, names of columns and four bytes for each length included.
pub const MAX_TWEAK: usize = 16 << 10;
/// Most random bytes of one item.
pub const MAX_RANDOM: u64 = 1 << 16;
/// Most random bytes of one request: as base64 they are as long as the longest body.
pub const MAX_RANDOM_TOTAL: u64 = 12 << 20;

/// The limits that a configuration may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Most bytes of a request's body.
    pub body_bytes: usize,
    /// Most items of a batch.
    pub items: usize,
}

impl Limits {
    /// 16 MiB and 10,000 items.
    pub const DEFAULT: Self = Self {
        body_bytes: 16 << 20,
        items: 10_000,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
