//! What is derived, and the answers, which are put together from the backend's HMAC and the sum of keys.

use keywright_hdkey::{ChildIndex, Path, Scheme, Seed};
use keywright_measure::TargetError;
use keywright_primitives::mac::HmacSha512;
use keywright_primitives::{p256, secp256k1};
use keywright_secret::Secret;

use super::super::row::{Row, Seeded};
use super::super::worker::{Ring, ring_of};

/// A seed, a path and the key that lies there.
pub(super) struct Task {
    pub(super) seed: Seed,
    pub(super) path: Path,
    pub(super) answer: Secret<32>,
}

/// As many tasks as fit the ring, each with a seed of its own.
pub(super) fn tasks(
    row: &Row<'_>,
    scheme: Scheme,
    mut path: impl FnMut(u32) -> Result<Path, TargetError>,
) -> Result<Ring<Task>, TargetError> {
    let mut seeded: Seeded = row.seeded();
    tasks_of(row, scheme, |number| {
        Ok((seeded.array::<64>(), path(number)?))
    })
}

pub(super) fn tasks_of(
    row: &Row<'_>,
    scheme: Scheme,
    mut of: impl FnMut(u32) -> Result<([u8; 64], Path), TargetError>,
) -> Result<Ring<Task>, TargetError> {
    let mut number = 0;
    Ring::fill(ring_of(64), || {
        let (seed, path) = of(number)?;
        number += 1;
        let answer = made(&seed, scheme, &path).map_err(|error| row.fails(error))?;
        Ok(Task {
            seed: Seed::raw(&seed).map_err(|error| row.fails(error))?,
            path,
            answer: answer.key,
        })
    })
}

/// The path of a key of an Identus wallet.
pub(super) fn identus(row: &Row<'_>, did: u32, index: u32) -> Result<Path, TargetError> {
    path(row, &[29, 29, did, 1 + index % 8, index])
}

pub(super) fn path(row: &Row<'_>, numbers: &[u32]) -> Result<Path, TargetError> {
    Path::new(numbers.iter().copied().map(hardened).collect()).map_err(|error| row.fails(error))
}

/// A key and its chain code, put together from the backend's HMAC.
pub(super) struct Level {
    pub(super) key: Secret<32>,
    chain: Secret<32>,
}

impl Level {
    fn of(image: &[u8; 64]) -> Self {
        Self {
            key: Secret::from_fill(|key| key.copy_from_slice(&image[..32])),
            chain: Secret::from_fill(|chain| chain.copy_from_slice(&image[32..])),
        }
    }

    pub(super) fn copy(&self) -> Self {
        Self {
            key: Secret::from_fill(|key| key.copy_from_slice(self.key.expose())),
            chain: Secret::from_fill(|chain| chain.copy_from_slice(self.chain.expose())),
        }
    }

    /// A hardened child. Invalid numbers are met once in 2^32 times at most, and are an error here.
    pub(super) fn step(
        &mut self,
        scheme: Scheme,
        child: ChildIndex,
    ) -> Result<(), keywright_primitives::Error> {
        let hmac = HmacSha512::new(self.chain.expose())?;
        let image = hmac.mac_pieces(&[&[0], self.key.expose(), &child.to_raw().to_be_bytes()]);
        let child = Self::of(&image);
        let key = Secret::try_from_fill(|key| {
            *key = *self.key.expose();
            match scheme {
                Scheme::Slip10NistP256 => p256::tweak_private(key, child.key.expose()),
                Scheme::Slip10Ed25519 => {
                    *key = *child.key.expose();
                    Ok(())
                }
                _ => secp256k1::tweak_private(key, child.key.expose()),
            }
        })?;
        *self = Self {
            key,
            chain: child.chain,
        };
        Ok(())
    }
}

pub(super) fn made(
    seed: &[u8],
    scheme: Scheme,
    path: &Path,
) -> Result<Level, keywright_primitives::Error> {
    let root: &[u8] = match scheme {
        Scheme::Slip10NistP256 => b"Nist256p1 seed",
        Scheme::Slip10Ed25519 => b"ed25519 seed",
        _ => b"Bitcoin seed",
    };
    let mut level = Level::of(&HmacSha512::new(root)?.mac(seed));
    for child in path.children() {
        level.step(scheme, *child)?;
    }
    Ok(level)
}

pub(super) const fn hardened(number: u32) -> ChildIndex {
    ChildIndex::from_raw(number | 1 << 31)
}
