//! Contexts that are bound to a negotiation, and AuthPSK-PQ.

use keywright_hpke::authpsk_pq::{RecipientKey, RecipientPublicKey};
use keywright_hpke::binder::{Identity, Negotiation};
use keywright_hpke::{
    Error, Kem, Policy, PrivateKey, PublicKey, Recipient, RecipientMode, SenderMode, Suite,
};
use keywright_measure::{TargetError, Worker};

use super::super::row::{Row, Seeded};
use super::super::worker::Ring;
use super::held::Held;
use super::{INFO, RING_LOG2, Started, accepting_each, draw, known, starting};

const NUMBERS: [[u16; 3]; 3] = [[0x647A, 1, 3], [0x20, 1, 3], [0x10, 1, 2]];

/// A negotiation as long as they are: names, long-term keys, a prekey, another channel's exporter.
const fn negotiation() -> Negotiation<'static> {
    Negotiation {
        offered: &[NUMBERS[1], NUMBERS[2]],
        published: &NUMBERS,
        initiator: Identity {
            name: b"alice@example.org",
            key: &[0xA1; 32],
        },
        responder: Identity {
            name: b"bob@example.org",
            key: &[0xB0; 32],
        },
        ratchet_prekey: &[0x7E; 32],
        application: &[0xAB; 32],
    }
}

fn binder_started(policy: &Policy, to: &PublicKey) -> Result<Started, Error> {
    let (enc, bound) = negotiation().initiate(policy, to, SenderMode::Base)?;
    Ok((enc.as_bytes().to_vec(), Held::Secret(bound.binder()?)))
}

fn binder_accepted(
    policy: &Policy,
    key: &PrivateKey,
    enc: &[u8],
) -> Result<Held<Recipient>, Error> {
    let bound = negotiation().accept(policy, key, RecipientMode::Base, enc)?;
    bound.binder().map(Held::Secret)
}

/// A bound context sent to one of several recipients, and its binder.
pub(in crate::local) fn binder_initiate(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let mut seeded = row.seeded();
    let keys = Ring::fill(RING_LOG2, || {
        draw(Suite::X25519.kem, &mut seeded).map_err(|error| row.fails(error))
    })?;
    let (policy, judge) = (Policy::default(), Policy::default());
    Ok(starting(
        keys,
        move |key: &PrivateKey| binder_started(&policy, key.public_key()),
        move |key: &PrivateKey, enc: &[u8]| binder_accepted(&judge, key, enc),
    ))
}

/// One of several bound contexts accepted, and its binder.
pub(in crate::local) fn binder_accept(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let policy = Policy::default();
    let key = draw(Suite::X25519.kem, &mut row.seeded()).map_err(|error| row.fails(error))?;
    let ring = Ring::fill(RING_LOG2, || {
        let made = binder_started(&policy, key.public_key()).and_then(known);
        made.map_err(|error| row.fails(error))
    })?;
    Ok(accepting_each(ring, move |enc| {
        binder_accepted(&policy, &key, enc)
    }))
}

/// A sender and recipients for AuthPSK-PQ.
struct PostQuantum {
    policy: Policy,
    sender: PrivateKey,
}

impl PostQuantum {
    fn draw(seeded: &mut Seeded) -> Result<Self, Error> {
        Ok(Self {
            policy: Policy::default(),
            sender: draw(Kem::X25519HkdfSha256, seeded)?,
        })
    }

    fn recipient(seeded: &mut Seeded) -> Result<(RecipientKey, RecipientPublicKey), Error> {
        let curve = draw(Kem::X25519HkdfSha256, seeded)?;
        let key = RecipientKey::from_parts(curve, draw(Kem::MlKem768Draft, seeded)?)?;
        let public = RecipientPublicKey::of(&key)?;
        Ok((key, public))
    }

    fn start(&self, to: &RecipientPublicKey) -> Result<Started, Error> {
        let (enc, context) = to.initiate(&self.policy, &self.sender, INFO)?;
        Ok((enc, Held::Context(context)))
    }

    fn accept(&self, key: &RecipientKey, enc: &[u8]) -> Result<Held<Recipient>, Error> {
        let context = key.accept(&self.policy, self.sender.public_key(), enc, INFO)?;
        Ok(Held::Context(context))
    }
}

/// AuthPSK-PQ sent to one of several recipients.
pub(in crate::local) fn authpsk_pq_initiate(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let mut seeded = row.seeded();
    let ours = PostQuantum::draw(&mut seeded).map_err(|error| row.fails(error))?;
    let keys = Ring::fill(RING_LOG2, || {
        PostQuantum::recipient(&mut seeded).map_err(|error| row.fails(error))
    })?;
    let judge = PostQuantum::draw(&mut row.seeded()).map_err(|error| row.fails(error))?;
    Ok(starting(
        keys,
        move |keys: &(RecipientKey, RecipientPublicKey)| ours.start(&keys.1),
        move |keys: &(RecipientKey, RecipientPublicKey), enc: &[u8]| judge.accept(&keys.0, enc),
    ))
}

/// One of several of AuthPSK-PQ accepted.
pub(in crate::local) fn authpsk_pq_accept(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let mut seeded = row.seeded();
    let ours = PostQuantum::draw(&mut seeded).map_err(|error| row.fails(error))?;
    let recipient = PostQuantum::recipient(&mut seeded);
    let (key, public) = recipient.map_err(|error| row.fails(error))?;
    let ring = Ring::fill(RING_LOG2, || {
        let made = ours.start(&public).and_then(known);
        made.map_err(|error| row.fails(error))
    })?;
    Ok(accepting_each(ring, move |enc| ours.accept(&key, enc)))
}
