//! `inspect-key`, `diff-keys`: every attribute of a key, and where two keys differ.

use keywright_pkcs11::{ObjectHandle, Reading, Template};
use keywright_pkcs11_names::{AttributeType, Named as _, ObjectClass};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::desk::Desk;
use crate::error::Error;
use crate::objects::{ObjectReport, told};
use crate::public_key::PublicKey;
use crate::selection::KeyChoice;

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
    /// The value; or `sensitive`; or `error` with its code.
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

/// All attributes of the objects that fit, of `class` if it is given.
///
/// # Errors
/// [`Error::Unnamed`], [`Error::NoKey`]; what the token fails with.
pub fn inspect(
    desk: &Desk,
    choice: &KeyChoice<'_>,
    class: Option<ObjectClass>,
) -> Result<InspectReport, Error> {
    if choice.is_empty() {
        return Err(Error::Unnamed("key"));
    }
    let template = match class {
        Some(class) => choice.template().and(Template::new().class(class)),
        None => choice.template(),
    };
    let found: Vec<_> = desk.session.search(&template)?.collect::<Result<_, _>>()?;
    if found.is_empty() {
        // Says what is spelt alike.
        match class {
            Some(class) => choice.find(&desk.session, class)?,
            None => choice.find_any(&desk.session)?,
        };
    }
    let objects: Vec<_> = found
        .into_iter()
        .map(|handle| inspected(desk, handle))
        .collect::<Result<_, _>>()?;
    Ok(InspectReport {
        key_label: choice.name(),
        object_count: objects.len(),
        objects,
    })
}

fn inspected(desk: &Desk, handle: ObjectHandle) -> Result<Inspected, Error> {
    let session = &desk.session;
    let mut attributes = Vec::new();
    let mut absent_attributes = 0;
    for kind in AttributeType::all() {
        let reading = session.attribute(handle, kind)?;
        if reading == Reading::Absent {
            absent_attributes += 1;
            continue;
        }
        attributes.push(AttributeReport {
            name: kind.to_string(),
            value: told(kind, &reading),
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
const COMPARED: [(AttributeType, Weight); 22] = [
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
    (AttributeType::SENSITIVE, Weight::High),
    (AttributeType::ALWAYS_SENSITIVE, Weight::High),
    (AttributeType::NEVER_EXTRACTABLE, Weight::High),
    (AttributeType::EXTRACTABLE, Weight::High),
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
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Critical => ("CRITICAL", "what the keys may be used for differs"),
            Self::High => ("HIGH", "how well the keys are guarded differs"),
            Self::Medium => ("MEDIUM", "where the keys come from differs"),
            Self::Low => ("LOW", "the keys are of different kinds, places or values"),
        }
    }
}

/// Compares two keys of one class: of `class`, or of the first of private, secret and public that the first has.
///
/// # Errors
/// [`Error::NoKey`], [`Error::ManyKeys`]; what the token fails with.
pub fn diff(
    desk: &Desk,
    first: &KeyChoice<'_>,
    second: &KeyChoice<'_>,
    class: Option<ObjectClass>,
) -> Result<DiffReport, Error> {
    let class = match class {
        Some(class) => class,
        None => class_of(desk, first)?,
    };
    let found = |choice: &KeyChoice<'_>| {
        let found = choice.find(&desk.session, class);
        found.map_err(Error::named_by_one_word)
    };
    let (left, right) = (found(first)?, found(second)?);
    let mut report = DiffReport {
        operation: "diff-keys",
        key1_label: first.name(),
        key2_label: second.name(),
        class: class.to_string(),
        identical: true,
        differences_found: 0,
        comparison: Vec::new(),
        differences: Vec::new(),
    };
    for (kind, weight) in COMPARED {
        let (one, other) = (
            desk.session.attribute(left, kind)?,
            desk.session.attribute(right, kind)?,
        );
        let compared = Compared {
            attribute: kind.to_string(),
            key1_value: told(kind, &one),
            key2_value: told(kind, &other),
            matches: one == other,
        };
        if !compared.matches {
            let (severity, explanation) = weight.words();
            report.differences.push(Different {
                attribute: compared.attribute.clone(),
                key1_value: compared.key1_value.clone(),
                key2_value: compared.key2_value.clone(),
                severity,
                explanation,
            });
        }
        report.comparison.push(compared);
    }
    report.differences_found = report.differences.len();
    report.identical = report.differences.is_empty();
    Ok(report)
}

fn class_of(desk: &Desk, choice: &KeyChoice<'_>) -> Result<ObjectClass, Error> {
    if choice.is_empty() {
        return Err(Error::Unnamed("key"));
    }
    let classes = [
        ObjectClass::PRIVATE_KEY,
        ObjectClass::SECRET_KEY,
        ObjectClass::PUBLIC_KEY,
    ];
    for class in classes {
        let template = choice.template().and(Template::new().class(class));
        if desk
            .session
            .search(&template)?
            .next()
            .transpose()?
            .is_some()
        {
            return Ok(class);
        }
    }
    choice.find_any(&desk.session)?;
    Ok(ObjectClass::PUBLIC_KEY)
}
