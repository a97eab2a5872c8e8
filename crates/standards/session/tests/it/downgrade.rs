//! What is changed on the way, or believed on one side only, begins nothing.

use keywright_hpke::{Policy, Suite};
use keywright_session::{First, Handshake, Mode, Peer, Setting, hazmat};

use crate::scene::{CONTEXT, Lattice, Scene, kind, psk, setting};

/// Nothing that a refused first frame touches has changed: the genuine one still begins a session.
fn refuses(scene: &mut Scene, frame: &[u8]) {
    let before = scene.bob.one_time_left();
    assert!(scene.accept(frame).is_err());
    assert_eq!(scene.bob.one_time_left(), before);
}

#[test]
fn t10_a_changed_byte_of_a_first_frame_begins_nothing() {
    for handshake in [
        Handshake::X3dh,
        Handshake::AuthPskPq,
        Handshake::AuthPsk(psk()),
    ] {
        let mut scene = Scene::new(Mode::Hedged, First::Signed, Lattice::With);
        let one_time = scene.bob.one_time().unwrap();
        let mut one = scene.initiate(handshake, Some(&one_time)).unwrap();
        let frame = scene.send(&mut one, b"hello");
        // The lattice ciphertext is long and of one kind.
        for place in (0..frame.len()).filter(|place| *place < 140 || place % 29 == 0) {
            let mut changed = frame.clone();
            changed[place] ^= 1 << (place % 8);
            refuses(&mut scene, &changed);
        }
        for length in (0..frame.len()).step_by(7) {
            refuses(&mut scene, &frame[..length]);
        }
        refuses(&mut scene, &[&frame[..], &[0; 16]].concat());
        scene.accept(&frame).unwrap();
    }
}

#[test]
fn t10_the_lattice_key_is_used_where_there_is_one() {
    let mut scene = Scene::hedged();
    let mut one = scene.initiate(Handshake::X3dh, None).unwrap();
    let frame = scene.send(&mut one, b"hello");
    // Mode 17 becomes 16, and the ciphertext goes.
    let stripped = [&frame[..1], &[16], &frame[2..66], &frame[66 + 1088..]].concat();
    assert_eq!(kind(scene.accept(&stripped)), "Handshake");
    let (alice, setting) = (scene.alice.card(), setting(&scene.policy));
    let forged = hazmat::impersonate(&scene.bob, alice, &setting, &mut scene.random);
    let frame = scene.send(&mut forged.unwrap(), b"hello");
    assert_eq!(kind(scene.accept(&frame)), "Handshake");
    let mut without = Scene::new(Mode::Hedged, First::Deniable, Lattice::Without);
    assert_eq!(
        kind(without.initiate(Handshake::AuthPskPq, None)),
        "Handshake"
    );
}

#[test]
fn t10_a_removed_offer_is_found() {
    let mut scene = Scene::hedged();
    let mut one = scene.initiate(Handshake::AuthPsk(psk()), None).unwrap();
    let frame = scene.send(&mut one, b"hello");
    // version, mode, choice 6, count, offers of 6: X-Wing stands first.
    assert_eq!(frame[8], 3);
    let fewer = [&frame[..8], &[2], &frame[15..]].concat();
    assert_eq!(kind(scene.accept(&fewer)), "Rejected");
    let mut swapped = frame.clone();
    let (first, second) = (frame[9..15].to_vec(), frame[15..21].to_vec());
    swapped[9..15].copy_from_slice(&second);
    swapped[15..21].copy_from_slice(&first);
    assert_eq!(kind(scene.accept(&swapped)), "Rejected");
    scene.accept(&frame).unwrap();
}

#[test]
fn t10_what_the_two_sides_believe_has_to_be_the_same() {
    for handshake in [
        Handshake::X3dh,
        Handshake::AuthPskPq,
        Handshake::AuthPsk(psk()),
    ] {
        let mut scene = Scene::hedged();
        let mut one = scene.initiate(handshake, None).unwrap();
        let frame = scene.send(&mut one, b"hello");
        assert_eq!(kind(scene.accept_for(&frame, b"another")), "Rejected");
        let policy = Policy::of(&[Suite::P256]);
        let narrow = Setting {
            policy: &policy,
            ..setting(&scene.policy)
        };
        let card = scene.alice.card();
        let known = |_| {
            Some(Peer {
                card,
                psk: Some(psk()),
            })
        };
        let refused = scene
            .bob
            .accept(&frame, CONTEXT, &known, (&narrow, &mut scene.random));
        if !matches!(handshake, Handshake::X3dh) {
            assert_eq!(kind(refused), "Suite");
        }
    }
}
