//! A slow, full or missing log costs records and never a call; what was dropped is counted.

use std::path::{Path, PathBuf};

use cryptoki_sys::*;

use crate::caller::{self, in_another, records};
use crate::world::{World, call_all};

/// Calls of one table of 68 functions.
fn rounds(count: usize) {
    let (_, fake, list) = caller::loaded();
    let mut world = World::new();
    for round in 0..count {
        let code = [CKR_OK, CKR_DEVICE_ERROR][round % 2];
        fake.answer(if round == 0 { CKR_OK } else { code });
        call_all(&list, &mut world, |call| {
            assert!(
                call.answer
                    .is_none_or(|answer| answer == CKR_OK || answer == code)
            );
        });
    }
}

#[test]
fn a_log_that_cannot_be_written_changes_no_answer() {
    let test = "log::a_log_that_cannot_be_written_changes_no_answer";
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let socket = PathBuf::from(format!("unix:{}", folder.path().join("none").display()));
    // One that takes connections and never answers, one that refuses them, one that is none.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = PathBuf::from(format!("otlp:http://{}", listener.local_addr().unwrap()));
    for log in [
        Path::new("/dev/full"),
        Path::new("/nowhere/log"),
        folder.path(),
        &pipe,
        &socket,
        &silent,
        Path::new("otlp:http://127.0.0.1:1"),
        Path::new("otlp:nowhere"),
    ] {
        for write in ["now", ""] {
            let environment = [
                ("KEYWRIGHT_P11_LOG", log),
                ("KEYWRIGHT_P11_WRITE", Path::new(write)),
            ];
            if in_another(test, &environment, || rounds(20)).is_none() {
                return;
            }
        }
    }
}

#[test]
fn what_the_queue_has_no_room_for_is_counted_to_the_last() {
    let test = "log::what_the_queue_has_no_room_for_is_counted_to_the_last";
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let environment = [
        ("KEYWRIGHT_P11_LOG", log.as_path()),
        ("KEYWRIGHT_P11_QUEUE", Path::new("1")),
    ];
    if in_another(test, &environment, || rounds(200)).is_none() {
        return;
    }
    let records = records(&log);
    let dropped: u64 = records.iter().filter_map(|one| one.dropped).sum();
    let written = records
        .iter()
        .filter(|one| one.func != "recorder:end")
        .count();
    // One call asks for the table.
    assert_eq!(written as u64 + dropped, 1 + 200 * 68);
    assert!(dropped > 0, "a queue of one took everything");
    for (number, record) in (0..).zip(&records) {
        assert_eq!(record.seq, Some(number));
    }
}

#[test]
fn files_are_set_aside_by_size_and_every_line_is_whole() {
    let test = "log::files_are_set_aside_by_size_and_every_line_is_whole";
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let environment = [
        ("KEYWRIGHT_P11_LOG", log.as_path()),
        ("KEYWRIGHT_P11_WRITE", Path::new("now")),
        ("KEYWRIGHT_P11_ROTATE", Path::new("8K")),
        ("KEYWRIGHT_P11_KEEP", Path::new("100")),
    ];
    if in_another(test, &environment, || rounds(3)).is_none() {
        return;
    }
    let mut calls = 0;
    let mut files = 0;
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        assert!(std::fs::metadata(&path).unwrap().len() <= 8192 + 4096);
        calls += records(&path).len();
        files += 1;
    }
    assert_eq!(calls, 1 + 3 * 68);
    assert!(files > 3);
}

#[test]
fn without_a_log_calls_are_forwarded_and_no_thread_is_started() {
    let test = "log::without_a_log_calls_are_forwarded_and_no_thread_is_started";
    in_another(test, &[], || {
        let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
        let before = threads();
        rounds(2);
        assert_eq!(threads(), before);
    });
}

#[test]
fn a_setting_that_is_not_understood_is_named_in_the_first_record() {
    let test = "log::a_setting_that_is_not_understood_is_named_in_the_first_record";
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let environment = [
        ("KEYWRIGHT_P11_LOG", log.as_path()),
        ("KEYWRIGHT_P11_QUEUE", Path::new("many")),
    ];
    if in_another(test, &environment, || rounds(1)).is_some() {
        let records = records(&log);
        assert!(
            records[0]
                .hint
                .as_ref()
                .unwrap()
                .contains("KEYWRIGHT_P11_QUEUE")
        );
        assert!(records[1].hint.is_none());
    }
}

/// Takes requests until one holds `last`, and gives back the spans of all.
fn spans_until(listener: &std::net::TcpListener, last: usize) -> Vec<serde_json::Value> {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    let mut spans = Vec::new();
    while spans.len() < last {
        let (stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream);
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            match line.trim_end() {
                "" => break,
                text => lines.push(text.to_owned()),
            }
        }
        assert_eq!(lines[0], "POST /v1/traces HTTP/1.1");
        let length = lines
            .iter()
            .find_map(|line| line.strip_prefix("Content-Length: "));
        let mut body = vec![0; length.unwrap().parse().unwrap()];
        reader.read_exact(&mut body).unwrap();
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
        reader.get_mut().write_all(answer).unwrap();
        let mut body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        let batch = &mut body["resourceSpans"][0]["scopeSpans"][0]["spans"];
        spans.append(batch.as_array_mut().unwrap());
    }
    spans
}

#[test]
fn a_collector_gets_every_call_as_a_span_and_operations_as_traces() {
    let test = "log::a_collector_gets_every_call_as_a_span_and_operations_as_traces";
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let to = PathBuf::from(format!("otlp:http://{}", listener.local_addr().unwrap()));
    let calls = 1 + 4 * 68;
    // The thread is there before the process that writes to it, and is only joined where one was started.
    let collector =
        (!caller::is_body()).then(|| std::thread::spawn(move || spans_until(&listener, calls)));
    if in_another(test, &[("KEYWRIGHT_P11_LOG", &to)], || rounds(4)).is_none() {
        return;
    }
    let spans = collector.unwrap().join().unwrap();
    assert_eq!(spans.len(), calls);
    let named = |name: &str| {
        spans
            .iter()
            .filter(|one| one["name"] == name)
            .collect::<Vec<_>>()
    };
    let (init, sign) = (named("C_SignInit"), named("C_Sign"));
    assert_eq!(init.len(), 4);
    assert_eq!(init[0]["traceId"], sign[0]["traceId"]);
    assert_ne!(init[0]["spanId"], sign[0]["spanId"]);
    assert_ne!(init[0]["traceId"], init[2]["traceId"]);
    assert!(init[0].get("status").is_none());
    assert_eq!(init[1]["status"]["message"], "CKR_DEVICE_ERROR");
    let number = |value: &serde_json::Value| value.as_str().unwrap().parse::<u64>().unwrap();
    for span in &spans {
        assert_eq!(span["traceId"].as_str().unwrap().len(), 32);
        assert_eq!(span["spanId"].as_str().unwrap().len(), 16);
        assert!(number(&span["endTimeUnixNano"]) >= number(&span["startTimeUnixNano"]));
    }
}
