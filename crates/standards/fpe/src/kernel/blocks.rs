//! Block encryptions on 128-bit numbers in memory, sixteen (AES) or thirty-two (SM4) at a time, by backend, and the waves over them.
#![expect(unsafe_code, reason = "loads and stores of registers")]

use core::arch::x86_64::*;

use super::wave::{WAVE, wave_on};
use crate::cipher::aes_ni::load;
use crate::cipher::sm4_x86::{M1, M2, POST, PRE, TURN8, TURN16, TURN24, UNSHIFT};

/// The bytes of a number in the other order.
const FLIP: [u8; 16] = [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0];
/// Words of a big-endian block as numbers.
pub(super) const WORDS: [u8; 16] = [3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12];
/// Words of a big-endian number as numbers, the first word first.
const TURNED: [u8; 16] = [12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3];

wave_on!("aes,avx2,bmi2", [[u8; 16]], aes_128, 16, aes_128_wave);
wave_on!("vaes,aes,avx2,bmi2", [[u8; 16]], aes_256, 16, aes_256_wave);
wave_on!(
    "vaes,avx512f,avx512bw,avx512dq,avx512vl,aes,avx2,bmi2",
    [[u8; 16]],
    aes_512,
    16,
    aes_512_wave
);
wave_on!("aes,avx2,bmi2", [u32; 32], sm4_aes, 32, sm4_aes_wave);
wave_on!(
    "gfni,avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2",
    [u32; 32],
    sm4_gfni,
    32,
    sm4_gfni_wave
);

/// Defines the encryption of a wave with AES on one width of registers, eight of them at a time.
macro_rules! aes_wave {
    (
        $features:literal, $name:ident, $register:ty, $zero:ident, $load:ident, $store:ident,
        $each:expr, $shuffle:ident, $xor:ident, $round:ident, $last:ident
    ) => {
        #[target_feature(enable = $features)]
        pub(super) fn $name<const SWAP: bool>(
            keys: &[[u8; 16]],
            blocks: &mut [u128; 16],
            constant: u128,
        ) {
            const BLOCKS: usize = size_of::<$register>() / 16;
            // Eight registers at a time, or all if there are fewer.
            const N: usize = if 16 / BLOCKS < 8 { 16 / BLOCKS } else { 8 };
            let Some((first, rest)) = keys.split_first() else {
                return;
            };
            let Some((last, middle)) = rest.split_last() else {
                return;
            };
            let flip = $each(&FLIP);
            let constant = $each(&constant.to_le_bytes());
            let constant = if SWAP {
                $shuffle(constant, flip)
            } else {
                constant
            };
            let first = $xor($each(first), constant);
            for part in blocks.chunks_exact_mut(N * BLOCKS) {
                let at: *mut $register = part.as_mut_ptr().cast();
                let mut x = [$zero(); N];
                for (i, x) in x.iter_mut().enumerate() {
                    // SAFETY: the part has N * BLOCKS numbers, that is N registers.
                    let number = unsafe { $load(at.add(i)) };
                    *x = $xor(if SWAP { $shuffle(number, flip) } else { number }, first);
                }
                for key in middle {
                    let key = $each(key);
                    for x in &mut x {
                        *x = $round(*x, key);
                    }
                }
                let key = $each(last);
                for (i, x) in x.into_iter().enumerate() {
                    let block = $last(x, key);
                    // SAFETY: as above.
                    unsafe { $store(at.add(i), if SWAP { $shuffle(block, flip) } else { block }) }
                }
            }
        }
    };
}

aes_wave!(
    "aes,avx2",
    aes_128,
    __m128i,
    _mm_setzero_si128,
    _mm_loadu_si128,
    _mm_storeu_si128,
    load,
    _mm_shuffle_epi8,
    _mm_xor_si128,
    _mm_aesenc_si128,
    _mm_aesenclast_si128
);
aes_wave!(
    "vaes,aes,avx2",
    aes_256,
    __m256i,
    _mm256_setzero_si256,
    _mm256_loadu_si256,
    _mm256_storeu_si256,
    each256,
    _mm256_shuffle_epi8,
    _mm256_xor_si256,
    _mm256_aesenc_epi128,
    _mm256_aesenclast_epi128
);
aes_wave!(
    "vaes,avx512f,avx512bw,avx512dq,avx512vl",
    aes_512,
    __m512i,
    _mm512_setzero_si512,
    _mm512_loadu_si512,
    _mm512_storeu_si512,
    super::lanes512::all_blocks,
    _mm512_shuffle_epi8,
    _mm512_xor_si512,
    _mm512_aesenc_epi128,
    _mm512_aesenclast_epi128
);

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn each256(block: &[u8; 16]) -> __m256i {
    _mm256_broadcastsi128_si256(load(block))
}

/// SM4 with AES-NI, eight blocks in four registers.
#[target_feature(enable = "aes,avx2")]
pub(super) fn sm4_aes<const SWAP: bool>(
    keys: &[u32; 32],
    blocks: &mut [u128; WAVE],
    constant: u128,
) {
    let order = each256(if SWAP { &TURNED } else { &WORDS });
    let constant = each256(&constant.to_le_bytes());
    {
        let at: *mut __m256i = blocks.as_mut_ptr().cast();
        let mut x = [[_mm256_setzero_si256(); 4]; 4];
        for (g, x) in x.iter_mut().enumerate() {
            for (i, x) in x.iter_mut().enumerate() {
                // SAFETY: there are thirty-two numbers, that is sixteen registers.
                *x = unsafe { _mm256_loadu_si256(at.add(4 * g + i)) };
                *x = _mm256_shuffle_epi8(_mm256_xor_si256(*x, constant), order);
            }
        }
        sm4_aes_registers(keys, &mut x);
        for (g, x) in x.iter().enumerate() {
            for (i, x) in x.iter().enumerate() {
                // SAFETY: as above.
                unsafe { _mm256_storeu_si256(at.add(4 * g + i), _mm256_shuffle_epi8(*x, order)) }
            }
        }
    }
}

/// Groups of eight blocks, given and returned as blocks of four words.
#[inline]
#[target_feature(enable = "aes,avx2")]
pub(super) fn sm4_aes_registers<const N: usize>(keys: &[u32; 32], groups: &mut [[__m256i; 4]; N]) {
    for x in groups.iter_mut() {
        *x = transpose256(*x);
    }
    for &key in keys {
        let key = _mm256_set1_epi32(key.cast_signed());
        for x in groups.iter_mut() {
            let t = _mm256_xor_si256(_mm256_xor_si256(x[1], x[2]), _mm256_xor_si256(x[3], key));
            *x = [
                x[1],
                x[2],
                x[3],
                _mm256_xor_si256(x[0], spread256(tau256(t))),
            ];
        }
    }
    for x in groups.iter_mut() {
        *x = transpose256([x[3], x[2], x[1], x[0]]);
    }
}

/// The S-box on every byte, the inversion by `aesenclast` on each half.
#[inline]
#[target_feature(enable = "aes,avx2")]
fn tau256(x: __m256i) -> __m256i {
    let inner = affine256(x, &PRE);
    let zero = _mm_setzero_si128();
    let low = _mm_aesenclast_si128(_mm256_castsi256_si128(inner), zero);
    let high = _mm_aesenclast_si128(_mm256_extracti128_si256::<1>(inner), zero);
    let subbed = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), each256(&UNSHIFT));
    affine256(subbed, &POST)
}

#[inline]
#[target_feature(enable = "avx2")]
fn affine256(x: __m256i, tables: &[[u8; 16]; 2]) -> __m256i {
    let nibble = _mm256_set1_epi8(0x0f);
    let low = _mm256_and_si256(x, nibble);
    let high = _mm256_and_si256(_mm256_srli_epi32::<4>(x), nibble);
    _mm256_xor_si256(
        _mm256_shuffle_epi8(each256(&tables[0]), low),
        _mm256_shuffle_epi8(each256(&tables[1]), high),
    )
}

#[inline]
#[target_feature(enable = "avx2")]
fn spread256(b: __m256i) -> __m256i {
    let c = _mm256_or_si256(_mm256_slli_epi32::<2>(b), _mm256_srli_epi32::<30>(b));
    let near = _mm256_xor_si256(b, c);
    let turned = _mm256_xor_si256(
        _mm256_shuffle_epi8(c, each256(&TURN8)),
        _mm256_shuffle_epi8(c, each256(&TURN16)),
    );
    let far = _mm256_xor_si256(turned, _mm256_shuffle_epi8(b, each256(&TURN24)));
    _mm256_xor_si256(near, far)
}

#[inline]
#[target_feature(enable = "avx2")]
fn transpose256([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    let (ab, ab_high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
    let (cd, cd_high) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
    [
        _mm256_unpacklo_epi64(ab, cd),
        _mm256_unpackhi_epi64(ab, cd),
        _mm256_unpacklo_epi64(ab_high, cd_high),
        _mm256_unpackhi_epi64(ab_high, cd_high),
    ]
}

/// SM4 with GFNI, sixteen blocks in four registers.
#[target_feature(enable = "gfni,avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn sm4_gfni<const SWAP: bool>(
    keys: &[u32; 32],
    blocks: &mut [u128; WAVE],
    constant: u128,
) {
    let order = super::lanes512::all_blocks(if SWAP { &TURNED } else { &WORDS });
    let constant = super::lanes512::all_blocks(&constant.to_le_bytes());
    let at: *mut __m512i = blocks.as_mut_ptr().cast();
    let mut x = [[_mm512_setzero_si512(); 4]; 2];
    for (g, x) in x.iter_mut().enumerate() {
        for (i, x) in x.iter_mut().enumerate() {
            // SAFETY: there are thirty-two numbers, that is eight registers.
            *x = unsafe { _mm512_loadu_si512(at.add(4 * g + i)) };
            *x = _mm512_shuffle_epi8(_mm512_xor_si512(*x, constant), order);
        }
    }
    sm4_gfni_registers(keys, &mut x);
    for (g, x) in x.iter().enumerate() {
        for (i, x) in x.iter().enumerate() {
            // SAFETY: as above.
            unsafe { _mm512_storeu_si512(at.add(4 * g + i), _mm512_shuffle_epi8(*x, order)) }
        }
    }
}

/// Groups of sixteen blocks, given and returned as blocks of four words.
#[inline]
#[target_feature(enable = "gfni,avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn sm4_gfni_registers<const N: usize>(keys: &[u32; 32], groups: &mut [[__m512i; 4]; N]) {
    let turn16 = super::lanes512::all_blocks(&TURN16);
    let turn24 = super::lanes512::all_blocks(&TURN24);
    let (before, after) = (_mm512_set1_epi64(M1), _mm512_set1_epi64(M2));
    for x in groups.iter_mut() {
        *x = transpose512(*x);
    }
    for &key in keys {
        let key = _mm512_set1_epi32(key.cast_signed());
        for x in groups.iter_mut() {
            let t = _mm512_xor_si512(_mm512_ternarylogic_epi32::<0x96>(x[1], x[2], key), x[3]);
            let t = _mm512_gf2p8affine_epi64_epi8::<0x3e>(t, before);
            let t = _mm512_gf2p8affineinv_epi64_epi8::<0xd3>(t, after);
            let turned = _mm512_rol_epi32::<2>(t);
            let near = _mm512_ternarylogic_epi32::<0x96>(x[0], t, turned);
            // Byte shuffles for two of the turns: shifts all go to one port.
            let far = _mm512_ternarylogic_epi32::<0x96>(
                _mm512_rol_epi32::<10>(t),
                _mm512_shuffle_epi8(turned, turn16),
                _mm512_shuffle_epi8(t, turn24),
            );
            *x = [x[1], x[2], x[3], _mm512_xor_si512(near, far)];
        }
    }
    for x in groups.iter_mut() {
        *x = transpose512([x[3], x[2], x[1], x[0]]);
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn transpose512([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let (ab, ab_high) = (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    let (cd, cd_high) = (_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
    [
        _mm512_unpacklo_epi64(ab, cd),
        _mm512_unpackhi_epi64(ab, cd),
        _mm512_unpacklo_epi64(ab_high, cd_high),
        _mm512_unpackhi_epi64(ab_high, cd_high),
    ]
}
