//! Lines that tools print: result lines, columns of fixed width, tabs, and `Key: value` blocks.
//!
//! * `Ops/sec: 89.2, Avg: 11.21ms, P50: 10.95ms`, with the progress bar above it;
//! * `RSA-2048 Signing: 92.3 ops/sec (10.84ms avg, 11.23ms p99)`;
//! * heads and rows whose columns stand two or more spaces apart;
//! * heads and rows with tabs between the columns;
//! * blocks of `Requests: 495,133 total`, each one row.

use super::MAX_COLUMNS;
use super::markdown::Line;
use crate::figure::Figure;
use crate::table::{Context, Loop, Progress, RawRow, Row, Table};
use crate::unit::{Dimension, Unit};

/// The tables of one block of lines. `heading` names a block without a name of its own.
pub(crate) fn tables(lines: &[Line<'_>], heading: &str, around: Context) -> Vec<Table> {
    let context = block_context(lines, around);
    let mut results = Table {
        context,
        rows: Vec::new(),
    };
    let mut tables = Vec::new();
    let mut block = Block::new(heading);
    let mut bar: Option<(&str, Progress)> = None;
    let mut at = 0;
    while let Some(rest) = lines.get(at..).filter(|rest| !rest.is_empty()) {
        let Some(&(number, line)) = rest.first() else {
            break;
        };
        at += 1;
        if let Some(found) = progress(line) {
            bar = Some(found);
        } else if let Some(mut row) =
            pairs(number, line, context).or_else(|| measured(number, line, context))
        {
            if let Some((name, progress)) = bar.take() {
                row.label = name.to_owned();
                row.progress = Some(progress);
            }
            results.rows.push(row);
        } else if let Some((table, length)) = columns(rest, context) {
            tables.extend(table);
            at += length.saturating_sub(1);
        } else {
            tables.extend(block.line(number, line, context));
        }
    }
    tables.extend(block.end(context));
    if !results.rows.is_empty() {
        tables.push(results);
    }
    tables
}

/// What a block says about all its rows.
fn block_context(lines: &[Line<'_>], around: Context) -> Context {
    let count = lines.iter().find_map(|(_, line)| iterations(line));
    // The HSM benchmark times one operation after another, in milliseconds.
    let own =
        |line: &str| line.contains("Ops/sec") && line.contains("P95") || line.contains("P95 Cur");
    let known = lines.iter().any(|(_, line)| own(line));
    Context {
        time: if known {
            Some(Unit::seconds(1e-3))
        } else {
            around.time
        },
        started: if known {
            Loop::OneByOne
        } else {
            around.started
        },
        count: count.or(around.count),
        target: around.target,
    }
}

/// `Iterations per test: 100`, or `…, 1000 iterations`.
fn iterations(line: &str) -> Option<f64> {
    if let Some(tail) = line.trim().strip_prefix("Iterations per test:") {
        return Figure::at_start(tail).map(|figure| figure.value);
    }
    let head = line
        .trim()
        .strip_suffix(" iterations")
        .filter(|_| line.contains(':'))?;
    Figure::at_start(head.rsplit(' ').next()?).map(|figure| figure.value)
}

/// `name: bar 100/100 [00:00:35]`.
fn progress(line: &str) -> Option<(&str, Progress)> {
    let (name, tail) = line.split_once(':')?;
    let (before, clock) = tail.trim_end().strip_suffix(']')?.rsplit_once('[')?;
    let mut seconds = 0.0;
    let mut fields = 0;
    for field in clock.split(':') {
        let digits = field.len() == 2 && field.bytes().all(|byte| byte.is_ascii_digit());
        let value: f64 = field.parse().ok().filter(|_| digits)?;
        seconds = seconds * 60.0 + value;
        fields += 1;
    }
    let (done, _) = before.trim_end().rsplit(' ').next()?.split_once('/')?;
    let done = Figure::at_start(done)?.value;
    (fields == 3).then_some((name.trim(), Progress { done, seconds }))
}

fn one_row(number: usize, cells: &[(String, String)], context: Context) -> Option<Row> {
    let cells = cells.get(..cells.len().min(MAX_COLUMNS))?;
    let heads: Vec<String> = cells.iter().map(|(head, _)| head.clone()).collect();
    let texts = cells.iter().map(|(_, text)| text.clone()).collect();
    let raw = RawRow {
        line: Some(number),
        cells: texts,
    };
    Table::new(&heads, &[raw], context).rows.pop()
}

/// `Ops/sec: 89.2, Avg: 11.21ms, …`: at least two, all of them figures.
fn pairs(number: usize, line: &str, context: Context) -> Option<Row> {
    let mut cells = Vec::new();
    for part in line.split(", ") {
        let (head, value) = part.split_once(": ")?;
        Figure::at_start(value).filter(|_| head.len() < 24)?;
        cells.push((head.trim().to_owned(), value.trim().to_owned()));
    }
    (cells.len() >= 2)
        .then(|| one_row(number, &cells, context))
        .flatten()
}

/// `name: 92.3 ops/sec (10.84ms avg, 11.23ms p99)`.
fn measured(number: usize, line: &str, context: Context) -> Option<Row> {
    let (name, tail) = line.split_once(':')?;
    let rate = Figure::at_start(tail).filter(|figure| figure.is(Dimension::PerSecond))?;
    let inside = rate.rest.strip_prefix('(')?.strip_suffix(')')?;
    let (rate_text, _) = tail.split_once('(')?;
    let mut cells = vec![
        ("Operation".to_owned(), name.trim().to_owned()),
        ("ops/sec".to_owned(), rate_text.trim().to_owned()),
    ];
    for part in inside.split(',') {
        let figure = Figure::at_start(part)?;
        cells.push((figure.rest, part.trim().to_owned()));
    }
    let started = Loop::OneByOne;
    one_row(number, &cells, Context { started, ..context })
}

/// Columns of fixed width or with tabs, and how many lines they have; no table if nothing in them is a
/// figure. The lines are passed over all the same, so that none is looked at twice.
fn columns(rest: &[Line<'_>], context: Context) -> Option<(Option<Table>, usize)> {
    let (_, first) = rest.first()?;
    let separator = if first.contains('\t') { "\t" } else { "  " };
    let heads = fields(first, separator);
    let is_head = |head: &String| Figure::at_start(head).is_none();
    if heads.len() < 3 || !heads.iter().all(is_head) {
        return None;
    }
    let mut rows = Vec::new();
    let mut length = 1;
    for (number, line) in rest.iter().skip(1) {
        let cells = fields(line, separator);
        if cells.len() == heads.len() {
            rows.push(RawRow {
                line: Some(*number),
                cells,
            });
        } else if !is_rule(line) || !rows.is_empty() {
            break;
        }
        length += 1;
    }
    let has_figures = |row: &RawRow| {
        row.cells
            .iter()
            .skip(1)
            .any(|cell| Figure::at_start(cell).is_some())
    };
    if rows.is_empty() {
        return None;
    }
    let table = rows
        .iter()
        .any(has_figures)
        .then(|| Table::new(&heads, &rows, context));
    Some((table, length))
}

fn fields(line: &str, separator: &str) -> Vec<String> {
    let parts = line.trim().split(separator).map(str::trim);
    parts
        .filter(|part| !part.is_empty())
        .take(MAX_COLUMNS)
        .map(str::to_owned)
        .collect()
}

fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 3 && line.chars().all(|c| "-=".contains(c))
}

/// `Key: value` lines as they come in; a name alone or a blank line ends one row.
struct Block {
    heading: String,
    name: String,
    first: usize,
    cells: Vec<(String, String)>,
}

impl Block {
    fn new(heading: &str) -> Self {
        let heading = heading.to_owned();
        Self {
            name: heading.clone(),
            heading,
            first: 0,
            cells: Vec::new(),
        }
    }

    fn line(&mut self, number: usize, line: &str, context: Context) -> Option<Table> {
        let line = line.trim();
        let pair = line
            .split_once(':')
            .map(|(key, value)| (key.trim(), value.trim()));
        match pair {
            Some((key, "")) => {
                let done = self.end(context);
                self.name = format!("{} {key}", self.heading).trim().to_owned();
                done
            }
            Some((key, value)) if key.split_whitespace().count() <= 5 => {
                if self.cells.is_empty() {
                    self.first = number;
                }
                self.cells.push((key.to_owned(), value.to_owned()));
                None
            }
            _ => self.end(context),
        }
    }

    /// The row so far, if it has at least two figures.
    fn end(&mut self, context: Context) -> Option<Table> {
        let cells = std::mem::take(&mut self.cells);
        let figures = cells
            .iter()
            .filter(|(_, value)| Figure::at_start(value).is_some())
            .count();
        if figures < 2 {
            return None;
        }
        let mut row = one_row(self.first, &cells, context)?;
        row.label.clone_from(&self.name);
        Some(Table {
            context,
            rows: vec![row],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_progress_line_has_a_count_and_a_clock() {
        let (name, found) = progress("AES (1MB):   ### 100/100 [00:00:35]").unwrap();
        assert_eq!(name, "AES (1MB)");
        assert_eq!(
            found,
            Progress {
                done: 100.0,
                seconds: 35.0
            }
        );
        for other in [
            "a: 100/100",
            "a: 1/1 [35]",
            "a: [00:00:01]",
            "1/1 [00:00:01]",
            "a: x [0:0:a]",
        ] {
            assert!(progress(other).is_none(), "{other}");
        }
    }

    #[test]
    fn a_result_line_is_made_of_figures_only() {
        let context = Context::default();
        assert!(pairs(1, "  Ops/sec: 89.2, Avg: 11.21ms", context).is_some());
        for other in ["Note: 5 things, that: matter", "Ops/sec: 89.2", "a, b", ""] {
            assert!(pairs(1, other, context).is_none(), "{other}");
        }
    }

    #[test]
    fn iterations_of_a_block_are_read_from_both_wordings() {
        assert_eq!(iterations("Iterations per test: 100"), Some(100.0));
        assert_eq!(
            iterations("Test: Full suite, 1000 iterations"),
            Some(1000.0)
        );
        assert_eq!(iterations("More iterations"), None);
        assert_eq!(iterations("Iterations per test: many"), None);
    }
}
