//! Where the bytes go: the one seam between the log and the file system.
//!
//! [`Folder`] is the real one. [`crate::testing`] wraps it to make it fail. Reading is not part of the
//! seam: what was written is read as plain files.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The folder of one node's log.
pub trait Disk: Send + Sync {
    /// Makes a new file, mode 0600, that must not exist yet, and makes its name durable.
    ///
    /// # Errors
    /// What the file system says.
    fn create(&self, name: &str) -> io::Result<Arc<dyn Sink>>;

    /// Lays out a file of `length` zeros under `name`, unless it is there already.
    ///
    /// # Errors
    /// What the file system says; nothing is left behind then.
    fn lay_out(&self, name: &str, length: u64) -> io::Result<()>;

    /// Renames a laid-out file to its final name; what is appended takes the place of its zeros.
    ///
    /// # Errors
    /// What the file system says.
    fn claim(&self, reserve: &str, name: &str) -> io::Result<Arc<dyn Sink>>;

    /// Removes a file; one that is not there is removed already.
    ///
    /// # Errors
    /// What the file system says.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Gives the folder back to other processes. Nothing is written to it from then on.
    fn release(&self);
}

/// A file that only grows. Shared by the writer that appends and the thread that syncs.
pub trait Sink: Send + Sync {
    /// Appends all of `bytes` in one write where the system allows it.
    ///
    /// # Errors
    /// What the file system says; how much was written is unknown then.
    fn append(&self, bytes: &[u8]) -> io::Result<()>;

    /// Makes everything appended durable (fdatasync).
    ///
    /// # Errors
    /// What the file system says, and `NotFound` if the file no longer stands under its name: a log
    /// that was renamed or unlinked goes on nowhere.
    fn sync(&self) -> io::Result<()>;

    /// Cuts the file to `length`, which in a laid-out file may be beyond what was appended.
    ///
    /// # Errors
    /// What the file system says.
    fn cut(&self, length: u64) -> io::Result<()>;
}

/// A folder of the real file system, locked against a second process.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    lock: File,
}

impl Folder {
    /// Makes the folder (mode 0700) if need be and locks it. `Ok(None)` if someone else has it.
    pub(crate) fn open(path: &Path) -> io::Result<Option<Self>> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path.join(LOCK))?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Self {
                path: path.to_owned(),
                lock,
            })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn sync(&self) -> io::Result<()> {
        File::open(&self.path)?.sync_all()
    }
}

impl Drop for Folder {
    /// Given back by name: a process that this one has just started holds a copy of the file until it is the program
    /// that it was started for, and closing ours alone would leave the folder locked that long.
    fn drop(&mut self) {
        self.release();
    }
}

impl Disk for Folder {
    fn create(&self, name: &str) -> io::Result<Arc<dyn Sink>> {
        let path = self.path.join(name);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        self.sync()?;
        Ok(Arc::new(FileSink {
            file,
            path,
            end: AtomicU64::new(0),
        }))
    }

    fn lay_out(&self, name: &str, length: u64) -> io::Result<()> {
        let path = self.path.join(name);
        if fs::metadata(&path).is_ok_and(|found| found.len() == length) {
            return Ok(());
        }
        let written = lay_out(&path, length).and_then(|()| self.sync());
        if written.is_err() {
            // Half a reserve would use up the space that is missing.
            let _ = fs::remove_file(&path);
        }
        written
    }

    fn claim(&self, reserve: &str, name: &str) -> io::Result<Arc<dyn Sink>> {
        let path = self.path.join(name);
        let from = self.path.join(reserve);
        let file = OpenOptions::new().write(true).open(&from)?;
        fs::rename(&from, &path)?;
        self.sync()?;
        Ok(Arc::new(FileSink {
            file,
            path,
            end: AtomicU64::new(0),
        }))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.path.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn release(&self) {
        // A lock that cannot be given back ends with the file.
        let _ = self.lock.unlock();
    }
}

/// Zeros that are really written: a hole would need space later, which is what the reserve is against.
fn lay_out(path: &Path, length: u64) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?;
    let zeros = vec![0; 1 << 20];
    let mut left = length;
    while left > 0 {
        let count = usize::try_from(left).unwrap_or(usize::MAX).min(zeros.len());
        file.write_all(&zeros[..count])?;
        left -= count as u64;
    }
    file.sync_all()
}

#[derive(Debug)]
struct FileSink {
    file: File,
    path: PathBuf,
    end: AtomicU64,
}

impl Sink for FileSink {
    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        // One writer per file, so nobody moves the end between these lines.
        let end = self.end.load(Ordering::Relaxed);
        self.file.write_all_at(bytes, end)?;
        self.end.store(end + bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let (open, named) = (self.file.metadata()?, fs::metadata(&self.path)?);
        if (open.dev(), open.ino()) != (named.dev(), named.ino()) {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.file.sync_data()
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        self.file.set_len(length)?;
        self.end.fetch_min(length, Ordering::Relaxed);
        Ok(())
    }
}

/// The lock; not part of the log.
pub(crate) const LOCK: &str = "lock";
/// Zeros for records on a full disk.
pub(crate) const RESERVE_RECORDS: &str = "reserve-records";
/// Zeros for heads on a full disk.
pub(crate) const RESERVE_HEADS: &str = "reserve-heads";
