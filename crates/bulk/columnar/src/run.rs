//! A run over a columnar file: block by block, each of them committed to the journal; the output under its name when
//! it is whole.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;

use keywright_protect::{Files, Plan, Progress, Stage, Summary};

use crate::error::{Error, Trouble};
use crate::metadata::Metadata;
use crate::positional::Failure;
use crate::table::{Form, Table};
use crate::{arrow, parquet};

/// Carries out a plan. With more than one thread the caller's reads and changes while another writes; more than two
/// have nothing to do. `progress` hears of each batch, and may end the run, which then can be gone on with.
///
/// # Errors
/// All branches of [`Error`]. After those of [`Error::can_go_on`] what is done stays, and the same call goes on;
/// after others nothing is left.
pub fn run(
    table: &Table,
    plan: &Plan,
    files: &Files,
    threads: NonZeroUsize,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Summary, Error> {
    table.suits(plan)?;
    let metadata = table.metadata_of(plan)?;
    let mut stage = Stage::open(table.input(), plan, files)?;
    let resumed = stage.position().rows;
    if !stage.is_complete(table.input()) {
        let mut tick = Tick {
            progress,
            size: table.size(),
            rows: 0,
            done: 0,
            total: 1,
        };
        let failure = Failure::default();
        let order = Order {
            plan,
            metadata: &metadata,
            failure: &failure,
            threads,
        };
        let worked = guarded(|| match &table.form {
            Form::Arrow(table) => arrow::work(table, order, &mut stage, &mut tick),
            Form::Parquet(table) => parquet::work(table, order, &mut stage, &mut tick),
        });
        if let Err(trouble) = worked {
            let error = told(table, files, &failure, trouble);
            if !error.can_go_on() {
                stage.discard()?;
            }
            return Err(error);
        }
    }
    let position = stage.finish()?;
    let mut summary = Summary::of(plan, &position, resumed);
    summary.left_out = metadata.left_out;
    Ok(summary)
}

/// What lies behind an error: a disk that fails is not a damaged file.
fn told(table: &Table, files: &Files, failure: &Failure, trouble: Trouble) -> Error {
    if let Trouble::Error(error) = trouble {
        return *error;
    }
    if let Some(error) = failure.take() {
        return Error::write(files.output(), error);
    }
    let reading = match &table.form {
        Form::Arrow(table) => table.failure(),
        Form::Parquet(table) => &table.bytes.failure,
    };
    match reading.take() {
        Some(error) => Error::read(table.path(), error),
        None => trouble.of(table.path(), Some(files.output())),
    }
}

/// What is to be done, and by how many.
#[derive(Clone, Copy)]
pub(crate) struct Order<'r> {
    pub(crate) plan: &'r Plan,
    /// What the outputs keep of the metadata.
    pub(crate) metadata: &'r Metadata,
    /// Where a failure of the disk is noted.
    pub(crate) failure: &'r Failure,
    pub(crate) threads: NonZeroUsize,
}

/// How far a run is, for whoever listens.
pub(crate) struct Tick<'a> {
    progress: &'a mut dyn FnMut(&Progress) -> ControlFlow<()>,
    size: u64,
    rows: u64,
    /// Steps of the work, and how many of them are done.
    done: u64,
    total: u64,
}

impl Tick<'_> {
    /// A table of so many rows, each of which is gone through so many times.
    pub(crate) fn begin(&mut self, rows: u64, times: u64, done: u64) {
        self.rows = rows;
        self.total = rows.saturating_mul(times).max(1);
        self.done = done.saturating_mul(times);
    }

    /// So many rows were gone through once more.
    pub(crate) fn step(&mut self, rows: usize) -> Result<(), Trouble> {
        self.done = self.done.saturating_add(rows as u64).min(self.total);
        let share = |of: u64| {
            let part = u128::from(of) * u128::from(self.done) / u128::from(self.total);
            u64::try_from(part).unwrap_or(of)
        };
        match (self.progress)(&Progress::new(
            share(self.size),
            self.size,
            share(self.rows),
        )) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(keywright_protect::Error::Interrupted.into()),
        }
    }
}

/// Does what reads foreign bytes through the libraries. They promise errors and not panics for damaged files; a panic
/// is taken for the same.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, Trouble>) -> Result<T, Trouble> {
    std::panic::catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_panic| Err(Trouble::damaged("its parts contradict each other")))
}
