//! Two results side by side.
//!
//! The mark of a case is the verdict of the comparison where the current document holds one. Otherwise it
//! follows from the difference alone, which says nothing about chance: it is then another word than a verdict
//! has, and the last line says so.
//!
//! Before the difference stands the sign that the token benchmark prints there, which scripts look for: a red or a
//! green circle. A row has it with the verdict of a regression or an improvement; where the verdict is left open,
//! if runs of both sides hardly overlap and the difference exceeds 5 %; without statistics, if the difference does.

use keywright_measure::Word;
use keywright_measure::document::{Case, Comparison, Document, Latency};

use super::table::{Table, named};
use crate::plain::{fitted, shown};
use crate::{describe, exports, number, quantile};

/// What a difference in throughput has to exceed to be marked when nothing else decides.
const MARKED: f64 = 0.05;
/// A large green circle.
const BETTER: &str = "\u{1F7E2}";
/// A large red circle.
const WORSE: &str = "\u{1F534}";

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
    let alone = exports::seed::is_figures_alone(baseline);
    for (now, then) in pairs.same.iter().chain(&pairs.renamed) {
        table.row(row(current, now, Other { then, alone }));
    }
    let lines = table.lines(|_, mark| mark.to_owned());
    let rule = "=".repeat(lines.get(1).map_or(0, String::len));
    let mut out = format!("{rule}\nBENCHMARK COMPARISON (Current vs Baseline)\n{rule}\n");
    out += &format!(
        "Baseline: {}\n{rule}\n{}\n{rule}\n",
        origin(baseline),
        lines.join("\n")
    );
    out += &format!("{BETTER} = Improvement >5%  |  {WORSE} = Regression >5%\n");
    out += &listed(&pairs);
    if current.comparison.iter().any(|one| one.verdict.is_some()) {
        out += "IMPROVED, REGRESSION: decided by interval, threshold and test over all cases together\n";
    }
    out + "faster, slower: differs by more than 5 %, without statistics and with no verdict: a difference alone \
           does not exclude chance\nof rates, above 0 % is faster\n"
}

/// A case of the baseline, and whether that has figures alone.
#[derive(Clone, Copy)]
struct Other<'a> {
    then: &'a Case,
    alone: bool,
}

fn row(current: &Document, now: &Case, other: Other<'_>) -> Vec<String> {
    let then = other.then;
    let (mine, theirs) = (other.value(now), other.value(then));
    let ratio = mine / theirs;
    // Of memory or the time of a start, less is better.
    let better = if now.figure.is_some() {
        1.0 / ratio
    } else {
        ratio
    };
    let (sign, word) = mark(current, now, better);
    let difference = if ratio.is_finite() {
        format!("{sign} {:+.1}%", (ratio - 1.0) * 100.0)
            .trim_start()
            .to_owned()
    } else {
        number::NONE.to_owned()
    };
    let shown =
        |case: &Case, rate: f64| describe::figure(case).unwrap_or_else(|| number::plain(rate));
    vec![
        named(now),
        shown(now, mine),
        shown(then, theirs),
        difference,
        p95(now.headline()),
        p95(then.headline()),
        word.to_owned(),
    ]
}

impl Other<'_> {
    /// The quantity, or the rate: as a baseline that has figures alone has it, where it is held against such a one.
    fn value(self, case: &Case) -> f64 {
        let rate = exports::seed::rate(case).filter(|_| self.alone && !case.runs.is_empty());
        case.figure.or(rate).unwrap_or(case.achieved_per_s)
    }
}

fn p95(times: Option<&Latency>) -> String {
    quantile::cell(times, "p95")
}

/// The sign and the word of a row.
fn mark(current: &Document, now: &Case, better: f64) -> (&'static str, &'static str) {
    let decided = current.comparison.iter().find(|comparison| {
        comparison.case == now.id
            && comparison.verdict.is_some()
            && matches!(comparison.metric.as_str(), "throughput" | "figure")
    });
    match decided.and_then(|one| Some((one, one.verdict?))) {
        Some((_, Word::Improved)) => (BETTER, Word::Improved.text()),
        Some((_, Word::Regression)) => (WORSE, Word::Regression.text()),
        Some((one, Word::Inconclusive)) => (beyond(one), Word::Inconclusive.text()),
        Some(_) => ("", "-"),
        None if better > 1.0 + MARKED => (BETTER, "faster"),
        None if better < 1.0 - MARKED => (WORSE, "slower"),
        None => ("", "-"),
    }
}

/// With this Cliff's delta nearly every run of one side is above nearly every run of the other: of seven runs on each
/// side by chance in one of a hundred comparisons. It does not depend on how far single runs are out.
const APART: f64 = 0.8;

/// The sign of a comparison whose verdict is left open, where runs of both sides hardly overlap.
fn beyond(comparison: &Comparison) -> &'static str {
    let (more, less) = match comparison.metric.as_str() {
        "throughput" => (BETTER, WORSE),
        _ => (WORSE, BETTER),
    };
    match comparison.delta {
        Some(delta) if delta >= APART && comparison.ratio > 1.0 + MARKED => more,
        Some(delta) if delta <= -APART && comparison.ratio < 1.0 - MARKED => less,
        _ => "",
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
