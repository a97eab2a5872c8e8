//! For people.

use std::fmt::Write as _;

use keywright_encoding::terminal;

use super::{figure, named, quantile, time};
use crate::compare::Comparison;
use crate::finding::Finding;
use crate::report::{Bin, LatencyRow, Report, Source, Throughput};

/// The whole report as text.
#[must_use]
pub fn text(report: &Report) -> String {
    let mut out = String::new();
    source(&mut out, &report.source);
    overview(&mut out, report);
    functions(&mut out, report);
    errors(&mut out, report);
    latency(&mut out, report);
    operations(&mut out, report);
    load(&mut out, report);
    places(&mut out, report);
    findings(&mut out, &report.findings);
    for limit in &report.limits {
        let _ = writeln!(
            out,
            "note: no room for more than {} {}; {} did not fit",
            limit.limit, limit.what, limit.beyond
        );
    }
    out
}

/// Rows in columns, two blanks deep, under a title; nothing without rows.
fn table(out: &mut String, title: &str, heading: &[&str], rows: &[Vec<String>]) {
    if rows.is_empty() {
        return;
    }
    let heading: Vec<String> = heading.iter().map(|cell| (*cell).to_owned()).collect();
    let plain = |row: &Vec<String>| {
        row.iter()
            .map(|cell| terminal::escaped(cell).into_owned())
            .collect()
    };
    let rows: Vec<Vec<String>> = rows.iter().map(plain).collect();
    let all: Vec<&Vec<String>> = std::iter::once(&heading).chain(&rows).collect();
    let width = |column: usize| {
        let cells = all.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heading.len()).map(width).collect();
    let _ = writeln!(out, "\n{title}");
    for row in all {
        let cells = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        let _ = writeln!(out, "  {}", line.trim_end());
    }
}

fn source(out: &mut String, source: &Source) {
    let _ = writeln!(
        out,
        "{} lines of {} log, {} processes, durations {}",
        source.lines, source.form, source.processes, source.durations
    );
    if let (Some(first), Some(last)) = (&source.first, &source.last) {
        let _ = writeln!(out, "from {first} to {last}");
    }
    if let Some(zone) = &source.time_zone {
        let _ = writeln!(
            out,
            "local times of the spy taken as {zone}; it writes no durations, so there is no latency"
        );
    }
    let mut note = |count: u64, what: &str| {
        if count > 0 {
            let _ = writeln!(out, "note: {count} {what}");
        }
    };
    note(
        source.dropped_records,
        "records were not written by the recorder",
    );
    note(source.cut_lines, "lines were too long to be read");
    note(
        source.ambiguous_calls,
        "calls of the spy are interrupted by others: threads, and nothing says which",
    );
    note(
        source.unsure_codes,
        "codes are of another tool, which may number them in its own way",
    );
    note(u64::from(source.torn_last_line), "line at the end is torn");
    for (version, count) in &source.foreign_versions {
        note(
            *count,
            &format!("records of version {version} were not looked into"),
        );
    }
}

fn overview(out: &mut String, report: &Report) {
    let rate = report
        .success_rate
        .map_or_else(|| "-".to_owned(), |rate| format!("{rate:.2} %"));
    let _ = writeln!(
        out,
        "{} calls: {} ok, {} failed, {} without an answer; {rate} ok",
        report.total_ops, report.success_count, report.error_count, report.incomplete_count
    );
}

fn functions(out: &mut String, report: &Report) {
    let mut rows: Vec<_> = report.by_function.iter().collect();
    rows.sort_by(|a, b| b.1.count.cmp(&a.1.count).then_with(|| a.0.cmp(b.0)));
    let ms = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |ms| time(ms * 1e6));
    let rows: Vec<_> = rows
        .into_iter()
        .map(|(name, row)| {
            vec![
                name.clone(),
                row.count.to_string(),
                row.error_count.to_string(),
                row.size_queries.to_string(),
                ms(row.total_duration_ms),
                ms(row.avg_duration_ms),
                ms(row.max_duration_ms),
                row.time_share
                    .map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", share * 100.0)),
            ]
        })
        .collect();
    let heading = [
        "function",
        "calls",
        "failed",
        "length only",
        "total",
        "mean",
        "longest",
        "of all time",
    ];
    table(out, "Functions", &heading, &rows);
}

fn errors(out: &mut String, report: &Report) {
    let rows: Vec<_> = report
        .errors
        .iter()
        .map(|row| {
            vec![
                row.func.clone(),
                format!("{} (0x{:x})", row.rv_name, row.rv),
                row.count.to_string(),
                row.line.to_string(),
                row.meaning.unwrap_or("a code of the vendor's").to_owned(),
            ]
        })
        .collect();
    table(
        out,
        "Codes",
        &["function", "code", "times", "first line", "meaning"],
        &rows,
    );
}

fn latency(out: &mut String, report: &Report) {
    let cells = |row: &LatencyRow| {
        let at = |name: &str| quantile(named(&row.times.quantiles, name));
        vec![
            row.function.clone(),
            row.mechanism.clone().unwrap_or_default(),
            row.outcome.to_owned(),
            row.times.n.to_string(),
            at("p50"),
            at("p99"),
            row.times
                .max_ns
                .map_or_else(String::new, |max| time(max as f64)),
        ]
    };
    let rows: Vec<_> = report.latency.iter().map(cells).collect();
    let heading = [
        "function",
        "mechanism",
        "ended",
        "n",
        "p50 [95 %]",
        "p99 [95 %]",
        "longest",
    ];
    table(out, "Latency of calls", &heading, &rows);
}

fn operations(out: &mut String, report: &Report) {
    let rows: Vec<_> = report
        .operations
        .iter()
        .map(|row| {
            let at = |name: &str| quantile(named(&row.times.quantiles, name));
            vec![
                row.operation.to_owned(),
                row.mechanism.clone().unwrap_or_default(),
                row.completed.to_string(),
                row.failed.to_string(),
                row.times.n.to_string(),
                at("p50"),
                at("p99"),
                row.times.mean_ns.map_or_else(|| "-".to_owned(), time),
            ]
        })
        .collect();
    let heading = [
        "operation",
        "mechanism",
        "done",
        "failed",
        "n",
        "p50 [95 %]",
        "p99 [95 %]",
        "mean",
    ];
    table(
        out,
        "Operations (Init, Update and Final together)",
        &heading,
        &rows,
    );
}

fn load(out: &mut String, report: &Report) {
    if let Some(load) = &report.throughput {
        let busiest = load.bins.iter().max_by_key(|bin| bin.calls);
        let _ = write!(
            out,
            "\nThroughput\n  {} calls/s, {} operations/s",
            figure(load.calls_per_s),
            figure(load.operations_per_s)
        );
        if let Some(bin) = busiest {
            let _ = write!(
                out,
                "; busiest {} s from {}: {} calls",
                load.bin_s, bin.start, bin.calls
            );
        }
        out.push('\n');
    }
    if let Some(together) = &report.concurrency {
        let _ = writeln!(
            out,
            "  at most {} calls at once, {:.2} on average while there were any",
            together.most, together.mean
        );
    }
    if let Some(load) = &report.throughput {
        over_time(out, load);
    }
}

/// Rows of throughput over time, of several stretches each where there are more.
const STRETCHES: usize = 12;
/// The longest bar.
const BAR: f64 = 24.0;

fn over_time(out: &mut String, load: &Throughput) {
    let together = load.bins.len().div_ceil(STRETCHES).max(1);
    let stretches: Vec<_> = load.bins.chunks(together).collect();
    if stretches.len() < 2 {
        return;
    }
    let calls = |bins: &[Bin]| bins.iter().map(|bin| bin.calls).sum::<u64>();
    let rate =
        |bins: &[Bin], count: u64| count as f64 / (bins.len() as f64 * load.bin_s.max(1) as f64);
    let rates = stretches.iter().map(|bins| rate(bins, calls(bins)));
    let most = rates.fold(f64::MIN_POSITIVE, f64::max);
    let row = |bins: &&[Bin]| {
        let calls_per_s = rate(bins, calls(bins));
        let operations = bins.iter().map(|bin| bin.operations).sum();
        let failed: u64 = bins.iter().map(|bin| bin.errors).sum();
        let marks = (0_u8..).take_while(|mark| f64::from(*mark) < calls_per_s * BAR / most);
        vec![
            bins.first()
                .map(|bin| bin.start.clone())
                .unwrap_or_default(),
            format!("{calls_per_s:.1}"),
            format!("{:.1}", rate(bins, operations)),
            failed.to_string(),
            marks.map(|_| '#').collect(),
        ]
    };
    let rows: Vec<_> = stretches.iter().map(row).collect();
    let heading = ["from", "calls/s", "operations/s", "failed", ""];
    let title = match together * usize::try_from(load.bin_s).unwrap_or(usize::MAX) {
        1 => "Over time, a second with a call in it each".to_owned(),
        seconds => format!("Over time, {seconds} s with a call in them each"),
    };
    table(out, &title, &heading, &rows);
}

fn places(out: &mut String, report: &Report) {
    let (sessions, logins, ratios) = (&report.sessions, &report.logins, &report.ratios);
    let _ = writeln!(
        out,
        "\nSessions and logins\n  {} opened, {} closed, {} closed together, {} leaked, {} still open, {} at most",
        sessions.opened,
        sessions.closed,
        sessions.closed_together,
        sessions.leaked,
        sessions.still_open,
        sessions.most_open
    );
    let _ = writeln!(
        out,
        "  {} logins, {} wrong PINs, {} tries after a wrong PIN, {} logouts",
        logins.succeeded, logins.wrong_pin, logins.after_wrong_pin, logins.logouts
    );
    let _ = writeln!(
        out,
        "  {} operations: {} calls, {} searches, {} logins, {} sessions for each",
        ratios.operations,
        figure(ratios.calls_per_operation),
        figure(ratios.searches_per_operation),
        figure(ratios.logins_per_operation),
        figure(ratios.sessions_per_operation)
    );
    let nonces = &report.nonces;
    if nonces.seen > 0 {
        let _ = writeln!(
            out,
            "  {} nonces, {} used again; {:.0} % of them compared",
            nonces.seen,
            nonces.reused,
            nonces.compared_share * 100.0
        );
    }
}

fn findings(out: &mut String, findings: &[Finding]) {
    let _ = writeln!(out, "\nFindings: {}", findings.len());
    for one in findings {
        let line = one
            .line
            .map_or_else(String::new, |line| format!(", first in line {line}"));
        let _ = writeln!(
            out,
            "  {} {}: {}{line}\n    {}",
            one.severity, one.code, one.happened, one.advice
        );
    }
}

/// A comparison as text.
#[must_use]
pub fn comparison(compared: &Comparison) -> String {
    let mut out = String::new();
    let mut line = |what: &str, before: String, after: String| {
        let _ = writeln!(out, "{what}: {before} before, {after} after");
    };
    line(
        "calls",
        compared.before_calls.to_string(),
        compared.after_calls.to_string(),
    );
    line(
        "calls per operation",
        figure(compared.before_calls_per_operation),
        figure(compared.after_calls_per_operation),
    );
    line(
        "per cent ok",
        figure(compared.before_success_rate),
        figure(compared.after_success_rate),
    );
    changes(&mut out, compared);
    for (what, names) in [
        ("gone", &compared.functions_gone),
        ("new", &compared.functions_new),
    ] {
        if !names.is_empty() {
            let _ = writeln!(out, "\nFunctions that are {what}: {}", names.join(", "));
        }
    }
    if !compared.gone_findings.is_empty() {
        let _ = writeln!(
            out,
            "\nFindings that are gone: {}",
            compared.gone_findings.join(", ")
        );
    }
    let _ = write!(out, "\nNew findings, against the first log:");
    findings(&mut out, &compared.new_findings);
    out
}

fn changes(out: &mut String, compared: &Comparison) {
    let rows: Vec<_> = compared
        .changes
        .iter()
        .map(|change| {
            vec![
                change.operation.clone(),
                change.mechanism.clone().unwrap_or_default(),
                change.quantile.clone(),
                quantile(Some(&change.before)),
                quantile(Some(&change.after)),
                format!("{:.2}", change.ratio),
                change.verdict.name().to_owned(),
            ]
        })
        .collect();
    let heading = [
        "operation",
        "mechanism",
        "quantile",
        "before [95 %]",
        "after [95 %]",
        "ratio",
        "",
    ];
    table(out, "Operations", &heading, &rows);
}
