//! Halves below 2^32 in 64-bit lanes, eight values per AVX-512 register: block inputs, reduction of
//! y, decimal text.
//!
//! y mod M goes by a double-precision estimate of the quotient: q = trunc(double(y) * r) with
//! r = (1/M) (1 - 2^-50). The nudge of eight units in the last place outweighs the three roundings,
//! so q is never too large, and for 2^15 <= M it is at most one too small, because then
//! q < 2^49.5. What is left is below 2 M; the smaller of it and it less M, as unsigned numbers,
//! is the remainder. [`Range`] says what changes for smaller and larger moduli. Only the low
//! 32 bits of a lane hold a half; the upper ones may hold anything unless stated otherwise.

use core::arch::x86_64::*;

use crate::cipher::aes_ni::load;
use crate::feistel::{Base, Direction, Family, Plan};

/// Values per register.
pub(super) const LANES: usize = 8;

/// Where the moduli lie, as a constant of the compiled kernel.
pub(super) mod range {
    /// 2^15 <= M <= 2^31 (FF3 family: 2^30, so that the folded y stays below 2^64).
    pub(in super::super) const PLAIN: u8 = 0;
    /// M < 2^15: the quotient exceeds what a double holds, so the estimate is made once more on
    /// what the first one left, which is below 2^17.
    pub(in super::super) const SMALL: u8 = 1;
    /// 2^31 < M <= 2^32: twice M needs 33 bits, so comparisons use whole lanes.
    pub(in super::super) const LARGE: u8 = 2;
}

/// The constants of a modulus.
#[derive(Clone, Copy)]
pub(super) struct Modulus {
    value: __m512i,
    reciprocal: __m512d,
    /// 2^32, 2^64 and 2^96 modulo M, for a y of 128 bits.
    fold: [__m512i; 3],
}

/// The kernel constant for these moduli, `None` if the lanes cannot hold them.
pub(super) fn range_of(plan: &Plan) -> Option<u8> {
    let (family, moduli) = (plan.family, plan.moduli.values());
    // FF1 with a y of more than 64 bits has other lanes.
    if family == Family::Ff1 && plan.discard != 64 {
        return None;
    }
    let least = moduli[0].min(moduli[1]);
    let greatest = moduli[0].max(moduli[1]);
    let plain_limit = match family {
        Family::Ff1 => 1 << 31,
        Family::Ff3 => 1 << 30,
    };
    if greatest <= plain_limit {
        // The second estimate of the small range is valid for all of them.
        return Some(if least < 1 << 15 {
            range::SMALL
        } else {
            range::PLAIN
        });
    }
    // The shorter half of an odd length can lie in another range than the longer one.
    (family == Family::Ff1 && least >= 1 << 15 && greatest <= 1 << 32).then_some(range::LARGE)
}

/// The constants of a modulus; not inlined, so that divisions (of public numbers) stand in no kernel.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn modulus(value: u128) -> Modulus {
    #[expect(clippy::cast_precision_loss, reason = "at most 2^32, which is exact")]
    let exact = value as f64;
    const NUDGE: f64 = 1.0 - 1.0 / (1u64 << 50) as f64;
    let lanes = |x: u128| _mm512_set1_epi64(i64::try_from(x).unwrap_or(0));
    Modulus {
        value: lanes(value),
        reciprocal: _mm512_set1_pd(1.0 / exact * NUDGE),
        fold: [
            lanes((1 << 32) % value),
            lanes((1 << 64) % value),
            lanes((1 << 96) % value),
        ],
    }
}

/// By step of the walk: the number of the round at its place in every block, xored with round
/// key 0.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn counters(plan: &Plan, key: __m512i, direction: Direction) -> [__m512i; 10] {
    let rounds = plan.family.rounds();
    let mut out = [key; 10];
    for (slot, step) in out.iter_mut().zip(0..rounds) {
        let round = match direction {
            Direction::Encrypt => step,
            Direction::Decrypt => rounds - 1 - step,
        };
        let block = plan.family.block(u128::from(round) << plan.counter_shift);
        *slot = _mm512_xor_si512(key, all_blocks(&block));
    }
    out
}

/// One block in all four places.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn all_blocks(block: &[u8; 16]) -> __m512i {
    _mm512_broadcast_i32x4(load(block))
}

/// Which value stands in which lane.
#[derive(Clone, Copy)]
pub(super) enum Order {
    /// Lane `i` has value `i`.
    Natural,
    /// As text is parsed: values 0 to 3 in the even lanes.
    Text,
}

impl Order {
    /// The values of the even lanes (0) or the odd ones (1).
    pub(super) const fn of(self, odd: usize) -> [usize; 4] {
        match self {
            Self::Natural => [odd, odd + 2, odd + 4, odd + 6],
            Self::Text => [4 * odd, 4 * odd + 1, 4 * odd + 2, 4 * odd + 3],
        }
    }
}

/// The blocks of the bases of four records, for even or for odd rounds.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn bases<const FF3: bool>(bases: [&Base; 4], parity: usize) -> __m512i {
    let [a, b, c, d] = bases.map(|base| base.0[parity].to_le_bytes());
    let four = join([load(&a), load(&b), load(&c), load(&d)]);
    if FF3 {
        return four;
    }
    _mm512_shuffle_epi8(
        four,
        each16([15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]),
    )
}

/// The input blocks of eight values: those of even lanes, then those of odd ones.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn inputs<const FF3: bool>(
    half: __m512i,
    counter: __m512i,
    bases: &[__m512i; 2],
) -> [__m512i; 2] {
    let (even, odd) = if FF3 {
        (
            _mm512_maskz_mov_epi32(0x1111, half),
            _mm512_maskz_shuffle_epi32::<0b10>(0x1111, half),
        )
    } else {
        (
            _mm512_shuffle_epi8(
                half,
                each16([-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 3, 2, 1, 0]),
            ),
            _mm512_shuffle_epi8(
                half,
                each16([-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 11, 10, 9, 8]),
            ),
        )
    };
    [
        _mm512_ternarylogic_epi32::<0x96>(even, counter, bases[0]),
        _mm512_ternarylogic_epi32::<0x96>(odd, counter, bases[1]),
    ]
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn each16(order: [i8; 16]) -> __m512i {
    all_blocks(&order.map(i8::cast_unsigned))
}

/// y of eight values from their output blocks: 64 bits in each lane. For the FF3 family a number
/// congruent to the 128-bit y.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn outputs<const FF3: bool>(even: __m512i, odd: __m512i, modulus: &Modulus) -> __m512i {
    let first = _mm512_unpacklo_epi64(even, odd);
    if !FF3 {
        return _mm512_shuffle_epi8(
            first,
            each16([7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8]),
        );
    }
    let second = _mm512_unpackhi_epi64(even, odd);
    let words = [
        _mm512_mul_epu32(_mm512_srli_epi64::<32>(first), modulus.fold[0]),
        _mm512_mul_epu32(second, modulus.fold[1]),
        _mm512_mul_epu32(_mm512_srli_epi64::<32>(second), modulus.fold[2]),
    ];
    let low = _mm512_maskz_mov_epi32(0x5555, first);
    _mm512_add_epi64(
        _mm512_add_epi64(low, words[0]),
        _mm512_add_epi64(words[1], words[2]),
    )
}

/// The estimate of y / M, not yet an integer.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn estimate(y: __m512i, modulus: &Modulus) -> __m512d {
    _mm512_mul_pd(_mm512_cvtepu64_pd(y), modulus.reciprocal)
}

/// y - q M, below 2 M.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn rest<const RANGE: u8>(y: __m512i, estimate: __m512d, modulus: &Modulus) -> __m512i {
    let quotient = _mm512_cvttpd_epu64(estimate);
    if RANGE == range::LARGE {
        return _mm512_sub_epi64(y, _mm512_mullo_epi64(quotient, modulus.value));
    }
    let rest = _mm512_sub_epi32(y, _mm512_mul_epu32(quotient, modulus.value));
    if RANGE == range::PLAIN {
        return rest;
    }
    let clean = _mm512_maskz_mov_epi32(0x5555, rest);
    let more = _mm512_cvttpd_epu64(self::estimate(clean, modulus));
    _mm512_sub_epi32(clean, _mm512_mul_epu32(more, modulus.value))
}

/// What is left of y, below 2 M, from the output blocks of eight values.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn rests<const FF3: bool, const RANGE: u8>(
    even: __m512i,
    odd: __m512i,
    modulus: &Modulus,
) -> __m512i {
    let y = outputs::<FF3>(even, odd, modulus);
    rest::<RANGE>(y, estimate(y, modulus), modulus)
}

/// (half + rest) mod M, or (half - rest) mod M, for a rest below 2 M.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn combine<const RANGE: u8, const ENCRYPT: bool>(
    half: __m512i,
    rest: __m512i,
    modulus: &Modulus,
) -> __m512i {
    let m = modulus.value;
    if RANGE == range::LARGE {
        let rest = _mm512_min_epu64(rest, _mm512_sub_epi64(rest, m));
        return if ENCRYPT {
            let sum = _mm512_add_epi64(half, rest);
            _mm512_min_epu64(sum, _mm512_sub_epi64(sum, m))
        } else {
            let difference = _mm512_sub_epi64(half, rest);
            _mm512_min_epu64(difference, _mm512_add_epi64(difference, m))
        };
    }
    let rest = _mm512_min_epu32(rest, _mm512_sub_epi32(rest, m));
    if ENCRYPT {
        let sum = _mm512_add_epi32(half, rest);
        _mm512_min_epu32(sum, _mm512_sub_epi32(sum, m))
    } else {
        let difference = _mm512_sub_epi32(half, rest);
        _mm512_min_epu32(difference, _mm512_add_epi32(difference, m))
    }
}

/// Four quarters in one register.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn join([a, b, c, d]: [__m128i; 4]) -> __m512i {
    let (low, high) = (_mm256_set_m128i(b, a), _mm256_set_m128i(d, c));
    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
}

/// The inverse.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn split(x: __m512i) -> [__m128i; 4] {
    [
        _mm512_castsi512_si128(x),
        _mm512_extracti32x4_epi32::<1>(x),
        _mm512_extracti32x4_epi32::<2>(x),
        _mm512_extracti32x4_epi32::<3>(x),
    ]
}

/// Numbers of sixteen decimal digits: first halves and second halves of eight values, whose order
/// in the lanes is 0, 4, 1, 5, 2, 6, 3, 7. The upper half of a first-half lane is not clean.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn parse<const FF3: bool>(text: [__m512i; 2], zero: __m512i) -> (__m512i, __m512i) {
    let [low, high] = [fours::<FF3>(text[0], zero), fours::<FF3>(text[1], zero)];
    let eights = _mm512_madd_epi16(
        _mm512_packus_epi32(low, high),
        _mm512_set1_epi32(0x0001_2710),
    );
    (eights, _mm512_srli_epi64::<32>(eights))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn fours<const FF3: bool>(text: __m512i, zero: __m512i) -> __m512i {
    let text = if FF3 { reverse(text) } else { text };
    let digits = _mm512_sub_epi8(text, zero);
    let pairs = _mm512_maddubs_epi16(digits, _mm512_set1_epi16(0x010a));
    _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x0001_0064))
}

/// The inverse of [`parse`]; upper halves of the lanes are not looked at.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn print<const FF3: bool>(
    first: __m512i,
    second: __m512i,
    zero: __m512i,
) -> [__m512i; 2] {
    let (a, b) = (split_eights(first), split_eights(second));
    [
        digits::<FF3>(_mm512_unpacklo_epi64(a, b), zero),
        digits::<FF3>(_mm512_unpackhi_epi64(a, b), zero),
    ]
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn split_eights(eights: __m512i) -> __m512i {
    let high = _mm512_srli_epi64::<45>(_mm512_mul_epu32(eights, _mm512_set1_epi64(0xd1b7_1759)));
    let low = _mm512_sub_epi32(eights, _mm512_mul_epu32(high, _mm512_set1_epi64(10_000)));
    _mm512_mask_blend_epi32(0xaaaa, high, _mm512_slli_epi64::<32>(low))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn digits<const FF3: bool>(fours: __m512i, zero: __m512i) -> __m512i {
    let high = _mm512_srli_epi32::<3>(_mm512_mulhi_epu16(fours, _mm512_set1_epi32(5243)));
    let low = _mm512_sub_epi16(fours, _mm512_mullo_epi16(high, _mm512_set1_epi32(100)));
    let pairs = _mm512_or_si512(high, _mm512_slli_epi32::<16>(low));
    let high = _mm512_mulhi_epu16(pairs, _mm512_set1_epi16(6554));
    let low = _mm512_sub_epi16(pairs, _mm512_mullo_epi16(high, _mm512_set1_epi16(10)));
    let bytes = _mm512_or_si512(high, _mm512_slli_epi16::<8>(low));
    let text = _mm512_add_epi8(bytes, zero);
    if FF3 { reverse(text) } else { text }
}

/// Each eight digits in the other order.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn reverse(text: __m512i) -> __m512i {
    _mm512_shuffle_epi8(
        text,
        each16([7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8]),
    )
}
