//! What a column is told beside its values, and what it tells of them.

use crate::error::{Error, Misfit};

/// What the tweaks of a column have from outside the values.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'s> {
    pub(super) column: &'s [u8],
    pub(super) caller: &'s [u8],
}

impl<'s> Scope<'s> {
    /// The name of the column, for the part `column`.
    #[must_use]
    pub const fn column(name: &'s str) -> Self {
        Self {
            column: name.as_bytes(),
            caller: &[],
        }
    }

    /// The tweak itself, for the policy `caller`.
    #[must_use]
    pub const fn caller(tweak: &'s [u8]) -> Self {
        Self {
            column: &[],
            caller: tweak,
        }
    }
}

/// What came of the cells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub(super) cells: usize,
    pub(super) empty: usize,
    pub(super) misfits: Vec<(usize, Misfit)>,
}

impl Report {
    /// All cells.
    #[must_use]
    pub const fn cells(&self) -> usize {
        self.cells
    }

    /// Cells that were empty, and stayed so.
    #[must_use]
    pub const fn empty(&self) -> usize {
        self.empty
    }

    /// The rows whose values do not fit, from 0 and in their order, with the reason. Their cells in the
    /// output are empty.
    #[must_use]
    pub fn misfits(&self) -> &[(usize, Misfit)] {
        &self.misfits
    }
}

/// Why one value was not processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the value's fault, or everything else"
)]
pub enum One {
    /// The value's.
    #[error("the value does not fit: {0}")]
    Misfit(Misfit),
    /// Everything else.
    #[error(transparent)]
    Error(#[from] Error),
}
