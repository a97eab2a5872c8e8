//! Durations as they come: their distribution, and how much each is like the one before it.

use keywright_measure::histogram::Histogram;
use keywright_measure::latency::{Few, Percentile, Reading};

use crate::report::{QuantileRow, Times};

/// Durations in nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct Series {
    histogram: Histogram,
    last: Option<f64>,
    /// Sums over values less the first one, so that they stay small.
    first: f64,
    sum: f64,
    squares: f64,
    products: f64,
}

impl Series {
    pub(crate) fn record(&mut self, nanos: u64) {
        let value = nanos as f64;
        if self.histogram.is_empty() {
            self.first = value;
        }
        let value = value - self.first;
        self.histogram.record(nanos);
        self.sum += value;
        self.squares += value * value;
        if let Some(last) = self.last.replace(value) {
            self.products += last * value;
        }
    }

    /// The lag-1 autocorrelation: calls that follow one another are rarely independent, and intervals are as wide
    /// as that demands.
    fn correlation(&self) -> f64 {
        let n = self.histogram.count() as f64;
        if n < 3.0 {
            return 0.0;
        }
        let mean = self.sum / n;
        let variance = self.squares / n - mean * mean;
        if variance <= 0.0 {
            return 0.0;
        }
        let covariance = self.products / (n - 1.0) - mean * mean;
        (covariance / variance).clamp(0.0, 0.99)
    }

    pub(crate) fn times(&self) -> Times {
        let reading = Reading {
            percentiles: &Percentile::DEFAULT,
            lag1: self.correlation(),
            shortest_open: None,
            batch: 1,
            few: Few::Withhold,
        };
        let latency = reading.of(&self.histogram);
        let quantiles = Percentile::DEFAULT.iter().map(|percentile| {
            let found = latency.quantiles.get(&format!("{percentile}_ns"));
            QuantileRow {
                name: percentile.to_string(),
                ns: found.and_then(|quantile| quantile.value),
                lo_ns: found.and_then(|quantile| quantile.lo),
                hi_ns: found.and_then(|quantile| quantile.hi),
            }
        });
        Times {
            n: latency.n,
            min_ns: latency.min_ns,
            mean_ns: latency.mean_ns,
            max_ns: latency.max_ns,
            quantiles: quantiles.collect(),
        }
    }
}
