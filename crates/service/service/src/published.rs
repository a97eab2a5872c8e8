//! A value that is replaced as a whole, and kept by those who read it.
//!
//! A reader remembers what it saw last, and of which change that was. Whether there has been another is one load; only
//! where there has, it goes to the value, behind a lock that is held for as long as a pointer takes to be copied. So a
//! thread reads for nearly nothing what changes a few times a day, and what is replaced lives on until the last who
//! looked at it looks again.

use std::ops::Deref;
use std::rc::Rc;

use crate::sync::{Arc, AtomicU64, Mutex, Ordering, PoisonError};

/// The value in force.
pub(crate) struct Published<T> {
    value: Mutex<Arc<T>>,
    /// How often it was replaced. It changes under the lock, so that whoever has the lock sees both as they belong.
    changes: AtomicU64,
}

impl<T> Published<T> {
    pub(crate) fn new(value: Arc<T>) -> Self {
        Self {
            value: Mutex::new(value),
            changes: AtomicU64::new(0),
        }
    }

    /// The value in force, for whoever asks seldom.
    pub(crate) fn get(&self) -> Arc<T> {
        let value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&value)
    }

    /// Puts another value in force: whoever looks after this returned sees it, or a later one.
    pub(crate) fn replace(&self, next: Arc<T>) {
        let mut value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *value, next);
        self.changes.fetch_add(1, Ordering::Release);
        drop(value);
        // What may be the end of a large value happens where nobody waits for it.
        drop(before);
    }

    /// A reader that has seen the value in force.
    pub(crate) fn reader(&self) -> Seen<T> {
        let value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        Seen {
            value: Rc::new(Local(Arc::clone(&value))),
            change: self.changes.load(Ordering::Relaxed),
        }
    }
}

/// A value as one thread has it: who works with it for a while counts itself here, where no other thread writes.
pub(crate) struct Local<T>(Arc<T>);

impl<T> Deref for Local<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// What one reader saw last.
pub(crate) struct Seen<T> {
    value: Rc<Local<T>>,
    change: u64,
}

impl<T> Seen<T> {
    /// The value in force.
    #[inline]
    pub(crate) fn look(&mut self, at: &Published<T>) -> Rc<Local<T>> {
        if at.changes.load(Ordering::Acquire) != self.change {
            *self = at.reader();
        }
        Rc::clone(&self.value)
    }
}
