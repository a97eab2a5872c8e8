//! The pool of threads that argon2 computes its lanes on.
//!
//! The pool is one for the process, and its first use panics where the system gives no thread, as under a limit on
//! processes. Then each thread that derives a key becomes a pool of its own: it takes longer, with the same result.

use std::cell::OnceCell;
use std::sync::LazyLock;

use rayon_core::{ThreadPool, ThreadPoolBuilder};

/// Whether the pool of the process has its threads.
static STARTED: LazyLock<bool> = LazyLock::new(|| {
    match ThreadPoolBuilder::new().build_global() {
        Ok(()) => true,
        // The error of the system has a source; without one the pool was started before, by other code.
        Err(error) => std::error::Error::source(&error).is_none(),
    }
});

thread_local! {
    /// A pool of this thread alone. It lives as long as the thread, which stays a member of it.
    static ALONE: OnceCell<Option<ThreadPool>> = const { OnceCell::new() };
}

/// Does `work`, whose parallel parts run on the pool, or on this thread.
pub(crate) fn run<T>(work: impl FnOnce() -> T) -> T {
    if !*STARTED {
        ALONE.with(|alone| {
            alone.get_or_init(|| {
                let builder = ThreadPoolBuilder::new().num_threads(1);
                builder.use_current_thread().build().ok()
            });
        });
    }
    work()
}
