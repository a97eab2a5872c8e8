//! Remote stores are measured through the engine against the stand-in, over real TLS: every output is
//! looked at, and nothing is left behind.

use std::num::NonZeroU32;
use std::time::Duration;

use keywright_clock::Clock;
use keywright_measure::carry::Verify;
use keywright_measure::document::BlockRecord;
use keywright_measure::ledger::Ledger;
use keywright_measure::{
    Arrival, Assignment, Carried, Carrier, Fault, FaultPhase, Load, Open, Phase, Stop, TargetError,
    Window, Word,
};
use keywright_targets::operation::Make;
use keywright_targets::store::standin::StandIn;
use keywright_targets::store::{OPERATIONS, Shape, StoreCarrier, open};
use keywright_tls::Protocol;

pub(crate) const SEED: u64 = 11;

pub(crate) fn shapes() -> impl Iterator<Item = Shape> {
    OPERATIONS.iter().map(|row| match row.make {
        Make::Store(shape) => shape,
        _ => panic!("{} is no operation of a store", row.name),
    })
}

pub(crate) fn stand_in() -> StandIn {
    StandIn::start(&Clock::system()).unwrap()
}

pub(crate) const fn closed(workers: u32) -> Load {
    Load::Closed {
        workers: NonZeroU32::new(workers).unwrap(),
    }
}

fn carry(carrier: &mut StoreCarrier, load: &Load, window: Window, verify: Verify) -> Carried {
    carry_until(carrier, load, window, verify, &mut |_, _, _| ())
}

/// `each` is told of blocks of a millisecond, with what ends the run.
fn carry_until(
    carrier: &mut StoreCarrier,
    load: &Load,
    window: Window,
    verify: Verify,
    each: &mut dyn FnMut(&Stop, &BlockRecord, &Ledger),
) -> Carried {
    let (clock, stop) = (Clock::system(), Stop::new());
    let assignment = Assignment {
        load,
        window,
        seed: SEED,
        verify,
        timeout: Duration::from_secs(60),
        drain: Duration::from_secs(60),
        block: Duration::from_millis(1),
        clock: &clock,
        stop: &stop,
    };
    carrier
        .carry(&assignment, &mut |block, ledger| each(&stop, block, ledger))
        .unwrap()
}

pub(crate) fn counted(carrier: &mut StoreCarrier, operations: u64) -> Carried {
    carry(
        carrier,
        &closed(1),
        Window::Operations(operations),
        Verify::All,
    )
}

#[test]
fn every_output_of_every_operation_is_right_over_both_protocols() {
    let server = stand_in();
    for protocol in [Protocol::Http2, Protocol::Http1] {
        let (connections, streams) = match protocol {
            Protocol::Http2 => (2, 3),
            _ => (6, 1),
        };
        let settings = server
            .settings()
            .with_protocol(protocol)
            .with_connections(connections, streams);
        for shape in shapes() {
            let mut carrier = open(shape, &settings, SEED).unwrap();
            assert_eq!((carrier.places(), settings.places()), (6, 6));
            let window = Window::Operations(150);
            let ledger = carry(&mut carrier, &closed(6), window, Verify::All).ledger;
            assert!(ledger.counts.balance(), "{}", shape.name());
            assert_eq!(
                ledger.faults.len(),
                0,
                "{}: {:?}",
                shape.name(),
                ledger.faults
            );
            assert_eq!(ledger.counts.verified, 150, "{}", shape.name());
            carrier.close().unwrap();
            assert_eq!(server.holdings(), 0, "{}", shape.name());
        }
    }
}

#[test]
fn an_output_that_is_wrong_is_counted_as_wrong_whatever_the_operation() {
    let server = stand_in();
    // Health is no output of an engine.
    for shape in shapes().filter(|shape| *shape != Shape::Null) {
        let mut carrier = open(shape, &server.settings(), SEED).unwrap();
        server.spoil();
        let counts = counted(&mut carrier, 20).ledger.counts;
        server.mend();
        assert!(counts.balance(), "{}", shape.name());
        assert_eq!((counts.wrong, counts.verified), (20, 0), "{}", shape.name());
    }
}

#[test]
fn outputs_are_looked_at_as_often_as_was_asked_for() {
    let server = stand_in();
    for shape in [Shape::KvSet, Shape::TransitEncrypt, Shape::KvGetDecode] {
        let mut carrier = open(shape, &server.settings(), SEED).unwrap();
        for (verify, verified) in [(Verify::Off, 0), (Verify::Sample, 3), (Verify::All, 300)] {
            let window = Window::Operations(300);
            let counts = carry(&mut carrier, &closed(1), window, verify)
                .ledger
                .counts;
            assert!(counts.balance());
            let found = (counts.verified, counts.unverified);
            assert_eq!(found, (verified, 300 - verified), "{}", shape.name());
        }
    }
}

#[test]
fn the_books_balance_under_a_schedule() {
    let server = stand_in();
    let settings = server.settings().with_connections(1, 8);
    let mut carrier = open(Shape::KvGet, &settings, SEED).unwrap();
    let load = Load::Open(Open {
        arrival: Arrival::Poisson,
        phases: vec![Phase::constant(400.0, Duration::from_millis(250)).unwrap()],
        cap: NonZeroU32::new(8).unwrap(),
    });
    let window = Window::Time(Duration::from_millis(250));
    let counts = carry(&mut carrier, &load, window, Verify::All)
        .ledger
        .counts;
    assert!(counts.balance() && counts.planned > 0);
    assert_eq!((counts.wrong, counts.error), (0, 0));
}

#[test]
fn query_and_decoding_have_books_of_their_own() {
    let server = stand_in();
    let mut carrier = open(Shape::KvGetDecode, &server.settings(), SEED).unwrap();
    let names: Vec<_> = carrier.parts().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["query", "decode"]);
    let carried = counted(&mut carrier, 120);
    let [query, decode] = carried.parts.as_slice() else {
        panic!("{} parts", carried.parts.len());
    };
    assert_eq!(query.counts, carried.ledger.counts);
    assert!(decode.counts.balance());
    assert_eq!((decode.counts.planned, decode.counts.verified), (120, 120));
    let again = counted(&mut carrier, 10);
    assert_eq!(again.parts[1].counts.planned, 10);
}

#[test]
fn only_decoding_has_parts() {
    let server = stand_in();
    for shape in [Shape::KvGet, Shape::Null, Shape::TransitEncryptBatch] {
        let mut carrier = open(shape, &server.settings(), SEED).unwrap();
        assert!(carrier.parts().is_empty());
        assert!(counted(&mut carrier, 3).parts.is_empty());
    }
}

#[test]
fn a_store_that_is_sealed_during_a_run_fails_its_operations_and_is_cleaned_up_later() {
    let server = stand_in();
    let mut carrier = open(Shape::KvGet, &server.settings(), SEED).unwrap();
    server.seal();
    let ledger = counted(&mut carrier, 25).ledger;
    assert!(ledger.counts.balance());
    let sealed = Fault::new(FaultPhase::Status, "503");
    assert_eq!(ledger.faults.get(&sealed), Some(&25));
    server.unseal();
    assert_eq!(server.holdings(), 100);
    drop(carrier);
    assert_eq!(server.holdings(), 0);
}

#[test]
fn a_clean_up_that_fails_is_told() {
    let server = stand_in();
    let carrier = open(Shape::TransitHmac, &server.settings(), SEED).unwrap();
    server.seal();
    let error = carrier.close().unwrap_err();
    assert!(matches!(error, TargetError::Unreachable { .. }), "{error}");
    assert_eq!(server.holdings(), 1);
}

#[test]
fn everything_is_removed_after_a_stop_a_drop_and_a_panic() {
    let server = stand_in();
    let settings = server.settings();
    let mut carrier = open(Shape::KvSet, &settings, SEED).unwrap();
    assert_eq!(server.holdings(), 100);
    let window = Window::Time(Duration::from_secs(60));
    let mut each = |stop: &Stop, _: &BlockRecord, _: &Ledger| stop.ask();
    let carried = carry_until(&mut carrier, &closed(1), window, Verify::All, &mut each);
    assert!(carried.interrupted && carried.ledger.counts.balance());
    drop(carrier);
    assert_eq!(server.holdings(), 0);

    let carrier = open(Shape::TransitRewrap, &settings, SEED).unwrap();
    assert_eq!(server.holdings(), 1);
    let panicked = std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            let _carrier = open(Shape::KvGet, &settings, SEED).unwrap();
            panic!("in the middle");
        });
        run.join().is_err()
    });
    assert!(panicked);
    assert_eq!(server.holdings(), 1);
    drop(carrier);
    assert_eq!(server.holdings(), 0);
}

#[test]
fn two_runs_at_once_do_not_touch_each_other() {
    let server = stand_in();
    let mut first = open(Shape::KvList, &server.settings(), SEED).unwrap();
    let second = open(Shape::KvList, &server.settings(), SEED).unwrap();
    assert_eq!(server.holdings(), 200);
    drop(second);
    assert_eq!(counted(&mut first, 5).ledger.counts.verified, 5);
}

#[test]
fn a_stand_in_is_labelled_however_it_is_reached() {
    let server = stand_in();
    let renamed = server
        .settings()
        .with_connections(2, 2)
        .with_protocol(Protocol::Http1);
    for settings in [server.settings(), server.settings_by_address(), renamed] {
        let carrier = open(Shape::Null, &settings, SEED).unwrap();
        let facts = carrier.facts();
        assert!(facts.is_stand_in());
        assert_eq!(facts.words(), [Word::CoLocated, Word::StandIn]);
        let entry = |name: &str| facts.entries().get(name).map(String::as_str);
        assert_eq!(entry("mode"), Some("stand-in"));
        assert_eq!(entry("storage"), Some("memory"));
        assert_eq!(entry("tls"), Some("1.3"));
        assert_eq!(entry("sealed"), Some("no"));
        assert_eq!(entry("location"), Some("this machine"));
        assert!(entry("version").unwrap().starts_with("stand-in"));
    }
}
