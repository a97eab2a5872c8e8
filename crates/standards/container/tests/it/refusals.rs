//! What must not open, and what must not be written.

use keywright_container::{
    DataKey, Error, FileHeader, MAX_SLOTS, SLOT_LIMIT, Slot, rewrite_slots, seal,
};
use keywright_envelope::{Aad, Binding};
use keywright_password::{Cost, Limits, Profile};
use keywright_primitives::random::RandomStream;
use keywright_secret::Secret;
use keywright_types::{DataKeyId, Kind, SlotType};

use crate::scene::{
    CHUNK, envelope_slot, key, opened, opened_with_password, password, password_slot, sealed, text,
    wrapping,
};

#[test]
fn either_slot_opens_the_file_and_progress_ends_at_its_length() {
    let key = key(1);
    let slots = [envelope_slot(&key, 3), password_slot(&key, "pass")];
    for length in [0, 1, CHUNK, 1 << 20, (1 << 20) + 1, 3 << 20] {
        let text = text(length);
        let (mut file, mut seen) = (Vec::new(), Vec::new());
        let mut progress = |done| seen.push(done);
        let total = seal(
            &mut &text[..],
            &mut file,
            &key,
            &slots,
            &Aad::EMPTY,
            &mut progress,
        )
        .unwrap();
        assert_eq!(total, u64::try_from(length).unwrap());
        assert_eq!(seen.last(), Some(&total));
        assert!(seen.is_sorted());
        assert!(opened_with_password(&file, "pass").unwrap() == text);
        let (header, _) = FileHeader::parse(&file).unwrap();
        let by_key = header
            .open_with_key(&wrapping(3, Kind::Key).1, &Aad::EMPTY)
            .unwrap();
        assert!(opened(&file, &by_key, &Aad::EMPTY).unwrap() == text);
    }
}

#[test]
fn one_slot_gives_the_promised_letters_in_base64() {
    let key = key(1);
    let file = sealed(&key, &[envelope_slot(&key, 1)], b"");
    assert!(keywright_encoding::base64::encode(&file).starts_with("KWF1"));
}

#[test]
fn a_bit_flipped_in_any_byte_does_not_open() {
    let key = key(1);
    let good = sealed(&key, &[password_slot(&key, "pass")], b"some text");
    // Flips that raise the container's costs within the standard limits would only take time.
    let most = Cost {
        memory_kib: 64,
        passes: 3,
        lanes: 3,
    };
    let limits = Limits::standard().with_most(most, 64);
    let open = |file: &[u8]| {
        let (header, _) = FileHeader::parse(file)?;
        let (key, _) = header.open_with_password(&password("pass"), &limits)?;
        opened(file, &key, &Aad::EMPTY)
    };
    assert!(open(&good).is_ok());
    for bit in 0..good.len() * 8 {
        let mut changed = good.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(open(&changed).is_err(), "bit {bit}");
    }
}

#[test]
fn a_cut_at_any_place_and_anything_after_the_end_is_refused() {
    let key = key(1);
    let good = sealed(&key, &[envelope_slot(&key, 1)], b"some text");
    for length in 0..good.len() {
        assert!(
            opened(&good[..length], &key, &Aad::EMPTY).is_err(),
            "{length}"
        );
    }
    for tail in [&[0][..], &[0; 16], &good] {
        assert!(opened(&[&good[..], tail].concat(), &key, &Aad::EMPTY).is_err());
    }
    let long = sealed(&key, &[envelope_slot(&key, 1)], &text(2 * CHUNK));
    assert!(opened(&long, &key, &Aad::EMPTY).is_ok());
    for cut in [1, 16, 17, CHUNK, CHUNK + 16, CHUNK + 32] {
        let refused = opened(&long[..long.len() - cut], &key, &Aad::EMPTY);
        assert!(matches!(refused, Err(Error::Rejected)), "{cut}");
    }
}

#[test]
fn slots_of_two_files_exchanged_open_neither() {
    let (one, two) = (key(1), key(2));
    let files = [&one, &two].map(|key| sealed(key, &[password_slot(key, "pass")], b"text"));
    let (header, length) = FileHeader::parse(&files[0]).unwrap();
    assert_eq!(header.data_key(), one.id());
    let slots = length - 26 - 56;
    let mixed = [&files[0][..slots], &files[1][slots..]].concat();
    assert!(matches!(
        opened_with_password(&mixed, "pass"),
        Err(Error::Rejected)
    ));
    let mixed = [&files[1][..slots], &files[0][slots..]].concat();
    assert!(matches!(
        opened_with_password(&mixed, "pass"),
        Err(Error::Rejected)
    ));
    // Nor does another key under the same id, or the right one under another.
    let same_id = DataKey::new(one.id(), Secret::copy_from(two.secret().expose()).unwrap());
    for wrong in [&two, &same_id] {
        assert!(matches!(
            opened(&files[0], wrong, &Aad::EMPTY),
            Err(Error::Rejected)
        ));
    }
}

#[test]
fn other_associated_data_does_not_open() {
    let key = key(1);
    let good = sealed(&key, &[envelope_slot(&key, 1)], b"text");
    let other = Aad::EMPTY.caller(b"x").unwrap();
    assert!(matches!(opened(&good, &key, &other), Err(Error::Rejected)));
}

#[test]
fn limits_of_slots_hold_when_writing_and_when_reading() {
    let key = key(1);
    let slot = |length| Slot::from_parts(SlotType::Hpke, vec![0; length], key.id());
    assert!(slot(SLOT_LIMIT).is_ok());
    assert!(matches!(
        slot(SLOT_LIMIT + 1),
        Err(Error::SlotTooLong(4097))
    ));
    let write = |slots: &[Slot]| {
        let mut out = Vec::new();
        let written = seal(
            &mut &b"x"[..],
            &mut out,
            &key,
            slots,
            &Aad::EMPTY,
            &mut |_| (),
        );
        assert!(
            written.is_ok() || out.is_empty(),
            "nothing is written before the check"
        );
        written.map(|_| out)
    };
    assert!(matches!(write(&[]), Err(Error::SlotCount(0))));
    let many = vec![slot(1).unwrap(); MAX_SLOTS];
    let file = write(&many).unwrap();
    assert_eq!(FileHeader::parse(&file).unwrap().0.slots().len(), MAX_SLOTS);
    let more = vec![slot(1).unwrap(); MAX_SLOTS + 1];
    assert!(matches!(write(&more), Err(Error::SlotCount(256))));
    let foreign = Slot::from_parts(SlotType::Hpke, vec![], DataKeyId::from_bytes([9; 16]));
    assert!(matches!(
        write(&[foreign.unwrap()]),
        Err(Error::SlotOfAnotherKey)
    ));

    let good = write(&[slot(16).unwrap()]).unwrap();
    let mut long = good.clone();
    long[5..9].copy_from_slice(&4097_u32.to_be_bytes());
    assert!(matches!(FileHeader::parse(&long), Err(Error::Malformed)));
    for unknown in [0, 4, 255] {
        let mut changed = good.clone();
        changed[4] = unknown;
        assert!(
            matches!(FileHeader::parse(&changed), Err(Error::Malformed)),
            "{unknown}"
        );
    }
    let mut none = good;
    none[3] = 0;
    assert!(matches!(FileHeader::parse(&none), Err(Error::Malformed)));
}

#[test]
fn a_slot_of_type_3_without_a_suite_is_kept_and_passed_over() {
    let key = key(1);
    let hpke = Slot::from_parts(SlotType::Hpke, b"kept".to_vec(), key.id());
    let file = sealed(&key, &[hpke.unwrap(), password_slot(&key, "pass")], b"text");
    let (header, _) = FileHeader::parse(&file).unwrap();
    assert_eq!(header.slots()[0].content(), b"kept");
    let tried = header.slots()[0].open_password(&password("pass"), &Limits::standard());
    assert!(matches!(tried, Err(Error::NoSlot)));
    assert_eq!(opened_with_password(&file, "pass").unwrap(), b"text");
}

#[test]
fn a_key_for_messages_makes_no_slot_and_opens_none() {
    let key = key(1);
    let (sealing, opening) = wrapping(1, Kind::Message);
    let mut random = RandomStream::new().unwrap();
    let made = Slot::envelope(&key, &sealing, Binding::None, &Aad::EMPTY, &mut random);
    assert!(matches!(made, Err(Error::SlotKeyKind)));
    let mut content = Vec::new();
    let bytes = key.to_bytes();
    sealing
        .seal_into(
            Binding::None,
            &Aad::EMPTY,
            bytes.expose(),
            &mut random,
            &mut content,
        )
        .unwrap();
    let slot = Slot::from_parts(SlotType::Envelope, content, key.id()).unwrap();
    assert!(matches!(
        slot.open_envelope(&opening, &Aad::EMPTY),
        Err(Error::Rejected)
    ));
}

#[test]
fn the_second_of_two_passwords_opens_and_a_wrong_one_does_not() {
    let key = key(1);
    let slots = [password_slot(&key, "one"), password_slot(&key, "two")];
    let file = sealed(&key, &slots, b"text");
    assert!(opened_with_password(&file, "one").is_ok());
    assert!(opened_with_password(&file, "two").is_ok());
    assert!(matches!(
        opened_with_password(&file, "three"),
        Err(Error::Rejected)
    ));
    // A file cannot make one guess cost two hundred derivations.
    let mut many = vec![password_slot(&key, "one"); 200];
    many.push(password_slot(&key, "two"));
    assert!(opened_with_password(&sealed(&key, &many, b"text"), "two").is_err());
}

/// Nothing that saves takes a password, so Argon2 runs once for an open file and never for a save.
#[test]
fn a_file_opened_once_is_saved_any_number_of_times_without_its_password() {
    let made = key(1);
    let first = sealed(&made, &[password_slot(&made, "pass")], b"first");
    let (header, _) = FileHeader::parse(&first).unwrap();
    let opened = header.open_with_password(&password("pass"), &Limits::standard());
    let (key, _) = opened.unwrap();
    let mut saves = Vec::new();
    for number in 0..100_u8 {
        let (mut file, text) = (Vec::new(), [number; 100]);
        let slots = header.slots();
        let sealed = seal(
            &mut &text[..],
            &mut file,
            &key,
            slots,
            &Aad::EMPTY,
            &mut |_| (),
        );
        assert_eq!(sealed.unwrap(), 100);
        let (again, _) = FileHeader::parse(&file).unwrap();
        assert_eq!(again.slots(), slots);
        saves.push(file);
    }
    for (number, file) in saves.iter().enumerate().step_by(33) {
        let text = opened_with_password(file, "pass").unwrap();
        assert!(text.iter().all(|byte| usize::from(*byte) == number));
        assert!(opened_with_password(file, "pas").is_err());
    }
}

#[test]
fn rewritten_slots_leave_the_stream_as_it_was() {
    let key = key(1);
    let text = text(CHUNK + 7);
    let old = sealed(&key, &[password_slot(&key, "old")], &text);
    let mut random = RandomStream::new().unwrap();
    let fast = Slot::password(&key, &password("new"), Profile::Fast, &mut random).unwrap();
    let mut new = Vec::new();
    let slots = [envelope_slot(&key, 8), fast];
    let copied = rewrite_slots(&mut &old[..], &mut new, &slots).unwrap();
    assert_eq!(copied, u64::try_from(text.len() + 32).unwrap());
    let tail = text.len() + 32 + 26 + 56;
    assert_eq!(new[new.len() - tail..], old[old.len() - tail..]);
    assert!(opened_with_password(&new, "new").unwrap() == text);
    assert!(matches!(
        opened_with_password(&new, "old"),
        Err(Error::Rejected)
    ));
    let mut out = Vec::new();
    let foreign = [envelope_slot(&self::key(2), 1)];
    let refused = rewrite_slots(&mut &old[..], &mut out, &foreign);
    assert!(matches!(refused, Err(Error::SlotOfAnotherKey)));
    assert!(rewrite_slots(&mut &b"no file"[..], &mut out, &slots).is_err());
    assert!(out.is_empty());
}

#[test]
fn debug_shows_no_byte_of_the_key() {
    let shown = format!("{:?}", key(0xEE));
    assert!(
        shown.contains("Secret<32>") && !shown.contains("238, 238"),
        "{shown}"
    );
}

/// Two data keys of one id, known to whoever makes the file: each chunk fits the one, the commitment the
/// other. Neither opens it, so no file has two contents.
#[test]
fn t27_a_stream_that_fits_without_its_commitment_is_refused() {
    let text = text(1_000);
    let keys = [1, 2].map(|byte| {
        let secret = Secret::copy_from(&[byte; 32]).unwrap();
        DataKey::new(DataKeyId::from_bytes([7; 16]), secret)
    });
    let files = keys
        .each_ref()
        .map(|key| sealed(key, &[envelope_slot(key, 1)], &text));
    // The last of a file: commitment, the one chunk, its tag.
    let commitment = |file: &[u8]| {
        let start = file.len() - 16 - text.len() - 32;
        start..start + 32
    };
    for (own, other) in [(0, 1), (1, 0)] {
        let mut file = files[own].clone();
        assert_eq!(opened(&file, &keys[own], &Aad::EMPTY).unwrap(), text);
        file[commitment(&files[own])].copy_from_slice(&files[other][commitment(&files[other])]);
        for key in &keys {
            let refused = opened(&file, key, &Aad::EMPTY);
            assert!(matches!(refused, Err(Error::Rejected)), "{refused:?}");
        }
        file[commitment(&files[own])].copy_from_slice(&files[own][commitment(&files[own])]);
        assert_eq!(opened(&file, &keys[own], &Aad::EMPTY).unwrap(), text);
    }
}
