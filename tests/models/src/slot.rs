//! A writer and the head thread at one file of the audit log.
//!
//! What must hold whatever they do: a head never states more than is durable; a sync that was lost is lost for everybody
//! and for ever, although the system tells of it once; behind the end of a file nothing is written.

use std::io;

use keywright_types::BootId;
use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use loom::thread;

use crate::audit_slot::{Point, Slot};
use crate::chain::{FileId, FileState};
use crate::disk::Sink;
use crate::sync::Arc;

/// A disk that knows what is durable, and may lose a write.
struct Disk {
    length: AtomicU64,
    durable: AtomicU64,
    /// The next sync is told that a write was lost, and no other.
    loses: AtomicBool,
}

impl Sink for Disk {
    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        let more = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.length.fetch_add(more, Ordering::SeqCst);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let length = self.length.load(Ordering::SeqCst);
        if self.loses.swap(false, Ordering::SeqCst) {
            return Err(io::Error::other("input/output error"));
        }
        self.durable.fetch_max(length, Ordering::SeqCst);
        Ok(())
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        self.length.store(length, Ordering::SeqCst);
        Ok(())
    }
}

/// One file on one disk.
struct File {
    slot: Arc<Slot>,
    disk: Arc<Disk>,
}

const FILE: FileId = FileId {
    boot: BootId::from_bytes([1; 16]),
    writer: 0,
};
const RECORD: [u8; 10] = [0; 10];

impl File {
    fn new(loses: Loses) -> Self {
        let disk = Arc::new(Disk {
            length: AtomicU64::new(0),
            durable: AtomicU64::new(0),
            loses: AtomicBool::new(loses == Loses::OneWrite),
        });
        let sink = Arc::clone(&disk) as Arc<dyn Sink>;
        Self {
            slot: Arc::new(Slot::new(sink, FILE, [0; 32], None)),
            disk,
        }
    }

    fn both(&self) -> (Arc<Slot>, Arc<Disk>) {
        (Arc::clone(&self.slot), Arc::clone(&self.disk))
    }
}

#[derive(PartialEq, Eq)]
enum Loses {
    Nothing,
    OneWrite,
}

/// Writes the record of this number, as a segment does; whether it could.
fn write(slot: &Slot, number: u64) -> bool {
    if !slot.begin_write() {
        return false;
    }
    if slot.sink.append(&RECORD).is_err() {
        slot.abandon();
        return false;
    }
    let written = FileState {
        file: FILE,
        sequence: number,
        link: [0; 32],
        length: number * 10,
    };
    slot.end_write(written, number);
    true
}

/// What a head would state now must be on the disk.
fn check_statement(slot: &Slot, disk: &Disk) -> Point {
    let point = slot.point();
    let durable = disk.durable.load(Ordering::SeqCst);
    assert!(
        point.synced.length <= durable,
        "a head states {} of {durable} durable bytes",
        point.synced.length
    );
    assert!(point.synced.length <= point.written.length);
    point
}

/// A writer writes while the head thread syncs and states.
///
/// # Panics
/// If the model finds an order of things in which it does not hold.
pub fn no_head_states_more_than_is_durable() {
    loom::model(|| {
        let file = File::new(Loses::Nothing);
        let (slot, _) = file.both();
        let writer = thread::spawn(move || {
            assert!(write(&slot, 1));
            assert!(write(&slot, 2));
        });
        let (slot, disk) = file.both();
        let mut before = 0;
        for _ in 0..2 {
            assert!(slot.sync().is_ok());
            let stated = check_statement(&slot, &disk).synced.length;
            assert!(stated >= before, "a head goes back");
            before = stated;
        }
        assert!(writer.join().is_ok());
        assert!(slot.sync().is_ok());
        assert_eq!(check_statement(&slot, &disk).synced.length, 20);
    });
}

/// Two threads sync a file of which a write was lost, which the system tells one of them.
///
/// # Panics
/// If the model finds an order of things in which it does not hold.
pub fn a_lost_write_is_lost_for_everybody_and_for_ever() {
    loom::model(|| {
        let file = File::new(Loses::OneWrite);
        assert!(write(&file.slot, 1));
        let (slot, disk) = file.both();
        let other = thread::spawn(move || {
            let synced = slot.sync();
            check_statement(&slot, &disk);
            synced.is_ok()
        });
        let own = file.slot.sync().is_ok();
        let Ok(theirs) = other.join() else {
            unreachable!("a model that panics ends there");
        };
        assert!(!own && !theirs, "somebody was told that all is well");
        assert!(file.slot.has_failed());
        assert!(file.slot.sync().is_err());
        assert_eq!(check_statement(&file.slot, &file.disk).synced.length, 0);
        file.slot.seal();
        assert!(!file.slot.point().has_ended(), "its end would be stated");
    });
}

/// The head thread ends a file while its writer writes.
///
/// # Panics
/// If the model finds an order of things in which it does not hold.
pub fn nothing_is_written_behind_an_end_and_no_end_is_stated_before_it_is_durable() {
    loom::model(|| {
        let file = File::new(Loses::Nothing);
        let (slot, _) = file.both();
        let writer = thread::spawn(move || {
            let first = write(&slot, 1);
            first && write(&slot, 2)
        });
        let (slot, disk) = file.both();
        slot.seal();
        let end = slot.point();
        assert!(!end.torn, "nobody was in the middle of a write");
        assert!(slot.sync().is_ok());
        let stated = check_statement(&slot, &disk);
        assert!(stated.has_ended());
        let Ok(all) = writer.join() else {
            unreachable!("a model that panics ends there");
        };
        let last = check_statement(&slot, &disk);
        assert_eq!(last.written, end.written, "written behind the end");
        assert_eq!(disk.length.load(Ordering::SeqCst), last.written.length);
        assert_eq!(all, last.written.length == 20);
    });
}
