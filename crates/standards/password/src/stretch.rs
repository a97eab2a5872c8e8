//! Argon2id over memory of our own: budgeted, locked, wiped, given back.

use argon2::{Algorithm, Argon2, Block, Params, Version};
use keywright_secret::Secret;
use keywright_secret::locked::{Locking, Region};

use crate::{Cost, Error, Limits, budget, pool};

/// The password key, and whether its memory could be locked.
pub(crate) fn stretch(
    password: &[u8],
    salt: &[u8],
    cost: Cost,
    limits: &Limits,
) -> Result<(Secret<32>, Locking), Error> {
    limits.check(cost)?;
    let params = Params::new(cost.memory_kib, cost.passes, cost.lanes, Some(32))
        .map_err(|_| Error::OutOfBounds)?;
    let _share = budget::take(cost.memory_kib, limits.wait())?;
    let lanes = usize::try_from(cost.lanes).map_err(|_| Error::OutOfBounds)?;
    // Each lane's thread touches its part first, and one for each lane wipes it at the end.
    let mut blocks =
        Region::<Block>::new(params.block_count(), lanes).map_err(|_| Error::OutOfMemory)?;
    let locking = blocks.locking();
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let key = pool::run(|| {
        Secret::try_from_fill(|key| {
            argon2.hash_password_into_with_memory(password, salt, key, blocks.items())
        })
    });
    Ok((key.map_err(|_| Error::Argon2)?, locking))
}
