//! Servers that exist on paper: known capacity, known freezes, known faults, no real time.
//!
//! The engine is judged here. A simulated server is a queue before a number of places; its time is a
//! count of nanoseconds, so ten simulated minutes take a moment and every run repeats from its seed. The
//! dispatch and the books are the ones that threads and event loops use.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use keywright_clock::nanos;

use crate::carry::{Assignment, Carried, Carrier, Fault, FaultPhase, TargetError, Verify};
use crate::dispatch::{Dispatch, Next, Release};
use crate::document::BlockRecord;
use crate::ledger::{Ledger, Outcome, Span};
use crate::load::Load;
use crate::series::Blocks;
use crate::stats::random::Generator;

/// A server on paper.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "made by literal updates of its default"
)]
pub struct Server {
    /// Operations it works on at once; others queue, first come first served.
    pub places: u32,
    /// How long one operation takes.
    pub service: Service,
    /// Stretches in which no operation advances: since the start, and how long.
    pub freezes: Vec<(Duration, Duration)>,
    /// Every so many operations the output is wrong; 0 is never.
    pub wrong_every: u64,
    /// Every so many operations one fails at once; 0 is never.
    pub fault_every: u64,
    /// Every so many operations one is never answered; 0 is never.
    pub silent_every: u64,
    /// The server works off at most this queue and refuses the rest; 0 is no limit.
    pub queue: u64,
    /// Time the generator needs for each start.
    pub generator: Duration,
}

/// How long an operation takes in a simulated server.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Service {
    /// Exponentially distributed with this mean.
    Exponential(Duration),
    /// Always this long.
    Fixed(Duration),
}

impl Default for Server {
    fn default() -> Self {
        Self {
            places: 1,
            service: Service::Fixed(Duration::from_micros(5)),
            freezes: Vec::new(),
            wrong_every: 0,
            fault_every: 0,
            silent_every: 0,
            queue: 0,
            generator: Duration::ZERO,
        }
    }
}

impl Server {
    /// The rate at which it is always busy, in operations a second.
    #[must_use]
    pub fn capacity_per_s(&self) -> f64 {
        let (Service::Exponential(mean) | Service::Fixed(mean)) = self.service;
        f64::from(self.places) / mean.as_secs_f64()
    }

    /// When work of `length` that starts at `start` is done: freezes push it back.
    fn through_freezes(&self, start: u64, length: u64) -> u64 {
        let mut done = start + length;
        for (from, lasts) in &self.freezes {
            let (from, lasts) = (nanos(*from), nanos(*lasts));
            if start < from + lasts && done > from {
                // What was done before the freeze stays done.
                done += from + lasts - start.max(from);
            }
        }
        done
    }
}

/// An operation on its way, ordered by its end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Flight {
    completed: u64,
    number: u64,
    intended: u64,
    sent: u64,
    delay_is_slot: bool,
}

/// One run against a server on paper.
struct Run<'a> {
    server: &'a Server,
    random: Generator,
    /// When each place becomes free.
    places: BinaryHeap<Reverse<u64>>,
    flights: BinaryHeap<Reverse<Flight>>,
    ledger: Ledger,
    sent: u64,
    peak: u64,
    area: f64,
    now: u64,
    timeout: u64,
    verify: Verify,
}

impl Carrier for Server {
    fn carry(
        &mut self,
        assignment: &Assignment<'_>,
        block: &mut dyn FnMut(&BlockRecord, &Ledger),
    ) -> Result<Carried, TargetError> {
        let mut dispatch =
            Dispatch::new(assignment.load, assignment.window.limit(), assignment.seed);
        let mut run = Run::new(self, assignment);
        let mut blocks = Blocks::new(assignment.block);
        run.until_over(&mut dispatch, &mut blocks, block);
        // A count that was reached ends a schedule early.
        let counted = assignment.window.limit().operations;
        let end = match counted.is_some_and(|most| run.sent >= most) {
            true => run.now,
            false => dispatch.end().unwrap_or(run.now).max(run.now),
        };
        run.drain(&mut dispatch, &mut blocks, nanos(assignment.drain));
        let end = match assignment.load {
            Load::Closed { .. } => run.now,
            Load::Open(_) => end,
        };
        run.close(dispatch, end);
        Ok(run.into_carried(blocks.finish(end, block), end))
    }

    fn simulated(&self) -> bool {
        true
    }
}

impl<'a> Run<'a> {
    fn new(server: &'a Server, assignment: &Assignment<'_>) -> Self {
        Self {
            server,
            random: Generator::new(assignment.seed ^ 0x5e17_ab1e),
            places: (0..server.places.max(1)).map(|_| Reverse(0)).collect(),
            flights: BinaryHeap::new(),
            ledger: Ledger::until(assignment.deadline()),
            sent: 0,
            peak: 0,
            area: 0.0,
            now: 0,
            timeout: assignment.timeout_nanos(),
            verify: assignment.verify,
        }
    }

    fn until_over(
        &mut self,
        dispatch: &mut Dispatch,
        blocks: &mut Blocks,
        block: &mut dyn FnMut(&BlockRecord, &Ledger),
    ) {
        loop {
            self.land(dispatch, blocks, block);
            match dispatch.next(self.now) {
                Next::Over => return,
                Next::Start(release) => {
                    self.pass(dispatch, nanos(self.server.generator));
                    self.send(release, dispatch.in_flight());
                }
                Next::Wait { until } => {
                    let next = self
                        .flights
                        .peek()
                        .map_or(until, |Reverse(flight)| flight.completed.min(until));
                    self.pass(dispatch, next.saturating_sub(self.now));
                }
                Next::Full => {
                    let next = self.flights.peek().map(|Reverse(flight)| flight.completed);
                    let next = next.into_iter().chain(dispatch.end()).min();
                    self.pass(dispatch, next.unwrap_or(0).saturating_sub(self.now).max(1));
                }
            }
        }
    }

    fn drain(&mut self, dispatch: &mut Dispatch, blocks: &mut Blocks, drain: u64) {
        let stop = self.now.saturating_add(drain);
        while let Some(Reverse(flight)) = self.flights.peek() {
            if flight.completed > stop {
                break;
            }
            let next = flight.completed;
            self.pass(dispatch, next.saturating_sub(self.now));
            self.land(dispatch, blocks, &mut |_, _| {});
        }
        if !self.flights.is_empty() {
            self.now = stop;
        }
    }

    /// What is still on its way is unanswered; what was not sent never was.
    fn close(&mut self, dispatch: Dispatch, end: u64) {
        for Reverse(flight) in std::mem::take(&mut self.flights) {
            self.ledger
                .unanswered(flight.release(), flight.sent, self.now, self.timeout);
        }
        for due in dispatch.never_sent() {
            self.ledger.never_sent(due, end);
        }
    }

    fn pass(&mut self, dispatch: &Dispatch, time: u64) {
        self.area += dispatch.in_flight() as f64 * time as f64;
        self.now += time;
    }

    fn send(&mut self, release: Release, in_flight: u64) {
        self.sent += 1;
        self.peak = self.peak.max(in_flight);
        let server = self.server;
        let silent = Self::every(self.sent, server.silent_every);
        let failing = Self::every(self.sent, server.fault_every);
        let full = server.queue > 0
            && self.flights.len() as u64 >= server.queue + u64::from(server.places);
        let completed = if silent {
            // Nobody answers; the driver gives up when its time is over.
            release
                .intended
                .saturating_add(self.timeout)
                .saturating_add(1)
        } else if failing || full {
            self.now
        } else {
            let free = self.places.pop().map_or(0, |Reverse(free)| free);
            let done = server.through_freezes(self.now.max(free), self.work());
            self.places.push(Reverse(done));
            done
        };
        self.flights.push(Reverse(Flight {
            completed,
            number: if full { 0 } else { self.sent },
            intended: release.intended,
            sent: self.now,
            delay_is_slot: release.delay == crate::dispatch::Delay::Slot,
        }));
    }

    fn work(&mut self) -> u64 {
        match self.server.service {
            Service::Fixed(time) => nanos(time),
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a positive time of some seconds at most"
            )]
            Service::Exponential(mean) => {
                (self.random.exponential(1.0) * mean.as_nanos() as f64).round() as u64
            }
        }
    }

    /// Takes in what has ended by now.
    fn land(
        &mut self,
        dispatch: &mut Dispatch,
        blocks: &mut Blocks,
        block: &mut dyn FnMut(&BlockRecord, &Ledger),
    ) {
        while let Some(Reverse(flight)) = self.flights.peek() {
            if flight.completed > self.now {
                return;
            }
            let Some(Reverse(flight)) = self.flights.pop() else {
                return;
            };
            dispatch.ended(self.now);
            let outcome = self.outcome(flight.number);
            let span = Span {
                sent: flight.sent,
                completed: flight.completed,
            };
            blocks.upto(flight.completed, dispatch.in_flight(), block);
            blocks
                .ledger()
                .ended(flight.release(), span, outcome.clone(), self.timeout);
            self.ledger
                .ended(flight.release(), span, outcome, self.timeout);
        }
    }

    const fn every(number: u64, every: u64) -> bool {
        every > 0 && number.is_multiple_of(every)
    }

    fn outcome(&self, number: u64) -> Outcome {
        if number == 0 {
            return Outcome::Failed(Fault::new(FaultPhase::Service, "overloaded"));
        }
        if Self::every(number, self.server.fault_every) {
            return Outcome::Failed(Fault::new(FaultPhase::Service, "scripted"));
        }
        if Self::every(number, self.server.wrong_every) {
            return Outcome::Wrong;
        }
        if self.verify.wants(number) {
            Outcome::Verified
        } else {
            Outcome::Unchecked
        }
    }

    fn into_carried(self, blocks: Vec<BlockRecord>, end: u64) -> Carried {
        let pace = self.ledger.pace(end);
        Carried {
            rate_per_s: pace.rate_per_s,
            ledger: self.ledger,
            blocks,
            elapsed_ns: pace.elapsed_ns,
            in_flight_area: Some(self.area),
            peak_in_flight: self.peak,
            batch: 1,
            ..Carried::default()
        }
    }
}

impl Flight {
    const fn release(&self) -> Release {
        Release {
            intended: self.intended,
            delay: if self.delay_is_slot {
                crate::dispatch::Delay::Slot
            } else {
                crate::dispatch::Delay::Pacer
            },
        }
    }
}
