//! From the books of some runs to one case of a document.

use crate::canary::{Noise, variation_percent};
use crate::carry::{Carried, TargetError, Window};
use crate::document::{
    BlockRecord, Case, Checks, FaultCount, Interval, Latency, LoadRecord, Part, PhaseRecord,
    Quantile, RunRecord,
};
use crate::hdr;
use crate::judge;
use crate::latency::{Few, Percentile, Reading};
use crate::ledger::Ledger;
use crate::load::Load;
use crate::plan::CasePlan;
use crate::stats::{interval, location, scaling, series, trend};
use crate::verdict::Word;

/// What the runs of a case left behind.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Evidence {
    /// Run by run.
    pub runs: Vec<Carried>,
    /// Fixed work between runs, in nanoseconds.
    pub canary: Vec<u64>,
    /// Fixed work around and beside each run, where there was some.
    pub surroundings: Vec<Surroundings>,
    /// Wrong outputs while warming up.
    pub warmup_wrong: u64,
    /// Whether it was ended early.
    pub interrupted: bool,
    /// Why it could not be measured.
    pub error: Option<TargetError>,
}

/// Fixed work around and beside one run, in nanoseconds.
#[derive(Clone, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "readings, and where they are of")]
pub struct Surroundings {
    /// Right before and right after.
    pub around: Vec<u64>,
    /// In each of its blocks.
    pub beside: Vec<Option<u64>>,
}

impl Evidence {
    /// The fastest that fixed work was beside any block.
    pub(crate) fn fastest_beside(&self) -> Option<u64> {
        let all = self.surroundings.iter().flat_map(|one| &one.beside);
        all.flatten().copied().filter(|nanos| *nanos > 0).min()
    }

    /// Characters of all distributions of blocks.
    pub(crate) fn block_text(&self) -> usize {
        let blocks = self.runs.iter().flat_map(|run| &run.blocks);
        blocks
            .filter_map(|block| Some(block.hdr.as_ref()?.len()))
            .sum()
    }
}

/// The case that the evidence of `plan` shows.
#[must_use]
pub fn assemble(
    plan: &CasePlan,
    evidence: Evidence,
    parts: &[(String, f64)],
    facts: &[Word],
    runs_planned: u32,
) -> Case {
    let mut whole = Ledger::new();
    evidence
        .runs
        .iter()
        .for_each(|run| whole.merge(&run.ledger));
    let open = matches!(plan.load, Load::Open(_));
    let batch = evidence.runs.first().map_or(1, |run| run.batch.max(1));
    let lag1 = autocorrelation(&evidence.runs).unwrap_or(0.0);
    let scope = Scope {
        plan,
        runs: &evidence.runs,
        surroundings: &evidence.surroundings,
        fastest: evidence.fastest_beside(),
        batch,
        lag1,
    };
    let books = scope.books(parts);
    let mut case = Case {
        id: plan.id.clone(),
        op: plan.op.clone(),
        target: plan.target.clone(),
        unit: plan.unit.clone(),
        parameters: plan.parameters.clone(),
        load: load_record(plan),
        errors: faults(&whole),
        runs: scope.run_records(),
        blocks: scope.blocks(),
        response: open.then(|| scope.latency(&whole, |ledger| &ledger.response, Bounded::Yes)),
        service: Some(scope.latency(&whole, |ledger| &ledger.service, Bounded::No)),
        lateness: open.then(|| scope.latency(&whole, |ledger| &ledger.lateness, Bounded::No)),
        pacer: open.then(|| scope.latency(&whole, |ledger| &ledger.pacer, Bounded::No)),
        error_latency: (whole.failed.count() > 0)
            .then(|| scope.latency(&whole, |ledger| &ledger.failed, Bounded::No)),
        parts: scope.parts(parts, &books),
        checks: scope.checks(&evidence.canary),
        counts: whole.counts.clone(),
        ..Case::default()
    };
    scope.rates(&mut case);
    judge::judge(
        &mut case,
        &judge::Grounds {
            plan,
            ledger: &whole,
            parts: &books,
            warmup_wrong: evidence.warmup_wrong,
            interrupted: evidence.interrupted,
            peak_in_flight: evidence
                .runs
                .iter()
                .map(|run| run.peak_in_flight)
                .max()
                .unwrap_or(0),
            facts,
            runs_planned,
        },
    );
    case
}

/// Whether open waits can make a quantile a lower bound.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bounded {
    No,
    Yes,
}

struct Scope<'a> {
    plan: &'a CasePlan,
    runs: &'a [Carried],
    surroundings: &'a [Surroundings],
    fastest: Option<u64>,
    batch: u64,
    lag1: f64,
}

impl Scope<'_> {
    fn reading(&self, shortest_open: Option<u64>, few: Few) -> Reading<'_> {
        Reading {
            percentiles: &self.plan.percentiles,
            lag1: self.lag1,
            shortest_open,
            batch: self.batch,
            few,
        }
    }

    /// A distribution over all runs; with enough runs, intervals come from the spread between them.
    fn latency(
        &self,
        whole: &Ledger,
        which: fn(&Ledger) -> &crate::histogram::Histogram,
        bounded: Bounded,
    ) -> Latency {
        let shortest = whole.shortest_open.filter(|_| bounded == Bounded::Yes);
        // Only service times are ever in picoseconds.
        let batch = if whole.batched { self.batch } else { 1 };
        let reading = Reading {
            batch,
            ..self.reading(shortest, self.plan.few)
        };
        let mut latency = reading.of(which(whole));
        latency.hdr = hdr::encode(which(whole));
        latency.outliers = which(whole).outliers();
        for percentile in &self.plan.percentiles {
            let values = self.runs.iter().map(|run| {
                let value = which(&run.ledger).quantile(percentile.share());
                value.map(|value| value as f64 / if batch > 1 { 1000.0 } else { 1.0 })
            });
            let values: Option<Vec<f64>> = values.collect();
            let quantile = latency.quantiles.get_mut(&format!("{percentile}_ns"));
            if let (Some(values), Some(quantile)) = (values, quantile) {
                spread(quantile, &values);
            }
        }
        latency
    }

    fn run_records(&self) -> Vec<RunRecord> {
        let around = self.surroundings.iter().map(Some);
        let around = around.chain(std::iter::repeat(None));
        let runs = self.runs.iter().zip(around).zip(0..);
        runs.map(|((run, around), number)| self.run_record(run, around, number))
            .collect()
    }

    fn blocks(&self) -> Vec<BlockRecord> {
        let open = matches!(self.plan.load, Load::Open(_));
        let mut blocks = Vec::new();
        for (place, run) in self.runs.iter().enumerate() {
            let beside = self
                .surroundings
                .get(place)
                .map(|one| one.beside.as_slice());
            let beside = beside.unwrap_or_default().iter().copied();
            let with = run.blocks.iter().zip(beside.chain(std::iter::repeat(None)));
            blocks.extend(with.map(|(block, reading)| BlockRecord {
                done: block.done.saturating_mul(self.plan.units),
                // In loops they are the same as the others.
                service_p50_ns: block.service_p50_ns.filter(|_| open),
                service_p99_ns: block.service_p99_ns.filter(|_| open),
                canary: self.relative(reading),
                ..block.clone()
            }));
        }
        blocks
    }

    fn relative(&self, reading: Option<u64>) -> Option<f64> {
        let (reading, fastest) = reading.zip(self.fastest)?;
        Some(reading as f64 / fastest as f64)
    }

    /// Blocks until throughput came to rest. A load that changes by plan has no rest to come to.
    fn unsettled(&self, run: &Carried) -> Option<u32> {
        if matches!(&self.plan.load, Load::Open(open) if open.phases.len() > 1) {
            return None;
        }
        let cut = series::mser5(&throughput(std::slice::from_ref(run)))?.cut;
        u32::try_from(cut).ok()
    }

    fn run_record(&self, run: &Carried, around: Option<&Surroundings>, number: u32) -> RunRecord {
        // Always these, whichever the case is asked for. The median is what runs are compared by, and stands for
        // its run however few operations that has; the tail of a short run is its length and no figure.
        let of = |percentile: Percentile, few: Few| {
            let reading = Reading {
                percentiles: &[percentile],
                ..self.reading(None, few)
            };
            let service = reading.of(&run.ledger.service);
            let quantile = service.quantile(&percentile.to_string());
            quantile.and_then(|quantile| quantile.value)
        };
        RunRecord {
            run: number,
            achieved_per_s: run.rate_per_s * self.plan.units as f64,
            counts: run.ledger.counts.clone(),
            p50_ns: of(Percentile::DEFAULT[0], Few::Give),
            p99_ns: of(Percentile::DEFAULT[3], Few::Withhold),
            cpu_ns_per_unit: self.cpu(run),
            figure: run.figure,
            fairness: fairness(&run.by_worker),
            noise_percent: around.and_then(|one| variation_percent(&one.around)),
            unsettled_blocks: self.unsettled(run),
        }
    }

    fn cpu(&self, run: &Carried) -> Option<f64> {
        let done = run.ledger.counts.answered() * self.plan.units;
        // Where the system counts in hundredths of a second a short run may read as nothing.
        run.cpu_ns
            .filter(|cpu| done > 0 && *cpu > 0)
            .map(|cpu| cpu as f64 / done as f64)
    }

    fn rates(&self, case: &mut Case) {
        let rates: Vec<f64> = case.runs.iter().map(|run| run.achieved_per_s).collect();
        case.achieved_per_s = location::median(&rates).unwrap_or(0.0);
        case.achieved_interval = interval::geometric_mean(&rates, 0.95).map(|interval| Interval {
            lo: interval.lo,
            hi: interval.hi,
        });
        if self.plan.bytes > 0 {
            let per_unit = self.plan.bytes as f64 / self.plan.units.max(1) as f64;
            case.bytes_per_s = Some(case.achieved_per_s * per_unit);
        }
        let figures: Option<Vec<f64>> = case.runs.iter().map(|run| run.figure).collect();
        case.figure = figures.and_then(|figures| location::median(&figures));
        let cpu: Option<Vec<f64>> = case.runs.iter().map(|run| run.cpu_ns_per_unit).collect();
        case.cpu_ns_per_unit = cpu.and_then(|cpu| location::median(&cpu));
    }

    /// The books of each part, where there are several.
    fn books(&self, names: &[(String, f64)]) -> Vec<(String, Ledger)> {
        if names.len() < 2 {
            return Vec::new();
        }
        let names = names.iter().enumerate();
        names
            .map(|(place, (name, _))| {
                let mut ledger = Ledger::new();
                let books = self.runs.iter().filter_map(|run| run.parts.get(place));
                books.for_each(|books| ledger.merge(books));
                (name.clone(), ledger)
            })
            .collect()
    }

    fn parts(&self, names: &[(String, f64)], books: &[(String, Ledger)]) -> Vec<Part> {
        let seconds: f64 = self
            .runs
            .iter()
            .map(|run| run.elapsed_ns as f64 / 1e9)
            .sum();
        names
            .iter()
            .zip(books)
            .map(|((name, weight), (_, ledger))| {
                let reading = self.reading(None, self.plan.few);
                Part {
                    name: name.clone(),
                    weight: *weight,
                    achieved_per_s: ledger.counts.answered() as f64 / seconds.max(1e-9),
                    response: matches!(self.plan.load, Load::Open(_))
                        .then(|| reading.of(&ledger.response)),
                    service: Some(reading.of(&ledger.service)),
                    counts: ledger.counts.clone(),
                }
            })
            .collect()
    }

    fn checks(&self, canary: &[u64]) -> Checks {
        let done: Vec<f64> = throughput(self.runs);
        let rates = self
            .runs
            .iter()
            .map(|run| run.rate_per_s)
            .collect::<Vec<_>>();
        let rate = location::median(&rates);
        Checks {
            little_percent: self.little(),
            ceiling_percent: self
                .plan
                .ceiling_per_s
                .zip(rate)
                .map(|(ceiling, rate)| 100.0 * rate / ceiling),
            noise_percent: variation_percent(canary),
            drift_p: trend::mann_kendall(&done).map(|test| test.p),
            autocorrelation: series::lag1(&done),
            timing: match self.batch {
                1 => "single operations".to_owned(),
                k => format!("batches of {k}"),
            },
        }
    }

    /// The gauge's integral against the sum of service times, in percent. What failed or never ended has
    /// no service time, so with more than a few of those there is nothing to compare; in a loop a place is
    /// taken again at once, with the driver's own work between operations, so there is nothing to learn.
    fn little(&self) -> Option<f64> {
        if matches!(self.plan.load, Load::Closed { .. }) {
            return None;
        }
        let (mut area, mut sum) = (0.0, 0.0);
        for run in self.runs {
            let (counts, service) = (&run.ledger.counts, &run.ledger.service);
            if counts.sent - counts.answered() > counts.sent / 1000 {
                return None;
            }
            area += run.in_flight_area?;
            sum += service.mean()? * service.count() as f64;
        }
        (sum > 0.0).then(|| 100.0 * (area / sum - 1.0))
    }
}

/// How evenly workers that run on their own got on; one worker alone has nobody to be fair to.
fn fairness(by_worker: &[u64]) -> Option<f64> {
    let shares: Vec<f64> = by_worker.iter().map(|count| *count as f64).collect();
    if shares.len() < 2 {
        return None;
    }
    scaling::jain_fairness(&shares)
}

/// Replaces an interval within one run by one between runs, where there are enough of them: as wide as the
/// spread of the runs' own quantiles says, around the quantile of all samples. The quantile of a short run
/// lies too low in a tail, and the mean of five such is no better; the quantile of all samples is.
fn spread(quantile: &mut Quantile, values: &[f64]) {
    if values.len() < FEWEST_RUNS || quantile.value.is_none() || quantile.hi.is_none() {
        return;
    }
    if let Some(interval) = interval::geometric_mean(values, 0.95) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a positive time by a positive ratio; the cast saturates"
        )]
        let nanos = |value: f64| value.round() as u64;
        let around = |point: u64, end: f64| nanos(point as f64 * end / interval.estimate);
        let lower = |point: u64| around(point, interval.lo).min(point);
        let upper = |point: u64| around(point, interval.hi).max(point);
        (quantile.lo, quantile.hi) = (quantile.value.map(lower), quantile.value.map(upper));
        (quantile.lo_ps, quantile.hi_ps) =
            (quantile.value_ps.map(lower), quantile.value_ps.map(upper));
    }
}

/// With fewer runs their spread says less than the samples of each.
const FEWEST_RUNS: usize = 3;

/// Done per second, block after block, over all runs.
fn throughput(runs: &[Carried]) -> Vec<f64> {
    let blocks = runs.iter().flat_map(|run| &run.blocks);
    blocks
        .map(|block| block.done as f64 * 1e9 / block.duration_ns.max(1) as f64)
        .collect()
}

fn autocorrelation(runs: &[Carried]) -> Option<f64> {
    let medians: Option<Vec<f64>> = runs
        .iter()
        .flat_map(|run| &run.blocks)
        .map(|block| block.p50_ns.map(|nanos| nanos as f64))
        .collect();
    series::lag1(&medians?)
}

fn faults(ledger: &Ledger) -> Vec<FaultCount> {
    let counted = ledger.faults.iter();
    let mut counts: Vec<FaultCount> = counted
        .map(|(fault, n)| FaultCount {
            phase: fault.phase().name().to_owned(),
            code: fault.code().to_owned(),
            n: *n,
        })
        .collect();
    counts.sort_by_key(|fault| std::cmp::Reverse(fault.n));
    counts
}

fn load_record(plan: &CasePlan) -> LoadRecord {
    let nanos = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let mut record = LoadRecord {
        mode: "closed".to_owned(),
        cap: u64::from(plan.load.cap().get()),
        connections: plan.connections,
        warmup_ns: nanos(plan.warmup),
        warmup_operations: plan.warmup_operations,
        rate_per_s: plan.load.rate_per_s(),
        ..LoadRecord::default()
    };
    match plan.window {
        Window::Operations(most) => record.iterations = Some(most),
        Window::Time(time) => record.duration_ns = nanos(time),
    }
    if let Load::Open(open) = &plan.load {
        "open".clone_into(&mut record.mode);
        record.arrival = Some(open.arrival.name().to_owned());
        record.duration_ns = nanos(open.duration());
        if open.phases.len() > 1 {
            let phases = open.phases.iter();
            record.phases = phases
                .map(|phase| PhaseRecord {
                    rate_per_s: phase.start_per_s(),
                    end_rate_per_s: phase.end_per_s(),
                    duration_ns: nanos(phase.duration()),
                })
                .collect();
        }
    }
    record
}

/// The noise word of a case's canary.
pub(crate) fn noise(checks: &Checks) -> Option<Noise> {
    checks.noise_percent.map(Noise::of)
}
