//! The steps from safe code into code that needs instructions the compiler was not promised: x86-64.
#![expect(unsafe_code, reason = "calls into functions with target features")]

use super::{Backend, aes_ni, aes_soft, sm4_soft, sm4_x86};

pub(super) fn expand_aes(key: &[u8]) -> Option<(aes_soft::RoundKeys, usize)> {
    // SAFETY: `Schedule::new` has checked that the machine has AES-NI and AVX2.
    aes_soft::expand(key, |word| unsafe { aes_ni::sub_word(word) })
}

pub(super) fn expand_sm4(key: &[u8; 16], backend: Backend) -> sm4_soft::RoundKeys {
    if backend == Backend::Sm4Gfni {
        // SAFETY: `Schedule::new` has checked that the machine has GFNI and AVX2.
        sm4_soft::expand(key, |word| unsafe { sm4_x86::sub_word_gfni(word) })
    } else {
        // SAFETY: `Schedule::new` has checked that the machine has AES-NI and AVX2.
        sm4_soft::expand(key, |word| unsafe { sm4_x86::sub_word_aes(word) })
    }
}

#[inline]
pub(super) fn aes<const N: usize>(keys: &[[u8; 16]], blocks: &mut [[u8; 16]; N]) {
    // SAFETY: the keys come from a schedule whose backend has AES-NI and AVX2.
    unsafe { aes_ni::encrypt_many(keys, blocks) }
}

#[inline]
pub(super) fn sm4(keys: &sm4_soft::RoundKeys, backend: Backend, block: [u8; 16]) -> [u8; 16] {
    let mut group = [[block, [0; 16], [0; 16], [0; 16]]];
    sm4_groups(keys, backend, &mut group);
    group[0][0]
}

#[inline]
pub(super) fn sm4_8(keys: &sm4_soft::RoundKeys, backend: Backend, blocks: &mut [[u8; 16]; 8]) {
    let [a, b, c, d, e, f, g, h] = *blocks;
    let mut groups = [[a, b, c, d], [e, f, g, h]];
    sm4_groups(keys, backend, &mut groups);
    blocks.copy_from_slice(groups.as_flattened());
}

#[inline]
fn sm4_groups<const N: usize>(
    keys: &sm4_soft::RoundKeys,
    backend: Backend,
    groups: &mut [[[u8; 16]; 4]; N],
) {
    if backend == Backend::Sm4Gfni {
        // SAFETY: a schedule of this backend exists only where GFNI and AVX2 do.
        unsafe { sm4_x86::encrypt_gfni(keys, groups) }
    } else {
        // SAFETY: a schedule of this backend exists only where AES-NI and AVX2 do.
        unsafe { sm4_x86::encrypt_aes(keys, groups) }
    }
}
