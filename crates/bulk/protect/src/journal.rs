//! How far a run is: one record for each block that stands in the output.
//!
//! ```text
//! header = "KWJ3" + fingerprint of the plan (32) + bytes of the input (u64) + columns (u32) + MAC (32)
//! record = where input, output and rejects end (u64 each), rows, lines, rejected rows (u64 each),
//!          four counts of each column (u64 each), the checksum of the block in each of the three files (16 each),
//!          lp(note), MAC (32)
//! MAC    = HMAC-SHA-256(journal key, MAC before it + what stands before this MAC)
//! ```
//!
//! A note is what a table of another kind needs to know of a block that it has written; CSV needs nothing.
//! Checksums are by block, so that threads make them. A record that is cut short, or whose MAC does not fit, ends
//! the journal: the run goes on behind the record before it. So does one whose output is not on the disk, which
//! is why nothing needs to be synced while the run is under way.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};

use keywright_encoding::Reader;
use keywright_primitives::mac::{Mac, MacKey};
use keywright_secret::ct_eq;

use crate::checksum::Checksum;
use crate::step::Counts;

const MAGIC: &[u8; 4] = b"KWJ3";
const HEADER: usize = 4 + 32 + 8 + 4 + 32;

/// Bytes of the longest note that is read.
const LONGEST_NOTE: usize = 256 << 20;

/// How far a run is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Position {
    /// Bytes of the input that are done.
    pub input: u64,
    /// Bytes of the output that are written.
    pub output: u64,
    /// Bytes of the second file that are written.
    pub rejects: u64,
    /// Rows that are done.
    pub rows: u64,
    /// Lines before the input's position; 0 where tables have no lines.
    pub lines: u64,
    /// Rows that went to the second file.
    pub rejected: u64,
    /// What became of the cells, by the columns of the plan.
    pub counts: Vec<Counts>,
}

/// What a block is in each of the three files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "there are three files")]
pub struct Checksums {
    /// The input.
    pub input: Checksum,
    /// The output.
    pub output: Checksum,
    /// The second file; of nothing, where there is none.
    pub rejects: Checksum,
}

/// What a record says.
pub(crate) type Record = (Position, Checksums, Vec<u8>);

/// The file, at its end.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    key: MacKey,
    last: Mac,
    /// Where the record behind `last` begins.
    end: u64,
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
            end: HEADER as u64,
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

    /// Bytes of a record in front of its note, the length of that included.
    const fn fixed_len(&self) -> usize {
        8 * (6 + 4 * self.columns) + 3 * Checksum::LENGTH + 4
    }

    /// The next record, or nothing at the end of what can be believed.
    pub(crate) fn next(&mut self) -> io::Result<Option<Record>> {
        let mut text = Vec::new();
        self.read(self.fixed_len(), &mut text)?;
        let Some(length) = text
            .last_chunk::<4>()
            .map(|length| u32::from_be_bytes(*length))
        else {
            return Ok(None);
        };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if text.len() < self.fixed_len() || length > LONGEST_NOTE {
            return Ok(None);
        }
        let whole = text.len() + length + 32;
        self.read(length + 32, &mut text)?;
        let Some((text, mac)) = text.split_last_chunk::<32>() else {
            return Ok(None);
        };
        let expected = self.key.mac_pieces(&[&self.last, text]);
        if text.len() + 32 < whole || !ct_eq(&expected, mac) {
            return Ok(None);
        }
        self.last = expected;
        self.end += whole as u64;
        Ok(self.parse(text))
    }

    fn read(&self, count: usize, out: &mut Vec<u8>) -> io::Result<()> {
        (&self.file).take(count as u64).read_to_end(out).map(drop)
    }

    fn parse(&self, text: &[u8]) -> Option<Record> {
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
        let mut checksum = || reader.array().ok().copied().map(Checksum::from_bytes);
        let checksums = Checksums {
            input: checksum()?,
            output: checksum()?,
            rejects: checksum()?,
        };
        let note = text.get(self.fixed_len()..).unwrap_or_default();
        Some((position, checksums, note.to_vec()))
    }

    /// Forgets everything behind a place, and goes on there.
    pub(crate) fn cut(&mut self, (end, last): (u64, Mac)) -> io::Result<()> {
        self.file.set_len(end)?;
        self.file.seek(SeekFrom::Start(end))?;
        (self.end, self.last) = (end, last);
        Ok(())
    }

    /// Behind the record that was read or written last, and its MAC.
    pub(crate) const fn place(&self) -> (u64, Mac) {
        (self.end, self.last)
    }

    /// Writes a record.
    pub(crate) fn append(
        &mut self,
        position: &Position,
        checksums: &Checksums,
        note: &[u8],
    ) -> io::Result<()> {
        let length = u32::try_from(note.len()).unwrap_or(u32::MAX);
        if note.len() > LONGEST_NOTE {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
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
        for checksum in [&checksums.input, &checksums.output, &checksums.rejects] {
            self.record.extend_from_slice(checksum.as_bytes());
        }
        self.record.extend_from_slice(&length.to_be_bytes());
        self.record.extend_from_slice(note);
        self.last = self.key.mac_pieces(&[&self.last, &self.record]);
        self.record.extend_from_slice(&self.last);
        self.end += self.record.len() as u64;
        self.file.write_all(&self.record)
    }
}
