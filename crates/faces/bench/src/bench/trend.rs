//! How cases developed over the runs of the history.

use keywright_report::history::{Metric, Trend};
use keywright_report::{html, number};
use serde::Serialize;

use super::flags::PastFlags;
use super::past::{open, unusable};
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

/// How a case developed over comparable runs.
#[derive(Debug, clap::Args)]
pub(crate) struct TrendArguments {
    /// The case.
    case: String,
    /// What of it: throughput, p50, p90, p95, p99, p99.9, cpu.
    #[arg(long, default_value = "throughput", value_parser = metric)]
    metric: Metric,
    #[command(flatten)]
    past: PastFlags,
}

fn metric(text: &str) -> Result<Metric, String> {
    Metric::named(text).ok_or_else(|| {
        let names: Vec<_> = Metric::ALL.iter().map(|metric| metric.name()).collect();
        format!("choose one of {}", names.join(", "))
    })
}

/// What is plotted of every case: what users feel and what operators pay for.
pub(super) const PLOTTED: [Metric; 3] = [Metric::Throughput, Metric::P50, Metric::P99];

pub(super) fn trend(arguments: &TrendArguments, format: Format) -> Result<Exit, Failure> {
    let mut history = open(&arguments.past)?;
    let trend = history
        .trend(&arguments.case, arguments.metric)
        .map_err(unusable)?
        .ok_or_else(|| {
            Failure::new(
                Exit::NotFound,
                format!("the history has no run of {}", arguments.case),
                "see `keywright bench history`",
            )
        })?;
    if format == Format::Html {
        output::data(html::trends(std::slice::from_ref(&trend)).as_bytes())?;
        return Ok(Exit::Ok);
    }
    let document = TrendDocument::of(&trend);
    output::document(format, &document, || document.text())?;
    Ok(Exit::Ok)
}

#[derive(Serialize)]
struct TrendDocument {
    case: String,
    metric: &'static str,
    runs: usize,
    current: Option<f64>,
    previous: Option<f64>,
    ratio: Option<[f64; 3]>,
    changes: Vec<Change>,
}

#[derive(Serialize)]
struct Change {
    run: String,
    before: f64,
    after: f64,
    p: f64,
}

impl TrendDocument {
    fn of(trend: &Trend) -> Self {
        Self {
            case: trend.case.clone(),
            metric: trend.metric.name(),
            runs: trend.points.len(),
            current: trend.current.as_ref().map(|level| level.centre.estimate),
            previous: trend.previous.as_ref().map(|level| level.centre.estimate),
            ratio: trend
                .ratio
                .map(|ratio| [ratio.estimate, ratio.lo, ratio.hi]),
            changes: trend
                .change_points
                .iter()
                .map(|change| Change {
                    run: change.run.as_str().to_owned(),
                    before: change.before,
                    after: change.after,
                    p: change.p,
                })
                .collect(),
        }
    }

    fn text(&self) -> String {
        let mut text = format!(
            "{} of {} over {} comparable runs: now {}\n",
            self.metric,
            self.case,
            self.runs,
            self.current
                .map_or_else(|| "unknown".to_owned(), number::plain)
        );
        if self.changes.is_empty() {
            text += "no change point\n";
        }
        for change in &self.changes {
            text += &format!(
                "changed at run {}: {} -> {} (p {:.3})\n",
                change.run,
                number::plain(change.before),
                number::plain(change.after),
                change.p
            );
        }
        if let Some([ratio, lo, hi]) = self.ratio {
            text += &format!("now over before: {ratio:.3} [{lo:.3}-{hi:.3}] (95 % CI)\n");
        }
        text
    }
}
