//! What can go wrong when a result is read back.

/// Why bytes are not a result that can be used.
///
/// Everything here is about the bytes that were read; writing a result cannot fail except for
/// [`Error::Unwritable`], which would be a bug of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// More bytes than any result has.
    #[error("{size} bytes are more than the {limit} a result may have")]
    TooLarge {
        /// What was offered.
        size: usize,
        /// What is accepted.
        limit: usize,
    },
    /// Not JSON, a member twice, or a member of the wrong kind.
    #[error("not the JSON of a result: {0}")]
    Malformed(serde_json::Error),
    /// JSON, but of something else.
    #[error("this is not a result: it does not name the form it follows")]
    NotAResult,
    /// A form this program does not know.
    #[error(
        "form {found:?} cannot be read; this program reads version {known} and later ones of the same major version"
    )]
    UnknownVersion {
        /// What the bytes say.
        found: String,
        /// What is read.
        known: &'static str,
    },
    /// A figure of a foreign result that cannot be one, such as a negative time.
    #[error("result number {place} has an impossible {field}")]
    ImpossibleFigure {
        /// The result's place, from 1.
        place: usize,
        /// The field.
        field: &'static str,
    },
    /// A document that could not be written as JSON: a bug.
    #[error("the result could not be written")]
    Unwritable(#[source] serde_json::Error),
}
