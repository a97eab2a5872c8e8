//! Two results side by side.
//!
//! The mark of a case is the verdict of the comparison where the current document holds one. Otherwise it
//! follows from the difference alone, which says nothing about chance: it is then another word than a verdict
//! has, and the last line says so.

use keywright_measure::Word;
use keywright_measure::document::{Case, Document, Latency};

use super::table::{Table, named};
use crate::plain::{fitted, shown};
use crate::{describe, exports, number, quantile};

/// What a difference in throughput has to exceed to be marked when nothing else decides.
const MARKED: f64 = 0.05;

/// Throughput and p95 of the cases of `current` against those of `baseline`, marked with the verdict, or with
/// `faster` or `slower` where there is none; then new, missing and renamed cases.
#[must_use]
pub fn comparison_table(current: &Document, baseline: &Document) -> String {
    let pairs = Pairs::of(current, baseline);
    let mut table = Table::new(&[
        "Operation",
        "Current",
        "Baseline",
        "Diff %",
        "P95 Cur",
        "P95 Base",
        "Mark",
    ]);
    for (now, then) in pairs.same.iter().chain(&pairs.renamed) {
        table.row(row(current, now, then));
    }
    let lines = table.lines(|_, mark| mark.to_owned());
    let rule = "=".repeat(lines.get(1).map_or(0, String::len));
    let mut out = format!("{rule}\nBENCHMARK COMPARISON (Current vs Baseline)\n{rule}\n");
    out += &format!(
        "Baseline: {}\n{rule}\n{}\n{rule}\n",
        origin(baseline),
        lines.join("\n")
    );
    out += &listed(&pairs);
    if current.comparison.iter().any(|one| one.verdict.is_some()) {
        out += "IMPROVED, REGRESSION: decided by interval, threshold and test over all cases together\n";
    }
    out + "faster, slower: differs by more than 5 %, without statistics and with no verdict: a difference alone \
           does not exclude chance\nof rates, above 0 % is faster\n"
}

fn row(current: &Document, now: &Case, then: &Case) -> Vec<String> {
    let ratio = value(now) / value(then);
    let difference = if ratio.is_finite() {
        format!("{:+.1} %", (ratio - 1.0) * 100.0)
    } else {
        number::NONE.to_owned()
    };
    // Of memory or the time of a start, less is better.
    let better = if now.figure.is_some() {
        1.0 / ratio
    } else {
        ratio
    };
    let shown =
        |case: &Case| describe::figure(case).unwrap_or_else(|| number::plain(case.achieved_per_s));
    vec![
        named(now),
        shown(now),
        shown(then),
        difference,
        p95(now.headline()),
        p95(then.headline()),
        mark(current, now, better).to_owned(),
    ]
}

/// The quantity, or the rate.
fn value(case: &Case) -> f64 {
    case.figure.unwrap_or(case.achieved_per_s)
}

fn p95(times: Option<&Latency>) -> String {
    quantile::cell(times, "p95")
}

fn mark(current: &Document, now: &Case, better: f64) -> &'static str {
    let decided = current
        .comparison
        .iter()
        .filter(|comparison| {
            comparison.case == now.id
                && matches!(comparison.metric.as_str(), "throughput" | "figure")
        })
        .find_map(|comparison| comparison.verdict);
    match decided {
        Some(Word::Improved) => Word::Improved.text(),
        Some(Word::Regression) => Word::Regression.text(),
        Some(Word::Inconclusive) => Word::Inconclusive.text(),
        Some(_) => "-",
        None if better > 1.0 + MARKED => "faster",
        None if better < 1.0 - MARKED => "slower",
        None => "-",
    }
}

/// When and on what the baseline was measured.
fn origin(baseline: &Document) -> String {
    let target = baseline
        .cases
        .first()
        .map_or("", |case| case.target.as_str());
    let parts = [
        baseline.run.started.as_str(),
        target,
        &baseline.environment.cpu,
        &baseline.run.id,
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .map(shown)
        .collect();
    if parts.is_empty() {
        number::NONE.to_owned()
    } else {
        parts.join(" | ")
    }
}

fn listed(pairs: &Pairs<'_>) -> String {
    let mut out = String::new();
    for (now, then) in &pairs.renamed {
        out += &format!("Renamed: {} was {}\n", named(now), fitted(&then.id, 56));
    }
    for case in &pairs.new {
        out += &format!("New: {}\n", named(case));
    }
    for case in &pairs.missing {
        out += &format!("Missing: {}\n", named(case));
    }
    out
}

/// Which case is which.
struct Pairs<'a> {
    same: Vec<(&'a Case, &'a Case)>,
    renamed: Vec<(&'a Case, &'a Case)>,
    new: Vec<&'a Case>,
    missing: Vec<&'a Case>,
}

impl<'a> Pairs<'a> {
    fn of(current: &'a Document, baseline: &'a Document) -> Self {
        let measured = |document: &'a Document| -> Vec<&'a Case> {
            document
                .cases
                .iter()
                .filter(|case| !describe::is_model_only(case))
                .collect()
        };
        let mut missing = measured(baseline);
        let mut pairs = Self {
            same: Vec::new(),
            renamed: Vec::new(),
            new: Vec::new(),
            missing: Vec::new(),
        };
        for case in measured(current) {
            let of = |name: &str| missing.iter().position(|then| then.id == name);
            match of(&case.id).or_else(|| of(exports::seed::title(&case.id))) {
                Some(place) => pairs.same.push((case, missing.remove(place))),
                None => pairs.new.push(case),
            }
        }
        // A name may only be taken over where exactly one case on either side could be meant.
        for case in std::mem::take(&mut pairs.new) {
            let mut meant = missing
                .iter()
                .enumerate()
                .filter(|(_, then)| is_renamed(case, then));
            match (meant.next(), meant.next()) {
                (Some((place, _)), None) => pairs.renamed.push((case, missing.remove(place))),
                _ => pairs.new.push(case),
            }
        }
        pairs.missing = missing;
        pairs
    }
}

/// The same operation on the same target with the same parameters, or a name that differs only in
/// capitals and punctuation, as `P256` from `P-256`.
fn is_renamed(now: &Case, then: &Case) -> bool {
    let parameters = !now.parameters.is_empty()
        && now.op == then.op
        && now.target == then.target
        && now.parameters == then.parameters
        && now.load == then.load;
    let letters_of_now = letters(&now.id);
    parameters || (!letters_of_now.is_empty() && letters_of_now == letters(&then.id))
}

fn letters(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}
