//! What a codec says of a value, and what it gets back: symbols and numbers, each below its modulus.
//!
//! A value's free parts are runs of symbols of one radix, and single numbers. In their order they are the
//! mixed-radix digits of the value's rank, the first the least significant.

use zeroize::Zeroize;

use crate::codec::digits::Bytes;

/// A part of a value's rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// The radix of the symbols, or the modulus of the number.
    pub(crate) modulus: u128,
    /// How many symbols; 0 for a number.
    pub(crate) count: u32,
}

/// Filled by a codec as it reads a value; emptied and filled again for the next.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    pub(crate) digits: Vec<u16>,
    pub(crate) numbers: Vec<u128>,
    pub(crate) spans: Vec<Span>,
    /// What stays as it is and goes into the tweak: `lp` of each kept part.
    pub(crate) kept: Vec<u8>,
}

impl Sink {
    pub(crate) fn clear(&mut self) {
        self.digits.clear();
        self.numbers.clear();
        self.spans.clear();
        self.kept.clear();
    }

    /// One symbol; the run it belongs to follows.
    #[inline]
    pub(crate) fn symbol(&mut self, digit: u16) {
        self.digits.push(digit);
    }

    /// A symbol for each byte.
    #[inline]
    pub(crate) fn symbols(&mut self, digits: &[u8]) {
        let digits = digits.iter().map(|digit| u16::from(*digit));
        self.digits.extend(digits);
    }

    /// The symbols since the last run are one of this radix.
    pub(crate) fn run(&mut self, radix: u32, count: usize) {
        if let Ok(count @ 1..) = u32::try_from(count) {
            self.spans.push(Span {
                modulus: radix.into(),
                count,
            });
        }
    }

    /// A number below its modulus.
    pub(crate) fn number(&mut self, number: u128, modulus: u128) {
        self.numbers.push(number);
        self.spans.push(Span { modulus, count: 0 });
    }

    /// A part that stays, without the delimiters in it.
    pub(crate) fn keep(&mut self, bytes: &[u8], delims: Bytes) {
        let start = self.kept.len();
        self.kept.extend_from_slice(&[0; 4]);
        if delims == Bytes::NONE {
            self.kept.extend_from_slice(bytes);
        } else {
            let kept = bytes.iter().filter(|byte| !delims.has(**byte));
            self.kept.extend(kept);
        }
        // A value of 4 GiB was refused long before.
        let length = u32::try_from(self.kept.len() - start - 4).unwrap_or(u32::MAX);
        let prefix = self.kept.iter_mut().skip(start);
        for (place, byte) in prefix.zip(length.to_be_bytes()) {
            *place = byte;
        }
    }

    /// Decimal digits that stay, as characters.
    pub(crate) fn keep_digits(&mut self, digits: &[u8]) {
        let length = u32::try_from(digits.len()).unwrap_or(u32::MAX);
        self.kept.extend_from_slice(&length.to_be_bytes());
        self.kept.extend(digits.iter().map(|digit| digit + b'0'));
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.digits.zeroize();
        self.numbers.zeroize();
        self.kept.zeroize();
    }
}

/// Symbols and numbers in the order in which [`Sink`] took them.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    digits: &'a [u16],
    numbers: &'a [u128],
}

impl<'a> Source<'a> {
    pub(crate) const fn new(digits: &'a [u16], numbers: &'a [u128]) -> Self {
        Self { digits, numbers }
    }

    /// The next symbols.
    pub(crate) fn symbols(&mut self, count: usize) -> &'a [u16] {
        let (taken, rest) = self.digits.split_at(count.min(self.digits.len()));
        self.digits = rest;
        taken
    }

    /// The next symbol.
    #[inline]
    pub(crate) fn symbol(&mut self) -> u16 {
        let Some((first, rest)) = self.digits.split_first() else {
            return 0;
        };
        self.digits = rest;
        *first
    }

    /// The next number.
    pub(crate) fn number(&mut self) -> u128 {
        let Some((first, rest)) = self.numbers.split_first() else {
            return 0;
        };
        self.numbers = rest;
        *first
    }
}
