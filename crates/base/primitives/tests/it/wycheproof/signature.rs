//! Ed25519, ECDSA and ML-DSA-65.

use keywright_primitives::signature::VerifyingKey;
use keywright_primitives::signature::ecdsa::{P256VerifyingKey, P384VerifyingKey};
use keywright_primitives::signature::ml_dsa::{MlDsa65SigningKey, MlDsa65VerifyingKey};
use keywright_secret::{Secret, SecretBytes};
use keywright_vectors::wycheproof::{Case, run};
use keywright_vectors::{Error, Verdict};

use super::{compared, verdict};

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

macro_rules! ecdsa {
    ($test:ident, $name:ident, $file:literal, $cases:literal, $verify:expr) => {
        #[test]
        fn $test() {
            run($file, $cases, |case| {
                let public = case.group.object("publicKey")?;
                let key = $name::from_spki_der(&case.group.hex("publicKeyDer")?).unwrap();
                let point = public.hex("uncompressed")?;
                let same = $name::from_sec1(&point).unwrap();
                assert_eq!(same.as_spki_der(), key.as_spki_der());
                assert_eq!(key.as_sec1(), point);
                let (message, signature) = (case.fields.hex("msg")?, case.fields.hex("sig")?);
                let verify: fn(&$name, &[u8], &[u8]) -> Verdict = $verify;
                Ok(verify(&key, &message, &signature))
            })
            .unwrap();
        }
    };
}

ecdsa! {
    t45_ecdsa_p256_in_der, P256VerifyingKey, "ecdsa_secp256r1_sha256_test.json", 484,
    |key, message, signature| verdict(key.verify_der(message, signature))
}
ecdsa! {
    ecdsa_p384_in_der, P384VerifyingKey, "ecdsa_secp384r1_sha384_test.json", 504,
    |key, message, signature| verdict(key.verify_der(message, signature))
}
ecdsa! {
    t45_ecdsa_p256_side_by_side, P256VerifyingKey, "ecdsa_secp256r1_sha256_p1363_test.json", 262,
    |key, message, signature| match signature.try_into() {
        Ok(signature) => verdict(key.verify_fixed(message, signature)),
        Err(_) => Verdict::Refused,
    }
}
ecdsa! {
    ecdsa_p384_side_by_side, P384VerifyingKey, "ecdsa_secp384r1_sha384_p1363_test.json", 280,
    |key, message, signature| match signature.try_into() {
        Ok(signature) => verdict(key.verify_fixed(message, signature)),
        Err(_) => Verdict::Refused,
    }
}

const WITH_CONTEXT: Verdict = Verdict::Unsupported("a context that is not empty");

fn has_context(case: &Case) -> Result<bool, Error> {
    match case.fields.field("ctx") {
        Some(_) => Ok(!case.fields.hex("ctx")?.is_empty()),
        None => Ok(false),
    }
}

#[test]
fn ml_dsa_65_verification() {
    run("mldsa_65_verify_test.json", 210, |case| {
        if has_context(case)? {
            return Ok(WITH_CONTEXT);
        }
        let (key, signature) = (case.group.hex("publicKey")?, case.fields.hex("sig")?);
        let (Ok(key), Ok(signature)) = (key[..].try_into(), signature[..].try_into()) else {
            return Ok(Verdict::Refused);
        };
        let Ok(key) = MlDsa65VerifyingKey::from_bytes(key) else {
            return Ok(Verdict::Refused);
        };
        Ok(verdict(key.verify(&case.fields.hex("msg")?, signature)))
    })
    .unwrap();
}

/// The signatures of the file are made without randomness and ours with, so theirs cannot be made again:
/// the public key is compared, theirs is verified, and so is ours.
#[test]
fn ml_dsa_65_keys_of_seeds() {
    run("mldsa_65_sign_seed_test.json", 105, |case| {
        let Some(seed) = Secret::copy_from(&case.group.hex("privateSeed")?) else {
            return Ok(Verdict::Refused);
        };
        if has_context(case)? {
            return Ok(WITH_CONTEXT);
        }
        if case.fields.field("msg").is_none() {
            return Ok(Verdict::Unsupported("a mu instead of a message"));
        }
        let message = case.fields.hex("msg")?;
        let signing = MlDsa65SigningKey::from_seed(&seed).unwrap();
        let verifying = signing.verifying_key().unwrap();
        if case.group.field("privateKeyPkcs8").is_some() {
            let der = SecretBytes::from_vec(case.group.hex("privateKeyPkcs8")?);
            let same = MlDsa65SigningKey::from_pkcs8(&der).unwrap();
            assert_eq!(
                same.verifying_key().unwrap().as_bytes(),
                verifying.as_bytes()
            );
        }
        let ours = signing.sign(&message).unwrap();
        let theirs = case.fields.array("sig")?;
        Ok(compared(
            verifying.as_bytes() == case.group.hex("publicKey")?
                && verifying.verify(&message, &theirs).is_ok()
                && verifying.verify(&message, &ours).is_ok(),
        ))
    })
    .unwrap();
}
