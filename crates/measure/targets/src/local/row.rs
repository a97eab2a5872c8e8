//! What the maker of an operation is told, and the inputs that it draws from the seed.
//!
//! Inputs depend on the seed, the operation's name and the worker's number, so two runs with one seed do
//! the same work and two workers do not. Keys that are drawn here are known to everybody who knows the
//! seed: they protect nothing but inputs of a measurement.

use keywright_measure::{Fault, FaultPhase, TargetError};
use keywright_primitives::hash::Blake3;
use keywright_secret::Secret;

use crate::operation::Setting;

/// A row of the table, and what it is made in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    /// The operation's name.
    pub(super) name: &'static str,
    /// Payload bytes of one operation.
    pub(super) bytes: usize,
    /// Seed, worker and folder.
    pub(super) setting: &'a Setting<'a>,
}

impl Row<'_> {
    /// What went wrong while it was prepared: a fault, and nothing that this program lacks.
    pub(super) fn fails(&self, reason: impl ToString) -> TargetError {
        TargetError::Failed {
            target: TARGET.to_owned(),
            operation: self.name.to_owned(),
            reason: reason.to_string(),
        }
    }

    /// What keeps this operation from being measured here, although nothing is wrong.
    pub(super) fn lacks(&self, reason: impl ToString) -> TargetError {
        TargetError::Unsupported {
            target: TARGET.to_owned(),
            operation: self.name.to_owned(),
            reason: reason.to_string(),
        }
    }

    /// The source of its inputs.
    pub(super) fn seeded(&self) -> Seeded {
        let index = self.setting.index.to_be_bytes();
        Seeded::labelled(self.setting.seed, &[&index, self.name.as_bytes()].concat())
    }
}

/// The kind of target of every operation here.
pub(super) const TARGET: &str = "local";

/// Bytes that depend on the seed: BLAKE3's extended output, once for each draw.
pub(super) struct Seeded {
    start: Blake3,
    drawn: u64,
}

impl Seeded {
    /// What one label draws from the seed.
    pub(super) fn labelled(seed: u64, label: &[u8]) -> Self {
        let mut start = Blake3::new();
        start.update(b"keywright/measure/local");
        start.update(&seed.to_be_bytes());
        // Behind the label stands the number of the draw, which has a fixed length.
        start.update(label);
        Self { start, drawn: 0 }
    }

    pub(super) fn fill(&mut self, out: &mut [u8]) {
        let mut draw = self.start.clone();
        draw.update(&self.drawn.to_be_bytes());
        draw.finish_into(out);
        self.drawn += 1;
    }

    pub(super) fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut out = [0; N];
        self.fill(&mut out);
        out
    }

    pub(super) fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut out = vec![0; length];
        self.fill(&mut out);
        out
    }

    pub(super) fn secret<const N: usize>(&mut self) -> Secret<N> {
        Secret::from_fill(|out| self.fill(out))
    }
}

/// The operation could not be done: the backend, the format or the system refused.
pub(super) fn refused<E>(_: E) -> Fault {
    Fault::new(FaultPhase::Operation, "refused")
}

/// What had to be accepted was rejected. It is a failure at once, so that no run can count it as a fast
/// success.
pub(super) fn rejected<E>(_: E) -> Fault {
    Fault::new(FaultPhase::Operation, "rejected")
}
