//! Operations in pieces give what operations in one piece give.

use keywright_pkcs11::{
    Error, Hash, KeyPlan, Mechanism, ObjectHandle, Purpose, SecretKind, Session,
};
use keywright_tokens::on_each;

use crate::scene::{self, sealed, signed};

const AES: SecretKind = SecretKind::Aes { len: 32 };

fn key(session: &Session, kind: SecretKind, purpose: Purpose) -> ObjectHandle {
    let plan = KeyPlan::new(purpose).in_session();
    session.generate_secret(kind, &plan).unwrap()
}

#[test]
fn a_stream_is_the_same_ciphertext_and_opens() {
    on_each(|store| {
        let mut session = scene::writing(store);
        let key = key(&session, AES, Purpose::Encrypt);
        let text: Vec<u8> = (0..100_000_u32).map(|n| n.to_le_bytes()[0]).collect();
        let gcm = Mechanism::AesGcm {
            nonce: &[2; 12],
            aad: b"aad",
        };
        for mechanism in [gcm, Mechanism::AesCbcPad { iv: &[3; 16] }] {
            let whole = sealed(&session, &mechanism, key, &text);
            let mut pieces = Vec::new();
            let mut stream = session.encrypt_stream(&mechanism, key).unwrap();
            for piece in text.chunks(33_333) {
                stream.update(piece, &mut pieces).unwrap();
            }
            stream.finish(&mut pieces).unwrap();
            assert!(pieces == whole, "{mechanism:?}");
            let mut opened = Vec::new();
            let mut stream = session.decrypt_stream(&mechanism, key).unwrap();
            for piece in pieces.chunks(4099) {
                stream.update(piece, &mut opened).unwrap();
            }
            stream.finish(&mut opened).unwrap();
            assert!(opened == text, "{mechanism:?}");
        }
    });
}

#[test]
fn a_changed_stream_fails_at_its_end_at_the_latest() {
    on_each(|store| {
        let mut session = scene::writing(store);
        let key = key(&session, AES, Purpose::Encrypt);
        let gcm = Mechanism::AesGcm {
            nonce: &[2; 12],
            aad: b"",
        };
        let whole = sealed(&session, &gcm, key, &[1; 10_000]);
        for changed_at in [0, 5000, 10_000, 10_015] {
            let mut changed = whole.clone();
            changed[changed_at] ^= 1;
            let mut stream = session.decrypt_stream(&gcm, key).unwrap();
            let mut out = Vec::new();
            let went = changed
                .chunks(1000)
                .try_for_each(|piece| stream.update(piece, &mut out));
            assert!(went.and_then(|()| stream.finish(&mut out)).is_err());
        }
        session.check().unwrap();
        assert_eq!(sealed(&session, &gcm, key, &[1; 10_000]), whole);
    });
}

#[test]
fn macs_and_hashes_over_pieces_are_those_over_the_whole() {
    on_each(|store| {
        let mut session = scene::writing(store);
        let kind = SecretKind::Generic { len: 32 };
        let key = key(&session, kind, Purpose::Mac);
        let hmac = Mechanism::Hmac(Hash::Sha256);
        let whole = signed(&session, &hmac, key, b"one two three");
        let mut made = Vec::new();
        let mut signing = session.sign_stream(&hmac, key).unwrap();
        for piece in [&b"one "[..], b"two ", b"three"] {
            signing.update(piece).unwrap();
        }
        signing.finish(&mut made).unwrap();
        assert_eq!(made, whole);
        for (last, fits) in [(&b"three"[..], true), (b"thref", false)] {
            let mut verification = session.verify_stream(&hmac, key).unwrap();
            verification.update(b"one two ").unwrap();
            verification.update(last).unwrap();
            match verification.finish(&whole) {
                Ok(()) => assert!(fits),
                Err(error) => {
                    assert!(
                        !fits && matches!(error, Error::SignatureInvalid(_)),
                        "{error}"
                    );
                }
            }
        }
        let mut digest = Vec::new();
        let sha = Mechanism::Digest(Hash::Sha256);
        let mut hashing = session.digest_stream(&sha).unwrap();
        hashing.update(b"te").unwrap();
        hashing.update(b"xt").unwrap();
        hashing.finish(&mut digest).unwrap();
        assert_eq!(digest, keywright_primitives::hash::sha256(b"text"));
    });
}

#[test]
fn what_is_dropped_half_way_leaves_the_session_free() {
    on_each(|store| {
        let mut session = scene::writing(store);
        let aes = key(&session, AES, Purpose::Encrypt);
        let mac = key(&session, SecretKind::Generic { len: 32 }, Purpose::Mac);
        let gcm = Mechanism::AesGcm {
            nonce: &[2; 12],
            aad: b"",
        };
        let hmac = Mechanism::Hmac(Hash::Sha256);
        let sha = Mechanism::Digest(Hash::Sha256);
        let text = sealed(&session, &gcm, aes, &[1; 100]);
        for _ in 0..3 {
            let mut out = Vec::new();
            let mut begun = session.encrypt_stream(&gcm, aes).unwrap();
            begun.update(b"half", &mut out).unwrap();
            drop(begun);
            let mut begun = session.decrypt_stream(&gcm, aes).unwrap();
            begun.update(&text[..50], &mut out).unwrap();
            drop(begun);
            let mut begun = session.sign_stream(&hmac, mac).unwrap();
            begun.update(b"half").unwrap();
            drop(begun);
            let mut begun = session.verify_stream(&hmac, mac).unwrap();
            begun.update(b"half").unwrap();
            drop(begun);
            let mut begun = session.digest_stream(&sha).unwrap();
            begun.update(b"half").unwrap();
            drop(begun);
        }
        assert_eq!(sealed(&session, &gcm, aes, &[1; 100]), text);
    });
}
