//! A server with a script: real TLS on loopback, HTTP/2 and HTTP/1.1, faults on demand.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Response, StatusCode};
use keywright_clock::Clock;
use keywright_network::ca::TestAuthority;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// What the server does. Every so many requests of all; 0 is never.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Script {
    pub(crate) wrong_every: u64,
    /// Answers with an error code of ours.
    pub(crate) error_every: u64,
    /// Answers with a status and a page.
    pub(crate) page_every: u64,
    pub(crate) silent_every: u64,
    pub(crate) reset_every: u64,
    /// Cuts the connection.
    pub(crate) cut_every: u64,
    /// Says that it is going away, over HTTP/2, and finishes what it has.
    pub(crate) leave_every: u64,
    /// Over HTTP/2 it takes so many requests of a connection at a time; 0 is any number.
    pub(crate) streams: u32,
    /// Each answer takes this long.
    pub(crate) delay: Duration,
    /// From this request on the next one is held for this long, and everything behind it.
    pub(crate) freeze: Option<(u64, Duration)>,
}

/// What the server saw and did.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) requests: AtomicU64,
    pub(crate) wrong: AtomicU64,
    pub(crate) errors: AtomicU64,
    pub(crate) pages: AtomicU64,
    pub(crate) silent: AtomicU64,
    pub(crate) resets: AtomicU64,
    pub(crate) connections: AtomicU64,
    pub(crate) deaf: AtomicBool,
    /// Which certificates asked for which path.
    pub(crate) callers: Mutex<BTreeMap<String, Vec<Vec<u8>>>>,
}

impl Seen {
    pub(crate) fn count(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::SeqCst)
    }

    fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::SeqCst);
    }
}

/// A running server; it ends when it is dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) seen: Arc<Seen>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Server {
    pub(crate) fn start(authority: &TestAuthority, script: Script) -> Self {
        let acceptor = TlsAcceptor::from(authority.server_config(&Clock::system()));
        let seen = Arc::new(Seen::default());
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let (tell, told) = std::sync::mpsc::channel();
        let shared = Arc::clone(&seen);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.unwrap().block_on(async move {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                tell.send(listener.local_addr().unwrap()).unwrap();
                let serving = accept(listener, acceptor, script, shared);
                tokio::select! {
                    () = serving => {}
                    _ = stopped => {}
                }
            });
        });
        Self {
            address: told.recv().unwrap(),
            seen,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("https://{}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        drop(self.thread.take().map(std::thread::JoinHandle::join));
    }
}

async fn accept(listener: TcpListener, acceptor: TlsAcceptor, script: Script, seen: Arc<Seen>) {
    loop {
        let (tcp, _) = listener.accept().await.unwrap();
        if seen.deaf.load(Ordering::SeqCst) {
            continue;
        }
        let (acceptor, seen) = (acceptor.clone(), Arc::clone(&seen));
        tokio::spawn(async move {
            let Ok(tls) = acceptor.accept(tcp).await else {
                return;
            };
            Seen::add(&seen.connections);
            let certificates = tls.get_ref().1.peer_certificates().unwrap_or_default();
            let caller = certificates
                .first()
                .map_or(Vec::new(), |leaf| leaf.to_vec());
            match tls.get_ref().1.alpn_protocol() {
                Some(b"h2") => http2(tls, script, seen, caller).await,
                _ => http1(tls, script, seen, caller).await,
            }
        });
    }
}

/// What becomes of a request.
enum Fate {
    Answer(StatusCode, String),
    Cut,
    Leave(String),
    Reset,
    Silent,
}

async fn fate(path: &str, body: &str, caller: &[u8], (script, seen): (Script, &Seen)) -> Fate {
    let number = seen.requests.fetch_add(1, Ordering::SeqCst) + 1;
    {
        let mut callers = seen.callers.lock().unwrap();
        let callers = callers.entry(path.to_owned()).or_default();
        if !callers.iter().any(|known| known == caller) {
            callers.push(caller.to_owned());
        }
    }
    if let Some((at, length)) = script.freeze
        && number == at
    {
        // The whole server stands still, not only this request.
        std::thread::sleep(length);
    }
    if !script.delay.is_zero() {
        tokio::time::sleep(script.delay).await;
    }
    let every = |every: u64| every > 0 && number.is_multiple_of(every);
    if every(script.silent_every) {
        Seen::add(&seen.silent);
        return Fate::Silent;
    }
    if every(script.reset_every) {
        Seen::add(&seen.resets);
        return Fate::Reset;
    }
    if every(script.cut_every) {
        return Fate::Cut;
    }
    if every(script.error_every) {
        Seen::add(&seen.errors);
        let body = r#"{"error":{"code":"overloaded","message":"later"}}"#;
        return Fate::Answer(StatusCode::SERVICE_UNAVAILABLE, body.to_owned());
    }
    if every(script.page_every) {
        Seen::add(&seen.pages);
        return Fate::Answer(StatusCode::BAD_GATEWAY, "<html>".to_owned());
    }
    let mut answer = format!("echo:{body}");
    if every(script.wrong_every) && path != "/check" {
        Seen::add(&seen.wrong);
        answer.push('!');
    }
    if path == "/check" {
        // What was answered before comes back, and is right if nothing was added to it.
        answer = format!("check:{}", !body.ends_with('!'));
    }
    match every(script.leave_every) {
        true => Fate::Leave(answer),
        false => Fate::Answer(StatusCode::OK, answer),
    }
}

async fn http2(tls: TlsStream<TcpStream>, script: Script, seen: Arc<Seen>, caller: Vec<u8>) {
    let mut builder = h2::server::Builder::new();
    if script.streams > 0 {
        builder.max_concurrent_streams(script.streams);
    }
    let Ok(mut connection) = builder.handshake(tls).await else {
        return;
    };
    let (cut, mut cuts) = tokio::sync::mpsc::unbounded_channel::<bool>();
    // Streams that are never answered stay open until the connection ends.
    let silent = Arc::new(Mutex::new(Vec::new()));
    loop {
        let accepted = tokio::select! {
            accepted = connection.accept() => accepted,
            Some(abruptly) = cuts.recv() => {
                if abruptly {
                    return;
                }
                connection.graceful_shutdown();
                continue;
            }
        };
        let Some(Ok((request, mut respond))) = accepted else {
            return;
        };
        let (seen, cut, caller) = (Arc::clone(&seen), cut.clone(), caller.clone());
        let silent = Arc::clone(&silent);
        tokio::spawn(async move {
            let path = request.uri().path().to_owned();
            let mut body = request.into_body();
            let mut text = Vec::new();
            while let Some(Ok(piece)) = body.data().await {
                let _ = body.flow_control().release_capacity(piece.len());
                text.extend_from_slice(&piece);
            }
            let text = String::from_utf8(text).unwrap();
            match fate(&path, &text, &caller, (script, &seen)).await {
                Fate::Answer(status, answer) => {
                    let response = Response::builder().status(status).body(()).unwrap();
                    if let Ok(mut stream) = respond.send_response(response, false) {
                        let _ = stream.send_data(Bytes::from(answer), true);
                    }
                }
                Fate::Leave(answer) => {
                    if let Ok(mut stream) = respond.send_response(Response::new(()), false) {
                        let _ = stream.send_data(Bytes::from(answer), true);
                    }
                    let _ = cut.send(false);
                }
                Fate::Cut => drop(cut.send(true)),
                Fate::Reset => respond.send_reset(h2::Reason::REFUSED_STREAM),
                Fate::Silent => silent.lock().unwrap().push(respond),
            }
        });
    }
}

/// As much of HTTP/1.1 as our generator writes: a head, then a body of stated length.
async fn http1(mut tls: TlsStream<TcpStream>, script: Script, seen: Arc<Seen>, caller: Vec<u8>) {
    let mut bytes = Vec::new();
    loop {
        let Some((path, body)) = read_http1(&mut tls, &mut bytes).await else {
            return;
        };
        let (status, answer) = match fate(&path, &body, &caller, (script, &seen)).await {
            Fate::Answer(status, answer) => (status, answer),
            Fate::Leave(answer) => (StatusCode::OK, answer),
            Fate::Cut | Fate::Reset => return,
            Fate::Silent => std::future::pending().await,
        };
        let length = answer.len();
        let text = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n{answer}");
        if tls.write_all(text.as_bytes()).await.is_err() || tls.flush().await.is_err() {
            return;
        }
    }
}

async fn read_http1(
    tls: &mut TlsStream<TcpStream>,
    bytes: &mut Vec<u8>,
) -> Option<(String, String)> {
    loop {
        let text = String::from_utf8(bytes.clone()).unwrap();
        if let Some((head, rest)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.map_or(0, |length| length.parse().unwrap());
            if rest.len() >= length {
                let path = head.split(' ').nth(1).unwrap().to_owned();
                let body = rest[..length].to_owned();
                bytes.drain(..head.len() + 4 + length);
                return Some((path, body));
            }
        }
        if tls.read_buf(bytes).await.ok()? == 0 {
            return None;
        }
    }
}
