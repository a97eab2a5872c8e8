//! Which words a case deserves, and why.

use crate::assemble::noise;
use crate::canary::Noise;
use crate::document::{Bound, Case, Objective, Remark};
use crate::latency::Percentile;
use crate::ledger::Ledger;
use crate::load::Load;
use crate::objective::{self, Decided, Decision, Generator, Times};
use crate::plan::{CasePlan, Slo};
use crate::stats::{series, trend};
use crate::verdict::{Exit, Word};

/// What a judgement rests on, beside the case's own figures.
#[derive(Debug)]
pub(crate) struct Grounds<'a> {
    pub(crate) plan: &'a CasePlan,
    pub(crate) ledger: &'a Ledger,
    /// The books of each part of a mix, by its name.
    pub(crate) parts: &'a [(String, Ledger)],
    pub(crate) warmup_wrong: u64,
    pub(crate) interrupted: bool,
    pub(crate) peak_in_flight: u64,
    pub(crate) facts: &'a [Word],
    pub(crate) runs_planned: u32,
}

/// A rate below this share of the offered one was not kept.
const KEPT: f64 = 0.99;
/// With this share of the cap busy on average, the cap decides the latency.
const CAP_BUSY: f64 = 0.95;
/// Above these shares of its ceiling a generator is remarked upon, and not believed.
const CEILING_REMARK: f64 = 50.0;
const CEILING_INVALID: f64 = 80.0;
/// What ends after a schedule is backlog if it is more than comes in the time of so many operations, and more
/// than this share of all.
const LAST_ONES: f64 = 3.0;
const LAST_SHARE: f64 = 0.05;
/// Below this p throughput is said to drift.
const DRIFT: f64 = 0.05;
/// Little's law may be off by this much, in percent.
const LITTLE: f64 = 2.0;

/// Gives `case` its words, remarks and objectives.
pub(crate) fn judge(case: &mut Case, grounds: &Grounds<'_>) {
    let mut bench = Bench {
        case,
        grounds,
        words: Vec::new(),
        remarks: Vec::new(),
    };
    bench.books();
    bench.outputs();
    bench.generator();
    if let Load::Open(_) = grounds.plan.load {
        bench.target_kept_up();
    } else {
        bench.words.push(Word::ClosedLoop);
    }
    bench.steadiness();
    bench.objectives();
    bench.facts();
    bench.close();
}

struct Bench<'a> {
    case: &'a mut Case,
    grounds: &'a Grounds<'a>,
    words: Vec<Word>,
    remarks: Vec<Remark>,
}

impl Bench<'_> {
    fn say(&mut self, word: Word, text: String, remedy: &str) {
        self.words.push(word);
        self.remark(Some(word), text, remedy);
    }

    fn remark(&mut self, word: Option<Word>, text: String, remedy: &str) {
        self.remarks.push(Remark {
            word,
            case: Some(self.case.id.clone()),
            text,
            remedy: (!remedy.is_empty()).then(|| remedy.to_owned()),
        });
    }

    fn books(&mut self) {
        let counts = &self.case.counts;
        if !counts.balance() {
            let text = format!(
                "planned {}, sent {}, never sent {}, ended {}",
                counts.planned,
                counts.sent,
                counts.never_sent,
                counts.ended()
            );
            self.say(
                Word::AccountingBroken,
                text,
                "report this: the engine lost count",
            );
        }
        let Some(little) = self.case.checks.little_percent else {
            return;
        };
        if little.abs() > LITTLE && self.case.counts.answered() >= 1000 {
            let text = format!(
                "Little's law is off by {little:.1} %: operations in flight do not fit rate times service time"
            );
            self.remark(None, text, "give it a longer run; if it stays, report it");
        }
    }

    fn outputs(&mut self) {
        let wrong = self.case.counts.wrong + self.grounds.warmup_wrong;
        if wrong > 0 {
            let text = format!("{wrong} outputs that were looked at are wrong");
            self.say(
                Word::WrongOutput,
                text,
                "no figure of this case can be used",
            );
        }
        let counts = &self.case.counts;
        let failed = counts.error + counts.timeout + counts.censored;
        let share = failed as f64 / counts.sent.max(1) as f64;
        if share > self.grounds.plan.error_budget {
            let text = format!(
                "{failed} of {} operations failed or never ended ({:.2} %)",
                counts.sent,
                share * 100.0
            );
            self.say(Word::TargetErrors, text, "see the errors by phase and code");
        }
    }

    fn generator(&mut self) {
        if let Some(percent) = self.case.checks.ceiling_percent {
            let text = format!("the rate is {percent:.0} % of what the generator makes of nothing");
            let remedy = "use more cores or connections for the generator";
            if percent > CEILING_INVALID {
                self.say(Word::GeneratorLimited, text, remedy);
            } else if percent > CEILING_REMARK {
                self.remark(None, text, remedy);
            }
        }
        let p99 = self.grounds.ledger.pacer.quantile(0.99).unwrap_or(0);
        let p50 = self.grounds.ledger.response.quantile(0.5).unwrap_or(0);
        if matches!(self.grounds.plan.load, Load::Open(_)) && p99 > (p50 / 10).max(1_000_000) {
            let text = format!(
                "the generator itself started operations late: p99 {:.1} ms",
                p99 as f64 / 1e6
            );
            let remedy = "give the generator a core of its own, or lower the rate";
            self.say(Word::GeneratorLimited, text, remedy);
        }
    }

    fn target_kept_up(&mut self) {
        let counts = &self.case.counts;
        let (planned, sent) = (counts.planned as f64, counts.sent as f64);
        // What was refused was answered; it is counted as an error, not as backlog.
        let ended = (counts.answered() + counts.error + counts.wrong) as f64;
        let kept = (ended - self.backlog()) / planned.max(1.0);
        let healthy = !self.words.contains(&Word::GeneratorLimited);
        if healthy && planned > 0.0 && kept < KEPT {
            let text = format!(
                "{:.1} % of the planned operations were done in time; {} were never sent",
                100.0 * kept,
                counts.never_sent
            );
            let remedy = "search the capacity: keywright bench saturate";
            self.say(Word::Saturated, text, remedy);
        }
        if healthy && self.in_flight_rises() && !self.words.contains(&Word::Saturated) {
            let text = "operations in flight rose from block to block to the end".to_owned();
            let remedy = "search the capacity: keywright bench saturate";
            self.say(Word::Saturated, text, remedy);
        }
        let mean = self.grounds.ledger.service.mean().unwrap_or(0.0);
        let busy = sent * mean / self.elapsed_ns().max(1.0);
        let cap = self.case.load.cap as f64;
        if busy >= CAP_BUSY * cap && self.grounds.peak_in_flight >= self.case.load.cap {
            let text = format!(
                "on average {busy:.0} of at most {cap:.0} operations were in flight: the service time is cap over rate and says nothing about the target"
            );
            let remedy = "raise the cap, or lower the rate";
            self.say(Word::ConcurrencyLimited, text, remedy);
        }
    }

    /// Whether a backlog grew inside the target for as long as the rate stayed: a rising line through the
    /// blocks of each run, and at its end at least twice what the cap-free start held.
    fn in_flight_rises(&self) -> bool {
        if !self.case.load.phases.is_empty() {
            return false;
        }
        let rising = |run: &crate::document::RunRecord| {
            let blocks = self.case.blocks.iter().filter(|block| block.run == run.run);
            let mut points: Vec<(f64, f64)> = blocks
                .map(|block| (block.start_ns as f64 / 1e9, block.in_flight as f64))
                .collect();
            // The last block sees the drain.
            points.pop();
            let (Some(first), Some(last)) = (points.first(), points.last()) else {
                return false;
            };
            let grown = last.1 > 2.0 * first.1 + 10.0;
            grown && trend::least_squares(&points).is_some_and(|slope| slope.p_rising < 0.001)
        };
        !self.case.runs.is_empty() && self.case.runs.iter().all(rising)
    }

    /// Operations that ended after their schedule although the last of them had been due before. As many as
    /// fit into the time that a few operations take are no backlog: somebody is always the last.
    fn backlog(&self) -> f64 {
        let ledger = self.grounds.ledger;
        let runs = self.case.runs.len().max(1) as f64;
        let seconds = self.case.load.duration_ns as f64 / 1e9;
        let rate = self.case.counts.planned as f64 / runs / seconds.max(1e-9);
        let shortest = ledger.service.min().unwrap_or(0) as f64 / 1e9;
        let usual = (LAST_ONES * rate * shortest).max(LAST_SHARE * rate * seconds) * runs;
        match ledger.late as f64 {
            late if late > usual => late,
            _ => 0.0,
        }
    }

    /// All runs together: what the rates imply.
    fn elapsed_ns(&self) -> f64 {
        let units = self.grounds.plan.units.max(1) as f64;
        let runs = self.case.runs.iter();
        let total: f64 = runs
            .map(|run| match run.achieved_per_s {
                rate if rate > 0.0 => run.counts.answered() as f64 * units / rate * 1e9,
                _ => self.case.load.duration_ns as f64,
            })
            .sum();
        total.max(1.0)
    }

    fn steadiness(&mut self) {
        let done: Vec<f64> = self
            .case
            .blocks
            .iter()
            .map(|block| block.done as f64)
            .collect();
        if self.case.runs.len() == 1
            && self.case.load.phases.is_empty()
            && series::mser5(&done).is_some_and(|cut| !cut.steady())
            && self.case.checks.drift_p.is_some_and(|p| p < DRIFT)
        {
            let text = "throughput had not come to rest when half of the run was over".to_owned();
            self.say(Word::NotSteady, text, "give it a longer warm-up");
        }
        if let Some(Noise::Unusable) = noise(&self.case.checks) {
            let percent = self.case.checks.noise_percent.unwrap_or(0.0);
            let text = format!("fixed work varied by {percent:.1} % beside this case");
            self.say(
                Word::Noisy,
                text,
                "see what else runs here: keywright bench doctor",
            );
        }
    }

    fn objectives(&mut self) {
        for slo in &self.grounds.plan.objectives {
            let (value, outcome) = match slo {
                Slo::Accepted(percentile, limit) => self.accepted(*percentile, *limit),
                Slo::Errors(limit) => self.errors(*limit),
                Slo::Latency(percentile, limit) => self.latency(*percentile, *limit),
                Slo::Lost(limit) => objective::lost(self.grounds.ledger, *limit),
                Slo::Part(name, percentile, limit) => self.part(name, *percentile, *limit),
                Slo::Recovery(limit) => objective::recovery(self.case, *limit),
                Slo::Refused(percentile, limit) => {
                    let generator = self.punctuality();
                    objective::refused(self.grounds.ledger, (*percentile, *limit), generator)
                }
            };
            match outcome {
                Decision::Met => {}
                Decision::Missed => {
                    let text = format!("the objective {slo} is missed");
                    self.say(Word::SloMissed, text, "");
                }
                Decision::Undecided => {
                    let text =
                        format!("the objective {slo} is neither met nor missed beyond doubt");
                    self.say(
                        Word::Inconclusive,
                        text,
                        "give it a longer run or more of them",
                    );
                }
            }
            self.case.objectives.push(Objective {
                condition: slo.to_string(),
                value,
                outcome: outcome.name().to_owned(),
            });
        }
    }

    fn errors(&self, limit: f64) -> Decided {
        let counts = &self.case.counts;
        let share = (counts.sent - counts.answered()) as f64 / counts.sent.max(1) as f64;
        let decision = match share <= limit {
            _ if counts.sent == 0 => Decision::Undecided,
            true => Decision::Met,
            false => Decision::Missed,
        };
        (Some(share), decision)
    }

    fn latency(&mut self, percentile: Percentile, limit: u64) -> Decided {
        let ledger = self.grounds.ledger;
        let failed = ledger.counts.error + ledger.counts.wrong;
        let times = self.times(ledger, failed);
        self.quantile(&times, percentile, limit)
    }

    fn accepted(&mut self, percentile: Percentile, limit: u64) -> Decided {
        let times = self.times(self.grounds.ledger, 0);
        self.quantile(&times, percentile, limit)
    }

    /// The same for one part of a mix.
    fn part(&mut self, name: &str, percentile: Percentile, limit: u64) -> Decided {
        let parts = self.grounds.parts;
        let Some((_, ledger)) = parts.iter().find(|(known, _)| known == name) else {
            let text = format!("there is no part {name}");
            self.remark(None, text, "name a part of the mix");
            return (None, Decision::Undecided);
        };
        let failed = ledger.counts.error + ledger.counts.wrong;
        let times = self.times(ledger, failed);
        self.quantile(&times, percentile, limit)
    }

    /// The times that callers have waited, and how many had an end that is worse than any time.
    fn times<'l>(&self, ledger: &'l Ledger, beyond: u64) -> Times<'l> {
        let closed = matches!(self.grounds.plan.load, Load::Closed { .. });
        Times {
            ledger,
            values: if closed {
                &ledger.service
            } else {
                &ledger.response
            },
            beyond,
            scale: if closed && ledger.batched { 1000 } else { 1 },
            open: true,
        }
    }

    fn quantile(&mut self, times: &Times<'_>, percentile: Percentile, limit: u64) -> Decided {
        let (value, decision) = times.at_most(percentile, limit, self.punctuality());
        let (total, needed) = (times.count(), percentile.needs());
        // Too few to print the quantile may be enough to judge it.
        if decision == Decision::Undecided && total < needed {
            let text = format!("{percentile} needs {needed} samples, there are {total}");
            self.say(Word::TooFewSamples, text, "give it a longer run");
        }
        (value, decision)
    }

    fn punctuality(&self) -> Generator {
        match self.words.contains(&Word::GeneratorLimited) {
            true => Generator::Late,
            false => Generator::InTime,
        }
    }

    fn facts(&mut self) {
        let suppressed = self.case.headline().is_some_and(|latency| {
            let quantiles = latency.quantiles.values();
            quantiles
                .into_iter()
                .any(|quantile| quantile.bound == Bound::TooFewSamples)
        });
        if suppressed {
            let n = self.case.headline().map_or(0, |latency| latency.n);
            let text = format!("{n} samples do not carry every quantile that is listed");
            self.remark(None, text, "");
        }
        if self.grounds.interrupted {
            let text = "it was ended early; this is what was done until then".to_owned();
            self.say(Word::Interrupted, text, "");
        }
        if self.grounds.runs_planned <= 1 {
            self.words.push(Word::SingleRun);
        }
        self.words.extend(self.grounds.facts);
    }

    fn close(mut self) {
        if self.words.iter().all(|word| word.is_fact()) {
            self.words.push(Word::Valid);
        }
        self.words.sort_unstable();
        self.words.dedup();
        self.case.verdicts = self.words;
        self.case.validity = self.remarks;
    }
}

/// How a case ends the program. What could not be decided matters only where something depended on it.
#[must_use]
pub fn exit_of(case: &Case) -> Exit {
    let depended = !case.objectives.is_empty()
        || case.verdicts.iter().any(|word| {
            matches!(
                word,
                Word::Inconclusive | Word::Pass | Word::Improved | Word::Regression
            )
        });
    case.verdicts
        .iter()
        .map(|word| match word.exit() {
            Exit::Inconclusive if !depended => Exit::Ok,
            // A proven miss beats the doubt about the figure that missed.
            exit => exit,
        })
        .fold(Exit::Ok, Exit::worst)
}
