//! The promises of the parser and of verification over arbitrary bytes, as one function that the fuzz
//! target and a plain test of this crate both call.

use keywright_secret::Secret;

use crate::format::Parsed;
use crate::tlv::ClaimSet;
use crate::{
    Audience, Check, DenySet, IssuingKey, KeyId, Narrowing, Scope, UnixSeconds, VerifyingKeys,
    attenuate_into,
};

/// The secret of every key that the function verifies with.
pub const SECRET: [u8; 32] = [0x5A; 32];
/// Its key ids: one for each suite.
pub const KEYS: [KeyId; 3] = [KeyId::new([1; 4]), KeyId::new([2; 4]), KeyId::new([17; 4])];

/// Keys of [`SECRET`], in the order of [`KEYS`].
#[must_use]
pub fn issuers() -> Option<[IssuingKey; 3]> {
    let secret = Secret::from_fill(|secret| *secret = SECRET);
    let [first, second, third] = KEYS;
    Some([
        IssuingKey::blake3(first, &secret),
        IssuingKey::hmac_sha256(second, &secret),
        IssuingKey::ed25519(third, &secret).ok()?,
    ])
}

/// Reads `data` as a token, verifies and narrows it, and checks that
/// * claims that are read are written again as the same bytes: there is no second spelling;
/// * what verifies has the shape of a token, and its scope is one;
/// * a token that is narrowed verifies no more widely, and not at all if the longer one did not.
///
/// # Panics
/// If one of them does not hold, which is what a fuzzer looks for.
pub fn token(data: &[u8], keys: &VerifyingKeys) {
    if let Ok(claims) = ClaimSet::parse(data) {
        same_spelling(&claims, data);
    }
    let check = Check::at(UnixSeconds::MAX, Audience::Any);
    let now = Check::at(UNIX_START, Audience::Any);
    let Ok(parsed) = Parsed::of(data) else {
        assert!(keys.verify(data, &now, &DenySet::new()).is_err());
        return;
    };
    let claims = parsed.base.get(24..).unwrap_or_default();
    same_spelling(&parsed.claims, claims);
    // Nothing is valid in the last second of all.
    assert!(keys.verify(data, &check, &DenySet::new()).is_err());
    let verified = keys.verify(data, &now, &DenySet::new());
    let mut narrower = b"before".to_vec();
    let narrowing = Narrowing::new().scope(Scope::EMPTY);
    if attenuate_into(data, &narrowing, &mut narrower).is_err() {
        assert_eq!(
            narrower, b"before",
            "a refused narrowing left something behind"
        );
        return;
    }
    let narrower = narrower.split_off(6);
    let again = keys.verify(&narrower, &now, &DenySet::new());
    assert_eq!(
        verified.is_ok(),
        again.is_ok(),
        "a block changed who accepts it"
    );
    assert!(again.is_ok_and(|token| token.scope().is_empty()) || verified.is_err());
}

const UNIX_START: UnixSeconds = match UnixSeconds::new(0) {
    Ok(start) => start,
    Err(_) => UnixSeconds::MAX,
};

fn same_spelling(claims: &ClaimSet<'_>, bytes: &[u8]) {
    let mut out = Vec::new();
    claims.encode_into(&mut out);
    assert_eq!(out, bytes, "claims with two spellings");
    assert_eq!(out.len(), claims.encoded_len());
}
