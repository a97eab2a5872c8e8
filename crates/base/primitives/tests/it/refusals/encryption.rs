//! Ciphertexts of RSA that do not fit.

use keywright_primitives::Error;
use keywright_primitives::hazmat::rsa_pkcs1;
use keywright_primitives::rsa_encryption::{OAEP_OVERHEAD, RsaDecryptionKey};
use keywright_secret::Secret;

use crate::keys;

#[test]
fn oaep_rejects_another_label_key_or_ciphertext() {
    let key = keys::rsa_decryption();
    let other = RsaDecryptionKey::from_pkcs8(keys::other_rsa_pkcs8()).unwrap();
    let public = key.encryption_key().unwrap();
    let sealed = public.encrypt_oaep(b"data key", b"label").unwrap();
    assert_ne!(public.encrypt_oaep(b"data key", b"label").unwrap(), sealed);
    let opened = key.decrypt_oaep(&sealed, b"label").unwrap();
    assert_eq!(opened.expose(), b"data key");
    assert!(key.decrypt_oaep(&sealed, b"labem").is_err());
    assert!(key.decrypt_oaep(&sealed, b"").is_err());
    assert!(other.decrypt_oaep(&sealed, b"label").is_err());
    for bit in (0..sealed.len() * 8).step_by(97) {
        let mut changed = sealed.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(key.decrypt_oaep(&changed, b"label").is_err(), "bit {bit}");
    }
    for length in [0, 1, sealed.len() - 1] {
        assert!(key.decrypt_oaep(&sealed[..length], b"label").is_err());
    }
    let longer = [&sealed[..], &[0]].concat();
    assert!(key.decrypt_oaep(&longer, b"label").is_err());
}

#[test]
fn a_text_that_the_modulus_cannot_hold_is_refused_and_the_longest_is_not() {
    let key = keys::rsa_decryption();
    let public = key.encryption_key().unwrap();
    let room = key.size().bytes() - OAEP_OVERHEAD;
    for length in [0, 1, room] {
        let sealed = public.encrypt_oaep(&vec![7; length], b"").unwrap();
        assert_eq!(
            key.decrypt_oaep(&sealed, b"").unwrap().expose(),
            vec![7; length]
        );
    }
    let refused = public.encrypt_oaep(&vec![7; room + 1], b"");
    assert_eq!(refused, Err(Error::TooLong));
    let room = key.size().bytes() - rsa_pkcs1::OVERHEAD;
    for length in [0, 1, room] {
        let sealed = rsa_pkcs1::encrypt(&public, &vec![7; length]).unwrap();
        let opened = rsa_pkcs1::decrypt(&key, &sealed).unwrap();
        assert_eq!(opened.expose(), vec![7; length]);
    }
    let refused = rsa_pkcs1::encrypt(&public, &vec![7; room + 1]);
    assert_eq!(refused, Err(Error::TooLong));
}

#[test]
fn pkcs1_rejects_another_key_or_ciphertext_and_gives_the_substitute_instead() {
    let key = keys::rsa_decryption();
    let public = key.encryption_key().unwrap();
    let sealed = rsa_pkcs1::encrypt(&public, &[7; 32]).unwrap();
    let substitute = || Secret::<32>::from_fill(|buffer| buffer.fill(9));
    let opened = rsa_pkcs1::decrypt_or(&key, &sealed, substitute());
    assert_eq!(opened.expose(), &[7; 32]);
    let shorter = rsa_pkcs1::encrypt(&public, &[7; 31]).unwrap();
    let foreign = public.encrypt_oaep(&[7; 32], b"").unwrap();
    for wrong in [&shorter[..], &foreign, &sealed[1..], b"", &[0xFF; 256]] {
        let opened = rsa_pkcs1::decrypt_or(&key, wrong, substitute());
        assert_eq!(opened.expose(), &[9; 32]);
    }
    // Not `foreign`: one text in some hundred thousand looks padded by chance.
    for wrong in [&sealed[1..], b"", &[0xFF; 256]] {
        assert!(rsa_pkcs1::decrypt(&key, wrong).is_err());
    }
}
