//! The child: started, watched, ended and started again.
//!
//! One thread does all of that for as long as the keeper lives. The child is told to die with the thread that
//! started it (`PR_SET_PDEATHSIG` goes by threads), so no other thread may start it.
//!
//! A child that ends, answers nonsense or does not answer within [`Settings::patience`] is killed by its id and
//! started again: at once if it lived long, soon if it answered anything at all, and after a wait that doubles up to
//! [`LONGEST_WAIT`] if it did not. A child whose log-in is refused is not started again, because each try counts.

use std::ffi::OsString;
use std::fmt;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use keywright_clock::Clock;
use keywright_pkcs11::{Copies, TokenQuery};
use keywright_secret::SecretBytes;

use crate::frame::{Buffer, Lost};
use crate::hello::{self, Abilities, Opened};
use crate::line::{Line, TICK};

/// What runs as the child: a program that calls [`crate::run`], and the words that make it do so.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a program and its words, and nothing else: the environment is ours"
)]
pub struct Program {
    /// The file.
    pub file: PathBuf,
    /// The words after it.
    pub words: Vec<OsString>,
}

impl Program {
    /// The program that runs already, even if its file was exchanged since.
    #[must_use]
    pub fn this(word: &str) -> Self {
        Self {
            file: "/proc/self/exe".into(),
            words: vec![word.into()],
        }
    }
}

/// Which token the child opens, and how.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "settings that an operator chooses together"
)]
pub struct Settings {
    /// The module's file.
    pub module: PathBuf,
    /// The token; its slot is not looked at.
    pub query: TokenQuery,
    /// The user's PIN as its file has it.
    pub pin: SecretBytes,
    /// Most requests at a time.
    pub sessions: usize,
    /// Whether keys are copied into the session.
    pub copies: Copies,
    /// Whether the child locks its memory.
    pub memory: Memory,
    /// How long the module may take over one request, before the child is killed.
    pub patience: Duration,
}

/// Whether a child locks its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is nothing between")]
pub enum Memory {
    /// It does not.
    LeaveAlone,
    /// It does where the system lets it.
    Try,
    /// It does, or does not open the token.
    Require,
}

/// Why there is no child.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A thread, a socket or the process could not be made.
    #[error("the token's process cannot be started")]
    Spawn(#[source] std::io::Error),
    /// The log-in was refused; in the child's words.
    #[error("{0}")]
    Refused(String),
    /// The token could not be opened; in the child's words.
    #[error("{0}")]
    Failed(String),
    /// It ended, or said what is no answer: a module that crashes when it is loaded does that.
    #[error("the token's process ended before it had opened the token")]
    Ended,
    /// It said nothing in time.
    #[error("the token's process did not open the token in time")]
    Hung,
    /// The program was exchanged for another version while this one runs.
    #[error("the token's process is of another version of this program")]
    Version,
}

/// What happens to the child after it was there once.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// It is gone; operations in the token are refused.
    Lost(Cause),
    /// It could not be started again yet; in one sentence.
    NotBack(String),
    /// It is there again.
    Back,
    /// The log-in was refused: it is not started again until this process is.
    Refused(String),
}

/// Why a child is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no fourth")]
pub enum Cause {
    /// It ended by itself: a crash of the module, or somebody killed it.
    Ended,
    /// A call took longer than it may.
    Hung,
    /// It answered what is no answer.
    Nonsense,
}

/// Where notices go.
pub type Teller = Box<dyn Fn(&Notice) + Send + Sync>;

/// The child of one token and what keeps it. It ends when this is dropped.
pub struct TokenProcess {
    line: Arc<Line>,
    able: Abilities,
    locked: bool,
    teller: Arc<OnceLock<Teller>>,
    thread: Option<JoinHandle<()>>,
}

impl TokenProcess {
    /// Starts the child and waits until it has opened the token.
    ///
    /// # Errors
    /// [`StartError`]; there is no child then.
    pub fn start(program: Program, settings: Settings) -> Result<Arc<Self>, StartError> {
        let line = Arc::new(Line::new(settings.sessions, settings.patience));
        let teller = Arc::new(OnceLock::new());
        let (first, opened) = sync_channel(1);
        let keeper = Keeper {
            program,
            settings,
            line: Arc::clone(&line),
            teller: Arc::clone(&teller),
            clock: Clock::system(),
        };
        let thread = std::thread::Builder::new()
            .name("token-keeper".to_owned())
            .spawn(move || keeper.keep(&first))
            .map_err(StartError::Spawn)?;
        let opened = opened.recv().unwrap_or(Err(StartError::Ended));
        let (locked, able) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                drop(thread.join());
                return Err(error);
            }
        };
        Ok(Arc::new(Self {
            line,
            able,
            locked,
            teller,
            thread: Some(thread),
        }))
    }

    /// Has `teller` told of what happens to the child. The first one stays.
    pub fn tell(&self, teller: Teller) {
        drop(self.teller.set(teller));
    }

    /// The id of the child, while there is one.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        self.line.id()
    }

    /// Whether the first child locked its memory.
    #[must_use]
    pub const fn memory_is_locked(&self) -> bool {
        self.locked
    }

    pub(crate) const fn line(&self) -> &Arc<Line> {
        &self.line
    }

    /// What the token could do when it was opened: one that is gone is asked no more.
    pub(crate) const fn able(&self) -> &Abilities {
        &self.able
    }
}

impl Drop for TokenProcess {
    fn drop(&mut self) {
        self.line.stop();
        // Whoever is told a notice may have been the last to hold this: then the thread ends by itself.
        let thread = self.thread.take();
        let other = thread.filter(|thread| thread.thread().id() != std::thread::current().id());
        if let Some(thread) = other {
            // A panic of the thread has been printed; the child dies with it.
            drop(thread.join());
        }
    }
}

impl fmt::Debug for TokenProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.id() {
            Some(id) => write!(f, "TokenProcess({id})"),
            None => f.write_str("TokenProcess(down)"),
        }
    }
}

/// The thread that does it.
struct Keeper {
    program: Program,
    settings: Settings,
    line: Arc<Line>,
    teller: Arc<OnceLock<Teller>>,
    clock: Clock,
}

type First = SyncSender<Result<(bool, Abilities), StartError>>;

impl Keeper {
    fn keep(&self, first: &First) {
        let mut told = Some(first);
        let mut failures = 0_u32;
        while self.line.sleep(wait_after(failures)) {
            let begun = self.clock.monotonic();
            let mut useful = false;
            match self.begin() {
                Ok((child, control, (locked, able))) => {
                    self.line.up(child.id(), control);
                    match told.take() {
                        Some(first) => drop(first.send(Ok((locked, able)))),
                        None => self.tell(&Notice::Back),
                    }
                    let cause = self.watch(child);
                    let Some(cause) = cause else {
                        return;
                    };
                    useful = self.line.was_useful();
                    self.tell(&Notice::Lost(cause));
                }
                Err(error) => {
                    if let Some(first) = told {
                        drop(first.send(Err(error)));
                        return;
                    }
                    if let StartError::Refused(why) = error {
                        self.tell(&Notice::Refused(why));
                        while self.line.sleep(LONGEST_WAIT) {}
                        return;
                    }
                    self.tell(&Notice::NotBack(error.to_string()));
                }
            }
            let lived = self.clock.monotonic().since(begun);
            failures = match useful {
                true if lived >= STEADY => 1,
                true => 2,
                false => failures.saturating_add(1),
            };
        }
    }

    fn tell(&self, notice: &Notice) {
        if let Some(teller) = self.teller.get() {
            teller(notice);
        }
    }

    /// Starts a child and greets it. One that does not open its token is gone afterwards.
    fn begin(&self) -> Result<(Child, UnixStream, (bool, Abilities)), StartError> {
        let (control, theirs) = UnixStream::pair().map_err(StartError::Spawn)?;
        let mut child = self.spawn(theirs).map_err(StartError::Spawn)?;
        match self.greet(&control) {
            Ok(opened) => Ok((child, control, opened)),
            Err(error) => {
                end(&mut child);
                Err(error)
            }
        }
    }

    /// In a group of its own, so that a signal to the service's group leaves it to the service to end it.
    fn spawn(&self, socket: UnixStream) -> std::io::Result<Child> {
        Command::new(&self.program.file)
            .arg0("keywright")
            .args(&self.program.words)
            .stdin(Stdio::from(OwnedFd::from(socket)))
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()
    }

    fn greet(&self, control: &UnixStream) -> Result<(bool, Abilities), StartError> {
        control
            .set_read_timeout(Some(TICK))
            .and_then(|()| control.set_write_timeout(Some(TICK)))
            .map_err(StartError::Spawn)?;
        let until = self
            .clock
            .monotonic()
            .plus(self.settings.patience.max(TIME_TO_OPEN));
        let waited = || {
            if self.line.stopping() {
                return Some(Lost::Ended);
            }
            (self.clock.monotonic() >= until).then_some(Lost::Hung)
        };
        let mut buffer = Buffer::new();
        buffer.begin();
        hello::put_hello(&mut buffer, &self.settings);
        let heard = buffer
            .send(control, waited)
            .and_then(|()| buffer.receive(control, hello::LONGEST, waited));
        match heard {
            Err(Lost::Hung) => return Err(StartError::Hung),
            Err(_) => return Err(StartError::Ended),
            Ok(()) => {}
        }
        match hello::read_opened(buffer.body()).ok_or(StartError::Ended)? {
            Opened::Open { locked, able } => Ok((locked, able)),
            Opened::Refused(why) => Err(StartError::Refused(why)),
            Opened::Failed(why) => Err(StartError::Failed(why)),
            Opened::Version => Err(StartError::Version),
        }
    }

    /// Waits until the child is gone, or has to go; `None` once the keeper is told to stop.
    fn watch(&self, mut child: Child) -> Option<Cause> {
        loop {
            let go_on = self.line.sleep(LOOK);
            if !go_on {
                self.line.down();
                end_in_order(&mut child, &self.clock);
                return None;
            }
            if let Some(cause) = self.line.doomed() {
                end(&mut child);
                return Some(cause);
            }
            // An error of the wait would mean that there is no such child.
            if !matches!(child.try_wait(), Ok(None)) {
                self.line.down();
                return Some(Cause::Ended);
            }
        }
    }
}

/// Kills a child by its id. It is ours and was not waited for, so the id is nobody else's.
fn end(child: &mut Child) {
    drop(child.kill());
    drop(child.wait());
}

/// Its socket is closed already: it logs out and ends by itself, if its module lets it.
fn end_in_order(child: &mut Child, clock: &Clock) {
    let until = clock.monotonic().plus(TIME_TO_END);
    while clock.monotonic() < until {
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    end(child);
}

/// How long to wait before the next start, after so many children that did not live long.
fn wait_after(failures: u32) -> Duration {
    match failures {
        0 | 1 => Duration::ZERO,
        _ => SHORTEST_WAIT
            .saturating_mul(1_u32.checked_shl(failures - 2).unwrap_or(u32::MAX))
            .min(LONGEST_WAIT),
    }
}

/// How often the child is looked at; one that ends while it is asked something is noticed at once.
const LOOK: Duration = Duration::from_millis(50);
/// A child that lived so long is started again at once.
const STEADY: Duration = Duration::from_secs(10);
const SHORTEST_WAIT: Duration = Duration::from_millis(100);
/// With the time that opening takes, a token whose module works again is back within five seconds.
const LONGEST_WAIT: Duration = Duration::from_secs(4);
/// To load the module, find the token and log in.
const TIME_TO_OPEN: Duration = Duration::from_secs(10);
const TIME_TO_END: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_start_is_at_once_and_a_crash_loop_is_slow() {
        let waits: Vec<_> = (0..9).map(|count| wait_after(count).as_millis()).collect();
        assert_eq!(waits, [0, 0, 100, 200, 400, 800, 1600, 3200, 4000]);
        assert_eq!(wait_after(u32::MAX), LONGEST_WAIT);
    }
}
