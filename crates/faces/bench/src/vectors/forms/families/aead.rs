//! AES-GCM, ChaCha20-Poly1305 and XChaCha20-Poly1305 of Wycheproof: opened, and sealed again.

use keywright_primitives::aead::{Aes128Gcm, Aes256Gcm, ChaCha20Poly1305, XChaCha20Poly1305};

use super::{Decision, array};
use crate::vectors::forms::fields::{Fields, Wrong};

macro_rules! decide {
    ($name:ident, $case:expr, $made:expr) => {{
        let case = $case;
        let key = array(case, "key")?;
        let made: fn(_) -> Option<$name> = $made;
        let Some(key) = made(&key) else {
            return Ok(Decision::Wrong);
        };
        let (nonce, tag) = (array(case, "iv")?, array(case, "tag")?);
        let (aad, text, sealed) = (case.hex("aad")?, case.hex("msg")?, case.hex("ct")?);
        let mut opened = sealed.clone();
        if key.open(&nonce, &aad, &mut opened, &tag).is_err() {
            let wiped = opened.iter().all(|byte| *byte == 0);
            return Ok(if wiped {
                Decision::Refused
            } else {
                Decision::Wrong
            });
        }
        let mut made = text.clone();
        let again = key.seal(&nonce, &aad, &mut made);
        let same = opened == text && made == sealed && again.is_ok_and(|made| made == tag);
        Ok(Decision::compared(same))
    }};
}

pub(super) fn aes_gcm(group: &Fields<'_>, case: &Fields<'_>) -> Result<Decision, Wrong> {
    match (group.number("ivSize")?, group.number("keySize")?) {
        (96, 128) => decide!(Aes128Gcm, case, |key| Aes128Gcm::new(key).ok()),
        (96, 256) => decide!(Aes256Gcm, case, |key| Aes256Gcm::new(key).ok()),
        (96, _) => Ok(Decision::Skipped("AES-GCM under keys of 192 bits")),
        _ => Ok(Decision::Skipped(
            "AES-GCM with nonces of other lengths than 96 bits",
        )),
    }
}

pub(super) fn chacha20_poly1305(group: &Fields<'_>, case: &Fields<'_>) -> Result<Decision, Wrong> {
    match group.number("ivSize")? {
        96 => decide!(ChaCha20Poly1305, case, |key| ChaCha20Poly1305::new(key)
            .ok()),
        // Another length cannot even be said.
        _ => Ok(Decision::Refused),
    }
}

pub(super) fn xchacha20_poly1305(group: &Fields<'_>, case: &Fields<'_>) -> Result<Decision, Wrong> {
    match group.number("ivSize")? {
        192 => decide!(XChaCha20Poly1305, case, |key| Some(XChaCha20Poly1305::new(
            key
        ))),
        _ => Ok(Decision::Refused),
    }
}
