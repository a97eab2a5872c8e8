//! The lock and the counter of [`published`](crate::published), by one name for the checker of `tests/models` to stand in
//! for.

pub(crate) use std::sync::atomic::{AtomicU64, Ordering};
pub(crate) use std::sync::{Arc, Mutex, PoisonError};
