//! Suite 6, piece by piece and in constant memory.
//!
//! Both directions append to a buffer of the caller's, who empties it between calls. Bytes may come in any
//! sizes; multiples of [`CHUNK_LEN`] for sealing and of [`SEALED_CHUNK_LEN`] for opening are copied once,
//! others partly twice.
//!
//! The opener hands out only chunks whose tag fitted. That the stream is whole is known when
//! [`StreamOpener::finish`] has returned, not before: until then the text may be a cut-off beginning.

use std::fmt;
use std::io::{Read, Write};

use keywright_encoding::Reader;
use keywright_primitives::random::RandomStream;
use keywright_types::{BindingKind, Suite};

pub use crate::transfer::TransferError;

use crate::chunked::{ChunkOpener, ChunkSealer, Commitment, Salt};
use crate::{
    Aad, Binding, Error, Header, Malformed, MessageId, OpeningKey, Rejected, SealingKey, transfer,
};

/// Bytes of plaintext in a full chunk.
pub const CHUNK_LEN: usize = crate::chunked::CHUNK_LEN;
/// Bytes of a full chunk with its tag.
pub const SEALED_CHUNK_LEN: usize = crate::chunked::SEALED_CHUNK_LEN;

/// What stands before the chunks: header, salt, commitment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    header: Header,
    salt: Salt,
    commitment: Commitment,
}

impl Prefix {
    /// Bytes from which [`Prefix::length`] knows how long the prefix is.
    pub const PEEK_LEN: usize = Header::LEN;
    /// Bytes of the longest prefix.
    pub const MAX_LEN: usize = Header::BOUND_LEN + 24 + 32;

    /// How many bytes the prefix has that begins with `first`.
    ///
    /// # Errors
    /// [`Malformed`] if the binding is unknown; everything else is left to [`Prefix::parse`].
    pub fn length(first: &[u8; Self::PEEK_LEN]) -> Result<usize, Malformed> {
        match BindingKind::from_number(first[5])? {
            BindingKind::None => Ok(Header::LEN + 24 + 32),
            _ => Ok(Self::MAX_LEN),
        }
    }

    /// Takes apart exactly one prefix.
    ///
    /// # Errors
    /// [`Malformed`] if it is not one of suite 6, or has another length.
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let header = Header::parse(&mut reader)?;
        let salt = *reader.array()?;
        let commitment = *reader.array()?;
        if header.suite != Suite::Chunked || !reader.is_empty() {
            return Err(Malformed);
        }
        Ok(Self {
            header,
            salt,
            commitment,
        })
    }

    /// Appends the bytes of the prefix.
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        self.header.encode_into(out);
        out.extend_from_slice(&self.salt);
        out.extend_from_slice(&self.commitment);
    }

    /// The header.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// What names this sealing in an audit record.
    #[must_use]
    pub fn message_id(&self) -> MessageId {
        MessageId::of(&self.salt)
    }
}

/// Seals a stream.
pub struct StreamSealer {
    chunks: ChunkSealer,
    message_id: MessageId,
}

impl StreamSealer {
    /// Begins a stream: appends header, salt and commitment to `out`.
    ///
    /// # Errors
    /// [`Error::SuiteUnsupported`] if the key is not one of suite 6, [`Error::TooLong`] for associated
    /// data beyond the format's limit, [`Error::Backend`] without randomness.
    pub fn new(
        key: &SealingKey,
        binding: Binding,
        aad: &Aad<'_>,
        random: &mut RandomStream,
        out: &mut Vec<u8>,
    ) -> Result<Self, Error> {
        Self::with_salt(key, binding, aad, &random.array()?, out)
    }

    pub(crate) fn with_salt(
        key: &SealingKey,
        binding: Binding,
        aad: &Aad<'_>,
        salt: &Salt,
        out: &mut Vec<u8>,
    ) -> Result<Self, Error> {
        Ok(Self {
            chunks: key.start_stream(binding, aad, salt, out)?,
            message_id: MessageId::of(salt),
        })
    }

    /// Takes more plaintext; each chunk that it completes is sealed and appended to `out`.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses; the stream cannot be continued then.
    pub fn update(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        self.chunks.update(bytes, out)
    }

    /// Seals the last chunk, which marks the end.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn finish(self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.chunks.finish(out)
    }

    /// Seals all that `reader` has left, ends the stream, and says how many bytes were read.
    ///
    /// No byte is copied: chunks are sealed where they were read, 1 MiB at a time, and written from
    /// there. `progress` is given the bytes read so far.
    ///
    /// # Errors
    /// [`TransferError`]; what was written until then is no whole stream.
    pub fn transfer(
        self,
        reader: &mut impl Read,
        writer: &mut impl Write,
        progress: &mut dyn FnMut(u64),
    ) -> Result<u64, TransferError> {
        transfer::seal(self.chunks, reader, writer, progress)
    }

    /// What names this sealing in an audit record.
    #[must_use]
    pub const fn message_id(&self) -> MessageId {
        self.message_id
    }
}

/// Opens a stream.
#[must_use = "a stream is whole only when `finish` has returned Ok"]
pub struct StreamOpener(ChunkOpener);

impl StreamOpener {
    /// Begins to open the stream of `prefix`; the commitment is compared here.
    ///
    /// # Errors
    /// [`Rejected`] if key, associated data or commitment do not fit.
    pub fn new(key: &OpeningKey, prefix: &Prefix, aad: &Aad<'_>) -> Result<Self, Rejected> {
        key.start_stream(&prefix.header, &prefix.salt, &prefix.commitment, aad)
            .map(Self)
    }

    /// Takes more of the stream; the text of each chunk that it completes is appended to `out`.
    ///
    /// # Errors
    /// [`Rejected`] if a chunk does not fit; from then on every call is rejected.
    pub fn update(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Rejected> {
        self.0.update(bytes, out)
    }

    /// Opens the last chunk.
    ///
    /// # Errors
    /// [`Rejected`] if it does not fit or the stream has no end; what was handed out before is then only
    /// the beginning of something.
    pub fn finish(self, out: &mut Vec<u8>) -> Result<(), Rejected> {
        self.0.finish(out)
    }

    /// Opens all that `reader` has left, to its end, and says how many bytes of text were written.
    ///
    /// As [`StreamSealer::transfer`], without a copy. Only verified chunks are written, and the text is
    /// whole only if this returns `Ok`.
    ///
    /// # Errors
    /// [`TransferError`].
    pub fn transfer(
        self,
        reader: &mut impl Read,
        writer: &mut impl Write,
        progress: &mut dyn FnMut(u64),
    ) -> Result<u64, TransferError> {
        transfer::open(self.0, reader, writer, progress)
    }
}

impl fmt::Debug for StreamSealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StreamSealer")
            .field(&self.message_id)
            .finish()
    }
}

impl fmt::Debug for StreamOpener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StreamOpener")
    }
}
