//! X25519 and ECDH over P-256, P-384 and P-521.

use keywright_primitives::agreement::{
    P256PrivateKey, P256PublicKey, P384PrivateKey, P384PublicKey, P521PrivateKey, P521PublicKey,
    X25519PrivateKey, X25519PublicKey,
};
use keywright_secret::Secret;
use keywright_vectors::Verdict;
use keywright_vectors::wycheproof::run;

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

macro_rules! decide {
    ($case:expr, $private:ident, $read:expr) => {{
        let Ok(peer) = $read(&$case.fields.hex("public")?) else {
            return Ok(Verdict::Refused);
        };
        let private = scalar(&$case.fields.hex("private")?);
        let private = $private::from_bytes(&private).unwrap();
        let Ok(secret) = private.agree(&peer) else {
            return Ok(Verdict::Refused);
        };
        Ok(compared(*secret.expose() == $case.fields.array("shared")?))
    }};
}

macro_rules! ecdh {
    ($points:ident, $infos:ident, $curve:literal, $private:ident, $public:ident, $cases:expr) => {
        #[test]
        fn $points() {
            let file = concat!("ecdh_", $curve, "_ecpoint_test.json");
            run(file, $cases[0], |case| {
                decide!(case, $private, $public::from_sec1)
            })
            .unwrap();
        }

        #[test]
        fn $infos() {
            let file = concat!("ecdh_", $curve, "_test.json");
            run(file, $cases[1], |case| {
                decide!(case, $private, $public::from_spki_der)
            })
            .unwrap();
        }
    };
}

ecdh! {
    ecdh_p256_with_points, ecdh_p256_with_public_key_infos, "secp256r1",
    P256PrivateKey, P256PublicKey, [355, 612]
}
ecdh! {
    ecdh_p384_with_points, ecdh_p384_with_public_key_infos, "secp384r1",
    P384PrivateKey, P384PublicKey, [790, 1047]
}
ecdh! {
    ecdh_p521_with_points, ecdh_p521_with_public_key_infos, "secp521r1",
    P521PrivateKey, P521PublicKey, [661, 916]
}

/// The file writes the scalar as a number: shorter, or with a zero before it.
fn scalar<const N: usize>(number: &[u8]) -> Secret<N> {
    let digits = &number[number.len().saturating_sub(N)..];
    Secret::from_fill(|buffer| buffer[N - digits.len()..].copy_from_slice(digits))
}
