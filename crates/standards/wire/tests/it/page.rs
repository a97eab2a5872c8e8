//! The worked examples of `docs/formats.md`.

use keywright_encoding::hex;
use keywright_wire::{
    HeaderForm, InitFrame, InitHead, InitParts, MessageFrame, Mode, Offer, RecordId, SuiteIds,
    padding,
};

const PAGE: &str = include_str!("../../../../../docs/formats.md");

fn worked(name: &str) -> Vec<u8> {
    let found = PAGE.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == name).then(|| value.trim())
    });
    hex::decode(found.unwrap_or_else(|| panic!("{name} is not on the page"))).unwrap()
}

#[test]
fn worked_frames_are_those_of_the_page() {
    let mut padded = Vec::new();
    padding::pad_into(b"hello", &mut padded).unwrap();
    assert_eq!(padded, worked("padded-hello"));
    let chosen = SuiteIds::new(0x20, 1, 3);
    let head = InitHead::new(InitParts {
        mode: Mode::Base,
        chosen,
        offer: Offer::new(&[chosen, SuiteIds::new(0x647a, 1, 3)]).unwrap(),
        record: RecordId::from_bytes([0x11; 16]),
        sender: None,
        encapsulation: &[0x33; 32],
        kem_ciphertext: None,
    });
    let message = MessageFrame::new(HeaderForm::Fenced, &[0x44; 56], &[0x55; 64], &[0x66; 16]);
    let frame = InitFrame::new(head.unwrap(), message.unwrap());
    let mut bytes = Vec::new();
    frame.encode_into(&mut bytes);
    assert_eq!(bytes, worked("first-frame"));
    assert_eq!(InitFrame::parse(&bytes, HeaderForm::Fenced), Ok(frame));
}
