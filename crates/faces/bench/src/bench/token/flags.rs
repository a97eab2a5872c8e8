//! The flags of `hsm benchmark` that say what is measured and how.

use std::num::NonZeroU32;
use std::time::Duration;

use keywright_measure::document::Document;
use keywright_measure::plan::{parse_count, parse_time};
use keywright_targets::token::{Sharing, Storage};

use crate::bench::against;
use crate::bench::flags::{
    ArrivalFlag, JudgeFlags, LoadFlags, OutputFlags, VerifyFlag, count, part, time,
};
use crate::exit::{Exit, Failure};

/// What is measured and how.
#[derive(Clone, Debug, clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "flags of a command: each is a word of its own"
)]
pub(crate) struct TokenFlags {
    /// Operations of each run.
    #[arg(long, short = 'n', value_name = "COUNT", value_parser = count, default_value = "100", help_heading = LOAD)]
    pub(super) iterations: u64,
    /// How long each run is, instead of a number of operations: a stress test with its error rate.
    #[arg(long, short = 'd', value_name = "TIME", value_parser = time, conflicts_with = "iterations", help_heading = LOAD)]
    pub(super) duration: Option<Duration>,
    /// Operations, or a time, before each run that do not count.
    #[arg(long, short = 'w', value_name = "COUNT|TIME", value_parser = warmup, default_value = "0", help_heading = LOAD)]
    warmup: Warmup,
    /// Runs of each operation, in turns [default: 7; with --compare more if the baseline has fewer, so that
    /// differences can be told from chance].
    #[arg(long, alias = "rounds", value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = LOAD)]
    pub(super) runs: Option<u32>,
    /// Threads with a session each; several numbers make a sweep with its efficiency.
    #[arg(long, short = 'c', alias = "concurrency", value_name = "LIST", value_delimiter = ',', default_value = "1", help_heading = LOAD)]
    threads: Vec<NonZeroU32>,
    /// Start operations by a schedule of so many a second, whatever the token does.
    #[arg(long, short = 'r', value_name = "RATE", value_parser = count, help_heading = LOAD)]
    rate: Option<u64>,
    /// An operation may take this long.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = time, help_heading = LOAD)]
    timeout: Duration,
    /// What inputs, schedules and orders are drawn from; never keys and nonces.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, help_heading = LOAD)]
    pub(super) seed: u64,
    /// How many results are looked at.
    #[arg(long, value_enum, default_value_t = VerifyFlag::Sample, help_heading = LOAD)]
    verify: VerifyFlag,
    /// Operations of the table, as `keywright bench list ops` has them under pkcs11, instead of the fourteen rows.
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with_all = ["all", "key_label", "id"], help_heading = WHAT)]
    pub(super) ops: Vec<String>,
    /// All operations of the table: decryption, wrapping, key generation, log-in, sessions, search and more.
    #[arg(long, conflicts_with_all = ["key_label", "id"], help_heading = WHAT)]
    pub(super) all: bool,
    /// AES-GCM and SHA-256 in sizes of 1, 10, 100 KiB and 1 MiB, with the cost of a call and of a byte.
    #[arg(long, help_heading = WHAT)]
    pub(super) data_sizes: bool,
    /// Also operations with weights of any sum, one of them at a time: verify=80,sign=15,encrypt=5.
    #[arg(long, value_name = "NAME=WEIGHT", value_delimiter = ',', value_parser = part, conflicts_with_all = ["key_label", "id"], help_heading = WHAT)]
    pub(super) mix: Vec<(String, f64)>,
    /// Of which key short names in --mix and --ops are meant.
    #[arg(long, value_name = "KEY", default_value = "rsa2048-pkcs1", help_heading = WHAT)]
    pub(super) of: String,
    /// Also a call that does nothing, in turns with the others: what the way to the token takes, and what the
    /// operations take beyond it.
    #[arg(long, help_heading = WHAT)]
    pub(super) split: bool,
    /// Make keys in the token instead of in sessions, and destroy them afterwards.
    #[arg(long, help_heading = WHAT)]
    token_objects: bool,
    /// Give each thread a key of its own.
    #[arg(long, help_heading = WHAT)]
    own_keys: bool,
    /// Failures above this share of operations make a case wrong.
    #[arg(long, value_name = "PERCENT", value_parser = super::super::flags::percent, help_heading = "Judging")]
    pub(super) error_budget: Option<f64>,
    /// Say what would be measured, and measure nothing.
    #[arg(long)]
    pub(super) dry_run: bool,
    #[command(flatten)]
    pub(super) judging: JudgeFlags,
    #[command(flatten)]
    pub(super) output: OutputFlags,
}

/// Runs where nobody says otherwise. Rate and median of fourteen rows are 28 comparisons that are judged
/// together; with six runs on each side none of them could come out, however large its difference, and with
/// seven up to 85 can. So a baseline and a result that are both measured with defaults can be compared.
const RUNS: u32 = 7;

const LOAD: &str = "Load";
const WHAT: &str = "What";

/// What does not count at the beginning of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Warmup {
    Operations(u64),
    Time(Duration),
}

fn warmup(text: &str) -> Result<Warmup, String> {
    let operations = parse_count(text).map(Warmup::Operations);
    let time = || parse_time(text).map(Warmup::Time);
    operations
        .or_else(time)
        .ok_or_else(|| "give a number of operations such as 10, or a time such as 300ms".to_owned())
}

impl TokenFlags {
    /// Refuses what needs no token to be refused.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.iterations > 0 {
            return Ok(());
        }
        Err(Failure::new(
            Exit::Usage,
            "nothing to measure: zero iterations",
            "give --iterations of at least 1",
        ))
    }

    /// Runs of each of these cases.
    pub(super) fn runs(&self, ids: &[String], baseline: Option<&Document>) -> u32 {
        match (self.runs, baseline) {
            (Some(runs), _) => runs,
            (None, None) => RUNS,
            (None, Some(baseline)) => against::runs(baseline, ids, RUNS),
        }
    }

    /// Whether a baseline asks for more runs than there are otherwise.
    pub(super) const fn has_more(&self, runs: u32) -> bool {
        self.runs.is_none() && runs > RUNS
    }

    /// The same with this number of runs.
    pub(super) fn with_runs(&self, runs: u32) -> Self {
        Self {
            runs: Some(runs),
            ..self.clone()
        }
    }

    /// The load of a case with so many threads.
    pub(super) fn load(&self, threads: NonZeroU32) -> LoadFlags {
        LoadFlags {
            duration: self.duration.unwrap_or(Duration::from_secs(2)),
            iterations: self.duration.is_none().then_some(self.iterations),
            runs: self.runs.unwrap_or(RUNS),
            concurrency: Some(threads),
            processes: NonZeroU32::MIN,
            rate: self.rate,
            arrival: ArrivalFlag::Constant,
            warmup: match self.warmup {
                Warmup::Operations(_) => Duration::ZERO,
                Warmup::Time(time) => time,
            },
            cooldown: Duration::ZERO,
            timeout: self.timeout,
            drain: self.timeout,
            preset: None,
            seed: self.seed,
            verify: self.verify,
        }
    }

    pub(super) fn warmup_operations(&self) -> Option<u64> {
        match self.warmup {
            Warmup::Operations(0) | Warmup::Time(_) => None,
            Warmup::Operations(count) => Some(count),
        }
    }

    /// Each number of threads once, in their order.
    pub(super) fn threads(&self) -> Vec<NonZeroU32> {
        let mut threads: Vec<NonZeroU32> = Vec::new();
        for count in &self.threads {
            if !threads.contains(count) {
                threads.push(*count);
            }
        }
        threads
    }

    /// Where keys of the measurement are.
    pub(crate) const fn storage(&self) -> Storage {
        if self.token_objects {
            Storage::Token
        } else {
            Storage::Session
        }
    }

    /// Which thread uses which of them.
    pub(crate) const fn sharing(&self) -> Sharing {
        if self.own_keys {
            Sharing::Each
        } else {
            Sharing::One
        }
    }
}
