//! Counters, exports, replays, buffers.

use std::time::Duration;

use keywright_clock::{Clock, WallTime};
use keywright_hpke::replay::{Guard, Refused};
use keywright_hpke::response::Request;
use keywright_hpke::{
    Aad, Aead, Error, Info, Kdf, Kem, RecipientMode, SenderMode, Suite, TAG_LEN, hazmat,
};

use crate::scene::{admitted, key, pair};

#[test]
fn t01_the_sequence_number_never_wraps() {
    for aead in [Aead::Aes128Gcm, Aead::Aes256Gcm, Aead::ChaCha20Poly1305] {
        let suite = Suite {
            aead,
            ..Suite::X25519
        };
        let (_, mut sender, mut recipient) = pair(suite, &key(suite.kem, 1), b"");
        hazmat::set_sender_sequence(&mut sender, u64::MAX - 1);
        hazmat::set_recipient_sequence(&mut recipient, u64::MAX - 1);
        let last = sender.seal(Aad(b""), b"last").unwrap();
        for _ in 0..3 {
            let mut out = [7; 20];
            let refused = sender.seal_into(Aad(b""), b"next", &mut out);
            assert_eq!(refused, Err(Error::MessageLimit));
            assert_eq!(out, [7; 20], "nothing is written");
        }
        assert_eq!(recipient.open(Aad(b""), &last).unwrap(), b"last");
        assert_eq!(recipient.open(Aad(b""), &last), Err(Error::MessageLimit));
        // Exports have no number.
        assert!(sender.exporter().export::<32>(b"still").is_ok());
    }
}

#[test]
fn t03_an_export_at_its_limit_works_and_beyond_is_refused() {
    for (kdf, limit) in [
        (Kdf::HkdfSha256, 255 * 32),
        (Kdf::HkdfSha384, 255 * 48),
        (Kdf::HkdfSha512, 255 * 64),
        (Kdf::Shake128Draft, 0xFFFF),
        (Kdf::Shake256Draft, 0xFFFF),
    ] {
        let suite = Suite {
            kdf,
            ..Suite::X25519
        };
        let (_, sender, recipient) = pair(suite, &key(suite.kem, 1), b"");
        let (mut ours, mut theirs) = (vec![0; limit], vec![1; limit]);
        sender.exporter().export_into(b"c", &mut ours).unwrap();
        recipient.exporter().export_into(b"c", &mut theirs).unwrap();
        assert_eq!(ours, theirs);
        assert!(ours[limit - 32..].iter().any(|byte| *byte != 0));
        let mut beyond = vec![9; limit + 1];
        let refused = sender.exporter().export_into(b"c", &mut beyond);
        assert_eq!(refused, Err(Error::ExportLength));
        assert!(beyond.iter().all(|byte| *byte == 9), "nothing is cut");
    }
}

#[test]
fn t03_an_export_only_suite_has_no_context_that_seals() {
    let recipient = key(Kem::X25519HkdfSha256, 1);
    for kdf in Kdf::ALL {
        let suite = Suite {
            kdf: *kdf,
            aead: Aead::ExportOnly,
            ..Suite::X25519
        };
        let suite = admitted(suite);
        let to = suite
            .initiator(recipient.public_key(), SenderMode::Base, Info(b""))
            .unwrap();
        let from = suite
            .acceptor(&recipient, RecipientMode::Base, Info(b""))
            .unwrap();
        assert_eq!(to.initiate().err(), Some(Error::ExportOnly));
        assert_eq!(to.seal(Aad(b""), b"text").err(), Some(Error::ExportOnly));
        let (enc, ours) = to.initiate_exporter().unwrap();
        assert_eq!(from.accept(enc.as_bytes()).err(), Some(Error::ExportOnly));
        let theirs = from.accept_exporter(enc.as_bytes()).unwrap();
        let (ours, theirs) = (
            ours.export::<32>(b"c").unwrap(),
            theirs.export(b"c").unwrap(),
        );
        assert!(ours.ct_eq(&theirs));
    }
}

#[test]
fn t04_a_message_that_does_not_open_leaves_the_counter() {
    let suite = Suite::P256;
    let (_, mut sender, mut recipient) = pair(suite, &key(suite.kem, 1), b"");
    for round in 0..20_u8 {
        let genuine = sender.seal(Aad(&[round]), b"genuine").unwrap();
        for garbage in [&b""[..], &[0; 15], &[0; 16], &[round; 23], &genuine[1..]] {
            assert_eq!(recipient.open(Aad(&[round]), garbage), Err(Error::Rejected));
        }
        assert_eq!(
            recipient.open(Aad(b"other"), &genuine),
            Err(Error::Rejected)
        );
        assert_eq!(recipient.open(Aad(&[round]), &genuine).unwrap(), b"genuine");
        assert_eq!(
            recipient.open(Aad(&[round]), &genuine),
            Err(Error::Rejected)
        );
    }
}

#[test]
fn t05_a_replayed_encapsulation_is_refused_by_the_guard() {
    let (clock, hand) = Clock::simulated(WallTime::from_unix_nanos(1 << 60));
    let mut guard = Guard::new(3, Duration::from_secs(160));
    let sent = clock.wall();
    assert_eq!(guard.admit(b"one", sent, clock.wall()), Ok(()));
    assert_eq!(
        guard.admit(b"one", sent, clock.wall()),
        Err(Refused::Repeated)
    );
    // Another time beside the same encapsulation is the same message.
    let later = sent.plus(Duration::from_secs(5));
    assert_eq!(
        guard.admit(b"one", later, clock.wall()),
        Err(Refused::Repeated)
    );
    let future = sent.plus(Duration::from_secs(11));
    assert_eq!(
        guard.admit(b"two", future, clock.wall()),
        Err(Refused::FromFuture)
    );
    assert_eq!(guard.admit(b"two", later, clock.wall()), Ok(()));
    assert_eq!(guard.admit(b"three", sent, clock.wall()), Ok(()));
    assert_eq!(guard.admit(b"four", sent, clock.wall()), Err(Refused::Full));
    hand.advance(Duration::from_secs(159));
    assert_eq!(
        guard.admit(b"one", sent, clock.wall()),
        Err(Refused::Repeated)
    );
    hand.advance(Duration::from_secs(1));
    assert_eq!(
        guard.admit(b"one", sent, clock.wall()),
        Err(Refused::Expired)
    );
    assert_eq!(guard.len(), 1, "what is too old is forgotten");
    assert_eq!(
        guard.admit(b"two", later, clock.wall()),
        Err(Refused::Repeated)
    );
    assert_eq!(guard.admit(b"four", clock.wall(), clock.wall()), Ok(()));
}

#[test]
fn t05_two_answers_to_one_message_have_nothing_in_common() {
    let recipient = key(Kem::X25519HkdfSha256, 1);
    for aead in [Aead::Aes128Gcm, Aead::Aes256Gcm, Aead::ChaCha20Poly1305] {
        let suite = Suite {
            aead,
            ..Suite::X25519
        };
        let (enc, sender, receiver) = pair(suite, &recipient, b"");
        let request = Request {
            enc: enc.as_bytes(),
            aad: Aad(b"aad"),
        };
        let one = receiver.respond(request, b"the same").unwrap();
        let two = receiver.respond(request, b"the same").unwrap();
        assert_ne!(one[..32], two[..32]);
        assert_ne!(one[32..], two[32..]);
        for answer in [&one, &two] {
            assert_eq!(sender.open_response(request, answer).unwrap(), b"the same");
        }
        // A replayed message is answered again, and its answer has a nonce of its own.
        let other_enc = Request {
            enc: b"another",
            ..request
        };
        let other_aad = Request {
            aad: Aad(b"aae"),
            ..request
        };
        for wrong in [other_enc, other_aad] {
            assert_eq!(sender.open_response(wrong, &one), Err(Error::Rejected));
        }
        for bit in 0..one.len() * 8 {
            let mut changed = one.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(
                sender.open_response(request, &changed),
                Err(Error::Rejected)
            );
        }
        for short in 0..one.len() {
            assert_eq!(
                sender.open_response(request, &one[..short]),
                Err(Error::Rejected)
            );
        }
        let (_, stranger, _) = pair(suite, &recipient, b"");
        assert_eq!(stranger.open_response(request, &one), Err(Error::Rejected));
    }
}

#[test]
fn t26_a_refused_message_leaves_zeros() {
    for aead in [Aead::Aes128Gcm, Aead::Aes256Gcm, Aead::ChaCha20Poly1305] {
        let suite = Suite {
            aead,
            ..Suite::P256
        };
        let recipient = key(suite.kem, 1);
        let (_, mut sender, mut receiver) = pair(suite, &recipient, b"");
        let mut sealed = sender.seal(Aad(b""), &[0x42; 4096]).unwrap();
        *sealed.last_mut().unwrap() ^= 1;
        let mut out = vec![0xA5; 4096];
        let refused = receiver.open_into(Aad(b""), &sealed, &mut out);
        assert_eq!(refused, Err(Error::Rejected));
        assert!(out.iter().all(|byte| *byte == 0));
    }
}

#[test]
fn t43_a_small_buffer_changes_nothing() {
    let (_, mut sender, mut recipient) = pair(Suite::P256, &key(Kem::P256HkdfSha256, 1), b"");
    let text = b"twelve bytes";
    for length in 0..text.len() + TAG_LEN {
        let mut out = vec![3; length];
        let needed = text.len() + TAG_LEN;
        let refused = sender.seal_into(Aad(b""), text, &mut out);
        assert_eq!(refused, Err(Error::BufferTooSmall { needed }));
        assert!(out.iter().all(|byte| *byte == 3));
    }
    let mut sealed = vec![3; 64];
    let written = sender.seal_into(Aad(b""), text, &mut sealed).unwrap();
    assert!(
        sealed[written..].iter().all(|byte| *byte == 3),
        "no more than said"
    );
    for length in 0..text.len() {
        let mut out = vec![3; length];
        let refused = recipient.open_into(Aad(b""), &sealed[..written], &mut out);
        assert_eq!(refused, Err(Error::BufferTooSmall { needed: text.len() }));
    }
    let mut out = [3; 64];
    let opened = recipient.open_into(Aad(b""), &sealed[..written], &mut out);
    assert_eq!(opened, Ok(text.len()), "it was still the first message");
    assert_eq!(&out[..text.len()], text);
}
