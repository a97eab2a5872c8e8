//! Signatures that do not fit.

use keywright_primitives::Rejected;
use keywright_primitives::signature::ecdsa::{P256SigningKey, P384SigningKey};
use keywright_primitives::signature::ml_dsa::MlDsa65SigningKey;
use keywright_primitives::signature::rsa::{RsaSigningKey, RsaVerifyingKey};

use crate::keys;

/// `signature` with one bit changed, for bits all over it.
fn flipped(signature: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    (0..signature.len() * 8).step_by(37).map(|bit| {
        let mut changed = signature.to_vec();
        changed[bit / 8] ^= 1 << (bit % 8);
        changed
    })
}

/// `signature` shortened, emptied and lengthened.
fn resized(signature: &[u8]) -> [Vec<u8>; 4] {
    let last = signature.len() - 1;
    let mut changed = [const { Vec::new() }; 4];
    changed[1].extend_from_slice(&signature[..last]);
    changed[2].extend_from_slice(&signature[1..]);
    changed[3].extend_from_slice(&[signature, &[0]].concat());
    changed
}

macro_rules! ecdsa {
    ($test:ident, $name:ident) => {
        #[test]
        fn $test() {
            let (key, other) = ($name::generate().unwrap(), $name::generate().unwrap());
            let verifying = key.verifying_key().unwrap();
            let fixed = key.sign_fixed(b"head").unwrap();
            let der = key.sign_der(b"head").unwrap();
            assert_eq!(verifying.verify_fixed(b"head", &fixed), Ok(()));
            assert_eq!(verifying.verify_der(b"head", &der), Ok(()));
            assert!(verifying.verify_fixed(b"heap", &fixed).is_err());
            assert!(verifying.verify_der(b"heap", &der).is_err());
            assert!(verifying.verify_der(b"head", &fixed).is_err());
            let other = other.verifying_key().unwrap();
            assert!(other.verify_fixed(b"head", &fixed).is_err());
            assert!(other.verify_der(b"head", &der).is_err());
            for changed in flipped(&fixed) {
                let changed = changed[..].try_into().unwrap();
                assert!(verifying.verify_fixed(b"head", changed).is_err());
            }
            for changed in flipped(&der).chain(resized(&der)) {
                assert!(verifying.verify_der(b"head", &changed).is_err());
            }
        }
    };
}
ecdsa!(ecdsa_p256_rejects_what_does_not_fit, P256SigningKey);
ecdsa!(ecdsa_p384_rejects_what_does_not_fit, P384SigningKey);

/// Half of all numbers begin with a byte that DER wants written otherwise.
#[test]
fn the_two_spellings_of_ecdsa_hold_for_many_signatures() {
    let key = P256SigningKey::generate().unwrap();
    let verifying = key.verifying_key().unwrap();
    for count in 0..300_u16 {
        let message = count.to_be_bytes();
        let der = key.sign_der(&message).unwrap();
        assert_eq!(verifying.verify_der(&message, &der), Ok(()));
    }
}

#[test]
fn ml_dsa_65_rejects_what_does_not_fit_and_never_signs_twice_alike() {
    let key = MlDsa65SigningKey::generate().unwrap();
    let verifying = key.verifying_key().unwrap();
    let signature = key.sign(b"head").unwrap();
    assert_ne!(key.sign(b"head").unwrap(), signature);
    assert_eq!(verifying.verify(b"head", &signature), Ok(()));
    assert!(verifying.verify(b"heap", &signature).is_err());
    let other = MlDsa65SigningKey::generate().unwrap();
    let other = other.verifying_key().unwrap();
    assert!(other.verify(b"head", &signature).is_err());
    for changed in flipped(&signature) {
        let changed = changed[..].try_into().unwrap();
        assert!(verifying.verify(b"head", changed).is_err());
    }
}

#[test]
fn rsa_rejects_what_does_not_fit_in_each_size() {
    let other = RsaSigningKey::from_pkcs8(keys::other_rsa_pkcs8()).unwrap();
    let other = other.verifying_key().unwrap();
    for key in keys::rsa_signing() {
        let verifying = key.verifying_key().unwrap();
        assert_eq!(verifying.size(), key.size());
        let (pss, pkcs1) = (
            key.sign_pss(b"head").unwrap(),
            key.sign_pkcs1(b"head").unwrap(),
        );
        assert_eq!(
            (pss.len(), pkcs1.len()),
            (key.size().bytes(), key.size().bytes())
        );
        assert_ne!(key.sign_pss(b"head").unwrap(), pss, "the salt is random");
        assert_eq!(key.sign_pkcs1(b"head").unwrap(), pkcs1);
        assert_eq!(verifying.verify_pss(b"head", &pss), Ok(()));
        assert_eq!(verifying.verify_pkcs1(b"head", &pkcs1), Ok(()));
        refuses(&verifying, &pss, RsaVerifyingKey::verify_pss);
        refuses(&verifying, &pkcs1, RsaVerifyingKey::verify_pkcs1);
        assert!(verifying.verify_pss(b"head", &pkcs1).is_err());
        assert!(verifying.verify_pkcs1(b"head", &pss).is_err());
        assert!(other.verify_pss(b"head", &pss).is_err());
        assert!(other.verify_pkcs1(b"head", &pkcs1).is_err());
    }
}

type Verify = fn(&RsaVerifyingKey, &[u8], &[u8]) -> Result<(), Rejected>;

fn refuses(key: &RsaVerifyingKey, signature: &[u8], verify: Verify) {
    assert!(verify(key, b"heap", signature).is_err());
    for changed in flipped(signature).chain(resized(signature)) {
        assert!(verify(key, b"head", &changed).is_err());
    }
}
