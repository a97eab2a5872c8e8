//! A root key that never leaves a token: everything of the home is under it, and used in this process.

use keywright_envelope::Envelope;
use keywright_home::HomeError;
use keywright_pkcs11::Error;
use keywright_tls::Protocol;
use keywright_tokens::on_each;
use keywright_types::Suite;

use super::scene::{VAULT, create_rooted, home_rooted, open, try_seal, with_vault};
use crate::fixture::*;
use crate::roster::eventually;

#[test]
fn wrapped_contexts_work_under_a_root_in_the_token_and_after_a_restart() {
    on_each(|store| {
        let home = home_rooted(store);
        assert!(!home.path().join("root.password").exists());
        assert!(!home.path().join("root.kwf").exists());
        let site = Site::over(home);
        let mut wire = site.wire(TRADING, Protocol::Http2);
        let sealed = seal(&mut wire, EXCHANGE, b"wrapped", b"");
        let suite = Envelope::parse(&sealed).unwrap().header().suite;
        assert_eq!(suite, Suite::Xaes256Gcm);
        drop(wire);
        let site = with_vault(Site::over(site.stop()));
        let mut wire = site.wire(TRADING, Protocol::Http2);
        assert_eq!(
            open(&mut wire, EXCHANGE, &sealed).as_deref(),
            Ok(&b"wrapped"[..])
        );
        let beside = seal(&mut wire, VAULT, b"beside", b"");
        assert_eq!(
            open(&mut wire, VAULT, &beside).as_deref(),
            Ok(&b"beside"[..])
        );
        drop(wire);
        site.stop().verify();
    });
}

#[test]
fn keys_in_memory_go_on_without_the_token_and_others_come_when_it_is_back() {
    on_each(|store| {
        let home = home_rooted(store);
        let sealed = {
            let site = Site::over(home);
            let mut wire = site.wire(WEB, Protocol::Http2);
            let sealed = seal(&mut wire, TWO_FACTOR, b"cold", b"");
            drop(wire);
            (sealed, site.stop())
        };
        let (cold, home) = sealed;
        let site = Site::over(home);
        let mut trader = site.wire(TRADING, Protocol::Http2);
        let warm = seal(&mut trader, EXCHANGE, b"warm", b"");
        store.take_away();
        for _ in 0..20 {
            assert_eq!(
                open(&mut trader, EXCHANGE, &warm).as_deref(),
                Ok(&b"warm"[..])
            );
            try_seal(&mut trader, EXCHANGE, b"more").unwrap();
        }
        store.put_back();
        // The tenant's key was needed for the first context, so the second waits for nobody either.
        let mut web = site.wire(WEB, Protocol::Http2);
        assert_eq!(
            open(&mut web, TWO_FACTOR, &cold).as_deref(),
            Ok(&b"cold"[..])
        );
        drop((trader, web));
        site.stop().verify();
    });
}

#[test]
fn a_key_that_needs_the_root_is_refused_while_the_token_is_gone_and_comes_with_it() {
    on_each(|store| {
        let site = Site::over(home_rooted(store));
        let mut wire = site.wire(WEB, Protocol::Http2);
        let cold = seal(&mut wire, TWO_FACTOR, b"cold", b"");
        drop(wire);
        // A new start has no key in memory yet.
        let site = Site::over(site.stop());
        let mut wire = site.wire(WEB, Protocol::Http2);
        store.take_away();
        eventually("the loss is noticed", || {
            wire.get("/v1/health").json()["holder"] == "failed"
        });
        for _ in 0..5 {
            let refused = open(&mut wire, TWO_FACTOR, &cold);
            assert_eq!(refused, Err("holder_unavailable".to_owned()));
            let refused = try_seal(&mut wire, TWO_FACTOR, b"new");
            assert_eq!(refused, Err("holder_unavailable".to_owned()));
        }
        store.put_back();
        eventually("the key comes", || {
            match open(&mut wire, TWO_FACTOR, &cold) {
                Ok(text) => {
                    assert_eq!(text, b"cold");
                    true
                }
                Err(code) => {
                    assert_eq!(code, "holder_unavailable");
                    false
                }
            }
        });
        drop(wire);
        site.stop().verify();
    });
}

#[test]
fn without_its_root_key_a_home_does_not_open_and_says_so() {
    on_each(|store| {
        let (one, other) = (home_rooted(store), home_rooted(store));
        let description = std::fs::read(other.path().join("root.token")).unwrap();
        let own = std::fs::read(one.path().join("root.token")).unwrap();
        std::fs::write(one.path().join("root.token"), &description).unwrap();
        let refused = one.open().unwrap_err();
        assert!(
            matches!(refused, HomeError::Keystore(_)),
            "another root: {refused:?}"
        );
        let mut unknown = own.clone();
        unknown[20] ^= 1;
        std::fs::write(one.path().join("root.token"), &unknown).unwrap();
        let refused = one.open().unwrap_err();
        assert!(
            matches!(refused, HomeError::Token(Error::NoObject | Error::WrongKey)),
            "{refused:?}"
        );
        std::fs::write(one.path().join("root.token"), b"no description").unwrap();
        let refused = one.open().unwrap_err();
        assert!(
            matches!(refused, HomeError::Token(Error::WrongKey)),
            "{refused:?}"
        );
        std::fs::write(one.path().join("root.token"), &own).unwrap();
        one.open().unwrap();
    });
}

#[test]
fn a_creation_that_fails_leaves_no_root_key_in_the_token() {
    on_each(|store| {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("home");
        // A file in the way: the home is made beside its place, and cannot be moved there.
        std::fs::create_dir(&place).unwrap();
        std::fs::write(place.join("mine"), "x").unwrap();
        assert!(matches!(
            create_rooted(store, &place),
            Err(HomeError::Occupied(_))
        ));
        let keys = || {
            let mut tool = store.pkcs11_tool(store.tokens()[0].label()).unwrap();
            tool.args(["--login", "--pin", store.tokens()[0].user_pin()]);
            let listed = tool.args(["--list-objects", "--type", "secrkey"]).output();
            let listed = String::from_utf8(listed.unwrap().stdout).unwrap();
            listed.matches("kw1.").count()
        };
        assert_eq!(keys(), 0);
        drop(home_rooted(store));
        assert_eq!(keys(), 1);
    });
}
