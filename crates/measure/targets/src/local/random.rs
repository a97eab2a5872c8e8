//! Random bytes from a stream that was seeded before: what a message costs whose job has its stream. The
//! stream makes 512 bytes at a time, so one operation in sixteen pays for the others.

use std::hint::black_box;

use keywright_measure::carry::Check;
use keywright_measure::{Fault, TargetError, Worker};
use keywright_primitives::random::RandomStream;

use super::row::{Row, refused};

struct Random {
    stream: RandomStream,
    output: Vec<u8>,
    /// What was seen when it was last looked at.
    seen: Vec<u8>,
}

/// With fewer bytes a source that stands still cannot be told from one that is random.
const FEWEST: usize = 16;

/// So many random bytes.
pub(super) fn bytes(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    if row.bytes < FEWEST {
        return Err(row.lacks("of so few bytes two draws may be equal by chance"));
    }
    let mut stream = RandomStream::new().map_err(|error| row.fails(error))?;
    let mut seen = vec![0; row.bytes];
    stream.fill(&mut seen).map_err(|error| row.fails(error))?;
    Ok(Box::new(Random {
        stream,
        output: vec![0; row.bytes],
        seen,
    }))
}

impl Worker for Random {
    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        self.stream.fill(&mut self.output).map_err(refused)?;
        black_box(&mut self.output);
        Ok(())
    }

    /// Random bytes have no right value, but a source that stands still has a wrong one.
    fn check(&mut self) -> Check {
        #[cfg(test)]
        if super::spoil::is_asked() {
            self.output.copy_from_slice(&self.seen);
        }
        let varies = self.output != self.seen;
        let moves = self.output.iter().any(|byte| *byte != self.output[0]);
        self.seen.copy_from_slice(&self.output);
        if varies && moves {
            Check::Right
        } else {
            Check::Wrong
        }
    }
}
