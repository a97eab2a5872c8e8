//! How much memory all password operations of the process may hold together.
//!
//! Without it ten requests with honest containers would take ten times the memory of one, and the machine
//! would swap or kill. The budget starts at 1 GiB, which is one container of the largest profile.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::Error;

static PROCESS: Budget = Budget::new(1 << 20);

/// Sets the process's budget, in KiB. Calls that run already keep what they have.
pub fn set(kib: u32) {
    PROCESS.set(u64::from(kib));
}

/// Takes a share of the process's budget.
pub(crate) fn take(kib: u32, wait: Duration) -> Result<Share<'static>, Error> {
    PROCESS.take(u64::from(kib), wait)
}

/// A bounded amount that shares are taken from.
struct Budget {
    state: Mutex<State>,
    freed: Condvar,
}

struct State {
    limit: u64,
    used: u64,
}

impl State {
    const fn fits(&self, kib: u64) -> bool {
        kib <= self.limit.saturating_sub(self.used)
    }
}

impl Budget {
    const fn new(limit: u64) -> Self {
        let state = State { limit, used: 0 };
        Self {
            state: Mutex::new(state),
            freed: Condvar::new(),
        }
    }

    fn set(&self, limit: u64) {
        self.lock().limit = limit;
        self.freed.notify_all();
    }

    fn take(&self, kib: u64, wait: Duration) -> Result<Share<'_>, Error> {
        let state = self.lock();
        if kib > state.limit {
            return Err(Error::OutOfMemory);
        }
        let (mut state, _) = self
            .freed
            .wait_timeout_while(state, wait, |state| !state.fits(kib))
            .unwrap_or_else(PoisonError::into_inner);
        if !state.fits(kib) {
            return Err(Error::Busy);
        }
        state.used += kib;
        Ok(Share { budget: self, kib })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Both numbers change in single steps, so a panic elsewhere cannot leave them torn.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A part of the budget, given back on drop.
#[must_use]
pub(crate) struct Share<'a> {
    budget: &'a Budget,
    kib: u64,
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.budget.lock().used -= self.kib;
        self.budget.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::ZERO;

    #[test]
    fn what_does_not_fit_now_is_busy_and_what_never_fits_is_out_of_memory() {
        let budget = Budget::new(100);
        let first = budget.take(60, NOW).unwrap();
        assert_eq!(budget.take(41, NOW).err(), Some(Error::Busy));
        assert_eq!(budget.take(101, NOW).err(), Some(Error::OutOfMemory));
        let second = budget.take(40, NOW).unwrap();
        drop(first);
        drop(second);
        assert!(budget.take(100, NOW).is_ok());
    }

    #[test]
    fn a_call_that_waits_gets_what_another_gives_back() {
        let budget = Budget::new(10);
        let held = budget.take(10, NOW).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| budget.take(5, Duration::from_secs(60)).is_ok());
            drop(held);
            assert!(waiting.join().unwrap());
        });
        assert_eq!(budget.lock().used, 0);
    }

    #[test]
    fn a_smaller_budget_counts_from_now_on() {
        let budget = Budget::new(10);
        let held = budget.take(10, NOW).unwrap();
        budget.set(5);
        assert_eq!(budget.take(1, NOW).err(), Some(Error::Busy));
        assert_eq!(budget.take(6, NOW).err(), Some(Error::OutOfMemory));
        drop(held);
        assert!(budget.take(5, NOW).is_ok());
    }
}
