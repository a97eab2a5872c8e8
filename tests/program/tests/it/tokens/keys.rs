//! Keys that are destroyed or renamed in the token by somebody else while the node serves: health, the metrics and an
//! alert tell it, and nothing else is disturbed.

use keywright_tls::Protocol;
use keywright_tokens::{Kind, Store, on_each};
use keywright_types::Algorithm;

use super::apart::as_this_program;
use super::scene::{
    VAULT, allow, create, elsewhere, home_with, object_of, open, spec, try_seal, with_vault,
};
use crate::alerts::{Page, fires, page_where};
use crate::fixture::*;

const OTHER: &str = "other";
const UNFIT: &str = "keywright_unfit_keys";
const HOLDER: &str = "keywright_component_up{component=\"holder\"}";
const KEYS: &str = "keywright_component_up{component=\"keys\"}";
const READY: &str = "keywright_ready";

fn site_with(store: &Store, more: &str) -> Site {
    let site = with_vault(Site::over(home_with(store, more)));
    create(&site, OTHER, spec(Algorithm::TokenGcm12)).unwrap();
    allow(&site, OTHER);
    site
}

/// Whether the page has these values.
fn has(page: &Page, values: &[(&str, f64)]) -> bool {
    let same = |(series, value): &(&str, f64)| (page.value(series) - value).abs() < 1e-9;
    values.iter().all(same)
}

fn is_told_of(store: &Store, more: &str) {
    let site = site_with(store, more);
    let mut wire = site.wire(TRADING, Protocol::Http2);
    let lost = seal(&mut wire, VAULT, b"lost", b"");
    let kept = seal(&mut wire, OTHER, b"kept", b"");
    let beside = seal(&mut wire, EXCHANGE, b"beside", b"");
    let before = Page::of(&mut wire);
    assert!(has(&before, &[(UNFIT, 0.0), (KEYS, 1.0), (READY, 1.0)]));
    assert_eq!(wire.get("/v1/health").json()["unfit_keys"], 0);

    elsewhere(store, &object_of(&lost), &["--delete-object"]).unwrap();
    let one = [(UNFIT, 1.0), (HOLDER, 1.0), (KEYS, 1.0), (READY, 1.0)];
    let page = page_where(&mut wire, |page| has(page, &one));
    let health = wire.get("/v1/health");
    assert_eq!(health.status, 200, "{}", health.json());
    assert_eq!(health.json()["status"], "ready");
    assert_eq!(health.json()["unfit_keys"], 1);
    fires(&["KeywrightUnfitKeys"], &before, &page);
    // It was used before it was lost, and is not used from memory after.
    let refused = Err("holder_unavailable".to_owned());
    assert_eq!(open(&mut wire, VAULT, &lost), refused);
    assert_eq!(try_seal(&mut wire, VAULT, b"x"), refused);
    assert_eq!(open(&mut wire, OTHER, &kept).as_deref(), Ok(&b"kept"[..]));

    elsewhere(store, &object_of(&kept), &["--delete-object"]).unwrap();
    let none = [(UNFIT, 2.0), (HOLDER, 1.0), (KEYS, 0.0), (READY, 0.0)];
    page_where(&mut wire, |page| has(page, &none));
    let health = wire.get("/v1/health");
    assert_eq!(health.status, 503);
    assert_eq!(health.json()["status"], "degraded");
    assert_eq!(health.json()["unfit_keys"], 2);
    let opened = open(&mut wire, EXCHANGE, &beside);
    assert_eq!(opened.as_deref(), Ok(&b"beside"[..]));
    // A key of the token makes it ready again: what is lost stays told.
    create(&site, "third", spec(Algorithm::TokenGcm12)).unwrap();
    let again = [(UNFIT, 2.0), (KEYS, 1.0), (READY, 1.0)];
    page_where(&mut wire, |page| has(page, &again));
    drop(wire);
    site.stop().verify();
}

#[test]
fn keys_that_the_token_loses_while_the_node_serves_are_told_of() {
    on_each(|store| is_told_of(store, "session_copies = false"));
}

#[test]
fn so_they_are_with_keys_copied_into_the_session() {
    on_each(|store| is_told_of(store, "session_copies = true"));
}

#[test]
fn so_they_are_with_the_module_in_a_process_of_its_own() {
    on_each(|store| {
        as_this_program();
        is_told_of(store, "process = \"child\"");
    });
}

#[test]
fn a_key_that_comes_back_serves_again_without_a_restart() {
    on_each(|store| {
        let site = site_with(store, "");
        let mut wire = site.wire(TRADING, Protocol::Http2);
        let sealed = seal(&mut wire, VAULT, b"text", b"");
        let id = object_of(&sealed);
        let away = "f".repeat(id.len());
        if let Err(why) = elsewhere(store, &id, &["--set-id", &away]) {
            // Nobody else can move a key there.
            assert!(store.kind() != Kind::SoftHsm, "{why}");
            return;
        }
        page_where(&mut wire, |page| has(page, &[(UNFIT, 1.0)]));
        let refused = open(&mut wire, VAULT, &sealed);
        assert_eq!(refused, Err("holder_unavailable".to_owned()));
        elsewhere(store, &away, &["--set-id", &id]).unwrap();
        page_where(&mut wire, |page| has(page, &[(UNFIT, 0.0)]));
        assert_eq!(open(&mut wire, VAULT, &sealed).as_deref(), Ok(&b"text"[..]));
        assert_eq!(wire.get("/v1/health").json()["unfit_keys"], 0);
        drop(wire);
        site.stop().verify();
    });
}
