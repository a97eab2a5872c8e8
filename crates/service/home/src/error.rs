//! Why a home cannot be made, opened or served.

use std::path::PathBuf;

use keywright_audit::AuditError;
use keywright_custody::{HolderError, rows};
use keywright_keystore::Error as KeystoreError;
use keywright_pkcs11::Error as TokenError;
use keywright_server::transport;
use keywright_service::AdminError;
use keywright_token_process::StartError;

use crate::ConfigError;

/// What went wrong with a home.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HomeError {
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// There is something at the place of the new home.
    #[error("{0} exists and is not empty")]
    Occupied(PathBuf),
    /// A file or folder cannot be read or written.
    #[error("{path} cannot be {action}")]
    File {
        /// The file.
        path: PathBuf,
        /// "read" or "written".
        action: &'static str,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The password file can be read by others.
    #[error("{0} can be read by other users")]
    PasswordExposed(PathBuf),
    /// The password file holds no password.
    #[error("{0} is empty")]
    PasswordEmpty(PathBuf),
    /// Certificates, keys or revocation lists cannot be used.
    #[error(transparent)]
    Tls(#[from] keywright_tls::Error),
    /// The revocation list on disk is older than the one that was in force.
    #[error("the revocation list is older than the one that was in force")]
    OlderRevocationList,
    /// The keystore cannot be opened.
    #[error(transparent)]
    Keystore(#[from] KeystoreError),
    /// The token cannot be opened, or does not have the root key.
    #[error("the token cannot be used: {0}")]
    Token(#[source] TokenError),
    /// The token's process cannot be started, or cannot open the token.
    #[error("the token cannot be used: {0}")]
    TokenProcess(#[source] StartError),
    /// This process uses the module for another token, or in another way, already.
    #[error("{0} is in use in this process with other settings")]
    TokenInUse(PathBuf),
    /// Another process has the store open.
    #[error("the store is in use by another process")]
    Busy,
    /// The store cannot be opened.
    #[error("the store cannot be opened: {0}")]
    Store(keywright_store::Error),
    /// The store lacks a row that every home has.
    #[error("the store is not that of a finished home: {0} is missing")]
    StoreIncomplete(&'static str),
    /// The store is older than the newest audit head: it was put back.
    #[error(
        "the store is at epoch {store}, the audit log at epoch {log}: the store was put back to an older state"
    )]
    StoreOlder {
        /// The store's epoch.
        store: u64,
        /// The newest head's epoch.
        log: u64,
    },
    /// Rows cannot be read.
    #[error(transparent)]
    Rows(#[from] rows::Error),
    /// The audit log cannot be opened.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// An order was not carried out.
    #[error(transparent)]
    Admin(#[from] AdminError),
    /// The server cannot start.
    #[error(transparent)]
    Transport(#[from] transport::Error),
    /// An address cannot be had: the probe's, or one that a check tried.
    #[error("{addr} cannot be listened on")]
    Probe {
        /// The address.
        addr: std::net::SocketAddr,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The server's certificate on disk has run out.
    #[error("the server's certificate ended at {}", .0.rfc3339())]
    CertificateExpired(keywright_clock::WallTime),
    /// No node runs in this home.
    #[error("no node runs in this home")]
    NotRunning,
    /// The system forbids locking memory and the configuration requires it.
    #[error(
        "the system forbids locking memory (errno {0}) and keystore.memory_lock is \"require\""
    )]
    MemoryLock(i32),
    /// A thread could not be started.
    #[error("a thread could not be started")]
    Thread(#[source] std::io::Error),
    /// A file could not be sealed.
    #[error("the file cannot be sealed: {0}")]
    Sealing(#[source] keywright_container::Error),
    /// A backup would lie in the home that it is to replace.
    #[error("{0} lies in the home itself: what takes the home away takes the backup too")]
    BackupInside(PathBuf),
    /// There is no randomness.
    #[error("there is no randomness")]
    Randomness(#[from] keywright_primitives::Error),
    /// The running node refused an order.
    #[error("{sentence}")]
    Refused {
        /// The stable code.
        code: String,
        /// What the node said.
        sentence: String,
        /// What it says to do.
        advice: String,
    },
    /// The running node could not be talked to.
    #[error("the running node does not answer")]
    Control(#[source] std::io::Error),
    /// A name that is none.
    #[error(transparent)]
    Name(#[from] keywright_types::MalformedName),
    /// The policy names no principal like this.
    #[error("the policy has no principal {0}")]
    PrincipalUnknown(String),
    /// The certificate was not issued by this home's authority.
    #[error("the certificate was not issued by this authority")]
    NotIssuedHere,
}

impl HomeError {
    /// What to do about it, in one sentence.
    #[must_use]
    #[expect(
        clippy::too_many_lines,
        reason = "a table, one sentence for each error"
    )]
    pub fn advice(&self) -> &str {
        match self {
            Self::Config(_) => "mend the configuration; docs/operations.md lists every key",
            Self::Occupied(_) => {
                "choose another --home, or remove that folder if nothing in it is needed"
            }
            Self::File { .. } => "check that the path exists and that this user may use it",
            Self::PasswordExposed(_) => "run chmod 600 on it",
            Self::PasswordEmpty(_) => "put the root's password into it, on one line",
            Self::Tls(_) => {
                "check the certificate, key and revocation list files that the configuration names"
            }
            Self::OlderRevocationList => {
                "put the newest revocation list back; an older one would admit revoked clients"
            }
            Self::Keystore(_) => {
                "check keystore.root and keystore.password_file; without both no key can be opened"
            }
            Self::Token(_) | Self::TokenProcess(_) => {
                "check the section [token] of keywright.toml and that the token is there: keywright hsm list-slots --module FILE"
            }
            Self::TokenInUse(_) => "give every home of this process the same section [token]",
            Self::Busy => {
                "stop the other process, or give the order while it runs: it listens on the home's control socket"
            }
            Self::Store(_) | Self::StoreIncomplete(_) | Self::Rows(_) => {
                "restore the store from a backup; do not repair it by hand"
            }
            Self::StoreOlder { .. } => {
                "put the newest store back: an older one may undo revocations and destroyed keys"
            }
            Self::Audit(_) => {
                "check the audit folder and the space on its disk; without it nothing is served"
            }
            Self::Admin(AdminError::Misfit(misfit)) => misfit.advice(),
            Self::Refused { advice, .. } if !advice.is_empty() => advice,
            Self::Admin(AdminError::Holder(HolderError::Leftover)) => {
                "find the object by the key's id (keywright hsm find-key), make sure that nothing was sealed with it, delete it, and give the order again"
            }
            Self::Admin(_) | Self::Refused { .. } => {
                "nothing was changed; correct the order and give it again"
            }
            Self::Transport(_) | Self::Probe { .. } => {
                "choose another address in the configuration or with --listen, or stop what uses it"
            }
            Self::CertificateExpired(_) => "put a certificate in place that is valid now",
            Self::NotRunning => "start it with keywright serve; it reads everything when it starts",
            Self::MemoryLock(_) => {
                "raise the limit on locked memory (ulimit -l), or set keystore.memory_lock = \"try\""
            }
            Self::Thread(_) | Self::Randomness(_) => "free resources of the machine and try again",
            Self::Sealing(keywright_container::Error::Write(_)) => {
                "make room there or choose another place; nothing was left behind"
            }
            Self::Sealing(_) => {
                "give recipients whose public keys `keywright seal keygen` has printed"
            }
            Self::BackupInside(_) => "choose a place outside of the home, best on another disk",
            Self::Control(_) => "see whether the node is stopping; try again in a moment",
            Self::Name(_) => "use a name of letters, digits, '.', '_' and '-'",
            Self::PrincipalUnknown(_) => {
                "add the principal to the policy first: keywright admin policy apply"
            }
            Self::NotIssuedHere => "give a certificate that this home's authority issued",
        }
    }
}

impl From<keywright_store::Error> for HomeError {
    fn from(error: keywright_store::Error) -> Self {
        match error {
            keywright_store::Error::Busy => Self::Busy,
            other => Self::Store(other),
        }
    }
}
