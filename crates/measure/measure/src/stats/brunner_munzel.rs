//! The Brunner–Munzel test: whether one group tends to larger values, when the spreads may differ.
//!
//! Sources: Brunner & Munzel (Biometrical Journal 42, 2000) for the statistic and its t
//! approximation; Neubert & Brunner (Comput. Stat. Data Anal. 51, 2007) for permuting the
//! studentised statistic, which stays valid for small groups of unequal spread, where the t
//! approximation rejects too often.

use super::location::{usable, variance};
use super::random::Generator;
use super::ranks::{Method, Significance};
use super::student;

/// Up to this many arrangements all are counted (eight against eight has 12,870).
const EXACT_ARRANGEMENTS: f64 = 20_000.0;
/// From this many values a side the t approximation is used.
const LARGE_GROUP: usize = 15;
/// Random arrangements drawn in between.
const DRAWS: u32 = 10_000;

/// The pooled values as runs of tied values, so that an arrangement is judged in one walk.
struct Pooled {
    /// For each position in ascending order, whether it belongs to the first group.
    labels: Vec<bool>,
    /// The sizes of the groups of tied values, in ascending order.
    ties: Vec<usize>,
}

/// The studentised statistic and its degrees of freedom.
struct Studentised {
    statistic: f64,
    df: f64,
}

/// Tests whether P(first < second) + P(first = second)/2 is one half. The statistic is positive
/// when `second` tends to larger values, infinite when the groups do not overlap. `seed` is used
/// only when there are too many arrangements to count. `None` below two values a side or when one
/// is not finite.
#[must_use]
pub fn test(first: &[f64], second: &[f64], seed: u64) -> Option<Significance> {
    if first.len().min(second.len()) < 2 || !usable(first) || !usable(second) {
        return None;
    }
    let mut pooled = pool(first, second);
    let observed = pooled.judge(&pooled.labels)?;
    let (p, method) = if arrangements(first.len(), second.len()) <= EXACT_ARRANGEMENTS {
        (pooled.exact(observed.statistic, first.len()), Method::Exact)
    } else if first.len().min(second.len()) < LARGE_GROUP {
        (pooled.drawn(observed.statistic, seed), Method::MonteCarlo)
    } else {
        (approximate(&observed), Method::Approximate)
    };
    Some(Significance {
        statistic: observed.statistic,
        p,
        method,
    })
}

fn approximate(observed: &Studentised) -> f64 {
    if observed.statistic.is_infinite() {
        return 0.0;
    }
    student::two_sided_p(observed.statistic, observed.df)
}

fn arrangements(first: usize, second: usize) -> f64 {
    let mut product = 1.0;
    for taken in 1..=first.min(second) {
        product *= (first.max(second) + taken) as f64 / taken as f64;
    }
    product
}

fn pool(first: &[f64], second: &[f64]) -> Pooled {
    let mut all: Vec<(f64, bool)> = first.iter().map(|value| (*value, true)).collect();
    all.extend(second.iter().map(|value| (*value, false)));
    all.sort_unstable_by(|left, right| left.0.total_cmp(&right.0));
    Pooled {
        labels: all.iter().map(|(_, label)| *label).collect(),
        ties: all
            .chunk_by(|left, right| left.0 == right.0)
            .map(<[_]>::len)
            .collect(),
    }
}

impl Pooled {
    /// The statistic of one arrangement of labels. A value's placement is the number of values of
    /// the other group below it, ties counting half.
    fn judge(&self, labels: &[bool]) -> Option<Studentised> {
        let (mut of_first, mut of_second) = (Vec::new(), Vec::new());
        let mut start = 0;
        for &size in &self.ties {
            let group = &labels[start..start + size];
            let firsts = group.iter().filter(|label| **label).count();
            let seconds = size - firsts;
            let first_place = of_second.len() as f64 + seconds as f64 / 2.0;
            let second_place = of_first.len() as f64 + firsts as f64 / 2.0;
            of_first.resize(of_first.len() + firsts, first_place);
            of_second.resize(of_second.len() + seconds, second_place);
            start += size;
        }
        studentise(&of_first, &of_second)
    }

    fn exact(&self, observed: f64, size: usize) -> f64 {
        let count = self.labels.len();
        let mut labels = vec![false; count];
        let mut chosen: Vec<usize> = (0..size).collect();
        let mut tally = Tally::new(observed);
        loop {
            labels.fill(false);
            for &place in &chosen {
                labels[place] = true;
            }
            tally.add(self.judge(&labels));
            if !advance(&mut chosen, count) {
                return tally.p();
            }
        }
    }

    fn drawn(&mut self, observed: f64, seed: u64) -> f64 {
        let mut generator = Generator::new(seed);
        let mut labels = self.labels.clone();
        let mut tally = Tally::new(observed);
        tally.add(self.judge(&labels));
        for _ in 0..DRAWS {
            generator.shuffle(&mut labels);
            tally.add(self.judge(&labels));
        }
        tally.p()
    }
}

fn studentise(of_first: &[f64], of_second: &[f64]) -> Option<Studentised> {
    let (n, m) = (of_first.len() as f64, of_second.len() as f64);
    let relative_effect = of_second.iter().sum::<f64>() / (n * m);
    let (spread_first, spread_second) = (n * variance(of_first)?, m * variance(of_second)?);
    let spread = spread_first + spread_second;
    let shift = n * m * (relative_effect - 0.5);
    if spread <= 0.0 {
        // No overlap at all, or nothing but ties.
        let statistic = if shift == 0.0 {
            0.0
        } else {
            f64::INFINITY.copysign(shift)
        };
        return Some(Studentised {
            statistic,
            df: n + m - 2.0,
        });
    }
    let df =
        spread.powi(2) / (spread_first.powi(2) / (n - 1.0) + spread_second.powi(2) / (m - 1.0));
    Some(Studentised {
        statistic: shift / spread.sqrt(),
        df,
    })
}

/// The next subset of `0..count` in lexical order; false after the last.
fn advance(chosen: &mut [usize], count: usize) -> bool {
    let size = chosen.len();
    for place in (0..size).rev() {
        if chosen[place] < count - size + place {
            chosen[place] += 1;
            for later in place + 1..size {
                chosen[later] = chosen[later - 1] + 1;
            }
            return true;
        }
    }
    false
}

/// Counts arrangements on either side of the observed statistic.
struct Tally {
    observed: f64,
    slack: f64,
    below: f64,
    above: f64,
    all: f64,
}

impl Tally {
    fn new(observed: f64) -> Self {
        let slack = if observed.is_finite() {
            1e-12 * observed.abs().max(1.0)
        } else {
            0.0
        };
        Self {
            observed,
            slack,
            below: 0.0,
            above: 0.0,
            all: 0.0,
        }
    }

    fn add(&mut self, arrangement: Option<Studentised>) {
        let Some(Studentised { statistic, .. }) = arrangement else {
            return;
        };
        self.all += 1.0;
        self.below += f64::from(u8::from(statistic <= self.observed + self.slack));
        self.above += f64::from(u8::from(statistic >= self.observed - self.slack));
    }

    fn p(&self) -> f64 {
        (2.0 * self.below.min(self.above) / self.all).min(1.0)
    }
}
