//! One value of sixteen decimal digits, text in and out, with AES-NI.
//!
//! What counts here is the chain of one round: block in, AES, y out, reduction, next block. So the
//! whole walk stands in one function per key size: halves stay in general registers, round keys in
//! vector registers, round key 0 is part of the base, and the byte order costs one shuffle on each
//! way. y is reduced by a multiplication with the reciprocal of 10^8 (exact for 64 bits); the
//! 128-bit y of the FF3 family is first folded to 61 bits with the residues of 2^32, 2^64 and 2^96.
//! The last step picks one of two candidates by a conditional move that is written as such.
//!
//! Other shapes: [`any`].
//!
//! Not here: many values (the batch kernels), validation of the text.
#![expect(
    unsafe_code,
    reason = "conditional moves, and the step into target features"
)]

use core::arch::asm;
use core::arch::x86_64::*;

use crate::cipher::Schedule;
use crate::cipher::aes_ni::{load, store};
use crate::feistel::{Base, Direction, Family};

mod shapes;

pub(crate) use shapes::any;

/// radix^8.
const M: u64 = 100_000_000;
/// 2^32, 2^64 and 2^96 modulo M.
const FOLD: [u64; 3] = [residue(32), residue(64), residue(96)];

#[expect(clippy::cast_possible_truncation, reason = "below M")]
const fn residue(bits: u32) -> u64 {
    ((1u128 << bits) % M as u128) as u64
}

/// One value of sixteen decimal digits in place, where `zero` is the byte of the digit 0; `false` if
/// the schedule has no AES-NI.
///
/// The caller has checked the digits, and plan and base belong to radix 10 and 16 digits.
#[inline]
pub(crate) fn decimal16(
    schedule: &Schedule,
    (family, direction): (Family, Direction),
    base: &Base,
    value: &mut [u8; 16],
    zero: u8,
) -> bool {
    let Some(keys) = schedule.aes_keys() else {
        return false;
    };
    // SAFETY: byte round keys exist only in schedules whose backend has AES-NI, AVX2 and BMI2.
    unsafe {
        match (family, direction) {
            (Family::Ff1, Direction::Encrypt) => sized::<false, true>(keys, base, value, zero),
            (Family::Ff1, Direction::Decrypt) => sized::<false, false>(keys, base, value, zero),
            (Family::Ff3, Direction::Encrypt) => sized::<true, true>(keys, base, value, zero),
            (Family::Ff3, Direction::Decrypt) => sized::<true, false>(keys, base, value, zero),
        }
    }
    true
}

#[inline]
#[target_feature(enable = "aes,avx2,bmi2")]
fn sized<const FF3: bool, const ENCRYPT: bool>(
    keys: &[[u8; 16]],
    base: &Base,
    value: &mut [u8; 16],
    zero: u8,
) {
    if let Ok(keys) = keys.try_into() {
        walk::<11, FF3, ENCRYPT>(keys, base, value, zero);
    } else if let Ok(keys) = keys.try_into() {
        walk::<13, FF3, ENCRYPT>(keys, base, value, zero);
    } else if let Ok(keys) = keys.try_into() {
        walk::<15, FF3, ENCRYPT>(keys, base, value, zero);
    }
}

/// The half that goes into the block and the half that y is added to.
struct Halves {
    input: u64,
    other: u64,
}

#[target_feature(enable = "aes,avx2,bmi2")]
fn walk<const K: usize, const FF3: bool, const ENCRYPT: bool>(
    keys: &[[u8; 16]; K],
    base: &Base,
    value: &mut [u8; 16],
    zero: u8,
) {
    let zero = _mm_set1_epi8(zero.cast_signed());
    let mut round_keys = [_mm_setzero_si128(); K];
    for (key, bytes) in round_keys.iter_mut().zip(keys) {
        *key = load(bytes);
    }
    let bases = base.0.map(|number| {
        if FF3 {
            number.to_le_bytes()
        } else {
            number.to_be_bytes()
        }
    });
    let even = _mm_xor_si128(load(&bases[0]), round_keys[0]);
    let odd = _mm_xor_si128(load(&bases[1]), round_keys[0]);
    let (a, b) = parse(
        if FF3 {
            reverse(load(value))
        } else {
            load(value)
        },
        zero,
    );
    let mut halves = if ENCRYPT {
        Halves { input: b, other: a }
    } else {
        Halves { input: a, other: b }
    };
    let pairs = if FF3 { 4 } else { 5 };
    for step in 0..pairs {
        let pair = if ENCRYPT { step } else { pairs - 1 - step };
        let first = if ENCRYPT {
            (even, 2 * pair)
        } else {
            (odd, 2 * pair + 1)
        };
        let second = if ENCRYPT {
            (odd, 2 * pair + 1)
        } else {
            (even, 2 * pair)
        };
        for (constant, round) in [first, second] {
            let block = _mm_xor_si128(constant, counter::<FF3>(round));
            halves = round_of::<K, FF3, ENCRYPT>(&round_keys, block, halves);
        }
    }
    let Halves { input, other } = halves;
    let text = if ENCRYPT {
        print(other, input)
    } else {
        print(input, other)
    };
    let text = _mm_add_epi8(text, zero);
    store(value, if FF3 { reverse(text) } else { text });
}

/// The round's number: byte 11 in FF1 (b = 4), the lowest byte of the half tweak in FF3.
#[inline]
#[target_feature(enable = "avx2")]
fn counter<const FF3: bool>(round: i64) -> __m128i {
    _mm_set_epi64x(if FF3 { round << 32 } else { round << 24 }, 0)
}

#[inline]
#[target_feature(enable = "aes,avx2,bmi2")]
fn round_of<const K: usize, const FF3: bool, const ENCRYPT: bool>(
    keys: &[__m128i; K],
    constant: __m128i,
    halves: Halves,
) -> Halves {
    let number = _mm_cvtsi64_si128(halves.input.cast_signed());
    let number = if FF3 {
        number
    } else {
        _mm_shuffle_epi8(number, to_last_word())
    };
    let mut x = _mm_xor_si128(constant, number);
    for key in &keys[1..K - 1] {
        x = _mm_aesenc_si128(x, *key);
    }
    x = _mm_aesenclast_si128(x, keys[K - 1]);
    let y = if FF3 {
        fold(x)
    } else {
        low(_mm_shuffle_epi8(x, to_first_number()))
    };
    let result = if ENCRYPT {
        add(halves.other, y)
    } else {
        subtract(halves.other, y)
    };
    Halves {
        input: result,
        other: halves.input,
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn low(x: __m128i) -> u64 {
    _mm_cvtsi128_si64(x).cast_unsigned()
}

/// A number congruent to the 128-bit little-endian y, below 2^61.
#[inline]
#[target_feature(enable = "avx2")]
fn fold(x: __m128i) -> u64 {
    const WORD: u64 = 0xffff_ffff;
    let (l, h) = (low(x), _mm_extract_epi64::<1>(x).cast_unsigned());
    (l & WORD) + (l >> 32) * FOLD[0] + ((h & WORD) * FOLD[1] + (h >> 32) * FOLD[2])
}

/// floor(y / M) * M: the multiplication by ceil(2^90 / M) is exact for every y of 64 bits.
#[inline(always)]
const fn multiple_below(y: u64) -> u64 {
    let quotient = ((y as u128 * 0xabcc_7711_8461_cefd) >> 64) as u64 >> 26;
    quotient * M
}

/// (a + y) mod M.
#[inline(always)]
fn add(a: u64, y: u64) -> u64 {
    let mut sum = a.wrapping_add(y);
    let mut less = sum.wrapping_sub(M);
    // SAFETY: arithmetic on registers only.
    unsafe {
        asm!(
            "sub {sum}, {multiple}",
            "sub {less}, {multiple}",
            "cmovns {sum}, {less}",
            sum = inout(reg) sum,
            less = inout(reg) less,
            multiple = in(reg) multiple_below(y),
            options(pure, nomem, nostack),
        );
    }
    let _ = &mut less;
    sum
}

/// (a - y) mod M.
#[inline(always)]
fn subtract(a: u64, y: u64) -> u64 {
    let mut difference = a.wrapping_sub(y);
    let mut more = difference.wrapping_add(M);
    // SAFETY: arithmetic on registers only.
    unsafe {
        asm!(
            "add {more}, {multiple}",
            "add {difference}, {multiple}",
            "cmovs {difference}, {more}",
            difference = inout(reg) difference,
            more = inout(reg) more,
            multiple = in(reg) multiple_below(y),
            options(pure, nomem, nostack),
        );
    }
    let _ = &mut more;
    difference
}

/// The low word of a number, big-endian, as the last four bytes of a block.
#[inline]
#[target_feature(enable = "avx2")]
fn to_last_word() -> __m128i {
    _mm_setr_epi8(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 3, 2, 1, 0)
}

/// The first eight bytes of a block, big-endian, as a number.
#[inline]
#[target_feature(enable = "avx2")]
fn to_first_number() -> __m128i {
    _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, -1, -1, -1, -1, -1, -1, -1, -1)
}

/// Each half in the other order.
#[inline]
#[target_feature(enable = "avx2")]
fn reverse(x: __m128i) -> __m128i {
    _mm_shuffle_epi8(
        x,
        _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8),
    )
}

/// NUM of both halves: digits are joined to pairs, fours and eights.
#[inline]
#[target_feature(enable = "avx2")]
fn parse(text: __m128i, zero: __m128i) -> (u64, u64) {
    let digits = _mm_sub_epi8(text, zero);
    let pairs = _mm_maddubs_epi16(digits, _mm_set1_epi16(0x010a));
    let fours = _mm_madd_epi16(pairs, _mm_set1_epi32(0x0001_0064));
    let packed = _mm_packus_epi32(fours, fours);
    let both = low(_mm_madd_epi16(packed, _mm_set1_epi32(0x0001_2710)));
    (both & 0xffff_ffff, both >> 32)
}

/// STR of both halves: eights are split into fours, pairs and digits by reciprocals.
#[inline]
#[target_feature(enable = "avx2")]
fn print(a: u64, b: u64) -> __m128i {
    let eights = _mm_set_epi64x(b.cast_signed(), a.cast_signed());
    let high = _mm_srli_epi64::<45>(_mm_mul_epu32(eights, _mm_set1_epi64x(0xd1b7_1759)));
    let low = _mm_sub_epi32(eights, _mm_mul_epu32(high, _mm_set1_epi64x(10_000)));
    let fours = _mm_or_si128(high, _mm_slli_epi64::<32>(low));
    let high = _mm_srli_epi32::<3>(_mm_mulhi_epu16(fours, _mm_set1_epi32(5243)));
    let low = _mm_sub_epi16(fours, _mm_mullo_epi16(high, _mm_set1_epi32(100)));
    let pairs = _mm_or_si128(high, _mm_slli_epi32::<16>(low));
    let high = _mm_mulhi_epu16(pairs, _mm_set1_epi16(6554));
    let low = _mm_sub_epi16(pairs, _mm_mullo_epi16(high, _mm_set1_epi16(10)));
    _mm_or_si128(high, _mm_slli_epi16::<8>(low))
}
