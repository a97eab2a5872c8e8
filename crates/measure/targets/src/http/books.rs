//! The books of a run over HTTP: the whole block by block, parts beside it, and the gauge.

use keywright_clock::{Clock, MonotonicTime};
use keywright_measure::dispatch::Release;
use keywright_measure::document::BlockRecord;
use keywright_measure::ledger::{Ledger, Outcome, Span};
use keywright_measure::series::Blocks;

/// What is told of each block.
pub(super) type Each<'a> = &'a mut dyn FnMut(&BlockRecord, &Ledger);

/// Ledgers of the whole, of the open block and of the parts.
pub(super) struct Books<'a> {
    blocks: Blocks,
    total: Ledger,
    parts: Vec<Ledger>,
    timeout: u64,
    each: Each<'a>,
}

/// One leg of an operation: all of it, if it has only one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leg {
    pub(super) part: u32,
    pub(super) release: Release,
    pub(super) sent: u64,
}

/// What the books say in the end.
pub(super) struct Closed {
    pub(super) total: Ledger,
    pub(super) parts: Vec<Ledger>,
    pub(super) blocks: Vec<BlockRecord>,
    timeout: u64,
}

impl<'a> Books<'a> {
    pub(super) fn new(blocks: Blocks, parts: usize, timeout: u64, each: Each<'a>) -> Self {
        Self {
            blocks,
            total: Ledger::new(),
            parts: vec![Ledger::new(); parts],
            timeout,
            each,
        }
    }

    /// Ends the blocks that are over.
    pub(super) fn upto(&mut self, now: u64, in_flight: u64) {
        if now < self.blocks.end() {
            return;
        }
        let (total, each) = (&mut self.total, &mut self.each);
        self.blocks.upto(now, in_flight, &mut |block, ledger| {
            total.merge(ledger);
            each(block, ledger);
        });
    }

    /// An operation ended, with the last of its legs.
    pub(super) fn ended(&mut self, whole: Leg, last: Leg, completed: u64, outcome: Outcome) {
        let timeout = self.timeout;
        if let Some(part) = self.parts.get_mut(last.part as usize) {
            let sent = last.sent;
            let span = Span { sent, completed };
            part.ended(last.release, span, outcome.clone(), timeout);
        }
        let sent = whole.sent;
        let span = Span { sent, completed };
        self.blocks
            .ledger()
            .ended(whole.release, span, outcome, timeout);
    }

    /// A leg ended and another one follows.
    pub(super) fn leg(&mut self, leg: Leg, completed: u64) {
        let timeout = self.timeout;
        if let Some(part) = self.parts.get_mut(leg.part as usize) {
            let sent = leg.sent;
            let span = Span { sent, completed };
            part.ended(leg.release, span, Outcome::Unchecked, timeout);
        }
    }

    /// An operation whose time was up at `stopped`.
    pub(super) fn timed_out(&mut self, whole: Leg, last: Leg, stopped: u64) {
        unanswered(&mut self.parts, last, stopped, self.timeout);
        let ledger = self.blocks.ledger();
        ledger.unanswered(whole.release, whole.sent, stopped, self.timeout);
    }

    /// The open block takes no more; what comes is in the books of the run alone.
    pub(super) fn close(self, end: u64) -> Closed {
        let Self {
            mut blocks,
            mut total,
            parts,
            timeout,
            each,
        } = self;
        blocks.upto(end, 0, &mut |block, ledger| {
            total.merge(ledger);
            each(block, ledger);
        });
        total.merge(blocks.ledger());
        Closed {
            blocks: blocks.finish(end, each),
            total,
            parts,
            timeout,
        }
    }
}

fn unanswered(parts: &mut [Ledger], leg: Leg, stopped: u64, timeout: u64) {
    if let Some(part) = parts.get_mut(leg.part as usize) {
        part.unanswered(leg.release, leg.sent, stopped, timeout);
    }
}

impl Closed {
    /// An operation that had not ended when waiting stopped.
    pub(super) fn unanswered(&mut self, whole: Leg, last: Leg, stopped: u64) {
        unanswered(&mut self.parts, last, stopped, self.timeout);
        let total = &mut self.total;
        total.unanswered(whole.release, whole.sent, stopped, self.timeout);
    }

    /// An operation that was due and was not sent before `end`.
    pub(super) fn never_sent(&mut self, part: u32, intended: u64, end: u64) {
        if let Some(part) = self.parts.get_mut(part as usize) {
            part.never_sent(intended, end);
        }
        self.total.never_sent(intended, end);
    }

    /// The output of an operation that counts as not looked at was looked at after all.
    pub(super) fn settle(&mut self, part: u32, response: u64, outcome: &Outcome) {
        let part = self.parts.get_mut(part as usize);
        for ledger in part.into_iter().chain([&mut self.total]) {
            let counts = &mut ledger.counts;
            match outcome {
                Outcome::Verified => counts.verified += 1,
                Outcome::Wrong => {
                    counts.wrong += 1;
                    ledger.failed.record(response);
                }
                _ => continue,
            }
            counts.unverified = counts.unverified.saturating_sub(1);
        }
    }
}

/// Operations under way, integrated over time by readings of the clock that no ledger sees.
#[derive(Debug)]
pub(super) struct Gauge {
    clock: Clock,
    start: MonotonicTime,
    last: u64,
    under_way: u64,
    pub(super) area: f64,
    pub(super) peak: u64,
}

impl Gauge {
    pub(super) const fn new(clock: Clock, start: MonotonicTime) -> Self {
        Self {
            clock,
            start,
            last: 0,
            under_way: 0,
            area: 0.0,
            peak: 0,
        }
    }

    fn pass(&mut self) {
        let now = self
            .clock
            .monotonic()
            .nanos()
            .saturating_sub(self.start.nanos());
        self.area += self.under_way as f64 * now.saturating_sub(self.last) as f64;
        self.last = now;
    }

    pub(super) fn up(&mut self) {
        self.pass();
        self.under_way += 1;
        self.peak = self.peak.max(self.under_way);
    }

    pub(super) fn down(&mut self) {
        self.pass();
        self.under_way = self.under_way.saturating_sub(1);
    }

    /// Nothing is waited for any more.
    pub(super) fn stop(&mut self) {
        self.pass();
        self.under_way = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use keywright_clock::WallTime;
    use keywright_measure::dispatch::Delay;

    use super::*;

    const fn leg(part: u32, sent: u64) -> Leg {
        let release = Release {
            intended: sent,
            delay: Delay::Pacer,
        };
        Leg {
            part,
            release,
            sent,
        }
    }

    #[test]
    fn the_whole_is_the_sum_of_its_blocks_and_of_its_parts() {
        let mut seen = Ledger::new();
        let mut each = |_: &BlockRecord, ledger: &Ledger| seen.merge(ledger);
        let mut books = Books::new(Blocks::new(Duration::from_nanos(100)), 2, 1000, &mut each);
        for number in 0..50_u32 {
            let at = u64::from(number) * 10;
            books.upto(at, 1);
            let leg = leg(number % 2, at);
            books.ended(leg, leg, at, Outcome::Unchecked);
        }
        let mut closed = books.close(490);
        closed.never_sent(1, 480, 490);
        assert!(closed.total.counts.balance());
        assert_eq!((closed.total.counts.planned, closed.blocks.len()), (51, 5));
        let mut sum = Ledger::new();
        closed.parts.iter().for_each(|part| sum.merge(part));
        assert_eq!(sum.counts, closed.total.counts);
        assert_eq!(sum.response.count(), closed.total.response.count());
        assert_eq!(seen.counts.planned, 50);
    }

    #[test]
    fn a_late_look_moves_an_operation_and_adds_none() {
        let mut each = |_: &BlockRecord, _: &Ledger| {};
        let mut books = Books::new(Blocks::new(Duration::from_secs(1)), 0, 1000, &mut each);
        for at in 0..4 {
            books.ended(leg(0, at), leg(0, at), at + 5, Outcome::Unchecked);
        }
        let mut closed = books.close(10);
        closed.settle(0, 5, &Outcome::Verified);
        closed.settle(0, 5, &Outcome::Wrong);
        closed.settle(0, 5, &Outcome::Unchecked);
        let counts = &closed.total.counts;
        assert!(counts.balance());
        assert_eq!(
            (counts.verified, counts.wrong, counts.unverified),
            (1, 1, 2)
        );
    }

    #[test]
    fn the_gauge_integrates_what_is_under_way() {
        let (clock, hand) = Clock::simulated(WallTime::from_unix_seconds(0));
        let mut gauge = Gauge::new(clock.clone(), clock.monotonic());
        gauge.up();
        hand.advance(Duration::from_nanos(10));
        gauge.up();
        hand.advance(Duration::from_nanos(5));
        gauge.down();
        hand.advance(Duration::from_nanos(3));
        gauge.stop();
        hand.advance(Duration::from_nanos(100));
        gauge.stop();
        assert!((gauge.area - 23.0).abs() < 1e-9, "{}", gauge.area);
        assert_eq!(gauge.peak, 2);
    }
}
