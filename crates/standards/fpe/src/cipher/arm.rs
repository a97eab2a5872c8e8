//! AES and SM4 with the instructions that Armv8 has for them: key schedules, one block, several blocks.
//!
//! AESE adds the round key first and then does SubBytes and ShiftRows; AESMC does MixColumns. So a round
//! takes the key of the round before as FIPS 197 counts them, and the last key is added alone. SM4E does
//! four rounds on one block, SM4EKEY makes four round keys. They have no stable names in the language yet,
//! so they stand here as assembly.
//!
//! Every function asks for the features it is compiled with; [`super::Schedule`] holds a key of such a
//! backend only if the machine has them.
#![expect(
    unsafe_code,
    reason = "loads and stores of SIMD registers, and two instructions without a name"
)]

use core::arch::aarch64::*;
use core::arch::asm;

use super::sm4_soft::{self, RoundKeys};

/// CK of GB/T 32907, section 7.3, in fours.
const CONSTANTS: [[u32; 4]; 8] = {
    let mut all = [[0; 4]; 8];
    let (mut constant, mut i) = (sm4_soft::FIRST_CONSTANT, 0);
    while i < 32 {
        all[i / 4][i % 4] = constant;
        constant = sm4_soft::next_constant(constant);
        i += 1;
    }
    all
};

/// Reads a block into a register.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn load(block: &[u8; 16]) -> uint8x16_t {
    // SAFETY: the reference covers the sixteen bytes that are read, at any alignment.
    unsafe { vld1q_u8(block.as_ptr()) }
}

/// Writes a register as a block.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn store(block: &mut [u8; 16], value: uint8x16_t) {
    // SAFETY: the reference covers the sixteen bytes that are written, at any alignment.
    unsafe { vst1q_u8(block.as_mut_ptr(), value) }
}

#[inline]
#[target_feature(enable = "neon")]
fn load_words(words: &[u32; 4]) -> uint32x4_t {
    // SAFETY: the reference covers the four words that are read.
    unsafe { vld1q_u32(words.as_ptr()) }
}

/// The bytes in the other order.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn flip(x: uint8x16_t) -> uint8x16_t {
    let turned = vrev64q_u8(x);
    vextq_u8::<8>(turned, turned)
}

/// SubWord of FIPS 197. With the same word in every column ShiftRows changes nothing.
#[inline]
#[target_feature(enable = "neon,aes")]
pub(super) fn sub_word(word: u32) -> u32 {
    let four = vreinterpretq_u8_u32(vdupq_n_u32(word));
    vgetq_lane_u32::<0>(vreinterpretq_u32_u8(vaeseq_u8(four, vdupq_n_u8(0))))
}

/// AES on `N` registers, one round of all of them after the other, under the keys of all rounds.
#[inline]
#[target_feature(enable = "neon,aes")]
pub(crate) fn aes_registers<const N: usize>(keys: &[[u8; 16]], state: &mut [uint8x16_t; N]) {
    let Some((last, rest)) = keys.split_last() else {
        return;
    };
    let Some((before, middle)) = rest.split_last() else {
        return;
    };
    for key in middle {
        let key = load(key);
        for x in state.iter_mut() {
            *x = vaesmcq_u8(vaeseq_u8(*x, key));
        }
    }
    let (before, last) = (load(before), load(last));
    for x in state.iter_mut() {
        *x = veorq_u8(vaeseq_u8(*x, before), last);
    }
}

/// Encrypts `N` blocks with AES in place.
#[inline]
#[target_feature(enable = "neon,aes")]
pub(super) fn aes<const N: usize>(keys: &[[u8; 16]], blocks: &mut [[u8; 16]; N]) {
    let mut state = [vdupq_n_u8(0); N];
    for (x, block) in state.iter_mut().zip(blocks.iter()) {
        *x = load(block);
    }
    aes_registers(keys, &mut state);
    for (x, block) in state.into_iter().zip(blocks) {
        store(block, x);
    }
}

/// Key expansion of SM4.
#[inline]
#[target_feature(enable = "neon,sm4")]
pub(super) fn expand_sm4(key: &[u8; 16]) -> RoundKeys {
    let mut keys = [0; 32];
    let mut last = veorq_u32(words(load(key)), load_words(&sm4_soft::SYSTEM));
    let (fours, _) = keys.as_chunks_mut::<4>();
    for (four, constants) in fours.iter_mut().zip(&CONSTANTS) {
        last = four_keys(last, load_words(constants));
        // SAFETY: the reference covers the four words that are written.
        unsafe { vst1q_u32(four.as_mut_ptr(), last) }
    }
    keys
}

/// SM4 on `N` registers that hold blocks, four rounds of all of them after the other.
#[inline]
#[target_feature(enable = "neon,sm4")]
pub(crate) fn sm4_registers<const N: usize>(keys: &RoundKeys, state: &mut [uint8x16_t; N]) {
    let mut of_words = [vdupq_n_u32(0); N];
    for (x, block) in of_words.iter_mut().zip(state.iter()) {
        *x = words(*block);
    }
    for four in keys.as_chunks::<4>().0 {
        let four = load_words(four);
        for x in &mut of_words {
            *x = four_rounds(*x, four);
        }
    }
    // The words in the other order, each with its first byte on top.
    for (block, x) in state.iter_mut().zip(of_words) {
        *block = flip(vreinterpretq_u8_u32(x));
    }
}

/// Encrypts `N` blocks with SM4 in place.
#[inline]
#[target_feature(enable = "neon,sm4")]
pub(super) fn sm4<const N: usize>(keys: &RoundKeys, blocks: &mut [[u8; 16]; N]) {
    let mut state = [vdupq_n_u8(0); N];
    for (x, block) in state.iter_mut().zip(blocks.iter()) {
        *x = load(block);
    }
    sm4_registers(keys, &mut state);
    for (x, block) in state.into_iter().zip(blocks) {
        store(block, x);
    }
}

/// The four words of a block, from big-endian bytes.
#[inline]
#[target_feature(enable = "neon")]
fn words(block: uint8x16_t) -> uint32x4_t {
    vreinterpretq_u32_u8(vrev32q_u8(block))
}

#[inline]
#[target_feature(enable = "neon,sm4")]
fn four_rounds(state: uint32x4_t, keys: uint32x4_t) -> uint32x4_t {
    let mut state = state;
    // SAFETY: arithmetic on registers only; the function asks for the instruction.
    unsafe {
        asm!(
            "sm4e {state:v}.4s, {keys:v}.4s",
            state = inout(vreg) state,
            keys = in(vreg) keys,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    state
}

#[inline]
#[target_feature(enable = "neon,sm4")]
fn four_keys(last: uint32x4_t, constants: uint32x4_t) -> uint32x4_t {
    let next: uint32x4_t;
    // SAFETY: arithmetic on registers only; the function asks for the instruction.
    unsafe {
        asm!(
            "sm4ekey {next:v}.4s, {last:v}.4s, {constants:v}.4s",
            next = lateout(vreg) next,
            last = in(vreg) last,
            constants = in(vreg) constants,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    next
}
