//! One column at work: its cells, what is made of them, and what does not fit.

use keywright_format::{Cells, Column, Misfit, OnBad, Output};
use keywright_tabular::csv::{Broken, Index, Marks};
use zeroize::Zeroizing;

use crate::cell;
use crate::error::Error;
use crate::guard::AmbiguousCell;
use crate::plan::{Change, ColumnPlan, Keyed};

/// What became of the cells of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Cells with something else in them now.
    pub changed: u64,
    /// Cells that were empty, and stayed so.
    pub empty: u64,
    /// Cells that did not fit, and are empty now.
    pub nulled: u64,
    /// Cells that did not fit, and whose rows went to the second file.
    pub rejected: u64,
}

impl Counts {
    /// Takes the counts away that these had before.
    pub const fn subtract(&mut self, before: &Self) {
        self.changed = self.changed.saturating_sub(before.changed);
        self.empty = self.empty.saturating_sub(before.empty);
        self.nulled = self.nulled.saturating_sub(before.nulled);
        self.rejected = self.rejected.saturating_sub(before.rejected);
    }

    /// Takes the counts of other cells to these.
    pub const fn add(&mut self, other: &Self) {
        self.changed += other.changed;
        self.empty += other.empty;
        self.nulled += other.nulled;
        self.rejected += other.rejected;
    }
}

/// What is wrong with a block. Rows count from 0 at its beginning; the file gives them their numbers.
#[derive(Debug)]
pub(crate) enum Trouble {
    Table(Broken),
    TooLong,
    Misfit {
        row: usize,
        /// Line ends before the row.
        lines: u64,
        column: String,
        misfit: Misfit,
    },
    NotReversible {
        row: usize,
        column: String,
    },
    /// A cell that may be rows. Lines are counted up to its record.
    Ambiguous {
        row: usize,
        lines: u64,
        cell: AmbiguousCell,
    },
    /// A text that needs quotes in a file that has none.
    Unquotable {
        row: usize,
        lines: u64,
        column: String,
    },
    Other(Box<Error>),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Other(Box::new(error))
    }
}

/// Cells of a column, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    bytes: Zeroizing<Vec<u8>>,
    offsets: Vec<usize>,
}

impl Gathered {
    /// Takes the cells of one of the columns that an index looks for.
    pub(crate) fn read(&mut self, index: &Index, place: usize, block: &[u8]) {
        self.bytes.clear();
        self.offsets.clear();
        self.offsets.reserve(index.rows() + 1);
        self.offsets.push(0);
        for row in 0..index.rows() {
            let raw = block.get(index.field(row, place)).unwrap_or_default();
            cell::meaning(raw, index.marks(), &mut self.bytes);
            self.offsets.push(self.bytes.len());
        }
    }

    /// Takes the cells of a column whose cells are what they mean.
    pub(crate) fn take<'c>(&mut self, cells: impl Iterator<Item = &'c [u8]>) {
        self.bytes.clear();
        self.offsets.clear();
        self.offsets.push(0);
        for cell in cells {
            self.bytes.extend_from_slice(cell);
            self.offsets.push(self.bytes.len());
        }
    }

    /// Takes cells that lie one behind the other: each between an offset and the next.
    pub(crate) fn take_piece(&mut self, bytes: &[u8], offsets: impl Iterator<Item = usize>) {
        self.bytes.clear();
        self.offsets.clear();
        self.bytes.extend_from_slice(bytes);
        self.offsets.extend(offsets);
    }

    /// Bytes that it has room for.
    pub(crate) fn room(&self) -> usize {
        self.bytes.capacity()
    }

    pub(crate) fn rows(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    fn cells(&self) -> Result<Cells<'_>, keywright_format::Error> {
        Cells::offsets(&self.bytes, &self.offsets)
    }
}

/// A column at work.
#[derive(Debug)]
pub(crate) struct Step<'p> {
    plan: &'p ColumnPlan,
    engine: Engine<'p>,
    made: Texts,
    /// Rows that do not fit, in order.
    misfits: Vec<(usize, Misfit)>,
    quotes: bool,
}

#[derive(Debug)]
enum Engine<'p> {
    Protect(Column<'p>, &'p Keyed),
    Reveal(Column<'p>, &'p Keyed),
    Mask,
    Migrate(Box<Moving<'p>>),
}

/// From tokens to tokens.
#[derive(Debug)]
struct Moving<'p> {
    old: Column<'p>,
    new: Column<'p>,
    both: &'p (Keyed, Keyed),
    clear: Output,
    again: Output,
}

impl Moving<'_> {
    /// Every value is revealed from its new token before that is written.
    fn run(
        &mut self,
        cells: Cells<'_>,
        all: &[Gathered],
        out: &mut Output,
        misfits: &mut Vec<(usize, Misfit)>,
    ) -> Result<(), Failed> {
        let (before, after) = (rows(&self.both.0, all)?, rows(&self.both.1, all)?);
        let report = self.old.reveal(cells, &before, &mut self.clear)?;
        misfits.extend(report.misfits());
        let report = self.new.protect(self.clear.cells(), &after, out)?;
        misfits.extend(report.misfits());
        misfits.sort_by_key(|(row, _)| *row);
        self.new.reveal(out.cells(), &after, &mut self.again)?;
        let differs = |row: &usize| {
            let fits = misfits.binary_search_by_key(row, |(row, _)| *row).is_err();
            fits && self.again.cells().get(*row) != self.clear.cells().get(*row)
        };
        match (0..cells.len()).find(differs) {
            Some(row) => Err(Failed::NotReversible(row)),
            None => Ok(()),
        }
    }
}

/// New texts of a column.
#[derive(Debug)]
enum Texts {
    Cells(Output),
    Masked(Zeroizing<Vec<u8>>, Vec<usize>),
}

impl Texts {
    fn cells(&self) -> Result<Cells<'_>, keywright_format::Error> {
        match self {
            Self::Cells(output) => Ok(output.cells()),
            Self::Masked(bytes, offsets) => Cells::offsets(bytes, offsets),
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Cells(output) => output.bytes(),
            Self::Masked(bytes, _) => bytes,
        }
    }
}

impl<'p> Step<'p> {
    pub(crate) fn name(&self) -> &'p str {
        &self.plan.name
    }

    pub(crate) const fn on_bad(&self) -> OnBad {
        self.plan.on_bad
    }

    pub(crate) const fn place(&self) -> usize {
        self.plan.place
    }

    /// Whether one of the new texts may need quotes.
    pub(crate) const fn quotes(&self) -> bool {
        self.quotes
    }

    /// Rows that do not fit, in order.
    pub(crate) fn misfits(&self) -> &[(usize, Misfit)] {
        &self.misfits
    }

    /// The new texts.
    pub(crate) fn cells(&self) -> Result<Cells<'_>, Error> {
        self.made.cells().map_err(|source| self.wrong(source))
    }

    /// What became of the cells.
    pub(crate) fn counts(&self, all: &[Gathered]) -> Counts {
        let bad = self.misfits.len() as u64;
        let (rows, empty) = all.get(self.plan.place).map_or((0, 0), |own| {
            let pairs = own.offsets.windows(2);
            let empty = pairs.filter(|pair| pair[0] == pair[1]).count();
            (own.rows() as u64, empty as u64)
        });
        let (nulled, rejected) = match self.plan.on_bad {
            OnBad::Null => (bad, 0),
            _ => (0, bad),
        };
        Counts {
            changed: rows - bad - empty,
            empty,
            nulled,
            rejected,
        }
    }

    pub(crate) fn new(plan: &'p ColumnPlan) -> Self {
        let of = |keyed: &'p Keyed| Column::new(&keyed.key, keyed.scope());
        let engine = match &plan.change {
            Change::Protect(keyed) => Engine::Protect(of(keyed), keyed),
            Change::Reveal(keyed) => Engine::Reveal(of(keyed), keyed),
            Change::Mask(_) => Engine::Mask,
            Change::Migrate(both) => Engine::Migrate(Box::new(Moving {
                old: of(&both.0),
                new: of(&both.1),
                both,
                clear: Output::new(),
                again: Output::new(),
            })),
        };
        let made = match engine {
            Engine::Mask => Texts::Masked(Zeroizing::new(Vec::new()), Vec::new()),
            _ => Texts::Cells(Output::new()),
        };
        Self {
            plan,
            engine,
            made,
            misfits: Vec::new(),
            quotes: false,
        }
    }

    fn wrong(&self, source: keywright_format::Error) -> Error {
        Error::Rule {
            column: self.plan.name.clone(),
            source,
        }
    }

    /// In a file with separators new texts may need quotes.
    pub(crate) fn run(&mut self, all: &[Gathered], marks: Option<Marks>) -> Result<(), Trouble> {
        self.misfits.clear();
        let Some(own) = all.get(self.plan.place) else {
            return Ok(());
        };
        match self.change(own, all) {
            Ok(()) => {}
            Err(Failed::Format(source)) => return Err(self.wrong(source).into()),
            Err(Failed::NotReversible(row)) => {
                return Err(Trouble::NotReversible {
                    row,
                    column: self.plan.name.clone(),
                });
            }
        }
        self.quotes = marks.is_some_and(|marks| cell::may_need_quotes(self.made.bytes(), marks));
        Ok(())
    }

    fn change(&mut self, own: &Gathered, all: &[Gathered]) -> Result<(), Failed> {
        let cells = own.cells()?;
        match (&mut self.engine, &mut self.made) {
            (Engine::Protect(column, keyed), Texts::Cells(out)) => {
                let rows = rows(keyed, all)?;
                let report = column.protect(cells, &rows, out)?;
                self.misfits.extend(report.misfits());
                let sample = sample(&cells, &self.misfits);
                back(sample, &cells, &rows, |row, rows| {
                    column.reveal_one(out.cells().get(row), rows)
                })
            }
            (Engine::Reveal(column, keyed), Texts::Cells(out)) => {
                let rows = rows(keyed, all)?;
                let report = column.reveal(cells, &rows, out)?;
                self.misfits.extend(report.misfits());
                let sample = sample(&cells, &self.misfits);
                back(sample, &cells, &rows, |row, rows| {
                    column.protect_one(out.cells().get(row), rows)
                })
            }
            (Engine::Migrate(moving), Texts::Cells(out)) => {
                moving.run(cells, all, out, &mut self.misfits)
            }
            (Engine::Mask, Texts::Masked(out, offsets)) => {
                if let Change::Mask(masker) = &self.plan.change {
                    out.clear();
                    offsets.clear();
                    offsets.push(0);
                    for row in 0..cells.len() {
                        masker.apply(cells.get(row), out);
                        offsets.push(out.len());
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Why a column stops.
enum Failed {
    Format(keywright_format::Error),
    NotReversible(usize),
}

impl From<keywright_format::Error> for Failed {
    fn from(error: keywright_format::Error) -> Self {
        Self::Format(error)
    }
}

/// The cells that tweaks are made of.
fn rows<'a>(keyed: &Keyed, all: &'a [Gathered]) -> Result<Vec<Cells<'a>>, keywright_format::Error> {
    let places = keyed.rows.iter().filter_map(|place| all.get(*place));
    places.map(Gathered::cells).collect()
}

/// The first row that has a value which fits.
fn sample(cells: &Cells<'_>, misfits: &[(usize, Misfit)]) -> Option<usize> {
    let fits = |row: &usize| misfits.iter().all(|(bad, _)| bad != row);
    (0..cells.len().min(64)).find(|row| !cells.get(*row).is_empty() && fits(row))
}

/// Whether one value of the block comes back.
fn back(
    sample: Option<usize>,
    cells: &Cells<'_>,
    rows: &[Cells<'_>],
    make: impl FnOnce(usize, &[&[u8]]) -> Result<Vec<u8>, keywright_format::One>,
) -> Result<(), Failed> {
    let Some(row) = sample else { return Ok(()) };
    let own: Vec<&[u8]> = rows.iter().map(|cells| cells.get(row)).collect();
    match make(row, &own).map(Zeroizing::new) {
        Ok(back) if back.as_slice() == cells.get(row) => Ok(()),
        Err(keywright_format::One::Error(error)) => Err(Failed::Format(error)),
        _ => Err(Failed::NotReversible(row)),
    }
}
