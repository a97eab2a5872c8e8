//! Blocks: they narrow, they cannot be taken off, and a branch can be revoked by itself.

use keywright_mutate::SplitMix;
use keywright_primitives::signature::SigningKey;
use keywright_token::{
    Audience, Check, Claims, DenySet, Error, MAX_BLOCKS, Narrowing, Next, Peek, Reason, ScopeText,
    Suite, Verified, attenuate_into, delegate_into,
};

use crate::scene::{NOW, at, branches, check, claims, holder, issue, key, keys, refusal, scope};

const MACS: [Suite; 2] = [Suite::Blake3, Suite::HmacSha256];

fn narrowed(token: &[u8], narrowing: &Narrowing<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    attenuate_into(token, narrowing, &mut out).unwrap();
    out
}

fn passed_on(token: &[u8], key: &SigningKey, next: Next<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    delegate_into(
        token,
        key,
        &Narrowing::new().scope(scope("read")),
        next,
        &mut out,
    )
    .unwrap();
    out
}

/// What a token permits, as far as blocks can change it.
fn permits(token: &Verified<'_>) -> (u64, u64, Option<String>, String) {
    let begin = token.not_before().map_or(0, |begin| begin.number());
    let audience = token.audience().map(str::to_owned);
    (
        token.expires().number(),
        begin,
        audience,
        token.scope().as_str().to_owned(),
    )
}

#[test]
fn random_chains_permit_what_all_their_blocks_permit() {
    let mut dice = SplitMix::new(42);
    let words = ["a", "b", "c", "d", "e"];
    for round in 0..400 {
        let key = key(MACS[round % 2], 3);
        let keys = keys(&key);
        let all = ScopeText::of(words).unwrap();
        let (mut end, mut begin, mut left) = (NOW + 10_000, NOW - 10_000, words.to_vec());
        let mut token = issue(&key, &Claims::until(at(end)).scope(all.scope()), None);
        for _ in 0..dice.below(MAX_BLOCKS + 1) {
            end -= dice.below(100) as u64;
            begin += dice.below(100) as u64;
            if dice.below(2) == 0 && !left.is_empty() {
                left.remove(dice.below(left.len()));
            }
            let scope = ScopeText::of(left.iter().copied()).unwrap();
            let block = Narrowing::new()
                .until(at(end))
                .not_before(at(begin))
                .scope(scope.scope());
            // The length is always tried out, and everything that widens is refused on the way.
            let wider = Narrowing::new().until(at(end + 100 + 1));
            assert_eq!(
                attenuate_into(&token, &wider.scope(all.scope()), &mut Vec::new()).is_ok(),
                { Peek::at(&token).unwrap().blocks() == 0 && end + 101 <= NOW + 10_000 }
            );
            token = narrowed(&token, &block);
        }
        let check = Check::at(at(NOW), Audience::Any);
        let verified = keys.verify(&token, &check, &DenySet::new()).unwrap();
        assert_eq!(verified.scope().words().collect::<Vec<_>>(), left);
        assert_eq!(verified.expires().number(), end);
    }
}

#[test]
fn t42_a_block_cannot_be_taken_off() {
    for suite in MACS {
        let key = key(suite, 4);
        let keys = keys(&key);
        let token = issue(&key, &claims(), None);
        let once = narrowed(&token, &Narrowing::new().scope(scope("read")));
        let twice = narrowed(&once, &Narrowing::new().until(at(NOW + 9)));
        // Everything the holder of the longest token has, put together in every way.
        let fronts = [&token[..token.len() - 16], &once[..once.len() - 16]];
        for front in fronts {
            for start in 0..=twice.len() - 16 {
                let forged = [front, &twice[start..start + 16]].concat();
                let known = forged == token || forged == once;
                assert!(known || refusal(&keys, &forged, &check()).is_some());
            }
        }
    }
}

#[test]
fn t42_a_signed_block_cannot_be_taken_off_either() {
    let (key, first, second) = (key(Suite::Ed25519, 5), holder(6), holder(7));
    let keys = keys(&key);
    let named = first.verifying_key();
    let token = issue(&key, &claims().delegate(&named), None);
    assert!(Peek::at(&token).unwrap().is_open());
    assert_eq!(refusal(&keys, &token, &check()), Some(Reason::NotClosed));
    let named = second.verifying_key();
    let passed = passed_on(&token, &first, Next::Key(&named));
    assert_eq!(refusal(&keys, &passed, &check()), Some(Reason::NotClosed));
    let closed = passed_on(&passed, &second, Next::Nobody);
    assert_eq!(refusal(&keys, &closed, &check()), None);
    assert!(!Peek::at(&closed).unwrap().is_open());
    assert_eq!(branches(&keys, &closed).len(), 3);

    // Sizes as stated: 99 bytes for a block that names a key, 67 for the last one, and the claims.
    let scope_claim = 2 + "read".len();
    assert_eq!(passed.len() - token.len(), 99 + scope_claim);
    assert_eq!(closed.len() - passed.len(), 67 + scope_claim);

    let mut out = vec![1];
    let mut refused = |token: &[u8], key: &SigningKey, narrowing: &Narrowing<'_>| {
        let error = delegate_into(token, key, narrowing, Next::Nobody, &mut out).unwrap_err();
        assert_eq!(out, [1]);
        error
    };
    assert_eq!(refused(&token, &second, &Narrowing::new()), Error::KeyOther);
    assert_eq!(refused(&passed, &first, &Narrowing::new()), Error::KeyOther);
    assert_eq!(refused(&closed, &second, &Narrowing::new()), Error::Closed);
    let widening = Narrowing::new().scope(scope("write"));
    assert_eq!(refused(&passed, &second, &widening), Error::Widens);
    let plain = issue(&key, &claims(), None);
    assert_eq!(refused(&plain, &first, &Narrowing::new()), Error::Closed);
}

#[test]
fn a_branch_is_revoked_without_its_root_or_its_sisters() {
    for suite in MACS {
        let key = key(suite, 8);
        let keys = keys(&key);
        let token = issue(&key, &claims(), None);
        let sister = narrowed(&token, &Narrowing::new().scope(scope("write")));
        let mut branch = Vec::new();
        let id =
            attenuate_into(&token, &Narrowing::new().scope(scope("read")), &mut branch).unwrap();
        let leaf = narrowed(&branch, &Narrowing::new().until(at(NOW + 5)));
        let mut denied = DenySet::new();
        denied.insert(id, at(NOW + 3600));
        let accepted = |token: &[u8]| keys.verify(token, &check(), &denied).is_ok();
        assert!(accepted(&token) && accepted(&sister));
        assert!(!accepted(&branch) && !accepted(&leaf));
        denied.insert(branches(&keys, &token)[0], at(NOW + 3600));
        assert!(keys.verify(&sister, &check(), &denied).is_err());
    }
}

#[test]
fn blocks_that_say_nothing_or_more_are_not_added() {
    for suite in MACS {
        let key = key(suite, 9);
        let token = issue(&key, &claims().not_before(at(NOW - 5)), None);
        let rows = [
            Narrowing::new(),
            Narrowing::new().until(at(NOW + 3601)),
            Narrowing::new().not_before(at(NOW - 6)),
            Narrowing::new().audience("mail").unwrap(),
            Narrowing::new().scope(scope("admin")),
            Narrowing::new().scope(scope("admin read write")),
        ];
        for row in rows {
            let mut out = vec![1];
            let made = attenuate_into(&token, &row, &mut out);
            assert_eq!((made, &out[..]), (Err(Error::Widens), &[1][..]), "{row:?}");
        }
        let mut full = token;
        for _ in 0..MAX_BLOCKS {
            full = narrowed(&full, &Narrowing::new().audience("api").unwrap());
        }
        assert_eq!(refusal(&keys(&key), &full, &check()), None);
        let again = Narrowing::new().scope(scope("read"));
        assert_eq!(
            attenuate_into(&full, &again, &mut Vec::new()),
            Err(Error::TooManyBlocks)
        );
    }
}

#[test]
fn each_suite_has_its_own_way_of_narrowing() {
    let (mac, signed) = (key(Suite::Blake3, 1), key(Suite::Ed25519, 2));
    let (token, narrowing) = (
        issue(&mac, &claims(), None),
        Narrowing::new().scope(scope("read")),
    );
    let made = delegate_into(
        &token,
        &holder(1),
        &narrowing,
        Next::Nobody,
        &mut Vec::new(),
    );
    assert_eq!(made, Err(Error::OtherWay));
    let token = issue(&signed, &claims(), None);
    assert_eq!(
        attenuate_into(&token, &narrowing, &mut Vec::new()),
        Err(Error::OtherWay)
    );
    for bytes in [&b""[..], b"no token", &token[1..], &token[..40]] {
        assert_eq!(
            attenuate_into(bytes, &narrowing, &mut Vec::new()),
            Err(Error::Malformed)
        );
        assert_eq!(Peek::at(bytes), Err(Error::Malformed));
    }
}

#[test]
fn narrowing_never_gives_more() {
    let key = key(Suite::Blake3, 10);
    let keys = keys(&key);
    let token = issue(&key, &claims(), None);
    let mut last = permits(&keys.verify(&token, &check(), &DenySet::new()).unwrap());
    let mut longer = token;
    for (step, word) in [(100, "read write"), (50, "read"), (50, "read"), (1, "")].into_iter() {
        longer = narrowed(
            &longer,
            &Narrowing::new().until(at(NOW + step)).scope(scope(word)),
        );
        let now = permits(&keys.verify(&longer, &check(), &DenySet::new()).unwrap());
        assert!(now.0 <= last.0 && now.1 >= last.1 && now.2 == last.2);
        assert!(scope(&now.3).is_within(&scope(&last.3)));
        last = now;
    }
}
