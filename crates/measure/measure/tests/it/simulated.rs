//! The engine against servers whose truth is known, in simulated time.

use std::num::NonZeroU32;
use std::time::Duration;

use keywright_clock::{Clock, WallTime};
use keywright_measure::carry::Verify;
use keywright_measure::document::{Bound, Case, Latency};
use keywright_measure::event::Nobody;
use keywright_measure::plan::{CasePlan, Slo};
use keywright_measure::session::{Entry, Outcome, Session};
use keywright_measure::simulate::{Server, Service};
use keywright_measure::verdict::{Exit, Word};
use keywright_measure::{Arrival, Carrier, Load, Open, Phase, Stop, Window, judge};

/// One case against one carrier, in one run without a warm-up.
pub(crate) fn measure(
    carrier: &mut dyn Carrier,
    load: Load,
    change: impl FnOnce(&mut CasePlan),
) -> Case {
    let mut plan = CasePlan::new("test.op", "simulated");
    plan.load = load;
    plan.warmup = Duration::ZERO;
    plan.window = Window::Time(Duration::from_secs(3600));
    change(&mut plan);
    let runs = plan
        .parameters
        .remove("runs")
        .map_or(1, |runs| runs.parse().unwrap());
    let seed = plan
        .parameters
        .remove("seed")
        .map_or(1, |seed| seed.parse().unwrap());
    let (clock, _hand) = Clock::simulated(WallTime::from_unix_seconds(0));
    let session = Session {
        clock: &clock,
        seed,
        runs,
        cooldown: Duration::ZERO,
        block: Duration::from_secs(1),
        facts: Vec::new(),
        stop: &Stop::new(),
        rest: |_| {},
    };
    let outcomes = session.measure(&mut [Entry { plan, carrier }], &Nobody);
    match outcomes.into_iter().next().unwrap() {
        Outcome::Measured(case) => *case,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn open(rate: f64, seconds: u64, cap: u32) -> Load {
    let cap = NonZeroU32::new(cap).unwrap();
    Load::Open(Open::constant(rate, Duration::from_secs(seconds), cap).unwrap())
}

fn closed(workers: u32) -> Load {
    Load::Closed {
        workers: NonZeroU32::new(workers).unwrap(),
    }
}

fn value(latency: Option<&Latency>, name: &str) -> f64 {
    latency.unwrap().quantile(name).unwrap().value.unwrap() as f64
}

fn near(value: f64, truth: f64, share: f64) {
    assert!(
        (value - truth).abs() <= truth * share,
        "{value} is not {truth}"
    );
}

const MS: f64 = 1e6;

fn freezing(service: Duration) -> Server {
    Server {
        places: 1,
        service: Service::Fixed(service),
        freezes: vec![(Duration::from_secs(5), Duration::from_secs(1))],
        ..Server::default()
    }
}

/// The verdict of the stall test on a result: what a caller felt during a freeze of one second.
fn felt_the_stall(case: &Case) -> bool {
    let response = case.response.as_ref();
    let fits = |name: &str, truth: f64| (value(response, name) - truth).abs() <= truth * 0.05;
    fits("p95", 500.0 * MS) && fits("p99", 900.0 * MS) && fits("p99.9", 990.0 * MS)
}

#[test]
fn a_freeze_of_a_second_shows_in_response_times_whatever_the_cap() {
    for cap in [1, 2000] {
        let case = measure(
            &mut freezing(Duration::from_micros(5)),
            open(1000.0, 10, cap),
            |plan| {
                plan.few = keywright_measure::latency::Few::Give;
            },
        );
        assert!(felt_the_stall(&case));
        let (response, service) = (case.response.as_ref(), case.service.as_ref());
        near(response.unwrap().max_ns.unwrap() as f64, 1000.0 * MS, 0.05);
        assert!(value(response, "p50") < 0.01 * MS);
        near(service.unwrap().max_ns.unwrap() as f64, 1000.0 * MS, 0.05);
        if cap == 1 {
            // One operation was in flight during the freeze; the others waited outside of it.
            assert!(value(service, "p99.9") < 0.01 * MS);
        } else {
            near(value(service, "p99"), value(response, "p99"), 0.001);
        }
    }
}

#[test]
fn with_a_slower_server_the_drain_of_the_stall_counts_too() {
    let case = measure(
        &mut freezing(Duration::from_micros(100)),
        open(1000.0, 10, 1),
        |_| {},
    );
    near(value(case.response.as_ref(), "p95"), 549.0 * MS, 0.05);
    near(value(case.response.as_ref(), "p99"), 909.0 * MS, 0.05);
}

/// Two mistakes that measuring tools have made. With either, the stall disappears from the figures, and
/// the test above has to notice.
#[test]
fn the_stall_test_fails_for_a_clock_started_at_send_and_for_an_inverted_correction() {
    let case = measure(
        &mut freezing(Duration::from_micros(5)),
        open(1000.0, 10, 1),
        |plan| {
            plan.few = keywright_measure::latency::Few::Give;
        },
    );
    let started_at_send = Case {
        response: case.service.clone(),
        ..case.clone()
    };
    assert!(!felt_the_stall(&started_at_send));
    let inverted = Case {
        response: case.service.clone(),
        service: case.response.clone(),
        ..case
    };
    assert!(!felt_the_stall(&inverted));
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of faults and one of loads")]
fn books_balance_in_every_mode_under_every_fault() {
    let faults = [
        Server::default(),
        Server {
            wrong_every: 7,
            ..Server::default()
        },
        Server {
            fault_every: 3,
            ..Server::default()
        },
        Server {
            silent_every: 11,
            ..Server::default()
        },
        Server {
            wrong_every: 5,
            fault_every: 4,
            silent_every: 9,
            queue: 3,
            ..Server::default()
        },
        Server {
            service: Service::Exponential(Duration::from_millis(4)),
            ..Server::default()
        },
        freezing(Duration::from_millis(1)),
    ];
    let ramp = Open {
        arrival: Arrival::Poisson,
        phases: vec![
            Phase::constant(100.0, Duration::from_secs(2)).unwrap(),
            Phase::ramp(100.0, 5000.0, Duration::from_secs(1)).unwrap(),
        ],
        cap: NonZeroU32::new(16).unwrap(),
    };
    let loads = [
        open(1000.0, 3, 1),
        open(1000.0, 3, 64),
        Load::Open(ramp),
        closed(1),
        closed(32),
    ];
    for server in &faults {
        for load in &loads {
            for window in [
                Window::Time(Duration::from_secs(2)),
                Window::Operations(700),
            ] {
                let case = measure(&mut server.clone(), load.clone(), |plan| {
                    plan.window = window;
                    plan.timeout = Duration::from_millis(1500);
                    plan.drain = Duration::from_secs(1);
                });
                assert!(
                    case.counts.balance(),
                    "{server:?} {load:?} {:?}",
                    case.counts
                );
                assert!(case.counts.planned > 0);
                assert!(!case.verdicts.contains(&Word::AccountingBroken));
                if let Window::Operations(most) = window {
                    assert!(case.counts.planned <= most);
                }
            }
        }
    }
}

#[test]
fn five_times_the_capacity_is_saturated_and_never_the_target_rate() {
    let mut server = Server {
        service: Service::Fixed(Duration::from_micros(100)),
        ..Server::default()
    };
    assert_eq!(server.capacity_per_s(), 10_000.0);
    let case = measure(&mut server, open(50_000.0, 10, 100), |_| {});
    assert!(case.verdicts.contains(&Word::Saturated));
    assert!(case.verdicts.contains(&Word::ConcurrencyLimited));
    assert_eq!(judge::exit_of(&case), Exit::MeasurementInvalid);
    near(case.achieved_per_s, 10_000.0, 0.01);
    assert!(case.counts.never_sent > 350_000);
    // With an objective that is missed beyond doubt, the miss decides.
    let case = measure(&mut server, open(50_000.0, 10, 100), |plan| {
        plan.objectives = vec![Slo::new("p99", "1s").unwrap()];
    });
    assert_eq!(case.verdict(), Word::SloMissed);
    assert_eq!(judge::exit_of(&case), Exit::GateFailed);
    assert_eq!(case.objectives[0].outcome, "missed");
}

/// "100,000 requests a second" against a server of 20,700: what the cap and the queue make of it.
#[test]
fn a_capped_generator_against_a_slow_server_follows_the_arithmetic_of_queues() {
    for (rate, valid) in [
        (18_000.0, true),
        (25_000.0, false),
        (50_000.0, false),
        (100_000.0, false),
    ] {
        let (capacity, cap, seconds) = (20_700.0, 2000.0, 6.0);
        let mut server = Server {
            service: Service::Fixed(Duration::from_nanos(48_309)),
            ..Server::default()
        };
        let case = measure(&mut server, open(rate, 6, 2000), |_| {});
        let sent = case.counts.sent as f64;
        let response = case.response.as_ref().unwrap();
        if valid {
            assert_eq!(case.counts.never_sent, 0);
            assert_eq!(case.verdict(), Word::Valid);
            continue;
        }
        near(sent, capacity * seconds + cap, 0.05);
        near(
            case.service.as_ref().unwrap().mean_ns.unwrap() / 1e9,
            cap / capacity,
            0.05,
        );
        let last = seconds - sent / rate + cap / capacity;
        near(
            response.max_ns.unwrap() as f64 / 1e9,
            last.max(seconds - sent / rate),
            0.05,
        );
        let p99 = response.quantile("p99").unwrap();
        assert_eq!((p99.bound, p99.hi), (Bound::AtLeast, None));
        assert!(case.verdicts.contains(&Word::Saturated));
        assert!(case.verdicts.contains(&Word::ConcurrencyLimited));
    }
}

#[test]
fn a_backlog_that_grows_inside_the_target_is_saturation_even_if_everything_is_sent() {
    let mut server = Server {
        service: Service::Fixed(Duration::from_micros(110)),
        ..Server::default()
    };
    for seconds in [2, 20] {
        let case = measure(&mut server, open(10_000.0, seconds, 1_000_000), |_| {});
        assert_eq!(case.counts.never_sent, 0);
        assert!(case.verdicts.contains(&Word::Saturated));
        // What was worked off when nothing new came is no throughput at this rate.
        near(case.achieved_per_s, 9090.9, 0.005);
    }
}

#[test]
fn a_generator_that_is_slow_itself_is_blamed_and_not_the_server() {
    let mut server = Server {
        generator: Duration::from_millis(2),
        ..Server::default()
    };
    let case = measure(&mut server, open(1000.0, 10, 10_000), |_| {});
    assert!(case.verdicts.contains(&Word::GeneratorLimited));
    assert!(!case.verdicts.contains(&Word::Saturated));
}

#[test]
fn wrong_bytes_are_found_and_end_with_the_code_for_them() {
    let mut server = Server {
        wrong_every: 1000,
        ..Server::default()
    };
    let case = measure(&mut server, open(1000.0, 10, 10), |plan| {
        plan.verify = Verify::All
    });
    assert_eq!(case.counts.wrong, 10);
    assert_eq!(case.verdict(), Word::WrongOutput);
    assert_eq!(judge::exit_of(&case), Exit::TargetWrong);
}

#[test]
fn wrong_bytes_while_warming_up_count_against_the_case() {
    let mut server = Server {
        wrong_every: 90,
        ..Server::default()
    };
    let case = measure(&mut server, closed(1), |plan| {
        plan.warmup = Duration::from_millis(1);
        plan.window = Window::Operations(80);
    });
    assert_eq!(case.counts.wrong, 0);
    assert_eq!(case.verdict(), Word::WrongOutput);
}

#[test]
fn fast_failures_improve_no_quantile_and_count_against_objectives() {
    let healthy = Server {
        service: Service::Fixed(Duration::from_millis(1)),
        places: 8,
        ..Server::default()
    };
    let failing = Server {
        fault_every: 2,
        ..healthy.clone()
    };
    let slo = |plan: &mut CasePlan| plan.objectives = vec![Slo::new("p95", "2ms").unwrap()];
    let good = measure(&mut healthy.clone(), open(1000.0, 10, 100), slo);
    let bad = measure(&mut failing.clone(), open(1000.0, 10, 100), slo);
    assert_eq!(
        value(good.response.as_ref(), "p50"),
        value(bad.response.as_ref(), "p50")
    );
    assert_eq!(good.objectives[0].outcome, "met");
    assert_eq!(bad.objectives[0].outcome, "missed");
    assert!(bad.verdicts.contains(&Word::TargetErrors));
    assert_eq!(bad.errors[0].n, bad.counts.error);
    assert_eq!(judge::exit_of(&good), Exit::Ok);
}

#[test]
fn littles_law_holds_on_valid_runs_and_catches_a_fault_in_the_stamps() {
    let mut server = Server {
        places: 8,
        service: Service::Exponential(Duration::from_millis(2)),
        ..Server::default()
    };
    let poisson = Load::Open(Open {
        arrival: Arrival::Poisson,
        phases: vec![Phase::constant(2000.0, Duration::from_secs(20)).unwrap()],
        cap: NonZeroU32::new(500).unwrap(),
    });
    let case = measure(&mut server, poisson.clone(), |_| {});
    assert!(case.checks.little_percent.unwrap().abs() < 0.1);
    assert_eq!(case.verdict(), Word::Valid);

    /// Claims that every operation began 300 microseconds later than it did.
    struct Late(Server);
    impl Carrier for Late {
        fn carry(
            &mut self,
            assignment: &keywright_measure::Assignment<'_>,
            block: &mut dyn FnMut(
                &keywright_measure::document::BlockRecord,
                &keywright_measure::ledger::Ledger,
            ),
        ) -> Result<keywright_measure::Carried, keywright_measure::TargetError> {
            let mut carried = self.0.carry(assignment, block)?;
            let mut shifted = keywright_measure::histogram::Histogram::new();
            for bin in carried.ledger.service.bins().iter_recorded() {
                let late = bin.value_iterated_to().saturating_sub(300_000);
                shifted.record_n(late, bin.count_at_value());
            }
            carried.ledger.service = shifted;
            Ok(carried)
        }
    }
    let case = measure(&mut Late(server), poisson, |_| {});
    assert!(case.checks.little_percent.unwrap() > 10.0);
    assert!(
        case.validity
            .iter()
            .any(|remark| remark.text.contains("Little's law"))
    );
}

#[test]
fn an_objective_is_met_missed_or_undecided_and_only_proof_decides() {
    let server = Server {
        places: 64,
        service: Service::Exponential(Duration::from_millis(10)),
        ..Server::default()
    };
    // The 99th percentile of this distribution is 46 ms.
    for (limit, seconds, outcome, exit) in [
        ("100ms", 30, "met", Exit::Ok),
        ("20ms", 30, "missed", Exit::GateFailed),
        ("46ms", 30, "undecided", Exit::Inconclusive),
        // 500 samples do not carry the figure, and are enough to exclude that it is above or below.
        ("100ms", 1, "met", Exit::Ok),
        ("20ms", 1, "missed", Exit::GateFailed),
        ("46ms", 1, "undecided", Exit::Inconclusive),
    ] {
        let case = measure(&mut server.clone(), open(500.0, seconds, 1000), |plan| {
            plan.objectives = vec![Slo::new("p99", limit).unwrap()];
        });
        assert_eq!(case.objectives[0].outcome, outcome, "{limit} {seconds}");
        assert_eq!(judge::exit_of(&case), exit, "{limit} {seconds}");
        assert_eq!(case.objectives[0].value.is_some(), seconds > 1);
    }
}

#[test]
fn objective_missed_by_every_answer_is_missed_with_few_samples() {
    let server = Server {
        service: Service::Fixed(Duration::from_millis(1)),
        ..Server::default()
    };
    // Two samples above a p80 may be chance in 4 of 100 cases, three in fewer than 1.
    for (percentile, operations, outcome) in [
        ("p99", 500, "missed"),
        ("p99", 1, "missed"),
        ("p80", 2, "undecided"),
        ("p80", 3, "missed"),
        ("p50", 5, "undecided"),
        ("p50", 6, "missed"),
    ] {
        let case = measure(&mut server.clone(), closed(1), |plan| {
            plan.window = Window::Operations(operations);
            plan.objectives = vec![Slo::new(percentile, "500us").unwrap()];
        });
        let named = format!("{percentile} {operations}");
        assert_eq!(case.objectives[0].outcome, outcome, "{named}");
        let missed = outcome == "missed";
        assert_eq!(case.verdicts.contains(&Word::SloMissed), missed, "{named}");
        assert_eq!(
            case.verdicts.contains(&Word::TooFewSamples),
            !missed,
            "{named}"
        );
        let exit = if missed {
            Exit::GateFailed
        } else {
            Exit::Inconclusive
        };
        assert_eq!(judge::exit_of(&case), exit, "{named}");
    }
}

#[test]
fn closed_loops_claim_no_response_time_and_say_what_they_are() {
    let case = measure(&mut Server::default(), closed(4), |plan| {
        plan.window = Window::Operations(1000);
    });
    assert_eq!(case.response, None);
    assert!(case.verdicts.contains(&Word::ClosedLoop) && case.verdicts.contains(&Word::SingleRun));
    assert_eq!(case.counts.planned, 1000);
}

#[test]
fn runs_repeat_from_their_seed() {
    let server = Server {
        service: Service::Exponential(Duration::from_micros(300)),
        ..Server::default()
    };
    let case = |seed: &str| {
        measure(&mut server.clone(), open(2000.0, 5, 10), |plan| {
            plan.parameters.insert("seed".to_owned(), seed.to_owned());
        })
    };
    assert_eq!(case("7"), case("7"));
    assert_ne!(case("7").response, case("8").response);
}
