//! Who may sign, and which heads a log may end with.

use std::fs;
use std::sync::mpsc;
use std::time::Duration;

use keywright_audit::head::{HeadId, SignedHead};
use keywright_audit::log::Log;
use keywright_audit::verify::Verifier;
use keywright_audit::{AuditError, Fault, HeadKind, testing};
use keywright_clock::WallTime;
use keywright_types::{InstallationId, KeyVersion, NodeId};

use crate::support::*;

#[test]
fn a_log_signed_by_another_key_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut forged = settings(folder.path());
    forged.keys.signer = key(66);
    let log = Log::open(forged).unwrap();
    append_all(&mut log.writer().unwrap(), 0..3);
    log.shutdown().unwrap();
    assert_eq!(fault(folder.path()), Fault::Signer);
    assert!(
        Verifier::new(Some(fingerprint(66)))
            .verify(folder.path())
            .is_ok()
    );
}

#[test]
fn a_log_is_not_continued_under_another_name() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path()).shutdown().unwrap();
    for (installation, node) in [([0xA1; 16], [1; 16]), ([1; 16], [0xA2; 16])] {
        let mut other = settings(folder.path());
        other.identity.installation = InstallationId::from_bytes(installation);
        other.identity.node = NodeId::from_bytes(node);
        match Log::open(other) {
            Err(AuditError::Damaged(finding)) => assert_eq!(finding.fault, Fault::HeadOrder),
            other => panic!("{other:?}"),
        }
    }
    open(folder.path()).shutdown().unwrap();
    assert!(verify(folder.path()).is_ok());
}

#[test]
fn a_boot_by_another_key_cannot_be_appended() {
    let folder = small_log(2);
    let mut other = settings(folder.path());
    other.keys.signer = key(66);
    assert!(matches!(Log::open(other), Err(AuditError::SignerMismatch)));
    // The same by hand: a log of its own, put beside the true one.
    let foreign = tempfile::tempdir().unwrap();
    let mut other = settings(foreign.path());
    other.keys.signer = key(66);
    Log::open(other).unwrap().shutdown().unwrap();
    for path in record_files(foreign.path())
        .into_iter()
        .chain(head_files(foreign.path()))
    {
        fs::copy(&path, folder.path().join(name(&path))).unwrap();
    }
    assert!(verify(folder.path()).is_err());
}

#[test]
fn a_change_of_keys_is_signed_by_the_old_key_and_both_fingerprints_verify() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path());
    let mut writer = log.writer().unwrap();
    append_all(&mut writer, 0..2);
    let change = log
        .change_signer(key(2), KeyVersion::from_number(2))
        .unwrap();
    assert_eq!(change.signer().key, key(1).verifying_key());
    assert_eq!(change.head().statement.kind(), HeadKind::SignerChange);
    append_all(&mut writer, 2..4);
    drop(writer);
    assert_eq!(log.shutdown().unwrap().signer().key, key(2).verifying_key());
    for seed in [1, 2] {
        assert!(
            Verifier::new(Some(fingerprint(seed)))
                .verify(folder.path())
                .is_ok()
        );
    }
    assert!(
        Verifier::new(Some(fingerprint(3)))
            .verify(folder.path())
            .is_err()
    );
    // The old key signs no more, the new one goes on.
    assert!(matches!(
        Log::open(settings(folder.path())),
        Err(AuditError::SignerMismatch)
    ));
    let mut next = settings(folder.path());
    (next.keys.signer, next.keys.version) = (key(2), KeyVersion::from_number(2));
    Log::open(next).unwrap().shutdown().unwrap();
    assert!(verify(folder.path()).is_ok());
}

#[test]
fn a_cut_back_shows_only_against_a_head_known_from_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path());
    let mut writer = log.writer().unwrap();
    append_all(&mut writer, 0..3);
    let older = log.sign_head().unwrap();
    let files = record_files(folder.path());
    let lengths: Vec<_> = files
        .iter()
        .map(|path| fs::metadata(path).unwrap().len())
        .collect();
    append_all(&mut writer, 3..6);
    let newer = log.sign_head().unwrap();
    drop(writer);
    testing::crash(log);
    let heads = &head_files(folder.path())[0];
    let bytes = fs::read(heads).unwrap();
    let at = head_boundaries(&bytes);
    let end = at.iter().rposition(|start| *start < bytes.len()).unwrap();
    assert!(
        verifier()
            .known_head(newer.id())
            .verify(folder.path())
            .is_ok()
    );
    fs::write(heads, &bytes[..at[end]]).unwrap();
    for (path, length) in files.iter().zip(lengths) {
        let bytes = fs::read(path).unwrap();
        fs::write(path, &bytes[..usize::try_from(length).unwrap()]).unwrap();
    }
    // Nothing inside the log can tell.
    assert!(verify(folder.path()).is_ok());
    assert!(
        verifier()
            .known_head(older.id())
            .verify(folder.path())
            .is_ok()
    );
    assert!(
        verifier()
            .known_head(newer.id())
            .verify(folder.path())
            .is_err()
    );
    // Nor does a log start on it, if the store knows better.
    let mut known = settings(folder.path());
    known.newest_known = Some(newer.id());
    let refused = Log::open(known);
    let Err(AuditError::Damaged(finding)) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(finding.fault, Fault::CutBack);
}

#[test]
fn a_log_that_goes_on_past_the_head_that_a_store_knows_is_refused_but_for_a_copy_that_a_crash_took()
{
    let folder = small_log(1);
    let newest = || verify(folder.path()).unwrap().newest_head.unwrap().0;
    let knowing = |known| {
        let mut settings = settings(folder.path());
        settings.newest_known = Some(known);
        settings
    };
    let refused = |settings| match Log::open(settings) {
        Err(AuditError::StoreBehind { known, newest }) => (known, newest),
        other => panic!("{other:?}"),
    };
    let one = newest();
    // A start signs one head and a crash none: from here on one is lacking, then two.
    testing::crash(open(folder.path()));
    let two = newest();
    assert_eq!(two.number, one.number + 1);
    let (sender, copies) = mpsc::channel();
    let mut settings = knowing(one);
    settings.head_sink = Box::new(move |head| sender.send(head.id()).unwrap());
    testing::crash(Log::open(settings).unwrap());
    // The one that was lacking is copied first, so that crashes in a row leave no gap that grows.
    assert_eq!(copies.iter().collect::<Vec<_>>(), [two, newest()]);
    let last = newest().number;
    assert_eq!(refused(knowing(one)), (one.number, last));
    assert_eq!(refused(knowing(HeadId::NONE)), (0, last));
    let mut accepted = knowing(one);
    accepted.accept_known = Some(two.number);
    assert_eq!(refused(accepted), (one.number, last));
    let mut accepted = knowing(one);
    accepted.accept_known = Some(one.number);
    Log::open(accepted).unwrap().shutdown().unwrap();
    assert!(verify(folder.path()).is_ok());
}

#[test]
fn another_head_of_the_known_number_is_a_cut_back_too() {
    let folder = small_log(1);
    let newest = verify(folder.path()).unwrap().newest_head.unwrap().0;
    let other = HeadId {
        hash: [1; 32],
        ..newest
    };
    assert!(verifier().known_head(newest).verify(folder.path()).is_ok());
    assert!(verifier().known_head(other).verify(folder.path()).is_err());
    assert!(
        verifier()
            .known_head(HeadId::NONE)
            .verify(folder.path())
            .is_ok()
    );
}

#[test]
fn the_first_head_of_a_boot_states_every_older_file() {
    let folder = tempfile::tempdir().unwrap();
    for boot in 0..3 {
        let log = open(folder.path());
        append_all(&mut log.writer().unwrap(), 0..2);
        let _first = log.writer().unwrap();
        if boot == 1 {
            testing::crash(log);
        } else {
            log.shutdown().unwrap();
        }
    }
    let before = record_files(folder.path());
    let (sender, heads) = mpsc::channel();
    let mut settings = settings(folder.path());
    settings.head_sink = Box::new(move |head| sender.send(head.clone()).unwrap());
    Log::open(settings).unwrap().shutdown().unwrap();
    let start = heads.recv().unwrap();
    assert_eq!(start.head().statement.kind(), HeadKind::Start);
    for path in before {
        let length = fs::metadata(&path).unwrap().len();
        let stated = |state: &keywright_audit::chain::FileState| {
            state.file.file_name() == name(&path) && state.length == length
        };
        assert!(start.head().files.iter().any(stated), "{}", name(&path));
    }
    let report = verify(folder.path()).unwrap();
    assert_eq!((report.boots, report.crashes), (4, 1));
}

#[test]
fn a_head_follows_a_record_within_a_second_and_goes_to_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let (sender, heads) = mpsc::channel::<SignedHead>();
    let mut settings = settings(folder.path());
    settings.head_sink = Box::new(move |head| sender.send(head.clone()).unwrap());
    let log = Log::open(settings).unwrap();
    let mut writer = log.writer().unwrap();
    heads.recv().unwrap();
    append_all(&mut writer, 0..10);
    // A second is the promise; the rest is for a machine that does other things as well.
    let head = heads.recv_timeout(Duration::from_secs(5)).unwrap();
    assert!(head.head().files.iter().any(|state| state.sequence == 11));
    assert_eq!(head.head().epoch, 3);
    assert_eq!(SignedHead::from_bytes(&head.to_bytes()).unwrap(), head);
    drop(writer);
    let last = log.shutdown().unwrap();
    assert_eq!(last.head().statement.kind(), HeadKind::Shutdown);
    assert_eq!(heads.iter().last().unwrap(), last);
    assert!(
        verifier()
            .known_head(last.id())
            .verify(folder.path())
            .is_ok()
    );
}

#[test]
fn a_sink_that_panics_does_not_end_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let (clock, _hand) = still();
    let mut settings = settings(folder.path());
    settings.clock = clock;
    let first = std::sync::atomic::AtomicBool::new(true);
    settings.head_sink = Box::new(move |_| {
        // The start head goes to the sink on the opening thread.
        if !first.swap(false, std::sync::atomic::Ordering::SeqCst) {
            panic!("the store is gone");
        }
    });
    let log = Log::open(settings).unwrap();
    let mut writer = log.writer().unwrap();
    append_all(&mut writer, 0..2);
    log.sign_head().unwrap();
    append_all(&mut writer, 2..4);
    assert!(log.health().is_good());
    drop(writer);
    log.shutdown().unwrap();
    assert!(verify(folder.path()).is_ok());
}

#[test]
fn pruning_from_the_front_leaves_a_head_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let (clock, hand) = still();
    let with_clock = || {
        let mut settings = settings(folder.path());
        settings.clock = clock.clone();
        settings
    };
    for _ in 0..3 {
        let log = Log::open(with_clock()).unwrap();
        append_all(&mut log.writer().unwrap(), 0..2);
        log.shutdown().unwrap();
        hand.advance(Duration::from_secs(3600));
    }
    let log = Log::open(with_clock()).unwrap();
    let before = WallTime::from_unix_seconds(1_800_000_000 + 5000);
    assert_eq!(log.prune(WallTime::from_unix_seconds(0)).unwrap(), None);
    let whole = copy(folder.path());
    let head = log.prune(before).unwrap().unwrap();
    assert_eq!(head.head().statement.kind(), HeadKind::Prune);
    log.shutdown().unwrap();
    let report = verify(folder.path()).unwrap();
    assert_eq!(report.boots, 2);
    // The pruned boots are not spoken of again, and the log goes on.
    Log::open(with_clock()).unwrap().shutdown().unwrap();
    assert_eq!(verify(folder.path()).unwrap().boots, 3);
    // The same files removed without that head are missing.
    for path in record_files(whole.path())
        .into_iter()
        .chain(head_files(whole.path()))
    {
        if !folder.path().join(name(&path)).exists() {
            fs::remove_file(path).unwrap();
        }
    }
    assert_eq!(fault(whole.path()), Fault::Missing);
}

#[test]
fn more_missing_than_was_pruned_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let (clock, hand) = still();
    let with_clock = || {
        let mut settings = settings(folder.path());
        settings.clock = clock.clone();
        settings
    };
    let mut boots = Vec::new();
    for _ in 0..3 {
        let log = Log::open(with_clock()).unwrap();
        boots.push(log.boot().to_string());
        log.shutdown().unwrap();
        hand.advance(Duration::from_secs(3600));
    }
    let log = Log::open(with_clock()).unwrap();
    log.prune(WallTime::from_unix_seconds(1_800_000_000 + 1))
        .unwrap()
        .unwrap();
    log.shutdown().unwrap();
    assert!(verify(folder.path()).is_ok());
    for path in record_files(folder.path())
        .into_iter()
        .chain(head_files(folder.path()))
    {
        if name(&path).contains(&boots[1]) {
            fs::remove_file(path).unwrap();
        }
    }
    assert!(matches!(
        fault(folder.path()),
        Fault::Missing | Fault::Front
    ));
}
