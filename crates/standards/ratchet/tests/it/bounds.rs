//! What a peer can make a session compute and keep.

use std::time::Duration;

use keywright_mutate::SplitMix;
use keywright_ratchet::{Error, Limits, Mode, Packet, hazmat};

use crate::forgery::first_packet;
use crate::scene::{MODES, NOW, Party, acquainted, pair, prekey, still_talk};

fn work_of(party: &mut Party, packet: &[u8]) -> (Result<(), Error>, hazmat::Work) {
    let mut work = hazmat::Work::default();
    let mut out = vec![0; packet.len()];
    let packet = Packet {
        bytes: packet,
        context: b"context",
    };
    let opened = hazmat::open_counting(&mut party.session, &packet, NOW, &mut out, &mut work);
    (opened.map(|_| ()), work)
}

/// A receiver with a current chain, a next one and five old ones that hold keys; and what it never got.
fn crowded(mode: Mode) -> (Party, Party, Vec<Vec<u8>>) {
    let (mut alice, mut bob) = acquainted(mode);
    let mut lost = Vec::new();
    for _ in 0..8 {
        lost.push(alice.seal(1, 64));
        let packet = alice.seal(2, 64);
        bob.open(&packet).unwrap();
        let answer = bob.seal(3, 64);
        alice.open(&answer).unwrap();
    }
    (alice, bob, lost)
}

#[test]
fn t11_a_forged_packet_costs_seven_header_openings_and_no_step() {
    for mode in MODES {
        let (mut alice, mut bob, _) = crowded(mode);
        let mut dice = SplitMix::new(11);
        let mut forged = alice.seal(4, 64);
        forged[1..].iter_mut().for_each(|byte| *byte = dice.byte());
        let before = bob.state();
        let (opened, work) = work_of(&mut bob, &forged);
        assert_eq!(opened, Err(Error::Rejected));
        assert_eq!(
            (work.header_opens, work.chain_steps, work.agreements),
            (7, 0, 0)
        );
        assert!(bob.state() == before);
        still_talk(&mut alice, &mut bob);
    }
}

#[test]
fn t11_an_authentic_number_beyond_the_jump_costs_no_step() {
    let key = prekey().public_bytes().unwrap();
    for (previous, number) in [
        (0, 1_001),
        (0, u32::MAX),
        (0, (1 << 31) - 1),
        (0, 1 << 31),
        (u32::MAX, 0),
        (u32::MAX, u32::MAX),
    ] {
        let (_, mut bob) = pair(Mode::Fenced);
        let before = bob.state();
        let (opened, work) = work_of(&mut bob, &first_packet(&key, previous, number));
        assert_eq!(opened, Err(Error::Rejected), "{previous} {number}");
        assert_eq!((work.header_opens, work.chain_steps), (1, 0));
        assert!(bob.state() == before);
    }
    // The largest jump that is walked, for a body that then does not open.
    let (_, mut bob) = pair(Mode::Fenced);
    let before = bob.state();
    let (opened, work) = work_of(&mut bob, &first_packet(&key, 0, 1_000));
    assert_eq!(opened, Err(Error::Rejected));
    assert_eq!((work.agreements, work.chain_steps), (1, 1_001));
    assert!(bob.state() == before);
}

#[test]
fn a_jump_of_a_thousand_opens_and_one_more_does_not() {
    for mode in MODES {
        let (mut alice, mut bob) = acquainted(mode);
        let packets: Vec<_> = (0..=1_002).map(|_| alice.seal(1, 64)).collect();
        bob.refuses(&packets[1_001]);
        bob.refuses(&packets[1_002]);
        bob.open(&packets[1_000]).unwrap();
        assert_eq!(bob.session.stored_keys(), 1_000);
        bob.open(&packets[1_002]).unwrap();
        for packet in packets[..1_000].iter().chain([&packets[1_001]]) {
            bob.open(packet).unwrap();
        }
        assert_eq!(bob.session.stored_keys(), 0);
    }
}

#[test]
fn a_jump_over_the_end_of_a_chain_counts_both_parts() {
    for (before, after, opens) in [(600, 400, true), (600, 401, false), (1_001, 0, false)] {
        let (mut alice, mut bob) = acquainted(Mode::Hedged);
        let packet = alice.seal(0, 64);
        bob.open(&packet).unwrap();
        let answer = bob.seal(1, 64);
        let first: Vec<_> = (0..before).map(|_| alice.seal(2, 64)).collect();
        alice.open(&answer).unwrap();
        let second: Vec<_> = (0..=after).map(|_| alice.seal(3, 64)).collect();
        if opens {
            bob.open(&second[after]).unwrap();
            assert_eq!(bob.session.stored_keys(), before + after);
            bob.open(&first[0]).unwrap();
            bob.open(&second[0]).unwrap();
        } else {
            bob.refuses(&second[after]);
        }
    }
}

#[test]
fn t16_a_hundred_thousand_turns_with_a_gap_each_stay_small() {
    let (mut alice, mut bob) = acquainted(Mode::Hedged);
    for turn in 0..50_000 {
        for (from, to) in [(true, 1), (false, 2)] {
            let (from, to, byte) = if from {
                (&mut alice, &mut bob, to)
            } else {
                (&mut bob, &mut alice, to)
            };
            let _lost = from.seal(byte, 64);
            let packet = from.seal(byte, 64);
            to.open(&packet).unwrap();
            assert!(to.session.stored_keys() <= 6);
        }
        if turn % 5_000 == 0 {
            assert!(alice.state().len() <= 2_048 && bob.state().len() <= 2_048);
        }
    }
    still_talk(&mut alice, &mut bob);
}

#[test]
fn t16_the_fullest_state_has_2048_keys_and_less_than_128_kib() {
    let (mut alice, mut bob) = acquainted(Mode::Fenced);
    for round in 0..12 {
        let mut packet = Vec::new();
        for _ in 0..=900 {
            packet = alice.seal(1, 64);
        }
        bob.open(&packet).unwrap();
        assert!(bob.session.stored_keys() <= 2_048);
        if round % 2 == 1 {
            let answer = bob.seal(2, 64);
            alice.open(&answer).unwrap();
        }
    }
    assert_eq!(bob.session.stored_keys(), 2_048);
    assert!(bob.state().len() <= 128 << 10, "{}", bob.state().len());
    bob.reload();
    assert_eq!(bob.session.stored_keys(), 2_048);
    still_talk(&mut alice, &mut bob);
}

#[test]
fn t17_at_the_bound_the_oldest_key_goes_and_new_messages_open() {
    let (mut alice, mut bob) = acquainted(Mode::Hedged);
    let packets: Vec<_> = (0..2_052).map(|_| alice.seal(1, 64)).collect();
    for place in [900, 1_800, 2_050] {
        bob.open(&packets[place]).unwrap();
    }
    // 2,051 numbers, three of them used.
    assert_eq!(bob.session.stored_keys(), 2_048);
    bob.open(&packets[2_051]).unwrap();
    bob.open(&packets[0]).unwrap();
    assert_eq!(bob.session.stored_keys(), 2_047);
    let _lost = [alice.seal(2, 64), alice.seal(2, 64)];
    let packet = alice.seal(2, 64);
    bob.open(&packet).unwrap();
    assert_eq!(bob.session.stored_keys(), 2_048);
    bob.refuses(&packets[1]);
    for packet in packets[2..900].iter().chain(&packets[901..1_800]) {
        bob.open(packet).unwrap();
    }
    still_talk(&mut alice, &mut bob);
}

#[test]
fn the_sixth_old_chain_goes_with_its_keys() {
    let (_, mut bob, lost) = crowded(Mode::Hedged);
    // Eight chains with one key each: the current one and five old ones are left.
    assert_eq!(bob.session.stored_keys(), 6);
    bob.refuses(&lost[0]);
    bob.refuses(&lost[1]);
    for packet in &lost[2..] {
        bob.open(packet).unwrap();
    }
    assert_eq!(bob.session.stored_keys(), 0);
}

#[test]
fn an_old_chain_without_keys_costs_no_header_opening() {
    let (mut alice, mut bob, lost) = crowded(Mode::Hedged);
    let mut forged = alice.seal(4, 64);
    forged[1..].fill(9);
    for (place, left) in (2..8).zip([6, 5, 4, 3, 2]) {
        bob.open(&lost[place]).unwrap();
        assert_eq!(work_of(&mut bob, &forged).1.header_opens, left);
    }
}

#[test]
fn a_peer_that_was_not_answered_cannot_turn_again() {
    let (mut alice, mut bob) = acquainted(Mode::Hedged);
    let packet = alice.seal(1, 64);
    bob.open(&packet).unwrap();
    let mut forged = packet;
    forged[1..].fill(9);
    // Only the current chain is tried: nobody knows a key of this side to agree with.
    assert_eq!(work_of(&mut bob, &forged).1.header_opens, 1);
    let packet = bob.seal(1, 64);
    alice.open(&packet).unwrap();
    assert_eq!(work_of(&mut bob, &forged).1.header_opens, 2);
}

/// Moves and derivations while `count` messages are skipped and then delivered in the order that `stride`
/// makes.
fn cost(count: u32, stride: usize) -> (u64, u64) {
    let (mut alice, mut bob) = acquainted(Mode::Hedged);
    bob.session = bob
        .session
        .with_limits(hazmat::limits(count, u16::try_from(count).unwrap()));
    let length = usize::try_from(count).unwrap();
    let packets: Vec<_> = (0..=length).map(|_| alice.seal(1, 64)).collect();
    let (opened, work) = work_of(&mut bob, &packets[length]);
    opened.unwrap();
    for place in 0..length {
        bob.open(&packets[place * stride % length]).unwrap();
    }
    (hazmat::moves(&bob.session), u64::from(work.chain_steps))
}

#[test]
fn t18_skipping_and_catching_up_is_linear() {
    // In order, backwards, and all over the place.
    for stride in [1, 24_999, 7_919] {
        let (few_moves, few_steps) = cost(1_000, stride);
        let (many_moves, many_steps) = cost(25_000, stride);
        assert_eq!((few_steps, many_steps), (1_001, 25_001));
        assert!(few_moves <= 6 * 1_000, "{few_moves}");
        assert!(many_moves <= 6 * 25_000, "{many_moves}");
    }
}

#[test]
fn a_stored_key_is_gone_after_its_age() {
    for age in [None, Some(Duration::from_secs(60))] {
        let (mut alice, mut bob) = acquainted(Mode::Hedged);
        let limits = age.map_or(Limits::standard(), |age| Limits::standard().with_age(age));
        bob.session = bob.session.with_limits(limits);
        let age = age.unwrap_or(Duration::from_secs(7 * 86_400));
        let late = [alice.seal(1, 64), alice.seal(2, 64), alice.seal(3, 64)];
        let packet = alice.seal(4, 64);
        bob.open(&packet).unwrap();
        bob.open_at(&late[0], NOW.plus(age)).unwrap();
        assert_eq!(bob.session.stored_keys(), 2);
        let after = NOW.plus(age + Duration::from_secs(1));
        let before = bob.state();
        assert_eq!(bob.open_at(&late[1], after).err(), Some(Error::Rejected));
        assert!(bob.state() == before, "a refused packet drops nothing");
        // A clock that was set back does not bring a key to its end.
        let early = keywright_clock::WallTime::from_unix_seconds(5);
        bob.open_at(&late[1], early).unwrap();
        bob.session.expire(after);
        assert_eq!(bob.session.stored_keys(), 0);
        assert_eq!(bob.open(&late[2]).err(), Some(Error::Rejected));
        still_talk(&mut alice, &mut bob);
    }
}

#[test]
fn t21_the_nonces_of_a_million_headers_of_one_chain_differ() {
    let (mut alice, _) = acquainted(Mode::Hedged);
    let mut packet = vec![0; alice.session.packet_len(64)];
    let message = keywright_ratchet::Message {
        text: &[0; 64],
        context: b"",
    };
    let mut nonces = Vec::with_capacity(1_000_000);
    for _ in 0..1_000_000 {
        let sealed = alice
            .session
            .seal(&message, NOW, &mut alice.random, &mut packet);
        sealed.unwrap();
        // Header 48, its tag 16, and the body begins.
        nonces.push(*packet[65..89].first_chunk::<24>().unwrap());
    }
    nonces.sort_unstable();
    assert!(nonces.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn a_chain_ends_after_2_to_the_31_messages_and_an_answer_begins_another() {
    let (mut alice, mut bob) = acquainted(Mode::Hedged);
    let first = alice.seal(1, 64);
    bob.open(&first).unwrap();
    let answer = bob.seal(2, 64);
    hazmat::set_number(&mut alice.session, (1 << 31) - 1);
    let last = alice.seal(3, 64);
    bob.refuses(&last);
    assert_eq!(
        alice.try_seal(&[1; 64], b"").err(),
        Some(Error::ChainUsedUp)
    );
    alice.open(&answer).unwrap();
    let next = alice.seal(4, 64);
    // The peer never saw the numbers in between; that is beyond the jump.
    bob.refuses(&next);
}
