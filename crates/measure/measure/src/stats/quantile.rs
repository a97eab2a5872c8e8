//! Quantiles of samples with distribution-free intervals, for sorted values or for histograms.
//!
//! Source: Conover, "Practical Nonparametric Statistics" (3rd ed.), 3.2: the ranks
//! n·q ± 1.96·√(n·q·(1−q)), both rounded up. Samples that follow one another are rarely
//! independent, so the width is that of fewer, effective samples. Two ways to count those:
//! [`rank_interval`] takes n·(1−ρ)/(1+ρ) with the lag-1 autocorrelation ρ of the values, which is
//! all that is left of the order once a histogram is kept, and errs on the wide side (nominal 95 %
//! covers 97 to 98 % at the median of first-order autoregressive series and more in the tails,
//! because being below a quantile is less correlated than the values are); [`of_series`] measures
//! the correlation of "is at or below the quantile" in the samples' own order and keeps the
//! nominal coverage.
//!
//! Samples of one run say nothing about the difference between runs. An interval made here is one
//! of that run.
//!
//! A limit on a quantile is judged by [`proof_ranks`], not by those ranks: the normal approximation does not
//! hold for few samples, and a rank that was cut to the smallest or largest sample proves nothing. The exact
//! bounds are the order statistics of Conover 3.2 (Clopper & Pearson 1934): the number of samples at or below
//! the quantile is binomial.

use super::interval::Interval;
use super::location::{sorted, usable};
use super::series::variance_inflation;
use super::student::incomplete_beta;

/// The half-width in standard deviations of a 95 % interval.
pub const WIDTH_95: f64 = 1.96;
/// A quantile is worth printing when this many samples are expected beyond it.
pub const SAMPLES_BEYOND: f64 = 10.0;
/// The strongest autocorrelation believed; beyond it the effective count would vanish.
pub const STRONGEST_CORRELATION: f64 = 0.99;

/// The ranks (1 is the smallest of the samples) of a quantile and of its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "plain data: three ranks and two remarks"
)]
pub struct Ranks {
    /// The nearest-rank quantile, ⌈n·q⌉.
    pub point: u64,
    /// The lower end.
    pub lo: u64,
    /// The upper end.
    pub hi: u64,
    /// The lower end fell below the smallest sample and was cut: the truth may lie lower.
    pub open_below: bool,
    /// The upper end fell above the largest sample and was cut: the truth may lie higher.
    pub open_above: bool,
}

/// A non-negative, integer-valued number as an index; the ends of the range for what lies outside.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, which is what the documentation promises"
)]
pub(super) fn whole(value: f64) -> usize {
    value as usize
}

/// How many independent samples `count` correlated ones are worth. `lag1` is clamped to 0..=0.99:
/// negative correlation is not taken as a licence for narrower intervals.
#[must_use]
pub fn effective_count(count: u64, lag1: f64) -> f64 {
    let rho = if lag1.is_nan() {
        0.0
    } else {
        lag1.clamp(0.0, STRONGEST_CORRELATION)
    };
    count as f64 * (1.0 - rho) / (1.0 + rho)
}

/// The nearest rank ⌈n·q⌉, between 1 and n. `None` when there are no samples or q is not in 0..=1.
#[must_use]
pub fn nearest_rank(count: u64, q: f64) -> Option<u64> {
    if count == 0 || !(0.0..=1.0).contains(&q) {
        return None;
    }
    let product = count as f64 * q;
    // 1000 · 0.999 must be rank 999 although the product is a hair above it.
    let rank = whole((product - 1e-12 * product.max(1.0)).ceil()) as u64;
    Some(rank.clamp(1, count))
}

/// The ranks of quantile `q` of `count` samples and of its 95 % interval, given the samples' lag-1
/// autocorrelation (0 for independent ones). `None` when there are no samples or q is not inside
/// 0..1.
#[must_use]
pub fn rank_interval(count: u64, q: f64, lag1: f64) -> Option<Ranks> {
    ranks(count, q, effective_count(count, lag1))
}

/// The same for a known number of effective samples.
fn ranks(count: u64, q: f64, effective: f64) -> Option<Ranks> {
    if !(q > 0.0 && q < 1.0) {
        return None;
    }
    let point = nearest_rank(count, q)?;
    let n = count as f64;
    // The half-width as a share of the samples; a share of the effective ones is the same share.
    let half = WIDTH_95 * (q * (1.0 - q) / effective).sqrt();
    let (lo, hi) = ((n * (q - half)).ceil(), (n * (q + half)).ceil());
    Some(Ranks {
        point,
        lo: (whole(lo) as u64).clamp(1, point),
        hi: (whole(hi) as u64).clamp(point, count),
        open_below: lo < 1.0,
        open_above: hi > n,
    })
}

/// The chance that a bound of [`proof_ranks`] is on the wrong side, on each side.
pub const DOUBT: f64 = 0.025;

/// Ranks whose samples bound a quantile, whatever the distribution. A side is absent where there are too few
/// samples for any of them to be a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data: three ranks")]
pub struct ProofRanks {
    /// The nearest-rank quantile, ⌈n·q⌉.
    pub point: u64,
    /// The largest rank whose sample is above the quantile with a chance of at most [`DOUBT`].
    pub lower: Option<u64>,
    /// The smallest rank whose sample is below the quantile with a chance of at most [`DOUBT`].
    pub upper: Option<u64>,
}

/// The ranks that decide whether quantile `q` of the distribution behind `count` independent samples is within
/// a limit: it is over the limit if the lower rank's sample is, and within it if the upper rank's sample is.
/// `None` when there are no samples or q is not inside 0..1.
#[must_use]
pub fn proof_ranks(count: u64, q: f64) -> Option<ProofRanks> {
    if !(q > 0.0 && q < 1.0) {
        return None;
    }
    let point = nearest_rank(count, q)?;
    // At most rank - 1 samples are at or below the quantile.
    let above = |rank: u64| incomplete_beta((count - rank + 1) as f64, rank as f64, 1.0 - q);
    // At least `rank` samples are below it.
    let below = |rank: u64| incomplete_beta(rank as f64, (count - rank + 1) as f64, q);
    let lower = first_rank(count, |rank| above(rank) > DOUBT);
    let upper = first_rank(count, |rank| below(rank) <= DOUBT);
    Some(ProofRanks {
        point,
        lower: Some(lower - 1).filter(|rank| *rank > 0),
        upper: Some(upper).filter(|rank| *rank <= count),
    })
}

/// The first rank from 1 to `count` of which `holds` is true, as it is of all later ones; else the next number.
fn first_rank(count: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (1, count + 1);
    while low < high {
        let middle = low.midpoint(high);
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// Quantile `q` of values in ascending order with its 95 % interval. `None` when there are none or
/// q is not inside 0..1.
#[must_use]
pub fn of_sorted(ordered: &[f64], q: f64, lag1: f64) -> Option<Interval> {
    if !usable(ordered) {
        return None;
    }
    at(ordered, rank_interval(ordered.len() as u64, q, lag1)?)
}

/// Quantile `q` of values in the order they were measured, with a 95 % interval that accounts for
/// their dependence. `None` below three values, when one is not finite, or q is not inside 0..1.
#[must_use]
pub fn of_series(values: &[f64], q: f64) -> Option<Interval> {
    if !usable(values) || values.len() < 3 {
        return None;
    }
    let ordered = sorted(values);
    let count = ordered.len() as u64;
    let point = ordered[usize::try_from(nearest_rank(count, q)?)
        .ok()?
        .checked_sub(1)?];
    let inside: Vec<f64> = values
        .iter()
        .map(|value| f64::from(u8::from(*value <= point)))
        .collect();
    // Indicators that never change (all values equal) show no dependence to account for.
    let inflation = variance_inflation(&inside).unwrap_or(1.0);
    at(&ordered, ranks(count, q, count as f64 / inflation)?)
}

fn at(ordered: &[f64], ranks: Ranks) -> Option<Interval> {
    let value = |rank: u64| {
        ordered
            .get(usize::try_from(rank).ok()?.checked_sub(1)?)
            .copied()
    };
    let (lo, hi) = (value(ranks.lo)?, value(ranks.hi)?);
    Some(Interval {
        estimate: value(ranks.point)?,
        lo,
        hi,
        level: 0.95,
    })
}

/// The fewest samples that leave ten expected on the rarer side of quantile `q`: 100 for p90, 1,000
/// for p99. `None` unless q is inside 0..1.
#[must_use]
pub fn minimum_count(q: f64) -> Option<u64> {
    if !(q > 0.0 && q < 1.0) {
        return None;
    }
    let exact = SAMPLES_BEYOND / q.min(1.0 - q);
    // 1 − 0.9 is a hair below a tenth; the rounding must not cost a sample.
    Some(whole((exact * (1.0 - 1e-9)).ceil()) as u64)
}

/// The quantile of values in ascending order with linear interpolation between neighbours
/// (Hyndman & Fan's type 7), for quartiles and for bootstrap distributions. Not a number when
/// empty.
#[must_use]
pub fn interpolated(ordered: &[f64], q: f64) -> f64 {
    let Some(last) = ordered.len().checked_sub(1) else {
        return f64::NAN;
    };
    let place = last as f64 * q.clamp(0.0, 1.0);
    let below = whole(place.floor()).min(last);
    let above = (below + 1).min(last);
    let share = place - below as f64;
    ordered[below] + share * (ordered[above] - ordered[below])
}
