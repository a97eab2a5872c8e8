//! Curves and bars made of characters.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style as Ink;
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Block, Chart, Dataset, GraphType, LegendPosition, Paragraph};

use super::draw::Inks;
use crate::live::state::{Current, HistogramBin, Second};
use crate::number::{count, float, nanoseconds, plain, rate};

/// Where the axes of the plots end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scales {
    /// Seconds back from now.
    back: f64,
    /// Decimal logarithms of nanoseconds.
    times: (f64, f64),
    /// Units a second.
    rate: f64,
    /// Operations.
    in_flight: f64,
}

/// A new plot spans at least this many seconds, so that its first points do not fill the width.
const LEAST_BACK: f64 = 30.0;

impl Scales {
    /// So that everything in `current` is inside.
    pub(super) fn of(current: &Current) -> Self {
        let mut scales = Self {
            back: LEAST_BACK,
            times: (f64::INFINITY, f64::NEG_INFINITY),
            rate: current.target_per_s.unwrap_or(0.0),
            in_flight: 4.0,
        };
        let last = current.seconds.last().map_or(0, |second| second.at_ns);
        for second in &current.seconds {
            scales.back = scales.back.max(seconds(last.saturating_sub(second.at_ns)));
            scales.rate = scales.rate.max(second.rate_per_s.unwrap_or(0.0));
            scales.in_flight = scales.in_flight.max(float(second.in_flight));
            for ns in [second.p50_ns, second.p99_ns, second.max_ns]
                .into_iter()
                .flatten()
            {
                let log = log10(ns);
                scales.times = (scales.times.0.min(log), scales.times.1.max(log));
            }
        }
        scales.times = match scales.times {
            (lo, hi) if lo <= hi => (lo.floor(), hi.ceil().max(lo.floor() + 1.0)),
            _ => (3.0, 6.0),
        };
        scales.rate = (scales.rate * 1.1).max(1.0);
        scales
    }
}

/// Three quantiles of each second over time, logarithmic.
pub(super) fn times(frame: &mut Frame<'_>, area: Rect, current: &Current, with: (Scales, Inks)) {
    let (scales, inks) = with;
    let points = |of: fn(&Second) -> Option<u64>| over(current, |second| Some(log10(of(second)?)));
    let (p50, p99, max) = (
        points(|s| s.p50_ns),
        points(|s| s.p99_ns),
        points(|s| s.max_ns),
    );
    let curves = vec![
        curve("max", &max, inks.faint),
        curve("p99", &p99, inks.doubt),
        curve("p50", &p50, inks.line),
    ];
    let (lo, hi) = scales.times;
    let label = |log: f64| nanoseconds(power(log));
    let labels = match area.height {
        0..8 => vec![label(lo), label(hi)],
        _ => vec![label(lo), label(f64::midpoint(lo, hi)), label(hi)],
    };
    let kind = current.target_per_s.map_or("service", |_| "response");
    let title = format!(" {kind} time by second ");
    chart(
        frame,
        area,
        Plot {
            title,
            curves,
            labels,
            bounds: [lo, hi],
            back: scales.back,
            inks,
        },
    );
}

/// Achieved against offered.
pub(super) fn rates(frame: &mut Frame<'_>, area: Rect, current: &Current, with: (Scales, Inks)) {
    let (scales, inks) = with;
    let achieved = over(current, |second| second.rate_per_s);
    let target: Vec<(f64, f64)> = current
        .target_per_s
        .map(|target| vec![(-scales.back, target), (0.0, target)])
        .unwrap_or_default();
    let mut curves = vec![];
    if !target.is_empty() {
        curves.push(curve("target", &target, inks.faint));
    }
    curves.push(curve("achieved", &achieved, inks.line));
    let labels = vec!["0".to_owned(), rate(scales.rate)];
    let title = " achieved ".to_owned();
    chart(
        frame,
        area,
        Plot {
            title,
            curves,
            labels,
            bounds: [0.0, scales.rate],
            back: scales.back,
            inks,
        },
    );
}

/// Operations in flight at the end of each second.
pub(super) fn in_flight(
    frame: &mut Frame<'_>,
    area: Rect,
    current: &Current,
    with: (Scales, Inks),
) {
    let (scales, inks) = with;
    let points = over(current, |second| Some(float(second.in_flight)));
    let curves = vec![curve("", &points, inks.line)];
    let labels = vec!["0".to_owned(), plain(scales.in_flight)];
    let title = " in flight ".to_owned();
    let bounds = [0.0, scales.in_flight];
    chart(
        frame,
        area,
        Plot {
            title,
            curves,
            labels,
            bounds,
            back: scales.back,
            inks,
        },
    );
}

struct Plot<'a> {
    title: String,
    curves: Vec<Dataset<'a>>,
    labels: Vec<String>,
    bounds: [f64; 2],
    back: f64,
    inks: Inks,
}

fn chart(frame: &mut Frame<'_>, area: Rect, plot: Plot<'_>) {
    let x = Axis::default()
        .bounds([-plot.back, 0.0])
        .style(plot.inks.faint)
        .labels([format!("-{:.0} s", plot.back), "now".to_owned()]);
    let y = Axis::default()
        .bounds(plot.bounds)
        .style(plot.inks.faint)
        .labels(plot.labels);
    let legend = (plot.curves.len() > 1).then_some(LegendPosition::TopLeft);
    let chart = Chart::new(plot.curves)
        .block(frame_of(plot.title, plot.inks))
        .x_axis(x)
        .y_axis(y)
        .legend_position(legend);
    frame.render_widget(chart, area);
}

fn curve<'a>(name: &'a str, points: &'a [(f64, f64)], ink: Ink) -> Dataset<'a> {
    Dataset::default()
        .name(name)
        .marker(Marker::Braille)
        .graph_type(GraphType::Line)
        .style(ink)
        .data(points)
}

/// A block with a title.
pub(super) fn frame_of(title: String, inks: Inks) -> Block<'static> {
    Block::bordered()
        .border_style(inks.faint)
        .title(Span::styled(title, inks.strong))
}

/// Points over seconds back from the latest.
fn over(current: &Current, of: impl Fn(&Second) -> Option<f64>) -> Vec<(f64, f64)> {
    let last = current.seconds.last().map_or(0, |second| second.at_ns);
    let points = current.seconds.iter();
    points
        .filter_map(|second| Some((-seconds(last.saturating_sub(second.at_ns)), of(second)?)))
        .collect()
}

/// The histogram as bars, as many as there are lines.
pub(super) fn histogram(frame: &mut Frame<'_>, area: Rect, current: &Current, inks: Inks) {
    let block = frame_of(" histogram of this run ".to_owned(), inks);
    let inside = block.inner(area);
    let bins = joined(&current.histogram, usize::from(inside.height));
    let rows = bins
        .iter()
        .map(|bin| (nanoseconds(bin.to_ns), bin.n))
        .collect::<Vec<_>>();
    frame.render_widget(Paragraph::new(bars(&rows, inside, inks)).block(block), area);
}

/// Neighbours together until there are at most `most`.
fn joined(bins: &[HistogramBin], most: usize) -> Vec<HistogramBin> {
    let together = bins.len().div_ceil(most.max(1)).max(1);
    let sum = |bins: &[HistogramBin]| {
        bins.iter()
            .fold(0, |sum: u64, bin| sum.saturating_add(bin.n))
    };
    bins.chunks(together)
        .filter_map(|chunk| {
            Some(HistogramBin {
                to_ns: chunk.last()?.to_ns,
                n: sum(chunk),
            })
        })
        .collect()
}

/// Label, bar, number; the longest bar takes what the others leave.
pub(super) fn bars(rows: &[(String, u64)], inside: Rect, inks: Inks) -> Vec<Line<'static>> {
    let widest = |texts: Vec<usize>| texts.into_iter().max().unwrap_or(0);
    let labels = widest(
        rows.iter()
            .map(|(label, _)| label.chars().count())
            .collect(),
    );
    let numbers = widest(rows.iter().map(|(_, n)| count(*n).len()).collect());
    let room = usize::from(inside.width).saturating_sub(labels + numbers + 2);
    let most = rows.iter().map(|(_, n)| *n).max().unwrap_or(0).max(1);
    rows.iter()
        .take(usize::from(inside.height))
        .map(|(label, n)| {
            let bar = blocks(float(*n) / float(most), room);
            let rest = room.saturating_sub(bar.chars().count());
            Line::from(vec![
                Span::styled(format!("{label:>labels$} "), inks.faint),
                Span::styled(bar, inks.line),
                Span::raw(format!("{} {:>numbers$}", " ".repeat(rest), count(*n))),
            ])
        })
        .collect()
}

/// A bar of eighths of characters. What is there at all has at least an eighth.
fn blocks(share: f64, room: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let whole = u64::try_from(room).unwrap_or(0) * 8;
    let mut eighths = usize::try_from(round(share.clamp(0.0, 1.0) * float(whole))).unwrap_or(0);
    if share > 0.0 && room > 0 {
        eighths = eighths.max(1);
    }
    let end = EIGHTHS.get(eighths % 8).copied().unwrap_or_default();
    "█".repeat(eighths / 8) + end
}

fn seconds(ns: u64) -> f64 {
    float(ns) / 1e9
}

fn log10(ns: u64) -> f64 {
    float(ns.max(1)).log10()
}

fn power(log: f64) -> u64 {
    round(10_f64.powf(log))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the conversion saturates, and this is a place on a screen"
)]
fn round(value: f64) -> u64 {
    value.round() as u64
}
