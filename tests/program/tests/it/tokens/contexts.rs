//! A context in a token answers like any other; what no token can do is refused when the context is created.

use keywright_envelope::Envelope;
use keywright_home::HomeError;
use keywright_home::Order;
use keywright_home::control::send;
use keywright_tls::Protocol;
use keywright_tokens::{Store, on_each};
use keywright_types::{
    Algorithm, BindingKind, Code, Custody, Export, KeySpec, Kind, Purpose, State, Suite,
};

use super::scene::{VAULT, allow, create, home_with, open, rotate, spec, states, with_vault};
use crate::fixture::*;

fn site(store: &Store) -> Site {
    with_vault(Site::over(home_with(store, "")))
}

#[test]
fn messages_batches_and_data_keys_go_through_the_token_over_both_protocols() {
    on_each(|store| {
        let site = site(store);
        for protocol in BOTH {
            let mut wire = site.wire(TRADING, protocol);
            let sealed = seal(&mut wire, VAULT, b"in a token", b"row 7");
            let parsed = Envelope::parse(&sealed).unwrap();
            assert_eq!(parsed.header().suite, Suite::TokenGcm12);
            let body = |aad: &[u8]| item(&[("ciphertext", &sealed), ("aad", aad)]);
            let opened = wire.post(&path(VAULT, "decrypt"), body(b"row 7"));
            assert_eq!(opened.binary("plaintext"), b"in a token");
            let refused = wire.post(&path(VAULT, "decrypt"), body(b"row 8"));
            assert_eq!(
                (refused.status, refused.code().as_str()),
                (400, "decryption_failed")
            );
            batch_of_three(&mut wire, &sealed);
            data_keys(&mut wire);
        }
        site.stop().verify();
    });
}

/// A good one, a changed one, garbage.
fn batch_of_three(wire: &mut Wire, sealed: &[u8]) {
    let mut changed = sealed.to_vec();
    *changed.last_mut().unwrap() ^= 1;
    let items = [sealed, &changed, b"garbage"]
        .map(|ciphertext| item(&[("ciphertext", ciphertext), ("aad", b"row 7")]));
    let got = wire.post(&path(VAULT, "decrypt"), batch(items)).json();
    let results = got["items"]
        .as_array()
        .or(got["results"].as_array())
        .unwrap();
    assert_eq!(results.len(), 3, "{got}");
    let text = serde_json::to_string(&results[0]).unwrap();
    assert!(text.contains("plaintext"), "{got}");
    for (index, code) in [(1, "decryption_failed"), (2, "ciphertext_malformed")] {
        assert!(results[index].to_string().contains(code), "{got}");
    }
}

fn data_keys(wire: &mut Wire) {
    let made = wire.post(&path(VAULT, "datakey"), item(&[("aad", b"file")]));
    let wrapped = made.binary("ciphertext");
    assert_eq!(Envelope::parse(&wrapped).unwrap().header().kind, Kind::Key);
    let body = item(&[("ciphertext", &wrapped), ("aad", b"file")]);
    let opened = wire.post(&path(VAULT, "datakey/open"), body.clone());
    assert_eq!(opened.binary("plaintext"), made.binary("plaintext"));
    let as_message = wire.post(&path(VAULT, "decrypt"), body);
    assert_eq!(as_message.code(), "decryption_failed");
}

#[test]
fn rotation_and_a_restart_leave_everything_that_was_sealed_openable() {
    on_each(|store| {
        let site = site(store);
        let mut wire = site.wire(TRADING, Protocol::Http2);
        let old = seal(&mut wire, VAULT, b"old", b"");
        assert_eq!(rotate(&site, VAULT).unwrap().number(), 2);
        let new = seal(&mut wire, VAULT, b"new", b"");
        let moved = wire.post(&path(VAULT, "rewrap"), item(&[("ciphertext", &old)]));
        assert_eq!(moved.json()["key_version"], 2);
        let moved = moved.binary("ciphertext");
        drop(wire);
        let site = Site::over(site.stop());
        assert_eq!(states(&site, VAULT), [State::Retired, State::Active]);
        let mut wire = site.wire(TRADING, Protocol::Http1);
        for (sealed, text) in [(&old, "old"), (&new, "new"), (&moved, "old")] {
            assert_eq!(
                open(&mut wire, VAULT, sealed).as_deref(),
                Ok(text.as_bytes())
            );
        }
        // A wrapped context of the same node knows nothing of it.
        assert_eq!(
            open(&mut wire, EXCHANGE, &old),
            Err("decryption_failed".to_owned())
        );
        assert_eq!(wire.get("/v1/health").json()["status"], "ready");
        drop(wire);
        site.stop().verify();
    });
}

#[test]
fn a_token_that_makes_nonces_itself_serves_suite_4() {
    on_each(|store| {
        let site = Site::over(home_with(store, ""));
        let made = create(&site, "own-nonce", spec(Algorithm::TokenGcm16));
        if let Err(error) = made {
            // A module of version 2 of the standard has no operation for it.
            assert!(
                error.to_string().contains("keeps no keys of token-gcm-16"),
                "{error}"
            );
            return;
        }
        allow(&site, "own-nonce");
        let mut wire = site.wire(TRADING, Protocol::Http2);
        let sealed = seal(&mut wire, "own-nonce", b"text", b"");
        let suite = Envelope::parse(&sealed).unwrap().header().suite;
        assert_eq!(suite, Suite::TokenGcm16);
        assert_eq!(
            open(&mut wire, "own-nonce", &sealed).as_deref(),
            Ok(&b"text"[..])
        );
    });
}

fn order(spec: KeySpec) -> Order {
    Order::ContextCreate {
        tenant: name("default"),
        name: name("no-such"),
        binding: BindingKind::None,
        spec,
        rules: keywright_custody::Rules::default(),
        detail: None,
        secret: None,
    }
}

#[test]
fn what_a_token_cannot_do_is_refused_with_what_why_and_what_to_do() {
    on_each(|store| {
        let site = Site::over(home_with(store, ""));
        let token = spec(Algorithm::TokenGcm12);
        let purpose = |purpose| KeySpec { purpose, ..token };
        let export = |export| KeySpec { export, ..token };
        for (spec, why) in [
            (purpose(Purpose::Tokenise), "purpose tokenise"),
            (purpose(Purpose::Deterministic), "purpose deterministic"),
            (purpose(Purpose::Tree), "purpose tree"),
            (spec(Algorithm::Xaes256Gcm), "streams need the key"),
            (spec(Algorithm::XChaCha20Poly1305), "streams need the key"),
            (export(Export::Plain), "never leaves it"),
            (export(Export::Sealed), "never leaves it"),
            (
                KeySpec {
                    custody: Custody::Wrapped,
                    ..token
                },
                "in a token only",
            ),
        ] {
            let refused = send(&site.home.path(), &order(spec)).unwrap_err();
            let HomeError::Refused { code, sentence, .. } = &refused else {
                panic!("{refused:?}")
            };
            assert_eq!(*code, Some(Code::Unsupported));
            assert!(sentence.contains(why), "{sentence}");
            assert!(
                refused.advice().contains("create the context"),
                "{}",
                refused.advice()
            );
        }
        site.stop().verify();
    });
}

#[test]
fn without_a_token_there_is_no_context_in_one() {
    let site = Site::start();
    let refused = send(&site.home.path(), &order(spec(Algorithm::TokenGcm12))).unwrap_err();
    assert!(refused.to_string().contains("no token"), "{refused}");
    assert!(refused.advice().contains("[token]"), "{}", refused.advice());
}
