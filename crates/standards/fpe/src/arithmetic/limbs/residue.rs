//! y mod m where y has few limbs more than m: the rounds of FF1.
//!
//! d is at most 7 bytes more than b, and m is radix^v or radix^(v-1), so the quotient has at most 80 bits:
//! two or three limbs of it, whatever the length. The reduction is long division with a reciprocal of the
//! upper limb of m, every estimate corrected by masks; its time is linear in the length.

use alloc::vec::Vec;

use super::{Limb, add_masked, halves, mask, shift_left, shift_right, subtract_product};

/// A modulus, shifted so that its upper bit is set.
pub(crate) struct Residue {
    plain: Vec<Limb>,
    shifted: Vec<Limb>,
    bits: u32,
    /// floor((2^128 - 1) / top) - 2^64.
    reciprocal: Limb,
}

impl Residue {
    /// Takes a modulus whose upper limb is not zero.
    pub(crate) fn new(plain: Vec<Limb>) -> Self {
        let top = plain.last().copied().unwrap_or(1);
        let bits = top.leading_zeros();
        let mut shifted = plain.clone();
        shift_left(&mut shifted, bits);
        let top = shifted.last().copied().unwrap_or(1);
        // The top bit of the divisor is set, so the quotient has 65 bits, the upper of them 1.
        let (reciprocal, _) = halves(u128::MAX / u128::from(top));
        Self {
            plain,
            shifted,
            bits,
            reciprocal,
        }
    }

    /// The modulus.
    pub(crate) fn value(&self) -> &[Limb] {
        &self.plain
    }

    /// Leaves y mod m in the lower limbs of y, and zeros above. y has at least one limb more than m, the
    /// upper one with room for the shift.
    pub(crate) fn reduce(&self, y: &mut [Limb]) {
        let limbs = self.shifted.len();
        shift_left(y, self.bits);
        for at in (0..y.len() - limbs).rev() {
            let (_, upper) = y.split_at_mut(at);
            let (window, _) = upper.split_at_mut(limbs + 1);
            self.step(window);
        }
        shift_right(&mut y[..limbs], self.bits);
    }

    /// One limb of the quotient: window, below m * 2^64, is replaced by window mod m.
    fn step(&self, window: &mut [Limb]) {
        let limbs = self.shifted.len();
        let (lower, top) = window.split_at_mut(limbs);
        let next = lower[limbs - 1];
        let quotient = self.estimate(top[0], next);
        let taken = subtract_product(lower, &self.shifted, quotient);
        top[0] = top[0].wrapping_sub(taken);
        // The estimate is at most two too large, and then what is left is negative: top[0] is all ones.
        for _ in 0..2 {
            let carry = add_masked(lower, &self.shifted, mask(top[0] >> 63));
            top[0] = top[0].wrapping_add(carry);
        }
    }

    /// The quotient of the two upper limbs by the divisor's upper limb, or all ones if it has more than 64
    /// bits: never too small for the whole division, and at most two too large (Knuth, 4.3.1, theorem B).
    fn estimate(&self, high: Limb, low: Limb) -> Limb {
        let divisor = self.shifted[self.shifted.len() - 1];
        // Möller and Granlund: (high + 1) + upper limb of (reciprocal * high + low), off by one either way.
        let wide = (u128::from(self.reciprocal) * u128::from(high))
            .wrapping_add(u128::from(high) << 64 | u128::from(low));
        let (fraction, whole) = halves(wide);
        let mut quotient = whole.wrapping_add(1);
        let mut rest = low.wrapping_sub(quotient.wrapping_mul(divisor));
        let above = mask(less(fraction, rest));
        quotient = quotient.wrapping_add(above);
        rest = rest.wrapping_add(divisor & above);
        quotient = quotient.wrapping_add(1 ^ less(rest, divisor));
        // high <= divisor always; equal, the quotient would not fit.
        quotient | mask(1 ^ less(high, divisor))
    }
}

/// 1 if a < b, else 0.
const fn less(a: Limb, b: Limb) -> Limb {
    super::subtract_limb(a, b, 0).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arithmetic::limbs::{Roots, Scratch, add, multiply};

    #[test]
    fn the_rest_of_a_known_product_and_rest_comes_back() {
        let mut seed = 5_u64;
        let mut next = || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(77);
            match seed >> 61 {
                0 => 0,
                1..=2 => u64::MAX,
                _ => seed.rotate_left(29),
            }
        };
        for round in 0..20_000_usize {
            let limbs = 2 + round % 5;
            let mut modulus: Vec<Limb> = (0..limbs).map(|_| next()).collect();
            let top = next() >> (round % 64);
            modulus[limbs - 1] = top.max(1);
            let quotient = [next(), next() & 0xFFFF];
            // A rest below the modulus: the modulus less one, zero, or its lower limbs.
            let mut rest = modulus.clone();
            match round % 3 {
                0 => rest.fill(0),
                1 => {
                    super::super::subtract(&mut rest, &[1]);
                }
                _ => rest[limbs - 1] = 0,
            }
            let mut y = alloc::vec![0; limbs + 2];
            multiply(
                &modulus,
                &quotient,
                &mut y,
                &mut Scratch::new(&Roots::default()),
            );
            add(&mut y, &rest);
            y.push(0);
            Residue::new(modulus).reduce(&mut y);
            assert_eq!(y[..limbs], rest, "round {round}");
            assert!(y[limbs..].iter().all(|limb| *limb == 0));
        }
    }
}
