//! Opening and closing a log, and the thread behind it (design 7.34 to 7.36).
//!
//! One background thread per log syncs the files in groups, signs a head at most one second after a
//! record and once a minute when idle, and puts the reserve back after a full disk. A writer waits for
//! it only while it begins a new file.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::JoinHandle;
use std::time::Duration;

use keywright_clock::{Clock, WallTime};
use keywright_primitives::random::RandomStream;
use keywright_primitives::signature::SigningKey;
use keywright_types::{BootId, InstallationId, KeyVersion, NodeId, Operation};

use crate::check::CheckKey;
use crate::disk::{Disk, Folder};
use crate::error::Step;
use crate::head::{HeadId, SignedHead, Signer, Statement};
use crate::history::{self, History};
use crate::keeper::Keeper;
use crate::order::UnfinishedOrder;
use crate::record::Facts;
use crate::shared::{Heads, Shared, SharedSettings};
use crate::writer::{Order, Writer};
use crate::{AuditError, Fault, Finding, RecordType};

/// What takes every signed head as soon as it is durable: the copy in the store. It runs on the log's
/// thread and must not call the log.
pub type HeadSink = Box<dyn Fn(&SignedHead) + Send>;

/// Whose log this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a log belongs to one node of one installation"
)]
pub struct Identity {
    /// The installation.
    pub installation: InstallationId,
    /// The node.
    pub node: NodeId,
}

/// When records reach the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "what `audit.sync` can say")]
pub enum SyncMode {
    /// In groups, this often; answers leave once the operating system has the record.
    Grouped(Duration),
    /// Before the answer.
    Strict,
}

/// The keys of a log.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "heads are signed and frames are checked, and nothing else has a key"
)]
pub struct Keys {
    /// The key that signs heads.
    pub signer: SigningKey,
    /// Its version.
    pub version: KeyVersion,
    /// The key of check frames.
    pub check: CheckKey,
}

/// How to open a log.
#[non_exhaustive]
pub struct Settings {
    /// The folder; made if it is not there.
    pub dir: PathBuf,
    /// Whose log it is.
    pub identity: Identity,
    /// The clock.
    pub clock: Clock,
    /// When records reach the medium. Default: in groups, every 100 ms.
    pub sync: SyncMode,
    /// The keys of the log.
    pub keys: Keys,
    /// Takes every signed head. Default: nothing does.
    pub head_sink: HeadSink,
    /// The newest head that the store has, [`HeadId::NONE`] if it has none: a log that ends before it is refused, and
    /// one that goes on for more than one head after it. Default: there is no store to compare with.
    pub newest_known: Option<HeadId>,
    /// The number of a `newest_known` that is accepted however far the log goes on after it.
    pub accept_known: Option<u64>,
    /// The epoch that the store is at; a log that is further is refused. Default: there is no store to compare with.
    pub store_epoch: Option<u64>,
    /// Length at which a writer goes on in a new file. Default: 256 MiB.
    pub file_limit: u64,
    /// Bytes laid out for a full disk. Default: 16 MiB.
    pub reserve: u64,
}

impl Settings {
    /// The defaults for this folder, node and keys.
    #[must_use]
    pub fn new(dir: PathBuf, identity: Identity, clock: Clock, keys: Keys) -> Self {
        Self {
            dir,
            identity,
            clock,
            sync: SyncMode::Grouped(Duration::from_millis(100)),
            keys,
            head_sink: Box::new(|_| {}),
            newest_known: None,
            accept_known: None,
            store_epoch: None,
            file_limit: 256 << 20,
            reserve: 16 << 20,
        }
    }
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings")
            .field("dir", &self.dir)
            .field("identity", &self.identity)
            .field("sync", &self.sync)
            .finish_non_exhaustive()
    }
}

/// An open log.
#[derive(Debug)]
pub struct Log {
    shared: Arc<Shared>,
    commands: SyncSender<Command>,
    thread: Option<JoinHandle<()>>,
    unfinished: Vec<UnfinishedOrder>,
    unproven: u64,
    marked: u64,
    damage: Vec<Finding>,
}

/// How a log is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Health {
    /// Heads cannot be written; no record is taken.
    pub heads_failing: bool,
    /// Writers that have lost their file and could not begin another.
    pub writers_failing: u32,
    /// The newest head.
    pub newest_head: HeadId,
}

impl Health {
    /// Whether every writer can write.
    #[must_use]
    pub const fn is_good(&self) -> bool {
        !self.heads_failing && self.writers_failing == 0
    }
}

impl Log {
    /// Opens the folder: continues the chain of heads, names every older file with length and link in
    /// this boot's first head, lays out the reserve, and starts the thread.
    ///
    /// # Errors
    /// [`AuditError::InUse`], [`AuditError::SignerMismatch`], [`AuditError::Damaged`] if the chain of
    /// heads cannot be continued, [`AuditError::StoreBehind`], [`AuditError::StoreOlder`], and
    /// [`AuditError::Io`].
    pub fn open(settings: Settings) -> Result<Self, AuditError> {
        let folder = Folder::open(&settings.dir)
            .map_err(Step::CreateFolder.failed())?
            .ok_or(AuditError::InUse)?;
        Self::open_on(settings, Box::new(folder))
    }

    /// [`Log::open`] on a disk of the caller's; `settings.dir` is where older files are read.
    ///
    /// # Errors
    /// As [`Log::open`].
    pub(crate) fn open_on(settings: Settings, disk: Box<dyn Disk>) -> Result<Self, AuditError> {
        let history = history::read(&settings)?;
        history.admits(&settings)?;
        let lacks = settings
            .newest_known
            .is_some_and(|known| known != history.newest);
        if let Some(head) = history.newest_head.as_ref().filter(|_| lacks) {
            // A crash may have come between this head and its copy. Made good here, before the next is signed, so that
            // crashes in a row never leave the store more than one head behind.
            (settings.head_sink)(head);
        }
        let boot = RandomStream::new()
            .and_then(|mut stream| stream.array())
            .map_err(|_| AuditError::Randomness)?;
        let heads = Heads::new(
            history.newest,
            history.epoch,
            history.older.clone(),
            (settings.keys.signer, settings.keys.version),
        );
        let shared = Arc::new(Shared::new(
            disk,
            BootId::from_bytes(boot),
            heads,
            SharedSettings {
                identity: settings.identity,
                clock: settings.clock,
                mode: settings.sync,
                file_limit: settings.file_limit,
                reserve: settings.reserve,
                check_key: settings.keys.check,
            },
        ));
        Self::start(shared, history, (settings.dir, settings.head_sink))
    }

    fn start(
        shared: Arc<Shared>,
        history: History,
        (dir, sink): (PathBuf, HeadSink),
    ) -> Result<Self, AuditError> {
        shared
            .replenish()
            .map_err(Step::PreallocateReserve.failed())?;
        let mut own = Writer::open(Arc::clone(&shared)).map_err(Step::WriteRecord.failed())?;
        own.append(&node_facts(RecordType::NodeStart, &shared).into())
            .map(drop)?;
        for order in &history.unfinished {
            own.carry(order)?;
        }
        own.sync()?;
        let count = u32::try_from(history.unfinished.len()).unwrap_or(u32::MAX);
        shared.open_orders.store(count, Ordering::SeqCst);
        let older = shared.older();
        let statement = match history.unproven.is_empty() {
            true => Statement::Start,
            false => Statement::StartUnproven(history.unproven),
        };
        let head = shared.sign(statement, &older, crate::Room::Ordinary)?;
        sink(&head);
        let (commands, orders) = mpsc::sync_channel(8);
        let keeper = Keeper::new(Arc::clone(&shared), own, dir, sink);
        let thread = std::thread::Builder::new()
            .name("audit".to_owned())
            .spawn(move || keeper.run(&orders))
            .map_err(Step::StartThread.failed())?;
        Ok(Self {
            shared,
            commands,
            thread: Some(thread),
            unfinished: history.unfinished,
            unproven: history.adopted,
            marked: history.marked,
            damage: history.damage,
        })
    }

    /// A writer for one thread, with a file of its own.
    ///
    /// # Errors
    /// [`AuditError::Io`].
    pub fn writer(&self) -> Result<Writer, AuditError> {
        Writer::open(Arc::clone(&self.shared)).map_err(Step::WriteRecord.failed())
    }

    /// The orders that earlier boots left without an end (design 7.29), each to be settled with the
    /// [`Order`] beside it. Empty when asked again.
    pub fn take_unfinished(&mut self) -> Vec<(UnfinishedOrder, Order)> {
        std::mem::take(&mut self.unfinished)
            .into_iter()
            .map(|unfinished| {
                let request = unfinished.facts().request;
                (unfinished, Order::open(Arc::clone(&self.shared), request))
            })
            .collect()
    }

    /// What was wrong with the files of the last boots, as far as they had to be read. The verifier
    /// says more; a server reports this and goes on, because refusing to run would not repair it.
    #[must_use]
    pub fn damage(&self) -> &[Finding] {
        &self.damage
    }

    /// How many records this start found that neither a head nor a check frame proves. None of them was believed, and
    /// the first head of this boot says for ever which they are. A crash that cuts a write of several records leaves
    /// such, a log of an earlier version does, and so does anybody who can write the folder.
    #[must_use]
    pub const fn unproven(&self) -> u64 {
        self.unproven
    }

    /// How many records of older files the first head of this boot marks as unproven: those of [`Log::unproven`], and
    /// those that earlier starts found.
    #[must_use]
    pub const fn marked(&self) -> u64 {
        self.marked
    }

    /// This boot's id.
    #[must_use]
    pub fn boot(&self) -> BootId {
        self.shared.boot
    }

    /// How the log is doing.
    #[must_use]
    pub fn health(&self) -> Health {
        Health {
            heads_failing: self.shared.heads_failing.load(Ordering::Acquire),
            writers_failing: self.shared.writers_failing.load(Ordering::Relaxed),
            newest_head: self.shared.newest_head(),
        }
    }

    /// Syncs every file and signs a head now.
    ///
    /// # Errors
    /// [`AuditError::Io`], [`AuditError::Unavailable`] if the log is closing.
    pub fn sign_head(&self) -> Result<SignedHead, AuditError> {
        self.ask(Command::Sign)
    }

    /// Hands over to another key; the old one signs that (design 7.34).
    ///
    /// # Errors
    /// As [`Log::sign_head`].
    pub fn change_signer(
        &self,
        key: SigningKey,
        version: KeyVersion,
    ) -> Result<SignedHead, AuditError> {
        self.ask(|reply| Command::ChangeSigner(Box::new((key, version)), reply))
    }

    /// Removes the boots from the front whose last head is older than `before`, after a signed head has
    /// said which files those are (design 7.35). `None` if there is no such boot.
    ///
    /// # Errors
    /// As [`Log::sign_head`].
    pub fn prune(&self, before: WallTime) -> Result<Option<SignedHead>, AuditError> {
        self.ask(|reply| Command::Prune(before, reply))
    }

    /// Ends the log in order: ends every file, records the stop, signs the shutdown head. Writers that
    /// are still there can write no more; the folder is free for another log when they are gone too.
    ///
    /// # Errors
    /// [`AuditError::Io`] if the last head could not be written.
    pub fn shutdown(mut self) -> Result<SignedHead, AuditError> {
        let last = self.ask(Command::Stop);
        self.join();
        last
    }

    /// Ends the thread as a crash would: no stop record, no last head.
    pub(crate) fn crash(mut self) {
        // A thread that is gone already has crashed better than asked.
        let _ = self.commands.send(Command::Crash);
        self.join();
    }

    fn ask<T>(
        &self,
        command: impl FnOnce(SyncSender<Result<T, AuditError>>) -> Command,
    ) -> Result<T, AuditError> {
        let (reply, answer) = mpsc::sync_channel(1);
        self.commands
            .send(command(reply))
            .map_err(|_| AuditError::Unavailable)?;
        answer.recv().map_err(|_| AuditError::Unavailable)?
    }

    fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has already made every writer refuse.
            let _ = thread.join();
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if self.thread.is_some() {
            // Whoever wants to know whether the last head was written calls `shutdown`.
            let _ = self.ask(Command::Stop);
            self.join();
        }
    }
}

/// What the thread is asked to do.
pub(crate) enum Command {
    Sign(SyncSender<Result<SignedHead, AuditError>>),
    ChangeSigner(
        Box<(SigningKey, KeyVersion)>,
        SyncSender<Result<SignedHead, AuditError>>,
    ),
    Prune(WallTime, SyncSender<Result<Option<SignedHead>, AuditError>>),
    Stop(SyncSender<Result<SignedHead, AuditError>>),
    Crash,
}

pub(crate) type Commands = Receiver<Command>;

/// The record of a node's start or stop.
pub(crate) fn node_facts(kind: RecordType, shared: &Shared) -> Facts {
    let operation = match kind {
        RecordType::NodeStop => Operation::NodeStop,
        _ => Operation::NodeStart,
    };
    let mut facts = Facts::new(kind, operation, shared.clock.wall());
    facts.epoch = shared.epoch();
    facts
}

impl History {
    /// Whether this node, this key and what the store knows go with what is on disk. A log that was
    /// continued under another name would never verify again; one that was continued beside an older store would not go
    /// with the newer one any more.
    fn admits(&self, settings: &Settings) -> Result<(), AuditError> {
        if self
            .identity
            .is_some_and(|identity| identity != settings.identity)
        {
            return Err(AuditError::Damaged(self.finding(Fault::HeadOrder)));
        }
        let own = Signer::of(&settings.keys.signer, settings.keys.version);
        if self.signer.is_some_and(|signer| signer != own) {
            return Err(AuditError::SignerMismatch);
        }
        if !self.is_own {
            // A key that is not the node's can appoint the node's.
            return Err(AuditError::Damaged(self.finding(Fault::Signer)));
        }
        let Some(known) = settings.newest_known else {
            return Ok(());
        };
        if !self.reaches(known) {
            return Err(AuditError::Damaged(self.finding(Fault::CutBack)));
        }
        let newest = self.newest.number;
        let accepted = settings.accept_known == Some(known.number);
        if newest - known.number > MOST_BEHIND && !accepted {
            return Err(AuditError::StoreBehind {
                known: known.number,
                newest,
            });
        }
        if !self.has_known {
            return Err(AuditError::Damaged(self.finding(Fault::CutBack)));
        }
        match settings.store_epoch {
            Some(store) if store < self.epoch => Err(AuditError::StoreOlder {
                store,
                log: self.epoch,
            }),
            _ => Ok(()),
        }
    }
}

/// Heads that a store may lack: each is copied there before the next is signed, so a crash costs the last copy.
const MOST_BEHIND: u64 = 1;
