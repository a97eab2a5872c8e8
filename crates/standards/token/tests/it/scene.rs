//! Keys, claims and checks of the tests.

use keywright_primitives::random::RandomStream;
use keywright_primitives::signature::SigningKey;
use keywright_secret::Secret;
use keywright_token::{
    Audience, Binder, Check, Claims, DenySet, IssuingKey, KeyId, Reason, RevocationId, Scope,
    Suite, UnixSeconds, VerifyingKeys,
};

pub(crate) const NOW: u64 = 1_800_000_000;

pub(crate) fn at(seconds: u64) -> UnixSeconds {
    UnixSeconds::new(seconds).unwrap()
}

pub(crate) fn scope(text: &str) -> Scope<'_> {
    Scope::parse(text).unwrap()
}

pub(crate) fn secret(byte: u8) -> Secret<32> {
    Secret::from_fill(|secret| *secret = [byte; 32])
}

pub(crate) fn key(suite: Suite, byte: u8) -> IssuingKey {
    let id = KeyId::new([byte; 4]);
    match suite {
        Suite::Blake3 => IssuingKey::blake3(id, &secret(byte)),
        Suite::HmacSha256 => IssuingKey::hmac_sha256(id, &secret(byte)),
        Suite::Ed25519 => IssuingKey::ed25519(id, &secret(byte)).unwrap(),
        other => panic!("unknown suite {other}"),
    }
}

pub(crate) fn keys(key: &IssuingKey) -> VerifyingKeys {
    VerifyingKeys::of(key.verifying_key().unwrap())
}

pub(crate) fn holder(byte: u8) -> SigningKey {
    SigningKey::from_seed(&secret(byte)).unwrap()
}

/// For an hour, for `api`, to read and write.
pub(crate) fn claims() -> Claims<'static> {
    let claims = Claims::until(at(NOW + 3600)).audience("api").unwrap();
    claims.scope(scope("read write"))
}

pub(crate) fn issue(key: &IssuingKey, claims: &Claims<'_>, binder: Option<&Binder>) -> Vec<u8> {
    let mut token = Vec::new();
    let mut random = RandomStream::new().unwrap();
    key.issue_into(claims, binder, &mut random, &mut token)
        .unwrap();
    token
}

pub(crate) fn check() -> Check<'static> {
    Check::at(at(NOW), Audience::Is("api"))
}

/// Why a token is refused; nothing if it is accepted.
pub(crate) fn refusal(keys: &VerifyingKeys, token: &[u8], check: &Check<'_>) -> Option<Reason> {
    let verified = keys.verify(token, check, &DenySet::new());
    verified.err().map(|rejected| {
        // Whoever presents a token sees one answer, in every form of it.
        assert_eq!(rejected.to_string(), "the token is not accepted");
        assert_eq!(format!("{rejected:?}"), "Rejected");
        rejected.reason_for_audit()
    })
}

pub(crate) fn branches(keys: &VerifyingKeys, token: &[u8]) -> Vec<RevocationId> {
    let verified = keys.verify(token, &check(), &DenySet::new()).unwrap();
    verified.revocation_ids().collect()
}
