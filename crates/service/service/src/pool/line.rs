//! What waits for the threads of a pool: first come, first served, and never more than a number.
//!
//! A thread that works takes the next job without a word to the system; only one that sleeps is woken, and no more of
//! them than there are jobs.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The line.
pub(super) struct Line<T> {
    inside: Mutex<Inside<T>>,
    came: Condvar,
    /// At most so many wait.
    room: usize,
    /// How many wait, for those who ask without taking their turn.
    waiting: AtomicUsize,
}

struct Inside<T> {
    waiting: VecDeque<T>,
    /// Threads that sleep.
    idle: usize,
    closed: bool,
}

/// Why something was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// There is no room.
    Full,
    /// Nothing is taken any more.
    Closed,
}

impl<T> Line<T> {
    /// With room for so many, at least for one.
    pub(super) fn new(room: usize) -> Self {
        Self {
            inside: Mutex::new(Inside {
                waiting: VecDeque::new(),
                idle: 0,
                closed: false,
            }),
            came: Condvar::new(),
            room: room.max(1),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Stands at the end, or not at all.
    pub(super) fn join(&self, job: T) -> Result<(), Refused> {
        let mut inside = self.lock();
        if inside.closed {
            return Err(Refused::Closed);
        }
        if inside.waiting.len() >= self.room {
            return Err(Refused::Full);
        }
        inside.waiting.push_back(job);
        self.count(&inside);
        let sleeps = inside.idle > 0;
        drop(inside);
        if sleeps {
            self.came.notify_one();
        }
        Ok(())
    }

    /// Waits for the next; nothing once the line is closed and all have had their turn.
    pub(super) fn next(&self) -> Option<T> {
        let mut inside = self.lock();
        loop {
            if let Some(job) = inside.waiting.pop_front() {
                self.count(&inside);
                return Some(job);
            }
            if inside.closed {
                return None;
            }
            inside.idle += 1;
            let woken = self.came.wait(inside);
            inside = woken.unwrap_or_else(PoisonError::into_inner);
            inside.idle -= 1;
        }
    }

    /// Whether one more would be refused now; it may be otherwise in a moment.
    pub(super) fn is_full(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) >= self.room
    }

    /// Takes nothing any more. Who waits still has their turn.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.came.notify_all();
    }

    fn count(&self, inside: &Inside<T>) {
        self.waiting.store(inside.waiting.len(), Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Inside<T>> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_wait_than_there_is_room_for_and_the_first_is_the_first() {
        let line = Line::new(2);
        assert!(!line.is_full());
        assert_eq!((line.join(1), line.join(2)), (Ok(()), Ok(())));
        assert!(line.is_full());
        assert_eq!(line.join(3), Err(Refused::Full));
        assert_eq!(line.next(), Some(1));
        assert!(!line.is_full());
        assert_eq!(line.join(4), Ok(()));
        assert_eq!((line.next(), line.next()), (Some(2), Some(4)));
    }

    #[test]
    fn a_line_without_room_has_room_for_one() {
        let line = Line::new(0);
        assert_eq!((line.join(1), line.join(2)), (Ok(()), Err(Refused::Full)));
    }

    #[test]
    fn a_closed_line_takes_nobody_and_ends_when_it_is_empty() {
        let line = Line::new(9);
        line.join(1).unwrap();
        line.close();
        assert_eq!(line.join(2), Err(Refused::Closed));
        assert_eq!((line.next(), line.next()), (Some(1), None));
        assert_eq!(line.next(), None);
    }

    #[test]
    fn whoever_sleeps_is_woken_by_a_job_and_by_the_end() {
        const JOBS: u32 = 10_000;
        let (line, done) = (Line::new(7), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while let Some(job) = line.next() {
                        done.lock().unwrap().push(job);
                    }
                });
            }
            for job in 0..JOBS {
                while line.join(job) == Err(Refused::Full) {
                    std::thread::yield_now();
                }
            }
            line.close();
        });
        let mut done = done.into_inner().unwrap();
        done.sort_unstable();
        assert!(done.into_iter().eq(0..JOBS));
    }
}
