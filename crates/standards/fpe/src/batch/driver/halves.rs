//! Records that are given as numbers: NUM of the first half, and of the second.

use zeroize::Zeroize;

use super::super::{Bases, BatchError, Group, Tweaks};
use super::course::Course;
use super::{Job, TILE};
use crate::error::Error;
use crate::feistel::{Base, Plan};
use crate::kernel;
use crate::shape::Shape;

impl Job<'_> {
    /// Records of `digits` digits in place, on this thread.
    pub(in crate::batch) fn halves(
        self,
        digits: usize,
        records: &mut [[u64; 2]],
    ) -> Result<(), BatchError> {
        self.judge_length(digits)?;
        let shape = self.key.shape(digits)?;
        if !self.key.is_short(shape) {
            return Err(self.too_long(shape).into());
        }
        let plan = self.key.plan(shape);
        let moduli = plan.moduli.values();
        if moduli.iter().any(|modulus| *modulus > 1 << 64) {
            return Err(self.too_long(shape).into());
        }
        self.judge_numbers(&plan, moduli, records)?;
        let course = Course::new(self, digits)?;
        if let Tweaks::Same(tweak) = self.tweaks {
            let mut base = course.base(&plan, tweak, &mut None);
            course.run_halves(&plan, Bases::One(&base), records);
            base.zeroize();
            return Ok(());
        }
        for (place, tile) in records.chunks_mut(TILE).enumerate() {
            course.halves(&plan, place * TILE, tile);
        }
        Ok(())
    }

    /// The longest values whose halves are numbers of 64 bits.
    fn too_long(self, shape: Shape) -> Error {
        let radix = u64::from(shape.radix().value());
        let (mut power, mut half) = (1_u128, 0);
        while power * u128::from(radix) <= 1 << 64 {
            power *= u128::from(radix);
            half += 1;
        }
        Error::Length {
            mode: self.key.mode(),
            radix: shape.radix().value(),
            length: shape.length().digits(),
            longest: 2 * half,
        }
    }

    fn judge_numbers(
        self,
        plan: &Plan,
        moduli: [u128; 2],
        records: &[[u64; 2]],
    ) -> Result<(), BatchError> {
        let given = self.tweaks.count().unwrap_or(records.len());
        if given != records.len() {
            let expected = records.len();
            return Err(Error::BatchShape { expected, given }.into());
        }
        self.judge_tweaks(records.len())?;
        let [first, second] = moduli.map(greatest);
        let beyond = records.iter().fold(0, |beyond: u64, record| {
            beyond | above(record[0], first) | above(record[1], second)
        });
        if beyond == 0 {
            return Ok(());
        }
        // Sought only after the batch was found bad.
        let bad = |record: &[u64; 2]| record[0] > first || record[1] > second;
        let place = records.iter().position(bad).unwrap_or_default();
        let of_first = records.get(place).is_some_and(|record| record[0] > first);
        let error = Error::Digit {
            position: if of_first { 0 } else { plan.first },
            radix: plan.digits.radix(),
        };
        Err(BatchError::at(place, error))
    }
}

/// The greatest number below a modulus of at most 2^64.
#[expect(clippy::cast_possible_truncation, reason = "below 2^64")]
const fn greatest(modulus: u128) -> u64 {
    (modulus - 1) as u64
}

/// Not 0 if the number is above the limit, without a branch.
#[inline(always)]
const fn above(number: u64, limit: u64) -> u64 {
    let (_, borrow) = limit.overflowing_sub(number);
    borrow as u64
}

impl Course<'_> {
    /// A tile of them, of which the first is the record `start`, with a tweak each.
    fn halves(&self, plan: &Plan, start: usize, tile: &mut [[u64; 2]]) {
        let mut bases = [Base::default(); TILE];
        let mut encrypted_p = None;
        for (at, base) in bases.iter_mut().take(tile.len()).enumerate() {
            let tweak = self.job.tweaks.of(start + at).unwrap_or_default();
            *base = self.base(plan, tweak, &mut encrypted_p);
        }
        self.run_halves(plan, Bases::Each(&bases), tile);
        bases.zeroize();
    }

    fn run_halves(&self, plan: &Plan, bases: Bases<'_>, records: &mut [[u64; 2]]) {
        let group = Group {
            schedule: self.job.key.schedule(),
            plan,
            bases,
            direction: self.job.direction,
        };
        kernel::run_numbers(&group, records);
    }
}
