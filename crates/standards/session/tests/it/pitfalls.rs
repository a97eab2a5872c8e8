//! The named pitfalls of handshakes, one test each.

use keywright_hpke::{Kem, Psk, PskSecret, PublicKey, Suite};
use keywright_primitives::random::RandomStream;
use keywright_secret::Secret;
use keywright_session::{
    Bundle, Card, First, Handshake, Identity, Mode, Peer, PrekeySecrets, Record, Responder,
    Session, hazmat, named_record,
};

use crate::scene::{
    CONTEXT, Lattice, NOW, Scene, identity, kind, psk, receive, secret, setting, terms,
};

/// The points of small order on X25519, and their spellings beyond the field (RFC 7748, section 6.1).
const SMALL: [&str; 7] = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
];

fn point(text: &str) -> [u8; 32] {
    keywright_encoding::hex::decode_array(text).unwrap()
}

#[test]
fn t02_no_key_of_small_order_begins_a_session() {
    let mut scene = Scene::new(Mode::Hedged, First::Deniable, Lattice::Without);
    for text in SMALL {
        let low = point(text);
        // In the frame.
        let mut one = scene.initiate(Handshake::X3dh, None).unwrap();
        let mut frame = scene.send(&mut one, b"hello");
        frame[34..66].copy_from_slice(&low);
        assert_eq!(kind(scene.accept(&frame)), "Rejected", "{text}");
        let mut one = scene.initiate(Handshake::AuthPsk(psk()), None).unwrap();
        let mut frame = scene.send(&mut one, b"hello");
        let enc = 2 + 6 + 1 + 3 * 6 + 16 + 16;
        frame[enc..enc + 32].copy_from_slice(&low);
        assert_eq!(kind(scene.accept(&frame)), "Rejected", "{text}");
        // In a card: the responder's for an initiator, and the initiator's for a responder.
        let key = PublicKey::from_bytes(Kem::X25519HkdfSha256, &low).unwrap();
        let card = Card::new(b"low", *scene.alice.card().verifying_key(), key).unwrap();
        let mut random = RandomStream::new().unwrap();
        let forged = hazmat::impersonate(&scene.bob, &card, &scene.setting(), &mut random);
        assert_eq!(kind(forged), "Rejected", "{text}");
    }
}

#[test]
fn t05_a_copy_of_a_first_frame_begins_nothing() {
    for handshake in [
        Handshake::X3dh,
        Handshake::AuthPskPq,
        Handshake::AuthPsk(psk()),
    ] {
        let mut scene = Scene::hedged();
        let one_time = scene.bob.one_time().unwrap();
        for (one_time, again) in [(None, "Repeated"), (Some(&one_time), "UnknownRecord")] {
            let mut one = scene.initiate(handshake, one_time).unwrap();
            let frame = scene.send(&mut one, b"hello");
            scene.accept(&frame).unwrap();
            assert_eq!(kind(scene.accept(&frame)), again);
            // The next frame of the same beginning is no second beginning either.
            let frame = scene.send(&mut one, b"again");
            assert_eq!(kind(scene.accept(&frame)), again);
        }
    }
}

#[test]
fn t07_a_thief_of_the_responders_keys_poses_as_anybody_but_not_with_a_psk_or_a_signature() {
    for (first, poses) in [(First::Deniable, true), (First::Signed, false)] {
        let mut scene = Scene::new(Mode::Hedged, first, Lattice::Without);
        let (alice, setting) = (scene.alice.card(), setting(&scene.policy));
        let forged = hazmat::impersonate(&scene.bob, alice, &setting, &mut scene.random);
        let mut forged = forged.unwrap();
        let frame = scene.send(&mut forged, b"it is me");
        let accepted = scene.accept(&frame);
        assert_eq!(accepted.is_ok(), poses, "{first:?}");
        if !poses {
            assert_eq!(kind(accepted), "Rejected");
        }
    }
    // With a secret shared before, stolen keys are not enough: another secret, another session.
    let mut scene = Scene::hedged();
    let guessed = Psk::new(PskSecret(&[0x78; 32]), b"shared before").unwrap();
    let mut one = scene.initiate(Handshake::AuthPsk(guessed), None).unwrap();
    let frame = scene.send(&mut one, b"it is me");
    assert_eq!(kind(scene.accept(&frame)), "Rejected");
}

#[test]
fn t12_forged_first_frames_use_up_neither_prekeys_nor_memory() {
    let mut scene = Scene::hedged();
    let one_time = scene.bob.one_time().unwrap();
    let mut one = scene.initiate(Handshake::X3dh, Some(&one_time)).unwrap();
    let frame = scene.send(&mut one, b"hello");
    for round in 0..200_u8 {
        let mut forged = frame.clone();
        let last = forged.len() - 1 - usize::from(round % 64);
        forged[last] ^= round | 1;
        assert_eq!(kind(scene.accept(&forged)), "Rejected");
    }
    assert_eq!(scene.bob.one_time_left(), 1);
    scene.accept(&frame).unwrap();
    assert_eq!(scene.bob.one_time_left(), 0);
}

#[test]
fn t22_a_key_that_another_publishes_as_his_own_begins_nothing() {
    for handshake in [
        Handshake::X3dh,
        Handshake::AuthPskPq,
        Handshake::AuthPsk(psk()),
    ] {
        let mut scene = Scene::new(Mode::Hedged, First::Deniable, Lattice::With);
        let mut one = scene.initiate(handshake, None).unwrap();
        let frame = scene.send(&mut one, b"hello");
        // Mallory's card has Alice's agreement key, and Bob takes the frame for his.
        let mallory = identity("mallory");
        let stolen = scene.alice.card().agreement_key();
        let stolen = PublicKey::from_bytes(stolen.kem(), stolen.as_bytes()).unwrap();
        let card = Card::new(b"mallory", *mallory.card().verifying_key(), stolen).unwrap();
        let known = |_| {
            Some(Peer {
                card: &card,
                psk: Some(psk()),
            })
        };
        let setting = setting(&scene.policy);
        let refused = scene
            .bob
            .accept(&frame, CONTEXT, &known, (&setting, &mut scene.random));
        assert_eq!(kind(refused), "Rejected");
        scene.accept(&frame).unwrap();
    }
}

#[test]
fn t22_a_record_signed_by_another_over_the_same_keys_is_another_session() {
    // Mallory signs a record with Bob's prekey in it and passes Alice's frame on to Bob.
    let ratchet = || PrekeySecrets {
        ratchet: secret(3),
        lattice: None,
    };
    let suites = [Suite::X25519.ids()];
    let terms = terms(&suites, Mode::Hedged, First::Deniable);
    let mallory = Responder::publish(identity("mallory"), &ratchet(), &terms).unwrap();
    let mut scene = Scene::hedged();
    scene.bob = Responder::publish(identity("bob"), &ratchet(), &terms).unwrap();
    let bundle = Bundle {
        record: mallory.record(),
        one_time: None,
    };
    let setting = setting(&scene.policy);
    let begun = scene
        .alice
        .initiate(&bundle, Handshake::X3dh, &setting, &mut scene.random);
    let mut one = begun.unwrap();
    let mut frame = scene.send(&mut one, b"hello");
    assert_eq!(kind(scene.accept(&frame)), "UnknownRecord");
    frame[2..18].copy_from_slice(scene.bob.record().id().as_bytes());
    assert_eq!(kind(scene.accept(&frame)), "Rejected");
}

#[test]
fn t23_frames_of_other_versions_and_every_shorter_one_are_refused() {
    let mut scene = Scene::hedged();
    let (mut one, mut other) = scene.acquainted();
    let frame = scene.send(&mut one, b"hello");
    for version in (0..=255).filter(|version| *version != 3) {
        let mut changed = frame.clone();
        changed[0] = version;
        assert_eq!(kind(other.receive(&changed, CONTEXT, NOW)), "Malformed");
    }
    for length in 0..frame.len() {
        assert!(other.receive(&frame[..length], CONTEXT, NOW).is_err());
    }
    receive(&mut other, &frame, b"hello");
}

#[test]
fn t31_a_frame_of_a_length_that_no_padding_makes_is_refused_unseen() {
    let mut scene = Scene::hedged();
    let (mut one, mut other) = scene.acquainted();
    let frame = scene.send(&mut one, b"hello");
    let before = hazmat::state(&other).unwrap().expose().to_vec();
    for more in 1..64 {
        let longer = [&frame[..], &vec![0; more]].concat();
        assert_eq!(kind(other.receive(&longer, CONTEXT, NOW)), "Malformed");
    }
    assert!(hazmat::state(&other).unwrap().expose() == before);
}

#[test]
fn t43_a_refused_or_too_long_message_costs_no_key() {
    let mut scene = Scene::hedged();
    let (mut one, mut other) = scene.acquainted();
    let before = hazmat::state(&one).unwrap().expose().to_vec();
    let content = vec![0; (16 << 20) + 1];
    let refused = one.send(&content, CONTEXT, NOW, &mut scene.random);
    assert_eq!(kind(refused), "TooLong");
    let refused = one.send(b"x", &vec![0; (16 << 10) + 1], NOW, &mut scene.random);
    assert_eq!(kind(refused), "TooLong");
    assert!(one.frame_len(5).is_ok());
    // The turn that was due may have been taken; the numbers have not moved.
    let frame = scene.send(&mut one, b"hello");
    receive(&mut other, &frame, b"hello");
    assert_eq!(other.stored_keys(), 0);
    drop(before);
}

#[test]
fn t48_whoever_has_all_that_is_public_begins_nothing_in_anothers_name() {
    // Mallory knows the record, Alice's card and every frame; he has keys of his own only.
    let mut scene = Scene::hedged();
    let mallory = identity("alice");
    let setting = setting(&scene.policy);
    for handshake in [Handshake::X3dh, Handshake::AuthPskPq] {
        let bundle = Bundle {
            record: scene.bob.record(),
            one_time: None,
        };
        let begun = mallory.initiate(&bundle, handshake, &setting, &mut scene.random);
        let mut begun: Session = begun.unwrap();
        let mut frame = begun
            .send(b"it is me", CONTEXT, NOW, &mut scene.random)
            .unwrap();
        let place = match handshake {
            Handshake::X3dh => 18,
            _ => 2 + 6 + 1 + 18 + 16,
        };
        let known = |id| {
            let card = scene.alice.card();
            (id == card.id()).then_some(Peer { card, psk: None })
        };
        let refused = scene
            .bob
            .accept(&frame, CONTEXT, &known, (&setting, &mut scene.random));
        assert_eq!(kind(refused), "UnknownSender");
        frame[place..place + 16].copy_from_slice(scene.alice.card().id().as_bytes());
        let refused = scene
            .bob
            .accept(&frame, CONTEXT, &known, (&setting, &mut scene.random));
        assert_eq!(kind(refused), "Rejected");
    }
}

#[test]
fn a_frame_names_the_record_it_was_made_for() {
    let mut scene = Scene::hedged();
    let one_time = scene.bob.one_time().unwrap();
    for (given, id) in [
        (None, scene.bob.record().id()),
        (Some(&one_time), one_time.id()),
    ] {
        for handshake in [Handshake::X3dh, Handshake::AuthPskPq] {
            let mut one = scene.initiate(handshake, given).unwrap();
            let frame = scene.send(&mut one, b"hello");
            assert_eq!(named_record(&frame).unwrap(), id);
        }
    }
    let mut other = Scene::hedged();
    let mut one = other.initiate(Handshake::X3dh, None).unwrap();
    let frame = other.send(&mut one, b"hello");
    assert_eq!(kind(scene.accept(&frame)), "UnknownRecord");
    let (mut one, _) = scene.acquainted();
    let frame = scene.send(&mut one, b"a later frame");
    assert!(scene.accept(&frame).is_err());
}

#[test]
fn other_curves_begin_by_a_psk_only() {
    let bob = Identity::generate(b"bob", Kem::P256HkdfSha256).unwrap();
    let suites = [Suite::P256.ids()];
    let secrets = PrekeySecrets {
        ratchet: Secret::from_fill(|key| key.fill(3)),
        lattice: None,
    };
    let terms = terms(&suites, Mode::Hedged, First::Signed);
    let mut scene = Scene::hedged();
    scene.bob = Responder::publish(bob, &secrets, &terms).unwrap();
    scene.alice = Identity::generate(b"alice", Kem::P256HkdfSha256).unwrap();
    assert!(Record::parse(scene.bob.record().as_bytes()).is_ok());
    for refused in [Handshake::X3dh, Handshake::AuthPskPq] {
        assert_eq!(kind(scene.initiate(refused, None)), "Handshake");
    }
    let mut one = scene.initiate(Handshake::AuthPsk(psk()), None).unwrap();
    let frame = scene.send(&mut one, b"hello");
    assert_eq!(
        scene.accept(&frame).unwrap().first.content.expose(),
        b"hello"
    );
    // An initiator with a key of another group.
    scene.alice = identity("alice");
    assert_eq!(
        kind(scene.initiate(Handshake::AuthPsk(psk()), None)),
        "Handshake"
    );
}

/// Elsewhere a build flag for fuzzing has turned tags and signatures into decoration.
#[test]
fn t25_no_build_flag_turns_a_check_off() {
    let mut folders = vec![keywright_vectors::repository().join("crates")];
    let (mut files, mut found) = (0, Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                files += 1;
                let flagged = |line: &str| {
                    let line = line.trim_start();
                    let asks = line.starts_with("#[cfg") || line.contains("cfg!(");
                    asks && ["fuzz", "insecure"].iter().any(|word| line.contains(word))
                };
                if text.lines().any(flagged) {
                    found.push(path);
                }
            }
        }
    }
    assert!(files > 100, "{files}");
    assert_eq!(found, Vec::<std::path::PathBuf>::new());
}
