//! Whatever is changed in a log that ended in order is found, and the finding names the place.

use std::fs;
use std::path::Path;

use keywright_audit::Fault;
use keywright_audit::verify::{Failure, Verifier};

use crate::support::*;

/// The largest file of records: the one with the requests.
fn main_file(dir: &Path) -> std::path::PathBuf {
    record_files(dir)
        .into_iter()
        .max_by_key(|path| fs::metadata(path).unwrap().len())
        .unwrap()
}

#[test]
fn a_flipped_byte_is_found_in_its_record() {
    let folder = small_log(6);
    for path in record_files(folder.path()) {
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1 << (at % 8);
            fs::write(&path, &changed).unwrap();
            let finding = verify(folder.path()).unwrap_err();
            let place = (finding.offset, finding.sequence);
            assert_eq!(finding.file, name(&path), "{at}");
            assert_eq!(place, frame_at(&whole, at), "{at}: {finding}");
        }
        fs::write(&path, &whole).unwrap();
    }
    assert!(verify(folder.path()).is_ok());
}

#[test]
fn a_flipped_byte_is_found_in_its_head() {
    let folder = small_log(2);
    let path = &head_files(folder.path())[0];
    let whole = fs::read(path).unwrap();
    let heads = head_boundaries(&whole);
    assert!(heads.len() >= 3, "a start and a shutdown head");
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 1 << (at % 8);
        fs::write(path, &changed).unwrap();
        let head = heads.iter().rposition(|start| *start <= at).unwrap();
        let finding = verify(folder.path()).unwrap_err();
        assert_eq!(finding.file, name(path), "{at}: {finding}");
        // A changed public key is found only when the whole chain has no trusted signer.
        assert_eq!(finding.offset, heads[head] as u64, "{at}: {finding}");
    }
}

#[test]
fn a_cut_at_any_length_is_found() {
    let folder = small_log(4);
    for path in record_files(folder.path()) {
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            let finding = verify(folder.path()).unwrap_err();
            assert_eq!(
                (finding.file.as_str(), finding.fault),
                (name(&path), Fault::Cut),
                "{length}"
            );
            assert_eq!(finding.offset, frame_at(&whole, length).0);
        }
        fs::write(&path, &whole).unwrap();
    }
}

#[test]
fn bytes_behind_the_end_are_found() {
    let folder = small_log(2);
    for path in record_files(folder.path())
        .into_iter()
        .chain(head_files(folder.path()))
    {
        let whole = fs::read(&path).unwrap();
        for more in [&[0_u8][..], &[0; 300], &[0, 0, 0, 200, 1], &whole.clone()] {
            fs::write(&path, [&whole, more].concat()).unwrap();
            let finding = verify(folder.path()).unwrap_err();
            assert_eq!(finding.file, name(&path));
            assert_eq!(finding.offset, whole.len() as u64);
        }
        fs::write(&path, &whole).unwrap();
    }
    assert!(verify(folder.path()).is_ok());
}

#[test]
fn records_removed_repeated_or_exchanged_are_found() {
    let folder = small_log(6);
    let path = main_file(folder.path());
    let whole = fs::read(&path).unwrap();
    let at = boundaries(&whole);
    let record = |index: usize| &whole[at[index]..at[index + 1]];
    for index in 0..at.len() - 1 {
        let removed = [&whole[..at[index]], &whole[at[index + 1]..]].concat();
        let repeated = [
            &whole[..at[index + 1]],
            record(index),
            &whole[at[index + 1]..],
        ]
        .concat();
        let mut changed = vec![(removed, at[index]), (repeated, at[index + 1])];
        if index + 2 < at.len() {
            let exchanged = [
                &whole[..at[index]],
                record(index + 1),
                record(index),
                &whole[at[index + 2]..],
            ]
            .concat();
            changed.push((exchanged, at[index]));
        }
        for (bytes, place) in changed {
            fs::write(&path, bytes).unwrap();
            let finding = verify(folder.path()).unwrap_err();
            assert_eq!(
                (finding.file.as_str(), finding.offset),
                (name(&path), place as u64)
            );
        }
    }
}

#[test]
fn heads_removed_repeated_or_exchanged_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path());
    let mut writer = log.writer().unwrap();
    for round in 0..4 {
        append_all(&mut writer, round..round + 1);
        log.sign_head().unwrap();
    }
    drop(writer);
    log.shutdown().unwrap();
    let path = &head_files(folder.path())[0];
    let whole = fs::read(path).unwrap();
    let at = head_boundaries(&whole);
    for index in 0..at.len() - 2 {
        let removed = [&whole[..at[index]], &whole[at[index + 1]..]].concat();
        let repeated = [&whole[..at[index + 1]], &whole[at[index]..]].concat();
        let exchanged = [
            &whole[..at[index]],
            &whole[at[index + 1]..at[index + 2]],
            &whole[at[index]..at[index + 1]],
            &whole[at[index + 2]..],
        ]
        .concat();
        for bytes in [removed, repeated, exchanged] {
            fs::write(path, bytes).unwrap();
            let fault = fault(folder.path());
            assert!(
                matches!(fault, Fault::Previous | Fault::Front | Fault::HeadOrder),
                "{index}: {fault:?}"
            );
        }
    }
}

#[test]
fn files_removed_added_or_exchanged_are_found() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..3 {
        let log = open(folder.path());
        let mut writer = log.writer().unwrap();
        append_all(&mut writer, 0..3);
        drop(writer);
        log.shutdown().unwrap();
    }
    assert_eq!(verify(folder.path()).unwrap().boots, 3);
    let records = record_files(folder.path());
    for path in &records {
        let copy = copy(folder.path());
        fs::remove_file(copy.path().join(name(path))).unwrap();
        let finding = verify(copy.path()).unwrap_err();
        assert_eq!(
            (finding.file.as_str(), finding.fault),
            (name(path), Fault::Missing)
        );
    }
    for pair in records.windows(2) {
        let copy = copy(folder.path());
        fs::copy(&pair[0], copy.path().join(name(&pair[1]))).unwrap();
        fs::copy(&pair[1], copy.path().join(name(&pair[0]))).unwrap();
        assert_eq!(fault(copy.path()), Fault::Origin);
    }
    let copy = copy(folder.path());
    let added = format!("{}-0000000f.log", &name(&records[0])[..32]);
    fs::copy(&records[0], copy.path().join(&added)).unwrap();
    let finding = verify(copy.path()).unwrap_err();
    assert_eq!((finding.file, finding.fault), (added, Fault::Unstated));
    let heads = head_files(folder.path());
    for pair in heads.windows(2) {
        let copy = self::copy(folder.path());
        fs::copy(&pair[0], copy.path().join(name(&pair[1]))).unwrap();
        fs::copy(&pair[1], copy.path().join(name(&pair[0]))).unwrap();
        assert_eq!(fault(copy.path()), Fault::Origin);
    }
    for path in heads {
        let copy = self::copy(folder.path());
        fs::remove_file(copy.path().join(name(&path))).unwrap();
        let fault = fault(copy.path());
        assert!(
            matches!(
                fault,
                Fault::Front | Fault::Previous | Fault::Origin | Fault::Missing
            ),
            "{fault:?}"
        );
    }
}

#[test]
fn without_a_fingerprint_nothing_is_ever_verified() {
    let folder = small_log(3);
    let unverified = Verifier::new(None).verify(folder.path());
    let Err(Failure::Unverified(report)) = unverified else {
        panic!("{unverified:?}")
    };
    assert!(report.records > 3);
    let path = main_file(folder.path());
    let mut bytes = fs::read(&path).unwrap();
    bytes[200] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert!(matches!(
        Verifier::new(None).verify(folder.path()),
        Err(Failure::Finding(_))
    ));
}

#[test]
fn an_empty_folder_and_a_folder_without_heads_are_not_whole() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(fault(folder.path()), Fault::Front);
    let log = small_log(2);
    let copy = copy(log.path());
    for path in head_files(copy.path()) {
        fs::remove_file(path).unwrap();
    }
    assert_eq!(fault(copy.path()), Fault::Front);
    let none = Verifier::new(Some(fingerprint(1))).verify(&folder.path().join("nowhere"));
    assert!(matches!(none, Err(Failure::Io { .. })));
}
