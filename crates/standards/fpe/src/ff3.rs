//! FF3 (NIST SP 800-38G of 2016, algorithms 9 and 10) and FF3-1 (draft of 2019): to read old data.
//!
//! | step | content | where |
//! |---|---|---|
//! | 1 | u = ceil(n/2), v = n - u: the longer half comes first | [`plan`] |
//! | 2 | A = X[1..u], B = X[u+1..n] | `feistel::walk` |
//! | 3 | T_L and T_R, 4 bytes each | [`half_tweaks`] |
//! | 4.i | even rounds: m = u, W = T_R; odd rounds: m = v, W = T_L | [`base`], `Moduli` |
//! | 4.ii | P = W xor i in 4 bytes, NUM(REV(B)) in 12 | `feistel` |
//! | 4.iii | S = REVB(CIPH under REVB(key) of REVB(P)) | `Family::Ff3`; the key is reversed in `crate::key` |
//! | 4.iv | y = NUM(S) | `feistel` |
//! | 4.v | c = (NUM(REV(A)) + y) mod radix^m; minus when decrypting | `arithmetic::Modulus` |
//! | 4.vi-viii | C = REV(STR(c)), A = B, B = C | `feistel`: the halves change roles |
//! | 5 | A, then B | `feistel::walk` |
//!
//! P with its bytes reversed is a little-endian number with NUM in the lower 96 bits and W xor i on top, and
//! y is the encrypted block read in the same order: no byte is moved.
//!
//! FF3 and FF3-1 differ in the half tweaks alone, and so does what fpe-c calls FF3-1.

pub(crate) mod overlong;

use crate::arithmetic::Digits;
use crate::error::Error;
use crate::feistel::{Base, Family, Moduli, Plan};
use crate::policy::{Mode, Policy};
use crate::shape::Shape;

/// What all values of a shape share, key and tweak aside.
pub(crate) fn plan(shape: Shape, digits: Digits) -> Plan {
    // FF1's u is the shorter half, which stands second here.
    let (longer, shorter) = (shape.v(), shape.u());
    let radix = u128::from(shape.radix().value());
    let odd = radix.pow(shorter);
    let even = if longer == shorter { odd } else { odd * radix };
    Plan {
        family: Family::Ff3,
        first: longer as usize,
        second: shorter as usize,
        counter_shift: 96,
        discard: 0,
        moduli: Moduli::of([even, odd], 128),
        digits,
    }
}

/// The half tweaks in the places where the rounds need them.
pub(crate) fn base(half_tweaks: [u32; 2]) -> Base {
    let [left, right] = half_tweaks.map(|word| u128::from(word) << 96);
    Base([right, left])
}

/// T_L and T_R, most significant byte first.
///
/// # Errors
/// [`Error::TweakLength`] for other lengths than the mode's and, if the policy is open for them, the loose
/// ones. [`Mode::FpecFf31`] reads what exists, and so always takes what fpe-c took.
pub(crate) fn half_tweaks(mode: Mode, policy: Policy, tweak: &[u8]) -> Result<[u32; 2], Error> {
    let loose = policy.takes_loose_tweaks() || mode == Mode::FpecFf31;
    match (mode, tweak) {
        (Mode::Ff3, &[a, b, c, d, e, f, g, h]) => Ok(words([a, b, c, d], [e, f, g, h])),
        (Mode::Ff3, &[a, b, c, d, e, f, g]) if loose => Ok(words([a, b, c, d], [e, f, g, 0])),
        (Mode::Ff31, &[a, b, c, d, e, f, g]) => Ok(split_56(a, b, c, d, [e, f, g])),
        (Mode::Ff31, &[a, b, c, d, e, f, g, _]) if loose => Ok(split_56(a, b, c, d, [e, f, g])),
        (Mode::FpecFf31, &[a, b, c, d, e, f, g] | &[a, b, c, d, e, f, g, _]) => {
            Ok(words([a, b, c, d & 0xF0], [d & 0x0F, e, f, g]))
        }
        (_, []) if loose => Ok([0, 0]),
        _ => {
            let (shortest, longest) = match mode {
                _ if loose => (0, 8),
                Mode::Ff3 => (8, 8),
                _ => (7, 7),
            };
            let bytes = tweak.len();
            Err(Error::TweakLength {
                mode,
                bytes,
                shortest,
                longest,
            })
        }
    }
}

/// FF3-1's own way: the fourth byte gives its upper half to T_L and its lower half to the end of T_R.
fn split_56(a: u8, b: u8, c: u8, d: u8, [e, f, g]: [u8; 3]) -> [u32; 2] {
    words([a, b, c, d & 0xF0], [e, f, g, d << 4])
}

const fn words(left: [u8; 4], right: [u8; 4]) -> [u32; 2] {
    [u32::from_be_bytes(left), u32::from_be_bytes(right)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_tweaks_are_those_of_the_three_texts() {
        let seven = [0xC0, 0xC1, 0xC2, 0xC3, 0xC4, 0xC5, 0xC6];
        let eight = [0xC0, 0xC1, 0xC2, 0xC3, 0xC4, 0xC5, 0xC6, 0xC7];
        let (strict, loose) = (Policy::STRICT, Policy::STRICT.accept_loose_tweaks());
        let cases: [(Mode, Policy, &[u8], [u32; 2]); 8] = [
            (Mode::Ff3, strict, &eight, [0xC0C1_C2C3, 0xC4C5_C6C7]),
            (Mode::Ff3, loose, &seven, [0xC0C1_C2C3, 0xC4C5_C600]),
            (Mode::Ff31, strict, &seven, [0xC0C1_C2C0, 0xC4C5_C630]),
            (Mode::Ff31, loose, &eight, [0xC0C1_C2C0, 0xC4C5_C630]),
            (Mode::FpecFf31, strict, &seven, [0xC0C1_C2C0, 0x03C4_C5C6]),
            (Mode::FpecFf31, strict, &eight, [0xC0C1_C2C0, 0x03C4_C5C6]),
            (Mode::FpecFf31, strict, &[], [0, 0]),
            (Mode::Ff31, loose, &[], [0, 0]),
        ];
        for (mode, policy, tweak, expected) in cases {
            assert_eq!(half_tweaks(mode, policy, tweak), Ok(expected), "{mode}");
        }
    }

    #[test]
    fn tweaks_of_other_lengths_are_refused() {
        for bytes in 0..40 {
            let tweak = &[1; 40][..bytes];
            for (mode, own) in [(Mode::Ff3, 8), (Mode::Ff31, 7)] {
                let strict = half_tweaks(mode, Policy::STRICT, tweak);
                assert_eq!(strict.is_ok(), bytes == own);
                let loose = half_tweaks(mode, Policy::STRICT.accept_loose_tweaks(), tweak);
                assert_eq!(loose.is_ok(), [0, 7, 8].contains(&bytes));
            }
            let read = half_tweaks(Mode::FpecFf31, Policy::STRICT, tweak);
            assert_eq!(read.is_ok(), [0, 7, 8].contains(&bytes));
        }
    }
}
