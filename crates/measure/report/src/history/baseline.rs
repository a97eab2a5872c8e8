//! Names for runs, notes on them, and forgetting the old ones.

use keywright_measure::document::Document;
use keywright_measure::verdict::Word;

use super::{History, HistoryError, RunId, number_of, read};

/// The longest name, in characters.
const LONGEST_NAME: usize = 64;

/// A name for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Baseline {
    /// The name.
    pub name: String,
    /// The run.
    pub run: RunId,
    /// When the run started; RFC 3339, UTC.
    pub started: String,
    /// The commit it was built from, where known.
    pub commit: Option<String>,
    /// How many cases it has.
    pub cases: u32,
}

impl History {
    /// Gives a run a name, and takes the name from the run that had it, which is returned.
    ///
    /// # Errors
    /// [`HistoryError::BaselineName`], [`HistoryError::NoSuchRun`], and [`HistoryError::DebugBaseline`]
    /// for a run that was measured with a debug build, or that looked at one.
    pub fn baseline_save(
        &mut self,
        name: &str,
        run: &RunId,
    ) -> Result<Option<RunId>, HistoryError> {
        let length = name.chars().count();
        if !(1..=LONGEST_NAME).contains(&length) || name.chars().any(char::is_control) {
            return Err(HistoryError::BaselineName);
        }
        if is_little_optimised(&self.run(run)?) {
            return Err(HistoryError::DebugBaseline { run: run.clone() });
        }
        let transaction = self.write()?;
        let number = number_of(&transaction, run)?;
        let before = transaction
            .prepare_cached(
                "SELECT run.id FROM baseline JOIN run ON run.no = baseline.run WHERE name = ?1",
            )?
            .query_map([name], |row| row.get::<_, String>(0))?
            .next()
            .transpose()?;
        transaction
            .prepare_cached("INSERT OR REPLACE INTO baseline (name, run) VALUES (?1, ?2)")?
            .execute((name, number))?;
        transaction.commit()?;
        before.as_deref().map(RunId::stored).transpose()
    }

    /// Every baseline, by name.
    ///
    /// # Errors
    /// Those of the data and the environment.
    pub fn baseline_list(&self) -> Result<Vec<Baseline>, HistoryError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT name, run.id, run.started, run.commit_id, run.cases
             FROM baseline JOIN run ON run.no = baseline.run ORDER BY name",
        )?;
        let mut rows = statement.query([])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(Baseline {
                name: row.get(0)?,
                run: RunId::stored(&row.get::<_, String>(1)?)?,
                started: row.get(2)?,
                commit: row.get(3)?,
                cases: row.get(4)?,
            });
        }
        Ok(found)
    }

    /// The document of the run that has this name.
    ///
    /// # Errors
    /// [`HistoryError::NoSuchBaseline`]; those of the data and the environment.
    pub fn baseline_show(&self, name: &str) -> Result<Document, HistoryError> {
        let id = self
            .connection
            .prepare_cached(
                "SELECT run.id FROM baseline JOIN run ON run.no = baseline.run WHERE name = ?1",
            )?
            .query_map([name], |row| row.get::<_, String>(0))?
            .next()
            .transpose()?
            .ok_or_else(|| no_such(name))?;
        self.run(&RunId::stored(&id)?)
    }

    /// Takes a name away; its run stays.
    ///
    /// # Errors
    /// [`HistoryError::NoSuchBaseline`]; those of the data and the environment.
    pub fn baseline_remove(&mut self, name: &str) -> Result<(), HistoryError> {
        let transaction = self.write()?;
        let removed = transaction
            .prepare_cached("DELETE FROM baseline WHERE name = ?1")?
            .execute([name])?;
        if removed == 0 {
            return Err(no_such(name));
        }
        Ok(transaction.commit()?)
    }

    /// Adds a note to a run.
    ///
    /// # Errors
    /// [`HistoryError::NoSuchRun`]; those of the data and the environment.
    pub fn note(&mut self, run: &RunId, text: &str) -> Result<(), HistoryError> {
        let transaction = self.write()?;
        let number = number_of(&transaction, run)?;
        transaction
            .prepare_cached("INSERT INTO note (run, text) VALUES (?1, ?2)")?
            .execute((number, text))?;
        Ok(transaction.commit()?)
    }

    /// Notes that were added to a run, oldest first; not the one in its document.
    ///
    /// # Errors
    /// [`HistoryError::NoSuchRun`]; those of the data and the environment.
    pub fn notes(&self, run: &RunId) -> Result<Vec<String>, HistoryError> {
        read::notes_of(&self.connection, number_of(&self.connection, run)?)
    }

    /// Forgets all but the newest `keep` runs and those that are baselines. How many were forgotten comes
    /// back; their space in the file is used again.
    ///
    /// # Errors
    /// Those of the data and the environment.
    pub fn prune(&mut self, keep: usize) -> Result<usize, HistoryError> {
        let keep = i64::try_from(keep).unwrap_or(i64::MAX);
        let transaction = self.write()?;
        let forgotten = transaction.execute(
            "DELETE FROM run WHERE no NOT IN (SELECT run FROM baseline)
             AND no NOT IN (SELECT no FROM run ORDER BY moment DESC, no DESC LIMIT ?1)",
            [keep],
        )?;
        transaction.execute(
            "DELETE FROM series WHERE NOT EXISTS
             (SELECT 1 FROM case_result WHERE case_result.series = series.no)",
            [],
        )?;
        transaction.commit()?;
        Ok(forgotten)
    }
}

fn no_such(name: &str) -> HistoryError {
    let name = name.to_owned();
    HistoryError::NoSuchBaseline { name }
}

/// Whether the build is no measure of another, by the program's own word or by that of a target.
fn is_little_optimised(document: &Document) -> bool {
    let cases = document.cases.iter().flat_map(|case| &case.verdicts);
    let mut words = document.verdicts.iter().chain(cases);
    matches!(document.tool.profile.as_str(), "debug" | "quick")
        || words.any(|word| matches!(word, Word::DebugBuild | Word::QuickBuild))
}
