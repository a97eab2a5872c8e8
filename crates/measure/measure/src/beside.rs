//! Fixed work while a run is measured: how fast the machine was in each block of it.
//!
//! A few readings of some microseconds in every block, on a thread of its own, so that neither an event loop
//! nor a worker does them between two operations: less than a ten-thousandth of one core. A block's reading is
//! the median of those that were taken in it. Slower work tells of a lower frequency, of a neighbour on the
//! same core or of time that the hypervisor took; waiting for a core is not in it, because a reading begins
//! when the work does. On a clock that stands still there is nothing to read, and no thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, Thread};
use std::time::Duration;

use keywright_clock::Clock;

use crate::canary::Canary;

/// Readings in a block.
const IN_A_BLOCK: u32 = 4;
/// The shortest time between two readings, however short a block is.
const SHORTEST_PAUSE: Duration = Duration::from_millis(10);

/// The fixed work of a session.
#[derive(Debug)]
pub(crate) struct Beside<'a> {
    clock: &'a Clock,
    work: Option<Canary>,
}

/// Readings since they were taken last, in nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct Readings(Mutex<Vec<u64>>);

impl<'a> Beside<'a> {
    pub(crate) fn new(clock: &'a Clock) -> Self {
        let work = Canary::short(clock);
        Self {
            clock,
            work: Some(work).filter(|work| work.once(clock) > 0),
        }
    }

    /// Does `act` with the work beside it. Where there is no thread to be had, it is done without.
    pub(crate) fn during<T>(&self, block: Duration, act: impl FnOnce(&Readings) -> T) -> T {
        let readings = Readings::default();
        let Some(work) = self.work else {
            return act(&readings);
        };
        let over = AtomicBool::new(false);
        let pause = (block / IN_A_BLOCK).max(SHORTEST_PAUSE);
        std::thread::scope(|scope| {
            let again = || {
                while !over.load(Ordering::Acquire) {
                    std::thread::park_timeout(pause);
                    readings.put(work.once(self.clock));
                }
            };
            let thread = Builder::new().name("canary".to_owned());
            let thread = thread.spawn_scoped(scope, again).ok();
            let _ending = Ending {
                over: &over,
                thread: thread.as_ref().map(|thread| thread.thread().clone()),
            };
            act(&readings)
        })
    }
}

/// Ends the thread, also when what it runs beside panics: the scope waits for it.
struct Ending<'a> {
    over: &'a AtomicBool,
    thread: Option<Thread>,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        if let Some(thread) = &self.thread {
            thread.unpark();
        }
    }
}

impl Readings {
    fn put(&self, nanos: u64) {
        let mut readings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody takes them where blocks are long; the newest say enough.
        if readings.len() < 1000 && nanos > 0 {
            readings.push(nanos);
        }
    }

    /// The median of the readings since the last call.
    pub(crate) fn take(&self) -> Option<u64> {
        let mut readings = {
            let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *held)
        };
        readings.sort_unstable();
        readings.get(readings.len() / 2).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keywright_clock::WallTime;

    #[test]
    fn a_clock_that_stands_still_gives_no_readings() {
        let (clock, _hand) = Clock::simulated(WallTime::from_unix_seconds(0));
        let beside = Beside::new(&clock);
        let read = beside.during(Duration::from_millis(40), |readings| readings.take());
        assert_eq!((beside.work.is_none(), read), (true, None));
    }

    #[test]
    fn readings_are_taken_once_and_their_median_is_given() {
        let readings = Readings::default();
        assert_eq!(readings.take(), None);
        [30, 0, 10, 20]
            .into_iter()
            .for_each(|nanos| readings.put(nanos));
        assert_eq!(readings.take(), Some(20));
        assert_eq!(readings.take(), None);
    }

    #[test]
    fn readings_that_nobody_takes_do_not_pile_up() {
        let readings = Readings::default();
        (1..=5000).for_each(|nanos| readings.put(nanos));
        assert_eq!(readings.0.lock().unwrap().len(), 1000);
    }

    #[test]
    fn a_thread_beside_what_panics_ends_all_the_same() {
        let clock = Clock::system();
        let beside = Beside::new(&clock);
        let caught = std::panic::catch_unwind(|| {
            beside.during(Duration::from_secs(3600), |_| panic!("as asked"));
        });
        assert!(caught.is_err());
    }

    #[test]
    fn work_beside_a_run_is_read() {
        let clock = Clock::system();
        let beside = Beside::new(&clock);
        let read = beside.during(Duration::from_millis(40), |readings| {
            let mut tries = 0..1000;
            tries.find_map(|_| {
                std::thread::sleep(Duration::from_millis(5));
                readings.take()
            })
        });
        assert!(read.is_some());
    }
}
