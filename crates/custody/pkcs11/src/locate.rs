//! Finding a version's key in the token, and making sure that it is that key.

use std::sync::Arc;

use keywright_custody::{HolderError, KeyMaterial};
use keywright_types::{Custody, KeyId, KeyVersion};
use smallvec::SmallVec;

use cryptoki_sys as ck;

use crate::device::{Fault, TokenKey};
use crate::error::Error;
use crate::holder::proof::{self, Public};
use crate::holder::shape::Shape;
use crate::names::{class, key_type};
use crate::object::{ObjectHandle, Reading};
use crate::pool::PooledSession;
use crate::session::Session;
use crate::template::Template;

/// Bytes of the ids that we give: key id + version.
const ID_LEN: usize = 20;

/// The object of a key id and version, or one that was there before us.
pub(crate) struct Wanted {
    id: SmallVec<[u8; ID_LEN]>,
    /// The label of an object that was there before: it is one of that id and that label, or none.
    label: Option<String>,
    /// Class and key type of the secret or private object.
    class: (u64, u64),
}

impl Wanted {
    pub(crate) fn of(material: &KeyMaterial, shape: Shape) -> Self {
        let own = || Self::new((material.key(), material.version()), shape);
        let Some(reader) = material.reader() else {
            return own();
        };
        // Without an id it is no key of a token, and nothing has the id of its version.
        reader.object.as_ref().map_or_else(own, |object| Self {
            id: SmallVec::from_slice(object.as_bytes()),
            label: Some(reader.label.clone()),
            class: shape.class(),
        })
    }

    /// `CKA_ID`: key id + version (design 7.12).
    pub(crate) fn new((key, version): (KeyId, KeyVersion), shape: Shape) -> Self {
        let mut id = SmallVec::from_slice(key.as_bytes());
        id.extend_from_slice(&version.number().to_be_bytes());
        Self {
            id,
            label: None,
            class: shape.class(),
        }
    }

    pub(crate) fn id(&self) -> &[u8] {
        &self.id
    }

    /// The secret or private object.
    pub(crate) fn template(&self) -> Template {
        let (class_number, type_number) = self.class;
        let template = by_id(self.id())
            .class(class(class_number))
            .key_type(key_type(type_number));
        match &self.label {
            Some(label) => template.label(label),
            None => template,
        }
    }

    /// The public object of a pair.
    pub(crate) fn public(&self) -> Template {
        by_id(self.id())
            .class(class(ck::CKO_PUBLIC_KEY))
            .key_type(key_type(self.class.1))
    }

    /// Whatever has its id.
    pub(crate) fn any(&self) -> Template {
        by_id(self.id())
    }
}

/// Token objects alone: a copy in the session has the same id.
fn by_id(id: &[u8]) -> Template {
    Template::new().flag(ck::CKA_TOKEN, ck::CK_TRUE).id(id)
}

/// A key of a version in a session, held against its check value.
pub(crate) struct Located<'s> {
    pub(crate) key: TokenKey<'s>,
    pub(crate) shape: Shape,
    /// Its public half, if it is of a pair.
    pub(crate) public: Option<Arc<Public>>,
}

/// A handle that was checked, and the connection in which it means that key.
struct Checked {
    generation: u64,
    /// The number of the object in the token.
    object: u64,
    handle: ObjectHandle,
    lies: Lies,
    shape: Shape,
    public: Option<Arc<Public>>,
}

impl Checked {
    fn locate<'s>(&self, session: &'s PooledSession) -> Located<'s> {
        Located {
            key: TokenKey::new(session, self.handle),
            shape: self.shape,
            public: self.public.clone(),
        }
    }
}

/// Where the object lies that a key is used by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lies {
    /// In the session: the module has it in memory.
    InSession,
    InToken,
}

/// The key of `material`, if it is known in this connection and was copied into its session.
pub(crate) fn at_hand<'s>(
    session: &'s PooledSession,
    material: &Arc<KeyMaterial>,
) -> Option<Located<'s>> {
    let known = material.cell().with(|checked: &Checked| {
        let fits = checked.generation == session.generation() && checked.lies == Lies::InSession;
        fits.then(|| checked.locate(session))
    });
    known.flatten()
}

/// The key of `material` in this session: as it was found before in this connection, or found and checked now.
pub(crate) fn key<'s>(
    session: &'s PooledSession,
    material: &Arc<KeyMaterial>,
) -> Result<Located<'s>, Fault> {
    let known = material.cell().with(|checked: &Checked| {
        (checked.generation == session.generation()).then(|| checked.locate(session))
    });
    if let Some(located) = known.flatten() {
        return Ok(located);
    }
    let checked = check(session, material)?;
    let located = checked.locate(session);
    material.cell().put(checked);
    Ok(located)
}

/// Whether the token has the key of `material` now, whatever was found of it before. An object that was proven in this
/// connection is looked at, and not used: whoever asks every few seconds would fill the token's own log with uses. Where
/// it is another key, or none, what was found is let go of, and nothing goes on with it.
pub(crate) fn anew(session: &PooledSession, material: &Arc<KeyMaterial>) -> Result<(), Fault> {
    let found = present(session, material).and_then(|(object, shape)| {
        let known = material.cell().with(|checked: &Checked| {
            checked.generation == session.generation() && checked.object == object.number()
        });
        if known == Some(true) {
            return Ok(());
        }
        let checked = proven(session, material, (object, shape))?;
        material.cell().put(checked);
        Ok(())
    });
    found.inspect_err(|fault| {
        if fault.of_request() == HolderError::KeyRejected {
            material.cell().clear();
        }
    })
}

fn check(session: &PooledSession, material: &Arc<KeyMaterial>) -> Result<Checked, Fault> {
    let found = present(session, material)?;
    proven(session, material, found)
}

/// The object that has the id of `material`, which nobody has loosened.
fn present(
    session: &PooledSession,
    material: &Arc<KeyMaterial>,
) -> Result<(ObjectHandle, Shape), Fault> {
    let moved = material
        .parent()
        .is_some_and(|parent| parent.tenant() != material.tenant());
    let shape = Shape::of(material.spec()).ok_or(Fault::Token(Error::WrongKey))?;
    if material.spec().custody != Custody::Token || moved {
        return Err(Fault::Token(Error::WrongKey));
    }
    let object = find(session, &Wanted::of(material, shape))?;
    if material.reader().is_none() {
        guarded(session, object)?;
    }
    Ok((object, shape))
}

/// Holds an object, or its copy, against the check value.
fn proven(
    session: &PooledSession,
    material: &Arc<KeyMaterial>,
    (object, shape): (ObjectHandle, Shape),
) -> Result<Checked, Fault> {
    let handle = session.pool().usable(session.generation(), object)?;
    let wanted = Wanted::of(material, shape);
    let key = TokenKey::new(session, handle);
    let public = proof::check(shape, &key, material, || session.find_one(&wanted.public()));
    let public = match public {
        Ok(public) => public.map(Arc::new),
        Err(Fault::Unclear(_)) => return Err(key.wrong_or_gone()),
        Err(fault) => return Err(fault),
    };
    Ok(Checked {
        generation: session.generation(),
        object: object.number(),
        handle,
        lies: if handle.number() == object.number() {
            Lies::InToken
        } else {
            Lies::InSession
        },
        shape,
        public,
    })
}

/// Flags that say how well a key of ours is kept and what it may do.
const GUARDS: [u64; 6] = [
    ck::CKA_SENSITIVE,
    ck::CKA_EXTRACTABLE,
    ck::CKA_WRAP,
    ck::CKA_UNWRAP,
    ck::CKA_ENCRYPT,
    ck::CKA_DECRYPT,
];

/// Refuses a key of ours that is kept worse than it was made, or may do more. A key that copies are made of can be
/// modified, and its value, which the check holds, says nothing of its flags: one that wraps and decrypts gives every key
/// away that it wraps. What a token does not tell is as good as made; of a key that was there before us its owner decided.
pub(crate) fn guarded(session: &Session, object: ObjectHandle) -> Result<(), Fault> {
    let readings = session.readings(object, &GUARDS)?;
    let flags: Vec<_> = readings.iter().map(Reading::flag).collect();
    let [sensitive, extractable, wrap, unwrap, encrypt, decrypt] = flags[..] else {
        return Err(Fault::Token(Error::WrongKey));
    };
    let set = |flag: Option<bool>| flag == Some(true);
    let leaves = sensitive == Some(false) || set(extractable);
    let mixes = (set(wrap) || set(unwrap)) && (set(encrypt) || set(decrypt));
    match leaves || mixes {
        true => Err(Fault::Token(Error::WrongKey)),
        false => Ok(()),
    }
}

/// The one object. If it is missing, so may the token be: then a key that was there before is missing too.
pub(crate) fn find(session: &PooledSession, wanted: &Wanted) -> Result<ObjectHandle, Fault> {
    let pool = session.pool();
    match session.find_one(&wanted.template()) {
        Ok(object) => {
            pool.remember(wanted.id());
            Ok(object)
        }
        Err(Error::NoObject) => {
            let Some(known) = pool.known() else {
                return Err(Fault::Token(Error::NoObject));
            };
            match session.find_one(&by_id(&known)) {
                // A pair has two objects of its id.
                Ok(_) | Err(Error::ManyObjects { .. }) => Err(Fault::Token(Error::NoObject)),
                Err(_) if *known == *wanted.id() => {
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
    match proof::envelope_opens(key, material) {
        Ok(()) => Ok(()),
        // It was checked when it was found: whatever it is now, this connection is of no use.
        Err(_) => {
            session.pool().end(session.generation());
            Err(Fault::Token(Error::Gone))
        }
    }
}
