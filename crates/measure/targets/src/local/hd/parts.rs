//! What a derivation is made of.

use keywright_hdkey::{PrivateNode, Scheme, Seed};
use keywright_measure::{TargetError, Worker};
use keywright_primitives::mac::HmacSha512;
use keywright_primitives::secp256k1;

use super::super::row::{Row, refused};
use super::super::worker::{Ring, answered, ring_of};
use super::answers::{identus, tasks};

/// Bytes that a hardened child is hashed from.
const CHILD_LEN: usize = 37;

/// A private key whose public key is wanted.
struct Private(Box<PrivateNode>);

/// One public key.
pub(in super::super) fn public_key(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let ring = tasks(row, Scheme::Bip32Secp256k1, |number| {
        identus(row, 0, number)
    })?;
    let mut pairs = Vec::new();
    for turn in 0..1 << ring_of(64) {
        let task = ring.at(turn);
        let seed = Seed::raw(task.seed.expose()).map_err(|error| row.fails(error))?;
        let node = PrivateNode::derive_from(&seed, Scheme::Bip32Secp256k1, &task.path);
        let node = node.map_err(|error| row.fails(error))?;
        let answer = secp256k1::PrivateKey::from_bytes(task.answer.expose())
            .and_then(|key| key.public_key())
            .map_err(|error| row.fails(error))?;
        pairs.push((Private(node), answer.to_compressed()));
    }
    let mut pairs = pairs.into_iter();
    let ring = Ring::fill(ring_of(64), || {
        pairs.next().ok_or_else(|| row.fails("no key"))
    })?;
    Ok(answered(ring, [0; 33], |key: &Private, out| {
        *out = *key.0.public_key().map_err(refused)?.serialized();
        Ok(())
    }))
}

/// One HMAC over what a hardened child is hashed from, under a new key.
pub(in super::super) fn hmac(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let mut seeded = row.seeded();
    let ring = Ring::fill(ring_of(64), || {
        let (key, message) = (seeded.array::<32>(), seeded.array::<CHILD_LEN>());
        let mut answer = [0; 64];
        keywright_primitives::mac::Sha512Pads::new(&key).mac_into(&[&message], &mut answer);
        Ok(((key, message), answer))
    })?;
    Ok(answered(
        ring,
        [0; 64],
        |(key, message): &([u8; 32], [u8; CHILD_LEN]), out| {
            *out = HmacSha512::new(key).map_err(refused)?.mac(message);
            Ok(())
        },
    ))
}
