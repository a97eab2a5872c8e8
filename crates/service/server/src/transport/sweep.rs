//! The place of one connection in its thread, and the look that every sweep takes at it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::Waker;
use std::time::Duration;

use super::Limits;
use super::alarm::millis;
use super::held::Account;
use super::thread::Thread;
use super::watch::{Noise, Unfinished, Watch};

/// How often a thread looks at its connections and deadlines.
pub const SWEEP: Duration = Duration::from_millis(250);

/// How long a connection that was asked to end, and runs no request, may take to do so; a peer that
/// is gone never answers the question.
const FAREWELL: u64 = 5_000;

/// Sweeps in a second.
const PER_SECOND: u32 = 4;

/// What is known about one connection besides its protocol.
#[derive(Debug)]
pub(super) struct Seat {
    running: Cell<u32>,
    /// Of these, answers in pieces that are on their way.
    streams: Cell<u32>,
    /// When the last request ended, or the last piece of an answer moved.
    idle_since: Cell<u64>,
    order: Cell<Order>,
    /// Since when it has had nothing left to do but to end.
    dismissed: Cell<Option<u64>>,
    /// The number of what is unfinished, and when a sweep first saw it.
    unfinished: Cell<Option<(u64, u64)>>,
    /// Resets, and frames that ask for nothing, beyond what time has allowed since.
    noise: Cell<Noise>,
    held: Account,
    watch: RefCell<Watch>,
    waker: RefCell<Option<Waker>>,
}

/// What the task of a connection is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// End now, whatever is running.
    Cut,
    /// Take no more requests, answer those that run, then end.
    Drain,
    /// Go on.
    Serve,
}

/// Held while a request runs.
#[derive(Debug)]
pub(super) struct Busy<'a> {
    seat: &'a Seat,
    now: &'a super::alarm::Alarms,
}

/// Held while an answer in pieces is on its way.
#[derive(Debug)]
pub(super) struct Streamed {
    seat: Rc<Seat>,
    thread: Rc<Thread>,
}

impl Streamed {
    pub(super) fn new(seat: Rc<Seat>, thread: Rc<Thread>) -> Self {
        seat.running.set(seat.running.get() + 1);
        seat.streams.set(seat.streams.get() + 1);
        let streamed = Self { seat, thread };
        streamed.moved();
        streamed
    }

    /// A piece is on its way.
    pub(super) fn moved(&self) {
        self.seat.idle_since.set(self.thread.alarms.now());
    }
}

impl Drop for Streamed {
    fn drop(&mut self) {
        self.seat.running.set(self.seat.running.get() - 1);
        self.seat.streams.set(self.seat.streams.get() - 1);
        self.moved();
    }
}

impl Seat {
    pub(super) fn new(watch: Watch, now: u64, held: Account) -> Self {
        Self {
            held,
            running: Cell::new(0),
            streams: Cell::new(0),
            idle_since: Cell::new(now),
            order: Cell::new(Order::Serve),
            dismissed: Cell::new(None),
            unfinished: Cell::new(None),
            noise: Cell::default(),
            watch: RefCell::new(watch),
            waker: RefCell::new(None),
        }
    }

    /// A request begins.
    pub(super) fn begin<'a>(&'a self, now: &'a super::alarm::Alarms) -> Busy<'a> {
        self.running.set(self.running.get() + 1);
        self.watch.borrow_mut().request();
        Busy { seat: self, now }
    }

    /// Bytes have arrived. False when the client has reset so many streams since the last sweep, or
    /// sent so many frames that ask for nothing, that the connection must end before it reads on.
    pub(super) fn arrived(&self, bytes: &[u8], limits: &Limits) -> bool {
        let watch = &mut *self.watch.borrow_mut();
        watch.feed(bytes, self.running.get());
        !watch.noise().is_beyond(limits)
    }

    /// Bytes have been sent.
    pub(super) fn sent(&self, bytes: usize) {
        self.watch.borrow_mut().sent(bytes);
    }

    /// The memory that its requests and answers take.
    pub(super) const fn held(&self) -> &Account {
        &self.held
    }

    /// What to do now; the task that asks is woken when that changes.
    pub(super) fn order(&self, waker: &Waker) -> Order {
        let mut kept = self.waker.borrow_mut();
        match &mut *kept {
            Some(kept) => kept.clone_from(waker),
            None => *kept = Some(waker.clone()),
        }
        self.order.get()
    }

    /// Gives an order; one that is already under way is never softened.
    pub(super) fn give(&self, order: Order) {
        if matches!(
            (self.order.get(), order),
            (Order::Serve, _) | (Order::Drain, Order::Cut)
        ) {
            self.order.set(order);
            if let Some(waker) = &*self.waker.borrow() {
                waker.wake_by_ref();
            }
        }
    }

    /// Ends the connection if it has overstayed one of the limits.
    pub(super) fn sweep(&self, now: u64, limits: &Limits) {
        if self.drips(now, limits) || self.is_noisy(limits) {
            return self.give(Order::Cut);
        }
        if self.idle(now, limits) {
            match self.streams.get() {
                0 if self.order.get() == Order::Serve => self.give(Order::Drain),
                0 => {}
                // They would wait for ever for somebody who takes nothing.
                _ => return self.give(Order::Cut),
            }
        }
        if self.order.get() == Order::Drain && self.running.get() == 0 {
            let since = self.dismissed.get().unwrap_or(now);
            self.dismissed.set(Some(since));
            if now >= since + FAREWELL {
                self.give(Order::Cut);
            }
        } else {
            self.dismissed.set(None);
        }
    }

    fn idle(&self, now: u64, limits: &Limits) -> bool {
        // A sweep on top, because the time of the last request is up to a sweep old.
        let allowed = millis(limits.idle_timeout.saturating_add(SWEEP));
        let waits = self.running.get() == self.streams.get();
        waits && now.saturating_sub(self.idle_since.get()) >= allowed
    }

    /// Whether the client has been in the middle of the same thing for too long.
    fn drips(&self, now: u64, limits: &Limits) -> bool {
        let seen = self.watch.borrow().unfinished();
        let since = match (seen, self.unfinished.get()) {
            (Some((_, number)), Some((known, since))) if number == known => Some(since),
            _ => Some(now),
        };
        self.unfinished
            .set(seen.and_then(|(_, number)| Some((number, since?))));
        let allowed = match seen {
            Some((Unfinished::Head, _)) => limits.header_timeout,
            Some((Unfinished::Data, _)) => limits.body_timeout,
            None => return false,
        };
        since.is_some_and(|since| now.saturating_sub(since) >= millis(allowed))
    }

    fn is_noisy(&self, limits: &Limits) -> bool {
        let (new, kept) = (self.watch.borrow_mut().take_noise(), self.noise.get());
        let kept = Noise {
            resets: kept.resets.saturating_add(new.resets),
            idle: kept.idle.saturating_add(new.idle),
        };
        self.noise.set(Noise {
            resets: kept
                .resets
                .saturating_sub(limits.resets_per_second / PER_SECOND),
            idle: kept
                .idle
                .saturating_sub(limits.idle_frames_per_second / PER_SECOND),
        });
        kept.is_beyond(limits)
    }
}

impl Noise {
    const fn is_beyond(self, limits: &Limits) -> bool {
        self.resets > limits.resets_per_second || self.idle > limits.idle_frames_per_second
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.seat.running.set(self.seat.running.get() - 1);
        self.seat.idle_since.set(self.now.now());
    }
}

#[cfg(test)]
mod tests {
    use super::super::alarm::Alarms;
    use super::super::thread::Shared;
    use super::*;

    fn limits() -> Limits {
        Limits {
            header_timeout: Duration::from_secs(1),
            body_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(60),
            resets_per_second: 100,
            idle_frames_per_second: 200,
            ..Limits::default()
        }
    }

    fn order(seat: &Seat) -> Order {
        seat.order(Waker::noop())
    }

    fn seat() -> Seat {
        let held = Account::new(&Shared::default(), &limits());
        Seat::new(Watch::http2(), 0, held)
    }

    /// A seat that is past the preface of HTTP/2.
    fn http2() -> Seat {
        let seat = seat();
        assert!(seat.arrived(&[0; 24], &limits()));
        seat
    }

    #[test]
    fn an_idle_connection_is_dismissed_and_cut_when_it_does_not_go() {
        let seat = http2();
        seat.sweep(60_000, &limits());
        assert_eq!(order(&seat), Order::Serve);
        seat.sweep(60_250, &limits());
        assert_eq!(order(&seat), Order::Drain);
        seat.sweep(65_000, &limits());
        assert_eq!(order(&seat), Order::Drain);
        seat.sweep(65_250, &limits());
        assert_eq!(order(&seat), Order::Cut);
        seat.give(Order::Drain);
        assert_eq!(order(&seat), Order::Cut, "an order is never softened");
    }

    #[test]
    fn a_running_request_keeps_a_connection_alive() {
        let (seat, alarms) = (http2(), Alarms::default());
        let busy = seat.begin(&alarms);
        seat.sweep(1_000_000, &limits());
        assert_eq!(order(&seat), Order::Serve);
        alarms.ring(1_000_000);
        drop(busy);
        seat.sweep(1_060_000, &limits());
        assert_eq!(order(&seat), Order::Serve);
        seat.sweep(1_060_250, &limits());
        assert_eq!(order(&seat), Order::Drain);
    }

    #[test]
    fn no_preface_and_a_dripping_head_end_the_connection_and_whole_frames_do_not() {
        let silent = seat();
        silent.sweep(0, &limits());
        silent.sweep(999, &limits());
        assert_eq!(order(&silent), Order::Serve);
        silent.sweep(1000, &limits());
        assert_eq!(order(&silent), Order::Cut);

        let steady = http2();
        for now in (0..10_000).step_by(250) {
            // The end of one PING and the beginning of the next.
            let ping = [0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0];
            let cut = if now == 0 { 0 } else { 2 };
            assert!(steady.arrived(&ping[cut..], &limits()));
            steady.sweep(now, &limits());
        }
        assert_eq!(order(&steady), Order::Serve);
    }

    #[test]
    fn resets_are_allowed_at_a_rate_and_no_faster() {
        let reset = [0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 8];
        let steady = http2();
        for now in 0..100 {
            for _ in 0..25 {
                assert!(steady.arrived(&reset, &limits()));
            }
            steady.sweep(now * 250, &limits());
            assert_eq!(order(&steady), Order::Serve);
        }
        let faster = http2();
        for now in 0..10 {
            for _ in 0..50 {
                assert!(faster.arrived(&reset, &limits()));
            }
            faster.sweep(now * 250, &limits());
        }
        assert_eq!(order(&faster), Order::Cut);
        let flood = http2();
        assert!(!flood.arrived(&reset.repeat(101), &limits()));
    }

    #[test]
    fn frames_that_ask_for_nothing_are_allowed_at_a_rate_and_no_faster() {
        let ping = [0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];
        let steady = http2();
        for now in 0..100 {
            assert!(steady.arrived(&ping.repeat(50), &limits()));
            steady.sweep(now * 250, &limits());
            assert_eq!(order(&steady), Order::Serve);
        }
        let faster = http2();
        for now in 0..10 {
            assert!(faster.arrived(&ping.repeat(100), &limits()));
            faster.sweep(now * 250, &limits());
        }
        assert_eq!(order(&faster), Order::Cut);
        assert!(!http2().arrived(&ping.repeat(201), &limits()));
    }
}
