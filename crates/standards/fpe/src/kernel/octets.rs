//! Radix 256 in bytes: the digits of a half are the bytes of its number.

use super::waves::TILE;
use super::wipe;
use crate::feistel::Family;

/// Bytes of a register, and of the longest half.
const WIDTH: usize = 16;
/// Bytes of a tile with a margin on either side.
const PADDED: usize = (TILE * 2 + 2) * WIDTH;

/// What the conversion needs of a shape; public.
pub(super) struct Octets {
    lengths: [usize; 2],
    masks: [u128; 2],
    is_ff1: bool,
}

impl Octets {
    /// `None` for other radices and for halves of more than sixteen bytes.
    pub(super) fn new(family: Family, radix: u32, lengths: [usize; 2]) -> Option<Self> {
        let fits = radix == 256 && lengths.iter().all(|length| (1..=WIDTH).contains(length));
        fits.then(|| Self {
            lengths,
            masks: lengths.map(|length| u128::MAX >> (8 * (WIDTH - length))),
            is_ff1: family == Family::Ff1,
        })
    }

    /// Gives the numbers of first (0) and second halves (1) of each record to `each`.
    pub(super) fn read(&self, tile: &[u8], mut each: impl FnMut(usize, usize, u128)) {
        let mut padded = [0u8; PADDED];
        padded[WIDTH..WIDTH + tile.len()].copy_from_slice(tile);
        for k in 0..tile.len() / self.length() {
            for half in 0..2 {
                let start = self.start(k, half);
                // The bytes that are not of this half are masked away.
                let at = if self.is_ff1 {
                    start + self.lengths[half] - WIDTH
                } else {
                    start
                };
                let bytes = padded[at..].first_chunk().copied().unwrap_or_default();
                let number = if self.is_ff1 {
                    u128::from_be_bytes(bytes)
                } else {
                    u128::from_le_bytes(bytes)
                };
                each(half, k, number & self.masks[half]);
            }
        }
        wipe(&mut padded);
    }

    /// The inverse.
    pub(super) fn write(&self, tile: &mut [u8], number: impl Fn(usize, usize) -> u128) {
        let mut padded = [0u8; PADDED];
        for k in 0..tile.len() / self.length() {
            for half in 0..2 {
                let bytes = if self.is_ff1 {
                    (number(half, k) << (8 * (WIDTH - self.lengths[half]))).to_be_bytes()
                } else {
                    number(half, k).to_le_bytes()
                };
                // What is written behind a half, the next one overwrites.
                if let Some(place) = padded[self.start(k, half)..].first_chunk_mut() {
                    *place = bytes;
                }
            }
        }
        tile.copy_from_slice(&padded[WIDTH..WIDTH + tile.len()]);
        wipe(&mut padded);
    }

    const fn length(&self) -> usize {
        self.lengths[0] + self.lengths[1]
    }

    /// Where a half begins in a padded tile.
    const fn start(&self, record: usize, half: usize) -> usize {
        WIDTH + record * self.length() + if half == 0 { 0 } else { self.lengths[0] }
    }
}
