//! Objects: read attribute by attribute, searched for one by one, found exactly.

use keywright_pkcs11::{Access, Error, KeyPlan, Purpose, Reading, SecretKind, Session, Template};
use keywright_pkcs11_names::{AttributeType, KeyType, ObjectClass, ReturnCode};
use keywright_tokens::on_each;

use crate::scene;

fn hmac_key(session: &Session, label: &str, id: &[u8]) {
    let plan = KeyPlan::new(Purpose::Mac).label(label).id(id);
    session
        .generate_secret(SecretKind::Generic { len: 32 }, &plan)
        .unwrap();
}

#[test]
fn one_attribute_that_cannot_be_read_hides_no_other() {
    on_each(|store| {
        let session = scene::writing(store);
        let plan = KeyPlan::new(Purpose::Encrypt).label("a key").id(&[1, 2]);
        let key = session
            .generate_secret(SecretKind::Aes { len: 32 }, &plan)
            .unwrap();
        let kinds = [
            AttributeType::LABEL,
            AttributeType::VALUE,
            AttributeType::MODULUS,
            AttributeType::new(0x8000_4242),
            AttributeType::ID,
            AttributeType::KEY_TYPE,
            AttributeType::SENSITIVE,
            AttributeType::VALUE_LEN,
        ];
        let readings = session.attributes(key, &kinds).unwrap();
        assert_eq!(readings.len(), kinds.len());
        assert_eq!(readings[0].text().as_deref(), Some("a key"));
        assert_eq!(readings[1], Reading::Sensitive);
        assert!(readings[2].bytes().is_none() && readings[3].bytes().is_none());
        assert_eq!(readings[4].bytes(), Some(&[1, 2][..]));
        assert_eq!(readings[5].number(), Some(KeyType::AES.value()));
        assert_eq!(readings[6].flag(), Some(true));
        assert_eq!(readings[7].number(), Some(32));
        for (kind, together) in kinds.iter().zip(&readings) {
            let alone = session.attribute(key, *kind).unwrap();
            assert_eq!(alone, *together, "{kind}");
        }
        assert!(session.attributes(key, &[]).unwrap().is_empty());
    });
}

#[test]
fn a_search_gives_every_object_once_however_many_there_are() {
    on_each(|store| {
        let session = scene::writing(store);
        for number in 0..150_u8 {
            let plan = KeyPlan::new(Purpose::Mac).in_session().id(&[number]);
            session
                .generate_secret(SecretKind::Generic { len: 16 }, &plan)
                .unwrap();
        }
        let class = Template::new().class(ObjectClass::SECRET_KEY);
        let mut seen: Vec<u8> = session
            .search(&class)
            .unwrap()
            .map(|found| {
                let id = session
                    .attribute(found.unwrap(), AttributeType::ID)
                    .unwrap();
                id.bytes().unwrap()[0]
            })
            .collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..150).collect::<Vec<u8>>());
        let mut begun = session.search(&class).unwrap();
        assert!(begun.next().is_some());
        drop(begun);
        assert_eq!(session.search(&class).unwrap().count(), 150);
    });
}

#[test]
fn exactly_one_object_is_found_or_the_candidates_are_named() {
    on_each(|store| {
        let session = scene::writing(store);
        hmac_key(&session, "twin", &[1]);
        hmac_key(&session, "twin", &[2]);
        hmac_key(&session, "alone", &[3]);
        let find = |template| session.find_one(&template);
        let alone = find(Template::new().label("alone")).unwrap();
        assert_eq!(find(Template::new().id(&[3])).unwrap(), alone);
        for label in ["alon", "alone ", "Alone", ""] {
            let error = find(Template::new().label(label).class(ObjectClass::SECRET_KEY));
            assert!(matches!(error, Err(Error::NoObject)), "{label:?}");
        }
        let error = find(Template::new().label("twin")).unwrap_err();
        let Error::ManyObjects { candidates } = error else {
            panic!("{error}");
        };
        let mut ids: Vec<_> = candidates
            .iter()
            .map(|one| one.id.clone().unwrap())
            .collect();
        ids.sort();
        assert_eq!(ids, [vec![1], vec![2]]);
        assert!(
            candidates
                .iter()
                .all(|one| one.label.as_deref() == Some("twin")
                    && one.class == Some(ObjectClass::SECRET_KEY)
                    && one.key_type == Some(KeyType::GENERIC_SECRET))
        );
        let taken = session.must_be_new(&Template::new().label("alone"));
        assert!(matches!(taken, Err(Error::Duplicate { .. })));
        session.must_be_new(&Template::new().label("new")).unwrap();
    });
}

#[test]
fn what_was_made_not_to_change_does_not() {
    on_each(|store| {
        let session = scene::writing(store);
        hmac_key(&session, "fixed", &[1]);
        let key = session.find_one(&Template::new().id(&[1])).unwrap();
        let changes = Template::new().label("other");
        session.set_attributes(key, &changes).unwrap_err();
        let label = session.attribute(key, AttributeType::LABEL).unwrap();
        assert_eq!(label.text().as_deref(), Some("fixed"));
        let plan = KeyPlan::new(Purpose::Mac).modifiable().label("free");
        let free = session
            .generate_secret(SecretKind::Generic { len: 32 }, &plan)
            .unwrap();
        session.set_attributes(free, &changes).unwrap();
        let label = session.attribute(free, AttributeType::LABEL).unwrap();
        assert_eq!(label.text().as_deref(), Some("other"));
        let plain = Template::new().no(AttributeType::SENSITIVE);
        session.set_attributes(free, &plain).unwrap_err();
    });
}

#[test]
fn a_session_that_reads_makes_nothing_that_stays() {
    on_each(|store| {
        let session = scene::session(store, Access::Read);
        let kind = SecretKind::Generic { len: 32 };
        let error = session
            .generate_secret(kind, &KeyPlan::new(Purpose::Mac))
            .unwrap_err();
        assert_eq!(scene::code(&error), ReturnCode::SESSION_READ_ONLY);
        let plan = KeyPlan::new(Purpose::Mac).in_session();
        session.generate_secret(kind, &plan).unwrap();
        drop(session);
        let session = scene::writing(store);
        assert_eq!(session.search(&scene::secrets()).unwrap().count(), 0);
    });
}

#[test]
fn a_destroyed_object_is_gone_and_its_handle_says_so() {
    on_each(|store| {
        let session = scene::writing(store);
        hmac_key(&session, "gone", &[1]);
        let key = session.find_one(&Template::new().id(&[1])).unwrap();
        session.destroy_object(key).unwrap();
        let error = session.attribute(key, AttributeType::LABEL).unwrap_err();
        assert_eq!(scene::code(&error), ReturnCode::OBJECT_HANDLE_INVALID);
        assert!(session.destroy_object(key).is_err());
        assert!(matches!(
            session.find_one(&Template::new().id(&[1])),
            Err(Error::NoObject)
        ));
    });
}
