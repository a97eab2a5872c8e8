//! A root key that never leaves the token: tenants' keys are wrapped by it, and used in this process.
//!
//! An AES-256 key like those of [`TokenHolder`](crate::TokenHolder), with suite 3. What is kept of it
//! elsewhere is a description of 33 bytes and its check value:
//!
//! ```text
//! format u8 (1) | installation 16 | root key id 16 | envelope of "keywright check" under the root
//! ```
//!
//! The envelope's associated data (field 3) is `keywright/token-root/v1` and the installation, so that a
//! description with another id or another installation does not open.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use keywright_custody::{HolderError, Placement, RootKey};
use keywright_encoding::Reader;
use keywright_envelope::{Aad, Binding, DeviceKey, Envelope, Identity, Sealing};
use keywright_primitives::random::RandomStream;
use keywright_secret::Secret;
use keywright_types::{Code, InstallationId, KeyId, KeyVersion, Kind, Suite, VersionLabel};

use crate::device::{Fault, TokenKey};
use crate::error::Error;
use crate::holder::shape::Shape;
use crate::kinds::SecretKind;
use crate::locate::{self, Wanted};
use crate::object::ObjectHandle;
use crate::pool::{PooledSession, SessionPool};
use crate::purpose::{KeyPlan, Purpose};

/// The root key of an installation, in a token.
pub struct TokenRoot {
    pool: Arc<SessionPool>,
    installation: InstallationId,
    key: KeyId,
    check: Vec<u8>,
    /// Where the key is in which connection, once it was checked there.
    place: Mutex<Option<(u64, ObjectHandle)>>,
}

impl TokenRoot {
    /// Makes a root key in the token.
    ///
    /// # Errors
    /// [`Error::Failed`] if the token cannot make it; [`Error::Gone`].
    pub fn create(pool: Arc<SessionPool>, installation: InstallationId) -> Result<Self, Error> {
        let mut random = RandomStream::new().map_err(|_| Error::Gone)?;
        let key = KeyId::from_bytes(random.array().map_err(|_| Error::Gone)?);
        let wanted = Wanted::new((key, KeyVersion::FIRST), Shape::Seals);
        let label = VersionLabel {
            key,
            version: KeyVersion::FIRST,
        };
        let plan = KeyPlan::new(Purpose::Encrypt)
            .id(wanted.id())
            .label(&label.to_string());
        let session = pool.open_writing()?;
        let object = session.generate_secret(SecretKind::Aes { len: 32 }, &plan)?;
        let mut check = Vec::new();
        let attributes = attributes(installation);
        let aad = Aad::EMPTY.attributes(&attributes);
        let sealing = Sealing {
            binding: Binding::None,
            aad: &aad,
            plaintext: CHECK_TEXT,
        };
        let device = device(key, Kind::Message).map_err(|_| Error::Gone)?;
        let sealed =
            TokenKey::new(&session, object).seal(device, &sealing, &mut random, &mut check);
        if let Err(fault) = sealed {
            drop(session.destroy_object(object));
            return Err(match fault {
                Fault::Token(error) | Fault::Unclear(error) => error,
                Fault::Item(_) => Error::Gone,
            });
        }
        Ok(Self {
            pool,
            installation,
            key,
            check,
            place: Mutex::default(),
        })
    }

    /// The root of a description, which must be this token's.
    ///
    /// # Errors
    /// [`Error::WrongKey`] for a description that is malformed or of another key; [`Error::NoObject`] if the
    /// token does not have the key; [`Error::Gone`] and [`Error::Failed`] if it cannot be asked.
    pub fn open(pool: Arc<SessionPool>, description: &[u8]) -> Result<Self, Error> {
        let (installation, key, check) = parse(description).ok_or(Error::WrongKey)?;
        let root = Self {
            pool,
            installation,
            key,
            check: check.to_vec(),
            place: Mutex::default(),
        };
        let session = root.pool.take()?;
        match root.key(&session) {
            Ok(_) => {
                drop(session);
                Ok(root)
            }
            Err(Fault::Token(error) | Fault::Unclear(error)) => Err(error),
            Err(Fault::Item(_)) => Err(Error::WrongKey),
        }
    }

    /// Destroys the key, for an installation that came to nothing: everything that was sealed under it is lost.
    ///
    /// # Errors
    /// [`Error::NoObject`], [`Error::Gone`], [`Error::Failed`]: the key is still there, or never was.
    pub fn destroy(self) -> Result<(), Error> {
        let session = self.pool.open_writing()?;
        let wanted = Wanted::new((self.key, KeyVersion::FIRST), Shape::Seals);
        let object = session.find_one(&wanted.template())?;
        session.destroy_object(object)
    }

    /// What to keep of the root, to open it again. Nothing in it is secret.
    #[must_use]
    pub fn description(&self) -> Vec<u8> {
        let mut out = vec![FORMAT];
        out.extend_from_slice(self.installation.as_bytes());
        out.extend_from_slice(self.key.as_bytes());
        out.extend_from_slice(&self.check);
        out
    }

    /// Installation and id in a description, without asking any token; `None` if it is none.
    #[must_use]
    pub fn described(description: &[u8]) -> Option<(InstallationId, KeyId)> {
        parse(description).map(|(installation, key, _)| (installation, key))
    }

    /// The key in this session, checked before its first use in this connection.
    fn key<'s>(&self, session: &'s PooledSession) -> Result<TokenKey<'s>, Fault> {
        let place = *self.place.lock().unwrap_or_else(PoisonError::into_inner);
        match place {
            Some((generation, handle)) if generation == session.generation() => {
                return Ok(TokenKey::new(session, handle));
            }
            _ => (),
        }
        let wanted = Wanted::new((self.key, KeyVersion::FIRST), Shape::Seals);
        let handle = locate::find(session, &wanted)?;
        locate::guarded(session, handle)?;
        let key = TokenKey::new(session, handle);
        self.check(&key)?;
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        *place = Some((session.generation(), handle));
        Ok(key)
    }

    fn check(&self, key: &TokenKey<'_>) -> Result<(), Fault> {
        let wrong = || Fault::Token(Error::WrongKey);
        let envelope = Envelope::parse(&self.check).map_err(|_| wrong())?;
        let attributes = attributes(self.installation);
        let aad = Aad::EMPTY.attributes(&attributes);
        let mut text = Vec::new();
        let device = device(self.key, Kind::Message)?;
        match key.open(device, &envelope, &aad, &mut text) {
            Ok(()) if text == CHECK_TEXT => Ok(()),
            Ok(()) | Err(Fault::Item(_)) => Err(wrong()),
            Err(Fault::Unclear(_)) => Err(key.wrong_or_gone()),
            Err(fault) => Err(fault),
        }
    }

    /// What an unclear failure means: what must open tells.
    fn judge(&self, session: &PooledSession) -> Fault {
        match self.key(session).and_then(|key| self.check(&key)) {
            Ok(()) => Fault::Item(Code::DecryptionFailed),
            Err(_) => Fault::Token(Error::Gone),
        }
    }

    /// Works with the key, once more on a new connection if the first was lost.
    fn with<R>(
        &self,
        mut work: impl FnMut(&TokenKey<'_>) -> Result<R, Fault>,
    ) -> Result<R, HolderError> {
        let mut attempt = || {
            let session = self.pool.take()?;
            let done = self.key(&session).and_then(|key| work(&key));
            let done = match done {
                Err(Fault::Unclear(_)) => Err(self.judge(&session)),
                done => done,
            };
            if let Err(Fault::Token(error)) = &done {
                session.heed(error);
            }
            done
        };
        let done = match attempt() {
            Err(fault) if fault.is_loss() => attempt(),
            done => done,
        };
        done.map_err(|fault| match fault {
            Fault::Item(Code::DecryptionFailed) => HolderError::KeyRejected,
            fault => fault.of_request(),
        })
    }
}

impl RootKey for TokenRoot {
    fn key_id(&self) -> KeyId {
        self.key
    }

    fn installation(&self) -> InstallationId {
        self.installation
    }

    fn seal(
        &self,
        message: &Secret<48>,
        aad: &Aad<'_>,
        random: &mut RandomStream,
        out: &mut Vec<u8>,
    ) -> Result<(), HolderError> {
        let sealing = Sealing {
            binding: Binding::None,
            aad,
            plaintext: message.expose(),
        };
        self.with(|key| key.seal(device(self.key, Kind::Key)?, &sealing, random, out))
            .map(drop)
    }

    fn open(
        &self,
        envelope: &Envelope<'_>,
        aad: &Aad<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), HolderError> {
        self.with(|key| key.open(device(self.key, Kind::Key)?, envelope, aad, out))
    }

    fn placement(&self) -> Placement {
        Placement::Pool
    }

    /// Opens the check value: a seal for each look would add up.
    fn probe(&self) -> Result<(), HolderError> {
        self.with(|key| self.check(key))
    }
}

impl fmt::Debug for TokenRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenRoot({})", self.key)
    }
}

fn device(key: KeyId, kind: Kind) -> Result<DeviceKey, Fault> {
    let identity = Identity {
        suite: Suite::TokenGcm12,
        kind,
        key,
        version: KeyVersion::FIRST,
    };
    Ok(DeviceKey::new(identity)?)
}

/// What nails the check value to its installation.
fn attributes(installation: InstallationId) -> Vec<u8> {
    [&b"keywright/token-root/v1"[..], installation.as_bytes()].concat()
}

fn parse(description: &[u8]) -> Option<(InstallationId, KeyId, &[u8])> {
    let mut reader = Reader::new(description);
    if reader.u8().ok()? != FORMAT {
        return None;
    }
    let installation = InstallationId::from_bytes(*reader.array().ok()?);
    let key = KeyId::from_bytes(*reader.array().ok()?);
    let check = reader.rest();
    Envelope::parse(check).ok()?;
    Some((installation, key, check))
}

/// Takes a description apart: the body of the fuzz target. What is understood says the same when it is put
/// together again.
///
/// # Panics
/// If it does not.
#[doc(hidden)]
pub fn fuzz_description(data: &[u8]) {
    if let Some((installation, key, check)) = parse(data) {
        let parts = [
            &[FORMAT][..],
            installation.as_bytes(),
            key.as_bytes(),
            check,
        ];
        assert_eq!(parts.concat(), data, "a description has one spelling");
    }
}

const FORMAT: u8 = 1;
const CHECK_TEXT: &[u8] = b"keywright check";
