//! For spreadsheets: one row for each kind of call, in one table.

use crate::report::{QuantileRow, Report, Times};

/// Calls and operations with their latencies in nanoseconds, stretches of time with their calls, codes and findings,
/// one row each. What is not known is empty.
#[must_use]
pub fn csv(report: &Report) -> String {
    let mut out = String::from("kind,name,mechanism,outcome,count,failed,n,min_ns,mean_ns,max_ns");
    for name in QUANTILES {
        out.push_str(&format!(",{name}_ns,{name}_lo_ns,{name}_hi_ns"));
    }
    out.push_str("\r\n");
    for (name, row) in &report.by_function {
        let counts = [row.count.to_string(), row.error_count.to_string()];
        line(&mut out, ["function", name, "", ""], counts, None);
    }
    for row in &report.latency {
        let names = [
            "call",
            &row.function,
            row.mechanism.as_deref().unwrap_or_default(),
            row.outcome,
        ];
        line(
            &mut out,
            names,
            [row.times.n.to_string(), String::new()],
            Some(&row.times),
        );
    }
    for row in &report.operations {
        let names = [
            "operation",
            row.operation,
            row.mechanism.as_deref().unwrap_or_default(),
            "",
        ];
        let counts = [row.completed.to_string(), row.failed.to_string()];
        line(&mut out, names, counts, Some(&row.times));
    }
    for bin in report.throughput.iter().flat_map(|load| &load.bins) {
        let counts = [bin.calls.to_string(), bin.errors.to_string()];
        line(&mut out, ["stretch", &bin.start, "", ""], counts, None);
    }
    for row in &report.errors {
        let names = ["code", &row.func, &row.rv_name, ""];
        line(
            &mut out,
            names,
            [row.count.to_string(), row.count.to_string()],
            None,
        );
    }
    for one in &report.findings {
        let names = ["finding", one.code, "", one.severity.name()];
        line(
            &mut out,
            names,
            [one.count.to_string(), String::new()],
            None,
        );
    }
    out
}

const QUANTILES: [&str; 5] = ["p50", "p90", "p95", "p99", "p99.9"];

fn line(out: &mut String, names: [&str; 4], counts: [String; 2], times: Option<&Times>) {
    let mut cells: Vec<String> = names.iter().map(|name| cell(name)).chain(counts).collect();
    let number = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    match times {
        Some(times) => {
            cells.push(times.n.to_string());
            cells.push(number(times.min_ns));
            cells.push(
                times
                    .mean_ns
                    .map_or_else(String::new, |mean| format!("{mean:.1}")),
            );
            cells.push(number(times.max_ns));
        }
        None => cells.extend([const { String::new() }; 4]),
    }
    for name in QUANTILES {
        let rows = times
            .map(|times| times.quantiles.as_slice())
            .unwrap_or_default();
        let found = rows.iter().find(|row: &&QuantileRow| row.name == name);
        let of = |part: fn(&QuantileRow) -> Option<u64>| number(found.and_then(part));
        cells.extend([of(|row| row.ns), of(|row| row.lo_ns), of(|row| row.hi_ns)]);
    }
    out.push_str(&cells.join(","));
    out.push_str("\r\n");
}

/// Quoted where it must be; a spreadsheet is not to take it for a formula.
pub(super) fn cell(text: &str) -> String {
    let guarded = match text.chars().next() {
        Some('=' | '+' | '-' | '@') => format!("'{text}"),
        _ => text.to_owned(),
    };
    match guarded.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", guarded.replace('"', "\"\"")),
        false => guarded,
    }
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn a_name_is_no_formula_and_stays_in_its_cell() {
        assert_eq!(cell("C_Sign"), "C_Sign");
        assert_eq!(cell("=1+1"), "'=1+1");
        assert_eq!(cell("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
