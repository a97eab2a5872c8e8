//! The life of key versions: what each order leads to, what destruction needs, what a crash leaves.

use std::rc::Rc;
use std::time::Duration;

use keywright_custody::lifecycle::Order;
use keywright_custody::rows::life::Target;
use keywright_custody::{Key, Rules};
use keywright_service::{
    AdminError, Author, ClockState, DataOperation, LifeOrder, NewContext, NewRules, Worker,
};
use keywright_store::{Error as StoreError, Table};
use keywright_types::{BindingKind, Code, KeySpec, KeyVersion, Operation, PrincipalId, State};

use crate::house::{House, START, TRADING, field, name, principal};

const DAY: Duration = Duration::from_secs(86_400);
const DESK: &str = "desk";

fn order(order: Order, version: u32) -> LifeOrder {
    LifeOrder {
        order,
        target: Target::One(KeyVersion::from_number(version)),
        despite_use: false,
    }
}

fn all(order: Order) -> LifeOrder {
    LifeOrder {
        order,
        target: Target::All,
        despite_use: false,
    }
}

fn give(house: &House, context: &str, order: LifeOrder) -> Result<(), AdminError> {
    give_as(house, &Author::owner(), context, order)
}

fn give_as(
    house: &House,
    author: &Author,
    context: &str,
    order: LifeOrder,
) -> Result<(), AdminError> {
    let (tenant, context) = (name("default"), name(context));
    let done = house.admin.change_life(author, (&tenant, &context), order);
    done.map(drop)
}

fn set(house: &House, context: &str, rules: NewRules) -> Result<(), AdminError> {
    let (tenant, context) = (name("default"), name(context));
    let set = house
        .admin
        .set_rules(&Author::owner(), (&tenant, &context), &rules);
    set.map(drop)
}

fn rotate(house: &House, context: &str) {
    house
        .admin
        .rotate(&name("default"), &name(context))
        .unwrap();
}

fn key(house: &House, context: &str) -> std::sync::Arc<Key> {
    let tenant = house.admin.tenant(&name("default")).unwrap();
    house.admin.find(&tenant, &name(context)).unwrap()
}

fn states(house: &House, context: &str) -> Vec<State> {
    let key = key(house, context);
    key.versions().iter().map(|one| one.state()).collect()
}

fn seal(house: &House, worker: &Worker, text: &[u8]) -> Vec<u8> {
    let asked = (DESK, DataOperation::Encrypt);
    in_time(house, || house.one(worker, TRADING, asked, text)).unwrap()
}

fn open(house: &House, worker: &Worker, envelope: &[u8]) -> Result<Vec<u8>, Code> {
    let asked = (DESK, DataOperation::Decrypt);
    in_time(house, || house.one(worker, TRADING, asked, envelope))
}

/// Certificates of these tests live for hours, and keys for months: a request is made while the clock says that the
/// house has just been built, and nothing else looks at the clock meanwhile.
fn in_time<T>(house: &House, ask: impl FnOnce() -> T) -> T {
    let now = house.clock.wall();
    house.hand.set_wall(START);
    let asked = ask();
    house.hand.set_wall(now);
    asked
}

/// Gathers what a worker has counted, as it does once a second.
fn gather(worker: &Rc<Worker>) {
    let _ = worker.drain_refusals();
}

/// A house whose `desk` has a retired version 1 with one ciphertext, and an active version 2.
fn rotated() -> (House, Vec<u8>) {
    let house = House::new();
    let worker = house.worker();
    let old = seal(&house, &worker, b"old");
    gather(&worker);
    rotate(&house, DESK);
    (house, old)
}

/// Lets time pass as a node sees it that is awake.
fn pass(house: &House, days: u32) {
    for _ in 0..days * 48 {
        house.hand.advance(DAY / 48);
        house.admin.watch_clock().unwrap();
    }
}

fn code<T: std::fmt::Debug>(done: Result<T, AdminError>) -> Code {
    done.unwrap_err().code()
}

#[test]
fn a_suspended_version_does_nothing_and_resumes_what_it_was() {
    let (house, old) = rotated();
    let worker = house.worker();
    let new = seal(&house, &worker, b"new");
    give(&house, DESK, order(Order::Suspend, 1)).unwrap();
    assert_eq!(
        open(&house, &worker, &old),
        Err(Code::KeyVersionUnavailable)
    );
    assert_eq!(open(&house, &worker, &new).unwrap(), b"new");
    give(&house, DESK, order(Order::Suspend, 2)).unwrap();
    let asked = (DESK, DataOperation::Encrypt);
    assert_eq!(
        house.one(&worker, TRADING, asked, b"x"),
        Err(Code::NoActiveVersion)
    );
    give(&house, DESK, all(Order::Resume)).unwrap();
    assert_eq!(states(&house, DESK), [State::Retired, State::Active]);
    assert_eq!(open(&house, &worker, &old).unwrap(), b"old");
    assert_eq!(open(&house, &worker, &new).unwrap(), b"new");
    assert_eq!(
        code(give(&house, DESK, order(Order::Resume, 2))),
        Code::StateConflict
    );
}

#[test]
fn what_was_active_resumes_as_retired_beside_a_newer_one() {
    let house = House::new();
    give(&house, DESK, order(Order::Suspend, 1)).unwrap();
    rotate(&house, DESK);
    assert_eq!(states(&house, DESK), [State::Suspended, State::Active]);
    give(&house, DESK, order(Order::Resume, 1)).unwrap();
    assert_eq!(states(&house, DESK), [State::Retired, State::Active]);
}

#[test]
fn a_retired_context_seals_nothing_until_it_is_rotated() {
    let house = House::new();
    let worker = house.worker();
    let old = seal(&house, &worker, b"old");
    give(&house, DESK, order(Order::Retire, 1)).unwrap();
    let asked = (DESK, DataOperation::Encrypt);
    assert_eq!(
        house.one(&worker, TRADING, asked, b"x"),
        Err(Code::NoActiveVersion)
    );
    assert_eq!(open(&house, &worker, &old).unwrap(), b"old");
    rotate(&house, DESK);
    seal(&house, &worker, b"again");
    assert_eq!(open(&house, &worker, &old).unwrap(), b"old");
}

#[test]
fn orders_about_what_is_not_there_are_refused_by_name() {
    let house = House::new();
    for (context, order, expected) in [
        ("nowhere", order(Order::Suspend, 1), Code::ContextNotFound),
        (DESK, order(Order::Suspend, 2), Code::VersionNotFound),
        (DESK, order(Order::Activate, 1), Code::Unsupported),
        (DESK, order(Order::Destroy, 1), Code::StateConflict),
        (DESK, order(Order::ScheduleDestroy, 1), Code::StateConflict),
        (DESK, all(Order::ScheduleDestroy), Code::StateConflict),
        (DESK, all(Order::Resume), Code::StateConflict),
    ] {
        let epoch = house.epoch();
        assert_eq!(code(give(&house, context, order)), expected);
        assert_eq!(house.epoch(), epoch);
        assert_eq!(states(&house, DESK), [State::Active]);
    }
}

#[test]
fn a_minimum_shuts_older_versions_and_goes_no_higher_than_the_active_one() {
    let (house, old) = rotated();
    let worker = house.worker();
    let minimum = |number| NewRules {
        min_open: Some(KeyVersion::from_number(number)),
        ..NewRules::default()
    };
    set(&house, DESK, minimum(2)).unwrap();
    assert_eq!(
        open(&house, &worker, &old),
        Err(Code::KeyVersionUnavailable)
    );
    for wrong in [0, 3, u32::MAX] {
        assert_eq!(code(set(&house, DESK, minimum(wrong))), Code::ValueInvalid);
    }
    drop(worker);
    let house = house.crash();
    let worker = house.worker();
    assert_eq!(
        open(&house, &worker, &old),
        Err(Code::KeyVersionUnavailable)
    );
    set(&house, DESK, minimum(1)).unwrap();
    assert_eq!(open(&house, &worker, &old).unwrap(), b"old");
}

#[test]
fn a_destruction_waits_for_its_day_and_can_be_taken_back_until_then() {
    let (house, old) = rotated();
    let worker = house.worker();
    give(&house, DESK, order(Order::ScheduleDestroy, 1)).unwrap();
    pass(&house, 29);
    let destroy = LifeOrder {
        despite_use: true,
        ..order(Order::Destroy, 1)
    };
    assert_eq!(code(give(&house, DESK, destroy)), Code::NotYetDue);
    assert!(house.admin.destroy_due().is_empty());
    give(&house, DESK, order(Order::CancelDestroy, 1)).unwrap();
    assert_eq!(open(&house, &worker, &old).unwrap(), b"old");
    pass(&house, 60);
    assert!(house.admin.destroy_due().is_empty());
    assert_eq!(states(&house, DESK), [State::Retired, State::Active]);
}

#[test]
fn what_is_destroyed_is_gone_from_store_log_and_memory_and_stays_so() {
    let (house, old) = rotated();
    let sealed = key(&house, DESK).versions()[0].material().sealed().to_vec();
    let sealed = keywright_encoding::base64::encode(&sealed);
    give(&house, DESK, order(Order::ScheduleDestroy, 1)).unwrap();
    pass(&house, 30);
    let destroyed = house.admin.destroy_due();
    assert_eq!(destroyed.len(), 1);
    assert!(destroyed[0].1.is_ok());
    assert_eq!(states(&house, DESK), [State::Destroyed, State::Active]);
    assert!(house.admin.destroy_due().is_empty(), "once is enough");
    let house = house.crash();
    let worker = house.worker();
    assert_eq!(
        open(&house, &worker, &old),
        Err(Code::KeyVersionUnavailable)
    );
    for again in [Order::Resume, Order::CancelDestroy, Order::ScheduleDestroy] {
        assert_eq!(
            code(give(&house, DESK, order(again, 1))),
            Code::StateConflict
        );
    }
    let key = key(&house, DESK);
    assert!(key.versions()[0].material().sealed().is_empty());
    assert!(key.versions()[0].life().destroyed.is_some());
    for row in house.store.range(Table::KeyVersions, &[]).unwrap() {
        assert!(!String::from_utf8(row.body).unwrap().contains(&sealed));
    }
    let recorded = house.records(&["order-before", "order-after", "order-settled"]);
    let log = serde_json::to_string(&recorded).unwrap();
    let shown = |text: &str| log.contains(&keywright_encoding::hex::encode(text.as_bytes()));
    assert!(!shown(&sealed));
    assert!(!shown("\"sealed\""), "no record has a sealed secret");
    assert!(shown("\"sealed_sha256\""));
}

#[test]
fn a_use_within_the_quiet_time_keeps_a_version() {
    let (house, old) = rotated();
    pass(&house, 1);
    let worker = house.worker();
    let quiet = NewRules {
        quiet_days: Some(60),
        ..NewRules::default()
    };
    set(&house, DESK, quiet).unwrap();
    // As the clock says now: this use is the one that counts.
    let asked = (DESK, DataOperation::Decrypt);
    house.one(&worker, TRADING, asked, &old).unwrap();
    gather(&worker);
    give(&house, DESK, order(Order::ScheduleDestroy, 1)).unwrap();
    pass(&house, 59);
    assert!(house.admin.destroy_due().is_empty());
    assert_eq!(
        code(give(&house, DESK, order(Order::Destroy, 1))),
        Code::KeyInUse
    );
    pass(&house, 1);
    assert_eq!(house.admin.destroy_due().len(), 1);
    assert_eq!(states(&house, DESK)[0], State::Destroyed);
}

#[test]
fn whoever_asks_for_a_scheduled_version_keeps_it_until_it_is_ordered_despite_use() {
    let (house, old) = rotated();
    let worker = house.worker();
    give(&house, DESK, order(Order::ScheduleDestroy, 1)).unwrap();
    let asked = (DESK, DataOperation::Decrypt);
    assert_eq!(
        house.one(&worker, TRADING, asked, &old),
        Err(Code::KeyVersionUnavailable)
    );
    gather(&worker);
    pass(&house, 90);
    assert!(house.admin.destroy_due().is_empty());
    assert_eq!(
        code(give(&house, DESK, order(Order::Destroy, 1))),
        Code::KeyInUse
    );
    let despite = LifeOrder {
        despite_use: true,
        ..order(Order::Destroy, 1)
    };
    give(&house, DESK, despite).unwrap();
    assert_eq!(states(&house, DESK)[0], State::Destroyed);
}

#[test]
fn an_open_campaign_keeps_every_version_until_it_has_moved_what_the_owner_said() {
    let (house, old) = rotated();
    let worker = house.worker();
    let total = |total| NewRules {
        campaign: Some(total),
        ..NewRules::default()
    };
    set(&house, DESK, total(Some(3))).unwrap();
    for _ in 0..2 {
        let asked = (DESK, DataOperation::Rewrap);
        house.one(&worker, TRADING, asked, &old).unwrap();
    }
    gather(&worker);
    assert_eq!(house.admin.rewrapped(&key(&house, DESK)), 2);
    give(&house, DESK, order(Order::ScheduleDestroy, 1)).unwrap();
    pass(&house, 60);
    assert_eq!(
        code(give(&house, DESK, order(Order::Destroy, 1))),
        Code::KeyInUse
    );
    set(&house, DESK, total(None)).unwrap();
    assert_eq!(house.admin.destroy_due().len(), 1);
}

#[test]
fn a_finished_campaign_keeps_nothing() {
    let (house, old) = rotated();
    let worker = house.worker();
    let campaign = NewRules {
        campaign: Some(Some(1)),
        ..NewRules::default()
    };
    set(&house, DESK, campaign).unwrap();
    let asked = (DESK, DataOperation::Rewrap);
    let moved = house.one(&worker, TRADING, asked, &old).unwrap();
    gather(&worker);
    give(&house, DESK, order(Order::ScheduleDestroy, 1)).unwrap();
    pass(&house, 40);
    assert_eq!(house.admin.destroy_due().len(), 1);
    assert_eq!(open(&house, &worker, &moved).unwrap(), b"old");
}

#[test]
fn a_clock_that_jumps_halts_every_destruction_until_it_is_confirmed() {
    let (house, _) = rotated();
    give(&house, DESK, order(Order::ScheduleDestroy, 1)).unwrap();
    pass(&house, 1);
    house.hand.set_wall(house.clock.wall().plus(DAY * 40));
    assert_eq!(house.admin.watch_clock().unwrap(), ClockState::Uncertain);
    assert!(house.admin.destroy_due().is_empty());
    let despite = LifeOrder {
        despite_use: true,
        ..order(Order::Destroy, 1)
    };
    assert_eq!(code(give(&house, DESK, despite)), Code::ClockUncertain);
    // A clock that comes back to where it was has not been right all the time.
    house.hand.set_wall(house.clock.wall().plus(DAY));
    assert_eq!(house.admin.watch_clock().unwrap(), ClockState::Uncertain);
    house.admin.confirm_clock(&Author::owner()).unwrap();
    assert_eq!(house.admin.watch_clock().unwrap(), ClockState::Sure);
    assert_eq!(house.admin.destroy_due().len(), 1);
}

#[test]
fn many_small_jumps_add_up_to_one() {
    let house = House::new();
    assert_eq!(house.admin.watch_clock().unwrap(), ClockState::Sure);
    let half_an_hour = Duration::from_secs(1800);
    for jumps in 1..=3 {
        house.hand.set_wall(house.clock.wall().plus(half_an_hour));
        let expected = match jumps {
            1 | 2 => ClockState::Sure,
            _ => ClockState::Uncertain,
        };
        assert_eq!(house.admin.watch_clock().unwrap(), expected, "{jumps}");
    }
}

#[test]
fn a_node_that_was_down_for_long_is_not_sure_of_its_clock() {
    let house = House::new();
    house.admin.watch_clock().unwrap();
    let house = house.crash();
    // A house starts at the same time of day again: as if no time had passed.
    assert_eq!(house.admin.watch_clock().unwrap(), ClockState::Sure);
    pass(&house, 1);
    let house = house.crash();
    assert_eq!(house.admin.watch_clock().unwrap(), ClockState::Uncertain);
}

#[test]
fn a_destruction_that_the_store_refuses_is_ordered_again_and_resurrects_nothing() {
    for committed in [false, true] {
        let (house, old) = rotated();
        give(&house, DESK, order(Order::ScheduleDestroy, 1)).unwrap();
        pass(&house, 31);
        match committed {
            false => house.store_faults.fail_apply(1, StoreError::Full),
            true => house
                .store_faults
                .fail_apply_after_commit(1, StoreError::Full),
        }
        let done = give(&house, DESK, order(Order::Destroy, 1));
        assert_eq!(done.is_ok(), committed);
        let expected = match committed {
            false => State::DestroyScheduled,
            true => State::Destroyed,
        };
        assert_eq!(states(&house, DESK)[0], expected);
        let house = house.crash();
        assert_eq!(states(&house, DESK)[0], expected);
        if !committed {
            house.admin.confirm_clock(&Author::owner()).unwrap();
            pass(&house, 31);
            assert_eq!(house.admin.destroy_due().len(), 1);
        }
        let worker = house.worker();
        assert_eq!(
            open(&house, &worker, &old),
            Err(Code::KeyVersionUnavailable)
        );
    }
}

// === approvals ===

fn by(number: u8) -> Author {
    Author {
        principal: principal(number),
        ..Author::owner()
    }
}

fn approve(house: &House, who: u8, order: LifeOrder) -> Result<(), AdminError> {
    let (tenant, context) = (name("default"), name("guarded"));
    let approved = house.admin.approve(&by(who), (&tenant, &context), order);
    approved.map(drop)
}

/// A house with a context that asks for two approvals; its version 1 is retired.
fn guarded() -> House {
    let house = House::new();
    let new = NewContext {
        rules: Rules {
            two_approvals: true,
            ..Rules::default()
        },
        ..NewContext::new(KeySpec::seal(), BindingKind::None)
    };
    let (tenant, context) = (name("default"), name("guarded"));
    house
        .admin
        .create_context_with(&tenant, &context, new)
        .unwrap();
    rotate(&house, "guarded");
    house
}

#[test]
fn two_others_must_approve_exactly_this_order() {
    let house = guarded();
    let schedule = order(Order::ScheduleDestroy, 1);
    let missing = |author: &Author| {
        let done = give_as(&house, author, "guarded", schedule);
        assert_eq!(code(done), Code::ApprovalMissing);
    };
    missing(&Author::owner());
    approve(&house, 1, schedule).unwrap();
    approve(&house, 1, schedule).unwrap();
    missing(&Author::owner());
    // Another order, or another version, is not this one.
    approve(&house, 2, order(Order::Destroy, 1)).unwrap();
    approve(&house, 3, order(Order::ScheduleDestroy, 2)).unwrap();
    missing(&Author::owner());
    approve(&house, 2, schedule).unwrap();
    // Whoever gives the order is not one of the two.
    missing(&by(1));
    missing(&by(2));
    give_as(&house, &by(3), "guarded", schedule).unwrap();
    assert_eq!(states(&house, "guarded")[0], State::DestroyScheduled);
}

#[test]
fn an_approval_serves_once_lives_a_day_and_is_void_when_the_key_changes() {
    let house = guarded();
    let schedule = order(Order::ScheduleDestroy, 1);
    let missing = || {
        let done = give(&house, "guarded", schedule);
        assert_eq!(code(done), Code::ApprovalMissing);
    };
    let both = || {
        approve(&house, 1, schedule).unwrap();
        approve(&house, 2, schedule).unwrap();
    };
    both();
    house.hand.advance(DAY);
    missing();
    both();
    give(&house, "guarded", order(Order::Suspend, 1)).unwrap();
    missing();
    give(&house, "guarded", order(Order::Resume, 1)).unwrap();
    missing();
    both();
    give(&house, "guarded", schedule).unwrap();
    give(&house, "guarded", order(Order::CancelDestroy, 1)).unwrap();
    missing();
}

#[test]
fn destroying_despite_use_needs_approvals_again_and_the_owner_cannot_approve() {
    let house = guarded();
    let schedule = order(Order::ScheduleDestroy, 1);
    approve(&house, 1, schedule).unwrap();
    approve(&house, 2, schedule).unwrap();
    give(&house, "guarded", schedule).unwrap();
    pass(&house, 30);
    let despite = LifeOrder {
        despite_use: true,
        ..order(Order::Destroy, 1)
    };
    assert_eq!(
        code(give(&house, "guarded", despite)),
        Code::ApprovalMissing
    );
    let (tenant, context) = (name("default"), name("guarded"));
    let owner = house
        .admin
        .approve(&Author::owner(), (&tenant, &context), despite);
    assert_eq!(code(owner), Code::Unsupported);
    approve(&house, 1, despite).unwrap();
    approve(&house, 2, despite).unwrap();
    give(&house, "guarded", despite).unwrap();
    assert_eq!(states(&house, "guarded")[0], State::Destroyed);
}

#[test]
fn two_approvals_are_never_taken_back() {
    let house = guarded();
    let weaker = NewRules {
        two_approvals: Some(false),
        ..NewRules::default()
    };
    assert_eq!(code(set(&house, "guarded", weaker)), Code::ValueInvalid);
    assert!(key(&house, "guarded").rules().two_approvals);
}

// === what the node does by itself ===

#[test]
fn a_schedule_rotates_and_keeps_on_rotating_across_a_crash() {
    let house = House::new();
    let every = NewRules {
        rotate_after_days: Some(Some(90)),
        ..NewRules::default()
    };
    set(&house, DESK, every).unwrap();
    pass(&house, 89);
    assert!(house.admin.rotate_due().is_empty());
    pass(&house, 1);
    assert_eq!(house.admin.rotate_due().len(), 1);
    assert!(house.admin.rotate_due().is_empty());
    assert_eq!(states(&house, DESK), [State::Retired, State::Active]);
    let rotations = house.records(&["order-after"]);
    let last = rotations.last().unwrap();
    assert_eq!(last["operation"], Operation::KeyRotate.name());
    assert_eq!(last["principal"], PrincipalId::NONE.to_string());
    for wrong in [0, 3651] {
        let rules = NewRules {
            rotate_after_days: Some(Some(wrong)),
            ..NewRules::default()
        };
        assert_eq!(code(set(&house, DESK, rules)), Code::ValueInvalid);
    }
    let house = house.crash();
    assert_eq!(key(&house, DESK).rules().rotate_after_days, Some(90));
}

#[test]
fn uses_are_counted_by_version_and_outlive_an_orderly_end() {
    let (house, old) = rotated();
    let worker = house.worker();
    let mut moved = Vec::new();
    for _ in 0..3 {
        open(&house, &worker, &old).unwrap();
        let asked = (DESK, DataOperation::Rewrap);
        moved.push(house.one(&worker, TRADING, asked, &old).unwrap());
    }
    let items: Vec<&[u8]> = moved
        .iter()
        .map(Vec::as_slice)
        .chain([&b"no"[..]])
        .collect();
    house
        .ask(&worker, TRADING, (DESK, DataOperation::Decrypt), &items)
        .unwrap();
    gather(&worker);
    let id = key(&house, DESK).id();
    let counted = |house: &House| {
        [1, 2].map(|version| {
            let uses = house.admin.shared().uses();
            let tally = uses.of(id, KeyVersion::from_number(version));
            (tally.seals, tally.opens, tally.rewrapped, tally.refused)
        })
    };
    let expected = [(1, 3, 3, 0), (3, 3, 0, 0)];
    assert_eq!(counted(&house), expected);
    house.admin.save_uses().unwrap();
    drop(worker);
    let house = house.crash();
    house.admin.remember_uses().unwrap();
    assert_eq!(counted(&house), expected);
    let tally = house
        .admin
        .shared()
        .uses()
        .of(id, KeyVersion::from_number(1));
    assert!(tally.last_use_ms > 0 && tally.last_open_ms > 0);
}

#[test]
fn counters_that_the_store_refuses_are_written_with_the_next() {
    let (house, _) = rotated();
    house.store_faults.fail_apply(1, StoreError::Full);
    assert!(house.admin.save_uses().is_err());
    house.admin.save_uses().unwrap();
    let rows = rows_of(&house);
    assert_eq!(rows, 1);
    assert_eq!(house.epoch(), house.store.epoch());
}

fn rows_of(house: &House) -> usize {
    keywright_custody::tally::load(&house.store).unwrap().len()
}

/// The rotation and cleanup of the service that this one replaces lost data by age, by count, and by failing halfway.
#[test]
fn data_opens_after_any_sequence_of_rotations_jobs_crashes_and_time() {
    for seed in 0..24_u64 {
        let mut house = House::new();
        let every = NewRules {
            rotate_after_days: Some(Some(90)),
            ..NewRules::default()
        };
        set(&house, DESK, every).unwrap();
        let mut kept = Vec::new();
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        for step in 0..60 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            match state % 6 {
                0 => rotate(&house, DESK),
                1 => house = house.crash(),
                2 => house
                    .hand
                    .advance(DAY * u32::try_from(state % 200).unwrap()),
                3 => {
                    drop(house.admin.rotate_due());
                    assert!(house.admin.destroy_due().is_empty());
                }
                _ => {
                    let text = format!("{seed} {step}").into_bytes();
                    let worker = house.worker();
                    kept.push((seal(&house, &worker, &text), text));
                }
            }
        }
        let worker = house.worker();
        for (envelope, text) in &kept {
            assert_eq!(open(&house, &worker, envelope).unwrap(), *text);
        }
    }
}

#[test]
fn every_order_is_recorded_before_and_after_by_whom_and_with_its_rows() {
    let (house, _) = rotated();
    give_as(&house, &by(7), DESK, order(Order::Suspend, 1)).unwrap();
    let before = house.last("order-before");
    let after = house.last("order-after");
    for record in [&before, &after] {
        assert_eq!(record["operation"], "key-suspend");
        assert_eq!(record["principal"], principal(7).to_string());
        assert_eq!(record["version"], 1);
    }
    assert_eq!(after["outcome"], "ok");
    let row = field(&after, "row").unwrap();
    assert_eq!(row["table"], "key_versions");
    assert!(give_as(&house, &by(7), DESK, order(Order::Suspend, 1)).is_err());
    assert_eq!(house.last("order-after")["outcome"], "state_conflict");
}
