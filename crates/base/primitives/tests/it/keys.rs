//! RSA keys are slow to make, so the tests share one of each size and one more.

use std::sync::LazyLock;

use keywright_primitives::rsa::RsaSize;
use keywright_primitives::rsa_encryption::RsaDecryptionKey;
use keywright_primitives::signature::rsa::RsaSigningKey;
use keywright_secret::SecretBytes;

/// Unencrypted PKCS#8 documents.
static SHARED: LazyLock<[SecretBytes; 3]> = LazyLock::new(|| {
    RsaSize::ALL.map(|size| RsaSigningKey::generate(size).unwrap().to_pkcs8().unwrap())
});
static OTHER: LazyLock<SecretBytes> = LazyLock::new(|| {
    let key = RsaDecryptionKey::generate(RsaSize::Rsa2048).unwrap();
    key.to_pkcs8().unwrap()
});

/// The PKCS#8 document of the shared key of 2048 bits.
pub(crate) fn rsa_pkcs8() -> &'static SecretBytes {
    &SHARED[0]
}

/// Another key of 2048 bits.
pub(crate) fn other_rsa_pkcs8() -> &'static SecretBytes {
    &OTHER
}

/// One key of each size.
pub(crate) fn rsa_signing() -> [RsaSigningKey; 3] {
    [0, 1, 2].map(|index| RsaSigningKey::from_pkcs8(&SHARED[index]).unwrap())
}

pub(crate) fn rsa_decryption() -> RsaDecryptionKey {
    RsaDecryptionKey::from_pkcs8(rsa_pkcs8()).unwrap()
}
