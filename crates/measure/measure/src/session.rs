//! Carries out a plan: every case several times, in turns, each run after a warm-up of its own.
//!
//! Runs of different cases take turns, forwards and then backwards (A B C, C B A), so that a machine that
//! drifts treats them alike and pairs of neighbouring runs can be compared. The warm-up is drained before
//! the measured schedule starts, so nothing of it is left in the result but warm caches. Fixed work runs
//! between the runs, on the same thread: how much its time varies is how noisy the machine is. A little of it
//! runs beside them as well, so that each block says how fast the machine was then.

use std::time::Duration;

use keywright_clock::{Clock, nanos};

use crate::assemble::{Evidence, Surroundings, assemble};
use crate::beside::{Beside, Readings};
use crate::canary::Canary;
use crate::carry::{Assignment, Carried, Carrier, Stop, TargetError, Verify, Window};
use crate::document::{BlockRecord, Case};
use crate::event::{Event, Observer};
use crate::hdr::{Packed, Precision};
use crate::latency::{Few, Percentile, Reading};
use crate::ledger::Ledger;
use crate::plan::CasePlan;
use crate::series::times;
use crate::verdict::Word;

/// A case and what carries its load.
#[expect(clippy::exhaustive_structs, reason = "a plan and what carries it")]
pub struct Entry<'a> {
    /// What to measure.
    pub plan: CasePlan,
    /// On what.
    pub carrier: &'a mut dyn Carrier,
}

impl std::fmt::Debug for Entry<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Entry")
            .field("plan", &self.plan)
            .finish_non_exhaustive()
    }
}

/// How a plan is carried out.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "the settings of a session")]
pub struct Session<'a> {
    /// The clock.
    pub clock: &'a Clock,
    /// Schedules and inputs are drawn from it.
    pub seed: u64,
    /// Runs of each case.
    pub runs: u32,
    /// Rest before each run but the first.
    pub cooldown: Duration,
    /// How long a block is.
    pub block: Duration,
    /// Facts that hold for every case.
    pub facts: Vec<Word>,
    /// Whether to end early.
    pub stop: &'a Stop,
    /// Sleeps for the cool-down; a simulation passes nothing.
    pub rest: fn(Duration),
}

/// What came of a case.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// It was measured.
    Measured(Box<Case>),
    /// It was not: the target cannot do it, or cannot be reached.
    Skipped {
        /// The case's id.
        id: String,
        /// Why.
        error: TargetError,
    },
}

impl Session<'_> {
    /// Measures every case, in turns.
    pub fn measure(&self, entries: &mut [Entry<'_>], observer: &dyn Observer) -> Vec<Outcome> {
        let mut evidence: Vec<Evidence> = entries.iter().map(|_| Evidence::default()).collect();
        let fixed = Fixed {
            between: Canary::new(self.clock),
            beside: Beside::new(self.clock),
        };
        for run in 0..self.runs.max(1) {
            for place in order(run, entries.len()) {
                if self.stop.is_asked() {
                    evidence[place].interrupted = true;
                    continue;
                }
                if run > 0 {
                    (self.rest)(self.cooldown);
                }
                self.turn(
                    run,
                    place,
                    &mut entries[place],
                    &mut evidence[place],
                    &fixed,
                    observer,
                );
            }
        }
        let finished = entries.iter().zip(evidence);
        finished
            .map(|(entry, evidence)| match evidence.error {
                Some(error) => Outcome::Skipped {
                    id: entry.plan.id.clone(),
                    error,
                },
                None => {
                    let parts = entry.carrier.parts();
                    let mut facts = self.facts.clone();
                    facts.extend(entry.carrier.words());
                    let case = assemble(&entry.plan, evidence, &parts, &facts, self.runs);
                    let case = Box::new(case);
                    observer.event(&Event::CaseFinished { case: case.clone() });
                    Outcome::Measured(case)
                }
            })
            .collect()
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one turn touches the case, its evidence, the fixed work and whoever watches"
    )]
    fn turn(
        &self,
        run: u32,
        place: usize,
        entry: &mut Entry<'_>,
        evidence: &mut Evidence,
        fixed: &Fixed<'_>,
        observer: &dyn Observer,
    ) {
        if evidence.error.is_some() {
            return;
        }
        let plan = entry.plan.clone();
        observer.event(&Event::CaseStarted {
            id: plan.id.clone(),
            place,
            expected_ns: nanos(plan.expected().unwrap_or_default()),
            target_per_s: plan.load.rate_per_s(),
        });
        // How even this machine is says nothing about time that is made up.
        let fixed = (!entry.carrier.simulated()).then_some(fixed);
        let between = || fixed.map_or_else(Vec::new, |fixed| fixed.between.sample(self.clock));
        let mut around = between();
        let mut told = Told::new(&plan, run, evidence.fastest_beside());
        let result = self.warm_up(run, &plan, entry.carrier).and_then(|warm| {
            evidence.warmup_wrong += warm;
            let assignment = self.assignment(&plan, run);
            let mut carry = |readings: &Readings| {
                entry.carrier.carry(&assignment, &mut |block, ledger| {
                    told.tell((block, ledger), readings, observer);
                })
            };
            match fixed {
                Some(fixed) => fixed.beside.during(self.block, carry),
                None => carry(&Readings::default()),
            }
        });
        around.extend(between());
        evidence.canary.extend(&around);
        match result {
            Ok(mut carried) => {
                evidence.interrupted |= carried.interrupted;
                carried.blocks.iter_mut().for_each(|block| block.run = run);
                let left = BLOCK_TEXT.saturating_sub(evidence.block_text());
                write_out(&mut carried.blocks, &told.packed, left);
                evidence.surroundings.push(Surroundings {
                    around,
                    beside: told.beside,
                });
                evidence.runs.push(carried);
            }
            Err(error) => evidence.error = Some(error),
        }
    }

    /// The same load for the length of the warm-up, every output looked at; gives the wrong ones.
    fn warm_up(
        &self,
        run: u32,
        plan: &CasePlan,
        carrier: &mut dyn Carrier,
    ) -> Result<u64, TargetError> {
        let window = match plan.warmup_operations {
            Some(0) => return Ok(0),
            Some(most) => Window::Operations(most),
            None if plan.warmup.is_zero() => return Ok(0),
            None => Window::Time(plan.warmup),
        };
        let assignment = Assignment {
            window,
            verify: match plan.verify {
                Verify::Off => Verify::Off,
                Verify::All | Verify::Sample => Verify::All,
            },
            seed: !self.seed_of(run),
            ..self.assignment(plan, run)
        };
        let carried: Carried = carrier.carry(&assignment, &mut |_, _| {})?;
        Ok(carried.ledger.counts.wrong)
    }

    fn assignment<'p>(&'p self, plan: &'p CasePlan, run: u32) -> Assignment<'p> {
        Assignment {
            load: &plan.load,
            window: plan.window,
            seed: self.seed_of(run),
            verify: plan.verify,
            timeout: plan.timeout,
            drain: plan.drain,
            block: self.block,
            clock: self.clock,
            stop: self.stop,
        }
    }

    const fn seed_of(&self, run: u32) -> u64 {
        self.seed
            .wrapping_add((run as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }
}

/// Work whose time should not vary.
struct Fixed<'a> {
    between: Canary,
    beside: Beside<'a>,
}

/// Most characters of the distributions of a case's blocks; blocks beyond have none.
const BLOCK_TEXT: usize = 512 * 1024;
/// Most blocks of a run whose distribution is kept until the run is over.
const BLOCKS_KEPT: usize = 600;

/// Writes the distributions of blocks out, once nothing is measured any more.
fn write_out(blocks: &mut [BlockRecord], packed: &[Packed], mut left: usize) {
    for (block, packed) in blocks.iter_mut().zip(packed) {
        let text = packed.text();
        if text.len() > left {
            return;
        }
        left -= text.len();
        block.hdr = Some(text);
    }
}

/// A B C in even runs, C B A in odd ones.
fn order(run: u32, count: usize) -> Vec<usize> {
    if run.is_multiple_of(2) {
        (0..count).collect()
    } else {
        (0..count).rev().collect()
    }
}

/// What has been told of a run so far.
struct Told<'a> {
    plan: &'a CasePlan,
    run: u32,
    so_far: Ledger,
    /// The fixed work beside each block, and the fastest of all.
    beside: Vec<Option<u64>>,
    fastest: Option<u64>,
    /// The distribution of each block, as far as they are kept.
    packed: Vec<Packed>,
}

impl<'a> Told<'a> {
    fn new(plan: &'a CasePlan, run: u32, fastest: Option<u64>) -> Self {
        Self {
            plan,
            run,
            so_far: Ledger::new(),
            beside: Vec::new(),
            fastest,
            packed: Vec::new(),
        }
    }

    /// What the fixed work says of the block that ends, relative to the fastest so far.
    fn look(&mut self, ledger: &Ledger, readings: &Readings) -> Option<f64> {
        let taken = readings.take();
        self.beside.push(taken);
        self.fastest = self.fastest.into_iter().chain(taken).min();
        if self.packed.len() < BLOCKS_KEPT {
            self.packed
                .push(Packed::of(times(ledger), Precision::Coarse));
        }
        let (taken, fastest) = taken.zip(self.fastest)?;
        Some(taken as f64 / fastest as f64)
    }

    fn tell(
        &mut self,
        (block, ledger): (&BlockRecord, &Ledger),
        readings: &Readings,
        observer: &dyn Observer,
    ) {
        let canary = self.look(ledger, readings);
        self.so_far.merge(ledger);
        let open = matches!(self.plan.load, crate::load::Load::Open(_));
        let times = if open {
            &self.so_far.response
        } else {
            &self.so_far.service
        };
        let reading = Reading {
            percentiles: &Percentile::DEFAULT,
            lag1: 0.0,
            shortest_open: None,
            batch: if self.so_far.batched { 2 } else { 1 },
            few: Few::Withhold,
        };
        let latency = reading.of(times);
        let quantiles = latency.quantiles.iter();
        observer.event(&Event::Block {
            id: self.plan.id.clone(),
            block: BlockRecord {
                run: self.run,
                done: block.done.saturating_mul(self.plan.units),
                canary,
                ..block.clone()
            },
            rate_per_s: block.done as f64 * self.plan.units as f64 * 1e9
                / block.duration_ns.max(1) as f64,
            quantiles: quantiles
                .filter_map(|(name, quantile)| {
                    Some((name.trim_end_matches("_ns").to_owned(), quantile.value?))
                })
                .collect(),
            histogram: latency.bins.iter().map(|bin| (bin.to_ns, bin.n)).collect(),
            errors: self
                .so_far
                .faults
                .iter()
                .map(|(fault, count)| (fault.to_string(), *count))
                .collect(),
        });
    }
}
