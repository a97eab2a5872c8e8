//! The digits of a block's values, by shape.

use std::collections::HashMap;

use keywright_fpe::Tweaks;
use keywright_secret::wipe_vec;
use zeroize::{Zeroize, Zeroizing};

use super::{Direction, Engines, crypt};
use crate::error::{Error, Misfit};
use crate::rank::{Sink, Span};
use crate::shape::{Fit, Shape};

/// The most times that a result which is no rank is encrypted again.
pub(super) const PASSES: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Groups {
    groups: Vec<Group>,
    by_hash: HashMap<u64, usize>,
    last: usize,
    scratch: Vec<u16>,
}

/// All values of one shape.
#[derive(Debug)]
struct Group {
    spans: Box<[Span]>,
    shape: Result<Ready, Misfit>,
    numerals: Numerals,
    tweaks: Vec<u8>,
    count: usize,
    /// Values that found no way back into the set.
    lost: Vec<usize>,
}

#[derive(Debug)]
struct Ready {
    shape: Shape,
    engine: usize,
}

/// One digit a byte where the radix allows it: the engine is faster.
#[derive(Debug)]
enum Numerals {
    Narrow(Vec<u8>),
    Wide(Vec<u16>),
}

impl Groups {
    /// Empties the buffers and keeps them.
    pub(super) fn clear(&mut self) {
        for group in &mut self.groups {
            group.count = 0;
            group.tweaks.clear();
            group.lost.clear();
            match &mut group.numerals {
                Numerals::Narrow(digits) => digits.clear(),
                Numerals::Wide(digits) => digits.clear(),
            }
        }
    }

    /// The group of values with these parts.
    pub(super) fn place(
        &mut self,
        spans: &[Span],
        engines: &mut Engines<'_>,
        floor: u32,
    ) -> Result<usize, Error> {
        if self
            .groups
            .get(self.last)
            .is_some_and(|group| *group.spans == *spans)
        {
            return Ok(self.last);
        }
        let hash = hash(spans);
        let found = self.by_hash.get(&hash).copied();
        let found = found
            .filter(|place| {
                self.groups
                    .get(*place)
                    .is_some_and(|group| *group.spans == *spans)
            })
            .or_else(|| match found {
                // Two lists of parts with one hash: the second is looked for.
                Some(_) => self.groups.iter().position(|group| *group.spans == *spans),
                None => None,
            });
        self.last = match found {
            Some(place) => place,
            None => {
                self.groups.push(Group::new(spans, engines, floor)?);
                let place = self.groups.len() - 1;
                self.by_hash.entry(hash).or_insert(place);
                place
            }
        };
        Ok(self.last)
    }

    /// Takes what a codec read. Returns its place, and where its tweak goes.
    pub(super) fn put(
        &mut self,
        group: usize,
        sink: &Sink,
    ) -> Result<(usize, &mut Vec<u8>), Misfit> {
        let group = self.groups.get_mut(group).ok_or(Misfit::Length)?;
        let ready = group.shape.as_ref().map_err(|misfit| *misfit)?;
        let digits = ready.shape.digits();
        let narrowed = |digit: &u16| u8::try_from(*digit).unwrap_or_default();
        match &mut group.numerals {
            Numerals::Narrow(out) if *ready.shape.fit() == Fit::Direct => {
                out.extend(sink.digits.iter().map(narrowed));
            }
            Numerals::Narrow(out) => {
                self.scratch.resize(digits, 0);
                ready.shape.put(sink, &mut self.scratch);
                out.extend(self.scratch.iter().map(narrowed));
            }
            Numerals::Wide(out) => {
                let start = out.len();
                out.resize(start + digits, 0);
                ready
                    .shape
                    .put(sink, out.get_mut(start..).unwrap_or_default());
            }
        }
        group.count += 1;
        Ok((group.count - 1, &mut group.tweaks))
    }

    /// Symbols and numbers of one value.
    pub(super) fn take(
        &mut self,
        group: usize,
        index: usize,
        symbols: &mut Vec<u16>,
        numbers: &mut Vec<u128>,
    ) -> Result<(), Misfit> {
        let group = self.groups.get(group).ok_or(Misfit::Length)?;
        let ready = group.shape.as_ref().map_err(|misfit| *misfit)?;
        if group.lost.binary_search(&index).is_ok() {
            return Err(Misfit::Walk);
        }
        let digits = ready.shape.digits();
        let range = index * digits..(index + 1) * digits;
        match &group.numerals {
            Numerals::Narrow(all) if *ready.shape.fit() == Fit::Direct => {
                symbols.clear();
                numbers.clear();
                let own = all.get(range).unwrap_or_default();
                symbols.extend(own.iter().map(|digit| u16::from(*digit)));
            }
            Numerals::Narrow(all) => {
                self.scratch.clear();
                let own = all.get(range).unwrap_or_default();
                self.scratch
                    .extend(own.iter().map(|digit| u16::from(*digit)));
                ready.shape.take(&self.scratch, symbols, numbers);
            }
            Numerals::Wide(all) => {
                ready
                    .shape
                    .take(all.get(range).unwrap_or_default(), symbols, numbers);
            }
        }
        Ok(())
    }

    /// Encrypts or decrypts everything.
    pub(super) fn run(
        &mut self,
        engines: &Engines<'_>,
        direction: Direction,
        same: Option<&[u8]>,
        threads: usize,
    ) -> Result<(), Error> {
        for group in self.groups.iter_mut().filter(|group| group.count > 0) {
            group.run(engines, direction, same, threads)?;
        }
        Ok(())
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        self.scratch.zeroize();
    }
}

fn hash(spans: &[Span]) -> u64 {
    let mix =
        |hash: u64, word: u64| (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    spans.iter().fold(0, |hash, span| {
        let modulus = u64::try_from(span.modulus % u128::from(u64::MAX)).unwrap_or_default();
        mix(mix(hash, modulus), span.count.into())
    })
}

impl Group {
    fn new(spans: &[Span], engines: &mut Engines<'_>, floor: u32) -> Result<Self, Error> {
        let shape = match Shape::new(spans) {
            Ok(shape) => ready(shape, engines, floor)?,
            Err(unfit) => Err(unfit.into()),
        };
        let narrow = matches!(&shape, Ok(ready) if ready.shape.radix() <= 256);
        Ok(Self {
            spans: spans.into(),
            shape,
            numerals: if narrow {
                Numerals::Narrow(Vec::new())
            } else {
                Numerals::Wide(Vec::new())
            },
            tweaks: Vec::new(),
            count: 0,
            lost: Vec::new(),
        })
    }

    fn run(
        &mut self,
        engines: &Engines<'_>,
        direction: Direction,
        same: Option<&[u8]>,
        threads: usize,
    ) -> Result<(), Error> {
        let Self {
            shape: Ok(ready),
            numerals,
            tweaks,
            count,
            lost,
            ..
        } = self
        else {
            return Ok(());
        };
        let Some(key) = engines.get(ready.engine) else {
            return Ok(());
        };
        let crypt = Crypt {
            key,
            direction,
            same,
            width: tweaks.len().checked_div(*count).unwrap_or_default(),
            threads,
        };
        match numerals {
            Numerals::Narrow(digits) => crypt.run(&ready.shape, tweaks, digits, lost),
            Numerals::Wide(digits) => crypt.run(&ready.shape, tweaks, digits, lost),
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        wipe_vec(&mut self.tweaks);
        match &mut self.numerals {
            Numerals::Narrow(digits) => wipe_vec(digits),
            Numerals::Wide(digits) => digits.zeroize(),
        }
    }
}

/// The floor is judged by the set itself; what the engine takes, by the digits.
fn ready(
    shape: Shape,
    engines: &mut Engines<'_>,
    floor: u32,
) -> Result<Result<Ready, Misfit>, Error> {
    let below = shape.size().and_then(|size| size.to_u128());
    if below.is_some_and(|size| size < floor.into()) {
        return Ok(Err(Misfit::BelowFloor));
    }
    let engine = engines.place(shape.radix())?;
    let digits = u32::try_from(shape.digits()).unwrap_or(u32::MAX);
    let taken = engines
        .get(engine)
        .is_some_and(|key| key.lengths().contains(&digits));
    Ok(if taken {
        Ok(Ready { shape, engine })
    } else {
        Err(Misfit::Length)
    })
}

/// One call of the engine, and as many again as it takes.
struct Crypt<'a> {
    key: &'a keywright_fpe::Key,
    direction: Direction,
    same: Option<&'a [u8]>,
    width: usize,
    threads: usize,
}

impl Crypt<'_> {
    fn run<T: keywright_fpe::Numeral + Copy + Zeroize + Into<u16>>(
        &self,
        shape: &Shape,
        tweaks: &[u8],
        values: &mut [T],
        lost: &mut Vec<usize>,
    ) -> Result<(), Error> {
        let digits = shape.digits();
        crypt(
            self.key,
            self.direction,
            (self.tweaks(tweaks), digits, self.threads),
            values,
        )?;
        let Fit::Walk(limit) = shape.fit() else {
            return Ok(());
        };
        let beyond = |value: &[T]| {
            let value = value.iter().map(|digit| (*digit).into());
            value.cmp(limit.iter().copied()).is_ge()
        };
        lost.extend(
            values
                .chunks_exact(digits)
                .enumerate()
                .filter_map(|(place, value)| beyond(value).then_some(place)),
        );
        let (mut again, mut own) = (Zeroizing::new(Vec::<T>::new()), Vec::new());
        for _ in 1..PASSES {
            if lost.is_empty() {
                return Ok(());
            }
            again.clear();
            own.clear();
            for place in lost.iter() {
                let value = place * digits..(place + 1) * digits;
                again.extend_from_slice(values.get(value).unwrap_or_default());
                let tweak = place * self.width..(place + 1) * self.width;
                own.extend_from_slice(tweaks.get(tweak).unwrap_or_default());
            }
            crypt(
                self.key,
                self.direction,
                (self.tweaks(&own), digits, 1),
                &mut again,
            )?;
            for (place, value) in lost.iter().zip(again.chunks_exact(digits)) {
                let to = values.get_mut(place * digits..(place + 1) * digits);
                to.unwrap_or_default().copy_from_slice(value);
            }
            lost.retain(|place| {
                let value = values.get(place * digits..(place + 1) * digits);
                beyond(value.unwrap_or_default())
            });
        }
        Ok(())
    }

    fn tweaks<'t>(&'t self, each: &'t [u8]) -> Tweaks<'t> {
        match self.same {
            Some(tweak) => Tweaks::Same(tweak),
            None => Tweaks::Each {
                bytes: each,
                width: self.width,
            },
        }
    }
}
