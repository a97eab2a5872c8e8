//! The dashboard in a browser, asked over a socket.

use std::io::Read;
use std::net::Ipv4Addr;
use std::time::Duration;

use keywright_measure::event::{Event, Observer};
use keywright_report::live::web::{Empty, Exposure, Limits, WebError, start};

use crate::live_canned::under_way;
use crate::live_client::{Answer, Follower, ask, connect, dashboard, get, quick, raw};

const PATHS: [&str; 9] = [
    "/",
    "/app.js",
    "/app.css",
    "/icon.svg",
    "/snapshot.json",
    "/runs",
    "/runs.json",
    "/runs/9f2c41d07be8a365",
    "/nothing",
];

#[test]
fn every_answer_forbids_what_it_does_not_need() {
    let (running, _live) = dashboard(Limits::default(), &under_way(5));
    for path in PATHS {
        let answer = get(running.local_addr(), path);
        assert_eq!(
            answer.status,
            if path == "/nothing" { 404 } else { 200 },
            "{path}"
        );
        let header = |name: &str| {
            answer
                .header(name)
                .unwrap_or_else(|| panic!("{path} {name}"))
        };
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("cache-control"), "no-store");
        assert_eq!(header("referrer-policy"), "no-referrer");
        assert_eq!(header("x-frame-options"), "DENY");
        assert_eq!(header("cross-origin-resource-policy"), "same-origin");
        let policy = header("content-security-policy");
        for needed in [
            "default-src 'none'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        ] {
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
    assert!(
        head.starts_with("http/1.1 200") && head.contains("content-type: text/event-stream"),
        "{head}"
    );
    let first = follower.snapshot().unwrap();
    assert_eq!(first["current"]["id"], "service.encrypt 4 KiB");
    live.event(&Event::Remark {
        text: "line one\nline two\r\n\r\nevent: forged".into(),
    });
    let next = loop {
        let next = follower.snapshot().unwrap();
        if next["revision"] != first["revision"] {
            break next;
        }
    };
    let remarks = next["remarks"].as_array().unwrap();
    assert!(
        remarks
            .last()
            .unwrap()
            .as_str()
            .unwrap()
            .contains("event: forged"),
        "one line, one event"
    );
    live.event(&Event::Finished { exit: "ok".into() });
    while follower.snapshot().unwrap()["stage"] != "finished" {}
    running.stop().unwrap();
    assert_eq!(follower.snapshot(), None, "a stop ends the stream");
}

#[test]
fn silence_is_broken_by_comments() {
    let limits = Limits {
        heartbeat: Duration::from_millis(5),
        ..Limits::default()
    };
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
    let with = |host: &str| {
        raw(
            addr,
            &format!("GET /snapshot.json HTTP/1.1\r\nconnection: close\r\n{host}\r\n"),
        )
    };
    for ours in [
        "localhost",
        "127.0.0.1:1",
        &format!("localhost:{}", addr.port()),
        "[::1]:9",
    ] {
        assert_eq!(with(&format!("host: {ours}\r\n")).status, 200, "{ours}");
    }
    for foreign in [
        "evil.example",
        "evil.example:80",
        "127.0.0.1.nip.io",
        "localhost.evil.example",
        "192.0.2.7",
        "x@localhost",
    ] {
        let answer = with(&format!("host: {foreign}\r\n"));
        assert!(
            matches!(answer.status, 421 | 400),
            "{foreign} {}",
            answer.status
        );
        assert!(!answer.body.contains("service.encrypt"), "{foreign}");
    }
    assert_eq!(with("").status, 400, "no host");
    assert_eq!(
        with("host: localhost\r\nhost: localhost\r\n").status,
        400,
        "two hosts"
    );
    let absolute = "GET http://evil.example/snapshot.json HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    assert_eq!(raw(addr, absolute).status, 421);
    assert_eq!(raw(addr, "GET / HTTP/1.0\r\n\r\n").status, 400);
}

#[test]
fn a_page_of_another_site_cannot_embed_data_and_may_link_here() {
    let (running, _live) = dashboard(Limits::default(), &[]);
    let addr = running.local_addr();
    let from = |site: &str, mode: &str| {
        ask(
            addr,
            "GET /snapshot.json",
            &format!("sec-fetch-site: {site}\r\nsec-fetch-mode: {mode}\r\n"),
        )
        .status
    };
    for site in ["cross-site", "same-site"] {
        for mode in ["no-cors", "cors", "websocket", ""] {
            assert_eq!(from(site, mode), 403, "{site} {mode}");
        }
        assert_eq!(from(site, "navigate"), 200);
    }
    assert_eq!(
        (from("same-origin", "cors"), from("none", "navigate")),
        (200, 200)
    );
}

#[test]
fn only_get_and_head_are_answered() {
    let (running, _live) = dashboard(Limits::default(), &[]);
    let addr = running.local_addr();
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"] {
        for path in ["/", "/events", "/runs", "/session"] {
            let answer = ask(addr, &format!("{method} {path}"), "content-length: 0\r\n");
            assert_eq!(
                (answer.status, answer.header("allow")),
                (405, Some("GET, HEAD")),
                "{method} {path}"
            );
        }
    }
    for path in PATHS.into_iter().chain(["/events"]) {
        let (head, get) = (ask(addr, &format!("HEAD {path}"), ""), path);
        assert_eq!(head.body, "", "{get}");
        assert_eq!(
            head.status,
            if path == "/nothing" { 404 } else { 200 },
            "{get}"
        );
        assert!(
            head.header("content-type").is_some()
                && head.header("content-security-policy").is_some()
        );
    }
}

#[test]
fn paths_that_are_not_there_say_so_and_reach_no_library() {
    let (running, _live) = dashboard(Limits::default(), &[]);
    let long = format!("/runs/{}", "a".repeat(65));
    let paths = [
        "/runs/",
        "/runs/unknown",
        "/runs/../runs",
        "/runs/%2e%2e",
        "/runs/..",
        "/runs/.hidden",
        "/runs/a/b",
        "/runs/a%00b",
        &long,
        "//",
        "/app.js/",
        "/APP.JS",
        "/trends",
        "/session",
        "/snapshot",
        "/etc/passwd",
        "/favicon.ico",
    ];
    for path in paths {
        assert_eq!(get(running.local_addr(), path).status, 404, "{path}");
    }
    for path in ["/?a=b", "/runs/9f2c41d07be8a365?x"] {
        assert_eq!(get(running.local_addr(), path).status, 200, "{path}");
    }
}

#[test]
fn finished_runs_are_listed_and_their_reports_run_only_their_own_script() {
    let (running, _live) = dashboard(Limits::default(), &[]);
    let addr = running.local_addr();
    let list = get(addr, "/runs");
    assert!(
        list.body.contains("href=\"/runs/9f2c41d07be8a365\"") && list.body.contains("SATURATED")
    );
    assert!(
        list.body.contains("&lt;b&gt;") && !list.body.contains("<b>"),
        "notes are text"
    );
    let json: serde_json::Value = serde_json::from_str(&get(addr, "/runs.json").body).unwrap();
    assert_eq!(json[1]["verdict"], "VALID");
    let report = get(addr, "/runs/9f2c41d07be8a365");
    let policy = report.header("content-security-policy").unwrap();
    assert!(
        policy.starts_with("sandbox allow-scripts; ") && policy.contains("script-src 'sha256-"),
        "{policy}"
    );
    let own = report
        .body
        .split("Content-Security-Policy\" content=\"")
        .nth(1)
        .unwrap();
    for source in own
        .split('"')
        .next()
        .unwrap()
        .split(' ')
        .filter(|word| word.contains("sha256-"))
    {
        assert!(
            policy.contains(source.trim_end_matches(';')),
            "the page's own {source} is allowed"
        );
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
        start(
            exposure,
            Limits::default(),
            std::sync::Arc::clone(&live),
            std::sync::Arc::new(Empty),
        )
    };
    assert!(matches!(again(), Err(WebError::Listen { addr: taken, .. }) if taken == addr));
    let mut idle = connect(addr);
    running.stop().unwrap();
    assert_eq!(
        idle.read(&mut [0; 1]).unwrap_or(0),
        0,
        "connections are closed"
    );
    let second = again().unwrap();
    assert_eq!(get(addr, "/runs.json").body, "[]");
    second.stop().unwrap();
}

#[test]
fn an_answer_is_read_whole_by_the_client_of_these_tests() {
    let text = b"HTTP/1.1 204 No Content\r\nX: y\r\n\r\nbody".as_slice();
    let answer = Answer::read(&mut &*text);
    assert_eq!(
        (answer.status, answer.header("x"), answer.body.as_str()),
        (204, Some("y"), "body")
    );
}
