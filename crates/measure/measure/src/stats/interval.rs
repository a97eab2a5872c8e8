//! Confidence intervals from Student's t on logarithms.
//!
//! Times and rates of runs are positive and skewed to the right; their logarithms are close to
//! symmetric, and a ratio of two sides is a difference of logarithms. With five to ten runs the t
//! interval keeps its nominal coverage where the percentile bootstrap does not (Hesterberg, "What
//! teachers should know about the bootstrap", The American Statistician 69, 2015). Two sides are
//! compared with Welch's unequal variances (Biometrika 34, 1947).

use super::{location, student};

/// An estimate with its interval, in the unit of the values it came from.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "plain data: an interval has these four numbers"
)]
pub struct Interval {
    /// The point estimate.
    pub estimate: f64,
    /// The lower end.
    pub lo: f64,
    /// The upper end.
    pub hi: f64,
    /// The confidence of the interval. For intervals made of order statistics this is the level
    /// really attained, which can be below the one asked for when there are few values.
    pub level: f64,
}

impl Interval {
    /// Whether `value` lies inside, ends included.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.lo <= value && value <= self.hi
    }

    /// The interval of exp(x) for an interval of x.
    #[must_use]
    pub(crate) fn exp(self) -> Self {
        Self {
            estimate: self.estimate.exp(),
            lo: self.lo.exp(),
            hi: self.hi.exp(),
            level: self.level,
        }
    }
}

/// The natural logarithms. `None` when a value is not finite and positive.
pub(super) fn logarithms(values: &[f64]) -> Option<Vec<f64>> {
    values
        .iter()
        .map(|value| (value.is_finite() && *value > 0.0).then(|| value.ln()))
        .collect()
}

/// The mean with Student's t interval. `None` below two values.
#[must_use]
pub fn mean(values: &[f64], level: f64) -> Option<Interval> {
    let variance = location::variance(values)?;
    let estimate = location::mean(values)?;
    let count = values.len() as f64;
    let half = student::two_sided(level, count - 1.0)? * (variance / count).sqrt();
    Some(Interval {
        estimate,
        lo: estimate - half,
        hi: estimate + half,
        level,
    })
}

/// The geometric mean of positive run values with its t interval on the logarithms. `None` below
/// two values or when one is not positive.
#[must_use]
pub fn geometric_mean(run_values: &[f64], level: f64) -> Option<Interval> {
    Some(mean(&logarithms(run_values)?, level)?.exp())
}

/// Candidate over baseline, as the ratio of geometric means of positive run values, with Welch's t
/// interval on the logarithms. `None` below two values a side or when one is not positive.
#[must_use]
pub fn geometric_ratio(baseline: &[f64], candidate: &[f64], level: f64) -> Option<Interval> {
    let before = logarithms(baseline)?;
    let after = logarithms(candidate)?;
    let estimate = location::mean(&after)? - location::mean(&before)?;
    let square_before = location::variance(&before)? / before.len() as f64;
    let square_after = location::variance(&after)? / after.len() as f64;
    let square = square_before + square_after;
    if square == 0.0 {
        return Some(
            Interval {
                estimate,
                lo: estimate,
                hi: estimate,
                level,
            }
            .exp(),
        );
    }
    let df = square.powi(2)
        / (square_before.powi(2) / (before.len() - 1) as f64
            + square_after.powi(2) / (after.len() - 1) as f64);
    // Rounding may leave the degrees of freedom a hair under their bound of one.
    let half = student::two_sided(level, df.max(1.0))? * square.sqrt();
    Some(
        Interval {
            estimate,
            lo: estimate - half,
            hi: estimate + half,
            level,
        }
        .exp(),
    )
}
