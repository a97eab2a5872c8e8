//! Searches against queues of known capacity.

use std::num::NonZeroU32;
use std::time::Duration;

use keywright_clock::{Clock, WallTime};
use keywright_measure::plan::Slo;
use keywright_measure::saturate::{Found, Search, Setting, by_concurrency, by_rate};
use keywright_measure::simulate::{Server, Service};
use keywright_measure::stats::random::Generator;
use keywright_measure::{Carrier, Stop, TargetError};

/// Four places of 4 ms: 1,000 operations a second.
fn queue() -> Server {
    Server {
        places: 4,
        service: Service::Exponential(Duration::from_millis(4)),
        ..Server::default()
    }
}

const CAPACITY: f64 = 1000.0;

fn search() -> Search {
    Search {
        start_per_s: 120.0,
        short: Duration::from_secs(8),
        long: Duration::from_secs(30),
        cap: NonZeroU32::new(1_000_000).unwrap(),
        ..Search::default()
    }
}

fn run(carrier: &mut dyn Carrier, search: &Search, seed: u64) -> Result<Found, TargetError> {
    let (clock, _hand) = Clock::simulated(WallTime::from_unix_seconds(0));
    let stop = Stop::new();
    by_rate(
        carrier,
        search,
        Setting {
            clock: &clock,
            stop: &stop,
            seed,
        },
    )
}

#[test]
fn the_capacity_of_a_queue_lies_within_five_percent_in_95_of_100_seeds() {
    let outcomes: Vec<String> = std::thread::scope(|scope| {
        let halves = [0..50_u64, 50..100].map(|seeds| {
            scope.spawn(move || {
                let wrong = seeds.filter_map(|seed| {
                    // Where the growing rates fall beside the capacity is different each time.
                    let start = 60_000.0 * (1.0 + Generator::new(seed).uniform());
                    let search = Search {
                        start_per_s: start,
                        most_per_s: 1e8,
                        short: Duration::from_millis(8),
                        long: Duration::from_millis(30),
                        ..search()
                    };
                    let mut server = Server {
                        service: Service::Exponential(Duration::from_micros(4)),
                        ..queue()
                    };
                    let capacity = server.capacity_per_s();
                    let model = run(&mut server, &search, seed).unwrap().model;
                    let low = model.highest_passing_per_s.unwrap_or(0.0);
                    let high = model.lowest_failing_per_s.unwrap_or(f64::INFINITY);
                    let holds = low <= capacity && capacity <= high && high / low <= 1.05;
                    assert!(model.trials.len() <= 20);
                    (!holds)
                        .then(|| format!("{seed}: {low:.0} to {high:.0} in {}", model.trials.len()))
                });
                wrong.collect::<Vec<_>>()
            })
        });
        halves
            .into_iter()
            .flat_map(|half| half.join().unwrap())
            .collect()
    });
    assert!(outcomes.len() <= 5, "{outcomes:#?}");
}

/// Two places of 2 ms carry 1,000 a second; the waiting breaks 8 ms well before that.
#[test]
fn an_objective_that_breaks_before_the_capacity_names_itself() {
    let mut server = Server {
        places: 2,
        service: Service::Fixed(Duration::from_millis(2)),
        ..Server::default()
    };
    let search = Search {
        objectives: vec![Slo::new("p99", "8ms").unwrap()],
        ..search()
    };
    let found = run(&mut server, &search, 3).unwrap();
    let model = &found.model;
    let (low, high) = (
        model.highest_passing_per_s.unwrap(),
        model.lowest_failing_per_s.unwrap(),
    );
    assert_eq!(model.criterion.as_deref(), Some("response"));
    assert!(low < high && high < CAPACITY, "{low} to {high}");
    assert!(found.best.is_some());
    let best = found.best.unwrap();
    assert!(best.ledger.response.quantile(0.99).unwrap() <= 8_000_000);
}

#[test]
fn failures_end_a_search_below_what_the_server_could_carry() {
    let mut server = Server {
        fault_every: 20,
        ..queue()
    };
    let search = Search {
        most_trials: 5,
        ..search()
    };
    let model = run(&mut server, &search, 1).unwrap().model;
    assert_eq!(model.highest_passing_per_s, None);
    assert!(
        model
            .trials
            .iter()
            .all(|trial| trial.failed.as_deref() == Some("errors"))
    );
}

#[test]
fn a_slow_generator_is_named_as_the_limit_and_not_the_server() {
    let mut server = Server {
        generator: Duration::from_micros(200),
        places: 64,
        ..queue()
    };
    let search = Search {
        short: Duration::from_secs(1),
        long: Duration::from_secs(3),
        ..search()
    };
    let model = run(&mut server, &search, 1).unwrap().model;
    assert_eq!(model.criterion.as_deref(), Some("generator"));
    assert!(model.highest_passing_per_s.unwrap() < 5000.0);
}

#[test]
fn without_a_failing_rate_there_is_no_upper_bound() {
    let search = Search {
        most_per_s: 500.0,
        ..search()
    };
    let model = run(&mut queue(), &search, 1).unwrap().model;
    assert_eq!(model.highest_passing_per_s, Some(500.0));
    assert_eq!((model.lowest_failing_per_s, model.criterion), (None, None));
}

#[test]
fn the_first_rate_may_already_be_too_much() {
    let search = Search {
        start_per_s: 5000.0,
        ..search()
    };
    let model = run(&mut queue(), &search, 2).unwrap().model;
    assert!(model.highest_passing_per_s.unwrap() <= CAPACITY);
    assert!(model.lowest_failing_per_s.unwrap() >= CAPACITY);
}

#[test]
fn a_cap_on_operations_in_flight_bounds_the_search_too() {
    let search = Search {
        cap: NonZeroU32::new(2).unwrap(),
        ..search()
    };
    // Two of four places can be used at once, so half of the capacity is left.
    let model = run(&mut queue(), &search, 1).unwrap().model;
    let (low, high) = (
        model.highest_passing_per_s.unwrap(),
        model.lowest_failing_per_s.unwrap(),
    );
    assert!(
        low <= 500.0 && 500.0 <= high && high / low <= 1.06,
        "{low} to {high}"
    );
}

#[test]
fn a_search_that_was_stopped_claims_nothing() {
    let (clock, _hand) = Clock::simulated(WallTime::from_unix_seconds(0));
    let stop = Stop::new();
    stop.ask();
    let setting = Setting {
        clock: &clock,
        stop: &stop,
        seed: 1,
    };
    let found = by_rate(&mut queue(), &search(), setting).unwrap();
    assert!(found.interrupted && found.model.trials.is_empty());
    assert_eq!(found.model.highest_passing_per_s, None);
}

#[test]
fn a_rate_that_no_schedule_can_have_is_an_error() {
    let search = Search {
        start_per_s: f64::NAN,
        ..search()
    };
    assert!(matches!(
        run(&mut queue(), &search, 1),
        Err(TargetError::Load(_))
    ));
}

#[test]
fn by_concurrency_more_in_flight_than_places_brings_nothing() {
    let (clock, _hand) = Clock::simulated(WallTime::from_unix_seconds(0));
    let stop = Stop::new();
    let setting = Setting {
        clock: &clock,
        stop: &stop,
        seed: 1,
    };
    let search = Search {
        cap: NonZeroU32::new(256).unwrap(),
        ..search()
    };
    let found = by_concurrency(&mut queue(), &search, setting).unwrap();
    let most = found.model.highest_passing_per_s.unwrap();
    assert!((most / CAPACITY - 1.0).abs() < 0.02, "{most}");
    assert_eq!(found.model.criterion.as_deref(), Some("growth"));
    let workers: Vec<u32> = found.steps.iter().map(|step| step.workers).collect();
    assert_eq!(workers[..4], [1, 2, 4, 8]);
    // At four the places are all taken; five wait for one.
    assert!(found.steps.iter().all(|step| step.workers <= 8));
}
