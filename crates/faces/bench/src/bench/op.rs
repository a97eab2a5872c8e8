//! `bench op`: operations by their names, in turns, or a mix of them.

use keywright_measure::carry::Carrier;
use keywright_measure::document::Case;
use keywright_measure::plan::CasePlan;
use keywright_measure::session::Entry;
use keywright_targets::operation::{AnyCarrier, Operation};
use keywright_targets::suite::{self, Problem, nearest};
use keywright_targets::workshop::Workshop;

use super::flags::{LoadFlags, MeasureFlags, part, size};
use super::ready::{Bench, Chosen, mix_planned, planned};
use super::sitting::{Question, Sitting};
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

/// Measure operations by their names.
#[derive(Debug, clap::Args)]
pub(crate) struct OpArguments {
    /// Names of operations, as `bench list ops` prints them, or their last parts; several take turns. A kind
    /// of target before them, as in `local hash.sha256.1k`, says that all of them are of that kind.
    #[arg(required_unless_present = "mix", value_name = "NAME")]
    names: Vec<String>,
    /// Operations of this program with weights of any sum, one of them at a time: verify=80,sign=15.
    #[arg(
        long,
        value_name = "NAME=WEIGHT",
        value_delimiter = ',',
        value_parser = part,
        conflicts_with = "names"
    )]
    mix: Vec<(String, f64)>,
    /// What short names such as sign are meant of: ecdsa-p256.
    #[arg(long, value_name = "KEY")]
    of: Option<String>,
    /// Payloads, one case for each: the names are then given without a size, such as hash.sha256.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = size)]
    sizes: Vec<u64>,
    /// Say what would be measured, and measure nothing.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    flags: MeasureFlags,
}

/// The operation of this name, or the names that are nearest to it.
pub(super) fn find(name: &str) -> Result<&'static Operation, Failure> {
    Workshop::find(name).ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> Failure {
    let names = Workshop::operations().map(|operation| operation.name);
    let near = nearest(name, names, 3);
    let advice = if near.is_empty() {
        "see `keywright bench list ops`".to_owned()
    } else {
        format!(
            "did you mean {}? see `keywright bench list ops`",
            near.join(" or ")
        )
    };
    Failure::new(
        Exit::NotFound,
        format!("no operation is called {name}"),
        advice,
    )
}

/// The operation that a name, a key and a size mean.
pub(super) fn choose(name: &str, key: Option<&str>, size: Option<u64>) -> Result<Chosen, Failure> {
    let table: Vec<&Operation> = Workshop::operations().collect();
    let (operation, id) = match suite::choose(&table, name, key, size) {
        Ok(found) => found,
        Err(Problem::UnknownOperation { .. }) => return Err(unknown(name)),
        Err(problem) => {
            return Err(Failure::new(
                Exit::Usage,
                problem.to_string(),
                "see `keywright bench list ops`; --of says of which key a short name is meant",
            ));
        }
    };
    Ok(Chosen { operation, id })
}

pub(super) fn run(arguments: &OpArguments, format: Format) -> Result<Exit, Failure> {
    let key = arguments.of.as_deref();
    let sizes: Vec<Option<u64>> = match arguments.sizes.as_slice() {
        [] => vec![None],
        sizes => sizes.iter().map(|size| Some(*size)).collect(),
    };
    let flags = &arguments.flags;
    if !arguments.mix.is_empty() {
        if arguments.sizes.len() > 1 {
            return Err(Failure::new(
                Exit::Usage,
                "a mix has one size",
                "give one, or name the operations with their sizes",
            ));
        }
        let part =
            |(name, weight): &(String, f64)| Ok((choose(name, key, sizes[0])?.operation, *weight));
        let parts: Vec<_> = arguments
            .mix
            .iter()
            .map(part)
            .collect::<Result<_, Failure>>()?;
        return mix(&parts, flags, (format, arguments.dry_run));
    }
    let (kind, names) = of_kind(&arguments.names);
    let mut chosen = Vec::new();
    for name in names {
        for size in &sizes {
            let one = choose(name, key, *size)?;
            expect_kind(&one, kind)?;
            chosen.push(one);
        }
    }
    unique(&chosen)?;
    if arguments.dry_run {
        let plan = |chosen: &Chosen| {
            let operation = flags.targets.shaped(&chosen.operation);
            planned(chosen, &operation, &flags.load, &flags.judging)
        };
        let plans: Vec<_> = chosen.iter().map(plan).collect::<Result<_, _>>()?;
        return told(plans.iter().map(|plan| (plan, flags.load.runs())));
    }
    let (sitting, cases) = measured(&chosen, flags, (format, None))?;
    sitting.finish(cases, Some(&flags.judging))
}

/// The kind of target that the first word names, where others follow it, and these.
fn of_kind(names: &[String]) -> (Option<&str>, &[String]) {
    match names {
        [first, rest @ ..] if !rest.is_empty() && is_kind(first) => (Some(first), rest),
        _ => (None, names),
    }
}

fn is_kind(word: &str) -> bool {
    Workshop::operations().any(|operation| operation.target == word)
}

fn expect_kind(chosen: &Chosen, kind: Option<&str>) -> Result<(), Failure> {
    let operation = &chosen.operation;
    match kind {
        Some(kind) if operation.target != kind => Err(Failure::new(
            Exit::Usage,
            format!("{} is no operation of {kind}", operation.name),
            format!("it is one of {}", operation.target),
        )),
        _ => Ok(()),
    }
}

/// Two cases of one name could not be told apart by gates and baselines.
fn unique(chosen: &[Chosen]) -> Result<(), Failure> {
    for (place, one) in chosen.iter().enumerate() {
        if chosen[..place].iter().any(|other| other.id == one.id) {
            return Err(Failure::new(
                Exit::Usage,
                format!("{} is named twice", one.id),
                "name it once; --runs says how often it is run",
            ));
        }
    }
    Ok(())
}

fn mix(
    parts: &[(Operation, f64)],
    flags: &MeasureFlags,
    (format, dry_run): (Format, bool),
) -> Result<Exit, Failure> {
    let (load, judging) = (&flags.load, &flags.judging);
    if let Some((other, _)) = parts
        .iter()
        .find(|(operation, _)| operation.target != "local")
    {
        return Err(Failure::new(
            Exit::Usage,
            format!(
                "{} is no operation of this process and cannot be mixed",
                other.name
            ),
            "of a service there is service.mixed; see `keywright bench list ops`",
        ));
    }
    if dry_run {
        return told([(&mix_planned(parts, load, judging)?, load.runs())]);
    }
    let sitting = Sitting::begin(&flags.output, judging, format, load.seed, load.runs())?;
    let bench = Bench::new(&sitting, &flags.targets)?;
    let ready = bench.mixed(parts, load, judging)?;
    let cases = in_turns(&sitting, load, vec![ready])?;
    drop(bench);
    sitting.finish(cases, Some(judging))
}

/// What would be measured, a line each.
pub(super) fn told<'a>(
    plans: impl IntoIterator<Item = (&'a CasePlan, u32)>,
) -> Result<Exit, Failure> {
    let mut rows = vec![
        ["case", "operation", "target", "runs", "expected"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for (plan, runs) in plans {
        let expected = plan.expected().map_or_else(
            || "unknown".to_owned(),
            |time| format!("{:.0} s", time.as_secs_f64() * f64::from(runs)),
        );
        rows.push(vec![
            plan.id.clone(),
            plan.op.clone(),
            plan.target.clone(),
            runs.to_string(),
            expected,
        ]);
    }
    output::data(output::table(&rows).as_bytes())?;
    Ok(Exit::Ok)
}

/// Measures operations in turns, as the flags say; what came of it is not judged yet.
pub(super) fn measured(
    chosen: &[Chosen],
    flags: &MeasureFlags,
    (format, question): (Format, Option<Question>),
) -> Result<(Sitting, Vec<Case>), Failure> {
    let MeasureFlags {
        load,
        judging,
        targets,
        output,
    } = flags;
    let mut sitting = Sitting::begin(output, judging, format, load.seed, load.runs())?;
    sitting.question = question;
    let bench = Bench::new(&sitting, targets)?;
    let ready = chosen
        .iter()
        .map(|one| bench.ready(&sitting, one, load, judging));
    let ready = ready.collect::<Result<Vec<_>, _>>()?;
    let cases = in_turns(&sitting, load, ready)?;
    Ok((sitting, cases))
}

/// Measures plans with their carriers, in turns.
pub(super) fn in_turns(
    sitting: &Sitting,
    load: &LoadFlags,
    mut ready: Vec<(CasePlan, AnyCarrier)>,
) -> Result<Vec<Case>, Failure> {
    let mut entries: Vec<Entry<'_>> = ready
        .iter_mut()
        .map(|(plan, carrier)| Entry {
            plan: plan.clone(),
            carrier: carrier as &mut dyn Carrier,
        })
        .collect();
    sitting.measure(&load.pace(), &mut entries)
}
