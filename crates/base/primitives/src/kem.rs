//! ML-KEM-768 and ML-KEM-1024 (FIPS 203): a shared secret against which no quantum algorithm is known.
//!
//! Encapsulation and decapsulation are the backend's. It takes no seed, though, so the long form of a key
//! that is kept as its seed is made by another implementation once, when the key is read; with the long form
//! the backend works as with a key of its own.
//!
//! Not here: encapsulation with given randomness, which only published vectors need
//! ([`crate::hazmat::ml_kem`]).

use aws_lc_rs::digest::{SHA3_256, digest};
use aws_lc_rs::kem::{Ciphertext, DecapsulationKey, EncapsulationKey, ML_KEM_768, ML_KEM_1024};
use keywright_secret::{Secret, ct_eq, wipe};
use ml_kem::{MlKem768, MlKem1024, Seed};

use crate::{Error, Rejected, opaque_debug};

/// Bytes in an encapsulation key of ML-KEM-768.
pub const ENCAPSULATION_KEY_LEN: usize = 1184;
/// Bytes in a decapsulation key of ML-KEM-768.
pub const DECAPSULATION_KEY_LEN: usize = 2400;
/// Bytes in a ciphertext of ML-KEM-768.
pub const CIPHERTEXT_LEN: usize = 1088;
/// Bytes in a seed of either size: d, then z.
pub const SEED_LEN: usize = 64;

macro_rules! ml_kem {
    (
        $spoken:literal, $set:ident, $algorithm:ident,
        $decapsulation:ident, $encapsulation:ident,
        $private_len:literal, $public_len:literal, $ciphertext_len:literal
    ) => {
        #[doc = concat!("A private key of ", $spoken, " that decapsulates.")]
        pub struct $decapsulation {
            key: DecapsulationKey,
            public: $encapsulation,
        }

        #[doc = concat!("A public key of ", $spoken, " that encapsulates.")]
        pub struct $encapsulation {
            key: EncapsulationKey,
            bytes: [u8; $public_len],
        }

        impl $decapsulation {
            /// Bytes in a decapsulation key.
            pub const LEN: usize = $private_len;

            /// A new key.
            ///
            /// # Errors
            /// [`Error::Backend`] if the backend refuses.
            pub fn generate() -> Result<Self, Error> {
                let key = DecapsulationKey::generate(&$algorithm).map_err(|_| Error::Backend)?;
                let public = key.encapsulation_key().map_err(|_| Error::Backend)?;
                let bytes = public.key_bytes().map_err(|_| Error::Backend)?;
                let bytes = bytes.as_ref().try_into().map_err(|_| Error::Backend)?;
                let public = $encapsulation { key: public, bytes };
                Ok(Self { key, public })
            }

            /// The key of a seed (FIPS 203, algorithm 16), which is the form to keep a key in. Every seed
            /// is one.
            ///
            /// # Errors
            /// [`Error::Backend`] if the backend refuses what was made of the seed.
            pub fn from_seed(seed: &Secret<SEED_LEN>) -> Result<Self, Error> {
                let mut copy = Seed::from(*seed.expose());
                let key = ml_kem::DecapsulationKey::<$set>::from_seed(copy);
                wipe(&mut copy);
                let long = long_form!(key).ok_or(Error::Backend)?;
                Self::from_bytes(&long).map_err(|_| Error::Backend)
            }

            /// Reads a decapsulation key as FIPS 203 writes it, and checks it as section 7.3 asks.
            ///
            /// # Errors
            /// [`Error::KeyRejected`] if the embedded encapsulation key is none, or its hash is another.
            pub fn from_bytes(bytes: &Secret<$private_len>) -> Result<Self, Error> {
                // Behind the secret vector stand the encapsulation key, its hash, and the secret z.
                const EMBEDDED: usize = $private_len - $public_len - 64;
                let (_, rest) = bytes.expose().split_at(EMBEDDED);
                let (embedded, rest) = rest.split_at($public_len);
                let embedded: &[u8; $public_len] =
                    embedded.try_into().map_err(|_| Error::KeyRejected)?;
                let hash = digest(&SHA3_256, embedded);
                if !ct_eq(hash.as_ref(), &rest[..32]) {
                    return Err(Error::KeyRejected);
                }
                let public = $encapsulation::from_bytes(embedded)?;
                let key = DecapsulationKey::new(&$algorithm, bytes.expose());
                let key = key.map_err(|_| Error::KeyRejected)?;
                Ok(Self { key, public })
            }

            /// The decapsulation key as FIPS 203 writes it.
            ///
            /// # Errors
            /// [`Error::Backend`] if the backend refuses.
            pub fn to_bytes(&self) -> Result<Secret<$private_len>, Error> {
                let bytes = self.key.key_bytes().map_err(|_| Error::Backend)?;
                Secret::copy_from(bytes.as_ref()).ok_or(Error::Backend)
            }

            /// The public half.
            #[must_use]
            pub const fn encapsulation_key(&self) -> &$encapsulation {
                &self.public
            }

            /// The shared secret in `ciphertext`. One that was made for another key, or changed, gives a
            /// secret that nobody else has, not an error.
            ///
            /// # Errors
            /// [`Rejected`] if the backend refuses.
            pub fn decapsulate(
                &self,
                ciphertext: &[u8; $ciphertext_len],
            ) -> Result<Secret<32>, Rejected> {
                let ciphertext = Ciphertext::from(&ciphertext[..]);
                let secret = self.key.decapsulate(ciphertext).map_err(|_| Rejected)?;
                Secret::copy_from(secret.as_ref()).ok_or(Rejected)
            }
        }

        impl $encapsulation {
            /// Bytes in an encapsulation key.
            pub const LEN: usize = $public_len;
            /// Bytes in a ciphertext.
            pub const CIPHERTEXT_LEN: usize = $ciphertext_len;

            /// Reads an encapsulation key as FIPS 203 writes it, and checks it as section 7.2 asks.
            ///
            /// # Errors
            /// [`Error::KeyRejected`] if a coefficient is not reduced.
            pub fn from_bytes(bytes: &[u8; $public_len]) -> Result<Self, Error> {
                if !is_reduced(&bytes[..$public_len - 32]) {
                    return Err(Error::KeyRejected);
                }
                let key = EncapsulationKey::new(&$algorithm, bytes);
                let key = key.map_err(|_| Error::KeyRejected)?;
                Ok(Self { key, bytes: *bytes })
            }

            /// The encapsulation key as FIPS 203 writes it.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; $public_len] {
                &self.bytes
            }

            /// A new shared secret, and the ciphertext that tells it to the owner of the key.
            ///
            /// # Errors
            /// [`Error::Backend`] if the backend refuses.
            pub fn encapsulate(&self) -> Result<([u8; $ciphertext_len], Secret<32>), Error> {
                let (ciphertext, secret) = self.key.encapsulate().map_err(|_| Error::Backend)?;
                let ciphertext = ciphertext.as_ref().try_into();
                let secret = Secret::copy_from(secret.as_ref()).ok_or(Error::Backend)?;
                Ok((ciphertext.map_err(|_| Error::Backend)?, secret))
            }
        }

        opaque_debug! { $decapsulation $encapsulation }
    };
}

/// The long form of a key of the other implementation.
macro_rules! long_form {
    ($key:expr) => {{
        #[expect(
            deprecated,
            reason = "deprecated for keeping keys in; here it is the way from one implementation to another"
        )]
        let mut long = ml_kem::ExpandedKeyEncoding::to_expanded_bytes(&$key);
        let secret = Secret::copy_from(&long);
        wipe(&mut long);
        secret
    }};
}

ml_kem! {
    "ML-KEM-768", MlKem768, ML_KEM_768,
    MlKem768DecapsulationKey, MlKem768EncapsulationKey, 2400, 1184, 1088
}
ml_kem! {
    "ML-KEM-1024", MlKem1024, ML_KEM_1024,
    MlKem1024DecapsulationKey, MlKem1024EncapsulationKey, 3168, 1568, 1568
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

    #[test]
    fn the_lengths_are_those_of_the_standard() {
        assert_eq!(MlKem768DecapsulationKey::LEN, DECAPSULATION_KEY_LEN);
        assert_eq!(MlKem768EncapsulationKey::LEN, ENCAPSULATION_KEY_LEN);
        assert_eq!(MlKem768EncapsulationKey::CIPHERTEXT_LEN, CIPHERTEXT_LEN);
        assert_eq!(
            MlKem1024DecapsulationKey::LEN,
            MlKem1024EncapsulationKey::LEN + 1536 + 64
        );
    }
}
