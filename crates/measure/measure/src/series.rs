//! The books of a run, cut into blocks of equal length as it goes on.

use std::time::Duration;

use crate::document::BlockRecord;
use crate::histogram::Histogram;
use crate::ledger::Ledger;
use crate::load::Schedule;

/// Cuts a run into blocks.
#[derive(Debug)]
pub struct Blocks {
    length: u64,
    start: u64,
    ledger: Ledger,
    done: Vec<BlockRecord>,
}

impl Blocks {
    /// Blocks of this length.
    #[must_use]
    pub fn new(length: Duration) -> Self {
        Self {
            length: u64::try_from(length.as_nanos()).unwrap_or(u64::MAX).max(1),
            start: 0,
            ledger: Ledger::new(),
            done: Vec::new(),
        }
    }

    /// Blocks of a schedule that ends at `deadline`.
    #[must_use]
    pub fn until(mut self, deadline: Option<u64>) -> Self {
        self.ledger = Ledger::until(deadline);
        self
    }

    /// The books of the block that is open.
    pub const fn ledger(&mut self) -> &mut Ledger {
        &mut self.ledger
    }

    /// When the open block ends, in nanoseconds since the start.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.start.saturating_add(self.length)
    }

    /// Time has come to `now`: ends the blocks that are over.
    pub fn upto(&mut self, now: u64, in_flight: u64, each: &mut dyn FnMut(&BlockRecord, &Ledger)) {
        while now >= self.end() {
            self.cut(self.length, in_flight, each);
        }
    }

    /// The run is over at `end`: the last block may be shorter. One of less than half the length is
    /// no block, because its rate would say nothing.
    #[must_use]
    pub fn finish(
        mut self,
        end: u64,
        each: &mut dyn FnMut(&BlockRecord, &Ledger),
    ) -> Vec<BlockRecord> {
        self.upto(end, 0, each);
        let rest = end.saturating_sub(self.start);
        if rest >= self.length / 2 || (self.done.is_empty() && rest > 0) {
            self.cut(rest, 0, each);
        }
        self.done
    }

    fn cut(&mut self, length: u64, in_flight: u64, each: &mut dyn FnMut(&BlockRecord, &Ledger)) {
        let block = record(&self.ledger, self.start, length, in_flight);
        each(&block, &self.ledger);
        self.done.push(block);
        self.start += length;
        self.ledger.clear();
    }
}

/// One block's figures from its books.
#[must_use]
pub fn record(ledger: &Ledger, start_ns: u64, duration_ns: u64, in_flight: u64) -> BlockRecord {
    let counts = &ledger.counts;
    let times = times(ledger);
    let service = (!ledger.response.is_empty()).then_some(&ledger.service);
    let nanos =
        |value: Option<u64>| value.map(|value| if ledger.batched { value / 1000 } else { value });
    BlockRecord {
        run: 0,
        start_ns,
        duration_ns,
        done: counts.answered(),
        failed: counts.wrong + counts.error + counts.timeout,
        in_flight,
        p50_ns: nanos(times.quantile(0.5)),
        p99_ns: nanos(times.quantile(0.99)),
        max_ns: nanos(times.max()),
        service_p50_ns: service.and_then(|times| times.quantile(0.5)),
        service_p99_ns: service.and_then(|times| times.quantile(0.99)),
        canary: None,
        hdr: None,
    }
}

/// The times that a block speaks of. In closed loops response and service are the same, and batches have
/// service times only.
pub(crate) const fn times(ledger: &Ledger) -> &Histogram {
    if ledger.response.is_empty() {
        &ledger.service
    } else {
        &ledger.response
    }
}

/// Counts what is due by and by.
#[derive(Debug)]
pub(crate) struct Due {
    rest: std::iter::Peekable<Schedule>,
    so_far: u64,
}

impl Due {
    pub(crate) fn new(schedule: Schedule) -> Self {
        Self {
            rest: schedule.peekable(),
            so_far: 0,
        }
    }

    /// How many operations are due before `now`, which never falls from call to call.
    pub(crate) fn by(&mut self, now: u64) -> u64 {
        while self.rest.next_if(|due| *due < now).is_some() {
            self.so_far += 1;
        }
        self.so_far
    }
}
