//! Plots of one case's operations.

use keywright_measure::document::{Bound, Case, Latency};

use super::figure::Figure;
use super::timeline::{Point, Timeline};
use crate::number;
use crate::quantile;
use crate::svg::{Axis, Band, Bar, Direction, Plot, Rule, Series, Shape, Tone, Unit};

/// What matters most first, since a large document shows only the first ones.
pub(super) fn figures(case: &Case, points: usize) -> Vec<Figure> {
    let line = Timeline::of(case, points);
    let all = [
        histogram(case),
        curve(case),
        times(case, &line),
        throughput(case, &line),
        in_flight(case, &line),
        canary(&line),
    ];
    all.into_iter().flatten().collect()
}

/// Which time the headline is.
const fn kind(case: &Case) -> &'static str {
    if case.response.is_some() {
        "Response time"
    } else {
        "Service time"
    }
}

fn histogram(case: &Case) -> Option<Figure> {
    let times = case.headline()?;
    let ends = times
        .bins
        .iter()
        .filter(|bin| bin.n > 0)
        .map(|bin| number::float(bin.to_ns));
    let mut plot = Plot::new(
        &format!("{}, histogram", kind(case)),
        Axis::fitting("time", Unit::Time, ends),
        Axis::linear("operations", Unit::Count),
    );
    plot.bars_name = "operations".to_owned();
    let mut from = number::float(times.min_ns.unwrap_or(0));
    for bin in &times.bins {
        let to = number::float(bin.to_ns);
        // The first bin has no beginning of its own.
        let start = if from > 0.0 && from < to {
            from
        } else {
            to * 0.9
        };
        if bin.n > 0 {
            plot.bars.push(Bar::new(start, to, number::float(bin.n)));
        }
        from = to;
    }
    for name in ["p50", "p99"] {
        if let Some(ns) = quantile::exact(times, name) {
            plot.rules.push(Rule::new(Direction::Upright, ns, name));
        }
    }
    Figure::of(&plot, "")
}

/// Over one over the share above, so that each nine takes the same room.
fn curve(case: &Case) -> Option<Figure> {
    let subjects = [
        ("response", &case.response, Tone::First),
        ("service", &case.service, Tone::Second),
    ];
    let values = subjects.iter().filter_map(|(_, times, _)| times.as_ref());
    let values: Vec<f64> = values
        .flat_map(|times| spots(times, Bounds::All))
        .map(|spot| spot.1)
        .collect();
    let mut plot = Plot::new(
        "Quantiles with 95 % intervals",
        Axis::log("quantile", Unit::Quantile),
        Axis::fitting("time", Unit::Time, values.iter().copied()),
    );
    for (name, times, tone) in subjects {
        let Some(times) = times else { continue };
        let exact = spots(times, Bounds::Exact);
        let bounds = spots(times, Bounds::Lower);
        plot.bands.extend(band(times, tone));
        if !exact.is_empty() {
            plot.series
                .push(Series::new(name, Shape::Marked, tone, exact));
        }
        if !bounds.is_empty() {
            plot.series.push(Series::new(
                &format!("{name}, at least"),
                Shape::Dashed,
                tone,
                bounds,
            ));
        }
    }
    Figure::of(&plot, "")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bounds {
    All,
    Exact,
    Lower,
}

fn spots(times: &Latency, which: Bounds) -> Vec<(f64, f64)> {
    quantile::sorted(times)
        .into_iter()
        .filter(|(.., q)| match which {
            Bounds::All => true,
            Bounds::Exact => q.bound == Bound::Exact,
            Bounds::Lower => q.bound == Bound::AtLeast,
        })
        .filter_map(|(_, level, q)| Some((1.0 / (1.0 - level), quantile::nanoseconds(q)?)))
        .collect()
}

fn band(times: &Latency, tone: Tone) -> Option<Band> {
    let exact = quantile::sorted(times)
        .into_iter()
        .filter(|(.., q)| q.bound == Bound::Exact);
    let points: Vec<(f64, f64, f64)> = exact
        .filter_map(|(_, level, q)| {
            quantile::nanoseconds(q)?;
            Some((
                1.0 / (1.0 - level),
                number::float(q.lo?),
                number::float(q.hi?),
            ))
        })
        .collect();
    (!points.is_empty()).then(|| Band::new(tone, points))
}

/// A plot over time with a rule where each further run begins.
fn over_time(title: &str, y: Axis, line: &Timeline) -> Plot {
    let mut plot = Plot::new(title, Axis::linear("since the start", Unit::Time), y);
    let starts = line.starts.iter().zip(2..);
    plot.rules = starts
        .map(|(at, run)| Rule::new(Direction::Upright, *at, &format!("run {run}")))
        .collect();
    if plot.rules.len() > 8 {
        plot.rules.iter_mut().for_each(|rule| rule.label.clear());
    }
    plot
}

fn along(line: &Timeline, value: impl Fn(&Point) -> Option<f64>) -> Vec<(f64, f64)> {
    line.points
        .iter()
        .filter_map(|point| Some((point.at, value(point)?)))
        .collect()
}

fn times(case: &Case, line: &Timeline) -> Option<Figure> {
    let (p50, p99) = (
        along(line, |point| point.p50),
        along(line, |point| point.p99),
    );
    if p50.is_empty() && p99.is_empty() {
        return None;
    }
    let service = [
        (
            "service p99",
            along(line, |point| point.service_p99),
            Tone::Third,
        ),
        (
            "service p50",
            along(line, |point| point.service_p50),
            Tone::Muted,
        ),
    ];
    let of_service = service.iter().flat_map(|(_, points, _)| points);
    let values = p50
        .iter()
        .chain(&p99)
        .chain(of_service)
        .map(|point| point.1);
    let y = Axis::fitting("time", Unit::Time, values);
    let mut plot = over_time(&format!("{} over time", kind(case)), y, line);
    plot.series
        .push(Series::new("p99", Shape::Line, Tone::Second, p99));
    plot.series
        .push(Series::new("p50", Shape::Line, Tone::First, p50));
    let service = service
        .into_iter()
        .filter(|(_, points, _)| !points.is_empty());
    plot.series
        .extend(service.map(|(name, points, tone)| Series::new(name, Shape::Line, tone, points)));
    Figure::of(&plot, &line.note())
}

fn throughput(case: &Case, line: &Timeline) -> Option<Figure> {
    if line.points.is_empty() {
        return None;
    }
    let mut plot = over_time(
        "Throughput over time",
        Axis::linear("per second", Unit::Rate),
        line,
    );
    plot.series.push(Series::new(
        "achieved",
        Shape::Line,
        Tone::First,
        along(line, |p| Some(p.rate())),
    ));
    let failed = along(line, |point| Some(point.failed_rate()));
    if failed.iter().any(|point| point.1 > 0.0) {
        plot.series
            .push(Series::new("failed", Shape::Line, Tone::Bad, failed));
    }
    let offered = offered(case, line);
    if !offered.is_empty() {
        plot.series
            .push(Series::new("target", Shape::Dashed, Tone::Muted, offered));
    }
    Figure::of(&plot, &line.note())
}

/// What was offered at each corner of the schedule, run after run.
fn offered(case: &Case, line: &Timeline) -> Vec<(f64, f64)> {
    let (Some(first), Some(last)) = (line.points.first(), line.points.last()) else {
        return Vec::new();
    };
    if case.load.phases.len() < 2 {
        let rate = case
            .load
            .rate_per_s
            .filter(|rate| rate.is_finite() && *rate > 0.0);
        return rate
            .map(|rate| vec![(first.at, rate), (last.at, rate)])
            .unwrap_or_default();
    }
    let mut corners = Vec::new();
    for start in std::iter::once(0.0).chain(line.starts.iter().copied()) {
        let mut at = start;
        for phase in &case.load.phases {
            corners.push((at, phase.rate_per_s));
            at += number::float(phase.duration_ns);
            corners.push((at, phase.end_rate_per_s));
        }
    }
    corners.retain(|corner| corner.0 <= last.at * 1.1);
    corners
}

fn in_flight(case: &Case, line: &Timeline) -> Option<Figure> {
    let points = along(line, |point| Some(point.in_flight));
    if points.iter().all(|point| point.1 <= 0.0) {
        return None;
    }
    let mut plot = over_time(
        "In flight over time",
        Axis::linear("operations", Unit::Count),
        line,
    );
    let most = points.iter().map(|point| point.1).fold(0.0, f64::max);
    let cap = number::float(case.load.cap);
    plot.series
        .push(Series::new("in flight", Shape::Line, Tone::First, points));
    // A cap far above would press the curve flat against the floor.
    if cap > 0.0 && cap <= most * 4.0 {
        plot.rules.push(Rule::new(
            Direction::Level,
            cap,
            &format!("cap {}", number::count(case.load.cap)),
        ));
    }
    Figure::of(&plot, &line.note())
}

fn canary(line: &Timeline) -> Option<Figure> {
    let points = along(line, |point| point.canary);
    if points.is_empty() {
        return None;
    }
    let y = Axis::close("times the fastest", Unit::Ratio);
    let mut plot = over_time("Fixed work beside it (noise)", y, line);
    plot.series
        .push(Series::new("fixed work", Shape::Line, Tone::Third, points));
    Figure::of(&plot, &line.note())
}
