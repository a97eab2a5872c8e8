//! Large answers that nobody fetches, and large bodies side by side: the server keeps what it may and refuses the
//! rest.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use keywright_network::frames::{END_STREAM, Frame, INITIAL_WINDOW_SIZE, frame, kind, request};
use keywright_tls::Protocol;
use serde_json::Value;

use super::beside::{Attacked, CEILING};
use super::line::{Line, Reads, run};
use crate::fixture::*;

/// What a test's connection may have in memory: four bodies of this many bytes.
const BODY: usize = 2 << 20;
const OF_A_CONNECTION: u64 = 4 * BODY as u64;

fn home() -> Home {
    Home::demo()
        .configure("body_bytes = 16777216", &format!("body_bytes = {BODY}"))
        .configure("connection_bytes = 67108864", "connection_bytes = 1048576")
}

/// More than a million random bytes, asked for in a few hundred.
fn large_answer(stream: u32) -> Vec<u8> {
    let body = batch((0..20).map(|_| "{\"bytes\":65536}".to_owned()));
    [
        request(stream, ("POST", "/v1/random"), 0, &[]),
        frame(kind::DATA, END_STREAM, stream, body.as_bytes()),
    ]
    .concat()
}

#[test]
fn large_answers_that_are_not_fetched_are_made_up_to_a_limit() {
    let attacked = Attacked::start(home());
    let refused = attacked.bears("large answers", CEILING + 4 * OF_A_CONNECTION, || {
        run(async {
            let mut refused = 0;
            for _ in 0..4 {
                let settings = [(INITIAL_WINDOW_SIZE, 2_000)];
                let mut line = Line::http2(&attacked, &settings, Reads::Everything).await;
                for n in 0..100 {
                    line.say(&large_answer(2 * n + 1)).await;
                }
                let ended = line.ends_within(Duration::from_secs(1)).await;
                assert!(!ended.by_server, "it asks for nothing that is forbidden");
                refused += 1;
            }
            refused
        })
    });
    assert_eq!(refused, 4);
    let home = attacked.stop();
    let outcomes = |code: &str| {
        let of = |one: &&Value| one["operation"] == "random" && one["outcome"] == code;
        home.requests().iter().filter(of).count()
    };
    // 1.7 MiB each, and 3.1 MiB while it is made: one at least finds room on each connection, five at most do. The
    // attack may have been carried out twice.
    assert!(outcomes("overloaded") > 200, "{}", outcomes("overloaded"));
    assert!((4..=40).contains(&outcomes("ok")), "{}", outcomes("ok"));
}

/// 64 of them are 96 MiB.
const LARGE: u64 = 96 * PIECE;
const PIECE: u64 = 16 << 10;

/// Bodies that grow together, each as far as the server's windows let it (RFC 9113, 6.9).
#[derive(Default)]
struct Pouring {
    sent: BTreeMap<u32, u64>,
    answered: BTreeSet<u32>,
}

impl Pouring {
    /// One piece more for each body that there is a window for; whether any of them can still grow.
    async fn pour(&mut self, line: &mut Line, streams: impl Iterator<Item = u32>) -> bool {
        let heard = line.heard();
        let window = |stream: u32| -> u64 {
            let updates = heard
                .iter()
                .filter(|one| (one.kind, one.stream) == (kind::WINDOW_UPDATE, stream));
            let begun = match stream {
                0 => 65_535,
                _ => heard.iter().find_map(initial_window).unwrap_or(65_535),
            };
            let more = updates.map(|one| u64::from(number(&one.payload)));
            begun + more.sum::<u64>()
        };
        let ends = heard
            .iter()
            .filter(|one| matches!(one.kind, kind::HEADERS | kind::RST_STREAM));
        self.answered.extend(ends.map(|one| one.stream));
        let (all, mut can_grow) = (window(0), false);
        for stream in streams {
            let sent = self.sent.get(&stream).copied().unwrap_or_default();
            if self.answered.contains(&stream) || sent >= LARGE {
                continue;
            }
            can_grow = true;
            let room = all - self.sent.values().sum::<u64>();
            if room.min(window(stream) - sent) < PIECE {
                continue;
            }
            let piece = frame(kind::DATA, 0, stream, &[b' '; 16 << 10]);
            if !line.say(&piece).await {
                return false;
            }
            self.sent.insert(stream, sent + PIECE);
        }
        can_grow
    }
}

/// What the server's settings say of the window that a stream begins with.
fn initial_window(one: &Frame) -> Option<u64> {
    let mut settings = one
        .payload
        .chunks_exact(6)
        .filter(|_| one.kind == kind::SETTINGS);
    let setting = settings.find(|setting| setting[..2] == INITIAL_WINDOW_SIZE.to_be_bytes())?;
    Some(number(&setting[2..]).into())
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_be_bytes(bytes.try_into().unwrap())
}

#[test]
fn bodies_that_grow_side_by_side_are_taken_up_to_a_limit() {
    let attacked = Attacked::start(home());
    attacked.bears("large bodies", CEILING + 2 * OF_A_CONNECTION, || {
        run(async {
            let mut line = Line::http2(&attacked, &[], Reads::Everything).await;
            let streams = (0..64).map(|n| 2 * n + 1);
            let heads: Vec<u8> = streams
                .clone()
                .flat_map(|stream| request(stream, ("POST", &path(EXCHANGE, "encrypt")), 0, &[]))
                .collect();
            line.say(&heads).await;
            let mut pouring = Pouring::default();
            while pouring.pour(&mut line, streams.clone()).await {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            let Pouring { sent, answered } = pouring;
            let whole = sent.values().filter(|sent| **sent >= LARGE).count();
            println!(
                "{} bodies refused, {whole} of 1.5 MiB taken",
                answered.len()
            );
            // What is not refused waits for its end, in up to twice its length.
            assert!(whole <= 6 && answered.len() >= 58, "{whole} {answered:?}");
            assert!(!line.has_ended(), "it did nothing that is forbidden");
        });
    });
    let mut wire = attacked.wire(TRADING, Protocol::Http2);
    let largest = vec![b'x'; BODY / 2];
    assert_eq!(
        seal(&mut wire, EXCHANGE, &largest, b"").len(),
        114 + BODY / 2
    );
    drop(wire);
    let home = attacked.stop();
    let refused = home.requests();
    let refused = refused.iter().filter(|one| one["outcome"] == "overloaded");
    assert!(refused.count() > 0, "all of them found room");
}
