//! A running node reads its files again when it is told to, and goes on with the old ones if anything is wrong.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use keywright_clock::Clock;
use keywright_home::{Answer, Event, HomeError, Level, Order, control};
use keywright_network::ca::{TestAuthority, client_identity};
use keywright_policy::{Fact, Fingerprint};
use keywright_tls::issue::Reason;
use keywright_tls::{Protocol, describe_certificate};

use crate::alerts::put_certificate;
use crate::fixture::*;
use crate::roster::client_of;

/// A site, and everything that it says.
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

fn epoch(site: &Site) -> u64 {
    site.node().admin().shared().snapshot().epoch
}

/// Whether a new connection of a client is served.
fn is_served(site: &Site, client: &str) -> bool {
    is_served_with(site, tls_of(site, client))
}

fn tls_of(site: &Site, client: &str) -> Arc<rustls::ClientConfig> {
    let identity = site.home.identity(client);
    site.home.tls(Some(identity), Protocol::Http2)
}

fn is_served_with(site: &Site, tls: Arc<rustls::ClientConfig>) -> bool {
    let wire = Wire::connect(site.address(), tls);
    wire.is_ok_and(|mut wire| {
        let got = wire.send(http::Method::GET, "/v1/health", "");
        got.is_ok_and(|got| got.status == 200)
    })
}

#[test]
fn a_new_certificate_is_shown_to_the_next_connection_and_costs_no_open_one() {
    let (site, told) = telling(Home::demo());
    let mut open = site.wire(TRADING, Protocol::Http2);
    seal(&mut open, EXCHANGE, b"x", b"");
    let before = epoch(&site);
    // Of another authority, so that it can be told from the old one: who trusts the old one alone is not served.
    let now = Clock::system().wall();
    let stranger =
        keywright_tls::issue::Authority::create("other", now, Duration::from_secs(86_400));
    let day = Duration::from_secs(3600);
    let issued = stranger
        .unwrap()
        .issue_server(&["localhost"], &[], now, day);
    let issued = issued.unwrap();
    fs::write(site.home.path().join("server.pem"), issued.certificate_pem).unwrap();
    fs::write(site.home.path().join("server.key"), issued.key_pem.expose()).unwrap();
    assert!(
        is_served(&site, TRADING),
        "nobody has said that it is there"
    );
    let reloaded = site.node().reload().unwrap();
    assert!(!reloaded.trust_changed && reloaded.needs_restart.is_empty());
    assert!(!is_served(&site, TRADING));
    seal(&mut open, EXCHANGE, b"x", b"");
    put_certificate(&site.home, Duration::from_secs(30 * 86_400));
    site.node().reload().unwrap();
    assert!(is_served(&site, TRADING));
    assert_eq!(epoch(&site), before, "no state has changed");
    let told = told.lock().unwrap();
    assert_eq!(
        told.iter()
            .filter(|line| line.starts_with("reloaded"))
            .count(),
        2
    );
    drop(told);
    site.stop().verify();
}

#[test]
fn a_new_revocation_list_ends_who_is_on_it() {
    let (site, _) = telling(Home::demo());
    let mut wire = site.wire(WEB, Protocol::Http2);
    assert_eq!(wire.get("/v1/health").status, 200);
    let before = epoch(&site);
    let certificate = site.home.path().join("clients/web-2fa-1.pem");
    let now = Clock::system().wall();
    let pki = site.home.pki();
    pki.revoke(&certificate, Reason::Superseded, now).unwrap();
    let answer = control::send(&site.home.path(), &Order::Reload).unwrap();
    let Some(Answer::Reloaded(reloaded)) = answer else {
        panic!("{answer:?}")
    };
    assert!(reloaded.trust_changed);
    assert!(epoch(&site) > before);
    assert!(wire.ends_within(Duration::from_secs(10)));
    assert!(!is_served(&site, WEB) && is_served(&site, TRADING));
    let again = site.node().reload().unwrap();
    assert!(!again.trust_changed, "the same list is no change");
    site.stop().verify();
}

/// Lets clients of another authority in beside those of the home.
fn trust_too(home: &Home, second: &TestAuthority) -> [(PathBuf, String); 2] {
    [
        ("ca.pem", second.certificate_pem().to_owned()),
        ("crl.pem", second.crl_pem()),
    ]
    .map(|(file, more)| {
        let path = home.path().join(file);
        let own = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{own}{more}")).unwrap();
        (path, own)
    })
}

#[test]
fn an_anchor_that_is_taken_out_ends_the_connections_of_its_clients_and_no_others() {
    let home = Home::demo();
    let second = TestAuthority::named("Second CA", Clock::system().wall());
    let own_files = trust_too(&home, &second);
    let (site, _) = telling(home);
    let issued = client_of(&second, "twin-1");
    site.change_policy(|document| {
        let mut principals = document.principals.iter_mut();
        let web = principals.find(|one| one.name == name(WEB)).unwrap();
        let mut rule = web.rules[0].clone();
        rule.anchors = vec![Fingerprint::from_bytes(second.authority().spki_sha256())];
        let about = describe_certificate(issued.certificate_pem.as_bytes()).unwrap();
        rule.fact = Fact::LeafKey(Fingerprint::from_bytes(about.spki_sha256));
        web.rules.push(rule);
    });
    let tls = |protocol| {
        let identity = client_identity(&issued).unwrap();
        site.home.tls(Some(identity), protocol)
    };
    let mut cut = BOTH.map(|protocol| Wire::connect(site.address(), tls(protocol)).unwrap());
    // The same principal by the certificate of the anchor that stays.
    let mut kept = [site.wire(WEB, BOTH[0]), site.wire(TRADING, BOTH[1])];
    for wire in cut.iter_mut().chain(&mut kept) {
        assert_eq!(wire.get("/v1/health").status, 200);
    }
    for (path, own) in own_files {
        fs::write(path, own).unwrap();
    }
    assert!(site.node().reload().unwrap().trust_changed);
    for wire in &mut cut {
        assert!(wire.ends_within(Duration::from_secs(10)));
    }
    assert!(!is_served_with(&site, tls(BOTH[0])));
    for wire in &mut kept {
        assert_eq!(wire.get("/v1/health").status, 200);
    }
    assert!(is_served(&site, WEB) && is_served(&site, TRADING));
    drop(kept);
    site.stop().verify();
}

#[test]
fn whatever_is_wrong_leaves_everything_as_it_was() {
    let (site, told) = telling(Home::demo());
    let (before, tls) = (epoch(&site), tls_of(&site, TRADING));
    let files = [
        "server.pem",
        "server.key",
        "ca.pem",
        "crl.pem",
        "keywright.toml",
    ];
    for file in files {
        let path = site.home.path().join(file);
        let good = fs::read(&path).unwrap();
        // What is cut between two lines may be a whole configuration.
        let half = &good[..good.len() / 2];
        let assigned = half.iter().rposition(|byte| *byte == b'=');
        let half = &half[..assigned.map_or(half.len(), |end| end + 1)];
        for bad in [&b""[..], b"\0\xff", b"not what it should be\n", half] {
            fs::write(&path, bad).unwrap();
            let failed = site.node().reload();
            assert!(failed.is_err(), "{file}: {failed:?}");
            assert_eq!(epoch(&site), before, "{file}");
            assert!(is_served_with(&site, Arc::clone(&tls)), "{file}");
        }
        fs::remove_file(&path).unwrap();
        assert!(site.node().reload().is_err(), "{file} is gone");
        assert!(is_served_with(&site, Arc::clone(&tls)), "{file} is gone");
        fs::write(&path, good).unwrap();
    }
    let told = told.lock().unwrap().clone();
    assert_eq!(told.len(), files.len() * 5);
    for line in told {
        assert!(
            line.starts_with("reload failed, all is as before: "),
            "{line}"
        );
        assert_eq!(line.lines().count(), 1, "{line}");
        assert!(!line.contains("PRIVATE KEY"), "{line}");
    }
    site.node().reload().unwrap();
    site.stop().verify();
}

#[test]
fn an_older_list_and_a_certificate_that_has_ended_are_not_taken() {
    let (site, _) = telling(Home::demo());
    let list = site.home.path().join("crl.pem");
    let older = fs::read(&list).unwrap();
    let certificate = site.home.path().join("clients/web-2fa-1.pem");
    let now = Clock::system().wall();
    let pki = site.home.pki();
    pki.revoke(&certificate, Reason::Superseded, now).unwrap();
    site.node().reload().unwrap();
    fs::write(&list, older).unwrap();
    assert!(site.node().reload().is_err());
    assert!(!is_served(&site, WEB), "an older list ends a revocation");
    let (site, _) = telling(Home::demo());
    let home = &site.home;
    let long_ago = keywright_clock::WallTime::from_unix_seconds(1_600_000_000);
    let issued =
        home.authority()
            .issue_server(&["localhost"], &[], long_ago, Duration::from_secs(86_400));
    let issued = issued.unwrap();
    fs::write(home.path().join("server.pem"), issued.certificate_pem).unwrap();
    fs::write(home.path().join("server.key"), issued.key_pem.expose()).unwrap();
    let refused = site.node().reload();
    let ended = matches!(refused, Err(HomeError::CertificateExpired(_)));
    assert!(ended, "{refused:?}");
    assert!(is_served(&site, TRADING));
    site.stop();
}

#[test]
fn the_log_level_is_taken_and_every_other_key_is_named() {
    let (site, told) = telling(Home::demo());
    let config = site.home.config();
    let text = fs::read_to_string(&config).unwrap();
    let changed = text
        .replace("level = \"info\"", "level = \"error\"")
        .replace("items = 10000", "items = 500")
        .replace("listen = \"127.0.0.1:8443\"", "listen = \"127.0.0.1:9443\"");
    fs::write(&config, &changed).unwrap();
    let reloaded = site.node().reload().unwrap();
    assert_eq!(reloaded.level, Level::Error);
    assert_eq!(reloaded.needs_restart, ["limits.items", "server.listen"]);
    let before = told.lock().unwrap().len();
    site.node().reload().unwrap();
    assert_eq!(told.lock().unwrap().len(), before, "that is no error");
    fs::write(&config, text.replace("[log]", "[logs]")).unwrap();
    assert!(site.node().reload().is_err(), "an unknown section");
    assert_eq!(told.lock().unwrap().len(), before + 1, "that is one");
    fs::write(&config, text).unwrap();
    let reloaded = site.node().reload().unwrap();
    assert_eq!(
        (reloaded.level, reloaded.needs_restart.len()),
        (Level::Info, 0)
    );
    site.stop();
}
