//! FF1 with halves of 97 to 128 bits over a radix that is a power of two.
//!
//! Such halves need 13 to 16 bytes, so y has 20 of them: the block R and the first four bytes of
//! CIPH(R xor 1). The moduli are powers of two, so of the 160 bits the lower ones are what remains, and a
//! round is two blocks and a mask.
//!
//! The round's number and NUM(B) end Q. With up to 15 bytes they stand in one block, as they do for shorter
//! halves. With 16 the number ends the block before, which then depends on tweak and round alone: it is
//! encrypted once, which is what [`Starts`] holds.
//!
//! Not here: other radices of such lengths, for which `crate::ff1::long` is there.

use zeroize::Zeroize;

use super::octets::Octets;
use super::wave::WAVE;
use super::waves::encrypt;
use super::wipe;
use crate::arithmetic::{DigitOrder, Digits};
use crate::cipher::{Cipher, Schedule};
use crate::feistel::{Direction, Family};
use crate::ff1;
use crate::numerals::Numeral;
use crate::shape::Shape;

const ROUNDS: usize = 10;

/// The input block of each round without NUM(B).
pub(crate) type Starts = [u128; ROUNDS];

/// What all values of such a shape have in common. Public.
pub(crate) struct Broad {
    shape: Shape,
    lengths: [usize; 2],
    masks: [u128; 2],
    digits: Digits,
    octets: Option<Octets>,
}

/// What a walk needs besides the values.
#[derive(Clone, Copy)]
pub(crate) struct Pass<'a> {
    pub(crate) schedule: &'a Schedule,
    pub(crate) direction: Direction,
    /// One for all records, or one for each.
    pub(crate) starts: &'a [Starts],
}

impl Broad {
    /// Records that are worth a wave, and that a wave has.
    pub(crate) const COUNTS: core::ops::RangeInclusive<usize> = super::tiles::FEW..=WAVE;

    /// `None` for all other shapes.
    pub(crate) fn new(shape: Shape) -> Option<Self> {
        let radix = shape.radix().value();
        let halves = [shape.u(), shape.v()];
        let bits = halves.map(|half| half.saturating_mul(radix.trailing_zeros()));
        if !radix.is_power_of_two() || !(97..=128).contains(&bits[1]) {
            return None;
        }
        let lengths = halves.map(|half| half as usize);
        Some(Self {
            shape,
            lengths,
            masks: bits.map(|bits| u128::MAX >> (128 - bits)),
            digits: Digits::new(shape.radix()),
            octets: Octets::new(Family::Ff1, radix, lengths),
        })
    }

    /// Steps 6.i and 6.ii as far as they are the same for all values under one tweak.
    pub(crate) fn starts(&self, schedule: &Schedule, encrypted_p: u128, tweak: &[u8]) -> Starts {
        let bytes = self.shape.b();
        let mut starts = [0; ROUNDS];
        if bytes < 16 {
            let mut base = ff1::base(schedule, bytes, encrypted_p, tweak);
            for (start, round) in starts.iter_mut().zip(0..) {
                *start = base.0[0] ^ round << (8 * bytes);
            }
            base.zeroize();
            return starts;
        }
        let cipher = |number: u128| u128::from_be_bytes(schedule.encrypt(number.to_be_bytes()));
        let (blocks, rest) = tweak.as_chunks::<16>();
        let mac = blocks.iter().fold(encrypted_p, |mac, block| {
            cipher(mac ^ u128::from_be_bytes(*block))
        });
        let mut last = [0; 16];
        last[..rest.len()].copy_from_slice(rest);
        for (start, round) in starts.iter_mut().zip(0..) {
            *start = cipher(mac ^ u128::from_be_bytes(last) ^ round);
        }
        starts
    }

    /// All rounds of up to a wave of records, in place.
    pub(crate) fn run<T: Numeral>(&self, pass: Pass<'_>, values: &mut [T]) {
        let mut halves = [[0u128; WAVE]; 2];
        let order = DigitOrder::MostSignificantFirst;
        let length = self.lengths[0] + self.lengths[1];
        let octets = self.octets.as_ref();
        if let (Some(octets), Some(bytes)) = (octets, T::bytes(values)) {
            octets.read(bytes, |half, k, number| halves[half][k] = number);
        } else {
            for (k, value) in values.chunks_exact(length).take(WAVE).enumerate() {
                let (first, second) = value.split_at(self.lengths[0]);
                halves[0][k] = self.digits.number_wide(first, order);
                halves[1][k] = self.digits.number_wide(second, order);
            }
        }
        self.rounds(pass, &mut halves);
        if let (Some(octets), Some(bytes)) = (octets, T::bytes_mut(values)) {
            octets.write(bytes, |half, k| halves[half][k]);
        } else {
            for (k, value) in values.chunks_exact_mut(length).take(WAVE).enumerate() {
                let (first, second) = value.split_at_mut(self.lengths[0]);
                self.digits.write_wide(halves[0][k], first, order);
                self.digits.write_wide(halves[1][k], second, order);
            }
        }
        wipe(&mut halves);
    }

    fn rounds(&self, pass: Pass<'_>, halves: &mut [[u128; WAVE]; 2]) {
        let mut blocks = [0u128; WAVE];
        let mut more = [0u128; WAVE];
        let last = pass.starts.len().saturating_sub(1);
        for step in 0..ROUNDS {
            let round = match pass.direction {
                Direction::Encrypt => step,
                Direction::Decrypt => ROUNDS - 1 - step,
            };
            let parity = round % 2;
            blocks = halves[1 - parity];
            let mut shared = 0;
            if let [start] = pass.starts {
                shared = start[round];
            } else {
                for (k, block) in blocks.iter_mut().enumerate() {
                    *block ^= pass.starts[k.min(last)][round];
                }
            }
            encrypt(pass.schedule, &mut blocks, shared);
            more = blocks;
            encrypt(pass.schedule, &mut more, 1);
            let mask = self.masks[parity];
            let halves = &mut halves[parity];
            for (half, (block, more)) in halves.iter_mut().zip(blocks.iter().zip(&more)) {
                let y = block << 32 | more >> 96;
                *half = match pass.direction {
                    Direction::Encrypt => half.wrapping_add(y),
                    Direction::Decrypt => half.wrapping_sub(y),
                } & mask;
            }
        }
        wipe(&mut blocks);
        wipe(&mut more);
    }
}
