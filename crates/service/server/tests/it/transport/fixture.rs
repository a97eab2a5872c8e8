//! A certificate authority, a handler with a few odd routes, and clients of both protocols.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use arc_swap::ArcSwap;
use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use keywright_clock::Clock;
use keywright_network::ca::TestAuthority;
use keywright_server::transport::{
    Body, Handler, Limits, Peer, Reply, Running, Settings, empty, json, read_body, start,
};
use keywright_tls::issue::Issued;
use keywright_tls::{
    ClientIdentity, ClientTrust, Protocol, ServerIdentity, client_config, server_config,
};
use keywright_types::Code;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

pub(crate) const BOTH: [Protocol; 2] = [Protocol::Http2, Protocol::Http1];

/// One authority for all tests: making keys takes longer than most tests.
pub(crate) static PKI: LazyLock<Pki> = LazyLock::new(Pki::new);

pub(crate) struct Pki {
    pub(crate) authority: TestAuthority,
    client: Issued,
    server: Issued,
    trust: Arc<ClientTrust>,
    clock: Clock,
}

impl Pki {
    fn new() -> Self {
        let clock = Clock::system();
        let authority = TestAuthority::new(clock.wall());
        Self {
            client: authority.trading(),
            server: authority.server(),
            trust: authority.trust(&clock),
            authority,
            clock,
        }
    }

    pub(crate) fn server(&self, protocols: &[Protocol]) -> Arc<rustls::ServerConfig> {
        let (chain, key) = (&self.server.certificate_pem, &self.server.key_pem);
        let identity = ServerIdentity::from_pem(chain.as_bytes(), key.expose()).unwrap();
        server_config(identity, Arc::clone(&self.trust), protocols).unwrap()
    }

    pub(crate) fn client(&self, protocol: Protocol) -> Arc<rustls::ClientConfig> {
        self.client_with(Some(&self.client), protocol)
    }

    pub(crate) fn client_with(
        &self,
        issued: Option<&Issued>,
        protocol: Protocol,
    ) -> Arc<rustls::ClientConfig> {
        let identity = issued.map(|issued| {
            let (chain, key) = (&issued.certificate_pem, &issued.key_pem);
            ClientIdentity::from_pem(chain.as_bytes(), key.expose()).unwrap()
        });
        let roots = self.authority.certificate_pem().as_bytes();
        client_config(roots, identity, &[protocol], &self.clock).unwrap()
    }
}

/// What the handlers of all threads have seen.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) accepted: AtomicU64,
    pub(crate) closed: AtomicU64,
    pub(crate) started: AtomicU64,
    pub(crate) finished: AtomicU64,
    pub(crate) at_once: AtomicUsize,
    pub(crate) most_at_once: AtomicUsize,
    pub(crate) welcome: AtomicBool,
    pub(crate) door_open: AtomicBool,
    pub(crate) refused: Mutex<Vec<Code>>,
    pub(crate) abandoned: Mutex<Vec<Code>>,
    pub(crate) threads: AtomicU64,
}

impl Seen {
    pub(crate) fn refusals(&self) -> Vec<Code> {
        self.refused.lock().unwrap().clone()
    }

    pub(crate) fn abandonments(&self) -> Vec<Code> {
        self.abandoned.lock().unwrap().clone()
    }

    pub(crate) fn count(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::SeqCst)
    }
}

struct Odd {
    seen: Arc<Seen>,
    limits: Limits,
    /// Not `Send`: each thread has its own.
    numbers: RefCell<Vec<u64>>,
    bit: u64,
}

/// Counts a request while it runs, however it ends.
struct AtOnce<'a>(&'a Seen);

impl<'a> AtOnce<'a> {
    fn begin(seen: &'a Seen) -> Self {
        seen.started.fetch_add(1, Ordering::SeqCst);
        let now = seen.at_once.fetch_add(1, Ordering::SeqCst) + 1;
        seen.most_at_once.fetch_max(now, Ordering::SeqCst);
        Self(seen)
    }
}

impl Drop for AtOnce<'_> {
    fn drop(&mut self) {
        self.0.at_once.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Handler for Odd {
    type Connection = u64;

    fn accept(&self, peer: Peer<'_>) -> Result<u64, Code> {
        assert_eq!(peer.certificates.len(), 1);
        assert!(!peer.resumed);
        if !self.seen.door_open.load(Ordering::SeqCst) {
            return Err(Code::PrincipalUnknown);
        }
        self.seen.accepted.fetch_add(1, Ordering::SeqCst);
        self.seen.threads.fetch_or(self.bit, Ordering::SeqCst);
        self.numbers.borrow_mut().push(peer.number);
        Ok(peer.number)
    }

    async fn respond(&self, _: &u64, head: &Parts, body: &mut Body) -> Response<Reply> {
        let _running = AtOnce::begin(&self.seen);
        let answer = self.route(head, body).await;
        self.seen.finished.fetch_add(1, Ordering::SeqCst);
        answer
    }

    fn abandoned(&self, _: &u64, code: Code) -> Response<Reply> {
        self.seen.abandoned.lock().unwrap().push(code);
        json(StatusCode::SERVICE_UNAVAILABLE, code.name())
    }

    fn still_welcome(&self, _: &u64) -> bool {
        self.seen.welcome.load(Ordering::SeqCst)
    }

    fn handshake_refused(&self, _: SocketAddr, reason: Code) {
        self.seen.refused.lock().unwrap().push(reason);
    }

    fn closed(&self, connection: &u64) {
        let mut numbers = self.numbers.borrow_mut();
        let place = numbers.iter().position(|number| number == connection);
        numbers.remove(place.expect("closed once, on the thread that accepted it"));
        self.seen.closed.fetch_add(1, Ordering::SeqCst);
    }
}

impl Odd {
    async fn route(&self, head: &Parts, body: &mut Body) -> Response<Reply> {
        match (head.method.as_str(), head.uri.path()) {
            ("POST", "/echo") => {
                let Limits {
                    body_bytes,
                    body_timeout,
                    ..
                } = self.limits;
                match read_body(body, body_bytes, body_timeout).await {
                    Ok(bytes) => json(StatusCode::OK, bytes),
                    Err(error) => {
                        let status = match error.code() {
                            Code::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
                            Code::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
                            _ => StatusCode::BAD_REQUEST,
                        };
                        json(status, error.code().name())
                    }
                }
            }
            ("GET", "/empty") => empty(StatusCode::NO_CONTENT),
            ("GET", "/hang") => std::future::pending().await,
            ("GET", "/panic") => panic!("on purpose"),
            ("GET", "/slow") => {
                tokio::time::sleep(Duration::from_millis(300)).await;
                json(StatusCode::OK, "slow")
            }
            _ => json(StatusCode::NOT_FOUND, "nothing here"),
        }
    }
}

/// A server and what it has seen.
pub(crate) struct Server {
    pub(crate) running: Running,
    pub(crate) seen: Arc<Seen>,
    pub(crate) tls: Arc<ArcSwap<rustls::ServerConfig>>,
}

impl Server {
    pub(crate) fn start(threads: usize, limits: Limits) -> Self {
        let seen = Arc::new(Seen {
            accepted: AtomicU64::new(0),
            closed: AtomicU64::new(0),
            started: AtomicU64::new(0),
            finished: AtomicU64::new(0),
            at_once: AtomicUsize::new(0),
            most_at_once: AtomicUsize::new(0),
            welcome: AtomicBool::new(true),
            door_open: AtomicBool::new(true),
            refused: Mutex::default(),
            abandoned: Mutex::default(),
            threads: AtomicU64::new(0),
        });
        let tls = Arc::new(ArcSwap::new(PKI.server(&BOTH)));
        let settings = Settings {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            threads,
            tls: Arc::clone(&tls),
            limits: limits.clone(),
            clock: Clock::system(),
        };
        let shared = Arc::clone(&seen);
        let running = start(settings, move |index| Odd {
            seen: Arc::clone(&shared),
            limits: limits.clone(),
            numbers: RefCell::default(),
            bit: 1 << index,
        })
        .unwrap();
        Self { running, seen, tls }
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.running.local_addr()
    }

    /// A connection that has done its TLS handshake and nothing else.
    pub(crate) async fn tls(&self, config: Arc<rustls::ClientConfig>) -> TlsStream<TcpStream> {
        let tcp = TcpStream::connect(self.addr()).await.unwrap();
        tcp.set_nodelay(true).unwrap();
        let name = "localhost".try_into().unwrap();
        TlsConnector::from(config).connect(name, tcp).await.unwrap()
    }

    pub(crate) async fn client(&self, protocol: Protocol) -> Client {
        Client::over(self.tls(PKI.client(protocol)).await, protocol).await
    }

    /// Stops and joins; every connection that was opened must have been closed.
    pub(crate) async fn end(self) -> u64 {
        self.running.stop();
        // Off the test's thread: its clients must be able to answer the farewell.
        let running = self.running;
        let ended = tokio::task::spawn_blocking(move || running.join());
        let ended = ended.await.unwrap().unwrap();
        assert_eq!(
            Seen::count(&self.seen.accepted),
            Seen::count(&self.seen.closed)
        );
        assert_eq!(self.seen.at_once.load(Ordering::SeqCst), 0);
        ended.cut
    }
}

/// One connection of a hyper client.
pub(crate) enum Client {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

pub(crate) type Answer = (StatusCode, http::HeaderMap, Bytes);

impl Client {
    async fn over(stream: TlsStream<TcpStream>, protocol: Protocol) -> Self {
        let io = TokioIo::new(stream);
        match protocol {
            Protocol::Http2 => {
                let (sender, connection) =
                    http2::handshake(TokioExecutor::new(), io).await.unwrap();
                tokio::spawn(connection);
                Self::Http2(sender)
            }
            _ => {
                let (sender, connection) = http1::handshake(io).await.unwrap();
                tokio::spawn(connection);
                Self::Http1(sender)
            }
        }
    }

    pub(crate) async fn send(
        &mut self,
        method: &str,
        path: &str,
        body: impl Into<Bytes>,
    ) -> hyper::Result<Answer> {
        let request = Request::builder().method(method);
        let response = match self {
            Self::Http1(sender) => {
                sender.ready().await?;
                let request = request.uri(path).header("host", "localhost");
                sender.send_request(request.body(Full::new(body.into())).unwrap())
            }
            Self::Http2(sender) => {
                sender.ready().await?;
                let request = request.uri(format!("https://localhost{path}"));
                return finish(
                    sender
                        .send_request(request.body(Full::new(body.into())).unwrap())
                        .await?,
                )
                .await;
            }
        };
        finish(response.await?).await
    }

    /// Another handle on the same connection, for streams side by side.
    pub(crate) fn another(&self) -> Self {
        match self {
            Self::Http1(_) => panic!("http/1.1 has one request at a time"),
            Self::Http2(sender) => Self::Http2(sender.clone()),
        }
    }
}

async fn finish(response: Response<hyper::body::Incoming>) -> hyper::Result<Answer> {
    let (head, body) = response.into_parts();
    Ok((head.status, head.headers, body.collect().await?.to_bytes()))
}

/// Runs a test, and fails it instead of letting it hang.
pub(crate) fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(async {
            tokio::time::timeout(Duration::from_secs(60), test)
                .await
                .expect("the test hangs");
        });
}

/// Waits until `condition` holds, for at most five seconds.
pub(crate) async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    for _ in 0..500 {
        if condition() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("not within five seconds: {what}");
}
