//! The fast way of numbers of one width of which digits are kept, or each of which has a tweak of its own.
//!
//! It gives the same tokens as the common way, which takes over for any block in which a value does not fit. A
//! number stands in one word of 128 bits, a digit a byte, and its parts are cut out of it all at once: no branch
//! and no address depends on a digit that is not kept.

use std::ops::Range;

use keywright_fpe::Tweaks;
use keywright_secret::wipe_vec;

use super::luhn::{Words, each, load, of, store, sum};
use super::{Column, Job, crypt};
use crate::cells::Output;
use crate::codec::{CheckDigit, Plain};
use crate::error::Error;
use crate::tweak::put_prefixed;

/// The free digits of a block, its tweaks, and what one value keeps.
#[derive(Debug, Default)]
pub(super) struct KeptBlock {
    digits: Vec<u8>,
    tweaks: Vec<u8>,
    kept: Vec<u8>,
}

impl Drop for KeptBlock {
    fn drop(&mut self) {
        wipe_vec(&mut self.digits);
        wipe_vec(&mut self.tweaks);
        wipe_vec(&mut self.kept);
    }
}

/// Bytes of a number's word. As many stand behind the digits of a block, so that the last is no exception.
const WORD: usize = 16;

/// Where the parts of a number lie. The check digit, if there is one, stands behind the free ones.
#[derive(Clone, Copy)]
struct Cut {
    front: usize,
    free: usize,
    back: usize,
    checked: bool,
}

impl Cut {
    fn new(plain: Plain, width: usize) -> Option<Self> {
        let (front, back) = plain.kept;
        plain.free(width).map(|free| Self {
            front,
            free,
            back,
            checked: plain.check != CheckDigit::None,
        })
    }

    /// The bits of the free digits.
    const fn free_bits(self) -> u128 {
        (u128::MAX >> (8 * (WORD - self.free))) << (8 * self.front)
    }

    /// Where the bits of the check digit begin.
    const fn check_at(self) -> usize {
        8 * (self.front + self.free)
    }

    /// The bits of the check digit.
    const fn check_bits(self) -> u128 {
        if self.checked {
            0xff << self.check_at()
        } else {
            0
        }
    }

    /// The check digit that stands in a number.
    fn check_of(self, number: u128) -> u64 {
        low(number >> self.check_at()) & 0xff
    }

    /// Appends `lp` of each kept part.
    fn put_kept(self, value: &[u8], kept: &mut Vec<u8>) {
        kept.clear();
        let (front, rest) = value.split_at(self.front.min(value.len()));
        let (_, back) = rest.split_at(rest.len().saturating_sub(self.back));
        for part in [front, back] {
            if !part.is_empty() {
                put_prefixed(part, kept);
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half is wanted")]
const fn low(number: u128) -> u64 {
    number as u64
}

const fn joined([low, high]: Words) -> u128 {
    (high as u128) << 64 | low as u128
}

const fn parted(number: u128) -> Words {
    [low(number), low(number >> 64)]
}

/// One instance for each width, so that the loops have fixed bounds.
macro_rules! by_width {
    ($width:expr, $call:ident $arguments:tt) => {
        by_width!(@ $width, $call $arguments, 9 10 11 12 13 14 15 16)
    };
    (@ $width:expr, $call:ident $arguments:tt, $($w:literal)+) => {
        match $width {
            $($w => $call::<$w> $arguments,)+
            _ => Default::default(),
        }
    };
}

/// Cuts the free digits out of characters; whether all are digits with check digits that are `mark` off.
fn read<const W: usize>(cut: Cut, bytes: &[u8], mark: u8, digits: &mut [u8]) -> bool {
    let (values, _) = bytes.as_chunks::<W>();
    let zeros = const { of::<W>(b'0') };
    let (mut beyond, mut wrong) = (0, 0);
    for (row, value) in values.iter().enumerate() {
        let [first, second] = load(value);
        let own = [first ^ zeros[0], second ^ zeros[1]];
        for word in own {
            beyond |= word | word.wrapping_add(each(0x80 - 10));
        }
        let mut number = joined(own);
        if cut.checked {
            let digit = cut.check_of(number);
            let right = (digit + 10 - u64::from(mark)) % 10;
            number ^= u128::from(digit ^ right) << cut.check_at();
            wrong |= sum::<W>(parted(number), 0);
        }
        // What is beyond the free digits is covered by the next value's.
        let free = (number >> (8 * cut.front)).to_le_bytes();
        let place = digits.get_mut(row * cut.free..).unwrap_or_default();
        if let Some(place) = place.first_chunk_mut() {
            *place = free;
        }
    }
    beyond & each(0x80) == 0 && wrong == 0
}

/// Puts other free digits into characters that were read, and the check digit that belongs to them.
fn write<const W: usize>(cut: Cut, (digits, values): (&[u8], &[u8]), mark: u8, out: &mut [u8]) {
    let (values, _) = values.as_chunks::<W>();
    let (made, _) = out.as_chunks_mut::<W>();
    let zeros = const { of::<W>(b'0') };
    let free = cut.free_bits();
    let check = cut.check_bits();
    for (row, (value, made)) in values.iter().zip(made).enumerate() {
        let [first, second] = load(value);
        let before = joined([first ^ zeros[0], second ^ zeros[1]]);
        let place = digits.get(row * cut.free..).unwrap_or_default();
        let after = u128::from_le_bytes(place.first_chunk().copied().unwrap_or_default());
        let mut number = before & !free & !check | (after << (8 * cut.front)) & free;
        if cut.checked {
            let wanted = (10 - sum::<W>(parted(number), 0)) % 10;
            let doubles = (W - 1 - cut.front - cut.free) % 2 == 1;
            let digit = if doubles { halved(wanted) } else { wanted };
            number |= u128::from((digit + u64::from(mark)) % 10) << cut.check_at();
        }
        let [first, second] = parted(number);
        store([first | zeros[0], second | zeros[1]], made);
    }
}

/// The digit that adds so much to Luhn's sum where it counts double: 0, 2, 4, 6, 8 for the first five, then 1, 3,
/// 5, 7, 9.
const fn halved(sum: u64) -> u64 {
    (sum + 9 * (sum & 1)) / 2
}

impl Column<'_> {
    /// Whether the block was done.
    pub(super) fn run_kept(
        &mut self,
        job: &Job<'_>,
        block: &Range<usize>,
        out: &mut Output,
    ) -> Result<bool, Error> {
        let ([codec], Some((bytes, width))) = (self.key.format().codecs(), job.cells.piece(block))
        else {
            return Ok(false);
        };
        let plain = codec.plain(width).filter(|_| (9..=WORD).contains(&width));
        let Some((plain, cut)) = plain.and_then(|plain| Some((plain, Cut::new(plain, width)?)))
        else {
            return Ok(false);
        };
        // Small sets have their own misfit, which the common way tells.
        let size = u32::try_from(cut.free).map_or(u64::MAX, |free| 10_u64.pow(free));
        let engine = self.engines.place(10)?;
        let Some(key) = self.engines.get(engine) else {
            return Ok(false);
        };
        let taken = u32::try_from(cut.free).is_ok_and(|free| key.lengths().contains(&free));
        if !taken || size < self.key.settings().floor().into() {
            return Ok(false);
        }
        let KeptBlock {
            digits,
            tweaks,
            kept,
        } = &mut self.kept;
        let filled = block.len() * cut.free;
        digits.resize(filled + WORD, 0);
        let mark = plain.mark(job.direction.from());
        if !by_width!(width, read(cut, bytes, mark, digits)) {
            return Ok(false);
        }
        tweaks.clear();
        let each = match (&self.same, &mut self.derivation) {
            (Some(tweak), _) => Tweaks::Same(tweak),
            (None, Some(derivation)) => {
                for (row, value) in block.clone().zip(bytes.chunks_exact(width)) {
                    cut.put_kept(value, kept);
                    derivation.put(kept, |place| job.cell(place, row), tweaks);
                }
                let width = tweaks.len() / block.len().max(1);
                let bytes = tweaks.as_slice();
                Tweaks::Each { bytes, width }
            }
            (None, None) => return Ok(false),
        };
        let free = digits.get_mut(..filled).unwrap_or_default();
        crypt(key, job.direction, (each, cut.free, self.threads), free)?;
        let start = out.bytes.len();
        out.bytes.resize(start + bytes.len(), 0);
        let made = out.bytes.get_mut(start..).unwrap_or_default();
        let mark = plain.mark(job.direction.to());
        by_width!(width, write(cut, (digits, bytes), mark, made));
        let ends = (1..=block.len()).map(|cell| start + cell * width);
        out.offsets.extend(ends);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_what_doubles_add_up_to() {
        for digit in 0..10 {
            let twice = 2 * digit;
            let added = if twice > 9 { twice - 9 } else { twice };
            assert_eq!(halved(added), digit);
        }
    }
}
