//! What threads share, under a model checker: [loom](https://docs.rs/loom) runs a few threads through every order of
//! their locks and atomics that memory allows.
//!
//! The files under test are read once more from their crates, with loom's locks in the place of `crate::sync`. They are
//! the same text, so nothing here can drift from what runs. Beside them stand the few things that they name.
//!
//! | model | of |
//! |---|---|
//! | [`published`] | the snapshot that requests are decided by, replaced while threads read it |
//! | [`slot`] | how far a file of the audit log is written, and how far a signed head may say that it is durable |
#![forbid(unsafe_code)]

mod chain {
    pub(crate) use keywright_audit::chain::{FileId, FileState, Link};
}

mod disk {
    use std::io;

    /// As in `keywright-audit`, where it is private.
    pub(crate) trait Sink: Send + Sync {
        /// Writes at the end.
        fn append(&self, bytes: &[u8]) -> io::Result<()>;
        /// Makes what was written durable.
        fn sync(&self) -> io::Result<()>;
        /// Throws away what lies behind this length.
        fn cut(&self, length: u64) -> io::Result<()>;
    }
}

mod sync {
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    pub(crate) use loom::sync::{Mutex, MutexGuard};
    // Counting references is not what is under test, and loom's counter takes no trait objects.
    pub(crate) use std::sync::{Arc, PoisonError};

    pub(crate) fn pause() {
        loom::thread::yield_now();
    }
}

#[path = "../../../crates/service/audit/src/slot.rs"]
#[expect(
    dead_code,
    reason = "a model needs less of it than the crate that it is from"
)]
mod audit_slot;
pub mod published;
#[path = "../../../crates/service/service/src/published.rs"]
mod service_published;
pub mod slot;
