//! Older states and second copies of a session.

use std::collections::HashSet;

use keywright_mutate::SplitMix;
use keywright_ratchet::{Error, Limits, Mode, Reserve, Session};

use crate::scene::{Party, acquainted, pair, state_key, still_talk};

#[test]
fn a_fenced_session_sends_nothing_that_is_not_set_aside() {
    let (mut alice, mut bob) = pair(Mode::Fenced);
    assert_eq!(
        alice.try_seal(&[1; 64], b"context").err(),
        Some(Error::SaveFirst)
    );
    alice.save(Reserve::Nothing).unwrap();
    assert_eq!(
        alice.try_seal(&[1; 64], b"context").err(),
        Some(Error::SaveFirst)
    );
    alice.save(Reserve::Numbers).unwrap();
    for _ in 0..32 {
        let packet = alice.try_seal(&[1; 64], b"context").unwrap();
        bob.open(&packet).unwrap();
    }
    let before = alice.state();
    assert_eq!(
        alice.try_seal(&[1; 64], b"context").err(),
        Some(Error::SaveFirst)
    );
    assert!(alice.state() == before);
    // A turn begins with nothing set aside, whatever was left.
    alice.save(Reserve::Numbers).unwrap();
    let answer = bob.seal(1, 64);
    alice.open(&answer).unwrap();
    assert_eq!(
        alice.try_seal(&[1; 64], b"context").err(),
        Some(Error::SaveFirst)
    );
    still_talk(&mut alice, &mut bob);
}

#[test]
fn t20_of_two_loads_of_one_state_the_second_is_refused() {
    let (mut alice, mut bob) = acquainted(Mode::Fenced);
    let saved = alice.save(Reserve::Numbers).unwrap();
    let first = alice.load(&saved).unwrap();
    for _ in 0..3 {
        assert_eq!(alice.load(&saved).err(), Some(Error::StateRolledBack));
    }
    // The one in memory has lost its counter as well, when it saves at the latest.
    let refused = alice.save(Reserve::Numbers);
    assert_eq!(refused.err(), Some(Error::StateRolledBack));
    assert_eq!(
        alice.try_seal(&[1; 64], b"").err(),
        Some(Error::StateRolledBack)
    );
    let packet = bob.seal(1, 64);
    assert_eq!(alice.open(&packet).err(), Some(Error::StateRolledBack));
    alice.session = first;
    alice.open(&packet).unwrap();
    still_talk(&mut alice, &mut bob);
}

#[test]
fn t20_every_random_schedule_of_restored_states_is_detected() {
    let mut dice = SplitMix::new(20);
    for _ in 0..200 {
        let (mut alice, _) = acquainted(Mode::Fenced);
        let mut saved = Vec::new();
        for _ in 0..50 {
            match dice.below(3) {
                0 => saved.push(alice.save(Reserve::Numbers).unwrap()),
                1 => {
                    let _ = alice.seal(1, 64);
                }
                _ if saved.len() > 1 => {
                    // Any but the newest, and the newest if something was saved after it by `seal`.
                    let place = dice.below(saved.len() - 1);
                    let refused = alice.load(&saved[place]);
                    assert_eq!(refused.err(), Some(Error::StateRolledBack));
                }
                _ => {}
            }
        }
    }
}

#[test]
fn a_load_gives_the_state_that_replaces_the_loaded_one() {
    let (mut alice, mut bob) = acquainted(Mode::Fenced);
    let mut saved = alice.save(Reserve::Numbers).unwrap();
    for round in 0..20 {
        // A crash right after the load, or after some messages.
        let mut random = keywright_primitives::random::RandomStream::new().unwrap();
        let (session, next) = Session::load(
            &saved,
            &state_key(),
            Limits::standard(),
            &mut alice.counters,
            &mut random,
        )
        .unwrap();
        saved = next;
        alice.session = session;
        for _ in 0..round {
            let packet = alice.try_seal(&[round; 64], b"context").unwrap();
            assert_eq!(bob.open(&packet).unwrap(), [round; 64]);
        }
    }
}

/// A crash loses what was set aside and not used, and repeats nothing.
#[test]
fn after_a_crash_no_number_is_used_again() {
    let (mut alice, mut bob) = acquainted(Mode::Fenced);
    let saved = alice.save(Reserve::Numbers).unwrap();
    let before: Vec<_> = (0..20)
        .map(|_| alice.try_seal(&[1; 64], b"context"))
        .collect();
    alice.session = alice.load(&saved).unwrap();
    let after: Vec<_> = (0..20)
        .map(|_| alice.try_seal(&[2; 64], b"context"))
        .collect();
    for (packets, byte) in [(after, 2), (before, 1)] {
        for packet in packets {
            assert_eq!(bob.open(&packet.unwrap()).unwrap(), [byte; 64]);
        }
    }
    // The twelve that were lost.
    assert_eq!(bob.session.stored_keys(), 12);
}

#[test]
fn a_closed_session_gives_back_what_it_did_not_use() {
    let (mut alice, mut bob) = acquainted(Mode::Fenced);
    let packet = alice.seal(1, 64);
    bob.open(&packet).unwrap();
    let Party {
        session,
        mut counters,
        mut random,
    } = alice;
    let saved = session
        .close(&state_key(), &mut counters, &mut random)
        .unwrap();
    let (session, _) = Session::load(
        &saved,
        &state_key(),
        Limits::standard(),
        &mut counters,
        &mut random,
    )
    .unwrap();
    let mut alice = Party {
        session,
        counters,
        random,
    };
    let packet = alice.seal(2, 64);
    bob.open(&packet).unwrap();
    assert_eq!(bob.session.stored_keys(), 0);
}

#[test]
fn a_counter_that_does_not_answer_lets_nothing_through() {
    let (mut alice, mut bob) = acquainted(Mode::Fenced);
    let saved = alice.save(Reserve::Nothing).unwrap();
    alice.counters.unavailable = true;
    assert_eq!(alice.load(&saved).err(), Some(Error::FenceUnavailable));
    let refused = alice.save(Reserve::Nothing);
    assert_eq!(refused.err(), Some(Error::FenceUnavailable));
    alice.counters.unavailable = false;
    alice.save(Reserve::Nothing).unwrap();
    still_talk(&mut alice, &mut bob);
}

#[test]
fn a_repeated_handshake_finds_its_counter_used() {
    let (mut alice, _) = pair(Mode::Fenced);
    alice.save(Reserve::Numbers).unwrap();
    let (again, _) = pair(Mode::Fenced);
    alice.session = again.session;
    let refused = alice.save(Reserve::Numbers);
    assert_eq!(refused.err(), Some(Error::StateRolledBack));
}

/// Whoever has both copies of a hedged session sees other bytes for the same number: key and nonce are
/// never shared.
#[test]
fn t20_two_hedged_copies_share_no_nonce() {
    let (mut alice, mut bob) = acquainted(Mode::Hedged);
    let packet = alice.seal(0, 64);
    bob.open(&packet).unwrap();
    let saved = alice.save(Reserve::Nothing).unwrap();
    let mut copies: Vec<_> = (0..20)
        .map(|_| Party::of(alice.load(&saved).unwrap()))
        .collect();
    let mut bodies = HashSet::new();
    for number in 0..10 {
        let mut opened = 0;
        for copy in &mut copies {
            // One text, so that equal key and nonce would show as equal ciphertext.
            let packet = copy.seal(number, 64);
            assert!(bodies.insert(packet[65..].to_vec()), "a nonce was shared");
            opened += usize::from(bob.open(&packet).is_ok());
        }
        assert_eq!(opened, 1, "of one number one message arrives");
    }
}

#[test]
fn an_older_hedged_state_goes_on_without_repeating_anything() {
    let (mut alice, mut bob) = acquainted(Mode::Hedged);
    let old = alice.save(Reserve::Nothing).unwrap();
    for _ in 0..5 {
        let packet = alice.seal(1, 64);
        bob.open(&packet).unwrap();
    }
    alice.session = alice.load(&old).unwrap();
    // The older state takes the turn again, with another key: the receiver knows the chain by its header
    // key and does not follow.
    let packet = alice.seal(2, 64);
    bob.refuses(&packet);
}

#[test]
fn a_state_of_the_other_mode_is_refused() {
    let (mut fenced, _) = acquainted(Mode::Fenced);
    let (mut hedged, _) = acquainted(Mode::Hedged);
    let saved_fenced = fenced.save(Reserve::Nothing).unwrap();
    let saved_hedged = hedged.save(Reserve::Nothing).unwrap();
    assert_eq!(hedged.load(&saved_fenced).err(), Some(Error::WrongMode));
    assert_eq!(fenced.load(&saved_hedged).err(), Some(Error::WrongMode));
    let key = state_key();
    let refused = fenced.session.save_hedged(&key, &mut fenced.random);
    assert_eq!(refused.err(), Some(Error::WrongMode));
    let refused = hedged.session.save(
        &key,
        Reserve::Nothing,
        &mut hedged.counters,
        &mut hedged.random,
    );
    assert_eq!(refused.err(), Some(Error::WrongMode));
}
