//! Records of digits, a tile at a time: to halves, through a kernel, and back.

use super::digits::{Converter, Eights, MARGIN};
use super::quick::{self, Full64, Mask64, Mask128, Quick64, Quick128};
use super::wave::{self, Halves, WAVE};
use super::{Walk, wipe};
use crate::arithmetic::{Modulus, Wide};
use crate::cipher::{Backend, Cipher, Schedule};
use crate::feistel::{Family, Moduli, Plan};
use crate::numerals::Numeral;

/// Records of a tile.
const TILE: usize = 4 * WAVE;
/// With fewer records than this left, one after the other is faster than a wave with dummies.
const FEW: usize = 6;

/// Takes records from the front and returns how many.
pub(super) fn run<T: Numeral>(walk: &Walk<'_>, digits: &mut [T]) -> usize {
    let length = walk.plan.length();
    let [even, odd] = walk.plan.moduli.values();
    let narrow = even.max(odd) <= 1 << 64;
    let converter = Converter::new(walk.plan, walk.schedule.backend());
    let converter = converter.as_ref();
    let mut done = 0;
    for tile in digits.chunks_mut(TILE * length) {
        let count = tile.len() / length;
        if count < FEW {
            break;
        }
        let here = walk.from(done);
        if narrow {
            words(&here, converter, tile)
        } else {
            double_words(&here, converter, tile)
        }
        done += count;
    }
    done
}

/// A tile whose halves fit 64 bits.
fn words<T: Numeral>(walk: &Walk<'_>, converter: Option<&Converter>, tile: &mut [T]) {
    let mut halves = [[0u64; TILE]; 2];
    let (plan, order) = (walk.plan, walk.plan.family.order());
    let count = tile.len() / plan.length();
    let fast = read_bytes(walk, converter, tile, |k, converter, eights| {
        [halves[0][k], halves[1][k]] = converter.join64(eights);
    });
    if let (true, Some(converter)) = (fast, converter.filter(|converter| converter.is_long())) {
        for (k, record) in tile.chunks_exact(plan.length()).enumerate() {
            let (first, second) = record.split_at(plan.first);
            for (i, half) in [first, second].into_iter().enumerate() {
                let top = plan.digits.number(&half[upper(plan, half.len())], order);
                halves[i][k] = halves[i][k].wrapping_add(top.wrapping_mul(converter.sixteen()));
            }
        }
    }
    if !fast {
        for (k, record) in tile.chunks_exact(plan.length()).enumerate() {
            let (first, second) = record.split_at(plan.first);
            halves[0][k] = plan.digits.number(first, order);
            halves[1][k] = plan.digits.number(second, order);
        }
    }
    if !vector(walk, &mut halves, count) {
        waves64(walk, &mut halves, count);
    }
    let fast = write_bytes(walk, converter, tile, |k, converter| {
        let [[a, b], [c, d]] = [0, 1].map(|i| converter.split64(halves[i][k]));
        [a, b, c, d]
    });
    if let (true, Some(converter)) = (fast, converter.filter(|converter| converter.is_long())) {
        for (k, record) in tile.chunks_exact_mut(plan.length()).enumerate() {
            let (first, second) = record.split_at_mut(plan.first);
            for (i, half) in [first, second].into_iter().enumerate() {
                let [top, _] = converter.split_long(halves[i][k]);
                let place = upper(plan, half.len());
                plan.digits.write_chunk(top, &mut half[place], order);
            }
        }
    }
    let short = matches!(plan.moduli, Moduli::Narrow(_));
    if !fast {
        for (k, record) in tile.chunks_exact_mut(plan.length()).enumerate() {
            let (first, second) = record.split_at_mut(plan.first);
            if short {
                plan.digits.write_chunk(halves[0][k], first, order);
                plan.digits.write_chunk(halves[1][k], second, order);
            } else {
                plan.digits.write(halves[0][k], first, order);
                plan.digits.write(halves[1][k], second, order);
            }
        }
    }
    wipe(&mut halves);
}

/// A tile with longer halves.
fn double_words<T: Numeral>(walk: &Walk<'_>, converter: Option<&Converter>, tile: &mut [T]) {
    let mut halves = [[0u128; TILE]; 2];
    let (plan, order) = (walk.plan, walk.plan.family.order());
    let count = tile.len() / plan.length();
    let fast = read_bytes(walk, converter, tile, |k, converter, eights| {
        [halves[0][k], halves[1][k]] = converter.join(eights);
    });
    if !fast {
        for (k, record) in tile.chunks_exact(plan.length()).enumerate() {
            let (first, second) = record.split_at(plan.first);
            halves[0][k] = plan.digits.number_wide(first, order);
            halves[1][k] = plan.digits.number_wide(second, order);
        }
    }
    waves128(walk, &mut halves, count);
    let fast = write_bytes(walk, converter, tile, |k, converter| {
        let [[a, b], [c, d]] = [0, 1].map(|i| converter.split(halves[i][k]));
        [a, b, c, d]
    });
    if !fast {
        for (k, record) in tile.chunks_exact_mut(plan.length()).enumerate() {
            let (first, second) = record.split_at_mut(plan.first);
            plan.digits.write_wide(halves[0][k], first, order);
            plan.digits.write_wide(halves[1][k], second, order);
        }
    }
    wipe(&mut halves);
}

/// The digits of a half that stand above the lower sixteen.
fn upper(plan: &Plan, length: usize) -> core::ops::Range<usize> {
    let above = length.saturating_sub(16);
    match plan.family {
        Family::Ff1 => 0..above,
        Family::Ff3 => length - above..length,
    }
}

/// Bytes of a tile with margins.
const PADDED: usize = TILE * 38 + 2 * MARGIN;

/// Gives the eights of each record to `each`; `false` if vector conversion does not serve.
fn read_bytes<T: Numeral>(
    walk: &Walk<'_>,
    converter: Option<&Converter>,
    tile: &[T],
    mut each: impl FnMut(usize, &Converter, Eights),
) -> bool {
    let Some(converter) = converter else {
        return false;
    };
    let Some(bytes) = T::bytes(tile) else {
        return false;
    };
    let mut padded = [0u8; PADDED];
    padded[MARGIN..MARGIN + bytes.len()].copy_from_slice(bytes);
    let mut eights = [[0u64; 4]; TILE];
    let used = &mut eights[..bytes.len() / walk.plan.length()];
    converter.read(&padded, used);
    for (k, eights) in used.iter().enumerate() {
        each(k, converter, *eights);
    }
    wipe(&mut padded);
    wipe(&mut eights);
    true
}

/// Writes each record from its eights; `false` if vector conversion does not serve.
fn write_bytes<T: Numeral>(
    walk: &Walk<'_>,
    converter: Option<&Converter>,
    tile: &mut [T],
    each: impl Fn(usize, &Converter) -> Eights,
) -> bool {
    let Some(converter) = converter else {
        return false;
    };
    let Some(bytes) = T::bytes_mut(tile) else {
        return false;
    };
    let mut eights = [[0u64; 4]; TILE];
    let used = &mut eights[..bytes.len() / walk.plan.length()];
    for (k, eights) in used.iter_mut().enumerate() {
        *eights = each(k, converter);
    }
    let mut padded = [0u8; PADDED];
    converter.write(used, &mut padded);
    bytes.copy_from_slice(&padded[MARGIN..MARGIN + bytes.len()]);
    wipe(&mut padded);
    wipe(&mut eights);
    true
}

/// All waves of a tile with the cheapest reduction that its moduli allow.
fn waves64(walk: &Walk<'_>, halves: &mut [[u64; TILE]; 2], count: usize) {
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
const fn low_word(x: u128) -> u64 {
    x as u64
}

fn waves128(walk: &Walk<'_>, halves: &mut [[u128; TILE]; 2], count: usize) {
    let values = walk.plan.moduli.values();
    let (is_ff1, discard) = (walk.plan.family == Family::Ff1, walk.plan.discard);
    if let Some(moduli) = quick::both(values, Mask128::new) {
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
    target_arch = "x86_64",
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
    let family = walk.plan.family;
    wave::rounds::<M, DISCARD, WAVE>(walk, moduli, halves, |blocks| {
        eights(schedule, family, blocks)
    });
}

/// A wave through the portable ciphers, eight blocks at a time.
fn eights(schedule: &Schedule, family: Family, blocks: &mut [u128; WAVE]) {
    let (parts, _) = blocks.as_chunks_mut::<8>();
    for part in parts {
        let mut eight = part.map(|number| family.block(number));
        schedule.encrypt8(&mut eight);
        *part = eight.map(|block| family.number(block));
        wipe(&mut eight);
    }
}
