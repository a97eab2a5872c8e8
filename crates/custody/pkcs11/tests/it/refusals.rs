//! Failures carry their code, their function and what to do next.

use keywright_pkcs11::{Failure, Hash, KeyPlan, Mechanism, Purpose, Remedy, SecretKind, Template};
use keywright_pkcs11_names::{MechanismType, ReturnCode};
use keywright_tokens::on_each;

use crate::scene;

#[test]
fn a_failure_names_its_code_and_its_function() {
    on_each(|store| {
        let session = scene::writing(store);
        let kind = SecretKind::Generic { len: 32 };
        let plan = KeyPlan::new(Purpose::Mac).in_session();
        let key = session.generate_secret(kind, &plan).unwrap();
        let vendor = Mechanism::Other {
            mechanism: MechanismType::new(0x8000_1234),
            parameter: &[1, 2, 3],
        };
        let error = session
            .sign(&vendor, key, b"text", &mut Vec::new())
            .unwrap_err();
        let failure: &Failure = error.failure().unwrap();
        assert_eq!(failure.code(), ReturnCode::MECHANISM_INVALID);
        assert_eq!(failure.function(), "C_SignInit");
        assert_eq!(error.remedy(), Remedy::GiveUp);
        let text = error.to_string();
        assert!(
            text.contains("CKR_MECHANISM_INVALID") && text.contains("C_SignInit"),
            "{text}"
        );
        session.destroy_object(key).unwrap();
        let error = session
            .sign(
                &Mechanism::Hmac(Hash::Sha256),
                key,
                b"text",
                &mut Vec::new(),
            )
            .unwrap_err();
        assert_eq!(error.remedy(), Remedy::Reopen, "{error}");
    });
}

#[test]
fn a_key_of_another_kind_is_refused() {
    on_each(|store| {
        let session = scene::writing(store);
        let kind = SecretKind::Generic { len: 32 };
        let plan = KeyPlan::new(Purpose::Mac).in_session();
        let key = session.generate_secret(kind, &plan).unwrap();
        let mechanism = Mechanism::AesCmac;
        let error = session
            .sign(&mechanism, key, b"text", &mut Vec::new())
            .unwrap_err();
        assert_eq!(scene::code(&error), ReturnCode::KEY_TYPE_INCONSISTENT);
        session.check().unwrap();
    });
}

#[test]
fn a_template_that_contradicts_itself_makes_nothing() {
    on_each(|store| {
        let session = scene::writing(store);
        let plan = KeyPlan::new(Purpose::Encrypt).label("odd");
        assert!(
            session
                .generate_secret(SecretKind::Aes { len: 7 }, &plan)
                .is_err()
        );
        let label = Template::new().label("odd");
        assert_eq!(session.search(&label).unwrap().count(), 0);
    });
}
