//! Products of fixed size.

use alloc::vec::Vec;

use zeroize::Zeroize;

use super::transform::{self, Roots};
use super::{Limb, add, halves, mask, negate_masked, subtract};

/// Up to so many limbs the schoolbook is faster.
const SCHOOL: usize = 32;

/// From so many limbs on transforms are faster.
pub(crate) const TRANSFORM: usize = 1_000;

/// What multiplications need beside their operands, kept from one to the next, and wiped.
pub(crate) struct Scratch<'r> {
    limbs: Vec<Limb>,
    roots: &'r Roots,
}

impl<'r> Scratch<'r> {
    pub(crate) const fn new(roots: &'r Roots) -> Self {
        Self {
            limbs: Vec::new(),
            roots,
        }
    }

    fn grow(&mut self, limbs: usize) {
        if self.limbs.len() < limbs {
            // Not grown in place: what is left behind would not be wiped.
            self.limbs.zeroize();
            self.limbs = alloc::vec![0; limbs];
        }
    }
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        self.limbs.zeroize();
    }
}

/// out = a * b, with out as long as both together.
pub(crate) fn multiply(a: &[Limb], b: &[Limb], out: &mut [Limb], scratch: &mut Scratch<'_>) {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    if short.len() <= SCHOOL {
        return school(short, long, out);
    }
    if short.len() >= TRANSFORM && scratch.roots.reach(out.len()) {
        scratch.grow(2 * transform::size(out.len()));
        return scratch.roots.multiply(short, long, out, &mut scratch.limbs);
    }
    if short.len() == long.len() {
        scratch.grow(8 * short.len() + 512);
        return karatsuba(short, long, out, &mut scratch.limbs);
    }
    // The longer one in pieces of the shorter one's length; what is left over is a product of its own.
    out.fill(0);
    let mut piece = zeroize::Zeroizing::new(alloc::vec![0; 2 * short.len()]);
    for (at, part) in long.chunks(short.len()).enumerate() {
        let product = &mut piece[..short.len() + part.len()];
        multiply(short, part, product, scratch);
        add(&mut out[at * short.len()..], product);
    }
}

fn school(a: &[Limb], b: &[Limb], out: &mut [Limb]) {
    out.fill(0);
    for (at, factor) in a.iter().enumerate() {
        let mut carry = 0;
        for (out, limb) in out[at..].iter_mut().zip(b) {
            let wide =
                u128::from(*factor) * u128::from(*limb) + u128::from(*out) + u128::from(carry);
            (*out, carry) = halves(wide);
        }
        out[at + b.len()] = carry;
    }
}

/// a and b of one length n: with h = ceil(n/2),
/// a*b = a1*b1 * 2^(128h) + (a1*b1 + a0*b0 - (a1-a0)(b1-b0)) * 2^(64h) + a0*b0.
fn karatsuba(a: &[Limb], b: &[Limb], out: &mut [Limb], scratch: &mut [Limb]) {
    let length = a.len();
    if length <= SCHOOL {
        return school(a, b, out);
    }
    let half = length.div_ceil(2);
    let (a0, a1) = a.split_at(half);
    let (b0, b1) = b.split_at(half);
    let (middle, rest) = scratch.split_at_mut(2 * half + 2);
    let (cross, rest) = rest.split_at_mut(2 * half + 2);

    // The two differences, each as its size and its sign, stand where the product will.
    let (da, tail) = out.split_at_mut(half);
    let sign = difference(a1, a0, da) ^ difference(b1, b0, &mut tail[..half]);
    karatsuba(da, &tail[..half], &mut cross[..2 * half], rest);
    cross[2 * half..].fill(0);

    let (low, high) = out.split_at_mut(2 * half);
    karatsuba(a0, b0, low, rest);
    karatsuba(a1, b1, high, rest);
    middle.fill(0);
    middle[..2 * half].copy_from_slice(low);
    add(middle, high);
    // Subtract the product of the differences, or add it if they had different signs.
    negate_masked(cross, !mask(sign));
    add(middle, cross);
    // The sum is below 2^(64(2h+1)); beyond the end of out it is zero.
    let room = out.len() - half;
    add(&mut out[half..], &middle[..room.min(2 * half + 1)]);
}

/// out = |a - b|; returns 1 if a < b. a may be shorter than b by a limb.
fn difference(a: &[Limb], b: &[Limb], out: &mut [Limb]) -> Limb {
    out.fill(0);
    out[..a.len()].copy_from_slice(a);
    let borrow = subtract(out, b);
    negate_masked(out, mask(borrow));
    borrow
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_the_schoolbook_at_every_pair_of_lengths() {
        let mut seed = 1_u64;
        let mut number = |length: usize| -> Vec<Limb> {
            (0..length)
                .map(|_| {
                    seed = seed
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(99);
                    // Limbs of all ones and all zeros among the others: carries run far.
                    match seed >> 61 {
                        0 => 0,
                        1..=3 => u64::MAX,
                        _ => seed.rotate_left(23),
                    }
                })
                .collect()
        };
        let lengths = [
            1, 2, 31, 32, 33, 34, 47, 64, 65, 66, 67, 95, 129, 200, 257, 300,
        ];
        let large = [999, 1_000, 1_777, 2_048, 2_049, 4_000];
        let roots = Roots::new(8_000);
        let mut scratch = Scratch::new(&roots);
        let small = lengths.iter().flat_map(|a| lengths.map(|b| (*a, b)));
        let large = large.iter().flat_map(|a| large.map(|b| (*a, b)));
        for (a, b) in small.chain(large) {
            let (x, y) = (number(a), number(b));
            let (mut fast, mut slow) = (alloc::vec![7; a + b], alloc::vec![9; a + b]);
            multiply(&x, &y, &mut fast, &mut scratch);
            school(&x, &y, &mut slow);
            assert_eq!(fast, slow, "{a} and {b} limbs");
        }
    }
}
