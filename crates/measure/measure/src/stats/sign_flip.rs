//! The sign-flip permutation test of paired differences on their mean.
//!
//! Source: Fisher, "The Design of Experiments" (1935), § 21; the Monte Carlo p-value counts the
//! observed arrangement as one of the drawn (Phipson & Smyth, Stat. Appl. Genet. Mol. Biol. 9,
//! 2010), so it is never zero. It assumes only that under the null each difference could as well
//! have had the other sign.

use super::location::{mean, usable};
use super::random::Generator;
use super::ranks::{Method, Significance};

/// Up to this many differences all 2ⁿ choices of signs are counted.
pub const EXACT_UP_TO: usize = 16;
/// Random choices of signs drawn beyond that.
pub const DRAWS: u32 = 20_000;

/// Tests whether `differences` are symmetric about zero. The statistic is their mean. `seed` is
/// used above sixteen differences only. `None` when empty or not finite.
#[must_use]
pub fn test(differences: &[f64], seed: u64) -> Option<Significance> {
    if !usable(differences) {
        return None;
    }
    let statistic = mean(differences)?;
    let magnitude: f64 = differences.iter().map(|d| d.abs()).sum();
    let observed: f64 = differences.iter().sum();
    // Sums of the same numbers in another order differ by rounding and must count as equal.
    let reach = observed.abs() - 1e-12 * magnitude;
    let (p, method) = if differences.len() <= EXACT_UP_TO {
        (exact(differences, reach), Method::Exact)
    } else {
        (drawn(differences, reach, seed), Method::MonteCarlo)
    };
    Some(Significance {
        statistic,
        p,
        method,
    })
}

fn signed_sum(differences: &[f64], mut signs: u64) -> f64 {
    let mut sum = 0.0;
    for difference in differences {
        sum += if signs & 1 == 0 {
            *difference
        } else {
            -difference
        };
        signs >>= 1;
    }
    sum
}

fn exact(differences: &[f64], reach: f64) -> f64 {
    let choices = 1_u32 << differences.len();
    let hits = (0..choices)
        .filter(|signs| signed_sum(differences, u64::from(*signs)).abs() >= reach)
        .count();
    hits as f64 / f64::from(choices)
}

fn drawn(differences: &[f64], reach: f64, seed: u64) -> f64 {
    let mut generator = Generator::new(seed);
    let mut hits = 1_u32;
    for _ in 0..DRAWS {
        let mut sum = 0.0;
        for word in differences.chunks(64) {
            sum += signed_sum(word, generator.next_u64());
        }
        if sum.abs() >= reach {
            hits += 1;
        }
    }
    f64::from(hits) / f64::from(DRAWS + 1)
}
