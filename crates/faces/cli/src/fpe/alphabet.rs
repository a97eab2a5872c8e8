//! Alphabets by name or by their symbols.

use keywright_fpe::{Alphabet, Radix};

use super::refused::refused;
use crate::exit::{Exit, Failure};

/// What values are made of.
pub(super) enum Chosen {
    Alphabet(Alphabet),
    Numerals(u32),
}

impl Chosen {
    pub(super) fn radix(&self) -> Result<Radix, Failure> {
        let radix = match self {
            Self::Alphabet(alphabet) => alphabet.symbols(),
            Self::Numerals(radix) => *radix,
        };
        Radix::new(radix).map_err(refused)
    }
}

const NAMED: [(&str, &Alphabet); 18] = [
    ("digits", Alphabet::DIGITS),
    ("bits", Alphabet::BITS),
    ("hex-lower", Alphabet::HEX_LOWER),
    ("hex-upper", Alphabet::HEX_UPPER),
    ("lower", Alphabet::LOWER),
    ("upper", Alphabet::UPPER),
    ("base26", Alphabet::BASE26),
    ("base32", Alphabet::BASE32),
    ("base36-lower", Alphabet::BASE36_LOWER),
    ("base36-upper", Alphabet::BASE36_UPPER),
    ("base45", Alphabet::BASE45),
    ("base62", Alphabet::BASE62),
    ("base62-lower-first", Alphabet::BASE62_LOWER_FIRST),
    ("base64", Alphabet::BASE64),
    ("base64-url", Alphabet::BASE64_URL),
    ("base64-acvp", Alphabet::BASE64_ACVP),
    ("visible", Alphabet::VISIBLE),
    ("printable", Alphabet::PRINTABLE),
];

/// Before symbols that could be taken for a name.
const SYMBOLS: &str = "symbols:";

/// The alphabet of this name, or of these symbols. What looks like a name and is none is not taken for
/// symbols: `base63` would be an alphabet of six letters.
pub(super) fn choose(text: &str) -> Result<Alphabet, Failure> {
    if let Some((_, alphabet)) = NAMED.iter().find(|(name, _)| *name == text) {
        return Ok((*alphabet).clone());
    }
    let symbols = match text.strip_prefix(SYMBOLS) {
        Some(symbols) => symbols,
        None => {
            let near = mistaken(text);
            if !near.is_empty() {
                return Err(Failure::new(
                    Exit::Usage,
                    format!("there is no alphabet {text}"),
                    format!(
                        "did you mean {}? for these symbols themselves: --alphabet {SYMBOLS}{text}",
                        near.join(" or ")
                    ),
                ));
            }
            text
        }
    };
    Alphabet::new(symbols).map_err(refused)
}

/// The shortest word that is looked for inside of names.
const SHORTEST_PART: usize = 3;

/// Names that may have been meant.
fn mistaken(text: &str) -> Vec<&'static str> {
    let mut bytes = text.bytes();
    let is_word = bytes.next().is_some_and(|byte| byte.is_ascii_lowercase())
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if !is_word {
        return Vec::new();
    }
    let mut near: Vec<(usize, &'static str)> = NAMED
        .iter()
        .filter_map(|(name, _)| {
            let distance = strsim::osa_distance(text, name);
            let tolerated = (text.len().max(name.len()) / 3).max(1);
            let within = text.len() >= SHORTEST_PART && name.contains(text);
            (distance <= tolerated || within).then_some((distance, *name))
        })
        .collect();
    near.sort_unstable();
    near.into_iter().take(3).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_alphabets_and_anything_else_is_its_symbols() {
        for (name, alphabet) in NAMED {
            assert_eq!(choose(name).unwrap(), *alphabet, "{name}");
        }
        for (text, symbols) in [
            ("0123456789abcdef", 16),
            ("zyxwv", 5),
            ("äöü", 3),
            ("symbols:base", 4),
            ("symbols:01", 2),
            ("01", 2),
        ] {
            assert_eq!(choose(text).unwrap().symbols(), symbols, "{text}");
        }
    }

    #[test]
    fn what_is_nearly_a_name_or_no_alphabet_is_refused() {
        for text in [
            "base63",
            "base",
            "digit",
            "hex",
            "base36",
            "printible",
            "",
            "a",
            "aa",
            "0120",
            "symbols:",
            "symbols:base62base62",
        ] {
            assert!(choose(text).is_err(), "{text}");
        }
    }
}
