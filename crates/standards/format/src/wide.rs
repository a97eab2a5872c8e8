//! Unsigned integers of 256 bits: ranks and sizes of sets. Overflow is told, never wrapped.
//!
//! Numbers of most formats fit 64 bits, so division looks at the magnitude first. Time therefore depends on
//! the numbers; `docs/format.md` says so.

use std::fmt;

/// `high * 2^128 + low`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wide {
    high: u128,
    low: u128,
}

const HALF: u128 = u64::MAX as u128;

impl Wide {
    pub(crate) const ONE: Self = Self::new(1);
    pub(crate) const ZERO: Self = Self::new(0);

    pub(crate) const fn new(low: u128) -> Self {
        Self { high: 0, low }
    }

    /// The number, if it fits 128 bits.
    #[must_use]
    pub fn to_u128(self) -> Option<u128> {
        (self.high == 0).then_some(self.low)
    }

    /// The binary logarithm, for people to read.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "a figure for people: 52 bits are more than enough"
    )]
    pub fn bits(self) -> f64 {
        (self.high as f64 * 2_f64.powi(128) + self.low as f64).log2()
    }

    pub(crate) fn checked_add(self, other: Self) -> Option<Self> {
        let (low, carry) = self.low.overflowing_add(other.low);
        let high = self.high.checked_add(other.high)?;
        let high = high.checked_add(u128::from(carry))?;
        Some(Self { high, low })
    }

    pub(crate) fn checked_mul(self, factor: u128) -> Option<Self> {
        if self.high == 0
            && let Some(low) = self.low.checked_mul(factor)
        {
            return Some(Self::new(low));
        }
        let (carry, low) = multiply(self.low, factor);
        let high = self.high.checked_mul(factor)?.checked_add(carry)?;
        Some(Self { high, low })
    }

    pub(crate) fn checked_pow(self, exponent: u32) -> Option<Self> {
        let base = self.to_u128()?;
        (0..exponent).try_fold(Self::ONE, |power, _| power.checked_mul(base))
    }

    /// Quotient and remainder; by 0 it is as by 1.
    #[inline]
    pub(crate) fn div_rem(self, divisor: u128) -> (Self, u128) {
        let divisor = divisor.max(1);
        if self.high == 0 {
            if let (Ok(number), Ok(by)) = (u64::try_from(self.low), u64::try_from(divisor)) {
                return (Self::new(u128::from(number / by)), u128::from(number % by));
            }
            // One long division: the compiler makes two of a quotient and a remainder of 128 bits.
            let quotient = self.low / divisor;
            return (Self::new(quotient), self.low - quotient * divisor);
        }
        if divisor <= HALF {
            return self.div_rem_half(divisor);
        }
        self.div_rem_long(divisor)
    }

    /// By a number of 64 bits, a limb at a time.
    fn div_rem_half(self, divisor: u128) -> (Self, u128) {
        let mut rest = 0;
        let mut limb = |limb: u128| {
            let number = (rest << 64) | limb;
            let quotient = number / divisor;
            rest = number - quotient * divisor;
            quotient
        };
        let high = limb(self.high >> 64) << 64 | limb(self.high & HALF);
        let low = limb(self.low >> 64) << 64 | limb(self.low & HALF);
        (Self { high, low }, rest)
    }

    /// By a number of 128 bits, a bit at a time: only sequences with numbers of that size come here.
    fn div_rem_long(self, divisor: u128) -> (Self, u128) {
        let (mut rest, mut quotient) = (0_u128, Self::ZERO);
        for place in (0..256).rev() {
            let word = if place < 128 { self.low } else { self.high };
            let carry = rest >> 127;
            rest = (rest << 1) | (word >> (place % 128) & 1);
            if carry == 1 || rest >= divisor {
                rest = rest.wrapping_sub(divisor);
                if place < 128 {
                    quotient.low |= 1 << place;
                } else {
                    quotient.high |= 1 << (place - 128);
                }
            }
        }
        (quotient, rest)
    }

    /// The greatest number whose power is not above this one.
    pub(crate) fn root(self, degree: u32) -> u128 {
        let reaches = |number: u128| {
            let power = Self::new(number).checked_pow(degree);
            power.is_some_and(|power| power <= self)
        };
        let mut root = 0;
        // A root of degree d of a number of 256 bits has 256/d bits at most.
        for place in (0..=(256 / degree.max(2)).min(127)).rev() {
            let tried = root | 1 << place;
            if reaches(tried) {
                root = tried;
            }
        }
        root
    }
}

/// The product of two numbers of 128 bits, as its upper and lower half.
const fn multiply(a: u128, b: u128) -> (u128, u128) {
    let (a1, a0, b1, b0) = (a >> 64, a & HALF, b >> 64, b & HALF);
    let low = a0 * b0;
    let middle = a1 * b0 + (low >> 64);
    let cross = a0 * b1 + (middle & HALF);
    let high = a1 * b1 + (middle >> 64) + (cross >> 64);
    (high, (cross << 64) | (low & HALF))
}

/// In decimal digits.
impl fmt::Display for Wide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const CHUNK: u128 = 10_u128.pow(18);
        if self.high == 0 {
            return self.low.fmt(f);
        }
        let (upper, rest) = self.div_rem(CHUNK);
        write!(f, "{upper}{rest:018}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ODD: u128 = 0xfedc_ba98_7654_3210_0123_4567_89ab_cdef;

    #[test]
    fn what_is_multiplied_divides_again_with_its_remainder() {
        for factor in [1, 2, 10, 65_536, u128::from(u64::MAX), 1 << 100, u128::MAX] {
            for rest in [0, factor / 3, factor / 2, factor - 1] {
                let Some(product) = Wide::new(ODD).checked_mul(factor) else {
                    continue;
                };
                let Some(number) = product.checked_add(Wide::new(rest)) else {
                    continue;
                };
                let expected = (Wide::new(ODD), rest);
                assert_eq!(number.div_rem(factor), expected, "{factor} {rest}");
            }
        }
    }

    #[test]
    fn overflow_is_told() {
        assert!(Wide::new(2).checked_pow(255).is_some());
        assert!(Wide::new(2).checked_pow(256).is_none());
        let greatest = Wide {
            high: u128::MAX,
            low: u128::MAX,
        };
        assert!(greatest.checked_add(Wide::ONE).is_none());
        assert!(greatest.checked_mul(2).is_none());
    }

    #[test]
    fn roots_are_rounded_down() {
        let number = Wide::new(888_931_098);
        assert_eq!(number.root(2), 29_814);
        assert_eq!(Wide::new(65_536).checked_pow(8).unwrap().root(8), 65_536);
        assert_eq!(Wide::new(1).root(7), 1);
        assert_eq!(Wide::ZERO.root(2), 0);
    }

    #[test]
    fn digits_are_those_of_known_powers() {
        let power = Wide::new(2).checked_pow(200).unwrap();
        assert_eq!(
            power.to_string(),
            "1606938044258990275541962092341162602522202993782792835301376"
        );
        assert!((power.bits() - 200.0).abs() < 1e-9);
        assert_eq!(Wide::new(0).to_string(), "0");
    }
}
