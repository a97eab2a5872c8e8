//! What a node has to say to whoever started it, besides its answers, its log and its metrics.

use std::fmt;

use keywright_clock::WallTime;
use keywright_service::Lack;

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
    /// The files about clients have changed, and are in force.
    ClientsChanged,
    /// Files were read again.
    Reloaded(Reloaded),
    /// They could not be; the sentence says which and why. What was in force before still is.
    ReloadFailed(String),
}

impl Event {
    /// Its weight.
    #[must_use]
    pub const fn level(&self) -> Level {
        match self {
            Self::NotReady(_) | Self::ReloadFailed(_) => Level::Error,
            Self::Expires(_) => Level::Warning,
            Self::ClientsChanged | Self::Ready | Self::Reloaded(_) => Level::Info,
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
            Self::Ready => f.write_str("ready again"),
            Self::Reloaded(reloaded) => reloaded.fmt(f),
            Self::ReloadFailed(why) => {
                write!(f, "reload failed, all is as before: {why}")
            }
        }
    }
}
