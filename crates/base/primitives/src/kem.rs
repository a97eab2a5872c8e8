//! ML-KEM-768 (FIPS 203): a shared secret against which no quantum algorithm is known.
//!
//! Not here: keys from a seed and encapsulation with given randomness, which the backend does not offer.

use aws_lc_rs::digest::{SHA3_256, digest};
use aws_lc_rs::kem::{Ciphertext, DecapsulationKey, EncapsulationKey, ML_KEM_768};
use keywright_secret::{Secret, ct_eq};

use crate::{Error, Rejected, opaque_debug};

/// Bytes in an encapsulation key.
pub const ENCAPSULATION_KEY_LEN: usize = 1184;
/// Bytes in a decapsulation key.
pub const DECAPSULATION_KEY_LEN: usize = 2400;
/// Bytes in a ciphertext.
pub const CIPHERTEXT_LEN: usize = 1088;

/// Where the encapsulation key stands in a decapsulation key; behind it stand its hash and the secret z.
const EMBEDDED: std::ops::Range<usize> = 1152..1152 + ENCAPSULATION_KEY_LEN;
/// Where the hash stands.
const EMBEDDED_HASH: std::ops::Range<usize> = EMBEDDED.end..EMBEDDED.end + 32;

/// A private key that decapsulates.
pub struct MlKem768DecapsulationKey {
    key: DecapsulationKey,
    public: MlKem768EncapsulationKey,
}

/// A public key that encapsulates.
pub struct MlKem768EncapsulationKey {
    key: EncapsulationKey,
    bytes: [u8; ENCAPSULATION_KEY_LEN],
}

opaque_debug! { MlKem768DecapsulationKey MlKem768EncapsulationKey }

impl MlKem768DecapsulationKey {
    /// A new key.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn generate() -> Result<Self, Error> {
        let key = DecapsulationKey::generate(&ML_KEM_768).map_err(|_| Error::Backend)?;
        let public = key.encapsulation_key().map_err(|_| Error::Backend)?;
        let bytes = public.key_bytes().map_err(|_| Error::Backend)?;
        let bytes = bytes.as_ref().try_into().map_err(|_| Error::Backend)?;
        let public = MlKem768EncapsulationKey { key: public, bytes };
        Ok(Self { key, public })
    }

    /// Reads a decapsulation key as FIPS 203 writes it, and checks it as section 7.3 asks.
    ///
    /// # Errors
    /// [`Error::KeyRejected`] if the embedded encapsulation key is none, or its hash is another.
    pub fn from_bytes(bytes: &Secret<DECAPSULATION_KEY_LEN>) -> Result<Self, Error> {
        let embedded = bytes.expose()[EMBEDDED].try_into();
        let embedded: &[u8; ENCAPSULATION_KEY_LEN] = embedded.map_err(|_| Error::KeyRejected)?;
        let hash = digest(&SHA3_256, embedded);
        if !ct_eq(hash.as_ref(), &bytes.expose()[EMBEDDED_HASH]) {
            return Err(Error::KeyRejected);
        }
        let public = MlKem768EncapsulationKey::from_bytes(embedded)?;
        let key = DecapsulationKey::new(&ML_KEM_768, bytes.expose());
        let key = key.map_err(|_| Error::KeyRejected)?;
        Ok(Self { key, public })
    }

    /// The decapsulation key as FIPS 203 writes it.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn to_bytes(&self) -> Result<Secret<DECAPSULATION_KEY_LEN>, Error> {
        let bytes = self.key.key_bytes().map_err(|_| Error::Backend)?;
        Secret::copy_from(bytes.as_ref()).ok_or(Error::Backend)
    }

    /// The public half.
    #[must_use]
    pub const fn encapsulation_key(&self) -> &MlKem768EncapsulationKey {
        &self.public
    }

    /// The shared secret in `ciphertext`. One that was made for another key, or changed, gives a secret that
    /// nobody else has, not an error.
    ///
    /// # Errors
    /// [`Rejected`] if the backend refuses.
    pub fn decapsulate(&self, ciphertext: &[u8; CIPHERTEXT_LEN]) -> Result<Secret<32>, Rejected> {
        let ciphertext = Ciphertext::from(&ciphertext[..]);
        let secret = self.key.decapsulate(ciphertext).map_err(|_| Rejected)?;
        Secret::copy_from(secret.as_ref()).ok_or(Rejected)
    }
}

impl MlKem768EncapsulationKey {
    /// Reads an encapsulation key as FIPS 203 writes it, and checks it as section 7.2 asks.
    ///
    /// # Errors
    /// [`Error::KeyRejected`] if a coefficient is not reduced.
    pub fn from_bytes(bytes: &[u8; ENCAPSULATION_KEY_LEN]) -> Result<Self, Error> {
        if !is_reduced(&bytes[..ENCAPSULATION_KEY_LEN - 32]) {
            return Err(Error::KeyRejected);
        }
        let key = EncapsulationKey::new(&ML_KEM_768, bytes).map_err(|_| Error::KeyRejected)?;
        Ok(Self { key, bytes: *bytes })
    }

    /// The encapsulation key as FIPS 203 writes it.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; ENCAPSULATION_KEY_LEN] {
        &self.bytes
    }

    /// A new shared secret, and the ciphertext that tells it to the owner of the key.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn encapsulate(&self) -> Result<([u8; CIPHERTEXT_LEN], Secret<32>), Error> {
        let (ciphertext, secret) = self.key.encapsulate().map_err(|_| Error::Backend)?;
        let ciphertext = ciphertext.as_ref().try_into();
        let secret = Secret::copy_from(secret.as_ref()).ok_or(Error::Backend)?;
        Ok((ciphertext.map_err(|_| Error::Backend)?, secret))
    }
}

/// Whether each coefficient, 12 bits and little-endian, is below q. The rest of the key is a seed.
fn is_reduced(coefficients: &[u8]) -> bool {
    const Q: u16 = 3329;
    let (pairs, _) = coefficients.as_chunks::<3>();
    pairs.iter().all(|&[low, middle, high]| {
        let [low, middle, high] = [low, middle, high].map(u16::from);
        (low | (middle & 0xF) << 8) < Q && (middle >> 4 | high << 4) < Q
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coefficient_of_q_is_not_reduced_in_either_place() {
        assert!(is_reduced(&[0x00, 0x0D, 0xD0]), "3328 and 3328");
        assert!(!is_reduced(&[0x01, 0x0D, 0x00]), "3329 first");
        assert!(!is_reduced(&[0x00, 0x10, 0xD0]), "3329 second");
        assert!(!is_reduced(&[0, 0, 0, 0xFF, 0xFF, 0xFF]));
    }
}
