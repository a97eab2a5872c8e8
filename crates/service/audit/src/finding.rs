//! What can be wrong with a log, and where.

use std::fmt;

use crate::record::Malformed;

/// One thing that is wrong: the file, the byte where the record or head begins, and what.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub struct Finding {
    /// The file's name within the folder.
    pub file: String,
    /// Where the record or head begins that is wrong, or where something should be.
    pub offset: u64,
    /// The record's sequence number, or the head's number, where one is meant.
    pub sequence: Option<u64>,
    /// What is wrong.
    pub fault: Fault,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.file, self.offset)?;
        if let Some(sequence) = self.sequence {
            write!(f, ", number {sequence}")?;
        }
        write!(f, ": {}", self.fault)
    }
}

/// What is wrong at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Bytes after the end that a head states, or after a shutdown.
    #[error("bytes follow after the stated end")]
    After,
    /// The file ends before the record or head does.
    #[error("cut off")]
    Cut,
    /// The newest head known from outside is not in the log.
    #[error("the log was cut back to before a head that is known")]
    CutBack,
    /// A record's epoch is above that of the head that covers it, or a head's epoch went back.
    #[error("the epoch is out of order")]
    Epoch,
    /// The front is missing and no signed head says that it was pruned.
    #[error("the front of the log is missing")]
    Front,
    /// A head that cannot be parsed.
    #[error("malformed head")]
    Head,
    /// A head of this kind, node or boot cannot stand here.
    #[error("a head of this kind cannot stand here")]
    HeadOrder,
    /// A length that no record or head can have.
    #[error("impossible length")]
    Length,
    /// The record does not fit the chain: it, or one before it, was changed, moved or removed.
    #[error("the link does not fit")]
    Link,
    /// A file that heads state is not there.
    #[error("the file is missing")]
    Missing,
    /// The first record does not name this file, this node, or the head that was newest.
    #[error("the file does not start as this file must")]
    Origin,
    /// A head does not name the one before it.
    #[error("the head does not follow the one before")]
    Previous,
    /// A record that fits the chain but is none.
    #[error("malformed record: {0}")]
    Record(Malformed),
    /// A record's number is not its place.
    #[error("the sequence number is not the next")]
    Sequence,
    /// A head's signature does not fit.
    #[error("the signature does not fit")]
    Signature,
    /// A head's signer was not appointed.
    #[error("signed by a key that was not appointed")]
    Signer,
    /// A head states another record, link or length than the file has.
    #[error("the file is not what a signed head states")]
    State,
    /// A file that no head states and no crash explains.
    #[error("no signed head states this file")]
    Unstated,
}
