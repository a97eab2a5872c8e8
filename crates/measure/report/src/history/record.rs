//! Writing a run: every table in one transaction.

use std::collections::BTreeSet;

use keywright_measure::document::{Case, Comparison, Document, Interval, Latency};
use keywright_measure::verdict::{Exit, Word};
use rusqlite::{Connection, ToSql, params_from_iter};

use super::detached::{self, Kind};
use super::{History, HistoryError, RunId, moment};
use crate::comparability::SeriesKey;

/// Columns of a row beside their values.
type Columns<'a> = [(&'static str, &'a dyn ToSql)];

impl History {
    /// Records a run, whole or not at all.
    ///
    /// # Errors
    /// [`HistoryError::RecordedTwice`], [`HistoryError::CaseTwice`], [`HistoryError::MalformedRunId`],
    /// [`HistoryError::MalformedStart`], [`HistoryError::NotFinite`] for documents that cannot be
    /// recorded; otherwise those of the data and the environment.
    pub fn record(&mut self, document: &Document) -> Result<RunId, HistoryError> {
        let mut ids = self.record_all(std::slice::from_ref(document))?;
        ids.pop().ok_or(HistoryError::Damaged)
    }

    /// Records several runs, all or none.
    ///
    /// # Errors
    /// Those of [`record`](Self::record).
    pub fn record_all(&mut self, documents: &[Document]) -> Result<Vec<RunId>, HistoryError> {
        // All that takes time or can be refused comes before the lock that others wait for.
        let ready: Vec<Ready<'_>> = documents.iter().map(Ready::new).collect::<Result<_, _>>()?;
        let transaction = self.write()?;
        for one in &ready {
            one.write(&transaction)?;
        }
        transaction.commit()?;
        Ok(ready.into_iter().map(|one| one.id).collect())
    }
}

/// A document that was found fit to be recorded.
struct Ready<'a> {
    document: &'a Document,
    id: RunId,
    moment: String,
    text: String,
}

impl<'a> Ready<'a> {
    fn new(document: &'a Document) -> Result<Self, HistoryError> {
        let mut seen = BTreeSet::new();
        if let Some(twice) = document.cases.iter().find(|case| !seen.insert(&case.id)) {
            let case = twice.id.clone();
            return Err(HistoryError::CaseTwice { case });
        }
        Ok(Self {
            document,
            id: RunId::parse(&document.run.id)?,
            moment: moment::sortable(&document.run.started)?,
            text: detached::text_of(document)?,
        })
    }

    fn write(&self, connection: &Connection) -> Result<(), HistoryError> {
        let known = connection
            .prepare_cached("SELECT 1 FROM run WHERE id = ?1")?
            .exists([self.id.as_str()])?;
        if known {
            let run = self.id.clone();
            return Err(HistoryError::RecordedTwice { run });
        }
        let run = self.write_run(connection)?;
        write_environment(connection, run, self.document)?;
        for (place, case) in self.document.cases.iter().enumerate() {
            self.write_case(connection, run, (rank(place), case))?;
        }
        for (place, one) in self.document.comparison.iter().enumerate() {
            write_comparison(connection, run, (rank(place), one))?;
        }
        Ok(())
    }

    fn write_run(&self, connection: &Connection) -> Result<i64, HistoryError> {
        let document = self.document;
        let (run, tool) = (&document.run, &document.tool);
        let suite = run.suite.as_ref();
        insert(
            connection,
            "run",
            &[
                ("id", &self.id.as_str()),
                ("started", &run.started),
                ("moment", &self.moment),
                ("duration_ns", &run.duration_ns.cast_signed()),
                ("command", &run.command),
                ("seed", &run.seed.to_string()),
                ("suite", &suite.map(|suite| &suite.name)),
                ("suite_sha256", &suite.map(|suite| &suite.sha256)),
                ("tool", &tool.name),
                ("version", &tool.version),
                ("commit_id", &tool.commit),
                ("profile", &tool.profile),
                ("note", &run.note),
                ("tags", &list(&run.tags)),
                ("verdicts", &words(document)),
                ("exit_code", &document.exit.code),
                ("exit_name", &document.exit.name),
                ("cases", &rank(document.cases.len())),
                ("schema_version", &document.schema_version),
                ("document", &self.text),
            ],
        )
    }

    fn write_case(
        &self,
        connection: &Connection,
        run: i64,
        (place, case): (i64, &Case),
    ) -> Result<(), HistoryError> {
        let series = series_of(connection, &case.id, &SeriesKey::of(self.document, case))?;
        let counts = &case.counts;
        let (lo, hi) = ends(case.achieved_interval.as_ref());
        let figures = [
            ("planned", counts.planned),
            ("sent", counts.sent),
            ("never_sent", counts.never_sent),
            ("verified", counts.verified),
            ("unverified", counts.unverified),
            ("wrong", counts.wrong),
            ("error", counts.error),
            ("timeout", counts.timeout),
            ("censored", counts.censored),
        ]
        .map(|(name, figure)| (name, figure.cast_signed()));
        let mut columns: Vec<(&'static str, &dyn ToSql)> = vec![
            ("run", &run),
            ("place", &place),
            ("series", &series),
            ("moment", &self.moment),
        ];
        let (sound, verdict) = (is_sound(case), case.verdict().text());
        let headline = headline(case).map(Kind::name);
        columns.extend::<[(&'static str, &dyn ToSql); 11]>([
            ("sound", &sound),
            ("case_id", &case.id),
            ("op", &case.op),
            ("target", &case.target),
            ("unit", &case.unit),
            ("verdict", &verdict),
            ("achieved_per_s", &case.achieved_per_s),
            ("achieved_lo", &lo),
            ("achieved_hi", &hi),
            ("bytes_per_s", &case.bytes_per_s),
            ("cpu_ns_per_unit", &case.cpu_ns_per_unit),
        ]);
        columns.push(("headline", &headline));
        columns.extend(
            figures
                .iter()
                .map(|(name, figure)| (*name, figure as &dyn ToSql)),
        );
        let result = insert(connection, "case_result", &columns)?;
        write_parts(connection, result, case)
    }
}

/// Whether the figure means what it was asked to mean, so that it belongs on a line with others.
fn is_sound(case: &Case) -> bool {
    case.verdicts.iter().all(|word| {
        !matches!(
            word.exit(),
            Exit::MeasurementInvalid | Exit::TargetWrong | Exit::Interrupted
        )
    })
}

fn headline(case: &Case) -> Option<Kind> {
    [Kind::Response, Kind::Service]
        .into_iter()
        .find(|kind| kind.of(case).is_some())
}

fn write_parts(connection: &Connection, result: i64, case: &Case) -> Result<(), HistoryError> {
    for kind in Kind::ALL {
        if let Some(latency) = kind.of(case) {
            write_histogram(connection, result, (kind, latency))?;
            write_quantiles(connection, result, (kind, latency))?;
        }
    }
    write_blocks(connection, result, case)?;
    for (place, fault) in case.errors.iter().enumerate() {
        insert(
            connection,
            "error",
            &[
                ("result", &result),
                ("place", &rank(place)),
                ("phase", &fault.phase),
                ("code", &fault.code),
                ("n", &fault.n.cast_signed()),
            ],
        )?;
    }
    Ok(())
}

fn write_histogram(
    connection: &Connection,
    result: i64,
    (kind, latency): (Kind, &Latency),
) -> Result<(), HistoryError> {
    insert(
        connection,
        "histogram",
        &[
            ("result", &result),
            ("kind", &kind.name()),
            ("n", &latency.n.cast_signed()),
            ("min_ns", &signed(latency.min_ns)),
            ("max_ns", &signed(latency.max_ns)),
            ("mean_ns", &latency.mean_ns),
            ("mad_ns", &signed(latency.mad_ns)),
            ("batch_k", &signed(latency.batch_k)),
            ("hdr", &latency.hdr),
        ],
    )
    .map(drop)
}

fn write_quantiles(
    connection: &Connection,
    result: i64,
    (kind, latency): (Kind, &Latency),
) -> Result<(), HistoryError> {
    for (name, quantile) in &latency.quantiles {
        let bound = serde_json::to_value(quantile.bound).map_err(|_| HistoryError::NotFinite)?;
        insert(
            connection,
            "quantile",
            &[
                ("result", &result),
                ("kind", &kind.name()),
                ("name", name),
                ("value", &signed(quantile.value)),
                ("lo", &signed(quantile.lo)),
                ("hi", &signed(quantile.hi)),
                ("n", &quantile.n.cast_signed()),
                ("bound", &bound.as_str().unwrap_or_default()),
                ("value_ps", &signed(quantile.value_ps)),
                ("lo_ps", &signed(quantile.lo_ps)),
                ("hi_ps", &signed(quantile.hi_ps)),
            ],
        )?;
    }
    Ok(())
}

fn write_blocks(connection: &Connection, result: i64, case: &Case) -> Result<(), HistoryError> {
    for (place, block) in case.blocks.iter().enumerate() {
        insert(
            connection,
            "block",
            &[
                ("result", &result),
                ("place", &rank(place)),
                ("execution", &block.run),
                ("start_ns", &block.start_ns.cast_signed()),
                ("duration_ns", &block.duration_ns.cast_signed()),
                ("done", &block.done.cast_signed()),
                ("failed", &block.failed.cast_signed()),
                ("in_flight", &block.in_flight.cast_signed()),
                ("p50_ns", &signed(block.p50_ns)),
                ("p99_ns", &signed(block.p99_ns)),
                ("max_ns", &signed(block.max_ns)),
                ("canary", &block.canary),
                ("service_p50_ns", &signed(block.service_p50_ns)),
                ("service_p99_ns", &signed(block.service_p99_ns)),
            ],
        )?;
    }
    Ok(())
}

fn write_environment(
    connection: &Connection,
    run: i64,
    document: &Document,
) -> Result<(), HistoryError> {
    let environment = &document.environment;
    let calibration = &document.calibration;
    insert(
        connection,
        "environment",
        &[
            ("run", &run),
            ("os", &environment.os),
            ("kernel", &environment.kernel),
            ("cpu", &environment.cpu),
            ("cpu_features", &environment.cpu_features.join(" ")),
            ("cores", &environment.cores),
            ("machine_cores", &environment.machine_cores),
            ("memory_bytes", &environment.memory_bytes.cast_signed()),
            ("governor", &environment.governor),
            ("smt", &environment.smt),
            ("virtualisation", &environment.virtualisation),
            ("clock_source", &environment.clock_source),
            ("load_average", &environment.load_average),
            (
                "timer_resolution_ns",
                &calibration.timer_resolution_ns.cast_signed(),
            ),
            ("timer_cost_ps", &calibration.timer_cost_ps.cast_signed()),
            ("noise_percent", &calibration.noise_percent),
        ],
    )
    .map(drop)
}

fn write_comparison(
    connection: &Connection,
    run: i64,
    (place, one): (i64, &Comparison),
) -> Result<(), HistoryError> {
    let (lo, hi) = ends(one.interval.as_ref());
    insert(
        connection,
        "comparison",
        &[
            ("run", &run),
            ("place", &place),
            ("case_id", &one.case),
            ("against", &one.against),
            ("metric", &one.metric),
            ("ratio", &one.ratio),
            ("lo", &lo),
            ("hi", &hi),
            ("p", &one.p),
            ("delta", &one.delta),
            ("threshold", &one.threshold),
            ("current", &one.current),
            ("baseline", &one.baseline),
            ("verdict", &one.verdict.map(Word::text)),
        ],
    )
    .map(drop)
}

/// The number of a line of comparable results, which begins with its first.
fn series_of(connection: &Connection, case: &str, key: &SeriesKey) -> Result<i64, HistoryError> {
    connection
        .prepare_cached("INSERT OR IGNORE INTO series (case_id, settings) VALUES (?1, ?2)")?
        .execute([case, key.text()])?;
    Ok(connection
        .prepare_cached("SELECT no FROM series WHERE case_id = ?1 AND settings = ?2")?
        .query_row([case, key.text()], |row| row.get(0))?)
}

// === Rows and values ===

/// Inserts a row; its number comes back. Names of tables and columns are all written in this file.
fn insert(
    connection: &Connection,
    table: &str,
    columns: &Columns<'_>,
) -> Result<i64, HistoryError> {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let marks = vec!["?"; columns.len()].join(", ");
    let sql = format!(
        "INSERT INTO {table} ({}) VALUES ({marks})",
        names.join(", ")
    );
    connection
        .prepare_cached(&sql)?
        .execute(params_from_iter(columns.iter().map(|(_, value)| value)))?;
    Ok(connection.last_insert_rowid())
}

fn ends(interval: Option<&Interval>) -> (Option<f64>, Option<f64>) {
    (interval.map(|one| one.lo), interval.map(|one| one.hi))
}

fn signed(figure: Option<u64>) -> Option<i64> {
    figure.map(u64::cast_signed)
}

fn rank(place: usize) -> i64 {
    i64::try_from(place).unwrap_or(i64::MAX)
}

/// A JSON array of texts.
fn list<T: AsRef<str>>(texts: &[T]) -> String {
    let all: serde_json::Value = texts.iter().map(|text| text.as_ref().to_owned()).collect();
    all.to_string()
}

fn words(document: &Document) -> String {
    let texts: Vec<&str> = document.verdicts.iter().map(|word| word.text()).collect();
    list(&texts)
}
