//! `kill -9` at random points of creating, rotating and recording: what was acknowledged is there
//! afterwards, in the store and in the log, and what was not is settled one way or the other.
//!
//! The dose `kills` says how often in all. A home is used for at most
//! a hundred, because each boot adds files to its log that every later check reads again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::Method;
use keywright_audit::show::{Filter, show};
use keywright_clock::{Clock, WallTime};
use keywright_encoding::hex;
use keywright_envelope::Envelope;
use keywright_home::control::send;
use keywright_home::{Answer, Order};
use keywright_mutate::{SplitMix, dose};
use keywright_policy::ContextPattern;
use keywright_tls::Protocol;
use keywright_types::{BindingKind, KeySpec, State};
use serde_json::Value;

use crate::fixture::*;

const CYCLES_PER_HOME: usize = 100;
/// Homes that are crashed at the same time.
const AT_ONCE: usize = 2;

#[test]
fn nothing_acknowledged_is_lost_by_kill_9() {
    let (total, taken) = (dose("kills"), AtomicUsize::new(0));
    let (clock, tally) = (Clock::system(), std::sync::Mutex::new(Tally::default()));
    let started = clock.monotonic();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let from = taken.fetch_add(CYCLES_PER_HOME, Ordering::Relaxed);
                    let mine = total.saturating_sub(from).min(CYCLES_PER_HOME);
                    if mine == 0 {
                        return;
                    }
                    let done = crash_one_home(mine, from as u64);
                    tally.lock().unwrap().add(&done);
                }
            });
        }
    });
    let tally = tally.into_inner().unwrap();
    println!(
        "{total} kills in {:.0?}: {tally:?}",
        clock.monotonic().since(started)
    );
    assert!(
        tally.sealed > total && tally.orders > total / 4,
        "the kills met an idle node"
    );
    assert!(
        total < 100 || tally.settled > 0,
        "no kill met an order: {tally:?}"
    );
}

/// What a run went through.
#[derive(Debug, Default)]
struct Tally {
    sealed: usize,
    orders: usize,
    settled: usize,
    crashes: u64,
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.sealed += other.sealed;
        self.orders += other.orders;
        self.settled += other.settled;
        self.crashes += other.crashes;
    }
}

/// What the node has acknowledged.
#[derive(Default)]
struct Known {
    /// Context, plaintext, ciphertext.
    sealed: Vec<(String, String, Vec<u8>)>,
    /// The newest acknowledged version of each context.
    versions: BTreeMap<String, u32>,
    orders: usize,
}

fn crash_one_home(cycles: usize, seed: u64) -> Tally {
    let site = Site::start();
    site.change_policy(|document| {
        let all = document
            .grants
            .iter_mut()
            .filter(|grant| !grant.contexts.is_empty());
        all.for_each(|grant| grant.contexts = vec![ContextPattern::Any]);
    });
    let home = site.stop();
    let mut dice = SplitMix::new(seed);
    let mut known = Known::default();
    known.versions.insert(EXCHANGE.to_owned(), 1);
    for cycle in 0..cycles {
        if cycle % 8 == 7 {
            kill_while_starting(&home, &mut dice);
        }
        let served = Served::start(&home.path());
        check_served(&home, &served, &known, &mut dice);
        let (from, before) = (Clock::system().wall(), known.sealed.len());
        work_until_killed(&home, served, &mut known, (cycle, &mut dice));
        home.verify();
        check_log(&home, &known.sealed[before..], from);
    }
    let served = Served::start(&home.path());
    check_served(&home, &served, &known, &mut dice);
    check_orders(&home, &contexts(&home));
    open_all(&home, &served, known.sealed.iter());
    served.stop();
    let report = home.verify();
    let settled = home
        .records()
        .iter()
        .filter(|one| one["type"] == "order-settled")
        .count();
    let (sealed, orders) = (known.sealed.len(), known.orders);
    Tally {
        sealed,
        orders,
        settled,
        crashes: report.crashes,
    }
}

fn millis(dice: &mut SplitMix, most: usize) -> Duration {
    Duration::from_micros(dice.below(most * 1000) as u64)
}

/// Start-up itself writes: it must bear being killed like anything else.
fn kill_while_starting(home: &Home, dice: &mut SplitMix) {
    let mut command = Served::command(&home.path());
    let mut process = command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(millis(dice, 400));
    process.kill().unwrap();
    process.wait().unwrap();
    home.verify();
}

/// Orders and requests run against the node until it is killed in their midst.
fn work_until_killed(
    home: &Home,
    served: Served,
    known: &mut Known,
    (cycle, dice): (usize, &mut SplitMix),
) {
    let tls = home.tls(Some(home.identity(TRADING)), Protocol::Http2);
    let wire = Wire::connect(served.address, tls).unwrap();
    let contexts: Vec<_> = known.versions.keys().cloned().collect();
    let (sealing, ordering) = (dice.next_u64(), dice.next_u64());
    let wait = millis(dice, 150);
    std::thread::scope(|scope| {
        let sealed = scope.spawn(|| seal_until_killed(wire, &contexts, (cycle, sealing)));
        let orders = scope.spawn(|| order_until_killed(home, &contexts, (cycle, ordering)));
        std::thread::sleep(wait);
        served.kill();
        known.sealed.extend(sealed.join().unwrap());
        for (context, version) in orders.join().unwrap() {
            known.versions.insert(context, version);
            known.orders += 1;
        }
    });
}

fn seal_until_killed(
    mut wire: Wire,
    contexts: &[String],
    (cycle, seed): (usize, u64),
) -> Vec<(String, String, Vec<u8>)> {
    let (mut dice, mut sealed) = (SplitMix::new(seed), Vec::new());
    loop {
        let context = &contexts[dice.below(contexts.len())];
        let text = format!("cycle {cycle}, number {}", sealed.len());
        let body = item(&[("plaintext", text.as_bytes())]);
        match wire.send(Method::POST, &path(context, "encrypt"), body) {
            Ok(got) if got.status == 200 => {
                sealed.push((context.clone(), text, got.binary("ciphertext")));
            }
            Ok(got) => panic!("{}", got.json()),
            Err(_) => return sealed,
        }
    }
}

/// Creates and rotates; the acknowledged ones, in order.
fn order_until_killed(
    home: &Home,
    contexts: &[String],
    (cycle, seed): (usize, u64),
) -> Vec<(String, u32)> {
    let (mut dice, mut done) = (SplitMix::new(seed), Vec::new());
    for number in 0.. {
        let create = dice.below(3) == 0;
        let context = match create {
            true => format!("c{cycle}-{number}"),
            false => contexts[dice.below(contexts.len())].clone(),
        };
        let (tenant, name) = (name("default"), name(&context));
        let order = match create {
            true => {
                let (binding, spec) = (BindingKind::None, KeySpec::seal());
                Order::ContextCreate {
                    tenant,
                    name,
                    binding,
                    spec,
                    rules: keywright_custody::Rules::default(),
                    detail: None,
                    secret: None,
                }
            }
            false => Order::KeyRotate { tenant, name },
        };
        let version = match send(&home.path(), &order) {
            Ok(Some(Answer::ContextCreated { version, .. } | Answer::KeyRotated { version })) => {
                version
            }
            Ok(None) | Err(keywright_home::HomeError::Control(_)) => break,
            other => panic!("{order:?}: {other:?}"),
        };
        done.push((context, version.number()));
    }
    done
}

/// The contexts of a served home and the states of their versions.
fn contexts(home: &Home) -> BTreeMap<String, (String, Vec<State>)> {
    let order = Order::Contexts {
        tenant: name("default"),
        name: None,
    };
    let Ok(Some(Answer::Contexts { contexts })) = send(&home.path(), &order) else {
        panic!("a node that listens answers its control socket")
    };
    let entry = |context: keywright_home::ContextState| {
        let states = context
            .versions
            .iter()
            .map(|version| version.state)
            .collect();
        (context.name.to_string(), (context.id.to_string(), states))
    };
    contexts.into_iter().map(entry).collect()
}

/// No acknowledged version is lost, one version of each key is active, and old data opens.
fn check_served(home: &Home, served: &Served, known: &Known, dice: &mut SplitMix) {
    let contexts = contexts(home);
    for (context, version) in &known.versions {
        let (_, states) = contexts
            .get(context)
            .unwrap_or_else(|| panic!("{context} is lost"));
        assert!(
            states.len() >= *version as usize,
            "a version of {context} is lost"
        );
    }
    for (context, (_, states)) in &contexts {
        let (last, earlier) = states.split_last().unwrap();
        let alone = earlier.iter().all(|state| *state == State::Retired);
        assert!(*last == State::Active && alone, "{context}: {states:?}");
    }
    let recent = known.sealed.len().saturating_sub(20);
    let older = (0..20.min(recent))
        .map(|_| dice.below(recent))
        .collect::<Vec<_>>();
    let sample = older.into_iter().chain(recent..known.sealed.len());
    open_all(home, served, sample.map(|index| &known.sealed[index]));
}

fn open_all<'a>(
    home: &Home,
    served: &Served,
    sealed: impl Iterator<Item = &'a (String, String, Vec<u8>)>,
) {
    let tls = home.tls(Some(home.identity(TRADING)), Protocol::Http2);
    let mut wire = Wire::connect(served.address, tls).unwrap();
    let mut by_context: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    for (context, text, ciphertext) in sealed {
        by_context
            .entry(context)
            .or_default()
            .push((text, ciphertext));
    }
    for (context, items) in by_context {
        let bodies = items
            .iter()
            .map(|(_, ciphertext)| item(&[("ciphertext", ciphertext)]));
        let got = wire.post(&path(context, "decrypt"), batch(bodies)).json();
        for ((text, _), opened) in items.iter().zip(got["items"].as_array().unwrap()) {
            let opened = opened["plaintext"]
                .as_str()
                .map(keywright_encoding::base64::decode);
            assert_eq!(
                opened.and_then(Result::ok).as_deref(),
                Some(text.as_bytes()),
                "{context}"
            );
        }
    }
}

/// Every acknowledged request of this boot is in the log.
fn check_log(home: &Home, sealed: &[(String, String, Vec<u8>)], from: WallTime) {
    let filter = Filter {
        from: Some(from),
        ..Filter::default()
    };
    let records = show(&home.path().join("audit"), filter)
        .unwrap()
        .map(Result::unwrap);
    let logged: BTreeSet<String> = records
        .filter(|record| record["operation"] == "encrypt" && record["outcome"] == "ok")
        .filter_map(|record| field(&record, "message-id")?.as_str().map(str::to_owned))
        .collect();
    for (_, text, ciphertext) in sealed {
        let id = hex::encode(Envelope::parse(ciphertext).unwrap().message_id().as_bytes());
        assert!(
            logged.contains(&id),
            "{text} was acknowledged and is not in the log"
        );
    }
}

/// Each order has an end, and the ends that say `ok` are exactly what the store holds.
fn check_orders(home: &Home, contexts: &BTreeMap<String, (String, Vec<State>)>) {
    let records = home.records();
    let of = |kinds: &[&str]| -> BTreeMap<String, &Value> {
        let all = records
            .iter()
            .filter(|record| kinds.contains(&record["type"].as_str().unwrap()));
        all.map(|record| (record["request"].as_str().unwrap().to_owned(), record))
            .collect()
    };
    let (begun, ended) = (of(&["order-before"]), of(&["order-after", "order-settled"]));
    assert!(
        begun.keys().eq(ended.keys()),
        "an order without an end, or an end without an order"
    );
    let mut made: BTreeMap<&str, usize> = BTreeMap::new();
    for end in ended.values().filter(|end| end["outcome"] == "ok") {
        if matches!(
            end["operation"].as_str(),
            Some("context-create" | "key-rotate")
        ) {
            *made.entry(end["key"].as_str().unwrap()).or_default() += 1;
        }
    }
    for (context, (id, states)) in contexts {
        assert_eq!(made.remove(id.as_str()), Some(states.len()), "{context}");
    }
    // What is left is the key of the tenant.
    assert_eq!(made.values().copied().collect::<Vec<_>>(), [1]);
}
