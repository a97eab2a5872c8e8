//! The plain data that displays draw.

use keywright_measure::Word;
use serde::Serialize;

/// Declares plain data: every field public and serialised, made by literal updates.
macro_rules! plain {
    ($($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $kind:ty,)* })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[expect(clippy::exhaustive_structs, reason = "plain data for displays")]
        pub struct $name { $($(#[$field_meta])* pub $field: $kind,)* }
    )*};
}

plain! {
    /// Everything a display shows. Times are nanoseconds since the board was made.
    #[derive(Default)]
    Snapshot {
        /// Grows with every event.
        revision: u64,
        /// When the latest event came.
        at_ns: u64,
        /// The run's id, empty until it is known.
        run: String,
        /// Where the run is.
        stage: Stage,
        /// The name of the exit code, once all is done.
        exit: Option<String>,
        /// How far it is.
        pace: Pace,
        /// The case that is being measured, or was last.
        current: Option<Current>,
        /// Results, the oldest first.
        finished: Vec<Finished>,
        /// How many results there were, those that are no longer kept included.
        finished_in_all: u64,
        /// Remarks, the oldest first.
        remarks: Vec<String>,
    }
    /// How many turns there are and how long they took. A turn is one run of one case.
    #[derive(Default)]
    Pace {
        /// Cases of the run.
        cases: u64,
        /// Turns of each case.
        runs: u32,
        /// Turns that began.
        begun: u64,
        /// When the turn that is on began; absent between turns.
        turn_began_ns: Option<u64>,
        /// What the turn that is on is expected to take.
        turn_expected_ns: u64,
        /// What the first turn of each case was expected to take, together.
        round_expected_ns: u64,
        /// Expected of the turns that are over.
        spent_expected_ns: u64,
        /// What those took.
        spent_ns: u64,
    }
    /// The case that is being measured.
    #[derive(Default)]
    Current {
        /// Its id.
        id: String,
        /// Its place, from 0.
        place: usize,
        /// The run of it that is on, from 0.
        run: u32,
        /// What is offered, in open mode.
        target_per_s: Option<f64>,
        /// Units a second over the last second.
        rate_per_s: Option<f64>,
        /// Units a second over the seconds that are kept.
        mean_per_s: Option<f64>,
        /// The achieved share of the offered rate over the last ten seconds, 1 for all of it.
        kept_share: Option<f64>,
        /// Units done in this run.
        done: u64,
        /// Failed, wrong, timed out in this run.
        failed: u64,
        /// In flight at the end of the last second.
        in_flight: u64,
        /// Quantiles over this run so far.
        quantiles: Vec<NamedTime>,
        /// Second by second, the oldest first.
        seconds: Vec<Second>,
        /// Of this run so far.
        histogram: Vec<HistogramBin>,
        /// Of this run so far, the most frequent first.
        errors: Vec<ErrorCount>,
        /// Variation of fixed work beside the load, in percent; absent without enough samples.
        noise_percent: Option<f64>,
        /// The word for it.
        noise: Option<String>,
    }
    /// A quantile.
    NamedTime {
        /// Such as `p99.9`.
        name: String,
        /// Its value.
        ns: u64,
    }
    /// A second of a case.
    Second {
        /// When it ended.
        at_ns: u64,
        /// Units a second.
        rate_per_s: Option<f64>,
        /// Failed, wrong, timed out.
        failed: u64,
        /// In flight at its end.
        in_flight: u64,
        /// Of response time in open mode, else of service time.
        p50_ns: Option<u64>,
        /// The same.
        p99_ns: Option<u64>,
        /// The same.
        max_ns: Option<u64>,
        /// Fixed work beside it, relative to the fastest seen.
        canary: Option<f64>,
    }
    /// A bin of a histogram.
    HistogramBin {
        /// Values above the previous bin's end and up to this.
        to_ns: u64,
        /// How many.
        n: u64,
    }
    /// How often something failed.
    ErrorCount {
        /// Phase and code.
        code: String,
        /// How often.
        n: u64,
    }
    /// A case that is done.
    Finished {
        /// Its id.
        id: String,
        /// The target's name.
        target: String,
        /// Units a second.
        achieved_per_s: Option<f64>,
        /// What was offered, in open mode.
        target_per_s: Option<f64>,
        /// Absent where the samples do not carry it.
        p50_ns: Option<u64>,
        /// Absent where the samples do not carry it.
        p99_ns: Option<u64>,
        /// What the two are of: `response` or `service`.
        times: &'static str,
        /// Wrong, failed, timed out or never answered.
        failed: u64,
        /// Due and not started.
        never_sent: u64,
        /// The word that decides.
        verdict: Word,
        /// Every word that applies.
        words: Vec<Word>,
        /// Variation of fixed work beside the case, in percent.
        noise_percent: Option<f64>,
        /// The word for it.
        noise: Option<String>,
        /// How the generator did.
        generator: Generator,
    }
    /// The health of the generator in a case.
    #[derive(Default)]
    Generator {
        /// The achieved rate over what the generator can make, in percent.
        ceiling_percent: Option<f64>,
        /// How far Little's law is missed, in percent.
        little_percent: Option<f64>,
        /// From when operations were due to when they were sent.
        lateness_p99_ns: Option<u64>,
        /// The part of it that the generator itself caused.
        pacer_p99_ns: Option<u64>,
    }
}

/// Where a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stage {
    /// All cases are done.
    Finished,
    /// Cases are being measured.
    Running,
    /// Nothing has begun.
    #[default]
    Waiting,
}

impl Pace {
    pub(super) fn turn_begins(&mut self, at_ns: u64, expected_ns: u64) {
        self.turn_ends(at_ns);
        self.begun += 1;
        // Without a word on how many cases there are, there are at least those that were seen.
        let round = self.cases.max(1);
        if self.begun <= round {
            self.round_expected_ns = self.round_expected_ns.saturating_add(expected_ns);
        }
        self.turn_began_ns = Some(at_ns);
        self.turn_expected_ns = expected_ns;
    }

    pub(super) const fn turn_ends(&mut self, at_ns: u64) {
        if let Some(began) = self.turn_began_ns.take() {
            self.spent_ns = self.spent_ns.saturating_add(at_ns.saturating_sub(began));
            self.spent_expected_ns = self.spent_expected_ns.saturating_add(self.turn_expected_ns);
        }
    }

    /// Turns of all cases.
    #[must_use]
    pub fn turns(&self) -> u64 {
        self.cases
            .saturating_mul(u64::from(self.runs))
            .max(self.begun)
    }
}
