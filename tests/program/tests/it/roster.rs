//! Who is let in and kept out by files that change while a node runs: several authorities, their lists, and a list of
//! certificates (D18). Within a second, without a word to the node, and never wider than before.

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use keywright_clock::Clock;
use keywright_encoding::hex;
use keywright_home::{Event, HomeError};
use keywright_network::ca::{DAY, TestAuthority, client_identity};
use keywright_policy::{Fact, Fingerprint};
use keywright_tls::issue::hostile::Recipe;
use keywright_tls::issue::{Issued, Reason};
use keywright_tls::{ClientIdentity, Older, Protocol, describe_certificate};

use crate::fixture::*;

/// A second is promised; ten of them are what a busy machine is given.
const DEADLINE: Duration = Duration::from_secs(10);

const FILE: &str = "clients.txt";

pub(crate) fn write_roster(home: &Home, number: u64, lines: &str) {
    let text = format!("keywright-clients 1\nnumber {number}\n{lines}\n");
    // Put in place as a whole, as a careful program does it.
    let beside = home.path().join("clients.txt.new");
    fs::write(&beside, text).unwrap();
    fs::rename(beside, home.path().join(FILE)).unwrap();
}

/// A home with a list of certificates, which it follows.
pub(crate) fn following() -> Home {
    let home = Home::demo().configure(
        "revocation_lists = \"crl.pem\"\nfollow = false",
        "revocation_lists = \"crl.pem\"\nroster = \"clients.txt\"\nfollow = true",
    );
    write_roster(&home, 1, "# nobody yet");
    home
}

fn telling(home: Home) -> (Site, Arc<Mutex<Vec<String>>>) {
    let node = home.open().unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let writer = Arc::clone(&told);
    let tell = move |event: &Event| {
        writer.lock().unwrap().push(event.to_string());
        Ok(())
    };
    node.tell_events(Box::new(tell));
    (Site::serve(home, &node), told)
}

fn is_served(site: &Site, identity: ClientIdentity) -> bool {
    let tls = site.home.tls(Some(identity), Protocol::Http2);
    let wire = Wire::connect(site.address(), tls);
    wire.is_ok_and(|mut wire| {
        let got = wire.send(http::Method::GET, "/v1/health", "");
        got.is_ok_and(|got| got.status == 200)
    })
}

pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let clock = Clock::system();
    let started = clock.monotonic();
    while !holds() {
        assert!(
            clock.monotonic().since(started) < DEADLINE,
            "not yet: {what}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The marks of the certificate of a client of the demonstration.
pub(crate) fn marks(home: &Home, client: &str) -> [String; 3] {
    let pem = fs::read(home.path().join(format!("clients/{client}.pem"))).unwrap();
    let about = describe_certificate(&pem).unwrap();
    let issuer = hex::encode(&home.authority().spki_sha256());
    [
        format!("key {}", hex::encode(&about.spki_sha256)),
        format!("serial {}", about.serial),
        format!("issuer {issuer} serial {}", about.serial),
    ]
}

#[test]
fn whoever_is_put_on_the_list_is_cut_off_by_itself_and_whoever_is_taken_off_comes_back() {
    let (site, _) = telling(following());
    let mut beside = site.wire(TRADING, Protocol::Http2);
    let mut number = 1;
    for mark in marks(&site.home, WEB) {
        let mut open = BOTH.map(|protocol| site.wire(WEB, protocol));
        open.iter_mut()
            .for_each(|wire| assert_eq!(wire.get("/v1/health").status, 200));
        number += 1;
        write_roster(&site.home, number, &format!("deny {mark}"));
        for wire in &mut open {
            assert!(wire.ends_within(DEADLINE), "deny {mark}");
        }
        assert!(!is_served(&site, site.home.identity(WEB)), "deny {mark}");
        assert_eq!(beside.get("/v1/health").status, 200);
        number += 1;
        write_roster(&site.home, number, "");
        eventually("it is let in again", || {
            is_served(&site, site.home.identity(WEB))
        });
    }
    let mut open = site.wire(WEB, Protocol::Http2);
    assert_eq!(open.get("/v1/health").status, 200);
    let [key, ..] = marks(&site.home, TRADING);
    write_roster(&site.home, number + 1, &format!("allow {key}"));
    assert!(open.ends_within(DEADLINE), "it is not among the few");
    assert_eq!(beside.get("/v1/health").status, 200);
    drop(beside);
    site.stop().verify();
}

#[test]
fn a_list_that_is_missing_wrong_or_old_lets_nobody_in_who_was_kept_out() {
    let home = following();
    let [key, ..] = marks(&home, WEB);
    write_roster(&home, 7, &format!("deny {key}"));
    let (site, told) = telling(home);
    let path = site.home.path().join(FILE);
    let good = fs::read(&path).unwrap();
    let kept_out = || !is_served(&site, site.home.identity(WEB));
    assert!(kept_out());
    let wrong: [Option<&[u8]>; 6] = [
        None,
        Some(b""),
        Some(&good[..good.len() / 2]),
        Some(b"keywright-clients 1\nnumber 8\ndeny everybody\n"),
        Some(b"keywright-clients 1\nnumber 6\n"),
        Some(b"keywright-clients 1\nnumber 7\n"),
    ];
    for bytes in wrong {
        let before = told.lock().unwrap().len();
        match bytes {
            Some(bytes) => fs::write(&path, bytes).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        eventually("it is told", || told.lock().unwrap().len() > before);
        std::thread::sleep(Duration::from_millis(600));
        assert!(kept_out(), "{bytes:?}");
        let lines = told.lock().unwrap()[before..].to_vec();
        // The writing of a file may be seen in its middle; the state that stays is told once.
        assert!(lines.len() <= 2, "{lines:?}");
        assert!(
            lines.iter().all(|line| line.starts_with("reload failed")),
            "{lines:?}"
        );
        assert!(site.node().reload().is_err(), "{bytes:?}");
        assert!(kept_out(), "{bytes:?}");
    }
    let home = site.stop();
    let older = home.open();
    assert!(
        matches!(
            older,
            Err(HomeError::OlderTrust(
                Older::Roster { .. } | Older::SameNumber(_)
            ))
        ),
        "{older:?}"
    );
    fs::remove_file(home.path().join(FILE)).unwrap();
    let missing = home.open().unwrap_err();
    assert!(missing.to_string().contains("clients.roster"), "{missing}");
    fs::write(home.path().join(FILE), good).unwrap();
    home.open().unwrap().shutdown().unwrap();
    home.verify();
}

/// The samples of the reloads that worked, and whether the last failed.
fn reloads(wire: &mut Wire) -> (u64, u64) {
    let page = String::from_utf8(wire.get("/metrics").body.to_vec()).unwrap();
    let value = |series: &str| {
        let mut found = page.lines().filter_map(|line| line.strip_prefix(series));
        found.next().unwrap().trim().parse().unwrap()
    };
    (
        value("keywright_reloads_total{result=\"ok\"}"),
        value("keywright_last_reload_failed"),
    )
}

#[test]
fn a_file_that_is_put_back_as_it_was_takes_its_failure_back_and_that_is_told_once() {
    let (site, told) = telling(following());
    let mut wire = site.wire(TRADING, Protocol::Http2);
    let list = site.home.path().join("crl.pem");
    let good = fs::read(&list).unwrap();
    let before = site.node().admin().shared().snapshot().epoch;
    assert_eq!(reloads(&mut wire), (0, 0));
    for round in 1..=2 {
        fs::write(&list, "no list").unwrap();
        eventually("it failed", || reloads(&mut wire).1 == 1);
        fs::write(&list, &good).unwrap();
        eventually("it is taken back", || reloads(&mut wire) == (round, 0));
        // Several looks later it is still said once.
        std::thread::sleep(Duration::from_millis(1000));
        assert_eq!(reloads(&mut wire), (round, 0));
        let told = told.lock().unwrap().clone();
        let again = told
            .iter()
            .filter(|line| line.contains("can be read again"));
        assert_eq!(again.count() as u64, round, "{told:?}");
    }
    // Nothing was put in force that was not already.
    assert_eq!(site.node().admin().shared().snapshot().epoch, before);
    drop(wire);
    site.stop().verify();
}

#[test]
fn two_authorities_have_a_list_each_and_a_new_list_of_either_is_followed() {
    let home = following();
    let now = Clock::system().wall();
    let second = TestAuthority::named("Second CA", now);
    for (file, more) in [
        ("ca.pem", second.certificate_pem().to_owned()),
        ("crl.pem", second.crl_pem()),
    ] {
        // The home's own tools read the one certificate of `ca.pem`: the first.
        let path = home.path().join(file);
        let own = fs::read_to_string(&path).unwrap();
        fs::write(path, format!("{own}{more}")).unwrap();
    }
    let (site, _) = telling(home);
    let anchor = second.authority().spki_sha256();
    let named = client_of(&second, "twin-1");
    // Another authority's word for the same name is another credential, without rights until a rule names it.
    assert!(!is_served(&site, client_identity(&named).unwrap()));
    site.change_policy(|document| {
        let web = document
            .principals
            .iter_mut()
            .find(|one| one.name == name(WEB));
        let rules = &mut web.unwrap().rules;
        let mut rule = rules[0].clone();
        rule.anchors = vec![Fingerprint::from_bytes(anchor)];
        let about = describe_certificate(named.certificate_pem.as_bytes()).unwrap();
        rule.fact = Fact::LeafKey(Fingerprint::from_bytes(about.spki_sha256));
        rules.push(rule);
    });
    let mut open = Wire::connect(
        site.address(),
        site.home
            .tls(Some(client_identity(&named).unwrap()), Protocol::Http2),
    )
    .unwrap();
    assert_eq!(open.get("/v1/health").status, 200);
    let mut own = site.wire(WEB, Protocol::Http2);
    assert_eq!(own.get("/v1/health").status, 200);
    // A new list of the second alone.
    let first = fs::read_to_string(site.home.path().join("crl.pem")).unwrap();
    let end = "-----END X509 CRL-----\n";
    let first = first.split_inclusive(end).next().unwrap();
    let second_list = second.crl_with(&[&named.serial], 2);
    fs::write(
        site.home.path().join("crl.pem"),
        format!("{first}{second_list}"),
    )
    .unwrap();
    assert!(open.ends_within(DEADLINE));
    assert_eq!(
        own.get("/v1/health").status,
        200,
        "the first has revoked nobody"
    );
    assert!(!is_served(&site, client_identity(&named).unwrap()));
    drop(own);
    site.stop().verify();
}

pub(crate) fn client_of(authority: &TestAuthority, name: &str) -> Issued {
    let recipe = Recipe::client(name, Clock::system().wall(), DAY);
    authority.authority().issue_hostile(&recipe).unwrap()
}

#[test]
fn without_following_nothing_changes_until_it_is_said() {
    let home = Home::demo();
    let site = Site::over(home);
    let now = Clock::system().wall();
    let certificate = site.home.path().join("clients/web-2fa-1.pem");
    let pki = site.home.pki();
    pki.revoke(&certificate, Reason::KeyCompromise, now)
        .unwrap();
    std::thread::sleep(Duration::from_millis(1200));
    assert!(is_served(&site, site.home.identity(WEB)));
    site.node().reload().unwrap();
    assert!(!is_served(&site, site.home.identity(WEB)));
    site.stop();
}
