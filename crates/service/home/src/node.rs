//! One node: everything of a home opened, checked, and joined.

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use keywright_audit::head::SignedHead;
use keywright_audit::log::{Identity, Log, Settings as LogSettings, SyncMode};
use keywright_audit::writer::Writer;
use keywright_clock::Clock;
use keywright_custody::KeyHolder;
use keywright_custody::budget::SealLimits;
use keywright_keystore::{Keystore, ServiceKey};
use keywright_primitives::mac::MacKey;
use keywright_primitives::signature::SigningKey;
use keywright_secret::locked::{Locking, lock_process};
use keywright_server::transport::{self, Running};
use keywright_server::{Application, NullApplication, Probes, VaultDoor};
use keywright_service::{
    Admin, Desk, PoolSize, Settings as ServiceSettings, Shared, Snapshot, Worker, load_trust,
    settle,
};
use keywright_store::{Engine, SqliteEngine, Store, Table, Transaction, read_meta};
use keywright_tls::{ClientTrust, Protocol, ServerConfig, ServerIdentity, server_config};
use keywright_types::{Code, KeyVersion, NodeId, TenantId, VersionLabel};

use crate::control::Control;
use crate::holders::{join_holders, open_keystore};
use crate::{Compat, Config, HomeError, MemoryLock, Sync, files, keeper, rotation, token};

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
    tls: Arc<ArcSwap<ServerConfig>>,
    memory_locked: bool,
    derivation: Duration,
}

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
        let section = config.token.as_ref();
        let sessions = section.map(|section| token::open(section, &clock));
        let sessions = sessions.transpose()?;
        let begun = clock.monotonic();
        let keystore = open_keystore(&config, sessions.as_ref(), &clock)?;
        let derivation = clock.monotonic().since(begun);
        let engine = SqliteEngine::open(&config.store.file)?;
        let meta = Meta::read(&engine, &keystore)?;
        let store = Store::start(Box::new(engine), meta.row_key, &clock)?;
        let identity = Identity {
            installation: meta.installation,
            node: meta.node,
        };
        let mut log = open_log(&config, &clock, identity, meta.signer, &store)?;
        settle(&mut log, &store, &clock)?;
        let (trust, text) = read_trust(&config, &clock)?;
        let tls = Arc::new(ArcSwap::new(tls_config(&config, &trust)?));
        let snapshot = Snapshot::load(&store, Arc::clone(&trust))?;
        let (spent, due) = mpsc::channel();
        let count = (store.clone(), limits, spent);
        let holder = wrap(join_holders(keystore, sessions, count, &clock));
        let settings = service_settings(&config);
        let shared = Shared::new(snapshot, holder, clock.clone(), settings);
        let shared = shared.map_err(HomeError::Thread)?;
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
            tls,
            memory_locked,
            derivation,
        };
        node.adopt_newer_trust(trust, &text)?;
        let node = Arc::new(node);
        if node.config.token.is_some() {
            rotation::start(&node, due)?;
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

    /// Starts the server; `listen` overrides the configured address.
    ///
    /// # Errors
    /// [`HomeError::Transport`] if the address cannot be had; [`HomeError::File`] if the control
    /// socket cannot.
    pub fn serve(self: &Arc<Self>, listen: Option<SocketAddr>) -> Result<Serving, HomeError> {
        keeper::start(self)?;
        let settings = transport_settings(&self.config, listen, Arc::clone(&self.tls));
        let threads = match settings.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            count => count,
        };
        // Writers are opened here, where failing is an answer, and taken by the threads.
        let writers = self.with_log(|log| {
            (0..threads)
                .map(|_| log.writer())
                .collect::<Result<Vec<_>, _>>()
        })?;
        let writers = Mutex::new(writers?);
        let probes = Arc::new(self.probes()?);
        let shared = Arc::clone(self.admin.shared());
        let unfit_keys = match self.config.token {
            Some(_) => token::unfit(&shared),
            None => Vec::new(),
        };
        let (limits, body_timeout) = (api_limits(&self.config), settings.limits.body_timeout);
        let vault = vault_door(&self.config)?;
        let make = move |_| {
            let worker = Worker::new(Arc::clone(&shared), take(&writers));
            Application::new(worker, limits, body_timeout, Arc::clone(&probes))
                .with_vault(vault.clone())
        };
        // The control first: it stops by itself if the address then cannot be had.
        let control = Control::start(&self.folder, self)?;
        let running = transport::start(
            transport::Settings {
                threads,
                ..settings
            },
            make,
        )?;
        Ok(Serving {
            running,
            _control: control,
            unfit_keys,
            node: Arc::clone(self),
        })
    }

    /// Reads the revocation list again and puts it in force.
    ///
    /// # Errors
    /// [`HomeError::Tls`], [`HomeError::Admin`]; the old list stays in force.
    pub fn reload_trust(&self) -> Result<u64, HomeError> {
        let (trust, text) = read_trust(&self.config, &self.clock)?;
        let tls = tls_config(&self.config, &trust)?;
        let replaced = self.admin.replace_trust(Arc::clone(&trust), &text);
        // An order that was carried out is in force even if its record's end is still owed.
        if Arc::ptr_eq(&self.admin.shared().snapshot().trust, &trust) {
            self.tls.store(tls);
        }
        Ok(replaced?)
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

    fn with_log<T>(&self, use_it: impl FnOnce(&Log) -> T) -> Result<T, HomeError> {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.as_ref()
            .map(use_it)
            .ok_or(HomeError::Audit(keywright_audit::AuditError::Unavailable))
    }

    fn probes(self: &Arc<Self>) -> Result<Probes, HomeError> {
        let orders = Arc::downgrade(self);
        let desk = Desk::start(move |order| match orders.upgrade() {
            Some(node) => node.admin.carry_out_for(&order),
            None => Err(Code::ShuttingDown),
        });
        let node = Arc::downgrade(self);
        let audit = move || {
            let node = node.upgrade();
            node.is_some_and(|node| node.with_log(|log| log.health().is_good()).unwrap_or(false))
        };
        Ok(Probes {
            audit: Box::new(audit),
            memory_locked: self.memory_locked,
            desk: desk.map_err(HomeError::Thread)?,
        })
    }

    /// A list that was replaced while the node was down is put in force as an order of its own; an
    /// older one than the store remembers keeps the node from starting.
    fn adopt_newer_trust(&self, trust: Arc<ClientTrust>, text: &[u8]) -> Result<(), HomeError> {
        let known = load_trust(&self.store)?;
        if let Some(known) = &known {
            // Both kinds of section stand in one text; each reader takes its own.
            let known = ClientTrust::new(known, known, self.clock.clone())?;
            if trust.is_older_than(&known) {
                return Err(HomeError::OlderRevocationList);
            }
        }
        if known.as_deref() != Some(text) {
            self.admin.replace_trust(trust, text)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Node({})", self.folder.display())
    }
}

/// A node with its server in front.
#[derive(Debug)]
pub struct Serving {
    running: Running,
    _control: Control,
    unfit_keys: Vec<VersionLabel>,
    node: Arc<Node>,
}

impl Serving {
    /// Where it listens.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.running.local_addr()
    }

    /// The node behind it.
    #[must_use]
    pub const fn node(&self) -> &Arc<Node> {
        &self.node
    }

    /// Versions whose key in the token was not the right one, or none, when the node started to serve: they are
    /// unavailable.
    #[must_use]
    pub fn unfit_keys(&self) -> &[VersionLabel] {
        &self.unfit_keys
    }

    /// Whether a server thread has ended by itself.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.running.is_stopping()
    }

    /// Resolves once [`Serving::is_stopping`] is true; on any runtime.
    pub async fn stopping(&self) {
        self.running.stopping().await;
    }

    /// Stops in order: running requests are answered, then the log and the store are closed.
    ///
    /// # Errors
    /// [`HomeError::Transport`] if a server thread panicked, [`HomeError::Audit`].
    pub fn stop(self) -> Result<(), HomeError> {
        self.running.stop();
        let ended = self.running.join();
        self.node.shutdown()?;
        ended?;
        Ok(())
    }
}

/// A writer for one server thread.
#[expect(clippy::expect_used, reason = "as many writers as threads were made")]
fn take(writers: &Mutex<Vec<Writer>>) -> Writer {
    let writer = writers.lock().unwrap_or_else(PoisonError::into_inner).pop();
    writer.expect("one writer per server thread")
}

/// Serves constant answers: same TLS, routes and limits as the home's configuration says, no keys, no
/// audit, no store.
///
/// # Errors
/// [`HomeError`] as for a server with keys.
pub fn serve_null(
    path: &Path,
    clock: &Clock,
    listen: Option<SocketAddr>,
) -> Result<Running, HomeError> {
    let config = Config::read(path)?;
    let (trust, _) = read_trust(&config, clock)?;
    let tls = Arc::new(ArcSwap::new(tls_config(&config, &trust)?));
    let settings = transport_settings(&config, listen, tls);
    let (limits, body_timeout) = (api_limits(&config), settings.limits.body_timeout);
    Ok(transport::start(settings, move |_| {
        NullApplication::new(limits, body_timeout)
    })?)
}

/// What stands in the store before its row key is known.
struct Meta {
    installation: keywright_types::InstallationId,
    node: NodeId,
    row_key: MacKey,
    signer: SigningKey,
}

impl Meta {
    fn read(engine: &dyn Engine, keystore: &Keystore) -> Result<Self, HomeError> {
        let get = |key: &'static str| -> Result<Vec<u8>, HomeError> {
            read_meta(engine, key.as_bytes())?.ok_or(HomeError::StoreIncomplete(key))
        };
        let row_key = keystore.open_service_key(ServiceKey::StoreRows, &get(META_ROW_KEY)?)?;
        let seed = keystore.open_service_key(ServiceKey::AuditSigning, &get(META_AUDIT_KEY)?)?;
        let node = <[u8; 16]>::try_from(&get(META_NODE)?[..]);
        Ok(Self {
            installation: keystore.installation(),
            node: NodeId::from_bytes(node.map_err(|_| HomeError::StoreIncomplete(META_NODE))?),
            row_key: MacKey::new(row_key.expose()),
            signer: SigningKey::from_seed(&seed)?,
        })
    }
}

fn lock_memory(config: &Config, plan: MemoryPlan) -> Result<bool, HomeError> {
    if plan == MemoryPlan::LeaveAlone {
        return Ok(false);
    }
    match (lock_process(), config.keystore.memory_lock) {
        (Locking::Locked, _) => Ok(true),
        (Locking::Refused(errno), MemoryLock::Require) => Err(HomeError::MemoryLock(errno)),
        (Locking::Refused(_), MemoryLock::Try) => Ok(false),
    }
}

fn open_log(
    config: &Config,
    clock: &Clock,
    identity: Identity,
    signer: SigningKey,
    store: &Store,
) -> Result<Log, HomeError> {
    let directory = config.audit.directory.clone();
    let mut settings = LogSettings::new(
        directory,
        identity,
        clock.clone(),
        (signer, KeyVersion::FIRST),
    );
    settings.sync = match config.audit.sync {
        Sync::Grouped => SyncMode::Grouped(Duration::from_millis(100)),
        Sync::Strict => SyncMode::Strict,
    };
    let known = store.get(Table::Heads, NEWEST_HEAD)?;
    let known = known
        .map(|row| SignedHead::from_bytes(&row.body))
        .transpose();
    let known = known.map_err(|_| HomeError::StoreIncomplete("the newest audit head"))?;
    settings.newest_known = known.as_ref().map(SignedHead::id);
    settings.head_sink = copy_heads_to(store.clone());
    let log = Log::open(settings)?;
    let newest = log.sign_head()?.head().epoch;
    if newest > store.epoch() {
        return Err(HomeError::StoreOlder {
            store: store.epoch(),
            log: newest,
        });
    }
    Ok(log)
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

/// Anchors and revocation lists, and the text of both as it was read: the files may be others a moment
/// later. The two are kept together, because a list can only be compared under the anchors that it was
/// in force with: otherwise one exchanged anchor would make every remembered list unreadable.
fn read_trust(config: &Config, clock: &Clock) -> Result<(Arc<ClientTrust>, Vec<u8>), HomeError> {
    let anchors = files::read(&config.clients.authorities)?;
    let lists = files::read(&config.clients.revocation_lists)?;
    let trust = ClientTrust::new(&anchors, &lists, clock.clone())?;
    Ok((Arc::new(trust), [anchors, lists].join(&b'\n')))
}

fn tls_config(config: &Config, trust: &Arc<ClientTrust>) -> Result<Arc<ServerConfig>, HomeError> {
    let chain = files::read(&config.server.certificate)?;
    let key = keywright_secret::SecretBytes::from_vec(files::read(&config.server.key)?);
    let identity = ServerIdentity::from_pem(&chain, key.expose())?;
    Ok(server_config(
        identity,
        Arc::clone(trust),
        &[Protocol::Http2, Protocol::Http1],
    )?)
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
    }
}

fn transport_settings(
    config: &Config,
    listen: Option<SocketAddr>,
    tls: Arc<ArcSwap<ServerConfig>>,
) -> transport::Settings {
    let limits = &config.limits;
    transport::Settings {
        listen: listen.unwrap_or(config.server.listen),
        threads: config.server.threads,
        tls,
        limits: transport::Limits {
            header_bytes: limits.header_bytes,
            header_timeout: Duration::from_secs(limits.header_timeout_s),
            body_bytes: limits.body_bytes,
            body_timeout: Duration::from_secs(limits.body_timeout_s),
            request_timeout: Duration::from_secs(limits.request_timeout_s),
            idle_timeout: Duration::from_secs(limits.idle_timeout_s),
            concurrent_streams: limits.concurrent_streams,
            connections: limits.connections,
            drain_timeout: Duration::from_secs(limits.drain_timeout_s),
            ..transport::Limits::default()
        },
    }
}

/// The door for programs that speak Vault's transit API, where the configuration opens it.
fn vault_door(config: &Config) -> Result<Option<Arc<VaultDoor>>, HomeError> {
    let Compat {
        vault_transit,
        vault_token_s,
    } = config.compat;
    let door = vault_transit.then(|| VaultDoor::new(Duration::from_secs(vault_token_s)));
    Ok(door.transpose()?.map(Arc::new))
}

fn api_limits(config: &Config) -> keywright_api::Limits {
    let mut limits = keywright_api::Limits::DEFAULT;
    limits.body_bytes = config.limits.body_bytes;
    limits.items = config.limits.items;
    limits
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
