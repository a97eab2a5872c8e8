//! Log-in: what a wrong PIN costs, what is shared, what ends.

use keywright_pkcs11::{
    Access, Credential, Error, KeyPlan, PairKind, Purpose, SecretKind, Tries, User,
};
use keywright_pkcs11_names::ReturnCode;
use keywright_tokens::on_each;

use crate::scene::{self, pin};

#[test]
fn a_wrong_pin_is_refused_with_what_the_token_tells_about_further_tries() {
    on_each(|store| {
        let session = scene::token(store).open().unwrap();
        let wrong = pin("wrong-pin-9");
        let error = session
            .login(User::User, Credential::Pin(&wrong))
            .unwrap_err();
        let Error::Login { failure, tries } = &error else {
            panic!("{error:?}");
        };
        assert_eq!(failure.code(), ReturnCode::PIN_INCORRECT);
        assert_eq!(failure.function(), "C_Login");
        assert_ne!(*tries, Tries::None, "{error}");
        if scene::is_softhsm(store) {
            assert_eq!(*tries, Tries::Fewer);
        }
        assert!(!error.to_string().contains("wrong-pin"), "{error}");
        let right = pin(store.tokens()[0].user_pin());
        session.login(User::User, Credential::Pin(&right)).unwrap();
    });
}

#[test]
fn a_pin_that_the_token_cannot_have_is_not_sent() {
    on_each(|store| {
        let session = scene::token(store).open().unwrap();
        let (min, max) = session.token().info().unwrap().pin_len;
        assert!(min > 1, "{min} to {max}");
        let mut texts = vec![String::new(), "1".to_owned()];
        if (1..5000).contains(&max) {
            texts.push("9".repeat(5000));
        }
        for text in &texts {
            let wrong = pin(text);
            let error = session
                .login(User::User, Credential::Pin(&wrong))
                .unwrap_err();
            assert!(matches!(error, Error::PinLength { .. }), "{error:?}");
        }
        let tries = session.token().info().unwrap().user_tries();
        assert_eq!(tries, Tries::Untold, "nothing was counted");
    });
}

#[test]
fn log_in_is_shared_by_sessions_and_ends_with_the_last() {
    on_each(|store| {
        let first = scene::writing(store);
        let second = scene::token(store).open().unwrap();
        let plan = KeyPlan::new(Purpose::Mac);
        first
            .generate_secret(SecretKind::Generic { len: 32 }, &plan)
            .unwrap();
        let all = scene::secrets();
        assert_eq!(second.search(&all).unwrap().count(), 1);
        drop(first);
        assert_eq!(second.search(&all).unwrap().count(), 1, "still logged in");
        drop(second);
        let third = scene::token(store).open().unwrap();
        assert_eq!(third.search(&all).unwrap().count(), 0, "logged out");
    });
}

#[test]
fn logging_in_twice_is_no_error_and_two_users_are_one() {
    on_each(|store| {
        let session = scene::writing(store);
        let user = pin(store.tokens()[0].user_pin());
        session.login(User::User, Credential::Pin(&user)).unwrap();
        let officer = pin(store.tokens()[0].so_pin());
        let error = session
            .login(User::SecurityOfficer, Credential::Pin(&officer))
            .unwrap_err();
        assert_eq!(
            scene::code(&error),
            ReturnCode::USER_ANOTHER_ALREADY_LOGGED_IN
        );
        session.logout().unwrap();
        session
            .login(User::SecurityOfficer, Credential::Pin(&officer))
            .unwrap();
    });
}

#[test]
fn pins_are_set_and_changed_and_the_old_one_ends() {
    on_each(|store| {
        let session = scene::writing(store);
        let (old, new) = (pin(store.tokens()[0].user_pin()), pin("another-5678"));
        session
            .change_pin(Credential::Pin(&old), Credential::Pin(&new))
            .unwrap();
        session.logout().unwrap();
        assert!(session.login(User::User, Credential::Pin(&old)).is_err());
        session.login(User::User, Credential::Pin(&new)).unwrap();
        session.logout().unwrap();
        let officer = pin(store.tokens()[0].so_pin());
        session
            .login(User::SecurityOfficer, Credential::Pin(&officer))
            .unwrap();
        session.set_user_pin(Credential::Pin(&old)).unwrap();
        session.logout().unwrap();
        session.login(User::User, Credential::Pin(&old)).unwrap();
    });
}

#[test]
fn a_token_is_initialised_only_with_its_officers_pin() {
    on_each(|store| {
        let session = scene::writing(store);
        let plan = KeyPlan::new(Purpose::Sign).label("kept");
        session
            .generate_pair(PairKind::Curve(keywright_pkcs11::Curve::P256), &plan)
            .unwrap();
        drop(session);
        let token = scene::token(store);
        let (wrong, officer) = (pin("not-the-pin"), pin(store.tokens()[0].so_pin()));
        let error = token
            .initialize(Credential::Pin(&wrong), "fresh")
            .unwrap_err();
        assert_eq!(scene::code(&error), ReturnCode::PIN_INCORRECT);
        assert!(matches!(error, Error::Login { .. }));
        let long = "x".repeat(33);
        let error = token.initialize(Credential::Pin(&officer), &long);
        assert!(matches!(error, Err(Error::LabelTooLong)));
        let kept = scene::session(store, Access::Read);
        let all = keywright_pkcs11::Template::new().label("kept");
        assert_eq!(kept.search(&all).unwrap().count(), 2, "nothing was lost");
        drop(kept);
        token
            .initialize(Credential::Pin(&officer), "fresh")
            .unwrap();
        let info = token.info().unwrap();
        assert_eq!(info.label, "fresh");
        assert!(!info.flags.has_user_pin());
    });
}

#[test]
fn a_locked_pin_is_called_locked_even_when_it_is_right() {
    on_each(|store| {
        let session = scene::token(store).open().unwrap();
        let wrong = pin("wrong-pin-9");
        let refused = (0..30).find_map(|_| {
            let refused = session.login(User::User, Credential::Pin(&wrong));
            let error = refused.unwrap_err();
            (scene::code(&error) == ReturnCode::PIN_LOCKED).then_some(error)
        });
        let right = pin(store.tokens()[0].user_pin());
        let Some(error) = refused else {
            assert!(scene::is_softhsm(store), "SoftHSM alone never locks");
            session.login(User::User, Credential::Pin(&right)).unwrap();
            return;
        };
        let locked = session.login(User::User, Credential::Pin(&right));
        for error in [error, locked.unwrap_err()] {
            assert!(
                matches!(
                    error,
                    Error::Login {
                        tries: Tries::None,
                        ..
                    }
                ),
                "{error:?}"
            );
            assert!(error.to_string().contains("locked"), "{error}");
        }
    });
}
