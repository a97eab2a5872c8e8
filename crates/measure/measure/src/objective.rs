//! How objectives are decided that a target under too much load has to meet.
//!
//! **Recovery** is read off the blocks of a run of several phases: the response time is back when the 99th percentile of
//! five blocks in a row is at most half above the highest of the blocks before the highest phase (and below a
//! millisecond in any case, where the difference between two blocks is chance), and no more fails in them than did
//! before. It is known to a block.
//!
//! Not here: a burst that is looked at as such, with its backlog and its debt ([`crate::spike`]).

use crate::document::{BlockRecord, Case};
use crate::histogram::Histogram;
use crate::latency::Percentile;
use crate::ledger::Ledger;
use crate::spike::IN_A_ROW;
use crate::stats::quantile::proof_ranks;

/// How an objective was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Met,
    Missed,
    Undecided,
}

impl Decision {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Missed => "missed",
            Self::Undecided => "undecided",
        }
    }

    fn within(value: f64, limit: f64) -> Self {
        if value <= limit {
            Self::Met
        } else {
            Self::Missed
        }
    }
}

/// Whether whoever asked did so when it was due. One that was late itself proves no miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Generator {
    InTime,
    Late,
}

/// A value, if there is one, and what it means.
pub(crate) type Decided = (Option<f64>, Decision);

/// Times, and what else there was that has none and counts as longer than all of them.
pub(crate) struct Times<'a> {
    pub(crate) ledger: &'a Ledger,
    pub(crate) values: &'a Histogram,
    pub(crate) beyond: u64,
    /// Values in a nanosecond.
    pub(crate) scale: u64,
    /// Whether waits that were still open are among the values.
    pub(crate) open: bool,
}

impl Times<'_> {
    pub(crate) fn count(&self) -> u64 {
        self.values.count() + self.beyond
    }

    /// Whether a quantile is at most so many nanoseconds: missed as soon as the samples prove that it is more,
    /// met only where they prove that it is not. The value is withheld where too few samples carry it.
    pub(crate) fn at_most(
        &self,
        percentile: Percentile,
        limit: u64,
        generator: Generator,
    ) -> Decided {
        let limit = limit.saturating_mul(self.scale);
        let Some(ranks) = proof_ranks(self.count(), percentile.share()) else {
            return (None, Decision::Undecided);
        };
        let missed = ranks.lower.is_some_and(|rank| self.is_over(rank, limit));
        let met = ranks
            .upper
            .is_some_and(|rank| !self.is_over(rank, limit) && !self.is_open(rank));
        let decision = match (missed, met) {
            (true, _) if generator == Generator::InTime => Decision::Missed,
            (false, true) => Decision::Met,
            _ => Decision::Undecided,
        };
        let value = self
            .at(ranks.point)
            .filter(|_| self.count() >= percentile.needs())
            .map(|value| value as f64 / self.scale as f64);
        (value, decision)
    }

    /// Whether the time of a rank is more than the limit; what has none is longer than all.
    fn is_over(&self, rank: u64, limit: u64) -> bool {
        self.at(rank).is_none_or(|value| value > limit)
    }

    /// Whether the time of a rank may be longer than its value says.
    fn is_open(&self, rank: u64) -> bool {
        self.at(rank)
            .is_none_or(|value| self.open && self.ledger.is_lower_bound(value))
    }

    /// The value of a rank; what has none comes after all values.
    fn at(&self, rank: u64) -> Option<u64> {
        (rank <= self.values.count())
            .then(|| self.values.at_rank(rank))
            .flatten()
    }
}

/// Whether the share of what came to nothing is within the limit. A refusal is an answer.
pub(crate) fn lost(ledger: &Ledger, limit: f64) -> Decided {
    let counts = &ledger.counts;
    if counts.planned == 0 {
        return (None, Decision::Undecided);
    }
    let lost = counts.planned - counts.answered().min(counts.planned);
    let lost = lost.saturating_sub(refusals(ledger));
    let share = lost as f64 / counts.planned as f64;
    (Some(share), Decision::within(share, limit))
}

/// Whether refusals were told in time. Where other things failed, their times are among these, and nothing is known.
pub(crate) fn refused(
    ledger: &Ledger,
    (percentile, limit): (Percentile, u64),
    generator: Generator,
) -> Decided {
    match ledger.failed.count() {
        0 => (None, Decision::Met),
        all if all != refusals(ledger) => (None, Decision::Undecided),
        _ => {
            let times = Times {
                ledger,
                values: &ledger.failed,
                beyond: 0,
                scale: 1,
                // A refusal is over when it is told.
                open: false,
            };
            times.at_most(percentile, limit, generator)
        }
    }
}

fn refusals(ledger: &Ledger) -> u64 {
    let all = ledger.faults.iter();
    all.filter(|(fault, _)| fault.is_refusal())
        .map(|(_, count)| count)
        .sum()
}

/// Whether every run was back at what it was before its highest phase within `limit` nanoseconds after it.
pub(crate) fn recovery(case: &Case, limit: u64) -> Decided {
    let Some((starts, ends)) = highest_phase(case) else {
        return (None, Decision::Undecided);
    };
    let mut longest = 0;
    for run in &case.runs {
        let blocks: Vec<&BlockRecord> = case
            .blocks
            .iter()
            .filter(|one| one.run == run.run)
            .collect();
        match recovered(&blocks, (starts, ends)) {
            Back::After(nanos) => longest = longest.max(nanos),
            Back::Never => return (None, Decision::Missed),
            Back::Unknown => return (None, Decision::Undecided),
        }
    }
    match case.runs.is_empty() {
        true => (None, Decision::Undecided),
        false => (
            Some(longest as f64),
            Decision::within(longest as f64, limit as f64),
        ),
    }
}

/// When the phase with the highest rate begins and ends; none if it is not between others.
fn highest_phase(case: &Case) -> Option<(u64, u64)> {
    let phases = &case.load.phases;
    let rate = |place: usize| phases[place].rate_per_s.max(phases[place].end_rate_per_s);
    let place = (0..phases.len()).max_by(|one, two| rate(*one).total_cmp(&rate(*two)))?;
    let starts: u64 = phases[..place].iter().map(|phase| phase.duration_ns).sum();
    let between = place > 0 && place + 1 < phases.len();
    between.then(|| (starts, starts + phases[place].duration_ns))
}

enum Back {
    After(u64),
    Never,
    Unknown,
}

fn recovered(blocks: &[&BlockRecord], (starts, ends): (u64, u64)) -> Back {
    let end = |block: &BlockRecord| block.start_ns.saturating_add(block.duration_ns);
    let before: Vec<_> = blocks.iter().filter(|block| end(block) <= starts).collect();
    // The first tenth fills caches and queues.
    let before = &before[before.len() / 10..];
    let Some(highest) = before.iter().filter_map(|block| block.p99_ns).max() else {
        return Back::Unknown;
    };
    let failing = before.iter().map(|block| block.failed).max().unwrap_or(0);
    let limit = (highest + highest / 2).max(CHANCE);
    let after = blocks.iter().filter(|block| block.start_ns >= ends);
    let (mut first, mut row, mut seen) = (0, 0, 0);
    for block in after {
        seen += 1;
        let inside = block.p99_ns.is_some_and(|p99| p99 <= limit) && block.failed <= failing;
        if !inside {
            row = 0;
            continue;
        }
        if row == 0 {
            first = block.start_ns;
        }
        row += 1;
        if row == IN_A_ROW {
            return Back::After(first - ends);
        }
    }
    if seen < IN_A_ROW {
        Back::Unknown
    } else {
        Back::Never
    }
}

/// Below this the 99th percentiles of two blocks differ by chance, in nanoseconds.
const CHANCE: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::carry::{Fault, FaultPhase};
    use crate::dispatch::{Delay, Release};
    use crate::document::{PhaseRecord, RunRecord};
    use crate::ledger::{Outcome, Span};

    const MILLI: u64 = 1_000_000;

    fn p99() -> Percentile {
        "p99".parse().unwrap()
    }

    fn put(ledger: &mut Ledger, millis: u64, outcome: Outcome) {
        let release = Release {
            intended: 0,
            delay: Delay::Pacer,
        };
        let span = Span {
            sent: 0,
            completed: millis * MILLI,
        };
        ledger.ended(release, span, outcome, u64::MAX);
    }

    fn refusal(code: &'static str) -> Outcome {
        Outcome::Failed(Fault::new(FaultPhase::Service, code))
    }

    fn accepted(ledger: &Ledger, limit: u64) -> Decision {
        let times = Times {
            ledger,
            values: &ledger.response,
            beyond: 0,
            scale: 1,
            open: true,
        };
        times.at_most(p99(), limit * MILLI, Generator::InTime).1
    }

    /// P(at most `most` of `count` samples are at or below quantile `q`).
    fn binomial(count: u64, q: f64, most: u64) -> f64 {
        let mut term = (0..count).fold(1.0, |term, _| term * (1.0 - q));
        let mut sum = 0.0;
        for number in 0..=most {
            sum += term;
            term *= (count - number) as f64 / (number + 1) as f64 * q / (1.0 - q);
        }
        sum
    }

    #[test]
    fn every_small_sample_is_judged_as_the_binomial_test_says() {
        for (name, q) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)] {
            let percentile: Percentile = name.parse().unwrap();
            for count in 1..=40_u64 {
                for within in 0..=count {
                    let mut ledger = Ledger::new();
                    (0..within).for_each(|_| put(&mut ledger, 1, Outcome::Verified));
                    (within..count).for_each(|_| put(&mut ledger, 30, Outcome::Verified));
                    let times = Times {
                        ledger: &ledger,
                        values: &ledger.response,
                        beyond: 0,
                        scale: 1,
                        open: true,
                    };
                    let expected = if binomial(count, q, within) <= 0.025 {
                        Decision::Missed
                    } else if within > 0 && 1.0 - binomial(count, q, within - 1) <= 0.025 {
                        Decision::Met
                    } else {
                        Decision::Undecided
                    };
                    let (value, found) = times.at_most(percentile, 10 * MILLI, Generator::InTime);
                    assert_eq!(found, expected, "{name} {within} of {count}");
                    assert_eq!(value.is_some(), count >= percentile.needs());
                    let late = times.at_most(percentile, 10 * MILLI, Generator::Late).1;
                    assert_ne!(late, Decision::Missed);
                }
            }
        }
    }

    #[test]
    fn refusals_do_not_touch_what_was_accepted_and_are_not_lost() {
        let mut ledger = Ledger::new();
        (0..2000).for_each(|_| put(&mut ledger, 20, Outcome::Verified));
        (0..9000).for_each(|_| put(&mut ledger, 1, refusal("overloaded")));
        (0..100).for_each(|_| put(&mut ledger, 1, refusal("rate_limited")));
        assert_eq!(accepted(&ledger, 50), Decision::Met);
        assert_eq!(accepted(&ledger, 10), Decision::Missed);
        assert_eq!(
            refused(&ledger, (p99(), 10 * MILLI), Generator::InTime).1,
            Decision::Met
        );
        assert_eq!(lost(&ledger, 0.0), (Some(0.0), Decision::Met));
        (0..1000).for_each(|_| put(&mut ledger, 30, refusal("overloaded")));
        assert_eq!(
            refused(&ledger, (p99(), 10 * MILLI), Generator::InTime).1,
            Decision::Missed
        );
    }

    #[test]
    fn what_fails_otherwise_is_lost_and_says_nothing_of_refusals() {
        let others = [
            refusal("internal"),
            Outcome::Failed(Fault::new(FaultPhase::Stream, "overloaded")),
            Outcome::Failed(Fault::new(FaultPhase::Status, "500")),
            Outcome::Wrong,
        ];
        for other in others {
            let mut ledger = Ledger::new();
            (0..1000).for_each(|_| put(&mut ledger, 1, Outcome::Verified));
            (0..1000).for_each(|_| put(&mut ledger, 1, refusal("overloaded")));
            put(&mut ledger, 1, other.clone());
            assert_eq!(lost(&ledger, 0.0).1, Decision::Missed, "{other:?}");
            assert_eq!(lost(&ledger, 0.01).1, Decision::Met, "{other:?}");
            let told = refused(&ledger, (p99(), 10 * MILLI), Generator::InTime);
            assert_eq!(told, (None, Decision::Undecided), "{other:?}");
        }
        let mut ledger = Ledger::new();
        put(&mut ledger, 1, Outcome::Verified);
        ledger.never_sent(0, 1);
        assert_eq!(lost(&ledger, 0.0), (Some(0.5), Decision::Missed));
        assert_eq!(lost(&Ledger::new(), 0.0).1, Decision::Undecided);
    }

    #[test]
    fn where_nothing_was_refused_nothing_was_refused_late() {
        let mut ledger = Ledger::new();
        put(&mut ledger, 1, Outcome::Verified);
        assert_eq!(
            refused(&ledger, (p99(), 1), Generator::InTime),
            (None, Decision::Met)
        );
    }

    /// A second each: base, spike from 10 to 15, base to 30.
    fn spiked(p99_ms: impl Fn(u64) -> Option<u64>, failed: impl Fn(u64) -> u64) -> Case {
        let phase = |rate_per_s, seconds: u64| PhaseRecord {
            rate_per_s,
            end_rate_per_s: rate_per_s,
            duration_ns: seconds * 1000 * MILLI,
        };
        let mut case = Case::default();
        case.load.phases = vec![phase(100.0, 10), phase(1000.0, 5), phase(100.0, 15)];
        case.runs = vec![RunRecord::default()];
        case.blocks = (0..30)
            .map(|second| BlockRecord {
                start_ns: second * 1000 * MILLI,
                duration_ns: 1000 * MILLI,
                p99_ns: p99_ms(second).map(|millis| millis * MILLI),
                failed: failed(second),
                ..BlockRecord::default()
            })
            .collect();
        case
    }

    #[test]
    fn recovery_is_when_time_and_failures_are_back_and_stay_there() {
        let second = 1000 * MILLI;
        let at_once = spiked(|s| Some(if (10..15).contains(&s) { 40 } else { 2 }), |_| 0);
        assert_eq!(recovery(&at_once, second), (Some(0.0), Decision::Met));
        let late = spiked(|s| Some(if (10..17).contains(&s) { 40 } else { 2 }), |_| 0);
        assert_eq!(recovery(&late, second), (Some(2e9), Decision::Missed));
        assert_eq!(recovery(&late, 2 * second).1, Decision::Met);
        // Fast, and still refusing.
        let refusing = spiked(|_| Some(2), |s| u64::from((10..18).contains(&s)));
        assert_eq!(recovery(&refusing, second), (Some(3e9), Decision::Missed));
        // Never five in a row.
        let again = spiked(|s| Some(if s >= 10 && s % 4 == 0 { 40 } else { 2 }), |_| 0);
        assert_eq!(recovery(&again, second), (None, Decision::Missed));
        let silent = spiked(|s| (s < 10).then_some(2), |_| 0);
        assert_eq!(recovery(&silent, second), (None, Decision::Missed));
    }

    #[test]
    fn without_a_phase_between_others_nothing_is_known_of_recovery() {
        let mut case = spiked(|_| Some(2), |_| 0);
        case.load.phases.pop();
        assert_eq!(recovery(&case, u64::MAX), (None, Decision::Undecided));
        case.load.phases.clear();
        assert_eq!(recovery(&case, u64::MAX), (None, Decision::Undecided));
        let mut short = spiked(|_| Some(2), |_| 0);
        short.blocks.truncate(18);
        assert_eq!(recovery(&short, u64::MAX), (None, Decision::Undecided));
        short.blocks.clear();
        assert_eq!(recovery(&short, u64::MAX), (None, Decision::Undecided));
        let mut none = spiked(|_| Some(2), |_| 0);
        none.runs.clear();
        assert_eq!(recovery(&none, u64::MAX), (None, Decision::Undecided));
    }
}
