//! Threads that read a snapshot which others replace.
//!
//! What must hold whatever they do: what was put in force before a request came is what it is decided by, or something
//! later; no thread goes back to what was replaced; and when all is quiet, everybody has the same.

use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

use crate::service_published::{Published, Seen};
use crate::sync::Arc;

/// One place, with nothing replaced.
fn place() -> Arc<Published<u64>> {
    Arc::new(Published::new(Arc::new(0)))
}

fn look(seen: &mut Seen<u64>, at: &Published<u64>) -> u64 {
    **seen.look(at)
}

/// One thread replaces and says so; another hears of it, and looks.
///
/// # Panics
/// If the model finds an order of things in which it does not hold.
pub fn who_hears_of_a_change_sees_it_and_nobody_goes_back() {
    loom::model(|| {
        let (place, told) = (place(), Arc::new(AtomicU64::new(0)));
        let (there, tell) = (Arc::clone(&place), Arc::clone(&told));
        let publisher = thread::spawn(move || {
            for epoch in 1..=2 {
                there.replace(Arc::new(epoch));
                tell.store(epoch, Ordering::Release);
            }
        });
        let (mut seen, mut before) = (place.reader(), 0);
        for _ in 0..2 {
            let heard = told.load(Ordering::Acquire);
            let now = look(&mut seen, &place);
            assert!(now >= heard, "decided by {now} after {heard} was in force");
            assert!(now >= before, "{now} after {before}");
            before = now;
        }
        assert!(publisher.join().is_ok());
        assert_eq!(look(&mut seen, &place), 2);
    });
}

/// Two threads replace while a third looks.
///
/// # Panics
/// If the model finds an order of things in which it does not hold.
pub fn a_reader_among_two_who_replace_ends_with_what_is_in_force() {
    loom::model(|| {
        let place = place();
        let replacing = |value| {
            let there = Arc::clone(&place);
            thread::spawn(move || there.replace(Arc::new(value)))
        };
        let both = [replacing(1), replacing(2)];
        let mut seen = place.reader();
        for one in both {
            assert!(one.join().is_ok());
        }
        let last = look(&mut seen, &place);
        assert_eq!(last, *place.get(), "a value was taken for another change's");
        assert!(last != 0, "two changes, and none was seen");
    });
}
