//! Records of one length: bases for their tweaks, the kernels, and what the kernels leave.

use zeroize::Zeroize;

use super::super::{Bases, Group, Records, Tweaks};
use super::{Job, TILE};
use crate::error::Error;
use crate::feistel::{Base, Plan};
use crate::kernel;
#[cfg(feature = "std")]
use crate::kernel::broad::{Broad, Pass, Starts};
use crate::key::single;
use crate::numerals::Numeral;
use crate::shape::Shape;
use crate::{ff1, ff3};

/// What the records of one length share.
pub(super) struct Course<'a> {
    pub(super) job: Job<'a>,
    shape: Shape,
    plan: Option<Plan>,
    #[cfg(feature = "std")]
    broad: Option<Broad>,
    symbols: Option<kernel::Symbols<'a>>,
}

impl<'a> Course<'a> {
    pub(super) fn new(job: Job<'a>, digits: usize) -> Result<Self, Error> {
        let shape = job.key.shape(digits)?;
        let plan = job.key.is_short(shape).then(|| job.key.plan(shape));
        let symbols = job
            .alphabet
            .map(|alphabet| kernel::Symbols::new(alphabet, job.key.backend()));
        Ok(Self {
            job,
            shape,
            plan,
            #[cfg(feature = "std")]
            broad: match job.key.mode() {
                crate::Mode::Ff1 => Broad::new(shape),
                _ => None,
            },
            symbols,
        })
    }

    /// Records that stand one after the other; `record` says which they are.
    pub(super) fn run<T: Numeral>(&self, record: impl Fn(usize) -> usize, values: &mut [T]) {
        let Some(plan) = &self.plan else {
            let done = self.waves(&record, values);
            let rest = values.get_mut(done * self.digits()..).unwrap_or_default();
            return self.one_by_one(|at| record(done + at), rest);
        };
        if let Tweaks::Same(tweak) = self.job.tweaks {
            let mut base = self.base(plan, tweak, &mut None);
            self.group(plan, Bases::One(&base), values);
            base.zeroize();
            return;
        }
        let mut bases = [Base::default(); TILE];
        let mut encrypted_p = None;
        let count = values.len() / plan.length();
        for (at, base) in bases.iter_mut().take(count).enumerate() {
            let tweak = self.job.tweaks.of(record(at)).unwrap_or_default();
            *base = self.base(plan, tweak, &mut encrypted_p);
        }
        self.group(plan, Bases::Each(&bases), values);
        bases.zeroize();
    }

    /// The base of a judged tweak. CIPH(P) is kept from one tweak to the next of the same length.
    pub(super) fn base(
        &self,
        plan: &Plan,
        tweak: &[u8],
        encrypted_p: &mut Option<(usize, u128)>,
    ) -> Base {
        let key = self.job.key;
        if key.mode().is_legacy() {
            return ff3::base(key.half_tweaks(tweak).unwrap_or_default());
        }
        let mac = self.mac(tweak, encrypted_p);
        ff1::base(key.schedule(), plan.b(), mac, tweak)
    }

    /// CIPH(P), kept for the next tweak of the same length.
    fn mac(&self, tweak: &[u8], encrypted_p: &mut Option<(usize, u128)>) -> u128 {
        let key = self.job.key;
        let mac = match *encrypted_p {
            Some((bytes, mac)) if bytes == tweak.len() => mac,
            _ => {
                let bytes = key.tweak_bytes(tweak).unwrap_or_default();
                ff1::encrypted_p(key.schedule(), self.shape, bytes)
            }
        };
        *encrypted_p = Some((tweak.len(), mac));
        mac
    }

    fn group<T: Numeral>(&self, plan: &Plan, bases: Bases<'_>, values: &mut [T]) {
        let group = Group {
            schedule: self.job.key.schedule(),
            plan,
            bases,
            direction: self.job.direction,
        };
        match (&self.symbols, T::bytes_mut(values)) {
            (Some(symbols), Some(text)) => text_group(group, symbols, text),
            _ => digit_group(group, values),
        }
    }

    /// Digits of a record.
    const fn digits(&self) -> usize {
        self.shape.length().digits()
    }

    /// Lengths beyond the plans that a kernel serves all the same; returns how many records it took.
    #[cfg(feature = "std")]
    fn waves<T: Numeral>(&self, record: &impl Fn(usize) -> usize, values: &mut [T]) -> usize {
        let Some(broad) = &self.broad else { return 0 };
        let digits = self.digits();
        let mut starts = [Starts::default(); *Broad::COUNTS.end()];
        let mut encrypted_p = None;
        let mut done = 0;
        for wave in values.chunks_mut(starts.len() * digits) {
            let count = wave.len() / digits;
            if count < *Broad::COUNTS.start() {
                break;
            }
            let used = match self.job.tweaks {
                Tweaks::Same(_) => 1,
                _ => count,
            };
            // One tweak for all: its start is there from the first wave on.
            let fresh = if used > 1 || done == 0 { used } else { 0 };
            for (at, start) in starts.iter_mut().take(fresh).enumerate() {
                let tweak = self.job.tweaks.of(record(done + at)).unwrap_or_default();
                let mac = self.mac(tweak, &mut encrypted_p);
                *start = broad.starts(self.job.key.schedule(), mac, tweak);
            }
            let pass = Pass {
                schedule: self.job.key.schedule(),
                direction: self.job.direction,
                starts: starts.get(..used).unwrap_or_default(),
            };
            match (&self.symbols, T::bytes_mut(wave)) {
                (Some(symbols), Some(text)) => {
                    symbols.read(text);
                    broad.run(pass, text);
                    symbols.write(text);
                }
                _ => broad.run(pass, wave),
            }
            done += count;
        }
        starts.zeroize();
        done
    }

    #[cfg(not(feature = "std"))]
    fn waves<T: Numeral>(&self, _: &impl Fn(usize) -> usize, _: &mut [T]) -> usize {
        0
    }

    /// Lengths that no kernel serves.
    fn one_by_one<T: Numeral>(&self, record: impl Fn(usize) -> usize, values: &mut [T]) {
        let digits = self.digits();
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
        match &self.symbols {
            Some(symbols) => {
                let Some(text) = T::bytes_mut(value) else {
                    return;
                };
                symbols.read(text);
                tweaked.run(self.job.direction, text);
                symbols.write(text);
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
fn text_group(group: Group<'_>, symbols: &kernel::Symbols<'_>, text: &mut [u8]) {
    let length = group.plan.length();
    let done = kernel::run(&group, Records::Text(&mut *text, symbols.alphabet()));
    let rest = text.get_mut(done * length..).unwrap_or_default();
    for (place, tile) in rest.chunks_mut(TILE * length).enumerate() {
        symbols.read(tile);
        let bases = group.bases.after(done + place * TILE);
        digit_group(Group { bases, ..group }, tile);
        symbols.write(tile);
    }
}
