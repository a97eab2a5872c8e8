//! Contexts and versions in the store, on both engines.

use std::sync::Arc;

use keywright_clock::{Clock, WallTime};
use keywright_custody::rows::{self, Error, Tenant};
use keywright_custody::{Description, Identity, Key, KeyMaterial, Keyring, Rules};
use keywright_primitives::mac::MacKey;
use keywright_store::testing::MemoryEngine;
use keywright_store::{Engine, Error as StoreError, SqliteEngine, Store, Table, Transaction};
use keywright_types::{BindingKind, KeyId, KeySpec, KeyVersion, Name, State, TenantId};

/// Runs a promise on each engine; the folder lives as long as the promise runs.
fn on_each_engine(promise: impl Fn(&Store)) {
    let folder = tempfile::tempdir().unwrap();
    let engines: [Box<dyn Engine>; 2] = [
        Box::new(MemoryEngine::new()),
        Box::new(SqliteEngine::open(&folder.path().join("store")).unwrap()),
    ];
    for engine in engines {
        let store = start(engine);
        promise(&store);
        store.shutdown();
    }
}

fn start(engine: Box<dyn Engine>) -> Store {
    Store::start(engine, MacKey::new(&[5; 32]), &Clock::system()).unwrap()
}

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

fn at(millis: u64) -> WallTime {
    WallTime::from_unix_millis(millis)
}

fn identity(tenant: u8, key: u8, version: u32, spec: KeySpec) -> Identity {
    Identity {
        tenant: TenantId::from_bytes([tenant; 16]),
        key: KeyId::from_bytes([key; 16]),
        version: KeyVersion::from_number(version),
        spec,
        created: at(1000 + u64::from(version)),
    }
}

fn make_tenant(store: &Store, tenant: u8, text: &str) -> Tenant {
    let material = KeyMaterial::new(
        identity(tenant, 0xF0, 1, KeySpec::wrap()),
        vec![tenant; 40],
        None,
    );
    store
        .transact(rows::create_tenant(&name(text), &material))
        .unwrap();
    Tenant::new(
        TenantId::from_bytes([tenant; 16]),
        name(text),
        Arc::new(material),
    )
}

fn material(tenant: &Tenant, key: u8, version: u32) -> KeyMaterial {
    let identity = identity(tenant.id.as_bytes()[0], key, version, KeySpec::seal());
    let parent = Some(Arc::clone(&tenant.wrapping_key));
    KeyMaterial::new(identity, vec![key; 50], parent)
}

fn description(tenant: &Tenant, key: u8, text: &str) -> Description {
    Description {
        id: KeyId::from_bytes([key; 16]),
        tenant: tenant.id,
        name: name(text),
        spec: KeySpec::seal(),
        detail: None,
        binding: BindingKind::Group,
        min_open: KeyVersion::FIRST,
        rules: Rules::default(),
    }
}

fn make_key(store: &Store, tenant: &Tenant, key: u8, text: &str) -> Result<(), Error> {
    let first = material(tenant, key, 1);
    let made = store.transact(rows::create_key(&description(tenant, key, text), &first));
    made.map(drop).map_err(rows::explain)
}

fn rotate(store: &Store, tenant: &Tenant, key: &Key) -> Result<Key, Error> {
    let next = rows::next_identity(key, at(9000))?.version.number();
    let new = material(tenant, key.id().as_bytes()[0], next);
    store
        .transact(rows::rotate(store, key, &new)?)
        .map_err(rows::explain)?;
    Ok(rows::rotated(key, Arc::new(new)))
}

fn states(key: &Key) -> Vec<(u32, State)> {
    key.versions()
        .iter()
        .map(|version| (version.number().number(), version.state()))
        .collect()
}

/// Everything about a key that a snapshot shows.
fn shown(key: &Key) -> String {
    let versions: Vec<_> = key
        .versions()
        .iter()
        .map(|version| {
            let material = version.material();
            let times = (version.activated(), version.retired());
            (
                material.attributes(),
                material.sealed().to_vec(),
                version.state(),
                times,
            )
        })
        .collect();
    format!(
        "{:?} {:?} {:?} {versions:?}",
        key.name(),
        key.spec(),
        key.binding()
    )
}

#[test]
fn what_is_made_and_rotated_is_loaded_as_it_was() {
    on_each_engine(|store| {
        let tenant = make_tenant(store, 1, "default");
        make_key(store, &tenant, 7, "exchange-key").unwrap();
        let key = rows::load_key(store, &tenant, KeyId::from_bytes([7; 16])).unwrap();
        assert_eq!(states(&key), [(1, State::Active)]);
        assert_eq!(key.versions()[0].activated(), Some(at(1001)));
        let rotated = rotate(store, &tenant, &key).unwrap();
        assert_eq!(states(&rotated), [(1, State::Retired), (2, State::Active)]);
        assert_eq!(rotated.versions()[0].retired(), Some(at(1002)));
        // What the service publishes without reading is what it would have read.
        let read = rows::load_key(store, &tenant, key.id()).unwrap();
        assert_eq!(shown(&rotated), shown(&read));
        let contents = rows::load(store).unwrap();
        assert_eq!(
            shown(contents.keyring.find(tenant.id, "exchange-key").unwrap()),
            shown(&read)
        );
        assert_eq!(contents.tenants[0].name.as_str(), "default");
        let wrapping = &contents.tenants[0].wrapping_key;
        assert_eq!(wrapping.attributes(), tenant.wrapping_key.attributes());
        assert_eq!(wrapping.sealed(), tenant.wrapping_key.sealed());
    });
}

#[test]
fn keys_and_versions_of_many_tenants_find_each_other() {
    on_each_engine(|store| {
        // Tenants and keys are made in another order than that of their ids.
        for tenant in [9, 2, 5, 30, 1] {
            let tenant = make_tenant(store, tenant, &format!("tenant-{tenant}"));
            for versions in [3_u8, 1, 2] {
                let id = tenant.id.as_bytes()[0] * 4 + versions;
                make_key(store, &tenant, id, &format!("key-{versions}")).unwrap();
                for _ in 1..versions {
                    let key = rows::load_key(store, &tenant, KeyId::from_bytes([id; 16])).unwrap();
                    rotate(store, &tenant, &key).unwrap();
                }
            }
        }
        let contents = rows::load(store).unwrap();
        assert_eq!((contents.tenants.len(), contents.keyring.len()), (5, 15));
        for tenant in &contents.tenants {
            for versions in 1..=3 {
                let key = contents
                    .keyring
                    .find(tenant.id, &format!("key-{versions}"))
                    .unwrap();
                assert_eq!(key.versions().len(), versions);
                assert_eq!(
                    key.active().unwrap().number().number(),
                    u32::try_from(versions).unwrap()
                );
                let parents = key
                    .versions()
                    .iter()
                    .map(|version| version.material().parent());
                assert!(parents.flatten().all(|parent| parent.tenant() == tenant.id));
            }
        }
    });
}

#[test]
fn a_key_without_versions_does_not_take_those_of_its_neighbours() {
    on_each_engine(|store| {
        let tenant = make_tenant(store, 1, "default");
        for (key, text) in [(3, "a"), (5, "c")] {
            make_key(store, &tenant, key, text).unwrap();
        }
        let row = store.get(Table::Keys, &[3; 16]).unwrap().unwrap();
        let alone = Transaction::new().insert(Table::Keys, [4; 16], tenant.id, row.body);
        store.transact(alone).unwrap();
        let keyring: Keyring = rows::load(store).unwrap().keyring;
        let mut counts: Vec<_> = keyring
            .iter()
            .map(|key| (key.id().as_bytes()[0], key.versions().len()))
            .collect();
        counts.sort_unstable();
        // Two keys of one name: the later row is what the name means. The other is not lost sight of
        // by the versions of the third.
        assert_eq!(counts, [(4, 0), (5, 1)]);
        assert!(keyring.find(tenant.id, "a").unwrap().active().is_none());
    });
}

#[test]
fn a_name_is_given_out_once_in_any_case() {
    on_each_engine(|store| {
        let (one, two) = (make_tenant(store, 1, "One"), make_tenant(store, 2, "two"));
        make_key(store, &one, 7, "Payments").unwrap();
        for text in ["Payments", "payments", "PAYMENTS"] {
            let refused = make_key(store, &one, 8, text);
            assert!(
                matches!(refused, Err(Error::NameTaken)),
                "{text}: {refused:?}"
            );
        }
        assert!(
            store.get(Table::Keys, &[8; 16]).unwrap().is_none(),
            "nothing half made"
        );
        make_key(store, &two, 9, "payments").unwrap();
        let material = KeyMaterial::new(identity(3, 0xF0, 1, KeySpec::wrap()), vec![3; 40], None);
        let again = store.transact(rows::create_tenant(&name("ONE"), &material));
        assert!(matches!(
            again.map_err(rows::explain),
            Err(Error::NameTaken)
        ));
    });
}

#[test]
fn of_two_rotations_that_race_one_wins_and_nothing_is_lost() {
    on_each_engine(|store| {
        let tenant = make_tenant(store, 1, "default");
        make_key(store, &tenant, 7, "k").unwrap();
        let key = rows::load_key(store, &tenant, KeyId::from_bytes([7; 16])).unwrap();
        // Both have read the same; both prepare before either commits.
        let (first, mut second) = (material(&tenant, 7, 2), material(&tenant, 7, 2));
        second = KeyMaterial::new(
            identity(1, 7, 2, KeySpec::seal()),
            vec![0xEE; 50],
            second.parent().cloned(),
        );
        let orders = [&first, &second].map(|new| rows::rotate(store, &key, new).unwrap());
        let results = orders.map(|order| store.transact(order));
        assert!(results[0].is_ok());
        let lost = matches!(
            results[1],
            Err(StoreError::Conflict { .. } | StoreError::Exists { .. })
        );
        assert!(lost, "{:?}", results[1]);
        // Whoever prepares from what was read before the other's commit is refused as well.
        assert!(matches!(
            rows::rotate(store, &key, &second),
            Err(Error::State(_))
        ));
        let now = rows::load_key(store, &tenant, key.id()).unwrap();
        assert_eq!(states(&now), [(1, State::Retired), (2, State::Active)]);
        assert_eq!(now.versions()[1].material().sealed(), first.sealed());
        assert_eq!(
            now.versions()[0].material().sealed(),
            material(&tenant, 7, 1).sealed()
        );
    });
}

#[test]
fn threads_that_rotate_at_once_leave_one_chain_of_versions() {
    on_each_engine(|store| {
        let tenant = make_tenant(store, 1, "default");
        make_key(store, &tenant, 7, "k").unwrap();
        let id = KeyId::from_bytes([7; 16]);
        let won: usize = std::thread::scope(|scope| {
            let racers: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        let tries = (0..25).filter(|_| {
                            let key = rows::load_key(store, &tenant, id).unwrap();
                            rotate(store, &tenant, &key).is_ok()
                        });
                        tries.count()
                    })
                })
                .collect();
            racers.into_iter().map(|racer| racer.join().unwrap()).sum()
        });
        let key = rows::load_key(store, &tenant, id).unwrap();
        assert_eq!(key.versions().len(), won + 1, "each won rotation is there");
        let numbers: Vec<_> = (1..).take(won + 1).collect();
        assert_eq!(
            states(&key)
                .iter()
                .map(|(number, _)| *number)
                .collect::<Vec<_>>(),
            numbers
        );
        let active = key
            .versions()
            .iter()
            .filter(|version| version.state() == State::Active);
        assert_eq!(active.count(), 1);
    });
}

#[test]
fn rows_of_a_newer_format_and_unknown_fields_are_refused() {
    let tables = [(Table::Tenants, vec![1; 16]), (Table::Keys, vec![7; 16]), {
        let mut version = vec![7; 16];
        version.extend([0, 0, 0, 1]);
        (Table::KeyVersions, version)
    }];
    for (table, key) in tables {
        for (from, to) in [
            ("{\"v\":1,", "{\"v\":2,"),
            ("{\"v\":1,", "{\"v\":1,\"new\":0,"),
            ("{", ""),
        ] {
            on_each_engine(|store| {
                let tenant = make_tenant(store, 1, "default");
                make_key(store, &tenant, 7, "k").unwrap();
                let row = store.get(table, &key).unwrap().unwrap();
                let body = String::from_utf8(row.body).unwrap();
                assert!(body.contains(from));
                let body = body.replacen(from, to, 1);
                let edit = Transaction::new().update(table, key.clone(), row.revision, body);
                store.transact(edit).unwrap();
                let read = rows::load(store);
                assert!(
                    matches!(read, Err(Error::Unreadable(found)) if found == table),
                    "{read:?}"
                );
            });
        }
    }
}

#[test]
fn a_version_of_no_key_or_of_another_tenant_is_refused_and_hides_no_other() {
    for (key, owner) in [([2; 16], 1), ([9; 16], 1), ([7; 16], 2)] {
        on_each_engine(|store| {
            let tenant = make_tenant(store, 1, "default");
            make_key(store, &tenant, 7, "k").unwrap();
            let mut row_key = [7; 20];
            row_key[16..].copy_from_slice(&[0, 0, 0, 1]);
            let body = store
                .get(Table::KeyVersions, &row_key)
                .unwrap()
                .unwrap()
                .body;
            row_key[..16].copy_from_slice(&key);
            row_key[19] = 2;
            let owner = TenantId::from_bytes([owner; 16]);
            let stray = Transaction::new().insert(Table::KeyVersions, row_key, owner, body);
            store.transact(stray).unwrap();
            let read = rows::load(store);
            assert!(
                matches!(read, Err(Error::Unreadable(Table::KeyVersions))),
                "{read:?}"
            );
        });
    }
}

#[test]
fn a_key_is_found_only_by_its_own_tenant() {
    on_each_engine(|store| {
        let (one, two) = (make_tenant(store, 1, "one"), make_tenant(store, 2, "two"));
        make_key(store, &one, 7, "k").unwrap();
        let id = KeyId::from_bytes([7; 16]);
        assert!(matches!(
            rows::load_key(store, &two, id),
            Err(Error::NotFound)
        ));
        let none = rows::load_key(store, &one, KeyId::from_bytes([8; 16]));
        assert!(matches!(none, Err(Error::NotFound)));
    });
}

#[test]
fn version_numbers_end_without_wrapping() {
    let tenant = Tenant::new(
        TenantId::from_bytes([1; 16]),
        name("t"),
        Arc::new(KeyMaterial::new(
            identity(1, 0xF0, 1, KeySpec::wrap()),
            vec![],
            None,
        )),
    );
    let last = Arc::new(material(&tenant, 7, u32::MAX));
    let version = keywright_custody::Version::new(last, State::Active);
    let key = Key::new(description(&tenant, 7, "k"), vec![version]);
    assert!(matches!(
        rows::next_identity(&key, at(0)),
        Err(Error::VersionsExhausted)
    ));
}
