//! Division by numbers that stay the same, with multiplications instead of the processor's division, which takes
//! several times as long and more for some numbers than for others.
//!
//! N. Möller and T. Granlund, "Improved division by invariant integers", IEEE Transactions on Computers 60 (2011),
//! algorithm 4 with the reciprocal of section 2.

/// A number of 64 bits to divide by, and its reciprocal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Divisor {
    /// Shifted to the left until its first bit is set.
    shifted: u64,
    shift: u32,
    /// floor((2^128 - 1) / shifted) - 2^64.
    reciprocal: u64,
}

impl Divisor {
    /// By 0 it is as by 1.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the quotient has its bit 64 set, which is what is taken off"
    )]
    pub(crate) const fn new(divisor: u64) -> Self {
        let divisor = if divisor == 0 { 1 } else { divisor };
        let shift = divisor.leading_zeros();
        let shifted = divisor << shift;
        Self {
            shifted,
            shift,
            reciprocal: (u128::MAX / shifted as u128) as u64,
        }
    }

    /// Quotient and remainder.
    #[inline(always)]
    pub(crate) const fn of(self, number: u64) -> (u64, u64) {
        // The upper part of the shifted number is below 2^shift, and so below the shifted divisor.
        let (high, low) = halves((number as u128) << self.shift);
        let (quotient, rest) = self.step(high, low);
        (quotient, rest >> self.shift)
    }

    /// Quotient and remainder.
    #[inline(always)]
    pub(crate) const fn of_wide(self, number: u128) -> (u128, u64) {
        let (high, low) = halves(number);
        let (upper, rest) = self.of(high);
        // The remainder of the upper half is below the divisor, so the shift loses nothing.
        let (next, low) = halves((((rest as u128) << 64) | low as u128) << self.shift);
        let (lower, rest) = self.step(next, low);
        (((upper as u128) << 64) | lower as u128, rest >> self.shift)
    }

    /// Two words by one; the upper word is below the shifted divisor.
    #[inline(always)]
    const fn step(self, high: u64, low: u64) -> (u64, u64) {
        let estimate = self.reciprocal as u128 * high as u128;
        let estimate = estimate.wrapping_add(((high as u128) << 64) | low as u128);
        let (above, below) = halves(estimate);
        let mut quotient = above.wrapping_add(1);
        let mut rest = low.wrapping_sub(quotient.wrapping_mul(self.shifted));
        let over = (rest > below) as u64;
        quotient = quotient.wrapping_sub(over);
        rest = rest.wrapping_add(over.wrapping_neg() & self.shifted);
        let under = (rest >= self.shifted) as u64;
        quotient = quotient.wrapping_add(under);
        rest = rest.wrapping_sub(under.wrapping_neg() & self.shifted);
        (quotient, rest)
    }
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "each is a half")]
const fn halves(number: u128) -> (u64, u64) {
    ((number >> 64) as u64, number as u64)
}

#[cfg(test)]
mod tests {
    use super::Divisor;

    /// Numbers of every size, and those beside powers of two.
    fn numbers() -> impl Iterator<Item = u128> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = move || {
            state = state
                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                .wrapping_add(0x1405_7b7e_f767_814f);
            u128::from(state ^ (state >> 29))
        };
        let random = (0..600).map(move |place| {
            let number = (next() << 64) | next();
            number >> (place % 128)
        });
        let edges = (0..128).flat_map(|bit| {
            let power = 1_u128 << bit;
            [power - 1, power, power + 1, power.wrapping_neg()]
        });
        random.chain(edges)
    }

    #[test]
    fn quotients_and_remainders_are_those_of_the_processor() {
        let divisors =
            numbers().map(|number| u64::try_from(number & u128::from(u64::MAX)).unwrap());
        for by in divisors.filter(|by| *by > 0) {
            let divisor = Divisor::new(by);
            for number in numbers() {
                let expected = (number / u128::from(by), number % u128::from(by));
                let (quotient, rest) = divisor.of_wide(number);
                assert_eq!((quotient, u128::from(rest)), expected, "{number} by {by}");
                let low = u64::try_from(number >> 64).unwrap();
                assert_eq!(divisor.of(low), (low / by, low % by), "{low} by {by}");
            }
        }
        assert_eq!(Divisor::new(0).of(7), (7, 0));
    }
}
