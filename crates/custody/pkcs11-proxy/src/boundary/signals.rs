//! The signals of a crash: what was recorded is written before the process ends as it would have.
//!
//! A handler is put before the one that is there, which is the default for most programs. At the first such signal it
//! has its work done, puts back what was there before, and lets the signal come again. A program whose own handler
//! makes good use of such signals meets it at the second try; one that installs a handler later takes this one's
//! place.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::system::Errno;

/// Those by which a process ends for what it did itself.
const SIGNALS: [c_int; 5] = [
    libc::SIGABRT,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGSEGV,
];

/// What was there before, in the order of the signals.
static BEFORE: [OnceLock<libc::sigaction>; SIGNALS.len()] =
    [const { OnceLock::new() }; SIGNALS.len()];

static WORK: OnceLock<fn()> = OnceLock::new();
static DONE: AtomicBool = AtomicBool::new(false);

/// Has `work` called once, on the thread that crashes. It takes no lock and allocates nothing.
pub(crate) fn at_crash(work: fn()) {
    WORK.get_or_init(|| work);
    for (signal, before) in SIGNALS.into_iter().zip(&BEFORE) {
        let mut old = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: asks for what is there; the place is ours.
        let known = unsafe { libc::sigaction(signal, null(), old.as_mut_ptr()) } == 0;
        // SAFETY: filled in, or zeroed, which is a value of this structure of numbers.
        let old = unsafe { old.assume_init() };
        // A signal that is passed over ends nothing.
        if !known || old.sa_sigaction == libc::SIG_IGN {
            continue;
        }
        // Known before the handler can run.
        before.get_or_init(|| old);
        // SAFETY: zeroed is a value of this structure, whose fields are set below.
        let mut ours = unsafe { MaybeUninit::<libc::sigaction>::zeroed().assume_init() };
        ours.sa_sigaction = crashed as *const () as usize;
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        // SAFETY: a handler of this form, in a library that stays loaded.
        unsafe {
            libc::sigemptyset(&raw mut ours.sa_mask);
            libc::sigaction(signal, &raw const ours, null_mut());
        }
    }
}

extern "C" fn crashed(signal: c_int, info: *mut libc::siginfo_t, _: *mut std::ffi::c_void) {
    let _errno = Errno::kept();
    if !DONE.swap(true, Ordering::AcqRel)
        && let Some(work) = WORK.get()
    {
        work();
    }
    let mut known = SIGNALS.into_iter().zip(&BEFORE);
    let before = known
        .find(|(one, _)| *one == signal)
        .and_then(|(_, before)| before.get());
    if let Some(before) = before {
        // SAFETY: what the system itself gave.
        unsafe { libc::sigaction(signal, before, null_mut()) };
    }
    // SAFETY: the system's description of the signal, or none.
    let fault = !info.is_null() && unsafe { (*info).si_code } > 0;
    if !fault {
        // Nobody repeats what was sent: it comes again when this handler has returned.
        // SAFETY: sends a signal to this thread.
        unsafe { libc::raise(signal) };
    }
}
