//! Keys, points, pre-shared keys, empty inputs, randomness.

use std::collections::HashSet;

use keywright_hpke::{
    Aad, Error, Info, Initiator, Kdf, Kem, Mode, Psk, PskSecret, PublicKey, RecipientMode, Sealed,
    SenderMode, Suite, TAG_LEN, hazmat,
};

use crate::scene::{admitted, dh_kems, key, of_kem, pair};

/// The points of small order of Curve25519 and of its twist, as they are published with RFC 7748's
/// discussion, and the same values with the bit set that the function ignores.
fn small_order() -> Vec<[u8; 32]> {
    let points = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ];
    let mut all = Vec::new();
    for point in points {
        let mut point: [u8; 32] = keywright_encoding::hex::decode_array(point).unwrap();
        all.push(point);
        point[31] |= 0x80;
        all.push(point);
    }
    all
}

#[test]
fn t02_no_point_of_small_order_makes_a_secret() {
    let suite = admitted(Suite::X25519);
    let (recipient, sender) = (key(Kem::X25519HkdfSha256, 1), key(Kem::X25519HkdfSha256, 2));
    let wing = key(Kem::XWingDraft, 1);
    let to_wing = admitted(Suite::X_WING_DRAFT);
    for point in small_order() {
        let low = PublicKey::from_bytes(Kem::X25519HkdfSha256, &point).unwrap();
        // pkR, alone and with a sender.
        for mode in [SenderMode::Base, SenderMode::AuthRfc9180(&sender)] {
            let to = suite.initiator(&low, mode, Info(b"")).unwrap();
            assert_eq!(to.initiate().err(), Some(Error::KeyAgreement));
            assert_eq!(to.initiate_exporter().err(), Some(Error::KeyAgreement));
        }
        // enc
        let from = suite
            .acceptor(&recipient, RecipientMode::Base, Info(b""))
            .unwrap();
        assert_eq!(from.accept(&point).err(), Some(Error::Rejected));
        assert_eq!(from.accept_exporter(&point).err(), Some(Error::Rejected));
        // pkS
        let mode = RecipientMode::AuthRfc9180(&low);
        let from = suite.acceptor(&recipient, mode, Info(b"")).unwrap();
        let good = key(Kem::X25519HkdfSha256, 3);
        let good = good.public_key().as_bytes();
        assert_eq!(from.accept(good).err(), Some(Error::Rejected));
        // X-Wing: the curve's part of enc, and of pkR.
        let initiator = to_wing.initiator(wing.public_key(), SenderMode::Base, Info(b""));
        let (enc, _) = initiator.unwrap().initiate().unwrap();
        let mut enc = enc.as_bytes().to_vec();
        enc[1088..].copy_from_slice(&point);
        let from = to_wing
            .acceptor(&wing, RecipientMode::Base, Info(b""))
            .unwrap();
        assert_eq!(from.accept(&enc).err(), Some(Error::Rejected));
        let mut public = wing.public_key().as_bytes().to_vec();
        public[1184..].copy_from_slice(&point);
        let low = PublicKey::from_bytes(Kem::XWingDraft, &public).unwrap();
        let to = to_wing
            .initiator(&low, SenderMode::Base, Info(b""))
            .unwrap();
        assert_eq!(to.initiate().err(), Some(Error::KeyAgreement));
    }
}

#[test]
fn t06_a_weak_or_half_psk_is_refused() {
    let new = |secret, id| Psk::new(PskSecret(secret), id).err();
    assert_eq!(new(&[1; 31], b"id"), Some(Error::PskTooShort));
    assert_eq!(new(&[1; 32], b"id"), None);
    assert_eq!(new(&[1; 32], b""), Some(Error::PskInconsistent));
    assert_eq!(new(b"", b"id"), Some(Error::PskInconsistent));
    let inconsistent = Err(Error::PskInconsistent);
    let inputs: [(&[u8], &[u8]); 4] =
        [(b"", b""), (&[1; 32], b"id"), (&[1; 32], b""), (b"", b"id")];
    for mode in [Mode::Base, Mode::Psk, Mode::AuthRfc9180, Mode::AuthPsk] {
        let with = matches!(mode, Mode::Psk | Mode::AuthPsk);
        let decided = inputs.map(|(secret, id)| {
            Psk::for_mode(mode, PskSecret(secret), id).map(|psk| psk.is_some())
        });
        let expected = if with {
            [inconsistent, Ok(true), inconsistent, inconsistent]
        } else {
            [Ok(false), inconsistent, inconsistent, inconsistent]
        };
        assert_eq!(decided, expected, "{mode:?}");
    }
    assert_eq!(Mode::from_id(4), None);
}

#[test]
fn t08_empty_and_zero_inputs_are_themselves() {
    for kdf in Kdf::ALL {
        let suite = Suite {
            kdf: *kdf,
            ..Suite::X25519
        };
        let recipient = key(suite.kem, 1);
        let suite = admitted(suite);
        let mut exports = HashSet::new();
        let psk = |secret, id| Psk::new(PskSecret(secret), id).unwrap();
        let modes = [
            SenderMode::Base,
            SenderMode::Psk(psk(&[0; 32], b"\0")),
            SenderMode::Psk(psk(&[0; 33], b"\0")),
            SenderMode::Psk(psk(&[0; 32], b"\0\0")),
        ];
        for mode in modes {
            for info in [&b""[..], b"\0", b"\0\0", &[0; 64], &[0; 128]] {
                let to = suite
                    .initiator(recipient.public_key(), mode, Info(info))
                    .unwrap();
                let (_, mut sender) = hazmat::initiate_with(&to, &[9; 32]).unwrap();
                for context in [&b""[..], b"\0", b"\0\0"] {
                    let export = sender.exporter().export::<32>(context).unwrap();
                    assert!(
                        exports.insert(*export.expose()),
                        "two inputs gave one secret"
                    );
                }
                for aad in [&b""[..], b"\0", b"\0\0"] {
                    for text in [&b""[..], b"\0", &[0; 100]] {
                        let sealed = sender.seal(Aad(aad), text).unwrap();
                        assert_eq!(sealed.len(), text.len() + TAG_LEN);
                    }
                }
            }
        }
        assert_eq!(exports.len(), 4 * 5 * 3);
    }
}

#[test]
fn t09_keys_that_are_not_reduced_are_refused_and_changed_encapsulations_open_nothing() {
    for kem in [Kem::MlKem768Draft, Kem::MlKem1024Draft, Kem::XWingDraft] {
        let recipient = key(kem, 1);
        let mut public = recipient.public_key().as_bytes().to_vec();
        // The first coefficient becomes 4095, which is above q = 3329.
        public[0] = 0xFF;
        public[1] |= 0x0F;
        assert_eq!(
            PublicKey::from_bytes(kem, &public).err(),
            Some(Error::KeyRejected)
        );
        let suite = admitted(of_kem(kem));
        let to = suite
            .initiator(recipient.public_key(), SenderMode::Base, Info(b""))
            .unwrap();
        let from = suite
            .acceptor(&recipient, RecipientMode::Base, Info(b""))
            .unwrap();
        let (enc, sealed) = to.seal(Aad(b""), b"text").unwrap();
        for place in (0..enc.as_bytes().len()).step_by(97) {
            let mut changed = enc.as_bytes().to_vec();
            changed[place] ^= 0x10;
            let changed = Sealed {
                enc: &changed,
                aad: Aad(b""),
                ciphertext: &sealed,
            };
            assert_eq!(from.open(changed), Err(Error::Rejected), "{kem} {place}");
        }
    }
}

#[test]
fn t23_a_shorter_tag_is_refused() {
    let (_, mut sender, mut recipient) = pair(Suite::X25519, &key(Kem::X25519HkdfSha256, 1), b"");
    let sealed = sender.seal(Aad(b""), b"").unwrap();
    for length in 0..sealed.len() {
        assert_eq!(
            recipient.open(Aad(b""), &sealed[..length]),
            Err(Error::Rejected)
        );
    }
    assert_eq!(recipient.open(Aad(b""), &sealed).unwrap(), b"");
}

#[test]
fn t46_every_context_and_every_recipient_has_an_ephemeral_of_its_own() {
    let mut seen = HashSet::new();
    let recipients: Vec<_> = (0..4)
        .map(|number| key(Kem::X25519HkdfSha256, number))
        .collect();
    let suite = admitted(Suite::X25519);
    let to: Vec<Initiator<'_>> = recipients
        .iter()
        .map(|key| {
            suite
                .initiator(key.public_key(), SenderMode::Base, Info(b""))
                .unwrap()
        })
        .collect();
    for _ in 0..2_500 {
        for (enc, sealed) in Initiator::seal_to_each(&to, Aad(b""), b"to all").unwrap() {
            assert!(
                seen.insert(enc.as_bytes().to_vec()),
                "an ephemeral key twice"
            );
            assert!(seen.insert(sealed), "a ciphertext twice");
        }
    }
    for kem in Kem::ALL {
        let recipient = key(*kem, 1);
        let suite = admitted(of_kem(*kem));
        let to = suite
            .initiator(recipient.public_key(), SenderMode::Base, Info(b""))
            .unwrap();
        for _ in 0..50 {
            let (enc, _) = to.initiate().unwrap();
            assert!(seen.insert(enc.as_bytes().to_vec()), "{kem}");
        }
    }
}

#[test]
#[ignore = "a million ephemeral keys: minutes without optimisation"]
fn t46_a_million_seals_to_one_recipient_have_an_ephemeral_each() {
    let suite = admitted(Suite::X25519);
    let recipient = key(Kem::X25519HkdfSha256, 1);
    let to = suite
        .initiator(recipient.public_key(), SenderMode::Base, Info(b""))
        .unwrap();
    let mut seen = HashSet::with_capacity(1_000_000);
    for _ in 0..1_000_000 {
        let (enc, _) = to.initiate().unwrap();
        let enc: [u8; 32] = enc.as_bytes().try_into().unwrap();
        assert!(seen.insert(enc), "an ephemeral key twice");
    }
}

#[test]
fn t46_one_recipient_that_cannot_be_reached_stops_all() {
    let suite = admitted(Suite::X25519);
    let good = key(Kem::X25519HkdfSha256, 1);
    let low = PublicKey::from_bytes(Kem::X25519HkdfSha256, &[0; 32]).unwrap();
    let to = [good.public_key(), &low]
        .map(|to| suite.initiator(to, SenderMode::Base, Info(b"")).unwrap());
    let refused = Initiator::seal_to_each(&to, Aad(b""), b"to all");
    assert_eq!(refused.err(), Some(Error::KeyAgreement));
}

#[test]
fn t48_what_is_public_opens_nothing() {
    for kem in dh_kems() {
        let (recipient, sender, thief) = (key(kem, 1), key(kem, 2), key(kem, 3));
        let suite = admitted(of_kem(kem));
        let psk = Psk::new(PskSecret(&[7; 32]), b"id").unwrap();
        let guessed = Psk::new(PskSecret(&[8; 32]), b"id").unwrap();
        let sending = [
            SenderMode::Base,
            SenderMode::Psk(psk),
            SenderMode::AuthRfc9180(&sender),
            SenderMode::AuthPsk(&sender, psk),
        ];
        let public = sender.public_key();
        let stolen = [
            RecipientMode::Base,
            RecipientMode::Psk(guessed),
            RecipientMode::AuthRfc9180(public),
            RecipientMode::AuthPsk(public, guessed),
        ];
        for (ours, theirs) in sending.into_iter().zip(stolen) {
            let to = suite
                .initiator(recipient.public_key(), ours, Info(b""))
                .unwrap();
            let (enc, sealed) = to.seal(Aad(b""), b"secret").unwrap();
            let sealed = Sealed {
                enc: enc.as_bytes(),
                aad: Aad(b""),
                ciphertext: &sealed,
            };
            let from = suite.acceptor(&thief, theirs, Info(b"")).unwrap();
            assert_eq!(from.open(sealed), Err(Error::Rejected), "{kem}");
            // The pre-shared key alone does not open either, nor the private key without it.
            let needs_psk = theirs.psk().is_some();
            let from = suite.acceptor(&recipient, theirs, Info(b"")).unwrap();
            assert_eq!(from.open(sealed).is_err(), needs_psk, "{kem}");
        }
    }
}
