//! Argon2id over memory of our own: budgeted, pinned, wiped.

use argon2::{Algorithm, Argon2, Block, Params, Version};
use keywright_secret::Secret;
use keywright_secret::locked::{Locking, pin};
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use crate::{Cost, Error, Limits, budget};

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
    let mut blocks = touched(params.block_count())?;
    // Dropped before the blocks are freed: wipes them and lets their pages go.
    let mut pinned = pin(&mut blocks);
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let key = Secret::try_from_fill(|key| {
        argon2.hash_password_into_with_memory(password, salt, key, pinned.items())
    });
    let locking = pinned.locking();
    Ok((key.map_err(|_| Error::Argon2)?, locking))
}

/// Zeroed blocks, each touched by one of the threads that will work on them: the first touch of a page is
/// where its time goes, and locking it afterwards costs little.
fn touched(count: usize) -> Result<Vec<Block>, Error> {
    let mut blocks = Vec::new();
    blocks
        .try_reserve_exact(count)
        .map_err(|_| Error::OutOfMemory)?;
    let zeroed = (0..count).into_par_iter().with_min_len(1024);
    zeroed.map(|_| Block::new()).collect_into_vec(&mut blocks);
    Ok(blocks)
}
