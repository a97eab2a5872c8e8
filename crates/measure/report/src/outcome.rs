//! What the words of a case allow to be done with its figures.

use keywright_measure::document::Case;
use keywright_measure::{Exit, Word};

/// Whether the case's figures can be quoted without the verdict beside them: nothing says that the
/// measurement does not mean what it was asked to mean, that outputs were wrong, or that it was cut short.
#[must_use]
pub fn quotable(case: &Case) -> bool {
    case.verdicts.iter().all(|word| {
        !matches!(
            word.exit(),
            Exit::MeasurementInvalid | Exit::TargetWrong | Exit::Interrupted
        )
    })
}

/// The words of a case, each once, in the order in which they decide; VALID where there is none.
pub(crate) fn words(case: &Case) -> Vec<Word> {
    let mut words = case.verdicts.clone();
    words.sort_unstable();
    words.dedup();
    if words.iter().all(|word| word.is_fact()) {
        words.insert(0, Word::Valid);
    }
    words
}

/// Every word with how many of the cases it decides, in order.
pub(crate) fn decided(cases: &[&Case]) -> Vec<(Word, usize)> {
    let first = |case: &Case| words(case).first().copied();
    Word::ALL
        .into_iter()
        .map(|word| {
            (
                word,
                cases
                    .iter()
                    .filter(|case| first(case) == Some(word))
                    .count(),
            )
        })
        .filter(|(_, n)| *n > 0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(verdicts: &[Word]) -> Case {
        Case {
            verdicts: verdicts.to_vec(),
            ..Case::default()
        }
    }

    #[test]
    fn what_is_invalid_wrong_or_cut_short_is_not_quoted() {
        for word in [
            Word::Saturated,
            Word::WrongOutput,
            Word::Interrupted,
            Word::AccountingBroken,
        ] {
            assert!(!quotable(&case(&[Word::Valid, word])), "{word}");
        }
        assert!(quotable(&case(&[
            Word::Valid,
            Word::SingleRun,
            Word::Noisy
        ])));
    }

    #[test]
    fn facts_alone_stand_beside_valid() {
        assert_eq!(
            words(&case(&[Word::SingleRun])),
            [Word::Valid, Word::SingleRun]
        );
        assert_eq!(words(&case(&[Word::Noisy, Word::Noisy])), [Word::Noisy]);
        assert_eq!(words(&case(&[])), [Word::Valid]);
    }
}
