//! What must not open: changed, cut, extended, moved to another key, binding or associated data.

use keywright_envelope::{
    Aad, Binding, CALLER_AAD_LIMIT, Envelope, Error, Identity, Malformed, SealingKey, derive,
};
use keywright_primitives::random::RandomStream;
use keywright_types::{KeyId, KeyVersion, Kind, Suite};

use crate::scene::{K, SEALING, group, identity, keys, open, principal, sealed};

fn row() -> Aad<'static> {
    Aad::EMPTY.caller(b"row 7").unwrap()
}

#[test]
fn a_bit_flipped_in_any_byte_does_not_open() {
    for (suite, _) in SEALING {
        let (_, opening) = keys(suite);
        for binding in [Binding::None, principal(3), group(3)] {
            let good = sealed(suite, binding, &row(), b"a message of some length");
            assert!(open(&opening, &good, &row()).is_some());
            for bit in 0..good.len() * 8 {
                let mut changed = good.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                assert!(
                    open(&opening, &changed, &row()).is_none(),
                    "{suite}, bit {bit}"
                );
            }
        }
    }
}

#[test]
fn no_proper_beginning_opens_and_neither_does_an_extension() {
    for (suite, _) in SEALING {
        let (_, opening) = keys(suite);
        let good = sealed(suite, principal(3), &row(), b"some text");
        for length in 0..good.len() {
            assert!(
                open(&opening, &good[..length], &row()).is_none(),
                "{suite}, {length}"
            );
        }
        for tail in [&[0][..], &[0; 16], &[0; 32], &good] {
            let longer = [&good, tail].concat();
            assert!(open(&opening, &longer, &row()).is_none(), "{suite}");
        }
    }
}

#[test]
fn what_is_shorter_than_an_empty_text_is_malformed() {
    for (suite, nonce) in SEALING {
        let good = sealed(suite, Binding::None, &Aad::EMPTY, b"");
        assert_eq!(good.len(), 26 + nonce + 32 + 16);
        for length in 0..good.len() {
            assert!(matches!(
                Envelope::parse(&good[..length]),
                Err(Malformed { .. })
            ));
        }
    }
}

#[test]
fn another_key_id_version_kind_suite_or_secret_does_not_open() {
    for (suite, _) in SEALING {
        let good = sealed(suite, Binding::None, &row(), b"text");
        let base = identity(suite);
        let mut others = vec![
            Identity {
                key: KeyId::from_bytes([0x10; 16]),
                ..base
            },
            Identity {
                version: KeyVersion::from_number(2),
                ..base
            },
            Identity {
                version: KeyVersion::NONE,
                ..base
            },
        ];
        for (other, _) in SEALING.into_iter().filter(|(other, _)| *other != suite) {
            others.push(Identity {
                suite: other,
                ..base
            });
        }
        if !matches!(suite, Suite::Chunked | Suite::Siv) {
            others.push(Identity {
                kind: Kind::Key,
                ..base
            });
        }
        for other in others {
            let (_, opening) = derive(&K, other).unwrap();
            assert!(
                open(&opening, &good, &row()).is_none(),
                "{suite}: {other:?}"
            );
            // Also when the header is made to say what the key wants to read.
            let mut relabelled = Vec::new();
            let envelope = Envelope::parse(&good).unwrap();
            let mut header = *envelope.header();
            (header.suite, header.kind) = (other.suite, other.kind);
            (header.key, header.version) = (other.key, other.version);
            header.encode_into(&mut relabelled);
            relabelled.extend_from_slice(&good[26..]);
            assert!(
                open(&opening, &relabelled, &row()).is_none(),
                "{suite}: {other:?}"
            );
        }
        let mut secret = K;
        secret[31] ^= 1;
        let (_, opening) = derive(&secret, base).unwrap();
        assert!(open(&opening, &good, &row()).is_none(), "{suite}");
    }
}

#[test]
fn another_binding_does_not_open() {
    let bindings = [Binding::None, principal(3), principal(4), group(3)];
    for (suite, _) in SEALING {
        let (_, opening) = keys(suite);
        for from in bindings {
            let good = sealed(suite, from, &row(), b"text");
            let body = &good[Envelope::parse(&good).unwrap().header().encoded_len()..];
            for to in bindings.into_iter().filter(|to| *to != from) {
                let mut header = *Envelope::parse(&good).unwrap().header();
                header.binding = to;
                let mut changed = Vec::new();
                header.encode_into(&mut changed);
                changed.extend_from_slice(body);
                assert!(
                    open(&opening, &changed, &row()).is_none(),
                    "{suite}: {from:?} {to:?}"
                );
            }
        }
    }
}

#[test]
fn other_associated_data_does_not_open() {
    let caller = |bytes| Aad::EMPTY.caller(bytes).unwrap();
    let others = [
        Aad::EMPTY,
        caller(b"row 8"),
        caller(b"row 7 "),
        caller(b"row "),
        Aad::EMPTY.derivation(b"row 7"),
        Aad::EMPTY.attributes(b"row 7"),
        caller(b"row 7").derivation(b"x"),
        caller(b"row 7").attributes(b"x"),
    ];
    for (suite, _) in SEALING {
        let (_, opening) = keys(suite);
        let good = sealed(suite, Binding::None, &row(), b"text");
        for other in &others {
            assert!(open(&opening, &good, other).is_none(), "{suite}: {other:?}");
        }
        assert!(
            open(&opening, &good, &row().derivation(b"")).is_some(),
            "empty is absent"
        );
    }
}

#[test]
fn the_callers_aad_has_a_limit() {
    assert!(Aad::EMPTY.caller(&vec![0; CALLER_AAD_LIMIT]).is_ok());
    assert!(Aad::EMPTY.caller(&vec![0; CALLER_AAD_LIMIT + 1]).is_err());
}

#[test]
fn suite_4_and_keys_in_streams_and_without_nonces_are_refused_by_type() {
    let error = derive(&K, identity(Suite::TokenGcm16)).unwrap_err();
    assert_eq!(error, Error::SuiteUnsupported(Suite::TokenGcm16));
    for suite in [Suite::Chunked, Suite::Siv] {
        let error = derive(
            &K,
            Identity {
                kind: Kind::Key,
                ..identity(suite)
            },
        )
        .unwrap_err();
        assert_eq!(
            error,
            Error::KindUnsupported {
                suite,
                kind: Kind::Key
            }
        );
    }
}

#[test]
fn every_length_opens_has_the_stated_length_and_never_the_same_nonce() {
    let mut random = RandomStream::new().unwrap();
    for (suite, _) in SEALING {
        let (sealing, opening) = keys(suite);
        let mut seen = std::collections::HashSet::new();
        for length in (0..70).chain([255, 256, 1000, 16383, 16384, 16385, 32768]) {
            for binding in [Binding::None, group(9)] {
                let text = vec![7; length];
                let mut out = b"before".to_vec();
                let aad = row().derivation(b"d").attributes(b"a");
                let id = sealing
                    .seal_into(binding, &aad, &text, &mut random, &mut out)
                    .unwrap();
                let made = out.split_off(6);
                assert_eq!(out, b"before");
                assert_eq!(made.len(), sealing.sealed_len(binding, length));
                let envelope = Envelope::parse(&made).unwrap();
                assert_eq!(envelope.message_id(), id);
                assert_eq!(envelope.header().binding, binding);
                assert_eq!(envelope.plaintext_len(), length);
                assert_eq!(open(&opening, &made, &aad).unwrap(), text);
                assert!(seen.insert(id));
            }
        }
    }
}

/// What suite 5 is for, and what it gives away; and how far that goes.
#[test]
fn equal_texts_have_equal_envelopes_under_one_version_binding_and_data() {
    let (sealing, _) = keys(Suite::Siv);
    let mut random = RandomStream::new().unwrap();
    let mut seal = |key: &SealingKey, binding, aad: &Aad<'_>, text: &[u8]| {
        let mut out = Vec::new();
        key.seal_into(binding, aad, text, &mut random, &mut out)
            .unwrap();
        out
    };
    let one = seal(&sealing, Binding::None, &row(), b"text");
    assert_eq!(seal(&sealing, Binding::None, &row(), b"text"), one);
    let next = Identity {
        version: KeyVersion::from_number(2),
        ..identity(Suite::Siv)
    };
    let (next, _) = derive(&K, next).unwrap();
    // The last 20 bytes: the rest names key, version and binding.
    let end = |envelope: &[u8]| envelope[envelope.len() - 20..].to_vec();
    for other in [
        seal(&sealing, Binding::None, &row(), b"texu"),
        seal(&sealing, Binding::None, &Aad::EMPTY, b"text"),
        seal(&sealing, principal(3), &row(), b"text"),
        seal(&next, Binding::None, &row(), b"text"),
    ] {
        assert_ne!(end(&other), end(&one));
    }
}

#[test]
fn a_short_nonce_is_padded_in_the_message_id() {
    let made = sealed(Suite::TokenGcm12, Binding::None, &Aad::EMPTY, b"");
    let id = Envelope::parse(&made).unwrap().message_id();
    assert_eq!(
        id.as_bytes(),
        &[[0x22; 12].as_slice(), &[0; 4]].concat()[..]
    );
}

#[test]
fn keys_print_which_they_are_and_no_byte_of_themselves() {
    let (sealing, opening) = derive(&[0xE7; 32], identity(Suite::Xaes256Gcm)).unwrap();
    for text in [format!("{sealing:?}"), format!("{opening:?}")] {
        assert!(text.contains(&"11".repeat(16)), "{text}");
        assert!(!text.contains("e7") && !text.contains("231"), "{text}");
    }
}

#[test]
fn keys_can_be_shared_between_threads() {
    fn shared<T: Send + Sync + Clone>(_: &T) {}
    let (sealing, opening) = keys(Suite::Xaes256Gcm);
    shared(&sealing);
    shared(&opening);
}
