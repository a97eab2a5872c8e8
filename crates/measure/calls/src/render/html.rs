//! For browsers: one page without anything from elsewhere.

use maud::{DOCTYPE, Markup, html as page};

use super::{figure, named, quantile, time};
use crate::report::{Report, Throughput};

/// The whole report as a page.
#[must_use]
pub fn html(report: &Report) -> String {
    let source = &report.source;
    document(
        "Calls to a token",
        &page! {
            p {
                (report.total_ops) " calls of " (source.processes) " processes, "
                (report.success_count) " ok, " (report.error_count) " failed, "
                (report.incomplete_count) " without an answer; durations " (source.durations) "."
                @if let (Some(first), Some(last)) = (&source.first, &source.last) {
                    " From " (first) " to " (last) "."
                }
            }
            (findings(report))
            @if let Some(load) = &report.throughput { (rates(load)) }
            (functions(report))
            (errors(report))
            (operations(report))
            (latency(report))
            (rest(report))
        },
    )
}

/// A page with this title and body, which shows nothing from elsewhere and runs nothing.
pub(super) fn document(title: &str, body: &Markup) -> String {
    let markup = page! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                title { (title) }
                style { (STYLE) }
            }
            body { h1 { (title) } (body) }
        }
    };
    markup.into_string()
}

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem;color:#222;background:#fff}\
table{border-collapse:collapse;margin:0 0 1.5rem}th,td{padding:.2rem .7rem;text-align:left;border-bottom:1px solid #ddd;vertical-align:top}\
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}svg{width:100%;height:9rem;background:#f7f7f7}\
@media(prefers-color-scheme:dark){body{color:#ddd;background:#1b1b1b}th,td{border-color:#444}svg{background:#262626}}";

fn findings(report: &Report) -> Markup {
    page! {
        h2 { "Findings: " (report.findings.len()) }
        @if !report.findings.is_empty() {
            table {
                tr { th { "severity" } th { "finding" } th { "what was seen" } th { "what to change" } th.n { "line" } }
                @for one in &report.findings {
                    tr {
                        td { (one.severity.name()) } td { (one.code) } td { (one.happened) } td { (one.advice) }
                        td.n { @if let Some(line) = one.line { (line) } }
                    }
                }
            }
        }
    }
}

/// Calls in each stretch of time as bars, failures in front of them.
fn rates(load: &Throughput) -> Markup {
    let most = load
        .bins
        .iter()
        .map(|bin| bin.calls)
        .max()
        .unwrap_or(1)
        .max(1) as f64;
    let width = 1000.0 / load.bins.len().max(1) as f64;
    let bar = |index: usize, count: u64, colour: &str| {
        let height = count as f64 * 100.0 / most;
        let (x, y) = (index as f64 * width, 100.0 - height);
        let drawn = (width - 0.5).max(0.5);
        page! { rect x=(format!("{x:.1}")) y=(format!("{y:.1}")) width=(format!("{drawn:.1}")) height=(format!("{height:.1}")) fill=(colour) {} }
    };
    page! {
        h2 { "Over time" }
        p {
            (figure(load.calls_per_s)) " calls/s, " (figure(load.operations_per_s)) " operations/s. One bar is "
            (load.bin_s) " s; stretches without a call are left out. The tallest bar is " (most) " calls; failed calls are red."
        }
        svg viewBox="0 0 1000 100" preserveAspectRatio="none" role="img" aria-label="calls over time" {
            @for (index, bin) in load.bins.iter().enumerate() {
                (bar(index, bin.calls, "#4878a8"))
                (bar(index, bin.errors, "#c44"))
            }
        }
    }
}

fn functions(report: &Report) -> Markup {
    page! {
        h2 { "Functions" }
        table {
            tr { th { "function" } th.n { "calls" } th.n { "failed" } th.n { "length only" } th.n { "mean" } th.n { "of all time" } }
            @for (name, row) in &report.by_function {
                tr {
                    td { (name) } td.n { (row.count) } td.n { (row.error_count) } td.n { (row.size_queries) }
                    td.n { @if let Some(ms) = row.avg_duration_ms { (time(ms * 1e6)) } }
                    td.n { @if let Some(share) = row.time_share { (format!("{:.1} %", share * 100.0)) } }
                }
            }
        }
    }
}

fn errors(report: &Report) -> Markup {
    page! {
        @if !report.errors.is_empty() {
            h2 { "Codes" }
            table {
                tr { th { "function" } th { "code" } th.n { "times" } th { "meaning" } th { "what to do first" } }
                @for row in &report.errors {
                    tr {
                        td { (row.func) } td { (row.rv_name) } td.n { (row.count) }
                        td { (row.meaning.unwrap_or_default()) } td { (row.advice.unwrap_or_default()) }
                    }
                }
            }
        }
    }
}

fn operations(report: &Report) -> Markup {
    page! {
        @if !report.operations.is_empty() {
            h2 { "Operations" }
            table {
                tr { th { "operation" } th { "mechanism" } th.n { "done" } th.n { "failed" } th.n { "n" } th.n { "p50 [95 %]" } th.n { "p99 [95 %]" } }
                @for row in &report.operations {
                    tr {
                        td { (row.operation) } td { (row.mechanism.as_deref().unwrap_or_default()) }
                        td.n { (row.completed) } td.n { (row.failed) } td.n { (row.times.n) }
                        td.n { (quantile(named(&row.times.quantiles, "p50"))) }
                        td.n { (quantile(named(&row.times.quantiles, "p99"))) }
                    }
                }
            }
        }
    }
}

fn latency(report: &Report) -> Markup {
    page! {
        @if !report.latency.is_empty() {
            h2 { "Latency of calls" }
            table {
                tr { th { "function" } th { "mechanism" } th { "ended" } th.n { "n" } th.n { "p50 [95 %]" } th.n { "p99 [95 %]" } }
                @for row in &report.latency {
                    tr {
                        td { (row.function) } td { (row.mechanism.as_deref().unwrap_or_default()) } td { (row.outcome) }
                        td.n { (row.times.n) }
                        td.n { (quantile(named(&row.times.quantiles, "p50"))) }
                        td.n { (quantile(named(&row.times.quantiles, "p99"))) }
                    }
                }
            }
        }
    }
}

fn rest(report: &Report) -> Markup {
    let (sessions, logins, ratios) = (&report.sessions, &report.logins, &report.ratios);
    page! {
        h2 { "Sessions and logins" }
        p {
            (sessions.opened) " sessions opened, " (sessions.closed) " closed, " (sessions.leaked) " leaked, "
            (sessions.still_open) " still open. " (logins.succeeded) " logins, " (logins.wrong_pin) " wrong PINs, "
            (logins.after_wrong_pin) " tries after one."
        }
        p {
            (ratios.operations) " operations; for each of them " (figure(ratios.calls_per_operation)) " calls, "
            (figure(ratios.searches_per_operation)) " searches, " (figure(ratios.logins_per_operation)) " logins, "
            (figure(ratios.sessions_per_operation)) " sessions."
            @if let Some(together) = &report.concurrency {
                " At most " (together.most) " calls at once, " (format!("{:.2}", together.mean)) " on average while there were any."
            }
            @if report.nonces.seen > 0 {
                " " (report.nonces.seen) " nonces, " (report.nonces.reused) " used again."
            }
        }
        @for limit in &report.limits {
            p { "No room for more than " (limit.limit) " " (limit.what) "; " (limit.beyond) " did not fit." }
        }
    }
}
