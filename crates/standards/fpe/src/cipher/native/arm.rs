//! The steps from safe code into code that needs instructions the compiler was not promised: Arm.
#![expect(unsafe_code, reason = "calls into functions with target features")]

use super::{Backend, aes_soft, arm, sm4_soft};

pub(super) fn expand_aes(key: &[u8]) -> Option<(aes_soft::RoundKeys, usize)> {
    // SAFETY: `Schedule::new` has checked that the machine has the AES instructions.
    aes_soft::expand(key, |word| unsafe { arm::sub_word(word) })
}

pub(super) fn expand_sm4(key: &[u8; 16], _: Backend) -> sm4_soft::RoundKeys {
    // SAFETY: `Schedule::new` has checked that the machine has the SM4 instructions.
    unsafe { arm::expand_sm4(key) }
}

#[inline]
pub(super) fn aes<const N: usize>(keys: &[[u8; 16]], blocks: &mut [[u8; 16]; N]) {
    // SAFETY: the keys come from a schedule whose backend has the AES instructions.
    unsafe { arm::aes(keys, blocks) }
}

#[inline]
pub(super) fn sm4(keys: &sm4_soft::RoundKeys, _: Backend, block: [u8; 16]) -> [u8; 16] {
    let mut one = [block];
    // SAFETY: a schedule of this backend exists only where the SM4 instructions do.
    unsafe { arm::sm4(keys, &mut one) }
    one[0]
}

#[inline]
pub(super) fn sm4_8(keys: &sm4_soft::RoundKeys, _: Backend, blocks: &mut [[u8; 16]; 8]) {
    // SAFETY: a schedule of this backend exists only where the SM4 instructions do.
    unsafe { arm::sm4(keys, blocks) }
}
