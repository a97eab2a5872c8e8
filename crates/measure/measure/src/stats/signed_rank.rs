//! Wilcoxon's signed-rank test of paired differences.
//!
//! Source: Wilcoxon (Biometrics 1, 1945). Differences of exactly zero are left out, as Wilcoxon
//! did. Up to thirty differences the p-value is exact, also with tied magnitudes; beyond that the
//! normal approximation with correction for ties and continuity. The smallest reachable p is
//! 2/2ⁿ.

use super::location::usable;
use super::normal;
use super::ranks::{Method, Significance, doubled_midranks, doubled_tail, signed_sums};

/// Up to this many non-zero differences every choice of signs is counted.
pub const EXACT_UP_TO: usize = 30;

/// Tests whether `differences` are symmetric about zero. The statistic is the sum of the ranks of
/// the positive ones. `None` when empty or not finite; p is 1 when all are zero.
#[must_use]
pub fn test(differences: &[f64]) -> Option<Significance> {
    if !usable(differences) {
        return None;
    }
    let moved: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    let magnitudes: Vec<f64> = moved.iter().map(|d| d.abs()).collect();
    let (doubled, ties) = doubled_midranks(&magnitudes);
    let positive: usize = moved
        .iter()
        .zip(&doubled)
        .filter(|(d, _)| **d > 0.0)
        .map(|(_, rank)| rank)
        .sum();
    let statistic = positive as f64 / 2.0;
    let (p, method) = if moved.len() <= EXACT_UP_TO {
        (
            doubled_tail(&signed_sums(&doubled), positive),
            Method::Exact,
        )
    } else {
        (
            approximate(statistic, moved.len(), ties),
            Method::Approximate,
        )
    };
    Some(Significance {
        statistic,
        p,
        method,
    })
}

fn approximate(statistic: f64, count: usize, ties: f64) -> f64 {
    let n = count as f64;
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0;
    let distance = (statistic - n * (n + 1.0) / 4.0).abs() - 0.5;
    (2.0 * normal::upper_tail(distance / variance.sqrt())).min(1.0)
}

/// The smallest two-sided p that `pairs` differences can reach: 2/2ⁿ. The sign-flip test has the
/// same bound.
#[must_use]
pub fn smallest_p(pairs: usize) -> f64 {
    let exponent = i32::try_from(pairs).unwrap_or(i32::MAX);
    (2.0 * 0.5f64.powi(exponent)).min(1.0)
}
