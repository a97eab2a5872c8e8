//! A run over a file: threads take blocks in turn, work on them at once, and write them in their order.
//!
//! Each thread reads a block, changes it, and writes it or leaves it to whoever writes the block before; there is no
//! thread that only reads or only writes. What a thread holds is a few times the size of a block, whatever the size of
//! the file.

use std::io::{Seek as _, SeekFrom};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, MutexGuard, PoisonError};

use keywright_tabular::csv::Layout;

use crate::block::{Made, Worker};
use crate::checksum::Checksum;
use crate::error::Error;
use crate::feed::{Block, Fed, Feed};
use crate::files::{Files, Source, read_failed};
use crate::guard::Guard;
use crate::journal::{Checksums, Position};
use crate::order::Order;
use crate::plan::{Direction, Plan};
use crate::resume::{Stage, forget};
use crate::step::{Counts, Trouble};

/// How a run is carried out. None of it changes a byte of the output.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    threads: NonZeroUsize,
    block: Option<usize>,
    longest: usize,
    anew: bool,
}

impl Options {
    /// Bytes of the longest record, unless another limit is set.
    pub const LONGEST_RECORD: usize = 8 << 20;

    /// Over so many threads.
    #[must_use]
    pub const fn new(threads: NonZeroUsize) -> Self {
        Self {
            threads,
            block: None,
            longest: Self::LONGEST_RECORD,
            anew: false,
        }
    }

    /// Blocks of about so many bytes.
    #[must_use]
    pub const fn with_block(mut self, bytes: usize) -> Self {
        self.block = Some(bytes);
        self
    }

    /// Refuses records of more bytes than this.
    #[must_use]
    pub const fn with_longest_record(mut self, bytes: usize) -> Self {
        self.longest = bytes;
        self
    }

    /// Forgets what an interrupted run has left, instead of going on with it.
    #[must_use]
    pub const fn anew(mut self) -> Self {
        self.anew = true;
        self
    }

    /// How many threads.
    #[must_use]
    pub const fn threads(&self) -> NonZeroUsize {
        self.threads
    }

    /// Whether what an interrupted run has left is to be forgotten.
    #[must_use]
    pub const fn is_anew(&self) -> bool {
        self.anew
    }

    /// Blocks that stay in a core's cache, smaller where many threads have one each.
    fn block(&self) -> usize {
        let share = (16 << 20) / self.threads.get() / 4;
        self.block.unwrap_or(share.clamp(64 << 10, 256 << 10))
    }
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes of the input that are done.
    pub bytes: u64,
    /// All bytes of the input.
    pub size: u64,
    /// Rows that are done, those of earlier runs included.
    pub rows: u64,
}

impl Progress {
    /// So many bytes of all bytes, and so many rows, are done.
    #[must_use]
    pub const fn new(bytes: u64, size: u64, rows: u64) -> Self {
        Self { bytes, size, rows }
    }

    /// How far a run over a table is whose size in bytes says nothing.
    #[must_use]
    pub const fn of_rows(rows: u64) -> Self {
        Self::new(0, 0, rows)
    }
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Rows of the input.
    pub rows: u64,
    /// Lines of the input that these rows take; nothing where tables have no lines.
    pub lines: Option<u64>,
    /// Rows that went to the second file.
    pub rejected: u64,
    /// Rows that an earlier run had done.
    pub resumed: u64,
    /// Bytes of the output.
    pub bytes: u64,
    /// The columns of the plan, in the order of the file.
    pub columns: Vec<ColumnSummary>,
    /// Entries of the input's metadata that the output does not have, because they hold values of those columns or
    /// cannot be searched for them. In CSV there are none.
    pub left_out: Vec<String>,
}

impl Summary {
    /// What a run came to that is at its end.
    #[must_use]
    pub fn of(plan: &Plan, position: &Position, resumed: u64) -> Self {
        let columns = plan.columns().iter().zip(&position.counts);
        Self {
            rows: position.rows,
            lines: None,
            rejected: position.rejected,
            resumed,
            bytes: position.output,
            columns: columns
                .map(|(column, counts)| ColumnSummary {
                    name: column.name.clone(),
                    counts: *counts,
                })
                .collect(),
            left_out: Vec::new(),
        }
    }
}

/// What became of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnSummary {
    /// Its name.
    pub name: String,
    /// Its cells.
    pub counts: Counts,
}

/// Carries out a plan. `progress` hears of each block that is written, and may end the run, which then can be
/// gone on with.
///
/// # Errors
/// All branches of [`Error`] but those that [`Plan`] and [`Source`] give. After [`Error::Interrupted`],
/// [`Error::Read`], [`Error::Write`] and [`Error::Panicked`] what is done stays, and the same call goes on;
/// after others nothing is left.
pub fn run(
    source: &Source,
    plan: &Plan,
    files: &Files,
    options: &Options,
    progress: &mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send),
) -> Result<Summary, Error> {
    if options.anew {
        forget(files)?;
    }
    let mut guard = Guard::of_plan(source.layout(), plan)?;
    guard.judge_header(source.header())?;
    if plan.direction() == Direction::Protect {
        let names = source.layout().names().iter().map(String::as_str);
        guard.judge_names(names.enumerate())?;
    }
    let mut stage = Stage::open(source.input(), plan, files)?;
    let resumed = stage.position.rows;
    let result = all_blocks(source, plan, options, (&mut stage, progress));
    match result {
        Ok(()) => {
            let position = stage.finish()?;
            let header = keywright_tabular::csv::newlines(source.header());
            Ok(Summary {
                lines: Some(position.lines.saturating_sub(header)),
                ..Summary::of(plan, &position, resumed)
            })
        }
        Err(error) => {
            if !error.can_go_on() {
                stage.discard()?;
            }
            Err(error)
        }
    }
}

type Listener<'a> = &'a mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send);

fn all_blocks(
    source: &Source,
    plan: &Plan,
    options: &Options,
    (stage, progress): (&mut Stage<'_>, Listener<'_>),
) -> Result<(), Error> {
    if stage.position.rows == 0 && plan.direction() == Direction::Migrate {
        probe(source, plan, options)?;
    }
    stage.header(source)?;
    if !stage.is_complete(source.input()) {
        let threads = options.threads.get();
        let shared = Shared {
            layout: source.layout(),
            plan,
            source,
            block: options.block(),
            feed: Mutex::new(feed(source, options, stage.position.input)?),
            order: Order::new(options.threads),
            pen: Mutex::new(Pen { stage, progress }),
            failure: Mutex::new(None),
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                // Without a further thread the others do its part.
                let thread = std::thread::Builder::new();
                if thread.spawn_scoped(scope, || shared.work()).is_err() {
                    break;
                }
            }
            shared.work();
        });
        let Shared { pen, failure, .. } = shared;
        let failure = failure.into_inner();
        if let Some(failure) = failure.unwrap_or_else(PoisonError::into_inner) {
            return Err(failure);
        }
        let pen = pen.into_inner();
        let pen = pen.unwrap_or_else(PoisonError::into_inner);
        if !pen.stage.is_complete(source.input()) {
            return Err(Error::InputChanged {
                input: source.path().to_owned(),
            });
        }
    }
    Ok(())
}

/// The input from a place on.
fn feed(source: &Source, options: &Options, from: u64) -> Result<Feed, Error> {
    let failed = |error| read_failed(source.path(), error);
    let mut file = source.file().try_clone().map_err(failed)?;
    file.seek(SeekFrom::Start(from)).map_err(failed)?;
    let marks = source.layout().marks();
    Ok(Feed::new(file, marks, options.block(), options.longest))
}

/// Looks at the first block before anything is written: under a wrong key most values do not fit.
fn probe(source: &Source, plan: &Plan, options: &Options) -> Result<(), Error> {
    let mut feed = feed(source, options, source.header().len() as u64)?;
    let mut block = Block::new();
    let fed = feed.next(&mut block);
    let Fed::Block(_) = fed.map_err(|error| read_failed(source.path(), error))? else {
        return Ok(());
    };
    let mut worker = Worker::new(plan, source.layout())?;
    let lines = 1 + keywright_tabular::csv::newlines(source.header());
    let at = At {
        row: 1,
        line: lines,
    };
    let found = worker
        .survey(block.bytes())
        .map_err(|trouble| at.error(trouble, 0))?;
    for (column, cells, misfits) in found {
        if misfits * 2 > cells {
            return Err(Error::OldKey {
                column,
                misfits,
                cells,
            });
        }
    }
    Ok(())
}

/// What the threads share.
struct Shared<'s, 't, 'a> {
    layout: &'s Layout,
    plan: &'s Plan,
    source: &'s Source,
    /// Bytes that a block has as a rule.
    block: usize,
    feed: Mutex<Feed>,
    order: Order<Piece, Made>,
    pen: Mutex<Pen<'t, 'a>>,
    /// What ended the run before its end.
    failure: Mutex<Option<Error>>,
}

/// A block that is done, or has failed.
struct Piece {
    made: Made,
    worked: Result<(), Trouble>,
    /// Bytes that the block had in the input.
    bytes: usize,
    checksums: Checksums,
}

/// What it takes to write. The order lets one thread at a time have it.
struct Pen<'t, 'a> {
    stage: &'t mut Stage<'a>,
    progress: Listener<'t>,
}

impl Shared<'_, '_, '_> {
    /// One thread.
    fn work(&self) {
        let worked = std::panic::catch_unwind(AssertUnwindSafe(|| self.blocks()));
        match worked {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.fail(error),
            // Those who wait for this block would wait for ever.
            Err(_panic) => self.fail(Error::Panicked),
        }
    }

    fn fail(&self, error: Error) {
        locked(&self.failure).get_or_insert(error);
        self.order.close();
    }

    fn blocks(&self) -> Result<(), Error> {
        let mut worker = Worker::new(self.plan, self.layout)?;
        let mut block = Block::new();
        let most = self.block * 8;
        loop {
            let fed = locked(&self.feed).next(&mut block);
            let fed = fed.map_err(|error| read_failed(self.source.path(), error))?;
            let (number, worked) = match fed {
                Fed::End => return Ok(()),
                Fed::TooLong(number) => (number, Err(worker.too_long(block.bytes()))),
                Fed::Block(number) => (number, worker.run(block.bytes())),
            };
            let made = std::mem::take(&mut worker.made);
            let piece = Piece {
                checksums: Checksums {
                    input: Checksum::of(block.bytes()),
                    output: Checksum::of(&made.out),
                    rejects: Checksum::of(&made.rejects),
                },
                bytes: block.bytes().len(),
                made,
                worked,
            };
            let brought = self.order.bring(number, piece, |piece| {
                let made = locked(&self.pen).take(piece, self.source)?;
                Ok::<_, Error>(made.shrunk(most))
            });
            let Some(spare) = brought? else {
                return Ok(());
            };
            worker.made = spare;
            worker.shrink(most);
            if block.room() > most {
                block = Block::new();
            }
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pen<'_, '_> {
    /// Writes a block, and gives back what it was made of.
    fn take(&mut self, piece: Piece, source: &Source) -> Result<Made, Error> {
        let position = &self.stage.position;
        let at = At {
            row: position.rows + 1,
            line: position.lines + 1,
        };
        let bytes = piece.bytes;
        piece.worked.map_err(|trouble| at.error(trouble, bytes))?;
        self.stage.take(&piece.made, bytes, &piece.checksums)?;
        let told = Progress {
            bytes: self.stage.position.input,
            size: source.size(),
            rows: self.stage.position.rows,
        };
        match (self.progress)(&told) {
            ControlFlow::Continue(()) => Ok(piece.made),
            ControlFlow::Break(()) => Err(Error::Interrupted),
        }
    }
}

/// Where a block begins in the file.
#[derive(Clone, Copy, Debug)]
struct At {
    row: u64,
    line: u64,
}

impl At {
    /// Trouble of the block as an error of the file. `bytes` is how long the block is.
    fn error(self, trouble: Trouble, bytes: usize) -> Error {
        match trouble {
            Trouble::Table(broken) => broken.at(self.line).into(),
            Trouble::TooLong => keywright_tabular::Error::RecordTooLong {
                line: self.line,
                limit: bytes,
            }
            .into(),
            Trouble::Misfit {
                row,
                lines,
                column,
                misfit,
            } => Error::Misfit {
                row: self.row + row as u64,
                line: self.line + lines,
                column,
                misfit,
            },
            Trouble::Ambiguous { row, lines, cell } => {
                cell.at(self.row + row as u64, self.line + lines)
            }
            Trouble::Unquotable { row, lines, column } => Error::Unquotable {
                row: self.row + row as u64,
                line: self.line + lines,
                column,
            },
            Trouble::NotReversible { row, column } => Error::NotReversible {
                row: self.row + row as u64,
                column,
            },
            Trouble::Other(error) => *error,
        }
    }
}
