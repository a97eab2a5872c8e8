//! A place for one operation at a time: a stream of an HTTP/2 connection, or an HTTP/1.1 connection.

use keywright_measure::dispatch::Release;

use super::books::Leg;
use super::flight::Flight;
use super::line::Handle;
use super::{Draw, Look, Prepared};

/// A place for one operation at a time.
pub(super) struct Slot<T> {
    /// Its connection's line.
    pub(super) line: u32,
    pub(super) handle: Handle,
    pub(super) job: Option<Job<T>>,
}

/// An operation in its place.
pub(super) struct Job<T> {
    /// The operation as the dispatch sees it; its stamp of sending is that of the first leg.
    pub(super) whole: Leg,
    /// The leg that is under way.
    pub(super) leg: Leg,
    /// Whether the output is looked at.
    pub(super) look: Look,
    /// Whether the leg is the first.
    pub(super) first: bool,
    pub(super) purpose: Purpose,
    pub(super) ticket: Option<T>,
    pub(super) stage: Stage,
}

/// Why a request is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To ask, after the run, about the output of an operation with this response time.
    Afterwards(u64),
    /// To ask at once about the output of this operation, which was complete at this time. With it goes
    /// when the question was asked.
    AtOnce { completed: u64, asked: u64 },
    /// The operation itself.
    Operation,
}

/// How far a request has come.
pub(super) enum Stage {
    Flying(Flight),
    /// Not sent yet. The count of connections that were lost before it could be.
    Waiting(Option<Prepared>, u32),
}

/// A released operation for which no connection of its identity was free.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub(super) release: Release,
    pub(super) draw: Draw,
    pub(super) number: u64,
}

/// An output that is asked about after the run.
pub(super) struct Question<T> {
    pub(super) part: u32,
    pub(super) group: u32,
    pub(super) response: u64,
    pub(super) request: Prepared,
    pub(super) ticket: T,
}

impl<T> Slot<T> {
    pub(super) const fn new(line: u32) -> Self {
        Self {
            line,
            handle: None,
            job: None,
        }
    }
}
