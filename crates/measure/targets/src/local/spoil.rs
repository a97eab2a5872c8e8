//! Tests ask here for outputs to be spoilt before they are looked at, on their own thread only.

use std::cell::Cell;

thread_local! {
    static ASKED: Cell<bool> = const { Cell::new(false) };
}

pub(super) fn is_asked() -> bool {
    ASKED.get()
}

/// What `look` says while every output is spoilt.
pub(super) fn spoilt<R>(look: impl FnOnce() -> R) -> R {
    ASKED.set(true);
    let answer = look();
    ASKED.set(false);
    answer
}
