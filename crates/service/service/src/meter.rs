//! How full the buckets of principals are.
//!
//! A bucket is one number: the time at which it will be full again. That number is all that server
//! threads share of a limit, one word for each principal that has one, changed by one
//! compare-and-exchange for a request. So a limit is exact, however many cores serve a principal and
//! however its connections are spread over them; a share of the limit for each core would give a client
//! with one connection a fraction of what it is allowed.
//!
//! A request is let in while the bucket holds the price of one item. What its further items cost is
//! taken when they are known, from a bucket that may owe it: so a batch larger than the bucket is
//! answered, and paid for by those that come after. A bucket that owes lets nothing in, batches neither.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use keywright_clock::MonotonicTime;
use keywright_policy::{Policy, RateLimit};
use keywright_types::map::IdMap;
use keywright_types::{Operation, PrincipalId};

/// The bucket of one principal, for all threads. On a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Bucket {
    /// Nanoseconds of the monotonic clock.
    full_at: AtomicU64,
}

/// The buckets of all principals that have a limit.
#[derive(Debug, Default)]
pub(crate) struct Meters(IdMap<PrincipalId, Meter>);

/// A limit and its bucket.
#[derive(Clone)]
pub(crate) struct Meter {
    limit: Arc<RateLimit>,
    bucket: Arc<Bucket>,
}

/// When to come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wait(pub(crate) Duration);

impl Wait {
    /// Whole seconds, at least one.
    pub(crate) fn seconds(self) -> u32 {
        let begun = u64::from(self.0.subsec_nanos() > 0);
        let whole = self.0.as_secs().saturating_add(begun);
        u32::try_from(whole).unwrap_or(u32::MAX).max(1)
    }
}

impl Meters {
    /// Meters for the principals of `policy`. Those that had a bucket keep it as full as it is: a change
    /// of the state, be it of this limit, gives nobody a full one.
    pub(crate) fn following(&self, policy: &Policy) -> Self {
        let limited = policy.principals().filter_map(|principal| {
            let limit = Arc::clone(principal.limit()?);
            let known = self.0.get(&principal.id());
            let bucket = known.map_or_else(Arc::default, |known| Arc::clone(&known.bucket));
            Some((principal.id(), Meter { limit, bucket }))
        });
        Self(limited.collect())
    }

    pub(crate) fn of(&self, principal: PrincipalId) -> Option<&Meter> {
        self.0.get(&principal)
    }
}

impl Meter {
    /// Takes the price of one item, if the bucket holds it.
    pub(crate) fn enter(&self, operation: Operation, now: MonotonicTime) -> Result<(), Wait> {
        let price = self.limit.price(operation, 1);
        // What costs more than the bucket ever holds is let in by a full one.
        let held = price.min(self.limit.burst().into());
        self.take(price, held, now)
    }

    /// Takes the price of what a request has besides its first item, unless the bucket owes something.
    pub(crate) fn more(
        &self,
        (operation, items): (Operation, u64),
        now: MonotonicTime,
    ) -> Result<(), Wait> {
        match self.limit.price(operation, items) {
            0 => Ok(()),
            price => self.take(price, 0, now),
        }
    }

    /// Takes what was used already.
    pub(crate) fn owe(&self, (operation, items): (Operation, u64), now: MonotonicTime) {
        let price = self.limit.price(operation, items);
        if price > 0 {
            let add = self.nanos(price);
            let owed = |full_at: u64| Some(full_at.max(now.nanos()).saturating_add(add));
            // The function never declines.
            let _ = self
                .bucket
                .full_at
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, owed);
        }
    }

    /// Takes `price` units from a bucket that holds at least `held`.
    fn take(&self, price: u64, held: u64, now: MonotonicTime) -> Result<(), Wait> {
        if price == 0 {
            return Ok(());
        }
        let now = now.nanos();
        // It holds what it would need no longer than this to be full of.
        let room = self.nanos(u64::from(self.limit.burst()).saturating_sub(held));
        let take = |full_at: u64| {
            let full_at = full_at.max(now);
            let enough = full_at - now <= room;
            enough.then(|| full_at.saturating_add(self.nanos(price)))
        };
        let taken = self
            .bucket
            .full_at
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        taken.map(drop).map_err(|full_at| {
            let enough_at = full_at.saturating_sub(room);
            Wait(Duration::from_nanos(enough_at.saturating_sub(now)))
        })
    }

    /// How long it takes to fill in these units, rounded up: never more than the limit is let in.
    fn nanos(&self, units: u64) -> u64 {
        let nanos = u128::from(units) * 1_000_000_000;
        let nanos = nanos.div_ceil(u128::from(self.limit.per_second().max(1)));
        u64::try_from(nanos).unwrap_or(u64::MAX)
    }
}

impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Meter({}/s)", self.limit.per_second())
    }
}

#[cfg(test)]
mod tests {
    use keywright_clock::{Clock, Hand, WallTime};
    use keywright_policy::PolicyDocument;
    use keywright_types::TenantId;

    use super::*;

    const WHO: PrincipalId = PrincipalId::from_bytes([1; 16]);
    const ONE: Operation = Operation::Encrypt;

    fn policy(limit: &str) -> Policy {
        let text = format!(
            "version = 1\n[[principal]]\nname = \"a\"\nid = \"{WHO}\"\n[[limit]]\n{limit}\n"
        );
        let document = PolicyDocument::parse(&text).unwrap();
        Policy::compile(&document, |_| Some(TenantId::from_bytes([6; 16])), 1).unwrap()
    }

    /// A bucket under a clock that moves when told to.
    struct Under {
        meter: Meter,
        clock: Clock,
        hand: Hand,
    }

    impl Under {
        fn new(limit: &str) -> Self {
            let (clock, hand) = Clock::simulated(WallTime::from_unix_seconds(1));
            let meters = Meters::default().following(&policy(limit));
            let meter = meters.of(WHO).unwrap().clone();
            Self { meter, clock, hand }
        }

        fn enter(&self) -> Result<(), Wait> {
            self.meter.enter(ONE, self.clock.monotonic())
        }

        /// How many are let in at this moment.
        fn at_once(&self) -> u32 {
            (0..).find(|_| self.enter().is_err()).unwrap()
        }

        fn after(&self, nanos: u64) -> &Self {
            self.hand.advance(Duration::from_nanos(nanos));
            self
        }
    }

    #[test]
    fn a_full_bucket_lets_its_burst_in_and_then_the_rate() {
        let under = Under::new("per_second = 1000\nburst = 50");
        assert_eq!(under.at_once(), 50);
        assert_eq!(under.after(999_999).at_once(), 0);
        assert_eq!(under.after(1).at_once(), 1);
        assert_eq!(under.after(10_000_000).at_once(), 10);
        assert_eq!(
            under.after(3_600_000_000_000).at_once(),
            50,
            "no more than full"
        );
    }

    #[test]
    fn over_a_long_time_the_rate_is_exact_and_never_above_the_limit() {
        for rate in [1, 3, 7, 999, 1000, 333_333, 1_000_000_u32] {
            let under = Under::new(&format!("per_second = {rate}\nburst = 1"));
            let (mut let_in, step) = (0_u64, 1_000_000_000 / u64::from(rate) / 3 + 1);
            let steps = 30_000;
            for _ in 0..steps {
                let_in += u64::from(under.enter().is_ok());
                under.after(step);
            }
            let most = u128::from(step) * steps * u128::from(rate) / 1_000_000_000 + 1;
            assert!(u128::from(let_in) <= most, "{rate}: {let_in} of {most}");
            assert!(
                u128::from(let_in) * 10 >= most * 7,
                "{rate}: {let_in} of {most}"
            );
        }
    }

    #[test]
    fn who_comes_back_when_told_is_let_in_and_not_before() {
        let under = Under::new("per_second = 7\nburst = 2");
        assert_eq!(under.at_once(), 2);
        for _ in 0..20 {
            let wait = under.enter().unwrap_err().0.as_nanos();
            let wait = u64::try_from(wait).unwrap();
            assert!(wait > 0);
            assert!(under.after(wait - 1).enter().is_err());
            assert_eq!(under.after(1).enter(), Ok(()));
        }
    }

    #[test]
    fn a_refusal_takes_nothing() {
        let under = Under::new("per_second = 10\nburst = 1");
        assert_eq!(under.at_once(), 1);
        for _ in 0..1000 {
            assert!(under.enter().is_err());
        }
        assert_eq!(under.after(100_000_000).enter(), Ok(()));
    }

    #[test]
    fn a_batch_larger_than_the_bucket_is_answered_and_paid_for() {
        let under = Under::new("per_second = 100\nburst = 10");
        let more = |items| under.meter.more((ONE, items), under.clock.monotonic());
        assert_eq!(under.enter(), Ok(()));
        assert_eq!(more(999), Ok(()), "the bucket held nine");
        assert_eq!(more(1), Err(Wait(Duration::from_millis(9900))));
        let wait = under.enter().unwrap_err();
        assert_eq!(wait, Wait(Duration::from_millis(9910)), "990 units and one");
        assert_eq!(wait.seconds(), 10);
        assert!(under.after(9_909_999_999).enter().is_err());
        assert_eq!(under.after(1).enter(), Ok(()));
    }

    #[test]
    fn what_costs_more_than_the_bucket_holds_is_let_in_by_a_full_one_alone() {
        let under = Under::new("per_second = 10\nburst = 5\n[limit.costs]\nencrypt = 20");
        assert_eq!(under.enter(), Ok(()));
        assert!(under.after(1_999_999_999).enter().is_err());
        assert_eq!(under.after(1).enter(), Ok(()), "paid, and full again");
    }

    #[test]
    fn what_costs_nothing_is_always_let_in() {
        let under = Under::new("per_second = 1\nburst = 1\n[limit.costs]\nhealth-read = 0");
        assert_eq!(under.at_once(), 1);
        let now = under.clock.monotonic();
        assert_eq!(under.meter.enter(Operation::HealthRead, now), Ok(()));
        assert_eq!(under.meter.more((Operation::HealthRead, 9), now), Ok(()));
    }

    #[test]
    fn what_was_used_is_owed_whatever_the_bucket_holds() {
        let under = Under::new("per_second = 10\nburst = 1");
        under.meter.owe((ONE, 101), under.clock.monotonic());
        assert_eq!(under.enter(), Err(Wait(Duration::from_millis(10_100))));
    }

    #[test]
    fn a_new_policy_leaves_the_bucket_as_empty_as_it_is() {
        let under = Under::new("per_second = 1\nburst = 5");
        assert_eq!(under.at_once(), 5);
        let meters = Meters([(WHO, under.meter.clone())].into_iter().collect());
        let next = meters.following(&policy("per_second = 10\nburst = 5"));
        let now = under.clock.monotonic();
        // The bucket misses five seconds' worth, which at the new rate is fifty units.
        assert!(next.of(WHO).unwrap().enter(ONE, now).is_err());
        let same = meters.following(&policy("per_second = 1\nburst = 5"));
        assert!(same.of(WHO).unwrap().enter(ONE, now).is_err());
        let nobody = Meters::default().following(&Policy::empty(2));
        assert!(nobody.of(WHO).is_none());
    }

    #[test]
    fn threads_together_get_the_limit_and_no_more() {
        let under = Under::new("per_second = 1\nburst = 10000");
        let let_in: u32 = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| under.at_once())).collect();
            threads.into_iter().map(|one| one.join().unwrap()).sum()
        });
        assert_eq!(let_in, 10_000);
    }

    #[test]
    fn seconds_are_rounded_up_and_are_one_at_least() {
        for (nanos, seconds) in [(0, 1), (1, 1), (1_000_000_000, 1), (1_000_000_001, 2)] {
            assert_eq!(Wait(Duration::from_nanos(nanos)).seconds(), seconds);
        }
        assert_eq!(Wait(Duration::MAX).seconds(), u32::MAX);
    }
}
