//! Randomness (design 7.24): each request or job seeds an AES-256-CTR stream with 32 bytes of the
//! kernel xor 32 bytes of the backend; nothing random is kept for the next.
//!
//! Two sources, because a stream stays unpredictable while either is; a fresh stream for each job,
//! because what is not kept cannot be given out twice after a fork or a restored snapshot. Seeding is
//! the dear part (about a microsecond), so a server's job is one turn of its event loop: the requests
//! whose answers leave together share a stream, and [`RandomStream::end_job`] forgets it.
//!
//! A stream that is in use while the process forks, or while a snapshot of the machine is taken, goes on alike
//! in both. Where what comes out becomes the nonce of something stored, [`hedged_nonce`] takes the harm away.

use std::fmt;

use aws_lc_rs::cipher::{AES_256, EncryptingKey, EncryptionContext, UnboundCipherKey};
use aws_lc_rs::iv::FixedLength;
use keywright_secret::{Secret, wipe};

use crate::Error;
use crate::aead::ExtendedNonce;
use crate::kdf::blake3_derive;

/// Bytes that are made at a time: enough for ids and nonces of a dozen requests.
const BLOCK_LEN: usize = 512;

/// A stream of random bytes for one request or job.
pub struct RandomStream {
    key: Option<EncryptingKey>,
    block: [u8; BLOCK_LEN],
    used: usize,
    blocks: u64,
}

impl RandomStream {
    /// A stream with a seed of its own.
    ///
    /// # Errors
    /// [`Error::Randomness`] or [`Error::Backend`] if a source fails; there is no weaker fallback.
    pub fn new() -> Result<Self, Error> {
        let mut stream = Self::unseeded();
        stream.key = Some(seed()?);
        Ok(stream)
    }

    /// A stream that takes its seed when it is first used: a job that only opens needs none.
    #[must_use]
    pub const fn unseeded() -> Self {
        Self {
            key: None,
            block: [0; BLOCK_LEN],
            used: BLOCK_LEN,
            blocks: 0,
        }
    }

    /// Forgets seed and bytes; the next use takes a new seed.
    pub fn end_job(&mut self) {
        if self.key.take().is_some() {
            wipe(&mut self.block);
            self.used = BLOCK_LEN;
            self.blocks = 0;
        }
    }

    /// Fills `out`. Bytes that were given out are wiped here.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses; `out` must not be used then.
    pub fn fill(&mut self, mut out: &mut [u8]) -> Result<(), Error> {
        while !out.is_empty() {
            if self.used == BLOCK_LEN {
                self.refill()?;
            }
            let count = out.len().min(BLOCK_LEN - self.used);
            let (now, later) = out.split_at_mut(count);
            let source = &mut self.block[self.used..self.used + count];
            now.copy_from_slice(source);
            wipe(source);
            self.used += count;
            out = later;
        }
        Ok(())
    }

    /// `N` random bytes, for what is not secret: nonces, salts, ids.
    ///
    /// # Errors
    /// As [`RandomStream::fill`].
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let mut out = [0; N];
        self.fill(&mut out)?;
        Ok(out)
    }

    /// `N` random bytes that stay secret.
    ///
    /// # Errors
    /// As [`RandomStream::fill`].
    pub fn secret<const N: usize>(&mut self) -> Result<Secret<N>, Error> {
        Secret::try_from_fill(|buffer| self.fill(buffer))
    }

    /// A stream that goes on from a known seed.
    pub(crate) fn of_seed(seed: &[u8; 32]) -> Result<Self, Error> {
        let mut stream = Self::unseeded();
        stream.key = Some(key_of(seed)?);
        Ok(stream)
    }

    fn refill(&mut self) -> Result<(), Error> {
        // The high half of the counter block counts refills; the low half is left to the cipher.
        let mut counter = [0; 16];
        counter[..8].copy_from_slice(&self.blocks.to_be_bytes());
        let context = EncryptionContext::Iv128(FixedLength::from(counter));
        self.block.fill(0);
        let key = match &mut self.key {
            Some(key) => key,
            empty => empty.insert(seed()?),
        };
        key.less_safe_encrypt(&mut self.block, context)
            .map_err(|_| Error::Backend)?;
        self.blocks += 1;
        self.used = 0;
        Ok(())
    }
}

impl Drop for RandomStream {
    fn drop(&mut self) {
        wipe(&mut self.block);
    }
}

impl fmt::Debug for RandomStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RandomStream")
    }
}

fn seed() -> Result<EncryptingKey, Error> {
    let mut seed = [0; 32];
    let key = fill_from_both(&mut seed).and_then(|()| key_of(&seed));
    wipe(&mut seed);
    key
}

fn key_of(seed: &[u8; 32]) -> Result<EncryptingKey, Error> {
    let key = UnboundCipherKey::new(&AES_256, seed).map_err(|_| Error::Backend)?;
    EncryptingKey::ctr(key).map_err(|_| Error::Backend)
}

/// Bytes of the kernel alone: for what guards nothing that lasts, such as tags within one log, in a process of
/// somebody else that must not wait until the backend has collected its own (some 100 ms, once).
///
/// # Errors
/// [`Error::Randomness`] if the kernel gives none.
pub fn from_kernel<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| Error::Randomness)?;
    Ok(bytes)
}

/// The nonce of one message under `key`: `fresh` bytes of a stream, hashed with the key and the message.
///
/// It is as good as the fresh bytes where they are fresh. Where they have been given out before, because the
/// stream went on in a copy of the process or of the machine, two different messages still have two nonces,
/// and two equal messages become the same bytes. `message` is everything that is sealed and bound, in pieces.
#[must_use]
pub fn hedged_nonce(key: &[u8; 32], fresh: &ExtendedNonce, message: &[&[u8]]) -> ExtendedNonce {
    let mut nonce = [0; size_of::<ExtendedNonce>()];
    let mut pieces: Vec<&[u8]> = vec![key, fresh];
    pieces.extend_from_slice(message);
    blake3_derive("keywright/hedged-nonce/v1", &pieces, &mut nonce);
    nonce
}

fn fill_from_both(seed: &mut [u8; 32]) -> Result<(), Error> {
    let mut kernel = [0; 32];
    getrandom::fill(&mut kernel).map_err(|_| Error::Randomness)?;
    aws_lc_rs::rand::fill(seed).map_err(|_| Error::Randomness)?;
    seed.iter_mut()
        .zip(&kernel)
        .for_each(|(byte, other)| *byte ^= other);
    wipe(&mut kernel);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn streams_differ_and_one_stream_never_repeats_a_nonce() {
        let mut seen = HashSet::new();
        for _ in 0..50 {
            let mut stream = RandomStream::new().unwrap();
            for _ in 0..200 {
                assert!(seen.insert(stream.array::<24>().unwrap()));
            }
        }
    }

    #[test]
    fn t47_repeated_randomness_gives_another_nonce_to_another_message_or_key() {
        let fresh = [3; 24];
        let mut seen = HashSet::new();
        for key in [[1; 32], [2; 32]] {
            for message in [&b""[..], b"a", b"b", b"ab"] {
                assert!(seen.insert(hedged_nonce(&key, &fresh, &[message])));
            }
        }
        let again = hedged_nonce(&[1; 32], &fresh, &[b"a", b"", b"b"]);
        assert!(seen.contains(&again), "the same message has the same nonce");
        assert!(seen.insert(hedged_nonce(&[1; 32], &[4; 24], &[b"ab"])));
    }

    #[test]
    fn a_stream_begins_anew_after_each_job() {
        let mut stream = RandomStream::unseeded();
        let mut seen = HashSet::new();
        for _ in 0..100 {
            assert!(seen.insert(stream.array::<24>().unwrap()));
            stream.end_job();
            assert!(stream.key.is_none() && stream.block == [0; BLOCK_LEN]);
        }
    }

    #[test]
    fn fills_of_any_length_are_not_left_zero() {
        let mut stream = RandomStream::new().unwrap();
        for length in [16, 255, 256, 257, 5000] {
            let mut out = vec![0; length];
            stream.fill(&mut out).unwrap();
            assert!(
                out.chunks(16)
                    .filter(|chunk| chunk.len() == 16)
                    .all(|chunk| chunk != [0; 16])
            );
        }
    }
}
