//! Games with windows and time: overflows end at once, those who wait end when their time is over.

use std::time::Duration;

use keywright_network::frames::{
    END_HEADERS, END_STREAM, FIRST_OF_TABLE, INITIAL_WINDOW_SIZE, fields, frame, kind, request,
    settings, table_field, window_update,
};
use keywright_tls::Protocol;

use super::beside::{Attacked, CEILING};
use super::line::{Line, Reads, run};
use crate::fixture::*;

/// RFC 9113, section 7.
const PROTOCOL_ERROR: u32 = 1;
const FLOW_CONTROL_ERROR: u32 = 3;
const FRAME_SIZE_ERROR: u32 = 6;
const MOST: u32 = 0x7fff_ffff;

/// Short times, so that a test need not wait for two minutes.
fn impatient() -> Home {
    Home::demo()
        .configure("header_timeout_s = 5", "header_timeout_s = 1")
        .configure("body_timeout_s = 30", "body_timeout_s = 1")
        .configure("idle_timeout_s = 120", "idle_timeout_s = 2")
}

#[test]
fn a_window_that_overflows_or_stands_still_by_its_own_hand_ends_the_connection() {
    let attacked = Attacked::start(Home::demo());
    let health = |stream| request(stream, ("GET", "/v1/health"), END_STREAM, &[]);
    let overflow = [window_update(0, MOST), window_update(0, MOST)].concat();
    let too_large = settings(&[(INITIAL_WINDOW_SIZE, MOST + 1)]);
    // A stream that waits for its window, and settings that make every window larger than there is.
    let waiting = [
        settings(&[(INITIAL_WINDOW_SIZE, 0)]),
        health(1),
        window_update(1, MOST),
        settings(&[(INITIAL_WINDOW_SIZE, MOST)]),
    ];
    for (bytes, code) in [
        (overflow, FLOW_CONTROL_ERROR),
        (window_update(0, 0), PROTOCOL_ERROR),
        (too_large, FLOW_CONTROL_ERROR),
        (frame(kind::WINDOW_UPDATE, 0, 0, &[0; 3]), FRAME_SIZE_ERROR),
        (frame(kind::PING, 0, 0, &[0; 7]), FRAME_SIZE_ERROR),
        (frame(kind::SETTINGS, 0, 0, &[0; 5]), FRAME_SIZE_ERROR),
        (frame(kind::PING, 0, 1, &[0; 8]), PROTOCOL_ERROR),
        (frame(kind::DATA, 0, 0, &[0; 8]), PROTOCOL_ERROR),
        (frame(kind::CONTINUATION, 0, 1, &[]), PROTOCOL_ERROR),
        (frame(kind::DATA, 0, 9, &[0; 8]), PROTOCOL_ERROR),
    ] {
        let ended = run(async {
            let mut line = Line::http2(&attacked, &[], Reads::Everything).await;
            line.say(&bytes).await;
            line.ends_within(Duration::from_secs(10)).await
        });
        assert!(ended.by_server, "{bytes:?}");
        // The standard's word, or the general one, which the protocol library has for some of them.
        let told = ended.goodbye();
        assert!(
            told == Some(code) || told == Some(PROTOCOL_ERROR),
            "{bytes:?}: {told:?}"
        );
    }
    let ended = run(async {
        let mut line = Line::http2(&attacked, &[], Reads::Everything).await;
        line.say(&waiting.concat()).await;
        line.ends_within(Duration::from_secs(2)).await
    });
    // Of the connection or of the one stream: the standard leaves it open where the sum is looked at.
    let told = ended.frames().iter().any(|one| one.error().is_some());
    assert!(told || !ended.by_server, "it ended without a word");
    assert_eq!(
        attacked
            .wire(TRADING, Protocol::Http2)
            .get("/v1/health")
            .status,
        200
    );
    attacked.stop();
}

#[test]
fn who_fetches_nothing_is_cut_off_when_its_time_is_over() {
    let attacked = Attacked::start(impatient());
    let attack = async || {
        let mut lines = Vec::new();
        for reads in [Reads::Everything, Reads::Nothing] {
            for _ in 0..10 {
                // No window for any answer, or nobody who reads one.
                let settings = match reads {
                    Reads::Everything => [(INITIAL_WINDOW_SIZE, 0)],
                    Reads::Nothing => [(INITIAL_WINDOW_SIZE, MOST)],
                };
                let mut line = Line::http2(&attacked, &settings, reads).await;
                let asked: Vec<u8> = (0..40).flat_map(|n| random(2 * n + 1)).collect();
                line.say(&asked).await;
                lines.push((reads, line));
            }
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        let during = connections(&attacked);
        // The idle time, the farewell, and what a busy machine adds.
        for _ in 0..250 {
            if connections(&attacked) <= during.saturating_sub(20) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!(
            "{during} connections before, {} after",
            connections(&attacked)
        );
    };
    attacked.bears("answers that nobody fetches", 2 * CEILING, || run(attack()));
    attacked.stop();
}

/// A request for as many random bytes as one item may ask for.
fn random(stream: u32) -> Vec<u8> {
    [
        request(stream, ("POST", "/v1/random"), 0, &[]),
        frame(kind::DATA, END_STREAM, stream, b"{\"bytes\":65536}"),
    ]
    .concat()
}

/// Connections that the service has open: the kernel's table, since its own descriptors are hidden from its user.
fn connections(attacked: &Attacked) -> usize {
    let port = format!(":{:04X}", attacked.served.address.port());
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let sockets = table.lines().skip(1).filter(|line| {
        let words: Vec<_> = line.split_whitespace().take(4).collect();
        // Number, its own address, the other's, and 01 for an established connection.
        matches!(words[..], [_, own, _, "01"] if own.ends_with(&port))
    });
    sockets.count()
}

#[test]
fn who_drips_heads_and_bodies_is_cut_off_when_its_time_is_over() {
    let attacked = Attacked::start(impatient());
    let post = format!(
        "POST {} HTTP/1.1\r\nHost: localhost\r\n",
        path(EXCHANGE, "encrypt")
    );
    let body = format!("{post}Content-Length: 5000\r\n\r\n");
    let chunks = format!("{post}Transfer-Encoding: chunked\r\n\r\n5\r\nh");
    let attack = async || {
        let mut tasks = Vec::new();
        for _ in 0..20 {
            for (start, drop) in [
                (&post[..], "x"),
                (&body[..], " "),
                (&chunks[..], "e"),
                ("G", "E"),
            ] {
                let line = Line::open(&attacked, Protocol::Http1, Reads::Everything).await;
                tasks.push(drip(
                    line,
                    start.as_bytes().to_vec(),
                    drop.as_bytes().to_vec(),
                ));
            }
            let head = request(1, ("POST", &path(EXCHANGE, "encrypt")), 0, &[]);
            let open = frame(kind::HEADERS, 0, 1, &fields(&[(":method", "GET")]));
            let crumb = frame(kind::DATA, 0, 1, b" ");
            for (start, drop) in [
                (head, crumb),
                (open, frame(kind::CONTINUATION, 0, 1, &[])),
                // One byte after the other of a frame that never ends.
                (frame(kind::PING, 0, 0, &[0; 8])[..10].to_vec(), vec![0]),
            ] {
                let line = Line::http2(&attacked, &[], Reads::Everything).await;
                tasks.push(drip(line, start, drop));
            }
        }
        for task in tasks {
            task.await.unwrap();
        }
    };
    attacked.bears("slow writers", CEILING, || run(attack()));
    attacked.stop();
}

/// Says a drop every 100 ms until the connection ends, or over HTTP/2 its request is answered.
fn drip(mut line: Line, start: Vec<u8>, drop: Vec<u8>) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        line.say(&start).await;
        for _ in 0..150 {
            if line.has_ended() || !line.say(&drop).await {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!(
            "it drips for fifteen seconds: {:?}",
            String::from_utf8_lossy(&drop)
        );
    })
}

#[test]
fn heads_that_are_huge_are_refused_and_never_kept() {
    let attacked = Attacked::start(Home::demo());
    let attack = async || {
        for n in 0..30_u32 {
            let mut line = Line::http2(&attacked, &[], Reads::Everything).await;
            line.say(&huge(n % 3)).await;
            let ended = line.ends_within(Duration::from_millis(300)).await;
            let answered = ended
                .frames()
                .into_iter()
                .filter(|one| one.kind == kind::HEADERS);
            for head in answered {
                // RFC 7541, appendix A: 0x88 is `:status: 200`; 431 has no entry of its own.
                assert_ne!(head.payload.first(), Some(&0x88), "a head of {n} was taken");
            }
        }
    };
    attacked.bears("huge heads", CEILING, || run(attack()));
    attacked.stop();
}

/// A head beyond the limit: of many small fields, of one large one again and again by its place in the table, or of
/// one that is larger than any frame.
fn huge(shape: u32) -> Vec<u8> {
    let more = match shape {
        0 => (0..4000)
            .flat_map(|n| fields(&[(&format!("x-{n}"), "1234567890123456")]))
            .collect(),
        1 => {
            let mut block = table_field("x-large", &"v".repeat(3000));
            block.resize(block.len() + 15_000, FIRST_OF_TABLE);
            block
        }
        _ => fields(&[("x-large", &"v".repeat(200_000))]),
    };
    let mut rest = fields(&[
        (":method", "GET"),
        (":scheme", "https"),
        (":authority", "localhost"),
        (":path", "/v1/health"),
    ]);
    rest.extend(more);
    let mut pieces = rest.chunks(16_000).peekable();
    let mut bytes = frame(
        kind::HEADERS,
        END_STREAM,
        1,
        pieces.next().unwrap_or_default(),
    );
    while let Some(piece) = pieces.next() {
        let flags = if pieces.peek().is_none() {
            END_HEADERS
        } else {
            0
        };
        bytes.extend(frame(kind::CONTINUATION, flags, 1, piece));
    }
    bytes
}
