//! The value: read, taken apart into numerals, and wiped.

use std::io::Read as _;
use std::path::Path;

use keywright_secret::{SecretBytes, wipe_vec};
use serde::Serialize;

use crate::exit::{Exit, Failure};

/// The longest value that is read: the most numerals that FF1 takes, of the most digits.
const LONGEST: usize = 8 << 20;

/// A text that is wiped.
pub(super) struct Value(SecretBytes);

impl Value {
    /// The one that was given, or standard input.
    pub(super) fn read(given: &[String]) -> Result<Self, Failure> {
        match given {
            [word] if word == "-" => Self::standard_input(),
            [word] => Ok(Self::of(word.clone())),
            // The words themselves stay out of the message.
            _ => Err(Failure::new(
                Exit::Usage,
                format!("{} values are given", given.len()),
                "give one, in quotes if it has spaces, or `-` for standard input",
            )),
        }
    }

    pub(super) fn of(text: String) -> Self {
        Self(SecretBytes::from_vec(text.into_bytes()))
    }

    fn standard_input() -> Result<Self, Failure> {
        let mut bytes = Vec::with_capacity(LONGEST + 1);
        let mut input = std::io::stdin().lock().take(LONGEST as u64 + 1);
        let read = input.read_to_end(&mut bytes);
        if bytes.len() > LONGEST {
            wipe_vec(&mut bytes);
            return Err(Failure::new(
                Exit::Usage,
                format!("standard input has more than {LONGEST} bytes"),
                "encrypt one value at a time",
            ));
        }
        let end = match bytes.as_slice() {
            [.., b'\r', b'\n'] => 2,
            [.., b'\n'] => 1,
            _ => 0,
        };
        bytes.truncate(bytes.len() - end);
        let bytes = SecretBytes::from_vec(bytes);
        read.map_err(|error| Failure::file(Path::new("standard input"), "read", &error))?;
        if std::str::from_utf8(bytes.expose()).is_err() {
            return Err(Failure::new(
                Exit::Usage,
                "the value is not text in UTF-8",
                "give text, or numerals with --radix",
            ));
        }
        Ok(Self(bytes))
    }

    /// The text.
    pub(super) fn text(&self) -> &str {
        // Only text gets in.
        std::str::from_utf8(self.0.expose()).unwrap_or_default()
    }
}

/// Decimal numerals with spaces or commas between them.
pub(super) struct Numerals {
    digits: Vec<u32>,
    between: &'static str,
}

impl Numerals {
    pub(super) fn read(text: &str) -> Result<Self, Failure> {
        let commas = text.contains(',');
        let mut made = Self {
            digits: Vec::new(),
            between: if commas { "," } else { " " },
        };
        let words: Box<dyn Iterator<Item = &str>> = match commas {
            true => Box::new(text.split(',').map(str::trim_ascii)),
            false => Box::new(text.split_ascii_whitespace()),
        };
        for (position, word) in words.enumerate() {
            made.digits
                .push(number(word).ok_or_else(|| malformed(position))?);
        }
        Ok(made)
    }

    /// As many of them, to be overwritten.
    pub(super) fn same_length(&self) -> Self {
        Self {
            digits: vec![0; self.digits.len()],
            between: self.between,
        }
    }

    pub(super) fn digits(&self) -> &[u32] {
        &self.digits
    }

    pub(super) fn digits_mut(&mut self) -> &mut [u32] {
        &mut self.digits
    }

    /// As they were given: with spaces, or with commas.
    pub(super) fn text(&self) -> String {
        let words: Vec<String> = self.digits.iter().map(u32::to_string).collect();
        words.join(self.between)
    }
}

impl Serialize for Numerals {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.digits.serialize(serializer)
    }
}

impl Drop for Numerals {
    fn drop(&mut self) {
        self.digits.fill(0);
        // Keeps the compiler from leaving the zeros out.
        std::hint::black_box(&mut self.digits);
    }
}

/// A number; what no `u32` holds is above every radix.
fn number(word: &str) -> Option<u32> {
    let digits = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| word.parse().unwrap_or(u32::MAX))
}

fn malformed(position: usize) -> Failure {
    Failure {
        code: Some("numeral_malformed"),
        ..Failure::new(
            Exit::Usage,
            format!(
                "the numeral at position {position} is not a decimal number (numeral_malformed)"
            ),
            "give numerals with spaces or commas between them; positions count from 0",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numerals_come_back_as_they_were_given() {
        for (text, digits, back) in [
            ("1 2 65535", &[1, 2, 65_535][..], "1 2 65535"),
            (" 7\t8\n9 ", &[7, 8, 9], "7 8 9"),
            ("1,2,3", &[1, 2, 3], "1,2,3"),
            ("1, 2 ,3", &[1, 2, 3], "1,2,3"),
            ("00 007", &[0, 7], "0 7"),
            ("99999999999 1", &[u32::MAX, 1], "4294967295 1"),
            ("", &[], ""),
        ] {
            let numerals = Numerals::read(text).unwrap();
            assert_eq!(numerals.digits(), digits, "{text}");
            assert_eq!(numerals.text(), back);
        }
    }

    #[test]
    fn what_is_no_numeral_is_refused_with_its_place_and_without_itself() {
        for (text, position) in [
            ("1 x 3", 1),
            ("1,,3", 1),
            (",1", 0),
            ("1,2,", 2),
            ("1 -2", 1),
            ("+1", 0),
            ("1.5", 0),
            ("1, 2 3", 1),
            ("1 0x10", 1),
        ] {
            let Err(failure) = Numerals::read(text) else {
                panic!("{text}");
            };
            assert!(
                failure.happened.contains(&format!("position {position} ")),
                "{text}"
            );
            assert!(!failure.happened.contains(text));
        }
    }

    #[test]
    fn one_value_is_taken_and_no_message_has_it() {
        assert_eq!(Value::read(&["12".to_owned()]).unwrap().text(), "12");
        for given in [&[][..], &["secret-1".to_owned(), "secret-2".to_owned()]] {
            let Err(failure) = Value::read(given) else {
                panic!("{given:?}");
            };
            assert!(!failure.happened.contains("secret"), "{failure:?}");
        }
    }
}
