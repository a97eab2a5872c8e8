//! Trends over runs as one page: points, levels and where they changed, each with its table.
//!
//! The same promises as a report: one file, no script needed, nothing fetched, under [`LIMIT`]. The newest
//! points stay where not all fit, and the page says how many it leaves out.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{LIMIT, SCRIPT, STYLE, count, figure::table, policy};
use crate::history::{ChangePoint, Level, Metric, Point, Trend};
use crate::number;
use crate::plain::fitted;
use crate::svg::{Axis, Band, Direction, Plot, Rule, Series, Shape, Tone, Unit};

/// How much is on a page: trends, points of each that are drawn, and points of each that are listed. The
/// first that fits is taken.
const DEPTHS: [(usize, usize, usize); 7] = [
    (usize::MAX, 2_000, 2_000),
    (usize::MAX, 1_000, 250),
    (usize::MAX, 300, 50),
    (200, 100, 20),
    (60, 60, 10),
    (20, 40, 5),
    (5, 40, 5),
];

/// Most characters of a name.
const NAME: usize = 120;

/// A page of these trends.
#[must_use]
pub fn trends(trends: &[Trend]) -> String {
    let mut pages = DEPTHS
        .into_iter()
        .map(|depth| page(trends, depth).into_string());
    pages
        .find(|page| page.len() < LIMIT)
        .unwrap_or_else(super::too_large)
}

fn page(trends: &[Trend], (most, drawn, listed): (usize, usize, usize)) -> Markup {
    let title = match trends {
        [one] => format!(
            "{} of {} over runs",
            one.metric.name(),
            fitted(&one.case, NAME)
        ),
        _ => "Trends over runs".to_owned(),
    };
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width,initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    header {
                        h1 { (title) }
                        p.meta { span { "Runs of one machine, build and settings only; figures in doubt are not among them." } }
                    }
                    @if trends.is_empty() { p.note { "The history has no run of it yet." } }
                    @if trends.len() > 1 { (summary(trends, most)) }
                    @for (place, trend) in trends.iter().take(most).enumerate() {
                        (section(trend, place, (drawn, listed)))
                    }
                    @if trends.len() > most {
                        p.note { (number::count(count(trends.len() - most))) " more trends do not fit on one small page." }
                    }
                    footer {
                        p {
                            "Changes are found by E-Divisive among the newest 250 points, with at least five runs on "
                            "each side; the level of a stretch is its pseudo-median with a 95 % interval. "
                            "One slow run is no change."
                        }
                    }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

fn summary(trends: &[Trend], most: usize) -> Markup {
    html! {
        section {
            h2 { "Summary" }
            div.scroll {
                table.summary {
                    thead { tr { @for cell in ["Case", "Figure", "Runs", "Now", "Before", "Now over before", "Changes"] { th { (cell) } } } }
                    tbody {
                        @for (place, trend) in trends.iter().enumerate().take(most) {
                            tr {
                                td { a href={ "#c" (place) } { (fitted(&trend.case, NAME)) } }
                                td { (trend.metric.name()) }
                                td { (number::count(count(trend.points.len()))) }
                                td { (centre(trend, trend.current.as_ref())) }
                                td { (centre(trend, trend.previous.as_ref())) }
                                td { (ratio(trend)) }
                                td { (trend.change_points.len()) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn section(trend: &Trend, place: usize, (drawn, listed): (usize, usize)) -> Markup {
    let plot = drawing(trend, drawn);
    let left_out = trend.points.len().saturating_sub(drawn);
    html! {
        section.case id={ "c" (place) } {
            h2 { (fitted(&trend.case, NAME)) " " small { (trend.metric.name()) } }
            (tiles(trend))
            @if let Some(svg) = plot.svg() {
                figure {
                    figcaption {
                        b { (plot.title) }
                        @if left_out > 0 { " " span { "the newest of " (number::count(count(trend.points.len()))) " runs" } }
                    }
                    (PreEscaped(svg))
                    details { summary { "Figures" } (points(trend, listed)) }
                }
            } @else {
                p.note { "There is no figure of it that can be drawn." }
            }
            (changes(trend))
        }
    }
}

fn tiles(trend: &Trend) -> Markup {
    html! {
        div.tiles {
            (tile("now", &centre(trend, trend.current.as_ref()), &runs(trend.current.as_ref())))
            @if trend.previous.is_some() {
                (tile("before the last change", &centre(trend, trend.previous.as_ref()), &runs(trend.previous.as_ref())))
                (tile("now over before", &ratio(trend), "95 % CI"))
            }
        }
    }
}

fn tile(name: &str, value: &str, note: &str) -> Markup {
    html! { div { span { (name) } b { (value) } i { (note) } } }
}

fn runs(level: Option<&Level>) -> String {
    level.map_or_else(String::new, |level| {
        format!("{} runs", number::count(count(level.runs)))
    })
}

fn centre(trend: &Trend, level: Option<&Level>) -> String {
    level.map_or_else(
        || number::NONE.to_owned(),
        |level| unit(trend.metric).text(level.centre.estimate),
    )
}

fn ratio(trend: &Trend) -> String {
    trend.ratio.as_ref().map_or_else(
        || number::NONE.to_owned(),
        |ratio| {
            let [at, lo, hi] = [ratio.estimate, ratio.lo, ratio.hi].map(number::ratio);
            format!("{at} [{lo}-{hi}]")
        },
    )
}

const fn unit(metric: Metric) -> Unit {
    match metric {
        Metric::Throughput => Unit::Rate,
        _ => Unit::Time,
    }
}

/// Places on the axis are numbers of runs on this line, from 1, so that a point that is left out takes no
/// other's number.
fn place(index: usize) -> f64 {
    number::float(count(index)) + 1.0
}

fn drawing(trend: &Trend, most: usize) -> Plot {
    let skipped = trend.points.len().saturating_sub(most);
    let kept = || trend.points.iter().enumerate().skip(skipped);
    let label = match unit(trend.metric) {
        Unit::Rate => "per second",
        _ => "time",
    };
    let mut plot = Plot::new(
        &format!("{} over runs", trend.metric.name()),
        Axis::close("run", Unit::Count),
        Axis::close(label, unit(trend.metric)),
    );
    let interval = |(at, point): (usize, &Point)| {
        let interval = point.interval.as_ref()?;
        Some((place(at), interval.lo, interval.hi))
    };
    let band: Vec<_> = kept().filter_map(interval).collect();
    // A band with holes would join what is not side by side.
    if band.len() == trend.points.len() - skipped && !band.is_empty() {
        plot.bands.push(Band::new(Tone::First, band));
    }
    let dots = kept().map(|(at, point)| (place(at), point.value)).collect();
    plot.series
        .push(Series::new("runs", Shape::Dots, Tone::First, dots));
    plot.series.push(Series::new(
        "level",
        Shape::Line,
        Tone::Second,
        levels(trend, skipped),
    ));
    plot.rules = trend
        .change_points
        .iter()
        .filter(|change| change.index >= skipped)
        .map(|change| Rule::new(Direction::Upright, place(change.index) - 0.5, &by(change)))
        .collect();
    plot
}

/// The medians of stretches, with a gap where one ends and the next begins.
fn levels(trend: &Trend, skipped: usize) -> Vec<(f64, f64)> {
    let mut borders = vec![(0, None)];
    borders.extend(trend.change_points.iter().map(|c| (c.index, Some(c.after))));
    let first = trend.change_points.first().map(|change| change.before);
    let only = trend.current.as_ref().map(|level| level.centre.estimate);
    let mut line = Vec::new();
    for (number, (from, after)) in borders.iter().enumerate() {
        let to = borders.get(number + 1).map_or(trend.points.len(), |b| b.0);
        let level = after.or(first).or(only);
        let from = (*from).max(skipped);
        if let (Some(level), true) = (level, from < to) {
            line.push((place(from), level));
            line.push((place(to - 1), level));
            line.push((place(to - 1) + 0.5, f64::NAN));
        }
    }
    line.pop();
    line
}

/// By how much a level changed.
fn by(change: &ChangePoint) -> String {
    let share = change.after / change.before - 1.0;
    if share.is_finite() {
        format!(
            "{}{}",
            if share < 0.0 { "" } else { "+" },
            number::percent(100.0 * share)
        )
    } else {
        String::new()
    }
}

fn changes(trend: &Trend) -> Markup {
    let head = [
        "Changed at run",
        "started",
        "commit",
        "before",
        "after",
        "by",
        "p",
    ];
    let rows: Vec<Vec<String>> = trend
        .change_points
        .iter()
        .map(|change| {
            let point = trend.points.get(change.index);
            let unit = unit(trend.metric);
            vec![
                change.run.as_str().to_owned(),
                point.map_or_else(String::new, |point| fitted(&point.started, 40)),
                commit(point),
                unit.text(change.before),
                unit.text(change.after),
                by(change),
                format!("{:.3}", change.p),
            ]
        })
        .collect();
    html! {
        @if rows.is_empty() { p.note { "No change of level." } }
        @else { (table(&head.map(str::to_owned), &rows)) }
    }
}

fn commit(point: Option<&Point>) -> String {
    let commit = point.and_then(|point| point.commit.as_deref());
    commit.map_or_else(String::new, |commit| fitted(commit, 40))
}

/// The newest points, the newest first.
fn points(trend: &Trend, most: usize) -> Markup {
    let head = [
        "Run",
        "number",
        "started",
        "commit",
        "value",
        "95 % interval",
        "verdict",
    ];
    let unit = unit(trend.metric);
    let newest = trend.points.iter().enumerate().rev().take(most);
    let rows: Vec<Vec<String>> = newest
        .map(|(at, point)| {
            let interval = point.interval.as_ref().map_or_else(String::new, |one| {
                format!("{} to {}", unit.text(one.lo), unit.text(one.hi))
            });
            vec![
                point.run.as_str().to_owned(),
                number::count(count(at + 1)),
                fitted(&point.started, 40),
                commit(Some(point)),
                unit.text(point.value),
                interval,
                fitted(&point.verdict, 40),
            ]
        })
        .collect();
    html! {
        (table(&head.map(str::to_owned), &rows))
        @if trend.points.len() > most {
            p.note { (number::count(count(trend.points.len() - most))) " older runs are in the history." }
        }
    }
}
