//! Requests: decided, recorded, answered, and in no other order.

use std::io::ErrorKind;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use keywright_audit::RecordType;
use keywright_audit::record::Facts;
use keywright_audit::refusals::Whom;
use keywright_custody::{Description, Key, Version};
use keywright_holders::{Broken, Fault, Slow};
use keywright_network::ca::{DAY, LIST_LIFE};
use keywright_service::{Caller, DataOperation, Need, Settings, Shared, Snapshot, Worker};
use keywright_tls::ClientTrust;
use keywright_types::{BindingKind, Code, KeyVersion, Operation, State};

use crate::house::{
    House, NOBODY, START, TRADING, TRADING_TOO, WEB, at_once, authority, chain_of, field, issued,
    name, prepared,
};

const ENCRYPT: DataOperation = DataOperation::Encrypt;
const DECRYPT: DataOperation = DataOperation::Decrypt;

#[test]
fn what_is_sealed_opens_and_each_request_has_its_record() {
    let house = House::new();
    let worker = house.worker();
    let sealed = house
        .one(&worker, TRADING, ("desk", ENCRYPT), b"text")
        .unwrap();
    assert_eq!(
        house
            .one(&worker, TRADING_TOO, ("desk", DECRYPT), &sealed)
            .unwrap(),
        b"text"
    );
    let records = house.records(&["request"]);
    assert_eq!(records.len(), 2);
    for (record, operation) in records.iter().zip(["encrypt", "decrypt"]) {
        assert_eq!(record["operation"], operation);
        assert_eq!(record["outcome"], "ok");
        assert_eq!(
            (&record["items"], &record["failed"]),
            (&1.into(), &0.into())
        );
        assert_eq!(record["version"], 1);
        assert_eq!(record["epoch"], house.epoch());
    }
    let message = field(&records[0], "message-id").unwrap();
    assert_eq!(
        field(&records[1], "message-id").unwrap(),
        message,
        "who opened what was sealed"
    );
}

#[test]
fn an_answer_cannot_leave_before_its_record_is_written() {
    let house = House::new();
    let worker = house.worker();
    let caller = house.caller(TRADING);
    let ask = || at_once(worker.perform(house.call(&caller), "desk", ENCRYPT, prepared(&[b"x"])));
    assert_eq!(ask().release(&worker).err(), Some(Code::AuditUnavailable));
    let waiting = ask();
    assert!(worker.flush());
    assert!(waiting.release(&worker).unwrap().is_ok());
    let random = worker.random(house.call(&caller), 16, &[Code::Ok]);
    assert_eq!(random.release(&worker).err(), Some(Code::AuditUnavailable));
    let refused = worker.refuse::<()>(house.call(&caller), Operation::Encrypt, Code::BodyTooLarge);
    assert_eq!(refused.release(&worker).err(), Some(Code::AuditUnavailable));
}

#[test]
fn after_a_failed_flush_no_answer_leaves_and_later_ones_do_again() {
    let house = House::new();
    let worker = house.worker();
    let caller = house.caller(TRADING);
    let ask = || at_once(worker.perform(house.call(&caller), "desk", ENCRYPT, prepared(&[b"x"])));
    house.log_faults.fail_writes(ErrorKind::StorageFull, 0);
    let (first, second) = (ask(), ask());
    assert!(!worker.flush());
    assert_eq!(first.release(&worker).err(), Some(Code::AuditUnavailable));
    // Not even when the disk is whole again: its record is not there.
    house.log_faults.heal();
    house.hand.advance(Duration::from_secs(1));
    let third = ask();
    assert!(worker.flush());
    assert_eq!(second.release(&worker).err(), Some(Code::AuditUnavailable));
    assert!(third.release(&worker).unwrap().is_ok());
    assert_eq!(house.records(&["request"]).len(), 1);
}

#[test]
fn key_material_waits_for_the_medium_and_ciphertext_for_the_system() {
    let house = House::new();
    let worker = house.worker();
    house.log_faults.fail_syncs();
    let sealed = house.one(&worker, TRADING, ("desk", ENCRYPT), b"x");
    assert!(sealed.is_ok(), "in groups a record is synced later");
    for (operation, item) in [
        (DataOperation::Datakey, &b""[..]),
        (DataOperation::DatakeyOpen, b"no envelope"),
    ] {
        let answer = house.one(&worker, TRADING, ("desk", operation), item);
        assert_eq!(answer, Err(Code::AuditUnavailable), "{operation:?}");
        house.log_faults.heal();
        house.hand.advance(Duration::from_secs(1));
        house
            .one(&worker, TRADING, ("desk", ENCRYPT), b"x")
            .unwrap();
        house.log_faults.fail_syncs();
    }
}

#[test]
fn a_body_that_never_arrives_leaves_a_record_and_one_that_does_leaves_none_of_its_own() {
    let house = House::new();
    let worker = house.worker();
    let caller = house.caller(TRADING);
    worker
        .expect(house.call(&caller), Operation::Encrypt)
        .arrived();
    assert!(!worker.drain_refusals());
    drop(worker.expect(house.call(&caller), Operation::Encrypt));
    assert!(
        worker.drain_refusals(),
        "somebody must flush it, though nobody waits"
    );
    assert!(worker.flush());
    let records = house.records(&["request"]);
    assert_eq!(records.len(), 1);
    assert_eq!(records[0]["outcome"], "interrupted");
}

#[test]
fn a_cancelled_request_leaves_a_record_that_says_so() {
    let house = House::with(|holder| Arc::new(Slow::new(holder, Duration::from_millis(20))));
    let worker = house.worker();
    let caller = house.caller(TRADING);
    let mut asked = Box::pin(worker.perform(
        house.call(&caller),
        "desk",
        ENCRYPT,
        prepared(&[b"x", b"y"]),
    ));
    assert!(
        asked
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_pending()
    );
    assert!(!worker.drain_refusals());
    drop(asked);
    assert!(
        worker.drain_refusals(),
        "somebody must flush it, though nobody waits"
    );
    assert!(!worker.drain_refusals());
    assert!(worker.flush());
    let record = house.last("request");
    assert_eq!(
        (&record["outcome"], &record["failed"]),
        (&"interrupted".into(), &2.into())
    );
    assert_eq!(record["operation"], "encrypt");
}

#[test]
fn a_batch_is_one_record_with_groups_and_a_digest() {
    let house = House::new();
    let worker = house.worker();
    let old = house
        .one(&worker, TRADING, ("desk", ENCRYPT), b"old")
        .unwrap();
    house.admin.rotate(&name("default"), &name("desk")).unwrap();
    let new = house
        .one(&worker, TRADING, ("desk", ENCRYPT), b"new")
        .unwrap();
    let mut bad = new.clone();
    *bad.last_mut().unwrap() ^= 1;
    let items: [&[u8]; 5] = [&old, &new, b"garbage", &bad, &old];
    let results = house
        .ask(&worker, TRADING, ("desk", DECRYPT), &items)
        .unwrap();
    let codes: Vec<_> = results.iter().map(|(code, _)| *code).collect();
    let (ok, failed) = (Code::Ok, Code::DecryptionFailed);
    assert_eq!(codes, [ok, ok, Code::CiphertextMalformed, failed, ok]);
    assert_eq!(results[4].1, b"old");
    let record = house.last("request");
    assert_eq!(
        (&record["items"], &record["failed"]),
        (&5.into(), &2.into())
    );
    assert_eq!(record["outcome"], "ok");
    let groups = &field(&record, "item-groups").unwrap()["groups"];
    let count = |version: u32, outcome: &str| {
        let groups = groups.as_array().unwrap().iter();
        let of = groups.filter(|group| group["version"] == version && group["outcome"] == outcome);
        of.map(|group| group["items"].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!(
        (
            count(1, "ok"),
            count(2, "ok"),
            count(2, "decryption_failed")
        ),
        (2, 1, 1)
    );
    let digest = field(&record, "item-digest").unwrap().clone();
    // Another order of the same items is another digest; the same is the same.
    house
        .ask(&worker, TRADING, ("desk", DECRYPT), &items)
        .unwrap();
    assert_eq!(
        field(&house.last("request"), "item-digest").unwrap(),
        &digest
    );
    let swapped: [&[u8]; 5] = [&new, &old, b"garbage", &bad, &old];
    house
        .ask(&worker, TRADING, ("desk", DECRYPT), &swapped)
        .unwrap();
    assert_ne!(
        field(&house.last("request"), "item-digest").unwrap(),
        &digest
    );
}

#[test]
fn a_hidden_context_and_an_unknown_one_differ_only_in_the_reason_of_the_record() {
    let house = House::new();
    let worker = house.worker();
    let answers = ["nowhere", "own"]
        .map(|context| house.ask(&worker, TRADING_TOO, (context, ENCRYPT), &[b"x"]));
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], Err(Code::ContextNotFound));
    let mut records = house.records(&["request"]);
    let reasons: Vec<_> = records
        .iter()
        .map(|record| field(record, "reason").unwrap().clone())
        .collect();
    assert_eq!(reasons, ["context-unknown", "context-hidden"]);
    for record in &mut records {
        record.as_object_mut().unwrap().remove("sequence");
        record.as_object_mut().unwrap().remove("fields");
    }
    assert_eq!(records[0], records[1]);
    // With another right there, the context is no secret.
    let denied = house.ask(&worker, WEB, ("open", DECRYPT), &[b"x"]);
    assert_eq!(denied, Err(Code::OperationDenied));
    assert_eq!(
        field(&house.last("request"), "reason").unwrap(),
        "policy-denied"
    );
}

#[test]
fn a_ciphertext_opens_only_for_those_it_is_bound_to() {
    let house = House::new();
    let worker = house.worker();
    let own = house
        .one(&worker, TRADING, ("own", ENCRYPT), b"mine")
        .unwrap();
    assert_eq!(
        house.one(&worker, TRADING, ("own", DECRYPT), &own).unwrap(),
        b"mine"
    );
    assert_eq!(
        house.one(&worker, WEB, ("own", DECRYPT), &own),
        Err(Code::DecryptionFailed)
    );
    // Who may rewrap may rewrap all of a context, and it stays bound as it was (7.7).
    let again = house
        .one(&worker, WEB, ("own", DataOperation::Rewrap), &own)
        .unwrap();
    assert_eq!(
        house.one(&worker, WEB, ("own", DECRYPT), &again),
        Err(Code::DecryptionFailed)
    );
    assert_eq!(
        house
            .one(&worker, TRADING, ("own", DECRYPT), &again)
            .unwrap(),
        b"mine"
    );
    // In another context it is nothing.
    assert_eq!(
        house.one(&worker, TRADING, ("desk", DECRYPT), &own),
        Err(Code::DecryptionFailed)
    );
}

#[test]
fn data_keys_and_messages_do_not_open_as_each_other() {
    let house = House::new();
    let worker = house.worker();
    let made = house
        .one(&worker, TRADING, ("desk", DataOperation::Datakey), b"")
        .unwrap();
    let (plain, envelope) = made.split_at(48);
    let opened = house.one(
        &worker,
        TRADING,
        ("desk", DataOperation::DatakeyOpen),
        envelope,
    );
    assert_eq!(opened.unwrap(), plain);
    let as_message = house.one(&worker, TRADING, ("desk", DECRYPT), envelope);
    assert_eq!(as_message, Err(Code::DecryptionFailed));
    let message = house
        .one(&worker, TRADING, ("desk", ENCRYPT), &[0; 48])
        .unwrap();
    let as_key = house.one(
        &worker,
        TRADING,
        ("desk", DataOperation::DatakeyOpen),
        &message,
    );
    assert_eq!(as_key, Err(Code::DecryptionFailed));
}

#[test]
fn items_that_no_version_can_open_need_no_holder() {
    let house = House::new();
    let worker = house.worker();
    let foreign = house.one(&worker, TRADING, ("own", ENCRYPT), b"x").unwrap();
    drop(worker);
    let broken = House::with(|holder| {
        let (broken, _) = Broken::new(holder);
        Arc::new(broken)
    });
    let worker = broken.worker();
    let opened = broken.one(&worker, TRADING, ("desk", DECRYPT), b"garbage");
    assert_eq!(opened, Err(Code::CiphertextMalformed));
    let opened = broken.one(&worker, TRADING, ("desk", DECRYPT), &foreign);
    assert_eq!(opened, Err(Code::DecryptionFailed));
    let record = broken.last("request");
    assert_eq!(
        (&record["outcome"], &record["version"]),
        (&"decryption_failed".into(), &0.into())
    );
    assert!(
        field(&record, "message-id").is_some(),
        "who tried to open what is named"
    );
}

#[test]
fn a_broken_holder_is_an_answer_with_a_record() {
    let switch = std::cell::Cell::new(None);
    let house = House::with(|holder| {
        let (broken, faults) = Broken::new(holder);
        switch.set(Some(faults));
        Arc::new(broken)
    });
    let faults = switch.take().unwrap();
    let worker = house.worker();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let caller = house.caller(TRADING);
    for (fault, code) in [
        (Fault::Unavailable, Code::HolderUnavailable),
        (Fault::Full, Code::Overloaded),
        (Fault::KeyRejected, Code::HolderUnavailable),
        (Fault::Panic, Code::HolderUnavailable),
    ] {
        // More often than there are threads: none of them is lost.
        for _ in 0..6 {
            faults.fail(fault);
            let call = house.call(&caller);
            let asked = runtime.block_on(worker.perform(call, "desk", ENCRYPT, prepared(&[b"x"])));
            assert!(worker.flush());
            assert_eq!(asked.release(&worker).unwrap().err(), Some(code));
            assert_eq!(house.last("request")["outcome"], code.name());
        }
    }
    faults.heal();
    let asked =
        runtime.block_on(worker.perform(house.call(&caller), "desk", ENCRYPT, prepared(&[b"x"])));
    assert!(worker.flush());
    assert!(asked.release(&worker).unwrap().is_ok());
}

/// Puts a list in force that is good for `life` from now.
fn trust_list_for(house: &House, life: Duration) {
    let now = house.clock.wall();
    let list = authority().authority();
    let list = list.revocation_list(&[], 2, now, now.plus(life)).unwrap();
    let anchors = authority().certificate_pem().as_bytes();
    let trust = ClientTrust::new(anchors, list.as_bytes(), house.clock.clone()).unwrap();
    let replaced = house.admin.replace_trust(Arc::new(trust), list.as_bytes());
    replaced.unwrap();
}

#[test]
fn the_standing_of_a_caller_ends_when_the_revocation_list_does_and_not_with_the_epoch_only() {
    let house = House::new();
    let worker = house.worker();
    let caller = house.caller(TRADING);
    let seal = || {
        let asked = worker.perform(house.call(&caller), "desk", ENCRYPT, prepared(&[b"x"]));
        let asked = at_once(asked);
        worker.flush();
        asked.release(&worker).unwrap().map(drop)
    };
    let epoch = house.epoch();
    house.hand.advance(LIST_LIFE - Duration::from_secs(1));
    assert_eq!(seal(), Ok(()));
    house.hand.advance(Duration::from_secs(1));
    assert_eq!(seal(), Err(Code::CertificateUntrusted));
    assert_eq!(seal(), Err(Code::CertificateUntrusted), "and stays so");
    assert_eq!(house.epoch(), epoch, "time alone did it");
    let record = house.last("request");
    assert_eq!(record["principal"], "00".repeat(16), "nobody any more");
    // A new list lets the same connection go on.
    trust_list_for(&house, LIST_LIFE);
    assert_eq!(seal(), Ok(()));
}

#[test]
fn the_standing_of_a_caller_ends_with_the_last_second_of_its_certificate() {
    let house = House::new();
    let worker = house.worker();
    let caller = house.caller(TRADING);
    trust_list_for(&house, 60 * DAY);
    let not_after = caller.credential().unwrap().not_after;
    let standing = || {
        let known = worker.plain(
            house.call(&caller),
            Operation::HealthRead,
            Need::Identity,
            |_| (),
        );
        worker.flush();
        known.release(&worker).unwrap()
    };
    let left = not_after - house.clock.wall().unix_seconds();
    house.hand.advance(Duration::from_secs(left));
    assert_eq!(standing(), Ok(()));
    house.hand.advance(Duration::from_secs(1));
    assert_eq!(standing(), Err(Code::CertificateExpired));
    let sealed = house.call(&caller);
    let sealed = at_once(worker.perform(sealed, "desk", ENCRYPT, prepared(&[b"x"])));
    worker.flush();
    assert_eq!(
        sealed.release(&worker).unwrap().err(),
        Some(Code::CertificateExpired)
    );
    let record = house.last("request");
    assert_eq!(record["principal"], "00".repeat(16), "nobody any more");
}

#[test]
fn a_revoked_certificate_and_a_changed_policy_end_a_standing_at_the_next_epoch() {
    let house = House::new();
    let issued = issued(TRADING);
    let chain = chain_of(&issued.certificate_pem);
    let shared = house.admin.shared();
    let now = house.clock.wall();
    let caller = Caller::identify(&chain, 1, &shared.snapshot(), now).unwrap();
    let list = authority().crl_with(&[&issued.serial], 2);
    let anchors = authority().certificate_pem().as_bytes();
    let trust = ClientTrust::new(anchors, list.as_bytes(), house.clock.clone()).unwrap();
    house
        .admin
        .replace_trust(Arc::new(trust), list.as_bytes())
        .unwrap();
    assert_eq!(
        caller.principal(&shared.snapshot(), now).err(),
        Some(Code::CertificateRevoked)
    );
    let other = house.caller(WEB);
    house
        .admin
        .apply_policy(keywright_policy::PolicyDocument::parse("version = 1\n").unwrap())
        .unwrap();
    assert_eq!(
        other.principal(&shared.snapshot(), now).err(),
        Some(Code::PrincipalUnknown)
    );
    let snapshot = shared.snapshot();
    let stranger = Caller::identify(
        &chain_of(&crate::house::issued(NOBODY).certificate_pem),
        2,
        &snapshot,
        now,
    );
    assert_eq!(stranger.err(), Some(Code::PrincipalUnknown));
}

#[test]
fn random_bytes_need_their_own_right_and_a_batch_of_them_is_summed_up() {
    let house = House::new();
    let worker = house.worker();
    let (caller, other) = (house.caller(TRADING), house.caller(WEB));
    let outcomes = [Code::Ok, Code::ValueInvalid, Code::Ok];
    let made = worker.random(house.call(&caller), 48, &outcomes);
    worker.flush();
    let made = made.release(&worker).unwrap().unwrap();
    assert!(made.len() == 48 && made.expose() != [0; 48]);
    let record = house.last("request");
    assert_eq!(
        (&record["items"], &record["failed"]),
        (&3.into(), &1.into())
    );
    assert_eq!(record["bytes_out"], 48);
    assert!(field(&record, "item-groups").is_some());
    let denied = worker.random(house.call(&other), 48, &[Code::Ok]);
    worker.flush();
    assert_eq!(
        denied.release(&worker).unwrap().err(),
        Some(Code::OperationDenied)
    );
    assert_eq!(house.last("request")["bytes_out"], 0);
}

#[test]
fn a_batch_of_one_that_failed_is_recorded_as_failed() {
    let house = House::new();
    let worker = house.worker();
    let caller = house.caller(TRADING);
    for (outcome, failed) in [(Code::ValueInvalid, 1), (Code::Ok, 0)] {
        let made = worker.random(house.call(&caller), 0, &[outcome]);
        worker.flush();
        assert!(made.release(&worker).unwrap().is_ok());
        let record = house.last("request");
        assert_eq!(record["outcome"], outcome.name());
        assert_eq!(
            (&record["items"], &record["failed"]),
            (&1.into(), &failed.into())
        );
        assert!(field(&record, "item-groups").is_none());
    }
}

#[test]
fn a_connection_whose_record_cannot_be_appended_or_is_lost_does_not_go_on() {
    let house = House::new();
    let worker = house.worker();
    let facts = Facts::new(RecordType::Connection, Operation::Connect, START);
    let noted = |caller: &Caller| worker.note_connection(caller, facts, &[]);
    let standing = |caller: &Caller| {
        let snapshot = house.admin.shared().snapshot();
        caller.principal(&snapshot, house.clock.wall()).map(drop)
    };
    let [first, second, third, fourth] = [(); 4].map(|()| house.caller(TRADING));
    assert!(noted(&first) && worker.flush());
    house.log_faults.fail_writes(ErrorKind::StorageFull, 0);
    assert!(noted(&second), "nobody knows yet");
    assert_eq!(standing(&second), Ok(()));
    assert!(!worker.flush());
    assert_eq!(standing(&second), Err(Code::AuditUnavailable));
    assert!(!noted(&third));
    house.log_faults.heal();
    house.hand.advance(Duration::from_secs(1));
    assert!(noted(&fourth) && worker.flush());
    let standings = [&first, &second, &fourth].map(standing);
    assert_eq!(standings, [Ok(()), Err(Code::AuditUnavailable), Ok(())]);
    assert_eq!(house.records(&["connection"]).len(), 2);
}

#[test]
fn counted_refusals_outlive_a_log_that_fails_and_none_is_counted_twice() {
    let house = House::new();
    let worker = house.worker();
    let address = IpAddr::from([192, 0, 2, 1]);
    let refuse = |count| {
        (0..count).for_each(|_| worker.note_refused(Whom::from(address), Code::HandshakeFailed));
        house.hand.advance(Duration::from_secs(1));
    };
    let counted = || -> Vec<_> {
        let records = house.records(&["refused"]);
        records
            .iter()
            .map(|record| record["items"].as_u64().unwrap())
            .collect()
    };
    refuse(2);
    assert!(worker.drain_refusals() && worker.flush());
    assert_eq!(counted(), [2]);
    house.log_faults.fail_writes(ErrorKind::StorageFull, 0);
    refuse(3);
    // Appended and lost with the flush; then not even appended.
    for _ in 0..2 {
        assert!(worker.drain_refusals());
        assert!(!worker.flush());
        refuse(4);
    }
    house.log_faults.heal();
    assert!(worker.drain_refusals() && worker.flush());
    assert_eq!(counted(), [2, 3]);
    house.hand.advance(Duration::from_secs(1));
    assert!(worker.drain_refusals() && worker.flush());
    assert_eq!(counted(), [2, 3, 8]);
    house.hand.advance(Duration::from_secs(1));
    assert!(!worker.drain_refusals());
    refuse(1);
    worker.finish();
    assert_eq!(counted(), [2, 3, 8, 1]);
}

/// A worker for whom `desk` has its versions in these states, and opens none below `min_open`.
fn worker_with(house: &House, states: &[State], min_open: u32) -> Rc<Worker> {
    let shared = house.admin.shared();
    let mut snapshot = Snapshot::clone(&shared.snapshot());
    let tenant = snapshot.tenant(&name("default")).unwrap().id;
    let key = Arc::clone(snapshot.keyring.find(tenant, "desk").unwrap());
    let description = Description {
        id: key.id(),
        tenant,
        name: key.name().clone(),
        spec: *key.spec(),
        detail: None,
        binding: key.binding(),
        min_open: KeyVersion::from_number(min_open),
        rules: key.rules().clone(),
    };
    let versions = key.versions().iter().zip(states);
    let versions = versions.map(|(one, state)| Version::new(Arc::clone(one.material()), *state));
    let key = Key::new(description, versions.collect());
    snapshot.keyring = snapshot.keyring.with(Arc::new(key));
    let holder = crate::house::keystore(&house.clock);
    let shared = Shared::new(snapshot, holder, house.clock.clone(), Settings::default());
    let writer = house.log.as_ref().unwrap().writer().unwrap();
    Worker::new(shared.unwrap(), writer)
}

#[test]
fn the_record_of_a_single_item_says_why_it_did_not_open() {
    let house = House::new();
    let worker = house.worker();
    let seal = |context| house.one(&worker, TRADING, (context, ENCRYPT), b"x");
    let old = seal("desk").unwrap();
    house.admin.rotate(&name("default"), &name("desk")).unwrap();
    let (own, foreign) = (seal("own").unwrap(), seal("open").unwrap());
    let key = house.one(&worker, TRADING, ("desk", DataOperation::Datakey), b"");
    let data_key = key.unwrap().split_off(48);
    let mut unknown = old.clone();
    // The version's number, behind magic, kinds and key id (design 7.4).
    unknown[22..26].copy_from_slice(&9_u32.to_be_bytes());
    let suspended = worker_with(&house, &[State::Suspended, State::Active], 1);
    let too_old = worker_with(&house, &[State::Retired, State::Active], 2);
    let mut changed = old.clone();
    *changed.last_mut().unwrap() ^= 1;
    let (failed, barred) = (Code::DecryptionFailed, Code::KeyVersionUnavailable);
    let malformed = Code::CiphertextMalformed;
    for (worker, place, item, code, reason) in [
        (&worker, "desk", &foreign, failed, Some("key-foreign")),
        (&worker, "desk", &data_key, failed, Some("kind-mismatch")),
        (&worker, "own", &own, failed, Some("binding-mismatch")),
        (&worker, "desk", &unknown, failed, Some("version-unknown")),
        (&suspended, "desk", &old, barred, Some("version-state")),
        (&too_old, "desk", &old, barred, Some("version-too-old")),
        (&worker, "desk", &vec![1], malformed, Some("malformed")),
        // What only the holder can find out has no reason here.
        (&worker, "desk", &changed, failed, None),
    ] {
        let who = if place == "own" { WEB } else { TRADING };
        let before = house.records(&["request"]);
        let opened = house.one(worker, who, (place, DECRYPT), item);
        assert_eq!(opened, Err(code), "{reason:?}");
        let mut records = house.records(&["request"]);
        assert_eq!(records.len(), before.len() + 1, "{reason:?}");
        // Each worker has a file of its own: the new record is the one that was not there.
        records.retain(|record| !before.contains(record));
        let [record] = &records[..] else {
            panic!("one record: {reason:?}");
        };
        let told = field(record, "reason").map(|value| value.as_str().unwrap());
        assert_eq!(told, reason);
        assert_eq!(record["outcome"], code.name());
        let named = field(record, "message-id").is_some();
        assert_eq!(named, code != malformed, "who it was about: {reason:?}");
    }
}

#[test]
fn a_caller_sees_the_contexts_on_which_it_holds_a_right_and_no_others() {
    let house = House::new();
    let worker = house.worker();
    let seen = |client| {
        let caller = house.caller(client);
        let recorded = worker.contexts(house.call(&caller));
        worker.flush();
        let keys = recorded.release(&worker).unwrap().unwrap();
        keys.iter()
            .map(|key| key.name().to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(seen(TRADING), ["desk", "open", "own"]);
    assert_eq!(seen(TRADING_TOO), ["desk"]);
    assert_eq!(seen(WEB), ["open", "own"]);
}

#[test]
fn a_new_context_is_hidden_until_somebody_is_given_a_right_on_it() {
    let house = House::new();
    let worker = house.worker();
    let sealed = house.one(&worker, TRADING, ("later", ENCRYPT), b"x");
    assert_eq!(sealed, Err(Code::ContextNotFound));
    house.create("later", BindingKind::None).unwrap();
    // It exists now, but nobody was given a right on it.
    assert_eq!(
        house.one(&worker, TRADING, ("later", ENCRYPT), b"x"),
        Err(Code::ContextNotFound)
    );
    assert_eq!(
        field(&house.last("request"), "reason").unwrap(),
        "context-hidden"
    );
}
