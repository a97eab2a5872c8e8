//! NUM and STR for any number of digits.
//!
//! Radices that are powers of two are packed bit by bit. For all others the digits are halved until few are
//! left: NUM multiplies the upper part by a power of the radix, STR divides by it with Barrett's method.
//! Both cost a few multiplications of the size of the number on each of log(n) levels, and memory for some
//! numbers of that size. Sizes depend on radix and length alone.

use alloc::vec::Vec;

use zeroize::{Zeroize, Zeroizing};

use super::multiply::TRANSFORM;
use super::{
    Limb, Roots, Scratch, add, add_masked, halves, mask, multiply, multiply_add_small, subtract,
};
use crate::arithmetic::{DigitOrder, Digits};
use crate::numerals::Numeral;
use crate::shape::{Radix, bits_of_greatest};

/// Chunks of digits that are converted one by one.
const LEAF_CHUNKS: usize = 32;

const ORDER: DigitOrder = DigitOrder::MostSignificantFirst;

/// Digits and numbers of one radix, prepared for lengths up to one.
pub(crate) struct Positional {
    digits: Digits,
    radix: Radix,
    /// radix to the digits of a leaf, doubled from one to the next.
    powers: Vec<Power>,
    roots: Roots,
}

struct Power {
    digits: usize,
    value: Vec<Limb>,
    /// 2^(128k) / value for k limbs of value, at most 3 too small.
    reciprocal: Vec<Limb>,
}

impl Positional {
    /// Prepares numbers of up to `longest` digits.
    pub(crate) fn new(radix: Radix, digits: Digits, longest: usize) -> Self {
        let leaf = LEAF_CHUNKS * digits.per_chunk();
        let mut made = Self {
            digits,
            radix,
            powers: Vec::new(),
            roots: Roots::default(),
        };
        if made.is_packed() {
            return made;
        }
        // No product is longer than the longest number by more than a few limbs.
        let limbs = made.limbs(longest);
        if limbs > TRANSFORM {
            made.roots = Roots::new(limbs + 8);
        }
        let mut length = leaf;
        while length < longest {
            let mut scratch = Scratch::new(&made.roots);
            let value = match made.powers.last() {
                Some(power) => product(&power.value, &power.value, &mut scratch),
                None => made.raised(leaf),
            };
            let reciprocal = reciprocal(&value, &mut scratch);
            drop(scratch);
            made.powers.push(Power {
                digits: length,
                value,
                reciprocal,
            });
            length *= 2;
        }
        made
    }

    /// radix^digits, without zero limbs on top. Public.
    pub(crate) fn power(&self, digits: usize) -> Vec<Limb> {
        if self.is_packed() {
            let bits = digits * self.bits_of_digit();
            let mut value = alloc::vec![0; bits / 64];
            value.push(1 << (bits % 64));
            return value;
        }
        let below = self
            .powers
            .iter()
            .rev()
            .find(|power| power.digits <= digits);
        match below {
            Some(power) if power.digits == digits => power.value.clone(),
            Some(power) => product(
                &power.value,
                &self.power(digits - power.digits),
                &mut Scratch::new(&self.roots),
            ),
            None => self.raised(digits),
        }
    }

    /// radix^digits, digit by digit.
    fn raised(&self, digits: usize) -> Vec<Limb> {
        let mut value = alloc::vec![1];
        for _ in 0..digits {
            let over = multiply_add_small(&mut value, self.radix.value().into(), 0);
            if over > 0 {
                value.push(over);
            }
        }
        value
    }

    /// Limbs of a number of so many digits.
    fn limbs(&self, digits: usize) -> usize {
        let digits = u32::try_from(digits).unwrap_or(u32::MAX);
        let limbs = bits_of_greatest(self.radix, digits).div_ceil(64);
        usize::try_from(limbs).unwrap_or(usize::MAX)
    }

    const fn is_packed(&self) -> bool {
        self.radix.value().is_power_of_two()
    }

    /// The largest prepared power with fewer digits than `digits`; the rest is no longer than it.
    fn below(&self, digits: usize) -> Option<&Power> {
        self.powers.iter().rev().find(|power| power.digits < digits)
    }

    /// NUM of the digits. `out` has the limbs that they need, or more, which become zero.
    pub(crate) fn number<T: Numeral>(&self, digits: &[T], out: &mut [Limb]) {
        out.fill(0);
        if self.is_packed() {
            return self.pack(digits, out);
        }
        let mut scratch = Scratch::new(&self.roots);
        self.number_split(digits, out, &mut scratch);
    }

    fn number_split<T: Numeral>(&self, digits: &[T], out: &mut [Limb], scratch: &mut Scratch<'_>) {
        let Some(power) = self.below(digits.len()) else {
            return self.number_leaf(digits, out);
        };
        let (upper, lower) = digits.split_at(digits.len() - power.digits);
        let (high_limbs, low_limbs) = (self.limbs(upper.len()), self.limbs(lower.len()));
        let mut parts = Zeroizing::new(alloc::vec![0; 2 * high_limbs + power.value.len()]);
        let (high, product) = parts.split_at_mut(high_limbs);
        self.number_split(upper, high, scratch);
        multiply(high, &power.value, product, scratch);
        self.number_split(lower, &mut out[..low_limbs], scratch);
        out[low_limbs..].fill(0);
        // The sum fits the digits' limbs: what the product has beyond them is zero.
        let fitting = product.len().min(out.len());
        add(out, &product[..fitting]);
    }

    fn number_leaf<T: Numeral>(&self, digits: &[T], out: &mut [Limb]) {
        out.fill(0);
        let per_chunk = self.digits.per_chunk();
        for chunk in digits.rchunks(per_chunk).rev() {
            multiply_add_small(out, self.digits.chunk(), self.digits.number(chunk, ORDER));
        }
    }

    /// STR of the number, which has no more limbs than the digits need, or zeros there.
    pub(crate) fn write<T: Numeral>(&self, number: &[Limb], out: &mut [T]) {
        if self.is_packed() {
            return self.unpack(number, out);
        }
        let mut scratch = Scratch::new(&self.roots);
        let limbs = self.limbs(out.len()).min(number.len());
        self.write_split(&number[..limbs], out, &mut scratch);
    }

    fn write_split<T: Numeral>(&self, number: &[Limb], out: &mut [T], scratch: &mut Scratch<'_>) {
        let Some(power) = self.below(out.len()) else {
            return self.write_leaf(number, out);
        };
        let (upper, lower) = out.split_at_mut(out.len() - power.digits);
        let mut quotient = Zeroizing::new(Vec::new());
        let mut rest = Zeroizing::new(Vec::new());
        power.divide(number, (&mut quotient, &mut rest), scratch);
        quotient.resize(self.limbs(upper.len()), 0);
        self.write_split(&quotient, upper, scratch);
        rest.truncate(self.limbs(lower.len()));
        self.write_split(&rest, lower, scratch);
    }

    fn write_leaf<T: Numeral>(&self, number: &[Limb], out: &mut [T]) {
        let mut rest = Zeroizing::new(number.to_vec());
        for piece in out.rchunks_mut(self.digits.per_chunk()) {
            let chunk = self.digits.divide_by_chunk(&mut rest);
            self.digits.write_chunk(chunk, piece, ORDER);
        }
    }

    fn bits_of_digit(&self) -> usize {
        self.radix.value().trailing_zeros() as usize
    }

    fn pack<T: Numeral>(&self, digits: &[T], out: &mut [Limb]) {
        let width = self.bits_of_digit();
        for (place, digit) in digits.iter().rev().enumerate() {
            let (limb, shift) = (place * width / 64, place * width % 64);
            let (low, high) = halves(u128::from(digit.digit()) << shift);
            out[limb] |= low;
            // A digit of up to 16 bits may lie across two limbs.
            if let Some(next) = out.get_mut(limb + 1) {
                *next |= high;
            }
        }
    }

    fn unpack<T: Numeral>(&self, number: &[Limb], out: &mut [T]) {
        let (width, top) = (self.bits_of_digit(), self.radix.value() - 1);
        for (place, digit) in out.iter_mut().rev().enumerate() {
            let (limb, shift) = (place * width / 64, place * width % 64);
            let at = |limb: usize| u128::from(number.get(limb).copied().unwrap_or_default());
            let (low, _) = halves((at(limb) | at(limb + 1) << 64) >> shift & u128::from(top));
            *digit = T::of(crate::arithmetic::low_word(low));
        }
    }
}

impl Power {
    /// Quotient and rest of a number below value^2, in k + 2 and k limbs (Barrett; Menezes and others,
    /// algorithm 14.42, with a reciprocal that may be 3 too small).
    fn divide(
        &self,
        number: &[Limb],
        (quotient, rest): (&mut Vec<Limb>, &mut Vec<Limb>),
        scratch: &mut Scratch<'_>,
    ) {
        let limbs = self.value.len();
        let upper = number.get(limbs - 1..).unwrap_or_default();
        let mut wide = Zeroizing::new(alloc::vec![0; upper.len() + self.reciprocal.len()]);
        multiply(upper, &self.reciprocal, &mut wide, scratch);
        *quotient = wide.get(limbs + 1..).unwrap_or_default().to_vec();
        let mut taken = Zeroizing::new(alloc::vec![0; quotient.len() + limbs]);
        multiply(quotient, &self.value, &mut taken, scratch);
        // The rest before corrections is below six times the value: one limb more than the value has.
        let kept = (limbs + 1).min(number.len());
        *rest = alloc::vec![0; limbs + 1];
        rest[..kept].copy_from_slice(&number[..kept]);
        let kept = (limbs + 1).min(taken.len());
        subtract(rest, &taken[..kept]);
        for _ in 0..CORRECTIONS {
            let borrow = subtract(rest, &self.value);
            add_masked(rest, &self.value, mask(borrow));
            add(quotient, &[1 ^ borrow]);
        }
        debug_assert_eq!(rest.last(), Some(&0), "the corrections suffice");
    }
}

/// The estimate is 2 too small for Barrett's two floors, and 3 more for the reciprocal.
const CORRECTIONS: usize = 5;

fn product(a: &[Limb], b: &[Limb], scratch: &mut Scratch<'_>) -> Vec<Limb> {
    let mut out = alloc::vec![0; a.len() + b.len()];
    multiply(a, b, &mut out, scratch);
    trim(out)
}

/// Of public numbers only.
fn trim(mut number: Vec<Limb>) -> Vec<Limb> {
    while number.len() > 1 && number.last() == Some(&0) {
        number.pop();
    }
    number
}

/// 2^(128k) / value, k its limbs, at most 3 too small, in k + 1 limbs. Public; value is no power of 2^64.
///
/// Newton's iteration from below: with X0 <= 2^(128k) / value from the upper half of the limbs,
/// X1 = X0 + X0 * (2^(128k) - value * X0) / 2^(128k) has twice the correct limbs and is still not too large.
fn reciprocal(value: &[Limb], scratch: &mut Scratch<'_>) -> Vec<Limb> {
    let limbs = value.len();
    if limbs <= 8 {
        return divide_slowly(value);
    }
    let kept = limbs / 2 + 2;
    let dropped = limbs - kept;
    let mut top = value[dropped..].to_vec();
    // Rounded up, so that X0 is not too large. A carry out of all limbs cannot arise: powers of an odd
    // factor have no such run of ones; should it, the upper limb stays and the estimate is one limb longer.
    if add(&mut top, &[1]) == 1 {
        top.push(1);
    }
    let first = reciprocal_or_power(&top, scratch);
    // X0 = first * 2^(64 shift).
    let shift = 2 * limbs - dropped - 2 * top.len();
    let taken = product(value, &first, scratch);
    let mut error = alloc::vec![0; 2 * limbs + 1];
    error[2 * limbs] = 1;
    let fitting = taken.len().min(2 * limbs + 1 - shift);
    subtract(&mut error[shift..], &taken[..fitting]);
    let cut = limbs - 2;
    let error = trim(error[cut..].to_vec());
    let step = product(&first, &error, scratch);
    // first * 2^(64 shift) * error * 2^(64 cut) / 2^(128 limbs).
    let below = 2 * limbs - shift - cut;
    let mut result = alloc::vec![0; limbs + 1];
    let room = result.len() - shift;
    result[shift..].copy_from_slice(&resized(first, room));
    let step = resized(step.get(below..).unwrap_or_default().to_vec(), limbs + 1);
    add(&mut result, &step);
    result
}

fn reciprocal_or_power(value: &[Limb], scratch: &mut Scratch<'_>) -> Vec<Limb> {
    let (last, rest) = value.split_last().unwrap_or((&1, &[]));
    if *last == 1 && rest.iter().all(|limb| *limb == 0) {
        let mut power = alloc::vec![0; value.len() + 2];
        power[value.len() + 1] = 1;
        return power;
    }
    reciprocal(value, scratch)
}

fn resized(mut number: Vec<Limb>, limbs: usize) -> Vec<Limb> {
    number.resize(limbs, 0);
    number
}

/// Bit by bit, for a few limbs.
fn divide_slowly(value: &[Limb]) -> Vec<Limb> {
    let limbs = value.len();
    let mut quotient = alloc::vec![0; limbs + 2];
    let mut rest = alloc::vec![0; limbs + 1];
    for bit in (0..=128 * limbs).rev() {
        super::shift_left(&mut rest, 1);
        rest[0] |= u64::from(bit == 128 * limbs);
        let borrow = subtract(&mut rest, value);
        add_masked(&mut rest, value, mask(borrow));
        super::shift_left(&mut quotient, 1);
        quotient[0] |= 1 ^ borrow;
    }
    quotient.truncate(limbs + 1);
    quotient
}

impl Drop for Positional {
    fn drop(&mut self) {
        // Powers are public; wiped all the same, so that nobody has to argue about them.
        for power in &mut self.powers {
            power.value.zeroize();
            power.reciprocal.zeroize();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(radix: u32, lengths: &[usize]) {
        let radix = Radix::new(radix).unwrap();
        let longest = lengths.iter().copied().max().unwrap();
        let positional = Positional::new(radix, Digits::new(radix), longest);
        let mut seed = u64::from(radix.value());
        for length in lengths.iter().copied() {
            for kind in 0..4 {
                let digits: Vec<u32> = (0..length)
                    .map(|_| {
                        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        let random = u32::try_from(seed >> 40).unwrap();
                        match kind {
                            0 => 0,
                            1 => radix.value() - 1,
                            2 => random % radix.value(),
                            _ => [0, radix.value() - 1][usize::try_from(random % 2).unwrap()],
                        }
                    })
                    .collect();
                let mut number = alloc::vec![5; positional.limbs(length)];
                positional.number(&digits, &mut number);
                let mut slow = alloc::vec![0; number.len()];
                for digit in &digits {
                    let over = multiply_add_small(&mut slow, radix.value().into(), (*digit).into());
                    assert_eq!(over, 0);
                }
                assert_eq!(number, slow, "{radix}, {length}");
                let mut back = alloc::vec![9; length];
                positional.write(&number, &mut back);
                assert_eq!(back, digits, "{radix}, {length}");
            }
        }
    }

    #[test]
    fn digits_and_numbers_are_inverse_and_agree_with_horner() {
        let lengths = [
            1, 2, 9, 20, 100, 287, 288, 289, 576, 577, 900, 1_151, 1_153, 3_000, 5_000,
        ];
        for radix in [2, 3, 4, 10, 16, 36, 62, 255, 256, 1_000, 65_535, 65_536] {
            judge(radix, &lengths);
        }
    }

    #[test]
    fn reciprocals_are_at_most_3_too_small() {
        let radix = Radix::new(7).unwrap();
        let positional = Positional::new(radix, Digits::new(radix), 0);
        let roots = Roots::default();
        let mut scratch = Scratch::new(&roots);
        for digits in [40, 150, 300, 1_000, 2_345, 6_000, 10_007] {
            let value = positional.power(digits);
            let limbs = value.len();
            let mut left = alloc::vec![0; 2 * limbs + 1];
            left[2 * limbs] = 1;
            let taken = product(&value, &reciprocal(&value, &mut scratch), &mut scratch);
            assert_eq!(subtract(&mut left, &taken), 0, "never too large");
            let mut bound = resized(value.clone(), limbs + 1);
            multiply_add_small(&mut bound, 4, 0);
            assert!(left[limbs + 1..].iter().all(|limb| *limb == 0), "{digits}");
            assert_eq!(subtract(&mut left[..=limbs], &bound), 1, "{digits}");
        }
    }
}
