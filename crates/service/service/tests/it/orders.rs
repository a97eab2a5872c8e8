//! Orders: recorded before and after, whole or not at all, and settled after a crash.

use std::io::ErrorKind;
use std::sync::{Arc, Mutex, OnceLock};

use keywright_audit::head::Fingerprint;
use keywright_audit::testing::Faults as LogFaults;
use keywright_audit::verify::Verifier;
use keywright_clock::Clock;
use keywright_custody::budget::Spent;
use keywright_custody::fit::Misfit;
use keywright_custody::rows;
use keywright_custody::{
    HolderError, HolderOperation, Items, KeyHolder, KeyMaterial, NewKey, Placement, Reply, Request,
};
use keywright_policy::{Permit, PolicyDocument};
use keywright_primitives::random::RandomStream;
use keywright_service::AdminError;
use keywright_store::Error as StoreError;
use keywright_tls::{ClientTrust, Older};
use keywright_types::{
    Algorithm, BindingKind, Code, Custody, KeyId, KeySpec, KeyVersion, Purpose, State,
};
use serde_json::Value;

use crate::house::{House, authority, field, name};

type Trick = Box<dyn Fn() + Send + Sync>;

/// A holder that plays a trick in the middle of an order: after its beginning is recorded, before
/// anything is committed. It remembers the keys that it was told to take back.
struct Meddler {
    inner: Arc<dyn KeyHolder>,
    trick: Arc<OnceLock<Trick>>,
    discarded: Arc<Mutex<Vec<(KeyId, KeyVersion)>>>,
}

impl KeyHolder for Meddler {
    fn name(&self) -> &'static str {
        "meddler"
    }

    fn supports(&self, spec: &KeySpec, operation: HolderOperation) -> bool {
        self.inner.supports(spec, operation)
    }

    fn placement(&self) -> Placement {
        Placement::Inline
    }

    fn generate(&self, permit: &Permit, new: NewKey) -> Result<KeyMaterial, HolderError> {
        if let Some(trick) = self.trick.get() {
            trick();
        }
        self.inner.generate(permit, new)
    }

    fn discard(&self, permit: &Permit, material: &KeyMaterial) {
        assert_eq!(permit.key(), material.key());
        let mut discarded = self.discarded.lock().unwrap();
        discarded.push((material.key(), material.version()));
    }

    fn destroy(&self, permit: &Permit, material: &KeyMaterial) -> Result<(), HolderError> {
        if let Some(trick) = self.trick.get() {
            trick();
        }
        self.inner.destroy(permit, material)
    }

    fn perform(
        &self,
        permit: &Permit,
        request: &Request,
        items: Items,
        random: &mut RandomStream,
    ) -> Result<Reply, HolderError> {
        self.inner.perform(permit, request, items, random)
    }

    fn probe(&self) -> Result<(), HolderError> {
        self.inner.probe()
    }
}

fn meddled() -> (House, Arc<OnceLock<Trick>>) {
    let (house, trick, _) = watched();
    (house, trick)
}

type Discarded = Arc<Mutex<Vec<(KeyId, KeyVersion)>>>;

/// A house of a [`Meddler`], with what it plays and what it took back.
fn watched() -> (House, Arc<OnceLock<Trick>>, Discarded) {
    let (trick, discarded) = (Arc::new(OnceLock::new()), Discarded::default());
    let meddler = (Arc::clone(&trick), Arc::clone(&discarded));
    let house = House::with(|inner| {
        let (trick, discarded) = meddler;
        Arc::new(Meddler {
            inner,
            trick,
            discarded,
        })
    });
    (house, trick, discarded)
}

fn play(trick: &OnceLock<Trick>, what: impl Fn() + Send + Sync + 'static) {
    assert!(trick.set(Box::new(what)).is_ok());
}

/// The log cannot be written from now on, until it is healed: not even its reserve, which stands by for
/// [`full`].
fn broken(faults: &LogFaults) -> impl Fn() + Send + Sync + 'static {
    let faults = faults.clone();
    move || faults.fail_writes(ErrorKind::Other, 0)
}

/// The disk of the log is full from now on.
fn full(faults: &LogFaults) -> impl Fn() + Send + Sync + 'static {
    let faults = faults.clone();
    move || faults.fail_writes(ErrorKind::StorageFull, 0)
}

fn versions(house: &House, context: &str) -> Vec<(u32, State)> {
    let tenant = house.admin.tenant(&name("default")).unwrap();
    let key = house.admin.find(&tenant, &name(context)).unwrap();
    key.versions()
        .iter()
        .map(|version| (version.number().number(), version.state()))
        .collect()
}

fn rotate(house: &House, context: &str) -> Result<KeyVersion, AdminError> {
    house.admin.rotate(&name("default"), &name(context))
}

/// Before and end of every order, in the order in which they were written.
fn orders(house: &House) -> Vec<Value> {
    house.records(&["order-before", "order-after", "order-settled"])
}

/// The tables of the rows that a record tells.
fn tables(record: &Value) -> Vec<&str> {
    let fields = record["fields"].as_array().unwrap().iter();
    let rows = fields.filter(|field| field["name"] == "row");
    let mut tables: Vec<_> = rows
        .map(|row| row["value"]["table"].as_str().unwrap())
        .collect();
    tables.sort_unstable();
    tables
}

/// The snapshot is what the store says, at the store's epoch.
fn assert_in_step(house: &House) {
    let snapshot = house.admin.shared().snapshot();
    let contents = rows::load(&house.store).unwrap();
    assert_eq!(snapshot.epoch, house.store.epoch());
    assert_eq!(snapshot.policy.epoch(), snapshot.epoch);
    let mut known: Vec<_> = snapshot
        .keyring
        .iter()
        .map(|key| format!("{key:?}"))
        .collect();
    let mut stored: Vec<_> = contents
        .keyring
        .iter()
        .map(|key| format!("{key:?}"))
        .collect();
    known.sort();
    stored.sort();
    assert_eq!(known, stored);
    assert_eq!(snapshot.tenants.len(), contents.tenants.len());
}

#[test]
fn each_order_is_recorded_before_and_after_with_the_rows_it_changed() {
    let house = House::new();
    let epoch = house.epoch();
    let already = orders(&house).len();
    house.create("new", BindingKind::Group).unwrap();
    assert_eq!(rotate(&house, "new").unwrap().number(), 2);
    house
        .admin
        .apply_policy(PolicyDocument::parse("version = 1\n").unwrap())
        .unwrap();
    let records = orders(&house).split_off(already);
    let types: Vec<_> = records
        .iter()
        .map(|record| record["type"].as_str().unwrap())
        .collect();
    assert_eq!(types, ["order-before", "order-after"].repeat(3));
    for (index, (pair, changed)) in records
        .chunks(2)
        .zip([
            &["key_versions", "keys", "names"][..],
            &["key_versions", "key_versions"],
            &["policies"],
        ])
        .enumerate()
    {
        let before = epoch + u64::try_from(index).unwrap();
        assert_eq!(pair[0]["request"], pair[1]["request"]);
        assert_eq!(
            (&pair[0]["epoch"], &pair[1]["epoch"]),
            (&before.into(), &(before + 1).into())
        );
        assert_eq!(pair[1]["outcome"], "ok");
        assert!(tables(&pair[0]).is_empty());
        assert_eq!(tables(&pair[1]), changed);
    }
    assert_eq!(field(&records[0], "name").unwrap(), "new");
    assert!(
        field(&records[4], "order-digest").is_some(),
        "which policy was ordered"
    );
    assert_eq!(
        versions(&house, "new"),
        [(1, State::Retired), (2, State::Active)]
    );
    assert_in_step(&house);
}

#[test]
fn a_failed_commit_is_recorded_and_publishes_nothing() {
    let house = House::new();
    let epoch = house.epoch();
    for error in [StoreError::Full, StoreError::Io(ErrorKind::Other)] {
        house.store_faults.fail_apply(1, error.clone());
        let failed = house.create("new", BindingKind::None).unwrap_err();
        assert_eq!(failed.code(), Code::StoreUnavailable);
        let after = house.last("order-after");
        assert_eq!(after["outcome"], "store_unavailable");
        assert_eq!(after["epoch"], epoch);
        assert!(tables(&after).is_empty());
        assert_eq!(house.epoch(), epoch);
        assert_in_step(&house);
    }
    house.create("new", BindingKind::None).unwrap();
    assert_eq!(house.epoch(), epoch + 1);
}

#[test]
fn the_key_of_an_order_that_came_to_nothing_is_taken_back_and_no_other_is() {
    let (house, _, discarded) = watched();
    let told = || discarded.lock().unwrap().clone();
    rotate(&house, "desk").unwrap();
    house
        .store_faults
        .fail_apply_after_commit(1, StoreError::Io(ErrorKind::Other));
    rotate(&house, "desk").unwrap();
    house.create("new", BindingKind::None).unwrap();
    assert!(told().is_empty(), "what a row names stays");
    let tenant = house.admin.tenant(&name("default")).unwrap();
    let desk = house.admin.find(&tenant, &name("desk")).unwrap().id();
    house.store_faults.fail_apply(1, StoreError::Full);
    rotate(&house, "desk").unwrap_err();
    assert_eq!(told(), [(desk, KeyVersion::from_number(4))]);
    house.create("NEW", BindingKind::None).unwrap_err();
    assert_eq!(
        told().len(),
        2,
        "a name that is taken is found out at the commit"
    );
    assert_eq!(told()[1].1, KeyVersion::FIRST);
    assert!(rotate(&house, "desk").is_ok() && told().len() == 2);
}

#[test]
fn where_it_is_not_known_what_came_of_an_order_its_key_stays() {
    let (house, trick, discarded) = watched();
    let faults = house.store_faults.clone();
    play(&trick, move || {
        faults.break_all(StoreError::Io(ErrorKind::Other));
    });
    house.create("lost", BindingKind::None).unwrap_err();
    assert!(discarded.lock().unwrap().is_empty());
}

#[test]
fn what_no_holder_could_keep_is_refused_with_the_reason() {
    let house = House::new();
    let token = KeySpec {
        algorithm: Algorithm::TokenGcm12,
        custody: Custody::Token,
        ..KeySpec::seal()
    };
    let tree = KeySpec {
        purpose: Purpose::Tree,
        ..token
    };
    for (spec, misfit) in [
        (token, Misfit::NoToken),
        (tree, Misfit::Purpose(Purpose::Tree)),
    ] {
        let made =
            house
                .admin
                .create_context(&name("default"), &name("new"), spec, BindingKind::None);
        let refused = made.unwrap_err();
        assert!(
            matches!(&refused, AdminError::Misfit(one) if *one == misfit),
            "{refused:?}"
        );
        assert_eq!(refused.code(), Code::Unsupported);
        assert_eq!(house.last("order-after")["outcome"], "unsupported");
    }
    let mac = KeySpec {
        purpose: Purpose::Mac,
        algorithm: Algorithm::HmacSha256,
        ..KeySpec::seal()
    };
    let made = house
        .admin
        .create_context(&name("default"), &name("new"), mac, BindingKind::Group);
    assert!(matches!(
        made,
        Err(AdminError::Misfit(Misfit::Bound(Purpose::Mac)))
    ));
}

#[test]
fn a_spent_version_is_rotated_once_and_a_key_that_is_gone_is_said_to_be() {
    let house = House::new();
    let tenant = house.admin.tenant(&name("default")).unwrap();
    let key = house.admin.find(&tenant, &name("desk")).unwrap().id();
    let spent = |key, version| Spent {
        key,
        version: KeyVersion::from_number(version),
    };
    let second = Some(KeyVersion::from_number(2));
    assert_eq!(house.admin.rotate_spent(spent(key, 1)).unwrap(), second);
    assert_eq!(house.admin.rotate_spent(spent(key, 1)).unwrap(), None);
    assert_eq!(house.admin.rotate_spent(spent(key, 9)).unwrap(), None);
    assert_eq!(versions(&house, "desk").len(), 2);
    let gone = house
        .admin
        .rotate_spent(spent(KeyId::from_bytes([9; 16]), 1));
    assert!(matches!(gone, Err(AdminError::ContextUnknown)));
}

#[test]
fn a_commit_whose_answer_was_lost_counts_as_what_the_store_says() {
    let house = House::new();
    house
        .store_faults
        .fail_apply_after_commit(1, StoreError::Io(ErrorKind::Other));
    house.create("new", BindingKind::None).unwrap();
    let after = house.last("order-after");
    assert_eq!(
        (&after["outcome"], &after["epoch"]),
        (&"ok".into(), &house.store.epoch().into())
    );
    assert_eq!(tables(&after), ["key_versions", "keys", "names"]);
    assert_eq!(versions(&house, "new"), [(1, State::Active)]);
    assert_in_step(&house);
}

#[test]
fn an_order_of_unknown_fate_is_ended_before_the_next_one_begins() {
    let (house, trick) = meddled();
    let faults = house.store_faults.clone();
    play(&trick, move || {
        faults.break_all(StoreError::Io(ErrorKind::Other))
    });
    let already = orders(&house).len();
    let failed = house.create("lost", BindingKind::None).unwrap_err();
    assert_eq!(failed.code(), Code::StoreUnavailable);
    // Nothing can be said of it while the store does not answer, and nothing else is begun.
    assert!(house.admin.apply_policy(PolicyDocument::default()).is_err());
    assert_eq!(orders(&house).len(), already + 1);
    house.store_faults.heal();
    house.admin.apply_policy(PolicyDocument::default()).unwrap();
    let records = orders(&house).split_off(already);
    let seen: Vec<_> = records
        .iter()
        .map(|record| {
            (
                record["type"].as_str().unwrap(),
                record["outcome"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = [
        ("order-before", "ok"),
        ("order-after", "store_unavailable"),
        ("order-before", "ok"),
        ("order-after", "ok"),
    ];
    assert_eq!(seen, expected);
    assert_eq!(records[0]["request"], records[1]["request"]);
    assert_in_step(&house);
}

#[test]
fn what_was_done_and_could_not_be_recorded_is_in_force_and_owed() {
    let (house, trick) = meddled();
    play(&trick, broken(&house.log_faults));
    let already = orders(&house).len();
    let failed = house.create("new", BindingKind::None).unwrap_err();
    assert!(matches!(failed, AdminError::Audit(_)), "{failed:?}");
    assert_eq!(versions(&house, "new"), [(1, State::Active)]);
    assert_in_step(&house);
    // As long as the end is owed, nothing new is begun.
    let epoch = house.epoch();
    assert!(matches!(
        house.admin.apply_policy(PolicyDocument::default()),
        Err(AdminError::Audit(_))
    ));
    assert_eq!(house.epoch(), epoch);
    house.log_faults.heal();
    house.hand.advance(std::time::Duration::from_secs(1));
    house.admin.apply_policy(PolicyDocument::default()).unwrap();
    let records = orders(&house).split_off(already);
    assert_eq!(records.len(), 4);
    let owed = records
        .iter()
        .find(|record| record["type"] == "order-after" && record["operation"] == "context-create")
        .unwrap();
    assert_eq!(
        (&owed["outcome"], &owed["epoch"]),
        (&"ok".into(), &epoch.into())
    );
    assert_eq!(tables(owed), ["key_versions", "keys", "names"]);
}

#[test]
fn an_order_that_a_full_disk_overtakes_is_ended_in_the_reserve_and_the_next_is_not_begun() {
    let (house, trick) = meddled();
    play(&trick, full(&house.log_faults));
    let already = orders(&house).len();
    house.create("new", BindingKind::None).unwrap();
    let epoch = house.epoch();
    assert!(matches!(
        house.admin.apply_policy(PolicyDocument::default()),
        Err(AdminError::Audit(_))
    ));
    assert_eq!(house.epoch(), epoch);
    let records = orders(&house).split_off(already);
    let kinds: Vec<_> = records.iter().map(|record| &record["type"]).collect();
    assert_eq!(kinds, ["order-before", "order-after"]);
    assert_eq!(records[1]["outcome"], "ok");
    assert_in_step(&house);
}

#[test]
fn an_order_that_cannot_be_recorded_is_not_begun() {
    let house = House::new();
    let epoch = house.epoch();
    house.log_faults.fail_syncs();
    assert!(matches!(
        house.create("new", BindingKind::None),
        Err(AdminError::Audit(_))
    ));
    assert_eq!((house.epoch(), house.store.epoch()), (epoch, epoch));
}

#[test]
fn after_a_crash_an_order_that_took_place_is_settled_as_done_with_its_rows() {
    let (house, trick) = meddled();
    play(&trick, broken(&house.log_faults));
    house.create("new", BindingKind::None).unwrap_err();
    let epoch = house.store.epoch();
    house.log_faults.heal();
    let house = house.crash();
    let settled = house.last("order-settled");
    assert_eq!(
        (&settled["outcome"], &settled["epoch"]),
        (&"ok".into(), &epoch.into())
    );
    assert_eq!(tables(&settled), ["key_versions", "keys", "names"]);
    assert_eq!(versions(&house, "new"), [(1, State::Active)]);
    // Settled once: the next start finds nothing.
    let house = house.crash();
    assert_eq!(house.records(&["order-settled"]).len(), 1);
}

#[test]
fn after_a_crash_an_order_that_did_not_take_place_is_settled_as_interrupted() {
    let (house, trick) = meddled();
    play(&trick, || panic!("the process ends here, on purpose"));
    let epoch = house.store.epoch();
    let died = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        house.create("new", BindingKind::None)
    }));
    assert!(died.is_err());
    let house = house.crash();
    let settled = house.last("order-settled");
    assert_eq!(
        (&settled["outcome"], &settled["epoch"]),
        (&"interrupted".into(), &epoch.into())
    );
    assert!(tables(&settled).is_empty());
    let tenant = house.admin.tenant(&name("default")).unwrap();
    assert!(house.admin.find(&tenant, &name("new")).is_err());
    house.create("new", BindingKind::None).unwrap();
}

#[test]
fn an_order_that_is_refused_is_recorded_with_its_reason() {
    let house = House::new();
    let epoch = house.epoch();
    let (tenant, token) = (
        name("default"),
        KeySpec {
            custody: Custody::Token,
            ..KeySpec::seal()
        },
    );
    let none = BindingKind::None;
    let refused = [
        house.create("DESK", none).unwrap_err(),
        house
            .admin
            .create_context(&tenant, &name("t"), token, none)
            .unwrap_err(),
        house
            .admin
            .create_context(&name("nobody"), &name("t"), KeySpec::seal(), none)
            .unwrap_err(),
        rotate(&house, "missing").unwrap_err(),
        house.admin.create_tenant(&name("Default")).unwrap_err(),
    ];
    let expected = [
        Code::NameTaken,
        Code::Unsupported,
        Code::ContextNotFound,
        Code::ContextNotFound,
        Code::NameTaken,
    ];
    assert_eq!(refused.map(|error| error.code()), expected);
    let records = house.records(&["order-after"]);
    let outcomes: Vec<_> = records[records.len() - 5..]
        .iter()
        .map(|record| record["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(outcomes, expected.map(Code::name));
    assert_eq!(house.epoch(), epoch);
    assert_in_step(&house);
}

#[test]
fn an_older_revocation_list_is_never_put_in_force() {
    let house = House::new();
    let trust = |number| {
        let list = authority().crl_with(&[], number);
        let anchors = authority().certificate_pem().as_bytes();
        let trust = ClientTrust::new(anchors, list.as_bytes(), Clock::clone(&house.clock)).unwrap();
        house.admin.replace_trust(Arc::new(trust), list.as_bytes())
    };
    trust(5).unwrap();
    let epoch = house.epoch();
    let refused = trust(4).unwrap_err();
    assert!(
        matches!(refused, AdminError::OlderTrust(Older::RevocationList))
            && refused.code() == Code::StateConflict
    );
    assert_eq!(house.epoch(), epoch);
    assert_eq!(house.last("order-after")["outcome"], "state_conflict");
    trust(6).unwrap();
    assert_in_step(&house);
}

#[test]
fn orders_from_many_threads_are_carried_out_one_after_the_other() {
    let house = House::new();
    let (admin, before) = (&house.admin, house.epoch());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(move || {
                for _ in 0..5 {
                    admin.rotate(&name("default"), &name("desk")).unwrap();
                }
            });
        }
    });
    assert_eq!(house.epoch(), before + 20);
    assert_eq!(versions(&house, "desk").len(), 21);
    assert_in_step(&house);
}

#[test]
fn the_log_of_failures_and_crashes_verifies() {
    let (house, trick) = meddled();
    play(&trick, broken(&house.log_faults));
    house.create("new", BindingKind::None).unwrap_err();
    house.log_faults.heal();
    let mut house = house.crash();
    rotate(&house, "new").unwrap();
    let last = house.log.take().unwrap().shutdown().unwrap();
    let verifier = Verifier::new(Some(Fingerprint::of(&last.signer().key)));
    verifier.verify(house.folder.path()).unwrap();
}

#[test]
fn a_panic_in_the_middle_of_an_order_is_ended_by_the_next_order() {
    let (house, trick) = meddled();
    let first = std::sync::atomic::AtomicBool::new(true);
    play(&trick, move || {
        let first = first.swap(false, std::sync::atomic::Ordering::SeqCst);
        assert!(!first, "on purpose");
    });
    let died = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        house.create("new", BindingKind::None)
    }));
    assert!(died.is_err());
    let already = orders(&house).len();
    house.create("new", BindingKind::None).unwrap();
    let records = orders(&house).split_off(already);
    assert_eq!(
        (&records[0]["type"], &records[0]["outcome"]),
        (&"order-after".into(), &"internal".into())
    );
    assert_eq!((records.len(), &records[2]["outcome"]), (3, &"ok".into()));
    assert_in_step(&house);
    let house = house.crash();
    assert!(house.records(&["order-settled"]).is_empty());
}
