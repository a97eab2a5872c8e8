//! Columns in memory, for tables that are no CSV files: cells in, texts out, with the rules of a [`Plan`].

use keywright_format::{Cells, OnBad};

use crate::error::Error;
use crate::plan::Plan;
use crate::run::{ColumnSummary, Summary};
use crate::step::{Counts, Gathered, Step, Trouble};

/// Works on batches of rows, one after the other. For one thread.
#[derive(Debug)]
pub struct Columns<'p> {
    gathered: Vec<Gathered>,
    steps: Vec<Step<'p>>,
    /// Columns of the table that are needed, and their places in the plan.
    wanted: Vec<usize>,
    places: Vec<usize>,
    rejected: Vec<usize>,
    /// Rows of the batches so far.
    rows: u64,
    rejected_rows: u64,
    counts: Vec<Counts>,
}

impl<'p> Columns<'p> {
    /// Buffers are made as they are needed.
    #[must_use]
    pub fn new(plan: &'p Plan) -> Self {
        let steps = plan.columns().iter().map(Step::new).collect();
        Self::with(plan, steps, (0..plan.wanted().len()).collect())
    }

    /// Behind the first `rows` rows of a table.
    #[must_use]
    pub fn behind(plan: &'p Plan, rows: u64) -> Self {
        Self {
            rows,
            ..Self::new(plan)
        }
    }

    /// For one of the columns that change, alone: the one at this place of [`Plan::changes`]. Rows are counted
    /// behind the first `rows` of the table.
    #[must_use]
    pub fn single(plan: &'p Plan, change: usize, rows: u64) -> Self {
        let column = plan.columns().get(change);
        let places = column.map(crate::plan::ColumnPlan::places);
        let steps = column.into_iter().map(Step::new).collect();
        Self {
            rows,
            ..Self::with(plan, steps, places.unwrap_or_default())
        }
    }

    fn with(plan: &'p Plan, steps: Vec<Step<'p>>, places: Vec<usize>) -> Self {
        let wanted = places.iter();
        let wanted = wanted.filter_map(|place| plan.wanted().get(*place).copied());
        Self {
            gathered: plan.wanted().iter().map(|_| Gathered::default()).collect(),
            counts: vec![Counts::default(); steps.len()],
            steps,
            wanted: wanted.collect(),
            places,
            rejected: Vec::new(),
            rows: 0,
            rejected_rows: 0,
        }
    }

    /// The columns of the table whose cells are needed, in their order.
    #[must_use]
    pub fn wanted(&self) -> &[usize] {
        &self.wanted
    }

    /// Takes the cells of one of them; `place` counts the wanted ones. An absent value is an empty cell.
    pub fn put<'c>(&mut self, place: usize, cells: impl Iterator<Item = &'c [u8]>) {
        let place = self.places.get(place);
        if let Some(gathered) = place.and_then(|place| self.gathered.get_mut(*place)) {
            gathered.take(cells);
        }
    }

    /// As [`Columns::put`], for cells that lie one behind the other in `bytes`: each between an offset and the next.
    /// Offsets that fall, or go beyond the bytes, are [`Error::Rule`] of the run.
    pub fn put_piece(&mut self, place: usize, bytes: &[u8], offsets: impl Iterator<Item = usize>) {
        let place = self.places.get(place);
        if let Some(gathered) = place.and_then(|place| self.gathered.get_mut(*place)) {
            gathered.take_piece(bytes, offsets);
        }
    }

    fn batch_rows(&self) -> usize {
        let first = self
            .places
            .first()
            .and_then(|place| self.gathered.get(*place));
        first.map_or(0, Gathered::rows)
    }

    /// Changes the cells of a batch.
    ///
    /// # Errors
    /// [`Error::Misfit`], with line 0, where a rule says to stop; [`Error::NotReversible`]; the caller's
    /// branches.
    pub fn run(&mut self) -> Result<(), Error> {
        let first = self.rows + 1;
        self.change(first)?;
        self.judge(first)?;
        self.rows += self.batch_rows() as u64;
        self.rejected_rows += self.rejected.len() as u64;
        for (step, sum) in self.steps.iter().zip(&mut self.counts) {
            sum.add(&step.counts(&self.gathered));
        }
        Ok(())
    }

    /// Changes the cells of a batch for the sake of those that do not fit, and counts nothing: under a wrong old
    /// key most of them do not.
    ///
    /// # Errors
    /// [`Error::OldKey`] then; the caller's branches.
    pub fn probe(&mut self) -> Result<(), Error> {
        self.change(self.rows + 1)?;
        for step in &self.steps {
            let counts = step.counts(&self.gathered);
            let misfits = counts.nulled + counts.rejected;
            let cells = counts.changed + misfits;
            if misfits * 2 > cells {
                return Err(Error::OldKey {
                    column: step.name().to_owned(),
                    misfits,
                    cells,
                });
            }
        }
        Ok(())
    }

    /// Changes the cells of a batch that are no rows, such as the values of a dictionary, and counts nothing. What
    /// does not fit becomes empty, whatever the rule says.
    ///
    /// # Errors
    /// [`Error::NotReversible`]; the caller's branches.
    pub fn translate(&mut self) -> Result<(), Error> {
        self.rejected.clear();
        self.change(self.rows + 1)
    }

    fn change(&mut self, first: u64) -> Result<(), Error> {
        for step in &mut self.steps {
            step.run(&self.gathered, None)
                .map_err(|trouble| wrong(trouble, first))?;
        }
        Ok(())
    }

    fn judge(&mut self, first: u64) -> Result<(), Error> {
        self.rejected.clear();
        let mut worst = None;
        for step in &self.steps {
            match step.on_bad() {
                OnBad::Fail => {
                    let own = step.misfits().first();
                    let own = own.map(|(row, misfit)| (*row, step.name(), *misfit));
                    worst = worst.into_iter().chain(own).min_by_key(|(row, ..)| *row);
                }
                OnBad::Reject => {
                    let rows = step.misfits().iter().map(|(row, _)| *row);
                    self.rejected.extend(rows);
                }
                OnBad::Null => {}
            }
        }
        self.rejected.sort_unstable();
        self.rejected.dedup();
        match worst {
            None => Ok(()),
            Some((row, column, misfit)) => Err(wrong(
                Trouble::Misfit {
                    row,
                    lines: 0,
                    column: column.to_owned(),
                    misfit,
                },
                first,
            )),
        }
    }

    /// The new texts of the columns that change: the place among the wanted ones, and the cells. What does not
    /// fit is empty.
    ///
    /// # Errors
    /// [`Error::Rule`] does not happen after [`Columns::run`].
    pub fn changed(&self) -> Result<Vec<(usize, Cells<'_>)>, Error> {
        let place = |step: &Step<'_>| {
            let mut places = self.places.iter();
            places.position(|place| *place == step.place())
        };
        let steps = self.steps.iter();
        steps
            .map(|step| Ok((place(step).unwrap_or_default(), step.cells()?)))
            .collect()
    }

    /// What became of the cells of the columns, over all batches.
    #[must_use]
    pub fn counts(&self) -> &[Counts] {
        &self.counts
    }

    /// The rows of the batch that belong into the second table, in order.
    #[must_use]
    pub fn rejected(&self) -> &[usize] {
        &self.rejected
    }

    /// What all batches came to, in a table of so many bytes.
    #[must_use]
    pub fn summary(&self, bytes: u64) -> Summary {
        let columns = self.steps.iter().zip(&self.counts);
        Summary {
            lines: None,
            rows: self.rows,
            rejected: self.rejected_rows,
            resumed: 0,
            bytes,
            columns: columns
                .map(|(step, counts)| ColumnSummary {
                    name: step.name().to_owned(),
                    counts: *counts,
                })
                .collect(),
            left_out: Vec::new(),
        }
    }
}

/// Trouble of a batch as an error of the table, which has no lines.
fn wrong(trouble: Trouble, first: u64) -> Error {
    match trouble {
        Trouble::Misfit {
            row,
            column,
            misfit,
            ..
        } => Error::Misfit {
            row: first + row as u64,
            line: 0,
            column,
            misfit,
        },
        Trouble::NotReversible { row, column } => Error::NotReversible {
            row: first + row as u64,
            column,
        },
        Trouble::Other(error) => *error,
        // There are no quotes and no records here.
        Trouble::Ambiguous { .. }
        | Trouble::Unquotable { .. }
        | Trouble::Table(_)
        | Trouble::TooLong => Error::NothingToDo,
    }
}
