//! One connection of an attacker: bytes out, bytes in, and whether the server ended it.

use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use keywright_clock::{Clock, MonotonicTime};
use keywright_network::frames::{self, Frame, PREFACE, kind};
use keywright_tls::Protocol;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::beside::Attacked;
use crate::fixture::TRADING;

/// Runs what an attacker does on a thread of its own, beside the runtime of clients in earnest.
pub(super) fn run<T>(attack: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(attack)
}

/// The end of an attack that has just begun.
pub(super) fn end_of(attack: Duration) -> MonotonicTime {
    CLOCK.monotonic().plus(attack)
}

pub(super) fn is_over(end: MonotonicTime) -> bool {
    CLOCK.monotonic() >= end
}

static CLOCK: LazyLock<Clock> = LazyLock::new(Clock::system);

/// After its handshake, with a good certificate.
pub(super) struct Line {
    write: WriteHalf<TlsStream<TcpStream>>,
    /// Ends when the server ends the connection.
    reading: JoinHandle<()>,
    heard: Arc<Mutex<Vec<u8>>>,
}

/// Whether an attacker reads what it is answered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    Everything,
    Nothing,
}

/// What became of a connection.
pub(super) struct Ended {
    /// Whether the server ended it, before the attacker had enough.
    pub(super) by_server: bool,
    pub(super) answers: Vec<u8>,
}

impl Ended {
    pub(super) fn frames(&self) -> Vec<Frame> {
        frames::read(&self.answers)
    }

    /// The code that the server ended the connection with, if it said one.
    pub(super) fn goodbye(&self) -> Option<u32> {
        let mut all = self.frames().into_iter();
        all.find(|frame| frame.kind == kind::GOAWAY)
            .and_then(|frame| frame.error())
    }
}

impl Line {
    /// Over HTTP/2, with preface and settings said.
    pub(super) async fn http2(attacked: &Attacked, settings: &[(u16, u32)], reads: Reads) -> Self {
        let mut line = Self::open(attacked, Protocol::Http2, reads).await;
        let start = [PREFACE, &frames::settings(settings)].concat();
        // Refused at once or a little later, which is for who reads to say.
        let _ = line.say(&start).await;
        line
    }

    pub(super) async fn open(attacked: &Attacked, protocol: Protocol, reads: Reads) -> Self {
        let identity = attacked.home.identity(TRADING);
        let tls = attacked.home.tls(Some(identity), protocol);
        let tcp = TcpStream::connect(attacked.served.address).await.unwrap();
        tcp.set_nodelay(true).unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let stream = TlsConnector::from(tls).connect(name, tcp).await.unwrap();
        let (read, write) = tokio::io::split(stream);
        let heard = Arc::default();
        Self {
            write,
            reading: tokio::spawn(read_on(read, reads, Arc::clone(&heard))),
            heard,
        }
    }

    /// Writes it all, unless the server ends the connection first; whether it could.
    pub(super) async fn say(&mut self, bytes: &[u8]) -> bool {
        let write = async {
            self.write.write_all(bytes).await?;
            self.write.flush().await
        };
        tokio::select! {
            // A server that has had enough may read no more, and then this would wait for ever.
            said = tokio::time::timeout(Duration::from_secs(5), write) => matches!(said, Ok(Ok(()))),
            () = finished(&self.reading) => false,
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.reading.is_finished()
    }

    /// What the server has said until now.
    pub(super) fn heard(&self) -> Vec<Frame> {
        frames::read(&self.heard.lock().unwrap())
    }

    /// Waits for the server to end the connection, for so long.
    pub(super) async fn ends_within(mut self, time: Duration) -> Ended {
        let by_server = tokio::time::timeout(time, &mut self.reading).await.is_ok();
        self.reading.abort();
        let answers = std::mem::take(&mut *self.heard.lock().unwrap());
        Ended { by_server, answers }
    }
}

/// What is kept of the answers; more is thrown away.
const KEPT: usize = 4 << 20;

async fn read_on(
    mut read: ReadHalf<TlsStream<TcpStream>>,
    reads: Reads,
    heard: Arc<Mutex<Vec<u8>>>,
) {
    let mut buffer = vec![0; 16 << 10];
    if reads == Reads::Nothing {
        std::future::pending::<()>().await;
    }
    // A connection that is cut has no farewell in TLS, which reading tells as an error.
    while let Ok(length @ 1..) = read.read(&mut buffer).await {
        let mut heard = heard.lock().unwrap();
        if heard.len() < KEPT {
            heard.extend_from_slice(&buffer[..length]);
        }
    }
}

async fn finished(reading: &JoinHandle<()>) {
    while !reading.is_finished() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
