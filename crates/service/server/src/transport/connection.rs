//! One connection from accept to close: handshake, protocol, requests.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use arc_swap::ArcSwap;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::rt::Executor;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use keywright_clock::MonotonicTime;
use keywright_service::DropReason;
use keywright_tls::{Protocol, refusal_of};
use keywright_types::Code;
use rustix::io::Errno;
use rustls::server::Acceptor;
use socket2::SockRef;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::server::TlsStream;

use super::held::Account;
use super::pending::{Handshake, Pending, Stage};
use super::rest::let_pass;
use super::stream::{Linger, Outgoing, Stream};
use super::sweep::{Order, Seat};
use super::thread::{Place, Thread};
use super::watch::Watch;
use super::{Body, Handler, Limits, Peer, Reply, pages};

/// One server thread's handler and its connections.
pub(super) struct Server<H: Handler> {
    pub(super) handler: H,
    pub(super) thread: Rc<Thread>,
    tls: Arc<ArcSwap<rustls::ServerConfig>>,
    sessions: RefCell<HashMap<u64, Rc<Session<H>>>>,
    /// Connections that are still in their handshake.
    pending: Rc<Pending>,
    stopping: Cell<bool>,
    emptied: Notify,
}

/// One connection; kept alive by its requests, too.
struct Session<H: Handler> {
    server: Rc<Server<H>>,
    connection: H::Connection,
    seat: Rc<Seat>,
}

impl<H: Handler> Server<H> {
    pub(super) fn new(
        handler: H,
        thread: Rc<Thread>,
        tls: Arc<ArcSwap<rustls::ServerConfig>>,
    ) -> Rc<Self> {
        let pending = Pending::new(thread.shared.sources(), thread.limits.clone());
        Rc::new(Self {
            handler,
            thread,
            tls,
            sessions: RefCell::default(),
            pending,
            stopping: Cell::new(false),
            emptied: Notify::new(),
        })
    }

    /// Takes a new connection, if there is a place for it once it has shown its certificate.
    pub(super) fn admit(self: &Rc<Self>, tcp: TcpStream, from: SocketAddr) {
        end_with_reset(&tcp);
        let Thread { shared, limits, .. } = &*self.thread;
        if shared.is_full(limits) {
            return self
                .handler
                .connection_dropped(from, DropReason::Connections);
        }
        let handshake = self.pending.enter(from.ip(), Stage::of(&tcp));
        tokio::task::spawn_local(Rc::clone(self).connect(tcp, from, handshake));
    }

    /// Drops a connection that has shown no certificate, if there are no descriptors for another; whether it did.
    pub(super) fn make_room(&self, error: &io::Error) -> bool {
        let none_left = matches!(
            Errno::from_io_error(error),
            Some(Errno::MFILE | Errno::NFILE)
        );
        none_left && self.pending.make_room()
    }

    /// Looks at every deadline and connection.
    pub(super) fn sweep(&self, now: u64) {
        self.thread.alarms.ring(now);
        pages::fit(self.thread.shared.connections());
        for session in self.sessions.borrow().values() {
            if self.handler.still_welcome(&session.connection) {
                session.seat.sweep(now, &self.thread.limits);
            } else {
                session.seat.give(Order::Cut);
            }
        }
    }

    /// Tells all connections to finish and waits until they have; what is left after the drain
    /// timeout is cut.
    pub(super) async fn drain(&self) {
        self.stopping.set(true);
        self.order(Order::Drain);
        let emptied = async {
            while !self.sessions.borrow().is_empty() {
                self.emptied.notified().await;
            }
        };
        if tokio::time::timeout(self.thread.limits.drain_timeout, emptied)
            .await
            .is_err()
        {
            self.thread.shared.count_cut(self.sessions.borrow().len());
            self.order(Order::Cut);
        }
    }

    fn order(&self, order: Order) {
        for session in self.sessions.borrow().values() {
            session.seat.give(order);
        }
    }

    /// Each part is a box of its own, given back when it is over: what a connection has in memory while it waits is
    /// what it needs to wait, and not the largest that it ever needed.
    async fn connect(self: Rc<Self>, tcp: TcpStream, from: SocketAddr, handshake: Handshake) {
        let admitted = tokio::select! {
            biased;
            reason = handshake.dropped() => {
                // Whose handshake has failed is counted as that.
                if handshake.stage() != Stage::Failed {
                    self.handler.connection_dropped(from, reason);
                }
                None
            }
            admitted = Box::pin(self.let_in(tcp, from, &handshake)) => admitted,
        };
        drop(handshake);
        if let Some((_place, serving)) = admitted {
            serving.await;
        }
    }

    /// What serves the connection, if it is one that is served.
    async fn let_in(
        self: &Rc<Self>,
        tcp: TcpStream,
        from: SocketAddr,
        handshake: &Handshake,
    ) -> Option<(Place, Serving)> {
        let tls = match self.handshake(tcp, handshake).await {
            Ok(tls) => tls,
            Err(Unfinished::Failed(reason, tcp)) => {
                handshake.reach(Stage::Failed);
                self.handler.handshake_refused(from, reason);
                let_alert_arrive(tcp).await;
                return None;
            }
            Err(Unfinished::TimedOut) => {
                self.handler
                    .connection_dropped(from, DropReason::HandshakeTimeout);
                return None;
            }
        };
        let Some(place) = self.thread.shared.admit(&self.thread.limits) else {
            self.handler
                .connection_dropped(from, DropReason::Connections);
            return None;
        };
        end_in_order(tls.0.get_ref().0);
        let opened = self.open(tls, from).ok()?;
        Some((place, opened.serve()))
    }

    async fn handshake(
        &self,
        tcp: TcpStream,
        handshake: &Handshake,
    ) -> Result<Handshaken, Unfinished> {
        // Small answers must not wait for the acknowledgement of earlier ones. A socket that
        // refuses the option only gets slower.
        let _ = tcp.set_nodelay(true);
        let config = self.tls.load_full();
        let http1 = Protocol::Http1.alpn();
        let http1_offered = config.alpn_protocols.iter().any(|name| name == http1);
        let accept = accept(tcp, config, handshake);
        let tls = tokio::time::timeout(self.thread.limits.handshake_timeout, accept)
            .await
            .map_err(|_| Unfinished::TimedOut)??;
        let protocol = match tls.get_ref().1.alpn_protocol() {
            None if !http1_offered => None,
            name => Protocol::negotiated(name),
        };
        match protocol {
            Some(protocol) => Ok((tls, protocol)),
            None => Err(Unfinished::Failed(Code::HandshakeFailed, None)),
        }
    }

    /// Asks the handler, and takes the connection into the thread's table.
    fn open(
        self: &Rc<Self>,
        (tls, protocol): Handshaken,
        address: SocketAddr,
    ) -> Result<Opened<H>, Code> {
        let number = self.thread.shared.number();
        let state = tls.get_ref().1;
        let peer = Peer {
            address,
            // A configuration without client authentication is a mistake; it lets nobody in.
            certificates: state.peer_certificates().ok_or(Code::CertificateMissing)?,
            protocol,
            number,
            resumed: state.handshake_kind() == Some(rustls::HandshakeKind::Resumed),
        };
        let connection = self.handler.accept(peer)?;
        let watch = match protocol {
            Protocol::Http2 => Watch::http2(),
            _ => Watch::http1(),
        };
        let held = Account::new(&self.thread.shared, &self.thread.limits);
        let seat = Rc::new(Seat::new(watch, self.thread.alarms.now(), held));
        if self.stopping.get() {
            seat.give(Order::Drain);
        }
        let session = Rc::new(Session {
            server: Rc::clone(self),
            connection,
            seat: Rc::clone(&seat),
        });
        self.sessions
            .borrow_mut()
            .insert(number, Rc::clone(&session));
        let (stream, outgoing) = Stream::new(tls, seat, Rc::clone(&self.thread));
        Ok(Opened {
            stream: TokioIo::new(stream),
            outgoing,
            protocol,
            entry: Entry { session, number },
        })
    }
}

type Handshaken = (TlsStream<TcpStream>, Protocol);

/// Why a handshake has not led to a connection.
enum Unfinished {
    /// It failed; the socket is here if there may be an alert on its way.
    Failed(Code, Option<TcpStream>),
    /// Its time was over.
    TimedOut,
}

/// The TLS handshake, in the two steps that tell a whole ClientHello from the beginning of one.
async fn accept(
    tcp: TcpStream,
    config: Arc<rustls::ServerConfig>,
    handshake: &Handshake,
) -> Result<TlsStream<TcpStream>, Unfinished> {
    if handshake.stage() == Stage::Silent {
        // What is wrong with the socket is told where it is read.
        let _ = tcp.readable().await;
        handshake.reach(Stage::Begun);
    }
    let mut hello = LazyConfigAcceptor::new(Acceptor::default(), tcp);
    let failed = |error: &io::Error, tcp| {
        if let Some(tcp) = &tcp {
            end_in_order(tcp);
        }
        Unfinished::Failed(refusal_of(error), tcp)
    };
    let greeted = match (&mut hello).await {
        Ok(greeted) => greeted,
        Err(error) => return Err(failed(&error, hello.take_io())),
    };
    handshake.reach(Stage::Answered);
    let accepted = greeted.into_stream(config).into_fallible().await;
    accepted.map_err(|(error, tcp)| failed(&error, Some(tcp)))
}

/// From now on the end of the socket is a reset: the system keeps nothing of a connection that was dropped, where an
/// orderly end would wait for a peer that never answers. A socket that refuses the option costs a little memory.
fn end_with_reset(tcp: &TcpStream) {
    let _ = tcp.set_zero_linger();
}

/// Takes [`end_with_reset`] back.
fn end_in_order(tcp: &TcpStream) {
    let _ = SockRef::from(tcp).set_linger(None);
}

/// A connection that the handler has accepted.
struct Opened<H: Handler> {
    stream: TokioIo<Stream>,
    outgoing: Outgoing,
    protocol: Protocol,
    entry: Entry<H>,
}

/// A connection's line in the table of its thread; leaves it when dropped, also when the task is.
struct Entry<H: Handler> {
    session: Rc<Session<H>>,
    number: u64,
}

/// Runs until the connection has ended.
type Serving = Pin<Box<dyn Future<Output = ()>>>;

impl<H: Handler> Opened<H> {
    fn serve(self) -> Serving {
        let Self {
            stream,
            outgoing,
            protocol,
            entry,
        } = self;
        let session = Rc::clone(&entry.session);
        let thread = Rc::clone(&session.server.thread);
        // Called where the head was read. Boxed, because the protocol library and the runtime move what they are given
        // several times.
        let begin = move |request| {
            let read_at = session.server.thread.turn.since();
            Box::pin(exchange(Rc::clone(&session), request, read_at))
        };
        match protocol {
            Protocol::Http2 => {
                let own = Rc::clone(&thread);
                let service = service_fn(move |request| {
                    let mut exchange = begin(request);
                    own.turn.begin(exchange.as_mut());
                    exchange
                });
                let connection = http2(&thread.limits).serve_connection(stream, service);
                let finish = http2::Connection::graceful_shutdown;
                Box::pin(drive((Box::pin(connection), outgoing), entry, finish))
            }
            _ => {
                // The connection itself polls the exchange next.
                let service = service_fn(begin);
                let connection = http1(&thread.limits).serve_connection(stream, service);
                let finish = http1::Connection::graceful_shutdown;
                Box::pin(drive((Box::pin(connection), outgoing), entry, finish))
            }
        }
    }
}

fn http1(limits: &Limits) -> http1::Builder {
    let least = 8192; // hyper panics below
    let mut builder = http1::Builder::new();
    builder
        .header_read_timeout(None) // the sweep does it
        .max_headers(limits.header_fields)
        .max_buf_size(usize::try_from(limits.header_bytes).map_or(least, |bytes| bytes.max(least)));
    builder
}

fn http2(limits: &Limits) -> http2::Builder<Local> {
    let mut builder = http2::Builder::new(Local);
    builder
        .initial_connection_window_size(limits.window_bytes)
        .initial_stream_window_size(limits.window_bytes)
        .max_concurrent_streams(limits.concurrent_streams)
        .max_header_list_size(limits.header_bytes)
        .max_local_error_reset_streams(limits.local_resets)
        .max_pending_accept_reset_streams(limits.pending_resets);
    builder
}

/// Runs a connection until it ends or is told to, and sends at the end of each turn what was written in it.
async fn drive<C: Future, H: Handler>(
    (mut connection, outgoing): (Pin<Box<C>>, Outgoing),
    entry: Entry<H>,
    finish: impl Fn(Pin<&mut C>),
) {
    let mut finishing = false;
    poll_fn(|cx| {
        match entry.session.seat.order(cx.waker()) {
            Order::Cut => return Poll::Ready(()),
            Order::Drain if !finishing => {
                finishing = true;
                finish(connection.as_mut());
            }
            Order::Drain | Order::Serve => {}
        }
        // Errors of a connection are the client's: it went away or broke the protocol, and the
        // protocol library has told it so.
        let ended = connection.as_mut().poll(cx).map(drop);
        match outgoing.poll(cx) {
            // Nobody reads any more, so nothing that is under way has a reader.
            Poll::Ready(Err(_)) => Poll::Ready(()),
            Poll::Ready(Ok(())) | Poll::Pending => ended,
        }
    })
    .await;
}

/// One request and its answer.
async fn exchange<H: Handler>(
    session: Rc<Session<H>>,
    request: Request<Incoming>,
    read_at: Option<MonotonicTime>,
) -> Result<Response<Reply>, Infallible> {
    let Server {
        handler, thread, ..
    } = &*session.server;
    let begun = thread.clock.monotonic();
    thread.turn.look(Some(begun));
    let _busy = session.seat.begin(&thread.alarms);
    let (head, incoming) = request.into_parts();
    // Who does not fetch what was answered is not asked what else there may be.
    if session.seat.held().is_full() {
        let_pass(incoming, head.version, thread).await;
        thread.turn.of_task().await;
        return Ok(handler.abandoned(&session.connection, Code::Overloaded));
    }
    let times = (read_at.unwrap_or(begun), begun);
    let from = (Rc::clone(thread), Rc::clone(&session.seat));
    let mut body = Body::arriving(incoming, from, times);
    let outcome = {
        let mut answer = pin!(handler.respond(&session.connection, &head, &mut body));
        let mut alarm = thread.alarms.after(thread.limits.request_timeout);
        poll_fn(|cx| {
            thread.turn.look(None);
            match catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(cx))) {
                Ok(Poll::Ready(response)) => Poll::Ready(Ok(response)),
                Ok(Poll::Pending) => alarm.poll(cx).map(|()| Err(Code::DeadlineExceeded)),
                Err(_panic) => Poll::Ready(Err(Code::Internal)),
            }
        })
        .await
    };
    let response = outcome.unwrap_or_else(|code| handler.abandoned(&session.connection, code));
    if let Some(rest) = body.into_rest() {
        let_pass(rest, head.version, thread).await;
    }
    thread.turn.of_task().await;
    Ok(response.map(|reply| reply.held_by(&session.seat, thread)))
}

impl<H: Handler> Drop for Entry<H> {
    fn drop(&mut self) {
        let server = &self.session.server;
        server.sessions.borrow_mut().remove(&self.number);
        server.emptied.notify_waiters();
    }
}

impl<H: Handler> Drop for Session<H> {
    fn drop(&mut self) {
        self.server.handler.closed(&self.connection);
    }
}

/// Runs the streams of an HTTP/2 connection on its own thread.
#[derive(Clone, Copy, Debug)]
struct Local;

impl<F: Future<Output: 'static> + 'static> Executor<F> for Local {
    fn execute(&self, future: F) {
        tokio::task::spawn_local(future);
    }
}

/// The alert that says why has been written; this lets the client read it (see [`Linger`]).
async fn let_alert_arrive(tcp: Option<TcpStream>) {
    let Some(mut tcp) = tcp else { return };
    if tcp.shutdown().await.is_ok() {
        let mut linger = Linger::new();
        poll_fn(|cx| linger.poll(Pin::new(&mut tcp), cx)).await;
    }
}
