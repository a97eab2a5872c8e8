//! Percentile distributions in the text form of HdrHistogram: value, percentile, count so far, 1/(1-p).
//!
//! The form holds one distribution; several follow each other under comment lines. The points are read from
//! the whole histogram where a document has it, five for each halving of what lies above; else they are the
//! coarse bins, else the quantiles. A standard deviation is known of the whole histogram only, and otherwise
//! none is claimed.

use keywright_measure::document::{Document, Latency};
use keywright_measure::histogram::Histogram;

use crate::{number, quantile};

/// The distributions of response and service time of every case, values in milliseconds.
#[must_use]
pub fn hgrm(document: &Document) -> String {
    let mut out = String::new();
    for case in &document.cases {
        for (kind, latency) in [("response", &case.response), ("service", &case.service)] {
            if let Some(latency) = latency {
                let id: String = case
                    .id
                    .chars()
                    .map(|c| if c.is_control() { ' ' } else { c })
                    .collect();
                out += &format!(
                    "#[Case = {id}, {kind} time in ms]\n{}\n",
                    distribution(latency)
                );
            }
        }
    }
    out
}

fn distribution(latency: &Latency) -> String {
    let mut out = format!(
        "{:>14} {:>14} {:>10} {:>14}\n\n",
        "Value", "Percentile", "TotalCount", "1/(1-Percentile)"
    );
    let whole = whole(latency);
    let points = match &whole {
        Some(whole) => from_histogram(whole, latency),
        None if latency.bins.is_empty() => from_quantiles(latency),
        None => from_bins(latency),
    };
    for (ns, level, count) in points {
        let value = ns / 1e6;
        let inverse = if level < 1.0 {
            format!("{:>14.2}", 1.0 / (1.0 - level))
        } else {
            format!("{:>14}", "inf")
        };
        out += &format!("{value:>14.6} {level:>14.12} {count:>10} {inverse}\n");
    }
    if let Some(mean) = latency.mean_ns.filter(|mean| mean.is_finite()) {
        let deviation = whole.as_ref().map_or_else(String::new, |whole| {
            let deviation = whole.bins().stdev() / per_nano(latency) / 1e6;
            format!(", StdDeviation   = {deviation:>14.6}")
        });
        out += &format!("#[Mean    = {:>14.6}{deviation}]\n", mean / 1e6);
    }
    let max = latency.max_ns.map_or_else(
        || number::NONE.to_owned(),
        |ns| format!("{:.6}", number::float(ns) / 1e6),
    );
    out + &format!(
        "#[Max     = {max:>14}, Total count    = {:>12}]\n",
        latency.n
    )
}

/// The whole histogram, if it is one and counts what the document says.
fn whole(latency: &Latency) -> Option<Histogram> {
    let read = latency.histogram().ok().flatten()?;
    (read.count() == latency.n && latency.n > 0).then_some(read)
}

const fn per_nano(latency: &Latency) -> f64 {
    if latency.batch_k.is_some() {
        1000.0
    } else {
        1.0
    }
}

/// Points for each halving of the share above.
const TICKS: u32 = 5;

/// Shares are those of what was counted, not the round ones at which the walk stops.
fn from_histogram(whole: &Histogram, latency: &Latency) -> Vec<(f64, f64, u64)> {
    let mut so_far = 0_u64;
    let points = whole.bins().iter_quantiles(TICKS);
    points
        .filter(|point| point.count_since_last_iteration() > 0)
        .filter_map(|point| {
            so_far = so_far.saturating_add(point.count_since_last_iteration());
            let value = point.value_iterated_to();
            let value = number::float(value.min(whole.max().unwrap_or(value)));
            let level = number::part(so_far, whole.count())?;
            Some((value / per_nano(latency), level, so_far))
        })
        .collect()
}

/// Each bin's end with the share up to it.
fn from_bins(latency: &Latency) -> Vec<(f64, f64, u64)> {
    let all: u64 = latency
        .bins
        .iter()
        .map(|bin| bin.n)
        .fold(0, u64::saturating_add);
    let mut so_far = 0_u64;
    let bins = latency.bins.iter().filter(|bin| bin.n > 0);
    bins.filter_map(|bin| {
        so_far = so_far.saturating_add(bin.n);
        Some((number::float(bin.to_ns), number::part(so_far, all)?, so_far))
    })
    .collect()
}

/// Figures only: neither bounds nor what is withheld.
fn from_quantiles(latency: &Latency) -> Vec<(f64, f64, u64)> {
    let exact = quantile::sorted(latency)
        .into_iter()
        .filter_map(|(name, level, _)| {
            let below = number::float(latency.n) * level;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "at most n"
            )]
            let below = below as u64;
            Some((quantile::exact(latency, name)?, level, below))
        });
    let max = latency
        .max_ns
        .map(|max| (number::float(max), 1.0, latency.n));
    exact.chain(max).collect()
}
