//! Keys in a token that sign, agree and make MACs: what the suite of all holders cannot see from outside.

use std::sync::Arc;

use keywright_clock::WallTime;
use keywright_custody::{
    HolderError, HolderOperation, Identity, KeyHolder, KeyMaterial, NewKey, Usage,
};
use keywright_pkcs11::{
    Copies, Curve, KeyPlan, PairKind, PoolOptions, Purpose as For, SecretKind, Session, Template,
};
use keywright_pkcs11_names::{AttributeType, ObjectClass};
use keywright_policy::Policy;
use keywright_tokens::{Kind, on_each};
use keywright_types::{
    Algorithm, Code, Custody, KeyId, KeySpec, KeyVersion, Operation, Purpose, TenantId,
};

use crate::holder::{holder, made, one_with, pool, pool_with, seal};

fn spec(purpose: Purpose, algorithm: Algorithm) -> KeySpec {
    KeySpec {
        purpose,
        algorithm,
        custody: Custody::Token,
        ..KeySpec::seal()
    }
}

const SIGNER: KeySpec = KeySpec {
    purpose: Purpose::Sign,
    algorithm: Algorithm::EcdsaP256,
    custody: Custody::Token,
    ..KeySpec::seal()
};
const MAC: KeySpec = KeySpec {
    purpose: Purpose::Mac,
    algorithm: Algorithm::HmacSha256,
    ..SIGNER
};
const PARTNER: KeySpec = KeySpec {
    purpose: Purpose::Agree,
    algorithm: Algorithm::EcdhP256,
    ..SIGNER
};

fn identity(key: u8, spec: KeySpec) -> Identity {
    Identity {
        tenant: TenantId::from_bytes([1; 16]),
        key: KeyId::from_bytes([key; 16]),
        version: KeyVersion::FIRST,
        spec,
        created: WallTime::from_unix_millis(1_700_000_000_000),
    }
}

fn make(holder: &dyn KeyHolder, key: u8, spec: KeySpec) -> Arc<KeyMaterial> {
    let identity = identity(key, spec);
    let permit = Policy::owner().permit(identity.key, Operation::ContextCreate);
    let parent = None;
    Arc::new(
        holder
            .generate(&permit, NewKey { identity, parent })
            .unwrap(),
    )
}

fn ask(
    holder: &dyn KeyHolder,
    operation: HolderOperation,
    key: &Arc<KeyMaterial>,
    (payload, proof): (&[u8], &[u8]),
) -> Result<Result<Vec<u8>, Code>, HolderError> {
    let usage = Usage {
        proof,
        ..Usage::default()
    };
    let mut aad = Vec::new();
    usage.put(&mut aad);
    one_with(holder, operation, key, (payload, &aad))
}

fn sign(holder: &dyn KeyHolder, key: &Arc<KeyMaterial>) -> Result<Vec<u8>, HolderError> {
    ask(holder, HolderOperation::Sign, key, (b"text", b"")).map(Result::unwrap)
}

fn id(key: u8) -> Vec<u8> {
    [&[key; 16][..], &[0, 0, 0, 1]].concat()
}

fn objects(session: &Session, key: u8) -> usize {
    let template = Template::new().id(&id(key)).yes(AttributeType::TOKEN);
    session.search(&template).unwrap().count()
}

#[test]
fn which_keys_a_token_keeps_is_what_its_mechanisms_say() {
    on_each(|store| {
        let pool = pool(store);
        let holder = holder(&pool);
        let kind = store.tokens()[0].kind();
        let supports =
            |spec: KeySpec| holder.supports(&spec, HolderOperation::first_of(spec.purpose));
        for algorithm in [
            Algorithm::EcdsaP256,
            Algorithm::EcdsaP384,
            Algorithm::EcdsaP521,
            Algorithm::Rsa2048Pkcs1,
            Algorithm::Rsa2048Pss,
            Algorithm::Rsa3072Pkcs1,
            Algorithm::Rsa3072Pss,
        ] {
            assert!(supports(spec(Purpose::Sign, algorithm)), "{algorithm}");
        }
        for algorithm in [
            Algorithm::HmacSha256,
            Algorithm::HmacSha384,
            Algorithm::HmacSha512,
            Algorithm::Aes256Cmac,
        ] {
            assert!(supports(spec(Purpose::Mac, algorithm)), "{algorithm}");
        }
        assert!(supports(PARTNER));
        assert!(supports(spec(Purpose::Sign, Algorithm::Ed25519)));
        // SoftHSM has no curve of 255 bits to agree on, and nothing over lattices.
        for later in [
            spec(Purpose::Agree, Algorithm::X25519),
            spec(Purpose::Sign, Algorithm::MlDsa65),
        ] {
            assert_eq!(supports(later), kind == Kind::Kryoptic, "{later:?}");
        }
        // What is no signature of PKCS#11, what is no purpose of the algorithm, and what a key does not do.
        assert!(!supports(spec(Purpose::Sign, Algorithm::EcdsaSecp256k1)));
        assert!(!supports(spec(Purpose::Mac, Algorithm::EcdsaP256)));
        assert!(!holder.supports(&MAC, HolderOperation::Sign));
        assert!(!holder.supports(&SIGNER, HolderOperation::Seal));
        assert!(!holder.supports(&SIGNER, HolderOperation::ExportKey));
    });
}

#[test]
fn a_key_has_one_use_and_its_public_half_the_same_id() {
    on_each(|store| {
        let pool = pool(store);
        let holder = holder(&pool);
        let keys = [(1, MAC), (2, SIGNER), (3, PARTNER)];
        for (key, spec) in keys {
            make(&holder, key, spec);
        }
        let session = pool.take().unwrap();
        for (key, spec) in keys {
            let (class, on, halves) = match spec.purpose {
                Purpose::Mac => (ObjectClass::SECRET_KEY, AttributeType::SIGN, 1),
                Purpose::Sign => (ObjectClass::PRIVATE_KEY, AttributeType::SIGN, 2),
                _ => (ObjectClass::PRIVATE_KEY, AttributeType::DERIVE, 2),
            };
            assert_eq!(objects(&session, key), halves);
            let object = session
                .find_one(&Template::new().id(&id(key)).class(class))
                .unwrap();
            let flag = |kind| session.attribute(object, kind).unwrap().flag();
            for kind in [
                AttributeType::SIGN,
                AttributeType::DERIVE,
                AttributeType::DECRYPT,
                AttributeType::UNWRAP,
            ] {
                // What a class does not have is as good as false.
                assert_eq!(flag(kind).unwrap_or(false), kind == on, "{spec:?} {kind}");
            }
            assert_eq!(flag(AttributeType::SENSITIVE), Some(true));
            assert_eq!(flag(AttributeType::EXTRACTABLE), Some(false));
            assert_eq!(flag(AttributeType::MODIFIABLE), Some(false));
        }
    });
}

#[test]
fn a_pair_that_was_put_in_the_place_of_another_is_found_out() {
    on_each(|store| {
        let pool = pool(store);
        let holder = holder(&pool);
        for (key, spec, purpose) in [(1, SIGNER, For::Sign), (2, PARTNER, For::Derive)] {
            let material = make(&holder, key, spec);
            let session = pool.open_writing().unwrap();
            for class in [ObjectClass::PRIVATE_KEY, ObjectClass::PUBLIC_KEY] {
                let template = Template::new().id(&id(key)).class(class);
                let object = session.find_one(&template).unwrap();
                session.destroy_object(object).unwrap();
            }
            let plan = KeyPlan::new(purpose).id(&id(key));
            let kind = PairKind::Curve(Curve::P256);
            session.generate_pair(kind, &plan).unwrap();
            assert_eq!(
                holder.check_key(&material).err(),
                Some(HolderError::KeyRejected)
            );
        }
        // Half of a pair is replaced: the private half signs, and nothing of it fits.
        let material = make(&holder, 3, SIGNER);
        let session = pool.open_writing().unwrap();
        let private = Template::new().id(&id(3)).class(ObjectClass::PRIVATE_KEY);
        session
            .destroy_object(session.find_one(&private).unwrap())
            .unwrap();
        let plan = KeyPlan::new(For::Sign).id(&id(3));
        let pair = session
            .generate_pair(PairKind::Curve(Curve::P256), &plan)
            .unwrap();
        session.destroy_object(pair.public).unwrap();
        assert_eq!(
            sign(&holder, &material).err(),
            Some(HolderError::KeyRejected)
        );
    });
}

#[test]
fn a_mac_key_that_was_put_in_the_place_of_another_is_found_out() {
    on_each(|store| {
        let pool = pool(store);
        let holder = holder(&pool);
        let material = make(&holder, 1, MAC);
        let session = pool.open_writing().unwrap();
        let object = session.find_one(&Template::new().id(&id(1))).unwrap();
        session.destroy_object(object).unwrap();
        let plan = KeyPlan::new(For::Mac).id(&id(1));
        let kind = SecretKind::Generic { len: 32 };
        session.generate_secret(kind, &plan).unwrap();
        drop(session);
        let used = ask(&holder, HolderOperation::Mac, &material, (b"text", b""));
        assert_eq!(used.err(), Some(HolderError::KeyRejected));
    });
}

#[test]
fn signatures_that_are_no_numbers_cost_nobody_the_connection() {
    on_each(|store| {
        let pool = pool(store);
        let holder = holder(&pool);
        for (key, algorithm) in [
            (1, Algorithm::EcdsaP256),
            (2, Algorithm::EcdsaP384),
            (3, Algorithm::Rsa2048Pkcs1),
            (4, Algorithm::Rsa2048Pss),
        ] {
            let material = make(&holder, key, spec(Purpose::Sign, algorithm));
            let good = sign(&holder, &material).unwrap();
            let before = pool.take().unwrap().generation();
            for byte in [0, 1, 0x7f, 0xff] {
                let proof = vec![byte; good.len()];
                let looked = ask(
                    &holder,
                    HolderOperation::Verify,
                    &material,
                    (b"text", &proof),
                );
                assert_eq!(looked, Ok(Ok(vec![0])), "{algorithm} {byte}");
            }
            assert_eq!(pool.take().unwrap().generation(), before);
        }
    });
}

#[test]
fn a_key_is_destroyed_with_its_public_half_its_copy_and_nothing_else() {
    on_each(|store| {
        for (base, copies) in [(10, Copies::Never), (20, Copies::WhereAllowed)] {
            let options = PoolOptions {
                copies,
                ..PoolOptions::default()
            };
            let pool = pool_with(store, options);
            let holder = holder(&pool);
            let sealing = made(&holder, base, 1);
            let keys = [
                sealing,
                make(&holder, base + 1, MAC),
                make(&holder, base + 2, SIGNER),
                make(&holder, base + 3, PARTNER),
            ];
            let last = make(&holder, base + 4, SIGNER);
            for key in &keys {
                holder.check_key(key).unwrap();
                let permit = |operation| Policy::owner().permit(key.key(), operation);
                let wrong = holder.destroy(&permit(Operation::KeyRotate), key);
                assert_eq!(wrong, Err(HolderError::PermitMismatch));
                let foreign = Policy::owner().permit(last.key(), Operation::KeyDestroy);
                assert_eq!(
                    holder.destroy(&foreign, key),
                    Err(HolderError::PermitMismatch)
                );
                holder.check_key(key).unwrap();
                // An order that a crash cut short is given again.
                for _ in 0..2 {
                    assert_eq!(holder.destroy(&permit(Operation::KeyDestroy), key), Ok(()));
                }
                let session = pool.take().unwrap();
                let left = Template::new().id(&id(key.key().as_bytes()[0]));
                assert_eq!(session.search(&left).unwrap().count(), 0, "{key:?}");
                drop(session);
                assert!(holder.check_key(key).is_err());
                assert!(sign(&holder, &last).is_ok());
            }
        }
    });
}

#[test]
fn another_key_of_the_same_id_is_not_destroyed() {
    on_each(|store| {
        let pool = pool(store);
        let holder = holder(&pool);
        let (key, other) = (made(&holder, 1, 1), made(&holder, 2, 1));
        let crossed =
            KeyMaterial::new(crate::holder::identity(1, 1), other.sealed().to_vec(), None);
        let permit = Policy::owner().permit(key.key(), Operation::KeyDestroy);
        assert_eq!(
            holder.destroy(&permit, &crossed),
            Err(HolderError::KeyRejected)
        );
        assert!(seal(&holder, &key, b"text").is_ok());
    });
}

#[test]
fn a_pair_of_an_order_that_came_to_nothing_is_taken_back_whole() {
    on_each(|store| {
        let pool = pool(store);
        let holder = holder(&pool);
        let key = make(&holder, 1, SIGNER);
        let permit = Policy::owner().permit(key.key(), Operation::ContextCreate);
        let again = || {
            let identity = identity(1, SIGNER);
            let parent = None;
            holder.generate(&permit, NewKey { identity, parent })
        };
        assert_eq!(again().err(), Some(HolderError::Leftover));
        holder.discard(&permit, &key);
        assert_eq!(objects(&pool.take().unwrap(), 1), 0);
        assert!(again().is_ok());
    });
}
