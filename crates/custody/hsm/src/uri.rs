//! PKCS#11 URIs (RFC 7512): parsed, written, matched against what a module says.
//!
//! `pkcs11:` path, attributes between `;`, then perhaps `?` and a query, attributes between `&` (2.3). Values
//! are bytes after percent-decoding. The order of attributes means nothing; a path attribute that stands twice
//! is an error, as is a `pin-source` beside a `pin-value` (2.4). An unknown path attribute, a vendor's
//! included, matches nothing; an unknown query attribute is kept by name, for a warning (2.5).
//!
//! Not here: the PIN that `pin-source` leads to (a face reads files).

mod grammar;

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use grammar::{Component, encode, number, pair, parts, refuse_second, version};

use crate::error::Error;

use keywright_pkcs11::{ModuleInfo, Session, SlotInfo, TokenInfo, unpadded};
use keywright_pkcs11_names::ObjectClass;
use keywright_secret::SecretBytes;

/// A PKCS#11 URI. What is `None` does not matter to a match.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Uri {
    /// `library-manufacturer`.
    pub library_manufacturer: Option<Vec<u8>>,
    /// `library-version`: major and minor number.
    pub library_version: Option<(u32, u32)>,
    /// `library-description`.
    pub library_description: Option<Vec<u8>>,
    /// `manufacturer`.
    pub manufacturer: Option<Vec<u8>>,
    /// `model`.
    pub model: Option<Vec<u8>>,
    /// `serial`.
    pub serial: Option<Vec<u8>>,
    /// `token`: its label.
    pub token: Option<Vec<u8>>,
    /// `slot-id`.
    pub slot_id: Option<u64>,
    /// `slot-description`.
    pub slot_description: Option<Vec<u8>>,
    /// `slot-manufacturer`.
    pub slot_manufacturer: Option<Vec<u8>>,
    /// `object`: its label.
    pub object: Option<Vec<u8>>,
    /// `type`.
    pub class: Option<Type>,
    /// `id`.
    pub id: Option<Vec<u8>>,
    /// Names of path attributes that this does not know.
    pub unknown: Vec<String>,
    /// `module-path`.
    pub module_path: Option<Vec<u8>>,
    /// `module-name`.
    pub module_name: Option<Vec<u8>>,
    /// `pin-source`.
    pub pin_source: Option<Vec<u8>>,
    /// `pin-value`.
    pub pin_value: Option<SecretBytes>,
    /// Names of query attributes that this does not know.
    pub unknown_query: Vec<String>,
}

/// The `type` of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "RFC 7512 has these five")]
pub enum Type {
    /// `cert`
    Certificate,
    /// `data`
    Data,
    /// `private`
    Private,
    /// `public`
    Public,
    /// `secret-key`
    SecretKey,
}

impl Type {
    const ALL: [Self; 5] = [
        Self::Certificate,
        Self::Data,
        Self::Private,
        Self::Public,
        Self::SecretKey,
    ];

    /// As it stands in a URI.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Certificate => "cert",
            Self::Data => "data",
            Self::Private => "private",
            Self::Public => "public",
            Self::SecretKey => "secret-key",
        }
    }

    /// The class of such objects.
    #[must_use]
    pub const fn class(self) -> ObjectClass {
        match self {
            Self::Certificate => ObjectClass::CERTIFICATE,
            Self::Data => ObjectClass::DATA,
            Self::Private => ObjectClass::PRIVATE_KEY,
            Self::Public => ObjectClass::PUBLIC_KEY,
            Self::SecretKey => ObjectClass::SECRET_KEY,
        }
    }

    /// The type of objects of this class, if there is one.
    #[must_use]
    pub fn of(class: ObjectClass) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.class() == class)
    }
}

/// Why a text is no PKCS#11 URI. Values are not repeated: one may be a PIN.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UriError {
    /// It begins otherwise.
    #[error("it does not begin with pkcs11:")]
    Scheme,
    /// It is longer than any that means something.
    #[error("it has more than {LONGEST} bytes")]
    TooLong,
    /// Between two separators there is no `name=value`.
    #[error("attribute {0} is not name=value")]
    NoValue(usize),
    /// A name with other characters than letters, digits, `-` and `_`.
    #[error("attribute {0} has no valid name")]
    BadName(usize),
    /// A character that must be percent-encoded, or a broken encoding.
    #[error("the value of {0} has a character that must be percent-encoded")]
    Encoding(String),
    /// A value that cannot be one of this attribute.
    #[error("the value of {0} is not what this attribute takes")]
    Value(&'static str),
    /// An attribute that stands twice.
    #[error("{0} stands twice")]
    Twice(String),
    /// Two ways to the PIN.
    #[error("pin-source and pin-value stand side by side")]
    TwoPins,
}

/// No URI that means something is longer.
const LONGEST: usize = 16 << 10;

impl std::str::FromStr for Uri {
    type Err = UriError;

    fn from_str(text: &str) -> Result<Self, UriError> {
        if text.len() > LONGEST {
            return Err(UriError::TooLong);
        }
        let rest = after_scheme(text).ok_or(UriError::Scheme)?;
        let (path, query) = match rest.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (rest, None),
        };
        let mut uri = Self::default();
        let mut seen = Vec::new();
        for (number, part) in parts(path, ';') {
            let (name, value) = pair(number, part, Component::Path)?;
            refuse_second(&mut seen, name)?;
            uri.take_path(name, value)?;
        }
        seen.clear();
        for (number, part) in parts(query.unwrap_or_default(), '&') {
            let (name, value) = pair(number, part, Component::Query)?;
            uri.take_query(name, value, &mut seen)?;
        }
        if uri.pin_source.is_some() && uri.pin_value.is_some() {
            return Err(UriError::TwoPins);
        }
        Ok(uri)
    }
}

/// The scheme has no case (RFC 3986 3.1).
fn after_scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_at_checked("pkcs11:".len())?;
    scheme.eq_ignore_ascii_case("pkcs11:").then_some(rest)
}

fn object_type(value: &[u8]) -> Result<Type, UriError> {
    let known = Type::ALL.into_iter();
    known
        .into_iter()
        .find(|known| known.name().as_bytes() == value)
        .ok_or(UriError::Value("type"))
}

impl Uri {
    fn take_path(&mut self, name: &str, value: Vec<u8>) -> Result<(), UriError> {
        let place = match name {
            "library-manufacturer" => &mut self.library_manufacturer,
            "library-description" => &mut self.library_description,
            "manufacturer" => &mut self.manufacturer,
            "model" => &mut self.model,
            "serial" => &mut self.serial,
            "token" => &mut self.token,
            "slot-description" => &mut self.slot_description,
            "slot-manufacturer" => &mut self.slot_manufacturer,
            "object" => &mut self.object,
            "id" => &mut self.id,
            "library-version" => {
                self.library_version = Some(version(&value)?);
                return Ok(());
            }
            "slot-id" => {
                self.slot_id = Some(number("slot-id", &value)?);
                return Ok(());
            }
            "type" => {
                self.class = Some(object_type(&value)?);
                return Ok(());
            }
            other => {
                self.unknown.push(other.to_owned());
                return Ok(());
            }
        };
        *place = Some(value);
        Ok(())
    }

    /// Attributes of vendors may stand more than once here; the others may not.
    fn take_query<'n>(
        &mut self,
        name: &'n str,
        value: Vec<u8>,
        seen: &mut Vec<&'n str>,
    ) -> Result<(), UriError> {
        let place = match name {
            "module-path" => &mut self.module_path,
            "module-name" => &mut self.module_name,
            "pin-source" => &mut self.pin_source,
            "pin-value" => {
                refuse_second(seen, name)?;
                self.pin_value = Some(SecretBytes::from_vec(value));
                return Ok(());
            }
            other => {
                self.unknown_query.push(other.to_owned());
                return Ok(());
            }
        };
        refuse_second(seen, name)?;
        *place = Some(value);
        Ok(())
    }

    /// Whether a text that may be a label or a URI is meant as a URI.
    #[must_use]
    pub fn is_meant(text: &str) -> bool {
        after_scheme(text).is_some()
    }

    /// The URI of a token, from the bytes of its names.
    #[must_use]
    pub fn of_token(info: &TokenInfo) -> Self {
        let names = &info.names;
        Self {
            model: Some(names.model.clone()),
            manufacturer: Some(names.manufacturer.clone()),
            serial: Some(names.serial.clone()),
            token: Some(names.label.clone()),
            ..Self::default()
        }
    }

    /// The URI of an object in this token.
    #[must_use]
    pub fn of_object(
        info: &TokenInfo,
        class: Option<ObjectClass>,
        label: Option<&[u8]>,
        id: Option<&[u8]>,
    ) -> Self {
        let told =
            |value: Option<&[u8]>| value.filter(|value| !value.is_empty()).map(<[u8]>::to_vec);
        Self {
            id: told(id),
            object: told(label),
            class: class.and_then(Type::of),
            ..Self::of_token(info)
        }
    }

    /// Whether this token, its slot and its module are meant. What fills a field up does not count, neither in
    /// the token nor in the URI, where other programs write it.
    #[must_use]
    pub fn matches(&self, module: &ModuleInfo, slot: &SlotInfo, token: &TokenInfo) -> bool {
        let same = |wanted: &Option<Vec<u8>>, is: &[u8]| {
            let wanted = wanted.as_deref();
            wanted.is_none_or(|wanted| unpadded(wanted) == is)
        };
        let version = module.library_version;
        let version = (u32::from(version.major), u32::from(version.minor));
        self.unknown.is_empty()
            && same(&self.library_manufacturer, &module.names.manufacturer)
            && same(&self.library_description, &module.names.description)
            && self.library_version.is_none_or(|wanted| wanted == version)
            && same(&self.slot_description, &slot.names.description)
            && same(&self.slot_manufacturer, &slot.names.manufacturer)
            && self.slot_id.is_none_or(|id| id == token.slot.number())
            && same(&self.manufacturer, &token.names.manufacturer)
            && same(&self.model, &token.names.model)
            && same(&self.serial, &token.names.serial)
            && same(&self.token, &token.names.label)
    }

    /// Whether the token of a session is meant.
    ///
    /// # Errors
    /// What the module fails with.
    pub(crate) fn matches_session(&self, session: &Session) -> Result<bool, Error> {
        let token = session.token();
        let module = token.module();
        let slot = module.slot_info(token.slot())?;
        Ok(self.matches_module(module.path())
            && self.matches(&module.info()?, &slot, &token.info()?))
    }

    /// Whether the module of this file is meant: `module-path` is the file, leads to it or is its folder, and
    /// `module-name` is the file's name without folder and extension, with or without `lib` before it (RFC 7512 2.3).
    #[must_use]
    pub fn matches_module(&self, file: &Path) -> bool {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let loaded = real(file);
        let is_path = self.module_path.as_deref().is_none_or(|wanted| {
            let wanted = Path::new(OsStr::from_bytes(wanted));
            let folder = loaded.parent();
            wanted == file || real(wanted) == loaded || folder == Some(real(wanted).as_path())
        });
        let named = |file: &Path, wanted: &[u8]| {
            let name = file.file_name().unwrap_or_default().as_bytes();
            let stem = name.split(|byte| *byte == b'.').next().unwrap_or(name);
            let bare = stem.strip_prefix(b"lib").unwrap_or(stem);
            [name, stem, bare].contains(&wanted)
        };
        let name = self.module_name.as_deref();
        is_path && name.is_none_or(|wanted| named(file, wanted) || named(&loaded, wanted))
    }

    /// What both URIs name. A PIN or its place is that of the first which has one.
    ///
    /// # Errors
    /// [`Error::UriConflict`] if they contradict each other, so that nothing fits both.
    pub fn and(&self, other: &Self) -> Result<Self, Error> {
        self.joined(other).ok_or_else(|| Error::UriConflict {
            first: self.to_string(),
            second: other.to_string(),
        })
    }

    fn joined(&self, other: &Self) -> Option<Self> {
        let mut unknown = self.unknown.clone();
        unknown.extend_from_slice(&other.unknown);
        let has_pin = self.pin_source.is_some() || self.pin_value.is_some();
        let pin = if has_pin { self } else { other };
        let name = |of: fn(&Self) -> &Option<Vec<u8>>| padded(of(self), of(other));
        let value = |of: fn(&Self) -> &Option<Vec<u8>>| both(of(self), of(other));
        Some(Self {
            library_manufacturer: name(|uri| &uri.library_manufacturer)?,
            library_version: both(&self.library_version, &other.library_version)?,
            library_description: name(|uri| &uri.library_description)?,
            manufacturer: name(|uri| &uri.manufacturer)?,
            model: name(|uri| &uri.model)?,
            serial: name(|uri| &uri.serial)?,
            token: name(|uri| &uri.token)?,
            slot_id: both(&self.slot_id, &other.slot_id)?,
            slot_description: name(|uri| &uri.slot_description)?,
            slot_manufacturer: name(|uri| &uri.slot_manufacturer)?,
            object: value(|uri| &uri.object)?,
            class: both(&self.class, &other.class)?,
            id: value(|uri| &uri.id)?,
            unknown,
            module_path: value(|uri| &uri.module_path)?,
            module_name: value(|uri| &uri.module_name)?,
            pin_source: pin.pin_source.clone(),
            pin_value: pin.copied_pin(),
            unknown_query: [self.unknown_query.as_slice(), &other.unknown_query].concat(),
        })
    }

    fn copied_pin(&self) -> Option<SecretBytes> {
        let pin = self.pin_value.as_ref()?;
        Some(SecretBytes::from_vec(pin.expose().to_vec()))
    }

    /// The same without what it says about an object.
    #[must_use]
    pub fn without_object(&self) -> Self {
        let copy = self.joined(&Self::default()).unwrap_or_default();
        Self {
            object: None,
            class: None,
            id: None,
            ..copy
        }
    }

    /// Whether it says anything about an object.
    #[must_use]
    pub const fn names_object(&self) -> bool {
        self.object.is_some() || self.id.is_some() || self.class.is_some()
    }

    /// Whether it says anything about a token, its slot or its library, or something that no token has.
    #[must_use]
    pub const fn names_token(&self) -> bool {
        !self.unknown.is_empty()
            || self.library_manufacturer.is_some()
            || self.library_description.is_some()
            || self.library_version.is_some()
            || self.token.is_some()
            || self.serial.is_some()
            || self.model.is_some()
            || self.manufacturer.is_some()
            || self.slot_id.is_some()
            || self.slot_description.is_some()
            || self.slot_manufacturer.is_some()
    }

    /// Path attributes that are set, with their values, in the order of the RFC's examples.
    fn path(&self) -> Vec<(&'static str, Vec<u8>)> {
        let version = self.library_version;
        let version = version.map(|(major, minor)| format!("{major}.{minor}").into_bytes());
        let slot = self.slot_id.map(|id| id.to_string().into_bytes());
        let class = self.class.map(|class| class.name().as_bytes().to_vec());
        let all = [
            ("library-manufacturer", self.library_manufacturer.clone()),
            ("library-version", version),
            ("library-description", self.library_description.clone()),
            ("model", self.model.clone()),
            ("manufacturer", self.manufacturer.clone()),
            ("serial", self.serial.clone()),
            ("token", self.token.clone()),
            ("slot-id", slot),
            ("slot-description", self.slot_description.clone()),
            ("slot-manufacturer", self.slot_manufacturer.clone()),
            ("id", self.id.clone()),
            ("object", self.object.clone()),
            ("type", class),
        ];
        let set = all.into_iter();
        set.filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }
}

/// What two values of an attribute say together; none if one contradicts the other.
fn both<T: Clone + PartialEq>(one: &Option<T>, other: &Option<T>) -> Option<Option<T>> {
    match (one, other) {
        (Some(one), Some(other)) if one != other => None,
        (one, other) => Some(one.as_ref().or(other.as_ref()).cloned()),
    }
}

/// The same for a field that is filled up.
fn padded(one: &Option<Vec<u8>>, other: &Option<Vec<u8>>) -> Option<Option<Vec<u8>>> {
    let bare = |value: &Option<Vec<u8>>| value.as_deref().map(|value| unpadded(value).to_vec());
    both(&bare(one), &bare(other))
}

/// The path and the places of module and PIN. A PIN itself is never written.
impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("pkcs11:")?;
        for (index, (name, value)) in self.path().iter().enumerate() {
            let separator = if index == 0 { "" } else { ";" };
            write!(f, "{separator}{name}=")?;
            // RFC 7512 2.3: an id is binary, each of its bytes should be encoded.
            encode(
                f,
                value,
                if *name == "id" {
                    None
                } else {
                    Some(Component::Path)
                },
            )?;
        }
        let query = [
            ("module-path", &self.module_path),
            ("module-name", &self.module_name),
            ("pin-source", &self.pin_source),
        ];
        let set = query
            .iter()
            .filter_map(|(name, value)| Some((name, value.as_ref()?)));
        for (index, (name, value)) in set.enumerate() {
            let separator = if index == 0 { "?" } else { "&" };
            write!(f, "{separator}{name}=")?;
            encode(f, value, Some(Component::Query))?;
        }
        Ok(())
    }
}

/// Reads a text as a URI; what was read must be read again from how it is written. The body of the fuzz target.
///
/// # Panics
/// If what is written is not what was read.
#[doc(hidden)]
pub fn fuzz(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Ok(uri) = text.parse::<Uri>() else {
        return;
    };
    let written = uri.to_string();
    let again: Result<Uri, _> = written.parse();
    let same = again.is_ok_and(|again| again.path() == uri.path() && again.to_string() == written);
    assert!(same, "a URI is written as it was read");
}
