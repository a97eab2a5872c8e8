//! Columns of Parquet and Arrow IPC files: protected, revealed and migrated by the plans of `keywright-protect`,
//! with the tokens that a CSV file would get.
//!
//! * [`Table`]: a file that is open, with the names of its columns.
//! * [`run`]: a plan carried out, with a journal from which an interrupted run goes on.
//! * [`fuzzing`]: the promises of both as one function over arbitrary bytes.
//!
//! In **Parquet** a column that stays is copied as it is, byte for byte, with its statistics, indexes and bloom filter.
//! One that changes is written anew in the form it had: codec, dictionary, delta encoding, version of pages, and
//! statistics, page index and bloom filter if it had them, now of the tokens. Row groups, nulls and schema stay;
//! the sorting columns of a row group are cut at the first column that changes. In
//! memory is what the writer holds of one column of one row group, and of two where rows are rejected.
//!
//! In **Arrow** files and streams columns that stay are copied too, where batches have the common form; else each batch
//! is read and written whole. Dictionaries of columns that change are rewritten; compression and batches stay.
//!
//! **Metadata** stays where it holds no values: that of fields that change goes, and the rest is searched.
//!
//! Columns that change hold texts. Columns that tweaks are made of may hold whole numbers too. Not here: columns
//! within lists, dates and numbers with types of their own, encrypted Parquet. The libraries that read and write do
//! not wipe what they held.
#![forbid(unsafe_code)]

mod arrow;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod line;
mod metadata;
mod parquet;
mod positional;
mod run;
mod sink;
mod table;
mod walk;

pub use error::Error;
pub use run::run;
pub use table::{Batch, Kind, Table};
