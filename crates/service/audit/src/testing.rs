//! A disk that fails on command, and a log that ends as if its process had been killed.
//!
//! For tests of this crate and of those above it: what they promise when the disk is full, broken, or
//! taken away (W8) can be tried only by making it so. Nothing here is reachable from a configuration.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::AuditError;
use crate::disk::{Disk, Folder, Sink};
use crate::error::Step;
use crate::log::{Log, Settings};
use crate::segment::locked;

/// Breaks the disk of a log that was opened with [`open`]. Clones are the same switch.
#[derive(Clone, Debug, Default)]
pub struct Faults(Arc<State>);

#[derive(Debug, Default)]
struct State {
    /// Kind of the failure, and how many bytes still fit before it.
    write: Mutex<Option<(io::ErrorKind, u64)>>,
    sync: AtomicBool,
    sync_once: AtomicBool,
    cut: AtomicBool,
}

impl Faults {
    /// From now on the disk takes `room` more bytes and then fails with `kind`, in the middle of a
    /// write if that is where it ends. No file can be made once the room is used up.
    pub fn fail_writes(&self, kind: io::ErrorKind, room: u64) {
        *locked(&self.0.write) = Some((kind, room));
    }

    /// From now on every sync fails.
    pub fn fail_syncs(&self) {
        self.0.sync.store(true, Ordering::SeqCst);
    }

    /// The next sync fails, and only that one: as Linux tells of a lost write once per open file. It
    /// takes its time, so that another sync of the same file could run beside it.
    pub fn fail_one_sync(&self) {
        self.0.sync_once.store(true, Ordering::SeqCst);
    }

    /// From now on no file can be cut.
    pub fn fail_cuts(&self) {
        self.0.cut.store(true, Ordering::SeqCst);
    }

    /// The disk is whole again.
    pub fn heal(&self) {
        *locked(&self.0.write) = None;
        self.0.sync.store(false, Ordering::SeqCst);
        self.0.sync_once.store(false, Ordering::SeqCst);
        self.0.cut.store(false, Ordering::SeqCst);
    }

    /// How many of `wanted` bytes fit, and the failure if not all do.
    fn admit(&self, wanted: usize) -> (usize, io::Result<()>) {
        let mut write = locked(&self.0.write);
        let Some((kind, room)) = write.as_mut() else {
            return (wanted, Ok(()));
        };
        let fits = usize::try_from(*room).unwrap_or(usize::MAX).min(wanted);
        *room -= fits as u64;
        let result = if fits < wanted {
            Err((*kind).into())
        } else {
            Ok(())
        };
        (fits, result)
    }

    fn may_create(&self) -> io::Result<()> {
        match *locked(&self.0.write) {
            Some((kind, 0)) => Err(kind.into()),
            _ => Ok(()),
        }
    }
}

/// Opens a log on a disk that `faults` can break.
///
/// # Errors
/// As [`Log::open`].
pub fn open(settings: Settings, faults: &Faults) -> Result<Log, AuditError> {
    let folder = Folder::open(&settings.dir)
        .map_err(Step::CreateFolder.failed())?
        .ok_or(AuditError::InUse)?;
    Log::open_on(
        settings,
        Box::new(Faulty {
            folder,
            faults: faults.clone(),
        }),
    )
}

/// Ends a log as a killed process would: no stop record, no last head.
pub fn crash(log: Log) {
    log.crash();
}

struct Faulty {
    folder: Folder,
    faults: Faults,
}

impl Disk for Faulty {
    fn create(&self, name: &str) -> io::Result<Arc<dyn Sink>> {
        self.faults.may_create()?;
        let sink = self.folder.create(name)?;
        Ok(Arc::new(FaultySink {
            sink,
            faults: self.faults.clone(),
            reserve: false,
        }))
    }

    fn lay_out(&self, name: &str, length: u64) -> io::Result<()> {
        self.faults.may_create()?;
        self.folder.lay_out(name, length)
    }

    fn claim(&self, reserve: &str, name: &str) -> io::Result<Arc<dyn Sink>> {
        let sink = self.folder.claim(reserve, name)?;
        Ok(Arc::new(FaultySink {
            sink,
            faults: self.faults.clone(),
            reserve: true,
        }))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.folder.remove(name)
    }

    fn release(&self) {
        self.folder.release();
    }
}

struct FaultySink {
    sink: Arc<dyn Sink>,
    faults: Faults,
    /// Laid out beforehand: a full disk does not matter here, a broken one does.
    reserve: bool,
}

impl Sink for FaultySink {
    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        let full = matches!(
            *locked(&self.faults.0.write),
            Some((io::ErrorKind::StorageFull, _))
        );
        if self.reserve && full {
            return self.sink.append(bytes);
        }
        let (fits, result) = self.faults.admit(bytes.len());
        self.sink.append(&bytes[..fits])?;
        result
    }

    fn sync(&self) -> io::Result<()> {
        if self.faults.0.sync_once.swap(false, Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(300));
            return Err(io::Error::other("injected"));
        }
        if self.faults.0.sync.load(Ordering::SeqCst) {
            return Err(io::Error::other("injected"));
        }
        self.sink.sync()
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        if self.faults.0.cut.load(Ordering::SeqCst) {
            return Err(io::Error::other("injected"));
        }
        self.sink.cut(length)
    }
}
