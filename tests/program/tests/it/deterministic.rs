//! Messages that are sealed so that equal ones look alike, over real TLS: what shows, how far it goes, and who may.

use std::collections::BTreeSet;

use keywright_client::{Batching, Open, Seal};
use keywright_envelope::{Envelope, Identity, derive};
use keywright_home::{Answer, Imported, Order};
use keywright_policy::{ContextPattern, Effect, Grant};
use keywright_secret::SecretBytes;
use keywright_types::{
    Algorithm, BindingKind, Code, Export, KeySpec, Kind, Operation, Origin, Purpose, Suite,
};
use serde_json::json;

use crate::fixture::*;

const CONTEXT: &str = "lookup";
const ALL: [Operation; 3] = [
    Operation::DeterministicEncrypt,
    Operation::DeterministicDecrypt,
    Operation::Rewrap,
];

fn spec() -> KeySpec {
    KeySpec {
        purpose: Purpose::Deterministic,
        algorithm: Algorithm::Aes256Siv,
        ..KeySpec::seal()
    }
}

fn order(
    context: &str,
    spec: KeySpec,
    binding: BindingKind,
    secret: Option<&SecretBytes>,
) -> Order {
    Order::ContextCreate {
        tenant: name("default"),
        name: name(context),
        binding,
        spec,
        rules: keywright_custody::Rules::default(),
        detail: None,
        secret: secret.map(Imported::new),
    }
}

pub(crate) fn make(site: &Site, context: &str, binding: BindingKind) {
    let made = site.node().carry_out(order(context, spec(), binding, None));
    assert!(
        matches!(made, Ok(Answer::ContextCreated { .. })),
        "{made:?}"
    );
}

pub(crate) fn grant(site: &Site, client: &str, context: &str, operations: &[Operation]) {
    site.change_policy(|document| {
        document.grants.push(Grant {
            tenant: name("default"),
            principals: vec![name(client)],
            groups: Vec::new(),
            effect: Effect::Allow,
            operations: operations.to_vec(),
            contexts: vec![ContextPattern::Exact(name(context))],
            paths: Vec::new(),
        });
    });
}

fn text<'a>(plaintext: &'a [u8], aad: Option<&'a [u8]>) -> Seal<'a> {
    Seal { plaintext, aad }
}

fn of<'a>(ciphertext: &'a [u8], aad: Option<&'a [u8]>) -> Open<'a> {
    Open { ciphertext, aad }
}

#[test]
fn equal_texts_have_equal_ciphertexts_and_nothing_else_has() {
    let site = Site::start();
    make(&site, CONTEXT, BindingKind::None);
    make(&site, "other", BindingKind::None);
    make(&site, "bound", BindingKind::Principal);
    for context in [CONTEXT, "other", "bound"] {
        grant(&site, TRADING, context, &ALL);
    }
    let client = site.client(TRADING);
    let seal = |context: &str, item: Seal<'_>| {
        let sealed = client.deterministic_encrypt(&name(context), item).unwrap();
        sealed.ciphertext
    };
    let one = seal(CONTEXT, text(b"anna@example.org", None));
    assert_eq!(seal(CONTEXT, text(b"anna@example.org", None)), one);
    let mut seen = BTreeSet::from([one.clone()]);
    for (context, item) in [
        (CONTEXT, text(b"anna@example.orh", None)),
        (CONTEXT, text(b"anna@example.org", Some(b"row 7"))),
        ("other", text(b"anna@example.org", None)),
        ("bound", text(b"anna@example.org", None)),
    ] {
        assert!(seen.insert(seal(context, item)), "{context}");
    }
    let envelope = Envelope::parse(&one).unwrap();
    assert_eq!(
        (envelope.header().suite, envelope.header().kind),
        (Suite::Siv, Kind::Message)
    );
    let open = |context: &str, item: Open<'_>| {
        let opened = client.deterministic_decrypt(&name(context), item);
        opened
            .map(|opened| opened.plaintext.expose().to_vec())
            .map_err(|error| error.code().unwrap())
    };
    assert_eq!(open(CONTEXT, of(&one, None)).unwrap(), b"anna@example.org");
    let refused = Err(Code::DecryptionFailed);
    assert_eq!(open("other", of(&one, None)), refused);
    assert_eq!(open(CONTEXT, of(&one, Some(b"row 7"))), refused);
    for place in [10, 30, 60, one.len() - 1] {
        let mut changed = one.clone();
        changed[place] ^= 1;
        assert_eq!(open(CONTEXT, of(&changed, None)), refused, "{place}");
    }
    assert_eq!(
        open(CONTEXT, of(b"garbage", None)),
        Err(Code::CiphertextMalformed)
    );
    drop(client);
    site.stop();
}

#[test]
fn a_batch_has_a_result_for_each_item_and_one_message_id_for_equal_texts() {
    let site = Site::start();
    make(&site, CONTEXT, BindingKind::None);
    grant(&site, TRADING, CONTEXT, &ALL);
    let client = site.client(TRADING);
    let context = name(CONTEXT);
    let items = [text(b"a", None), text(b"b", None), text(b"a", None)];
    let sealed: Vec<_> = client
        .deterministic_encrypt_items(&context, &items, Batching::default())
        .unwrap()
        .into_iter()
        .map(|item| item.unwrap().ciphertext)
        .collect();
    assert!(sealed[0] == sealed[2] && sealed[0] != sealed[1]);
    let id = |bytes: &[u8]| *Envelope::parse(bytes).unwrap().message_id().as_bytes();
    assert_eq!(id(&sealed[0]), id(&sealed[2]));
    let garbage = of(b"x", None);
    let items = [of(&sealed[1], None), garbage, of(&sealed[2], None)];
    let opened = client.deterministic_decrypt_items(&context, &items, Batching::default());
    let opened: Vec<_> = opened
        .unwrap()
        .into_iter()
        .map(|item| item.map(|one| one.plaintext.expose().to_vec()))
        .map(|item| item.map_err(|error| error.code().unwrap()))
        .collect();
    assert_eq!(
        opened,
        [
            Ok(b"b".to_vec()),
            Err(Code::CiphertextMalformed),
            Ok(b"a".to_vec())
        ]
    );
    drop(client);
    site.stop();
}

#[test]
fn each_right_is_one_of_its_own_and_keys_do_what_they_are_for_alone() {
    let site = Site::start();
    make(&site, CONTEXT, BindingKind::None);
    grant(&site, TRADING, CONTEXT, &[Operation::DeterministicEncrypt]);
    grant(
        &site,
        WEB,
        CONTEXT,
        &[Operation::Encrypt, Operation::Decrypt],
    );
    grant(&site, TRADING, EXCHANGE, &ALL);
    let mut wire = site.wire(TRADING, BOTH[0]);
    let ask = |wire: &mut Wire, context: &str, action: &str, body: serde_json::Value| {
        let got = wire.post(&path(context, action), body.to_string());
        match got.status {
            200 => (200, String::new()),
            status => (status, got.code()),
        }
    };
    let (seal, open) = (json!({ "plaintext": "YQ==" }), json!({ "ciphertext": "" }));
    let denied = (403, "operation_denied".to_owned());
    let cannot = (400, "unsupported".to_owned());
    let encrypt = "deterministic/encrypt";
    let decrypt = "deterministic/decrypt";
    assert_eq!(ask(&mut wire, CONTEXT, encrypt, seal.clone()).0, 200);
    assert_eq!(ask(&mut wire, CONTEXT, decrypt, open.clone()), denied);
    assert_eq!(ask(&mut wire, CONTEXT, "encrypt", seal.clone()), denied);
    // The right is there, the key is for something else.
    assert_eq!(ask(&mut wire, EXCHANGE, encrypt, seal.clone()), cannot);
    assert_eq!(ask(&mut wire, EXCHANGE, decrypt, open.clone()), cannot);
    let mut web = site.wire(WEB, BOTH[1]);
    assert_eq!(ask(&mut web, CONTEXT, encrypt, seal.clone()), denied);
    assert_eq!(ask(&mut web, CONTEXT, "encrypt", seal.clone()), cannot);
    assert_eq!(ask(&mut web, CONTEXT, "decrypt", open), cannot);
    for body in [
        json!({ "plaintext": "*" }),
        json!({ "plaintext": "YQ==", "nonce": "YQ==" }),
        json!({}),
    ] {
        assert_eq!(ask(&mut wire, CONTEXT, encrypt, body).0, 400);
    }
    drop((wire, web));
    site.stop();
}

#[test]
fn a_new_version_looks_different_opens_both_and_rewrap_moves_to_what_it_would_seal() {
    let site = Site::start();
    make(&site, CONTEXT, BindingKind::None);
    grant(&site, TRADING, CONTEXT, &ALL);
    let (client, context) = (site.client(TRADING), name(CONTEXT));
    let item = text(b"anna", Some(b"t"));
    let old = client.deterministic_encrypt(&context, item).unwrap();
    let tenant = name("default");
    site.node().admin().rotate(&tenant, &context).unwrap();
    let item = text(b"anna", Some(b"t"));
    let new = client.deterministic_encrypt(&context, item).unwrap();
    assert_eq!((old.key_version.number(), new.key_version.number()), (1, 2));
    assert_ne!(old.ciphertext, new.ciphertext);
    let old = old.ciphertext;
    let moved = client.rewrap(&context, of(&old, Some(b"t"))).unwrap();
    assert_eq!(moved.ciphertext, new.ciphertext);
    let opened = client.deterministic_decrypt(&context, of(&old, Some(b"t")));
    assert_eq!(opened.unwrap().plaintext.expose(), b"anna");
    // By hand alone: whoever looks for old ciphertexts must know when they change.
    let rules = Order::ContextSet {
        tenant,
        name: context,
        rules: keywright_home::RuleChanges {
            rotation: Some(keywright_home::Rotation::EveryDays(30)),
            ..keywright_home::RuleChanges::default()
        },
    };
    assert!(site.node().carry_out(rules).is_err());
    drop(client);
    site.stop();
}

#[test]
fn a_key_that_is_brought_in_seals_as_the_second_implementation_does_with_it() {
    let site = Site::start();
    let secret = SecretBytes::from_vec((0..32).collect());
    let imported = KeySpec {
        origin: Origin::Imported,
        ..spec()
    };
    let made = site
        .node()
        .carry_out(order(CONTEXT, imported, BindingKind::None, Some(&secret)));
    assert!(made.is_ok());
    grant(&site, TRADING, CONTEXT, &ALL);
    let client = site.client(TRADING);
    let item = text(b"hello", Some(b"row 7"));
    let sealed = client.deterministic_encrypt(&name(CONTEXT), item).unwrap();
    let envelope = Envelope::parse(&sealed.ciphertext).unwrap();
    let identity: Identity = envelope.header().identity();
    let key: [u8; 32] = secret.expose().try_into().unwrap();
    // The key alone opens it: what vectors say of suite 5 is true of what the service makes.
    let (_, opening) = derive(&key, identity).unwrap();
    let aad = keywright_envelope::Aad::EMPTY.caller(b"row 7").unwrap();
    let mut opened = Vec::new();
    opening.open_into(&envelope, &aad, &mut opened).unwrap();
    assert_eq!(opened, b"hello");
    for (bad, spec) in [
        (vec![1; 31], imported),
        (vec![1; 64], imported),
        (
            vec![1; 32],
            KeySpec {
                algorithm: Algorithm::Xaes256Gcm,
                ..imported
            },
        ),
        (
            vec![1; 32],
            KeySpec {
                purpose: Purpose::Seal,
                ..imported
            },
        ),
        (
            vec![1; 32],
            KeySpec {
                custody: keywright_types::Custody::Token,
                export: Export::Never,
                ..imported
            },
        ),
    ] {
        let bad = SecretBytes::from_vec(bad);
        let made = site
            .node()
            .carry_out(order("bad", spec, BindingKind::None, Some(&bad)));
        assert!(made.is_err(), "{spec:?}");
    }
    drop(client);
    site.stop();
}
