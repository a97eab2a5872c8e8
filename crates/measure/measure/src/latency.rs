//! Quantiles that say how much they know: each with its interval and the number of samples behind it,
//! withheld where too few samples lie beyond it, and marked where it is only a lower bound.

use std::fmt;
use std::str::FromStr;

use crate::document::{Bin, Bound, Latency, Quantile};
use crate::histogram::Histogram;
use crate::stats::quantile::{minimum_count, nearest_rank, rank_interval};

/// A quantile by the name it is printed under: `p50`, `p99.9`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Percentile(f64);

/// A percentile that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a percentile is written p50, p99 or p99.9, above 0 and below 100")]
#[expect(clippy::exhaustive_structs, reason = "there is nothing in it")]
pub struct PercentileError;

impl Percentile {
    /// The ones that are printed when nobody asks for others.
    pub const DEFAULT: [Self; 5] = [Self(50.0), Self(90.0), Self(95.0), Self(99.0), Self(99.9)];

    /// As a share between 0 and 1.
    #[must_use]
    pub fn share(self) -> f64 {
        self.0 / 100.0
    }

    /// The fewest samples that carry it.
    #[must_use]
    pub fn needs(self) -> u64 {
        minimum_count(self.share()).unwrap_or(u64::MAX)
    }
}

impl FromStr for Percentile {
    type Err = PercentileError;

    fn from_str(text: &str) -> Result<Self, PercentileError> {
        let number = text.strip_prefix('p').unwrap_or(text);
        let plain = number
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
        let value: f64 = number.parse().map_err(|_| PercentileError)?;
        if plain && value > 0.0 && value < 100.0 {
            Ok(Self(value))
        } else {
            Err(PercentileError)
        }
    }
}

impl fmt::Display for Percentile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "p{}", self.0)
    }
}

/// How quantiles are read from a histogram.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "what a reading needs, all of it")]
pub struct Reading<'a> {
    /// Which.
    pub percentiles: &'a [Percentile],
    /// Lag-1 autocorrelation of the samples, as far as it is known; it widens the intervals.
    pub lag1: f64,
    /// The shortest wait among operations that never ended: quantiles from it upwards are lower bounds.
    pub shortest_open: Option<u64>,
    /// Operations per value.
    pub batch: u64,
    /// Whether quantiles with too few samples beyond them are given all the same.
    pub few: Few,
}

/// What becomes of a quantile with too few samples beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Few {
    /// It is given; its interval and n say what it is worth.
    Give,
    /// It is withheld.
    Withhold,
}

impl Reading<'_> {
    /// The distribution in a document's form. In batches the histogram holds picoseconds. The histogram
    /// itself ([`Latency::hdr`]) is not in it: writing it out takes longer than all of this.
    #[must_use]
    pub fn of(&self, histogram: &Histogram) -> Latency {
        let per_nano = if self.batch > 1 { 1000 } else { 1 };
        let nanos = |value: u64| (value + per_nano / 2) / per_nano;
        let quantiles = self.percentiles.iter();
        Latency {
            quantiles: quantiles
                .map(|percentile| {
                    (
                        format!("{percentile}_ns"),
                        self.quantile(histogram, *percentile),
                    )
                })
                .collect(),
            n: histogram.count(),
            min_ns: histogram.min().map(nanos),
            max_ns: histogram.max().map(nanos),
            mean_ns: histogram.mean().map(|mean| mean / per_nano as f64),
            mad_ns: histogram.median_deviation().map(nanos),
            batch_k: (self.batch > 1).then_some(self.batch),
            hdr: None,
            outliers: None,
            bins: histogram
                .coarse(BINS)
                .into_iter()
                .map(|(to, n)| Bin {
                    to_ns: nanos(to),
                    n,
                })
                .collect(),
        }
    }

    fn quantile(&self, histogram: &Histogram, percentile: Percentile) -> Quantile {
        let n = histogram.count();
        if n == 0 || (n < percentile.needs() && self.few == Few::Withhold) {
            return Quantile {
                n,
                bound: Bound::TooFewSamples,
                ..Quantile::default()
            };
        }
        let per_nano = if self.batch > 1 { 1000 } else { 1 };
        let at = |rank: u64| histogram.at_rank(rank);
        let nanos = |value: u64| (value + per_nano / 2) / per_nano;
        let ranks = rank_interval(n, percentile.share(), self.lag1);
        let point = nearest_rank(n, percentile.share()).and_then(at);
        let open = |value: u64| self.shortest_open.is_some_and(|wait| wait <= value);
        let lo = ranks.and_then(|ranks| at(ranks.lo));
        // Above a lower bound there is no upper end to give.
        let hi = ranks.and_then(|ranks| at(ranks.hi)).filter(|hi| !open(*hi));
        let fine = |value: Option<u64>| value.filter(|_| self.batch > 1);
        Quantile {
            value: point.map(nanos),
            lo: lo.map(nanos),
            hi: hi.map(nanos),
            n,
            bound: if point.is_some_and(open) {
                Bound::AtLeast
            } else {
                Bound::Exact
            },
            value_ps: fine(point),
            lo_ps: fine(lo),
            hi_ps: fine(hi),
        }
    }
}

/// Bins of a coarse histogram.
const BINS: u32 = 40;

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(shortest_open: Option<u64>) -> Reading<'static> {
        Reading {
            percentiles: &Percentile::DEFAULT,
            lag1: 0.0,
            shortest_open,
            batch: 1,
            few: Few::Withhold,
        }
    }

    #[test]
    fn percentiles_are_read_as_they_are_printed() {
        for text in ["p50", "p99.9", "p99.99", "p5"] {
            assert_eq!(text.parse::<Percentile>().unwrap().to_string(), text);
        }
        for text in [
            "", "p", "p0", "p100", "p-1", "pp50", "50%", "p1e1", "pNaN", "pinf",
        ] {
            assert!(text.parse::<Percentile>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_quantile_with_fewer_than_ten_samples_beyond_it_is_withheld() {
        let mut histogram = Histogram::new();
        (1..=999).for_each(|value| histogram.record(value));
        let latency = reading(None).of(&histogram);
        assert_eq!(latency.quantile("p95").unwrap().value, Some(950));
        let p99 = latency.quantile("p99").unwrap();
        assert_eq!(
            (p99.value, p99.bound, p99.n),
            (None, Bound::TooFewSamples, 999)
        );
        histogram.record(1000);
        let p99 = reading(None)
            .of(&histogram)
            .quantile("p99")
            .cloned()
            .unwrap();
        assert_eq!((p99.value, p99.bound), (Some(990), Bound::Exact));
        assert!(p99.lo.unwrap() < 990 && p99.hi.unwrap() > 990);
    }

    #[test]
    fn a_quantile_that_open_waits_can_touch_is_a_lower_bound_without_an_upper_end() {
        let mut histogram = Histogram::new();
        (1..=10_000).for_each(|value| histogram.record(value));
        let latency = reading(Some(9800)).of(&histogram);
        let p99 = latency.quantile("p99").unwrap();
        assert_eq!((p99.bound, p99.hi), (Bound::AtLeast, None));
        assert_eq!(latency.quantile("p95").unwrap().bound, Bound::Exact);
    }

    #[test]
    fn batches_are_told_in_nanoseconds_and_picoseconds() {
        let mut histogram = Histogram::new();
        histogram.record_n(3400, 5000);
        let reading = Reading {
            batch: 64,
            ..reading(None)
        };
        let latency = reading.of(&histogram);
        let p50 = latency.quantile("p50").unwrap();
        assert_eq!((p50.value, p50.value_ps), (Some(3), Some(3400)));
        assert_eq!((latency.batch_k, latency.max_ns), (Some(64), Some(3)));
    }
}
