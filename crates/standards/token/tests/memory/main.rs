//! Verifying a token takes no memory from the heap, whether it is accepted or not. A test of its own, because
//! its allocator counts.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod allocator;

use allocator::allocations;
use keywright_primitives::random::RandomStream;
use keywright_secret::Secret;
use keywright_token::{
    Audience, Check, Claims, DenySet, IssuingKey, KeyId, MAX_BLOCKS, Narrowing, Scope, Suite,
    UnixSeconds, VerifyingKeys, attenuate_into,
};

const NOW: u64 = 1_800_000_000;

fn at(seconds: u64) -> UnixSeconds {
    UnixSeconds::new(seconds).unwrap()
}

fn key(suite: Suite) -> IssuingKey {
    let (id, secret) = (
        KeyId::new([1; 4]),
        Secret::from_fill(|secret| *secret = [2; 32]),
    );
    match suite {
        Suite::Blake3 => IssuingKey::blake3(id, &secret),
        Suite::HmacSha256 => IssuingKey::hmac_sha256(id, &secret),
        _ => IssuingKey::ed25519(id, &secret).unwrap(),
    }
}

fn issued(key: &IssuingKey) -> Vec<u8> {
    let claims = Claims::until(at(NOW + 3600)).audience("api").unwrap();
    let claims = claims.scope(Scope::parse("read write").unwrap());
    let (mut token, mut random) = (Vec::new(), RandomStream::new().unwrap());
    key.issue_into(&claims, None, &mut random, &mut token)
        .unwrap();
    token
}

/// The token with as many blocks as there can be, each an hour shorter by some seconds.
fn narrowed(token: &[u8]) -> Vec<u8> {
    let mut token = token.to_vec();
    for block in 1..=u64::try_from(MAX_BLOCKS).unwrap() {
        let mut out = Vec::new();
        let narrowing = Narrowing::new().until(at(NOW + 3600 - block));
        attenuate_into(&token, &narrowing, &mut out).unwrap();
        token = out;
    }
    token
}

#[test]
fn verifying_allocates_nothing() {
    for suite in [Suite::Blake3, Suite::HmacSha256, Suite::Ed25519] {
        let key = key(suite);
        let keys = VerifyingKeys::of(key.verifying_key().unwrap());
        let check = Check::at(at(NOW), Audience::Is("api"));
        let late = Check::at(at(NOW + 3600), Audience::Is("api"));
        let mut tokens = vec![issued(&key)];
        if suite != Suite::Ed25519 {
            tokens.push(narrowed(&tokens[0]));
        }
        let nobody = DenySet::new();
        for token in &tokens {
            let mut changed = token.clone();
            *changed.last_mut().unwrap() ^= 1;
            // The backend prepares itself with its first signature.
            assert!(keys.verify(token, &check, &nobody).is_ok());
            let count = allocations(|| {
                for _ in 0..10 {
                    let verified = keys.verify(token, &check, &nobody).unwrap();
                    assert_eq!(verified.audience(), Some("api"));
                    assert!(keys.verify(token, &late, &nobody).is_err());
                    assert!(keys.verify(&changed, &check, &nobody).is_err());
                    assert!(keys.verify(&token[1..], &check, &nobody).is_err());
                }
            });
            assert_eq!(count, 0, "{suite}, {} bytes", token.len());
        }
    }
    // The counter counts: what makes a token takes some.
    let key = key(Suite::Blake3);
    assert!(allocations(|| drop(issued(&key))) > 0);
}
