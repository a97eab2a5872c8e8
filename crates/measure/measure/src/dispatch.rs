//! What starts next, and when: the heart of every driver, without a clock of its own.
//!
//! A driver asks [`Dispatch::next`] with the time it has, does what it is told, and says when an
//! operation has ended. Threads, an event loop and the simulation drive the same code, so what the
//! simulation shows about stamps and books holds for the others.

use crate::load::{Load, Schedule};

/// When to stop starting operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "two limits, each optional")]
pub struct Limit {
    /// Nanoseconds since the start after which nothing starts.
    pub nanos: Option<u64>,
    /// Operations after which nothing starts.
    pub operations: Option<u64>,
}

/// What a driver does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Next {
    /// As many operations as may be are in flight: wait for one to end.
    Full,
    /// Nothing starts any more.
    Over,
    /// Start one.
    Start(Release),
    /// Nothing is due before this time.
    Wait {
        /// Nanoseconds since the start.
        until: u64,
    },
}

/// An operation released to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a stamp and its reason")]
pub struct Release {
    /// When it was meant to start, in nanoseconds since the start.
    pub intended: u64,
    /// Who is to blame if it starts later than that.
    pub delay: Delay,
}

/// Why an operation starts later than intended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delay {
    /// A place was free when it was due: the driver was late.
    Pacer,
    /// No place was free: the target pushed back.
    Slot,
}

/// Releases operations by a load.
#[derive(Debug)]
pub struct Dispatch {
    source: Source,
    limit: Limit,
    cap: u64,
    in_flight: u64,
    released: u64,
    /// When the last place became free, if all were taken before.
    freed: u64,
}

#[derive(Debug)]
enum Source {
    Loop,
    Schedule { due: Option<u64>, rest: Schedule },
}

impl Dispatch {
    /// For one run of `load`.
    #[must_use]
    pub fn new(load: &Load, limit: Limit, seed: u64) -> Self {
        let source = match load {
            Load::Closed { .. } => Source::Loop,
            Load::Open(open) => {
                let mut rest = open.schedule(seed);
                Source::Schedule {
                    due: rest.next(),
                    rest,
                }
            }
        };
        let end = match load {
            Load::Closed { .. } => limit.nanos,
            // After the schedule's own end nothing starts, however much is waiting.
            Load::Open(open) => {
                let end = u64::try_from(open.duration().as_nanos()).unwrap_or(u64::MAX);
                Some(limit.nanos.map_or(end, |nanos| nanos.min(end)))
            }
        };
        Self {
            source,
            limit: Limit {
                nanos: end,
                ..limit
            },
            cap: u64::from(load.cap().get()),
            in_flight: 0,
            released: 0,
            freed: 0,
        }
    }

    /// What to do at `now`, in nanoseconds since the start. A [`Next::Start`] takes a place.
    pub fn next(&mut self, now: u64) -> Next {
        let spent = self
            .limit
            .operations
            .is_some_and(|most| self.released >= most);
        let intended = match &self.source {
            Source::Loop => now,
            Source::Schedule { due: None, .. } => return Next::Over,
            Source::Schedule { due: Some(due), .. } => *due,
        };
        // What was due in time and had a place is started even if the driver comes a little late for it:
        // its lateness is then in the books, and nobody blames the target. What waited for a place is not.
        let waited = self.freed > intended || self.in_flight >= self.cap;
        let over = self.limit.nanos.is_some_and(|end| now >= end);
        if spent || (over && (waited || matches!(self.source, Source::Loop))) {
            return Next::Over;
        }
        // A limit in time that is shorter than the schedule: this one is never started.
        if self.limit.nanos.is_some_and(|end| intended >= end) {
            return Next::Over;
        }
        if self.in_flight >= self.cap {
            return Next::Full;
        }
        if intended > now {
            return Next::Wait { until: intended };
        }
        if let Source::Schedule { due, rest } = &mut self.source {
            *due = rest.next();
        }
        self.in_flight += 1;
        self.released += 1;
        let delay = if self.freed > intended {
            Delay::Slot
        } else {
            Delay::Pacer
        };
        Next::Start(Release { intended, delay })
    }

    /// An operation has ended at `now`: its place is free.
    pub fn ended(&mut self, now: u64) {
        if self.in_flight >= self.cap {
            self.freed = now;
        }
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// Operations in flight.
    #[must_use]
    pub const fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// When the schedule ends, in nanoseconds since the start; a loop without a limit in time never does.
    #[must_use]
    pub const fn end(&self) -> Option<u64> {
        self.limit.nanos
    }

    /// The due times of what was planned and never started. In a loop there are none.
    pub fn never_sent(self) -> impl Iterator<Item = u64> {
        let end = self.limit.nanos.unwrap_or(u64::MAX);
        let left = self
            .limit
            .operations
            .map_or(u64::MAX, |most| most.saturating_sub(self.released));
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        let due = match self.source {
            Source::Loop => None,
            Source::Schedule { due, rest } => Some(due.into_iter().chain(rest)),
        };
        due.into_iter()
            .flatten()
            .take(left)
            .take_while(move |due| *due < end)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;
    use std::time::Duration;

    use super::*;
    use crate::load::Open;

    const NO_LIMIT: Limit = Limit {
        nanos: None,
        operations: None,
    };

    fn open(rate: f64, seconds: u64, cap: u32) -> Load {
        let cap = NonZeroU32::new(cap).unwrap();
        Load::Open(Open::constant(rate, Duration::from_secs(seconds), cap).unwrap())
    }

    fn start(intended: u64, delay: Delay) -> Next {
        Next::Start(Release { intended, delay })
    }

    #[test]
    fn operations_wait_for_their_time_and_then_for_a_place() {
        let mut dispatch = Dispatch::new(&open(1000.0, 1, 1), NO_LIMIT, 0);
        assert_eq!(dispatch.next(5), start(0, Delay::Pacer));
        assert_eq!(dispatch.next(6), Next::Full);
        dispatch.ended(2_500_000);
        // Two were due while the place was taken; the third comes in its own time.
        assert_eq!(dispatch.next(2_500_000), start(1_000_000, Delay::Slot));
        dispatch.ended(2_600_000);
        assert_eq!(dispatch.next(2_600_000), start(2_000_000, Delay::Slot));
        dispatch.ended(2_700_000);
        assert_eq!(dispatch.next(2_700_000), Next::Wait { until: 3_000_000 });
        assert_eq!(dispatch.next(3_000_001), start(3_000_000, Delay::Pacer));
    }

    #[test]
    fn what_was_due_and_not_started_at_the_end_is_counted_with_its_times() {
        let mut dispatch = Dispatch::new(&open(10.0, 1, 1), NO_LIMIT, 0);
        assert_eq!(dispatch.next(0), start(0, Delay::Pacer));
        assert_eq!(dispatch.next(1_000_000_000), Next::Over);
        let left: Vec<_> = dispatch.never_sent().collect();
        assert_eq!(left.len(), 9);
        assert_eq!(left[0], 100_000_000);
    }

    #[test]
    fn a_driver_that_comes_late_for_the_last_operation_starts_it_and_takes_the_blame() {
        let mut dispatch = Dispatch::new(&open(10.0, 1, 2), NO_LIMIT, 0);
        for due in (0..9).map(|tenth| tenth * 100_000_000) {
            assert_eq!(dispatch.next(due), start(due, Delay::Pacer));
            dispatch.ended(due + 1);
        }
        assert_eq!(
            dispatch.next(1_000_000_007),
            start(900_000_000, Delay::Pacer)
        );
        assert_eq!(dispatch.next(1_000_000_008), Next::Over);
        assert_eq!(dispatch.never_sent().count(), 0);
    }

    #[test]
    fn limits_in_time_and_count_end_a_schedule_early_and_plan_no_more_than_they_allow() {
        let limit = Limit {
            operations: Some(3),
            ..NO_LIMIT
        };
        let mut dispatch = Dispatch::new(&open(10.0, 1, 9), limit, 0);
        for nanos in [0, 100_000_000, 200_000_000] {
            assert_eq!(dispatch.next(nanos), start(nanos, Delay::Pacer));
        }
        assert_eq!(dispatch.next(300_000_000), Next::Over);
        assert_eq!(dispatch.never_sent().count(), 0);

        let limit = Limit {
            nanos: Some(250_000_000),
            ..NO_LIMIT
        };
        let mut dispatch = Dispatch::new(&open(10.0, 1, 9), limit, 0);
        assert_eq!(dispatch.next(0), start(0, Delay::Pacer));
        // Two were due within the limit, and no more.
        assert_eq!(dispatch.next(260_000_000), start(100_000_000, Delay::Pacer));
        assert_eq!(dispatch.next(260_000_000), start(200_000_000, Delay::Pacer));
        assert_eq!(dispatch.next(300_000_000), Next::Over);
        assert_eq!(dispatch.never_sent().count(), 0);
    }

    #[test]
    fn a_loop_starts_whenever_a_place_is_free_and_plans_what_it_sends() {
        let load = Load::Closed {
            workers: NonZeroU32::new(2).unwrap(),
        };
        let limit = Limit {
            nanos: Some(100),
            operations: None,
        };
        let mut dispatch = Dispatch::new(&load, limit, 0);
        assert_eq!(dispatch.next(0), start(0, Delay::Pacer));
        assert_eq!(dispatch.next(1), start(1, Delay::Pacer));
        assert_eq!(dispatch.next(2), Next::Full);
        dispatch.ended(50);
        assert!(matches!(dispatch.next(50), Next::Start(release) if release.intended == 50));
        assert_eq!(dispatch.next(100), Next::Over);
        assert_eq!(dispatch.never_sent().count(), 0);
    }
}
