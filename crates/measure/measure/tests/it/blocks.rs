//! What a block says of itself: its distribution, the machine beside it, and where a run came to rest.

use std::num::NonZeroU32;
use std::sync::Mutex;
use std::time::Duration;

use keywright_clock::Clock;
use keywright_measure::carry::{Carried, Check};
use keywright_measure::document::{BlockRecord, Case};
use keywright_measure::event::{Event, Observer};
use keywright_measure::hdr::decode;
use keywright_measure::histogram::Histogram;
use keywright_measure::ledger::Ledger;
use keywright_measure::plan::CasePlan;
use keywright_measure::session::{Entry, Outcome, Session};
use keywright_measure::simulate::{Server, Service};
use keywright_measure::threads::Threads;
use keywright_measure::timer::Timer;
use keywright_measure::{
    Arrival, Assignment, Carrier, Fault, Load, Open, Phase, Stop, TargetError, Window, Worker,
};

use crate::simulated::{measure, open};

fn server() -> Server {
    Server {
        places: 4,
        service: Service::Fixed(Duration::from_millis(1)),
        ..Server::default()
    }
}

fn runs(plan: &mut CasePlan, runs: u32) {
    plan.parameters.insert("runs".to_owned(), runs.to_string());
}

#[test]
fn the_distributions_of_blocks_add_up_to_that_of_the_case() {
    let case = measure(&mut server(), open(500.0, 10, 64), |plan| runs(plan, 3));
    let mut sum = Histogram::new();
    for block in &case.blocks {
        let read = decode(block.hdr.as_ref().unwrap()).unwrap();
        assert_eq!(read.count(), block.done + block.failed);
        sum.merge(&read);
    }
    let whole = case.response.as_ref().unwrap();
    let read = whole.histogram().unwrap().unwrap();
    assert_eq!(case.blocks.len(), 30);
    assert_eq!((sum.count(), read.count()), (whole.n, whole.n));
    let (one, two) = (sum.quantile(0.99).unwrap(), read.quantile(0.99).unwrap());
    assert!(one.abs_diff(two) as f64 <= two as f64 * 0.01 + 1.0);
    assert_eq!((read.min(), read.max()), (whole.min_ns, whole.max_ns));
}

#[test]
fn every_distribution_of_a_case_is_written_and_none_of_nothing() {
    let case = measure(&mut server(), open(500.0, 10, 64), |_| {});
    for latency in [&case.response, &case.service, &case.lateness, &case.pacer] {
        let latency = latency.as_ref().unwrap();
        let read = latency.histogram().unwrap().unwrap();
        assert_eq!(read.count(), latency.n);
        let p50 = latency.quantile("p50").unwrap().value.unwrap();
        assert!(read.quantile(0.5).unwrap().abs_diff(p50) as f64 <= p50 as f64 * 0.001 + 1.0);
    }
    assert!(case.error_latency.is_none());
}

#[test]
fn a_case_of_very_many_blocks_keeps_the_distributions_of_the_first() {
    let case = measure(&mut server(), open(20.0, 2000, 64), |_| {});
    let with = case.blocks.iter().filter(|block| block.hdr.is_some());
    assert_eq!(with.count(), 600);
    assert!(case.blocks[..600].iter().all(|block| block.hdr.is_some()));
    let text: usize = case
        .blocks
        .iter()
        .filter_map(|block| Some(block.hdr.as_ref()?.len()))
        .sum();
    assert!(text <= 512 * 1024);
}

#[test]
fn on_a_clock_that_stands_still_nothing_is_said_of_the_machine() {
    let case = measure(&mut server(), open(500.0, 5, 64), |plan| runs(plan, 2));
    assert!(case.blocks.iter().all(|block| block.canary.is_none()));
    assert!(case.runs.iter().all(|run| run.noise_percent.is_none()));
}

struct Spin;

impl Worker for Spin {
    fn operate(&mut self) -> Result<(), Fault> {
        std::hint::black_box((0..2000_u64).fold(1, |sum, n| sum ^ n.rotate_left(7)));
        Ok(())
    }

    fn check(&mut self) -> Check {
        Check::Unknown
    }
}

#[derive(Default)]
struct Noted(Mutex<Vec<Option<f64>>>);

impl Observer for Noted {
    fn event(&self, event: &Event) {
        if let Event::Block { block, .. } = event {
            self.0.lock().unwrap().push(block.canary);
        }
    }
}

fn real(carrier: &mut dyn Carrier, observer: &dyn Observer, block: Duration) -> Case {
    let clock = Clock::system();
    let mut plan = CasePlan::new("test.spin", "here");
    plan.load = Load::Closed {
        workers: NonZeroU32::MIN,
    };
    plan.warmup = Duration::ZERO;
    plan.window = Window::Time(block * 4);
    let stop = Stop::new();
    let session = Session {
        clock: &clock,
        seed: 1,
        runs: 2,
        cooldown: Duration::ZERO,
        block,
        facts: Vec::new(),
        stop: &stop,
        rest: |_| {},
    };
    let outcomes = session.measure(&mut [Entry { plan, carrier }], observer);
    match outcomes.into_iter().next().unwrap() {
        Outcome::Measured(case) => *case,
        other => panic!("{other:?}"),
    }
}

#[test]
fn on_a_running_clock_runs_say_their_noise_and_blocks_how_fast_the_machine_was() {
    let clock = Clock::system();
    let mut threads = Threads::new(vec![Box::new(Spin)], Timer::calibrate(&clock));
    let noted = Noted::default();
    let case = real(&mut threads, &noted, Duration::from_millis(60));
    assert!(case.runs.iter().all(|run| run.noise_percent.is_some()));
    let said: Vec<f64> = case
        .blocks
        .iter()
        .filter_map(|block| block.canary)
        .collect();
    assert!(!said.is_empty());
    assert!(
        said.iter()
            .all(|canary| canary.is_finite() && *canary >= 1.0)
    );
    // Whoever watches is told as well, relative to the fastest until then.
    let told = noted.0.lock().unwrap();
    assert_eq!(told.len(), case.blocks.len());
    assert!(told.iter().flatten().all(|canary| *canary >= 1.0));
}

/// Says of each block what it is told to.
struct Told(Vec<u64>);

impl Carrier for Told {
    fn carry(
        &mut self,
        _: &Assignment<'_>,
        each: &mut dyn FnMut(&BlockRecord, &Ledger),
    ) -> Result<Carried, TargetError> {
        let mut carried = Carried::default();
        for (start, done) in (0..).zip(&self.0) {
            let block = BlockRecord {
                start_ns: start * 1_000_000_000,
                duration_ns: 1_000_000_000,
                done: *done,
                ..BlockRecord::default()
            };
            each(&block, &Ledger::new());
            carried.blocks.push(block);
        }
        carried.batch = 1;
        Ok(carried)
    }
}

fn climbing(blocks: u64) -> Told {
    Told(
        (0..blocks)
            .map(|n| if n < 10 { 100 * n } else { 1000 + n % 3 })
            .collect(),
    )
}

fn unsettled(carrier: &mut Told, load: Load) -> Option<u32> {
    measure(carrier, load, |_| {}).runs[0].unsettled_blocks
}

#[test]
fn blocks_before_a_run_came_to_rest_are_counted_and_stay_in_it() {
    let load = open(1000.0, 40, 64);
    assert_eq!(unsettled(&mut climbing(40), load.clone()), Some(10));
    assert_eq!(unsettled(&mut Told(vec![1000; 40]), load.clone()), Some(0));
    let case = measure(&mut climbing(40), load, |_| {});
    assert_eq!(case.blocks.len(), 40);
}

#[test]
fn of_few_blocks_and_of_a_load_that_changes_by_plan_nothing_is_said_about_rest() {
    assert_eq!(unsettled(&mut climbing(19), open(1000.0, 19, 64)), None);
    assert_eq!(unsettled(&mut Told(Vec::new()), open(1000.0, 40, 64)), None);
    let phase = |rate| Phase::constant(rate, Duration::from_secs(20)).unwrap();
    let cap = NonZeroU32::new(64).unwrap();
    let phases = Open {
        phases: vec![phase(100.0), phase(1000.0)],
        arrival: Arrival::Constant,
        cap,
    };
    assert_eq!(unsettled(&mut climbing(40), Load::Open(phases)), None);
}

#[test]
fn in_open_mode_a_block_tells_service_time_apart_from_what_callers_felt() {
    let mut frozen = Server {
        freezes: vec![(Duration::from_secs(3), Duration::from_secs(1))],
        places: 1,
        ..server()
    };
    let case = measure(&mut frozen, open(100.0, 10, 1), |_| {});
    let felt = &case.blocks[4];
    assert!(felt.p99_ns.unwrap() > 50 * felt.service_p50_ns.unwrap());
    assert!(felt.service_p50_ns.unwrap() <= felt.service_p99_ns.unwrap());
    let loop_of_one = Load::Closed {
        workers: NonZeroU32::MIN,
    };
    let case = measure(&mut server(), loop_of_one, |plan| {
        plan.window = Window::Time(Duration::from_secs(3));
    });
    assert!(case.blocks.iter().all(|block| block.p99_ns.is_some()));
    assert!(
        case.blocks
            .iter()
            .all(|block| block.service_p99_ns.is_none())
    );
}

#[test]
fn a_block_counts_units_as_its_case_does() {
    let case = measure(&mut server(), open(500.0, 10, 64), |plan| plan.units = 32);
    let done: u64 = case.blocks.iter().map(|block| block.done).sum();
    assert_eq!(done, 32 * case.counts.answered());
}

#[test]
fn outliers_of_a_case_are_counted_and_stay_in_its_figures() {
    let mut frozen = Server {
        freezes: vec![(Duration::from_secs(5), Duration::from_millis(300))],
        ..server()
    };
    let case = measure(&mut frozen, open(500.0, 10, 64), |_| {});
    let response = case.response.as_ref().unwrap();
    let outliers = response.outliers.as_ref().unwrap();
    assert!(outliers.high_severe > 100 && outliers.low_severe == 0);
    assert_eq!(response.n, case.counts.answered());
    assert!(response.max_ns.unwrap() > 290_000_000);
}
