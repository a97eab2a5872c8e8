//! The life of keys over the wire: orders of principals, what they need, what they leave in the log.

use std::time::Duration;

use keywright_client::{
    Approvable, ApproveOrder, Error, KeyAction, KeyOrder, Seal, Sign, Signing, blocking,
};
use keywright_custody::{Detail, TreeDetail};
use keywright_home::{Answer, Order, RuleChanges};
use keywright_policy::{ContextPattern, Effect, Grant};
use keywright_secret::SecretBytes;
use keywright_tls::Protocol;
use keywright_types::{Algorithm, Code, KeySpec, KeyVersion, Purpose, State};

use crate::fixture::*;

const WHOLE: KeyOrder = KeyOrder {
    version: None,
    all: true,
    despite_use: false,
};

fn one(version: u32) -> KeyOrder {
    KeyOrder {
        version: Some(KeyVersion::from_number(version)),
        all: false,
        despite_use: false,
    }
}

/// Adds a grant to the policy in force.
pub(crate) fn grant(site: &Site, who: &str, contexts: &str, operations: &[&str]) {
    let operations = operations.iter().map(|one| one.parse().unwrap());
    let grant = Grant {
        tenant: name("default"),
        principals: vec![name(who)],
        groups: Vec::new(),
        effect: Effect::Allow,
        operations: operations.collect(),
        contexts: vec![ContextPattern::Exact(name(contexts))],
        paths: Vec::new(),
    };
    site.change_policy(|document| document.grants.push(grant));
}

/// All that whoever keeps a context's key may be granted, but to approve.
pub(crate) const KEEPER: [&str; 8] = [
    "key-suspend",
    "key-resume",
    "key-retire",
    "key-schedule-destroy",
    "key-cancel-destroy",
    "key-destroy",
    "key-rotate",
    "key-list",
];

fn refused<T: std::fmt::Debug>(done: Result<T, Error>) -> Code {
    match done {
        Err(Error::Refused(refused)) => refused.code.unwrap(),
        other => panic!("{other:?}"),
    }
}

fn sealed(client: &blocking::Client, context: &str) -> Result<Vec<u8>, Error> {
    let item = Seal {
        plaintext: b"kept",
        aad: None,
    };
    client
        .encrypt(&name(context), item)
        .map(|sealed| sealed.ciphertext)
}

fn opened(client: &blocking::Client, envelope: &[u8]) -> Result<Vec<u8>, Error> {
    let item = keywright_client::Open {
        ciphertext: envelope,
        aad: None,
    };
    client
        .decrypt(&name(EXCHANGE), item)
        .map(|opened| opened.plaintext.expose().to_vec())
}

#[test]
fn a_principal_with_the_right_orders_and_others_are_told_what_they_may_know() {
    let site = Site::start();
    let (trading, web) = (site.client(TRADING), site.client(WEB));
    let context = name(EXCHANGE);
    let order = |client: &blocking::Client| client.key_order(&context, KeyAction::Suspend, one(1));
    // A right to use the key is no right over its life; and who has no right at all learns nothing.
    assert_eq!(refused(order(&trading)), Code::OperationDenied);
    assert_eq!(refused(order(&web)), Code::ContextNotFound);
    assert_eq!(
        refused(trading.key_versions(&context)),
        Code::OperationDenied
    );
    grant(&site, TRADING, EXCHANGE, &KEEPER);
    let envelope = sealed(&trading, EXCHANGE).unwrap();
    let moved = order(&trading).unwrap();
    assert_eq!(moved.len(), 1);
    assert_eq!(moved[0].state, State::Suspended);
    assert_eq!(
        refused(opened(&trading, &envelope)),
        Code::KeyVersionUnavailable
    );
    assert_eq!(refused(sealed(&trading, EXCHANGE)), Code::NoActiveVersion);
    assert_eq!(refused(order(&trading)), Code::StateConflict);
    let resumed = trading
        .key_order(&context, KeyAction::Resume, WHOLE)
        .unwrap();
    assert_eq!(resumed[0].state, State::Active);
    assert_eq!(opened(&trading, &envelope).unwrap(), b"kept");
    assert_eq!(trading.key_rotate(&context).unwrap().number(), 2);
    assert_eq!(opened(&trading, &envelope).unwrap(), b"kept");
    let scheduled = trading
        .key_order(&context, KeyAction::ScheduleDestroy, one(1))
        .unwrap();
    assert_eq!(scheduled[0].state, State::DestroyScheduled);
    let destroy = trading.key_order(&context, KeyAction::Destroy, one(1));
    assert_eq!(refused(destroy), Code::NotYetDue);
    let undone = trading
        .key_order(&context, KeyAction::CancelDestroy, one(1))
        .unwrap();
    assert_eq!(undone[0].state, State::Retired);
    assert_eq!(opened(&trading, &envelope).unwrap(), b"kept");
    let home = site.stop();
    check_records(&home);
    home.verify();
}

/// Each request has its record, and each order that began has two more under the same request.
fn check_records(home: &Home) {
    let suspended = |kind: &str| -> Vec<_> {
        let records = home.records().into_iter();
        records
            .filter(|one| one["operation"] == "key-suspend" && one["type"] == kind)
            .collect()
    };
    // Each thread has a file of its own, so the order between them is not that of time.
    let mut outcomes: Vec<_> = suspended("request")
        .iter()
        .map(|one| one["outcome"].as_str().unwrap().to_owned())
        .collect();
    outcomes.sort_unstable();
    assert_eq!(
        outcomes,
        [
            "context_not_found",
            "ok",
            "operation_denied",
            "state_conflict"
        ]
    );
    let (before, after) = (suspended("order-before"), suspended("order-after"));
    assert_eq!((before.len(), after.len()), (2, 2));
    let asked = suspended("request");
    for begun in &before {
        let same = |one: &&serde_json::Value| one["request"] == begun["request"];
        let request = asked.iter().find(same).unwrap();
        assert!(["ok", "state_conflict"].contains(&request["outcome"].as_str().unwrap()));
        assert_eq!(begun["principal"], request["principal"]);
        assert_eq!(begun["connection"], request["connection"]);
    }
}

#[test]
fn bodies_that_are_no_order_are_refused_and_change_nothing() {
    let site = Site::start();
    grant(&site, TRADING, EXCHANGE, &KEEPER);
    grant(&site, TRADING, EXCHANGE, &["key-approve"]);
    let mut wire = site.wire(TRADING, Protocol::Http2);
    let epoch = site.node().admin().shared().snapshot().epoch;
    for (action, body, expected) in [
        ("key/suspend", "", "request_malformed"),
        ("key/suspend", "[]", "request_malformed"),
        ("key/suspend", "{}", "value_invalid"),
        (
            "key/suspend",
            "{\"version\":1,\"all\":true}",
            "value_invalid",
        ),
        ("key/suspend", "{\"version\":-1}", "request_malformed"),
        (
            "key/suspend",
            "{\"version\":1,\"x\":1}",
            "request_malformed",
        ),
        (
            "key/suspend",
            "{\"items\":[{\"version\":1}]}",
            "request_malformed",
        ),
        (
            "key/suspend",
            "{\"version\":1,\"despite_use\":true}",
            "value_invalid",
        ),
        ("key/suspend", "{\"version\":0}", "version_not_found"),
        ("key/suspend", "{\"version\":7}", "version_not_found"),
        ("key/destroy", "{\"version\":1}", "state_conflict"),
        ("key/rotate", "{\"version\":1}", "request_malformed"),
        ("key/approve", "{\"version\":1}", "request_malformed"),
        (
            "key/approve",
            "{\"order\":\"suspend\",\"version\":1}",
            "request_malformed",
        ),
    ] {
        let got = wire.post(&path(EXCHANGE, action), body.to_owned());
        assert_eq!(got.code(), expected, "{action} {body}");
    }
    assert_eq!(site.node().admin().shared().snapshot().epoch, epoch);
    site.stop().verify();
}

#[test]
fn two_principals_approve_what_a_third_orders() {
    let site = Site::start();
    let rules = RuleChanges {
        two_approvals: Some(true),
        ..RuleChanges::default()
    };
    let order = Order::ContextSet {
        tenant: name("default"),
        name: name(EXCHANGE),
        rules,
    };
    site.node().carry_out(order).unwrap();
    grant(&site, TRADING, EXCHANGE, &KEEPER);
    grant(&site, TRADING, EXCHANGE, &["key-approve"]);
    grant(&site, WEB, EXCHANGE, &["key-approve"]);
    let (trading, web) = (site.client(TRADING), site.client(WEB));
    let context = name(EXCHANGE);
    trading.key_rotate(&context).unwrap();
    let approval = ApproveOrder {
        order: Approvable::ScheduleDestroy,
        version: Some(KeyVersion::FIRST),
        all: false,
    };
    let schedule = || trading.key_order(&context, KeyAction::ScheduleDestroy, one(1));
    assert_eq!(refused(schedule()), Code::ApprovalMissing);
    let first = trading.key_approve(&context, approval).unwrap();
    let second = web.key_approve(&context, approval).unwrap();
    assert_ne!(first.approval, second.approval);
    // Trading approves its own order: that is one of two.
    assert_eq!(refused(schedule()), Code::ApprovalMissing);
    // To the owner of the home both are others.
    let order = Order::KeyLife {
        tenant: name("default"),
        name: name(EXCHANGE),
        life: keywright_home::Life::ScheduleDestroy,
        version: Some(KeyVersion::FIRST),
        despite_use: false,
    };
    let Answer::KeyChanged { versions } = site.node().carry_out(order).unwrap() else {
        panic!()
    };
    assert_eq!(versions[0].state, State::DestroyScheduled);
    let home = site.stop();
    let approvals = home.records().into_iter().filter(|one| {
        one["operation"] == "key-approve" && one["type"] == "order-after" && one["outcome"] == "ok"
    });
    assert_eq!(approvals.count(), 2);
    home.verify();
}

#[test]
fn counters_show_who_uses_what_and_outlive_a_stop() {
    let site = Site::start();
    grant(&site, TRADING, EXCHANGE, &KEEPER);
    let trading = site.client(TRADING);
    let context = name(EXCHANGE);
    let old = sealed(&trading, EXCHANGE).unwrap();
    trading.key_rotate(&context).unwrap();
    for _ in 0..3 {
        opened(&trading, &old).unwrap();
    }
    let item = keywright_client::Open {
        ciphertext: &old,
        aad: None,
    };
    trading.rewrap(&context, item).unwrap();
    let counted = |client: &blocking::Client| {
        let answer = client.key_versions(&context).unwrap();
        let numbers = answer.versions.iter();
        numbers
            .map(|one| (one.seals, one.opens, one.rewrapped))
            .collect::<Vec<_>>()
    };
    let expected = [(1, 3, 1), (1, 0, 0)];
    // Counters are gathered once a second; ten times that is enough on any machine.
    let mut seen = counted(&trading);
    for _ in 0..100 {
        if seen == expected {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
        seen = counted(&trading);
    }
    assert_eq!(seen, expected);
    // Only the old one was opened; the last use of the new one is a seal.
    let answer = trading.key_versions(&context).unwrap();
    let times = answer.versions.iter();
    let times: Vec<_> = times
        .map(|one| (one.last_use.is_some(), one.last_open.is_some()))
        .collect();
    assert_eq!(times, [(true, true), (true, false)]);
    drop(trading);
    let site = Site::over(site.stop());
    assert_eq!(counted(&site.client(TRADING)), expected);
    site.stop();
}

#[test]
fn a_wallet_is_suspended_and_deleted_as_a_whole_and_never_rotated() {
    let site = Site::start();
    let detail = Detail::Tree(TreeDetail {
        seed: "raw".to_owned(),
        soft_children: false,
    });
    let spec = KeySpec {
        purpose: Purpose::Tree,
        algorithm: Algorithm::Slip10Ed25519,
        ..KeySpec::seal()
    };
    let order = Order::ContextCreate {
        tenant: name("default"),
        name: name("wallet"),
        binding: keywright_types::BindingKind::None,
        spec,
        rules: keywright_custody::Rules::default(),
        detail: Some(detail),
        secret: None,
    };
    site.node().carry_out(order).unwrap();
    grant(&site, TRADING, "wallet", &KEEPER);
    grant(&site, TRADING, "wallet", &["sign"]);
    let trading = site.client(TRADING);
    let wallet = name("wallet");
    let sign = || {
        let item = Sign {
            what: Signing::Message(b"m"),
            path: Some("m/44'/0'"),
            form: None,
        };
        trading.sign(&wallet, item)
    };
    sign().unwrap();
    let give = |action| trading.key_order(&wallet, action, WHOLE);
    // A tree has one seed for ever.
    assert_eq!(refused(trading.key_rotate(&wallet)), Code::Unsupported);
    let every = Order::ContextSet {
        tenant: name("default"),
        name: name("wallet"),
        rules: RuleChanges {
            rotation: Some(keywright_home::Rotation::EveryDays(30)),
            ..RuleChanges::default()
        },
    };
    assert!(site.node().carry_out(every).is_err());
    // What is in use is not scheduled.
    assert_eq!(
        refused(give(KeyAction::ScheduleDestroy)),
        Code::StateConflict
    );
    give(KeyAction::Suspend).unwrap();
    assert_eq!(refused(sign()), Code::NoActiveVersion);
    give(KeyAction::Resume).unwrap();
    sign().unwrap();
    give(KeyAction::Suspend).unwrap();
    let scheduled = give(KeyAction::ScheduleDestroy).unwrap();
    assert_eq!(scheduled[0].state, State::DestroyScheduled);
    assert_eq!(refused(sign()), Code::NoActiveVersion);
    assert_eq!(refused(give(KeyAction::Destroy)), Code::NotYetDue);
    site.stop().verify();
}

/// What a wallet shows of itself: public keys at a few paths.
fn public_keys(client: &blocking::Client, wallet: &str) -> Vec<Vec<u8>> {
    let paths = ["m/44'/0'", "m/44'/501'/7'/0'", "m/0'", "m/2147483647'"];
    paths
        .into_iter()
        .map(|path| {
            let which = keywright_client::Which {
                path: Some(path),
                key_version: None,
            };
            client.public_key(&name(wallet), which).unwrap().public_key
        })
        .collect()
}

fn wallet(export: keywright_types::Export, secret: Option<&SecretBytes>) -> Order {
    let detail = Detail::Tree(TreeDetail {
        seed: "raw".to_owned(),
        soft_children: false,
    });
    let origin = match secret {
        Some(_) => keywright_types::Origin::Imported,
        None => keywright_types::Origin::Generated,
    };
    let spec = KeySpec {
        purpose: Purpose::Tree,
        algorithm: Algorithm::Slip10Ed25519,
        export,
        origin,
        ..KeySpec::seal()
    };
    let context = match (secret, export) {
        (Some(_), _) => "restored",
        (None, keywright_types::Export::Never) => "stays",
        _ => "leaves",
    };
    Order::ContextCreate {
        tenant: name("default"),
        name: name(context),
        binding: keywright_types::BindingKind::None,
        spec,
        rules: keywright_custody::Rules::default(),
        detail: Some(detail),
        secret: secret.map(keywright_home::Imported::new),
    }
}

fn export(site: &Site, context: &str, to: &keywright_hpke::PublicKey) -> Result<Vec<u8>, Code> {
    let order = Order::SeedExport {
        tenant: name("default"),
        name: name(context),
        recipients: vec![keywright_home::Recipient::new(to)],
    };
    match site.node().carry_out(order) {
        Ok(Answer::SeedSealed { file }) => Ok(keywright_encoding::base64::decode(&file).unwrap()),
        Err(keywright_home::HomeError::Admin(error)) => Err(error.code()),
        other => panic!("{other:?}"),
    }
}

/// The restore drill: what is sealed to a key elsewhere brings every key of the wallet back, and nothing else does.
#[test]
fn a_wallet_comes_back_whole_from_its_sealed_seed_and_never_from_one_that_stays() {
    use keywright_types::Export;

    let site = Site::start();
    for order in [wallet(Export::Sealed, None), wallet(Export::Never, None)] {
        site.node().carry_out(order).unwrap();
    }
    grant(&site, TRADING, "leaves", &["public-key", "key-export"]);
    let client = site.client(TRADING);
    let expected = public_keys(&client, "leaves");
    let kem = keywright_hpke::Kem::X25519HkdfSha256;
    let owner = keywright_hpke::PrivateKey::generate(kem).unwrap();
    assert_eq!(
        export(&site, "stays", owner.public_key()),
        Err(Code::OperationDenied)
    );
    assert_eq!(
        export(&site, EXCHANGE, owner.public_key()),
        Err(Code::Unsupported)
    );
    let file = export(&site, "leaves", owner.public_key()).unwrap();
    // Sealed is not plain: no route gives a private key out.
    let private = client.key_export(&name("leaves"), "m/0'");
    assert_eq!(refused(private), Code::Unsupported);
    let text = open_file(&file, &owner);
    let other = keywright_hpke::PrivateKey::generate(kem).unwrap();
    let header = keywright_container::FileHeader::read_from(&mut &file[..]).unwrap();
    assert!(
        header
            .open_with_private_key(&other, &Default::default())
            .is_err()
    );
    let seed = text.lines().find_map(|line| line.strip_prefix("seed "));
    let seed = keywright_encoding::hex::decode(seed.unwrap()).unwrap();
    let home = site.stop();
    check_export(&home, &seed);
    drop(home);
    // Another machine, which has nothing but the file and its key.
    let elsewhere = Site::start();
    let seed = SecretBytes::from_vec(seed);
    let order = wallet(Export::Never, Some(&seed));
    elsewhere.node().carry_out(order).unwrap();
    grant(&elsewhere, TRADING, "restored", &["public-key"]);
    let restored = public_keys(&elsewhere.client(TRADING), "restored");
    assert_eq!(restored, expected);
    elsewhere.stop();
}

pub(crate) fn open_file(file: &[u8], key: &keywright_hpke::PrivateKey) -> String {
    let mut rest = file;
    let header = keywright_container::FileHeader::read_from(&mut rest).unwrap();
    let key = header.open_with_private_key(key, &Default::default());
    let (key, mut text) = (key.unwrap(), Vec::new());
    let aad = keywright_envelope::Aad::EMPTY;
    keywright_container::open(&mut rest, &mut text, &header, &key, &aad, &mut |_| ()).unwrap();
    String::from_utf8(text).unwrap()
}

/// Each try is in the log with its outcome, and the seed in nothing that is on the disk.
fn check_export(home: &Home, seed: &[u8]) {
    let ends = home.records().into_iter();
    let ends = ends.filter(|one| one["operation"] == "key-export" && one["type"] == "order-after");
    let outcomes: Vec<_> = ends
        .map(|one| one["outcome"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(outcomes, ["operation_denied", "unsupported", "ok"]);
    home.verify();
    let hex = keywright_encoding::hex::encode(seed).into_bytes();
    let base64 = keywright_encoding::base64::encode(seed).into_bytes();
    let mut folders = vec![home.path()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
                continue;
            }
            let bytes = std::fs::read(entry.path()).unwrap();
            for form in [seed, &hex[..], &base64[..]] {
                let found = bytes.windows(form.len()).any(|window| window == form);
                assert!(!found, "{}", entry.path().display());
            }
        }
    }
}
