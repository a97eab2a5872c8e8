//! The history of runs: one SQLite file.
//!
//! A run is recorded whole or not at all, and comes back as the document it was. Beside the document its
//! figures stand in tables, so that a line of comparable results is found by an index and any SQLite tool
//! can ask its own questions. Everything in the file is an aggregate; no single operation is stored.
//!
//! * A [`Trend`] is a line of comparable results with the places where its level changed. A run is never
//!   held against merely the run before it.
//! * A baseline is a name for a run; a run that has a name is never pruned.
//!
//! Several programs may have one file open: writers wait for each other, readers for nobody. Not here:
//! judging a run against a baseline, and what time it is; a run's place is the start it states.

mod baseline;
mod detached;
mod error;
mod layout;
mod moment;
mod read;
mod record;
mod series;
mod trend;

use std::fmt;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

pub use baseline::Baseline;
pub use error::HistoryError;
pub use read::{RunFilter, RunSummary};
pub use series::{Metric, Point};
pub use trend::{ChangePoint, Level, Trend};

use layout::{STEPS, Standing};

/// How long a writer waits for another one. A recording takes milliseconds, so this is many of them.
const BUSY_TIMEOUT: Duration = Duration::from_secs(20);
/// Every statement of this module.
const CACHED_STATEMENTS: usize = 64;

/// A history that is open.
#[derive(Debug)]
pub struct History {
    connection: Connection,
}

/// The id of a run: 16 lower-case hex digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(String);

impl RunId {
    /// Checks an id.
    ///
    /// # Errors
    /// [`HistoryError::MalformedRunId`].
    pub fn parse(text: &str) -> Result<Self, HistoryError> {
        let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() == 16 && text.bytes().all(digit) {
            Ok(Self(text.to_owned()))
        } else {
            Err(HistoryError::MalformedRunId)
        }
    }

    /// The digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// From the file, where it can only be malformed through damage.
    fn stored(text: &str) -> Result<Self, HistoryError> {
        Self::parse(text).map_err(|_| HistoryError::Damaged)
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&self.0)
    }
}

impl History {
    /// Opens a history, or creates it in a folder that exists. A file of an older layout is brought to
    /// this one; its data stay.
    ///
    /// # Errors
    /// [`HistoryError::NotAHistory`], [`HistoryError::NewerVersion`], [`HistoryError::Damaged`],
    /// [`HistoryError::Unreadable`], [`HistoryError::Busy`], [`HistoryError::Full`].
    pub fn open(path: &Path) -> Result<Self, HistoryError> {
        // Absolute, because SQLite gives a meaning to some relative names such as ":memory:". SQLite
        // creates the file itself: a descriptor of ours, when closed, would drop the locks that other
        // connections of this process hold on the file.
        let path = std::path::absolute(path)?;
        match std::fs::metadata(&path) {
            Ok(found) if found.is_dir() => {
                return Err(HistoryError::Unreadable(ErrorKind::IsADirectory));
            }
            // SQLite takes a file of one byte for an empty one and would write over it.
            Ok(found) if !found.is_file() || found.len() == 1 => {
                return Err(HistoryError::NotAHistory);
            }
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {
                path.parent()
                    .map_or(Ok(()), |folder| folder.metadata().map(drop))?;
            }
            Err(error) => return Err(error.into()),
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut history = Self::new(Connection::open_with_flags(&path, flags)?)?;
        history.lay_out()?;
        history.use_log()?;
        Ok(history)
    }

    /// A history that ends with this value.
    ///
    /// # Errors
    /// [`HistoryError::Unreadable`] when there is no memory for it.
    pub fn open_in_memory() -> Result<Self, HistoryError> {
        let mut history = Self::new(Connection::open_in_memory()?)?;
        history.lay_out()?;
        Ok(history)
    }

    fn new(connection: Connection) -> Result<Self, HistoryError> {
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.execute_batch(
            "PRAGMA synchronous = FULL;
             PRAGMA foreign_keys = ON;
             PRAGMA cell_size_check = ON;
             PRAGMA mmap_size = 0;
             PRAGMA temp_store = MEMORY;
             PRAGMA journal_size_limit = 4194304;",
        )?;
        Ok(Self { connection })
    }

    /// Most files are current, and to see that needs no lock that a writer could hold.
    fn lay_out(&mut self) -> Result<(), HistoryError> {
        let reading = self.connection.transaction()?;
        let found = layout::standing(&reading, STEPS)?;
        drop(reading);
        if found == Standing::Current {
            return Ok(());
        }
        let writing = self.write()?;
        // Another program may have been quicker.
        if let Standing::Older(applied) = layout::standing(&writing, STEPS)? {
            layout::migrate(&writing, STEPS, applied)?;
        }
        Ok(writing.commit()?)
    }

    /// The log mode belongs to the file. When somebody else is busy with it, they or the next one to open
    /// it set the mode, and until then everything works with a rollback journal.
    fn use_log(&self) -> Result<(), HistoryError> {
        let mode = self
            .connection
            .pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()));
        match mode.map_err(HistoryError::from) {
            Ok(()) | Err(HistoryError::Busy) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// A transaction that may write from its beginning. Dropped without a commit, it rolls back. One that
    /// read first and wrote later would fail when another writer came between.
    fn write(&mut self) -> Result<Transaction<'_>, HistoryError> {
        Ok(self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?)
    }
}

/// The number of a run in the file.
fn number_of(connection: &Connection, run: &RunId) -> Result<i64, HistoryError> {
    let found = connection
        .prepare_cached("SELECT no FROM run WHERE id = ?1")?
        .query([run.as_str()])?
        .next()?
        .map(|row| row.get(0))
        .transpose()?;
    found.ok_or_else(|| HistoryError::NoSuchRun { run: run.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use keywright_measure::document::{Case, Document};

    fn document(number: u64) -> Document {
        let mut document = Document::default();
        document.run.id = format!("{number:016x}");
        document.run.started = "2026-03-01T12:00:00Z".to_owned();
        document.cases = vec![Case {
            id: "a".to_owned(),
            ..Case::default()
        }];
        document
    }

    fn pragma(history: &History, name: &str) -> i64 {
        let read = |row: &rusqlite::Row<'_>| row.get(0);
        history
            .connection
            .pragma_query_value(None, name, read)
            .unwrap()
    }

    #[test]
    fn the_settings_that_durability_rests_on_are_in_force() {
        let folder = tempfile::tempdir().unwrap();
        let history = History::open(&folder.path().join("h")).unwrap();
        let mode: String = history
            .connection
            .pragma_query_value(None, "journal_mode", |row| row.get(0))
            .unwrap();
        assert_eq!(mode, "wal");
        assert_eq!(pragma(&history, "synchronous"), 2);
        assert_eq!(pragma(&history, "foreign_keys"), 1);
        assert_eq!(pragma(&history, "trusted_schema"), 0);
        assert_eq!(pragma(&history, "application_id"), layout::APPLICATION_ID);
        assert_eq!(pragma(&history, "user_version"), 3);
    }

    #[test]
    fn a_full_disk_is_named_and_leaves_what_was_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let mut history = History::open(&folder.path().join("h")).unwrap();
        let kept = history.record(&document(1)).unwrap();
        let limit = pragma(&history, "page_count") + 2;
        history
            .connection
            .pragma_update_and_check(None, "max_page_count", limit, |_| Ok(()))
            .unwrap();
        let mut big = document(2);
        big.run.command = "x".repeat(100_000);
        for _ in 0..3 {
            assert_eq!(history.record(&big), Err(HistoryError::Full));
        }
        assert_eq!(history.run(&kept).unwrap(), document(1));
        assert_eq!(history.runs(&RunFilter::default(), 9).unwrap().len(), 1);
        history
            .connection
            .pragma_update_and_check(None, "max_page_count", 1 << 20, |_| Ok(()))
            .unwrap();
        history.record(&big).unwrap();
        assert_eq!(history.runs(&RunFilter::default(), 9).unwrap().len(), 2);
    }

    #[test]
    fn only_sixteen_small_hex_digits_name_a_run() {
        assert_eq!(
            RunId::parse("0123456789abcdef").unwrap().as_str(),
            "0123456789abcdef"
        );
        for text in [
            "",
            "0123456789abcde",
            "0123456789abcdef0",
            "0123456789ABCDEF",
            "0123456789abcdeg",
            "é123456789abcde",
        ] {
            assert_eq!(
                RunId::parse(text),
                Err(HistoryError::MalformedRunId),
                "{text}"
            );
        }
    }
}
