//! What more threads bring: efficiency is speed-up ÷ threads, and a rate that stands still has met a cap.

use super::{place, says};
use crate::figure::Figure;
use crate::finding::{Check, Finding, Place};
use crate::header::Role;
use crate::print;
use crate::read::markdown::Said;
use crate::span::Span;
use crate::table::{Cell, Row, Table};
use crate::unit::Dimension;

/// A rate that grows by less, while the threads grow by half and more, has stopped growing.
const GROWTH: f64 = 1.05;
/// A rate that falls by more, at any more threads, has stopped growing.
const DECLINE: f64 = 0.97;
/// An efficiency below this needs a remark.
const POOR: f64 = 0.5;

/// The rate at one number of threads, measured or parallelism ÷ average.
struct Point<'a> {
    row: &'a Row,
    cell: &'a Cell,
    threads: f64,
    rate: Span,
}

impl Point<'_> {
    fn middle(&self) -> f64 {
        self.rate.middle()
    }

    /// Share of the linear rate that is left, against the first point.
    fn efficiency(&self, first: &Self) -> Span {
        self.rate
            .over(first.rate)
            .over(Span::exactly(self.threads / first.threads))
    }
}

/// Tables with one row per number of threads.
pub(super) fn rows(table: &Table) -> Vec<Finding> {
    let points: Vec<Point<'_>> = table.rows.iter().filter_map(point_of_row).collect();
    let rising = points.windows(2).all(|pair| match pair {
        [one, next] => one.threads < next.threads,
        _ => false,
    });
    if points.len() < 3 || points.len() < table.rows.len() || !rising {
        return Vec::new();
    }
    let mut findings: Vec<Finding> = stops_growing(&points).into_iter().collect();
    findings.extend(printed_efficiencies(&points));
    let silent = table
        .rows
        .iter()
        .all(|row| row.with(Role::Efficiency).is_none());
    if silent {
        findings.extend(poor_at_the_end(&points));
    }
    findings
}

fn point_of_row(row: &Row) -> Option<Point<'_>> {
    let threads = row.with(Role::Threads)?.figure.as_ref()?.value;
    let (cell, rate) = match row.rate() {
        Some(rate) => (rate, rate.span()?),
        // A closed loop keeps all its threads busy, so the average gives the rate.
        None => {
            let average = row
                .with(Role::Average)
                .filter(|cell| cell.is(Dimension::Time))?;
            (average, Span::exactly(threads).over(average.span()?))
        }
    };
    let usable = threads >= 1.0 && rate.low > 0.0 && rate.high.is_finite();
    usable.then_some(Point {
        row,
        cell,
        threads,
        rate,
    })
}

/// Rows with one column per number of threads.
pub(super) fn columns(row: &Row) -> Vec<Finding> {
    let efficiency = row.with(Role::Efficiency);
    let points: Vec<Point<'_>> = row
        .cells
        .iter()
        .filter_map(|cell| point_of_column(row, cell))
        .collect();
    let mut findings: Vec<Finding> = stops_growing(&points).into_iter().collect();
    findings.extend(efficiency.and_then(|cell| efficiency_of_columns(row, cell, &points)));
    findings
}

/// A promised range of efficiencies against what the columns of all tables give at the most threads.
pub(crate) fn promised(said: &Said, tables: &[Table]) -> Option<Finding> {
    let rows = tables.iter().flat_map(|table| &table.rows);
    let wrong: Vec<(&Row, f64)> = rows
        .filter_map(|row| Some((row, efficiency_at_the_end(row)?)))
        .filter(|(_, efficiency)| !said.percent.meets(Span::exactly(*efficiency)))
        .collect();
    let (first, _) = wrong.first()?;
    let figures = print::list(&wrong, |(row, one)| {
        format!("{} {} %", row.label, print::number(*one))
    });
    let columns = first
        .cells
        .iter()
        .filter(|cell| cell.role == Role::Efficiency);
    let columns = columns.map(|cell| cell.column.to_string()).collect();
    let (low, high) = (said.percent.low + 0.5, said.percent.high - 0.5);
    let claimed = format!(
        "{} to {} % efficiency",
        print::number(low),
        print::number(high)
    );
    let text = format!("the table gives {figures}");
    let place = Place {
        line: Some(said.line),
        row: "efficiency".to_owned(),
        columns,
    };
    Some(Finding::new(
        Check::ProseContradictsTable,
        place,
        claimed,
        text,
    ))
}

fn efficiency_at_the_end(row: &Row) -> Option<f64> {
    row.with(Role::Efficiency)?;
    let points: Vec<Point<'_>> = row
        .cells
        .iter()
        .filter_map(|cell| point_of_column(row, cell))
        .collect();
    let (first, last) = (points.first()?, points.last()?);
    (points.len() >= 2).then(|| 100.0 * last.efficiency(first).middle())
}

fn point_of_column<'a>(row: &'a Row, cell: &'a Cell) -> Option<Point<'a>> {
    let Role::AtThreads(threads) = cell.role else {
        return None;
    };
    let figure = cell.figure.as_ref()?;
    // A bare number beside an efficiency is a rate; elsewhere it can be anything.
    let is_rate = figure.is(Dimension::PerSecond)
        || figure.unit.is_none() && row.with(Role::Efficiency).is_some();
    let rate = figure.span;
    let usable = is_rate && rate.low > 0.0 && rate.high.is_finite();
    usable.then_some(Point {
        row,
        cell,
        threads: f64::from(threads),
        rate,
    })
}

fn efficiency_of_columns(row: &Row, claimed: &Cell, points: &[Point<'_>]) -> Option<Finding> {
    let first = points.first()?;
    let figure = claimed.figure.as_ref()?;
    let named = figure
        .rest
        .strip_prefix('@')
        .and_then(Figure::at_start)
        .map(|at| at.value);
    let threads = named.or_else(|| points.last().map(|point| point.threads))?;
    let point = points
        .iter()
        .find(|point| (point.threads - threads).abs() < 0.5)?;
    wrong_efficiency(row, claimed, (point, first))
}

fn wrong_efficiency(
    row: &Row,
    claimed: &Cell,
    (point, first): (&Point<'_>, &Point<'_>),
) -> Option<Finding> {
    let figure = claimed.figure.as_ref()?;
    let share = if figure.is(Dimension::Percent) {
        0.01
    } else {
        1.0
    };
    let span = Span::new(figure.span.low * share, figure.span.high * share);
    let recomputed = point.efficiency(first);
    if span.widened(0.005).meets(recomputed) {
        return None;
    }
    let text = format!(
        "{} against {} at {} threads is {} %",
        says(point.cell),
        says(first.cell),
        print::number(point.threads),
        print::number(100.0 * recomputed.middle())
    );
    Some(Finding::new(
        Check::Efficiency,
        place(row, &[claimed, point.cell]),
        says(claimed),
        text,
    ))
}

fn printed_efficiencies(points: &[Point<'_>]) -> Vec<Finding> {
    let Some(first) = points.first() else {
        return Vec::new();
    };
    let check = |point: &Point<'_>| {
        let claimed = point.row.with(Role::Efficiency)?;
        wrong_efficiency(point.row, claimed, (point, first))
    };
    points.iter().filter_map(check).collect()
}

fn stops_growing(points: &[Point<'_>]) -> Option<Finding> {
    points.windows(2).find_map(|pair| match pair {
        [before, after] => no_growth(before, after),
        _ => None,
    })
}

fn no_growth(before: &Point<'_>, after: &Point<'_>) -> Option<Finding> {
    let wanted = if after.threads >= 1.5 * before.threads {
        GROWTH
    } else {
        DECLINE
    };
    if after.middle() >= before.middle() * wanted {
        return None;
    }
    let claimed = format!(
        "{} at {} threads",
        says(after.cell),
        print::number(after.threads)
    );
    let text = format!(
        "the rate is {} after {} at {}: from there on an average measures the cap",
        print::rate(after.middle()),
        print::rate(before.middle()),
        print::number(before.threads)
    );
    let at = place(after.row, &[before.cell, after.cell]);
    Some(Finding::new(Check::RateStopsGrowing, at, claimed, text))
}

fn poor_at_the_end(points: &[Point<'_>]) -> Option<Finding> {
    let (first, last) = (points.first()?, points.last()?);
    let efficiency = last.efficiency(first).middle();
    let claimed = format!(
        "{} at {} threads",
        says(last.cell),
        print::number(last.threads)
    );
    let text = format!(
        "{} against {} on {}: efficiency {}",
        print::rate(last.middle()),
        print::rate(first.middle()),
        print::number(first.threads),
        print::number(efficiency)
    );
    let at = place(last.row, &[last.cell]);
    (efficiency < POOR).then(|| Finding::new(Check::Efficiency, at, claimed, text))
}
