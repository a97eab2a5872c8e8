//! What a running measurement looks like: progress lines, a dashboard on a terminal, one in a browser.
//!
//! A [`Live`] is the observer that a session is given. It folds every event into a [`state::Board`] and
//! leaves the result where displays find it; between two events nothing happens here. Displays run in
//! threads of their own, look at the latest snapshot as often as they like, and never make the measuring
//! thread wait, wake anybody or write anything.
//!
//! Not here: deciding which display is used, and printing lines; that is the program's.

pub mod progress;
pub mod state;
#[cfg(feature = "tui")]
pub mod terminal;
#[cfg(feature = "web")]
pub mod web;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use keywright_clock::{Clock, MonotonicTime};
use keywright_measure::event::{Event, Observer};

use state::{Board, Snapshot};

/// The observer behind every display.
#[derive(Debug)]
pub struct Live {
    clock: Clock,
    began: MonotonicTime,
    board: Mutex<Board>,
    latest: Mutex<Arc<Snapshot>>,
}

impl Live {
    /// Nothing has happened yet; every case will be measured `runs` times.
    #[must_use]
    pub fn new(clock: Clock, runs: u32) -> Self {
        let board = Board::new(runs);
        Self {
            began: clock.monotonic(),
            clock,
            latest: Mutex::new(Arc::new(board.snapshot().clone())),
            board: Mutex::new(board),
        }
    }

    /// What the latest event left. Costs a pointer, however long the run.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&held(&self.latest))
    }

    /// Nanoseconds since this was made: the time that snapshots are on.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        let elapsed = self.clock.monotonic().since(self.began).as_nanos();
        u64::try_from(elapsed).unwrap_or(u64::MAX)
    }
}

impl Observer for Live {
    fn event(&self, event: &Event) {
        let now = self.now_ns();
        // Displays hold only the other lock, and that for as long as it takes to copy a pointer.
        let mut board = held(&self.board);
        board.fold(now, event);
        let snapshot = Arc::new(board.snapshot().clone());
        drop(board);
        *held(&self.latest) = snapshot;
    }
}

/// What is behind the lock holds whole values only, so a panic elsewhere leaves nothing half done.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
