//! A session with the chosen token: where everything is done.

use std::io::Read;

use keywright_pkcs11::{
    Access, Credential, Hash, KeyAccess, Mechanism, ObjectHandle, Pin, Session, Token, TokenInfo,
    Tries, User,
};
use keywright_pkcs11_names::{AttributeType, ObjectClass};
use keywright_secret::SecretBytes;

use crate::error::Error;
use crate::piece::Pieces;
use crate::selection::KeyChoice;

/// How somebody logs in.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "the standard knows these two")]
pub enum Login {
    /// At the token itself.
    Keypad,
    /// With a PIN.
    Pin(Pin),
}

impl Login {
    /// As the layer takes it.
    #[must_use]
    pub const fn credential(&self) -> Credential<'_> {
        match self {
            Self::Keypad => Credential::Keypad,
            Self::Pin(pin) => Credential::Pin(pin),
        }
    }
}

/// Whether to log in where the next wrong PIN locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third")]
pub enum Caution {
    /// Not then.
    Guard,
    /// Also then.
    Risk,
}

impl Caution {
    /// Refuses where the next wrong PIN of `user` locks.
    ///
    /// # Errors
    /// [`Error::FinalTry`].
    pub fn check(self, info: &TokenInfo, user: User) -> Result<(), Error> {
        let tries = match user {
            User::User => info.user_tries(),
            User::SecurityOfficer => info.so_tries(),
        };
        if self == Self::Guard && tries == Tries::Last {
            return Err(Error::FinalTry);
        }
        Ok(())
    }
}

/// How often a key wants the PIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    /// For each operation (`CKA_ALWAYS_AUTHENTICATE`).
    EachTime,
    /// At the log-in.
    Once,
}

/// A session with a token. Ends, logged out, on drop.
#[derive(Debug)]
pub struct Desk {
    pub(crate) session: Session,
    info: TokenInfo,
    login: Option<Login>,
}

impl Desk {
    /// Opens a session and logs the user in if there is a login. A PIN is tried once and never again.
    ///
    /// # Errors
    /// [`Error::FinalTry`]; what the token refuses.
    pub fn open(
        token: &Token,
        access: Access,
        login: Option<Login>,
        caution: Caution,
    ) -> Result<Self, Error> {
        let info = token.info()?;
        let session = token.open_for(access)?;
        if let Some(login) = &login {
            caution.check(&info, User::User)?;
            session.login(User::User, login.credential())?;
        }
        Ok(Self {
            session,
            info,
            login,
        })
    }

    /// The session, for operations that this crate has no word for.
    #[must_use]
    pub const fn session(&self) -> &Session {
        &self.session
    }

    /// What the token says about itself.
    #[must_use]
    pub const fn info(&self) -> &TokenInfo {
        &self.info
    }

    /// Whether somebody is logged in.
    #[must_use]
    pub const fn is_logged_in(&self) -> bool {
        self.login.is_some()
    }

    pub(crate) fn find(
        &self,
        choice: &KeyChoice<'_>,
        class: ObjectClass,
    ) -> Result<ObjectHandle, Error> {
        choice.find(&self.session, class)
    }

    /// How often the key wants the PIN.
    pub(crate) fn always_asks(&self, key: ObjectHandle) -> Result<Asks, Error> {
        let asks = self
            .session
            .attribute(key, AttributeType::ALWAYS_AUTHENTICATE)?;
        Ok(match asks.flag() {
            Some(true) => Asks::EachTime,
            _ => Asks::Once,
        })
    }

    /// The key with the PIN where it wants one for each operation.
    pub(crate) fn key_access<'l>(
        login: Option<&'l Login>,
        key: ObjectHandle,
        asks: Asks,
    ) -> KeyAccess<'l> {
        match login.filter(|_| asks == Asks::EachTime) {
            Some(login) => KeyAccess::with_credential(key, login.credential()),
            None => key.into(),
        }
    }

    /// As [`Desk::key_access`], for an operation in one piece.
    pub(crate) fn access(&self, key: ObjectHandle, asks: Asks) -> KeyAccess<'_> {
        Self::key_access(self.login.as_ref(), key, asks)
    }

    /// The session for a stream, and what is needed to log in beside it.
    pub(crate) const fn split(&mut self) -> (&mut Session, Option<&Login>) {
        (&mut self.session, self.login.as_ref())
    }

    /// Random bytes of the token.
    ///
    /// # Errors
    /// What the token refuses.
    pub fn random(&self, length: usize) -> Result<SecretBytes, Error> {
        let mut bytes = SecretBytes::zeroed(length);
        // Some tokens have a limit for one call.
        for piece in bytes.expose_mut().chunks_mut(4096) {
            self.session.random(piece)?;
        }
        Ok(bytes)
    }

    /// The hash of an input, made by the token.
    ///
    /// # Errors
    /// A token without it says which hashes it has; [`Error::Input`].
    pub fn hash(&mut self, hash: Hash, input: &mut dyn Read) -> Result<(Vec<u8>, u64), Error> {
        let mechanism = Mechanism::Digest(hash);
        self.session
            .token()
            .require(&mechanism, keywright_pkcs11::Ability::Digest)?;
        let mut running = self.session.digest_stream(&mechanism)?;
        let mut pieces = Pieces::new(input);
        let mut length = 0;
        while let Some(piece) = pieces.next()? {
            running.update(piece)?;
            length += piece.len() as u64;
        }
        if length == 0 {
            // An operation that was never updated ends differently from token to token.
            running.update(&[])?;
        }
        let mut out = Vec::new();
        running.finish(&mut out)?;
        Ok((out, length))
    }
}

/// The name of a hash on the command line.
#[must_use]
pub const fn hash_name(hash: Hash) -> &'static str {
    match hash {
        Hash::Sha1 => "sha1",
        Hash::Sha224 => "sha224",
        Hash::Sha256 => "sha256",
        Hash::Sha384 => "sha384",
        Hash::Sha512 => "sha512",
        Hash::Sha3_224 => "sha3-224",
        Hash::Sha3_256 => "sha3-256",
        Hash::Sha3_384 => "sha3-384",
        _ => "sha3-512",
    }
}
