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
    for log in [
        Path::new("/dev/full"),
        Path::new("/nowhere/log"),
        folder.path(),
        &pipe,
        &socket,
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
