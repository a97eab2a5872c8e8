//! What the operating system is asked: forks, threads, the end of the process, the environment.

use std::cell::Cell;
use std::ffi::{CStr, OsStr, OsString, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// How often this process is the child of a fork since the recorder was loaded.
static FORKS: AtomicUsize = AtomicUsize::new(0);

/// How many forks lie between the process that loaded the recorder and this one.
#[inline(always)]
pub(crate) fn fork_count() -> usize {
    FORKS.load(Ordering::Acquire)
}

/// Runs in the child, where nothing may be done that takes a lock.
extern "C" fn in_the_child() {
    FORKS.fetch_add(1, Ordering::AcqRel);
}

/// Keeps the code of this library in memory until the process ends, whatever the application closes: the writer's
/// thread runs it. Counts forks from now on.
pub(crate) fn stay_loaded() {
    // SAFETY: the handler is a function of this library, which is kept loaded below; it only adds to an atomic.
    unsafe { libc::pthread_atfork(None, None, Some(in_the_child)) };
    // SAFETY: the heap's lock is taken before a fork and given back on both sides, so that no child is left with
    // one that a thread of its parent held. This runs once, before any other thread of this library.
    unsafe { dlmalloc::enable_alloc_after_fork() };
    let Some(file) = file_of(stay_loaded as *const c_void) else {
        return;
    };
    let flags = libc::RTLD_NOW | libc::RTLD_NODELETE | libc::RTLD_NOLOAD;
    // SAFETY: the name is a C string; the library is loaded already, so nothing runs.
    unsafe { libc::dlopen(file.as_ptr(), flags) };
}

/// The name under which the library that holds `address` was loaded.
fn file_of(address: *const c_void) -> Option<&'static CStr> {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be asked about; the answer goes to a structure of ours.
    let found = unsafe { libc::dladdr(address, info.as_mut_ptr()) };
    // SAFETY: zeroed, which is a value of this structure of pointers.
    let info = unsafe { info.assume_init() };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader keeps this string as long as the library is loaded, and this one stays.
    Some(unsafe { CStr::from_ptr(info.dli_fname) })
}

/// The file of the library that holds `address`.
pub(super) fn library_of(address: *const c_void) -> Option<PathBuf> {
    Some(PathBuf::from(OsStr::from_bytes(
        file_of(address)?.to_bytes(),
    )))
}

/// Has `work` called when the process ends by itself.
pub(crate) fn at_exit(work: extern "C" fn()) {
    // SAFETY: a function of this library, which stays loaded.
    unsafe { libc::atexit(work) };
}

/// Whether the process runs with rights that the one who started it does not have, so that its environment is
/// not to be trusted.
fn named_by_others() -> bool {
    // SAFETY: reads a number that the kernel gave the process.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// A variable of the environment; none in a process with rights of its own.
#[expect(
    clippy::disallowed_methods,
    reason = "a module has no command line: the environment is how it is told what to do"
)]
pub(crate) fn environment(name: &str) -> Option<OsString> {
    if named_by_others() {
        return None;
    }
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The system's number of this thread.
#[inline(always)]
pub(crate) fn thread_number() -> u64 {
    thread_local! {
        static KNOWN: Cell<(usize, u64)> = const { Cell::new((usize::MAX, 0)) };
    }
    KNOWN.with(|known| {
        let forks = fork_count();
        let (of, number) = known.get();
        if of == forks {
            return number;
        }
        let number = asked_number();
        known.set((forks, number));
        number
    })
}

#[cold]
fn asked_number() -> u64 {
    let _errno = Errno::kept();
    // SAFETY: takes nothing and always answers.
    let number = unsafe { libc::syscall(libc::SYS_gettid) };
    u64::try_from(number).unwrap_or_default()
}

/// The processor's counter of time; zero where there is none.
#[inline(always)]
pub(crate) fn counter() -> u64 {
    // SAFETY: reads a counter; every processor of this architecture has it.
    #[cfg(target_arch = "x86_64")]
    let count = unsafe { std::arch::x86_64::_rdtsc() };
    #[cfg(not(target_arch = "x86_64"))]
    let count = 0;
    count
}

/// Whether the kernel has found the counter to be one for all processors and at one pace, and tells time by it.
pub(crate) fn counter_is_the_clock() -> bool {
    const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let source = || std::fs::read(SOURCE).ok();
    cfg!(target_arch = "x86_64") && source().is_some_and(|name| name.trim_ascii() == b"tsc")
}

/// Has the processor fetch words that will be written soon, and does not wait for it.
#[inline(always)]
pub(crate) fn soon_written(words: &[AtomicU64]) {
    /// Words on a line of the cache.
    const LINE: usize = 8;
    for word in words.iter().step_by(LINE) {
        // SAFETY: a hint: nothing is read or changed, and a processor that does not know it passes over it.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            std::arch::asm!(
                "prefetchw [{}]",
                in(reg) std::ptr::from_ref(word),
                options(nostack, preserves_flags, readonly)
            );
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = word;
    }
}

/// Runs `work` with every signal held back, so that a thread it starts never gets one meant for the application.
pub(crate) fn without_signals<R>(work: impl FnOnce() -> R) -> R {
    let mut all = MaybeUninit::<libc::sigset_t>::zeroed();
    let mut before = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: both sets are ours, and are filled before they are read.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    let result = work();
    // SAFETY: the set that was in force before.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), null_mut()) };
    result
}

/// The thread's `errno` as the module left it; put back when dropped. Kept around whatever may ask the system.
pub(crate) struct Errno(i32);

impl Errno {
    pub(crate) fn kept() -> Self {
        // SAFETY: the place of this thread's `errno`, which is always there.
        Self(unsafe { *libc::__errno_location() })
    }
}

impl Drop for Errno {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { *libc::__errno_location() = self.0 };
    }
}
