//! Bounds that a value passed, and totals.

use super::{place, says};
use crate::figure::{Figure, Shape};
use crate::finding::{Check, Finding};
use crate::header::Role;
use crate::span::Span;
use crate::table::{Cell, Row};

/// How far a value may stand from a bound that is printed with "about".
const ABOUT: f64 = 0.1;

/// A value that is called good lies within the stated bound, as a whole.
pub(super) fn exceeded(row: &Row) -> Option<Finding> {
    let (limit, measured) = (row.with(Role::Limit)?, row.with(Role::Current)?);
    let status = row.cells.iter().find(|cell| cell.role == Role::Status)?;
    let passed = is_praise(&status.text) || is_praise(&measured.text);
    let (bound, value) = (limit.figure.as_ref()?, measured.figure.as_ref()?);
    let unit = |figure: &Figure| figure.unit.map(|unit| unit.dimension);
    if !passed || unit(bound) != unit(value) || inside(bound, value)? {
        return None;
    }
    let text = format!("{} is outside", says(measured));
    let claimed = format!("{} for {}", status.text, says(limit));
    Some(Finding::new(
        Check::LimitExceeded,
        place(row, &[limit, measured, status]),
        claimed,
        text,
    ))
}

/// Whether all of a value lies within a bound, its last digit apart; none if it is not said which side
/// of a single number is the good one.
fn inside(bound: &Figure, value: &Figure) -> Option<bool> {
    let allowed = match bound.shape {
        Shape::Single if bound.about => bound.span.widened(ABOUT),
        Shape::Single => return None,
        Shape::AtLeast | Shape::AtMost | Shape::Range => bound.span,
    };
    let room = value.step / 2.0;
    Some(value.span.low + room >= allowed.low && value.span.high - room <= allowed.high)
}

fn is_praise(text: &str) -> bool {
    let words = ["ok", "pass", "passed", "good", "yes", "met"];
    let lower = text.to_lowercase();
    text.contains('\u{2705}')
        || lower
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| words.contains(&word))
}

/// A total is the sum of the figures of its kind before it.
pub(super) fn adds_up(row: &Row) -> Option<Finding> {
    let total = row.with(Role::Sum)?;
    let unit = |cell: &Cell| cell.figure.as_ref().and_then(|figure| figure.unit);
    let kind = unit(total)?;
    let before = row.cells.iter().take_while(|cell| cell.role != Role::Sum);
    let parts: Vec<&Cell> = before.filter(|cell| unit(cell) == Some(kind)).collect();
    if parts.len() < 2 {
        return None;
    }
    let sum = parts
        .iter()
        .filter_map(|cell| cell.span())
        .fold(Span::exactly(0.0), Span::plus);
    if sum.widened(0.005).meets(total.span()?) {
        return None;
    }
    let texts: Vec<&str> = parts.iter().map(|cell| cell.text.as_str()).collect();
    let text = format!(
        "{} are {}",
        texts.join(" + "),
        crate::print::number(sum.middle() / kind.scale.low)
    );
    let columns: Vec<&Cell> = parts.iter().copied().chain([total]).collect();
    Some(Finding::new(
        Check::TotalDoesNotAddUp,
        place(row, &columns),
        says(total),
        text,
    ))
}
