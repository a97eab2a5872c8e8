//! `encrypt-symmetric`, `decrypt-symmetric`.
//!
//! The container, all numbers big-endian:
//!
//! ```text
//! header  "KWHS" | version 1 | algorithm u8 | piece length u32 | file id [16] | u8 length, key id
//! pieces  nonce [12] | ciphertext | tag [16], each of piece length but the last, which may be shorter or empty
//! ```
//!
//! The algorithm is 1 AES-GCM or 2 AES-CCM. Each piece is sealed under a random nonce of its own, with
//! SHA-256(header | u64 length, additional data) | u64 number | u8 1 for the last and 0 else as its additional data. So
//! pieces cannot be exchanged, dropped or taken from another file, the end cannot be cut off, and a piece is checked
//! before anything of it is given out. A token holds no more than one piece at a time.
//!
//! The other form is that of older tools, nonce | ciphertext | tag in one piece, in memory as a whole.

use std::io::{Read, Write};

use keywright_encoding::hex;
use keywright_pkcs11::{Ability, Mechanism, ObjectHandle};
use keywright_pkcs11_names::ObjectClass;
use keywright_primitives::hash::Sha256;
use keywright_primitives::random::RandomStream;
use keywright_secret::{SecretBytes, wipe_vec};
use serde::Serialize;

use crate::desk::Desk;
use crate::error::{Error, rejected};
use crate::piece::{PIECE, WHOLE, fill, whole};
use crate::selection::KeyChoice;

const MAGIC: [u8; 4] = *b"KWHS";
const VERSION: u8 = 1;
const NONCE: usize = 12;
const TAG: usize = 16;
/// No header is longer: the key id has a length of one byte.
const FIXED: usize = 4 + 1 + 1 + 4 + 16 + 1;

/// What seals a piece, in the token. Both take a nonce of 12 bytes and make a tag of 16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever names one must face each")]
pub enum Cipher {
    /// AES-GCM.
    #[default]
    AesGcm,
    /// AES-CCM.
    AesCcm,
}

/// A nonce of 12 bytes leaves 3 for the length of what CCM seals (NIST SP 800-38C, A.1).
const LONGEST_CCM: usize = (1 << 24) - 1;

impl Cipher {
    const ALL: [Self; 2] = [Self::AesGcm, Self::AesCcm];

    /// Its number in a header. It only grows.
    const fn number(self) -> u8 {
        match self {
            Self::AesGcm => 1,
            Self::AesCcm => 2,
        }
    }

    fn of_number(number: u8) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|cipher| cipher.number() == number)
    }

    const fn mechanism_name(self) -> &'static str {
        match self {
            Self::AesGcm => "CKM_AES_GCM",
            Self::AesCcm => "CKM_AES_CCM",
        }
    }

    const fn mechanism<'a>(self, nonce: &'a [u8], aad: &'a [u8], data_len: usize) -> Mechanism<'a> {
        match self {
            Self::AesGcm => Mechanism::AesGcm { nonce, aad },
            Self::AesCcm => Mechanism::AesCcm {
                nonce,
                aad,
                data_len,
            },
        }
    }
}

/// How an input is sealed.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "what a ciphertext depends on beside its key"
)]
pub struct Sealing<'a> {
    /// How it is laid out.
    pub layout: Layout,
    /// What seals it; AES-GCM if there is none. A container says it itself and is opened without one.
    pub cipher: Option<Cipher>,
    /// Additional data.
    pub aad: &'a [u8],
}

/// How a ciphertext is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever names one must face each")]
pub enum Layout {
    /// The container.
    Container,
    /// Nonce, ciphertext, tag; no additional data, nothing about the key.
    Bare,
}

/// What came of it.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct SealReport {
    pub operation: &'static str,
    pub key_label: String,
    pub mechanism: &'static str,
    pub container: &'static str,
    pub aad_bytes: usize,
    pub input_bytes: u64,
    pub output_bytes: u64,
    /// The id that the container names, in hexadecimal.
    pub key_id: Option<String>,
}

impl SealReport {
    fn new(operation: &'static str, label: String, how: Sealing<'_>, cipher: Cipher) -> Self {
        Self {
            operation,
            key_label: label,
            mechanism: cipher.mechanism_name(),
            container: match how.layout {
                Layout::Container => "keywright",
                Layout::Bare => "iv-ct-tag",
            },
            aad_bytes: how.aad.len(),
            input_bytes: 0,
            output_bytes: 0,
            key_id: None,
        }
    }
}

struct Header {
    cipher: Cipher,
    piece: usize,
    file: [u8; 16],
    key_id: Vec<u8>,
}

impl Header {
    fn bytes(&self) -> Result<Vec<u8>, Error> {
        let id = u8::try_from(self.key_id.len())
            .map_err(|_| Error::Unusable("its id has more than 255 bytes".to_owned()))?;
        let piece = u32::try_from(self.piece).unwrap_or(0);
        let mut out = Vec::with_capacity(FIXED + self.key_id.len());
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&[VERSION, self.cipher.number()]);
        out.extend_from_slice(&piece.to_be_bytes());
        out.extend_from_slice(&self.file);
        out.push(id);
        out.extend_from_slice(&self.key_id);
        Ok(out)
    }

    /// Reads a header from the front of an input. `None` if it is none, or of another version.
    fn read(input: &mut dyn Read) -> Result<Option<Self>, Error> {
        let mut fixed = [0; FIXED];
        if fill(input, &mut fixed)? != FIXED {
            return Ok(None);
        }
        let [
            m0,
            m1,
            m2,
            m3,
            version,
            algorithm,
            p0,
            p1,
            p2,
            p3,
            file @ ..,
            id,
        ] = fixed;
        let piece = usize::try_from(u32::from_be_bytes([p0, p1, p2, p3])).unwrap_or(0);
        let Some(cipher) = Cipher::of_number(algorithm) else {
            return Ok(None);
        };
        let known = [m0, m1, m2, m3] == MAGIC && version == VERSION;
        let mut key_id = vec![0; usize::from(id)];
        let whole = fill(input, &mut key_id)? == key_id.len();
        // Smaller pieces would be all overhead, larger ones are more than is kept in memory.
        let fits = (1024..=1 << 20).contains(&piece);
        Ok((known && whole && fits).then_some(Self {
            cipher,
            piece,
            file,
            key_id,
        }))
    }
}

/// Where a piece stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Last,
    Within,
}

/// What binds every piece to the header of its file and the additional data.
pub(crate) fn header_binding(header: &[u8], aad: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(header);
    hash.update(&(aad.len() as u64).to_be_bytes());
    hash.update(aad);
    hash.finish()
}

pub(crate) fn piece_aad(binding: &[u8; 32], number: u64, place: Place) -> [u8; 41] {
    let mut aad = [0; 41];
    aad[..32].copy_from_slice(binding);
    aad[32..40].copy_from_slice(&number.to_be_bytes());
    aad[40] = u8::from(place == Place::Last);
    aad
}

fn random<const N: usize>(stream: &mut RandomStream) -> Result<[u8; N], Error> {
    stream.array().map_err(|_| Error::Random)
}

/// Pieces of an input, each with whether it is the last: the next one is read before one is given out.
pub(crate) struct Ahead<'r> {
    input: &'r mut dyn Read,
    next: SecretBytes,
    filled: usize,
}

impl<'r> Ahead<'r> {
    pub(crate) fn new(input: &'r mut dyn Read, length: usize) -> Result<Self, Error> {
        let mut next = SecretBytes::zeroed(length);
        let filled = fill(input, next.expose_mut())?;
        Ok(Self {
            input,
            next,
            filled,
        })
    }

    /// Moves the next piece into `piece`.
    pub(crate) fn take(&mut self, piece: &mut SecretBytes) -> Result<(usize, Place), Error> {
        std::mem::swap(piece, &mut self.next);
        let length = self.filled;
        if length < piece.len() {
            self.filled = 0;
            return Ok((length, Place::Last));
        }
        self.filled = fill(self.input, self.next.expose_mut())?;
        let place = if self.filled == 0 {
            Place::Last
        } else {
            Place::Within
        };
        Ok((length, place))
    }
}

/// Encrypts an input with an AES key.
///
/// # Errors
/// [`Error::NoKey`]; [`Error::Value`] for additional data in the bare form; what the token refuses.
pub fn seal(
    desk: &Desk,
    choice: &KeyChoice<'_>,
    how: Sealing<'_>,
    input: &mut dyn Read,
    output: &mut dyn Write,
) -> Result<SealReport, Error> {
    let cipher = how.cipher.unwrap_or_default();
    let key = named(desk, choice, how)?;
    able(desk, cipher, Ability::Encrypt)?;
    let with = (desk, key, cipher);
    let candidate = desk.session.candidate(key)?;
    let label = candidate.label.unwrap_or_default();
    let mut report = SealReport::new("encrypt-symmetric", label, how, cipher);
    let mut stream = RandomStream::new().map_err(|_| Error::Random)?;
    if how.layout == Layout::Bare {
        let plain = whole(input, longest(cipher))?;
        let out = seal_piece(with, &mut stream, plain.expose(), &[])?;
        output.write_all(&out).map_err(Error::Output)?;
        (report.input_bytes, report.output_bytes) = (plain.len() as u64, out.len() as u64);
        return Ok(report);
    }
    let header = Header {
        cipher,
        piece: PIECE,
        file: random(&mut stream)?,
        key_id: candidate.id.unwrap_or_default(),
    };
    report.key_id = Some(hex::encode(&header.key_id));
    let front = header.bytes()?;
    output.write_all(&front).map_err(Error::Output)?;
    report.output_bytes = front.len() as u64;
    let binding = header_binding(&front, how.aad);
    let mut ahead = Ahead::new(input, PIECE)?;
    let mut piece = SecretBytes::zeroed(PIECE);
    for number in 0.. {
        let (length, place) = ahead.take(&mut piece)?;
        let aad = piece_aad(&binding, number, place);
        let plain = piece.expose().get(..length).unwrap_or_default();
        let sealed = seal_piece(with, &mut stream, plain, &aad)?;
        output.write_all(&sealed).map_err(Error::Output)?;
        report.input_bytes += length as u64;
        report.output_bytes += sealed.len() as u64;
        if place == Place::Last {
            break;
        }
    }
    Ok(report)
}

/// Most bytes of an input that is held as a whole.
fn longest(cipher: Cipher) -> usize {
    match cipher {
        Cipher::AesCcm => WHOLE.min(LONGEST_CCM),
        _ => WHOLE,
    }
}

fn seal_piece(
    (desk, key, cipher): (&Desk, ObjectHandle, Cipher),
    stream: &mut RandomStream,
    plain: &[u8],
    aad: &[u8],
) -> Result<Vec<u8>, Error> {
    let nonce: [u8; NONCE] = random(stream)?;
    let mechanism = cipher.mechanism(&nonce, aad, plain.len());
    let mut sealed = nonce.to_vec();
    desk.session.encrypt(&mechanism, key, plain, &mut sealed)?;
    Ok(sealed)
}

/// The key that is named.
fn named(desk: &Desk, choice: &KeyChoice<'_>, how: Sealing<'_>) -> Result<ObjectHandle, Error> {
    if how.layout == Layout::Bare && !how.aad.is_empty() {
        return Err(Error::Value(
            "the form iv-ct-tag has no additional data; use the container".to_owned(),
        ));
    }
    desk.find(choice, ObjectClass::SECRET_KEY)
}

/// That the token has the cipher.
fn able(desk: &Desk, cipher: Cipher, ability: Ability) -> Result<(), Error> {
    let mechanism = cipher.mechanism(&[], &[], 0);
    Ok(desk.session.token().require(&mechanism, ability)?)
}

/// Decrypts what [`seal`] made. Every piece is checked before it is given out; whoever gives the writer keeps
/// nothing of it if this fails.
///
/// # Errors
/// [`Error::Rejected`] if it is damaged, incomplete, of another key or with other additional data; [`Error::Value`] for a
/// cipher beside a container, which says its own; what the token refuses.
pub fn open(
    desk: &Desk,
    choice: &KeyChoice<'_>,
    how: Sealing<'_>,
    input: &mut dyn Read,
    output: &mut dyn Write,
) -> Result<SealReport, Error> {
    let key = named(desk, choice, how)?;
    let header = match (how.layout, how.cipher) {
        (Layout::Bare, _) => return open_bare(desk, key, how, (input, output)),
        (Layout::Container, Some(_)) => {
            return Err(Error::Value(
                "a container says itself which cipher it was made with".to_owned(),
            ));
        }
        (Layout::Container, None) => Header::read(input)?,
    };
    let header = header.ok_or(Error::Rejected { failure: None })?;
    able(desk, header.cipher, Ability::Decrypt)?;
    let label = desk.session.candidate(key)?.label.unwrap_or_default();
    let mut report = SealReport::new("decrypt-symmetric", label, how, header.cipher);
    report.key_id = Some(hex::encode(&header.key_id));
    let front = header.bytes()?;
    report.input_bytes = front.len() as u64;
    let binding = header_binding(&front, how.aad);
    let length = NONCE + header.piece + TAG;
    let mut ahead = Ahead::new(input, length)?;
    let mut piece = SecretBytes::zeroed(length);
    for number in 0.. {
        let (length, place) = ahead.take(&mut piece)?;
        let aad = piece_aad(&binding, number, place);
        let sealed = piece.expose().get(..length).unwrap_or_default();
        let plain = open_piece((desk, key, header.cipher), sealed, &aad)?;
        output.write_all(plain.expose()).map_err(Error::Output)?;
        report.input_bytes += length as u64;
        report.output_bytes += plain.len() as u64;
        if place == Place::Last {
            break;
        }
    }
    Ok(report)
}

fn open_bare(
    desk: &Desk,
    key: ObjectHandle,
    how: Sealing<'_>,
    (input, output): (&mut dyn Read, &mut dyn Write),
) -> Result<SealReport, Error> {
    let cipher = how.cipher.unwrap_or_default();
    able(desk, cipher, Ability::Decrypt)?;
    let label = desk.session.candidate(key)?.label.unwrap_or_default();
    let mut report = SealReport::new("decrypt-symmetric", label, how, cipher);
    let sealed = whole(input, WHOLE)?;
    let plain = open_piece((desk, key, cipher), sealed.expose(), &[])?;
    output.write_all(plain.expose()).map_err(Error::Output)?;
    (report.input_bytes, report.output_bytes) = (sealed.len() as u64, plain.len() as u64);
    Ok(report)
}

fn open_piece(
    (desk, key, cipher): (&Desk, ObjectHandle, Cipher),
    sealed: &[u8],
    aad: &[u8],
) -> Result<SecretBytes, Error> {
    let (nonce, rest) = sealed
        .split_at_checked(NONCE)
        .filter(|(_, rest)| rest.len() >= TAG)
        .ok_or(Error::Rejected { failure: None })?;
    let length = rest.len() - TAG;
    if cipher == Cipher::AesCcm && length > LONGEST_CCM {
        return Err(Error::Rejected { failure: None });
    }
    let mut plain = Vec::with_capacity(rest.len());
    let mechanism = cipher.mechanism(nonce, aad, length);
    match desk.session.decrypt(&mechanism, key, rest, &mut plain) {
        Ok(()) => Ok(SecretBytes::from_vec(plain)),
        Err(error) => {
            wipe_vec(&mut plain);
            Err(rejected(error, &desk.session))
        }
    }
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
    use super::*;

    #[test]
    fn the_ciphers_have_the_numbers_of_the_formats_page() {
        let page = include_str!("../../../../docs/formats.md");
        assert!(page.contains("algorithm u8 | piece length u32 | file id 16"));
        assert!(page.contains("The algorithm is 1 AES-GCM or 2 AES-CCM"));
        let numbers = Cipher::ALL.map(Cipher::number);
        assert_eq!(numbers, [1, 2]);
        for number in [0, 3, 255] {
            assert_eq!(Cipher::of_number(number), None);
        }
        for cipher in Cipher::ALL {
            let header = Header {
                cipher,
                piece: PIECE,
                file: [7; 16],
                key_id: vec![1, 2],
            };
            let bytes = header.bytes().unwrap();
            let read = Header::read(&mut bytes.as_slice()).unwrap().unwrap();
            assert_eq!(read.cipher, cipher);
            let mut unknown = bytes;
            unknown[5] = 3;
            let read = Header::read(&mut unknown.as_slice()).unwrap();
            assert!(read.is_none(), "an unknown number is none of ours");
        }
    }
}
