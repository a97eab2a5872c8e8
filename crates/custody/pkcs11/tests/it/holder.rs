//! The token as a holder: the suite of all holders, and what is a token's alone.

use std::sync::Arc;

use keywright_clock::{Clock, WallTime};
use keywright_custody::reader::{FormerName, NonceLen, ObjectId};
use keywright_custody::{
    ByCustody, Detail, HolderError, HolderOperation, Identity, Items, KeyHolder, KeyMaterial,
    NO_DEADLINE, NewKey, Particulars, Placement, ReaderDetail, Request, RootKey, Versions,
    conformance,
};
use keywright_envelope::Binding;
use keywright_keystore::{Keystore, ServiceKey};
use keywright_mutate::{mutants, mutations};
use keywright_pkcs11::{
    Copies, Error, LogIn, PoolOptions, SessionPool, Template, TokenHolder, TokenQuery, TokenRoot,
};
use keywright_pkcs11_names::AttributeType;
use keywright_policy::Policy;
use keywright_primitives::random::RandomStream;
use keywright_secret::SecretBytes;
use keywright_tokens::{Store, on_each};
use keywright_types::{
    Algorithm, Code, Custody, InstallationId, KeyId, KeySpec, KeyVersion, Operation, TenantId,
};

use crate::scene::{self, pin};

pub(crate) fn pool_with(store: &Store, options: PoolOptions) -> Arc<SessionPool> {
    let token = &store.tokens()[0];
    SessionPool::open(
        scene::module(store),
        &TokenQuery::label(token.label()),
        LogIn::Pin(pin(token.user_pin())),
        options,
        Clock::system(),
    )
    .unwrap()
}

pub(crate) fn pool(store: &Store) -> Arc<SessionPool> {
    pool_with(store, PoolOptions::default())
}

pub(crate) fn holder(pool: &Arc<SessionPool>) -> TokenHolder {
    TokenHolder::new(Arc::clone(pool), Clock::system())
}

fn spec() -> KeySpec {
    KeySpec {
        algorithm: Algorithm::TokenGcm12,
        custody: Custody::Token,
        ..KeySpec::seal()
    }
}

pub(crate) fn identity(key: u8, version: u32) -> Identity {
    Identity {
        tenant: TenantId::from_bytes([1; 16]),
        key: KeyId::from_bytes([key; 16]),
        version: KeyVersion::from_number(version),
        spec: spec(),
        created: WallTime::from_unix_millis(1_700_000_000_000),
    }
}

pub(crate) fn made(holder: &dyn KeyHolder, key: u8, version: u32) -> Arc<KeyMaterial> {
    let identity = identity(key, version);
    let permit = Policy::owner().permit(identity.key, Operation::ContextCreate);
    let new = NewKey {
        identity,
        parent: None,
    };
    Arc::new(holder.generate(&permit, new).unwrap())
}

/// One item, whole.
pub(crate) fn one(
    holder: &dyn KeyHolder,
    operation: HolderOperation,
    key: &Arc<KeyMaterial>,
    payload: &[u8],
) -> Result<Result<Vec<u8>, Code>, HolderError> {
    one_with(holder, operation, key, (payload, b"aad"))
}

pub(crate) fn one_with(
    holder: &dyn KeyHolder,
    operation: HolderOperation,
    key: &Arc<KeyMaterial>,
    (payload, aad): (&[u8], &[u8]),
) -> Result<Result<Vec<u8>, Code>, HolderError> {
    let mut items = Items::default();
    items.push_slices(0, payload, aad).unwrap();
    let permit = Policy::owner().permit(key.key(), operation.permitted_by());
    let request = Request {
        operation,
        versions: Versions::from_iter([Arc::clone(key)]),
        binding: Binding::None,
        deadline_ns: NO_DEADLINE,
    };
    let reply = holder.perform(&permit, &request, items, &mut RandomStream::unseeded())?;
    let item = reply.iter().next().unwrap();
    Ok(match item.code {
        Code::Ok => Ok(item.payload.to_vec()),
        code => Err(code),
    })
}

pub(crate) fn seal(
    holder: &dyn KeyHolder,
    key: &Arc<KeyMaterial>,
    text: &[u8],
) -> Result<Vec<u8>, HolderError> {
    one(holder, HolderOperation::Seal, key, text).map(Result::unwrap)
}

pub(crate) fn open(
    holder: &dyn KeyHolder,
    key: &Arc<KeyMaterial>,
    sealed: &[u8],
) -> Result<Result<Vec<u8>, Code>, HolderError> {
    one(holder, HolderOperation::Open, key, sealed)
}

#[test]
fn the_token_keeps_the_promises_of_all_holders() {
    on_each(|store| {
        let pool = pool(store);
        let holder = holder(&pool);
        assert!(holder.supports(&spec(), HolderOperation::Seal));
        assert!(!holder.supports(&KeySpec::seal(), HolderOperation::Seal));
        conformance::run(&holder).unwrap();
        conformance::run(&holder).unwrap();
    });
}

#[test]
fn so_it_does_with_keys_copied_into_the_session() {
    on_each(|store| {
        let options = PoolOptions {
            copies: Copies::WhereAllowed,
            ..PoolOptions::default()
        };
        let pool = pool_with(store, options);
        conformance::run(&holder(&pool)).unwrap();
        let session = pool.take().unwrap();
        let copies = scene::secrets().no(AttributeType::TOKEN);
        assert!(
            session.search(&copies).unwrap().count() > 0,
            "copies are made"
        );
    });
}

#[test]
fn a_root_in_the_token_and_keys_in_the_token_are_one_holder() {
    on_each(|store| {
        let pool = pool(store);
        let root = TokenRoot::create(Arc::clone(&pool), InstallationId::from_bytes([7; 16]));
        let root = root.unwrap();
        let store = Keystore::with_root(Box::new(root), 64, Clock::system()).unwrap();
        conformance::run(&store).unwrap();
        let both = ByCustody::new(Arc::new(store), Arc::new(holder(&pool)));
        conformance::run(&both).unwrap();
    });
}

fn keys_in(pool: &Arc<SessionPool>) -> usize {
    let session = pool.take().unwrap();
    let label = |object| session.attribute(object, AttributeType::LABEL);
    let ours = session.search(&scene::secrets()).unwrap().filter(|object| {
        let label = label(*object.as_ref().unwrap()).unwrap();
        label.text().is_some_and(|text| text.starts_with("kw1."))
    });
    ours.count()
}

#[test]
fn a_root_that_is_looked_at_seals_nothing_and_one_that_is_destroyed_is_gone() {
    on_each(|store| {
        let pool = pool(store);
        let installation = InstallationId::from_bytes([7; 16]);
        let root = TokenRoot::create(Arc::clone(&pool), installation).unwrap();
        let description = root.description();
        assert_eq!(root.placement(), Placement::Pool);
        for _ in 0..3 {
            root.probe().unwrap();
        }
        assert_eq!(keys_in(&pool), 1);
        root.destroy().unwrap();
        assert_eq!(keys_in(&pool), 0);
        assert!(TokenRoot::open(pool, &description).is_err());
    });
}

#[test]
fn a_key_of_an_order_that_came_to_nothing_is_taken_back_and_its_number_is_free_again() {
    on_each(|store| {
        let pool = pool(store);
        let holder = holder(&pool);
        let (key, other) = (made(&holder, 1, 1), made(&holder, 1, 2));
        let permit = Policy::owner().permit(key.key(), Operation::KeyRotate);
        let again = |version| {
            let identity = identity(1, version);
            let parent = None;
            holder.generate(&permit, NewKey { identity, parent })
        };
        assert_eq!(again(1).err(), Some(HolderError::Leftover));
        let foreign = Policy::owner().permit(KeyId::from_bytes([2; 16]), Operation::KeyRotate);
        holder.discard(&foreign, &key);
        assert_eq!(
            again(1).err(),
            Some(HolderError::Leftover),
            "another's permit"
        );
        // The row of one version with the check value of the other.
        let crossed = KeyMaterial::new(identity(1, 1), other.sealed().to_vec(), None);
        holder.discard(&permit, &crossed);
        assert_eq!(again(1).err(), Some(HolderError::Leftover), "not that key");
        holder.discard(&permit, &key);
        let new = Arc::new(again(1).unwrap());
        assert!(seal(&holder, &new, b"text").is_ok());
        assert!(seal(&holder, &other, b"text").is_ok());
    });
}

#[test]
fn a_root_is_opened_again_by_its_description_and_by_no_other() {
    on_each(|store| {
        let pool = pool(store);
        let installation = InstallationId::from_bytes([7; 16]);
        let root = TokenRoot::create(Arc::clone(&pool), installation).unwrap();
        let (id, description) = (root.key_id(), root.description());
        let other = TokenRoot::create(Arc::clone(&pool), installation).unwrap();
        let other = other.description();
        let first = Keystore::with_root(Box::new(root), 8, Clock::system()).unwrap();
        let sealed = first.generate_service_key(ServiceKey::StoreRows).unwrap();
        let again = TokenRoot::open(Arc::clone(&pool), &description).unwrap();
        assert_eq!(again.key_id(), id);
        assert_eq!(again.installation(), installation);
        let second = Keystore::with_root(Box::new(again), 8, Clock::system()).unwrap();
        let opened = [&first, &second].map(|keystore| {
            let opened = keystore.open_service_key(ServiceKey::StoreRows, &sealed);
            opened.unwrap()
        });
        assert!(opened[0].ct_eq(&opened[1]));
        for index in 0..description.len() {
            let mut changed = description.clone();
            changed[index] ^= 1;
            assert!(
                TokenRoot::open(Arc::clone(&pool), &changed).is_err(),
                "byte {index}"
            );
        }
        for length in [0, 1, 17, 33, description.len() - 1] {
            let cut = TokenRoot::open(Arc::clone(&pool), &description[..length]);
            assert!(matches!(cut, Err(Error::WrongKey)));
        }
        let seeds = [description.as_slice(), &other];
        for mutant in mutations(&seeds, mutants(), 41) {
            keywright_pkcs11::fuzz_description(&mutant);
        }
        let crossed = [&description[..33], &other[33..]].concat();
        assert!(TokenRoot::open(Arc::clone(&pool), &crossed).is_err());
        let wrong = TokenRoot::open(Arc::clone(&pool), &other).unwrap();
        let wrong = Keystore::with_root(Box::new(wrong), 8, Clock::system()).unwrap();
        assert!(
            wrong
                .open_service_key(ServiceKey::StoreRows, &sealed)
                .is_err()
        );
    });
}

#[test]
fn the_key_in_the_token_is_named_and_guarded_as_the_design_says() {
    on_each(|store| {
        let pool = pool(store);
        let key = made(&holder(&pool), 5, 7);
        let session = pool.take().unwrap();
        let mut id = vec![5; 16];
        id.extend([0, 0, 0, 7]);
        let object = session.find_one(&Template::new().id(&id)).unwrap();
        let label = session.attribute(object, AttributeType::LABEL).unwrap();
        assert_eq!(label.text(), Some(format!("kw1.{}.7", "05".repeat(16))),);
        for (kind, value) in [
            (AttributeType::SENSITIVE, true),
            (AttributeType::EXTRACTABLE, false),
            (AttributeType::WRAP, false),
            (AttributeType::MODIFIABLE, false),
        ] {
            let read = session.attribute(object, kind).unwrap().flag();
            assert_eq!(read, Some(value), "{kind}");
        }
        let again = holder(&pool).generate(
            &Policy::owner().permit(key.key(), Operation::ContextCreate),
            NewKey {
                identity: identity(5, 7),
                parent: None,
            },
        );
        assert!(again.is_err(), "an id is given out once");
    });
}

#[test]
fn a_handle_that_came_to_mean_another_key_is_found_out() {
    on_each(|store| {
        let pool = pool(store);
        let holder = holder(&pool);
        let (key, other) = (made(&holder, 1, 1), made(&holder, 2, 1));
        let sealed = seal(&holder, &key, b"text").unwrap();
        // Somebody destroys the object and puts another key in its place, under the same id.
        let session = pool.open_writing().unwrap();
        let mut id = vec![1; 16];
        id.extend([0, 0, 0, 1]);
        let object = session.find_one(&Template::new().id(&id)).unwrap();
        session.destroy_object(object).unwrap();
        let plan = keywright_pkcs11::KeyPlan::new(keywright_pkcs11::Purpose::Encrypt).id(&id);
        session
            .generate_secret(keywright_pkcs11::SecretKind::Aes { len: 32 }, &plan)
            .unwrap();
        drop(session);
        for _ in 0..2 {
            assert_eq!(
                seal(&holder, &key, b"text").err(),
                Some(HolderError::KeyRejected)
            );
            assert_eq!(
                open(&holder, &key, &sealed).err(),
                Some(HolderError::KeyRejected)
            );
        }
        seal(&holder, &other, b"text").unwrap();
        let row = KeyMaterial::new(identity(2, 1), key.sealed().to_vec(), None);
        assert_eq!(
            seal(&holder, &Arc::new(row), b"text").err(),
            Some(HolderError::KeyRejected)
        );
    });
}

#[test]
fn a_key_that_may_do_more_than_it_was_made_for_is_not_used() {
    on_each(|store| {
        // Keys that are copied into sessions can be modified.
        let options = PoolOptions {
            copies: Copies::WhereAllowed,
            ..PoolOptions::default()
        };
        let pool = pool_with(store, options);
        let holder = holder(&pool);
        let key = made(&holder, 1, 1);
        let sealed = seal(&holder, &key, b"text").unwrap();
        let session = pool.open_writing().unwrap();
        let id = [&[1; 16][..], &[0, 0, 0, 1]].concat();
        let own = Template::new().yes(AttributeType::TOKEN).id(&id);
        let object = session.find_one(&own).unwrap();
        // As after a new start: nothing of it is known yet.
        let again = || {
            Arc::new(KeyMaterial::new(
                identity(1, 1),
                key.sealed().to_vec(),
                None,
            ))
        };
        let mut changed = 0;
        for kind in [AttributeType::WRAP, AttributeType::UNWRAP] {
            if session
                .set_attributes(object, &Template::new().yes(kind))
                .is_err()
            {
                continue;
            }
            changed += 1;
            let refused = Some(HolderError::KeyRejected);
            assert_eq!(holder.check_key(&again()).err(), refused, "{kind}");
            assert_eq!(open(&holder, &again(), &sealed).err(), refused, "{kind}");
            session
                .set_attributes(object, &Template::new().no(kind))
                .unwrap();
            holder.check_key(&again()).unwrap();
        }
        assert!(
            changed > 0 || !scene::is_softhsm(store),
            "nothing was tried"
        );
        assert_eq!(
            open(&holder, &again(), &sealed).unwrap().as_deref(),
            Ok(&b"text"[..])
        );
    });
}

#[test]
fn a_key_that_is_gone_takes_no_other_with_it() {
    on_each(|store| {
        let pool = pool(store);
        let holder = holder(&pool);
        let (key, other) = (made(&holder, 1, 1), made(&holder, 2, 1));
        let sealed = seal(&holder, &other, b"text").unwrap();
        seal(&holder, &key, b"text").unwrap();
        let session = pool.open_writing().unwrap();
        let mut id = vec![1; 16];
        id.extend([0, 0, 0, 1]);
        let object = session.find_one(&Template::new().id(&id)).unwrap();
        session.destroy_object(object).unwrap();
        drop(session);
        for _ in 0..3 {
            assert!(seal(&holder, &key, b"text").is_err());
            let opened = open(&holder, &other, &sealed).unwrap();
            assert_eq!(opened, Ok(b"text".to_vec()));
        }
        assert_eq!(
            seal(&holder, &key, b"text").err(),
            Some(HolderError::KeyRejected)
        );
    });
}

/// Takes a key that is in the token already.
fn bind(
    holder: &dyn KeyHolder,
    label: &str,
    object: Option<&[u8]>,
) -> Result<KeyMaterial, HolderError> {
    let reader = ReaderDetail {
        label: label.to_owned(),
        context: "trade".to_owned(),
        name: FormerName::CommonName,
        nonce: NonceLen::Sixteen,
        object: object.map(|id| ObjectId::new(id.to_vec()).unwrap()),
    };
    let identity = identity(9, 2);
    let permit = Policy::owner().permit(identity.key, Operation::ReaderImport);
    let new = NewKey {
        identity,
        parent: None,
    };
    let particulars = Particulars {
        detail: Some(Arc::new(Detail::Reader(reader))),
        secret: None,
    };
    holder.generate_with(&permit, new, particulars)
}

#[test]
fn a_key_that_cannot_be_taken_is_said_to_be_missing_and_no_stored_key_to_be_wrong() {
    on_each(|store| {
        let pool = pool(store);
        let holder = holder(&pool);
        let session = pool.open_writing().unwrap();
        for (label, id) in [
            ("one", &b"1"[..]),
            ("twin", b"2"),
            ("twin", b"3"),
            ("no-id", b""),
        ] {
            let plan = keywright_pkcs11::KeyPlan::new(keywright_pkcs11::Purpose::EncryptAndWrap);
            let plan = plan.id(id).label(label);
            let key = SecretBytes::from_vec(vec![7; 32]);
            let kind = keywright_pkcs11::SecretKind::Aes { len: 32 };
            session.import_secret(kind, &key, &plan).unwrap();
        }
        for (label, object, why) in [
            ("none", None, HolderError::NoSuchKey),
            ("none", Some(&b"1"[..]), HolderError::NoSuchKey),
            ("one", Some(&b"2"[..]), HolderError::NoSuchKey),
            ("no-id", Some(&b"1"[..]), HolderError::NoSuchKey),
            ("twin", None, HolderError::ManyKeys),
            ("twin", Some(&b"2"[..]), HolderError::ManyKeys),
            ("no-id", None, HolderError::UnfitKey),
        ] {
            let refused = bind(&holder, label, object).err();
            assert_eq!(refused, Some(why), "{label} {object:?}");
        }
        let bound = Arc::new(bind(&holder, "one", Some(&b"1"[..])).unwrap());
        // Once it is taken, a key that is gone is a stored key that is not there.
        let object = session.find_one(&Template::new().label("one")).unwrap();
        session.destroy_object(object).unwrap();
        drop(session);
        for _ in 0..2 {
            assert!(holder.check_key(&bound).is_err());
        }
        assert_eq!(holder.check_key(&bound), Err(HolderError::KeyRejected));
        assert_eq!(HolderError::KeyRejected.code(), Code::HolderUnavailable);
    });
}

#[test]
fn a_ciphertext_that_does_not_open_costs_nobody_the_connection() {
    on_each(|store| {
        let pool = pool(store);
        let holder = holder(&pool);
        let key = made(&holder, 1, 1);
        let sealed = seal(&holder, &key, b"text").unwrap();
        let before = pool.take().unwrap().generation();
        for index in 26..sealed.len() {
            let mut changed = sealed.clone();
            changed[index] ^= 1;
            let opened = open(&holder, &key, &changed).unwrap();
            assert_eq!(opened, Err(Code::DecryptionFailed), "byte {index}");
        }
        assert_eq!(pool.take().unwrap().generation(), before);
        assert_eq!(open(&holder, &key, &sealed).unwrap(), Ok(b"text".to_vec()));
    });
}

#[test]
fn a_request_that_is_too_late_is_not_begun() {
    on_each(|store| {
        let pool = pool(store);
        let holder = holder(&pool);
        let key = made(&holder, 1, 1);
        let request = Request {
            operation: HolderOperation::Seal,
            versions: Versions::from_iter([Arc::clone(&key)]),
            binding: Binding::None,
            deadline_ns: 0,
        };
        let permit = Policy::owner().permit(key.key(), Operation::Encrypt);
        let late = holder.perform(
            &permit,
            &request,
            Items::default(),
            &mut RandomStream::unseeded(),
        );
        assert_eq!(late.err(), Some(HolderError::DeadlineExceeded));
    });
}

#[test]
fn what_a_token_does_not_keep_is_refused_when_it_is_made() {
    on_each(|store| {
        let pool = pool(store);
        let holder = holder(&pool);
        for algorithm in [
            Algorithm::Xaes256Gcm,
            Algorithm::HmacSha256,
            Algorithm::Ed25519,
        ] {
            let mut identity = identity(1, 1);
            identity.spec.algorithm = algorithm;
            let permit = Policy::owner().permit(identity.key, Operation::ContextCreate);
            let new = NewKey {
                identity,
                parent: None,
            };
            assert_eq!(
                holder.generate(&permit, new).err(),
                Some(HolderError::Unsupported(Custody::Token))
            );
        }
        let session = pool.take().unwrap();
        assert_eq!(session.search(&scene::secrets()).unwrap().count(), 0);
    });
}
