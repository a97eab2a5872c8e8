//! One trial of a search: what was seen, and whether the objectives held.
//!
//! Backlog, what was due and had not ended, is a random walk near the capacity: a line through it rises or
//! falls by chance more often than its residuals say. Its **increments** from block to block are close to
//! independent, so the t test is made on those; below the capacity they pull back, which makes the test
//! cautious and nothing else.

use crate::carry::Carried;
use crate::document::{BlockRecord, Trial};
use crate::histogram::Histogram;
use crate::ledger::Ledger;
use crate::load::Schedule;
use crate::plan::Slo;
use crate::series::Due;
use crate::stats::quantile::proof_ranks;
use crate::stats::{location, student};

use super::{Criterion, Search};

/// What one or more trials at the same load showed.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// Blocks in time, the first tenth left out: seconds, what ended, and by how much backlog grew.
    steps: Vec<Step>,
    response: Histogram,
    /// 1000 where response times are in picoseconds.
    per_nano: u64,
    pacer_p99: u64,
    planned: f64,
    ended: f64,
    sent: u64,
    failed: u64,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    seconds: f64,
    ended: f64,
    growth: f64,
}

/// Whether the objectives held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Fails(Criterion),
    Holds,
    /// It could be either, as far as this one shows.
    Unclear(Criterion),
}

impl Verdict {
    /// Whether one of two trials decides and the other does not say the opposite.
    pub(super) const fn supports(self, other: Self) -> bool {
        !matches!(
            (self, other),
            (Self::Fails(_), Self::Holds)
                | (Self::Holds, Self::Fails(_))
                | (Self::Unclear(_), Self::Unclear(_))
        )
    }
}

/// Listens to the blocks of a trial.
pub(super) struct Listener {
    due: Option<Due>,
    /// The schedule's end: what ends later was waited for, not offered.
    until: u64,
    skip: u64,
    ended: u64,
    backlog: f64,
    steps: Vec<Step>,
}

impl Listener {
    pub(super) fn new(schedule: Option<Schedule>, length: u64) -> Self {
        Self {
            due: schedule.map(Due::new),
            until: length.saturating_add(length / 1000),
            skip: length / 10,
            ended: 0,
            backlog: 0.0,
            steps: Vec::new(),
        }
    }

    pub(super) fn block(&mut self, block: &BlockRecord, ledger: &Ledger) {
        let end = block.start_ns.saturating_add(block.duration_ns);
        let ended = ledger.counts.ended();
        self.ended += ended;
        let backlog = match &mut self.due {
            Some(due) => due.by(end).saturating_sub(self.ended) as f64,
            None => 0.0,
        };
        let growth = backlog - self.backlog;
        self.backlog = backlog;
        // Caches and queues fill in the first tenth.
        if block.start_ns >= self.skip && end <= self.until && block.duration_ns > 0 {
            self.steps.push(Step {
                seconds: block.duration_ns as f64 / 1e9,
                ended: ended as f64,
                growth,
            });
        }
    }

    pub(super) fn seen(self, carried: &Carried, length: u64) -> Seen {
        let (ledger, counts) = (&carried.ledger, &carried.ledger.counts);
        // What was refused was answered; what came after the end by more than an operation takes was late.
        let in_time = (length as f64 / carried.elapsed_ns.max(1) as f64).min(1.0);
        Seen {
            steps: self.steps,
            response: match self.due {
                Some(_) => ledger.response.clone(),
                None => ledger.service.clone(),
            },
            per_nano: match (&self.due, ledger.batched) {
                (None, true) => 1000,
                _ => 1,
            },
            pacer_p99: ledger.pacer.quantile(0.99).unwrap_or(0),
            planned: counts.planned as f64,
            ended: (counts.answered() + counts.wrong + counts.error) as f64 * in_time,
            sent: counts.sent,
            failed: counts.wrong + counts.error + counts.timeout + counts.censored,
        }
    }
}

/// How sure a rise of the backlog has to be, one-sided.
const SURE: f64 = 0.98;
/// How sure it has to be that it does not rise by what the objective forbids.
const EXCLUDED: f64 = 0.95;

impl Seen {
    /// These and those, at the same load.
    pub(super) fn and(mut self, other: &Self) -> Self {
        self.steps.extend_from_slice(&other.steps);
        self.response.merge(&other.response);
        self.pacer_p99 = self.pacer_p99.max(other.pacer_p99);
        self.planned += other.planned;
        self.ended += other.ended;
        self.sent += other.sent;
        self.failed += other.failed;
        self
    }

    pub(super) fn judge(&self, search: &Search, rate: f64) -> Verdict {
        let p50 = self.response.quantile(0.5).unwrap_or(0);
        if self.pacer_p99 > (p50 / 10).max(1_000_000) {
            return Verdict::Fails(Criterion::Generator);
        }
        if self.failed as f64 > search.error_budget * self.sent as f64 {
            return Verdict::Fails(Criterion::Errors);
        }
        if self.planned == 0.0 || self.ended < search.kept * self.planned {
            return Verdict::Fails(Criterion::Achieved);
        }
        let mut verdict = self.backlog((1.0 - search.kept) * rate);
        for objective in &search.objectives {
            if matches!(verdict, Verdict::Fails(_)) {
                return verdict;
            }
            match self.objective(objective) {
                Verdict::Holds => {}
                other => verdict = other,
            }
        }
        verdict
    }

    /// In a loop nothing waits outside, so there are failures and response times only.
    pub(super) fn judge_loop(&self, search: &Search) -> Verdict {
        if self.failed as f64 > search.error_budget * self.sent as f64 {
            return Verdict::Fails(Criterion::Errors);
        }
        let verdicts = search
            .objectives
            .iter()
            .map(|objective| self.objective(objective));
        verdicts
            .reduce(|one, two| match (one, two) {
                (Verdict::Fails(_), _) => one,
                (_, Verdict::Fails(_)) | (Verdict::Holds, _) => two,
                _ => one,
            })
            .unwrap_or(Verdict::Holds)
    }

    /// Whether backlog grows, by more than `margin` operations a second if it does.
    fn backlog(&self, margin: f64) -> Verdict {
        let Some((slope, error)) = self.slope() else {
            return Verdict::Unclear(Criterion::Backlog);
        };
        let df = self.steps.len() as f64 - 1.0;
        let t = |level: f64| student::quantile(level, df).unwrap_or(f64::INFINITY);
        if slope > t(SURE) * error && slope > margin / 2.0 {
            return Verdict::Fails(Criterion::Backlog);
        }
        if slope + t(EXCLUDED) * error < margin {
            return Verdict::Holds;
        }
        Verdict::Unclear(Criterion::Backlog)
    }

    /// Growth of the backlog in operations a second, and its standard error.
    fn slope(&self) -> Option<(f64, f64)> {
        let rates: Vec<f64> = self
            .steps
            .iter()
            .map(|step| step.growth / step.seconds)
            .collect();
        let error = (location::variance(&rates)? / rates.len() as f64).sqrt();
        Some((location::mean(&rates)?, error))
    }

    fn objective(&self, objective: &Slo) -> Verdict {
        let Slo::Latency(percentile, limit) = objective else {
            return Verdict::Holds;
        };
        let unclear = Verdict::Unclear(Criterion::Response);
        let Some(ranks) = proof_ranks(self.response.count(), percentile.share()) else {
            return unclear;
        };
        let limit = limit.saturating_mul(self.per_nano);
        let above = |rank| {
            self.response
                .at_rank(rank)
                .is_none_or(|value| value > limit)
        };
        match (ranks.lower.map(above), ranks.upper.map(above)) {
            (Some(true), _) => Verdict::Fails(Criterion::Response),
            (_, Some(false)) => Verdict::Holds,
            _ => unclear,
        }
    }

    /// What the target did a second while it was offered work, and what that rests on.
    pub(super) fn served(&self) -> Option<(f64, f64)> {
        let seconds: f64 = self.steps.iter().map(|step| step.seconds).sum();
        let ended: f64 = self.steps.iter().map(|step| step.ended).sum();
        (seconds > 0.0 && ended > 0.0).then(|| (ended / seconds, ended))
    }

    pub(super) fn mean_response(&self) -> Option<f64> {
        self.response.mean().filter(|mean| *mean > 0.0)
    }

    fn nanos(&self, share: f64) -> Option<u64> {
        self.response
            .quantile(share)
            .map(|value| value / self.per_nano.max(1))
    }

    pub(super) fn record(&self, rate_per_s: f64, achieved_per_s: f64, verdict: Verdict) -> Trial {
        Trial {
            rate_per_s,
            achieved_per_s,
            p50_ns: self.nanos(0.5),
            p99_ns: self.nanos(0.99),
            failed: match verdict {
                Verdict::Holds => None,
                Verdict::Fails(criterion) => Some(criterion.name().to_owned()),
                Verdict::Unclear(criterion) => Some(format!("undecided: {}", criterion.name())),
            },
        }
    }
}
