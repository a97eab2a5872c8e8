//! What a difference means, and conditions on the figures of one run.
//!
//! A difference is judged in this order. It is a **regression** when chance is ruled out over the whole
//! suite (Holm), the interval of the ratio of costs lies wholly above 1, the change reaches the
//! threshold, and the two sides hardly overlap (Cliff's delta). An **improvement** is the mirror of that. It
//! **passes** when the interval lies wholly inside the threshold that was asked for: shown to be equal, not
//! merely not shown to differ. Everything else is **inconclusive**, and so is a pass on a noisy machine or
//! of a case whose figure is in doubt.
//!
//! Noise raises the threshold of a regression and of an improvement to three times its size. It does not
//! widen what passes: a change that was to be excluded is not excluded by more noise.
//!
//! Changes are ratios, so up and down are judged alike on a logarithmic scale: twice as slow is as far from
//! equal as twice as fast. A threshold of 10 % is a ratio of 1.1 to one side and of 1/1.1 to the other, and
//! one of 100 % asks for half the time before it speaks of an improvement.
//!
//! A true change of just the threshold is reported half of the time; a threshold is to be set below the
//! smallest change that matters.

use std::fmt;
use std::str::FromStr;

use crate::canary::Noise;
use crate::compare::{CompareError, Difference, LEVEL, Medium, Metric};
use crate::document::{Case, Comparison, Gate, Interval, Remark, RunRecord};
use crate::stats::{effect, holm, interval, location};
use crate::verdict::Word;

/// What a change has to exceed when nobody says otherwise: on this machine, over a network, in a tail.
pub const LOCAL: f64 = 0.05;
/// Over a network.
pub const NETWORK: f64 = 0.10;
/// Of a 99th percentile, wherever it is measured.
pub const TAIL: f64 = 0.15;
/// A change has to exceed this many times the noise.
pub const TIMES_NOISE: f64 = 3.0;

/// By what differences are judged.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "made by literal updates of its default"
)]
pub struct Rules {
    /// What a change has to exceed, as a share; [`LOCAL`], [`NETWORK`] or [`TAIL`] if absent.
    pub threshold: Option<f64>,
    /// Noise of the machine, in percent, beside what cases say of theirs.
    pub noise_percent: Option<f64>,
}

impl Rules {
    /// The threshold that was asked for, as a share.
    #[must_use]
    pub fn asked(&self, difference: &Difference) -> f64 {
        self.threshold
            .unwrap_or(match (difference.metric, difference.medium) {
                (Metric::P99, _) => TAIL,
                (_, Medium::Network) => NETWORK,
                (_, Medium::Local) => LOCAL,
            })
    }

    fn noise(&self, difference: &Difference) -> f64 {
        let noise = [self.noise_percent, difference.noise_percent];
        noise.into_iter().flatten().fold(0.0, f64::max)
    }

    /// The threshold that holds: what was asked for, or three times the noise if that is more.
    #[must_use]
    pub fn threshold(&self, difference: &Difference) -> f64 {
        self.asked(difference)
            .max(TIMES_NOISE * self.noise(difference) / 100.0)
    }
}

/// Judges all differences of a suite together.
#[must_use]
pub fn decide(differences: &[Difference], rules: &Rules) -> Vec<Comparison> {
    let alone: Vec<f64> = differences.iter().map(|difference| difference.p).collect();
    let adjusted = holm::adjust(&alone);
    let judged = differences.iter().enumerate();
    judged
        .map(|(place, difference)| {
            let p = adjusted.as_ref().and_then(|all| all.get(place)).copied();
            let ratio = difference.ratio();
            Comparison {
                case: difference.case.clone(),
                against: difference.against.clone(),
                metric: difference.metric.name().to_owned(),
                ratio: ratio.estimate,
                interval: Some(Interval {
                    lo: ratio.lo,
                    hi: ratio.hi,
                }),
                p,
                delta: Some(difference.shift()),
                threshold: rules.threshold(difference),
                current: difference.current,
                baseline: difference.baseline,
                verdict: Some(word(difference, p, rules)),
            }
        })
        .collect()
}

fn word(difference: &Difference, p: Option<f64>, rules: &Rules) -> Word {
    let (cost, threshold) = (difference.cost, rules.threshold(difference));
    let beyond_chance = p.is_some_and(|p| p <= LEVEL);
    if beyond_chance
        && cost.lo > 1.0
        && cost.estimate >= 1.0 + threshold
        && difference.delta >= effect::MEDIUM
    {
        return Word::Regression;
    }
    if beyond_chance
        && cost.hi < 1.0
        && cost.estimate <= 1.0 / (1.0 + threshold)
        && difference.delta <= -effect::MEDIUM
    {
        return Word::Improved;
    }
    let asked = rules.asked(difference);
    let equal = cost.lo > 1.0 / (1.0 + asked) && cost.hi < 1.0 + asked;
    let noisy = Noise::of(rules.noise(difference)) >= Noise::Noisy;
    if equal && !noisy && difference.doubts.is_empty() {
        Word::Pass
    } else {
        Word::Inconclusive
    }
}

/// Writes what was decided, and what was refused, as words on the cases, with a remark for each that
/// keeps a case from passing.
pub fn mark(cases: &mut [Case], comparisons: &[Comparison], refused: &[CompareError]) {
    for case in cases {
        let of_case = |comparison: &&Comparison| comparison.case == case.id;
        let mut words = Vec::new();
        for comparison in comparisons.iter().filter(of_case) {
            let Some(word) = comparison.verdict else {
                continue;
            };
            words.push(word);
            if word != Word::Pass {
                case.validity.push(remark(comparison, word));
            }
        }
        for error in refused.iter().filter(|error| error.case() == case.id) {
            words.push(error.word());
            case.validity.push(Remark {
                word: Some(error.word()),
                case: Some(case.id.clone()),
                text: error.to_string(),
                remedy: None,
            });
        }
        // One figure that could not be shown to have stayed is more than all that were.
        if words.iter().any(|word| *word != Word::Pass) {
            words.retain(|word| *word != Word::Pass);
        }
        case.verdicts.extend(words);
        case.verdicts.sort_unstable();
        case.verdicts.dedup();
    }
}

fn remark(comparison: &Comparison, word: Word) -> Remark {
    let interval = comparison.interval.clone().unwrap_or_default();
    Remark {
        word: Some(word),
        case: Some(comparison.case.clone()),
        text: format!(
            "{} is {:.3} of {} (95 % CI {:.3} to {:.3}, threshold {:.1} %)",
            comparison.metric,
            comparison.ratio,
            comparison.against,
            interval.lo,
            interval.hi,
            100.0 * comparison.threshold
        ),
        remedy: (word == Word::Inconclusive).then(|| "give it more runs".to_owned()),
    }
}

/// A bound on figures of one run: `a/b<=1.15` on processor time of two cases, `rate:a/b>=0.3` on their
/// rates, `figure:a/b<=2` on another quantity; without `/b` the figure itself is bounded, in nanoseconds a
/// unit, units a second, or the quantity's own unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    text: String,
    metric: Metric,
    left: String,
    limit: Limit,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Limit {
    AtLeast(f64),
    AtMost(f64),
}

/// A condition that cannot be read or not be judged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConditionError {
    /// It names a case that was not measured.
    #[error("the gate {condition} names {case}, which was not measured")]
    Case {
        /// The condition.
        condition: String,
        /// The name.
        case: String,
    },
    /// The case does not have the figure in every run.
    #[error("the gate {condition} needs a {metric} of {case}, which was not measured")]
    Figure {
        /// The condition.
        condition: String,
        /// The case.
        case: String,
        /// What is missing.
        metric: Metric,
    },
    /// It is not written like one.
    #[error("a gate is written a/b<=1.15, rate:a/b>=0.3, a<=500 or figure:a<=64")]
    Syntax,
}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let (metric, rest) = match text.split_once(':') {
            Some(("rate", rest)) => (Metric::Throughput, rest),
            Some(("figure", rest)) => (Metric::Figure, rest),
            _ => (Metric::Cpu, text),
        };
        let (left, number, limit): (_, _, fn(f64) -> Limit) =
            match (rest.split_once("<="), rest.split_once(">=")) {
                (Some((left, number)), None) => (left, number, Limit::AtMost),
                (None, Some((left, number))) => (left, number, Limit::AtLeast),
                _ => return Err(ConditionError::Syntax),
            };
        let number = number.trim().parse().ok();
        let number = number.filter(|number: &f64| number.is_finite() && *number >= 0.0);
        let left = left.trim();
        if left.split('/').any(|name| name.trim().is_empty()) {
            return Err(ConditionError::Syntax);
        }
        Ok(Self {
            text: text.trim().to_owned(),
            metric,
            left: left.to_owned(),
            limit: limit(number.ok_or(ConditionError::Syntax)?),
        })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl Condition {
    /// Judges the cases of one run of the program: a ratio is taken within each run first, the median over
    /// runs decides.
    ///
    /// # Errors
    /// A case or a figure that was not measured.
    pub fn judge(&self, cases: &[Case]) -> Result<Gate, ConditionError> {
        let (above, below) = self.sides(cases)?;
        let values: Vec<f64> = match below {
            None => self.figures(above, &above.runs.iter().collect::<Vec<_>>())?,
            Some(below) => {
                let partner =
                    |run: &RunRecord| below.runs.iter().find(|other| other.run == run.run);
                let pairs = above
                    .runs
                    .iter()
                    .filter_map(|run| Some((run, partner(run)?)));
                let (one, two): (Vec<_>, Vec<_>) = pairs.unzip();
                let (one, two) = (self.figures(above, &one)?, self.figures(below, &two)?);
                one.iter().zip(two).map(|(one, two)| one / two).collect()
            }
        };
        let value = location::median(&values).ok_or_else(|| self.missing(above))?;
        let spread = interval::geometric_mean(&values, 0.95).filter(|_| values.len() > 2);
        Ok(Gate {
            condition: self.text.clone(),
            value,
            interval: spread.map(|spread| Interval {
                lo: spread.lo.min(value),
                hi: spread.hi.max(value),
            }),
            holds: match self.limit {
                Limit::AtLeast(bound) => value >= bound,
                Limit::AtMost(bound) => value <= bound,
            },
        })
    }

    /// The cases that are meant. A case's own name may have a stroke in it.
    fn sides<'a>(&self, cases: &'a [Case]) -> Result<(&'a Case, Option<&'a Case>), ConditionError> {
        let find = |name: &str| cases.iter().find(|case| case.id == name.trim());
        if let Some(case) = find(&self.left) {
            return Ok((case, None));
        }
        let splits = self.left.match_indices('/');
        let mut halves = splits.map(|(at, _)| (&self.left[..at], &self.left[at + 1..]));
        let found = halves
            .clone()
            .find_map(|(one, two)| Some((find(one)?, find(two)?)));
        if let Some((above, below)) = found {
            return Ok((above, Some(below)));
        }
        let unknown = match halves.next() {
            None => &self.left,
            Some((one, two)) if find(one).is_some() => two,
            Some((one, _)) => one,
        };
        Err(ConditionError::Case {
            condition: self.text.clone(),
            case: unknown.trim().to_owned(),
        })
    }

    fn figures(&self, case: &Case, runs: &[&RunRecord]) -> Result<Vec<f64>, ConditionError> {
        let figures: Option<Vec<f64>> = runs.iter().map(|run| self.metric.of(run)).collect();
        figures.ok_or_else(|| self.missing(case))
    }

    fn missing(&self, case: &Case) -> ConditionError {
        ConditionError::Figure {
            condition: self.text.clone(),
            case: case.id.clone(),
            metric: self.metric,
        }
    }
}
