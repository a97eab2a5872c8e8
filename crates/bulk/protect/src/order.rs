//! Blocks that are done, written in their order by the threads that bring them.
//!
//! A thread that brings the next block writes it, and all that stand behind it by then. One that brings another leaves
//! it here and goes on with its work: threads whose blocks take unequal times would otherwise wait for each other at
//! every block. So many blocks may stand here, then threads do wait, and memory stays as it is whatever the size of the
//! file.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Blocks `T` on their way, and what is left of those that are written, `S`, to be used again.
#[derive(Debug)]
pub(crate) struct Order<T, S> {
    state: Mutex<State<T, S>>,
    wake: Condvar,
    /// So many blocks may stand here.
    most: usize,
}

#[derive(Debug)]
struct State<T, S> {
    /// The block that is written next.
    next: u64,
    standing: BTreeMap<u64, T>,
    spares: Vec<S>,
    /// Whether a thread is writing.
    writing: bool,
    closed: bool,
}

impl<T, S: Default> Order<T, S> {
    /// Of blocks from 0 on.
    pub(crate) fn new(most: NonZeroUsize) -> Self {
        Self {
            state: Mutex::new(State {
                next: 0,
                standing: BTreeMap::new(),
                spares: Vec::new(),
                writing: false,
                closed: false,
            }),
            wake: Condvar::new(),
            most: most.get(),
        }
    }

    /// Brings a block, and waits until there is room for another. Gives what is left of a block that was written;
    /// nothing once the order is closed.
    ///
    /// # Errors
    /// That of `write`, to the thread that was writing; whoever gets it closes the order. After it, and after a panic
    /// of `write`, nothing more is written.
    pub(crate) fn bring<E>(
        &self,
        number: u64,
        block: T,
        mut write: impl FnMut(T) -> Result<S, E>,
    ) -> Result<Option<S>, E> {
        let mut state = self.locked();
        state.standing.insert(number, block);
        while let Some(block) = state.take() {
            drop(state);
            let spare = write(block)?;
            state = self.locked();
            state.written(spare);
            self.wake.notify_all();
        }
        while !state.closed && state.standing.len() >= self.most {
            let woken = self.wake.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        Ok(match state.closed {
            true => None,
            false => Some(state.spares.pop().unwrap_or_default()),
        })
    }

    /// Writes nothing more, and lets go whoever waits.
    pub(crate) fn close(&self) {
        self.locked().closed = true;
        self.wake.notify_all();
    }

    fn locked(&self) -> MutexGuard<'_, State<T, S>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T, S> State<T, S> {
    /// The next block, if it is there and nobody is writing.
    fn take(&mut self) -> Option<T> {
        if self.writing || self.closed {
            return None;
        }
        let block = self.standing.remove(&self.next)?;
        self.writing = true;
        Some(block)
    }

    fn written(&mut self, spare: S) {
        self.writing = false;
        self.next += 1;
        self.spares.push(spare);
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    const TWO: NonZeroUsize = NonZeroUsize::new(2).unwrap();

    fn keep(written: &Mutex<Vec<u64>>) -> impl FnMut(u64) -> Result<u64, Infallible> {
        |block| {
            written.lock().unwrap().push(block);
            Ok(block)
        }
    }

    #[test]
    fn whoever_brings_the_next_writes_those_behind_it() {
        let order = Order::<u64, u64>::new(NonZeroUsize::new(3).unwrap());
        let written = Mutex::new(Vec::new());
        let Ok(spare) = order.bring(2, 2, keep(&written));
        // Nothing is written yet, so nothing is left over.
        assert_eq!(spare, Some(0));
        let Ok(_) = order.bring(1, 1, keep(&written));
        assert!(written.lock().unwrap().is_empty());
        let Ok(spare) = order.bring(0, 0, keep(&written));
        assert_eq!(*written.lock().unwrap(), [0, 1, 2]);
        assert_eq!(spare, Some(2));
    }

    #[test]
    fn many_threads_keep_one_order_and_few_blocks() {
        let order = Order::<u64, u64>::new(TWO);
        let (written, next) = (Mutex::new(Vec::new()), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= 10_000 {
                            return;
                        }
                        let Ok(spare) = order.bring(number, number, keep(&written));
                        assert!(spare.is_some());
                    }
                });
            }
        });
        let expected: Vec<u64> = (0..10_000).collect();
        assert_eq!(written.into_inner().unwrap(), expected);
        let state = order.state.into_inner().unwrap();
        assert!(state.standing.is_empty() && !state.writing);
        // One for each block that was on its way at once: four at work and two here.
        assert!(state.spares.len() <= 6, "{}", state.spares.len());
    }

    #[test]
    fn a_thread_waits_while_too_many_blocks_stand_here() {
        let order = Order::<u64, u64>::new(TWO);
        let written = Mutex::new(Vec::new());
        let Ok(_) = order.bring(1, 1, keep(&written));
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| order.bring(2, 2, keep(&written)));
            let seen = |state: &State<u64, u64>| state.standing.len() == 2;
            while !seen(&order.locked()) {
                std::thread::yield_now();
            }
            assert!(!waits.is_finished());
            let Ok(_) = order.bring(0, 0, keep(&written));
            assert!(waits.join().unwrap().unwrap().is_some());
        });
        assert_eq!(*written.lock().unwrap(), [0, 1, 2]);
    }

    #[test]
    fn closed_it_writes_nothing_and_lets_everybody_go() {
        let order = Order::<u64, u64>::new(TWO);
        let written = Mutex::new(Vec::new());
        let Ok(_) = order.bring(1, 1, keep(&written));
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| order.bring(2, 2, keep(&written)));
            let failed = order.bring(0, 0, |_block| Err("the disk is full"));
            assert_eq!(failed, Err("the disk is full"));
            order.close();
            assert_eq!(waits.join().unwrap(), Ok(None));
        });
        let Ok(spare) = order.bring(3, 3, keep(&written));
        assert_eq!(spare, None);
        assert!(written.lock().unwrap().is_empty());
    }
}
