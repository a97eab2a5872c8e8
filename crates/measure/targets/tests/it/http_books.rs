//! The books balance to the last operation, in every mode and under every fault.

use std::num::NonZeroU32;
use std::time::Duration;

use keywright_measure::carry::Verify;
use keywright_measure::{Arrival, Carrier as _, Load, Open, Phase, TargetError, Window};
use keywright_tls::Protocol;

use crate::http_echo::{Manner, Plan, Stage, check_books};
use crate::http_server::{Script, Seen};

const BOTH: [Protocol; 2] = [Protocol::Http2, Protocol::Http1];

/// Loads of every kind, each of at most a second.
fn plans() -> Vec<Plan> {
    let cap = NonZeroU32::new(8).unwrap();
    let part = |rate, millis| Phase::constant(rate, Duration::from_millis(millis)).unwrap();
    let phases = vec![part(200.0, 300), part(1000.0, 200), part(200.0, 300)];
    let of = |arrival| {
        Load::Open(Open {
            arrival,
            phases: phases.clone(),
            cap,
        })
    };
    let second = Window::Time(Duration::from_secs(1));
    let closed = Load::Closed { workers: cap };
    vec![
        Plan::closed(8, 500),
        Plan::of(closed, Window::Time(Duration::from_millis(300))),
        Plan::open(500.0, 600, 8),
        Plan::of(of(Arrival::Constant), second),
        Plan::of(of(Arrival::Poisson), second),
        Plan::of(of(Arrival::Poisson), Window::Operations(100)),
        Plan::of(
            of(Arrival::Constant),
            Window::Time(Duration::from_millis(400)),
        ),
    ]
}

fn planned(plan: &Plan) -> Option<u64> {
    match (&plan.load, plan.window) {
        (_, Window::Operations(most)) => Some(most),
        (Load::Open(open), Window::Time(time)) => {
            let end = u64::try_from(time.as_nanos()).unwrap();
            Some(open.schedule(7).take_while(|due| *due < end).count() as u64)
        }
        _ => None,
    }
}

#[test]
fn without_faults_everything_planned_is_verified_over_both_protocols() {
    let stage = Stage::new(Script::default());
    for protocol in BOTH {
        for plan in plans() {
            let mut carrier = stage.carrier(protocol, Manner::Compare);
            let before = Seen::count(&stage.server.seen.requests);
            let carried = plan.run(&mut carrier);
            check_books(&carried);
            let counts = &carried.ledger.counts;
            assert_eq!(counts.verified, counts.sent, "{plan:?}: {counts:?}");
            let requests = Seen::count(&stage.server.seen.requests) - before;
            assert_eq!(counts.sent, requests);
            if let Some(planned) = planned(&plan) {
                assert_eq!(counts.planned, planned, "{plan:?}");
            }
            assert!(carried.peak_in_flight <= 8 && carried.rate_per_s > 0.0);
            assert!(!carried.blocks.is_empty() && !carried.interrupted);
        }
    }
}

#[test]
fn every_fault_is_in_the_books_once_in_every_mode() {
    let script = Script {
        wrong_every: 13,
        error_every: 11,
        page_every: 17,
        ..Script::default()
    };
    for protocol in BOTH {
        for plan in plans() {
            let stage = Stage::new(script);
            let carried = plan.run(&mut stage.carrier(protocol, Manner::Compare));
            check_books(&carried);
            let (counts, seen) = (&carried.ledger.counts, &stage.server.seen);
            assert_eq!(counts.sent, Seen::count(&seen.requests));
            assert_eq!(counts.wrong, Seen::count(&seen.wrong));
            let faults = &carried.ledger.faults;
            let of = |text: &str| {
                let found = faults.iter().find(|(fault, _)| fault.to_string() == text);
                found.map_or(0, |(_, count)| *count)
            };
            assert_eq!(of("service: overloaded"), Seen::count(&seen.errors));
            assert_eq!(of("status: 502"), Seen::count(&seen.pages));
        }
    }
}

#[test]
fn a_stream_that_is_reset_fails_alone() {
    let stage = Stage::new(Script {
        reset_every: 10,
        ..Script::default()
    });
    let carried = Plan::closed(8, 400).run(&mut stage.carrier(Protocol::Http2, Manner::Compare));
    check_books(&carried);
    assert_eq!(
        carried.ledger.counts.error,
        Seen::count(&stage.server.seen.resets)
    );
    let (fault, count) = carried.ledger.faults.first_key_value().unwrap();
    assert_eq!(
        (fault.to_string().as_str(), *count),
        ("stream: refused_stream", 40)
    );
    assert_eq!(Seen::count(&stage.server.seen.connections), 2);
}

#[test]
fn what_is_never_answered_is_censored_when_waiting_stops() {
    let stage = Stage::new(Script {
        silent_every: 100,
        ..Script::default()
    });
    let plan = Plan {
        drain: Duration::from_millis(200),
        ..Plan::closed(8, 450)
    };
    let carried = plan.run(&mut stage.carrier(Protocol::Http2, Manner::Compare));
    check_books(&carried);
    let counts = &carried.ledger.counts;
    assert_eq!((counts.sent, counts.censored, counts.timeout), (450, 4, 0));
    assert!(
        carried
            .ledger
            .is_lower_bound(carried.ledger.response.max().unwrap())
    );
}

#[test]
fn what_takes_longer_than_the_timeout_is_timed_out_and_its_place_is_free_again() {
    for protocol in BOTH {
        let stage = Stage::new(Script {
            silent_every: 10,
            ..Script::default()
        });
        let plan = Plan {
            timeout: Duration::from_millis(300),
            ..Plan::closed(8, 200)
        };
        // Twenty silences among eight places: without the timeout the loop would stand.
        let carried = plan.run(&mut stage.carrier(protocol, Manner::Compare));
        check_books(&carried);
        let counts = &carried.ledger.counts;
        assert_eq!((counts.sent, counts.censored), (200, 0), "{counts:?}");
        assert!(counts.timeout >= Seen::count(&stage.server.seen.silent) && counts.timeout >= 10);
    }
}

#[test]
fn at_five_times_capacity_what_is_not_sent_is_counted() {
    // One place and ten milliseconds each: a hundred a second at most.
    let stage = Stage::new(Script {
        delay: Duration::from_millis(10),
        ..Script::default()
    });
    let mut carrier = stage.carrier(Protocol::Http2, Manner::Mix);
    let carried = Plan::open(500.0, 1000, 1).run(&mut carrier);
    check_books(&carried);
    let counts = &carried.ledger.counts;
    assert_eq!(counts.planned, 500);
    assert!(counts.never_sent >= 395, "{counts:?}");
    assert_eq!(counts.sent, Seen::count(&stage.server.seen.requests));
    // What was not sent belongs to a part as well.
    let unsent: u64 = carried
        .parts
        .iter()
        .map(|part| part.counts.never_sent)
        .sum();
    assert_eq!(unsent, counts.never_sent);
    // The target pushed back; the pacer did not.
    assert!(carried.ledger.pacer.max() < carried.ledger.lateness.max());
}

#[test]
fn a_freeze_delays_answers_and_loses_none() {
    let stage = Stage::new(Script {
        freeze: Some((100, Duration::from_millis(300))),
        ..Script::default()
    });
    let mut carrier = stage.carrier(Protocol::Http2, Manner::Compare);
    let carried = Plan::open(400.0, 800, 8).run(&mut carrier);
    check_books(&carried);
    let ledger = &carried.ledger;
    assert_eq!((ledger.counts.planned, ledger.counts.verified), (320, 320));
    // Whoever was due at its beginning felt all of it; eight places were taken, the others waited.
    assert!(ledger.response.max().unwrap() >= 290_000_000);
    assert!(ledger.lateness.max().unwrap() > 0);
}

#[test]
fn without_a_look_a_wrong_byte_counts_as_unverified_and_a_sample_finds_its_share() {
    let script = Script {
        wrong_every: 1,
        ..Script::default()
    };
    for (verify, wrong) in [(Verify::Off, 0), (Verify::Sample, 4), (Verify::All, 400)] {
        let stage = Stage::new(script);
        let plan = Plan {
            verify,
            ..Plan::closed(8, 400)
        };
        let carried = plan.run(&mut stage.carrier(Protocol::Http2, Manner::Compare));
        check_books(&carried);
        let counts = &carried.ledger.counts;
        assert_eq!((counts.wrong, counts.unverified), (wrong, 400 - wrong));
    }
}

#[test]
fn outputs_that_take_a_question_are_asked_about_outside_of_what_is_counted() {
    for (verify, looked) in [(Verify::All, 600), (Verify::Sample, 6), (Verify::Off, 0)] {
        let stage = Stage::new(Script {
            wrong_every: if verify == Verify::Sample { 1 } else { 0 },
            ..Script::default()
        });
        let plan = Plan {
            verify,
            ..Plan::closed(8, 600)
        };
        let carried = plan.run(&mut stage.carrier(Protocol::Http2, Manner::Ask));
        check_books(&carried);
        let counts = &carried.ledger.counts;
        assert_eq!(counts.sent, 600);
        assert_eq!(counts.verified + counts.wrong, looked);
        assert_eq!(counts.wrong, if verify == Verify::Sample { 6 } else { 0 });
        assert_eq!(Seen::count(&stage.server.seen.requests), 600 + looked);
    }
}

#[test]
fn legs_have_books_of_their_own_and_the_operation_is_counted_once() {
    let stage = Stage::new(Script {
        error_every: 9,
        ..Script::default()
    });
    let mut carrier = stage.carrier(Protocol::Http2, Manner::Legs);
    assert_eq!(carrier.parts().len(), 2);
    let carried = Plan::closed(8, 300).run(&mut carrier);
    check_books(&carried);
    let [there, back] = [&carried.parts[0].counts, &carried.parts[1].counts];
    assert_eq!((carried.ledger.counts.sent, there.sent), (300, 300));
    assert_eq!(back.sent, there.unverified);
    assert_eq!(
        there.sent + back.sent,
        Seen::count(&stage.server.seen.requests)
    );
    assert_eq!(there.error + back.error, carried.ledger.counts.error);
    assert_eq!(back.verified, carried.ledger.counts.verified);
}

#[test]
fn the_parts_of_a_mix_add_up_to_the_whole() {
    let stage = Stage::new(Script {
        wrong_every: 7,
        ..Script::default()
    });
    for plan in [Plan::closed(8, 400), Plan::open(400.0, 1000, 8)] {
        let carried = plan.run(&mut stage.carrier(Protocol::Http2, Manner::Mix));
        check_books(&carried);
        let [often, seldom] = [&carried.parts[0].counts, &carried.parts[1].counts];
        assert_eq!(often.plus(seldom), carried.ledger.counts);
        assert_eq!((often.planned, seldom.planned), (300, 100));
    }
}

#[test]
fn each_identity_calls_for_itself_alone() {
    let stage = Stage::new(Script::default());
    for protocol in BOTH {
        for plan in [Plan::closed(8, 200), Plan::open(400.0, 500, 8)] {
            let carried = plan.run(&mut stage.carrier(protocol, Manner::Tenants));
            check_books(&carried);
            assert_eq!(carried.ledger.counts.verified, 200);
            assert!(carried.parts.iter().all(|part| part.counts.verified > 0));
            let callers = std::mem::take(&mut *stage.server.seen.callers.lock().unwrap());
            assert_eq!(callers.len(), 2);
            let [one, two] = [&callers["/echo/0"], &callers["/echo/1"]];
            assert!(one.len() == 1 && two.len() == 1 && one != two);
        }
    }
}

#[test]
fn a_run_that_is_stopped_ends_with_balanced_books() {
    let stage = Stage::new(Script::default());
    for plan in [Plan::closed(8, 1_000_000), Plan::open(300.0, 600_000, 8)] {
        let mut carrier = stage.carrier(Protocol::Http2, Manner::Mix);
        let stop = plan.stop.clone();
        let mut blocks = 0;
        let carried = plan.run_with(&mut carrier, &mut |_, _| {
            blocks += 1;
            if blocks == 2 {
                stop.ask();
            }
        });
        let carried = carried.unwrap();
        check_books(&carried);
        assert!(carried.interrupted && carried.ledger.counts.sent > 0);
        // Nothing after the end was planned.
        assert!(
            carried.ledger.counts.planned < 100_000,
            "{:?}",
            carried.ledger.counts
        );
        assert!(carried.blocks.len() >= 2);
    }
}

#[test]
fn more_in_flight_than_there_are_streams_is_refused_before_anything_is_sent() {
    let stage = Stage::new(Script::default());
    let mut carrier = stage.carrier(Protocol::Http2, Manner::Compare);
    let refused = Plan::closed(9, 10).run_with(&mut carrier, &mut |_, _| {});
    assert!(matches!(refused, Err(TargetError::Load(_))));
    assert_eq!(Seen::count(&stage.server.seen.requests), 0);
}

#[test]
fn one_carrier_carries_run_after_run() {
    let stage = Stage::new(Script::default());
    let mut carrier = stage.carrier(Protocol::Http2, Manner::Compare);
    for _ in 0..3 {
        let carried = Plan::closed(8, 100).run(&mut carrier);
        assert_eq!(carried.ledger.counts.verified, 100);
    }
    assert_eq!(Seen::count(&stage.server.seen.connections), 2);
}
