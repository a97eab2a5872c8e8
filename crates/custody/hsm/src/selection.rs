//! Which token and which object: exactly one, or an error that lists what there is.

use std::fmt::Write as _;

use keywright_encoding::hex;
use keywright_pkcs11::{Candidate, Module, ObjectHandle, Session, Template, Token, TokenInfo};
use keywright_pkcs11_names::{AttributeType, ObjectClass};

use crate::error::{Apart, Error};
use crate::likeness::{Similar, similar};
use crate::uri::{Type, Uri};

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
                && self.uri.is_none_or(|uri| {
                    uri.matches_module(module.path())
                        && slot.is_ok_and(|slot| uri.matches(&own, &slot, info))
                })
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
        let names = &info.names;
        let same =
            |wanted: Option<&str>, is: &[u8]| wanted.is_none_or(|wanted| wanted.as_bytes() == is);
        same(self.label, &names.label)
            && same(self.serial, &names.serial)
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
    format!("{label:?} (serial {serial:?}, slot {slot})")
}

/// Which object is meant: all that is named must fit.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "the ways to name an object")]
pub struct KeyChoice<'a> {
    /// Its label, exactly.
    pub label: Option<&'a str>,
    /// Its id.
    pub id: Option<&'a [u8]>,
    /// A URI. Its object attributes name the object, and it names none in a token that its other attributes
    /// do not name.
    pub uri: Option<&'a Uri>,
}

/// Which class an object must have.
#[derive(Clone, Copy)]
enum ClassWanted {
    /// That of the URI, if it has one.
    Any,
    /// This one; a URI with another names nothing.
    Exact(ObjectClass),
    /// This one; the URI of the other half of a pair will do.
    OrHalf(ObjectClass),
}

impl ClassWanted {
    /// The class to search for; none if the URI has another.
    fn with(self, named: Option<ObjectClass>) -> Option<Option<ObjectClass>> {
        let halves = [ObjectClass::PRIVATE_KEY, ObjectClass::PUBLIC_KEY];
        match (self, named) {
            (Self::Any, named) => Some(named),
            (Self::Exact(class) | Self::OrHalf(class), None) => Some(Some(class)),
            (Self::OrHalf(class), Some(named))
                if halves.contains(&class) && halves.contains(&named) =>
            {
                Some(Some(class))
            }
            (Self::Exact(class) | Self::OrHalf(class), Some(named)) => {
                (class == named).then_some(Some(class))
            }
        }
    }

    const fn what(self) -> &'static str {
        match self {
            Self::Any => "object",
            Self::Exact(class) | Self::OrHalf(class) => what(class),
        }
    }
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

    /// The attributes to search by; none if the words contradict each other, so that nothing fits.
    fn template(&self, class: ClassWanted) -> Option<Template> {
        let mut template = Template::new();
        let uri = self.uri;
        let label = uri.and_then(|uri| uri.object.as_deref());
        if let Some(label) = one_of(self.label.map(str::as_bytes), label)? {
            template = template.bytes(AttributeType::LABEL, label);
        }
        let id = uri.and_then(|uri| uri.id.as_deref());
        if let Some(id) = one_of(self.id, id)? {
            template = template.id(id);
        }
        let named = uri.and_then(|uri| uri.class).map(Type::class);
        if let Some(class) = class.with(named)? {
            template = template.class(class);
        }
        Some(template)
    }

    /// The attributes to search by in this session; none if nothing in its token is meant.
    fn template_in(
        &self,
        session: &Session,
        class: ClassWanted,
    ) -> Result<Option<Template>, Error> {
        let Some(template) = self.template(class) else {
            return Ok(None);
        };
        let is_here = match self.uri {
            Some(uri) => uri.matches_session(session)?,
            None => true,
        };
        Ok(is_here.then_some(template))
    }

    /// All objects that fit, of this class alone if it is given.
    ///
    /// # Errors
    /// What the token fails with. Finding none is a result.
    pub(crate) fn search(
        &self,
        session: &Session,
        class: Option<ObjectClass>,
    ) -> Result<Vec<ObjectHandle>, Error> {
        let class = class.map_or(ClassWanted::Any, ClassWanted::Exact);
        match self.template_in(session, class)? {
            Some(template) => Ok(session.search(&template)?.collect::<Result<_, _>>()?),
            None => Ok(Vec::new()),
        }
    }

    /// The one object of this class that fits. Where the class is a half of a pair, a URI of the other half names
    /// it too: the URI of a private key also says what its signatures are verified with.
    ///
    /// # Errors
    /// [`Error::Unnamed`], [`Error::NoKey`] with labels that are spelt alike, [`Error::ManyKeys`].
    pub fn find(&self, session: &Session, class: ObjectClass) -> Result<ObjectHandle, Error> {
        self.find_by(session, ClassWanted::OrHalf(class))
    }

    /// The one object of this class that fits. A URI of another class names nothing.
    ///
    /// # Errors
    /// As [`KeyChoice::find`].
    pub fn find_exact(&self, session: &Session, class: ObjectClass) -> Result<ObjectHandle, Error> {
        self.find_by(session, ClassWanted::Exact(class))
    }

    /// The one object of any class that fits.
    ///
    /// # Errors
    /// As [`KeyChoice::find`].
    pub fn find_any(&self, session: &Session) -> Result<ObjectHandle, Error> {
        self.find_by(session, ClassWanted::Any)
    }

    /// Whether nothing is named.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.label.is_none() && self.id.is_none() && !self.uri.is_some_and(Uri::names_object)
    }

    fn find_by(&self, session: &Session, class: ClassWanted) -> Result<ObjectHandle, Error> {
        let what = class.what();
        if self.is_empty() {
            return Err(Error::Unnamed(what));
        }
        let Some(template) = self.template_in(session, class)? else {
            return Err(self.none(what, &[]));
        };
        match session.find_one(&template) {
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

/// What two words for one attribute say together; none if one contradicts the other.
fn one_of<'b>(one: Option<&'b [u8]>, other: Option<&'b [u8]>) -> Option<Option<&'b [u8]>> {
    match (one, other) {
        (Some(one), Some(other)) if one != other => None,
        (one, other) => Some(one.or(other)),
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
