//! `kill -9` in the midst of orders about the life of keys: suspend, resume, schedule a destruction, take it back,
//! destroy, bring a key in. What was acknowledged holds after the next start, what was not holds or does not, and
//! nothing that was destroyed is ever back.
//!
//! The node's clock is ahead, so that destructions are due.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use keywright_home::control::send;
use keywright_home::{Answer, CampaignOrder, HomeError, Imported, Life, Order, RuleChanges};
use keywright_secret::SecretBytes;
use keywright_testkit::mutate::SplitMix;
use keywright_types::{BindingKind, KeySpec, KeyVersion, Origin, State};

use crate::fixture::*;

const CYCLES: usize = 30;
/// Versions that wait to be destroyed.
const DOOMED: u32 = 40;
/// Longer than any destruction waits here.
const AHEAD: &str = "40";
const CONTEXTS: [&str; 3] = ["one", "two", "three"];

/// A version of a context.
type Place = (String, u32);

/// What the node has acknowledged, and the order that it may have carried out besides.
#[derive(Debug, Default)]
struct Known {
    states: BTreeMap<Place, State>,
    open: Option<(Place, State)>,
    orders: usize,
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
    let rules = RuleChanges {
        campaign: Some(CampaignOrder::Open(1_000_000)),
        ..RuleChanges::default()
    };
    let order = Order::ContextSet {
        tenant: name("default"),
        name: name("doomed"),
        rules,
    };
    node.carry_out(order).unwrap();
    node.shutdown().unwrap();
    home
}

#[test]
fn no_order_about_the_life_of_keys_is_lost_or_undone_by_kill_9() {
    let (mut known, mut dice) = (Known::default(), SplitMix::new(11));
    let home = prepared(&mut known);
    let mut destroyed = BTreeSet::new();
    for cycle in 0..CYCLES {
        let served = Served::run(Served::command(&home.path()).arg(AHEAD));
        if cycle == 0 {
            send(&home.path(), &Order::ClockConfirm).unwrap().unwrap();
        }
        check(&home, &mut known, &mut destroyed);
        let wait = Duration::from_micros(dice.below(120_000) as u64);
        let seed = dice.next_u64();
        std::thread::scope(|scope| {
            let (home, known) = (&home, &mut known);
            scope.spawn(move || order_until_killed(home, known, (cycle, seed)));
            std::thread::sleep(wait);
            served.kill();
        });
        home.verify();
    }
    let served = Served::run(Served::command(&home.path()).arg(AHEAD));
    check(&home, &mut known, &mut destroyed);
    served.stop();
    home.verify();
    check_ends(&home);
    assert!(known.orders > 2 * CYCLES, "the kills met an idle node");
    assert!(!destroyed.is_empty(), "nothing was destroyed: {known:?}");
}

/// Gives orders one after the other; one whose answer did not come is open.
fn order_until_killed(home: &Home, known: &mut Known, (cycle, seed): (usize, u64)) {
    let mut dice = SplitMix::new(seed);
    for number in 0.. {
        let (order, place, after) = next(known, &mut dice, (cycle, number));
        known.open = Some((place.clone(), after));
        match send(&home.path(), &order) {
            Ok(Some(Answer::KeyChanged { versions })) => {
                assert_eq!(versions[0].state, after, "{order:?}");
            }
            Ok(Some(Answer::ContextCreated { .. })) => {}
            Ok(None) | Err(HomeError::Control(_)) => return,
            other => panic!("{order:?}: {other:?}"),
        }
        known.open = None;
        known.states.insert(place, after);
        known.orders += 1;
    }
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
    match (dice.below(8), known.states.iter().find_map(waits)) {
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
        _ => {
            let one = CONTEXTS[dice.below(CONTEXTS.len())].to_owned();
            let (ordered, after) = match (known.states[&(one.clone(), 1)], dice.below(2)) {
                (State::Retired, 0) => (Life::Suspend, State::Suspended),
                (State::Suspended, 0) => (Life::Resume, State::Retired),
                (State::DestroyScheduled, _) => (Life::CancelDestroy, State::Retired),
                _ => (Life::ScheduleDestroy, State::DestroyScheduled),
            };
            (life(&one, 1, ordered), (one, 1), after)
        }
    }
}

/// Each version is what was acknowledged last, or what the open order makes of it.
fn check(home: &Home, known: &mut Known, destroyed: &mut BTreeSet<Place>) {
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
            (Some(state), _) if state == after => drop(known.states.insert(place.clone(), *after)),
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
