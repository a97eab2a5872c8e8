//! Sessions in a folder: each state written before anything that depends on it leaves.
//!
//! ```text
//! states/<session id>.session    the newest state
//! states/.<session id>.next      the state that is about to become the newest
//! marks/<session id>.mark        the counter, with the digest of the newest state (fenced sessions)
//! marks/<session id>.lock        held while a session is open
//! ```
//!
//! A fenced session is saved in three steps: the new state is brought to the disk under its second name, then
//! the mark is advanced to its digest, then the state takes its first name. The mark is the moment at which it
//! counts: a load takes the state whose digest stands in the mark, under whichever name, and refuses every
//! other one. So a crash between any two steps leaves the old session or the new one, an older state or a copy
//! that comes back is [`Error::StateRolledBack`], and numbers that were set aside are skipped, never used twice.
//!
//! After a failure it is open which of the two is on the disk, so a [`Kept`] session does nothing more; load
//! it again.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use keywright_encoding::hex;
use keywright_primitives::hash::sha256;
use keywright_primitives::random::RandomStream;
use keywright_ratchet::{Mode, Reserve, SessionId};

use crate::disk::{self, Disk, Lock, System};
use crate::kept::Next;
use crate::marks::{self, Mark};
use crate::rest::{MAX_LEN, mode_of};
use crate::{Error, Kept, Session, StoreKey};

/// The folder of one party's sessions.
pub struct Files {
    states: PathBuf,
    /// Where counters are, if these are fenced sessions.
    marks: Option<PathBuf>,
    pub(crate) key: StoreKey,
    disk: Arc<Mutex<dyn Disk + Send>>,
}

impl Files {
    /// Fenced sessions, with counters in another folder: one that a copy or backup of the states does not
    /// reach. Both folders must exist.
    #[must_use]
    pub fn fenced(states: &Path, marks: &Path, key: StoreKey) -> Self {
        let marks = Some(marks.to_path_buf());
        Self::on(Arc::new(Mutex::new(System)), (states, marks), key)
    }

    /// Hedged sessions, for where there is no place for counters. The folder must exist.
    #[must_use]
    pub fn hedged(states: &Path, key: StoreKey) -> Self {
        Self::on(Arc::new(Mutex::new(System)), (states, None), key)
    }

    pub(crate) fn on(
        disk: Arc<Mutex<dyn Disk + Send>>,
        (states, marks): (&Path, Option<PathBuf>),
        key: StoreKey,
    ) -> Self {
        Self {
            states: states.to_path_buf(),
            marks,
            key,
            disk,
        }
    }

    /// Stores a session that has just begun.
    ///
    /// # Errors
    /// [`Error::WrongMode`] for a session of the other mode, [`Error::Repeated`] or
    /// [`Error::StateRolledBack`] if it is the session of a handshake that was stored before,
    /// [`Error::InUse`], [`Error::File`], [`Error::Backend`].
    pub fn keep(&self, session: Session, random: &mut RandomStream) -> Result<Kept<'_>, Error> {
        if session.mode() != self.mode() {
            return Err(Error::WrongMode);
        }
        let lock = self.lock(session.id())?;
        let mark = self.mark(session.id())?;
        if mark.value != 0 {
            return Err(Error::StateRolledBack);
        }
        if self.read(&name(session.id()))?.is_some() {
            return Err(Error::Repeated);
        }
        let mut kept = Kept {
            files: self,
            session,
            mark,
            is_broken: false,
            _lock: lock,
        };
        kept.store(Reserve::Nothing, random)?;
        Ok(kept)
    }

    /// The newest state of this session.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::InUse`], [`Error::StateRolledBack`] for an older state or a copy,
    /// [`Error::WrongMode`], [`Error::Malformed`], [`Error::Rejected`] for another key or changed bytes,
    /// [`Error::File`], [`Error::Backend`].
    pub fn load(&self, id: &SessionId, random: &mut RandomStream) -> Result<Kept<'_>, Error> {
        let lock = self.lock(id)?;
        let mark = self.mark(id)?;
        let bytes = self.newest(id, &mark)?;
        if mode_of(&bytes) != Some(self.mode()) {
            return Err(mode_of(&bytes).map_or(Error::Malformed, |_| Error::WrongMode));
        }
        let kept = |session, mark| Kept {
            files: self,
            session,
            mark,
            is_broken: false,
            _lock: lock,
        };
        if self.marks.is_none() {
            let session = Session::load_hedged(&bytes, &self.key, random)?;
            return Ok(kept(session, mark));
        }
        let mut next = Next::after(&mark);
        let (session, bytes) = Session::load(&bytes, &self.key, &mut next, random)?;
        let mark = self.commit(id, &bytes, &mark)?;
        Ok(kept(session, mark))
    }

    /// The sessions that are stored here, in the order of their names.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn ids(&self) -> Result<Vec<SessionId>, Error> {
        let mut ids = Vec::new();
        for entry in std::fs::read_dir(&self.states).map_err(Error::File)? {
            let name = entry.map_err(Error::File)?.file_name();
            let stem = name.to_str().and_then(|name| name.strip_suffix(".session"));
            if let Some(Ok(id)) = stem.map(hex::decode_array) {
                ids.push(SessionId::from_bytes(id));
            }
        }
        ids.sort();
        Ok(ids)
    }

    /// Removes a session that is not open. Its mark stays, so that a copy of it is refused.
    ///
    /// # Errors
    /// [`Error::InUse`], [`Error::File`].
    pub fn forget(&self, id: &SessionId) -> Result<(), Error> {
        let _lock = self.lock(id)?;
        let mut disk = self.disk();
        for name in [staged_name(id), name(id)] {
            disk.remove(&self.states.join(name)).map_err(Error::File)?;
        }
        disk.sync_folder(&self.states).map_err(Error::File)
    }

    const fn mode(&self) -> Mode {
        match self.marks {
            Some(_) => Mode::Fenced,
            None => Mode::Hedged,
        }
    }

    fn lock(&self, id: &SessionId) -> Result<Lock, Error> {
        let folder = self.marks.as_ref().unwrap_or(&self.states);
        let taken = Lock::try_take(&folder.join(marks::lock_name(id))).map_err(Error::File)?;
        taken.ok_or(Error::InUse)
    }

    pub(crate) fn mark(&self, id: &SessionId) -> Result<Mark, Error> {
        match &self.marks {
            Some(folder) => marks::read(folder, id).map_err(Error::File),
            None => Ok(Mark::default()),
        }
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        disk::read(&self.states.join(name), MAX_LEN).map_err(Error::File)
    }

    fn disk(&self) -> MutexGuard<'_, dyn Disk + Send + 'static> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state that counts; what a crash has left unfinished is finished.
    fn newest(&self, id: &SessionId, mark: &Mark) -> Result<Vec<u8>, Error> {
        let (current, staged) = (self.read(&name(id))?, self.read(&staged_name(id))?);
        let Some(marks) = &self.marks else {
            return current.ok_or(Error::NotFound);
        };
        let counts = |bytes: &Option<Vec<u8>>| {
            let bytes = bytes.as_ref();
            bytes.is_some_and(|bytes| mark.value > 0 && sha256(bytes) == mark.state)
        };
        if counts(&current) {
            return current.ok_or(Error::NotFound);
        }
        if counts(&staged) {
            let mut disk = self.disk();
            let moved = disk::put_in_place(&mut *disk, &self.states, &staged_name(id), &name(id));
            moved.map_err(Error::File)?;
            return staged.ok_or(Error::NotFound);
        }
        match (current, marks.is_dir()) {
            (None, true) if mark.value == 0 => Err(Error::NotFound),
            (_, true) => Err(Error::StateRolledBack),
            (_, false) => Err(Error::FenceUnavailable),
        }
    }

    /// Makes these bytes the newest state.
    pub(crate) fn commit(
        &self,
        id: &SessionId,
        bytes: &[u8],
        before: &Mark,
    ) -> Result<Mark, Error> {
        let mut disk = self.disk();
        let staged = staged_name(id);
        disk::stage(&mut *disk, &self.states, &staged, bytes).map_err(Error::File)?;
        let mut mark = *before;
        if let Some(folder) = &self.marks {
            mark = Mark {
                value: before.value.saturating_add(1),
                state: sha256(bytes),
            };
            marks::write(&mut *disk, folder, id, &mark).map_err(Error::File)?;
        }
        disk::put_in_place(&mut *disk, &self.states, &staged, &name(id)).map_err(Error::File)?;
        Ok(mark)
    }
}

fn name(id: &SessionId) -> String {
    format!("{}.session", hex::encode(id.as_bytes()))
}

fn staged_name(id: &SessionId) -> String {
    format!(".{}.next", hex::encode(id.as_bytes()))
}

impl std::fmt::Debug for Files {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Files")
            .field("states", &self.states)
            .field("marks", &self.marks)
            .finish_non_exhaustive()
    }
}
