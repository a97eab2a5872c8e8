//! Formats that a sample of a column fits.
//!
//! Suggestions are for a person to judge. They hold no value and no bound taken from one: ranges of numbers
//! are powers of ten, patterns say letter or digit.

use crate::cells::Cells;
use crate::format::Format;

/// A format, and how much of the sample fits it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Suggestion {
    /// The format.
    pub format: Format,
    /// Values that fit.
    pub fits: usize,
    /// Values looked at: the cells that are not empty.
    pub of: usize,
}

/// What is tried, the more telling first.
const CANDIDATES: [&str; 24] = [
    "card",
    "iban",
    "ssn",
    "uuid",
    "uuid(version=any)",
    "email",
    "email(case=mixed)",
    "phone",
    "ipv4",
    "ipv6",
    "mac",
    "mac(separator=hyphen, case=upper)",
    "date",
    "datetime",
    r#"datetime(form="YYYY-MM-DD hh:mm:ss")"#,
    r#"date(form="DD.MM.YYYY")"#,
    r#"date(form="MM/DD/YYYY")"#,
    "time",
    "postal(country=CA)",
    "postal(country=GB)",
    "postal(country=NL)",
    "decimal(min=-9999999999.99, max=9999999999.99)",
    "int(min=-999999999999999999, max=999999999999999999)",
    "text(alphabet=latin, delims=\" -'.\")",
];

/// Formats that nine of ten values fit, the best first.
#[must_use]
pub fn suggest(sample: Cells<'_>) -> Vec<Suggestion> {
    let values: Vec<&[u8]> = (0..sample.len())
        .map(|row| sample.get(row))
        .filter(|value| !value.is_empty())
        .collect();
    let pattern = pattern(&values);
    let texts = CANDIDATES.iter().copied().chain(pattern.as_deref());
    let mut suggestions: Vec<Suggestion> = texts
        .filter_map(|text| Format::parse(text).ok())
        .map(|format| {
            let mut checker = format.checker();
            let fits = values
                .iter()
                .filter(|value| checker.check(value).is_ok())
                .count();
            Suggestion {
                format: format.clone(),
                fits,
                of: values.len(),
            }
        })
        .filter(|found| found.of > 0 && found.fits * 10 >= found.of * 9)
        .collect();
    // Stable: among equals the more telling stays first.
    suggestions.sort_by_key(|found| found.of - found.fits);
    suggestions
}

/// The pattern of the first value, for values of its length.
fn pattern(values: &[&[u8]]) -> Option<String> {
    let first = values.first().filter(|value| value.len() <= 64)?;
    let mut form = String::from("pattern(\"");
    for byte in *first {
        match byte {
            b'0'..=b'9' => form.push('9'),
            b'A'..=b'Z' => form.push('A'),
            b'a'..=b'z' => form.push('a'),
            b'"' | b'\\' => return None,
            byte if byte.is_ascii_punctuation() || *byte == b' ' => form.push(char::from(*byte)),
            _ => return None,
        }
    }
    form.push_str("\")");
    Some(form)
}
