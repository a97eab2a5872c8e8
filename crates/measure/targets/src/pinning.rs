//! Cores that threads are kept on.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// A core of this machine that threads of this process may be on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Core(usize);

/// A number that is no core for this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no core {0} for this process")]
#[non_exhaustive]
pub struct NoCore(u32);

impl Core {
    /// The core of this number, which is tried: the calling thread goes there and comes back.
    ///
    /// # Errors
    /// [`NoCore`] if the system does not let it.
    pub fn of(number: u32) -> Result<Self, NoCore> {
        let core = usize::try_from(number).map_err(|_| NoCore(number))?;
        if core >= CpuSet::MAX_CPU {
            return Err(NoCore(number));
        }
        let before = sched_getaffinity(None).map_err(|_| NoCore(number))?;
        let there = sched_setaffinity(None, &alone(core));
        let back = sched_setaffinity(None, &before);
        match there.and(back) {
            Ok(()) => Ok(Self(core)),
            Err(_) => Err(NoCore(number)),
        }
    }

    /// Takes the calling thread there, and with it the threads that it starts. Where a core has gone since it was
    /// tried, the thread stays where it is.
    pub(crate) fn enter(self) {
        let _ = sched_setaffinity(None, &alone(self.0));
    }
}

fn alone(core: usize) -> CpuSet {
    let mut set = CpuSet::new();
    set.set(core);
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_goes_to_a_core_that_is_there_and_trying_one_moves_nobody() {
        let before = sched_getaffinity(None).unwrap();
        let free = (0..CpuSet::MAX_CPU).find(|core| before.is_set(*core));
        let number = u32::try_from(free.unwrap()).unwrap();
        let core = Core::of(number).unwrap();
        assert_eq!(sched_getaffinity(None).unwrap(), before);
        let inside = std::thread::spawn(move || {
            core.enter();
            sched_getaffinity(None).unwrap()
        });
        assert_eq!(inside.join().unwrap(), alone(core.0));
        assert_eq!(sched_getaffinity(None).unwrap(), before);
    }

    #[test]
    fn a_core_that_is_not_there_is_refused() {
        let most = u32::try_from(CpuSet::MAX_CPU).unwrap();
        for number in [most - 1, most, most + 1, u32::MAX] {
            assert_eq!(Core::of(number), Err(NoCore(number)));
        }
    }
}
