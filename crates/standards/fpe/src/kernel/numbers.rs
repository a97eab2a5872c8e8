//! Records that are given as the numbers of their halves: a tile at a time through the waves.

use super::waves::{TILE, waves64};
use super::{Walk, wipe};

/// Takes all records through all rounds. The moduli are at most 2^64.
pub(super) fn run(walk: &Walk<'_>, records: &mut [[u64; 2]]) {
    let mut halves = [[0u64; TILE]; 2];
    for (place, tile) in records.chunks_mut(TILE).enumerate() {
        let [first, second] = &mut halves;
        for ((first, second), record) in first.iter_mut().zip(second).zip(tile.iter()) {
            [*first, *second] = *record;
        }
        waves64(&walk.from(place * TILE), &mut halves, tile.len());
        let [first, second] = &halves;
        for ((first, second), record) in first.iter().zip(second).zip(tile.iter_mut()) {
            *record = [*first, *second];
        }
    }
    wipe(&mut halves);
}
