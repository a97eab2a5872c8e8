//! Sentences about a case that text and HTML share.
//!
//! Names from outside come out as they went in, units excepted: whoever prints them makes them safe for
//! the place.

mod load;
mod model;
mod outage;

use std::collections::BTreeMap;

use keywright_measure::Word;
use keywright_measure::document::{
    Case, Comparison, Document, Gate, Interval, Latency, Objective, Remark,
};

pub(crate) use load::{length, load, parameters};
pub(crate) use model::{attached, is_attached, is_model_only, model};
pub(crate) use outage::outages;

use crate::number;
use crate::plain::fitted;

/// Longest name of a unit.
const UNIT: usize = 24;

/// `2,000/s [1,996-2,003] (100.0 % of target)`; the target itself is no result and stands in the head.
pub(crate) fn achieved(case: &Case) -> String {
    let mut out = achieved_rate(case);
    if let (Some(interval), None) = (&case.achieved_interval, case.figure) {
        let (lo, hi) = (number::plain(interval.lo), number::plain(interval.hi));
        out += &format!(" [{lo}-{hi}]");
    }
    if let Some(share) = of_target(case) {
        out += &format!(" ({} of target)", number::share(share));
    }
    out
}

/// A quantity that is no rate, with its unit: `12.3 MiB`, `48.1 ms`.
pub(crate) fn figure(case: &Case) -> Option<String> {
    let figure = case.figure?;
    Some(match case.unit.as_str() {
        "ns" | "nanoseconds" => number::time(figure),
        "bytes" => number::byte_size(figure),
        unit => format!("{} {}", number::plain(figure), fitted(unit, UNIT))
            .trim_end()
            .to_owned(),
    })
}

/// `2,000/s`, or with the unit where a unit is not one operation: `2,000 records/s`.
pub(crate) fn achieved_rate(case: &Case) -> String {
    if let Some(figure) = figure(case) {
        return figure;
    }
    match case.unit.as_str() {
        "" | "operations" => number::rate(case.achieved_per_s),
        unit => format!(
            "{} {}/s",
            number::plain(case.achieved_per_s),
            fitted(unit, UNIT)
        ),
    }
}

/// Achieved over offered, where one rate was offered.
pub(crate) fn of_target(case: &Case) -> Option<f64> {
    let target = case.load.rate_per_s.filter(|rate| *rate > 0.0)?;
    (case.figure.is_none() && case.load.phases.len() <= 1 && case.achieved_per_s.is_finite())
        .then(|| case.achieved_per_s / target)
}

/// `throughput vs main: ratio 1.004 [0.991-1.017], threshold 10 %`, or that there is no verdict.
pub(crate) fn comparison(comparison: &Comparison) -> String {
    let mut out = format!(
        "{} vs {}: ratio {}",
        comparison.metric,
        comparison.against,
        number::ratio(comparison.ratio)
    );
    if comparison.verdict.is_none() && comparison.interval.is_none() {
        return out + ", without statistics: no verdict";
    }
    if let Some(interval) = &comparison.interval {
        out += &format!(" {}", ratio_interval(interval));
    }
    out += &format!(
        ", threshold {}",
        number::chosen_percent(comparison.threshold * 100.0)
    );
    if let Some(p) = comparison.p {
        out += &format!(", p {}", number::significant(p, 2));
    }
    out
}

/// `[0.991-1.017]`.
pub(crate) fn ratio_interval(interval: &Interval) -> String {
    format!(
        "[{}-{}]",
        number::ratio(interval.lo),
        number::ratio(interval.hi)
    )
}

/// `p99<=20ms met (1.83 ms)`.
pub(crate) fn objective(objective: &Objective) -> String {
    let mut out = format!("{} {}", objective.condition, objective.outcome);
    if let Some(value) = objective.value {
        let condition = objective.condition.trim_start();
        let share = condition.starts_with("error") || condition.starts_with("lost");
        let value = if share {
            number::share(value)
        } else {
            number::time(value)
        };
        out += &format!(" ({value})");
    }
    out
}

/// `holds: achieved >= 1000, measured 1,234 [1,230-1,240]`.
pub(crate) fn gate(gate: &Gate) -> String {
    let word = if gate.holds { "holds" } else { "FAILS" };
    let figure = if is_about_time(&gate.condition) {
        number::time
    } else {
        number::plain
    };
    let mut out = format!(
        "{word}: {}, measured {}",
        gate.condition,
        figure(gate.value)
    );
    if let Some(interval) = &gate.interval {
        out += &format!(" [{}-{}]", figure(interval.lo), figure(interval.hi));
    }
    out
}

/// Every remark once, with the cases it is about; those of the run as a whole have none.
pub(crate) fn remarks(document: &Document) -> Vec<(&Remark, Vec<&str>)> {
    let run = document
        .validity
        .iter()
        .map(|remark| (remark, remark.case.as_deref()));
    let cases = document.cases.iter();
    let cases = cases.flat_map(|case| {
        let id = case.id.as_str();
        case.validity.iter().map(move |remark| (remark, Some(id)))
    });
    let mut out: Vec<(&Remark, Vec<&str>)> = Vec::new();
    let mut places: BTreeMap<(Option<Word>, &str, Option<&str>), usize> = BTreeMap::new();
    for (remark, case) in run.chain(cases) {
        let key = (remark.word, remark.text.as_str(), remark.remedy.as_deref());
        let place = *places.entry(key).or_insert_with(|| {
            out.push((remark, Vec::new()));
            out.len() - 1
        });
        if let (Some((_, about)), Some(case)) = (out.get_mut(place), case)
            && !about.contains(&case)
        {
            about.push(case);
        }
    }
    out
}

/// `a, b, c and 97 more`.
pub(crate) fn listed(names: &[&str]) -> String {
    const FIRST: usize = 3;
    let first: Vec<&str> = names.iter().take(FIRST).copied().collect();
    match names.len().saturating_sub(FIRST) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// Whether a condition ends in a number of seconds or parts of them: its value is then nanoseconds.
fn is_about_time(condition: &str) -> bool {
    ["ns", "us", "ms", "s"].into_iter().any(|unit| {
        let number = condition.trim_end().strip_suffix(unit).map(str::trim_end);
        number.is_some_and(|number| number.ends_with(|c: char| c.is_ascii_digit()))
    })
}

/// `quiet` up to 1 %, `ok` up to 3 %, `noisy` up to 10 %, `unusable` above.
pub(crate) fn noise(percent: f64) -> &'static str {
    match percent {
        p if p <= 1.0 => "quiet",
        p if p <= 3.0 => "ok",
        p if p <= 10.0 => "noisy",
        _ => "unusable",
    }
}

/// The checks of a case by itself, each as name and sentence.
pub(crate) fn checks(document: &Document, case: &Case) -> Vec<String> {
    let checks = &case.checks;
    let mut out = Vec::new();
    let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
    if let Some(little) = finite(checks.little_percent) {
        let sign = if little < 0.0 { "" } else { "+" };
        out.push(format!("Little {sign}{}", number::percent(little)));
    }
    if let Some(ceiling) = finite(checks.ceiling_percent) {
        let ceiling = number::chosen_percent(if ceiling >= 1.0 {
            ceiling.round()
        } else {
            ceiling
        });
        out.push(format!("generator {ceiling} of ceiling"));
    }
    if let Some(percent) = finite(checks.noise_percent) {
        out.push(format!(
            "noise {} {}",
            number::percent(percent),
            noise(percent)
        ));
    }
    if let Some(p) = finite(checks.drift_p) {
        out.push(format!("drift p {}", number::significant(p, 2)));
    }
    if let Some(rho) = finite(checks.autocorrelation) {
        out.push(format!("autocorrelation {rho:.2}"));
    }
    out.extend(case.headline().and_then(outliers));
    out.extend(timer(document, case));
    out
}

/// `outliers 0.3 % above 1.5 IQR, 0.1 % above 3 IQR, all kept`; nothing where there are none above.
fn outliers(times: &Latency) -> Option<String> {
    let found = times.outliers.as_ref()?;
    let beyond = found.high_mild.saturating_add(found.high_severe);
    let (mild, severe) = (
        number::part(beyond, times.n)?,
        number::part(found.high_severe, times.n)?,
    );
    (beyond > 0).then(|| {
        format!(
            "outliers {} above 1.5 IQR, {} above 3 IQR, all kept",
            number::percent(100.0 * mild),
            number::percent(100.0 * severe)
        )
    })
}

/// `timer 19 ns, single operations`.
fn timer(document: &Document, case: &Case) -> Option<String> {
    let (cost, timing) = (document.calibration.timer_cost_ps, &case.checks.timing);
    match (cost, timing.as_str()) {
        (_, "") => None,
        (0, timing) => Some(timing.to_owned()),
        (cost, timing) => Some(format!(
            "timer {}, {timing}",
            number::short_time(number::float(cost) / 1e3)
        )),
    }
}
