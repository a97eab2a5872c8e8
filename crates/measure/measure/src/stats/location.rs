//! Where values lie and how far they scatter: mean, variance, median, median absolute deviation.
//!
//! Source: Huber & Ronchetti, "Robust Statistics" (2nd ed., 2009) for the robust pair; the factor
//! 1.4826 makes the median absolute deviation estimate the standard deviation of normal values.

/// Turns a median absolute deviation into an estimate of a standard deviation: 1/Φ⁻¹(3/4).
pub const MAD_TO_DEVIATION: f64 = 1.482_602_218_505_602;

/// Whether there is at least one value and each is finite.
#[must_use]
pub fn usable(values: &[f64]) -> bool {
    !values.is_empty() && values.iter().all(|value| value.is_finite())
}

/// The values in ascending order.
#[must_use]
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut ordered = values.to_vec();
    ordered.sort_unstable_by(f64::total_cmp);
    ordered
}

/// The arithmetic mean. `None` when empty or not finite.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    if !usable(values) {
        return None;
    }
    let rough = values.iter().sum::<f64>() / values.len() as f64;
    // A second pass removes what the first lost to rounding on long inputs.
    let rest = values.iter().map(|value| value - rough).sum::<f64>() / values.len() as f64;
    Some(rough + rest)
}

/// The sample variance (divisor n − 1). `None` below two values.
#[must_use]
pub fn variance(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let centre = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    Some(squares / (values.len() - 1) as f64)
}

/// The median. `None` when empty or not finite.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    if !usable(values) {
        return None;
    }
    let mut scratch = values.to_vec();
    Some(median_in_place(&mut scratch))
}

/// The median of finite values, reordering them; not a number when empty. For resampling loops,
/// where an allocation per median would cost more than the median.
#[must_use]
pub fn median_in_place(values: &mut [f64]) -> f64 {
    let count = values.len();
    if count == 0 {
        return f64::NAN;
    }
    let (below, upper, _) = values.select_nth_unstable_by(count / 2, f64::total_cmp);
    let upper = *upper;
    if count % 2 == 1 {
        return upper;
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    f64::midpoint(lower, upper)
}

/// The median absolute deviation from the median, unscaled. `None` when empty or not finite.
#[must_use]
pub fn median_absolute_deviation(values: &[f64]) -> Option<f64> {
    let centre = median(values)?;
    let mut distances: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    Some(median_in_place(&mut distances))
}

/// The weighted median: the smallest value at which half of the weight is reached. `None` when
/// empty or when no weight is positive.
#[must_use]
pub fn weighted_median(weighted: &[(f64, f64)]) -> Option<f64> {
    let total: f64 = weighted.iter().map(|(_, weight)| weight).sum();
    if !(total > 0.0 && total.is_finite()) {
        return None;
    }
    let mut ordered = weighted.to_vec();
    ordered.sort_unstable_by(|left, right| left.0.total_cmp(&right.0));
    let mut reached = 0.0;
    for (value, weight) in &ordered {
        reached += weight;
        if reached >= total / 2.0 {
            return Some(*value);
        }
    }
    ordered.last().map(|(value, _)| *value)
}
