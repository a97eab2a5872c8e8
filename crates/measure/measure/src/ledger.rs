//! The books of a run: every operation in exactly one place, every wait measured from when it was due.
//!
//! An operation that never ended still waited; its wait so far is a value of the response histogram, and
//! a quantile that such waits can touch is a lower bound ([`Ledger::is_lower_bound`]). Failures have a histogram of
//! their own, so that a fast failure improves no quantile.

use std::collections::BTreeMap;

use crate::carry::Fault;
use crate::dispatch::{Delay, Release};
use crate::document::Counts;
use crate::histogram::Histogram;

/// How an operation that was sent came back.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It failed, and said how.
    Failed(Fault),
    /// It was answered; nobody looked at the output.
    Unchecked,
    /// It was answered, and the output is right.
    Verified,
    /// It was answered, and the output is wrong.
    Wrong,
}

/// When an operation was sent and when it ended, in nanoseconds since the run's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "two stamps")]
pub struct Span {
    /// Handed to the target.
    pub sent: u64,
    /// The answer was there.
    pub completed: u64,
}

/// How fast a schedule was worked off.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "a time and a rate")]
pub struct Pace {
    /// The time it took, in nanoseconds.
    pub elapsed_ns: u64,
    /// Operations that ended well, a second.
    pub rate_per_s: f64,
}

/// The books.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Ledger {
    /// Every operation in exactly one place.
    pub counts: Counts,
    /// From due to the end, and for what never ended to when waiting for it stopped.
    pub response: Histogram,
    /// From sent to the end, of what was answered. In picoseconds where operations are timed in batches.
    pub service: Histogram,
    /// From due to sent.
    pub lateness: Histogram,
    /// The part of lateness that the driver caused.
    pub pacer: Histogram,
    /// From due to the end, of what failed.
    pub failed: Histogram,
    /// Failures by phase and code.
    pub faults: BTreeMap<Fault, u64>,
    /// The shortest wait among operations that never ended.
    pub shortest_open: Option<u64>,
    /// The end of the last operation.
    pub last_completed: u64,
    /// Whether service times are of batches, and so in picoseconds.
    pub batched: bool,
    /// When the schedule ends, where there is one.
    pub deadline: Option<u64>,
    /// Answered after that.
    pub late: u64,
}

/// Different failures that are told apart; what comes after them is counted under one name.
const MOST_FAULTS: usize = 64;

impl Ledger {
    /// Empty books.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An operation that ended by itself. One that took longer than `timeout` from when it was due counts
    /// as timed out, with that wait.
    pub fn ended(&mut self, release: Release, span: Span, outcome: Outcome, timeout: u64) {
        self.started(release, span.sent);
        self.last_completed = self.last_completed.max(span.completed);
        let response = span.completed.saturating_sub(release.intended);
        if response > timeout {
            self.counts.timeout += 1;
            self.open_wait(timeout);
            return;
        }
        match outcome {
            Outcome::Failed(fault) => {
                self.counts.error += 1;
                self.failed.record(response);
                self.fault(fault);
                return;
            }
            Outcome::Wrong => {
                self.counts.wrong += 1;
                self.failed.record(response);
                return;
            }
            Outcome::Unchecked => self.counts.unverified += 1,
            Outcome::Verified => self.counts.verified += 1,
        }
        if self
            .deadline
            .is_some_and(|deadline| span.completed > deadline)
        {
            self.late += 1;
        }
        self.response.record(response);
        self.service
            .record(span.completed.saturating_sub(span.sent));
    }

    /// `k` operations in a row of a closed loop, timed as one value in picoseconds each.
    pub fn batch(&mut self, k: u64, picos_each: u64, outcome: &Outcome, completed: u64) {
        self.batched = true;
        self.counts.planned += k;
        self.counts.sent += k;
        self.last_completed = self.last_completed.max(completed);
        match outcome {
            Outcome::Unchecked => self.counts.unverified += k,
            Outcome::Verified => self.counts.verified += k,
            Outcome::Wrong => {
                // One of them was looked at; the others say nothing.
                self.counts.wrong += 1;
                self.counts.unverified += k - 1;
            }
            Outcome::Failed(fault) => {
                self.counts.error += k;
                self.fault(fault.clone());
                return;
            }
        }
        self.service.record(picos_each);
    }

    /// An operation that was sent and had not ended when waiting stopped, or when its time was up.
    pub fn unanswered(&mut self, release: Release, sent: u64, stopped: u64, timeout: u64) {
        self.started(release, sent);
        let wait = stopped.saturating_sub(release.intended);
        if wait >= timeout {
            self.counts.timeout += 1;
            self.open_wait(timeout);
        } else {
            self.counts.censored += 1;
            self.open_wait(wait);
        }
    }

    /// An operation that was due and was not sent before the schedule's end.
    pub fn never_sent(&mut self, intended: u64, end: u64) {
        self.counts.planned += 1;
        self.counts.never_sent += 1;
        self.open_wait(end.saturating_sub(intended));
    }

    fn started(&mut self, release: Release, sent: u64) {
        self.counts.planned += 1;
        self.counts.sent += 1;
        let lateness = sent.saturating_sub(release.intended);
        self.lateness.record(lateness);
        let own = match release.delay {
            Delay::Pacer => lateness,
            Delay::Slot => 0,
        };
        self.pacer.record(own);
    }

    fn open_wait(&mut self, wait: u64) {
        self.response.record(wait);
        self.shortest_open = Some(self.shortest_open.map_or(wait, |least| least.min(wait)));
    }

    fn fault(&mut self, fault: Fault) {
        let known = self.faults.len() < MOST_FAULTS || self.faults.contains_key(&fault);
        let fault = if known { fault } else { Fault::other() };
        *self.faults.entry(fault).or_default() += 1;
    }

    /// Adds everything in `other`.
    pub fn merge(&mut self, other: &Self) {
        self.counts = self.counts.plus(&other.counts);
        for (mine, theirs) in self.histograms().into_iter().zip(other.all()) {
            mine.merge(theirs);
        }
        for (fault, count) in &other.faults {
            *self.faults.entry(fault.clone()).or_default() += count;
        }
        self.last_completed = self.last_completed.max(other.last_completed);
        self.batched |= other.batched;
        self.deadline = self.deadline.or(other.deadline);
        self.late += other.late;
        let shortest = [self.shortest_open, other.shortest_open];
        self.shortest_open = shortest.into_iter().flatten().min();
    }

    /// Forgets everything and keeps its memory.
    pub fn clear(&mut self) {
        self.counts = Counts::default();
        self.histograms().into_iter().for_each(Histogram::clear);
        self.faults.clear();
        self.shortest_open = None;
        self.last_completed = 0;
        self.batched = false;
        self.late = 0;
    }

    const fn histograms(&mut self) -> [&mut Histogram; 5] {
        [
            &mut self.response,
            &mut self.service,
            &mut self.lateness,
            &mut self.pacer,
            &mut self.failed,
        ]
    }

    const fn all(&self) -> [&Histogram; 5] {
        [
            &self.response,
            &self.service,
            &self.lateness,
            &self.pacer,
            &self.failed,
        ]
    }

    /// Empty books of a schedule that ends at `deadline`, in nanoseconds since the start.
    #[must_use]
    pub fn until(deadline: Option<u64>) -> Self {
        Self {
            deadline,
            ..Self::default()
        }
    }

    /// What a run that ended at `end` took, and the rate of operations that ended well. Of a schedule only
    /// what ended before the schedule did counts towards the rate: the rest is backlog that was worked off
    /// when nothing new came.
    #[must_use]
    pub fn pace(&self, end: u64) -> Pace {
        let elapsed_ns = match self.deadline {
            Some(_) => end.max(1),
            None => end.max(self.last_completed).max(1),
        };
        let in_time = self.counts.answered() - self.late.min(self.counts.answered());
        Pace {
            elapsed_ns,
            rate_per_s: in_time as f64 / (elapsed_ns as f64 / 1e9),
        }
    }

    /// Whether a response time at or above this value could be higher in truth: some operation that
    /// never ended had waited no longer than it.
    #[must_use]
    pub fn is_lower_bound(&self, response: u64) -> bool {
        self.shortest_open.is_some_and(|wait| wait <= response)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::carry::FaultPhase;

    const NEVER: u64 = u64::MAX;

    const fn release(intended: u64, delay: Delay) -> Release {
        Release { intended, delay }
    }

    fn fault(code: &'static str) -> Outcome {
        Outcome::Failed(Fault::new(FaultPhase::Service, code))
    }

    #[test]
    fn every_operation_is_in_one_place_and_the_books_balance() {
        let mut ledger = Ledger::new();
        let span = |sent, completed| Span { sent, completed };
        ledger.ended(
            release(0, Delay::Pacer),
            span(1, 10),
            Outcome::Verified,
            NEVER,
        );
        ledger.ended(
            release(5, Delay::Slot),
            span(9, 12),
            Outcome::Unchecked,
            NEVER,
        );
        ledger.ended(release(6, Delay::Slot), span(9, 12), Outcome::Wrong, NEVER);
        ledger.ended(release(7, Delay::Slot), span(9, 12), fault("busy"), NEVER);
        ledger.ended(
            release(8, Delay::Slot),
            span(9, 900),
            Outcome::Verified,
            100,
        );
        ledger.unanswered(release(9, Delay::Slot), 20, 50, NEVER);
        ledger.unanswered(release(9, Delay::Slot), 20, 50, 30);
        ledger.never_sent(40, 50);
        let counts = &ledger.counts;
        assert!(counts.balance());
        assert_eq!((counts.planned, counts.sent, counts.never_sent), (8, 7, 1));
        assert_eq!(
            (counts.verified, counts.unverified, counts.wrong),
            (1, 1, 1)
        );
        assert_eq!((counts.error, counts.timeout, counts.censored), (1, 2, 1));
        // Three answered or not, minus failures: what waited is among the response times.
        assert_eq!(ledger.response.count(), 2 + 2 + 1 + 1);
        assert_eq!(ledger.service.count(), 2);
        assert_eq!(ledger.failed.count(), 2);
    }

    #[test]
    fn response_counts_from_when_it_was_due_and_service_from_when_it_was_sent() {
        let mut ledger = Ledger::new();
        let span = Span {
            sent: 900,
            completed: 1000,
        };
        ledger.ended(release(100, Delay::Slot), span, Outcome::Verified, NEVER);
        assert_eq!(ledger.response.max(), Some(900));
        assert_eq!(ledger.service.max(), Some(100));
        assert_eq!(ledger.lateness.max(), Some(800));
        assert_eq!(ledger.pacer.max(), Some(0));
    }

    #[test]
    fn a_wait_that_never_ended_makes_quantiles_above_it_lower_bounds() {
        let mut ledger = Ledger::new();
        assert!(!ledger.is_lower_bound(NEVER));
        ledger.never_sent(400, 1000);
        ledger.never_sent(900, 1000);
        assert!(ledger.is_lower_bound(100) && ledger.is_lower_bound(600));
        assert!(!ledger.is_lower_bound(99));
    }

    #[test]
    fn a_flood_of_different_failures_stays_small() {
        let mut ledger = Ledger::new();
        let span = Span {
            sent: 0,
            completed: 1,
        };
        for code in 0..1000 {
            let fault = Fault::new(FaultPhase::Status, format!("code-{code}"));
            let outcome = Outcome::Failed(fault);
            ledger.ended(release(0, Delay::Pacer), span, outcome, NEVER);
        }
        assert_eq!(ledger.faults.len(), MOST_FAULTS + 1);
        assert_eq!(ledger.faults.values().sum::<u64>(), 1000);
        assert_eq!(ledger.faults[&Fault::other()], 1000 - MOST_FAULTS as u64);
    }

    #[test]
    fn merging_and_clearing_keep_the_books_balanced() {
        let mut one = Ledger::new();
        one.never_sent(0, 10);
        let mut two = Ledger::new();
        two.batch(5, 700, &Outcome::Wrong, 3);
        two.batch(5, 700, &fault("busy"), 4);
        one.merge(&two);
        assert!(one.counts.balance());
        assert_eq!(
            (one.counts.wrong, one.counts.unverified, one.counts.error),
            (1, 4, 5)
        );
        assert_eq!(one.shortest_open, Some(10));
        assert_eq!(one.last_completed, 4);
        one.clear();
        assert_eq!(one.counts, Counts::default());
    }
}
