//! Check digits over what stands before them.
//!
//! | name | method | over | writes |
//! |---|---|---|---|
//! | luhn | ISO/IEC 7812-1 annex B | digits | one digit |
//! | mod11 | ISO/IEC 7064 MOD 11-2 | digits | one digit or X |
//! | isbn10 | ISO 2108 before 2007: weights 2, 3, ... from the right, mod 11 | digits | one digit or X |
//! | mod97 | ISO/IEC 7064 MOD 97-10, letters as A = 10 to Z = 35 | digits and letters | two digits, 02 to 98 |
//! | verhoeff | Verhoeff 1969: the dihedral group of ten elements | digits | one digit |
//! | damm | Damm 2004: a totally anti-symmetric quasigroup | digits | one digit |
//!
//! Everything else that stands before is passed over.

use super::digits::Bytes;
use crate::arguments::Arguments;
use crate::error::{Error, Misfit};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    Damm,
    Isbn10,
    Luhn,
    Mod11,
    Mod97,
    Verhoeff,
}

pub(crate) fn build(arguments: &mut Arguments<'_>) -> Result<Check, Error> {
    let words = [
        ("damm", Check::Damm),
        ("isbn10", Check::Isbn10),
        ("luhn", Check::Luhn),
        ("mod11", Check::Mod11),
        ("mod97", Check::Mod97),
        ("verhoeff", Check::Verhoeff),
    ];
    let expected = "damm, isbn10, luhn, mod11, mod97 or verhoeff";
    arguments.word("method", "luhn", &words, expected)
}

impl Check {
    /// How many characters it writes.
    pub(crate) const fn width(self) -> usize {
        match self {
            Self::Mod97 => 2,
            _ => 1,
        }
    }

    /// Which characters it may begin with.
    pub(crate) const fn first(self) -> Bytes {
        match self {
            Self::Mod11 | Self::Isbn10 => Bytes::DIGITS.with(b'X'),
            _ => Bytes::DIGITS,
        }
    }

    /// Checks what stands at `at`, and returns where it ends.
    pub(crate) fn read(self, value: &[u8], at: usize) -> Result<usize, Misfit> {
        let (before, rest) = value.split_at(at.min(value.len()));
        let given = rest.get(..self.width()).ok_or(Misfit::Length)?;
        let expected = self.over(before);
        if given == expected.get(..self.width()).unwrap_or_default() {
            Ok(at + self.width())
        } else {
            Err(Misfit::Check)
        }
    }

    /// Appends what belongs behind what was written from `start`.
    pub(crate) fn write(self, start: usize, out: &mut Vec<u8>) {
        let made = self.over(out.get(start..).unwrap_or_default());
        out.extend(made.iter().take(self.width()));
    }

    fn over(self, text: &[u8]) -> [u8; 2] {
        let digits = || text.iter().filter(|b| b.is_ascii_digit()).map(|b| b - b'0');
        match self {
            Self::Damm => [damm(digits()) + b'0', 0],
            Self::Isbn10 => [or_x(weights(digits().rev())), 0],
            Self::Luhn => [luhn(digits().rev()) + b'0', 0],
            Self::Mod11 => [or_x(mod_11_2(digits())), 0],
            Self::Mod97 => {
                let check = mod_97(text);
                [check / 10 + b'0', check % 10 + b'0']
            }
            Self::Verhoeff => [verhoeff(digits().rev()) + b'0', 0],
        }
    }
}

const fn or_x(check: u8) -> u8 {
    if check == 10 { b'X' } else { check + b'0' }
}

fn luhn(from_right: impl Iterator<Item = u8>) -> u8 {
    let sum = from_right.enumerate().fold(0, |sum, (place, digit)| {
        let twice = if place % 2 == 0 { 2 * digit } else { digit };
        (sum + twice / 10 + twice % 10) % 10
    });
    (10 - sum) % 10
}

/// ISO/IEC 7064: P = (P + digit) * 2 mod 11 over the digits; P + check = 1 mod 11.
fn mod_11_2(digits: impl Iterator<Item = u8>) -> u8 {
    let product = digits.fold(0, |product, digit| (product + digit) * 2 % 11);
    (12 - product) % 11
}

fn weights(from_right: impl Iterator<Item = u8>) -> u8 {
    let sum = from_right.enumerate().fold(0, |sum, (place, digit)| {
        (sum + (place + 2) % 11 * usize::from(digit)) % 11
    });
    u8::try_from((11 - sum) % 11).unwrap_or_default()
}

/// 98 minus the text, with two zeros behind, mod 97.
fn mod_97(text: &[u8]) -> u8 {
    let mut number = Mod97::default();
    text.iter().chain(b"00").for_each(|byte| number.push(*byte));
    98 - number.remainder()
}

/// A number mod 97, a character at a time; a letter is two digits. It is divided only when it gets long.
#[derive(Debug, Default)]
struct Mod97(u64);

impl Mod97 {
    const LONG: u64 = 1_000_000_000_000_000;

    #[inline]
    const fn push(&mut self, byte: u8) {
        if self.0 >= Self::LONG {
            self.0 %= 97;
        }
        self.0 = match byte {
            b'0'..=b'9' => self.0 * 10 + (byte - b'0') as u64,
            b'A'..=b'Z' => self.0 * 100 + (byte - b'A') as u64 + 10,
            b'a'..=b'z' => self.0 * 100 + (byte - b'a') as u64 + 10,
            _ => self.0,
        };
    }

    fn remainder(&self) -> u8 {
        u8::try_from(self.0 % 97).unwrap_or_default()
    }
}

/// The product in the dihedral group of order ten: 0 to 4 rotate, 5 to 9 reflect.
const fn dihedral(a: u8, b: u8) -> u8 {
    let (turn, other) = (a % 5, b % 5);
    match (a < 5, b < 5) {
        (true, true) => (turn + other) % 5,
        (true, false) => (turn + other) % 5 + 5,
        (false, true) => (turn + 5 - other) % 5 + 5,
        (false, false) => (turn + 5 - other) % 5,
    }
}

/// Verhoeff's permutation, applied once more for each place to the left.
const PERMUTED: [u8; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];

fn verhoeff(from_right: impl Iterator<Item = u8>) -> u8 {
    let product = from_right.enumerate().fold(0, |product, (place, digit)| {
        let permuted = (0..=place % 8).fold(digit, |digit, _| {
            PERMUTED
                .get(usize::from(digit))
                .copied()
                .unwrap_or_default()
        });
        dihedral(product, permuted)
    });
    // Rotations have their inverse on the other side, reflections are their own.
    if product < 5 {
        (5 - product) % 5
    } else {
        product
    }
}

/// Damm's table of order ten.
const ANTISYMMETRIC: [[u8; 10]; 10] = [
    [0, 3, 1, 7, 5, 9, 8, 6, 4, 2],
    [7, 0, 9, 2, 1, 5, 4, 8, 6, 3],
    [4, 2, 0, 6, 8, 7, 1, 3, 5, 9],
    [1, 7, 5, 0, 9, 8, 3, 4, 2, 6],
    [6, 1, 2, 3, 0, 4, 5, 9, 7, 8],
    [3, 6, 7, 4, 2, 0, 9, 5, 8, 1],
    [5, 8, 6, 9, 7, 2, 0, 1, 3, 4],
    [8, 9, 4, 5, 3, 6, 2, 0, 1, 7],
    [9, 4, 3, 8, 6, 1, 7, 2, 0, 5],
    [2, 5, 8, 1, 4, 3, 6, 7, 9, 0],
];

fn damm(digits: impl Iterator<Item = u8>) -> u8 {
    digits.fold(0, |row, digit| {
        let row = ANTISYMMETRIC.get(usize::from(row));
        let next = row.and_then(|row| row.get(usize::from(digit)));
        next.copied().unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(check: Check, text: &str) -> String {
        let mut out = text.as_bytes().to_vec();
        check.write(0, &mut out);
        assert_eq!(check.read(&out, text.len()), Ok(out.len()));
        String::from_utf8(out.split_off(text.len())).unwrap()
    }

    #[test]
    fn check_digits_are_those_of_published_examples() {
        assert_eq!(of(Check::Luhn, "7992739871"), "3");
        assert_eq!(of(Check::Luhn, "411111111111111"), "1");
        assert_eq!(of(Check::Verhoeff, "236"), "3");
        assert_eq!(of(Check::Verhoeff, "12345"), "1");
        assert_eq!(of(Check::Damm, "572"), "4");
        // ISO/IEC 7064 as ORCID uses it, and ISNI.
        assert_eq!(of(Check::Mod11, "0000-0002-1825-009"), "7");
        assert_eq!(of(Check::Mod11, "0000-0002-1694-233"), "X");
        assert_eq!(of(Check::Isbn10, "0-306-40615-"), "2");
        assert_eq!(of(Check::Isbn10, "0-8044-2957-"), "X");
        // The legal entity identifier of ISO 17442 uses MOD 97-10.
        assert_eq!(of(Check::Mod97, "5493001KJTIIGC8Y1R"), "12");
    }

    #[test]
    fn every_single_wrong_digit_is_noticed() {
        let checks = [
            Check::Damm,
            Check::Isbn10,
            Check::Luhn,
            Check::Mod11,
            Check::Mod97,
            Check::Verhoeff,
        ];
        for check in checks {
            let mut value = b"31415926".to_vec();
            check.write(0, &mut value);
            for place in 0..8 {
                for digit in b'0'..=b'9' {
                    let mut other = value.clone();
                    other[place] = digit;
                    let same = other == value;
                    assert_eq!(check.read(&other, 8).is_ok(), same, "{check:?} {place}");
                }
            }
            assert_eq!(check.read(b"31415926", 8), Err(Misfit::Length));
        }
    }
}
