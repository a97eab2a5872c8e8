//! `bench saturate` and `bench spike`: how much a target takes, and how it comes back from too much.

use std::num::NonZeroU32;
use std::time::Duration;

use keywright_measure::assemble::{Evidence, assemble};
use keywright_measure::carry::{Assignment, Verify};
use keywright_measure::document::{Case, Model};
use keywright_measure::plan::CasePlan;
use keywright_measure::saturate::{Search, Setting, by_rate};
use keywright_measure::spike::Spike;
use keywright_measure::{Arrival, Carried, Load, Window};
use keywright_targets::operation::AnyCarrier;

use super::flags::{ArrivalFlag, JudgeFlags, LoadFlags, MeasureFlags, count, time};
use super::op::find;
use super::ready::Bench;
use super::sitting::{Sitting, facts, unmeasurable};
use crate::exit::{Exit, Failure};
use crate::output::Format;

/// Search the highest rate at which objectives hold.
#[derive(Debug, clap::Args)]
pub(crate) struct SaturateArguments {
    /// The operation.
    name: String,
    /// The first rate.
    #[arg(long, value_name = "RATE", default_value = "1000", value_parser = count)]
    start: u64,
    /// No higher rate is tried.
    #[arg(long, value_name = "RATE", default_value = "1m", value_parser = count)]
    most: u64,
    /// How long a trial is while the bounds are far apart.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = time)]
    short: Duration,
    /// How long a trial is that confirms a bound.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = time)]
    long: Duration,
    #[command(flatten)]
    flags: MeasureFlags,
}

/// A spike between two calm stretches, and how long recovery takes.
#[derive(Debug, clap::Args)]
pub(crate) struct SpikeArguments {
    /// The operation.
    name: String,
    /// The calm rate.
    #[arg(long, value_name = "RATE", default_value = "1000", value_parser = count)]
    base: u64,
    /// The rate of the spike.
    #[arg(long, value_name = "RATE", default_value = "10000", value_parser = count)]
    peak: u64,
    /// Calm before.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = time)]
    before: Duration,
    /// The length of the spike.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = time)]
    during: Duration,
    /// Calm after.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time)]
    after: Duration,
    #[command(flatten)]
    flags: MeasureFlags,
}

/// Operations in flight that an open load may have when nobody says: enough for a backlog to show.
const CAP: u32 = 1000;
/// The window of a spike's reading.
const WINDOW: Duration = Duration::from_millis(100);

/// A sitting of one operation, with its bench and what carries it.
fn begin(
    name: &str,
    flags: &MeasureFlags,
    format: Format,
) -> Result<(Sitting, Bench, (CasePlan, AnyCarrier)), Failure> {
    let MeasureFlags {
        output,
        judging,
        load,
        targets,
        ..
    } = flags;
    judging.without_budget()?;
    let sitting = Sitting::begin(output, judging, format, load.seed, 1)?;
    let bench = Bench::new(&sitting, targets)?;
    let ready = ready(&sitting, &bench, name, load, judging)?;
    Ok((sitting, bench, ready))
}

fn ready(
    sitting: &Sitting,
    bench: &Bench,
    name: &str,
    load: &LoadFlags,
    judging: &JudgeFlags,
) -> Result<(CasePlan, AnyCarrier), Failure> {
    let operation = find(name)?;
    let local = operation.target == "local";
    // Threads are dear, streams are not.
    let natural = if local { 4 } else { CAP };
    let load = LoadFlags {
        concurrency: load.concurrency.or(NonZeroU32::new(natural)),
        rate: None,
        ..load.clone()
    };
    bench.ready(sitting, &operation.into(), &load, judging)
}

pub(super) fn saturate(arguments: &SaturateArguments, format: Format) -> Result<Exit, Failure> {
    let (sitting, bench, (mut plan, mut carrier)) =
        begin(&arguments.name, &arguments.flags, format)?;
    let search = Search {
        start_per_s: arguments.start as f64,
        most_per_s: arguments.most as f64,
        short: arguments.short,
        long: arguments.long,
        cap: plan.load.cap(),
        objectives: plan.objectives.clone(),
        error_budget: plan.error_budget,
        verify: plan.verify,
        timeout: plan.timeout,
        drain: plan.drain,
        ..Search::default()
    };
    let setting = Setting {
        clock: &sitting.clock,
        stop: &sitting.stop,
        seed: sitting.seed,
    };
    let found = by_rate(&mut carrier, &search, setting).map_err(|error| unmeasurable(&error))?;
    drop(carrier);
    drop(bench);
    let Some(mut best) = found.best else {
        return Err(Failure::new(
            Exit::MeasurementInvalid,
            format!("no rate from {} a second upwards holds", arguments.start),
            "start lower: --start RATE",
        ));
    };
    let rate = found
        .model
        .highest_passing_per_s
        .unwrap_or(arguments.start as f64);
    plan.load = open(rate, arguments.long, &plan)?;
    plan.window = Window::Time(arguments.long);
    plan.id = format!("{}.saturate", arguments.name);
    best.interrupted |= found.interrupted;
    let mut case = case_of(&plan, best);
    case.model = Some(Model::Saturation(found.model));
    sitting.finish(vec![case], Some(&arguments.flags.judging))
}

fn open(rate: f64, time: Duration, plan: &CasePlan) -> Result<Load, Failure> {
    let phase = keywright_measure::Phase::constant(rate, time)
        .map_err(|error| Failure::new(Exit::Usage, error.to_string(), "give another rate"))?;
    Ok(Load::Open(keywright_measure::Open {
        arrival: Arrival::Poisson,
        phases: vec![phase],
        cap: plan.load.cap(),
    }))
}

fn case_of(plan: &CasePlan, carried: Carried) -> Case {
    let mut evidence = Evidence::default();
    evidence.interrupted = carried.interrupted;
    evidence.runs.push(carried);
    assemble(plan, evidence, &[], &facts(), 1)
}

pub(super) fn spike(arguments: &SpikeArguments, format: Format) -> Result<Exit, Failure> {
    let load = &arguments.flags.load;
    let (sitting, bench, (mut plan, mut carrier)) =
        begin(&arguments.name, &arguments.flags, format)?;
    let spike = Spike {
        arrival: match load.arrival {
            ArrivalFlag::Constant => Arrival::Constant,
            ArrivalFlag::Poisson => Arrival::Poisson,
        },
        base_per_s: arguments.base as f64,
        spike_per_s: arguments.peak as f64,
        before: arguments.before,
        during: arguments.during,
        after: arguments.after,
        cap: plan.load.cap(),
        margin: 0.2,
    };
    let schedule = spike.load().map_err(|error| {
        Failure::new(Exit::Usage, error.to_string(), "give other rates or times")
    })?;
    let assignment = Assignment {
        load: &schedule,
        window: Window::Time(arguments.before + arguments.during + arguments.after),
        seed: sitting.seed,
        verify: Verify::Sample,
        timeout: load.timeout,
        drain: load.drain,
        block: WINDOW,
        clock: &sitting.clock,
        stop: &sitting.stop,
    };
    let (carried, model) = spike
        .carry(&mut carrier, &assignment, &mut |_, _| {})
        .map_err(|error| unmeasurable(&error))?;
    drop(carrier);
    drop(bench);
    plan.load = schedule.clone();
    plan.window = assignment.window;
    plan.id = format!("{}.spike", arguments.name);
    let mut case = case_of(&plan, carried);
    case.model = model.map(Model::Recovery);
    sitting.finish(vec![case], Some(&arguments.flags.judging))
}
