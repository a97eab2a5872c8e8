//! The transcript binder, and the older binder that it replaces.

use std::collections::HashSet;

use keywright_hpke::binder::{Bound, Identity, Negotiation};
use keywright_hpke::compat::{self, SuiteByte};
use keywright_hpke::{
    Aad, Enc, Error, Input, Kem, Policy, PrivateKey, Psk, PskSecret, Recipient, RecipientMode,
    Sender, SenderMode, Suite,
};
use keywright_primitives::signature::SigningKey;
use keywright_secret::Secret;

use crate::scene::{key, pair};

const X25519: [u16; 3] = [0x20, 1, 3];
const X_WING: [u16; 3] = [0x647A, 1, 3];
const P256: [u16; 3] = [0x10, 1, 2];
const UNKNOWN: [u16; 3] = [0x21, 9, 9];

fn negotiation() -> Negotiation<'static> {
    Negotiation {
        offered: &[UNKNOWN, X25519, P256],
        published: &[X_WING, X25519, P256],
        initiator: Identity {
            name: b"alice",
            key: b"alice's key",
        },
        responder: Identity {
            name: b"bob",
            key: b"bob's key",
        },
        ratchet_prekey: b"prekey",
        application: b"chat",
    }
}

struct Parties {
    recipient: PrivateKey,
    sender: PrivateKey,
}

impl Parties {
    fn new() -> Self {
        Self {
            recipient: key(Kem::X25519HkdfSha256, 1),
            sender: key(Kem::X25519HkdfSha256, 2),
        }
    }

    /// What Alice believes leads to a context and its first message; whether Bob, who believes something
    /// else, can open it.
    fn opens(&self, alice: &Negotiation<'_>, bob: &Negotiation<'_>) -> Result<bool, Error> {
        let (enc, mut sender) = self.initiate(alice)?;
        let mut recipient = self.accept(bob, &enc)?;
        let first = sender.context_mut().seal(Aad(b""), b"first")?;
        let opened = recipient.context_mut().open(Aad(b""), &first);
        let same = sender.binder()?.ct_eq(&recipient.binder()?);
        assert_eq!(
            opened.is_ok(),
            same,
            "binder and first message say the same"
        );
        assert_eq!(same, sender.transcript() == recipient.transcript());
        Ok(opened.is_ok())
    }

    fn initiate(&self, negotiation: &Negotiation<'_>) -> Result<(Enc, Bound<Sender>), Error> {
        let mode = SenderMode::AuthRfc9180(&self.sender);
        negotiation.initiate(&Policy::default(), self.recipient.public_key(), mode)
    }

    fn accept(&self, negotiation: &Negotiation<'_>, enc: &Enc) -> Result<Bound<Recipient>, Error> {
        let mode = RecipientMode::AuthRfc9180(self.sender.public_key());
        negotiation.accept(&Policy::default(), &self.recipient, mode, enc.as_bytes())
    }
}

#[test]
fn who_believes_the_same_opens_and_has_the_same_binder() {
    assert_eq!(
        Parties::new().opens(&negotiation(), &negotiation()),
        Ok(true)
    );
}

#[test]
fn t10_a_changed_byte_anywhere_does_not_open() {
    let (parties, honest) = (Parties::new(), negotiation());
    let flipped = |bytes: &[u8], place: usize| {
        let mut bytes = bytes.to_vec();
        bytes[place] ^= 1;
        bytes
    };
    let refused = |other: &Negotiation<'_>| {
        assert_eq!(parties.opens(&honest, other), Ok(false));
        assert_eq!(parties.opens(other, &honest), Ok(false));
    };
    let each = |field: &[u8], with: &dyn Fn(&[u8])| {
        (0..field.len()).for_each(|place| with(&flipped(field, place)));
        with(&field[1..]);
        with(&[field, &[0]].concat());
        with(b"");
    };
    let (alice, bob) = (honest.initiator, honest.responder);
    each(alice.name, &|name| {
        refused(&Negotiation {
            initiator: Identity { name, ..alice },
            ..honest
        })
    });
    each(alice.key, &|key| {
        refused(&Negotiation {
            initiator: Identity { key, ..alice },
            ..honest
        })
    });
    each(bob.name, &|name| {
        refused(&Negotiation {
            responder: Identity { name, ..bob },
            ..honest
        })
    });
    each(bob.key, &|key| {
        refused(&Negotiation {
            responder: Identity { key, ..bob },
            ..honest
        })
    });
    each(honest.ratchet_prekey, &|field| {
        refused(&Negotiation {
            ratchet_prekey: field,
            ..honest
        })
    });
    each(honest.application, &|field| {
        refused(&Negotiation {
            application: field,
            ..honest
        })
    });
}

#[test]
fn t10_an_offer_or_record_that_was_changed_on_its_way_does_not_open() {
    let (parties, honest) = (Parties::new(), negotiation());
    // Each leaves the choice at X25519, so only the transcript can tell.
    let offers: [&[[u16; 3]]; 5] = [
        &[X25519, P256],
        &[UNKNOWN, X25519],
        &[X25519],
        &[X25519, UNKNOWN, P256],
        &[UNKNOWN, X25519, P256, UNKNOWN],
    ];
    for offered in offers {
        let changed = Negotiation { offered, ..honest };
        assert_eq!(
            changed.choose(&Policy::default()).unwrap().suite(),
            Suite::X25519
        );
        assert_eq!(parties.opens(&honest, &changed), Ok(false));
    }
    let records: [&[[u16; 3]]; 3] = [&[X25519, P256], &[X25519], &[X_WING, X25519]];
    for published in records {
        let changed = Negotiation {
            published,
            ..honest
        };
        assert_eq!(parties.opens(&changed, &honest), Ok(false));
    }
    // A suite moved from one list to the other, or to the field beside it, is no other spelling.
    let moved = Negotiation {
        offered: &[UNKNOWN, X25519],
        published: &[P256, X_WING, X25519, P256],
        ..honest
    };
    assert_eq!(parties.opens(&honest, &moved), Ok(false));
}

#[test]
fn t10_the_choice_is_the_rule_and_nothing_else() {
    let (policy, honest) = (Policy::default(), negotiation());
    assert_eq!(honest.choose(&policy).unwrap().suite(), Suite::X25519);
    assert!(honest.confirm(&policy, X25519).is_ok());
    for stated in [P256, X_WING, UNKNOWN] {
        assert_eq!(
            honest.confirm(&policy, stated).err(),
            Some(Error::SuiteRefused)
        );
    }
    let first_is_best = Negotiation {
        offered: &[P256, X25519, X_WING],
        ..honest
    };
    assert_eq!(
        first_is_best.choose(&policy).unwrap().suite(),
        Suite::X_WING_DRAFT
    );
    let refused = |offered, published, policy: &Policy| {
        Negotiation {
            offered,
            published,
            ..honest
        }
        .choose(policy)
        .err()
    };
    assert_eq!(
        refused(&[X25519], &[P256], &policy),
        Some(Error::SuiteRefused)
    );
    assert_eq!(refused(&[], &[P256], &policy), Some(Error::SuiteRefused));
    assert_eq!(refused(&[P256], &[], &policy), Some(Error::SuiteRefused));
    // The first that both name is not built, or not admitted: there is no second choice to fall back to.
    let (both, other) = (&[UNKNOWN, X25519], Policy::of(&[Suite::P256]));
    assert_eq!(refused(both, both, &policy), Some(Error::SuiteUnknown));
    assert_eq!(
        refused(&[X25519, P256], &[X25519, P256], &other),
        Some(Error::SuiteRefused)
    );
}

#[test]
fn t10_another_mode_or_key_is_another_transcript() {
    let (policy, honest, parties) = (Policy::default(), negotiation(), Parties::new());
    let other = key(Kem::X25519HkdfSha256, 3);
    let psk = |id| Psk::new(PskSecret(&[1; 32]), id).unwrap();
    let modes = [
        SenderMode::Base,
        SenderMode::Psk(psk(b"one")),
        SenderMode::Psk(psk(b"two")),
        SenderMode::AuthRfc9180(&parties.sender),
        SenderMode::AuthRfc9180(&other),
        SenderMode::AuthPsk(&parties.sender, psk(b"one")),
    ];
    let mut seen = HashSet::new();
    for to in [&parties.recipient, &other] {
        for mode in modes {
            let (_, bound) = honest.initiate(&policy, to.public_key(), mode).unwrap();
            assert!(seen.insert(*bound.transcript().as_bytes()), "{mode:?}");
            // Two contexts of one negotiation have one transcript, and a binder each.
            let (_, again) = honest.initiate(&policy, to.public_key(), mode).unwrap();
            assert_eq!(again.transcript(), bound.transcript());
            assert!(!again.binder().unwrap().ct_eq(&bound.binder().unwrap()));
        }
    }
}

#[test]
fn t22_a_key_that_another_publishes_as_his_own_does_not_open() {
    let (parties, honest) = (Parties::new(), negotiation());
    let mallory = Negotiation {
        responder: Identity {
            name: b"mallory",
            ..honest.responder
        },
        ..honest
    };
    assert_eq!(
        parties.opens(&mallory, &honest),
        Ok(false),
        "meant for Mallory, opened by Bob"
    );
    let mallory = Negotiation {
        initiator: Identity {
            name: b"mallory",
            ..honest.initiator
        },
        ..honest
    };
    assert_eq!(
        parties.opens(&honest, &mallory),
        Ok(false),
        "sent by Alice, credited to Mallory"
    );
}

#[test]
fn a_signature_is_over_this_negotiation_and_this_encapsulation() {
    let (parties, honest) = (Parties::new(), negotiation());
    let signer = |byte| SigningKey::from_seed(&Secret::from_fill(|out| out.fill(byte))).unwrap();
    let (alice, thief) = (signer(1), signer(2));
    let (enc, sender) = parties.initiate(&honest).unwrap();
    let (other_enc, _) = parties.initiate(&honest).unwrap();
    let transcript = *sender.transcript();
    let (_, received) = parties.accept(&honest, &enc).unwrap().into_parts();
    let signature = transcript.sign(&enc, &alice);
    let (ours, theirs) = (alice.verifying_key(), thief.verifying_key());
    assert_eq!(received.verify(enc.as_bytes(), &ours, &signature), Ok(()));
    let refused = Err(Error::Rejected);
    assert_eq!(
        received.verify(other_enc.as_bytes(), &ours, &signature),
        refused
    );
    assert_eq!(
        received.verify(enc.as_bytes(), &theirs, &signature),
        refused
    );
    let changed = Negotiation {
        application: b"other",
        ..honest
    };
    let (_, changed) = parties.accept(&changed, &enc).unwrap().into_parts();
    assert_eq!(changed.verify(enc.as_bytes(), &ours, &signature), refused);
}

#[test]
fn a_field_beyond_its_limit_is_refused() {
    let (parties, honest) = (Parties::new(), negotiation());
    let most = vec![1; 1 << 16];
    let at = Negotiation {
        application: &most,
        ..honest
    };
    assert_eq!(parties.opens(&at, &at), Ok(true));
    let more = vec![1; (1 << 16) + 1];
    let beyond = Negotiation {
        application: &more,
        ..honest
    };
    let refused = parties.opens(&beyond, &beyond);
    assert_eq!(refused, Err(Error::TooLong(Input::Negotiation)));
}

#[test]
fn the_older_binder_binds_one_byte() {
    let recipient = key(Kem::X25519HkdfSha256, 1);
    let (_, sender, receiver) = pair(Suite::X25519, &recipient, compat::INFO);
    let binder = compat::suite_binder_v2(sender.exporter(), SuiteByte(1)).unwrap();
    let check =
        |suite| compat::check_suite_binder_v2(receiver.exporter(), SuiteByte(suite), &binder);
    assert_eq!(check(1), Ok(()));
    assert_eq!(check(2), Err(Error::Rejected));
    let secrets =
        [sender.exporter(), receiver.exporter()].map(|end| compat::session_secret(end).unwrap());
    assert!(secrets[0].ct_eq(&secrets[1]));
    assert_ne!(*secrets[0].expose(), binder);
    // What it does not do: anybody who knows the public key has a binder that is accepted.
    let (_, _, fooled) = pair(Suite::X25519, &recipient, compat::INFO);
    let forged = compat::suite_binder_v2(fooled.exporter(), SuiteByte(1)).unwrap();
    let accepted = compat::check_suite_binder_v2(fooled.exporter(), SuiteByte(1), &forged);
    assert_eq!(accepted, Ok(()));
}
