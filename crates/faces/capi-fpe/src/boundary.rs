//! The wall between C and Rust: no panic gets through, errors become -1, and no secret stays on the
//! stack.
//!
//! What types own is wiped by them. What the compiler puts on the stack besides, copies that were
//! moved and registers that were spilled, only the outermost function can reach: it clears the part
//! of the stack that the call has used.

use std::cell::Cell;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::failure::{self, Failure};

/// What all functions return that can fail.
pub(crate) const OK: c_int = 0;
/// The other thing they return.
pub(crate) const FAILED: c_int = -1;

/// Runs one call. A panic is an error like others; the standard library has then written what it
/// was to standard error.
///
/// Unwinding is safe: contexts are changed by one assignment at the end of a call, and what a
/// thread remembers is put back whole or not at all.
pub(crate) fn call(body: impl FnOnce() -> Result<(), Failure>) -> c_int {
    match value(body) {
        Some(()) => OK,
        None => FAILED,
    }
}

// The stack that calls use, with room to spare; `tests/c/wipe.c` sees when it no longer suffices.
// Clearing takes time, so one value is granted less than what takes longer anyway.

/// For one value.
pub(crate) const VALUE: usize = 5 << 10;
/// For making a key, with or without a value.
pub(crate) const KEY: usize = 8 << 10;
/// For a batch, on the thread of the caller, and for values that are as long.
pub(crate) const MANY: usize = 64 << 10;
/// From so many digits on, a value is as long.
const LONG: usize = 128;

/// As [`call`], for calls that handle secrets: clears `STACK` bytes below the frame of the caller.
/// The body tells how many digits it works on, as soon as it knows.
pub(crate) fn call_with_secrets<const STACK: usize>(
    body: impl FnOnce(&Cell<usize>) -> Result<(), Failure>,
) -> c_int {
    let digits = Cell::new(0);
    let result = apart(|| body(&digits));
    if digits.get() < LONG {
        zeroize::zeroize_stack::<STACK>();
    } else {
        zeroize::zeroize_stack::<MANY>();
    }
    result
}

/// In a frame of its own, which is cleared then.
#[inline(never)]
fn apart(body: impl FnOnce() -> Result<(), Failure>) -> c_int {
    call(body)
}

/// As [`call`], for functions that return something else than 0.
pub(crate) fn value<T>(body: impl FnOnce() -> Result<T, Failure>) -> Option<T> {
    let refused = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(made)) => return Some(made),
        Ok(Err(refused)) => refused,
        Err(_) => Failure::Internal,
    };
    failure::keep(refused);
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Code;

    #[test]
    fn a_panic_ends_at_the_boundary_as_an_internal_error() {
        assert_eq!(call(|| panic!("planted")), FAILED);
        assert_eq!(failure::last().code(), Code::Internal);
        assert_eq!(value(|| -> Result<u8, Failure> { panic!("planted") }), None);
    }

    #[test]
    fn an_error_is_kept_and_success_leaves_it_alone() {
        assert_eq!(call(|| Err(Failure::Overlap)), FAILED);
        assert_eq!(call(|| Ok(())), OK);
        assert_eq!(failure::last().code(), Code::Overlap);
        let elsewhere = std::thread::spawn(|| failure::last().code());
        assert_eq!(elsewhere.join().unwrap(), Code::None);
    }
}
