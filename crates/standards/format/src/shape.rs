//! From a set of N values to FF1: which radix, how many digits, and whether every number of so many digits
//! is a rank.
//!
//! The rules, which decide tokens and therefore never change:
//! 1. If all parts are symbols of one radix, their digits are FF1's, in order.
//! 2. Else, if N is a power of a number up to 65,536, FF1's radix is the least such number.
//! 3. Else FF1 has the least even number of digits n for which r = ceil(N^(1/n)) is at most 65,536, and
//!    radix r. A result that is no rank, r^n - N of r^n, is encrypted again: cycle walking (Black and Rogaway
//!    2002), which is a permutation of the ranks.
//!
//! In 2 and 3 the rank stands with its most significant digit first.

mod digits;
mod numbers;
mod pairs;

use crate::divisor::Divisor;
use crate::rank::{Sink, Span};
use crate::wide::Wide;
use digits::Positional;
pub(crate) use numbers::Numbers;

/// The most symbols whose radix power a chunk of 64 bits holds is found by multiplying up to here.
const CHUNK: u128 = u64::MAX as u128;

/// Consecutive symbols that are converted together, or a number.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    radix: u64,
    /// 0 for a number.
    count: usize,
    /// radix^count, or the modulus.
    span: u128,
    /// The same to divide by, where it has 64 bits.
    by: Option<Divisor>,
    /// The product of the spans before it.
    weight: Wide,
    /// The same where it fits.
    below: u128,
}

impl Chunk {
    /// The number that symbols are, below radix^count, which fits. Two at a time: half as many steps wait for the
    /// one before them.
    #[inline]
    fn number(&self, symbols: &[u16]) -> u64 {
        let square = self.radix.wrapping_mul(self.radix);
        let two = |value: u64, pair: &[u16; 2]| {
            let [first, second] = pair.map(u64::from);
            let pair = first.wrapping_mul(self.radix).wrapping_add(second);
            value.wrapping_mul(square).wrapping_add(pair)
        };
        let (pairs, last) = symbols.as_chunks::<2>();
        let value = pairs.iter().fold(0, two);
        match last {
            [digit] => value.wrapping_mul(self.radix).wrapping_add((*digit).into()),
            _ => value,
        }
    }

    /// Quotient and remainder by the span.
    #[inline]
    fn divide(&self, number: u128) -> (u128, u128) {
        match self.by {
            Some(by) => {
                let (quotient, rest) = by.of_wide(number);
                (quotient, rest.into())
            }
            None => {
                let span = self.span.max(1);
                (number / span, number % span)
            }
        }
    }

    /// The same for 64 bits.
    #[inline]
    fn divide_64(&self, number: u64) -> (u64, u128) {
        match self.by {
            Some(by) => {
                let (quotient, rest) = by.of(number);
                (quotient, rest.into())
            }
            None => (0, number.into()),
        }
    }
}

/// What all values with the same parts have in common. Public knowledge: lengths and moduli.
#[derive(Debug)]
pub(crate) struct Shape {
    chunks: Box<[Chunk]>,
    size: Option<Wide>,
    positional: Positional,
    digits: usize,
    fit: Fit,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// Rule 1.
    Direct,
    /// Rule 2.
    Power,
    /// Rule 3, with N in digits of the radix: what is not below it is no rank.
    Walk(Box<[u16]>),
}

/// Why there is no shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// Nothing is free.
    Nothing,
    /// More than 2^256 values of mixed parts.
    TooMany,
}

impl Shape {
    pub(crate) fn new(spans: &[Span]) -> Result<Self, Unfit> {
        let size = spans.iter().try_fold(Wide::ONE, |size, span| {
            size.checked_mul_pow(span.modulus, span.count.max(1))
        });
        if size.is_some_and(|size| size <= Wide::ONE) {
            return Err(Unfit::Nothing);
        }
        if let Some((radix, digits)) = uniform(spans) {
            return Ok(Self {
                chunks: Box::default(),
                size,
                positional: Positional::new(radix),
                digits,
                fit: Fit::Direct,
            });
        }
        let size = size.ok_or(Unfit::TooMany)?;
        let (radix, digits, exact) = embed(size).ok_or(Unfit::TooMany)?;
        let positional = Positional::new(radix);
        let fit = if exact {
            Fit::Power
        } else {
            let mut limit = vec![0; digits];
            positional.put_wide(size, &mut limit);
            Fit::Walk(limit.into())
        };
        Ok(Self {
            chunks: chunks(spans),
            size: Some(size),
            positional,
            digits,
            fit,
        })
    }

    /// N, unless it is more than 2^256.
    pub(crate) const fn size(&self) -> Option<Wide> {
        self.size
    }

    pub(crate) const fn radix(&self) -> u32 {
        self.positional.radix()
    }

    pub(crate) const fn digits(&self) -> usize {
        self.digits
    }

    pub(crate) const fn fit(&self) -> &Fit {
        &self.fit
    }

    /// Calls `add` with the value of each chunk of what a codec read.
    #[inline(always)]
    fn values(&self, sink: &Sink, mut add: impl FnMut(&Chunk, u128)) {
        let (mut digits, mut numbers) = (sink.digits.as_slice(), sink.numbers.iter());
        for chunk in &self.chunks {
            if chunk.count == 0 {
                add(chunk, numbers.next().copied().unwrap_or_default());
                continue;
            }
            let (taken, rest) = digits.split_at(chunk.count.min(digits.len()));
            digits = rest;
            add(chunk, chunk.number(taken).into());
        }
    }

    /// FF1's digits of what a codec read.
    pub(crate) fn put(&self, sink: &Sink, out: &mut [u16]) {
        match self.magnitude() {
            _ if self.fit == Fit::Direct => {
                for (to, from) in out.iter_mut().zip(&sink.digits) {
                    *to = *from;
                }
            }
            // Below N, which fits.
            Magnitude::One => {
                let mut rank = 0_u64;
                self.values(sink, |chunk, value| {
                    rank = rank.wrapping_add(low(value).wrapping_mul(low(chunk.below)));
                });
                self.positional.put_64(rank, out);
            }
            Magnitude::Two => {
                let mut rank = 0_u128;
                self.values(sink, |chunk, value| {
                    rank = rank.wrapping_add(value.wrapping_mul(chunk.below));
                });
                self.positional.put_128(rank, out);
            }
            Magnitude::More => {
                let mut rank = Wide::ZERO;
                self.values(sink, |chunk, value| {
                    let part = chunk.weight.checked_mul(value).unwrap_or_default();
                    rank = rank.checked_add(part).unwrap_or_default();
                });
                self.positional.put_wide(rank, out);
            }
        }
    }

    /// From FF1's digits what a codec writes, into emptied buffers.
    pub(crate) fn take(&self, digits: &[u16], symbols: &mut Vec<u16>, numbers: &mut Vec<u128>) {
        symbols.clear();
        numbers.clear();
        let mut spread = |chunk: &Chunk, value: u128| {
            if chunk.count == 0 {
                numbers.push(value);
                return;
            }
            let start = symbols.len();
            symbols.resize(start + chunk.count, 0);
            let own = symbols.get_mut(start..).unwrap_or_default();
            spread_digits(low(value), chunk, own);
        };
        match self.magnitude() {
            _ if self.fit == Fit::Direct => symbols.extend_from_slice(digits),
            Magnitude::One => {
                let mut rank = self.positional.number_64(digits);
                for chunk in &self.chunks {
                    let (rest, value) = chunk.divide_64(rank);
                    rank = rest;
                    spread(chunk, value);
                }
            }
            Magnitude::Two => {
                let mut rank = self.positional.number_128(digits);
                for chunk in &self.chunks {
                    let (rest, value) = chunk.divide(rank);
                    rank = rest;
                    spread(chunk, value);
                }
            }
            Magnitude::More => {
                let mut rank = self.positional.number_wide(digits);
                for chunk in &self.chunks {
                    let (rest, value) = rank.div_rem(chunk.span);
                    rank = rest;
                    spread(chunk, value);
                }
            }
        }
    }

    /// What holds FF1's numbers, which are up to radix^digits: N is less, but close.
    const fn magnitude(&self) -> Magnitude {
        self.positional.magnitude(self.digits)
    }
}

/// In words of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Magnitude {
    One,
    Two,
    More,
}

/// A number that is known to have 64 bits.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "called for what has 64 bits"
)]
const fn low(number: u128) -> u64 {
    number as u64
}

/// The digits of a number. Those of the radices of classes stand in tables, two by two.
#[inline]
fn spread_digits(number: u64, chunk: &Chunk, out: &mut [u16]) {
    match chunk.radix {
        10 => pairs::spread(number, &pairs::DIGITS, out),
        26 => pairs::spread(number, &pairs::LETTERS, out),
        36 => pairs::spread(number, &pairs::EITHER, out),
        radix => {
            let mut number = number;
            for place in out.iter_mut().rev() {
                *place = remainder(number, radix);
                number /= radix.max(1);
            }
        }
    }
}

#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "a remainder below a radix of at most 65,536"
)]
const fn remainder(number: u64, radix: u64) -> u16 {
    (number % radix) as u16
}

impl Wide {
    fn checked_mul_pow(self, factor: u128, times: u32) -> Option<Self> {
        (0..times).try_fold(self, |product, _| product.checked_mul(factor))
    }
}

fn uniform(spans: &[Span]) -> Option<(u32, usize)> {
    let radix = spans.first()?.modulus;
    let alike = |span: &&Span| span.modulus == radix && span.count > 0;
    if spans.iter().filter(alike).count() < spans.len() {
        return None;
    }
    let digits = spans.iter().map(|span| span.count as usize).sum();
    match u32::try_from(radix) {
        Ok(radix @ 2..=65_536) if digits >= 2 => Some((radix, digits)),
        _ => None,
    }
}

/// Radix, digits, and whether the power is N itself.
fn embed(size: Wide) -> Option<(u32, usize, bool)> {
    let narrow = |radix: u128| u32::try_from(radix).ok().filter(|r| *r <= 65_536);
    let exact = |digits: &u32| {
        let radix = size.root(*digits);
        let whole = radix >= 2 && Wide::new(radix).checked_pow(*digits) == Some(size);
        whole && narrow(radix).is_some()
    };
    if let Some(digits) = (2..=256_u32).rev().find(exact) {
        return Some((narrow(size.root(digits))?, digits as usize, true));
    }
    (2..=18_u32).step_by(2).find_map(|digits| {
        let radix = narrow(size.root(digits) + 1)?;
        Some((radix, digits as usize, false))
    })
}

fn chunks(spans: &[Span]) -> Box<[Chunk]> {
    let mut chunks = Vec::new();
    let mut weight = Wide::ONE;
    let mut add = |radix: u64, count, span| {
        chunks.push(Chunk {
            radix,
            count,
            span,
            by: u64::try_from(span).ok().map(Divisor::new),
            weight,
            below: weight.to_u128().unwrap_or_default(),
        });
        weight = weight.checked_mul(span).unwrap_or_default();
    };
    for span in spans {
        if span.count == 0 {
            add(0, 0, span.modulus);
            continue;
        }
        let radix = u64::try_from(span.modulus).unwrap_or(1);
        let mut left = span.count as usize;
        while left > 0 {
            let (mut power, mut count) = (span.modulus, 1);
            while count < left && power * span.modulus <= CHUNK {
                power *= span.modulus;
                count += 1;
            }
            add(radix, count, power);
            left -= count;
        }
    }
    chunks.into()
}

#[cfg(test)]
mod tests;
