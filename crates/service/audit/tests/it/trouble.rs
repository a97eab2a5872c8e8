//! A disk that is full, broken or gone: nothing is acknowledged unlogged, and no restart is needed (W8).

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::time::{Duration, Instant};

use keywright_audit::log::{Log, SyncMode};
use keywright_audit::show::{Filter, show};
use keywright_audit::writer::Writer;
use keywright_audit::{AuditError, Fault, HeadKind, RecordType, Room, testing};
use keywright_types::Operation;

use crate::support::*;

/// The request ids that the log holds.
fn logged(dir: &std::path::Path) -> BTreeSet<String> {
    show(dir, Filter::default())
        .unwrap()
        .map(Result::unwrap)
        .filter(|record| record["type"] == "request")
        .map(|record| record["request"].as_str().unwrap().to_owned())
        .collect()
}

fn id(number: u64) -> String {
    request(number).request.to_string()
}

fn try_one(writer: &mut Writer, number: u64) -> Result<(), AuditError> {
    let ticket = writer.append(&request(number).into())?;
    assert!(writer.flush()?.covers(ticket));
    Ok(())
}

/// Waits until the log works again, as a server does: by trying.
#[expect(clippy::disallowed_methods, reason = "real waiting")]
fn recover(writer: &mut Writer, number: u64) {
    let end = Instant::now() + Duration::from_secs(20);
    while try_one(writer, number).is_err() {
        assert!(Instant::now() < end, "no recovery");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn nothing_is_acknowledged_unlogged_wherever_a_write_breaks() {
    for (kind, room) in [
        (ErrorKind::StorageFull, 0),
        (ErrorKind::StorageFull, 1),
        (ErrorKind::StorageFull, 150),
        (ErrorKind::StorageFull, 151),
        (ErrorKind::Other, 700),
        (ErrorKind::Other, 3),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (log, faults) = open_faulty(folder.path());
        let mut writer = log.writer().unwrap();
        append_all(&mut writer, 0..3);
        faults.fail_writes(kind, room);
        let (mut acknowledged, mut refused) = (BTreeSet::new(), BTreeSet::new());
        for number in 3..20 {
            match try_one(&mut writer, number) {
                Ok(()) => assert!(acknowledged.insert(id(number))),
                Err(AuditError::Unavailable) => assert!(refused.insert(id(number))),
                Err(other) => panic!("{other}"),
            }
        }
        assert!(!refused.is_empty());
        assert!(!log.health().is_good());
        faults.heal();
        recover(&mut writer, 20);
        append_all(&mut writer, 21..25);
        assert!(log.health().writers_failing == 0);
        drop(writer);
        log.shutdown().unwrap();
        let report = verify(folder.path()).unwrap();
        assert_eq!((report.cut, report.unsigned, report.crashes), (0, 0, 0));
        let logged = logged(folder.path());
        assert!(logged.is_superset(&acknowledged));
        assert!(
            logged.is_disjoint(&refused),
            "refused, yet recorded as done"
        );
        assert!(logged.contains(&id(24)));
    }
}

#[test]
fn a_failed_flush_voids_every_record_since_the_last() {
    let folder = tempfile::tempdir().unwrap();
    let (log, faults) = open_faulty(folder.path());
    let mut writer = log.writer().unwrap();
    append_all(&mut writer, 0..2);
    let tickets: Vec<_> = (2..6)
        .map(|number| writer.append(&request(number).into()).unwrap())
        .collect();
    // Room for two of the four: they are on the disk for a moment, and no answer left for them.
    faults.fail_writes(ErrorKind::StorageFull, 310);
    assert!(matches!(writer.flush(), Err(AuditError::Unavailable)));
    faults.heal();
    recover(&mut writer, 6);
    let written = writer.flush().unwrap();
    assert!(tickets.into_iter().all(|ticket| !written.covers(ticket)));
    drop(writer);
    log.shutdown().unwrap();
    assert!(verify(folder.path()).is_ok());
    assert_eq!(logged(folder.path()), BTreeSet::from([id(0), id(1), id(6)]));
}

#[test]
fn what_was_lost_behind_a_reserved_record_is_reported_by_the_next_flush() {
    let folder = tempfile::tempdir().unwrap();
    let (log, faults) = open_faulty(folder.path());
    let mut writer = log.writer().unwrap();
    let _lost = writer.append(&request(0).into()).unwrap();
    faults.fail_writes(ErrorKind::StorageFull, 0);
    writer.append_reserved(&request(1).into()).unwrap();
    assert!(matches!(
        writer.append(&request(2).into()),
        Err(AuditError::Unavailable)
    ));
    assert!(matches!(writer.flush(), Err(AuditError::Unavailable)));
    faults.heal();
    recover(&mut writer, 3);
    drop(writer);
    log.shutdown().unwrap();
    assert!(verify(folder.path()).is_ok());
    assert_eq!(logged(folder.path()), BTreeSet::from([id(1), id(3)]));
}

#[test]
fn a_tail_that_cannot_be_cut_off_makes_the_boot_end_as_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let (log, faults) = open_faulty(folder.path());
    let mut writer = log.writer().unwrap();
    append_all(&mut writer, 0..2);
    faults.fail_cuts();
    faults.fail_writes(ErrorKind::Other, 77);
    assert!(try_one(&mut writer, 2).is_err());
    faults.heal();
    faults.fail_cuts();
    recover(&mut writer, 3);
    // The head that ends the torn file is signed while nothing can be cut.
    log.sign_head().unwrap();
    drop(writer);
    faults.heal();
    let last = log.shutdown().unwrap();
    assert_eq!(last.head().statement.kind(), HeadKind::Running);
    let report = verify(folder.path()).unwrap();
    assert_eq!((report.cut, report.crashes), (1, 1));
    open(folder.path()).shutdown().unwrap();
    assert_eq!(verify(folder.path()).unwrap().cut, 1);
}

#[test]
fn a_failed_sync_moves_the_writer_to_another_file() {
    let folder = tempfile::tempdir().unwrap();
    let (log, faults) = open_faulty(folder.path());
    let mut writer = log.writer().unwrap();
    append_all(&mut writer, 0..2);
    let ticket = writer.append(&request(2).into()).unwrap();
    faults.fail_syncs();
    assert!(matches!(writer.sync(), Err(AuditError::Unavailable)));
    assert!(log.sign_head().is_err());
    assert!(log.health().heads_failing);
    assert!(matches!(
        writer.append(&request(3).into()),
        Err(AuditError::Unavailable)
    ));
    faults.heal();
    recover(&mut writer, 4);
    assert_ne!(
        writer.append(&request(5).into()).unwrap().file(),
        ticket.file()
    );
    writer.sync().unwrap();
    drop(writer);
    log.shutdown().unwrap();
    assert!(verify(folder.path()).is_ok());
}

/// A log whose thread syncs only when it is asked to, so that the test says who syncs when.
fn open_quiet(dir: &std::path::Path, file_limit: u64) -> (Log, testing::Faults) {
    let faults = testing::Faults::default();
    let mut settings = settings(dir);
    settings.sync = SyncMode::Grouped(Duration::from_secs(3_600));
    settings.file_limit = file_limit;
    (testing::open(settings, &faults).unwrap(), faults)
}

#[test]
fn of_two_syncs_at_once_neither_takes_a_loss_that_is_told_once_for_success() {
    for _ in 0..4 {
        let folder = tempfile::tempdir().unwrap();
        let (log, faults) = open_quiet(folder.path(), 1 << 20);
        let mut writer = log.writer().unwrap();
        append_all(&mut writer, 0..1);
        writer.sync().unwrap();
        let lost = writer.append(&request(1).into()).unwrap();
        assert!(writer.flush().unwrap().covers(lost));
        faults.fail_one_sync();
        let together = std::sync::Barrier::new(2);
        let (synced, head) = std::thread::scope(|scope| {
            let sync = scope.spawn(|| {
                together.wait();
                writer.sync()
            });
            together.wait();
            let head = log.sign_head().unwrap();
            (sync.join().unwrap(), head)
        });
        assert!(matches!(synced, Err(AuditError::Unavailable)));
        // The keeper goes on, but states nothing that may be lost: not now, not after the writer has
        // left the file, and not when a later sync would be told that all is well.
        let later = log.sign_head().unwrap();
        recover(&mut writer, 2);
        let last = log.shutdown().unwrap();
        for head in [&head, &later, &last] {
            let mut states = head.head().files.iter();
            let state = states.find(|state| state.file == lost.file()).unwrap();
            assert_eq!(state.sequence, lost.sequence() - 1);
        }
        assert_eq!(last.head().statement.kind(), HeadKind::Running);
        drop(writer);
        let report = verify(folder.path()).unwrap();
        assert_eq!((report.cut, report.unsigned, report.crashes), (0, 1, 1));
        open(folder.path()).shutdown().unwrap();
        assert_eq!(verify(folder.path()).unwrap().unsigned, 0);
    }
}

#[test]
fn a_loss_that_the_keeper_was_told_of_refuses_the_writers_next_sync() {
    let folder = tempfile::tempdir().unwrap();
    let (log, faults) = open_quiet(folder.path(), 1 << 20);
    let mut writer = log.writer().unwrap();
    append_all(&mut writer, 0..1);
    faults.fail_one_sync();
    log.sign_head().unwrap();
    // Nothing is pending and the disk is whole again; the flushed record is lost all the same.
    assert!(matches!(writer.sync(), Err(AuditError::Unavailable)));
    recover(&mut writer, 1);
    writer.sync().unwrap();
    drop(writer);
    log.shutdown().unwrap();
    assert!(verify(folder.path()).is_ok());
}

#[test]
fn a_sync_that_went_on_to_a_new_file_reports_the_loss_in_the_full_one() {
    let folder = tempfile::tempdir().unwrap();
    let (log, faults) = open_quiet(folder.path(), 400);
    let mut writer = log.writer().unwrap();
    let before = record_files(folder.path()).len();
    for number in 0..3 {
        let _refused = writer.append(&request(number).into()).unwrap();
    }
    faults.fail_one_sync();
    assert!(matches!(writer.sync(), Err(AuditError::Unavailable)));
    assert_eq!(record_files(folder.path()).len(), before + 1);
    drop(writer);
    let last = log.shutdown().unwrap();
    assert_eq!(last.head().statement.kind(), HeadKind::Running);
    assert!(verify(folder.path()).is_ok());
}

#[test]
fn a_file_that_is_unlinked_or_renamed_is_left_and_missed() {
    for rename in [Some("rotated.1"), None] {
        let folder = tempfile::tempdir().unwrap();
        let log = open(folder.path());
        let mut writer = log.writer().unwrap();
        append_all(&mut writer, 0..2);
        writer.sync().unwrap();
        let path = record_files(folder.path()).pop().unwrap();
        match rename {
            Some(to) => fs::rename(&path, folder.path().join(to)).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        let _lost = writer.append(&request(2).into()).unwrap();
        assert!(matches!(writer.sync(), Err(AuditError::Unavailable)));
        recover(&mut writer, 3);
        drop(writer);
        log.shutdown().unwrap();
        // The log says itself that a file is gone.
        assert_eq!(fault(folder.path()), Fault::Missing);
    }
}

#[test]
fn strict_mode_does_not_release_before_the_medium_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let faults = testing::Faults::default();
    let mut settings = settings(folder.path());
    settings.sync = SyncMode::Strict;
    let log = testing::open(settings, &faults).unwrap();
    let mut writer = log.writer().unwrap();
    let ticket = writer.append(&request(0).into()).unwrap();
    assert!(writer.commit().unwrap().covers(ticket));
    let _refused = writer.append(&request(1).into()).unwrap();
    faults.fail_syncs();
    assert!(matches!(writer.commit(), Err(AuditError::Unavailable)));
    faults.heal();
    recover(&mut writer, 2);
    drop(writer);
    log.shutdown().unwrap();
    assert!(verify(folder.path()).is_ok());
}

#[test]
fn revoke_suspend_and_shutdown_are_recorded_on_a_full_disk() {
    let folder = tempfile::tempdir().unwrap();
    let (log, faults) = open_faulty(folder.path());
    let mut writer = log.writer().unwrap();
    append_all(&mut writer, 0..2);
    faults.fail_writes(ErrorKind::StorageFull, 0);
    assert!(try_one(&mut writer, 2).is_err());
    let mut revoke = request(3);
    revoke.operation = Operation::PkiRevoke;
    let order = writer.begin_order(&revoke.into(), Room::Reserved).unwrap();
    order.finish(&mut writer, &revoke.into()).unwrap();
    let head = log.sign_head().unwrap();
    assert!(head.head().files.iter().any(|state| state.sequence == 3));
    // Ordinary records stay refused.
    assert!(try_one(&mut writer, 4).is_err());
    drop(writer);
    assert_eq!(
        log.shutdown().unwrap().head().statement.kind(),
        HeadKind::Shutdown
    );
    faults.heal();
    let report = verify(folder.path()).unwrap();
    assert_eq!(report.records_of(RecordType::OrderBefore), 1);
    assert_eq!(report.records_of(RecordType::OrderAfter), 1);
    assert_eq!(report.records_of(RecordType::NodeStop), 1);
    assert_eq!(report.crashes, 0);
    // The next start has its reserve again, and nothing to settle.
    let mut log = open(folder.path());
    assert!(log.take_unfinished().is_empty());
    log.shutdown().unwrap();
    assert!(verify(folder.path()).is_ok());
}

#[test]
fn the_reserve_is_laid_out_again_when_the_disk_has_space() {
    let folder = tempfile::tempdir().unwrap();
    let (log, faults) = open_faulty(folder.path());
    let mut writer = log.writer().unwrap();
    faults.fail_writes(ErrorKind::StorageFull, 0);
    writer.append_reserved(&request(0).into()).unwrap();
    log.sign_head().unwrap();
    let reserve = folder.path().join("reserve-records");
    assert!(!reserve.exists());
    faults.heal();
    recover(&mut writer, 1);
    for _ in 0..100 {
        if reserve.exists() && folder.path().join("reserve-heads").exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(reserve.exists());
    faults.fail_writes(ErrorKind::StorageFull, 0);
    writer.append_reserved(&request(2).into()).unwrap();
    faults.heal();
    drop(writer);
    log.shutdown().unwrap();
    assert!(verify(folder.path()).is_ok());
    assert_eq!(logged(folder.path()), BTreeSet::from([id(0), id(1), id(2)]));
}

#[test]
fn a_crash_leaves_the_reserve_in_a_state_the_verifier_knows() {
    let folder = tempfile::tempdir().unwrap();
    let (log, faults) = open_faulty(folder.path());
    let mut writer = log.writer().unwrap();
    faults.fail_writes(ErrorKind::StorageFull, 0);
    writer.append_reserved(&request(0).into()).unwrap();
    testing::crash(log);
    drop(writer);
    let report = verify(folder.path()).unwrap();
    assert_eq!((report.records_of(RecordType::Request), report.cut), (1, 1));
    // The zeros behind its records may hold nothing else.
    let path = record_files(folder.path()).pop().unwrap();
    let whole = fs::read(&path).unwrap();
    assert_eq!(whole.len() as u64, RESERVE);
    let mut changed = whole.clone();
    changed[40_000] = 1;
    fs::write(&path, changed).unwrap();
    assert!(verify(folder.path()).is_err());
    fs::write(&path, whole).unwrap();
    let log = open(folder.path());
    assert!(log.damage().is_empty());
    log.shutdown().unwrap();
    assert!(verify(folder.path()).is_ok());
}

#[test]
fn a_log_that_was_closed_takes_nothing_more() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path());
    let mut writer = log.writer().unwrap();
    append_all(&mut writer, 0..2);
    let _pending = writer.append(&request(2).into()).unwrap();
    log.shutdown().unwrap();
    assert!(writer.flush().is_err());
    assert!(try_one(&mut writer, 3).is_err());
    assert!(writer.append_reserved(&request(4).into()).is_err());
    drop(writer);
    assert!(verify(folder.path()).is_ok());
    assert_eq!(logged(folder.path()).len(), 2);
}

#[test]
fn one_folder_has_one_log() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path());
    assert!(matches!(
        Log::open(settings(folder.path())),
        Err(AuditError::InUse)
    ));
    log.shutdown().unwrap();
    open(folder.path()).shutdown().unwrap();
}

#[test]
fn a_log_that_was_shut_down_is_free_although_its_writers_are_still_there() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path());
    let mut writer = log.writer().unwrap();
    append_all(&mut writer, 0..2);
    log.shutdown().unwrap();
    let next = Log::open(settings(folder.path())).unwrap();
    assert!(try_one(&mut writer, 2).is_err());
    drop(writer);
    assert!(
        matches!(Log::open(settings(folder.path())), Err(AuditError::InUse)),
        "the last writer takes no lock of others along"
    );
    next.shutdown().unwrap();
    assert_eq!(logged(folder.path()).len(), 2);
    assert!(verify(folder.path()).is_ok());
}

#[test]
fn files_are_private_and_a_full_file_is_followed_by_the_next() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("audit");
    let mut settings = settings(&dir);
    settings.file_limit = 4_000;
    let log = Log::open(settings).unwrap();
    let mut writer = log.writer().unwrap();
    append_all(&mut writer, 0..200);
    drop(writer);
    log.shutdown().unwrap();
    assert!(record_files(&dir).len() > 5);
    assert_eq!(verify(&dir).unwrap().records_of(RecordType::Request), 200);
    assert_eq!(
        fs::metadata(&dir).unwrap().permissions().mode() & 0o777,
        0o700
    );
    for found in fs::read_dir(&dir).unwrap() {
        let mode = found.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
