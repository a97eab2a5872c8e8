//! Sets of bytes, and values that are decimal digits with delimiters between them.

use crate::arguments::Arguments;
use crate::error::{Error, Misfit, Problem};
use crate::rank::{Sink, Source};

/// A set of ASCII characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bytes(u128);

impl Bytes {
    pub(crate) const DIGITS: Self = Self::range(b'0', b'9');
    pub(crate) const ALPHANUMERIC: Self = Self::DIGITS
        .or(Self::range(b'A', b'Z'))
        .or(Self::range(b'a', b'z'));
    pub(crate) const ALL: Self = Self(u128::MAX);
    pub(crate) const NONE: Self = Self(0);

    pub(crate) const fn range(first: u8, last: u8) -> Self {
        let mut set = 0;
        let mut byte = first;
        while byte <= last && byte < 128 {
            set |= 1 << byte;
            byte += 1;
        }
        Self(set)
    }

    pub(crate) const fn with(self, byte: u8) -> Self {
        if byte < 128 {
            Self(self.0 | 1 << byte)
        } else {
            self
        }
    }

    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[inline]
    pub(crate) const fn has(self, byte: u8) -> bool {
        byte < 128 && self.0 >> byte & 1 == 1
    }

    pub(crate) const fn meets(&self, other: &Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// Reads the parameter `delims`: characters that may stand between symbols, and stay.
pub(crate) fn delims(arguments: &mut Arguments<'_>, default: &str) -> Result<Bytes, Error> {
    arguments.read("delims", Some(default), |text| {
        let mut set = Bytes::NONE;
        for byte in text.bytes() {
            let delimits = byte == b' ' || byte.is_ascii_punctuation();
            if !delimits {
                return Err(Problem::Expected("spaces and punctuation"));
            }
            if set.has(byte) {
                return Err(Problem::Duplicate);
            }
            set = set.with(byte);
        }
        Ok((set, text.to_owned()))
    })
}

/// The digits of a value, at most `N` of them, and how many they are.
pub(crate) fn scan<const N: usize>(
    value: &[u8],
    delims: Bytes,
) -> Result<([u8; N], usize), Misfit> {
    let (mut digits, mut count) = ([0; N], 0);
    for (position, byte) in value.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            *digits.get_mut(count).ok_or(Misfit::Length)? = digit;
            count += 1;
        } else if !delims.has(*byte) {
            return Err(Misfit::Symbol { position });
        }
    }
    Ok((digits, count))
}

/// Writes a value with other digits: everything else stays where it is.
pub(crate) fn spread(value: &[u8], digits: &[u8], out: &mut Vec<u8>) {
    let mut digits = digits.iter();
    out.extend(value.iter().map(|byte| {
        if byte.is_ascii_digit() {
            digits.next().map_or(*byte, |digit| digit + b'0')
        } else {
            *byte
        }
    }));
}

/// As many symbols of radix 10 as there are digits.
pub(crate) fn put(digits: &[u8], sink: &mut Sink) {
    sink.symbols(digits);
    sink.run(10, digits.len());
}

/// The reverse of [`put`].
pub(crate) fn take(source: &mut Source<'_>, digits: &mut [u8]) {
    let symbols = source.symbols(digits.len());
    for (digit, symbol) in digits.iter_mut().zip(symbols) {
        *digit = u8::try_from(*symbol).unwrap_or_default();
    }
}

/// The number that digits are, most significant first.
pub(crate) fn number(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |number: u64, digit| {
        number.wrapping_mul(10).wrapping_add((*digit).into())
    })
}

/// The last digits of a number.
pub(crate) fn put_number(mut number: u64, digits: &mut [u8]) {
    for digit in digits.iter_mut().rev() {
        *digit = u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
    }
}
