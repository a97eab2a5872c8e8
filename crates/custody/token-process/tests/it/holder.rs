//! The child's token as a holder: the suite of all holders, and a root key.

use std::sync::Arc;

use keywright_clock::Clock;
use keywright_custody::{
    HolderError, HolderOperation, Items, KeyHolder as _, NO_DEADLINE, Request, RootKey as _,
    Versions, conformance,
};
use keywright_envelope::{Aad, Binding, Envelope};
use keywright_keystore::Keystore;
use keywright_pkcs11::{
    Copies, LogIn, Module, Pin, PoolOptions, SessionPool, TokenQuery, TokenRoot,
};
use keywright_policy::Policy;
use keywright_primitives::random::RandomStream;
use keywright_secret::Secret;
use keywright_token_process::{ChildRoot, Settings};
use keywright_tokens::{Store, on_each};
use keywright_types::{Code, InstallationId, KeySpec, Operation};

use crate::scene::{
    BACK, holder, kill, made, one, one_until, open, seal, settings, spec, start, within,
};

#[test]
fn a_token_in_a_child_keeps_the_promises_of_all_holders() {
    on_each(|store| {
        let holder = holder(&start(settings(store)));
        assert!(holder.supports(&spec(), HolderOperation::Seal));
        assert!(!holder.supports(&KeySpec::seal(), HolderOperation::Seal));
        conformance::run(&holder).unwrap();
        conformance::run(&holder).unwrap();
    });
}

#[test]
fn so_it_does_with_keys_copied_into_the_session() {
    on_each(|store| {
        let settings = Settings {
            copies: Copies::WhereAllowed,
            ..settings(store)
        };
        conformance::run(&holder(&start(settings))).unwrap();
    });
}

#[test]
fn many_items_and_long_ones_come_back_in_order() {
    on_each(|store| {
        let holder = holder(&start(settings(store)));
        let key = made(&holder, 1);
        let texts: Vec<Vec<u8>> = (0..150_u32)
            .map(|number| {
                let length = if number % 50 == 7 { 700_000 } else { 20 };
                let mut text = vec![7; length];
                text[..4].copy_from_slice(&number.to_be_bytes());
                text
            })
            .collect();
        let perform = |operation: HolderOperation, payloads: &[Vec<u8>]| {
            let mut items = Items::default();
            for payload in payloads {
                items.push_slices(0, payload, b"aad").unwrap();
                items.add_context(b"context").unwrap();
            }
            let permit = Policy::owner().permit(key.key(), operation.permitted_by());
            let request = Request {
                operation,
                versions: Versions::from_iter([Arc::clone(&key)]),
                binding: Binding::None,
                deadline_ns: NO_DEADLINE,
            };
            let reply = holder.perform(&permit, &request, items, &mut RandomStream::unseeded());
            let reply = reply.unwrap();
            assert!(reply.iter().all(|item| item.code == Code::Ok));
            let payloads = reply.iter().map(|item| item.payload.to_vec());
            payloads.collect::<Vec<_>>()
        };
        let sealed = perform(HolderOperation::Seal, &texts);
        assert_eq!(perform(HolderOperation::Open, &sealed), texts);
    });
}

#[test]
fn a_permit_for_something_else_and_a_past_deadline_never_reach_the_child() {
    on_each(|store| {
        let process = start(settings(store));
        let holder = holder(&process);
        let key = made(&holder, 1);
        let late = one_until(&holder, HolderOperation::Seal, (&key, b"x"), 1);
        assert_eq!(late, Err(HolderError::DeadlineExceeded));
        let permit = Policy::owner().permit(key.key(), Operation::Encrypt);
        assert_eq!(
            holder.destroy(&permit, &key),
            Err(HolderError::PermitMismatch)
        );
        let permit = Policy::owner().permit(key.key(), Operation::KeyDestroy);
        let sealed = seal(&holder, &key, b"x").unwrap();
        holder.destroy(&permit, &key).unwrap();
        // Gone is gone, in the child's memory too.
        assert_eq!(open(&holder, &key, &sealed), Err(HolderError::KeyRejected));
        holder.destroy(&permit, &key).unwrap();
    });
}

#[test]
fn work_on_the_callers_thread_is_done_for_keys_that_the_child_knows() {
    on_each(|store| {
        let holder = holder(&start(settings(store)));
        let key = made(&holder, 1);
        let now = |count: usize| {
            let mut items = Items::default();
            (0..count).for_each(|_| items.push_slices(0, b"text", b"aad").unwrap());
            let permit = Policy::owner().permit(key.key(), Operation::Encrypt);
            let request = Request {
                operation: HolderOperation::Seal,
                versions: Versions::from_iter([Arc::clone(&key)]),
                binding: Binding::None,
                deadline_ns: NO_DEADLINE,
            };
            let (mut random, now) = (RandomStream::unseeded(), Clock::system().monotonic());
            holder.perform_now(&permit, (&request, now), items, &mut random)
        };
        // Nothing is known of its pace, then.
        assert!(now(1).is_err());
        let quick = (0..2000).any(|_| {
            seal(&holder, &key, b"x").unwrap();
            match now(1) {
                Ok(done) => {
                    let reply = done.reply.unwrap();
                    let sealed = reply.iter().next().unwrap().payload.to_vec();
                    assert_eq!(open(&holder, &key, &sealed), Ok(Ok(b"text".to_vec())));
                    true
                }
                Err(items) => {
                    assert_eq!(items.len(), 1);
                    false
                }
            }
        });
        // A token that reads files for each operation may never be that quick.
        if quick {
            assert!(now(100).is_err(), "too much for the thread of a caller");
        }
    });
}

fn pool(store: &Store) -> Arc<SessionPool> {
    let token = &store.tokens()[0];
    SessionPool::open(
        Module::load(token.module()).unwrap(),
        &TokenQuery::label(token.label()),
        LogIn::Pin(Pin::from_line(token.user_pin().as_bytes().to_vec())),
        PoolOptions::default(),
        Clock::system(),
    )
    .unwrap()
}

#[test]
fn a_root_key_in_the_childs_token_seals_and_opens_and_survives_the_child() {
    on_each(|store| {
        let installation = InstallationId::from_bytes([3; 16]);
        let pool = pool(store);
        let made = TokenRoot::create(Arc::clone(&pool), installation).unwrap();
        let other = TokenRoot::create(pool, InstallationId::from_bytes([4; 16])).unwrap();
        let (description, other) = (made.description(), other.description());
        drop(made);
        let process = start(settings(store));
        let root = ChildRoot::open(Arc::clone(&process), &description).unwrap();
        assert_eq!(root.installation(), installation);
        let mut mixed = description.clone();
        mixed[20] ^= 1;
        for wrong in [&mixed[..], &description[..40], b""] {
            let refused = ChildRoot::open(Arc::clone(&process), wrong).map(drop);
            assert_eq!(refused, Err(HolderError::KeyRejected));
        }
        let attributes = [9_u8; 51];
        let aad = Aad::EMPTY.attributes(&attributes);
        let secret = Secret::copy_from(&[5; 48]).unwrap();
        let mut sealed = Vec::new();
        root.seal(&secret, &aad, &mut RandomStream::unseeded(), &mut sealed)
            .unwrap();
        let opens = |root: &ChildRoot, aad: &Aad<'_>| {
            let mut out = Vec::new();
            let envelope = Envelope::parse(&sealed).unwrap();
            root.open(&envelope, aad, &mut out).map(|()| out)
        };
        assert_eq!(opens(&root, &aad), Ok(vec![5; 48]));
        assert_eq!(opens(&root, &Aad::EMPTY), Err(HolderError::KeyRejected));
        let other = ChildRoot::open(Arc::clone(&process), &other).unwrap();
        assert_eq!(opens(&other, &aad), Err(HolderError::KeyRejected));
        kill(process.id().unwrap());
        within(BACK, || root.probe().is_ok());
        assert_eq!(opens(&root, &aad), Ok(vec![5; 48]));
        // Keys of the keystore under it keep the promises of all holders too.
        let keystore = Keystore::with_root(Box::new(root), 64, Clock::system()).unwrap();
        conformance::run(&keystore).unwrap();
    });
}

#[test]
fn every_kind_of_key_that_the_token_makes_signs_and_agrees_through_the_child() {
    on_each(|store| {
        use keywright_types::{Algorithm, Purpose};
        let holder = holder(&start(settings(store)));
        let mac = KeySpec {
            purpose: Purpose::Mac,
            algorithm: Algorithm::HmacSha256,
            ..spec()
        };
        assert!(holder.supports(&mac, HolderOperation::Mac));
        let identity = keywright_custody::Identity {
            spec: mac,
            ..crate::scene::identity(9)
        };
        let permit = Policy::owner().permit(identity.key, Operation::ContextCreate);
        let new = keywright_custody::NewKey {
            identity,
            parent: None,
        };
        let key = Arc::new(holder.generate(&permit, new).unwrap());
        // Associated data of such keys is a usage, and these bytes are none.
        let refused = one(&holder, HolderOperation::Mac, &key, b"text").unwrap();
        assert_eq!(refused, Err(Code::Internal));
    });
}
