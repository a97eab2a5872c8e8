//! ML-KEM-768, as far as it can be said without seeds and without given randomness.

use keywright_primitives::kem::{MlKem768DecapsulationKey, MlKem768EncapsulationKey};
use keywright_secret::Secret;
use keywright_vectors::Verdict;
use keywright_vectors::wycheproof::run;

use super::compared;

/// The seed of the case is not taken: what is judged is that the long form of the key is read, written and
/// used, and that its public half is the file's.
#[test]
fn ml_kem_768_long_keys_hold_their_public_half() {
    run("mlkem_768_keygen_seed_test.json", 100, |case| {
        let long = Secret::copy_from(&case.fields.hex("dk")?).unwrap();
        let key = MlKem768DecapsulationKey::from_bytes(&long).unwrap();
        let public = MlKem768EncapsulationKey::from_bytes(&case.fields.array("ek")?).unwrap();
        let (ciphertext, secret) = public.encapsulate().unwrap();
        let same = key.decapsulate(&ciphertext).unwrap();
        Ok(compared(
            key.encapsulation_key().as_bytes() == public.as_bytes()
                && key.to_bytes().unwrap().ct_eq(&long)
                && same.ct_eq(&secret),
        ))
    })
    .unwrap();
}

#[test]
fn ml_kem_768_decapsulation_with_long_keys() {
    run("mlkem_768_semi_expanded_decaps_test.json", 9, |case| {
        let (key, ciphertext) = (case.fields.hex("dk")?, case.fields.hex("c")?);
        let (Some(key), Ok(ciphertext)) = (Secret::copy_from(&key), ciphertext[..].try_into())
        else {
            return Ok(Verdict::Refused);
        };
        let Ok(key) = MlKem768DecapsulationKey::from_bytes(&key) else {
            return Ok(Verdict::Refused);
        };
        let secret = key.decapsulate(ciphertext).unwrap();
        Ok(compared(*secret.expose() == case.fields.array("K")?))
    })
    .unwrap();
}

#[test]
fn ml_kem_768_encapsulation_keys_are_checked() {
    run("mlkem_768_encaps_test.json", 265, |case| {
        let key = case.fields.hex("ek")?;
        let Ok(key) = key[..].try_into() else {
            return Ok(Verdict::Refused);
        };
        let Ok(key) = MlKem768EncapsulationKey::from_bytes(key) else {
            return Ok(Verdict::Refused);
        };
        key.encapsulate().unwrap();
        Ok(Verdict::Unsupported(
            "the key is taken, but the randomness is given",
        ))
    })
    .unwrap();
}
