//! How a target is loaded: in a loop, or by a schedule fixed beforehand.
//!
//! A schedule is a function of its phases and a seed; it is drawn as it is needed, so a long run costs no
//! memory, and drawn again it is the same. Rates may change inside a phase: arrivals are laid out in
//! *expected operations* (evenly, or with exponential gaps for a Poisson process) and each is then placed
//! in time by inverting the integral of the rate. No token bucket stands in between, because a bucket
//! delays the start and then starts the clock.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::stats::random::Generator;

/// A load.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Load {
    /// Each worker starts its next operation when the last one has ended. Latency then says what a
    /// caller would feel only if callers waited for each other, so no response time is claimed.
    Closed {
        /// Operations in flight, always.
        workers: NonZeroU32,
    },
    /// Operations start by a schedule, whatever the target does.
    Open(Open),
}

/// A schedule and the cap on what may be in flight.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "a schedule is its three parts")]
pub struct Open {
    /// How operations are spread.
    pub arrival: Arrival,
    /// One after the other, without a gap.
    pub phases: Vec<Phase>,
    /// Most operations in flight at once; more wait, and their waiting counts.
    pub cap: NonZeroU32,
}

/// How operations are spread over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Arrival {
    /// At even distances.
    Constant,
    /// Independent of each other, with exponential gaps.
    Poisson,
}

impl Arrival {
    /// As it is written in suites and documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Poisson => "poisson",
        }
    }
}

/// A stretch of time in which the rate stays, or goes evenly from one value to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phase {
    start_per_s: f64,
    end_per_s: f64,
    duration: Duration,
}

/// A load that cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A phase without length.
    #[error("a phase needs a length above zero")]
    NoTime,
    /// A rate that is no number, below zero, or beyond what a clock of nanoseconds can place.
    #[error("a rate lies between 0 and {MAX_RATE} a second, and not both ends at 0")]
    Rate,
}

/// The highest rate a schedule takes, in operations a second.
pub const MAX_RATE: u64 = 100_000_000;

impl Phase {
    /// A constant rate, in operations a second.
    ///
    /// # Errors
    /// A rate out of range, or no time.
    pub fn constant(rate_per_s: f64, duration: Duration) -> Result<Self, LoadError> {
        Self::ramp(rate_per_s, rate_per_s, duration)
    }

    /// A rate that goes evenly from one value to another, in operations a second.
    ///
    /// # Errors
    /// A rate out of range, or no time.
    pub fn ramp(start_per_s: f64, end_per_s: f64, duration: Duration) -> Result<Self, LoadError> {
        if duration.is_zero() {
            return Err(LoadError::NoTime);
        }
        let fits = |rate: f64| (0.0..=MAX_RATE as f64).contains(&rate);
        if !fits(start_per_s) || !fits(end_per_s) || start_per_s + end_per_s <= 0.0 {
            return Err(LoadError::Rate);
        }
        Ok(Self {
            start_per_s,
            end_per_s,
            duration,
        })
    }

    /// The rate at its start, in operations a second.
    #[must_use]
    pub const fn start_per_s(&self) -> f64 {
        self.start_per_s
    }

    /// The rate at its end, in operations a second.
    #[must_use]
    pub const fn end_per_s(&self) -> f64 {
        self.end_per_s
    }

    /// Its length.
    #[must_use]
    pub const fn duration(&self) -> Duration {
        self.duration
    }

    /// Operations expected in it.
    fn expected(&self) -> f64 {
        f64::midpoint(self.start_per_s, self.end_per_s) * self.duration.as_secs_f64()
    }

    /// Seconds into the phase at which `count` operations are expected: the root of
    /// `slope/2 * t^2 + start * t = count`, in the form that stays exact when the slope is small.
    fn time_of(&self, count: f64) -> f64 {
        let slope = (self.end_per_s - self.start_per_s) / self.duration.as_secs_f64();
        let root = (self.start_per_s * self.start_per_s + 2.0 * slope * count)
            .max(0.0)
            .sqrt();
        let below = self.start_per_s + root;
        if below > 0.0 {
            2.0 * count / below
        } else {
            0.0
        }
    }
}

impl Open {
    /// One phase at a constant rate with even distances.
    ///
    /// # Errors
    /// A rate out of range, or no time.
    pub fn constant(
        rate_per_s: f64,
        duration: Duration,
        cap: NonZeroU32,
    ) -> Result<Self, LoadError> {
        Ok(Self {
            arrival: Arrival::Constant,
            phases: vec![Phase::constant(rate_per_s, duration)?],
            cap,
        })
    }

    /// All phases together.
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.phases.iter().map(Phase::duration).sum()
    }

    /// When operations are due, in nanoseconds since the start.
    #[must_use]
    pub fn schedule(&self, seed: u64) -> Schedule {
        Schedule {
            arrival: self.arrival,
            phases: self.phases.clone(),
            phase: 0,
            phase_start: 0.0,
            expected_before: 0.0,
            drawn: 0,
            position: 0.0,
            random: Generator::new(seed),
        }
    }
}

impl Load {
    /// Most operations in flight at once.
    #[must_use]
    pub const fn cap(&self) -> NonZeroU32 {
        match self {
            Self::Closed { workers } => *workers,
            Self::Open(open) => open.cap,
        }
    }

    /// The offered rate of the first phase, in open mode.
    #[must_use]
    pub fn rate_per_s(&self) -> Option<f64> {
        match self {
            Self::Closed { .. } => None,
            Self::Open(open) => open.phases.first().map(Phase::start_per_s),
        }
    }
}

/// Due times in nanoseconds since the start, never falling, all before the end.
#[derive(Clone, Debug)]
pub struct Schedule {
    arrival: Arrival,
    phases: Vec<Phase>,
    phase: usize,
    /// Seconds before the current phase.
    phase_start: f64,
    /// Operations expected before the current phase.
    expected_before: f64,
    /// Operations drawn so far.
    drawn: u64,
    /// Where the next one stands, in expected operations.
    position: f64,
    random: Generator,
}

impl Iterator for Schedule {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let position = match self.arrival {
            Arrival::Constant => self.drawn as f64,
            Arrival::Poisson => {
                self.position += self.random.exponential(1.0);
                self.position
            }
        };
        self.drawn += 1;
        loop {
            let phase = self.phases.get(self.phase)?;
            let inside = position - self.expected_before;
            if inside < phase.expected() * (1.0 - EDGE) {
                let seconds = self.phase_start + phase.time_of(inside);
                return Some(nanos(seconds));
            }
            self.expected_before += phase.expected();
            self.phase_start += phase.duration.as_secs_f64();
            self.phase += 1;
        }
    }
}

/// An operation that falls on a phase's end by rounding alone belongs to the next one.
const EDGE: f64 = 1e-12;

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "never negative, and a schedule of 500 years saturates"
)]
fn nanos(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAP: NonZeroU32 = NonZeroU32::MIN;

    fn open(arrival: Arrival, phases: &[(f64, f64, u64)]) -> Open {
        let phase =
            |&(a, b, ms): &(f64, f64, u64)| Phase::ramp(a, b, Duration::from_millis(ms)).unwrap();
        Open {
            arrival,
            phases: phases.iter().map(phase).collect(),
            cap: CAP,
        }
    }

    #[test]
    fn a_constant_schedule_is_even_and_has_rate_times_time_operations() {
        for (rate, ms, count) in [(1000.0, 10_000, 10_000), (3.0, 1000, 3), (0.5, 1000, 1)] {
            let due: Vec<_> = open(Arrival::Constant, &[(rate, rate, ms)])
                .schedule(1)
                .collect();
            assert_eq!(due.len(), count);
            for (index, nanos) in due.iter().enumerate() {
                assert_eq!(*nanos, super::nanos(index as f64 / rate));
            }
        }
    }

    #[test]
    fn phases_follow_each_other_without_a_gap() {
        let phases = [
            (1000.0, 1000.0, 1000),
            (5000.0, 5000.0, 500),
            (0.0, 2000.0, 1000),
        ];
        let due: Vec<_> = open(Arrival::Constant, &phases).schedule(1).collect();
        assert_eq!(due.len(), 1000 + 2500 + 1000);
        assert!(due.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(due[1000], 1_000_000_000);
        assert_eq!(due[3500], 1_500_000_000);
        // Half way up the ramp a quarter of its operations have been due.
        let half = due.iter().filter(|due| **due < 2_000_000_000).count();
        assert_eq!(half - 3500, 250);
    }

    #[test]
    fn a_poisson_schedule_has_the_rate_and_exponential_gaps_and_repeats_from_its_seed() {
        let open = open(Arrival::Poisson, &[(10_000.0, 10_000.0, 10_000)]);
        let due: Vec<_> = open.schedule(7).collect();
        assert!((due.len() as f64 - 100_000.0).abs() < 5.0 * 100_000_f64.sqrt());
        let gaps: Vec<_> = due
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as f64)
            .collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let longer = gaps.iter().filter(|gap| **gap > mean).count() as f64 / gaps.len() as f64;
        assert!((longer - (-1.0_f64).exp()).abs() < 0.01, "{longer}");
        assert_eq!(due, open.schedule(7).collect::<Vec<_>>());
        assert_ne!(due, open.schedule(8).collect::<Vec<_>>());
        assert!(*due.last().unwrap() < 10_000_000_000);
    }

    #[test]
    fn loads_that_cannot_be_made_are_refused() {
        let second = Duration::from_secs(1);
        assert_eq!(Phase::constant(1.0, Duration::ZERO), Err(LoadError::NoTime));
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9] {
            assert_eq!(Phase::constant(rate, second), Err(LoadError::Rate));
        }
        assert_eq!(Phase::ramp(-1.0, 5.0, second), Err(LoadError::Rate));
    }
}
