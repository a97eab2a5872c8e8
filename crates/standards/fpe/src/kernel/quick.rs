//! Reductions for waves that know more about y and the modulus than `crate::arithmetic` does.
//!
//! * Powers of two: a mask.
//! * FF1 with d = 12: y < 2^96 and 2^32 < M <= 2^64. With r = floor((2^96 - 1) / M), below 2^64, and
//!   h = floor(y / 2^32), the estimate q = floor(h r / 2^64) is never too large. It is short of y / M
//!   by less than 1 for each of what h leaves out (2^32 / M), what r leaves out (h / 2^64) and the
//!   last rounding: at most 2 too small, so y - q M lies in [0, 3 M).
//! * y < 2^128 and 2^64 < M <= 2^96: the same with floor((2^128 - 1) / M) and h = floor(y / 2^64).
//!
//! The constructors are not inlined, so that their divisions (of public numbers) stand in no kernel.
//!
//! A half below M is added before the multiples of M are taken off, so two masked subtractions, of
//! 2 M and of M, end every round; subtraction adds 3 M first.

use crate::arithmetic::{Modulus, multiply_high};

/// A modulus 2^k, halves of at most 64 bits.
#[derive(Clone, Copy)]
pub(super) struct Mask64(u64);

/// A modulus 2^k, halves of more than 64 bits.
#[derive(Clone, Copy)]
pub(super) struct Mask128(u128);

/// 2^32 < M <= 2^61, y < 2^96.
#[derive(Clone, Copy)]
pub(super) struct Quick64 {
    modulus: u64,
    reciprocal: u64,
}

/// 2^32 < M <= 2^64, y < 2^96.
#[derive(Clone, Copy)]
pub(super) struct Full64 {
    modulus: u128,
    reciprocal: u64,
}

/// 2^64 < M <= 2^96, y < 2^128.
#[derive(Clone, Copy)]
pub(super) struct Quick128 {
    modulus: u128,
    reciprocal: u64,
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "modulo 2^64 on purpose")]
const fn low(x: u128) -> u64 {
    x as u64
}

impl Mask64 {
    /// `None` if the modulus is no power of two or exceeds 2^64.
    pub(super) fn new(modulus: u128) -> Option<Self> {
        (modulus.is_power_of_two() && modulus <= 1 << 64).then(|| Self(low(modulus - 1)))
    }
}

impl Mask128 {
    /// `None` if the modulus is no power of two.
    pub(super) fn new(modulus: u128) -> Option<Self> {
        modulus.is_power_of_two().then(|| Self(modulus - 1))
    }
}

impl Quick64 {
    /// `None` if the modulus is out of range.
    #[inline(never)]
    pub(super) fn new(modulus: u128) -> Option<Self> {
        let fits = modulus > 1 << 32 && modulus <= 1 << 61;
        fits.then(|| Self {
            modulus: low(modulus),
            reciprocal: low((u128::MAX >> 32) / modulus),
        })
    }
}

impl Full64 {
    /// `None` if the modulus is out of range.
    #[inline(never)]
    pub(super) fn new(modulus: u128) -> Option<Self> {
        let fits = modulus > 1 << 32 && modulus <= 1 << 64;
        fits.then(|| Self {
            modulus,
            reciprocal: low((u128::MAX >> 32) / modulus),
        })
    }
}

impl Quick128 {
    /// `None` if the modulus is out of range.
    #[inline(never)]
    pub(super) fn new(modulus: u128) -> Option<Self> {
        let fits = modulus > 1 << 64 && modulus <= 1 << 96;
        fits.then(|| Self {
            modulus,
            reciprocal: low(u128::MAX / modulus),
        })
    }
}

impl Modulus for Mask64 {
    type Half = u64;

    #[inline(always)]
    fn add(self, a: u64, y: u128) -> u64 {
        a.wrapping_add(low(y)) & self.0
    }

    #[inline(always)]
    fn subtract(self, a: u64, y: u128) -> u64 {
        a.wrapping_sub(low(y)) & self.0
    }
}

impl Modulus for Mask128 {
    type Half = u128;

    #[inline(always)]
    fn add(self, a: u128, y: u128) -> u128 {
        a.wrapping_add(y) & self.0
    }

    #[inline(always)]
    fn subtract(self, a: u128, y: u128) -> u128 {
        a.wrapping_sub(y) & self.0
    }
}

impl Quick64 {
    /// y - q M, below 3 M.
    #[inline(always)]
    fn rest(self, y: u128) -> u64 {
        let quotient = multiply_high(low(y >> 32), self.reciprocal);
        low(y).wrapping_sub(quotient.wrapping_mul(self.modulus))
    }

    /// Brings a number below 4 M below M.
    #[inline(always)]
    fn settle(self, x: u64) -> u64 {
        let x = take_off(x, self.modulus << 1);
        take_off(x, self.modulus)
    }
}

impl Modulus for Quick64 {
    type Half = u64;

    #[inline(always)]
    fn add(self, a: u64, y: u128) -> u64 {
        self.settle(a + self.rest(y))
    }

    #[inline(always)]
    fn subtract(self, a: u64, y: u128) -> u64 {
        self.settle(a + 3 * self.modulus - self.rest(y))
    }
}

impl Full64 {
    #[inline(always)]
    fn rest(self, y: u128) -> u128 {
        let quotient = multiply_high(low(y >> 32), self.reciprocal);
        y.wrapping_sub(u128::from(quotient).wrapping_mul(self.modulus))
    }
}

impl Modulus for Full64 {
    type Half = u64;

    #[inline(always)]
    fn add(self, a: u64, y: u128) -> u64 {
        low(settle_wide(u128::from(a) + self.rest(y), self.modulus))
    }

    #[inline(always)]
    fn subtract(self, a: u64, y: u128) -> u64 {
        low(settle_wide(
            u128::from(a) + 3 * self.modulus - self.rest(y),
            self.modulus,
        ))
    }
}

impl Quick128 {
    #[inline(always)]
    fn rest(self, y: u128) -> u128 {
        let quotient = multiply_high(low(y >> 64), self.reciprocal);
        y.wrapping_sub(u128::from(quotient).wrapping_mul(self.modulus))
    }
}

impl Modulus for Quick128 {
    type Half = u128;

    #[inline(always)]
    fn add(self, a: u128, y: u128) -> u128 {
        settle_wide(a + self.rest(y), self.modulus)
    }

    #[inline(always)]
    fn subtract(self, a: u128, y: u128) -> u128 {
        settle_wide(a + 3 * self.modulus - self.rest(y), self.modulus)
    }
}

/// Brings a number below 4 M below M.
#[inline(always)]
fn settle_wide(x: u128, m: u128) -> u128 {
    let x = take_off_wide(x, m << 1);
    take_off_wide(x, m)
}

/// x - m, or x if that is negative; both are below 2^63.
#[inline(always)]
const fn take_off(x: u64, m: u64) -> u64 {
    let less = x.wrapping_sub(m);
    let negative = less.cast_signed() >> 63;
    less.wrapping_add(m & negative.cast_unsigned())
}

/// x - m, or x if that is negative; both are below 2^127.
#[inline(always)]
const fn take_off_wide(x: u128, m: u128) -> u128 {
    let less = x.wrapping_sub(m);
    let negative = less.cast_signed() >> 127;
    less.wrapping_add(m & negative.cast_unsigned())
}

/// Two moduli of one kind, if both are.
pub(super) fn both<M>(moduli: [u128; 2], new: impl Fn(u128) -> Option<M>) -> Option<[M; 2]> {
    Some([new(moduli[0])?, new(moduli[1])?])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Multiples of the modulus and their neighbours, at both ends and between.
    fn traps(m: u128, greatest: u128) -> impl Iterator<Item = u128> {
        let last = greatest / m;
        let mut seed = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835_u128;
        let between = (0..500).map(move |_| {
            seed = seed.wrapping_mul(0xd134_2543_de82_ef95_2545_f491_4f6c_dd1d) | 1;
            (seed >> 1) % (last + 1)
        });
        (0..4)
            .chain(last - 3..=last)
            .chain(between)
            .flat_map(move |k| [(k * m).saturating_sub(1), k * m, (k * m).saturating_add(1)])
            .map(move |y| y.min(greatest))
            .chain([greatest])
    }

    fn judge<M: Modulus<Half: TryFrom<u128>>>(modulus: M, m: u128, greatest: u128) {
        for y in traps(m, greatest) {
            for a in [0, 1, m / 2, m - 1] {
                let Ok(half) = M::Half::try_from(a) else {
                    panic!("half below the modulus")
                };
                assert_eq!(
                    modulus.add(half, y).into(),
                    (a + y % m) % m,
                    "{a} + {y} mod {m}"
                );
                let difference = (a + m - y % m) % m;
                assert_eq!(
                    modulus.subtract(half, y).into(),
                    difference,
                    "{a} - {y} mod {m}"
                );
            }
        }
    }

    #[test]
    fn reductions_are_exact_at_both_ends_and_around_multiples() {
        for radix in [2u128, 3, 7, 10, 26, 36, 62, 255, 256, 1000, 65_535, 65_536] {
            let powers =
                core::iter::successors(Some(radix), |power: &u128| power.checked_mul(radix));
            for m in powers.take_while(|power| *power <= 1 << 96) {
                Mask64::new(m)
                    .into_iter()
                    .for_each(|x| judge(x, m, u128::MAX));
                Mask128::new(m)
                    .into_iter()
                    .for_each(|x| judge(x, m, u128::MAX));
                Quick64::new(m)
                    .into_iter()
                    .for_each(|x| judge(x, m, u128::MAX >> 32));
                Full64::new(m)
                    .into_iter()
                    .for_each(|x| judge(x, m, u128::MAX >> 32));
                Quick128::new(m)
                    .into_iter()
                    .for_each(|x| judge(x, m, u128::MAX));
            }
        }
    }

    #[test]
    fn moduli_outside_the_range_of_a_reduction_are_refused() {
        assert!(Mask64::new(10).is_none() && Mask64::new(1 << 65).is_none());
        assert!(Mask128::new((1 << 70) + 1).is_none());
        assert!(Quick64::new(1 << 32).is_none() && Quick64::new((1 << 61) + 1).is_none());
        assert!(Full64::new(1 << 32).is_none() && Full64::new((1 << 64) + 1).is_none());
        assert!(Quick128::new(1 << 64).is_none() && Quick128::new((1 << 96) + 1).is_none());
    }
}
