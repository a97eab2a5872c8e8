//! The first frame of a session.
//!
//! ```text
//! version u8 (3) | mode u8 | chosen: KEM u16, KDF u16, AEAD u16 | count u8 | offered: count times 6
//!     | responder's record 16 | sender's key id 16, modes that name a sender
//!     | encapsulated key, as long as the chosen KEM says | ML-KEM-768 ciphertext 1088, mode 4
//!     | message frame, to the end
//! ```
//!
//! The chosen suite must be one that is known and was offered, and a suite is offered once; what else was
//! offered may be unknown. Which of the offered suites is right is decided by the responder's record, and
//! the transcript shows whether somebody changed the offer: neither is judged here.

use keywright_encoding::Reader;

use crate::message::{HeaderForm, MessageFrame};
use crate::suite::{Mode, Offer, SuiteIds};
use crate::{Error, VERSION};

/// Bytes of an ML-KEM-768 ciphertext (FIPS 203).
pub const ML_KEM_768_CIPHERTEXT_LEN: usize = 1088;

/// Names the record of the responder that the sender has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordId([u8; 16]);

/// Names the sender's key in modes that authenticate it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SenderKeyId([u8; 16]);

macro_rules! id {
    ($($name:ident)*) => { $(
        impl $name {
            /// Takes the bytes of an id.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(bytes)
            }

            /// The bytes of the id.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; 16] {
                &self.0
            }
        }
    )* };
}
id! { RecordId SenderKeyId }

/// What a first frame says before its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the format has these fields for ever"
)]
pub struct InitParts<'a> {
    /// How the key is made.
    pub mode: Mode,
    /// The suite that is used.
    pub chosen: SuiteIds,
    /// The suites that the sender would have taken.
    pub offer: Offer,
    /// The responder's record.
    pub record: RecordId,
    /// The sender's key, in modes that name it.
    pub sender: Option<SenderKeyId>,
    /// The encapsulated key.
    pub encapsulation: &'a [u8],
    /// The second encapsulation, in the mode that has one.
    pub kem_ciphertext: Option<&'a [u8; ML_KEM_768_CIPHERTEXT_LEN]>,
}

/// Parts that fit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitHead<'a>(InitParts<'a>);

impl<'a> InitHead<'a> {
    /// Takes parts that fit together.
    ///
    /// # Errors
    /// [`Error::NotOffered`], [`Error::SuiteUnknown`], [`Error::ModeForSuite`],
    /// [`Error::EncapsulationLength`], [`Error::Sender`] or [`Error::KemCiphertext`] if they do not.
    pub fn new(parts: InitParts<'a>) -> Result<Self, Error> {
        let expected = encapsulation_len(parts.mode, parts.chosen, &parts.offer)?;
        let found = parts.encapsulation.len();
        if found != expected {
            return Err(Error::EncapsulationLength { expected, found });
        }
        if parts.sender.is_some() != parts.mode.names_sender() {
            return Err(Error::Sender);
        }
        if parts.kem_ciphertext.is_some() != parts.mode.has_kem_ciphertext() {
            return Err(Error::KemCiphertext);
        }
        Ok(Self(parts))
    }

    /// What the frame says.
    #[must_use]
    pub const fn parts(&self) -> &InitParts<'a> {
        &self.0
    }

    /// Reads the head of a frame, and what stands behind it: the first message frame.
    ///
    /// # Errors
    /// As [`InitHead::new`], and [`Error::Version`], [`Error::ModeUnknown`], [`Error::OfferCount`],
    /// [`Error::OfferRepeats`], [`Error::Truncated`].
    pub fn parse_prefix(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), Error> {
        let mut reader = Reader::new(bytes);
        let version = reader.u8()?;
        if version != VERSION {
            return Err(Error::Version(version));
        }
        let mode = Mode::from_number(reader.u8()?)?;
        let chosen = SuiteIds::from_bytes(*reader.array()?);
        let offer = Offer::parse(&mut reader)?;
        let length = encapsulation_len(mode, chosen, &offer)?;
        let record = RecordId(*reader.array()?);
        let sender = match mode.names_sender() {
            true => Some(SenderKeyId(*reader.array()?)),
            false => None,
        };
        let encapsulation = reader.take(length)?;
        let kem_ciphertext = match mode.has_kem_ciphertext() {
            true => Some(reader.array()?),
            false => None,
        };
        let head = Self(InitParts {
            mode,
            chosen,
            offer,
            record,
            sender,
            encapsulation,
            kem_ciphertext,
        });
        Ok((head, reader.rest()))
    }

    /// Appends the head's bytes, behind which the first message frame is to stand.
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        let parts = &self.0;
        out.reserve(self.encoded_len());
        out.push(VERSION);
        out.push(parts.mode.number());
        out.extend_from_slice(&parts.chosen.to_bytes());
        parts.offer.encode_into(out);
        out.extend_from_slice(parts.record.as_bytes());
        if let Some(sender) = &parts.sender {
            out.extend_from_slice(sender.as_bytes());
        }
        out.extend_from_slice(parts.encapsulation);
        if let Some(ciphertext) = parts.kem_ciphertext {
            out.extend_from_slice(ciphertext);
        }
    }

    /// How many bytes the head has.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        let parts = &self.0;
        let ids = 16 + if parts.sender.is_some() { 16 } else { 0 };
        let keys = parts.encapsulation.len() + parts.kem_ciphertext.map_or(0, |bytes| bytes.len());
        2 + SuiteIds::LEN + parts.offer.encoded_len() + ids + keys
    }
}

/// The first frame: its head and the first message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitFrame<'a> {
    head: InitHead<'a>,
    message: MessageFrame<'a>,
}

impl<'a> InitFrame<'a> {
    /// Puts a frame together.
    #[must_use]
    pub const fn new(head: InitHead<'a>, message: MessageFrame<'a>) -> Self {
        Self { head, message }
    }

    /// Reads a frame, which ends where `bytes` end.
    ///
    /// # Errors
    /// As [`InitHead::parse_prefix`] and [`MessageFrame::parse`].
    pub fn parse(bytes: &'a [u8], form: HeaderForm) -> Result<Self, Error> {
        let (head, rest) = InitHead::parse_prefix(bytes)?;
        let message = MessageFrame::parse(rest, form)?;
        Ok(Self { head, message })
    }

    /// Appends the frame's bytes.
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        out.reserve(self.encoded_len());
        self.head.encode_into(out);
        self.message.encode_into(out);
    }

    /// How many bytes the frame has.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        self.head.encoded_len() + self.message.encoded_len()
    }

    /// What stands before the message.
    #[must_use]
    pub const fn head(&self) -> &InitHead<'a> {
        &self.head
    }

    /// The first message.
    #[must_use]
    pub const fn message(&self) -> &MessageFrame<'a> {
        &self.message
    }
}

/// Bytes of the encapsulated key, if mode, choice and offer fit together.
fn encapsulation_len(mode: Mode, chosen: SuiteIds, offer: &Offer) -> Result<usize, Error> {
    if !offer.contains(chosen) {
        return Err(Error::NotOffered(chosen));
    }
    let length = chosen.encapsulation_len()?;
    let fits = match mode {
        // The profile is defined for one KEM (its pre-shared key binds X25519 keys).
        Mode::AuthPskPq => chosen.is_x25519(),
        _ => !mode.names_sender() || chosen.authenticates(),
    };
    if fits {
        Ok(length)
    } else {
        Err(Error::ModeForSuite(mode))
    }
}
