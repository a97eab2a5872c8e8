//! Why a backup was not opened, believed or restored.

use std::path::PathBuf;

use keywright_audit::verify::Failure as Verdict;

use super::LONGEST_BACKUP;
use super::settings::Unconfirmed;
use crate::HomeError;

/// What went wrong with a backup.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// The file cannot be read.
    #[error("{0} cannot be read")]
    Read(PathBuf, #[source] std::io::Error),
    /// The file is longer than a backup may be.
    #[error("the file has {0} bytes; a backup has {LONGEST_BACKUP} at most")]
    TooLong(u64),
    /// The file does not open.
    #[error(transparent)]
    Sealed(#[from] keywright_container::Error),
    /// It opened, and holds something else.
    #[error("the file holds no backup that this version knows")]
    Content,
    /// It is of another format.
    #[error("the backup has format {0}; this version reads format 2")]
    Format(u8),
    /// Rows are missing in it.
    #[error("the backup is not complete: it has fewer or more rows than it says itself")]
    Incomplete,
    /// It was signed by another key, or changed after it was signed.
    #[error("the backup was not signed by the key with this fingerprint")]
    Signer,
    /// Its configuration reaches outside of the home, and the order does not confirm that.
    #[error(transparent)]
    Unconfirmed(Box<Unconfirmed>),
    /// Two settings of its configuration name one place of the home.
    #[error("{first} and {second} of the backup's configuration name the same place")]
    Collision {
        /// A setting, or a file that every home has.
        first: &'static str,
        /// Another setting.
        second: &'static str,
    },
    /// The order has something for a token, and the home has none.
    #[error("{0} is for a token, and the configuration of the backup has none")]
    NoToken(&'static str),
    /// The rows are not what the store of this root wrote.
    #[error("the rows of the backup are not those of this root: {0}")]
    Rows(#[source] keywright_store::Error),
    /// The root's password, the PIN or the token is not there.
    #[error("{0} is needed to restore, and is in no backup")]
    SecretMissing(&'static str),
    /// The log is of another installation.
    #[error("the audit log is of another installation or node than the backup")]
    ForeignLog,
    /// The log ends before the backup.
    #[error(
        "the audit log does not reach to the backup: it is older, was cut back, or begins after it"
    )]
    StaleLog,
    /// A node writes the log.
    #[error("a node is running on this audit log")]
    LogInUse,
    /// The log does not verify.
    #[error("the audit log is not whole: {0}")]
    Log(#[source] Box<Verdict>),
    /// Anything about the new home.
    #[error(transparent)]
    Home(#[from] HomeError),
}

impl BackupError {
    /// What to do about it, in one sentence.
    #[must_use]
    pub fn advice(&self) -> &str {
        match self {
            Self::Read(..) => "check that the path exists and that this user may use it",
            Self::Sealed(_) => {
                "check the password or the key, and whether the whole file is there and unchanged"
            }
            Self::Content | Self::TooLong(_) => {
                "give a file that `keywright admin backup create` has written"
            }
            Self::Format(1) => {
                "restore it with the version that wrote it, and make a backup of that home with this version: format 1 is not signed"
            }
            Self::Format(_) => "restore it with the version that wrote it, or a later one",
            Self::Incomplete => "take an older backup; this one was not written by a node in order",
            Self::Signer => {
                "do not trust this file, or give the fingerprint that was noted when its home was made"
            }
            Self::Unconfirmed(settings) => settings.advice(),
            Self::Collision { .. } => {
                "mend the configuration of the home that was backed up, and make another backup"
            }
            Self::NoToken(_) => "leave it out",
            Self::Rows(_) => "do not trust this file: somebody has put other rows into it",
            Self::SecretMissing(_) => {
                "give it with --root-password-file or --token-pin-file, from where it is kept"
            }
            Self::ForeignLog => "give the audit folder of the node that the backup is of",
            Self::StaleLog => {
                "give the newest copy of the audit folder, or say --without-log and order again what was ordered since"
            }
            Self::LogInUse => "stop that node first: two nodes must not go on from one log",
            Self::Log(_) => {
                "compare the folder with other copies of it, or say --without-log and order again what was ordered since"
            }
            Self::Home(error) => error.advice(),
        }
    }
}

impl From<keywright_store::Error> for BackupError {
    fn from(error: keywright_store::Error) -> Self {
        Self::Home(error.into())
    }
}

impl From<keywright_audit::AuditError> for BackupError {
    fn from(error: keywright_audit::AuditError) -> Self {
        Self::Home(error.into())
    }
}

impl From<keywright_custody::rows::Error> for BackupError {
    fn from(error: keywright_custody::rows::Error) -> Self {
        Self::Home(error.into())
    }
}
