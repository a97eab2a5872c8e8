//! One run: the event loop that starts operations, takes answers in and keeps time.

use std::collections::VecDeque;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use keywright_clock::{MonotonicTime, nanos};
use keywright_measure::dispatch::{Delay, Dispatch, Next, Release};
use keywright_measure::series::Blocks;
use keywright_measure::{Assignment, Load};
use tokio::time::{Sleep, sleep};

use super::books::{Books, Each, Gauge, Leg};
use super::line::Line;
use super::ready::{Bell, Board};
use super::slot::{Job, Pending, Purpose, Question, Slot, Stage};
use super::{Exchange, Look};

/// One run.
pub(super) struct Run<'a, E: Exchange> {
    pub(super) assignment: &'a Assignment<'a>,
    pub(super) exchange: &'a mut E,
    pub(super) lines: &'a mut [Line],
    pub(super) slots: Vec<Slot<E::Ticket>>,
    /// Slots without a job, by the identity of their connection.
    pub(super) free: Vec<VecDeque<u32>>,
    pub(super) queues: Vec<VecDeque<Pending>>,
    pub(super) dispatch: Dispatch,
    pub(super) books: Books<'a>,
    pub(super) gauge: Gauge,
    pub(super) phase: Phase,
    pub(super) questions: Vec<Question<E::Ticket>>,
    pub(super) kept_bytes: usize,
    pub(super) looks: Vec<super::settle::Found>,
    pub(super) bells: Rc<[Bell]>,
    start: MonotonicTime,
    board: Arc<Board>,
    ready: Vec<u32>,
    started: u64,
    /// Starts that this turn may still make, so that sockets get their turn whatever fails at once.
    budget: usize,
    due: Option<u64>,
    next_tick: u64,
    sleep: Pin<Box<Sleep>>,
    armed: u64,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Outputs are asked about until this time at most.
    Asking {
        until: u64,
    },
    /// Nothing starts any more; answers are waited for until this time at most.
    Draining {
        end: End,
        until: u64,
    },
    Running,
}

/// Why and when starting ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    /// For the books: when the load was over.
    pub(super) at: u64,
    /// When what is queued is not sent any more.
    pub(super) queue: u64,
    pub(super) interrupted: bool,
}

/// Why nothing starts any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Interrupted,
    Over,
}

/// How long before a due time sleeping ends. The runtime's timer rounds up to whole milliseconds.
const AHEAD: u64 = 1_500_000;
/// Timeouts and requests to stop are looked at this often.
const TICK: u64 = 5_000_000;

impl<'a, E: Exchange> Run<'a, E> {
    /// A run that starts now. To be called inside a runtime.
    pub(super) fn new(
        assignment: &'a Assignment<'a>,
        exchange: &'a mut E,
        lines: &'a mut [Line],
        streams: u32,
        each: Each<'a>,
    ) -> Self {
        let count = lines.len() * streams as usize;
        let groups = lines.iter().map(|line| line.group + 1).max().unwrap_or(1) as usize;
        let numbers = u32::try_from(count + lines.len()).unwrap_or(u32::MAX);
        let board = Board::new();
        let slots: Vec<_> = lines_in_turn(lines.len(), count).map(Slot::new).collect();
        let mut free = vec![VecDeque::new(); groups];
        for (number, slot) in (0..numbers).zip(&slots) {
            free[lines[slot.line as usize].group as usize].push_back(number);
        }
        let limit = assignment.window.limit();
        let start = assignment.clock.monotonic();
        let blocks = Blocks::new(assignment.block).until(assignment.deadline());
        Self {
            books: Books::new(
                blocks,
                exchange.parts().len(),
                assignment.timeout_nanos(),
                each,
            ),
            dispatch: Dispatch::new(assignment.load, limit, assignment.seed),
            gauge: Gauge::new(assignment.clock.clone(), start),
            bells: (0..numbers)
                .map(|number| Bell::new(&board, number))
                .collect(),
            queues: vec![VecDeque::new(); groups],
            phase: Phase::Running,
            questions: Vec::new(),
            kept_bytes: 0,
            looks: Vec::new(),
            ready: Vec::with_capacity(count),
            started: 0,
            budget: 0,
            due: None,
            next_tick: TICK,
            sleep: Box::pin(sleep(Duration::ZERO)),
            armed: 0,
            assignment,
            exchange,
            lines,
            slots,
            free,
            start,
            board,
        }
    }

    /// Nanoseconds since the start.
    pub(super) fn now(&self) -> u64 {
        let now = self.assignment.clock.monotonic().nanos();
        now.saturating_sub(self.start.nanos())
    }

    pub(super) const fn is_closed_loop(&self) -> bool {
        matches!(self.assignment.load, Load::Closed { .. })
    }

    /// One turn. Ready when the phase is over.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let now = self.now();
        self.budget = 2 * self.slots.len() + 16;
        self.take_in(cx.waker(), now);
        self.fill(cx.waker());
        if now >= self.next_tick {
            self.tick(now);
        }
        if self.is_over(now) {
            return Poll::Ready(());
        }
        self.rest(cx);
        Poll::Pending
    }

    /// Goes on with everything that rang. All answers found have the same stamp: they were all there
    /// when the turn began.
    fn take_in(&mut self, task: &Waker, now: u64) {
        let mut ready = std::mem::take(&mut self.ready);
        self.board.take(task, &mut ready);
        for number in ready.drain(..) {
            match (number as usize).checked_sub(self.slots.len()) {
                None => self.step(number, now),
                Some(line) => self.dialled(line, now),
            }
            self.fill(task);
        }
        self.ready = ready;
    }

    /// Starts everything that is due.
    fn fill(&mut self, task: &Waker) {
        match self.phase {
            Phase::Running => {}
            Phase::Asking { .. } => return self.ask_waiting(),
            Phase::Draining { end, .. } => {
                if self.now() < end.queue {
                    self.serve_queues();
                }
                return;
            }
        }
        loop {
            self.serve_queues();
            if self.budget == 0 {
                return task.wake_by_ref();
            }
            self.budget -= 1;
            let now = self.now();
            if self.assignment.stop.is_asked() {
                return self.end_starting(now, Cause::Interrupted);
            }
            self.due = None;
            match self.dispatch.next(now) {
                Next::Start(release) => self.begin(release, now),
                Next::Wait { until } => {
                    self.due = Some(until);
                    return;
                }
                Next::Full => return,
                _ => return self.end_starting(now, Cause::Over),
            }
        }
    }

    fn end_starting(&mut self, now: u64, cause: Cause) {
        let interrupted = cause == Cause::Interrupted;
        let most = self.assignment.window.limit().operations;
        let counted = most.is_some_and(|most| self.started >= most);
        let scheduled = self.dispatch.end().unwrap_or(u64::MAX);
        let at = if self.is_closed_loop() || interrupted || counted {
            now
        } else {
            scheduled
        };
        let end = End {
            at,
            queue: if interrupted { now } else { scheduled },
            interrupted,
        };
        let until = now.saturating_add(nanos(self.assignment.drain));
        self.due = None;
        self.phase = Phase::Draining { end, until };
    }

    /// Finds a place for an operation that was released.
    fn begin(&mut self, release: Release, now: u64) {
        let number = self.started;
        self.started += 1;
        // In a closed loop over several identities the place that is free decides whose turn it is.
        let group = match self.is_closed_loop() && self.free.len() > 1 {
            true => self.free.iter().position(|free| !free.is_empty()),
            false => None,
        };
        let draw = self
            .exchange
            .draw(group.and_then(|group| u32::try_from(group).ok()));
        let pending = Pending {
            release,
            draw,
            number,
        };
        match self.take_free(draw.group) {
            Some(slot) => self.launch(slot, pending, now),
            None => {
                let last = self.queues.len() - 1;
                self.queues[(draw.group as usize).min(last)].push_back(pending);
            }
        }
    }

    /// Gives free places to operations that wait for one of their identity.
    fn serve_queues(&mut self) {
        for group in 0..self.queues.len() {
            while !self.queues[group].is_empty() && !self.free[group].is_empty() {
                let Some(mut pending) = self.queues[group].pop_front() else {
                    break;
                };
                pending.release.delay = Delay::Slot;
                let now = self.now();
                if let Some(slot) = self.take_free(pending.draw.group) {
                    self.launch(slot, pending, now);
                }
            }
        }
    }

    /// A free place of this identity, on a connection that is up if there is one.
    pub(super) fn take_free(&mut self, group: u32) -> Option<u32> {
        let last = self.free.len() - 1;
        let free = &mut self.free[(group as usize).min(last)];
        let first = *free.front()?;
        let line = self.slots[first as usize].line as usize;
        if self.lines[line].is_up() {
            return free.pop_front();
        }
        // Nobody waits for this attempt, but the place is not to be lost.
        if self.lines[line].revive() {
            self.bells[self.slots.len() + line].waker().wake_by_ref();
        }
        let up = |slot: &u32| self.lines[self.slots[*slot as usize].line as usize].is_up();
        let place = free.iter().position(up).unwrap_or(0);
        free.remove(place)
    }

    fn launch(&mut self, slot: u32, pending: Pending, now: u64) {
        let call = self.exchange.call(pending.draw);
        let leg = Leg {
            part: pending.draw.part,
            release: pending.release,
            sent: now,
        };
        self.slots[slot as usize].job = Some(Job {
            whole: leg,
            leg,
            look: match self.assignment.verify.wants(pending.number) {
                true => Look::Closely,
                false => Look::Past,
            },
            first: true,
            purpose: Purpose::Operation,
            ticket: Some(call.ticket),
            stage: Stage::Waiting(Some(call.request), 0),
        });
        self.step(slot, now);
    }

    /// Ends what has taken too long.
    fn tick(&mut self, now: u64) {
        self.next_tick = now + TICK;
        self.books.upto(now, self.dispatch.in_flight());
        let timeout = self.assignment.timeout_nanos();
        for number in (0..).take(self.slots.len()) {
            let Some(job) = &self.slots[number as usize].job else {
                continue;
            };
            let since = match job.purpose {
                Purpose::Operation => job.whole.release.intended,
                Purpose::AtOnce { asked, .. } => asked,
                Purpose::Afterwards(_) => continue,
            };
            if now.saturating_sub(since) > timeout {
                self.give_up(number, now);
            }
        }
    }

    fn is_over(&self, now: u64) -> bool {
        let (until, waiting) = match self.phase {
            Phase::Running => return false,
            Phase::Asking { until } => (until, !self.questions.is_empty()),
            Phase::Draining { end, until } => {
                let queued = self.queues.iter().any(|queue| !queue.is_empty());
                (until, queued && now < end.queue)
            }
        };
        let free: usize = self.free.iter().map(VecDeque::len).sum();
        now >= until || (free == self.slots.len() && !waiting)
    }

    /// Sleeps until shortly before something is due; from there on only sockets get a turn in between.
    fn rest(&mut self, cx: &mut Context<'_>) {
        let now = self.now();
        let mut wake = self.next_tick;
        if let Some(due) = self.due {
            if due <= now + AHEAD {
                return cx.waker().wake_by_ref();
            }
            wake = wake.min(due - AHEAD);
        }
        if let Phase::Draining { until, .. } | Phase::Asking { until } = self.phase {
            wake = wake.min(until);
        }
        if wake < self.armed || self.armed <= now {
            self.armed = wake;
            let ahead = Duration::from_nanos(wake.saturating_sub(now));
            self.sleep.as_mut().set(sleep(ahead));
            if self.sleep.as_mut().poll(cx).is_ready() {
                cx.waker().wake_by_ref();
            }
        }
    }
}

/// One connection after the other, over and over, so that places taken in order spread over them.
fn lines_in_turn(lines: usize, count: usize) -> impl Iterator<Item = u32> {
    let lines = u32::try_from(lines).unwrap_or(u32::MAX);
    (0..lines).cycle().take(count)
}
