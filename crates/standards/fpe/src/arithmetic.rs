//! Arithmetic on halves that fit a word: reduction modulo radix^m; [`Digits`] has numbers from and to digits.
//!
//! Divisors are public and known beforehand, so a division is a multiplication by a reciprocal, an estimate
//! that is at most one too small, and corrections by masks. No division instruction and no branch meets a
//! secret.
//!
//! With r = floor((2^k - 1) / m) and y < 2^k: y/m - 1 < y*r/2^k <= y/m, so floor(y*r / 2^k) is
//! floor(y/m) or one less, and the rest that it leaves lies in 0..2m.

mod digits;
#[cfg(feature = "std")]
pub(crate) mod limbs;
mod opaque;

use zeroize::Zeroize;

#[cfg(feature = "std")]
pub(crate) use digits::low_word;
pub(crate) use digits::{DigitOrder, Digits};
pub(crate) use opaque::opaque;

/// The upper and lower 128 bits of a product.
#[inline(always)]
pub(crate) const fn multiply_wide(a: u128, b: u128) -> (u128, u128) {
    const LOW: u128 = u64::MAX as u128;
    let (a1, a0, b1, b0) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let low = a0 * b0;
    let (cross, other) = (a1 * b0, a0 * b1);
    let middle = (low >> 64) + (cross & LOW) + (other & LOW);
    let high = a1 * b1 + (cross >> 64) + (other >> 64) + (middle >> 64);
    (high, middle << 64 | low & LOW)
}

#[inline(always)]
pub(crate) const fn multiply_high(a: u64, b: u64) -> u64 {
    ((a as u128 * b as u128) >> 64) as u64
}

/// All ones if the top bit is set, else zero.
#[inline(always)]
#[expect(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "the arithmetic shift spreads the top bit"
)]
const fn spread(x: u64) -> u64 {
    ((x as i64) >> 63) as u64
}

#[inline(always)]
#[expect(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "the arithmetic shift spreads the top bit"
)]
const fn spread_wide(x: u128) -> u128 {
    ((x as i128) >> 127) as u128
}

/// A modulus radix^m, and the addition and subtraction of a reduced y.
pub(crate) trait Modulus: Copy {
    /// What a half is kept in.
    type Half: Copy + Default + Into<u128> + Zeroize;

    /// (a + y) mod m.
    fn add(self, a: Self::Half, y: u128) -> Self::Half;

    /// (a - y) mod m.
    fn subtract(self, a: Self::Half, y: u128) -> Self::Half;
}

/// m <= 2^32 with y of 64 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Narrow {
    pub(crate) modulus: u64,
    pub(crate) reciprocal: u64,
}

impl Narrow {
    pub(crate) const fn new(modulus: u64) -> Self {
        Self {
            modulus,
            reciprocal: u64::MAX / modulus,
        }
    }

    /// y mod m, or that and m once more.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "y has 64 bits here")]
    fn rest(self, y: u128) -> u64 {
        let y = y as u64;
        y.wrapping_sub(multiply_high(y, self.reciprocal).wrapping_mul(self.modulus))
    }
}

impl Modulus for Narrow {
    type Half = u64;

    #[inline(always)]
    fn add(self, a: u64, y: u128) -> u64 {
        add_masked(a, self.rest(y), self.modulus)
    }

    #[inline(always)]
    fn subtract(self, a: u64, y: u128) -> u64 {
        subtract_masked(a, self.rest(y), self.modulus)
    }
}

/// m <= 2^61 with y of up to 128 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Middle {
    pub(crate) modulus: u64,
    pub(crate) reciprocal: u128,
}

impl Middle {
    pub(crate) const LARGEST: u128 = 1 << 61;

    pub(crate) const fn new(modulus: u64) -> Self {
        Self {
            modulus,
            reciprocal: u128::MAX / modulus as u128,
        }
    }

    /// y mod m, or that and m once more. It is below 2^62, so that the lower words decide.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "modulo 2^64 on purpose")]
    fn rest(self, y: u128) -> u64 {
        let (quotient, _) = multiply_wide(y, self.reciprocal);
        (y as u64).wrapping_sub((quotient as u64).wrapping_mul(self.modulus))
    }
}

impl Modulus for Middle {
    type Half = u64;

    #[inline(always)]
    fn add(self, a: u64, y: u128) -> u64 {
        add_masked(a, self.rest(y), self.modulus)
    }

    #[inline(always)]
    fn subtract(self, a: u64, y: u128) -> u64 {
        subtract_masked(a, self.rest(y), self.modulus)
    }
}

/// a + rest mod m, for a < m and rest < 2m. The multiples of m are taken off before `rest` is there.
#[inline(always)]
fn add_masked(a: u64, rest: u64, m: u64) -> u64 {
    let once = a.wrapping_sub(m).wrapping_add(rest);
    let twice = a.wrapping_sub(m).wrapping_sub(m).wrapping_add(rest);
    twice
        .wrapping_add(m & spread(twice))
        .wrapping_add(m & spread(once))
}

/// a - rest mod m, for a < m and rest < 2m.
#[inline(always)]
fn subtract_masked(a: u64, rest: u64, m: u64) -> u64 {
    let plain = a.wrapping_sub(rest);
    let once = a.wrapping_add(m).wrapping_sub(rest);
    plain
        .wrapping_add(m & spread(plain))
        .wrapping_add(m & spread(once))
}

/// m <= 2^96 with y of up to 128 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wide {
    pub(crate) modulus: u128,
    pub(crate) reciprocal: u128,
}

impl Wide {
    pub(crate) const fn new(modulus: u128) -> Self {
        Self {
            modulus,
            reciprocal: u128::MAX / modulus,
        }
    }

    #[inline(always)]
    fn rest(self, y: u128) -> u128 {
        let (quotient, _) = multiply_wide(y, self.reciprocal);
        y.wrapping_sub(quotient.wrapping_mul(self.modulus))
    }
}

impl Modulus for Wide {
    type Half = u128;

    #[inline(always)]
    fn add(self, a: u128, y: u128) -> u128 {
        let m = self.modulus;
        let sum = a.wrapping_add(self.rest(y));
        let (once, twice) = (sum.wrapping_sub(m), sum.wrapping_sub(m).wrapping_sub(m));
        twice
            .wrapping_add(m & spread_wide(twice))
            .wrapping_add(m & spread_wide(once))
    }

    #[inline(always)]
    fn subtract(self, a: u128, y: u128) -> u128 {
        let m = self.modulus;
        let plain = a.wrapping_sub(self.rest(y));
        let once = plain.wrapping_add(m);
        plain
            .wrapping_add(m & spread_wide(plain))
            .wrapping_add(m & spread_wide(once))
    }
}

#[cfg(test)]
mod tests;
