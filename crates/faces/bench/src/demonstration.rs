//! A short measurement of the running service by the engine: closed loops, outputs looked at.
//!
//! Generator and service share the machine's cores here, and the table says so. `keywright bench` and
//! `make bench` measure with separate cores.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use keywright_clock::Clock;
use keywright_measure::document::{Case, Latency};
use keywright_measure::event::Nobody;
use keywright_measure::plan::CasePlan;
use keywright_measure::session::{Entry, Outcome, Session};
use keywright_measure::{Carrier, Load, Stop, Window, Word, judge};
use keywright_report::number;
use keywright_targets::service::{self, Access, Shape};
use serde::Serialize;

use crate::bench::{exit_of, unmeasurable};
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};
use crate::progress;

/// A demonstration that runs.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Its home.
    #[arg(long, value_name = "DIR")]
    home: PathBuf,
    /// The address of its service.
    #[arg(long, value_name = "URL")]
    url: String,
    /// How long to measure, in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: u64,
}

/// The table, for the program that shows it.
#[derive(Serialize)]
struct Table {
    lines: Vec<String>,
}

/// What is asked, and how many of what that is.
const ASKED: [(&str, &str, Shape); 2] = [
    (
        "encrypt, 12 bytes, 16 streams",
        "requests",
        Shape {
            connections: 1,
            ..Shape::MANY
        },
    ),
    (
        "encrypt, batches of 1,000 x 64 bytes",
        "items",
        Shape {
            connections: 1,
            streams: 1,
            bytes: 64,
            items: 1000,
            ..Shape::MANY
        },
    ),
];

/// Measures, and prints the table.
pub(crate) fn run(arguments: &Arguments, format: Format) -> Result<Exit, Failure> {
    let bar = progress::count(ASKED.len() as u64, "measuring");
    let access = Access::of_demonstration(&arguments.url, &arguments.home)
        .map_err(|error| unmeasurable(&error))?;
    let time = Duration::from_millis(arguments.seconds * 1000 / ASKED.len() as u64);
    let mut cases = Vec::new();
    for (what, unit, shape) in ASKED {
        let mut carrier =
            service::carrier(shape, &access, SEED).map_err(|error| unmeasurable(&error))?;
        cases.push(measure(plan(what, unit, shape, time), &mut carrier)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let lines = lines(&cases);
    output::document(
        format,
        &Table {
            lines: lines.clone(),
        },
        || lines.join("\n") + "\n",
    )?;
    Ok(Exit::Ok)
}

/// Inputs are drawn from it.
const SEED: u64 = 1;

fn plan(what: &str, unit: &str, shape: Shape, time: Duration) -> CasePlan {
    CasePlan {
        id: what.to_owned(),
        unit: unit.to_owned(),
        units: u64::from(shape.items),
        bytes: u64::from(shape.items) * u64::from(shape.bytes),
        load: Load::Closed {
            workers: NonZeroU32::new(shape.places()).unwrap_or(NonZeroU32::MIN),
        },
        window: Window::Time(time),
        warmup: time / 20,
        ..CasePlan::new("service.encrypt", "service")
    }
}

fn measure(plan: CasePlan, carrier: &mut dyn Carrier) -> Result<Case, Failure> {
    let clock = Clock::system();
    let session = Session {
        clock: &clock,
        seed: SEED,
        runs: 1,
        cooldown: Duration::ZERO,
        block: Duration::from_millis(500),
        facts: vec![Word::CoLocated],
        stop: &Stop::new(),
        rest: std::thread::sleep,
    };
    match session
        .measure(&mut [Entry { plan, carrier }], &Nobody)
        .pop()
    {
        Some(Outcome::Measured(case)) => sound(*case),
        Some(Outcome::Skipped { error, .. }) => Err(unmeasurable(&error)),
        _ => Err(Failure::broken("nothing was measured")),
    }
}

/// A figure with a wrong or a missing answer behind it is none.
fn sound(case: Case) -> Result<Case, Failure> {
    match exit_of(judge::exit_of(&case)) {
        Exit::Ok => Ok(case),
        exit => Err(Failure::new(
            exit,
            format!("{}: {}", case.id, case.verdict()),
            "see what the service answers: keywright bench op service.encrypt",
        )),
    }
}

fn lines(cases: &[Case]) -> Vec<String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut lines = vec![format!(
        "{:<38} {:>22} {:>10} {:>10} {:>10}",
        "", "rate", "p50", "p95", "p99"
    )];
    for case in cases {
        let of = |name| quantile(case.service.as_ref(), name);
        let rate = format!("{} {}", case.unit, number::rate(case.achieved_per_s));
        lines.push(format!(
            "{:<38} {rate:>22} {:>10} {:>10} {:>10}",
            case.id,
            of("p50"),
            of("p95"),
            of("p99")
        ));
    }
    lines.push(format!(
        "closed loop, one run each, on {cores} cores shared by generator and service; outputs sampled and compared"
    ));
    lines
}

/// A quantile, or why there is none.
fn quantile(latency: Option<&Latency>, name: &str) -> String {
    let quantile = latency.and_then(|latency| latency.quantile(name));
    match quantile.and_then(|quantile| quantile.value) {
        Some(nanos) => number::nanoseconds(nanos),
        None => format!("n/a (n={})", latency.map_or(0, |latency| latency.n)),
    }
}
