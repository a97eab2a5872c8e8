//! The files of a run under way: begun, gone on with, and given their names.
//!
//! Tables of every kind use them in one way: a block of the input becomes bytes at the end of the output, and a
//! record of the journal says so.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::time::Duration;

use crate::block::Made;
use crate::checksum::{Checksum, Summing};
use crate::error::Error;
use crate::files::{self, Files, Input, Rejects, Source, exists, read_failed, write_failed};
use crate::journal::{About, Checksums, Found, Journal, Position};
use crate::plan::Plan;
use crate::writeback::Writeback;

/// Everything that is written, and how far it is.
#[derive(Debug)]
pub struct Stage<'a> {
    files: &'a Files,
    plan: &'a Plan,
    output: File,
    rejects: Option<File>,
    journal: Journal,
    pub(crate) position: Position,
    /// Of the records that a run before this one has left.
    notes: Vec<Vec<u8>>,
    writeback: Writeback,
}

/// The second file is there if a rule may need it.
fn second(plan: &Plan) -> Rejects {
    match plan.rejects() {
        true => Rejects::Yes,
        false => Rejects::No,
    }
}

/// Takes the journal for this run alone. A process that this one starts meanwhile holds what an earlier run has given
/// back, until it is the program that it was started for; so it is tried for a fifth of a second.
fn claim(file: &File) -> Result<(), TryLockError> {
    for _ in 1..100 {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(2)),
            other => return other,
        }
    }
    file.try_lock()
}

/// Where the output stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Under {
    /// Its own name: only the journal is left of the run.
    ItsName,
    PartsName,
}

impl<'a> Stage<'a> {
    /// Begins a run, or goes on with the one that was interrupted: what its journal says is read again, input
    /// and output, and held against the checksums.
    ///
    /// # Errors
    /// [`Error::SameFile`], [`Error::Exists`], [`Error::NoFile`], [`Error::Busy`], [`Error::OtherRun`],
    /// [`Error::InputChanged`]; [`Error::Read`] and [`Error::Write`].
    pub fn open(source: &Input, plan: &'a Plan, files: &'a Files) -> Result<Self, Error> {
        let second = second(plan);
        files.judge(source, second)?;
        let path = files.journal();
        let begun = exists(&path);
        if !begun {
            files.free(second)?;
        }
        let file = files::open(&path, 0o600)?;
        claim(&file).map_err(|error| match error {
            TryLockError::WouldBlock => Error::Busy {
                path: files.output().to_owned(),
            },
            TryLockError::Error(source) => write_failed(&path, source),
        })?;
        let about = About {
            key: plan.journal_key(),
            fingerprint: plan.fingerprint(),
            size: source.size(),
            columns: plan.columns().len(),
        };
        let found = Journal::open(file, &about).map_err(|source| write_failed(&path, source))?;
        let journal = match found {
            Found::New(journal) | Found::Begun(journal) => journal,
            Found::Other => return Err(Error::OtherRun { journal: path }),
        };
        let stage = Self::with(journal, source, plan, files);
        if stage.is_err() && !begun {
            // Nothing was written yet, so there is nothing to go on with.
            files::remove(&files.part())?;
            files::remove(&path)?;
        }
        stage
    }

    fn with(
        journal: Journal,
        source: &Input,
        plan: &'a Plan,
        files: &'a Files,
    ) -> Result<Self, Error> {
        let mode = files::mode(plan.direction());
        let blank = journal.is_blank();
        let blank = blank.map_err(|error| write_failed(&files.journal(), error))?;
        // All parts may have their names already, and only the journal be left.
        let under = match !blank && !exists(&files.part()) && exists(files.output()) {
            true => Under::ItsName,
            false => Under::PartsName,
        };
        let output = match under {
            Under::ItsName => files::open(files.output(), mode)?,
            Under::PartsName => files::open(&files.part(), mode)?,
        };
        let rejects = match second(plan) {
            Rejects::Yes if under == Under::PartsName => {
                Some(files::open(&files.rejects_part(), 0o600)?)
            }
            _ => None,
        };
        let mut stage = Self {
            files,
            plan,
            output,
            rejects,
            journal,
            position: Position {
                counts: vec![crate::Counts::default(); plan.columns().len()],
                ..Position::default()
            },
            notes: Vec::new(),
            writeback: Writeback::behind(0),
        };
        stage.find_place(source, under)?;
        stage.writeback = Writeback::behind(stage.position.output);
        Ok(stage)
    }

    /// How far it is.
    #[must_use]
    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// The notes of all blocks that an interrupted run has left, in their order.
    #[must_use]
    pub fn notes(&self) -> &[Vec<u8>] {
        &self.notes
    }

    /// The output, at its end; whoever writes it shares its cursor.
    #[must_use]
    pub const fn output(&self) -> &File {
        &self.output
    }

    /// The second file, at its end, if a rule may need it.
    #[must_use]
    pub const fn rejects(&self) -> Option<&File> {
        self.rejects.as_ref()
    }

    /// Whether nothing of the input is left.
    #[must_use]
    pub fn is_complete(&self, source: &Input) -> bool {
        self.position.input == source.size()
    }

    /// Makes a block count that stands in the files. `note` comes back when a run goes on.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn commit(
        &mut self,
        next: Position,
        checksums: &Checksums,
        note: &[u8],
    ) -> Result<(), Error> {
        self.journal
            .append(&next, checksums, note)
            .map_err(|error| write_failed(&self.files.journal(), error))?;
        self.position = next;
        self.writeback.reached(&self.output, self.position.output);
        Ok(())
    }

    /// Goes through the journal as far as the files bear it out, and cuts everything behind.
    fn find_place(&mut self, source: &Input, under: Under) -> Result<(), Error> {
        let journal_path = self.files.journal();
        let failed = |error| write_failed(&journal_path, error);
        let mut place = self.journal.place();
        let mut input = source.file();
        input
            .seek(SeekFrom::Start(0))
            .map_err(|error| read_failed(source.path(), error))?;
        let mut position = self.position.clone();
        while let Some((next, checksums, note)) = self.journal.next().map_err(failed)? {
            let same = holds(&mut input, (position.input, next.input), checksums.input);
            if !same.map_err(|error| read_failed(source.path(), error))? {
                return Err(Error::InputChanged {
                    input: source.path().to_owned(),
                });
            }
            if !self.written(&position, &next, &checksums)? {
                break;
            }
            (place, position) = (self.journal.place(), next);
            if !note.is_empty() {
                self.notes.push(note);
            }
        }
        if under == Under::ItsName && position.input != source.size() {
            // The file under the output's name is not this run's: nothing of it is touched.
            return Err(Error::OtherRun {
                journal: journal_path,
            });
        }
        self.journal.cut(place).map_err(failed)?;
        self.position = position;
        if under == Under::ItsName {
            return Ok(());
        }
        cut(&mut self.output, self.position.output)
            .map_err(|error| write_failed(&self.files.part(), error))?;
        if let Some(rejects) = &mut self.rejects {
            cut(rejects, self.position.rejects)
                .map_err(|error| write_failed(&self.files.rejects_part(), error))?;
        }
        Ok(())
    }

    /// Whether a block is in the output and in the rejects as the journal says.
    fn written(
        &mut self,
        before: &Position,
        next: &Position,
        checksums: &Checksums,
    ) -> Result<bool, Error> {
        let output = holds(
            &mut &self.output,
            (before.output, next.output),
            checksums.output,
        );
        if !output.map_err(|error| read_failed(&self.files.part(), error))? {
            return Ok(false);
        }
        let Some(rejects) = &self.rejects else {
            return Ok(true);
        };
        let held = holds(
            &mut &*rejects,
            (before.rejects, next.rejects),
            checksums.rejects,
        );
        held.map_err(|error| read_failed(&self.files.rejects_part(), error))
    }

    /// Writes the header, if nothing is written yet.
    pub(crate) fn header(&mut self, source: &Source) -> Result<(), Error> {
        if self.position.input > 0 {
            return Ok(());
        }
        let header = source.header();
        let checksum = Checksum::of(header);
        let checksums = Checksums {
            input: checksum,
            output: checksum,
            rejects: if self.rejects.is_some() {
                checksum
            } else {
                Checksum::of(&[])
            },
        };
        let mut next = self.position.clone();
        next.lines = keywright_tabular::csv::newlines(header);
        next.input = header.len() as u64;
        self.write(header, header, (next, &checksums))
    }

    /// Takes a block that is done.
    pub(crate) fn take(
        &mut self,
        made: &Made,
        bytes: usize,
        checksums: &Checksums,
    ) -> Result<(), Error> {
        let mut next = self.position.clone();
        next.input += bytes as u64;
        next.rows += made.rows;
        next.lines += made.lines;
        next.rejected += made.rejected;
        for (sum, counts) in next.counts.iter_mut().zip(&made.counts) {
            sum.add(counts);
        }
        self.write(&made.out, &made.rejects, (next, checksums))
    }

    fn write(
        &mut self,
        output: &[u8],
        rejects: &[u8],
        (mut next, checksums): (Position, &Checksums),
    ) -> Result<(), Error> {
        self.output
            .write_all(output)
            .map_err(|error| write_failed(&self.files.part(), error))?;
        next.output += output.len() as u64;
        if let Some(file) = &mut self.rejects {
            file.write_all(rejects)
                .map_err(|error| write_failed(&self.files.rejects_part(), error))?;
            next.rejects += rejects.len() as u64;
        }
        self.commit(next, checksums, &[])
    }

    /// Gives everything its name. Each step may have been done by a run before this one.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn finish(self) -> Result<Position, Error> {
        let Self {
            files,
            plan,
            output,
            rejects,
            journal,
            position,
            notes: _,
            mut writeback,
        } = self;
        let written = writeback.finish();
        written
            .and_then(|()| output.sync_all())
            .map_err(|error| write_failed(&files.part(), error))?;
        if let Some(file) = rejects {
            let part = files.rejects_part();
            file.sync_all()
                .map_err(|error| write_failed(&part, error))?;
            match position.rejected {
                0 => files::remove(&part)?,
                _ => files::rename(&part, files.rejects())?,
            }
        }
        if let Some(protection) = plan.protection() {
            files::put(&files::protection_of(files.output()), &protection.to_text())?;
        }
        files::rename(&files.part(), files.output())?;
        files::sync_folder(files.output())?;
        files::remove(&files.journal())?;
        // Held until here: nobody else may begin while names change.
        drop(journal);
        Ok(position)
    }

    /// Takes back what cannot become whole.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn discard(self) -> Result<(), Error> {
        files::remove(&self.files.part())?;
        if self.rejects.is_some() {
            files::remove(&self.files.rejects_part())?;
        }
        files::remove(&self.files.journal())
    }
}

/// Takes back what an interrupted run has left, whatever it was.
///
/// # Errors
/// [`Error::Write`].
pub fn forget(files: &Files) -> Result<(), Error> {
    let journal: &Path = &files.journal();
    if !exists(journal) {
        return Ok(());
    }
    files::remove(&files.part())?;
    files::remove(&files.rejects_part())?;
    files::remove(journal)
}

/// Whether a file has the bytes with this checksum between two places. It stands at the first.
fn holds(file: &mut &File, (from, to): (u64, u64), checksum: Checksum) -> io::Result<bool> {
    let Some(mut left) = to.checked_sub(from) else {
        return Ok(false);
    };
    let mut summing = Summing::default();
    let mut buffer = vec![0_u8; 64 << 10];
    while left > 0 {
        let most = usize::try_from(left)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        let room = buffer.get_mut(..most).unwrap_or_default();
        match file.read(room) {
            Ok(0) => return Ok(false),
            Ok(count) => {
                summing.update(room.get(..count).unwrap_or_default());
                left -= count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(summing.finish() == checksum)
}

fn cut(file: &mut File, length: u64) -> io::Result<()> {
    file.set_len(length)?;
    file.seek(SeekFrom::Start(length)).map(drop)
}
