//! AES-256-SIV (RFC 5297): authenticated encryption without a nonce.
//!
//! Equal texts under equal associated data have equal ciphertexts, for ever and for everybody who looks: that is
//! what it is for, and what it gives away. The tag is the synthetic IV; it stands in front of the ciphertext where
//! others put theirs behind it. Not here: keys of 256 and 384 bits.

use aws_lc_rs::cipher::{AES_256, EncryptingKey, EncryptionContext, UnboundCipherKey};
use aws_lc_rs::iv::FixedLength;
use keywright_secret::{ct_eq, wipe};

use super::Tag;
use crate::mac::Aes256Cmac;
use crate::{Error, Rejected, opaque_debug};

/// Bytes in a key: one half for CMAC, one for CTR.
pub const SIV_KEY_LEN: usize = 64;
/// Strings of associated data that a call takes; the text is one string more (RFC 5297, 2.6).
const STRINGS: usize = 126;
const BLOCK: usize = 16;

/// A key for AES-256-SIV.
pub struct Aes256Siv {
    mac: Aes256Cmac,
    counter: EncryptingKey,
    /// AES-CMAC of a block of zeros, with which S2V begins each time.
    begun: [u8; BLOCK],
}

opaque_debug! { Aes256Siv }

impl Aes256Siv {
    /// Sets up both key schedules.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn new(key: &[u8; SIV_KEY_LEN]) -> Result<Self, Error> {
        let (first, second) = key.split_at(SIV_KEY_LEN / 2);
        let mac = Aes256Cmac::new(first.try_into().map_err(|_| Error::Backend)?)?;
        let begun = mac.mac(&[0; BLOCK])?;
        let counter = UnboundCipherKey::new(&AES_256, second).map_err(|_| Error::Backend)?;
        let counter = EncryptingKey::ctr(counter).map_err(|_| Error::Backend)?;
        Ok(Self {
            mac,
            counter,
            begun,
        })
    }

    /// Encrypts `in_out` and returns the synthetic IV. The strings of associated data count with their borders: no
    /// string and an empty one are not the same.
    ///
    /// # Errors
    /// [`Error::TooLong`] for more than 126 strings, [`Error::Backend`] if the backend refuses.
    pub fn seal(&self, strings: &[&[u8]], in_out: &mut [u8]) -> Result<Tag, Error> {
        let siv = self.s2v(strings, in_out)?;
        self.run(&siv, in_out)?;
        Ok(siv)
    }

    /// Decrypts `in_out`, which is wiped if it does not fit.
    ///
    /// # Errors
    /// [`Rejected`] if key, strings, synthetic IV or ciphertext are not those of the encryption.
    pub fn open(&self, strings: &[&[u8]], in_out: &mut [u8], siv: &Tag) -> Result<(), Rejected> {
        let made = self
            .run(siv, in_out)
            .and_then(|()| self.s2v(strings, in_out));
        if made.is_ok_and(|made| ct_eq(&made, siv)) {
            return Ok(());
        }
        wipe(in_out);
        Err(Rejected)
    }

    /// 2.4  S2V: all strings, the text last, become one block.
    fn s2v(&self, strings: &[&[u8]], text: &[u8]) -> Result<[u8; BLOCK], Error> {
        if strings.len() > STRINGS {
            return Err(Error::TooLong);
        }
        let mut d = self.begun;
        for string in strings {
            d = xor(double(d), self.mac.mac(string)?);
        }
        match text.split_last_chunk::<BLOCK>() {
            // T = Sn xorend D
            Some((front, last)) => self.mac.mac_pieces(&[front, &xor(*last, d)]),
            // T = dbl(D) xor pad(Sn)
            None => {
                let mut padded = [0; BLOCK];
                padded[..text.len()].copy_from_slice(text);
                padded[text.len()] = 0x80;
                let mac = self.mac.mac(&xor(double(d), padded));
                wipe(&mut padded);
                mac
            }
        }
    }

    /// 2.5  CTR from the synthetic IV with the top bit of each of its last two words cleared.
    fn run(&self, siv: &Tag, in_out: &mut [u8]) -> Result<(), Error> {
        let mut counter = *siv;
        counter[8] &= 0x7F;
        counter[12] &= 0x7F;
        let context = EncryptionContext::Iv128(FixedLength::from(counter));
        let done = self.counter.less_safe_encrypt(in_out, context);
        done.map(drop).map_err(|_| Error::Backend)
    }
}

/// 2.3  Multiplication by x in GF(2^128), without a branch on the value.
fn double(block: [u8; BLOCK]) -> [u8; BLOCK] {
    let value = u128::from_be_bytes(block);
    let carry = (value >> 127) * 0x87;
    ((value << 1) ^ carry).to_be_bytes()
}

fn xor(a: [u8; BLOCK], b: [u8; BLOCK]) -> [u8; BLOCK] {
    (u128::from_be_bytes(a) ^ u128::from_be_bytes(b)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 5297, appendix A.1: the doublings of its example.
    #[test]
    fn doubling_is_that_of_the_standard() {
        for (before, after) in [
            (
                0x0e04_dfaf_c1ef_bf04_0140_5828_59bf_073a,
                0x1c09_bf5f_83df_7e08_0280_b050_b37e_0e74_u128,
            ),
            (
                0xedf0_9de8_76c6_42ee_4d78_bce4_ceed_fc4f,
                0xdbe1_3bd0_ed8c_85dc_9af1_79c9_9ddb_f819,
            ),
        ] {
            let before: u128 = before;
            assert_eq!(double(before.to_be_bytes()), after.to_be_bytes());
        }
    }

    #[test]
    fn strings_count_with_their_borders_and_nothing_else_opens() {
        let key = Aes256Siv::new(&[7; SIV_KEY_LEN]).unwrap();
        let other = Aes256Siv::new(&[8; SIV_KEY_LEN]).unwrap();
        let lists: [&[&[u8]]; 5] = [&[], &[b""], &[b"ab"], &[b"a", b"b"], &[b"ab", b""]];
        for length in [0, 1, 15, 16, 17, 31, 32, 100] {
            let text = vec![3; length];
            let sealed: Vec<_> = lists
                .iter()
                .map(|strings| {
                    let mut bytes = text.clone();
                    let siv = key.seal(strings, &mut bytes).unwrap();
                    (siv, bytes)
                })
                .collect();
            for (index, (siv, bytes)) in sealed.iter().enumerate() {
                for (place, strings) in lists.iter().enumerate() {
                    let mut opened = bytes.clone();
                    let done = key.open(strings, &mut opened, siv);
                    assert_eq!(done.is_ok(), place == index, "{length}");
                    let expected = if place == index { 3 } else { 0 };
                    assert!(opened.iter().all(|byte| *byte == expected));
                }
                let mut opened = bytes.clone();
                assert!(other.open(lists[index], &mut opened, siv).is_err());
            }
        }
    }

    #[test]
    fn more_strings_than_the_standard_allows_are_refused() {
        let key = Aes256Siv::new(&[7; SIV_KEY_LEN]).unwrap();
        let many = [&b""[..]; STRINGS + 1];
        assert!(key.seal(&many[1..], &mut [1]).is_ok());
        assert_eq!(key.seal(&many, &mut [1]), Err(Error::TooLong));
        assert_eq!(key.open(&many, &mut [1], &[0; 16]), Err(Rejected));
    }
}
