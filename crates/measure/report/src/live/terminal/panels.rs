//! The panels.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style as Ink;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Row, Table, Wrap};

use super::draw::Inks;
use super::plots::{self, Scales, bars, frame_of};
use super::view::{Panel, View};
use crate::live::progress::against;
use crate::live::state::{Current, Finished, Snapshot};
use crate::number::{NONE, count, nanoseconds, percent, rate, share};
use crate::style::{Tone, tone};

/// Below this share of the offered rate the display warns.
const KEPT: f64 = 0.99;
/// Below this width figures take more lines, and fewer of them are shown.
const NARROW: u16 = 70;

/// Draws the panel that is open.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, view: &View, snapshot: &Snapshot) {
    let inks = Inks::of(view.style);
    match (view.panel, &snapshot.current) {
        (Panel::Cases, _) => cases(frame, area, view, snapshot),
        (Panel::Errors, _) => errors(frame, area, snapshot, inks),
        (Panel::Health, _) => health(frame, area, snapshot, inks),
        (_, None) => {
            let text = Line::styled("The first case has not begun.", inks.faint);
            frame.render_widget(Paragraph::new(text), area);
        }
        (Panel::Latency, Some(current)) => {
            let scales = view.frozen.unwrap_or_else(|| Scales::of(current));
            latency(frame, area, current, (scales, inks));
        }
        (Panel::Overview, Some(current)) => {
            let scales = view.frozen.unwrap_or_else(|| Scales::of(current));
            overview(frame, area, snapshot, (current, scales, inks));
        }
    }
}

fn overview(
    frame: &mut Frame<'_>,
    area: Rect,
    snapshot: &Snapshot,
    with: (&Current, Scales, Inks),
) {
    let (current, scales, inks) = with;
    let head = figures(current, snapshot, area.width, inks);
    let height = u16::try_from(head.len()).unwrap_or(4);
    let [top, body] =
        Layout::vertical([Constraint::Length(height), Constraint::Min(0)]).areas(area);
    frame.render_widget(Paragraph::new(head), top);
    let halves = |area| {
        Layout::horizontal([Constraint::Percentage(50), Constraint::Percentage(50)]).areas(area)
    };
    match (body.width, body.height) {
        // Too low for two rows of plots, too narrow for two columns.
        (0..70, 0..14) => plots::times(frame, body, current, (scales, inks)),
        (0..70, _) => {
            let [up, down] = rows(body);
            plots::times(frame, up, current, (scales, inks));
            plots::histogram(frame, down, current, inks);
        }
        (_, 0..12) => {
            let [left, right] = halves(body);
            plots::times(frame, left, current, (scales, inks));
            plots::histogram(frame, right, current, inks);
        }
        (0..150, _) => {
            let [up, down] = rows(body);
            let ([a, b], [c, d]) = (halves(up), halves(down));
            plots::times(frame, a, current, (scales, inks));
            plots::rates(frame, b, current, (scales, inks));
            plots::histogram(frame, c, current, inks);
            plots::in_flight(frame, d, current, (scales, inks));
        }
        _ => wide(frame, body, snapshot, with),
    }
}

/// Room for everything at once.
fn wide(frame: &mut Frame<'_>, body: Rect, snapshot: &Snapshot, with: (&Current, Scales, Inks)) {
    let (current, scales, inks) = with;
    let [left, middle, right] = Layout::horizontal([
        Constraint::Percentage(38),
        Constraint::Percentage(31),
        Constraint::Min(0),
    ])
    .areas(body);
    let ([a, b], [c, d], [e, f]) = (rows(left), rows(middle), rows(right));
    plots::times(frame, a, current, (scales, inks));
    plots::histogram(frame, b, current, inks);
    plots::rates(frame, c, current, (scales, inks));
    plots::in_flight(frame, d, current, (scales, inks));
    error_bars(frame, e, current, inks);
    health(frame, f, snapshot, inks);
}

fn rows(area: Rect) -> [Rect; 2] {
    Layout::vertical([Constraint::Percentage(50), Constraint::Percentage(50)]).areas(area)
}

/// The figures of the case that is on.
fn figures(current: &Current, snapshot: &Snapshot, width: u16, inks: Inks) -> Vec<Line<'static>> {
    let (mut rates, load) = (achieved(current, inks), load(current, inks));
    if width < NARROW {
        let times = quantiles(current, &["p50", "p99"], inks);
        return [rates, load, times].map(Line::from).into();
    }
    rates.push(Span::raw("  "));
    rates.extend(load);
    let times = quantiles(current, &[], inks);
    [rates, times, rest(current, snapshot, inks)]
        .map(Line::from)
        .into()
}

fn achieved(current: &Current, inks: Inks) -> Vec<Span<'static>> {
    let rates = against(current.rate_per_s, current.target_per_s);
    let mut out = labelled("achieved", rates, inks);
    if let Some(kept) = kept(current) {
        let ink = match current.kept_share {
            Some(share) if share < KEPT => inks.bad,
            _ => inks.good,
        };
        out.push(Span::styled(format!(" ({kept})"), ink));
    }
    out
}

fn load(current: &Current, inks: Inks) -> Vec<Span<'static>> {
    let mut out = labelled("in flight", count(current.in_flight), inks);
    let ink = match current.failed {
        0 => Ink::new(),
        _ => inks.bad,
    };
    out.push(Span::styled("  errors ", inks.faint));
    out.push(Span::styled(count(current.failed), ink));
    out
}

/// Those of these names, or all where no name is given.
fn quantiles(current: &Current, names: &[&str], inks: Inks) -> Vec<Span<'static>> {
    let mut out = Vec::new();
    for quantile in &current.quantiles {
        if names.is_empty() || names.contains(&quantile.name.as_str()) {
            let gap = if out.is_empty() { "" } else { "  " };
            let name = format!("{gap}{}", quantile.name);
            out.extend(labelled(&name, nanoseconds(quantile.ns), inks));
        }
    }
    if out.is_empty() {
        out.push(Span::styled("no quantiles yet", inks.faint));
    }
    out
}

fn rest(current: &Current, snapshot: &Snapshot, inks: Inks) -> Vec<Span<'static>> {
    let mut out = labelled("done", count(current.done), inks);
    if let Some(machine) = noise(current.noise.as_deref(), current.noise_percent) {
        out.extend(labelled("  noise", machine, inks));
    }
    if let Some(last) = snapshot.finished.last() {
        let ink = inks.tone(tone(last.verdict));
        out.push(Span::styled("  last verdict ", inks.faint));
        out.push(Span::styled(last.verdict.text(), ink));
    }
    out
}

fn labelled(name: &str, value: String, inks: Inks) -> Vec<Span<'static>> {
    vec![
        Span::styled(format!("{name} "), inks.faint),
        Span::styled(value, inks.strong),
    ]
}

fn latency(frame: &mut Frame<'_>, area: Rect, current: &Current, with: (Scales, Inks)) {
    match area.height {
        0..12 => plots::times(frame, area, current, with),
        _ => {
            let [up, down] = rows(area);
            plots::times(frame, up, current, with);
            plots::histogram(frame, down, current, with.1);
        }
    }
}

fn cases(frame: &mut Frame<'_>, area: Rect, view: &View, snapshot: &Snapshot) {
    let inks = Inks::of(view.style);
    let title = format!(" {} cases done ", snapshot.finished_in_all);
    let rows: Vec<Row<'_>> = snapshot
        .finished
        .iter()
        .rev()
        .skip(view.scroll)
        .map(|finished| case_row(finished, area.width, inks))
        .collect();
    let (names, widths): (Vec<&str>, Vec<Constraint>) = match area.width {
        0..60 => (
            vec!["case", "verdict"],
            vec![Constraint::Min(12), Constraint::Length(20)],
        ),
        _ => (
            vec!["case", "achieved", "p50", "p99", "verdict"],
            vec![
                Constraint::Min(16),
                Constraint::Length(12),
                Constraint::Length(9),
                Constraint::Length(9),
                Constraint::Length(20),
            ],
        ),
    };
    let table = Table::new(rows, widths)
        .header(Row::new(names).style(inks.faint))
        .block(frame_of(title, inks));
    frame.render_widget(table, area);
}

fn case_row(finished: &Finished, width: u16, inks: Inks) -> Row<'static> {
    let time = |ns: Option<u64>| Cell::from(ns.map_or_else(|| NONE.to_owned(), nanoseconds));
    let verdict = Span::styled(finished.verdict.text(), inks.tone(tone(finished.verdict)));
    let name = Cell::from(finished.id.clone());
    match width {
        0..60 => Row::new(vec![name, Cell::from(verdict)]),
        _ => Row::new(vec![
            name,
            Cell::from(
                finished
                    .achieved_per_s
                    .map_or_else(|| NONE.to_owned(), rate),
            ),
            time(finished.p50_ns),
            time(finished.p99_ns),
            Cell::from(verdict),
        ]),
    }
}

fn errors(frame: &mut Frame<'_>, area: Rect, snapshot: &Snapshot, inks: Inks) {
    let [up, down] = rows(area);
    match &snapshot.current {
        Some(current) => error_bars(frame, up, current, inks),
        None => error_bars(frame, up, &Current::default(), inks),
    }
    let remarks: Vec<Line<'_>> = snapshot
        .remarks
        .iter()
        .rev()
        .map(|remark| Line::from(remark.as_str()))
        .collect();
    let paragraph = Paragraph::new(remarks)
        .wrap(Wrap { trim: true })
        .block(frame_of(" remarks ".to_owned(), inks));
    frame.render_widget(paragraph, down);
}

fn error_bars(frame: &mut Frame<'_>, area: Rect, current: &Current, inks: Inks) {
    let block = frame_of(" errors of this run ".to_owned(), inks);
    let inside = block.inner(area);
    let widest = usize::from(inside.width / 2).max(8);
    let listed: Vec<(String, u64)> = current
        .errors
        .iter()
        .map(|error| (crate::plain::fitted(&error.code, widest), error.n))
        .collect();
    let lines = match listed.is_empty() {
        true => vec![Line::styled("none", inks.good)],
        false => bars(
            &listed,
            inside,
            Inks {
                line: inks.bad,
                ..inks
            },
        ),
    };
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

fn health(frame: &mut Frame<'_>, area: Rect, snapshot: &Snapshot, inks: Inks) {
    let mut lines = Vec::new();
    let mut line = |name: &str, value: String, tone: Tone| {
        lines.push(Line::from(vec![
            Span::styled(format!("{name:<18}"), inks.faint),
            Span::styled(value, inks.tone(tone)),
        ]));
    };
    if let Some(current) = &snapshot.current {
        let behind = current.kept_share.is_some_and(|share| share < KEPT);
        let offered = match (kept(current), current.target_per_s) {
            (Some(kept), _) => kept,
            (None, Some(_)) => NONE.to_owned(),
            (None, None) => "closed loop: no target".to_owned(),
        };
        line(
            "rate kept, 10 s",
            offered,
            if behind { Tone::Bad } else { Tone::Strong },
        );
        if let Some(machine) = noise(current.noise.as_deref(), current.noise_percent) {
            line("noise, now", machine, Tone::Strong);
        }
    }
    match snapshot.finished.last() {
        None => line("last case", "none has ended yet".to_owned(), Tone::Faint),
        Some(last) => {
            line("last case", last.id.clone(), Tone::Strong);
            for (name, value) in measured(last) {
                line(name, value, Tone::Strong);
            }
        }
    }
    let paragraph =
        Paragraph::new(lines).block(frame_of(" generator and machine ".to_owned(), inks));
    frame.render_widget(paragraph, area);
}

/// What is known of the generator only once a case has ended.
fn measured(last: &Finished) -> Vec<(&'static str, String)> {
    let generator = &last.generator;
    let time = |ns: Option<u64>| ns.map(nanoseconds);
    [
        ("  of its ceiling", generator.ceiling_percent.map(percent)),
        ("  lateness p99", time(generator.lateness_p99_ns)),
        ("  of it, pacer", time(generator.pacer_p99_ns)),
        ("  Little's law", generator.little_percent.map(percent)),
        ("  noise", noise(last.noise.as_deref(), last.noise_percent)),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
    .collect()
}

/// `98.4 %` of the offered rate, or nothing in closed loops.
fn kept(current: &Current) -> Option<String> {
    current.kept_share.map(share)
}

/// `quiet, 0.8 %`.
fn noise(word: Option<&str>, noise_percent: Option<f64>) -> Option<String> {
    Some(format!("{}, {}", word?, percent(noise_percent?)))
}
