//! The readers, one per form. Each brings what it understands to tables, cases or claims.

pub(crate) mod cases;
pub(crate) mod claims;
pub(crate) mod delimited;
pub(crate) mod json;
pub(crate) mod lines;
pub(crate) mod markdown;

/// More columns than any table of figures has; what lies beyond is not read.
pub(crate) const MAX_COLUMNS: usize = 64;

/// A name or line of prose longer than this is read as far as this.
const MAX_CHARS: usize = 400;

/// The beginning of a text, so that what is repeated beside every figure stays short.
pub(crate) fn clip(text: &str) -> &str {
    let end = text
        .char_indices()
        .nth(MAX_CHARS)
        .map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or_default()
}
