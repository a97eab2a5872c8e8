//! What the writers and the head thread of one open log have in common: the register of files and the
//! chain of heads.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use keywright_clock::Clock;
use keywright_primitives::signature::SigningKey;
use keywright_types::{BootId, KeyVersion, Operation};

use crate::chain::{FileId, FileState, Origin};
use crate::check::CheckKey;
use crate::disk::{Disk, RESERVE_HEADS, RESERVE_RECORDS, Sink};
use crate::error::Step;
use crate::field::Field;
use crate::head::{self, Head, HeadId, RESERVE_MAX, SignedHead, Signer, Statement};
use crate::log::{Identity, SyncMode};
use crate::record::{Facts, Record};
use crate::segment::{Segment, Slot, locked};
use crate::{AuditError, RecordType};

pub(crate) struct Shared {
    pub(crate) disk: Box<dyn Disk>,
    pub(crate) identity: Identity,
    pub(crate) boot: BootId,
    pub(crate) clock: Clock,
    pub(crate) mode: SyncMode,
    pub(crate) file_limit: u64,
    pub(crate) reserve: u64,
    check_key: CheckKey,
    /// Heads cannot be written: records would go unsigned, so none is taken.
    pub(crate) heads_failing: AtomicBool,
    pub(crate) stopped: AtomicBool,
    pub(crate) open_orders: AtomicU32,
    /// Writers that have lost their file and not found another.
    pub(crate) writers_failing: AtomicU32,
    pub(crate) reserved: Mutex<Option<Segment>>,
    next_writer: AtomicU32,
    heads: Mutex<Heads>,
}

/// The chain of heads and the files that the next one will state.
pub(crate) struct Heads {
    newest: HeadId,
    epoch: u64,
    listed: Vec<Listed>,
    /// Files of earlier boots, for the first head and for pruning.
    older: Vec<FileState>,
    key: SigningKey,
    version: KeyVersion,
    part: u32,
    file: Option<HeadsFile>,
    reserve_file: Option<HeadsFile>,
    /// Somewhere a failed write left bytes that could not be cut off: this boot must end as a crash.
    torn: bool,
}

struct Listed {
    slot: Arc<Slot>,
    stated: Option<FileState>,
}

struct HeadsFile {
    sink: Arc<dyn Sink>,
    length: u64,
}

/// Where space comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "there is the disk and there is the reserve"
)]
pub enum Room {
    /// The disk alone.
    Ordinary,
    /// The disk, and the preallocated reserve if the disk is full: for revoke, suspend and shutdown.
    Reserved,
}

impl Heads {
    pub(crate) fn new(
        newest: HeadId,
        epoch: u64,
        older: Vec<FileState>,
        (key, version): (SigningKey, KeyVersion),
    ) -> Self {
        Self {
            newest,
            epoch,
            listed: Vec::new(),
            older,
            key,
            version,
            part: 0,
            file: None,
            reserve_file: None,
            torn: false,
        }
    }
}

impl Listed {
    /// What the next head states, and whether it is the last word on this file.
    ///
    /// Never more than is durable. A file whose sync failed has no last word in this boot: what lies
    /// behind its last sync may or may not be there when it is read.
    fn state(&self) -> (FileState, Ended) {
        let point = self.slot.point();
        let ended = if point.has_ended() {
            Ended::Yes
        } else {
            Ended::No
        };
        (point.synced, ended)
    }
}

/// Whether a head is the last of its boot.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Yes,
    No,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    Yes,
    No,
}

impl Shared {
    pub(crate) fn new(
        disk: Box<dyn Disk>,
        boot: BootId,
        heads: Heads,
        settings: SharedSettings,
    ) -> Self {
        Self {
            disk,
            identity: settings.identity,
            boot,
            clock: settings.clock,
            mode: settings.mode,
            file_limit: settings.file_limit,
            reserve: settings.reserve,
            check_key: settings.check_key,
            heads_failing: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            open_orders: AtomicU32::new(0),
            writers_failing: AtomicU32::new(0),
            reserved: Mutex::new(None),
            next_writer: AtomicU32::new(0),
            heads: Mutex::new(heads),
        }
    }

    /// Makes a new file under the next number and writes its first record.
    pub(crate) fn open_segment(&self, room: Room) -> io::Result<Segment> {
        let writer = self.next_writer.fetch_add(1, Ordering::Relaxed);
        let file = FileId {
            boot: self.boot,
            writer,
        };
        let name = file.file_name();
        let (sink, reserve) = match room {
            Room::Ordinary => (self.disk.create(&name)?, None),
            Room::Reserved => (
                self.disk.claim(RESERVE_RECORDS, &name)?,
                Some(self.reserve_of_records()),
            ),
        };
        let (slot, origin) = self.register(file, sink, reserve);
        let mut segment = Segment::new(Arc::clone(&slot), &origin, self.check_key.clone());
        let fields = origin.fields();
        let more = reserve.map(Field::Preallocated);
        let fields: Vec<_> = fields.into_iter().chain(more).collect();
        let facts = Facts::new(
            RecordType::FileStart,
            Operation::NodeStart,
            self.clock.wall(),
        );
        let first = segment.append(&Record {
            facts,
            fields: &fields,
        });
        if let Err(error) = first
            .map_err(io::Error::other)
            .and_then(|_| segment.flush())
        {
            self.forget(&slot);
            // An empty file says nothing, and a full disk must not collect them.
            let _ = self.disk.remove(&name);
            return Err(error);
        }
        Ok(segment)
    }

    /// Puts a file on the list of the next head. Under the lock, so that the head whose hash goes into
    /// link 0 is the one before the first that states the file.
    fn register(
        &self,
        file: FileId,
        sink: Arc<dyn Sink>,
        reserve: Option<u64>,
    ) -> (Arc<Slot>, Origin) {
        let mut heads = locked(&self.heads);
        let origin = Origin {
            installation: self.identity.installation,
            node: self.identity.node,
            file,
            newest_head: heads.newest.hash,
        };
        let slot = Arc::new(Slot::new(sink, file, origin.link(), reserve));
        heads.listed.push(Listed {
            slot: Arc::clone(&slot),
            stated: None,
        });
        (slot, origin)
    }

    fn forget(&self, slot: &Arc<Slot>) {
        locked(&self.heads)
            .listed
            .retain(|listed| listed.stated.is_some() || !Arc::ptr_eq(&listed.slot, slot));
    }

    pub(crate) fn slots(&self) -> Vec<Arc<Slot>> {
        locked(&self.heads)
            .listed
            .iter()
            .map(|listed| Arc::clone(&listed.slot))
            .collect()
    }

    /// Whether a head has something new to say, and whether part of that lies in the reserve.
    pub(crate) fn news(&self) -> Option<Room> {
        let heads = locked(&self.heads);
        let mut news = None;
        for listed in &heads.listed {
            let (state, ended) = listed.state();
            if listed.stated != Some(state) || ended == Ended::Yes {
                if listed.slot.reserve.is_some() {
                    return Some(Room::Reserved);
                }
                news = Some(Room::Ordinary);
            }
        }
        news
    }

    /// Whether the newest heads had to go into the reserve.
    pub(crate) fn signs_in_reserve(&self) -> bool {
        locked(&self.heads).reserve_file.is_some()
    }

    pub(crate) fn sync_files(&self) {
        for slot in self.slots() {
            // The slot remembers a failure: its writer leaves the file, and no head states the rest.
            let _ = slot.sync();
        }
    }

    /// Ends what was written into the reserve; the next records go to the disk again.
    pub(crate) fn leave_reserve(&self) -> bool {
        let Some(segment) = locked(&self.reserved).take() else {
            return false;
        };
        segment.slot.seal();
        segment.slot.trim();
        true
    }

    pub(crate) fn newest_head(&self) -> HeadId {
        locked(&self.heads).newest
    }

    pub(crate) fn epoch(&self) -> u64 {
        locked(&self.heads).epoch
    }

    pub(crate) fn older(&self) -> Vec<FileState> {
        locked(&self.heads).older.clone()
    }

    /// Signs and writes the next head. Every slot should have been synced just before.
    ///
    /// A boot that left bytes it could not cut off, or records it could not sync, ends without a
    /// shutdown head (design 7.35).
    pub(crate) fn sign(
        &self,
        statement: Statement,
        earlier: &[FileState],
        room: Room,
    ) -> Result<SignedHead, AuditError> {
        let mut heads = locked(&self.heads);
        let states: Vec<_> = heads.listed.iter().map(Listed::state).collect();
        let statement = match statement {
            Statement::Shutdown if heads.torn || heads.lags() => Statement::Running,
            statement => statement,
        };
        let epochs = heads.listed.iter().map(|listed| listed.slot.point().epoch);
        let head = Head {
            number: heads.newest.number + 1,
            time: self.clock.wall(),
            epoch: epochs.fold(heads.epoch, u64::max),
            previous: heads.newest.hash,
            statement,
            installation: self.identity.installation,
            node: self.identity.node,
            boot: self.boot,
            // After the states: an order counted as ended has its end in the files or after them.
            open_orders: self.open_orders.load(Ordering::SeqCst),
            files: earlier
                .iter()
                .copied()
                .chain(states.iter().map(|(state, _)| *state))
                .collect(),
        };
        let signed = SignedHead::sign(head, &heads.key, heads.version);
        if !signed.is_readable() {
            let files = signed.head().files.len();
            let cause = format!("a head of {files} files is longer than any reader takes");
            return Err(Step::WriteHead.failed()(io::Error::other(cause)));
        }
        self.write_head(&mut heads, &signed, room)
            .map_err(Step::WriteHead.failed())?;
        heads.newest = signed.id();
        heads.epoch = signed.head().epoch;
        heads.settle(&states);
        Ok(signed)
    }

    /// Hands over to another key; the old one signs that.
    pub(crate) fn change_signer(
        &self,
        key: SigningKey,
        version: KeyVersion,
    ) -> Result<SignedHead, AuditError> {
        let statement = Statement::SignerChange(Signer::of(&key, version));
        let signed = self.sign(statement, &[], Room::Ordinary)?;
        let mut heads = locked(&self.heads);
        (heads.key, heads.version) = (key, version);
        Ok(signed)
    }

    pub(crate) fn drop_older(&self, pruned: &[FileState]) {
        locked(&self.heads)
            .older
            .retain(|state| !pruned.contains(state));
    }

    fn write_head(&self, heads: &mut Heads, signed: &SignedHead, room: Room) -> io::Result<()> {
        let bytes = signed.framed();
        let last = match signed.head().statement {
            Statement::Shutdown => Last::Yes,
            _ => Last::No,
        };
        match self.write_ordinary(heads, &bytes) {
            Err(_) if room == Room::Reserved => self.write_reserved(heads, &bytes, last),
            other => other,
        }
    }

    fn write_ordinary(&self, heads: &mut Heads, bytes: &[u8]) -> io::Result<()> {
        let mut file = match heads.file.take() {
            Some(file) => file,
            None => HeadsFile {
                sink: self
                    .disk
                    .create(&head::file_name(self.boot, heads.next_part()))?,
                length: 0,
            },
        };
        match file.append(bytes) {
            Ok(()) => {
                heads.file = Some(file);
                heads.end_reserve();
                Ok(())
            }
            Err(error) => {
                match file.sink.cut(file.length) {
                    Ok(()) if error.kind() != io::ErrorKind::NotFound => heads.file = Some(file),
                    Ok(()) => {}
                    Err(_) => heads.torn = true,
                }
                Err(error)
            }
        }
    }

    /// Heads go on in the reserve; the ordinary file is left, so that each file holds a run of numbers.
    fn write_reserved(&self, heads: &mut Heads, bytes: &[u8], last: Last) -> io::Result<()> {
        let mut file = match heads.reserve_file.take() {
            Some(file) => file,
            None => HeadsFile {
                sink: self.disk.claim(
                    RESERVE_HEADS,
                    &head::file_name(self.boot, heads.next_part()),
                )?,
                length: 0,
            },
        };
        let end = file.length + bytes.len() as u64;
        let fits = end <= RESERVE_MAX.min(self.reserve);
        // Nothing, not even unused zeros, may follow a shutdown head.
        if !fits || (last == Last::Yes && file.sink.cut(end).is_err()) {
            heads.reserve_file = Some(file);
            return Err(io::ErrorKind::StorageFull.into());
        }
        let written = file.append(bytes);
        heads.file = None;
        heads.reserve_file = Some(file);
        written
    }

    /// Puts back what of the reserve was used, once the disk has space again.
    pub(crate) fn replenish(&self) -> io::Result<()> {
        let records = self.reserve_of_records();
        self.disk.lay_out(RESERVE_RECORDS, records)?;
        self.disk
            .lay_out(RESERVE_HEADS, RESERVE_MAX.min(self.reserve))
    }

    fn reserve_of_records(&self) -> u64 {
        self.reserve
            .saturating_sub(RESERVE_MAX)
            .max(self.reserve.min(RESERVE_MAX))
    }

    /// Ends every file. `torn` files are noted, for the last head's kind.
    pub(crate) fn end_files(&self) {
        *locked(&self.reserved) = None;
        for slot in self.slots() {
            slot.seal();
            slot.trim();
            // After a failure the last head does not claim an orderly end.
            let _ = slot.sync();
        }
        let mut heads = locked(&self.heads);
        let torn = heads.listed.iter().any(|listed| listed.slot.point().torn);
        heads.torn |= torn;
    }
}

impl Heads {
    const fn next_part(&mut self) -> u32 {
        let part = self.part;
        self.part += 1;
        part
    }

    /// Whether some file holds more than is known to be durable.
    fn lags(&self) -> bool {
        let mut points = self.listed.iter().map(|listed| listed.slot.point());
        points.any(|point| !point.is_durable())
    }

    fn end_reserve(&mut self) {
        if let Some(file) = self.reserve_file.take() {
            self.torn |= file.sink.cut(file.length).is_err();
        }
    }

    /// Remembers what was stated; a file that has ended is never stated again in this boot.
    fn settle(&mut self, states: &[(FileState, Ended)]) {
        let mut torn = self.torn;
        let mut index = 0;
        self.listed.retain_mut(|listed| {
            let stated = states.get(index);
            index += 1;
            let Some((state, ended)) = stated else {
                return true;
            };
            listed.stated = Some(*state);
            torn |= *ended == Ended::Yes && listed.slot.point().torn;
            *ended == Ended::No
        });
        self.torn = torn;
    }
}

impl HeadsFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sink.append(bytes)?;
        self.sink.sync()?;
        self.length += bytes.len() as u64;
        Ok(())
    }
}

/// The settings that stay in use while the log is open.
pub(crate) struct SharedSettings {
    pub(crate) identity: Identity,
    pub(crate) clock: Clock,
    pub(crate) mode: SyncMode,
    pub(crate) file_limit: u64,
    pub(crate) reserve: u64,
    pub(crate) check_key: CheckKey,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("boot", &self.boot)
            .finish_non_exhaustive()
    }
}
