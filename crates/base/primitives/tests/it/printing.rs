//! No key tells more by `Debug` than what it is.

use keywright_primitives::aead::{Aes128Gcm, Aes256Gcm, Aes256Siv, ChaCha20Poly1305};
use keywright_primitives::agreement::{
    P256Ephemeral, P256PrivateKey, P384PrivateKey, P521PrivateKey, X25519Ephemeral,
    X25519PrivateKey,
};
use keywright_primitives::hash::{Blake3, Sha384, Sha512, Shake128, Shake256};
use keywright_primitives::hazmat::cbc::{Aes128Cbc, Aes256Cbc};
use keywright_primitives::kdf::{
    HkdfSha256, HkdfSha256Prk, HkdfSha256Salt, HkdfSha384, HkdfSha512,
};
use keywright_primitives::kem::{MlKem768DecapsulationKey, MlKem1024DecapsulationKey};
use keywright_primitives::mac::{
    Aes128Cmac, Aes256Cmac, Blake3Mac, HmacSha256, HmacSha384, HmacSha512,
};
use keywright_primitives::signature::ecdsa::{P256SigningKey, P384SigningKey};
use keywright_primitives::signature::ml_dsa::MlDsa65SigningKey;

use crate::keys;

#[test]
fn every_key_prints_its_type_alone() {
    macro_rules! check {
        ($($name:ident: $value:expr,)*) => {
            $( assert_eq!(format!("{:?}", $value), stringify!($name)); )*
        };
    }
    let [rsa, ..] = keys::rsa_signing();
    check! {
        Aes128Gcm: Aes128Gcm::new(&[1; 16]).unwrap(),
        Aes256Gcm: Aes256Gcm::new(&[1; 32]).unwrap(),
        Aes256Siv: Aes256Siv::new(&[1; 64]).unwrap(),
        ChaCha20Poly1305: ChaCha20Poly1305::new(&[1; 32]).unwrap(),
        Aes128Cbc: Aes128Cbc::new(&[1; 16]).unwrap(),
        Aes256Cbc: Aes256Cbc::new(&[1; 32]).unwrap(),
        Aes128Cmac: Aes128Cmac::new(&[1; 16]).unwrap(),
        Aes256Cmac: Aes256Cmac::new(&[1; 32]).unwrap(),
        Blake3Mac: Blake3Mac::new(&[1; 32]),
        HmacSha256: HmacSha256::new(&[1; 32]).unwrap(),
        HmacSha384: HmacSha384::new(&[1; 32]).unwrap(),
        HmacSha512: HmacSha512::new(&[1; 32]).unwrap(),
        HkdfSha256: HkdfSha256::extract(b"", b"ikm").unwrap(),
        HkdfSha384: HkdfSha384::extract(b"", b"ikm").unwrap(),
        HkdfSha512: HkdfSha512::extract(b"", b"ikm").unwrap(),
        Blake3: Blake3::new(),
        Sha384: Sha384::new(),
        Sha512: Sha512::new(),
        Shake128: Shake128::new(),
        Shake256: Shake256::new(),
        HkdfSha256Salt: HkdfSha256Salt::new(b"salt"),
        HkdfSha256Prk: HkdfSha256Prk::new(&[1; 32]),
        X25519PrivateKey: X25519PrivateKey::generate().unwrap(),
        X25519Ephemeral: X25519Ephemeral::generate().unwrap(),
        P256PrivateKey: P256PrivateKey::generate().unwrap(),
        P256Ephemeral: P256Ephemeral::generate().unwrap(),
        P384PrivateKey: P384PrivateKey::generate().unwrap(),
        P521PrivateKey: P521PrivateKey::generate().unwrap(),
        MlKem768DecapsulationKey: MlKem768DecapsulationKey::generate().unwrap(),
        MlKem1024DecapsulationKey: MlKem1024DecapsulationKey::generate().unwrap(),
        P256SigningKey: P256SigningKey::generate().unwrap(),
        P384SigningKey: P384SigningKey::generate().unwrap(),
        MlDsa65SigningKey: MlDsa65SigningKey::generate().unwrap(),
        RsaSigningKey: rsa,
        RsaDecryptionKey: keys::rsa_decryption(),
    }
}
