//! The AEADs with a nonce of 96 bits.

use aws_lc_rs::aead::{
    AES_128_GCM, AES_256_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey,
};
use keywright_secret::wipe;

use super::{TAG_LEN, Tag};
use crate::{Error, Rejected, opaque_debug};

// One text for all, so that no two of them can differ in what happens on failure.
macro_rules! aead {
    ($(#[$doc:meta])* $name:ident, $algorithm:ident, $key_len:literal) => {
        $(#[$doc])*
        pub struct $name(LessSafeKey);

        impl $name {
            /// Sets up the key for many messages.
            ///
            /// # Errors
            /// [`Error::Backend`] if the backend refuses.
            pub fn new(key: &[u8; $key_len]) -> Result<Self, Error> {
                let key = UnboundKey::new(&$algorithm, key).map_err(|_| Error::Backend)?;
                Ok(Self(LessSafeKey::new(key)))
            }

            /// Encrypts `in_out` and returns the tag.
            ///
            /// # Errors
            /// [`Error::TooLong`] beyond the algorithm's limit.
            pub fn seal(
                &self,
                nonce: &[u8; 12],
                aad: &[u8],
                in_out: &mut [u8],
            ) -> Result<Tag, Error> {
                let mut tag = [0; TAG_LEN];
                self.seal_with(nonce, aad, in_out, &mut tag)?;
                Ok(tag)
            }

            /// As [`Self::seal`], with the tag written where it belongs: one that is moved through results is written in
            /// parts and read as a whole, which the processor waits for.
            ///
            /// # Errors
            /// As there.
            pub fn seal_with(
                &self,
                nonce: &[u8; 12],
                aad: &[u8],
                in_out: &mut [u8],
                tag: &mut Tag,
            ) -> Result<(), Error> {
                let nonce = Nonce::assume_unique_for_key(*nonce);
                let sealed = self.0.seal_in_place_scatter(nonce, Aad::from(aad), in_out, &[], tag);
                sealed.map_err(|_| Error::TooLong)
            }

            /// Decrypts `in_out` if `tag` fits; wipes it if not.
            ///
            /// # Errors
            /// [`Rejected`] if key, nonce, aad, ciphertext or tag differ from those of the sealing.
            pub fn open(
                &self,
                nonce: &[u8; 12],
                aad: &[u8],
                in_out: &mut [u8],
                tag: &Tag,
            ) -> Result<(), Rejected> {
                open(&self.0, nonce, aad, in_out, tag)
            }

            /// Encrypts `text` into `out`, which is as long, and returns the tag.
            ///
            /// # Errors
            /// [`Error::TooLong`] beyond the algorithm's limit, or if the lengths differ.
            pub fn seal_to(
                &self,
                nonce: &[u8; 12],
                aad: &[u8],
                text: &[u8],
                out: &mut [u8],
            ) -> Result<Tag, Error> {
                let nonce = Nonce::assume_unique_for_key(*nonce);
                let mut tag = [0; TAG_LEN];
                self.0
                    .seal_out_of_place_scatter(nonce, Aad::from(aad), text, out, &[], &mut tag)
                    .map_err(|_| Error::TooLong)?;
                Ok(tag)
            }

            /// Decrypts `ciphertext` into `out`, which is as long, if `tag` fits; wipes `out` if not.
            ///
            /// # Errors
            /// [`Rejected`] if anything differs from the sealing, or if the lengths differ.
            #[expect(
                clippy::too_many_arguments,
                reason = "the inputs and the output of RFC 5116 2.2"
            )]
            pub fn open_to(
                &self,
                nonce: &[u8; 12],
                aad: &[u8],
                ciphertext: &[u8],
                tag: &Tag,
                out: &mut [u8],
            ) -> Result<(), Rejected> {
                let nonce = Nonce::assume_unique_for_key(*nonce);
                let aad = Aad::from(aad);
                let opened = self.0.open_separate_gather(nonce, aad, ciphertext, tag, out);
                opened.map_err(|_| {
                    wipe(out);
                    Rejected
                })
            }
        }
    };
}

aead! {
    /// AES-128-GCM (SP 800-38D) with a 96-bit nonce, which must never repeat under one key.
    Aes128Gcm, AES_128_GCM, 16
}
aead! {
    /// AES-256-GCM (SP 800-38D) with a 96-bit nonce, which must never repeat under one key.
    Aes256Gcm, AES_256_GCM, 32
}
aead! {
    /// ChaCha20-Poly1305 (RFC 8439) with a 96-bit nonce, which must never repeat under one key.
    ChaCha20Poly1305, CHACHA20_POLY1305, 32
}
opaque_debug! { Aes128Gcm Aes256Gcm ChaCha20Poly1305 }

fn open(
    key: &LessSafeKey,
    nonce: &[u8; 12],
    aad: &[u8],
    in_out: &mut [u8],
    tag: &Tag,
) -> Result<(), Rejected> {
    let nonce = Nonce::assume_unique_for_key(*nonce);
    let opened = key.open_in_place_separate_tag(nonce, Aad::from(aad), tag, in_out);
    if opened.is_ok() {
        return Ok(());
    }
    wipe(in_out);
    Err(Rejected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sealing_beside_is_sealing_in_place() {
        let (key, nonce) = (Aes256Gcm::new(&[7; 32]).unwrap(), [1; 12]);
        for length in [0, 1, 15, 16, 17, 1000, 16_384] {
            let text = vec![0x5A; length];
            let (mut in_place, mut beside) = (text.clone(), vec![0; length]);
            let tag = key.seal(&nonce, b"aad", &mut in_place).unwrap();
            assert_eq!(key.seal_to(&nonce, b"aad", &text, &mut beside), Ok(tag));
            assert_eq!(beside, in_place);
            let mut opened = vec![1; length];
            assert_eq!(
                key.open_to(&nonce, b"aad", &beside, &tag, &mut opened),
                Ok(())
            );
            assert_eq!(opened, text);
            assert_eq!(
                key.open_to(&nonce, b"aae", &beside, &tag, &mut opened),
                Err(Rejected)
            );
            assert_eq!(opened, vec![0; length], "nothing is shown");
        }
        assert!(key.seal_to(&nonce, b"", b"ab", &mut [0; 3]).is_err());
        assert!(
            key.open_to(&nonce, b"", b"ab", &[0; 16], &mut [0; 1])
                .is_err()
        );
    }

    #[test]
    fn a_flipped_bit_or_another_key_is_rejected_by_each_and_nothing_is_shown() {
        macro_rules! check {
            ($name:ident, $key_len:literal) => {
                let key = $name::new(&[7; $key_len]).unwrap();
                let other = $name::new(&[8; $key_len]).unwrap();
                let mut sealed = *b"message";
                let tag = key.seal(&[1; 12], b"aad", &mut sealed).unwrap();
                let refused = |key: &$name, nonce, aad, mut text: [u8; 7], tag| {
                    assert_eq!(key.open(&nonce, aad, &mut text, &tag), Err(Rejected));
                    assert_eq!(text, [0; 7], "a rejected buffer is wiped");
                };
                refused(&other, [1; 12], b"aad", sealed, tag);
                refused(&key, [2; 12], b"aad", sealed, tag);
                refused(&key, [1; 12], b"aae", sealed, tag);
                for bit in 0..7 * 8 {
                    let mut changed = sealed;
                    changed[bit / 8] ^= 1 << (bit % 8);
                    refused(&key, [1; 12], b"aad", changed, tag);
                }
                for bit in 0..TAG_LEN * 8 {
                    let mut changed = tag;
                    changed[bit / 8] ^= 1 << (bit % 8);
                    refused(&key, [1; 12], b"aad", sealed, changed);
                }
                assert_eq!(key.open(&[1; 12], b"aad", &mut sealed, &tag), Ok(()));
                assert_eq!(&sealed, b"message");
            };
        }
        check!(Aes128Gcm, 16);
        check!(Aes256Gcm, 32);
        check!(ChaCha20Poly1305, 32);
    }
}
