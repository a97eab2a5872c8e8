//! The rules, each over one table or one case.

mod cases;
mod compare;
mod limits;
mod names;
mod quantiles;
mod rates;
mod relations;
mod scaling;

pub(crate) use cases::check as case;
pub(crate) use names::doubled as doubled_names;
pub(crate) use relations::check as relation;
pub(crate) use scaling::promised as promised_efficiency;

use crate::finding::{Finding, Place};
use crate::table::{Cell, Row, Table};

/// Every rule for tables.
pub(crate) fn table(table: &Table) -> Vec<Finding> {
    let mut findings = Vec::new();
    for row in &table.rows {
        findings.extend(rates::rate_times_time(row, &table.context));
        findings.extend(rates::bytes_over_time(row));
        findings.extend(rates::achieved_below_target(row, &table.context));
        findings.extend(rates::littles_law(row));
        findings.extend(rates::elapsed(row));
        findings.extend(quantiles::order(row));
        findings.extend(quantiles::printed_as_zero(row));
        findings.extend(scaling::columns(row));
        findings.extend(compare::difference(row));
        findings.extend(compare::below_resolution(row));
        findings.extend(limits::exceeded(row));
        findings.extend(limits::adds_up(row));
    }
    findings.extend(quantiles::too_few(table));
    findings.extend(quantiles::equal_to_next(table));
    findings.extend(quantiles::never_moves(table));
    findings.extend(scaling::rows(table));
    findings.extend(names::in_table(table));
    findings
}

/// Where these cells of a row stand.
fn place(row: &Row, cells: &[&Cell]) -> Place {
    let mut columns: Vec<String> = cells.iter().map(|cell| cell.column.to_string()).collect();
    columns.dedup();
    Place {
        line: row.line,
        row: row.label.clone(),
        columns,
    }
}

/// A cell as the file says it: its head and its text.
fn says(cell: &Cell) -> String {
    format!("{} {}", cell.column, cell.text)
}
