//! A file that is read at places, so that columns can be read side by side: no cursor is shared.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// What a reader or writer in the depth of a library could not do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failure(Arc<Mutex<Option<io::Error>>>);

impl Failure {
    pub(crate) fn note(&self, error: &io::Error) {
        let kept = match error.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::from(error.kind()),
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
    }

    pub(crate) fn take(&self) -> Option<io::Error> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The file.
#[derive(Clone, Debug)]
pub(crate) struct Positional {
    file: Arc<File>,
    size: u64,
    pub(crate) failure: Failure,
}

impl Positional {
    pub(crate) fn new(file: &File, size: u64) -> io::Result<Self> {
        Ok(Self {
            file: Arc::new(file.try_clone()?),
            size,
            failure: Failure::default(),
        })
    }

    pub(crate) const fn size(&self) -> u64 {
        self.size
    }

    /// From a place to the end.
    pub(crate) fn from(&self, at: u64) -> At {
        At {
            file: self.clone(),
            at,
        }
    }

    /// So many bytes from a place; an error where the file is shorter, before anything is allocated.
    pub(crate) fn bytes(&self, at: u64, length: usize) -> io::Result<Vec<u8>> {
        let end = at.checked_add(length as u64);
        if end.is_none_or(|end| end > self.size) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut bytes = vec![0; length];
        self.exactly(at, &mut bytes)?;
        Ok(bytes)
    }

    /// As [`Positional::bytes`], into memory that is there already.
    pub(crate) fn read_into(&self, range: &Range<u64>, out: &mut Vec<u8>) -> io::Result<()> {
        let end = || io::Error::from(io::ErrorKind::UnexpectedEof);
        if range.end > self.size {
            return Err(end());
        }
        let length = range.end.saturating_sub(range.start);
        out.resize(usize::try_from(length).map_err(|_far| end())?, 0);
        self.exactly(range.start, out)
    }

    fn exactly(&self, at: u64, out: &mut [u8]) -> io::Result<()> {
        let read = self.file.read_exact_at(out, at);
        read.inspect_err(|error| self.failure.note(error))
    }
}

impl Length for Positional {
    fn len(&self) -> u64 {
        self.size
    }
}

impl ChunkReader for Positional {
    type T = BufReader<At>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::new(self.from(start)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let bytes = self.bytes(start, length);
        bytes.map(Bytes::from).map_err(ParquetError::from)
    }
}

/// A place in the file that moves as it is read.
#[derive(Debug)]
pub(crate) struct At {
    file: Positional,
    at: u64,
}

impl Read for At {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        // What was appended since the file was opened is not part of it.
        let left = self.file.size.saturating_sub(self.at);
        let most = usize::try_from(left).map_or(out.len(), |left| left.min(out.len()));
        let room = out.get_mut(..most).unwrap_or_default();
        loop {
            match self.file.file.read_at(room, self.at) {
                Ok(count) => {
                    self.at += count as u64;
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.file.failure.note(&error);
                    return Err(error);
                }
            }
        }
    }
}
