//! The control socket: how an order reaches a node that is running.
//!
//! A Unix socket in the home folder, which only the folder's owner may enter. One line of JSON in, one
//! line out. Whoever can use it could as well read the root's password, so it asks for nothing more.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use keywright_clock::Clock;
use keywright_types::Code;

use crate::files::failed;
use crate::{Answer, HomeError, Kind, Node, Order};

/// The socket's name in a home.
pub const SOCKET: &str = "control.sock";

/// Gives an order to the node that runs in `home`; `None` if none does.
///
/// # Errors
/// [`HomeError::Refused`] with what the node said, [`HomeError::Control`] if it does not answer.
pub fn send(home: &Path, order: &Order) -> Result<Option<Answer>, HomeError> {
    let Ok(mut stream) = UnixStream::connect(home.join(SOCKET)) else {
        return Ok(None);
    };
    let exchange = |stream: &mut UnixStream| {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut line = serde_json::to_vec(order)?;
        line.push(b'\n');
        stream.write_all(&line)?;
        let mut text = String::new();
        stream.take(LONGEST as u64).read_to_string(&mut text)?;
        Ok(serde_json::from_str(&text)?)
    };
    match exchange(&mut stream).map_err(HomeError::Control)? {
        Answer::Refused {
            code,
            kind,
            sentence,
            advice,
        } => Err(HomeError::Refused {
            code: code.and_then(|code| code.parse().ok()),
            kind,
            sentence,
            advice,
        }),
        answer => Ok(Some(answer)),
    }
}

/// The listening end; the socket is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Control {
    path: PathBuf,
    stop: Arc<AtomicBool>,
    /// The listening socket itself, as the type of the standard library that can shut it down.
    listening: UnixStream,
    thread: Option<JoinHandle<()>>,
}

impl Control {
    /// Listens in `home` on behalf of `node`.
    pub(crate) fn start(home: &Path, node: &Arc<Node>) -> Result<Self, HomeError> {
        let path = home.join(SOCKET);
        // The store's lock is ours, so a socket that is here was left by a crash.
        drop(std::fs::remove_file(&path));
        let listener =
            UnixListener::bind(&path).map_err(|source| failed(&path, "written", source))?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))
            .map_err(|source| failed(&path, "written", source))?;
        let handle = listener
            .try_clone()
            .map_err(|source| failed(&path, "written", source))?;
        let listening = UnixStream::from(OwnedFd::from(handle));
        let stop = Arc::new(AtomicBool::new(false));
        let (stopping, node) = (Arc::clone(&stop), Arc::clone(node));
        let thread = std::thread::Builder::new()
            .name("control".to_owned())
            .spawn(move || listen(&listener, &node, &stopping))
            .map_err(HomeError::Thread)?;
        Ok(Self {
            path,
            stop,
            listening,
            thread: Some(thread),
        })
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        // Wakes the thread out of its wait for a connection, even if somebody removed the socket's name.
        drop(self.listening.shutdown(Shutdown::Both));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
        drop(std::fs::remove_file(&self.path));
    }
}

fn listen(listener: &UnixListener, node: &Node, stop: &AtomicBool) {
    for stream in listener.incoming() {
        if stop.load(Ordering::Acquire) {
            return;
        }
        match stream {
            // A client that goes away has nobody left to be told of it.
            Ok(stream) => drop(serve(stream, node)),
            // Out of file descriptors: it waits where it is, and at once again would only burn the processor.
            Err(_) => std::thread::sleep(BREATH),
        }
    }
}

fn serve(mut stream: UnixStream, node: &Node) -> io::Result<()> {
    stream.set_write_timeout(Some(HASTE))?;
    let answer = match read_line(&mut stream) {
        Ok(line) => match serde_json::from_slice::<Order>(&line) {
            Ok(order) => carry_out(node, order),
            Err(_) => not_understood("this is no order that this version knows"),
        },
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
        Err(_) => not_understood("an order is one line, sent at once"),
    };
    stream.write_all(&serde_json::to_vec(&answer)?)
}

/// One line, within [`HASTE`] in all: orders come one after the other, and a client that dawdles, byte
/// by byte even, would keep all others waiting.
fn read_line(stream: &mut UnixStream) -> io::Result<Vec<u8>> {
    let clock = Clock::system();
    let end = clock.monotonic().plus(HASTE);
    let (mut line, mut chunk) = (Vec::new(), [0; 4096]);
    while !line.ends_with(b"\n") {
        let left = end.since(clock.monotonic());
        if left.is_zero() || line.len() > LONGEST {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut chunk)? {
            // Whoever ends without a word wanted nothing.
            0 if line.is_empty() => return Err(io::ErrorKind::UnexpectedEof.into()),
            0 => break,
            count => line.extend_from_slice(&chunk[..count]),
        }
    }
    Ok(line)
}

fn not_understood(sentence: &str) -> Answer {
    Answer::Refused {
        code: Some(Code::RequestMalformed.name().to_owned()),
        kind: Kind::Usage,
        sentence: sentence.to_owned(),
        advice: String::new(),
    }
}

/// Whatever a key holder does, the socket goes on; the next order settles what this one left open.
fn carry_out(node: &Node, order: Order) -> Answer {
    let done = catch_unwind(AssertUnwindSafe(|| node.carry_out(order)));
    match done {
        Ok(done) => done.unwrap_or_else(|error| refused(&error)),
        Err(_panic) => Answer::Refused {
            code: Some(Code::Internal.name().to_owned()),
            kind: Kind::Internal,
            sentence: "a fault of the node; look at the state before you repeat the order"
                .to_owned(),
            advice: String::new(),
        },
    }
}

fn refused(error: &HomeError) -> Answer {
    Answer::Refused {
        code: error.code().map(|code| code.name().to_owned()),
        kind: error.kind(),
        sentence: error.with_causes(),
        advice: error.advice().to_owned(),
    }
}

/// How long a client waits for its answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a client may take to say what it wants.
const HASTE: Duration = Duration::from_secs(5);
/// How long nobody is taken after somebody could not be.
const BREATH: Duration = Duration::from_millis(20);
/// Longer than the longest policy document.
const LONGEST: usize = 64 << 20;
