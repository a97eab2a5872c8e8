//! Folds events into a snapshot of bounded size.
//!
//! Pure: time is given with each event, and the same events at the same times make the same snapshot. A
//! run of hours needs no more room than one of minutes, and a name from outside takes no more room than
//! [`NAME`] characters and cannot act on a terminal.

mod finished;
mod snapshot;

use keywright_measure::canary::Noise;
use keywright_measure::document::{BlockRecord, Case, Latency};
use keywright_measure::event::Event;

pub use snapshot::{
    Current, ErrorCount, Finished, Generator, HistogramBin, NamedTime, Pace, Second, Snapshot,
    Stage,
};

use crate::number::float;
use crate::plain::fitted;

/// Most seconds of a case that are kept; older ones go.
pub const SECONDS: usize = 300;
/// Most finished cases that are kept; the oldest go.
pub const FINISHED: usize = 200;
/// Most remarks that are kept; the oldest go.
pub const REMARKS: usize = 20;
/// Most kinds of failure that are listed; the rest is one line.
pub const ERRORS: usize = 12;
/// Most bins of a histogram; neighbours are joined.
pub const BINS: usize = 60;
/// Most characters of a name.
pub const NAME: usize = 96;
/// Most quantiles of a case.
const QUANTILES: usize = 12;
/// Seconds over which it is said whether the offered rate is kept.
const RECENT: usize = 10;

/// The fold.
#[derive(Clone, Debug)]
pub struct Board {
    snapshot: Snapshot,
}

impl Board {
    /// Nothing has happened; every case will have `runs` turns.
    #[must_use]
    pub fn new(runs: u32) -> Self {
        let pace = Pace {
            runs: runs.max(1),
            ..Pace::default()
        };
        Self {
            snapshot: Snapshot {
                pace,
                ..Snapshot::default()
            },
        }
    }

    /// What the events so far add up to.
    #[must_use]
    pub const fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Takes in `event`, which came `at_ns` nanoseconds after the board was made.
    pub fn fold(&mut self, at_ns: u64, event: &Event) {
        let snapshot = &mut self.snapshot;
        snapshot.revision += 1;
        snapshot.at_ns = snapshot.at_ns.max(at_ns);
        match event {
            Event::Started { run, cases } => {
                snapshot.run = fitted(run, NAME);
                snapshot.pace.cases = u64::try_from(*cases).unwrap_or(u64::MAX);
                snapshot.stage = Stage::Running;
            }
            Event::CaseStarted {
                id,
                place,
                expected_ns,
                target_per_s,
            } => {
                snapshot.stage = Stage::Running;
                snapshot.pace.turn_begins(at_ns, *expected_ns);
                let begun = Current::begun(fitted(id, NAME), *place, finite(*target_per_s));
                snapshot.current = Some(begun);
            }
            Event::Block { block, .. } => {
                let current = self.current_of(event);
                current.second(at_ns, block, event);
            }
            Event::CaseFinished { case } => {
                snapshot.pace.turn_ends(at_ns);
                finish(snapshot, Finished::of(case));
            }
            Event::Remark { text } => {
                snapshot.remarks.push(fitted(text, 4 * NAME));
                keep_newest(&mut snapshot.remarks, REMARKS);
            }
            Event::Finished { exit } => {
                snapshot.pace.turn_ends(at_ns);
                snapshot.stage = Stage::Finished;
                snapshot.exit = Some(fitted(exit, NAME));
            }
            // What a later engine tells and this display does not know changes nothing.
            _ => {}
        }
    }

    /// The case of a block; a block of a case that never started, such as a trial of a search, starts it.
    fn current_of(&mut self, event: &Event) -> &mut Current {
        let name = match event {
            Event::Block { id, .. } => fitted(id, NAME),
            _ => String::new(),
        };
        let current = self.snapshot.current.take();
        let current = match current {
            Some(current) if current.id == name => current,
            Some(other) => Current::begun(name, other.place, None),
            None => Current::begun(name, 0, None),
        };
        self.snapshot.current.insert(current)
    }
}

impl Current {
    fn begun(id: String, place: usize, target_per_s: Option<f64>) -> Self {
        Self {
            id,
            place,
            target_per_s,
            ..Self::default()
        }
    }

    fn second(&mut self, at_ns: u64, block: &BlockRecord, event: &Event) {
        let Event::Block {
            rate_per_s,
            quantiles,
            histogram,
            errors,
            ..
        } = event
        else {
            return;
        };
        self.run = block.run;
        self.done = self.done.saturating_add(block.done);
        self.failed = self.failed.saturating_add(block.failed);
        self.in_flight = block.in_flight;
        self.rate_per_s = finite(Some(*rate_per_s));
        self.seconds.push(Second {
            at_ns,
            rate_per_s: self.rate_per_s,
            failed: block.failed,
            in_flight: block.in_flight,
            p50_ns: block.p50_ns,
            p99_ns: block.p99_ns,
            max_ns: block.max_ns,
            canary: finite(block.canary),
        });
        keep_newest(&mut self.seconds, SECONDS);
        self.mean_per_s = self.mean();
        self.kept_share = self.kept();
        self.noise_percent = self.noise();
        self.noise = self.noise_percent.map(|p| Noise::of(p).name().to_owned());
        let named = quantiles.iter().take(QUANTILES);
        self.quantiles = named
            .map(|(name, ns)| NamedTime {
                name: fitted(name, NAME),
                ns: *ns,
            })
            .collect();
        self.histogram = coarse(histogram);
        self.errors = listed(errors);
    }

    /// Over the seconds that are kept. Blocks are equally long but for the last.
    fn mean(&self) -> Option<f64> {
        mean(self.seconds.iter().filter_map(|second| second.rate_per_s))
    }

    /// The achieved share of the offered rate over the last seconds.
    fn kept(&self) -> Option<f64> {
        let target = self.target_per_s.filter(|target| *target > 0.0)?;
        let recent = self.seconds.iter().rev().take(RECENT);
        Some(mean(recent.filter_map(|second| second.rate_per_s))? / target)
    }

    /// The coefficient of variation of the fixed work beside the load, in percent.
    fn noise(&self) -> Option<f64> {
        let samples = || self.seconds.iter().filter_map(|second| second.canary);
        let count = samples().count();
        if count < 3 {
            return None;
        }
        let middle = mean(samples()).filter(|mean| *mean > 0.0)?;
        let squares: f64 = samples().map(|sample| (sample - middle).powi(2)).sum();
        let variance = squares / float(u64::try_from(count - 1).ok()?);
        finite(Some(variance.sqrt() / middle * 100.0))
    }
}

impl Finished {
    /// What is shown of a result.
    #[must_use]
    pub fn of(case: &Case) -> Self {
        let at = |latency: Option<&Latency>, name| latency?.quantile(name)?.value;
        let noise_percent = finite(case.checks.noise_percent);
        Self {
            id: fitted(&case.id, NAME),
            target: fitted(&case.target, NAME),
            achieved_per_s: finite(Some(case.achieved_per_s)),
            target_per_s: finite(case.load.rate_per_s),
            p50_ns: at(case.headline(), "p50"),
            p99_ns: at(case.headline(), "p99"),
            times: case.response.as_ref().map_or("service", |_| "response"),
            failed: case.counts.wrong
                + case.counts.error
                + case.counts.timeout
                + case.counts.censored,
            never_sent: case.counts.never_sent,
            verdict: case.verdict(),
            words: case.verdicts.clone(),
            noise: noise_percent.map(|percent| Noise::of(percent).name().to_owned()),
            noise_percent,
            generator: Generator {
                ceiling_percent: finite(case.checks.ceiling_percent),
                little_percent: finite(case.checks.little_percent),
                lateness_p99_ns: at(case.lateness.as_ref(), "p99"),
                pacer_p99_ns: at(case.pacer.as_ref(), "p99"),
            },
        }
    }
}

fn finish(snapshot: &mut Snapshot, finished: Finished) {
    match snapshot.finished.iter_mut().find(|f| f.id == finished.id) {
        Some(same) => *same = finished,
        None => {
            snapshot.finished.push(finished);
            snapshot.finished_in_all += 1;
        }
    }
    keep_newest(&mut snapshot.finished, FINISHED);
}

/// The most frequent failures, and how many others there were.
fn listed(errors: &[(String, u64)]) -> Vec<ErrorCount> {
    let mut sorted: Vec<&(String, u64)> = errors.iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let mut out: Vec<ErrorCount> = sorted
        .iter()
        .take(ERRORS)
        .map(|(code, n)| ErrorCount {
            code: fitted(code, NAME),
            n: *n,
        })
        .collect();
    let rest = sorted.get(ERRORS..).unwrap_or_default();
    if !rest.is_empty() {
        out.push(ErrorCount {
            code: format!("{} other kinds", rest.len()),
            n: rest.iter().fold(0, |sum, (_, n)| sum.saturating_add(*n)),
        });
    }
    out
}

/// At most [`BINS`] bins: as many neighbours in one as it takes.
fn coarse(bins: &[(u64, u64)]) -> Vec<HistogramBin> {
    let together = bins.len().div_ceil(BINS).max(1);
    bins.chunks(together)
        .filter_map(|chunk| {
            Some(HistogramBin {
                to_ns: chunk.last()?.0,
                n: chunk.iter().fold(0, |sum, (_, n)| sum.saturating_add(*n)),
            })
        })
        .collect()
}

fn keep_newest<T>(list: &mut Vec<T>, most: usize) {
    let surplus = list.len().saturating_sub(most);
    list.drain(..surplus);
}

fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|value| value.is_finite())
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u64), |(sum, n), value| (sum + value, n + 1));
    (count > 0).then(|| sum / float(count))
}
