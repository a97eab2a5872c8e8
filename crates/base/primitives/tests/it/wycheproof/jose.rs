//! What JOSE messages carry inside: RSA and ECDSA signatures, RSA encryption, AES-CBC under a MAC.
//!
//! Only the cryptography is judged. A case that turns on a rule of JOSE itself, such as which key may be
//! used for what, is counted as not supported.

use keywright_encoding::base64;
use keywright_primitives::aead::{Aes128Gcm, Aes256Gcm};
use keywright_primitives::hazmat::cbc::{Aes128Cbc, Aes256Cbc};
use keywright_primitives::hazmat::rsa_pkcs1;
use keywright_primitives::mac::{HmacSha256, HmacSha512};
use keywright_primitives::rsa_encryption::RsaDecryptionKey;
use keywright_primitives::signature::ecdsa::P256VerifyingKey;
use keywright_primitives::signature::rsa::RsaVerifyingKey;
use keywright_secret::SecretBytes;
use keywright_vectors::wycheproof::{Case, run};
use keywright_vectors::{Error, Record, Verdict};

use super::{compared, verdict};
use crate::der;

const OF_JOSE: Verdict = Verdict::Unsupported("a rule of JOSE, not of its algorithms");
const OTHER: Verdict = Verdict::Unsupported("an algorithm that is not offered");

/// Base64 of the other alphabet and without padding, in its one spelling.
fn url(text: &str) -> Option<Vec<u8>> {
    if text.contains(['+', '/', '=']) {
        return None;
    }
    let standard = text.replace('-', "+").replace('_', "/");
    let padding = "=".repeat((4 - standard.len() % 4) % 4);
    base64::decode(&(standard + &padding)).ok()
}

fn number(key: &Record, name: &str) -> Result<Vec<u8>, Error> {
    Ok(url(key.text(name)?).unwrap())
}

fn header(text: &str) -> Option<Record> {
    let value = serde_json::from_slice(&url(text)?).ok()?;
    Record::new("header", &value).ok()
}

/// The text of a message in its compact form.
fn compact<'a>(case: &'a Case, field: &str) -> Option<&'a str> {
    case.fields.field(field).and_then(|value| value.as_str())
}

/// The key's algorithm, where the key says one.
fn algorithm(key: &Record) -> &str {
    key.text("alg").unwrap_or("")
}

#[test]
fn json_web_signatures_with_rsa_and_ecdsa() {
    run("json_web_signature_test.json", 401, |case| {
        if case.group.field("public").is_none() {
            return Ok(Verdict::Unsupported("a symmetric key"));
        }
        let key = case.group.object("public")?;
        if !matches!(algorithm(&key), "RS256" | "PS256" | "ES256") {
            return Ok(if key.field("alg").is_none() {
                OF_JOSE
            } else {
                OTHER
            });
        }
        let Some(message) = compact(case, "jws") else {
            return Ok(OF_JOSE);
        };
        let parts: Vec<&str> = message.split('.').collect();
        let [head, payload, signature] = parts[..] else {
            return Ok(Verdict::Refused);
        };
        let (Some(header), Some(signature)) = (header(head), url(signature)) else {
            return Ok(Verdict::Refused);
        };
        if header.text("alg")? != algorithm(&key) {
            return Ok(OF_JOSE);
        }
        verify(&key, format!("{head}.{payload}").as_bytes(), &signature)
    })
    .unwrap();
}

fn verify(key: &Record, signed: &[u8], signature: &[u8]) -> Result<Verdict, Error> {
    if algorithm(key) == "ES256" {
        let point = [vec![4], number(key, "x")?, number(key, "y")?].concat();
        let key = P256VerifyingKey::from_sec1(&point).unwrap();
        return Ok(match signature.try_into() {
            Ok(signature) => verdict(key.verify_fixed(signed, signature)),
            Err(_) => Verdict::Refused,
        });
    }
    let public = der::rsa_public(&number(key, "n")?, &number(key, "e")?);
    let rsa = RsaVerifyingKey::from_der(&public).unwrap();
    Ok(match algorithm(key) {
        "RS256" => verdict(rsa.verify_pkcs1(signed, signature)),
        _ => verdict(rsa.verify_pss(signed, signature)),
    })
}

/// The five parts of an encrypted message.
struct Sealed {
    header: Record,
    aad: Vec<u8>,
    key: Vec<u8>,
    iv: Vec<u8>,
    ciphertext: Vec<u8>,
    tag: Vec<u8>,
}

fn parts(message: &str) -> Option<Sealed> {
    let parts: Vec<&str> = message.split('.').collect();
    let [head, key, iv, ciphertext, tag] = parts[..] else {
        return None;
    };
    Some(Sealed {
        header: header(head)?,
        aad: head.as_bytes().to_vec(),
        key: url(key)?,
        iv: url(iv)?,
        ciphertext: url(ciphertext)?,
        tag: url(tag)?,
    })
}

#[test]
fn json_web_encryption_with_rsa_and_aes() {
    run("json_web_encryption_test.json", 139, |case| {
        let key = case.group.object("private")?;
        if !matches!(algorithm(&key), "RSA-OAEP-256" | "RSA1_5" | "A256GCMKW") {
            return Ok(OTHER);
        }
        let Some(sealed) = compact(case, "jwe").and_then(parts) else {
            return Ok(Verdict::Refused);
        };
        if sealed.header.text("alg")? != algorithm(&key) {
            return Ok(OF_JOSE);
        }
        if sealed.header.text("enc")?.contains("192") {
            return Ok(OTHER);
        }
        let Some(content_key) = unwrap(&key, &sealed)? else {
            return Ok(Verdict::Refused);
        };
        Ok(match open(&sealed, content_key.expose()) {
            Some(text) => compared(text == case.fields.hex("pt")?),
            None => Verdict::Refused,
        })
    })
    .unwrap();
}

fn unwrap(key: &Record, sealed: &Sealed) -> Result<Option<SecretBytes>, Error> {
    if algorithm(key) == "A256GCMKW" {
        let key = Aes256Gcm::new(number(key, "k")?[..].try_into().unwrap()).unwrap();
        let (iv, tag) = (
            number(&sealed.header, "iv")?,
            number(&sealed.header, "tag")?,
        );
        let mut content = sealed.key.clone();
        let (iv, tag) = (iv[..].try_into().unwrap(), tag[..].try_into().unwrap());
        let opened = key.open(iv, b"", &mut content, tag);
        return Ok(opened.ok().map(|()| SecretBytes::from_vec(content)));
    }
    let mut numbers = [const { Vec::new() }; 8];
    let names = ["n", "e", "d", "p", "q", "dp", "dq", "qi"];
    for (digits, name) in numbers.iter_mut().zip(names) {
        *digits = number(key, name)?;
    }
    let document = SecretBytes::from_vec(der::rsa_pkcs8(&numbers));
    let rsa = RsaDecryptionKey::from_pkcs8(&document).unwrap();
    Ok(match algorithm(key) {
        "RSA-OAEP-256" => rsa.decrypt_oaep(&sealed.key, b"").ok(),
        _ => rsa_pkcs1::decrypt(&rsa, &sealed.key).ok(),
    })
}

/// The content, if the key has the length that the algorithm wants and everything fits.
fn open(sealed: &Sealed, key: &[u8]) -> Option<Vec<u8>> {
    let mut text = sealed.ciphertext.clone();
    match sealed.header.text("enc").unwrap() {
        "A128GCM" => {
            let (iv, tag) = (
                sealed.iv[..].try_into().ok()?,
                sealed.tag[..].try_into().ok()?,
            );
            let key = Aes128Gcm::new(key.try_into().ok()?).unwrap();
            key.open(iv, &sealed.aad, &mut text, tag).ok()?;
            Some(text)
        }
        "A256GCM" => {
            let (iv, tag) = (
                sealed.iv[..].try_into().ok()?,
                sealed.tag[..].try_into().ok()?,
            );
            let key = Aes256Gcm::new(key.try_into().ok()?).unwrap();
            key.open(iv, &sealed.aad, &mut text, tag).ok()?;
            Some(text)
        }
        "A128CBC-HS256" => {
            let (mac, key) = <&[u8; 32]>::try_from(key).ok()?.split_at(16);
            let made = HmacSha256::new(mac).unwrap().mac(&authenticated(sealed));
            (made[..16] == sealed.tag).then_some(())?;
            let key = Aes128Cbc::new(key.try_into().ok()?).unwrap();
            key.decrypt(sealed.iv[..].try_into().ok()?, &mut text)
                .ok()?;
            Some(text)
        }
        "A256CBC-HS512" => {
            let (mac, key) = <&[u8; 64]>::try_from(key).ok()?.split_at(32);
            let made = HmacSha512::new(mac).unwrap().mac(&authenticated(sealed));
            (made[..32] == sealed.tag).then_some(())?;
            let key = Aes256Cbc::new(key.try_into().ok()?).unwrap();
            key.decrypt(sealed.iv[..].try_into().ok()?, &mut text)
                .ok()?;
            Some(text)
        }
        other => panic!("{other}"),
    }
}

/// A, IV, E and the length of A in bits (RFC 7518 5.2.2.1).
fn authenticated(sealed: &Sealed) -> Vec<u8> {
    let bits = u64::try_from(sealed.aad.len() * 8).unwrap().to_be_bytes();
    [&sealed.aad, &sealed.iv, &sealed.ciphertext, &bits[..]].concat()
}
