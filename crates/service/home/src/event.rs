//! What a node has to say to whoever started it, besides its answers, its log and its metrics.

use std::fmt;

use keywright_audit::Finding;
use keywright_clock::WallTime;
use keywright_service::Lack;
use keywright_token_process::{Cause, Notice};
use keywright_types::VersionLabel;

use crate::{Level, Reloaded};

/// Something that happened. Its text is one line, without a name or a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The server's certificate or a revocation list runs out soon, or has.
    Expires(WallTime),
    /// The node cannot serve, and why.
    NotReady(Vec<Lack>),
    /// It can again.
    Ready,
    /// The token has another key of this version, none, or one that may do more than it was made for.
    KeyUnfit(VersionLabel),
    /// It has the right one again.
    KeyFit(VersionLabel),
    /// The files about clients have changed, and are in force.
    ClientsChanged,
    /// The files about clients can be read again, and say what is in force.
    ClientsReadAgain,
    /// Files were read again.
    Reloaded(Reloaded),
    /// They could not be; the sentence says which and why. What was in force before still is.
    ReloadFailed(String),
    /// What became of the token's process.
    TokenProcess(Notice),
    /// A file of the audit log is not as an earlier run of the node left it.
    AuditDamaged(Finding),
    /// The audit log ended in so many records that nothing proves: they were not believed, and are marked so for ever.
    AuditUnproven(u64),
    /// So many records of the audit log are marked as unproven since an earlier start.
    AuditMarked(u64),
}

impl Event {
    /// Its weight.
    #[must_use]
    pub const fn level(&self) -> Level {
        match self {
            Self::TokenProcess(Notice::Back) => Level::Info,
            Self::KeyUnfit(_)
            | Self::NotReady(_)
            | Self::ReloadFailed(_)
            | Self::AuditDamaged(_)
            | Self::TokenProcess(_) => Level::Error,
            Self::AuditUnproven(_) | Self::AuditMarked(_) | Self::Expires(_) => Level::Warning,
            Self::ClientsChanged
            | Self::ClientsReadAgain
            | Self::KeyFit(_)
            | Self::Ready
            | Self::Reloaded(_) => Level::Info,
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expires(at) => write!(
                f,
                "the server's certificate or a revocation list ends at {}",
                at.rfc3339()
            ),
            Self::NotReady(lacks) => {
                let names: Vec<_> = lacks.iter().map(|lack| lack.name()).collect();
                write!(f, "not ready: {}", names.join(", "))
            }
            Self::ClientsChanged => {
                f.write_str("changed anchors, revocation lists or list of certificates in force")
            }
            Self::ClientsReadAgain => f.write_str(
                "anchors, revocation lists and list of certificates can be read again, and are those in force",
            ),
            Self::Ready => f.write_str("ready again"),
            Self::KeyUnfit(label) => write!(
                f,
                "the token has no key for {label}, another one, or one that may do more than it was made for; it is unavailable"
            ),
            Self::KeyFit(label) => write!(f, "the token has the key for {label} again"),
            Self::Reloaded(reloaded) => reloaded.fmt(f),
            Self::AuditDamaged(finding) => write!(
                f,
                "the audit log is not as it was left: {finding}; run keywright audit verify on a copy of the folder"
            ),
            Self::AuditUnproven(count) => write!(
                f,
                "the audit log ended in {count} records that neither a signed head nor a check frame proves; nothing was done on them, see evidence \"unproven\" in keywright audit show"
            ),
            Self::AuditMarked(count) => write!(
                f,
                "the audit log has {count} records that nothing proved when an earlier start found them, see evidence \"unproven\" in keywright audit show"
            ),
            Self::TokenProcess(notice) => f.write_str(&told(notice)),
            Self::ReloadFailed(why) => {
                write!(f, "reload failed, all is as before: {why}")
            }
        }
    }
}

fn told(notice: &Notice) -> String {
    match notice {
        Notice::Lost(Cause::Ended) => "the token's process ended; it is started again".to_owned(),
        Notice::Lost(Cause::Hung) => {
            "a call of the token's module took longer than token.call_timeout_s; its process was killed and is started again".to_owned()
        }
        Notice::Lost(Cause::Nonsense) => {
            "the token's process answered nonsense; it was killed and is started again".to_owned()
        }
        Notice::NotBack(why) => format!("the token's process is not back yet: {why}"),
        Notice::Back => "the token's process is back".to_owned(),
        Notice::Refused(why) => format!(
            "the token refused the log-in of its process, which is not started again before this node is: {why}"
        ),
        _ => "something became of the token's process".to_owned(),
    }
}
