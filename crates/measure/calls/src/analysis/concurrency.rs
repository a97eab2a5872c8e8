//! How many calls of a process ran at the same time.
//!
//! Records stand in the order in which calls came back, their monotonic times say when they began. Calls are put
//! back into the order of their beginnings through a window of so many; what comes later than that is counted and
//! left out. Calls that wait for the outside are no load and are left out as well.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::Call;
use crate::report::Concurrency;

/// The processes.
#[derive(Debug, Default)]
pub(super) struct Together {
    processes: HashMap<u32, Window>,
}

#[derive(Clone, Debug, Default)]
struct Window {
    /// Beginning and end, the earliest beginning on top.
    waiting: BinaryHeap<Reverse<(u64, u64)>>,
    sweep: Sweep,
}

#[derive(Clone, Debug, Default)]
struct Sweep {
    now: u64,
    ends: BinaryHeap<Reverse<u64>>,
    most: usize,
    /// Nanoseconds with so many calls, from one; the last for all above.
    levels: [u64; LEVELS],
    late: u64,
}

const PROCESSES: usize = 64;
const WINDOW: usize = 2048;
const LEVELS: usize = 16;
/// More at once than any program has threads.
const ENDS: usize = 16_384;

impl Together {
    pub(super) fn take(&mut self, call: &Call<'_>) {
        let record = &call.seen.record;
        let (Some(began), Some(nanos)) = (record.mono_ns, call.nanos) else {
            return;
        };
        if record.blocking
            || (self.processes.len() >= PROCESSES && !self.processes.contains_key(&call.process))
        {
            return;
        }
        let window = self.processes.entry(call.process).or_default();
        window
            .waiting
            .push(Reverse((began, began.saturating_add(nanos))));
        if window.waiting.len() > WINDOW
            && let Some(Reverse(first)) = window.waiting.pop()
        {
            window.sweep.begin(first);
        }
    }

    pub(super) fn report(&self) -> Option<Concurrency> {
        let mut most = 0;
        let mut late = 0;
        let mut levels = [0_u64; LEVELS];
        for window in self.processes.values() {
            let mut sweep = window.sweep.clone();
            let mut waiting: Vec<_> = window.waiting.iter().map(|Reverse(one)| *one).collect();
            waiting.sort_unstable();
            for one in waiting {
                sweep.begin(one);
            }
            sweep.until(u64::MAX);
            most = most.max(sweep.most);
            late += sweep.late;
            for (sum, level) in levels.iter_mut().zip(sweep.levels) {
                *sum = sum.saturating_add(level);
            }
        }
        let whole: f64 = levels.iter().map(|level| *level as f64).sum();
        if most == 0 || whole == 0.0 {
            return None;
        }
        let weighted = levels
            .iter()
            .zip(1..)
            .map(|(level, count)| *level as f64 * f64::from(count));
        let mean = weighted.sum::<f64>() / whole;
        let used = levels.iter().rposition(|level| *level > 0).unwrap_or(0) + 1;
        Some(Concurrency {
            most,
            mean,
            shares: levels
                .iter()
                .take(used)
                .map(|level| *level as f64 / whole)
                .collect(),
            late,
        })
    }
}

impl Sweep {
    fn begin(&mut self, (began, ended): (u64, u64)) {
        if began < self.now || self.ends.len() >= ENDS {
            self.late += 1;
            return;
        }
        self.until(began);
        self.now = began;
        self.ends.push(Reverse(ended));
        self.most = self.most.max(self.ends.len());
    }

    /// Goes on to `time`, counting how long how many ran.
    fn until(&mut self, time: u64) {
        while let Some(&Reverse(end)) = self.ends.peek() {
            if end > time {
                break;
            }
            self.spend(end);
            self.ends.pop();
        }
        if !self.ends.is_empty() {
            self.spend(time);
        }
    }

    fn spend(&mut self, to: u64) {
        let level = self.ends.len().clamp(1, LEVELS) - 1;
        let spent = to.saturating_sub(self.now);
        if let Some(sum) = self.levels.get_mut(level) {
            *sum = sum.saturating_add(spent);
        }
        self.now = self.now.max(to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_calls_are_counted_and_gaps_are_no_time_at_all() {
        let mut sweep = Sweep::default();
        // Two that overlap for 5, a gap, one alone for 10.
        for one in [(0, 10), (5, 15), (100, 110)] {
            sweep.begin(one);
        }
        sweep.until(u64::MAX);
        assert_eq!((sweep.most, sweep.late), (2, 0));
        assert_eq!(sweep.levels[..3], [20, 5, 0]);
        sweep.begin((3, 4));
        assert_eq!(sweep.late, 1);
    }
}
