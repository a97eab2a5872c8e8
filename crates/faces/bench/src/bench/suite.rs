//! `bench run`: what a suite file says, or one of the suites that come with the program.

use std::path::Path;
use std::time::Duration;

use keywright_measure::Window;
use keywright_measure::carry::Carrier;
use keywright_measure::document::{Case, Suite as SuiteRecord};
use keywright_measure::plan::Slo;
use keywright_measure::session::Entry;
use keywright_targets::operation::{AnyCarrier, Operation};
use keywright_targets::suite::{
    Context, Filter, Instance, SHIPPED, Shipped, Suite, SuiteCase, Target, Work, nearest,
};
use keywright_targets::workshop::Workshop;

use super::flags::{JudgeFlags, OutputFlags, TargetFlags};
use super::op::told;
use super::ready::Bench;
use super::remote;
use super::sitting::{Pace, Sitting, unmeasurable};
use crate::exit::{Exit, Failure};
use crate::output::Format;

/// Measure what a suite file says.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct RunArguments {
    /// A suite file, or the name of one that comes with the program: see `bench list suites`.
    suite: String,
    /// Only cases whose id fits; `*` stands for anything.
    #[arg(long = "case", value_name = "GLOB")]
    cases: Vec<String>,
    /// Only cases with one of these tags.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    tags: Vec<String>,
    /// Runs of every case, whatever the suite says.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,
    /// What inputs, schedules and orders are drawn from, whatever the suite says; 1 where neither does.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Say what would be measured, and measure nothing.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    judging: JudgeFlags,
    #[command(flatten)]
    targets: TargetFlags,
    #[command(flatten)]
    pub(super) output: OutputFlags,
}

impl RunArguments {
    /// What is to be measured, as it was written.
    pub(super) fn suite(&self) -> &str {
        &self.suite
    }
}

pub(super) fn run(arguments: &RunArguments, format: Format) -> Result<Exit, Failure> {
    let (suite, missing) = read(&arguments.suite)?;
    let filter = Filter::new(&arguments.cases, &arguments.tags);
    let chosen: Vec<&SuiteCase> = suite.chosen(&filter).collect();
    if chosen.is_empty() {
        return Err(Failure::new(
            Exit::Usage,
            format!("no case of {} is chosen", suite.name),
            "see its cases: add --dry-run and leave out --case and --tags",
        ));
    }
    let chosen: Vec<SuiteCase> = chosen
        .into_iter()
        .map(|case| sown(case, arguments.seed))
        .collect();
    let chosen: Vec<&SuiteCase> = chosen.iter().collect();
    if arguments.dry_run {
        let plans: Vec<_> = chosen
            .iter()
            .map(|case| (&case.plan, arguments.runs.unwrap_or(case.runs)))
            .collect();
        return told(plans);
    }
    for case in &chosen {
        if let Some(url) = suite.target(case).and_then(address) {
            remote::allowed(url, &arguments.targets)?;
        }
    }
    let judging = &gated(&arguments.judging, &chosen)?;
    let runs = |case: &SuiteCase| arguments.runs.unwrap_or(case.runs);
    let most = chosen.iter().map(|case| runs(case)).max().unwrap_or(1);
    let seed = arguments.seed.unwrap_or(SEED);
    let mut sitting = Sitting::begin(&arguments.output, judging, format, seed, most)?;
    sitting.suite = Some(SuiteRecord {
        name: suite.name.clone(),
        sha256: suite.sha256.clone(),
    });
    for reason in missing {
        sitting.remark(format!("left out: {reason}"), "");
    }
    let bench = Bench::new(&sitting, &arguments.targets)?;
    let mut cases = Vec::new();
    // Cases that are run alike take turns; others come one group after the other.
    let way = |case: &SuiteCase| (runs(case), case.cooldown, case.seed, block_of(case));
    let alike = |one: &&SuiteCase, two: &&SuiteCase| way(one) == way(two);
    for group in chosen.chunk_by(alike) {
        if sitting.stop.is_asked() {
            break;
        }
        let pace = Pace {
            runs: runs(group[0]),
            cooldown: group[0].cooldown,
            block: block_of(group[0]),
            seed: group[0].seed.unwrap_or(seed),
        };
        cases.extend(measure(&sitting, &bench, &suite, group, (&pace, judging))?);
    }
    drop(bench);
    sitting.finish(cases, Some(judging))
}

/// How long a block is: a second, and less where it is to be seen how soon a burst is over.
fn block_of(case: &SuiteCase) -> Duration {
    let mut objectives = case.plan.objectives.iter();
    match objectives.any(|objective| matches!(objective, Slo::Recovery(_))) {
        true => Duration::from_millis(200),
        false => Duration::from_secs(1),
    }
}

/// What is judged, with the baseline that the cases name where the command names none. A regression then
/// ends with its code, because the suite says that it is to pass.
fn gated(flags: &JudgeFlags, chosen: &[&SuiteCase]) -> Result<JudgeFlags, Failure> {
    let mut judging = flags.clone();
    let mut rules = chosen.iter().filter_map(|case| case.gate.as_ref());
    let (None, Some(rule)) = (&flags.baseline, rules.next()) else {
        return Ok(judging);
    };
    if rules.any(|other| other != rule) {
        return Err(Failure::new(
            Exit::Usage,
            "the chosen cases name several baselines or thresholds",
            "measure them one after the other: --case or --tags",
        ));
    }
    judging.baseline = Some(rule.baseline.clone());
    judging.threshold = judging.threshold.or(rule.threshold);
    judging.fail_on_regression = true;
    Ok(judging)
}

fn measure(
    sitting: &Sitting,
    bench: &Bench,
    suite: &Suite,
    group: &[&SuiteCase],
    (pace, judging): (&Pace, &JudgeFlags),
) -> Result<Vec<Case>, Failure> {
    let mut ready: Vec<(&SuiteCase, AnyCarrier)> = Vec::new();
    for case in group {
        let Some(target) = suite.target(case) else {
            continue;
        };
        match bench.workshop.suite_case(case, target) {
            Ok(carrier) => ready.push((case, carrier)),
            Err(error) => sitting.skip(&case.plan.id, &error),
        }
    }
    let mut ceilings = Vec::new();
    for (case, _) in &ready {
        // Of a service that somebody else runs the null mode is not at hand.
        let ours = case.plan.target == "service";
        ceilings.push(match &case.work {
            Work::One(operation) if ours => {
                let ceiling = bench.workshop.ceiling(operation, &case.plan.load);
                ceiling.map_err(|error| unmeasurable(&error))?
            }
            _ => None,
        });
    }
    let mut entries: Vec<Entry<'_>> = ready
        .iter_mut()
        .zip(ceilings)
        .map(|((case, carrier), ceiling)| {
            let mut plan = case.plan.clone();
            plan.ceiling_per_s = ceiling;
            let operations: &[Operation] = match &case.work {
                Work::One(operation) => std::slice::from_ref(operation),
                _ => &[],
            };
            let said = bench.workshop.parameters(operations, &plan.load);
            plan.parameters.extend(said);
            if let Window::Operations(most) = case.warmup {
                plan.warmup_operations = Some(most);
            }
            judging.apply(&mut plan);
            Entry {
                plan,
                carrier: carrier as &mut dyn Carrier,
            }
        })
        .collect();
    if entries.is_empty() {
        return Ok(Vec::new());
    }
    sitting.measure(pace, &mut entries)
}

/// The suite of this file or name, and why cases of it are left out. A file has to be whole; of a suite that
/// comes with the program the cases that this build has are taken.
fn read(name: &str) -> Result<(Suite, Vec<String>), Failure> {
    let operations: Vec<&Operation> = Workshop::operations().collect();
    #[expect(clippy::disallowed_methods, reason = "the faces read the environment")]
    let lookup = |name: &str| std::env::var(name).ok();
    let context = Context {
        operations: &operations,
        lookup: &lookup,
    };
    let wrong = |error: keywright_targets::suite::Error| {
        Failure::new(
            Exit::Usage,
            error.to_string(),
            "see BENCHMARKING.md for the keys of a suite",
        )
    };
    let path = Path::new(name);
    if path.exists() {
        return Ok((Suite::read(path, &context).map_err(wrong)?, Vec::new()));
    }
    let shipped = Shipped::find(name).ok_or_else(|| {
        let near = nearest(name, SHIPPED.iter().flat_map(Shipped::names), 3);
        let near = if near.is_empty() {
            String::new()
        } else {
            format!("did you mean {}? ", near.join(" or "))
        };
        Failure::new(
            Exit::NotFound,
            format!("there is no suite {name}, neither as a file nor in the program"),
            format!("{near}see `keywright bench list suites`"),
        )
    })?;
    let (suite, left_out) = shipped.suite_in_part(&context).map_err(wrong)?;
    Ok((suite, left_out.iter().map(ToString::to_string).collect()))
}

/// What everything is drawn from where nobody says.
const SEED: u64 = 1;

/// The case with the seed of the command line, if that has one.
fn sown(case: &SuiteCase, seed: Option<u64>) -> SuiteCase {
    let mut case = case.clone();
    if seed.is_some() {
        case.seed = None;
        case.plan.parameters.remove("seed");
    }
    case
}

/// Where a target is that this program does not start.
fn address(target: &Target) -> Option<&str> {
    match target {
        Target::Http { url, .. } => Some(url),
        Target::Kv(store) | Target::Transit(store) => store.url.as_deref(),
        Target::Service(Instance::Running { url, .. }) => Some(url),
        _ => None,
    }
}
