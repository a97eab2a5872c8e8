//! Student's t distribution and the regularised incomplete beta function behind it.
//!
//! Sources: the continued fraction DLMF 8.17.22 evaluated with Lentz's method as modified by
//! Thompson & Barnett (1986); the logarithm of the gamma function by Lanczos' approximation
//! (SIAM J. Numer. Anal. 1, 1964) with g = 7 and nine terms. Degrees of freedom are real numbers,
//! because Welch and Brunner & Munzel produce such.

use super::normal;

/// Above this many degrees of freedom t and normal agree to more digits than the fraction yields.
const NORMAL_FROM: f64 = 1e10;

/// Coefficients for g = 7, n = 9.
const LANCZOS: [f64; 9] = [
    0.999_999_999_999_809_9,
    676.520_368_121_885_1,
    -1_259.139_216_722_402_8,
    771.323_428_777_653_1,
    -176.615_029_162_140_6,
    12.507_343_278_686_905,
    -0.138_571_095_265_720_12,
    9.984_369_578_019_572e-6,
    1.505_632_735_149_311_6e-7,
];

/// ln Γ(x) for x > 0; not a number otherwise.
#[must_use]
pub fn ln_gamma(x: f64) -> f64 {
    if x.is_nan() || x <= 0.0 {
        return f64::NAN;
    }
    if x < 0.5 {
        // Reflection keeps the approximation in its good half plane.
        let sine = (std::f64::consts::PI * x).sin();
        return (std::f64::consts::PI / sine).ln() - ln_gamma(1.0 - x);
    }
    let shifted = x - 1.0;
    let base = shifted + 7.5;
    let mut sum = LANCZOS[0];
    let mut position = 0.0;
    for coefficient in &LANCZOS[1..] {
        position += 1.0;
        sum += coefficient / (shifted + position);
    }
    0.5 * std::f64::consts::TAU.ln() + (shifted + 0.5) * base.ln() - base + sum.ln()
}

/// I_x(a, b), the regularised incomplete beta function, for a, b > 0 and 0 ≤ x ≤ 1.
#[must_use]
pub fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if !(a > 0.0 && b > 0.0 && (0.0..=1.0).contains(&x)) {
        return f64::NAN;
    }
    beta_split(a, b, x, 1.0 - x)
}

/// The same with 1 − x given by whoever knows it without cancellation.
fn beta_split(a: f64, b: f64, x: f64, complement: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if complement <= 0.0 {
        return 1.0;
    }
    let ln_front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * complement.ln();
    // The fraction converges fast left of the mean only; right of it the mirror is used.
    if x < (a + 1.0) / (a + b + 2.0) {
        ln_front.exp() * beta_fraction(a, b, x) / a
    } else {
        1.0 - ln_front.exp() * beta_fraction(b, a, complement) / b
    }
}

fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut result = d;
    for step in 1..100_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away(1.0 + even * d);
        c = away(1.0 + even / c);
        result *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away(1.0 + odd * d);
        c = away(1.0 + odd / c);
        let factor = d * c;
        result *= factor;
        if (factor - 1.0).abs() < 1e-16 {
            break;
        }
    }
    result
}

/// The density of t with `df` degrees of freedom.
fn density(t: f64, df: f64) -> f64 {
    let ln_scale = ln_gamma(f64::midpoint(df, 1.0))
        - ln_gamma(df / 2.0)
        - 0.5 * (df * std::f64::consts::PI).ln();
    (ln_scale - f64::midpoint(df, 1.0) * (t * t / df).ln_1p()).exp()
}

/// P(T > t) with `df` > 0 degrees of freedom; not a number for other `df`.
#[must_use]
pub fn upper_tail(t: f64, df: f64) -> f64 {
    if t.is_nan() || df.is_nan() || df <= 0.0 {
        return f64::NAN;
    }
    if df > NORMAL_FROM {
        return normal::upper_tail(t);
    }
    if t < 0.0 {
        return 1.0 - upper_tail(-t, df);
    }
    if t.is_infinite() {
        return 0.0;
    }
    let square = t * t;
    let (inner, outer) = if square.is_infinite() {
        (1.0, df / t / t)
    } else {
        (square / (df + square), df / (df + square))
    };
    0.5 * beta_split(df / 2.0, 0.5, outer, inner)
}

/// P(T ≤ t) with `df` > 0 degrees of freedom; not a number for other `df`.
#[must_use]
pub fn cumulative(t: f64, df: f64) -> f64 {
    upper_tail(-t, df)
}

/// The two-sided p of `t`: P(|T| ≥ |t|).
#[must_use]
pub fn two_sided_p(t: f64, df: f64) -> f64 {
    (2.0 * upper_tail(t.abs(), df)).min(1.0)
}

/// The t with P(T ≤ t) = `p` for real `df` ≥ 1. `None` outside 0 < p < 1 or for smaller `df`.
#[must_use]
pub fn quantile(p: f64, df: f64) -> Option<f64> {
    if !(p > 0.0 && p < 1.0 && df >= 1.0) {
        return None;
    }
    if df > NORMAL_FROM {
        return normal::quantile(p);
    }
    if p < 0.5 {
        return Some(-tail_quantile(p, df));
    }
    Some(tail_quantile(1.0 - p, df))
}

/// Newton's method inside a bracket that only shrinks; a step that leaves it becomes a halving.
fn tail_quantile(tail: f64, df: f64) -> f64 {
    if tail >= 0.5 {
        return 0.0;
    }
    let mut low = 0.0;
    let mut high = 1.0;
    while upper_tail(high, df) > tail {
        low = high;
        high *= 2.0;
    }
    let mut t = f64::midpoint(low, high);
    for _ in 0..200 {
        let error = upper_tail(t, df) - tail;
        if error > 0.0 {
            low = t;
        } else {
            high = t;
        }
        let newton = t + error / density(t, df);
        let next = if newton > low && newton < high {
            newton
        } else {
            f64::midpoint(low, high)
        };
        let moved = (next - t).abs();
        t = next;
        if moved <= 2.0 * f64::EPSILON * t.abs() {
            break;
        }
    }
    t
}

/// The half-width factor of a two-sided t interval. `None` unless 0 < level < 1 and `df` ≥ 1.
#[must_use]
pub fn two_sided(level: f64, df: f64) -> Option<f64> {
    if !(level > 0.0 && level < 1.0) {
        return None;
    }
    quantile(0.5 + level / 2.0, df)
}
