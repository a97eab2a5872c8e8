//! A log to whose end somebody has appended who can write the folder and has no key: neither a start nor a restore does
//! anything on it that an order cannot undo, and it stays marked (design 7.22, 7.29, 7.33).

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use keywright_audit::RecordType;
use keywright_audit::field::{Field, Row};
use keywright_audit::record::{Facts, Record};
use keywright_clock::Clock;
use keywright_forgery::ForgedFile;
use keywright_home::backup::{LaterLog, Restored};
use keywright_home::control::send;
use keywright_home::{Event, Life, Node, Order};
use keywright_types::{
    BindingKind, Code, KeySpec, KeyVersion, Name, Operation, PrincipalId, RequestId, State,
};
use serde_json::{Value, json};

use crate::backup::{Keeper, restore, states};
use crate::fixture::*;

/// Who is said to have ordered it; the policy knows nobody of this id.
const STRANGER: PrincipalId = PrincipalId::from_bytes([0xEE; 16]);

/// A home of which there is a backup, and whose node was killed after an order and a request.
struct Scene {
    home: Home,
    keeper: Keeper,
    backup: PathBuf,
    /// A file of the boot that was killed.
    file: PathBuf,
    epoch: u64,
    /// The key of `doomed`, and its tenant.
    key: [u8; 16],
    tenant: [u8; 16],
}

fn scene() -> Scene {
    let (home, keeper) = (Home::demo(), Keeper::new());
    let backup = home.beside("backup.kwb");
    let node = home.open().unwrap();
    for context in ["doomed", "paused"] {
        let order = Order::ContextCreate {
            tenant: name("default"),
            name: name(context),
            binding: BindingKind::None,
            spec: KeySpec::seal(),
            rules: keywright_custody::Rules::default(),
            detail: None,
            secret: None,
        };
        node.carry_out(order).unwrap();
    }
    keeper.back_up(&node, &backup);
    node.shutdown().unwrap();
    drop(node);
    let before = record_files(&home);
    let served = Served::start(&home.path());
    let suspend = Order::KeyLife {
        tenant: name("default"),
        name: name("paused"),
        life: Life::Suspend,
        version: Some(KeyVersion::FIRST),
        despite_use: false,
    };
    send(&home.path(), &suspend).unwrap().unwrap();
    served.kill();
    let file = record_files(&home)
        .difference(&before)
        .next()
        .unwrap()
        .clone();
    let records = home.records();
    let created = records.iter().rev().find(|record| {
        record["operation"] == "context-create" && field(record, "name") == Some(&"doomed".into())
    });
    let bytes = |value: &Value| {
        let text = value.as_str().unwrap();
        keywright_encoding::hex::decode_array(text).unwrap()
    };
    let created = created.expect("the order that made it");
    Scene {
        file,
        epoch: records
            .iter()
            .filter_map(|record| record["epoch"].as_u64())
            .max()
            .unwrap(),
        key: bytes(&created["key"]),
        tenant: bytes(&created["tenant"]),
        home,
        keeper,
        backup,
    }
}

fn record_files(home: &Home) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir(home.path().join("audit")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.extension().is_some_and(|end| end == "log"))
        .collect()
}

/// A row as a forged record has it: its MAC is a guess.
struct Forged {
    table: Name,
    key: Vec<u8>,
    body: Vec<u8>,
}

impl Forged {
    fn version(key: &[u8; 16], number: u8, state: &str) -> Self {
        let body = json!({ "v": 1, "state": state, "created_ms": 1, "destroyed_ms": 2, "sealed_sha256": "00" });
        Self {
            table: name("key_versions"),
            key: [&key[..], &[0, 0, 0, number]].concat(),
            body: body.to_string().into_bytes(),
        }
    }

    fn row(table: &str, key: &[u8], body: &[u8]) -> Self {
        let (key, body) = (key.to_vec(), body.to_vec());
        let table = name(table);
        Self { table, key, body }
    }
}

impl Scene {
    /// Every order that changes state, with the rows by which it would do harm.
    fn forgeries(&self) -> Vec<(Operation, Vec<Forged>)> {
        let key = &self.key;
        let version = |number, state| vec![Forged::version(key, number, state)];
        let taken = [&self.tenant[..], b"taken"].concat();
        let policy = b"{\"version\":1}";
        vec![
            (Operation::KeyDestroy, version(1, "destroyed")),
            (
                Operation::KeyScheduleDestroy,
                version(1, "destroy-scheduled"),
            ),
            (Operation::KeyRetire, version(1, "retired")),
            (Operation::KeySuspend, version(1, "suspended")),
            (Operation::KeyResume, version(1, "active")),
            (Operation::KeyCancelDestroy, version(1, "pre-active")),
            (Operation::KeyRotate, version(2, "active")),
            (Operation::ReaderImport, version(3, "retired")),
            (
                Operation::PolicyApply,
                vec![Forged::row("policies", b"policy", policy)],
            ),
            (
                Operation::PkiRevoke,
                vec![Forged::row("policies", b"trust", b"none")],
            ),
            (
                Operation::KeyApprove,
                vec![Forged::row("approvals", &[7; 48], b"{}")],
            ),
            (Operation::ContextSet, vec![Forged::row("keys", key, b"{}")]),
            (
                Operation::ContextCreate,
                vec![
                    Forged::row("names", &taken, &[0x66; 16]),
                    Forged::row("keys", &[0x66; 16], b"{}"),
                    Forged::version(&[0x66; 16], 1, "active"),
                ],
            ),
            (
                Operation::HomeCreate,
                vec![Forged::row("tenants", &[0x67; 16], b"{}")],
            ),
            (
                Operation::ClockConfirm,
                vec![Forged::row("counters", b"clock", b"{}")],
            ),
        ]
    }

    /// Appends a record of each type for each of these orders, the last with the epoch that is furthest of all.
    fn forge(&self, orders: &[(Operation, Vec<Forged>)]) -> u64 {
        let mut file = ForgedFile::read(&self.file);
        let (mut number, start) = (0_u8, file.sequence);
        for (operation, rows) in orders {
            let fields: Vec<_> = rows
                .iter()
                .map(|row| {
                    Field::Row(Row {
                        table: (&row.table).into(),
                        key: &row.key,
                        row: &row.body,
                        mac: &[0; 32],
                    })
                })
                .collect();
            for kind in RecordType::ALL
                .iter()
                .filter(|kind| **kind != RecordType::FileStart)
            {
                number = number.wrapping_add(1);
                let mut facts = Facts::new(*kind, *operation, Clock::system().wall());
                facts.epoch = self.epoch + 1 + u64::from(number);
                facts.principal = STRANGER;
                // A beginning has no end of the same request: the next start would settle it.
                facts.request = RequestId::from_bytes([number; 16]);
                append(&mut file, facts, &fields);
            }
        }
        let mut last = Facts::new(
            RecordType::OrderAfter,
            Operation::KeySuspend,
            Clock::system().wall(),
        );
        last.epoch = u64::MAX;
        append(&mut file, last, &[]);
        file.write();
        file.sequence - start
    }

    /// A home of the backup and of the log as it is now.
    fn restored(&self) -> (Home, Restored) {
        let backup = self.keeper.open(&self.backup, &self.home).unwrap();
        let log = self.home.path().join("audit");
        restore(&backup, &self.home, LaterLog::Folder(&log)).unwrap()
    }
}

fn append(file: &mut ForgedFile, facts: Facts, fields: &[Field<'_>]) {
    let mut body = Vec::new();
    Record { facts, fields }.put(0, &mut body);
    file.append(&body);
}

fn evidence(home: &Home) -> Vec<String> {
    let records = home.records().into_iter();
    let evidence = records.map(|record| record["evidence"].as_str().unwrap().to_owned());
    evidence.collect()
}

/// No record that a node signed says anything of the stranger's orders.
fn nothing_was_done_for_the_stranger(home: &Home) {
    let stranger = STRANGER.to_string();
    let theirs = home
        .records()
        .into_iter()
        .filter(|record| record["principal"] == stranger.as_str());
    for record in theirs {
        assert_eq!(record["evidence"], "unproven", "{record}");
    }
}

fn resume(node: &Node, context: &str) {
    let order = Order::KeyLife {
        tenant: name("default"),
        name: name(context),
        life: Life::Resume,
        version: Some(KeyVersion::FIRST),
        despite_use: false,
    };
    node.carry_out(order).unwrap();
}

#[test]
fn forged_log_neither_destroys_nor_permits_at_start_and_restore() {
    let scene = scene();
    let unproven = scene.forge(&scene.forgeries());
    let (new, told) = scene.restored();
    // The order before the crash is proven, by a head or a check frame, and done again.
    assert_eq!((told.replayed, told.unproven), (1, unproven), "{told:?}");
    assert!(told.lost.is_empty() && told.retired.is_empty(), "{told:?}");
    assert_eq!(told.suspended.len(), 1, "{told:?}");
    assert!(told.policy_missing && told.unfinished == 0, "{told:?}");
    assert!(told.trust_unknown, "{told:?}");
    assert!(told.doubted > 15, "{told:?}");
    // Each forged order may count for one epoch, whatever it claims.
    assert!(told.epoch < scene.epoch + 50, "{told:?}");
    // Anchors and lists that a forged record would replace are put in place by hand.
    assert!(!told.missing_files.is_empty());
    for missing in &told.missing_files {
        fs::copy(
            scene.home.path().join(missing.file_name().unwrap()),
            missing,
        )
        .unwrap();
    }
    let node = new.open().unwrap();
    assert_eq!(states(&node, "doomed"), [State::Suspended]);
    assert_eq!(states(&node, "paused"), [State::Suspended]);
    assert!(node.admin().policy().unwrap().is_none());
    resume(&node, "doomed");
    assert_eq!(states(&node, "doomed"), [State::Active]);
    // The name is free.
    let taken = Order::ContextCreate {
        tenant: name("default"),
        name: name("taken"),
        binding: BindingKind::None,
        spec: KeySpec::seal(),
        rules: keywright_custody::Rules::default(),
        detail: None,
        secret: None,
    };
    node.carry_out(taken).unwrap();
    node.shutdown().unwrap();
    drop(node);
    assert_eq!(new.verify().unproven, unproven);
    nothing_was_done_for_the_stranger(&new);

    starts_as_it_was(&scene, unproven);
    // What was adopted with a mark is not believed by a later restore either.
    let (_, again) = scene.restored();
    assert_eq!((again.replayed, again.unproven), (1, unproven), "{again:?}");
    assert!(
        again.lost.is_empty() && again.suspended.len() == 1,
        "{again:?}"
    );
}

/// The old home itself starts as well, says so once, and believes none of it.
fn starts_as_it_was(scene: &Scene, unproven: u64) {
    for round in 0..2 {
        let node = scene.home.open().unwrap();
        let marks = (round > 0).then_some(Event::AuditMarked(unproven));
        assert_eq!(node.audit_marks(), marks);
        let told = if round == 0 {
            vec![Event::AuditUnproven(unproven)]
        } else {
            vec![]
        };
        assert_eq!(node.audit_findings(), told);
        assert_eq!(node.admin().shared().snapshot().epoch, scene.epoch);
        assert_eq!(states(&node, "doomed"), [State::Active]);
        assert_eq!(states(&node, "paused"), [State::Suspended]);
        assert!(node.admin().policy().unwrap().is_some());
        node.shutdown().unwrap();
        drop(node);
        assert_eq!(scene.home.verify().unproven, unproven);
        let marked = evidence(&scene.home)
            .into_iter()
            .filter(|one| one == "unproven");
        assert_eq!(marked.count() as u64, unproven);
        nothing_was_done_for_the_stranger(&scene.home);
    }
}

#[test]
fn each_forged_order_alone_can_be_undone() {
    let scene = scene();
    let whole = fs::read(&scene.file).unwrap();
    for (index, forgery) in scene.forgeries().into_iter().enumerate() {
        let operation = forgery.0;
        scene.forge(&[forgery]);
        let (new, told) = scene.restored();
        assert_eq!(
            (told.replayed, told.unfinished),
            (1, 0),
            "{operation}: {told:?}"
        );
        assert!(told.lost.is_empty(), "{operation}: {told:?}");
        assert!(told.epoch < scene.epoch + 10, "{operation}: {told:?}");
        let restricts = index < 4;
        assert_eq!(told.suspended.len(), usize::from(restricts), "{operation}");
        let policy = operation == Operation::PolicyApply;
        assert_eq!(told.policy_missing, policy, "{operation}: {told:?}");
        if operation != Operation::PkiRevoke {
            let node = new.open().unwrap();
            if restricts {
                resume(&node, "doomed");
            }
            assert_eq!(states(&node, "doomed"), [State::Active], "{operation}");
            assert_eq!(states(&node, "paused"), [State::Suspended], "{operation}");
            node.shutdown().unwrap();
        }
        fs::write(&scene.file, &whole).unwrap();
    }
}

#[test]
fn order_before_a_crash_is_settled_only_if_it_is_proven() {
    let scene = scene();
    let mut file = ForgedFile::read(&scene.file);
    let mut facts = Facts::new(
        RecordType::OrderBefore,
        Operation::KeyDestroy,
        Clock::system().wall(),
    );
    // An epoch before the store's: as if it had been carried out.
    facts.epoch = scene.epoch - 1;
    facts.principal = STRANGER;
    facts.request = RequestId::from_bytes([0x5A; 16]);
    append(&mut file, facts, &[]);
    file.check(&[0; 32]);
    file.write();
    let node = scene.home.open().unwrap();
    node.shutdown().unwrap();
    drop(node);
    let request = facts.request.to_string();
    let theirs: Vec<_> = scene
        .home
        .records()
        .into_iter()
        .filter(|record| record["request"] == request.as_str())
        .collect();
    assert_eq!(theirs.len(), 1, "{theirs:?}");
    assert_eq!(
        (&theirs[0]["type"], &theirs[0]["evidence"]),
        (&"order-before".into(), &"unproven".into())
    );
    assert_eq!(theirs[0]["outcome"], Code::Ok.name());
    assert_eq!(scene.home.verify().unproven, 1);
}

#[test]
fn log_of_another_installation_is_refused_and_its_tail_proves_nothing() {
    let scene = scene();
    let log = scene.home.path().join("audit");
    // The newest file of another home, under the names of this one, behind a log that is whole.
    let other = self::scene();
    let foreign = fs::read(&other.file).unwrap();
    let place = log.join(other.file.file_name().unwrap());
    fs::write(&place, foreign).unwrap();
    let backup = scene.keeper.open(&scene.backup, &scene.home).unwrap();
    let refused = restore(&backup, &scene.home, LaterLog::Folder(&log));
    assert!(refused.is_err());
    let node = scene.home.open().unwrap();
    assert!(matches!(
        node.audit_findings()[..],
        [Event::AuditDamaged(_)]
    ));
    assert_eq!(node.admin().shared().snapshot().epoch, scene.epoch);
    node.shutdown().unwrap();
    drop(node);
    fs::remove_file(&place).unwrap();
    assert_eq!(scene.home.verify().unproven, 0);
}
