//! Readers of vector files, and the counting of what they decide.
//!
//! * [`Family`]: the folder of one family of foreign files, which are never copied into the repository.
//! * [`wycheproof`]: the JSON shape that C2SP's Wycheproof files share.
//! * [`golden`]: our own committed vectors under `vectors/golden`.
//! * [`Tally`]: what passed, failed and was skipped, and why.
//!
//! The folder is named by `KEYWRIGHT_VECTORS`, by default the one beside the repository. Without it the
//! cases are counted as skipped and the suite passes; with the variable set, an empty family is a failure.
//!
//! Not here: any algorithm. The crate that owns one decides its cases.
#![forbid(unsafe_code)]

mod family;
pub mod golden;
mod record;
mod tally;
pub mod wycheproof;

pub use family::{Family, repository};
pub use record::{Record, inflate};
pub use tally::{Failures, Tally, Verdict};

use std::path::PathBuf;

/// Why vectors could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file says it holds another number of cases than it does.
    #[error("{file} declares {declared} cases and holds {found}")]
    Count {
        /// The file.
        file: String,
        /// What it says.
        declared: u64,
        /// What it holds.
        found: u64,
    },
    /// The folder was named, and holds nothing of this family.
    #[error("no file of the family {family} where KEYWRIGHT_VECTORS points")]
    Empty {
        /// The family.
        family: String,
    },
    /// A file could not be read.
    #[error("cannot read {path}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is not JSON.
    #[error("{path} is not JSON")]
    Json {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// A case has no such field, or one of another type.
    #[error("{case}: field {field} is missing or of another type")]
    Shape {
        /// The case.
        case: String,
        /// The field.
        field: String,
    },
    /// Bytes that are rebuilt from other cases do not have the digest that is written beside them.
    #[error("{case}: the rebuilt bytes have another digest")]
    Rebuilt {
        /// The case.
        case: String,
    },
}
