//! The result of a run: what the JSON form says, field by field.
//!
//! Times are integer nanoseconds with the unit in the key, rates end in `_per_s`, sizes in `_bytes`.
//! Within a major version fields are only added. A missing figure is absent or null, never zero.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::hdr::{self, HdrError};
use crate::histogram::Histogram;
use crate::verdict::{Exit, Word};

/// The version of this form.
pub const SCHEMA_VERSION: &str = "1.0.0";
/// The name of this form; not an address that has to answer.
pub const SCHEMA: &str = "https://keywright.dev/schema/bench/1.0.0";

/// Declares plain records: every field public, every record serialisable and described by the schema.
macro_rules! records {
    ($($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $kind:ty,)* })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default)]
        #[expect(clippy::exhaustive_structs, reason = "plain data with a version of its own; made by literal updates")]
        pub struct $name { $($(#[$field_meta])* pub $field: $kind,)* }
    )*};
}

records! {
    /// One run of one or more cases.
    Document {
        /// [`SCHEMA`].
        schema: String,
        /// [`SCHEMA_VERSION`].
        schema_version: String,
        /// What measured.
        tool: Tool,
        /// This run.
        run: Run,
        /// Where it ran.
        environment: Environment,
        /// What the instrument itself costs and can do.
        calibration: Calibration,
        /// What was measured.
        cases: Vec<Case>,
        /// Conditions on figures of this run.
        gates: Vec<Gate>,
        /// Cases against their baselines, or pairs against each other.
        comparison: Vec<Comparison>,
        /// Every word that applies to any case, each once.
        verdicts: Vec<Word>,
        /// Remarks that concern the run as a whole.
        validity: Vec<Remark>,
        /// How it ended.
        exit: Ending,
    }
    /// The program that measured.
    Tool {
        /// `keywright`.
        name: String,
        /// Its version.
        version: String,
        /// The commit it was built from, where known.
        #[serde(skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
        /// `release`, `release-pgo` if it was compiled with counts of its work (`scripts/release`), or `debug`.
        profile: String,
        /// Features it was built with.
        features: Vec<String>,
    }
    /// One run of the program.
    Run {
        /// 16 lower-case hex digits.
        id: String,
        /// RFC 3339, UTC.
        started: String,
        /// How long all of it took.
        duration_ns: u64,
        /// The command line; secrets are never in it.
        command: String,
        /// What inputs, schedules and orders were drawn from.
        seed: u64,
        /// The suite file's name and SHA-256, where there was one.
        #[serde(skip_serializing_if = "Option::is_none")]
        suite: Option<Suite>,
        /// A note given by hand.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        /// Tags given by hand.
        tags: Vec<String>,
    }
    /// A suite file.
    Suite {
        /// Its name.
        name: String,
        /// SHA-256 of its bytes and of what it includes, in hex.
        sha256: String,
    }
    /// The machine.
    Environment {
        /// Operating system and version.
        os: String,
        /// Kernel release.
        kernel: String,
        /// Processor model.
        cpu: String,
        /// Processor features that matter to cryptography.
        cpu_features: Vec<String>,
        /// Cores this process may use.
        cores: u32,
        /// Cores of the machine.
        machine_cores: u32,
        /// Memory of the machine.
        memory_bytes: u64,
        /// Frequency governor, where the system tells.
        #[serde(skip_serializing_if = "Option::is_none")]
        governor: Option<String>,
        /// Whether two threads share a core, where the system tells.
        #[serde(skip_serializing_if = "Option::is_none")]
        smt: Option<bool>,
        /// What kind of virtual machine or container it is, where it can be told.
        #[serde(skip_serializing_if = "Option::is_none")]
        virtualisation: Option<String>,
        /// The kernel's clock source.
        #[serde(skip_serializing_if = "Option::is_none")]
        clock_source: Option<String>,
        /// Load average over one minute before the run.
        #[serde(skip_serializing_if = "Option::is_none")]
        load_average: Option<f64>,
        /// Facts about targets: versions, modules, storage, TLS; keyed by target and fact.
        targets: BTreeMap<String, BTreeMap<String, String>>,
    }
    /// The instrument.
    Calibration {
        /// Smallest difference between two readings of the clock.
        timer_resolution_ns: u64,
        /// Median cost of one reading, in picoseconds.
        timer_cost_ps: u64,
        /// Coefficient of variation of fixed work, in percent: the noise floor.
        #[serde(skip_serializing_if = "Option::is_none")]
        noise_percent: Option<f64>,
        /// `quiet`, `ok`, `noisy` or `unusable`.
        #[serde(skip_serializing_if = "Option::is_none")]
        noise: Option<String>,
        /// Operations a second that the generator makes of nothing, by kind of carrier.
        ceilings_per_s: BTreeMap<String, f64>,
    }
    /// One operation against one target with one set of parameters.
    Case {
        /// Unique within the document.
        id: String,
        /// The operation's dotted name.
        op: String,
        /// The target's name.
        target: String,
        /// What one `achieved` is: operations, records, items.
        unit: String,
        /// Parameters by name.
        parameters: BTreeMap<String, String>,
        /// How it was loaded.
        load: LoadRecord,
        /// Every operation, in exactly one place.
        counts: Counts,
        /// Failures by phase and code.
        errors: Vec<FaultCount>,
        /// Units done and not found wrong, over wall time. Median over runs.
        achieved_per_s: f64,
        /// Interval of the above over runs, 95 %.
        #[serde(skip_serializing_if = "Option::is_none")]
        achieved_interval: Option<Interval>,
        /// Payload bytes over wall time, where there is a payload.
        #[serde(skip_serializing_if = "Option::is_none")]
        bytes_per_s: Option<f64>,
        /// A quantity that is no rate, in `unit`: memory, or the time of a start. Median over runs.
        #[serde(skip_serializing_if = "Option::is_none")]
        figure: Option<f64>,
        /// Processor time of the target's process per unit, where it is local; of this thread for local work.
        #[serde(skip_serializing_if = "Option::is_none")]
        cpu_ns_per_unit: Option<f64>,
        /// From when an operation was meant to start to its end. Absent in closed loops.
        #[serde(skip_serializing_if = "Option::is_none")]
        response: Option<Latency>,
        /// From when an operation was sent to its end.
        #[serde(skip_serializing_if = "Option::is_none")]
        service: Option<Latency>,
        /// From when an operation was meant to start to when it was sent.
        #[serde(skip_serializing_if = "Option::is_none")]
        lateness: Option<Latency>,
        /// The part of lateness that the generator itself caused.
        #[serde(skip_serializing_if = "Option::is_none")]
        pacer: Option<Latency>,
        /// Of failed operations, from when they were meant to start.
        #[serde(skip_serializing_if = "Option::is_none")]
        error_latency: Option<Latency>,
        /// Run by run.
        runs: Vec<RunRecord>,
        /// Second by second.
        blocks: Vec<BlockRecord>,
        /// Checks of the measurement by itself.
        checks: Checks,
        /// Objectives and how they were met.
        objectives: Vec<Objective>,
        /// Results by part of a mix.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        parts: Vec<Part>,
        /// What was fitted or searched.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<Model>,
        /// Every word that applies; the first decides.
        verdicts: Vec<Word>,
        /// Why, with numbers.
        validity: Vec<Remark>,
    }
    /// How a case was loaded.
    LoadRecord {
        /// `open` or `closed`.
        mode: String,
        /// `constant` or `poisson`, in open mode.
        #[serde(skip_serializing_if = "Option::is_none")]
        arrival: Option<String>,
        /// The offered rate, in open mode; of the first phase where there are several.
        #[serde(skip_serializing_if = "Option::is_none")]
        rate_per_s: Option<f64>,
        /// Rates and lengths of several phases.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        phases: Vec<PhaseRecord>,
        /// Most operations in flight at once: workers or streams.
        cap: u64,
        /// Connections, for targets that have them.
        #[serde(skip_serializing_if = "Option::is_none")]
        connections: Option<u64>,
        /// Length of one run.
        duration_ns: u64,
        /// Not measured, before each run.
        warmup_ns: u64,
        /// Operations that were not measured, before each run.
        #[serde(skip_serializing_if = "Option::is_none")]
        warmup_operations: Option<u64>,
        /// Operations of one run, where they were limited.
        #[serde(skip_serializing_if = "Option::is_none")]
        iterations: Option<u64>,
    }
    /// A phase of an open load.
    PhaseRecord {
        /// At its start.
        rate_per_s: f64,
        /// At its end.
        end_rate_per_s: f64,
        /// Its length.
        duration_ns: u64,
    }
    /// Where each operation ended. `planned = sent + never_sent` and
    /// `sent = verified + unverified + wrong + error + timeout + censored`.
    Counts {
        /// By the schedule; in closed loops as many as were sent.
        planned: u64,
        /// Started.
        sent: u64,
        /// Due, and not started when the schedule ended.
        never_sent: u64,
        /// Answered, and the output checked and right.
        verified: u64,
        /// Answered, the output not looked at.
        unverified: u64,
        /// Answered with a wrong output.
        wrong: u64,
        /// Failed.
        error: u64,
        /// Not answered within the time limit.
        timeout: u64,
        /// Not answered when the drain ended.
        censored: u64,
    }
    /// How often a failure occurred.
    FaultCount {
        /// `dial`, `tls`, `stream`, `status`, `service`, `operation`.
        phase: String,
        /// What the target or the library called it.
        code: String,
        /// How often.
        n: u64,
    }
    /// A distribution of times.
    Latency {
        /// By name, such as `p50_ns`, `p99.9_ns`.
        #[serde(flatten)]
        quantiles: BTreeMap<String, Quantile>,
        /// How many values.
        n: u64,
        /// The smallest.
        #[serde(skip_serializing_if = "Option::is_none")]
        min_ns: Option<u64>,
        /// The largest; a sample, without interval.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_ns: Option<u64>,
        /// The mean.
        #[serde(skip_serializing_if = "Option::is_none")]
        mean_ns: Option<f64>,
        /// Median distance from the median.
        #[serde(skip_serializing_if = "Option::is_none")]
        mad_ns: Option<u64>,
        /// Operations per value; above 1 the quantiles are of batch means.
        #[serde(skip_serializing_if = "Option::is_none")]
        batch_k: Option<u64>,
        /// The whole histogram: HdrHistogram V2, deflated, base64; nanoseconds, or picoseconds for batches.
        #[serde(skip_serializing_if = "Option::is_none")]
        hdr: Option<String>,
        /// Values far from the others. They are counted here and stay in every figure.
        #[serde(skip_serializing_if = "Option::is_none")]
        outliers: Option<Outliers>,
        /// A coarse histogram for drawing.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        bins: Vec<Bin>,
    }
    /// Values far from the others, by Tukey's fences and by the modified z of Iglewicz and Hoaglin.
    Outliers {
        /// More than 3 interquartile ranges below the lower quartile.
        low_severe: u64,
        /// More than 1.5 and at most 3 below.
        low_mild: u64,
        /// More than 1.5 and at most 3 above the upper quartile.
        high_mild: u64,
        /// More than 3 above.
        high_severe: u64,
        /// Modified z below -3.5.
        low_by_deviation: u64,
        /// Modified z above 3.5.
        high_by_deviation: u64,
    }
    /// One quantile.
    Quantile {
        /// Null where the samples do not carry it.
        value: Option<u64>,
        /// Lower end of the 95 % interval.
        #[serde(skip_serializing_if = "Option::is_none")]
        lo: Option<u64>,
        /// Upper end of the 95 % interval.
        #[serde(skip_serializing_if = "Option::is_none")]
        hi: Option<u64>,
        /// Values it rests on.
        n: u64,
        /// What `value` is.
        bound: Bound,
        /// The value in picoseconds, for batches.
        #[serde(skip_serializing_if = "Option::is_none")]
        value_ps: Option<u64>,
        /// Lower end in picoseconds, for batches.
        #[serde(skip_serializing_if = "Option::is_none")]
        lo_ps: Option<u64>,
        /// Upper end in picoseconds, for batches.
        #[serde(skip_serializing_if = "Option::is_none")]
        hi_ps: Option<u64>,
    }
    /// A bin of a coarse histogram.
    Bin {
        /// Values above the previous bin's end and up to this.
        to_ns: u64,
        /// How many.
        n: u64,
    }
    /// An interval, 95 %.
    Interval {
        /// Lower end.
        lo: f64,
        /// Upper end.
        hi: f64,
    }
    /// One execution of a case.
    RunRecord {
        /// From 0.
        run: u32,
        /// Units over wall time.
        achieved_per_s: f64,
        /// Counts of this run.
        counts: Counts,
        /// Median service time.
        #[serde(skip_serializing_if = "Option::is_none")]
        p50_ns: Option<u64>,
        /// Of service time, where the samples carry it.
        #[serde(skip_serializing_if = "Option::is_none")]
        p99_ns: Option<u64>,
        /// Processor time per unit.
        #[serde(skip_serializing_if = "Option::is_none")]
        cpu_ns_per_unit: Option<f64>,
        /// The run's value of a quantity that is no rate.
        #[serde(skip_serializing_if = "Option::is_none")]
        figure: Option<f64>,
        /// Jain's fairness of what each worker did, where workers run on their own.
        #[serde(skip_serializing_if = "Option::is_none")]
        fairness: Option<f64>,
        /// Coefficient of variation of fixed work right before and after this run, in percent.
        #[serde(skip_serializing_if = "Option::is_none")]
        noise_percent: Option<f64>,
        /// Blocks at the run's front before throughput came to rest, by MSER-5. Nothing is cut off: they
        /// are in every figure. Absent below twenty blocks and where the load changes by plan.
        #[serde(skip_serializing_if = "Option::is_none")]
        unsettled_blocks: Option<u32>,
    }
    /// One second of a run.
    BlockRecord {
        /// The run it is of.
        run: u32,
        /// Since the run's start.
        start_ns: u64,
        /// Its length.
        duration_ns: u64,
        /// Units done.
        done: u64,
        /// Failed, wrong, timed out.
        failed: u64,
        /// In flight at its end.
        in_flight: u64,
        /// Of response time in open mode, else of service time.
        #[serde(skip_serializing_if = "Option::is_none")]
        p50_ns: Option<u64>,
        /// The same.
        #[serde(skip_serializing_if = "Option::is_none")]
        p99_ns: Option<u64>,
        /// The same.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_ns: Option<u64>,
        /// Of service time in open mode, where the figures above are of response time.
        #[serde(skip_serializing_if = "Option::is_none")]
        service_p50_ns: Option<u64>,
        /// The same.
        #[serde(skip_serializing_if = "Option::is_none")]
        service_p99_ns: Option<u64>,
        /// Fixed work beside it, relative to the fastest of the case.
        #[serde(skip_serializing_if = "Option::is_none")]
        canary: Option<f64>,
        /// Its distribution, as `hdr` of a latency but with two significant digits. Absent where a case
        /// has so many blocks that they would be most of the document.
        #[serde(skip_serializing_if = "Option::is_none")]
        hdr: Option<String>,
    }
    /// Checks of the measurement by itself.
    Checks {
        /// Little's law: mean in flight against rate times mean service, in percent.
        #[serde(skip_serializing_if = "Option::is_none")]
        little_percent: Option<f64>,
        /// The achieved rate over the generator's ceiling, in percent.
        #[serde(skip_serializing_if = "Option::is_none")]
        ceiling_percent: Option<f64>,
        /// Coefficient of variation of the canary beside this case, in percent.
        #[serde(skip_serializing_if = "Option::is_none")]
        noise_percent: Option<f64>,
        /// p of a monotone trend of throughput over blocks.
        #[serde(skip_serializing_if = "Option::is_none")]
        drift_p: Option<f64>,
        /// Lag-1 autocorrelation of block throughput.
        #[serde(skip_serializing_if = "Option::is_none")]
        autocorrelation: Option<f64>,
        /// `single operations` or `batches of k`.
        timing: String,
    }
    /// An objective.
    Objective {
        /// As given: `p99<=20ms`, `errors<=0.1%`.
        condition: String,
        /// The measured value, in nanoseconds or as a share.
        #[serde(skip_serializing_if = "Option::is_none")]
        value: Option<f64>,
        /// `met`, `missed` or `undecided`.
        outcome: String,
    }
    /// One operation of a mix, or one tenant of several.
    Part {
        /// Its name.
        name: String,
        /// Its weight.
        weight: f64,
        /// Its counts.
        counts: Counts,
        /// Its rate.
        achieved_per_s: f64,
        /// Its response time in open mode.
        #[serde(skip_serializing_if = "Option::is_none")]
        response: Option<Latency>,
        /// Its service time.
        #[serde(skip_serializing_if = "Option::is_none")]
        service: Option<Latency>,
    }
    /// A condition on figures of one run.
    Gate {
        /// As given.
        condition: String,
        /// The median over runs.
        value: f64,
        /// Its 95 % interval over runs, where there are enough.
        #[serde(skip_serializing_if = "Option::is_none")]
        interval: Option<Interval>,
        /// Whether it holds.
        holds: bool,
    }
    /// A case against another figure of itself.
    Comparison {
        /// The case.
        case: String,
        /// The baseline's name, or the other case's id.
        against: String,
        /// `throughput`, `p50`, `p99`, `cpu`.
        metric: String,
        /// `current` over `baseline`: of a throughput above 1 is faster, of times and other quantities above 1
        /// is slower or dearer.
        ratio: f64,
        /// Its 95 % interval over runs.
        #[serde(skip_serializing_if = "Option::is_none")]
        interval: Option<Interval>,
        /// Adjusted over the suite.
        #[serde(skip_serializing_if = "Option::is_none")]
        p: Option<f64>,
        /// Cliff's delta: above 0 if runs now have more than runs of the baseline.
        #[serde(skip_serializing_if = "Option::is_none")]
        delta: Option<f64>,
        /// What a change has to exceed: to a ratio of 1 + threshold or more, or of 1 / (1 + threshold) or less.
        threshold: f64,
        /// This value: the median over runs.
        current: f64,
        /// The other value: the median over its runs.
        baseline: f64,
        /// REGRESSION, IMPROVED, PASS or INCONCLUSIVE.
        verdict: Option<Word>,
    }
    /// A sentence with its reason.
    Remark {
        /// The word it explains, where it explains one.
        #[serde(skip_serializing_if = "Option::is_none")]
        word: Option<Word>,
        /// The case it is about; absent for the run.
        #[serde(skip_serializing_if = "Option::is_none")]
        case: Option<String>,
        /// What was seen, with numbers.
        text: String,
        /// What to do about it.
        #[serde(skip_serializing_if = "Option::is_none")]
        remedy: Option<String>,
    }
    /// How the program ended.
    Ending {
        /// The exit code.
        code: u8,
        /// Its name.
        name: String,
    }
    /// Throughput over threads.
    ScalingModel {
        /// Measured points.
        points: Vec<ScalingPoint>,
        /// Universal scalability law: rate of one.
        lambda: f64,
        /// Contention.
        sigma: f64,
        /// Coherence.
        kappa: f64,
        /// Where throughput would be largest, if it has a maximum.
        #[serde(skip_serializing_if = "Option::is_none")]
        best_threads: Option<f64>,
    }
    /// One point of a scaling curve.
    ScalingPoint {
        /// Threads.
        threads: u32,
        /// Units a second.
        rate_per_s: f64,
        /// Against one thread.
        speed_up: f64,
        /// Speed-up over threads.
        efficiency: f64,
        /// Karp and Flatt's serial fraction.
        #[serde(skip_serializing_if = "Option::is_none")]
        serial_fraction: Option<f64>,
        /// Jain's fairness over threads.
        #[serde(skip_serializing_if = "Option::is_none")]
        fairness: Option<f64>,
    }
    /// Time over payload size: a per call and b per byte.
    SizeModel {
        /// Measured points.
        points: Vec<SizePoint>,
        /// Per call.
        call_ns: f64,
        /// Its interval.
        #[serde(skip_serializing_if = "Option::is_none")]
        call_interval: Option<Interval>,
        /// Per byte.
        byte_ns: f64,
        /// Its interval.
        #[serde(skip_serializing_if = "Option::is_none")]
        byte_interval: Option<Interval>,
        /// Sizes that do not fit the line.
        misfits: Vec<u64>,
    }
    /// One point of a size sweep.
    SizePoint {
        /// Payload.
        size_bytes: u64,
        /// Median time.
        time_ns: f64,
    }
    /// What a saturation search found.
    SaturationModel {
        /// Highest rate that passed twice.
        #[serde(skip_serializing_if = "Option::is_none")]
        highest_passing_per_s: Option<f64>,
        /// Lowest rate that failed twice.
        #[serde(skip_serializing_if = "Option::is_none")]
        lowest_failing_per_s: Option<f64>,
        /// The criterion that failed there.
        #[serde(skip_serializing_if = "Option::is_none")]
        criterion: Option<String>,
        /// The rate with the most throughput per response time.
        #[serde(skip_serializing_if = "Option::is_none")]
        knee_per_s: Option<f64>,
        /// Every trial.
        trials: Vec<Trial>,
    }
    /// One step of a search.
    Trial {
        /// Offered.
        rate_per_s: f64,
        /// Done.
        achieved_per_s: f64,
        /// Of response time.
        #[serde(skip_serializing_if = "Option::is_none")]
        p50_ns: Option<u64>,
        /// Of response time.
        #[serde(skip_serializing_if = "Option::is_none")]
        p99_ns: Option<u64>,
        /// Whether it passed, and if not, the criterion.
        #[serde(skip_serializing_if = "Option::is_none")]
        failed: Option<String>,
    }
    /// What a spike did.
    RecoveryModel {
        /// Response p99 before.
        before_p99_ns: u64,
        /// Response p99 after.
        #[serde(skip_serializing_if = "Option::is_none")]
        after_p99_ns: Option<u64>,
        /// From the spike's end to five windows in a row within the base; absent if never.
        #[serde(skip_serializing_if = "Option::is_none")]
        recovery_ns: Option<u64>,
        /// Most in flight.
        peak_in_flight: u64,
        /// Most planned and not done.
        peak_backlog: u64,
        /// Sum over operations of response time beyond the base, in seconds.
        latency_debt_s: f64,
        /// Sent and not answered.
        lost: u64,
        /// Answered with an error.
        refused: u64,
    }
    /// Where time goes.
    BreakdownModel {
        /// Phases, in order.
        phases: Vec<PhaseTime>,
        /// The mean of the whole.
        total_ns: f64,
    }
    /// One phase of a request.
    PhaseTime {
        /// Its name.
        name: String,
        /// Its mean.
        mean_ns: f64,
        /// How it was found: `client`, `server`, `difference`.
        source: String,
    }
}

/// What was fitted or searched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Model {
    /// Phases of a request.
    Breakdown(BreakdownModel),
    /// A spike and what came after.
    Recovery(RecoveryModel),
    /// A saturation search.
    Saturation(SaturationModel),
    /// Throughput over threads.
    Scaling(ScalingModel),
    /// Time over size.
    Size(SizeModel),
}

/// What a quantile's value is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Bound {
    /// A true lower bound: operations that never ended could only raise it.
    AtLeast,
    /// The quantile itself.
    #[default]
    Exact,
    /// Withheld: too few samples lie beyond it.
    TooFewSamples,
}

impl Counts {
    /// Whether every operation is in exactly one place.
    #[must_use]
    pub const fn balance(&self) -> bool {
        self.planned == self.sent + self.never_sent && self.sent == self.ended()
    }

    /// Started operations by how they ended.
    #[must_use]
    pub const fn ended(&self) -> u64 {
        self.answered() + self.wrong + self.error + self.timeout + self.censored
    }

    /// Answered, and not found wrong.
    #[must_use]
    pub const fn answered(&self) -> u64 {
        self.verified + self.unverified
    }

    /// These and those.
    #[must_use]
    pub const fn plus(&self, other: &Self) -> Self {
        Self {
            planned: self.planned + other.planned,
            sent: self.sent + other.sent,
            never_sent: self.never_sent + other.never_sent,
            verified: self.verified + other.verified,
            unverified: self.unverified + other.unverified,
            wrong: self.wrong + other.wrong,
            error: self.error + other.error,
            timeout: self.timeout + other.timeout,
            censored: self.censored + other.censored,
        }
    }
}

impl From<Exit> for Ending {
    fn from(exit: Exit) -> Self {
        Self {
            code: exit.code(),
            name: exit.name().to_owned(),
        }
    }
}

impl Case {
    /// The word that decides this case.
    #[must_use]
    pub fn verdict(&self) -> Word {
        self.verdicts.iter().copied().min().unwrap_or(Word::Valid)
    }

    /// A quantile of response time where there is one, else of service time.
    #[must_use]
    pub fn headline(&self) -> Option<&Latency> {
        self.response.as_ref().or(self.service.as_ref())
    }
}

impl Latency {
    /// The whole distribution, where it was written: nanoseconds, or picoseconds for batches. The ends are
    /// the exact ones where the document has them.
    ///
    /// # Errors
    /// The text is no histogram.
    pub fn histogram(&self) -> Result<Option<Histogram>, HdrError> {
        let Some(text) = &self.hdr else {
            return Ok(None);
        };
        let mut histogram = hdr::decode(text)?;
        // In batches the ends are rounded to nanoseconds, which is coarser than the slots.
        if self.batch_k.is_none() {
            histogram.between(self.min_ns, self.max_ns);
        }
        Ok(Some(histogram))
    }

    /// A quantile by its printed name, such as `p99`.
    #[must_use]
    pub fn quantile(&self, name: &str) -> Option<&Quantile> {
        self.quantiles.get(&format!("{name}_ns"))
    }
}
