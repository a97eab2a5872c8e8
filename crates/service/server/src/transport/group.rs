//! One flush for many requests.
//!
//! Requests append records to a buffer of their thread and must not answer before it has been
//! written. Each [joins](GroupFlush::join); the write happens once, and its result is that of all who
//! joined before it. So under load one write serves hundreds of requests, and a lonely request waits
//! for no timer.
//!
//! It happens as soon as somebody is asked again whether it has: requests are begun as their
//! connections are read and asked for their answers when all connections have had their turn. For those
//! that nobody asks again a task of its own does it, after everything on the thread that could run has
//! run.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker};

/// The flush of the group did not succeed; what it would have written may be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the group flush failed")]
#[non_exhaustive]
pub struct Failed;

/// The group flush of one thread.
#[derive(Debug)]
pub struct GroupFlush(Rc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Those who joined since the last flush began.
    open: RefCell<Option<Rc<Group>>>,
    /// The task that flushes, while it has nothing to do.
    driver: RefCell<Option<Waker>>,
    /// Nobody will flush any more: the task has ended, or a flush has panicked.
    ended: Cell<bool>,
    flush: Flush,
}

/// What writes; it says whether it has written everything.
struct Flush(RefCell<Box<dyn FnMut() -> bool>>);

#[derive(Debug, Default)]
struct Group {
    result: Cell<Option<Result<(), Failed>>>,
    waiting: RefCell<Vec<Waker>>,
    /// Who flushes it.
    of: Weak<Inner>,
}

/// A request's place in a group; resolves when the group has been flushed.
#[derive(Debug)]
#[must_use = "nothing is known to be written before this resolves"]
pub struct Join {
    group: Rc<Group>,
    /// Whether it has been asked already.
    asked: bool,
}

impl GroupFlush {
    /// Flushes by calling `flush`, for which it spawns a task on the current thread. `flush` says whether
    /// everything that was appended before it was called is now written. If it panics, its group and all
    /// later ones fail.
    ///
    /// # Panics
    /// Outside a runtime that can run local tasks; the transport makes handlers inside one.
    #[must_use]
    pub fn new(flush: impl FnMut() -> bool + 'static) -> Self {
        let inner = Rc::new(Inner {
            open: RefCell::default(),
            driver: RefCell::default(),
            ended: Cell::new(false),
            flush: Flush(RefCell::new(Box::new(flush))),
        });
        tokio::task::spawn_local(drive(End(Rc::downgrade(&inner))));
        Self(inner)
    }

    /// Joins the next flush, which covers all that was appended before this call. It happens even if
    /// the returned future is dropped.
    pub fn join(&self) -> Join {
        if self.0.ended.get() {
            let group = Group::default();
            group.result.set(Some(Err(Failed)));
            return Join::new(Rc::new(group));
        }
        let mut open = self.0.open.borrow_mut();
        let group = open.get_or_insert_with(|| {
            if let Some(driver) = self.0.driver.borrow_mut().take() {
                driver.wake();
            }
            Rc::new(Group {
                of: Rc::downgrade(&self.0),
                ..Group::default()
            })
        });
        Join::new(Rc::clone(group))
    }
}

impl Inner {
    /// Flushes for those who have joined, if anybody has.
    fn flush(&self) {
        let Some(group) = self.open.take() else {
            return;
        };
        let settled = Settle { inner: self, group };
        let result = self.flush.0.borrow_mut()().then_some(()).ok_or(Failed);
        settled.group.settle(result);
    }
}

impl Drop for Inner {
    /// Fails those who still wait, and wakes the task so that it sees that nobody can join any more.
    fn drop(&mut self) {
        if let Some(group) = self.open.get_mut().take() {
            group.settle(Err(Failed));
        }
        if let Some(driver) = self.driver.get_mut().take() {
            driver.wake();
        }
    }
}

/// Fails whoever waits, and whoever comes, when the task ends before its group flush does.
struct End(Weak<Inner>);

impl Drop for End {
    fn drop(&mut self) {
        if let Some(inner) = self.0.upgrade() {
            inner.ended.set(true);
            // Taken before anyone is woken, so that nothing is borrowed while foreign wakers run.
            let group = inner.open.take();
            if let Some(group) = group {
                group.settle(Err(Failed));
            }
        }
    }
}

/// Waits for a first joiner, lets all others that are ready come too, flushes.
async fn drive(end: End) {
    while wanted(&end.0).await {
        // Everything that can run now runs before this goes on: requests that were read together
        // with the first one join, too.
        tokio::task::yield_now().await;
        let Some(inner) = end.0.upgrade() else {
            return;
        };
        inner.flush();
        if inner.ended.get() {
            return;
        }
    }
}

/// Resolves to true when somebody has joined, to false when nobody can any more.
async fn wanted(inner: &Weak<Inner>) -> bool {
    poll_fn(|cx| {
        let Some(inner) = inner.upgrade() else {
            return Poll::Ready(false);
        };
        if inner.open.borrow().is_some() {
            return Poll::Ready(true);
        }
        *inner.driver.borrow_mut() = Some(cx.waker().clone());
        Poll::Pending
    })
    .await
}

/// Fails the group, and whoever comes after it, if `flush` panics.
struct Settle<'a> {
    inner: &'a Inner,
    group: Rc<Group>,
}

impl Drop for Settle<'_> {
    fn drop(&mut self) {
        if self.group.result.get().is_none() {
            self.inner.ended.set(true);
            self.group.settle(Err(Failed));
        }
    }
}

impl fmt::Debug for Flush {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Flush")
    }
}

impl Group {
    fn settle(&self, result: Result<(), Failed>) {
        self.result.set(Some(result));
        self.waiting.take().into_iter().for_each(Waker::wake);
    }
}

impl Join {
    fn new(group: Rc<Group>) -> Self {
        Self {
            group,
            asked: false,
        }
    }
}

impl Future for Join {
    type Output = Result<(), Failed>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(result) = self.group.result.get() {
            return Poll::Ready(result);
        }
        if self.asked {
            // Whoever asks again has let everybody else join.
            if let Some(inner) = self.group.of.upgrade() {
                inner.flush();
            }
            // A group is settled before anybody is woken who could ask.
            return Poll::Ready(self.group.result.get().unwrap_or(Err(Failed)));
        }
        self.asked = true;
        self.group.waiting.borrow_mut().push(cx.waker().clone());
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::runtime::{Builder, LocalOptions};
    use tokio::task::spawn_local;

    fn local(test: impl Future<Output = ()>) {
        Builder::new_current_thread()
            .enable_time()
            .build_local(LocalOptions::default())
            .unwrap()
            .block_on(test);
    }

    /// A flush that counts its calls and takes its results from a list, then succeeds.
    fn counting<const N: usize>(results: [bool; N]) -> (Rc<Cell<usize>>, GroupFlush) {
        let (calls, mut results) = (Rc::new(Cell::new(0)), results.into_iter());
        let counter = Rc::clone(&calls);
        let flush = GroupFlush::new(move || {
            counter.set(counter.get() + 1);
            results.next().unwrap_or(true)
        });
        (calls, flush)
    }

    #[test]
    fn sixty_four_joiners_share_few_flushes() {
        local(async {
            let (calls, flush) = counting([]);
            let flush = Rc::new(flush);
            let tasks: Vec<_> = (0..64)
                .map(|_| {
                    let flush = Rc::clone(&flush);
                    spawn_local(async move { flush.join().await })
                })
                .collect();
            for task in tasks {
                assert_eq!(task.await.unwrap(), Ok(()));
            }
            assert!(calls.get() <= 2, "{}", calls.get());
            flush.join().await.unwrap();
            assert!(calls.get() <= 3);
        });
    }

    #[test]
    fn a_failing_flush_fails_exactly_its_joiners() {
        local(async {
            let (_, flush) = counting([true, false, true]);
            for expected in [Ok(()), Err(Failed), Ok(())] {
                let joined = [flush.join(), flush.join(), flush.join()];
                for join in joined {
                    assert_eq!(join.await, expected);
                }
            }
        });
    }

    #[test]
    fn nothing_is_flushed_before_the_join_and_everything_before_it_resolves() {
        local(async {
            let (calls, flush) = counting([]);
            tokio::task::yield_now().await;
            assert_eq!(calls.get(), 0);
            let join = flush.join();
            assert_eq!(calls.get(), 0);
            join.await.unwrap();
            assert_eq!(calls.get(), 1);
        });
    }

    #[test]
    fn a_dropped_joiner_hurts_nobody_and_its_flush_still_happens() {
        local(async {
            let (calls, flush) = counting([]);
            let mut dropped = Box::pin(flush.join());
            poll_fn(|cx| {
                assert!(dropped.as_mut().poll(cx).is_pending());
                Poll::Ready(())
            })
            .await;
            drop(dropped);
            let kept = flush.join();
            kept.await.unwrap();
            assert_eq!(calls.get(), 1);
            drop(flush.join());
            for _ in 0..4 {
                tokio::task::yield_now().await;
            }
            assert_eq!(calls.get(), 2);
        });
    }

    /// Polls a join once, as a task does whose waker nobody keeps.
    fn ask(join: &mut Join) -> Poll<Result<(), Failed>> {
        Pin::new(join).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn whoever_asks_again_flushes_for_all_who_have_joined() {
        local(async {
            let (calls, flush) = counting([]);
            let mut joins: Vec<_> = (0..16).map(|_| flush.join()).collect();
            assert!(joins.iter_mut().all(|join| ask(join).is_pending()));
            assert_eq!(calls.get(), 0);
            assert!(
                joins
                    .iter_mut()
                    .all(|join| ask(join) == Poll::Ready(Ok(())))
            );
            assert_eq!(calls.get(), 1);
            // The task that was woken for them finds nothing to do, and is there for the next.
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
            flush.join().await.unwrap();
            assert_eq!(calls.get(), 2);
        });
    }

    #[test]
    fn whoever_has_not_been_asked_again_is_woken_by_whoever_has() {
        local(async {
            let (calls, flush) = counting([]);
            let flush = Rc::new(flush);
            let own = Rc::clone(&flush);
            let waits = spawn_local(async move { own.join().await });
            let mut join = flush.join();
            assert!(ask(&mut join).is_pending());
            let asked = spawn_local(async move {
                let again = ask(&mut join);
                (again, calls.get())
            });
            assert_eq!(asked.await.unwrap(), (Poll::Ready(Ok(())), 1));
            assert_eq!(waits.await.unwrap(), Ok(()));
        });
    }

    #[test]
    fn a_panicking_flush_fails_its_group_and_every_later_one() {
        local(async {
            let flush = GroupFlush::new(|| panic!("on purpose"));
            assert_eq!(flush.join().await, Err(Failed));
            assert_eq!(flush.join().await, Err(Failed));
        });
    }

    #[test]
    fn a_flush_that_panics_under_one_joiner_fails_the_others_and_all_later_ones() {
        local(async {
            let flush = GroupFlush::new(|| panic!("on purpose"));
            let (mut first, mut second) = (flush.join(), flush.join());
            assert!(ask(&mut first).is_pending() && ask(&mut second).is_pending());
            let asked = std::panic::AssertUnwindSafe(|| ask(&mut first));
            assert!(std::panic::catch_unwind(asked).is_err());
            assert_eq!(ask(&mut second), Poll::Ready(Err(Failed)));
            assert_eq!(flush.join().await, Err(Failed));
        });
    }

    #[test]
    fn joiners_of_a_dropped_flush_do_not_wait_for_ever() {
        local(async {
            let (_, flush) = counting([]);
            let join = flush.join();
            drop(flush);
            let waited = tokio::time::timeout(std::time::Duration::from_secs(5), join).await;
            assert_eq!(waited.unwrap(), Err(Failed));
        });
    }
}
