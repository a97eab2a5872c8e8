//! The dashboard on a terminal.
//!
//! A thread of its own draws some twelve times a second from the latest snapshot and reads keys; the
//! measurement knows nothing of it. `q` and Ctrl-C ask the measurement to stop, after which it reports what
//! it has. The drawing goes to standard error, so that a result on standard output stays clean, and the
//! terminal is put back when the dashboard ends, when its thread panics and when any other thread does.
//!
//! [`draw()`] is all of the picture and takes any backend; the rest of this module is the real terminal.

mod draw;
mod panels;
mod plots;
mod view;

use std::io::{self, IsTerminal};
use std::panic::PanicHookInfo;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use keywright_measure::Stop;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{event, execute};

pub use draw::draw;
pub use view::{Asked, Panel, View};

use super::Live;
use crate::Style;

/// How often the picture is drawn. A key is answered at once whatever it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRate(Duration);

impl FrameRate {
    /// So many pictures a second, 1 to 60.
    #[must_use]
    pub fn per_second(frames: u32) -> Option<Self> {
        (1..=60)
            .contains(&frames)
            .then(|| Self(Duration::from_secs(1) / frames))
    }
}

impl Default for FrameRate {
    /// Twelve and a half a second.
    fn default() -> Self {
        Self(Duration::from_millis(80))
    }
}

/// Why there is no dashboard.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TerminalError {
    /// Standard error or standard input is not a terminal.
    #[error("standard input and standard error have to be a terminal for the dashboard")]
    NoTerminal,
    /// The terminal refused a mode, a picture or a key.
    #[error("the terminal cannot be used")]
    Terminal(#[source] io::Error),
    /// The thread could not be made.
    #[error("cannot start the thread of the dashboard")]
    Thread(#[source] io::Error),
    /// The thread panicked: a bug of this crate. The terminal has been put back.
    #[error("the dashboard panicked")]
    Panicked,
}

/// A dashboard that is on the screen. Dropping it takes it away.
#[derive(Debug)]
pub struct Dashboard {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Dashboard {
    /// Takes the terminal and shows what `live` sees, until [`Dashboard::close`]. `stop` is asked when a
    /// person wants the end.
    ///
    /// # Errors
    /// [`TerminalError::NoTerminal`], [`TerminalError::Terminal`] or [`TerminalError::Thread`].
    pub fn open(
        live: Arc<Live>,
        stop: Stop,
        style: Style,
        frames: FrameRate,
    ) -> Result<Self, TerminalError> {
        if !(io::stderr().is_terminal() && io::stdin().is_terminal()) {
            return Err(TerminalError::NoTerminal);
        }
        let taken = Taken::take().map_err(TerminalError::Terminal)?;
        let over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&over);
        let thread = std::thread::Builder::new()
            .name("terminal-dashboard".to_owned())
            .spawn(move || {
                let _taken = taken;
                run((&live, &stop, &told), View::new(style), frames)
            })
            .map_err(TerminalError::Thread)?;
        Ok(Self {
            over,
            thread: Some(thread),
        })
    }

    /// Puts the terminal back and waits for that.
    ///
    /// # Errors
    /// What went wrong while it was shown: [`TerminalError::Terminal`] or [`TerminalError::Panicked`].
    pub fn close(mut self) -> Result<(), TerminalError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), TerminalError> {
        self.over.store(true, Ordering::Release);
        match self.thread.take().map(JoinHandle::join) {
            None | Some(Ok(Ok(()))) => Ok(()),
            Some(Ok(Err(error))) => Err(TerminalError::Terminal(error)),
            Some(Err(_)) => Err(TerminalError::Panicked),
        }
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        // Whoever wants to know uses `close`.
        drop(self.end());
    }
}

fn run(
    (live, stop, over): (&Live, &Stop, &AtomicBool),
    mut view: View,
    frames: FrameRate,
) -> io::Result<()> {
    let mut terminal = Terminal::new(CrosstermBackend::new(io::stderr()))?;
    while !over.load(Ordering::Acquire) {
        let snapshot = view.shown(live.snapshot());
        terminal.draw(|frame| draw(frame, &view, &snapshot, live.now_ns()))?;
        if event::poll(frames.0)? {
            // Several keys may have come; none of them waits for a picture of its own.
            while event::poll(Duration::ZERO)? {
                let event::Event::Key(key) = event::read()? else {
                    continue;
                };
                if view.key(key, &snapshot) == Asked::Stop {
                    stop.ask();
                }
            }
        }
    }
    Ok(())
}

type Hook = dyn Fn(&PanicHookInfo<'_>) + Send + Sync;

/// The terminal in raw mode with the other screen shown; put back when dropped, also by a panic.
struct Taken {
    former: Arc<Hook>,
}

impl Taken {
    fn take() -> io::Result<Self> {
        enable_raw_mode()?;
        if let Err(error) = execute!(io::stderr(), EnterAlternateScreen, Hide) {
            put_back();
            return Err(error);
        }
        // A panic of another thread, such as one that measures, is told on the terminal by the hook: by
        // then it has to be readable again.
        let former: Arc<Hook> = Arc::from(std::panic::take_hook());
        let told = Arc::clone(&former);
        std::panic::set_hook(Box::new(move |info| {
            put_back();
            told(info);
        }));
        Ok(Self { former })
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        put_back();
        // The hook cannot be changed while its own thread panics.
        if !std::thread::panicking() {
            let former = Arc::clone(&self.former);
            std::panic::set_hook(Box::new(move |info| former(info)));
        }
    }
}

/// Does as much as can be done; there is nowhere left to report to.
fn put_back() {
    drop(execute!(io::stderr(), LeaveAlternateScreen, Show));
    drop(disable_raw_mode());
}
