//! Large answers that nobody fetches, and large bodies side by side: the server keeps what it may and refuses the
//! rest.

use std::time::Duration;

use keywright_testkit::frames::{END_STREAM, INITIAL_WINDOW_SIZE, frame, kind, request};
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
    // 1.3 MiB each, and what is being made counts as well.
    assert!(outcomes("overloaded") > 200, "{}", outcomes("overloaded"));
    assert!(outcomes("ok") > 8, "{}", outcomes("ok"));
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
            let piece = vec![b' '; 16 << 10];
            // 64 bodies of 1.5 MiB at once are 96 MiB.
            for _ in 0..96 {
                for stream in streams.clone() {
                    if !line.say(&frame(kind::DATA, 0, stream, &piece)).await {
                        return;
                    }
                }
            }
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
