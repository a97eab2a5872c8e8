//! `inspect-key`, `diff-keys`: every attribute of a key, and where two keys differ.

use keywright_pkcs11::{ObjectHandle, Reading};
use keywright_pkcs11_names::{AttributeType, Named as _, ObjectClass};
use keywright_secret::{SecretBytes, ct_eq};
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
    let class = secrecy_class(desk, handle, class.map(ObjectClass::new))?;
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

/// The class by which attributes are secret or not. Unknown for a data object that only a user who is logged in sees:
/// its value is a secret, too.
fn secrecy_class(
    desk: &Desk,
    handle: ObjectHandle,
    class: Option<ObjectClass>,
) -> Result<Option<ObjectClass>, Error> {
    if class != Some(ObjectClass::DATA) {
        return Ok(class);
    }
    let private = desk.session.attribute(handle, AttributeType::PRIVATE)?;
    Ok(class.filter(|_| private.flag() == Some(false)))
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
    /// Whether the keys are one key; none where there is no second key.
    pub key_material: Option<KeyMaterial>,
    /// Nothing differs, and the keys could be compared.
    pub identical: bool,
    pub differences_found: usize,
    pub comparison: Vec<Compared>,
    pub differences: Vec<Different>,
}

/// Whether two keys are the same key: by their values where both can be read, else by their check values, or by their
/// public keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "there is no fourth answer")]
pub enum KeyMaterial {
    /// They are.
    Same,
    /// They are not.
    Different,
    /// The token gives nothing to compare.
    Unknown,
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
    report.compare_material((first.0, left), (second.0, right), class)?;
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
    let secrecy = secrecy_class(side.0, key, Some(class))?;
    let mut report = DiffReport::new(side, class);
    name.clone_into(&mut report.key2_label);
    for (kind, wanted) in expected.attributes() {
        let reading = meant(kind, side.0.session.attribute(key, kind)?);
        let attribute = Attribute {
            kind,
            reading: &reading,
            class: secrecy,
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

/// Something that differs from key to key.
#[derive(Clone, Copy)]
enum Material {
    CheckValue,
    PublicKey,
    Value,
}

/// Such a value, and how a report shows it.
struct MaterialValue {
    value: SecretBytes,
    shown: String,
}

impl Material {
    /// What tells objects of this class apart, the surest first.
    const fn of(class: ObjectClass) -> &'static [Self] {
        match class {
            ObjectClass::PRIVATE_KEY | ObjectClass::PUBLIC_KEY => &[Self::PublicKey],
            ObjectClass::SECRET_KEY => &[Self::Value, Self::CheckValue],
            _ => &[Self::Value],
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::CheckValue => "CKA_CHECK_VALUE",
            Self::PublicKey => "public key (SHA-256)",
            Self::Value => "CKA_VALUE",
        }
    }

    /// None where the token does not give it.
    fn read(self, desk: &Desk, key: ObjectHandle) -> Result<Option<MaterialValue>, Error> {
        let session = &desk.session;
        let read = |kind| -> Result<_, Error> {
            let reading = session.attribute(key, kind)?;
            let value = reading.bytes().filter(|value| !value.is_empty());
            Ok(value.map(|value| SecretBytes::from_vec(value.to_vec())))
        };
        Ok(match self {
            Self::CheckValue => read(AttributeType::CHECK_VALUE)?.map(|value| MaterialValue {
                shown: keywright_encoding::hex::encode(value.expose()),
                value,
            }),
            Self::PublicKey => PublicKey::of_private(session, key).ok().map(|public| {
                let shown = public.fingerprint();
                MaterialValue {
                    value: SecretBytes::from_vec(shown.clone().into_bytes()),
                    shown,
                }
            }),
            Self::Value => read(AttributeType::VALUE)?.map(|value| MaterialValue {
                shown: format!("readable ({} bytes)", value.expose().len()),
                value,
            }),
        })
    }
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
            key_material: None,
            identical: true,
            differences_found: 0,
            comparison: Vec::new(),
            differences: Vec::new(),
        }
    }

    fn compare(&mut self, kind: AttributeType, values: (String, String), fit: Fit) {
        self.add((kind.to_string(), Weight::of(kind)), values, fit);
    }

    fn add(&mut self, (name, weight): (String, Weight), values: (String, String), fit: Fit) {
        let (one, other) = values;
        if fit == Fit::Differ {
            let (severity, explanation) = weight.words();
            self.differences.push(Different {
                attribute: name.clone(),
                key1_value: one.clone(),
                key2_value: other.clone(),
                severity,
                explanation,
            });
        }
        self.comparison.push(Compared {
            attribute: name,
            key1_value: one,
            key2_value: other,
            matches: fit == Fit::Match,
        });
    }

    /// Compares what makes two keys different keys, whatever their attributes are.
    fn compare_material(
        &mut self,
        (first, left): (&Desk, ObjectHandle),
        (second, right): (&Desk, ObjectHandle),
        class: ObjectClass,
    ) -> Result<(), Error> {
        // The same object of one session is one key, whatever the token gives.
        let mut material = match std::ptr::eq(first, second) && left == right {
            true => KeyMaterial::Same,
            false => KeyMaterial::Unknown,
        };
        for source in Material::of(class) {
            let one = source.read(first, left)?;
            let other = source.read(second, right)?;
            let (Some(one), Some(other)) = (one, other) else {
                continue;
            };
            let fit = match ct_eq(one.value.expose(), other.value.expose()) {
                true => Fit::Match,
                false => Fit::Differ,
            };
            material = match fit {
                Fit::Match => KeyMaterial::Same,
                Fit::Differ => KeyMaterial::Different,
            };
            let name = (source.name().to_owned(), Weight::Low);
            self.add(name, (one.shown, other.shown), fit);
            break;
        }
        self.key_material = Some(material);
        Ok(())
    }

    fn summed(mut self) -> Self {
        self.differences_found = self.differences.len();
        let is_compared = self.key_material != Some(KeyMaterial::Unknown);
        self.identical = self.differences.is_empty() && is_compared;
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
