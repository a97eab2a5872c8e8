//! Where the time of a request goes: phases that together are the whole.
//!
//! Three sources. The client sees consecutive phases of its own (schedule, write, wait for the answer,
//! body). A server that declares its phases says what happened inside one of them. A **null request**, one
//! that does nothing, taken in turns with the real one over the same connection, shows what the way there
//! and back costs: what the real one takes beyond that is the operation. Means are compared, run by run,
//! because means add up; percentiles do not, and are never subtracted.
//!
//! Phases that do not add up to the whole within one percent are refused, not scaled until they do.

use crate::document::{BreakdownModel, Interval, PhaseTime};
use crate::stats::{interval, location};

/// How far the sum of phases may be off the whole, as a share.
pub const TOLERANCE: f64 = 0.01;

/// What was measured of one kind of request, each as means of runs in nanoseconds, in the same order of
/// runs.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "made by literal updates of its default"
)]
pub struct Measured {
    /// The whole request.
    pub total: Vec<f64>,
    /// What the client saw, one after the other.
    pub client: Vec<Named>,
    /// The client's phase in which the server works.
    pub inside: String,
    /// What the server declared, one after the other.
    pub server: Vec<Named>,
    /// That client phase of a null request taken in turns with this one.
    pub null: Option<Vec<f64>>,
}

/// A phase and its means.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "a name and its times")]
pub struct Named {
    /// Its name.
    pub name: String,
    /// One mean per run, in nanoseconds.
    pub means: Vec<f64>,
}

impl Named {
    /// A phase called `name`.
    #[must_use]
    pub fn new(name: &str, means: &[f64]) -> Self {
        Self {
            name: name.to_owned(),
            means: means.to_vec(),
        }
    }
}

/// Why phases do not make a whole.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BreakdownError {
    /// The client's phases do not add up to the request.
    #[error("the client's phases are {percent:+.1} % off the whole")]
    Gap {
        /// The sum over the whole, less one, in percent.
        percent: f64,
    },
    /// The server, or the null request, claims more time than the client waited.
    #[error("what happens inside of {inside} takes {percent:.1} % longer than {inside} itself")]
    Inside {
        /// The client's phase.
        inside: String,
        /// By how much, of the whole, in percent.
        percent: f64,
    },
    /// There are no runs, or a phase has more or fewer of them than the whole.
    #[error("{phase} does not have one mean for each run")]
    Runs {
        /// The phase.
        phase: String,
    },
    /// Server phases or a null request are given, and no client phase that they belong to.
    #[error("there is no client phase {inside} for the server to work in")]
    Unknown {
        /// The name that was given.
        inside: String,
    },
}

/// The phases of a request, which sum to its mean.
///
/// # Errors
/// Phases that do not fit together.
pub fn model(measured: &Measured) -> Result<BreakdownModel, BreakdownError> {
    let total = mean("total", &measured.total, measured)?;
    let mut phases = Vec::new();
    let mut sum = 0.0;
    let mut found = false;
    for phase in &measured.client {
        let time = mean(&phase.name, &phase.means, measured)?;
        sum += time;
        if phase.name == measured.inside {
            found = true;
            inside(measured, time, total, &mut phases)?;
        } else {
            phases.push(named(&phase.name, time, "client"));
        }
    }
    if !found && (!measured.server.is_empty() || measured.null.is_some()) {
        return Err(BreakdownError::Unknown {
            inside: measured.inside.clone(),
        });
    }
    let gap = sum / total - 1.0;
    if gap.abs() > TOLERANCE {
        return Err(BreakdownError::Gap {
            percent: 100.0 * gap,
        });
    }
    Ok(BreakdownModel {
        phases,
        total_ns: total,
    })
}

/// What the client's wait is made of.
fn inside(
    measured: &Measured,
    wait: f64,
    total: f64,
    phases: &mut Vec<PhaseTime>,
) -> Result<(), BreakdownError> {
    let mut rest = wait;
    let null = match &measured.null {
        Some(null) => Some(mean("null request", null, measured)?),
        None => None,
    };
    if let Some(null) = null {
        rest -= null;
        phases.push(named("way and dispatch", null, "difference"));
    }
    for phase in &measured.server {
        let time = mean(&phase.name, &phase.means, measured)?;
        rest -= time;
        phases.push(named(&phase.name, time, "server"));
    }
    if rest < -TOLERANCE * total {
        return Err(BreakdownError::Inside {
            inside: measured.inside.clone(),
            percent: -100.0 * rest / total,
        });
    }
    // What is left is the operation when a null request was taken off and the server said nothing, the way
    // when the server spoke and there was no null request, and unexplained when there were both.
    let name = match (null, measured.server.is_empty()) {
        (None, true) => {
            phases.push(named(&measured.inside, wait, "client"));
            return Ok(());
        }
        (None, false) => "way and dispatch",
        (Some(_), true) => "operation",
        (Some(_), false) => "not declared",
    };
    // Less than nothing within the tolerance is nothing.
    phases.push(named(name, rest.max(0.0), "difference"));
    Ok(())
}

fn named(name: &str, mean_ns: f64, source: &str) -> PhaseTime {
    PhaseTime {
        name: name.to_owned(),
        mean_ns,
        source: source.to_owned(),
    }
}

fn mean(phase: &str, means: &[f64], measured: &Measured) -> Result<f64, BreakdownError> {
    let sound = means.iter().all(|mean| *mean >= 0.0) && means.len() == measured.total.len();
    let mean = location::mean(means).filter(|_| sound);
    let mean = mean.filter(|mean| phase != "total" || *mean > 0.0);
    mean.ok_or_else(|| BreakdownError::Runs {
        phase: phase.to_owned(),
    })
}

/// What one thing costs beyond another, from means of runs that took turns: the mean of the differences of
/// neighbouring runs with a 95 % interval, such as a service over the token behind it. None below two runs,
/// or when there is not one of each.
#[must_use]
pub fn beyond(this: &[f64], that: &[f64]) -> Option<(f64, Interval)> {
    if this.len() != that.len() {
        return None;
    }
    let differences: Vec<f64> = this
        .iter()
        .zip(that)
        .map(|(this, that)| this - that)
        .collect();
    let found = interval::mean(&differences, 0.95)?;
    let ends = Interval {
        lo: found.lo,
        hi: found.hi,
    };
    Some((found.estimate, ends))
}
