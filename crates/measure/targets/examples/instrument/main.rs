//! Measures the instrument itself, in real time and over real sockets, and holds the figures against bars.
//!
//! `instrument [CHECK...] [--seconds N] [--server-cpu N] [--criterion FOLDER]`
//!
//! Checks are `stall`, `pacing`, `timer`, `criterion`, `cost`, `memory` and `dashboards`; all of them
//! unless some are named. `--seconds` is the length of a stall test, 10 unless said, and everything else
//! that has a length goes with it. Servers are processes of their own, pinned to `--server-cpu`; pin this
//! program to another core. `--criterion` is where the bench `criterion` of this crate left its estimates.
//!
//! One line a bar: `name: value (bar ...) ok`, `MISSED`, or `n/a because ...`. The exit code is 1 for
//! arguments that are none, else 3 if a bar was missed, else 4 if a bar could not be measured. A figure
//! that hangs on the machine's quiet and misses its bar while other programs take more than 1 % of this
//! core counts as not measured. The books of every run are balanced, whatever it was for.
//!
//! What the test suite shows in simulated time is not repeated here: coverage, gates, searches.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command")]
#![forbid(unsafe_code)]

mod cost;
mod criterion;
mod dashboards;
mod engine;
mod local;
mod memory;
mod pacing;
mod processor;
mod remote;
mod serve;
mod sheet;
mod spin;
mod stall;
mod stub;
mod timer;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use engine::Engine;
use sheet::Sheet;

/// Anything that keeps a check from being made.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What a check is made with.
struct Bench {
    engine: Engine,
    /// The length of a stall test, to which all others are in proportion.
    seconds: f64,
    server_cpu: Option<u32>,
    criterion: Option<PathBuf>,
}

impl Bench {
    /// So many seconds of a whole program of measurements, in which a stall test lasts ten.
    fn seconds_of_ten(&self, seconds: f64) -> Duration {
        Duration::from_secs_f64((seconds * self.seconds / 10.0).max(0.01))
    }
}

/// A check by its name.
type Check = (&'static str, fn(&Bench, &mut Sheet) -> Result<(), Failure>);

const CHECKS: [Check; 7] = [
    ("stall", stall::check),
    ("pacing", pacing::check),
    ("timer", timer::check),
    ("criterion", criterion::check),
    ("cost", cost::check),
    ("memory", memory::check),
    ("dashboards", dashboards::check),
];

/// What the command line asks for.
struct Asked {
    checks: Vec<Check>,
    bench: Bench,
}

fn asked(arguments: &[String]) -> Result<Asked, Failure> {
    let mut bench = Bench {
        engine: Engine::new(),
        seconds: 10.0,
        server_cpu: None,
        criterion: None,
    };
    let mut checks = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || {
            rest.next()
                .ok_or_else(|| format!("{argument} needs a value"))
        };
        match argument.as_str() {
            "--seconds" => bench.seconds = value()?.parse()?,
            "--server-cpu" => bench.server_cpu = Some(value()?.parse()?),
            "--criterion" => bench.criterion = Some(value()?.into()),
            name => {
                let check = CHECKS.iter().find(|(known, _)| *known == name);
                checks.push(*check.ok_or_else(|| format!("there is no check {name:?}"))?);
            }
        }
    }
    if !(0.1..=600.0).contains(&bench.seconds) {
        return Err("--seconds lies between 0.1 and 600".into());
    }
    if checks.is_empty() {
        checks = CHECKS.to_vec();
    }
    Ok(Asked { checks, bench })
}

fn measure(asked: &Asked) -> ExitCode {
    let mut sheet = Sheet::new(asked.bench.engine.clock.clone());
    asked.bench.engine.describe(&sheet);
    for (name, check) in &asked.checks {
        if let Err(error) = check(&asked.bench, &mut sheet) {
            sheet.not_measured(name, &error.to_string());
        }
    }
    asked.bench.engine.accounting(&mut sheet);
    sheet.exit()
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let refused = |error: Failure| {
        eprintln!("instrument: {error}");
        ExitCode::FAILURE
    };
    // The other side of a check, in a process of its own.
    if let Some(("other-side", rest)) = arguments.split_first().map(|(a, b)| (a.as_str(), b)) {
        return serve::other_side(rest).map_or_else(refused, |()| ExitCode::SUCCESS);
    }
    asked(&arguments).map_or_else(refused, |asked| measure(&asked))
}
