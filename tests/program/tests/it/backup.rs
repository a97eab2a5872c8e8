//! Backup and restore as a drill (key-service.md D25, W13, U4; design 7.14, 7.22): what was ordered after a backup is
//! not undone by it, old data opens, and what is not the whole of the right backup restores nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use keywright_audit::head::Fingerprint;
use keywright_client::{Error, blocking};
use keywright_clock::Clock;
use keywright_container::{DataKey, FileHeader, Slot};
use keywright_envelope::Aad;
use keywright_home::backup::{
    Backup, BackupError, CONFIRMABLE, LaterLog, Restoration, Restored, SealedBackup, SlotText,
};
use keywright_home::control::send;
use keywright_home::{
    Answer, Config, FINGERPRINT_FILE, HomeError, Imported, Life, MemoryPlan, Node, Order,
    Recipient, RuleChanges,
};
use keywright_hpke::{Kem, Policy, PrivateKey};
use keywright_mutate::{SplitMix, mutants, mutations};
use keywright_policy::ContextPattern;
use keywright_primitives::random::RandomStream;
use keywright_secret::SecretBytes;
use keywright_tls::Protocol;
use keywright_types::{BindingKind, Code, KeySpec, KeyVersion, Operation, Origin, State};

use crate::fixture::*;

/// Who opens the backups of a test.
pub(crate) struct Keeper(PrivateKey);

impl Keeper {
    pub(crate) fn new() -> Self {
        Self(PrivateKey::generate(Kem::X25519HkdfSha256).unwrap())
    }

    /// A data key and its slot.
    fn slot(&self) -> (DataKey, Slot) {
        let key = DataKey::generate(&mut RandomStream::new().unwrap()).unwrap();
        let policy = Policy::default();
        let suite = policy
            .suites()
            .iter()
            .find(|suite| suite.kem == self.0.kem());
        let suite = policy.admit(*suite.unwrap()).unwrap();
        let slot = Slot::hpke(&key, self.0.public_key(), suite).unwrap();
        (key, slot)
    }

    fn order(&self, to: &Path) -> Order {
        let (key, slot) = self.slot();
        Order::BackupCreate {
            to: to.to_owned(),
            key: Imported::from(&key),
            slots: vec![SlotText::new(&slot)],
        }
    }

    /// A backup of an opened node.
    pub(crate) fn back_up(&self, node: &Node, to: &Path) {
        let answer = node.carry_out(self.order(to)).unwrap();
        assert!(matches!(answer, Answer::BackedUp(_)), "{answer:?}");
    }

    /// A backup that the node of a home signed.
    pub(crate) fn open(&self, file: &Path, home: &Home) -> Result<Backup, BackupError> {
        let sealed = SealedBackup::read(file)?;
        let key = sealed
            .header()
            .open_with_private_key(&self.0, &Policy::default())?;
        sealed.open(&key, fingerprint(home))
    }

    /// An order for a backup, to the process that runs in a home; the file, and what stands in it.
    pub(crate) fn back_up_served(&self, home: &Home, file: &Path) -> [Vec<u8>; 2] {
        let answer = send(&home.path(), &self.order(file)).unwrap().unwrap();
        assert!(matches!(answer, Answer::BackedUp(_)), "{answer:?}");
        let sealed = fs::read(file).unwrap();
        [sealed, self.reseal(file, |_| ())]
    }

    /// The text of a backup, and the same sealed again after `change`: the public key is enough for that.
    pub(crate) fn reseal(&self, file: &Path, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let bytes = fs::read(file).unwrap();
        let mut rest = &bytes[..];
        let header = FileHeader::read_from(&mut rest).unwrap();
        let key = header
            .open_with_private_key(&self.0, &Policy::default())
            .unwrap();
        let aad = Aad::EMPTY.caller(b"keywright/backup/v1").unwrap();
        let mut text = Vec::new();
        keywright_container::open(&mut rest, &mut text, &header, &key, &aad, &mut |_| ()).unwrap();
        change(&mut text);
        let (key, slot) = self.slot();
        let mut out = Vec::new();
        keywright_container::seal(&mut &text[..], &mut out, &key, &[slot], &aad, &mut |_| ())
            .unwrap();
        fs::write(file, out).unwrap();
        text
    }
}

/// The fingerprint that was noted when a home was made.
pub(crate) fn fingerprint(home: &Home) -> Fingerprint {
    let text = fs::read_to_string(home.path().join(FINGERPRINT_FILE)).unwrap();
    let bytes = keywright_encoding::hex::decode_array(text.trim()).unwrap();
    Fingerprint::from_bytes(bytes)
}

/// A new home of a backup, with the secrets of the old one, and its clients where the fixture looks for them.
pub(crate) fn restore(
    backup: &Backup,
    old: &Home,
    log: LaterLog<'_>,
) -> Result<(Home, Restored), BackupError> {
    let mut restored = Ok(None);
    let home = Home::made_by(|place| {
        restored = restore_at(place, backup, old, log).map(Some);
    });
    let restored = restored?.unwrap();
    for entry in fs::read_dir(old.path().join("clients")).unwrap() {
        let from = entry.unwrap();
        fs::copy(
            from.path(),
            home.path().join("clients").join(from.file_name()),
        )
        .unwrap();
    }
    Ok((home, restored))
}

pub(crate) fn restore_at(
    place: &Path,
    backup: &Backup,
    old: &Home,
    log: LaterLog<'_>,
) -> Result<Restored, BackupError> {
    let (password, key) = (
        old.path().join("root.password"),
        old.path().join("server.key"),
    );
    let token = Config::read(&old.config()).unwrap().token;
    let order = Restoration {
        log,
        root_password: password.exists().then_some(&password),
        token_pin: None,
        server_key: Some(&key),
        server_certificate: None,
        module: token.as_ref().map(|token| token.module.as_path()),
        accepted: &CONFIRMABLE,
    };
    backup.restore(place, &order, &Clock::system())
}

fn audit(home: &Home) -> PathBuf {
    home.path().join("audit")
}

fn new_context(context: &str) -> Order {
    Order::ContextCreate {
        tenant: name("default"),
        name: name(context),
        binding: BindingKind::None,
        spec: KeySpec::seal(),
        rules: keywright_custody::Rules::default(),
        detail: None,
        secret: None,
    }
}

/// An order about the first version; destruction, whatever its use.
fn life(context: &str, life: Life) -> Order {
    let despite_use = matches!(life, Life::Destroy);
    Order::KeyLife {
        tenant: name("default"),
        name: name(context),
        life,
        version: Some(KeyVersion::FIRST),
        despite_use,
    }
}

fn rotate(context: &str) -> Order {
    Order::KeyRotate {
        tenant: name("default"),
        name: name(context),
    }
}

/// An order to the process that runs in the home.
fn ordered(home: &Home, order: &Order) -> Answer {
    send(&home.path(), order).unwrap().unwrap()
}

pub(crate) fn states(node: &Node, context: &str) -> Vec<State> {
    let order = Order::Contexts {
        tenant: name("default"),
        name: Some(name(context)),
    };
    let Answer::Contexts { contexts } = node.carry_out(order).unwrap() else {
        panic!()
    };
    let versions = contexts[0].versions.iter();
    versions.map(|version| version.state).collect()
}

fn client(home: &Home, served: &Served, who: &str) -> Result<blocking::Client, Error> {
    let tls = home.tls(Some(home.identity(who)), Protocol::Http2);
    blocking::Client::connect(settings(served.address, tls))
}

fn sealed(client: &blocking::Client, context: &str) -> Result<Vec<u8>, Error> {
    let item = keywright_client::Seal {
        plaintext: context.as_bytes(),
        aad: None,
    };
    let sealed = client.encrypt(&name(context), item);
    sealed.map(|sealed| sealed.ciphertext)
}

fn opened(client: &blocking::Client, context: &str, envelope: &[u8]) -> Result<(), Code> {
    let item = keywright_client::Open {
        ciphertext: envelope,
        aad: None,
    };
    match client.decrypt(&name(context), item) {
        Ok(opened) => {
            assert_eq!(opened.plaintext.expose(), context.as_bytes());
            Ok(())
        }
        Err(error) => Err(error.code().unwrap()),
    }
}

/// A home with contexts for what is going to happen to them, all of which the trader may use.
fn prepared() -> Home {
    let home = Home::demo();
    let node = home.open().unwrap();
    for context in ["doomed", "paused", "turned"] {
        node.carry_out(new_context(context)).unwrap();
    }
    let mut policy = node.admin().policy().unwrap().unwrap();
    for grant in &mut policy.grants {
        if grant.operations.contains(&Operation::Encrypt) {
            grant.contexts = vec![ContextPattern::Any];
        }
    }
    node.admin().apply_policy(policy).unwrap();
    close(node);
    home
}

/// A clock that is so many days ahead, for what has to wait.
fn in_days(home: &Home, days: u64) -> Arc<Node> {
    let later = Clock::system()
        .wall()
        .plus(Duration::from_secs(days * 86_400));
    let (clock, _) = Clock::simulated(later);
    Node::open(&home.config(), clock, MemoryPlan::LeaveAlone).unwrap()
}

/// Ends a node for good: whoever keeps a hand on it keeps its log.
fn close(node: Arc<Node>) {
    node.shutdown().unwrap();
}

#[test]
fn what_was_ordered_after_a_backup_is_not_undone_by_it_and_old_data_opens() {
    let (home, keeper) = (prepared(), Keeper::new());
    let file = home.beside("backup.kwb");
    let served = Served::start(&home.path());
    let trading = client(&home, &served, TRADING).unwrap();
    let old: Vec<_> = ["doomed", "paused", "turned", EXCHANGE]
        .map(|context| (context, sealed(&trading, context).unwrap()))
        .into();
    ordered(&home, &rotate("doomed"));
    let during = back_up_under_load(&home, &served, &keeper, &file);
    order_more(&home);
    assert!(
        client(&home, &served, WEB)
            .and_then(|web| sealed(&web, TWO_FACTOR))
            .is_err()
    );
    let newest = sealed(&trading, "turned").unwrap();
    drop(trading);
    served.stop();
    let node = in_days(&home, 40);
    node.carry_out(Order::ClockConfirm).unwrap();
    node.carry_out(life("doomed", Life::Destroy)).unwrap();
    let epoch = node.admin().shared().snapshot().epoch;
    close(node);

    let backup = keeper.open(&file, &home).unwrap();
    let log = audit(&home);
    let (new, told) = restore(&backup, &home, LaterLog::Folder(&log)).unwrap();
    assert!(told.epoch > epoch && told.backup_epoch < epoch, "{told:?}");
    assert!(
        told.replayed >= 8 && told.missing_files.is_empty(),
        "{told:?}"
    );
    // The new version of `turned`, and the only one of `later`.
    assert_eq!((told.lost.len(), told.retired.len()), (2, 0), "{told:?}");
    let site = Site::over(new);
    check_states(&site);
    check_data(&site, &old, &during, &newest);
    let rest = [("doomed", State::Destroyed), ("paused", State::Suspended)];
    for (context, expected) in rest {
        assert_eq!(states(site.node(), context)[0], expected, "{context}");
    }
    let new = site.stop();
    let report = new.verify();
    assert!(report.boots > 3, "the log is gone on with");
    check_record(&new, None);
}

#[test]
fn who_was_kept_out_after_a_backup_is_kept_out_by_what_is_restored_and_each_listener_has_its_own_anchors()
 {
    let (home, keeper) = (crate::roster::following(), Keeper::new());
    let now = Clock::system().wall();
    let keepers = keywright_network::ca::TestAuthority::named("Keepers' authority", now);
    for (file, text) in [
        ("keepers.pem", keepers.certificate_pem().to_owned()),
        ("keepers-crl.pem", keepers.crl_pem()),
    ] {
        fs::write(home.path().join(file), text).unwrap();
    }
    let section = "\n[admin]\nlisten = \"127.0.0.1:0\"\nauthorities = \"keepers.pem\"\n\
                   revocation_lists = \"keepers-crl.pem\"\n";
    let text = fs::read_to_string(home.config()).unwrap();
    fs::write(home.config(), text + section).unwrap();
    let file = home.beside("backup.kwb");
    let node = home.open().unwrap();
    keeper.back_up(&node, &file);
    let [key, ..] = crate::roster::marks(&home, WEB);
    crate::roster::write_roster(&home, 2, &format!("deny {key}"));
    node.reload_trust().unwrap();
    close(node);
    let backup = keeper.open(&file, &home).unwrap();
    let log = audit(&home);
    for (log, number) in [(LaterLog::Folder(&log), 2), (LaterLog::Lost, 1)] {
        let (new, told) = restore(&backup, &home, log).unwrap();
        assert!(told.missing_files.is_empty(), "{told:?}");
        let sections = |home: &Home, file: &str| {
            let text = fs::read(home.path().join(file)).unwrap();
            keywright_tls::certificates(&text).unwrap()
        };
        for file in ["ca.pem", "keepers.pem"] {
            assert_eq!(sections(&new, file), sections(&home, file), "{file}");
        }
        let roster = fs::read_to_string(new.path().join("clients.txt")).unwrap();
        assert!(
            roster.starts_with(&format!("keywright-clients 1\nnumber {number}\n")),
            "{roster}"
        );
        let site = Site::over(new);
        let web = site.client_of(Some(site.home.identity(WEB)), Protocol::Http2);
        let served = web.and_then(|web| web.health()).is_ok();
        assert_eq!(served, number == 1);
        site.client(TRADING).health().unwrap();
        site.stop().verify();
    }
}

/// Seals as fast as it goes while a backup is made, and gives back what was sealed before it, beside it and after it.
fn back_up_under_load(home: &Home, served: &Served, keeper: &Keeper, file: &Path) -> Vec<Vec<u8>> {
    let (stop, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let load = scope.spawn(|| {
            let client = client(home, served, TRADING).unwrap();
            let mut all = Vec::new();
            while !stop.load(Ordering::Acquire) {
                all.push(sealed(&client, EXCHANGE).unwrap());
                done.store(all.len(), Ordering::Release);
            }
            all
        });
        let until = |count: usize| {
            while done.load(Ordering::Acquire) < count && !load.is_finished() {
                std::thread::yield_now();
            }
        };
        until(20);
        let answer = ordered(home, &keeper.order(file));
        assert!(matches!(answer, Answer::BackedUp(_)), "{answer:?}");
        until(done.load(Ordering::Acquire) + 20);
        stop.store(true, Ordering::Release);
        load.join().unwrap()
    })
}

/// What is ordered after the backup.
fn order_more(home: &Home) {
    ordered(home, &life("doomed", Life::ScheduleDestroy));
    ordered(home, &life("paused", Life::Suspend));
    ordered(home, &rotate("turned"));
    ordered(home, &new_context("later"));
    let rules = RuleChanges {
        two_approvals: Some(true),
        ..RuleChanges::default()
    };
    let set = Order::ContextSet {
        tenant: name("default"),
        name: name(EXCHANGE),
        rules,
    };
    ordered(home, &set);
    let Answer::Policy { text } = ordered(home, &Order::PolicyShow) else {
        panic!()
    };
    // Nobody makes random bytes any more.
    let without = text.replace("\"random\"", "\"health-read\"");
    assert_ne!(without, text);
    let text = without;
    ordered(home, &Order::PolicyApply { text });
    let certificate = home.path().join("clients").join(format!("{WEB}.pem"));
    let reason = keywright_tls::issue::Reason::KeyCompromise;
    let now = Clock::system().wall();
    home.pki().revoke(&certificate, reason, now).unwrap();
    ordered(home, &Order::TrustReload);
}

fn check_states(site: &Site) {
    let node = site.node();
    assert_eq!(states(node, "turned"), [State::Retired, State::Destroyed]);
    assert_eq!(states(node, "later"), [State::Destroyed]);
    assert_eq!(states(node, "doomed"), [State::Destroyed, State::Active]);
    // A name is given out once, whatever became of what it named (design 7.3).
    let again = node.carry_out(new_context("LATER"));
    assert!(matches!(again, Err(HomeError::Admin(error)) if error.code() == Code::NameTaken));
    // What cannot be taken back cannot be had back by a backup of before either (U4).
    let rules = RuleChanges {
        two_approvals: Some(false),
        ..RuleChanges::default()
    };
    let loosened = node.carry_out(Order::ContextSet {
        tenant: name("default"),
        name: name(EXCHANGE),
        rules,
    });
    assert!(matches!(loosened, Err(HomeError::Admin(_))), "{loosened:?}");
    // No destruction of by itself before somebody has looked at the clock.
    let doubted = node.admin().watch_clock().unwrap();
    assert_eq!(doubted, keywright_service::ClockState::Uncertain);
    let mut wire = site.wire(TRADING, Protocol::Http2);
    let random = wire.post("/v1/random", "{\"bytes\":8}".to_owned());
    assert_eq!(random.status, 403, "{random:?}");
    let revoked = site.client_of(Some(site.home.identity(WEB)), Protocol::Http2);
    assert!(revoked.and_then(|web| sealed(&web, TWO_FACTOR)).is_err());
}

fn check_data(site: &Site, old: &[(&str, Vec<u8>)], during: &[Vec<u8>], newest: &[u8]) {
    let trading = site.client(TRADING);
    for (context, envelope) in old {
        let expected = match *context {
            "doomed" | "paused" => Err(Code::KeyVersionUnavailable),
            _ => Ok(()),
        };
        assert_eq!(opened(&trading, context, envelope), expected, "{context}");
    }
    for envelope in during {
        assert_eq!(opened(&trading, EXCHANGE, envelope), Ok(()));
    }
    // Its key was made after the backup: nobody has it.
    assert_eq!(
        opened(&trading, "turned", newest),
        Err(Code::KeyVersionUnavailable)
    );
    let none = sealed(&trading, "turned").unwrap_err();
    assert_eq!(none.code(), Some(Code::NoActiveVersion));
    let Answer::KeyRotated { version } = site.node().carry_out(rotate("turned")).unwrap() else {
        panic!()
    };
    assert_eq!(version.number(), 3, "no number is given out twice");
    let fresh = sealed(&trading, "turned").unwrap();
    assert_eq!(opened(&trading, "turned", &fresh), Ok(()));
    sealed(&trading, EXCHANGE).unwrap();
}

/// The restore stands in the log, before and after, with the reason if there was no log.
fn check_record(home: &Home, reason: Option<&str>) {
    let records = home.records();
    let of = |kind: &str| -> Vec<_> {
        let mut found = records.iter();
        found
            .by_ref()
            .filter(|one| one["operation"] == "backup-restore" && one["type"] == kind)
            .collect()
    };
    let (before, after) = (of("order-before"), of("order-after"));
    assert_eq!((before.len(), after.len()), (1, 1));
    assert_eq!(after[0]["outcome"], "ok");
    let told = field(before[0], "reason").map(|told| told.as_str().unwrap());
    assert_eq!(told, reason);
    assert!(
        field(before[0], "newest-head").is_some() && field(before[0], "order-digest").is_some()
    );
}

#[test]
fn without_the_log_it_goes_back_to_its_moment_and_says_so_for_ever() {
    let (home, keeper) = (prepared(), Keeper::new());
    let file = home.beside("backup.kwb");
    let site = Site::over(home);
    let trading = site.client(TRADING);
    let kept = sealed(&trading, "paused").unwrap();
    keeper.back_up(site.node(), &file);
    site.node()
        .carry_out(life("paused", Life::Suspend))
        .unwrap();
    drop(trading);
    let home = site.stop();
    let backup = keeper.open(&file, &home).unwrap();
    let (new, told) = restore(&backup, &home, LaterLog::Lost).unwrap();
    assert_eq!((told.replayed, told.lost.len()), (0, 0));
    assert_eq!(told.epoch, told.backup_epoch + 1);
    let site = Site::over(new);
    assert_eq!(states(site.node(), "paused"), [State::Active]);
    assert_eq!(opened(&site.client(TRADING), "paused", &kept), Ok(()));
    let new = site.stop();
    new.verify();
    check_record(&new, Some("without-log"));
    // Another node goes on: its log is not that of the first with its end cut off.
    let nodes = [&home, &new].map(|home| {
        let started = home
            .records()
            .into_iter()
            .find(|one| one["type"] == "file-start");
        field(&started.unwrap(), "node").unwrap().clone()
    });
    assert_ne!(nodes[0], nodes[1]);
}

#[test]
fn what_was_destroyed_before_stays_so_and_no_secret_is_in_a_backup() {
    let (home, keeper) = (prepared(), Keeper::new());
    let canary = [0xC4; 32];
    let node = home.open().unwrap();
    let Order::ContextCreate {
        tenant,
        name,
        binding,
        rules,
        detail,
        ..
    } = new_context("canary")
    else {
        panic!()
    };
    let spec = KeySpec {
        origin: Origin::Imported,
        ..KeySpec::seal()
    };
    let secret = Some(Imported::new(&SecretBytes::from_vec(canary.to_vec())));
    node.carry_out(Order::ContextCreate {
        tenant,
        name,
        binding,
        spec,
        rules,
        detail,
        secret,
    })
    .unwrap();
    node.carry_out(rotate("doomed")).unwrap();
    node.carry_out(life("doomed", Life::ScheduleDestroy))
        .unwrap();
    close(node);
    let node = in_days(&home, 40);
    node.carry_out(Order::ClockConfirm).unwrap();
    node.carry_out(life("doomed", Life::Destroy)).unwrap();
    let file = home.beside("backup.kwb");
    keeper.back_up(&node, &file);
    close(node);

    check_no_secret(&home, &keeper, (&file, &canary));
    let backup = keeper.open(&file, &home).unwrap();
    for log in [LaterLog::Lost, LaterLog::Folder(&audit(&home))] {
        let (new, _) = restore(&backup, &home, log).unwrap();
        let node = new.open().unwrap();
        assert_eq!(states(&node, "doomed"), [State::Destroyed, State::Active]);
        // `export = never` holds through backup and restore (design 7.14, U4).
        let owner = PrivateKey::generate(Kem::X25519HkdfSha256).unwrap();
        let left = node.carry_out(Order::KeyExport {
            tenant: crate::fixture::name("default"),
            name: crate::fixture::name("canary"),
            version: None,
            recipients: vec![Recipient::new(owner.public_key())],
        });
        assert!(
            matches!(left, Err(HomeError::Admin(error)) if error.code() == Code::OperationDenied)
        );
        close(node);
    }
}

/// No secret is in a backup, sealed or opened.
fn check_no_secret(home: &Home, keeper: &Keeper, (file, canary): (&Path, &[u8])) {
    let whole = fs::read(file).unwrap();
    let text = keeper.reseal(file, |_| ());
    for secret in secrets(home, canary) {
        for bytes in [&whole, &text] {
            let found = bytes.windows(secret.len()).any(|window| window == secret);
            assert!(!found, "{}", String::from_utf8_lossy(&secret));
        }
    }
}

/// What must not be found, in every form that it could have.
fn secrets(home: &Home, canary: &[u8]) -> Vec<Vec<u8>> {
    let mut all = vec![
        canary.to_vec(),
        keywright_encoding::hex::encode(canary).into_bytes(),
        keywright_encoding::base64::encode(canary).into_bytes(),
    ];
    for file in ["root.password", "server.key", "ca.key"] {
        let bytes = fs::read(home.path().join(file)).unwrap();
        // One line is enough: of a PEM file the second, the first says only what it is.
        let line = bytes
            .split(|byte| *byte == b'\n')
            .find(|line| !line.starts_with(b"-"));
        all.push(line.unwrap().to_vec());
    }
    all
}

#[test]
fn a_backup_is_restored_more_than_once_and_one_of_a_restored_home_as_well() {
    let (home, keeper) = (prepared(), Keeper::new());
    let (first, second) = (home.beside("first.kwb"), home.beside("second.kwb"));
    let node = home.open().unwrap();
    keeper.back_up(&node, &first);
    node.carry_out(rotate("turned")).unwrap();
    node.carry_out(life("paused", Life::Suspend)).unwrap();
    close(node);
    let log = audit(&home);
    let backup = keeper.open(&first, &home).unwrap();
    let (once, told) = restore(&backup, &home, LaterLog::Folder(&log)).unwrap();
    let node = once.open().unwrap();
    node.carry_out(rotate("turned")).unwrap();
    keeper.back_up(&node, &second);
    node.carry_out(life("turned", Life::Suspend)).unwrap();
    close(node);
    // The first backup again, with the log of the home that was restored from it.
    let log = audit(&once);
    let (again, more) = restore(&backup, &home, LaterLog::Folder(&log)).unwrap();
    assert!(more.epoch > told.epoch && more.lost.len() == 2, "{more:?}");
    let node = again.open().unwrap();
    let lost = [State::Suspended, State::Destroyed, State::Destroyed];
    assert_eq!(states(&node, "turned"), lost);
    assert_eq!(states(&node, "paused"), [State::Suspended]);
    close(node);
    let backup = keeper.open(&second, &home).unwrap();
    let (last, _) = restore(&backup, &home, LaterLog::Folder(&log)).unwrap();
    let node = last.open().unwrap();
    let kept = [State::Suspended, State::Destroyed, State::Active];
    assert_eq!(states(&node, "turned"), kept);
    close(node);
    last.verify();
}

#[test]
fn an_order_that_was_acknowledged_before_a_kill_is_done_again() {
    let (home, keeper) = (prepared(), Keeper::new());
    let file = home.beside("backup.kwb");
    let served = Served::start(&home.path());
    ordered(&home, &keeper.order(&file));
    ordered(&home, &rotate("doomed"));
    ordered(&home, &life("paused", Life::Suspend));
    // At once: its record may stand behind the newest head.
    served.kill();
    let backup = keeper.open(&file, &home).unwrap();
    let log = audit(&home);
    let (new, _) = restore(&backup, &home, LaterLog::Folder(&log)).unwrap();
    let node = new.open().unwrap();
    assert_eq!(states(&node, "paused"), [State::Suspended]);
    assert_eq!(states(&node, "doomed")[0], State::Retired);
    close(node);
    new.verify();
}

/// A home and its backup.
pub(crate) struct Shelf {
    pub(crate) home: Home,
    pub(crate) keeper: Keeper,
    pub(crate) file: PathBuf,
}

pub(crate) fn shelf() -> Shelf {
    let (home, keeper) = (prepared(), Keeper::new());
    let file = home.beside("backup.kwb");
    let node = home.open().unwrap();
    keeper.back_up(&node, &file);
    close(node);
    Shelf { home, keeper, file }
}

impl Shelf {
    /// Tries to restore, which must fail and leave nothing.
    pub(crate) fn refuse(&self, log: LaterLog<'_>) -> BackupError {
        let place = self.home.beside("new");
        let before = names(&self.home);
        let tried = self
            .keeper
            .open(&self.file, &self.home)
            .and_then(|backup| restore_at(&place, &backup, &self.home, log));
        assert_eq!(names(&self.home), before, "something was left behind");
        let error = tried.unwrap_err();
        assert!(!error.to_string().is_empty() && !error.advice().is_empty());
        error
    }
}

fn names(home: &Home) -> Vec<String> {
    let entries = fs::read_dir(home.beside("")).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_byte_that_was_changed_anywhere_and_a_cut_at_any_place_open_nothing() {
    let shelf = shelf();
    let whole = fs::read(&shelf.file).unwrap();
    let mut dice = SplitMix::new(7);
    let front = 0..200.min(whole.len());
    let places: Vec<_> = front
        .chain((0..400).map(|_| dice.below(whole.len())))
        .collect();
    for place in &places {
        let mut changed = whole.clone();
        changed[*place] ^= 1 << dice.below(8);
        fs::write(&shelf.file, changed).unwrap();
        let error = shelf.keeper.open(&shelf.file, &shelf.home).unwrap_err();
        assert!(matches!(error, BackupError::Sealed(_)), "{place}: {error}");
    }
    for length in places {
        fs::write(&shelf.file, &whole[..length]).unwrap();
        let error = shelf.keeper.open(&shelf.file, &shelf.home).unwrap_err();
        assert!(matches!(error, BackupError::Sealed(_)), "{length}: {error}");
    }
    fs::write(&shelf.file, [&whole[..], b"x"].concat()).unwrap();
    shelf.refuse(LaterLog::Lost);
    fs::write(&shelf.file, &whole).unwrap();
    let stranger = Keeper::new().open(&shelf.file, &shelf.home).unwrap_err();
    assert!(matches!(stranger, BackupError::Sealed(_)), "{stranger}");
    restore(
        &shelf.keeper.open(&shelf.file, &shelf.home).unwrap(),
        &shelf.home,
        LaterLog::Lost,
    )
    .unwrap();
}

#[test]
fn a_log_that_is_not_the_right_one_whole_restores_nothing() {
    let shelf = shelf();
    let node = shelf.home.open().unwrap();
    let log = audit(&shelf.home);
    let error = shelf.refuse(LaterLog::Folder(&log));
    assert!(matches!(error, BackupError::LogInUse), "{error}");
    node.carry_out(life("paused", Life::Suspend)).unwrap();
    close(node);
    // As it was before the backup.
    let stale = shelf.home.beside("stale");
    let before = Home::demo();
    copy_folder(&audit(&before), &stale);
    let error = shelf.refuse(LaterLog::Folder(&stale));
    assert!(matches!(error, BackupError::StaleLog), "{error}");
    let empty = shelf.home.beside("empty");
    fs::create_dir(&empty).unwrap();
    let error = shelf.refuse(LaterLog::Folder(&empty));
    assert!(matches!(error, BackupError::Log(_)), "{error}");
    let gone = shelf.home.beside("gone");
    shelf.refuse(LaterLog::Folder(&gone));
    let foreign = tempfile::tempdir().unwrap();
    let other = foreign.path().join("other");
    let profile = keywright_home::Profile::Fast;
    keywright_home::create(
        &other,
        keywright_home::Contents::Empty,
        profile,
        &Clock::system(),
    )
    .unwrap();
    let error = shelf.refuse(LaterLog::Folder(&other.join("audit")));
    assert!(matches!(error, BackupError::ForeignLog), "{error}");
    let damaged = shelf.home.beside("damaged");
    copy_folder(&log, &damaged);
    let entries = fs::read_dir(&damaged)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let longest = entries
        .filter(|path| path.extension().is_some_and(|extension| extension == "log"))
        .max_by_key(|path| fs::metadata(path).unwrap().len());
    let longest = longest.unwrap();
    let mut bytes = fs::read(&longest).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&longest, bytes).unwrap();
    let error = shelf.refuse(LaterLog::Folder(&damaged));
    assert!(matches!(error, BackupError::Log(_)), "{error}");
}

#[test]
fn a_place_that_is_taken_and_a_missing_password_restore_nothing() {
    let shelf = shelf();
    let place = shelf.home.beside("new");
    fs::create_dir(&place).unwrap();
    fs::write(place.join("mine"), "mine").unwrap();
    let error = shelf.refuse(LaterLog::Lost);
    assert!(
        matches!(error, BackupError::Home(HomeError::Occupied(_))),
        "{error}"
    );
    assert_eq!(fs::read(place.join("mine")).unwrap(), b"mine");
    fs::remove_dir_all(&place).unwrap();
    let over = restore_at(
        &shelf.home.path(),
        &shelf.keeper.open(&shelf.file, &shelf.home).unwrap(),
        &shelf.home,
        LaterLog::Lost,
    );
    assert!(matches!(
        over,
        Err(BackupError::Home(HomeError::Occupied(_)))
    ));
    let password = shelf.home.path().join("root.password");
    let right = fs::read(&password).unwrap();
    fs::write(&password, "another\n").unwrap();
    let error = shelf.refuse(LaterLog::Lost);
    assert!(
        matches!(error, BackupError::Home(HomeError::Keystore(_))),
        "{error}"
    );
    fs::remove_file(&password).unwrap();
    let error = shelf.refuse(LaterLog::Lost);
    assert!(matches!(error, BackupError::SecretMissing(_)), "{error}");
    fs::write(&password, right).unwrap();
}

#[test]
fn a_backup_is_written_where_there_is_nothing_and_not_into_the_home() {
    let (home, keeper) = (Home::demo(), Keeper::new());
    let node = home.open().unwrap();
    let file = home.beside("backup.kwb");
    keeper.back_up(&node, &file);
    let first = fs::read(&file).unwrap();
    let again = node.carry_out(keeper.order(&file)).unwrap_err();
    assert!(matches!(again, HomeError::Exists(_)), "{again}");
    assert_eq!(fs::read(&file).unwrap(), first);
    let inside = home.path().join("clients").join("backup.kwb");
    let inside = node.carry_out(keeper.order(&inside)).unwrap_err();
    assert!(matches!(inside, HomeError::BackupInside(_)), "{inside}");
    let nowhere = node
        .carry_out(keeper.order(&home.beside("no/where")))
        .unwrap_err();
    assert!(matches!(nowhere, HomeError::File { .. }), "{nowhere}");
    let (key, _) = keeper.slot();
    let slots = vec![SlotText {
        kind: 9,
        content: String::new(),
    }];
    let order = Order::BackupCreate {
        to: home.beside("other"),
        key: Imported::from(&key),
        slots,
    };
    assert!(node.carry_out(order).is_err());
    close(node);
    assert_eq!(names(&home), ["backup.kwb", "home"]);
    let made = home.records().into_iter();
    let made =
        made.filter(|one| one["operation"] == "backup-create" && one["type"] == "order-after");
    assert_eq!(made.count(), 1);
}

/// The body of the fuzz target `backup_content`, over its corpus, a real backup, and ten thousand mutants of them.
#[test]
fn damaged_contents_are_refused_or_have_one_form() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/backup_content");
    let corpus = fs::read_dir(&folder).unwrap();
    let mut corpus: Vec<_> = corpus
        .map(|entry| fs::read(entry.unwrap().path()).unwrap())
        .collect();
    corpus.sort();
    assert!(corpus.len() >= 2, "the corpus is gone");
    let shelf = shelf();
    corpus.push(shelf.keeper.reseal(&shelf.file, |_| ()));
    let seeds: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    seeds
        .iter()
        .for_each(|seed| keywright_home::fuzzing::backup(seed));
    mutations(&seeds, mutants(), 3).for_each(|mutant| keywright_home::fuzzing::backup(&mutant));
}
