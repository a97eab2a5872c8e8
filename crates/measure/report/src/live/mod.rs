//! What a running measurement looks like: progress lines, a dashboard on a terminal, one in a browser.
//!
//! A [`Live`] is the observer that a session is given. It folds every event into a [`state::Board`] and
//! leaves the result where displays find it; between two events nothing happens here. Displays run in
//! threads of their own, look at the latest snapshot as often as they like, and never make the measuring
//! thread wait, wake anybody or write anything. [`Live::finished`] stands behind the same displays for a run
//! that is over.
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
use keywright_measure::document::Document;
use keywright_measure::event::{Event, Observer};

use state::{Board, Snapshot};

/// The observer behind every display.
#[derive(Debug)]
pub struct Live {
    clock: Clock,
    began: MonotonicTime,
    /// What was on the clock of snapshots when this was made.
    before_ns: u64,
    board: Mutex<Board>,
    latest: Mutex<Arc<Snapshot>>,
}

impl Live {
    /// Nothing has happened yet; every case will be measured `runs` times.
    #[must_use]
    pub fn new(clock: Clock, runs: u32) -> Self {
        Self::behind(clock, Board::new(runs))
    }

    /// A run that is over: every display shows what `document` says of it. `place` is the case that is shown
    /// second by second; the last one where there is none at it.
    #[must_use]
    pub fn finished(clock: Clock, document: &Document, place: usize) -> Self {
        Self::behind(clock, Board::showing(document, place))
    }

    fn behind(clock: Clock, board: Board) -> Self {
        Self {
            began: clock.monotonic(),
            before_ns: board.snapshot().at_ns,
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

    /// Nanoseconds since this was made, after those of a finished run: the time that snapshots are on.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        let elapsed = self.clock.monotonic().since(self.began).as_nanos();
        let elapsed = u64::try_from(elapsed).unwrap_or(u64::MAX);
        self.before_ns.saturating_add(elapsed)
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
