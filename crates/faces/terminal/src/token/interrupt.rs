//! Signals while a command works with a token: the call that runs is waited for, no input is read any more, and the
//! session is logged out and closed and the module finalised before the program ends.
//!
//! A module may be in the middle of a call that nothing can take back, so that a signal only asks. What waits for
//! somebody else (standard input, a descriptor, a question) stops waiting; what reads a file stops at the next piece.
//! A second signal ends the program at once, as if nobody had listened. A signal that was ignored when the program
//! began stays ignored, as `nohup` wants it.
//!
//! Not here: the menu, measurements and what follows a log, which listen themselves.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};

use rustix::event::{PollFd, PollFlags, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_default, register_usize};
use signal_hook::low_level::pipe;

use super::answer::{Answer, Refusal};
use crate::exit::{Exit, Failure};

/// The number of the signal that came; 0 for none.
static SIGNAL: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);
/// Readable as soon as one came.
static TOLD: OnceLock<UnixStream> = OnceLock::new();
/// Whether something was left undone for it.
static CUT: AtomicBool = AtomicBool::new(false);

/// Hears signals from now on.
pub fn listen() {
    let (ignored, asked) = (ignored(), Arc::new(AtomicBool::new(false)));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        if ignored & (1 << (signal - 1)) == 0 {
            // A signal that cannot be heard ends the program at once, as it does anyway.
            drop(hear(signal, &asked));
        }
    }
}

fn hear(signal: i32, asked: &Arc<AtomicBool>) -> io::Result<()> {
    if TOLD.get().is_none() {
        let (told, tell) = UnixStream::pair()?;
        TOLD.set(told).ok();
        TELL.set(tell).ok();
    }
    // Before the flags: without a descriptor the signal ends the program at once, also while it reads.
    let tell = TELL.get().map(UnixStream::try_clone).transpose()?;
    // In this order: the first signal finds the flag clear and sets it, the second finds it set.
    register_conditional_default(signal, Arc::clone(asked))?;
    register(signal, Arc::clone(asked))?;
    let number = usize::try_from(signal).unwrap_or_default();
    register_usize(signal, Arc::clone(&SIGNAL), number)?;
    if let Some(tell) = tell {
        pipe::register(signal, tell)?;
    }
    super::heard::others_listen();
    Ok(())
}

/// The other end of [`TOLD`].
static TELL: OnceLock<UnixStream> = OnceLock::new();

/// The signals that are ignored, a bit for each.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

/// Waits until there is something to read, or a signal, which is an error.
pub fn wait(source: impl AsFd) -> io::Result<()> {
    let Some(told) = TOLD.get() else {
        return Ok(());
    };
    loop {
        let mut both = [
            PollFd::new(told, PollFlags::IN),
            PollFd::from_borrowed_fd(source.as_fd(), PollFlags::IN),
        ];
        match poll(&mut both, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        let [told, source] = both.map(|one| one.revents());
        if !told.is_empty() {
            CUT.store(true, Ordering::SeqCst);
            // Not of the kind that readers try again after.
            return Err(io::Error::other("interrupted"));
        }
        // The end of a pipe and a descriptor that is none are found out by reading.
        if !source.is_empty() {
            return Ok(());
        }
    }
}

/// An input that is not read any more when a signal came.
pub struct Interruptible<F>(pub F);

impl<F: AsFd> io::Read for Interruptible<F> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        wait(&self.0)?;
        // Without a buffer in between, which the descriptor would not know of.
        rustix::io::read(&self.0, out).map_err(Into::into)
    }
}

/// How the program ends for the signal that came.
fn exit() -> Option<Exit> {
    match i32::try_from(SIGNAL.load(Ordering::SeqCst)) {
        Ok(SIGINT) => Some(Exit::Interrupted),
        Ok(SIGTERM) => Some(Exit::Terminated),
        Ok(SIGHUP) => Some(Exit::HungUp),
        _ => None,
    }
}

/// What a command comes to, seeing that a signal may have come.
pub fn told(outcome: Result<Answer, Refusal>) -> Result<Answer, Refusal> {
    let Some(exit) = exit() else {
        return outcome;
    };
    match outcome {
        // What did not fit, or failed a gate, is told as that.
        Ok(answer) if answer.exit != Exit::Ok => Ok(answer),
        Ok(answer) => {
            let late = Failure::new(
                exit,
                "interrupted, when it was done already",
                "there is nothing to repeat: what is told was done",
            );
            Ok(answer.but(late.into()))
        }
        Err(_) if CUT.load(Ordering::SeqCst) => Err(Failure::new(
            exit,
            "interrupted before all of the input was read",
            "no result was kept; start the command again",
        )
        .into()),
        failed => failed,
    }
}
