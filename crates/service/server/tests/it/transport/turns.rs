//! Requests that are read together are begun together, and answered by one flush.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use http::request::Parts;
use http::{Response, StatusCode};
use keywright_clock::Clock;
use keywright_network::frames::{END_STREAM, PREFACE, frame, kind, request, settings};
use keywright_server::transport::group::GroupFlush;
use keywright_server::transport::{
    Body, Handler, Limits, Peer, Reply, Running, Settings, empty, json, read_body, start,
};
use keywright_tls::Protocol;
use keywright_types::Code;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::answers::kinds;
use super::fixture::{PKI, run};

/// Answers with the body, once the group was flushed.
struct Grouped {
    group: GroupFlush,
    looks: Arc<AtomicU64>,
}

impl Handler for Grouped {
    type Connection = ();

    fn accept(&self, _: Peer<'_>) -> Result<(), Code> {
        Ok(())
    }

    async fn respond(&self, (): &(), _: &Parts, body: &mut Body) -> Response<Reply> {
        let mut work = pin!(async {
            let limits = Limits::default();
            let read = read_body(body, limits.body_bytes, limits.body_timeout).await;
            self.group.join().await.unwrap();
            json(StatusCode::OK, read.unwrap())
        });
        std::future::poll_fn(|cx| {
            self.looks.fetch_add(1, Ordering::SeqCst);
            work.as_mut().poll(cx)
        })
        .await
    }

    fn abandoned(&self, (): &(), _: Code) -> Response<Reply> {
        empty(StatusCode::SERVICE_UNAVAILABLE)
    }

    fn still_welcome(&self, (): &()) -> bool {
        true
    }

    fn handshake_refused(&self, _: SocketAddr, _: Code) {}
}

/// A server, how often requests were looked at, and how often it flushed.
fn grouped() -> (Running, Arc<AtomicU64>, Arc<AtomicU64>) {
    let (looks, flushes) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
    let settings = Settings {
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        threads: 1,
        tls: Arc::new(ArcSwap::new(PKI.server(&[Protocol::Http2]))),
        limits: Limits::default(),
        clock: Clock::system(),
    };
    let counts = (Arc::clone(&looks), Arc::clone(&flushes));
    let running = start(settings, move |_| {
        let (looks, flushes) = (Arc::clone(&counts.0), Arc::clone(&counts.1));
        let flush = move || {
            flushes.fetch_add(1, Ordering::SeqCst);
            true
        };
        Grouped {
            group: GroupFlush::new(flush),
            looks,
        }
    });
    (running.unwrap(), looks, flushes)
}

#[test]
fn requests_of_one_record_are_looked_at_twice_and_share_a_flush() {
    const REQUESTS: u32 = 50;
    run(async {
        let (running, looks, flushes) = grouped();
        let tcp = TcpStream::connect(running.local_addr()).await.unwrap();
        let connector = TlsConnector::from(PKI.client(Protocol::Http2));
        let name = "localhost".try_into().unwrap();
        let mut stream = connector.connect(name, tcp).await.unwrap();
        stream.write_all(PREFACE).await.unwrap();
        stream.write_all(&settings(&[])).await.unwrap();
        let asked: Vec<u8> = (0..REQUESTS)
            .flat_map(|number| {
                let stream = 2 * number + 1;
                let head = request(stream, ("POST", "/"), 0, &[]);
                [head, frame(kind::DATA, END_STREAM, stream, b"small")].concat()
            })
            .collect();
        // One record of TLS, which is read as a whole.
        assert!(asked.len() < 1 << 14);
        stream.write_all(&asked).await.unwrap();
        let mut answered = 0;
        kinds(&mut stream, |kind| {
            answered += u32::from(kind == kind::HEADERS);
            answered < REQUESTS
        })
        .await;
        let count = |of: &AtomicU64| of.load(Ordering::SeqCst);
        // Each once as it is read and once for its answer; a machine that stands still for a millisecond leaves some to
        // their tasks.
        assert_eq!(count(&looks), u64::from(2 * REQUESTS));
        assert!(count(&flushes) <= 3, "{}", count(&flushes));
        drop(stream);
        running.stop();
        tokio::task::spawn_blocking(move || running.join())
            .await
            .unwrap()
            .unwrap();
    });
}
