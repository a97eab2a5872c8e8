//! Fixed work whose time should not vary: how much it does is the noise of the machine.

use std::hint::black_box;

use keywright_clock::Clock;

use crate::stats::location;

/// Fixed work of about half a millisecond.
#[derive(Clone, Copy, Debug)]
pub struct Canary {
    turns: u64,
}

/// How noisy a machine is, by the coefficient of variation of fixed work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Noise {
    /// At most 1 %.
    Quiet,
    /// At most 3 %.
    Fair,
    /// At most 10 %.
    Noisy,
    /// Above.
    Unusable,
}

impl Noise {
    /// From a coefficient of variation in percent.
    #[must_use]
    pub fn of(percent: f64) -> Self {
        match percent {
            percent if percent <= 1.0 => Self::Quiet,
            percent if percent <= 3.0 => Self::Fair,
            percent if percent <= 10.0 => Self::Noisy,
            _ => Self::Unusable,
        }
    }

    /// As it is printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quiet => "quiet",
            Self::Fair => "ok",
            Self::Noisy => "noisy",
            Self::Unusable => "unusable",
        }
    }
}

/// About how long one is meant to be that runs while something is measured: a fraction of what a core does
/// between two interrupts.
const SHORT_NS: u64 = 20_000;
/// Samples at a time.
const SAMPLES: usize = 8;
/// About how long one is meant to be.
const LENGTH_NS: u64 = 500_000;

impl Canary {
    /// Finds out how much work that is here. On a clock that stands still it is little.
    #[must_use]
    pub fn new(clock: &Clock) -> Self {
        Self::lasting(clock, LENGTH_NS)
    }

    /// Work so short that it may run beside what is measured.
    pub(crate) fn short(clock: &Clock) -> Self {
        Self::lasting(clock, SHORT_NS)
    }

    fn lasting(clock: &Clock, length: u64) -> Self {
        let mut turns = 1 << 12;
        for _ in 0..16 {
            let took = Self { turns }.once(clock);
            if took >= length || took == 0 {
                break;
            }
            turns *= 2;
        }
        Self { turns }
    }

    /// Does the work a few times; nanoseconds each.
    #[must_use]
    pub fn sample(&self, clock: &Clock) -> Vec<u64> {
        (0..SAMPLES).map(|_| self.once(clock)).collect()
    }

    /// Does the work once; nanoseconds.
    pub(crate) fn once(self, clock: &Clock) -> u64 {
        let start = clock.monotonic();
        let mut value = 0x9E37_79B9_7F4A_7C15_u64;
        for _ in 0..self.turns {
            value = black_box(value.rotate_left(5).wrapping_mul(0x5851_F42D_4C95_7F2D));
        }
        black_box(value);
        u64::try_from(clock.monotonic().since(start).as_nanos()).unwrap_or(u64::MAX)
    }
}

/// The coefficient of variation in percent. None without samples, or on a clock that stands still.
#[must_use]
pub fn variation_percent(samples: &[u64]) -> Option<f64> {
    let samples: Vec<f64> = samples.iter().map(|nanos| *nanos as f64).collect();
    let (mean, variance) = (location::mean(&samples)?, location::variance(&samples)?);
    (mean > 0.0).then(|| 100.0 * variance.sqrt() / mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_work_is_quiet_and_uneven_work_is_not() {
        assert_eq!(
            variation_percent(&[500, 500, 500]).map(Noise::of),
            Some(Noise::Quiet)
        );
        assert_eq!(
            variation_percent(&[500, 510, 490]).map(Noise::of),
            Some(Noise::Fair)
        );
        assert_eq!(
            variation_percent(&[500, 540, 460]).map(Noise::of),
            Some(Noise::Noisy)
        );
        assert_eq!(
            variation_percent(&[500, 900, 460]).map(Noise::of),
            Some(Noise::Unusable)
        );
        assert_eq!(variation_percent(&[0, 0]), None);
        assert_eq!(variation_percent(&[]), None);
    }

    #[test]
    fn a_clock_that_stands_still_does_not_hold_it_up() {
        let (clock, _hand) = Clock::simulated(keywright_clock::WallTime::from_unix_seconds(0));
        assert_eq!(Canary::new(&clock).sample(&clock), vec![0; SAMPLES]);
    }
}
