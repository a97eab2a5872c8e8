//! The work on a column: blocks that stay in the cache, over one thread or several.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use arrow_buffer::NullBuffer;
use keywright_format::{Column, FormatKey, Misfit, Output, Scope};

use crate::cells::{Made, Offset, Values};
use crate::failure::Failure;

/// Rows that are worked on together: few enough to stay in the cache, and many enough for the engine.
const BLOCK: usize = 8_192;

/// Below so many rows a second thread costs more than it brings.
const ROWS_OF_A_THREAD: usize = 16_384;

/// To tokens or from tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Forth,
    Back,
}

/// What becomes of a value that does not fit. Letting it through does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnBad {
    Fail,
    Null,
    /// Null in its place, and its row told.
    Reject,
}

impl OnBad {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Null => "null",
            Self::Reject => "reject",
        }
    }
}

/// One column to work on.
pub(crate) struct Task<'a> {
    pub(crate) key: &'a FormatKey,
    pub(crate) direction: Direction,
    pub(crate) scope: Scope<'a>,
    pub(crate) values: Values<'a>,
    /// The columns that the tweak policy names.
    pub(crate) rows: &'a [Values<'a>],
    /// Rows that hold nothing, whatever their bytes are.
    pub(crate) absent: Option<&'a NullBuffer>,
    pub(crate) on_bad: OnBad,
    pub(crate) threads: usize,
}

/// A column that was made, and the rows that did not fit.
pub(crate) struct Done<O> {
    pub(crate) made: Made<O>,
    pub(crate) misfits: Vec<(usize, Misfit)>,
}

/// The next start of a part that no thread has begun.
fn next(starts: &Mutex<impl Iterator<Item = usize>>) -> Option<usize> {
    let mut starts = starts.lock().unwrap_or_else(PoisonError::into_inner);
    starts.next()
}

impl Task<'_> {
    /// Does it.
    pub(crate) fn run<O: Offset>(&self) -> Result<Done<O>, Failure> {
        let rows = self.values.rows();
        if let Some(wrong) = self.rows.iter().find(|own| own.rows() != rows) {
            let text = format!("{rows} rows expected for the tweak, {} given", wrong.rows());
            return Err(Failure::parameter("tweak_parts", text));
        }
        let threads = self.threads.min(rows / ROWS_OF_A_THREAD).max(1);
        let done = if threads == 1 {
            self.part(0..rows)?
        } else {
            self.over_threads(rows.div_ceil(threads))?
        };
        if self.on_bad == OnBad::Fail && !done.misfits.is_empty() {
            return Err(Failure::misfits(&done.misfits));
        }
        Ok(done)
    }

    fn over_threads<O: Offset>(&self, share: usize) -> Result<Done<O>, Failure> {
        let rows = self.values.rows();
        let starts = Mutex::new((0..rows).step_by(share));
        let parts = Mutex::new(Vec::new());
        let run = || {
            while let Some(start) = next(&starts) {
                let part = self.part::<O>(start..rows.min(start + share));
                let mut parts = parts.lock().unwrap_or_else(PoisonError::into_inner);
                parts.push((start, part));
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..rows.div_ceil(share) {
                // Where the system gives no thread, the others do its part.
                if std::thread::Builder::new()
                    .spawn_scoped(scope, run)
                    .is_err()
                {
                    break;
                }
            }
            run();
        });
        let mut parts = parts.into_inner().unwrap_or_else(PoisonError::into_inner);
        parts.sort_by_key(|(start, _)| *start);
        let mut all = Done {
            made: Made::with_room(rows, self.values.extent()),
            misfits: Vec::new(),
        };
        for (_, part) in parts {
            let mut part = part?;
            let ends = part.made.offsets.iter().skip(1).map(|end| end.place());
            all.made.append(&part.made.bytes, ends)?;
            all.misfits.append(&mut part.misfits);
        }
        Ok(all)
    }

    /// Some rows, on this thread.
    fn part<O: Offset>(&self, rows: Range<usize>) -> Result<Done<O>, Failure> {
        let mut column = Column::new(self.key, self.scope);
        let (mut output, mut offsets) = (Output::new(), Vec::new());
        let mut others = vec![Vec::new(); self.rows.len()];
        let share = self.values.extent() / self.values.rows().max(1) * rows.len();
        let mut done = Done {
            made: Made::with_room(rows.len(), share),
            misfits: Vec::new(),
        };
        for start in rows.clone().step_by(BLOCK) {
            let block = start..rows.end.min(start + BLOCK);
            let cells = self.values.cells(&block, &mut offsets)?;
            let mut tweaks = Vec::with_capacity(self.rows.len());
            for (values, offsets) in self.rows.iter().zip(&mut others) {
                tweaks.push(values.cells(&block, offsets)?);
            }
            let report = match self.direction {
                Direction::Forth => column.protect(cells, &tweaks, &mut output),
                Direction::Back => column.reveal(cells, &tweaks, &mut output),
            }?;
            let ends = output.offsets().iter().skip(1).copied();
            done.made.append(output.bytes(), ends)?;
            let misfits = report.misfits().iter();
            let misfits = misfits.map(|(row, misfit)| (start + row, *misfit));
            done.misfits
                .extend(misfits.filter(|(row, _)| !self.is_absent(*row)));
        }
        Ok(done)
    }

    fn is_absent(&self, row: usize) -> bool {
        self.absent.is_some_and(|valid| valid.is_null(row))
    }
}
