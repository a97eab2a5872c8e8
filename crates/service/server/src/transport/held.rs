//! Memory that requests and answers take, counted where it grows large.
//!
//! Flow control bounds what lies unread, and the limits bound one body. Between them a client with many
//! streams could still let thousands of bodies arrive side by side, or ask for thousands of answers and
//! fetch none. So what a connection has in memory is counted, and so is what all have; a request that
//! would take them beyond their limits is refused. Small bodies and answers are not counted: they are
//! bounded by the number of streams, and refusing them for what others hold would help whoever holds it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;

use super::Limits;
use super::thread::Shared;

/// Up to this size nothing is counted.
const SMALL: usize = 16 << 10;

/// What one connection has in memory, with its limits.
#[derive(Clone, Debug)]
pub(super) struct Account {
    own: Meter,
    all: Meter,
}

#[derive(Clone, Debug)]
struct Meter {
    held: Arc<AtomicUsize>,
    most: usize,
}

/// Bytes that are counted until this is dropped.
#[derive(Debug)]
pub(super) struct Held {
    account: Account,
    bytes: usize,
}

/// There is no room for as much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoRoom;

/// Whether so many bytes are worth counting: most requests and answers are not, and cost nothing here.
pub(super) const fn is_counted(bytes: usize) -> bool {
    bytes > SMALL
}

impl Account {
    pub(super) fn new(shared: &Shared, limits: &Limits) -> Self {
        // One body takes up to twice its length while it grows, and has an answer; alone it must fit.
        let own = limits
            .connection_bytes
            .max(limits.body_bytes.saturating_mul(4));
        Self {
            own: Meter {
                held: Arc::default(),
                most: own,
            },
            all: Meter {
                held: shared.held(),
                most: limits.held_bytes.max(own),
            },
        }
    }

    /// Nothing yet.
    pub(super) fn empty(&self) -> Held {
        Held {
            account: self.clone(),
            bytes: 0,
        }
    }

    /// Whether this connection has as much as it may: then nothing new is begun for it.
    pub(super) fn is_full(&self) -> bool {
        self.own.held.load(Ordering::Relaxed) >= self.own.most
    }

    /// Counts an answer until the last byte of it is sent. It is there already, so this refuses nothing.
    pub(super) fn keep(&self, bytes: Bytes) -> Bytes {
        if !is_counted(bytes.len()) {
            return bytes;
        }
        let mut held = self.empty();
        held.add(bytes.len());
        held.around(bytes)
    }
}

impl Held {
    /// Counts up to `bytes` in all.
    pub(super) fn grow_to(&mut self, bytes: usize) -> Result<(), NoRoom> {
        let more = bytes.saturating_sub(self.bytes);
        if !is_counted(bytes) || more == 0 {
            return Ok(());
        }
        self.add(more);
        let Account { own, all } = &self.account;
        match own.is_over() || all.is_over() {
            true => Err(NoRoom),
            false => Ok(()),
        }
    }

    fn add(&mut self, more: usize) {
        for meter in [&self.account.own, &self.account.all] {
            meter.held.fetch_add(more, Ordering::Relaxed);
        }
        self.bytes += more;
    }

    /// The bytes, which take the count with them.
    pub(super) fn around(self, bytes: Bytes) -> Bytes {
        match self.bytes {
            0 => bytes,
            _ => Bytes::from_owner(Counted { bytes, _held: self }),
        }
    }
}

impl Meter {
    fn is_over(&self) -> bool {
        self.held.load(Ordering::Relaxed) > self.most
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        for meter in [&self.account.own, &self.account.all] {
            meter.held.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

struct Counted {
    bytes: Bytes,
    _held: Held,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(shared: &Shared) -> Account {
        let limits = Limits {
            connection_bytes: 100_000,
            held_bytes: 150_000,
            body_bytes: 25_000,
            ..Limits::default()
        };
        Account::new(shared, &limits)
    }

    fn held(account: &Account) -> usize {
        account.own.held.load(Ordering::Relaxed)
    }

    #[test]
    fn small_things_are_not_counted_and_large_ones_until_they_go() {
        let account = account(&Shared::default());
        let small = account.keep(Bytes::from(vec![1; SMALL]));
        assert_eq!(held(&account), 0);
        let large = account.keep(Bytes::from(vec![2; SMALL + 1]));
        assert_eq!(held(&account), SMALL + 1);
        let part = large.slice(5..10);
        drop((small, large));
        assert_eq!(held(&account), SMALL + 1, "a part keeps the whole");
        drop(part);
        assert_eq!(held(&account), 0);
    }

    #[test]
    fn what_grows_beyond_a_limit_is_refused_and_gives_its_room_back() {
        let shared = Shared::default();
        let (first, second) = (account(&shared), account(&shared));
        let mut body = first.empty();
        assert_eq!(body.grow_to(100_000), Ok(()));
        assert_eq!(body.grow_to(90_000), Ok(()), "it has them already");
        assert!(first.is_full() && !second.is_full());
        let mut beside = first.empty();
        assert_eq!(beside.grow_to(SMALL), Ok(()));
        assert_eq!(beside.grow_to(20_000), Err(NoRoom));
        drop(beside);
        let mut other = second.empty();
        assert_eq!(other.grow_to(50_000), Ok(()));
        assert_eq!(other.grow_to(50_001), Err(NoRoom), "all together");
        drop(other);
        let bytes = body.around(Bytes::from_static(b"x"));
        assert_eq!(held(&first), 100_000);
        drop(bytes);
        assert_eq!((held(&first), held(&second)), (0, 0));
        assert_eq!(shared.held().load(Ordering::Relaxed), 0);
    }

    #[test]
    fn an_answer_is_kept_whatever_is_there_and_stops_what_comes_next() {
        let account = account(&Shared::default());
        let answers: Vec<_> = (0..4)
            .map(|_| account.keep(Bytes::from(vec![0; 60_000])))
            .collect();
        assert!(account.is_full());
        drop(answers);
        assert!(!account.is_full());
    }
}
