//! Everything that a start looks at, looked at without starting: `keywright serve --check`.
//!
//! A start ends at the first thing that is wrong; this goes on and says all of them. It opens root, store and token
//! as a start does and logs in to the token, but begins no audit log and changes no row. Beside a node that runs in
//! the same home, which has the store to itself, it says so and looks at the files alone.

use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use keywright_clock::{Clock, WallTime};
use keywright_keystore::Keystore;
use keywright_service::{Snapshot, load_trust};
use keywright_store::{Engine, SqliteEngine, Store};
use keywright_tls::{ClientTrust, ServerIdentity};

use crate::control::SOCKET;
use crate::doors::{Handshakes, Trust, identity};
use crate::holders::open_keystore;
use crate::node::{Meta, certificate_end, lock_memory};
use crate::token::Opened;
use crate::{Config, HomeError, MemoryPlan, RootPlace, Telemetry, files};

/// One thing that was looked at.
#[derive(Debug)]
#[non_exhaustive]
pub struct Checked {
    /// What: a section or key of the configuration.
    pub what: &'static str,
    /// What was found.
    pub found: Result<Finding, HomeError>,
}

/// What was found where nothing keeps the node from starting.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is nothing between")]
pub enum Finding {
    /// It is good; with a word about it.
    Good(String),
    /// A start would take it, and somebody should look.
    Notice(String),
    /// It could not be looked at, and why.
    Skipped(String),
}

/// Looks at everything that the configuration at `path` names, with `listen` in the place of its address where a start
/// is given one. The node would start if no result is an error.
#[must_use]
pub fn check(path: &Path, clock: &Clock, listen: Option<SocketAddr>) -> Vec<Checked> {
    let mut checks = Checks(Vec::new());
    let config = match Config::read(path) {
        Ok(config) => config,
        Err(error) => return checks.with("configuration", Err(error.into())).0,
    };
    checks = checks.with("configuration", good("every key is known and in range"));
    if let Err(error) = config.check_files() {
        return checks.with("files", Err(error.into())).0;
    }
    let neighbour = Neighbour::of(path);
    let listens = match listen {
        // That a node runs in the home says nothing of another address.
        Some(listen) => address(listen, Neighbour::None),
        None => address(config.server.listen, neighbour),
    };
    let (checks, trust) = checks.files(&config, (neighbour, listens), clock);
    checks.keys(&config, neighbour, (trust, clock)).0
}

/// Whether a node runs in the home.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Neighbour {
    None,
    Runs,
}

impl Neighbour {
    fn of(config: &Path) -> Self {
        let home = config.parent().unwrap_or_else(|| Path::new(""));
        match UnixStream::connect(home.join(SOCKET)) {
            Ok(_) => Self::Runs,
            Err(_) => Self::None,
        }
    }
}

struct Checks(Vec<Checked>);

impl Checks {
    fn with(mut self, what: &'static str, found: Result<Finding, HomeError>) -> Self {
        self.0.push(Checked { what, found });
        self
    }

    /// What lies in files of its own, or in the system.
    fn files(
        self,
        config: &Config,
        (neighbour, listens): (Neighbour, Result<Finding, HomeError>),
        clock: &Clock,
    ) -> (Self, Option<Arc<ClientTrust>>) {
        let now = clock.wall();
        let (identity, certificate) = match identity(config) {
            Ok(identity) => (Some(identity), certificate(config, now)),
            Err(error) => (None, Err(error)),
        };
        let (trust, found) = match Trust::read(config, clock) {
            Ok(trust) => (Some(Arc::clone(&trust.all)), lists(identity, &trust, now)),
            Err(error) => (None, Err(error)),
        };
        let mut checks = self
            .with("server.certificate", certificate)
            .with("clients", found)
            .with("server.listen", listens);
        if let Some(admin) = &config.admin {
            checks = checks.with("admin.listen", address(admin.listen, neighbour));
        }
        if let Some(probe) = &config.probe {
            checks = checks.with("probe.listen", address(probe.listen, neighbour));
        }
        if let Some(telemetry) = &config.telemetry {
            checks = checks.with("telemetry", collector(telemetry, clock));
        }
        let checks = checks
            .with("audit.directory", audit_folder(&config.audit.directory))
            .with("keystore.memory_lock", memory(config));
        (checks, trust)
    }

    /// Token, root key, and what is under it.
    fn keys(
        mut self,
        config: &Config,
        neighbour: Neighbour,
        trust: (Option<Arc<ClientTrust>>, &Clock),
    ) -> Self {
        let token = Opened::open(config, trust.1, MemoryPlan::AsConfigured);
        let (token, found) = match token {
            Ok(token) => (token, good("it is there and takes the PIN")),
            Err(error) => (None, Err(error)),
        };
        if config.token.is_some() {
            self = self.with("token", found);
        }
        let (keystore, found) = match (config.keystore.root_key, &token) {
            (RootPlace::Token, None) => (None, skipped("its token could not be opened")),
            _ => match open_keystore(config, token.as_ref(), trust.1) {
                Ok(keystore) => (Some(keystore), good("the root key opens")),
                Err(error) => (None, Err(error)),
            },
        };
        let rows = match (neighbour, keystore) {
            (Neighbour::Runs, _) => skipped("a node runs in this home and has it to itself"),
            (Neighbour::None, None) => skipped("it is read under the root key"),
            (Neighbour::None, Some(keystore)) => rows(config, &keystore, trust),
        };
        self.with("keystore.root", found).with("store.file", rows)
    }
}

fn good(word: impl Into<String>) -> Result<Finding, HomeError> {
    Ok(Finding::Good(word.into()))
}

fn skipped(why: impl Into<String>) -> Result<Finding, HomeError> {
    Ok(Finding::Skipped(why.into()))
}

fn certificate(config: &Config, now: WallTime) -> Result<Finding, HomeError> {
    let until = certificate_end(config)?;
    if until <= now {
        return Err(HomeError::CertificateExpired(until));
    }
    good(format!("until {}", until.rfc3339()))
}

/// Anchors and lists read, and go with certificate and key where these are good.
fn lists(
    identity: Option<ServerIdentity>,
    trust: &Trust,
    now: WallTime,
) -> Result<Finding, HomeError> {
    if let Some(identity) = identity {
        Handshakes::with(identity, trust)?;
    }
    let until = trust.all.expires();
    let told = until.rfc3339();
    Ok(match until > now {
        true => Finding::Good(format!("revocation lists until {told}")),
        false => Finding::Notice(format!(
            "a revocation list ended at {told}: every client of its anchor is refused"
        )),
    })
}

fn address(addr: SocketAddr, neighbour: Neighbour) -> Result<Finding, HomeError> {
    if neighbour == Neighbour::Runs {
        return skipped("a node runs in this home, and may have it");
    }
    // Given back at once; port 0 is always free.
    match TcpListener::bind(addr) {
        Ok(_) => good(format!("{addr} is free")),
        Err(source) => Err(HomeError::Probe { addr, source }),
    }
}

/// What belongs to the collector can be read. One that does not answer keeps no node from starting.
fn collector(telemetry: &Telemetry, clock: &Clock) -> Result<Finding, HomeError> {
    let settings = telemetry.settings(clock)?;
    let found = settings.endpoint.address().to_socket_addrs();
    let mut found = found.into_iter().flatten();
    let answers = |addr: SocketAddr| TcpStream::connect_timeout(&addr, COLLECTOR).is_ok();
    Ok(match found.any(answers) {
        true => Finding::Good("somebody listens there".to_owned()),
        false => Finding::Notice("nobody listens there: spans would be lost".to_owned()),
    })
}

/// How long a collector may take to be there.
const COLLECTOR: Duration = Duration::from_secs(1);

fn audit_folder(folder: &Path) -> Result<Finding, HomeError> {
    match std::fs::metadata(folder) {
        Ok(about) if about.is_dir() => match try_a_file(folder) {
            Ok(()) => good("a folder that can be written"),
            Err(source) => Err(files::failed(folder, "written", source)),
        },
        Ok(_) => Err(files::failed(
            folder,
            "written",
            std::io::ErrorKind::NotADirectory.into(),
        )),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Ok(Finding::Notice("a start makes it".to_owned()))
        }
        Err(source) => Err(files::failed(folder, "read", source)),
    }
}

/// Makes a file and removes it: rights alone do not say that a disk takes one more.
fn try_a_file(folder: &Path) -> std::io::Result<()> {
    let path = folder.join(format!(".check-{}", std::process::id()));
    let made = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path);
    made?;
    std::fs::remove_file(&path)
}

fn memory(config: &Config) -> Result<Finding, HomeError> {
    match lock_memory(config, MemoryPlan::AsConfigured)? {
        true => good("all memory is kept out of swap"),
        false => Ok(Finding::Notice(
            "the system forbids locking memory; keys may be swapped".to_owned(),
        )),
    }
}

/// Every row under its MAC, the policy compiled, the revocation list not older than the one that was in force.
pub(crate) fn rows(
    config: &Config,
    keystore: &Keystore,
    (trust, clock): (Option<Arc<ClientTrust>>, &Clock),
) -> Result<Finding, HomeError> {
    let engine: Box<dyn Engine> = Box::new(SqliteEngine::open(&config.store.file)?);
    let meta = Meta::read(engine.as_ref(), keystore)?;
    let store = Store::start(engine, meta.row_key, clock)?;
    let found = readable(&store, trust, clock);
    store.shutdown();
    found
}

fn readable(
    store: &Store,
    trust: Option<Arc<ClientTrust>>,
    clock: &Clock,
) -> Result<Finding, HomeError> {
    if let Some(trust) = trust {
        if let Some(known) = load_trust(store)? {
            let known = ClientTrust::from_text(&known, clock.clone())?;
            if let Some(older) = trust.older_than(&known) {
                return Err(older.into());
            }
        }
        Snapshot::load(store, trust)?;
    }
    good(format!("{} rows", store.verification().rows))
}
