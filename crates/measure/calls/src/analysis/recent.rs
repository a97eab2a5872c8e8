//! The calls that came last, for whoever looks on while a log is written.

use std::collections::VecDeque;

use super::{Call, Outcome};
use crate::moment;
use crate::reader::printable;

/// A call of those that came last.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecentCall {
    /// Its line in the log, from 1.
    pub line: u64,
    /// When it began: RFC 3339 in UTC, to the millisecond.
    pub time: Option<String>,
    /// The function.
    pub function: String,
    /// The mechanism, of this call or of the one that began its operation.
    pub mechanism: Option<String>,
    /// The name of the return code; none without an answer.
    pub code: Option<String>,
    /// Whether that code says that it was done.
    pub succeeded: bool,
    /// Only the length of the result was asked for.
    pub size_query: bool,
    /// How long it took, in nanoseconds.
    pub nanos: Option<u64>,
}

/// So many at most; none unless they are asked for, because each is written out as text.
#[derive(Debug, Default)]
pub(super) struct Recent {
    most: usize,
    calls: VecDeque<RecentCall>,
}

impl Recent {
    pub(super) const fn of(most: usize) -> Self {
        Self {
            most,
            calls: VecDeque::new(),
        }
    }

    pub(super) fn take(&mut self, call: &Call<'_>) {
        if self.most == 0 {
            return;
        }
        if self.calls.len() >= self.most {
            self.calls.pop_front();
        }
        let seen = call.seen;
        self.calls.push_back(RecentCall {
            line: seen.line,
            time: seen.time.map(|time| moment::written(time.into())),
            function: printable(call.name(), 64),
            mechanism: call.mech.name(),
            code: call.code().map(|code| code.to_string()),
            succeeded: matches!(call.outcome, Outcome::Done | Outcome::SizeQuery),
            size_query: call.outcome == Outcome::SizeQuery,
            nanos: call.nanos,
        });
    }

    pub(super) fn calls(&self) -> impl DoubleEndedIterator<Item = &RecentCall> {
        self.calls.iter()
    }
}
