//! How a node stands, as far as it can tell by looking: what health, the local probe and the metrics say.
//!
//! Somebody who keeps the node looks every few seconds and publishes what was found ([`Shared::publish_standing`]).
//! A finding that nobody has renewed for a while counts as bad: whoever looks may be stuck where the node is.

use std::time::Duration;

use keywright_clock::{MonotonicTime, WallTime};
use keywright_custody::HolderError;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use crate::clock_watch::ClockState;
use crate::{Shared, Snapshot};

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever looks must look at each of these"
)]
pub struct Standing {
    /// Whether the key holder sealed and opened.
    pub holder: bool,
    /// What became of the keys that lie in a token.
    pub keys: TokenKeys,
    /// Whether the audit log takes records and signs heads.
    pub audit: bool,
    /// Whether the store is read, and was written when that was last tried.
    pub store: bool,
    /// Whether days that have come are believed. A node that is not sure serves all the same: it destroys nothing.
    pub clock: ClockState,
    /// When the server's certificate runs out.
    pub certificate_until: WallTime,
    /// Whether the process's memory is locked (design 7.24).
    pub memory_locked: bool,
    /// Whether the node is stopping.
    pub stopping: bool,
    /// When this was found.
    pub looked_at: MonotonicTime,
}

/// What a token has of the keys that are to lie in it, as far as they were looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever looks must count each of these"
)]
pub struct TokenKeys {
    /// Versions whose key is to lie there.
    pub all: u64,
    /// Those of which the token has another key, none, or one that may do more than it was made for.
    pub unfit: u64,
}

impl TokenKeys {
    /// Whether there is something that can be done in the token. One key that is lost is the affair of its context;
    /// a token without any of its keys is another token.
    #[must_use]
    pub const fn serve(self) -> bool {
        self.unfit == 0 || self.unfit < self.all
    }
}

/// What keeps a node from being ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a new reason must be faced wherever they are told"
)]
pub enum Lack {
    /// The audit log takes no records.
    Audit,
    /// The server's certificate is out of date, or every anchor or revocation list is.
    Certificates,
    /// The key holder does not work.
    Holder,
    /// The token has none of the keys that are to lie in it.
    Keys,
    /// Nobody has looked for a while.
    Stale,
    /// The node is stopping.
    Stopping,
    /// The store cannot be read or written.
    Store,
}

impl Lack {
    /// One word for people and logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Audit => "audit",
            Self::Certificates => "certificates",
            Self::Holder => "holder",
            Self::Keys => "keys",
            Self::Stale => "stale",
            Self::Stopping => "stopping",
            Self::Store => "store",
        }
    }
}

impl Standing {
    /// What keeps the node from being ready at `now`; nothing if it is.
    #[must_use]
    pub fn lacks(&self, snapshot: &Snapshot, now: (WallTime, MonotonicTime)) -> Vec<Lack> {
        let all = [
            (Lack::Audit, self.audit),
            (Lack::Certificates, self.certificates_hold(snapshot, now.0)),
            (Lack::Holder, self.holder),
            (Lack::Keys, self.keys.serve()),
            (Lack::Stale, self.is_fresh(now.1)),
            (Lack::Stopping, !self.stopping),
            (Lack::Store, self.store),
        ];
        let lacking = all.into_iter().filter(|(_, good)| !good);
        lacking.map(|(lack, _)| lack).collect()
    }

    /// Whether a client with a good certificate is let in at `now`, and believes this server.
    #[must_use]
    pub fn certificates_hold(&self, snapshot: &Snapshot, now: WallTime) -> bool {
        now < self.certificate_until && now < snapshot.trust.serves_until()
    }

    /// Whether somebody has looked lately.
    #[must_use]
    pub fn is_fresh(&self, now: MonotonicTime) -> bool {
        now.since(self.looked_at) <= STALE
    }
}

/// A finding that is older says nothing about now.
const STALE: Duration = Duration::from_secs(15);

/// Asks the holder whether it works, from a thread that may wait.
///
/// A holder behind a pool is asked there, and never twice at once: one that hangs would find its whole queue full
/// of such questions.
#[derive(Debug, Default)]
pub struct HolderWatch {
    asked: Option<oneshot::Receiver<Result<(), HolderError>>>,
}

impl HolderWatch {
    /// Whether the holder works; one that says nothing for `patience` does not.
    pub fn works(&mut self, shared: &Shared, patience: Duration) -> bool {
        let Some(pool) = shared.pool() else {
            return shared.holder().probe().is_ok();
        };
        let mut answer = match self.asked.take() {
            Some(answer) => answer,
            None => match pool.probe() {
                Ok(answer) => answer,
                // Where there is no room the device is at work.
                Err(error) => return error == HolderError::Full,
            },
        };
        let end = shared.clock().monotonic().plus(patience);
        loop {
            match answer.try_recv() {
                Ok(answered) => return answered.is_ok(),
                Err(TryRecvError::Closed) => return false,
                Err(TryRecvError::Empty) if shared.clock().monotonic() >= end => break,
                Err(TryRecvError::Empty) => std::thread::sleep(NAP),
            }
        }
        self.asked = Some(answer);
        false
    }
}

const NAP: Duration = Duration::from_millis(2);
