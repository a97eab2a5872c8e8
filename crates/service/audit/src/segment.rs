//! One file that is being written: its chain and its buffer. What the head thread may know of it is its [`Slot`].

use std::io;
use std::sync::Arc;

use crate::AuditError;
use crate::chain::{Chain, FileId, FileState, Origin};
use crate::check::CheckKey;
use crate::record::Record;
pub(crate) use crate::slot::{Slot, locked};

/// The writing side of one file.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) slot: Arc<Slot>,
    file: FileId,
    chain: Chain,
    buffer: Vec<u8>,
    length: u64,
    epoch: u64,
    check_key: CheckKey,
}

impl Segment {
    pub(crate) fn new(slot: Arc<Slot>, origin: &Origin, check_key: CheckKey) -> Self {
        Self {
            slot,
            file: origin.file,
            chain: Chain::new(&origin.link()),
            buffer: Vec::new(),
            length: 0,
            epoch: 0,
            check_key,
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

    /// Hands the buffer and the check frame of all that is in it to the operating system in one write; returns the
    /// newest record's number.
    ///
    /// After a failure the file is ended, and this segment must be dropped.
    pub(crate) fn flush(&mut self) -> io::Result<u64> {
        if self.buffer.is_empty() {
            return Ok(self.chain.sequence());
        }
        if !self.slot.begin_write() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.chain.append_check(&mut self.buffer, &self.check_key);
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
