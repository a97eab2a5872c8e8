//! Hodges–Lehmann estimates of a centre and of a shift, with intervals from the matching rank
//! tests.
//!
//! Sources: Hodges & Lehmann (Ann. Math. Stat. 34, 1963); Hollander, Wolfe & Chicken,
//! "Nonparametric Statistical Methods" (3rd ed.), 3.2–3.3 and 4.2–4.3. The interval's ends are
//! order statistics of the Walsh averages (or of the pairwise differences); how many are cut on
//! each side comes from the exact null distribution for small samples, otherwise from its normal
//! approximation.
//!
//! The averages are never written down: the k-th smallest is found by bisection over the ordered
//! bit patterns of `f64`, each step counting in linear time on the sorted values. Ten thousand
//! values therefore cost no more memory than themselves.

use super::interval::Interval;
use super::location::{sorted, usable};
use super::ranks::{cut, signed_sums, subset_sums};
use super::{mann_whitney, normal, signed_rank};

/// The pseudo-median of `values`: the median of the averages of all pairs, each value paired with
/// itself too. With the interval whose attained level is in the result: below six values 95 %
/// cannot be reached, and the level says what was. `None` when empty or not finite.
#[must_use]
pub fn centre(values: &[f64], level: f64) -> Option<Interval> {
    if !(usable(values) && level > 0.0 && level < 1.0) {
        return None;
    }
    let ordered = sorted(values);
    let n = ordered.len();
    let pairs = n * (n + 1) / 2;
    let (k, tail) = if n <= signed_rank::EXACT_UP_TO {
        let ranks: Vec<usize> = (1..=n).collect();
        cut(&signed_sums(&ranks), (1.0 - level) / 2.0)
    } else {
        let size = n as f64;
        let deviation = (size * (size + 1.0) * (2.0 * size + 1.0) / 24.0).sqrt();
        approximate_cut(pairs as f64 / 2.0, deviation, level)?
    };
    let below = |bound: f64| averages_up_to(&ordered, bound);
    Some(Interval {
        estimate: middle(pairs, below),
        lo: kth(k, below),
        hi: kth(pairs + 1 - k, below),
        level: 1.0 - 2.0 * tail,
    })
}

/// How far `second` lies above `first`: the median of all differences second − first, with its
/// interval. `None` when a side is empty or not finite.
#[must_use]
pub fn shift(first: &[f64], second: &[f64], level: f64) -> Option<Interval> {
    if !(usable(first) && usable(second) && level > 0.0 && level < 1.0) {
        return None;
    }
    let (low, high) = (sorted(first), sorted(second));
    let (n, m) = (low.len(), high.len());
    let pairs = n * m;
    let (k, tail) = if n.max(m) <= mann_whitney::EXACT_UP_TO {
        let ranks: Vec<usize> = (1..=n + m).collect();
        let counts = subset_sums(&ranks, n);
        // The smallest rank sum stands for U = 0.
        cut(&counts[n * (n + 1) / 2..], (1.0 - level) / 2.0)
    } else {
        let all = (n + m + 1) as f64;
        approximate_cut(
            pairs as f64 / 2.0,
            (pairs as f64 * all / 12.0).sqrt(),
            level,
        )?
    };
    let below = |bound: f64| differences_up_to(&low, &high, bound);
    Some(Interval {
        estimate: middle(pairs, below),
        lo: kth(k, below),
        hi: kth(pairs + 1 - k, below),
        level: 1.0 - 2.0 * tail,
    })
}

fn approximate_cut(centre: f64, deviation: f64, level: f64) -> Option<(usize, f64)> {
    let cut = (centre - normal::two_sided(level)? * deviation)
        .floor()
        .max(1.0);
    Some((super::quantile::whole(cut), (1.0 - level) / 2.0))
}

/// How many Walsh averages of sorted values are at most `bound`.
fn averages_up_to(ordered: &[f64], bound: f64) -> usize {
    let mut partners = ordered.len();
    let mut count = 0;
    for (place, value) in ordered.iter().enumerate() {
        while partners > 0 && f64::midpoint(*value, ordered[partners - 1]) > bound {
            partners -= 1;
        }
        if partners <= place {
            break;
        }
        count += partners - place;
    }
    count
}

/// How many differences high − low of sorted values are at most `bound`.
fn differences_up_to(low: &[f64], high: &[f64], bound: f64) -> usize {
    let mut partners = 0;
    let mut count = 0;
    for value in low {
        while partners < high.len() && high[partners] - value <= bound {
            partners += 1;
        }
        count += partners;
    }
    count
}

fn middle(pairs: usize, below: impl Fn(f64) -> usize + Copy) -> f64 {
    if pairs % 2 == 1 {
        return kth(pairs.div_ceil(2), below);
    }
    f64::midpoint(kth(pairs / 2, below), kth(pairs / 2 + 1, below))
}

/// The smallest `f64` with at least `k` items at or below it, which is the k-th smallest item.
fn kth(k: usize, below: impl Fn(f64) -> usize) -> f64 {
    let (mut low, mut high) = (ordinal(f64::MIN), ordinal(f64::MAX));
    while low < high {
        let probe = low + (high - low) / 2;
        if below(from_ordinal(probe)) >= k {
            high = probe;
        } else {
            low = probe + 1;
        }
    }
    // Adding zero turns a negative zero into the ordinary one.
    from_ordinal(low) + 0.0
}

/// A whole number that orders like the value: the sign bit flipped, negative values mirrored.
fn ordinal(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 {
        !bits
    } else {
        bits | 1 << 63
    }
}

fn from_ordinal(ordinal: u64) -> f64 {
    f64::from_bits(if ordinal >> 63 == 1 {
        ordinal & !(1 << 63)
    } else {
        !ordinal
    })
}
