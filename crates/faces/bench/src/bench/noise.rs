//! `--noise-threshold`: the limit for fixed work beside a case, where the one that cases are usually held to
//! is not the right one.

use keywright_measure::document::{Case, Remark};
use keywright_measure::{Exit as End, Word};

use super::flags::JudgeFlags;

/// Calls the case NOISY, or no longer, by a limit of its own. A case without figures of the machine stays as
/// it is.
pub(super) fn judge(case: &mut Case, limit: f64) {
    let Some(percent) = case.checks.noise_percent else {
        return;
    };
    let was = case.verdicts.contains(&Word::Noisy);
    let is = percent > limit * 100.0;
    if was && !is {
        case.verdicts.retain(|word| *word != Word::Noisy);
        case.validity
            .retain(|remark| remark.word != Some(Word::Noisy));
        if case.verdicts.iter().all(|word| word.is_fact()) {
            case.verdicts.push(Word::Valid);
        }
    }
    if is && !was {
        case.verdicts.retain(|word| *word != Word::Valid);
        case.verdicts.push(Word::Noisy);
        case.validity.push(Remark {
            word: Some(Word::Noisy),
            case: Some(case.id.clone()),
            text: format!(
                "fixed work varied by {percent:.1} % beside this case, and {:.1} % were allowed",
                limit * 100.0
            ),
            remedy: Some("see what else runs here: keywright bench doctor".to_owned()),
        });
    }
    case.verdicts.sort_unstable();
    case.verdicts.dedup();
}

/// How a case ends the program by its noise. Whoever sets a limit depends on it.
pub(super) fn exit_of(case: &Case, judging: Option<&JudgeFlags>) -> End {
    let limited = judging.is_some_and(|judging| judging.noise_threshold.is_some());
    if limited && case.verdicts.contains(&Word::Noisy) {
        End::Inconclusive
    } else {
        End::Ok
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(percent: Option<f64>, verdicts: &[Word]) -> Case {
        let mut case = Case {
            verdicts: verdicts.to_vec(),
            ..Case::default()
        };
        case.checks.noise_percent = percent;
        case
    }

    #[test]
    fn a_case_is_noisy_above_the_limit_that_was_given_and_nowhere_else() {
        for (percent, before, limit, after) in [
            (Some(5.0), vec![Word::Valid], 0.03, vec![Word::Noisy]),
            (Some(5.0), vec![Word::Valid], 0.05, vec![Word::Valid]),
            (Some(12.0), vec![Word::Noisy], 0.2, vec![Word::Valid]),
            (Some(12.0), vec![Word::Noisy], 0.1, vec![Word::Noisy]),
            (None, vec![Word::Valid], 0.0, vec![Word::Valid]),
            (
                Some(30.0),
                vec![Word::SloMissed, Word::Noisy],
                0.5,
                vec![Word::SloMissed],
            ),
        ] {
            let mut case = case(percent, &before);
            judge(&mut case, limit);
            assert_eq!(case.verdicts, after, "{percent:?} {limit}");
            // Judged twice it says nothing twice.
            let once = case.validity.len();
            judge(&mut case, limit);
            assert_eq!((case.verdicts, case.validity.len()), (after, once));
        }
    }
}
