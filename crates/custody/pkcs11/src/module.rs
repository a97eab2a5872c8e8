//! A loaded module, and its life: initialised once a process, finalised when nobody uses it any more.
//!
//! A file that is loaded twice is one module to the operating system, with one state; so it is here.
//! [`Module::restart`] finalises and initialises it anew, which is how some modules notice that a token came
//! back. It needs that no session is open, because a call that runs during it would have no ground to stand
//! on; sessions are counted for that.

use std::collections::HashMap;
use std::ffi::CString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use cryptoki_sys as ck;

use crate::error::{Error, Failure};
use crate::raw::Functions;
use crate::session::User;
use crate::slot::{ModuleInfo, SlotId, SlotInfo, TokenInfo};
use crate::token::{Token, TokenQuery};

/// A loaded and initialised module. Clones are the same module.
#[derive(Clone)]
pub struct Module(Arc<Lease>);

/// One user of a module; the last one finalises it.
struct Lease(Arc<Inner>);

pub(crate) struct Inner {
    path: PathBuf,
    reserved: Option<CString>,
    calls: Functions,
    /// Leases; changed under the lock of [`LOADED`] alone.
    users: AtomicUsize,
    /// Whether somebody else in this process had initialised it, who will also finalise it.
    foreign: bool,
    /// Held for writing while the module is between finalise and initialise.
    life: RwLock<()>,
    sessions: AtomicUsize,
    logins: Mutex<HashMap<u64, SlotUse>>,
}

/// How many sessions a slot has, and who is logged in: all sessions of a token share that.
#[derive(Default)]
pub(crate) struct SlotUse {
    pub(crate) sessions: usize,
    pub(crate) user: Option<User>,
}

/// The modules of this process.
static LOADED: Mutex<Vec<Arc<Inner>>> = Mutex::new(Vec::new());

fn loaded() -> MutexGuard<'static, Vec<Arc<Inner>>> {
    LOADED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Module {
    /// Loads and initialises the module at `path`, for use from many threads.
    ///
    /// # Errors
    /// [`Error::Load`] with the file and the reason; [`Error::Failed`] if it does not initialise.
    pub fn load(path: &Path) -> Result<Self, Error> {
        Self::load_with(path, None)
    }

    /// As [`Module::load`], with the text that some vendors take when a module is initialised.
    ///
    /// # Errors
    /// As [`Module::load`].
    pub fn load_with(path: &Path, reserved: Option<CString>) -> Result<Self, Error> {
        let known = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let mut modules = loaded();
        if let Some(inner) = modules.iter().find(|inner| inner.path == known) {
            inner.users.fetch_add(1, Ordering::Relaxed);
            return Ok(Self(Arc::new(Lease(Arc::clone(inner)))));
        }
        let calls = Functions::load(&known).map_err(|fault| Error::Load {
            path: path.to_path_buf(),
            fault,
        })?;
        let foreign = match calls.initialize(reserved.as_deref()) {
            Ok(()) => false,
            Err(failure) if failure.raw() == ck::CKR_CRYPTOKI_ALREADY_INITIALIZED => true,
            Err(failure) => return Err(failure.into()),
        };
        let inner = Arc::new(Inner {
            path: known,
            reserved,
            calls,
            users: AtomicUsize::new(1),
            foreign,
            life: RwLock::new(()),
            sessions: AtomicUsize::new(0),
            logins: Mutex::default(),
        });
        modules.push(Arc::clone(&inner));
        Ok(Self(Arc::new(Lease(inner))))
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.inner().path
    }

    /// The version of the standard that its functions follow, such as (2, 40) or (3, 0).
    #[must_use]
    pub fn interface_version(&self) -> (u8, u8) {
        self.inner().calls.version()
    }

    /// What the module says about itself.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn info(&self) -> Result<ModuleInfo, Error> {
        let _up = self.inner().up();
        Ok(ModuleInfo::new(&self.inner().calls.info()?))
    }

    /// All slots, those without a token too.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn slots(&self) -> Result<Vec<SlotId>, Error> {
        self.list(ck::CK_FALSE)
    }

    /// Slots with a token in them.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn slots_with_token(&self) -> Result<Vec<SlotId>, Error> {
        self.list(ck::CK_TRUE)
    }

    fn list(&self, present_only: u8) -> Result<Vec<SlotId>, Error> {
        let _up = self.inner().up();
        let slots = self.inner().calls.slots(present_only)?;
        Ok(slots.into_iter().map(SlotId::new).collect())
    }

    /// What a slot says about itself.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn slot_info(&self, slot: SlotId) -> Result<SlotInfo, Error> {
        let _up = self.inner().up();
        Ok(SlotInfo::new(&self.inner().calls.slot_info(slot.number())?))
    }

    /// What the token in a slot says about itself.
    ///
    /// # Errors
    /// [`Error::Failed`]; `CKR_TOKEN_NOT_PRESENT` for an empty slot.
    pub fn token_info(&self, slot: SlotId) -> Result<TokenInfo, Error> {
        let _up = self.inner().up();
        let info = self.inner().calls.token_info(slot.number())?;
        Ok(TokenInfo::new(slot, &info))
    }

    /// The token in a slot.
    #[must_use]
    pub fn token(&self, slot: SlotId) -> Token {
        Token::new(self.clone(), slot)
    }

    /// All tokens that say what they are. A slot that fails is left out; [`Module::slots`] has it.
    ///
    /// # Errors
    /// [`Error::Failed`] if there is no list of slots.
    pub fn tokens(&self) -> Result<Vec<TokenInfo>, Error> {
        let slots = self.slots_with_token()?;
        Ok(slots
            .into_iter()
            .filter_map(|slot| self.token_info(slot).ok())
            .collect())
    }

    /// The one token that matches.
    ///
    /// # Errors
    /// [`Error::NoToken`]; [`Error::ManyTokens`] with their serial numbers; [`Error::Failed`].
    pub fn find_token(&self, query: &TokenQuery) -> Result<Token, Error> {
        let tokens = self.tokens()?;
        let present = tokens.len();
        let mut matching = tokens.into_iter().filter(|info| query.matches(info));
        let Some(first) = matching.next() else {
            return Err(Error::NoToken { present });
        };
        let mut others = matching.map(|info| info.serial).peekable();
        if others.peek().is_some() {
            let serials = std::iter::once(first.serial).chain(others).collect();
            return Err(Error::ManyTokens { serials });
        }
        Ok(self.token(first.slot))
    }

    /// Finalises the module and initialises it anew: all handles, log-ins and session objects are gone.
    ///
    /// # Errors
    /// [`Error::SessionsInUse`] while one is open, and always where somebody else in this process initialised
    /// the module; [`Error::Failed`] if it does not come up again, in which case this may be tried once more.
    pub fn restart(&self) -> Result<(), Error> {
        let inner = self.inner();
        let _alone = inner.life.write().unwrap_or_else(PoisonError::into_inner);
        let open = inner.sessions.load(Ordering::Acquire);
        if open > 0 || inner.foreign {
            return Err(Error::SessionsInUse(open));
        }
        // It may be down already, by an earlier attempt that got no further.
        inner.calls.finalize().ok();
        inner.logins().clear();
        Ok(inner.calls.initialize(inner.reserved.as_deref())?)
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.0.0
    }
}

impl Inner {
    pub(crate) const fn calls(&self) -> &Functions {
        &self.calls
    }

    /// As long as this is held the module is not restarted.
    pub(crate) fn up(&self) -> RwLockReadGuard<'_, ()> {
        self.life.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn logins(&self) -> MutexGuard<'_, HashMap<u64, SlotUse>> {
        self.logins.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a session and counts it, so that nothing restarts under it.
    pub(crate) fn open(&self, slot: u64, flags: u64) -> Result<u64, Failure> {
        let _up = self.up();
        let session = self.calls.open_session(slot, flags)?;
        self.sessions.fetch_add(1, Ordering::AcqRel);
        self.logins().entry(slot).or_default().sessions += 1;
        Ok(session)
    }

    /// Closes a session. The last one of a slot logs out before.
    pub(crate) fn close(&self, slot: u64, session: u64) -> Result<(), Failure> {
        let mut logins = self.logins();
        let mut ended = Ok(());
        if let Some(slot_use) = logins.get_mut(&slot) {
            slot_use.sessions = slot_use.sessions.saturating_sub(1);
            if slot_use.sessions == 0 && slot_use.user.take().is_some() {
                ended = self.calls.logout(session);
            }
        }
        let closed = self.calls.close_session(session);
        drop(logins);
        self.sessions.fetch_sub(1, Ordering::AcqRel);
        closed.and(ended)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut modules = loaded();
        if self.0.users.fetch_sub(1, Ordering::Relaxed) > 1 {
            return;
        }
        modules.retain(|inner| !Arc::ptr_eq(inner, &self.0));
        if !self.0.foreign {
            // Nobody is left who could do anything about a failure.
            self.0.calls.finalize().ok();
        }
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Module({})", self.path().display())
    }
}
