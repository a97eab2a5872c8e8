//! How far a run is: one record for each block that stands in the output.
//!
//! ```text
//! header = "KWJ1" + fingerprint of the plan (32) + bytes of the input (u64) + columns (u32) + MAC (32)
//! record = where input, output and rejects end (u64 each), rows, lines, rejected rows (u64 each),
//!          four counts of each column (u64 each), BLAKE3 of the block in each of the three files (32 each),
//!          MAC (32)
//! MAC    = HMAC-SHA-256(journal key, MAC before it + what stands before this MAC)
//! ```
//!
//! Digests are by block, so that threads make them. A record that is cut short, or whose MAC does not fit, ends
//! the journal: the run goes on behind the record before it. So does one whose output is not on the disk, which
//! is why nothing needs to be synced while the run is under way.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};

use keywright_encoding::Reader;
use keywright_primitives::mac::{Mac, MacKey};
use keywright_secret::ct_eq;

use crate::step::Counts;

const MAGIC: &[u8; 4] = b"KWJ1";
const HEADER: usize = 4 + 32 + 8 + 4 + 32;

/// How far a run is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) rejects: u64,
    pub(crate) rows: u64,
    /// Line ends before the input's position.
    pub(crate) lines: u64,
    pub(crate) rejected: u64,
    pub(crate) counts: Vec<Counts>,
}

/// What a block is in each of the three files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Digests {
    pub(crate) input: [u8; 32],
    pub(crate) output: [u8; 32],
    pub(crate) rejects: [u8; 32],
}

/// The file, at its end.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    key: MacKey,
    last: Mac,
    columns: usize,
    record: Vec<u8>,
}

/// What a journal must be about to be gone on with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About<'a> {
    pub(crate) key: &'a [u8; 32],
    pub(crate) fingerprint: &'a [u8; 32],
    pub(crate) size: u64,
    pub(crate) columns: usize,
}

/// What is in the file.
#[derive(Debug)]
pub(crate) enum Found {
    /// Nothing yet: a header was written.
    New(Journal),
    /// This run, at its first record.
    Begun(Journal),
    /// Another run.
    Other,
}

impl Journal {
    /// Reads the header, or writes it into an empty file. A header that was cut short is none.
    pub(crate) fn open(mut file: File, about: &About<'_>) -> io::Result<Found> {
        let key = MacKey::new(about.key);
        let columns = u32::try_from(about.columns).unwrap_or(u32::MAX);
        let mut text = Vec::with_capacity(HEADER);
        text.extend_from_slice(MAGIC);
        text.extend_from_slice(about.fingerprint);
        text.extend_from_slice(&about.size.to_be_bytes());
        text.extend_from_slice(&columns.to_be_bytes());
        let last = key.mac(&text);
        text.extend_from_slice(&last);
        let mut there = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        (&file).take(HEADER as u64).read_to_end(&mut there)?;
        let journal = |file| Self {
            file,
            key,
            last,
            columns: about.columns,
            record: Vec::new(),
        };
        if there.len() < HEADER {
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&text)?;
            return Ok(Found::New(journal(file)));
        }
        Ok(if ct_eq(&there, &text) {
            Found::Begun(journal(file))
        } else {
            Found::Other
        })
    }

    /// Whether there is a header alone.
    pub(crate) fn is_blank(&self) -> io::Result<bool> {
        Ok(self.file.metadata()?.len() <= HEADER as u64)
    }

    const fn record_len(&self) -> usize {
        8 * (6 + 4 * self.columns) + 3 * 32 + 32
    }

    /// The next record, or nothing at the end of what can be believed.
    pub(crate) fn next(&mut self) -> io::Result<Option<(Position, Digests)>> {
        let length = self.record_len();
        let mut record = Vec::with_capacity(length);
        (&self.file).take(length as u64).read_to_end(&mut record)?;
        let Some((text, mac)) = record.split_last_chunk::<32>() else {
            return Ok(None);
        };
        let expected = self.key.mac_pieces(&[&self.last, text]);
        if record.len() < length || !ct_eq(&expected, mac) {
            return Ok(None);
        }
        self.last = expected;
        Ok(self.parse(text))
    }

    fn parse(&self, text: &[u8]) -> Option<(Position, Digests)> {
        let mut reader = Reader::new(text);
        let mut position = Position {
            input: reader.u64().ok()?,
            output: reader.u64().ok()?,
            rejects: reader.u64().ok()?,
            rows: reader.u64().ok()?,
            lines: reader.u64().ok()?,
            rejected: reader.u64().ok()?,
            counts: Vec::with_capacity(self.columns),
        };
        for _ in 0..self.columns {
            position.counts.push(Counts {
                changed: reader.u64().ok()?,
                empty: reader.u64().ok()?,
                nulled: reader.u64().ok()?,
                rejected: reader.u64().ok()?,
            });
        }
        let digests = Digests {
            input: *reader.array().ok()?,
            output: *reader.array().ok()?,
            rejects: *reader.array().ok()?,
        };
        Some((position, digests))
    }

    /// Forgets everything behind so many records, and goes on there. `last` is the MAC of the last of them.
    pub(crate) fn cut(&mut self, records: u64, last: Mac) -> io::Result<()> {
        let length = HEADER as u64 + records * self.record_len() as u64;
        self.file.set_len(length)?;
        self.file.seek(SeekFrom::Start(length))?;
        self.last = last;
        Ok(())
    }

    /// The MAC of the record that was read or written last.
    pub(crate) const fn last(&self) -> Mac {
        self.last
    }

    /// Writes a record.
    pub(crate) fn append(&mut self, position: &Position, digests: &Digests) -> io::Result<()> {
        self.record.clear();
        let numbers = [
            position.input,
            position.output,
            position.rejects,
            position.rows,
            position.lines,
            position.rejected,
        ];
        let counts = position
            .counts
            .iter()
            .flat_map(|counts| [counts.changed, counts.empty, counts.nulled, counts.rejected]);
        for number in numbers.into_iter().chain(counts) {
            self.record.extend_from_slice(&number.to_be_bytes());
        }
        for digest in [&digests.input, &digests.output, &digests.rejects] {
            self.record.extend_from_slice(digest);
        }
        self.last = self.key.mac_pieces(&[&self.last, &self.record]);
        self.record.extend_from_slice(&self.last);
        self.file.write_all(&self.record)
    }
}
