//! Flags that say how targets are loaded.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use keywright_measure::carry::Verify;
use keywright_measure::plan::CasePlan;
use keywright_measure::{Arrival, Load, Open, Phase, Window};
use keywright_targets::suite::Preset;

use super::{count, time, time_or_zero};
use crate::bench::sitting::Pace;
use crate::exit::{Exit, Failure};

/// How targets are loaded.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Load")]
pub(in crate::bench) struct LoadFlags {
    /// How long each run is.
    #[arg(long, short = 'd', value_name = "TIME", default_value = "2s", value_parser = time)]
    pub(in crate::bench) duration: Duration,
    /// Operations of each run, instead of a time.
    #[arg(long, short = 'n', value_name = "COUNT", value_parser = count)]
    pub(in crate::bench) iterations: Option<u64>,
    /// Runs of each operation, in turns.
    #[arg(long, alias = "rounds", value_name = "N", default_value_t = 5)]
    pub(in crate::bench) runs: u32,
    /// Operations in flight at once: threads of local work, streams of a service.
    #[arg(long, short = 'c', alias = "threads", value_name = "N")]
    pub(in crate::bench) concurrency: Option<NonZeroU32>,
    /// Spread operations of this program over so many processes, each with --concurrency threads; a rate is
    /// divided among them, and there is one result.
    #[arg(long, value_name = "N", default_value = "1", value_parser = processes)]
    pub(in crate::bench) processes: NonZeroU32,
    /// Start operations by a schedule of so many a second, whatever the target does.
    #[arg(long, short = 'r', value_name = "RATE", value_parser = count)]
    pub(in crate::bench) rate: Option<u64>,
    /// How a schedule spreads operations.
    #[arg(long, value_enum, default_value_t = ArrivalFlag::Constant)]
    pub(in crate::bench) arrival: ArrivalFlag,
    /// Not measured, before each run.
    #[arg(long, short = 'w', value_name = "TIME", default_value = "300ms", value_parser = time_or_zero)]
    pub(in crate::bench) warmup: Duration,
    /// Rest before each run but the first.
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = time_or_zero)]
    pub(in crate::bench) cooldown: Duration,
    /// From when it was due, an operation may take this long.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = time)]
    pub(in crate::bench) timeout: Duration,
    /// After the last start, answers are waited for this long.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = time)]
    pub(in crate::bench) drain: Duration,
    /// Iterations, warm-up and runs for an occasion: quick, dev, baseline or production.
    #[arg(long, value_name = "OCCASION", value_parser = preset)]
    pub(in crate::bench) preset: Option<Preset>,
    /// What inputs, schedules and orders are drawn from.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(in crate::bench) seed: u64,
    /// How many outputs are looked at.
    #[arg(long, value_enum, default_value_t = VerifyFlag::Sample)]
    pub(in crate::bench) verify: VerifyFlag,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::bench) enum ArrivalFlag {
    /// At even distances.
    Constant,
    /// Independent of each other.
    Poisson,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::bench) enum VerifyFlag {
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

impl LoadFlags {
    /// Runs of each case.
    pub(in crate::bench) fn runs(&self) -> u32 {
        self.preset.map_or(self.runs, runs_of)
    }

    /// How runs follow each other. A block is a tenth of a run, at most a second, at least a twentieth.
    pub(in crate::bench) fn pace(&self) -> Pace {
        Pace {
            runs: self.runs(),
            cooldown: self.cooldown,
            seed: self.seed,
            block: (self.duration / 10).clamp(Duration::from_millis(50), Duration::from_secs(1)),
        }
    }

    /// Fills in how a case is loaded; `places` is how many operations its target takes at once by itself.
    pub(in crate::bench) fn apply(
        &self,
        plan: &mut CasePlan,
        places: NonZeroU32,
    ) -> Result<(), Failure> {
        if self.runs == 0 || self.iterations == Some(0) {
            return Err(Failure::new(
                Exit::Usage,
                "nothing to measure: zero runs or iterations",
                "give --runs and --iterations of at least 1",
            ));
        }
        let processes = self.processes.get();
        if self
            .iterations
            .is_some_and(|most| most < u64::from(processes))
        {
            return Err(Failure::new(
                Exit::Usage,
                format!("{processes} processes need an operation each"),
                "give more --iterations, or fewer --processes",
            ));
        }
        let cap = match processes {
            1 => self.concurrency.unwrap_or(places),
            _ => self.concurrency.unwrap_or(NonZeroU32::MIN),
        };
        let cap = cap.saturating_mul(self.processes);
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

/// Parameters that every case of a command shares.
pub(in crate::bench) fn parameters(load: &LoadFlags) -> BTreeMap<String, String> {
    let mut parameters = BTreeMap::new();
    if let Some(preset) = load.preset {
        parameters.insert("preset".to_owned(), preset.name().to_owned());
    }
    if load.processes.get() > 1 {
        let processes = load.processes.to_string();
        parameters.insert("processes".to_owned(), processes);
    }
    parameters
}

/// More processes than this are no measurement any more.
const MOST_PROCESSES: u32 = 256;

fn processes(text: &str) -> Result<NonZeroU32, String> {
    let count: Option<NonZeroU32> = text.parse().ok();
    count
        .filter(|count| count.get() <= MOST_PROCESSES)
        .ok_or_else(|| format!("give a number of processes between 1 and {MOST_PROCESSES}"))
}
