//! Numbers from digits and back.

use super::{multiply_high, multiply_wide, spread};
use crate::numerals::Numeral;
use crate::shape::Radix;

/// In which direction the digits of a half are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DigitOrder {
    /// FF1.
    MostSignificantFirst,
    /// The FF3 family, which reverses each half.
    LeastSignificantFirst,
}

/// Digits and numbers of one radix. A chunk is as many digits as fit 32 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digits {
    radix: u32,
    /// Digits of a chunk.
    per_chunk: u32,
    /// floor(2^64 / radix) + 1: exact for dividends below 2^48, as the error stays below one part in
    /// 2^64/radix.
    reciprocal: u64,
    /// radix^per_chunk and its reciprocals.
    chunk: u64,
    chunk_narrow: u64,
    chunk_wide: u128,
}

impl Digits {
    pub(crate) const fn new(radix: Radix) -> Self {
        let wide = radix.value() as u64;
        let (mut chunk, mut per_chunk) = (wide, 1);
        while chunk * wide <= 1 << 32 {
            chunk *= wide;
            per_chunk += 1;
        }
        Self {
            radix: radix.value(),
            per_chunk,
            // 2^64 is no multiple of the radix unless the radix is a power of two; one less divided and one
            // more added comes to the same or to one more, which the bound allows for.
            reciprocal: u64::MAX / wide + 1,
            chunk,
            chunk_narrow: u64::MAX / chunk,
            chunk_wide: u128::MAX / chunk as u128,
        }
    }

    /// NUM of digits whose number fits 64 bits.
    #[inline(always)]
    pub(crate) fn number<T: Numeral>(&self, digits: &[T], order: DigitOrder) -> u64 {
        let radix = u64::from(self.radix);
        let step = |number: u64, digit: &T| {
            number
                .wrapping_mul(radix)
                .wrapping_add(u64::from(digit.digit()))
        };
        match order {
            DigitOrder::MostSignificantFirst => digits.iter().fold(0, step),
            DigitOrder::LeastSignificantFirst => digits.iter().rev().fold(0, step),
        }
    }

    /// NUM of any number of digits, modulo 2^128.
    #[inline]
    pub(crate) fn number_wide<T: Numeral>(&self, digits: &[T], order: DigitOrder) -> u128 {
        let per_chunk = self.per_chunk as usize;
        let step = |number: u128, chunk: &[T]| {
            number
                .wrapping_mul(self.chunk.into())
                .wrapping_add(self.number(chunk, order).into())
        };
        match order {
            DigitOrder::MostSignificantFirst => digits.rchunks(per_chunk).rev().fold(0, step),
            DigitOrder::LeastSignificantFirst => digits.chunks(per_chunk).rev().fold(0, step),
        }
    }

    /// STR of a number below 2^32, or below 2^48 where the digits say so.
    #[inline(always)]
    pub(crate) fn write_chunk<T: Numeral>(&self, number: u64, out: &mut [T], order: DigitOrder) {
        let mut rest = number;
        let mut next = || {
            let quotient = multiply_high(rest, self.reciprocal);
            let digit = rest.wrapping_sub(quotient.wrapping_mul(self.radix.into()));
            rest = quotient;
            T::of(low_word(digit))
        };
        match order {
            DigitOrder::MostSignificantFirst => out.iter_mut().rev().for_each(|d| *d = next()),
            DigitOrder::LeastSignificantFirst => out.iter_mut().for_each(|d| *d = next()),
        }
    }

    /// STR of a number of 64 bits.
    #[inline(always)]
    pub(crate) fn write<T: Numeral>(&self, number: u64, out: &mut [T], order: DigitOrder) {
        let mut rest = number;
        self.each_chunk(out, order, |piece| {
            let quotient = multiply_high(rest, self.chunk_narrow);
            let low = rest.wrapping_sub(quotient.wrapping_mul(self.chunk));
            let (quotient, low) = settle(quotient, low, self.chunk);
            rest = quotient;
            self.write_chunk(low, piece, order);
        });
    }

    /// STR of a number of 128 bits.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "below twice the chunk")]
    pub(crate) fn write_wide<T: Numeral>(&self, number: u128, out: &mut [T], order: DigitOrder) {
        let mut rest = number;
        self.each_chunk(out, order, |piece| {
            let (quotient, _) = multiply_wide(rest, self.chunk_wide);
            let low = rest.wrapping_sub(quotient.wrapping_mul(self.chunk.into()));
            let (one_more, low) = settle(0, low as u64, self.chunk);
            rest = quotient.wrapping_add(one_more.into());
            self.write_chunk(low, piece, order);
        });
    }

    #[inline(always)]
    fn each_chunk<T: Numeral>(
        &self,
        out: &mut [T],
        order: DigitOrder,
        write: impl FnMut(&mut [T]),
    ) {
        let per_chunk = self.per_chunk as usize;
        match order {
            DigitOrder::MostSignificantFirst => out.rchunks_mut(per_chunk).for_each(write),
            DigitOrder::LeastSignificantFirst => out.chunks_mut(per_chunk).for_each(write),
        }
    }

    /// Divides a number by the chunk and returns the rest, half a limb at a time.
    #[cfg(feature = "std")]
    pub(crate) fn divide_by_chunk(&self, number: &mut [u64]) -> u64 {
        const LOW: u64 = 0xFFFF_FFFF;
        let mut rest = 0;
        for limb in number.iter_mut().rev() {
            let (high, left) = self.divide_small(rest << 32 | *limb >> 32);
            let (low, left) = self.divide_small(left << 32 | *limb & LOW);
            *limb = high << 32 | low;
            rest = left;
        }
        rest
    }

    #[inline(always)]
    #[cfg(feature = "std")]
    const fn divide_small(&self, number: u64) -> (u64, u64) {
        let quotient = multiply_high(number, self.chunk_narrow);
        let rest = number.wrapping_sub(quotient.wrapping_mul(self.chunk));
        settle(quotient, rest, self.chunk)
    }

    /// Digits of a chunk.
    #[cfg(feature = "std")]
    pub(crate) const fn per_chunk(&self) -> usize {
        self.per_chunk as usize
    }

    /// radix^per_chunk.
    #[cfg(feature = "std")]
    pub(crate) const fn chunk(&self) -> u64 {
        self.chunk
    }

    /// The radix.
    pub(crate) const fn radix(&self) -> u32 {
        self.radix
    }
}

/// Quotient and rest, the rest brought below the divisor; it lies below twice the divisor.
#[inline(always)]
const fn settle(quotient: u64, rest: u64, divisor: u64) -> (u64, u64) {
    let less = rest.wrapping_sub(divisor);
    let keep = spread(less);
    (
        quotient.wrapping_add(1).wrapping_add(keep),
        less.wrapping_add(divisor & keep),
    )
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "a digit lies below 2^16")]
pub(crate) const fn low_word(digit: u64) -> u32 {
    digit as u32
}
