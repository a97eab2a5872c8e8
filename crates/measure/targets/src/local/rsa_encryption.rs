//! RSA encryption of 32 bytes, which is a key: OAEP, and PKCS#1 v1.5 to be compared with it.

use keywright_measure::{Fault, TargetError, Worker};
use keywright_primitives::hazmat::rsa_pkcs1;
use keywright_primitives::rsa::RsaSize;
use keywright_primitives::rsa_encryption::{RsaDecryptionKey, RsaEncryptionKey};
use keywright_primitives::{Error, Rejected};
use keywright_secret::SecretBytes;

use super::row::{Row, refused, rejected};
use super::rsa_keys;
use super::worker::{Act, Ring, answered, ring_of, rotating};

/// How long the key is.
pub(super) trait Length: Send + 'static {
    const SIZE: RsaSize;
}

macro_rules! length {
    ($name:ident) => {
        pub(super) struct $name;

        impl Length for $name {
            const SIZE: RsaSize = RsaSize::$name;
        }
    };
}

length!(Rsa2048);
length!(Rsa3072);
length!(Rsa4096);

/// How the text is padded.
pub(super) trait Padding: Send + 'static {
    fn encrypt(key: &RsaEncryptionKey, text: &[u8]) -> Result<Vec<u8>, Error>;
    fn decrypt(key: &RsaDecryptionKey, ciphertext: &[u8]) -> Result<SecretBytes, Rejected>;
}

/// OAEP with SHA-256 and an empty label.
pub(super) struct Oaep;
/// PKCS#1 v1.5.
pub(super) struct Pkcs1;

impl Padding for Oaep {
    fn encrypt(key: &RsaEncryptionKey, text: &[u8]) -> Result<Vec<u8>, Error> {
        key.encrypt_oaep(text, &[])
    }

    fn decrypt(key: &RsaDecryptionKey, ciphertext: &[u8]) -> Result<SecretBytes, Rejected> {
        key.decrypt_oaep(ciphertext, &[])
    }
}

impl Padding for Pkcs1 {
    fn encrypt(key: &RsaEncryptionKey, text: &[u8]) -> Result<Vec<u8>, Error> {
        rsa_pkcs1::encrypt(key, text)
    }

    fn decrypt(key: &RsaDecryptionKey, ciphertext: &[u8]) -> Result<SecretBytes, Rejected> {
        rsa_pkcs1::decrypt(key, ciphertext)
    }
}

fn keys<L: Length>(row: &Row<'_>) -> Result<(RsaDecryptionKey, RsaEncryptionKey), TargetError> {
    let document = rsa_keys::document(row, L::SIZE)?;
    let private = RsaDecryptionKey::from_pkcs8(&document).map_err(|error| row.fails(error))?;
    let public = private.encryption_key().map_err(|error| row.fails(error))?;
    Ok((private, public))
}

struct Encrypting<P> {
    private: RsaDecryptionKey,
    public: RsaEncryptionKey,
    padding: std::marker::PhantomData<P>,
}

impl<P: Padding> Act for Encrypting<P> {
    type Input = Vec<u8>;
    type Output = Vec<u8>;

    #[inline]
    fn act(&mut self, text: &Vec<u8>, output: &mut Vec<u8>) -> Result<(), Fault> {
        *output = P::encrypt(&self.public, text).map_err(refused)?;
        Ok(())
    }

    fn is_right(&mut self, text: &Vec<u8>, output: &Vec<u8>) -> bool {
        let opened = P::decrypt(&self.private, output);
        opened.is_ok_and(|opened| opened.expose() == text)
    }
}

/// One key encrypted.
pub(super) fn encrypt<L: Length, P: Padding>(
    row: &Row<'_>,
) -> Result<Box<dyn Worker>, TargetError> {
    let (private, public) = keys::<L>(row)?;
    let mut seeded = row.seeded();
    let ring = Ring::fill(ring_of(row.bytes), || Ok(seeded.bytes(row.bytes)))?;
    let act = Encrypting::<P> {
        private,
        public,
        padding: std::marker::PhantomData,
    };
    Ok(rotating(act, ring, Vec::new()))
}

/// One key decrypted.
pub(super) fn decrypt<L: Length, P: Padding>(
    row: &Row<'_>,
) -> Result<Box<dyn Worker>, TargetError> {
    let (private, public) = keys::<L>(row)?;
    let mut seeded = row.seeded();
    let ring = Ring::fill(4, || {
        let text = SecretBytes::from_vec(seeded.bytes(row.bytes));
        let sealed = P::encrypt(&public, text.expose()).map_err(|error| row.fails(error))?;
        Ok((sealed, text))
    })?;
    let first = SecretBytes::zeroed(0);
    Ok(answered(ring, first, move |sealed: &Vec<u8>, out| {
        *out = P::decrypt(&private, sealed).map_err(rejected)?;
        Ok(())
    }))
}
