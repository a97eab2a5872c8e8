//! What is forged, repeated or damaged changes nothing.

use keywright_encoding::hex;
use keywright_mutate::SplitMix;
use keywright_primitives::aead::XChaCha20Poly1305;
use keywright_primitives::random::RandomStream;
use keywright_ratchet::{Error, Mode, Packet, Session, hazmat};

use crate::scene::{MODES, NOW, Party, SHARED, acquainted, pair, prekey, start, still_talk};

/// A first packet for the responder from somebody who knows the header key: any ratchet key and numbers.
pub(crate) fn first_packet(key: &[u8; 32], previous: u32, number: u32) -> Vec<u8> {
    let mut secret = [0; 96];
    keywright_primitives::kdf::expand_sha256(&SHARED, &[b"keywright/ratchet/v1"], &mut secret)
        .unwrap();
    let mut header_key = [0; 32];
    header_key.copy_from_slice(&secret[32..64]);
    let mut header = [&key[..], &previous.to_be_bytes(), &number.to_be_bytes()].concat();
    let body = [0x77; 64 + 16];
    let nonce = body.first_chunk().unwrap();
    let cipher = XChaCha20Poly1305::new(&header_key);
    let tag = cipher.seal(nonce, &[3], &mut header).unwrap();
    [&[3], &header[..], &tag, &body].concat()
}

/// The points of small order and their other spellings.
fn low_order_points() -> Vec<[u8; 32]> {
    let texts = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ];
    let points = texts.map(|text| hex::decode_array::<32>(text).unwrap());
    let twins = points.map(|mut point| {
        point[31] |= 0x80;
        point
    });
    [points, twins].concat()
}

#[test]
fn t02_a_key_of_small_order_makes_no_session_and_no_turn() {
    let mut random = RandomStream::new().unwrap();
    for point in low_order_points() {
        let alice = Session::initiate(start(Mode::Hedged), &point, &mut random).unwrap();
        let mut alice = Party::of(alice);
        let before = alice.state();
        assert_eq!(
            alice.try_seal(&[1; 64], b"").err(),
            Some(Error::PeerKey),
            "{point:x?}"
        );
        assert!(alice.state() == before);
        let (_, mut bob) = pair(Mode::Fenced);
        let mut work = hazmat::Work::default();
        let packet = first_packet(&point, 0, 0);
        let packet = Packet {
            bytes: &packet,
            context: b"context",
        };
        let before = bob.state();
        let opened = hazmat::open_counting(&mut bob.session, &packet, NOW, &mut [0; 64], &mut work);
        assert_eq!(opened.err(), Some(Error::Rejected));
        assert_eq!(
            (work.agreements, work.chain_steps),
            (1, 0),
            "it came so far"
        );
        assert!(bob.state() == before);
    }
}

#[test]
fn t12_ten_thousand_forgeries_leave_the_state_as_it_was() {
    let mut dice = SplitMix::new(12);
    for mode in MODES {
        let (mut alice, mut bob) = acquainted(mode);
        let mut genuine: Vec<_> = (0..20).map(|byte| alice.seal(byte, 64)).collect();
        let _lost = genuine.remove(3);
        for packet in genuine.drain(..10) {
            bob.open(&packet).unwrap();
        }
        let before = bob.state();
        for _ in 0..5_000 {
            let mut packet = genuine[dice.below(genuine.len())].clone();
            // The first byte is the version, which is refused by sight.
            for _ in 0..=dice.below(4) {
                let place = 1 + dice.below(packet.len() - 1);
                packet[place] = packet[place].wrapping_add(dice.byte().max(1));
            }
            if genuine.contains(&packet) {
                continue;
            }
            assert_eq!(bob.open(&packet).err(), Some(Error::Rejected));
            assert!(bob.state() == before);
        }
        for packet in genuine {
            bob.open(&packet).unwrap();
        }
        still_talk(&mut alice, &mut bob);
    }
}

#[test]
fn t12_a_bit_flipped_anywhere_is_refused_and_the_genuine_packet_still_opens() {
    for mode in MODES {
        let (mut alice, mut bob) = acquainted(mode);
        let packet = alice.seal(1, 64);
        let before = bob.state();
        for bit in 0..packet.len() * 8 {
            let mut changed = packet.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let expected = if bit < 8 {
                Error::Malformed
            } else {
                Error::Rejected
            };
            assert_eq!(bob.open(&changed).err(), Some(expected), "bit {bit}");
            assert!(bob.state() == before, "bit {bit}");
        }
        bob.open(&packet).unwrap();
    }
}

#[test]
fn t13_a_forged_body_under_a_genuine_header_uses_up_no_key() {
    for mode in MODES {
        let (mut alice, mut bob) = acquainted(mode);
        let packets: Vec<_> = (0..30).map(|byte| alice.seal(byte, 80)).collect();
        bob.open(&packets[29]).unwrap();
        for packet in &packets[..29] {
            // Behind the nonce of the header, so that the header opens.
            for place in [packet.len() - 30, packet.len() - 1] {
                let mut forged = packet.clone();
                forged[place] ^= 1;
                bob.refuses(&forged);
            }
            bob.open(packet).unwrap();
        }
    }
}

#[test]
fn t14_a_repeated_packet_of_any_chain_is_refused() {
    let mut dice = SplitMix::new(14);
    for mode in MODES {
        let (mut alice, mut bob) = acquainted(mode);
        let (mut to_bob, mut to_alice) = (Vec::new(), Vec::new());
        for _ in 0..12 {
            for _ in 0..=dice.below(4) {
                to_bob.push(alice.seal(1, 64));
            }
            // One of each turn is never delivered.
            to_bob.pop();
            to_bob.push(alice.seal(1, 64));
            for packet in &to_bob {
                let _ = bob.open(packet);
            }
            to_alice.push(bob.seal(2, 64));
            alice.open(&to_alice[to_alice.len() - 1]).unwrap();
        }
        for _ in 0..500 {
            bob.refuses(&to_bob[dice.below(to_bob.len())]);
            alice.refuses(&to_alice[dice.below(to_alice.len())]);
        }
        still_talk(&mut alice, &mut bob);
    }
}

#[test]
fn t15_ten_thousand_messages_delivered_twice_open_once() {
    let (mut alice, mut bob) = acquainted(Mode::Hedged);
    let mut before = Vec::new();
    for round in 0..10_000_u32 {
        let byte = round.to_be_bytes()[3];
        let packet = alice.seal(byte, 64);
        assert_eq!(bob.open(&packet).unwrap(), [byte; 64]);
        if round % 100 == 0 {
            before = bob.state();
        }
        assert_eq!(bob.open(&packet).err(), Some(Error::Rejected));
        if round % 100 == 0 {
            assert!(bob.state() == before);
        }
    }
    assert_eq!(bob.session.stored_keys(), 0);
}

#[test]
fn t23_shorter_packets_and_other_versions_are_refused() {
    for mode in MODES {
        let (mut alice, mut bob) = acquainted(mode);
        let packet = alice.seal(1, 64);
        let before = bob.state();
        for length in 0..packet.len() {
            let error = bob.open(&packet[..length]).err();
            assert_eq!(error, Some(Error::Malformed), "{length} bytes");
        }
        for version in (0..=255).filter(|version| *version != 3) {
            let mut other = packet.clone();
            other[0] = version;
            assert_eq!(bob.open(&other).err(), Some(Error::Malformed));
        }
        let longer = [&packet[..], &[0]].concat();
        assert_eq!(bob.open(&longer).err(), Some(Error::Rejected));
        // A tag cut off behind a text that is long enough.
        let packet = alice.seal(1, 100);
        for cut in 1..=16 {
            let error = bob.open(&packet[..packet.len() - cut]).err();
            assert_eq!(error, Some(Error::Rejected));
        }
        assert!(bob.state() == before);
    }
}

#[test]
fn t26_the_output_is_zeros_after_a_refusal() {
    let (mut alice, mut bob) = acquainted(Mode::Fenced);
    let packet = alice.seal(0x61, 1000);
    let mut forged = packet.clone();
    forged[1000] ^= 1;
    let mut other_header = packet.clone();
    other_header[5] ^= 1;
    for wrong in [&forged, &other_header] {
        let mut out = [0xEE; 1010];
        let packet = Packet {
            bytes: wrong,
            context: b"context",
        };
        let refused = bob.session.open(&packet, NOW, &mut out);
        assert_eq!(refused.err(), Some(Error::Rejected));
        assert_eq!(out[..1000], [0; 1000]);
        assert_eq!(out[1000..], [0xEE; 10], "what is not the packet's stays");
    }
    bob.open(&packet).unwrap();
}

/// With the header key alone, which is the initiator's first, nobody makes a session.
#[test]
fn a_genuine_header_with_another_ratchet_key_is_refused_inside_a_chain() {
    let (mut alice, mut bob) = pair(Mode::Fenced);
    let packet = alice.seal(1, 64);
    bob.open(&packet).unwrap();
    let mut work = hazmat::Work::default();
    let key = prekey().public_bytes().unwrap();
    for number in [0, 1, 5] {
        let forged = first_packet(&key, 0, number);
        let packet = Packet {
            bytes: &forged,
            context: b"context",
        };
        let before = bob.state();
        let opened = hazmat::open_counting(&mut bob.session, &packet, NOW, &mut [0; 64], &mut work);
        assert_eq!(opened.err(), Some(Error::Rejected));
        assert!(bob.state() == before);
    }
    assert_eq!((work.agreements, work.chain_steps), (0, 0));
    still_talk(&mut alice, &mut bob);
}
