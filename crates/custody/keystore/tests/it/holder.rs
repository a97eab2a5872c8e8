//! The embedded holder: the suite of all holders, service keys, and an arena that is too small.

use std::sync::Arc;
use std::time::Duration;

use keywright_clock::{Clock, WallTime};
use keywright_custody::{
    HolderError, HolderOperation, Identity, Items, KeyHolder, KeyMaterial, NewKey, Reply, Request,
    conformance,
};
use keywright_envelope::{Binding, Envelope};
use keywright_keystore::{Error, Keystore, ServiceKey};
use keywright_policy::Policy;
use keywright_primitives::random::RandomStream;
use keywright_types::{Code, Custody, KeyId, KeySpec, KeyVersion, Operation, Purpose, TenantId};

use crate::scene::{keystore, new_root};

const SERVICE_KEYS: [ServiceKey; 2] = [ServiceKey::AuditSigning, ServiceKey::StoreRows];

fn identity(key: u8, spec: KeySpec) -> Identity {
    Identity {
        tenant: TenantId::from_bytes([1; 16]),
        key: KeyId::from_bytes([key; 16]),
        version: KeyVersion::FIRST,
        spec,
        created: WallTime::from_unix_millis(1),
    }
}

fn make(
    store: &Keystore,
    key: u8,
    spec: KeySpec,
    parent: Option<&Arc<KeyMaterial>>,
) -> Arc<KeyMaterial> {
    let identity = identity(key, spec);
    let permit = Policy::owner().permit(identity.key, Operation::ContextCreate);
    let new = NewKey {
        identity,
        parent: parent.cloned(),
    };
    Arc::new(store.generate(&permit, new).unwrap())
}

fn perform(
    store: &Keystore,
    (operation, allowed): (HolderOperation, Operation),
    key: &Arc<KeyMaterial>,
    items: &[&[u8]],
) -> Result<Reply, HolderError> {
    let mut packed = Items::default();
    items
        .iter()
        .for_each(|item| packed.push_slices(0, item, b"").unwrap());
    let versions = vec![Arc::clone(key)];
    let request = Request {
        operation,
        versions: versions.into(),
        binding: Binding::None,
        deadline_ns: u64::MAX,
    };
    let permit = Policy::owner().permit(key.key(), allowed);
    store.perform(&permit, &request, packed, &mut RandomStream::unseeded())
}

const SEAL: (HolderOperation, Operation) = (HolderOperation::Seal, Operation::Encrypt);
const OPEN: (HolderOperation, Operation) = (HolderOperation::Open, Operation::Decrypt);

fn seal(store: &Keystore, key: &Arc<KeyMaterial>, text: &[u8]) -> Vec<u8> {
    let reply = perform(store, SEAL, key, &[text]).unwrap();
    let item = reply.iter().next().unwrap();
    assert_eq!(item.code, Code::Ok);
    item.payload.to_vec()
}

fn open(store: &Keystore, key: &Arc<KeyMaterial>, sealed: &[u8]) -> Result<Vec<u8>, HolderError> {
    let reply = perform(store, OPEN, key, &[sealed])?;
    let item = reply.iter().next().unwrap();
    assert_eq!(item.code, Code::Ok);
    Ok(item.payload.to_vec())
}

/// More than the keys that are derived at a time.
#[test]
fn an_item_that_is_refused_in_a_batch_costs_the_others_nothing() {
    let root = new_root();
    let store = keystore(&root, 4);
    let key = make(&store, 1, KeySpec::seal(), None);
    let mut packed = Items::default();
    let texts: Vec<_> = (0..40_u8).map(|index| vec![index; index.into()]).collect();
    for (index, text) in texts.iter().enumerate() {
        let (version, aad) = match index {
            7 => (1, vec![]),
            20 => (0, vec![0; 16_385]),
            _ => (0, vec![]),
        };
        packed.push_slices(version, text, &aad).unwrap();
    }
    let request = Request {
        operation: SEAL.0,
        versions: vec![Arc::clone(&key)].into(),
        binding: Binding::None,
        deadline_ns: u64::MAX,
    };
    let permit = Policy::owner().permit(key.key(), SEAL.1);
    let mut random = RandomStream::unseeded();
    let reply = store
        .perform(&permit, &request, packed, &mut random)
        .unwrap();
    let mut seen = std::collections::HashSet::new();
    for (index, (item, text)) in reply.iter().zip(&texts).enumerate() {
        let code = match index {
            7 => Code::ValueInvalid,
            20 => Code::AadTooLarge,
            _ => Code::Ok,
        };
        assert_eq!(item.code, code, "{index}");
        if code == Code::Ok {
            assert!(seen.insert(item.message), "no nonce twice");
            assert_eq!(&open(&store, &key, item.payload).unwrap(), text);
        } else {
            assert_eq!((item.payload, item.message), (&[][..], [0; 16]));
        }
    }
}

#[test]
fn it_keeps_every_promise_of_a_holder_in_arenas_of_any_size() {
    for slots in [1, 2, 3, 64] {
        conformance::run(&keystore(&new_root(), slots)).unwrap();
    }
}

#[test]
fn an_arena_of_three_slots_serves_forty_keys_to_eight_threads() {
    let store = keystore(&new_root(), 3);
    let tenant = make(&store, 0xF0, KeySpec::wrap(), None);
    let keys: Vec<_> = (0..40)
        .map(|key| make(&store, key, KeySpec::seal(), Some(&tenant)))
        .collect();
    let sealed: Vec<_> = keys
        .iter()
        .map(|key| seal(&store, key, key.key().as_bytes()))
        .collect();
    std::thread::scope(|scope| {
        for thread in 0..8_usize {
            let (store, keys, sealed) = (&store, &keys, &sealed);
            scope.spawn(move || {
                for round in 0..600 {
                    let index = (round * 7 + thread * 11) % keys.len();
                    let opened = open(store, &keys[index], &sealed[index]);
                    assert_eq!(opened.unwrap(), keys[index].key().as_bytes());
                }
            });
        }
    });
    let loaded = keys
        .iter()
        .chain([&tenant])
        .filter(|key| key.cell().is_loaded());
    assert!(
        loaded.count() <= 3,
        "the arena bounds what is kept unwrapped"
    );
}

#[test]
fn keys_that_are_gone_leave_their_place_to_others() {
    let store = keystore(&new_root(), 2);
    let tenant = make(&store, 0xF0, KeySpec::wrap(), None);
    for key in 0..200 {
        let key = make(&store, key, KeySpec::seal(), Some(&tenant));
        assert_eq!(open(&store, &key, &seal(&store, &key, b"x")).unwrap(), b"x");
    }
}

#[test]
fn a_root_of_another_installation_opens_nothing() {
    let (ours, theirs) = (keystore(&new_root(), 8), keystore(&new_root(), 8));
    assert_ne!(ours.installation(), theirs.installation());
    let tenant = make(&ours, 0xF0, KeySpec::wrap(), None);
    let key = make(&ours, 1, KeySpec::seal(), Some(&tenant));
    // As read from the store by the other installation: nothing is unwrapped yet.
    let again = |material: &KeyMaterial, parent: Option<Arc<KeyMaterial>>, spec| {
        let identity = identity(material.key().as_bytes()[0], spec);
        Arc::new(KeyMaterial::new(
            identity,
            material.sealed().to_vec(),
            parent,
        ))
    };
    let tenant = again(&tenant, None, KeySpec::wrap());
    let key = again(&key, Some(tenant), KeySpec::seal());
    let used = perform(&theirs, SEAL, &key, &[b"x"]);
    assert_eq!(used.err(), Some(HolderError::KeyRejected));
    assert!(!key.cell().is_loaded());
    assert!(perform(&ours, SEAL, &key, &[b"x"]).is_ok());
    for which in SERVICE_KEYS {
        let sealed = ours.generate_service_key(which).unwrap();
        assert!(matches!(
            theirs.open_service_key(which, &sealed),
            Err(Error::Rejected)
        ));
    }
}

#[test]
fn no_service_key_stands_in_for_another_or_for_a_tenants_key() {
    let store = keystore(&new_root(), 8);
    for made in SERVICE_KEYS {
        let sealed = store.generate_service_key(made).unwrap();
        for asked in SERVICE_KEYS {
            let opened = store.open_service_key(asked, &sealed);
            assert_eq!(opened.is_ok(), asked == made, "{made:?} as {asked:?}");
        }
        for index in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[index] ^= 1;
            assert!(
                store.open_service_key(made, &changed).is_err(),
                "byte {index}"
            );
        }
        let posing = KeyMaterial::new(identity(1, KeySpec::seal()), sealed, None);
        let used = perform(&store, SEAL, &Arc::new(posing), &[b"x"]);
        assert_eq!(used.err(), Some(HolderError::KeyRejected));
    }
    let tenant = make(&store, 0xF0, KeySpec::wrap(), None);
    for which in SERVICE_KEYS {
        assert!(store.open_service_key(which, tenant.sealed()).is_err());
        assert!(store.open_service_key(which, b"").is_err());
    }
}

#[test]
fn what_it_does_not_support_it_does_not_make() {
    let store = keystore(&new_root(), 4);
    let wrong = [
        KeySpec {
            custody: Custody::Token,
            ..KeySpec::seal()
        },
        KeySpec {
            purpose: Purpose::Mac,
            ..KeySpec::seal()
        },
        KeySpec {
            purpose: Purpose::Sign,
            ..KeySpec::seal()
        },
    ];
    for spec in wrong {
        assert!(!store.supports(&spec, HolderOperation::Seal));
        let identity = identity(1, spec);
        let permit = Policy::owner().permit(identity.key, Operation::ContextCreate);
        let made = store.generate(
            &permit,
            NewKey {
                identity,
                parent: None,
            },
        );
        assert!(matches!(made, Err(HolderError::Unsupported(_))), "{spec:?}");
    }
    let identity = identity(1, KeySpec::seal());
    for (key, operation) in [
        (identity.key, Operation::Encrypt),
        (KeyId::NONE, Operation::ContextCreate),
    ] {
        let permit = Policy::owner().permit(key, operation);
        let made = store.generate(
            &permit,
            NewKey {
                identity,
                parent: None,
            },
        );
        assert_eq!(made.err(), Some(HolderError::PermitMismatch));
    }
}

#[test]
fn a_request_after_its_deadline_touches_no_key() {
    let (clock, hand) = Clock::simulated(WallTime::from_unix_seconds(1));
    let store = Keystore::new(&new_root(), 4, clock.clone()).unwrap();
    let key = make(&store, 1, KeySpec::seal(), None);
    let deadline_ns = clock.monotonic().plus(Duration::from_secs(1)).nanos();
    hand.advance(Duration::from_secs(2));
    let versions = vec![Arc::clone(&key)];
    let operation = HolderOperation::Seal;
    let request = Request {
        operation,
        versions: versions.into(),
        binding: Binding::None,
        deadline_ns,
    };
    let permit = Policy::owner().permit(key.key(), Operation::Encrypt);
    let late = store.perform(
        &permit,
        &request,
        Items::default(),
        &mut RandomStream::unseeded(),
    );
    assert_eq!(late.err(), Some(HolderError::DeadlineExceeded));
    assert!(!key.cell().is_loaded());
}

#[test]
fn who_tried_to_open_what_is_told_of_failures_too() {
    let store = keystore(&new_root(), 4);
    let key = make(&store, 1, KeySpec::seal(), None);
    let mut sealed = seal(&store, &key, b"text");
    let name = *Envelope::parse(&sealed).unwrap().message_id().as_bytes();
    *sealed.last_mut().unwrap() ^= 1;
    let reply = perform(&store, OPEN, &key, &[&sealed, b"garbage"]).unwrap();
    let seen: Vec<_> = reply.iter().map(|item| (item.code, item.message)).collect();
    assert_eq!(
        seen,
        [
            (Code::DecryptionFailed, name),
            (Code::CiphertextMalformed, [0; 16])
        ]
    );
}

#[test]
fn a_probe_uses_the_root_and_leaves_nothing() {
    let store = keystore(&new_root(), 1);
    for _ in 0..10 {
        store.probe().unwrap();
    }
}
