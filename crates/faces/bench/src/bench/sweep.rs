//! `bench scale` and `bench sizes`: one operation at several numbers of threads, or sizes of payload.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use keywright_measure::document::Model;
use keywright_measure::{scale, sizes};
use keywright_targets::operation::Operation;
use keywright_targets::workshop::Workshop;

use super::flags::{LoadFlags, MeasureFlags, size};
use super::op::{choose, find, in_turns, measured};
use super::ready::{Bench, Chosen};
use super::sitting::Sitting;
use crate::exit::{Exit, Failure};
use crate::output::Format;

/// Throughput over threads or streams.
#[derive(Debug, clap::Args)]
pub(crate) struct ScaleArguments {
    /// The operation.
    name: String,
    /// Operations in flight at once, one after the other.
    #[arg(
        long = "steps",
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "1,2,4,8"
    )]
    steps: Vec<NonZeroU32>,
    #[command(flatten)]
    flags: MeasureFlags,
}

/// Time over payload size: per call and per byte.
#[derive(Debug, clap::Args)]
pub(crate) struct SizesArguments {
    /// Operations of one kind and several sizes: their common name, such as `hash.sha256`.
    #[arg(value_name = "NAME")]
    stem: String,
    /// The sizes, instead of those that `bench list ops` has.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = size)]
    sizes: Vec<u64>,
    #[command(flatten)]
    flags: MeasureFlags,
}

pub(super) fn scale(arguments: &ScaleArguments, format: Format) -> Result<Exit, Failure> {
    let operation = find(&arguments.name)?;
    let sitting = Sitting::begin(
        &arguments.flags.output,
        &arguments.flags.judging,
        format,
        arguments.flags.load.seed,
        arguments.flags.load.runs(),
    )?;
    let bench = Bench::new(&sitting, &arguments.flags.targets)?;
    let mut ready = Vec::new();
    for step in &arguments.steps {
        let load = LoadFlags {
            concurrency: Some(*step),
            ..arguments.flags.load.clone()
        };
        let (mut plan, carrier) =
            bench.ready(&sitting, &operation.into(), &load, &arguments.flags.judging)?;
        plan.id = format!("{}.x{step}", operation.name);
        plan.parameters
            .insert("threads".to_owned(), step.to_string());
        ready.push((plan, carrier));
    }
    let mut cases = in_turns(&sitting, &arguments.flags.load, ready)?;
    drop(bench);
    let points: Vec<scale::Point> = cases.iter().map(scale::Point::of).collect();
    match scale::model(&points) {
        None => sitting.remark(
            "there are too few steps for a law of scaling",
            "give at least three, and 1 among them: --steps 1,2,4",
        ),
        Some(model) => {
            for remark in scale::remarks(&model) {
                sitting.remark(remark.text, remark.remedy.as_deref().unwrap_or_default());
            }
            if let Some(last) = cases.last_mut() {
                last.model = Some(Model::Scaling(model));
            }
        }
    }
    sitting.finish(cases, Some(&arguments.flags.judging))
}

pub(super) fn sizes(arguments: &SizesArguments, format: Format) -> Result<Exit, Failure> {
    let family = match arguments.sizes.as_slice() {
        [] => family(&arguments.stem)?,
        sizes => {
            let sizes = BTreeSet::from_iter(sizes);
            let one = |size: &&u64| choose(&arguments.stem, None, Some(**size));
            sizes.iter().map(one).collect::<Result<_, _>>()?
        }
    };
    let (sitting, mut cases) = measured(&family, &arguments.flags, (format, None))?;
    let points: Vec<sizes::Point> = cases
        .iter()
        .zip(&family)
        .map(|(case, chosen)| sizes::Point::of(case, chosen.operation.bytes))
        .collect();
    match sizes::model(&points, arguments.flags.load.seed) {
        None => sitting.remark(
            "there are too few sizes for a line",
            "give three at least: --sizes 1KiB,10KiB,100KiB",
        ),
        Some(model) => {
            if !model.misfits.is_empty() {
                let sizes: Vec<String> = model.misfits.iter().map(u64::to_string).collect();
                sitting.remark(
                    format!("the line does not hold at {} bytes", sizes.join(", ")),
                    "do not predict these sizes from it",
                );
            }
            if let Some(last) = cases.last_mut() {
                last.model = Some(Model::Size(model));
            }
        }
    }
    sitting.finish(cases, Some(&arguments.flags.judging))
}

/// Operations called `stem.SIZE`, by size.
fn family(stem: &str) -> Result<Vec<Chosen>, Failure> {
    let sized = |operation: &&Operation| {
        let rest = operation
            .name
            .strip_prefix(stem)
            .and_then(|rest| rest.strip_prefix('.'));
        operation.bytes > 0 && operation.units == 1 && rest.is_some_and(|rest| !rest.contains('.'))
    };
    let mut family: Vec<_> = Workshop::operations().filter(sized).collect();
    family.sort_by_key(|operation| operation.bytes);
    if family.is_empty() {
        return Err(Failure::new(
            Exit::NotFound,
            format!("no operation is called {stem} and a size"),
            "give a name without its size, such as hash.sha256; see `keywright bench list ops`",
        ));
    }
    Ok(family.into_iter().map(Chosen::from).collect())
}
