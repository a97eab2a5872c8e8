//! Accepting, the protocols, and stopping.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

use super::connection::{Impatient, Place, Places};
use super::feed;
use super::routes::Site;

/// Connections that have come but are not accepted yet.
const BACKLOG: u32 = 64;
/// Bytes the system keeps for a client that does not read: little, so that it is noticed soon.
const SEND_BUFFER: u32 = 64 << 10;
/// Connections beyond the limit that are told so at the same time; further ones are dropped.
const TOLD: usize = 8;
/// Most bytes of a request's head.
const HEAD: usize = 16 << 10;
/// Most header fields of a request.
const FIELDS: usize = 64;

/// Binds the address.
pub(super) fn listen(addr: SocketAddr) -> io::Result<TcpListener> {
    let socket = match addr {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // Connections of an earlier run that linger do not hold the port.
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.bind(addr)?;
    socket.listen(BACKLOG)
}

/// Serves until told to stop.
pub(super) async fn serve(listener: TcpListener, tls: Option<Arc<ServerConfig>>, site: Site) {
    let site = Arc::new(site);
    let mut stop = site.stop.clone();
    let publisher = feed::publish(&site.live, site.limits.frame_every, &site.events);
    let mut connections = JoinSet::new();
    let serving = accept(&listener, tls, &site, &mut connections);
    tokio::select! {
        biased;
        () = asked(&mut stop) => {}
        () = serving => {}
        () = publisher => {}
    }
    drop(listener);
    let drained = async { while connections.join_next().await.is_some() {} };
    // What is not done by then is cut with the set.
    drop(timeout(site.limits.drain, drained).await);
}

async fn accept(
    listener: &TcpListener,
    tls: Option<Arc<ServerConfig>>,
    site: &Arc<Site>,
    connections: &mut JoinSet<()>,
) {
    let acceptor = tls.map(TlsAcceptor::from);
    let (places, told) = (Places::new(site.limits.connections), Places::new(TOLD));
    loop {
        let Ok((tcp, _)) = listener.accept().await else {
            // Out of file descriptors: at once again would only burn the processor.
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        // Events are small and should arrive when they happen.
        drop(tcp.set_nodelay(true));
        match places.take() {
            Some(place) => {
                let (site, acceptor) = (Arc::clone(site), acceptor.clone());
                connections.spawn(connection(tcp, acceptor, site, place));
            }
            None => {
                if let (None, Some(place)) = (&acceptor, told.take()) {
                    connections.spawn(turn_away(tcp, site.limits.head, place));
                }
            }
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn connection(tcp: TcpStream, tls: Option<TlsAcceptor>, site: Arc<Site>, _place: Place) {
    let limits = &site.limits;
    match tls {
        None => exchange(Impatient::new(tcp, limits.stall), &site).await,
        Some(tls) => {
            let shaken = timeout(limits.head, tls.accept(tcp)).await;
            // A handshake that fails has told the client why.
            if let Ok(Ok(stream)) = shaken {
                exchange(Impatient::new(stream, limits.stall), &site).await;
            }
        }
    }
}

async fn exchange<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(stream: S, site: &Arc<Site>) {
    let mut stop = site.stop.clone();
    let answering = Arc::clone(site);
    let service = service_fn(move |request| {
        let site = Arc::clone(&answering);
        async move { Ok::<_, std::convert::Infallible>(site.answer(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(site.limits.head)
        .max_headers(FIELDS)
        .max_buf_size(HEAD)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    // Errors of a connection are the client's: it went away, was too slow or broke the protocol.
    tokio::select! {
        biased;
        () = asked(&mut stop) => {
            connection.as_mut().graceful_shutdown();
            drop(connection.await);
        }
        _ = connection.as_mut() => {}
    }
}

/// Resolves once the server is to stop. A sender that is gone is an owner that is gone.
async fn asked(stop: &mut watch::Receiver<bool>) {
    drop(stop.wait_for(|stop| *stop).await);
}

/// Tells a client that there is no place, and waits a little until it has read so.
async fn turn_away(mut tcp: TcpStream, patience: Duration, _place: Place) {
    const ANSWER: &[u8] =
        b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 5\r\n\
        content-type: text/plain; charset=utf-8\r\nx-content-type-options: nosniff\r\n\
        cache-control: no-store\r\ncontent-length: 17\r\n\r\ntoo many clients\n";
    let farewell = async {
        // The request is read first: closing with unread bytes would reset the answer away.
        let mut request = [0; 4096];
        let _ = tcp.read(&mut request).await?;
        tcp.write_all(ANSWER).await?;
        tcp.shutdown().await?;
        while tcp.read(&mut request).await? > 0 {}
        io::Result::Ok(())
    };
    drop(timeout(patience, farewell).await);
}
