//! The token of a configuration: opened once a process, and shared by everything that uses it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use keywright_clock::Clock;
use keywright_custody::{HolderError, Version};
use keywright_pkcs11::{
    Copies, Error, LogIn, Module, Pin, PoolOptions, SessionPool, TokenQuery, TokenRoot,
};
use keywright_service::Shared;
use keywright_types::{Custody, State, VersionLabel};

use crate::section::Token;
use crate::{HomeError, files};

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

/// Opens the token of a configuration and logs in, or gives the pool that this process has of it.
pub(crate) fn open(section: &Token, clock: &Clock) -> Result<Arc<SessionPool>, HomeError> {
    let asked = Asked {
        query: section.query()?,
        // One for each thread of the service; orders and the work of one request that finds its key evicted
        // come beside them.
        sessions: section.sessions + SPARE_SESSIONS,
        copies: if section.session_copies {
            Copies::WhereAllowed
        } else {
            Copies::Never
        },
    };
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

/// The root key that a description names.
pub(crate) fn open_root(pool: &Arc<SessionPool>, path: &Path) -> Result<TokenRoot, HomeError> {
    let description = files::read(path)?;
    TokenRoot::open(Arc::clone(pool), &description).map_err(|error| match error {
        Error::PoolExhausted => HomeError::Token(Error::Gone),
        error => HomeError::Token(error),
    })
}

const SPARE_SESSIONS: usize = 2;

/// Versions that the token must have and for which it has another key or none: they stay unavailable until that is
/// mended (design 7.21). Each is checked again before its first use in a connection.
pub(crate) fn unfit(shared: &Shared) -> Vec<VersionLabel> {
    let snapshot = shared.snapshot_owned();
    let mut unfit = Vec::new();
    for key in snapshot.keyring.iter() {
        let there = |version: &&Version| version.state() != State::Destroyed;
        for version in key.versions().iter().filter(there) {
            let material = version.material();
            if material.spec().custody != Custody::Token {
                continue;
            }
            match shared.holder().check_key(material) {
                Err(HolderError::KeyRejected) => unfit.push(VersionLabel {
                    key: material.key(),
                    version: material.version(),
                }),
                // A token that is gone says nothing about any key.
                Err(_) => return unfit,
                Ok(()) => {}
            }
        }
    }
    unfit
}
