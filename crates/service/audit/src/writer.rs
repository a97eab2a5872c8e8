//! The writing end that each server thread owns (design 7.29, 7.33).
//!
//! Append the records of many requests, flush once, then release their answers: that is what makes a
//! record cost a hash and a copy. A record is acknowledged by a flush (or a sync) that returned `Ok`,
//! and by nothing else.
//!
//! When a write fails, everything since the last flush is void, the file is ended at its last
//! acknowledged record, and appends fail until a new file could be begun, which is tried again every
//! 100 ms. The server needs no restart.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use keywright_clock::MonotonicTime;
use keywright_types::RequestId;

use crate::chain::FileId;
use crate::field::Field;
use crate::log::SyncMode;
use crate::order::UnfinishedOrder;
use crate::record::{ReadField, Record};
use crate::segment::{Segment, locked};
use crate::shared::{Room, Shared};
use crate::{AuditError, FieldTag, RecordType};

/// One thread's writer.
#[derive(Debug)]
pub struct Writer {
    shared: Arc<Shared>,
    segment: Option<Segment>,
    /// Records since the last flush.
    pending: u32,
    /// Pending records were lost and no flush has said so yet.
    lost: bool,
    retry_at: MonotonicTime,
}

/// A record's place in the chain. It says nothing about being written; [`Written::covers`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the answer may leave only when a flush covers this"]
pub struct Ticket {
    file: FileId,
    sequence: u64,
}

/// How far the log has been handed to the operating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    file: FileId,
    sequence: u64,
}

impl Ticket {
    /// The file.
    #[must_use]
    pub const fn file(&self) -> FileId {
        self.file
    }

    /// The record's number in it.
    #[must_use]
    pub const fn sequence(&self) -> u64 {
        self.sequence
    }
}

impl Written {
    /// Whether this record is among what was written. Ask about records of this flush; a file that was
    /// left later covers no ticket any more.
    #[must_use]
    pub fn covers(&self, ticket: Ticket) -> bool {
        self.file == ticket.file && ticket.sequence <= self.sequence
    }
}

impl Writer {
    pub(crate) fn open(shared: Arc<Shared>) -> io::Result<Self> {
        let segment = shared.open_segment(Room::Ordinary)?;
        let retry_at = shared.clock.monotonic();
        Ok(Self {
            shared,
            segment: Some(segment),
            pending: 0,
            lost: false,
            retry_at,
        })
    }

    /// Adds a record to the buffer.
    ///
    /// # Errors
    /// [`AuditError::RecordTooLarge`], and [`AuditError::Unavailable`] while records cannot be written
    /// or heads cannot be signed.
    #[inline]
    pub fn append(&mut self, record: &Record<'_>) -> Result<Ticket, AuditError> {
        let segment = self.ready()?;
        let sequence = segment.append(record)?;
        let file = segment.file();
        self.pending += 1;
        Ok(Ticket { file, sequence })
    }

    /// Hands every appended record to the operating system in one write. After `Ok` their answers may
    /// leave; after an error none of them may.
    ///
    /// # Errors
    /// [`AuditError::Unavailable`].
    pub fn flush(&mut self) -> Result<Written, AuditError> {
        if std::mem::take(&mut self.lost) {
            return Err(AuditError::Unavailable);
        }
        self.flush_segment().inspect_err(|_| self.leave())
    }

    /// [`Writer::flush`], and waits until the records are on the medium.
    ///
    /// # Errors
    /// [`AuditError::Unavailable`].
    pub fn sync(&mut self) -> Result<Written, AuditError> {
        let written = self.flush()?;
        match &self.segment {
            Some(segment) if segment.slot.sync().is_ok() => Ok(written),
            _ => {
                self.leave();
                Err(AuditError::Unavailable)
            }
        }
    }

    /// Does what `audit.sync` asks for before answers leave: [`Writer::flush`] in groups, else
    /// [`Writer::sync`].
    ///
    /// # Errors
    /// [`AuditError::Unavailable`].
    pub fn commit(&mut self) -> Result<Written, AuditError> {
        match self.shared.mode {
            SyncMode::Grouped(_) => self.flush(),
            SyncMode::Strict => self.sync(),
        }
    }

    /// Records one thing at once, on the medium, and takes the reserve if the disk is full: for revoke,
    /// suspend and what else must be possible then.
    ///
    /// # Errors
    /// [`AuditError::RecordTooLarge`]; [`AuditError::Unavailable`] if the reserve is used up too. What
    /// [`Writer::append`] has added before is not affected by success here: if it was lost, the next
    /// flush says so.
    pub fn append_reserved(&mut self, record: &Record<'_>) -> Result<(), AuditError> {
        let pending = self.pending > 0;
        let ordinary = self.append(record).and_then(|_| self.sync().map(|_| ()));
        match ordinary {
            Err(AuditError::Unavailable) => {
                self.lost |= pending && self.pending == 0;
                if self.shared.stopped.load(Ordering::Acquire) {
                    return Err(AuditError::Unavailable);
                }
                self.reserve(record)
            }
            other => other,
        }
    }

    fn reserve(&self, record: &Record<'_>) -> Result<(), AuditError> {
        let mut reserved = locked(&self.shared.reserved);
        let mut segment = match reserved.take() {
            Some(segment) => segment,
            None => self
                .shared
                .open_segment(Room::Reserved)
                .map_err(|_| AuditError::Unavailable)?,
        };
        segment.append(record)?;
        let written = segment.flush().and_then(|_| segment.slot.sync());
        written.map_err(|_| AuditError::Unavailable)?;
        *reserved = Some(segment);
        Ok(())
    }

    /// Records that an order is about to be carried out, on the medium (design 7.29). Carry it out only
    /// after this returned.
    ///
    /// # Errors
    /// As [`Writer::append`] and [`Writer::sync`]; the order must not be carried out then.
    pub fn begin_order(&mut self, record: &Record<'_>, room: Room) -> Result<Order, AuditError> {
        // Counted before it is written and uncounted after its end is: a head that says zero has both
        // or neither in the files that it states.
        self.shared.open_orders.fetch_add(1, Ordering::SeqCst);
        let order = Order {
            shared: Arc::clone(&self.shared),
            request: record.facts.request,
        };
        // After a failure the count stays: the record may have reached the medium all the same, and a
        // count too high only makes the next start look for it.
        self.record_now(record, RecordType::OrderBefore, (&order, room))?;
        Ok(order)
    }

    /// Repeats the record of an order that is still open, so that the next start need not look further
    /// back than this boot.
    pub(crate) fn carry(&mut self, order: &UnfinishedOrder) -> Result<(), AuditError> {
        let segment = self.ready()?;
        let carried = order.fields().any(|field| {
            matches!(field, ReadField::Known(known) if known.tag() == FieldTag::CarriedFrom)
        });
        segment.append_with(order.facts().epoch, |sequence, out| {
            order.facts().put(sequence, out);
            out.extend_from_slice(order.raw_fields());
            if !carried {
                Field::CarriedFrom(order.place()).put(out);
            }
        })?;
        self.pending += 1;
        Ok(())
    }

    /// Records the stop of the node, after all other writers were ended.
    pub(crate) fn record_stop(&mut self, record: &Record<'_>) -> Result<(), AuditError> {
        if let Some(segment) = &mut self.segment {
            segment.append(record)?;
            if segment.flush().and_then(|_| segment.slot.sync()).is_ok() {
                return Ok(());
            }
        }
        self.leave();
        self.reserve(record)
    }

    pub(crate) fn file(&self) -> Option<FileId> {
        self.segment.as_ref().map(Segment::file)
    }

    fn record_now(
        &mut self,
        record: &Record<'_>,
        kind: RecordType,
        (order, room): (&Order, Room),
    ) -> Result<(), AuditError> {
        let mut record = *record;
        (record.facts.kind, record.facts.request) = (kind, order.request);
        match room {
            Room::Ordinary => self.append(&record).and_then(|_| self.sync().map(|_| ())),
            Room::Reserved => self.append_reserved(&record),
        }
    }

    fn flush_segment(&mut self) -> Result<Written, AuditError> {
        let segment = match &mut self.segment {
            Some(segment) if !(self.pending > 0 && segment.slot.has_failed()) => segment,
            _ => return Err(AuditError::Unavailable),
        };
        let sequence = segment.flush().map_err(|_| AuditError::Unavailable)?;
        let written = Written {
            file: segment.file(),
            sequence,
        };
        self.pending = 0;
        if segment.length() >= self.shared.file_limit {
            // If no new file can be made, this one is still good.
            if let Ok(next) = self.shared.open_segment(Room::Ordinary) {
                let full = std::mem::replace(segment, next);
                // A caller that goes on to sync would sync the next file only.
                full.slot.sync().map_err(|_| AuditError::Unavailable)?;
            }
        }
        Ok(written)
    }

    /// The file to append to; begins a new one if the last was lost and it is time to try.
    fn ready(&mut self) -> Result<&mut Segment, AuditError> {
        if self.lost || self.shared.heads_failing.load(Ordering::Acquire) {
            return Err(AuditError::Unavailable);
        }
        let failed = self
            .segment
            .as_ref()
            .is_some_and(|segment| segment.slot.has_failed());
        if failed && self.pending > 0 {
            return Err(AuditError::Unavailable);
        }
        if failed {
            self.leave();
        }
        if self.segment.is_none() {
            self.segment = Some(self.reopen()?);
        }
        self.segment.as_mut().ok_or(AuditError::Unavailable)
    }

    fn reopen(&mut self) -> Result<Segment, AuditError> {
        let now = self.shared.clock.monotonic();
        if now < self.retry_at || self.shared.stopped.load(Ordering::Acquire) {
            return Err(AuditError::Unavailable);
        }
        self.retry_at = now.plus(RETRY);
        let segment = self
            .shared
            .open_segment(Room::Ordinary)
            .map_err(|_| AuditError::Unavailable)?;
        self.shared.writers_failing.fetch_sub(1, Ordering::Relaxed);
        Ok(segment)
    }

    /// Ends the file after a failure; what was pending is void.
    fn leave(&mut self) {
        self.pending = 0;
        if self.segment.take().is_some() {
            self.shared.writers_failing.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if self.segment.is_none() {
            self.shared.writers_failing.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// An order that was begun. Its end must be recorded; if that fails or never happens, the next start
/// finds it and it is settled then.
#[derive(Debug)]
#[must_use = "an order without an end is settled at the next start only"]
pub struct Order {
    shared: Arc<Shared>,
    request: RequestId,
}

impl Order {
    pub(crate) const fn open(shared: Arc<Shared>, request: RequestId) -> Self {
        Self { shared, request }
    }

    /// Records how the order ended, on the medium. Type and request id of the record are set here.
    ///
    /// # Errors
    /// The order and why: it can be tried again, with this writer or another.
    pub fn finish(
        self,
        writer: &mut Writer,
        record: &Record<'_>,
    ) -> Result<(), (Self, AuditError)> {
        self.end(writer, record, RecordType::OrderAfter)
    }

    /// Records how an order that an earlier boot left open was settled.
    ///
    /// # Errors
    /// As [`Order::finish`].
    pub fn settle(
        self,
        writer: &mut Writer,
        record: &Record<'_>,
    ) -> Result<(), (Self, AuditError)> {
        self.end(writer, record, RecordType::OrderSettled)
    }

    fn end(
        self,
        writer: &mut Writer,
        record: &Record<'_>,
        kind: RecordType,
    ) -> Result<(), (Self, AuditError)> {
        // What was done must be recorded even if the disk has filled since; and an end that stays owed
        // would keep a revocation waiting. Few ends can come here: each had an ordinary beginning, or
        // one that was worth the reserve itself.
        if let Err(error) = writer.record_now(record, kind, (&self, Room::Reserved)) {
            return Err((self, error));
        }
        self.shared.open_orders.fetch_sub(1, Ordering::SeqCst);
        Ok(())
    }
}

const RETRY: Duration = Duration::from_millis(100);
