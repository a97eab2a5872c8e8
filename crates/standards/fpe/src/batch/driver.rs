//! Judging a batch, cutting it into groups, and running them.

use core::ops::Range;

use zeroize::Zeroize;

use super::{Bases, BatchError, Group, Layout, Records, Tweaks};
use crate::alphabet::Alphabet;
use crate::error::Error;
use crate::feistel::{Base, Direction, Plan};
use crate::kernel;
use crate::key::{Key, single};
use crate::numerals::{self, Numeral};
use crate::shape::Shape;
use crate::{ff1, ff3};

/// Records whose bases are computed, or that are gathered or copied, at a time. Divided by the lanes of all
/// kernels.
const TILE: usize = 128;

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

    /// Everything that can be wrong, before anything is written. Returns the number of records.
    fn judge<T: Numeral>(self, values: &[T]) -> Result<usize, BatchError> {
        numerals::check_width::<T>(self.key.radix())?;
        let records = self.records(values.len())?;
        if self.alphabet.is_some() && T::bytes(&[]).is_none() {
            return Err(Error::AlphabetNotAscii.into());
        }
        let tweaks = self.tweaks.count().unwrap_or(records);
        if tweaks != records {
            return Err(Error::BatchShape {
                expected: records,
                given: tweaks,
            }
            .into());
        }
        self.judge_tweaks(records)?;
        let good = match (self.alphabet, T::bytes(values)) {
            (Some(alphabet), Some(text)) => alphabet.has_bytes(text),
            _ => !T::any_above(values, self.key.radix().value() - 1),
        };
        if good {
            return Ok(records);
        }
        Err(self.first_bad(records, values))
    }

    fn records(self, values: usize) -> Result<usize, BatchError> {
        match self.layout {
            Layout::Fixed(digits) => {
                self.judge_length(digits)?;
                if values.checked_rem(digits) != Some(0) {
                    return Err(Error::BatchShape {
                        expected: values.next_multiple_of(digits.max(1)),
                        given: values,
                    }
                    .into());
                }
                Ok(values / digits)
            }
            #[cfg(feature = "std")]
            Layout::Offsets(offsets) => {
                let ends = (offsets.first(), offsets.last());
                let rising = offsets.windows(2).all(|pair| pair.is_sorted());
                if ends != (Some(&0), Some(&values)) || !rising {
                    return Err(Error::BatchShape {
                        expected: values,
                        given: offsets.last().copied().unwrap_or_default(),
                    }
                    .into());
                }
                let records = offsets.len() - 1;
                for record in 0..records {
                    self.judge_length(self.range(record).len())
                        .map_err(|error| BatchError::at(record, error))?;
                }
                Ok(records)
            }
            #[cfg(not(feature = "std"))]
            Layout::Never(never, _) => match never {},
        }
    }

    fn judge_length(self, digits: usize) -> Result<(), Error> {
        let shape = self.key.shape(digits)?;
        if self.direction == Direction::Encrypt
            && self.key.mode().is_legacy()
            && !self.key.is_short(shape)
        {
            // Only values that fpe-c wrote are so long.
            return Err(Error::Length {
                mode: self.key.mode(),
                radix: self.key.radix().value(),
                length: digits,
                longest: self.key.radix().longest(crate::Mode::Ff3),
            });
        }
        Ok(())
    }

    fn judge_tweaks(self, records: usize) -> Result<(), BatchError> {
        let judge = |tweak: &[u8]| match self.key.mode() {
            crate::Mode::Ff1 => self.key.tweak_bytes(tweak).map(drop),
            _ => self.key.half_tweaks(tweak).map(drop),
        };
        if let Tweaks::Same(tweak) = self.tweaks {
            return Ok(judge(tweak)?);
        }
        for record in 0..records {
            let Some(tweak) = self.tweaks.of(record) else {
                return Err(Error::BatchShape {
                    expected: records,
                    given: record,
                }
                .into());
            };
            judge(tweak).map_err(|error| BatchError::at(record, error))?;
        }
        Ok(())
    }

    /// Sought only after the batch was found bad.
    #[cold]
    fn first_bad<T: Numeral>(self, records: usize, values: &[T]) -> BatchError {
        let radix = self.key.radix();
        let bad = |value: &[T]| match (self.alphabet, T::bytes(value)) {
            (Some(alphabet), Some(text)) => text
                .iter()
                .position(|byte| !alphabet.has_bytes(&[*byte]))
                .map(|position| Error::Symbol { position }),
            _ => numerals::check(radix, value).err(),
        };
        let found = (0..records).find_map(|record| {
            let value = values.get(self.range(record))?;
            Some(BatchError::at(record, bad(value)?))
        });
        found.unwrap_or_else(|| {
            BatchError::from(Error::BatchShape {
                expected: records,
                given: values.len(),
            })
        })
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

    /// Over the threads, in pieces of consecutive records.
    #[cfg(feature = "std")]
    fn spread<T: Numeral>(self, records: usize, input: Option<&[T]>, output: &mut [T]) {
        let pieces = self.threads.min(records.div_ceil(TILE)).max(1);
        let share = records.div_ceil(pieces).next_multiple_of(TILE);
        std::thread::scope(|scope| {
            let mut rest = output;
            let mut taken = 0;
            for first in (0..records).step_by(share.max(1)) {
                let piece = first..records.min(first + share);
                let end = self.range(piece.end - 1).end;
                let (own, later) = rest.split_at_mut(end - taken);
                let source = input.and_then(|input| input.get(taken..end));
                (rest, taken) = (later, end);
                let run = move |own: &mut [T]| self.piece(piece, source, own);
                if rest.is_empty() {
                    run(own);
                    continue;
                }
                run_apart(scope, own, run);
            }
        });
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
        // Without bases per record and without copying, all records are one group.
        let whole = input.is_none() && matches!(self.tweaks, Tweaks::Same(_));
        let width = if whole { output.len() } else { TILE * digits };
        let firsts = records.step_by(TILE);
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
        let mut by_length: alloc::vec::Vec<usize> = records.clone().collect();
        by_length.sort_by_key(|record| self.range(*record).len());
        let mut scratch = zeroize::Zeroizing::new(alloc::vec::Vec::<T>::new());
        for alike in by_length.chunk_by(|a, b| self.range(*a).len() == self.range(*b).len()) {
            let digits = alike.first().map_or(0, |record| self.range(*record).len());
            let Ok(course) = Course::new(self, digits) else {
                continue;
            };
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

#[cfg(feature = "std")]
fn run_apart<'scope, T: Numeral>(
    scope: &'scope std::thread::Scope<'scope, '_>,
    own: &'scope mut [T],
    run: impl FnOnce(&mut [T]) + Send + Clone + 'scope,
) {
    // Threads are an offer: where the system gives none, the caller's does the work.
    let shared = std::sync::Mutex::new(Some(own));
    let shared = std::sync::Arc::new(shared);
    let take = |shared: &std::sync::Mutex<Option<&'scope mut [T]>>| {
        shared.lock().ok().and_then(|mut own| own.take())
    };
    let (theirs, spare) = (std::sync::Arc::clone(&shared), run.clone());
    let started = std::thread::Builder::new().spawn_scoped(scope, move || {
        if let Some(own) = take(&theirs) {
            run(own);
        }
    });
    if started.is_err()
        && let Some(own) = take(&shared)
    {
        spare(own);
    }
}

/// What the records of one length share.
struct Course<'a> {
    job: Job<'a>,
    shape: Shape,
    plan: Option<Plan>,
}

impl<'a> Course<'a> {
    fn new(job: Job<'a>, digits: usize) -> Result<Self, Error> {
        let shape = job.key.shape(digits)?;
        let plan = job.key.is_short(shape).then(|| job.key.plan(shape));
        Ok(Self { job, shape, plan })
    }

    /// Records that stand one after the other; `record` says which they are.
    fn run<T: Numeral>(&self, record: impl Fn(usize) -> usize, values: &mut [T]) {
        let Some(plan) = &self.plan else {
            return self.one_by_one(record, values);
        };
        if let Tweaks::Same(tweak) = self.job.tweaks {
            let mut base = self.base(tweak, &mut None);
            self.group(plan, Bases::One(&base), values);
            base.zeroize();
            return;
        }
        let mut bases = [Base::default(); TILE];
        let mut encrypted_p = None;
        let count = values.len() / plan.length();
        for (at, base) in bases.iter_mut().take(count).enumerate() {
            let tweak = self.job.tweaks.of(record(at)).unwrap_or_default();
            *base = self.base(tweak, &mut encrypted_p);
        }
        self.group(plan, Bases::Each(&bases), values);
        bases.zeroize();
    }

    /// The base of a judged tweak. CIPH(P) is kept from one tweak to the next of the same length.
    fn base(&self, tweak: &[u8], encrypted_p: &mut Option<(usize, u128)>) -> Base {
        let key = self.job.key;
        if key.mode().is_legacy() {
            return ff3::base(key.half_tweaks(tweak).unwrap_or_default());
        }
        let mac = match *encrypted_p {
            Some((bytes, mac)) if bytes == tweak.len() => mac,
            _ => {
                let bytes = key.tweak_bytes(tweak).unwrap_or_default();
                ff1::encrypted_p(key.schedule(), self.shape, bytes)
            }
        };
        *encrypted_p = Some((tweak.len(), mac));
        ff1::base(key.schedule(), self.shape, mac, tweak)
    }

    fn group<T: Numeral>(&self, plan: &Plan, bases: Bases<'_>, values: &mut [T]) {
        let group = Group {
            schedule: self.job.key.schedule(),
            plan,
            bases,
            direction: self.job.direction,
        };
        match (self.job.alphabet, T::bytes_mut(values)) {
            (Some(alphabet), Some(text)) => text_group(group, alphabet, text),
            _ => digit_group(group, values),
        }
    }

    /// Lengths that no kernel serves.
    fn one_by_one<T: Numeral>(&self, record: impl Fn(usize) -> usize, values: &mut [T]) {
        let digits = self.shape.length().digits();
        let mut last = None;
        for (at, value) in values.chunks_mut(digits).enumerate() {
            let tweak = self.job.tweaks.of(record(at)).unwrap_or_default();
            let fresh = match last.take() {
                Some((kept, tweaked)) if kept == tweak => Ok(tweaked),
                _ => self.job.key.tweaked(digits, tweak),
            };
            let Ok(tweaked) = fresh else { return };
            self.one(&tweaked, value);
            last = Some((tweak, tweaked));
        }
    }

    fn one<T: Numeral>(&self, tweaked: &crate::Tweaked<'_>, value: &mut [T]) {
        match self.job.alphabet {
            Some(alphabet) => {
                let Some(text) = T::bytes_mut(value) else {
                    return;
                };
                alphabet.read_bytes(text);
                tweaked.run(self.job.direction, text);
                alphabet.write_bytes(text);
            }
            None => tweaked.run(self.job.direction, value),
        }
    }
}

/// Digits: what the kernel leaves goes through the scalar walk.
fn digit_group<T: Numeral>(group: Group<'_>, values: &mut [T]) {
    let done = kernel::run(&group, T::records(values));
    let bases = group.bases.after(done);
    let rest = values.chunks_mut(group.plan.length()).skip(done);
    for (at, value) in rest.enumerate() {
        if let Some(base) = bases.of(at) {
            single(group.schedule, group.plan, base, group.direction, value);
        }
    }
}

/// Text: what the kernel does not take as text is translated, run as digits and translated back.
fn text_group(group: Group<'_>, alphabet: &Alphabet, text: &mut [u8]) {
    let length = group.plan.length();
    let done = kernel::run(&group, Records::Text(&mut *text, alphabet));
    let rest = text.get_mut(done * length..).unwrap_or_default();
    for (place, tile) in rest.chunks_mut(TILE * length).enumerate() {
        alphabet.read_bytes(tile);
        let bases = group.bases.after(done + place * TILE);
        digit_group(Group { bases, ..group }, tile);
        alphabet.write_bytes(tile);
    }
}
