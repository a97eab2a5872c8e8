//! Slot 3: every recipient opens, nobody else does, and what is no such slot is refused.

use keywright_container::{DataKey, Error, FileHeader, SLOT_LIMIT, Slot, fuzzing};
use keywright_envelope::Aad;
use keywright_hpke::{Aead, Kdf, Kem, Policy, PrivateKey, Suite};
use keywright_secret::Secret;
use keywright_types::{DataKeyId, Kind, SlotType};

use crate::scene::{
    CHUNK, envelope_slot, key, opened, opened_with_password, password_slot, sealed, text, wrapping,
};

fn slot(key: &DataKey, to: &PrivateKey, suite: Suite) -> Slot {
    let policy = Policy::of(&[suite]);
    Slot::hpke(key, to.public_key(), policy.admit(suite).unwrap()).unwrap()
}

fn x25519() -> PrivateKey {
    PrivateKey::generate(Kem::X25519HkdfSha256).unwrap()
}

fn opened_with(file: &[u8], by: &PrivateKey) -> Result<Vec<u8>, Error> {
    let (header, _) = FileHeader::parse(file)?;
    let key = header.open_with_private_key(by, &Policy::default())?;
    opened(file, &key, &Aad::EMPTY)
}

fn changed(slot: &Slot, change: impl FnOnce(&mut Vec<u8>)) -> Slot {
    let mut content = slot.content().to_vec();
    change(&mut content);
    Slot::from_parts(SlotType::Hpke, content, slot.data_key()).unwrap()
}

#[test]
fn each_of_several_recipients_opens_and_so_do_key_and_password_beside_them() {
    let key = key(1);
    let mut slots = vec![envelope_slot(&key, 1), password_slot(&key, "pass")];
    let mut recipients = Vec::new();
    for suite in Policy::default().suites().iter().cycle().take(6) {
        let recipient = PrivateKey::generate(suite.kem).unwrap();
        slots.push(slot(&key, &recipient, *suite));
        recipients.push(recipient);
    }
    for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, (3 << 20) + 5] {
        let text = text(length);
        let file = sealed(&key, &slots, &text);
        for recipient in &recipients {
            assert!(opened_with(&file, recipient).unwrap() == text, "{length}");
        }
        assert!(opened_with_password(&file, "pass").unwrap() == text);
    }
    let (header, _) = FileHeader::parse(&sealed(&key, &slots, b"")).unwrap();
    for recipient in &recipients {
        let yielded = header.open_with_private_key(recipient, &Policy::default());
        assert!(yielded.unwrap().to_bytes().ct_eq(&key.to_bytes()));
    }
}

#[test]
fn every_suite_that_seals_makes_a_slot_of_its_length_within_the_limit() {
    let key = key(1);
    for suite in Suite::all().filter(|suite| suite.aead != Aead::ExportOnly) {
        let recipient = PrivateKey::generate(suite.kem).unwrap();
        let made = slot(&key, &recipient, suite);
        assert_eq!(made.content().len(), 6 + suite.kem.enc_len() + 48 + 16);
        assert!(made.content().len() <= SLOT_LIMIT);
        assert_eq!((made.suite(), made.kind()), (Some(suite), SlotType::Hpke));
        let yielded = made.open_hpke(&recipient, &Policy::of(&[suite])).unwrap();
        assert!(yielded.to_bytes().ct_eq(&key.to_bytes()), "{suite}");
    }
}

#[test]
fn two_slots_for_one_recipient_have_nothing_in_common_but_the_suite() {
    let (key, recipient) = (key(1), x25519());
    let [one, two] = [(); 2].map(|()| slot(&key, &recipient, Suite::X25519));
    assert_eq!(one.content()[..6], two.content()[..6]);
    assert_ne!(one.content()[6..38], two.content()[6..38]);
    assert_ne!(one.content()[38..], two.content()[38..]);
}

#[test]
fn another_key_of_the_same_kind_is_rejected_and_one_of_another_kind_finds_no_slot() {
    let (key, recipient) = (key(1), x25519());
    let file = sealed(&key, &[slot(&key, &recipient, Suite::X25519)], b"text");
    assert!(opened_with(&file, &recipient).is_ok());
    for _ in 0..8 {
        assert!(matches!(
            opened_with(&file, &x25519()),
            Err(Error::Rejected)
        ));
    }
    for kem in [Kem::XWingDraft, Kem::P256HkdfSha256, Kem::MlKem768Draft] {
        let other = PrivateKey::generate(kem).unwrap();
        assert!(
            matches!(opened_with(&file, &other), Err(Error::NoSlot)),
            "{kem}"
        );
    }
    let without = sealed(&key, &[envelope_slot(&key, 1)], b"text");
    assert!(matches!(
        opened_with(&without, &recipient),
        Err(Error::NoSlot)
    ));
}

#[test]
fn a_slot_is_opened_by_its_own_sort_of_key_alone() {
    let (key, recipient) = (key(1), x25519());
    let hpke = slot(&key, &recipient, Suite::X25519);
    let (_, opening) = wrapping(1, Kind::Key);
    let tried = hpke.open_envelope(&opening, &Aad::EMPTY);
    assert!(matches!(tried, Err(Error::NoSlot)));
    for other in [envelope_slot(&key, 1), password_slot(&key, "pass")] {
        let tried = other.open_hpke(&recipient, &Policy::default());
        assert!(matches!(tried, Err(Error::NoSlot)));
        assert_eq!(other.suite(), None);
    }
}

#[test]
fn a_bit_flipped_in_any_byte_of_the_slot_does_not_open() {
    let key = key(1);
    for suite in [Suite::X25519, Suite::P256] {
        let recipient = PrivateKey::generate(suite.kem).unwrap();
        let good = slot(&key, &recipient, suite);
        for bit in 0..good.content().len() * 8 {
            let bad = changed(&good, |content| content[bit / 8] ^= 1 << (bit % 8));
            let tried = bad.open_hpke(&recipient, &Policy::default());
            // X25519 ignores the highest bit of a point, and HPKE has what was sent in its keys.
            assert!(tried.is_err(), "{suite}, bit {bit}");
        }
    }
    let recipient = PrivateKey::generate(Kem::XWingDraft).unwrap();
    let good = slot(&key, &recipient, Suite::X_WING_DRAFT);
    for byte in (0..good.content().len()).step_by(7) {
        let bad = changed(&good, |content| content[byte] ^= 0x10);
        assert!(
            bad.open_hpke(&recipient, &Policy::default()).is_err(),
            "{byte}"
        );
    }
}

#[test]
fn every_other_length_of_a_slot_is_malformed() {
    let (key, recipient) = (key(1), x25519());
    let good = slot(&key, &recipient, Suite::X25519);
    let policy = Policy::default();
    for length in 0..good.content().len() {
        let cut = changed(&good, |content| content.truncate(length));
        assert!(
            matches!(cut.open_hpke(&recipient, &policy), Err(Error::Malformed)),
            "{length}"
        );
    }
    for more in [1, 16, 48] {
        let long = changed(&good, |content| content.resize(content.len() + more, 0));
        assert!(
            matches!(long.open_hpke(&recipient, &policy), Err(Error::Malformed)),
            "{more}"
        );
    }
}

#[test]
fn a_cut_at_any_place_of_a_file_with_two_recipients_is_refused() {
    let (key, one, two) = (key(1), x25519(), x25519());
    let slots = [&one, &two].map(|to| slot(&key, to, Suite::X25519));
    let good = sealed(&key, &slots, b"some text");
    for length in 0..good.len() {
        assert!(opened_with(&good[..length], &two).is_err(), "{length}");
    }
    assert!(opened_with(&[&good[..], &[0]].concat(), &two).is_err());
}

#[test]
fn suites_that_are_unknown_or_not_admitted_open_nothing_and_hide_no_other_slot() {
    let (key, recipient) = (key(1), x25519());
    let good = slot(&key, &recipient, Suite::X25519);
    let policy = Policy::default();
    for (at, byte) in [(0, 1), (1, 0x21), (1, 0), (3, 9), (5, 0), (5, 9)] {
        let unknown = changed(&good, |content| content[at] = byte);
        assert_eq!(unknown.suite(), None);
        let tried = unknown.open_hpke(&recipient, &policy);
        assert!(matches!(tried, Err(Error::Malformed)), "{at} {byte}");
        // A reader that knows less skips what is not for it.
        let file = sealed(&key, &[unknown.clone(), good.clone()], b"text");
        assert_eq!(opened_with(&file, &recipient).unwrap(), b"text");
        let alone = sealed(&key, &[unknown], b"text");
        assert!(matches!(
            opened_with(&alone, &recipient),
            Err(Error::NoSlot)
        ));
    }
    let rare = Suite {
        kdf: Kdf::HkdfSha512,
        ..Suite::X25519
    };
    let rare = slot(&key, &recipient, rare);
    let refused = rare.open_hpke(&recipient, &policy);
    let named = matches!(
        refused,
        Err(Error::Hpke(keywright_hpke::Error::SuiteRefused))
    );
    assert!(named, "{refused:?}");
    let export = changed(&good, |content| content[4..6].fill(0xFF));
    assert!(export.open_hpke(&recipient, &policy).is_err());
    let both = sealed(&key, &[rare, export, good], b"text");
    assert_eq!(opened_with(&both, &recipient).unwrap(), b"text");
}

#[test]
fn a_slot_of_another_file_is_rejected_though_it_opens() {
    let (one, two, recipient) = (key(1), key(2), x25519());
    let foreign = slot(&two, &recipient, Suite::X25519);
    let forged = Slot::from_parts(SlotType::Hpke, foreign.content().to_vec(), one.id()).unwrap();
    let file = sealed(&one, &[forged], b"text");
    assert!(matches!(
        opened_with(&file, &recipient),
        Err(Error::Rejected)
    ));
    // The right id with another secret opens the slot, and then no chunk.
    let same_id = DataKey::new(one.id(), Secret::copy_from(two.secret().expose()).unwrap());
    let file = sealed(&one, &[slot(&same_id, &recipient, Suite::X25519)], b"text");
    assert!(matches!(
        opened_with(&file, &recipient),
        Err(Error::Rejected)
    ));
}

#[test]
fn keys_and_suites_that_do_not_fit_make_no_slot() {
    let (key, recipient) = (key(1), x25519());
    let admitted = |suite| Policy::of(&[suite]).admit(suite).unwrap();
    let refused = Slot::hpke(&key, recipient.public_key(), admitted(Suite::P256));
    assert!(matches!(
        refused,
        Err(Error::Hpke(keywright_hpke::Error::KeyMismatch))
    ));
    let export = Suite {
        aead: Aead::ExportOnly,
        ..Suite::X25519
    };
    let refused = Slot::hpke(&key, recipient.public_key(), admitted(export));
    assert!(matches!(
        refused,
        Err(Error::Hpke(keywright_hpke::Error::ExportOnly))
    ));
    let small = keywright_hpke::PublicKey::from_bytes(Kem::X25519HkdfSha256, &[0; 32]).unwrap();
    let refused = Slot::hpke(&key, &small, admitted(Suite::X25519));
    assert!(matches!(
        refused,
        Err(Error::Hpke(keywright_hpke::Error::KeyAgreement))
    ));
}

#[test]
fn the_body_of_the_fuzz_target_reaches_slots_of_its_own_recipient() {
    let secret = Secret::copy_from(&fuzzing::SECRET).unwrap();
    let key = DataKey::new(DataKeyId::from_bytes([1; 16]), secret);
    let recipient = fuzzing::recipient().unwrap();
    let file = sealed(&key, &[slot(&key, &recipient, Suite::X25519)], b"text");
    fuzzing::file(&file);
    assert_eq!(opened_with(&file, &recipient).unwrap(), b"text");
}
