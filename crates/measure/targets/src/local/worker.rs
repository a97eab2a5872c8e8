//! The worker that most operations are: a function over a ring of inputs.
//!
//! The ring is made before anything is timed. It has a power of two of entries, so that the next one is
//! found with an `and`, and it is small enough to stay in the first cache where the payload allows it.

use std::hint::black_box;
use std::marker::PhantomData;

use keywright_measure::carry::Check;
use keywright_measure::{Fault, TargetError, Worker};

use super::output::Output;

/// One operation and how its output is judged.
pub(super) trait Act: Send {
    type Input: Send;
    type Output: Output;

    /// Does it. This is what is timed.
    fn act(&mut self, input: &Self::Input, output: &mut Self::Output) -> Result<(), Fault>;

    /// Whether this is the output of this input, by another way than the one that was timed.
    fn is_right(&mut self, input: &Self::Input, output: &Self::Output) -> bool;
}

/// Inputs, a power of two of them.
pub(super) struct Ring<I>(Box<[I]>);

impl<I> Ring<I> {
    /// Makes `1 << log2` inputs.
    pub(super) fn fill(
        log2: u32,
        mut make: impl FnMut() -> Result<I, TargetError>,
    ) -> Result<Self, TargetError> {
        let inputs: Result<Box<[I]>, _> = (0..1_u32 << log2).map(|_| make()).collect();
        inputs.map(Self)
    }

    fn place(&self, turn: usize) -> usize {
        turn & (self.0.len() - 1)
    }

    /// The input of this turn.
    #[inline]
    pub(super) fn at(&self, turn: usize) -> &I {
        &self.0[self.place(turn)]
    }

    /// As [`Ring::at`], to be changed.
    #[inline]
    pub(super) fn at_mut(&mut self, turn: usize) -> &mut I {
        &mut self.0[self.place(turn)]
    }
}

/// The ring of inputs this long: at most 64, at least 2, and 16 KiB together if that is possible.
pub(super) fn ring_of(bytes: usize) -> u32 {
    const TOGETHER: usize = 16 << 10;
    (TOGETHER / bytes.max(1)).clamp(2, 64).ilog2()
}

/// Does one act on one input after the other.
pub(super) struct Rotating<A: Act> {
    act: A,
    ring: Ring<A::Input>,
    turns: usize,
    output: A::Output,
}

/// A worker that does `act` and keeps its output in `first`.
pub(super) fn rotating<A: Act + 'static>(
    act: A,
    ring: Ring<A::Input>,
    first: A::Output,
) -> Box<dyn Worker> {
    Box::new(Rotating {
        act,
        ring,
        turns: 0,
        output: first,
    })
}

impl<A: Act> Worker for Rotating<A> {
    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        let input = black_box(self.ring.at(self.turns));
        self.turns = self.turns.wrapping_add(1);
        self.act.act(input, &mut self.output)?;
        black_box(&mut self.output);
        Ok(())
    }

    fn check(&mut self) -> Check {
        #[cfg(test)]
        if super::spoil::is_asked() {
            self.output.spoil();
        }
        let input = self.ring.at(self.turns.wrapping_sub(1));
        if self.act.is_right(input, &self.output) {
            Check::Right
        } else {
            Check::Wrong
        }
    }
}

/// An act whose right output is known beforehand and stands beside each input.
struct Answered<I, O, F> {
    act: F,
    types: PhantomData<fn(&I, &mut O)>,
}

impl<I, O, F> Act for Answered<I, O, F>
where
    I: Send,
    O: Output,
    F: FnMut(&I, &mut O) -> Result<(), Fault> + Send,
{
    type Input = (I, O);
    type Output = O;

    #[inline]
    fn act(&mut self, input: &Self::Input, output: &mut O) -> Result<(), Fault> {
        (self.act)(&input.0, output)
    }

    fn is_right(&mut self, input: &Self::Input, output: &O) -> bool {
        input.1.equals(output)
    }
}

/// A worker for a function whose answers were found by another way.
pub(super) fn answered<I, O, F>(ring: Ring<(I, O)>, first: O, act: F) -> Box<dyn Worker>
where
    I: Send + 'static,
    O: Output,
    F: FnMut(&I, &mut O) -> Result<(), Fault> + Send + 'static,
{
    let act = Answered {
        act,
        types: PhantomData,
    };
    rotating(act, ring, first)
}

/// The empty operation: what is left when everything that is timed is taken away.
pub(super) struct Null;

impl Worker for Null {
    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        black_box(());
        Ok(())
    }

    /// Nothing was made, and nothing is as it must be.
    fn check(&mut self) -> Check {
        Check::Right
    }
}

/// The same with one bit changed, which whoever accepts everything would accept too.
pub(super) fn changed(message: &[u8]) -> Vec<u8> {
    let mut changed = message.to_vec();
    if let Some(byte) = changed.last_mut() {
        *byte ^= 1;
    }
    changed
}
