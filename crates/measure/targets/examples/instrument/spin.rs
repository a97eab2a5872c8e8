//! Work of known length: a chain of multiplications, in which each operation goes on where the last one
//! ended. Otherwise a processor begins the next one while it still works at this one, and in a row they
//! would take less time than each alone.

use std::hint::black_box;

use keywright_clock::Clock;
use keywright_measure::carry::Check;
use keywright_measure::stats::location::median;
use keywright_measure::{Fault, Worker};

use crate::Failure;

/// So many turns of the chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spin {
    turns: u64,
    value: u64,
}

/// Long enough that two readings of the clock do not show, and so short that most are over before another
/// program gets this core.
const STRETCH_NS: f64 = 1e5;
const STRETCHES: usize = 101;

impl Spin {
    /// The work that lasts about so long here; how long exactly is for [`alone`] to say.
    pub(crate) fn lasting(nanos: f64, clock: &Clock) -> Result<Self, Failure> {
        let thousand = alone(&mut Self::of(1000), 1000, clock)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at least 1, and as small as the time that was asked for"
        )]
        let turns = (nanos * 1000.0 / thousand).round().max(1.0) as u64;
        Ok(Self::of(turns))
    }

    const fn of(turns: u64) -> Self {
        Self {
            turns,
            value: 0x9E37_79B9_7F4A_7C15,
        }
    }
}

#[inline(never)]
fn chain(mut value: u64, turns: u64) -> u64 {
    for _ in 0..turns {
        value = value.rotate_left(5).wrapping_mul(0x5851_F42D_4C95_7F2D);
    }
    value
}

impl Worker for Spin {
    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        self.value = black_box(chain(self.value, black_box(self.turns)));
        Ok(())
    }

    fn check(&mut self) -> Check {
        Check::Right
    }
}

/// Nanoseconds that an operation takes without the engine: the median over stretches of many in a row,
/// of which `about_ns` says how many are needed.
pub(crate) fn alone(worker: &mut dyn Worker, about_ns: u64, clock: &Clock) -> Result<f64, Failure> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, and small"
    )]
    let count = (STRETCH_NS / about_ns.max(1) as f64).max(1.0) as u64;
    let mut stretches = Vec::with_capacity(STRETCHES);
    for _ in 0..STRETCHES {
        let start = clock.monotonic();
        let done = worker.repeat(black_box(count));
        let took = clock.monotonic().since(start);
        done.map_err(|fault| fault.to_string())?;
        stretches.push(took.as_nanos() as f64 / count as f64);
    }
    median(&stretches).ok_or_else(|| "no stretch was timed".into())
}
