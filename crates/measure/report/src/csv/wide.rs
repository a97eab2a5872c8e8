//! One row per case, for spreadsheets.

use keywright_measure::document::{Case, Document, Latency};

use super::{float, size, text, verdict};
use crate::{outcome, quantile};

/// A row per case: what it was, how it was loaded, the books, and the quantiles of the headline
/// distribution, which is response time in open loops and service time in closed ones (`kind`). Every
/// quantile that any case has gets a column with its ends and what it is.
#[must_use]
pub fn wide(document: &Document) -> String {
    let names = quantiles(document);
    let mut head: Vec<String> = HEAD.iter().map(|&name| name.to_owned()).collect();
    for name in &names {
        head.extend(["_ns", "_lo_ns", "_hi_ns", "_bound"].map(|end| format!("{name}{end}")));
    }
    head.extend(["p99_over_p50", "verdict", "words"].map(str::to_owned));
    let mut out = head.join(",") + "\r\n";
    for case in &document.cases {
        out += &(row(document, case, &names).join(",") + "\r\n");
    }
    out
}

const HEAD: [&str; 29] = [
    "run_id",
    "case",
    "target",
    "op",
    "unit",
    "parameters",
    "mode",
    "arrival",
    "size_bytes",
    "threads",
    "target_per_s",
    "achieved_per_s",
    "achieved_lo_per_s",
    "achieved_hi_per_s",
    "bytes_per_s",
    "figure",
    "planned",
    "sent",
    "never_sent",
    "verified",
    "unverified",
    "wrong",
    "error",
    "timeout",
    "censored",
    "kind",
    "mean_ns",
    "min_ns",
    "max_ns",
];

fn row(document: &Document, case: &Case, names: &[String]) -> Vec<String> {
    let parameters: Vec<String> = case
        .parameters
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let interval = case.achieved_interval.as_ref();
    let whole = |n: Option<u64>| n.map_or_else(String::new, |n| n.to_string());
    let mut out = vec![
        text(&document.run.id),
        text(&case.id),
        text(&case.target),
        text(&case.op),
        text(&case.unit),
        text(&parameters.join(";")),
        text(&case.load.mode),
        text(case.load.arrival.as_deref().unwrap_or_default()),
        whole(size(case)),
        whole(Some(case.load.cap).filter(|cap| *cap > 0)),
        float(case.load.rate_per_s),
        float(Some(case.achieved_per_s)),
        float(interval.map(|interval| interval.lo)),
        float(interval.map(|interval| interval.hi)),
        float(case.bytes_per_s),
        float(case.figure),
    ];
    let counts = &case.counts;
    let (ended, failed) = (
        [counts.verified, counts.unverified],
        [counts.wrong, counts.error],
    );
    let counts = [counts.planned, counts.sent, counts.never_sent]
        .into_iter()
        .chain(ended)
        .chain(failed)
        .chain([counts.timeout, counts.censored]);
    out.extend(counts.map(|n| n.to_string()));
    out.extend(times(case, names));
    let words: Vec<&str> = outcome::words(case)
        .into_iter()
        .map(|word| word.text())
        .collect();
    out.extend([verdict(case).to_owned(), text(&words.join(" "))]);
    out
}

fn times(case: &Case, names: &[String]) -> Vec<String> {
    let whole = |n: Option<u64>| n.map_or_else(String::new, |n| n.to_string());
    let none = Latency::default();
    let kind = match (&case.response, &case.service) {
        (Some(_), _) => "response",
        (None, Some(_)) => "service",
        (None, None) => "",
    };
    let times = case.headline().unwrap_or(&none);
    let mut out = vec![
        kind.to_owned(),
        float(times.mean_ns),
        whole(times.min_ns),
        whole(times.max_ns),
    ];
    for name in names {
        let Some(quantile) = times.quantile(name) else {
            out.extend([const { String::new() }; 4]);
            continue;
        };
        let value = quantile::nanoseconds(quantile);
        let ends = value.map_or((None, None), |_| (quantile.lo, quantile.hi));
        let bound = quantile::bound(quantile.bound).to_owned();
        out.extend([float(value), whole(ends.0), whole(ends.1), bound]);
    }
    let ratio = quantile::exact(times, "p99").zip(quantile::exact(times, "p50"));
    out.push(float(ratio.map(|(p99, p50)| p99 / p50)));
    out
}

/// The quantiles of all cases from the lowest to the highest.
fn quantiles(document: &Document) -> Vec<String> {
    let mut all: Vec<(f64, String)> = document
        .cases
        .iter()
        .filter_map(Case::headline)
        .flat_map(quantile::sorted)
        .map(|(name, level, _)| (level, name.to_owned()))
        .collect();
    all.sort_by(|one, other| one.0.total_cmp(&other.0).then_with(|| one.1.cmp(&other.1)));
    all.dedup();
    all.into_iter().map(|(_, name)| name).collect()
}
