//! A collector of OpenTelemetry as a node meets it: a small server of HTTP/1.1 that keeps the bodies it was sent, and may
//! have bad manners. It knows nothing of the code that sends.
#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "fixtures: a failure here fails the test that asked for it"
)]

use std::fmt;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How it treats a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a fixture")]
pub enum Manners {
    /// Reads it and answers with these bytes.
    Answers(&'static str),
    /// Reads it and ends the connection without a word.
    HangsUp,
    /// Takes the connection and nothing else.
    Hangs,
    /// Answers without an end, a byte now and then.
    Dawdles,
}

/// As a collector should.
pub const TAKES: Manners = Manners::Answers(
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
);

/// Both directions of a connection.
pub trait Talk: Read + Write + Send {}
impl<T: Read + Write + Send> Talk for T {}

/// What is put around a connection: nothing, or TLS.
pub type Wrap = Arc<dyn Fn(TcpStream) -> Box<dyn Talk> + Send + Sync>;

/// A request as it came.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a fixture")]
pub struct Received {
    /// Its head.
    pub head: String,
    /// Its body.
    pub body: Vec<u8>,
}

#[derive(Default)]
struct Seen {
    received: Mutex<Vec<Received>>,
    connections: AtomicUsize,
    stop: AtomicBool,
}

/// A collector that listens on loopback for as long as this lives.
pub struct Collector {
    address: SocketAddr,
    seen: Arc<Seen>,
    listener: Option<JoinHandle<()>>,
}

/// How often whoever waits looks whether it is over.
const LOOK: Duration = Duration::from_millis(10);

impl Collector {
    /// Over plain TCP.
    #[must_use]
    pub fn start(manners: Manners) -> Self {
        Self::start_within(manners, Arc::new(|stream| Box::new(stream)))
    }

    /// The same with something around each connection.
    #[must_use]
    pub fn start_within(manners: Manners, wrap: Wrap) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        listener.set_nonblocking(true).expect("a socket");
        let address = listener.local_addr().expect("an address");
        let seen = Arc::new(Seen::default());
        let of_thread = Arc::clone(&seen);
        let listener = thread::spawn(move || {
            while !of_thread.stop.load(Ordering::Relaxed) {
                let Ok((stream, _)) = listener.accept() else {
                    thread::sleep(LOOK);
                    continue;
                };
                of_thread.connections.fetch_add(1, Ordering::Relaxed);
                let (seen, wrap) = (Arc::clone(&of_thread), Arc::clone(&wrap));
                thread::spawn(move || treat(stream, manners, &wrap, &seen));
            }
        });
        Self {
            address,
            seen,
            listener: Some(listener),
        }
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What came, in order.
    #[must_use]
    pub fn received(&self) -> Vec<Received> {
        let received = self.seen.received.lock();
        received.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Connections so far.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::Relaxed)
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.seen.stop.store(true, Ordering::Relaxed);
        if let Some(listener) = self.listener.take() {
            drop(listener.join());
        }
    }
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Collector({})", self.address)
    }
}

fn treat(stream: TcpStream, manners: Manners, wrap: &Wrap, seen: &Seen) {
    let stopped = || seen.stop.load(Ordering::Relaxed);
    if manners == Manners::Hangs {
        while !stopped() {
            thread::sleep(LOOK);
        }
        return;
    }
    drop(stream.set_nonblocking(false));
    // Whoever forgets to hang up is not waited for.
    drop(stream.set_read_timeout(Some(Duration::from_secs(30))));
    let mut stream = wrap(stream);
    while let Some(received) = read(stream.as_mut()) {
        let all = seen.received.lock();
        all.unwrap_or_else(PoisonError::into_inner).push(received);
        match manners {
            Manners::Answers(answer) => {
                if stream.write_all(answer.as_bytes()).is_err() || stream.flush().is_err() {
                    return;
                }
            }
            Manners::Dawdles => {
                drop(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n"));
                while !stopped() && stream.write_all(b"x").is_ok() && stream.flush().is_ok() {
                    thread::sleep(LOOK);
                }
                return;
            }
            Manners::Hangs | Manners::HangsUp => return,
        }
    }
}

/// The next request, if one comes whole.
fn read(stream: &mut dyn Talk) -> Option<Received> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.extend(byte);
    }
    let head = String::from_utf8(head).ok()?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let named = name.eq_ignore_ascii_case("content-length");
        named.then(|| value.trim().parse::<usize>().ok())?
    })?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some(Received { head, body })
}
