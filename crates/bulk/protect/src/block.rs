//! One block of a file: its cells are gathered by column, changed column by column, and put back between the
//! bytes that stay.

use keywright_format::OnBad;
use keywright_tabular::csv::{Index, Layout};
use zeroize::Zeroizing;

use crate::cell;
use crate::error::Error;
use crate::plan::Plan;
use crate::step::{Counts, Gathered, Step, Trouble};

/// Works on blocks, one after the other. For one thread.
#[derive(Debug)]
pub(crate) struct Worker<'p> {
    separator: u8,
    /// A file of one column, in which a record without bytes would be none.
    single: bool,
    index: Index,
    gathered: Vec<Gathered>,
    steps: Vec<Step<'p>>,
    /// Rows that go to the second file, in order.
    rejected: Vec<usize>,
    /// What was made of the block that was read last.
    pub(crate) made: Made,
}

/// What a block has become.
#[derive(Debug, Default)]
pub(crate) struct Made {
    pub(crate) out: Zeroizing<Vec<u8>>,
    pub(crate) rejects: Zeroizing<Vec<u8>>,
    /// Of each column of the plan.
    pub(crate) counts: Vec<Counts>,
    /// Rows of the block.
    pub(crate) rows: u64,
    /// Line ends of the block.
    pub(crate) newlines: u64,
    /// Rows of it that went to the second file.
    pub(crate) rejected: u64,
}

impl Made {
    fn begin(&mut self, columns: usize) {
        self.out.clear();
        self.rejects.clear();
        self.counts.clear();
        self.counts.resize(columns, Counts::default());
        (self.rows, self.newlines, self.rejected) = (0, 0, 0);
    }

    /// Without what a long record has taken, so that not every block keeps the room of the longest.
    pub(crate) fn shrunk(self, limit: usize) -> Self {
        let largest = self.out.capacity().max(self.rejects.capacity());
        if largest <= limit {
            self
        } else {
            Self::default()
        }
    }
}

impl<'p> Worker<'p> {
    pub(crate) fn new(plan: &'p Plan, layout: &Layout) -> Result<Self, Error> {
        let index = Index::new(layout, plan.wanted())?;
        let steps = plan.columns().iter().map(Step::new).collect();
        Ok(Self {
            separator: layout.separator().byte(),
            single: layout.names().len() == 1,
            index,
            gathered: plan.wanted().iter().map(|_| Gathered::default()).collect(),
            steps,
            rejected: Vec::new(),
            made: Made::default(),
        })
    }

    /// Gives back what a long record has taken, so that threads do not keep the longest of all.
    pub(crate) fn shrink(&mut self, limit: usize) {
        for gathered in &mut self.gathered {
            if gathered.room() > limit {
                *gathered = Gathered::default();
            }
        }
    }

    /// Changes a block.
    pub(crate) fn run(&mut self, block: &[u8]) -> Result<(), Trouble> {
        self.made.begin(self.steps.len());
        self.rejected.clear();
        self.index.read(block).map_err(Trouble::Table)?;
        for (place, gathered) in self.gathered.iter_mut().enumerate() {
            gathered.read(&self.index, place, block);
        }
        for step in &mut self.steps {
            step.run(&self.gathered, Some(self.separator))?;
        }
        self.judge(block)?;
        self.count();
        self.put_back(block)?;
        Ok(())
    }

    /// Changes a block for the sake of its misfits: per column its name, cells that are not empty, and misfits.
    pub(crate) fn survey(&mut self, block: &[u8]) -> Result<Vec<(String, u64, u64)>, Trouble> {
        self.index.read(block).map_err(Trouble::Table)?;
        for (place, gathered) in self.gathered.iter_mut().enumerate() {
            gathered.read(&self.index, place, block);
        }
        for step in &mut self.steps {
            step.run(&self.gathered, Some(self.separator))?;
        }
        self.made.begin(self.steps.len());
        self.count();
        let told = self
            .steps
            .iter()
            .zip(&self.made.counts)
            .map(|(step, counts)| {
                let misfits = counts.nulled + counts.rejected;
                (step.name().to_owned(), counts.changed + misfits, misfits)
            });
        Ok(told.collect())
    }

    /// Stops at the first row that a rule does not let pass; collects those that go elsewhere.
    fn judge(&mut self, block: &[u8]) -> Result<(), Trouble> {
        let failing = self
            .steps
            .iter()
            .filter(|step| step.on_bad() == OnBad::Fail);
        let first = failing
            .filter_map(|step| step.misfits().first().map(|misfit| (step, misfit)))
            .min_by_key(|(_, (row, _))| *row);
        if let Some((step, (row, misfit))) = first {
            let before = block.get(..self.index.row(*row).start).unwrap_or_default();
            return Err(Trouble::Misfit {
                row: *row,
                lines: keywright_tabular::csv::newlines(before),
                column: step.name().to_owned(),
                misfit: *misfit,
            });
        }
        for step in &self.steps {
            if step.on_bad() == OnBad::Reject {
                let rows = step.misfits().iter().map(|(row, _)| *row);
                self.rejected.extend(rows);
            }
        }
        self.rejected.sort_unstable();
        self.rejected.dedup();
        Ok(())
    }

    fn count(&mut self) {
        let made = &mut self.made;
        for (step, counts) in self.steps.iter().zip(&mut made.counts) {
            *counts = step.counts(&self.gathered);
        }
        made.rows = self.index.rows() as u64;
        made.newlines = self.index.newlines();
        made.rejected = self.rejected.len() as u64;
    }

    /// Everything in its place again.
    fn put_back(&mut self, block: &[u8]) -> Result<(), Error> {
        let (single, separator) = (self.single, self.separator);
        let Made { out, rejects, .. } = &mut self.made;
        let mut copied = 0;
        let mut rejected = self.rejected.iter().copied().peekable();
        let mut columns = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            columns.push((step.place(), step.cells()?, step.quotes()));
        }
        out.reserve(block.len() + block.len() / 8);
        for row in 0..self.index.rows() {
            if rejected.next_if_eq(&row).is_some() {
                let whole = self.index.row(row);
                put(block, copied..whole.start, out);
                put(block, whole.clone(), rejects);
                copied = whole.end;
                continue;
            }
            for (place, cells, quotes) in &columns {
                let field = self.index.field(row, *place);
                let raw = block.get(field.clone()).unwrap_or_default();
                let Some(first) = raw.first() else { continue };
                put(block, copied..field.start, out);
                copied = field.end;
                let text = cells.get(row);
                // A record of one column without bytes would be an empty line at most.
                let vanishes = single && text.is_empty();
                let quoted = *first == b'"' && !(text.is_empty() && raw.len() > 2);
                let needed = *quotes && cell::needs_quotes(text, separator);
                if quoted || needed || vanishes {
                    cell::write_quoted(text, out);
                } else {
                    out.extend_from_slice(text);
                }
            }
        }
        put(block, copied..block.len(), out);
        Ok(())
    }
}

#[inline]
fn put(block: &[u8], range: std::ops::Range<usize>, out: &mut Vec<u8>) {
    out.extend_from_slice(block.get(range).unwrap_or_default());
}
