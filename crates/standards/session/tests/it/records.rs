//! Cards, records and one-time prekeys: one spelling, one signature, and nothing out of bounds.

use keywright_clock::WallTime;
use keywright_hpke::{Kem, PrivateKey, Suite};
use keywright_primitives::signature::SigningKey;
use keywright_secret::SecretBytes;
use keywright_session::{
    Bundle, Card, First, Handshake, Identity, Mode, OneTime, PrekeySecrets, Record, Responder,
    Terms,
};

use crate::scene::{END, Lattice, NOW, Scene, identity, kind, secret, terms};

#[test]
fn what_was_published_is_read_again_and_every_changed_bit_is_refused() {
    for lattice in [Lattice::With, Lattice::Without] {
        let scene = Scene::new(Mode::Fenced, First::Signed, lattice);
        let bytes = scene.bob.record().as_bytes();
        let record = Record::parse(bytes).unwrap();
        assert_eq!(record.id(), scene.bob.record().id());
        assert_eq!(record.has_lattice(), lattice == Lattice::With);
        assert_eq!(
            (record.mode(), record.first()),
            (Mode::Fenced, First::Signed)
        );
        for place in 0..bytes.len() {
            let mut changed = bytes.to_vec();
            changed[place] ^= 1 << (place % 8);
            assert!(Record::parse(&changed).is_err(), "byte {place}");
        }
        for length in 0..bytes.len() {
            assert!(Record::parse(&bytes[..length]).is_err(), "length {length}");
        }
        assert_eq!(kind(Record::parse(&[bytes, &[0]].concat())), "Malformed");
    }
}

#[test]
fn a_one_time_prekey_belongs_to_its_record() {
    let mut scene = Scene::hedged();
    let made = scene.bob.one_time().unwrap();
    let record = scene.bob.record();
    let read = OneTime::parse(made.as_bytes(), record).unwrap();
    assert_eq!((read.id(), read.record()), (made.id(), record.id()));
    for place in 0..made.as_bytes().len() {
        let mut changed = made.as_bytes().to_vec();
        changed[place] ^= 0x10;
        assert!(OneTime::parse(&changed, record).is_err(), "byte {place}");
    }
    let other = Scene::hedged();
    assert_eq!(
        kind(OneTime::parse(made.as_bytes(), other.bob.record())),
        "Rejected"
    );
    let bundle = Bundle {
        record: other.bob.record(),
        one_time: Some(&made),
    };
    let setting = crate::scene::setting(&scene.policy);
    let begun = scene
        .alice
        .initiate(&bundle, Handshake::X3dh, &setting, &mut scene.random);
    assert_eq!(kind(begun), "Rejected");
}

#[test]
fn terms_that_contradict_themselves_make_no_record() {
    let x25519 = Suite::X25519.ids();
    let p256 = Suite::P256.ids();
    let good = terms(&[], Mode::Hedged, First::Deniable);
    let nine: Vec<_> = (0..9).map(|aead| [0x20, 1, aead]).collect();
    let rows = [
        Terms {
            suites: &[],
            ..good
        },
        Terms {
            suites: &[p256],
            ..good
        },
        Terms {
            suites: &[x25519, p256],
            ..good
        },
        Terms {
            suites: &[x25519, x25519],
            ..good
        },
        Terms {
            suites: &nine,
            ..good
        },
        Terms {
            suites: &[x25519],
            not_before: END,
            not_after: END,
            ..good
        },
        Terms {
            suites: &[x25519],
            not_before: END,
            not_after: NOW,
            ..good
        },
    ];
    for terms in rows {
        let secrets = PrekeySecrets::generate().unwrap();
        let made = Responder::publish(identity("bob"), &secrets, &terms);
        assert_eq!(kind(made), "Terms", "{terms:?}");
    }
    // ML-KEM stands beside X25519 only.
    let on_p256 = Identity::generate(b"bob", Kem::P256HkdfSha256).unwrap();
    let secrets = PrekeySecrets::generate().unwrap();
    let terms = Terms {
        suites: &[p256],
        ..good
    };
    assert_eq!(kind(Responder::publish(on_p256, &secrets, &terms)), "Terms");
}

#[test]
fn a_record_holds_from_its_first_second_to_before_its_last() {
    let mut scene = Scene::hedged();
    let rows = [
        (NOW.unix_seconds() - 1, false),
        (NOW.unix_seconds(), true),
        (END.unix_seconds() - 1, true),
        (END.unix_seconds(), false),
    ];
    for (seconds, holds) in rows {
        let bundle = Bundle {
            record: scene.bob.record(),
            one_time: None,
        };
        let setting = keywright_session::Setting {
            now: WallTime::from_unix_seconds(seconds),
            ..crate::scene::setting(&scene.policy)
        };
        let begun = scene
            .alice
            .initiate(&bundle, Handshake::X3dh, &setting, &mut scene.random);
        assert_eq!(begun.is_ok(), holds, "{seconds}");
        if !holds {
            assert_eq!(kind(begun), "RecordExpired");
        }
    }
}

#[test]
fn the_same_secrets_and_terms_give_the_same_record() {
    let again = || {
        let key = SecretBytes::from_vec(vec![2; 32]);
        let key = PrivateKey::from_bytes(Kem::X25519HkdfSha256, &key).unwrap();
        let bob = Identity::from_keys(b"bob", &secret(1), key).unwrap();
        let secrets = PrekeySecrets {
            ratchet: secret(3),
            lattice: Some(secret(4)),
        };
        let suites = [Suite::X25519.ids()];
        let terms = terms(&suites, Mode::Hedged, First::Deniable);
        let mut made = Responder::publish(bob, &secrets, &terms).unwrap();
        let one_time = made.one_time_from(&secret(5)).unwrap();
        (
            made.record().as_bytes().to_vec(),
            one_time.as_bytes().to_vec(),
        )
    };
    assert_eq!(again(), again());
}

#[test]
fn names_have_one_to_255_bytes() {
    let key = identity("any");
    let card = |name: &[u8]| {
        let verifying = *key.card().verifying_key();
        let agreement = key.card().agreement_key();
        let agreement =
            keywright_hpke::PublicKey::from_bytes(agreement.kem(), agreement.as_bytes()).unwrap();
        Card::new(name, verifying, agreement)
    };
    assert_eq!(kind(card(b"")), "Name");
    assert_eq!(kind(card(&[b'x'; 256])), "Name");
    let longest = card(&[b'x'; 255]).unwrap();
    assert_eq!(Card::parse(&longest.to_bytes()).unwrap().id(), longest.id());
    assert_eq!(
        kind(Card::parse(&[&longest.to_bytes()[..], &[0]].concat())),
        "Malformed"
    );
}

#[test]
fn t41_one_key_in_two_shapes_is_no_identity() {
    let seed = secret::<32>(0x31);
    let key = SecretBytes::from_vec(seed.expose().to_vec());
    let key = PrivateKey::from_bytes(Kem::X25519HkdfSha256, &key).unwrap();
    assert_eq!(kind(Identity::from_keys(b"bob", &seed, key)), "Keys");
    // The same public bytes in both places.
    let verifying = SigningKey::from_seed(&seed).unwrap().verifying_key();
    let twin = keywright_hpke::PublicKey::from_bytes(Kem::X25519HkdfSha256, verifying.as_bytes());
    assert_eq!(kind(Card::new(b"bob", verifying, twin.unwrap())), "Keys");
    // A key that proves nobody.
    let lattice = PrivateKey::generate(Kem::XWingDraft).unwrap();
    assert_eq!(kind(Identity::from_keys(b"bob", &seed, lattice)), "Keys");
}
