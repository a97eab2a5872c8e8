//! Refused, unwelcome, stopping: how connections and servers end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use keywright_clock::Clock;
use keywright_server::transport::{Error, Handler, Limits, Settings, start};
use keywright_tls::Protocol;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;

use super::fixture::{BOTH, PKI, Seen, Server, eventually, run};

#[test]
fn a_connection_the_handler_refuses_is_closed_at_once_and_starts_no_request() {
    run(async {
        let server = Server::start(1, Limits::default());
        server.seen.door_open.store(false, Ordering::SeqCst);
        for protocol in BOTH {
            let mut stream = server.tls(PKI.client(protocol)).await;
            let _ = stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await;
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer).await;
            assert!(answer.is_empty());
        }
        assert_eq!(Seen::count(&server.seen.started), 0);
        eventually("no connections", || server.running.connections() == 0).await;
        server.end().await;
    });
}

#[test]
fn an_unwelcome_connection_ends_within_a_second_with_its_running_bodies() {
    run(async {
        let server = Server::start(2, Limits::default());
        // One body of each protocol that never ends, and one connection that does nothing.
        let mut http1 = server.tls(PKI.client(Protocol::Http1)).await;
        http1
            .write_all(b"POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 999999\r\n\r\nabc")
            .await
            .unwrap();
        let mut idle = server.tls(PKI.client(Protocol::Http1)).await;
        let stream = server.tls(PKI.client(Protocol::Http2)).await;
        let (mut client, connection) = h2::client::handshake(stream).await.unwrap();
        let http2 = tokio::spawn(connection);
        let request = http::Request::post("https://x/echo").body(()).unwrap();
        let (answer, mut body) = client.send_request(request, false).unwrap();
        body.send_data("abc".into(), false).unwrap();
        eventually("the bodies arrive", || {
            server.seen.at_once.load(Ordering::SeqCst) == 2
        })
        .await;

        server.seen.welcome.store(false, Ordering::SeqCst);
        let started = Instant::now();
        let mut sink = Vec::new();
        let _ = http1.read_to_end(&mut sink).await;
        let _ = idle.read_to_end(&mut sink).await;
        assert!(answer.await.is_err());
        let _ = http2.await;
        assert!(sink.is_empty());
        eventually("no requests", || {
            server.seen.at_once.load(Ordering::SeqCst) == 0
        })
        .await;
        assert!(
            started.elapsed() < Duration::from_secs(10),
            "{:?}",
            started.elapsed()
        );
        server.end().await;
    });
}

#[test]
fn a_port_in_use_is_named() {
    run(async {
        let server = Server::start(2, Limits::default());
        let taken = server.addr();
        let settings = Settings {
            listen: taken,
            threads: 2,
            tls: Arc::new(ArcSwap::new(PKI.server(&BOTH))),
            limits: Limits::default(),
            clock: Clock::system(),
        };
        let error = start(settings, |_| -> Never { unreachable!("no thread starts") }).unwrap_err();
        assert!(matches!(error, Error::PortInUse { addr } if addr == taken));
        assert_eq!(error.to_string(), format!("{taken} is already in use"));
        server.end().await;
    });
}

#[test]
fn a_handler_that_cannot_be_made_fails_the_start() {
    let settings = Settings {
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        threads: 2,
        tls: Arc::new(ArcSwap::new(PKI.server(&BOTH))),
        limits: Limits::default(),
        clock: Clock::system(),
    };
    let error = start(settings, |index| -> Never { panic!("on purpose, {index}") }).unwrap_err();
    assert!(matches!(error, Error::ThreadPanicked));
}

#[derive(Debug)]
enum Never {}

impl Handler for Never {
    type Connection = ();
    fn accept(
        &self,
        _: keywright_server::transport::Peer<'_>,
    ) -> Result<(), keywright_types::Code> {
        match *self {}
    }
    async fn respond(
        &self,
        (): &(),
        _: &http::request::Parts,
        _: &mut keywright_server::transport::Body,
    ) -> http::Response<keywright_server::transport::Reply> {
        match *self {}
    }
    fn abandoned(
        &self,
        (): &(),
        _: keywright_types::Code,
    ) -> http::Response<keywright_server::transport::Reply> {
        match *self {}
    }
    fn still_welcome(&self, (): &()) -> bool {
        match *self {}
    }
    fn handshake_refused(&self, _: SocketAddr, _: keywright_types::Code) {
        match *self {}
    }
}

/// Sends requests one after the other until one fails; says how many were answered.
async fn hammer(mut client: super::fixture::Client, stopped: Arc<AtomicBool>) -> u64 {
    let mut answered = 0;
    loop {
        match client.send("POST", "/echo", "x").await {
            Ok((status, _, body)) => {
                assert_eq!((status.as_u16(), &body[..]), (200, &b"x"[..]));
                answered += 1;
            }
            Err(error) => {
                assert!(stopped.load(Ordering::SeqCst), "before the stop: {error}");
                return answered;
            }
        }
    }
}

#[test]
fn a_stop_under_load_answers_every_request_that_began() {
    run(async {
        for _ in 0..3 {
            let server = Server::start(2, Limits::default());
            let stopped = Arc::new(AtomicBool::new(false));
            let mut tasks = Vec::new();
            for protocol in BOTH {
                for _ in 0..4 {
                    let client = server.client(protocol).await;
                    let streams = if protocol == Protocol::Http2 { 8 } else { 0 };
                    for _ in 0..streams {
                        tasks.push(tokio::spawn(hammer(client.another(), Arc::clone(&stopped))));
                    }
                    tasks.push(tokio::spawn(hammer(client, Arc::clone(&stopped))));
                }
            }
            tokio::time::sleep(Duration::from_millis(300)).await;
            stopped.store(true, Ordering::SeqCst);
            server.running.stop();
            let mut answered = 0;
            for task in tasks {
                answered += task.await.unwrap();
            }
            let seen = Arc::clone(&server.seen);
            assert_eq!(server.end().await, 0, "nothing was cut");
            assert!(answered > 0);
            assert_eq!(answered, Seen::count(&seen.started));
            assert_eq!(answered, Seen::count(&seen.finished));
        }
    });
}

#[test]
fn a_stop_ends_idle_connections_at_once_and_waits_for_running_requests() {
    run(async {
        let server = Server::start(2, Limits::default());
        let mut idle = Vec::new();
        for protocol in BOTH {
            let mut client = server.client(protocol).await;
            client.send("GET", "/empty", "").await.unwrap();
            idle.push(client);
            idle.push(server.client(protocol).await);
        }
        let mut busy = Vec::new();
        for protocol in BOTH {
            let mut client = server.client(protocol).await;
            busy.push(tokio::spawn(async move {
                client.send("GET", "/slow", "").await
            }));
        }
        eventually("both run", || {
            server.seen.at_once.load(Ordering::SeqCst) == 2
        })
        .await;
        let addr = server.addr();
        server.running.stop();
        for task in busy {
            assert_eq!(task.await.unwrap().unwrap().0.as_u16(), 200);
        }
        let started = Instant::now();
        assert_eq!(server.end().await, 0);
        // Those that wait for nothing would be given twenty seconds.
        assert!(started.elapsed() < Duration::from_secs(10));
        assert!(tokio::net::TcpStream::connect(addr).await.is_err());
    });
}

#[test]
fn what_does_not_finish_in_the_drain_timeout_is_cut_and_counted() {
    run(async {
        let limits = Limits {
            drain_timeout: Duration::from_millis(400),
            ..Limits::default()
        };
        let server = Server::start(1, limits);
        let mut client = server.client(Protocol::Http2).await;
        let hanging = tokio::spawn(async move { client.send("GET", "/hang", "").await });
        eventually("it runs", || {
            server.seen.at_once.load(Ordering::SeqCst) == 1
        })
        .await;
        let started = Instant::now();
        server.running.stop();
        assert!(hanging.await.unwrap().is_err());
        let took = started.elapsed();
        assert!(
            took >= Duration::from_millis(400) && took < Duration::from_secs(10),
            "{took:?}"
        );
        assert_eq!(server.end().await, 1);
    });
}

#[test]
fn dropping_the_handle_stops_the_server() {
    run(async {
        let server = Server::start(2, Limits::default());
        let (addr, seen) = (server.addr(), Arc::clone(&server.seen));
        let mut client = server.client(Protocol::Http2).await;
        client.send("GET", "/empty", "").await.unwrap();
        drop(server);
        eventually("the connection is closed", || {
            Seen::count(&seen.closed) == 1
        })
        .await;
        let mut refused = false;
        for _ in 0..100 {
            refused |= tokio::net::TcpStream::connect(addr).await.is_err();
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(refused);
    });
}
