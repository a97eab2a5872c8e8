//! `kill -9` in the midst of orders about the life of keys (suspend, resume, schedule a destruction, take it back,
//! destroy, bring a key in), and of those about everything else: a policy, rules, revocations, approvals, a backup.
//! What was acknowledged holds after the next start, what was not holds or does not, and nothing that was destroyed is
//! ever back.
//!
//! The node's clock is ahead, so that destructions are due. The dose `kills-in-life` says how often in
//! all. A home is used for at most [`CYCLES_PER_HOME`], which destroy nearly all that it has to destroy.

mod besides;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::Duration;

use keywright_custody::ReaderDetail;
use keywright_custody::reader::{FormerName, NonceLen};
use keywright_encoding::{base64, hex};
use keywright_home::control::send;
use keywright_home::{
    Answer, CampaignOrder, HomeError, Imported, Life, Order, RuleChanges, Wrapped,
};
use keywright_mutate::{SplitMix, dose};
use keywright_secret::SecretBytes;
use keywright_types::{BindingKind, KeySpec, KeyVersion, Origin, State};

use self::besides::{Besides, Deed};
use crate::fixture::*;
use crate::imports::{check_of, wrap};

/// After so many, everything was done at least once.
const ENOUGH: usize = 30;
const CYCLES_PER_HOME: usize = 50;
/// Versions that wait to be destroyed.
const DOOMED: u32 = 40;
/// Longer than any destruction waits here.
const AHEAD: &str = "40";
const CONTEXTS: [&str; 3] = ["one", "two", "three"];
/// Asks for two approvals before anything of it is scheduled.
const GUARDED: &str = "guarded";
/// Takes keys in that were wrapped elsewhere.
const READERS: &str = "readers";

/// A version of a context.
type Place = (String, u32);

/// What the node has acknowledged, and the order that it may have carried out besides.
#[derive(Debug, Default)]
struct Known {
    states: BTreeMap<Place, State>,
    open: Option<(Place, State)>,
    orders: usize,
    besides: Besides,
}

/// What one life of the node works with.
struct Boot {
    cycle: usize,
    seed: u64,
    address: SocketAddr,
    /// A secret that is wrapped already, because making the key for it takes long.
    wrapped: Option<Wrapped>,
}

fn life(context: &str, version: u32, life: Life) -> Order {
    Order::KeyLife {
        tenant: name("default"),
        name: name(context),
        life,
        version: Some(KeyVersion::from_number(version)),
        despite_use: life == Life::Destroy,
    }
}

fn context(context: &str, secret: Option<Imported>) -> Order {
    let origin = match secret {
        Some(_) => Origin::Imported,
        None => Origin::Generated,
    };
    Order::ContextCreate {
        tenant: name("default"),
        name: name(context),
        binding: BindingKind::None,
        spec: KeySpec {
            origin,
            ..KeySpec::seal()
        },
        rules: keywright_custody::Rules::default(),
        detail: None,
        secret,
    }
}

/// A home with retired versions, and many that are to be destroyed.
fn prepared(known: &mut Known) -> Home {
    let home = Home::demo();
    let node = home.open().unwrap();
    let rotate = |context: &str| {
        let order = Order::KeyRotate {
            tenant: name("default"),
            name: name(context),
        };
        node.carry_out(order).unwrap();
    };
    for one in CONTEXTS {
        node.carry_out(context(one, None)).unwrap();
        rotate(one);
        known.states.insert((one.to_owned(), 1), State::Retired);
    }
    for one in [GUARDED, READERS] {
        node.carry_out(context(one, None)).unwrap();
    }
    rotate(GUARDED);
    known.states.insert((GUARDED.to_owned(), 1), State::Retired);
    known.states.insert((READERS.to_owned(), 1), State::Active);
    node.carry_out(context("doomed", None)).unwrap();
    for version in 1..=DOOMED {
        rotate("doomed");
        let order = life("doomed", version, Life::ScheduleDestroy);
        node.carry_out(order).unwrap();
        known
            .states
            .insert(("doomed".to_owned(), version), State::DestroyScheduled);
    }
    // An open campaign keeps the node from destroying by itself what is due.
    let campaign = RuleChanges {
        campaign: Some(CampaignOrder::Open(1_000_000)),
        ..RuleChanges::default()
    };
    let two_approvals = RuleChanges {
        two_approvals: Some(true),
        ..RuleChanges::default()
    };
    for (context, rules) in [("doomed", campaign), (GUARDED, two_approvals)] {
        node.carry_out(set(context, rules)).unwrap();
    }
    known.besides = Besides::prepare(&home, &node);
    node.shutdown().unwrap();
    home
}

fn set(context: &str, rules: RuleChanges) -> Order {
    Order::ContextSet {
        tenant: name("default"),
        name: name(context),
        rules,
    }
}

#[test]
fn no_order_about_the_life_of_keys_is_lost_or_undone_by_kill_9() {
    let total = dose("kills-in-life");
    for from in (0..total).step_by(CYCLES_PER_HOME) {
        let cycles = (total - from).min(CYCLES_PER_HOME);
        crash_one_home(cycles, 11 + from as u64);
    }
}

fn crash_one_home(cycles: usize, seed: u64) {
    let (mut known, mut dice) = (Known::default(), SplitMix::new(seed));
    let home = prepared(&mut known);
    let mut destroyed = BTreeSet::new();
    for cycle in 0..cycles {
        let served = Served::run(Served::command(&home.path()).arg(AHEAD));
        if cycle == 0 {
            send(&home.path(), &Order::ClockConfirm).unwrap().unwrap();
        }
        check(&home, served.address, &mut known, &mut destroyed);
        let wait = Duration::from_micros(dice.below(120_000) as u64);
        let boot = Boot {
            cycle,
            seed: dice.next_u64(),
            address: served.address,
            wrapped: cycle.is_multiple_of(3).then(|| wrapped(&home)),
        };
        std::thread::scope(|scope| {
            let (home, known) = (&home, &mut known);
            scope.spawn(move || order_until_killed(home, known, boot));
            std::thread::sleep(wait);
            served.kill();
        });
        home.verify();
    }
    let served = Served::run(Served::command(&home.path()).arg(AHEAD));
    check(&home, served.address, &mut known, &mut destroyed);
    served.stop();
    home.verify();
    check_ends(&home);
    println!(
        "{cycles} kills: {} orders, {} destroyed, {:?}",
        known.orders,
        destroyed.len(),
        known.besides.done()
    );
    assert!(known.orders > 2 * cycles, "the kills met an idle node");
    let enough = cycles >= ENOUGH;
    assert!(
        !enough || !destroyed.is_empty(),
        "nothing was destroyed: {known:?}"
    );
    let missing = known.besides.missing();
    assert!(!enough || missing.is_empty(), "never done: {missing:?}");
}

/// A secret wrapped to a key that the node made for it.
fn wrapped(home: &Home) -> Wrapped {
    let Ok(Some(Answer::ImportBegun { id, public_key, .. })) =
        send(&home.path(), &Order::ImportBegin)
    else {
        panic!("a node that listens makes a key")
    };
    let secret = [0x2E; 32];
    Wrapped {
        import: id,
        key: base64::encode(&wrap(&public_key, &secret)),
        check: hex::encode(&check_of(&secret)),
    }
}

/// Gives orders one after the other; one whose answer did not come is open.
fn order_until_killed(home: &Home, known: &mut Known, mut boot: Boot) {
    let mut dice = SplitMix::new(boot.seed);
    for number in 0.. {
        if boot.wrapped.is_none() && dice.below(3) == 0 {
            let deed = known.besides.next(&mut dice);
            if !do_besides(home, known, (deed, boot.address)) {
                return;
            }
            continue;
        }
        let (order, place, after) = match boot.wrapped.take() {
            Some(wrapped) => read_in(known, wrapped),
            None => next(known, &mut dice, (boot.cycle, number)),
        };
        known.open = Some((place.clone(), after));
        match send(&home.path(), &order) {
            Ok(Some(Answer::KeyChanged { versions })) => {
                assert_eq!(versions[0].state, after, "{order:?}");
            }
            Ok(Some(Answer::ReaderImported { version })) => assert_eq!(version.number(), place.1),
            Ok(Some(Answer::ContextCreated { .. })) => {}
            Ok(None) | Err(HomeError::Control(_)) => return,
            other => panic!("{order:?}: {other:?}"),
        }
        known.open = None;
        known.settle(place, after);
        known.orders += 1;
    }
}

/// Whether the node was still there to acknowledge it.
fn do_besides(home: &Home, known: &mut Known, (deed, address): (Deed, SocketAddr)) -> bool {
    let done = known.besides.carry_out(home, (deed, address));
    known.orders += usize::from(done);
    done
}

impl Known {
    /// What is known now of a version. Approvals serve once, and are void when the key has changed.
    fn settle(&mut self, place: Place, state: State) {
        if place.0 == GUARDED {
            self.besides.void_approvals();
        }
        self.states.insert(place, state);
    }
}

/// Brings in a key of the seed service, which is retired from the first moment on.
fn read_in(known: &Known, wrapped: Wrapped) -> (Order, Place, State) {
    let of_readers = known.states.keys().filter(|place| place.0 == READERS);
    let number = u32::try_from(of_readers.count()).unwrap() + 1;
    let order = Order::ReaderImport {
        tenant: name("default"),
        name: name(READERS),
        reader: ReaderDetail {
            label: format!("kek-{number}"),
            context: "former".to_owned(),
            name: FormerName::CommonName,
            nonce: NonceLen::Sixteen,
            object: None,
        },
        wrapped: Some(wrapped),
    };
    (order, (READERS.to_owned(), number), State::Retired)
}

/// An order that can be carried out now, the version it is about, and what that becomes.
fn next(
    known: &Known,
    dice: &mut SplitMix,
    (cycle, number): (usize, usize),
) -> (Order, Place, State) {
    let waits = |(place, state): (&Place, &State)| {
        (place.0 == "doomed" && *state == State::DestroyScheduled).then_some(place.1)
    };
    match (dice.below(9), known.states.iter().find_map(waits)) {
        (0, _) => {
            let brought = format!("i{cycle}-{number}");
            let secret = SecretBytes::from_vec((0..32).map(|_| dice.byte()).collect());
            let order = context(&brought, Some(Imported::new(&secret)));
            (order, (brought, 1), State::Active)
        }
        (1 | 2, Some(version)) => {
            let order = life("doomed", version, Life::Destroy);
            (order, ("doomed".to_owned(), version), State::Destroyed)
        }
        (3..=5, _) if known.besides.is_approved() => change(known, GUARDED.to_owned(), 1),
        (3, _) if known.states[&(GUARDED.to_owned(), 1)] == State::DestroyScheduled => {
            change(known, GUARDED.to_owned(), 1)
        }
        _ => {
            let one = CONTEXTS[dice.below(CONTEXTS.len())].to_owned();
            change(known, one, dice.below(2))
        }
    }
}

/// An order about the first version of a context: about what it may do now, or about its end.
fn change(known: &Known, one: String, about: usize) -> (Order, Place, State) {
    let (ordered, after) = match (known.states[&(one.clone(), 1)], about) {
        (State::Retired, 0) => (Life::Suspend, State::Suspended),
        (State::Suspended, 0) => (Life::Resume, State::Retired),
        (State::DestroyScheduled, _) => (Life::CancelDestroy, State::Retired),
        _ => (Life::ScheduleDestroy, State::DestroyScheduled),
    };
    (life(&one, 1, ordered), (one, 1), after)
}

/// Each version is what was acknowledged last, or what the open order makes of it.
fn check(home: &Home, address: SocketAddr, known: &mut Known, destroyed: &mut BTreeSet<Place>) {
    let order = Order::Contexts {
        tenant: name("default"),
        name: None,
    };
    let Ok(Some(Answer::Contexts { contexts })) = send(&home.path(), &order) else {
        panic!("a node that listens answers its control socket")
    };
    let found: BTreeMap<Place, State> = contexts
        .iter()
        .flat_map(|context| {
            let versions = context.versions.iter();
            versions.map(|one| ((context.name.to_string(), one.version.number()), one.state))
        })
        .collect();
    let open = known.open.take();
    if let Some((place, after)) = &open {
        match (found.get(place), known.states.get(place)) {
            (Some(state), _) if state == after => known.settle(place.clone(), *after),
            (state, before) => assert_eq!(state, before, "{place:?}"),
        }
    }
    for (place, state) in &known.states {
        assert_eq!(
            found.get(place),
            Some(state),
            "{place:?}, open was {open:?}"
        );
    }
    let now = found
        .iter()
        .filter(|(_, state)| **state == State::Destroyed);
    destroyed.extend(now.map(|(place, _)| place.clone()));
    let back = destroyed
        .iter()
        .find(|place| found[*place] != State::Destroyed);
    assert_eq!(back, None, "it was destroyed");
    known.besides.check(home, &contexts, address);
}

/// Every order that was begun has one end.
fn check_ends(home: &Home) {
    let records = home.records();
    let of = |kinds: &[&str]| -> BTreeSet<String> {
        let all = records.iter();
        let all = all.filter(|record| kinds.contains(&record["type"].as_str().unwrap()));
        all.map(|record| record["request"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(of(&["order-before"]), of(&["order-after", "order-settled"]));
}
