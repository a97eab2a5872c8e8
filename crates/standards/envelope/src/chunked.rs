//! C2SP chunked-encryption with AES-256-GCM and SHA-512, below headers and associated data.
//!
//! Chunks hold 16 KiB; the last one is shorter, if need be empty, and so marks the end. A full chunk is
//! therefore never the last, and both directions work on it as soon as it is complete.

use keywright_primitives::aead::{Aes256Gcm, TAG_LEN, Tag};
use keywright_primitives::kdf::expand_sha512;
use keywright_secret::{SecretBytes, ct_eq, wipe};

use crate::{Error, Rejected};

/// Bytes of plaintext in a full chunk.
pub(crate) const CHUNK_LEN: usize = 16 * 1024;
/// Bytes of a full chunk with its tag.
pub(crate) const SEALED_CHUNK_LEN: usize = CHUNK_LEN + TAG_LEN;
/// Bytes of salt.
pub(crate) const SALT_LEN: usize = 24;

const LABEL: &[u8] = b"c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM\0";

pub(crate) type Salt = [u8; SALT_LEN];
pub(crate) type Commitment = [u8; 32];

/// How many bytes the chunks of `length` bytes of plaintext have.
pub(crate) const fn sealed_len(length: usize) -> usize {
    length.saturating_add((length / CHUNK_LEN + 1).saturating_mul(TAG_LEN))
}

/// How many bytes of plaintext are in chunks of `length` bytes; without an end, those of the full chunks.
pub(crate) const fn opened_len(length: usize) -> usize {
    let full = length / SEALED_CHUNK_LEN * CHUNK_LEN;
    full + (length % SEALED_CHUNK_LEN).saturating_sub(TAG_LEN)
}

/// The key of one stream, and which chunk comes next.
struct Chunks {
    key: Aes256Gcm,
    base: [u8; 12],
    next: u64,
}

impl Chunks {
    /// Key 32, base nonce 12, commitment 32 = HKDF-Expand-SHA-512(Ks, label + 00 + salt + context).
    fn new(ks: &[u8; 32], salt: &Salt, context: &[u8]) -> Result<(Self, Commitment), Error> {
        let mut made = SecretBytes::zeroed(32 + 12 + 32);
        expand_sha512(ks, &[LABEL, salt, context], made.expose_mut())?;
        let (mut key, mut base, mut commitment) = ([0; 32], [0; 12], [0; 32]);
        key.copy_from_slice(&made.expose()[..32]);
        base.copy_from_slice(&made.expose()[32..44]);
        commitment.copy_from_slice(&made.expose()[44..]);
        let cipher = Aes256Gcm::new(&key);
        wipe(&mut key);
        let chunks = Self {
            key: cipher?,
            base,
            next: 0,
        };
        Ok((chunks, commitment))
    }

    /// The base nonce xor the chunk's number, which is used up by this.
    fn nonce(&mut self) -> Result<[u8; 12], Error> {
        let mut nonce = self.base;
        let number = self.next.to_be_bytes();
        nonce[4..]
            .iter_mut()
            .zip(number)
            .for_each(|(byte, other)| *byte ^= other);
        self.next = self.next.checked_add(1).ok_or(Error::TooLong)?;
        Ok(nonce)
    }
}

impl Chunks {
    /// Seals a text where it lies and writes the tag behind it: `slot` is text and room for the tag.
    fn seal_slot(&mut self, slot: &mut [u8]) -> Result<(), Error> {
        let nonce = self.nonce()?;
        let (text, room) = slot
            .split_last_chunk_mut::<TAG_LEN>()
            .ok_or(Error::TooLong)?;
        *room = self.key.seal(&nonce, &[], text)?;
        Ok(())
    }

    /// Opens a chunk where it lies; the text is what stands before the tag.
    fn open_slot(&mut self, slot: &mut [u8]) -> Result<(), Rejected> {
        let nonce = self.nonce().map_err(|_| Rejected)?;
        let (text, tag) = slot.split_last_chunk_mut::<TAG_LEN>().ok_or(Rejected)?;
        Ok(self.key.open(&nonce, &[], text, tag)?)
    }
}

/// Collects pieces of one size out of bytes that come in any size; wiped on drop.
struct Pending {
    buffer: SecretBytes,
    length: usize,
}

impl Pending {
    fn of(size: usize) -> Self {
        Self {
            buffer: SecretBytes::zeroed(size),
            length: 0,
        }
    }

    fn rest(&self) -> &[u8] {
        &self.buffer.expose()[..self.length]
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.buffer.expose_mut()[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    /// Gives each complete piece to `work`: those that lie whole in `bytes` without a copy.
    fn pieces<E>(
        &mut self,
        mut bytes: &[u8],
        mut work: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let size = self.buffer.len();
        if self.length > 0 {
            let (head, tail) = bytes.split_at(bytes.len().min(size - self.length));
            self.keep(head);
            bytes = tail;
            if self.length < size {
                return Ok(());
            }
            self.length = 0;
            work(self.buffer.expose())?;
        }
        let pieces = bytes.chunks_exact(size);
        let rest = pieces.remainder();
        for piece in pieces {
            work(piece)?;
        }
        self.keep(rest);
        Ok(())
    }
}

/// Seals one stream.
pub(crate) struct ChunkSealer {
    chunks: Chunks,
    pending: Pending,
}

impl ChunkSealer {
    pub(crate) fn new(
        ks: &[u8; 32],
        salt: &Salt,
        context: &[u8],
    ) -> Result<(Self, Commitment), Error> {
        let (chunks, commitment) = Chunks::new(ks, salt, context)?;
        let pending = Pending::of(CHUNK_LEN);
        Ok((Self { chunks, pending }, commitment))
    }

    pub(crate) fn update(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        out.reserve(sealed_len(self.pending.length + bytes.len()));
        let chunks = &mut self.chunks;
        self.pending.pieces(bytes, |piece| seal(chunks, piece, out))
    }

    pub(crate) fn finish(mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        seal(&mut self.chunks, self.pending.rest(), out)
    }

    /// What waits for the rest of its chunk.
    pub(crate) fn pending(&self) -> &[u8] {
        self.pending.rest()
    }

    pub(crate) fn seal_slot(&mut self, slot: &mut [u8]) -> Result<(), Error> {
        self.chunks.seal_slot(slot)
    }
}

/// Opens one stream.
pub(crate) struct ChunkOpener {
    chunks: Chunks,
    pending: Pending,
    broken: bool,
}

impl ChunkOpener {
    /// Compares the commitment before any chunk is looked at.
    pub(crate) fn new(
        ks: &[u8; 32],
        salt: &Salt,
        context: &[u8],
        commitment: &Commitment,
    ) -> Result<Self, Rejected> {
        let (chunks, expected) = Chunks::new(ks, salt, context).map_err(|_| Rejected)?;
        if !ct_eq(commitment, &expected) {
            return Err(Rejected);
        }
        Ok(Self {
            chunks,
            pending: Pending::of(SEALED_CHUNK_LEN),
            broken: false,
        })
    }

    pub(crate) fn update(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Rejected> {
        if self.broken {
            return Err(Rejected);
        }
        out.reserve(opened_len(self.pending.length + bytes.len()));
        let chunks = &mut self.chunks;
        let opened = self.pending.pieces(bytes, |piece| open(chunks, piece, out));
        self.broken = opened.is_err();
        opened
    }

    /// What is left is the last chunk; a stream that ends with a full one leaves nothing and is refused.
    pub(crate) fn finish(mut self, out: &mut Vec<u8>) -> Result<(), Rejected> {
        if self.broken {
            return Err(Rejected);
        }
        open(&mut self.chunks, self.pending.rest(), out)
    }

    /// What waits for the rest of its chunk.
    pub(crate) fn pending(&self) -> &[u8] {
        self.pending.rest()
    }

    pub(crate) fn open_slot(&mut self, slot: &mut [u8]) -> Result<(), Rejected> {
        if self.broken {
            return Err(Rejected);
        }
        self.chunks.open_slot(slot)
    }
}

fn seal(chunks: &mut Chunks, piece: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    let nonce = chunks.nonce()?;
    let start = out.len();
    out.resize(start + piece.len(), 0);
    match chunks.key.seal_to(&nonce, &[], piece, &mut out[start..]) {
        Ok(tag) => {
            out.extend_from_slice(&tag);
            Ok(())
        }
        Err(error) => {
            wipe(&mut out[start..]);
            out.truncate(start);
            Err(error.into())
        }
    }
}

fn open(chunks: &mut Chunks, piece: &[u8], out: &mut Vec<u8>) -> Result<(), Rejected> {
    let (text, tag): (&[u8], &Tag) = piece.split_last_chunk().ok_or(Rejected)?;
    let nonce = chunks.nonce().map_err(|_| Rejected)?;
    let start = out.len();
    out.resize(start + text.len(), 0);
    let opened = chunks
        .key
        .open_to(&nonce, &[], text, tag, &mut out[start..]);
    if opened.is_err() {
        out.truncate(start);
    }
    Ok(opened?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunk_numbers_change_the_low_end_of_the_nonce_and_never_repeat() {
        let (mut chunks, _) = Chunks::new(&[1; 32], &[2; 24], b"").unwrap();
        let base = chunks.base;
        assert_eq!(chunks.nonce().unwrap(), base);
        let second = chunks.nonce().unwrap();
        assert_eq!(second[..11], base[..11]);
        assert_eq!(second[11], base[11] ^ 1);
        chunks.next = u64::MAX;
        assert_eq!(
            chunks.nonce(),
            Err(Error::TooLong),
            "a number is not used twice"
        );
    }

    #[test]
    fn lengths_agree_at_the_edges_of_a_chunk() {
        for length in [0, 1, CHUNK_LEN - 1, CHUNK_LEN, CHUNK_LEN + 1, 3 * CHUNK_LEN] {
            assert_eq!(opened_len(sealed_len(length)), length);
        }
        assert_eq!(sealed_len(CHUNK_LEN), CHUNK_LEN + 2 * TAG_LEN);
    }

    #[test]
    fn pieces_do_not_depend_on_how_the_bytes_come() {
        let data: Vec<u8> = (0..=200).collect();
        for step in 1..50 {
            let (mut pending, mut seen) = (Pending::of(16), Vec::new());
            for bytes in data.chunks(step) {
                let keep = |piece: &[u8]| {
                    assert_eq!(piece.len(), 16);
                    seen.extend_from_slice(piece);
                    Ok::<(), ()>(())
                };
                pending.pieces(bytes, keep).unwrap();
            }
            assert_eq!([&seen, pending.rest()].concat(), data);
            assert_eq!(pending.rest().len(), data.len() % 16);
        }
    }
}
