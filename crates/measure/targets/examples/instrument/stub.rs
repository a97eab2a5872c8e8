//! A store that keeps nothing: 16 bytes go out over TCP and come back, one question at a time.

use std::io::{Read, Write};
use std::net::TcpStream;

use keywright_measure::carry::Check;
use keywright_measure::{Fault, FaultPhase, Worker};

use crate::Failure;
use crate::remote::{Freeze, OtherSide};

/// Bytes of a question and of its answer.
pub(crate) const LENGTH: usize = 16;

/// The server.
pub(crate) struct Store(OtherSide);

impl Store {
    pub(crate) fn start(freeze: Freeze, cpu: Option<u32>) -> Result<Self, Failure> {
        OtherSide::serving("store", freeze, cpu).map(Self)
    }

    /// A connection that blocks.
    pub(crate) fn worker(&self) -> Result<Box<dyn Worker>, Failure> {
        let stream = TcpStream::connect(self.0.address()?)?;
        stream.set_nodelay(true)?;
        Ok(Box::new(Asking {
            stream,
            asked: 0,
            answer: [0; LENGTH],
        }))
    }
}

struct Asking {
    stream: TcpStream,
    asked: u128,
    answer: [u8; LENGTH],
}

impl Worker for Asking {
    fn operate(&mut self) -> Result<(), Fault> {
        self.asked += 1;
        let sent = self.stream.write_all(&self.asked.to_be_bytes());
        let answered = sent.and_then(|()| self.stream.read_exact(&mut self.answer));
        answered.map_err(|_| Fault::new(FaultPhase::Stream, "closed"))
    }

    fn check(&mut self) -> Check {
        match self.answer == self.asked.to_be_bytes() {
            true => Check::Right,
            false => Check::Wrong,
        }
    }
}
