//! Drives operations that block: one thread and one [`Worker`] for each that may be in flight.
//!
//! **Closed loops.** All threads start at a barrier and run on their own until the time is up. An operation
//! of at least twenty times what a reading of the clock costs is timed alone; a shorter one is repeated
//! until a sample lasts long enough, the loop itself is subtracted, and what comes out is labelled as
//! quantiles of batch means.
//!
//! **Readings.** From one reading of the clock to the next passes what is between them and one reading. The
//! calibrated cost of that one is taken off the second, in loops and schedules alike: of an operation of a
//! microsecond it would be some percent.
//!
//! **Schedules.** The threads share one [`Dispatch`]. Whoever holds it waits for the next due time, takes
//! the operation and passes the dispatch on before starting it, so that one thread at a time waits for the
//! schedule and none needs a queue. Waiting is sleep until shortly before the time, then a loop on the clock:
//! a timer of milliseconds would start operations in heaps.
//!
//! The calling thread does nothing but cut blocks: once per block it exchanges each worker's books for empty
//! ones, and does the adding up outside of any lock that a worker waits for.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Barrier, Mutex, MutexGuard, PoisonError};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

use keywright_clock::{Clock, MonotonicTime, nanos};

use crate::carry::{Assignment, Carried, Carrier, Check, Fault, TargetError, Window, Worker};
use crate::dispatch::{Dispatch, Next, Release};
use crate::document::BlockRecord;
use crate::ledger::{Ledger, Outcome, Span};
use crate::load::Load;
use crate::series::record;
use crate::timer::Timer;

/// Workers with a thread each.
pub struct Threads {
    workers: Vec<Box<dyn Worker>>,
    parts: Vec<(String, f64)>,
    timer: Timer,
    batch: Option<u64>,
    cpu: Option<CpuTime>,
    begin: Option<Begin>,
}

/// What each thread does before it begins.
pub type Begin = Box<dyn Fn() + Send + Sync>;

/// Processor time so far, in nanoseconds: of this process, or of the one that is measured.
pub type CpuTime = Box<dyn Fn() -> Option<u64> + Send>;

impl std::fmt::Debug for Threads {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Threads")
            .field("workers", &self.workers.len())
            .field("batch", &self.batch)
            .finish_non_exhaustive()
    }
}

impl Threads {
    /// Drives these workers, each on a thread.
    #[must_use]
    pub fn new(workers: Vec<Box<dyn Worker>>, timer: Timer) -> Self {
        Self {
            workers,
            parts: Vec::new(),
            timer,
            batch: None,
            cpu: None,
            begin: None,
        }
    }

    /// What each thread does before it begins, such as going to a core.
    #[must_use]
    pub fn with_begin(mut self, begin: Begin) -> Self {
        self.begin = Some(begin);
        self
    }

    /// The operations of a mix and their weights; [`Worker::part`] is a place in this list.
    #[must_use]
    pub fn with_parts(mut self, parts: Vec<(String, f64)>) -> Self {
        self.parts = parts;
        self
    }

    /// Where processor time is read before and after a run.
    #[must_use]
    pub fn with_cpu(mut self, cpu: CpuTime) -> Self {
        self.cpu = Some(cpu);
        self
    }

    /// How many operations make a sample that can be timed: 1, or enough of them in batches.
    fn batch(&mut self, clock: &Clock) -> Result<u64, Fault> {
        if let Some(batch) = self.batch {
            return Ok(batch);
        }
        let timer = self.timer;
        let Some(worker) = self.workers.first_mut() else {
            return Ok(1);
        };
        let batch = timer.batch(clock, &mut |count| worker.repeat(count))?;
        self.batch = Some(batch);
        Ok(batch)
    }
}

/// What a worker's thread and the collecting thread share.
struct Desk {
    books: Mutex<Vec<Ledger>>,
}

impl Desk {
    fn new(parts: usize, deadline: Option<u64>) -> Self {
        Self {
            books: Mutex::new(vec![Ledger::until(deadline); parts.max(1)]),
        }
    }

    fn open(&self) -> MutexGuard<'_, Vec<Ledger>> {
        // A worker that panicked has written whole entries only.
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What all threads of a run see.
struct Shared<'a> {
    assignment: &'a Assignment<'a>,
    start: MonotonicTime,
    barrier: Barrier,
    begin: Option<&'a Begin>,
    desks: Vec<Desk>,
    over: AtomicBool,
    /// The gauge as the collecting thread sees it.
    in_flight: AtomicU64,
    batch: u64,
    loop_picos: u64,
    /// What a reading of the clock costs, in nanoseconds.
    reading: u64,
}

impl Shared<'_> {
    fn now(&self) -> u64 {
        nanos(self.assignment.clock.monotonic().since(self.start))
    }

    /// The end of what began at `sent`, without the reading that this takes.
    fn end_of(&self, sent: u64) -> u64 {
        self.now().saturating_sub(self.reading).max(sent)
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Where all threads begin together.
    fn line_up(&self) {
        if let Some(begin) = self.begin {
            begin();
        }
        self.barrier.wait();
    }
}

/// What a worker's thread brings back.
#[derive(Clone, Copy, Debug, Default)]
struct Done {
    operations: u64,
    good: u64,
    first: u64,
    last: u64,
}

impl Carrier for Threads {
    fn carry(
        &mut self,
        assignment: &Assignment<'_>,
        block: &mut dyn FnMut(&BlockRecord, &Ledger),
    ) -> Result<Carried, TargetError> {
        let wanted = assignment.load.cap().get() as usize;
        if wanted > self.workers.len() {
            return Err(TargetError::Load(
                "more operations in flight than there are workers",
            ));
        }
        let closed = matches!(assignment.load, Load::Closed { .. });
        let batch = match closed {
            true => self.batch(assignment.clock).unwrap_or(1),
            false => 1,
        };
        let cpu = self.cpu.as_ref().and_then(|cpu| cpu());
        let shared = Shared {
            assignment,
            start: assignment.clock.monotonic(),
            barrier: Barrier::new(wanted),
            begin: self.begin.as_ref(),
            desks: (0..wanted)
                .map(|_| Desk::new(self.parts.len(), assignment.deadline()))
                .collect(),
            over: AtomicBool::new(false),
            in_flight: AtomicU64::new(0),
            batch,
            loop_picos: self.timer.loop_picos(),
            reading: (self.timer.cost_picos() + 500) / 1000,
        };
        let workers = &mut self.workers[..wanted];
        let mut carried = if closed {
            run_loops(workers, &shared, block)?
        } else {
            run_schedule(workers, &shared, block)?
        };
        carried.cpu_ns = self
            .cpu
            .as_ref()
            .and_then(|cpu| cpu())
            .zip(cpu)
            .map(|(after, before)| after.saturating_sub(before));
        Ok(carried)
    }

    fn parts(&self) -> Vec<(String, f64)> {
        self.parts.clone()
    }
}

/// Starts a thread for each worker. They begin when all of them exist: a load with fewer workers than were asked for is
/// another load, and the threads would wait for each other for ever.
fn start_workers<'scope, D: Default + Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    workers: &'scope mut [Box<dyn Worker>],
    work: impl Fn(&mut dyn Worker, usize) -> D + Copy + Send + 'scope,
) -> Result<Vec<ScopedJoinHandle<'scope, D>>, TargetError> {
    let wanted = workers.len();
    let (mut begins, mut threads) = (Vec::new(), Vec::new());
    for (index, worker) in workers.iter_mut().enumerate() {
        let (begin, begun) = sync_channel::<()>(1);
        let run = move || match begun.recv() {
            Ok(()) => work(worker.as_mut(), index),
            // Not every thread exists.
            Err(_gone) => D::default(),
        };
        let thread = std::thread::Builder::new().spawn_scoped(scope, run);
        threads.push(thread.map_err(|error| {
            let text = format!("thread {} of {wanted} was not started: {error}", index + 1);
            TargetError::System(text)
        })?);
        begins.push(begin);
    }
    for begin in begins {
        // A thread waits for it, so that it arrives.
        begin.send(()).unwrap_or_default();
    }
    Ok(threads)
}

/// Every worker for itself.
fn run_loops(
    workers: &mut [Box<dyn Worker>],
    shared: &Shared<'_>,
    block: &mut dyn FnMut(&BlockRecord, &Ledger),
) -> Result<Carried, TargetError> {
    let count = workers.len();
    std::thread::scope(|scope| {
        let threads = start_workers(scope, workers, |worker, index| {
            closed_loop(worker, index, count, shared)
        })?;
        let mut collector = Collector::new(shared);
        collector.collect(&|| threads.iter().all(ScopedJoinHandle::is_finished), block);
        // A worker whose thread panicked did nothing that counts.
        let done: Vec<Done> = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_default())
            .collect();
        let mut carried = collector.finish(block);
        carried.rate_per_s = done
            .iter()
            .map(|done| per_second(done.good, done.last.saturating_sub(done.first)))
            .sum();
        carried.by_worker = done.iter().map(|done| done.operations).collect();
        Ok(carried)
    })
}

fn per_second(count: u64, nanos: u64) -> f64 {
    count as f64 / (nanos.max(1) as f64 / 1e9)
}

fn closed_loop(worker: &mut dyn Worker, index: usize, count: usize, shared: &Shared<'_>) -> Done {
    shared.line_up();
    let (time, mut left) = match shared.assignment.window {
        Window::Time(time) => (nanos(time), u64::MAX),
        Window::Operations(most) => {
            let (count, index) = (count as u64, index as u64);
            (u64::MAX, most / count + u64::from(index < most % count))
        }
    };
    let mut done = Done {
        first: shared.now(),
        ..Done::default()
    };
    done.last = done.first;
    let mut samples = 0;
    while left > 0 && !shared.is_over() {
        let k = shared.batch.min(left);
        let sent = shared.now();
        let result = if k == 1 {
            worker.operate()
        } else {
            worker.repeat(black_box(k))
        };
        let completed = shared.end_of(sent);
        let outcome = outcome(worker, result, samples, shared);
        let good = !matches!(outcome, Outcome::Failed(_) | Outcome::Wrong);
        let mut books = shared.desks[index].open();
        let part = worker.part().min(books.len() - 1);
        if shared.batch == 1 {
            let release = Release {
                intended: sent,
                delay: crate::dispatch::Delay::Pacer,
            };
            let timeout = shared.assignment.timeout_nanos();
            books[part].ended(release, Span { sent, completed }, outcome, timeout);
        } else {
            let picos = ((completed - sent) * 1000 / k).saturating_sub(shared.loop_picos);
            books[part].batch(k, picos, &outcome, completed);
        }
        drop(books);
        samples += 1;
        left -= k;
        done.operations += k;
        done.good += if good { k } else { k - 1 };
        done.last = completed;
        if completed >= time {
            break;
        }
    }
    done
}

fn outcome(
    worker: &mut dyn Worker,
    result: Result<(), Fault>,
    number: u64,
    shared: &Shared<'_>,
) -> Outcome {
    if let Err(fault) = result {
        return Outcome::Failed(fault);
    }
    if !shared.assignment.verify.wants(number) {
        return Outcome::Unchecked;
    }
    match worker.check() {
        Check::Right => Outcome::Verified,
        Check::Unknown => Outcome::Unchecked,
        Check::Wrong => Outcome::Wrong,
    }
}

/// All workers from one dispatch.
fn run_schedule(
    workers: &mut [Box<dyn Worker>],
    shared: &Shared<'_>,
    block: &mut dyn FnMut(&BlockRecord, &Ledger),
) -> Result<Carried, TargetError> {
    let assignment = shared.assignment;
    let dispatch = Dispatch::new(assignment.load, assignment.window.limit(), assignment.seed);
    let end = dispatch.end();
    let turn = Mutex::new(Turn::new(dispatch));
    let mut carried = std::thread::scope(|scope| {
        let threads = start_workers(scope, workers, |worker, index| {
            scheduled(worker, index, &turn, shared);
        })?;
        let mut collector = Collector::new(shared);
        collector.collect(&|| threads.iter().all(ScopedJoinHandle::is_finished), block);
        for thread in threads {
            drop(thread.join());
        }
        Ok(collector.finish(block))
    })?;
    let turn = turn.into_inner().unwrap_or_else(PoisonError::into_inner);
    carried.in_flight_area = Some(turn.area);
    carried.peak_in_flight = turn.peak;
    // A schedule whose count was reached ends with its last operation; an interrupted one ends where it
    // was interrupted. Neither plans anything after that.
    let most = assignment.window.limit().operations;
    let counted = most.is_some_and(|most| carried.ledger.counts.sent >= most);
    let end = match carried.interrupted || counted {
        true => Some(turn.last),
        false => end,
    };
    let end = end.unwrap_or(carried.ledger.last_completed);
    for due in turn.dispatch.never_sent().take_while(|due| *due < end) {
        carried.ledger.never_sent(due, end);
    }
    let pace = carried.ledger.pace(end);
    carried.elapsed_ns = pace.elapsed_ns;
    carried.rate_per_s = pace.rate_per_s;
    Ok(carried)
}

/// The dispatch and the gauge of operations in flight, which is read apart from the stamps.
struct Turn {
    dispatch: Dispatch,
    area: f64,
    last: u64,
    peak: u64,
}

impl Turn {
    const fn new(dispatch: Dispatch) -> Self {
        Self {
            dispatch,
            area: 0.0,
            last: 0,
            peak: 0,
        }
    }

    fn pass(&mut self, now: u64) {
        self.area += self.dispatch.in_flight() as f64 * now.saturating_sub(self.last) as f64;
        self.last = self.last.max(now);
        self.peak = self.peak.max(self.dispatch.in_flight());
    }

    fn show(&self, shared: &Shared<'_>) {
        let in_flight = self.dispatch.in_flight();
        shared.in_flight.store(in_flight, Ordering::Relaxed);
    }

    fn ended(&mut self, now: u64) {
        self.pass(now);
        self.dispatch.ended(now);
    }
}

fn scheduled(worker: &mut dyn Worker, index: usize, turn: &Mutex<Turn>, shared: &Shared<'_>) {
    shared.line_up();
    let timeout = shared.assignment.timeout_nanos();
    let (mut number, mut ended) = (0, None);
    while let Some(release) = await_turn(turn, &mut ended, shared) {
        let sent = shared.now();
        let result = worker.operate();
        let completed = shared.end_of(sent);
        ended = Some(());
        let outcome = outcome(worker, result, number, shared);
        let mut books = shared.desks[index].open();
        let part = worker.part().min(books.len() - 1);
        books[part].ended(release, Span { sent, completed }, outcome, timeout);
        drop(books);
        number += 1;
    }
}

/// Gives back the place of the operation that ended and waits for the next to be due.
fn await_turn(turn: &Mutex<Turn>, ended: &mut Option<()>, shared: &Shared<'_>) -> Option<Release> {
    let mut turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
    if ended.take().is_some() {
        turn.ended(shared.now());
        turn.show(shared);
    }
    loop {
        if shared.is_over() {
            return None;
        }
        let now = shared.now();
        match turn.dispatch.next(now) {
            Next::Start(release) => {
                turn.pass(now);
                turn.show(shared);
                return Some(release);
            }
            Next::Wait { until } => wait(until, shared),
            // There are as many workers as places, so this one's own place is free.
            Next::Full | Next::Over => return None,
        }
    }
}

/// How long before a due time sleeping ends and looking at the clock begins.
const SPIN: Duration = Duration::from_micros(100);
/// The longest sleep, so that a request to stop is seen.
const NAP: Duration = Duration::from_millis(50);

fn wait(until: u64, shared: &Shared<'_>) {
    let ahead = Duration::from_nanos(until.saturating_sub(shared.now()));
    if let Some(sleep) = ahead.checked_sub(SPIN).filter(|sleep| !sleep.is_zero()) {
        std::thread::sleep(sleep.min(NAP));
        return;
    }
    while shared.now() < until {
        std::hint::spin_loop();
    }
}

/// Cuts blocks on the calling thread.
struct Collector<'a> {
    shared: &'a Shared<'a>,
    spare: Vec<Ledger>,
    block: Vec<Ledger>,
    total: Vec<Ledger>,
    blocks: Vec<BlockRecord>,
    start: u64,
    interrupted: bool,
}

impl<'a> Collector<'a> {
    fn new(shared: &'a Shared<'a>) -> Self {
        let parts = shared.desks.first().map_or(1, |desk| desk.open().len());
        Self {
            shared,
            spare: vec![Ledger::until(shared.assignment.deadline()); parts],
            block: vec![Ledger::new(); parts],
            total: vec![Ledger::new(); parts],
            blocks: Vec::new(),
            start: 0,
            interrupted: false,
        }
    }

    /// Until all workers are done.
    fn collect(
        &mut self,
        finished: &dyn Fn() -> bool,
        each: &mut dyn FnMut(&BlockRecord, &Ledger),
    ) {
        let length = nanos(self.shared.assignment.block).max(1);
        while !finished() {
            let now = self.shared.now();
            if self.shared.assignment.stop.is_asked() {
                self.interrupted = true;
                self.shared.over.store(true, Ordering::Relaxed);
            }
            if now >= self.start + length {
                self.cut(now, each);
            }
            let left = Duration::from_nanos((self.start + length).saturating_sub(now));
            std::thread::sleep(left.clamp(Duration::from_micros(500), Duration::from_millis(5)));
        }
    }

    /// Takes everybody's books.
    fn gather(&mut self) {
        for desk in &self.shared.desks {
            std::mem::swap(&mut *desk.open(), &mut self.spare);
            for (block, books) in self.block.iter_mut().zip(&mut self.spare) {
                block.merge(books);
                books.clear();
            }
        }
    }

    fn cut(&mut self, now: u64, each: &mut dyn FnMut(&BlockRecord, &Ledger)) {
        self.gather();
        let mut whole = Ledger::new();
        for (total, block) in self.total.iter_mut().zip(&mut self.block) {
            total.merge(block);
            whole.merge(block);
            block.clear();
        }
        let length = now.saturating_sub(self.start);
        let in_flight = self.shared.in_flight.load(Ordering::Relaxed);
        let block = record(&whole, self.start, length, in_flight);
        each(&block, &whole);
        self.blocks.push(block);
        self.start = now;
    }

    fn finish(mut self, each: &mut dyn FnMut(&BlockRecord, &Ledger)) -> Carried {
        let now = self.shared.now();
        let length = nanos(self.shared.assignment.block);
        self.gather();
        let rest = now.saturating_sub(self.start);
        if rest >= length / 2 || self.blocks.is_empty() {
            self.cut(now, each);
        } else {
            for (total, block) in self.total.iter_mut().zip(&self.block) {
                total.merge(block);
            }
        }
        let mut ledger = Ledger::new();
        self.total.iter().for_each(|part| ledger.merge(part));
        Carried {
            elapsed_ns: ledger.last_completed,
            ledger,
            parts: if self.total.len() > 1 {
                self.total
            } else {
                Vec::new()
            },
            blocks: self.blocks,
            batch: self.shared.batch,
            interrupted: self.interrupted,
            ..Carried::default()
        }
    }
}
