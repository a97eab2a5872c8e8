//! CSV: the first record has the heads.

use super::MAX_COLUMNS;
use crate::table::{Context, Loop, RawRow, Table};

/// Reads `text`, whose first line is line `first_line` of its file.
pub(crate) fn table(text: &str, first_line: usize) -> Result<Option<Table>, csv::Error> {
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .has_headers(false)
        .delimiter(delimiter(text))
        .from_reader(text.as_bytes());
    let mut records = reader.records();
    let Some(heads) = records.next().transpose()? else {
        return Ok(None);
    };
    let heads: Vec<String> = heads
        .iter()
        .take(MAX_COLUMNS)
        .map(|head| head.trim().to_owned())
        .collect();
    let mut rows = Vec::new();
    for record in records {
        let record = record?;
        // A line of dots stands for rows that were left out.
        if record.len() < 2 && heads.len() > 1 {
            continue;
        }
        let line = record
            .position()
            .and_then(|at| usize::try_from(at.line()).ok());
        rows.push(RawRow {
            line: line.map(|line| line + first_line - 1),
            cells: record.iter().take(MAX_COLUMNS).map(str::to_owned).collect(),
        });
    }
    Ok(Some(Table::new(&heads, &rows, context(&heads))))
}

fn delimiter(text: &str) -> u8 {
    let first = text.lines().next().unwrap_or_default();
    let count = |wanted: u8| first.bytes().filter(|byte| *byte == wanted).count();
    [b',', b';', b'\t']
        .into_iter()
        .rev()
        .max_by_key(|one| count(*one))
        .unwrap_or(b',')
}

/// The HSM benchmark times one operation after another.
fn context(heads: &[String]) -> Context {
    let own = ["operation", "iterations", "ops_per_sec", "avg_ms"];
    let known = own.iter().zip(heads).all(|(own, head)| own == head) && heads.len() >= own.len();
    let started = if known { Loop::OneByOne } else { Loop::Unknown };
    Context {
        started,
        ..Context::default()
    }
}

/// Whether a text that says nothing else about itself is CSV: two lines with the same number of commas.
pub(crate) fn looks_like(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let commas = |line: &str| line.matches(',').count();
    match (lines.next(), lines.next()) {
        (Some(first), Some(second)) => commas(first) >= 2 && commas(first) == commas(second),
        _ => false,
    }
}
