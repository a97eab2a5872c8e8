//! `bench compare`: two operations whose runs take turns, or one operation and a baseline.

use keywright_measure::Word;
use keywright_measure::compare::{CompareError, Metric, paired, pairs_needed};
use keywright_measure::document::{Case, Comparison};
use keywright_measure::gate::{self, Rules};

use super::flags::{JudgeFlags, MeasureFlags};
use super::op::{find, measured};
use super::ready::Chosen;
use crate::exit::{Exit, Failure};
use crate::output::Format;

/// Compare two operations, interleaved, or an operation with a baseline.
#[derive(Debug, clap::Args)]
pub(crate) struct CompareArguments {
    /// The operation that is judged.
    #[arg(value_name = "NAME")]
    name: String,
    /// What it is compared with; left out with --baseline.
    #[arg(value_name = "OTHER", required_unless_present = "baseline")]
    other: Option<String>,
    #[command(flatten)]
    flags: MeasureFlags,
}

/// What two operations are compared in.
const METRICS: [Metric; 2] = [Metric::Throughput, Metric::P50];

/// What a pair of cases shows, and what it cannot.
fn judged(cases: &[Case], judging: &JudgeFlags) -> (Vec<Comparison>, Vec<CompareError>) {
    let [case, other] = cases else {
        return (Vec::new(), Vec::new());
    };
    let (mut differences, mut refused) = (Vec::new(), Vec::new());
    for metric in METRICS {
        match paired(case, other, metric, METRICS.len()) {
            Ok(difference) => differences.push(difference),
            Err(error) => refused.push(error),
        }
    }
    let rules = Rules {
        threshold: judging.threshold,
        noise_percent: None,
    };
    (gate::decide(&differences, &rules), refused)
}

/// Whether more pairs could tell more.
fn is_open(cases: &[Case], judging: &JudgeFlags) -> bool {
    let (compared, _) = judged(cases, judging);
    let open = |one: &Comparison| one.verdict == Some(Word::Inconclusive);
    compared.iter().any(open)
}

pub(super) fn run(arguments: &CompareArguments, format: Format) -> Result<Exit, Failure> {
    let mut flags = arguments.flags.clone();
    // Fewer pairs could show no difference at all.
    let pairs = u32::try_from(pairs_needed(METRICS.len())).unwrap_or(u32::MAX);
    flags.load.runs = flags.load.runs.max(pairs);
    let names = std::iter::once(&arguments.name).chain(&arguments.other);
    let operations = names
        .map(|name| find(name).map(Chosen::from))
        .collect::<Result<Vec<_>, _>>()?;
    let (sitting, mut cases) = measured(&operations, &flags, (format, Some(is_open)))?;
    let (compared, refused) = judged(&cases, &flags.judging);
    // Between two operations a difference is an answer, not a fault of either.
    for error in refused {
        sitting.remark(error.to_string(), "give it more runs");
    }
    cases.truncate(2);
    sitting.compared(compared);
    sitting.finish(cases, Some(&arguments.flags.judging))
}
