//! Everything that can go wrong with a history.

use std::io::ErrorKind;

use super::RunId;

/// Why the history did not do it. Whatever the reason, nothing was half written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    // The caller.
    /// The name cannot be printed on a line or typed in a command.
    #[error("a baseline's name has 1 to 64 characters and none of them is a control character")]
    BaselineName,
    /// Two cases of one document have the same id.
    #[error("the document has two cases called {case}")]
    CaseTwice {
        /// Their id.
        case: String,
    },
    /// An unoptimised build says nothing about any later one.
    #[error("run {run} was measured with a debug or quick build and cannot be a baseline")]
    DebugBaseline {
        /// The run.
        run: RunId,
    },
    /// The document's run id, or an id that was asked for.
    #[error("a run's id is 16 lower-case hex digits")]
    MalformedRunId,
    /// The document does not say when it started, so it has no place among others.
    #[error("a run's start is a date and time of RFC 3339 in UTC")]
    MalformedStart,
    /// The name is not in use.
    #[error("there is no baseline called {name:?}")]
    NoSuchBaseline {
        /// The name.
        name: String,
    },
    /// The id is not recorded.
    #[error("there is no run {run}")]
    NoSuchRun {
        /// The id.
        run: RunId,
    },
    /// The document holds a figure that JSON has no way to write, such as an infinite rate.
    #[error("the document holds a figure that is not a finite number")]
    NotFinite,
    /// The id is recorded.
    #[error("run {run} is recorded already")]
    RecordedTwice {
        /// The id.
        run: RunId,
    },

    // The data.
    /// The file contradicts itself.
    #[error("the history is damaged")]
    Damaged,
    /// A later version of this program wrote the file; nothing was changed.
    #[error("the history has layout {found}, this program knows {supported}")]
    NewerVersion {
        /// The layout in the file.
        found: i64,
        /// The newest layout known here.
        supported: i64,
    },
    /// Another program's file, or no database at all; nothing was changed.
    #[error("the file is not a history")]
    NotAHistory,

    // The environment: the order was right and may be repeated.
    /// Somebody else kept writing for longer than this program waits.
    #[error("the history is in use by another program")]
    Busy,
    /// No space is left.
    #[error("no space is left for the history")]
    Full,
    /// The operating system refuses to read or write the file.
    #[error("the history cannot be read or written: {0}")]
    Unreadable(ErrorKind),
}

impl From<std::io::Error> for HistoryError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::Full,
            kind => Self::Unreadable(kind),
        }
    }
}

impl From<rusqlite::Error> for HistoryError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::NotADatabase) => Self::NotAHistory,
            Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure) => {
                Self::Unreadable(ErrorKind::Other)
            }
            Some(ErrorCode::ReadOnly) => Self::Unreadable(ErrorKind::ReadOnlyFilesystem),
            Some(ErrorCode::PermissionDenied) => Self::Unreadable(ErrorKind::PermissionDenied),
            Some(ErrorCode::OutOfMemory) => Self::Unreadable(ErrorKind::OutOfMemory),
            // A missing table, a value of another kind, a broken page: the statements are all written
            // here and fit the layout, so it is the file that does not.
            _ => Self::Damaged,
        }
    }
}
