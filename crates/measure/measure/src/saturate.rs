//! The search for the highest load at which the objectives hold.
//!
//! Rates grow geometrically in short trials until one fails; bisection narrows the bracket; then both bounds
//! are confirmed by two long trials each. A trial is an open load with Poisson arrivals, and holds when what
//! was offered was done, failures stay within the budget, response times meet the objectives, and backlog
//! does not grow (t test). All answers are waited for before the next trial starts.
//!
//! Close to the capacity no trial of finite length can tell: trials there are **undecided**, and a bound is
//! never put where a trial was. Failing trials show what the target does while it has more work than it can
//! take; that steers the bracket, as long as it agrees with the trials that hold and fail. The result is the
//! highest load that was confirmed to hold and the lowest that was confirmed to fail, however far apart the
//! trials left them.
//!
//! Above its capacity a rate measures the backlog and not the target; [`by_concurrency`] searches by
//! operations in flight instead.

mod trial;

use std::num::NonZeroU32;
use std::time::Duration;

use keywright_clock::Clock;

use crate::carry::{Assignment, Carried, Carrier, Stop, TargetError, Verify, Window};
use crate::document::{SaturationModel, Trial};
use crate::load::{Arrival, Load, Open, Phase};
use crate::plan::Slo;
use crate::stats::scaling::Step;

use trial::{Listener, Seen, Verdict};

/// What is searched for, and how.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "made by literal updates of its default"
)]
pub struct Search {
    /// The first rate, in operations a second.
    pub start_per_s: f64,
    /// No higher rate is tried, in operations a second.
    pub most_per_s: f64,
    /// By what rates grow until one fails.
    pub growth: f64,
    /// How far the bounds may lie apart, as a share of the lower one: 0.02 to 0.05.
    pub width: f64,
    /// Length of a trial that looks for the bracket.
    pub short: Duration,
    /// Length of a trial that confirms a bound.
    pub long: Duration,
    /// Most operations in flight.
    pub cap: NonZeroU32,
    /// Response times that must be kept. An objective on errors belongs into the budget.
    pub objectives: Vec<Slo>,
    /// The share of operations that may fail or be wrong.
    pub error_budget: f64,
    /// The share of the offered load that must be done.
    pub kept: f64,
    /// No more trials than this.
    pub most_trials: usize,
    /// How many outputs are looked at.
    pub verify: Verify,
    /// An operation may take this long from when it was due.
    pub timeout: Duration,
    /// How long answers are waited for after a trial.
    pub drain: Duration,
}

impl Default for Search {
    fn default() -> Self {
        Self {
            start_per_s: 100.0,
            most_per_s: 1e6,
            growth: 2.0,
            width: 0.05,
            short: Duration::from_secs(10),
            long: Duration::from_secs(30),
            cap: NonZeroU32::MIN.saturating_add(999),
            objectives: Vec::new(),
            error_budget: 0.001,
            kept: 0.99,
            most_trials: 20,
            verify: Verify::Sample,
            timeout: Duration::from_secs(30),
            drain: Duration::from_secs(60),
        }
    }
}

/// What a search needs from outside.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "three things that every run has")]
pub struct Setting<'a> {
    /// The clock.
    pub clock: &'a Clock,
    /// Whether to end early.
    pub stop: &'a Stop,
    /// Schedules are drawn from it.
    pub seed: u64,
}

/// What makes a trial fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Criterion {
    /// Less was done than offered.
    Achieved,
    /// Backlog grew.
    Backlog,
    /// Too many operations failed or were wrong.
    Errors,
    /// The generator was late: this bound is its own, not the target's.
    Generator,
    /// More in flight brought no more throughput.
    Growth,
    /// A response time was above its objective.
    Response,
}

impl Criterion {
    /// As documents spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Achieved => "achieved",
            Self::Backlog => "backlog",
            Self::Errors => "errors",
            Self::Generator => "generator",
            Self::Growth => "growth",
            Self::Response => "response",
        }
    }
}

/// What a search found.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Found {
    /// The bounds and every trial.
    pub model: SaturationModel,
    /// The last long trial at the highest load that held, for a case of its own.
    pub best: Option<Carried>,
    /// Operations in flight and throughput, where those were searched.
    pub steps: Vec<Step>,
    /// Whether it was ended early.
    pub interrupted: bool,
}

/// Blocks of a trial; their growth is what the test of the backlog rests on.
const BLOCKS: u32 = 20;
/// Failing trials up to this many times the lowest failing rate say what the target can do.
const NEARBY: f64 = 2.0;
/// Going down ends at this share of the first rate: nothing holds there.
const LOWEST: f64 = 1e-3;
/// Bisection ends when the bracket is this many widths wide; the rest is confirmation.
const CLOSE: f64 = 4.0;

/// The highest rate at which the objectives hold.
///
/// # Errors
/// The target cannot be measured, or a rate cannot be made.
pub fn by_rate(
    carrier: &mut dyn Carrier,
    search: &Search,
    setting: Setting<'_>,
) -> Result<Found, TargetError> {
    let sound = |rate: f64| rate.is_finite() && rate > 0.0;
    if !sound(search.start_per_s) || !sound(search.most_per_s) || !sound(search.width) {
        return Err(TargetError::Load(
            "a search needs rates and a width above zero",
        ));
    }
    let mut hunt = Hunt::new(carrier, search, setting);
    hunt.grow()?;
    hunt.narrow()?;
    hunt.confirm()?;
    Ok(hunt.found())
}

struct Hunt<'a> {
    carrier: &'a mut dyn Carrier,
    search: &'a Search,
    setting: Setting<'a>,
    trials: Vec<Trial>,
    /// Failing trials: rate, what was served, what that rests on.
    served: Vec<(f64, f64, f64)>,
    /// Rate over mean response time, and the rate.
    knee: Option<(f64, f64)>,
    /// The bracket as short trials show it.
    holds: Option<f64>,
    fails: Option<f64>,
    low: Option<f64>,
    high: Option<(f64, Criterion)>,
    best: Option<Carried>,
    steps: Vec<Step>,
}

/// A trial and what it left behind.
struct Tried {
    seen: Seen,
    verdict: Verdict,
    carried: Carried,
}

impl<'a> Hunt<'a> {
    fn new(carrier: &'a mut dyn Carrier, search: &'a Search, setting: Setting<'a>) -> Self {
        Self {
            carrier,
            search,
            setting,
            trials: Vec::new(),
            served: Vec::new(),
            knee: None,
            holds: None,
            fails: None,
            low: None,
            high: None,
            best: None,
            steps: Vec::new(),
        }
    }

    /// Whether so many more trials may be made.
    fn may(&self, trials: usize) -> bool {
        self.trials.len() + trials <= self.search.most_trials && !self.setting.stop.is_asked()
    }

    fn trial(&mut self, rate: f64, length: Duration) -> Result<Tried, TargetError> {
        let phase = Phase::constant(rate, length)
            .map_err(|_| TargetError::Load("a rate of the search is out of range"))?;
        let load = Load::Open(Open {
            arrival: Arrival::Poisson,
            phases: vec![phase],
            cap: self.search.cap,
        });
        let tried = self.carry(&load, length, rate)?;
        if let (Verdict::Fails(_), Some((served, weight))) = (tried.verdict, tried.seen.served()) {
            self.served.push((rate, served, weight));
        }
        Ok(tried)
    }

    fn carry(&mut self, load: &Load, length: Duration, rate: f64) -> Result<Tried, TargetError> {
        let number = self.trials.len() as u64 + 1;
        let assignment = Assignment {
            load,
            window: Window::Time(length),
            seed: self.setting.seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15),
            verify: self.search.verify,
            timeout: self.search.timeout,
            drain: self.search.drain,
            block: length / BLOCKS,
            clock: self.setting.clock,
            stop: self.setting.stop,
        };
        let nanos = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
        let schedule = match load {
            Load::Open(open) => Some(open.schedule(assignment.seed)),
            Load::Closed { .. } => None,
        };
        let mut listener = Listener::new(schedule, nanos);
        let carried = self.carrier.carry(&assignment, &mut |block, ledger| {
            listener.block(block, ledger)
        })?;
        let seen = listener.seen(&carried, nanos);
        let verdict = match load {
            Load::Open(_) => seen.judge(self.search, rate),
            Load::Closed { .. } => seen.judge_loop(self.search),
        };
        let achieved = carried.rate_per_s;
        if let Some(response) = seen.mean_response() {
            let power = achieved / response;
            if self.knee.is_none_or(|(most, _)| power > most) {
                self.knee = Some((power, achieved));
            }
        }
        let offered = if rate > 0.0 { rate } else { achieved };
        self.trials.push(seen.record(offered, achieved, verdict));
        Ok(Tried {
            seen,
            verdict,
            carried,
        })
    }

    /// Up until a trial fails; down if the first one does.
    fn grow(&mut self) -> Result<(), TargetError> {
        let (growth, most) = (self.search.growth.max(1.1), self.search.most_per_s);
        let mut rate = self.search.start_per_s.min(most);
        while self.may(1) && !(self.holds.is_some() && self.fails.is_some()) {
            let fails = matches!(
                self.trial(rate, self.search.short)?.verdict,
                Verdict::Fails(_)
            );
            if fails {
                self.fails = Some(rate);
                rate /= growth;
                if rate < self.search.start_per_s * LOWEST {
                    break;
                }
            } else {
                self.holds = Some(rate);
                if rate >= most {
                    break;
                }
                rate = (rate * growth).min(most);
            }
        }
        Ok(())
    }

    fn narrow(&mut self) -> Result<(), TargetError> {
        let close = 1.0 + CLOSE * self.search.width;
        while let (Some(low), Some(high)) = (self.holds, self.fails) {
            if high / low <= close || !self.may(5) {
                break;
            }
            let rate = (low * high).sqrt();
            match self.trial(rate, self.search.short)?.verdict {
                Verdict::Fails(_) => self.fails = Some(rate),
                Verdict::Holds => self.holds = Some(rate),
                // Short trials are there to find failures; what was served decides where the middle is.
                Verdict::Unclear(_) => self.holds = Some(rate),
            }
        }
        Ok(())
    }

    /// Where the limit is thought to be.
    fn centre(&self) -> Option<f64> {
        let lowest = self
            .served
            .iter()
            .map(|(rate, ..)| *rate)
            .reduce(f64::min)?;
        let near = self
            .served
            .iter()
            .filter(|(rate, ..)| *rate <= NEARBY * lowest);
        let (mut sum, mut weights) = (0.0, 0.0);
        for (_, served, weight) in near {
            sum += served * weight;
            weights += weight;
        }
        let served = sum / weights;
        let low = self.low.or(self.holds)?;
        let high = self.high.map(|(rate, _)| rate).or(self.fails)?;
        let slack = 1.0 + self.search.width;
        let agrees = served > low / slack && served < high * slack;
        Some(if agrees { served } else { (low * high).sqrt() })
    }

    /// Both bounds, by two long trials each, moved apart where trials are undecided and together where they
    /// lie too far apart.
    fn confirm(&mut self) -> Result<(), TargetError> {
        // A hair narrower than allowed, so that rounding costs nothing.
        let width = 1.0 + 0.96 * self.search.width;
        let Some(centre) = self.centre() else {
            return self.confirm_most();
        };
        let (mut low, mut high) = (centre / width.sqrt(), centre * width.sqrt());
        while self.low.is_none() && self.may(2) {
            match self.twice(low)? {
                Verdict::Holds => {}
                Verdict::Fails(_) => {
                    high = low;
                    low /= width;
                }
                Verdict::Unclear(_) => low /= width.sqrt(),
            }
        }
        high = self
            .low
            .map_or(high, |low| high.min(low * width).max(low * width.sqrt()));
        while self.high.is_none() && self.may(2) {
            match self.twice(high)? {
                Verdict::Fails(_) => {}
                Verdict::Holds => high *= width,
                Verdict::Unclear(_) => high *= width.sqrt(),
            }
        }
        self.close_in(width)
    }

    /// Nothing failed: the highest rate that may be tried is all that can be confirmed.
    fn confirm_most(&mut self) -> Result<(), TargetError> {
        if let Some(rate) = self.holds.filter(|_| self.may(2)) {
            self.twice(rate)?;
        }
        Ok(())
    }

    /// Brings bounds together that were moved apart, as far as trials are left and tell.
    fn close_in(&mut self, width: f64) -> Result<(), TargetError> {
        let mut lower = true;
        while let (Some(low), Some((high, _))) = (self.low, self.high) {
            if high / low <= 1.0 + self.search.width || !self.may(2) {
                break;
            }
            let rate = if lower { high / width } else { low * width };
            if self.twice(rate)? == Verdict::Holds || !lower {
                lower = !lower;
            } else {
                lower = false;
            }
            if !self.may(2) {
                break;
            }
        }
        Ok(())
    }

    /// Two long trials, judged together, and two more where those leave it open.
    fn twice(&mut self, rate: f64) -> Result<Verdict, TargetError> {
        let first = self.trial(rate, self.search.long)?;
        let second = self.trial(rate, self.search.long)?;
        let mut seen = first.seen.and(&second.seen);
        let mut verdict = seen.judge(self.search, rate);
        if !first.verdict.supports(second.verdict) {
            // Two trials that say the opposite, or nothing, confirm nothing, whatever their sum says.
            verdict = Verdict::Unclear(Criterion::Backlog);
        }
        let mut carried = second.carried;
        if matches!(verdict, Verdict::Unclear(_)) && self.may(4) {
            for _ in 0..2 {
                let more = self.trial(rate, self.search.long)?;
                seen = seen.and(&more.seen);
                carried = more.carried;
            }
            verdict = seen.judge(self.search, rate);
        }
        match verdict {
            Verdict::Holds if self.low.is_none_or(|low| rate > low) => {
                self.low = Some(rate);
                self.best = Some(carried);
            }
            Verdict::Fails(why) if self.high.is_none_or(|(high, _)| rate < high) => {
                self.high = Some((rate, why));
            }
            _ => {}
        }
        Ok(verdict)
    }

    fn found(self) -> Found {
        // A bound below one that held is chance; only what lies above it is a bound.
        let high = self
            .high
            .filter(|(high, _)| self.low.is_none_or(|low| *high > low));
        Found {
            model: SaturationModel {
                highest_passing_per_s: self.low,
                lowest_failing_per_s: high.map(|(rate, _)| rate),
                criterion: high.map(|(_, why)| why.name().to_owned()),
                knee_per_s: self.knee.map(|(_, rate)| rate),
                trials: self.trials,
            },
            best: self.best,
            steps: self.steps,
            interrupted: self.setting.stop.is_asked(),
        }
    }
}

/// What more in flight has to bring: this power of its growth. Below it a doubling brings less than 7 %.
const WORTHWHILE: f64 = 0.1;

/// The highest throughput that more operations in flight bring while the objectives hold: in loops of 1, 2,
/// 4, ... up to the cap of `search`, then bisected to neighbouring numbers or to the width. The rates of the
/// result are throughputs.
///
/// # Errors
/// The target cannot be measured.
pub fn by_concurrency(
    carrier: &mut dyn Carrier,
    search: &Search,
    setting: Setting<'_>,
) -> Result<Found, TargetError> {
    let mut hunt = Hunt::new(carrier, search, setting);
    let mut workers = NonZeroU32::MIN;
    let (mut low, mut high): (Option<Step>, Option<(Step, Criterion)>) = (None, None);
    while hunt.may(1) {
        let (step, verdict) = hunt.loops(workers, low, search.short)?;
        match verdict {
            Verdict::Fails(why) => high = Some((step, why)),
            Verdict::Holds | Verdict::Unclear(_) => low = Some(step),
        }
        let next = match (low, high) {
            (None, _) => None,
            (Some(_), None) if workers >= search.cap => None,
            (Some(_), None) => Some(workers.saturating_mul(TWO).min(search.cap)),
            (Some(low), Some((high, _))) => between(low.workers, high.workers, search.width),
        };
        let Some(next) = next else {
            break;
        };
        workers = next;
    }
    if let Some(workers) = low.and_then(|low| NonZeroU32::new(low.workers))
        && hunt.may(2)
    {
        // The bound once more, and long; what it brings then is the result.
        low = Some(hunt.loops(workers, None, search.long)?.0);
    }
    hunt.low = low.map(|step| step.throughput);
    let mut found = hunt.found();
    if let Some((step, why)) = high {
        found.model.lowest_failing_per_s = Some(step.throughput);
        found.model.criterion = Some(why.name().to_owned());
    }
    Ok(found)
}

const TWO: NonZeroU32 = NonZeroU32::MIN.saturating_add(1);

/// A number half way between, by ratio. None when they are neighbours or close enough.
fn between(low: u32, high: u32, width: f64) -> Option<NonZeroU32> {
    let close = f64::from(high) <= f64::from(low) * (1.0 + width) || high <= low + 1;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between two numbers of 32 bits"
    )]
    let middle = (f64::from(low) * f64::from(high)).sqrt().round() as u32;
    (!close)
        .then(|| NonZeroU32::new(middle.clamp(low + 1, high - 1)))
        .flatten()
}

impl Hunt<'_> {
    fn loops(
        &mut self,
        workers: NonZeroU32,
        below: Option<Step>,
        length: Duration,
    ) -> Result<(Step, Verdict), TargetError> {
        let tried = self.carry(&Load::Closed { workers }, length, 0.0)?;
        let step = Step {
            workers: workers.get(),
            throughput: tried.carried.rate_per_s,
        };
        self.steps.push(step);
        let mut verdict = tried.verdict;
        let brought = below.map(|below| {
            let more = f64::from(step.workers) / f64::from(below.workers);
            (step.throughput / below.throughput).ln() / more.ln()
        });
        if brought.is_some_and(|brought| brought < WORTHWHILE) && verdict == Verdict::Holds {
            verdict = Verdict::Fails(Criterion::Growth);
            if let Some(trial) = self.trials.last_mut() {
                trial.failed = Some(Criterion::Growth.name().to_owned());
            }
        }
        if verdict == Verdict::Holds {
            self.best = Some(tried.carried);
        }
        Ok((step, verdict))
    }
}
