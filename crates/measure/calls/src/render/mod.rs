//! A report as text, as a table for spreadsheets, and as a page for browsers.
//!
//! Names from the log are data: without control characters, escaped in the page, guarded in the table.

mod compared;
mod html;
mod live;
mod spreadsheet;
mod text;

pub use compared::{comparison_csv, comparison_html};
pub use html::html;
pub use live::{call, call_heading};
pub use spreadsheet::csv;
pub use text::{comparison, text};

use crate::report::QuantileRow;

/// A time in the unit that suits it, to three digits.
pub(crate) fn time(nanos: f64) -> String {
    let (value, unit) = match nanos {
        n if n < 1e3 => (n, "ns"),
        n if n < 1e6 => (n / 1e3, "us"),
        n if n < 1e9 => (n / 1e6, "ms"),
        n => (n / 1e9, "s"),
    };
    match value {
        v if v < 10.0 && unit != "ns" => format!("{v:.2} {unit}"),
        v if v < 100.0 && unit != "ns" => format!("{v:.1} {unit}"),
        v => format!("{v:.0} {unit}"),
    }
}

/// A quantile with its interval; `-` where there are too few samples.
pub(crate) fn quantile(row: Option<&QuantileRow>) -> String {
    let Some((row, value)) = row.and_then(|row| Some((row, row.ns?))) else {
        return "-".to_owned();
    };
    let value = time(value as f64);
    match (row.lo_ns, row.hi_ns) {
        (Some(lo), Some(hi)) => format!("{value} [{}, {}]", time(lo as f64), time(hi as f64)),
        _ => value,
    }
}

pub(crate) fn named<'a>(rows: &'a [QuantileRow], name: &str) -> Option<&'a QuantileRow> {
    rows.iter().find(|row| row.name == name)
}

/// One digit after the point.
pub(crate) fn figure(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"))
}
