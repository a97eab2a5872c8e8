//! `bench breakdown`: where the time of a request goes, by experiment.
//!
//! The same request is measured whole and as its null form, in turns over connections of the same kind, one
//! at a time. What the null request takes is transport, TLS, HTTP and the generator; what the whole one takes
//! beyond it is what the service does: identity, policy, keys, the audit record. Differences are between
//! means of paired runs; quantiles are never subtracted.

use std::num::NonZeroU32;

use keywright_measure::breakdown::{Measured, Named, beyond, model};
use keywright_measure::document::{Case, Model};
use keywright_report::number;

use super::flags::MeasureFlags;
use super::op::{find, measured};
use super::sitting::Sitting;
use crate::exit::{Exit, Failure};
use crate::output::Format;

/// Where the time of a request goes.
#[derive(Debug, clap::Args)]
pub(crate) struct BreakdownArguments {
    /// A request to the service.
    #[arg(default_value = "service.encrypt")]
    name: String,
    /// The request that does nothing, over the same path.
    #[arg(long, value_name = "NAME", default_value = "service.null")]
    null: String,
    #[command(flatten)]
    flags: MeasureFlags,
}

pub(super) fn run(arguments: &BreakdownArguments, format: Format) -> Result<Exit, Failure> {
    let mut flags = arguments.flags.clone();
    flags.load.concurrency = flags.load.concurrency.or(Some(NonZeroU32::MIN));
    let operations = [find(&arguments.name)?.into(), find(&arguments.null)?.into()];
    let (sitting, mut cases) = measured(&operations, &flags, (format, None))?;
    if let [whole, null] = &mut cases[..] {
        split(&sitting, (&arguments.name, whole), (&arguments.null, null));
    }
    sitting.finish(cases, Some(&arguments.flags.judging))
}

/// Puts beside a case what it takes beyond another one that does nothing and took turns with it.
pub(super) fn split(
    sitting: &Sitting,
    (name, whole): (&str, &mut Case),
    (null_name, null): (&str, &Case),
) {
    let (total, nothing) = (means(whole), means(null));
    let measured = Measured {
        client: vec![Named::new("request", &total)],
        inside: "request".to_owned(),
        total: total.clone(),
        null: Some(nothing.clone()),
        ..Measured::default()
    };
    match model(&measured) {
        Ok(found) => whole.model = Some(Model::Breakdown(found)),
        Err(error) => sitting.remark(format!("{name}: {error}"), "give it longer runs"),
    }
    if let Some((mean, interval)) = beyond(&total, &nothing) {
        sitting.remark(
            format!(
                "{name} takes {} more than {null_name} [{} to {}] (95 % CI over {} pairs of runs)",
                number::time(mean),
                number::time(interval.lo),
                number::time(interval.hi),
                total.len()
            ),
            "",
        );
    }
}

/// The mean time of an operation in each run, in nanoseconds: in a closed loop what the rate leaves to each
/// of those in flight.
fn means(case: &Case) -> Vec<f64> {
    let runs = case.runs.iter();
    runs.map(|run| case.load.cap as f64 * 1e9 / run.achieved_per_s)
        .collect()
}
