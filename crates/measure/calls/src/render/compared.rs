//! Two logs for spreadsheets and for browsers.

use maud::{Markup, html as page};

use super::html::document;
use super::spreadsheet::cell;
use super::{figure, quantile};
use crate::compare::Comparison;
use crate::report::QuantileRow;

/// A comparison as one table: what was counted, what changed, which functions and findings are new or gone.
#[must_use]
pub fn comparison_csv(compared: &Comparison) -> String {
    let mut out = String::from(
        "kind,name,mechanism,quantile,before,before_lo_ns,before_hi_ns,before_n,after,after_lo_ns,after_hi_ns,after_n,ratio,verdict\r\n",
    );
    for (name, before, after) in counts(compared) {
        line(
            &mut out,
            &["count", name, "", "", &before, "", "", "", &after],
        );
    }
    let number = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    for change in &compared.changes {
        let cells = |row: &QuantileRow, n: u64| {
            [
                number(row.ns),
                number(row.lo_ns),
                number(row.hi_ns),
                n.to_string(),
            ]
        };
        let (before, after) = (
            cells(&change.before, change.before_n),
            cells(&change.after, change.after_n),
        );
        let mechanism = change.mechanism.as_deref().unwrap_or_default();
        let mut all = vec!["operation", &change.operation, mechanism, &change.quantile];
        all.extend(before.iter().chain(&after).map(String::as_str));
        let ratio = format!("{:.4}", change.ratio);
        all.extend([ratio.as_str(), change.verdict.name()]);
        line(&mut out, &all);
    }
    for (kind, names) in [
        ("function gone", &compared.functions_gone),
        ("function new", &compared.functions_new),
    ] {
        for name in names {
            line(&mut out, &[kind, name]);
        }
    }
    for one in &compared.new_findings {
        let count = one.count.to_string();
        let cells = [
            "finding new",
            one.code,
            "",
            one.severity.name(),
            "",
            "",
            "",
            "",
            &count,
        ];
        line(&mut out, &cells);
    }
    for code in &compared.gone_findings {
        line(&mut out, &["finding gone", code]);
    }
    out
}

/// Columns of the table.
const COLUMNS: usize = 14;

fn line(out: &mut String, cells: &[&str]) {
    let given = cells.iter().map(|text| cell(text));
    let all = given.chain(std::iter::repeat_with(String::new));
    out.push_str(&all.take(COLUMNS).collect::<Vec<_>>().join(","));
    out.push_str("\r\n");
}

fn counts(compared: &Comparison) -> [(&'static str, String, String); 3] {
    [
        (
            "calls",
            compared.before_calls.to_string(),
            compared.after_calls.to_string(),
        ),
        (
            "calls per operation",
            figure(compared.before_calls_per_operation),
            figure(compared.after_calls_per_operation),
        ),
        (
            "per cent ok",
            figure(compared.before_success_rate),
            figure(compared.after_success_rate),
        ),
    ]
}

/// A comparison as a page.
#[must_use]
pub fn comparison_html(compared: &Comparison) -> String {
    document(
        "Two logs of calls",
        &page! {
            table {
                tr { th {} th.n { "before" } th.n { "after" } }
                @for (name, before, after) in counts(compared) {
                    tr { td { (name) } td.n { (before) } td.n { (after) } }
                }
            }
            (changes(compared))
            (findings(compared))
            @for (what, names) in [("gone", &compared.functions_gone), ("new", &compared.functions_new)] {
                @if !names.is_empty() { p { "Functions that are " (what) ": " (names.join(", ")) "." } }
            }
        },
    )
}

fn changes(compared: &Comparison) -> Markup {
    page! {
        h2 { "Operations" }
        table {
            tr { th { "operation" } th { "mechanism" } th { "quantile" } th.n { "before [95 %]" } th.n { "after [95 %]" } th.n { "ratio" } th {} }
            @for change in &compared.changes {
                tr {
                    td { (change.operation) } td { (change.mechanism.as_deref().unwrap_or_default()) } td { (change.quantile) }
                    td.n { (quantile(Some(&change.before))) } td.n { (quantile(Some(&change.after))) }
                    td.n { (format!("{:.2}", change.ratio)) } td { (change.verdict.name()) }
                }
            }
        }
    }
}

fn findings(compared: &Comparison) -> Markup {
    page! {
        h2 { "New findings: " (compared.new_findings.len()) }
        @if !compared.new_findings.is_empty() {
            table {
                tr { th { "severity" } th { "finding" } th { "what was seen" } th { "what to change" } }
                @for one in &compared.new_findings {
                    tr { td { (one.severity.name()) } td { (one.code) } td { (one.happened) } td { (one.advice) } }
                }
            }
        }
        @if !compared.gone_findings.is_empty() { p { "Gone: " (compared.gone_findings.join(", ")) "." } }
    }
}
