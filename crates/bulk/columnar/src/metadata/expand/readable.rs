//! Whether a text is one that a person would write: words, names and numbers, and nothing that looks encoded.

use std::collections::HashSet;

/// The length from which a run that is not a word counts as encoded: an int64 has 11 characters in base64.
const ENCODED: usize = 11;

/// As [`ENCODED`], of a run with the padding of base64.
const PADDED: usize = 6;

/// Digits of the longest number: those of an unsigned one of 64 bits.
const DIGITS: usize = 20;

/// Signs of a word in which punctuation is counted.
const PUNCTUATED: usize = 12;

/// Whether everything in a text is readable, or a name of a column.
pub(super) fn is_readable(text: &str, names: &HashSet<&str>) -> bool {
    let is_unprinted = |sign: char| sign.is_control() && !matches!(sign, '\t' | '\n' | '\r');
    let is_known = |run: Run<'_>| {
        let shortest = if run.is_padded { PADDED } else { ENCODED };
        run.text.len() < shortest || names.contains(run.text) || is_word(run.text)
    };
    let is_end = |sign: char| sign.is_whitespace() || "\"',:[]".contains(sign);
    !text.contains(is_unprinted)
        && !text.contains(char::REPLACEMENT_CHARACTER)
        && padded_runs(text).all(is_known)
        && !text.split(is_end).any(is_punctuated)
}

/// The longest parts of signs of base64 in either alphabet.
pub(super) fn runs(text: &str) -> impl Iterator<Item = &str> {
    padded_runs(text).map(|run| run.text)
}

struct Run<'t> {
    text: &'t str,
    /// Whether signs of equality follow that make its length one of base64.
    is_padded: bool,
}

fn padded_runs(text: &str) -> impl Iterator<Item = Run<'_>> {
    let is_own = |sign: char| sign.is_ascii_alphanumeric() || "+/-_".contains(sign);
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|sign| !is_own(sign));
        let end = rest.find(|sign| !is_own(sign)).unwrap_or(rest.len());
        let (text, behind) = rest.split_at_checked(end)?;
        rest = behind;
        let padding = behind.len() - behind.trim_start_matches('=').len();
        let is_padded = matches!(padding, 1..=2) && (text.len() + padding).is_multiple_of(4);
        (!text.is_empty()).then_some(Run { text, is_padded })
    })
}

/// Whether a word has punctuation as encodings with 85 or more signs have it.
fn is_punctuated(word: &str) -> bool {
    const SIGNS: &str = "!#$%()*+=?@^`{|}~\\";
    let count = word.chars().filter(|sign| SIGNS.contains(*sign)).count();
    let kinds = SIGNS.chars().filter(|sign| word.contains(*sign)).count();
    word.len() >= PUNCTUATED && kinds >= 3 && count * 8 >= word.len()
}

/// For each letter from A, those that often follow it in names of programs and in words of European languages.
const FOLLOWERS: [&str; 26] = [
    "bcdegiklmnprstuvxy",
    "aceilorsu",
    "acehiklorstu",
    "adeilostuy",
    "acdefgilmnopqrstuvwxy",
    "aefilorstu",
    "aeghilnrsu",
    "aeilnorstu",
    "abcdefgklmnoprstvxz",
    "",
    "ei",
    "adeilostuyz",
    "abeimopsuy",
    "acdefgiknopstuvy",
    "abcdefgilmnoprstuvw",
    "aeiloprstuy",
    "u",
    "acdegiklmnorstuvyz",
    "acehiklopstuy",
    "acdefhiloprstuyz",
    "abcefgilmnprst",
    "aei",
    "aeir",
    "eipt",
    "npst",
    "eiz",
];

/// What a run of signs is made of.
#[derive(Default)]
struct Counts {
    letters: usize,
    digits: usize,
    vowels: usize,
    /// Upper case in parts that have lower case too.
    upper: usize,
    /// Letters right behind a digit.
    behind_digits: usize,
    longest_number: usize,
    most_consonants: usize,
    /// Letters right behind a letter.
    pairs: usize,
    /// Those of them that often follow it.
    common_pairs: usize,
}

impl Counts {
    fn of(run: &str) -> Self {
        let mut counts = Self::default();
        for part in run.split(|sign: char| !sign.is_ascii_alphanumeric()) {
            counts.add(part);
        }
        counts
    }

    fn add(&mut self, part: &str) {
        let is_mixed = part.bytes().any(|byte| byte.is_ascii_lowercase());
        let (mut number, mut consonants) = (0, 0);
        for byte in part.bytes() {
            if byte.is_ascii_digit() {
                self.digits += 1;
                (number, consonants) = (number + 1, 0);
                self.longest_number = self.longest_number.max(number);
                continue;
            }
            self.letters += 1;
            self.behind_digits += usize::from(number > 0);
            self.upper += usize::from(is_mixed && byte.is_ascii_uppercase());
            let is_vowel = b"aeiouy".contains(&byte.to_ascii_lowercase());
            self.vowels += usize::from(is_vowel);
            (number, consonants) = (0, if is_vowel { 0 } else { consonants + 1 });
            self.most_consonants = self.most_consonants.max(consonants);
        }
        for letters in part.split(|sign: char| sign.is_ascii_digit()) {
            let letters = letters.bytes().map(|byte| byte.to_ascii_lowercase());
            for (first, second) in letters.clone().zip(letters.skip(1)) {
                let place = usize::from(first.saturating_sub(b'a'));
                let followers = FOLLOWERS.get(place).copied().unwrap_or_default();
                self.pairs += 1;
                self.common_pairs += usize::from(followers.as_bytes().contains(&second));
            }
        }
    }
}

/// Whether a run is made of numbers, or of words as they are joined in names: with vowels, letters in common
/// pairs, upper case at their beginnings, and digits behind.
fn is_word(run: &str) -> bool {
    let counts = Counts::of(run);
    if counts.longest_number > DIGITS {
        return false;
    }
    if counts.letters <= 2 {
        return true;
    }
    let has_few_digits = match counts.behind_digits {
        0 => counts.digits <= counts.letters * 3,
        _ => counts.digits * 3 <= counts.letters && counts.behind_digits * 6 <= counts.letters,
    };
    has_few_digits
        && counts.vowels * 5 >= counts.letters
        && counts.upper * 5 <= counts.letters * 2
        && counts.most_consonants <= 6
        && counts.common_pairs * 3 >= counts.pairs * 2
}

#[cfg(test)]
mod tests {
    use keywright_encoding::{base64, hex};

    use super::*;

    #[test]
    fn names_and_prose_are_readable() {
        for text in [
            "",
            "org.apache.spark.sql.parquet.row.metadata",
            "_PL_ENUM_VALUES2",
            "2024-01-02T10:00:00.123456Z",
            "America/Argentina/Buenos_Aires",
            "https://proj.org/schemas/v0.7/projjson.schema.json",
            "number_of_customers_2024, numberOfCustomers, NumberOfCustomersImpl, parseJSONText",
            "parquet-cpp-arrow version 26.0.0-SNAPSHOT",
            "{\"inverse_flattening\": 298.257223563, \"radius\": 6378137}",
            "Written by the nightly export; see the page about customers.",
            "Kundenverzeichnis f\u{FC}r M\u{FC}nchen",
            "4111-1111-1111-1111",
        ] {
            assert!(is_readable(text, &HashSet::new()), "{text}");
        }
    }

    #[test]
    fn encoded_runs_are_not_readable() {
        let (mut state, mut missed) = (1_u64, 0);
        for round in 0..2_000_usize {
            let bytes = std::iter::from_fn(|| {
                state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
                Some(state.to_be_bytes()[0])
            });
            let bytes: Vec<u8> = bytes.take(12 + round % 40).collect();
            let digits: Vec<u8> = bytes.iter().map(|byte| b'0' + byte % 10).collect();
            for text in [base64::encode(&digits), hex::encode(&digits)] {
                assert!(!is_readable(&text, &HashSet::new()), "{text}");
            }
            let text = base64::encode(&bytes);
            let run = text.trim_end_matches('=');
            missed += usize::from(is_readable(run, &HashSet::new()));
        }
        assert!(missed < 20, "{missed} of 2000");
        for text in [
            "bell\u{7}",
            "\u{80}",
            "\u{FFFD}",
            "a!b#c$d%e^f&g*h",
            "9xTq0bZk3LmV",
        ] {
            assert!(!is_readable(text, &HashSet::new()), "{text}");
        }
        let name = "col-5f422f40-de70-45b2-88ab-1d5c90e94db1";
        assert!(!is_readable(name, &HashSet::new()));
        assert!(is_readable(
            &format!("{{\"name\": \"{name}\"}}"),
            &HashSet::from([name])
        ));
    }
}
