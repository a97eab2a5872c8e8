//! Signals that end a command in order or are obeyed while it runs.
//!
//! Not the signal driver of tokio: it panics where no descriptor can be had, and with that feature every runtime of the
//! program starts it. What fails here is an error.

use std::io::Read as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

use crate::exit::{Exit, Failure};

/// The signals that end a program.
pub const ENDING: [i32; 2] = [SIGINT, SIGTERM];

/// Receives chosen signals from its creation on, in place of what the system does at them.
pub struct Signals(UnixStream);

impl Signals {
    /// From now on.
    pub fn listen(signals: &[i32]) -> Result<Self, Failure> {
        let opened = || {
            let (receiver, sender) = UnixStream::pair()?;
            // All descriptors before the first registration: a signal that is registered loses its default action.
            let senders: Result<Vec<_>, _> = signals.iter().map(|_| sender.try_clone()).collect();
            for (&signal, sender) in signals.iter().zip(senders?) {
                pipe::register(signal, sender)?;
            }
            Ok(Self(receiver))
        };
        opened().map_err(|error| unavailable(&error))
    }

    /// Waits for the next signal.
    fn wait(&mut self) -> std::io::Result<()> {
        self.0.read_exact(&mut [0])
    }

    /// The same signals for tasks of the runtime that is entered.
    pub fn into_async(self) -> Result<AsyncSignals, Failure> {
        let registered = self.0.set_nonblocking(true);
        let registered = registered.and_then(|()| tokio::net::UnixStream::from_std(self.0));
        registered
            .map(AsyncSignals)
            .map_err(|error| unavailable(&error))
    }
}

/// [`Signals`] on a runtime.
pub struct AsyncSignals(tokio::net::UnixStream);

impl AsyncSignals {
    /// Waits for the next signal. Several that came before the call count as one.
    pub async fn receive(&mut self) {
        loop {
            if self.0.readable().await.is_err() {
                // No further signal can come.
                std::future::pending().await
            }
            match self.0.try_read(&mut [0; 64]) {
                Ok(1..) => return,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Ok(0) | Err(_) => std::future::pending().await,
            }
        }
    }
}

/// Calls `action` on a thread of its own when the first of the signals that end a program arrives, and says when
/// the system gives no thread: a signal then ends the program at once.
pub fn on_ending(action: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let (report, listening) = channel();
    let thread = std::thread::Builder::new().name("interrupt".to_owned());
    let started = thread.spawn(move || {
        let (mut signals, result) = match Signals::listen(&ENDING) {
            Ok(signals) => (Some(signals), Ok(())),
            Err(failure) => (None, Err(failure)),
        };
        report.send(result).ok();
        if let Some(signals) = &mut signals
            && signals.wait().is_ok()
        {
            action();
        }
    });
    match started {
        Ok(_) => listening.recv().unwrap_or(Ok(())),
        Err(error) => {
            message!(
                "warning: no thread for signals ({error}): an interrupt leaves unfinished files"
            );
            Ok(())
        }
    }
}

fn unavailable(error: &std::io::Error) -> Failure {
    Failure::system("signals cannot be received", error)
}

/// A runtime for the tasks of one thread.
pub fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::system("the event loop cannot be started", &error))
}

/// Has a flag set at the first of the signals that end a program. Takes neither a thread nor a descriptor.
pub fn set_on_ending(flag: &Arc<AtomicBool>) -> Result<(), Failure> {
    for signal in ENDING {
        let registered = signal_hook::flag::register(signal, Arc::clone(flag));
        registered.map_err(|error| unavailable(&error))?;
    }
    Ok(())
}

/// Ends the program at a signal that arrives while the flag is set.
pub fn exit_on_ending(flag: &Arc<AtomicBool>) -> Result<(), Failure> {
    for signal in ENDING {
        let flag = Arc::clone(flag);
        let status = i32::from(Exit::Interrupted as u8);
        let registered = signal_hook::flag::register_conditional_shutdown(signal, status, flag);
        registered.map_err(|error| unavailable(&error))?;
    }
    Ok(())
}
