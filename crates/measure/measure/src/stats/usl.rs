//! The Universal Scalability Law, X(N) = λN / (1 + σ(N−1) + κN(N−1)), fitted to a sweep.
//!
//! Source: Gunther, "Guerrilla Capacity Planning" (2007): σ is the share of work that
//! is serial, κ the cost of keeping every pair of workers coherent; κ > 0 makes the curve fall
//! beyond N* = √((1−σ)/κ). The fit minimises the squares of the throughput residuals under σ, κ ≥ 0
//! by a projected Levenberg–Marquardt iteration (Kanzow, Yamashita & Fukushima, 2004), started from
//! the linear fit of N/X(N).
//!
//! It describes the range that was measured. It does not promise anything beyond it.

use super::scaling::Step;

/// A fitted law.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "plain data: the law's three coefficients and its fit"
)]
pub struct Usl {
    /// λ, operations per second of one worker.
    pub lambda: f64,
    /// σ, contention, at least 0.
    pub sigma: f64,
    /// κ, coherency cost, at least 0.
    pub kappa: f64,
    /// The share of the throughput's variance that the law explains, at most 1.
    pub r_squared: f64,
}

impl Usl {
    /// The throughput with `workers`, in the unit of λ.
    #[must_use]
    pub fn throughput(&self, workers: f64) -> f64 {
        model(&[self.lambda, self.sigma, self.kappa], workers)
    }

    /// N*, where throughput is largest. `None` when κ is zero and the curve never falls; 1 at the
    /// least.
    #[must_use]
    pub fn peak(&self) -> Option<f64> {
        (self.kappa > 0.0).then(|| ((1.0 - self.sigma).max(0.0) / self.kappa).sqrt().max(1.0))
    }
}

type Coefficients = [f64; 3];
type Matrix = [[f64; 3]; 3];

fn model(at: &Coefficients, n: f64) -> f64 {
    at[0] * n / (1.0 + at[1] * (n - 1.0) + at[2] * n * (n - 1.0))
}

fn squares(at: &Coefficients, points: &[(f64, f64)]) -> f64 {
    points
        .iter()
        .map(|(n, x)| (x - model(at, *n)).powi(2))
        .sum()
}

/// Fits the law to a sweep. `None` with fewer than three different numbers of workers or a
/// throughput that is not positive and finite.
#[must_use]
pub fn fit(steps: &[Step]) -> Option<Usl> {
    let mut different: Vec<u32> = steps.iter().map(|step| step.workers).collect();
    different.sort_unstable();
    different.dedup();
    let sound =
        |step: &Step| step.workers > 0 && step.throughput.is_finite() && step.throughput > 0.0;
    if different.len() < 3 || !steps.iter().all(sound) {
        return None;
    }
    // In units of the mean throughput all three coefficients are of ordinary size.
    let unit = steps
        .iter()
        .map(|step| step.throughput / steps.len() as f64)
        .sum::<f64>();
    let points: Vec<(f64, f64)> = steps
        .iter()
        .map(|step| (f64::from(step.workers), step.throughput / unit))
        .collect();
    let found = refine(start(&points)?, &points);
    let spread: f64 = points.iter().map(|(_, x)| (x - 1.0).powi(2)).sum();
    let left = squares(&found, &points);
    let r_squared = if spread > 0.0 {
        1.0 - left / spread
    } else {
        1.0
    };
    Some(Usl {
        lambda: found[0] * unit,
        sigma: found[1],
        kappa: found[2],
        r_squared,
    })
}

/// N/X(N) = (1 + σ(N−1) + κN(N−1))/λ is linear in 1/λ, σ/λ and κ/λ.
fn start(points: &[(f64, f64)]) -> Option<Coefficients> {
    let mut normal = [[0.0; 3]; 3];
    let mut right = [0.0; 3];
    for (n, x) in points {
        let row = [1.0, n - 1.0, n * (n - 1.0)];
        for i in 0..3 {
            right[i] += row[i] * n / x;
            for j in 0..3 {
                normal[i][j] += row[i] * row[j];
            }
        }
    }
    let [inverse, serial, coherent] = solve(normal, right)?;
    if inverse > 0.0 {
        return Some([
            inverse.recip(),
            (serial / inverse).max(0.0),
            (coherent / inverse).max(0.0),
        ]);
    }
    let first = points.iter().map(|(n, x)| x / n).fold(0.0, f64::max);
    Some([first, 0.0, 0.0])
}

fn refine(mut at: Coefficients, points: &[(f64, f64)]) -> Coefficients {
    let mut best = squares(&at, points);
    let mut damping = 1e-3;
    for _ in 0..500 {
        let Some(candidate) = step(&at, points, damping) else {
            break;
        };
        let reached = squares(&candidate, points);
        if reached < best {
            let gained = best - reached;
            (at, best) = (candidate, reached);
            damping = (damping / 10.0).max(1e-15);
            if gained <= 1e-16 * best {
                break;
            }
        } else {
            damping *= 10.0;
            if damping > 1e12 {
                break;
            }
        }
    }
    at
}

/// One damped Gauss–Newton step, projected on σ, κ ≥ 0. A coefficient at its bound whose gradient
/// points outwards is held there, otherwise it would distort the step of the others.
fn step(at: &Coefficients, points: &[(f64, f64)], damping: f64) -> Option<Coefficients> {
    let mut normal = [[0.0; 3]; 3];
    let mut right = [0.0; 3];
    for (n, x) in points {
        let value = model(at, *n);
        let below = value / (at[0] * n);
        let row = [
            value / at[0],
            -value * below * (n - 1.0),
            -value * below * n * (n - 1.0),
        ];
        for i in 0..3 {
            right[i] += row[i] * (x - value);
            for j in 0..3 {
                normal[i][j] += row[i] * row[j];
            }
        }
    }
    for i in 0..3 {
        if i > 0 && at[i] <= 0.0 && right[i] < 0.0 {
            normal[i] = [0.0; 3];
            for row in &mut normal {
                row[i] = 0.0;
            }
            normal[i][i] = 1.0;
            right[i] = 0.0;
        }
        normal[i][i] *= 1.0 + damping;
    }
    let change = solve(normal, right)?;
    let lambda = at[0] + change[0];
    (lambda > 0.0).then_some([
        lambda,
        (at[1] + change[1]).max(0.0),
        (at[2] + change[2]).max(0.0),
    ])
}

/// Gaussian elimination with the largest pivot. `None` when singular.
fn solve(mut left: Matrix, mut right: Coefficients) -> Option<Coefficients> {
    for column in 0..3 {
        let pivot =
            (column..3).max_by(|a, b| left[*a][column].abs().total_cmp(&left[*b][column].abs()))?;
        if left[pivot][column].is_nan() || left[pivot][column] == 0.0 {
            return None;
        }
        left.swap(column, pivot);
        right.swap(column, pivot);
        for row in column + 1..3 {
            let factor = left[row][column] / left[column][column];
            let above = left[column];
            for (entry, from) in left[row].iter_mut().zip(above).skip(column) {
                *entry -= factor * from;
            }
            right[row] -= factor * right[column];
        }
    }
    let mut solution = [0.0; 3];
    for row in (0..3).rev() {
        let known: f64 = (row + 1..3)
            .map(|place| left[row][place] * solution[place])
            .sum();
        solution[row] = (right[row] - known) / left[row][row];
    }
    Some(solution)
}
