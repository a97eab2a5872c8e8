//! What a server thread takes on before it says that it has too much to do.
//!
//! Two bounds, both looked at before a request is read or decided, so that no queue grows behind them:
//!
//! * Requests that are begun and not answered: above a number, one more is refused.
//! * The time that a request stood in its thread's queue before it was looked at, behind others that were
//!   read in the same turn. Longer than the target says that work comes in faster than it is done; a single
//!   late one says nothing, because one large batch makes those behind it late. Once requests have been late
//!   for [`PATIENCE`] without one on time between, those that are late are refused, which costs a fraction
//!   of answering them, until one is on time again.
//!
//! Threads share none of this: each has its own queue, and a part of the number of requests.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use keywright_clock::{Clock, MonotonicTime};

/// How long requests must have been late before late ones are refused.
const PATIENCE: Duration = Duration::from_millis(100);

/// What one thread takes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "two numbers that whoever joins a node decides together"
)]
pub struct Load {
    /// Requests that are begun and not answered.
    pub running: usize,
    /// How long a request may stand in the queue while there is too much to do.
    pub queued: Duration,
}

impl Default for Load {
    fn default() -> Self {
        Self {
            running: 10_000,
            queued: Duration::from_millis(25),
        }
    }
}

/// The gate of one thread.
#[derive(Debug)]
pub(crate) struct Gate {
    load: Load,
    clock: Clock,
    running: Cell<usize>,
    /// Since when every request has been late, and when the last one was.
    late: Cell<Option<(MonotonicTime, MonotonicTime)>>,
}

/// A request that was let in; counted until this is dropped.
#[derive(Debug)]
#[must_use = "what is dropped is counted no longer"]
pub(crate) struct LetIn(Rc<Gate>);

impl Gate {
    pub(crate) const fn new(load: Load, clock: Clock) -> Self {
        Self {
            load,
            clock,
            running: Cell::new(0),
            late: Cell::new(None),
        }
    }

    /// Lets a request in that stood in the queue for `queued`; `None` if there is too much to do.
    pub(crate) fn enter(self: &Rc<Self>, queued: Duration) -> Option<LetIn> {
        if self.running.get() >= self.load.running || self.too_late(queued) {
            return None;
        }
        self.running.set(self.running.get() + 1);
        Some(LetIn(Rc::clone(self)))
    }

    fn too_late(&self, queued: Duration) -> bool {
        if queued <= self.load.queued {
            self.late.set(None);
            return false;
        }
        let now = self.clock.monotonic();
        let known = self.late.get();
        // After a rest it is another story.
        let going_on = known.filter(|(_, last)| now.since(*last) <= PATIENCE);
        let since = going_on.map_or(now, |(since, _)| since);
        self.late.set(Some((since, now)));
        now.since(since) >= PATIENCE
    }
}

impl Drop for LetIn {
    fn drop(&mut self) {
        self.0.running.set(self.0.running.get() - 1);
    }
}

#[cfg(test)]
mod tests {
    use keywright_clock::{Hand, WallTime};

    use super::*;

    const ON_TIME: Duration = Duration::from_millis(25);
    const LATE: Duration = Duration::from_millis(26);

    fn gate(running: usize) -> (Rc<Gate>, Hand) {
        let (clock, hand) = Clock::simulated(WallTime::from_unix_seconds(1));
        let load = Load {
            running,
            queued: ON_TIME,
        };
        (Rc::new(Gate::new(load, clock)), hand)
    }

    /// Whether each of these is let in, with a pause of ten milliseconds between.
    fn let_in(gate: &Rc<Gate>, hand: &Hand, queued: &[Duration]) -> Vec<bool> {
        let one = |queued: &Duration| {
            hand.advance(Duration::from_millis(10));
            gate.enter(*queued).is_some()
        };
        queued.iter().map(one).collect()
    }

    #[test]
    fn no_more_run_than_the_number_and_places_come_back() {
        let (gate, _) = gate(2);
        let first = gate.enter(Duration::ZERO);
        let second = gate.enter(Duration::ZERO);
        assert!(first.is_some() && second.is_some());
        assert!(gate.enter(Duration::ZERO).is_none());
        assert!(
            gate.enter(Duration::ZERO).is_none(),
            "a refusal takes no place"
        );
        drop(first);
        let third = gate.enter(Duration::ZERO);
        assert!(third.is_some());
        assert!(gate.enter(Duration::ZERO).is_none());
    }

    #[test]
    fn a_short_burst_of_late_ones_is_answered() {
        let (gate, hand) = gate(9);
        assert_eq!(let_in(&gate, &hand, &[LATE; 10]), [true; 10]);
        assert_eq!(let_in(&gate, &hand, &[ON_TIME]), [true]);
        assert_eq!(let_in(&gate, &hand, &[LATE; 10]), [true; 10]);
    }

    #[test]
    fn late_ones_are_refused_once_all_have_been_late_for_long() {
        let (gate, hand) = gate(9);
        assert_eq!(let_in(&gate, &hand, &[LATE; 10]), [true; 10]);
        assert_eq!(let_in(&gate, &hand, &[LATE; 50]), [false; 50]);
        // One that is on time is answered, and so are those after it.
        assert_eq!(let_in(&gate, &hand, &[ON_TIME, LATE, LATE]), [true; 3]);
    }

    #[test]
    fn late_ones_far_between_are_answered() {
        let (gate, hand) = gate(9);
        for _ in 0..100 {
            hand.advance(PATIENCE);
            assert_eq!(let_in(&gate, &hand, &[LATE]), [true]);
        }
    }

    #[test]
    fn a_request_that_is_refused_for_being_late_takes_no_place() {
        let (gate, hand) = gate(1);
        let_in(&gate, &hand, &[LATE; 60]);
        assert_eq!(gate.running.get(), 0);
    }
}
