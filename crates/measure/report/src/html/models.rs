//! Plots of what was fitted or searched.

use keywright_measure::document::{
    BreakdownModel, Case, Document, Model, SaturationModel, ScalingModel, SizeModel, Trial,
};

use super::figure::Figure;
use crate::svg::{Axis, Direction, Plot, Row, Rows, Rule, Segment, Series, Shape, Tone, Unit};
use crate::{describe, number};

/// The plots of a case's own model and of those that belong to it.
pub(super) fn figures(document: &Document, case: &Case) -> Vec<Figure> {
    let models = describe::attached(document, case).into_iter();
    models
        .flat_map(|(model, scaled)| drawn(model, scaled))
        .flatten()
        .collect()
}

/// A spike and its recovery are drawn by the plots over time.
fn drawn(model: &Model, scaled: &str) -> Vec<Option<Figure>> {
    match model {
        Model::Saturation(model) => vec![ladder(model), tail(model)],
        Model::Scaling(model) => vec![scaling(model, scaled)],
        Model::Size(model) => vec![size(model)],
        Model::Breakdown(model) => vec![breakdown(model)],
        _ => Vec::new(),
    }
}

/// The corners between which the capacity lies.
fn bounds(model: &SaturationModel) -> Vec<Rule> {
    let rule = |at: Option<f64>, label: &str| at.map(|at| Rule::new(Direction::Upright, at, label));
    let knee = rule(model.knee_per_s, "knee");
    let (pass, fail) = (model.highest_passing_per_s, model.lowest_failing_per_s);
    [knee, rule(pass, "passes"), rule(fail, "fails")]
        .into_iter()
        .flatten()
        .collect()
}

fn by_rate(trials: &[Trial], value: impl Fn(&Trial) -> Option<f64>) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = trials
        .iter()
        .filter_map(|trial| Some((trial.rate_per_s, value(trial)?)))
        .collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    points
}

fn ladder(model: &SaturationModel) -> Option<Figure> {
    let mut plot = Plot::new(
        "Throughput against offered rate",
        Axis::linear("target, per second", Unit::Rate),
        Axis::linear("achieved, per second", Unit::Rate),
    );
    plot.series = ladder_series(
        by_rate(&model.trials, |trial| {
            trial.failed.is_none().then_some(trial.achieved_per_s)
        }),
        by_rate(&model.trials, |trial| {
            trial.failed.as_ref().map(|_| trial.achieved_per_s)
        }),
    );
    plot.rules = bounds(model);
    Figure::of(&plot, "on the broken line everything offered would be done")
}

/// What kept up, what did not, and the line of what was offered.
pub(super) fn ladder_series(kept: Vec<(f64, f64)>, fell: Vec<(f64, f64)>) -> Vec<Series> {
    let most = kept
        .iter()
        .chain(&fell)
        .map(|point| point.1)
        .fold(0.0, f64::max);
    let rates = kept
        .iter()
        .chain(&fell)
        .map(|point| point.0)
        .filter(|rate| rate.is_finite());
    let far = rates.fold(0.0, f64::max).min(most * 1.15);
    let mut out = vec![Series::new(
        "all of it",
        Shape::Dashed,
        Tone::Muted,
        vec![(0.0, 0.0), (far, far)],
    )];
    if !kept.is_empty() {
        out.push(Series::new("passed", Shape::Dots, Tone::Good, kept));
    }
    if !fell.is_empty() {
        out.push(Series::new("failed", Shape::Dots, Tone::Bad, fell));
    }
    out
}

fn tail(model: &SaturationModel) -> Option<Figure> {
    let p50 = by_rate(&model.trials, |trial| trial.p50_ns.map(number::float));
    let p99 = by_rate(&model.trials, |trial| trial.p99_ns.map(number::float));
    let values = p50.iter().chain(&p99).map(|point| point.1);
    let mut plot = Plot::new(
        "Response time against offered rate",
        Axis::linear("target, per second", Unit::Rate),
        Axis::fitting("time", Unit::Time, values),
    );
    plot.series
        .push(Series::new("p99", Shape::Marked, Tone::Second, p99));
    plot.series
        .push(Series::new("p50", Shape::Marked, Tone::First, p50));
    plot.rules = bounds(model);
    Figure::of(&plot, "")
}

fn scaling(model: &ScalingModel, scaled: &str) -> Option<Figure> {
    let points: Vec<(f64, f64)> = model
        .points
        .iter()
        .map(|point| (f64::from(point.threads), point.rate_per_s))
        .collect();
    let most = points.iter().map(|point| point.0).fold(1.0, f64::max);
    let mut plot = Plot::new(
        "Scaling",
        Axis::linear(scaled, Unit::Number),
        Axis::linear("per second", Unit::Rate),
    );
    let one = model
        .points
        .iter()
        .find(|point| point.threads == 1)
        .map(|point| point.rate_per_s);
    if let Some(one) = one {
        // Straight scaling leaves the picture soon, so its line ends where the measured points do.
        let top = points.iter().map(|point| point.1).fold(0.0, f64::max) * 1.2;
        let end = most.min(top / one);
        plot.series.push(Series::new(
            "straight",
            Shape::Dashed,
            Tone::Muted,
            vec![(0.0, 0.0), (end, end * one)],
        ));
    }
    if model.lambda > 0.0 {
        let fitted = |n: f64| {
            (
                n,
                model.lambda * n / (1.0 + model.sigma * (n - 1.0) + model.kappa * n * (n - 1.0)),
            )
        };
        let fitted: Vec<(f64, f64)> = (0..=40)
            .map(|k| fitted(1.0 + (most - 1.0) * f64::from(k) / 40.0))
            .collect();
        plot.series
            .push(Series::new("fitted", Shape::Line, Tone::First, fitted));
    }
    plot.series
        .push(Series::new("measured", Shape::Dots, Tone::Second, points));
    if let Some(best) = model.best_threads.filter(|best| *best <= most) {
        plot.rules.push(Rule::new(Direction::Upright, best, "most"));
    }
    Figure::of(&plot, "")
}

fn size(model: &SizeModel) -> Option<Figure> {
    let (misfits, fits): (Vec<_>, Vec<_>) = model
        .points
        .iter()
        .partition(|point| model.misfits.contains(&point.size_bytes));
    let spot = |point: &keywright_measure::document::SizePoint| {
        (number::float(point.size_bytes), point.time_ns)
    };
    let mut plot = Plot::new(
        "Time against size",
        Axis::log("size", Unit::Bytes),
        Axis::log("time", Unit::Time),
    );
    let sizes = model
        .points
        .iter()
        .map(|point| number::float(point.size_bytes))
        .filter(|size| *size > 0.0);
    let (lo, hi) = sizes.fold((f64::MAX, 0.0_f64), |ends, size| {
        (ends.0.min(size), ends.1.max(size))
    });
    if lo <= hi {
        let at = |k: i32| lo * (hi / lo).powf(f64::from(k) / 30.0);
        let line = (0..=30)
            .map(at)
            .map(|size| (size, model.call_ns + model.byte_ns * size))
            .collect();
        plot.series
            .push(Series::new("fitted", Shape::Line, Tone::First, line));
    }
    plot.series.push(Series::new(
        "measured",
        Shape::Dots,
        Tone::Second,
        fits.into_iter().map(spot).collect(),
    ));
    if !misfits.is_empty() {
        let misfits = misfits.into_iter().map(spot).collect();
        plot.series
            .push(Series::new("does not fit", Shape::Dots, Tone::Bad, misfits));
    }
    Figure::of(&plot, "")
}

fn breakdown(model: &BreakdownModel) -> Option<Figure> {
    let tones = [
        Tone::First,
        Tone::Second,
        Tone::Third,
        Tone::Muted,
        Tone::Good,
    ];
    let mut rows = Rows::new("Where time goes", Axis::linear("time", Unit::Time));
    let all = model.phases.iter().zip(tones.iter().cycle());
    let all = all.map(|(phase, tone)| Segment::new(&phase.name, phase.mean_ns, *tone));
    rows.rows.push(Row::bar(
        "whole",
        &number::time(model.total_ns),
        all.collect(),
    ));
    let mut before = 0.0;
    for (phase, tone) in model.phases.iter().zip(tones.iter().cycle()) {
        let mut text = number::time(phase.mean_ns);
        if model.total_ns > 0.0 {
            text += &format!(", {}", number::share(phase.mean_ns / model.total_ns));
        }
        text += &format!(", {}", phase.source);
        rows.rows.push(Row::bar(
            &phase.name,
            &text,
            vec![Segment::new("", phase.mean_ns, *tone)],
        ));
        before += phase.mean_ns;
    }
    let missing = (model.total_ns - before) / model.total_ns;
    let note = if missing.abs() > 0.01 {
        format!("phases and whole differ by {}", number::share(missing))
    } else {
        String::new()
    };
    Figure::of_rows(&rows, &note, ["Phase", "Mean"])
}
