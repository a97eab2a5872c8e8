//! Forms for tools that keep a number per name over commits.

use keywright_encoding::terminal::escaped_json;
use std::collections::BTreeMap;

use keywright_measure::document::{Bound, Case, Document, Latency, Quantile};
use serde::Serialize;

use crate::{Error, number, outcome, quantile};

/// `test NAME ... bench:   1,234 ns/iter (+/- 56)`, a line per case.
///
/// The time is the median of response time in open loops, of service time in closed ones; behind the sign
/// stands half its 95 % interval, or the median distance from it where there is none. Names have no blanks,
/// since readers cut at them. Below ten nanoseconds two decimals are kept; nothing is printed as zero.
#[must_use]
pub fn bencher(document: &Document) -> String {
    let cases = document.cases.iter().filter(|case| outcome::quotable(case));
    cases.filter_map(bencher_line).collect()
}

fn bencher_line(case: &Case) -> Option<String> {
    let latency = case.headline()?;
    let median = quantile::exact(latency, "p50")?;
    let ends = latency
        .quantile("p50")
        .and_then(|median| median.lo.zip(median.hi));
    let spread = match (ends, latency.mad_ns) {
        (Some((lo, hi)), _) => number::float(hi.saturating_sub(lo)) / 2.0,
        (None, mad) => number::float(mad.unwrap_or(0)),
    };
    // Two decimals where whole nanoseconds would lose a tenth of the time or all of it.
    let figure = |ns: f64| match ns {
        ns if ns > 0.0 && median < 9.995 => format!("{:.2}", ns.max(0.01)),
        ns => number::count(rounded(ns)),
    };
    Some(format!(
        "test {} ... bench: {:>11} ns/iter (+/- {})\n",
        unbroken(&case.id),
        figure(median),
        figure(spread),
    ))
}

/// To whole nanoseconds.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` clamps to what fits"
)]
fn rounded(ns: f64) -> u64 {
    ns.round() as u64
}

/// A name of one word.
fn unbroken(name: &str) -> String {
    let name: String = name
        .chars()
        .map(|c| {
            if c.is_whitespace() || c.is_control() {
                '_'
            } else {
                c
            }
        })
        .collect();
    if name.is_empty() {
        "unnamed".to_owned()
    } else {
        name
    }
}

#[derive(Serialize)]
struct Measure {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

/// Bencher metric format: per case `latency` (nanoseconds, the median), `latency-p99` and `throughput` (units
/// a second), each with its 95 % interval where there is one; `figure` for a quantity that is no rate.
///
/// # Errors
/// [`Error::Unwritable`], which would be a bug.
pub fn bmf(document: &Document) -> Result<String, Error> {
    let cases = document.cases.iter().filter(|case| outcome::quotable(case));
    let all: BTreeMap<&str, BTreeMap<&str, Measure>> = cases
        .map(|case| (case.id.as_str(), measures(case)))
        .filter(|(_, some)| !some.is_empty())
        .collect();
    pretty(&all)
}

fn measures(case: &Case) -> BTreeMap<&'static str, Measure> {
    let mut out = BTreeMap::new();
    if let Some(latency) = case.headline() {
        let measure = |name| measured(latency, name);
        out.extend(measure("p50").map(|median| ("latency", median)));
        out.extend(measure("p99").map(|tail| ("latency-p99", tail)));
    }
    if let Some(value) = case.figure.filter(|value| value.is_finite()) {
        out.insert(
            "figure",
            Measure {
                value,
                lower_value: None,
                upper_value: None,
            },
        );
    } else if case.achieved_per_s.is_finite() && case.achieved_per_s > 0.0 {
        let interval = case.achieved_interval.as_ref();
        let finite = |value: f64| Some(value).filter(|value| value.is_finite());
        let rate = Measure {
            value: case.achieved_per_s,
            lower_value: interval.and_then(|interval| finite(interval.lo)),
            upper_value: interval.and_then(|interval| finite(interval.hi)),
        };
        out.insert("throughput", rate);
    }
    out
}

fn measured(latency: &Latency, name: &str) -> Option<Measure> {
    let value = quantile::exact(latency, name)?;
    let found = latency
        .quantile(name)
        .filter(|found| found.bound == Bound::Exact)?;
    Some(Measure {
        value,
        lower_value: found.lo.map(number::float),
        upper_value: found.hi.map(number::float),
    })
}

#[derive(Serialize)]
struct Entry {
    name: String,
    unit: &'static str,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    extra: String,
}

/// A list of name, unit and value in which smaller is better: the median and the p99 of each case. Rates are
/// left out, since the reader takes one direction for all of a file.
///
/// # Errors
/// [`Error::Unwritable`], which would be a bug.
pub fn github(document: &Document) -> Result<String, Error> {
    let mut entries = Vec::new();
    for case in document.cases.iter().filter(|case| outcome::quotable(case)) {
        let kind = if case.response.is_some() {
            "response"
        } else {
            "service"
        };
        let Some(latency) = case.headline() else {
            continue;
        };
        for name in ["p50", "p99"] {
            let Some(value) = quantile::exact(latency, name) else {
                continue;
            };
            let words: Vec<&str> = outcome::words(case)
                .into_iter()
                .map(|word| word.text())
                .collect();
            entries.push(Entry {
                name: format!("{} {kind} {name}", case.id),
                unit: "ns",
                value,
                range: latency.quantile(name).and_then(range),
                extra: format!(
                    "{}\nrun {}\nn {}",
                    words.join(" "),
                    document.run.id,
                    latency.n
                ),
            });
        }
    }
    pretty(&entries)
}

fn range(quantile: &Quantile) -> Option<String> {
    Some(format!("{} to {} (95 % CI)", quantile.lo?, quantile.hi?))
}

fn pretty(value: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string_pretty(value)
        .map(|text| escaped_json(&text).into_owned() + "\n")
        .map_err(Error::Unwritable)
}
