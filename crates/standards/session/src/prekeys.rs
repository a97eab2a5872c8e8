//! The private halves of a record.

use keywright_hpke::PrivateKey;
use keywright_hpke::authpsk_pq::RecipientKey;
use keywright_primitives::kem::MlKem768DecapsulationKey;
use keywright_primitives::random::RandomStream;
use keywright_secret::Secret;

use crate::{Error, Identity};

/// The secrets behind a record. Whoever keeps them elsewhere makes the same responder of them again.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "what a record has private halves of"
)]
pub struct PrekeySecrets {
    /// Of the ratchet prekey.
    pub ratchet: Secret<32>,
    /// The seed of the ML-KEM-768 key, if the record is to have one.
    pub lattice: Option<Secret<64>>,
}

impl PrekeySecrets {
    /// New ones, with an ML-KEM key.
    ///
    /// # Errors
    /// [`Error::Backend`] if there is no randomness.
    pub fn generate() -> Result<Self, Error> {
        let mut random = RandomStream::new()?;
        Ok(Self {
            ratchet: random.secret()?,
            lattice: Some(random.secret()?),
        })
    }
}

/// The ML-KEM key in the shapes that the two handshakes take.
pub(crate) struct Lattice {
    pub(crate) decapsulation: MlKem768DecapsulationKey,
    pub(crate) recipient: RecipientKey,
}

impl Lattice {
    pub(crate) fn new(
        identity: &Identity,
        key: PrivateKey,
        seed: &Secret<64>,
    ) -> Result<Self, Error> {
        let kem = identity.agreement.kem();
        let curve = PrivateKey::from_bytes(kem, &identity.agreement.to_bytes()?)?;
        Ok(Self {
            decapsulation: MlKem768DecapsulationKey::from_seed(seed)?,
            recipient: RecipientKey::from_parts(curve, key)?,
        })
    }
}
