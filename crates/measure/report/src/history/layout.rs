//! The tables, and how a file of an older layout becomes one of this.
//!
//! `user_version` is the number of steps that were applied. A step that was ever released is never
//! edited: a change of the tables is a new step at the end of [`STEPS`].

use rusqlite::Connection;

use super::HistoryError;

/// "KWhi" in the header of the file.
pub(super) const APPLICATION_ID: i64 = 0x4B57_6869;

/// Each step from one layout to the next.
pub(super) const STEPS: &[&str] = &[FIRST, SERVICE_OF_BLOCKS, RATIO_OF_FIGURES];

/// What a file is, as far as its header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// The newest layout.
    Current,
    /// So many steps are applied; none to a new file.
    Older(usize),
}

/// Reads the header. The caller holds a transaction, so that the parts belong together.
pub(super) fn standing(connection: &Connection, steps: &[&str]) -> Result<Standing, HistoryError> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let application = number("PRAGMA application_id")?;
    let version = number("PRAGMA user_version")?;
    let objects = number("SELECT count(*) FROM sqlite_schema")?;
    let supported = i64::try_from(steps.len()).unwrap_or(i64::MAX);
    match (application, version, objects) {
        (0, 0, 0) => Ok(Standing::Older(0)),
        (APPLICATION_ID, found, _) if found > supported => {
            Err(HistoryError::NewerVersion { found, supported })
        }
        (APPLICATION_ID, found, _) if found == supported => Ok(Standing::Current),
        (APPLICATION_ID, 1.., _) => usize::try_from(version)
            .map(Standing::Older)
            .map_err(|_| HistoryError::Damaged),
        _ => Err(HistoryError::NotAHistory),
    }
}

/// Applies the steps after the first `applied`. The caller holds a transaction and commits it.
pub(super) fn migrate(
    connection: &Connection,
    steps: &[&str],
    applied: usize,
) -> Result<(), HistoryError> {
    for step in steps.iter().skip(applied) {
        connection.execute_batch(step)?;
    }
    let version = steps.len();
    Ok(connection.execute_batch(&format!(
        "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {version};"
    ))?)
}

/// Unsigned figures are stored with the same 64 bits as signed ones, so that each comes back as it was;
/// none that occurs is large enough to show as negative. A rank in a list is called `place`.
const FIRST: &str = "
CREATE TABLE run (
    no INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    started TEXT NOT NULL,
    -- The start with nine digits of fraction, so that the order of texts is that of times.
    moment TEXT NOT NULL,
    duration_ns INTEGER NOT NULL,
    command TEXT NOT NULL,
    -- Decimal, because it may need all 64 bits without a sign.
    seed TEXT NOT NULL,
    suite TEXT,
    suite_sha256 TEXT,
    tool TEXT NOT NULL,
    version TEXT NOT NULL,
    commit_id TEXT,
    profile TEXT NOT NULL,
    note TEXT,
    tags TEXT NOT NULL,
    verdicts TEXT NOT NULL,
    exit_code INTEGER NOT NULL,
    exit_name TEXT NOT NULL,
    cases INTEGER NOT NULL,
    schema_version TEXT NOT NULL,
    -- The whole document but for blocks and histograms, which have tables of their own. Last, because
    -- columns before it are read without it.
    document TEXT NOT NULL
) STRICT;
CREATE INDEX run_by_moment ON run (moment, no);

CREATE TABLE environment (
    run INTEGER PRIMARY KEY REFERENCES run ON DELETE CASCADE,
    os TEXT NOT NULL,
    kernel TEXT NOT NULL,
    cpu TEXT NOT NULL,
    cpu_features TEXT NOT NULL,
    cores INTEGER NOT NULL,
    machine_cores INTEGER NOT NULL,
    memory_bytes INTEGER NOT NULL,
    governor TEXT,
    smt INTEGER,
    virtualisation TEXT,
    clock_source TEXT,
    load_average REAL,
    timer_resolution_ns INTEGER NOT NULL,
    timer_cost_ps INTEGER NOT NULL,
    noise_percent REAL
) STRICT;

-- What results have to share to be comparable: the case's id and everything its figures depend on.
CREATE TABLE series (
    no INTEGER PRIMARY KEY,
    case_id TEXT NOT NULL,
    settings TEXT NOT NULL,
    UNIQUE (case_id, settings)
) STRICT;

CREATE TABLE case_result (
    no INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    place INTEGER NOT NULL,
    series INTEGER NOT NULL REFERENCES series,
    moment TEXT NOT NULL,
    -- Whether the figures mean what they say: not wrong, not made by an exhausted generator, not cut short.
    sound INTEGER NOT NULL,
    case_id TEXT NOT NULL,
    op TEXT NOT NULL,
    target TEXT NOT NULL,
    unit TEXT NOT NULL,
    verdict TEXT NOT NULL,
    planned INTEGER NOT NULL,
    sent INTEGER NOT NULL,
    never_sent INTEGER NOT NULL,
    verified INTEGER NOT NULL,
    unverified INTEGER NOT NULL,
    wrong INTEGER NOT NULL,
    error INTEGER NOT NULL,
    timeout INTEGER NOT NULL,
    censored INTEGER NOT NULL,
    achieved_per_s REAL NOT NULL,
    achieved_lo REAL,
    achieved_hi REAL,
    bytes_per_s REAL,
    cpu_ns_per_unit REAL,
    -- The distribution that the case is quoted by: response where there is one, else service.
    headline TEXT,
    UNIQUE (run, place),
    UNIQUE (run, case_id)
) STRICT;
CREATE INDEX case_result_by_series ON case_result (series, moment, run);
CREATE INDEX case_result_by_case ON case_result (case_id, moment, run);

CREATE TABLE quantile (
    result INTEGER NOT NULL REFERENCES case_result ON DELETE CASCADE,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    value INTEGER,
    lo INTEGER,
    hi INTEGER,
    n INTEGER NOT NULL,
    bound TEXT NOT NULL,
    value_ps INTEGER,
    lo_ps INTEGER,
    hi_ps INTEGER,
    PRIMARY KEY (result, kind, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE histogram (
    no INTEGER PRIMARY KEY,
    result INTEGER NOT NULL REFERENCES case_result ON DELETE CASCADE,
    kind TEXT NOT NULL,
    n INTEGER NOT NULL,
    min_ns INTEGER,
    max_ns INTEGER,
    mean_ns REAL,
    mad_ns INTEGER,
    batch_k INTEGER,
    hdr TEXT,
    UNIQUE (result, kind)
) STRICT;

CREATE TABLE block (
    result INTEGER NOT NULL REFERENCES case_result ON DELETE CASCADE,
    place INTEGER NOT NULL,
    execution INTEGER NOT NULL,
    start_ns INTEGER NOT NULL,
    duration_ns INTEGER NOT NULL,
    done INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    in_flight INTEGER NOT NULL,
    p50_ns INTEGER,
    p99_ns INTEGER,
    max_ns INTEGER,
    canary REAL,
    PRIMARY KEY (result, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE error (
    result INTEGER NOT NULL REFERENCES case_result ON DELETE CASCADE,
    place INTEGER NOT NULL,
    phase TEXT NOT NULL,
    code TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (result, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE comparison (
    run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    place INTEGER NOT NULL,
    case_id TEXT NOT NULL,
    against TEXT NOT NULL,
    metric TEXT NOT NULL,
    ratio REAL NOT NULL,
    lo REAL,
    hi REAL,
    p REAL,
    delta REAL,
    threshold REAL NOT NULL,
    current REAL NOT NULL,
    baseline REAL NOT NULL,
    verdict TEXT,
    PRIMARY KEY (run, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE baseline (
    name TEXT PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run
) STRICT, WITHOUT ROWID;
CREATE INDEX baseline_by_run ON baseline (run);

CREATE TABLE note (
    no INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    text TEXT NOT NULL
) STRICT;
CREATE INDEX note_by_run ON note (run);

-- Changes that trends found; the run is the first after the change.
CREATE TABLE changepoint (
    series INTEGER NOT NULL REFERENCES series ON DELETE CASCADE,
    metric TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    p REAL NOT NULL,
    PRIMARY KEY (series, metric, run)
) STRICT, WITHOUT ROWID;
CREATE INDEX changepoint_by_run ON changepoint (run);
";

/// In open mode a block has service times beside its response times.
const SERVICE_OF_BLOCKS: &str = "
ALTER TABLE block ADD COLUMN service_p50_ns INTEGER;
ALTER TABLE block ADD COLUMN service_p99_ns INTEGER;
";

/// The ratio of a throughput was baseline over current. All of them are current over baseline now, in the table and
/// in the documents.
const RATIO_OF_FIGURES: &str = "
UPDATE comparison SET lo = 1.0 / hi, hi = 1.0 / lo WHERE metric = 'throughput' AND lo > 0.0 AND hi > 0.0;
UPDATE comparison SET delta = -delta WHERE metric = 'throughput';
UPDATE comparison SET ratio = current / baseline WHERE baseline > 0.0;
UPDATE comparison SET lo = min(lo, ratio), hi = max(hi, ratio);
UPDATE run SET document = json_set(document, '$.comparison', json((
    SELECT json_group_array(json(json_patch(one.value, json_object(
        'ratio', comparison.ratio,
        'delta', comparison.delta,
        'interval', json(iif(comparison.lo IS NULL, NULL, json_object('lo', comparison.lo, 'hi', comparison.hi)))))))
    FROM json_each(document, '$.comparison') AS one
    JOIN comparison ON comparison.run = run.no AND comparison.place = one.key)))
WHERE no IN (SELECT run FROM comparison);
";

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: &str = "ALTER TABLE note ADD COLUMN author TEXT NOT NULL DEFAULT 'nobody';";

    fn first_file() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        migrate(&connection, &STEPS[..1], 0).unwrap();
        connection
            .execute_batch(
                "PRAGMA foreign_keys = OFF; INSERT INTO note (run, text) VALUES (1, 'kept')",
            )
            .unwrap();
        connection
    }

    #[test]
    fn a_step_to_a_newer_layout_keeps_the_data_of_the_older() {
        let connection = first_file();
        let steps = [STEPS[0], SECOND];
        assert_eq!(standing(&connection, &steps), Ok(Standing::Older(1)));
        migrate(&connection, &steps, 1).unwrap();
        assert_eq!(standing(&connection, &steps), Ok(Standing::Current));
        let row: (String, String) = connection
            .query_row("SELECT text, author FROM note", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap();
        assert_eq!(row, ("kept".to_owned(), "nobody".to_owned()));
    }

    #[test]
    fn ratios_of_an_older_file_become_those_of_their_figures() {
        let connection = Connection::open_in_memory().unwrap();
        migrate(&connection, &STEPS[..2], 0).unwrap();
        connection
            .execute_batch(
                r#"PRAGMA foreign_keys = OFF;
                INSERT INTO run VALUES (1, 'a', '', '', 0, '', '0', NULL, NULL, '', '', NULL, '', NULL, '', '', 0, '',
                    0, '', '{"run":{"id":"a"},"comparison":[{"metric":"throughput","ratio":1.2,"delta":1.0,
                    "interval":{"lo":1.1,"hi":1.25},"current":833,"baseline":1000},
                    {"metric":"p50","ratio":1.5,"current":3,"baseline":2}]}');
                INSERT INTO run VALUES (2, 'b', '', '', 0, '', '0', NULL, NULL, '', '', NULL, '', NULL, '', '', 0, '',
                    0, '', '{"comparison":[]}');
                INSERT INTO comparison VALUES
                    (1, 0, 'c', 'main', 'throughput', 1.2, 1.1, 1.25, 0.01, 1.0, 0.05, 833, 1000, NULL),
                    (1, 1, 'c', 'main', 'p50', 1.5, NULL, NULL, NULL, NULL, 0, 3, 2, NULL);"#,
            )
            .unwrap();
        migrate(&connection, STEPS, 2).unwrap();
        let text = |run: i64| -> String {
            let sql = "SELECT document FROM run WHERE no = ?1";
            connection.query_row(sql, [run], |row| row.get(0)).unwrap()
        };
        let document: serde_json::Value = serde_json::from_str(&text(1)).unwrap();
        let [rate, time] = [0, 1].map(|place| &document["comparison"][place]);
        assert_eq!(
            (&rate["ratio"], &rate["delta"]),
            (&0.833.into(), &(-1.0).into())
        );
        assert_eq!(rate["interval"]["lo"], 0.8);
        assert!((rate["interval"]["hi"].as_f64().unwrap() - 1.0 / 1.1).abs() < 1e-12);
        assert_eq!(
            *time,
            serde_json::json!({"metric": "p50", "ratio": 1.5, "current": 3, "baseline": 2})
        );
        assert_eq!(document["run"]["id"], "a");
        assert_eq!(text(2), r#"{"comparison":[]}"#);
        let sql = "SELECT ratio FROM comparison WHERE metric = 'throughput'";
        let ratio: f64 = connection.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(ratio, 0.833);
    }

    #[test]
    fn a_step_that_fails_leaves_the_older_layout() {
        let mut connection = first_file();
        let steps = [STEPS[0], SECOND, "ALTER TABLE nothing ADD COLUMN x;"];
        let transaction = connection.transaction().unwrap();
        assert_eq!(migrate(&transaction, &steps, 1), Err(HistoryError::Damaged));
        drop(transaction);
        assert_eq!(standing(&connection, &steps), Ok(Standing::Older(1)));
        assert!(connection.prepare("SELECT author FROM note").is_err());
    }

    #[test]
    fn a_layout_of_a_later_program_is_named_and_refused() {
        let connection = first_file();
        migrate(&connection, &[STEPS[0], SECOND], 1).unwrap();
        let error = HistoryError::NewerVersion {
            found: 2,
            supported: 1,
        };
        assert_eq!(standing(&connection, &STEPS[..1]), Err(error.clone()));
        assert_eq!(
            error.to_string(),
            "the history has layout 2, this program knows 1"
        );
    }

    #[test]
    fn other_programs_files_are_no_histories() {
        for sql in [
            "PRAGMA application_id = 7",
            "PRAGMA user_version = 1",
            "CREATE TABLE t (a)",
            "PRAGMA application_id = 1264019561",
            "PRAGMA application_id = 1264019561; PRAGMA user_version = -1",
        ] {
            let connection = Connection::open_in_memory().unwrap();
            connection.execute_batch(sql).unwrap();
            let found = standing(&connection, STEPS);
            assert_eq!(found, Err(HistoryError::NotAHistory), "{sql}");
        }
        assert_eq!(APPLICATION_ID, 1_264_019_561);
    }
}
