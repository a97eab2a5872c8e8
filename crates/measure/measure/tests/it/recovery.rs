//! Bursts against servers whose recovery can be calculated.

use std::num::NonZeroU32;
use std::time::Duration;

use keywright_clock::{Clock, WallTime};
use keywright_measure::carry::{Assignment, Verify, Window};
use keywright_measure::document::RecoveryModel;
use keywright_measure::load::LoadError;
use keywright_measure::simulate::{Server, Service};
use keywright_measure::spike::Spike;
use keywright_measure::{Arrival, Carried, Load, Stop};

const WINDOW: f64 = 0.1;

fn spike() -> Spike {
    Spike {
        arrival: Arrival::Constant,
        base_per_s: 500.0,
        spike_per_s: 3000.0,
        before: Duration::from_secs(10),
        during: Duration::from_secs(2),
        after: Duration::from_secs(20),
        cap: NonZeroU32::new(1_000_000).unwrap(),
        margin: 0.1,
    }
}

/// 1,000 a second, always.
fn server() -> Server {
    Server {
        service: Service::Fixed(Duration::from_millis(1)),
        ..Server::default()
    }
}

fn run(server: &mut Server, spike: &Spike) -> (Carried, Option<RecoveryModel>) {
    let (clock, _hand) = Clock::simulated(WallTime::from_unix_seconds(0));
    let load = spike.load().unwrap();
    let assignment = Assignment {
        load: &load,
        window: Window::Time(Duration::from_secs(3600)),
        seed: 1,
        verify: Verify::All,
        timeout: Duration::from_secs(600),
        drain: Duration::from_secs(600),
        block: Duration::from_secs_f64(WINDOW),
        clock: &clock,
        stop: &Stop::new(),
    };
    spike.carry(server, &assignment, &mut |_, _| {}).unwrap()
}

fn near(value: f64, truth: f64) {
    assert!(
        (value / truth - 1.0).abs() <= 0.05,
        "{value} is not {truth}"
    );
}

/// The backlog grows by spike less capacity, and shrinks by capacity less base.
struct Truth {
    backlog: f64,
    recovery: f64,
    debt: f64,
}

fn truth(spike: &Spike, capacity: f64) -> Truth {
    let during = spike.during.as_secs_f64();
    let backlog = (spike.spike_per_s - capacity) * during;
    let recovery = backlog / (capacity - spike.base_per_s);
    // An operation that finds the queue q long waits q over the capacity, so the sum of waits is the area
    // under the backlog.
    let debt = backlog * (during + recovery) / 2.0;
    Truth {
        backlog,
        recovery,
        debt,
    }
}

#[test]
fn recovery_backlog_and_debt_follow_the_arithmetic_of_queues() {
    for (base, peak, seconds) in [(500.0, 3000.0, 2), (800.0, 2000.0, 1), (100.0, 10_000.0, 1)] {
        let spike = Spike {
            base_per_s: base,
            spike_per_s: peak,
            during: Duration::from_secs(seconds),
            ..spike()
        };
        let truth = truth(&spike, 1000.0);
        let (carried, model) = run(&mut server(), &spike);
        let model = model.unwrap();
        let recovery = model.recovery_ns.unwrap() as f64 / 1e9;
        assert!(
            (recovery - truth.recovery).abs() <= WINDOW,
            "{recovery} is not {}",
            truth.recovery
        );
        near(model.peak_backlog as f64, truth.backlog);
        near(model.peak_in_flight as f64, truth.backlog);
        near(model.latency_debt_s, truth.debt);
        assert_eq!((model.lost, model.refused), (0, 0));
        near(model.before_p99_ns as f64, 1e6);
        near(model.after_p99_ns.unwrap() as f64, 1e6);
        assert!(carried.ledger.counts.balance());
        assert_eq!(carried.ledger.counts.never_sent, 0);
    }
}

#[test]
fn backlog_and_debt_count_what_waits_outside_of_the_target_too() {
    let spike = Spike {
        cap: NonZeroU32::new(8).unwrap(),
        ..spike()
    };
    let truth = truth(&spike, 1000.0);
    let model = run(&mut server(), &spike).1.unwrap();
    assert_eq!(model.peak_in_flight, 8);
    near(model.peak_backlog as f64, truth.backlog);
    near(model.latency_debt_s, truth.debt);
    assert!((model.recovery_ns.unwrap() as f64 / 1e9 - truth.recovery).abs() <= WINDOW);
}

#[test]
fn with_random_arrivals_and_times_recovery_is_still_within_a_window_or_two() {
    let spike = Spike {
        arrival: Arrival::Poisson,
        ..spike()
    };
    let mut server = Server {
        service: Service::Exponential(Duration::from_millis(1)),
        ..Server::default()
    };
    let truth = truth(&spike, 1000.0);
    let model = run(&mut server, &spike).1.unwrap();
    near(model.peak_backlog as f64, truth.backlog);
    // The rate at which the queue drains is itself random by a few percent.
    let recovery = model.recovery_ns.unwrap() as f64 / 1e9;
    assert!((recovery / truth.recovery - 1.0).abs() < 0.1, "{recovery}");
}

#[test]
fn a_target_that_does_not_recover_in_time_is_not_said_to() {
    let spike = Spike {
        after: Duration::from_secs(3),
        ..spike()
    };
    let model = run(&mut server(), &spike).1.unwrap();
    assert_eq!((model.recovery_ns, model.after_p99_ns), (None, None));
    near(model.peak_backlog as f64, truth(&spike, 1000.0).backlog);
}

#[test]
fn a_spike_below_the_capacity_leaves_nothing_behind() {
    let spike = Spike {
        spike_per_s: 900.0,
        ..spike()
    };
    let model = run(&mut server(), &spike).1.unwrap();
    assert_eq!(model.recovery_ns, Some(0));
    assert!(model.peak_backlog <= 1);
    assert!(model.latency_debt_s < 0.001);
}

#[test]
fn what_is_refused_or_never_answered_is_counted_and_shortens_the_queue() {
    let mut refusing = Server {
        queue: 100,
        ..server()
    };
    let model = run(&mut refusing, &spike()).1.unwrap();
    assert!(model.refused > 3500 && model.lost == 0);
    assert!(model.peak_backlog <= 102);
    assert!(model.recovery_ns.unwrap() <= 400_000_000);

    let mut silent = Server {
        silent_every: 1000,
        ..server()
    };
    let (carried, model) = run(&mut silent, &spike());
    assert_eq!(model.unwrap().lost, carried.ledger.counts.sent / 1000);
}

#[test]
fn the_load_has_no_gap_and_the_generator_never_pauses() {
    let Load::Open(open) = spike().load().unwrap() else {
        panic!("a spike is an open load");
    };
    let due: Vec<u64> = open.schedule(1).collect();
    assert_eq!(due.len(), 5000 + 6000 + 10_000);
    let longest = due.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
    assert!(longest <= 2_000_001);
}

#[test]
fn a_spike_that_cannot_be_made_is_refused() {
    let endless = Spike {
        spike_per_s: f64::INFINITY,
        ..spike()
    };
    assert_eq!(endless.load(), Err(LoadError::Rate));
    let short = Spike {
        after: Duration::ZERO,
        ..spike()
    };
    assert_eq!(short.load(), Err(LoadError::NoTime));
}

#[test]
fn without_a_base_to_compare_with_nothing_is_said() {
    let spike = Spike {
        base_per_s: 0.1,
        before: Duration::from_millis(150),
        ..spike()
    };
    let mut server = Server {
        silent_every: 1,
        ..server()
    };
    assert_eq!(run(&mut server, &spike).1, None);
}
