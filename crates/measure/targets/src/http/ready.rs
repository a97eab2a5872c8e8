//! Which of many futures that one task polls can go on.
//!
//! Each has a bell. A bell that rings puts its number on the board and wakes the task once, however many
//! ring; so a turn costs what is ready, not what is in flight.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};

/// The numbers of bells that rang.
#[derive(Debug)]
pub(super) struct Board(Mutex<Rung>);

#[derive(Debug)]
struct Rung {
    numbers: Vec<u32>,
    task: Waker,
}

/// A bell.
#[derive(Debug)]
pub(super) struct Bell {
    ringer: Arc<Ringer>,
    waker: Waker,
}

#[derive(Debug)]
struct Ringer {
    board: Arc<Board>,
    number: u32,
    rung: AtomicBool,
}

impl Board {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(Rung {
            numbers: Vec::new(),
            task: Waker::noop().clone(),
        })))
    }

    /// Moves the numbers to `taken`, which is empty; from now on `task` is woken.
    pub(super) fn take(&self, task: &Waker, taken: &mut Vec<u32>) {
        let mut rung = self.open();
        rung.task.clone_from(task);
        std::mem::swap(&mut rung.numbers, taken);
    }

    fn open(&self) -> MutexGuard<'_, Rung> {
        // A list of numbers and a waker: whole whoever panicked meanwhile.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Bell {
    pub(super) fn new(board: &Arc<Board>, number: u32) -> Self {
        let ringer = Arc::new(Ringer {
            board: Arc::clone(board),
            number,
            rung: AtomicBool::new(false),
        });
        Self {
            waker: Waker::from(Arc::clone(&ringer)),
            ringer,
        }
    }

    /// It may ring again. To be called before its future is polled.
    pub(super) fn rearm(&self) {
        self.ringer.rung.store(false, Ordering::Release);
    }

    pub(super) const fn waker(&self) -> &Waker {
        &self.waker
    }
}

impl Wake for Ringer {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.rung.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut rung = self.board.open();
        rung.numbers.push(self.number);
        if rung.numbers.len() == 1 {
            rung.task.wake_by_ref();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    struct Count(AtomicU32);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn many_rings_are_one_entry_each_and_one_wake_of_the_task() {
        let count = Arc::new(Count(AtomicU32::new(0)));
        let task = Waker::from(Arc::clone(&count));
        let board = Board::new();
        let bells = [0, 1, 2].map(|number| Bell::new(&board, number));
        let mut taken = Vec::new();
        board.take(&task, &mut taken);
        for number in [2, 0, 2, 2] {
            bells[number].waker().wake_by_ref();
        }
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
        board.take(&task, &mut taken);
        assert_eq!(taken, [2, 0]);
        taken.clear();
        // Not re-armed, it stays silent; re-armed, it rings.
        bells[2].waker().wake_by_ref();
        bells[0].rearm();
        bells[0].waker().wake_by_ref();
        board.take(&task, &mut taken);
        assert_eq!(taken, [0]);
    }
}
