//! Who gets in: certificates that do not, and for how long those that do are good.

use std::collections::BTreeMap;
use std::time::Duration;

use http::Method;
use keywright_clock::{Clock, WallTime};
use keywright_network::ca::{DAY, TestAuthority, client_identity};
use keywright_tls::issue::hostile::Recipe;
use keywright_tls::issue::{ClientSubject, Issued, Reason};
use keywright_tls::{ClientIdentity, Protocol};
use keywright_types::PrincipalId;
use serde_json::Value;

use crate::fixture::*;

/// A second is promised for connections of revoked certificates; on a busy machine it may be more. Without a word from
/// the new lists they would last for half a minute and longer.
const LATEST: Duration = Duration::from_secs(10);

fn now() -> WallTime {
    Clock::system().wall()
}

fn issue(home: &Home, name: &str, unit: &str, principal: Option<PrincipalId>) -> Issued {
    let subject = ClientSubject {
        common_name: name,
        organizational_unit: Some(unit),
        principal,
    };
    home.authority().issue_client(&subject, now(), DAY).unwrap()
}

/// What a client with this certificate meets: the answer of its first request, or how it was refused.
fn knock(site: &Site, identity: Option<ClientIdentity>, protocol: Protocol) -> Result<u16, String> {
    let tls = site.home.tls(identity, protocol);
    let got = Wire::connect(site.address(), tls)?.send(Method::GET, "/v1/health", "")?;
    Ok(got.status)
}

/// Counted refusals by reason.
fn counted(home: &Home) -> BTreeMap<String, u64> {
    let mut counted = BTreeMap::new();
    for record in home
        .records()
        .iter()
        .filter(|record| record["type"] == "refused")
    {
        assert!(record["items"].as_u64().unwrap() > 0);
        assert_eq!(record["request"], "0".repeat(32));
        *counted
            .entry(record["outcome"].as_str().unwrap().to_owned())
            .or_default() += record["items"].as_u64().unwrap();
    }
    counted
}

/// Certificates, the alert that each is told, and the reason that is counted.
fn unwelcome(home: &Home) -> Vec<(Option<Issued>, &'static str, &'static str)> {
    let careless = home.careless_authority();
    let stranger = TestAuthority::new(now());
    let namesake = TestAuthority::named("Keywright development CA", now());
    let revoked = issue(home, "gone-1", "Trading", None);
    let path = home.beside("gone-1.pem");
    std::fs::write(&path, &revoked.certificate_pem).unwrap();
    let reason = Reason::KeyCompromise;
    home.pki().revoke(&path, reason, now()).unwrap();
    let [missing, untrusted, expired, malformed] = [
        "certificate_missing",
        "certificate_untrusted",
        "certificate_expired",
        "certificate_malformed",
    ];
    let cases = [
        (None, "CertificateRequired", missing),
        (Some(stranger.trading()), "UnknownCA", untrusted),
        (Some(namesake.trading()), "UnknownCA", untrusted),
        (Some(careless.expired()), "CertificateExpired", expired),
        (
            Some(careless.not_yet_valid()),
            "CertificateExpired",
            expired,
        ),
        (Some(revoked), "CertificateRevoked", "certificate_revoked"),
        (
            Some(careless.server_as_client()),
            "UnsupportedCertificate",
            untrusted,
        ),
        (
            Some(careless.two_common_names()),
            "CertificateUnknown",
            malformed,
        ),
        (
            Some(careless.control_character()),
            "CertificateUnknown",
            malformed,
        ),
        (Some(careless.nul()), "CertificateUnknown", malformed),
    ];
    cases.into()
}

#[test]
fn each_certificate_that_must_not_get_in_is_told_why_by_an_alert_and_counted() {
    let home = Home::demo();
    let cases = unwelcome(&home);
    let site = Site::over(home);
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    for protocol in BOTH {
        for (issued, alert, code) in &cases {
            let identity = issued
                .as_ref()
                .map(|issued| client_identity(issued).unwrap());
            let refused = knock(&site, identity, protocol).expect_err(code);
            assert!(refused.contains(alert), "{code}: {refused}");
            *expected.entry((*code).to_owned()).or_default() += 1;
        }
    }
    assert_eq!(
        knock(&site, Some(site.home.identity(TRADING)), BOTH[0]),
        Ok(200)
    );
    let home = site.stop();
    assert_eq!(counted(&home), expected);
    home.verify();
}

#[test]
fn a_certificate_that_is_nobodys_or_two_peoples_gets_no_connection() {
    let site = Site::start();
    let principal = site.principal(TRADING);
    let nobody = issue(&site.home, "trading-1", "Trading", None);
    let unknown_id = issue(
        &site.home,
        "x",
        "Trading",
        Some(PrincipalId::from_bytes([9; 16])),
    );
    let two = issue(&site.home, "both-1", "Trading", Some(principal));
    site.change_policy(|document| {
        let anchors = document.principals[0].rules[0].anchors.clone();
        let other = document
            .principals
            .iter_mut()
            .find(|entry| entry.name.as_str() == WEB);
        other.unwrap().rules.push(keywright_policy::Rule {
            anchors,
            fact: keywright_policy::Fact::Subject {
                common_name: "both-1".to_owned(),
                organizational_unit: "Trading".to_owned(),
            },
        });
    });
    for protocol in BOTH {
        for issued in [&nobody, &unknown_id, &two] {
            let identity = client_identity(issued).unwrap();
            assert!(knock(&site, Some(identity), protocol).is_err());
        }
    }
    let home = site.stop();
    let expected = [("principal_ambiguous", 2), ("principal_unknown", 4)];
    let expected = expected.map(|(code, count)| (code.to_owned(), count));
    assert_eq!(counted(&home), BTreeMap::from(expected));
    assert!(home.requests().is_empty(), "a request of nobody");
}

#[test]
fn a_connection_of_a_revoked_client_ends_within_a_second_whatever_it_does() {
    let site = Site::start();
    let mut idle = BOTH.map(|protocol| site.wire(WEB, protocol));
    idle.iter_mut()
        .for_each(|wire| assert_eq!(wire.get("/v1/health").status, 200));
    let mut others = BOTH.map(|protocol| site.wire(TRADING, protocol));
    let tls = site
        .home
        .tls(Some(site.home.identity(WEB)), Protocol::Http1);
    let upload = format!(
        "POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{{\"plaintext\":\"",
        path(TWO_FACTOR, "encrypt")
    );
    let (address, clock) = (site.address(), Clock::system());
    let uploading = std::thread::spawn(move || {
        raw(address, tls, upload.as_bytes(), Duration::from_secs(20)).map(|_| clock.monotonic())
    });
    std::thread::sleep(Duration::from_millis(300));
    let certificate = site.home.path().join("clients/web-2fa-1.pem");
    site.home
        .pki()
        .revoke(&certificate, Reason::KeyCompromise, now())
        .unwrap();
    let clock = Clock::system();
    site.node().reload_trust().unwrap();
    let revoked = clock.monotonic();
    for wire in &mut idle {
        assert!(wire.ends_within(LATEST));
    }
    assert!(clock.monotonic().since(revoked) < LATEST);
    assert!(
        !uploading.is_finished() || clock.monotonic() > revoked,
        "it ended for another reason"
    );
    let ended = uploading.join().unwrap().expect("a running body goes on");
    assert!(ended.since(revoked) < LATEST);
    for protocol in BOTH {
        let refused = knock(&site, Some(site.home.identity(WEB)), protocol).unwrap_err();
        assert!(refused.contains("CertificateRevoked"), "{refused}");
    }
    others
        .iter_mut()
        .for_each(|wire| assert_eq!(wire.get("/v1/health").status, 200));
    drop(others);
    site.stop().verify();
}

#[test]
fn a_connection_ends_with_its_certificate() {
    let site = Site::start();
    let uri = format!("keywright:principal:{}", site.principal(TRADING));
    let end = WallTime::from_unix_seconds(now().unix_seconds() + 2);
    let recipe = Recipe {
        uris: vec![&uri],
        not_after: end,
        ..Recipe::client("x", now(), DAY)
    };
    let issued = site.home.authority().issue_hostile(&recipe).unwrap();
    let tls = site
        .home
        .tls(Some(client_identity(&issued).unwrap()), Protocol::Http2);
    let mut wire = Wire::connect(site.address(), tls).unwrap();
    while now().unix_seconds() <= end.unix_seconds() {
        if let Ok(got) = wire.send(Method::GET, "/v1/health", "") {
            assert_eq!(got.status, 200);
        } else {
            assert!(now().unix_seconds() >= end.unix_seconds(), "it ended early");
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    // Its last second is over; a second later at most, so is the connection.
    assert!(wire.ends_within(LATEST));
    site.stop();
}

#[test]
fn a_change_of_policy_holds_for_open_connections_at_once() {
    let site = Site::start();
    let mut wires = BOTH.map(|protocol| site.wire(TRADING, protocol));
    wires
        .iter_mut()
        .for_each(|wire| drop(seal(wire, EXCHANGE, b"x", b"")));
    site.change_policy(|document| document.grants.clear());
    for wire in &mut wires {
        let got = wire.post(&path(EXCHANGE, "encrypt"), item(&[("plaintext", b"x")]));
        assert_eq!(got.code(), "context_not_found");
    }
    site.change_policy(|document| {
        document
            .principals
            .iter_mut()
            .for_each(|entry| entry.rules.clear());
    });
    for mut wire in wires {
        assert!(
            wire.ends_within(Duration::from_secs(10)),
            "nobody's connection goes on"
        );
    }
    site.stop();
}

#[test]
fn a_renewed_certificate_opens_old_data_and_the_old_one_may_go() {
    let site = Site::start();
    let old = seal(
        &mut site.wire(WEB, Protocol::Http2),
        TWO_FACTOR,
        b"SecretCode",
        b"",
    );
    let body = item(&[("ciphertext", &old)]);
    let principal = site.principal(WEB);
    // Another name, another unit, another key: the principal is the same.
    let renewed = issue(&site.home, "web-renamed", "Elsewhere", Some(principal));
    let certificate = site.home.path().join("clients/web-2fa-1.pem");
    for round in 0..2 {
        for protocol in BOTH {
            let tls = site
                .home
                .tls(Some(client_identity(&renewed).unwrap()), protocol);
            let mut wire = Wire::connect(site.address(), tls).unwrap();
            let got = wire.post(&path(TWO_FACTOR, "decrypt"), body.clone());
            assert_eq!(got.binary("plaintext"), b"SecretCode");
        }
        if round == 0 {
            site.home
                .pki()
                .revoke(&certificate, Reason::Superseded, now())
                .unwrap();
            site.node().reload_trust().unwrap();
            assert!(knock(&site, Some(site.home.identity(WEB)), BOTH[0]).is_err());
        }
    }
    let home = site.stop();
    let principal = principal.to_string();
    let by: Vec<_> = home
        .requests()
        .into_iter()
        .filter(|record| matches!(record["operation"].as_str(), Some("encrypt" | "decrypt")))
        .map(|record| record["principal"].clone())
        .collect();
    assert!(
        by.iter().all(|id| *id == principal.as_str()) && by.len() == 5,
        "{by:?}"
    );
}

#[test]
fn an_accepted_connection_is_recorded_with_what_its_certificate_said() {
    let site = Site::start();
    assert_eq!(
        knock(&site, Some(site.home.identity(TRADING)), BOTH[0]),
        Ok(200)
    );
    let principal = site.principal(TRADING).to_string();
    let home = site.stop();
    let records = home.records();
    let connections: Vec<_> = records
        .iter()
        .filter(|one| one["type"] == "connection")
        .collect();
    assert_eq!(connections.len(), 1);
    let connection = connections[0];
    assert_eq!(connection["principal"], principal.as_str());
    for name in ["address", "anchor", "leaf", "serial", "subject", "resumed"] {
        assert!(field(connection, name).is_some(), "{name}: {connection}");
    }
    assert!(
        field(connection, "subject")
            .unwrap()
            .as_str()
            .unwrap()
            .contains("trading-1")
    );
    assert_eq!(field(connection, "resumed"), Some(&Value::Bool(false)));
    let request = home.requests().remove(0);
    assert_eq!(request["connection"], connection["connection"]);
}

#[test]
fn a_flood_of_strangers_neither_fills_the_log_nor_is_lost_from_it() {
    const STRANGERS: u64 = 2_000;
    let site = Site::start();
    let tls = site.home.tls(None, Protocol::Http2);
    let mut wire = site.wire(TRADING, Protocol::Http2);
    let finished = std::thread::scope(|scope| {
        let flood = scope.spawn(|| knock_often(site.address(), &tls, STRANGERS));
        let mut beside = 0;
        while !flood.is_finished() {
            seal(&mut wire, EXCHANGE, b"x", b"");
            beside += 1;
        }
        assert!(
            beside > 10,
            "a client with a certificate is served meanwhile: {beside}"
        );
        flood.join().unwrap()
    });
    assert_eq!(finished, STRANGERS);
    drop(wire);
    let home = site.stop();
    assert_eq!(
        counted(&home),
        BTreeMap::from([("certificate_missing".to_owned(), STRANGERS)])
    );
    let mut seconds: BTreeMap<String, usize> = BTreeMap::new();
    for record in home
        .records()
        .iter()
        .filter(|record| record["type"] == "refused")
    {
        let time = record["time"].as_str().unwrap();
        *seconds
            .entry(time.split('.').next().unwrap().to_owned())
            .or_default() += 1;
        assert_eq!(field(record, "address-prefix").unwrap(), "127.0.0.0/24");
    }
    assert!(seconds.values().all(|count| *count <= 100), "{seconds:?}");
    let report = home.verify();
    assert!(report.by_outcome.values().sum::<u64>() >= STRANGERS);
}
