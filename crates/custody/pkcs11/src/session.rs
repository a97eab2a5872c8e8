//! Sessions: opened to read unless asked otherwise, logged in with a PIN that nobody sees, closed on drop.

use std::cell::Cell;
use std::fmt;

use cryptoki_sys as ck;
use keywright_secret::{SecretBytes, wipe};

use crate::error::{Error, Failure, Tries};
use crate::module::Module;
use crate::raw::Functions;
use crate::token::Token;

/// A PIN. Shown by nothing, wiped on drop.
pub struct Pin(SecretBytes);

impl Pin {
    /// Takes over the bytes as they are: blanks belong to a PIN.
    #[must_use]
    pub const fn new(bytes: SecretBytes) -> Self {
        Self(bytes)
    }

    /// A PIN from what a user typed or a file holds: exactly one line end is taken off.
    #[must_use]
    pub fn from_line(mut bytes: Vec<u8>) -> Self {
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
            if bytes.last() == Some(&b'\r') {
                bytes.pop();
            }
        }
        Self(SecretBytes::from_vec(bytes))
    }

    /// Number of bytes.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pin")
    }
}

/// How somebody shows who they are.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "the standard knows these two")]
pub enum Credential<'a> {
    /// By a PIN that we have.
    Pin(&'a Pin),
    /// At the token itself, which asks for the PIN on a keypad or reader.
    Keypad,
}

impl Credential<'_> {
    fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Pin(pin) => Some(pin.0.expose()),
            Self::Keypad => None,
        }
    }
}

/// Who logs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the standard knows these two")]
pub enum User {
    /// Whoever uses the keys.
    User,
    /// The security officer, who initialises tokens and sets the user's PIN.
    SecurityOfficer,
}

impl User {
    const fn number(self) -> u64 {
        match self {
            Self::User => ck::CKU_USER,
            Self::SecurityOfficer => ck::CKU_SO,
        }
    }
}

/// What a session may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the standard knows these two")]
pub enum Access {
    /// Use keys; objects it makes live as long as itself.
    Read,
    /// Also make, change and destroy token objects.
    Write,
}

/// A session with a token. One thread uses it at a time.
pub struct Session {
    token: Token,
    handle: u64,
    access: Access,
    /// Also what keeps a session from being shared between threads.
    open: Cell<bool>,
}

impl Token {
    /// Opens a session that only reads.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn open(&self) -> Result<Session, Error> {
        self.open_for(Access::Read)
    }

    /// Opens a session that also writes.
    ///
    /// # Errors
    /// [`Error::Failed`]; `CKR_TOKEN_WRITE_PROTECTED` where nothing can be written.
    pub fn open_writing(&self) -> Result<Session, Error> {
        self.open_for(Access::Write)
    }

    /// Opens a session with this access.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn open_for(&self, access: Access) -> Result<Session, Error> {
        let flags = match access {
            Access::Read => ck::CKF_SERIAL_SESSION,
            Access::Write => ck::CKF_SERIAL_SESSION | ck::CKF_RW_SESSION,
        };
        let slot = self.slot().number();
        let handle = self.module().inner().open(slot, flags)?;
        Ok(Session {
            token: self.clone(),
            handle,
            access,
            open: Cell::new(true),
        })
    }

    /// Initialises the token: everything in it is gone. It has no user PIN then. The slot may have another
    /// number after, so the token must be looked for again.
    ///
    /// # Errors
    /// [`Error::LabelTooLong`]; [`Error::PinLength`]; [`Error::Login`] for another PIN than it has;
    /// [`Error::Failed`] with `CKR_SESSION_EXISTS` while a session is open.
    pub fn initialize(&self, so_pin: Credential<'_>, label: &str) -> Result<(), Error> {
        if label.len() > 32 {
            return Err(Error::LabelTooLong);
        }
        let mut padded = [b' '; 32];
        padded[..label.len()].copy_from_slice(label.as_bytes());
        self.check_length(&so_pin)?;
        let inner = self.module().inner();
        let _up = inner.up();
        let slot = self.slot().number();
        let done = inner.calls().init_token(slot, so_pin.bytes(), &padded);
        done.map_err(|failure| self.explain(User::SecurityOfficer, failure))
    }

    /// A PIN that the token cannot have is not sent: it would count as a wrong try.
    fn check_length(&self, credential: &Credential<'_>) -> Result<(), Error> {
        let Some(pin) = credential.bytes() else {
            return Ok(());
        };
        let (min, max) = self.info()?.pin_len;
        let length = pin.len() as u64;
        if length < min || (max > 0 && length > max) {
            return Err(Error::PinLength { min, max });
        }
        Ok(())
    }

    /// A refused log-in with what the token's flags say about further tries.
    fn explain(&self, user: User, failure: Failure) -> Error {
        let tries = match failure.raw() {
            ck::CKR_PIN_LOCKED => Tries::None,
            ck::CKR_PIN_INCORRECT
            | ck::CKR_PIN_INVALID
            | ck::CKR_PIN_LEN_RANGE
            | ck::CKR_PIN_EXPIRED
            | ck::CKR_USER_PIN_NOT_INITIALIZED => match (self.info(), user) {
                (Ok(info), User::User) => info.user_tries(),
                (Ok(info), User::SecurityOfficer) => info.so_tries(),
                (Err(_), _) => Tries::Untold,
            },
            _ => return Error::Failed(failure),
        };
        Error::Login { failure, tries }
    }
}

impl Session {
    /// The token it is with.
    #[must_use]
    pub const fn token(&self) -> &Token {
        &self.token
    }

    /// What it may do.
    #[must_use]
    pub const fn access(&self) -> Access {
        self.access
    }

    /// The number that the token gave it, for logs.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.handle
    }

    /// Whether the token still knows it. Cheap, but not on every token a call to the device.
    ///
    /// # Errors
    /// [`Error::Failed`] if not.
    pub fn check(&self) -> Result<(), Error> {
        self.calls().session_info(self.handle)?;
        Ok(())
    }

    /// Logs in. All sessions with this token are logged in then; whoever is so already stays so.
    ///
    /// # Errors
    /// [`Error::PinLength`] for a PIN that was not sent; [`Error::Login`] for one that was refused, with what
    /// the token tells about further tries; [`Error::Failed`]. A refused PIN is never tried again by itself.
    pub fn login(&self, user: User, credential: Credential<'_>) -> Result<(), Error> {
        let slot = self.token.slot().number();
        let inner = self.token.module().inner();
        let mut logins = inner.logins();
        if logins.get(&slot).and_then(|slot_use| slot_use.user) == Some(user) {
            return Ok(());
        }
        self.token.check_length(&credential)?;
        match self
            .calls()
            .login(self.handle, user.number(), credential.bytes())
        {
            Ok(()) => (),
            Err(failure) if failure.raw() == ck::CKR_USER_ALREADY_LOGGED_IN => (),
            Err(failure) => {
                drop(logins);
                return Err(self.token.explain(user, failure));
            }
        }
        logins.entry(slot).or_default().user = Some(user);
        Ok(())
    }

    /// Logs in once more for the operation that has just begun, as keys with `CKA_ALWAYS_AUTHENTICATE` want.
    pub(crate) fn login_for_operation(&self, credential: Credential<'_>) -> Result<(), Error> {
        let logged_in =
            self.calls()
                .login(self.handle, ck::CKU_CONTEXT_SPECIFIC, credential.bytes());
        logged_in.map_err(|failure| self.token.explain(User::User, failure))
    }

    /// Logs out; this ends the log-in of all sessions with this token.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn logout(&self) -> Result<(), Error> {
        let mut logins = self.token.module().inner().logins();
        if let Some(slot_use) = logins.get_mut(&self.token.slot().number()) {
            slot_use.user = None;
        }
        Ok(self.calls().logout(self.handle)?)
    }

    /// Sets the user's PIN, as security officer, in a session that writes.
    ///
    /// # Errors
    /// [`Error::PinLength`], [`Error::Failed`].
    pub fn set_user_pin(&self, pin: Credential<'_>) -> Result<(), Error> {
        self.token.check_length(&pin)?;
        Ok(self.calls().init_pin(self.handle, pin.bytes())?)
    }

    /// Changes the PIN of whoever is logged in, else the user's.
    ///
    /// # Errors
    /// [`Error::PinLength`]; [`Error::Login`] if the old one is wrong; [`Error::Failed`].
    pub fn change_pin(&self, old: Credential<'_>, new: Credential<'_>) -> Result<(), Error> {
        self.token.check_length(&old)?;
        self.token.check_length(&new)?;
        let slot = self.token.slot().number();
        let logins = self.token.module().inner().logins();
        let user = logins.get(&slot).and_then(|slot_use| slot_use.user);
        drop(logins);
        let done = self.calls().set_pin(self.handle, old.bytes(), new.bytes());
        done.map_err(|failure| self.token.explain(user.unwrap_or(User::User), failure))
    }

    /// Fills `out` with random bytes of the token.
    ///
    /// # Errors
    /// [`Error::Failed`]; then `out` holds nothing.
    pub fn random(&self, out: &mut [u8]) -> Result<(), Error> {
        let filled = self.calls().random(self.handle, out);
        if filled.is_err() {
            wipe(out);
        }
        Ok(filled?)
    }

    /// Adds to the seed of the token's random bytes.
    ///
    /// # Errors
    /// [`Error::Failed`]; many tokens take no seed.
    pub fn seed_random(&self, seed: &[u8]) -> Result<(), Error> {
        Ok(self.calls().seed_random(self.handle, seed)?)
    }

    /// Closes the session. Dropping does the same and keeps the error to itself.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn close(self) -> Result<(), Error> {
        Ok(self.end()?)
    }

    fn end(&self) -> Result<(), Failure> {
        if !self.open.replace(false) {
            return Ok(());
        }
        let slot = self.token.slot().number();
        self.token.module().inner().close(slot, self.handle)
    }

    pub(crate) fn calls(&self) -> &Functions {
        self.token.module().inner().calls()
    }

    pub(crate) const fn raw(&self) -> u64 {
        self.handle
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.end().ok();
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Session({} in slot {})", self.handle, self.token.slot())
    }
}

/// Modules are shared by sessions of many threads.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    const fn sent<T: Send>() {}
    shared::<Module>();
    sent::<Session>();
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_one_line_end_is_taken_off_a_pin() {
        let length = |text: &str| Pin::from_line(text.as_bytes().to_vec()).len();
        assert_eq!(length("1234\n"), 4);
        assert_eq!(length("1234\r\n"), 4);
        assert_eq!(length("1234\n\n"), 5);
        assert_eq!(length(" 1234 "), 6);
        assert_eq!(length("1234\r"), 5);
        assert!(Pin::from_line(Vec::new()).is_empty());
    }

    #[test]
    fn a_pin_does_not_show() {
        let pin = Pin::from_line(b"1234".to_vec());
        let shown = format!("{pin:?} {:?}", Credential::Pin(&pin));
        assert!(!shown.contains("1234") && !shown.contains("49"), "{shown}");
    }
}
