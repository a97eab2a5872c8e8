//! Which reduction and which backend the waves of a tile run with.

use super::quick::{self, Full64, Mask64, Mask128, Quick64, Quick128, Tight128};
use super::wave::{self, Halves, WAVE};
use super::{Walk, wipe};
use crate::arithmetic::{Modulus, Wide};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::cipher::Backend;
use crate::cipher::{Cipher, Schedule};
use crate::feistel::{Family, Moduli};

/// Records of a tile.
pub(super) const TILE: usize = 4 * WAVE;

/// All rounds of a tile with the cheapest reduction that its moduli allow.
pub(super) fn waves64(walk: &Walk<'_>, halves: &mut [[u64; TILE]; 2], count: usize) {
    if vector(walk, halves, count) {
        return;
    }
    let values = walk.plan.moduli.values();
    let is_ff1 = walk.plan.family == Family::Ff1;
    let (discard, moduli) = (walk.plan.discard, &walk.plan.moduli);
    if let (true, 64, Moduli::Narrow(moduli)) = (is_ff1, discard, moduli) {
        waves::<_, 64, true>(walk, moduli, halves, count);
    } else if let (true, 32, Some(moduli)) = (is_ff1, discard, quick::both(values, Mask64::new)) {
        waves::<_, 32, true>(walk, &moduli, halves, count);
    } else if let (true, 32, Some(moduli)) = (is_ff1, discard, quick::both(values, Quick64::new)) {
        waves::<_, 32, true>(walk, &moduli, halves, count);
    } else if let (true, 32, Some(moduli)) = (is_ff1, discard, quick::both(values, Full64::new)) {
        waves::<_, 32, true>(walk, &moduli, halves, count);
    } else if let (true, 32, Moduli::Middle(moduli)) = (is_ff1, discard, moduli) {
        waves::<_, 32, true>(walk, moduli, halves, count);
    } else if let (false, Some(moduli)) = (is_ff1, quick::both(values, Mask64::new)) {
        waves::<_, 0, false>(walk, &moduli, halves, count);
    } else if let (false, Moduli::Middle(moduli)) = (is_ff1, moduli) {
        waves::<_, 0, false>(walk, moduli, halves, count);
    } else {
        // Between 2^61 and 2^64, and one of the moduli below 2^32 or y of 128 bits.
        let mut wide = halves.map(|half| half.map(u128::from));
        waves128(walk, &mut wide, count);
        for (half, wide) in halves
            .as_flattened_mut()
            .iter_mut()
            .zip(wide.as_flattened())
        {
            *half = low_word(*wide);
        }
        wipe(&mut wide);
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "below the modulus, which is at most 2^64"
)]
pub(super) const fn low_word(x: u128) -> u64 {
    x as u64
}

/// The same for longer halves.
pub(super) fn waves128(walk: &Walk<'_>, halves: &mut [[u128; TILE]; 2], count: usize) {
    let values = walk.plan.moduli.values();
    let (is_ff1, discard) = (walk.plan.family == Family::Ff1, walk.plan.discard);
    if let Some(moduli) = quick::both(values, Mask128::new) {
        return waves_wide(walk, &moduli, halves, count);
    }
    if let (0, Some(moduli)) = (discard, quick::both(values, Tight128::new)) {
        return waves_wide(walk, &moduli, halves, count);
    }
    if let (0, Some(moduli)) = (discard, quick::both(values, Quick128::new)) {
        return waves_wide(walk, &moduli, halves, count);
    }
    let moduli = values.map(Wide::new);
    if is_ff1 && discard == 32 {
        return waves::<_, 32, true>(walk, &moduli, halves, count);
    }
    waves_wide(walk, &moduli, halves, count);
}

/// Waves with a y of 128 bits.
fn waves_wide<M: Modulus<Half = u128>>(
    walk: &Walk<'_>,
    moduli: &[M; 2],
    halves: &mut [[u128; TILE]; 2],
    count: usize,
) {
    match walk.plan.family {
        Family::Ff1 => waves::<_, 0, true>(walk, moduli, halves, count),
        Family::Ff3 => waves::<_, 0, false>(walk, moduli, halves, count),
    }
}

/// The vector kernels; `false` if none serves the schedule and the moduli.
fn vector(walk: &Walk<'_>, halves: &mut [[u64; TILE]; 2], count: usize) -> bool {
    let [first, second] = halves.each_mut().map(|half| &mut half[..count]);
    #[cfg(target_arch = "x86_64")]
    if super::vaes512::halves(walk, [&mut *first, &mut *second])
        || super::vaes256::halves(walk, [&mut *first, &mut *second])
        || super::eightway::halves(walk, [&mut *first, &mut *second])
        || super::sm4_512::halves(walk, [&mut *first, &mut *second])
        || super::sm4_256::halves(walk, [&mut *first, &mut *second])
    {
        return true;
    }
    let _ = (walk, first, second);
    false
}

/// Copies waves out of a tile and back.
fn waves<M: Modulus, const DISCARD: u32, const SWAP: bool>(
    walk: &Walk<'_>,
    moduli: &[M; 2],
    halves: &mut [[M::Half; TILE]; 2],
    count: usize,
) {
    for start in (0..count).step_by(WAVE) {
        let mut wave = [[M::Half::default(); WAVE]; 2];
        for (part, half) in wave.iter_mut().zip(halves.iter()) {
            part.copy_from_slice(&half[start..start + WAVE]);
        }
        one_wave::<M, DISCARD, SWAP>(&walk.from(start), moduli, &mut wave);
        for (part, half) in wave.iter().zip(halves.iter_mut()) {
            half[start..start + WAVE].copy_from_slice(part);
        }
        wipe(&mut wave);
    }
}

/// Calls the wave of the schedule's backend, or that of the portable ciphers.
#[cfg_attr(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    expect(unsafe_code, reason = "the step into target features")
)]
fn one_wave<M: Modulus, const DISCARD: u32, const SWAP: bool>(
    walk: &Walk<'_>,
    moduli: &[M; 2],
    halves: &mut Halves<M::Half>,
) {
    let schedule = walk.schedule;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a schedule of a backend exists only where the machine has its features.
    unsafe {
        use super::blocks::{
            aes_128_wave, aes_256_wave, aes_512_wave, sm4_aes_wave, sm4_gfni_wave,
        };
        use Backend::{AesNi, Sm4AesNi, Sm4Gfni, Vaes256, Vaes512};
        match (schedule.backend(), schedule.aes_keys(), schedule.sm4_keys()) {
            (AesNi, Some(keys), _) => {
                return aes_128_wave::<M, DISCARD, SWAP>(keys, walk, moduli, halves);
            }
            (Vaes256, Some(keys), _) => {
                return aes_256_wave::<M, DISCARD, SWAP>(keys, walk, moduli, halves);
            }
            (Vaes512, Some(keys), _) => {
                return aes_512_wave::<M, DISCARD, SWAP>(keys, walk, moduli, halves);
            }
            (Sm4AesNi, _, Some(keys)) => {
                return sm4_aes_wave::<M, DISCARD, SWAP>(keys, walk, moduli, halves);
            }
            (Sm4Gfni, _, Some(keys)) => {
                return sm4_gfni_wave::<M, DISCARD, SWAP>(keys, walk, moduli, halves);
            }
            _ => {}
        }
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        use super::arm::{aes_wave, sm4_wave};
        match (schedule.backend(), schedule.aes_keys(), schedule.sm4_keys()) {
            (Backend::ArmAes, Some(keys), _) => {
                return aes_wave::<M, DISCARD, SWAP>(keys, walk, moduli, halves);
            }
            (Backend::ArmSm4, _, Some(keys)) => {
                return sm4_wave::<M, DISCARD, SWAP>(keys, walk, moduli, halves);
            }
            _ => {}
        }
    }
    let family = walk.plan.family;
    wave::rounds::<M, DISCARD, WAVE>(walk, moduli, halves, |blocks, constant| {
        eights(schedule, family, blocks, constant);
    });
}

/// Encrypts a wave of big-endian numbers, each xored with one number, on the schedule's backend.
#[cfg(feature = "std")]
#[cfg_attr(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    expect(unsafe_code, reason = "the step into target features")
)]
pub(super) fn encrypt(schedule: &Schedule, blocks: &mut [u128; WAVE], constant: u128) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a schedule of a backend exists only where the machine has its features.
    unsafe {
        use super::blocks::{aes_128, aes_256, aes_512, sm4_aes, sm4_gfni};
        use Backend::{AesNi, Sm4AesNi, Sm4Gfni, Vaes256, Vaes512};
        let parts = blocks.as_chunks_mut().0.iter_mut();
        match (schedule.backend(), schedule.aes_keys(), schedule.sm4_keys()) {
            (AesNi, Some(keys), _) => {
                return parts.for_each(|part| aes_128::<true>(keys, part, constant));
            }
            (Vaes256, Some(keys), _) => {
                return parts.for_each(|part| aes_256::<true>(keys, part, constant));
            }
            (Vaes512, Some(keys), _) => {
                return parts.for_each(|part| aes_512::<true>(keys, part, constant));
            }
            (Sm4AesNi, _, Some(keys)) => return sm4_aes::<true>(keys, blocks, constant),
            (Sm4Gfni, _, Some(keys)) => return sm4_gfni::<true>(keys, blocks, constant),
            _ => {}
        }
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        use super::arm::{aes, sm4};
        let parts = blocks.as_chunks_mut().0.iter_mut();
        match (schedule.backend(), schedule.aes_keys(), schedule.sm4_keys()) {
            (Backend::ArmAes, Some(keys), _) => {
                return parts.for_each(|part| aes::<true>(keys, part, constant));
            }
            (Backend::ArmSm4, _, Some(keys)) => {
                return parts.for_each(|part| sm4::<true>(keys, part, constant));
            }
            _ => {}
        }
    }
    eights(schedule, Family::Ff1, blocks, constant);
}

/// A wave through the portable ciphers, eight blocks at a time.
fn eights(schedule: &Schedule, family: Family, blocks: &mut [u128; WAVE], constant: u128) {
    let (parts, _) = blocks.as_chunks_mut::<8>();
    for part in parts {
        let mut eight = part.map(|number| family.block(number ^ constant));
        schedule.encrypt8(&mut eight);
        *part = eight.map(|block| family.number(block));
        wipe(&mut eight);
    }
}
