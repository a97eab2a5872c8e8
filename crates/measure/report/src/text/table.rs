//! Right-aligned tables, and the summary.

use keywright_measure::document::{Case, Document};

use crate::plain::fitted;
use crate::style::{Style, Tone, tone};
use crate::{describe, number, outcome, quantile};

/// Widest first column; longer names lose their middle.
const NAME: usize = 56;

/// Columns of text: the first to the left, the others to the right, two spaces between.
pub(super) struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new(head: &[&str]) -> Self {
        Self {
            head: head.iter().map(|&text| text.to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Head, rule and rows, each ending with a line break; `last` styles the last cell of a row.
    pub(super) fn lines(&self, last: impl Fn(usize, &str) -> String) -> Vec<String> {
        let widths: Vec<usize> = (0..self.head.len())
            .map(|column| self.width(column))
            .collect();
        let rule = widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1);
        let mut out = vec![aligned(&self.head, &widths), "-".repeat(rule)];
        for (place, cells) in self.rows.iter().enumerate() {
            let line = aligned(cells, &widths);
            let end = cells.last().map_or("", String::as_str);
            let start = line.strip_suffix(end).unwrap_or(&line);
            out.push(format!("{start}{}", last(place, end)));
        }
        out
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().chain([&self.head]);
        cells
            .filter_map(|cells| cells.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    }
}

fn aligned(cells: &[String], widths: &[usize]) -> String {
    let mut out = String::new();
    for (place, (cell, &width)) in cells.iter().zip(widths).enumerate() {
        match place {
            0 => out += &format!("{cell:<width$}"),
            _ => out += &format!("  {cell:>width$}"),
        }
    }
    out
}

/// A name that fits the first column.
pub(super) fn named(case: &Case) -> String {
    let name = if case.id.is_empty() {
        &case.op
    } else {
        &case.id
    };
    fitted(name, NAME)
}

pub(super) fn summary(document: &Document, style: Style) -> String {
    let measured: Vec<&Case> = document
        .cases
        .iter()
        .filter(|case| !describe::is_model_only(case))
        .collect();
    let mut table = Table::new(&[
        "Operation",
        "Ops/sec",
        "Avg",
        "P50",
        "P95",
        "P99",
        "Verdict",
    ]);
    for case in &measured {
        let times = case.headline();
        table.row(vec![
            named(case),
            describe::figure(case).unwrap_or_else(|| number::plain(case.achieved_per_s)),
            mean(case),
            quantile::cell(times, "p50"),
            quantile::cell(times, "p95"),
            quantile::cell(times, "p99"),
            first(case).text().to_owned(),
        ]);
    }
    let lines = table.lines(|place, word| {
        let tone = measured
            .get(place)
            .map_or(Tone::Faint, |case| tone(first(case)));
        style.paint(tone, word)
    });
    lines.join("\n") + "\n"
}

fn first(case: &Case) -> keywright_measure::Word {
    outcome::words(case)
        .first()
        .copied()
        .unwrap_or(keywright_measure::Word::Valid)
}

/// The mean, unless operations that never ended could only raise it.
fn mean(case: &Case) -> String {
    let Some(times) = case.headline() else {
        return number::NONE.to_owned();
    };
    let bounded = times
        .quantiles
        .values()
        .any(|q| q.bound == keywright_measure::document::Bound::AtLeast);
    match times.mean_ns {
        Some(mean) if bounded => format!(">= {}", number::time(mean)),
        Some(mean) => number::time(mean),
        None => number::NONE.to_owned(),
    }
}
