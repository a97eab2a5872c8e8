//! One node: everything of a home opened, checked, and joined.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use keywright_audit::batch::Detail;
use keywright_audit::check::CheckKey;
use keywright_audit::head::{HeadId, SignedHead};
use keywright_audit::log::{Identity, Keys, Log, Settings as LogSettings, SyncMode};
use keywright_clock::{Clock, WallTime};
use keywright_custody::KeyHolder;
use keywright_custody::budget::{Budget, SealLimits, Spent};
use keywright_keystore::{Keystore, ServiceKey};
use keywright_primitives::mac::MacKey;
use keywright_primitives::signature::SigningKey;
use keywright_secret::locked::{Locking, lock_process};
use keywright_service::{
    Admin, PoolSize, Settings as ServiceSettings, Shared, Snapshot, load_trust, settle,
};
use keywright_store::{Engine, SqliteEngine, Store, Table, Transaction, read_meta};
use keywright_tls::ClientTrust;
use keywright_token_process::TokenProcess;
use keywright_types::{KeyVersion, NodeId, TenantId};

use crate::backup::BackupSigner;
use crate::doors::{Doors, Handshakes, Trust};
use crate::holders::{join_holders, open_keystore};
use crate::token::Opened;
use crate::{Config, Event, HomeError, ItemDetail, Level, MemoryLock, Sync, files, rotation};

/// Whether a node locks the memory of its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is nothing between")]
pub enum MemoryPlan {
    /// As the configuration says: for a process that serves.
    AsConfigured,
    /// Not: for a short command, and for tests that share a process.
    LeaveAlone,
}

/// How a node is opened.
struct Opening {
    memory: MemoryPlan,
    limits: SealLimits,
}

/// An opened home.
pub struct Node {
    folder: PathBuf,
    config: Config,
    clock: Clock,
    admin: Admin,
    store: Store,
    log: Mutex<Option<Log>>,
    doors: Doors,
    memory_locked: bool,
    derivation: Duration,
    path: PathBuf,
    backup_signer: BackupSigner,
    moving: Moving,
}

/// What changes while the node runs, beside the state.
#[derive(Default)]
struct Moving {
    /// When the server's certificate runs out, nanoseconds since 1970.
    certificate_until: AtomicU64,
    stopping: AtomicBool,
    level: Mutex<Level>,
    reading: Mutex<()>,
    teller: OnceLock<Teller>,
}

/// Where events go.
pub type Teller = Box<dyn Fn(&Event) -> std::io::Result<()> + Send + std::marker::Sync>;

impl Node {
    /// Opens the home that `config` describes, read from `path`.
    ///
    /// # Errors
    /// [`HomeError`]; nothing of the home is changed then.
    pub fn open(path: &Path, clock: Clock, memory: MemoryPlan) -> Result<Arc<Self>, HomeError> {
        let opening = Opening {
            memory,
            limits: SealLimits::STANDARD,
        };
        Self::assemble(path, clock, opening, |holder| holder)
    }

    /// As [`Node::open`], with other limits for keys that seal in a token: tests reach lower ones.
    ///
    /// # Errors
    /// As [`Node::open`].
    pub fn open_with_limits(
        path: &Path,
        clock: Clock,
        limits: SealLimits,
    ) -> Result<Arc<Self>, HomeError> {
        let memory = MemoryPlan::LeaveAlone;
        Self::assemble(path, clock, Opening { memory, limits }, |holder| holder)
    }

    /// As [`Node::open`], with another holder for callers' keys: tests put a slow or broken one there.
    ///
    /// # Errors
    /// As [`Node::open`].
    pub fn open_with_holder(
        path: &Path,
        clock: Clock,
        wrap: impl FnOnce(Arc<dyn KeyHolder>) -> Arc<dyn KeyHolder>,
    ) -> Result<Arc<Self>, HomeError> {
        let opening = Opening {
            memory: MemoryPlan::LeaveAlone,
            limits: SealLimits::STANDARD,
        };
        Self::assemble(path, clock, opening, wrap)
    }

    fn assemble(
        path: &Path,
        clock: Clock,
        Opening { memory, limits }: Opening,
        wrap: impl FnOnce(Arc<dyn KeyHolder>) -> Arc<dyn KeyHolder>,
    ) -> Result<Arc<Self>, HomeError> {
        let config = Config::read(path)?;
        config.check_files()?;
        let memory_locked = lock_memory(&config, memory)?;
        let token = Opened::open(&config, &clock, memory)?;
        let process = token.as_ref().and_then(Opened::process).cloned();
        // Keys pass through the child's memory as well.
        let memory_locked = memory_locked
            && process
                .as_ref()
                .is_none_or(|process| process.memory_is_locked());
        let begun = clock.monotonic();
        let keystore = open_keystore(&config, token.as_ref(), &clock)?;
        let derivation = clock.monotonic().since(begun);
        let engine = SqliteEngine::open(&config.store.file)?;
        let meta = Meta::read(&engine, &keystore)?;
        let store = Store::start(Box::new(engine), meta.row_key, &clock)?;
        let identity = Identity {
            installation: meta.installation,
            node: meta.node,
        };
        let keys = log_keys(meta.signer, meta.check_key);
        let mut log = open_log(&config, &clock, identity, keys, &store)?;
        settle(&mut log, &store, &clock)?;
        let trust = Trust::read(&config, &clock)?;
        let doors = Doors::new(Handshakes::new(&config, &trust)?);
        let snapshot = Snapshot::load(&store, Arc::clone(&trust.all))?;
        let (spent, due) = mpsc::channel();
        let count = (store.clone(), limits, spent.clone());
        let holder = wrap(join_holders(keystore, token, count, &clock));
        let settings = service_settings(&config);
        let shared = Shared::new(snapshot, holder, clock.clone(), settings);
        let shared = shared.map_err(HomeError::Thread)?;
        shared.count_in(limited_by_owners(&store, spent));
        let admin = Admin::new(shared, store.clone(), log.writer()?);
        admin.remember_uses()?;
        let (folder, log) = (folder_of(path), Mutex::new(Some(log)));
        let node = Self {
            folder,
            config,
            clock,
            admin,
            store,
            log,
            doors,
            memory_locked,
            derivation,
            path: path.to_owned(),
            backup_signer: meta.backup_signer,
            moving: Moving::default(),
        };
        node.set_level(node.config.log.level);
        node.set_certificate_until(certificate_end(&node.config)?);
        node.adopt_newer_trust(trust.all, &trust.text)?;
        let node = Arc::new(node);
        rotation::start(&node, due)?;
        if let Some(process) = process {
            tell_of(&process, &node);
        }
        Ok(node)
    }

    /// The hand that changes state.
    #[must_use]
    pub const fn admin(&self) -> &Admin {
        &self.admin
    }

    /// The configuration.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// Whether all memory of the process is locked (design 7.24).
    #[must_use]
    pub const fn memory_is_locked(&self) -> bool {
        self.memory_locked
    }

    /// How long stretching the root's password took; it is meant to be long.
    #[must_use]
    pub const fn derivation_time(&self) -> Duration {
        self.derivation
    }

    /// The home folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How long checking every row took at start, and how many there were.
    #[must_use]
    pub fn verification(&self) -> keywright_store::Verification {
        self.store.verification()
    }

    /// Reads the revocation list again and puts it in force.
    ///
    /// # Errors
    /// [`HomeError::Tls`], [`HomeError::Admin`]; the old list stays in force.
    pub fn reload_trust(&self) -> Result<u64, HomeError> {
        let _one = self.one_reader();
        let trust = Trust::read(&self.config, &self.clock)?;
        let handshakes = self.doors.trusting(&trust)?;
        self.replace_trust(&trust, handshakes)
    }

    /// Held while files are read again and put in force: of two who did so at once, the one that read the older ones
    /// might come second.
    pub(crate) fn one_reader(&self) -> MutexGuard<'_, ()> {
        let reading = self.moving.reading.lock();
        reading.unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn replace_trust(
        &self,
        trust: &Trust,
        handshakes: Handshakes,
    ) -> Result<u64, HomeError> {
        let replaced = self
            .admin
            .replace_trust(Arc::clone(&trust.all), &trust.text);
        // An order that was carried out is in force even if its record's end is still owed.
        if Arc::ptr_eq(&self.admin.shared().snapshot().trust, &trust.all) {
            self.doors.replace(handshakes);
        }
        Ok(replaced?)
    }

    pub(crate) const fn doors(&self) -> &Doors {
        &self.doors
    }

    pub(crate) const fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(crate) const fn store(&self) -> &Store {
        &self.store
    }

    /// Who signs backups.
    pub(crate) const fn backup_signer(&self) -> &BackupSigner {
        &self.backup_signer
    }

    /// The file that the configuration was read from.
    pub(crate) fn config_path(&self) -> &Path {
        &self.path
    }

    /// Has `teller` told of what happens, as far as the log level goes. The first one stays.
    pub fn tell_events(&self, teller: Teller) {
        drop(self.moving.teller.set(teller));
    }

    pub(crate) fn tell(&self, event: &Event) {
        let level = self.level();
        if let Some(teller) = self.moving.teller.get().filter(|_| event.level() <= level) {
            // A full disk under the log must not end the node; the counter tells of it.
            if teller(event).is_err() {
                self.admin.shared().metrics().note_lost_log_line();
            }
        }
    }

    pub(crate) fn level(&self) -> Level {
        *self
            .moving
            .level
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_level(&self, level: Level) {
        *self
            .moving
            .level
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = level;
    }

    pub(crate) fn certificate_until(&self) -> WallTime {
        WallTime::from_unix_nanos(self.moving.certificate_until.load(Ordering::Acquire))
    }

    pub(crate) fn set_certificate_until(&self, until: WallTime) {
        let nanos = until.unix_nanos();
        self.moving
            .certificate_until
            .store(nanos, Ordering::Release);
    }

    /// Whether the node has begun to stop.
    pub(crate) fn is_stopping(&self) -> bool {
        self.moving.stopping.load(Ordering::Acquire)
    }

    pub(crate) fn begin_to_stop(&self) {
        self.moving.stopping.store(true, Ordering::Release);
    }

    /// What the start found wrong or unproven in the audit log.
    #[must_use]
    pub fn audit_findings(&self) -> Vec<Event> {
        let found = self.with_log(|log| {
            let damage = log.damage().iter().cloned().map(Event::AuditDamaged);
            let unproven = log.unproven();
            let unproven = (unproven > 0).then_some(Event::AuditUnproven(unproven));
            damage.chain(unproven).collect()
        });
        found.unwrap_or_default()
    }

    /// What earlier starts found unproven in the audit log, as far as its files are still there.
    #[must_use]
    pub fn audit_marks(&self) -> Option<Event> {
        let earlier = |log: &Log| log.marked().saturating_sub(log.unproven());
        let marked = self.with_log(earlier).unwrap_or_default();
        (marked > 0).then_some(Event::AuditMarked(marked))
    }

    pub(crate) fn audit_is_good(&self) -> bool {
        self.with_log(|log| log.health().is_good()).unwrap_or(false)
    }

    /// Ends the node in order: the last head is signed, the store is closed.
    ///
    /// # Errors
    /// [`HomeError::Audit`] if the last head could not be written.
    pub fn shutdown(&self) -> Result<(), HomeError> {
        // What is lost of the counters is a few seconds' worth, as after a crash.
        drop(self.admin.save_uses());
        let log = self
            .log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let last = log.map(Log::shutdown).transpose();
        self.store.shutdown();
        last?;
        Ok(())
    }

    /// Syncs the log and signs a head now.
    ///
    /// # Errors
    /// [`HomeError::Audit`].
    pub fn sign_head(&self) -> Result<SignedHead, HomeError> {
        Ok(self.with_log(Log::sign_head)??)
    }

    pub(crate) fn with_log<T>(&self, use_it: impl FnOnce(&Log) -> T) -> Result<T, HomeError> {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.as_ref()
            .map(use_it)
            .ok_or(HomeError::Audit(keywright_audit::AuditError::Unavailable))
    }

    /// A list that was replaced while the node was down is put in force as an order of its own; an
    /// older one than the store remembers keeps the node from starting.
    fn adopt_newer_trust(&self, trust: Arc<ClientTrust>, text: &[u8]) -> Result<(), HomeError> {
        let known = load_trust(&self.store)?;
        if let Some(known) = &known {
            let known = ClientTrust::from_text(known, self.clock.clone())?;
            if let Some(older) = trust.older_than(&known) {
                return Err(older.into());
            }
        }
        if known.as_deref() != Some(text) {
            self.admin.replace_trust(trust, text)?;
        }
        Ok(())
    }
}

/// Has the node say what happens to its token's process.
fn tell_of(process: &TokenProcess, node: &Arc<Node>) {
    let node = Arc::downgrade(node);
    process.tell(Box::new(move |notice| {
        if let Some(node) = node.upgrade() {
            node.tell(&Event::TokenProcess(notice.clone()));
        }
    }));
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Node({})", self.folder.display())
    }
}

/// What stands in the store before its row key is known.
pub(crate) struct Meta {
    pub(crate) installation: keywright_types::InstallationId,
    pub(crate) node: NodeId,
    pub(crate) row_key: MacKey,
    pub(crate) signer: SigningKey,
    /// The same key, which the log does not give back.
    pub(crate) backup_signer: BackupSigner,
    /// Of the check frames of the audit log.
    pub(crate) check_key: CheckKey,
}

impl Meta {
    pub(crate) fn read(engine: &dyn Engine, keystore: &Keystore) -> Result<Self, HomeError> {
        let get = |key: &'static str| -> Result<Vec<u8>, HomeError> {
            read_meta(engine, key.as_bytes())?.ok_or(HomeError::StoreIncomplete(key))
        };
        let row_key = keystore.open_service_key(ServiceKey::StoreRows, &get(META_ROW_KEY)?)?;
        let seed = keystore.open_service_key(ServiceKey::AuditSigning, &get(META_AUDIT_KEY)?)?;
        let node = <[u8; 16]>::try_from(&get(META_NODE)?[..]);
        let row_key = MacKey::new(row_key.expose());
        Ok(Self {
            check_key: CheckKey::derive(&row_key),
            installation: keystore.installation(),
            node: NodeId::from_bytes(node.map_err(|_| HomeError::StoreIncomplete(META_NODE))?),
            row_key,
            signer: SigningKey::from_seed(&seed)?,
            backup_signer: BackupSigner::new(SigningKey::from_seed(&seed)?, KeyVersion::FIRST),
        })
    }
}

pub(crate) fn lock_memory(config: &Config, plan: MemoryPlan) -> Result<bool, HomeError> {
    if plan == MemoryPlan::LeaveAlone {
        return Ok(false);
    }
    match (lock_process(), config.keystore.memory_lock) {
        (Locking::Locked, _) => Ok(true),
        (Locking::Refused(errno), MemoryLock::Require) => Err(HomeError::MemoryLock(errno)),
        (Locking::Refused(_), MemoryLock::Try) => Ok(false),
    }
}

/// When records reach the disk.
pub(crate) const fn sync_mode(config: &Config) -> SyncMode {
    match config.audit.sync {
        Sync::Grouped => SyncMode::Grouped(Duration::from_millis(100)),
        Sync::Strict => SyncMode::Strict,
    }
}

/// The keys of a home's audit log.
pub(crate) const fn log_keys(signer: SigningKey, check: CheckKey) -> Keys {
    Keys {
        signer,
        version: KeyVersion::FIRST,
        check,
    }
}

fn open_log(
    config: &Config,
    clock: &Clock,
    identity: Identity,
    keys: Keys,
    store: &Store,
) -> Result<Log, HomeError> {
    let directory = config.audit.directory.clone();
    let mut settings = LogSettings::new(directory, identity, clock.clone(), keys);
    settings.sync = sync_mode(config);
    let known = store.get(Table::Heads, NEWEST_HEAD)?;
    let known = known
        .map(|row| SignedHead::from_bytes(&row.body))
        .transpose();
    let known = known.map_err(|_| HomeError::StoreIncomplete("the newest audit head"))?;
    settings.newest_known = Some(known.as_ref().map_or(HeadId::NONE, SignedHead::id));
    settings.accept_known = config.audit.store_at_head;
    settings.head_sink = copy_heads_to(store.clone());
    settings.store_epoch = Some(store.epoch());
    Ok(Log::open(settings)?)
}

/// Keeps the newest head in the store, where cutting back the log shows (design 7.35).
fn copy_heads_to(store: Store) -> Box<dyn Fn(&SignedHead) + Send> {
    Box::new(move |head| {
        let write = || -> Result<(), keywright_store::Error> {
            let transaction = match store.get(Table::Heads, NEWEST_HEAD)? {
                Some(row) => Transaction::new().update(
                    Table::Heads,
                    NEWEST_HEAD,
                    row.revision,
                    head.to_bytes(),
                ),
                None => Transaction::new().insert(
                    Table::Heads,
                    NEWEST_HEAD,
                    TenantId::NONE,
                    head.to_bytes(),
                ),
            };
            store.transact(transaction.keep_epoch()).map(drop)
        };
        // The head is durable in the log itself; a copy that fails is made good by the next.
        drop(write());
    })
}

/// When the first certificate of the server's chain runs out: the first moment after its last second.
pub(crate) fn certificate_end(config: &Config) -> Result<WallTime, HomeError> {
    let chain = files::read(&config.server.certificate)?;
    let about = keywright_tls::describe_certificate(&chain)?;
    Ok(about.not_after.plus(Duration::from_secs(1)))
}

fn service_settings(config: &Config) -> ServiceSettings {
    let limits = &config.limits;
    let (threads, queue) = match &config.token {
        Some(token) => (token.sessions, token.queue),
        None => (limits.holder_threads, limits.holder_queue),
    };
    ServiceSettings {
        request_timeout: Duration::from_secs(limits.request_timeout_s),
        data_key_validity: Duration::from_secs(config.data_keys.validity_s),
        pool: PoolSize { threads, queue },
        long: PoolSize {
            threads: match limits.long_threads {
                0 => PoolSize::one_per_core().threads,
                count => count,
            },
            queue: limits.long_queue,
        },
        items_recorded: match config.audit.items {
            ItemDetail::Each => Detail::Each,
            ItemDetail::Groups => Detail::Groups,
        },
    }
}

/// Where uses are counted that the owner of a context has limited.
fn limited_by_owners(store: &Store, spent: mpsc::Sender<Spent>) -> Budget {
    // Nobody listens any more only where the node has ended.
    let tell = move |one| {
        let _ = spent.send(one);
    };
    Budget::new(store.clone(), SealLimits::STANDARD, Box::new(tell))
}

fn folder_of(path: &Path) -> PathBuf {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or_else(|| Path::new(".")).to_owned()
}

/// The newest head that the store knows; for `audit verify`.
pub(crate) const NEWEST_HEAD: &[u8] = b"newest";
pub(crate) const META_ROW_KEY: &str = "row-key";
pub(crate) const META_AUDIT_KEY: &str = "audit-key";
pub(crate) const META_NODE: &str = "node";
