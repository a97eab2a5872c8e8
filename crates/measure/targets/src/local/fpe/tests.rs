//! Every task is run, or one of its kind where there are many, and shown to notice a wrong output.

use std::collections::BTreeSet;
use std::path::Path;

use keywright_fpe::{Algorithm, Mode};
use keywright_measure::carry::Check;
use keywright_measure::{TargetError, Worker};

use super::super::spoil::spoilt;
use super::{Backend, Cipher, Symbols, Task, Way, operations};
use crate::operation::{Make, Operation, Setting};
use crate::suite::{Context, Shipped, Work};

fn setting(backend: Option<Backend>) -> Setting<'static> {
    Setting {
        seed: 11,
        index: 0,
        bytes: None,
        folder: Path::new("/nonexistent"),
        program: None,
        server_cpu: None,
        fpe_backend: backend,
    }
}

fn worker(operation: &Operation, backend: Option<Backend>) -> Box<dyn Worker> {
    let made = operation.worker(&setting(backend)).expect(operation.name);
    made.expect(operation.name)
}

fn assert_runs_and_notices(name: &str, worker: &mut dyn Worker) {
    for _ in 0..2 {
        worker.operate().expect(name);
        assert_eq!(worker.check(), Check::Right, "{name}");
    }
    worker.repeat(3).expect(name);
    assert_eq!(worker.check(), Check::Right, "{name}");
    assert_eq!(spoilt(|| worker.check()), Check::Wrong, "{name}");
}

fn task(operation: &Operation) -> Option<Task> {
    match operation.make {
        Make::Fpe(task) => Some(task),
        _ => None,
    }
}

/// Values so long that one operation takes a good part of a second.
fn is_long(operation: &Operation) -> bool {
    task(operation).is_some_and(|task| task.digits >= 100_000)
}

#[test]
fn every_operation_but_the_longest_runs_right_and_a_wrong_digit_of_it_is_found() {
    let mut left_out = 0;
    for operation in operations() {
        if is_long(operation) {
            left_out += 1;
            continue;
        }
        assert_runs_and_notices(operation.name, worker(operation, None).as_mut());
    }
    assert_eq!(left_out, 3);
}

#[test]
fn the_longest_run_right_and_a_wrong_digit_of_them_is_found() {
    for operation in operations().iter().filter(|row| is_long(row)) {
        assert_runs_and_notices(operation.name, worker(operation, None).as_mut());
    }
}

#[test]
fn every_backend_of_the_machine_is_measured_by_its_name_and_no_other_in_its_place() {
    for name in [
        "fpe.ff1.aes128.r10.n16.batch",
        "fpe.ff1.sm4.r10.n16.batch",
        "fpe.ff3-1.aes256.r10.n16.single",
        "fpe.ff3.sm4.r10.n16.oneshot",
    ] {
        let operation = operations().iter().find(|row| row.name == name).unwrap();
        let task = task(operation).unwrap();
        for backend in Backend::ALL {
            assert_eq!(task.backend(Some(backend)), backend);
            let algorithm = match task.cipher {
                Cipher::Sm4 => Algorithm::Sm4,
                _ => Algorithm::Aes,
            };
            let made = operation.worker(&setting(Some(backend))).unwrap();
            if backend.is_available() && backend.serves(algorithm) {
                assert_runs_and_notices(name, made.unwrap().as_mut());
                continue;
            }
            let refused = made.err().unwrap();
            assert!(
                matches!(&refused, TargetError::Unsupported { reason, .. } if reason.contains(backend.name())),
                "{refused}"
            );
        }
        assert!(task.backend(None).is_available());
    }
}

#[test]
fn names_are_made_of_the_tasks_and_none_stands_there_twice() {
    let mut names = BTreeSet::new();
    for operation in operations() {
        assert!(names.insert(operation.name), "{} twice", operation.name);
        let Some(task) = task(operation) else {
            assert!(
                operation.name.starts_with("peer.fpe-crate."),
                "{}",
                operation.name
            );
            continue;
        };
        assert_eq!(operation.name, task.to_string());
        assert_eq!(operation.target, "local");
        let batch = operation.name.contains(".batch");
        assert_eq!(operation.unit, if batch { "records" } else { "operations" });
        assert_eq!(operation.units > 1, batch, "{}", operation.name);
        assert_eq!(operation.bytes % operation.units, 0);
    }
    // What others rely on.
    for name in [
        "fpe.ff1.aes128.r10.n16.single",
        "fpe.ff1.aes128.r10.n16.batch",
        "fpe.ff1.aes128.r10.n16.oneshot",
        "fpe.ff1.aes128.r10.n16.inplace",
        "fpe.ff1.aes128.r10.n16.decrypt",
        "fpe.ff3-1.sm4.r10.n16.batch",
        "fpe.ff3.aes192.r10.n16.single",
        "fpe.ff1.aes128.r36.n20.batch",
        "fpe.ff1.aes128.r62.n24.batch",
        "fpe.ff1.aes128.base62.n24.batch",
        "fpe.ff1.aes128.r256.n32.batch",
        "fpe.ff1.aes128.r65536.n8.batch",
        "fpe.ff1.aes128.r10.n9.batch",
        "fpe.ff1.aes128.r10.n38.batch",
        "fpe.ff1.aes128.r10.n1000000.single",
        "fpe.ff1.aes128.r10.n16.batch.t16",
    ] {
        assert!(names.contains(name), "{name}");
    }
    #[cfg(feature = "peers")]
    assert!(names.contains("peer.fpe-crate.ff1.aes128.r10.n16"));
}

#[test]
fn the_suite_has_every_operation_and_no_other() {
    let all: Vec<&Operation> = operations().iter().collect();
    let context = Context {
        operations: &all,
        lookup: &|_| None,
    };
    let (suite, missing) = Shipped::find("seed-c")
        .unwrap()
        .suite_in_part(&context)
        .unwrap();
    let peers = if cfg!(feature = "peers") { 0 } else { 5 };
    assert_eq!(missing.len(), peers, "{missing:?}");
    let in_suite: BTreeSet<&str> = suite
        .cases
        .iter()
        .map(|case| match &case.work {
            Work::One(operation) => operation.name,
            _ => panic!("{} is no operation", case.plan.id),
        })
        .collect();
    let in_table: BTreeSet<&str> = all.iter().map(|operation| operation.name).collect();
    assert_eq!(in_suite, in_table);
    for threads in [1, 2, 4, 8, 16] {
        for row in ["ff1/aes128", "ff1/sm4", "ff3/aes128", "ff3-1/aes128"] {
            let id = format!("{row}/threads/concurrency={threads}");
            assert!(suite.cases.iter().any(|case| case.plan.id == id), "{id}");
        }
    }
}

#[test]
fn inputs_follow_from_the_seed_and_workers_do_not_share_them() {
    let operation = |name| operations().iter().find(|row| row.name == name).unwrap();
    let single = operation("fpe.ff1.aes128.r10.n16.single");
    // Sixteen digits that are right for one key and not for another show that the keys differ.
    let subject = |seed, index| {
        let setting = Setting {
            seed,
            index,
            ..setting(None)
        };
        let row = super::super::row::Row {
            name: single.name,
            bytes: 16,
            setting: &setting,
        };
        let mut subject = super::subject::Subject::new(task(single).unwrap(), &row).unwrap();
        let form = super::subject::Form::of(Symbols::Radix(10));
        (subject.tweak.clone(), subject.draw::<u8>(form))
    };
    assert_eq!(subject(1, 0), subject(1, 0));
    assert_ne!(subject(1, 0), subject(2, 0));
    assert_ne!(subject(1, 0), subject(1, 1));
}

#[test]
fn a_shape_that_a_mode_does_not_take_is_an_error_and_no_panic() {
    let good = Task {
        mode: Mode::Ff31,
        cipher: Cipher::Aes128,
        symbols: Symbols::Radix(10),
        digits: 16,
        way: Way::Single,
    };
    let refuse = |task: Task| {
        let made = task.worker("fpe.wrong", &setting(None));
        let mut worker = match made {
            Err(TargetError::Unsupported { .. }) => return,
            Err(other) => panic!("{other}"),
            Ok(worker) => worker,
        };
        assert!(worker.operate().is_err(), "{task}");
    };
    for wrong in [
        Task { digits: 5, ..good },
        Task { digits: 57, ..good },
        Task {
            symbols: Symbols::Radix(1),
            ..good
        },
        Task {
            symbols: Symbols::Radix(65_537),
            ..good
        },
    ] {
        for way in [
            Way::Single,
            Way::Oneshot,
            Way::Inplace,
            Way::Batch,
            Way::BatchTweaks,
        ] {
            refuse(Task { way, ..wrong });
        }
    }
}
