//! Sessions for threads: bounded, logged in, and opened anew when the token was lost and came back.
//!
//! A thread takes a session, works, and gives it back; there is no log-in and no search in between. What a
//! session knows belongs to a generation: when a failure says that sessions or handles are gone, the
//! generation ends. Sessions of an ended generation are closed as they come back, handles of it are never used
//! again, and whoever takes a session next makes the connection anew, at most once in
//! [`PoolOptions::retry_after`]. Others are told [`Error::Gone`] meanwhile and wait for nothing.
//!
//! The module is finalised and initialised for that, where nothing else in the process has a session of it:
//! some modules look at their store only then. A log-in that is refused ends all attempts, because each
//! would cost a try: [`SessionPool::try_again`] allows the next.

use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use keywright_clock::{Clock, MonotonicTime};

use crate::error::{Error, Failure, Remedy, Tries};
use crate::module::Module;
use crate::object::ObjectHandle;
use crate::session::{Credential, Pin, Session, User};
use crate::token::{Token, TokenQuery};

/// How a pool logs in, each time that it has to.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "the standard knows these two")]
pub enum LogIn {
    /// With a PIN, which is kept for it.
    Pin(Pin),
    /// At the token itself.
    Keypad,
}

impl LogIn {
    const fn credential(&self) -> Credential<'_> {
        match self {
            Self::Pin(pin) => Credential::Pin(pin),
            Self::Keypad => Credential::Keypad,
        }
    }
}

/// Whether keys are copied into the session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third")]
pub enum Copies {
    /// Keys are used where they are.
    #[default]
    Never,
    /// Secret keys are copied to session objects where the token allows it, which makes some tokens several
    /// times faster. The copy is as guarded as the key and ends with the connection; a key that is destroyed
    /// in the token by somebody else stays usable until then.
    WhereAllowed,
}

/// Settings of a pool.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "settings that an operator chooses together"
)]
pub struct PoolOptions {
    /// Most sessions that are lent at a time; one thread has one.
    pub sessions: usize,
    /// Whether keys are copied into the session.
    pub copies: Copies,
    /// Shortest time between two attempts to find a lost token again.
    pub retry_after: Duration,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self {
            sessions: 4,
            copies: Copies::Never,
            retry_after: Duration::from_millis(500),
        }
    }
}

/// Sessions with one token.
pub struct SessionPool {
    module: Module,
    query: TokenQuery,
    log_in: LogIn,
    options: PoolOptions,
    clock: Clock,
    state: Mutex<State>,
}

struct State {
    phase: Phase,
    generation: u64,
    idle: Vec<Session>,
    lent: usize,
    attempt_at: MonotonicTime,
    known: Option<Vec<u8>>,
}

enum Phase {
    Up(Box<Connection>),
    /// One thread makes the connection at this moment.
    Connecting,
    Down,
    /// The log-in was refused.
    Refused(Failure, Tries),
}

/// What a generation has: the token, a session that keeps the log-in and owns the copies, and those.
struct Connection {
    token: Token,
    anchor: Session,
    copies: HashMap<u64, ObjectHandle>,
}

impl SessionPool {
    /// Opens the token that `query` names and logs in. It is known by its serial number from then on.
    ///
    /// # Errors
    /// [`Error::NoToken`], [`Error::ManyTokens`], [`Error::Login`], [`Error::Failed`].
    pub fn open(
        module: Module,
        query: &TokenQuery,
        log_in: LogIn,
        options: PoolOptions,
        clock: Clock,
    ) -> Result<Arc<Self>, Error> {
        let info = module.find_token(query)?.info()?;
        // The slot may have another number after the token came back.
        let query = TokenQuery {
            label: Some(info.label),
            serial: Some(info.serial),
            slot: None,
            ..query.clone()
        };
        let connection = connect(&module, &query, &log_in)?;
        let state = Mutex::new(State {
            phase: Phase::Up(Box::new(connection)),
            generation: 1,
            idle: Vec::with_capacity(options.sessions),
            lent: 0,
            attempt_at: clock.monotonic(),
            known: None,
        });
        Ok(Arc::new(Self {
            module,
            query,
            log_in,
            options,
            clock,
            state,
        }))
    }

    /// The module.
    #[must_use]
    pub const fn module(&self) -> &Module {
        &self.module
    }

    /// The settings.
    #[must_use]
    pub const fn options(&self) -> &PoolOptions {
        &self.options
    }

    /// Takes a session, which comes back when the guard is dropped.
    ///
    /// # Errors
    /// [`Error::PoolExhausted`] if all are lent; [`Error::Gone`] while the token is away; [`Error::Login`]
    /// after a log-in was refused; whatever opening one more session fails with.
    pub fn take(self: &Arc<Self>) -> Result<PooledSession, Error> {
        let mut state = self.lock();
        match &state.phase {
            Phase::Up(_) => return self.lend(state),
            Phase::Connecting => return Err(Error::Gone),
            Phase::Refused(failure, tries) => {
                return Err(Error::Login {
                    failure: *failure,
                    tries: *tries,
                });
            }
            Phase::Down if self.clock.monotonic() < state.attempt_at => return Err(Error::Gone),
            Phase::Down => (),
        }
        state.phase = Phase::Connecting;
        drop(state);
        let connected = self.reconnect();
        let mut state = self.lock();
        match connected {
            Ok(connection) => {
                state.phase = Phase::Up(Box::new(connection));
                self.lend(state)
            }
            Err(error) => {
                state.attempt_at = self.clock.monotonic().plus(self.options.retry_after);
                state.phase = match &error {
                    Error::Login { failure, tries } => Phase::Refused(*failure, *tries),
                    _ => Phase::Down,
                };
                Err(match error {
                    Error::Login { .. } => error,
                    _ => Error::Gone,
                })
            }
        }
    }

    /// Takes a session that is idle in a connection that is there, and waits for nothing: none is opened, and
    /// a lost token is not looked for.
    pub(crate) fn take_idle(self: &Arc<Self>) -> Option<PooledSession> {
        let mut state = self.state.try_lock().ok()?;
        if !matches!(state.phase, Phase::Up(_)) {
            return None;
        }
        let session = state.idle.pop()?;
        state.lent += 1;
        Some(self.guard(state.generation, session))
    }

    /// A session that came back, else a new one while there may be more.
    fn lend(self: &Arc<Self>, mut state: MutexGuard<'_, State>) -> Result<PooledSession, Error> {
        let generation = state.generation;
        if let Some(session) = state.idle.pop() {
            state.lent += 1;
            return Ok(self.guard(generation, session));
        }
        let Phase::Up(connection) = &state.phase else {
            return Err(Error::Gone);
        };
        if state.lent >= self.options.sessions {
            return Err(Error::PoolExhausted);
        }
        let token = connection.token.clone();
        state.lent += 1;
        drop(state);
        token.open().map_or_else(
            |error| {
                self.lock().lent -= 1;
                if error.remedy() == Remedy::Reopen {
                    self.end(generation);
                    return Err(Error::Gone);
                }
                Err(error)
            },
            |session| Ok(self.guard(generation, session)),
        )
    }

    fn guard(self: &Arc<Self>, generation: u64, session: Session) -> PooledSession {
        PooledSession {
            pool: Arc::clone(self),
            generation,
            session: Some(session),
        }
    }

    /// Makes the connection anew, on a module that starts anew if nobody else uses it.
    fn reconnect(&self) -> Result<Connection, Error> {
        match self.module.restart() {
            // Sessions that are still lent, or that others in this process have: without a restart, then.
            Ok(()) | Err(Error::SessionsInUse(_)) => (),
            Err(error) => return Err(error),
        }
        connect(&self.module, &self.query, &self.log_in)
    }

    /// Ends a generation: a failure said that its sessions or handles are gone.
    pub fn end(&self, generation: u64) {
        let mut state = self.lock();
        if state.generation != generation {
            return;
        }
        state.generation += 1;
        let old = std::mem::replace(&mut state.phase, Phase::Down);
        state.attempt_at = self.clock.monotonic();
        let idle = std::mem::take(&mut state.idle);
        drop(state);
        // Closing asks a module that may take its time.
        drop((old, idle));
    }

    /// Allows the next attempt after a log-in was refused.
    pub fn try_again(&self) {
        let mut state = self.lock();
        if matches!(state.phase, Phase::Refused(..)) {
            state.phase = Phase::Down;
            state.attempt_at = self.clock.monotonic();
        }
    }

    /// A handle to use for a key: its copy in the session if copies are made and the token allows this one.
    ///
    /// # Errors
    /// [`Error::Gone`] if the generation has ended; [`Error::Failed`] if the session is gone.
    pub fn usable(&self, generation: u64, key: ObjectHandle) -> Result<ObjectHandle, Error> {
        if self.options.copies == Copies::Never {
            return Ok(key);
        }
        let mut state = self.lock();
        if state.generation != generation {
            return Err(Error::Gone);
        }
        let Phase::Up(connection) = &mut state.phase else {
            return Err(Error::Gone);
        };
        if let Some(copy) = connection.copies.get(&key.number()) {
            return Ok(*copy);
        }
        let copy = match connection.anchor.copy_into_session(key) {
            Ok(copy) => copy,
            Err(error) if error.remedy() == Remedy::Reopen => return Err(error),
            Err(_) => key,
        };
        connection.copies.insert(key.number(), copy);
        Ok(copy)
    }

    /// Destroys the copy of a key that is about to be destroyed itself.
    pub(crate) fn destroy_copy(&self, key: ObjectHandle) -> Result<(), Error> {
        let mut state = self.lock();
        let Phase::Up(connection) = &mut state.phase else {
            // Copies went with the connection.
            return Ok(());
        };
        match connection.copies.remove(&key.number()) {
            Some(copy) if copy != key => connection.anchor.destroy_object(copy),
            _ => Ok(()),
        }
    }

    /// Opens a session that writes, for making and destroying keys. It is not one of the pool's, but it counts
    /// for the module: while it lives, a lost token is looked for without a restart.
    ///
    /// # Errors
    /// As [`SessionPool::take`].
    pub fn open_writing(self: &Arc<Self>) -> Result<Session, Error> {
        let session = self.take()?;
        let opened = session.token().open_writing();
        if let Err(error) = &opened {
            session.heed(error);
        }
        opened
    }

    /// The id of a key that was found in the token, for telling a missing key from a missing token.
    pub(crate) fn remember(&self, id: &[u8]) {
        let mut state = self.lock();
        if state.known.is_none() {
            state.known = Some(id.to_vec());
        }
    }

    pub(crate) fn known(&self) -> Option<Vec<u8>> {
        self.lock().known.clone()
    }

    pub(crate) fn forget(&self) {
        self.lock().known = None;
    }

    /// Forgets a key that is destroyed.
    pub(crate) fn forget_if(&self, id: &[u8]) {
        let mut state = self.lock();
        if state.known.as_deref() == Some(id) {
            state.known = None;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give_back(&self, generation: u64, session: Session) {
        let mut state = self.lock();
        state.lent -= 1;
        if generation == state.generation && matches!(state.phase, Phase::Up(_)) {
            state.idle.push(session);
        } else {
            drop(state);
            drop(session);
        }
    }
}

/// Finds the token, logs in and sees that the session works.
fn connect(module: &Module, query: &TokenQuery, log_in: &LogIn) -> Result<Connection, Error> {
    let token = module.find_token(query)?;
    let anchor = token.open()?;
    anchor.login(User::User, log_in.credential())?;
    anchor.check()?;
    Ok(Connection {
        token,
        anchor,
        copies: HashMap::new(),
    })
}

impl fmt::Debug for SessionPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        let phase = match state.phase {
            Phase::Up(_) => "up",
            Phase::Connecting => "connecting",
            Phase::Down => "down",
            Phase::Refused(..) => "refused",
        };
        write!(f, "SessionPool({phase}, {} lent)", state.lent)
    }
}

/// A session of a pool. Dropping gives it back.
#[must_use]
pub struct PooledSession {
    pool: Arc<SessionPool>,
    generation: u64,
    /// There until it is dropped.
    session: Option<Session>,
}

impl PooledSession {
    /// The generation it belongs to: handles of another one mean nothing to it.
    #[must_use]
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    /// The pool it is from.
    #[must_use]
    pub const fn pool(&self) -> &Arc<SessionPool> {
        &self.pool
    }

    /// Does what a failure asks for: ends the generation where sessions or handles are gone.
    pub fn heed(&self, error: &Error) {
        if error.remedy() == Remedy::Reopen {
            self.pool.end(self.generation);
        }
    }
}

#[expect(
    clippy::expect_used,
    reason = "the session is taken out by drop alone, after which there is no guard to read"
)]
impl Deref for PooledSession {
    type Target = Session;

    fn deref(&self) -> &Session {
        self.session.as_ref().expect("a guard has its session")
    }
}

impl Drop for PooledSession {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            self.pool.give_back(self.generation, session);
        }
    }
}

impl fmt::Debug for PooledSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "PooledSession({:?}, generation {})",
            self.session, self.generation
        )
    }
}
