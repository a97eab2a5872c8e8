//! Alphabets: from their text, and from symbols to digits and back.

use std::ops::RangeInclusive;

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, is_nfc_quick};
use unicode_segmentation::UnicodeSegmentation;

use crate::codec::digits::Bytes;
use crate::error::Problem;

/// An alphabet in its order.
#[derive(Debug)]
pub(super) enum Alphabet {
    /// The digit of each ASCII character, or [`NONE`]; and the characters.
    Ascii(Box<[u8; 128]>, Vec<u8>),
    /// Ranges of code points, each with the digit of its first.
    Points(Vec<(RangeInclusive<u32>, u32)>, u32),
}

const NONE: u8 = 0xff;

/// The set of a class by its name.
pub(super) fn named(name: &str) -> Option<&'static str> {
    Some(match name {
        "digit" => "0-9",
        "upper" => "A-Z",
        "lower" => "a-z",
        "letter" => "A-Za-z",
        "alnum" => "0-9A-Za-z",
        "upnum" => "0-9A-Z",
        "lownum" => "0-9a-z",
        "hex" => "0-9a-f",
        "hexupper" => "0-9A-F",
        _ => return None,
    })
}

/// Alphabets of `text` by their names.
pub(super) fn script(name: &str) -> Option<&'static str> {
    Some(match name {
        "ascii" => " -~",
        "latin" => "A-Za-zÀ-ÖØ-öø-ſ",
        "greek" => "Α-ΡΣ-Ωα-ω",
        "cyrillic" => "А-Яа-яЁё",
        "kana" => "ぁ-ゖァ-ヺ",
        "han" => "一-鿿",
        "hangul" => "가-힣",
        _ => return None,
    })
}

impl Alphabet {
    /// From single characters and ranges; a `-` at either end stands for itself.
    pub(super) fn new(set: &str) -> Result<Self, Problem> {
        let mut ranges: Vec<RangeInclusive<u32>> = Vec::new();
        let characters: Vec<char> = set.chars().collect();
        let mut rest = characters.as_slice();
        while let Some((first, later)) = rest.split_first() {
            rest = later;
            let range = match later {
                ['-', last, after @ ..] => {
                    rest = after;
                    u32::from(*first)..=u32::from(*last)
                }
                _ => u32::from(*first)..=u32::from(*first),
            };
            let meets = |other: &RangeInclusive<u32>| {
                range.start() <= other.end() && other.start() <= range.end()
            };
            if range.is_empty() || ranges.iter().any(meets) {
                return Err(Problem::Alphabet);
            }
            ranges.push(range);
        }
        let size: u64 = ranges
            .iter()
            .map(|range| u64::from(range.end() - range.start()) + 1)
            .sum();
        if !(2..=65_536).contains(&size) {
            return Err(Problem::Alphabet);
        }
        ranges.iter().cloned().flatten().try_for_each(admit)?;
        Ok(Self::of(&ranges))
    }

    fn of(ranges: &[RangeInclusive<u32>]) -> Self {
        if ranges.iter().all(|range| *range.end() < 128) {
            let mut digits = Box::new([NONE; 128]);
            let bytes: Vec<u8> = ranges
                .iter()
                .cloned()
                .flatten()
                .filter_map(|point| u8::try_from(point).ok())
                .collect();
            for (digit, byte) in (0_u8..).zip(&bytes) {
                if let Some(place) = digits.get_mut(usize::from(*byte)) {
                    *place = digit;
                }
            }
            return Self::Ascii(digits, bytes);
        }
        let mut next = 0;
        let mut points = Vec::with_capacity(ranges.len());
        for range in ranges {
            let size = range.end() - range.start() + 1;
            points.push((range.clone(), next));
            next += size;
        }
        Self::Points(points, next)
    }

    pub(super) fn size(&self) -> u32 {
        match self {
            Self::Ascii(_, bytes) => u32::try_from(bytes.len()).unwrap_or_default(),
            Self::Points(_, size) => *size,
        }
    }

    pub(super) fn holds(&self, byte: u8) -> bool {
        self.digit(&[byte]).is_some()
    }

    /// The digit of the symbol at the front, and its bytes.
    #[inline]
    pub(super) fn digit(&self, text: &[u8]) -> Option<(u16, usize)> {
        let first = *text.first()?;
        match self {
            Self::Ascii(digits, _) => {
                let digit = *digits.get(usize::from(first))?;
                (digit != NONE).then_some((digit.into(), 1))
            }
            Self::Points(ranges, _) => {
                let (point, width) = code_point(text)?;
                let found = ranges.iter().find(|(range, _)| range.contains(&point));
                let (range, digit) = found?;
                let digit = digit + point - range.start();
                u16::try_from(digit).ok().map(|digit| (digit, width))
            }
        }
    }

    #[inline]
    pub(super) fn put(&self, digit: u16, out: &mut Vec<u8>) {
        match self {
            Self::Ascii(_, bytes) => {
                out.extend(bytes.get(usize::from(digit)));
            }
            Self::Points(ranges, _) => {
                let digit = u32::from(digit);
                let found = ranges.iter().rev().find(|(_, first)| *first <= digit);
                let point = found.map(|(range, first)| range.start() + digit - first);
                if let Some(character) = point.and_then(char::from_u32) {
                    let mut buffer = [0; 4];
                    out.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
                }
            }
        }
    }

    pub(super) fn ascii(&self) -> Bytes {
        (0..128)
            .filter(|byte| self.holds(*byte))
            .fold(Bytes::NONE, Bytes::with)
    }

    /// Bytes of the shortest and the longest symbol.
    pub(super) fn widths(&self) -> RangeInclusive<usize> {
        match self {
            Self::Ascii(..) => 1..=1,
            Self::Points(..) => 1..=4,
        }
    }

    pub(super) fn is_decimal(&self) -> bool {
        matches!(self, Self::Ascii(_, bytes) if bytes == b"0123456789")
    }

    pub(super) const fn is_beyond_ascii(&self) -> bool {
        matches!(self, Self::Points(..))
    }

    pub(super) fn first_symbol(&self) -> String {
        let mut out = Vec::new();
        self.put(0, &mut out);
        String::from_utf8(out).unwrap_or_default()
    }
}

/// Whether a code point may be in an alphabet.
fn admit(point: u32) -> Result<(), Problem> {
    let character = char::from_u32(point).ok_or(Problem::Alphabet)?;
    if character.is_ascii() {
        let printed = character == ' ' || character.is_ascii_graphic();
        return if printed {
            Ok(())
        } else {
            Err(Problem::Alphabet)
        };
    }
    let stable = canonical_combining_class(character) == 0
        && is_nfc_quick(std::iter::once(character)) == IsNormalized::Yes;
    // Beside a letter and beside itself there are two clusters: it neither extends nor prepends nor pairs.
    let apart = |text: [char; 2]| {
        let text: String = text.iter().collect();
        text.graphemes(true).count() == 2
    };
    let alone = apart([character, 'a']) && apart(['a', character]) && apart([character; 2]);
    if stable && alone && !character.is_control() {
        Ok(())
    } else {
        Err(Problem::AlphabetUnstable)
    }
}

/// The code point at the front of UTF-8, and its bytes.
fn code_point(text: &[u8]) -> Option<(u32, usize)> {
    let width = match text.first()? {
        0..=0x7f => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        _ => 4,
    };
    let character = std::str::from_utf8(text.get(..width)?)
        .ok()?
        .chars()
        .next()?;
    Some((character.into(), width))
}
