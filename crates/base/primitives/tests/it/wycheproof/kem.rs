//! ML-KEM-768 and ML-KEM-1024: keys from seeds, their long form, encapsulation with given randomness, and
//! decapsulation with its implicit rejection.

use keywright_primitives::hazmat::ml_kem::{encapsulate_768, encapsulate_1024};
use keywright_primitives::kem::{
    MlKem768DecapsulationKey, MlKem768EncapsulationKey, MlKem1024DecapsulationKey,
    MlKem1024EncapsulationKey,
};
use keywright_secret::Secret;
use keywright_vectors::Verdict;
use keywright_vectors::wycheproof::run;

use super::compared;

macro_rules! judge {
    ($size:literal, $decapsulation:ident, $encapsulation:ident, $given:ident, $encaps:literal) => {
        use super::*;

        /// The file's path inside the family, by size and subject.
        fn file(subject: &str) -> String {
            format!("mlkem_{}_{subject}test.json", $size)
        }

        /// The seed becomes the file's long form and its public half, and that key is read, written and used.
        #[test]
        fn t09_seeds_become_the_keys_of_the_file() {
            run(&file("keygen_seed_"), 100, |case| {
                let seed = Secret::copy_from(&case.fields.hex("seed")?).unwrap();
                let long = Secret::copy_from(&case.fields.hex("dk")?).unwrap();
                let key = $decapsulation::from_seed(&seed).unwrap();
                let read = $decapsulation::from_bytes(&long).unwrap();
                let public = $encapsulation::from_bytes(&case.fields.array("ek")?).unwrap();
                let (ciphertext, secret) = public.encapsulate().unwrap();
                let same = read.decapsulate(&ciphertext).unwrap();
                Ok(compared(
                    key.encapsulation_key().as_bytes() == public.as_bytes()
                        && key.to_bytes().unwrap().ct_eq(&long)
                        && read.to_bytes().unwrap().ct_eq(&long)
                        && same.ct_eq(&secret),
                ))
            })
            .unwrap();
        }

        #[test]
        fn t09_long_keys_decapsulate_or_are_refused() {
            run(&file("semi_expanded_decaps_"), 9, |case| {
                let (key, ciphertext) = (case.fields.hex("dk")?, case.fields.hex("c")?);
                let (Some(key), Ok(ciphertext)) =
                    (Secret::copy_from(&key), ciphertext[..].try_into())
                else {
                    return Ok(Verdict::Refused);
                };
                let Ok(key) = $decapsulation::from_bytes(&key) else {
                    return Ok(Verdict::Refused);
                };
                let secret = key.decapsulate(ciphertext).unwrap();
                Ok(compared(*secret.expose() == case.fields.array("K")?))
            })
            .unwrap();
        }

        /// Public keys that are not reduced are refused; the others give the file's ciphertext and secret.
        #[test]
        fn t09_encapsulation_with_given_randomness() {
            run(&file("encaps_"), $encaps, |case| {
                let key = case.fields.hex("ek")?;
                let Ok(key) = key[..].try_into() else {
                    return Ok(Verdict::Refused);
                };
                let Ok(key) = $encapsulation::from_bytes(key) else {
                    return Ok(Verdict::Refused);
                };
                let m = Secret::copy_from(&case.fields.hex("m")?).unwrap();
                let (ciphertext, secret) = $given(&key, &m).unwrap();
                Ok(compared(
                    ciphertext[..] == case.fields.hex("c")?
                        && *secret.expose() == case.fields.array("K")?,
                ))
            })
            .unwrap();
        }

        /// Ciphertexts that were changed give the secret of the implicit rejection, which the file states.
        #[test]
        fn t09_decapsulation_and_implicit_rejection() {
            run(&file(""), 193, |case| {
                let (seed, ciphertext) = (case.fields.hex("seed")?, case.fields.hex("c")?);
                let (Some(seed), Ok(ciphertext)) =
                    (Secret::copy_from(&seed), ciphertext[..].try_into())
                else {
                    return Ok(Verdict::Refused);
                };
                let key = $decapsulation::from_seed(&seed).unwrap();
                assert_eq!(
                    key.encapsulation_key().as_bytes()[..],
                    case.fields.hex("ek")?
                );
                let secret = key.decapsulate(ciphertext).unwrap();
                Ok(compared(*secret.expose() == case.fields.array("K")?))
            })
            .unwrap();
        }
    };
}

mod ml_kem_768 {
    judge!(
        768,
        MlKem768DecapsulationKey,
        MlKem768EncapsulationKey,
        encapsulate_768,
        265
    );
}

mod ml_kem_1024 {
    judge!(
        1024,
        MlKem1024DecapsulationKey,
        MlKem1024EncapsulationKey,
        encapsulate_1024,
        269
    );
}
