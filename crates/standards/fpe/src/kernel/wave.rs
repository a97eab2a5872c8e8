//! Any moduli on any backend: thirty-two values at a time, arithmetic in general registers.
//!
//! A round is a wave: all input blocks, all block encryptions, all additions. The blocks lie in
//! memory as 128-bit numbers, so this file knows no byte order and no instruction set; a backend
//! brings the encryption of thirty-two numbers and instantiates [`rounds`] inside a function of its
//! own instructions. The processor overlaps the arithmetic of one value with that of the others.
//!
//! The vector kernels are faster where they serve; this one serves the rest.

use super::{Walk, wipe};
use crate::arithmetic::Modulus;
use crate::feistel::{Base, Direction};

/// Values of a wave.
pub(super) const WAVE: usize = 32;

/// First and second halves of a wave.
pub(super) type Halves<H> = [[H; WAVE]; 2];

/// All rounds of one wave in place. `DISCARD` is the plan's, as a constant.
///
/// `encrypt` takes `N` numbers at a time, and one that it xors to each of them: with the first round key
/// or in registers, where that costs nothing. With fewer than a whole wave, the arithmetic of one part
/// runs in the shadow of the encryption of another, which waits for its inputs to reach memory.
#[inline(always)]
pub(super) fn rounds<M: Modulus, const DISCARD: u32, const N: usize>(
    walk: &Walk<'_>,
    moduli: &[M; 2],
    halves: &mut Halves<M::Half>,
    encrypt: impl Fn(&mut [u128; N], u128),
) {
    let Walk {
        plan,
        bases,
        direction,
        ..
    } = *walk;
    let mut shared = Base::default();
    let mut constants = [[0u128; WAVE]; 2];
    if let [base] = bases {
        shared = *base;
    } else {
        let last = bases.len().saturating_sub(1);
        for k in 0..WAVE {
            let [even, odd] = bases[k.min(last)].0;
            constants[0][k] = even;
            constants[1][k] = odd;
        }
    }
    let mut blocks = [0u128; WAVE];
    let count = plan.family.rounds();
    let round_of = |step: u32| {
        if direction == Direction::Encrypt {
            step
        } else {
            count - 1 - step
        }
    };
    for step in 0..=count {
        for (part, numbers) in blocks.as_chunks_mut::<N>().0.iter_mut().enumerate() {
            let at = part * N;
            if let Some(done) = step.checked_sub(1) {
                // An even round changes the first half by the second, an odd one the other way
                // round; so no half ever moves.
                let parity = usize::from(round_of(done) % 2 == 1);
                let other = &mut halves[parity][at..at + N];
                absorb::<M, DISCARD, N>(moduli[parity], direction, other, numbers);
            }
            if step < count {
                let round = round_of(step);
                let parity = usize::from(round % 2 == 1);
                let counter = u128::from(round) << plan.counter_shift;
                let (constant, input) = (
                    &constants[parity][at..at + N],
                    &halves[1 - parity][at..at + N],
                );
                if bases.len() == 1 {
                    for (number, input) in numbers.iter_mut().zip(input) {
                        *number = (*input).into();
                    }
                } else {
                    for k in 0..N {
                        numbers[k] = constant[k] ^ input[k].into();
                    }
                }
                encrypt(numbers, counter ^ shared.0[parity]);
            }
        }
    }
    wipe(&mut blocks);
    wipe(&mut constants);
    wipe(&mut shared);
}

/// Adds or subtracts y.
#[inline(always)]
fn absorb<M: Modulus, const DISCARD: u32, const N: usize>(
    modulus: M,
    direction: Direction,
    other: &mut [M::Half],
    numbers: &[u128; N],
) {
    match direction {
        Direction::Encrypt => {
            for (half, number) in other.iter_mut().zip(numbers) {
                *half = modulus.add(*half, number >> DISCARD);
            }
        }
        Direction::Decrypt => {
            for (half, number) in other.iter_mut().zip(numbers) {
                *half = modulus.subtract(*half, number >> DISCARD);
            }
        }
    }
}

/// Defines `$run`, which takes a wave of halves through all rounds on one backend. The encryption is
/// `$encrypt::<SWAP>(keys, blocks, constant)`, where `SWAP` says that the numbers are big-endian (FF1).
macro_rules! wave_on {
    ($features:literal, $keys:ty, $encrypt:ident, $n:literal, $run:ident) => {
        #[target_feature(enable = $features)]
        pub(super) fn $run<M: crate::arithmetic::Modulus, const DISCARD: u32, const SWAP: bool>(
            keys: &$keys,
            walk: &super::Walk<'_>,
            moduli: &[M; 2],
            halves: &mut super::wave::Halves<M::Half>,
        ) {
            super::wave::rounds::<M, DISCARD, $n>(walk, moduli, halves, |blocks, constant| {
                $encrypt::<SWAP>(keys, blocks, constant);
            });
        }
    };
}
pub(super) use wave_on;
