//! `bench compare`: two operations whose runs take turns, or one operation and a baseline.

use keywright_measure::compare::{Metric, paired, pairs_needed};
use keywright_measure::gate::{self, Rules};

use super::flags::{JudgeFlags, LoadFlags, OutputFlags, TargetFlags};
use super::op::{Bench, find, in_turns};
use super::sitting::Sitting;
use crate::exit::{Exit, Failure};
use crate::output::Format;

/// Compare two operations, interleaved, or an operation with a baseline.
#[derive(Debug, clap::Args)]
pub(super) struct CompareArguments {
    /// The operation that is judged.
    #[arg(value_name = "NAME")]
    name: String,
    /// What it is compared with; left out with --baseline.
    #[arg(value_name = "OTHER", required_unless_present = "baseline")]
    other: Option<String>,
    #[command(flatten)]
    load: LoadFlags,
    #[command(flatten)]
    judging: JudgeFlags,
    #[command(flatten)]
    targets: TargetFlags,
    #[command(flatten)]
    output: OutputFlags,
}

/// What two operations are compared in.
const METRICS: [Metric; 2] = [Metric::Throughput, Metric::P50];

pub(super) fn run(arguments: &CompareArguments, format: Format) -> Result<Exit, Failure> {
    let mut load = arguments.load.clone();
    // Fewer pairs could show no difference at all.
    let pairs = u32::try_from(pairs_needed(METRICS.len())).unwrap_or(u32::MAX);
    load.runs = load.runs.max(pairs);
    let names = std::iter::once(&arguments.name).chain(&arguments.other);
    let operations = names
        .map(|name| find(name))
        .collect::<Result<Vec<_>, _>>()?;
    let sitting = Sitting::begin(
        &arguments.output,
        &arguments.judging,
        format,
        load.seed,
        load.runs(),
    )?;
    let bench = Bench::new(&sitting, &arguments.targets)?;
    let ready = operations
        .iter()
        .map(|operation| bench.ready(&sitting, operation, &load, &arguments.judging));
    let ready = ready.collect::<Result<Vec<_>, _>>()?;
    let mut cases = in_turns(&sitting, &load, ready)?;
    drop(bench);
    let mut compared = Vec::new();
    if let [case, other] = &cases[..] {
        let (mut differences, mut refused) = (Vec::new(), Vec::new());
        for metric in METRICS {
            match paired(case, other, metric, METRICS.len()) {
                Ok(difference) => differences.push(difference),
                Err(error) => refused.push(error),
            }
        }
        let rules = Rules {
            threshold: arguments.judging.threshold,
            noise_percent: None,
        };
        compared = gate::decide(&differences, &rules);
        // Between two operations a difference is an answer, not a fault of either.
        for error in refused {
            sitting.remark(error.to_string(), "give it more runs");
        }
        cases.truncate(2);
    }
    sitting.compared(compared);
    sitting.finish(cases, Some(&arguments.judging))
}
