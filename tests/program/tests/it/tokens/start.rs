//! What keeps a node with a token from starting, and how it says so.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use keywright_home::HomeError;
use keywright_pkcs11::Error;
use keywright_tls::Protocol;
use keywright_tokens::{Store, on_each};
use keywright_types::Algorithm;

use super::scene::{VAULT, create, elsewhere, home_with, object_of, pin_file, spec, with_vault};
use crate::fixture::*;

fn refusal(home: &Home) -> (HomeError, String) {
    let error = home.open().map(drop).unwrap_err();
    let mut text = error.to_string();
    text.push_str("; ");
    text.push_str(error.advice());
    (error, text)
}

fn changed(store: &Store, from: &str, to: &str) -> Home {
    home_with(store, "").configure(from, to)
}

#[test]
fn a_token_that_is_not_there_and_a_module_that_cannot_be_loaded_are_named() {
    on_each(|store| {
        let label = format!("label = {:?}", store.tokens()[0].label());
        let (error, text) = refusal(&changed(store, &label, "label = \"another\""));
        assert!(
            matches!(error, HomeError::Token(Error::NoToken { .. })),
            "{text}"
        );
        assert!(text.contains("no token matches"), "{text}");
        let file = store.folder().join("module.so");
        fs::write(&file, "not a module").unwrap();
        let module = store.tokens()[0].module().display().to_string();
        let (error, text) = refusal(&changed(store, &module, file.to_str().unwrap()));
        assert!(
            matches!(error, HomeError::Token(Error::Load { .. })),
            "{text}"
        );
        assert!(text.contains("module.so"), "{text}");
    });
}

#[test]
fn a_wrong_an_empty_and_an_exposed_pin_are_told_apart() {
    on_each(|store| {
        let home = home_with(store, "");
        let pin = pin_file(store);
        let right = fs::read(&pin).unwrap();
        fs::write(&pin, "wrong-9999\n").unwrap();
        let (error, text) = refusal(&home);
        assert!(
            matches!(error, HomeError::Token(Error::Login { .. })),
            "{text}"
        );
        assert!(!text.contains("wrong-9999"), "a PIN is never shown");
        fs::write(&pin, "\n").unwrap();
        let (error, text) = refusal(&home);
        assert!(matches!(error, HomeError::PasswordEmpty(_)), "{text}");
        fs::write(&pin, &right).unwrap();
        fs::set_permissions(&pin, fs::Permissions::from_mode(0o644)).unwrap();
        let (error, text) = refusal(&home);
        assert!(matches!(error, HomeError::PasswordExposed(_)), "{text}");
        fs::set_permissions(&pin, fs::Permissions::from_mode(0o600)).unwrap();
        home.open().unwrap();
    });
}

#[test]
fn homes_of_one_process_share_a_module_only_with_the_same_settings() {
    on_each(|store| {
        let (one, same, other) = (
            home_with(store, ""),
            home_with(store, ""),
            home_with(store, "sessions = 9"),
        );
        let first = one.open().unwrap();
        let second = same.open().unwrap();
        let (error, text) = refusal(&other);
        assert!(matches!(error, HomeError::TokenInUse(_)), "{text}");
        drop((first, second));
        other.open().unwrap();
    });
}

#[test]
fn keys_that_the_token_does_not_have_any_more_are_named_when_the_node_begins_to_serve() {
    on_each(|store| {
        let site = with_vault(Site::over(home_with(store, "")));
        create(&site, "other", spec(Algorithm::TokenGcm12)).unwrap();
        let mut wire = site.wire(TRADING, Protocol::Http2);
        let sealed = seal(&mut wire, VAULT, b"text", b"");
        let id = object_of(&sealed);
        drop(wire);
        let site = Site::over(site.stop());
        assert!(site.serving().unfit_keys().is_empty());
        let home = site.stop();
        elsewhere(store, &id, &["--delete-object"]).unwrap();
        let site = Site::over(home);
        let labels = site.serving().unfit_keys().iter().map(ToString::to_string);
        assert_eq!(labels.collect::<Vec<_>>(), [format!("kw1.{}.1", &id[..32])]);
        let mut wire = site.wire(TRADING, Protocol::Http2);
        let got = wire.post(&path(VAULT, "encrypt"), item(&[("plaintext", b"text")]));
        assert_eq!(
            (got.status, got.code()),
            (503, "holder_unavailable".to_owned())
        );
    });
}
