//! A result against a baseline: first whether the two may be compared at all, then what changed.
//!
//! A baseline with figures alone, as the published benchmark writes it, is shown beside the result with the
//! differences as they are. Whether one of them is more than chance cannot be known without its runs, so there
//! is no verdict and nothing ends with another code; whoever wants a code for a regression is told before the
//! measurement that such a file cannot give it.

use keywright_measure::Word;
use keywright_measure::compare::{self, Metric};
use keywright_measure::document::{Case, Comparison, Document, Remark};
use keywright_measure::gate::{self, Rules};
use keywright_report::comparability::Comparability;
use keywright_report::exports::seed;

use super::flags::JudgeFlags;
use crate::exit::{Exit, Failure};

/// What is compared: what users feel and what operators pay for.
const METRICS: [Metric; 2] = [Metric::Throughput, Metric::P50];

/// Runs of each case so that a comparison with this baseline can tell a difference from chance: as many as
/// `usual`, and more where the baseline has few runs or many cases are judged together. Where no reasonable
/// number would do, more runs are no help: it stays with the usual ones, and the comparison says what is missing.
pub(super) fn runs(baseline: &Document, ids: &[String], usual: u32) -> u32 {
    /// Three times the usual seven: enough for a baseline of three runs and fourteen rows.
    const MOST: u32 = 21;
    let shared = baseline.cases.iter().filter(|case| ids.contains(&case.id));
    let fewest = shared.clone().map(|case| case.runs.len()).min();
    let comparisons = shared.count() * METRICS.len();
    let decides = |runs: &u32| {
        let runs = usize::try_from(*runs).unwrap_or(usize::MAX);
        compare::can_decide(runs, fewest.unwrap_or(0), comparisons)
    };
    (usual..=MOST).find(decides).unwrap_or(usual)
}

/// Refuses a baseline that cannot decide what is asked, before anything is measured.
pub(super) fn check(baseline: &Document, judging: &JudgeFlags) -> Result<(), Failure> {
    if !judging.regression_fails() || !seed::is_figures_alone(baseline) {
        return Ok(());
    }
    Err(Failure::new(
        Exit::NotComparable,
        "the baseline has no runs, so that nothing can be called a regression",
        "measure a baseline with --format json or -o FILE.json, or leave out --fail-on-regression and --ci to see the differences",
    ))
}

/// Compares every case with the baseline's and writes words and remarks beside the cases.
pub(super) fn compare(
    document: &mut Document,
    baseline: &Document,
    name: &str,
    judging: &JudgeFlags,
) -> Result<Vec<Comparison>, Failure> {
    if seed::is_figures_alone(baseline) {
        return beside(document, baseline, name);
    }
    let comparability = Comparability::between(document, baseline);
    let differences = comparability.differences();
    if !differences.is_empty() && !judging.force {
        let listed: Vec<String> = differences
            .iter()
            .take(MOST_LISTED)
            .map(ToString::to_string)
            .collect();
        let more = differences.len().saturating_sub(MOST_LISTED);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        return Err(Failure::new(
            Exit::NotComparable,
            format!(
                "the baseline {name} is from elsewhere: {}{more}",
                listed.join("; ")
            ),
            "measure a baseline here with the same settings, or mark the result with --force",
        ));
    }
    let compared = compare::suite(&document.cases, (name, &baseline.cases), &METRICS);
    if compared.differences.is_empty()
        && document
            .cases
            .iter()
            .all(|case| baseline.cases.iter().all(|other| other.id != case.id))
    {
        return Err(nothing_shared(name));
    }
    let rules = Rules {
        threshold: judging.threshold,
        noise_percent: document.calibration.noise_percent,
    };
    let decided = gate::decide(&compared.differences, &rules);
    gate::mark(&mut document.cases, &decided, &compared.refused);
    for difference in differences {
        document.validity.push(Remark {
            word: Some(Word::NotComparable),
            case: difference.case.clone(),
            text: format!("compared all the same (--force): {difference}"),
            remedy: None,
        });
    }
    Ok(decided)
}

fn nothing_shared(name: &str) -> Failure {
    Failure::new(
        Exit::NotComparable,
        format!("the baseline {name} has none of these cases"),
        "measure a baseline of the same operations",
    )
}

/// The differences from a baseline that has figures alone.
fn beside(
    document: &mut Document,
    baseline: &Document,
    name: &str,
) -> Result<Vec<Comparison>, Failure> {
    let mut differences = Vec::new();
    for case in &document.cases {
        let names = [case.id.as_str(), seed::title(&case.id)];
        let mut others = baseline.cases.iter();
        let Some(other) = others.find(|other| names.contains(&other.id.as_str())) else {
            continue;
        };
        let both = |metric| Some((metric, figure(case, metric)?, figure(other, metric)?));
        let found = METRICS.into_iter().filter_map(both);
        differences.extend(found.map(|(metric, current, baseline)| Comparison {
            case: case.id.clone(),
            against: name.to_owned(),
            metric: metric.name().to_owned(),
            ratio: current / baseline,
            current,
            baseline,
            ..Comparison::default()
        }));
    }
    if differences.is_empty() {
        return Err(nothing_shared(name));
    }
    document.validity.push(Remark {
        text: format!(
            "the baseline {name} has figures without runs: the differences are given as they are, without statistics and verdicts"
        ),
        remedy: Some("measure a baseline with --format json or -o FILE.json".to_owned()),
        ..Remark::default()
    });
    Ok(differences)
}

/// A figure of a case as a whole.
fn figure(case: &Case, metric: Metric) -> Option<f64> {
    let value = match metric {
        // As such a baseline has it: of the time spent in the operations.
        Metric::Throughput => match case.runs.is_empty() {
            true => Some(case.achieved_per_s),
            false => seed::rate(case),
        },
        // Exact to 2^53 ns, which are a hundred days.
        _ => case.headline()?.quantile(metric.name())?.value.map(nanos),
    };
    value.filter(|value| value.is_finite() && *value > 0.0)
}

#[expect(clippy::cast_precision_loss, reason = "exact to a hundred days")]
const fn nanos(value: u64) -> f64 {
    value as f64
}

/// Differences named in an error; the rest is counted.
const MOST_LISTED: usize = 5;

#[cfg(test)]
mod tests {
    use keywright_measure::document::RunRecord;

    use super::*;

    fn baseline(cases: usize, runs: usize) -> (Document, Vec<String>) {
        let ids: Vec<String> = (0..cases).map(|case| format!("case {case}")).collect();
        let case = |id: &String| Case {
            id: id.clone(),
            runs: vec![RunRecord::default(); runs],
            ..Case::default()
        };
        let document = Document {
            cases: ids.iter().map(case).collect(),
            ..Document::default()
        };
        (document, ids)
    }

    #[test]
    fn as_many_runs_are_made_as_the_baseline_makes_necessary_and_the_usual_ones_if_none_would_do() {
        for (cases, before, now) in [
            (14, 7, 7),
            (14, 20, 7),
            // All operations of the table with a baseline of the usual runs.
            (45, 7, 8),
            (14, 5, 8),
            (14, 3, 17),
            (14, 2, 7),
            (14, 1, 7),
            (14, 0, 7),
            (0, 7, 7),
        ] {
            let (document, ids) = baseline(cases, before);
            assert_eq!(
                runs(&document, &ids, 7),
                now,
                "{cases} cases, {before} runs"
            );
        }
        let (document, _) = baseline(14, 5);
        assert_eq!(runs(&document, &["another".to_owned()], 7), 7);
    }
}
