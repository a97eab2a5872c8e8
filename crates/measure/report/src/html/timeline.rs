//! Blocks of all runs on one line of time.

use keywright_measure::document::{BlockRecord, Case};

use crate::number;

/// One point of the line: a block, or several neighbours joined.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Point {
    /// Its middle, in nanoseconds since the first run began.
    pub(super) at: f64,
    length: f64,
    done: f64,
    failed: f64,
    pub(super) in_flight: f64,
    pub(super) p50: Option<f64>,
    pub(super) p99: Option<f64>,
    pub(super) service_p50: Option<f64>,
    pub(super) service_p99: Option<f64>,
    pub(super) canary: Option<f64>,
}

impl Point {
    pub(super) fn rate(&self) -> f64 {
        self.done / (self.length / 1e9)
    }

    pub(super) fn failed_rate(&self) -> f64 {
        self.failed / (self.length / 1e9)
    }

    /// Sums where there is something to add, the worst where there is not.
    fn with(self, other: Self) -> Self {
        let worst = |one: Option<f64>, two: Option<f64>| match (one, two) {
            (Some(one), Some(two)) => Some(one.max(two)),
            (one, two) => one.or(two),
        };
        Self {
            at: f64::midpoint(self.at, other.at),
            length: self.length + other.length,
            done: self.done + other.done,
            failed: self.failed + other.failed,
            in_flight: self.in_flight.max(other.in_flight),
            p50: worst(self.p50, other.p50),
            p99: worst(self.p99, other.p99),
            service_p50: worst(self.service_p50, other.service_p50),
            service_p99: worst(self.service_p99, other.service_p99),
            canary: worst(self.canary, other.canary),
        }
    }
}

/// All runs, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Timeline {
    pub(super) points: Vec<Point>,
    /// Where runs after the first begin.
    pub(super) starts: Vec<f64>,
    /// Blocks per point.
    pub(super) joined: usize,
}

impl Timeline {
    /// The blocks of a case as at most `most` points.
    pub(super) fn of(case: &Case, most: usize) -> Self {
        let joined = case.blocks.len().div_ceil(most.max(1)).max(1);
        let mut line = Self {
            joined,
            ..Self::default()
        };
        let mut offset = 0.0;
        for run in case.blocks.chunk_by(|one, other| one.run == other.run) {
            if !line.points.is_empty() {
                line.starts.push(offset);
            }
            for blocks in run.chunks(joined) {
                let points = blocks.iter().map(|block| point(block, offset));
                line.points.extend(points.reduce(Point::with));
            }
            let ends = run
                .iter()
                .map(|block| number::float(block.start_ns) + number::float(block.duration_ns));
            offset += ends.fold(0.0, f64::max);
        }
        line
    }

    /// What joining did, where it did something.
    pub(super) fn note(&self) -> String {
        match self.joined {
            0 | 1 => String::new(),
            n => format!("{n} blocks a point: rates over all of them, otherwise the worst"),
        }
    }
}

fn point(block: &BlockRecord, offset: f64) -> Point {
    let length = number::float(block.duration_ns);
    Point {
        at: offset + number::float(block.start_ns) + length / 2.0,
        length,
        done: number::float(block.done),
        failed: number::float(block.failed),
        in_flight: number::float(block.in_flight),
        p50: block.p50_ns.map(number::float),
        p99: block.p99_ns.map(number::float),
        service_p50: block.service_p50_ns.map(number::float),
        service_p99: block.service_p99_ns.map(number::float),
        canary: block.canary,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(runs: u32, blocks: u64) -> Case {
        let blocks = (0..runs).flat_map(|run| {
            (0..blocks).map(move |k| BlockRecord {
                run,
                start_ns: k * 1_000_000_000,
                duration_ns: 1_000_000_000,
                done: 100,
                p99_ns: Some(k + 1),
                ..BlockRecord::default()
            })
        });
        Case {
            blocks: blocks.collect(),
            ..Case::default()
        }
    }

    #[test]
    fn runs_follow_each_other_and_time_never_goes_back() {
        let line = Timeline::of(&case(3, 10), 100);
        assert_eq!((line.points.len(), line.joined), (30, 1));
        assert_eq!(line.starts, [1e10, 2e10]);
        assert!(line.points.windows(2).all(|pair| pair[0].at < pair[1].at));
    }

    #[test]
    fn joining_keeps_rates_and_the_worst_tail() {
        let line = Timeline::of(&case(2, 10), 5);
        assert!(line.points.len() <= 6, "{}", line.points.len());
        assert!(
            line.points
                .iter()
                .all(|point| (point.rate() - 100.0).abs() < 1e-9)
        );
        let worst = line
            .points
            .iter()
            .filter_map(|point| point.p99)
            .fold(0.0, f64::max);
        assert!((worst - 10.0).abs() < 1e-9);
        assert!(Timeline::of(&case(0, 0), 5).points.is_empty());
    }
}
