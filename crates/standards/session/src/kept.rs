//! A session that is stored as it goes on.

use keywright_clock::WallTime;
use keywright_primitives::random::RandomStream;
use keywright_ratchet::{Claim, Fence, Mode, Reserve, SessionId, Unavailable};

use crate::disk::Lock;
use crate::marks::Mark;
use crate::{Error, Files, Received, Session};

/// A session that is stored as it goes on. Nobody else can open it meanwhile.
pub struct Kept<'a> {
    pub(crate) files: &'a Files,
    pub(crate) session: Session,
    pub(crate) mark: Mark,
    pub(crate) is_broken: bool,
    pub(crate) _lock: Lock,
}

impl Kept<'_> {
    /// The next frame. Where the session has to be saved for it, it is on the disk when this returns.
    ///
    /// # Errors
    /// As [`Session::send`]; [`Error::Broken`] after an earlier failure, [`Error::StateRolledBack`] if
    /// somebody has moved the counter, [`Error::File`].
    pub fn send(
        &mut self,
        content: &[u8],
        context: &[u8],
        now: WallTime,
        random: &mut RandomStream,
    ) -> Result<Vec<u8>, Error> {
        self.require_whole()?;
        match self.session.send(content, context, now, random) {
            Err(Error::SaveFirst) => {
                self.store(Reserve::Numbers, random)?;
                self.session.send(content, context, now, random)
            }
            Ok(frame) if self.session.mode() == Mode::Hedged => {
                self.store(Reserve::Nothing, random)?;
                Ok(frame)
            }
            other => other,
        }
    }

    /// The content of a frame. That it was received is on the disk when this returns.
    ///
    /// # Errors
    /// As [`Session::receive`]; [`Error::Broken`], [`Error::StateRolledBack`] and [`Error::File`] as in
    /// [`Kept::send`]: the content is not handed over then. After a load the frame opens, unless the state
    /// had reached the disk; it is never handed over twice.
    pub fn receive(
        &mut self,
        frame: &[u8],
        context: &[u8],
        (now, random): (WallTime, &mut RandomStream),
    ) -> Result<Received, Error> {
        self.require_whole()?;
        let received = self.session.receive(frame, context, now)?;
        self.store(Reserve::Nothing, random)?;
        Ok(received)
    }

    /// The session, to be looked at.
    #[must_use]
    pub const fn session(&self) -> &Session {
        &self.session
    }

    const fn require_whole(&self) -> Result<(), Error> {
        match self.is_broken {
            true => Err(Error::Broken),
            false => Ok(()),
        }
    }

    pub(crate) fn store(
        &mut self,
        reserve: Reserve,
        random: &mut RandomStream,
    ) -> Result<(), Error> {
        // Until the last step is done nobody knows what is on the disk.
        self.is_broken = true;
        let (files, session) = (self.files, &mut self.session);
        if files.mark(session.id())? != self.mark {
            return Err(Error::StateRolledBack);
        }
        let bytes = match session.mode() {
            Mode::Hedged => session.save_hedged(&files.key, random)?,
            Mode::Fenced => {
                let mut next = Next::after(&self.mark);
                session.save(&files.key, reserve, &mut next, random)?
            }
        };
        self.mark = files.commit(session.id(), &bytes, &self.mark)?;
        self.is_broken = false;
        Ok(())
    }
}

/// Grants the value after the mark's. It is claimed when the mark is written, together with the state.
pub(crate) struct Next(u64);

impl Next {
    pub(crate) const fn after(mark: &Mark) -> Self {
        Self(mark.value)
    }
}

impl Fence for Next {
    fn claim(&mut self, _: &SessionId, value: u64) -> Result<Claim, Unavailable> {
        match self.0.checked_add(1) == Some(value) {
            true => Ok(Claim::Granted),
            false => Ok(Claim::Refused),
        }
    }
}

impl std::fmt::Debug for Kept<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Kept").field(&self.session).finish()
    }
}
