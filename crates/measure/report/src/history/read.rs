//! Reading runs back: lists of them, and whole documents.

use keywright_measure::document::Document;
use keywright_measure::verdict::Word;
use rusqlite::{Connection, Row, named_params};

use super::{History, HistoryError, RunId, detached, moment, number_of};

/// Which runs to list. What is absent selects all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "plain data; made by literal updates"
)]
pub struct RunFilter {
    /// A glob (`*`, `?`, `[a-z]`) that the id of at least one case matches.
    pub case: Option<String>,
    /// The same for the target of a case.
    pub target: Option<String>,
    /// A tag.
    pub tag: Option<String>,
    /// The name of the suite.
    pub suite: Option<String>,
    /// The earliest start, RFC 3339 in UTC.
    pub since: Option<String>,
}

/// One line of a list of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunSummary {
    /// The run.
    pub id: RunId,
    /// RFC 3339, UTC.
    pub started: String,
    /// How long all of it took.
    pub duration_ns: u64,
    /// The command line.
    pub command: String,
    /// The suite's name, where there was one.
    pub suite: Option<String>,
    /// The commit it was built from, where known.
    pub commit: Option<String>,
    /// `release` or `debug`.
    pub profile: String,
    /// Processor model.
    pub cpu: String,
    /// Tags given by hand.
    pub tags: Vec<String>,
    /// How many cases.
    pub cases: u32,
    /// Every word that applies to any case.
    pub verdicts: Vec<Word>,
    /// The exit code.
    pub exit_code: u8,
    /// Its name.
    pub exit_name: String,
    /// Names of baselines that are this run.
    pub baselines: Vec<String>,
    /// The note the run was made with and those added since, oldest first.
    pub notes: Vec<String>,
}

/// Newest first; the order of the index, so that a limit ends the search.
pub(super) const RUNS: &str = "
    SELECT run.no, id, started, duration_ns, command, suite, commit_id, profile, tags, cases,
           verdicts, exit_code, exit_name, environment.cpu, note
    FROM run LEFT JOIN environment ON environment.run = run.no
    WHERE (:since IS NULL OR moment >= :since)
      AND (:suite IS NULL OR suite = :suite)
      AND (:tag IS NULL OR EXISTS (SELECT 1 FROM json_each(run.tags) WHERE value = :tag))
      AND (:case IS NULL OR EXISTS (SELECT 1 FROM case_result
           WHERE case_result.run = run.no AND case_id GLOB :case))
      AND (:target IS NULL OR EXISTS (SELECT 1 FROM case_result
           WHERE case_result.run = run.no AND target GLOB :target))
    ORDER BY moment DESC, run.no DESC LIMIT :limit";

impl History {
    /// The newest runs that fit, newest first, at most `limit`.
    ///
    /// # Errors
    /// [`HistoryError::MalformedStart`] if `since` is no time; those of the data and the environment.
    pub fn runs(&self, filter: &RunFilter, limit: usize) -> Result<Vec<RunSummary>, HistoryError> {
        let since = filter.since.as_deref().map(moment::sortable).transpose()?;
        let reading = self.connection.unchecked_transaction()?;
        let mut statement = reading.prepare_cached(RUNS)?;
        let mut rows = statement.query(named_params! {
            ":since": since,
            ":suite": filter.suite,
            ":tag": filter.tag,
            ":case": filter.case,
            ":target": filter.target,
            ":limit": i64::try_from(limit).unwrap_or(i64::MAX),
        })?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(summary(&reading, row)?);
        }
        Ok(found)
    }

    /// The document of a run as it was recorded, without the distributions of single blocks.
    ///
    /// # Errors
    /// [`HistoryError::NoSuchRun`]; those of the data and the environment.
    pub fn run(&self, run: &RunId) -> Result<Document, HistoryError> {
        // One snapshot for all tables, while others write or prune.
        let reading = self.connection.unchecked_transaction()?;
        let number = number_of(&reading, run)?;
        let text: String = reading
            .prepare_cached("SELECT document FROM run WHERE no = ?1")?
            .query_row([number], |row| row.get(0))?;
        detached::document_of(&reading, number, &text)
    }
}

fn summary(connection: &Connection, row: &Row<'_>) -> Result<RunSummary, HistoryError> {
    let number: i64 = row.get(0)?;
    let mut notes: Vec<String> = row.get::<_, Option<String>>(14)?.into_iter().collect();
    notes.extend(notes_of(connection, number)?);
    Ok(RunSummary {
        id: RunId::stored(&row.get::<_, String>(1)?)?,
        started: row.get(2)?,
        duration_ns: row.get::<_, i64>(3)?.cast_unsigned(),
        command: row.get(4)?,
        suite: row.get(5)?,
        commit: row.get(6)?,
        profile: row.get(7)?,
        tags: listed(&row.get::<_, String>(8)?)?,
        cases: row.get(9)?,
        verdicts: listed(&row.get::<_, String>(10)?)?,
        exit_code: row.get(11)?,
        exit_name: row.get(12)?,
        cpu: row.get(13)?,
        baselines: texts(
            connection,
            "SELECT name FROM baseline WHERE run = ?1 ORDER BY name",
            number,
        )?,
        notes,
    })
}

/// Notes added to a run, oldest first.
pub(super) fn notes_of(connection: &Connection, run: i64) -> Result<Vec<String>, HistoryError> {
    texts(
        connection,
        "SELECT text FROM note WHERE run = ?1 ORDER BY no",
        run,
    )
}

fn texts(connection: &Connection, sql: &str, run: i64) -> Result<Vec<String>, HistoryError> {
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([run], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn listed<T: serde::de::DeserializeOwned>(json: &str) -> Result<Vec<T>, HistoryError> {
    serde_json::from_str(json).map_err(|_| HistoryError::Damaged)
}
