//! HMAC-SHA-512 (RFC 2104) with its two pad states at hand.
//!
//! Half the work of an HMAC over a short message is hashing the two pads of the key. Whoever asks one key
//! many times keeps the states after them, and may store them beside other secrets: they are 128 bytes that
//! are wiped like the key itself. Trees of keys do so, and make no allocation a level.
//!
//! Not here: tags that are compared. [`super::HmacSha512`] verifies.

use keywright_secret::wipe;
use sha2::block_api::compress512;

use crate::hash::sha512;
use crate::opaque_debug;

/// Bytes in the two pad states.
pub const PADS_LEN: usize = 128;

const BLOCK: usize = 128;

/// FIPS 180-4, 5.3.5.
const INITIAL: [u64; 8] = [
    0x6a09_e667_f3bc_c908,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1,
    0x9b05_688c_2b3e_6c1f,
    0x1f83_d9ab_fb41_bd6b,
    0x5be0_cd19_137e_2179,
];

/// A key for HMAC-SHA-512, as the hash states after its inner and outer pad. Wiped on drop.
pub struct Sha512Pads {
    inner: [u64; 8],
    outer: [u64; 8],
}

impl Sha512Pads {
    /// Hashes the pads of `key`, which may have any length.
    #[must_use]
    pub fn new(key: &[u8]) -> Self {
        let mut block = [0; BLOCK];
        match block.get_mut(..key.len()) {
            Some(head) => head.copy_from_slice(key),
            // A key longer than a block is replaced by its hash.
            None => block[..64].copy_from_slice(&sha512(key)),
        }
        let mut pads = Self {
            inner: INITIAL,
            outer: INITIAL,
        };
        block.iter_mut().for_each(|byte| *byte ^= 0x36);
        compress512(&mut pads.inner, std::slice::from_ref(&block));
        block.iter_mut().for_each(|byte| *byte ^= 0x36 ^ 0x5c);
        compress512(&mut pads.outer, std::slice::from_ref(&block));
        wipe(&mut block);
        pads
    }

    /// The states as bytes, to be kept where secrets are kept.
    pub fn write_to(&self, out: &mut [u8; PADS_LEN]) {
        write_words(&self.inner, &mut out[..64]);
        write_words(&self.outer, &mut out[64..]);
    }

    /// The states that [`Self::write_to`] wrote.
    #[must_use]
    pub fn read_from(bytes: &[u8; PADS_LEN]) -> Self {
        let (inner, outer) = bytes.split_at(64);
        Self {
            inner: read_words(inner),
            outer: read_words(outer),
        }
    }

    /// Puts the HMAC of the joined pieces into `out`. The caller makes the joining injective.
    pub fn mac_into(&self, pieces: &[&[u8]], out: &mut [u8; 64]) {
        let mut block = [0; BLOCK];
        let mut state = self.inner;
        let (mut filled, mut total) = (0, BLOCK as u128);
        for piece in pieces {
            total += piece.len() as u128;
            let mut rest = *piece;
            while !rest.is_empty() {
                let (now, later) = rest.split_at(rest.len().min(BLOCK - filled));
                block[filled..filled + now.len()].copy_from_slice(now);
                filled += now.len();
                rest = later;
                if filled == BLOCK {
                    compress512(&mut state, std::slice::from_ref(&block));
                    filled = 0;
                }
            }
        }
        finish(&mut state, &mut block, (filled, total));
        write_words(&state, &mut block[..64]);
        state = self.outer;
        finish(&mut state, &mut block, (64, (BLOCK + 64) as u128));
        write_words(&state, out);
        wipe_words(&mut state);
        wipe(&mut block);
    }
}

impl Drop for Sha512Pads {
    fn drop(&mut self) {
        wipe_words(&mut self.inner);
        wipe_words(&mut self.outer);
    }
}

opaque_debug! { Sha512Pads }

/// FIPS 180-4, 5.1.2: a one, zeros, and the length in bits; the second number is the length in bytes.
fn finish(state: &mut [u64; 8], block: &mut [u8; BLOCK], (filled, total): (usize, u128)) {
    block[filled] = 0x80;
    block[filled + 1..].fill(0);
    if filled >= BLOCK - 16 {
        compress512(state, std::slice::from_ref(block));
        block.fill(0);
    }
    block[BLOCK - 16..].copy_from_slice(&(total * 8).to_be_bytes());
    compress512(state, std::slice::from_ref(block));
}

fn write_words(words: &[u64; 8], out: &mut [u8]) {
    for (bytes, word) in out.chunks_exact_mut(8).zip(words) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
}

fn read_words(bytes: &[u8]) -> [u64; 8] {
    let mut words = [0; 8];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = bytes
            .iter()
            .fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    }
    words
}

fn wipe_words(words: &mut [u64; 8]) {
    words.fill(0);
    // Keeps the compiler from leaving the zeros out.
    std::hint::black_box(words);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mac::HmacSha512;

    /// Against the backend, over every length around the ends of blocks, in one piece and in three.
    #[test]
    fn every_length_of_key_and_message_gives_what_the_backend_gives() {
        let bytes: Vec<u8> = (0..700_u32).map(|n| (n * 7 + 3).to_be_bytes()[3]).collect();
        for key_len in [0, 1, 12, 32, 64, 127, 128, 129, 300] {
            let (pads, backend) = (
                Sha512Pads::new(&bytes[..key_len]),
                HmacSha512::new(&bytes[..key_len]).unwrap(),
            );
            for length in (0..300).chain([383, 384, 385, 700]) {
                let message = &bytes[..length];
                let (a, b) = message.split_at(length / 3);
                let mut whole = [0; 64];
                pads.mac_into(&[message], &mut whole);
                assert_eq!(whole, backend.mac(message), "{key_len} {length}");
                let mut pieces = [0; 64];
                pads.mac_into(&[a, b"", b], &mut pieces);
                assert_eq!(pieces, whole, "{key_len} {length}");
            }
        }
    }

    #[test]
    fn kept_states_give_what_the_key_gives_and_other_states_do_not() {
        let pads = Sha512Pads::new(b"chain code");
        let (mut kept, mut before, mut after) = ([0; PADS_LEN], [0; 64], [0; 64]);
        pads.write_to(&mut kept);
        pads.mac_into(&[b"child"], &mut before);
        Sha512Pads::read_from(&kept).mac_into(&[b"child"], &mut after);
        assert_eq!(before, after);
        for place in [0, 63, 64, 127] {
            let mut changed = kept;
            changed[place] ^= 1;
            Sha512Pads::read_from(&changed).mac_into(&[b"child"], &mut after);
            assert_ne!(before, after, "{place}");
        }
        assert_eq!(format!("{pads:?}"), "Sha512Pads");
    }
}
