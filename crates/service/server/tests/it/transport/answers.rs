//! Both protocols give the same answers, one at a time and a thousand at once.

use std::sync::atomic::Ordering;

use http::StatusCode;
use keywright_network::frames::{END_STREAM, PREFACE, frame, kind, request, settings};
use keywright_server::transport::Limits;
use keywright_tls::Protocol;
use keywright_types::Code;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::fixture::{BOTH, PKI, Seen, Server, eventually, run};

#[test]
fn both_protocols_give_the_same_answers() {
    run(async {
        let server = Server::start(2, Limits::default());
        let mut answers = Vec::new();
        for protocol in BOTH {
            let mut client = server.client(protocol).await;
            let mut all = Vec::new();
            for (method, path, body) in [
                ("POST", "/echo", vec![]),
                ("POST", "/echo", b"{\"a\":1}".to_vec()),
                ("POST", "/echo", vec![b'x'; 1 << 20]),
                ("GET", "/empty", vec![]),
                ("GET", "/nowhere", vec![]),
                ("DELETE", "/echo", vec![]),
                ("GET", "/panic", vec![]),
                ("POST", "/echo", b"still alive".to_vec()),
            ] {
                let (status, mut headers, body) = client.send(method, path, body).await.unwrap();
                assert!(headers.remove("date").is_some());
                // HTTP/1.1 frames an empty answer by saying so; HTTP/2 ends the stream.
                headers.remove("content-length");
                all.push((status, headers, body));
            }
            answers.push(all);
        }
        assert_eq!(answers[0], answers[1]);
        let statuses: Vec<u16> = answers[0].iter().map(|answer| answer.0.as_u16()).collect();
        assert_eq!(statuses, [200, 200, 200, 204, 404, 404, 503, 200]);
        assert_eq!(answers[0][1].1["content-type"], "application/json");
        assert_eq!(server.seen.abandonments(), [Code::Internal, Code::Internal]);
        server.end().await;
    });
}

#[test]
fn a_thousand_requests_of_one_connection_are_answered_as_many_at_once_as_it_may_have_streams() {
    for streams in [Limits::default().concurrent_streams, 1000] {
        a_thousand_requests(streams);
    }
}

fn a_thousand_requests(concurrent_streams: u32) {
    run(async {
        let limits = Limits {
            concurrent_streams,
            ..Limits::default()
        };
        let server = Server::start(1, limits);
        let mut client = server.client(Protocol::Http2).await;
        // The first answer brings the server's settings, which allow more than hyper's first guess.
        client.send("GET", "/empty", "").await.unwrap();
        let tasks: Vec<_> = (0..1000)
            .map(|_| {
                let mut client = client.another();
                tokio::spawn(async move { client.send("GET", "/slow", "").await })
            })
            .collect();
        for task in tasks {
            let (status, _, body) = task.await.unwrap().unwrap();
            assert_eq!((status, &body[..]), (StatusCode::OK, &b"slow"[..]));
        }
        let most = server.seen.most_at_once.load(Ordering::SeqCst);
        assert_eq!(most, concurrent_streams as usize);
        server.end().await;
    });
}

#[test]
fn connections_spread_over_all_threads() {
    run(async {
        let server = Server::start(4, Limits::default());
        for _ in 0..64 {
            let mut client = server.client(Protocol::Http2).await;
            client.send("GET", "/empty", "").await.unwrap();
        }
        assert_eq!(Seen::count(&server.seen.threads), 0b1111);
        server.end().await;
    });
}

#[test]
fn a_client_that_names_no_protocol_gets_http1_only_where_it_is_offered() {
    run(async {
        let server = Server::start(1, Limits::default());
        let mut config = (*PKI.client(Protocol::Http1)).clone();
        config.alpn_protocols.clear();
        let config = std::sync::Arc::new(config);
        let request = b"GET /empty HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";

        let mut stream = server.tls(std::sync::Arc::clone(&config)).await;
        stream.write_all(request).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 204"), "{answer}");

        server.tls.store(PKI.server(&[Protocol::Http2]));
        let mut stream = server.tls(config).await;
        let _ = stream.write_all(request).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert!(answer.is_empty());
        eventually("the refusal is counted", || {
            server.seen.refusals() == [Code::HandshakeFailed]
        })
        .await;
        server.end().await;
    });
}

#[test]
fn a_new_tls_configuration_holds_for_new_connections_and_leaves_open_ones_alone() {
    run(async {
        let server = Server::start(1, Limits::default());
        let mut old = server.client(Protocol::Http1).await;
        old.send("GET", "/empty", "").await.unwrap();
        server.tls.store(PKI.server(&[Protocol::Http2]));
        old.send("GET", "/empty", "").await.unwrap();
        let mut new = server.client(Protocol::Http2).await;
        new.send("GET", "/empty", "").await.unwrap();
        server.end().await;
    });
}

#[test]
fn an_upgrade_to_h2c_is_not_taken() {
    run(async {
        let server = Server::start(1, Limits::default());
        let mut stream = server.tls(PKI.client(Protocol::Http1)).await;
        let request = b"GET /empty HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade, \
            http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n\r\n";
        stream.write_all(request).await.unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 204");
        drop(stream);
        server.end().await;
    });
}

/// Frames as they come, one kind after the other.
pub(crate) async fn kinds(
    stream: &mut (impl AsyncReadExt + Unpin),
    mut each: impl FnMut(u8) -> bool,
) {
    let mut head = [0; 9];
    let mut payload = Vec::new();
    loop {
        stream.read_exact(&mut head).await.unwrap();
        payload.resize(
            u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize,
            0,
        );
        stream.read_exact(&mut payload).await.unwrap();
        if !each(head[3]) {
            return;
        }
    }
}

#[test]
fn a_client_that_is_answered_before_its_body_has_come_keeps_its_connection() {
    // More than the errors that a connection may make, and than resets that are remembered.
    const ROUNDS: u32 = 10;
    const STREAMS: u32 = 100;
    run(async {
        let server = Server::start(1, Limits::default());
        let mut stream = server.tls(PKI.client(Protocol::Http2)).await;
        stream.write_all(PREFACE).await.unwrap();
        stream.write_all(&settings(&[])).await.unwrap();
        for round in 0..ROUNDS {
            let streams = || (round * STREAMS..(round + 1) * STREAMS).map(|number| 2 * number + 1);
            let heads = streams().flat_map(|stream| request(stream, ("POST", "/nothing"), 0, &[]));
            let heads: Vec<u8> = heads.collect();
            stream.write_all(&heads).await.unwrap();
            let mut answered = 0;
            kinds(&mut stream, |kind| {
                assert!(
                    ![kind::RST_STREAM, kind::GOAWAY].contains(&kind),
                    "{kind} in round {round}"
                );
                answered += u32::from(kind == kind::HEADERS);
                answered < STREAMS
            })
            .await;
            let bodies =
                streams().flat_map(|stream| frame(kind::DATA, END_STREAM, stream, b"late"));
            let bodies: Vec<u8> = bodies.collect();
            stream.write_all(&bodies).await.unwrap();
        }
        let last = request(2 * ROUNDS * STREAMS + 1, ("GET", "/empty"), END_STREAM, &[]);
        stream.write_all(&last).await.unwrap();
        kinds(&mut stream, |kind| {
            assert!(
                ![kind::RST_STREAM, kind::GOAWAY].contains(&kind),
                "{kind} at the end"
            );
            kind != kind::HEADERS
        })
        .await;
        drop(stream);
        server.end().await;
    });
}

#[test]
fn a_body_that_never_comes_is_not_waited_for_beyond_its_answer() {
    run(async {
        let server = Server::start(1, Limits::default());
        let mut stream = server.tls(PKI.client(Protocol::Http2)).await;
        stream.write_all(PREFACE).await.unwrap();
        stream.write_all(&settings(&[])).await.unwrap();
        let head = request(1, ("POST", "/nothing"), 0, &[]);
        stream.write_all(&head).await.unwrap();
        let mut seen = Vec::new();
        kinds(&mut stream, |kind| {
            seen.push(kind);
            kind != kind::RST_STREAM
        })
        .await;
        let place = |wanted| seen.iter().position(|kind| *kind == wanted);
        assert!(place(kind::HEADERS) < place(kind::RST_STREAM), "{seen:?}");
        // What is more than a small body is told to stop at once.
        let more = request(3, ("POST", "/nothing"), 0, &[]);
        stream.write_all(&more).await.unwrap();
        let piece = frame(kind::DATA, 0, 3, &[0; 16_000]);
        for _ in 0..5 {
            stream.write_all(&piece).await.unwrap();
        }
        kinds(&mut stream, |kind| kind != kind::RST_STREAM).await;
        drop(stream);
        server.end().await;
    });
}
