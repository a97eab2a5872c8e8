//! Calls over time, in stretches that grow with the log.

use std::collections::BTreeMap;

use super::{Call, Outcome};
use crate::moment;
use crate::report::{Bin, Throughput};

/// How much was called when.
#[derive(Debug)]
pub(super) struct Rates {
    width: i64,
    bins: BTreeMap<i64, Tally>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    calls: u64,
    errors: u64,
    operations: u64,
}

/// The most stretches; beyond it two become one.
const MOST: usize = 240;
const SECOND: i64 = 1_000_000_000;

impl Default for Rates {
    fn default() -> Self {
        Self {
            width: SECOND,
            bins: BTreeMap::new(),
        }
    }
}

impl Rates {
    pub(super) fn take(&mut self, call: &Call<'_>, operations: u64) {
        let Some(time) = call.seen.time else {
            return;
        };
        let bin = self.bins.entry(time.div_euclid(self.width)).or_default();
        bin.calls += 1;
        bin.errors += u64::from(call.outcome == Outcome::Failed);
        bin.operations += operations;
        while self.bins.len() > MOST {
            self.halve();
        }
    }

    fn halve(&mut self) {
        self.width = self.width.saturating_mul(2);
        let mut bins: BTreeMap<i64, Tally> = BTreeMap::new();
        for (index, tally) in &self.bins {
            let bin = bins.entry(index.div_euclid(2)).or_default();
            bin.calls += tally.calls;
            bin.errors += tally.errors;
            bin.operations += tally.operations;
        }
        self.bins = bins;
    }

    pub(super) fn report(
        &self,
        span: Option<f64>,
        calls: u64,
        operations: u64,
    ) -> Option<Throughput> {
        if self.bins.is_empty() {
            return None;
        }
        let rate = |count: u64| {
            span.filter(|span| *span > 0.0)
                .map(|span| count as f64 / span)
        };
        let start = |index: i64| moment::written(i128::from(index) * i128::from(self.width));
        Some(Throughput {
            calls_per_s: rate(calls),
            operations_per_s: rate(operations),
            bin_s: u64::try_from(self.width / SECOND).unwrap_or_default(),
            bins: self
                .bins
                .iter()
                .map(|(index, tally)| Bin {
                    start: start(*index),
                    calls: tally.calls,
                    errors: tally.errors,
                    operations: tally.operations,
                })
                .collect(),
        })
    }
}
