//! One block of a file: its cells are gathered by column, changed column by column, and put back between the
//! bytes that stay.

use keywright_format::OnBad;
use keywright_tabular::csv::{Index, Layout};
use zeroize::{Zeroize, Zeroizing};

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
    pub(crate) out: Zeroizing<Vec<u8>>,
    pub(crate) rejects: Zeroizing<Vec<u8>>,
    pub(crate) counts: Vec<Counts>,
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
            out: Zeroizing::new(Vec::new()),
            rejects: Zeroizing::new(Vec::new()),
            counts: vec![Counts::default(); plan.columns().len()],
        })
    }

    /// Rows of the block that was read last.
    pub(crate) fn rows(&self) -> u64 {
        self.index.rows() as u64
    }

    /// Line ends of the block that was read last.
    pub(crate) const fn newlines(&self) -> u64 {
        self.index.newlines()
    }

    /// Rows of it that went to the second file.
    pub(crate) fn rejected(&self) -> u64 {
        self.rejected.len() as u64
    }

    /// Gives back what a long record has taken, so that threads do not keep the longest of all.
    pub(crate) fn shrink(&mut self, limit: usize) {
        let largest = self.out.capacity().max(self.rejects.capacity());
        if largest <= limit {
            return;
        }
        self.out = Zeroizing::new(Vec::new());
        self.rejects = Zeroizing::new(Vec::new());
        for gathered in &mut self.gathered {
            *gathered = Gathered::default();
        }
    }

    /// Changes a block.
    pub(crate) fn run(&mut self, block: &[u8]) -> Result<(), Trouble> {
        self.out.clear();
        self.rejects.clear();
        self.rejected.clear();
        self.counts.fill(Counts::default());
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
        self.counts.fill(Counts::default());
        self.count();
        let told = self.steps.iter().zip(&self.counts).map(|(step, counts)| {
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
        for (step, counts) in self.steps.iter().zip(&mut self.counts) {
            *counts = step.counts(&self.gathered);
        }
    }

    /// Everything in its place again.
    fn put_back(&mut self, block: &[u8]) -> Result<(), Error> {
        let (single, separator) = (self.single, self.separator);
        let mut copied = 0;
        let mut rejected = self.rejected.iter().copied().peekable();
        let mut columns = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            columns.push((step.place(), step.cells()?, step.quotes()));
        }
        self.out.reserve(block.len() + block.len() / 8);
        for row in 0..self.index.rows() {
            if rejected.next_if_eq(&row).is_some() {
                let whole = self.index.row(row);
                put(block, copied..whole.start, &mut self.out);
                put(block, whole.clone(), &mut self.rejects);
                copied = whole.end;
                continue;
            }
            for (place, cells, quotes) in &columns {
                let field = self.index.field(row, *place);
                let raw = block.get(field.clone()).unwrap_or_default();
                let Some(first) = raw.first() else { continue };
                put(block, copied..field.start, &mut self.out);
                copied = field.end;
                let text = cells.get(row);
                // A record of one column without bytes would be an empty line at most.
                let vanishes = single && text.is_empty();
                let quoted = *first == b'"' && !(text.is_empty() && raw.len() > 2);
                let needed = *quotes && cell::needs_quotes(text, separator);
                if quoted || needed || vanishes {
                    cell::write_quoted(text, &mut self.out);
                } else {
                    self.out.extend_from_slice(text);
                }
            }
        }
        put(block, copied..block.len(), &mut self.out);
        Ok(())
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        self.out.zeroize();
    }
}

#[inline]
fn put(block: &[u8], range: std::ops::Range<usize>, out: &mut Vec<u8>) {
    out.extend_from_slice(block.get(range).unwrap_or_default());
}
