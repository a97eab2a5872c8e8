//! The dashboard in a browser, asked over a socket.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use keywright_measure::event::{Event, Observer};
use keywright_report::live::web::{Empty, Exposure, Limits, WebError, start};

use crate::live_canned::{PLAN, block, under_way};
use crate::live_client::{Answer, Follower, ask, connect, dashboard, get, raw};

const PATHS: [&str; 9] = [
    "/", "/app.js", "/app.css", "/icon.svg", "/snapshot.json", "/runs", "/runs.json",
    "/runs/9f2c41d07be8a365", "/nothing",
];

/// So that news is told at once.
fn quick() -> Limits {
    Limits { frame_every: Duration::from_millis(5), ..Limits::default() }
}

#[test]
fn every_answer_forbids_what_it_does_not_need() {
    let (running, _live) = dashboard(Limits::default(), &under_way(5));
    for path in PATHS {
        let answer = get(running.local_addr(), path);
        assert_eq!(answer.status, if path == "/nothing" { 404 } else { 200 }, "{path}");
        let header = |name: &str| answer.header(name).unwrap_or_else(|| panic!("{path} {name}"));
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("cache-control"), "no-store");
        assert_eq!(header("referrer-policy"), "no-referrer");
        assert_eq!(header("x-frame-options"), "DENY");
        assert_eq!(header("cross-origin-resource-policy"), "same-origin");
        let policy = header("content-security-policy");
        for needed in ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"] {
            assert!(policy.contains(needed), "{path} {policy}");
        }
        for forbidden in ["unsafe", "*", "http:", "https:", "data:"] {
            assert!(!policy.contains(forbidden), "{path} {policy}");
        }
        assert_eq!(answer.header("set-cookie"), None, "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{path}");
    }
    running.stop().unwrap();
}

#[test]
fn the_snapshot_is_json_of_the_run_as_it_is() {
    let (running, _live) = dashboard(Limits::default(), &under_way(30));
    let answer = get(running.local_addr(), "/snapshot.json");
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let snapshot: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(snapshot["current"]["id"], "service.encrypt 4 KiB");
    assert_eq!(snapshot["stage"], "running");
    assert_eq!(snapshot["finished"][0]["verdict"], "VALID");
    assert!(snapshot["share"].as_f64().unwrap() > 0.0);
}

#[test]
fn followers_get_the_snapshot_of_now_and_then_what_happens() {
    let (running, live) = dashboard(quick(), &under_way(5));
    let mut follower = Follower::new(running.local_addr());
    let head = follower.until("\r\n\r\n").unwrap().to_ascii_lowercase();
    assert!(head.starts_with("http/1.1 200") && head.contains("content-type: text/event-stream"), "{head}");
    let first = follower.snapshot().unwrap();
    assert_eq!(first["current"]["id"], "service.encrypt 4 KiB");
    live.event(&Event::Remark { text: "line one\nline two\r\n\r\nevent: forged".into() });
    let next = loop {
        let next = follower.snapshot().unwrap();
        if next["revision"] != first["revision"] {
            break next;
        }
    };
    let remarks = next["remarks"].as_array().unwrap();
    assert!(remarks.last().unwrap().as_str().unwrap().contains("event: forged"), "one line, one event");
    live.event(&Event::Finished { exit: "ok".into() });
    while follower.snapshot().unwrap()["stage"] != "finished" {}
    running.stop().unwrap();
    assert_eq!(follower.snapshot(), None, "a stop ends the stream");
}

#[test]
fn silence_is_broken_by_comments() {
    let limits = Limits { heartbeat: Duration::from_millis(5), ..Limits::default() };
    let (running, _live) = dashboard(limits, &[]);
    let mut follower = Follower::new(running.local_addr());
    for _ in 0..3 {
        follower.until(": still here\n\n").unwrap();
    }
}

#[test]
fn a_name_of_another_host_is_not_answered() {
    let (running, _live) = dashboard(Limits::default(), &under_way(3));
    let addr = running.local_addr();
    let with = |host: &str| raw(addr, &format!("GET /snapshot.json HTTP/1.1\r\nconnection: close\r\n{host}\r\n"));
    for ours in ["localhost", "127.0.0.1:1", &format!("localhost:{}", addr.port()), "[::1]:9"] {
        assert_eq!(with(&format!("host: {ours}\r\n")).status, 200, "{ours}");
    }
    for foreign in ["evil.example", "evil.example:80", "127.0.0.1.nip.io", "localhost.evil.example", "192.0.2.7", "x@localhost"] {
        let answer = with(&format!("host: {foreign}\r\n"));
        assert!(matches!(answer.status, 421 | 400), "{foreign} {}", answer.status);
        assert!(!answer.body.contains("service.encrypt"), "{foreign}");
    }
    assert_eq!(with("").status, 400, "no host");
    assert_eq!(with("host: localhost\r\nhost: localhost\r\n").status, 400, "two hosts");
    let absolute = "GET http://evil.example/snapshot.json HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    assert_eq!(raw(addr, absolute).status, 421);
    assert_eq!(raw(addr, "GET / HTTP/1.0\r\n\r\n").status, 400);
}

#[test]
fn a_page_of_another_site_cannot_embed_data_and_may_link_here() {
    let (running, _live) = dashboard(Limits::default(), &[]);
    let addr = running.local_addr();
    let from = |site: &str, mode: &str| {
        ask(addr, "GET /snapshot.json", &format!("sec-fetch-site: {site}\r\nsec-fetch-mode: {mode}\r\n")).status
    };
    for site in ["cross-site", "same-site"] {
        for mode in ["no-cors", "cors", "websocket", ""] {
            assert_eq!(from(site, mode), 403, "{site} {mode}");
        }
        assert_eq!(from(site, "navigate"), 200);
    }
    assert_eq!((from("same-origin", "cors"), from("none", "navigate")), (200, 200));
}

#[test]
fn only_get_and_head_are_answered() {
    let (running, _live) = dashboard(Limits::default(), &[]);
    let addr = running.local_addr();
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"] {
        for path in ["/", "/events", "/runs", "/session"] {
            let answer = ask(addr, &format!("{method} {path}"), "content-length: 0\r\n");
            assert_eq!((answer.status, answer.header("allow")), (405, Some("GET, HEAD")), "{method} {path}");
        }
    }
    for path in PATHS.into_iter().chain(["/events"]) {
        let (head, get) = (ask(addr, &format!("HEAD {path}"), ""), path);
        assert_eq!(head.body, "", "{get}");
        assert_eq!(head.status, if path == "/nothing" { 404 } else { 200 }, "{get}");
        assert!(head.header("content-type").is_some() && head.header("content-security-policy").is_some());
    }
}

#[test]
fn paths_that_are_not_there_say_so_and_reach_no_library() {
    let (running, _live) = dashboard(Limits::default(), &[]);
    let long = format!("/runs/{}", "a".repeat(65));
    let paths = [
        "/runs/", "/runs/unknown", "/runs/../runs", "/runs/%2e%2e", "/runs/..", "/runs/.hidden", "/runs/a/b", "/runs/a%00b",
        &long, "//", "/app.js/", "/APP.JS", "/trends", "/session", "/snapshot", "/etc/passwd", "/favicon.ico",
    ];
    for path in paths {
        assert_eq!(get(running.local_addr(), path).status, 404, "{path}");
    }
    for path in ["/?a=b", "/runs/9f2c41d07be8a365?x"] {
        assert_eq!(get(running.local_addr(), path).status, 200, "{path}");
    }
}

#[test]
fn broken_and_oversized_requests_are_refused_and_the_server_goes_on() {
    let (running, _live) = dashboard(Limits::default(), &[]);
    let addr = running.local_addr();
    let filler = format!("x: {}\r\n", "y".repeat(60_000));
    assert_eq!(ask(addr, "GET /", &filler).status, 431);
    let fields: String = (0..200).map(|n| format!("x{n}: y\r\n")).collect();
    assert_eq!(ask(addr, "GET /", &fields).status, 431);
    for garbage in ["\u{16}\u{3}\u{1}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] {
        let mut stream = connect(addr);
        stream.write_all(garbage.as_bytes()).unwrap();
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer));
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 4"), "{garbage:?}");
    }
    assert_eq!(get(addr, "/").status, 200);
}

#[test]
fn a_client_too_many_is_turned_away_and_places_come_back() {
    let limits = Limits { connections: 2, ..Limits::default() };
    let (running, _live) = dashboard(limits, &[]);
    let addr = running.local_addr();
    let mut first = Follower::new(addr);
    let mut second = Follower::new(addr);
    assert!(first.snapshot().is_some() && second.snapshot().is_some());
    let refused = get(addr, "/");
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("5")));
    drop(first);
    // The place is free as soon as the server has seen the end of that connection.
    while get(addr, "/").status == 503 {
        std::thread::yield_now();
    }
}

#[test]
fn a_follower_too_many_is_turned_away_while_pages_are_still_answered() {
    let (running, _live) = dashboard(Limits { followers: 1, ..Limits::default() }, &[]);
    let addr = running.local_addr();
    let mut follower = Follower::new(addr);
    follower.snapshot().unwrap();
    assert_eq!((get(addr, "/events").status, get(addr, "/").status), (503, 200));
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
    let limits = Limits { stall: Duration::from_millis(200), heartbeat: Duration::from_millis(20), connections: 2, ..quick() };
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
    assert!(snapshot["revision"].as_u64().unwrap() >= revision, "the latest wins");
    drop(slow);
}

/// Like `get`, where a reset counts as no answer.
fn get_quietly(addr: SocketAddr) -> Option<u16> {
    let mut stream = connect(addr);
    write!(stream, "GET / HTTP/1.1\r\nhost: {addr}\r\nconnection: close\r\n\r\n").ok()?;
    let mut text = String::new();
    drop(stream.read_to_string(&mut text));
    text.split(' ').nth(1)?.parse().ok()
}

#[test]
fn a_client_that_says_nothing_is_cut() {
    let limits = Limits { stall: Duration::from_millis(50), head: Duration::from_millis(50), ..Limits::default() };
    let (running, _live) = dashboard(limits, &[]);
    for beginning in ["", "GET / HT", "GET / HTTP/1.1\r\nhost: localhost\r\n"] {
        let mut stream = connect(running.local_addr());
        stream.write_all(beginning.as_bytes()).unwrap();
        let mut rest = Vec::new();
        drop(stream.read_to_end(&mut rest));
        assert!(!rest.starts_with(b"HTTP/1.1 200"), "{beginning:?}");
    }
}

#[test]
fn finished_runs_are_listed_and_their_reports_run_only_their_own_script() {
    let (running, _live) = dashboard(Limits::default(), &[]);
    let addr = running.local_addr();
    let list = get(addr, "/runs");
    assert!(list.body.contains("href=\"/runs/9f2c41d07be8a365\"") && list.body.contains("SATURATED"));
    assert!(list.body.contains("&lt;b&gt;") && !list.body.contains("<b>"), "notes are text");
    let json: serde_json::Value = serde_json::from_str(&get(addr, "/runs.json").body).unwrap();
    assert_eq!(json[1]["verdict"], "VALID");
    let report = get(addr, "/runs/9f2c41d07be8a365");
    let policy = report.header("content-security-policy").unwrap();
    assert!(policy.starts_with("sandbox allow-scripts; ") && policy.contains("script-src 'sha256-"), "{policy}");
    let own = report.body.split("Content-Security-Policy\" content=\"").nth(1).unwrap();
    for source in own.split('"').next().unwrap().split(' ').filter(|word| word.contains("sha256-")) {
        assert!(policy.contains(source.trim_end_matches(';')), "the page's own {source} is allowed");
    }
}

#[test]
fn a_taken_port_is_named_and_a_stopped_server_frees_it() {
    let (running, live) = dashboard(Limits::default(), &[]);
    let addr = running.local_addr();
    assert_eq!(addr.ip(), Ipv4Addr::LOCALHOST);
    assert_eq!(running.url(), format!("http://{addr}/"));
    let again = || {
        let exposure = Exposure::Loopback { port: addr.port() };
        start(exposure, Limits::default(), std::sync::Arc::clone(&live), std::sync::Arc::new(Empty))
    };
    assert!(matches!(again(), Err(WebError::Listen { addr: taken, .. }) if taken == addr));
    let mut idle = connect(addr);
    running.stop().unwrap();
    assert_eq!(idle.read(&mut [0; 1]).unwrap_or(0), 0, "connections are closed");
    let second = again().unwrap();
    assert_eq!(get(addr, "/runs.json").body, "[]");
    second.stop().unwrap();
}

#[test]
fn an_answer_is_read_whole_by_the_client_of_these_tests() {
    let text = b"HTTP/1.1 204 No Content\r\nX: y\r\n\r\nbody".as_slice();
    let answer = Answer::read(&mut &*text);
    assert_eq!((answer.status, answer.header("x"), answer.body.as_str()), (204, Some("y"), "body"));
}
