//! AES-GCM and ChaCha20-Poly1305. XChaCha20-Poly1305 is judged by `keywright-envelope`.

use keywright_primitives::aead::{Aes128Gcm, Aes256Gcm, ChaCha20Poly1305};
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
