//! One of the two, on a thread of its own.

use std::collections::BTreeSet;
use std::io::{self, PipeReader};

use keywright_clock::WallTime;
use keywright_primitives::random::RandomStream;
use keywright_session::{Error, Session};
use serde::Serialize;

use super::line::{Arrived, Dice, Fate, Sending, arrive};

/// What a party has seen.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Seen {
    /// Frames that opened.
    pub(super) opened: u64,
    /// Of those, how many came after a later one.
    pub(super) out_of_order: u64,
    /// Frames that were refused: repeated or changed ones, and those before the session had begun.
    pub(super) refused: u64,
    /// Message keys that are still kept for frames that have not come.
    pub(super) stored_keys: usize,
    /// Times this side took its turn with something to say.
    pub(super) turns: u64,
}

/// What came of one end.
pub(super) struct Outcome {
    pub(super) seen: Seen,
    pub(super) fate: Fate,
    /// Numbers of the messages that opened here.
    pub(super) opened: BTreeSet<u32>,
    /// Numbers of the messages that were sent from here and lost on the way.
    pub(super) lost: BTreeSet<u32>,
    pub(super) sent: u32,
    pub(super) binder: Option<[u8; 32]>,
}

/// Why a party stopped.
#[derive(Debug, thiserror::Error)]
pub(super) enum Stopped {
    #[error("the pipe broke")]
    Pipe(#[from] io::Error),
    #[error("the session failed")]
    Session(#[from] Error),
    #[error("a message came twice, or from nobody")]
    Twice,
}

/// How a session comes about on this side.
pub(super) trait Begin {
    /// The session and the content of its first frame, if this frame begins one.
    fn begin(&mut self, frame: &[u8], random: &mut RandomStream) -> Option<(Session, Vec<u8>)>;
}

pub(super) struct Party<B> {
    pub(super) session: Option<Session>,
    pub(super) begin: B,
    pub(super) out: Sending,
    pub(super) into: PipeReader,
    pub(super) dice: Dice,
    pub(super) now: WallTime,
    /// Messages that this side has to send.
    pub(super) messages: u32,
    /// Bytes in each of them.
    pub(super) size: usize,
}

/// Who has the first turn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Mine,
    Theirs,
}

/// Messages in a turn, at most.
const BURST: usize = 6;

impl<B: Begin> Party<B> {
    /// Talks until both sides have sent everything and been told the end.
    pub(super) fn talk(mut self, mut turn: Turn) -> Result<Outcome, Stopped> {
        let mut random = RandomStream::new().map_err(Error::from)?;
        let mut outcome = Outcome {
            seen: Seen::default(),
            fate: Fate::default(),
            opened: BTreeSet::new(),
            lost: BTreeSet::new(),
            sent: 0,
            binder: None,
        };
        let mut newest = None;
        let (mut mine, mut theirs) = (false, false);
        while !(mine && theirs) {
            if turn == Turn::Mine && !mine {
                if outcome.sent >= self.messages {
                    self.out.end()?;
                    mine = true;
                } else {
                    self.say(&mut outcome, &mut random)?;
                }
            }
            turn = Turn::Mine;
            if theirs {
                continue;
            }
            theirs = self.listen((&mut outcome, &mut newest), &mut random)?;
        }
        outcome.fate = self.out.fate;
        let session = self.session.as_ref();
        outcome.seen.stored_keys = session.map_or(0, Session::stored_keys);
        outcome.binder = session.map(|session| *session.binder().expose());
        Ok(outcome)
    }

    /// One turn of sending. A side that has no session yet passes it on.
    fn say(&mut self, outcome: &mut Outcome, random: &mut RandomStream) -> Result<(), Stopped> {
        let left = usize::try_from(self.messages - outcome.sent).unwrap_or(usize::MAX);
        let count = left.min(1 + self.dice.below(BURST));
        let mut frames = Vec::new();
        let first = outcome.sent;
        if let Some(session) = &mut self.session {
            outcome.seen.turns += 1;
            for _ in 0..count {
                let mut content = vec![b'.'; self.size.max(4)];
                content[..4].copy_from_slice(&outcome.sent.to_be_bytes());
                frames.push(session.send(&content, b"", self.now, random)?);
                outcome.sent += 1;
            }
        }
        for place in self.out.send(frames)? {
            outcome
                .lost
                .insert(first + u32::try_from(place).unwrap_or(u32::MAX));
        }
        Ok(())
    }

    /// Takes what comes until it is this side's turn; whether it was the end.
    fn listen(
        &mut self,
        (outcome, newest): (&mut Outcome, &mut Option<u32>),
        random: &mut RandomStream,
    ) -> Result<bool, Stopped> {
        loop {
            let frame = match arrive(&mut self.into)? {
                Arrived::Turn => return Ok(false),
                Arrived::End => return Ok(true),
                Arrived::Frame(frame) => frame,
            };
            let Some(content) = self.open(&frame, random) else {
                outcome.seen.refused += 1;
                continue;
            };
            let number = content.first_chunk().ok_or(Stopped::Twice)?;
            let number = u32::from_be_bytes(*number);
            if !outcome.opened.insert(number) {
                return Err(Stopped::Twice);
            }
            outcome.seen.opened += 1;
            outcome.seen.out_of_order += u64::from(*newest > Some(number));
            *newest = (*newest).max(Some(number));
        }
    }

    fn open(&mut self, frame: &[u8], random: &mut RandomStream) -> Option<Vec<u8>> {
        if let Some(session) = &mut self.session {
            let received = session.receive(frame, b"", self.now).ok()?;
            return Some(received.content.expose().to_vec());
        }
        let (session, content) = self.begin.begin(frame, random)?;
        self.session = Some(session);
        Some(content)
    }
}
