//! The field of 256 elements that AES has too: polynomials over two elements modulo
//! x^8 + x^4 + x^3 + x + 1. Sums are exclusive ors.
//!
//! No tables: a place in one would tell the secret to whoever shares the cache.

use std::hint::black_box;

/// The product.
pub(super) fn product(mut a: u8, mut b: u8) -> u8 {
    let mut sum = 0;
    for _ in 0..8 {
        // The compiler is not to see that the mask is all or nothing, lest it branches.
        sum ^= a & black_box((b & 1).wrapping_neg());
        let over = black_box((a >> 7).wrapping_neg());
        a = (a << 1) ^ (0x1B & over);
        b >>= 1;
    }
    sum
}

/// The inverse, which is the 254th power; zero for zero.
pub(super) fn inverse(a: u8) -> u8 {
    // 254 is 11111110 in binary: seven squares, each multiplied in.
    let mut square = a;
    let mut power = 1;
    for _ in 0..7 {
        square = product(square, square);
        power = product(power, square);
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By long division of polynomials, bit by bit.
    fn divided(a: u8, b: u8) -> u8 {
        let mut long = (0..8)
            .filter(|bit| b >> bit & 1 == 1)
            .fold(0_u16, |sum, bit| sum ^ u16::from(a) << bit);
        for bit in (8..16).rev() {
            if long >> bit & 1 == 1 {
                long ^= 0x11B << (bit - 8);
            }
        }
        long.to_be_bytes()[1]
    }

    #[test]
    fn all_products_are_those_of_a_long_division() {
        for a in 0..=255 {
            for b in 0..=255 {
                assert_eq!(product(a, b), divided(a, b), "{a} {b}");
            }
        }
    }

    #[test]
    fn every_element_but_zero_has_an_inverse() {
        for a in 1..=255 {
            assert_eq!(product(a, inverse(a)), 1, "{a}");
        }
        assert_eq!(inverse(0), 0);
        // Two pairs that the description of AES works out.
        assert_eq!(product(0x57, 0x83), 0xC1);
        assert_eq!(inverse(0x53), 0xCA);
    }
}
