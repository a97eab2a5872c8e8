//! Outliers, counted and never removed.
//!
//! Sources: Tukey, "Exploratory Data Analysis" (1977), fences at 1.5 and 3 interquartile ranges;
//! Iglewicz & Hoaglin, "How to Detect and Handle Outliers" (1993), modified z = 0.6745·(x −
//! median)/MAD with the bound 3.5. A slow sample is a finding: it stays in every quantile, and
//! these counts only say how many there are and on which side.

use super::location::{MAD_TO_DEVIATION, median, median_absolute_deviation, sorted, usable};
use super::quantile::interpolated;

/// A modified z beyond this is an outlier.
pub const MODIFIED_Z_BOUND: f64 = 3.5;

/// How many values lie outside, on which side and how far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "plain data: the six classes of the two rules"
)]
pub struct Outliers {
    /// More than 3 interquartile ranges below the lower quartile.
    pub low_severe: usize,
    /// More than 1.5 but not more than 3 below.
    pub low_mild: usize,
    /// More than 1.5 but not more than 3 above the upper quartile.
    pub high_mild: usize,
    /// More than 3 above.
    pub high_severe: usize,
    /// Modified z below −3.5.
    pub low_by_deviation: usize,
    /// Modified z above 3.5.
    pub high_by_deviation: usize,
}

/// Classifies every value. `None` when empty or not finite.
#[must_use]
pub fn classify(values: &[f64]) -> Option<Outliers> {
    if !usable(values) {
        return None;
    }
    let ordered = sorted(values);
    let (lower, upper) = (interpolated(&ordered, 0.25), interpolated(&ordered, 0.75));
    let range = upper - lower;
    let below = |bound: f64| ordered.partition_point(|value| *value < bound);
    let above = |bound: f64| ordered.len() - ordered.partition_point(|value| *value <= bound);
    let (low_severe, high_severe) = (below(lower - 3.0 * range), above(upper + 3.0 * range));
    let scores = modified_z(values)?;
    Some(Outliers {
        low_severe,
        low_mild: below(lower - 1.5 * range) - low_severe,
        high_mild: above(upper + 1.5 * range) - high_severe,
        high_severe,
        low_by_deviation: scores.iter().filter(|z| **z < -MODIFIED_Z_BOUND).count(),
        high_by_deviation: scores.iter().filter(|z| **z > MODIFIED_Z_BOUND).count(),
    })
}

/// The modified z of each value, in order; infinite for values off the median when more than half
/// of all values are equal to it. `None` when empty or not finite.
#[must_use]
pub fn modified_z(values: &[f64]) -> Option<Vec<f64>> {
    let centre = median(values)?;
    let deviation = median_absolute_deviation(values)? * MAD_TO_DEVIATION;
    let score = |value: &f64| {
        let distance = value - centre;
        if distance == 0.0 {
            0.0
        } else {
            distance / deviation
        }
    };
    Some(values.iter().map(score).collect())
}
