//! The input, gone through once from its beginning to its end: every byte goes into a checksum, on its way to the output
//! or past it.

use std::io::{self, BufReader, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use keywright_protect::{Checksum, Summing};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use crate::positional::Positional;

/// Bytes that are read at a time, few enough to stay in a core's cache until they are written.
const PIECE: usize = 256 << 10;

/// How far the input is gone through.
pub(crate) struct Walk {
    bytes: Positional,
    at: u64,
    summing: Summing,
    room: Vec<u8>,
}

impl Walk {
    /// From a place on.
    pub(crate) fn new(bytes: &Positional, at: u64) -> Self {
        Self {
            bytes: bytes.clone(),
            at,
            summing: Summing::default(),
            room: Vec::new(),
        }
    }

    /// Goes to a place, past what stands before it. Not back.
    pub(crate) fn pass(&mut self, to: u64) -> io::Result<()> {
        self.go(to, |_| Ok(()))
    }

    /// Goes to a place, and past what was read there already.
    pub(crate) fn pass_seen(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.pass(at)?;
        if self.at == at {
            self.summing.update(bytes);
            self.at += bytes.len() as u64;
        }
        Ok(())
    }

    /// Goes to a place, and writes what stands before it.
    pub(crate) fn copy(&mut self, to: u64, out: &mut impl Write) -> io::Result<()> {
        self.go(to, |piece| out.write_all(piece))
    }

    fn go(&mut self, to: u64, mut give: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        self.room.resize(PIECE, 0);
        let mut reader = self.bytes.from(self.at);
        while self.at < to {
            let left = usize::try_from(to - self.at).unwrap_or(PIECE);
            let room = self.room.get_mut(..left.min(PIECE)).unwrap_or_default();
            let count = reader.read(room)?;
            let piece = room.get(..count).unwrap_or_default();
            if piece.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.summing.update(piece);
            give(piece)?;
            self.at += count as u64;
        }
        Ok(())
    }

    /// The checksum of everything up to a place since it was asked for last.
    pub(crate) fn checksum(&mut self, to: u64) -> io::Result<Checksum> {
        self.pass(to)?;
        Ok(self.summing.finish())
    }

    /// Reads at a place, and goes on if it is there already.
    fn read_at(&mut self, at: u64, out: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.from(at).read(out)?;
        if at == self.at {
            self.summing.update(out.get(..count).unwrap_or_default());
            self.at += count as u64;
        }
        Ok(count)
    }
}

/// A way that a library goes, which copies columns by itself.
#[derive(Clone)]
pub(crate) struct Way(Arc<Mutex<Walk>>);

impl Way {
    pub(crate) fn new(walk: Walk) -> Self {
        Self(Arc::new(Mutex::new(walk)))
    }

    pub(crate) fn walk(&self) -> MutexGuard<'_, Walk> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a library may read of it: all up to a place.
    pub(crate) fn until(&self, end: u64) -> Stretch {
        Stretch {
            way: self.clone(),
            end,
        }
    }
}

/// The input up to a place.
pub(crate) struct Stretch {
    way: Way,
    end: u64,
}

/// Somewhere in it.
pub(crate) struct Step {
    way: Way,
    at: u64,
    end: u64,
}

impl Read for Step {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = self.end.saturating_sub(self.at);
        let most = usize::try_from(left).map_or(out.len(), |left| left.min(out.len()));
        let room = out.get_mut(..most).unwrap_or_default();
        let count = self.way.walk().read_at(self.at, room)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Length for Stretch {
    fn len(&self) -> u64 {
        self.end
    }
}

impl ChunkReader for Stretch {
    type T = BufReader<Step>;

    /// Columns that lie one behind the other are hashed as they are copied; what lies between them before.
    fn get_read(&self, start: u64) -> Result<Self::T> {
        self.way.walk().pass(start)?;
        let step = Step {
            way: self.way.clone(),
            at: start,
            end: self.end,
        };
        Ok(BufReader::with_capacity(PIECE, step))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let walk = self.way.walk();
        let bytes = walk.bytes.bytes(start, length);
        bytes.map(Bytes::from).map_err(ParquetError::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(bytes: &[u8]) -> Positional {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        Positional::new(&file, bytes.len() as u64).unwrap()
    }

    fn bytes() -> Vec<u8> {
        (0..700_000_u32).flat_map(u32::to_le_bytes).collect()
    }

    #[test]
    fn what_is_copied_and_what_is_passed_is_hashed_once() {
        let bytes = bytes();
        let mut walk = Walk::new(&file(&bytes), 5);
        let mut out = Vec::new();
        walk.pass(17).unwrap();
        walk.copy(600_001, &mut out).unwrap();
        assert_eq!(
            walk.checksum(600_002).unwrap(),
            Checksum::of(&bytes[5..600_002])
        );
        assert!(out == bytes[17..600_001]);
        // Not back, and nothing twice.
        walk.pass(9).unwrap();
        walk.pass_seen(9, &bytes[9..99]).unwrap();
        walk.copy(600_002, &mut out).unwrap();
        assert_eq!(
            walk.checksum(600_010).unwrap(),
            Checksum::of(&bytes[600_002..600_010])
        );
        assert_eq!(out.len(), 600_001 - 17);
        walk.pass_seen(600_020, &bytes[600_020..600_300]).unwrap();
        assert_eq!(
            walk.checksum(600_301).unwrap(),
            Checksum::of(&bytes[600_010..600_301])
        );
        walk.pass(bytes.len() as u64 + 1).unwrap_err();
    }

    #[test]
    fn what_a_library_reads_is_hashed_if_it_goes_on_from_there() {
        let bytes = bytes();
        let way = Way::new(Walk::new(&file(&bytes), 4));
        let read = |start, end| {
            let mut out = Vec::new();
            let mut reader = way.until(end).get_read(start).unwrap();
            reader.read_to_end(&mut out).unwrap();
            out
        };
        assert!(read(10, 300_000) == bytes[10..300_000]);
        // Behind, and then before where it stands.
        assert!(read(300_400, 300_500) == bytes[300_400..300_500]);
        assert!(read(200, 1_200) == bytes[200..1_200]);
        let stretch = way.until(8);
        assert!(stretch.get_bytes(2, 6).unwrap() == bytes[2..8]);
        stretch.get_bytes(bytes.len() as u64 - 2, 3).unwrap_err();
        let checksum = way.walk().checksum(300_600).unwrap();
        assert_eq!(checksum, Checksum::of(&bytes[4..300_600]));
    }
}
