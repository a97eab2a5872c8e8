//! Why a home cannot be made, opened or served.

use std::path::PathBuf;

use keywright_audit::AuditError;
use keywright_custody::{HolderError, rows};
use keywright_keystore::Error as KeystoreError;
use keywright_pkcs11::Error as TokenError;
use keywright_server::transport;
use keywright_service::AdminError;
use keywright_store::Error as StoreError;
use keywright_tls::Older;
use keywright_token_process::StartError;
use keywright_types::Code;
use serde::{Deserialize, Serialize};

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
    /// A file that was to be new is there.
    #[error("{0} exists and is not written over")]
    Exists(PathBuf),
    /// The password file can be read by others.
    #[error("{0} can be read by other users")]
    PasswordExposed(PathBuf),
    /// The password file holds no password.
    #[error("{0} is empty")]
    PasswordEmpty(PathBuf),
    /// Certificates, keys or revocation lists cannot be used.
    #[error(transparent)]
    Tls(#[from] keywright_tls::Error),
    /// A list on disk is older than the one that was in force.
    #[error(transparent)]
    OlderTrust(#[from] Older),
    /// What is believed about clients must not be believed about administration.
    #[error("an authority of admin.authorities is one of clients.authorities as well")]
    SharedAuthority,
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
        /// The stable code, if it has one.
        code: Option<Code>,
        /// What kind of failure it is, if it has none.
        kind: Kind,
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

/// What kind of failure an error is. It is the same whether an order was carried out here or by a running node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever ends must say what each kind is there"
)]
pub enum Kind {
    /// A password or PIN is wrong.
    Authentication,
    /// A file, the system, or this program.
    Internal,
    /// There is none of this name.
    NotFound,
    /// Not allowed, or not in this state.
    Refused,
    /// What the home depends on failed.
    #[default]
    Target,
    /// The order or the configuration is wrong.
    Usage,
}

impl HomeError {
    /// The stable code under which the service knows it, if it does.
    #[must_use]
    pub const fn code(&self) -> Option<Code> {
        match self {
            Self::Admin(error) => Some(error.code()),
            Self::Refused { code, .. } => *code,
            _ => None,
        }
    }

    /// What kind of failure it is, where it has no code.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Config(_)
            | Self::Occupied(_)
            | Self::PasswordExposed(_)
            | Self::PasswordEmpty(_)
            | Self::Name(_)
            | Self::Tls(_)
            | Self::SharedAuthority
            | Self::NotIssuedHere
            | Self::CertificateExpired(_)
            | Self::Probe { .. }
            | Self::Transport(_)
            | Self::TokenInUse(_) => Kind::Usage,
            Self::BackupInside(_) | Self::Exists(_) | Self::OlderTrust(_) => Kind::Refused,
            Self::NotRunning
            | Self::PrincipalUnknown(_)
            | Self::Token(TokenError::NoToken { .. }) => Kind::NotFound,
            Self::Keystore(KeystoreError::Rejected)
            | Self::Token(TokenError::Login { .. } | TokenError::PinLength { .. })
            | Self::TokenProcess(StartError::Refused(_)) => Kind::Authentication,
            Self::Token(_) | Self::TokenProcess(_) => Kind::Target,
            Self::Refused { kind, .. } => *kind,
            _ => Kind::Internal,
        }
    }

    /// It and what it comes of, on one line.
    #[must_use]
    pub fn with_causes(&self) -> String {
        let mut text = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            let more = error.to_string();
            // Some say what they come of themselves.
            if !text.contains(&more) {
                text.push_str(": ");
                text.push_str(&more);
            }
            cause = error.source();
        }
        // One line, whatever a library says.
        text.replace(['\n', '\r'], " ")
    }

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
            Self::Exists(_) => "choose another name or folder",
            Self::PasswordExposed(_) => "run chmod 600 on it",
            Self::PasswordEmpty(_) => "put the root's password into it, on one line",
            Self::Tls(_) => {
                "check the certificate, key and revocation list files that the configuration names"
            }
            Self::OlderTrust(older) | Self::Admin(AdminError::OlderTrust(older)) => match older {
                Older::RevocationList => {
                    "put the newest revocation list back; an older one would admit revoked clients"
                }
                _ => {
                    "put the newest list of certificates back, or give this one a higher number than that in force"
                }
            },
            Self::SharedAuthority => {
                "give administration authorities that clients do not have, or leave admin.authorities and admin.revocation_lists out"
            }
            Self::Keystore(KeystoreError::Rejected) => {
                "check the password in the file of keystore.password_file, or of --root-password-file where that was given"
            }
            Self::Token(TokenError::Login { .. } | TokenError::PinLength { .. })
            | Self::TokenProcess(StartError::Refused(_)) => {
                "check the PIN in the file of token.pin_file, or of --token-pin-file where that was given, before another try"
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
            Self::Rows(rows::Error::ForeignRow(_)) => {
                "give the audit log of the node that the backup is of, from a copy that nobody else could write"
            }
            // What the system refuses says nothing of what is in the file: a restore would replace a good store.
            Self::Store(StoreError::Io(_)) => {
                "the store may be whole: look at the limits of this user (ulimit -n, -u, -v), the mount and the rights of the file"
            }
            Self::Store(StoreError::Full) => "free space on the disk of the store, and try again",
            Self::Store(_) | Self::StoreIncomplete(_) | Self::Rows(_) => {
                "restore the store from a backup; do not repair it by hand"
            }
            Self::Audit(AuditError::StoreOlder { .. }) => {
                "put the newest store back: an older one may undo revocations and destroyed keys"
            }
            Self::Audit(AuditError::StoreBehind { .. }) => {
                "put the newest store back. Where there is none, because the store took no writes before the node ended, set audit.store_at_head to the first of the two numbers"
            }
            Self::Audit(AuditError::Damaged(_)) => {
                "find out who could write the audit folder; keep a copy of it, take out what the node did not write or put the newest copy back, and run keywright audit verify"
            }
            Self::Audit(_) => {
                "check the audit folder and the space on its disk; without it nothing is served"
            }
            Self::Admin(AdminError::Misfit(misfit)) => misfit.advice(),
            Self::Admin(AdminError::Wallet) => "export the seed: keywright admin seed export",
            Self::Admin(AdminError::NoWallet) => "export the key: keywright admin key export",
            Self::Admin(AdminError::NotBound(why)) => why.advice(),
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
