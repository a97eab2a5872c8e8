//! Records of digits, a tile at a time: to halves, through a kernel, and back.

use super::digits::{Converter, Eights, MARGIN};
use super::octets::Octets;
use super::waves::{TILE, low_word, waves64, waves128};
use super::{Walk, wipe};
use crate::feistel::{Family, Moduli, Plan};
use crate::numerals::Numeral;

/// With fewer records than this left, one after the other is faster than a wave with dummies.
pub(super) const FEW: usize = 6;

/// Takes records from the front and returns how many.
pub(super) fn run<T: Numeral>(walk: &Walk<'_>, digits: &mut [T]) -> usize {
    let length = walk.plan.length();
    let [even, odd] = walk.plan.moduli.values();
    let narrow = even.max(odd) <= 1 << 64;
    let converter = Converter::new(walk.plan, walk.schedule.backend());
    let converter = converter.as_ref();
    let octets = Octets::new(
        walk.plan.family,
        walk.plan.digits.radix(),
        [walk.plan.first, walk.plan.second],
    );
    let mut done = 0;
    for tile in digits.chunks_mut(TILE * length) {
        let count = tile.len() / length;
        if count < FEW {
            break;
        }
        let here = walk.from(done);
        if let (Some(octets), Some(bytes)) = (&octets, T::bytes_mut(tile)) {
            if narrow {
                octet_words(&here, octets, bytes);
            } else {
                octet_double_words(&here, octets, bytes);
            }
        } else if narrow {
            words(&here, converter, tile)
        } else {
            double_words(&here, converter, tile)
        }
        done += count;
    }
    done
}

/// A tile of radix 256 in bytes whose halves fit 64 bits.
fn octet_words(walk: &Walk<'_>, octets: &Octets, tile: &mut [u8]) {
    let count = tile.len() / walk.plan.length();
    let mut halves = [[0u64; TILE]; 2];
    octets.read(tile, |half, k, number| halves[half][k] = low_word(number));
    waves64(walk, &mut halves, count);
    octets.write(tile, |half, k| halves[half][k].into());
    wipe(&mut halves);
}

/// The same with longer halves.
fn octet_double_words(walk: &Walk<'_>, octets: &Octets, tile: &mut [u8]) {
    let count = tile.len() / walk.plan.length();
    let mut halves = [[0u128; TILE]; 2];
    octets.read(tile, |half, k, number| halves[half][k] = number);
    waves128(walk, &mut halves, count);
    octets.write(tile, |half, k| halves[half][k]);
    wipe(&mut halves);
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
        for (half, place) in halves.iter_mut().zip(upper(plan)) {
            match place.len() {
                1 => add_tops::<1, T>(plan, converter, half, (tile, place.start)),
                2 => add_tops::<2, T>(plan, converter, half, (tile, place.start)),
                3 => add_tops::<3, T>(plan, converter, half, (tile, place.start)),
                _ => {}
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
    waves64(walk, &mut halves, count);
    let mut tops = [[0u64; TILE]; 2];
    let fast = write_bytes(walk, converter, tile, |k, converter| {
        let [[a, b], [c, d]] = [0, 1].map(|i| {
            let [top, lower] = converter.split_top(halves[i][k]);
            tops[i][k] = top;
            converter.split_sixteen(lower)
        });
        [a, b, c, d]
    });
    if fast && converter.is_some_and(Converter::is_long) {
        for (tops, place) in tops.iter().zip(upper(plan)) {
            match place.len() {
                1 => write_tops::<1, T>(plan, tops, (tile, place.start)),
                2 => write_tops::<2, T>(plan, tops, (tile, place.start)),
                3 => write_tops::<3, T>(plan, tops, (tile, place.start)),
                _ => {}
            }
        }
    }
    wipe(&mut tops);
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

/// Adds to halves the `N` digits that stand above their lower sixteen, at `start` of each record. Nothing
/// loops over so few digits: their number is a constant.
fn add_tops<const N: usize, T: Numeral>(
    plan: &Plan,
    converter: &Converter,
    halves: &mut [u64],
    (tile, start): (&[T], usize),
) {
    let order = plan.family.order();
    for (half, record) in halves.iter_mut().zip(tile.chunks_exact(plan.length())) {
        if let Some(digits) = record[start..].first_chunk::<N>() {
            let top = plan.digits.number(digits, order);
            *half = half.wrapping_add(top.wrapping_mul(converter.sixteen()));
        }
    }
}

/// The inverse: writes the digits of what stands above sixteen.
fn write_tops<const N: usize, T: Numeral>(
    plan: &Plan,
    tops: &[u64],
    (tile, start): (&mut [T], usize),
) {
    let order = plan.family.order();
    for (top, record) in tops.iter().zip(tile.chunks_exact_mut(plan.length())) {
        if let Some(digits) = record[start..].first_chunk_mut::<N>() {
            plan.digits.write_chunk(*top, digits, order);
        }
    }
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

/// Where in a record the digits of both halves stand that are above the lower sixteen.
fn upper(plan: &Plan) -> [core::ops::Range<usize>; 2] {
    [(0, plan.first), (plan.first, plan.second)].map(|(start, length)| {
        let above = length.saturating_sub(16);
        match plan.family {
            Family::Ff1 => start..start + above,
            Family::Ff3 => start + length - above..start + length,
        }
    })
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
    mut each: impl FnMut(usize, &Converter) -> Eights,
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
