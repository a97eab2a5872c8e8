//! `encrypt --envelope`, `decrypt --envelope`: inputs of any size for the holder of an RSA key in a token.
//!
//! All numbers big-endian:
//!
//! ```text
//! header  "KWHE" | version 1 | hash of OAEP u8 | piece length u32 | u16 length, wrapped key
//! pieces  ciphertext | tag [16], each of piece length but the last, which may be shorter or empty
//! ```
//!
//! The hash is a number: 1 SHA-256, 2 SHA-1, 3 SHA-224, 4 SHA-384, 5 SHA-512, 6 to 9 SHA3-224, -256, -384, -512. It is
//! not told when decrypting, so every hash that wraps has one.
//!
//! The wrapped key is a fresh AES-256 key of this file alone, under RSA-OAEP. Piece number n is sealed with
//! AES-256-GCM under the nonce u32 0 | u64 n, with SHA-256(header | u64 length, additional data) | u64 n | u8 1 for
//! the last and 0 else as its additional data: pieces cannot be exchanged, dropped or taken from another file, and
//! the end cannot be cut off. The token does one operation, whatever the size; the pieces are sealed here, so the
//! file's own key is in the memory of this program while it works.
//!
//! Nobody is authenticated by it: whoever has the public key can make such a file.

use std::io::{Read, Write};

use keywright_pkcs11::Hash;
use keywright_primitives::aead::Aes256Gcm;
use keywright_secret::{Secret, SecretBytes};
use serde::Serialize;

use crate::desk::{Desk, hash_name};
use crate::error::Error;
use crate::oaep;
use crate::piece::{PIECE, fill};
use crate::sealing::{Ahead, Place, header_binding, piece_aad};
use crate::selection::KeyChoice;

const MAGIC: [u8; 4] = *b"KWHE";
const VERSION: u8 = 1;
const TAG: usize = 16;
const FIXED: usize = 4 + 1 + 1 + 4 + 2;

/// The hashes by their numbers in a header, from 1. It only grows.
const HASHES: [Hash; 9] = [
    Hash::Sha256,
    Hash::Sha1,
    Hash::Sha224,
    Hash::Sha384,
    Hash::Sha512,
    Hash::Sha3_224,
    Hash::Sha3_256,
    Hash::Sha3_384,
    Hash::Sha3_512,
];

fn number_of(hash: Hash) -> Result<u8, Error> {
    (1..)
        .zip(HASHES)
        .find_map(|(number, known)| (known == hash).then_some(number))
        .ok_or_else(|| Error::Value("an envelope has no number for this hash".to_owned()))
}

fn hash_of(number: u8) -> Option<Hash> {
    let index = usize::from(number).checked_sub(1)?;
    HASHES.get(index).copied()
}

/// What came of it.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct HybridReport {
    pub operation: &'static str,
    pub key_label: String,
    pub mechanism: &'static str,
    pub container: &'static str,
    pub hash: &'static str,
    pub aad_bytes: usize,
    pub input_bytes: u64,
    pub output_bytes: u64,
}

impl HybridReport {
    fn new(operation: &'static str, label: String, hash: Hash, aad: &[u8]) -> Self {
        Self {
            operation,
            key_label: label,
            mechanism: "CKM_RSA_PKCS_OAEP",
            container: "keywright-envelope",
            hash: hash_name(hash),
            aad_bytes: aad.len(),
            input_bytes: 0,
            output_bytes: 0,
        }
    }
}

struct Header {
    hash: Hash,
    piece: usize,
    wrapped: Vec<u8>,
}

impl Header {
    fn bytes(&self) -> Result<Vec<u8>, Error> {
        let long = |_| Error::Unusable("it wraps a key into more than 65535 bytes".to_owned());
        let length = u16::try_from(self.wrapped.len()).map_err(long)?;
        let piece = u32::try_from(self.piece).unwrap_or(0);
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&[VERSION, number_of(self.hash)?]);
        out.extend_from_slice(&piece.to_be_bytes());
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(&self.wrapped);
        Ok(out)
    }

    /// Reads a header from the front of an input. `None` if it is none, or of another version.
    fn read(input: &mut dyn Read) -> Result<Option<Self>, Error> {
        let mut fixed = [0; FIXED];
        if fill(input, &mut fixed)? != FIXED {
            return Ok(None);
        }
        let [m0, m1, m2, m3, version, hash, p0, p1, p2, p3, l0, l1] = fixed;
        let Some(hash) = hash_of(hash) else {
            return Ok(None);
        };
        let piece = usize::try_from(u32::from_be_bytes([p0, p1, p2, p3])).unwrap_or(0);
        let mut wrapped = vec![0; usize::from(u16::from_be_bytes([l0, l1]))];
        let whole = fill(input, &mut wrapped)? == wrapped.len();
        let known = [m0, m1, m2, m3] == MAGIC && version == VERSION;
        let fits = (1024..=1 << 20).contains(&piece);
        Ok((known && whole && fits).then_some(Self {
            hash,
            piece,
            wrapped,
        }))
    }
}

/// The key of one file is used for nothing else, so that a counter never repeats under it.
fn nonce(number: u64) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[4..].copy_from_slice(&number.to_be_bytes());
    nonce
}

fn cipher(key: &SecretBytes) -> Result<Aes256Gcm, Error> {
    let key = Secret::<32>::copy_from(key.expose()).ok_or(Error::Rejected { failure: None })?;
    Aes256Gcm::new(key.expose()).map_err(|_| Error::Random)
}

/// Encrypts an input of any size with an RSA public key.
///
/// # Errors
/// [`Error::NoKey`]; what the token refuses.
pub fn seal(
    desk: &Desk,
    choice: &KeyChoice<'_>,
    (hash, aad): (Option<Hash>, &[u8]),
    input: &mut dyn Read,
    output: &mut dyn Write,
) -> Result<HybridReport, Error> {
    let mut random =
        keywright_primitives::random::RandomStream::new().map_err(|_| Error::Random)?;
    let mut fresh: [u8; 32] = random.array().map_err(|_| Error::Random)?;
    let key = SecretBytes::from_vec(fresh.to_vec());
    keywright_secret::wipe(&mut fresh);
    let (wrapped, hash, label) = oaep::wrap(desk, choice, hash, &key)?;
    let header = Header {
        hash,
        piece: PIECE,
        wrapped,
    };
    let cipher = cipher(&key)?;
    let mut report = HybridReport::new("encrypt", label, hash, aad);
    let front = header.bytes()?;
    output.write_all(&front).map_err(Error::Output)?;
    report.output_bytes = front.len() as u64;
    let binding = header_binding(&header.bytes()?, aad);
    let mut ahead = Ahead::new(input, PIECE)?;
    let mut piece = SecretBytes::zeroed(PIECE);
    for number in 0.. {
        let (length, place) = ahead.take(&mut piece)?;
        let aad = piece_aad(&binding, number, place);
        let text = piece.expose_mut().get_mut(..length).unwrap_or_default();
        let tag = cipher.seal(&nonce(number), &aad, text);
        let tag = tag.map_err(|_| Error::InputTooLong { limit: PIECE })?;
        output.write_all(text).map_err(Error::Output)?;
        output.write_all(&tag).map_err(Error::Output)?;
        report.input_bytes += length as u64;
        report.output_bytes += (length + TAG) as u64;
        if place == Place::Last {
            break;
        }
    }
    Ok(report)
}

/// Decrypts what [`seal`] made. Every piece is checked before it is given out; whoever gives the writer keeps
/// nothing of it if this fails.
///
/// # Errors
/// [`Error::Rejected`] if it is damaged, incomplete, for another key or with other additional data, whichever it
/// is; what the token refuses before it looks at it.
pub fn open(
    desk: &Desk,
    choice: &KeyChoice<'_>,
    aad: &[u8],
    input: &mut dyn Read,
    output: &mut dyn Write,
) -> Result<HybridReport, Error> {
    let header = Header::read(input)?.ok_or(Error::Rejected { failure: None })?;
    let (key, label) = oaep::unwrap(desk, choice, header.hash, &header.wrapped)?;
    let cipher = cipher(&key)?;
    let mut report = HybridReport::new("decrypt", label, header.hash, aad);
    report.input_bytes = header.bytes()?.len() as u64;
    let binding = header_binding(&header.bytes()?, aad);
    let room = header.piece + TAG;
    let mut ahead = Ahead::new(input, room)?;
    let mut piece = SecretBytes::zeroed(room);
    for number in 0.. {
        let (length, place) = ahead.take(&mut piece)?;
        let aad = piece_aad(&binding, number, place);
        let sealed = piece.expose_mut().get_mut(..length).unwrap_or_default();
        let parts = sealed.split_last_chunk_mut::<TAG>();
        let (text, tag) = parts.ok_or(Error::Rejected { failure: None })?;
        let opened = cipher.open(&nonce(number), &aad, text, tag);
        opened.map_err(|_| Error::Rejected { failure: None })?;
        output.write_all(text).map_err(Error::Output)?;
        report.input_bytes += length as u64;
        report.output_bytes += text.len() as u64;
        if place == Place::Last {
            break;
        }
    }
    Ok(report)
}

/// Reads a header as [`open`] does and writes it again. The body of the fuzz target.
///
/// # Panics
/// If what is written is not what was read.
#[doc(hidden)]
pub fn fuzz_header(data: &[u8]) {
    let mut input = data;
    if let Ok(Some(header)) = Header::read(&mut input) {
        let length = data.len() - input.len();
        assert_eq!(header.bytes().ok().as_deref(), data.get(..length));
    }
}

#[cfg(test)]
mod tests {
    use keywright_encoding::hex;

    use super::*;

    #[test]
    fn the_worked_file_of_the_formats_page_is_what_is_made_here() {
        let header = Header {
            hash: Hash::Sha256,
            piece: 1024,
            wrapped: vec![0x33; 4],
        };
        let header = header.bytes().unwrap();
        let aad = piece_aad(&header_binding(&header, b"row 7"), 0, Place::Last);
        let mut text = *b"hello";
        let cipher = cipher(&SecretBytes::from_vec(vec![0x77; 32])).unwrap();
        let tag = cipher.seal(&nonce(0), &aad, &mut text).unwrap();
        let page = include_str!("../../../../docs/formats.md");
        for (name, bytes) in [
            ("header      ", &header[..]),
            ("aad         ", &aad),
            ("piece       ", &[&text[..], &tag].concat()),
        ] {
            let line = format!("\n{name} = {}\n", hex::encode(bytes));
            assert!(page.contains(&line), "{line}");
        }
        let mut sealed = *b"hello";
        let other = piece_aad(&header_binding(&header, b"row 7"), 0, Place::Within);
        assert_ne!(cipher.seal(&nonce(0), &other, &mut sealed).unwrap(), tag);
    }
}
