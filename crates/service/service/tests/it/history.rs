//! Random histories: whatever was ordered, asked, crashed, waited for and restored, every answer is that of a small
//! model that knows nothing of rows, records and keys.
//!
//! The dose `histories` says how many, `KEYWRIGHT_HISTORY_SEED` the seed of the first.
//! A failure names its seed.

mod model;

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use keywright_audit::Evidence;
use keywright_audit::replay;
use keywright_audit::testing;
use keywright_clock::{Clock, WallTime};
use keywright_custody::lifecycle::Order;
use keywright_custody::rows::life::Target;
use keywright_custody::rows::restore::{RecordedRow, Rows, Trust};
use keywright_mutate::dose;
use keywright_policy::PolicyDocument;
use keywright_service::{
    AdminError, Author, Caller, ClockState, DataOperation, LifeOrder, NewRules, Worker,
    clock_in_doubt, load_trust,
};
use keywright_store::testing::MemoryEngine;
use keywright_store::{Engine, Image, Store, Table};
use keywright_tls::issue::{ClientSubject, Issued, Reason, Revoked};
use keywright_tls::{CertificateDer, ClientTrust};
use keywright_types::{BindingKind, Code, KeyVersion, State, TenantId};
use tempfile::TempDir;

use self::model::{Context, DAY_MS, Given, Model, Sealed, Which};
use crate::house::{
    House, START, at_once, authority, chain_of, name, prepared, principal, results,
};
use crate::house::{TRADING, TRADING_TOO, WEB, check_key, row_key};

/// So many come to everything that is worth seeing.
const ENOUGH: usize = 120;
/// As long as a history may take.
const YEARS: Duration = Duration::from_secs(10 * 365 * 86_400);
const NAMES: [&str; 3] = ["first", "second", "third"];
const CLIENTS: [(u8, &str, &str); 3] = [TRADING, TRADING_TOO, WEB];
const ORDERS: [Order; 6] = [
    Order::Suspend,
    Order::Resume,
    Order::Retire,
    Order::ScheduleDestroy,
    Order::CancelDestroy,
    Order::Destroy,
];

/// Certificates that outlive every history.
static ISSUED: LazyLock<[Issued; 3]> = LazyLock::new(|| {
    CLIENTS.map(|(number, common_name, unit)| {
        let subject = ClientSubject {
            common_name,
            organizational_unit: Some(unit),
            principal: Some(principal(number)),
        };
        let authority = authority().authority();
        authority.issue_client(&subject, START, YEARS).unwrap()
    })
});
static CHAINS: LazyLock<Vec<Vec<CertificateDer<'static>>>> = LazyLock::new(|| {
    let chains = ISSUED.iter();
    chains
        .map(|issued| chain_of(&issued.certificate_pem))
        .collect()
});

#[expect(
    clippy::disallowed_methods,
    reason = "how long the run is, is the caller's choice"
)]
fn number(name: &str, otherwise: u64) -> u64 {
    let set = std::env::var(name).ok();
    set.map_or(otherwise, |text| text.parse().unwrap())
}

#[test]
fn every_answer_of_a_random_history_is_that_of_the_model() {
    let first = number("KEYWRIGHT_HISTORY_SEED", 1);
    let histories = dose("histories");
    let mut seen = BTreeSet::new();
    for seed in first..first + histories as u64 {
        let told = Told(seed);
        let mut town = Town::found(seed);
        let steps = 40 + town.roll(60);
        for _ in 0..steps {
            town.step();
        }
        town.open_everything();
        seen.append(&mut town.seen);
        drop(told);
    }
    // Histories in which nothing happens would agree as well.
    let missing = WORTH_SEEING.iter().find(|one| !seen.contains(**one));
    assert!(
        histories < ENOUGH || missing.is_none(),
        "no history came to: {missing:?}"
    );
}

/// What some history must have come to.
const WORTH_SEEING: &[&str] = &[
    "create ok",
    "create name_taken",
    "cancel-destroy ok",
    "decrypt certificate_revoked",
    "decrypt context_not_found",
    "decrypt decryption_failed",
    "decrypt key_version_unavailable",
    "decrypt ok",
    "destroy clock_uncertain",
    "destroy key_in_use",
    "destroy not_yet_due",
    "destroy ok",
    "destroyed when due",
    "eight versions",
    "encrypt no_active_version",
    "encrypt ok",
    "min-open ok",
    "min-open value_invalid",
    "resume ok",
    "restored with its log",
    "restored without a log",
    "retire ok",
    "rewrap key_version_unavailable",
    "rewrap ok",
    "rotated when due",
    "schedule-destroy ok",
    "suspend ok",
    "suspend state_conflict",
];

/// Says which history failed.
struct Told(u64);

impl Drop for Told {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "history of seed {0}: KEYWRIGHT_HISTORY_SEED={0} KEYWRIGHT_DOSE_HISTORIES=1",
                self.0
            );
        }
    }
}

struct Backup {
    image: Image,
    model: Model,
    /// The log that goes on from it, if there is one.
    log: Option<u64>,
}

/// A house, what it should be, and what people have kept of it.
struct Town {
    house: Option<House>,
    worker: Option<Rc<Worker>>,
    model: Model,
    sealed: Vec<Sealed>,
    backups: Vec<Backup>,
    /// Which log is written; another one after a restore without it.
    log: u64,
    lists: u64,
    made: u64,
    dice: u64,
    trace: Vec<String>,
    seen: BTreeSet<String>,
}

impl Town {
    fn found(seed: u64) -> Self {
        let ground = (new_folder(), MemoryEngine::new());
        let trust = |_: &Store, clock: &Clock| authority().trust(clock);
        let house = House::open_at(START, ground, |holder| holder, trust);
        house.admin.create_tenant(&name("default")).unwrap();
        house.admin.apply_policy(policy()).unwrap();
        let mut town = Self {
            house: Some(house),
            worker: None,
            model: Model {
                sure: true,
                ..Model::default()
            },
            sealed: Vec::new(),
            backups: Vec::new(),
            log: 0,
            lists: 1,
            made: 0,
            dice: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
            trace: Vec::new(),
            seen: BTreeSet::new(),
        };
        town.put_list();
        town.look_at_clock();
        town.create(NAMES[0]);
        town
    }

    fn step(&mut self) {
        match self.roll(40) {
            0 => {
                let context = self.some_name();
                self.create(context);
            }
            1..5 => self.rotate(),
            5..13 => self.encrypt(),
            13..17 => self.decrypt(),
            17..20 => self.rewrap(),
            20..28 => self.life(),
            28 => self.min_open(),
            29 => self.rules(),
            30 => self.revoke(),
            31..34 => self.wait(),
            34 => self.run_jobs(),
            35 => self.restart(),
            36 => self.crash(),
            37 => self.back_up(),
            38 => self.restore(),
            _ => self.settle_clock(),
        }
        self.compare_states();
    }

    // === dice ===

    fn roll(&mut self, sides: u64) -> u64 {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        (self.dice.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) % sides
    }

    fn pick(&mut self, below: usize) -> usize {
        usize::try_from(self.roll(below as u64)).unwrap()
    }

    /// Mostly the first context, so that one of them comes to many versions.
    fn some_name(&mut self) -> &'static str {
        NAMES[self.pick(6).saturating_sub(3)]
    }

    fn new_number(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    // === orders ===

    fn create(&mut self, context: &'static str) {
        let kinds = [
            BindingKind::None,
            BindingKind::Group,
            BindingKind::Principal,
        ];
        let binding = kinds[self.pick(3)];
        let numbers = (self.new_number(), self.new_number());
        let done = self.house().create(context, binding);
        let now = self.now();
        let expected = self
            .model
            .create(context, Context::new(numbers, binding, now));
        self.agree("create", (context, code(done)), code_of(expected));
    }

    fn rotate(&mut self) {
        let (context, secret) = (self.some_name(), self.new_number());
        let admin = &self.house().admin;
        let done = admin.rotate(&name("default"), &name(context));
        let now = self.now();
        let expected = match self.model.contexts.get_mut(context) {
            Some(known) => {
                known.rotate(secret, now);
                Code::Ok
            }
            None => Code::ContextNotFound,
        };
        self.agree("rotate", (context, code(done)), expected);
    }

    fn life(&mut self) {
        let context = self.some_name();
        let order = ORDERS[self.pick(ORDERS.len())];
        let given = Given {
            order,
            which: match self.pick(8) {
                0 => Which::All,
                _ => Which::One(self.some_version(context, order)),
            },
            despite_use: self.pick(3) == 0,
        };
        let expected = self.model.life(context, given, self.now());
        let done = self.give(context, given);
        let about = format!("{context} {given:?}");
        self.agree(order.name(), (&about, code(done)), code_of(expected));
    }

    /// Mostly one that can follow the order as far as its state goes.
    fn some_version(&mut self, context: &str, order: Order) -> usize {
        let fits = |state| match order {
            Order::CancelDestroy | Order::Destroy => state == State::DestroyScheduled,
            Order::Resume => state == State::Suspended,
            Order::Retire => state == State::Active,
            _ => state == State::Retired,
        };
        let versions = self.model.contexts.get(context);
        let versions = versions.map_or(&[][..], |known| &known.versions);
        let fitting: Vec<_> = (1..=versions.len())
            .filter(|number| fits(versions[number - 1].state))
            .collect();
        let any = versions.len() + 2;
        match fitting.len() {
            0 => self.pick(any),
            _ if self.pick(4) == 0 => self.pick(any),
            some => fitting[self.pick(some)],
        }
    }

    fn give(&self, context: &str, given: Given) -> Result<(), AdminError> {
        let order = LifeOrder {
            order: given.order,
            target: match given.which {
                Which::All => Target::All,
                Which::One(number) => Target::One(version(number)),
            },
            despite_use: given.despite_use,
        };
        let named = (&name("default"), &name(context));
        let admin = &self.house().admin;
        admin.change_life(&Author::owner(), named, order).map(drop)
    }

    fn min_open(&mut self) {
        let context = self.some_name();
        let number = self.pick(5);
        let rules = NewRules {
            min_open: Some(version(number)),
            ..NewRules::default()
        };
        let expected = match self.model.contexts.get_mut(context) {
            Some(known) => code_of(known.set_min_open(number)),
            None => Code::ContextNotFound,
        };
        let done = self.set(context, rules);
        self.agree("min-open", (&format!("{context} {number}"), done), expected);
    }

    fn rules(&mut self) {
        let context = self.some_name();
        let (quiet, wait) = ([0, 7, 40][self.pick(3)], [7, 30, 60][self.pick(3)]);
        let every = [None, Some(30), Some(90)][self.pick(3)];
        let rules = NewRules {
            quiet_days: Some(quiet),
            destroy_after_days: Some(wait),
            rotate_after_days: Some(every),
            ..NewRules::default()
        };
        let expected = match self.model.contexts.get_mut(context) {
            Some(known) => {
                (known.quiet_days, known.destroy_after_days) = (quiet, wait);
                known.rotate_after_days = every;
                Code::Ok
            }
            None => Code::ContextNotFound,
        };
        let done = self.set(context, rules);
        self.agree("rules", (context, done), expected);
    }

    fn set(&self, context: &str, rules: NewRules) -> Code {
        let named = (&name("default"), &name(context));
        let admin = &self.house().admin;
        code(admin.set_rules(&Author::owner(), named, &rules))
    }

    /// Revokes a client, or lets one in again that was: both are a newer list.
    fn revoke(&mut self) {
        let client = self.pick(3);
        self.model.revoked[client] = !self.model.revoked[client];
        self.put_list();
    }

    fn put_list(&mut self) {
        self.lists += 1;
        let gone = ISSUED.iter().zip(self.model.revoked);
        let gone = gone.filter(|(_, revoked)| *revoked);
        let gone: Vec<_> = gone
            .map(|(issued, _)| Revoked {
                serial: issued.serial.clone(),
                at: START,
                reason: Reason::KeyCompromise,
            })
            .collect();
        let authority = authority().authority();
        let list = authority.revocation_list(&gone, self.lists, START, START.plus(YEARS));
        let list = list.unwrap();
        let files = [authority.certificate_pem().as_bytes(), list.as_bytes()];
        let text = ClientTrust::text(&files, None);
        let trust = ClientTrust::from_text(&text, self.house().clock.clone()).unwrap();
        let admin = &self.house().admin;
        admin.replace_trust(Arc::new(trust), &text).unwrap();
    }

    // === requests ===

    fn encrypt(&mut self) {
        let (context, client) = (self.some_name(), self.pick(3));
        let now = self.now();
        let text = format!("text {}", self.new_number()).into_bytes();
        let answer = self.ask(client, (context, DataOperation::Encrypt), &[&text]);
        let reached = self.model.reach(client, context);
        let expected = reached.and_then(|known| {
            let place = known.seal(now)?;
            Ok(sealed_by(known, (context, client), place))
        });
        let (answer, envelope) = one(answer);
        self.agree(
            "encrypt",
            (context, answer),
            code_of(expected.as_ref().map_err(|code| *code)),
        );
        if let Ok(sealed) = expected {
            self.sealed.push(Sealed {
                text,
                envelope,
                ..sealed
            });
        }
    }

    fn decrypt(&mut self) {
        if self.sealed.is_empty() {
            return;
        }
        let (which, client) = (self.pick(self.sealed.len()), self.pick(3));
        let sealed = self.sealed[which].clone();
        let elsewhere = self.pick(8) == 0;
        let context = match elsewhere {
            true => self.some_name(),
            false => sealed.context,
        };
        self.try_to_open(client, context, &[sealed]);
    }

    fn try_to_open(&mut self, client: usize, context: &'static str, all: &[Sealed]) {
        let now = self.now();
        let items: Vec<_> = all.iter().map(|sealed| &sealed.envelope[..]).collect();
        let answer = self.ask(client, (context, DataOperation::Decrypt), &items);
        let known = match self.model.reach(client, context) {
            Ok(known) => known,
            Err(refused) => return self.agree("decrypt", (context, one(answer).0), refused),
        };
        let expected: Vec<_> = all
            .iter()
            .map(|sealed| code_of(known.open(sealed, Some(client), now)))
            .collect();
        let answers = answer.unwrap();
        assert_eq!(answers.len(), all.len());
        for ((sealed, expected), (code, text)) in all.iter().zip(expected).zip(answers) {
            let about = format!(
                "{context} by {client}, sealed by {} as {:?} under {}/{} ({})",
                sealed.by, sealed.binding, sealed.context, sealed.number, sealed.secret
            );
            self.agree("decrypt", (&about, code), expected);
            if code == Code::Ok {
                assert_eq!(text, sealed.text, "{about}");
            }
        }
    }

    /// Every ciphertext there is, by everybody.
    fn open_everything(&mut self) {
        for context in NAMES {
            let all = self.sealed.iter();
            let all: Vec<_> = all
                .filter(|sealed| sealed.context == context)
                .cloned()
                .collect();
            if all.is_empty() {
                continue;
            }
            for client in 0..CLIENTS.len() {
                self.try_to_open(client, context, &all);
            }
        }
    }

    fn rewrap(&mut self) {
        if self.sealed.is_empty() {
            return;
        }
        let (which, client) = (self.pick(self.sealed.len()), self.pick(3));
        let old = self.sealed[which].clone();
        let context = old.context;
        let now = self.now();
        let asked = (context, DataOperation::Rewrap);
        let answer = self.ask(client, asked, &[&old.envelope]);
        let (answer, envelope) = one(answer);
        let reached = self.model.reach(client, context);
        let expected = reached.and_then(|known| {
            if known.active().is_none() {
                known.seal(now)?;
            }
            known.open(&old, None, now)?;
            let place = known.seal(now)?;
            let sealed = sealed_by(known, (context, old.by), place);
            // It stays bound as it was.
            Ok(Sealed {
                binding: old.binding,
                ..sealed
            })
        });
        self.agree(
            "rewrap",
            (context, answer),
            code_of(expected.as_ref().map_err(|code| *code)),
        );
        if let Ok(sealed) = expected {
            self.sealed.push(Sealed {
                text: old.text,
                envelope,
                ..sealed
            });
        }
    }

    fn ask(
        &mut self,
        client: usize,
        (context, operation): (&str, DataOperation),
        items: &[&[u8]],
    ) -> Result<Vec<(Code, Vec<u8>)>, Code> {
        let worker = self.worker.take().unwrap_or_else(|| self.house().worker());
        let house = self.house();
        let snapshot = house.admin.shared().snapshot();
        let caller = Caller::identify(&CHAINS[client], 5, &snapshot, house.clock.wall());
        let answer = caller.and_then(|caller| {
            let asked = worker.perform(house.call(&caller), context, operation, prepared(items));
            let recorded = at_once(asked);
            worker.flush();
            recorded.release(&worker)?.map(|done| results(&done))
        });
        // Counted now, as a worker does once a second.
        let _ = worker.drain_refusals();
        self.worker = Some(worker);
        answer
    }

    // === time ===

    fn wait(&mut self) {
        let days = [1, 8, 31, 61][self.pick(4)];
        let house = self.house();
        house.hand.advance(Duration::from_millis(DAY_MS * days));
        self.look_at_clock();
        self.note(format!("wait {days}"));
    }

    fn look_at_clock(&mut self) {
        let expected = match self.model.sure {
            true => ClockState::Sure,
            false => ClockState::Uncertain,
        };
        let state = self.house().admin.watch_clock().unwrap();
        assert_eq!(state, expected, "{}", self.told());
    }

    /// The owner looks at the clock and finds it right, or it jumps.
    fn settle_clock(&mut self) {
        let house = self.house();
        if self.model.sure {
            let later = house.clock.wall().plus(Duration::from_secs(2 * 3600));
            house.hand.set_wall(later);
            self.model.sure = false;
        } else {
            house.admin.confirm_clock(&Author::owner()).unwrap();
            self.model.sure = true;
        }
        self.look_at_clock();
        self.note(format!("clock sure: {}", self.model.sure));
    }

    fn run_jobs(&mut self) {
        let now = self.now();
        let rotated = self.house().admin.rotate_due();
        let mut rotated: Vec<_> = rotated
            .into_iter()
            .map(|(context, done)| {
                done.unwrap();
                context.as_str().to_owned()
            })
            .collect();
        rotated.sort();
        let mut made = self.made;
        let expected = self.model.rotate_due(now, &mut || {
            made += 1;
            made
        });
        self.made = made;
        assert_eq!(rotated, expected, "{}", self.told());
        let destroyed = self.house().admin.destroy_due();
        assert!(destroyed.iter().all(|(_, done)| done.is_ok()));
        let expected = self.model.destroy_due(now);
        assert_eq!(destroyed.len(), expected, "{}", self.told());
        if !rotated.is_empty() {
            self.seen.insert("rotated when due".to_owned());
        }
        if expected > 0 {
            self.seen.insert("destroyed when due".to_owned());
        }
        self.note(format!("jobs: {rotated:?} {expected}"));
    }

    // === ends and beginnings ===

    fn restart(&mut self) {
        let mut house = self.leave();
        house.admin.save_uses().unwrap();
        self.model.save_uses();
        let now = house.clock.wall();
        house.log.take().unwrap().shutdown().unwrap();
        let (folder, engine) = house.end();
        self.enter(now, (folder, engine));
        self.note("restart".to_owned());
    }

    fn crash(&mut self) {
        let mut house = self.leave();
        let now = house.clock.wall();
        testing::crash(house.log.take().unwrap());
        let (folder, engine) = house.end();
        self.enter(now, (folder, engine));
        self.note("crash".to_owned());
    }

    fn back_up(&mut self) {
        // As a node does all the time, and before it is backed up.
        self.house().admin.save_uses().unwrap();
        self.model.save_uses();
        self.house().admin.record_backup(&Author::owner()).unwrap();
        self.backups.push(Backup {
            image: self.house().store.image().unwrap(),
            model: self.model.clone(),
            log: Some(self.log),
        });
        self.note("backup".to_owned());
    }

    /// Makes a home of some backup, with the log where it goes on from the backup and is not lost.
    fn restore(&mut self) {
        if self.backups.is_empty() {
            return;
        }
        let which = self.pick(self.backups.len());
        let has_log = self.backups[which].log == Some(self.log) && self.pick(3) > 0;
        let mut house = self.leave();
        let now = house.clock.wall();
        house.log.take().unwrap().shutdown().unwrap();
        let (folder, _) = house.end();
        let backup = &self.backups[which];
        let log = has_log.then(|| folder.path());
        let engine = restored(&backup.image, log, now);
        let (folder, how) = if has_log {
            self.model = self.model.restored_with_log(&backup.model);
            // Nobody goes back to an older backup and then on to one of these: what was lost would come back beside
            // what was made in its place.
            let later = self.backups[which + 1..].iter_mut();
            later.for_each(|later| later.log = None);
            (folder, "with its log")
        } else {
            self.model = Model::restored(&backup.model);
            self.log += 1;
            (new_folder(), "without a log")
        };
        self.enter(now, (folder, engine));
        self.note(format!("restored {which} {how}"));
        self.seen.insert(format!("restored {how}"));
    }

    fn leave(&mut self) -> House {
        self.worker = None;
        self.house.take().unwrap()
    }

    fn enter(&mut self, now: WallTime, (folder, engine): (TempDir, MemoryEngine)) {
        let house = House::open_at(now, (folder, engine), |holder| holder, trust_of);
        house.admin.remember_uses().unwrap();
        self.house = Some(house);
        self.model.restart();
        self.look_at_clock();
    }

    // === comparison ===

    fn house(&self) -> &House {
        self.house.as_ref().unwrap()
    }

    fn now(&self) -> u64 {
        self.house().clock.wall().unix_millis()
    }

    fn note(&mut self, what: String) {
        self.trace.push(what);
    }

    fn told(&self) -> String {
        self.trace.join("\n")
    }

    fn agree(&mut self, what: &str, (about, found): (&str, Code), expected: Code) {
        self.note(format!("{what} {about}: {}", expected.name()));
        assert_eq!(found, expected, "{}", self.told());
        self.seen.insert(format!("{what} {}", expected.name()));
    }

    fn compare_states(&mut self) {
        let snapshot = self.house().admin.shared().snapshot();
        let mut found: Vec<_> = snapshot
            .keyring
            .iter()
            .map(|key| {
                let states = key.versions().iter().map(|version| version.state());
                (key.name().as_str().to_owned(), states.collect::<Vec<_>>())
            })
            .collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        let contexts = self.model.contexts.iter();
        let expected: Vec<_> = contexts
            .map(|(context, known)| {
                let states = known.versions.iter().map(|version| version.state);
                ((*context).to_owned(), states.collect::<Vec<State>>())
            })
            .collect();
        assert_eq!(found, expected, "{}", self.told());
        for (context, states) in &expected {
            let active = states.iter().filter(|state| **state == State::Active);
            assert!(active.count() <= 1, "{context}\n{}", self.told());
        }
        if expected.iter().any(|(_, states)| states.len() >= 8) {
            self.seen.insert("eight versions".to_owned());
        }
    }
}

/// A folder for a log, in memory where there is such a place: nothing here asks what a disk has kept, and every order is
/// synced twice.
fn new_folder() -> TempDir {
    let in_memory = TempDir::new_in("/dev/shm");
    in_memory.or_else(|_| TempDir::new()).unwrap()
}

/// What a restore writes into an empty store: the rows of the backup, and what the log knows beyond them.
fn restored(image: &Image, log: Option<&std::path::Path>, now: WallTime) -> MemoryEngine {
    let proven = image.clone().prove(row_key()).unwrap();
    let mut newest = image.epoch().unwrap();
    let mut rows = Rows::of(image, now, |table, row| proven.is_own(table, row));
    if let Some(log) = log {
        let later = replay::later(log, newest, &check_key()).unwrap();
        newest = newest.max(later.newest_epoch);
        for change in &later.orders {
            // Every record of a log that only its node has written is proven, and has rows of its store.
            assert_ne!(change.evidence, Evidence::Unproven);
            for row in &change.rows {
                let row = RecordedRow {
                    table: &row.table,
                    key: &row.key,
                    body: &row.body,
                    mac: row.mac,
                    epoch: change.epoch,
                };
                rows.replay(row, Trust::Proven).unwrap();
            }
        }
    }
    rows.retire_counted().unwrap();
    rows.retire_outlived().unwrap();
    let (key, body) = clock_in_doubt(now).unwrap();
    rows.put(Table::Counters, key, TenantId::NONE, &body);
    let (rows, _) = rows.into_parts();
    let mut engine = MemoryEngine::new();
    proven.found(&mut engine, &rows, newest + 1).unwrap();
    engine
}

/// The trust that the store has in force.
fn trust_of(store: &Store, clock: &Clock) -> Arc<ClientTrust> {
    let text = load_trust(store).unwrap().unwrap();
    Arc::new(ClientTrust::from_text(&text, clock.clone()).unwrap())
}

/// A ciphertext of the version at this place, without its bytes.
fn sealed_by(known: &Context, (context, by): (&'static str, usize), place: usize) -> Sealed {
    Sealed {
        context,
        key: known.key,
        number: place + 1,
        secret: known.versions[place].secret,
        by,
        binding: known.binding,
        text: Vec::new(),
        envelope: Vec::new(),
    }
}

/// What the only item of an answer came to.
fn one(answer: Result<Vec<(Code, Vec<u8>)>, Code>) -> (Code, Vec<u8>) {
    match answer {
        Ok(mut items) => items.remove(0),
        Err(code) => (code, Vec::new()),
    }
}

fn code<T>(done: Result<T, AdminError>) -> Code {
    code_of(done.map_err(|error| error.code()))
}

fn code_of<T>(done: Result<T, Code>) -> Code {
    done.err().unwrap_or(Code::Ok)
}

fn version(number: usize) -> KeyVersion {
    KeyVersion::from_number(u32::try_from(number).unwrap())
}

/// All clients may do everything in every context, also in those that are not there yet.
fn policy() -> PolicyDocument {
    let anchor = keywright_encoding::hex::encode(&authority().authority().spki_sha256());
    let mut text = String::from("version = 1\n");
    for unit in ["Trading", "Web"] {
        text += &format!("[[group]]\nname = \"{unit}\"\n");
    }
    for (number, name, unit) in CLIENTS {
        let id = principal(number);
        text += &format!(
            "[[principal]]\nid = \"{id}\"\nname = \"{name}\"\ngroup = \"{unit}\"\n\
             [[principal.rule]]\nanchors = [\"{anchor}\"]\nsan_uri = \"keywright:principal:{id}\"\n"
        );
    }
    text += &format!(
        "[[grant]]\nprincipals = {:?}\ncontexts = {NAMES:?}\n\
         operations = [\"encrypt\", \"decrypt\", \"rewrap\"]\n",
        CLIENTS.map(|(_, name, _)| name)
    );
    PolicyDocument::parse(&text).unwrap()
}
