//! ML-KEM encapsulation with given randomness (FIPS 203, algorithm 17).
//!
//! Published vectors bring the 32 bytes m along. Whoever uses an m that another can guess, or one twice, has
//! no secret: everything else calls [`crate::kem`], which draws its own.
//!
//! The backend does not offer this, so another implementation does it, which makes the vectors a comparison
//! of the two as well.

use keywright_secret::{Secret, wipe};
use ml_kem::array::Array;
use ml_kem::{EncapsulationKey, MlKem768, MlKem1024};

use crate::Error;
use crate::kem::{MlKem768EncapsulationKey, MlKem1024EncapsulationKey};

macro_rules! encapsulate {
    ($spoken:literal, $name:ident, $set:ident, $key:ident, $ciphertext_len:literal) => {
        #[doc = concat!("The secret and the ciphertext that ", $spoken, " makes of `m`.")]
        ///
        /// # Errors
        /// [`Error::Backend`] if the implementation refuses a key that was checked before.
        pub fn $name(
            key: &$key,
            m: &Secret<32>,
        ) -> Result<([u8; $ciphertext_len], Secret<32>), Error> {
            let key = EncapsulationKey::<$set>::new(&Array::from(*key.as_bytes()));
            let key = key.map_err(|_| Error::Backend)?;
            let mut randomness = Array::from(*m.expose());
            let (ciphertext, mut secret) = key.encapsulate_deterministic(&randomness);
            let kept = Secret::copy_from(&secret).ok_or(Error::Backend);
            wipe(&mut randomness);
            wipe(&mut secret);
            Ok((ciphertext.into(), kept?))
        }
    };
}

encapsulate! { "ML-KEM-768", encapsulate_768, MlKem768, MlKem768EncapsulationKey, 1088 }
encapsulate! { "ML-KEM-1024", encapsulate_1024, MlKem1024, MlKem1024EncapsulationKey, 1568 }
