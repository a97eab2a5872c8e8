//! The two AEADs whose nonces are long enough to be random.

use std::fmt;

use aws_lc_rs::cipher::{AES_256, EncryptingKey, UnboundCipherKey};
use chacha20::R20;
use keywright_secret::{Secret, wipe};

use super::{Aes256Gcm, ChaCha20Poly1305, EXTENDED_NONCE_LEN, ExtendedNonce, TAG_LEN, Tag};
use crate::random::RandomStream;
use crate::{Error, Rejected, opaque_debug};

/// XAES-256-GCM (C2SP): AES-256-GCM with a 192-bit nonce, under a key derived from half of it.
///
/// K1 depends on the key alone and is made once; a message costs two AES blocks and one GCM set-up.
pub struct Xaes256Gcm {
    cipher: EncryptingKey,
    k1: [u8; 16],
}

impl Xaes256Gcm {
    /// Derives K1 from the key.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn new(key: &[u8; 32]) -> Result<Self, Error> {
        let key = UnboundCipherKey::new(&AES_256, key).map_err(|_| Error::Backend)?;
        let cipher = EncryptingKey::ecb(key).map_err(|_| Error::Backend)?;
        // L = AES-256_K(0^128)
        let mut l = [0; 16];
        cipher.encrypt(&mut l).map_err(|_| Error::Backend)?;
        Ok(Self {
            cipher,
            k1: double(l),
        })
    }

    /// Encrypts `in_out` and returns the tag.
    ///
    /// # Errors
    /// [`Error::TooLong`] beyond the limit of AES-256-GCM, [`Error::Backend`] if the backend refuses.
    pub fn seal(&self, nonce: &ExtendedNonce, aad: &[u8], in_out: &mut [u8]) -> Result<Tag, Error> {
        let mut tag = [0; TAG_LEN];
        self.seal_with(nonce, aad, in_out, &mut tag)?;
        Ok(tag)
    }

    /// As [`Self::seal`], with the tag written where it belongs.
    ///
    /// # Errors
    /// As there.
    pub fn seal_with(
        &self,
        nonce: &ExtendedNonce,
        aad: &[u8],
        in_out: &mut [u8],
        tag: &mut Tag,
    ) -> Result<(), Error> {
        let key = self.message_key(nonce)?;
        key.seal_with(halves(nonce).1, aad, in_out, tag)
    }

    /// Decrypts `in_out` if `tag` fits; wipes it if not.
    ///
    /// # Errors
    /// [`Rejected`] if anything differs from the sealing.
    pub fn open(
        &self,
        nonce: &ExtendedNonce,
        aad: &[u8],
        in_out: &mut [u8],
        tag: &Tag,
    ) -> Result<(), Rejected> {
        let message_key = self.message_key(nonce).map_err(|_| Rejected)?;
        message_key.open(halves(nonce).1, aad, in_out, tag)
    }

    /// Draws nonces for as many messages as are wanted, at most [`MOST_AHEAD`], and derives the keys of these messages,
    /// in the place of whatever `ahead` held. All their blocks go through the cipher at once, which takes it little longer
    /// than the two of one message.
    ///
    /// # Errors
    /// [`Error::Randomness`] or [`Error::Backend`]; `ahead` is empty then.
    pub fn derive_ahead(
        &self,
        messages: usize,
        random: &mut RandomStream,
        ahead: &mut Ahead,
    ) -> Result<(), Error> {
        ahead.forget();
        let messages = messages.min(MOST_AHEAD);
        // Said first, so that whatever was begun is wiped if this fails.
        ahead.left = messages;
        let derived = self.fill(
            random,
            &mut ahead.nonces[..messages],
            &mut ahead.keys[..messages],
        );
        if derived.is_err() {
            ahead.forget();
        }
        derived
    }

    fn fill(
        &self,
        random: &mut RandomStream,
        nonces: &mut [ExtendedNonce],
        keys: &mut [[u8; 32]],
    ) -> Result<(), Error> {
        random.fill(nonces.as_flattened_mut())?;
        for (kx, nonce) in keys.iter_mut().zip(nonces) {
            self.write_blocks(halves(nonce).0, kx);
        }
        let derived = self.cipher.encrypt(keys.as_flattened_mut());
        derived.map(drop).map_err(|_| Error::Backend)
    }

    /// Kx = AES-256_K(M1 xor K1) + AES-256_K(M2 xor K1); its nonce is N[12..24].
    fn message_key(&self, nonce: &ExtendedNonce) -> Result<Aes256Gcm, Error> {
        let mut kx = [0; 32];
        self.write_blocks(halves(nonce).0, &mut kx);
        let derived = self.cipher.encrypt(&mut kx).map_err(|_| Error::Backend);
        let key = derived.and_then(|_| Aes256Gcm::new(&kx));
        wipe(&mut kx);
        key
    }

    /// M1 xor K1 and M2 xor K1, where M = 00 counter 58 00 + N[0..12]. Each is written as a whole: the cipher would wait
    /// for a block that was written in parts.
    fn write_blocks(&self, head: &[u8; 12], blocks: &mut [u8; 32]) {
        let (mut rest, k1) = ([0; 16], u128::from_be_bytes(self.k1));
        rest[4..].copy_from_slice(head);
        let rest = u128::from_be_bytes(rest) ^ k1;
        let (blocks, _) = blocks.as_chunks_mut();
        for (counter, block) in (1..).zip(blocks) {
            let front = counter << 112 | u128::from(b'X') << 104;
            *block = (front ^ rest).to_be_bytes();
        }
    }
}

/// So many message keys are derived at a time: a stream of random bytes makes the nonces of about as many at a time.
pub const MOST_AHEAD: usize = 16;

/// Messages to come of one [`Xaes256Gcm`]: their nonces, and the keys that are derived from these. Each is given out once;
/// what is left over is wiped.
pub struct Ahead {
    nonces: [ExtendedNonce; MOST_AHEAD],
    keys: [[u8; 32]; MOST_AHEAD],
    left: usize,
}

impl Ahead {
    /// No messages.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            nonces: [[0; EXTENDED_NONCE_LEN]; MOST_AHEAD],
            keys: [[0; 32]; MOST_AHEAD],
            left: 0,
        }
    }

    /// The nonce of the next message, if there is one.
    #[must_use]
    pub fn nonce(&self) -> Option<&ExtendedNonce> {
        self.nonces.get(self.left.checked_sub(1)?)
    }

    /// Seals the next message in place, with its nonce.
    ///
    /// # Errors
    /// As [`Xaes256Gcm::seal`], and its nonce is not given out again; [`Error::Randomness`] if there is no nonce left.
    pub fn seal_with(&mut self, aad: &[u8], in_out: &mut [u8], tag: &mut Tag) -> Result<(), Error> {
        self.left = self.left.checked_sub(1).ok_or(Error::Randomness)?;
        let (nonce, kx) = (&self.nonces[self.left], &mut self.keys[self.left]);
        let key = Aes256Gcm::new(kx);
        wipe(kx);
        key?.seal_with(halves(nonce).1, aad, in_out, tag)
    }

    fn forget(&mut self) {
        wipe(self.keys[..self.left].as_flattened_mut());
        self.left = 0;
    }

    /// Whether there is no nonce left.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.left == 0
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.forget();
    }
}

impl fmt::Debug for Ahead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ahead({} messages)", self.left)
    }
}

impl Drop for Xaes256Gcm {
    fn drop(&mut self) {
        wipe(&mut self.k1);
    }
}

/// XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha): ChaCha20-Poly1305 under a key from HChaCha20.
pub struct XChaCha20Poly1305 {
    key: Secret<32>,
}

impl XChaCha20Poly1305 {
    /// Keeps a copy of the key.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        Self {
            key: Secret::from_fill(|buffer| buffer.copy_from_slice(key)),
        }
    }

    /// Encrypts `in_out` and returns the tag.
    ///
    /// # Errors
    /// [`Error::TooLong`] beyond the limit of ChaCha20-Poly1305.
    pub fn seal(&self, nonce: &ExtendedNonce, aad: &[u8], in_out: &mut [u8]) -> Result<Tag, Error> {
        Self::seal_once(self.key.expose(), nonce, aad, in_out)
    }

    /// As [`Self::seal`], with the tag written where it belongs.
    ///
    /// # Errors
    /// As there.
    pub fn seal_with(
        &self,
        nonce: &ExtendedNonce,
        aad: &[u8],
        in_out: &mut [u8],
        tag: &mut Tag,
    ) -> Result<(), Error> {
        let (subkey, rest) = subkey(self.key.expose(), nonce)?;
        subkey.seal_with(&rest, aad, in_out, tag)
    }

    /// Decrypts `in_out` if `tag` fits; wipes it if not.
    ///
    /// # Errors
    /// [`Rejected`] if anything differs from the sealing.
    pub fn open(
        &self,
        nonce: &ExtendedNonce,
        aad: &[u8],
        in_out: &mut [u8],
        tag: &Tag,
    ) -> Result<(), Rejected> {
        Self::open_once(self.key.expose(), nonce, aad, in_out, tag)
    }

    /// Encrypts `in_out` under a key that is used once, without keeping a copy of it.
    ///
    /// For protocols whose every message has a key of its own: nothing is allocated.
    ///
    /// # Errors
    /// [`Error::TooLong`] beyond the limit of ChaCha20-Poly1305.
    pub fn seal_once(
        key: &[u8; 32],
        nonce: &ExtendedNonce,
        aad: &[u8],
        in_out: &mut [u8],
    ) -> Result<Tag, Error> {
        let (subkey, rest) = subkey(key, nonce)?;
        subkey.seal(&rest, aad, in_out)
    }

    /// Decrypts `in_out` if `tag` fits, under a key of which no copy is kept; wipes it if not.
    ///
    /// # Errors
    /// [`Rejected`] if anything differs from the sealing.
    pub fn open_once(
        key: &[u8; 32],
        nonce: &ExtendedNonce,
        aad: &[u8],
        in_out: &mut [u8],
        tag: &Tag,
    ) -> Result<(), Rejected> {
        let Ok((subkey, rest)) = subkey(key, nonce) else {
            wipe(in_out);
            return Err(Rejected);
        };
        subkey.open(&rest, aad, in_out, tag)
    }
}

opaque_debug! { Xaes256Gcm XChaCha20Poly1305 }

/// HChaCha20(key, N[0..16]), and 00000000 + N[16..24].
pub(crate) fn subkey(
    key: &[u8; 32],
    nonce: &ExtendedNonce,
) -> Result<(ChaCha20Poly1305, [u8; 12]), Error> {
    let mut input = [0; 16];
    let mut rest = [0; 12];
    input.copy_from_slice(&nonce[..16]);
    rest[4..].copy_from_slice(&nonce[16..]);
    let mut subkey: [u8; 32] = chacha20::hchacha::<R20>(key.into(), &input.into()).into();
    let key = ChaCha20Poly1305::new(&subkey);
    wipe(&mut subkey);
    Ok((key?, rest))
}

/// The shift of CMAC's subkeys: multiplication by x in GF(2^128), without a branch on secret bits.
fn double(l: [u8; 16]) -> [u8; 16] {
    let value = u128::from_be_bytes(l);
    let carry = 0x87 * (value >> 127);
    (value << 1 ^ carry).to_be_bytes()
}

fn halves(nonce: &ExtendedNonce) -> (&[u8; 12], &[u8; 12]) {
    let (head, tail) = nonce.as_chunks::<12>().0.split_at(1);
    (&head[0], &tail[0])
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn hex<const N: usize>(text: &str) -> [u8; N] {
        let byte = |i: usize| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap();
        std::array::from_fn(byte)
    }

    /// The two values that C2SP publishes with XAES-256-GCM.
    #[test]
    fn xaes_gives_the_published_values() {
        let cases: [(u8, &[u8], &str); 2] = [
            (
                1,
                b"",
                "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271",
            ),
            (
                3,
                b"c2sp.org/XAES-256-GCM",
                "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d",
            ),
        ];
        for (byte, aad, expected) in cases {
            let key = Xaes256Gcm::new(&[byte; 32]).unwrap();
            let mut text = *b"XAES-256-GCM";
            let tag = key
                .seal(b"ABCDEFGHIJKLMNOPQRSTUVWX", aad, &mut text)
                .unwrap();
            assert_eq!([&text[..], &tag].concat(), hex::<28>(expected));
        }
    }

    /// The value of draft-irtf-cfrg-xchacha 2.2.1.
    #[test]
    fn hchacha20_gives_the_value_of_its_draft() {
        let key: [u8; 32] = std::array::from_fn(|i| u8::try_from(i).unwrap());
        let input: [u8; 16] = hex("000000090000004a0000000031415927");
        let out: [u8; 32] = chacha20::hchacha::<R20>((&key).into(), &input.into()).into();
        let expected = "82413b4227b27bfed30e42508a877d73a0f9e4d58a74a853c12ec41326d3ecdc";
        assert_eq!(out, hex(expected));
    }

    #[test]
    fn a_flipped_bit_anywhere_is_rejected_and_nothing_is_shown() {
        let key = Xaes256Gcm::new(&[7; 32]).unwrap();
        let (nonce, aad) = ([1; 24], *b"aad");
        let mut sealed = *b"message";
        let tag = key.seal(&nonce, &aad, &mut sealed).unwrap();
        for bit in 0..sealed.len() * 8 {
            let mut changed = sealed;
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(key.open(&nonce, &aad, &mut changed, &tag), Err(Rejected));
            assert_eq!(changed, [0; 7], "a rejected buffer is wiped");
        }
        for bit in 0..24 * 8 {
            let mut other = nonce;
            other[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(
                key.open(&other, &aad, &mut sealed.clone(), &tag),
                Err(Rejected)
            );
        }
        assert_eq!(
            key.open(&nonce, b"aae", &mut sealed.clone(), &tag),
            Err(Rejected)
        );
        assert_eq!(key.open(&nonce, &aad, &mut sealed, &tag), Ok(()));
        assert_eq!(&sealed, b"message");
    }

    /// The texts that `ahead` seals, each held against the cipher without it.
    fn sealed_ahead(key: &Xaes256Gcm, ahead: &mut Ahead) -> Vec<ExtendedNonce> {
        let mut nonces = Vec::new();
        loop {
            let (mut one, mut other, mut tag) = (*b"message", *b"message", [0; TAG_LEN]);
            let next = ahead.nonce().copied();
            let sealed = ahead.seal_with(b"aad", &mut one, &mut tag);
            let Some(nonce) = next else {
                assert_eq!(sealed, Err(Error::Randomness));
                assert_eq!(&one, b"message", "without a nonce nothing is sealed");
                return nonces;
            };
            assert_eq!(sealed, Ok(()));
            assert_eq!(key.seal(&nonce, b"aad", &mut other), Ok(tag));
            assert_eq!(one, other);
            nonces.push(nonce);
        }
    }

    #[test]
    fn keys_that_are_derived_ahead_seal_as_single_ones_do_each_once() {
        let key = Xaes256Gcm::new(&[7; 32]).unwrap();
        let mut random = RandomStream::new().unwrap();
        let (mut ahead, mut seen) = (Ahead::none(), HashSet::new());
        for wanted in [0, 1, 2, MOST_AHEAD - 1, MOST_AHEAD, MOST_AHEAD + 1, 1000] {
            key.derive_ahead(wanted, &mut random, &mut ahead).unwrap();
            assert_eq!(ahead.is_empty(), wanted == 0);
            let nonces = sealed_ahead(&key, &mut ahead);
            assert_eq!(nonces.len(), wanted.min(MOST_AHEAD));
            assert!(ahead.is_empty());
            assert!(sealed_ahead(&key, &mut ahead).is_empty(), "it stays empty");
            for nonce in nonces {
                assert!(seen.insert(nonce), "no nonce twice");
            }
        }
        assert!(sealed_ahead(&key, &mut Ahead::none()).is_empty());
    }

    #[test]
    fn keys_that_are_derived_ahead_are_of_one_key_and_shown_nowhere() {
        let [one, other] = [7, 8].map(|byte| Xaes256Gcm::new(&[byte; 32]).unwrap());
        let (mut ahead, mut random) = (Ahead::none(), RandomStream::new().unwrap());
        one.derive_ahead(3, &mut random, &mut ahead).unwrap();
        assert_eq!(format!("{ahead:?}"), "Ahead(3 messages)");
        let mut text = *b"message";
        let (nonce, mut tag) = (*ahead.nonce().unwrap(), [0; TAG_LEN]);
        ahead.seal_with(b"aad", &mut text, &mut tag).unwrap();
        assert_eq!(format!("{ahead:?}"), "Ahead(2 messages)");
        let refused = |key: &Xaes256Gcm, aad: &[u8]| {
            assert_eq!(
                key.open(&nonce, aad, &mut text.clone(), &tag),
                Err(Rejected)
            );
        };
        refused(&other, b"aad");
        refused(&one, b"aae");
        assert_eq!(one.open(&nonce, b"aad", &mut text, &tag), Ok(()));
        assert_eq!(&text, b"message");
    }

    #[test]
    fn a_key_that_was_used_is_wiped_and_so_are_those_that_are_left() {
        let key = Xaes256Gcm::new(&[7; 32]).unwrap();
        let (mut ahead, mut random) = (Ahead::none(), RandomStream::new().unwrap());
        key.derive_ahead(4, &mut random, &mut ahead).unwrap();
        assert!(ahead.keys[..4].iter().all(|key| *key != [0; 32]));
        ahead
            .seal_with(b"", &mut [1; 4], &mut [0; TAG_LEN])
            .unwrap();
        assert_eq!(ahead.keys[3], [0; 32]);
        assert!(ahead.keys[..3].iter().all(|key| *key != [0; 32]));
        // What is derived now takes the place of what was left.
        key.derive_ahead(1, &mut random, &mut ahead).unwrap();
        assert_eq!(ahead.keys[1..], [[0; 32]; MOST_AHEAD - 1]);
        ahead.forget();
        assert_eq!(ahead.keys, [[0; 32]; MOST_AHEAD]);
    }

    #[test]
    fn a_key_that_is_not_kept_gives_the_same_bytes() {
        let (kept, nonce, aad) = (XChaCha20Poly1305::new(&[7; 32]), [1; 24], *b"aad");
        let (mut one, mut other) = (*b"message", *b"message");
        let tag = kept.seal(&nonce, &aad, &mut one).unwrap();
        let again = XChaCha20Poly1305::seal_once(&[7; 32], &nonce, &aad, &mut other).unwrap();
        assert_eq!((one, tag), (other, again));
        let open = |key: u8, text: &mut [u8]| {
            XChaCha20Poly1305::open_once(&[key; 32], &nonce, &aad, text, &tag)
        };
        assert_eq!(open(8, &mut other), Err(Rejected));
        assert_eq!(other, [0; 7], "a rejected buffer is wiped");
        assert_eq!(open(7, &mut one), Ok(()));
        assert_eq!(&one, b"message");
    }

    #[test]
    fn the_doubling_reduces_when_a_bit_falls_out() {
        let mut one_bit = [0; 16];
        one_bit[0] = 0x80;
        let mut expected = [0; 16];
        expected[15] = 0x87;
        assert_eq!(double(one_bit), expected);
        assert_eq!(double([0; 16]), [0; 16]);
    }
}
