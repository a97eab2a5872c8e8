//! Signatures, RSA encryption and key agreement.

use keywright_primitives::agreement::{
    P256PrivateKey, P256PublicKey, X25519PrivateKey, X25519PublicKey,
};
use keywright_primitives::hazmat::rsa_pkcs1;
use keywright_primitives::signature::ecdsa::{P256SigningKey, P384SigningKey};
use keywright_secret::Secret;

use super::Judge;
use crate::keys;

const SIGN: &str = "-keyform DER -sign key.der -out theirs text";
const VERIFY: &str = "-keyform DER -verify public.der -signature ours";

#[test]
fn ecdsa_is_understood_in_both_directions() {
    let Some(judge) = Judge::called("ecdsa") else {
        return;
    };
    judge.write("text", b"head");
    judge.write("other", b"heap");
    macro_rules! check {
        ($name:ident, $hash:literal) => {
            let key = $name::generate().unwrap();
            let verifying = key.verifying_key().unwrap();
            judge.write("key.der", key.to_pkcs8().unwrap().expose());
            judge.write("public.der", verifying.as_spki_der());
            judge.write("ours", &key.sign_der(b"head").unwrap());
            judge.says(&format!("dgst -{} {VERIFY} text", $hash));
            assert!(!judge.accepts(&format!("dgst -{} {VERIFY} other", $hash)));
            judge.says(&format!("dgst -{} {SIGN}", $hash));
            assert_eq!(verifying.verify_der(b"head", &judge.read("theirs")), Ok(()));
        };
    }
    check!(P256SigningKey, "sha256");
    check!(P384SigningKey, "sha384");
}

#[test]
fn rsa_signatures_are_understood_in_both_directions() {
    let Some(judge) = Judge::called("rsa-signatures") else {
        return;
    };
    judge.write("text", b"head");
    judge.write("other", b"heap");
    for key in keys::rsa_signing() {
        let verifying = key.verifying_key().unwrap();
        judge.write("key.der", key.to_pkcs8().unwrap().expose());
        judge.write("public.der", verifying.as_spki_der());
        let options = "-sha256 -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:32";
        judge.write("ours", &key.sign_pss(b"head").unwrap());
        judge.says(&format!("dgst {options} {VERIFY} text"));
        assert!(!judge.accepts(&format!("dgst {options} {VERIFY} other")));
        judge.says(&format!("dgst {options} {SIGN}"));
        assert_eq!(verifying.verify_pss(b"head", &judge.read("theirs")), Ok(()));
        // A salt of another length is another scheme.
        let options = "-sha256 -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:20";
        judge.says(&format!("dgst {options} {SIGN}"));
        assert!(
            verifying
                .verify_pss(b"head", &judge.read("theirs"))
                .is_err()
        );

        judge.write("ours", &key.sign_pkcs1(b"head").unwrap());
        judge.says(&format!("dgst -sha256 {VERIFY} text"));
        assert!(!judge.accepts(&format!("dgst -sha256 {VERIFY} other")));
        judge.says(&format!("dgst -sha256 {SIGN}"));
        assert_eq!(
            judge.read("theirs"),
            judge.read("ours"),
            "there is only one"
        );
        judge.says(&format!("dgst -sha512 {SIGN}"));
        assert!(
            verifying
                .verify_pkcs1(b"head", &judge.read("theirs"))
                .is_err()
        );
    }
}

#[test]
fn rsa_encryption_is_understood_in_both_directions() {
    let Some(judge) = Judge::called("rsa-encryption") else {
        return;
    };
    let key = keys::rsa_decryption();
    let public = key.encryption_key().unwrap();
    judge.write("key.der", key.to_pkcs8().unwrap().expose());
    judge.write("public.der", public.as_spki_der());
    judge.write("text", b"data key");
    let encrypt = "pkeyutl -encrypt -pubin -keyform DER -inkey public.der -in text -out theirs";
    let decrypt = "pkeyutl -decrypt -keyform DER -inkey key.der -in ours";

    let oaep =
        "-pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256 -pkeyopt rsa_mgf1_md:sha256";
    for (label, option) in [(&b""[..], ""), (b"KW", "-pkeyopt rsa_oaep_label:4b57")] {
        judge.says(&format!("{encrypt} {oaep} {option}"));
        let opened = key.decrypt_oaep(&judge.read("theirs"), label).unwrap();
        assert_eq!(opened.expose(), b"data key");
        judge.write("ours", &public.encrypt_oaep(b"data key", label).unwrap());
        assert_eq!(
            judge.says(&format!("{decrypt} {oaep} {option}")),
            b"data key"
        );
        assert!(!judge.accepts(&format!("{decrypt} {oaep} -pkeyopt rsa_oaep_label:00")));
    }
    // The default of the command has SHA-1 in both places.
    judge.says(&format!("{encrypt} -pkeyopt rsa_padding_mode:oaep"));
    assert!(key.decrypt_oaep(&judge.read("theirs"), b"").is_err());

    judge.says(encrypt);
    let opened = rsa_pkcs1::decrypt(&key, &judge.read("theirs")).unwrap();
    assert_eq!(opened.expose(), b"data key");
    judge.write("ours", &rsa_pkcs1::encrypt(&public, b"data key").unwrap());
    assert_eq!(judge.says(decrypt), b"data key");
}

/// What stands before the 32 bytes of a key in its document, and behind them.
const X25519_PRIVATE: &[u8] = &[
    0x30, 0x2E, 2, 1, 0, 0x30, 5, 6, 3, 0x2B, 0x65, 0x6E, 4, 0x22, 4, 0x20,
];
const X25519_PUBLIC: &[u8] = &[0x30, 0x2A, 0x30, 5, 6, 3, 0x2B, 0x65, 0x6E, 3, 0x21, 0];
const P256_PRIVATE: &[u8] = &[0x30, 0x31, 2, 1, 1, 4, 0x20];
const P256_CURVE: &[u8] = &[0xA0, 0x0A, 6, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7];

#[test]
fn agreement_reaches_the_secret_of_the_judge() {
    let Some(judge) = Judge::called("agreement") else {
        return;
    };
    let derive = || {
        let keys = "-inkey private.der -keyform DER -peerkey peer.der -peerform DER";
        let secret = judge.says(&format!("pkeyutl -derive {keys}"));
        Secret::<32>::copy_from(&secret).unwrap()
    };
    let public = |form: &str| {
        judge.says(&format!(
            "pkey -in private.der -inform DER -pubout -outform DER -out {form}"
        ));
        judge.read(form)
    };

    let (one, two) = (
        X25519PrivateKey::generate().unwrap(),
        X25519PrivateKey::generate().unwrap(),
    );
    let document = [X25519_PRIVATE, one.to_bytes().unwrap().expose()].concat();
    judge.write("private.der", &document);
    let peer = two.public_key().unwrap();
    judge.write("peer.der", &[X25519_PUBLIC, peer.as_bytes()].concat());
    assert!(derive().ct_eq(&one.agree(&peer).unwrap()));
    let theirs = public("public.der");
    let theirs = X25519PublicKey::from_bytes(theirs[12..].try_into().unwrap()).unwrap();
    assert!(derive().ct_eq(&two.agree(&theirs).unwrap()));

    let (one, two) = (
        P256PrivateKey::generate().unwrap(),
        P256PrivateKey::generate().unwrap(),
    );
    let scalar = |key: &P256PrivateKey| {
        let scalar = key.to_bytes().unwrap();
        [P256_PRIVATE, scalar.expose(), P256_CURVE].concat()
    };
    judge.write("private.der", &scalar(&two));
    let peer = P256PublicKey::from_spki_der(&public("peer.der")).unwrap();
    judge.write("private.der", &scalar(&one));
    assert!(derive().ct_eq(&one.agree(&peer).unwrap()));
    let theirs = P256PublicKey::from_spki_der(&public("public.der")).unwrap();
    assert!(derive().ct_eq(&two.agree(&theirs).unwrap()));
}
