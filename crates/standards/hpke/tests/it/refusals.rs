//! What does not fit is refused before anything is computed, and what is changed does not open.

use keywright_hpke::{
    Aad, Aead, Error, Info, Input, Kdf, Kem, Limits, Policy, PrivateKey, Psk, PskSecret, PublicKey,
    RecipientMode, Sealed, SenderMode, Suite,
};
use keywright_secret::SecretBytes;

use crate::scene::{admitted, dh_kems, everything, key, of_kem, pair};

#[test]
fn the_default_policy_admits_three_suites() {
    let policy = Policy::default();
    let admitted: Vec<Suite> = Suite::all()
        .filter(|suite| policy.admit(*suite).is_ok())
        .collect();
    let mut three = [Suite::X_WING_DRAFT, Suite::X25519, Suite::P256];
    three.sort();
    assert_eq!(admitted.len(), 3);
    assert!(three.iter().all(|suite| admitted.contains(suite)));
    assert_eq!(
        policy.admit_ids([0x20, 1, 3]).unwrap().suite(),
        Suite::X25519
    );
    assert_eq!(
        policy.admit_ids([0x20, 1, 1]).err(),
        Some(Error::SuiteRefused)
    );
    assert_eq!(
        policy.admit_ids([0x21, 1, 3]).err(),
        Some(Error::SuiteUnknown)
    );
    assert_eq!(
        Policy::of(&[]).admit(Suite::X25519).err(),
        Some(Error::SuiteRefused)
    );
}

#[test]
fn keys_of_another_kem_are_refused() {
    for one in Kem::ALL {
        let suite = admitted(of_kem(*one));
        for other in Kem::ALL.iter().filter(|other| *other != one) {
            let (own, foreign) = (key(*one, 1), key(*other, 1));
            let to = suite.initiator(foreign.public_key(), SenderMode::Base, Info(b""));
            assert_eq!(to.err(), Some(Error::KeyMismatch));
            let from = suite.acceptor(&foreign, RecipientMode::Base, Info(b""));
            assert_eq!(from.err(), Some(Error::KeyMismatch));
            let refused = if one.authenticates() {
                Error::KeyMismatch
            } else {
                Error::ModeUnsupported
            };
            let mode = SenderMode::AuthRfc9180(&foreign);
            let to = suite.initiator(own.public_key(), mode, Info(b""));
            assert_eq!(to.err(), Some(refused));
            let mode = RecipientMode::AuthRfc9180(foreign.public_key());
            assert_eq!(suite.acceptor(&own, mode, Info(b"")).err(), Some(refused));
        }
    }
}

#[test]
fn the_drafts_have_no_sender_authentication() {
    for kem in [Kem::MlKem768Draft, Kem::MlKem1024Draft, Kem::XWingDraft] {
        let (recipient, sender) = (key(kem, 1), key(kem, 2));
        let suite = admitted(of_kem(kem));
        let psk = Psk::new(PskSecret(&[1; 32]), b"id").unwrap();
        for mode in [
            SenderMode::AuthRfc9180(&sender),
            SenderMode::AuthPsk(&sender, psk),
        ] {
            let to = suite.initiator(recipient.public_key(), mode, Info(b""));
            assert_eq!(to.err(), Some(Error::ModeUnsupported));
        }
        let public = sender.public_key();
        for mode in [
            RecipientMode::AuthRfc9180(public),
            RecipientMode::AuthPsk(public, psk),
        ] {
            let from = suite.acceptor(&recipient, mode, Info(b""));
            assert_eq!(from.err(), Some(Error::ModeUnsupported));
        }
    }
}

#[test]
fn keys_and_encapsulations_of_another_length_are_refused() {
    for kem in Kem::ALL {
        let recipient = key(*kem, 1);
        let public = recipient.public_key().as_bytes();
        let private = recipient.to_bytes().unwrap();
        let longer = |bytes: &[u8]| [bytes, &[0]].concat();
        for wrong in [
            &b""[..],
            &public[1..],
            &public[..public.len() - 1],
            &longer(public),
        ] {
            let refused = PublicKey::from_bytes(*kem, wrong).err();
            assert_eq!(refused, Some(Error::KeyRejected), "{kem}");
        }
        for wrong in [&b""[..], &private.expose()[1..], &longer(private.expose())] {
            let wrong = SecretBytes::from_vec(wrong.to_vec());
            let refused = PrivateKey::from_bytes(*kem, &wrong).err();
            assert_eq!(refused, Some(Error::KeyRejected), "{kem}");
        }
        let short = SecretBytes::from_vec(vec![1; kem.private_key_len() - 1]);
        assert_eq!(
            PrivateKey::derive(*kem, &short).err(),
            Some(Error::IkmLength)
        );
        let (enc, ..) = pair(of_kem(*kem), &recipient, b"");
        let enc = enc.as_bytes();
        assert_eq!(enc.len(), kem.enc_len());
        let from = admitted(of_kem(*kem));
        let from = from
            .acceptor(&recipient, RecipientMode::Base, Info(b""))
            .unwrap();
        for wrong in [&b""[..], &enc[1..], &enc[..enc.len() - 1], &longer(enc)] {
            assert_eq!(from.accept(wrong).err(), Some(Error::Rejected), "{kem}");
        }
    }
}

#[test]
fn points_that_are_compressed_hybrid_or_off_the_curve_are_refused() {
    for kem in dh_kems().filter(|kem| *kem != Kem::X25519HkdfSha256) {
        let recipient = key(kem, 1);
        let point = recipient.public_key().as_bytes();
        let half = point.len() / 2 + 1;
        let compressed = [&[2 | point[point.len() - 1] & 1], &point[1..half]].concat();
        let hybrid = [&[6 | point[point.len() - 1] & 1], &point[1..]].concat();
        let mut off = point.to_vec();
        *off.last_mut().unwrap() ^= 1;
        let infinity = vec![0; point.len()];
        let beyond = [&[4][..], &vec![0xFF; point.len() - 1]].concat();
        let suite = admitted(of_kem(kem));
        let from = suite
            .acceptor(&recipient, RecipientMode::Base, Info(b""))
            .unwrap();
        for wrong in [&compressed, &hybrid, &off, &infinity, &beyond, &vec![0]] {
            assert_eq!(
                PublicKey::from_bytes(kem, wrong).err(),
                Some(Error::KeyRejected)
            );
            assert_eq!(from.accept(wrong).err(), Some(Error::Rejected));
        }
        for scalar in [0, 0xFF] {
            let scalar = SecretBytes::from_vec(vec![scalar; kem.private_key_len()]);
            let refused = PrivateKey::from_bytes(kem, &scalar).err();
            assert_eq!(refused, Some(Error::KeyRejected), "{kem}");
        }
    }
}

#[test]
fn inputs_beyond_their_limits_are_refused_and_at_them_taken() {
    let recipient = key(Kem::X25519HkdfSha256, 1);
    let suite = admitted(Suite::X25519);
    assert_eq!(suite.limits(), Limits::INTEROPERABLE);
    let to = |info: usize, psk: usize, id: usize| {
        let (info, psk, id) = (vec![1; info], vec![1; psk], vec![1; id]);
        let psk = SenderMode::Psk(Psk::new(PskSecret(&psk), &id).unwrap());
        let to = suite.initiator(recipient.public_key(), psk, Info(&info));
        to.map(|_| ()).err()
    };
    assert_eq!(to(1024, 66, 66), None);
    assert_eq!(to(1025, 66, 66), Some(Error::TooLong(Input::Info)));
    assert_eq!(to(1024, 67, 66), Some(Error::TooLong(Input::Psk)));
    assert_eq!(to(1024, 66, 67), Some(Error::TooLong(Input::PskId)));
    let (_, sender, _) = pair(Suite::X25519, &recipient, b"");
    assert!(sender.exporter().export::<32>(&[1; 66]).is_ok());
    let refused = sender.exporter().export::<32>(&[1; 67]).err();
    assert_eq!(refused, Some(Error::TooLong(Input::ExporterContext)));

    let wide = everything().with_limits(Limits {
        info: usize::MAX,
        ..Limits::WIDEST
    });
    for kdf in Kdf::ALL {
        let suite = wide
            .admit(Suite {
                kdf: *kdf,
                ..Suite::X25519
            })
            .unwrap();
        assert_eq!(suite.limits(), Limits::WIDEST);
        let most = vec![1; 0xFFFF];
        let to = suite
            .initiator(recipient.public_key(), SenderMode::Base, Info(&most))
            .unwrap();
        assert!(to.initiate().is_ok());
        let more = vec![1; 0x1_0000];
        let to = suite.initiator(recipient.public_key(), SenderMode::Base, Info(&more));
        assert_eq!(to.err(), Some(Error::TooLong(Input::Info)));
    }
}

#[test]
fn a_change_anywhere_does_not_open() {
    for suite in [Suite::X25519, Suite::P256, Suite::X_WING_DRAFT] {
        let recipient = key(suite.kem, 1);
        let policy = Policy::default();
        let admitted = policy.admit(suite).unwrap();
        let to = admitted.initiator(recipient.public_key(), SenderMode::Base, Info(b"info"));
        let (enc, ciphertext) = to.unwrap().seal(Aad(b"aad"), b"text").unwrap();
        let enc = enc.as_bytes();
        let from = admitted
            .acceptor(&recipient, RecipientMode::Base, Info(b"info"))
            .unwrap();
        let genuine = Sealed {
            enc,
            aad: Aad(b"aad"),
            ciphertext: &ciphertext,
        };
        assert_eq!(from.open(genuine).unwrap(), b"text");
        for bit in 0..ciphertext.len() * 8 {
            let mut changed = ciphertext.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let changed = Sealed {
                ciphertext: &changed,
                ..genuine
            };
            assert_eq!(from.open(changed), Err(Error::Rejected));
        }
        for byte in (0..enc.len()).step_by(enc.len() / 32) {
            let mut changed = enc.to_vec();
            changed[byte] ^= 1;
            let changed = Sealed {
                enc: &changed,
                ..genuine
            };
            assert_eq!(from.open(changed), Err(Error::Rejected), "{suite} {byte}");
        }
        let other = Sealed {
            aad: Aad(b"aae"),
            ..genuine
        };
        assert_eq!(from.open(other), Err(Error::Rejected));
        let other = admitted
            .acceptor(&recipient, RecipientMode::Base, Info(b"inf0"))
            .unwrap();
        assert_eq!(other.open(genuine), Err(Error::Rejected));
        let stranger = key(suite.kem, 2);
        let other = admitted
            .acceptor(&stranger, RecipientMode::Base, Info(b"info"))
            .unwrap();
        assert_eq!(other.open(genuine), Err(Error::Rejected));
    }
}

#[test]
fn another_suite_or_mode_of_the_same_key_does_not_open() {
    let (recipient, sender) = (key(Kem::X25519HkdfSha256, 1), key(Kem::X25519HkdfSha256, 2));
    let psk = Psk::new(PskSecret(&[1; 32]), b"id").unwrap();
    let to = admitted(Suite::X25519);
    let to = to
        .initiator(recipient.public_key(), SenderMode::Base, Info(b""))
        .unwrap();
    let (enc, ciphertext) = to.seal(Aad(b""), b"text").unwrap();
    let sealed = Sealed {
        enc: enc.as_bytes(),
        aad: Aad(b""),
        ciphertext: &ciphertext,
    };
    let mut refused = 0;
    for suite in Suite::all().filter(|suite| suite.kem == Kem::X25519HkdfSha256) {
        let modes = [
            RecipientMode::Base,
            RecipientMode::Psk(psk),
            RecipientMode::AuthRfc9180(sender.public_key()),
            RecipientMode::AuthPsk(sender.public_key(), psk),
        ];
        for mode in modes {
            let from = admitted(suite)
                .acceptor(&recipient, mode, Info(b""))
                .unwrap();
            let expected = if suite.aead == Aead::ExportOnly {
                Err(Error::ExportOnly)
            } else if suite == Suite::X25519 && matches!(mode, RecipientMode::Base) {
                Ok(b"text".to_vec())
            } else {
                Err(Error::Rejected)
            };
            refused += usize::from(expected.is_err());
            assert_eq!(from.open(sealed), expected, "{suite} {mode:?}");
        }
    }
    assert_eq!(refused, 5 * 4 * 4 - 1);
}

#[test]
fn a_batch_answers_as_single_messages_do() {
    let recipient = key(Kem::P256HkdfSha256, 1);
    let suite = admitted(Suite::P256);
    let to = suite
        .initiator(recipient.public_key(), SenderMode::Base, Info(b""))
        .unwrap();
    let from = suite
        .acceptor(&recipient, RecipientMode::Base, Info(b""))
        .unwrap();
    let made: Vec<_> = (0..20_u8)
        .map(|number| to.seal(Aad(&[number]), &[number; 9]).unwrap())
        .collect();
    let aads: Vec<[u8; 1]> = (0..20)
        .map(|number| [if number % 5 == 0 { 99 } else { number }])
        .collect();
    let messages: Vec<Sealed<'_>> = made
        .iter()
        .zip(&aads)
        .enumerate()
        .map(|(index, ((enc, ciphertext), aad))| Sealed {
            enc: if index % 7 == 3 {
                &[4; 65]
            } else {
                enc.as_bytes()
            },
            aad: Aad(aad),
            ciphertext: if index % 11 == 5 {
                &ciphertext[..8]
            } else {
                ciphertext
            },
        })
        .collect();
    let batch = from.open_batch(&messages);
    let single: Vec<_> = messages.iter().map(|message| from.open(*message)).collect();
    assert_eq!(batch, single);
    let opened = batch.iter().filter(|one| one.is_ok()).count();
    assert!(opened > 10 && opened < 20, "{opened}");
    assert!(from.open_batch(&[]).is_empty());
}

#[test]
fn single_messages_into_buffers_are_those_without() {
    let recipient = key(Kem::X25519HkdfSha256, 1);
    let suite = admitted(Suite::X25519);
    let to = suite
        .initiator(recipient.public_key(), SenderMode::Base, Info(b""))
        .unwrap();
    let from = suite
        .acceptor(&recipient, RecipientMode::Base, Info(b""))
        .unwrap();
    let mut sealed = [0; 64];
    let refused = to.seal_into(Aad(b""), &[7; 49], &mut sealed).err();
    assert_eq!(refused, Some(Error::BufferTooSmall { needed: 65 }));
    let (enc, written) = to.seal_into(Aad(b""), b"text", &mut sealed).unwrap();
    let message = Sealed {
        enc: enc.as_bytes(),
        aad: Aad(b""),
        ciphertext: &sealed[..written],
    };
    assert_eq!(from.open(message).unwrap(), b"text");
    let mut out = [5; 8];
    assert_eq!(from.open_into(message, &mut out), Ok(4));
    assert_eq!(out, *b"text\x05\x05\x05\x05");
    let refused = from.open_into(message, &mut out[..3]);
    assert_eq!(refused, Err(Error::BufferTooSmall { needed: 4 }));
    let bad = Sealed {
        enc: &[0; 32],
        ..message
    };
    assert_eq!(from.open_into(bad, &mut out), Err(Error::Rejected));
    assert_eq!(out, [0; 8]);
}

#[test]
fn nothing_secret_is_printed() {
    let recipient = key(Kem::X25519HkdfSha256, 1);
    let psk = Psk::new(PskSecret(b"a secret of more than 32 bytes, yes"), b"id").unwrap();
    let (enc, sender, receiver) = pair(Suite::X25519, &recipient, b"");
    let printed = format!(
        "{recipient:?} {:?} {psk:?} {sender:?} {receiver:?} {:?} {enc:?} {:?}",
        recipient.public_key(),
        sender.exporter(),
        SenderMode::AuthPsk(&recipient, psk),
    );
    assert_eq!(
        printed,
        "PrivateKey(DHKEM(X25519, HKDF-SHA256)) PublicKey(DHKEM(X25519, HKDF-SHA256)) Psk \
         Sender(DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, ChaCha20Poly1305) \
         Recipient(DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, ChaCha20Poly1305) \
         Exporter(DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, ChaCha20Poly1305) Enc(32) \
         AuthPsk(PrivateKey(DHKEM(X25519, HKDF-SHA256)), Psk)"
    );
    assert_eq!(format!("{:?}", PskSecret(b"x")), "PskSecret");
}
