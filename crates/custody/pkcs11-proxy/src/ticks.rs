//! Times of calls: what the calling thread reads, and the nanoseconds that it stands for.
//!
//! Where the kernel itself tells time by the processor's counter, a caller reads that counter and no more; the
//! writer looks at counter and clock together from time to time, and makes nanoseconds of the one by the other.
//! Elsewhere the caller reads the clock.

use std::time::Duration;

use keywright_clock::Clock;

use crate::boundary;

/// What a calling thread reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ticks {
    Counter,
    Nanoseconds,
}

impl Ticks {
    /// The cheapest that can be trusted here.
    pub(crate) fn best() -> Self {
        if boundary::counter_is_the_clock() {
            Self::Counter
        } else {
            Self::Nanoseconds
        }
    }

    #[inline(always)]
    pub(crate) fn now(self, clock: &Clock) -> u64 {
        match self {
            Self::Counter => boundary::counter(),
            Self::Nanoseconds => clock.monotonic().nanos(),
        }
    }
}

/// Counter and clock at the same moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pair {
    ticks: u64,
    nanos: u64,
}

/// Makes nanoseconds of what callers read.
pub(crate) struct Scale {
    ticks: Ticks,
    /// The rate is that between the first and the last of these.
    old: Pair,
    middle: Pair,
    latest: Pair,
    /// Nanoseconds of a tick, times 2 to the 32.
    rate: u64,
    /// Of some threads, when the last call of each ended.
    ends: Box<[(u64, u64)]>,
}

/// The rate is taken over at least so long, once there is so much, and over twice as much at most: a machine that
/// was asleep may have stopped one of both.
const STRETCH: u64 = 8_000_000_000;
/// A shorter stretch says too little, and is waited for at the beginning.
const SHORTEST: Duration = Duration::from_micros(500);
/// Pairs are read so often, and that counts which took least.
const TRIES: usize = 4;
/// What the readings of a pair may be wrong by, with room to spare.
const ERROR: u64 = 1000;
const THREADS: usize = 256;
const ONE: u64 = 1 << 32;

impl Scale {
    /// Begins with this moment.
    pub(crate) fn new(ticks: Ticks, clock: &Clock) -> Self {
        let now = Pair::read(ticks, clock);
        Self {
            ticks,
            old: now,
            middle: now,
            latest: now,
            rate: ONE,
            ends: vec![(0, 0); THREADS].into(),
        }
    }

    /// Looks at counter and clock again.
    pub(crate) fn look(&mut self, clock: &Clock) {
        if self.ticks == Ticks::Nanoseconds {
            return;
        }
        if self.latest == self.old {
            std::thread::sleep(SHORTEST);
        }
        self.take(Pair::read(self.ticks, clock));
    }

    fn take(&mut self, now: Pair) {
        self.latest = now;
        if now.nanos.saturating_sub(self.middle.nanos) >= STRETCH {
            self.old = self.middle;
            self.middle = now;
        }
        let ticks = u128::from(now.ticks.saturating_sub(self.old.ticks));
        let nanos = u128::from(now.nanos.saturating_sub(self.old.nanos));
        let rate = (nanos << 32).checked_div(ticks).unwrap_or(u128::from(ONE));
        self.rate = u64::try_from(rate).unwrap_or(ONE);
    }

    /// When a call of a thread began and how long it took, in nanoseconds.
    ///
    /// Calls of a thread follow one another: what the readings say against that, as little as they may be wrong by,
    /// is put right.
    pub(crate) fn nanos(&mut self, thread: u64, began: u64, took: u64) -> (u64, u64) {
        if self.ticks == Ticks::Nanoseconds {
            return (began, took);
        }
        let mut start = if began > self.latest.ticks {
            let since = self.scaled(began - self.latest.ticks);
            self.latest.nanos.saturating_add(since)
        } else {
            let before = self.scaled(self.latest.ticks - began);
            self.latest.nanos.saturating_sub(before)
        };
        let took = self.scaled(took);
        let place = usize::try_from(thread).unwrap_or_default() % THREADS;
        if let Some(end) = self.ends.get_mut(place) {
            if end.0 == thread && start < end.1 && end.1 - start < ERROR {
                start = end.1;
            }
            *end = (thread, start.saturating_add(took));
        }
        (start, took)
    }

    fn scaled(&self, ticks: u64) -> u64 {
        let nanos = (u128::from(ticks) * u128::from(self.rate)) >> 32;
        u64::try_from(nanos).unwrap_or(u64::MAX)
    }
}

impl Pair {
    fn read(ticks: Ticks, clock: &Clock) -> Self {
        let mut best = None;
        for _ in 0..TRIES {
            let before = ticks.now(clock);
            let nanos = clock.monotonic().nanos();
            let width = ticks.now(clock).saturating_sub(before);
            let ticks = before.saturating_add(width / 2);
            if best.is_none_or(|(least, _)| width < least) {
                best = Some((width, Self { ticks, nanos }));
            }
        }
        best.map_or(Self { ticks: 0, nanos: 0 }, |(_, pair)| pair)
    }
}

#[cfg(test)]
mod tests {
    use keywright_clock::WallTime;

    use super::*;

    fn at(ticks: u64, nanos: u64) -> Scale {
        let (clock, _) = Clock::simulated(WallTime::from_unix_seconds(0));
        let mut scale = Scale::new(Ticks::Nanoseconds, &clock);
        scale.ticks = Ticks::Counter;
        let pair = Pair { ticks, nanos };
        (scale.old, scale.middle, scale.latest) = (pair, pair, pair);
        scale
    }

    #[test]
    fn ticks_become_nanoseconds_at_the_rate_of_what_was_seen_before_and_after_a_look() {
        // Three ticks a nanosecond.
        let mut scale = at(30_000, 500);
        scale.take(Pair {
            ticks: 30_000 + 3_000_000,
            nanos: 500 + 1_000_000,
        });
        let near = |a: u64, b: u64| a.abs_diff(b) <= 1;
        for (began, took) in [(30_000, 3), (1_530_000, 300), (3_330_000, 3_000_000)] {
            let (start, long) = scale.nanos(began, began, took);
            assert!(near(start, 500 + (began - 30_000) / 3), "{began}: {start}");
            assert!(near(long, took / 3), "{took}: {long}");
        }
    }

    #[test]
    fn a_machine_that_slept_has_its_rate_back_after_a_while() {
        let mut scale = at(0, 0);
        let mut ticks = 0;
        let mut look = |scale: &mut Scale, nanos: u64| {
            ticks += 1_000_000_000;
            scale.take(Pair { ticks, nanos });
        };
        for second in 1..20 {
            look(&mut scale, second * 1_000_000_000);
        }
        // An hour in which the counter stood still.
        for second in 3620..3660 {
            look(&mut scale, second * 1_000_000_000);
        }
        assert_eq!(scale.nanos(1, ticks, 1000), (3_659_000_000_000, 1000));
    }

    #[test]
    fn calls_of_a_thread_never_begin_before_the_last_one_ended_by_an_error_of_reading() {
        let mut scale = at(0, 0);
        scale.take(Pair {
            ticks: 1_000_000,
            nanos: 1_000_000,
        });
        assert_eq!(scale.nanos(7, 500_000, 100), (500_000, 100));
        assert_eq!(scale.nanos(7, 500_060, 50), (500_100, 50));
        // Another thread, and one whose call really was within another.
        assert_eq!(scale.nanos(8, 500_060, 50), (500_060, 50));
        assert_eq!(scale.nanos(7, 400_000, 200_000), (400_000, 200_000));
    }

    #[test]
    fn the_counter_and_the_clock_agree_where_the_kernel_trusts_the_counter() {
        let clock = Clock::system();
        let ticks = Ticks::best();
        let mut scale = Scale::new(ticks, &clock);
        let before = (ticks.now(&clock), clock.monotonic().nanos());
        scale.look(&clock);
        std::thread::sleep(Duration::from_millis(20));
        let after = (ticks.now(&clock), clock.monotonic().nanos());
        scale.look(&clock);
        let (start, took) = scale.nanos(1, before.0, after.0 - before.0);
        // A thread may be held up between two readings, but not for long against this.
        assert!(start.abs_diff(before.1) < 10_000_000, "{start} {before:?}");
        assert!(
            took.abs_diff(after.1 - before.1) < 10_000_000,
            "{took} {before:?} {after:?}"
        );
    }

    #[test]
    fn without_a_counter_times_are_those_of_the_clock() {
        let (clock, _) = Clock::simulated(WallTime::from_unix_seconds(0));
        let mut scale = Scale::new(Ticks::Nanoseconds, &clock);
        scale.look(&clock);
        assert_eq!(scale.nanos(1, 77, 5), (77, 5));
        assert_eq!(scale.nanos(1, 70, u64::MAX), (70, u64::MAX));
    }
}
