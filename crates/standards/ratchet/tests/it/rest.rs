//! States at rest.

use keywright_primitives::aead::XChaCha20Poly1305;
use keywright_primitives::hazmat::repeated;
use keywright_primitives::kdf::expand_sha256;
use keywright_primitives::random::RandomStream;
use keywright_ratchet::{Error, Limits, Mode, Reserve, Session, StateKey};

use crate::scene::{MODES, Party, acquainted, pair, secret, state_key, still_talk};

#[test]
fn t19_a_save_and_a_load_between_all_steps_lose_nothing() {
    for mode in MODES {
        let (mut alice, mut bob) = pair(mode);
        let mut late = Vec::new();
        for round in 0..8 {
            alice.reload();
            late.push((round, alice.seal(round, 64)));
            alice.reload();
            let packet = alice.seal(round, 64);
            bob.reload();
            assert_eq!(bob.open(&packet).unwrap(), [round; 64]);
            bob.reload();
            if round % 3 == 2 {
                for (byte, packet) in late.drain(..) {
                    assert_eq!(bob.open(&packet).unwrap(), [byte; 64]);
                    bob.reload();
                }
            }
            let packet = bob.seal(round, 64);
            assert_eq!(alice.open(&packet).unwrap(), [round; 64]);
        }
        still_talk(&mut alice, &mut bob);
    }
}

#[test]
fn t19_stored_keys_are_part_of_the_state() {
    for mode in MODES {
        let (mut alice, mut bob) = acquainted(mode);
        let packets: Vec<_> = (0..100).map(|byte| alice.seal(byte, 64)).collect();
        bob.open(&packets[99]).unwrap();
        bob.reload();
        assert_eq!(bob.session.stored_keys(), 99);
        for (byte, packet) in (0..99).zip(&packets) {
            assert_eq!(bob.open(packet).unwrap(), [byte; 64]);
        }
    }
}

#[test]
fn t24_two_saves_of_one_state_share_no_block() {
    let (mut alice, mut bob) = acquainted(Mode::Hedged);
    let packets: Vec<_> = (0..50).map(|_| alice.seal(1, 64)).collect();
    bob.open(&packets[49]).unwrap();
    let (one, other) = (
        bob.save(Reserve::Nothing).unwrap(),
        bob.save(Reserve::Nothing).unwrap(),
    );
    assert_eq!(one.len(), other.len());
    assert_eq!(one[..23], other[..23], "name and mode");
    let blocks = |bytes: &[u8]| -> Vec<[u8; 16]> {
        bytes[31..]
            .windows(16)
            .map(|block| block.try_into().unwrap())
            .collect()
    };
    let theirs: std::collections::HashSet<_> = blocks(&other).into_iter().collect();
    assert!(blocks(&one).iter().all(|block| !theirs.contains(block)));
}

/// The tag is right under the state's own subkey, and only the commitment is another's.
#[test]
fn t27_a_fitting_tag_without_the_commitment_is_refused() {
    let (mut alice, _) = acquainted(Mode::Hedged);
    let mut saved = alice.save(Reserve::Nothing).unwrap();
    let nonce: [u8; 24] = saved[63..87].try_into().unwrap();
    let mut made = [0; 64];
    let info: [&[u8]; 3] = [b"keywright/ratchet-state/v1", &saved[..31], &nonce];
    expand_sha256(secret::<32>(0x11).expose(), &info, &mut made).unwrap();
    assert_eq!(saved[31..63], made[32..], "the page's own formula");
    let subkey = made[..32].try_into().unwrap();

    let end = saved.len() - 16;
    let mut state = saved[87..end].to_vec();
    let tag = saved[end..].try_into().unwrap();
    XChaCha20Poly1305::open_once(subkey, &nonce, &saved[..87], &mut state, tag).unwrap();
    saved[31..63].fill(0xAA);
    let tag = XChaCha20Poly1305::seal_once(subkey, &nonce, &saved[..87], &mut state).unwrap();
    saved[87..end].copy_from_slice(&state);
    saved[end..].copy_from_slice(&tag);
    XChaCha20Poly1305::open_once(subkey, &nonce, &saved[..87], &mut state, &tag)
        .expect("the AEAD alone takes it");
    assert_eq!(alice.load(&saved).err(), Some(Error::Rejected));
}

/// Two copies of one state, saved in copies of one machine: the same randomness, and the same epoch.
#[test]
fn t47_copies_with_the_same_randomness_share_a_nonce_only_if_they_are_the_same() {
    let (mut alice, _) = acquainted(Mode::Hedged);
    let saved = alice.save(Reserve::Nothing).unwrap();
    let copied = |seal: bool| {
        let mut random = repeated::stream(&[7; 32]).unwrap();
        let limits = Limits::standard();
        let copy = Session::load_hedged(&saved, &state_key(), limits, &mut random).unwrap();
        let mut copy = Party::of(copy);
        if seal {
            copy.seal(1, 64);
        }
        copy.session.save_hedged(&state_key(), &mut random).unwrap()
    };
    let nonce = |bytes: &[u8]| bytes[63..87].to_vec();
    assert_eq!(copied(false), copied(false));
    let (one, other) = (copied(false), copied(true));
    assert_eq!(one[..31], other[..31], "name, mode and epoch");
    assert_ne!(nonce(&one), nonce(&other));
    assert_ne!(
        one[31..63],
        other[31..63],
        "the commitments, and with them the keys"
    );
}

#[test]
fn a_changed_cut_or_longer_state_is_refused() {
    for mode in MODES {
        let (mut alice, _) = acquainted(mode);
        let saved = alice.save(Reserve::Nothing).unwrap();
        for bit in 0..saved.len() * 8 {
            let mut changed = saved.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let error = alice.load(&changed).err().unwrap();
            // Magic, version, suite and mode are refused by sight, all else alike.
            let by_sight = matches!(error, Error::Malformed | Error::WrongMode) && bit < 7 * 8;
            assert!(by_sight || error == Error::Rejected, "bit {bit}: {error}");
        }
        for length in 0..saved.len() {
            let error = alice.load(&saved[..length]).err().unwrap();
            assert!(matches!(error, Error::Malformed | Error::Rejected));
        }
        let longer = [&saved[..], &[0]].concat();
        assert_eq!(alice.load(&longer).err(), Some(Error::Rejected));
        alice.session = alice.load(&saved).unwrap();
    }
}

#[test]
fn another_key_and_another_state_are_refused_alike() {
    let (mut alice, mut bob) = acquainted(Mode::Hedged);
    let saved = alice.save(Reserve::Nothing).unwrap();
    let mut random = RandomStream::new().unwrap();
    let wrong = StateKey::new(secret(0x12));
    let refused = Session::load_hedged(&saved, &wrong, Limits::standard(), &mut random);
    assert_eq!(refused.err(), Some(Error::Rejected));
    // The body of one state under the header of another.
    let other = bob.save(Reserve::Nothing).unwrap();
    let mixed = [&saved[..31], &other[31..]].concat();
    let refused = Session::load_hedged(&mixed, &state_key(), Limits::standard(), &mut random);
    assert_eq!(refused.err(), Some(Error::Rejected));
}

#[test]
fn a_length_beyond_every_state_is_refused_before_it_is_decrypted() {
    let (mut alice, _) = acquainted(Mode::Hedged);
    let mut saved = alice.save(Reserve::Nothing).unwrap();
    saved.resize(1 << 20, 0);
    assert_eq!(alice.load(&saved).err(), Some(Error::Malformed));
}

#[test]
fn a_state_with_more_keys_than_the_limits_is_refused() {
    let (mut alice, mut bob) = acquainted(Mode::Hedged);
    let packets: Vec<_> = (0..12).map(|_| alice.seal(1, 64)).collect();
    bob.open(&packets[11]).unwrap();
    let saved = bob.save(Reserve::Nothing).unwrap();
    for (stored, fits) in [(11, true), (10, false), (0, false)] {
        let limits = keywright_ratchet::hazmat::limits(5, stored);
        let mut random = RandomStream::new().unwrap();
        let loaded = Session::load_hedged(&saved, &state_key(), limits, &mut random);
        assert_eq!(loaded.err(), (!fits).then_some(Error::Malformed));
    }
}
