//! FF1 for halves of more than 96 bits: S is longer than one block, and numbers have many limbs.
//!
//! The steps are those of the module above. What differs:
//!
//! | step | content | where |
//! |---|---|---|
//! | 6.i, 6.ii | NUM(B) covers the last blocks of Q; the MAC of those before is kept | [`Long::new`], [`Long::y`] |
//! | 6.iii | S = R, then CIPH(R xor 1), CIPH(R xor 2), ..., the first d bytes | [`stretch`] |
//! | 6.iv, 6.vi | y mod radix^m in linear time, because y has few bits more | `Residue` |
//! | NUM, STR | once at the start and once at the end, by divide and conquer | `Positional` |

use alloc::vec::Vec;

use zeroize::{Zeroize, Zeroizing};

use crate::arithmetic::Digits;
use crate::arithmetic::limbs::{Limb, Positional, Residue, add, add_masked, mask, subtract};
use crate::cipher::Cipher;
use crate::feistel::Direction;
use crate::numerals::Numeral;
use crate::shape::Shape;

const ROUNDS: u8 = 10;

/// What all values of a long shape share under one tweak.
pub(crate) struct Long {
    shape: Shape,
    positional: Positional,
    /// radix^u and radix^v.
    even: Residue,
    odd: Residue,
    /// The MAC over P and the blocks of Q that hold nothing of i and NUM(B).
    mac: u128,
    /// The blocks of Q after those, without i and NUM(B).
    tail: Vec<u8>,
}

impl Long {
    pub(crate) fn new<C: Cipher>(
        cipher: &C,
        shape: Shape,
        digits: Digits,
        (tweak, tweak_bytes): (&[u8], u32),
    ) -> Self {
        let (u, v) = (shape.u() as usize, shape.v() as usize);
        let positional = Positional::new(shape.radix(), digits, v);
        let moving = shape.b() + 1;
        let mut q = tweak.to_vec();
        q.resize((tweak.len() + moving).next_multiple_of(16), 0);
        // i and NUM(B) end Q; what stands before the block where they begin is the same for all values.
        let fixed = (q.len() - moving) / 16 * 16;
        let tail = q.split_off(fixed);
        let (blocks, _) = q.as_chunks::<16>();
        let mac = absorb(
            cipher,
            super::encrypted_p(cipher, shape, tweak_bytes),
            blocks,
        );
        Self {
            shape,
            even: Residue::new(positional.power(u)),
            odd: Residue::new(positional.power(v)),
            positional,
            mac,
            tail,
        }
    }

    /// One value in place, whose length and digits have been judged.
    pub(crate) fn run<C: Cipher, T: Numeral>(
        &self,
        cipher: &C,
        direction: Direction,
        value: &mut [T],
    ) {
        let (first, second) = value.split_at_mut(self.shape.u() as usize);
        let limbs = self.odd.value().len();
        let mut a = Zeroizing::new(alloc::vec![0; limbs]);
        let mut b = Zeroizing::new(alloc::vec![0; limbs]);
        self.positional.number(first, &mut a);
        self.positional.number(second, &mut b);
        let mut work = Work {
            q: self.tail.clone(),
            s: alloc::vec![0; self.shape.d().next_multiple_of(16)],
            // One limb stays zero, as the reduction wants.
            y: alloc::vec![0; self.shape.d().div_ceil(8) + 1],
        };
        for step in 0..ROUNDS {
            // 6.v: even rounds change A modulo radix^u, odd rounds B modulo radix^v.
            let round = match direction {
                Direction::Encrypt => step,
                Direction::Decrypt => ROUNDS - 1 - step,
            };
            let (changed, other, modulus) = match round % 2 {
                0 => (&mut a, &b, &self.even),
                _ => (&mut b, &a, &self.odd),
            };
            self.y(cipher, round, other, &mut work);
            modulus.reduce(&mut work.y);
            combine(changed, &work.y, modulus.value(), direction);
        }
        self.positional.write(&a, first);
        self.positional.write(&b, second);
    }

    /// Steps 6.i to 6.iv.
    fn y<C: Cipher>(&self, cipher: &C, round: u8, half: &[Limb], work: &mut Work) {
        let Work { q, s, y } = work;
        let counter = q.len() - self.shape.b() - 1;
        q[counter] = round;
        write_big_endian(half, &mut q[counter + 1..]);
        let (blocks, _) = q.as_chunks::<16>();
        let r = absorb(cipher, self.mac, blocks);
        stretch(cipher, r, s);
        read_big_endian(&s[..self.shape.d()], y);
    }
}

/// The buffers of a walk, wiped.
struct Work {
    q: Vec<u8>,
    s: Vec<u8>,
    y: Vec<Limb>,
}

impl Drop for Work {
    fn drop(&mut self) {
        self.q.zeroize();
        self.s.zeroize();
        self.y.zeroize();
    }
}

/// CBC-MAC from a state on.
fn absorb<C: Cipher>(cipher: &C, mac: u128, blocks: &[[u8; 16]]) -> u128 {
    blocks.iter().fold(mac, |mac, block| {
        let input = mac ^ u128::from_be_bytes(*block);
        u128::from_be_bytes(cipher.encrypt(input.to_be_bytes()))
    })
}

/// 6.iii: R, CIPH(R xor 1), CIPH(R xor 2), ...; eight blocks at a time, as they do not wait for each other.
fn stretch<C: Cipher>(cipher: &C, r: u128, s: &mut [u8]) {
    let (blocks, _) = s.as_chunks_mut::<16>();
    let Some((first, others)) = blocks.split_first_mut() else {
        return;
    };
    *first = r.to_be_bytes();
    let mut number = 0_u128;
    for group in others.chunks_mut(8) {
        let mut made = [[0; 16]; 8];
        for block in &mut made {
            number += 1;
            *block = (r ^ number).to_be_bytes();
        }
        cipher.encrypt8(&mut made);
        for (to, from) in group.iter_mut().zip(&made) {
            *to = *from;
        }
        made.zeroize();
    }
}

/// 6.vi: (half + y) mod radix^m, or minus. `y` is reduced.
fn combine(half: &mut [Limb], y: &[Limb], modulus: &[Limb], direction: Direction) {
    let half = &mut half[..modulus.len()];
    let y = &y[..modulus.len()];
    match direction {
        Direction::Encrypt => {
            let carry = add(half, y);
            let borrow = subtract(half, modulus);
            add_masked(half, modulus, mask(borrow & (1 ^ carry)));
        }
        Direction::Decrypt => {
            let borrow = subtract(half, y);
            add_masked(half, modulus, mask(borrow));
        }
    }
}

/// The lower bytes of a number, most significant first.
fn write_big_endian(number: &[Limb], out: &mut [u8]) {
    for (piece, limb) in out.rchunks_mut(8).zip(number) {
        let bytes = limb.to_be_bytes();
        let (_, lower) = bytes.split_at(8 - piece.len());
        piece.copy_from_slice(lower);
    }
}

/// A number from its bytes, most significant first; limbs that it does not reach become zero.
fn read_big_endian(bytes: &[u8], number: &mut [Limb]) {
    number.fill(0);
    for (limb, piece) in number.iter_mut().zip(bytes.rchunks(8)) {
        *limb = piece
            .iter()
            .fold(0, |limb, byte| limb << 8 | Limb::from(*byte));
    }
}

impl Drop for Long {
    fn drop(&mut self) {
        self.mac.zeroize();
    }
}
