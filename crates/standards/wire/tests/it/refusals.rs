//! Whatever is not the one spelling of a frame is refused, and parts that do not fit make none.

use keywright_wire::compat::{InitV2, decode_init_v2, encode_init_v2};
use keywright_wire::{
    Error, HeaderForm, InitFrame, InitHead, InitParts, ML_KEM_768_CIPHERTEXT_LEN, MessageFrame,
    Mode, Offer, RecordId, SenderKeyId, SuiteIds, padding,
};

const X25519: SuiteIds = SuiteIds::new(0x20, 1, 3);
const P256: SuiteIds = SuiteIds::new(0x10, 1, 2);
const X_WING: SuiteIds = SuiteIds::new(0x647a, 1, 3);
const SENDER: SenderKeyId = SenderKeyId::from_bytes([7; 16]);
const CIPHERTEXT: [u8; ML_KEM_768_CIPHERTEXT_LEN] = [9; ML_KEM_768_CIPHERTEXT_LEN];

fn parts(encapsulation: &[u8]) -> InitParts<'_> {
    InitParts {
        mode: Mode::Base,
        chosen: X25519,
        offer: Offer::new(&[X25519, X_WING]).unwrap(),
        record: RecordId::from_bytes([1; 16]),
        sender: None,
        encapsulation,
        kem_ciphertext: None,
    }
}

fn frame(mode: Mode) -> Vec<u8> {
    let parts = InitParts {
        mode,
        sender: mode.names_sender().then_some(SENDER),
        kem_ciphertext: mode.has_kem_ciphertext().then_some(&CIPHERTEXT),
        ..parts(&[2; 32])
    };
    let message = MessageFrame::new(HeaderForm::Fenced, &[3; 56], &[4; 128], &[5; 16]).unwrap();
    let mut out = Vec::new();
    InitFrame::new(InitHead::new(parts).unwrap(), message).encode_into(&mut out);
    out
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn parts_that_do_not_fit_together_make_no_head() {
    let good = parts(&[2; 32]);
    assert!(InitHead::new(good).is_ok());
    let auth = InitParts {
        mode: Mode::Auth,
        sender: Some(SENDER),
        ..good
    };
    assert!(InitHead::new(auth).is_ok());
    let pq = InitParts {
        mode: Mode::AuthPskPq,
        kem_ciphertext: Some(&CIPHERTEXT),
        ..auth
    };
    assert!(InitHead::new(pq).is_ok());
    let unknown = SuiteIds::new(0x20, 1, 9);
    let length = |expected, found| Error::EncapsulationLength { expected, found };
    let rows = [
        (
            InitParts {
                chosen: P256,
                ..good
            },
            Error::NotOffered(P256),
        ),
        (
            InitParts {
                chosen: unknown,
                offer: Offer::new(&[unknown]).unwrap(),
                ..good
            },
            Error::SuiteUnknown(unknown),
        ),
        (
            InitParts {
                encapsulation: &[2; 31],
                ..good
            },
            length(32, 31),
        ),
        (
            InitParts {
                encapsulation: &[2; 33],
                ..good
            },
            length(32, 33),
        ),
        (
            InitParts {
                encapsulation: &[],
                ..good
            },
            length(32, 0),
        ),
        (
            InitParts {
                chosen: X_WING,
                ..good
            },
            length(1120, 32),
        ),
        (
            InitParts {
                sender: Some(SENDER),
                ..good
            },
            Error::Sender,
        ),
        (
            InitParts {
                mode: Mode::Psk,
                sender: Some(SENDER),
                ..good
            },
            Error::Sender,
        ),
        (
            InitParts {
                sender: None,
                ..auth
            },
            Error::Sender,
        ),
        (
            InitParts {
                mode: Mode::AuthPsk,
                sender: None,
                ..auth
            },
            Error::Sender,
        ),
        (InitParts { sender: None, ..pq }, Error::Sender),
        (
            InitParts {
                kem_ciphertext: None,
                ..pq
            },
            Error::KemCiphertext,
        ),
        (
            InitParts {
                kem_ciphertext: Some(&CIPHERTEXT),
                ..good
            },
            Error::KemCiphertext,
        ),
        (
            InitParts {
                mode: Mode::AuthPsk,
                kem_ciphertext: Some(&CIPHERTEXT),
                ..auth
            },
            Error::KemCiphertext,
        ),
        (
            InitParts {
                chosen: X_WING,
                encapsulation: &[2; 1120],
                ..auth
            },
            Error::ModeForSuite(Mode::Auth),
        ),
        (
            InitParts {
                chosen: X_WING,
                encapsulation: &[2; 1120],
                ..pq
            },
            Error::ModeForSuite(Mode::AuthPskPq),
        ),
        (
            InitParts {
                chosen: P256,
                offer: Offer::new(&[P256]).unwrap(),
                encapsulation: &[2; 65],
                ..pq
            },
            Error::ModeForSuite(Mode::AuthPskPq),
        ),
    ];
    for (row, error) in rows {
        assert_eq!(InitHead::new(row), Err(error));
    }
}

#[test]
fn an_offer_has_one_to_eight_suites_and_none_twice() {
    let many: Vec<SuiteIds> = (0..9).map(|number| SuiteIds::new(number, 1, 1)).collect();
    for count in 1..=8 {
        assert_eq!(Offer::new(&many[..count]).unwrap().suites(), &many[..count]);
    }
    assert_eq!(Offer::new(&[]), Err(Error::OfferCount(0)));
    assert_eq!(Offer::new(&many), Err(Error::OfferCount(9)));
    assert_eq!(Offer::new(&vec![X25519; 300]), Err(Error::OfferCount(300)));
    assert_eq!(Offer::new(&[X25519, X25519]), Err(Error::OfferRepeats));
    assert_eq!(
        Offer::new(&[X25519, P256, X_WING, P256]),
        Err(Error::OfferRepeats)
    );
    let offer = Offer::new(&many[1..8]).unwrap();
    // What stands behind the last one is none of them.
    assert!(!offer.contains(SuiteIds::default()) && !offer.contains(many[8]));
}

#[test]
fn parts_of_a_wrong_length_make_no_message() {
    let build = |form, header: &[u8], body: &[u8]| {
        MessageFrame::new(form, header, body, &[0; 16]).map(|frame| frame.encoded_len())
    };
    assert_eq!(build(HeaderForm::Fenced, &[0; 56], &[0; 64]), Ok(137));
    assert_eq!(build(HeaderForm::Hedged, &[0; 64], &[0; 64]), Ok(145));
    for (form, length) in [
        (HeaderForm::Fenced, 64),
        (HeaderForm::Fenced, 40),
        (HeaderForm::Hedged, 56),
        (HeaderForm::Hedged, 0),
    ] {
        let wrong = Error::HeaderLength {
            expected: form.len(),
            found: length,
        };
        assert_eq!(build(form, &vec![0; length], &[0; 64]), Err(wrong));
    }
    for length in [0, 1, 63, 65, 100, 257, 1000, 1025] {
        let wrong = Err(Error::BodyLength(length));
        assert_eq!(build(HeaderForm::Fenced, &[0; 56], &vec![0; length]), wrong);
    }
}

#[test]
fn t23_every_other_version_and_every_shorter_frame_is_refused() {
    for mode in Mode::ALL {
        let good = frame(mode);
        assert!(InitFrame::parse(&good, HeaderForm::Fenced).is_ok());
        let message = 1 + 56 + 128 + 16;
        for version in (0..=255).filter(|version| *version != 3) {
            for at in [0, good.len() - message] {
                let mut other = good.clone();
                other[at] = version;
                assert_eq!(
                    InitFrame::parse(&other, HeaderForm::Fenced),
                    Err(Error::Version(version))
                );
                let message = MessageFrame::parse(&other[at..], HeaderForm::Fenced);
                assert!(at == 0 || message == Err(Error::Version(version)));
            }
        }
        for length in 0..good.len() {
            // Cut by 64 the message is a whole one with a shorter body: its tag will not fit.
            let cut = InitFrame::parse(&good[..length], HeaderForm::Fenced);
            assert_eq!(cut.is_ok(), length == good.len() - 64, "{mode:?} {length}");
        }
    }
}

#[test]
fn t30_bytes_behind_a_frame_are_refused() {
    for mode in Mode::ALL {
        for more in (1..=128).filter(|more| *more != 64 && *more != 128) {
            let mut longer = frame(mode);
            longer.resize(longer.len() + more, 0);
            assert!(
                InitFrame::parse(&longer, HeaderForm::Fenced).is_err(),
                "{mode:?} {more}"
            );
        }
    }
}

#[test]
fn a_message_is_never_read_with_the_other_header() {
    for content in [0, 100, 200, 255, 300, 5000, 1 << 20] {
        for (form, other) in [
            (HeaderForm::Fenced, HeaderForm::Hedged),
            (HeaderForm::Hedged, HeaderForm::Fenced),
        ] {
            let (header, body) = (
                vec![1; form.len()],
                vec![2; padding::padded_len(content).unwrap()],
            );
            let mut bytes = Vec::new();
            MessageFrame::new(form, &header, &body, &[3; 16])
                .unwrap()
                .encode_into(&mut bytes);
            assert_eq!(Ok(bytes.len()), MessageFrame::len_for(form, content));
            assert!(MessageFrame::parse(&bytes, form).is_ok());
            assert!(matches!(
                MessageFrame::parse(&bytes, other),
                Err(Error::BodyLength(_))
            ));
        }
    }
}

#[test]
fn the_old_frame_is_read_and_written_as_it_was_and_without_bytes_behind_it() {
    let mut bytes = Vec::new();
    let frame = InitV2 {
        suite: 1,
        encapsulation: &[7; 32],
        binder: &[9; 32],
    };
    encode_init_v2(&frame, &mut bytes).unwrap();
    let wanted = [&[1, 1, 32, 0, 0, 0][..], &[7; 32], &[9; 32]].concat();
    assert_eq!((bytes.len(), &bytes), (70, &wanted));
    assert_eq!(decode_init_v2(&bytes), Ok(frame));
    bytes.push(0);
    assert_eq!(decode_init_v2(&bytes), Err(Error::Trailing(1)));
    let long = InitV2 {
        encapsulation: &[0; 2049],
        ..frame
    };
    let mut out = vec![1];
    assert!(matches!(
        encode_init_v2(&long, &mut out),
        Err(Error::EncapsulationLength { .. })
    ));
    assert_eq!(out, [1]);
}
