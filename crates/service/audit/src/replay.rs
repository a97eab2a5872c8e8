//! A log that is carried over to another home: copied, and read for what was ordered after some moment
//! (design 7.22).
//!
//! Nothing here verifies. Whoever replays a log verifies the copy first, with the signer's fingerprint and a
//! head that must be in it; then these records are the signer's, up to the newest head. Behind it check frames prove
//! what the node wrote. [`Evidence`] says which a record is; of one that nothing proves the caller takes what restricts,
//! in a way that can be undone, and nothing else.

use std::fs::{self, OpenOptions, TryLockError};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use keywright_clock::WallTime;
use keywright_types::{Code, KeyId, KeyVersion, Operation};

use crate::chain::{FileId, ReadError, Step};
use crate::check::{CheckKey, Evidence, Extent};
use crate::disk::LOCK;
use crate::error;
use crate::field::Field;
use crate::finding::Finding;
use crate::head;
use crate::history;
use crate::record::{Entry, ReadField};
use crate::{AuditError, RecordType};

/// An order that was carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The epoch that it began.
    pub epoch: u64,
    /// When it ended.
    pub time: WallTime,
    /// What was ordered.
    pub operation: Operation,
    /// The key it was about.
    pub key: KeyId,
    /// The version it was about.
    pub version: KeyVersion,
    /// What proves its record.
    pub evidence: Evidence,
    /// The rows that it wrote.
    pub rows: Vec<ChangedRow>,
    /// Rows that it wrote and that were too long for the record.
    pub left_out: usize,
}

/// A row as the record has it: without its sealed secret.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangedRow {
    /// The name of its table.
    pub table: String,
    /// Its key.
    pub key: Vec<u8>,
    /// Its body.
    pub body: Vec<u8>,
    /// Its MAC under the row key, which is not judged here.
    pub mac: [u8; 32],
}

/// What a log says of the time after some epoch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Later {
    /// Orders that were carried out, in the order of their epochs; those that nothing proves come last.
    pub orders: Vec<Change>,
    /// The highest epoch of any record that is proven. Each order behind it that nothing proves counts for one more at
    /// most, whatever epoch it claims.
    pub newest_epoch: u64,
    /// How many records nothing proves.
    pub unproven: u64,
}

impl Later {
    /// How many orders are proven.
    #[must_use]
    pub fn proven(&self) -> usize {
        let orders = self.orders.iter();
        let proven = orders.filter(|order| order.evidence != Evidence::Unproven);
        proven.count()
    }
}

/// Copies the files of a log into a new folder; what else is in the folder stays. Says how many there are.
///
/// # Errors
/// [`AuditError::InUse`] while a node writes the log; [`AuditError::Io`].
pub fn copy(from: &Path, to: &Path) -> Result<usize, AuditError> {
    let failed = error::Step::ReadHistory;
    if is_in_use(from).map_err(failed.failed())? {
        return Err(AuditError::InUse);
    }
    let listing = history::list(from).map_err(failed.failed())?;
    let records = listing.records.iter().map(|file| file.file_name());
    let heads = listing.heads.iter();
    let heads = heads.map(|(boot, part)| head::file_name(*boot, *part));
    let names: Vec<_> = records.chain(heads).collect();
    for name in &names {
        copy_file(&from.join(name), &to.join(name)).map_err(error::Step::WriteRecord.failed())?;
    }
    Ok(names.len())
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let source = history::open_regular(from)?;
    let length = source.metadata()?.len();
    let mut options = OpenOptions::new();
    let mut copy = options.write(true).create_new(true).mode(0o600).open(to)?;
    io::copy(&mut source.take(length), &mut copy)?;
    copy.sync_all()
}

/// Whether a node has the folder open.
fn is_in_use(dir: &Path) -> io::Result<bool> {
    let lock = match history::open_regular(&dir.join(LOCK)) {
        Ok(lock) => lock,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // A folder that is not there has no lock either, and is no log.
            return fs::metadata(dir).map(|_| false);
        }
        Err(error) => return Err(error),
    };
    match lock.try_lock() {
        Ok(()) => lock.unlock().map(|()| false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// The orders of a log that were carried out after `epoch`.
///
/// # Errors
/// [`AuditError::Damaged`] and [`AuditError::Io`]; a log that was verified gives neither.
pub fn later(dir: &Path, epoch: u64, key: &CheckKey) -> Result<Later, AuditError> {
    let mut reading = Reading {
        after: epoch,
        later: Later::default(),
        claimed: 0,
    };
    for (file, extent) in history::proofs(dir, Some(key))?.extents {
        reading.read(dir, file, extent)?;
    }
    let Reading {
        mut later, claimed, ..
    } = reading;
    let unproven = |order: &&Change| order.evidence == Evidence::Unproven;
    let count = later.orders.iter().filter(unproven).count() as u64;
    let reached = later.newest_epoch.max(epoch).saturating_add(count);
    later.newest_epoch = later.newest_epoch.max(claimed.min(reached));
    let place = |order: &Change| (order.evidence == Evidence::Unproven, order.epoch);
    later.orders.sort_by_key(place);
    Ok(later)
}

/// A log that is being read.
struct Reading {
    after: u64,
    later: Later,
    /// The highest epoch that a record claims which nothing proves.
    claimed: u64,
}

impl Reading {
    fn read(&mut self, dir: &Path, file: FileId, extent: Extent) -> Result<(), AuditError> {
        let failed = error::Step::ReadHistory;
        let mut reader = history::open_records(dir, file).map_err(failed.failed())?;
        loop {
            match reader.step() {
                Ok(Step::Record) => {}
                Ok(Step::Check(_)) => continue,
                Ok(Step::End | Step::Cut) => return Ok(()),
                Err(ReadError::Io(source)) => return Err(failed.failed()(source)),
                // Behind the newest head a file may end in anything that a crash leaves.
                Err(ReadError::Fault(_)) if reader.state().length >= extent.signed => {
                    return Ok(());
                }
                Err(ReadError::Fault(fault)) => {
                    let state = reader.state();
                    return Err(AuditError::Damaged(Finding {
                        file: file.file_name(),
                        offset: state.length,
                        sequence: Some(state.sequence + 1),
                        fault,
                    }));
                }
            }
            let evidence = extent.evidence(reader.state().length);
            if let Some(entry) = reader.entry() {
                self.note(&entry, evidence);
            }
        }
    }

    fn note(&mut self, entry: &Entry<'_>, evidence: Evidence) {
        let facts = entry.facts();
        match evidence {
            Evidence::Unproven => {
                self.later.unproven += 1;
                self.claimed = self.claimed.max(facts.epoch);
            }
            Evidence::Signed | Evidence::Checked => {
                self.later.newest_epoch = self.later.newest_epoch.max(facts.epoch);
            }
        }
        let ended = matches!(
            facts.kind,
            RecordType::OrderAfter | RecordType::OrderSettled
        );
        if ended && facts.outcome == Code::Ok && facts.epoch > self.after {
            self.later.orders.push(change(entry, evidence));
        }
    }
}

fn change(entry: &Entry<'_>, evidence: Evidence) -> Change {
    let facts = entry.facts();
    let (mut rows, mut left_out) = (Vec::new(), 0);
    for field in entry.fields() {
        match field {
            ReadField::Known(Field::Row(row)) => rows.push(ChangedRow {
                table: row.table.as_str().to_owned(),
                key: row.key.to_vec(),
                body: row.row.to_vec(),
                mac: *row.mac,
            }),
            // At the end of an order a digest stands for a row that was too long.
            ReadField::Known(Field::OrderDigest(_)) => left_out += 1,
            _ => {}
        }
    }
    Change {
        epoch: facts.epoch,
        time: facts.time,
        operation: facts.operation,
        key: facts.key,
        version: facts.version,
        evidence,
        rows,
        left_out,
    }
}
