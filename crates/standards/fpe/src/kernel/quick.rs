//! Reductions for waves that know more about y and the modulus than `crate::arithmetic` does.
//!
//! * Powers of two: a mask.
//! * FF1 with d = 12: y < 2^96 and 2^32 < M <= 2^64. With r = floor((2^96 - 1) / M), below 2^64, and
//!   h = floor(y / 2^32), the estimate q = floor(h r / 2^64) is never too large. It is short of y / M
//!   by less than 1 for each of what h leaves out (2^32 / M), what r leaves out (h / 2^64) and the
//!   last rounding: at most 2 too small, so y - q M lies in [0, 3 M).
//! * y < 2^128 and 2^64 < M <= 2^96: the same with floor((2^128 - 1) / M) and h = floor(y / 2^64).
//!
//! * Where M is also well above 2^32 or 2^64, the half goes into the estimate: with 2^k <= M < 2^(k+1),
//!   r = floor((2^127 - 1) / ceil(M / 2^(k-63))), which is short of 2^(64+k) / M by less than one part in
//!   2^62, and h = floor(y / 2^33) + floor(a / 2^33) (65 for 33 with y < 2^128), the estimate
//!   floor(h r / 2^(31+k)) or floor(h r / 2^(k-1)) of (a + y) / M is never too large. Before it is rounded
//!   it is short by less than what two units of h stand for, because of what h leaves out, and by less than
//!   as much again for what r leaves out: 2^35 / M (2^67 / M) together. So a + y - q M is below M + 2^35
//!   (M + 2^67), and one masked subtraction of M ends the round.
//!   Subtraction needs an estimate q of (y - a) / M that is neither too small nor too large by more than
//!   1: the same, with floor(M / 2^33) + 4 - floor(a / 2^33) in h instead of floor(a / 2^33). Of that, M
//!   makes the rounding one upwards, and the four units make up for all that h and r leave out. What they
//!   are too much is at most five units, so a - y + q M lies in [0, M + 5 * 2^33] (5 * 2^65).
//!
//! The constructors are not inlined, so that their divisions (of public numbers) stand in no kernel.
//!
//! In the first two cases a half below M is added before the multiples of M are taken off, so two masked
//! subtractions, of 2 M and of M, end every round; subtraction adds 3 M first.

use crate::arithmetic::{Modulus, multiply_high, opaque};

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

/// 2^44 < M < 2^64 - 2^36, y < 2^96.
#[derive(Clone, Copy)]
pub(super) struct Full64 {
    modulus: u64,
    reciprocal: u64,
    shift: u32,
    above: u64,
}

/// 2^68 < M <= 2^96, y < 2^128.
#[derive(Clone, Copy)]
pub(super) struct Tight128 {
    modulus: u128,
    reciprocal: u64,
    shift: u32,
    above: u64,
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
        let fits = modulus > 1 << 44 && modulus < (1 << 64) - (1 << 36);
        fits.then(|| Self {
            modulus: low(modulus),
            reciprocal: normalised(modulus),
            // 31 + k - 64.
            shift: modulus.ilog2() - 33,
            above: low(modulus >> 33) + 4,
        })
    }
}

impl Tight128 {
    /// `None` if the modulus is out of range.
    #[inline(never)]
    pub(super) fn new(modulus: u128) -> Option<Self> {
        let fits = modulus > 1 << 68 && modulus <= 1 << 96;
        fits.then(|| Self {
            modulus,
            reciprocal: normalised(modulus),
            // k - 1 - 64.
            shift: modulus.ilog2() - 65,
            above: low(modulus >> 65) + 4,
        })
    }
}

/// The reciprocal with 64 bits after the leading zeros of the modulus.
fn normalised(modulus: u128) -> u64 {
    let k = modulus.ilog2();
    let leading = if k < 63 {
        modulus << (63 - k)
    } else {
        // One more for what the shift leaves out, or for nothing, which makes it smaller than it need be.
        (modulus >> (k - 63)) + u128::from(k > 63)
    };
    low((u128::MAX >> 1) / leading)
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
    /// The multiple of M that an estimate is of, modulo 2^64: what it is added to or taken from ends below
    /// M + 2^36, whatever is lost above.
    #[inline(always)]
    fn multiple(self, above: u64) -> u64 {
        let estimate = multiply_high(above, self.reciprocal) >> self.shift;
        estimate.wrapping_mul(self.modulus)
    }

    /// Brings a number below 2 M below M. It may be above 2^63, so the borrow decides and not a sign.
    #[inline(always)]
    fn settle(self, rest: u64) -> u64 {
        let (less, borrow) = rest.overflowing_sub(self.modulus);
        let negative = opaque(u64::from(borrow).wrapping_neg());
        less.wrapping_add(self.modulus & negative)
    }
}

impl Modulus for Full64 {
    type Half = u64;

    #[inline(always)]
    fn add(self, a: u64, y: u128) -> u64 {
        let multiple = self.multiple(low(y >> 33) + (a >> 33));
        self.settle(low(y).wrapping_add(a).wrapping_sub(multiple))
    }

    #[inline(always)]
    fn subtract(self, a: u64, y: u128) -> u64 {
        let multiple = self.multiple(low(y >> 33) + self.above - (a >> 33));
        self.settle(a.wrapping_sub(low(y)).wrapping_add(multiple))
    }
}

impl Tight128 {
    /// The multiple of M that an estimate is of, modulo 2^128: what it is added to or taken from ends below
    /// 2 M whatever is lost above.
    #[inline(always)]
    fn multiple(self, above: u64) -> u128 {
        let estimate = multiply_high(above, self.reciprocal) >> self.shift;
        u128::from(estimate).wrapping_mul(self.modulus)
    }
}

impl Modulus for Tight128 {
    type Half = u128;

    #[inline(always)]
    fn add(self, a: u128, y: u128) -> u128 {
        let multiple = self.multiple(low(y >> 65) + low(a >> 65));
        take_off_wide(y.wrapping_add(a).wrapping_sub(multiple), self.modulus)
    }

    #[inline(always)]
    fn subtract(self, a: u128, y: u128) -> u128 {
        let multiple = self.multiple(low(y >> 65) + self.above - low(a >> 65));
        take_off_wide(a.wrapping_sub(y).wrapping_add(multiple), self.modulus)
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
fn take_off_wide(x: u128, m: u128) -> u128 {
    let less = x.wrapping_sub(m);
    let negative = opaque(low((less.cast_signed() >> 127).cast_unsigned()));
    less.wrapping_add(m & (u128::from(negative) << 64 | u128::from(negative)))
}

/// Two moduli of one kind, if both are.
pub(super) fn both<M>(moduli: [u128; 2], new: impl Fn(u128) -> Option<M>) -> Option<[M; 2]> {
    Some([new(moduli[0])?, new(moduli[1])?])
}

#[cfg(test)]
mod tests;
