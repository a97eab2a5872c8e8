//! Frames of a session: the first frame around one message, and the old first frame that is still read.
//!
//! The first frame is that of the base mode over X25519 with one suite offered; its payload is the padded
//! ciphertext of the first message, so the frame has 136 bytes more. Of the old frame the payload is the
//! whole. Right answers are the fields side by side, put together here.

use keywright_measure::{TargetError, Worker};
use keywright_wire::compat::{BINDER_LEN, InitV2, decode_init_v2, encode_init_v2};
use keywright_wire::{
    Error, HeaderForm, InitFrame, InitHead, InitParts, MessageFrame, Mode, Offer, RecordId,
    SuiteIds, VERSION, padding,
};

use super::row::{Row, Seeded, refused, rejected};
use super::worker::{Ring, answered, ring_of};

const SUITE: SuiteIds = SuiteIds::new(0x20, 1, 3);

/// What a first frame holds.
struct Parts {
    record: [u8; 16],
    encapsulation: [u8; 32],
    header: [u8; 56],
    body: Vec<u8>,
    tag: [u8; 16],
}

impl Parts {
    fn draw(seeded: &mut Seeded, bytes: usize) -> Self {
        Self {
            record: seeded.array(),
            encapsulation: seeded.array(),
            header: seeded.array(),
            body: seeded.bytes(bytes),
            tag: seeded.array(),
        }
    }

    fn side_by_side(&self) -> Vec<u8> {
        let suite = [0, 0x20, 0, 1, 0, 3];
        let front = [
            &[VERSION, 0][..],
            &suite,
            &[1],
            &suite,
            &self.record,
            &self.encapsulation,
        ];
        let message = [&[VERSION][..], &self.header, &self.body, &self.tag];
        [front.concat(), message.concat()].concat()
    }

    fn encode_into(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        let head = InitHead::new(InitParts {
            mode: Mode::Base,
            chosen: SUITE,
            offer: Offer::new(&[SUITE])?,
            record: RecordId::from_bytes(self.record),
            sender: None,
            encapsulation: &self.encapsulation,
            kem_ciphertext: None,
        })?;
        let message = MessageFrame::new(HeaderForm::Fenced, &self.header, &self.body, &self.tag)?;
        InitFrame::new(head, message).encode_into(out);
        Ok(())
    }
}

fn checked(row: &Row<'_>) -> Result<(), TargetError> {
    if padding::is_padded_len(row.bytes) {
        return Ok(());
    }
    Err(row.lacks("no padding makes a ciphertext of this length"))
}

/// One first frame written.
pub(super) fn encode(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    checked(row)?;
    let mut seeded = row.seeded();
    let ring = Ring::fill(ring_of(row.bytes), || {
        let parts = Parts::draw(&mut seeded, row.bytes);
        let answer = parts.side_by_side();
        Ok((parts, answer))
    })?;
    Ok(answered(ring, Vec::new(), |parts: &Parts, out| {
        out.clear();
        parts.encode_into(out).map_err(refused)
    }))
}

/// One first frame read; what is kept of it are the encapsulated key and the message's tag.
pub(super) fn decode(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    checked(row)?;
    let mut seeded = row.seeded();
    let ring = Ring::fill(ring_of(row.bytes), || {
        let parts = Parts::draw(&mut seeded, row.bytes);
        Ok((parts.side_by_side(), (parts.encapsulation, parts.tag)))
    })?;
    Ok(answered(
        ring,
        ([0; 32], [0; 16]),
        |frame: &Vec<u8>, out| {
            let frame = InitFrame::parse(frame, HeaderForm::Fenced).map_err(rejected)?;
            let encapsulation = frame.head().parts().encapsulation;
            *out = (
                encapsulation.try_into().map_err(rejected)?,
                *frame.message().tag(),
            );
            Ok(())
        },
    ))
}

/// What an old first frame holds, and the frame.
type Old = ((Vec<u8>, [u8; BINDER_LEN]), Vec<u8>);

fn old(row: &Row<'_>) -> Result<Ring<Old>, TargetError> {
    let front = 6 + BINDER_LEN;
    let length = row
        .bytes
        .checked_sub(front)
        .and_then(|length| u8::try_from(length).ok());
    let length = length.ok_or_else(|| row.lacks("such a frame has 38 to 293 bytes here"))?;
    let mut seeded = row.seeded();
    Ring::fill(ring_of(row.bytes), || {
        let (encapsulation, binder) = (seeded.bytes(usize::from(length)), seeded.array());
        let frame = [&[1, 1, length, 0, 0, 0][..], &encapsulation, &binder].concat();
        Ok(((encapsulation, binder), frame))
    })
}

/// One frame of the old layout written.
pub(super) fn encode_v2(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let ring = old(row)?;
    Ok(answered(
        ring,
        Vec::new(),
        |(encapsulation, binder): &(Vec<u8>, _), out| {
            out.clear();
            let frame = InitV2 {
                suite: 1,
                encapsulation,
                binder,
            };
            encode_init_v2(&frame, out).map_err(refused)
        },
    ))
}

/// One frame of the old layout read, and its encapsulated key and binder kept.
pub(super) fn decode_v2(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let mut drawn = old(row)?;
    let mut turn = 0;
    let ring = Ring::fill(ring_of(row.bytes), || {
        let (fields, frame) = std::mem::take(drawn.at_mut(turn));
        turn += 1;
        Ok((frame, fields))
    })?;
    let first = (Vec::new(), [0; BINDER_LEN]);
    Ok(answered(
        ring,
        first,
        |frame: &Vec<u8>, (encapsulation, binder): &mut (Vec<u8>, _)| {
            let frame = decode_init_v2(frame).map_err(rejected)?;
            encapsulation.clear();
            encapsulation.extend_from_slice(frame.encapsulation);
            *binder = *frame.binder;
            Ok(())
        },
    ))
}
