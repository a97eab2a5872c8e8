//! Signals while a terminal is silent: they end the wait for a key, so that the terminal can be given back before
//! the program ends.
//!
//! Afterwards such a signal ends the program again as it would have, unless somebody else listens by then
//! ([`others_listen`]), as a measurement does that ends in order.

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Once};

use rustix::event::{PollFd, PollFlags, poll};
use signal_hook::SigId;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::register_conditional_default;
use signal_hook::low_level::{pipe, unregister};

/// Whether a signal ends the program as if nobody had listened.
static AS_BEFORE: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
/// Whether somebody else ends the program in order.
static OTHERS: AtomicBool = AtomicBool::new(false);

/// Somebody else does from now on what signals ask for.
pub fn others_listen() {
    OTHERS.store(true, Ordering::SeqCst);
    AS_BEFORE.store(false, Ordering::SeqCst);
}

/// Hears signals until it is dropped.
pub struct Heard {
    told: UnixStream,
    ids: Vec<SigId>,
}

/// What came first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// Something to read.
    Key,
    /// A signal that ends the program.
    Signal,
}

impl Heard {
    /// Begins to hear.
    pub fn listen() -> std::io::Result<Self> {
        let (told, tell) = UnixStream::pair()?;
        AS_BEFORE.store(false, Ordering::SeqCst);
        let mut heard = Self {
            told,
            ids: Vec::new(),
        };
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            heard.ids.push(pipe::register(signal, tell.try_clone()?)?);
        }
        // Once: each would stay, and does what the first does.
        static ONCE: Once = Once::new();
        let mut done = Ok(());
        ONCE.call_once(|| {
            for signal in [SIGINT, SIGTERM, SIGHUP] {
                let registered = register_conditional_default(signal, Arc::clone(&AS_BEFORE));
                done = registered.map(drop);
            }
        });
        done.map(|()| heard)
    }

    /// Waits for something to read, or a signal, which counts if both are there.
    pub fn wait(&self, terminal: impl AsFd) -> std::io::Result<First> {
        loop {
            let mut both = [
                PollFd::new(&self.told, PollFlags::IN),
                PollFd::from_borrowed_fd(terminal.as_fd(), PollFlags::IN),
            ];
            match poll(&mut both, None) {
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            let [told, terminal] = both.map(|one| one.revents());
            if !told.is_empty() {
                return Ok(First::Signal);
            }
            // A terminal that is gone is read as well, to learn that.
            if !terminal.is_empty() {
                return Ok(First::Key);
            }
        }
    }
}

impl Drop for Heard {
    fn drop(&mut self) {
        for id in self.ids.drain(..) {
            unregister(id);
        }
        AS_BEFORE.store(!OTHERS.load(Ordering::SeqCst), Ordering::SeqCst);
    }
}
