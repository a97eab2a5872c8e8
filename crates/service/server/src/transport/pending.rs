//! Who is in the middle of a handshake, on one thread, in the order of their coming.
//!
//! Whoever connects and says nothing has a place for the whole handshake timeout. When all places are
//! taken, the oldest of them makes room for who comes: a client in earnest is done in milliseconds, so
//! that those who only connect wait for each other, and no client waits for them.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use tokio::sync::Notify;

/// For how long nobody is given up, in milliseconds.
const GRACE: u64 = 1_000;

/// The handshakes of one thread.
#[derive(Debug, Default)]
pub(super) struct Pending {
    next: Cell<u64>,
    waiting: RefCell<BTreeMap<u64, One>>,
}

#[derive(Debug)]
struct One {
    since: u64,
    give_up: Rc<Notify>,
}

/// One of them; gone from there when this is dropped.
#[derive(Debug)]
pub(super) struct Waiting<'a> {
    pending: &'a Pending,
    number: u64,
    give_up: Rc<Notify>,
}

impl Pending {
    /// A handshake begins; `now` in milliseconds.
    pub(super) fn enter(&self, now: u64) -> Waiting<'_> {
        let (number, give_up) = (self.next.get(), Rc::<Notify>::default());
        self.next.set(number + 1);
        let one = One {
            since: now,
            give_up: Rc::clone(&give_up),
        };
        self.waiting.borrow_mut().insert(number, one);
        Waiting {
            pending: self,
            number,
            give_up,
        }
    }

    /// Gives up the oldest handshake if it has had its time. Nobody is given up twice.
    pub(super) fn give_up_oldest(&self, now: u64) -> bool {
        let mut waiting = self.waiting.borrow_mut();
        let Some(oldest) = waiting.first_entry() else {
            return false;
        };
        if now.saturating_sub(oldest.get().since) < GRACE {
            return false;
        }
        oldest.remove().give_up.notify_one();
        true
    }
}

impl Waiting<'_> {
    /// Resolves when this handshake has been given up.
    pub(super) async fn given_up(&self) {
        self.give_up.notified().await;
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.pending.waiting.borrow_mut().remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    fn is_given_up(waiting: &Waiting<'_>) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        pin!(waiting.given_up()).poll(&mut cx).is_ready()
    }

    #[test]
    fn the_oldest_is_given_up_first_once_and_only_after_its_time() {
        let pending = Pending::default();
        assert!(!pending.give_up_oldest(9_999), "there is nobody");
        let (first, second) = (pending.enter(0), pending.enter(500));
        assert!(!pending.give_up_oldest(999));
        assert!(pending.give_up_oldest(1_000));
        assert!(is_given_up(&first) && !is_given_up(&second));
        assert!(!pending.give_up_oldest(1_499));
        assert!(pending.give_up_oldest(1_500));
        assert!(is_given_up(&second));
        assert!(!pending.give_up_oldest(9_999), "nobody is left");
    }

    #[test]
    fn who_is_done_is_not_given_up() {
        let pending = Pending::default();
        let (first, second) = (pending.enter(0), pending.enter(0));
        drop(first);
        assert!(pending.give_up_oldest(5_000));
        assert!(is_given_up(&second));
        drop(second);
        assert!(pending.waiting.borrow().is_empty());
    }
}
