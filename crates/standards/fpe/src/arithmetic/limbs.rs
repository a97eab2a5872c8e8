//! Numbers of a fixed number of 64-bit limbs, least significant first, for halves of more than 96 bits.
//!
//! The number of limbs follows from radix and number of digits, never from the number itself: nothing is
//! trimmed, every loop has a public length, and corrections are masked. Multiplication is schoolbook for
//! few limbs, Karatsuba's for more, and by transforms for thousands.

mod multiply;
mod positional;
mod residue;
mod transform;

pub(crate) use multiply::{Scratch, multiply};
pub(crate) use positional::Positional;
pub(crate) use residue::Residue;
pub(crate) use transform::Roots;

/// A limb.
pub(crate) type Limb = u64;

/// a + b + carry, and the carry.
#[inline(always)]
pub(crate) const fn add_limb(a: Limb, b: Limb, carry: Limb) -> (Limb, Limb) {
    let sum = a as u128 + b as u128 + carry as u128;
    halves(sum)
}

/// a - b - borrow, and the borrow.
#[inline(always)]
pub(crate) const fn subtract_limb(a: Limb, b: Limb, borrow: Limb) -> (Limb, Limb) {
    let difference = (a as u128)
        .wrapping_sub(b as u128)
        .wrapping_sub(borrow as u128);
    let (low, high) = halves(difference);
    (low, high & 1)
}

/// The lower and the upper limb.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the two halves")]
pub(crate) const fn halves(wide: u128) -> (Limb, Limb) {
    (wide as u64, (wide >> 64) as u64)
}

/// a += b; returns the carry out of a. b is not longer than a.
pub(crate) fn add(a: &mut [Limb], b: &[Limb]) -> Limb {
    let (low, high) = a.split_at_mut(b.len().min(a.len()));
    let mut carry = 0;
    for (a, b) in low.iter_mut().zip(b) {
        (*a, carry) = add_limb(*a, *b, carry);
    }
    for a in high {
        (*a, carry) = add_limb(*a, 0, carry);
    }
    carry
}

/// a -= b; returns the borrow out of a. b is not longer than a.
pub(crate) fn subtract(a: &mut [Limb], b: &[Limb]) -> Limb {
    let (low, high) = a.split_at_mut(b.len().min(a.len()));
    let mut borrow = 0;
    for (a, b) in low.iter_mut().zip(b) {
        (*a, borrow) = subtract_limb(*a, *b, borrow);
    }
    for a in high {
        (*a, borrow) = subtract_limb(*a, 0, borrow);
    }
    borrow
}

/// a += b & mask; returns the carry. b is not longer than a.
pub(crate) fn add_masked(a: &mut [Limb], b: &[Limb], mask: Limb) -> Limb {
    let (low, high) = a.split_at_mut(b.len().min(a.len()));
    let mut carry = 0;
    for (a, b) in low.iter_mut().zip(b) {
        (*a, carry) = add_limb(*a, *b & mask, carry);
    }
    for a in high {
        (*a, carry) = add_limb(*a, 0, carry);
    }
    carry
}

/// -a if the mask is all ones, else a, modulo the size of a.
pub(crate) fn negate_masked(a: &mut [Limb], mask: Limb) {
    let mut carry = mask & 1;
    for limb in a {
        (*limb, carry) = add_limb(*limb ^ mask, 0, carry);
    }
}

/// a = a * factor + addend; returns what does not fit.
pub(crate) fn multiply_add_small(a: &mut [Limb], factor: Limb, addend: Limb) -> Limb {
    let mut carry = addend;
    for limb in a {
        let wide = u128::from(*limb) * u128::from(factor) + u128::from(carry);
        (*limb, carry) = halves(wide);
    }
    carry
}

/// a -= b * factor; returns what was borrowed beyond a. a and b have the same length.
pub(crate) fn subtract_product(a: &mut [Limb], b: &[Limb], factor: Limb) -> Limb {
    let mut carry = 0;
    for (a, b) in a.iter_mut().zip(b) {
        let (low, high) = halves(u128::from(*b) * u128::from(factor) + u128::from(carry));
        let (rest, borrow) = subtract_limb(*a, low, 0);
        *a = rest;
        // b * factor + carry < 2^128 - 2^64, so that the upper limb has room for the borrow.
        carry = high + borrow;
    }
    carry
}

/// Shifts left by less than a limb; returns what falls out.
pub(crate) fn shift_left(a: &mut [Limb], bits: u32) -> Limb {
    let mut carry = 0;
    for limb in a {
        let wide = u128::from(*limb) << bits;
        let (low, high) = halves(wide);
        *limb = low | carry;
        carry = high;
    }
    carry
}

/// Shifts right by less than a limb.
pub(crate) fn shift_right(a: &mut [Limb], bits: u32) {
    let mut carry = 0;
    for limb in a.iter_mut().rev() {
        let (low, high) = halves(u128::from(*limb) << 64 >> bits);
        *limb = high | carry;
        carry = low;
    }
}

/// All ones for 1, zero for 0.
#[inline(always)]
pub(crate) fn mask(bit: Limb) -> Limb {
    super::opaque(0_u64.wrapping_sub(bit))
}
