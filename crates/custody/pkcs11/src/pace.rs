//! How fast a token answers at the moment: whether its work is worth a thread of its own.
//!
//! Handing a request to another thread and its answer back costs two wake-ups, which is more than a token in
//! software takes for a short message under a key in the session. So such work may be done where it came in, for
//! as long as the token is quick: on average, and in each single answer. One slow answer ends that for a while, twice
//! as long each time that it happens again soon. What a thread can lose to a token that stops answering is the operation
//! it is in.
//!
//! A slow answer need not be the token's doing: a thread that the system takes the processor from sees one too, and
//! the pool's threads see more of them than one that works alone. So what is slow while work goes to the pool already
//! makes that no longer.

use std::sync::atomic::{AtomicU64, Ordering};

/// The pace of one token. Threads share it; what they tell at once may get lost, and is told again soon.
#[derive(Debug)]
pub struct Pace {
    /// The average of late, in nanoseconds; the first answer counts for all before it.
    average: AtomicU64,
    /// When a slow answer is forgiven.
    forgiven: AtomicU64,
    /// For how long the last one was held against it.
    penalty: AtomicU64,
    /// When each operation began that is not answered yet, and one more; zero where there is none. Of more
    /// operations at a time than this has room for, the rest is not watched.
    running: [AtomicU64; 16],
}

/// An operation until it is answered.
#[derive(Debug)]
#[must_use = "an operation is watched for as long as this lives"]
pub struct Running<'a>(Option<&'a AtomicU64>);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.0 {
            place.store(0, Ordering::Relaxed);
        }
    }
}

/// An average that is worth no other thread.
const QUICK_NS: u64 = 50_000;
/// An answer that is slow by itself.
const SLOW_NS: u64 = 1_000_000;
/// For how long it counts, if there was none for long.
const FIRST_PENALTY_NS: u64 = 10_000_000;
/// At most.
const LONGEST_PENALTY_NS: u64 = 1_000_000_000;
/// After so many times the last penalty, there was none for long.
const PROBATION: u64 = 8;
/// An answer is this part of the average after it.
const PART: u64 = 8;
/// Before any answer.
const UNKNOWN: u64 = u64::MAX;

impl Default for Pace {
    fn default() -> Self {
        Self::new()
    }
}

impl Pace {
    /// Of a token that was not asked yet, which is not quick.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            average: AtomicU64::new(UNKNOWN),
            forgiven: AtomicU64::new(0),
            penalty: AtomicU64::new(0),
            running: [const { AtomicU64::new(0) }; 16],
        }
    }

    /// Watches an operation that begins at `now`.
    pub fn begin(&self, now: u64) -> Running<'_> {
        let take = |place: &&AtomicU64| {
            let since = now.saturating_add(1);
            place
                .compare_exchange(0, since, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
        };
        Running(self.running.iter().find(take))
    }

    /// Takes note of an answer at `now` that took so long. Times are nanoseconds on one clock.
    pub fn note(&self, now: u64, took: u64) {
        let before = match self.average.load(Ordering::Relaxed) {
            UNKNOWN => took,
            average => average,
        };
        let after = before - before / PART + took / PART;
        self.average
            .store(after.min(UNKNOWN - 1), Ordering::Relaxed);
        let forgiven = self.forgiven.load(Ordering::Relaxed);
        if took > SLOW_NS && now >= forgiven {
            let last = self.penalty.load(Ordering::Relaxed);
            let probation = forgiven.saturating_add(last.saturating_mul(PROBATION));
            let penalty = match now < probation {
                true => last.saturating_mul(2).min(LONGEST_PENALTY_NS),
                false => FIRST_PENALTY_NS,
            };
            self.penalty.store(penalty, Ordering::Relaxed);
            let until = now.saturating_add(penalty);
            self.forgiven.store(until, Ordering::Relaxed);
        }
    }

    /// Whether the token is quick at `now`.
    #[must_use]
    pub fn is_quick(&self, now: u64) -> bool {
        self.average.load(Ordering::Relaxed) <= QUICK_NS
            && now >= self.forgiven.load(Ordering::Relaxed)
            && !self.running.iter().any(|place| {
                let since = place.load(Ordering::Relaxed);
                since > 0 && now > since.saturating_add(SLOW_NS)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_quick_only_after_it_was_seen_to_be() {
        let pace = Pace::new();
        assert!(!pace.is_quick(0));
        pace.note(0, 15_000);
        assert!(pace.is_quick(0));
    }

    #[test]
    fn one_slow_answer_ends_it_at_once_and_for_a_while() {
        let pace = Pace::new();
        (0..100).for_each(|_| pace.note(5, 10_000));
        pace.note(10, SLOW_NS + 1);
        assert!(!pace.is_quick(10));
        // Quick answers in between do not shorten the time, and slow ones do not prolong it.
        (0..100).for_each(|_| pace.note(11, 10_000));
        pace.note(12, SLOW_NS + 1);
        (0..100).for_each(|_| pace.note(13, 10_000));
        assert!(!pace.is_quick(10 + FIRST_PENALTY_NS - 1));
        assert!(pace.is_quick(10 + FIRST_PENALTY_NS));
    }

    /// How long a slow answer at `now` keeps work away.
    fn penalty(pace: &Pace, now: u64) -> u64 {
        pace.note(now, SLOW_NS + 1);
        (0..100).for_each(|_| pace.note(now, 10_000));
        let mut last = 0;
        while !pace.is_quick(now + last) {
            last += FIRST_PENALTY_NS;
        }
        last
    }

    #[test]
    fn slow_answers_one_after_the_other_count_longer_each_time_up_to_a_second() {
        let pace = Pace::new();
        let (mut now, mut seen) = (5, Vec::new());
        for _ in 0..9 {
            let took = penalty(&pace, now);
            seen.push(took / FIRST_PENALTY_NS);
            now += took;
        }
        assert_eq!(seen, [1, 2, 4, 8, 16, 32, 64, 100, 100]);
        let later = now + PROBATION * LONGEST_PENALTY_NS;
        assert_eq!(penalty(&pace, later), FIRST_PENALTY_NS);
    }

    #[test]
    fn a_token_that_becomes_slower_is_noticed_after_a_few_answers_and_forgiven_when_it_is_quick_again()
     {
        let pace = Pace::new();
        pace.note(0, 20_000);
        let mut answers = 0;
        while pace.is_quick(0) {
            pace.note(0, 400_000);
            answers += 1;
        }
        assert!((1..=2).contains(&answers), "{answers}");
        (0..100).for_each(|_| pace.note(0, 20_000));
        assert!(pace.is_quick(0));
    }

    #[test]
    fn an_answer_that_is_overdue_ends_it_until_it_comes() {
        let pace = Pace::new();
        pace.note(0, 10_000);
        let quick = pace.begin(100);
        let overdue = pace.begin(200);
        assert!(pace.is_quick(100 + SLOW_NS));
        assert!(!pace.is_quick(300 + SLOW_NS));
        drop(quick);
        assert!(!pace.is_quick(300 + SLOW_NS));
        drop(overdue);
        assert!(pace.is_quick(300 + SLOW_NS));
        // More than there is room for do no harm.
        let many: Vec<_> = (0..40).map(|_| pace.begin(0)).collect();
        assert!(!pace.is_quick(2 * SLOW_NS));
        drop(many);
        assert!(pace.is_quick(2 * SLOW_NS));
    }

    #[test]
    fn no_answer_is_too_long_to_be_counted() {
        let pace = Pace::new();
        (0..10).for_each(|_| pace.note(u64::MAX, u64::MAX));
        assert!(!pace.is_quick(u64::MAX - 1));
    }
}
