//! The backend's key generation and agreements that the row of this name cannot do without.

use keywright_hpke::{Error, Sender};
use keywright_measure::{TargetError, Worker};
use keywright_primitives::agreement::{X25519PrivateKey, X25519PublicKey};
use keywright_secret::Secret;

use super::super::row::{Row, rejected};
use super::super::worker::{Ring, answered};
use super::held::Held;
use super::{RING_LOG2, starting};

/// What a row cannot do without: a new key's agreements with one of several recipients.
fn floor_initiate_of(row: &Row<'_>, more: usize) -> Result<Box<dyn Worker>, TargetError> {
    let mut seeded = row.seeded();
    let mut pair = || {
        let key = X25519PrivateKey::from_bytes(&seeded.secret())?;
        let public = key.public_key()?;
        Ok((key, public))
    };
    let fails = |error: keywright_primitives::Error| row.fails(error);
    let (own, _) = pair().map_err(fails)?;
    let keys = Ring::fill(RING_LOG2, || pair().map_err(fails))?;
    Ok(starting(
        keys,
        move |(_, public): &(X25519PrivateKey, X25519PublicKey)| {
            let new = X25519PrivateKey::generate()?;
            let secret = new.agree(public).map_err(|_| Error::KeyAgreement)?;
            for _ in 0..more {
                std::hint::black_box(own.agree(public).map_err(|_| Error::KeyAgreement)?);
            }
            Ok((new.public_bytes()?.to_vec(), Held::<Sender>::Secret(secret)))
        },
        |(key, _): &(X25519PrivateKey, X25519PublicKey), enc: &[u8]| {
            let enc = enc.try_into().map_err(|_| Error::Rejected)?;
            let peer = X25519PublicKey::from_bytes(enc)?;
            let secret = key.agree(&peer).map_err(|_| Error::Rejected)?;
            Ok(Held::<Sender>::Secret(secret))
        },
    ))
}

/// One key generation and one agreement: mode base.
pub(in crate::local) fn floor_base_initiate(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    floor_initiate_of(row, 0)
}

/// One key generation and two agreements: mode auth.
pub(in crate::local) fn floor_auth_initiate(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    floor_initiate_of(row, 1)
}

fn floor_accept_of(row: &Row<'_>, times: usize) -> Result<Box<dyn Worker>, TargetError> {
    let mut seeded = row.seeded();
    let mut draw = || {
        let key = X25519PrivateKey::from_bytes(&seeded.secret());
        key.map_err(|error| row.fails(error))
    };
    let own = draw()?;
    let public = own.public_key().map_err(|error| row.fails(error))?;
    let ring = Ring::fill(RING_LOG2, || {
        let peer = draw()?;
        let secret = peer.agree(&public).map_err(|error| row.fails(error))?;
        let peer = peer.public_key().map_err(|error| row.fails(error))?;
        Ok((peer, secret))
    })?;
    let first = Secret::from_fill(|_| ());
    Ok(answered(ring, first, move |peer: &X25519PublicKey, out| {
        for _ in 0..times {
            *out = own.agree(peer).map_err(rejected)?;
        }
        Ok(())
    }))
}

/// One agreement: mode base.
pub(in crate::local) fn floor_base_accept(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    floor_accept_of(row, 1)
}

/// Two agreements: mode auth.
pub(in crate::local) fn floor_auth_accept(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    floor_accept_of(row, 2)
}
