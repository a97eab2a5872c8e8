//! Histograms of durations, from a microsecond to ten seconds.

use std::time::Duration;

use super::counter::Counter;

/// Upper bounds, in nanoseconds and as they are shown.
const BOUNDS: [(u64, &str); 19] = [
    (1_000, "0.000001"),
    (2_500, "0.0000025"),
    (5_000, "0.000005"),
    (10_000, "0.00001"),
    (25_000, "0.000025"),
    (50_000, "0.00005"),
    (100_000, "0.0001"),
    (250_000, "0.00025"),
    (500_000, "0.0005"),
    (1_000_000, "0.001"),
    (2_500_000, "0.0025"),
    (5_000_000, "0.005"),
    (10_000_000, "0.01"),
    (25_000_000, "0.025"),
    (50_000_000, "0.05"),
    (100_000_000, "0.1"),
    (250_000_000, "0.25"),
    (1_000_000_000, "1"),
    (10_000_000_000, "10"),
];

/// For values of so many bits, the first bound that the least of them is not above: from there it is a step or two to the
/// bound of any of them, where a search would be one guess after the other.
const FIRST_OF_BITS: [usize; 65] = {
    let mut first = [0; 65];
    let (mut bits, mut place) = (1, 0);
    while bits <= 64 {
        while place < BOUNDS.len() && BOUNDS[place].0 < 1 << (bits - 1) {
            place += 1;
        }
        first[bits] = place;
        bits += 1;
    }
    first
};

/// The bucket of a duration.
fn bucket_of(nanos: u64) -> usize {
    let bits = (u64::BITS - nanos.leading_zeros()) as usize;
    let mut place = FIRST_OF_BITS.get(bits).copied().unwrap_or_default();
    while BOUNDS.get(place).is_some_and(|(bound, _)| *bound < nanos) {
        place += 1;
    }
    place
}

/// The durations that one thread has seen, or all of them, one at a time, where they are rare.
#[derive(Debug, Default)]
pub(super) struct Histogram {
    buckets: [Counter; BOUNDS.len() + 1],
    nanos: Counter,
}

impl Histogram {
    /// Counts one, for the one who writes.
    pub(super) fn note(&self, took: Duration) {
        let seconds = took.as_secs().saturating_mul(1_000_000_000);
        let nanos = seconds.saturating_add(u64::from(took.subsec_nanos()));
        if let Some(bucket) = self.buckets.get(bucket_of(nanos)) {
            bucket.add(1);
        }
        self.nanos.add(nanos);
    }
}

/// Histograms of several threads, added up.
#[derive(Debug, Default)]
pub(super) struct Summed {
    buckets: [u64; BOUNDS.len() + 1],
    nanos: u64,
}

impl Summed {
    pub(super) fn of<'a>(histograms: impl Iterator<Item = &'a Histogram>) -> Self {
        let mut sum = Self::default();
        for histogram in histograms {
            let counts = histogram.buckets.iter();
            for (total, count) in sum.buckets.iter_mut().zip(counts) {
                *total += count.get();
            }
            sum.nanos += histogram.nanos.get();
        }
        sum
    }

    pub(super) fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    pub(super) const fn nanos(&self) -> u64 {
        self.nanos
    }

    /// Each bound as it is shown, and how many durations were not above it; the last is without a bound.
    pub(super) fn cumulative(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let bounds = BOUNDS.iter().map(|(_, shown)| *shown);
        let bounds = bounds.chain(["+Inf"]);
        bounds.zip(&self.buckets).scan(0, |total, (bound, count)| {
            *total += count;
            Some((bound, *total))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_rise_and_are_shown_as_what_they_are() {
        let mut last = 0;
        for (nanos, shown) in BOUNDS {
            assert!(nanos > last, "{shown}");
            last = nanos;
            let seconds: f64 = shown.parse().unwrap();
            assert!((seconds * 1e9 / nanos as f64 - 1.0).abs() < 1e-9, "{shown}");
        }
    }

    #[test]
    fn every_duration_has_the_bucket_that_a_search_finds() {
        let powers = (0..64).map(|bit| 1_u64 << bit);
        let edges = BOUNDS.iter().map(|(bound, _)| *bound).chain(powers);
        for edge in edges.chain([u64::MAX]) {
            for nanos in [edge - 1, edge, edge.saturating_add(1)] {
                let searched = BOUNDS.partition_point(|(bound, _)| *bound < nanos);
                assert_eq!(bucket_of(nanos), searched, "{nanos}");
            }
        }
    }

    #[test]
    fn a_duration_counts_in_every_bucket_whose_bound_is_not_below_it() {
        let histogram = Histogram::default();
        let all = [0, 1_000, 1_001, 10_000_000_000, 10_000_000_001];
        for nanos in all.into_iter().chain([u64::MAX / 4]) {
            histogram.note(Duration::from_nanos(nanos));
        }
        let sum = Summed::of([&histogram].into_iter());
        let shown: Vec<_> = sum.cumulative().collect();
        assert_eq!(shown.first(), Some(&("0.000001", 2)));
        assert_eq!(shown.get(1), Some(&("0.0000025", 3)));
        assert_eq!(shown.get(18), Some(&("10", 4)));
        assert_eq!(shown.last(), Some(&("+Inf", 6)));
        assert_eq!((sum.count(), shown.len()), (6, 20));
    }
}
