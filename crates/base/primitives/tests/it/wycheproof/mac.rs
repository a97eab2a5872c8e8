//! HMAC and AES-CMAC.

use keywright_primitives::hash::sha256;
use keywright_primitives::mac::{
    Aes128Cmac, Aes256Cmac, HmacSha256, HmacSha384, HmacSha512, MacKey,
};
use keywright_vectors::Verdict;
use keywright_vectors::wycheproof::{Case, run};

use super::verdict;

macro_rules! hmac {
    ($name:ident, $tag_len:literal, $case:expr) => {{
        let fields = &$case.fields;
        let key = $name::new(&fields.hex("key")?).unwrap();
        let (message, tag) = (fields.hex("msg")?, fields.hex("tag")?);
        Ok(match <&[u8; $tag_len]>::try_from(&tag[..]) {
            Ok(tag) => verdict(key.verify(&message, tag)),
            // We know no shorter tags; the whole one must begin with it.
            Err(_) => verdict(key.mac(&message).strip_prefix(&tag[..]).ok_or(())),
        })
    }};
}

#[test]
fn hmac_sha256_with_both_types_of_key() {
    run("hmac_sha256_test.json", 174, |case: &Case| {
        let (key, message) = (case.fields.hex("key")?, case.fields.hex("msg")?);
        let any = HmacSha256::new(&key).unwrap();
        if let Some(fixed) = mac_key(&key) {
            assert_eq!(fixed.mac(&message), any.mac(&message));
        }
        hmac!(HmacSha256, 32, case)
    })
    .unwrap();
}

/// HMAC fills a short key up with zeros and hashes one that is longer than a block, so that most keys
/// have an equal of 32 bytes.
fn mac_key(key: &[u8]) -> Option<MacKey> {
    let mut whole = [0; 32];
    match key.len() {
        0..=32 => whole[..key.len()].copy_from_slice(key),
        33..=64 => return None,
        _ => whole = sha256(key),
    }
    Some(MacKey::new(&whole))
}

#[test]
fn hmac_sha384() {
    run("hmac_sha384_test.json", 174, |case: &Case| {
        hmac!(HmacSha384, 48, case)
    })
    .unwrap();
}

#[test]
fn hmac_sha512() {
    run("hmac_sha512_test.json", 174, |case: &Case| {
        hmac!(HmacSha512, 64, case)
    })
    .unwrap();
}

#[test]
fn aes_cmac() {
    run("aes_cmac_test.json", 311, |case| {
        let fields = &case.fields;
        let (key, message) = (fields.hex("key")?, fields.hex("msg")?);
        Ok(match key.len() {
            16 => {
                let key = Aes128Cmac::new(key[..].try_into().unwrap()).unwrap();
                verdict(key.verify(&message, &fields.array("tag")?))
            }
            24 => Verdict::Unsupported("the key has 192 bits"),
            32 => {
                let key = Aes256Cmac::new(key[..].try_into().unwrap()).unwrap();
                verdict(key.verify(&message, &fields.array("tag")?))
            }
            // Another length cannot even be said.
            _ => Verdict::Refused,
        })
    })
    .unwrap();
}
