//! ML-KEM of Wycheproof: keys from seeds and in their long form, encapsulation with given randomness,
//! decapsulation with its implicit rejection.

use keywright_primitives::hazmat::ml_kem::{encapsulate_768, encapsulate_1024};
use keywright_primitives::kem::{
    MlKem768DecapsulationKey, MlKem768EncapsulationKey, MlKem1024DecapsulationKey,
    MlKem1024EncapsulationKey,
};
use keywright_secret::Secret;

use super::Decision;
use crate::vectors::forms::fields::{Fields, Wrong};

pub(super) fn ml_kem(group: &Fields<'_>, case: &Fields<'_>) -> Result<Decision, Wrong> {
    let kind = group.text("type")?;
    match group.text("parameterSet")? {
        "ML-KEM-768" => ml_kem_768::decide(kind, case),
        "ML-KEM-1024" => ml_kem_1024::decide(kind, case),
        _ => Ok(Decision::Skipped("ML-KEM-512")),
    }
}

macro_rules! size {
    ($module:ident, $private:ident, $public:ident, $given:ident) => {
        mod $module {
            use super::*;

            pub(super) fn decide(kind: &str, case: &Fields<'_>) -> Result<Decision, Wrong> {
                match kind {
                    "MLKEMKeyGen" => made(case),
                    "MLKEMDecapsValidationTest" => long(case),
                    "MLKEMEncapsTest" => encapsulated(case),
                    "MLKEMTest" => decapsulated(case),
                    _ => Err(case.wrong("type")),
                }
            }

            fn made(case: &Fields<'_>) -> Result<Decision, Wrong> {
                let (seed, long) = (case.hex("seed")?, case.hex("dk")?);
                let seed = Secret::copy_from(&seed).ok_or_else(|| case.wrong("seed"))?;
                let Ok(key) = $private::from_seed(&seed) else {
                    return Ok(Decision::Wrong);
                };
                let written = key
                    .to_bytes()
                    .is_ok_and(|made| made.expose()[..] == long[..]);
                let public = key.encapsulation_key().as_bytes()[..] == case.hex("ek")?;
                Ok(Decision::compared(written && public))
            }

            fn long(case: &Fields<'_>) -> Result<Decision, Wrong> {
                let key = Secret::copy_from(&case.hex("dk")?);
                match key.map(|key| $private::from_bytes(&key)) {
                    Some(Ok(key)) => secret(&key, case),
                    _ => Ok(Decision::Refused),
                }
            }

            fn encapsulated(case: &Fields<'_>) -> Result<Decision, Wrong> {
                let key = case.hex("ek")?;
                let read = key[..].try_into().map($public::from_bytes);
                let Ok(Ok(key)) = read else {
                    return Ok(Decision::Refused);
                };
                let m = Secret::copy_from(&case.hex("m")?).ok_or_else(|| case.wrong("m"))?;
                let (c, k) = (case.hex("c")?, case.hex("K")?);
                Ok(match $given(&key, &m) {
                    Ok((made, secret)) => {
                        Decision::compared(made[..] == c[..] && secret.expose()[..] == k[..])
                    }
                    Err(_) => Decision::Wrong,
                })
            }

            fn decapsulated(case: &Fields<'_>) -> Result<Decision, Wrong> {
                let seed = Secret::copy_from(&case.hex("seed")?);
                let Some(Ok(key)) = seed.map(|seed| $private::from_seed(&seed)) else {
                    return Ok(Decision::Refused);
                };
                match key.encapsulation_key().as_bytes()[..] == case.hex("ek")? {
                    true => secret(&key, case),
                    false => Ok(Decision::Wrong),
                }
            }

            fn secret(key: &$private, case: &Fields<'_>) -> Result<Decision, Wrong> {
                let ciphertext = case.hex("c")?;
                let Ok(ciphertext) = ciphertext[..].try_into() else {
                    return Ok(Decision::Refused);
                };
                let expected = case.hex("K")?;
                Ok(match key.decapsulate(ciphertext) {
                    Ok(made) => Decision::compared(made.expose()[..] == expected[..]),
                    Err(_) => Decision::Wrong,
                })
            }
        }
    };
}

size! { ml_kem_768, MlKem768DecapsulationKey, MlKem768EncapsulationKey, encapsulate_768 }
size! { ml_kem_1024, MlKem1024DecapsulationKey, MlKem1024EncapsulationKey, encapsulate_1024 }
