//! `inspect-key`, `diff-keys`: every attribute of a key, and where two keys differ.

use keywright_pkcs11::{ObjectHandle, Reading};
use keywright_pkcs11_names::{AttributeType, Named as _, ObjectClass};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::attribute::{Attribute, Secrets, is_same};
use crate::desk::Desk;
use crate::error::Error;
use crate::expected::Expected;
use crate::objects::ObjectReport;
use crate::public_key::PublicKey;
use crate::selection::KeyChoice;
use crate::uri::Uri;

/// `inspect-key`.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct InspectReport {
    pub key_label: String,
    pub object_count: usize,
    pub objects: Vec<Inspected>,
}

/// An object with all that can be read of it.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct Inspected {
    #[serde(flatten)]
    pub object: ObjectReport,
    /// SHA-256 of SubjectPublicKeyInfo, for keys that have one.
    pub fingerprint: Option<String>,
    pub ssh_fingerprint: Option<String>,
    pub check_value: Option<String>,
    /// By name in documents: what was read as `value` and `bytes`, else the word for why not.
    #[serde(serialize_with = "by_name")]
    pub attributes: Vec<AttributeReport>,
    /// How many attributes of the header this object does not have.
    pub absent_attributes: usize,
}

/// An attribute.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct AttributeReport {
    pub name: String,
    /// The value; `readable (N bytes)` for the secret of a key; or `sensitive`; or `error` with its code.
    pub value: String,
    /// The length of what was read; none if nothing was.
    pub bytes: Option<usize>,
}

/// What was read of an attribute.
#[derive(Serialize)]
struct Value<'a> {
    value: &'a str,
    bytes: usize,
}

fn by_name<S: Serializer>(attributes: &[AttributeReport], out: S) -> Result<S::Ok, S::Error> {
    let mut map = out.serialize_map(Some(attributes.len()))?;
    for AttributeReport { name, value, bytes } in attributes {
        match *bytes {
            Some(bytes) => map.serialize_entry(name, &Value { value, bytes })?,
            None => map.serialize_entry(name, value)?,
        }
    }
    map.end()
}

/// All attributes of the objects that fit, of `class` if it is given. The secrets of keys are shown as `secrets` says.
///
/// # Errors
/// [`Error::Unnamed`], [`Error::NoKey`]; what the token fails with.
pub fn inspect(
    desk: &Desk,
    choice: &KeyChoice<'_>,
    (class, secrets): (Option<ObjectClass>, Secrets),
) -> Result<InspectReport, Error> {
    if choice.is_empty() {
        return Err(Error::Unnamed("key"));
    }
    let found = choice.search(&desk.session, class)?;
    if found.is_empty() {
        // Says what is spelt alike.
        match class {
            Some(class) => choice.find_exact(&desk.session, class)?,
            None => choice.find_any(&desk.session)?,
        };
    }
    let objects: Vec<_> = found
        .into_iter()
        .map(|handle| inspected(desk, handle, secrets))
        .collect::<Result<_, _>>()?;
    Ok(InspectReport {
        key_label: choice.name(),
        object_count: objects.len(),
        objects,
    })
}

fn inspected(desk: &Desk, handle: ObjectHandle, secrets: Secrets) -> Result<Inspected, Error> {
    let session = &desk.session;
    let class = session.attribute(handle, AttributeType::CLASS)?.number();
    let class = class.map(ObjectClass::new);
    let mut attributes = Vec::new();
    let mut absent_attributes = 0;
    for kind in AttributeType::all() {
        let reading = session.attribute(handle, kind)?;
        if reading == Reading::Absent {
            absent_attributes += 1;
            continue;
        }
        let attribute = Attribute {
            kind,
            reading: &reading,
            class,
        };
        attributes.push(AttributeReport {
            name: kind.to_string(),
            value: attribute.shown(secrets),
            bytes: reading.bytes().map(<[u8]>::len),
        });
    }
    let public = PublicKey::read(session, handle).ok();
    let check = session.attribute(handle, AttributeType::CHECK_VALUE)?;
    Ok(Inspected {
        object: ObjectReport::read(desk, handle)?,
        fingerprint: public.as_ref().map(PublicKey::fingerprint),
        ssh_fingerprint: public.as_ref().and_then(PublicKey::ssh_fingerprint),
        check_value: check.bytes().map(keywright_encoding::hex::encode),
        attributes,
        absent_attributes,
    })
}

/// `diff-keys`.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct DiffReport {
    pub operation: &'static str,
    pub key1_label: String,
    pub key2_label: String,
    /// The URI of the token of each; none for what a file says.
    pub key1_token: String,
    pub key2_token: Option<String>,
    pub class: String,
    pub identical: bool,
    pub differences_found: usize,
    pub comparison: Vec<Compared>,
    pub differences: Vec<Different>,
}

/// An attribute of two keys.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct Compared {
    pub attribute: String,
    pub key1_value: String,
    pub key2_value: String,
    pub matches: bool,
}

/// A difference.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct Different {
    pub attribute: String,
    pub key1_value: String,
    pub key2_value: String,
    pub severity: &'static str,
    pub explanation: &'static str,
}

/// What is compared, with the weight of a difference.
const COMPARED: [(AttributeType, Weight); 25] = [
    (AttributeType::CLASS, Weight::Low),
    (AttributeType::KEY_TYPE, Weight::Low),
    (AttributeType::TOKEN, Weight::Low),
    (AttributeType::PRIVATE, Weight::Low),
    (AttributeType::MODIFIABLE, Weight::Low),
    (AttributeType::LOCAL, Weight::Medium),
    (AttributeType::SIGN, Weight::Critical),
    (AttributeType::VERIFY, Weight::Critical),
    (AttributeType::ENCRYPT, Weight::Critical),
    (AttributeType::DECRYPT, Weight::Critical),
    (AttributeType::WRAP, Weight::Critical),
    (AttributeType::UNWRAP, Weight::Critical),
    (AttributeType::DERIVE, Weight::Critical),
    (AttributeType::ALLOWED_MECHANISMS, Weight::Critical),
    (AttributeType::SENSITIVE, Weight::High),
    (AttributeType::ALWAYS_SENSITIVE, Weight::High),
    (AttributeType::NEVER_EXTRACTABLE, Weight::High),
    (AttributeType::EXTRACTABLE, Weight::High),
    (AttributeType::START_DATE, Weight::Low),
    (AttributeType::END_DATE, Weight::Low),
    (AttributeType::VALUE_LEN, Weight::Low),
    (AttributeType::MODULUS, Weight::Low),
    (AttributeType::PUBLIC_EXPONENT, Weight::Low),
    (AttributeType::EC_PARAMS, Weight::Low),
    (AttributeType::EC_POINT, Weight::Low),
];

#[derive(Clone, Copy)]
enum Weight {
    Critical,
    High,
    Medium,
    Low,
}

impl Weight {
    /// That of an attribute, also of one that only a file names.
    fn of(kind: AttributeType) -> Self {
        let known = COMPARED.iter().find(|(known, _)| *known == kind);
        known.map_or(Self::Low, |(_, weight)| *weight)
    }

    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Critical => ("CRITICAL", "what the keys may be used for differs"),
            Self::High => ("HIGH", "how well the keys are guarded differs"),
            Self::Medium => ("MEDIUM", "where the keys come from differs"),
            Self::Low => ("LOW", "kinds, places, dates or values of the keys differ"),
        }
    }
}

/// A key, and the session in which it is looked at.
pub type Side<'a> = (&'a Desk, &'a KeyChoice<'a>);

/// Compares two keys of one class: of `class`, or of the first of private, secret and public that the first has.
/// They may be in different tokens.
///
/// # Errors
/// [`Error::NoKey`], [`Error::ManyKeys`]; what the token fails with.
pub fn diff(
    first: Side<'_>,
    second: Side<'_>,
    class: Option<ObjectClass>,
) -> Result<DiffReport, Error> {
    let class = class.map_or_else(|| class_of(first), Ok)?;
    let (left, right) = (found(first, class)?, found(second, class)?);
    let mut report = DiffReport::new(first, class);
    report.key2_label = second.1.name();
    report.key2_token = Some(Uri::of_token(second.0.info()).to_string());
    for (kind, _) in COMPARED {
        let one = meant(kind, first.0.session.attribute(left, kind)?);
        let other = meant(kind, second.0.session.attribute(right, kind)?);
        let shown = |reading| {
            let class = Some(class);
            Attribute {
                kind,
                reading,
                class,
            }
            .shown(Secrets::Hide)
        };
        let values = (shown(&one), shown(&other));
        let fit = match is_same(kind, &one, &other) {
            true => Fit::Match,
            false => Fit::Differ,
        };
        report.compare(kind, values, fit);
    }
    Ok(report.summed())
}

/// Compares a key with what it is expected to be, which `name` stands for: of `class`, of the class that is expected,
/// or of the first of private, secret and public that the key has. The secret of the key is shown as `secrets` says.
///
/// # Errors
/// As [`diff`].
pub fn diff_expected(
    side: Side<'_>,
    (expected, name): (&Expected, &str),
    (class, secrets): (Option<ObjectClass>, Secrets),
) -> Result<DiffReport, Error> {
    let class = class.or_else(|| expected.class());
    let class = class.map_or_else(|| class_of(side), Ok)?;
    let key = found(side, class)?;
    let mut report = DiffReport::new(side, class);
    name.clone_into(&mut report.key2_label);
    for (kind, wanted) in expected.attributes() {
        let reading = meant(kind, side.0.session.attribute(key, kind)?);
        let attribute = Attribute {
            kind,
            reading: &reading,
            class: Some(class),
        };
        let fit = match wanted.is_fitted_by(&attribute) {
            true => Fit::Match,
            false => Fit::Differ,
        };
        let values = (attribute.shown(secrets), wanted.shown(&attribute, secrets));
        report.compare(kind, values, fit);
    }
    Ok(report.summed())
}

fn found((desk, choice): Side<'_>, class: ObjectClass) -> Result<ObjectHandle, Error> {
    let found = choice.find_exact(&desk.session, class);
    found.map_err(Error::named_by_one_word)
}

/// No date and no limit to mechanisms is said in several ways: by no attribute, by an empty one, and by a date of
/// zeros.
fn meant(kind: AttributeType, reading: Reading) -> Reading {
    let dated = matches!(kind, AttributeType::START_DATE | AttributeType::END_DATE);
    let none = |value: &[u8]| match kind {
        _ if dated => value.iter().all(|digit| matches!(digit, b'0' | 0)),
        AttributeType::ALLOWED_MECHANISMS => value.is_empty(),
        _ => false,
    };
    match reading.bytes().is_some_and(none) {
        true => Reading::Absent,
        false => reading,
    }
}

/// Whether two values say the same.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    Match,
    Differ,
}

impl DiffReport {
    fn new((desk, choice): Side<'_>, class: ObjectClass) -> Self {
        Self {
            operation: "diff-keys",
            key1_label: choice.name(),
            key2_label: String::new(),
            key1_token: Uri::of_token(desk.info()).to_string(),
            key2_token: None,
            class: class.to_string(),
            identical: true,
            differences_found: 0,
            comparison: Vec::new(),
            differences: Vec::new(),
        }
    }

    fn compare(&mut self, kind: AttributeType, (one, other): (String, String), fit: Fit) {
        if fit == Fit::Differ {
            let (severity, explanation) = Weight::of(kind).words();
            self.differences.push(Different {
                attribute: kind.to_string(),
                key1_value: one.clone(),
                key2_value: other.clone(),
                severity,
                explanation,
            });
        }
        self.comparison.push(Compared {
            attribute: kind.to_string(),
            key1_value: one,
            key2_value: other,
            matches: fit == Fit::Match,
        });
    }

    fn summed(mut self) -> Self {
        self.differences_found = self.differences.len();
        self.identical = self.differences.is_empty();
        self
    }
}

fn class_of((desk, choice): Side<'_>) -> Result<ObjectClass, Error> {
    if choice.is_empty() {
        return Err(Error::Unnamed("key"));
    }
    let classes = [
        ObjectClass::PRIVATE_KEY,
        ObjectClass::SECRET_KEY,
        ObjectClass::PUBLIC_KEY,
    ];
    for class in classes {
        if !choice.search(&desk.session, Some(class))?.is_empty() {
            return Ok(class);
        }
    }
    choice.find_any(&desk.session)?;
    Ok(ObjectClass::PUBLIC_KEY)
}
