//! AES-GCM, ChaCha20-Poly1305 and AES-SIV. XChaCha20-Poly1305 is judged by `keywright-envelope`.

use keywright_primitives::aead::{Aes128Gcm, Aes256Gcm, Aes256Siv, ChaCha20Poly1305};
use keywright_primitives::hazmat::long_nonce::LongNonceGcm;
use keywright_vectors::Verdict;
use keywright_vectors::wycheproof::run;

use super::compared;

macro_rules! decide {
    ($name:ident, $fields:expr) => {{
        let fields = $fields;
        let key = $name::new(&fields.array("key")?).unwrap();
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
        Ok(compared(
            opened == text && made == sealed && made_tag == tag,
        ))
    }};
}

#[test]
fn aes_gcm_with_a_nonce_of_96_bits() {
    run("aes_gcm_test.json", 316, |case| {
        if case.group.number::<u32>("ivSize")? != 96 {
            return Ok(Verdict::Unsupported("the nonce has not 96 bits"));
        }
        match case.group.number::<u32>("keySize")? {
            128 => decide!(Aes128Gcm, &case.fields),
            256 => decide!(Aes256Gcm, &case.fields),
            _ => Ok(Verdict::Unsupported("the key has 192 bits")),
        }
    })
    .unwrap();
}

#[test]
fn aes_256_gcm_with_a_nonce_of_128_bits_opens_what_fits_and_leaves_the_rest_as_it_is() {
    run("aes_gcm_test.json", 316, |case| {
        let (nonce, key) = (
            case.group.number::<u32>("ivSize")?,
            case.group.number("keySize")?,
        );
        if (nonce, key) != (128, 256_u32) {
            return Ok(Verdict::Unsupported("another nonce or another key"));
        }
        let fields = &case.fields;
        let key = LongNonceGcm::new(&fields.array("key")?);
        let (text, sealed) = (fields.hex("msg")?, fields.hex("ct")?);
        let mut opened = sealed.clone();
        let (nonce, aad) = (fields.array("iv")?, fields.hex("aad")?);
        if key
            .open(&nonce, &aad, &mut opened, &fields.array("tag")?)
            .is_err()
        {
            assert_eq!(opened, sealed, "nothing is shown");
            return Ok(Verdict::Refused);
        }
        Ok(compared(opened == text))
    })
    .unwrap();
}

#[test]
fn chacha20_poly1305() {
    run("chacha20_poly1305_test.json", 325, |case| {
        // Another length cannot even be said.
        if case.group.number::<u32>("ivSize")? != 96 {
            return Ok(Verdict::Refused);
        }
        decide!(ChaCha20Poly1305, &case.fields)
    })
    .unwrap();
}

const SHORTER_KEY: Verdict = Verdict::Unsupported("the key has not 512 bits");

fn siv(key: &[u8; 64], strings: &[&[u8]], text: &[u8], siv: &[u8; 16], sealed: &[u8]) -> Verdict {
    let key = Aes256Siv::new(key).unwrap();
    let mut opened = sealed.to_vec();
    if key.open(strings, &mut opened, siv).is_err() {
        let wiped = opened.iter().all(|byte| *byte == 0);
        assert!(wiped, "a rejected buffer is wiped");
        return Verdict::Refused;
    }
    let mut made = text.to_vec();
    let made_siv = key.seal(strings, &mut made).unwrap();
    compared(opened == text && made == sealed && made_siv == *siv)
}

#[test]
fn aes_siv_with_one_string() {
    run("aes_siv_cmac_test.json", 442, |case| {
        if case.group.number::<u32>("keySize")? != 512 {
            return Ok(SHORTER_KEY);
        }
        let (aad, text, all) = (
            case.fields.hex("aad")?,
            case.fields.hex("msg")?,
            case.fields.hex("ct")?,
        );
        // Fewer bytes than a synthetic IV has cannot even be said.
        let Some((iv, sealed)) = all.split_first_chunk() else {
            return Ok(Verdict::Refused);
        };
        Ok(siv(&case.fields.array("key")?, &[&aad], &text, iv, sealed))
    })
    .unwrap();
}

#[test]
fn aes_siv_with_a_nonce() {
    run("aead_aes_siv_cmac_test.json", 900, |case| {
        if case.group.number::<u32>("keySize")? != 512 {
            return Ok(SHORTER_KEY);
        }
        let fields = &case.fields;
        let (aad, nonce) = (fields.hex("aad")?, fields.hex("iv")?);
        let (text, sealed) = (fields.hex("msg")?, fields.hex("ct")?);
        Ok(siv(
            &fields.array("key")?,
            &[&aad, &nonce],
            &text,
            &fields.array("tag")?,
            &sealed,
        ))
    })
    .unwrap();
}
