//! Values in the order they were measured: autocorrelation, and where the warm-up ends.
//!
//! Sources: Box, Jenkins & Reinsel, "Time Series Analysis", 2.1.4, for the autocorrelation; White,
//! Cobb & Spratt, "A comparison of five steady-state truncation heuristics for simulation" (WSC
//! 2000), for MSER-5: the truncation is where the standard error of the mean of what remains, over
//! means of five, is smallest.

use super::location::{mean, usable};

/// Values averaged into one before looking for the truncation point.
pub const BATCH: usize = 5;
/// The fewest batches in which a truncation point is looked for.
const FEWEST_BATCHES: usize = 4;
/// What a cut beyond the half must bring the squared error down to. A straight climb brings it to
/// one half at three quarters.
const CLEARLY_BETTER: f64 = 0.6;

/// The lag-1 autocorrelation, between −1 and 1. `None` below three values, or when they do not
/// vary.
#[must_use]
pub fn lag1(values: &[f64]) -> Option<f64> {
    if values.len() < 3 {
        return None;
    }
    let centre = mean(values)?;
    let total: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    let products: f64 = values
        .windows(2)
        .map(|pair| (pair[0] - centre) * (pair[1] - centre))
        .sum();
    (total > 0.0).then(|| (products / total).clamp(-1.0, 1.0))
}

/// By how much the dependence of successive values inflates the variance of their mean: the
/// integrated autocorrelation 1 + 2Σρₖ, the sum ending where two successive terms together are no
/// longer positive (Geyer, "Practical Markov chain Monte Carlo", Stat. Science 7, 1992). At least
/// 1: negative dependence is not taken as a licence for narrower intervals. `None` below three
/// values, or when they do not vary.
#[must_use]
pub fn variance_inflation(values: &[f64]) -> Option<f64> {
    if values.len() < 3 {
        return None;
    }
    let centre = mean(values)?;
    let from_centre: Vec<f64> = values.iter().map(|value| value - centre).collect();
    let product = |lag: usize| -> f64 {
        from_centre
            .iter()
            .zip(&from_centre[lag..])
            .map(|(left, right)| left * right)
            .sum()
    };
    let total = product(0);
    if total <= 0.0 {
        return None;
    }
    let mut inflation = 1.0 + 2.0 * product(1) / total;
    // Beyond a tenth of the series an autocorrelation is mostly noise.
    for lag in (2..values.len() / 10).step_by(2) {
        let pair = (product(lag) + product(lag + 1)) / total;
        if pair <= 0.0 {
            break;
        }
        inflation += 2.0 * pair;
    }
    Some(inflation.max(1.0))
}

/// Where a series becomes steady.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "plain data: a cut and what was cut"
)]
pub struct Truncation {
    /// How many leading values belong to the warm-up.
    pub cut: usize,
    /// How many values there were.
    pub of: usize,
}

impl Truncation {
    /// Whether the cut takes at most half of the series. If not, the series never became steady
    /// while it was watched.
    #[must_use]
    pub fn steady(&self) -> bool {
        2 * self.cut <= self.of
    }
}

/// The MSER-5 truncation point of block values. Cuts up to three quarters are considered: a longer
/// one would judge steadiness by a remnant, while stopping at the half would hide series that never
/// settle. Beyond the half a cut must be clearly better, since a short remnant of plain noise is
/// now and then a quiet one by chance. An incomplete last batch is not looked at. `None` below
/// twenty values or when one is not finite.
#[must_use]
pub fn mser5(values: &[f64]) -> Option<Truncation> {
    let batches: Vec<f64> = values
        .chunks_exact(BATCH)
        .map(|batch| batch.iter().sum::<f64>() / BATCH as f64)
        .collect();
    if batches.len() < FEWEST_BATCHES || !usable(values) {
        return None;
    }
    // From the end forwards, so that each candidate costs one update (Welford 1962).
    let longest = batches.len() * 3 / 4;
    let (mut count, mut centre, mut squares) = (0.0, 0.0, 0.0);
    let (mut early, mut late) = ((f64::INFINITY, 0), (f64::INFINITY, 0));
    for (place, value) in batches.iter().enumerate().rev() {
        count += 1.0;
        let distance = value - centre;
        centre += distance / count;
        squares += distance * (value - centre);
        let error = squares / (count * count);
        let best = if 2 * place <= batches.len() {
            &mut early
        } else {
            &mut late
        };
        // On a tie the shorter cut wins: a constant series has no warm-up.
        if place <= longest && error <= best.0 {
            *best = (error, place);
        }
    }
    let best = if late.0 < CLEARLY_BETTER * early.0 {
        late
    } else {
        early
    };
    Some(Truncation {
        cut: best.1 * BATCH,
        of: values.len(),
    })
}
