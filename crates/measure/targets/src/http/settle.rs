//! The end of a run: what is still on its way, outputs that are asked about late, and the sum.

use keywright_clock::nanos;
use keywright_measure::Carried;
use keywright_measure::ledger::Outcome;

use super::books::{Closed, Leg};
use super::run::{End, Phase, Run};
use super::slot::{Job, Purpose, Stage};
use super::{Exchange, Look};

/// What a late look found: the part, the response time of the operation, and the finding.
pub(super) type Found = (u32, u64, Outcome);

/// What remains of a run when it has ended.
#[derive(Debug, Default)]
pub(super) struct Rest {
    end: u64,
    interrupted: bool,
    stopped: u64,
    /// Sent and not answered: the operation and its last leg.
    open: Vec<(Leg, Leg)>,
    /// Due and not sent: the part, and when it was due.
    unsent: Vec<(u32, u64)>,
}

impl<E: Exchange> Run<'_, E> {
    /// Waiting for answers is over: takes what is still on its way out of the places, and gets ready to
    /// ask about outputs.
    pub(super) fn drained(&mut self) -> Rest {
        let now = self.now();
        self.gauge.stop();
        let end = match self.phase {
            Phase::Draining { end, .. } => end,
            _ => End {
                at: now,
                queue: now,
                interrupted: false,
            },
        };
        let mut rest = Rest {
            end: end.at,
            interrupted: end.interrupted,
            stopped: now,
            ..Rest::default()
        };
        let queued = self.queues.iter_mut().flat_map(std::mem::take);
        rest.unsent = queued
            .map(|pending| (pending.draw.part, pending.release.intended))
            .collect();
        for number in (0..).take(self.slots.len()) {
            self.clear(number, &mut rest);
        }
        let patience = nanos(self.assignment.timeout).min(MOST_ASKING);
        self.phase = Phase::Asking {
            until: now.saturating_add(patience),
        };
        rest
    }

    fn clear(&mut self, number: u32, rest: &mut Rest) {
        let slot = &mut self.slots[number as usize];
        let Some(job) = slot.job.take() else {
            return;
        };
        self.free[self.lines[slot.line as usize].group as usize].push_back(number);
        match (job.purpose, &job.stage) {
            (Purpose::AtOnce { completed, .. }, _) => {
                self.books
                    .ended(job.whole, job.leg, completed, Outcome::Unchecked);
            }
            (Purpose::Afterwards(_), _) => {}
            (Purpose::Operation, Stage::Waiting(..)) if job.first && !self.is_closed_loop() => {
                rest.unsent.push((job.leg.part, job.whole.release.intended));
            }
            (Purpose::Operation, _) => rest.open.push((job.whole, job.leg)),
        }
    }

    /// Puts the questions that remain into places that are free.
    pub(super) fn ask_waiting(&mut self) {
        let mut later = Vec::new();
        while let Some(question) = self.questions.pop() {
            let Some(slot) = self.take_free(question.group) else {
                later.push(question);
                if self.free.iter().all(std::collections::VecDeque::is_empty) {
                    break;
                }
                continue;
            };
            let now = self.now();
            let release = keywright_measure::dispatch::Release {
                intended: now,
                delay: keywright_measure::dispatch::Delay::Pacer,
            };
            let leg = Leg {
                part: question.part,
                release,
                sent: now,
            };
            self.slots[slot as usize].job = Some(Job {
                whole: leg,
                leg,
                look: Look::Closely,
                first: true,
                purpose: Purpose::Afterwards(question.response),
                ticket: Some(question.ticket),
                stage: Stage::Waiting(Some(question.request), 0),
            });
            self.step(slot, now);
        }
        self.questions.append(&mut later);
    }

    /// Whether there is anything to ask about.
    pub(super) const fn has_questions(&self) -> bool {
        !self.questions.is_empty()
    }

    /// The sum of the run.
    pub(super) fn close(self, rest: Rest) -> Carried {
        let closed_loop = self.is_closed_loop();
        let (area, peak) = (self.gauge.area, self.gauge.peak);
        let mut books = self.books.close(rest.end);
        for (whole, last) in rest.open {
            books.unanswered(whole, last, rest.stopped);
        }
        for (part, due) in rest.unsent {
            books.never_sent(part, due, rest.end);
        }
        if !closed_loop {
            let left = self.dispatch.never_sent();
            for due in left.take_while(|due| *due < rest.end) {
                books.never_sent(self.exchange.draw(None).part, due, rest.end);
            }
        }
        for (part, response, outcome) in &self.looks {
            books.settle(*part, *response, outcome);
        }
        let mut carried = carried(books, rest.end);
        carried.in_flight_area = Some(area);
        carried.peak_in_flight = peak;
        carried.interrupted = rest.interrupted;
        carried
    }
}

/// Outputs are asked about for this long at most.
const MOST_ASKING: u64 = 30_000_000_000;

fn carried(books: Closed, end: u64) -> Carried {
    let mut carried = Carried::default();
    let pace = books.total.pace(end);
    carried.elapsed_ns = pace.elapsed_ns;
    carried.rate_per_s = pace.rate_per_s;
    carried.ledger = books.total;
    carried.parts = books.parts;
    carried.blocks = books.blocks;
    carried.batch = 1;
    carried
}
