//! An order is recorded before and after, and what a crash left open is found (design 7.29).

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use keywright_audit::log::Log;
use keywright_audit::record::Facts;
use keywright_audit::{RecordType, Room, testing};
use keywright_types::{Code, Operation};

use crate::support::*;

fn rotate(number: u64) -> Facts {
    Facts {
        operation: Operation::KeyRotate,
        ..request(number)
    }
}

#[test]
fn a_finished_order_leaves_nothing_to_settle() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path());
    let mut writer = log.writer().unwrap();
    let order = writer
        .begin_order(&rotate(1).into(), Room::Ordinary)
        .unwrap();
    order.finish(&mut writer, &rotate(1).into()).unwrap();
    testing::crash(log);
    drop(writer);
    let mut log = open(folder.path());
    assert!(log.take_unfinished().is_empty());
    log.shutdown().unwrap();
    let report = verify(folder.path()).unwrap();
    assert_eq!(report.records_of(RecordType::OrderBefore), 1);
    assert_eq!(report.records_of(RecordType::OrderAfter), 1);
}

#[test]
fn an_order_without_an_end_is_found_until_it_is_settled() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path());
    let mut writer = log.writer().unwrap();
    let done = writer
        .begin_order(&rotate(1).into(), Room::Ordinary)
        .unwrap();
    let open_order = writer
        .begin_order(&rotate(2).into(), Room::Ordinary)
        .unwrap();
    done.finish(&mut writer, &rotate(1).into()).unwrap();
    // Under heads, so that the next start must look behind the newest one.
    log.sign_head().unwrap();
    append_all(&mut writer, 10..20);
    log.sign_head().unwrap();
    drop(open_order);
    testing::crash(log);
    drop(writer);
    // Two starts that do not come to settling it.
    for _ in 0..2 {
        let mut log = open(folder.path());
        let found = log.take_unfinished();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0.facts().request, rotate(2).request);
        assert_eq!(found[0].0.facts().operation, Operation::KeyRotate);
        assert!(log.take_unfinished().is_empty());
        log.shutdown().unwrap();
    }
    let mut log = open(folder.path());
    let (unfinished, order) = log.take_unfinished().pop().unwrap();
    let mut settled = *unfinished.facts();
    settled.outcome = Code::Interrupted;
    let mut writer = log.writer().unwrap();
    order.settle(&mut writer, &settled.into()).unwrap();
    drop(writer);
    log.shutdown().unwrap();
    let mut log = open(folder.path());
    assert!(log.take_unfinished().is_empty());
    log.shutdown().unwrap();
    let report = verify(folder.path()).unwrap();
    assert_eq!(report.records_of(RecordType::OrderSettled), 1);
    assert_eq!(report.by_outcome[&Code::Interrupted], 1);
}

#[test]
fn an_end_that_could_not_be_recorded_can_be_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let (log, faults) = open_faulty(folder.path());
    let mut writer = log.writer().unwrap();
    let order = writer
        .begin_order(&rotate(1).into(), Room::Ordinary)
        .unwrap();
    faults.fail_writes(std::io::ErrorKind::Other, 10);
    let (order, _) = order.finish(&mut writer, &rotate(1).into()).unwrap_err();
    assert!(
        writer
            .begin_order(&rotate(2).into(), Room::Ordinary)
            .is_err()
    );
    faults.heal();
    let mut other = loop {
        if let Ok(writer) = log.writer() {
            break writer;
        }
    };
    log.sign_head().unwrap();
    order.finish(&mut other, &rotate(1).into()).unwrap();
    drop((writer, other));
    log.shutdown().unwrap();
    let mut log = Log::open(settings(folder.path())).unwrap();
    assert!(log.take_unfinished().is_empty());
    log.shutdown().unwrap();
    assert!(verify(folder.path()).is_ok());
}

#[test]
fn two_writers_under_one_log_have_a_chain_each() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path());
    let turn = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for writer_number in 0..2_u64 {
            let mut writer = log.writer().unwrap();
            let (turn, log) = (&turn, &log);
            scope.spawn(move || {
                for number in 0..200 {
                    append_all(
                        &mut writer,
                        writer_number * 1000 + number..writer_number * 1000 + number + 1,
                    );
                    if turn.fetch_add(1, Ordering::SeqCst) % 50 == 0 {
                        log.sign_head().unwrap();
                    }
                }
            });
        }
    });
    log.shutdown().unwrap();
    let report = verify(folder.path()).unwrap();
    assert_eq!(report.records_of(RecordType::Request), 400);
    assert_eq!(report.files, 3);
    assert!(report.heads >= 8);
}

#[test]
fn a_running_log_can_be_verified() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = settings(folder.path());
    settings.file_limit = 20_000;
    let log = Log::open(settings).unwrap();
    // Each look allows so many records more, which are written while it looks. Without a bound the log would grow by a
    // part of itself with each look: where a look takes long, without end.
    const EACH: u64 = 100;
    let (allowed, done) = (AtomicU64::new(0), AtomicBool::new(false));
    let (mut records, mut broken) = (Vec::new(), None);
    std::thread::scope(|scope| {
        let mut writer = log.writer().unwrap();
        let (allowed, done, log) = (&allowed, &done, &log);
        scope.spawn(move || {
            let mut number = 0;
            while !done.load(Ordering::SeqCst) {
                if number < allowed.load(Ordering::SeqCst) {
                    append_all(&mut writer, number..number + EACH / 2);
                    number += EACH / 2;
                    log.sign_head().unwrap();
                } else {
                    std::thread::sleep(Duration::from_micros(50));
                }
            }
        });
        while records.len() < 30 || records.last() < Some(&1_000) {
            allowed.fetch_add(EACH, Ordering::SeqCst);
            match verify(folder.path()) {
                Ok(report) if report.boots == 1 => records.push(report.records),
                other => {
                    broken = Some(other);
                    break;
                }
            }
        }
        done.store(true, Ordering::SeqCst);
    });
    assert!(broken.is_none(), "{broken:?}");
    assert!(records.is_sorted(), "what was seen is seen again");
    log.shutdown().unwrap();
    assert!(verify(folder.path()).unwrap().files > 3);
}
