//! The control socket: how an order reaches a node that is running.
//!
//! A Unix socket in the home folder, which only the folder's owner may enter. One line of JSON in, one
//! line out. Whoever can use it could as well read the root's password, so it asks for nothing more.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::files::failed;
use crate::{Answer, HomeError, Node, Order};

/// The socket's name in a home.
pub const SOCKET: &str = "control.sock";

/// Gives an order to the node that runs in `home`; `None` if none does.
///
/// # Errors
/// [`HomeError::Refused`] with what the node said, [`HomeError::Control`] if it does not answer.
pub fn send(home: &Path, order: &Order) -> Result<Option<Answer>, HomeError> {
    let Ok(mut stream) = UnixStream::connect(home.join(SOCKET)) else { return Ok(None) };
    let exchange = |stream: &mut UnixStream| {
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut line = serde_json::to_vec(order)?;
        line.push(b'\n');
        stream.write_all(&line)?;
        let mut text = String::new();
        stream.take(LONGEST).read_to_string(&mut text)?;
        Ok(serde_json::from_str(&text)?)
    };
    match exchange(&mut stream).map_err(HomeError::Control)? {
        Answer::Refused { code, sentence } => Err(HomeError::Refused { code, sentence }),
        answer => Ok(Some(answer)),
    }
}

/// The listening end; the socket is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Control {
    path: PathBuf,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Control {
    /// Listens in `home` on behalf of `node`.
    pub(crate) fn start(home: &Path, node: &Arc<Node>) -> Result<Self, HomeError> {
        let path = home.join(SOCKET);
        // The store's lock is ours, so a socket that is here was left by a crash.
        drop(std::fs::remove_file(&path));
        let listener = UnixListener::bind(&path).map_err(|source| failed(&path, "written", source))?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))
            .map_err(|source| failed(&path, "written", source))?;
        let stop = Arc::new(AtomicBool::new(false));
        let (stopping, node) = (Arc::clone(&stop), Arc::clone(node));
        let thread = std::thread::Builder::new()
            .name("control".to_owned())
            .spawn(move || listen(&listener, &node, &stopping))
            .map_err(HomeError::Thread)?;
        Ok(Self { path, stop, thread: Some(thread) })
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        // Wakes the thread out of its wait for a connection.
        drop(UnixStream::connect(&self.path));
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
        // A client that goes away has nobody left to be told of it.
        drop(stream.and_then(|stream| serve(stream, node)));
    }
}

fn serve(mut stream: UnixStream, node: &Node) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new((&stream).take(LONGEST)).read_line(&mut line)?;
    let order: Order = serde_json::from_str(&line)?;
    let answer = node.carry_out(order).unwrap_or_else(|error| refused(&error));
    stream.write_all(&serde_json::to_vec(&answer)?)
}

fn refused(error: &HomeError) -> Answer {
    let code = match error {
        HomeError::Admin(error) => error.code().name(),
        _ => keywright_types::Code::Internal.name(),
    };
    Answer::Refused { code: code.to_owned(), sentence: error.to_string() }
}

const PATIENCE: Duration = Duration::from_secs(30);
/// Longer than the longest policy document.
const LONGEST: u64 = 64 << 20;
