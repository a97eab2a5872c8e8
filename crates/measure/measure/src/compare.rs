//! How two measurements of the same thing differ: neighbouring runs of one session, or a session and a
//! stored baseline.
//!
//! The run is the unit, never the sample: thousands of samples of one run share its luck. Runs of one
//! session that took turns are compared **in pairs**, by the logarithm of their ratio (Hodges–Lehmann,
//! Wilcoxon's signed ranks). Against a **stored baseline** the values of runs are compared as two groups
//! (Mann–Whitney, or Brunner–Munzel where the spreads differ; Welch's interval of the ratio; Cliff's
//! delta).
//!
//! Judging needs one direction for all quantities, so it works on **costs**, of which more is worse: the time
//! per unit instead of the rate. What a reader sees is the **ratio**, current over baseline in the quantity's
//! own unit, which follows from the two figures beside it ([`Difference::ratio`]).
//!
//! Few runs cannot show anything, however large the difference, once several cases are judged together.
//! Such a comparison is refused with the number of runs it would need. What a difference means is decided
//! in [`crate::gate`].

use std::fmt;

use crate::canary::Noise;
use crate::document::{Case, RunRecord};
use crate::stats::effect::cliffs_delta;
use crate::stats::interval::{Interval, geometric_ratio};
use crate::stats::ranks::Significance;
use crate::stats::{
    brunner_munzel, hodges_lehmann, location, mann_whitney, sign_flip, signed_rank,
};
use crate::verdict::{Exit, Word};

/// The chance of a false alarm in a whole suite.
pub const LEVEL: f64 = 0.05;
/// From this ratio of standard deviations two groups are not taken to differ in place only.
const SPREADS_DIFFER: f64 = 2.0;

/// A figure that runs have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Metric {
    /// Processor time per unit.
    Cpu,
    /// A quantity that is no rate, such as memory.
    Figure,
    /// Median service time.
    P50,
    /// The 99th percentile of service time.
    P99,
    /// Units a second.
    Throughput,
}

impl Metric {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Cpu,
        Self::Figure,
        Self::P50,
        Self::P99,
        Self::Throughput,
    ];

    /// The metric that documents spell like this.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }

    /// As documents spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Figure => "figure",
            Self::P50 => "p50",
            Self::P99 => "p99",
            Self::Throughput => "throughput",
        }
    }

    /// Whether more of it is better.
    #[must_use]
    pub const fn higher_is_better(self) -> bool {
        matches!(self, Self::Throughput)
    }

    /// The figure of a run in its own unit; absent where it is not known or not above zero.
    #[must_use]
    pub fn of(self, run: &RunRecord) -> Option<f64> {
        let value = match self {
            Self::Cpu => run.cpu_ns_per_unit,
            Self::Figure => run.figure,
            Self::P50 => run.p50_ns.map(|nanos| nanos as f64),
            Self::P99 => run.p99_ns.map(|nanos| nanos as f64),
            Self::Throughput => Some(run.achieved_per_s),
        };
        value.filter(|value| value.is_finite() && *value > 0.0)
    }

    /// The same turned so that more is worse.
    fn cost(self, run: &RunRecord) -> Option<f64> {
        match self {
            _ if self.higher_is_better() => self.of(run).map(f64::recip),
            _ => self.of(run),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

/// Where the time of an operation goes, which decides how small a change can be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Medium {
    /// On this machine.
    Local,
    /// Over connections.
    Network,
}

impl Medium {
    /// A case with connections goes over a network.
    #[must_use]
    pub const fn of(case: &Case) -> Self {
        match case.load.connections {
            Some(_) => Self::Network,
            None => Self::Local,
        }
    }
}

/// A difference that has been measured and not yet been judged.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the figures a judgement rests on"
)]
pub struct Difference {
    /// The case.
    pub case: String,
    /// The baseline's name, or the other case's id.
    pub against: String,
    /// What is compared.
    pub metric: Metric,
    /// Where the time goes.
    pub medium: Medium,
    /// Cost of this over cost of that; above 1 is slower or dearer. The estimate is that of the two figures
    /// below; the interval is widened to hold it where that of all runs does not.
    pub cost: Interval,
    /// p of this comparison alone.
    pub p: f64,
    /// Cliff's delta of the costs; above 0 is slower or dearer.
    pub delta: f64,
    /// Median over runs, in the metric's own unit.
    pub current: f64,
    /// The same of the other side.
    pub baseline: f64,
    /// The larger noise of both sides, in percent.
    pub noise_percent: Option<f64>,
    /// Words of either side that keep a figure from being called sound.
    pub doubts: Vec<Word>,
}

impl Difference {
    /// Current over baseline, with its interval.
    #[must_use]
    pub fn ratio(&self) -> Interval {
        let (lo, hi) = match self.metric.higher_is_better() {
            true => (self.cost.hi.recip(), self.cost.lo.recip()),
            false => (self.cost.lo, self.cost.hi),
        };
        let estimate = self.current / self.baseline;
        Interval {
            estimate,
            // Two roundings are not to leave the estimate outside.
            lo: lo.min(estimate),
            hi: hi.max(estimate),
            level: self.cost.level,
        }
    }

    /// Cliff's delta of the quantity itself: above 0 it is more than in the baseline.
    #[must_use]
    pub const fn shift(&self) -> f64 {
        match self.metric.higher_is_better() {
            true => -self.delta,
            false => self.delta,
        }
    }
}

/// Why two cases are not compared.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// A new case.
    #[error("there is no baseline for {case}")]
    NoBaseline {
        /// The case.
        case: String,
    },
    /// Not every run has this figure.
    #[error("{case} does not have a {metric} in every run")]
    NoFigure {
        /// The case.
        case: String,
        /// The figure.
        metric: Metric,
    },
    /// A case of the baseline that is gone.
    #[error("{case} is in the baseline and was not measured")]
    NotMeasured {
        /// The case.
        case: String,
    },
    /// Pairs of runs that could not show any difference.
    #[error("{case} has {pairs} pairs of runs and needs {needed}")]
    TooFewPairs {
        /// The case.
        case: String,
        /// What there is.
        pairs: usize,
        /// What it takes.
        needed: usize,
    },
    /// Runs that could not show any difference.
    #[error("{case} has {current} runs and its baseline {baseline}; {needed} of each are needed")]
    TooFewRuns {
        /// The case.
        case: String,
        /// Runs now.
        current: usize,
        /// Runs of the baseline.
        baseline: usize,
        /// What it takes on each side.
        needed: usize,
    },
}

impl CompareError {
    /// The case it is about.
    #[must_use]
    pub fn case(&self) -> &str {
        match self {
            Self::NoBaseline { case }
            | Self::NoFigure { case, .. }
            | Self::NotMeasured { case }
            | Self::TooFewPairs { case, .. }
            | Self::TooFewRuns { case, .. } => case,
        }
    }

    /// The word for it.
    #[must_use]
    pub const fn word(&self) -> Word {
        match self {
            Self::NoBaseline { .. } => Word::NoBaseline,
            Self::TooFewPairs { .. } => Word::Inconclusive,
            _ => Word::NotComparable,
        }
    }
}

/// A suite against a baseline.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Compared {
    /// What could be compared.
    pub differences: Vec<Difference>,
    /// What could not.
    pub refused: Vec<CompareError>,
}

/// Whether so many runs now and in a baseline can show a difference at all, with `comparisons` judged together.
#[must_use]
pub fn can_decide(now: usize, baseline: usize, comparisons: usize) -> bool {
    let least = mann_whitney::smallest_p(now, baseline);
    now.min(baseline) >= 2 && least * comparisons.max(1) as f64 <= LEVEL
}

/// Runs needed on each side so that `comparisons` judged together can show a difference at all.
#[must_use]
pub fn runs_needed(comparisons: usize) -> usize {
    (2..)
        .find(|runs| can_decide(*runs, *runs, comparisons))
        .unwrap_or(usize::MAX)
}

/// Pairs of runs needed so that `comparisons` judged together can show a difference at all.
#[must_use]
pub fn pairs_needed(comparisons: usize) -> usize {
    let reached =
        |pairs: &usize| signed_rank::smallest_p(*pairs) * comparisons.max(1) as f64 <= LEVEL;
    (2..).find(reached).unwrap_or(usize::MAX)
}

/// `case` over `other`, two cases of one session whose runs took turns. `comparisons` are judged together.
///
/// # Errors
/// Runs without the figure, or too few pairs.
pub fn paired(
    case: &Case,
    other: &Case,
    metric: Metric,
    comparisons: usize,
) -> Result<Difference, CompareError> {
    let mut pairs = Vec::new();
    for run in &case.runs {
        let Some(partner) = other.runs.iter().find(|partner| partner.run == run.run) else {
            continue;
        };
        let figure = |case: &Case, run| {
            metric.cost(run).ok_or_else(|| CompareError::NoFigure {
                case: case.id.clone(),
                metric,
            })
        };
        pairs.push((figure(case, run)?, figure(other, partner)?));
    }
    let needed = pairs_needed(comparisons);
    if pairs.len() < needed {
        return Err(CompareError::TooFewPairs {
            case: case.id.clone(),
            pairs: pairs.len(),
            needed,
        });
    }
    let logs: Vec<f64> = pairs
        .iter()
        .map(|(this, that)| (this / that).ln())
        .collect();
    let missing = || CompareError::NoFigure {
        case: case.id.clone(),
        metric,
    };
    let ratio = hodges_lehmann::centre(&logs, 1.0 - LEVEL).ok_or_else(missing)?;
    let test = pair_test(&logs).ok_or_else(missing)?;
    let (current, baseline): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
    let sides = Sides {
        case,
        other,
        metric,
        against: &other.id,
    };
    sides
        .difference(ratio.exp(), test.p, &current, &baseline)
        .ok_or_else(missing)
}

/// `case` over `other` in every pair of runs that both have the figure in, by the number of the run.
#[must_use]
pub fn pair_ratios(case: &Case, other: &Case, metric: Metric) -> Vec<(u32, f64)> {
    let ratio = |run: &RunRecord| {
        let partner = other.runs.iter().find(|partner| partner.run == run.run)?;
        Some((run.run, metric.of(run)? / metric.of(partner)?))
    };
    case.runs.iter().filter_map(ratio).collect()
}

/// Signed ranks; where magnitudes are equal or zero they have no order, and the signs of the values
/// themselves are flipped instead.
fn pair_test(logs: &[f64]) -> Option<Significance> {
    let mut sizes: Vec<f64> = logs.iter().map(|log| log.abs()).collect();
    sizes.sort_unstable_by(f64::total_cmp);
    let ties = sizes.first() == Some(&0.0) || sizes.windows(2).any(|pair| pair[0] == pair[1]);
    if ties {
        sign_flip::test(logs, 0)
    } else {
        signed_rank::test(logs)
    }
}

/// `case` over the same case of a baseline called `against`. `comparisons` are judged together.
///
/// # Errors
/// Runs without the figure, or too few of them.
pub fn stored(
    case: &Case,
    baseline: &Case,
    against: &str,
    metric: Metric,
    comparisons: usize,
) -> Result<Difference, CompareError> {
    let costs = |of: &Case| -> Result<Vec<f64>, CompareError> {
        let costs: Option<Vec<f64>> = of.runs.iter().map(|run| metric.cost(run)).collect();
        costs.ok_or_else(|| CompareError::NoFigure {
            case: case.id.clone(),
            metric,
        })
    };
    let (now, before) = (costs(case)?, costs(baseline)?);
    if !can_decide(now.len(), before.len(), comparisons) {
        return Err(CompareError::TooFewRuns {
            case: case.id.clone(),
            current: now.len(),
            baseline: before.len(),
            needed: runs_needed(comparisons),
        });
    }
    let sides = Sides {
        case,
        other: baseline,
        metric,
        against,
    };
    geometric_ratio(&before, &now, 1.0 - LEVEL)
        .zip(group_test(&before, &now))
        .and_then(|(ratio, test)| sides.difference(ratio, test.p, &now, &before))
        .ok_or_else(|| CompareError::NoFigure {
            case: case.id.clone(),
            metric,
        })
}

fn group_test(before: &[f64], now: &[f64]) -> Option<Significance> {
    let spread = |values: &[f64]| {
        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        location::variance(&logs).map(f64::sqrt)
    };
    let (one, two) = (spread(before)?, spread(now)?);
    if one.max(two) > SPREADS_DIFFER * one.min(two) {
        brunner_munzel::test(before, now, 0)
    } else {
        mann_whitney::test(before, now)
    }
}

/// Both sides of a comparison.
struct Sides<'a> {
    case: &'a Case,
    other: &'a Case,
    metric: Metric,
    against: &'a str,
}

impl Sides<'_> {
    fn difference(
        &self,
        ratio: Interval,
        p: f64,
        now: &[f64],
        before: &[f64],
    ) -> Option<Difference> {
        // The median in the metric's own unit, as the case prints it.
        let shown = |costs: &[f64]| match self.metric.higher_is_better() {
            true => {
                let rates: Vec<f64> = costs.iter().copied().map(f64::recip).collect();
                location::median(&rates)
            }
            false => location::median(costs),
        };
        let noise = |case: &Case| case.checks.noise_percent;
        let (current, baseline) = (shown(now)?, shown(before)?);
        let estimate = match self.metric.higher_is_better() {
            true => baseline / current,
            false => current / baseline,
        };
        let cost = Interval {
            estimate,
            lo: ratio.lo.min(estimate),
            hi: ratio.hi.max(estimate),
            level: ratio.level,
        };
        Some(Difference {
            case: self.case.id.clone(),
            against: self.against.to_owned(),
            metric: self.metric,
            medium: Medium::of(self.case),
            cost,
            p,
            delta: cliffs_delta(before, now)?,
            current,
            baseline,
            noise_percent: [noise(self.case), noise(self.other)]
                .into_iter()
                .flatten()
                .reduce(f64::max),
            doubts: self.doubts(),
        })
    }

    fn doubts(&self) -> Vec<Word> {
        let mut doubts = Vec::new();
        for case in [self.case, self.other] {
            let unsound = |word: &Word| {
                let exit = word.exit();
                // An objective or another comparison says nothing about this figure.
                !matches!(exit, Exit::Ok | Exit::GateFailed | Exit::NotComparable)
                    && *word != Word::Inconclusive
            };
            doubts.extend(case.verdicts.iter().copied().filter(unsound));
            let noise = case.checks.noise_percent.map(Noise::of);
            if noise.is_some_and(|noise| noise >= Noise::Noisy) {
                doubts.push(Word::Noisy);
            }
        }
        doubts.sort_unstable();
        doubts.dedup();
        doubts
    }
}

/// Every case against the case of the same id in a baseline called `against`, in every metric that either
/// of the two has. New and missing cases are listed. Whether the two sides were measured alike is for the
/// caller to find out first.
#[must_use]
pub fn suite(cases: &[Case], baseline: (&str, &[Case]), metrics: &[Metric]) -> Compared {
    let (against, before) = baseline;
    let mut compared = Compared::default();
    let mut matched: Vec<(&Case, &Case, Metric)> = Vec::new();
    for case in cases {
        let Some(other) = before.iter().find(|other| other.id == case.id) else {
            let case = case.id.clone();
            compared.refused.push(CompareError::NoBaseline { case });
            continue;
        };
        let has =
            |case: &Case, metric: Metric| case.runs.iter().any(|run| metric.of(run).is_some());
        let both = metrics
            .iter()
            .filter(|metric| has(case, **metric) || has(other, **metric));
        matched.extend(both.map(|metric| (case, other, *metric)));
    }
    let count = matched.len();
    for (case, other, metric) in matched {
        match stored(case, other, against, metric, count) {
            Ok(difference) => compared.differences.push(difference),
            Err(error) => compared.refused.push(error),
        }
    }
    let gone = before
        .iter()
        .filter(|other| cases.iter().all(|case| case.id != other.id));
    compared
        .refused
        .extend(gone.map(|other| CompareError::NotMeasured {
            case: other.id.clone(),
        }));
    compared
}
