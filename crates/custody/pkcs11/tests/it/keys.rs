//! Keys are what they were asked to be, and nothing more.

use keywright_pkcs11::{
    Curve, Error, KeyPlan, Mechanism, MlDsa, PairKind, Purpose, SecretKind, Session, Template,
};
use keywright_pkcs11_names::{AttributeType, KeyType, ObjectClass, ReturnCode};
use keywright_primitives::kem::MlKem768EncapsulationKey;
use keywright_secret::SecretBytes;
use keywright_tokens::{Kind, on_each};

use crate::scene;

const AES: SecretKind = SecretKind::Aes { len: 32 };

fn flag(session: &Session, key: keywright_pkcs11::ObjectHandle, kind: AttributeType) -> bool {
    session
        .attribute(key, kind)
        .unwrap()
        .flag()
        .unwrap_or(false)
}

#[test]
fn generated_keys_have_the_one_purpose_and_never_leave() {
    on_each(|store| {
        let session = scene::writing(store);
        let key = session
            .generate_secret(AES, &KeyPlan::new(Purpose::Wrap))
            .unwrap();
        let on = [
            AttributeType::WRAP,
            AttributeType::UNWRAP,
            AttributeType::SENSITIVE,
            AttributeType::ALWAYS_SENSITIVE,
            AttributeType::NEVER_EXTRACTABLE,
            AttributeType::PRIVATE,
            AttributeType::LOCAL,
        ];
        let off = [
            AttributeType::ENCRYPT,
            AttributeType::DECRYPT,
            AttributeType::SIGN,
            AttributeType::DERIVE,
            AttributeType::EXTRACTABLE,
            AttributeType::MODIFIABLE,
        ];
        for kind in on {
            assert!(flag(&session, key, kind), "{kind}");
        }
        for kind in off {
            assert!(!flag(&session, key, kind), "{kind}");
        }
        let mechanism = Mechanism::AesGcm {
            nonce: &[1; 12],
            aad: &[],
        };
        let error = session
            .encrypt(&mechanism, key, b"text", &mut Vec::new())
            .unwrap_err();
        assert_eq!(scene::code(&error), ReturnCode::KEY_FUNCTION_NOT_PERMITTED);
    });
}

#[test]
fn a_key_that_wraps_and_decrypts_must_be_asked_for_by_name() {
    on_each(|store| {
        let session = scene::writing(store);
        let mixed = Template::new()
            .class(ObjectClass::SECRET_KEY)
            .key_type(KeyType::AES)
            .number(AttributeType::VALUE_LEN, 32)
            .no(AttributeType::TOKEN)
            .yes(AttributeType::WRAP)
            .yes(AttributeType::DECRYPT);
        let generated = session.generate(&Mechanism::AesKeyGen, &mixed, Purpose::Wrap);
        assert!(matches!(generated, Err(Error::MixedUse)));
        let value = SecretBytes::from_vec(vec![7; 32]);
        let import = Template::new()
            .class(ObjectClass::SECRET_KEY)
            .key_type(KeyType::AES)
            .no(AttributeType::TOKEN)
            .yes(AttributeType::UNWRAP)
            .yes(AttributeType::ENCRYPT)
            .secret(AttributeType::VALUE, &value);
        let imported = session.import(&import, Purpose::Encrypt);
        assert!(matches!(imported, Err(Error::MixedUse)));
        let none = session.search(&scene::secrets()).unwrap().count();
        assert_eq!(none, 0);
        session
            .generate_secret(AES, &KeyPlan::new(Purpose::EncryptAndWrap))
            .unwrap();
    });
}

#[test]
fn pairs_of_every_kind_the_token_has_are_made_and_read_back() {
    on_each(|store| {
        let session = scene::writing(store);
        let kinds = [
            (PairKind::Rsa { bits: 2048 }, Purpose::Sign),
            (PairKind::Curve(Curve::P256), Purpose::Sign),
            (PairKind::Curve(Curve::P384), Purpose::Derive),
            (PairKind::Curve(Curve::P521), Purpose::Sign),
            (PairKind::Curve(Curve::Ed25519), Purpose::Sign),
            (PairKind::Curve(Curve::X25519), Purpose::Derive),
            (PairKind::MlDsa(MlDsa::MlDsa65), Purpose::Sign),
            (PairKind::MlKem { set: 2 }, Purpose::Encapsulate),
        ];
        for (number, (kind, purpose)) in (0_u8..).zip(kinds) {
            if !scene::makes(&session, kind) {
                assert!(number > 3, "{kind:?} is missing");
                continue;
            }
            let plan = KeyPlan::new(purpose).id(&[number]).label("pair");
            let pair = session
                .generate_pair(kind, &plan)
                .unwrap_or_else(|error| panic!("{kind:?}: {error}"));
            for half in [pair.public, pair.private] {
                let shown = session.candidate(half).unwrap();
                assert_eq!(shown.id.as_deref(), Some(&[number][..]));
            }
            assert!(flag(&session, pair.private, AttributeType::SENSITIVE));
            assert!(!flag(&session, pair.private, AttributeType::EXTRACTABLE));
            assert!(!flag(&session, pair.public, AttributeType::PRIVATE));
            if let PairKind::Curve(curve) = kind {
                let parameters = session
                    .attribute(pair.public, AttributeType::EC_PARAMS)
                    .unwrap();
                let read = Curve::from_parameters(parameters.bytes().unwrap());
                assert_eq!(read, Some(curve));
            }
        }
    });
}

#[test]
fn wrapped_keys_come_back_as_the_same_key() {
    on_each(|store| {
        let session = scene::writing(store);
        let wrapping = session
            .generate_secret(AES, &KeyPlan::new(Purpose::Wrap))
            .unwrap();
        let inner = KeyPlan::new(Purpose::Mac).extractable();
        for (mechanism, len) in [
            (Mechanism::AesKeyWrap, 32_u16),
            (Mechanism::AesKeyWrapPad, 32),
            (Mechanism::AesKeyWrapPad, 36),
            (Mechanism::AesKeyWrapPadOld, 36),
        ] {
            if !session
                .token()
                .can(&mechanism, keywright_pkcs11::Ability::Wrap)
            {
                let old = mechanism == Mechanism::AesKeyWrapPadOld;
                assert!(scene::is_softhsm(store) || old, "{mechanism:?}");
                continue;
            }
            let kind = SecretKind::Generic { len };
            let key = session.generate_secret(kind, &inner).unwrap();
            let mut wrapped = Vec::new();
            session
                .wrap_key(&mechanism, wrapping, key, &mut wrapped)
                .unwrap();
            // RFC 3394 and RFC 5649: one block more than whole blocks of the key.
            assert_eq!(wrapped.len(), usize::from(len.div_ceil(8)) * 8 + 8);
            let plan = KeyPlan::new(Purpose::Mac);
            let back = session
                .unwrap_secret(&mechanism, wrapping, &wrapped, (kind, &plan))
                .unwrap();
            let hmac = Mechanism::Hmac(keywright_pkcs11::Hash::Sha256);
            let macs = [key, back].map(|key| scene::signed(&session, &hmac, key, b"text"));
            assert_eq!(macs[0], macs[1]);
            assert!(!flag(&session, back, AttributeType::LOCAL));
            for index in 0..wrapped.len() {
                let mut changed = wrapped.clone();
                changed[index] ^= 1;
                let opened = session.unwrap_secret(&mechanism, wrapping, &changed, (kind, &plan));
                assert!(opened.is_err(), "byte {index} of {mechanism:?}");
            }
        }
    });
}

#[test]
fn what_was_made_to_stay_is_not_wrapped() {
    on_each(|store| {
        let session = scene::writing(store);
        let wrapping = session
            .generate_secret(AES, &KeyPlan::new(Purpose::Wrap))
            .unwrap();
        let key = session
            .generate_secret(AES, &KeyPlan::new(Purpose::Encrypt))
            .unwrap();
        let mut out = Vec::new();
        let error = session
            .wrap_key(&Mechanism::AesKeyWrap, wrapping, key, &mut out)
            .unwrap_err();
        assert_eq!(scene::code(&error), ReturnCode::KEY_UNEXTRACTABLE);
        let error = session
            .wrap_key(&Mechanism::AesKeyWrap, key, wrapping, &mut out)
            .unwrap_err();
        assert!(error.failure().is_some());
        assert!(out.is_empty());
    });
}

#[test]
fn both_sides_of_an_agreement_have_one_secret() {
    on_each(|store| {
        let session = scene::writing(store);
        for curve in [Curve::P256, Curve::P384, Curve::X25519] {
            let kind = PairKind::Curve(curve);
            if !scene::makes(&session, kind) {
                assert_eq!(curve, Curve::X25519);
                continue;
            }
            let plan = KeyPlan::new(Purpose::Derive).in_session();
            let pairs = [(); 2].map(|()| session.generate_pair(kind, &plan).unwrap());
            let points = pairs.map(|pair| {
                let point = session
                    .attribute(pair.public, AttributeType::EC_POINT)
                    .unwrap();
                point.bytes().unwrap().to_vec()
            });
            let len = curve.bits().div_ceil(8) as usize;
            let one = session.agree(pairs[0].private, &points[1], len).unwrap();
            let other = session.agree(pairs[1].private, &points[0], len).unwrap();
            assert_eq!(one.expose(), other.expose());
            assert_eq!(one.len(), len);
            assert!(one.expose().iter().any(|byte| *byte != 0));
            assert!(session.agree(pairs[0].private, b"no point", len).is_err());
        }
    });
}

#[test]
fn both_sides_of_an_encapsulation_have_one_key() {
    on_each(|store| {
        let session = scene::writing(store);
        let template = KeyPlan::new(Purpose::Mac)
            .in_session()
            .secret(KeyType::GENERIC_SECRET.value())
            .number(AttributeType::VALUE_LEN, 32);
        if !scene::makes(&session, PairKind::MlKem { set: 2 }) {
            let plan = KeyPlan::new(Purpose::Derive).in_session();
            let pair = session
                .generate_pair(PairKind::Curve(Curve::P256), &plan)
                .unwrap();
            let error = session
                .encapsulate(&Mechanism::MlKem, pair.public, &template, &mut Vec::new())
                .unwrap_err();
            let expected = [
                ReturnCode::FUNCTION_NOT_SUPPORTED,
                ReturnCode::MECHANISM_INVALID,
            ];
            assert!(expected.contains(&scene::code(&error)), "{error}");
            return;
        }
        let plan = KeyPlan::new(Purpose::Encapsulate).in_session();
        for (set, len) in [(1, 768), (2, 1088), (3, 1568)] {
            let pair = session
                .generate_pair(PairKind::MlKem { set }, &plan)
                .unwrap();
            let mut sent = Vec::new();
            let ours = session
                .encapsulate(&Mechanism::MlKem, pair.public, &template, &mut sent)
                .unwrap();
            assert_eq!(sent.len(), len);
            let theirs = session
                .decapsulate(&Mechanism::MlKem, pair.private, &template, &sent)
                .unwrap();
            let hmac = Mechanism::Hmac(keywright_pkcs11::Hash::Sha256);
            let macs = [ours, theirs].map(|key| scene::signed(&session, &hmac, key, b"text"));
            assert_eq!(macs[0], macs[1]);
            let short =
                session.decapsulate(&Mechanism::MlKem, pair.private, &template, &sent[..len - 1]);
            assert!(short.is_err());
        }
    });
}

#[test]
fn secrets_that_are_taken_out_are_those_of_another_implementation() {
    on_each(|store| {
        let session = scene::writing(store);
        let kind = PairKind::MlKem { set: 2 };
        if !scene::makes(&session, kind) {
            assert_eq!(store.kind(), Kind::SoftHsm, "the other has it");
            return;
        }
        let plan = KeyPlan::new(Purpose::Encapsulate).in_session();
        let pair = session.generate_pair(kind, &plan).unwrap();
        let before = session.search(&scene::secrets()).unwrap().count();
        let public = session
            .attribute(pair.public, AttributeType::VALUE)
            .unwrap();
        let public = public.bytes().unwrap().try_into().unwrap();
        let theirs = MlKem768EncapsulationKey::from_bytes(public).unwrap();
        let (sent, secret) = theirs.encapsulate().unwrap();
        let found = session.decapsulate_secret(pair.private, &sent).unwrap();
        assert_eq!(found.expose(), secret.expose());

        let mut sent = Vec::new();
        let secret = session.encapsulate_secret(pair.public, &mut sent).unwrap();
        let open = |sent: &[u8]| session.decapsulate_secret(pair.private, sent);
        assert_eq!(open(&sent).unwrap().expose(), secret.expose());
        for place in [0, sent.len() / 2, sent.len() - 1] {
            let mut changed = sent.clone();
            changed[place] ^= 1;
            // Another secret and no error: FIPS 203, algorithm 18.
            let other = open(&changed).unwrap();
            assert_ne!(other.expose(), secret.expose(), "{place}");
            assert_eq!(other.len(), 32);
        }
        assert!(open(&sent[1..]).is_err() && open(&[]).is_err());
        let left = session.search(&scene::secrets()).unwrap().count();
        assert_eq!(left, before, "nothing of it stays in the session");
    });
}

#[test]
fn a_copy_in_the_session_is_the_key_and_as_guarded() {
    on_each(|store| {
        let session = scene::writing(store);
        let key = session
            .generate_secret(AES, &KeyPlan::new(Purpose::Encrypt).id(&[9]).modifiable())
            .unwrap();
        let copy = session.copy_into_session(key).unwrap();
        assert_ne!(copy, key);
        assert!(flag(&session, copy, AttributeType::SENSITIVE));
        assert!(!flag(&session, copy, AttributeType::EXTRACTABLE));
        assert!(!flag(&session, copy, AttributeType::TOKEN));
        let mechanism = Mechanism::AesGcm {
            nonce: &[1; 12],
            aad: b"aad",
        };
        let sealed = [key, copy].map(|key| scene::sealed(&session, &mechanism, key, b"text"));
        assert_eq!(sealed[0], sealed[1]);
        drop(session);
        let session = scene::writing(store);
        assert_eq!(
            session.search(&Template::new().id(&[9])).unwrap().count(),
            1
        );
    });
}
