//! What two parties who mean the same can do, whatever happens on the way.

use keywright_mutate::SplitMix;
use keywright_session::{First, Handshake, Mode, Role, Session};
use keywright_wire::MESSAGE_OVERHEAD;

use crate::scene::{CONTEXT, Lattice, NOW, Scene, kind, psk, receive};

fn handshakes(lattice: Lattice) -> Vec<Handshake<'static>> {
    let mut all = vec![Handshake::X3dh, Handshake::AuthPsk(psk())];
    if lattice == Lattice::With {
        all.push(Handshake::AuthPskPq);
    }
    all
}

#[test]
fn every_handshake_with_and_without_one_time_prekey_signature_and_lattice_begins_a_session() {
    for first in [First::Deniable, First::Signed] {
        for lattice in [Lattice::With, Lattice::Without] {
            for handshake in handshakes(lattice) {
                for with_one_time in [false, true] {
                    let mut scene = Scene::new(Mode::Hedged, first, lattice);
                    let one_time = scene.bob.one_time().unwrap();
                    let one_time = with_one_time.then_some(&one_time);
                    let mut one = scene.initiate(handshake, one_time).unwrap();
                    let hello = scene.send(&mut one, b"hello");
                    let accepted = scene.accept(&hello).unwrap();
                    assert_eq!(accepted.first.content.expose(), b"hello");
                    let mut other = accepted.session;
                    assert!(one.binder().ct_eq(other.binder()));
                    assert_ne!(one.id(), other.id());
                    assert_eq!(one.peer().unwrap().name(), b"bob");
                    assert_eq!(other.peer().unwrap().id(), scene.alice.card().id());
                    assert_eq!(
                        (one.role(), other.role()),
                        (Role::Initiator, Role::Responder)
                    );
                    assert_eq!(scene.bob.one_time_left(), usize::from(!with_one_time));
                    talk(&mut scene, &mut one, &mut other);
                }
            }
        }
    }
}

fn talk(scene: &mut Scene, one: &mut Session, other: &mut Session) {
    for length in [0, 1, 63, 64, 300, 5_000] {
        let content = vec![7; length];
        for _ in 0..2 {
            let frame = scene.send(other, &content);
            receive(one, &frame, &content);
            assert!(!one.is_unanswered());
            let frame = scene.send(one, &content);
            receive(other, &frame, &content);
        }
    }
}

#[test]
fn the_first_frames_carry_the_handshake_until_an_answer_has_come() {
    for first in [First::Deniable, First::Signed] {
        let mut scene = Scene::new(Mode::Hedged, first, Lattice::With);
        let mut one = scene.initiate(Handshake::X3dh, None).unwrap();
        let frames: Vec<_> = [b"lost", b"late", b"here"]
            .map(|content| scene.send(&mut one, content))
            .into();
        assert!(one.is_unanswered());
        let accepted = scene.accept(&frames[2]).unwrap();
        assert_eq!(accepted.first.content.expose(), b"here");
        let mut other = accepted.session;
        receive(&mut other, &frames[1], b"late");
        for frame in &frames[1..] {
            assert_eq!(kind(other.receive(frame, CONTEXT, NOW)), "Rejected");
        }
        receive(&mut other, &frames[0], b"lost");
        let answer = scene.send(&mut other, b"answer");
        receive(&mut one, &answer, b"answer");
        let frame = scene.send(&mut one, b"short");
        assert!(frame.len() < 200 && !one.is_unanswered());
        receive(&mut other, &frame, b"short");
    }
}

#[test]
fn frames_have_the_length_that_was_said_before() {
    let mut scene = Scene::new(Mode::Hedged, First::Signed, Lattice::With);
    let mut one = scene.initiate(Handshake::X3dh, None).unwrap();
    for length in [0, 10, 63, 200, 4_000] {
        let said = one.frame_len(length).unwrap();
        assert_eq!(scene.send(&mut one, &vec![1; length]).len(), said);
    }
    let (mut one, _) = scene.acquainted();
    for (length, padded) in [(0, 64), (63, 64), (64, 128), (255, 256), (256, 272)] {
        let said = one.frame_len(length).unwrap();
        assert_eq!(said, MESSAGE_OVERHEAD + 8 + padded);
        assert_eq!(scene.send(&mut one, &vec![1; length]).len(), said);
    }
    assert_eq!(kind(one.frame_len(usize::MAX)), "TooLong");
    assert_eq!(kind(one.frame_len((16 << 20) + 1)), "TooLong");
}

#[test]
fn every_order_of_up_to_seven_frames_opens() {
    for count in 1..=7 {
        let mut scene = Scene::hedged();
        let (mut one, mut other) = scene.acquainted();
        let key = crate::scene::store_key();
        let before = other.save_hedged(&key, &mut scene.random).unwrap();
        let frames: Vec<_> = (0..count)
            .map(|number: u8| scene.send(&mut one, &[number]))
            .collect();
        let mut order: Vec<usize> = (0..frames.len()).collect();
        permute(&mut order, 0, &mut |order| {
            let mut random = keywright_primitives::random::RandomStream::unseeded();
            let mut other = Session::load_hedged(&before, &key, &mut random).unwrap();
            for &place in order {
                let number = u8::try_from(place).unwrap();
                receive(&mut other, &frames[place], &[number]);
            }
            assert_eq!(other.stored_keys(), 0);
        });
    }
}

fn permute(order: &mut [usize], fixed: usize, visit: &mut dyn FnMut(&[usize])) {
    if fixed == order.len() {
        return visit(order);
    }
    for place in fixed..order.len() {
        order.swap(fixed, place);
        permute(order, fixed + 1, visit);
        order.swap(fixed, place);
    }
}

#[test]
fn random_schedules_with_loss_repeats_and_disorder_deliver_each_frame_at_most_once() {
    let mut dice = SplitMix::new(7);
    for _ in 0..6 {
        let mut scene = Scene::hedged();
        let (one, other) = scene.acquainted();
        let mut ends = [one, other];
        let mut way: Vec<(usize, Vec<u8>, Vec<u8>)> = Vec::new();
        let (mut delivered, mut refused) = (0, 0);
        for round in 0..2_000_u32 {
            let from = dice.below(2);
            if dice.below(2) == 0 {
                let content = round.to_be_bytes().to_vec();
                let frame = scene.send(&mut ends[from], &content);
                way.push((1 - from, frame, content));
                continue;
            }
            if way.is_empty() {
                continue;
            }
            let place = dice.below(way.len());
            let (to, frame, content) = match dice.below(8) {
                0 => way.swap_remove(place),
                1 => {
                    way.swap_remove(place);
                    continue;
                }
                _ => way[place].clone(),
            };
            match ends[to].receive(&frame, CONTEXT, NOW) {
                Ok(received) => {
                    assert_eq!(received.content.expose(), content);
                    delivered += 1;
                }
                Err(_) => refused += 1,
            }
        }
        assert!(delivered > 100 && refused > 50, "{delivered} {refused}");
        let [one, other] = &mut ends;
        talk(&mut scene, one, other);
    }
}

#[test]
fn who_has_not_begun_and_has_not_received_has_nothing_to_send_with() {
    let mut scene = Scene::new(Mode::Fenced, First::Deniable, Lattice::With);
    let mut one = scene.initiate(Handshake::X3dh, None).unwrap();
    let refused = one.send(b"x", CONTEXT, NOW, &mut scene.random);
    assert_eq!(kind(refused), "SaveFirst");
}
