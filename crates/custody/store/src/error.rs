//! Everything that can go wrong below this crate's interface.

use std::io::ErrorKind;

use crate::{RowKey, Table};

/// Why the store did not do it.
///
/// Sorted by whose fault it is: the caller's, the data's, the environment's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    // The caller: another order, or the same one after a fresh read.
    /// A compare-and-set lost: the row is not at the revision that was expected.
    #[error("a row of {table} has changed since it was read")]
    Conflict {
        /// The row's table.
        table: Table,
    },
    /// A row to be inserted is there already.
    #[error("a row of {table} exists already")]
    Exists {
        /// The row's table.
        table: Table,
    },
    /// Rows of this table stay for ever.
    #[error("rows of {table} are never deleted")]
    Permanent {
        /// The table.
        table: Table,
    },
    /// A watcher called the store from the store's own thread, which would wait for itself.
    #[error("the store was called from its own thread")]
    Reentrant,
    /// One transaction names one row twice.
    #[error("a row of {table} is named twice in one transaction")]
    RepeatedRow {
        /// The row's table.
        table: Table,
    },
    /// The row belongs to the store itself.
    #[error("the row of {table} is written by the store alone")]
    ReservedRow {
        /// The row's table.
        table: Table,
    },
    /// A key or body is longer than a row may hold.
    #[error("a key or body is too long for a row of {table}")]
    TooLong {
        /// The row's table.
        table: Table,
    },

    // The data: someone else wrote to it, or it rotted.
    /// The database contradicts itself.
    #[error("the database is damaged")]
    Corrupt,
    /// A counter, revision or epoch has reached its end.
    #[error("a counter of {table} is used up")]
    Exhausted {
        /// The counter's table.
        table: Table,
    },
    /// The database was written by a later version of this program.
    #[error("the database has schema {found}, this program knows {supported}")]
    NewerSchema {
        /// The schema number in the file.
        found: i64,
        /// The newest schema number known here.
        supported: i64,
    },
    /// The file is not a database of this program.
    #[error("the file is not a database of this program")]
    NotOurs,
    /// A row does not fit its MAC: altered, or moved from elsewhere.
    #[error("row {key} of {table} was altered outside the store")]
    RowAltered {
        /// The row's table.
        table: Table,
        /// The row's key.
        key: RowKey,
    },
    /// Each row fits its MAC, but together they are not what was last written.
    #[error("rows of {table} were removed, added or put back outside the store")]
    SetAltered {
        /// The table.
        table: Table,
    },
    /// The epoch or the summary row was altered, or the row key is that of another store.
    #[error(
        "the epoch or the summary was altered outside the store, or the key is of another store"
    )]
    SummaryAltered,

    // The environment: the order was right and may be repeated.
    /// Another process has the database open.
    #[error("another process has the database open")]
    Busy,
    /// No space is left; nothing was written.
    #[error("no space is left for the database")]
    Full,
    /// The operating system refused to read or write; nothing was acknowledged.
    #[error("the database cannot be read or written: {0}")]
    Io(ErrorKind),
    /// The store was shut down.
    #[error("the store has stopped")]
    Stopped,
}

impl Error {
    /// Whether the disk or the database is at fault, and not the order.
    #[must_use]
    pub const fn is_failure(&self) -> bool {
        match self {
            Self::Busy
            | Self::Corrupt
            | Self::Full
            | Self::Io(_)
            | Self::NewerSchema { .. }
            | Self::NotOurs
            | Self::RowAltered { .. }
            | Self::SetAltered { .. }
            | Self::Stopped
            | Self::SummaryAltered => true,
            Self::Conflict { .. }
            | Self::Exhausted { .. }
            | Self::Exists { .. }
            | Self::Permanent { .. }
            | Self::Reentrant
            | Self::RepeatedRow { .. }
            | Self::ReservedRow { .. }
            | Self::TooLong { .. } => false,
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::Full,
            kind => Self::Io(kind),
        }
    }
}
