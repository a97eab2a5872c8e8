//! Percentile distributions in the text form of HdrHistogram: value, percentile, count so far, 1/(1-p).
//!
//! The form holds one distribution; several follow each other under comment lines. The points are the coarse
//! bins where a document has them, else its quantiles. A standard deviation is not known here, and none is
//! claimed.

use keywright_measure::document::{Document, Latency};

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
    let points = if latency.bins.is_empty() {
        from_quantiles(latency)
    } else {
        from_bins(latency)
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
        out += &format!("#[Mean    = {:>14.6}]\n", mean / 1e6);
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
