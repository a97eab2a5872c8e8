//! Columns in memory, for tables that are no CSV files: cells in, texts out, with the rules of a [`Plan`].

use keywright_format::{Cells, OnBad};

use crate::error::Error;
use crate::plan::Plan;
use crate::run::{ColumnSummary, Summary};
use crate::step::{Counts, Gathered, Step, Trouble};

/// Works on batches of rows, one after the other. For one thread.
#[derive(Debug)]
pub struct Columns<'p> {
    plan: &'p Plan,
    gathered: Vec<Gathered>,
    steps: Vec<Step<'p>>,
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
        let columns = plan.columns();
        Self {
            plan,
            gathered: plan.wanted().iter().map(|_| Gathered::default()).collect(),
            steps: columns.iter().map(Step::new).collect(),
            rejected: Vec::new(),
            rows: 0,
            rejected_rows: 0,
            counts: vec![Counts::default(); columns.len()],
        }
    }

    /// The columns of the table whose cells are needed, in their order.
    #[must_use]
    pub fn wanted(&self) -> &[usize] {
        self.plan.wanted()
    }

    /// Takes the cells of one of them; `place` counts the wanted ones. An absent value is an empty cell.
    pub fn put<'c>(&mut self, place: usize, cells: impl Iterator<Item = &'c [u8]>) {
        if let Some(gathered) = self.gathered.get_mut(place) {
            gathered.take(cells);
        }
    }

    /// Changes the cells of a batch.
    ///
    /// # Errors
    /// [`Error::Misfit`], with line 0, where a rule says to stop; [`Error::NotReversible`]; the caller's
    /// branches.
    pub fn run(&mut self) -> Result<(), Error> {
        let first = self.rows + 1;
        for step in &mut self.steps {
            step.run(&self.gathered, b',')
                .map_err(|trouble| wrong(trouble, first))?;
        }
        let rows = self.gathered.first().map_or(0, Gathered::rows);
        self.judge(first)?;
        self.rows += rows as u64;
        self.rejected_rows += self.rejected.len() as u64;
        for (step, sum) in self.steps.iter().zip(&mut self.counts) {
            sum.add(&step.counts(&self.gathered));
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
        let steps = self.steps.iter();
        steps
            .map(|step| Ok((step.place(), step.cells()?)))
            .collect()
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
        }
    }
}

/// Trouble of a batch as an error of the table, which has no lines.
fn wrong(trouble: Trouble, first: u64) -> Error {
    match trouble {
        Trouble::Misfit {
            row,
            column,
            misfit: Some(misfit),
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
        Trouble::Misfit { .. } | Trouble::Table(_) | Trouble::TooLong => Error::NothingToDo,
    }
}
