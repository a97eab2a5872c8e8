//! AES-CBC (SP 800-38A 6.2) with PKCS#7 padding (RFC 5652 6.3). Unauthenticated.
//!
//! A changed ciphertext decrypts to changed text, mostly without an error, and where there is an error it
//! tells about the text (the padding oracle of Vaudenay 2002). The backend removes the padding in time that
//! depends on it. Use an AEAD of [`crate::aead`]; this is here to be compared with, and to read old data
//! whose MAC was verified before.

use aws_lc_rs::cipher::{
    AES_128, AES_256, DecryptionContext, EncryptionContext, PaddedBlockDecryptingKey,
    PaddedBlockEncryptingKey, UnboundCipherKey,
};
use aws_lc_rs::iv::FixedLength;
use keywright_secret::wipe_vec;

use crate::{Error, Rejected, opaque_debug};

/// Bytes in a block, and in the initialisation vector.
pub const BLOCK_LEN: usize = 16;

macro_rules! cbc {
    ($(#[$doc:meta])* $name:ident, $algorithm:ident, $key_len:literal) => {
        $(#[$doc])*
        pub struct $name {
            encrypting: PaddedBlockEncryptingKey,
            decrypting: PaddedBlockDecryptingKey,
        }

        impl $name {
            /// Sets up both key schedules.
            ///
            /// # Errors
            /// [`Error::Backend`] if the backend refuses.
            pub fn new(key: &[u8; $key_len]) -> Result<Self, Error> {
                let unbound = || UnboundCipherKey::new(&$algorithm, key);
                let encrypting = unbound().and_then(PaddedBlockEncryptingKey::cbc_pkcs7);
                let decrypting = unbound().and_then(PaddedBlockDecryptingKey::cbc_pkcs7);
                Ok(Self {
                    encrypting: encrypting.map_err(|_| Error::Backend)?,
                    decrypting: decrypting.map_err(|_| Error::Backend)?,
                })
            }

            /// Pads and encrypts the text in `buffer`, which grows by one to sixteen bytes. `iv` must be
            /// unpredictable; it does not become part of the ciphertext.
            ///
            /// # Errors
            /// [`Error::Backend`] if the backend refuses; `buffer` is wiped and empty then.
            pub fn encrypt(
                &self,
                iv: &[u8; BLOCK_LEN],
                buffer: &mut Vec<u8>,
            ) -> Result<(), Error> {
                encrypt(&self.encrypting, iv, buffer)
            }

            /// Decrypts the ciphertext in `buffer` and removes the padding. That this succeeds proves
            /// nothing.
            ///
            /// # Errors
            /// [`Rejected`] if the length is no multiple of a block, or the padding is not right; `buffer`
            /// is wiped and empty then.
            pub fn decrypt(
                &self,
                iv: &[u8; BLOCK_LEN],
                buffer: &mut Vec<u8>,
            ) -> Result<(), Rejected> {
                decrypt(&self.decrypting, iv, buffer)
            }
        }
    };
}

cbc! {
    /// A key for AES-128-CBC.
    Aes128Cbc, AES_128, 16
}
cbc! {
    /// A key for AES-256-CBC.
    Aes256Cbc, AES_256, 32
}
opaque_debug! { Aes128Cbc Aes256Cbc }

fn encrypt(
    key: &PaddedBlockEncryptingKey,
    iv: &[u8; BLOCK_LEN],
    buffer: &mut Vec<u8>,
) -> Result<(), Error> {
    make_room(buffer);
    let context = EncryptionContext::Iv128(FixedLength::from(*iv));
    let encrypted = key.less_safe_encrypt(buffer, context).map(|_| ());
    encrypted.map_err(|_| {
        wipe_vec(buffer);
        Error::Backend
    })
}

/// Room for the padding. A vector that grows by itself leaves a copy of the text where it was.
fn make_room(buffer: &mut Vec<u8>) {
    if buffer.capacity() - buffer.len() >= BLOCK_LEN {
        return;
    }
    let mut larger = Vec::with_capacity(buffer.len() + BLOCK_LEN);
    larger.extend_from_slice(buffer);
    wipe_vec(buffer);
    *buffer = larger;
}

fn decrypt(
    key: &PaddedBlockDecryptingKey,
    iv: &[u8; BLOCK_LEN],
    buffer: &mut Vec<u8>,
) -> Result<(), Rejected> {
    let whole = !buffer.is_empty() && buffer.len().is_multiple_of(BLOCK_LEN);
    let context = DecryptionContext::Iv128(FixedLength::from(*iv));
    let text_len = || key.decrypt(buffer, context).map(|text| text.len()).ok();
    match whole.then(text_len).flatten() {
        Some(length) => {
            buffer.truncate(length);
            Ok(())
        }
        None => {
            wipe_vec(buffer);
            Err(Rejected)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! both_ways {
        ($sealed:ident, $opened:ident, $name:ident) => {
            fn $sealed(key: &$name, iv: &[u8; 16], text: &[u8]) -> Vec<u8> {
                let mut buffer = text.to_vec();
                key.encrypt(iv, &mut buffer).unwrap();
                buffer
            }

            fn $opened(key: &$name, iv: &[u8; 16], ciphertext: &[u8]) -> Option<Vec<u8>> {
                let mut buffer = ciphertext.to_vec();
                let opened = key.decrypt(iv, &mut buffer);
                if opened.is_err() {
                    assert!(buffer.is_empty(), "nothing is shown");
                }
                opened.ok().map(|()| buffer)
            }
        };
    }
    both_ways!(sealed_128, opened_128, Aes128Cbc);
    both_ways!(sealed_256, opened_256, Aes256Cbc);

    fn hex<const N: usize>(text: &str) -> [u8; N] {
        let byte = |i: usize| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap();
        std::array::from_fn(byte)
    }

    /// SP 800-38A F.2.1 and F.2.5, the first block.
    #[test]
    fn the_first_block_is_the_one_nist_publishes() {
        let text: [u8; 16] = hex("6bc1bee22e409f96e93d7e117393172a");
        let iv: [u8; 16] = hex("000102030405060708090a0b0c0d0e0f");
        let key = Aes128Cbc::new(&hex("2b7e151628aed2a6abf7158809cf4f3c")).unwrap();
        let sealed = sealed_128(&key, &iv, &text);
        assert_eq!(sealed[..16], hex::<16>("7649abac8119b246cee98e9b12e9197d"));
        let key = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4";
        let sealed = sealed_256(&Aes256Cbc::new(&hex(key)).unwrap(), &iv, &text);
        assert_eq!(sealed[..16], hex::<16>("f58c4c04d6e5f1ba779eabfb5f7bfbd6"));
    }

    #[test]
    fn every_length_comes_back_and_is_padded_by_one_to_sixteen_bytes() {
        let key = Aes256Cbc::new(&[7; 32]).unwrap();
        for length in 0..50 {
            let text = vec![0x5A; length];
            let sealed = sealed_256(&key, &[1; 16], &text);
            assert_eq!(sealed.len(), (length / 16 + 1) * 16);
            assert_eq!(opened_256(&key, &[1; 16], &sealed), Some(text));
        }
    }

    #[test]
    fn a_buffer_with_room_is_encrypted_where_it_is() {
        let key = Aes128Cbc::new(&[7; 16]).unwrap();
        let mut buffer = Vec::with_capacity(32);
        buffer.extend_from_slice(b"sixteen letters.");
        let place = buffer.as_ptr();
        key.encrypt(&[1; 16], &mut buffer).unwrap();
        assert_eq!((buffer.as_ptr(), buffer.len()), (place, 32));
    }

    #[test]
    fn a_cut_ciphertext_and_each_wrong_padding_are_rejected() {
        let key = Aes128Cbc::new(&[7; 16]).unwrap();
        let sealed = sealed_128(&key, &[1; 16], &[0; 16]);
        // The first block alone ends in a zero, which is no padding either.
        for length in 0..32 {
            assert_eq!(opened_128(&key, &[1; 16], &sealed[..length]), None);
        }
        // The last block is padding alone, sixteen times 16, and the block before it is added to it.
        for value in (0..=255_u8).filter(|value| *value != 16 && *value != 1) {
            let mut changed = sealed.clone();
            changed[15] ^= 16 ^ value;
            assert_eq!(opened_128(&key, &[1; 16], &changed), None, "{value}");
        }
        for byte in 0..15 {
            let mut changed = sealed.clone();
            changed[byte] ^= 1;
            assert_eq!(opened_128(&key, &[1; 16], &changed), None, "{byte}");
        }
    }

    #[test]
    fn a_changed_vector_is_not_noticed_which_is_why_this_is_hazmat() {
        let key = Aes128Cbc::new(&[7; 16]).unwrap();
        let sealed = sealed_128(&key, &[1; 16], b"pay 100 to Alice");
        let mut iv = [1; 16];
        iv[4] ^= b'1' ^ b'9';
        let changed = opened_128(&key, &iv, &sealed).unwrap();
        assert_eq!(changed, b"pay 900 to Alice");
    }
}
