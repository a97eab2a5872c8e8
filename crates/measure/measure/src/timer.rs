//! What the clock costs, how fine it is, and how many operations a sample needs because of that.

use std::hint::black_box;

use keywright_clock::Clock;

use crate::carry::Fault;

/// A clock's measured properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {
    resolution_ns: u64,
    cost_ps: u64,
    loop_ps: u64,
}

/// An operation at least this many times the cost of a reading is timed alone.
const ALONE: u64 = 20;
/// Fewest operations of a batch. Timing a sample and noting it down costs up to 150 ns, which is then less
/// than a nanosecond for each of them.
const FEWEST: u64 = 256;

impl Timer {
    /// Measures `clock`. Takes some milliseconds.
    #[must_use]
    pub fn calibrate(clock: &Clock) -> Self {
        Self {
            resolution_ns: resolution(clock),
            cost_ps: cost(clock),
            loop_ps: empty_loop(clock),
        }
    }

    /// A timer with known properties, for simulations.
    #[must_use]
    pub const fn known(resolution_ns: u64, cost_ps: u64, loop_ps: u64) -> Self {
        Self {
            resolution_ns,
            cost_ps,
            loop_ps,
        }
    }

    /// The smallest difference between readings that is seen again and again, in nanoseconds.
    #[must_use]
    pub const fn resolution_ns(&self) -> u64 {
        self.resolution_ns
    }

    /// The median cost of a reading, in picoseconds.
    #[must_use]
    pub const fn cost_picos(&self) -> u64 {
        self.cost_ps
    }

    /// What one turn of an empty loop takes, in picoseconds.
    #[must_use]
    pub const fn loop_picos(&self) -> u64 {
        self.loop_ps
    }

    /// The shortest sample that can be trusted, in nanoseconds: a thousand times the resolution and a
    /// hundred times the cost.
    #[must_use]
    pub fn shortest_sample_ns(&self) -> u64 {
        (1000 * self.resolution_ns).max(self.cost_ps / 10)
    }

    /// How many operations make a sample: 1, or at least 256 and so many that the sample is long enough.
    ///
    /// # Errors
    /// The operation fails.
    pub fn batch(
        &self,
        clock: &Clock,
        repeat: &mut dyn FnMut(u64) -> Result<(), Fault>,
    ) -> Result<u64, Fault> {
        let mut took = |count: u64| {
            let start = clock.monotonic();
            repeat(black_box(count))?;
            let took = clock.monotonic().since(start).as_nanos();
            Ok(u64::try_from(took).unwrap_or(u64::MAX))
        };
        // The best of a few, because the first is cold.
        let mut alone = u64::MAX;
        for _ in 0..5 {
            alone = alone.min(took(1)?);
        }
        if alone.saturating_mul(1000) >= (ALONE + 1) * self.cost_ps {
            return Ok(1);
        }
        let mut count = FEWEST;
        while took(count)? < self.shortest_sample_ns() && count < MOST {
            count *= 2;
        }
        Ok(count)
    }
}

/// An operation that takes no time at all is still counted in samples of some milliseconds.
const MOST: u64 = 1 << 24;

/// The smallest difference seen at least a hundred times.
fn resolution(clock: &Clock) -> u64 {
    let mut seen = std::collections::BTreeMap::<u64, u32>::new();
    let mut last = clock.monotonic().nanos();
    for _ in 0..20_000 {
        let now = clock.monotonic().nanos();
        if now > last {
            *seen.entry(now - last).or_default() += 1;
        }
        last = now;
    }
    let often = seen.iter().find(|(_, times)| **times >= 100);
    often
        .or_else(|| seen.iter().next())
        .map_or(1, |(difference, _)| *difference)
}

/// The median over many short loops of readings.
fn cost(clock: &Clock) -> u64 {
    median(|| {
        let start = clock.monotonic();
        for _ in 0..READINGS {
            black_box(clock.monotonic());
        }
        nanos_since(clock, start) * 1000 / READINGS
    })
}

const READINGS: u64 = 1000;

fn empty_loop(clock: &Clock) -> u64 {
    const TURNS: u64 = 20_000;
    median(|| {
        let start = clock.monotonic();
        for _ in 0..black_box(TURNS) {
            black_box(());
        }
        nanos_since(clock, start) * 1000 / TURNS
    })
}

fn nanos_since(clock: &Clock, start: keywright_clock::MonotonicTime) -> u64 {
    u64::try_from(clock.monotonic().since(start).as_nanos()).unwrap_or(u64::MAX)
}

fn median(mut sample: impl FnMut() -> u64) -> u64 {
    let mut samples: Vec<u64> = (0..51).map(|_| sample()).collect();
    samples.sort_unstable();
    samples[samples.len() / 2]
}
