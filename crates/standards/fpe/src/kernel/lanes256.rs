//! Halves below 2^31 in 64-bit lanes, four values per AVX2 register: block inputs, reduction of y,
//! decimal text.
//!
//! As in `super::lanes512`, y mod M goes by a double-precision estimate of the quotient, but AVX2
//! has no conversion between 64-bit integers and doubles. To a double: the upper word becomes the
//! mantissa of 2^84, the lower one that of 2^52, and both constants are taken off again, with one
//! rounding. To an integer: half is taken off and 1.5 * 2^52 is added, so that rounding to the
//! nearest gives q <= y/M and q >= y/M - 1 - d with d < 1, as long as q < 2^50; the low word of the
//! sum is the low word of q. The nudge of the reciprocal is the same. What is left is below 2 M.
//!
//! For M < 2^15 the quotient would be too long, so y is first folded to
//! (y >> 32) (2^32 mod M) + (y mod 2^32), below 2^48. Moduli above 2^31 are not served here.

use core::arch::x86_64::*;

use super::blocks::each256;
use super::lanes512::range;
use crate::cipher::aes_ni::load;
use crate::feistel::{Base, Direction, Plan};

/// Values per register.
pub(super) const LANES: usize = 4;

/// 1.5 * 2^52.
const MAGIC: f64 = 6_755_399_441_055_744.0;
/// 2^84 + 2^52.
const BIAS: f64 = 19_342_813_118_337_666_422_669_312.0;
/// The upper word of a double 2^52 and of a double 2^84.
const EXPONENTS: [i64; 2] = [0x4330_0000_0000_0000, 0x4530_0000_0000_0000];

/// The constants of a modulus.
#[derive(Clone, Copy)]
pub(super) struct Modulus {
    value: __m256i,
    reciprocal: __m256d,
    /// 2^32, 2^64 and 2^96 modulo M.
    fold: [__m256i; 3],
}

/// The kernel constant for the plan's moduli, `None` if the lanes cannot hold them.
pub(super) fn range_of(plan: &Plan) -> Option<u8> {
    super::lanes512::range_of(plan).filter(|range| *range != range::LARGE)
}

/// The constants of a modulus; not inlined, so that divisions (of public numbers) stand in no kernel.
#[inline(never)]
#[target_feature(enable = "avx2")]
pub(super) fn modulus(value: u128) -> Modulus {
    const NUDGE: f64 = 1.0 - 1.0 / (1u64 << 50) as f64;
    #[expect(clippy::cast_precision_loss, reason = "at most 2^31, which is exact")]
    let exact = value as f64;
    let lanes = |x: u128| _mm256_set1_epi64x(i64::try_from(x).unwrap_or(0));
    Modulus {
        value: lanes(value),
        reciprocal: _mm256_set1_pd(1.0 / exact * NUDGE),
        fold: [
            lanes((1 << 32) % value),
            lanes((1 << 64) % value),
            lanes((1 << 96) % value),
        ],
    }
}

/// By step of the walk: the number of the round at its place in every block, xored with round
/// key 0.
#[target_feature(enable = "avx2")]
pub(super) fn counters(plan: &Plan, key: __m256i, direction: Direction) -> [__m256i; 10] {
    let rounds = plan.family.rounds();
    let mut out = [key; 10];
    for (slot, step) in out.iter_mut().zip(0..rounds) {
        let round = match direction {
            Direction::Encrypt => step,
            Direction::Decrypt => rounds - 1 - step,
        };
        let block = plan.family.block(u128::from(round) << plan.counter_shift);
        *slot = _mm256_xor_si256(key, each256(&block));
    }
    out
}

/// Which value stands in which lane.
#[derive(Clone, Copy)]
pub(super) enum Order {
    /// Lane `i` has value `i`.
    Natural,
    /// As text is parsed: values 0 and 1 in the even lanes.
    Text,
}

impl Order {
    /// The values of the even lanes (0) or the odd ones (1).
    pub(super) const fn of(self, odd: usize) -> [usize; 2] {
        match self {
            Self::Natural => [odd, odd + 2],
            Self::Text => [2 * odd, 2 * odd + 1],
        }
    }
}

/// The blocks of the bases of two records, for even or for odd rounds.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn bases<const FF3: bool>(bases: [&Base; 2], parity: usize) -> __m256i {
    let [a, b] = bases.map(|base| base.0[parity].to_le_bytes());
    let two = join([load(&a), load(&b)]);
    if FF3 {
        return two;
    }
    _mm256_shuffle_epi8(
        two,
        each256(&[15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]),
    )
}

/// The input blocks of four values: those of even lanes, then those of odd ones.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn inputs<const FF3: bool>(
    half: __m256i,
    counter: __m256i,
    bases: &[__m256i; 2],
) -> [__m256i; 2] {
    const NONE: u8 = 0xff;
    const N: u8 = NONE;
    let orders: [[u8; 16]; 2] = if FF3 {
        [
            [0, 1, 2, 3, N, N, N, N, N, N, N, N, N, N, N, N],
            [8, 9, 10, 11, N, N, N, N, N, N, N, N, N, N, N, N],
        ]
    } else {
        [
            [N, N, N, N, N, N, N, N, N, N, N, N, 3, 2, 1, 0],
            [N, N, N, N, N, N, N, N, N, N, N, N, 11, 10, 9, 8],
        ]
    };
    let even = _mm256_shuffle_epi8(half, each256(&orders[0]));
    let odd = _mm256_shuffle_epi8(half, each256(&orders[1]));
    [
        _mm256_xor_si256(_mm256_xor_si256(bases[0], counter), even),
        _mm256_xor_si256(_mm256_xor_si256(bases[1], counter), odd),
    ]
}

/// A number congruent to y for each of four values, from their output blocks; below 2^64, and for
/// the small range below 2^48.
#[inline]
#[target_feature(enable = "avx2")]
fn outputs<const FF3: bool, const RANGE: u8>(
    even: __m256i,
    odd: __m256i,
    modulus: &Modulus,
) -> __m256i {
    let first = _mm256_unpacklo_epi64(even, odd);
    let y = if FF3 {
        let second = _mm256_unpackhi_epi64(even, odd);
        let sum = _mm256_add_epi64(
            _mm256_mul_epu32(second, modulus.fold[1]),
            _mm256_mul_epu32(_mm256_srli_epi64::<32>(second), modulus.fold[2]),
        );
        _mm256_add_epi64(sum, folded(first, modulus))
    } else {
        _mm256_shuffle_epi8(
            first,
            each256(&[7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8]),
        )
    };
    if RANGE == range::SMALL {
        folded(y, modulus)
    } else {
        y
    }
}

/// (y >> 32) (2^32 mod M) + (y mod 2^32).
#[inline]
#[target_feature(enable = "avx2")]
fn folded(y: __m256i, modulus: &Modulus) -> __m256i {
    let low = _mm256_blend_epi32::<0xaa>(y, _mm256_setzero_si256());
    _mm256_add_epi64(
        low,
        _mm256_mul_epu32(_mm256_srli_epi64::<32>(y), modulus.fold[0]),
    )
}

/// y - q M, below 2 M.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn rest(y: __m256i, modulus: &Modulus) -> __m256i {
    let [low_exponent, high_exponent] = EXPONENTS.map(|x| _mm256_set1_epi64x(x));
    let high = _mm256_or_si256(_mm256_srli_epi64::<32>(y), high_exponent);
    let low = _mm256_blend_epi32::<0xaa>(y, low_exponent);
    let high = _mm256_sub_pd(_mm256_castsi256_pd(high), _mm256_set1_pd(BIAS));
    let number = _mm256_add_pd(high, _mm256_castsi256_pd(low));
    let estimate = _mm256_fmsub_pd(number, modulus.reciprocal, _mm256_set1_pd(0.5));
    let quotient = _mm256_castpd_si256(_mm256_add_pd(estimate, _mm256_set1_pd(MAGIC)));
    _mm256_sub_epi32(y, _mm256_mul_epu32(quotient, modulus.value))
}

/// What is left of y, below 2 M, from the output blocks of four values.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn rests<const FF3: bool, const RANGE: u8>(
    even: __m256i,
    odd: __m256i,
    modulus: &Modulus,
) -> __m256i {
    rest(outputs::<FF3, RANGE>(even, odd, modulus), modulus)
}

/// (half + rest) mod M, or (half - rest) mod M, for a rest below 2 M, in any range that is served here.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn combine<const RANGE: u8, const ENCRYPT: bool>(
    half: __m256i,
    rest: __m256i,
    modulus: &Modulus,
) -> __m256i {
    let m = modulus.value;
    let rest = _mm256_min_epu32(rest, _mm256_sub_epi32(rest, m));
    if ENCRYPT {
        let sum = _mm256_add_epi32(half, rest);
        _mm256_min_epu32(sum, _mm256_sub_epi32(sum, m))
    } else {
        let difference = _mm256_sub_epi32(half, rest);
        _mm256_min_epu32(difference, _mm256_add_epi32(difference, m))
    }
}

/// Two halves in one register.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn join([low, high]: [__m128i; 2]) -> __m256i {
    _mm256_set_m128i(high, low)
}

/// The inverse.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn split(x: __m256i) -> [__m128i; 2] {
    [_mm256_castsi256_si128(x), _mm256_extracti128_si256::<1>(x)]
}

/// Numbers of sixteen decimal digits: first halves and second halves of four values, whose order
/// in the lanes is 0, 2, 1, 3. The upper half of a first-half lane is not clean.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn parse<const FF3: bool>(text: [__m256i; 2], zero: __m256i) -> (__m256i, __m256i) {
    let [low, high] = [fours::<FF3>(text[0], zero), fours::<FF3>(text[1], zero)];
    let packed = _mm256_packus_epi32(low, high);
    let eights = _mm256_madd_epi16(packed, _mm256_set1_epi32(0x0001_2710));
    (eights, _mm256_srli_epi64::<32>(eights))
}

#[inline]
#[target_feature(enable = "avx2")]
fn fours<const FF3: bool>(text: __m256i, zero: __m256i) -> __m256i {
    let text = if FF3 { reverse(text) } else { text };
    let digits = _mm256_sub_epi8(text, zero);
    let pairs = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(0x010a));
    _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x0001_0064))
}

/// The inverse of [`parse`]; upper halves of the lanes are not looked at.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn print<const FF3: bool>(
    first: __m256i,
    second: __m256i,
    zero: __m256i,
) -> [__m256i; 2] {
    let (a, b) = (split_eights(first), split_eights(second));
    [
        digits::<FF3>(_mm256_unpacklo_epi64(a, b), zero),
        digits::<FF3>(_mm256_unpackhi_epi64(a, b), zero),
    ]
}

#[inline]
#[target_feature(enable = "avx2")]
fn split_eights(eights: __m256i) -> __m256i {
    let high = _mm256_srli_epi64::<45>(_mm256_mul_epu32(eights, _mm256_set1_epi64x(0xd1b7_1759)));
    let low = _mm256_sub_epi32(eights, _mm256_mul_epu32(high, _mm256_set1_epi64x(10_000)));
    _mm256_blend_epi32::<0xaa>(high, _mm256_slli_epi64::<32>(low))
}

#[inline]
#[target_feature(enable = "avx2")]
fn digits<const FF3: bool>(fours: __m256i, zero: __m256i) -> __m256i {
    let high = _mm256_srli_epi32::<3>(_mm256_mulhi_epu16(fours, _mm256_set1_epi32(5243)));
    let low = _mm256_sub_epi16(fours, _mm256_mullo_epi16(high, _mm256_set1_epi32(100)));
    let pairs = _mm256_or_si256(high, _mm256_slli_epi32::<16>(low));
    let high = _mm256_mulhi_epu16(pairs, _mm256_set1_epi16(6554));
    let low = _mm256_sub_epi16(pairs, _mm256_mullo_epi16(high, _mm256_set1_epi16(10)));
    let bytes = _mm256_or_si256(high, _mm256_slli_epi16::<8>(low));
    let text = _mm256_add_epi8(bytes, zero);
    if FF3 { reverse(text) } else { text }
}

/// Each eight digits in the other order.
#[inline]
#[target_feature(enable = "avx2")]
fn reverse(text: __m256i) -> __m256i {
    _mm256_shuffle_epi8(
        text,
        each256(&[7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8]),
    )
}
