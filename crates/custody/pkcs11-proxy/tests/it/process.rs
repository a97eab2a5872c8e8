//! Threads, forks, and processes that do not end well.

use std::collections::BTreeMap;
use std::path::Path;

use cryptoki_sys::*;
use keywright_pkcs11_names::CallRecord;

use crate::caller::{self, in_another, records};
use crate::world::{World, call_all};

#[test]
fn calls_of_a_thread_stand_in_their_order_and_none_is_missing() {
    const THREADS: usize = 6;
    let test = "process::calls_of_a_thread_stand_in_their_order_and_none_is_missing";
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let environment = [
        ("KEYWRIGHT_P11_LOG", log.as_path()),
        ("KEYWRIGHT_P11_QUEUE", Path::new("100000")),
    ];
    let done = in_another(test, &environment, || {
        let (_, fake, list) = caller::loaded();
        fake.answer(CKR_OK);
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    let mut world = World::new();
                    for _ in 0..20 {
                        call_all(&list, &mut world, |_| {});
                    }
                });
            }
        });
    });
    if done.is_none() {
        return;
    }
    let records = records(&log);
    let mut threads: BTreeMap<u64, Vec<&CallRecord<'_>>> = BTreeMap::new();
    for record in &records[1..] {
        assert_eq!(record.dropped, None);
        threads.entry(record.tid.unwrap()).or_default().push(record);
    }
    assert_eq!(threads.len(), THREADS);
    for calls in threads.values() {
        assert_eq!(calls.len(), 20 * 68);
        for (number, call) in calls.iter().enumerate() {
            assert_eq!(call.function().unwrap().index(), number % 68);
        }
        assert!(calls.is_sorted_by_key(|call| call.mono_ns));
    }
}

#[test]
#[expect(unsafe_code, reason = "fork is what the test is about")]
#[expect(
    clippy::too_many_lines,
    reason = "the parent, the child, and what both must have left"
)]
fn a_forked_child_writes_a_log_of_its_own_even_when_threads_were_calling() {
    let test = "process::a_forked_child_writes_a_log_of_its_own_even_when_threads_were_calling";
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let environment = [
        ("KEYWRIGHT_P11_LOG", log.as_path()),
        ("KEYWRIGHT_P11_QUEUE", Path::new("100000")),
    ];
    let done = in_another(test, &environment, || {
        let (_, fake, list) = caller::loaded();
        fake.answer(CKR_OK);
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut world = World::new();
                while stopped.try_recv() != Err(std::sync::mpsc::TryRecvError::Disconnected) {
                    call_all(&list, &mut world, |_| {});
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
            });
            for _ in 0..5 {
                // SAFETY: the child calls the module and ends; it takes no lock that this program's threads hold.
                match unsafe { libc::fork() } {
                    0 => {
                        let session = list.C_CloseSession.unwrap();
                        for number in 0..100 {
                            // SAFETY: a function of the recorder that takes a number.
                            unsafe { session(number) };
                        }
                        // SAFETY: ends the child, handlers of the end included.
                        unsafe { libc::exit(0) };
                    }
                    child => {
                        let mut status = 0;
                        // SAFETY: a place for a number.
                        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
                        assert_eq!(status, 0);
                    }
                }
            }
            drop(stop);
        });
    });
    if done.is_none() {
        return;
    }
    let parent = records(&log)[0].pid.unwrap();
    let mut children = 0;
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let records = records(&path);
        let process = records[0].pid.unwrap();
        assert!(records.iter().all(|one| one.pid == Some(process)));
        if process == parent {
            assert_eq!(path, log);
            continue;
        }
        children += 1;
        assert!(path.to_str().unwrap().ends_with(&format!("log.{process}")));
        assert_eq!(records.len(), 100);
        assert!(
            (0..)
                .zip(&records)
                .all(|(number, one)| one.session == Some(number))
        );
        assert!(records.iter().all(|one| one.tid == Some(process)));
    }
    assert_eq!(children, 5);
}

#[test]
fn a_module_that_crashes_leaves_every_call_before_it() {
    let test = "process::a_module_that_crashes_leaves_every_call_before_it";
    if caller::is_body() {
        let (_, fake, list) = caller::loaded();
        fake.answer(CKR_OK);
        call_all(&list, &mut World::new(), |call| {
            if call.name == "C_SignInit" {
                fake.answer(u64::MAX);
            }
        });
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let output = caller::start(
        test,
        &[
            ("KEYWRIGHT_P11_LOG", &log),
            ("KEYWRIGHT_P11_WRITE", Path::new("now")),
        ],
    );
    assert!(!output.status.success());
    let records = records(&log);
    assert_eq!(records.last().unwrap().func, "C_SignInit");
    // C_SignInit has the place 42, and the table was asked for first.
    assert_eq!(records.len(), 1 + 43);
}

#[test]
fn records_are_written_soon_without_being_asked_for() {
    let test = "process::records_are_written_soon_without_being_asked_for";
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    in_another(test, &[("KEYWRIGHT_P11_LOG", &log)], || {
        let (_, fake, list) = caller::loaded();
        fake.answer(CKR_OK);
        let log = log_of_this_process();
        let lines = || {
            std::fs::read_to_string(&log)
                .unwrap_or_default()
                .lines()
                .count()
        };
        for round in 1..4 {
            call_all(&list, &mut World::new(), |_| {});
            // The process goes on, and nothing is called: the writer comes by itself.
            while lines() < 1 + round * 68 {
                std::thread::yield_now();
            }
        }
    });
}

#[expect(
    clippy::disallowed_methods,
    reason = "where the other process put its log"
)]
fn log_of_this_process() -> std::path::PathBuf {
    std::env::var_os("KEYWRIGHT_P11_LOG").unwrap().into()
}
