//! What an operation costs by the size of its input: so much per call and so much per byte.
//!
//! The fit and its check are those of [`crate::stats::size_model`]. Sizes at which the line does not hold
//! are listed, and a line with such sizes must not be used to predict them.

use crate::document::{Case, Interval, SizeModel, SizePoint};
use crate::stats::bootstrap::Resampling;
use crate::stats::{interval, location, size_model};

/// The times of one size.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "a size and its times")]
pub struct Point {
    /// Payload of one operation.
    pub size_bytes: u64,
    /// One time per run, in nanoseconds an operation.
    pub times_ns: Vec<f64>,
}

impl Point {
    /// From a case of operations with this payload. In a closed loop the time of an operation is what the
    /// rate leaves to each of those in flight; in open mode it is the median service time of each run.
    #[must_use]
    pub fn of(case: &Case, size_bytes: u64) -> Self {
        let closed = case.load.mode == "closed";
        let time = |run: &crate::document::RunRecord| match closed {
            true => case.load.cap as f64 * 1e9 / run.achieved_per_s,
            false => run.p50_ns.map_or(f64::NAN, |nanos| nanos as f64),
        };
        Self {
            size_bytes,
            times_ns: case.runs.iter().map(time).collect(),
        }
    }

    /// The geometric mean of its times with a 95 % interval over runs, in nanoseconds.
    #[must_use]
    pub fn interval(&self) -> Option<interval::Interval> {
        interval::geometric_mean(&self.times_ns, 0.95)
    }
}

/// The model of a sweep, points in any order; resampling for the intervals is drawn from `seed`. None with
/// fewer than three different sizes, or with a time that is not above zero.
#[must_use]
pub fn model(points: &[Point], seed: u64) -> Option<SizeModel> {
    let mut points: Vec<&Point> = points.iter().collect();
    points.sort_by_key(|point| point.size_bytes);
    let inputs: Vec<size_model::SizePoint> = points
        .iter()
        .map(|point| size_model::SizePoint {
            bytes: point.size_bytes as f64,
            times: point.times_ns.clone(),
        })
        .collect();
    let plan = Resampling {
        seed,
        ..Resampling::default()
    };
    let fitted = size_model::fit(&inputs, &plan)?;
    let misfit = |point: &&&Point| {
        let bytes = point.size_bytes as f64;
        fitted
            .misfits
            .iter()
            .any(|misfit| misfit.bytes.total_cmp(&bytes).is_eq())
    };
    let measured: Option<Vec<SizePoint>> = points
        .iter()
        .map(|point| {
            Some(SizePoint {
                size_bytes: point.size_bytes,
                time_ns: location::median(&point.times_ns)?,
            })
        })
        .collect();
    let ends = |of: interval::Interval| {
        Some(Interval {
            lo: of.lo,
            hi: of.hi,
        })
    };
    Some(SizeModel {
        points: measured?,
        call_ns: fitted.per_call.estimate,
        call_interval: ends(fitted.per_call),
        byte_ns: fitted.per_byte.estimate,
        byte_interval: ends(fitted.per_byte),
        misfits: points
            .iter()
            .filter(misfit)
            .map(|point| point.size_bytes)
            .collect(),
    })
}
