//! What is sent arrives, in whatever order, and only where it belongs.

use keywright_mutate::SplitMix;
use keywright_primitives::random::RandomStream;
use keywright_ratchet::{
    Context, Error, Incarnation, MAX_CONTEXT_LEN, MAX_TEXT_LEN, Message, Mode, Packet, Reserve,
    SessionSecret, Start,
};

use crate::scene::{MODES, NOW, Party, acquainted, pair, pair_of, secret, start, still_talk};

#[test]
fn a_packet_is_73_bytes_longer_than_its_text_and_81_when_hedged() {
    for (mode, more) in [(Mode::Fenced, 73), (Mode::Hedged, 81)] {
        let (mut alice, _) = pair(mode);
        for length in [64, 65, 1024] {
            assert_eq!(alice.seal(b'x', length).len(), length + more);
        }
        assert_eq!(alice.session.text_len(more + 64), 64);
        assert_eq!(alice.session.text_len(more - 1), 0);
    }
}

#[test]
fn texts_of_every_length_arrive_both_ways_in_both_modes() {
    for mode in MODES {
        let (mut alice, mut bob) = pair(mode);
        for length in (64..200).chain([1024, 4096, 65_536, 1 << 20]) {
            let packet = alice.seal(7, length);
            assert_eq!(bob.open(&packet).unwrap(), vec![7; length]);
            let packet = bob.seal(8, length);
            assert_eq!(alice.open(&packet).unwrap(), vec![8; length]);
        }
    }
}

#[test]
fn a_context_of_any_length_belongs_to_the_message() {
    let (mut alice, mut bob) = pair(Mode::Hedged);
    for length in [0, 1, 300, 371, 372, 373, 374, 600, MAX_CONTEXT_LEN] {
        let context = vec![3; length];
        let packet = alice.try_seal(&[1; 64], &context).unwrap();
        let before = bob.state();
        for wrong in [length + 1, length.saturating_sub(1), 5] {
            let wrong = vec![3; wrong.min(MAX_CONTEXT_LEN)];
            if wrong.len() == length {
                continue;
            }
            let packet = Packet {
                bytes: &packet,
                context: &wrong,
            };
            let opened = bob.session.open(&packet, NOW, &mut [0; 64]);
            assert_eq!(opened.err(), Some(Error::Rejected));
            assert!(bob.state() == before);
        }
        let packet = Packet {
            bytes: &packet,
            context: &context,
        };
        bob.session.open(&packet, NOW, &mut [0; 64]).unwrap();
    }
}

/// Seven messages of two chains, of which the receiver has seen none: the sender got an answer in between.
fn seven() -> (Party, Party, Vec<Vec<u8>>) {
    let (mut alice, mut bob) = acquainted(Mode::Hedged);
    let first = alice.seal(b'0', 64);
    bob.open(&first).unwrap();
    let answer = bob.seal(b'x', 64);
    let mut packets: Vec<_> = (0..4).map(|byte| alice.seal(byte, 64)).collect();
    alice.open(&answer).unwrap();
    packets.extend((4..7).map(|byte| alice.seal(byte, 64)));
    (alice, bob, packets)
}

/// Heap's algorithm.
fn permutations(items: &mut Vec<usize>, size: usize, each: &mut dyn FnMut(&[usize])) {
    if size <= 1 {
        return each(items);
    }
    for place in 0..size {
        permutations(items, size - 1, each);
        let other = if size.is_multiple_of(2) { place } else { 0 };
        items.swap(other, size - 1);
    }
}

#[test]
fn up_to_seven_messages_arrive_in_every_order() {
    let (_, mut bob, packets) = seven();
    let saved = bob.save(Reserve::Nothing).unwrap();
    let mut seen = 0;
    for most in 1..=7 {
        permutations(&mut (0..most).collect(), most, &mut |order| {
            bob.session = bob.load(&saved).unwrap();
            for place in order {
                let text = bob.open(&packets[*place]).unwrap();
                assert_eq!(text, vec![u8::try_from(*place).unwrap(); 64], "{order:?}");
            }
            assert_eq!(bob.session.stored_keys(), 0, "{order:?}");
            seen += 1;
        });
    }
    assert_eq!(seen, 1 + 2 + 6 + 24 + 120 + 720 + 5040);
}

#[test]
fn after_any_order_every_repetition_is_refused_and_the_conversation_goes_on() {
    let (mut alice, mut bob, packets) = seven();
    for place in [6, 0, 3, 5, 1, 2, 4] {
        bob.open(&packets[place]).unwrap();
        bob.refuses(&packets[place]);
    }
    packets.iter().for_each(|packet| bob.refuses(packet));
    still_talk(&mut bob, &mut alice);
}

#[test]
fn random_schedules_with_loss_and_reordering_arrive_where_they_arrive() {
    for (seed, mode) in (1..=6).zip(MODES.into_iter().cycle()) {
        let mut dice = SplitMix::new(seed);
        let (mut alice, mut bob) = acquainted(mode);
        let mut wires: [Vec<(u8, Vec<u8>)>; 2] = [Vec::new(), Vec::new()];
        for _ in 0..2_000 {
            let side = dice.below(2);
            let (from, to) = if side == 0 {
                (&mut alice, &mut bob)
            } else {
                (&mut bob, &mut alice)
            };
            if dice.below(2) == 0 {
                let byte = dice.byte();
                wires[side].push((byte, from.seal(byte, 64 + dice.below(100))));
            } else if !wires[side].is_empty() {
                let place = dice.below(wires[side].len().min(9));
                let (byte, packet) = wires[side].remove(place);
                if dice.below(10) > 0 {
                    let text = to.open(&packet);
                    // Beyond five old chains a late message is lost; otherwise it arrives.
                    assert!(text.is_err() || text.unwrap().iter().all(|got| *got == byte));
                }
            }
        }
        still_talk(&mut alice, &mut bob);
    }
}

#[test]
fn t22_who_agreed_on_something_else_understands_nothing() {
    let with = |context| Start {
        context,
        ..start(Mode::Hedged)
    };
    let usual = start(Mode::Hedged).context;
    let others = [
        with(Context {
            initiator: b"bob",
            responder: b"alice",
            ..usual
        }),
        with(Context {
            initiator: b"mallory",
            ..usual
        }),
        with(Context {
            responder: b"mallory",
            ..usual
        }),
        with(Context {
            initiator: b"aliceb",
            responder: b"ob",
            ..usual
        }),
        with(Context {
            transcript: b"",
            ..usual
        }),
        Start {
            secret: SessionSecret::expand(&secret(1)).unwrap(),
            ..start(Mode::Hedged)
        },
    ];
    for other in others {
        let (mut alice, mut bob) = pair_of(start(Mode::Hedged), other);
        bob.refuses(&alice.seal(1, 64));
    }
    let (mut alice, mut bob) = pair_of(start(Mode::Hedged), start(Mode::Fenced));
    bob.refuses(&alice.seal(1, 64));
}

#[test]
fn a_session_does_not_open_what_it_sent_itself() {
    let (mut alice, mut bob) = acquainted(Mode::Hedged);
    let packet = alice.seal(1, 64);
    alice.refuses(&packet);
    bob.open(&packet).unwrap();
    let packet = bob.seal(1, 64);
    bob.refuses(&packet);
}

#[test]
fn the_responder_does_not_send_first() {
    for mode in MODES {
        let (_, mut bob) = pair(mode);
        let before = bob.state();
        let refused = bob.try_seal(&[1; 64], b"");
        assert_eq!(refused.err(), Some(Error::NothingReceived));
        assert!(bob.state() == before);
    }
}

#[test]
fn lengths_outside_the_limits_are_refused_and_change_nothing() {
    let (mut alice, mut bob) = acquainted(Mode::Hedged);
    let before = alice.state();
    for (text, context, error) in [
        (0, 0, Error::TooShort),
        (63, 0, Error::TooShort),
        (MAX_TEXT_LEN + 1, 0, Error::TooLong),
        (64, MAX_CONTEXT_LEN + 1, Error::TooLong),
    ] {
        let refused = alice.try_seal(&vec![0; text], &vec![0; context]);
        assert_eq!(refused.err(), Some(error));
        assert!(alice.state() == before);
    }
    let packet = alice.seal(1, 64);
    let before = bob.state();
    let long = Packet {
        bytes: &packet,
        context: &vec![0; MAX_CONTEXT_LEN + 1],
    };
    let refused = bob.session.open(&long, NOW, &mut [0; 64]);
    assert_eq!(refused.err(), Some(Error::TooLong));
    assert!(bob.state() == before);
}

#[test]
fn t43_a_small_buffer_costs_no_key() {
    let (mut alice, mut bob) = acquainted(Mode::Hedged);
    let (text, mut random) = ([1; 100], RandomStream::new().unwrap());
    let message = Message {
        text: &text,
        context: b"context",
    };
    let needed = alice.session.packet_len(100);
    let mut packet = vec![0; needed];
    let before = alice.state();
    for size in [0, 1, 100, needed - 1] {
        let refused = alice
            .session
            .seal(&message, NOW, &mut random, &mut packet[..size]);
        assert_eq!(refused.err(), Some(Error::BufferTooSmall { needed }));
        assert!(alice.state() == before);
    }
    let sealed = alice.session.seal(&message, NOW, &mut random, &mut packet);
    assert_eq!(sealed, Ok(needed));
    let (mut out, before) = ([0; 100], bob.state());
    let packet = Packet {
        bytes: &packet,
        context: b"context",
    };
    for size in [0, 99] {
        let refused = bob.session.open(&packet, NOW, &mut out[..size]);
        let needed = 100;
        assert_eq!(refused.err(), Some(Error::BufferTooSmall { needed }));
        assert!(bob.state() == before);
    }
    bob.session.open(&packet, NOW, &mut out).unwrap();
    assert_eq!(out, text);
}

#[test]
fn a_change_of_incarnation_inside_a_chain_is_reported() {
    let (mut alice, mut bob) = acquainted(Mode::Hedged);
    let seen = |alice: &mut Party, bob: &mut Party| {
        let packet = alice.seal(1, 64);
        bob.open_at(&packet, NOW).unwrap().1.incarnation
    };
    assert_eq!(seen(&mut alice, &mut bob), Incarnation::Same);
    assert_eq!(seen(&mut alice, &mut bob), Incarnation::Same);
    alice.reload();
    assert_eq!(seen(&mut alice, &mut bob), Incarnation::Changed);
    assert_eq!(seen(&mut alice, &mut bob), Incarnation::Same);
    // A new chain has nothing to compare with.
    let answer = bob.seal(2, 64);
    alice.open(&answer).unwrap();
    alice.reload();
    assert_eq!(seen(&mut alice, &mut bob), Incarnation::Same);
}

#[test]
fn nothing_secret_is_printed() {
    let (alice, _) = acquainted(Mode::Hedged);
    let shown = format!("{:?} {:?}", alice.session, start(Mode::Fenced));
    assert!(shown.contains("stored_keys: 0"), "{shown}");
    assert!(!shown.contains("90"), "no byte of the secret: {shown}");
    assert!(!shown.contains("root"), "{shown}");
}

/// What a handshake is asked to keep in mind: the two ends have different names, and a repeated handshake
/// gives the same ones.
#[test]
fn the_ends_of_a_session_have_names_that_a_repeated_handshake_repeats() {
    let (alice, bob) = pair(Mode::Fenced);
    let (again, _) = pair(Mode::Fenced);
    let (other, _) = pair(Mode::Hedged);
    assert_ne!(alice.session.id(), bob.session.id());
    assert_ne!(alice.session.id(), other.session.id());
    assert_eq!(alice.session.id(), again.session.id());
}
