//! C2SP Wycheproof: the cases of each file that our narrower types can express.
//!
//! SHA-512 in HKDF-Expand is judged by `keywright-envelope`, with the chunked-encryption file: our keys
//! have 32 bytes, and the pseudo-random keys of the HKDF file have 64.

use keywright_primitives::aead::Aes256Gcm;
use keywright_primitives::hash::sha256;
use keywright_primitives::kdf::expand_sha256;
use keywright_primitives::mac::MacKey;
use keywright_primitives::signature::VerifyingKey;
use keywright_vectors::wycheproof::{Case, run};
use keywright_vectors::{Error, Verdict};

/// The verdict of a verification.
fn verdict<T, E>(result: Result<T, E>) -> Verdict {
    result.map_or(Verdict::Refused, |_| Verdict::Accepted)
}

#[test]
fn aes_256_gcm_with_a_nonce_of_96_bits() {
    run("aes_gcm_test.json", 316, |case| {
        let fields = &case.fields;
        if case.group.number::<u32>("keySize")? != 256 {
            return Ok(Verdict::Unsupported("the key has not 256 bits"));
        }
        if case.group.number::<u32>("ivSize")? != 96 {
            return Ok(Verdict::Unsupported("the nonce has not 96 bits"));
        }
        let key = Aes256Gcm::new(&fields.array("key")?).unwrap();
        let (nonce, aad) = (fields.array("iv")?, fields.hex("aad")?);
        let (text, sealed) = (fields.hex("msg")?, fields.hex("ct")?);
        let tag = fields.array("tag")?;
        let mut opened = sealed.clone();
        if key.open(&nonce, &aad, &mut opened, &tag).is_err() {
            assert!(
                opened.iter().all(|byte| *byte == 0),
                "a rejected buffer is wiped"
            );
            return Ok(Verdict::Refused);
        }
        let mut made = text.clone();
        let made_tag = key.seal(&nonce, &aad, &mut made).unwrap();
        let right = opened == text && made == sealed && made_tag == tag;
        Ok(if right {
            Verdict::Accepted
        } else {
            Verdict::Wrong
        })
    })
    .unwrap();
}

#[test]
fn hmac_sha256() {
    run("hmac_sha256_test.json", 174, |case| {
        let fields = &case.fields;
        let Some(key) = mac_key(&fields.hex("key")?) else {
            return Ok(Verdict::Unsupported("a key between a hash and a block"));
        };
        let (message, tag) = (fields.hex("msg")?, fields.hex("tag")?);
        Ok(match <&[u8; 32]>::try_from(&tag[..]) {
            Ok(tag) => verdict(key.verify(&message, tag)),
            // We know no shorter tags; the whole one must begin with it.
            Err(_) => verdict(key.mac(&message).strip_prefix(&tag[..]).ok_or(())),
        })
    })
    .unwrap();
}

#[test]
fn hkdf_expand_sha256_of_what_the_cases_extract() {
    run("hkdf_sha256_test.json", 86, |case| {
        let fields = &case.fields;
        let Some(salt) = mac_key(&fields.hex("salt")?) else {
            return Ok(Verdict::Unsupported("a salt between a hash and a block"));
        };
        expand(case, &salt.mac(&fields.hex("ikm")?))
    })
    .unwrap();
}

fn expand(case: &Case, key: &[u8; 32]) -> Result<Verdict, Error> {
    let mut out = vec![0; case.fields.number("size")?];
    let info = case.fields.hex("info")?;
    if expand_sha256(key, &[&info], &mut out).is_err() {
        return Ok(Verdict::Refused);
    }
    // The info is joined, not framed: a cut anywhere changes nothing.
    let mut again = vec![0; out.len()];
    let (head, tail) = info.split_at(info.len() / 2);
    expand_sha256(key, &[head, tail], &mut again).unwrap();
    let right = out == case.fields.hex("okm")? && again == out;
    Ok(if right {
        Verdict::Accepted
    } else {
        Verdict::Wrong
    })
}

#[test]
fn ed25519_verification() {
    run("ed25519_test.json", 151, |case| {
        let key = case.group.object("publicKey")?;
        let key = VerifyingKey::from_bytes(key.array("pk")?);
        let signature = case.fields.hex("sig")?;
        // Another length cannot even be said.
        let Ok(signature) = <&[u8; 64]>::try_from(&signature[..]) else {
            return Ok(Verdict::Refused);
        };
        Ok(verdict(key.verify(&case.fields.hex("msg")?, signature)))
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
