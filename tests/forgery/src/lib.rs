//! A file of an audit log, continued as anybody can who can write it: chained as it should be, without any key.
//!
//! Byte by byte after `docs/formats.md`, and without the crate that writes logs.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "what tests share may fail as tests do")]

use std::fs;
use std::path::{Path, PathBuf};

use keywright_primitives::hash::sha256;
use keywright_primitives::mac::MacKey;

/// Bytes of a check frame.
pub const CHECK_LEN: usize = 44;
/// What a record has before its fields.
const FIXED_LEN: usize = 138;

/// A file that is being forged.
#[derive(Debug)]
#[non_exhaustive]
pub struct ForgedFile {
    /// The file.
    pub path: PathBuf,
    /// What is going to stand in it.
    pub bytes: Vec<u8>,
    /// The link of its last record.
    pub link: [u8; 32],
    /// The number of its last record.
    pub sequence: u64,
}

impl ForgedFile {
    /// A file of which nothing is there yet, whose link 0 is made of these origins.
    #[must_use]
    pub fn new(path: &Path, origin: &[&[u8]]) -> Self {
        Self {
            path: path.to_owned(),
            bytes: Vec::new(),
            link: link_0(origin),
            sequence: 0,
        }
    }

    /// A whole file; what stands behind its last whole frame is left out.
    ///
    /// # Panics
    /// If it does not fit its own chain.
    #[must_use]
    pub fn read(path: &Path) -> Self {
        let bytes = fs::read(path).unwrap();
        let mut file = Self::new(path, &[]);
        for frame in frames(&bytes) {
            file.bytes.extend_from_slice(frame);
            if is_check(frame) {
                continue;
            }
            let (framed, cut) = frame.split_at(frame.len() - 8);
            if file.sequence == 0 {
                file.link = link_0(&origin_of(&framed[4..]));
            }
            file.link = sha256(&[&file.link, framed].concat());
            file.sequence += 1;
            assert_eq!(cut, &file.link[..8], "record {}", file.sequence);
        }
        file
    }

    /// Adds the record with this body, into which the next sequence number is put.
    ///
    /// # Panics
    /// If the body is shorter than any record.
    pub fn append(&mut self, body: &[u8]) {
        self.sequence += 1;
        let mut framed = u32::try_from(body.len()).unwrap().to_be_bytes().to_vec();
        framed.extend_from_slice(body);
        framed[6..14].copy_from_slice(&self.sequence.to_be_bytes());
        self.link = sha256(&[&self.link[..], &framed].concat());
        self.bytes.extend_from_slice(&framed);
        self.bytes.extend_from_slice(&self.link[..8]);
    }

    /// Adds a check frame under some key, or under a guess.
    pub fn check(&mut self, key: &[u8; 32]) {
        self.put_check(&MacKey::new(key).mac(&self.link));
    }

    /// Adds a check frame with this MAC.
    pub fn put_check(&mut self, mac: &[u8]) {
        let framed = [&[0; 4][..], mac].concat();
        let cut = sha256(&[&self.link[..], &framed].concat());
        self.bytes.extend_from_slice(&framed);
        self.bytes.extend_from_slice(&cut[..8]);
    }

    /// Writes the file.
    ///
    /// # Panics
    /// If that fails.
    pub fn write(&self) {
        fs::write(&self.path, &self.bytes).unwrap();
    }
}

/// The whole frames of a file: records and check frames.
#[must_use]
pub fn frames(bytes: &[u8]) -> Vec<&[u8]> {
    let (mut found, mut rest) = (Vec::new(), bytes);
    while let Some(length) = rest.first_chunk::<4>() {
        let whole = match u32::from_be_bytes(*length) as usize {
            0 => CHECK_LEN,
            length => length + 12,
        };
        let Some((frame, behind)) = rest.split_at_checked(whole) else {
            break;
        };
        found.push(frame);
        rest = behind;
    }
    found
}

/// Whether a frame is a check frame.
#[must_use]
pub fn is_check(frame: &[u8]) -> bool {
    frame.starts_with(&[0; 4])
}

/// What a file's first record says that link 0 is made of.
fn origin_of(body: &[u8]) -> Vec<&[u8]> {
    let (mut origin, mut fields) = (Vec::new(), &body[FIXED_LEN..]);
    while let Some((head, rest)) = fields.split_at_checked(6) {
        let length = u32::from_be_bytes(*head.last_chunk().unwrap()) as usize;
        let (value, behind) = rest.split_at(length);
        if origin.len() < 5 {
            origin.push(value);
        }
        fields = behind;
    }
    origin
}

fn link_0(origin: &[&[u8]]) -> [u8; 32] {
    sha256(&[&b"keywright/audit/v1"[..], &origin.concat()].concat())
}
