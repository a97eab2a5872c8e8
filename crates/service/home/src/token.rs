//! The token of a configuration: opened once a process, and shared by everything that uses it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use keywright_clock::Clock;
use keywright_custody::budget::{Budget, Counted};
use keywright_custody::{HolderError, KeyHolder, RootKey};
use keywright_pkcs11::{
    Copies, Error, LogIn, Module, Pin, PoolOptions, SessionPool, TokenHolder, TokenQuery, TokenRoot,
};
use keywright_secret::SecretBytes;
use keywright_token_process::{ChildHolder, ChildRoot, Memory, Program, Settings, TokenProcess};

use crate::section::{Token, TokenPlace};
use crate::{Config, HomeError, MemoryLock, MemoryPlan, files};

/// A token that is open, wherever its module runs.
#[derive(Clone, Debug)]
pub(crate) enum Opened {
    /// In this process.
    Here(Arc<SessionPool>),
    /// In a child of it.
    Apart(Arc<TokenProcess>),
}

impl Opened {
    /// Opens the token of a configuration where the configuration wants its module.
    pub(crate) fn open(
        config: &Config,
        clock: &Clock,
        memory: MemoryPlan,
    ) -> Result<Option<Self>, HomeError> {
        let Some(section) = &config.token else {
            return Ok(None);
        };
        Ok(Some(match section.process {
            TokenPlace::Service => Self::Here(open(section, clock)?),
            TokenPlace::Child => {
                let memory = match (memory, config.keystore.memory_lock) {
                    (MemoryPlan::LeaveAlone, _) => Memory::LeaveAlone,
                    (MemoryPlan::AsConfigured, MemoryLock::Try) => Memory::Try,
                    (MemoryPlan::AsConfigured, MemoryLock::Require) => Memory::Require,
                };
                Self::Apart(start(section, memory)?)
            }
        }))
    }

    /// The holder of keys that stay in it, whose seals `budget` counts.
    pub(crate) fn holder(self, budget: Budget, clock: &Clock) -> Arc<dyn KeyHolder> {
        let clock = clock.clone();
        match self {
            Self::Here(pool) => Arc::new(Counted::new(TokenHolder::new(pool, clock), budget)),
            Self::Apart(process) => {
                Arc::new(Counted::new(ChildHolder::new(process, clock), budget))
            }
        }
    }

    /// The root key that a description names.
    pub(crate) fn root(&self, description: &[u8]) -> Result<Box<dyn RootKey>, HomeError> {
        match self {
            Self::Here(pool) => Ok(Box::new(open_described_root(pool, description)?)),
            Self::Apart(process) => {
                let root = ChildRoot::open(Arc::clone(process), description);
                let root = root.map_err(|error| match error {
                    HolderError::KeyRejected => HomeError::Token(Error::WrongKey),
                    _ => HomeError::Token(Error::Gone),
                });
                Ok(Box::new(root?))
            }
        }
    }

    /// The child, if it is in one.
    pub(crate) const fn process(&self) -> Option<&Arc<TokenProcess>> {
        match self {
            Self::Here(_) => None,
            Self::Apart(process) => Some(process),
        }
    }
}

/// What is started as a token's process in place of this program.
static PROGRAM: OnceLock<Program> = OnceLock::new();

/// Has tokens' processes be `program` in place of this one, which would be asked for the hidden command
/// [`TOKEN_COMMAND`]: for programs that have no such command, such as tests. The first one stays.
pub fn run_tokens_as(program: Program) {
    drop(PROGRAM.set(program));
}

/// The word by which this program is told to be a token's process.
pub const TOKEN_COMMAND: &str = "token-process";

fn start(section: &Token, memory: Memory) -> Result<Arc<TokenProcess>, HomeError> {
    let pin = SecretBytes::from_vec(files::read_private(&section.pin_file)?);
    if pin
        .expose()
        .iter()
        .all(|byte| matches!(byte, b'\r' | b'\n'))
    {
        return Err(HomeError::PasswordEmpty(section.pin_file.clone()));
    }
    let asked = Asked::of(section)?;
    let settings = Settings {
        module: section.module.clone(),
        query: asked.query,
        pin,
        sessions: asked.sessions,
        copies: asked.copies,
        memory,
        patience: Duration::from_secs(section.call_timeout_s),
    };
    let program = PROGRAM.get().cloned();
    let program = program.unwrap_or_else(|| Program::this(TOKEN_COMMAND));
    TokenProcess::start(program, settings).map_err(HomeError::TokenProcess)
}

/// What is open in this process. A module has one state for the whole of it: two pools would finalise it under
/// each other.
static OPEN: Mutex<Vec<Open>> = Mutex::new(Vec::new());

struct Open {
    module: PathBuf,
    asked: Asked,
    pool: Weak<SessionPool>,
}

/// What must be the same for a pool to be shared.
#[derive(Clone, PartialEq, Eq)]
struct Asked {
    query: TokenQuery,
    sessions: usize,
    copies: Copies,
}

impl Asked {
    fn of(section: &Token) -> Result<Self, HomeError> {
        Ok(Self {
            query: section.query()?,
            // One for each thread of the service; orders and the work of one request that finds its key evicted
            // come beside them.
            sessions: section.sessions + SPARE_SESSIONS,
            copies: if section.session_copies {
                Copies::WhereAllowed
            } else {
                Copies::Never
            },
        })
    }
}

/// Opens the token of a configuration in this process and logs in, or gives the pool that this process has of it.
pub(crate) fn open(section: &Token, clock: &Clock) -> Result<Arc<SessionPool>, HomeError> {
    let asked = Asked::of(section)?;
    let file = section.module.canonicalize();
    let file = file.unwrap_or_else(|_| section.module.clone());
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    open.retain(|entry| entry.pool.strong_count() > 0);
    if let Some(entry) = open.iter().find(|entry| entry.module == file) {
        let shared = entry.pool.upgrade().filter(|_| entry.asked == asked);
        return shared.ok_or(HomeError::TokenInUse(section.module.clone()));
    }
    let pool = connect(section, &asked, clock)?;
    open.push(Open {
        module: file,
        asked,
        pool: Arc::downgrade(&pool),
    });
    Ok(pool)
}

fn connect(section: &Token, asked: &Asked, clock: &Clock) -> Result<Arc<SessionPool>, HomeError> {
    let pin = Pin::from_line(files::read_private(&section.pin_file)?);
    if pin.is_empty() {
        return Err(HomeError::PasswordEmpty(section.pin_file.clone()));
    }
    let module = Module::load(&section.module).map_err(HomeError::Token)?;
    let options = PoolOptions {
        sessions: asked.sessions,
        copies: asked.copies,
        ..PoolOptions::default()
    };
    let pool = SessionPool::open(
        module,
        &asked.query,
        LogIn::Pin(pin),
        options,
        clock.clone(),
    );
    pool.map_err(HomeError::Token)
}

/// The root key that the description in a file names.
pub(crate) fn open_root(pool: &Arc<SessionPool>, path: &Path) -> Result<TokenRoot, HomeError> {
    open_described_root(pool, &files::read(path)?)
}

fn open_described_root(
    pool: &Arc<SessionPool>,
    description: &[u8],
) -> Result<TokenRoot, HomeError> {
    TokenRoot::open(Arc::clone(pool), description).map_err(|error| match error {
        Error::PoolExhausted => HomeError::Token(Error::Gone),
        error => HomeError::Token(error),
    })
}

const SPARE_SESSIONS: usize = 2;
