//! Differences between two results.

use super::{place, says};
use crate::figure::Figure;
use crate::finding::{Check, Finding};
use crate::header::Role;
use crate::print;
use crate::span::Span;
use crate::table::{Cell, Row};
use crate::unit::Dimension;

/// A printed difference is the one of the two values beside it.
pub(super) fn difference(row: &Row) -> Option<Finding> {
    let claimed = row.with(Role::Difference)?;
    let figure = claimed.figure.as_ref()?;
    let (before, after) = sides(row, figure)?;
    let (old, new) = (before.span()?, after.span()?);
    if !old.is_positive() || !new.is_positive() {
        return None;
    }
    let fits = if figure.is(Dimension::Factor) {
        let claimed = figure.span.widened(0.01);
        claimed.meets(new.over(old)) || claimed.meets(old.over(new))
    } else {
        fits_change(figure, old, new)
    };
    if fits {
        return None;
    }
    let text = format!(
        "{} against {} is a change of {} %",
        says(after),
        says(before),
        print::number(100.0 * (new.middle() / old.middle() - 1.0))
    );
    let at = place(row, &[claimed, before, after]);
    Some(Finding::new(
        Check::DifferenceOfOthers,
        at,
        says(claimed),
        text,
    ))
}

/// The values that a difference compares: named by their heads, or the only two before it.
fn sides<'a>(row: &'a Row, figure: &Figure) -> Option<(&'a Cell, &'a Cell)> {
    if let (Some(old), Some(new)) = (row.with(Role::Baseline), row.with(Role::Current)) {
        return Some((old, new));
    }
    let before = row
        .cells
        .iter()
        .take_while(|cell| cell.role != Role::Difference);
    let values: Vec<&Cell> = before
        .skip(1)
        .filter(|cell| cell.figure.is_some())
        .collect();
    let first = values.first()?;
    let last = values.last()?;
    let unit = |cell: &Cell| cell.figure.as_ref().and_then(|figure| figure.unit);
    let alike = values.iter().all(|cell| unit(cell) == unit(first));
    // A factor spans the row, a percentage compares two.
    let number = if figure.is(Dimension::Factor) {
        values.len() >= 2
    } else {
        values.len() == 2
    };
    let understood = figure.is(Dimension::Factor) || figure.is(Dimension::Percent);
    (alike && number && understood).then_some((*first, *last))
}

/// Both readings of "20 % faster" are taken, and a sign is only held against one who prints it.
fn fits_change(figure: &Figure, old: Span, new: Span) -> bool {
    let percent = |ratio: Span| Span::new(100.0 * (ratio.low - 1.0), 100.0 * (ratio.high - 1.0));
    let claimed = Span::new(figure.span.low - 0.05, figure.span.high + 0.05);
    let mirrored = Span::new(-claimed.high, -claimed.low);
    let changes = [percent(new.over(old)), percent(old.over(new))];
    changes
        .iter()
        .any(|change| change.meets(claimed) || change.meets(mirrored))
}

/// A difference of operations that take less than one step of the times printed beside it.
pub(super) fn below_resolution(row: &Row) -> Option<Finding> {
    let claimed = row.with(Role::Difference)?;
    let figure = claimed.figure.as_ref()?;
    let is_time = |cell: &&Cell| {
        matches!(cell.role, Role::Side | Role::Quantile(_) | Role::Average)
            && cell.is(Dimension::Time)
    };
    let step = row
        .cells
        .iter()
        .filter(is_time)
        .filter_map(|cell| cell.figure.as_ref());
    let step = step.map(|figure| figure.step).fold(f64::INFINITY, f64::min);
    let rate = row
        .with(Role::Current)
        .filter(|cell| cell.is(Dimension::PerSecond))?;
    let operation = Span::exactly(1.0).over(rate.span()?).middle();
    if figure.value == 0.0 || !step.is_finite() || operation >= step {
        return None;
    }
    let text = format!(
        "the operation takes {}, and the times beside it are printed in steps of {}",
        print::time(operation),
        print::time(step)
    );
    let at = place(row, &[claimed, rate]);
    Some(Finding::new(
        Check::DifferenceBelowResolution,
        at,
        says(claimed),
        text,
    ))
}
