//! The input, cut into blocks that begin and end with a record.

use std::fs::File;
use std::io::{self, Read};

use keywright_tabular::csv::{Marks, last_record_end};
use zeroize::Zeroizing;

/// A block of the input. Its room is kept as it is from block to block: only what was read counts.
pub(crate) struct Block {
    room: Zeroizing<Vec<u8>>,
    length: usize,
}

impl Block {
    pub(crate) fn new() -> Self {
        Self {
            room: Zeroizing::new(Vec::new()),
            length: 0,
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.room.get(..self.length).unwrap_or_default()
    }

    /// Bytes that it has room for.
    pub(crate) fn room(&self) -> usize {
        self.room.len()
    }

    /// Where bytes up to `goal` are read to.
    fn rest(&mut self, goal: usize) -> &mut [u8] {
        if self.room.len() < goal {
            self.room.resize(goal, 0);
        }
        self.room.get_mut(self.length..goal).unwrap_or_default()
    }

    fn begin(&mut self, with: &[u8]) {
        self.length = 0;
        self.rest(with.len()).copy_from_slice(with);
        self.length = with.len();
    }
}

/// Gives blocks in their order.
#[derive(Debug)]
pub(crate) struct Feed {
    file: File,
    marks: Marks,
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
    pub(crate) fn new(file: File, marks: Marks, block: usize, longest: usize) -> Self {
        Self {
            file,
            marks,
            block: block.max(1),
            longest: longest.max(block),
            carry: Zeroizing::new(Vec::new()),
            next: 0,
            ended: false,
        }
    }

    /// Reads the next block.
    pub(crate) fn next(&mut self, block: &mut Block) -> io::Result<Fed> {
        if self.ended {
            block.length = 0;
            return Ok(Fed::End);
        }
        block.begin(&self.carry);
        self.carry.clear();
        let mut goal = self.block;
        loop {
            let whole = self.fill(block, goal)?;
            let end = if whole {
                last_record_end(block.bytes(), self.marks)
            } else {
                self.ended = true;
                block.length
            };
            if end > 0 {
                let rest = block.bytes().get(end..);
                self.carry.extend_from_slice(rest.unwrap_or_default());
                block.length = end;
                return Ok(Fed::Block(self.number()));
            }
            if self.ended {
                return Ok(Fed::End);
            }
            if block.length >= self.longest {
                self.ended = true;
                return Ok(Fed::TooLong(self.number()));
            }
            // Doubled, so that a long record is looked at a few times and not at each step.
            goal = (block.length * 2).min(self.longest);
        }
    }

    const fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// Reads until the block has `goal` bytes; false if the file ends before.
    fn fill(&mut self, block: &mut Block, goal: usize) -> io::Result<bool> {
        while block.length < goal {
            match self.file.read(block.rest(goal)) {
                Ok(0) => return Ok(false),
                Ok(count) => block.length += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
}
