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

/// Calls until the module is told to crash in the one after `C_SignInit`.
fn calls_into_a_crash(how: u64) {
    let (_, fake, list) = caller::loaded();
    fake.answer(CKR_OK);
    call_all(&list, &mut World::new(), |call| {
        if call.name == "C_SignInit" {
            fake.answer(how);
        }
    });
}

/// The log ends with the last call that came back, each before it is there, and no line is cut.
#[track_caller]
fn whole_to_the_crash(log: &Path) {
    let records = records(log);
    assert_eq!(records.last().unwrap().func, "C_SignInit");
    // C_SignInit has the place 42, and the table was asked for first.
    assert_eq!(records.len(), 1 + 43);
}

/// Aborts, and writes where nothing is.
const CRASHES: [(u64, i32); 2] = [(u64::MAX, libc::SIGABRT), (u64::MAX - 1, libc::SIGSEGV)];
const HOW: &str = "RECORDER_TEST_CRASH";

#[expect(
    clippy::disallowed_methods,
    reason = "how the first process tells the second what to do"
)]
fn how() -> u64 {
    std::env::var(HOW).unwrap().parse().unwrap()
}

#[test]
fn a_module_that_crashes_leaves_every_call_before_it_and_ends_the_process_as_it_would() {
    use std::os::unix::process::ExitStatusExt as _;
    let test = "process::a_module_that_crashes_leaves_every_call_before_it_and_ends_the_process_as_it_would";
    if caller::is_body() {
        calls_into_a_crash(how());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for write in ["", "now"] {
        for (crash, signal) in CRASHES {
            let log = folder.path().join(format!("log-{write}-{signal}"));
            let number = crash.to_string();
            let environment = [
                ("KEYWRIGHT_P11_LOG", log.as_path()),
                ("KEYWRIGHT_P11_WRITE", Path::new(write)),
                (HOW, Path::new(&number)),
            ];
            let output = caller::start(test, &environment);
            assert_eq!(output.status.signal(), Some(signal), "{write}");
            whole_to_the_crash(&log);
        }
    }
}

#[test]
#[expect(unsafe_code, reason = "a handler of signals is the operating system's")]
fn a_program_with_a_handler_of_its_own_meets_the_crash_as_without_the_recorder() {
    extern "C" fn mine(_: libc::c_int) {
        // SAFETY: ends the process at once.
        unsafe { libc::_exit(42) };
    }
    let test =
        "process::a_program_with_a_handler_of_its_own_meets_the_crash_as_without_the_recorder";
    if caller::is_body() {
        for (_, signal) in CRASHES {
            // SAFETY: a function that does nothing but end the process.
            unsafe { libc::signal(signal, mine as *const () as usize) };
        }
        calls_into_a_crash(how());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (crash, signal) in CRASHES {
        let log = folder.path().join(signal.to_string());
        let number = crash.to_string();
        let environment = [
            ("KEYWRIGHT_P11_LOG", log.as_path()),
            (HOW, Path::new(&number)),
        ];
        let output = caller::start(test, &environment);
        assert_eq!(output.status.code(), Some(42), "{signal}");
        whole_to_the_crash(&log);
    }
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
            for _ in 0..6000 {
                if lines() == 1 + round * 68 {
                    break;
                }
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            assert_eq!(lines(), 1 + round * 68);
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
