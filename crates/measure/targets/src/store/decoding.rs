//! From an answer to the key in it, timed apart from the query.

use std::cell::RefCell;
use std::rc::Rc;

use keywright_clock::{Clock, MonotonicTime};
use keywright_encoding::base64;
use keywright_measure::Assignment;
use keywright_measure::dispatch::{Delay, Release};
use keywright_measure::ledger::{Ledger, Outcome, Span};
use serde_json::Value;

use crate::http::Look;

/// The books of decoding. The carrier of the load opens and closes them, the judge of answers writes in
/// them.
#[derive(Clone, Debug)]
pub(super) struct Decoding(Rc<RefCell<Books>>);

#[derive(Debug)]
struct Books {
    clock: Clock,
    start: MonotonicTime,
    ledger: Ledger,
    timeout: u64,
}

impl Decoding {
    pub(super) fn new(clock: &Clock) -> Self {
        Self(Rc::new(RefCell::new(Books {
            clock: clock.clone(),
            start: clock.monotonic(),
            ledger: Ledger::new(),
            timeout: u64::MAX,
        })))
    }

    /// A run begins.
    pub(super) fn begin(&self, assignment: &Assignment<'_>) {
        *self.0.borrow_mut() = Books {
            clock: assignment.clock.clone(),
            start: assignment.clock.monotonic(),
            ledger: Ledger::new(),
            timeout: assignment.timeout_nanos(),
        };
    }

    /// The books of the run.
    pub(super) fn end(&self) -> Ledger {
        std::mem::take(&mut self.0.borrow_mut().ledger)
    }

    /// Decodes an answer, always, because it belongs to the operation; `look` says whether the key is
    /// compared.
    pub(super) fn decode(&self, body: &[u8], key: &[u8], look: Look) -> Outcome {
        let mut books = self.0.borrow_mut();
        let sent = books.now();
        let found = std::hint::black_box(key_in(body));
        let completed = books.now();
        let outcome = match found {
            None => Outcome::Wrong,
            Some(_) if look == Look::Past => Outcome::Unchecked,
            Some(found) if found == key => Outcome::Verified,
            Some(_) => Outcome::Wrong,
        };
        let release = Release {
            intended: sent,
            delay: Delay::Pacer,
        };
        let (span, timeout) = (Span { sent, completed }, books.timeout);
        books.ledger.ended(release, span, outcome.clone(), timeout);
        outcome
    }
}

impl Books {
    fn now(&self) -> u64 {
        self.clock
            .monotonic()
            .nanos()
            .saturating_sub(self.start.nanos())
    }
}

/// The key in an answer of the key/value engine, version 2.
fn key_in(body: &[u8]) -> Option<Vec<u8>> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    base64::decode(answer.pointer("/data/data/key")?.as_str()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_is_in_the_books_and_a_damaged_one_is_wrong() {
        let decoding = Decoding::new(&Clock::system());
        let body = br#"{"data":{"data":{"key":"AQID"}}}"#;
        assert_eq!(
            decoding.decode(body, &[1, 2, 3], Look::Closely),
            Outcome::Verified
        );
        assert_eq!(
            decoding.decode(body, &[1, 2, 4], Look::Closely),
            Outcome::Wrong
        );
        assert_eq!(
            decoding.decode(body, &[1, 2, 4], Look::Past),
            Outcome::Unchecked
        );
        assert_eq!(decoding.decode(b"{", &[], Look::Past), Outcome::Wrong);
        let ledger = decoding.end();
        assert!(ledger.counts.balance());
        assert_eq!((ledger.counts.planned, ledger.counts.wrong), (4, 2));
        assert_eq!(decoding.end().counts.planned, 0);
    }
}
