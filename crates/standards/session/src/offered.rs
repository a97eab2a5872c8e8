//! A first frame taken apart, of either kind.

use keywright_wire::{InitHead, InitParts, PrekeyHead, RecordId, SenderKeyId};

use crate::Error;

/// A handshake and what stands behind it.
pub(crate) struct Offered<'a> {
    pub(crate) read: RecordId,
    pub(crate) sender: SenderKeyId,
    /// Bytes of the whole head.
    pub(crate) head: &'a [u8],
    pub(crate) message: &'a [u8],
    pub(crate) way: Way<'a>,
}

pub(crate) enum Way<'a> {
    Prekeys(PrekeyHead<'a>),
    Encapsulated(Box<InitParts<'a>>),
}

impl<'a> Offered<'a> {
    pub(crate) fn parse(frame: &'a [u8]) -> Result<Self, Error> {
        if PrekeyHead::is_ahead(frame) {
            let (head, message) = PrekeyHead::parse_prefix(frame)?;
            let (read, sender) = (head.record, head.sender);
            let way = Way::Prekeys(head);
            return Ok(Self::of(frame, message, (read, sender), way));
        }
        let (head, message) = InitHead::parse_prefix(frame)?;
        let parts = *head.parts();
        let sender = parts.sender.ok_or(Error::Handshake)?;
        let way = Way::Encapsulated(Box::new(parts));
        Ok(Self::of(frame, message, (parts.record, sender), way))
    }

    fn of(
        frame: &'a [u8],
        message: &'a [u8],
        (read, sender): (RecordId, SenderKeyId),
        way: Way<'a>,
    ) -> Self {
        let (head, _) = frame.split_at(frame.len() - message.len());
        Self {
            read,
            sender,
            head,
            message,
            way,
        }
    }
}

/// The record, or the record with a one-time prekey, that a first frame names: for whoever has published
/// several. Nothing about it is verified.
///
/// # Errors
/// [`Error::Malformed`] if it is no first frame.
pub fn named_record(frame: &[u8]) -> Result<RecordId, Error> {
    Ok(Offered::parse(frame)?.read)
}
