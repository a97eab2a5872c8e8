//! OpenMetrics text: gauges and counters with the case as a label.
//!
//! The verdict is a metric of its own, so that an alert can exclude what cannot be quoted; quantiles carry
//! in a label whether they are the figure or a bound of it.

use keywright_measure::document::{Case, Document, Latency};

use crate::{number, outcome, quantile};

/// Every case. Ends with `# EOF` as the form demands.
#[must_use]
pub fn openmetrics(document: &Document) -> String {
    let mut out = String::new();
    values(&mut out, document);
    operations(&mut out, document);
    latencies(&mut out, document);
    verdicts(&mut out, document);
    out + "# EOF\n"
}

/// Rates, and quantities that are none.
fn values(out: &mut String, document: &Document) {
    let name = "keywright_bench_achieved";
    family(
        out,
        [name, "gauge", "Units done a second, median over runs."],
    );
    for case in document.cases.iter().filter(|case| case.figure.is_none()) {
        sample(out, name, &labels(document, case, &[]), case.achieved_per_s);
    }
    let name = "keywright_bench_figure";
    family(
        out,
        [
            name,
            "gauge",
            "Quantities that are no rate, in the unit of the label.",
        ],
    );
    for case in &document.cases {
        let labels = labels(document, case, &[("in", &case.unit)]);
        sample(out, name, &labels, case.figure.unwrap_or(f64::NAN));
    }
}

fn operations(out: &mut String, document: &Document) {
    let name = "keywright_bench_operations";
    family(out, [name, "counter", "Operations by where they ended."]);
    for case in &document.cases {
        for (outcome, n) in ends(case) {
            let labels = labels(document, case, &[("outcome", outcome)]);
            sample(
                out,
                "keywright_bench_operations_total",
                &labels,
                number::float(n),
            );
        }
    }
}

fn latencies(out: &mut String, document: &Document) {
    let name = "keywright_bench_latency_seconds";
    let help =
        "Quantiles of times; bound says whether the value is the quantile or a lower bound of it.";
    family(out, [name, "gauge", help]);
    *out += &format!("# UNIT {name} seconds\n");
    for case in &document.cases {
        for (kind, latency) in [("response", &case.response), ("service", &case.service)] {
            if let Some(latency) = latency {
                quantiles(out, document, (case, kind), latency);
            }
        }
    }
}

fn verdicts(out: &mut String, document: &Document) {
    family(
        out,
        ["keywright_bench_verdict", "info", "Words about each case."],
    );
    for case in &document.cases {
        for word in outcome::words(case) {
            let labels = labels(document, case, &[("verdict", word.text())]);
            sample(out, "keywright_bench_verdict_info", &labels, 1.0);
        }
    }
}

fn quantiles(out: &mut String, document: &Document, about: (&Case, &str), latency: &Latency) {
    let (case, kind) = about;
    for (_, level, quantile) in quantile::sorted(latency) {
        let Some(ns) = quantile::nanoseconds(quantile) else {
            continue;
        };
        // 99.9 / 100 is not 0.999 in binary; twelve decimals are, as far as they go.
        let level = format!("{level:.12}");
        let level = level.trim_end_matches('0');
        let more = [
            ("kind", kind),
            ("quantile", level),
            ("bound", quantile::bound(quantile.bound)),
        ];
        sample(
            out,
            "keywright_bench_latency_seconds",
            &labels(document, case, &more),
            ns / 1e9,
        );
    }
}

/// Name, type and help of a family of samples.
fn family(out: &mut String, [name, kind, help]: [&str; 3]) {
    *out += &format!("# TYPE {name} {kind}\n# HELP {name} {help}\n");
}

/// A sample; what is not finite is left out rather than said.
fn sample(out: &mut String, name: &str, labels: &str, value: f64) {
    if value.is_finite() {
        *out += &format!("{name}{{{labels}}} {value}\n");
    }
}

fn labels(document: &Document, case: &Case, more: &[(&str, &str)]) -> String {
    let about = [
        ("run", document.run.id.as_str()),
        ("case", case.id.as_str()),
        ("op", case.op.as_str()),
        ("target", case.target.as_str()),
    ];
    let all = about.iter().chain(more);
    let labels: Vec<String> = all
        .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
        .collect();
    labels.join(",")
}

fn escaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '\\' => out += "\\\\",
            '"' => out += "\\\"",
            '\n' => out += "\\n",
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

fn ends(case: &Case) -> [(&'static str, u64); 7] {
    let counts = &case.counts;
    [
        ("never_sent", counts.never_sent),
        ("verified", counts.verified),
        ("unverified", counts.unverified),
        ("wrong", counts.wrong),
        ("error", counts.error),
        ("timeout", counts.timeout),
        ("censored", counts.censored),
    ]
}
