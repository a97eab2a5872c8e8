//! Requests whose record somebody wants to know of: those that have a span.
//!
//! What a record says is known deep in a worker, what became of the answer only at the transport. A request is watched by
//! its id from its beginning on; one that is not watched costs a look at a list that is nearly always empty.

use std::cell::RefCell;
use std::fmt;

use keywright_audit::record::Facts;
use keywright_types::{Code, Operation, RequestId};

use super::Worker;
use crate::metrics::Spent;

/// What the record of a request says, as far as others than the log may know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain facts of a request")]
pub struct Told {
    /// What was asked for.
    pub operation: Operation,
    /// How it ended.
    pub code: Code,
    /// Items.
    pub items: u32,
    /// Those of them that failed.
    pub failed: u32,
    /// Where its time went, if a holder worked.
    pub spent: Option<Spent>,
}

/// What is done with it.
pub type Then = Box<dyn FnOnce(Told)>;

/// The requests of one thread that are watched.
#[derive(Default)]
pub(super) struct Watched(RefCell<Vec<One>>);

struct One {
    request: RequestId,
    told: Option<Told>,
    then: Option<Then>,
}

/// A list is looked through by one comparison for each of them.
const MOST: usize = 256;

impl Watched {
    fn remove(&self, request: RequestId) -> Option<One> {
        let mut all = self.0.borrow_mut();
        let at = all.iter().position(|one| one.request == request)?;
        Some(all.swap_remove(at))
    }

    /// The record of a request was made.
    pub(super) fn note(&self, facts: &Facts, spent: Option<Spent>) {
        if self.0.borrow().is_empty() {
            return;
        }
        let told = Told {
            operation: facts.operation,
            code: facts.outcome,
            items: facts.items,
            failed: facts.failed,
            spent,
        };
        if let Some(then) = self.take_note(facts.request, told) {
            then(told);
        }
    }

    fn take_note(&self, request: RequestId, told: Told) -> Option<Then> {
        let mut all = self.0.borrow_mut();
        let at = all.iter().position(|one| one.request == request)?;
        let one = all.get_mut(at)?;
        one.told = Some(told);
        let then = one.then.take()?;
        all.swap_remove(at);
        Some(then)
    }
}

impl Worker {
    /// Keeps what the record of a request will say until [`Worker::told`] asks for it. Whether there is room for one more.
    #[must_use = "a request that is not watched tells nothing"]
    pub fn watch(&self, request: RequestId) -> bool {
        let mut all = self.watched.0.borrow_mut();
        let room = all.len() < MOST;
        if room {
            all.push(One {
                request,
                told: None,
                then: None,
            });
        }
        room
    }

    /// What the record of a watched request says, if it has been made; it is not watched any more.
    pub fn told(&self, request: RequestId) -> Option<Told> {
        self.watched.remove(request)?.told
    }

    /// Has `then` told what the record of a watched request says: now, or when it is made.
    pub fn when_told(&self, request: RequestId, then: Then) {
        let Some(mut one) = self.watched.remove(request) else {
            return;
        };
        match one.told {
            Some(told) => then(told),
            None => {
                one.then = Some(then);
                self.watched.0.borrow_mut().push(one);
            }
        }
    }
}

impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} watched", self.0.borrow().len())
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use keywright_audit::RecordType;
    use keywright_clock::WallTime;

    use super::*;

    fn facts(request: RequestId) -> Facts {
        let now = WallTime::from_unix_seconds(1);
        let mut facts = Facts::new(RecordType::Request, Operation::Encrypt, now);
        (facts.request, facts.items) = (request, 3);
        facts
    }

    fn one(number: u8) -> One {
        One {
            request: RequestId::from_bytes([number; 16]),
            told: None,
            then: None,
        }
    }

    #[test]
    fn a_record_is_told_to_who_watches_its_request_and_to_nobody_else() {
        let (first, second) = (one(1).request, one(2).request);
        let watched = Watched(RefCell::new(vec![one(1)]));
        watched.note(&facts(second), None);
        assert_eq!(watched.remove(second).map(|one| one.told), None);
        watched.note(&facts(first), Some(Spent::default()));
        let told = watched.remove(first).unwrap().told.unwrap();
        assert_eq!((told.operation, told.items), (Operation::Encrypt, 3));
        assert_eq!(told.spent, Some(Spent::default()));
        assert!(watched.0.borrow().is_empty());
    }

    #[test]
    fn whoever_waits_for_a_record_is_told_once_and_may_watch_another() {
        let watched = Rc::new(Watched::default());
        let (again, count) = (Rc::clone(&watched), Rc::new(RefCell::new(0)));
        let counted = Rc::clone(&count);
        let then = move |_| {
            again.0.borrow_mut().push(one(2));
            *counted.borrow_mut() += 1;
        };
        let waiting = One {
            then: Some(Box::new(then)),
            ..one(1)
        };
        watched.0.borrow_mut().push(waiting);
        watched.note(&facts(one(1).request), None);
        watched.note(&facts(one(1).request), None);
        assert_eq!((*count.borrow(), watched.0.borrow().len()), (1, 1));
    }
}
