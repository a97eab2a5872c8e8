//! An envelope, parsed once.

use keywright_encoding::{Reader, Truncated};
use keywright_types::{Suite, UnknownNumber};

use crate::Header;
use crate::chunked;

pub(crate) const TAG_LEN: usize = 16;
pub(crate) const COMMITMENT_LEN: usize = 32;

/// The bytes are no envelope: found without any key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bytes are no ciphertext of a known form")]
#[non_exhaustive]
pub struct Malformed;

impl From<Truncated> for Malformed {
    fn from(_: Truncated) -> Self {
        Self
    }
}

impl From<UnknownNumber> for Malformed {
    fn from(_: UnknownNumber) -> Self {
        Self
    }
}

/// What names one sealing: the first 16 bytes of its nonce, SIV or salt, zero-padded (design 7.31).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MessageId([u8; 16]);

impl MessageId {
    pub(crate) fn of(nonce: &[u8]) -> Self {
        let mut id = [0; 16];
        let length = nonce.len().min(16);
        id[..length].copy_from_slice(&nonce[..length]);
        Self(id)
    }

    /// The 16 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// An envelope whose parts are known; nothing about it is verified yet.
#[derive(Clone, Copy, Debug)]
pub struct Envelope<'a> {
    header: Header,
    encoded_header: &'a [u8],
    body: Body<'a>,
    all: &'a [u8],
}

/// What follows the header, by suite.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Body<'a> {
    /// Suites 1 to 4; the commitment of 3 and 4 lies inside the ciphertext.
    Tagged {
        nonce: &'a [u8],
        commitment: &'a [u8],
        text: &'a [u8],
        tag: &'a [u8; TAG_LEN],
    },
    /// Suite 5.
    Siv {
        commitment: &'a [u8; COMMITMENT_LEN],
        siv: &'a [u8; TAG_LEN],
        text: &'a [u8],
    },
    /// Suite 6.
    Chunked {
        salt: &'a [u8; chunked::SALT_LEN],
        commitment: &'a [u8; COMMITMENT_LEN],
        chunks: &'a [u8],
    },
}

impl<'a> Envelope<'a> {
    /// Takes `bytes` apart.
    ///
    /// # Errors
    /// [`Malformed`] for another magic, an unknown number, or fewer bytes than an empty text has.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let header = Header::parse(&mut reader)?;
        let encoded_header = &bytes[..bytes.len() - reader.rest().len()];
        let body = match header.suite {
            Suite::Xaes256Gcm | Suite::XChaCha20Poly1305 => tagged(reader, 24, COMMITMENT_LEN, 0)?,
            Suite::TokenGcm12 => tagged(reader, 12, 0, COMMITMENT_LEN)?,
            Suite::TokenGcm16 => tagged(reader, 16, 0, COMMITMENT_LEN)?,
            Suite::Siv => {
                let commitment = reader.array()?;
                let siv = reader.array()?;
                let text = reader.rest();
                Body::Siv {
                    commitment,
                    siv,
                    text,
                }
            }
            Suite::Chunked => chunks(reader)?,
            _ => return Err(Malformed),
        };
        Ok(Self {
            header,
            encoded_header,
            body,
            all: bytes,
        })
    }

    /// The header.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// All of it, as it was parsed: for a holder in another process.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.all
    }

    /// What names this sealing in an audit record.
    #[must_use]
    pub fn message_id(&self) -> MessageId {
        MessageId::of(match self.body {
            Body::Tagged { nonce, .. } => nonce,
            Body::Siv { siv, .. } => siv,
            Body::Chunked { salt, .. } => salt,
        })
    }

    /// How many bytes the text has, if the envelope opens.
    #[must_use]
    pub fn plaintext_len(&self) -> usize {
        match self.body {
            Body::Tagged {
                commitment, text, ..
            } => text.len() - (COMMITMENT_LEN - commitment.len()),
            Body::Siv { text, .. } => text.len(),
            Body::Chunked { chunks, .. } => chunked::opened_len(chunks.len()),
        }
    }

    pub(crate) const fn encoded_header(&self) -> &'a [u8] {
        self.encoded_header
    }

    /// The last bytes: ciphertext and tag as they stand side by side.
    pub(crate) fn last(&self, length: usize) -> &'a [u8] {
        let start = self.all.len().saturating_sub(length);
        self.all.get(start..).unwrap_or_default()
    }

    pub(crate) const fn body(&self) -> &Body<'a> {
        &self.body
    }
}

/// Nonce, commitment, at least `least` bytes of ciphertext, tag.
fn tagged(
    mut reader: Reader<'_>,
    nonce: usize,
    commitment: usize,
    least: usize,
) -> Result<Body<'_>, Malformed> {
    let nonce = reader.take(nonce)?;
    let commitment = reader.take(commitment)?;
    let (text, tag) = reader.rest().split_last_chunk().ok_or(Malformed)?;
    if text.len() < least {
        return Err(Malformed);
    }
    Ok(Body::Tagged {
        nonce,
        commitment,
        text,
        tag,
    })
}

/// Whether the stream has an end is left to opening: here it need only be long enough for an empty one.
fn chunks(mut reader: Reader<'_>) -> Result<Body<'_>, Malformed> {
    let salt = reader.array()?;
    let commitment = reader.array()?;
    let chunks = reader.rest();
    if chunks.len() < TAG_LEN {
        return Err(Malformed);
    }
    Ok(Body::Chunked {
        salt,
        commitment,
        chunks,
    })
}
