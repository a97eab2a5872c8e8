//! The error of this crate.

use std::io;

use crate::finding::Finding;

/// Why the log could not be opened or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// Data: the log on disk is damaged where it must be continued.
    #[error("the audit log cannot be continued: {0}")]
    Damaged(#[source] Finding),
    /// Caller: another process has this folder open.
    #[error("the audit folder is in use by another process")]
    InUse,
    /// Environment: the file system refused.
    #[error("{step} failed")]
    Io {
        /// What was being done.
        step: Step,
        /// What the operating system said.
        source: io::Error,
    },
    /// Environment: no random bytes for a boot id.
    #[error("no random bytes for a boot id")]
    Randomness,
    /// Caller: the record's fields are longer than a record may be.
    #[error("the record is longer than a record may be")]
    RecordTooLarge,
    /// Caller: the newest head was signed by another key; a change of keys is signed by the old one.
    #[error("the newest head was signed by another key")]
    SignerMismatch,
    /// Data: the store knows an older head than one that the log has signed long since, so it was put back.
    #[error(
        "the store knows the audit log up to head {known}, the log goes on to head {newest}: the store was put back to an older state"
    )]
    StoreBehind {
        /// The newest head that the store knows.
        known: u64,
        /// The newest head of the log.
        newest: u64,
    },
    /// Data: the store is older than the newest audit record: it was put back.
    #[error(
        "the store is at epoch {store}, the audit log at epoch {log}: the store was put back to an older state"
    )]
    StoreOlder {
        /// The store's epoch.
        store: u64,
        /// The log's.
        log: u64,
    },
    /// Environment: nothing can be recorded now. Whatever was to be recorded must not be released.
    #[error("the audit log cannot be written")]
    Unavailable,
}

/// What was being done when the file system refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(
    missing_docs,
    reason = "the variants are their own sentences, see `Display`"
)]
pub enum Step {
    CreateFolder,
    Lock,
    PreallocateReserve,
    ReadHistory,
    Remove,
    StartThread,
    WriteHead,
    WriteRecord,
}

impl Step {
    pub(crate) fn failed(self) -> impl FnOnce(io::Error) -> AuditError {
        move |source| AuditError::Io { step: self, source }
    }
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::CreateFolder => "creating the audit folder",
            Self::Lock => "locking the audit folder",
            Self::PreallocateReserve => "laying out the reserve of the audit log",
            Self::ReadHistory => "reading the older audit files",
            Self::Remove => "removing pruned audit files",
            Self::StartThread => "starting the audit thread",
            Self::WriteHead => "writing a head of the audit log",
            Self::WriteRecord => "writing an audit record",
        })
    }
}
