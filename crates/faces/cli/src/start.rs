//! Whether standard output was open when the program began.
//!
//! The standard library opens `/dev/null` in place of a stream that is closed, before `main`: a result would be lost, and
//! each write of it would succeed. Afterwards the two cannot be told apart, so this looks earlier.
//!
//! Unsafe code, and how it could be unsound: a function in `.init_array` is called by the loader before `main`. It must have
//! the C calling convention and may rely on nothing that `main` sets up; this one makes one system call and sets a flag.
#![expect(
    unsafe_code,
    reason = "naming a section of the program has no safe form"
)]

use std::sync::atomic::{AtomicBool, Ordering};

static STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

// SAFETY: the section holds pointers to functions of this form, and nothing else is put into it here.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = check_streams;

#[cfg(target_os = "linux")]
extern "C" fn check_streams() {
    let flags = rustix::io::fcntl_getfd(rustix::stdio::stdout());
    STDOUT_CLOSED.store(flags == Err(rustix::io::Errno::BADF), Ordering::Relaxed);
}

/// Whether the program was started without standard output.
pub(crate) fn is_stdout_closed() -> bool {
    STDOUT_CLOSED.load(Ordering::Relaxed)
}
