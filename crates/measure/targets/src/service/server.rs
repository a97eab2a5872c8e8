//! Servers under measurement: processes of their own, which end when they are dropped.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use keywright_clock::Clock;
use keywright_home::{CONFIG_FILE, Contents, Profile};
use keywright_measure::TargetError;
use rustix::process::{Pid, Signal, kill_process};

use super::Access;
use super::access::NAME;
use super::token_home::with_store;
use crate::http::Process;

/// What a server does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// A bare server, as a yardstick.
    Floor,
    /// The whole service.
    Keys,
    /// The whole service, over a home of [`limited_home`](super::limited_home), whose keys are used at most so many
    /// times a second.
    Limited(NonZeroU32),
    /// Constant answers.
    Null,
    /// The whole service, over a home of [`token_home`](super::token_home).
    Token,
    /// The whole service, over a home of [`uses_home`](super::uses_home).
    Uses,
}

/// How a server is started.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a program and its core")]
pub struct Launch<'a> {
    /// The program: `keywright`, or for [`Role::Floor`] one that is called as `PROGRAM ADDR CA CERT KEY`.
    pub program: &'a Path,
    /// The core that it is pinned to, with `taskset`.
    pub cpu: Option<u32>,
}

/// The home of a server in this folder, with the demonstration's contexts and clients. Made if it is
/// missing.
///
/// # Errors
/// [`TargetError::System`] if it cannot be made.
pub fn home(folder: &Path) -> Result<PathBuf, TargetError> {
    let home = folder.join("home");
    if !home.join(CONFIG_FILE).exists() {
        keywright_home::create(&home, Contents::Demo, Profile::Fast, &Clock::system())
            .map_err(|error| TargetError::System(format!("no home: {error}")))?;
    }
    Ok(home)
}

/// A server process.
#[derive(Debug)]
pub struct Server {
    child: Child,
    address: SocketAddr,
    home: PathBuf,
    role: Role,
}

/// What a server says first.
const FIRST_LINE: &str = "listening on https://";
/// How often, and with what pauses, a server is asked whether it listens, or has ended.
const LOOKS: u32 = 250;
const PAUSE: Duration = Duration::from_millis(20);
/// What stands before the reason for which a program ends.
const ERROR: &[u8] = b"error: ";
/// How many bytes are read of what a server says first, and kept of a line of what it says besides.
const SAID_AT_MOST: u64 = 4096;

impl Server {
    /// Starts a server over `home` on a free port of loopback, and waits until it listens.
    ///
    /// # Errors
    /// [`TargetError::System`] if the program cannot be started, [`TargetError::Unreachable`] if it does
    /// not come to listen.
    pub fn start(launch: Launch<'_>, role: Role, home: &Path) -> Result<Self, TargetError> {
        match role {
            Role::Floor => Self::start_floor(launch, home),
            Role::Keys | Role::Limited(_) | Role::Null | Role::Token | Role::Uses => {
                Self::start_own(launch, role, home)
            }
        }
    }

    fn start_own(launch: Launch<'_>, role: Role, home: &Path) -> Result<Self, TargetError> {
        let mut command = launch.command();
        command.arg("serve").arg("--home").arg(home);
        command.args(["--listen", "127.0.0.1:0"]);
        match role {
            Role::Limited(capacity) => drop(command.args(["--capacity", &capacity.to_string()])),
            Role::Null => drop(command.arg("--null")),
            Role::Token => drop(with_store(&mut command, home)),
            _ => (),
        }
        let mut child = spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped()))?;
        let error = child.stderr.take().and_then(error_in);
        let mut server = Self {
            child,
            address: ([127, 0, 0, 1], 0).into(),
            home: home.to_owned(),
            role,
        };
        let mut line = String::new();
        if let Some(stdout) = server.child.stdout.take() {
            drop(BufReader::new(stdout.take(SAID_AT_MOST)).read_line(&mut line));
        }
        let address = line.trim().strip_prefix(FIRST_LINE);
        let Some(address) = address.and_then(|address| address.parse().ok()) else {
            return Err(server.refused(error));
        };
        server.address = address;
        Ok(server)
    }

    /// Why it does not listen, in its own words where it has said any.
    fn refused(&mut self, error: Option<JoinHandle<Option<String>>>) -> TargetError {
        let mut reason = "it ended before it listened".to_owned();
        // Only of one that has ended: another could keep its end of the pipe open for ever.
        if let (true, Some(error)) = (self.ends(), error)
            && let Ok(Some(error)) = error.join()
        {
            reason = format!("{reason}: {error}");
        }
        not_started(&reason)
    }

    fn start_floor(launch: Launch<'_>, home: &Path) -> Result<Self, TargetError> {
        // Free when it is let go of; the program has no way to say which port it took.
        let address = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let address = address.map_err(|error| TargetError::System(error.to_string()))?;
        let mut command = launch.command();
        command.arg(address.to_string());
        command.args(["ca.pem", "server.pem", "server.key"].map(|name| home.join(name)));
        let mut server = Self {
            child: spawn(command.stdout(Stdio::null()).stderr(Stdio::null()))?,
            address,
            home: home.to_owned(),
            role: Role::Floor,
        };
        for _ in 0..LOOKS {
            if TcpStream::connect(address).is_ok() {
                return Ok(server);
            }
            if server.child.try_wait().is_ok_and(|ended| ended.is_some()) {
                break;
            }
            thread::sleep(PAUSE);
        }
        Err(not_started("it does not listen"))
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it does.
    #[must_use]
    pub const fn role(&self) -> Role {
        self.role
    }

    /// The home that it serves.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Whether it ends by itself.
    fn ends(&mut self) -> bool {
        for _ in 0..LOOKS {
            match self.child.try_wait() {
                Ok(None) => thread::sleep(PAUSE),
                Ok(Some(_)) => return true,
                Err(_) => return false,
            }
        }
        false
    }

    /// Its process.
    #[must_use]
    pub fn process(&self) -> Process {
        Process::new(self.child.id())
    }

    /// How its clients reach it: the two of the demonstration.
    ///
    /// # Errors
    /// [`TargetError::System`] if their files cannot be read.
    pub fn access(&self) -> Result<Access, TargetError> {
        let url = format!("https://{}", self.address);
        let access = Access::of_demonstration(&url, &self.home)?;
        Ok(access.with_process(self.process()))
    }
}

impl Drop for Server {
    /// Asked to end, so that it closes what it has open as any service does; killed if it takes its time.
    fn drop(&mut self) {
        if kill_process(Pid::from_child(&self.child), Signal::TERM).is_ok() && self.ends() {
            return;
        }
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Launch<'_> {
    fn command(&self) -> Command {
        match self.cpu {
            None => Command::new(self.program),
            Some(cpu) => {
                // It replaces itself with the program, so the process is the server's own.
                let mut command = Command::new("taskset");
                command.arg("-c").arg(cpu.to_string()).arg(self.program);
                command
            }
        }
    }
}

fn spawn(command: &mut Command) -> Result<Child, TargetError> {
    command.stdin(Stdio::null()).spawn().map_err(|error| {
        let program = command.get_program().display();
        TargetError::System(format!("{program} cannot be started: {error}"))
    })
}

/// The first error of what a program says. It is read to its end whether there is one or not, as a pipe that is full
/// would stop the program; a line that is too long is read as several.
fn error_in(stderr: ChildStderr) -> Option<JoinHandle<Option<String>>> {
    let thread = thread::Builder::new().spawn(move || {
        let (mut said, mut line, mut error) = (BufReader::new(stderr), Vec::new(), None);
        let mut next = |line: &mut Vec<u8>| {
            line.clear();
            let read = said.by_ref().take(SAID_AT_MOST).read_until(b'\n', line);
            read.is_ok_and(|bytes| bytes > 0)
        };
        while next(&mut line) {
            if let (None, Some(reason)) = (&error, line.strip_prefix(ERROR)) {
                error = Some(String::from_utf8_lossy(reason).trim_end().to_owned());
            }
        }
        error
    });
    // Without it the reason of a failed start is not told; a pipe that nobody reads breaks, which ends no server.
    thread.ok()
}

fn not_started(reason: &str) -> TargetError {
    TargetError::Unreachable {
        target: NAME.to_owned(),
        reason: reason.to_owned(),
    }
}
