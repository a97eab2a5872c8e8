//! From a request to its answer and on to the books.

use std::rc::Rc;
use std::task::{Context, Poll};

use keywright_measure::carry::Verify;
use keywright_measure::dispatch::{Delay, Release};
use keywright_measure::ledger::Outcome;
use keywright_measure::{Fault, FaultPhase};

use super::books::Leg;
use super::flight::Flight;
use super::line::Sent;
use super::run::Run;
use super::slot::{Job, Purpose, Question, Stage};
use super::{Call, Exchange, Look, Reply, Step};

/// Bytes of requests that are kept to be asked after the run.
const MOST_KEPT: usize = 4 << 20;
/// What a question takes beside its body.
const QUESTION: usize = 512;
/// An operation fails when it has found its connection lost more often than this.
const MOST_LOST: u32 = 2;

impl<E: Exchange> Run<'_, E> {
    /// Takes a slot as far as it goes now.
    pub(super) fn step(&mut self, slot: u32, now: u64) {
        let bells = Rc::clone(&self.bells);
        let Some(bell) = bells.get(slot as usize) else {
            return;
        };
        bell.rearm();
        let mut cx = Context::from_waker(bell.waker());
        while let Poll::Ready(result) = self.advance(slot, &mut cx) {
            self.landed(slot, result, now);
        }
    }

    /// Sends, and looks for the answer.
    fn advance(&mut self, slot: u32, cx: &mut Context<'_>) -> Poll<Result<Reply, Fault>> {
        let Some(job) = &mut self.slots[slot as usize].job else {
            return Poll::Pending;
        };
        if let Stage::Flying(flight) = &mut job.stage {
            return flight.poll(cx);
        }
        match self.send(slot, cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Err(fault)) => Poll::Ready(Err(fault)),
            Poll::Ready(Ok(mut flight)) => {
                // Nothing can have come yet; this is how it learns whose bell to ring.
                let looked = flight.poll(cx);
                if let Some(job) = &mut self.slots[slot as usize].job {
                    job.stage = Stage::Flying(flight);
                }
                looked
            }
        }
    }

    fn send(&mut self, slot: u32, cx: &mut Context<'_>) -> Poll<Result<Flight, Fault>> {
        let sent = self.now();
        let place = &mut self.slots[slot as usize];
        let Some(job) = &mut place.job else {
            return Poll::Pending;
        };
        let Stage::Waiting(request, lost) = &mut job.stage else {
            return Poll::Pending;
        };
        match self.lines[place.line as usize].send(slot, &mut place.handle, request, cx) {
            Sent::Failed(fault) => Poll::Ready(Err(fault)),
            Sent::Flying(flight) => {
                job.sent(sent);
                if job.purpose == Purpose::Operation {
                    self.gauge.up();
                }
                Poll::Ready(Ok(flight))
            }
            Sent::Wait => {
                job.delayed();
                Poll::Pending
            }
            Sent::Lost => {
                *lost += 1;
                let often = *lost > MOST_LOST;
                job.delayed();
                let line = place.line as usize;
                self.bells[self.slots.len() + line].waker().wake_by_ref();
                match often {
                    true => Poll::Ready(Err(Fault::new(FaultPhase::Stream, "closed"))),
                    false => Poll::Pending,
                }
            }
        }
    }

    /// An attempt to connect may have ended.
    pub(super) fn dialled(&mut self, line: usize, now: u64) {
        let bells = Rc::clone(&self.bells);
        let bell = &bells[self.slots.len() + line];
        bell.rearm();
        let mut cx = Context::from_waker(bell.waker());
        let Some((result, waiting)) = self.lines[line].poll_dial(&mut cx) else {
            return;
        };
        for slot in waiting {
            let job = self.slots[slot as usize].job.as_ref();
            let waits = job.is_some_and(|job| matches!(job.stage, Stage::Waiting(..)));
            match &result {
                Ok(()) => self.step(slot, now),
                Err(fault) if waits => self.landed(slot, Err(fault.clone()), now),
                Err(_) => {}
            }
        }
    }

    /// A request came back.
    fn landed(&mut self, slot: u32, result: Result<Reply, Fault>, now: u64) {
        let place = &mut self.slots[slot as usize];
        let Some(mut job) = place.job.take() else {
            return;
        };
        if result.is_ok() {
            self.lines[place.line as usize].answered();
        }
        let ticket = job.ticket.take();
        match job.purpose {
            Purpose::AtOnce { completed, .. } => {
                let outcome = self.looked_at(result, ticket);
                self.end(slot, &job, completed, outcome);
            }
            Purpose::Afterwards(response) => {
                let outcome = self.looked_at(result, ticket);
                self.looks.push((job.leg.part, response, outcome));
                self.vacate(slot);
            }
            Purpose::Operation => {
                self.under_way_no_more(&job);
                match (result, ticket) {
                    (Ok(reply), Some(ticket)) => {
                        let step = self.exchange.answer(ticket, &reply, job.look);
                        self.follow(slot, job, step, now);
                    }
                    (Err(fault), _) => self.end(slot, &job, now, Outcome::Failed(fault)),
                    (Ok(_), None) => self.end(slot, &job, now, Outcome::Unchecked),
                }
            }
        }
    }

    fn follow(&mut self, slot: u32, mut job: Job<E::Ticket>, step: Step<E::Ticket>, now: u64) {
        match step {
            Step::Done(outcome) => self.end(slot, &job, now, outcome),
            Step::Next(part, call) => {
                self.books.upto(now, self.dispatch.in_flight());
                self.books.leg(job.leg, now);
                let release = Release {
                    intended: now,
                    delay: Delay::Pacer,
                };
                job.leg = Leg {
                    part,
                    release,
                    sent: now,
                };
                job.first = false;
                self.put(slot, job, call);
            }
            Step::Ask(call) => self.ask(slot, job, call, now),
        }
    }

    /// Puts a further request into the place.
    fn put(&mut self, slot: u32, mut job: Job<E::Ticket>, call: Call<E::Ticket>) {
        job.ticket = Some(call.ticket);
        job.stage = Stage::Waiting(Some(call.request), 0);
        self.slots[slot as usize].job = Some(job);
    }

    /// The operation is complete; what its output is worth takes another request, now or later.
    fn ask(&mut self, slot: u32, mut job: Job<E::Ticket>, call: Call<E::Ticket>, now: u64) {
        let bytes = call.request.body().len() + QUESTION;
        let all = self.assignment.verify == Verify::All;
        if all || self.kept_bytes + bytes > MOST_KEPT {
            job.purpose = Purpose::AtOnce {
                completed: now,
                asked: now,
            };
            job.first = false;
            self.put(slot, job, call);
            return;
        }
        self.kept_bytes += bytes;
        self.questions.push(Question {
            part: job.leg.part,
            group: self.lines[self.slots[slot as usize].line as usize].group,
            response: now.saturating_sub(job.whole.release.intended),
            request: call.request,
            ticket: call.ticket,
        });
        self.end(slot, &job, now, Outcome::Unchecked);
    }

    /// What the answer to a question says. One that failed says nothing about the output.
    fn looked_at(&mut self, result: Result<Reply, Fault>, ticket: Option<E::Ticket>) -> Outcome {
        let (Ok(reply), Some(ticket)) = (result, ticket) else {
            return Outcome::Unchecked;
        };
        match self.exchange.answer(ticket, &reply, Look::Closely) {
            Step::Done(outcome @ (Outcome::Verified | Outcome::Wrong)) => outcome,
            _ => Outcome::Unchecked,
        }
    }

    fn end(&mut self, slot: u32, job: &Job<E::Ticket>, completed: u64, outcome: Outcome) {
        self.books.upto(completed, self.dispatch.in_flight());
        self.books.ended(job.whole, job.leg, completed, outcome);
        self.vacate(slot);
    }

    /// The time of what is in this place is up.
    pub(super) fn give_up(&mut self, slot: u32, now: u64) {
        let Some(job) = self.slots[slot as usize].job.take() else {
            return;
        };
        if let Purpose::AtOnce { completed, .. } = job.purpose {
            return self.end(slot, &job, completed, Outcome::Unchecked);
        }
        self.under_way_no_more(&job);
        self.books.timed_out(job.whole, job.leg, now);
        self.vacate(slot);
    }

    fn under_way_no_more(&mut self, job: &Job<E::Ticket>) {
        if matches!(job.stage, Stage::Flying(_)) {
            self.gauge.down();
        }
    }

    fn vacate(&mut self, slot: u32) {
        let line = self.slots[slot as usize].line as usize;
        self.free[self.lines[line].group as usize].push_back(slot);
        let now = self.now();
        self.dispatch.ended(now);
    }
}

impl<T> Job<T> {
    /// It was put into a connection.
    const fn sent(&mut self, sent: u64) {
        self.leg.sent = sent;
        if self.first {
            self.whole.sent = sent;
        }
    }

    /// Its connection does not take it yet, which is not the pacer's doing.
    const fn delayed(&mut self) {
        self.leg.release.delay = Delay::Slot;
        if self.first {
            self.whole.release.delay = Delay::Slot;
        }
    }
}
