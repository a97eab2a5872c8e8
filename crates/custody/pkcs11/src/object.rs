//! Objects: handles, and what can be read of them.

use std::fmt;

use cryptoki_sys as ck;
use keywright_pkcs11_names::{AttributeType, KeyType, ObjectClass, ReturnCode};

use crate::error::{Error, Failure};
use crate::session::Session;
use crate::template::Template;

/// An object as a session knows it. It means nothing after the token was lost, and may mean another object
/// then: whoever keeps one checks it before its next use.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectHandle(u64);

impl ObjectHandle {
    pub(crate) const fn new(handle: u64) -> Self {
        Self(handle)
    }

    /// The number that the token gave it.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for ObjectHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectHandle({})", self.0)
    }
}

/// Both halves of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a pair has two halves")]
pub struct KeyPair {
    /// The public half.
    pub public: ObjectHandle,
    /// The private half.
    pub private: ObjectHandle,
}

/// What came of reading one attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reading {
    /// Its value as it stands in memory: numbers in the machine's byte order.
    Value(Vec<u8>),
    /// The token keeps it to itself.
    Sensitive,
    /// Objects of this kind have no such attribute.
    Absent,
    /// The token failed over it.
    Failed(ReturnCode),
}

impl Reading {
    /// The value, if there is one.
    #[must_use]
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Value(value) => Some(value),
            _ => None,
        }
    }

    /// The value as a number.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        let bytes = self.bytes()?.try_into().ok()?;
        Some(u64::from_ne_bytes(bytes))
    }

    /// The value as a flag.
    #[must_use]
    pub fn flag(&self) -> Option<bool> {
        match self.bytes()? {
            [value] => Some(*value != ck::CK_FALSE),
            _ => None,
        }
    }

    /// The value as text, with a mark for what is not UTF-8.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        self.bytes()
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }
}

/// An object as a list of candidates shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Candidate {
    /// Its handle.
    pub handle: ObjectHandle,
    /// Its class, where it can be read.
    pub class: Option<ObjectClass>,
    /// Its key type, where it has one.
    pub key_type: Option<KeyType>,
    /// Its label, where it can be read.
    pub label: Option<String>,
    /// Its id, where it can be read.
    pub id: Option<Vec<u8>>,
}

/// Reading and changing objects.
impl Session {
    /// Reads attributes of an object, in the order of `kinds`. An attribute that cannot be read says why and
    /// hides no other.
    ///
    /// # Errors
    /// [`Error::Failed`] if the object or the session is not there at all.
    pub fn attributes(
        &self,
        object: ObjectHandle,
        kinds: &[AttributeType],
    ) -> Result<Vec<Reading>, Error> {
        let kinds: Vec<u64> = kinds.iter().map(|kind| kind.value()).collect();
        self.readings(object, &kinds)
    }

    /// Reads one attribute.
    ///
    /// # Errors
    /// As [`Session::attributes`].
    pub fn attribute(&self, object: ObjectHandle, kind: AttributeType) -> Result<Reading, Error> {
        self.reading(object, kind.value())
    }

    pub(crate) fn reading(&self, object: ObjectHandle, kind: u64) -> Result<Reading, Error> {
        let mut readings = self.readings(object, &[kind])?;
        Ok(readings.pop().unwrap_or(Reading::Absent))
    }

    pub(crate) fn readings(
        &self,
        object: ObjectHandle,
        kinds: &[u64],
    ) -> Result<Vec<Reading>, Error> {
        let place = (self.raw(), object.number());
        let mut lengths = Vec::with_capacity(kinds.len());
        let asked = self.calls().attribute_lengths(place, kinds, &mut lengths);
        if let Err(failure) = asked
            && !is_partial(failure)
        {
            // Some tokens fail the whole call for one attribute; alone, each has its own answer.
            return match kinds {
                [_] if concerns_object(failure) => Err(failure.into()),
                [_] => Ok(vec![Reading::Failed(failure.code())]),
                _ => self.one_by_one(object, kinds),
            };
        }
        if kinds.len() == 1 {
            return Ok(vec![self.alone(object, kinds, &lengths, asked)?]);
        }
        if lengths.iter().any(|length| !readable(*length)) {
            return self.one_by_one(object, kinds);
        }
        let mut values: Vec<_> = lengths.iter().map(|length| room(*length)).collect();
        let mut given = Vec::with_capacity(kinds.len());
        let read = self
            .calls()
            .attribute_values(place, kinds, &mut values, &mut given);
        if read.is_err() {
            // Whatever changed in between: each by itself.
            return self.one_by_one(object, kinds);
        }
        Ok(values
            .into_iter()
            .zip(given)
            .map(|(value, length)| cut(value, length))
            .collect())
    }

    fn one_by_one(&self, object: ObjectHandle, kinds: &[u64]) -> Result<Vec<Reading>, Error> {
        kinds
            .iter()
            .map(|kind| self.reading(object, *kind))
            .collect()
    }

    /// One attribute whose length was asked for.
    fn alone(
        &self,
        object: ObjectHandle,
        kind: &[u64],
        lengths: &[u64],
        asked: Result<(), Failure>,
    ) -> Result<Reading, Error> {
        if let Err(failure) = asked {
            return Ok(unreadable(failure));
        }
        let [length] = lengths else {
            return Err(Failure::nonsense("attribute length").into());
        };
        if !readable(*length) {
            return Ok(Reading::Absent);
        }
        let mut values = [room(*length)];
        let mut given = Vec::with_capacity(1);
        let place = (self.raw(), object.number());
        let read = self
            .calls()
            .attribute_values(place, kind, &mut values, &mut given);
        if let Err(failure) = read {
            return Ok(unreadable(failure));
        }
        let [value] = values;
        Ok(cut(value, given.first().copied().unwrap_or(u64::MAX)))
    }

    /// Changes attributes of an object.
    ///
    /// # Errors
    /// [`Error::Failed`]: the session only reads, the attribute never changes, the object is not modifiable.
    pub fn set_attributes(&self, object: ObjectHandle, changes: &Template) -> Result<(), Error> {
        let done = self
            .calls()
            .set_attributes(self.raw(), object.number(), changes);
        Ok(done?)
    }

    /// Makes an object from all its parts: an imported key, a certificate, data.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn create_object(&self, template: &Template) -> Result<ObjectHandle, Error> {
        let made = self.calls().create_object(self.raw(), template)?;
        Ok(ObjectHandle::new(made))
    }

    /// Copies an object with changes.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn copy_object(
        &self,
        object: ObjectHandle,
        changes: &Template,
    ) -> Result<ObjectHandle, Error> {
        let made = self
            .calls()
            .copy_object(self.raw(), object.number(), changes)?;
        Ok(ObjectHandle::new(made))
    }

    /// Destroys an object for ever.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn destroy_object(&self, object: ObjectHandle) -> Result<(), Error> {
        Ok(self.calls().destroy_object(self.raw(), object.number())?)
    }

    /// Bytes that the object takes in the token, as far as it tells.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn object_size(&self, object: ObjectHandle) -> Result<u64, Error> {
        Ok(self.calls().object_size(self.raw(), object.number())?)
    }

    /// The object as a list shows it.
    ///
    /// # Errors
    /// As [`Session::attributes`].
    pub fn candidate(&self, handle: ObjectHandle) -> Result<Candidate, Error> {
        let kinds = [ck::CKA_CLASS, ck::CKA_KEY_TYPE, ck::CKA_LABEL, ck::CKA_ID];
        let readings = self.readings(handle, &kinds)?;
        let [class, key_type, label, id] = readings.as_slice() else {
            return Err(Failure::nonsense("attribute count").into());
        };
        Ok(Candidate {
            handle,
            class: class.number().map(ObjectClass::new),
            key_type: key_type.number().map(KeyType::new),
            label: label.text(),
            id: id.bytes().map(<[u8]>::to_vec),
        })
    }
}

/// The call went through, and single attributes have no length.
const fn is_partial(failure: Failure) -> bool {
    matches!(
        failure.raw(),
        ck::CKR_ATTRIBUTE_SENSITIVE | ck::CKR_ATTRIBUTE_TYPE_INVALID | ck::CKR_BUFFER_TOO_SMALL
    )
}

/// Nothing can be read here, whatever is asked.
const fn concerns_object(failure: Failure) -> bool {
    matches!(
        failure.raw(),
        ck::CKR_OBJECT_HANDLE_INVALID
            | ck::CKR_SESSION_HANDLE_INVALID
            | ck::CKR_SESSION_CLOSED
            | ck::CKR_DEVICE_REMOVED
            | ck::CKR_TOKEN_NOT_PRESENT
            | ck::CKR_CRYPTOKI_NOT_INITIALIZED
    )
}

fn unreadable(failure: Failure) -> Reading {
    match failure.raw() {
        ck::CKR_ATTRIBUTE_SENSITIVE => Reading::Sensitive,
        ck::CKR_ATTRIBUTE_TYPE_INVALID => Reading::Absent,
        _ => Reading::Failed(failure.code()),
    }
}

/// No attribute is longer than this; a longer one is nonsense.
const LONGEST_ATTRIBUTE: u64 = 1 << 24;

const fn readable(length: u64) -> bool {
    length <= LONGEST_ATTRIBUTE
}

fn room(length: u64) -> Vec<u8> {
    vec![0; usize::try_from(length).unwrap_or(0)]
}

fn cut(mut value: Vec<u8>, length: u64) -> Reading {
    if !readable(length) {
        return Reading::Absent;
    }
    value.truncate(usize::try_from(length).unwrap_or(0));
    Reading::Value(value)
}
