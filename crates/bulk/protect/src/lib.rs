//! Whole files: columns protected, revealed and migrated, the rest byte for byte as it was.
//!
//! * [`Source`]: a CSV file that is open, with its layout.
//! * [`Plan`]: what happens to which column, settled before the first row; [`Keys`] come from the caller.
//! * [`run`]: any number of threads, one order of rows, constant memory; a journal from which an interrupted
//!   run goes on; the output under its name only when it is whole.
//! * [`Columns`] and [`Stage`]: the same columns and the same files for tables that are no CSV.
//! * [`Guard`]: which quoted cells may be rows, and are refused.
//! * [`Protection`]: what stands beside protected data, under a MAC and a check value per key.
//!
//! Quoting, line ends, a byte order mark and all other columns stay as they are. What a value must look like
//! is `keywright-format`'s matter, what a CSV file is `keywright-tabular`'s.
//!
//! Not here: where keys come from, files without a header, other tables than CSV.
#![forbid(unsafe_code)]

mod block;
mod cell;
mod checksum;
mod columns;
mod error;
mod feed;
mod files;
#[doc(hidden)]
pub mod fuzzing;
mod guard;
mod journal;
mod key;
mod lookup;
mod order;
mod plan;
mod protection;
mod resume;
mod run;
mod step;
mod writeback;

pub use checksum::{Checksum, Summing};
pub use columns::Columns;
pub use error::Error;
pub use files::{Files, Input, Overwrite, Source, protection_of};
pub use guard::{Ambiguity, AmbiguousCell, Guard};
pub use journal::{Checksums, Position};
pub use key::{ColumnKey, Keys};
pub use keywright_fpe::Mode;
pub use lookup::Lookup;
pub use plan::{Direction, Foreign, Origin, Plan};
pub use protection::{LONGEST_PROTECTION, Protection};
pub use resume::{Stage, forget};
pub use run::{ColumnSummary, Options, Progress, Summary, run};
pub use step::Counts;
