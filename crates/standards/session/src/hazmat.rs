//! What tests and measurements need and nobody else may have: the state in clear, disks that fail, a responder
//! that forgets.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use keywright_primitives::random::RandomStream;
use keywright_secret::SecretBytes;

use crate::disk::{Disk, System};
use crate::{Card, Error, Files, Responder, Session, Setting, StoreKey};

/// Everything that the ratchet of a session keeps, in clear.
///
/// # Errors
/// [`Error::Backend`].
pub fn state(session: &Session) -> Result<SecretBytes, Error> {
    Ok(keywright_ratchet::hazmat::state(&session.ratchet)?)
}

/// Lets a fenced session send without a counter, up to this number.
pub const fn set_aside(session: &mut Session, number: u32) {
    keywright_ratchet::hazmat::set_aside(&mut session.ratchet, number);
}

/// Makes a responder forget which first frames have begun a session, so that a measurement can begin with one
/// of them again.
pub fn forget(responder: &mut Responder) {
    responder.forget();
}

/// How a disk stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "for tests, which use all of them")]
pub enum Stop {
    /// Before this step is done.
    Before,
    /// In the middle of what the step writes; like [`Stop::Before`] where it writes nothing.
    Within,
}

/// A disk on which only so many steps are done; each later one fails without a trace, as after a crash.
#[derive(Debug)]
pub struct Failing {
    left: u64,
    stop: Stop,
}

impl Failing {
    /// Does this many steps.
    #[must_use]
    pub const fn after(steps: u64, stop: Stop) -> Self {
        Self { left: steps, stop }
    }

    fn step(&mut self) -> io::Result<()> {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(io::Error::other("the disk has stopped")),
        }
    }
}

impl Disk for Failing {
    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if self.left == 0 && self.stop == Stop::Within {
            // Only once: what comes after a crash writes nothing.
            self.stop = Stop::Before;
            let (half, _) = bytes.split_at(bytes.len() / 2);
            System.write(path, half)?;
        }
        self.step()?;
        System.write(path, bytes)
    }

    fn sync(&mut self, path: &Path) -> io::Result<()> {
        self.step()?;
        System.sync(path)
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        System.rename(from, to)
    }

    fn sync_folder(&mut self, folder: &Path) -> io::Result<()> {
        self.step()?;
        System.sync_folder(folder)
    }

    fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.step()?;
        System.remove(path)
    }
}

/// [`Files`] on a disk that fails.
#[must_use]
pub fn failing_files(disk: Failing, states: &Path, marks: Option<PathBuf>, key: StoreKey) -> Files {
    Files::on(Arc::new(Mutex::new(disk)), (states, marks), key)
}

/// What a thief of all of the responder's private keys makes in the name of `victim`, of whom he knows the
/// card alone: X3DH, whose first agreement he computes with the stolen prekey. He cannot sign for the victim;
/// where a signature is wanted he sends zeros.
///
/// # Errors
/// As [`crate::Identity::initiate`].
pub fn impersonate(
    stolen: &Responder,
    victim: &Card,
    setting: &Setting<'_>,
    random: &mut RandomStream,
) -> Result<Session, Error> {
    stolen.impersonated(victim, setting, random)
}
