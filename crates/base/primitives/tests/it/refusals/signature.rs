//! Signatures that do not fit.

use keywright_primitives::hash::{sha256, sha384};
use keywright_primitives::signature::ecdsa::{P256SigningKey, P384SigningKey};
use keywright_primitives::signature::ml_dsa::MlDsa65SigningKey;
use keywright_primitives::signature::rsa::{RsaSigningKey, RsaVerifyingKey};
use keywright_primitives::{Error, Rejected};

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

#[test]
fn a_digest_stands_for_its_message_and_no_other_digest_does() {
    let key = P384SigningKey::generate().unwrap();
    let verifying = key.verifying_key().unwrap();
    let made = key.sign_digest(&sha384(b"head")).unwrap();
    assert_eq!(verifying.verify_fixed(b"head", &made), Ok(()));
    assert!(verifying.verify_digest(&sha384(b"heap"), &made).is_err());
    let made = key.sign_fixed(b"head").unwrap();
    assert_eq!(verifying.verify_digest(&sha384(b"head"), &made), Ok(()));
    let [key, ..] = keys::rsa_signing();
    let verifying = key.verifying_key().unwrap();
    let (right, wrong) = (sha256(b"head"), sha256(b"heap"));
    let pss = key.sign_pss_digest(&right).unwrap();
    let pkcs1 = key.sign_pkcs1_digest(&right).unwrap();
    assert_eq!(verifying.verify_pss(b"head", &pss), Ok(()));
    assert_eq!(verifying.verify_pkcs1(b"head", &pkcs1), Ok(()));
    assert_eq!(key.sign_pkcs1(b"head").unwrap(), pkcs1);
    assert_eq!(verifying.verify_pss_digest(&right, &pss), Ok(()));
    assert_eq!(verifying.verify_pkcs1_digest(&right, &pkcs1), Ok(()));
    assert!(verifying.verify_pss_digest(&wrong, &pss).is_err());
    assert!(verifying.verify_pkcs1_digest(&wrong, &pkcs1).is_err());
    assert!(verifying.verify_pss_digest(&right, &pkcs1).is_err());
    assert!(verifying.verify_pkcs1_digest(&right, &pss).is_err());
}

#[test]
fn a_scalar_outside_the_order_is_no_key_and_one_inside_is_the_key_that_others_read() {
    use keywright_secret::Secret;
    // The order of P-384 (SEC 2, 2.5.1).
    let mut order = [0xFF; 48];
    order[24..].copy_from_slice(&[
        0xC7, 0x63, 0x4D, 0x81, 0xF4, 0x37, 0x2D, 0xDF, 0x58, 0x1A, 0x0D, 0xB2, 0x48, 0xB0, 0xA7,
        0x7A, 0xEC, 0xEC, 0x19, 0x6A, 0xCC, 0xC5, 0x29, 0x73,
    ]);
    let read =
        |scalar: [u8; 48]| P384SigningKey::from_scalar(&Secret::from_fill(|bytes| *bytes = scalar));
    for bad in [[0; 48], order, [0xFF; 48]] {
        assert_eq!(read(bad).err(), Some(Error::KeyRejected));
    }
    order[47] -= 1;
    for good in [order, [1; 48]] {
        let key = read(good).unwrap();
        let same = P384SigningKey::from_pkcs8(&key.to_pkcs8().unwrap()).unwrap();
        let signature = key.sign_fixed(b"head").unwrap();
        let verifying = same.verifying_key().unwrap();
        assert_eq!(verifying.verify_fixed(b"head", &signature), Ok(()));
    }
}
