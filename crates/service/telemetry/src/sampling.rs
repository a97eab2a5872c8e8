//! Which requests have a span.

use std::sync::atomic::{AtomicU64, Ordering};

use keywright_clock::MonotonicTime;

use crate::Parent;

/// Decides for each request, before anything is done for it. It reads a few words and allocates nothing.
///
/// A request that names no parent is sampled by chance. One whose parent is not recorded is not either. One whose parent
/// is recorded is, as long as not more than so many a second say so: whoever may call could otherwise have every
/// request traced. Beyond that it is a matter of chance again, drawn here and not from the identifier that it brought.
#[derive(Debug)]
pub struct Sampling {
    /// A draw under it is sampled; none stands for all.
    below: Option<u64>,
    parents: Rate,
}

impl Sampling {
    /// Of the share `ratio` of requests, and of at most `parents_per_s` a second that say that their caller records them.
    #[must_use]
    pub fn new(ratio: f64, parents_per_s: u32) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "what is outside of a word becomes its nearest end"
        )]
        let below = (ratio < 1.0).then_some((ratio * 2_f64.powi(64)) as u64);
        Self {
            below,
            parents: Rate::new(parents_per_s),
        }
    }

    /// Whether a request has a span; `draw` is a random number.
    #[must_use]
    pub fn wants(&self, parent: Option<&Parent>, draw: u64, now: MonotonicTime) -> bool {
        match parent {
            Some(parent) if !parent.sampled => false,
            Some(_) if self.parents.take(now) => true,
            _ => self.below.is_none_or(|below| draw < below),
        }
    }
}

/// So many a second, and as many at once: the generic cell rate algorithm in one word that threads share.
#[derive(Debug)]
struct Rate {
    /// Nanoseconds that one costs; none where none may pass.
    cost: Option<u64>,
    /// When all that passed will have been paid for.
    paid: AtomicU64,
}

const SECOND: u64 = 1_000_000_000;

impl Rate {
    fn new(per_second: u32) -> Self {
        Self {
            cost: SECOND.checked_div(per_second.into()),
            paid: AtomicU64::new(0),
        }
    }

    fn take(&self, now: MonotonicTime) -> bool {
        let Some(cost) = self.cost else {
            return false;
        };
        let now = now.nanos();
        let next = |paid: u64| {
            let paid = paid.max(now).saturating_add(cost);
            (paid <= now.saturating_add(SECOND)).then_some(paid)
        };
        let (set, fetched) = (Ordering::Relaxed, Ordering::Relaxed);
        self.paid.fetch_update(set, fetched, next).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use keywright_clock::{Clock, WallTime};

    use super::*;

    fn parent(sampled: &str) -> Parent {
        let text = format!("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-{sampled}");
        Parent::parse(text.as_bytes()).unwrap()
    }

    fn start() -> MonotonicTime {
        let (clock, _) = Clock::simulated(WallTime::from_unix_seconds(0));
        clock.monotonic().plus(Duration::from_secs(3600))
    }

    #[test]
    fn none_half_and_all_are_what_they_say() {
        let draws = [0, 1, u64::MAX / 2, u64::MAX / 2 + 2, u64::MAX - 1, u64::MAX];
        let wanted = |ratio: f64| {
            let sampling = Sampling::new(ratio, 0);
            draws.map(|draw| sampling.wants(None, draw, start()))
        };
        assert_eq!(wanted(0.0), [false; 6]);
        assert_eq!(wanted(0.5), [true, true, true, false, false, false]);
        assert_eq!(wanted(1.0), [true; 6]);
    }

    #[test]
    fn a_parent_that_is_not_recorded_has_no_children() {
        let sampling = Sampling::new(1.0, 1000);
        assert!(!sampling.wants(Some(&parent("00")), 0, start()));
        assert!(sampling.wants(None, u64::MAX, start()));
    }

    #[test]
    fn a_recorded_parent_is_believed_so_often_a_second_and_no_oftener() {
        let sampling = Sampling::new(0.0, 10);
        let recorded = parent("01");
        let at = |millis| start().plus(Duration::from_millis(millis));
        let taken = |from: u64, to: u64| {
            let times = (from..to).filter(|millis| sampling.wants(Some(&recorded), 0, at(*millis)));
            times.count()
        };
        // Ten that were saved up, and ten a second.
        assert_eq!(taken(0, 1000), 19);
        assert_eq!(taken(1000, 11_000), 100);
        // Whoever waits has saved a second's worth, not an hour's.
        assert_eq!(taken(3_600_000, 3_600_001), 1);
        let at_once = (0..1000).filter(|_| sampling.wants(Some(&recorded), 0, at(9_000_000)));
        assert_eq!(at_once.count(), 10);
        let never = Sampling::new(0.0, 0);
        assert!(!never.wants(Some(&recorded), 0, at(0)));
    }

    #[test]
    fn beyond_the_rate_the_draw_decides_and_not_the_callers_identifier() {
        let sampling = Sampling::new(0.5, 0);
        assert!(sampling.wants(Some(&parent("01")), 1, start()));
        assert!(!sampling.wants(Some(&parent("01")), u64::MAX, start()));
    }
}
