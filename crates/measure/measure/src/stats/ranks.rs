//! Ranks, and the exact null distributions of sums of ranks.
//!
//! Source: Lehmann, "Nonparametrics: Statistical Methods Based on Ranks" (1975); the counting
//! recurrence is the usual one for sums of subsets. Ranks are kept doubled so that the midranks of
//! tied values are whole numbers: one and the same count then serves data with and without ties,
//! and the p-value is exact in both cases (conditional on the ties).

/// How a p-value was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// Every arrangement was counted.
    Exact,
    /// Seeded random arrangements were counted.
    MonteCarlo,
    /// From the limiting distribution (normal or t).
    Approximate,
}

/// A two-sided test's outcome.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "plain data: a test has these three"
)]
pub struct Significance {
    /// The test's statistic; its own documentation says which.
    pub statistic: f64,
    /// The two-sided p-value.
    pub p: f64,
    /// How the p-value was found.
    pub method: Method,
}

/// Twice the midrank of each value, in the order of the values, and for the correction of
/// variances the sum of t³ − t over groups of t tied values.
pub(super) fn doubled_midranks(values: &[f64]) -> (Vec<usize>, f64) {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|left, right| values[*left].total_cmp(&values[*right]));
    let mut doubled = vec![0; values.len()];
    let mut ties = 0.0;
    let mut start = 0;
    for group in order.chunk_by(|left, right| values[*left] == values[*right]) {
        // Ranks start+1 ..= start+len; twice their mean is the sum of first and last.
        for &place in group {
            doubled[place] = 2 * start + group.len() + 1;
        }
        let size = group.len() as f64;
        ties += size * size * size - size;
        start += group.len();
    }
    (doubled, ties)
}

/// For every total: in how many of the 2ⁿ choices of signs do the positive items sum to it.
pub(super) fn signed_sums(items: &[usize]) -> Vec<f64> {
    let mut counts = vec![0.0; items.iter().sum::<usize>() + 1];
    counts[0] = 1.0;
    for &item in items {
        for total in (item..counts.len()).rev() {
            counts[total] += counts[total - item];
        }
    }
    counts
}

/// For every total: how many subsets of exactly `size` items sum to it.
pub(super) fn subset_sums(items: &[usize], size: usize) -> Vec<f64> {
    let width = items.iter().sum::<usize>() + 1;
    let mut counts = vec![vec![0.0; width]; size + 1];
    counts[0][0] = 1.0;
    for &item in items {
        for taken in (1..=size).rev() {
            let (fewer, rest) = counts.split_at_mut(taken);
            let (Some(from), Some(into)) = (fewer.last(), rest.first_mut()) else {
                continue;
            };
            for (slot, count) in into[item..].iter_mut().zip(from.iter()) {
                *slot += count;
            }
        }
    }
    counts.pop().unwrap_or_default()
}

/// Twice the smaller tail, tails taken with `observed` itself, at most 1.
pub(super) fn doubled_tail(counts: &[f64], observed: usize) -> f64 {
    let total: f64 = counts.iter().sum();
    let lower: f64 = counts.iter().take(observed + 1).sum();
    let upper: f64 = counts.iter().skip(observed).sum();
    (2.0 * lower.min(upper) / total).min(1.0)
}

/// The largest k ≥ 1 with P(statistic < k) ≤ `tail`, and that probability: the interval runs from
/// the k-th smallest to the k-th largest of the pairwise estimates. When not even the outermost
/// pair reaches the level it is still the best there is, and its own probability says so.
pub(super) fn cut(counts: &[f64], tail: f64) -> (usize, f64) {
    let total: f64 = counts.iter().sum();
    let mut below = 0.0;
    for (k, count) in counts.iter().enumerate() {
        let with_this = below + count / total;
        if with_this > tail {
            return if k == 0 { (1, with_this) } else { (k, below) };
        }
        below = with_this;
    }
    (1, below)
}
