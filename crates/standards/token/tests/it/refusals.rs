//! What is refused whatever the claims say: other keys, other suites, other sessions, every changed bit.

use keywright_primitives::random::RandomStream;
use keywright_token::{
    Binder, Channel, Claims, DenySet, Error, KeyId, MAC_OVERHEAD, Reason, SIGNED_OVERHEAD, Scope,
    Suite, VerifyingKeys,
};

use crate::scene::{NOW, at, check, claims, holder, issue, key, keys, refusal, scope};

#[test]
fn a_token_is_40_or_88_bytes_longer_than_its_claims() {
    assert_eq!((MAC_OVERHEAD, SIGNED_OVERHEAD), (40, 88));
    let claim_bytes = (2 + 8) + (2 + 3) + (2 + "read write".len());
    for (suite, overhead) in [
        (Suite::Blake3, 40),
        (Suite::HmacSha256, 40),
        (Suite::Ed25519, 88),
    ] {
        let key = key(suite, 1);
        let binder = Binder::from_bytes(&[1; 32]);
        for binder in [None, Some(&binder)] {
            assert_eq!(issue(&key, &claims(), binder).len(), overhead + claim_bytes);
        }
    }
}

#[test]
fn t42_every_changed_bit_and_every_shorter_token_is_refused() {
    for suite in Suite::ALL {
        let key = key(suite, 1);
        let (keys, token) = (keys(&key), issue(&key, &claims(), None));
        assert_eq!(refusal(&keys, &token, &check()), None);
        for bit in 0..token.len() * 8 {
            let mut changed = token.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(
                refusal(&keys, &changed, &check()).is_some(),
                "{suite} bit {bit}"
            );
        }
        for length in 0..token.len() {
            assert!(
                refusal(&keys, &token[..length], &check()).is_some(),
                "{suite} {length}"
            );
        }
        for more in 1..100 {
            let mut longer = token.clone();
            longer.resize(token.len() + more, 0);
            assert!(
                refusal(&keys, &longer, &check()).is_some(),
                "{suite} {more}"
            );
        }
    }
}

#[test]
fn t42_a_key_id_belongs_to_one_key_of_one_suite() {
    let mut all = VerifyingKeys::new();
    for (number, suite) in (1..).zip(Suite::ALL) {
        all.insert(key(suite, number).verifying_key().unwrap())
            .unwrap();
        for other in Suite::ALL {
            let taken = all.insert(key(other, number).verifying_key().unwrap());
            assert_eq!(taken, Err(Error::KeyIdTaken(KeyId::new([number; 4]))));
        }
    }
    for (number, suite) in (1..).zip(Suite::ALL) {
        let token = issue(&key(suite, number), &claims(), None);
        assert_eq!(refusal(&all, &token, &check()), None);
        // The same secret and id, used for another suite.
        for other in Suite::ALL.into_iter().filter(|other| *other != suite) {
            let confused = issue(&key(other, number), &claims(), None);
            assert_eq!(refusal(&all, &confused, &check()), Some(Reason::Suite));
            let mut relabelled = confused;
            relabelled[0] = suite.number();
            assert!(refusal(&all, &relabelled, &check()).is_some());
        }
        let unknown = issue(&key(suite, 9), &claims(), None);
        assert_eq!(refusal(&all, &unknown, &check()), Some(Reason::KeyUnknown));
        assert_eq!(
            refusal(&VerifyingKeys::new(), &token, &check()),
            Some(Reason::KeyUnknown)
        );
    }
    let removed = all.remove(KeyId::new([1; 4])).unwrap();
    assert_eq!(
        (removed.id(), removed.suite()),
        (KeyId::new([1; 4]), Suite::Blake3)
    );
    let token = issue(&key(Suite::Blake3, 1), &claims(), None);
    assert_eq!(refusal(&all, &token, &check()), Some(Reason::KeyUnknown));
}

#[test]
fn a_bound_token_is_accepted_in_its_session_only() {
    let (own, other) = (Binder::from_bytes(&[1; 32]), Binder::from_bytes(&[2; 32]));
    for suite in Suite::ALL {
        let key = key(suite, 3);
        let keys = keys(&key);
        let bound = issue(&key, &claims(), Some(&own));
        let unbound = issue(&key, &claims(), None);
        let rows = [
            (&bound, Channel::Offered(&own), None),
            (&bound, Channel::Required(&own), None),
            (&bound, Channel::Unbound, Some(Reason::Binding)),
            (&bound, Channel::Offered(&other), Some(Reason::Tag)),
            (&bound, Channel::Required(&other), Some(Reason::Tag)),
            (&unbound, Channel::Unbound, None),
            (&unbound, Channel::Offered(&own), None),
            (&unbound, Channel::Required(&own), Some(Reason::Binding)),
        ];
        for (token, channel, wanted) in rows {
            assert_eq!(
                refusal(&keys, token, &check().channel(channel)),
                wanted,
                "{suite} {channel:?}"
            );
        }
    }
}

#[test]
fn t42_an_audience_is_wanted_unless_it_does_not_matter() {
    use keywright_token::{Audience, Check};
    let key = key(Suite::Blake3, 1);
    let keys = keys(&key);
    let nobody = issue(&key, &Claims::until(at(NOW + 1)), None);
    let own = issue(&key, &claims(), None);
    for name in ["", "ap", "apis", "API", "a p i"] {
        let check = Check::at(at(NOW), Audience::Is(name));
        assert_eq!(
            refusal(&keys, &own, &check),
            Some(Reason::Audience),
            "{name}"
        );
        assert_eq!(
            refusal(&keys, &nobody, &check),
            Some(Reason::Audience),
            "{name}"
        );
    }
    assert_eq!(refusal(&keys, &nobody, &check()), Some(Reason::Audience));
    let any = Check::at(at(NOW), Audience::Any);
    assert_eq!(refusal(&keys, &nobody, &any), None);
    assert_eq!(refusal(&keys, &own, &any), None);
    assert_eq!(
        refusal(&keys, &own, &check().wanting(scope("read write"))),
        None
    );
    assert_eq!(
        refusal(&keys, &own, &check().wanting(scope("admin"))),
        Some(Reason::Scope)
    );
    assert_eq!(
        refusal(&keys, &nobody, &any.wanting(scope("read"))),
        Some(Reason::Scope)
    );
}

#[test]
fn claims_that_make_no_token_are_refused_and_nothing_is_written() {
    let until = || Claims::until(at(NOW));
    for name in ["", " ", "a b", "a\n", "ä", "\u{7f}", &"x".repeat(256)] {
        assert_eq!(until().audience(name), Err(Error::Name), "{name:?}");
        assert_eq!(until().subject(name), Err(Error::Name), "{name:?}");
    }
    assert_eq!(until().data(&[]), Err(Error::Data));
    assert_eq!(until().data(&[0; 1025]), Err(Error::Data));
    let (long, name, delegate) = (many_words(), "n".repeat(255), holder(1).verifying_key());
    let most = until()
        .scope(Scope::parse(&long).unwrap())
        .data(&[1; 1024])
        .unwrap();
    let too_long = most.audience(&name).unwrap().subject(&name).unwrap();
    let mut random = RandomStream::new().unwrap();
    for suite in Suite::ALL {
        let key = key(suite, 1);
        let mut out = vec![5];
        let made = key.issue_into(&too_long, None, &mut random, &mut out);
        assert_eq!((made, &out[..]), (Err(Error::TooLong), &[5][..]));
        let made = key.issue_into(&until().delegate(&delegate), None, &mut random, &mut out);
        assert_eq!(
            made.err(),
            (suite != Suite::Ed25519).then_some(Error::DelegationWithMac)
        );
    }
}

fn many_words() -> String {
    (0..100)
        .map(|number| format!("w{number:03}"))
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn ids_are_random_and_tokens_of_one_content_differ() {
    let key = key(Suite::Blake3, 1);
    let keys = keys(&key);
    let mut seen = std::collections::HashSet::new();
    let mut random = RandomStream::new().unwrap();
    for _ in 0..1000 {
        let mut token = Vec::new();
        let id = key
            .issue_into(&claims(), None, &mut random, &mut token)
            .unwrap();
        assert_eq!(
            keys.verify(&token, &check(), &DenySet::new()).unwrap().id(),
            id
        );
        assert!(seen.insert(id));
    }
}

#[test]
fn nothing_that_is_printed_holds_a_secret() {
    let issuing = key(Suite::Blake3, 0x5A);
    let printed = format!(
        "{issuing:?} {:?} {:?}",
        issuing.verifying_key(),
        Binder::from_bytes(&[0xA5; 32])
    );
    assert_eq!(
        printed,
        "IssuingKey(blake3, 5a5a5a5a) Ok(VerifyingKey(blake3, 5a5a5a5a)) Binder"
    );
}
