//! A summary in Markdown. Names from outside cannot end a cell, start a link or become HTML.

use keywright_measure::document::{Case, Document};

use crate::{describe, number, outcome, quantile, text};

/// A heading, a table of the cases, comparisons, gates, remarks and the command that repeats the run.
#[must_use]
pub fn markdown(document: &Document) -> String {
    let mut out = String::from("## Measurement\n\n");
    out += "| Case | Load | Achieved | p50 | p95 | p99 | Never sent | Failed | Verdict |\n";
    out += "|---|---|--:|--:|--:|--:|--:|--:|---|\n";
    for case in document
        .cases
        .iter()
        .filter(|case| !describe::is_model_only(case))
    {
        out += &row(case);
    }
    let comparisons = document.comparison.iter().map(|comparison| {
        let word = comparison.verdict.map_or("", |word| word.text());
        format!(
            "{}: {} {word}",
            comparison.case,
            describe::comparison(comparison)
        )
    });
    out += &list("Comparison", comparisons.collect());
    out += &list("Gates", document.gates.iter().map(describe::gate).collect());
    let cases = document.cases.iter().flat_map(|case| &case.validity);
    let remarks = document.validity.iter().chain(cases).map(|remark| {
        let word = remark
            .word
            .map(|word| format!("{word}: "))
            .unwrap_or_default();
        let remedy = remark
            .remedy
            .as_deref()
            .map(|text| format!(" ({text})"))
            .unwrap_or_default();
        format!("{word}{}{remedy}", remark.text)
    });
    out += &list("Remarks", remarks.collect());
    out += &format!(
        "\nRun {}, seed {}",
        escaped(&document.run.id),
        document.run.seed
    );
    if let Some(command) = text::closing::repeat(document) {
        out += &format!(", repeat with {}", code(&command));
    }
    out + "\n"
}

fn row(case: &Case) -> String {
    let times = case.headline();
    let counts = &case.counts;
    let words: Vec<&str> = outcome::words(case)
        .into_iter()
        .map(|word| word.text())
        .collect();
    let cells = [
        escaped(&case.id),
        escaped(&describe::load(&case.load)),
        escaped(&describe::achieved(case)),
        escaped(&quantile::cell(times, "p50")),
        escaped(&quantile::cell(times, "p95")),
        escaped(&quantile::cell(times, "p99")),
        number::count(counts.never_sent),
        number::count(counts.wrong + counts.error + counts.timeout + counts.censored),
        words.join(" "),
    ];
    format!("| {} |\n", cells.join(" | "))
}

fn list(head: &str, lines: Vec<String>) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = lines
        .iter()
        .map(|line| format!("- {}\n", escaped(line)))
        .collect();
    format!("\n### {head}\n\n{}", lines.concat())
}

/// Text that stays text.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '!' | '~' | '$' | '@' => {
                out.extend(['\\', c])
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// A code span, whose fence is longer than any run of fences in it.
fn code(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    format!("{fence} {text} {fence}")
}
