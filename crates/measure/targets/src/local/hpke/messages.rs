//! Messages and exports in a context that is there.

use keywright_hpke::{
    Aad, Error, Policy, Recipient, RecipientMode, Sender, SenderMode, Suite, TAG_LEN, hazmat,
};
use keywright_measure::{Fault, TargetError, Worker};

use super::super::row::{Row, refused, rejected};
use super::super::worker::{Act, Ring, answered, ring_of, rotating};
use super::{INFO, RING_LOG2, draw};

/// Both ends of one context.
fn context(row: &Row<'_>) -> Result<(Sender, Recipient), TargetError> {
    let made = || {
        let mut seeded = row.seeded();
        let key = draw(Suite::X25519.kem, &mut seeded)?;
        let suite = Policy::default().admit(Suite::X25519)?;
        let to = suite.initiator(key.public_key(), SenderMode::Base, INFO)?;
        let (enc, sender) = to.initiate()?;
        let from = suite.acceptor(&key, RecipientMode::Base, INFO)?;
        Ok((sender, from.accept(enc.as_bytes())?))
    };
    made().map_err(|error: Error| row.fails(error))
}

const AAD: Aad<'static> = Aad(b"measured");

/// Seals, and is judged by the other end's opening what was sealed last.
struct Sealing {
    sender: Sender,
    recipient: Recipient,
    sealed: u64,
}

impl Act for Sealing {
    type Input = Vec<u8>;
    type Output = Vec<u8>;

    #[inline]
    fn act(&mut self, text: &Vec<u8>, output: &mut Vec<u8>) -> Result<(), Fault> {
        self.sender.seal_into(AAD, text, output).map_err(refused)?;
        self.sealed += 1;
        Ok(())
    }

    fn is_right(&mut self, text: &Vec<u8>, output: &Vec<u8>) -> bool {
        // The other end has not seen the messages between, and is told which one this is.
        hazmat::set_recipient_sequence(&mut self.recipient, self.sealed.wrapping_sub(1));
        self.recipient
            .open(AAD, output)
            .is_ok_and(|opened| opened == *text)
    }
}

/// A message sealed in a context, into memory that is there.
pub(in crate::local) fn seal(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let (sender, recipient) = context(row)?;
    let mut seeded = row.seeded();
    let ring = Ring::fill(ring_of(row.bytes), || Ok(seeded.bytes(row.bytes)))?;
    let act = Sealing {
        sender,
        recipient,
        sealed: 0,
    };
    let first = vec![0; row.bytes + TAG_LEN];
    Ok(rotating(act, ring, first))
}

/// A message opened in a context, into memory that is there. The context is taken back to the number of each
/// message, which is one store.
pub(in crate::local) fn open(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let (mut sender, mut recipient) = context(row)?;
    let mut seeded = row.seeded();
    let mut number = 0_u64;
    let ring = Ring::fill(ring_of(row.bytes), || {
        let text = seeded.bytes(row.bytes);
        let sealed = sender.seal(AAD, &text).map_err(|error| row.fails(error))?;
        number += 1;
        Ok(((number - 1, sealed), text))
    })?;
    let first = vec![0; row.bytes];
    Ok(answered(
        ring,
        first,
        move |(number, sealed): &(u64, Vec<u8>), out| {
            hazmat::set_recipient_sequence(&mut recipient, *number);
            recipient.open_into(AAD, sealed, out).map_err(rejected)?;
            Ok(())
        },
    ))
}

/// A secret exported from a context.
pub(in crate::local) fn export(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let (sender, recipient) = context(row)?;
    let mut seeded = row.seeded();
    let ring = Ring::fill(RING_LOG2, || {
        let context = seeded.array::<16>();
        let mut out = vec![0; row.bytes];
        let made = recipient.exporter().export_into(&context, &mut out);
        made.map_err(|error| row.fails(error))?;
        Ok((context, out))
    })?;
    let first = vec![0; row.bytes];
    Ok(answered(ring, first, move |context: &[u8; 16], out| {
        sender.exporter().export_into(context, out).map_err(refused)
    }))
}
