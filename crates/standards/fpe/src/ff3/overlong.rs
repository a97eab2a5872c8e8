//! Values of fpe-c's FF3-1 beyond the longest length: read, never written.
//!
//! That library took up to 256 digits. NUM of a half enters the block modulo 2^96 and y has 128 bits, so
//! the upper digits of a long half are changed by nothing but a carry: such a value is partly in clear.
//!
//! A half of up to 2^2048 needs no big integers, because y is the only thing that is ever subtracted from
//! it: y is written in digits and subtracted digit by digit.

use zeroize::Zeroize;

use crate::arithmetic::{DigitOrder, Digits};
use crate::cipher::Cipher;
use crate::feistel::{Base, Family};
use crate::numerals::Numeral;

/// The most digits that fpe-c took.
pub(crate) const LONGEST: u32 = 256;

const ORDER: DigitOrder = DigitOrder::LeastSignificantFirst;

/// Decrypts one value in place. The base holds the half tweaks.
pub(crate) fn decrypt<C: Cipher, T: Numeral>(
    cipher: &C,
    digits: &Digits,
    base: &Base,
    value: &mut [T],
) {
    let (first, second) = value.split_at_mut(value.len().div_ceil(2));
    let [even, odd] = base.0;
    for pair in (0..Family::Ff3.rounds() / 2).rev() {
        round(cipher, digits, odd ^ counter(2 * pair + 1), (first, second));
        round(cipher, digits, even ^ counter(2 * pair), (second, first));
    }
}

fn counter(round: u32) -> u128 {
    u128::from(round) << 96
}

/// Takes y(from) off `to`, modulo radix^(digits of `to`).
fn round<C: Cipher, T: Numeral>(
    cipher: &C,
    digits: &Digits,
    constant: u128,
    (from, to): (&[T], &mut [T]),
) {
    let number = digits.number_wide(from, ORDER) & (u128::MAX >> 32);
    let block = cipher.encrypt((constant ^ number).to_le_bytes());
    // No more than 128 digits stand in a half, and none beyond the 128th is touched but by the borrow.
    let mut y = [0_u32; 128];
    digits.write_wide(u128::from_le_bytes(block), &mut y, ORDER);
    let mut borrow = 0;
    for (digit, taken) in to.iter_mut().zip(&y) {
        let difference = digit.digit().wrapping_sub(*taken).wrapping_sub(borrow);
        borrow = difference >> 31;
        let back = digits.radix() & 0_u32.wrapping_sub(borrow);
        *digit = T::of(difference.wrapping_add(back));
    }
    y.zeroize();
}
