//! The level of a figure over comparable runs, and where it changed.
//!
//! Changes are found by E-Divisive ([`keywright_measure::stats::change_points`]) among the newest
//! [`WINDOW`] sound points, because each test shuffles all of them. What was found is written to the file:
//! when a change has moved out of the window it is still known. Within the window the last search decides,
//! except in its oldest part, where a change has too few points before it to be found again.

use std::collections::BTreeMap;

use keywright_measure::stats::change_points::{self, Detection};
use keywright_measure::stats::interval::Interval;
use keywright_measure::stats::{hodges_lehmann, location};
use rusqlite::Connection;

use super::series::{self, Numbered, Points};
use super::{History, HistoryError, Metric, Point, RunFilter, RunId};
use crate::comparability::SeriesKey;

/// The newest points among which changes are searched, and the most of a level that are looked at.
const WINDOW: usize = 250;
/// The oldest part of the window.
const FADING: usize = WINDOW / 5;
/// The fewest runs of a level.
const SHORTEST: usize = 5;
/// Twenty cases with three figures each are sixty searches: at 0.05 three of them would show a change that is
/// none, at 0.01 seldom one.
const SIGNIFICANCE: f64 = 0.01;
const PERMUTATIONS: u32 = 199;
const CONFIDENCE: f64 = 0.95;

/// A figure of a case over comparable runs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Trend {
    /// The case.
    pub case: String,
    /// The figure.
    pub metric: Metric,
    /// What the runs have in common.
    pub key: SeriesKey,
    /// Sound points, oldest first; at most the newest 10,000.
    pub points: Vec<Point>,
    /// Where the level changed, oldest first.
    pub change_points: Vec<ChangePoint>,
    /// The level since the last change, or of all points.
    pub current: Option<Level>,
    /// The level before the last change.
    pub previous: Option<Level>,
    /// The centre of the current level over that of the previous one, with an interval from all ratios of their
    /// values; absent without a change, or if a point is not positive.
    pub ratio: Option<Interval>,
}

/// A change of level.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChangePoint {
    /// The place among the points of the first after the change.
    pub index: usize,
    /// That point's run.
    pub run: RunId,
    /// Of the permutation test.
    pub p: f64,
    /// The median of the level before.
    pub before: f64,
    /// The median of the level after.
    pub after: f64,
}

/// Runs between two changes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Level {
    /// The first run.
    pub first: RunId,
    /// The last run.
    pub last: RunId,
    /// How many runs.
    pub runs: usize,
    /// The pseudo-median (Hodges and Lehmann) of the newest of them, at most 250, with its interval.
    pub centre: Interval,
}

/// A change as it is stored: the number of the run, and p.
type Known = BTreeMap<i64, f64>;

impl History {
    /// The trend of a figure over the runs that are comparable with the newest one that has the case.
    /// `None` if no run has it.
    ///
    /// Changes that were found are written to the file, if that can be done.
    ///
    /// # Errors
    /// Those of the data and the environment.
    pub fn trend(&mut self, case: &str, metric: Metric) -> Result<Option<Trend>, HistoryError> {
        self.newest_key(case)?
            .map(|key| self.trend_of(case, metric, key))
            .transpose()
    }

    /// The trends of every case of the newest run in each of these figures, in the order of the run. A figure
    /// that no run of the case has is left out. Empty without runs.
    ///
    /// # Errors
    /// Those of the data and the environment.
    pub fn trends(&mut self, metrics: &[Metric]) -> Result<Vec<Trend>, HistoryError> {
        let newest = self.runs(&RunFilter::default(), 1)?;
        let Some(newest) = newest.first() else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for case in self.run(&newest.id)?.cases {
            for metric in metrics {
                let trend = self.trend(&case.id, *metric)?;
                found.extend(trend.filter(|trend| !trend.points.is_empty()));
            }
        }
        Ok(found)
    }

    /// The trend of a figure over the runs that are comparable with `key`. Without such runs it is empty.
    ///
    /// # Errors
    /// Those of the data and the environment.
    pub fn trend_of(
        &mut self,
        case: &str,
        metric: Metric,
        key: SeriesKey,
    ) -> Result<Trend, HistoryError> {
        let reading = self.connection.unchecked_transaction()?;
        let series = series::series_of(&reading, case, &key)?;
        let (line, known) = match series {
            Some(series) => (
                series::points(&reading, series, (metric, Points::Sound))?,
                known(&reading, series, metric)?,
            ),
            None => (Vec::new(), Known::new()),
        };
        drop(reading);
        let changes = merge(&line, &known);
        if let Some(series) = series {
            match self.remember(series, metric, (&stale(&line, &known, &changes), &changes)) {
                // It will be found again.
                Err(HistoryError::Busy | HistoryError::Full | HistoryError::Unreadable(_)) => {}
                other => other?,
            }
        }
        Ok(describe(case, metric, key, (line, &changes)))
    }

    fn remember(
        &mut self,
        series: i64,
        metric: Metric,
        (stale, changes): (&[i64], &[Found]),
    ) -> Result<(), HistoryError> {
        let new: Vec<&Found> = changes.iter().filter(|change| change.is_new).collect();
        if stale.is_empty() && new.is_empty() {
            return Ok(());
        }
        let writing = self.write()?;
        for run in stale {
            writing
                .prepare_cached(
                    "DELETE FROM changepoint WHERE series = ?1 AND metric = ?2 AND run = ?3",
                )?
                .execute((series, metric.name(), run))?;
        }
        for change in new {
            // Run and series may have been forgotten since they were read.
            writing
                .prepare_cached(
                    "INSERT OR REPLACE INTO changepoint (series, metric, run, p)
                     SELECT series.no, ?2, run.no, ?4 FROM series, run
                     WHERE series.no = ?1 AND run.no = ?3",
                )?
                .execute((series, metric.name(), change.run, change.p))?;
        }
        Ok(writing.commit()?)
    }
}

fn known(connection: &Connection, series: i64, metric: Metric) -> Result<Known, HistoryError> {
    let mut statement = connection
        .prepare_cached("SELECT run, p FROM changepoint WHERE series = ?1 AND metric = ?2")?;
    let rows = statement.query_map((series, metric.name()), |row| {
        Ok((row.get(0)?, row.get(1)?))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// A change on a line.
struct Found {
    index: usize,
    run: i64,
    p: f64,
    /// Not yet in the file, or with another p.
    is_new: bool,
}

/// What is known of the part that is not searched any more, and what the search finds in the rest.
fn merge(line: &[Numbered], known: &Known) -> Vec<Found> {
    let start = line.len().saturating_sub(WINDOW);
    let settled = if start == 0 { 0 } else { start + FADING };
    let older = line.iter().take(settled).enumerate();
    let mut changes: Vec<Found> = older
        .filter_map(|(index, one)| {
            known.get(&one.number).map(|p| Found {
                index,
                run: one.number,
                p: *p,
                is_new: false,
            })
        })
        .collect();
    for found in search(line.get(start..).unwrap_or_default()) {
        let index = start + found.index;
        let Some(one) = line.get(index) else { continue };
        if changes
            .iter()
            .all(|other| other.index.abs_diff(index) >= SHORTEST)
        {
            changes.push(Found {
                index,
                run: one.number,
                p: found.p,
                is_new: known.get(&one.number) != Some(&found.p),
            });
        }
    }
    changes.sort_by_key(|change| change.index);
    changes
}

fn search(window: &[Numbered]) -> Vec<change_points::ChangePoint> {
    let values: Vec<f64> = window.iter().map(|one| one.point.value).collect();
    let how = Detection {
        min_segment: SHORTEST,
        permutations: PERMUTATIONS,
        significance: SIGNIFICANCE,
        seed: 0,
    };
    change_points::detect(&values, &how).unwrap_or_default()
}

/// Runs on this line that are stored as changes and are none any more.
fn stale(line: &[Numbered], known: &Known, changes: &[Found]) -> Vec<i64> {
    line.iter()
        .map(|one| one.number)
        .filter(|run| known.contains_key(run) && changes.iter().all(|change| change.run != *run))
        .collect()
}

fn describe(
    case: &str,
    metric: Metric,
    key: SeriesKey,
    (line, changes): (Vec<Numbered>, &[Found]),
) -> Trend {
    let points: Vec<Point> = line.into_iter().map(|one| one.point).collect();
    let mut borders = vec![0];
    borders.extend(changes.iter().map(|change| change.index));
    borders.push(points.len());
    let levels: Vec<&[Point]> = borders
        .windows(2)
        .filter_map(|pair| points.get(*pair.first()?..*pair.last()?))
        .collect();
    let change_points = changes
        .iter()
        .zip(levels.windows(2))
        .filter_map(|(change, pair)| change_point(change, &points, pair))
        .collect();
    let (current, previous) = match levels.as_slice() {
        [.., previous, current] => (Some(*current), Some(*previous)),
        [only] => (Some(*only), None),
        [] => (None, None),
    };
    let ratio = previous.zip(current).and_then(|(previous, current)| {
        let spread = ratio(newest(previous), newest(current))?;
        let estimate = level(current)?.centre.estimate / level(previous)?.centre.estimate;
        Some(Interval {
            estimate,
            lo: spread.lo.min(estimate),
            hi: spread.hi.max(estimate),
            level: spread.level,
        })
    });
    Trend {
        case: case.to_owned(),
        metric,
        key,
        current: current.and_then(level),
        previous: previous.and_then(level),
        ratio,
        change_points,
        points,
    }
}

fn change_point(change: &Found, points: &[Point], pair: &[&[Point]]) -> Option<ChangePoint> {
    let [before, after] = pair else { return None };
    Some(ChangePoint {
        index: change.index,
        run: points.get(change.index)?.run.clone(),
        p: change.p,
        before: location::median(&values(before))?,
        after: location::median(&values(after))?,
    })
}

fn level(points: &[Point]) -> Option<Level> {
    Some(Level {
        first: points.first()?.run.clone(),
        last: points.last()?.run.clone(),
        runs: points.len(),
        centre: hodges_lehmann::centre(&values(newest(points)), CONFIDENCE)?,
    })
}

/// The median of all ratios of a current value to a previous one, as a shift of logarithms.
fn ratio(previous: &[Point], current: &[Point]) -> Option<Interval> {
    let logarithms = |points: &[Point]| -> Option<Vec<f64>> {
        let all = points.iter().map(|point| point.value);
        all.map(|value| (value > 0.0).then(|| value.ln())).collect()
    };
    let (before, after) = (logarithms(previous)?, logarithms(current)?);
    let shift = hodges_lehmann::shift(&before, &after, CONFIDENCE)?;
    Some(Interval {
        estimate: shift.estimate.exp(),
        lo: shift.lo.exp(),
        hi: shift.hi.exp(),
        level: shift.level,
    })
}

fn newest(points: &[Point]) -> &[Point] {
    let start = points.len().saturating_sub(WINDOW);
    points.get(start..).unwrap_or(points)
}

fn values(points: &[Point]) -> Vec<f64> {
    points.iter().map(|point| point.value).collect()
}
