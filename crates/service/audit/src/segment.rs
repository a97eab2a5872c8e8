//! One file that is being written: its chain, its buffer, and what the head thread may know of it.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::AuditError;
use crate::chain::{Chain, FileId, FileState, Link, Origin};
use crate::disk::Sink;
use crate::record::Record;

/// Takes a lock whatever happened to its last holder: the values behind these locks are replaced whole,
/// so a thread that died has not left them half-changed.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file as the head thread sees it.
pub(crate) struct Slot {
    pub(crate) sink: Arc<dyn Sink>,
    point: Mutex<Point>,
    /// Set by the head thread when a sync failed: the writer must leave this file.
    failed: AtomicBool,
    /// Whether the file lies in the reserve.
    pub(crate) reserve: Option<u64>,
}

/// How far a file has come, and what may still happen to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    /// Written to the operating system.
    pub(crate) written: FileState,
    /// Known to be durable.
    pub(crate) synced: FileState,
    /// Highest epoch of any record written.
    pub(crate) epoch: u64,
    /// A write is under way.
    busy: bool,
    /// Nothing more may be written.
    pub(crate) sealed: bool,
    /// A failed write left bytes after the end that could not be cut off.
    pub(crate) torn: bool,
}

impl Point {
    /// Nothing more will be written, and nothing is being written.
    pub(crate) const fn has_ended(&self) -> bool {
        self.sealed && !self.busy
    }
}

impl Slot {
    pub(crate) fn new(sink: Arc<dyn Sink>, file: FileId, link: Link, reserve: Option<u64>) -> Self {
        let start = FileState {
            file,
            sequence: 0,
            link,
            length: 0,
        };
        let point = Point {
            written: start,
            synced: start,
            epoch: 0,
            busy: false,
            sealed: false,
            torn: false,
        };
        Self {
            sink,
            point: Mutex::new(point),
            failed: AtomicBool::new(false),
            reserve,
        }
    }

    pub(crate) fn point(&self) -> Point {
        *locked(&self.point)
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// Makes what is written durable. A failure is remembered for the writer.
    pub(crate) fn sync(&self) -> io::Result<()> {
        let before = self.point();
        if before.written.length == before.synced.length {
            return Ok(());
        }
        self.sink
            .sync()
            .inspect_err(|_| self.failed.store(true, Ordering::Release))?;
        let mut point = locked(&self.point);
        if point.synced.length < before.written.length {
            point.synced = before.written;
        }
        Ok(())
    }

    /// Ends the file. Waits for a write that is under way, at most five seconds: a disk that hangs must
    /// not hang the stop as well.
    pub(crate) fn seal(&self) {
        for _ in 0..5_000 {
            let mut point = locked(&self.point);
            point.sealed = true;
            if !point.busy {
                return;
            }
            drop(point);
            std::thread::sleep(Duration::from_millis(1));
        }
        locked(&self.point).torn = true;
    }

    /// Ends the file after a failed write: cuts off what the write may have left.
    fn abandon(&self) {
        let length = self.point().written.length;
        let cut = self.sink.cut(length);
        let mut point = locked(&self.point);
        (point.busy, point.sealed) = (false, true);
        point.torn |= cut.is_err();
    }

    /// Tries once more to cut off what a failed write left, and whatever of the reserve is unused.
    pub(crate) fn trim(&self) {
        let point = self.point();
        if (point.torn || self.reserve.is_some()) && self.sink.cut(point.written.length).is_ok() {
            locked(&self.point).torn = false;
        } else if self.reserve.is_some() {
            locked(&self.point).torn = true;
        }
    }

    fn begin_write(&self) -> bool {
        let mut point = locked(&self.point);
        point.busy = !point.sealed;
        point.busy
    }

    fn end_write(&self, written: FileState, epoch: u64) {
        let mut point = locked(&self.point);
        point.written = written;
        point.epoch = point.epoch.max(epoch);
        point.busy = false;
    }
}

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slot")
            .field("point", &self.point())
            .finish_non_exhaustive()
    }
}

/// The writing side of one file.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) slot: Arc<Slot>,
    file: FileId,
    chain: Chain,
    buffer: Vec<u8>,
    length: u64,
    epoch: u64,
}

impl Segment {
    pub(crate) fn new(slot: Arc<Slot>, origin: &Origin) -> Self {
        Self {
            slot,
            file: origin.file,
            chain: Chain::new(&origin.link()),
            buffer: Vec::new(),
            length: 0,
            epoch: 0,
        }
    }

    pub(crate) const fn file(&self) -> FileId {
        self.file
    }

    pub(crate) const fn length(&self) -> u64 {
        self.length
    }

    /// Adds a record to the buffer and returns its number.
    pub(crate) fn append(&mut self, record: &Record<'_>) -> Result<u64, AuditError> {
        self.append_with(record.facts.epoch, |sequence, out| {
            record.put(sequence, out)
        })
    }

    pub(crate) fn append_with(
        &mut self,
        epoch: u64,
        put: impl FnOnce(u64, &mut Vec<u8>),
    ) -> Result<u64, AuditError> {
        let sequence = self.chain.append(&mut self.buffer, put);
        self.epoch = self.epoch.max(epoch);
        sequence.ok_or(AuditError::RecordTooLarge)
    }

    /// Hands the buffer to the operating system in one write; returns the newest record's number.
    ///
    /// After a failure the file is ended, and this segment must be dropped.
    pub(crate) fn flush(&mut self) -> io::Result<u64> {
        if self.buffer.is_empty() {
            return Ok(self.chain.sequence());
        }
        if !self.slot.begin_write() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        if let Err(error) = self.slot.sink.append(&self.buffer) {
            self.slot.abandon();
            return Err(error);
        }
        self.length += self.buffer.len() as u64;
        self.buffer.clear();
        let written = FileState {
            file: self.file,
            sequence: self.chain.sequence(),
            link: self.chain.link(),
            length: self.length,
        };
        self.slot.end_write(written, self.epoch);
        Ok(written.sequence)
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        self.slot.seal();
    }
}
