//! Cutting a batch into groups, over threads, and running them.

mod course;
mod halves;
mod judge;

#[cfg(feature = "std")]
use alloc::vec::Vec;
use core::ops::Range;
#[cfg(feature = "std")]
use std::thread::ScopedJoinHandle;

use super::{BatchError, Layout, Tweaks};
use crate::alphabet::Alphabet;
use crate::error::Error;
use crate::feistel::Direction;
use crate::key::Key;
use crate::numerals::Numeral;
use course::Course;

/// Records whose bases are computed, or that are gathered or copied, at a time. Divided by the lanes of all
/// kernels.
const TILE: usize = 128;

/// Records that are copied at a time if one tweak serves all: they stay in the nearest cache.
const COPIED: usize = 8 * TILE;

/// Pieces for each thread.
#[cfg(feature = "std")]
const PIECES: usize = 64;

/// How often to look whether the other threads have ended before waiting to be woken: some 100 microseconds.
#[cfg(feature = "std")]
const PATIENCE: usize = 4096;

/// Records of a batch, what they are read from if that is elsewhere, and where they are written.
#[cfg(feature = "std")]
type Piece<'a, T> = (Range<usize>, Option<&'a [T]>, &'a mut [T]);

/// A batch with everything but the values.
#[derive(Clone, Copy)]
pub(super) struct Job<'a> {
    pub(super) key: &'a Key,
    pub(super) direction: Direction,
    pub(super) tweaks: Tweaks<'a>,
    pub(super) layout: Layout<'a>,
    pub(super) alphabet: Option<&'a Alphabet>,
    #[cfg(feature = "std")]
    pub(super) threads: usize,
}

impl Job<'_> {
    pub(super) fn in_place<T: Numeral>(self, values: &mut [T]) -> Result<(), BatchError> {
        let records = self.judge(values)?;
        self.spread(records, None, values);
        Ok(())
    }

    pub(super) fn apart<T: Numeral>(self, input: &[T], output: &mut [T]) -> Result<(), BatchError> {
        let records = self.judge(input)?;
        if input.len() != output.len() {
            return Err(Error::LengthMismatch {
                expected: input.len(),
                given: output.len(),
            }
            .into());
        }
        self.spread(records, Some(input), output);
        Ok(())
    }

    /// Where a record stands.
    fn range(self, record: usize) -> Range<usize> {
        match self.layout {
            Layout::Fixed(digits) => record * digits..(record + 1) * digits,
            #[cfg(feature = "std")]
            Layout::Offsets(offsets) => {
                let at = |place: usize| offsets.get(place).copied().unwrap_or_default();
                at(record)..at(record + 1)
            }
            #[cfg(not(feature = "std"))]
            Layout::Never(never, _) => match never {},
        }
    }

    /// Over the threads: each takes the next piece of consecutive records until none is left, so that one that
    /// the system holds up does less, and none waits for it long.
    #[cfg(feature = "std")]
    fn spread<T: Numeral>(self, records: usize, input: Option<&[T]>, output: &mut [T]) {
        let share = records
            .div_ceil(self.threads.saturating_mul(PIECES).max(1))
            .next_multiple_of(TILE)
            .max(TILE);
        let threads = self.threads.min(records.div_ceil(share));
        if threads <= 1 {
            return self.piece(0..records, input, output);
        }
        let pieces = std::sync::Mutex::new(self.pieces(records, share, input, output));
        let next = || pieces.lock().ok().and_then(|mut pieces| pieces.next());
        let run = || {
            while let Some((records, source, own)) = next() {
                self.piece(records, source, own);
            }
        };
        std::thread::scope(|scope| {
            // An offer: where the system gives no thread, the others do its work.
            let others: Vec<_> = (1..threads)
                .filter_map(|_| std::thread::Builder::new().spawn_scoped(scope, run).ok())
                .collect();
            run();
            // The last pieces end within moments of each other; being woken takes longer than that.
            for _ in 0..PATIENCE {
                if others.iter().all(ScopedJoinHandle::is_finished) {
                    break;
                }
                core::hint::spin_loop();
            }
        });
    }

    /// The records in pieces of `share`: which they are, where they are read from if elsewhere, and their place.
    #[cfg(feature = "std")]
    fn pieces<'a, T: Numeral>(
        self,
        records: usize,
        share: usize,
        input: Option<&'a [T]>,
        output: &'a mut [T],
    ) -> impl Iterator<Item = Piece<'a, T>>
    where
        Self: 'a,
    {
        let (mut rest, mut taken) = (output, 0);
        (0..records).step_by(share).map(move |first| {
            let piece = first..records.min(first + share);
            let end = self.range(piece.end - 1).end;
            let (own, later) = core::mem::take(&mut rest).split_at_mut(end - taken);
            let source = input.and_then(|input| input.get(taken..end));
            (rest, taken) = (later, end);
            (piece, source, own)
        })
    }

    #[cfg(not(feature = "std"))]
    fn spread<T: Numeral>(self, records: usize, input: Option<&[T]>, output: &mut [T]) {
        self.piece(0..records, input, output);
    }

    /// Consecutive records on one thread.
    fn piece<T: Numeral>(self, records: Range<usize>, input: Option<&[T]>, output: &mut [T]) {
        match self.layout {
            Layout::Fixed(digits) => self.fixed(digits, records, input, output),
            #[cfg(feature = "std")]
            Layout::Offsets(_) => self.mixed(&records, input, output),
            #[cfg(not(feature = "std"))]
            Layout::Never(never, _) => match never {},
        }
    }

    fn fixed<T: Numeral>(
        self,
        digits: usize,
        records: Range<usize>,
        input: Option<&[T]>,
        output: &mut [T],
    ) {
        let Ok(course) = Course::new(self, digits) else {
            return;
        };
        // Bases per record are computed a tile at a time. With one for all, only copying has a tile, which
        // is larger, as the base is computed for each.
        let count = match (self.tweaks, input) {
            (Tweaks::Same(_), None) => records.len(),
            (Tweaks::Same(_), Some(_)) => COPIED,
            _ => TILE,
        };
        let width = count * digits;
        let firsts = records.step_by(count.max(1));
        for ((place, tile), first) in output.chunks_mut(width.max(1)).enumerate().zip(firsts) {
            let start = place * width;
            let source = input.and_then(|input| input.get(start..start + tile.len()));
            if let Some(source) = source {
                tile.copy_from_slice(source);
            }
            course.run(|at| first + at, tile);
        }
    }

    /// Records of equal length are gathered, run as a group, and put back.
    #[cfg(feature = "std")]
    fn mixed<T: Numeral>(self, records: &Range<usize>, input: Option<&[T]>, output: &mut [T]) {
        let start = self.range(records.start).start;
        if let Some(input) = input {
            output.copy_from_slice(input);
        }
        let local = |record: usize| {
            let range = self.range(record);
            range.start - start..range.end - start
        };
        let mut by_length: Vec<usize> = records.clone().collect();
        by_length.sort_by_key(|record| self.range(*record).len());
        for alike in by_length.chunk_by(|a, b| self.range(*a).len() == self.range(*b).len()) {
            let digits = alike.first().map_or(0, |record| self.range(*record).len());
            let Ok(course) = Course::new(self, digits) else {
                continue;
            };
            // With room for a tile from the start: what grows leaves copies behind that nobody wipes.
            let room = digits * alike.len().min(TILE);
            let mut scratch = zeroize::Zeroizing::new(Vec::<T>::with_capacity(room));
            for tile in alike.chunks(TILE) {
                scratch.clear();
                for record in tile {
                    scratch.extend_from_slice(output.get(local(*record)).unwrap_or_default());
                }
                course.run(|at| tile.get(at).copied().unwrap_or_default(), &mut scratch);
                for (record, made) in tile.iter().zip(scratch.chunks(digits.max(1))) {
                    if let Some(place) = output.get_mut(local(*record)) {
                        place.copy_from_slice(made);
                    }
                }
            }
        }
    }
}
