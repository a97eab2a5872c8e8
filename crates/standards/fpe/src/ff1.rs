//! FF1 (NIST SP 800-38G, algorithms 7 and 8), for halves of at most 96 bits.
//!
//! The steps of the standard and where they are done. X has n digits, T has t bytes.
//!
//! | step | content | where |
//! |---|---|---|
//! | 1 | u = floor(n/2), v = n - u | [`Shape::u`], [`Shape::v`] |
//! | 2 | A = X[1..u], B = X[u+1..n] | `feistel::walk` |
//! | 3 | b = ceil(ceil(v log2(radix)) / 8), by integers | [`Shape::b`] |
//! | 4 | d = 4 ceil(b/4) + 4 | [`Shape::d`] |
//! | 5 | P = 1, 2, 1, radix in 3 bytes, 10, u mod 256, n in 4, t in 4 | [`block_p`] |
//! | 6.i | Q = T, zeros, i in 1 byte, NUM(B) in b bytes | [`base`], `feistel` |
//! | 6.ii | R = PRF(P, Q), the CBC-MAC | [`encrypted_p`], [`base`], `feistel` |
//! | 6.iii | S = first d bytes of R, CIPH(R xor 1), ... | d <= 16 here: of R |
//! | 6.iv | y = NUM(S) | `feistel`, `Plan::discard` |
//! | 6.v | m = u in even rounds, v in odd ones | `feistel`, `Moduli` |
//! | 6.vi | c = (NUM(A) + y) mod radix^m; minus when decrypting | `arithmetic::Modulus` |
//! | 6.vii-ix | C = STR(c), A = B, B = C | `feistel`: the halves change roles |
//! | 7 | A, then B | `feistel::walk` |
//!
//! Section 6 of the standard admits any equivalent sequence of steps: the halves stay numbers from the
//! first round to the last, and all that depends on key, radix, n and tweak alone is computed once. That
//! is CIPH(P), the MAC over the whole blocks of Q in front of the last, and the last block without i and
//! NUM(B), all of which [`base`] folds into one block.
//!
//! Not here: halves of more than 96 bits, for which S is longer than a block ([`long`]).

#[cfg(feature = "std")]
pub(crate) mod long;

use crate::arithmetic::Digits;
use crate::cipher::Cipher;
use crate::feistel::{Base, Family, Moduli, Plan};
use crate::shape::Shape;

/// What all values of a shape share, key and tweak aside.
pub(crate) fn plan(shape: Shape, digits: Digits) -> Plan {
    let (u, v) = (shape.u(), shape.v());
    let radix = u128::from(shape.radix().value());
    let even = radix.pow(u);
    // n is even or odd: v is u or u + 1.
    let odd = if v == u { even } else { even * radix };
    let y_bits = bits(shape.d());
    Plan {
        family: Family::Ff1,
        first: u as usize,
        second: v as usize,
        counter_shift: bits(shape.b()),
        discard: 128 - y_bits,
        moduli: Moduli::of([even, odd], y_bits),
        digits,
    }
}

/// Step 5.
fn block_p(shape: Shape, tweak_bytes: u32) -> [u8; 16] {
    let [_, r1, r2, r3] = shape.radix().value().to_be_bytes();
    let [.., u_mod_256] = shape.u().to_be_bytes();
    let [n1, n2, n3, n4] = shape.length().value().to_be_bytes();
    let [t1, t2, t3, t4] = tweak_bytes.to_be_bytes();
    [
        1, 2, 1, r1, r2, r3, 10, u_mod_256, n1, n2, n3, n4, t1, t2, t3, t4,
    ]
}

/// The first step of the CBC-MAC of step 6.ii, for all tweaks of one length.
#[inline]
pub(crate) fn encrypted_p<C: Cipher>(cipher: &C, shape: Shape, tweak_bytes: u32) -> u128 {
    u128::from_be_bytes(cipher.encrypt(block_p(shape, tweak_bytes)))
}

/// Steps 6.i and 6.ii as far as they are the same for all values: the MAC of all blocks of Q but the last,
/// xored with the last block as it is before i and NUM(B), of b bytes, are put in.
#[inline]
pub(crate) fn base<C: Cipher>(cipher: &C, b: usize, encrypted_p: u128, tweak: &[u8]) -> Base {
    let (blocks, rest) = tweak.as_chunks::<16>();
    let absorb = |mac: u128, block: &[u8; 16]| {
        u128::from_be_bytes(cipher.encrypt((mac ^ u128::from_be_bytes(*block)).to_be_bytes()))
    };
    let mac = blocks.iter().fold(encrypted_p, absorb);
    let mut last = [0; 16];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    // The zeros of Q fill up so that i and NUM(B), b + 1 bytes, end a block.
    let constant = if rest.len() + b < 16 {
        mac ^ u128::from_be_bytes(last)
    } else {
        absorb(mac, &last)
    };
    Base([constant, constant])
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "at most 16 bytes, as the halves have at most 96 bits"
)]
const fn bits(bytes: usize) -> u32 {
    8 * bytes as u32
}
