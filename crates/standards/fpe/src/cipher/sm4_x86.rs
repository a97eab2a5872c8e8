//! SM4 on SIMD registers that hold the same state word of four blocks.
//!
//! Two S-boxes, one shape. With AES-NI the inversion is that of `aesenclast` under a zero key: the
//! affine maps around it are looked up by nibble in registers (`pshufb`, no memory), and the row
//! shift that comes with it is undone by a byte shuffle. With GFNI the S-box is an affine map and
//! an affine map after inversion.
use core::arch::x86_64::*;

use super::aes_ni::{load, store};
use super::sm4_soft::RoundKeys;

/// M1 x + 3e for the low nibble, M1 x for the high one: into the input of the AES S-box.
pub(crate) const PRE: [[u8; 16]; 2] = [
    [
        0x3e, 0xb2, 0x0e, 0x82, 0xbb, 0x37, 0x8b, 0x07, 0xa1, 0x2d, 0x91, 0x1d, 0x24, 0xa8, 0x14,
        0x98,
    ],
    [
        0x00, 0xdc, 0x2e, 0xf2, 0xc5, 0x19, 0xeb, 0x37, 0x08, 0xd4, 0x26, 0xfa, 0xcd, 0x11, 0xe3,
        0x3f,
    ],
];
/// Out of the AES S-box: its affine map undone, then that of SM4.
pub(crate) const POST: [[u8; 16]; 2] = [
    [
        0x6c, 0xd4, 0xa6, 0x1e, 0x52, 0xea, 0x98, 0x20, 0x0b, 0xb3, 0xc1, 0x79, 0x35, 0x8d, 0xff,
        0x47,
    ],
    [
        0x00, 0xe0, 0x50, 0xb0, 0x9d, 0x7d, 0xcd, 0x2d, 0xc0, 0x20, 0x90, 0x70, 0x5d, 0xbd, 0x0d,
        0xed,
    ],
];
/// Byte order that undoes ShiftRows.
pub(crate) const UNSHIFT: [u8; 16] = [0, 13, 10, 7, 4, 1, 14, 11, 8, 5, 2, 15, 12, 9, 6, 3];
/// Words from big-endian bytes to numbers.
const SWAP: [u8; 16] = [3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12];
/// Every word turned left by 8 bits.
pub(crate) const TURN8: [u8; 16] = [3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14];
/// Every word turned left by 16 bits.
pub(crate) const TURN16: [u8; 16] = [2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13];
/// Every word turned left by 24 bits.
pub(crate) const TURN24: [u8; 16] = [1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12];

/// Affine part of the S-box before the inversion, as `gf2p8affineqb` takes it.
pub(crate) const M1: i64 = 0x4c28_7db9_1a22_505d;
/// Affine part after the inversion, as `gf2p8affineinvqb` takes it; the constant is D3.
pub(crate) const M2: i64 = 0xf3ab_34a9_74a6_b589u64.cast_signed();

macro_rules! sm4_on {
    ($features:literal, $tau:ident, $sub_word:ident, $encrypt:ident) => {
        /// The S-box on a word.
        #[inline]
        #[target_feature(enable = $features)]
        pub(super) fn $sub_word(word: u32) -> u32 {
            _mm_cvtsi128_si32($tau(_mm_set1_epi32(word.cast_signed()))).cast_unsigned()
        }

        /// Encrypts `4 N` blocks, given as `N` groups of four, in place.
        #[inline]
        #[target_feature(enable = $features)]
        pub(super) fn $encrypt<const N: usize>(keys: &RoundKeys, groups: &mut [[[u8; 16]; 4]; N]) {
            let mut state = [[_mm_setzero_si128(); 4]; N];
            for (x, group) in state.iter_mut().zip(groups.iter()) {
                let swap = load(&SWAP);
                *x = transpose([0, 1, 2, 3].map(|i| _mm_shuffle_epi8(load(&group[i]), swap)));
            }
            for &key in keys {
                let key = _mm_set1_epi32(key.cast_signed());
                for x in &mut state {
                    let t = _mm_xor_si128(_mm_xor_si128(x[1], x[2]), _mm_xor_si128(x[3], key));
                    *x = [x[1], x[2], x[3], _mm_xor_si128(x[0], spread($tau(t)))];
                }
            }
            for (x, group) in state.iter().zip(groups) {
                let swap = load(&SWAP);
                let blocks = transpose([x[3], x[2], x[1], x[0]]);
                for (block, value) in group.iter_mut().zip(blocks) {
                    store(block, _mm_shuffle_epi8(value, swap));
                }
            }
        }
    };
}

sm4_on!("aes,avx2", tau_aes, sub_word_aes, encrypt_aes);
sm4_on!("avx2,gfni", tau_gfni, sub_word_gfni, encrypt_gfni);

/// The S-box through `aesenclast`.
#[inline]
#[target_feature(enable = "aes,avx2")]
pub(crate) fn tau_aes(x: __m128i) -> __m128i {
    let inner = affine(x, &PRE);
    let subbed = _mm_aesenclast_si128(inner, _mm_setzero_si128());
    affine(_mm_shuffle_epi8(subbed, load(&UNSHIFT)), &POST)
}

/// An affine map by nibbles.
#[inline]
#[target_feature(enable = "avx2")]
fn affine(x: __m128i, tables: &[[u8; 16]; 2]) -> __m128i {
    let nibble = _mm_set1_epi8(0x0f);
    let low = _mm_and_si128(x, nibble);
    let high = _mm_and_si128(_mm_srli_epi32::<4>(x), nibble);
    _mm_xor_si128(
        _mm_shuffle_epi8(load(&tables[0]), low),
        _mm_shuffle_epi8(load(&tables[1]), high),
    )
}

#[inline]
#[target_feature(enable = "avx2,gfni")]
fn tau_gfni(x: __m128i) -> __m128i {
    let inner = _mm_gf2p8affine_epi64_epi8::<0x3e>(x, _mm_set1_epi64x(M1));
    _mm_gf2p8affineinv_epi64_epi8::<0xd3>(inner, _mm_set1_epi64x(M2))
}

/// The linear map L. Turning by 10 and 18 is turning by 2 and then by whole bytes.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn spread(b: __m128i) -> __m128i {
    let c = _mm_or_si128(_mm_slli_epi32::<2>(b), _mm_srli_epi32::<30>(b));
    let near = _mm_xor_si128(b, c);
    let turned = _mm_xor_si128(
        _mm_shuffle_epi8(c, load(&TURN8)),
        _mm_shuffle_epi8(c, load(&TURN16)),
    );
    let far = _mm_xor_si128(turned, _mm_shuffle_epi8(b, load(&TURN24)));
    _mm_xor_si128(near, far)
}

/// Four rows of four words become four columns.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose([a, b, c, d]: [__m128i; 4]) -> [__m128i; 4] {
    let ab_low = _mm_unpacklo_epi32(a, b);
    let ab_high = _mm_unpackhi_epi32(a, b);
    let cd_low = _mm_unpacklo_epi32(c, d);
    let cd_high = _mm_unpackhi_epi32(c, d);
    [
        _mm_unpacklo_epi64(ab_low, cd_low),
        _mm_unpackhi_epi64(ab_low, cd_low),
        _mm_unpacklo_epi64(ab_high, cd_high),
        _mm_unpackhi_epi64(ab_high, cd_high),
    ]
}
