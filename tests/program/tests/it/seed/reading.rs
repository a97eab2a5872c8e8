//! What the seed service sealed opens with a key that was brought in, for whom it was sealed, and for nobody else
//! (C3, C4, C6; V1 to V3 and their negatives).

use keywright_custody::ReaderDetail;
use keywright_custody::reader::{FormerName, NonceLen};
use keywright_encoding::base64;
use keywright_envelope::{Binding, Envelope};
use keywright_home::{Answer, Life, Order, RuleChanges};
use keywright_policy::Legacy;
use keywright_primitives::aead::Aes256Gcm;
use keywright_types::{KeyVersion, State};
use serde_json::json;

use super::scene::*;
use crate::fixture::*;

/// A site where `f1` and `t1` are clients, as where the vectors come from.
fn site() -> Site {
    let site = open_site();
    join(&site, "first", ("f1", "2FA"), &[]);
    join(&site, "trader", ("t1", "Trading"), &[]);
    site
}

#[test]
fn v1_v2_and_v3_open_for_whom_they_were_sealed_over_both_protocols() {
    let site = site();
    for protocol in BOTH {
        let (mut t1, mut f1) = (site.wire("t1", protocol), site.wire("f1", protocol));
        // Shared: for everybody of the unit. Private: for one client.
        let mut other = site.wire(TRADING, protocol);
        for wire in [&mut t1, &mut other] {
            let got = decrypt(wire, V1.context, &V1.sealed(), V1.label);
            assert_opens(&got, V1.text);
        }
        for vector in [V2, V3] {
            let got = decrypt(&mut f1, vector.context, &vector.sealed(), vector.label);
            assert_opens(&got, vector.text);
        }
        let mut web = site.wire(WEB, protocol);
        for vector in [V2, V3] {
            let got = decrypt(&mut web, vector.context, &vector.sealed(), vector.label);
            assert_opaque(&got, "another client of the unit");
        }
    }
    // As before after a restart: what was brought in is in the store.
    let site = Site::over(site.stop());
    let mut f1 = site.wire("f1", BOTH[0]);
    assert_opens(
        &decrypt(&mut f1, V2.context, &V2.sealed(), V2.label),
        V2.text,
    );
    let home = site.stop();
    home.verify();
    let records = home.records();
    let named = records
        .iter()
        .filter(|record| record["operation"] == "reader-import");
    assert!(named.count() >= 2);
    let opened = records
        .iter()
        .filter(|record| record["operation"] == "decrypt" && field(record, "message-id").is_some());
    assert!(opened.count() >= 8, "who opened it has an answer");
}

#[test]
fn v1_cut_or_changed_anywhere_is_one_opaque_failure() {
    let site = site();
    let mut wire = site.wire("t1", BOTH[0]);
    let sealed = V1.sealed();
    for place in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[place] ^= 1;
        let got = decrypt(&mut wire, V1.context, &changed, V1.label);
        assert_opaque(&got, &format!("byte {place} changed"));
        let got = decrypt(&mut wire, V1.context, &sealed[..place], V1.label);
        assert_opaque(&got, &format!("cut to {place}"));
    }
    let longer = [&sealed[..], &[0]].concat();
    assert_opaque(&decrypt(&mut wire, V1.context, &longer, V1.label), "longer");
    assert_opens(&decrypt(&mut wire, V1.context, &sealed, V1.label), V1.text);
    site.stop();
}

#[test]
fn a_nonce_of_12_bytes_another_key_another_name_and_another_context_do_not_open_v1() {
    let site = site();
    let mut wire = site.wire("t1", BOTH[0]);
    let mut label = 0;
    let mut with = |change: &dyn Fn(&mut ReaderDetail), secret: [u8; 32]| {
        label += 1;
        let mut reader = V1.reader();
        reader.label = format!("other-{label}");
        change(&mut reader);
        import(&site, V1.context, reader.clone(), &secret).unwrap();
        decrypt(&mut wire, V1.context, &V1.sealed(), &reader.label)
    };
    let right = V1.secret();
    let twelve = with(&|reader| reader.nonce = NonceLen::Twelve, right);
    assert_opaque(&twelve, "12 bytes");
    assert_opaque(&with(&|_| (), V2.secret()), "key a0..bf");
    // X is the common name, `t1`, and not the unit.
    let private = with(&|reader| reader.name = FormerName::CommonName, right);
    assert_opaque(&private, "X=t1");
    let elsewhere = with(&|reader| reader.context = "exchange-kez".to_owned(), right);
    assert_opaque(&elsewhere, "another context");
    assert_opens(&with(&|_| (), right), V1.text);
    site.stop();
}

#[test]
fn a_key_that_was_brought_in_for_nonces_of_12_bytes_reads_those_and_no_others() {
    let site = site();
    let mut wire = site.wire("t1", BOTH[0]);
    let reader = ReaderDetail {
        label: "twelve".to_owned(),
        nonce: NonceLen::Twelve,
        ..V1.reader()
    };
    import(&site, V1.context, reader.clone(), &V1.secret()).unwrap();
    let (nonce, mut body) = ([7; 12], b"as its documents say".to_vec());
    let key = Aes256Gcm::new(&V1.secret()).unwrap();
    let tag = key.seal(&nonce, &reader.aad("Trading"), &mut body).unwrap();
    let sealed = [&nonce[..], &body, &tag].concat();
    let opened = decrypt(&mut wire, V1.context, &sealed, "twelve");
    assert_opens(&opened, b"as its documents say");
    assert_opaque(&decrypt(&mut wire, V1.context, &sealed, V1.label), "as 16");
    assert_opaque(
        &decrypt(&mut wire, V1.context, &V1.sealed(), "twelve"),
        "as 12",
    );
    site.stop();
}

#[test]
fn the_label_alone_says_who_reads_and_must_be_the_envelopes_own() {
    let site = site();
    let mut wire = site.wire("t1", BOTH[0]);
    let body = json!({ "context": EXCHANGE, "plaintext": base64::encode(b"new") });
    let got = wire.post("/encrypt", body.to_string());
    assert_eq!(got.status, 200, "{}", got.json());
    let (envelope, label) = (got.binary("ciphertext"), got.json()["key_id"].clone());
    let label = label.as_str().unwrap();
    let header = *Envelope::parse(&envelope).unwrap().header();
    assert_eq!(label, format!("kw1.{}.1", header.key));
    assert_opens(&decrypt(&mut wire, EXCHANGE, &envelope, label), b"new");
    // An envelope under a label that was brought in, and the other way round.
    assert_opaque(
        &decrypt(&mut wire, EXCHANGE, &envelope, V1.label),
        "envelope",
    );
    let old = decrypt(&mut wire, EXCHANGE, &V1.sealed(), label);
    assert_eq!(
        (old.status, String::from_utf8_lossy(&old.body).as_ref()),
        (400, refused("ciphertext_malformed").as_str())
    );
    for other in [
        "",
        "kw1.",
        "kek-exchange-key-v2",
        "KEK-exchange-key-v1",
        "kek-exchange-key-v1 ",
        // A key of another context: it is not asked for (D11).
        V2.label,
        &format!("kw1.{}.2", header.key),
        &format!("kw1.{}.01", header.key),
        &format!("kw1.{}.1", "0".repeat(32)),
    ] {
        assert_opaque(&decrypt(&mut wire, EXCHANGE, &envelope, other), other);
        let old = decrypt(&mut wire, EXCHANGE, &V1.sealed(), other);
        assert_eq!(old.status, 400, "{other}");
        assert_eq!(old.json()["error"], "decryption failed", "{other}");
    }
    // The version that reads has made no envelope: one that says so opens nowhere.
    let mut claimed = envelope.clone();
    claimed[22..26].copy_from_slice(&2_u32.to_be_bytes());
    let two = format!("kw1.{}.2", header.key);
    assert_opaque(&decrypt(&mut wire, EXCHANGE, &claimed, &two), "claimed");
    let native = wire.post(
        &path(EXCHANGE, "decrypt"),
        item(&[("ciphertext", &claimed)]),
    );
    assert_eq!(native.code(), "decryption_failed");
    site.stop();
}

#[test]
fn native_routes_do_not_read_what_the_seed_service_sealed_without_its_label() {
    let site = site();
    let mut wire = site.wire("t1", BOTH[0]);
    let sealed = item(&[("ciphertext", &V1.sealed())]);
    for action in ["decrypt", "rewrap", "datakey/open"] {
        let got = wire.post(&path(EXCHANGE, action), sealed.clone());
        assert_eq!(
            (got.status, got.code().as_str()),
            (400, "ciphertext_malformed")
        );
    }
    let labelled = json!({ "ciphertext": base64::encode(&V1.sealed()), "key_id": V1.label });
    let got = wire.post(&path(EXCHANGE, "decrypt"), labelled.to_string());
    assert_eq!(
        (got.status, got.code().as_str()),
        (400, "request_malformed")
    );
    site.stop();
}

#[test]
fn a_renewed_client_opens_its_old_data_by_one_of_its_former_names() {
    let site = site();
    let many = ["a", "b", "c", "d", "e", "g", "f1"];
    for (former, opens) in [
        (&[][..], false),
        (&["f1"], true),
        (&["F1"], false),
        (&["f1 "], false),
        // With the current name they are eight.
        (&many, true),
        (&many[..6], false),
    ] {
        join(&site, "renewed", ("f2", "2FA"), former);
        let mut wire = site.wire("f2", BOTH[0]);
        let got = decrypt(&mut wire, V2.context, &V2.sealed(), V2.label);
        match opens {
            true => assert_opens(&got, V2.text),
            false => assert_opaque(&got, &format!("{former:?}")),
        }
    }
    // Nine names in all are refused before they are in force.
    let mut document = site.node().admin().policy().unwrap().unwrap();
    let renewed = document.principals.iter_mut();
    let renewed = renewed
        .into_iter()
        .find(|one| one.name.as_str() == "renewed")
        .unwrap();
    renewed.legacy_cn = Legacy((0..8).map(|number| format!("n{number}")).collect());
    let applied = site.node().admin().apply_policy(document);
    assert!(
        applied
            .unwrap_err()
            .to_string()
            .contains("at most 7 former names")
    );
    // A former unit reads what was shared, and a former common name does not.
    join(&site, "moved", ("m1", "2FA"), &["Trading"]);
    let mut wire = site.wire("m1", BOTH[0]);
    let shared = |wire: &mut Wire| decrypt(wire, V1.context, &V1.sealed(), V1.label);
    assert_opaque(&shared(&mut wire), "a name is no unit");
    site.change_policy(|document| {
        let moved = document.principals.iter_mut();
        let moved = moved
            .into_iter()
            .find(|one| one.name.as_str() == "moved")
            .unwrap();
        moved.legacy_ou = Legacy(vec!["Trading".to_owned()]);
    });
    assert_opens(&shared(&mut wire), V1.text);
    site.stop();
}

#[test]
fn rewrap_makes_envelopes_of_it_and_counts_them() {
    let site = site();
    let mut wire = site.wire("f1", BOTH[0]);
    let old = |vector: &Vector| json!({ "ciphertext": base64::encode(&vector.sealed()), "key_id": vector.label });
    let rewrap = path(TWO_FACTOR, "rewrap");
    let got = wire.post(&rewrap, old(&V2).to_string());
    assert_eq!(got.status, 200, "{}", got.json());
    assert!(got.json().get("plaintext").is_none());
    let envelope = got.binary("ciphertext");
    let header = *Envelope::parse(&envelope).unwrap().header();
    // Bound as the context binds: to the client that had it rewrapped.
    assert_eq!(header.binding, Binding::Principal(site.principal("first")));
    assert_eq!(header.version, KeyVersion::FIRST);
    let mine = wire.post(
        &path(TWO_FACTOR, "decrypt"),
        item(&[("ciphertext", &envelope)]),
    );
    assert_eq!(mine.binary("plaintext"), V2.text);
    let label = format!("kw1.{}.1", header.key);
    assert_opens(&decrypt(&mut wire, TWO_FACTOR, &envelope, &label), V2.text);
    let web = site.wire(WEB, BOTH[0]).post(&rewrap, old(&V2).to_string());
    assert_eq!(web.code(), "decryption_failed", "not its own");
    // A batch of an old one, an envelope, one under the wrong label, and one with data beside it, which there was not.
    let mut with_aad = old(&V3);
    with_aad["aad"] = json!(base64::encode(b"aad"));
    let items = json!({ "items": [
        old(&V3),
        { "ciphertext": base64::encode(&envelope) },
        { "ciphertext": base64::encode(&V3.sealed()), "key_id": V1.label },
        with_aad,
    ] });
    let got = wire.post(&rewrap, items.to_string()).json();
    let results = got["items"]
        .as_array()
        .or(got["results"].as_array())
        .unwrap()
        .clone();
    assert!(
        results[0]["ciphertext"].is_string() && results[1]["ciphertext"].is_string(),
        "{got}"
    );
    for failed in &results[2..] {
        assert!(failed.to_string().contains("decryption_failed"), "{got}");
    }
    let home = site.stop();
    let site = Site::over(home);
    let Answer::Contexts { contexts } = site
        .node()
        .carry_out(Order::Contexts {
            tenant: name("default"),
            name: Some(name(TWO_FACTOR)),
        })
        .unwrap()
    else {
        panic!()
    };
    let reader = &contexts[0].versions[1];
    assert_eq!(reader.reader.as_ref().unwrap().label, V2.label);
    assert_eq!((reader.state, reader.uses.rewrapped), (State::Retired, 2));
    site.stop();
}

#[test]
fn a_reader_lives_and_ends_like_any_version_and_never_seals() {
    let site = site();
    let mut wire = site.wire("t1", BOTH[0]);
    let rotate = Order::KeyRotate {
        tenant: name("default"),
        name: name(EXCHANGE),
    };
    let done = site.node().carry_out(rotate).unwrap();
    let third = KeyVersion::from_number(3);
    assert_eq!(done, Answer::KeyRotated { version: third });
    let read = |wire: &mut Wire| decrypt(wire, EXCHANGE, &V1.sealed(), V1.label);
    assert_opens(&read(&mut wire), V1.text);
    let life = |life: Life| {
        let order = Order::KeyLife {
            tenant: name("default"),
            name: name(EXCHANGE),
            life,
            version: Some(KeyVersion::from_number(2)),
            despite_use: false,
        };
        site.node().carry_out(order).unwrap();
    };
    let unavailable = |got: &Got| {
        let body = String::from_utf8_lossy(&got.body).into_owned();
        assert_eq!(
            (got.status, body),
            (400, refused("key_version_unavailable"))
        );
    };
    life(Life::Suspend);
    unavailable(&read(&mut wire));
    life(Life::Resume);
    assert_opens(&read(&mut wire), V1.text);
    let least = RuleChanges {
        min_open: Some(third),
        ..RuleChanges::default()
    };
    let order = Order::ContextSet {
        tenant: name("default"),
        name: name(EXCHANGE),
        rules: least,
    };
    site.node().carry_out(order).unwrap();
    unavailable(&read(&mut wire));
    site.stop();
}

#[test]
fn what_could_not_be_told_apart_later_is_not_brought_in() {
    let site = site();
    let refusal = |context: &str, reader: ReaderDetail, secret: &[u8; 32]| {
        import(&site, context, reader, secret)
            .unwrap_err()
            .to_string()
    };
    let (right, mut own) = (V1.secret(), V1.reader());
    let twice = refusal(EXCHANGE, V1.reader(), &right);
    assert!(twice.contains("has this label already"), "{twice}");
    own.label = "kw1.x".to_owned();
    let reserved = refusal(EXCHANGE, own.clone(), &right);
    assert!(reserved.contains("kw1."), "{reserved}");
    own.label = String::new();
    assert!(refusal(EXCHANGE, own.clone(), &right).contains("1 to 255"));
    own.label = "k".to_owned();
    own.object = Some("00".parse().unwrap());
    assert!(refusal(EXCHANGE, own.clone(), &right).contains("comes in wrapped"));
    own.object = None;
    assert!(refusal("nowhere", own.clone(), &right).contains("no such context"));
    // Without a key there is nothing to bring in, unless it is in a token.
    let nothing = order(&site, EXCHANGE, own.clone(), None).unwrap_err();
    assert!(
        nothing.to_string().contains("comes in wrapped"),
        "{nothing}"
    );
    crate::uses::make(
        site.node(),
        "codes",
        crate::uses::spec(
            keywright_types::Purpose::Mac,
            keywright_types::Algorithm::HmacSha256,
        ),
        None,
    );
    assert!(refusal("codes", own, &right).contains("purpose mac takes no key"));
    site.stop();
}
