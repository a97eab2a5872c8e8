//! `postal`: postal codes by country, and `pattern`: letters and digits as they stand in an example. Both are
//! short for sequences of the same language, so there is one reader.

use super::{Codec, sequence};
use crate::arguments::Arguments;
use crate::error::{Error, Problem};
use crate::syntax;

/// Which codes a country uses: alternatives in the language itself.
///
/// Codes of few digits have sets below the floor; they are here for those who accept that by name.
fn structure(country: &str) -> Option<&'static str> {
    Some(match country {
        "AT" | "AU" | "BE" | "CH" | "DK" | "HU" | "NO" | "NZ" => "digit(4)",
        "BR" => r#"digit(5) "-" digit(3)"#,
        "CA" => {
            r#"class(ABCEGHJ-NPRSTVXY) digit class(ABCEGHJ-NPRSTV-Z) " " digit class(ABCEGHJ-NPRSTV-Z) digit"#
        }
        "CZ" | "SE" | "SK" => r#"digit(3) " " digit(2)"#,
        "DE" | "ES" | "FI" | "FR" | "IT" | "MX" => "digit(5)",
        "GB" => {
            r#"upper digit " " digit upper(2) | upper digit(2) " " digit upper(2) | upper(2) digit " " digit upper(2) | upper(2) digit(2) " " digit upper(2) | upper digit upper " " digit upper(2) | upper(2) digit upper " " digit upper(2)"#
        }
        "IE" => r#"upper digit(2) " " upnum(4)"#,
        "IN" => "digit(6)",
        "JP" => r#"digit(3) "-" digit(4)"#,
        "NL" => r#"class(1-9) digit(3) " " upper(2)"#,
        "PL" => r#"digit(2) "-" digit(3)"#,
        "PT" => r#"digit(4) "-" digit(3)"#,
        "US" => r#"digit(5) | digit(5) "-" digit(4)"#,
        _ => return None,
    })
}

pub(crate) fn build(arguments: &mut Arguments<'_>) -> Result<Vec<Box<dyn Codec>>, Error> {
    let text = arguments.read("country", None, |country| {
        let text = structure(country).ok_or(Problem::Country)?;
        Ok((text, country.to_owned()))
    })?;
    choice(text)
}

/// Alternatives exclude each other: the tables are held to it by a test, a pattern has only one.
fn choice(text: &str) -> Result<Vec<Box<dyn Codec>>, Error> {
    let mut sequences: Vec<Box<dyn Codec>> = Vec::new();
    for terms in syntax::parse(text)? {
        sequences.push(Box::new(sequence::build(&terms)?.0));
    }
    Ok(sequences)
}

/// `pattern`: 9 is a digit, A an upper-case and a a lower-case letter, X an upper-case letter or a digit; a
/// backslash takes the next character as it is.
pub(crate) fn build_pattern(arguments: &mut Arguments<'_>) -> Result<Vec<Box<dyn Codec>>, Error> {
    let terms = arguments.read("form", None, |form| {
        let terms = expand(form)?;
        Ok((terms, form.to_owned()))
    })?;
    let keep_first = arguments.count("first", "0", 0..=64)?;
    let keep_last = arguments.count("last", "0", 0..=64)?;
    let all = terms
        .iter()
        .filter(|term| matches!(term, Symbol::Class(_)))
        .count();
    if keep_first + keep_last >= all {
        return Err(Error::at(arguments.at(), Problem::NothingFree));
    }
    let free = keep_first..all - keep_last;
    let mut count = 0;
    let mut text = String::new();
    for term in terms {
        match term {
            Symbol::Class(name) => {
                let keep = if free.contains(&count) {
                    ""
                } else {
                    "(keep=all)"
                };
                text.push_str(&format!("{name}{keep} "));
                count += 1;
            }
            Symbol::Fixed(character) => {
                text.push_str(&syntax::quoted(&character.to_string()));
                text.push(' ');
            }
        }
    }
    choice(&text)
}

enum Symbol {
    Class(&'static str),
    Fixed(char),
}

fn expand(form: &str) -> Result<Vec<Symbol>, Problem> {
    let mut symbols = Vec::new();
    let mut characters = form.chars();
    while let Some(character) = characters.next() {
        symbols.push(match character {
            '9' => Symbol::Class("digit"),
            'A' => Symbol::Class("upper"),
            'a' => Symbol::Class("lower"),
            'X' => Symbol::Class("upnum"),
            '\\' => Symbol::Fixed(
                characters
                    .next()
                    .ok_or(Problem::Expected("a character after \\"))?,
            ),
            other if other.is_alphanumeric() => {
                return Err(Problem::Expected(
                    "9, A, a, X, punctuation, or \\ before other letters and digits",
                ));
            }
            other => Symbol::Fixed(other),
        });
        if symbols.len() > 256 {
            return Err(Problem::TooLong(256));
        }
    }
    Ok(symbols)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_alternatives_of_a_country_exclude_each_other() {
        for first in b'A'..=b'Z' {
            for second in b'A'..=b'Z' {
                let country = String::from_utf8(vec![first, second]).unwrap();
                let Some(text) = structure(&country) else {
                    continue;
                };
                let sequences: Vec<_> = syntax::parse(text)
                    .unwrap()
                    .iter()
                    .map(|terms| sequence::build(terms).unwrap().0)
                    .collect();
                for (place, sequence) in sequences.iter().enumerate() {
                    for other in sequences.iter().take(place) {
                        assert!(sequence.outline().excludes(&other.outline()), "{country}");
                    }
                }
            }
        }
    }
}
