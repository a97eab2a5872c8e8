//! What a worker writes down: records, counted refusals, uses of keys; and when it is written.

use keywright_audit::field::Field;
use keywright_audit::record::{Facts, Record};
use keywright_audit::refusals::{Counted, Refusals, Whom};
use keywright_audit::writer::{Ticket, Written};
use keywright_clock::WallTime;
use keywright_custody::Key;
use keywright_types::{Code, KeyId};

use super::Worker;
use super::entry::Outcome;
use crate::Caller;
use crate::metrics::{DropReason, Ended, Spent};
use crate::plan::{Noted, UseOfKey};

/// A counted refusal, kept until its record is written.
pub(super) struct Owed {
    counted: Counted,
    /// The record's place in the log; none before it could be appended, and after it was lost.
    ticket: Option<Ticket>,
}

impl Worker {
    /// Counts a connection or request that never got an identity.
    pub fn note_refused(&self, whom: Whom, reason: Code) {
        self.counters.note_refused(reason);
        self.refusals.borrow_mut().note(reason, whom);
    }

    /// Counts a connection that was closed for a limit, before anything was known of who it is.
    pub fn note_dropped(&self, whom: Whom, reason: DropReason) {
        self.counters.note_dropped(reason);
        self.note_refused(whom, reason.code());
    }

    /// Appends the record of `caller`'s connection. Whether it could be: a connection without a record
    /// must not go on. If the record is lost later, with a flush that fails, the standing of `caller`
    /// ends.
    #[must_use = "a connection without a record must not go on"]
    pub fn note_connection(&self, caller: &Caller, facts: Facts, fields: &[Field<'_>]) -> bool {
        let ticket = self.append(facts, fields);
        if let Some(ticket) = ticket {
            let noted = (ticket, caller.unrecorded());
            self.connections.borrow_mut().push(noted);
            self.counters.note_opened();
        }
        ticket.is_some()
    }

    /// Counts the end of a connection that [`Worker::note_connection`] let in.
    pub fn note_closed(&self) {
        self.counters.note_closed();
    }

    /// Appends the counted refusals of past seconds; call it once a second. Whether there is anything
    /// to flush that no request waits for: these, or the record of a request that was cancelled.
    pub fn drain_refusals(&self) -> bool {
        self.counters.beat(self.shared.clock().monotonic());
        self.hand_over_tallies();
        self.append_counted(Refusals::drain) | self.left_behind.replace(false)
    }

    /// The last records of this worker, when its thread ends.
    pub fn finish(&self) {
        self.hand_over_tallies();
        self.append_counted(Refusals::drain_all);
        self.flush();
        // There may have been older ones that had to go first.
        if self.append_counted(Refusals::drain_all) {
            self.flush();
        }
        self.counters.ended();
        // What still runs ends with its thread, and its record is the last of it.
        self.finished.set(true);
    }

    /// A request that found no version to seal with asked for the newest one.
    pub(crate) fn note_idle(&self, key: &Key, code: Code, now: WallTime) {
        let newest = key.versions().last();
        if let (Code::NoActiveVersion, Some(newest)) = (code, newest) {
            let noted = Noted {
                closed: vec![newest.number()],
                sources: Vec::new(),
            };
            self.count_uses((key.id(), None, now), std::iter::empty(), &noted);
        }
    }

    pub(crate) fn count_uses(
        &self,
        of: (KeyId, Option<UseOfKey>, WallTime),
        outcomes: impl Iterator<Item = Outcome>,
        noted: &Noted,
    ) {
        self.tallies.borrow_mut().count(of, outcomes, noted);
    }

    /// Counts a request whose record has these facts, and says so to who watches it.
    pub(crate) fn count_request(&self, facts: &Facts, spent: Option<Spent>) {
        let items = u64::from(facts.items.max(1));
        self.counters
            .count(facts.operation, facts.outcome, items, facts.duration);
        self.watched.note(facts, spent);
    }

    /// There is a record that nobody waits for.
    pub(crate) fn leave_behind(&self) {
        self.left_behind.set(true);
        if self.finished.get() {
            self.flush();
        }
    }

    fn hand_over_tallies(&self) {
        self.shared.uses().gather(&mut self.tallies.borrow_mut());
    }

    /// Appends what is owed, and what `drain` finds once nothing is. Until then later refusals go on
    /// adding up where their room is bounded.
    fn append_counted(&self, drain: fn(&mut Refusals, WallTime) -> Vec<Counted>) -> bool {
        // Looked at whether it is wanted or not, so that an idle thread lets go of what was replaced.
        let epoch = self.snapshot().epoch;
        let mut owed = self.owed.borrow_mut();
        if owed.is_empty() {
            let counted = drain(&mut self.refusals.borrow_mut(), self.shared.clock().wall());
            owed.extend(counted.into_iter().map(|counted| Owed {
                counted: counted.at_epoch(epoch),
                ticket: None,
            }));
        }
        let mut writer = self.writer.borrow_mut();
        for one in owed.iter_mut().filter(|one| one.ticket.is_none()) {
            one.ticket = writer.append(&one.counted.record()).ok();
        }
        !owed.is_empty()
    }

    /// After a flush nothing is pending. What it did not write is lost: counts are appended again,
    /// connections end.
    fn settle(&self, written: Option<Written>) {
        let covers = |ticket| written.is_some_and(|written| written.covers(ticket));
        let mut owed = self.owed.borrow_mut();
        owed.retain_mut(|one| !one.ticket.take().is_some_and(covers));
        for (ticket, unrecorded) in self.connections.borrow_mut().drain(..) {
            unrecorded.set(!covers(ticket));
        }
    }

    /// Writes every record appended so far, once, and ends the job whose answers wait for it.
    ///
    /// Whether it worked; a request whose record is not written answers 503 and hands out nothing.
    pub fn flush(&self) -> bool {
        self.random.borrow_mut().end_job();
        self.clocks.set(None);
        let begun = self.shared.clock().monotonic();
        let mut writer = self.writer.borrow_mut();
        let written = if self.wants_sync.replace(false) {
            writer.sync()
        } else {
            writer.commit()
        };
        let took = self.shared.clock().monotonic().since(begun);
        self.counters.note_audit(took, Ended::of(&written));
        self.settle(written.as_ref().ok().copied());
        let Ok(written) = written else { return false };
        // A writer may have gone on to a new file before all answers of the last turns have left.
        let [newest, second, third, _] = self.written.get();
        self.written.set([Some(written), newest, second, third]);
        true
    }

    pub(crate) fn append(&self, facts: Facts, fields: &[Field<'_>]) -> Option<Ticket> {
        self.writer
            .borrow_mut()
            .append(&Record { facts, fields })
            .ok()
    }

    /// Whether this record has been written.
    pub(crate) fn has_written(&self, ticket: Ticket) -> bool {
        self.written
            .get()
            .iter()
            .flatten()
            .any(|written| written.covers(ticket))
    }
}
