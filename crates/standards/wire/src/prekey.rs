//! The first frame of a session that begins with prekeys instead of an encapsulation to one key.
//!
//! ```text
//! version u8 (3) | mode u8 (16, or 17 with ML-KEM) | what the sender has read 16 | sender's key id 16
//!     | ephemeral key 32 | ML-KEM-768 ciphertext 1088, mode 17 | message frame, to the end
//! ```
//!
//! There is one set of algorithms, so nothing is offered and nothing chosen. The modes' numbers are none of
//! [`crate::InitHead`]'s, so neither of the two frames is read as the other.

use keywright_encoding::Reader;

use crate::init::{ML_KEM_768_CIPHERTEXT_LEN, RecordId, SenderKeyId};
use crate::{Error, VERSION};

const MODE_CURVE: u8 = 16;
const MODE_HYBRID: u8 = 17;

/// What such a frame says before its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the format has these fields for ever"
)]
pub struct PrekeyHead<'a> {
    /// The record, or the record with a one-time prekey, that the sender has read.
    pub record: RecordId,
    /// The sender's key.
    pub sender: SenderKeyId,
    /// The sender's ephemeral X25519 key.
    pub ephemeral: &'a [u8; 32],
    /// The encapsulation to the ML-KEM prekey of the record, if it has one.
    pub kem_ciphertext: Option<&'a [u8; ML_KEM_768_CIPHERTEXT_LEN]>,
}

impl<'a> PrekeyHead<'a> {
    /// Whether a frame begins like one of these, by its first two bytes.
    #[must_use]
    pub fn is_ahead(bytes: &[u8]) -> bool {
        matches!(bytes, [VERSION, MODE_CURVE | MODE_HYBRID, ..])
    }

    /// Reads the head of a frame, and what stands behind it: the first message frame.
    ///
    /// # Errors
    /// [`Error::Version`], [`Error::ModeUnknown`], [`Error::Truncated`].
    pub fn parse_prefix(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), Error> {
        let mut reader = Reader::new(bytes);
        let version = reader.u8()?;
        if version != VERSION {
            return Err(Error::Version(version));
        }
        let mode = reader.u8()?;
        if !matches!(mode, MODE_CURVE | MODE_HYBRID) {
            return Err(Error::ModeUnknown(mode));
        }
        let head = Self {
            record: RecordId::from_bytes(*reader.array()?),
            sender: SenderKeyId::from_bytes(*reader.array()?),
            ephemeral: reader.array()?,
            kem_ciphertext: match mode {
                MODE_HYBRID => Some(reader.array()?),
                _ => None,
            },
        };
        Ok((head, reader.rest()))
    }

    /// Appends the head's bytes, behind which the first message frame is to stand.
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        out.reserve(self.encoded_len());
        out.push(VERSION);
        out.push(self.mode_number());
        out.extend_from_slice(self.record.as_bytes());
        out.extend_from_slice(self.sender.as_bytes());
        out.extend_from_slice(self.ephemeral);
        if let Some(ciphertext) = self.kem_ciphertext {
            out.extend_from_slice(ciphertext);
        }
    }

    /// How many bytes the head has.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        2 + 16 + 16 + 32 + self.kem_ciphertext.map_or(0, |bytes| bytes.len())
    }

    /// The mode's byte.
    #[must_use]
    pub const fn mode_number(&self) -> u8 {
        match self.kem_ciphertext {
            None => MODE_CURVE,
            Some(_) => MODE_HYBRID,
        }
    }
}
