//! Administration on a listener of its own: orders are answered there and nowhere else, for its own clients and for
//! nobody else.

use std::fs;

use http::Method;
use keywright_api::route::{ROUTES, Route, Verb};
use keywright_clock::{Clock, WallTime};
use keywright_encoding::hex;
use keywright_home::{Answer, HomeError, Order, RuleChanges};
use keywright_network::ca::{DAY, client_identity};
use keywright_policy::PolicyDocument;
use keywright_tls::issue::{Authority, ClientSubject, Issued, Reason, Revoked};
use keywright_tls::{ClientIdentity, Protocol};
use keywright_types::{Code, Operation, Plane};

use crate::fixture::*;
use crate::life::{KEEPER, grant};

const FIRST: &str = "keeper-1";
const SECOND: &str = "keeper-2";
const THIRD: &str = "keeper-3";

fn now() -> WallTime {
    Clock::system().wall()
}

/// Three keepers of a home with a listener for them.
struct House {
    site: Site,
    authority: Authority,
}

/// Whose certificates the listener of administration believes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Anchors {
    Everybodys,
    Own,
}

impl House {
    fn start(anchors: Anchors) -> Self {
        Self::over(Home::demo(), anchors)
    }

    fn over(home: Home, anchors: Anchors) -> Self {
        let authority = match anchors {
            Anchors::Everybodys => home.authority(),
            Anchors::Own => Authority::create("Keepers' authority", now(), DAY * 30).unwrap(),
        };
        let mut section = "\n[admin]\nlisten = \"127.0.0.1:0\"\n".to_owned();
        if anchors == Anchors::Own {
            let certificate = authority.certificate_pem();
            fs::write(home.path().join("keepers.pem"), certificate).unwrap();
            section += "authorities = \"keepers.pem\"\nrevocation_lists = \"keepers-crl.pem\"\n";
            list(&home, &authority, &[], 1);
        }
        append(&home, &section);
        let site = Site::over(home);
        let anchor = hex::encode(&authority.spki_sha256());
        let entries = [FIRST, SECOND, THIRD].map(|name| {
            format!(
                "[[principal]]\nname = \"{name}\"\nplane = \"admin\"\n[[principal.rule]]\n\
                 anchors = [\"{anchor}\"]\ncommon_name = \"{name}\"\norganizational_unit = \"Keepers\"\n"
            )
        });
        let text = format!("version = 1\n{}", entries.concat());
        let keepers = PolicyDocument::parse(&text).unwrap();
        site.change_policy(|document| document.principals.extend(keepers.principals));
        for keeper in [FIRST, SECOND, THIRD] {
            grant(&site, keeper, EXCHANGE, &KEEPER);
            grant(&site, keeper, EXCHANGE, &["key-approve"]);
        }
        Self { site, authority }
    }

    fn identity(&self, keeper: &str) -> ClientIdentity {
        client_identity(&self.issue(keeper)).unwrap()
    }

    fn issue(&self, keeper: &str) -> Issued {
        let subject = ClientSubject {
            common_name: keeper,
            organizational_unit: Some("Keepers"),
            principal: None,
        };
        self.authority.issue_client(&subject, now(), DAY).unwrap()
    }

    /// A connection to the listener of `plane`.
    fn knock(&self, plane: Plane, identity: ClientIdentity) -> Result<Wire, String> {
        let serving = self.site.serving();
        let address = match plane {
            Plane::Admin => serving.admin_addr().unwrap(),
            Plane::Data => serving.local_addr(),
        };
        let tls = self.site.home.tls(Some(identity), Protocol::Http2);
        let mut wire = Wire::connect(address, tls)?;
        wire.send(Method::GET, "/v1/health", "")?;
        Ok(wire)
    }

    fn keeper(&self, name: &str) -> Wire {
        self.knock(Plane::Admin, self.identity(name)).unwrap()
    }
}

fn append(home: &Home, section: &str) {
    let text = fs::read_to_string(home.config()).unwrap();
    fs::write(home.config(), text + section).unwrap();
}

fn list(home: &Home, authority: &Authority, revoked: &[Revoked], number: u64) {
    let list = authority.revocation_list(revoked, number, now(), now().plus(DAY));
    fs::write(home.path().join("keepers-crl.pem"), list.unwrap()).unwrap();
}

fn ask(wire: &mut Wire, verb: Verb, path: &str, body: &'static str) -> Got {
    match verb {
        Verb::Get => wire.get(path),
        Verb::Post => wire.post(path, body),
    }
}

fn path_of(route: &Route) -> String {
    route.path.to_string().replace("{context}", EXCHANGE)
}

/// Everything of an answer but what names its request.
fn shape(got: &Got) -> (u16, Vec<String>, serde_json::Value) {
    let mut json = got.json();
    json["error"]["request"] = "".into();
    let mut headers: Vec<_> = got.headers.keys().map(ToString::to_string).collect();
    headers.sort();
    (got.status, headers, json)
}

#[test]
fn an_order_on_the_listener_of_work_is_a_route_that_does_not_exist() {
    let house = House::start(Anchors::Everybodys);
    // Whatever rights somebody has.
    grant(&house.site, TRADING, EXCHANGE, &KEEPER);
    let epoch = house.site.node().admin().shared().snapshot().epoch;
    let mut wire = house.site.wire(TRADING, Protocol::Http2);
    let nothing = wire.post(&path(EXCHANGE, "key/nothing"), "{}");
    assert_eq!(nothing.code(), "route_not_found");
    let orders: Vec<_> = ROUTES.iter().filter(|route| route.is_order()).collect();
    assert_eq!(orders.len(), 8);
    for route in &orders {
        for verb in [Verb::Post, Verb::Get] {
            let got = ask(&mut wire, verb, &path_of(route), "{}");
            assert_eq!(shape(&got), shape(&nothing), "{}", route.path);
        }
    }
    let described = wire.get("/v1/openapi.json").json();
    for route in &ROUTES {
        let known = described["paths"][route.path.to_string()].is_object();
        assert_eq!(known, !route.is_order(), "{}", route.path);
    }
    assert_eq!(house.site.node().admin().shared().snapshot().epoch, epoch);
    let home = house.site.stop();
    let unrouted = home.requests().into_iter();
    let unrouted = unrouted.filter(|one| one["outcome"] == "route_not_found");
    assert_eq!(unrouted.count(), 1 + 2 * orders.len());
    home.verify();
}

#[test]
fn the_listener_of_administration_has_orders_and_what_is_read_and_no_work() {
    let house = House::start(Anchors::Everybodys);
    grant(&house.site, FIRST, EXCHANGE, &["encrypt", "decrypt"]);
    let mut wire = house.keeper(FIRST);
    let sealed = wire.post(&path(EXCHANGE, "encrypt"), item(&[("plaintext", b"x")]));
    assert_eq!(sealed.code(), "route_not_found");
    let described = wire.get("/v1/openapi.json").json();
    for route in &ROUTES {
        let expected = route.request.is_none() || route.is_order();
        let known = described["paths"][route.path.to_string()].is_object();
        assert_eq!(known, expected, "{}", route.path);
        let got = ask(&mut wire, route.verb, &path_of(route), r#"{"version":9}"#);
        let missing = got.status == 404 && got.code() == "route_not_found";
        assert_eq!(missing, !expected, "{}", route.path);
    }
    let rotated = wire.post(&path(EXCHANGE, "key/rotate"), "{}");
    assert_eq!(rotated.code(), "ok");
    let suspended = wire.post(&path(EXCHANGE, "key/suspend"), r#"{"version":1}"#);
    assert_eq!(suspended.code(), "ok");
    house.site.stop().verify();
}

#[test]
fn a_client_of_one_listener_is_nobody_at_the_other() {
    for anchors in [Anchors::Everybodys, Anchors::Own] {
        let house = House::start(anchors);
        let (keeper, client) = (house.identity(FIRST), house.site.home.identity(TRADING));
        assert!(house.knock(Plane::Data, client.clone()).is_ok());
        assert!(house.knock(Plane::Admin, keeper.clone()).is_ok());
        assert!(house.knock(Plane::Admin, client).is_err());
        assert!(house.knock(Plane::Data, keeper).is_err());
        let home = house.site.stop();
        let refused = home
            .records()
            .into_iter()
            .filter(|one| one["type"] == "refused");
        let reasons: Vec<_> = refused.map(|one| one["outcome"].clone()).collect();
        let reason = match anchors {
            Anchors::Everybodys => "principal_unknown",
            // It does not come as far as its name.
            Anchors::Own => "certificate_untrusted",
        };
        assert!(
            !reasons.is_empty() && reasons.iter().all(|one| one == reason),
            "{reasons:?}"
        );
        assert!(
            home.requests()
                .iter()
                .all(|one| one["operation"] == "health-read")
        );
        home.verify();
    }
}

#[test]
fn a_principal_that_moves_to_the_other_listener_loses_its_connections() {
    let house = House::start(Anchors::Everybodys);
    let mut wire = house.site.wire(TRADING, Protocol::Http2);
    assert_eq!(wire.get("/v1/health").status, 200);
    house.site.change_policy(|document| {
        let mut entries = document.principals.iter_mut();
        let entry = entries.find(|entry| entry.name == name(TRADING));
        entry.unwrap().plane = Plane::Admin;
    });
    assert!(wire.ends_within(std::time::Duration::from_secs(10)));
    let client = house.site.home.identity(TRADING);
    assert!(house.knock(Plane::Data, client.clone()).is_err());
    assert!(house.knock(Plane::Admin, client).is_ok());
    house.site.stop();
}

#[test]
fn orders_that_need_two_approvals_need_them_there_too() {
    let house = House::start(Anchors::Own);
    let rules = RuleChanges {
        two_approvals: Some(true),
        ..RuleChanges::default()
    };
    let (tenant, context) = (name("default"), name(EXCHANGE));
    let order = Order::ContextSet {
        tenant,
        name: context,
        rules,
    };
    assert!(matches!(
        house.site.node().carry_out(order),
        Ok(Answer::InForce { .. })
    ));
    let [mut first, mut second, mut third] = [FIRST, SECOND, THIRD].map(|one| house.keeper(one));
    assert_eq!(first.post(&path(EXCHANGE, "key/rotate"), "{}").code(), "ok");
    let approve = r#"{"order":"schedule-destroy","version":1}"#;
    let schedule = |wire: &mut Wire| {
        wire.post(&path(EXCHANGE, "key/schedule-destroy"), r#"{"version":1}"#)
            .code()
    };
    assert_eq!(schedule(&mut third), "approval_missing");
    for wire in [&mut first, &mut second] {
        assert_eq!(
            wire.post(&path(EXCHANGE, "key/approve"), approve).code(),
            "ok"
        );
    }
    // One's own counts for nothing.
    assert_eq!(schedule(&mut first), "approval_missing");
    assert_eq!(schedule(&mut second), "approval_missing");
    // On the other listener nobody can approve, whatever the grant.
    grant(&house.site, TRADING, EXCHANGE, &["key-approve"]);
    let mut data = house.site.wire(TRADING, Protocol::Http2);
    let got = data.post(&path(EXCHANGE, "key/approve"), approve);
    assert_eq!(got.code(), "route_not_found");
    assert_eq!(schedule(&mut third), "ok");
    let home = house.site.stop();
    let approved = home.records().into_iter().filter(|one| {
        one["operation"] == "key-approve" && one["type"] == "order-after" && one["outcome"] == "ok"
    });
    assert_eq!(approved.count(), 2);
    home.verify();
}

#[test]
fn a_keeper_whose_certificate_is_revoked_in_the_listeners_own_list_is_cut() {
    let house = House::start(Anchors::Own);
    let issued = house.issue(FIRST);
    let identity = || client_identity(&issued).unwrap();
    let mut gone = house.knock(Plane::Admin, identity()).unwrap();
    let mut other = house.keeper(SECOND);
    let about = keywright_tls::describe_certificate(issued.certificate_pem.as_bytes()).unwrap();
    let revoked = Revoked {
        serial: hex::decode(&about.serial).unwrap(),
        at: now(),
        reason: Reason::KeyCompromise,
    };
    list(&house.site.home, &house.authority, &[revoked], 2);
    house.site.node().reload_trust().unwrap();
    assert!(gone.ends_within(std::time::Duration::from_secs(10)));
    assert!(house.knock(Plane::Admin, identity()).is_err());
    assert_eq!(other.get("/v1/health").status, 200);
    // An older list does not bring it back.
    list(&house.site.home, &house.authority, &[], 1);
    assert!(house.site.node().reload_trust().is_err());
    assert!(house.knock(Plane::Admin, identity()).is_err());
    house.site.stop().verify();
}

#[test]
fn whoever_the_list_of_certificates_keeps_out_is_kept_out_at_either_listener() {
    let house = House::over(crate::roster::following(), Anchors::Own);
    let (first, second) = (house.issue(FIRST), house.issue(SECOND));
    let knock = |issued| house.knock(Plane::Admin, client_identity(issued).unwrap());
    let (mut gone, mut other) = (knock(&first).unwrap(), knock(&second).unwrap());
    let mut client = house.site.wire(TRADING, Protocol::Http2);
    let about = keywright_tls::describe_certificate(first.certificate_pem.as_bytes()).unwrap();
    let line = format!("deny key {}", hex::encode(&about.spki_sha256));
    crate::roster::write_roster(&house.site.home, 2, &line);
    assert!(gone.ends_within(std::time::Duration::from_secs(10)));
    assert!(knock(&first).is_err());
    for wire in [&mut other, &mut client] {
        assert_eq!(wire.get("/v1/health").status, 200);
    }
    // A new list of the listener's own is followed as well.
    let about = keywright_tls::describe_certificate(second.certificate_pem.as_bytes()).unwrap();
    let revoked = Revoked {
        serial: hex::decode(&about.serial).unwrap(),
        at: now(),
        reason: Reason::KeyCompromise,
    };
    list(&house.site.home, &house.authority, &[revoked], 2);
    assert!(other.ends_within(std::time::Duration::from_secs(10)));
    assert!(knock(&second).is_err());
    assert_eq!(client.get("/v1/health").status, 200);
    // Who is not among the few is nobody at the other listener either.
    let [key, ..] = crate::roster::marks(&house.site.home, TRADING);
    crate::roster::write_roster(&house.site.home, 3, &format!("allow {key}"));
    let third = house.issue(THIRD);
    crate::roster::eventually("nobody else is let in", || knock(&third).is_err());
    assert_eq!(client.get("/v1/health").status, 200);
    drop(client);
    house.site.stop().verify();
}

#[test]
fn what_is_explained_is_what_each_listener_answers() {
    let house = House::start(Anchors::Everybodys);
    grant(&house.site, TRADING, EXCHANGE, &KEEPER);
    grant(&house.site, FIRST, EXCHANGE, &["encrypt"]);
    for (who, operation, code) in [
        (TRADING, Operation::Encrypt, Code::Ok),
        (TRADING, Operation::KeySuspend, Code::RouteNotFound),
        (TRADING, Operation::KeyList, Code::Ok),
        (FIRST, Operation::KeySuspend, Code::Ok),
        (FIRST, Operation::KeyList, Code::Ok),
        (FIRST, Operation::Encrypt, Code::RouteNotFound),
    ] {
        let order = Order::PolicyExplain {
            tenant: name("default"),
            principal: name(who),
            operation,
            context: Some(name(EXCHANGE)),
        };
        let Answer::Explained { code: told, .. } = house.site.node().carry_out(order).unwrap()
        else {
            panic!("{who} {operation}")
        };
        assert_eq!(told, code.name(), "{who} {operation}");
    }
    house.site.stop();
}

#[test]
fn without_a_listener_of_its_own_everybody_is_served_at_the_one() {
    let site = Site::start();
    assert!(site.serving().admin_addr().is_none());
    site.change_policy(|document| {
        let mut entries = document.principals.iter_mut();
        let entry = entries.find(|entry| entry.name == name(TRADING));
        entry.unwrap().plane = Plane::Admin;
    });
    grant(&site, TRADING, EXCHANGE, &KEEPER);
    let mut wire = site.wire(TRADING, Protocol::Http2);
    seal(&mut wire, EXCHANGE, b"x", b"");
    let got = wire.post(&path(EXCHANGE, "key/rotate"), "{}");
    assert_eq!(got.code(), "ok");
    site.stop();
}

#[test]
fn a_listener_that_cannot_be_had_keeps_the_node_from_serving() {
    let taken = std::net::TcpListener::bind(loopback()).unwrap();
    let home = Home::demo();
    let listen = taken.local_addr().unwrap();
    append(&home, &format!("\n[admin]\nlisten = \"{listen}\"\n"));
    let node = home.open().unwrap();
    let refused = node.serve(Some(loopback()));
    assert!(
        matches!(refused, Err(HomeError::Transport(_))),
        "{refused:?}"
    );
    drop(node);
    for (section, key) in [
        (
            "listen = \"127.0.0.1:0\"\nauthorities = \"ca.pem\"\n",
            "admin.revocation_lists",
        ),
        (
            "listen = \"127.0.0.1:0\"\nrevocation_lists = \"crl.pem\"\n",
            "admin.authorities",
        ),
        ("listen = \"127.0.0.1:8443\"\n", "admin.listen"),
        ("listen = \"127.0.0.1:0\"\nthreads = 2\n", "threads"),
        ("", "listen"),
        (
            "listen = \"127.0.0.1:0\"\nauthorities = \"gone.pem\"\nrevocation_lists = \"crl.pem\"\n",
            "admin.authorities names",
        ),
        // A list that belongs to no anchor of these.
        (
            "listen = \"127.0.0.1:0\"\nauthorities = \"server.pem\"\nrevocation_lists = \"crl.pem\"\n",
            "",
        ),
    ] {
        let home = Home::demo();
        append(&home, &format!("\n[admin]\n{section}"));
        let told = home.open().expect_err(section);
        let mut text = told.to_string();
        let mut cause = std::error::Error::source(&told);
        while let Some(error) = cause {
            text += &error.to_string();
            cause = error.source();
        }
        assert!(text.contains(key), "{section}: {text}");
    }
}
