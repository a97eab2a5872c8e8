//! The frame of a message.
//!
//! ```text
//! version u8 (3) | encrypted header 56 or 64 | ciphertext, padded | tag 16
//! ```
//!
//! Which of the two headers a session has is fixed when it begins and never read from a frame. The two
//! cannot be mistaken for one another either: padded lengths are multiples of 16, and the headers differ by 8.

use keywright_encoding::Reader;

use crate::{Error, VERSION, padding};

/// Bytes of the body's tag.
pub const TAG_LEN: usize = 16;

/// Bytes that a frame with the shorter header adds to the padded content.
pub const MESSAGE_OVERHEAD: usize = 1 + HeaderForm::Fenced.len() + TAG_LEN;

/// Which header the messages of a session carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a third form would be another version of the frame"
)]
pub enum HeaderForm {
    /// 40 bytes and a tag: a counter outside the session says that its state is the newest.
    Fenced,
    /// 48 bytes and a tag: eight random bytes for each time the state is loaded are among them.
    Hedged,
}

impl HeaderForm {
    /// Bytes of the encrypted header, its tag included.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a header is never empty")]
    pub const fn len(self) -> usize {
        match self {
            Self::Fenced => 56,
            Self::Hedged => 64,
        }
    }
}

/// One message: encrypted header, padded ciphertext, tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageFrame<'a> {
    header: &'a [u8],
    body: &'a [u8],
    tag: &'a [u8; TAG_LEN],
}

impl<'a> MessageFrame<'a> {
    /// Puts a frame together.
    ///
    /// # Errors
    /// [`Error::HeaderLength`] if the header has not the length of its form, [`Error::BodyLength`] if no
    /// padding makes a body of this length.
    pub fn new(
        form: HeaderForm,
        header: &'a [u8],
        body: &'a [u8],
        tag: &'a [u8; TAG_LEN],
    ) -> Result<Self, Error> {
        if header.len() != form.len() {
            return Err(Error::HeaderLength {
                expected: form.len(),
                found: header.len(),
            });
        }
        if !padding::is_padded_len(body.len()) {
            return Err(Error::BodyLength(body.len()));
        }
        Ok(Self { header, body, tag })
    }

    /// Reads a frame, which ends where `bytes` end.
    ///
    /// # Errors
    /// [`Error::Version`], [`Error::Truncated`], or [`Error::BodyLength`] for a ciphertext of a length
    /// that padding does not make.
    pub fn parse(bytes: &'a [u8], form: HeaderForm) -> Result<Self, Error> {
        let mut reader = Reader::new(bytes);
        let version = reader.u8()?;
        if version != VERSION {
            return Err(Error::Version(version));
        }
        let header = reader.take(form.len())?;
        let (body, tag) = reader.rest().split_last_chunk().ok_or(Error::Truncated)?;
        Self::new(form, header, body, tag)
    }

    /// Appends the frame's bytes.
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        out.reserve(self.encoded_len());
        out.push(VERSION);
        out.extend_from_slice(self.header);
        out.extend_from_slice(self.body);
        out.extend_from_slice(self.tag);
    }

    /// How many bytes the frame has.
    #[must_use]
    pub const fn encoded_len(&self) -> usize {
        1 + self.header.len() + self.body.len() + TAG_LEN
    }

    /// How many bytes a frame around content of this length has.
    ///
    /// # Errors
    /// [`Error::ContentTooLong`] beyond [`padding::MAX_CONTENT`].
    pub const fn len_for(form: HeaderForm, content: usize) -> Result<usize, Error> {
        match padding::padded_len(content) {
            Ok(padded) => Ok(1 + form.len() + padded + TAG_LEN),
            Err(error) => Err(error),
        }
    }

    /// The encrypted header with its tag.
    #[must_use]
    pub const fn header(&self) -> &'a [u8] {
        self.header
    }

    /// The ciphertext of the padded content.
    #[must_use]
    pub const fn body(&self) -> &'a [u8] {
        self.body
    }

    /// The body's tag.
    #[must_use]
    pub const fn tag(&self) -> &'a [u8; TAG_LEN] {
        self.tag
    }
}
