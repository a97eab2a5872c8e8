//! Whether the time of a call tells anything about its secrets: Welch's t over two classes of measurements,
//! after Reparaz, Balasch and Verbauwhede, "Dude, is my code constant time?" (2017).
//!
//! Class 0 has one fixed secret, class 1 a fresh one for every measurement; which class is next is random.
//! Interrupts and the like make a long tail, which is cropped at one bound for both classes. |t| above 4.5
//! says that the means differ; below it, that this many measurements do not show it.

use std::hint::black_box;

use crate::sequence::Sequence;

/// Above this, two means differ.
pub const BOUND: f64 = 4.5;
/// The part of all measurements that is kept.
const KEPT: f64 = 0.9;

/// Where the secrets of a measurement come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the two of the test")]
pub enum Class {
    /// Always the same.
    Fixed = 0,
    /// Fresh.
    Random = 1,
}

impl Class {
    /// One or the other, by a bit.
    ///
    /// The compiler is kept from knowing which: else it makes a branch of it somewhere before the call, and
    /// the branch predictor, which goes by the branches before, is another one in each class. Of 1,400 ticks
    /// that moved the mean by 0.4, whichever class had the fixed secrets.
    fn of(bits: u64) -> Self {
        let class = if bits >> 63 == 1 {
            Self::Random
        } else {
            Self::Fixed
        };
        black_box(class)
    }
}

/// Measurements of two classes.
#[derive(Debug, Default)]
pub struct Samples {
    classes: [Vec<u32>; 2],
}

impl Samples {
    /// Takes `count` measurements. `prepare` puts secrets of a class in place, `call` is what is timed.
    pub fn take<S>(
        count: usize,
        sequence: &mut Sequence,
        secrets: &mut S,
        mut prepare: impl FnMut(Class, &mut Sequence, &mut S),
        mut call: impl FnMut(&mut S),
    ) -> Self {
        let mut samples = Self::default();
        for _ in 0..count {
            let class = Class::of(sequence.next_bits());
            prepare(class, sequence, secrets);
            settle();
            let start = now();
            call(secrets);
            let taken = now().wrapping_sub(start);
            samples.add(class, u32::try_from(taken).unwrap_or(u32::MAX));
        }
        samples
    }

    /// Adds one measurement.
    pub fn add(&mut self, class: Class, taken: u32) {
        self.classes[class as usize].push(taken);
    }

    /// Welch's t of what lies below the bound under which most measurements of both classes lie. Zero if all
    /// measurements are the same.
    #[must_use]
    pub fn t(&self) -> f64 {
        let mut all: Vec<u32> = self.classes.concat();
        all.sort_unstable();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "an index below the length"
        )]
        let bound = all.get((all.len() as f64 * KEPT) as usize).copied();
        let bound = bound.unwrap_or(u32::MAX);
        let [(fixed, spread), (random, other)] =
            [0, 1].map(|class| moments(&self.classes[class], bound));
        let error = (spread + other).sqrt();
        if error > 0.0 {
            (fixed - random) / error
        } else {
            0.0
        }
    }
}

/// Mean, and variance of the mean, of the measurements up to the bound.
fn moments(taken: &[u32], bound: u32) -> (f64, f64) {
    let kept = || {
        taken
            .iter()
            .filter(|taken| **taken <= bound)
            .map(|taken| f64::from(*taken))
    };
    let count = kept().count().max(2) as f64;
    let mean = kept().sum::<f64>() / count;
    let variance = kept().map(|taken| (taken - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, variance / count)
}

/// The middle of the absolute values.
#[must_use]
pub fn median(values: &[f64]) -> f64 {
    let mut values: Vec<f64> = values.iter().map(|value| value.abs()).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// Waits until all that was written has left the processor's buffers, so that nothing of how the secrets were
/// made falls into the time that is taken.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "an instruction without a safe form")]
fn settle() {
    // SAFETY: every x86-64 processor has the instruction; it changes no memory.
    unsafe { core::arch::x86_64::_mm_mfence() }
}

#[cfg(not(target_arch = "x86_64"))]
const fn settle() {}

/// The time-stamp counter, with everything before it done.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "two instructions without a safe form")]
fn now() -> u64 {
    // SAFETY: every x86-64 processor has both instructions, which touch no memory.
    unsafe {
        core::arch::x86_64::_mm_lfence();
        let ticks = core::arch::x86_64::_rdtsc();
        core::arch::x86_64::_mm_lfence();
        ticks
    }
}

/// No counter is known here; all measurements are zero, and the planted leak is not found.
#[cfg(not(target_arch = "x86_64"))]
fn now() -> u64 {
    0
}
