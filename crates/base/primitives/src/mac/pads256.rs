//! HMAC-SHA-256 (RFC 2104) with its two pad states at hand, without memory from the heap.
//!
//! The backend prepares a key by making three hash contexts, copies them all for each MAC and wipes the copy:
//! for the short inputs under fresh keys that a step of a ratchet's chain and the key schedule of HPKE have,
//! that is more work than the blocks of hashing. Here the states are sixteen words on the stack.
//!
//! Not here: tags that are compared. [`super::HmacSha256`] verifies.

use keywright_secret::wipe;
use sha2::block_api::compress256;

use crate::hash::sha256;
use crate::mac::Mac;
use crate::opaque_debug;

const BLOCK: usize = 64;

/// FIPS 180-4, 5.3.3.
const INITIAL: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// A key for HMAC-SHA-256, as the hash states after its inner and outer pad. Wiped on drop.
pub struct Sha256Pads {
    inner: [u32; 8],
    outer: [u32; 8],
}

impl Sha256Pads {
    /// Hashes the pads of `key`, which may have any length.
    #[must_use]
    pub fn new(key: &[u8]) -> Self {
        let mut block = [0; BLOCK];
        match block.get_mut(..key.len()) {
            Some(head) => head.copy_from_slice(key),
            // A key longer than a block is replaced by its hash.
            None => block[..32].copy_from_slice(&sha256(key)),
        }
        block.iter_mut().for_each(|byte| *byte ^= 0x36);
        let mut pads = Self {
            inner: INITIAL,
            outer: INITIAL,
        };
        compress256(&mut pads.inner, std::slice::from_ref(&block));
        block.iter_mut().for_each(|byte| *byte ^= 0x36 ^ 0x5c);
        compress256(&mut pads.outer, std::slice::from_ref(&block));
        wipe(&mut block);
        pads
    }

    /// Puts the HMAC of the joined pieces into `out`. The caller makes the joining injective.
    pub fn mac_into(&self, pieces: &[&[u8]], out: &mut Mac) {
        let mut running = self.begin();
        pieces.iter().for_each(|piece| running.update(piece));
        running.finish(out);
    }

    /// Begins the HMAC of a message that comes in pieces.
    pub(crate) fn begin(&self) -> Running256<'_> {
        Running256 {
            pads: self,
            state: self.inner,
            block: [0; BLOCK],
            filled: 0,
            total: BLOCK,
        }
    }

    /// The HMAC of one byte: two blocks of hashing.
    #[must_use]
    pub fn mac_byte(&self, byte: u8) -> Mac {
        let mut block = [0; BLOCK];
        block[..2].copy_from_slice(&[byte, 0x80]);
        block[BLOCK - 8..].copy_from_slice(&bits(BLOCK + 1));
        let mut state = self.inner;
        compress256(&mut state, std::slice::from_ref(&block));
        let mut mac = [0; 32];
        self.finish(&mut state, &mut block, &mut mac);
        mac
    }

    /// The outer hash over the inner one.
    fn finish(&self, inner: &mut [u32; 8], block: &mut [u8; BLOCK], mac: &mut Mac) {
        write_words(inner, &mut block[..32]);
        block[32] = 0x80;
        block[33..BLOCK - 8].fill(0);
        block[BLOCK - 8..].copy_from_slice(&bits(BLOCK + 32));
        *inner = self.outer;
        compress256(inner, std::slice::from_ref(block));
        write_words(inner, mac);
        wipe_words(inner);
        wipe(block);
    }
}

impl Drop for Sha256Pads {
    fn drop(&mut self) {
        wipe_words(&mut self.inner);
        wipe_words(&mut self.outer);
    }
}

opaque_debug! { Sha256Pads }

/// An HMAC under way: the inner hash so far, and what does not fill a block yet.
pub(crate) struct Running256<'a> {
    pads: &'a Sha256Pads,
    state: [u32; 8],
    block: [u8; BLOCK],
    filled: usize,
    total: usize,
}

impl Running256<'_> {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.total += bytes.len();
        let mut rest = bytes;
        if self.filled > 0 || rest.len() < BLOCK {
            let (now, later) = rest.split_at(rest.len().min(BLOCK - self.filled));
            self.block[self.filled..self.filled + now.len()].copy_from_slice(now);
            self.filled += now.len();
            if self.filled < BLOCK {
                return;
            }
            compress256(&mut self.state, std::slice::from_ref(&self.block));
            rest = later;
        }
        let (blocks, tail) = rest.as_chunks::<BLOCK>();
        compress256(&mut self.state, blocks);
        self.block[..tail.len()].copy_from_slice(tail);
        self.filled = tail.len();
    }

    pub(crate) fn finish(mut self, out: &mut Mac) {
        // FIPS 180-4, 5.1.1: a one, zeros, and the length in bits.
        self.block[self.filled] = 0x80;
        self.block[self.filled + 1..].fill(0);
        if self.filled >= BLOCK - 8 {
            compress256(&mut self.state, std::slice::from_ref(&self.block));
            self.block.fill(0);
        }
        self.block[BLOCK - 8..].copy_from_slice(&bits(self.total));
        compress256(&mut self.state, std::slice::from_ref(&self.block));
        self.pads.finish(&mut self.state, &mut self.block, out);
    }
}

impl Drop for Running256<'_> {
    fn drop(&mut self) {
        wipe_words(&mut self.state);
        wipe(&mut self.block);
    }
}

/// The length of a message in bits, as FIPS 180-4, 5.1.1, writes it.
const fn bits(length: usize) -> [u8; 8] {
    (length as u64 * 8).to_be_bytes()
}

fn write_words(words: &[u32; 8], out: &mut [u8]) {
    for (bytes, word) in out.chunks_exact_mut(4).zip(words) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
}

fn wipe_words(words: &mut [u32; 8]) {
    words.fill(0);
    // Keeps the compiler from leaving the zeros out.
    std::hint::black_box(words);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mac::{HmacSha256, MacKey};

    /// Against the backend, over every length around the ends of blocks, in one piece and in three.
    #[test]
    fn every_length_of_key_and_message_gives_what_the_backend_gives() {
        let bytes: Vec<u8> = (0..700_u32).map(|n| (n * 7 + 3).to_be_bytes()[3]).collect();
        for key_len in [0, 1, 12, 32, 63, 64, 65, 300] {
            let (pads, backend) = (
                Sha256Pads::new(&bytes[..key_len]),
                HmacSha256::new(&bytes[..key_len]).unwrap(),
            );
            for length in (0..200).chain([255, 256, 257, 700]) {
                let message = &bytes[..length];
                let (a, b) = message.split_at(length / 3);
                let mut whole = [0; 32];
                pads.mac_into(&[message], &mut whole);
                assert_eq!(whole, backend.mac(message), "{key_len} {length}");
                let mut pieces = [0; 32];
                pads.mac_into(&[a, b"", b], &mut pieces);
                assert_eq!(pieces, whole, "{key_len} {length}");
            }
        }
    }

    #[test]
    fn every_byte_under_many_keys_gives_what_the_backend_gives() {
        for seed in 0..50_u8 {
            let key: [u8; 32] = std::array::from_fn(|place| {
                seed.wrapping_mul(31)
                    .wrapping_add(u8::try_from(place).unwrap_or(0).wrapping_mul(seed | 1))
            });
            let (pads, backend) = (Sha256Pads::new(&key), MacKey::new(&key));
            for byte in 0..=255 {
                assert_eq!(pads.mac_byte(byte), backend.mac(&[byte]), "{seed} {byte}");
            }
        }
        assert_eq!(format!("{:?}", Sha256Pads::new(&[1; 32])), "Sha256Pads");
    }
}
