//! The intervals of a case's quantiles hold the truth as often as they say: five runs, carried by simulated
//! servers, assembled as every measurement is. Seeds 0..N−1.

use std::num::NonZeroU32;
use std::time::Duration;

use keywright_clock::{Clock, WallTime};
use keywright_measure::assemble::{Evidence, assemble};
use keywright_measure::carry::{Assignment, Verify};
use keywright_measure::document::Latency;
use keywright_measure::plan::CasePlan;
use keywright_measure::simulate::{Server, Service};
use keywright_measure::{Arrival, Carrier, Load, Open, Phase, Stop, Window};

const RUNS: u64 = 5;
/// Of one run of arrivals: a thousand of them.
const LENGTH: Duration = Duration::from_millis(20);
const MEAN: Duration = Duration::from_micros(10);

/// Service times of one case of five runs.
fn case(load: &Load, window: Window, seed: u64) -> Latency {
    let (clock, _hand) = Clock::simulated(WallTime::from_unix_seconds(0));
    let mut plan = CasePlan::new("test.op", "simulated");
    plan.load = load.clone();
    plan.window = window;
    let stop = Stop::new();
    let mut evidence = Evidence::default();
    for run in 0..RUNS {
        let assignment = Assignment {
            load,
            window: plan.window,
            seed: seed * RUNS + run,
            verify: Verify::Off,
            timeout: plan.timeout,
            drain: plan.drain,
            block: Duration::from_millis(1),
            clock: &clock,
            stop: &stop,
        };
        let mut server = Server {
            service: Service::Exponential(MEAN),
            ..Server::default()
        };
        evidence
            .runs
            .push(server.carry(&assignment, &mut |_, _| {}).unwrap());
    }
    assemble(&plan, evidence, &[], &[], 5).service.unwrap()
}

/// The share of simulated cases whose intervals hold the truth, in percent, quantile by quantile.
fn coverage(load: &Load, window: Window, truths: &[(&str, f64)]) -> Vec<f64> {
    const SIMULATIONS: u64 = 2000;
    let held = std::thread::scope(|scope| {
        let halves = [0..SIMULATIONS / 2, SIMULATIONS / 2..SIMULATIONS].map(|seeds| {
            scope.spawn(move || {
                let mut held = vec![0_u32; truths.len()];
                for seed in seeds {
                    let latency = case(load, window, seed);
                    for (held, (name, truth)) in held.iter_mut().zip(truths) {
                        let quantile = latency.quantile(name).unwrap();
                        let (lo, hi) = (quantile.lo.unwrap(), quantile.hi.unwrap());
                        *held += u32::from(lo as f64 <= *truth && *truth <= hi as f64);
                    }
                }
                held
            })
        });
        let [one, two] = halves.map(|half| half.join().unwrap());
        one.into_iter()
            .zip(two)
            .map(|(one, two)| one + two)
            .collect::<Vec<_>>()
    });
    held.iter()
        .map(|held| 100.0 * f64::from(*held) / SIMULATIONS as f64)
        .collect()
}

fn exponential(mean_ns: f64, share: f64) -> f64 {
    -mean_ns * (1.0 - share).ln()
}

fn nominal(percents: &[f64]) {
    let fits = |percent: &f64| (93.0..=97.0).contains(percent);
    assert!(percents.iter().all(fits), "{percents:?}");
}

#[test]
fn quantile_intervals_of_five_runs_cover_with_independent_service_times() {
    let load = Load::Closed {
        workers: NonZeroU32::MIN,
    };
    let truth = |share| exponential(10_000.0, share);
    let truths = [
        ("p50", truth(0.5)),
        ("p90", truth(0.9)),
        ("p95", truth(0.95)),
        ("p99", truth(0.99)),
    ];
    nominal(&coverage(&load, Window::Operations(400), &truths));
}

/// One place at half of its capacity, seen from outside: waiting and service together are exponential with
/// twice the mean, and neighbours wait together.
#[test]
fn quantile_intervals_of_five_runs_cover_with_autocorrelated_service_times() {
    let load = Load::Open(Open {
        arrival: Arrival::Poisson,
        phases: vec![Phase::constant(50_000.0, LENGTH).unwrap()],
        cap: NonZeroU32::new(1_000_000).unwrap(),
    });
    let truth = |share| exponential(20_000.0, share);
    let truths = [
        ("p50", truth(0.5)),
        ("p90", truth(0.9)),
        ("p95", truth(0.95)),
        ("p99", truth(0.99)),
    ];
    let covered = coverage(&load, Window::Time(LENGTH), &truths);
    nominal(&covered[..3]);
    // The fifty slowest of such a case came in three or four bursts, which is few to judge a spread by.
    assert!((91.0..=97.0).contains(&covered[3]), "{covered:?}");
}
