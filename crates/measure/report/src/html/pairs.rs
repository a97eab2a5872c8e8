//! Plots of a case against another of the same session, pair of runs by pair of runs: whether a difference
//! is there in each pair, or hangs on a few of them.

use keywright_measure::compare::{Metric, pair_ratios};
use keywright_measure::document::{Case, Comparison, Document};

use super::figure::Figure;
use crate::number;
use crate::svg::{Axis, Band, Direction, Plot, Rule, Series, Shape, Tone, Unit};

/// One for each comparison of `case` with a case that is in the same document.
pub(super) fn figures(document: &Document, case: &Case) -> Vec<Figure> {
    let of_case = |comparison: &&Comparison| comparison.case == case.id;
    let comparisons = document.comparison.iter().filter(of_case);
    comparisons
        .filter_map(|comparison| {
            let other = |other: &&Case| other.id == comparison.against;
            drawn(comparison, case, document.cases.iter().find(other)?)
        })
        .collect()
}

fn drawn(comparison: &Comparison, case: &Case, other: &Case) -> Option<Figure> {
    let metric = Metric::named(&comparison.metric)?;
    let ratios = pair_ratios(case, other, metric);
    if ratios.len() < 2 {
        return None;
    }
    let points: Vec<(f64, f64)> = ratios
        .iter()
        .map(|(run, ratio)| (f64::from(*run) + 1.0, *ratio))
        .collect();
    let mut plot = Plot::new(
        &format!("{} against {}, pair by pair", comparison.metric, other.id),
        Axis::linear("pair of runs", Unit::Count),
        Axis::close("ratio", Unit::Ratio),
    );
    if let (Some(ends), Some(first), Some(last)) =
        (&comparison.interval, points.first(), points.last())
    {
        let at = |x: f64| (x, ends.lo, ends.hi);
        plot.bands
            .push(Band::new(Tone::Muted, vec![at(first.0), at(last.0)]));
    }
    plot.rules.push(Rule::new(Direction::Level, 1.0, "equal"));
    plot.series
        .push(Series::new("ratio", Shape::Dots, Tone::First, points));
    let band = match comparison.interval {
        Some(_) => "; the band is its interval",
        None => "",
    };
    let note = format!(
        "above 1 is {}, the ratio of the medians is {}{band}",
        if metric.higher_is_better() {
            "faster"
        } else {
            "slower or dearer"
        },
        number::ratio(comparison.ratio)
    );
    Figure::of(&plot, &note)
}
