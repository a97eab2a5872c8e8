//! What a counter promises to a fenced session.

use crate::SessionId;

/// A counter for each session that only grows, kept where a copy of the session's state is not: in the
/// custody layer's store, in a token, in a service.
///
/// A save claims the value that stands in the saved state, a load claims the next one. So of all states that
/// a session ever saved only the newest can be loaded, and that once.
///
/// Whoever keeps the counter beside the states puts claim and state into one transaction: a crash then
/// leaves either both or none. Where that is impossible, a crash between the two costs the session; it never
/// costs a key. A counter that is rolled back together with the states sees nothing.
pub trait Fence {
    /// Claims `value` for `session`, durably before it returns. The first value of a session is 1; each
    /// later one is granted only if it is the last granted plus one.
    ///
    /// # Errors
    /// [`Unavailable`] if it is not known whether the value was claimed.
    fn claim(&mut self, session: &SessionId, value: u64) -> Result<Claim, Unavailable>;
}

/// The counter's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
#[expect(
    clippy::exhaustive_enums,
    reason = "a counter says yes or no, and a caller must not overlook either"
)]
pub enum Claim {
    /// The value is claimed now, and was not before.
    Granted,
    /// The value is not the next one.
    Refused,
}

/// The counter could not be asked, or its answer was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the counter did not answer")]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever implements a fence makes one; its reason goes to his own log"
)]
pub struct Unavailable;
