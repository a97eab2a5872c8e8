//! The normal distribution.
//!
//! Cumulative probability: the series and the continued fraction of Abramowitz & Stegun 26.2.11
//! and 26.2.14 (the choice Marsaglia discusses in "Evaluating the normal distribution", J. Stat.
//! Software 11, 2004). Quantile: the start of A&S 26.2.23, then Halley steps on the tail
//! probability until the change vanishes. Absolute error below 1e-12 in the body, relative error
//! below 1e-10 in the tails.

/// 1/√(2π).
const DENSITY_AT_ZERO: f64 = 0.398_942_280_401_432_7;
/// Where the series hands over to the continued fraction.
const HAND_OVER: f64 = 3.0;
/// Beyond this the tail is smaller than the smallest `f64`.
const FARTHEST: f64 = 38.6;

/// The density at `x`.
#[must_use]
pub fn density(x: f64) -> f64 {
    DENSITY_AT_ZERO * (-0.5 * x * x).exp()
}

/// P(Z ≤ x).
#[must_use]
pub fn cumulative(x: f64) -> f64 {
    upper_tail(-x)
}

/// P(Z > x), accurate also where it is tiny.
#[must_use]
pub fn upper_tail(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x < -HAND_OVER {
        return 1.0 - far_tail(-x);
    }
    if x > HAND_OVER {
        return far_tail(x);
    }
    0.5 - density(x) * odd_series(x)
}

/// x + x³/3 + x⁵/(3·5) + ..., all terms of one sign, so nothing cancels.
fn odd_series(x: f64) -> f64 {
    let square = x * x;
    let mut term = x;
    let mut sum = x;
    let mut odd = 1.0;
    while term.abs() > f64::EPSILON * 1e-2 * sum.abs() {
        odd += 2.0;
        term *= square / odd;
        sum += term;
    }
    sum
}

/// The tail right of `x` > 3: density over x + 1/(x + 2/(x + 3/(x + ...))), from the inside out.
fn far_tail(x: f64) -> f64 {
    if x > FARTHEST {
        return 0.0;
    }
    let mut fraction = x;
    for depth in (1..=120).rev() {
        fraction = x + f64::from(depth) / fraction;
    }
    density(x) / fraction
}

/// The x with P(Z ≤ x) = `p`. `None` unless 0 < p < 1.
#[must_use]
pub fn quantile(p: f64) -> Option<f64> {
    if !(p > 0.0 && p < 1.0) {
        return None;
    }
    if p < 0.5 {
        return Some(-tail_quantile(p));
    }
    Some(tail_quantile(1.0 - p))
}

/// The x ≥ 0 with P(Z > x) = `tail`, for 0 < tail ≤ 1/2.
fn tail_quantile(tail: f64) -> f64 {
    let root = (-2.0 * tail.ln()).sqrt();
    let numerator = 2.515_517 + root * (0.802_853 + root * 0.010_328);
    let denominator = 1.0 + root * (1.432_788 + root * (0.189_269 + root * 0.001_308));
    let mut x = root - numerator / denominator;
    for _ in 0..20 {
        let slope = density(x);
        if slope <= 0.0 {
            break;
        }
        let newton = (upper_tail(x) - tail) / slope;
        let step = newton / (1.0 - 0.5 * x * newton).max(0.5);
        x += step;
        if step.abs() <= 4.0 * f64::EPSILON * x.abs() {
            break;
        }
    }
    x
}

/// The half-width factor of a two-sided interval: 1.96 for `level` 0.95. `None` unless
/// 0 < level < 1.
#[must_use]
pub fn two_sided(level: f64) -> Option<f64> {
    if !(level > 0.0 && level < 1.0) {
        return None;
    }
    quantile(0.5 + level / 2.0)
}
