//! Plots over several cases.

use keywright_measure::Word;
use keywright_measure::document::{Case, Comparison, Document};
use maud::{Markup, html};

use super::figure::Figure;
use super::models::ladder_series;
use crate::svg::{Axis, Plot, Row, Rows, Tone, Unit, Whisker};
use crate::{describe, number, outcome};

/// Ratios with intervals between the threshold lines of the strictest comparison.
pub(super) fn comparisons(document: &Document, most: usize) -> Markup {
    let mut rows = Rows::new(
        "Current over baseline: of a throughput above 1 is faster, of times and quantities slower or dearer",
        Axis::default(),
    );
    rows.axis = Axis::close("ratio", Unit::Ratio);
    rows.rows = document
        .comparison
        .iter()
        .take(most.min(60))
        .map(row)
        .collect();
    let thresholds = document
        .comparison
        .iter()
        .map(|comparison| comparison.threshold);
    let threshold = thresholds
        .filter(|t| *t > 0.0)
        .fold(f64::INFINITY, f64::min);
    if !rows.rows.is_empty() {
        rows.rules.push((1.0, "1".to_owned()));
    }
    if threshold.is_finite() {
        let percent = number::chosen_percent(threshold * 100.0);
        rows.rules.extend([
            (1.0 + threshold, format!("+{percent}")),
            // Ratios are judged alike to both sides: a half is as far as the double.
            (1.0 / (1.0 + threshold), format!("1 / (1 + {percent})")),
        ]);
    }
    let shown = rows.rows.len();
    let figure = Figure::of_rows(&rows, "", ["Case", "Ratio"]);
    html! {
        @if !document.comparison.is_empty() {
            section {
                h2 { "Comparison" }
                @if let Some(figure) = &figure { div.figures.wide { (figure.markup()) } }
                @if document.comparison.len() > shown {
                    p.note { (number::count(super::count(document.comparison.len() - shown))) " more comparisons are in the JSON form." }
                }
            }
        }
    }
}

fn row(comparison: &Comparison) -> Row {
    let tone = match comparison.verdict {
        Some(Word::Regression) => Tone::Bad,
        Some(Word::Improved) => Tone::Good,
        Some(Word::Pass) => Tone::First,
        _ => Tone::Muted,
    };
    let ratio = comparison.ratio;
    let (lo, hi) = comparison
        .interval
        .as_ref()
        .map_or((ratio, ratio), |ends| (ends.lo, ends.hi));
    let word = comparison.verdict.map_or("", |word| word.text());
    let name = format!("{} {}", comparison.case, comparison.metric);
    Row::whisker(
        &name,
        &format!("{} {word}", number::ratio(ratio)),
        Whisker::new(lo, ratio, hi, tone),
    )
}

/// Throughput against offered rate, for each operation that was offered at least two rates.
pub(super) fn offered(cases: &[&Case]) -> Markup {
    let mut groups: Vec<(&str, &str, Vec<&Case>)> = Vec::new();
    for case in cases
        .iter()
        .filter(|case| case.load.phases.len() < 2 && case.load.rate_per_s.is_some())
    {
        match groups
            .iter_mut()
            .find(|(op, target, _)| *op == case.op && *target == case.target)
        {
            Some((.., group)) => group.push(case),
            None => groups.push((&case.op, &case.target, vec![case])),
        }
    }
    let figures: Vec<Figure> = groups
        .iter()
        .filter_map(|(op, target, group)| ladder(op, target, group))
        .take(12)
        .collect();
    html! {
        @if !figures.is_empty() {
            section {
                h2 { "Throughput against offered rate" }
                div.figures { @for figure in &figures { (figure.markup()) } }
            }
        }
    }
}

fn ladder(op: &str, target: &str, cases: &[&Case]) -> Option<Figure> {
    let rates = |kept: bool| {
        let mut points: Vec<(f64, f64)> = cases
            .iter()
            .filter(|case| outcome::quotable(case) == kept)
            .filter_map(|case| Some((case.load.rate_per_s?, case.achieved_per_s)))
            .collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        points
    };
    let mut distinct: Vec<u64> = cases
        .iter()
        .filter_map(|case| case.load.rate_per_s)
        .map(f64::to_bits)
        .collect();
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() < 2 || cases.iter().all(|case| describe::is_model_only(case)) {
        return None;
    }
    let name = crate::plain::fitted(&format!("{op} on {target}"), 60);
    let mut plot = Plot::new(
        &name,
        Axis::linear("target, per second", Unit::Rate),
        Axis::linear("achieved, per second", Unit::Rate),
    );
    plot.series = ladder_series(rates(true), rates(false));
    Figure::of(&plot, "on the broken line everything offered would be done")
}
