//! What was fitted or searched, in words.

use keywright_measure::document::{
    BreakdownModel, Case, Counts, Document, Interval, Model, RecoveryModel, SaturationModel,
    ScalingModel, SizeModel,
};

use crate::number;

/// The label of a model's line and its sentence. `scaled` names what a scaling curve runs over.
pub(crate) fn model(model: &Model, scaled: &str) -> Option<(&'static str, String)> {
    Some(match model {
        Model::Saturation(model) => ("capacity", saturation(model)),
        Model::Scaling(model) => ("capacity", scaling(model, scaled)),
        Model::Size(model) => ("size", size(model)),
        Model::Recovery(model) => ("recovery", recovery(model)),
        Model::Breakdown(model) => ("phases", breakdown(model)),
        _ => return None,
    })
}

/// Whether a case says nothing of its own operations: then its model belongs to the case it was made from.
pub(crate) fn is_model_only(case: &Case) -> bool {
    case.model.is_some()
        && case.counts == Counts::default()
        && case.response.is_none()
        && case.service.is_none()
}

/// Whether the case is told in the block of another one.
pub(crate) fn is_attached(document: &Document, case: &Case) -> bool {
    let same = |other: &&Case| other.op == case.op && other.target == case.target;
    is_model_only(case)
        && document
            .cases
            .iter()
            .filter(same)
            .any(|other| !is_model_only(other))
}

/// The models shown with `case`: its own, and those of cases that are only a model of the same operation
/// against the same target, with what a scaling runs over.
pub(crate) fn attached<'a>(document: &'a Document, case: &'a Case) -> Vec<(&'a Model, &'a str)> {
    let same = |other: &Case| other.op == case.op && other.target == case.target;
    let own = case.model.iter().map(|model| (model, scaled(case)));
    let first = document
        .cases
        .iter()
        .find(|other| same(other) && !is_model_only(other));
    let takes = first.is_some_and(|first| std::ptr::eq(first, case));
    let others = document
        .cases
        .iter()
        .filter(|other| takes && is_model_only(other) && same(other));
    own.chain(others.flat_map(|other| other.model.iter().map(|model| (model, scaled(other)))))
        .collect()
}

/// What a scaling curve runs over: the parameter `scaled`, or threads.
fn scaled(case: &Case) -> &str {
    case.parameters
        .get("scaled")
        .map_or("threads", String::as_str)
}

fn saturation(model: &SaturationModel) -> String {
    let mut parts = Vec::new();
    parts.extend(
        model
            .highest_passing_per_s
            .map(|rate| format!("near target at {}", number::rate(rate))),
    );
    parts.extend(model.lowest_failing_per_s.map(|rate| {
        let why = model
            .criterion
            .as_deref()
            .map(|why| format!(" ({why})"))
            .unwrap_or_default();
        format!("fails at {}{why}", number::rate(rate))
    }));
    parts.extend(
        model
            .knee_per_s
            .map(|rate| format!("knee at {}", number::rate(rate))),
    );
    if parts.is_empty() {
        return format!("no bound found in {} trials", model.trials.len());
    }
    parts.join(", ")
}

fn scaling(model: &ScalingModel, scaled: &str) -> String {
    let (Some(first), Some(last)) = (model.points.first(), model.points.last()) else {
        return "no points".to_owned();
    };
    let mut out = format!(
        "{} -> {} {scaled}: speed-up {}, efficiency {}",
        first.threads,
        last.threads,
        two(last.speed_up),
        number::chosen_percent((last.efficiency * 100.0).round()),
    );
    if let Some(fraction) = last.serial_fraction {
        out += &format!(", serial fraction {}", two(fraction));
    }
    if model.lambda > 0.0 {
        let (sigma, kappa) = (
            number::significant(model.sigma, 2),
            number::significant(model.kappa, 2),
        );
        out += &format!(", fitted contention {sigma}, coherence {kappa}");
    }
    if let Some(best) = model.best_threads {
        out += &format!(", most at {} {scaled}", number::significant(best, 2));
    }
    let rates = model.points.iter().map(|point| point.rate_per_s);
    if last.rate_per_s < rates.fold(0.0, f64::max) * 0.99 {
        out += &format!("; falls before {} {scaled}", last.threads);
    }
    out
}

fn two(value: f64) -> String {
    if value.is_finite() {
        format!("{value:.2}")
    } else {
        number::NONE.to_owned()
    }
}

fn size(model: &SizeModel) -> String {
    let call = format!(
        "{}{} per call",
        number::time(model.call_ns),
        times(model.call_interval.as_ref())
    );
    let mut out = format!(
        "{call} + {}{} per byte",
        number::time(model.byte_ns),
        times(model.byte_interval.as_ref())
    );
    if model.byte_ns > 0.0 {
        out += &format!(" ({})", number::byte_rate(1e9 / model.byte_ns));
    }
    if !model.misfits.is_empty() {
        let sizes: Vec<String> = model
            .misfits
            .iter()
            .map(|size| number::bytes(*size))
            .collect();
        out += &format!("; does not fit at {}", sizes.join(", "));
    }
    out
}

/// ` [2.05 us-2.15 us]`.
fn times(interval: Option<&Interval>) -> String {
    interval.map_or_else(String::new, |interval| {
        format!(
            " [{}-{}]",
            number::time(interval.lo),
            number::time(interval.hi)
        )
    })
}

fn recovery(model: &RecoveryModel) -> String {
    let when = match model.recovery_ns {
        Some(ns) => format!("{} after the spike", number::nanoseconds(ns)),
        None => "never within the measurement".to_owned(),
    };
    let after = model
        .after_p99_ns
        .map_or_else(|| number::NONE.to_owned(), number::nanoseconds);
    format!(
        "{when}; p99 before {}, after {after}; peak in flight {}, backlog {}; debt {}; lost {}, refused {}",
        number::nanoseconds(model.before_p99_ns),
        number::count(model.peak_in_flight),
        number::count(model.peak_backlog),
        number::time(model.latency_debt_s * 1e9),
        number::count(model.lost),
        number::count(model.refused),
    )
}

fn breakdown(model: &BreakdownModel) -> String {
    let phases: Vec<String> = model
        .phases
        .iter()
        .map(|phase| {
            format!(
                "{} {} ({})",
                phase.name,
                number::time(phase.mean_ns),
                phase.source
            )
        })
        .collect();
    format!(
        "{} = {} mean",
        phases.join(" + "),
        number::time(model.total_ns)
    )
}
