//! Markdown, and plain text that tools print.
//!
//! Pipe tables are read wherever they stand. A fenced block is read as what its first line says, or line
//! by line as the output of a tool ([`super::lines`]); the prose before a table gives units and load.

use super::{MAX_COLUMNS, clip, delimited, json, lines};
use crate::figure::{Figure, Shape};
use crate::finding::Finding;
use crate::span::Span;
use crate::table::{Context, Loop, RawRow, Table};
use crate::unit::{Dimension, Unit};

/// What was found in a text.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) tables: Vec<Table>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) ranges: Vec<Said>,
}

/// A sentence, or a row of a table, that promises an efficiency of threads between two percentages.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) line: usize,
    pub(crate) percent: Span,
}

/// One line with its number.
pub(crate) type Line<'a> = (usize, &'a str);

/// Reads a whole text.
pub(crate) fn read(text: &str) -> Found {
    let all: Vec<Line<'_>> = text
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line))
        .collect();
    let mut reader = Reader::default();
    if !is_markdown(&all) {
        reader
            .found
            .tables
            .extend(lines::tables(&all, "", Context::default()));
        return reader.found;
    }
    reader.found.ranges = all
        .iter()
        .filter_map(|line| promised(*line))
        .take(MAX_PROMISES)
        .collect();
    let mut at = 0;
    while let Some(rest) = all.get(at..).filter(|rest| !rest.is_empty()) {
        at += reader.step(rest).max(1);
    }
    reader.found
}

fn is_markdown(all: &[Line<'_>]) -> bool {
    all.windows(2).any(|pair| match pair {
        [(_, first), (_, next)] => {
            fence(first).is_some() || first.starts_with("# ") || is_table_head(first, next)
        }
        _ => false,
    })
}

#[derive(Debug, Default)]
struct Reader<'a> {
    found: Found,
    heading: &'a str,
    /// The lines of prose since the last heading.
    prose: Vec<&'a str>,
}

/// Each promise is held against every table, so there is an end to them.
const MAX_PROMISES: usize = 64;
/// More prose than this says nothing about the table below it.
const NEAR: usize = 8;

impl<'a> Reader<'a> {
    /// Reads what stands first in `rest` and says how many lines it had.
    fn step(&mut self, rest: &[Line<'a>]) -> usize {
        let Some((_, line)) = rest.first() else {
            return 0;
        };
        if let Some(info) = fence(line) {
            return self.fenced(info, rest);
        }
        if rest
            .get(1)
            .is_some_and(|(_, next)| is_table_head(line, next))
        {
            return self.pipe_table(rest);
        }
        if line.starts_with('#') {
            self.heading = clip(line.trim_start_matches('#').trim());
            self.prose.clear();
            self.prose.push(clip(line));
        } else if !line.trim().is_empty() {
            self.prose.push(clip(line));
        }
        1
    }

    fn context(&self) -> Context {
        let near = self.prose.iter().rev().take(NEAR);
        let near: Vec<String> = near.map(|line| line.to_lowercase()).collect();
        let says = |words: &[&str]| {
            near.iter()
                .any(|line| words.iter().any(|word| line.contains(word)))
        };
        let started = if says(&["single-thread", "sequential"]) {
            Loop::OneByOne
        } else {
            Loop::Unknown
        };
        let time = [
            ("microseconds", 1e-6),
            ("milliseconds", 1e-3),
            ("nanoseconds", 1e-9),
        ]
        .into_iter()
        .find(|(word, _)| says(&[word]))
        .map(|(_, scale)| Unit::seconds(scale));
        let target = self.prose.last().and_then(|line| load(line));
        Context {
            time,
            started,
            count: None,
            target,
        }
    }

    fn pipe_table(&mut self, rest: &[Line<'a>]) -> usize {
        let body: Vec<&Line<'_>> = rest
            .iter()
            .skip(2)
            .take_while(|(_, line)| line.contains('|'))
            .collect();
        let heads = rest
            .first()
            .map(|(_, line)| split(line))
            .unwrap_or_default();
        let rows: Vec<RawRow> = body
            .iter()
            .map(|(number, line)| RawRow {
                line: Some(*number),
                cells: split(line),
            })
            .collect();
        self.found
            .tables
            .push(Table::new(&heads, &rows, self.context()));
        2 + body.len()
    }

    fn fenced(&mut self, info: &str, rest: &[Line<'a>]) -> usize {
        let body = rest.get(1..).unwrap_or_default();
        let length = body
            .iter()
            .take_while(|(_, line)| fence(line).is_none())
            .count();
        let inside = body.get(..length).unwrap_or_default();
        let text = || {
            inside
                .iter()
                .map(|(_, line)| *line)
                .collect::<Vec<_>>()
                .join("\n")
        };
        let first = inside.first().map_or(1, |(number, _)| *number);
        match info {
            // Examples are often shortened; what does not parse is no result.
            "json" => {
                if let Ok(node) = json::parse(&text()) {
                    self.found.findings.extend(json::doubled_keys(&node));
                    self.found.tables.extend(json::tables(&node));
                }
            }
            "csv" => {
                if let Ok(table) = delimited::table(&text(), first) {
                    self.found.tables.extend(table);
                }
            }
            _ => {
                let tables = lines::tables(inside, self.heading, self.context());
                self.found.tables.extend(tables);
            }
        }
        length + 2
    }
}

/// `80-95 %` in a line about scaling or efficiency.
fn promised((line, text): Line<'_>) -> Option<Said> {
    let lower = text.to_lowercase();
    if !["scaling", "efficiency"]
        .iter()
        .any(|word| lower.contains(word))
    {
        return None;
    }
    let ends = text.match_indices('%').map(|(at, _)| at);
    ends.filter_map(|end| {
        let head = text.get(..end)?;
        let is_part = |c: char| c.is_ascii_digit() || ".-\u{2013}".contains(c);
        let length: usize = head
            .chars()
            .rev()
            .take_while(|c| is_part(*c))
            .map(char::len_utf8)
            .sum();
        let figure = Figure::at_start(head.get(end - length..)?)?;
        let percent = figure.span;
        (figure.shape == Shape::Range && percent.low > 1.0).then_some(Said { line, percent })
    })
    .next()
}

/// What stands behind the marks of a line that opens or closes a block.
fn fence(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("```")
        .or_else(|| line.strip_prefix("~~~"))
        .map(str::trim)
}

/// Whether a line of heads is followed by a line of rules.
fn is_table_head(line: &str, next: &str) -> bool {
    let rule = next.trim();
    line.contains('|')
        && rule.contains('-')
        && rule.contains('|')
        && rule.chars().all(|c| "|-: ".contains(c))
}

/// The cells of a line of a pipe table.
fn split(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let line = line.strip_suffix('|').unwrap_or(line);
    line.split('|')
        .take(MAX_COLUMNS)
        .map(|cell| cell.trim().to_owned())
        .collect()
}

/// The rate in "100,000 req/s for 20 seconds": a rate with a duration is what was asked for.
fn load(line: &str) -> Option<f64> {
    let plain = line.replace(['*', '(', ')', ':'], " ");
    let (before, after) = plain
        .split_once("/s for ")
        .or_else(|| plain.split_once("/sec for "))?;
    let mut words = before.split_whitespace().rev();
    let (unit, number) = (words.next()?, words.next()?);
    let rate = Figure::at_start(&format!("{number} {unit}/s"))?.in_base(None);
    let time = Figure::at_start(after)?.in_base(None);
    (rate.is(Dimension::PerSecond) && time.is(Dimension::Time)).then_some(rate.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_a_rate_with_a_duration() {
        let near = |line, rate: f64| (load(line).unwrap() - rate).abs() < 0.5;
        assert!(near(
            "**Configuration**: 100,000 req/s for 20 seconds",
            100_000.0
        ));
        assert!(near("**Phase 2 - BURST** (50,000 req/s for 5s):", 50_000.0));
        for other in [
            "15,000 req/s in all",
            "for 5 s",
            "x/s for 5s",
            "5,000 req/s for everyone",
        ] {
            assert!(load(other).is_none(), "{other}");
        }
    }

    #[test]
    fn a_promise_is_a_range_of_percentages_about_threads() {
        let said = promised((1, "Good scaling (80-95% efficiency)"))
            .unwrap()
            .percent;
        assert!((said.low - 79.5).abs() < 1e-9 && (said.high - 95.5).abs() < 1e-9);
        for other in [
            "80-95% faster",
            "90%+ efficiency",
            "efficiency 83%",
            "scaling: % of 5-6",
        ] {
            assert!(promised((1, other)).is_none(), "{other}");
        }
    }

    #[test]
    fn a_fence_that_never_closes_ends_with_the_text() {
        let found = read("# a\n```bash\nA\tGoal\tMeasured\tStatus\nx\t< 5 ms\t9 ms\tOK\n");
        assert_eq!(found.tables.len(), 1);
    }
}
