//! HMAC-SHA-256 (RFC 2104) with its two pad states at hand, without memory from the heap.
//!
//! The backend prepares a key by making three hash contexts and copies one for each MAC: for the two short
//! inputs under a fresh key that a step of a ratchet's chain has, that is more work than the six blocks of
//! hashing. Here the states are sixteen words on the stack.
//!
//! Not here: tags that are compared. [`super::HmacSha256`] verifies.

use keywright_secret::wipe;
use sha2::block_api::compress256;

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
    /// Hashes the pads of a key of 32 bytes.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        let mut block = [0x36; BLOCK];
        block
            .iter_mut()
            .zip(key)
            .for_each(|(pad, byte)| *pad ^= byte);
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
    use crate::mac::MacKey;

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
