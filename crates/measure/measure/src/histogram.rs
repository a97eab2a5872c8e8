//! Distributions of times in constant memory.
//!
//! An HdrHistogram with three significant digits: a value read back is within 0.1 % of the one recorded.
//! Quantiles are by nearest rank, and lie between the exact smallest and largest value whatever the bins
//! say, so that min <= p50 <= ... <= max holds always.

use hdrhistogram::Histogram as Bins;

use crate::document::Outliers;
use crate::stats::location::MAD_TO_DEVIATION;
use crate::stats::outliers::MODIFIED_Z_BOUND;
use crate::stats::quantile::nearest_rank;

/// A distribution of values in one unit, nanoseconds or picoseconds.
#[derive(Clone, Debug)]
pub struct Histogram {
    bins: Bins<u64>,
    min: u64,
    max: u64,
    sum: f64,
}

/// Three significant digits.
const DIGITS: u8 = 3;
/// An hour in picoseconds; longer values count as this.
const HIGHEST: u64 = 3_600_000_000_000_000;

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// An empty one.
    ///
    /// # Panics
    /// Never: the constants are within what the bins allow.
    #[must_use]
    pub fn new() -> Self {
        #[expect(clippy::expect_used, reason = "three digits are between none and five")]
        let mut bins = Bins::new(DIGITS).expect("three digits are allowed");
        // Short times need few bins; longer ones add theirs when they come.
        bins.auto(true);
        Self {
            bins,
            min: u64::MAX,
            max: 0,
            sum: 0.0,
        }
    }

    /// Counts `value` once.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.record_n(value, 1);
    }

    /// Counts `value` `n` times.
    #[inline]
    pub fn record_n(&mut self, value: u64, n: u64) {
        let value = value.min(HIGHEST);
        // Bins grow by themselves up to the highest value, so there is nothing to fail.
        let _ = self.bins.record_n(value, n);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.sum += value as f64 * n as f64;
    }

    /// Counts everything in `other` as well.
    pub fn merge(&mut self, other: &Self) {
        let _ = self.bins.add(&other.bins);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum += other.sum;
    }

    /// Forgets everything and keeps its memory.
    pub fn clear(&mut self) {
        self.bins.reset();
        self.min = u64::MAX;
        self.max = 0;
        self.sum = 0.0;
    }

    /// How many values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.bins.len()
    }

    /// Whether there are none. Recording one sets the least and the largest.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.min > self.max
    }

    /// The smallest value.
    #[must_use]
    pub fn min(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.min)
    }

    /// The largest value.
    #[must_use]
    pub fn max(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.max)
    }

    /// The mean.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum / self.count() as f64)
    }

    /// The value of this rank in ascending order, from 1 to the count.
    #[must_use]
    pub fn at_rank(&self, rank: u64) -> Option<u64> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        let rank = rank.clamp(1, count);
        if rank == 1 {
            return Some(self.min);
        }
        let mut seen = 0;
        for bin in self.bins.iter_recorded() {
            seen += bin.count_at_value();
            if seen >= rank {
                let value = self.bins.highest_equivalent(bin.value_iterated_to());
                return Some(value.clamp(self.min, self.max));
            }
        }
        Some(self.max)
    }

    /// The value at a share between 0 and 1 of all values, by nearest rank.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<u64> {
        self.at_rank(nearest_rank(self.count(), share)?)
    }

    /// Values above the end of the bin that holds `value`.
    #[must_use]
    pub fn count_above(&self, value: u64) -> u64 {
        let upto = self.bins.highest_equivalent(value.min(HIGHEST));
        let above = self.bins.iter_recorded();
        above
            .filter(|bin| bin.value_iterated_to() > upto)
            .map(|bin| bin.count_at_value())
            .sum()
    }

    /// Values below the beginning of the bin that holds `value`.
    #[must_use]
    pub fn count_below(&self, value: u64) -> u64 {
        let from = self.bins.lowest_equivalent(value.min(HIGHEST));
        let below = self.bins.iter_recorded();
        below
            .take_while(|bin| bin.value_iterated_to() < from)
            .map(|bin| bin.count_at_value())
            .sum()
    }

    /// How many values lie far from the others, as far as the bins resolve it.
    #[must_use]
    pub fn outliers(&self) -> Option<Outliers> {
        let (lower, upper) = (self.quantile(0.25)?, self.quantile(0.75)?);
        let (middle, spread) = (self.quantile(0.5)?, self.median_deviation()?);
        let range = (upper - lower) as f64;
        let below = |bound: f64| {
            // Below zero lies nothing.
            whole(bound).map_or(0, |bound| self.count_below(bound))
        };
        let above = |bound: f64| whole(bound).map_or(0, |bound| self.count_above(bound));
        let far = MODIFIED_Z_BOUND * spread as f64 * MAD_TO_DEVIATION;
        let low = (lower as f64 - 1.5 * range, lower as f64 - 3.0 * range);
        let high = (upper as f64 + 1.5 * range, upper as f64 + 3.0 * range);
        let (low_severe, high_severe) = (below(low.1), above(high.1));
        // Where more than half of all values are equal there is no distance to measure by.
        let (low_by_deviation, high_by_deviation) = match spread {
            0 => (0, 0),
            _ => (below(middle as f64 - far), above(middle as f64 + far)),
        };
        Some(Outliers {
            low_severe,
            low_mild: below(low.0) - low_severe,
            high_mild: above(high.0) - high_severe,
            high_severe,
            low_by_deviation,
            high_by_deviation,
        })
    }

    /// The median distance of values from the median, as far as the bins resolve it.
    #[must_use]
    pub fn median_deviation(&self) -> Option<u64> {
        let middle = self.quantile(0.5)?;
        let mut distances: Vec<(u64, u64)> = self
            .bins
            .iter_recorded()
            .map(|bin| {
                (
                    bin.value_iterated_to().abs_diff(middle),
                    bin.count_at_value(),
                )
            })
            .collect();
        distances.sort_unstable();
        let half = nearest_rank(self.count(), 0.5)?;
        let mut seen = 0;
        distances.into_iter().find_map(|(distance, count)| {
            seen += count;
            (seen >= half).then_some(distance)
        })
    }

    /// At most `most` bins for drawing: the upper end of each and how many values lie in it. Ends grow by
    /// a constant factor between the smallest and the largest value.
    #[must_use]
    pub fn coarse(&self, most: u32) -> Vec<(u64, u64)> {
        let (Some(min), Some(max)) = (self.min(), self.max()) else {
            return Vec::new();
        };
        let low = (min.max(1)) as f64;
        let factor = (max.max(1) as f64 / low).powf(1.0 / f64::from(most.max(1)));
        let mut drawn: Vec<(u64, u64)> = Vec::new();
        for bin in self.bins.iter_recorded() {
            let value = bin.value_iterated_to();
            let step = if factor > 1.0 {
                ((value.max(1) as f64 / low).ln() / factor.ln())
                    .ceil()
                    .max(1.0)
            } else {
                1.0
            };
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "between the smallest and the largest value"
            )]
            let end = (low * factor.powf(step)).ceil() as u64;
            match drawn.last_mut() {
                Some(last) if last.0 == end => last.1 += bin.count_at_value(),
                _ => drawn.push((end, bin.count_at_value())),
            }
        }
        drawn
    }

    /// Values as small as `low` are among those in the first bin, which does not say so itself.
    pub(crate) fn reaches(&mut self, low: u64) {
        if self.count() > 0 {
            self.min = self.min.min(low);
        }
    }

    /// The ends are these, if they lie within the first and the last bin.
    pub(crate) fn between(&mut self, min: Option<u64>, max: Option<u64>) {
        let fits = |end: u64, exact: &u64| self.bins.equivalent(end, *exact);
        let low = min.filter(|exact| fits(self.min, exact));
        let high = max.filter(|exact| fits(self.max, exact));
        if self.count() > 0 {
            (self.min, self.max) = (low.unwrap_or(self.min), high.unwrap_or(self.max));
        }
    }

    /// The bins themselves, for export.
    #[must_use]
    pub const fn bins(&self) -> &Bins<u64> {
        &self.bins
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "above zero, and a cast that saturates"
)]
fn whole(value: f64) -> Option<u64> {
    (value >= 0.0).then(|| value.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::outliers::classify;

    #[test]
    fn values_come_back_within_a_tenth_of_a_percent_and_in_order() {
        let mut histogram = Histogram::new();
        let values: Vec<u64> = (0..20_000).map(|i| 17 + i * i * 7).collect();
        for value in &values {
            histogram.record(*value);
        }
        let mut last = histogram.min().unwrap();
        for share in [0.0, 0.01, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0] {
            let rank = usize::try_from(nearest_rank(20_000, share).unwrap()).unwrap();
            let (exact, read) = (values[rank - 1], histogram.quantile(share).unwrap());
            assert!(exact.abs_diff(read) as f64 <= exact as f64 * 0.001 + 1.0);
            assert!(read >= last);
            last = read;
        }
        assert_eq!(histogram.max(), values.last().copied());
        assert!(histogram.max() >= histogram.quantile(1.0));
    }

    #[test]
    fn an_empty_one_has_no_values_to_give() {
        let histogram = Histogram::new();
        assert_eq!(histogram.quantile(0.5), None);
        assert_eq!((histogram.min(), histogram.max()), (None, None));
        assert_eq!(histogram.mean(), None);
        assert!(histogram.coarse(10).is_empty());
    }

    #[test]
    fn merging_counts_both_and_clearing_forgets() {
        let (mut one, mut two) = (Histogram::new(), Histogram::new());
        one.record_n(100, 3);
        two.record(7);
        two.record(1 << 40);
        one.merge(&two);
        assert_eq!(
            (one.count(), one.min(), one.max()),
            (5, Some(7), Some(1 << 40))
        );
        assert_eq!(one.count_above(100), 1);
        one.clear();
        assert_eq!(one.count(), 0);
        one.record(5);
        assert_eq!(one.quantile(0.5), Some(5));
    }

    #[test]
    fn values_beyond_an_hour_count_as_an_hour() {
        let mut histogram = Histogram::new();
        histogram.record(u64::MAX);
        assert_eq!(histogram.count(), 1);
        assert_eq!(histogram.max(), Some(HIGHEST));
    }

    #[test]
    fn coarse_bins_hold_every_value_once() {
        let mut histogram = Histogram::new();
        for value in [0, 1, 5, 50, 500, 5000, 5001, 1 << 30] {
            histogram.record(value);
        }
        let bins = histogram.coarse(16);
        assert_eq!(bins.iter().map(|bin| bin.1).sum::<u64>(), 8);
        assert!(bins.len() <= 17);
        assert!(bins.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn outliers_are_counted_as_they_are_of_the_values_themselves() {
        let mut histogram = Histogram::new();
        let mut values: Vec<u64> = (0..1000).map(|n| 100_000 + n * 37 % 9001).collect();
        values.extend([
            1, 80_000, 93_000, 118_000, 124_000, 140_000, 900_000, 5_000_000,
        ]);
        values.iter().for_each(|value| histogram.record(*value));
        let values: Vec<f64> = values.iter().map(|value| *value as f64).collect();
        let exact = classify(&values).unwrap();
        let found = histogram.outliers().unwrap();
        let pairs = [
            (found.low_severe, exact.low_severe),
            (found.low_mild, exact.low_mild),
            (found.high_mild, exact.high_mild),
            (found.high_severe, exact.high_severe),
            (found.low_by_deviation, exact.low_by_deviation),
            (found.high_by_deviation, exact.high_by_deviation),
        ];
        assert!(exact.high_severe > 0 && exact.low_severe > 0 && exact.high_mild > 0);
        for (found, exact) in pairs {
            assert_eq!(found, exact as u64);
        }
    }

    #[test]
    fn equal_values_have_no_outliers_and_no_values_have_none_to_speak_of() {
        assert_eq!(Histogram::new().outliers(), None);
        let mut histogram = Histogram::new();
        histogram.record_n(5000, 100);
        assert_eq!(histogram.outliers(), Some(Outliers::default()));
        histogram.record(1_000_000);
        let found = histogram.outliers().unwrap();
        assert_eq!((found.high_severe, found.high_by_deviation), (1, 0));
        assert_eq!(histogram.count(), 101);
    }

    #[test]
    fn memory_does_not_grow_with_the_number_of_values() {
        let mut histogram = Histogram::new();
        histogram.record_n(1 << 40, 1);
        histogram.record(3);
        let bins = histogram.bins().distinct_values();
        histogram.record_n(1 << 39, 100_000_000);
        (0..100_000).for_each(|value| histogram.record(value * 977));
        assert_eq!(histogram.bins().distinct_values(), bins);
    }
}
