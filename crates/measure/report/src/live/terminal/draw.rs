//! The whole picture: header, the open panel, keys.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style as Ink};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, LineGauge, Paragraph};

use super::panels;
use super::plots::frame_of;
use super::view::{Help, Panel, Stopping, View};
use crate::Style;
use crate::live::progress::{self, Progress};
use crate::live::state::{Snapshot, Stage};
use crate::style::Tone;

/// How each kind of thing is written. Without colours, weight is what is left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inks {
    pub(super) bad: Ink,
    pub(super) doubt: Ink,
    pub(super) faint: Ink,
    pub(super) good: Ink,
    pub(super) line: Ink,
    pub(super) strong: Ink,
}

impl Inks {
    /// The sixteen colours that every terminal draws by its own theme, light or dark.
    pub(super) fn of(style: Style) -> Self {
        let ink = Ink::new();
        let strong = ink.add_modifier(Modifier::BOLD);
        match style {
            Style::Ansi => Self {
                bad: ink.fg(Color::Red),
                doubt: ink.fg(Color::Yellow),
                faint: ink.fg(Color::DarkGray),
                good: ink.fg(Color::Green),
                line: ink.fg(Color::Cyan),
                strong,
            },
            Style::Plain => Self {
                bad: strong,
                doubt: ink,
                faint: ink,
                good: ink,
                line: ink,
                strong,
            },
        }
    }

    pub(super) const fn tone(&self, tone: Tone) -> Ink {
        match tone {
            Tone::Bad => self.bad,
            Tone::Doubt => self.doubt,
            Tone::Faint => self.faint,
            Tone::Good => self.good,
            Tone::Strong => self.strong,
        }
    }
}

/// Below this there is only text.
const LEAST: (u16, u16) = (36, 10);

/// Draws `snapshot` as `view` wants it, as of `now_ns` on the snapshot's time. Any size will do.
pub fn draw(frame: &mut Frame<'_>, view: &View, snapshot: &Snapshot, now_ns: u64) {
    let area = frame.area();
    let inks = Inks::of(view.style);
    let progress = Progress::of(snapshot, now_ns);
    if area.width < LEAST.0 || area.height < LEAST.1 {
        return tiny(frame, snapshot, now_ns);
    }
    let rows = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Min(0),
        Constraint::Length(1),
    ]);
    let [title, gauge, tabs, body, keys] = rows.areas(area);
    frame.render_widget(heading(view, snapshot, inks), title);
    bar(frame, gauge, &progress, inks);
    frame.render_widget(panel_names(view, inks), tabs);
    panels::draw(frame, body, view, snapshot);
    frame.render_widget(key_line(area.width, inks), keys);
    if view.help == Help::Shown {
        help(frame, body, inks);
    }
}

/// A few lines for a window of a few lines.
fn tiny(frame: &mut Frame<'_>, snapshot: &Snapshot, now_ns: u64) {
    let area = frame.area();
    let progress = Progress::of(snapshot, now_ns);
    let mut lines = vec![progress::place(snapshot)];
    if let Some(current) = &snapshot.current {
        lines.push(progress::against(current.rate_per_s, current.target_per_s));
        for quantile in current.quantiles.iter().filter(|q| q.name == "p99") {
            lines.push(format!("p99 {}", crate::number::nanoseconds(quantile.ns)));
        }
    }
    lines.extend(progress.left());
    lines.push("q stop".to_owned());
    let lines: Vec<Line<'_>> = lines.into_iter().map(Line::from).collect();
    frame.render_widget(Paragraph::new(lines), area);
}

fn heading(view: &View, snapshot: &Snapshot, inks: Inks) -> Line<'static> {
    let mut spans = vec![Span::styled(progress::place(snapshot), inks.strong)];
    let mut badge = |text: &'static str, ink: Ink| {
        spans.push(Span::raw("  "));
        spans.push(Span::styled(text, ink.add_modifier(Modifier::REVERSED)));
    };
    if view.stopping == Stopping::Asked && snapshot.stage != Stage::Finished {
        badge(" STOPPING ", inks.bad);
    }
    if view.paused.is_some() {
        badge(" PAUSED ", inks.doubt);
    }
    if view.frozen.is_some() {
        badge(" SCALES FROZEN ", inks.doubt);
    }
    if !snapshot.run.is_empty() {
        spans.push(Span::styled(format!("  run {}", snapshot.run), inks.faint));
    }
    Line::from(spans)
}

fn bar(frame: &mut Frame<'_>, area: Rect, progress: &Progress, inks: Inks) {
    let elapsed = progress::span(progress.elapsed_ns);
    let mut label = progress.percent().unwrap_or_default();
    for part in [Some(elapsed), progress.left()].into_iter().flatten() {
        if !label.is_empty() {
            label += "   ";
        }
        label += &part;
    }
    let gauge = LineGauge::default()
        .ratio(progress.share.unwrap_or(0.0).clamp(0.0, 1.0))
        .filled_style(inks.line)
        .unfilled_style(inks.faint)
        .label(label);
    frame.render_widget(gauge, area);
}

fn panel_names(view: &View, inks: Inks) -> Line<'static> {
    let mut spans = Vec::new();
    for panel in Panel::ALL {
        let ink = match panel == view.panel {
            true => inks.strong.add_modifier(Modifier::REVERSED),
            false => inks.faint,
        };
        spans.push(Span::styled(format!(" {} ", panel.name()), ink));
    }
    Line::from(spans)
}

fn key_line(width: u16, inks: Inks) -> Line<'static> {
    let text = match width {
        0..60 => "q stop  Tab panel  ? help",
        _ => "q stop and report   Tab panel   p pause   f freeze scales   ? help",
    };
    Line::styled(text, inks.faint)
}

const HELP: [(&str, &str); 7] = [
    ("q, Ctrl-C", "stop; what was measured is reported"),
    ("Tab, 1-5", "next panel, panel by number"),
    ("Up, Down", "scroll the list of cases"),
    ("p", "pause the display, not the measurement"),
    ("f", "freeze the scales of the plots"),
    ("?", "these lines"),
    ("", "Drawing never waits for the measurement."),
];

fn help(frame: &mut Frame<'_>, body: Rect, inks: Inks) {
    let lines: Vec<Line<'_>> = HELP
        .iter()
        .map(|(key, what)| {
            Line::from(vec![
                Span::styled(format!(" {key:<10} "), inks.strong),
                Span::raw(*what),
            ])
        })
        .collect();
    let size = |wanted: usize, most: u16| u16::try_from(wanted).unwrap_or(most).min(most);
    let (width, height) = (size(56, body.width), size(HELP.len() + 2, body.height));
    let area = Rect {
        x: body.x + (body.width - width) / 2,
        y: body.y + (body.height - height) / 2,
        width,
        height,
    };
    frame.render_widget(Clear, area);
    let block = frame_of(" keys ".to_owned(), inks);
    frame.render_widget(Paragraph::new(lines).block(block), area);
}
