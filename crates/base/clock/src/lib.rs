//! The one clock: wall time, monotonic time, and a simulated pair of both for tests.
//!
//! Everything that reads time takes a [`Clock`], so that a test can hold it still or let ten years
//! pass. Nothing else in the workspace may call `Instant::now` or `SystemTime::now`; a lint says so.
#![forbid(unsafe_code)]

pub mod duration;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A source of wall and monotonic time. Cloning shares the source.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    System(Instant),
    Simulated(Arc<Simulated>),
}

#[derive(Debug)]
struct Simulated {
    wall: AtomicU64,
    monotonic: AtomicU64,
}

/// Nanoseconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WallTime(u64);

/// Nanoseconds since an arbitrary start; never goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MonotonicTime(u64);

impl Clock {
    /// The operating system's clocks. All of a process count from the same start, so that a time of one of them
    /// means the same to another.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the owner of time")]
    pub fn system() -> Self {
        static START: OnceLock<Instant> = OnceLock::new();
        Self(Source::System(*START.get_or_init(Instant::now)))
    }

    /// A clock that starts at `wall` and moves only when told to.
    #[must_use]
    pub fn simulated(wall: WallTime) -> (Self, Hand) {
        let state = Arc::new(Simulated {
            wall: AtomicU64::new(wall.0),
            monotonic: AtomicU64::new(0),
        });
        (Self(Source::Simulated(Arc::clone(&state))), Hand(state))
    }

    /// The wall time. A date before 1970 reads as 1970.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the owner of time")]
    pub fn wall(&self) -> WallTime {
        match &self.0 {
            Source::System(_) => WallTime(nanos(
                SystemTime::now()
                    .duration_since(UNIX_EPOCH)
                    .unwrap_or_default(),
            )),
            Source::Simulated(state) => WallTime(state.wall.load(Ordering::Acquire)),
        }
    }

    /// The monotonic time.
    #[must_use]
    pub fn monotonic(&self) -> MonotonicTime {
        match &self.0 {
            Source::System(start) => MonotonicTime(nanos(start.elapsed())),
            Source::Simulated(state) => MonotonicTime(state.monotonic.load(Ordering::Acquire)),
        }
    }
}

/// Moves a simulated clock.
#[derive(Debug)]
pub struct Hand(Arc<Simulated>);

impl Hand {
    /// Lets `duration` pass on both clocks.
    pub fn advance(&self, duration: Duration) {
        self.0.wall.fetch_add(nanos(duration), Ordering::AcqRel);
        self.0
            .monotonic
            .fetch_add(nanos(duration), Ordering::AcqRel);
    }

    /// Sets the wall clock, forwards or back, as an administrator might; monotonic time stays.
    pub fn set_wall(&self, wall: WallTime) {
        self.0.wall.store(wall.0, Ordering::Release);
    }
}

impl WallTime {
    /// From nanoseconds since 1970-01-01 UTC.
    #[must_use]
    pub const fn from_unix_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// From milliseconds since 1970-01-01 UTC.
    #[must_use]
    pub const fn from_unix_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// From seconds since 1970-01-01 UTC.
    #[must_use]
    pub const fn from_unix_seconds(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1_000_000_000))
    }

    /// Nanoseconds since 1970-01-01 UTC.
    #[must_use]
    pub const fn unix_nanos(self) -> u64 {
        self.0
    }

    /// Whole milliseconds since 1970-01-01 UTC.
    #[must_use]
    pub const fn unix_millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Whole seconds since 1970-01-01 UTC.
    #[must_use]
    pub const fn unix_seconds(self) -> u64 {
        self.0 / 1_000_000_000
    }

    /// This time and `duration` more.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(nanos(duration)))
    }

    /// RFC 3339 text in UTC with whole seconds, for people: `2026-01-31T23:59:59Z`.
    #[must_use]
    pub fn rfc3339(self) -> String {
        let seconds = self.unix_seconds();
        let (year, month, day) = civil(seconds / 86_400);
        let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

impl MonotonicTime {
    /// Nanoseconds since the clock's arbitrary start.
    #[must_use]
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to this; zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// This time and `duration` more.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(nanos(duration)))
    }
}

/// A duration in whole nanoseconds; 584 years and more read as the longest.
#[must_use]
pub fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Year, month and day of a day number since 1970-01-01, in the proleptic Gregorian calendar.
///
/// Counts in eras of 400 years that begin on 1 March, so that the leap day is the last of its year.
const fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 {
        march_month + 3
    } else {
        march_month - 9
    };
    (year_of_era + era * 400 + (month <= 2) as u64, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_clocks_count_from_the_same_start() {
        let first = Clock::system();
        std::thread::sleep(Duration::from_millis(20));
        let (early, late) = (first.monotonic(), Clock::system().monotonic());
        assert!(early <= late && late <= first.monotonic());
    }

    #[test]
    fn a_simulated_clock_moves_only_when_told() {
        let (clock, hand) = Clock::simulated(WallTime::from_unix_seconds(100));
        let start = clock.monotonic();
        assert_eq!(clock.wall().unix_seconds(), 100);
        hand.advance(Duration::from_secs(5));
        assert_eq!(clock.wall().unix_seconds(), 105);
        hand.set_wall(WallTime::from_unix_seconds(1));
        assert_eq!(clock.monotonic().since(start), Duration::from_secs(5));
        assert_eq!(start.since(clock.monotonic()), Duration::ZERO);
    }

    #[test]
    fn dates_match_known_days() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(WallTime::from_unix_seconds(seconds).rfc3339(), text);
        }
    }
}
