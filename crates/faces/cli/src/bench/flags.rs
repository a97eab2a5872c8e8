//! The flags that measuring commands have in common, each defined once.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use keywright_measure::carry::Verify;
use keywright_measure::latency::{Few, Percentile};
use keywright_measure::plan::{CasePlan, Slo, parse_count, parse_time};
use keywright_measure::{Arrival, Load, Open, Phase, Window};
use keywright_report::exports::Profile;
use keywright_targets::operation::{Make, Operation};
use keywright_targets::suite::Preset;

use super::sitting::Pace;
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

/// How targets are loaded.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Load")]
pub(super) struct LoadFlags {
    /// How long each run is.
    #[arg(long, short = 'd', value_name = "TIME", default_value = "2s", value_parser = time)]
    pub(super) duration: Duration,
    /// Operations of each run, instead of a time.
    #[arg(long, short = 'n', value_name = "COUNT", value_parser = count)]
    pub(super) iterations: Option<u64>,
    /// Runs of each operation, in turns.
    #[arg(long, alias = "rounds", value_name = "N", default_value_t = 5)]
    pub(super) runs: u32,
    /// Operations in flight at once: threads of local work, streams of a service.
    #[arg(long, short = 'c', alias = "threads", value_name = "N")]
    pub(super) concurrency: Option<NonZeroU32>,
    /// Start operations by a schedule of so many a second, whatever the target does.
    #[arg(long, short = 'r', value_name = "RATE", value_parser = count)]
    pub(super) rate: Option<u64>,
    /// How a schedule spreads operations.
    #[arg(long, value_enum, default_value_t = ArrivalFlag::Constant)]
    pub(super) arrival: ArrivalFlag,
    /// Not measured, before each run.
    #[arg(long, short = 'w', value_name = "TIME", default_value = "300ms", value_parser = time_or_zero)]
    pub(super) warmup: Duration,
    /// Rest before each run but the first.
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = time_or_zero)]
    pub(super) cooldown: Duration,
    /// From when it was due, an operation may take this long.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = time)]
    pub(super) timeout: Duration,
    /// After the last start, answers are waited for this long.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = time)]
    pub(super) drain: Duration,
    /// Iterations, warm-up and runs for an occasion: quick, dev, baseline or production.
    #[arg(long, value_name = "OCCASION", value_parser = preset)]
    pub(super) preset: Option<Preset>,
    /// What inputs, schedules and orders are drawn from.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(super) seed: u64,
    /// How many outputs are looked at.
    #[arg(long, value_enum, default_value_t = VerifyFlag::Sample)]
    pub(super) verify: VerifyFlag,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ArrivalFlag {
    /// At even distances.
    Constant,
    /// Independent of each other.
    Poisson,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum VerifyFlag {
    /// Every output.
    All,
    /// None; the result says so.
    Off,
    /// One in a hundred.
    Sample,
}

/// A preset by its name.
fn preset(text: &str) -> Result<Preset, String> {
    Preset::named(text).ok_or_else(|| format!("choose one of {}", Preset::NAMES.join(", ")))
}

/// Runs of a preset: a look, a few to see the spread, and as many as comparisons need.
const fn runs_of(preset: Preset) -> u32 {
    match preset {
        Preset::Quick => 1,
        Preset::Dev => 3,
        Preset::Baseline => 6,
        _ => 10,
    }
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
    #[arg(long, value_name = "NAME|FILE")]
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
}

/// What a comparison that decides nothing ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Doubt {
    /// The exit code 4.
    Fail,
    /// Success; the word stays in the result.
    Pass,
}

/// Where results go.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(super) struct OutputFlags {
    /// Write the result to a file; its ending says how: .json, .csv, .html, .txt, .md.
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(super) output: Vec<PathBuf>,
    /// Print the result in another tool's form instead.
    #[arg(long = "as", value_name = "FORM")]
    pub(super) profile: Option<Profile>,
    /// Write what happens while measuring to a file, one JSON object a line.
    #[arg(long, value_name = "FILE")]
    pub(super) events: Option<PathBuf>,
    /// Write exit code and name to a file as well.
    #[arg(long, value_name = "FILE")]
    pub(super) status_file: Option<PathBuf>,
    /// Every histogram, quantile and run in the text.
    #[arg(long, short = 'v')]
    pub(super) verbose: bool,
    /// Nothing but the result.
    #[arg(long, short = 'q')]
    pub(super) quiet: bool,
    /// Colour in the text.
    #[arg(long, value_enum, default_value_t = Colour::Auto)]
    pub(super) color: Colour,
    /// Show a dashboard on the terminal while measuring: q stops, ? lists keys.
    #[arg(long)]
    pub(super) watch: bool,
    /// Serve a web dashboard on this loopback address while measuring.
    #[arg(long, value_name = "ADDR:PORT")]
    pub(super) serve: Option<std::net::SocketAddr>,
    /// A note that stays with the result.
    #[arg(long, value_name = "TEXT")]
    pub(super) note: Option<String>,
    /// Keep the result under this name, to compare with later.
    #[arg(long, value_name = "NAME")]
    pub(super) save_baseline: Option<String>,
    #[command(flatten)]
    pub(super) past: PastFlags,
}

/// Where earlier results are kept.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct PastFlags {
    /// The history of results; by default bench.sqlite in the user's state folder.
    #[arg(long, value_name = "FILE", env = "KEYWRIGHT_BENCH_HISTORY")]
    pub(super) history: Option<PathBuf>,
    /// Do not write this result into the history.
    #[arg(long)]
    pub(super) no_history: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Colour {
    /// On a terminal that wants it.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The server of service operations.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Targets")]
pub(super) struct TargetFlags {
    /// Pin servers to this core (with `taskset`); pin this program to another.
    #[arg(long, value_name = "CPU")]
    pub(super) server_cpu: Option<u32>,
    /// Connections to a service; each operation has its own number.
    #[arg(long, value_name = "N")]
    pub(super) connections: Option<NonZeroU32>,
    /// Requests in flight on each connection.
    #[arg(long, value_name = "N")]
    pub(super) streams: Option<NonZeroU32>,
    /// The version of HTTP that a service is asked in.
    #[arg(long, value_name = "1|2", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub(super) http: Option<u8>,
    /// A bare server to compare with, called as `PROGRAM ADDR CA CERT KEY`: the operation `service.floor`.
    #[arg(long, value_name = "PROGRAM")]
    pub(super) floor: Option<PathBuf>,
    /// A folder for files and homes of the measurement; by default one that is removed afterwards.
    #[arg(long, value_name = "DIR")]
    pub(super) work: Option<PathBuf>,
    /// The address of a secret store for `vault` operations, or `dev` to start the `bao` or `vault` on PATH;
    /// without either a stand-in is started, and labelled as one.
    #[arg(long, value_name = "URL|dev")]
    pub(super) store: Option<String>,
    /// A file with the token of that store.
    #[arg(long, value_name = "FILE", requires = "store")]
    pub(super) store_token_file: Option<PathBuf>,
    /// The certificate authority of that store.
    #[arg(long, value_name = "FILE", requires = "store")]
    pub(super) store_ca: Option<PathBuf>,
}

impl TargetFlags {
    /// The operation with the connections, streams and version of HTTP that were asked for.
    pub(super) fn shaped(&self, operation: &Operation) -> Operation {
        let mut operation = *operation;
        if let Make::Service(shape) = &mut operation.make {
            shape.connections = self.connections.map_or(shape.connections, NonZeroU32::get);
            shape.streams = self.streams.map_or(shape.streams, NonZeroU32::get);
            shape.http1 = self.http.map_or(shape.http1, |version| version == 1);
        }
        operation
    }
}

impl LoadFlags {
    /// Runs of each case.
    pub(super) fn runs(&self) -> u32 {
        self.preset.map_or(self.runs, runs_of)
    }

    /// How runs follow each other. A block is a tenth of a run, at most a second, at least a twentieth.
    pub(super) fn pace(&self) -> Pace {
        Pace {
            runs: self.runs(),
            cooldown: self.cooldown,
            block: (self.duration / 10).clamp(Duration::from_millis(50), Duration::from_secs(1)),
        }
    }

    /// Fills in how a case is loaded; `places` is how many operations its target takes at once by itself.
    pub(super) fn apply(&self, plan: &mut CasePlan, places: NonZeroU32) -> Result<(), Failure> {
        if self.runs == 0 || self.iterations == Some(0) {
            return Err(Failure::new(
                Exit::Usage,
                "nothing to measure: zero runs or iterations",
                "give --runs and --iterations of at least 1",
            ));
        }
        let cap = self.concurrency.unwrap_or(places);
        plan.load = match self.rate {
            None => Load::Closed { workers: cap },
            Some(rate) => Load::Open(self.schedule(rate, cap)?),
        };
        plan.window = match (self.iterations, self.preset) {
            (Some(most), _) => Window::Operations(most),
            (None, Some(preset)) => Window::Operations(preset.iterations()),
            (None, None) => Window::Time(self.duration),
        };
        plan.warmup = self.warmup;
        plan.warmup_operations = self.preset.map(Preset::warmup);
        plan.timeout = self.timeout;
        plan.drain = self.drain;
        plan.verify = match self.verify {
            VerifyFlag::All => Verify::All,
            VerifyFlag::Off => Verify::Off,
            VerifyFlag::Sample => Verify::Sample,
        };
        Ok(())
    }

    fn schedule(&self, rate: u64, cap: NonZeroU32) -> Result<Open, Failure> {
        // With a count of operations the schedule is as long as they need.
        let duration = match self.iterations {
            Some(most) => Duration::from_secs_f64((most as f64 / rate.max(1) as f64).max(1e-3)),
            None => self.duration,
        };
        let phase = Phase::constant(rate as f64, duration)
            .map_err(|error| Failure::new(Exit::Usage, error.to_string(), "give another --rate"))?;
        Ok(Open {
            arrival: match self.arrival {
                ArrivalFlag::Constant => Arrival::Constant,
                ArrivalFlag::Poisson => Arrival::Poisson,
            },
            phases: vec![phase],
            cap,
        })
    }
}

impl JudgeFlags {
    /// Fills in what is judged.
    pub(super) fn apply(&self, plan: &mut CasePlan) {
        plan.objectives.extend(&self.slo);
        if !self.percentiles.is_empty() {
            plan.percentiles.clone_from(&self.percentiles);
            plan.few = Few::Give;
        }
    }
}

/// Parameters that every case of a command shares.
pub(super) fn parameters(load: &LoadFlags) -> BTreeMap<String, String> {
    let mut parameters = BTreeMap::new();
    if let Some(preset) = load.preset {
        parameters.insert("preset".to_owned(), preset.name().to_owned());
    }
    parameters
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

fn percent(text: &str) -> Result<f64, String> {
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
