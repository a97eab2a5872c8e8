//! The few steps in which files are replaced, one by one, so that a test can stop after each of them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

/// What is done to files.
pub(crate) trait Disk {
    /// Makes or empties a file that its owner alone can read, and writes it.
    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Brings a file's bytes to the disk.
    fn sync(&mut self, path: &Path) -> io::Result<()>;
    /// Gives a file another's name, in one step.
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()>;
    /// Brings a folder's names to the disk.
    fn sync_folder(&mut self, folder: &Path) -> io::Result<()>;
    /// Takes a name away.
    fn remove(&mut self, path: &Path) -> io::Result<()>;
}

/// The machine's files.
#[derive(Debug)]
pub(crate) struct System;

impl Disk for System {
    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path)?.write_all(bytes)
    }

    fn sync(&mut self, path: &Path) -> io::Result<()> {
        OpenOptions::new().write(true).open(path)?.sync_all()
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn sync_folder(&mut self, folder: &Path) -> io::Result<()> {
        File::open(folder)?.sync_all()
    }

    fn remove(&mut self, path: &Path) -> io::Result<()> {
        match fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }
}

/// Writes `bytes` under `name`, so that after a crash they are there as a whole or not at all.
pub(crate) fn stage(
    disk: &mut dyn Disk,
    folder: &Path,
    name: &str,
    bytes: &[u8],
) -> io::Result<()> {
    let path = folder.join(name);
    disk.write(&path, bytes)?;
    disk.sync(&path)?;
    disk.sync_folder(folder)
}

/// Puts what was staged under `from` in place of `to`.
pub(crate) fn put_in_place(
    disk: &mut dyn Disk,
    folder: &Path,
    from: &str,
    to: &str,
) -> io::Result<()> {
    disk.rename(&folder.join(from), &folder.join(to))?;
    disk.sync_folder(folder)
}

/// The file, if there is one; no more than `limit` bytes of it.
pub(crate) fn read(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    match u64::try_from(bytes.len()) {
        Ok(length) if length <= limit => Ok(Some(bytes)),
        _ => Err(io::ErrorKind::FileTooLarge.into()),
    }
}

/// A lock that goes with the process, and only one has at a time.
#[derive(Debug)]
pub(crate) struct Lock(File);

impl Drop for Lock {
    /// Given back by name: a process that this one has just started holds a copy of the file for a moment.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl Lock {
    /// The lock, unless somebody has it.
    pub(crate) fn try_take(path: &Path) -> io::Result<Option<Self>> {
        let file = open_lock(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }

    /// The lock, when whoever has it is done.
    pub(crate) fn take(path: &Path) -> io::Result<Self> {
        let file = open_lock(path)?;
        file.lock()?;
        Ok(Self(file))
    }
}

fn open_lock(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
}
