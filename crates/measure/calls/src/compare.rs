//! Two logs held against each other.
//!
//! Two latencies differ where their 95 % intervals do not touch. That says that these two logs differ; whether two
//! versions of a program do is for the measurement engine, which runs them in turns.

use serde::Serialize;

use crate::finding::Finding;
use crate::report::{QuantileRow, Report};

/// What a comparison of one figure says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "there is no fourth")]
pub enum Verdict {
    /// The second is less.
    Faster,
    /// The intervals touch.
    NoDifference,
    /// The second is more.
    Slower,
}

impl Verdict {
    /// In words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::NoDifference => "no difference shown",
            Self::Slower => "slower",
        }
    }
}

/// A quantile in both logs.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct Change {
    pub operation: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mechanism: Option<String>,
    pub quantile: String,
    pub before: QuantileRow,
    pub before_n: u64,
    pub after: QuantileRow,
    pub after_n: u64,
    /// After over before.
    pub ratio: f64,
    pub verdict: Verdict,
}

/// Two logs.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct Comparison {
    pub before_calls: u64,
    pub after_calls: u64,
    pub before_calls_per_operation: Option<f64>,
    pub after_calls_per_operation: Option<f64>,
    pub before_success_rate: Option<f64>,
    pub after_success_rate: Option<f64>,
    /// Of operations that both logs have, p50 and p99.
    pub changes: Vec<Change>,
    /// Functions that only the first log has.
    pub functions_gone: Vec<String>,
    /// Functions that only the second log has.
    pub functions_new: Vec<String>,
    /// Findings of the second log whose code the first does not have.
    pub new_findings: Vec<Finding>,
    /// Codes of findings that the second log does not have.
    pub gone_findings: Vec<&'static str>,
}

/// Holds `after` against `before`.
#[must_use]
pub fn compare(before: &Report, after: &Report) -> Comparison {
    let names = |report: &Report, other: &Report| {
        let only = report.by_function.keys();
        only.filter(|name| !other.by_function.contains_key(*name))
            .cloned()
            .collect()
    };
    let has = |report: &Report, code: &str| report.findings.iter().any(|one| one.code == code);
    let new = after.findings.iter().filter(|one| !has(before, one.code));
    let gone = before.findings.iter().filter(|one| !has(after, one.code));
    let mut gone: Vec<_> = gone.map(|one| one.code).collect();
    gone.dedup();
    Comparison {
        before_calls: before.total_ops,
        after_calls: after.total_ops,
        before_calls_per_operation: before.ratios.calls_per_operation,
        after_calls_per_operation: after.ratios.calls_per_operation,
        before_success_rate: before.success_rate,
        after_success_rate: after.success_rate,
        changes: changes(before, after),
        functions_gone: names(before, after),
        functions_new: names(after, before),
        new_findings: new.cloned().collect(),
        gone_findings: gone,
    }
}

fn changes(before: &Report, after: &Report) -> Vec<Change> {
    let mut changes = Vec::new();
    for row in &before.operations {
        let mut twins = after.operations.iter();
        let twin =
            twins.find(|one| one.operation == row.operation && one.mechanism == row.mechanism);
        let Some(twin) = twin else { continue };
        let pairs = row.times.quantiles.iter().zip(&twin.times.quantiles);
        for (old, new) in pairs.filter(|(old, _)| matches!(old.name.as_str(), "p50" | "p99")) {
            let Some((a, b)) = old.ns.zip(new.ns) else {
                continue;
            };
            changes.push(Change {
                operation: row.operation.to_owned(),
                mechanism: row.mechanism.clone(),
                quantile: old.name.clone(),
                before: old.clone(),
                before_n: row.times.n,
                after: new.clone(),
                after_n: twin.times.n,
                ratio: b as f64 / a.max(1) as f64,
                verdict: verdict(old, new),
            });
        }
    }
    changes
}

fn verdict(old: &QuantileRow, new: &QuantileRow) -> Verdict {
    let above =
        |low: Option<u64>, high: Option<u64>| low.zip(high).is_some_and(|(low, high)| low > high);
    if above(new.lo_ns, old.hi_ns) {
        Verdict::Slower
    } else if above(old.lo_ns, new.hi_ns) {
        Verdict::Faster
    } else {
        Verdict::NoDifference
    }
}
