//! `list-objects`, `find-key`: objects as a list shows them.

use keywright_encoding::hex;
use keywright_pkcs11::{Curve, ObjectHandle, Session, TokenInfo};
use keywright_pkcs11_names::{AttributeType, KeyType, ObjectClass};
use serde::{Serialize, Serializer};

use crate::desk::Desk;
use crate::error::Error;
pub use crate::likeness::Similar;
use crate::likeness::similar;
use crate::public_key::PublicKey;
use crate::selection::KeyChoice;
use crate::uri::Uri;

/// An object in a list.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct ObjectReport {
    pub handle: u64,
    pub label: Option<String>,
    pub class: Option<String>,
    /// In hexadecimal; empty if the object has none.
    pub id: String,
    pub key_type: Option<String>,
    pub key_size_bits: Option<u64>,
    pub curve: Option<String>,
    pub flags: ObjectFlags,
    pub uri: String,
}

/// Flags of an object; one that it does not have or that cannot be read is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names are those of the attributes")]
#[non_exhaustive]
pub struct ObjectFlags {
    pub token: Option<bool>,
    pub private: Option<bool>,
    pub modifiable: Option<bool>,
    pub local: Option<bool>,
    pub sign: Option<bool>,
    pub verify: Option<bool>,
    pub encrypt: Option<bool>,
    pub decrypt: Option<bool>,
    pub wrap: Option<bool>,
    pub unwrap: Option<bool>,
    pub derive: Option<bool>,
    pub encapsulate: Option<bool>,
    pub decapsulate: Option<bool>,
    pub sensitive: Option<bool>,
    pub always_sensitive: Option<bool>,
    pub never_extractable: Option<bool>,
    pub extractable: Option<bool>,
    pub trusted: Option<bool>,
    pub copyable: Option<bool>,
    pub destroyable: Option<bool>,
    pub always_authenticate: Option<bool>,
}

impl ObjectFlags {
    fn read(session: &Session, object: ObjectHandle) -> Result<Self, Error> {
        let flag =
            |kind| -> Result<Option<bool>, Error> { Ok(session.attribute(object, kind)?.flag()) };
        Ok(Self {
            token: flag(AttributeType::TOKEN)?,
            private: flag(AttributeType::PRIVATE)?,
            modifiable: flag(AttributeType::MODIFIABLE)?,
            local: flag(AttributeType::LOCAL)?,
            sign: flag(AttributeType::SIGN)?,
            verify: flag(AttributeType::VERIFY)?,
            encrypt: flag(AttributeType::ENCRYPT)?,
            decrypt: flag(AttributeType::DECRYPT)?,
            wrap: flag(AttributeType::WRAP)?,
            unwrap: flag(AttributeType::UNWRAP)?,
            derive: flag(AttributeType::DERIVE)?,
            encapsulate: flag(AttributeType::ENCAPSULATE)?,
            decapsulate: flag(AttributeType::DECAPSULATE)?,
            sensitive: flag(AttributeType::SENSITIVE)?,
            always_sensitive: flag(AttributeType::ALWAYS_SENSITIVE)?,
            never_extractable: flag(AttributeType::NEVER_EXTRACTABLE)?,
            extractable: flag(AttributeType::EXTRACTABLE)?,
            trusted: flag(AttributeType::TRUSTED)?,
            copyable: flag(AttributeType::COPYABLE)?,
            destroyable: flag(AttributeType::DESTROYABLE)?,
            always_authenticate: flag(AttributeType::ALWAYS_AUTHENTICATE)?,
        })
    }

    /// The short words of the text form. `XTR` is for a key that can be taken out, wrapped.
    #[must_use]
    pub fn words(&self) -> Vec<&'static str> {
        let all = [
            (self.token, "tok"),
            (self.private, "prv"),
            (self.modifiable, "mod"),
            (self.local, "loc"),
            (self.sensitive, "sen"),
            (self.always_sensitive, "ase"),
            (self.never_extractable, "nxt"),
            (self.extractable, "XTR"),
            (self.sign, "sig"),
            (self.verify, "vfy"),
            (self.encrypt, "enc"),
            (self.decrypt, "dec"),
            (self.wrap, "wra"),
            (self.unwrap, "unw"),
            (self.derive, "der"),
            (self.encapsulate, "ecp"),
            (self.decapsulate, "dcp"),
            (self.trusted, "tru"),
            (self.always_authenticate, "pin"),
        ];
        all.into_iter()
            .filter_map(|(set, word)| (set == Some(true)).then_some(word))
            .collect()
    }
}

impl ObjectReport {
    /// Reads an object. What cannot be read is `None` and hides nothing else.
    ///
    /// # Errors
    /// What the token fails with if the object is not there at all.
    pub fn read(desk: &Desk, object: ObjectHandle) -> Result<Self, Error> {
        let session = &desk.session;
        let read = |kind| session.attribute(object, kind);
        let class = read(AttributeType::CLASS)?.number().map(ObjectClass::new);
        let key_type = read(AttributeType::KEY_TYPE)?.number().map(KeyType::new);
        let (label, id) = (read(AttributeType::LABEL)?, read(AttributeType::ID)?);
        let curve = read(AttributeType::EC_PARAMS)?;
        let curve = curve.bytes().and_then(Curve::from_parameters);
        let uri = Uri::of_object(desk.info(), class, label.bytes(), id.bytes());
        Ok(Self {
            handle: object.number(),
            class: class.map(|class| class.to_string()),
            id: id.bytes().map(hex::encode).unwrap_or_default(),
            key_type: key_type.map(|kind| kind.to_string()),
            key_size_bits: bits(session, object, curve)?,
            curve: curve.map(curve_name).map(str::to_owned),
            flags: ObjectFlags::read(session, object)?,
            uri: uri.to_string(),
            label: label.text(),
        })
    }
}

/// The size of a key, as far as it can be read.
pub(crate) fn bits(
    session: &Session,
    object: ObjectHandle,
    curve: Option<Curve>,
) -> Result<Option<u64>, Error> {
    if let Some(curve) = curve {
        return Ok(Some(u64::from(curve.bits())));
    }
    let modulus = session.attribute(object, AttributeType::MODULUS)?;
    if let Some(modulus) = modulus.bytes() {
        let zeros = modulus.iter().take_while(|byte| **byte == 0).count();
        let top = modulus.get(zeros).map_or(0, |byte| byte.leading_zeros());
        let length = modulus.len().saturating_sub(zeros) as u64 * 8;
        return Ok(Some(length.saturating_sub(u64::from(top))).filter(|bits| *bits > 0));
    }
    let length = session.attribute(object, AttributeType::VALUE_LEN)?;
    Ok(length.number().and_then(|bytes| bytes.checked_mul(8)))
}

/// The name of a curve on the command line.
#[must_use]
pub const fn curve_name(curve: Curve) -> &'static str {
    match curve {
        Curve::P256 => "p256",
        Curve::P384 => "p384",
        Curve::P521 => "p521",
        Curve::Secp256k1 => "secp256k1",
        Curve::Ed25519 => "ed25519",
        Curve::Ed448 => "ed448",
        Curve::X25519 => "x25519",
        _ => "x448",
    }
}

/// `list-objects`.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct ObjectsReport {
    pub token_label: String,
    pub object_count: usize,
    pub objects: Vec<ObjectReport>,
}

/// All objects that are seen, those named by `choice` and of `class` alone if they are given; by class, label, id.
///
/// # Errors
/// What the token fails with.
pub fn list(
    desk: &Desk,
    choice: &KeyChoice<'_>,
    class: Option<ObjectClass>,
) -> Result<ObjectsReport, Error> {
    let handles = choice.search(&desk.session, class)?;
    let mut objects: Vec<_> = handles
        .into_iter()
        .map(|handle| ObjectReport::read(desk, handle))
        .collect::<Result<_, _>>()?;
    objects.sort_by(|a, b| {
        let key = |o: &ObjectReport| (o.class.clone(), o.label.clone(), o.id.clone(), o.handle);
        key(a).cmp(&key(b))
    });
    Ok(ObjectsReport {
        token_label: desk.info().label.clone(),
        object_count: objects.len(),
        objects,
    })
}

/// `find-key`.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct FindReport {
    pub operation: &'static str,
    pub search_key: String,
    pub exact_match: bool,
    pub keys_found: usize,
    pub keys: Vec<FoundKey>,
    pub similar: Vec<Similar>,
    /// Where it was looked, if that was in more than one token.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<SearchedToken>,
}

/// A token in which a key was looked for.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct SearchedToken {
    pub label: String,
    pub serial: String,
    pub slot_id: u64,
    pub uri: String,
    /// Whether private objects were seen as well.
    pub logged_in: bool,
    pub keys_found: usize,
    /// Why it could not be searched.
    pub error: Option<String>,
}

impl SearchedToken {
    fn new(info: &TokenInfo) -> Self {
        Self {
            label: info.label.clone(),
            serial: info.serial.clone(),
            slot_id: info.slot.number(),
            uri: Uri::of_token(info).to_string(),
            logged_in: false,
            keys_found: 0,
            error: None,
        }
    }
}

impl FindReport {
    fn new(search_key: String) -> Self {
        Self {
            operation: "find-key",
            search_key,
            exact_match: false,
            keys_found: 0,
            keys: Vec::new(),
            similar: Vec::new(),
            tokens: Vec::new(),
        }
    }

    fn with(mut self, keys: Vec<FoundKey>, similar: Vec<Similar>) -> Self {
        self.exact_match = !keys.is_empty();
        self.keys_found = keys.len();
        self.keys = keys;
        self.similar = similar;
        self
    }
}

/// Which objects of a token a search sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "with a log-in and without one")]
pub enum Seen {
    /// Private ones too.
    All,
    /// Without a log-in: public ones alone.
    Public,
}

/// What several tokens were found to hold, one after the other.
#[derive(Debug)]
pub struct Everywhere(FindReport);

impl Everywhere {
    /// Nothing was searched yet for what is named like this.
    #[must_use]
    pub fn new(search_key: impl Into<String>) -> Self {
        Self(FindReport::new(search_key.into()))
    }

    /// Adds what came of searching a token.
    pub fn add(&mut self, info: &TokenInfo, seen: Seen, found: Result<FindReport, Error>) {
        let mut token = SearchedToken::new(info);
        match found {
            Ok(found) => {
                token.logged_in = seen == Seen::All;
                token.keys_found = found.keys.len();
                self.0.keys.extend(found.keys);
                self.0.similar.extend(found.similar);
            }
            Err(error) => token.error = Some(error.to_string()),
        }
        self.0.tokens.push(token);
    }

    /// All of it. Of labels that are spelt alike the five nearest are kept.
    #[must_use]
    pub fn report(mut self) -> FindReport {
        for (index, key) in self.0.keys.iter_mut().enumerate() {
            key.match_number = index + 1;
        }
        let (keys, mut similar) = (
            std::mem::take(&mut self.0.keys),
            std::mem::take(&mut self.0.similar),
        );
        if !keys.is_empty() {
            // A token without the key is no reason to guess where another has it.
            similar.clear();
        }
        crate::likeness::nearest(&mut similar);
        self.0.with(keys, similar)
    }
}

/// A key that was found.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct FoundKey {
    pub match_number: usize,
    /// In documents with its flags as a list of words.
    #[serde(flatten, serialize_with = "with_flag_words")]
    pub object: ObjectReport,
    pub capabilities: Vec<&'static str>,
}

/// An object as `find-key` shows it.
#[derive(Serialize)]
struct Shown<'a> {
    handle: u64,
    label: &'a Option<String>,
    class: &'a Option<String>,
    id: &'a str,
    key_type: &'a Option<String>,
    key_size_bits: Option<u64>,
    curve: &'a Option<String>,
    flags: Vec<&'static str>,
    uri: &'a str,
}

fn with_flag_words<S: Serializer>(object: &ObjectReport, out: S) -> Result<S::Ok, S::Error> {
    let shown = Shown {
        handle: object.handle,
        label: &object.label,
        class: &object.class,
        id: &object.id,
        key_type: &object.key_type,
        key_size_bits: object.key_size_bits,
        curve: &object.curve,
        flags: object.flags.words(),
        uri: &object.uri,
    };
    shown.serialize(out)
}

/// What a search for keys is to do where none fits exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third")]
pub enum Near {
    /// Say nothing more.
    Ignore,
    /// Name labels that are spelt alike.
    Show,
}

/// Looks for keys by label, id or URI.
///
/// # Errors
/// [`Error::Unnamed`]; what the token fails with. Finding none is a result.
pub fn find(desk: &Desk, choice: &KeyChoice<'_>, near: Near) -> Result<FindReport, Error> {
    if choice.is_empty() {
        return Err(Error::Unnamed("key"));
    }
    let listed = list(desk, choice, None)?;
    let numbered = listed.objects.into_iter().enumerate();
    let keys: Vec<_> = numbered
        .map(|(index, object)| FoundKey {
            match_number: index + 1,
            capabilities: capabilities(&object.flags),
            object,
        })
        .collect();
    let similar = match (near, choice.label) {
        (Near::Show, Some(label)) if keys.is_empty() => similar(&desk.session, label)?,
        _ => Vec::new(),
    };
    Ok(FindReport::new(choice.name()).with(keys, similar))
}

/// Looks for the keys of a pair by the SHA-256 of its SubjectPublicKeyInfo, in hexadecimal digits with or without
/// colons, or by the print that SSH shows (`SHA256:` and base64); among those that `choice` names, if it names any.
///
/// # Errors
/// [`Error::Value`] for a text that is no print; what the token fails with. Finding none is a result.
pub fn find_print(desk: &Desk, choice: &KeyChoice<'_>, print: &str) -> Result<FindReport, Error> {
    let digits = print.replace(':', "").to_ascii_lowercase();
    let is_hex = digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hex && !print.starts_with("SHA256:") {
        return Err(Error::Value(
            "a fingerprint has 64 hexadecimal digits, or begins with SHA256:".to_owned(),
        ));
    }
    let session = &desk.session;
    let mut keys = Vec::new();
    for class in [ObjectClass::PRIVATE_KEY, ObjectClass::PUBLIC_KEY] {
        for handle in choice.search(session, Some(class))? {
            let public = match class {
                ObjectClass::PUBLIC_KEY => PublicKey::read(session, handle),
                _ => PublicKey::of_private(session, handle),
            };
            // A key whose public half cannot be read, or has no such form, has no print.
            let Ok(public) = public else { continue };
            let fits = match is_hex {
                true => public.fingerprint() == digits,
                false => public.ssh_fingerprint().as_deref() == Some(print),
            };
            if fits {
                let object = ObjectReport::read(desk, handle)?;
                keys.push(FoundKey {
                    match_number: keys.len() + 1,
                    capabilities: capabilities(&object.flags),
                    object,
                });
            }
        }
    }
    Ok(FindReport::new(print.to_owned()).with(keys, Vec::new()))
}

/// That no key has this print.
#[must_use]
pub fn none_has(print: &str) -> Error {
    Error::NoKey {
        what: "key",
        wanted: format!("with fingerprint {print}"),
        similar: Vec::new(),
    }
}

fn capabilities(flags: &ObjectFlags) -> Vec<&'static str> {
    let all = [
        (flags.sign, "sign"),
        (flags.verify, "verify"),
        (flags.encrypt, "encrypt"),
        (flags.decrypt, "decrypt"),
        (flags.wrap, "wrap"),
        (flags.unwrap, "unwrap"),
        (flags.derive, "derive"),
        (flags.encapsulate, "encapsulate"),
        (flags.decapsulate, "decapsulate"),
    ];
    all.into_iter()
        .filter_map(|(set, word)| (set == Some(true)).then_some(word))
        .collect()
}
