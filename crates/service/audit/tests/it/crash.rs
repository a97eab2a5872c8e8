//! What a crash may leave, and nothing looser (design 7.35).

use std::fs;

use keywright_audit::log::Log;
use keywright_audit::testing;
use keywright_audit::{AuditError, Fault};
use tempfile::TempDir;

use crate::support::*;

/// A log whose process died with `covered` records under a head and three more after it.
fn crashed(covered: u64) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (clock, _hand) = still();
    let mut settings = settings(folder.path());
    settings.clock = clock;
    let log = Log::open(settings).unwrap();
    let mut writer = log.writer().unwrap();
    append_all(&mut writer, 0..covered);
    log.sign_head().unwrap();
    append_all(&mut writer, covered..covered + 3);
    testing::crash(log);
    folder
}

#[test]
fn records_after_the_newest_head_count_as_unsigned() {
    let folder = crashed(4);
    let report = verify(folder.path()).unwrap();
    assert_eq!((report.unsigned, report.cut, report.crashes), (3, 0, 1));
}

#[test]
fn a_cut_is_allowed_behind_the_newest_head_and_nowhere_else() {
    let folder = crashed(4);
    let path = record_files(folder.path()).pop().unwrap();
    let whole = fs::read(&path).unwrap();
    let records = boundaries(&whole);
    // The first record, and four requests, are under the head.
    let stated = records[5];
    for length in 0..=whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let verified = verify(folder.path());
        if length < stated {
            assert_eq!(verified.unwrap_err().fault, Fault::Cut, "{length}");
            continue;
        }
        let report = verified.unwrap();
        let ends = |(start, frame): (usize, &[u8])| start + frame.len();
        let frames = record_frames(&whole);
        let left = frames
            .iter()
            .filter(|frame| !frame.1.starts_with(&[0; 4]))
            .filter(|frame| ends(**frame) > stated && ends(**frame) <= length)
            .count();
        assert_eq!(report.unsigned, left as u64);
        let at_end = frames.iter().any(|frame| ends(*frame) == length);
        assert_eq!(report.cut, u64::from(!at_end), "{length}");
    }
}

#[test]
fn a_cut_is_accepted_after_the_next_boot_has_stated_it() {
    for (missing, expected) in [(5, Ok(1)), (0, Ok(0))] {
        let folder = crashed(4);
        let path = record_files(folder.path()).pop().unwrap();
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() - missing]).unwrap();
        let log = open(folder.path());
        assert!(log.damage().is_empty());
        log.shutdown().unwrap();
        let report = verify(folder.path());
        assert_eq!(report.map(|report| report.cut), expected);
        // From now on the rest may not shrink further.
        fs::write(&path, &whole[..boundaries(&whole)[6]]).unwrap();
        assert_eq!(fault(folder.path()), Fault::Cut);
    }
}

#[test]
fn a_flip_behind_the_newest_head_is_found_too() {
    let folder = crashed(4);
    let path = record_files(folder.path()).pop().unwrap();
    let whole = fs::read(&path).unwrap();
    let records = boundaries(&whole);
    for at in records[5]..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        fs::write(&path, &changed).unwrap();
        let start = usize::try_from(frame_at(&whole, at).0).unwrap();
        match verify(folder.path()) {
            Err(finding) => assert_eq!(finding.offset, start as u64, "{at}: {finding}"),
            // A changed length that reaches beyond the end hides the records after it, and is a cut.
            Ok(report) => {
                let last = records[records.len() - 2];
                assert!(at < start + 4 && start < last, "{at}");
                assert_eq!(report.cut, 1);
            }
        }
    }
}

#[test]
fn zeros_and_garbage_behind_the_last_record_are_no_cut() {
    let folder = crashed(2);
    let path = record_files(folder.path()).pop().unwrap();
    let whole = fs::read(&path).unwrap();
    for tail in [
        &[0; 4][..],
        &[0; 5000],
        &[0xFF; 20],
        &[0, 0, 0, 137, 0],
        &[0; 4 << 10],
    ] {
        fs::write(&path, [&whole, tail].concat()).unwrap();
        let finding = verify(folder.path()).unwrap_err();
        assert_eq!(
            (finding.file.as_str(), finding.offset),
            (name(&path), whole.len() as u64)
        );
    }
    // A start reports it and goes on.
    let log = open(folder.path());
    assert_eq!(log.damage().len(), 1);
    log.shutdown().unwrap();
    assert!(verify(folder.path()).is_err());
}

#[test]
fn a_torn_head_is_allowed_at_the_end_of_a_crashed_boot_only() {
    let folder = crashed(2);
    let path = &head_files(folder.path())[0];
    let whole = fs::read(path).unwrap();
    let heads = head_boundaries(&whole);
    let last = heads[heads.len() - 2];
    for length in last..whole.len() {
        fs::write(path, &whole[..length]).unwrap();
        assert!(verify(folder.path()).is_ok(), "{length}");
    }
    fs::write(path, &whole[..last + 50]).unwrap();
    open(folder.path()).shutdown().unwrap();
    let report = verify(folder.path()).unwrap();
    assert_eq!((report.boots, report.crashes), (2, 1));
    // Behind a shutdown head nothing may follow.
    let ended = small_log(1);
    let path = &head_files(ended.path())[0];
    let bytes = fs::read(path).unwrap();
    fs::write(path, [&bytes[..], &whole[..50]].concat()).unwrap();
    assert_eq!(fault(ended.path()), Fault::Cut);
}

#[test]
fn two_crashes_in_a_row_before_the_first_head_are_survived() {
    let folder = crashed(2);
    // A boot that died between its first file and its first head.
    let early = tempfile::tempdir().unwrap();
    fs::create_dir_all(early.path()).unwrap();
    let copy = copy(folder.path());
    let log = open(copy.path());
    testing::crash(log);
    for path in record_files(copy.path()) {
        let target = folder.path().join(name(&path));
        if !target.exists() {
            fs::copy(path, target).unwrap();
        }
    }
    assert!(verify(folder.path()).is_ok());
    open(folder.path()).shutdown().unwrap();
    let report = verify(folder.path()).unwrap();
    assert_eq!((report.boots, report.crashes, report.unsigned), (2, 1, 0));
}

#[test]
fn a_log_with_a_broken_chain_of_heads_is_not_continued() {
    let folder = small_log(2);
    let path = &head_files(folder.path())[0];
    let mut bytes = fs::read(path).unwrap();
    let at = head_boundaries(&bytes)[1] + 60;
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
    let refused = Log::open(settings(folder.path()));
    let Err(AuditError::Damaged(finding)) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(
        (finding.file.as_str(), finding.fault),
        (name(path), Fault::Signature)
    );
}
