//! A listener for whoever watches the process: an init system, a container's runtime, a load balancer's agent.
//!
//! Plain HTTP/1.1 on a loopback address and nowhere else, without identity and without detail: `/live` and
//! `/ready` are answered 200 or 503, and say nothing more. Why a node is not ready stands in `/v1/health`, in the
//! metrics, and on the standard error of `keywright serve`. It has a thread and limits of its own, so that it
//! answers while every server thread is stuck. Connections beyond `AT_ONCE` take the place of one that is silent, as
//! before the handshake of the other listeners, and none lasts longer than [`PATIENCE`].

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::watch;

use crate::transport::{Handshake, Limits, Pending, Reply, Stage, reply};

/// What is asked of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the two questions of this listener"
)]
pub enum Question {
    /// Whether its threads turn. A process that does not live is to be started again.
    Live,
    /// Whether it can serve now. One that is not ready is to be left out until it is.
    Ready,
}

/// Answers questions, on the listener's thread; it must not wait.
pub type Look = Box<dyn Fn(Question) -> bool + Send + Sync>;

/// The listener; it ends when it is dropped.
#[derive(Debug)]
pub struct Listener {
    addr: SocketAddr,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

/// Listens on `addr`; port 0 takes a free one.
///
/// # Errors
/// An address that is not of loopback, or cannot be had.
pub fn listen(addr: SocketAddr, look: Look) -> io::Result<Listener> {
    if !addr.ip().is_loopback() {
        let reason = "the probe listens on loopback alone";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    let socket = StdListener::bind(addr)?;
    socket.set_nonblocking(true)?;
    let addr = socket.local_addr()?;
    let (stop, stopped) = watch::channel(false);
    let thread = std::thread::Builder::new()
        .name("probe".to_owned())
        .spawn(move || run(socket, stopped, look))?;
    Ok(Listener {
        addr,
        stop,
        thread: Some(thread),
    })
}

impl Listener {
    /// Where it listens.
    #[must_use]
    pub const fn local_addr(&self) -> SocketAddr {
        self.addr
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed; there is nobody left to tell.
            drop(thread.join());
        }
    }
}

fn run(socket: StdListener, mut stopped: watch::Receiver<bool>, look: Look) {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build_local(LocalOptions::default());
    let Ok(runtime) = runtime else { return };
    runtime.block_on(async {
        let Ok(listener) = TcpListener::from_std(socket) else {
            return;
        };
        tokio::select! {
            // The sender ends with the listener.
            _ = stopped.wait_for(|stopped| *stopped) => {}
            () = accept(listener, Arc::from(look)) => {}
        }
    });
}

async fn accept(listener: TcpListener, look: Arc<dyn Fn(Question) -> bool + Send + Sync>) {
    let pending = Pending::new(Arc::default(), places());
    loop {
        let Ok((tcp, from)) = listener.accept().await else {
            // Out of file descriptors: at once again would only burn the processor.
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let place = pending.enter(from.ip(), Stage::of(&tcp));
        tokio::task::spawn_local(answer_one(tcp, place, Arc::clone(&look)));
        tokio::task::yield_now().await;
    }
}

async fn answer_one(
    tcp: TcpStream,
    place: Handshake,
    look: Arc<dyn Fn(Question) -> bool + Send + Sync>,
) {
    let served = async {
        // What is wrong with the socket is told where it is read.
        let _ = tcp.readable().await;
        place.reach(Stage::Begun);
        serve(tcp, &*look).await;
    };
    tokio::select! {
        biased;
        _ = place.dropped() => {}
        _ = tokio::time::timeout(PATIENCE, served) => {}
    }
}

/// Everybody who asks is on this machine, so all are one source.
fn places() -> Limits {
    Limits {
        unauthenticated_connections: AT_ONCE,
        unauthenticated_per_source: AT_ONCE,
        ..Limits::default()
    }
}

async fn serve(tcp: TcpStream, look: &(dyn Fn(Question) -> bool + Send + Sync)) {
    let service = service_fn(|request: Request<Incoming>| {
        let answer = answer(&request, look);
        async move { Ok::<_, Infallible>(answer) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .keep_alive(false)
        .max_buf_size(LONGEST_HEAD)
        .max_headers(32)
        .serve_connection(TokioIo::new(tcp), service)
        .await;
    // What goes wrong on the way is the asker's affair, who asks again.
    drop(served);
}

fn answer<B>(
    request: &Request<B>,
    look: &(dyn Fn(Question) -> bool + Send + Sync),
) -> Response<Reply> {
    let question = match request.uri().path() {
        "/live" => Question::Live,
        "/ready" => Question::Ready,
        _ => return say(StatusCode::NOT_FOUND),
    };
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut refused = say(StatusCode::METHOD_NOT_ALLOWED);
        let allow = HeaderValue::from_static("GET, HEAD");
        refused.headers_mut().insert(header::ALLOW, allow);
        return refused;
    }
    match look(question) {
        true => say(StatusCode::OK),
        false => say(StatusCode::SERVICE_UNAVAILABLE),
    }
}

fn say(status: StatusCode) -> Response<Reply> {
    let text = if status == StatusCode::OK {
        "yes\n"
    } else {
        "no\n"
    };
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    let mut response = reply(status, kind, text);
    let fresh = HeaderValue::from_static("no-store");
    response.headers_mut().insert(header::CACHE_CONTROL, fresh);
    response
}

/// Connections that are served at once.
const AT_ONCE: usize = 32;
/// How long a connection may take in all.
pub const PATIENCE: Duration = Duration::from_secs(2);
const LONGEST_HEAD: usize = 8192;

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream as StdStream;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn loopback() -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 0))
    }

    /// What it says to these bytes; empty if it closes without a word.
    fn said(addr: SocketAddr, bytes: &[u8]) -> String {
        let mut stream = StdStream::connect(addr).unwrap();
        let patience = Some(PATIENCE * 3);
        stream.set_read_timeout(patience).unwrap();
        // It may have closed already.
        drop(stream.write_all(bytes));
        let mut text = Vec::new();
        drop(stream.read_to_end(&mut text));
        String::from_utf8(text).unwrap()
    }

    fn status(addr: SocketAddr, line: &str) -> String {
        let text = said(
            addr,
            format!("{line} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes(),
        );
        text.split(' ').nth(1).unwrap_or_default().to_owned()
    }

    fn ready_while(works: &Arc<AtomicBool>) -> Listener {
        let works = Arc::clone(works);
        let look = move |question| question == Question::Live || works.load(Ordering::SeqCst);
        listen(loopback(), Box::new(look)).unwrap()
    }

    #[test]
    fn it_answers_two_questions_and_says_nothing_more() {
        let works = Arc::new(AtomicBool::new(true));
        let listener = ready_while(&works);
        let addr = listener.local_addr();
        assert_eq!(status(addr, "GET /live"), "200");
        assert_eq!(status(addr, "GET /ready"), "200");
        works.store(false, Ordering::SeqCst);
        assert_eq!(status(addr, "GET /live"), "200");
        assert_eq!(status(addr, "GET /ready"), "503");
        let whole = said(addr, b"GET /ready HTTP/1.1\r\nhost: x\r\n\r\n");
        assert!(whole.ends_with("\r\n\r\nno\n"), "{whole}");
        let head = said(addr, b"HEAD /ready HTTP/1.1\r\nhost: x\r\n\r\n");
        assert!(head.ends_with("\r\n\r\n"), "{head}");
    }

    #[test]
    fn nothing_else_is_there() {
        let listener = ready_while(&Arc::new(AtomicBool::new(true)));
        let addr = listener.local_addr();
        for path in [
            "/",
            "/live/",
            "/LIVE",
            "/ready/x",
            "/metrics",
            "/v1/health",
            "//ready",
        ] {
            assert_eq!(status(addr, &format!("GET {path}")), "404", "{path}");
        }
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"] {
            assert_eq!(status(addr, &format!("{method} /ready")), "405", "{method}");
        }
        let long = format!(
            "GET /ready HTTP/1.1\r\nhost: {}\r\n\r\n",
            "x".repeat(20_000)
        );
        assert!(!said(addr, long.as_bytes()).contains(" 200 "));
        for bytes in [
            &b"\0\0\0\0"[..],
            b"\x16\x03\x01\x02\x00\x01",
            b"GET\r\n\r\n",
        ] {
            assert!(!said(addr, bytes).contains(" 200 "), "{bytes:?}");
        }
        assert_eq!(status(addr, "GET /ready"), "200");
    }

    #[test]
    fn those_who_say_nothing_are_put_out_and_the_next_is_answered() {
        let listener = ready_while(&Arc::new(AtomicBool::new(true)));
        let addr = listener.local_addr();
        let connect = |_| StdStream::connect(addr).unwrap();
        let silent: Vec<_> = (0..AT_ONCE).map(connect).collect();
        std::thread::sleep(PATIENCE + Duration::from_millis(500));
        assert_eq!(status(addr, "GET /ready"), "200");
        drop(silent);
    }

    #[test]
    fn silent_connections_keep_no_question_out() {
        let listener = ready_while(&Arc::new(AtomicBool::new(true)));
        let addr = listener.local_addr();
        for beginning in [&b""[..], b"GET /re"] {
            let mut held = Vec::new();
            for _ in 0..10 {
                for _ in 0..2 * AT_ONCE {
                    let mut stream = StdStream::connect(addr).unwrap();
                    // It may have been dropped already.
                    drop(stream.write_all(beginning));
                    held.push(stream);
                }
                assert_eq!(status(addr, "GET /ready"), "200");
            }
        }
    }

    #[test]
    fn an_address_that_others_can_reach_is_refused() {
        for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
            let refused = listen(address.parse().unwrap(), Box::new(|_| true));
            assert_eq!(
                refused.unwrap_err().kind(),
                io::ErrorKind::InvalidInput,
                "{address}"
            );
        }
    }

    #[test]
    fn dropped_it_gives_its_port_back() {
        let listener = ready_while(&Arc::new(AtomicBool::new(true)));
        let addr = listener.local_addr();
        assert!(
            listen(addr, Box::new(|_| true)).is_err(),
            "the port is taken"
        );
        drop(listener);
        drop(listen(addr, Box::new(|_| true)).unwrap());
    }
}
