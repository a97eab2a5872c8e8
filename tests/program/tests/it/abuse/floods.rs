//! Frames by the thousand that are cheap to send: each flood ends its connection, again and again.

use std::time::Duration;

use keywright_network::frames::{
    ACK, END_HEADERS, END_STREAM, HEADER_TABLE_SIZE, PADDED, fields, frame, kind, request, reset,
    settings, window_update,
};

use super::beside::{Attacked, CEILING};
use super::line::{Line, Reads, end_of, is_over, run};
use crate::fixture::*;

/// A flood: what opens it, and what is poured, by its number on this connection.
struct Flood {
    name: &'static str,
    open: Vec<u8>,
    pour: fn(u32) -> Vec<u8>,
}

impl Flood {
    const fn of(name: &'static str, pour: fn(u32) -> Vec<u8>) -> Self {
        Self {
            name,
            open: Vec::new(),
            pour,
        }
    }
}

const ATTACK: Duration = Duration::from_secs(1);

fn get(stream: u32) -> Vec<u8> {
    request(stream, ("GET", "/v1/health"), END_STREAM, &[])
}

/// A request whose body is to come.
fn post(stream: u32) -> Vec<u8> {
    request(stream, ("POST", &path(EXCHANGE, "encrypt")), 0, &[])
}

fn opened_and_reset(streams: std::ops::Range<u32>) -> Vec<u8> {
    streams
        .flat_map(|number| [get(2 * number + 1), reset(2 * number + 1)].concat())
        .collect()
}

fn many(one: impl Fn(u32) -> Vec<u8>) -> Vec<u8> {
    (0..200).flat_map(one).collect()
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn floods() -> Vec<Flood> {
    vec![
        Flood::of("rapid reset", |n| opened_and_reset(100 * n..100 * (n + 1))),
        Flood::of("ten thousand streams opened and reset at once", |n| {
            opened_and_reset(10_000 * n..10_000 * (n + 1))
        }),
        Flood::of("streams that run, reset all at once", |n| {
            let streams = (1500 * n..1500 * (n + 1)).map(|number| 2 * number + 1);
            let begun: Vec<u8> = streams.clone().flat_map(post).collect();
            [begun, streams.flat_map(reset).collect()].concat()
        }),
        Flood {
            name: "continuation",
            open: frame(kind::HEADERS, 0, 1, &fields(&[(":method", "GET")])),
            pour: |n| {
                let field = fields(&[("x-more", &format!("{n:08}"))]);
                many(|_| frame(kind::CONTINUATION, 0, 1, &field))
            },
        },
        Flood {
            name: "empty continuation",
            open: frame(kind::HEADERS, 0, 1, &[]),
            pour: |_| many(|_| frame(kind::CONTINUATION, 0, 1, &[])),
        },
        Flood::of("settings", |_| many(|_| settings(&[]))),
        Flood::of("settings that move the table", |_| {
            many(|n| settings(&[(HEADER_TABLE_SIZE, 4096 * (n % 2))]))
        }),
        Flood::of("ping", |_| many(|_| frame(kind::PING, 0, 0, &[7; 8]))),
        Flood::of("answers to no ping", |_| {
            many(|_| frame(kind::PING, ACK, 0, &[7; 8]))
        }),
        Flood::of("priority", |_| {
            many(|n| frame(kind::PRIORITY, 0, 2 * n + 1, &[0, 0, 0, 0, 16]))
        }),
        Flood::of("frames of no known type", |_| {
            many(|n| frame(0x60, 0xff, n, &[0xAB; 64]))
        }),
        Flood {
            name: "empty data",
            open: post(1),
            pour: |_| many(|_| frame(kind::DATA, 0, 1, &[])),
        },
        Flood {
            name: "data that is padding",
            open: post(1),
            pour: |_| many(|_| frame(kind::DATA, PADDED, 1, &[3, 0, 0, 0])),
        },
        Flood {
            name: "window updates of one byte",
            open: post(1),
            pour: |_| many(|_| window_update(1, 1)),
        },
        Flood {
            name: "window updates of a closed stream",
            open: get(1),
            pour: |_| many(|_| window_update(1, 4096)),
        },
        Flood::of("heads that are none", |n| {
            let streams = 200 * n..200 * (n + 1);
            let head = fields(&[(":method", "GET"), ("Upper", "x")]);
            streams
                .flat_map(|number| {
                    let flags = END_HEADERS | END_STREAM;
                    frame(kind::HEADERS, flags, 2 * number + 1, &head)
                })
                .collect()
        }),
    ]
}

/// How many connections the server ended.
async fn carry_out(attacked: &Attacked, flood: &Flood) -> u32 {
    let (end, mut ended) = (end_of(ATTACK), 0);
    while !is_over(end) {
        let mut line = Line::http2(attacked, &[], Reads::Everything).await;
        let mut going = line.say(&flood.open).await;
        let mut number = 0;
        while going && !is_over(end) {
            going = line.say(&(flood.pour)(number)).await;
            number += 1;
            // The server has said goodbye, and reads what it did not hear for a while yet.
            tokio::task::yield_now().await;
        }
        if !going || line.has_ended() {
            let over = line.ends_within(Duration::from_secs(5)).await;
            assert!(over.by_server, "{}: it reads no more and stays", flood.name);
            ended += 1;
        }
    }
    ended
}

#[test]
fn every_flood_of_frames_ends_its_connection_and_costs_nobody_else_theirs() {
    let attacked = Attacked::start(Home::demo());
    for flood in floods() {
        let ended = attacked.bears(flood.name, CEILING, || run(carry_out(&attacked, &flood)));
        println!("{}: {ended} connections ended", flood.name);
        assert!(ended > 0, "{}: nobody ended it", flood.name);
    }
    attacked.stop();
}
