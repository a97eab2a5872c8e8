//! X25519 and ECDH over P-256.

use keywright_primitives::agreement::{
    P256PrivateKey, P256PublicKey, X25519PrivateKey, X25519PublicKey,
};
use keywright_secret::Secret;
use keywright_vectors::wycheproof::{Case, run};
use keywright_vectors::{Error, Verdict};

use super::compared;

#[test]
fn x25519() {
    run("x25519_test.json", 518, |case| {
        let fields = &case.fields;
        let private = Secret::copy_from(&fields.hex("private")?).unwrap();
        let private = X25519PrivateKey::from_bytes(&private).unwrap();
        let peer = X25519PublicKey::from_bytes(&fields.array("public")?).unwrap();
        let Ok(secret) = private.agree(&peer) else {
            // Only an all-zero secret is refused, and it is in the file as such.
            assert_eq!(fields.array("shared")?, [0; 32], "{}", fields.name());
            return Ok(Verdict::Refused);
        };
        Ok(compared(*secret.expose() == fields.array("shared")?))
    })
    .unwrap();
}

#[test]
fn ecdh_p256_with_points() {
    run("ecdh_secp256r1_ecpoint_test.json", 355, |case| {
        decide(case, P256PublicKey::from_sec1)
    })
    .unwrap();
}

#[test]
fn ecdh_p256_with_public_key_infos() {
    run("ecdh_secp256r1_test.json", 612, |case| {
        decide(case, P256PublicKey::from_spki_der)
    })
    .unwrap();
}

fn decide<E>(
    case: &Case,
    read: impl FnOnce(&[u8]) -> Result<P256PublicKey, E>,
) -> Result<Verdict, Error> {
    let Ok(peer) = read(&case.fields.hex("public")?) else {
        return Ok(Verdict::Refused);
    };
    // The file writes the scalar as a number: shorter, or with a zero before it.
    let number = case.fields.hex("private")?;
    let digits = &number[number.len().saturating_sub(32)..];
    let private = Secret::from_fill(|buffer| buffer[32 - digits.len()..].copy_from_slice(digits));
    let private = P256PrivateKey::from_bytes(&private).unwrap();
    let Ok(secret) = private.agree(&peer) else {
        return Ok(Verdict::Refused);
    };
    Ok(compared(*secret.expose() == case.fields.array("shared")?))
}
