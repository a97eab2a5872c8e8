//! The same with keys that are in a token already and never leave it: found by label and id, held against a check value
//! (C4, C7).

use keywright_custody::ReaderDetail;
use keywright_custody::reader::FormerName;
use keywright_encoding::base64;
use keywright_envelope::Envelope;
use keywright_home::{Answer, Life, Order};
use keywright_pkcs11::{
    Access, Credential, KeyPlan, Module, Pin, Purpose, SecretKind, Session, Template, TokenQuery,
    User,
};
use keywright_secret::SecretBytes;
use keywright_tokens::{Store, on_each};
use keywright_types::{Algorithm, BindingKind, Custody, KeySpec, KeyVersion, Suite};
use serde_json::json;

use super::scene::*;
use crate::fixture::*;
use crate::tokens::apart::as_this_program;
use crate::tokens::scene::section;

const CONTEXTS: [(&str, BindingKind); 2] = [
    ("trade", BindingKind::Group),
    ("codes", BindingKind::Principal),
];

/// A session of a program beside the node.
fn session(store: &Store) -> Session {
    let token = &store.tokens()[0];
    let module = Module::load(token.module()).unwrap();
    let found = module
        .find_token(&TokenQuery::label(token.label()))
        .unwrap();
    let session = found.open_for(Access::Write).unwrap();
    let pin = Pin::from_line(token.user_pin().as_bytes().to_vec());
    // The node may have logged in the application already.
    drop(session.login(User::User, Credential::Pin(&pin)));
    session
}

/// A key as that service's tool made it: AES-256, to encrypt, decrypt, wrap and unwrap, with the clock as its id.
fn put(session: &Session, label: &str, id: &[u8], secret: &[u8; 32]) {
    let plan = KeyPlan::new(Purpose::EncryptAndWrap).id(id).label(label);
    let key = SecretBytes::from_vec(secret.to_vec());
    session
        .import_secret(SecretKind::Aes { len: 32 }, &key, &plan)
        .unwrap();
}

/// In which process the token's module runs.
const PLACES: [&str; 2] = ["", "process = \"child\""];

/// The demonstration with the token, contexts in it, and both keys in the token. The contexts have other names here
/// than there.
fn site(store: &Store) -> Site {
    site_with(store, PLACES[0])
}

fn site_with(store: &Store, place: &str) -> Site {
    as_this_program();
    {
        let session = session(store);
        put(&session, V1.label, b"1737000000000000001", &V1.secret());
        put(&session, V2.label, b"1737000000000000002", &V2.secret());
    }
    let home = open_home().configure("[audit]", &section(store, place));
    let site = Site::over(home);
    for (context, binding) in CONTEXTS {
        let order = Order::ContextCreate {
            tenant: name("default"),
            name: name(context),
            binding,
            spec: KeySpec {
                algorithm: Algorithm::TokenGcm12,
                custody: Custody::Token,
                ..KeySpec::seal()
            },
            rules: keywright_custody::Rules::default(),
            detail: None,
            secret: None,
        };
        site.node().carry_out(order).unwrap();
        crate::tokens::scene::allow(&site, context);
    }
    join(&site, "first", ("f1", "2FA"), &[]);
    join(&site, "trader", ("t1", "Trading"), &[]);
    site
}

fn bind(site: &Site, context: &str, reader: ReaderDetail) -> Result<KeyVersion, String> {
    order(site, context, reader, None).map_err(|error| error.to_string())
}

#[test]
fn v1_to_v3_and_their_negatives_with_keys_that_stay_in_the_token() {
    on_each(|store| v1_to_v3(store, PLACES[0]));
}

#[test]
fn v1_to_v3_and_their_negatives_with_keys_in_the_token_of_a_child() {
    on_each(|store| v1_to_v3(store, PLACES[1]));
}

fn v1_to_v3(store: &Store, place: &str) {
    let site = site_with(store, place);
    bind(&site, "trade", V1.reader()).unwrap();
    bind(&site, "codes", V2.reader()).unwrap();
    let (mut t1, mut f1) = (site.wire("t1", BOTH[0]), site.wire("f1", BOTH[0]));
    let sealed = V1.sealed();
    assert_opens(&decrypt(&mut t1, "trade", &sealed, V1.label), V1.text);
    for vector in [V2, V3] {
        let got = decrypt(&mut f1, "codes", &vector.sealed(), vector.label);
        assert_opens(&got, vector.text);
    }
    for place in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[place] ^= 1;
        let got = decrypt(&mut t1, "trade", &changed, V1.label);
        assert_opaque(&got, &format!("byte {place}"));
        let got = decrypt(&mut t1, "trade", &sealed[..place], V1.label);
        assert_opaque(&got, &format!("cut to {place}"));
    }
    assert_opaque(&decrypt(&mut f1, "codes", &sealed, V2.label), "key a0..bf");
    let got = decrypt(&mut f1, "trade", &sealed, V1.label);
    assert_opaque(&got, "another unit");
    // After all of that the token still works, and a former name is tried as one of eight.
    join(
        &site,
        "renewed",
        ("f2", "2FA"),
        &["a", "b", "c", "d", "e", "f", "f1"],
    );
    let mut f2 = site.wire("f2", BOTH[0]);
    assert_opens(&decrypt(&mut f2, "codes", &V2.sealed(), V2.label), V2.text);
    // And again after a restart, where the key is held against its check value.
    let site = Site::over(site.stop());
    assert_eq!(site.serving().unfit_keys(), []);
    let mut f1 = site.wire("f1", BOTH[0]);
    assert_opens(&decrypt(&mut f1, "codes", &V2.sealed(), V2.label), V2.text);
    site.stop().verify();
}

#[test]
fn rewrap_in_the_token_gives_envelopes_and_reads_nonces_of_its_one_length() {
    on_each(|store| rewrap(store, PLACES[0]));
}

#[test]
fn rewrap_in_the_token_of_a_child_gives_the_same_envelopes() {
    on_each(|store| rewrap(store, PLACES[1]));
}

fn rewrap(store: &Store, place: &str) {
    let site = site_with(store, place);
    bind(&site, "codes", V2.reader()).unwrap();
    let mut f1 = site.wire("f1", BOTH[0]);
    let old = json!({ "ciphertext": base64::encode(&V2.sealed()), "key_id": V2.label });
    let got = f1.post(&path("codes", "rewrap"), old.to_string());
    assert_eq!(got.status, 200, "{}", got.json());
    let envelope = got.binary("ciphertext");
    let header = *Envelope::parse(&envelope).unwrap().header();
    assert_eq!(header.suite, Suite::TokenGcm12);
    let label = format!("kw1.{}.1", header.key);
    assert_opens(&decrypt(&mut f1, "codes", &envelope, &label), V2.text);
    let changed = json!({ "ciphertext": base64::encode(&V1.sealed()), "key_id": V2.label });
    let got = f1.post(&path("codes", "rewrap"), changed.to_string());
    assert_eq!(got.code(), "decryption_failed");
    site.stop();
}

#[test]
fn a_key_is_bound_by_exactly_one_label_and_its_id() {
    on_each(|store| bound_by_label_and_id(store, PLACES[0]));
}

#[test]
fn a_key_in_the_token_of_a_child_is_bound_by_exactly_one_label_and_its_id() {
    on_each(|store| bound_by_label_and_id(store, PLACES[1]));
}

fn bound_by_label_and_id(store: &Store, place: &str) {
    let site = site_with(store, place);
    let none = ReaderDetail {
        label: "kek-exchange-key-v2".to_owned(),
        ..V1.reader()
    };
    assert_eq!(
        bind(&site, "trade", none).unwrap_err(),
        "the token has no secret key labelled \"kek-exchange-key-v2\""
    );
    let other = ReaderDetail {
        object: Some("00".parse().unwrap()),
        ..V1.reader()
    };
    let another = bind(&site, "trade", other).unwrap_err();
    assert!(another.ends_with(" with id 00"), "{another}");
    {
        let session = session(store);
        put(&session, "twin", b"1", &V1.secret());
        put(&session, "twin", b"2", &V1.secret());
        put(&session, "no-id", b"", &V1.secret());
    }
    for (label, says) in [
        ("twin", "more than one secret key labelled \"twin\""),
        ("no-id", "labelled \"no-id\" has no id"),
    ] {
        let reader = ReaderDetail {
            label: label.to_owned(),
            ..V1.reader()
        };
        let refused = bind(&site, "trade", reader).unwrap_err();
        assert!(refused.contains(says), "{refused} (D9)");
    }
    // With its id the right one is bound, and only in a context whose keys are in the token.
    let right = ReaderDetail {
        object: Some(
            keywright_custody::reader::ObjectId::new(b"1737000000000000001".to_vec()).unwrap(),
        ),
        ..V1.reader()
    };
    assert!(
        bind(&site, EXCHANGE, right.clone()).is_err(),
        "a wrapped context"
    );
    bind(&site, "trade", right).unwrap();
    let Answer::Contexts { contexts } = site
        .node()
        .carry_out(Order::Contexts {
            tenant: name("default"),
            name: Some(name("trade")),
        })
        .unwrap()
    else {
        panic!()
    };
    assert_eq!(
        contexts[0].versions.len(),
        2,
        "what was refused left nothing"
    );
    site.stop();
}

#[test]
fn a_key_that_was_replaced_reads_nothing_and_says_so() {
    on_each(|store| {
        let site = site(store);
        bind(&site, "trade", V1.reader()).unwrap();
        let home = site.stop();
        {
            let session = session(store);
            let template = Template::new().label(V1.label);
            let object = session.find_one(&template).unwrap();
            session.destroy_object(object).unwrap();
            // The same label, the same id, the check of labels would pass (D4).
            put(&session, V1.label, b"1737000000000000001", &V2.secret());
        }
        let site = Site::over(home);
        assert_eq!(site.serving().unfit_keys().len(), 1);
        let mut t1 = site.wire("t1", BOTH[0]);
        let got = decrypt(&mut t1, "trade", &V1.sealed(), V1.label);
        assert_eq!(
            (got.status, &got.json()["code"]),
            (503, &json!("holder_unavailable"))
        );
        site.stop();
    });
}

#[test]
fn a_version_whose_end_is_ordered_leaves_the_key_where_it_is_until_its_day() {
    on_each(|store| {
        let site = site(store);
        let wrong = ReaderDetail {
            name: FormerName::CommonName,
            context: "trade".to_owned(),
            ..V1.reader()
        };
        bind(&site, "trade", wrong).unwrap();
        let end = Order::KeyLife {
            tenant: name("default"),
            name: name("trade"),
            life: Life::ScheduleDestroy,
            version: Some(KeyVersion::from_number(2)),
            despite_use: false,
        };
        site.node().carry_out(end).unwrap();
        // A label is given out once, also to whoever was brought in by mistake.
        assert!(bind(&site, "trade", V1.reader()).is_err());
        site.stop();
        let session = session(store);
        let template = Template::new().label(V1.label).id(b"1737000000000000001");
        session.find_one(&template).unwrap();
    });
}
