//! The fast way of values of one width whose free parts are a few numbers: ranks and FF1's halves are made of them
//! without a digit, for many values at a time.
//!
//! It gives the same tokens as the common way, which takes over for any block in which a value does not fit.

use std::ops::Range;

use keywright_fpe::{Batch, Key, Mode, Tweaks};
use keywright_secret::wipe_vec;
use zeroize::Zeroize;

use super::group::PASSES;
use super::{Column, Direction, Job};
use crate::cells::Output;
use crate::codec::Flat;
use crate::error::Error;
use crate::shape::Numbers;

/// Values that are worked on together: what is made of them stays in the nearest cache.
const PIECE: usize = 256;
/// With fewer, the common way costs less than filling up the lanes of the engine.
const FEW: usize = 6;

/// The buffers, and what all values have in common.
#[derive(Debug, Default)]
pub(super) struct FlatBlock {
    /// Nothing before it was asked for; then whether there is one.
    numbers: Option<Option<Numbers>>,
    values: Vec<u64>,
    halves: Vec<[u64; 2]>,
    scratch: Vec<u8>,
    lost: Vec<usize>,
}

impl Drop for FlatBlock {
    fn drop(&mut self) {
        self.values.zeroize();
        self.halves.zeroize();
        wipe_vec(&mut self.scratch);
    }
}

/// FF1 under one tweak.
struct Crypt<'a> {
    key: &'a Key,
    direction: Direction,
    tweak: &'a [u8],
    digits: usize,
}

impl Crypt<'_> {
    fn run(&self, halves: &mut [[u64; 2]]) -> Result<(), Error> {
        let (batch, tweaks) = (Batch::new(self.key), Tweaks::Same(self.tweak));
        let done = match self.direction {
            Direction::Protect => batch.encrypt_halves(tweaks, self.digits, halves),
            Direction::Reveal => batch.decrypt_halves(tweaks, self.digits, halves),
        };
        done.map_err(|error| error.error().into())
    }
}

impl FlatBlock {
    /// Whether all values of a piece were done.
    fn piece(
        &mut self,
        flat: &dyn Flat,
        crypt: &Crypt<'_>,
        (values, out): (&[u8], &mut [u8]),
    ) -> Result<bool, Error> {
        let Some(Some(numbers)) = &self.numbers else {
            return Ok(false);
        };
        let rows = values.len() / flat.width().max(1);
        self.values.resize(rows * numbers.count(), 0);
        if !flat.read(values, &mut self.scratch, &mut self.values) {
            return Ok(false);
        }
        self.halves.clear();
        let ranked = self.values.chunks_exact(numbers.count());
        self.halves.extend(ranked.map(|value| numbers.put(value)));
        crypt.run(&mut self.halves)?;
        if numbers.walks() && !walk(numbers, crypt, &mut self.halves, &mut self.lost)? {
            return Ok(false);
        }
        let places = self.values.chunks_exact_mut(numbers.count());
        for (value, halves) in places.zip(&self.halves) {
            numbers.take(*halves, value);
        }
        flat.write(&self.values, &mut self.scratch, out);
        Ok(true)
    }
}

/// Encrypts again what is no rank. False if something never becomes one, which the common way tells of.
fn walk(
    numbers: &Numbers,
    crypt: &Crypt<'_>,
    halves: &mut [[u64; 2]],
    lost: &mut Vec<usize>,
) -> Result<bool, Error> {
    lost.clear();
    let beyond = halves.iter().enumerate();
    lost.extend(beyond.filter_map(|(place, value)| (!numbers.has(*value)).then_some(place)));
    for _ in 1..PASSES {
        if lost.is_empty() {
            return Ok(true);
        }
        let mut again = zeroize::Zeroizing::new(Vec::with_capacity(lost.len()));
        again.extend(lost.iter().filter_map(|place| halves.get(*place).copied()));
        crypt.run(&mut again)?;
        for (place, value) in lost.iter().zip(again.iter()) {
            if let Some(own) = halves.get_mut(*place) {
                *own = *value;
            }
        }
        lost.retain(|place| halves.get(*place).is_some_and(|value| !numbers.has(*value)));
    }
    Ok(false)
}

impl Column<'_> {
    /// Whether the block was done.
    pub(super) fn run_flat(
        &mut self,
        job: &Job<'_>,
        block: &Range<usize>,
        out: &mut Output,
    ) -> Result<bool, Error> {
        let ([codec], Some(tweak)) = (self.key.format().codecs(), &self.same) else {
            return Ok(false);
        };
        let Some(flat) = codec.flat().filter(|_| block.len() >= FEW) else {
            return Ok(false);
        };
        let piece = job.cells.piece(block);
        let Some((bytes, width)) = piece.filter(|(_, width)| *width == flat.width()) else {
            return Ok(false);
        };
        let settings = self.key.settings();
        let known = &mut self.flat.numbers;
        let numbers = known.get_or_insert_with(|| {
            let numbers = Numbers::new(flat.spans());
            numbers.filter(|numbers| numbers.size() >= settings.floor().into())
        });
        let Some(numbers) = numbers.as_ref().filter(|_| settings.mode() == Mode::Ff1) else {
            return Ok(false);
        };
        let (radix, digits) = (numbers.radix(), numbers.digits());
        let engine = self.engines.place(radix)?;
        let Some(key) = self.engines.get(engine) else {
            return Ok(false);
        };
        let crypt = Crypt {
            key,
            direction: job.direction,
            tweak,
            digits,
        };
        let start = out.bytes.len();
        out.bytes.resize(start + bytes.len(), 0);
        let made = out.bytes.get_mut(start..).unwrap_or_default();
        let pieces = bytes
            .chunks(PIECE * width)
            .zip(made.chunks_mut(PIECE * width));
        for piece in pieces {
            if !self.flat.piece(flat, &crypt, piece)? {
                out.bytes.truncate(start);
                return Ok(false);
            }
        }
        let ends = (1..=block.len()).map(|cell| start + cell * width);
        out.offsets.extend(ends);
        Ok(true)
    }
}
