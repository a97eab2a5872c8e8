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

use crate::rank::{Sink, Span};
use crate::wide::Wide;
use digits::{number_of, put_digits};

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
    /// The product of the spans before it.
    weight: Wide,
}

/// What all values with the same parts have in common. Public knowledge: lengths and moduli.
#[derive(Debug)]
pub(crate) struct Shape {
    chunks: Box<[Chunk]>,
    size: Option<Wide>,
    radix: u32,
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
                radix,
                digits,
                fit: Fit::Direct,
            });
        }
        let size = size.ok_or(Unfit::TooMany)?;
        let (radix, digits, exact) = embed(size).ok_or(Unfit::TooMany)?;
        let fit = if exact {
            Fit::Power
        } else {
            let mut limit = vec![0; digits];
            put_digits(size, radix, &mut limit);
            Fit::Walk(limit.into())
        };
        Ok(Self {
            chunks: chunks(spans),
            size: Some(size),
            radix,
            digits,
            fit,
        })
    }

    /// N, unless it is more than 2^256.
    pub(crate) const fn size(&self) -> Option<Wide> {
        self.size
    }

    pub(crate) const fn radix(&self) -> u32 {
        self.radix
    }

    pub(crate) const fn digits(&self) -> usize {
        self.digits
    }

    pub(crate) const fn fit(&self) -> &Fit {
        &self.fit
    }

    /// The rank of what a codec read.
    fn rank(&self, sink: &Sink) -> Wide {
        let (mut digits, mut numbers) = (sink.digits.as_slice(), sink.numbers.iter());
        let mut rank = Wide::ZERO;
        for chunk in &self.chunks {
            let value = if chunk.count == 0 {
                numbers.next().copied().unwrap_or_default()
            } else {
                let (taken, rest) = digits.split_at(chunk.count.min(digits.len()));
                digits = rest;
                let fold = |value: u64, digit: &u16| {
                    // Below radix^count, which fits.
                    value
                        .wrapping_mul(chunk.radix)
                        .wrapping_add((*digit).into())
                };
                taken.iter().fold(0, fold).into()
            };
            // Below N, which fits.
            let part = chunk.weight.checked_mul(value).unwrap_or_default();
            rank = rank.checked_add(part).unwrap_or_default();
        }
        rank
    }

    /// FF1's digits of what a codec read.
    pub(crate) fn put(&self, sink: &Sink, out: &mut [u16]) {
        if self.fit == Fit::Direct {
            for (to, from) in out.iter_mut().zip(&sink.digits) {
                *to = *from;
            }
            return;
        }
        put_digits(self.rank(sink), self.radix, out);
    }

    /// From FF1's digits what a codec writes, into emptied buffers.
    pub(crate) fn take(&self, digits: &[u16], symbols: &mut Vec<u16>, numbers: &mut Vec<u128>) {
        symbols.clear();
        numbers.clear();
        if self.fit == Fit::Direct {
            symbols.extend_from_slice(digits);
            return;
        }
        let mut rank = number_of(digits, self.radix);
        for chunk in &self.chunks {
            let (rest, value) = rank.div_rem(chunk.span);
            rank = rest;
            if chunk.count == 0 {
                numbers.push(value);
                continue;
            }
            let start = symbols.len();
            symbols.resize(start + chunk.count, 0);
            let mut value = u64::try_from(value).unwrap_or_default();
            for symbol in symbols.iter_mut().skip(start).rev() {
                *symbol = low_digit(&mut value, chunk.radix);
            }
        }
    }
}

/// Takes the last digit off. The radices of classes are named so that the division becomes a multiplication.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "a remainder below a radix of at most 65,536"
)]
const fn low_digit(value: &mut u64, radix: u64) -> u16 {
    let (quotient, rest) = match radix {
        10 => (*value / 10, *value % 10),
        26 => (*value / 26, *value % 26),
        36 => (*value / 36, *value % 36),
        _ => (*value / radix, *value % radix),
    };
    *value = quotient;
    rest as u16
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
            weight,
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
mod tests {
    use super::*;

    fn number(modulus: u128) -> Span {
        Span { modulus, count: 0 }
    }

    fn run(modulus: u128, count: u32) -> Span {
        Span { modulus, count }
    }

    #[test]
    fn sets_are_embedded_as_the_reference_has_them() {
        let of = |size| {
            let shape = Shape::new(&[number(size)]).unwrap();
            (shape.radix(), shape.digits())
        };
        assert_eq!(of(888_931_098), (29_815, 2));
        assert_eq!(of(7_920_000), (2_815, 2));
        assert_eq!(of(3_652_059), (1_912, 2));
        assert_eq!(of(6_311_433_600), (282, 4));
        assert_eq!(of(1 << 122), (2, 122));
        assert_eq!(of(10_u128.pow(15)), (10, 15));
    }

    #[test]
    fn equal_radices_are_direct_and_others_are_not() {
        assert_eq!(
            *Shape::new(&[run(36, 4), run(36, 3)]).unwrap().fit(),
            Fit::Direct
        );
        assert_eq!(Shape::new(&[run(36, 4), run(36, 3)]).unwrap().digits(), 7);
        assert_ne!(
            *Shape::new(&[run(26, 4), run(10, 3)]).unwrap().fit(),
            Fit::Direct
        );
        assert_eq!(
            *Shape::new(&[number(16), number(16)]).unwrap().fit(),
            Fit::Power
        );
        assert_eq!(Shape::new(&[]).unwrap_err(), Unfit::Nothing);
        assert_eq!(
            Shape::new(&[number(1), number(1)]).unwrap_err(),
            Unfit::Nothing
        );
        assert_eq!(
            Shape::new(&[run(26, 50), run(10, 30)]).unwrap_err(),
            Unfit::TooMany
        );
        assert!(Shape::new(&[run(26, 500)]).unwrap().size().is_none());
    }

    #[test]
    fn digits_and_numbers_come_back_through_the_rank() {
        let shapes = [
            vec![run(26, 4), run(10, 14)],
            vec![number(898), number(99), number(9_999)],
            vec![run(26, 4), run(36, 24)],
            vec![number(u128::MAX), run(10, 3), number(1 << 90)],
            vec![run(65_536, 3), number(3)],
            vec![run(36, 40), number(7)],
        ];
        let mut dice = keywright_testkit::mutate::SplitMix::new(9);
        for spans in shapes {
            let shape = Shape::new(&spans).unwrap();
            for _ in 0..200 {
                let mut sink = Sink::default();
                for span in &spans {
                    let random = u128::from(dice.next_u64()) << 64 | u128::from(dice.next_u64());
                    if span.count == 0 {
                        sink.number(random % span.modulus, span.modulus);
                        continue;
                    }
                    for _ in 0..span.count {
                        let digit = u128::from(dice.next_u64()) % span.modulus;
                        sink.symbol(u16::try_from(digit).unwrap());
                    }
                    sink.run(u32::try_from(span.modulus).unwrap(), span.count as usize);
                }
                let mut digits = vec![0; shape.digits()];
                shape.put(&sink, &mut digits);
                let (mut symbols, mut numbers) = (Vec::new(), Vec::new());
                shape.take(&digits, &mut symbols, &mut numbers);
                assert_eq!(symbols, sink.digits, "{spans:?}");
                assert_eq!(numbers, sink.numbers, "{spans:?}");
            }
        }
    }
}
