//! The Mann–Whitney U test of two independent groups.
//!
//! Source: Mann & Whitney (Ann. Math. Stat. 18, 1947). Up to twenty values a side the p-value is
//! exact, also with ties, where the midranks at hand are permuted; beyond that the normal
//! approximation with correction for ties and continuity. The smallest p two groups of n can reach
//! is 2 over C(2n, n): three against three can never be significant at 5 %.

use super::location::usable;
use super::normal;
use super::ranks::{Method, Significance, doubled_midranks, doubled_tail, subset_sums};

/// Up to this many values a side every arrangement is counted.
pub const EXACT_UP_TO: usize = 20;

/// Tests whether `first` and `second` come from one distribution. The statistic is U of `first`:
/// the number of pairs in which it is larger, ties counting half. `None` when a side is empty or
/// not finite.
#[must_use]
pub fn test(first: &[f64], second: &[f64]) -> Option<Significance> {
    if !usable(first) || !usable(second) {
        return None;
    }
    let pooled: Vec<f64> = first.iter().chain(second).copied().collect();
    let (doubled, ties) = doubled_midranks(&pooled);
    let rank_sum: usize = doubled.iter().take(first.len()).sum();
    let statistic = (rank_sum - first.len() * (first.len() + 1)) as f64 / 2.0;
    let (p, method) = if first.len().max(second.len()) <= EXACT_UP_TO {
        let counts = subset_sums(&doubled, first.len());
        (doubled_tail(&counts, rank_sum), Method::Exact)
    } else {
        (
            approximate(statistic, (first.len(), second.len()), ties),
            Method::Approximate,
        )
    };
    Some(Significance {
        statistic,
        p,
        method,
    })
}

fn approximate(statistic: f64, sizes: (usize, usize), ties: f64) -> f64 {
    let (n, m) = (sizes.0 as f64, sizes.1 as f64);
    let all = n + m;
    let variance = n * m / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let distance = (statistic - n * m / 2.0).abs() - 0.5;
    (2.0 * normal::upper_tail(distance / variance.sqrt())).min(1.0)
}

/// The smallest two-sided p that groups of these sizes can reach: 2 over C(n + m, n).
#[must_use]
pub fn smallest_p(first: usize, second: usize) -> f64 {
    let mut arrangements = 1.0;
    for taken in 1..=first {
        arrangements *= (second + taken) as f64 / taken as f64;
    }
    (2.0 / arrangements).min(1.0)
}
