//! The first frame that begins with prekeys: one spelling, and never read as the other first frame.

use keywright_wire::{
    Error, HeaderForm, InitHead, MessageFrame, Mode, PrekeyHead, RecordId, SenderKeyId,
};

pub(crate) fn prekey_frame(kem_ciphertext: Option<&[u8; 1088]>) -> Vec<u8> {
    let head = PrekeyHead {
        record: RecordId::from_bytes([1; 16]),
        sender: SenderKeyId::from_bytes([2; 16]),
        ephemeral: &[3; 32],
        kem_ciphertext,
    };
    let mut out = Vec::new();
    head.encode_into(&mut out);
    assert_eq!(out.len(), head.encoded_len());
    let message = MessageFrame::new(HeaderForm::Fenced, &[4; 56], &[5; 64], &[6; 16]).unwrap();
    message.encode_into(&mut out);
    out
}

#[test]
fn a_head_is_what_its_layout_says() {
    let bytes = prekey_frame(None);
    let wanted = [&[3, 16][..], &[1; 16], &[2; 16], &[3; 32]].concat();
    assert_eq!(bytes[..66], wanted);
    let bytes = prekey_frame(Some(&[7; 1088]));
    assert_eq!((bytes[1], &bytes[66..66 + 1088]), (17, &[7; 1088][..]));
    let (head, rest) = PrekeyHead::parse_prefix(&bytes).unwrap();
    assert_eq!(head.kem_ciphertext, Some(&[7; 1088]));
    assert_eq!((head.mode_number(), rest.len()), (17, 1 + 56 + 64 + 16));
    assert!(MessageFrame::parse(rest, HeaderForm::Fenced).is_ok());
}

#[test]
fn neither_first_frame_is_read_as_the_other() {
    for bytes in [prekey_frame(None), prekey_frame(Some(&[7; 1088]))] {
        assert!(PrekeyHead::is_ahead(&bytes));
        let refused = InitHead::parse_prefix(&bytes).err();
        assert_eq!(refused, Some(Error::ModeUnknown(bytes[1])));
    }
    for mode in Mode::ALL {
        let bytes = [3, mode.number()];
        assert!(!PrekeyHead::is_ahead(&bytes));
        let refused = PrekeyHead::parse_prefix(&bytes).err();
        assert_eq!(refused, Some(Error::ModeUnknown(mode.number())));
    }
}

#[test]
fn other_versions_other_modes_and_every_shorter_head_are_refused() {
    let bytes = prekey_frame(Some(&[7; 1088]));
    for length in 0..66 + 1088 {
        let refused = PrekeyHead::parse_prefix(&bytes[..length]).err();
        assert_eq!(refused, Some(Error::Truncated), "{length}");
    }
    for number in 0..=255 {
        let mut changed = bytes.clone();
        changed[0] = number;
        assert_eq!(PrekeyHead::parse_prefix(&changed).is_ok(), number == 3);
        let mut changed = bytes.clone();
        changed[1] = number;
        let read = PrekeyHead::parse_prefix(&changed).is_ok();
        assert_eq!(read, matches!(number, 16 | 17), "{number}");
    }
}
