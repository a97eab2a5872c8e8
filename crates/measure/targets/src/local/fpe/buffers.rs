//! The two kinds of workers: from one buffer into another and back, or within one.

use std::hint::black_box;

use keywright_fpe::Numeral;
use keywright_measure::carry::Check;
use keywright_measure::{Fault, Worker};

/// What one digit or symbol stands in.
pub(super) trait Place: Numeral + PartialEq {
    /// A digit or symbol that fits.
    fn place(number: u32) -> Self;

    /// Another one.
    #[cfg(test)]
    fn spoilt(self) -> Self;
}

impl Place for u8 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "below a radix of at most 256"
    )]
    fn place(number: u32) -> Self {
        number as Self
    }

    #[cfg(test)]
    fn spoilt(self) -> Self {
        self ^ 1
    }
}

impl Place for u16 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "below a radix of at most 65,536"
    )]
    fn place(number: u32) -> Self {
        number as Self
    }

    #[cfg(test)]
    fn spoilt(self) -> Self {
        self ^ 1
    }
}

#[cfg(test)]
fn spoil_if_asked<T: Place>(made: &mut [T]) {
    if super::super::spoil::is_asked() {
        let middle = made.len() / 2;
        made[middle] = made[middle].spoilt();
    }
}

/// Whether the second is what has to come of the first.
pub(super) type Judge<T> = Box<dyn FnMut(&[T], &[T]) -> bool + Send>;

fn word<T>(judge: &mut Judge<T>, from: &[T], made: &[T]) -> Check {
    match judge(from, made) {
        true => Check::Right,
        false => Check::Wrong,
    }
}

/// Takes what it made last and makes the next of it, in the other buffer.
pub(super) struct Apart<T, F> {
    from: Vec<T>,
    made: Vec<T>,
    act: F,
    judge: Judge<T>,
}

/// A worker that begins with `first`.
pub(super) fn apart<T, F>(first: Vec<T>, act: F, judge: Judge<T>) -> Box<dyn Worker>
where
    T: Place,
    F: FnMut(&[T], &mut [T]) -> Result<(), Fault> + Send + 'static,
{
    Box::new(Apart {
        from: first.clone(),
        made: first,
        act,
        judge,
    })
}

impl<T, F> Worker for Apart<T, F>
where
    T: Place,
    F: FnMut(&[T], &mut [T]) -> Result<(), Fault> + Send,
{
    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        std::mem::swap(&mut self.from, &mut self.made);
        (self.act)(black_box(&self.from), &mut self.made)?;
        black_box(&mut self.made);
        Ok(())
    }

    fn check(&mut self) -> Check {
        #[cfg(test)]
        spoil_if_asked(&mut self.made);
        word(&mut self.judge, &self.from, &self.made)
    }
}

/// Takes what it made last and makes the next of it where it stands. What stood there before the last
/// operation is kept for the judge; where many are timed together that is one copy for all of them.
pub(super) struct Within<T, F> {
    before: Vec<T>,
    value: Vec<T>,
    act: F,
    judge: Judge<T>,
}

/// A worker that begins with `first`.
pub(super) fn within<T, F>(first: Vec<T>, act: F, judge: Judge<T>) -> Box<dyn Worker>
where
    T: Place,
    F: FnMut(&mut [T]) -> Result<(), Fault> + Send + 'static,
{
    Box::new(Within {
        before: first.clone(),
        value: first,
        act,
        judge,
    })
}

impl<T, F> Worker for Within<T, F>
where
    T: Place,
    F: FnMut(&mut [T]) -> Result<(), Fault> + Send,
{
    fn operate(&mut self) -> Result<(), Fault> {
        self.repeat(1)
    }

    #[inline]
    fn repeat(&mut self, count: u64) -> Result<(), Fault> {
        for left in (0..count).rev() {
            if left == 0 {
                self.before.copy_from_slice(&self.value);
            }
            (self.act)(black_box(&mut self.value))?;
            black_box(&mut self.value);
        }
        Ok(())
    }

    fn check(&mut self) -> Check {
        #[cfg(test)]
        spoil_if_asked(&mut self.value);
        word(&mut self.judge, &self.before, &self.value)
    }
}
