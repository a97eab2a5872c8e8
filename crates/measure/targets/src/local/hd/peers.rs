//! The same keys by the `bip32` crate, which computes the public key of each parent on the way, and a
//! public key by libsecp256k1 as its binding offers it.

use keywright_hdkey::{Path, PrivateNode, Scheme};
use keywright_measure::{TargetError, Worker};
use keywright_primitives::secp256k1;

use super::super::row::{Row, refused};
use super::super::worker::{Ring, answered, ring_of};
use super::answers::{Task, identus, tasks};

/// Five levels, private and public, by the `bip32` crate.
pub(in super::super) fn bip32_crate(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let ring = tasks(row, Scheme::Bip32Secp256k1, |number| {
        identus(row, number % 3, number)
    })?;
    let ring = with_public(row, &ring)?;
    Ok(answered(
        ring,
        [0; 33],
        |(seed, path): &(Vec<u8>, Path), out| {
            let mut node = bip32::XPrv::new(seed).map_err(refused)?;
            for child in path.children() {
                node = node
                    .derive_child(bip32::ChildNumber(child.to_raw()))
                    .map_err(refused)?;
            }
            *out = node.public_key().to_bytes();
            Ok(())
        },
    ))
}

/// One public key by libsecp256k1.
pub(in super::super) fn libsecp256k1(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let mut seeded = row.seeded();
    let ring = Ring::fill(ring_of(64), || {
        let bytes = seeded.array::<32>();
        let answer = secp256k1::PrivateKey::from_bytes(&bytes)
            .and_then(|key| key.public_key())
            .map_err(|error| row.fails(error))?;
        let key = ::secp256k1::SecretKey::from_byte_array(bytes);
        Ok((
            key.map_err(|error| row.fails(error))?,
            answer.to_compressed(),
        ))
    })?;
    let context = ::secp256k1::Secp256k1::signing_only();
    Ok(answered(
        ring,
        [0; 33],
        move |key: &::secp256k1::SecretKey, out| {
            *out = ::secp256k1::PublicKey::from_secret_key(&context, key).serialize();
            Ok(())
        },
    ))
}

type WithPublic = ((Vec<u8>, Path), [u8; 33]);

fn with_public(row: &Row<'_>, tasks: &Ring<Task>) -> Result<Ring<WithPublic>, TargetError> {
    let mut turn = 0;
    Ring::fill(ring_of(64), || {
        let task = tasks.at(turn);
        turn += 1;
        let public = secp256k1::PrivateKey::from_bytes(task.answer.expose())
            .and_then(|key| key.public_key())
            .map_err(|error| row.fails(error))?;
        let input = (task.seed.expose().to_vec(), task.path.clone());
        Ok((input, public.to_compressed()))
    })
}

/// Five levels by this crate and the public key by libsecp256k1: what private and public key cost at least
/// where the one is made of the other.
pub(in super::super) fn cold_and_libsecp256k1(
    row: &Row<'_>,
) -> Result<Box<dyn Worker>, TargetError> {
    let scheme = Scheme::Bip32Secp256k1;
    let tasks = tasks(row, scheme, |number| identus(row, number % 3, number))?;
    let mut turn = 0;
    let ring = Ring::fill(ring_of(64), || {
        let task = tasks.at(turn);
        turn += 1;
        let public = secp256k1::PrivateKey::from_bytes(task.answer.expose())
            .and_then(|key| key.public_key())
            .map_err(|error| row.fails(error))?;
        let seed = keywright_hdkey::Seed::raw(task.seed.expose());
        let seed = seed.map_err(|error| row.fails(error))?;
        Ok(((seed, task.path.clone()), public.to_compressed()))
    })?;
    let context = ::secp256k1::Secp256k1::signing_only();
    Ok(answered(
        ring,
        [0; 33],
        move |(seed, path): &(keywright_hdkey::Seed, Path), out| {
            let node = PrivateNode::derive_from(seed, scheme, path).map_err(refused)?;
            let key = node.export().map_err(refused)?;
            let bytes = key.key.expose().try_into().map_err(refused)?;
            let key = ::secp256k1::SecretKey::from_byte_array(bytes).map_err(refused)?;
            *out = ::secp256k1::PublicKey::from_secret_key(&context, &key).serialize();
            Ok(())
        },
    ))
}
