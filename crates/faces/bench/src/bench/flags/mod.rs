//! The flags that measuring commands have in common, each defined once.

mod load;
mod output;
mod targets;

use std::time::Duration;

use keywright_measure::latency::{Few, Percentile};
use keywright_measure::plan::{CasePlan, Slo, parse_count, parse_size, parse_time};

pub(super) use load::{ArrivalFlag, LoadFlags, VerifyFlag, parameters};
pub(super) use output::{Colour, OutputFlags, PastFlags};
pub(super) use targets::TargetFlags;

use crate::exit::{Exit, Failure};

/// What every measuring command takes.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct MeasureFlags {
    #[command(flatten)]
    pub(super) load: LoadFlags,
    #[command(flatten)]
    pub(super) judging: JudgeFlags,
    #[command(flatten)]
    pub(super) targets: TargetFlags,
    #[command(flatten)]
    pub(super) output: OutputFlags,
}

/// What is judged.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Judging")]
pub(super) struct JudgeFlags {
    /// An objective: `p99=20ms` or `errors=0.1%`.
    #[arg(long, value_name = "OBJECTIVE")]
    pub(super) slo: Vec<Slo>,
    /// Quantiles to give, such as p50,p90,p99.9. One that is named is given however few samples there are.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(super) percentiles: Vec<Percentile>,
    /// A condition such as `service.null/service.floor<=1.15` on processor time each, `rate:a/b>=0.3` on
    /// rates, `a<=500` on nanoseconds each, or `figure:a<=64`. If one does not hold the exit code is 3.
    #[arg(long, value_name = "CONDITION")]
    pub(super) gate: Vec<keywright_measure::gate::Condition>,
    /// Compare with this baseline of the history, or with this result file.
    #[arg(long, visible_alias = "compare", value_name = "NAME|FILE")]
    pub(super) baseline: Option<String>,
    /// End with 3 if anything is slower than the baseline beyond threshold and doubt.
    #[arg(long, requires = "baseline")]
    pub(super) fail_on_regression: bool,
    /// Compare even with a baseline from another machine or other settings; the result is marked.
    #[arg(long, requires = "baseline")]
    pub(super) force: bool,
    /// Changes below this are none.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(super) threshold: Option<f64>,
    /// What a comparison that decides nothing ends with.
    #[arg(long, value_enum, default_value_t = Doubt::Fail)]
    pub(super) inconclusive: Doubt,
    /// Call a case NOISY when fixed work beside it varies by more than this, instead of by 10 %; the exit
    /// code is then 4.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(super) noise_threshold: Option<f64>,
    /// Where an objective or a comparison is left undecided, measure once more with as many runs as fit into
    /// this time from the start.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(super) time_budget: Option<Duration>,
    /// For runs that nobody watches: no colour, nothing drawn, and a regression against --baseline ends with
    /// 3 as with --fail-on-regression.
    #[arg(long, conflicts_with = "watch")]
    pub(super) ci: bool,
}

/// What a comparison that decides nothing ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Doubt {
    /// The exit code 4.
    Fail,
    /// Success; the word stays in the result.
    Pass,
}

impl JudgeFlags {
    /// Fills in what is judged.
    pub(super) fn apply(&self, plan: &mut CasePlan) {
        plan.objectives.extend(self.slo.iter().cloned());
        if !self.percentiles.is_empty() {
            plan.percentiles.clone_from(&self.percentiles);
            plan.few = Few::Give;
        }
    }

    /// Whether a regression is more than a word.
    pub(super) const fn regression_fails(&self) -> bool {
        self.fail_on_regression || self.ci
    }

    /// For commands that take as long as they take.
    pub(super) fn without_budget(&self) -> Result<(), Failure> {
        match self.time_budget {
            None => Ok(()),
            Some(_) => Err(Failure::new(
                Exit::Usage,
                "--time-budget means nothing here: there are no runs to add",
                "leave it out",
            )),
        }
    }
}

pub(super) fn time(text: &str) -> Result<Duration, String> {
    match time_or_zero(text)? {
        Duration::ZERO => Err("give a time above zero".to_owned()),
        time => Ok(time),
    }
}

pub(super) fn time_or_zero(text: &str) -> Result<Duration, String> {
    parse_time(text)
        .filter(|time| *time <= Duration::from_secs(86_400))
        .ok_or_else(|| "give a time such as 500ms, 2s or 1m, at most a day".to_owned())
}

pub(super) fn count(text: &str) -> Result<u64, String> {
    parse_count(text).ok_or_else(|| "give a whole number such as 500, 10k or 1m".to_owned())
}

/// A size of a payload.
pub(super) fn size(text: &str) -> Result<u64, String> {
    parse_size(text)
        .filter(|size| (1..=MOST_BYTES).contains(size))
        .ok_or_else(|| "give a size such as 32, 1KiB or 10KiB, at most 1GiB".to_owned())
}

/// The largest payload.
const MOST_BYTES: u64 = 1 << 30;

/// A part of a mix: an operation and its weight.
pub(super) fn part(text: &str) -> Result<(String, f64), String> {
    let form = || "give an operation and its weight, such as hash.sha256.1k=80".to_owned();
    let (name, weight) = text.split_once('=').ok_or_else(form)?;
    let weight: f64 = weight.trim().parse().map_err(|_| form())?;
    if name.is_empty() || !(1e-6..=1e9).contains(&weight) {
        return Err(form());
    }
    Ok((name.trim().to_owned(), weight))
}

pub(super) fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    let value: f64 = number
        .parse()
        .map_err(|_| "give a percentage such as 10%".to_owned())?;
    if (0.0..=100.0).contains(&value) {
        Ok(value / 100.0)
    } else {
        Err("give a percentage between 0 and 100".to_owned())
    }
}
