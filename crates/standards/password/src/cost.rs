//! What stretching a password costs, and how much of it a foreign file may ask for.

use std::time::Duration;

use crate::Error;

/// Argon2id's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "Argon2 has these three")]
pub struct Cost {
    /// Memory in KiB.
    pub memory_kib: u32,
    /// Passes over the memory.
    pub passes: u32,
    /// Lanes, which run in parallel where there are cores. They change the result.
    pub lanes: u32,
}

/// The costs that new containers have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Profile {
    /// 64 MiB, 3 passes, 2 lanes: tests and machines with little memory.
    Fast,
    /// 256 MiB, 3 passes, 4 lanes.
    #[default]
    Balanced,
    /// 1 GiB, 3 passes, 8 lanes: keys that protect much and are opened rarely.
    Strong,
}

impl Profile {
    /// The profile's parameters.
    #[must_use]
    pub const fn cost(self) -> Cost {
        let (memory_kib, lanes) = match self {
            Self::Fast => (64 << 10, 2),
            Self::Balanced => (256 << 10, 4),
            Self::Strong => (1 << 20, 8),
        };
        Cost {
            memory_kib,
            passes: 3,
            lanes,
        }
    }
}

/// How much a container may ask for. The standard limits hold every profile; larger ones are a decision
/// that the caller writes down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    most: Cost,
    work_kib: u64,
    wait: Duration,
}

impl Limits {
    /// 1 GiB, 10 passes, 16 lanes, 4 GiB of memory times passes; 30 seconds of waiting for the budget.
    #[must_use]
    pub const fn standard() -> Self {
        Self {
            most: Cost {
                memory_kib: 1 << 20,
                passes: 10,
                lanes: 16,
            },
            work_kib: 4 << 20,
            wait: Duration::from_secs(30),
        }
    }

    /// Takes `most` as the largest of each parameter, and `work_kib` as the largest memory times passes.
    #[must_use]
    pub const fn with_most(self, most: Cost, work_kib: u64) -> Self {
        Self {
            most,
            work_kib,
            wait: self.wait,
        }
    }

    /// Waits this long for the process's memory budget, and not at all for zero.
    #[must_use]
    pub const fn with_wait(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// How long a call waits for the process's memory budget.
    #[must_use]
    pub const fn wait(&self) -> Duration {
        self.wait
    }

    /// Checks parameters that came from a file.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] if one is too large, or smaller than Argon2 works with.
    pub fn check(&self, cost: Cost) -> Result<(), Error> {
        let Cost {
            memory_kib,
            passes,
            lanes,
        } = cost;
        let work = u64::from(memory_kib) * u64::from(passes);
        let fits = (1..=self.most.lanes).contains(&lanes)
            && (1..=self.most.passes).contains(&passes)
            && memory_kib <= self.most.memory_kib
            && u64::from(memory_kib) >= 8 * u64::from(lanes)
            && work <= self.work_kib;
        fits.then_some(()).ok_or(Error::OutOfBounds)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::standard()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(memory_kib: u32, passes: u32, lanes: u32) -> bool {
        let cost = Cost {
            memory_kib,
            passes,
            lanes,
        };
        Limits::standard().check(cost).is_ok()
    }

    #[test]
    fn the_standard_limits_hold_every_profile_and_their_form_with_one_lane() {
        for profile in [Profile::Fast, Profile::Balanced, Profile::Strong] {
            let cost = profile.cost();
            assert!(check(cost.memory_kib, cost.passes, cost.lanes));
            assert!(check(cost.memory_kib, cost.passes, 1));
        }
    }

    #[test]
    fn each_bound_holds_on_both_sides() {
        let gib = 1 << 20;
        assert!(check(gib, 4, 16));
        assert!(!check(gib, 5, 1), "work");
        assert!(!check(gib + 1, 1, 1));
        assert!(check(8, 10, 1));
        assert!(!check(7, 1, 1));
        assert!(!check(8 * 16 - 1, 1, 16));
        assert!(!check(1024, 11, 1));
        assert!(!check(1024, 0, 1));
        assert!(!check(1024, 1, 0));
        assert!(!check(1024, 1, 17));
        assert!(!check(0, 1, 1));
        assert!(!check(u32::MAX, u32::MAX, u32::MAX));
        assert!(!check(gib, u32::MAX, 1), "no product overflows");
        assert!(!check(u32::MAX, 1, 0x00FF_FFFF));
    }

    #[test]
    fn larger_costs_need_a_written_decision() {
        let cost = Cost {
            memory_kib: 2 << 20,
            passes: 1,
            lanes: 1,
        };
        assert!(Limits::standard().check(cost).is_err());
        assert!(
            Limits::standard()
                .with_most(cost, 2 << 20)
                .check(cost)
                .is_ok()
        );
    }
}
