//! The locks and atomics of [`slot`](crate::slot), by one name for the checker of `tests/models` to stand in for.

use std::time::Duration;

pub(crate) use std::sync::atomic::{AtomicBool, Ordering};
pub(crate) use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Lets another thread go on.
pub(crate) fn pause() {
    std::thread::sleep(Duration::from_millis(1));
}
