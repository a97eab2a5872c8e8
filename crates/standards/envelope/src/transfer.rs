//! From a reader to a writer through one buffer in which chunks are worked on where they lie.
//!
//! The buffer is a row of slots, each as long as a sealed chunk. Sealing reads texts into the fronts of
//! the slots and writes the buffer as one piece; opening reads one piece and writes the fronts.

use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Read, Write};

use keywright_secret::SecretBytes;

use crate::chunked::{CHUNK_LEN, ChunkOpener, ChunkSealer, SEALED_CHUNK_LEN};
use crate::envelope::TAG_LEN;
use crate::{Error, Rejected};

/// One MiB of text at a time: below it system calls weigh, and above it nothing is gained.
const SLOTS: usize = 64;

/// Why a stream did not get from reader to writer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransferError {
    /// The stream is too short to be one.
    #[error("the bytes are no ciphertext of a known form")]
    Malformed,
    /// A chunk does not fit, or the stream has no end.
    #[error(transparent)]
    Rejected(#[from] Rejected),
    /// Sealing failed.
    #[error(transparent)]
    Seal(#[from] Error),
    /// The source could not be read.
    #[error("cannot read")]
    Read(#[source] io::Error),
    /// The destination could not be written.
    #[error("cannot write")]
    Write(#[source] io::Error),
}

pub(crate) fn seal(
    mut chunks: ChunkSealer,
    reader: &mut impl Read,
    writer: &mut impl Write,
    progress: &mut dyn FnMut(u64),
) -> Result<u64, TransferError> {
    let mut buffer = SecretBytes::zeroed(SLOTS * SEALED_CHUNK_LEN);
    let buffer = buffer.expose_mut();
    let kept = chunks.pending().len();
    buffer[..kept].copy_from_slice(chunks.pending());
    let (mut start, mut total) = (kept, 0);
    loop {
        let filled = read_texts(reader, buffer, start).map_err(TransferError::Read)?;
        let (full, rest) = (filled / CHUNK_LEN, filled % CHUNK_LEN);
        let (slots, last) = buffer.split_at_mut(full * SEALED_CHUNK_LEN);
        for slot in slots.chunks_exact_mut(SEALED_CHUNK_LEN) {
            chunks.seal_slot(slot)?;
        }
        let mut length = slots.len();
        let ended = full < SLOTS;
        if ended {
            chunks.seal_slot(&mut last[..rest + TAG_LEN])?;
            length += rest + TAG_LEN;
        }
        writer
            .write_all(&buffer[..length])
            .map_err(TransferError::Write)?;
        total += count(filled - start);
        start = 0;
        progress(total);
        if ended {
            return Ok(total);
        }
    }
}

pub(crate) fn open(
    mut chunks: ChunkOpener,
    reader: &mut impl Read,
    writer: &mut impl Write,
    progress: &mut dyn FnMut(u64),
) -> Result<u64, TransferError> {
    let mut buffer = SecretBytes::zeroed(SLOTS * SEALED_CHUNK_LEN);
    let buffer = buffer.expose_mut();
    let kept = chunks.pending().len();
    buffer[..kept].copy_from_slice(chunks.pending());
    let (mut start, mut total, mut first) = (kept, 0, true);
    loop {
        let filled =
            start + read_full(reader, &mut buffer[start..]).map_err(TransferError::Read)?;
        if first && filled < TAG_LEN {
            return Err(TransferError::Malformed);
        }
        (start, first) = (0, false);
        let ended = filled < buffer.len();
        let (slots, last) = buffer[..filled].split_at_mut(filled - filled % SEALED_CHUNK_LEN);
        for slot in slots.chunks_exact_mut(SEALED_CHUNK_LEN) {
            chunks.open_slot(slot)?;
        }
        if ended {
            chunks.open_slot(last)?;
        }
        total += write_texts(writer, &buffer[..filled]).map_err(TransferError::Write)?;
        progress(total);
        if ended {
            return Ok(total);
        }
    }
}

/// Fills the fronts of the slots, of which `start` bytes are there already; says how many there are now.
fn read_texts(reader: &mut impl Read, buffer: &mut [u8], start: usize) -> io::Result<usize> {
    let mut filled = start;
    while filled < SLOTS * CHUNK_LEN {
        let slots = buffer.chunks_exact_mut(SEALED_CHUNK_LEN);
        let mut texts: Vec<_> = slots
            .map(|slot| IoSliceMut::new(&mut slot[..CHUNK_LEN]))
            .collect();
        let mut texts = &mut texts[..];
        IoSliceMut::advance_slices(&mut texts, filled);
        match reader.read_vectored(texts) {
            Ok(0) => break,
            Ok(length) => filled += length,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Reads until `buffer` is full or the source has ended.
fn read_full(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(length) => filled += length,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Writes what stands before the tag of each slot.
fn write_texts(writer: &mut impl Write, opened: &[u8]) -> io::Result<u64> {
    let slots = opened.chunks(SEALED_CHUNK_LEN);
    let mut texts: Vec<_> = slots
        .map(|slot| IoSlice::new(&slot[..slot.len().saturating_sub(TAG_LEN)]))
        .collect();
    let total = texts.iter().map(|text| count(text.len())).sum();
    let mut left = &mut texts[..];
    // Also drops empty slices from the front, which would look like a writer that takes nothing.
    IoSlice::advance_slices(&mut left, 0);
    while !left.is_empty() {
        match writer.write_vectored(left) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(length) => IoSlice::advance_slices(&mut left, length),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(total)
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
