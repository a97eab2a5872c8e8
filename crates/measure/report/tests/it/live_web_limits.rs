//! What the dashboard in a browser puts up with: garbage, crowds, clients that do not read or do not speak.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

use keywright_measure::event::Observer;
use keywright_report::live::web::Limits;

use crate::live_canned::{PLAN, block, under_way};
use crate::live_client::{Follower, ask, connect, dashboard, get, quick};

#[test]
fn broken_and_oversized_requests_are_refused_and_the_server_goes_on() {
    let (running, _live) = dashboard(Limits::default(), &[]);
    let addr = running.local_addr();
    let filler = format!("x: {}\r\n", "y".repeat(60_000));
    assert_eq!(ask(addr, "GET /", &filler).status, 431);
    let fields: String = (0..200).map(|n| format!("x{n}: y\r\n")).collect();
    assert_eq!(ask(addr, "GET /", &fields).status, 431);
    for garbage in [
        "\u{16}\u{3}\u{1}\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let mut stream = connect(addr);
        stream.write_all(garbage.as_bytes()).unwrap();
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer));
        assert!(
            answer.is_empty() || answer.starts_with(b"HTTP/1.1 4"),
            "{garbage:?}"
        );
    }
    assert_eq!(get(addr, "/").status, 200);
}

#[test]
fn a_client_too_many_is_turned_away_and_places_come_back() {
    let limits = Limits {
        connections: 2,
        ..Limits::default()
    };
    let (running, _live) = dashboard(limits, &[]);
    let addr = running.local_addr();
    let mut first = Follower::new(addr);
    let mut second = Follower::new(addr);
    assert!(first.snapshot().is_some() && second.snapshot().is_some());
    let refused = get(addr, "/");
    assert_eq!(
        (refused.status, refused.header("retry-after")),
        (503, Some("5"))
    );
    drop(first);
    // The place is free as soon as the server has seen the end of that connection.
    while get(addr, "/").status == 503 {
        std::thread::yield_now();
    }
}

#[test]
fn a_follower_too_many_is_turned_away_while_pages_are_still_answered() {
    let (running, _live) = dashboard(
        Limits {
            followers: 1,
            ..Limits::default()
        },
        &[],
    );
    let addr = running.local_addr();
    let mut follower = Follower::new(addr);
    follower.snapshot().unwrap();
    assert_eq!(
        (get(addr, "/events").status, get(addr, "/").status),
        (503, 200)
    );
    drop(follower);
    loop {
        let mut next = Follower::new(addr);
        if next.until("\r\n").unwrap().contains("200") {
            break;
        }
    }
}

#[test]
fn a_client_that_does_not_read_is_cut_and_holds_nobody_up() {
    let limits = Limits {
        stall: Duration::from_millis(200),
        heartbeat: Duration::from_millis(20),
        connections: 2,
        ..quick()
    };
    let (running, live) = dashboard(limits, &under_way(300));
    let addr = running.local_addr();
    // Neither reads; both places are taken.
    let slow = [Follower::new(addr), Follower::new(addr)];
    let mut second = 0;
    // News goes on until a place is free again, which it is only when a slow one was cut.
    while get_quietly(addr) != Some(200) {
        live.event(&block(&PLAN[2], second));
        second += 1;
        std::thread::sleep(Duration::from_millis(2));
    }
    let revision = live.snapshot().revision;
    let mut reader = Follower::new(addr);
    let snapshot = reader.snapshot().unwrap();
    assert!(
        snapshot["revision"].as_u64().unwrap() >= revision,
        "the latest wins"
    );
    drop(slow);
}

/// Like `get`, where a reset counts as no answer.
fn get_quietly(addr: SocketAddr) -> Option<u16> {
    let mut stream = connect(addr);
    write!(
        stream,
        "GET / HTTP/1.1\r\nhost: {addr}\r\nconnection: close\r\n\r\n"
    )
    .ok()?;
    let mut text = String::new();
    drop(stream.read_to_string(&mut text));
    text.split(' ').nth(1)?.parse().ok()
}

#[test]
fn a_client_that_says_nothing_is_cut() {
    let limits = Limits {
        stall: Duration::from_millis(50),
        head: Duration::from_millis(50),
        ..Limits::default()
    };
    let (running, _live) = dashboard(limits, &[]);
    for beginning in ["", "GET / HT", "GET / HTTP/1.1\r\nhost: localhost\r\n"] {
        let mut stream = connect(running.local_addr());
        stream.write_all(beginning.as_bytes()).unwrap();
        let mut rest = Vec::new();
        drop(stream.read_to_end(&mut rest));
        assert!(!rest.starts_with(b"HTTP/1.1 200"), "{beginning:?}");
    }
}
