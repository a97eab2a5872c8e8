//! A pipe that is a bad line: what happens to a frame is thrown by dice with a seed.

use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};

use serde::Serialize;

/// What happens to frames, in per cent of them.
#[derive(Clone, Copy, Debug, clap::Args, Serialize)]
pub(super) struct Badness {
    /// Frames that are lost, in per cent.
    #[arg(long, value_name = "PERCENT", default_value_t = 10, value_parser = clap::value_parser!(u8).range(..=90))]
    pub(super) loss: u8,
    /// Frames that arrive twice, in per cent.
    #[arg(long, value_name = "PERCENT", default_value_t = 10, value_parser = clap::value_parser!(u8).range(..=90))]
    pub(super) duplicate: u8,
    /// Frames that arrive later, behind others, in per cent.
    #[arg(long, value_name = "PERCENT", default_value_t = 20, value_parser = clap::value_parser!(u8).range(..=90))]
    pub(super) reorder: u8,
    /// Frames of which a changed copy arrives as well, in per cent.
    #[arg(long, value_name = "PERCENT", default_value_t = 5, value_parser = clap::value_parser!(u8).range(..=90))]
    pub(super) forge: u8,
}

/// What has happened to the frames of one direction.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Fate {
    pub(super) sent: u64,
    pub(super) lost: u64,
    pub(super) repeated: u64,
    pub(super) delayed: u64,
    pub(super) forged: u64,
    pub(super) bytes: u64,
}

/// Numbers that follow from a seed (`SplitMix64`). No secret comes out of them.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below this one; 0 below 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % bound).unwrap_or(0)
    }

    fn falls(&mut self, percent: u8) -> bool {
        self.below(100) < usize::from(percent)
    }
}

/// The sending end of the line.
pub(super) struct Sending {
    pipe: PipeWriter,
    dice: Dice,
    badness: Badness,
    /// Frames that arrive in a later turn.
    held: Vec<Vec<u8>>,
    pub(super) fate: Fate,
}

/// What comes out of the line.
pub(super) enum Arrived {
    Frame(Vec<u8>),
    /// It is the other side's turn.
    Turn,
    /// The other side has nothing more to say.
    End,
}

const TURN: u32 = 0;
const END: u32 = u32::MAX;

impl Sending {
    pub(super) const fn new(pipe: PipeWriter, dice: Dice, badness: Badness) -> Self {
        Self {
            pipe,
            dice,
            badness,
            held: Vec::new(),
            fate: Fate {
                sent: 0,
                lost: 0,
                repeated: 0,
                delayed: 0,
                forged: 0,
                bytes: 0,
            },
        }
    }

    /// Sends the frames of one turn, as the dice fall; returns which of them were lost.
    pub(super) fn send(&mut self, frames: Vec<Vec<u8>>) -> io::Result<Vec<usize>> {
        let mut arriving = std::mem::take(&mut self.held);
        let mut lost = Vec::new();
        for (place, frame) in frames.into_iter().enumerate() {
            self.fate.sent += 1;
            self.fate.bytes += u64::try_from(frame.len()).unwrap_or(0);
            if self.dice.falls(self.badness.forge) {
                self.fate.forged += 1;
                arriving.push(self.changed(&frame));
            }
            if self.dice.falls(self.badness.loss) {
                self.fate.lost += 1;
                lost.push(place);
                continue;
            }
            if self.dice.falls(self.badness.duplicate) {
                self.fate.repeated += 1;
                arriving.push(frame.clone());
            }
            if self.dice.falls(self.badness.reorder) {
                self.fate.delayed += 1;
                self.held.push(frame);
            } else {
                arriving.push(frame);
            }
        }
        self.pass_on(&arriving)?;
        self.pipe.write_all(&TURN.to_be_bytes())?;
        Ok(lost)
    }

    /// Sends what was held back, and the end.
    pub(super) fn end(&mut self) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        self.pass_on(&held)?;
        self.pipe.write_all(&END.to_be_bytes())
    }

    fn pass_on(&mut self, frames: &[Vec<u8>]) -> io::Result<()> {
        for frame in frames {
            let length = u32::try_from(frame.len()).map_err(io::Error::other)?;
            self.pipe.write_all(&length.to_be_bytes())?;
            self.pipe.write_all(frame)?;
        }
        Ok(())
    }

    fn changed(&mut self, frame: &[u8]) -> Vec<u8> {
        let mut changed = frame.to_vec();
        // Not the version: that would be seen without a key.
        let place = 1 + self.dice.below(frame.len().saturating_sub(1));
        if let Some(byte) = changed.get_mut(place) {
            *byte ^= 1 << self.dice.below(8);
        }
        changed
    }
}

/// Reads what stands next in the pipe.
pub(super) fn arrive(pipe: &mut PipeReader) -> io::Result<Arrived> {
    let mut length = [0; 4];
    pipe.read_exact(&mut length)?;
    match u32::from_be_bytes(length) {
        TURN => Ok(Arrived::Turn),
        END => Ok(Arrived::End),
        length => {
            let length = usize::try_from(length).map_err(io::Error::other)?;
            let mut frame = vec![0; length];
            pipe.read_exact(&mut frame)?;
            Ok(Arrived::Frame(frame))
        }
    }
}
