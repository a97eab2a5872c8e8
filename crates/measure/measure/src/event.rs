//! What a running measurement tells whoever watches: progress bars, dashboards, event streams.

use schemars::JsonSchema;
use serde::Serialize;

use crate::document::{BlockRecord, Case};

/// Something that happened in a run. Times are nanoseconds since the case's start.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
#[expect(
    clippy::large_enum_variant,
    reason = "told once a second, by reference, and not kept"
)]
pub enum Event {
    /// A run of so many cases begins.
    Started {
        /// The run's id.
        run: String,
        /// How many cases.
        cases: usize,
    },
    /// A case begins.
    CaseStarted {
        /// Its id.
        id: String,
        /// Its place, from 0.
        place: usize,
        /// What it is expected to take, all runs and warm-ups.
        expected_ns: u64,
        /// What is offered, in open mode.
        target_per_s: Option<f64>,
    },
    /// A second of a case has passed.
    Block {
        /// The case's id.
        id: String,
        /// That second.
        block: BlockRecord,
        /// Units a second over it.
        rate_per_s: f64,
        /// Quantiles over the whole run so far: name and nanoseconds.
        quantiles: Vec<(String, u64)>,
        /// A coarse histogram of the run so far: upper ends in nanoseconds and counts.
        histogram: Vec<(u64, u64)>,
        /// Failures so far, by phase and code.
        errors: Vec<(String, u64)>,
    },
    /// A case is done.
    CaseFinished {
        /// Its result.
        case: Box<Case>,
    },
    /// A remark for people.
    Remark {
        /// What it says.
        text: String,
    },
    /// All cases are done.
    Finished {
        /// The name of the exit code.
        exit: String,
    },
}

/// Whoever watches. Called between blocks, never inside the timed region.
pub trait Observer {
    /// Takes note of `event`.
    fn event(&self, event: &Event);
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it has nothing in it")]
pub struct Nobody;

impl Observer for Nobody {
    fn event(&self, _: &Event) {}
}
