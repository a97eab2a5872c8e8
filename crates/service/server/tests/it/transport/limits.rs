//! Too large, too many, too slow: answered or cut, in time.

use std::time::Duration;

use http::StatusCode;
use keywright_clock::Clock;
use keywright_network::ca::TestAuthority;
use keywright_server::transport::{Limits, SWEEP};
use keywright_tls::Protocol;
use keywright_types::Code;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::fixture::{BOTH, PKI, Seen, Server, eventually, run};

const SHORT: Duration = Duration::from_millis(500);

/// How late a limit may be noticed: two sweeps, and what a busy machine adds. Less than the limit that holds where none
/// is set.
fn late(limit: Duration) -> Duration {
    limit + 3 * SWEEP + Duration::from_secs(3)
}

/// Writes a byte every 50 ms until the server ends the connection, and says how long that took.
async fn drip(mut stream: impl AsyncReadExt + AsyncWriteExt + Unpin, bytes: &[u8]) -> Duration {
    let started = Instant::now();
    let mut answer = [0; 1024];
    for byte in bytes.iter().cycle() {
        if stream.write_all(&[*byte]).await.is_err() || stream.flush().await.is_err() {
            break;
        }
        let read = tokio::time::timeout(Duration::from_millis(50), stream.read(&mut answer)).await;
        if matches!(read, Ok(Ok(0) | Err(_))) {
            break;
        }
    }
    started.elapsed()
}

#[test]
fn a_dripping_head_is_cut_in_time_over_both_protocols() {
    run(async {
        let limits = Limits {
            header_timeout: SHORT,
            ..Limits::default()
        };
        let server = Server::start(1, limits);
        let http1 = server.tls(PKI.client(Protocol::Http1)).await;
        let no_preface = server.tls(PKI.client(Protocol::Http2)).await;
        let mut no_end = server.tls(PKI.client(Protocol::Http2)).await;
        // Preface, empty SETTINGS, and HEADERS of one byte without END_HEADERS; then CONTINUATION
        // frames of one byte each, for ever.
        no_end
            .write_all(
                b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0\x01\x01\0\0\0\0\x01\x82",
            )
            .await
            .unwrap();
        let (a, b, c) = tokio::join!(
            drip(http1, b"GET / HTTP/1.1\r\nx: y"),
            drip(no_preface, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
            drip(no_end, b"\0\0\x01\x09\0\0\0\0\x01\x84"),
        );
        for took in [a, b, c] {
            assert!(took >= SHORT && took <= late(SHORT), "{a:?} {b:?} {c:?}");
        }
        server.end().await;
    });
}

#[test]
fn a_dripping_body_is_answered_408_in_time_over_both_protocols() {
    run(async {
        let limits = Limits {
            body_timeout: SHORT,
            ..Limits::default()
        };
        let server = Server::start(1, limits);
        let started = Instant::now();
        let mut stream = server.tls(PKI.client(Protocol::Http1)).await;
        stream
            .write_all(b"POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\nabc")
            .await
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
        assert!(answer.ends_with("request_timeout"), "{answer}");
        assert!(started.elapsed() >= SHORT && started.elapsed() <= late(SHORT));

        let started = Instant::now();
        let stream = server.tls(PKI.client(Protocol::Http2)).await;
        let (mut client, connection) = h2::client::handshake(stream).await.unwrap();
        tokio::spawn(connection);
        let request = http::Request::post("https://localhost/echo")
            .body(())
            .unwrap();
        let (answer, mut body) = client.send_request(request, false).unwrap();
        body.send_data(bytes::Bytes::from_static(b"abc"), false)
            .unwrap();
        assert_eq!(answer.await.unwrap().status(), StatusCode::REQUEST_TIMEOUT);
        assert!(started.elapsed() >= SHORT && started.elapsed() <= late(SHORT));
        server.end().await;
    });
}

#[test]
fn a_body_of_one_byte_too_many_is_answered_413_and_the_exact_size_is_taken() {
    run(async {
        let limits = Limits {
            body_bytes: 100_000,
            ..Limits::default()
        };
        let server = Server::start(1, limits);
        for protocol in BOTH {
            let mut client = server.client(protocol).await;
            let (status, _, body) = client
                .send("POST", "/echo", vec![1; 100_000])
                .await
                .unwrap();
            assert_eq!((status, body.len()), (StatusCode::OK, 100_000));
            let (status, _, body) = client
                .send("POST", "/echo", vec![1; 100_001])
                .await
                .unwrap();
            assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
            assert_eq!(&body[..], b"body_too_large");
        }
        server.end().await;
    });
}

#[test]
fn an_oversized_body_of_unannounced_length_is_answered_413_while_it_is_being_sent() {
    run(async {
        let limits = Limits {
            body_bytes: 100_000,
            ..Limits::default()
        };
        let server = Server::start(1, limits);
        let mut stream = server.tls(PKI.client(Protocol::Http1)).await;
        let head = b"POST /echo HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n";
        stream.write_all(head).await.unwrap();
        let (mut read, mut write) = tokio::io::split(stream);
        let chunk = format!("4000\r\n{}\r\n", "x".repeat(0x4000));
        let sending = tokio::spawn(async move {
            while write.write_all(chunk.as_bytes()).await.is_ok() && write.flush().await.is_ok() {}
        });
        let mut head = [0; 12];
        read.read_exact(&mut head).await.unwrap();
        assert_eq!(&head, b"HTTP/1.1 413");
        let mut rest = Vec::new();
        let _ = read.read_to_end(&mut rest).await;
        assert!(rest.ends_with(b"body_too_large"));
        sending.await.unwrap();
        server.end().await;
    });
}

#[test]
fn an_oversized_head_is_refused_over_both_protocols_before_the_handler() {
    run(async {
        let limits = Limits {
            header_bytes: 8192,
            ..Limits::default()
        };
        let server = Server::start(1, limits);
        for protocol in BOTH {
            let mut client = server.client(protocol).await;
            let path = format!("/{}", "x".repeat(20_000));
            // Over HTTP/2 the library may answer 431 or refuse the stream.
            if let Ok((status, _, _)) = client.send("GET", &path, "").await {
                let too_large = [
                    StatusCode::URI_TOO_LONG,
                    StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                ];
                assert!(too_large.contains(&status), "{status}");
            }
        }
        assert_eq!(Seen::count(&server.seen.started), 0);
        server.end().await;
    });
}

#[test]
fn a_request_that_takes_too_long_is_abandoned_with_an_answer() {
    run(async {
        let limits = Limits {
            request_timeout: SHORT,
            ..Limits::default()
        };
        let server = Server::start(1, limits);
        for protocol in BOTH {
            let mut client = server.client(protocol).await;
            let started = Instant::now();
            let (status, _, body) = client.send("GET", "/hang", "").await.unwrap();
            assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
            assert_eq!(&body[..], b"deadline_exceeded");
            assert!(started.elapsed() >= SHORT && started.elapsed() <= late(SHORT));
            client.send("GET", "/empty", "").await.unwrap();
        }
        assert_eq!(server.seen.abandonments(), [Code::DeadlineExceeded; 2]);
        server.end().await;
    });
}

#[test]
fn one_connection_too_many_is_closed_at_once_and_a_place_is_free_again_later() {
    run(async {
        let limits = Limits {
            connections: 2,
            ..Limits::default()
        };
        let server = Server::start(2, limits);
        let mut first = server.client(Protocol::Http2).await;
        let mut second = server.client(Protocol::Http1).await;
        // Their answers show that their handshakes are over for the server, too.
        for client in [&mut first, &mut second] {
            client.send("GET", "/empty", "").await.unwrap();
        }
        // The reset may be there before the client knows that it is connected.
        if let Ok(mut third) = TcpStream::connect(server.addr()).await {
            assert!(ends_within(PATIENCE, &mut third).await);
        }
        eventually("it is counted", || !server.seen.refusals().is_empty()).await;
        assert_eq!(server.seen.refusals(), [Code::Overloaded]);
        first.send("GET", "/empty", "").await.unwrap();
        drop(second);
        eventually("a free place", || server.running.connections() == 1).await;
        let mut third = server.client(Protocol::Http2).await;
        third.send("GET", "/empty", "").await.unwrap();
        server.end().await;
    });
}

fn unauthenticated(all: usize, per_source: usize, timeout: Duration) -> Limits {
    Limits {
        unauthenticated_connections: all,
        unauthenticated_per_source: per_source,
        handshake_timeout: timeout,
        ..Limits::default()
    }
}

/// A connection from another address of loopback.
async fn connect_from(server: &Server, address: [u8; 4]) -> std::io::Result<TcpStream> {
    let socket = tokio::net::TcpSocket::new_v4()?;
    socket.bind((address, 0).into())?;
    socket.connect(server.addr()).await
}

/// For as long as a busy machine may take.
const PATIENCE: Duration = Duration::from_secs(10);

async fn ends_within(time: Duration, tcp: &mut TcpStream) -> bool {
    let mut bytes = [0; 4096];
    loop {
        match tokio::time::timeout(time, tcp.read(&mut bytes)).await {
            Ok(Ok(0) | Err(_)) => return true,
            Ok(Ok(_)) => {}
            Err(_) => return false,
        }
    }
}

#[test]
fn silent_connection_beyond_the_limit_drops_the_oldest() {
    run(async {
        let server = Server::start(1, unauthenticated(3, 3, 4 * SHORT));
        let mut established = server.client(Protocol::Http2).await;
        // Its answer shows that its own handshake is over for the server, too.
        established.send("GET", "/empty", "").await.unwrap();
        let started = Instant::now();
        let mut silent = Vec::new();
        for count in 2..=4 {
            silent.push(TcpStream::connect(server.addr()).await.unwrap());
            eventually("it is in", || server.running.connections() == count).await;
        }
        silent.push(TcpStream::connect(server.addr()).await.unwrap());
        assert!(ends_within(PATIENCE, &mut silent[0]).await);
        established.send("GET", "/empty", "").await.unwrap();
        for tcp in &mut silent[1..] {
            assert!(matches!(tcp.read(&mut [0; 1]).await, Ok(0) | Err(_)));
        }
        let took = started.elapsed();
        assert!(took >= 4 * SHORT && took <= late(4 * SHORT), "{took:?}");
        let expected = [
            Code::Overloaded,
            Code::RequestTimeout,
            Code::RequestTimeout,
            Code::RequestTimeout,
        ];
        // The socket closes a moment before the refusal is counted.
        eventually("all are counted", || {
            let mut codes = server.seen.refusals();
            codes.sort();
            codes == expected
        })
        .await;
        let mut client = server.client(Protocol::Http1).await;
        client.send("GET", "/empty", "").await.unwrap();
        server.end().await;
    });
}

/// What a connection sends before it falls silent, by how far that gets it.
fn beginnings() -> [Vec<u8>; 3] {
    let name = "localhost".try_into().unwrap();
    let mut hello = Vec::new();
    rustls::ClientConnection::new(PKI.client(Protocol::Http2), name)
        .unwrap()
        .write_tls(&mut hello)
        .unwrap();
    [Vec::new(), hello[..hello.len() / 2].to_vec(), hello]
}

#[test]
fn client_gets_in_at_once_among_connections_that_fell_silent() {
    run(async {
        for beginning in beginnings() {
            let server = Server::start(1, unauthenticated(8, 4, Duration::from_secs(30)));
            let mut held = Vec::new();
            for count in 1..=4 {
                let mut tcp = TcpStream::connect(server.addr()).await.unwrap();
                tcp.write_all(&beginning).await.unwrap();
                eventually("it is in", || server.running.connections() == count).await;
                held.push(tcp);
            }
            // More clients of the same source than it has places, one after the other.
            let mut clients = Vec::new();
            for _ in 0..8 {
                let mut client = server.client(Protocol::Http2).await;
                client.send("GET", "/empty", "").await.unwrap();
                clients.push(client);
            }
            let codes = server.seen.refusals();
            assert!(!codes.is_empty() && codes.len() <= 4, "{codes:?}");
            assert!(codes.iter().all(|code| *code == Code::Overloaded));
            drop((held, clients));
            server.end().await;
        }
    });
}

#[test]
fn one_source_cannot_take_the_places_of_another() {
    run(async {
        for beginning in beginnings() {
            let server = Server::start(2, unauthenticated(8, 4, Duration::from_secs(30)));
            let mut slow = Vec::new();
            for _ in 0..2 {
                slow.push(connect_from(&server, [127, 0, 0, 3]).await.unwrap());
            }
            eventually("both are in", || server.running.connections() == 2).await;
            let mut many = Vec::new();
            for _ in 0..64 {
                // It may be dropped before all of this is done.
                if let Ok(mut tcp) = connect_from(&server, [127, 0, 0, 2]).await {
                    drop(tcp.write_all(&beginning).await);
                    many.push(tcp);
                }
            }
            // Each of two threads may go beyond by one.
            let at_most = || (58..=60).contains(&server.seen.refusals().len());
            eventually("those beyond the share are dropped", at_most).await;
            assert!(server.running.connections() <= 2 + 4 + 2);
            for tcp in &mut slow {
                assert!(!ends_within(SHORT, tcp).await);
            }
            drop((slow, many));
            server.end().await;
        }
    });
}

#[test]
fn many_sources_share_the_places_of_all() {
    run(async {
        let server = Server::start(1, unauthenticated(8, 4, Duration::from_secs(30)));
        let mut many = Vec::new();
        for host in 10..74 {
            many.push(connect_from(&server, [127, 0, 1, host]).await);
        }
        eventually("those beyond the limit are dropped", || {
            server.seen.refusals().len() == 56
        })
        .await;
        assert_eq!(server.running.connections(), 8);
        let mut client = server.client(Protocol::Http2).await;
        client.send("GET", "/empty", "").await.unwrap();
        drop(many);
        server.end().await;
    });
}

#[test]
fn refused_handshake_that_lingers_goes_first() {
    run(async {
        let server = Server::start(1, unauthenticated(3, 3, Duration::from_secs(30)));
        let mut silent = Vec::new();
        for count in 1..=2 {
            silent.push(TcpStream::connect(server.addr()).await.unwrap());
            eventually("it is in", || server.running.connections() == count).await;
        }
        // Each is told that it is wrong, and does not go.
        let mut wrong = Vec::new();
        for count in 1..=10 {
            let mut tcp = TcpStream::connect(server.addr()).await.unwrap();
            tcp.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
            wrong.push(tcp);
            let counted = || server.seen.refusals() == vec![Code::HandshakeFailed; count];
            eventually("it is counted as what it is", counted).await;
        }
        for tcp in &mut silent {
            assert!(!ends_within(SHORT, tcp).await);
        }
        drop((silent, wrong));
        server.end().await;
    });
}

#[test]
fn bodies_and_answers_are_taken_while_there_is_room_for_them() {
    run(async {
        let limits = Limits {
            body_bytes: 100_000,
            connection_bytes: 400_000,
            window_bytes: 1 << 20,
            ..Limits::default()
        };
        let server = Server::start(1, limits);
        let stream = server.tls(PKI.client(Protocol::Http2)).await;
        // Nobody makes room for any answer.
        let (mut client, connection) = h2::client::Builder::new()
            .initial_window_size(0)
            .handshake::<_, bytes::Bytes>(stream)
            .await
            .unwrap();
        tokio::spawn(connection);
        let mut codes = Vec::new();
        let mut answers = Vec::new();
        for _ in 0..12 {
            let request = http::Request::post("https://localhost/echo")
                .body(())
                .unwrap();
            client = client.ready().await.unwrap();
            let (answer, mut body) = client.send_request(request, false).unwrap();
            body.send_data(vec![1; 90_000].into(), true).unwrap();
            let answer = answer.await.unwrap();
            codes.push(answer.status().as_u16());
            answers.push(answer);
        }
        let taken = codes.iter().filter(|code| **code == 200).count();
        assert!((2..=4).contains(&taken), "{codes:?}");
        assert_eq!(codes[..taken], vec![200; taken]);
        // Whoever fetches what is there has room again.
        drop(answers);
        let mut beside = server.client(Protocol::Http2).await;
        let (status, _, body) = beside.send("POST", "/echo", vec![1; 90_000]).await.unwrap();
        assert_eq!((status, body.len()), (StatusCode::OK, 90_000));
        eventually("room again", || {
            server
                .seen
                .at_once
                .load(std::sync::atomic::Ordering::SeqCst)
                == 0
        })
        .await;
        let request = http::Request::post("https://localhost/echo")
            .body(())
            .unwrap();
        client = client.ready().await.unwrap();
        let (answer, mut body) = client.send_request(request, false).unwrap();
        body.send_data(vec![1; 90_000].into(), true).unwrap();
        assert_eq!(answer.await.unwrap().status(), StatusCode::OK);
        server.end().await;
    });
}

#[test]
fn an_idle_connection_is_ended_politely() {
    run(async {
        let limits = Limits {
            idle_timeout: SHORT,
            ..Limits::default()
        };
        let server = Server::start(1, limits);
        for protocol in BOTH {
            let mut client = server.client(protocol).await;
            // A request that takes longer than the idle timeout allows is not idleness.
            client.send("GET", "/slow", "").await.unwrap();
            client.send("GET", "/slow", "").await.unwrap();
            let connections = || server.running.connections();
            assert_eq!(connections(), 1);
            let started = Instant::now();
            eventually("the end of the connection", || connections() == 0).await;
            assert!(
                started.elapsed() >= SHORT - SWEEP,
                "{:?}",
                started.elapsed()
            );
            assert!(client.send("GET", "/empty", "").await.is_err());
        }
        server.end().await;
    });
}

#[test]
fn a_client_that_is_not_trusted_is_told_by_an_alert_and_counted() {
    use rustls::AlertDescription as Alert;
    run(async {
        let server = Server::start(1, Limits::default());
        let (authority, stranger) = (&PKI.authority, Clock::system().wall());
        let stranger = TestAuthority::named("Other CA", stranger).trading();
        let expired = authority.expired();
        let cases = [
            (None, Code::CertificateMissing, Alert::CertificateRequired),
            (
                Some(&stranger),
                Code::CertificateUntrusted,
                Alert::UnknownCA,
            ),
            (
                Some(&expired),
                Code::CertificateExpired,
                Alert::CertificateExpired,
            ),
            (
                Some(authority.revoked()),
                Code::CertificateRevoked,
                Alert::CertificateRevoked,
            ),
        ];
        let mut expected = Vec::new();
        for (issued, code, alert) in cases {
            for protocol in BOTH {
                // In TLS 1.3 the client is done before the server has seen its certificate.
                let mut stream = server.tls(PKI.client_with(issued, protocol)).await;
                let _ = stream.write_all(&[b'x'; 30_000]).await;
                let error = stream.read(&mut [0; 1]).await.unwrap_err();
                let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
                assert_eq!(inner, Some(&rustls::Error::AlertReceived(alert)), "{error}");
                expected.push(code);
            }
        }
        eventually("all are counted", || server.seen.refusals() == expected).await;
        assert_eq!(Seen::count(&server.seen.accepted), 0);
        server.end().await;
    });
}
