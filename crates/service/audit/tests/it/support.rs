//! A log in a folder of its own, and ways to damage a copy of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use keywright_audit::check::CheckKey;
use keywright_audit::head::Fingerprint;
use keywright_audit::log::{Identity, Keys, Log, Settings};
use keywright_audit::record::Facts;
use keywright_audit::testing::{self, Faults};
use keywright_audit::verify::{Failure, Report, Verifier};
use keywright_audit::writer::Writer;
use keywright_audit::{AuditError, Fault, Finding, RecordType};
use keywright_clock::{Clock, WallTime};
use keywright_forgery::frames;
use keywright_primitives::signature::SigningKey;
use keywright_secret::Secret;
use keywright_types::{
    Code, InstallationId, KeyId, KeyVersion, NodeId, Operation, PrincipalId, RequestId, TenantId,
};
use tempfile::TempDir;

pub(crate) const IDENTITY: Identity = Identity {
    installation: InstallationId::from_bytes([0xA1; 16]),
    node: NodeId::from_bytes([0xA2; 16]),
};

/// Small, so that a test does not write 16 MiB.
pub(crate) const RESERVE: u64 = 64 << 10;

pub(crate) fn key(seed: u8) -> SigningKey {
    SigningKey::from_seed(&Secret::from_fill(|bytes| bytes.fill(seed))).unwrap()
}

pub(crate) fn check_key() -> CheckKey {
    CheckKey::from_bytes(&keywright_audit::fuzzing::CHECK_KEY)
}

pub(crate) fn fingerprint(seed: u8) -> Fingerprint {
    Fingerprint::of(&key(seed).verifying_key())
}

pub(crate) fn settings(dir: &Path) -> Settings {
    let mut settings = Settings::new(
        dir.to_owned(),
        IDENTITY,
        Clock::system(),
        Keys {
            signer: key(1),
            version: KeyVersion::FIRST,
            check: check_key(),
        },
    );
    settings.reserve = RESERVE;
    settings
}

/// Opens a log that nobody has open. A process that another test is starting shares every open file
/// until it has become its own program, the lock of a log that was closed meanwhile too; so this waits.
pub(crate) fn open(dir: &Path) -> Log {
    for _ in 0..200 {
        match Log::open(settings(dir)) {
            Err(AuditError::InUse) => std::thread::sleep(Duration::from_millis(10)),
            opened => return opened.unwrap(),
        }
    }
    panic!("the log stays in use");
}

pub(crate) fn open_faulty(dir: &Path) -> (Log, Faults) {
    let faults = Faults::default();
    (testing::open(settings(dir), &faults).unwrap(), faults)
}

/// A request like any other, told apart by `number`.
pub(crate) fn request(number: u64) -> Facts {
    let mut id = [0; 16];
    id[8..].copy_from_slice(&number.to_be_bytes());
    Facts {
        epoch: 3,
        request: RequestId::from_bytes(id),
        tenant: TenantId::from_bytes([2; 16]),
        principal: PrincipalId::from_bytes([3; 16]),
        connection: 4,
        outcome: if number % 5 == 4 {
            Code::DecryptionFailed
        } else {
            Code::Ok
        },
        key: KeyId::from_bytes([5; 16]),
        version: KeyVersion::FIRST,
        items: 1,
        ..Facts::new(
            RecordType::Request,
            Operation::Decrypt,
            WallTime::from_unix_seconds(1_800_000_000 + number),
        )
    }
}

pub(crate) fn append_all(writer: &mut Writer, numbers: std::ops::Range<u64>) {
    for number in numbers {
        let ticket = writer.append(&request(number).into()).unwrap();
        assert!(writer.flush().unwrap().covers(ticket));
    }
}

/// A log of one boot that ended in order, with `count` requests in one writer's file.
pub(crate) fn small_log(count: u64) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path());
    let mut writer = log.writer().unwrap();
    append_all(&mut writer, 0..count);
    drop(writer);
    log.shutdown().unwrap();
    folder
}

pub(crate) fn verifier() -> Verifier {
    Verifier::new(Some(fingerprint(1)))
}

pub(crate) fn verify(dir: &Path) -> Result<Report, Finding> {
    match verifier().verify(dir) {
        Ok(report) => Ok(report),
        Err(Failure::Finding(finding)) => Err(finding),
        Err(other) => panic!("{other:?}"),
    }
}

pub(crate) fn fault(dir: &Path) -> Fault {
    verify(dir).unwrap_err().fault
}

/// The files of records, by name.
pub(crate) fn record_files(dir: &Path) -> Vec<PathBuf> {
    files(dir, ".log")
}

pub(crate) fn head_files(dir: &Path) -> Vec<PathBuf> {
    files(dir, ".bin")
}

fn files(dir: &Path, end: &str) -> Vec<PathBuf> {
    let mut found: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_str().unwrap().ends_with(end))
        .collect();
    found.sort();
    found
}

/// A copy of a log, without what is not part of it.
pub(crate) fn copy(dir: &Path) -> TempDir {
    let to = tempfile::tempdir().unwrap();
    for path in record_files(dir).into_iter().chain(head_files(dir)) {
        fs::copy(&path, to.path().join(path.file_name().unwrap())).unwrap();
    }
    to
}

pub(crate) fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

/// Where each record of a file begins, and where the file ends; the check frame behind a record counts as part of it.
pub(crate) fn boundaries(bytes: &[u8]) -> Vec<usize> {
    let mut at = vec![0];
    for (start, frame) in record_frames(bytes) {
        match frame.starts_with(&[0; 4]) {
            true => *at.last_mut().unwrap() = start + frame.len(),
            false => at.push(start + frame.len()),
        }
    }
    at
}

/// Records and check frames of a file, each with where it begins.
pub(crate) fn record_frames(bytes: &[u8]) -> Vec<(usize, &[u8])> {
    let mut next = 0;
    let frames = frames(bytes).into_iter();
    let frames = frames.map(|frame| {
        let start = next;
        next += frame.len();
        (start, frame)
    });
    frames.collect()
}

/// The frame of a file that a byte stands in: where it begins, and which record is named if it is wrong.
pub(crate) fn frame_at(bytes: &[u8], at: usize) -> (u64, Option<u64>) {
    let (mut found, mut records) = ((0, Some(1)), 0);
    for (start, frame) in record_frames(bytes) {
        if start > at {
            break;
        }
        found = (start as u64, Some(records + 1));
        records += u64::from(!frame.starts_with(&[0; 4]));
    }
    found
}

/// Where each head of a file begins, and where the file ends.
pub(crate) fn head_boundaries(bytes: &[u8]) -> Vec<usize> {
    let mut at = vec![0];
    let mut next = 0;
    while next < bytes.len() {
        let length = u32::from_be_bytes(bytes[next..next + 4].try_into().unwrap());
        next += usize::try_from(length).unwrap() + 4 + 64;
        at.push(next);
    }
    at
}

pub(crate) use keywright_forgery::CHECK_LEN;

/// A clock that stands still, so that the thread signs only when asked.
pub(crate) fn still() -> (Clock, keywright_clock::Hand) {
    Clock::simulated(WallTime::from_unix_seconds(1_800_000_000))
}
