//! Sockets, TLS and HTTP of the stand-in.

use std::convert::Infallible;
use std::net::TcpListener as Bound;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use keywright_tls::{Protocol, ServerConfig};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

use super::answer::Answer;
use super::state::{Asked, State};

/// Bytes in the longest request.
const LONGEST: usize = 1 << 20;
/// How long a handshake may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// A thread that serves until it is told to stop, or until nobody is left who could tell it.
pub(super) fn spawn(
    listener: Bound,
    tls: Arc<ServerConfig>,
    state: Arc<Mutex<State>>,
    stopped: oneshot::Receiver<()>,
) -> std::io::Result<JoinHandle<()>> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let thread = std::thread::Builder::new().name("stand-in".to_owned());
    thread.spawn(move || {
        runtime.block_on(async {
            let accepting = tokio::spawn(accept(listener, TlsAcceptor::from(tls), state));
            let _ = stopped.await;
            accepting.abort();
        });
        // With it end the connections that are open.
        drop(runtime);
    })
}

async fn accept(listener: Bound, tls: TlsAcceptor, state: Arc<Mutex<State>>) {
    let Ok(listener) = TcpListener::from_std(listener) else {
        return;
    };
    loop {
        match listener.accept().await {
            Ok((tcp, _)) => {
                tokio::spawn(connection(tcp, tls.clone(), Arc::clone(&state)));
            }
            // Out of file descriptors, or a client that was gone at once.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

async fn connection(tcp: TcpStream, tls: TlsAcceptor, state: Arc<Mutex<State>>) {
    // A socket that refuses the option only gets slower.
    let _ = tcp.set_nodelay(true);
    let Ok(Ok(stream)) = tokio::time::timeout(PATIENCE, tls.accept(tcp)).await else {
        return;
    };
    let protocol = Protocol::negotiated(stream.get_ref().1.alpn_protocol());
    let service = service_fn(move |request| respond(request, Arc::clone(&state)));
    let io = TokioIo::new(stream);
    // How a connection ended is of no interest here; the client tells its own story.
    match protocol {
        Some(Protocol::Http2) => {
            let mut builder = http2::Builder::new(TokioExecutor::new());
            builder.max_concurrent_streams(250);
            let _ = builder.serve_connection(io, service).await;
        }
        _ => {
            let _ = http1::Builder::new().serve_connection(io, service).await;
        }
    }
}

async fn respond(
    request: Request<Incoming>,
    state: Arc<Mutex<State>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let Ok(body) = Limited::new(body, LONGEST).collect().await else {
        return Ok(response(&Answer::refused(
            StatusCode::BAD_REQUEST,
            "the body is too long",
        )));
    };
    let body = body.to_bytes();
    let token = head.headers.get("x-vault-token");
    let asked = Asked {
        method: &head.method,
        path: head.uri.path(),
        query: head.uri.query().unwrap_or_default(),
        token: token.map_or(&[], HeaderValue::as_bytes),
        body: &body,
    };
    // Nothing in there waits.
    let answer = state
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .answer(&asked);
    Ok(response(&answer))
}

fn response(answer: &Answer) -> Response<Full<Bytes>> {
    let body = match answer.body() {
        serde_json::Value::Null => Bytes::new(),
        body => Bytes::from(body.to_string()),
    };
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = answer.status();
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}
