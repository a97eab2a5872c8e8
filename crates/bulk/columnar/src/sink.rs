//! A file that is written behind what it holds, with a checksum of each block.

use std::fs::File;
use std::io::{self, Write};

use keywright_protect::{Checksum, Summing};
use parquet::file::writer::TrackedWrite;

use crate::positional::Failure;

/// Bytes that are held back, so that the file and the checksum are given many at a time.
const HELD: usize = 256 << 10;

/// The file.
pub(crate) struct Sink {
    file: File,
    summing: Summing,
    held: Vec<u8>,
    failure: Failure,
}

/// Something that is written behind bytes that are there already.
pub(crate) struct Behind<W> {
    inner: W,
    /// Bytes that are not written again.
    skip: u64,
}

/// The file, with a count of all its bytes.
pub(crate) type Tracked = TrackedWrite<Behind<Sink>>;

/// Goes on behind the first `there` bytes of a file whose cursor stands at its end.
pub(crate) fn tracked(file: &File, there: u64, failure: &Failure) -> io::Result<Tracked> {
    let sink = Sink {
        file: file.try_clone()?,
        summing: Summing::default(),
        held: Vec::new(),
        failure: failure.clone(),
    };
    behind(sink, there)
}

/// Counts the bytes of `inner` from a place on. The writer counts from the first byte that it is given, and cannot
/// be told of those before; so it is given as many zeros, which go nowhere.
pub(crate) fn behind<W: Write>(inner: W, there: u64) -> io::Result<TrackedWrite<Behind<W>>> {
    let mut tracked = TrackedWrite::new(Behind { inner, skip: there });
    let zeros = vec![0; 1 << 20];
    let mut left = there;
    while left > 0 {
        let count = usize::try_from(left).map_or(zeros.len(), |left| left.min(zeros.len()));
        tracked.write_all(zeros.get(..count).unwrap_or_default())?;
        left -= count as u64;
    }
    tracked.flush()?;
    Ok(tracked)
}

/// The checksum of everything that was written since it was asked for last.
pub(crate) fn checksum(tracked: &mut Tracked) -> io::Result<Checksum> {
    tracked.flush()?;
    Ok(tracked.inner_mut().inner.summing.finish())
}

impl<W: Write> Write for Behind<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.skip == 0 {
            return self.inner.write(bytes);
        }
        let count = usize::try_from(self.skip).map_or(bytes.len(), |skip| skip.min(bytes.len()));
        self.skip -= count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl Sink {
    fn give(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = self.file.write_all(bytes);
        written.inspect_err(|error| self.failure.note(error))?;
        self.summing.update(bytes);
        Ok(())
    }

    fn give_held(&mut self) -> io::Result<()> {
        let mut held = std::mem::take(&mut self.held);
        let given = self.give(&held);
        held.clear();
        self.held = held;
        given
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.held.len() + bytes.len() > HELD {
            self.give_held()?;
        }
        if bytes.len() < HELD {
            self.held.extend_from_slice(bytes);
        } else {
            self.give(bytes)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.give_held()?;
        self.file.flush()
    }
}
