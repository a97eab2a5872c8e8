//! Connections that cannot be made, and connections that are lost.

use std::sync::atomic::Ordering;
use std::time::Duration;

use keywright_clock::Clock;
use keywright_measure::{FaultPhase, TargetError};
use keywright_network::ca::TestAuthority;
use keywright_targets::http::{Carrier, Endpoint, Lines};
use keywright_tls::Protocol;

use crate::http_echo::{Echo, Manner, Plan, Stage, check_books, config};
use crate::http_server::{Script, Seen};

const BOTH: [Protocol; 2] = [Protocol::Http2, Protocol::Http1];

#[test]
fn nobody_listening_is_unreachable() {
    let stage = Stage::new(Script::default());
    let endpoint = stage.endpoint(Protocol::Http2, Manner::Compare);
    drop(stage);
    let refused = Lines::connect(endpoint, 1, 1);
    let Err(TargetError::Unreachable { target, reason }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(
        (target.as_str(), reason.as_str()),
        ("scripted", "dial: connection_refused")
    );
}

#[test]
fn a_url_that_is_none_is_refused_at_once() {
    for url in [
        "http://127.0.0.1",
        "https://",
        "https://a/b",
        "https://me@a",
        "a b",
    ] {
        let endpoint = Endpoint::new("odd", url, Vec::new(), Protocol::Http2);
        assert!(
            matches!(endpoint, Err(TargetError::Unreachable { .. })),
            "{url}"
        );
    }
    let endpoint = Endpoint::new("v6", "https://[::1]:8443", Vec::new(), Protocol::Http2);
    assert_eq!(endpoint.unwrap().name(), "v6");
}

#[test]
fn a_certificate_that_the_server_refuses_is_a_matter_of_authentication() {
    let stage = Stage::new(Script::default());
    for protocol in BOTH {
        let client = stage.authority.revoked();
        let identity = config(&stage.authority, client, protocol);
        let url = stage.server.url();
        let endpoint = Endpoint::new("scripted", &url, vec![identity], protocol).unwrap();
        let refused = Lines::connect(endpoint.with_hello("/hello"), 1, 1);
        let Err(TargetError::Authentication { reason, .. }) = refused else {
            panic!("{refused:?}");
        };
        // An alert, or the end that came before it could be read.
        assert!(reason.starts_with("tls: c"), "{reason}");
    }
}

#[test]
fn over_http_1_without_a_hello_the_refusal_is_found_in_the_books() {
    let stage = Stage::new(Script::default());
    let protocol = Protocol::Http1;
    let identity = config(&stage.authority, stage.authority.revoked(), protocol);
    let endpoint = Endpoint::new("scripted", &stage.server.url(), vec![identity], protocol);
    let endpoint = endpoint.unwrap();
    let echo = Echo::new(&endpoint, Manner::Compare);
    let Ok(lines) = Lines::connect(endpoint, 1, 1) else {
        panic!("the client's own handshake was done");
    };
    let plan = Plan {
        timeout: Duration::from_secs(2),
        ..Plan::closed(1, 3)
    };
    let outcome = plan.run_with(&mut Carrier::new(lines, echo), &mut |_, _| {});
    match outcome {
        // Looked at before the run began.
        Err(error) => assert!(
            matches!(error, TargetError::Authentication { .. }),
            "{error}"
        ),
        Ok(carried) => {
            check_books(&carried);
            assert_eq!(carried.ledger.counts.verified, 0);
            let mut phases = carried.ledger.faults.keys().map(|fault| fault.phase());
            assert!(
                phases.any(|phase| phase == FaultPhase::Tls),
                "{:?}",
                carried.ledger.faults
            );
        }
    }
}

#[test]
fn a_server_that_we_do_not_trust_is_a_matter_of_authentication() {
    let stage = Stage::new(Script::default());
    let other = TestAuthority::named("Another CA", Clock::system().wall());
    let identity = config(&other, &stage.authority.trading(), Protocol::Http2);
    let url = stage.server.url();
    let endpoint = Endpoint::new("scripted", &url, vec![identity], Protocol::Http2).unwrap();
    let refused = Lines::connect(endpoint, 1, 1);
    let Err(TargetError::Authentication { reason, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(reason, "tls: server_not_trusted");
}

#[test]
fn a_protocol_that_was_not_agreed_on_is_refused() {
    let stage = Stage::new(Script::default());
    // Offers HTTP/1.1 and expects HTTP/2.
    let identity = config(
        &stage.authority,
        &stage.authority.trading(),
        Protocol::Http1,
    );
    let url = stage.server.url();
    let endpoint = Endpoint::new("scripted", &url, vec![identity], Protocol::Http2).unwrap();
    let refused = Lines::connect(endpoint, 1, 1);
    let Err(TargetError::Authentication { reason, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(reason, "tls: no_application_protocol");
}

#[test]
fn more_streams_than_the_server_allows_are_refused_before_anything_waits_for_them() {
    let stage = Stage::new(Script {
        streams: 8,
        ..Script::default()
    });
    let connect = |connections, streams| {
        let endpoint = stage.endpoint(Protocol::Http2, Manner::Compare);
        Lines::connect(endpoint, connections, streams)
    };
    assert_eq!(connect(1, 8).unwrap().places(), 8);
    assert_eq!(connect(2, 8).unwrap().places(), 16);
    for connections in [1, 2] {
        let refused = connect(connections, 9).unwrap_err();
        let expected = TargetError::Streams {
            target: "scripted".to_owned(),
            asked: 9,
            allowed: 8,
        };
        assert_eq!(refused, expected);
        let told = "scripted allows 8 streams on a connection, and 9 are asked for";
        assert_eq!(refused.to_string(), told);
    }
    // Of HTTP/1.1 one is asked for, whatever the load says.
    let endpoint = stage.endpoint(Protocol::Http1, Manner::Compare);
    assert_eq!(Lines::connect(endpoint, 1, 9).unwrap().places(), 1);
    assert_eq!(Seen::count(&stage.server.seen.requests), 0);
}

#[test]
fn a_connection_that_is_cut_is_dialled_again_and_what_was_on_it_failed() {
    for protocol in BOTH {
        let stage = Stage::new(Script {
            cut_every: 50,
            ..Script::default()
        });
        let carried = Plan::closed(8, 400).run(&mut stage.carrier(protocol, Manner::Compare));
        check_books(&carried);
        let counts = &carried.ledger.counts;
        assert_eq!(counts.sent, 400);
        assert!(counts.error >= 7 && counts.verified > 200, "{counts:?}");
        let lines = if protocol == Protocol::Http2 { 2 } else { 8 };
        assert!(Seen::count(&stage.server.seen.connections) > lines);
        let phases = carried.ledger.faults.keys().map(|fault| fault.phase());
        assert!(phases.into_iter().all(|phase| phase == FaultPhase::Stream));
    }
}

#[test]
fn a_server_that_goes_away_in_order_loses_nothing_that_it_took() {
    let stage = Stage::new(Script {
        leave_every: 100,
        ..Script::default()
    });
    let carried = Plan::closed(8, 600).run(&mut stage.carrier(Protocol::Http2, Manner::Compare));
    check_books(&carried);
    let counts = &carried.ledger.counts;
    assert_eq!(counts.sent, 600);
    // A stream that crossed the farewell is refused by number; every other one is answered.
    assert_eq!(counts.wrong + counts.timeout + counts.censored, 0);
    assert!(counts.verified >= Seen::count(&stage.server.seen.requests) - counts.error);
    assert!(Seen::count(&stage.server.seen.connections) > 2);
}

#[test]
fn operations_fail_with_the_attempts_to_reach_a_server_that_is_gone() {
    for protocol in BOTH {
        let stage = Stage::new(Script {
            cut_every: 20,
            ..Script::default()
        });
        let mut carrier = stage.carrier(protocol, Manner::Compare);
        // From here on connections are accepted and closed without a word.
        stage.server.seen.deaf.store(true, Ordering::SeqCst);
        let carried = Plan::open(200.0, 1000, 8).run(&mut carrier);
        check_books(&carried);
        let counts = &carried.ledger.counts;
        assert_eq!(counts.planned, 200);
        let phases: Vec<_> = carried
            .ledger
            .faults
            .keys()
            .map(|fault| fault.phase())
            .collect();
        assert!(
            phases.contains(&FaultPhase::Dial) || phases.contains(&FaultPhase::Tls),
            "{phases:?}"
        );
        // The server is back: the same carrier works again.
        stage.server.seen.deaf.store(false, Ordering::SeqCst);
        let carried = Plan::closed(8, 10).run(&mut carrier);
        assert!(carried.ledger.counts.verified >= 2);
    }
}

#[test]
fn a_server_that_stays_away_is_unreachable_for_the_next_run() {
    let stage = Stage::new(Script::default());
    let mut carrier = stage.carrier(Protocol::Http2, Manner::Compare);
    assert_eq!(
        Plan::closed(8, 50).run(&mut carrier).ledger.counts.verified,
        50
    );
    drop(stage);
    // The end of the connections is noticed by whoever uses them first.
    let first = Plan::closed(8, 20).run_with(&mut carrier, &mut |_, _| {});
    if let Ok(carried) = first {
        check_books(&carried);
        assert_eq!(carried.ledger.counts.error, 20);
    }
    let second = Plan::closed(8, 20).run_with(&mut carrier, &mut |_, _| {});
    assert!(
        matches!(second, Err(TargetError::Unreachable { .. })),
        "{second:?}"
    );
}
