//! One turn of a thread's event loop: connections are read one after the other, and requests are begun as they are read.
//!
//! The protocol library gives each request of HTTP/2 a task of its own, which has its turn when the connections have had
//! theirs. But it says that a request is there only when it has read everything that came with it, and the body of a small
//! request comes with its head. So a request is begun at once, where it was read, and its task is asked for the answer
//! once: a task that has to wait for the group's flush is looked at twice, and woken in between.
//!
//! A turn ends when the first task is asked. By then everybody who was read in it has joined the flush, which so happens
//! there ([`group`](super::group)).
//!
//! Who has much to do must not keep others waiting who were not read yet: when a turn has lasted for a while, what comes
//! next is begun by its task.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use keywright_clock::MonotonicTime;

/// For how long requests of a turn are begun where they are read.
const LONGEST: Duration = Duration::from_millis(1);

/// The turn of one thread.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// When the first and the last request of this turn were begun; nothing between turns.
    begun: Cell<Option<(MonotonicTime, MonotonicTime)>>,
    /// Whether a request is being begun where it was read.
    reading: Cell<bool>,
}

impl Turn {
    /// Since when this turn is going on, if one is.
    pub(super) fn since(&self) -> Option<MonotonicTime> {
        self.begun.get().map(|(since, _)| since)
    }

    /// Begins a request where it was read, unless the turn has lasted too long already. Whoever polls it goes on with it.
    pub(super) fn begin<F: Future>(&self, mut exchange: Pin<&mut F>) {
        if self.is_long() {
            return;
        }
        self.reading.set(true);
        let reading = Reading(self);
        // It is polled by a task of its own in any case, which brings its waker along.
        let polled = exchange
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        drop(reading);
        debug_assert!(polled.is_pending(), "it waits for its task");
    }

    /// A request is looked at: for the first time at `begun`, or as its task has its turn.
    pub(super) fn look(&self, begun: Option<MonotonicTime>) {
        match (self.reading.get(), begun) {
            (true, Some(now)) => {
                let since = self.since().unwrap_or(now);
                self.begun.set(Some((since, now)));
            }
            (true, None) => {}
            (false, _) => self.begun.set(None),
        }
    }

    /// Resolves once the task of the request has its turn.
    pub(super) async fn of_task(&self) {
        poll_fn(|_| match self.reading.get() {
            true => Poll::Pending,
            false => Poll::Ready(()),
        })
        .await;
    }

    fn is_long(&self) -> bool {
        let begun = self.begun.get();
        begun.is_some_and(|(since, last)| last.since(since) >= LONGEST)
    }
}

/// Whatever becomes of a request, the next one is not begun for it.
struct Reading<'a>(&'a Turn);

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.0.reading.set(false);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::pin::pin;

    use keywright_clock::{Clock, WallTime};

    use super::*;

    /// A request that works at once and is then asked for by its task, as an exchange is; it says since when its turn was
    /// going on as it was begun.
    async fn works(turn: &Turn, clock: &Clock, worked: &Cell<u32>) -> Option<MonotonicTime> {
        let since = turn.since();
        turn.look(Some(clock.monotonic()));
        worked.set(worked.get() + 1);
        turn.of_task().await;
        turn.look(None);
        since
    }

    fn ask<F: Future>(exchange: Pin<&mut F>) -> Poll<F::Output> {
        exchange.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_request_works_where_it_was_read_and_answers_where_it_is_asked() {
        let (turn, worked) = (Turn::default(), Cell::new(0));
        let (clock, hand) = Clock::simulated(WallTime::from_unix_seconds(1));
        let mut first = pin!(works(&turn, &clock, &worked));
        let mut second = pin!(works(&turn, &clock, &worked));
        let began = clock.monotonic();
        turn.begin(first.as_mut());
        hand.advance(LONGEST / 2);
        turn.begin(second.as_mut());
        assert_eq!(worked.get(), 2);
        assert_eq!(turn.since(), Some(began));
        assert_eq!(ask(first), Poll::Ready(None));
        assert_eq!(turn.since(), None, "the turn is over");
        assert_eq!(ask(second), Poll::Ready(Some(began)));
        assert_eq!(worked.get(), 2);
    }

    #[test]
    fn what_comes_late_in_a_long_turn_is_left_to_its_task() {
        let (turn, worked) = (Turn::default(), Cell::new(0));
        let (clock, hand) = Clock::simulated(WallTime::from_unix_seconds(1));
        let mut read = pin!(works(&turn, &clock, &worked));
        let mut last = pin!(works(&turn, &clock, &worked));
        let mut late = pin!(works(&turn, &clock, &worked));
        turn.begin(read.as_mut());
        hand.advance(LONGEST);
        turn.begin(last.as_mut());
        turn.begin(late.as_mut());
        assert_eq!(worked.get(), 2);
        assert!(ask(late).is_ready());
        assert_eq!(worked.get(), 3);
        // The next turn begins anew.
        let mut next = pin!(works(&turn, &clock, &worked));
        turn.begin(next.as_mut());
        assert_eq!(worked.get(), 4);
    }

    #[test]
    fn time_between_turns_is_nobodys() {
        let (turn, worked) = (Turn::default(), Cell::new(0));
        let (clock, hand) = Clock::simulated(WallTime::from_unix_seconds(1));
        for _ in 0..3 {
            let mut one = pin!(works(&turn, &clock, &worked));
            turn.begin(one.as_mut());
            assert_eq!(ask(one), Poll::Ready(None));
            hand.advance(LONGEST * 1000);
        }
    }

    #[test]
    fn a_request_that_panics_as_it_is_read_changes_nothing_for_the_next() {
        let (turn, worked) = (Turn::default(), Cell::new(0));
        let clock = Clock::system();
        let mut panics = pin!(async { panic!("on purpose") });
        let begun = catch_unwind(AssertUnwindSafe(|| turn.begin::<_>(panics.as_mut())));
        assert!(begun.is_err());
        let task = pin!(works(&turn, &clock, &worked));
        assert_eq!(ask(task), Poll::Ready(None), "its task is its task");
    }
}
