//! What is on the screen. Without colours: what is chosen is reversed, so that it is seen on every terminal.

use keywright_encoding::terminal;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders, Clear, Paragraph, Wrap};

use super::form::Form;
use super::views::{Listing, Menu, Row};

/// The least that everything fits into.
const LEAST: (u16, u16) = (80, 24);

pub(super) const fn fits(area: Rect) -> bool {
    area.width >= LEAST.0 && area.height >= LEAST.1
}

pub(super) fn too_small(frame: &mut Frame<'_>) {
    let area = frame.area();
    let told = format!(
        "The terminal has {} x {}; this needs {} x {}. Enlarge it, or press q.",
        area.width, area.height, LEAST.0, LEAST.1
    );
    frame.render_widget(Paragraph::new(told).wrap(Wrap { trim: true }), area);
}

/// How entry `index` looks when the cursor is `at` one.
fn chosen(index: usize, at: usize) -> Style {
    if index == at {
        Style::new().add_modifier(Modifier::REVERSED)
    } else {
        Style::new()
    }
}

fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

/// Title, where one is in what there is, body, and a line of keys at the foot.
fn page(frame: &mut Frame<'_>, (title, place): (&str, &str), keys: &str) -> Rect {
    let [body, foot] =
        Layout::vertical([Constraint::Min(1), Constraint::Length(1)]).areas(frame.area());
    let room = usize::from(frame.area().width).saturating_sub(place.chars().count() + 8);
    let mut block = Block::new()
        .borders(Borders::ALL)
        .title(format!(" {} ", shortened(title, room)));
    if !place.is_empty() {
        block = block.title(Line::from(format!(" {place} ")).right_aligned());
    }
    let inner = block.inner(body);
    frame.render_widget(block, body);
    frame.render_widget(Paragraph::new(keys.to_owned()), foot);
    inner
}

/// With dots in place of what has no room.
fn shortened(text: &str, room: usize) -> String {
    let text = terminal::escaped(text);
    if text.chars().count() <= room {
        return text.into_owned();
    }
    let kept: String = text.chars().take(room.saturating_sub(3)).collect();
    kept.trim_end().to_owned() + "..."
}

/// The first row that is shown, so that `at` is among `height` rows.
const fn scroll(at: usize, height: usize) -> usize {
    match at < height {
        true => 0,
        false => at + 1 - height,
    }
}

fn rows<'a>(
    lines: impl Iterator<Item = (Line<'a>, Style)>,
    at: usize,
    height: usize,
) -> Vec<Line<'a>> {
    let shown = lines.skip(scroll(at, height)).take(height);
    shown.map(|(line, style)| line.style(style)).collect()
}

pub(super) fn menu(frame: &mut Frame<'_>, menu: &Menu, status: &str) {
    let keys = "Up/Down choose  Enter open  h help  q quit";
    let (at, of) = menu.place();
    let place = format!("{at} of {of}");
    let inner = page(frame, (&format!("keywright hsm{status}"), &place), keys);
    let room = usize::from(inner.width);
    let lines = menu.rows.iter().enumerate().map(|(index, row)| match row {
        Row::Heading(name) => (Line::from((*name).to_owned()), bold()),
        Row::Choice(name, about) => {
            let text = shortened(&format!("  {name:20}{about}"), room);
            (Line::from(text), chosen(index, menu.at))
        }
    });
    let height = usize::from(inner.height);
    frame.render_widget(Paragraph::new(rows(lines, menu.at, height)), inner);
}

pub(super) fn form(frame: &mut Frame<'_>, form: &Form) {
    let keys = "Up/Down field  Space/Left/Right choose  Enter run  Esc back";
    let title = format!("{}: {}", form.name, form.about);
    let place = match form.fields.len() {
        0 => String::new(),
        count => format!("field {} of {count}", form.at + 1),
    };
    let inner = page(frame, (&title, &place), keys);
    let [fields, help, line] = Layout::vertical([
        Constraint::Min(1),
        Constraint::Length(4),
        Constraint::Length(4),
    ])
    .areas(inner);
    let lines = form.fields.iter().enumerate().map(|(index, field)| {
        let mark = if field.definition.required { "*" } else { " " };
        let text = format!("{mark}{:24}{}", field.name(), field.shown());
        (Line::from(text), chosen(index, form.at))
    });
    let height = usize::from(fields.height);
    frame.render_widget(Paragraph::new(rows(lines, form.at, height)), fields);
    let about = match (form.told.is_empty(), form.fields.get(form.at)) {
        (false, _) => form.told.clone(),
        (true, Some(field)) => field.help(),
        (true, None) => String::new(),
    };
    let block = Block::new().borders(Borders::TOP);
    frame.render_widget(
        Paragraph::new(about).wrap(Wrap { trim: true }).block(block),
        help,
    );
    let same = format!("The same as: {}", form.line());
    let block = Block::new().borders(Borders::TOP);
    frame.render_widget(
        Paragraph::new(same).wrap(Wrap { trim: true }).block(block),
        line,
    );
}

/// Rows of text under a heading that stays, one of them chosen where there is something to choose.
pub(super) fn listing(frame: &mut Frame<'_>, listing: &Listing) {
    let height = usize::from(frame.area().height).saturating_sub(3 + listing.heading.len());
    let first = match listing.chooses {
        true => scroll(listing.at, height),
        false => listing.at,
    };
    let count = listing.lines.len();
    let place = match count {
        count if count <= height && first == 0 => String::new(),
        count => format!(
            "{} to {} of {count}",
            first + 1,
            (first + height).min(count)
        ),
    };
    let inner = page(frame, (&listing.title, &place), listing.keys);
    let shifted = |line: &str| line.chars().skip(listing.across).collect::<String>();
    let heading = listing.heading.iter();
    let heading = heading.map(|line| Line::from(shifted(line)).style(bold()));
    let lines = listing.lines.iter().enumerate().skip(first).take(height);
    let lines = lines.map(|(index, line)| {
        let style = match listing.chooses {
            true => chosen(index, listing.at),
            false => Style::new(),
        };
        Line::from(shifted(line)).style(style)
    });
    let all: Vec<Line<'_>> = heading.chain(lines).collect();
    frame.render_widget(Paragraph::new(all), inner);
}

/// A question above everything else, with how it is answered.
pub(super) fn dialog(frame: &mut Frame<'_>, (question, hint): (&str, &str), typed: &str) {
    let question = terminal::escaped(question);
    let area = frame.area();
    let width = area.width.saturating_sub(8);
    // What a question of two long URIs takes has room, and a short one is not lost in it.
    let room = usize::from(width.saturating_sub(2)).max(1);
    let long = question.split(' ').filter(|word| word.len() > room / 2);
    let asked = question.chars().count() / room + 1 + long.count();
    let answer = (typed.chars().count() + 2) / room + 1;
    let height = u16::try_from(asked + answer + 4).unwrap_or(u16::MAX);
    let place = Rect {
        x: 4,
        y: 3,
        width,
        height: height.min(area.height.saturating_sub(4)),
    };
    let block = Block::new()
        .borders(Borders::ALL)
        .title(" Enter: go on   Esc: leave it ");
    let text = vec![
        Line::from(question.into_owned()),
        Line::from(""),
        Line::from(hint.to_owned()),
        Line::from(format!("> {typed}")),
    ];
    frame.render_widget(Clear, place);
    frame.render_widget(
        Paragraph::new(text).wrap(Wrap { trim: true }).block(block),
        place,
    );
}

pub(super) fn busy(frame: &mut Frame<'_>, line: &str) {
    let inner = page(frame, ("at work", ""), "the token is working");
    frame.render_widget(
        Paragraph::new(line.to_owned()).wrap(Wrap { trim: true }),
        inner,
    );
}
