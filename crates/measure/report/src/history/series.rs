//! Lines of comparable results: one figure of one case, over runs whose settings are equal.

use keywright_measure::document::Interval;
use rusqlite::{Connection, Row};

use super::{History, HistoryError, RunId};
use crate::comparability::SeriesKey;

/// The most points of a line that are read, the newest ones.
pub(super) const MOST_POINTS: usize = 10_000;

/// A figure that is followed over runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Metric {
    /// Processor time per unit, in nanoseconds.
    Cpu,
    /// A quantile in nanoseconds, of response time where there is one, else of service time.
    P50,
    /// The same.
    P90,
    /// The same.
    P95,
    /// The same.
    P99,
    /// The same.
    P999,
    /// Units in a second.
    Throughput,
}

impl Metric {
    /// Every figure.
    pub const ALL: [Self; 7] = [
        Self::Cpu,
        Self::P50,
        Self::P90,
        Self::P95,
        Self::P99,
        Self::P999,
        Self::Throughput,
    ];

    /// Its name, as in comparisons: `throughput`, `p99.9`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::P999 => "p99.9",
            Self::Throughput => "throughput",
        }
    }

    /// The figure of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }

    const fn sql(self) -> &'static str {
        match self {
            Self::Cpu => CPU,
            Self::Throughput => THROUGHPUT,
            Self::P50 | Self::P90 | Self::P95 | Self::P99 | Self::P999 => QUANTILE,
        }
    }
}

/// The figure in one run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Point {
    /// The run.
    pub run: RunId,
    /// When it started; RFC 3339, UTC.
    pub started: String,
    /// The commit it was built from, where known.
    pub commit: Option<String>,
    /// The figure, in the metric's unit.
    pub value: f64,
    /// Its 95 % interval within the run, where there is one.
    pub interval: Option<Interval>,
    /// The word that decided the case.
    pub verdict: String,
    /// Whether the figure means what it says: outputs right, the generator not the limit, not cut short.
    pub sound: bool,
}

/// Which points of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Points {
    All,
    Sound,
}

/// A point and the number of its run in the file.
pub(super) struct Numbered {
    pub(super) number: i64,
    pub(super) point: Point,
}

// In each of these the join order is the written one, and the index gives the newest first, so that a limit
// ends the search. A quantile that is withheld or only a bound has no place on a line.
macro_rules! points {
    ($value:literal, $lo:literal, $hi:literal, $join:literal, $condition:literal) => {
        concat!(
            "SELECT run.no, run.id, run.started, run.commit_id, c.verdict, c.sound, ",
            $value,
            ", ",
            $lo,
            ", ",
            $hi,
            " FROM case_result AS c CROSS JOIN run ",
            $join,
            " WHERE c.series = ?1 AND c.sound >= ?2 AND ?4 IS NOT NULL AND run.no = c.run AND ",
            $condition,
            " ORDER BY c.moment DESC, c.run DESC LIMIT ?3"
        )
    };
}

const THROUGHPUT: &str = points!(
    "c.achieved_per_s",
    "c.achieved_lo",
    "c.achieved_hi",
    "",
    "TRUE"
);
const CPU: &str = points!(
    "c.cpu_ns_per_unit",
    "NULL",
    "NULL",
    "",
    "c.cpu_ns_per_unit IS NOT NULL"
);
/// Of batch means the value is known finer than its interval, which is left out.
const QUANTILE: &str = points!(
    "coalesce(q.value_ps / 1000.0, q.value)",
    "coalesce(q.lo_ps / 1000.0, q.lo)",
    "coalesce(q.hi_ps / 1000.0, q.hi)",
    "CROSS JOIN quantile AS q",
    "q.result = c.no AND q.kind = c.headline AND q.name = ?4 || '_ns' AND q.bound = 'exact' \
     AND coalesce(q.value_ps, q.value) IS NOT NULL"
);

impl History {
    /// The figure of a case in every run that is comparable with `key`, oldest first; at most the newest
    /// 10,000.
    ///
    /// # Errors
    /// Those of the data and the environment.
    pub fn case_series(
        &self,
        case: &str,
        metric: Metric,
        key: &SeriesKey,
    ) -> Result<Vec<Point>, HistoryError> {
        let reading = self.connection.unchecked_transaction()?;
        let Some(series) = series_of(&reading, case, key)? else {
            return Ok(Vec::new());
        };
        let found = points(&reading, series, (metric, Points::All))?;
        Ok(found.into_iter().map(|one| one.point).collect())
    }

    /// The key of the newest run that has this case.
    ///
    /// # Errors
    /// Those of the data and the environment.
    pub fn newest_key(&self, case: &str) -> Result<Option<SeriesKey>, HistoryError> {
        let found = self
            .connection
            .prepare_cached(
                "SELECT series.settings FROM case_result AS c CROSS JOIN series
                 WHERE c.case_id = ?1 AND series.no = c.series
                 ORDER BY c.moment DESC, c.run DESC LIMIT 1",
            )?
            .query_map([case], |row| row.get(0))?
            .next()
            .transpose()?;
        Ok(found.map(SeriesKey::from_stored))
    }
}

/// The number of a line in the file.
pub(super) fn series_of(
    connection: &Connection,
    case: &str,
    key: &SeriesKey,
) -> Result<Option<i64>, HistoryError> {
    Ok(connection
        .prepare_cached("SELECT no FROM series WHERE case_id = ?1 AND settings = ?2")?
        .query_map([case, key.text()], |row| row.get(0))?
        .next()
        .transpose()?)
}

/// Oldest first.
pub(super) fn points(
    connection: &Connection,
    series: i64,
    (metric, which): (Metric, Points),
) -> Result<Vec<Numbered>, HistoryError> {
    let limit = i64::try_from(MOST_POINTS).unwrap_or(i64::MAX);
    let mut statement = connection.prepare_cached(metric.sql())?;
    let mut rows = statement.query((series, which == Points::Sound, limit, metric.name()))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(numbered(row)?);
    }
    found.reverse();
    Ok(found)
}

fn numbered(row: &Row<'_>) -> Result<Numbered, HistoryError> {
    let ends: (Option<f64>, Option<f64>) = (row.get(7)?, row.get(8)?);
    let interval = match ends {
        (Some(lo), Some(hi)) => Some(Interval { lo, hi }),
        _ => None,
    };
    Ok(Numbered {
        number: row.get(0)?,
        point: Point {
            run: RunId::stored(&row.get::<_, String>(1)?)?,
            started: row.get(2)?,
            commit: row.get(3)?,
            verdict: row.get(4)?,
            sound: row.get(5)?,
            value: row.get(6)?,
            interval,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use keywright_measure::document::{Case, Document, Latency, Quantile};
    use rusqlite::StatementStatus;

    fn many(runs: u64) -> Vec<Document> {
        (0..runs).map(document).collect()
    }

    /// Every fifth run is of another machine, and each has a case that nobody asks for.
    fn document(number: u64) -> Document {
        let mut document = Document::default();
        document.run.id = format!("{number:016x}");
        document.run.started = format!("2026-01-01T00:00:00.{number:09}Z");
        document.environment.cores = if number.is_multiple_of(5) { 8 } else { 4 };
        let quantile = Quantile {
            value: Some(1000 + number),
            n: 10,
            ..Quantile::default()
        };
        let service = Latency {
            quantiles: [
                ("p50_ns".to_owned(), quantile.clone()),
                ("p99_ns".to_owned(), quantile),
            ]
            .into(),
            ..Latency::default()
        };
        document.cases = ["asked", "other"]
            .map(|id| Case {
                id: id.to_owned(),
                service: Some(service.clone()),
                cpu_ns_per_unit: Some(1.5),
                ..Case::default()
            })
            .into();
        document
    }

    #[test]
    fn ten_thousand_runs_are_searched_by_index_and_only_the_rows_of_the_line_are_read() {
        let mut history = History::open_in_memory().unwrap();
        history.record_all(&many(10_000)).unwrap();
        let key = history.newest_key("asked").unwrap().unwrap();
        let series = series_of(&history.connection, "asked", &key)
            .unwrap()
            .unwrap();
        for metric in [Metric::Throughput, Metric::Cpu, Metric::P99] {
            let plan: Vec<String> = history
                .connection
                .prepare(&format!("EXPLAIN QUERY PLAN {}", metric.sql()))
                .unwrap()
                .query_map((series, true, 10_000, metric.name()), |row| row.get(3))
                .unwrap()
                .map(Result::unwrap)
                .collect();
            let first = "SEARCH c USING INDEX case_result_by_series (series=?)";
            assert_eq!(plan[0], first, "{plan:?}");
            assert!(
                plan.iter().all(|step| step.starts_with("SEARCH ")),
                "{plan:?}"
            );
            let mut statement = history.connection.prepare(metric.sql()).unwrap();
            let rows = statement
                .query_map((series, true, 10_000, metric.name()), |_| Ok(()))
                .unwrap();
            assert_eq!(rows.count(), 8_000);
            assert_eq!(statement.get_status(StatementStatus::FullscanStep), 0);
            assert_eq!(statement.get_status(StatementStatus::Sort), 0);
            // Some thirty steps of the machine for each of the 8,000 rows; the 12,000 others cost none.
            assert!(statement.get_status(StatementStatus::VmStep) < 8_000 * 45);
        }
        let trend = history.trend("asked", Metric::P99).unwrap().unwrap();
        assert_eq!(trend.points.len(), 8_000);
        assert!(
            trend
                .points
                .iter()
                .zip(many(10_000).iter().filter(|one| one.environment.cores == 4))
                .all(|(point, document)| point.run.as_str() == document.run.id)
        );
    }

    #[test]
    fn listing_runs_follows_the_index_of_their_starts_and_sorts_nothing() {
        let mut history = History::open_in_memory().unwrap();
        history.record_all(&many(50)).unwrap();
        let sql = format!("EXPLAIN QUERY PLAN {}", super::super::read::RUNS);
        let mut statement = history.connection.prepare(&sql).unwrap();
        // Nothing bound: every condition is absent.
        let mut rows = statement.raw_query();
        let mut plan: Vec<String> = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            plan.push(row.get(3).unwrap());
        }
        assert!(plan[0].contains("USING INDEX run_by_moment"), "{plan:?}");
        assert!(
            !plan.iter().any(|step| step.contains("TEMP B-TREE")),
            "{plan:?}"
        );
    }

    #[test]
    fn every_metric_has_a_name_of_its_own() {
        for metric in Metric::ALL {
            assert_eq!(Metric::named(metric.name()), Some(metric));
        }
        for unknown in ["", "P99", "p99_ns", "p98", "ops"] {
            assert_eq!(Metric::named(unknown), None);
        }
    }
}
