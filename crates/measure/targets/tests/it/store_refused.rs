//! Stores that cannot be measured say why, in an error of the right kind and without the token.

use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use keywright_clock::Clock;
use keywright_measure::carry::Verify;
use keywright_measure::{Assignment, Carrier, Stop, TargetError, Window};
use keywright_network::ca::{LEAF_LIFE, TestAuthority};
use keywright_secret::SecretBytes;
use keywright_targets::store::{Mounts, Settings, Shape, open};
use keywright_tls::issue::ClientSubject;
use keywright_tls::{ClientIdentity, Protocol};

use crate::store::{SEED, closed, counted, shapes, stand_in};

const CANARY: &str = "canary-5b1c90";

fn refused(shape: Shape, settings: &Settings) -> TargetError {
    let error = open(shape, settings, SEED).unwrap_err();
    for text in [
        error.to_string(),
        format!("{error:?}"),
        format!("{settings:?}"),
    ] {
        assert!(!text.contains(CANARY), "{text}");
    }
    error
}

fn canary() -> SecretBytes {
    SecretBytes::from_vec(CANARY.as_bytes().to_vec())
}

#[test]
fn a_missing_or_unknown_token_is_refused_and_never_shown() {
    let server = stand_in();
    for token in [
        b"".as_slice(),
        b"\n",
        CANARY.as_bytes(),
        b"canary-5b1c90\nx",
    ] {
        let token = SecretBytes::from_vec(token.to_vec());
        let settings = server.settings().with_token(token);
        for shape in [
            Shape::KvGet,
            Shape::KvSet,
            Shape::Kv1Get,
            Shape::TransitSign,
        ] {
            let error = refused(shape, &settings);
            assert!(
                matches!(error, TargetError::Authentication { .. }),
                "{error}"
            );
        }
    }
    assert_eq!(server.holdings(), 0);
}

#[test]
fn a_token_that_is_in_use_is_not_shown_by_what_uses_it() {
    let server = stand_in();
    // The health request is answered whatever the token.
    let settings = server.settings().with_token(canary());
    let mut carrier = open(Shape::Null, &settings, SEED).unwrap();
    let carried = counted(&mut carrier, 5);
    let texts = [
        format!("{carrier:?}"),
        format!("{settings:?}"),
        format!("{carried:?}"),
    ];
    assert!(texts.iter().all(|text| !text.contains(CANARY)));
    assert!(
        carrier
            .facts()
            .entries()
            .values()
            .all(|fact| !fact.contains(CANARY))
    );
}

#[test]
fn a_sealed_store_cannot_be_reached_and_says_why() {
    let server = stand_in();
    server.seal();
    for shape in shapes() {
        match refused(shape, &server.settings()) {
            TargetError::Unreachable { reason, .. } => assert_eq!(reason, "it is sealed"),
            other => panic!("{other}"),
        }
    }
}

#[test]
fn an_engine_that_is_not_mounted_is_an_error_of_its_own() {
    let server = stand_in();
    let nowhere = "nowhere".to_owned();
    let mounts = Mounts {
        kv: nowhere.clone(),
        kv1: nowhere.clone(),
        transit: nowhere,
    };
    let settings = server.settings().with_mounts(mounts);
    for shape in shapes().filter(|shape| !matches!(shape, Shape::Null | Shape::TransitRandom)) {
        match refused(shape, &settings) {
            TargetError::Unsupported { operation, .. } => assert_eq!(operation, shape.name()),
            other => panic!("{other}"),
        }
    }
}

#[test]
fn an_engine_of_the_other_version_is_found_out_and_nothing_stays_there() {
    let server = stand_in();
    let mounts = Mounts {
        kv: "kv".to_owned(),
        kv1: "secret".to_owned(),
        ..Mounts::default()
    };
    let settings = server.settings().with_mounts(mounts);
    for shape in [Shape::KvGet, Shape::KvSet, Shape::KvList, Shape::Kv1Get] {
        let error = refused(shape, &settings);
        assert!(matches!(error, TargetError::Unsupported { .. }), "{error}");
        assert_eq!(server.holdings(), 0, "{}", shape.name());
    }
}

#[test]
fn a_store_whose_verification_refuses_what_fits_is_not_measured() {
    let server = stand_in();
    server.spoil();
    for shape in [Shape::TransitVerify, Shape::TransitSign, Shape::TransitHmac] {
        match refused(shape, &server.settings()) {
            TargetError::WrongOutput { reason, .. } => assert!(reason.contains("right from wrong")),
            other => panic!("{other}"),
        }
        assert_eq!(server.holdings(), 0, "{}", shape.name());
    }
}

#[test]
fn an_address_without_a_store_cannot_be_reached() {
    let gone = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = gone.local_addr().unwrap();
    drop(gone);
    let roots = TestAuthority::new(Clock::system().wall());
    let roots = roots.certificate_pem().as_bytes();
    for url in [
        format!("https://{address}"),
        format!("http://{address}"),
        format!("https://token@{address}"),
        "nonsense".to_owned(),
    ] {
        let settings = Settings::new("vault", &url, canary(), roots);
        let error = refused(Shape::KvGet, &settings);
        assert!(
            matches!(error, TargetError::Unreachable { .. }),
            "{url}: {error}"
        );
    }
}

#[test]
fn a_server_that_nobody_vouches_for_is_refused() {
    let server = stand_in();
    let stranger = TestAuthority::new(Clock::system().wall());
    let untrusted = stranger.certificate_pem().as_bytes();
    for roots in [untrusted, b"no certificate", b""] {
        let url = server.settings().url().to_owned();
        let settings = Settings::new("vault", &url, canary(), roots);
        let error = refused(Shape::Null, &settings);
        assert!(
            matches!(error, TargetError::Authentication { .. }),
            "{error}"
        );
    }
}

#[test]
fn a_client_without_a_certificate_or_with_a_strangers_is_refused_over_both_protocols() {
    let server = stand_in();
    let stranger = TestAuthority::new(Clock::system().wall());
    let subject = ClientSubject {
        common_name: "stranger",
        organizational_unit: None,
        principal: None,
    };
    let now = Clock::system().wall();
    let issued = stranger
        .authority()
        .issue_client(&subject, now, LEAF_LIFE)
        .unwrap();
    let pem = issued.certificate_pem.as_bytes();
    let stranger = ClientIdentity::from_pem(pem, issued.key_pem.expose()).unwrap();
    let url = server.settings().url().to_owned();
    for protocol in [Protocol::Http2, Protocol::Http1] {
        let nobody = Settings::new("vault", &url, canary(), server.roots_pem());
        let nobody = nobody.with_protocol(protocol);
        for settings in [nobody.clone(), nobody.with_identity(stranger.clone())] {
            let error = refused(Shape::Null, &settings);
            assert!(
                matches!(error, TargetError::Authentication { .. }),
                "{error}"
            );
        }
    }
}

#[test]
fn a_stand_in_that_has_stopped_fails_what_was_open_and_stays_away() {
    let server = stand_in();
    let settings = server.settings();
    let mut carrier = open(Shape::KvGet, &settings, SEED).unwrap();
    drop(server);
    let (clock, stop) = (Clock::system(), Stop::new());
    let assignment = Assignment {
        load: &closed(1),
        window: Window::Operations(5),
        seed: SEED,
        verify: Verify::All,
        timeout: Duration::from_secs(60),
        drain: Duration::from_secs(60),
        block: Duration::from_secs(1),
        clock: &clock,
        stop: &stop,
    };
    match carrier.carry(&assignment, &mut |_, _| ()) {
        Ok(carried) => {
            assert!(carried.ledger.counts.balance());
            assert_eq!(carried.ledger.counts.error, 5);
        }
        Err(error) => assert!(matches!(error, TargetError::Unreachable { .. }), "{error}"),
    }
    assert!(carrier.close().is_err());
    assert!(matches!(
        refused(Shape::Null, &settings),
        TargetError::Unreachable { .. }
    ));
}
