//! What more threads bring: speed-up, serial fraction, fairness, and the law that explains the curve.
//!
//! The formulas are those of [`crate::stats::scaling`] and [`crate::stats::usl`]. The law describes the
//! range that was measured; a curve that falls inside of it is said to, in a remark.

use crate::document::{Case, Remark, ScalingModel, ScalingPoint};
use crate::stats::scaling::{Step, decline, jain_fairness, scaling};
use crate::stats::{location, usl};

/// A measured point.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "threads, their rate and how evenly it was shared"
)]
pub struct Point {
    /// Threads, at least 1.
    pub threads: u32,
    /// Units a second of all of them together.
    pub rate_per_s: f64,
    /// Jain's fairness of their shares, where it is known.
    pub fairness: Option<f64>,
}

impl Point {
    /// From operations each thread did in a run of all of them.
    #[must_use]
    pub fn new(threads: u32, rate_per_s: f64, by_worker: &[u64]) -> Self {
        let shares: Vec<f64> = by_worker.iter().map(|count| *count as f64).collect();
        Self {
            threads,
            rate_per_s,
            fairness: jain_fairness(&shares),
        }
    }

    /// A case with one thread for each operation in flight.
    #[must_use]
    pub fn of(case: &Case) -> Self {
        let fairness: Option<Vec<f64>> = case.runs.iter().map(|run| run.fairness).collect();
        Self {
            threads: u32::try_from(case.load.cap).unwrap_or(u32::MAX),
            rate_per_s: case.achieved_per_s,
            fairness: fairness.and_then(|fairness| location::median(&fairness)),
        }
    }
}

/// The model of a sweep, points in any order. None without a point of one thread, with fewer than three
/// different numbers of threads, or with a rate that is not above zero.
#[must_use]
pub fn model(points: &[Point]) -> Option<ScalingModel> {
    let mut points = points.to_vec();
    points.sort_by_key(|point| point.threads);
    let steps = steps(&points);
    let single = points
        .first()
        .filter(|point| point.threads == 1)?
        .rate_per_s;
    let law = usl::fit(&steps)?;
    let scaled: Option<Vec<ScalingPoint>> = points
        .iter()
        .zip(&steps)
        .map(|(point, step)| {
            let scaled = scaling(single, *step)?;
            Some(ScalingPoint {
                threads: point.threads,
                rate_per_s: point.rate_per_s,
                speed_up: scaled.speed_up,
                efficiency: scaled.efficiency,
                serial_fraction: scaled.karp_flatt,
                fairness: point.fairness,
            })
        })
        .collect();
    Some(ScalingModel {
        points: scaled?,
        lambda: law.lambda,
        sigma: law.sigma,
        kappa: law.kappa,
        best_threads: law.peak(),
    })
}

fn steps(points: &[Point]) -> Vec<Step> {
    let step = |point: &Point| Step {
        workers: point.threads,
        throughput: point.rate_per_s,
    };
    points.iter().map(step).collect()
}

/// Shares below this are called unfair.
const FAIR: f64 = 0.9;

/// What has to be said of a curve: where throughput fell, and where threads got very unequal shares.
#[must_use]
pub fn remarks(model: &ScalingModel) -> Vec<Remark> {
    let remark = |text: String, remedy: &str| Remark {
        text,
        remedy: Some(remedy.to_owned()),
        ..Remark::default()
    };
    let mut remarks = Vec::new();
    let steps: Vec<Step> = model
        .points
        .iter()
        .map(|point| Step {
            workers: point.threads,
            throughput: point.rate_per_s,
        })
        .collect();
    if let Some(threads) = decline(&steps) {
        let best = model
            .points
            .iter()
            .max_by(|one, two| one.rate_per_s.total_cmp(&two.rate_per_s));
        let best = best.map_or(0, |point| point.threads);
        let text = format!("throughput falls from {threads} threads on; the most was at {best}");
        remarks.push(remark(text, "use no more threads than the best point has"));
    }
    for point in &model.points {
        if let Some(fairness) = point.fairness.filter(|fairness| *fairness < FAIR) {
            let text = format!(
                "{} threads shared unevenly: fairness {fairness:.2}",
                point.threads
            );
            remarks.push(remark(text, "see which threads share a core or a lock"));
        }
    }
    remarks
}
