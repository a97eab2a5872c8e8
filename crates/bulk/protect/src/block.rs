//! One block of a file: its cells are gathered by column, changed column by column, and put back between the
//! bytes that stay.

use keywright_format::OnBad;
use keywright_tabular::csv::{Broken, Index, Layout, Marks, newlines};
use zeroize::Zeroizing;

use crate::cell;
use crate::error::Error;
use crate::guard::Guard;
use crate::plan::Plan;
use crate::step::{Counts, Gathered, Step, Trouble};

/// Works on blocks, one after the other. For one thread.
#[derive(Debug)]
pub(crate) struct Worker<'p> {
    marks: Marks,
    /// A file of one column, in which a record without bytes would be none.
    single: bool,
    index: Index,
    guard: Guard<'p>,
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
    /// Lines of the block; the last of a file may have no line end.
    pub(crate) lines: u64,
    /// Rows of it that went to the second file.
    pub(crate) rejected: u64,
}

impl Made {
    fn begin(&mut self, columns: usize) {
        self.out.clear();
        self.rejects.clear();
        self.counts.clear();
        self.counts.resize(columns, Counts::default());
        (self.rows, self.lines, self.rejected) = (0, 0, 0);
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
            marks: layout.marks(),
            single: layout.names().len() == 1,
            index,
            guard: Guard::of_plan(layout, plan)?,
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
        self.change(block)?;
        self.judge(block)?;
        self.count(block);
        self.put_back(block)?;
        Ok(())
    }

    /// Changes a block for the sake of its misfits: per column its name, cells that are not empty, and misfits.
    pub(crate) fn survey(&mut self, block: &[u8]) -> Result<Vec<(String, u64, u64)>, Trouble> {
        self.change(block)?;
        self.made.begin(self.steps.len());
        self.count(block);
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

    /// What is wrong with a record that is longer than the limit: often a quote in a wrong place is why.
    pub(crate) fn too_long(&mut self, begun: &[u8]) -> Trouble {
        match self.index.read(begun) {
            Err(broken @ (Broken::BareQuote { .. } | Broken::TextBehindQuote { .. })) => {
                Trouble::Table(broken)
            }
            _ => Trouble::TooLong,
        }
    }

    /// Reads a block, and makes the new texts of its columns.
    fn change(&mut self, block: &[u8]) -> Result<(), Trouble> {
        self.index.read(block).map_err(Trouble::Table)?;
        if let Some((row, cell)) = self.guard.judge_block(block, &self.index) {
            return Err(Trouble::Ambiguous {
                row,
                lines: self.lines_before(row, block),
                cell,
            });
        }
        for (place, gathered) in self.gathered.iter_mut().enumerate() {
            gathered.read(&self.index, place, block);
        }
        for step in &mut self.steps {
            step.run(&self.gathered, Some(self.marks))?;
        }
        Ok(())
    }

    /// Line ends of the block before a row.
    fn lines_before(&self, row: usize, block: &[u8]) -> u64 {
        newlines(block.get(..self.index.row(row).start).unwrap_or_default())
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
            return Err(Trouble::Misfit {
                row: *row,
                lines: self.lines_before(*row, block),
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

    fn count(&mut self, block: &[u8]) {
        let made = &mut self.made;
        for (step, counts) in self.steps.iter().zip(&mut made.counts) {
            *counts = step.counts(&self.gathered);
        }
        made.rows = self.index.rows() as u64;
        let is_cut = block.last().is_some_and(|last| *last != b'\n');
        made.lines = self.index.newlines() + u64::from(is_cut);
        made.rejected = self.rejected.len() as u64;
    }

    /// Everything in its place again.
    fn put_back(&mut self, block: &[u8]) -> Result<(), Trouble> {
        let (single, marks) = (self.single, self.marks);
        let Made { out, rejects, .. } = &mut self.made;
        let mut copied = 0;
        let mut rejected = self.rejected.iter().copied().peekable();
        let mut columns = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            columns.push((step, step.cells()?));
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
            for (step, cells) in &columns {
                let field = self.index.field(row, step.place());
                let raw = block.get(field.clone()).unwrap_or_default();
                if raw.is_empty() {
                    continue;
                }
                put(block, copied..field.start, out);
                copied = field.end;
                let text = cells.get(row);
                let quoted = marks.is_quoted(raw) && !(text.is_empty() && raw.len() > 2);
                // A record of one column without bytes would be an empty line at most.
                let needed = (single && text.is_empty())
                    || (step.quotes() && cell::needs_quotes(text, marks));
                if !quoted && !needed {
                    out.extend_from_slice(text);
                } else if marks.has_quotes() {
                    cell::write_quoted(text, out);
                } else {
                    return Err(Trouble::Unquotable {
                        row,
                        lines: newlines(block.get(..field.start).unwrap_or_default()),
                        column: step.name().to_owned(),
                    });
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
