//! A result against a baseline: first whether the two may be compared at all, then what changed.

use keywright_measure::Word;
use keywright_measure::compare::{self, Metric};
use keywright_measure::document::{Comparison, Document, Remark};
use keywright_measure::gate::{self, Rules};
use keywright_report::comparability::Comparability;

use super::flags::JudgeFlags;
use crate::exit::{Exit, Failure};

/// What is compared: what users feel and what operators pay for.
const METRICS: [Metric; 2] = [Metric::Throughput, Metric::P50];

/// Compares every case with the baseline's and writes words and remarks beside the cases.
pub(super) fn compare(
    document: &mut Document,
    baseline: &Document,
    name: &str,
    judging: &JudgeFlags,
) -> Result<Vec<Comparison>, Failure> {
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
        return Err(Failure::new(
            Exit::NotComparable,
            format!("the baseline {name} has none of these cases"),
            "measure a baseline of the same operations",
        ));
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

/// Differences named in an error; the rest is counted.
const MOST_LISTED: usize = 5;
