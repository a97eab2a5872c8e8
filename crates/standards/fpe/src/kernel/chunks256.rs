//! From records in memory to registers of four values and back, a chunk at a time.
//!
//! What happens in between is the caller's: a walk over two sets of values. The last chunk
//! is filled up with dummy values that are never written out, so there is no second arithmetic
//! for tails.
#![expect(unsafe_code, reason = "loads and stores of registers")]
#![expect(
    clippy::needless_range_loop,
    reason = "one index runs through several arrays of registers"
)]

use core::arch::x86_64::*;

use super::lanes256::{self as lanes, LANES};
use super::wipe;
use crate::feistel::Base;

/// Registers of a set, at most.
const MOST: usize = 4;
/// Values of a chunk, at most.
const WIDEST: usize = 2 * MOST * LANES;

/// Values on their way, in `G` registers for each half.
pub(super) struct Set<const G: usize> {
    /// The halves that go into the blocks.
    pub(super) input: [__m256i; G],
    /// The halves that y is added to.
    pub(super) other: [__m256i; G],
}

/// Which value stands in which lane.
#[derive(Clone, Copy)]
enum Order {
    /// Lane `i` has value `i`.
    Natural,
    /// As text is parsed: values 0 and 1 in the even lanes.
    Text,
}

impl Order {
    /// The values of the even lanes (0) or the odd ones (1).
    const fn of(self, odd: usize) -> [usize; 2] {
        match self {
            Self::Natural => [odd, odd + 2],
            Self::Text => [2 * odd, 2 * odd + 1],
        }
    }
}

/// Bases of one set: by parity of the round, group, and parity of the lane.
pub(super) type Bases<const G: usize> = [[[__m256i; 2]; G]; 2];

impl<const G: usize> Set<G> {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn empty() -> Self {
        let zero = [_mm256_setzero_si256(); G];
        Self {
            input: zero,
            other: zero,
        }
    }

    /// Puts first and second halves where the direction wants them.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn put<const ENCRYPT: bool>(&mut self, g: usize, first: __m256i, second: __m256i) {
        (self.input[g], self.other[g]) = if ENCRYPT {
            (second, first)
        } else {
            (first, second)
        };
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn take<const ENCRYPT: bool>(&self, g: usize) -> (__m256i, __m256i) {
        if ENCRYPT {
            (self.other[g], self.input[g])
        } else {
            (self.input[g], self.other[g])
        }
    }
}

/// The bases of a chunk of values, in the order that the lanes have.
#[inline]
#[target_feature(enable = "avx2")]
fn chunk_bases<const G: usize, const FF3: bool>(
    bases: &[Base],
    start: usize,
    order: Order,
) -> [Bases<G>; 2] {
    let base = |i: usize| bases.get(start + i).unwrap_or(&bases[bases.len() - 1]);
    let mut out = [[[[_mm256_setzero_si256(); 2]; G]; 2]; 2];
    for (s, set) in out.iter_mut().enumerate() {
        for g in 0..G {
            let at = (s * G + g) * LANES;
            for lane in 0..2 {
                let two = order.of(lane).map(|i| base(at + i));
                set[0][g][lane] = lanes::two_bases::<FF3>(two, 0);
                set[1][g][lane] = if FF3 {
                    lanes::two_bases::<FF3>(two, 1)
                } else {
                    set[0][g][lane]
                };
            }
        }
    }
    out
}

#[target_feature(enable = "avx2")]
pub(super) fn text<const G: usize, const FF3: bool, const ENCRYPT: bool>(
    rounds: impl Fn(&[Bases<G>; 2], &mut [Set<G>; 2]),
    bases: &[Base],
    values: &mut [[u8; 16]],
    zero: u8,
) {
    let mut constant = chunk_bases::<G, FF3>(bases, 0, Order::Text);
    let mut sets = [Set::empty(), Set::empty()];
    let width = const { 2 * G * LANES };
    let mut start = 0;
    for chunk in values.chunks_mut(width) {
        if bases.len() > 1 {
            constant = chunk_bases::<G, FF3>(bases, start, Order::Text);
        }
        if chunk.len() == width {
            text_chunk::<G, FF3, ENCRYPT>(&rounds, &constant, &mut sets, chunk, zero);
        } else {
            let mut padded = [[zero; 16]; WIDEST];
            padded[..chunk.len()].copy_from_slice(chunk);
            text_chunk::<G, FF3, ENCRYPT>(
                &rounds,
                &constant,
                &mut sets,
                &mut padded[..width],
                zero,
            );
            chunk.copy_from_slice(&padded[..chunk.len()]);
            wipe(&mut padded);
        }
        start += width;
    }
    wipe(&mut constant);
    wipe(&mut sets);
}

#[inline]
#[target_feature(enable = "avx2")]
fn text_chunk<const G: usize, const FF3: bool, const ENCRYPT: bool>(
    rounds: &impl Fn(&[Bases<G>; 2], &mut [Set<G>; 2]),
    bases: &[Bases<G>; 2],
    sets: &mut [Set<G>; 2],
    values: &mut [[u8; 16]],
    zero: u8,
) {
    let zero = _mm256_set1_epi8(zero.cast_signed());
    assert!(values.len() == 2 * G * LANES, "a chunk fills all lanes");
    let registers: *mut __m256i = values.as_mut_ptr().cast();
    for s in 0..2 {
        for g in 0..G {
            let at = 2 * (s * G + g);
            // SAFETY: the chunk was found to have as many values as 4 G registers hold, and
            // `at + 1` is below 4 G.
            let text = unsafe {
                [
                    _mm256_loadu_si256(registers.add(at)),
                    _mm256_loadu_si256(registers.add(at + 1)),
                ]
            };
            let (first, second) = lanes::parse::<FF3>(text, zero);
            sets[s].put::<ENCRYPT>(g, first, second);
        }
    }
    rounds(bases, sets);
    for s in 0..2 {
        for g in 0..G {
            let at = 2 * (s * G + g);
            let (first, second) = sets[s].take::<ENCRYPT>(g);
            let [low, high] = lanes::print::<FF3>(first, second, zero);
            // SAFETY: as above.
            unsafe {
                _mm256_storeu_si256(registers.add(at), low);
                _mm256_storeu_si256(registers.add(at + 1), high);
            }
        }
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn halves<const G: usize, const FF3: bool, const ENCRYPT: bool>(
    rounds: impl Fn(&[Bases<G>; 2], &mut [Set<G>; 2]),
    bases: &[Base],
    halves: [&mut [u64]; 2],
) {
    let mut constant = chunk_bases::<G, FF3>(bases, 0, Order::Natural);
    let mut sets = [Set::empty(), Set::empty()];
    let width = const { 2 * G * LANES };
    let mut start = 0;
    let [first, second] = halves;
    for (a, b) in first.chunks_mut(width).zip(second.chunks_mut(width)) {
        if bases.len() > 1 {
            constant = chunk_bases::<G, FF3>(bases, start, Order::Natural);
        }
        let mut padded = [[0u64; WIDEST]; 2];
        padded[0][..a.len()].copy_from_slice(a);
        padded[1][..b.len()].copy_from_slice(b);
        halves_chunk::<G, ENCRYPT>(&rounds, &constant, &mut sets, &mut padded);
        a.copy_from_slice(&padded[0][..a.len()]);
        b.copy_from_slice(&padded[1][..b.len()]);
        wipe(&mut padded);
        start += width;
    }
    wipe(&mut constant);
    wipe(&mut sets);
}

#[inline]
#[target_feature(enable = "avx2")]
fn halves_chunk<const G: usize, const ENCRYPT: bool>(
    rounds: &impl Fn(&[Bases<G>; 2], &mut [Set<G>; 2]),
    bases: &[Bases<G>; 2],
    sets: &mut [Set<G>; 2],
    halves: &mut [[u64; WIDEST]; 2],
) {
    let [first, second] = halves
        .each_mut()
        .map(|half| half.as_mut_ptr().cast::<__m256i>());
    for s in 0..2 {
        for g in 0..G {
            let at = s * G + g;
            // SAFETY: each array holds 2 MOST registers, and `at` is below 2 G.
            let (a, b) = unsafe {
                (
                    _mm256_loadu_si256(first.add(at)),
                    _mm256_loadu_si256(second.add(at)),
                )
            };
            sets[s].put::<ENCRYPT>(g, a, b);
        }
    }
    rounds(bases, sets);
    let whole = _mm256_set1_epi64x(0xffff_ffff);
    for s in 0..2 {
        for g in 0..G {
            let at = s * G + g;
            let (a, b) = sets[s].take::<ENCRYPT>(g);
            // SAFETY: as above.
            unsafe {
                _mm256_storeu_si256(first.add(at), _mm256_and_si256(a, whole));
                _mm256_storeu_si256(second.add(at), _mm256_and_si256(b, whole));
            }
        }
    }
}
