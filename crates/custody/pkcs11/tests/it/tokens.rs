//! Modules, slots and tokens say what they are.

use std::path::Path;

use keywright_pkcs11::{Ability, Error, Hash, LoadFault, Mechanism, Module, TokenQuery};
use keywright_pkcs11_names::MechanismType;
use keywright_tokens::{on_each, on_each_with, together};

use crate::scene;

#[test]
fn a_module_says_what_it_is_and_what_it_follows() {
    on_each(|store| {
        let module = scene::module(store);
        let info = module.info().unwrap();
        assert!(info.cryptoki_version.major >= 2 && !info.manufacturer.is_empty());
        let expected = if scene::is_softhsm(store) { 2 } else { 3 };
        assert_eq!(module.interface_version().0, expected);
        assert!(module.path().is_absolute());
    });
}

#[test]
fn a_file_that_is_no_module_is_named_with_the_reason() {
    let folder = std::env::temp_dir();
    let fault = |path: &Path| match Module::load(path).unwrap_err() {
        Error::Load { path: named, fault } => {
            assert_eq!(named, path);
            fault
        }
        other => panic!("{other}"),
    };
    let missing = folder.join("keywright-there-is-no-such-module.so");
    assert!(matches!(fault(&missing), LoadFault::Unreadable(_)));
    let own = std::env::current_exe().unwrap();
    let text = own.with_extension("no-module");
    std::fs::write(&text, b"this is no library").unwrap();
    let refused = fault(&text);
    std::fs::remove_file(&text).unwrap();
    assert!(matches!(refused, LoadFault::Refused(_)), "{refused}");
    let library = ["/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/libc.so.6"];
    if let Some(library) = library.iter().map(Path::new).find(|path| path.exists()) {
        assert!(matches!(fault(library), LoadFault::NotAModule));
    }
}

#[test]
fn a_module_that_is_loaded_twice_is_one_and_lives_until_the_last_user_is_gone() {
    on_each(|store| {
        let first = scene::module(store);
        let second = scene::module(store);
        drop(first);
        assert!(second.info().is_ok());
        let session = scene::writing(store);
        drop(second);
        session.check().unwrap();
    });
}

#[test]
fn two_modules_stand_side_by_side() {
    together(|stores| {
        let sessions: Vec<_> = stores.iter().map(scene::writing).collect();
        for session in &sessions {
            session.check().unwrap();
            assert_eq!(session.token().info().unwrap().label, "keywright");
        }
    });
}

#[test]
fn a_token_is_found_by_what_it_says_and_by_nothing_less() {
    on_each_with(&["first", "second", "third"], |store| {
        let module = scene::module(store);
        let token = module.find_token(&TokenQuery::label("second")).unwrap();
        let info = token.info().unwrap();
        assert_eq!(info.label, "second");
        assert!(info.flags.is_initialized() && info.flags.has_user_pin());
        assert!(
            info.flags
                .names()
                .any(|name| name == "CKF_TOKEN_INITIALIZED")
        );
        let query = TokenQuery {
            serial: Some(info.serial.clone()),
            ..TokenQuery::default()
        };
        assert_eq!(module.find_token(&query).unwrap().slot(), token.slot());
        for label in ["sec", "second ", "SECOND", "nobody"] {
            let missing = module.find_token(&TokenQuery::label(label)).unwrap_err();
            assert!(
                matches!(missing, Error::NoToken { present } if present >= 3),
                "{label}: {missing}"
            );
        }
        let wrong = TokenQuery {
            model: Some("other".to_owned()),
            ..query
        };
        assert!(matches!(
            module.find_token(&wrong),
            Err(Error::NoToken { .. })
        ));
    });
}

#[test]
fn tokens_that_cannot_be_told_apart_are_refused_with_their_serial_numbers() {
    on_each_with(&["twin", "twin"], |store| {
        let module = scene::module(store);
        let error = module.find_token(&TokenQuery::label("twin")).unwrap_err();
        let Error::ManyTokens { serials } = error else {
            panic!("{error}");
        };
        assert_eq!(serials.len(), 2);
        assert_ne!(serials[0], serials[1]);
    });
}

#[test]
fn an_empty_slot_and_every_slot_say_what_they_are() {
    on_each(|store| {
        let module = scene::module(store);
        let slots = module.slots().unwrap();
        assert!(slots.len() >= 2, "{slots:?}");
        for slot in slots {
            assert!(!module.slot_info(slot).unwrap().description.is_empty());
        }
    });
}

#[test]
fn a_missing_mechanism_is_refused_with_those_that_would_do() {
    on_each(|store| {
        let token = scene::token(store);
        token
            .require(&Mechanism::Hmac(Hash::Sha256), Ability::Sign)
            .unwrap();
        let missing = Mechanism::Other {
            mechanism: MechanismType::new(0x8000_1234),
            parameter: &[],
        };
        let error = token.require(&missing, Ability::Sign).unwrap_err();
        let Error::NoMechanism { instead, what, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(what, "signing");
        assert!(instead.contains(&Mechanism::Ecdsa.kind()), "{instead:?}");
        assert!(!instead.contains(&Mechanism::AesKeyGen.kind()));
        let size = token.require_size(&Mechanism::AesKeyGen, 1000).unwrap_err();
        assert!(matches!(size, Error::KeySize { size: 1000, .. }), "{size}");
        token.require_size(&Mechanism::AesKeyGen, 32).unwrap();
    });
}

#[test]
fn a_module_restarts_only_when_nobody_stands_on_it() {
    on_each(|store| {
        let session = scene::writing(store);
        let module = session.token().module().clone();
        assert!(matches!(module.restart(), Err(Error::SessionsInUse(1))));
        session.check().unwrap();
        drop(session);
        module.restart().unwrap();
        scene::writing(store).check().unwrap();
    });
}
