//! Trends: Mann–Kendall, least squares with its t test, Theil–Sen.
//!
//! Sources: Mann (Econometrica 13, 1945) and Kendall, "Rank Correlation Methods" (1975), with the
//! exact distribution of S from the count of permutations by inversions; Draper & Smith, "Applied
//! Regression Analysis", 1.4; Theil (1950) and Sen (J. Am. Stat. Assoc. 63, 1968).
//!
//! The tests assume independent errors. On strongly autocorrelated series they reject too often;
//! the autocorrelation is to be printed beside them.

use super::location::{mean, median_in_place, usable};
use super::ranks::Method;
use super::{normal, student};

/// Up to this many values without ties the distribution of S is exact.
pub const EXACT_UP_TO: usize = 30;
/// Longer series are averaged in equal stretches to at most this many points before the slopes of
/// all pairs are taken.
pub const THEIL_SEN_POINTS: usize = 1_000;

/// The Mann–Kendall test of a monotone trend.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "plain data: a test has these four"
)]
pub struct MannKendall {
    /// Rising pairs less falling pairs.
    pub s: f64,
    /// S over the number of pairs not tied (Kendall's tau-b with time).
    pub tau: f64,
    /// The two-sided p-value.
    pub p: f64,
    /// How the p-value was found.
    pub method: Method,
}

/// Tests a series for a monotone trend; time grows with the square of its length. `None` below four
/// values or when one is not finite.
#[must_use]
pub fn mann_kendall(values: &[f64]) -> Option<MannKendall> {
    if values.len() < 4 || !usable(values) {
        return None;
    }
    let mut s = 0.0;
    for (place, earlier) in values.iter().enumerate() {
        let later = &values[place + 1..];
        let rising = later.iter().filter(|value| *value > earlier).count();
        let falling = later.iter().filter(|value| *value < earlier).count();
        s += rising as f64 - falling as f64;
    }
    let n = values.len() as f64;
    let pairs = n * (n - 1.0) / 2.0;
    let ties = Ties::of(values);
    let tau = if ties.pairs < pairs {
        s / (pairs * (pairs - ties.pairs)).sqrt()
    } else {
        0.0
    };
    let (p, method) = if ties.pairs == 0.0 && values.len() <= EXACT_UP_TO {
        (exact_p(s.abs(), values.len()), Method::Exact)
    } else {
        let variance = (n * (n - 1.0) * (2.0 * n + 5.0) - ties.variance) / 18.0;
        (approximate_p(s, variance), Method::Approximate)
    };
    Some(MannKendall { s, tau, p, method })
}

/// What tied values take from the number of pairs and from eighteen times the variance.
struct Ties {
    pairs: f64,
    variance: f64,
}

impl Ties {
    fn of(values: &[f64]) -> Self {
        let ordered = super::location::sorted(values);
        let mut ties = Self {
            pairs: 0.0,
            variance: 0.0,
        };
        for group in ordered.chunk_by(|left, right| left == right) {
            let t = group.len() as f64;
            ties.pairs += t * (t - 1.0) / 2.0;
            ties.variance += t * (t - 1.0) * (2.0 * t + 5.0);
        }
        ties
    }
}

fn approximate_p(s: f64, variance: f64) -> f64 {
    if variance <= 0.0 {
        return 1.0;
    }
    (2.0 * normal::upper_tail((s.abs() - 1.0).max(0.0) / variance.sqrt())).min(1.0)
}

/// P(|S| ≥ s) over all orders of n values: the number of inversions is a sum of independent
/// uniforms on 0..=i.
fn exact_p(s: f64, n: usize) -> f64 {
    let mut chances = vec![1.0];
    for i in 1..n {
        let mut next = vec![0.0; chances.len() + i];
        for (inversions, chance) in chances.iter().enumerate() {
            for slot in &mut next[inversions..=inversions + i] {
                *slot += chance / (i + 1) as f64;
            }
        }
        chances = next;
    }
    let pairs = (n * (n - 1) / 2) as f64;
    let inverted = super::quantile::whole((pairs - s) / 2.0);
    let tail: f64 = chances.iter().take(inverted + 1).sum();
    (2.0 * tail).min(1.0)
}

/// A line through points.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "plain data: a line has these two"
)]
pub struct Line {
    /// Change of y per unit of x.
    pub slope: f64,
    /// y at x = 0.
    pub intercept: f64,
}

impl Line {
    /// y at `x`.
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        self.slope.mul_add(x, self.intercept)
    }
}

/// A least-squares line with the test of its slope.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "plain data: a line and its test")]
pub struct SlopeTest {
    /// The fitted line.
    pub line: Line,
    /// Student's t of the slope.
    pub t: f64,
    /// One-sided p of "the slope is not above zero".
    pub p_rising: f64,
}

/// The least-squares line through points (x, y) and whether it rises. `None` below three points,
/// when all x are equal, or when a number is not finite.
#[must_use]
pub fn least_squares(points: &[(f64, f64)]) -> Option<SlopeTest> {
    if points.len() < 3 {
        return None;
    }
    let (xs, ys): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    let (x_mean, y_mean) = (mean(&xs)?, mean(&ys)?);
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in points {
        let (from_x, from_y) = (x - x_mean, y - y_mean);
        xx += from_x * from_x;
        xy += from_x * from_y;
        yy += from_y * from_y;
    }
    if xx <= 0.0 {
        return None;
    }
    let slope = xy / xx;
    let line = Line {
        slope,
        intercept: y_mean - slope * x_mean,
    };
    let residual: f64 = points.iter().map(|(x, y)| (y - line.at(*x)).powi(2)).sum();
    let df = points.len() as f64 - 2.0;
    // What is left of an exact line, a flat one included, is rounding.
    let magnitude = yy.max(y_mean * y_mean * points.len() as f64);
    let t = if slope * slope * xx <= 1e-26 * magnitude {
        0.0
    } else if residual <= 1e-26 * magnitude {
        f64::INFINITY.copysign(slope)
    } else {
        slope / (residual / df / xx).sqrt()
    };
    Some(SlopeTest {
        line,
        t,
        p_rising: student::upper_tail(t, df),
    })
}

/// The Theil–Sen line: the median slope of all pairs with different x, and the median of y less
/// slope times the median of x. Resists up to 29 % of wild points. Above a thousand points,
/// stretches of equal length are averaged first. `None` below two points, when all x are equal, or
/// when a number is not finite.
#[must_use]
pub fn theil_sen(points: &[(f64, f64)]) -> Option<Line> {
    let stretch = points.len().div_ceil(THEIL_SEN_POINTS).max(1);
    let mut xs = Vec::new();
    let mut ys = Vec::new();
    for part in points.chunks(stretch) {
        let (x, y): (Vec<f64>, Vec<f64>) = part.iter().copied().unzip();
        xs.push(mean(&x)?);
        ys.push(mean(&y)?);
    }
    let mut slopes = Vec::with_capacity(xs.len() * xs.len() / 2);
    for left in 0..xs.len() {
        for right in left + 1..xs.len() {
            if xs[left] != xs[right] {
                slopes.push((ys[right] - ys[left]) / (xs[right] - xs[left]));
            }
        }
    }
    if slopes.is_empty() {
        return None;
    }
    let slope = median_in_place(&mut slopes);
    let intercept = median_in_place(&mut ys) - slope * median_in_place(&mut xs);
    Some(Line { slope, intercept })
}
