//! `encrypt-symmetric`, `decrypt-symmetric`.
//!
//! The container, all numbers big-endian:
//!
//! ```text
//! header  "KWHS" | version 1 | algorithm 1 (AES-GCM) | piece length u32 | file id [16] | u8 length, key id
//! pieces  nonce [12] | ciphertext | tag [16], each of piece length but the last, which may be shorter or empty
//! ```
//!
//! Each piece is sealed under a random nonce of its own, with SHA-256(header | u64 length, additional data)
//! | u64 number | u8 1 for the last and 0 else as its additional data. So pieces cannot be exchanged, dropped or
//! taken from another file, the end cannot be cut off, and a piece is checked before anything of it is given
//! out. A token holds no more than one piece at a time.
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
const AES_GCM: u8 = 1;
const NONCE: usize = 12;
const TAG: usize = 16;
/// No header is longer: the key id has a length of one byte.
const FIXED: usize = 4 + 1 + 1 + 4 + 16 + 1;

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
    fn new(operation: &'static str, label: String, layout: Layout, aad: &[u8]) -> Self {
        Self {
            operation,
            key_label: label,
            mechanism: "CKM_AES_GCM",
            container: match layout {
                Layout::Container => "keywright",
                Layout::Bare => "iv-ct-tag",
            },
            aad_bytes: aad.len(),
            input_bytes: 0,
            output_bytes: 0,
            key_id: None,
        }
    }
}

struct Header {
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
        out.extend_from_slice(&[VERSION, AES_GCM]);
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
        let known = [m0, m1, m2, m3] == MAGIC && version == VERSION && algorithm == AES_GCM;
        let mut key_id = vec![0; usize::from(id)];
        let whole = fill(input, &mut key_id)? == key_id.len();
        // Smaller pieces would be all overhead, larger ones are more than is kept in memory.
        let fits = (1024..=1 << 20).contains(&piece);
        Ok((known && whole && fits).then_some(Self {
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
    (layout, aad): (Layout, &[u8]),
    input: &mut dyn Read,
    output: &mut dyn Write,
) -> Result<SealReport, Error> {
    let key = ready(desk, choice, (layout, aad), Ability::Encrypt)?;
    let candidate = desk.session.candidate(key)?;
    let label = candidate.label.unwrap_or_default();
    let mut report = SealReport::new("encrypt-symmetric", label, layout, aad);
    let mut stream = RandomStream::new().map_err(|_| Error::Random)?;
    if layout == Layout::Bare {
        let plain = whole(input, WHOLE)?;
        let nonce: [u8; NONCE] = random(&mut stream)?;
        let mut out = nonce.to_vec();
        let mechanism = Mechanism::AesGcm {
            nonce: &nonce,
            aad: &[],
        };
        desk.session
            .encrypt(&mechanism, key, plain.expose(), &mut out)?;
        output.write_all(&out).map_err(Error::Output)?;
        (report.input_bytes, report.output_bytes) = (plain.len() as u64, out.len() as u64);
        return Ok(report);
    }
    let header = Header {
        piece: PIECE,
        file: random(&mut stream)?,
        key_id: candidate.id.unwrap_or_default(),
    };
    report.key_id = Some(hex::encode(&header.key_id));
    let front = header.bytes()?;
    output.write_all(&front).map_err(Error::Output)?;
    report.output_bytes = front.len() as u64;
    let binding = header_binding(&header.bytes()?, aad);
    let mut ahead = Ahead::new(input, PIECE)?;
    let mut piece = SecretBytes::zeroed(PIECE);
    for number in 0.. {
        let (length, place) = ahead.take(&mut piece)?;
        let nonce: [u8; NONCE] = random(&mut stream)?;
        let aad = piece_aad(&binding, number, place);
        let mechanism = Mechanism::AesGcm {
            nonce: &nonce,
            aad: &aad,
        };
        let mut sealed = nonce.to_vec();
        let plain = piece.expose().get(..length).unwrap_or_default();
        desk.session.encrypt(&mechanism, key, plain, &mut sealed)?;
        output.write_all(&sealed).map_err(Error::Output)?;
        report.input_bytes += length as u64;
        report.output_bytes += sealed.len() as u64;
        if place == Place::Last {
            break;
        }
    }
    Ok(report)
}

/// The key, if the token can do it at all.
fn ready(
    desk: &Desk,
    choice: &KeyChoice<'_>,
    (layout, aad): (Layout, &[u8]),
    ability: Ability,
) -> Result<ObjectHandle, Error> {
    if layout == Layout::Bare && !aad.is_empty() {
        return Err(Error::Value(
            "the form iv-ct-tag has no additional data; use the container".to_owned(),
        ));
    }
    let key = desk.find(choice, ObjectClass::SECRET_KEY)?;
    let mechanism = Mechanism::AesGcm {
        nonce: &[],
        aad: &[],
    };
    desk.session.token().require(&mechanism, ability)?;
    Ok(key)
}

/// Decrypts what [`seal`] made. Every piece is checked before it is given out; whoever gives the writer keeps
/// nothing of it if this fails.
///
/// # Errors
/// [`Error::Rejected`] if it is damaged, incomplete, of another key or with other additional data; what the
/// token refuses.
pub fn open(
    desk: &Desk,
    choice: &KeyChoice<'_>,
    (layout, aad): (Layout, &[u8]),
    input: &mut dyn Read,
    output: &mut dyn Write,
) -> Result<SealReport, Error> {
    let key = ready(desk, choice, (layout, aad), Ability::Decrypt)?;
    let label = desk.session.candidate(key)?.label.unwrap_or_default();
    let mut report = SealReport::new("decrypt-symmetric", label, layout, aad);
    if layout == Layout::Bare {
        let sealed = whole(input, WHOLE)?;
        let plain = open_piece(desk, key, sealed.expose(), &[])?;
        output.write_all(plain.expose()).map_err(Error::Output)?;
        (report.input_bytes, report.output_bytes) = (sealed.len() as u64, plain.len() as u64);
        return Ok(report);
    }
    let header = Header::read(input)?.ok_or(Error::Rejected { failure: None })?;
    report.key_id = Some(hex::encode(&header.key_id));
    report.input_bytes = header.bytes()?.len() as u64;
    let binding = header_binding(&header.bytes()?, aad);
    let length = NONCE + header.piece + TAG;
    let mut ahead = Ahead::new(input, length)?;
    let mut piece = SecretBytes::zeroed(length);
    for number in 0.. {
        let (length, place) = ahead.take(&mut piece)?;
        let aad = piece_aad(&binding, number, place);
        let sealed = piece.expose().get(..length).unwrap_or_default();
        let plain = open_piece(desk, key, sealed, &aad)?;
        output.write_all(plain.expose()).map_err(Error::Output)?;
        report.input_bytes += length as u64;
        report.output_bytes += plain.len() as u64;
        if place == Place::Last {
            break;
        }
    }
    Ok(report)
}

fn open_piece(
    desk: &Desk,
    key: ObjectHandle,
    sealed: &[u8],
    aad: &[u8],
) -> Result<SecretBytes, Error> {
    let (nonce, rest) = sealed
        .split_at_checked(NONCE)
        .filter(|(_, rest)| rest.len() >= TAG)
        .ok_or(Error::Rejected { failure: None })?;
    let mut plain = Vec::with_capacity(rest.len());
    let mechanism = Mechanism::AesGcm { nonce, aad };
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
