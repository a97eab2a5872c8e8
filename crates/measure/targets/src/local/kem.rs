//! ML-KEM-768 (FIPS 203). Its keys and its randomness come from the backend, which takes no seed.

use keywright_measure::{Fault, TargetError, Worker};
use keywright_primitives::kem::{CIPHERTEXT_LEN, MlKem768DecapsulationKey};
use keywright_secret::Secret;

use super::output::Output;
use super::row::{Row, refused, rejected};
use super::worker::{Act, Ring, answered, rotating};

type Ciphertext = [u8; CIPHERTEXT_LEN];

fn generate(row: &Row<'_>) -> Result<MlKem768DecapsulationKey, TargetError> {
    MlKem768DecapsulationKey::generate().map_err(|error| row.fails(error))
}

struct Encapsulating;

impl Act for Encapsulating {
    type Input = MlKem768DecapsulationKey;
    type Output = (Ciphertext, Secret<32>);

    #[inline]
    fn act(&mut self, key: &Self::Input, output: &mut Self::Output) -> Result<(), Fault> {
        *output = key.encapsulation_key().encapsulate().map_err(refused)?;
        Ok(())
    }

    fn is_right(&mut self, key: &Self::Input, (ciphertext, secret): &Self::Output) -> bool {
        let held = key.decapsulate(ciphertext);
        held.is_ok_and(|held| held.equals(secret))
    }
}

/// One secret made for one of several keys.
pub(super) fn encapsulate(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let ring = Ring::fill(3, || generate(row))?;
    let first = ([0; CIPHERTEXT_LEN], Secret::from_fill(|_| ()));
    Ok(rotating(Encapsulating, ring, first))
}

/// One secret taken out of a ciphertext.
pub(super) fn decapsulate(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let key = generate(row)?;
    let ring = Ring::fill(4, || {
        let made = key.encapsulation_key().encapsulate();
        made.map_err(|error| row.fails(error))
    })?;
    let first = Secret::from_fill(|_| ());
    Ok(answered(
        ring,
        first,
        move |ciphertext: &Ciphertext, out| {
            *out = key.decapsulate(ciphertext).map_err(rejected)?;
            Ok(())
        },
    ))
}
