//! Messages that hold a name or a number somewhere.

use super::names::{by_name, nearest};
use super::number::Number;
use super::{Reading, SpellingError};
use crate::Named;

/// What a message holds, each once.
pub(super) struct Message<T> {
    names: Vec<T>,
    hexadecimal: Vec<T>,
    decimal: Vec<T>,
}

/// More distinct numbers than this in one message say nothing together.
const MOST_FOUND: usize = 16;

impl<T: Named> Message<T> {
    pub(super) fn of(text: &str) -> Self {
        let mut message = Self {
            names: Vec::new(),
            hexadecimal: Vec::new(),
            decimal: Vec::new(),
        };
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')));
        for word in words
            .map(|word| word.trim_end_matches('-'))
            .filter(|word| !word.is_empty())
        {
            message.word(word);
        }
        message
    }

    fn word(&mut self, word: &str) {
        let number = Number::read(word).or_else(|| Number::read(word.trim_start_matches('-')));
        if let Some(number) = number {
            let Ok(value) = number.value() else { return };
            let among = match number {
                Number::Hexadecimal(_) => &mut self.hexadecimal,
                Number::Decimal(_) | Number::Negative(_) => &mut self.decimal,
            };
            return note(among, T::from_number(value));
        }
        if let Some(value) = Some(word)
            .filter(|word| is_name_like::<T>(word))
            .and_then(by_name)
        {
            note(&mut self.names, value);
        }
    }

    pub(super) fn reading(self, text: &str) -> Result<Reading<T>, SpellingError> {
        let first = |among: &[T]| among.first().copied();
        match (
            self.names.as_slice(),
            self.hexadecimal.as_slice(),
            self.decimal.as_slice(),
        ) {
            ([name], numbers, _) => Ok(Reading {
                value: *name,
                // A number that does not belong to the name, unless it is one of several.
                other: first(numbers)
                    .filter(|other| numbers.len() == 1 && other != name && other.name().is_some()),
            }),
            ([], [number], _) | ([], [], [number]) => Ok(Reading::sure(*number)),
            ([], [], []) => Err(SpellingError::Unknown {
                kind: T::KIND,
                nearest: nearest::<T>(text),
            }),
            ([], [], several) | ([], several, _) | (several, _, _) => {
                Err(SpellingError::Ambiguous {
                    kind: T::KIND,
                    found: several.iter().map(ToString::to_string).collect(),
                })
            }
        }
    }
}

fn note<T: Named>(among: &mut Vec<T>, value: T) {
    if among.len() < MOST_FOUND && !among.contains(&value) {
        among.push(value);
    }
}

/// Whether a word in a sentence is meant as a name: with the prefix, or of several words written as one. Else
/// "ok" and "cancel" would be return codes wherever they occur.
fn is_name_like<T: Named>(word: &str) -> bool {
    let prefixed = word
        .get(..T::PREFIX.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(T::PREFIX));
    let inner = word.get(1..).unwrap_or_default();
    let camel = inner.bytes().any(|b| b.is_ascii_uppercase())
        && inner.bytes().any(|b| b.is_ascii_lowercase());
    prefixed || word.contains('_') || camel
}
