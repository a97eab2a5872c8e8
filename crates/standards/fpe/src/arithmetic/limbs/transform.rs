//! Products by number-theoretic transforms, for operands of thousands of limbs.
//!
//! Limbs are cut into pieces of 16 bits, the coefficients of two polynomials whose product is taken modulo
//! x^N - 1 over the field of p = 29 * 2^57 + 1, which has roots of unity of every order up to 2^57. A
//! coefficient of the product is below 2^32 * N and so below p for every length that can be asked for.
//!
//! x^N - 1 is split into x^(N/2) - s and x^(N/2) + s with s = 1, each of these again with the roots of its
//! constant, and so on. The roots come in an order in which each level uses a prefix of the same table: bit
//! k of the place of a root stands for a factor of order 2^(k+2).
//!
//! Products by a root use its quotient by p (Shoup), and sums are reduced as late as four times p allows
//! (Harvey, "Faster arithmetic for number-theoretic transforms"). Reductions are masked; nothing branches.

use alloc::vec::Vec;

use super::{Limb, halves, mask};
use crate::arithmetic::multiply_high;

/// Below 2^62, so that four times p fits a limb.
const P: Limb = 29 << 57 | 1;
/// Generates the multiplicative group.
const GENERATOR: Limb = 3;
/// -1/p mod 2^64, for Montgomery's reduction.
const NEGATIVE_INVERSE: Limb = negative_inverse();
const PIECES: usize = 4;
/// Coefficients that stay in the nearest cache, with their roots, while all levels below are done; a power
/// of two.
const NEAR: usize = 2048;

/// A constant factor w and floor(w * 2^64 / p).
#[derive(Clone, Copy)]
struct Factor {
    value: Limb,
    quotient: Limb,
}

/// The roots and their inverses for transforms up to a length. Public.
#[derive(Default)]
pub(crate) struct Roots {
    forward: Vec<Factor>,
    backward: Vec<Factor>,
}

/// The length of the transform of a product of so many limbs.
pub(crate) const fn size(limbs: usize) -> usize {
    (PIECES * limbs).next_power_of_two()
}

impl Roots {
    /// For products of up to so many limbs.
    pub(crate) fn new(limbs: usize) -> Self {
        let length = size(limbs) / 2;
        Self {
            forward: table(length, power(GENERATOR, 29)),
            backward: table(length, power(power(GENERATOR, 29), P - 2)),
        }
    }

    /// Whether a product of so many limbs can be had.
    pub(crate) fn reach(&self, limbs: usize) -> bool {
        self.forward.len() >= size(limbs) / 2
    }

    /// out = a * b. `work` has room for two transforms; its owner wipes it.
    pub(crate) fn multiply(&self, a: &[Limb], b: &[Limb], out: &mut [Limb], work: &mut [Limb]) {
        let length = size(out.len());
        let (x, y) = work.split_at_mut(length);
        let y = &mut y[..length];
        self.evaluate(a, x);
        self.evaluate(b, y);
        // One over N, and 2^64 for what Montgomery's reduction takes away.
        let inverse = power(length as Limb, P - 2);
        let scale = Factor::new(modulo((inverse as u128) << 64));
        for (x, y) in x.iter_mut().zip(y) {
            *x = scale.times(montgomery(once(twice(*x)), once(twice(*y))));
        }
        self.interpolate(x);
        collect(x, out);
    }

    /// Values, below 4p, of the polynomial with the pieces of a number as its coefficients.
    fn evaluate(&self, number: &[Limb], out: &mut [Limb]) {
        out.fill(0);
        for (pieces, limb) in out.chunks_mut(PIECES).zip(number) {
            for (piece, shift) in pieces.iter_mut().zip([0, 16, 32, 48]) {
                *piece = limb >> shift & 0xFFFF;
            }
        }
        let mut half = out.len() / 2;
        while half >= NEAR {
            split(out, half, &self.forward);
            half /= 2;
        }
        // From here on each block is taken to its end while it is near: it needs no other.
        for (place, block) in out.chunks_mut(NEAR).enumerate() {
            let (mut half, mut first) = (block.len() / 2, place);
            while half > 0 {
                split(block, half, self.forward.get(first..).unwrap_or_default());
                (half, first) = (half / 2, 2 * first);
            }
        }
    }

    /// N times the coefficients, below 2p, from values below 2p.
    fn interpolate(&self, values: &mut [Limb]) {
        for (place, block) in values.chunks_mut(NEAR).enumerate() {
            let (mut half, mut first) = (1, place * (block.len() / 2));
            while half < block.len() {
                join(block, half, self.backward.get(first..).unwrap_or_default());
                (half, first) = (2 * half, first / 2);
            }
        }
        let mut half = NEAR;
        while half < values.len() {
            join(values, half, &self.backward);
            half *= 2;
        }
    }
}

/// One level of [`Roots::evaluate`] over blocks of twice `half`, each with a root of its own.
#[inline(always)]
fn split(values: &mut [Limb], half: usize, roots: &[Factor]) {
    for (block, root) in values.chunks_mut(2 * half).zip(roots) {
        let (low, high) = block.split_at_mut(half);
        for (a, b) in low.iter_mut().zip(high) {
            let (left, turned) = (twice(*a), root.times(*b));
            *a = left + turned;
            *b = left + 2 * P - turned;
        }
    }
}

/// One level of [`Roots::interpolate`].
#[inline(always)]
fn join(values: &mut [Limb], half: usize, roots: &[Factor]) {
    for (block, root) in values.chunks_mut(2 * half).zip(roots) {
        let (low, high) = block.split_at_mut(half);
        for (a, b) in low.iter_mut().zip(high) {
            let (sum, difference) = (*a + *b, *a + 2 * P - *b);
            *a = twice(sum);
            *b = root.times(difference);
        }
    }
}

impl Factor {
    const fn new(value: Limb) -> Self {
        let (quotient, _) = halves(((value as u128) << 64) / P as u128);
        Self { value, quotient }
    }

    /// Below 2p, for any limb.
    #[inline(always)]
    const fn times(self, x: Limb) -> Limb {
        let estimate = multiply_high(self.quotient, x);
        self.value
            .wrapping_mul(x)
            .wrapping_sub(estimate.wrapping_mul(P))
    }
}

/// The roots in the order that is described above, from a root of order 2^57.
fn table(length: usize, root: Limb) -> Vec<Factor> {
    let mut values = alloc::vec![1];
    while values.len() < length {
        let order = values.len().trailing_zeros() + 2;
        let factor = power(root, 1 << (57 - order));
        let next: Vec<Limb> = values.iter().map(|value| product(*value, factor)).collect();
        values.extend(next);
    }
    values.into_iter().map(Factor::new).collect()
}

/// The number whose pieces, with carries, are the coefficients.
fn collect(coefficients: &[Limb], out: &mut [Limb]) {
    let mut carry = 0_u128;
    for (limb, pieces) in out.iter_mut().zip(coefficients.chunks(PIECES)) {
        for (piece, shift) in pieces.iter().zip([0, 16, 32, 48]) {
            carry += u128::from(once(*piece)) << shift;
        }
        let (low, high) = halves(carry);
        *limb = low;
        carry = high.into();
    }
}

/// From below 4p to below 2p.
#[inline(always)]
fn twice(a: Limb) -> Limb {
    let less = a.wrapping_sub(2 * P);
    less.wrapping_add((2 * P) & mask(less >> 63))
}

/// From below 2p to below p.
#[inline(always)]
fn once(a: Limb) -> Limb {
    let less = a.wrapping_sub(P);
    less.wrapping_add(P & mask(less >> 63))
}

/// a * b / 2^64 mod p, below 2p, for a and b below p.
#[inline(always)]
const fn montgomery(a: Limb, b: Limb) -> Limb {
    let (low, high) = halves(a as u128 * b as u128);
    // low + m * p is a multiple of 2^64; it carries unless low is zero.
    let m = low.wrapping_mul(NEGATIVE_INVERSE);
    let (_, carry) = super::subtract_limb(0, low, 0);
    high + multiply_high(m, P) + carry
}

const fn negative_inverse() -> Limb {
    let (mut inverse, mut steps) = (1_u64, 0);
    while steps < 6 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(P.wrapping_mul(inverse)));
        steps += 1;
    }
    inverse.wrapping_neg()
}

/// Of public numbers, as are the two below.
const fn modulo(number: u128) -> Limb {
    let (rest, _) = halves(number % P as u128);
    rest
}

const fn product(a: Limb, b: Limb) -> Limb {
    modulo(a as u128 * b as u128)
}

const fn power(base: Limb, mut exponent: Limb) -> Limb {
    let (mut result, mut square) = (1, base);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = product(result, square);
        }
        square = product(square, square);
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_has_order_2_57() {
        let root = power(GENERATOR, 29);
        assert_eq!(power(root, 1 << 57), 1);
        assert_eq!(power(root, 1 << 56), P - 1);
    }

    #[test]
    fn products_in_the_field_are_those_of_its_definition() {
        let edges = [0, 1, 2, 0xFFFF, 1 << 32, P / 2, P - 2, P - 1];
        for a in edges {
            for b in edges {
                let by_factor = Factor::new(a).times(b);
                assert_eq!(once(by_factor), product(a, b));
                let reduced = once(montgomery(a, b));
                assert_eq!(product(reduced, modulo(1 << 64)), product(a, b));
            }
            for b in [P, 2 * P, 4 * P - 1, u64::MAX] {
                assert_eq!(once(Factor::new(a).times(b)), product(a, modulo(b.into())));
                assert_eq!(
                    once(twice(b.min(4 * P - 1))),
                    modulo(b.min(4 * P - 1).into())
                );
            }
        }
    }
}
