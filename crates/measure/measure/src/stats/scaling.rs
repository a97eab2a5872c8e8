//! How throughput grows with workers: speed-up, efficiency, serial fraction, fairness.
//!
//! Sources: Karp & Flatt, "Measuring parallel processor performance" (CACM 33, 1990); Jain, Chiu &
//! Hawe, "A quantitative measure of fairness" (DEC-TR-301, 1984). The model that explains a whole
//! curve is in [`super::usl`].

use super::location::usable;

/// One step of a sweep.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "plain data: workers and their rate"
)]
pub struct Step {
    /// Workers, at least 1.
    pub workers: u32,
    /// Operations per second of all of them together.
    pub throughput: f64,
}

/// What a step means against the rate of one worker.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "plain data: three figures of one step"
)]
pub struct Scaling {
    /// S = X(N)/X(1).
    pub speed_up: f64,
    /// S/N; 1 is linear scaling.
    pub efficiency: f64,
    /// The serial fraction found by experiment, e = (1/S − 1/N)/(1 − 1/N); negative where scaling
    /// is better than linear. `None` for one worker.
    pub karp_flatt: Option<f64>,
}

/// Judges a step against the throughput of one worker. `None` unless both rates are positive and
/// there is a worker.
#[must_use]
pub fn scaling(single: f64, step: Step) -> Option<Scaling> {
    let sound = |rate: f64| rate.is_finite() && rate > 0.0;
    if !sound(single) || !sound(step.throughput) || step.workers == 0 {
        return None;
    }
    let n = f64::from(step.workers);
    let speed_up = step.throughput / single;
    let karp_flatt = (step.workers > 1).then(|| (speed_up.recip() - n.recip()) / (1.0 - n.recip()));
    Some(Scaling {
        speed_up,
        efficiency: speed_up / n,
        karp_flatt,
    })
}

/// The first step at which more workers gave less throughput than fewer had given before, the steps
/// being in ascending order of workers.
#[must_use]
pub fn decline(steps: &[Step]) -> Option<u32> {
    let mut best = f64::NEG_INFINITY;
    for step in steps {
        if step.throughput < best {
            return Some(step.workers);
        }
        best = best.max(step.throughput);
    }
    None
}

/// Jain's fairness of the workers' shares: (Σx)²/(n·Σx²), 1 when all are equal, 1/n when one has
/// everything. `None` when empty, all zero, negative or not finite.
#[must_use]
pub fn jain_fairness(shares: &[f64]) -> Option<f64> {
    if !usable(shares) || shares.iter().any(|share| *share < 0.0) {
        return None;
    }
    let largest = shares.iter().copied().fold(0.0, f64::max);
    if largest <= 0.0 {
        return None;
    }
    // Scaled by the largest, so that squares neither overflow nor vanish.
    let sum: f64 = shares.iter().map(|share| share / largest).sum();
    let squares: f64 = shares.iter().map(|share| (share / largest).powi(2)).sum();
    Some(sum * sum / (shares.len() as f64 * squares))
}
