//! What a burst does, and how long it is felt.
//!
//! One schedule without a gap: a base load, a spike, the base load again. The generator never pauses, so
//! what the spike leaves behind meets the load that would be there anyway. The target has **recovered** when
//! the 99th percentile of response time is back inside what it was before, with a margin, for five windows
//! in a row; a window is a block of the run.
//!
//! **Backlog** is what was due and had not ended. **Latency debt** is the sum over all operations from the
//! spike on of response time beyond the mean of the base: what all callers together waited because of it.
//! An operation counts in the window in which it ended.

use std::num::NonZeroU32;
use std::time::Duration;

use keywright_clock::nanos;

use crate::carry::{Assignment, Carried, Carrier, TargetError};
use crate::document::{BlockRecord, RecoveryModel};
use crate::ledger::Ledger;
use crate::load::{Arrival, Load, LoadError, Open, Phase, Schedule};
use crate::series::Due;
use crate::stats::location;

/// Windows in a row that have to be back at the base.
pub const IN_A_ROW: usize = 5;

/// A burst inside a base load.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "the parameters of a burst")]
pub struct Spike {
    /// How operations are spread.
    pub arrival: Arrival,
    /// The base load, in operations a second.
    pub base_per_s: f64,
    /// The spike, in operations a second.
    pub spike_per_s: f64,
    /// Base load before it.
    pub before: Duration,
    /// Its length.
    pub during: Duration,
    /// Base load after it.
    pub after: Duration,
    /// Most operations in flight.
    pub cap: NonZeroU32,
    /// What is allowed above the highest window before the spike, as a share of it.
    pub margin: f64,
}

impl Spike {
    /// The schedule.
    ///
    /// # Errors
    /// A rate out of range, or a part without length.
    pub fn load(&self) -> Result<Load, LoadError> {
        Ok(Load::Open(Open {
            arrival: self.arrival,
            phases: vec![
                Phase::constant(self.base_per_s, self.before)?,
                Phase::constant(self.spike_per_s, self.during)?,
                Phase::constant(self.base_per_s, self.after)?,
            ],
            cap: self.cap,
        }))
    }

    fn starts(&self) -> u64 {
        nanos(self.before)
    }

    fn ends(&self) -> u64 {
        nanos(self.before + self.during)
    }

    /// Carries the burst and reads what it did. Load and window of `assignment` are replaced; its block is
    /// the window of the reading, a tenth of a second or so.
    ///
    /// # Errors
    /// The target cannot be measured, or the schedule cannot be made.
    pub fn carry(
        &self,
        carrier: &mut dyn Carrier,
        assignment: &Assignment<'_>,
        each: &mut dyn FnMut(&BlockRecord, &Ledger),
    ) -> Result<(Carried, Option<RecoveryModel>), TargetError> {
        let load = self
            .load()
            .map_err(|_| TargetError::Load("the rates or lengths of the spike are out of range"))?;
        let Load::Open(open) = &load else {
            return Err(TargetError::Load("a spike is an open load"));
        };
        let mut windows = Windows::new(open.schedule(assignment.seed));
        let assignment = Assignment {
            load: &load,
            window: crate::carry::Window::Time(open.duration()),
            ..assignment.clone()
        };
        let carried = carrier.carry(&assignment, &mut |block, ledger| {
            windows.add(block, ledger);
            each(block, ledger);
        })?;
        let model = self.read(&windows.done, &carried);
        Ok((carried, model))
    }

    /// None without windows of the base before the spike.
    fn read(&self, windows: &[Window], carried: &Carried) -> Option<RecoveryModel> {
        let before = windows.iter().filter(|window| window.end <= self.starts());
        // The first tenth fills caches and queues.
        let before: Vec<&Window> = before.collect();
        let before = &before[before.len() / 10..];
        let tails = |windows: &[&Window]| -> Vec<f64> {
            let tails = windows.iter().filter_map(|window| window.p99);
            tails.map(|nanos| nanos as f64).collect()
        };
        let usual = tails(before);
        let highest = usual.iter().copied().reduce(f64::max)?;
        let waited: f64 = before.iter().map(|window| window.sum).sum();
        let mean = waited / before.iter().map(|window| window.count).sum::<u64>().max(1) as f64;

        let since: Vec<&Window> = windows
            .iter()
            .filter(|window| window.end > self.starts())
            .collect();
        let after: Vec<&Window> = since
            .iter()
            .copied()
            .filter(|window| window.start >= self.ends())
            .collect();
        let limit = highest * (1.0 + self.margin.max(0.0));
        let recovered = recovered(&after, limit);
        let rest = &after[recovered.unwrap_or(after.len())..];
        let excess = |window: &&Window| (window.sum - mean * window.count as f64).max(0.0);
        // Once recovered, what is above the mean is chance, half of which would be cut off.
        let felt = since.len() - rest.len();
        let debt: f64 = since.iter().take(felt).map(excess).sum();
        let counts = &carried.ledger.counts;
        Some(RecoveryModel {
            before_p99_ns: whole(location::median(&usual)?),
            after_p99_ns: location::median(&tails(rest)).map(whole),
            recovery_ns: recovered
                .and_then(|place| after.get(place))
                .map(|window| window.start.saturating_sub(self.ends())),
            peak_in_flight: carried.peak_in_flight,
            peak_backlog: windows
                .iter()
                .map(|window| window.backlog)
                .max()
                .unwrap_or(0),
            latency_debt_s: debt / 1e9,
            lost: counts.timeout + counts.censored,
            refused: counts.error,
        })
    }
}

/// The first of the windows from which on enough in a row are at most `limit`. A window in which nothing
/// ended is neither in nor out where nothing was waiting, and out where something was.
fn recovered(windows: &[&Window], limit: f64) -> Option<usize> {
    let (mut first, mut row) = (0, 0);
    for (place, window) in windows.iter().enumerate() {
        let inside = match window.p99 {
            Some(p99) => p99 as f64 <= limit,
            None => window.backlog == 0,
        };
        if !inside {
            row = 0;
            continue;
        }
        if row == 0 {
            first = place;
        }
        row += 1;
        if row == IN_A_ROW {
            return Some(first);
        }
    }
    None
}

/// What is known of one window.
#[derive(Clone, Copy, Debug)]
struct Window {
    start: u64,
    end: u64,
    p99: Option<u64>,
    /// Response times that ended in it: their sum in nanoseconds, and how many.
    sum: f64,
    count: u64,
    /// Due and not ended when it was over.
    backlog: u64,
}

/// Reads windows off the blocks of a run as they are told.
struct Windows {
    due: Due,
    ended: u64,
    done: Vec<Window>,
}

impl Windows {
    fn new(schedule: Schedule) -> Self {
        Self {
            due: Due::new(schedule),
            ended: 0,
            done: Vec::new(),
        }
    }

    fn add(&mut self, block: &BlockRecord, ledger: &Ledger) {
        let end = block.start_ns.saturating_add(block.duration_ns);
        self.ended += ledger.counts.ended();
        self.done.push(Window {
            start: block.start_ns,
            end,
            p99: ledger.response.quantile(0.99),
            sum: ledger.response.mean().unwrap_or(0.0) * ledger.response.count() as f64,
            count: ledger.response.count(),
            backlog: self.due.by(end).saturating_sub(self.ended),
        });
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the median of times, which are not negative"
)]
fn whole(nanos: f64) -> u64 {
    nanos.round() as u64
}
