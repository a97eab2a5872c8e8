//! The worked examples of `docs/formats.md`.

use keywright_encoding::hex;
use keywright_primitives::signature::SigningKey;
use keywright_secret::Secret;
use keywright_token::{
    Audience, Check, Claims, IssuingKey, KeyId, Narrowing, Next, RevocationId, attenuate_into,
    delegate_into, hazmat,
};

use crate::scene::{NOW, at, holder, keys, refusal, scope};

const PAGE: &str = include_str!("../../../../../docs/formats.md");

fn worked(name: &str) -> Vec<u8> {
    let found = PAGE.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == name).then(|| value.trim())
    });
    hex::decode(found.unwrap_or_else(|| panic!("{name} is not on the page"))).unwrap()
}

fn issued(key: &IssuingKey, named: Option<&SigningKey>) -> Vec<u8> {
    let named = named.map(SigningKey::verifying_key);
    let mut claims = Claims::until(at(NOW + 3600)).audience("api").unwrap();
    claims = claims.scope(scope("read write"));
    if let Some(named) = &named {
        claims = claims.delegate(named);
    }
    let mut token = Vec::new();
    let id = RevocationId::from_bytes([0x11; 16]);
    hazmat::issue_with_id(key, &claims, None, id, &mut token).unwrap();
    token
}

#[test]
fn worked_tokens_are_those_of_the_page_and_accepted() {
    let secret = Secret::from_fill(|secret: &mut [u8; 32]| {
        secret
            .iter_mut()
            .zip(0..)
            .for_each(|(byte, value)| *byte = value);
    });
    let id = KeyId::new([1, 2, 3, 4]);
    let (first, second) = (
        IssuingKey::blake3(id, &secret),
        IssuingKey::hmac_sha256(id, &secret),
    );
    let signing = IssuingKey::ed25519(id, &secret).unwrap();
    let narrowing = Narrowing::new().scope(scope("read"));
    let (mut narrowed, mut closed, delegate) = (Vec::new(), Vec::new(), holder(0x22));
    let branch = attenuate_into(&worked("token-1"), &narrowing, &mut narrowed).unwrap();
    assert_eq!(branch.as_bytes()[..], worked("token-1-branch"));
    let open = issued(&signing, Some(&delegate));
    delegate_into(&open, &delegate, &narrowing, Next::Nobody, &mut closed).unwrap();
    for (name, key, made) in [
        ("token-1", &first, issued(&first, None)),
        ("token-1-narrowed", &first, narrowed),
        ("token-2", &second, issued(&second, None)),
        ("token-17", &signing, issued(&signing, None)),
        ("token-17-closed", &signing, closed),
    ] {
        assert_eq!(made, worked(name), "{name}");
        let check = Check::at(at(NOW), Audience::Is("api")).wanting(scope("read"));
        assert_eq!(refusal(&keys(key), &made, &check), None, "{name}");
    }
}
