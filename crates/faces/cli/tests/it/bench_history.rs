//! Earlier results: how they are kept, noted, looked at and forgotten.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::Value;

use crate::bench::{Bench, CLOSED, QUICK};
use crate::program::signal;

const FAST: &str = "service = \"1us\"";
const SLOW: &str = "service = \"1s\"";

#[test]
fn runs_are_kept_noted_and_cleared() {
    let bench = Bench::new();
    let fast = bench.script("fast.toml", FAST, CLOSED);
    for _ in 0..3 {
        assert_eq!(bench.run(&["run", &fast, "-q"]).code, 0);
    }
    assert_eq!(bench.run(&["run", &fast, "-q", "--no-history"]).code, 0);
    let history = |words: &[&str]| -> Vec<Value> {
        let listed = bench
            .run(&[&["history", "--format", "json"], words].concat())
            .text();
        let listed: Value = serde_json::from_str(&listed).unwrap();
        listed["runs"].as_array().unwrap().clone()
    };
    let runs = history(&[]);
    assert_eq!(runs.len(), 3);
    assert_eq!(
        (&runs[0]["suite"], &runs[0]["exit"]),
        (&"fast".into(), &"ok".into())
    );
    assert_eq!(history(&["--limit", "2"]).len(), 2);
    assert_eq!(history(&["--case", "a*"]).len(), 3);
    assert_eq!(history(&["--case", "b*"]).len(), 0);

    let id = runs[0]["id"].as_str().unwrap();
    drop(
        bench
            .run(&["note", id, "after the change of caches"])
            .bytes(),
    );
    assert!(
        bench
            .run(&["history"])
            .text()
            .contains("after the change of caches")
    );
    bench
        .run(&["note", "00000000000000aa", "x"])
        .refused(9, "no run", "bench history");
    bench
        .run(&["note", "latest", "x"])
        .refused(2, "16 lower-case hex digits", "bench history");

    assert!(
        bench
            .run(&["clean", "--keep", "1"])
            .text()
            .starts_with("2 runs removed")
    );
    assert_eq!(history(&[])[0]["id"], id);
}

#[test]
fn a_trend_finds_the_run_at_which_a_case_changed() {
    let bench = Bench::new();
    let fast = bench.script("fast.toml", FAST, CLOSED);
    let slow = bench.script("slow.toml", SLOW, CLOSED);
    for suite in [&fast; 8].into_iter().chain([&slow; 8]) {
        assert_eq!(bench.run(&["run", suite, "-q"]).code, 0);
    }
    let trend = bench
        .run(&["trend", "a", "--metric", "p50", "--format", "json"])
        .text();
    let trend: Value = serde_json::from_str(&trend).unwrap();
    assert_eq!((&trend["case"], &trend["runs"]), (&"a".into(), &16.into()));
    let [change] = &trend["changes"].as_array().unwrap()[..] else {
        panic!("{trend}")
    };
    let (before, after) = (
        change["before"].as_f64().unwrap(),
        change["after"].as_f64().unwrap(),
    );
    assert!(
        (before / 1e3 - 1.0).abs() < 0.01 && (after / 1e9 - 1.0).abs() < 0.01,
        "{trend}"
    );
    assert!(
        bench
            .run(&["trend", "a"])
            .text()
            .contains("changed at run ")
    );
    for words in [
        &["trend", "a", "--format", "html"][..],
        &["history", "--format", "html"],
    ] {
        let page = bench.run(words).text();
        assert!(
            page.starts_with("<!DOCTYPE html>") && page.contains("<svg"),
            "{words:?}"
        );
    }
    bench
        .run(&["trend", "b"])
        .refused(9, "no run of b", "bench history");
    bench
        .run(&["trend", "a", "--metric", "speed"])
        .refused(2, "'speed'", "--help");
}

#[test]
fn a_file_that_is_no_history_is_refused_before_the_measurement_where_it_was_named() {
    let bench = Bench::new();
    let odd = bench.folder.write("odd.sqlite", "not a database at all");
    for words in [
        &["history", "--history", &odd][..],
        &["trend", "a", "--history", &odd],
        &["baseline", "--history", &odd, "list"],
    ] {
        bench.run(words).refused(7, "history", "--history");
    }
    let words = [&QUICK[..], &["--history", &odd, "--events", "events"]].concat();
    bench.run(&words).refused(7, "history", "--history");
    assert!(!bench.folder.names().contains(&"events".to_owned()));
    assert_eq!(bench.folder.read("odd.sqlite"), b"not a database at all");
}

/// What a local server answers to a GET.
fn page(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    answer
}

#[test]
fn a_run_that_is_over_can_be_served() {
    let bench = Bench::new();
    let fast = bench.script("fast.toml", FAST, CLOSED);
    assert_eq!(bench.run(&["run", &fast, "-q", "-o", "run.json"]).code, 0);
    let mut command = bench.command(&["serve", "run.json", "--listen", "127.0.0.1:0"]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut told = String::new();
    BufReader::new(child.stderr.take().unwrap())
        .read_line(&mut told)
        .unwrap();
    let address = told.trim().strip_prefix("dashboard: http://").unwrap();
    let address = address.trim_end_matches('/').to_owned();
    let snapshot = page(&address, "/snapshot.json");
    let (_, body) = snapshot.split_once("\r\n\r\n").unwrap();
    assert!(
        body.contains("\"id\":\"a\"") || body.contains("\"a\""),
        "{body}"
    );
    assert!(page(&address, "/trends").contains("<svg"));
    signal("TERM", child.id());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_run_that_cannot_be_looked_at_is_refused() {
    let bench = Bench::new();
    let fast = bench.script("fast.toml", FAST, CLOSED);
    assert_eq!(bench.run(&["run", &fast, "-q", "-o", "run.json"]).code, 0);
    bench.folder.write("odd.json", "{}");
    for words in [&["watch"][..], &["serve", "--listen", "127.0.0.1:0"]] {
        let ask = |what: &str| bench.run(&[words, &[what]].concat());
        ask("odd.json").refused(7, "no result", "--format json");
        ask("00000000000000aa").refused(9, "no run", "bench history");
    }
    bench
        .run(&["watch", "run.json"])
        .refused(2, "terminal", "terminal");
    bench
        .run(&["serve", "run.json", "--listen", "0.0.0.0:0"])
        .refused(13, "from elsewhere", "127.0.0.1");
}
