//! Finding a version's key in the token, and making sure that it is that key.

use std::sync::Arc;

use keywright_custody::KeyMaterial;
use keywright_types::{Custody, KeyId, KeyVersion};

use cryptoki_sys as ck;

use crate::device::{Fault, TokenKey};
use crate::error::Error;
use crate::holder::check_opens;
use crate::names::{class, key_type};
use crate::object::ObjectHandle;
use crate::pool::PooledSession;
use crate::template::Template;

/// An AES key by key id and version.
pub(crate) struct Wanted {
    key: KeyId,
    version: KeyVersion,
}

impl Wanted {
    pub(crate) const fn of(material: &KeyMaterial) -> Self {
        Self {
            key: material.key(),
            version: material.version(),
        }
    }

    pub(crate) const fn new(key: KeyId, version: KeyVersion) -> Self {
        Self { key, version }
    }

    /// `CKA_ID`: key id + version (design 7.12).
    pub(crate) fn id(&self) -> [u8; 20] {
        let mut id = [0; 20];
        id[..16].copy_from_slice(self.key.as_bytes());
        id[16..].copy_from_slice(&self.version.number().to_be_bytes());
        id
    }

    pub(crate) fn template(&self) -> Template {
        by_id(&self.id())
    }
}

/// Token objects alone: a copy in the session has the same id.
fn by_id(id: &[u8]) -> Template {
    Template::new()
        .class(class(ck::CKO_SECRET_KEY))
        .key_type(key_type(ck::CKK_AES))
        .flag(ck::CKA_TOKEN, ck::CK_TRUE)
        .id(id)
}

/// A handle that was checked, and the connection in which it means that key.
struct Checked {
    generation: u64,
    handle: ObjectHandle,
}

/// The key of `material` in this session: as it was found before in this connection, or found and checked now.
pub(crate) fn key<'s>(
    session: &'s PooledSession,
    material: &Arc<KeyMaterial>,
) -> Result<TokenKey<'s>, Fault> {
    let known = material.cell().with(|checked: &Checked| {
        (checked.generation == session.generation()).then_some(checked.handle)
    });
    if let Some(handle) = known.flatten() {
        return Ok(TokenKey::new(session, handle));
    }
    let moved = material
        .parent()
        .is_some_and(|parent| parent.tenant() != material.tenant());
    if material.spec().custody != Custody::Token || moved {
        return Err(Fault::Token(Error::WrongKey));
    }
    let object = find(session, &Wanted::of(material))?;
    let handle = session.pool().usable(session.generation(), object)?;
    let key = TokenKey::new(session, handle);
    match check_opens(&key, material) {
        Ok(()) => (),
        Err(Fault::Unclear(_)) => return Err(key.wrong_or_gone()),
        Err(fault) => return Err(fault),
    }
    material.cell().put(Checked {
        generation: session.generation(),
        handle,
    });
    Ok(key)
}

/// The one object. If it is missing, so may the token be: then a key that was there before is missing too.
pub(crate) fn find(session: &PooledSession, wanted: &Wanted) -> Result<ObjectHandle, Fault> {
    let pool = session.pool();
    match session.find_one(&wanted.template()) {
        Ok(object) => {
            pool.remember(&wanted.id());
            Ok(object)
        }
        Err(Error::NoObject) => {
            let Some(known) = pool.known() else {
                return Err(Fault::Token(Error::NoObject));
            };
            match session.find_one(&by_id(&known)) {
                Ok(_) => Err(Fault::Token(Error::NoObject)),
                Err(_) if known == wanted.id() => {
                    // The key that was there before is this one: the token is gone, or the key for ever.
                    // A new connection will tell, and must not ask this key again.
                    pool.forget();
                    Err(Fault::Token(Error::Gone))
                }
                Err(_) => Err(Fault::Token(Error::Gone)),
            }
        }
        Err(error) => Err(Fault::Token(error)),
    }
}

/// Whether the key still opens its check value: then an unclear failure was the ciphertext's.
pub(crate) fn still_there(
    session: &PooledSession,
    key: &TokenKey<'_>,
    material: &KeyMaterial,
) -> Result<(), Fault> {
    match check_opens(key, material) {
        Ok(()) => Ok(()),
        // It was checked when it was found: whatever it is now, this connection is of no use.
        Err(_) => {
            session.pool().end(session.generation());
            Err(Fault::Token(Error::Gone))
        }
    }
}
