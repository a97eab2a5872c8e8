//! Numbers as FF1's digits and back. As few long divisions as the sizes allow.

use super::Magnitude;
use crate::divisor::Divisor;
use crate::wide::Wide;

/// A radix, and the greatest power of it that 64 bits hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Positional {
    radix: u32,
    power: u64,
    count: usize,
    by_square: Divisor,
    by_power: Divisor,
    /// ceil(2^48 / radix): see [`Positional::split`].
    inverse: u64,
}

impl Positional {
    pub(super) const fn new(radix: u32) -> Self {
        let (mut power, mut count) = (radix as u64, 1);
        while let Some(next) = power.checked_mul(radix as u64) {
            power = next;
            count += 1;
        }
        Self {
            radix,
            power,
            count,
            by_square: Divisor::new(radix as u64 * radix as u64),
            by_power: Divisor::new(power),
            inverse: (1_u64 << 48).div_ceil(if radix == 0 { 1 } else { radix as u64 }),
        }
    }

    pub(super) const fn radix(self) -> u32 {
        self.radix
    }

    /// What holds every number of so many digits.
    pub(super) const fn magnitude(self, digits: usize) -> Magnitude {
        if digits <= self.count {
            Magnitude::One
        } else if digits <= 2 * self.count {
            Magnitude::Two
        } else {
            Magnitude::More
        }
    }

    /// The digits of a number, most significant first.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "remainders below a radix of at most 65,536"
    )]
    pub(super) fn put_64(self, number: u64, out: &mut [u16]) {
        if let [first, second] = out {
            let (upper, lower) = self.split(number);
            (*first, *second) = (upper as u16, lower as u16);
            return;
        }
        if self.radix.is_power_of_two() {
            return self.put_bits(number.into(), out);
        }
        let mut number = number;
        let mut pairs = out.rchunks_exact_mut(2);
        for pair in &mut pairs {
            let (rest, two) = self.by_square.of(number);
            let (upper, lower) = self.split(two);
            if let [first, second] = pair {
                (*first, *second) = (upper as u16, lower as u16);
            }
            number = rest;
        }
        for place in pairs.into_remainder() {
            *place = number as u16;
        }
    }

    /// Two digits of a number below radix^2.
    ///
    /// With m = ceil(2^48 / r) the product number * m is below 2^64, and exceeds number * 2^48 / r by less than
    /// number < r^2, which is at most 2^48 / r: the quotient is exact.
    #[inline(always)]
    const fn split(self, number: u64) -> (u64, u64) {
        let quotient = number.wrapping_mul(self.inverse) >> 48;
        (
            quotient,
            number.wrapping_sub(quotient.wrapping_mul(self.radix as u64)),
        )
    }

    /// For powers of two.
    #[expect(clippy::cast_possible_truncation, reason = "masked")]
    fn put_bits(self, mut number: u128, out: &mut [u16]) {
        let bits = self.radix.trailing_zeros();
        for place in out.iter_mut().rev() {
            *place = (number & u128::from(self.radix - 1)) as u16;
            number >>= bits;
        }
    }

    /// As many digits at a time as 64 bits hold, so that few divisions are long ones.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "remainders below a radix of at most 65,536, or below a power that fits 64 bits"
    )]
    pub(super) fn put_128(self, mut number: u128, out: &mut [u16]) {
        if self.radix.is_power_of_two() {
            return self.put_bits(number, out);
        }
        let mut rest = out;
        while rest.len() > self.count {
            let (upper, lower) = rest.split_at_mut(rest.len() - self.count);
            let (quotient, low) = self.by_power.of_wide(number);
            self.put_64(low, lower);
            (number, rest) = (quotient, upper);
        }
        self.put_64(number as u64, rest);
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "remainders below a radix of at most 65,536"
    )]
    pub(super) fn put_wide(self, number: Wide, out: &mut [u16]) {
        if let Some(number) = number.to_u128() {
            return self.put_128(number, out);
        }
        let mut number = number;
        for place in out.iter_mut().rev() {
            let (rest, digit) = number.div_rem(self.radix.into());
            number = rest;
            *place = digit as u16;
        }
    }

    /// The number of as many digits as 64 bits hold.
    pub(super) fn number_64(self, digits: &[u16]) -> u64 {
        let radix = u64::from(self.radix);
        digits.iter().fold(0, |number: u64, digit| {
            number.wrapping_mul(radix).wrapping_add((*digit).into())
        })
    }

    /// The number of twice as many at most.
    pub(super) fn number_128(self, digits: &[u16]) -> u128 {
        let (upper, lower) = digits.split_at(digits.len().saturating_sub(self.count));
        let upper = u128::from(self.number_64(upper));
        // 64 bits times 64 bits.
        let upper = upper.wrapping_mul(self.power.into());
        upper.wrapping_add(self.number_64(lower).into())
    }

    /// The number of any digits; what exceeds 2^256 does not come here.
    pub(super) fn number_wide(self, digits: &[u16]) -> Wide {
        let mut number = Wide::ZERO;
        let mut rest = digits;
        while !rest.is_empty() {
            let (taken, later) = rest.split_at(self.count.min(rest.len()));
            rest = later;
            let span = if taken.len() == self.count {
                self.power
            } else {
                u64::from(self.radix).wrapping_pow(u32::try_from(taken.len()).unwrap_or_default())
            };
            // Below radix^digits; a result that is no rank may exceed N, never 2^256, as it is walked on before.
            number = number.checked_mul(span.into()).unwrap_or_default();
            let value = Wide::new(self.number_64(taken).into());
            number = number.checked_add(value).unwrap_or_default();
        }
        number
    }
}
