//! Which token and which object: exactly one, or an error that lists what there is.

use std::fmt::Write as _;

use keywright_encoding::hex;
use keywright_pkcs11::{Candidate, Module, ObjectHandle, Session, Template, Token, TokenInfo};
use keywright_pkcs11_names::{AttributeType, ObjectClass};

use crate::error::{Apart, Error};
use crate::likeness::{Similar, similar};
use crate::uri::Uri;

/// Which token is meant: all that is named must fit.
#[derive(Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "the ways to name a token")]
pub struct TokenChoice<'a> {
    /// Its label, exactly.
    pub label: Option<&'a str>,
    /// Its serial number, exactly.
    pub serial: Option<&'a str>,
    /// The number of its slot.
    pub slot: Option<u64>,
    /// A URI.
    pub uri: Option<&'a Uri>,
}

impl TokenChoice<'_> {
    /// Whether nothing is named.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let named = self.uri.is_some_and(Uri::names_token);
        self.label.is_none() && self.serial.is_none() && self.slot.is_none() && !named
    }

    /// The one initialised token that fits.
    ///
    /// # Errors
    /// [`Error::NoToken`], [`Error::ManyTokens`], [`Error::UriUnknown`]; what the module fails with.
    pub fn find(&self, module: &Module) -> Result<Token, Error> {
        self.find_where(module, |info| info.flags.is_initialized())
    }

    /// The one token that fits and `good` accepts.
    pub(crate) fn find_where(
        &self,
        module: &Module,
        good: impl Fn(&TokenInfo) -> bool,
    ) -> Result<Token, Error> {
        if let Some(name) = self.uri.and_then(|uri| uri.unknown.first()) {
            return Err(Error::UriUnknown(name.clone()));
        }
        let own = module.info()?;
        let mut present = module.tokens()?;
        present.retain(|info| good(info));
        let fits = |info: &TokenInfo| {
            let slot = module.slot_info(info.slot);
            self.fits(info)
                && self
                    .uri
                    .is_none_or(|uri| slot.is_ok_and(|slot| uri.matches(&own, &slot, info)))
        };
        let matching: Vec<_> = present.iter().filter(|info| fits(info)).collect();
        let wanted = self.wanted();
        match matching.as_slice() {
            [one] => Ok(module.token(one.slot)),
            [] => Err(Error::NoToken {
                wanted,
                present: present.iter().map(line).collect(),
            }),
            many => Err(Error::ManyTokens {
                wanted,
                matching: many.iter().map(|info| line(info)).collect(),
            }),
        }
    }

    fn fits(&self, info: &TokenInfo) -> bool {
        self.label.is_none_or(|label| label == info.label)
            && self.serial.is_none_or(|serial| serial == info.serial)
            && self.slot.is_none_or(|slot| slot == info.slot.number())
    }

    fn wanted(&self) -> String {
        let mut words = Vec::new();
        words.extend(self.label.map(|label| format!("labelled {label:?}")));
        words.extend(self.serial.map(|serial| format!("numbered {serial:?}")));
        words.extend(self.slot.map(|slot| format!("in slot {slot}")));
        words.extend(self.uri.map(|uri| format!("at {uri}")));
        if words.is_empty() {
            return "initialised here".to_owned();
        }
        words.join(" and ")
    }
}

/// A token in a list of candidates.
fn line(info: &TokenInfo) -> String {
    let TokenInfo {
        label,
        serial,
        slot,
        ..
    } = info;
    format!("{label:?} (serial {serial}, slot {slot})")
}

/// Which object is meant: all that is named must fit.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "the ways to name an object")]
pub struct KeyChoice<'a> {
    /// Its label, exactly.
    pub label: Option<&'a str>,
    /// Its id.
    pub id: Option<&'a [u8]>,
    /// A URI; only its object attributes count.
    pub uri: Option<&'a Uri>,
}

impl<'a> KeyChoice<'a> {
    /// By label alone.
    #[must_use]
    pub const fn label(label: &'a str) -> Self {
        Self {
            label: Some(label),
            id: None,
            uri: None,
        }
    }

    /// The attributes to search by.
    pub(crate) fn template(&self) -> Template {
        let mut template = Template::new();
        if let Some(uri) = self.uri {
            if let Some(label) = &uri.object {
                template = template.bytes(AttributeType::LABEL, label);
            }
            if let Some(id) = &uri.id {
                template = template.id(id);
            }
            if let Some(class) = uri.class {
                template = template.class(class.class());
            }
        }
        if let Some(label) = self.label {
            template = template.label(label);
        }
        if let Some(id) = self.id {
            template = template.id(id);
        }
        template
    }

    /// The one object of this class that fits.
    ///
    /// # Errors
    /// [`Error::Unnamed`], [`Error::NoKey`] with labels that are spelt alike, [`Error::ManyKeys`].
    pub fn find(&self, session: &Session, class: ObjectClass) -> Result<ObjectHandle, Error> {
        let asked = self.uri.and_then(|uri| uri.class);
        // The other half of a pair may be what is needed: the URI of a private key names its public key too.
        let halves = [ObjectClass::PRIVATE_KEY, ObjectClass::PUBLIC_KEY];
        let fits = asked.is_none_or(|asked| {
            asked.class() == class || (halves.contains(&asked.class()) && halves.contains(&class))
        });
        if !fits {
            return Err(self.missing(session, class));
        }
        self.find_by(session, Template::new().class(class), what(class))
    }

    /// The one object of any class that fits.
    ///
    /// # Errors
    /// As [`KeyChoice::find`].
    pub fn find_any(&self, session: &Session) -> Result<ObjectHandle, Error> {
        self.find_by(session, Template::new(), "object")
    }

    /// Whether nothing is named.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.label.is_none() && self.id.is_none() && !self.uri.is_some_and(Uri::names_object)
    }

    fn find_by(
        &self,
        session: &Session,
        class: Template,
        what: &'static str,
    ) -> Result<ObjectHandle, Error> {
        if self.is_empty() {
            return Err(Error::Unnamed(what));
        }
        match session.find_one(&self.template().and(class)) {
            Ok(found) => Ok(found),
            Err(keywright_pkcs11::Error::NoObject) => Err(self.not_found(session, what)),
            Err(keywright_pkcs11::Error::ManyObjects { candidates }) => Err(Error::ManyKeys {
                what,
                wanted: self.wanted(),
                matching: candidates.iter().map(candidate).collect(),
                apart: apart(&candidates),
            }),
            Err(error) => Err(error.into()),
        }
    }

    /// That no object fits; `similar` are the labels that were found instead.
    #[must_use]
    pub fn none(&self, what: &'static str, similar: &[Similar]) -> Error {
        Error::NoKey {
            what,
            wanted: self.wanted(),
            similar: similar.iter().map(|near| near.label.clone()).collect(),
        }
    }

    fn missing(&self, session: &Session, class: ObjectClass) -> Error {
        self.not_found(session, what(class))
    }

    fn not_found(&self, session: &Session, what: &'static str) -> Error {
        let similar = self.label.map(|label| similar(session, label));
        self.none(what, &similar.and_then(Result::ok).unwrap_or_default())
    }

    /// As it was named, for a field of a document: the label, else the id, else the URI.
    #[must_use]
    pub fn name(&self) -> String {
        let label = self.label.map(str::to_owned);
        let id = || self.id.map(hex::encode);
        let uri = || self.uri.map(ToString::to_string);
        label.or_else(id).or_else(uri).unwrap_or_default()
    }

    pub(crate) fn wanted(&self) -> String {
        let mut words = Vec::new();
        words.extend(self.label.map(|label| format!("labelled {label:?}")));
        words.extend(self.id.map(|id| format!("with id {}", hex::encode(id))));
        words.extend(self.uri.map(|uri| format!("at {uri}")));
        words.join(" and ")
    }
}

const fn what(class: ObjectClass) -> &'static str {
    match class {
        ObjectClass::PRIVATE_KEY => "private key",
        ObjectClass::PUBLIC_KEY => "public key",
        ObjectClass::SECRET_KEY => "secret key",
        ObjectClass::CERTIFICATE => "certificate",
        ObjectClass::DATA => "data object",
        _ => "object",
    }
}

/// Where a class was asked for, all have it.
fn apart(candidates: &[Candidate]) -> Apart {
    let mut classes = candidates.iter().map(|candidate| candidate.class);
    let first = classes.next();
    match classes.all(|class| Some(class) == first) {
        true => Apart::Id,
        false => Apart::Class,
    }
}

/// An object in a list of candidates.
pub(crate) fn candidate(candidate: &Candidate) -> String {
    let mut text = candidate.class.map_or("object", what).to_owned();
    if let Some(label) = &candidate.label {
        // Writing to a text does not fail.
        write!(text, " {label:?}").ok();
    }
    let id = candidate.id.as_deref().filter(|id| !id.is_empty());
    let id = id.map_or_else(
        || "no id".to_owned(),
        |id| format!("id {}", hex::encode(id)),
    );
    write!(text, " ({id}, handle {})", candidate.handle.number()).ok();
    text
}
