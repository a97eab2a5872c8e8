//! A counter for each session, in a folder of its own.
//!
//! ```text
//! <session id>.mark: "KWSM" | 1 version | session id 16 | value u64 | SHA-256 of the newest state, or zeros 32
//! ```
//!
//! A mark is written beside the old one, brought to the disk and put in its place, so a crash leaves the old
//! one or the new. The folder has to lie where a copy or a backup of the states does not reach: a counter that
//! goes back together with the states sees nothing.

use std::io;
use std::path::{Path, PathBuf};

use keywright_encoding::{Reader, hex};
use keywright_ratchet::{Claim, Fence, SessionId, Unavailable};

use crate::disk::{self, Disk, Lock, System};

const MAGIC: &[u8; 4] = b"KWSM";
const VERSION: u8 = 1;
const LEN: u64 = 4 + 1 + 16 + 8 + 32;

/// What a counter knows of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The last value claimed; 0 before the first.
    pub(crate) value: u64,
    /// Of the state that was saved with it, where [`crate::Files`] wrote the two together.
    pub(crate) state: [u8; 32],
}

/// The counters of a folder, for whoever keeps states elsewhere than in [`crate::Files`].
#[derive(Debug)]
pub struct FileFence {
    folder: PathBuf,
}

impl FileFence {
    /// The counters of this folder, which must exist.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_path_buf(),
        }
    }

    fn advance(&self, session: &SessionId, value: u64) -> io::Result<Claim> {
        let _lock = Lock::take(&self.folder.join(lock_name(session)))?;
        let last = read(&self.folder, session)?.value;
        if last.checked_add(1) != Some(value) {
            return Ok(Claim::Refused);
        }
        let mark = Mark {
            value,
            state: [0; 32],
        };
        write(&mut System, &self.folder, session, &mark)?;
        Ok(Claim::Granted)
    }
}

impl Fence for FileFence {
    fn claim(&mut self, session: &SessionId, value: u64) -> Result<Claim, Unavailable> {
        self.advance(session, value).map_err(|_| Unavailable)
    }
}

/// The session's mark; one of zeros before the first.
pub(crate) fn read(folder: &Path, session: &SessionId) -> io::Result<Mark> {
    let Some(bytes) = disk::read(&folder.join(name(session)), LEN)? else {
        return Ok(Mark::default());
    };
    parse(&bytes, session).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Replaces the session's mark.
pub(crate) fn write(
    disk: &mut dyn Disk,
    folder: &Path,
    session: &SessionId,
    mark: &Mark,
) -> io::Result<()> {
    let mut bytes = MAGIC.to_vec();
    bytes.push(VERSION);
    bytes.extend_from_slice(session.as_bytes());
    bytes.extend_from_slice(&mark.value.to_be_bytes());
    bytes.extend_from_slice(&mark.state);
    let staged = format!(".{}.part", name(session));
    disk::stage(disk, folder, &staged, &bytes)?;
    disk::put_in_place(disk, folder, &staged, &name(session))
}

fn parse(bytes: &[u8], session: &SessionId) -> Option<Mark> {
    let mut reader = Reader::new(bytes);
    let front = reader.array().ok()? == MAGIC && reader.u8().ok()? == VERSION;
    if !front || reader.array().ok()? != session.as_bytes() {
        return None;
    }
    let mark = Mark {
        value: reader.u64().ok()?,
        state: *reader.array().ok()?,
    };
    reader.is_empty().then_some(mark)
}

fn name(session: &SessionId) -> String {
    format!("{}.mark", hex::encode(session.as_bytes()))
}

pub(crate) fn lock_name(session: &SessionId) -> String {
    format!("{}.lock", hex::encode(session.as_bytes()))
}
