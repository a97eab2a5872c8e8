//! How often a version may be used, where its owner has said it (design 7.19; rows D14, S9).

use keywright_home::{Answer, HomeError, Order, RuleChanges};
use keywright_policy::{ContextPattern, Effect, Grant};
use keywright_tls::Protocol;
use keywright_types::{Algorithm, BindingKind, KeySpec, KeyVersion, Operation, Purpose};

use crate::fixture::*;

fn limit(
    site: &Site,
    context: &str,
    soft: Option<u64>,
    hard: Option<u64>,
) -> Result<(), HomeError> {
    let order = Order::ContextSet {
        tenant: name("default"),
        name: name(context),
        rules: RuleChanges {
            rotate_after_uses: soft,
            refuse_after_uses: hard,
            ..RuleChanges::default()
        },
    };
    site.node().carry_out(order).map(drop)
}

fn make(site: &Site, context: &str, purpose: Purpose, algorithm: Algorithm) {
    let made = site.node().carry_out(Order::ContextCreate {
        tenant: name("default"),
        name: name(context),
        binding: BindingKind::None,
        spec: KeySpec {
            purpose,
            algorithm,
            ..KeySpec::seal()
        },
        rules: keywright_custody::Rules::default(),
        detail: None,
        secret: None,
    });
    assert!(
        matches!(made, Ok(Answer::ContextCreated { .. })),
        "{made:?}"
    );
    site.change_policy(|document| {
        document.grants.push(Grant {
            tenant: name("default"),
            principals: vec![name(TRADING)],
            groups: Vec::new(),
            effect: Effect::Allow,
            operations: vec![Operation::Sign, Operation::Verify, Operation::Mac],
            contexts: vec![ContextPattern::Exact(name(context))],
            paths: Vec::new(),
        });
    });
}

fn encrypt(wire: &mut Wire, items: usize) -> Got {
    let one = || item(&[("plaintext", b"x")]);
    let body = match items {
        1 => one(),
        many => batch((0..many).map(|_| one())),
    };
    wire.post(&path(EXCHANGE, "encrypt"), body)
}

#[test]
fn a_version_makes_as_much_as_it_may_and_not_one_more_whatever_makes_it() {
    let site = Site::start();
    limit(&site, EXCHANGE, None, Some(1_000)).unwrap();
    let mut wire = site.wire(TRADING, Protocol::Http2);
    let sealed = seal(&mut wire, EXCHANGE, b"kept", b"");
    assert_eq!(encrypt(&mut wire, 990).code(), "ok");
    // A stream is one use, a data key is, and what is moved to the version is.
    let stream = wire.post(&path(EXCHANGE, "encrypt/stream"), "bytes");
    assert_eq!(stream.status, 200);
    assert_eq!(wire.post(&path(EXCHANGE, "datakey"), "{}").code(), "ok");
    let rewrap = || item(&[("ciphertext", &sealed)]);
    assert_eq!(wire.post(&path(EXCHANGE, "rewrap"), rewrap()).code(), "ok");
    assert_eq!(encrypt(&mut wire, 7).code(), "no_active_version");
    for _ in 0..6 {
        assert_eq!(encrypt(&mut wire, 1).code(), "ok");
    }
    for _ in 0..20 {
        assert_eq!(encrypt(&mut wire, 1).code(), "no_active_version");
    }
    for (action, body) in [
        ("encrypt/stream", "bytes".to_owned()),
        ("datakey", "{}".to_owned()),
        ("rewrap", rewrap()),
    ] {
        assert_eq!(
            wire.post(&path(EXCHANGE, action), body).code(),
            "no_active_version",
            "{action}"
        );
    }
    // What is there goes on opening, and another version has uses of its own.
    let opened = wire.post(&path(EXCHANGE, "decrypt"), rewrap());
    assert_eq!(opened.binary("plaintext"), b"kept");
    site.node()
        .admin()
        .rotate(&name("default"), &name(EXCHANGE))
        .unwrap();
    assert_eq!(encrypt(&mut wire, 1_000).code(), "ok");
    assert_eq!(encrypt(&mut wire, 1).code(), "no_active_version");
    limit(&site, EXCHANGE, None, Some(0)).unwrap();
    assert_eq!(encrypt(&mut wire, 1).code(), "ok");
    site.stop().verify();
}

#[test]
fn after_a_crash_no_use_is_had_twice() {
    let home = Home::demo();
    let node = home.open().unwrap();
    let site = Site::serve(home, &node);
    limit(&site, EXCHANGE, None, Some(1_000)).unwrap();
    drop(node);
    let home = site.stop();
    let mut made = 0;
    // Each of these ends without a word to the store, and wastes a hundredth at most.
    for _ in 0..4 {
        let served = Served::start(&home.path());
        let tls = home.tls(Some(home.identity(TRADING)), Protocol::Http2);
        let mut wire = Wire::connect(served.address, tls).unwrap();
        for _ in 0..55 {
            assert_eq!(encrypt(&mut wire, 1).code(), "ok");
            made += 1;
        }
        served.kill();
    }
    let site = Site::over(home);
    let mut wire = site.wire(TRADING, Protocol::Http2);
    while encrypt(&mut wire, 1).code() == "ok" {
        made += 1;
        assert!(made <= 1_000, "one use too many");
    }
    assert!(
        made >= 1_000 - 4 * 10,
        "{made}: a crash wastes no more than a block"
    );
    site.stop().verify();
}

#[test]
fn where_it_is_used_enough_a_key_is_rotated_by_the_node() {
    let site = Site::start();
    limit(&site, EXCHANGE, Some(200), Some(100_000)).unwrap();
    let mut wire = site.wire(TRADING, Protocol::Http2);
    let sealed = seal(&mut wire, EXCHANGE, b"kept", b"");
    let versions = |site: &Site| {
        let admin = site.node().admin();
        let tenant = admin.tenant(&name("default")).unwrap();
        admin
            .find(&tenant, &name(EXCHANGE))
            .unwrap()
            .versions()
            .len()
    };
    let mut used = 1;
    while versions(&site) == 1 {
        assert!(used < 50_000, "not rotated");
        assert_eq!(encrypt(&mut wire, 1).code(), "ok");
        used += 1;
    }
    assert!(used >= 200, "{used}");
    let opened = wire.post(&path(EXCHANGE, "decrypt"), item(&[("ciphertext", &sealed)]));
    assert_eq!(opened.binary("plaintext"), b"kept");
    assert_eq!(encrypt(&mut wire, 1).json()["key_version"], 2);
    let home = site.stop();
    let rotated = home.records().into_iter().filter(|one| {
        one["operation"] == "key-rotate" && one["type"] == "order-after" && one["outcome"] == "ok"
    });
    assert_eq!(rotated.count(), 1);
    home.verify();
}

#[test]
fn signatures_and_codes_have_limits_too_and_what_verifies_has_none() {
    let site = Site::start();
    make(&site, "signs", Purpose::Sign, Algorithm::EcdsaP256);
    make(&site, "codes", Purpose::Mac, Algorithm::HmacSha256);
    let mut wire = site.wire(TRADING, Protocol::Http2);
    for (context, action) in [("signs", "sign"), ("codes", "mac")] {
        limit(&site, context, None, Some(3)).unwrap();
        let mut one = || wire.post(&path(context, action), item(&[("message", b"x")]));
        let made: Vec<_> = (0..5).map(|_| one().code()).collect();
        let refused = "no_active_version";
        assert_eq!(made, ["ok", "ok", "ok", refused, refused], "{context}");
    }
    let body = r#"{"message":"eA==","signature":"AAAA","key_version":1}"#;
    for _ in 0..5 {
        assert_eq!(wire.post(&path("signs", "verify"), body).code(), "ok");
    }
    site.stop().verify();
}

#[test]
fn limits_that_mean_nothing_or_rotate_what_is_rotated_by_hand_are_refused() {
    let site = Site::start();
    make(&site, "agrees", Purpose::Agree, Algorithm::X25519);
    make(&site, "equal", Purpose::Deterministic, Algorithm::Aes256Siv);
    for (context, soft, hard) in [
        (EXCHANGE, Some(10), Some(10)),
        (EXCHANGE, Some(11), Some(10)),
        ("agrees", Some(10), None),
        ("agrees", None, Some(10)),
        ("equal", Some(10), None),
        ("equal", Some(10), Some(20)),
        ("nowhere", None, Some(10)),
    ] {
        assert!(
            limit(&site, context, soft, hard).is_err(),
            "{context} {soft:?} {hard:?}"
        );
    }
    for (context, soft, hard) in [
        (EXCHANGE, Some(10), Some(11)),
        (EXCHANGE, Some(0), Some(1)),
        ("equal", None, Some(10)),
    ] {
        limit(&site, context, soft, hard).unwrap();
    }
    let key = site.node().admin().shared().snapshot();
    let tenant = site.node().admin().tenant(&name("default")).unwrap();
    let rules = key
        .keyring
        .find(tenant.id, EXCHANGE)
        .unwrap()
        .rules()
        .clone();
    assert_eq!(
        (rules.rotate_after_uses, rules.refuse_after_uses),
        (None, Some(1))
    );
    assert_eq!(
        key.keyring.find(tenant.id, EXCHANGE).unwrap().min_open(),
        KeyVersion::FIRST
    );
    site.stop();
}
