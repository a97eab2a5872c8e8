//! A token that is measured: opened once, with one log-in, for all operations.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use keywright_encoding::hex;
use keywright_hsm::{Caution, Context, Error as HsmError, KeyChoice};
use keywright_measure::TargetError;
use keywright_pkcs11::{Error, Session, Token};
use keywright_pkcs11_names::AttributeType;
use keywright_primitives::hash::Sha256;
use keywright_primitives::random::RandomStream;

use super::TARGET;
use super::keys::{Keeper, Keys, Sharing, Storage, Wanted};
use super::named::NamedKey;
use super::task::{Padding, Task, Whose};

pub(super) use keywright_hsm::Login;

/// Which token is measured, and how.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "what the caller decides, all of it"
)]
pub struct TokenPlace {
    /// The token.
    pub token: Token,
    /// How the user logs in; `None` for a token that needs no log-in.
    pub login: Option<Login>,
    /// Where keys of the measurement are.
    pub storage: Storage,
    /// Which worker uses which of them.
    pub sharing: Sharing,
}

/// A token that is being measured. The keys go when the last operation and the last of these do.
#[derive(Debug)]
pub struct Opened {
    place: TokenPlace,
    prefix: String,
    keeper: Mutex<Option<Keeper>>,
    /// Counts how often all sessions were given up and opened anew.
    connection: AtomicU64,
    /// Whether the token has refused the log-in: it is not tried again, because each try may be one of the last.
    refused: AtomicBool,
    named: Mutex<Option<Named>>,
    /// Labels of keys in the token that a lost connection left.
    left: Mutex<Vec<String>>,
    /// Workers that need everybody logged in, and workers that log out.
    inside: AtomicUsize,
    leaving: AtomicUsize,
    /// What kept operations from being measured, with the token's own error: a measurement knows targets of
    /// any kind, and has no place for a return code.
    refusals: Mutex<Vec<(TargetError, HsmError)>>,
}

impl Opened {
    /// Nothing is opened before it is needed.
    ///
    /// # Errors
    /// The system gives no random bytes for the labels of keys.
    pub fn new(place: TokenPlace) -> Result<Arc<Self>, TargetError> {
        let system = |error: keywright_primitives::Error| TargetError::System(error.to_string());
        let unique: [u8; 4] = RandomStream::new()
            .and_then(|mut random| random.array())
            .map_err(system)?;
        Ok(Arc::new(Self {
            place,
            prefix: format!("keywright-bench-{}", hex::encode(&unique)),
            keeper: Mutex::default(),
            connection: AtomicU64::new(0),
            refused: AtomicBool::new(false),
            named: Mutex::default(),
            left: Mutex::default(),
            inside: AtomicUsize::new(0),
            leaving: AtomicUsize::new(0),
            refusals: Mutex::default(),
        }))
    }

    /// The token.
    #[must_use]
    pub const fn token(&self) -> &Token {
        &self.place.token
    }

    /// What is known of it, for the result.
    #[must_use]
    pub fn about(&self) -> BTreeMap<String, String> {
        let mut about = BTreeMap::new();
        let mut say = |name: &str, value: String| about.insert(name.to_owned(), value);
        let module = self.place.token.module();
        say("module", module.path().display().to_string());
        if let Some(hash) = file_hash(module.path()) {
            say("module_sha256", hash);
        }
        if let Ok(info) = module.info() {
            say(
                "library",
                format!("{} {}", info.description, info.library_version),
            );
        }
        if let Ok(info) = self.place.token.info() {
            say("label", info.label);
            say("serial", info.serial);
            say("manufacturer", info.manufacturer);
            say("model", info.model);
            say("firmware", info.firmware.to_string());
        }
        let keys = match self.place.storage {
            Storage::Session => "session objects",
            Storage::Token => "token objects",
        };
        say("keys", keys.to_owned());
        about
    }

    /// Logs in now, once, and keeps it so: a wrong PIN is found before anything is measured.
    ///
    /// # Errors
    /// A next try that would lock, unless that is accepted; what the token refuses.
    pub fn log_in(&self, caution: Caution) -> Result<(), HsmError> {
        if self.place.login.is_some() {
            let info = self.place.token.info()?;
            caution.check(&info, keywright_pkcs11::User::User)?;
        }
        self.keeper(&mut self.lock())?;
        Ok(())
    }

    /// The key that the caller names, of which operations can then be made.
    ///
    /// # Errors
    /// No such key, more than one, a key that can do none of this; what the token refuses.
    pub fn name_key(&self, choice: &KeyChoice<'_>) -> Result<NamedKey, HsmError> {
        let mut guard = self.lock();
        let keeper = self.keeper(&mut guard)?;
        let (named, keys) = NamedKey::detect(keeper.session(), choice)?;
        keeper.named = Some(keys);
        let found_by = Named::of(keeper.session(), keys)?;
        *self.named.lock().unwrap_or_else(PoisonError::into_inner) = Some(found_by);
        Ok(named)
    }

    /// Which connection workers have: it rises when one of them gives it up.
    pub(super) fn connection(&self) -> u64 {
        self.connection.load(Ordering::Acquire)
    }

    /// Gives up the connection `lost`, with the keys that were made in it, and logs in again. Where another worker has
    /// done so, there is nothing to do.
    ///
    /// # Errors
    /// What the token refuses; [`Error::Gone`] once it has refused the log-in.
    pub(super) fn renew(&self, lost: u64) -> Result<(), Error> {
        let mut guard = self.lock();
        if self.refused.load(Ordering::Acquire) {
            return Err(Error::Gone);
        }
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        if self.connection() == lost {
            // Its session is closed before another is opened.
            left.extend(guard.take().map(Keeper::give_up).unwrap_or_default());
            self.connection.fetch_add(1, Ordering::AcqRel);
        }
        let keeper = self.keeper(&mut guard).inspect_err(|error| {
            if matches!(error, Error::Login { .. } | Error::PinLength { .. }) {
                self.refused.store(true, Ordering::Release);
            }
        })?;
        keeper.destroy(&left)?;
        left.clear();
        Ok(())
    }

    /// Why an operation cannot be measured; the token's own error is kept behind it.
    pub(super) fn refuse(&self, operation: &str, task: Task, error: Error) -> TargetError {
        let told = target_error(operation, task, &error);
        let mut refusals = self.refusals();
        if refusals.iter().all(|(known, _)| *known != told) {
            refusals.push((told.clone(), error.into()));
        }
        told
    }

    /// What to do about an operation that could not be measured, and what to type for more about its return
    /// code; none if the token had no part in it.
    #[must_use]
    pub fn advice(&self, refused: &TargetError) -> Option<String> {
        let refusals = self.refusals();
        let (_, error) = refusals.iter().find(|(known, _)| known == refused)?;
        let line = error.explain_line(Context::General);
        let line = line.map_or_else(String::new, |line| format!("; {line}"));
        Some(error.advice() + &line)
    }

    /// The token's own error behind the words of a refusal, taken out.
    #[must_use]
    pub fn take_cause(&self, refused: &str) -> Option<HsmError> {
        let mut refusals = self.refusals();
        let mut known = refusals.iter();
        let place = known.position(|(known, _)| known.to_string() == refused)?;
        Some(refusals.swap_remove(place).1)
    }

    fn refusals(&self) -> MutexGuard<'_, Vec<(TargetError, HsmError)>> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The key for a task.
    pub(super) fn key(
        &self,
        wanted: Wanted,
        (whose, worker): (Whose, u32),
    ) -> Result<Option<Keys>, Error> {
        let mut guard = self.lock();
        let keeper = self.keeper(&mut guard)?;
        match whose {
            Whose::Named => self.named_key(keeper).map(Some),
            Whose::Made => {
                let worker = (self.place.sharing == Sharing::Each).then_some(worker);
                keeper.key(wanted, worker).map(Some)
            }
        }
    }

    /// The key that the caller named, in this connection.
    fn named_key(&self, keeper: &mut Keeper) -> Result<Keys, Error> {
        if let Some(keys) = keeper.named {
            return Ok(keys);
        }
        let named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        let choice = named.as_ref().ok_or(Error::NoObject)?.choice();
        let found = NamedKey::detect(keeper.session(), &choice);
        let (_, keys) = found.map_err(|error| match error {
            HsmError::Layer(error) => error,
            // Another key, or none, is there in its place.
            _ => Error::NoObject,
        })?;
        Ok(*keeper.named.insert(keys))
    }

    /// A session for a worker, with everybody logged in.
    pub(super) fn session(&self) -> Result<Session, Error> {
        self.keeper(&mut self.lock())?;
        self.place.token.open()
    }

    /// A label that no other object has.
    pub(super) fn label(&self, worker: u32) -> String {
        format!("{}-search-{worker}", self.prefix)
    }

    pub(super) const fn login(&self) -> Option<&Login> {
        self.place.login.as_ref()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Keeper>> {
        self.keeper.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keeper<'k>(
        &self,
        guard: &'k mut MutexGuard<'_, Option<Keeper>>,
    ) -> Result<&'k mut Keeper, Error> {
        let place = &self.place;
        match &mut **guard {
            Some(keeper) => Ok(keeper),
            empty => {
                let opened = Keeper::open(
                    &place.token,
                    place.login.as_ref(),
                    (place.storage, &self.prefix),
                )?;
                Ok(empty.insert(opened))
            }
        }
    }

    /// Notes that a worker works here. Logging out takes keys and log-in from all others, so it is measured
    /// by itself.
    pub(super) fn enter(self: &Arc<Self>, task: Task) -> Result<Stay, TargetError> {
        const ALONE: &str =
            "log-in is measured by itself: it logs every other operation of this program out";
        let (mine, others) = if task.is_alone() {
            (&self.leaving, &self.inside)
        } else {
            (&self.inside, &self.leaving)
        };
        if others.load(Ordering::Acquire) > 0 {
            return Err(TargetError::Load(ALONE));
        }
        if task.is_alone() {
            if self.leaving.load(Ordering::Acquire) > 0 {
                return Err(TargetError::Load(
                    "log-in is measured by one worker: all sessions share it",
                ));
            }
            // The keys of earlier operations end with their session, and with it the log-in.
            self.lock().take();
        }
        mine.fetch_add(1, Ordering::AcqRel);
        Ok(Stay {
            at: Arc::clone(self),
            alone: task.is_alone(),
        })
    }
}

/// What the named key is found by once more.
#[derive(Debug)]
struct Named {
    label: Option<String>,
    id: Option<Vec<u8>>,
}

impl Named {
    fn of(session: &Session, keys: Keys) -> Result<Self, Error> {
        let label = session.attribute(keys.private, AttributeType::LABEL)?;
        let id = session.attribute(keys.private, AttributeType::ID)?;
        let id = id.bytes().filter(|id| !id.is_empty());
        Ok(Self {
            label: label.text(),
            id: id.map(<[u8]>::to_vec),
        })
    }

    fn choice(&self) -> KeyChoice<'_> {
        KeyChoice {
            label: self.label.as_deref(),
            id: self.id.as_deref(),
            uri: None,
        }
    }
}

/// The token that a suite names, with the PIN that it points to.
pub(crate) fn of_suite(
    at: &crate::suite::Token,
    pin: Option<Vec<u8>>,
) -> Result<Arc<Opened>, TargetError> {
    let unreachable = |reason: String| TargetError::Unreachable {
        target: TARGET.to_owned(),
        reason,
    };
    let module = keywright_pkcs11::Module::load(&at.module);
    let module = module.map_err(|error| unreachable(error.to_string()))?;
    let choice = keywright_hsm::TokenChoice {
        label: at.label.as_deref(),
        slot: at.slot,
        ..keywright_hsm::TokenChoice::default()
    };
    let token = choice.find(&module);
    let token = token.map_err(|error| unreachable(error.to_string()))?;
    let info = token.info();
    let info = info.map_err(|error| unreachable(error.to_string()))?;
    let login = match pin {
        Some(pin) => Some(Login::Pin(keywright_pkcs11::Pin::from_line(pin))),
        None if info.flags.has_own_keypad() => Some(Login::Keypad),
        None => None,
    };
    Opened::new(TokenPlace {
        token,
        login,
        storage: Storage::default(),
        sharing: Sharing::default(),
    })
}

/// A worker's stay at a token.
pub(super) struct Stay {
    at: Arc<Opened>,
    alone: bool,
}

impl Drop for Stay {
    fn drop(&mut self) {
        let count = if self.alone {
            &self.at.leaving
        } else {
            &self.at.inside
        };
        count.fetch_sub(1, Ordering::AcqRel);
    }
}

/// SHA-256 of a file in hexadecimal.
fn file_hash(path: &std::path::Path) -> Option<String> {
    use std::io::Read as _;
    let mut file = std::fs::File::open(path).ok()?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(hex::encode(&hash.finish())),
            count => hash.update(buffer.get(..count)?),
        }
    }
}

/// Why a token cannot be measured, or not with this operation.
fn target_error(operation: &str, task: Task, error: &Error) -> TargetError {
    let reason = error.to_string();
    let target = TARGET.to_owned();
    match error {
        Error::Login { .. } | Error::PinLength { .. } => {
            TargetError::Authentication { target, reason }
        }
        Error::Load { .. } | Error::NoToken { .. } | Error::Gone => {
            TargetError::Unreachable { target, reason }
        }
        Error::Failed(failure) if is_gone(failure.code()) => {
            TargetError::Unreachable { target, reason }
        }
        error if error.is_unsupported() || refuses_hash(task, error) => TargetError::Unsupported {
            target,
            operation: operation.to_owned(),
            reason,
        },
        // A signature that does not fit, a device error, a key that is not what it was told to be.
        _ => TargetError::Failed {
            target,
            operation: operation.to_owned(),
            reason,
        },
    }
}

/// Whether the token takes OAEP, and not with this hash.
fn refuses_hash(task: Task, error: &Error) -> bool {
    let (Task::Decrypt(padding, _) | Task::Encrypt(padding, _)) = task else {
        return false;
    };
    let other = matches!(padding, Padding::Oaep(hash) if hash != keywright_pkcs11::Hash::Sha1);
    other && error.refuses_parameter()
}

fn is_gone(code: keywright_pkcs11_names::ReturnCode) -> bool {
    use keywright_pkcs11_names::ReturnCode as Code;
    matches!(
        code,
        Code::DEVICE_REMOVED | Code::TOKEN_NOT_PRESENT | Code::SLOT_ID_INVALID
    )
}
