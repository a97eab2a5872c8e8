//! The input, cut into blocks that begin and end with a record.

use std::fs::File;
use std::io::{self, Read};

use keywright_tabular::csv::last_record_end;
use zeroize::Zeroizing;

/// Gives blocks in their order.
#[derive(Debug)]
pub(crate) struct Feed {
    file: File,
    separator: u8,
    /// Bytes that are read at a time.
    block: usize,
    /// A record of more bytes than this is refused.
    longest: usize,
    /// What was read behind the last record.
    carry: Zeroizing<Vec<u8>>,
    next: u64,
    ended: bool,
}

/// What came of asking for a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fed {
    /// The block with this number.
    Block(u64),
    /// A record does not end within the limit. This is the number that its block would have.
    TooLong(u64),
    End,
}

impl Feed {
    /// From where the file stands.
    pub(crate) fn new(file: File, separator: u8, block: usize, longest: usize) -> Self {
        Self {
            file,
            separator,
            block: block.max(1),
            longest: longest.max(block),
            carry: Zeroizing::new(Vec::new()),
            next: 0,
            ended: false,
        }
    }

    /// Fills `out` with the next block.
    pub(crate) fn next(&mut self, out: &mut Vec<u8>) -> io::Result<Fed> {
        out.clear();
        if self.ended {
            return Ok(Fed::End);
        }
        out.append(&mut self.carry);
        let mut goal = self.block;
        loop {
            let whole = self.fill(out, goal)?;
            let end = if whole {
                last_record_end(out, self.separator)
            } else {
                self.ended = true;
                out.len()
            };
            if end > 0 {
                self.carry
                    .extend_from_slice(out.get(end..).unwrap_or_default());
                out.truncate(end);
                return Ok(Fed::Block(self.number()));
            }
            if self.ended {
                return Ok(Fed::End);
            }
            if out.len() >= self.longest {
                self.ended = true;
                return Ok(Fed::TooLong(self.number()));
            }
            // Doubled, so that a long record is looked at a few times and not at each step.
            goal = (out.len() * 2).min(self.longest);
        }
    }

    const fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// Reads until `out` has `goal` bytes; false if the file ends before.
    fn fill(&mut self, out: &mut Vec<u8>, goal: usize) -> io::Result<bool> {
        let mut length = out.len();
        out.resize(goal.max(length), 0);
        while length < goal {
            match self.file.read(out.get_mut(length..).unwrap_or_default()) {
                Ok(0) => break,
                Ok(count) => length += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        out.truncate(length);
        Ok(length >= goal)
    }
}
