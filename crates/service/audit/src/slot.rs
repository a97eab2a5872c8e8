//! What the writer of a file and the head thread share of it: how far it is written and how far it is durable.
//!
//! `tests/models` reads this file once more, with the locks of a model checker in the place of `crate::sync`, and tries
//! every order in which two threads can come through here. So it names no lock and no atomic from anywhere else.

use std::io;

use crate::chain::{FileId, FileState, Link};
use crate::disk::Sink;
use crate::sync::{Arc, AtomicBool, Mutex, MutexGuard, Ordering, PoisonError, pause};

/// Takes a lock whatever happened to its last holder: the values behind these locks are replaced whole,
/// so a thread that died has not left them half-changed.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file as the head thread sees it.
pub(crate) struct Slot {
    pub(crate) sink: Arc<dyn Sink>,
    point: Mutex<Point>,
    /// Held while the file is synced, never while it is written.
    syncing: Mutex<()>,
    /// A sync failed, whoever asked for it: the writer must leave this file. Never cleared.
    failed: AtomicBool,
    /// Whether the file lies in the reserve.
    pub(crate) reserve: Option<u64>,
}

/// How far a file has come, and what may still happen to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    /// Written to the operating system.
    pub(crate) written: FileState,
    /// Known to be durable.
    pub(crate) synced: FileState,
    /// Highest epoch of any record written.
    pub(crate) epoch: u64,
    /// A write is under way.
    busy: bool,
    /// Nothing more may be written.
    pub(crate) sealed: bool,
    /// A failed write left bytes after the end that could not be cut off.
    pub(crate) torn: bool,
}

impl Point {
    /// Nothing more will be written, nothing is being written, and all that was is durable.
    pub(crate) const fn has_ended(&self) -> bool {
        self.sealed && !self.busy && self.is_durable()
    }

    /// All that was written is durable.
    pub(crate) const fn is_durable(&self) -> bool {
        self.written.length == self.synced.length
    }
}

impl Slot {
    pub(crate) fn new(sink: Arc<dyn Sink>, file: FileId, link: Link, reserve: Option<u64>) -> Self {
        let start = FileState {
            file,
            sequence: 0,
            link,
            length: 0,
        };
        let point = Point {
            written: start,
            synced: start,
            epoch: 0,
            busy: false,
            sealed: false,
            torn: false,
        };
        Self {
            sink,
            point: Mutex::new(point),
            syncing: Mutex::new(()),
            failed: AtomicBool::new(false),
            reserve,
        }
    }

    pub(crate) fn point(&self) -> Point {
        *locked(&self.point)
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// Makes what is written durable. Once this has failed it fails for ever, for every caller.
    ///
    /// Linux tells of a lost write once per open file: of two syncs at the same time one hears of it
    /// and the other is told that all is well, and so is every later one. Hence one at a time, and the
    /// answer is kept.
    pub(crate) fn sync(&self) -> io::Result<()> {
        let Ok(_alone) = self.syncing.lock() else {
            // The thread that was syncing died with the answer.
            self.failed.store(true, Ordering::Release);
            return Err(lost());
        };
        self.admit_sync()?;
        let before = self.point();
        if before.is_durable() {
            return Ok(());
        }
        self.sink
            .sync()
            .inspect_err(|_| self.failed.store(true, Ordering::Release))?;
        self.admit_sync()?;
        locked(&self.point).synced = before.written;
        Ok(())
    }

    fn admit_sync(&self) -> io::Result<()> {
        if self.has_failed() {
            return Err(lost());
        }
        Ok(())
    }

    /// Ends the file. Waits for a write that is under way, at most five seconds: a disk that hangs must
    /// not hang the stop as well.
    pub(crate) fn seal(&self) {
        for _ in 0..5_000 {
            let mut point = locked(&self.point);
            point.sealed = true;
            if !point.busy {
                return;
            }
            drop(point);
            pause();
        }
        locked(&self.point).torn = true;
    }

    /// Ends the file after a failed write: cuts off what the write may have left.
    pub(crate) fn abandon(&self) {
        let length = self.point().written.length;
        let cut = self.sink.cut(length);
        let mut point = locked(&self.point);
        (point.busy, point.sealed) = (false, true);
        point.torn |= cut.is_err();
    }

    /// Tries once more to cut off what a failed write left, and whatever of the reserve is unused.
    pub(crate) fn trim(&self) {
        let point = self.point();
        if (point.torn || self.reserve.is_some()) && self.sink.cut(point.written.length).is_ok() {
            locked(&self.point).torn = false;
        } else if self.reserve.is_some() {
            locked(&self.point).torn = true;
        }
    }

    /// Whether a write may begin; then it must end, or be abandoned.
    pub(crate) fn begin_write(&self) -> bool {
        let mut point = locked(&self.point);
        point.busy = !point.sealed;
        point.busy
    }

    /// What was written is with the operating system.
    pub(crate) fn end_write(&self, written: FileState, epoch: u64) {
        let mut point = locked(&self.point);
        point.written = written;
        point.epoch = point.epoch.max(epoch);
        point.busy = false;
    }
}

/// What every sync of a file answers after one has failed.
fn lost() -> io::Error {
    io::Error::other("an earlier sync of this file failed")
}

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slot")
            .field("point", &self.point())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::AtomicU32;
    use std::time::Duration;

    use keywright_types::BootId;

    use super::*;

    /// Tells of a lost write once, as Linux does, and late enough for a second sync to begin before.
    struct TellsOnce {
        lost: AtomicBool,
        syncs: AtomicU32,
    }

    impl Sink for TellsOnce {
        fn append(&self, _: &[u8]) -> io::Result<()> {
            Ok(())
        }

        fn sync(&self) -> io::Result<()> {
            self.syncs.fetch_add(1, Ordering::SeqCst);
            let tell = self.lost.swap(false, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(200));
            if tell {
                return Err(io::Error::other("input/output error"));
            }
            Ok(())
        }

        fn cut(&self, _: u64) -> io::Result<()> {
            Ok(())
        }
    }

    fn written_slot() -> (Slot, Arc<TellsOnce>, FileState) {
        let file = FileId {
            boot: BootId::from_bytes([1; 16]),
            writer: 0,
        };
        let sink = Arc::new(TellsOnce {
            lost: AtomicBool::new(false),
            syncs: AtomicU32::new(0),
        });
        let slot = Slot::new(Arc::clone(&sink) as Arc<dyn Sink>, file, [0; 32], None);
        let written = FileState {
            file,
            sequence: 1,
            link: [1; 32],
            length: 100,
        };
        assert!(slot.begin_write());
        slot.end_write(written, 1);
        (slot, sink, written)
    }

    fn two_at_once(slot: &Slot) -> [io::Result<()>; 2] {
        let together = Barrier::new(2);
        let sync = || {
            together.wait();
            slot.sync()
        };
        std::thread::scope(|scope| {
            let other = scope.spawn(sync);
            let own = sync();
            [own, other.join().unwrap()]
        })
    }

    #[test]
    fn a_loss_that_is_told_once_is_heard_by_every_sync_from_then_on() {
        let (slot, sink, written) = written_slot();
        sink.lost.store(true, Ordering::SeqCst);
        assert!(two_at_once(&slot).iter().all(Result::is_err));
        assert!(slot.has_failed());
        assert!(slot.sync().is_err());
        assert_eq!(slot.point().synced.length, 0);
        assert_eq!(slot.point().written, written);
        assert_eq!(sink.syncs.load(Ordering::SeqCst), 1);
        slot.seal();
        assert!(!slot.point().has_ended());
    }

    #[test]
    fn two_syncs_of_a_whole_file_succeed_with_one_call() {
        let (slot, sink, written) = written_slot();
        assert!(two_at_once(&slot).iter().all(Result::is_ok));
        assert_eq!(slot.point().synced, written);
        assert_eq!(sink.syncs.load(Ordering::SeqCst), 1);
        slot.seal();
        assert!(slot.point().has_ended());
    }

    #[test]
    fn a_file_is_written_while_it_is_being_synced() {
        let (slot, sink, written) = written_slot();
        let more = FileState {
            length: 200,
            sequence: 2,
            ..written
        };
        std::thread::scope(|scope| {
            let sync = scope.spawn(|| slot.sync());
            while sink.syncs.load(Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
            assert!(slot.begin_write());
            slot.end_write(more, 1);
            assert!(!slot.has_failed());
            assert!(!sync.is_finished());
            assert!(sync.join().unwrap().is_ok());
        });
        assert_eq!((slot.point().synced, slot.point().written), (written, more));
    }
}
