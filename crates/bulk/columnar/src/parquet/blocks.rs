//! The blocks of a file, one after the other: written, and committed to the journal.

use std::io::Write as _;
use std::sync::Arc;

use keywright_encoding::{Reader, put_lp};
use keywright_format::OnBad;
use keywright_protect::{Checksum, Checksums, Counts, Direction, Stage};

use super::group::{Job, Pair};
use super::output::{MAGIC, Output};
use super::{Block, ParquetTable};
use crate::error::{Trouble, unwritable};
use crate::run::{Order, Tick};
use crate::sink::{checksum, tracked};
use crate::walk::{Walk, Way};

/// Carries out a plan from where the stage stands.
pub(crate) fn work(
    table: &ParquetTable,
    order: Order<'_>,
    stage: &mut Stage<'_>,
    tick: &mut Tick<'_>,
) -> Result<(), Trouble> {
    let plan = order.plan;
    let passes = plan.changes().map(|(_, _, on_bad)| match on_bad {
        OnBad::Reject => 2,
        _ => 1,
    });
    tick.begin(table.rows(), passes.sum(), stage.position().rows);
    let mut work = Work::open(table, order, stage)?;
    if stage.position().input == 0 {
        work.header(stage)?;
    }
    if stage.position().rows == 0 && plan.direction() == Direction::Migrate {
        work.job.probe()?;
    }
    let done = stage.notes().len();
    for block in table.blocks.iter().skip(done) {
        work.block(block, stage, tick)?;
    }
    work.footer(stage)
}

struct Work<'t> {
    job: Job<'t>,
    output: Output,
    rejects: Option<Output>,
    way: Way,
}

/// What was done in a block.
#[derive(Default)]
pub(super) struct Done {
    pub(super) rows: u64,
    pub(super) rejected: u64,
    pub(super) counts: Vec<Counts>,
}

impl<'t> Work<'t> {
    fn open(table: &'t ParquetTable, order: Order<'t>, stage: &Stage<'_>) -> Result<Self, Trouble> {
        let schema = table.metadata.file_metadata().schema_descr_ptr();
        let position = stage.position();
        let open = |file, there| -> Result<Output, Trouble> {
            let file = tracked(file, there, order.failure)?;
            Ok(Output::new(file, Arc::clone(&schema)))
        };
        let mut output = open(stage.output(), position.output)?;
        let mut rejects = match stage.rejects() {
            Some(file) => Some(open(file, position.rejects)?),
            None => None,
        };
        for note in stage.notes() {
            let mut reader = Reader::new(note);
            let cut = |_cut| Trouble::damaged("a note is cut short");
            output.take_note(reader.lp().map_err(cut)?)?;
            let second = reader.lp().map_err(cut)?;
            if let Some(rejects) = &mut rejects {
                rejects.take_note(second)?;
            }
        }
        Ok(Self {
            job: Job::new(table, order),
            output,
            rejects,
            way: Way::new(Walk::new(&table.bytes, position.input)),
        })
    }

    fn header(&mut self, stage: &mut Stage<'_>) -> Result<(), Trouble> {
        self.output.tracked.write_all(MAGIC)?;
        if let Some(rejects) = &mut self.rejects {
            rejects.tracked.write_all(MAGIC)?;
        }
        self.commit(stage, MAGIC.len() as u64, &Done::default(), &[])
    }

    fn block(
        &mut self,
        block: &Block,
        stage: &mut Stage<'_>,
        tick: &mut Tick<'_>,
    ) -> Result<(), Trouble> {
        let before = self.output.groups();
        let before_rejects = self.rejects.as_ref().map_or(0, Output::groups);
        let mut done = Done {
            counts: vec![Counts::default(); self.job.changes()],
            ..Done::default()
        };
        let first = stage.position().rows;
        for group in block.groups.clone() {
            let pair = Pair {
                way: &self.way,
                output: &mut self.output,
                rejects: self.rejects.as_mut(),
            };
            self.job.write(group, first, pair, (&mut done, tick))?;
        }
        let mut note = Vec::new();
        let own = self.output.note(before, self.job.table)?;
        let second = match &mut self.rejects {
            Some(rejects) => rejects.note(before_rejects, self.job.table)?,
            None => Vec::new(),
        };
        for part in [own, second] {
            put_lp(&mut note, &part).map_err(unwritable)?;
        }
        self.commit(stage, block.end, &done, &note)
    }

    /// Writes what stands at the end, of the second file only if there is something in it.
    fn footer(&mut self, stage: &mut Stage<'_>) -> Result<(), Trouble> {
        let (table, metadata) = (self.job.table, self.job.metadata);
        self.output.finish(table, metadata)?;
        if let Some(rejects) = &mut self.rejects {
            rejects.finish(table, metadata)?;
        }
        self.commit(stage, self.job.table.bytes.size(), &Done::default(), &[])
    }

    fn commit(
        &mut self,
        stage: &mut Stage<'_>,
        to: u64,
        done: &Done,
        note: &[u8],
    ) -> Result<(), Trouble> {
        let checksums = Checksums {
            input: self.way.walk().checksum(to)?,
            output: checksum(&mut self.output.tracked)?,
            rejects: match &mut self.rejects {
                Some(rejects) => checksum(&mut rejects.tracked)?,
                None => Checksum::of(&[]),
            },
        };
        let written = |output: &Output| output.tracked.bytes_written() as u64;
        let mut next = stage.position().clone();
        next.input = to;
        next.output = written(&self.output);
        next.rejects = self.rejects.as_ref().map_or(0, written);
        next.rows += done.rows;
        next.rejected += done.rejected;
        for (sum, counts) in next.counts.iter_mut().zip(&done.counts) {
            sum.add(counts);
        }
        Ok(stage.commit(next, &checksums, note)?)
    }
}
