//! AES with the AES-NI instructions: SubWord for the key schedule, one block, eight blocks.
//!
//! Every function asks for AES and AVX2; [`super::Schedule`] holds a key of such a backend only if
//! the machine has them.
#![expect(unsafe_code, reason = "unaligned loads and stores of SIMD registers")]

use core::arch::x86_64::{
    __m128i, _mm_aesenc_si128, _mm_aesenclast_si128, _mm_aeskeygenassist_si128, _mm_cvtsi128_si32,
    _mm_loadu_si128, _mm_set1_epi32, _mm_storeu_si128, _mm_xor_si128,
};

/// Reads a block into a register.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn load(block: &[u8; 16]) -> __m128i {
    // SAFETY: the reference covers the sixteen bytes that are read, at any alignment.
    unsafe { _mm_loadu_si128(block.as_ptr().cast()) }
}

/// Writes a register as a block.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn store(block: &mut [u8; 16], value: __m128i) {
    // SAFETY: the reference covers the sixteen bytes that are written, at any alignment.
    unsafe { _mm_storeu_si128(block.as_mut_ptr().cast(), value) }
}

/// SubWord of FIPS 197.
#[inline]
#[target_feature(enable = "aes,avx2")]
pub(super) fn sub_word(word: u32) -> u32 {
    let four = _mm_set1_epi32(word.cast_signed());
    _mm_cvtsi128_si32(_mm_aeskeygenassist_si128::<0>(four)).cast_unsigned()
}

/// Encrypts one block under the keys of all rounds.
#[inline]
#[target_feature(enable = "aes,avx2")]
pub(crate) fn encrypt(keys: &[[u8; 16]], block: [u8; 16]) -> [u8; 16] {
    let mut out = block;
    encrypt_many(keys, core::array::from_mut(&mut out));
    out
}

/// Encrypts `N` blocks in place, one round of all of them after the other.
#[inline]
#[target_feature(enable = "aes,avx2")]
pub(crate) fn encrypt_many<const N: usize>(keys: &[[u8; 16]], blocks: &mut [[u8; 16]; N]) {
    let Some((first, rest)) = keys.split_first() else {
        return;
    };
    let Some((last, middle)) = rest.split_last() else {
        return;
    };
    let mut state = [load(first); N];
    for (x, block) in state.iter_mut().zip(blocks.iter()) {
        *x = _mm_xor_si128(*x, load(block));
    }
    for key in middle {
        let key = load(key);
        for x in &mut state {
            *x = _mm_aesenc_si128(*x, key);
        }
    }
    let key = load(last);
    for (x, block) in state.iter().zip(blocks) {
        store(block, _mm_aesenclast_si128(*x, key));
    }
}
