//! What can be read of an object, under the names that conditions use.

use std::collections::BTreeMap;

use keywright_encoding::hex;
use keywright_pkcs11::{Curve, ObjectHandle, Reading, TokenInfo};
use keywright_pkcs11_names::{AttributeType, KeyType, MechanismType, ObjectClass};

use super::field::{FIELDS, Field};
use super::rules::Day;
use crate::desk::Desk;
use crate::error::Error;
use crate::objects::curve_name;
use crate::uri::Uri;
use keywright_encoding::der;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Flag(bool),
    List(Vec<String>),
    Number(i64),
    Text(String),
}

/// What is known of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fact {
    Absent,
    Known(Value),
    /// With the reason.
    Unreadable(String),
}

/// An object.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    facts: BTreeMap<&'static str, Fact>,
    pub(super) handle: u64,
    pub(super) uri: String,
    pub(super) modulus: Option<Vec<u8>>,
    /// Modulus or point: what both halves of a pair have.
    pub(super) public: Option<Vec<u8>>,
    pub(super) fingerprint: Option<String>,
}

static ABSENT: Fact = Fact::Absent;

/// Read beside the flags of [`FIELDS`].
const MORE: [AttributeType; 14] = [
    AttributeType::CLASS,
    AttributeType::KEY_TYPE,
    AttributeType::LABEL,
    AttributeType::ID,
    AttributeType::MODULUS,
    AttributeType::MODULUS_BITS,
    AttributeType::PUBLIC_EXPONENT,
    AttributeType::VALUE_LEN,
    AttributeType::EC_PARAMS,
    AttributeType::EC_POINT,
    AttributeType::ALLOWED_MECHANISMS,
    AttributeType::START_DATE,
    AttributeType::END_DATE,
    AttributeType::CERTIFICATE_TYPE,
];

impl Facts {
    pub(super) const fn empty() -> Self {
        Self {
            facts: BTreeMap::new(),
            handle: 0,
            uri: String::new(),
            modulus: None,
            public: None,
            fingerprint: None,
        }
    }

    pub(super) fn put(&mut self, name: &'static str, fact: Fact) {
        self.facts.insert(name, fact);
    }

    pub(super) fn fact(&self, field: &Field) -> &Fact {
        self.facts.get(field.name).unwrap_or(&ABSENT)
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match self.facts.get(name)? {
            Fact::Known(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        match self.facts.get(name)? {
            Fact::Known(Value::Flag(flag)) => Some(*flag),
            _ => None,
        }
    }

    /// Why a field is not known.
    pub(super) fn reason(&self, name: &str) -> Option<&str> {
        match self.facts.get(name) {
            Some(Fact::Unreadable(reason)) => Some(reason),
            _ => Some("absent, though every such key must have it"),
        }
    }

    pub(super) fn class(&self) -> &str {
        self.text("class").unwrap_or_default()
    }

    /// Whether it is a private or secret key.
    pub(super) fn is_secret(&self) -> bool {
        matches!(self.class(), "private" | "secret")
    }

    /// What the token says of itself, as an object of the class `token`.
    pub(super) fn of_token(info: &TokenInfo) -> Self {
        let mut facts = Self::empty();
        facts.uri = Uri::of_token(info).to_string();
        facts.put("class", Fact::Known(Value::Text("token".to_owned())));
        facts.put("label", Fact::Known(Value::Text(info.label.clone())));
        for (name, flag) in TOKEN_FLAGS {
            let bit = keywright_pkcs11::TokenFlags::NAMES
                .iter()
                .find(|(_, known)| known == flag);
            if let Some((bit, _)) = bit {
                facts.put(name, Fact::Known(Value::Flag(info.flags.has(*bit))));
            }
        }
        facts
    }

    /// Reads an object.
    pub(super) fn read(desk: &Desk, object: ObjectHandle, today: Day) -> Result<Self, Error> {
        let session = desk.session();
        let flags = FIELDS
            .iter()
            .filter_map(|field| Some((field.name, field.attribute?)));
        let flags: Vec<_> = flags.collect();
        let kinds: Vec<_> = flags.iter().map(|(_, kind)| *kind).chain(MORE).collect();
        let readings = session.attributes(object, &kinds)?;
        let read: BTreeMap<AttributeType, Reading> = kinds.into_iter().zip(readings).collect();
        let mut facts = Self::empty();
        facts.handle = object.number();
        for (name, kind) in flags {
            let flag = |reading: &Reading| reading.flag().map(Value::Flag);
            facts.put(name, fact(&read, kind, flag));
        }
        facts.name(&read, desk);
        facts.size(&read);
        facts.dates(&read, today);
        if facts.class() == "certificate" {
            let value = session.attribute(object, AttributeType::VALUE)?;
            let end = value.bytes().and_then(not_after);
            let end = end.map(|day| Fact::Known(Value::Number(day.days() - today.days())));
            facts.put(
                "days_to_end",
                end.unwrap_or(Fact::Unreadable("no X.509 validity".to_owned())),
            );
        }
        facts.public_value(&read);
        Ok(facts)
    }

    fn name(&mut self, read: &BTreeMap<AttributeType, Reading>, desk: &Desk) {
        let class = |reading: &Reading| {
            reading
                .number()
                .map(|number| Value::Text(class_name(number)))
        };
        self.put("class", fact(read, AttributeType::CLASS, class));
        let kind = |reading: &Reading| {
            let name = KeyType::new(reading.number()?).to_string();
            Some(Value::Text(
                name.trim_start_matches("CKK_").to_ascii_lowercase(),
            ))
        };
        self.put("key_type", fact(read, AttributeType::KEY_TYPE, kind));
        self.put(
            "label",
            fact(read, AttributeType::LABEL, |reading| {
                reading.text().map(Value::Text)
            }),
        );
        let id = |reading: &Reading| reading.bytes().map(|id| Value::Text(hex::encode(id)));
        self.put("id", fact(read, AttributeType::ID, id));
        let odd = |reading: &Reading| {
            let text = std::str::from_utf8(reading.bytes()?);
            let fine = text.is_ok_and(|text| {
                text.chars().count() <= 64 && !text.chars().any(char::is_control)
            });
            Some(Value::Flag(!fine))
        };
        self.put("label_is_odd", fact(read, AttributeType::LABEL, odd));
        let bytes = |kind| read.get(&kind).and_then(Reading::bytes);
        let class = read
            .get(&AttributeType::CLASS)
            .and_then(Reading::number)
            .map(ObjectClass::new);
        self.uri = Uri::of_object(
            desk.info(),
            class,
            bytes(AttributeType::LABEL),
            bytes(AttributeType::ID),
        )
        .to_string();
    }

    fn size(&mut self, read: &BTreeMap<AttributeType, Reading>) {
        let parameters = |reading: &Reading| reading.bytes().map(curve_of);
        match read.get(&AttributeType::EC_PARAMS) {
            Some(Reading::Value(bytes)) if !bytes.is_empty() => {
                let (name, bits) = curve_of(bytes);
                self.put("curve", Fact::Known(Value::Text(name.to_owned())));
                if let Some(bits) = bits {
                    self.put("bits", Fact::Known(Value::Number(bits)));
                }
            }
            _ => self.put(
                "curve",
                fact(read, AttributeType::EC_PARAMS, |r| {
                    parameters(r).map(|(name, _)| Value::Text(name.to_owned()))
                }),
            ),
        }
        let length = |reading: &Reading| bit_length(reading.bytes()?).map(Value::Number);
        let modulus = fact(read, AttributeType::MODULUS, length);
        if modulus != Fact::Absent {
            self.put("bits", modulus);
            let exponent = |reading: &Reading| whole(reading.bytes()?).map(Value::Number);
            self.put(
                "public_exponent",
                fact(read, AttributeType::PUBLIC_EXPONENT, exponent),
            );
            let even = |reading: &Reading| {
                let last = reading.bytes()?.last();
                Some(Value::Flag(last.is_some_and(|byte| byte % 2 == 0)))
            };
            self.put(
                "exponent_is_even",
                fact(read, AttributeType::PUBLIC_EXPONENT, even),
            );
        }
        let bytes = |reading: &Reading| {
            i64::try_from(reading.number()?)
                .ok()?
                .checked_mul(8)
                .map(Value::Number)
        };
        let value = fact(read, AttributeType::VALUE_LEN, bytes);
        if value != Fact::Absent {
            self.put("bits", value);
        }
        let list = |reading: &Reading| {
            let numbers = reading.bytes()?.chunks_exact(8);
            let names = numbers.map(|number| {
                let number = number.try_into().map_or(u64::MAX, u64::from_ne_bytes);
                MechanismType::new(number).to_string()
            });
            Some(Value::List(names.collect()))
        };
        let allowed = fact(read, AttributeType::ALLOWED_MECHANISMS, list);
        // An empty list is a token's way to say that all are.
        let none = allowed == Fact::Known(Value::List(Vec::new()));
        self.put(
            "allowed_mechanisms",
            if none { Fact::Absent } else { allowed },
        );
    }

    fn dates(&mut self, read: &BTreeMap<AttributeType, Reading>, today: Day) {
        let mut date = |name, kind, sign: i64| {
            let days = |reading: &Reading| {
                let day = Day::compact(reading.bytes()?)?;
                Some(Value::Number(sign * (day.days() - today.days())))
            };
            // An empty date is none.
            let empty = read
                .get(&kind)
                .and_then(Reading::bytes)
                .is_some_and(<[u8]>::is_empty);
            let found = if empty {
                Fact::Absent
            } else {
                fact(read, kind, days)
            };
            self.put(name, found);
        };
        date("days_since_start", AttributeType::START_DATE, -1);
        date("days_to_end", AttributeType::END_DATE, 1);
    }

    fn public_value(&mut self, read: &BTreeMap<AttributeType, Reading>) {
        let bytes = |kind| {
            read.get(&kind)
                .and_then(Reading::bytes)
                .filter(|value| !value.is_empty())
        };
        self.modulus = bytes(AttributeType::MODULUS).map(|modulus| {
            let zeros = modulus.iter().take_while(|byte| **byte == 0).count();
            modulus.get(zeros..).unwrap_or_default().to_vec()
        });
        let point = bytes(AttributeType::EC_POINT);
        // Tokens write points with and without an OCTET STRING around them.
        let point = point.map(|point| der::exactly(4, point).unwrap_or(point).to_vec());
        self.public = self.modulus.clone().or(point);
        let print = self
            .public
            .as_ref()
            .map(|public| keywright_primitives::hash::sha256(public));
        self.fingerprint = print.map(|print| hex::encode(&print));
    }
}

/// A reading as a fact; a value that is not of its form is not believed.
fn fact(
    read: &BTreeMap<AttributeType, Reading>,
    kind: AttributeType,
    value: impl Fn(&Reading) -> Option<Value>,
) -> Fact {
    match read.get(&kind) {
        None | Some(Reading::Absent) => Fact::Absent,
        Some(reading @ Reading::Value(_)) => value(reading).map_or_else(
            || Fact::Unreadable(format!("{kind} is malformed")),
            Fact::Known,
        ),
        Some(Reading::Sensitive) => Fact::Unreadable("CKR_ATTRIBUTE_SENSITIVE".to_owned()),
        Some(Reading::Failed(code)) => Fact::Unreadable(code.to_string()),
        Some(_) => Fact::Unreadable("not readable".to_owned()),
    }
}

fn class_name(number: u64) -> String {
    match ObjectClass::new(number) {
        ObjectClass::PRIVATE_KEY => "private".to_owned(),
        ObjectClass::PUBLIC_KEY => "public".to_owned(),
        ObjectClass::SECRET_KEY => "secret".to_owned(),
        ObjectClass::CERTIFICATE => "certificate".to_owned(),
        ObjectClass::DATA => "data".to_owned(),
        other => other.to_string(),
    }
}

fn bit_length(bytes: &[u8]) -> Option<i64> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let digits = bytes.get(zeros..)?;
    let top = i64::from(digits.first()?.leading_zeros());
    Some(i64::try_from(digits.len()).ok()? * 8 - top)
}

/// A big-endian number; one that is too large counts as the largest.
fn whole(bytes: &[u8]) -> Option<i64> {
    let mut value: i64 = 0;
    for byte in bytes {
        value = match value
            .checked_mul(256)
            .and_then(|value| value.checked_add(i64::from(*byte)))
        {
            Some(value) => value,
            None => return Some(i64::MAX - i64::from(bytes.last()? & 1 == 0)),
        };
    }
    Some(value)
}

/// Name and bits of a curve.
fn curve_of(parameters: &[u8]) -> (&'static str, Option<i64>) {
    if let Some(curve) = Curve::from_parameters(parameters) {
        return (curve_name(curve), Some(i64::from(curve.bits())));
    }
    let known = OTHER_CURVES
        .iter()
        .find(|(object, _, _)| *object == parameters);
    known.map_or(("unknown", None), |(_, name, bits)| (name, Some(*bits)))
}

/// Curves that no command uses, by their encoded object identifiers (SEC 2; RFC 5639).
const OTHER_CURVES: &[(&[u8], &str, i64)] = &[
    (&[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 1], "p192", 192),
    (&[6, 5, 0x2b, 0x81, 4, 0, 1], "sect163k1", 163),
    (&[6, 5, 0x2b, 0x81, 4, 0, 6], "secp112r1", 112),
    (&[6, 5, 0x2b, 0x81, 4, 0, 8], "secp160r1", 160),
    (&[6, 5, 0x2b, 0x81, 4, 0, 9], "secp160k1", 160),
    (&[6, 5, 0x2b, 0x81, 4, 0, 15], "sect163r2", 163),
    (&[6, 5, 0x2b, 0x81, 4, 0, 28], "secp128r1", 128),
    (&[6, 5, 0x2b, 0x81, 4, 0, 30], "secp160r2", 160),
    (&[6, 5, 0x2b, 0x81, 4, 0, 31], "secp192k1", 192),
    (&[6, 5, 0x2b, 0x81, 4, 0, 32], "secp224k1", 224),
    (&[6, 5, 0x2b, 0x81, 4, 0, 33], "p224", 224),
    (
        &[6, 9, 0x2b, 0x24, 3, 3, 2, 8, 1, 1, 1],
        "brainpoolP160r1",
        160,
    ),
    (
        &[6, 9, 0x2b, 0x24, 3, 3, 2, 8, 1, 1, 3],
        "brainpoolP192r1",
        192,
    ),
    (
        &[6, 9, 0x2b, 0x24, 3, 3, 2, 8, 1, 1, 5],
        "brainpoolP224r1",
        224,
    ),
    (
        &[6, 9, 0x2b, 0x24, 3, 3, 2, 8, 1, 1, 7],
        "brainpoolP256r1",
        256,
    ),
    (
        &[6, 9, 0x2b, 0x24, 3, 3, 2, 8, 1, 1, 11],
        "brainpoolP384r1",
        384,
    ),
    (
        &[6, 9, 0x2b, 0x24, 3, 3, 2, 8, 1, 1, 13],
        "brainpoolP512r1",
        512,
    ),
];

const TOKEN_FLAGS: &[(&str, &str)] = &[
    ("login_required", "CKF_LOGIN_REQUIRED"),
    ("pin_initialized", "CKF_USER_PIN_INITIALIZED"),
    ("pin_count_low", "CKF_USER_PIN_COUNT_LOW"),
    ("pin_final_try", "CKF_USER_PIN_FINAL_TRY"),
    ("pin_locked", "CKF_USER_PIN_LOCKED"),
    ("pin_to_be_changed", "CKF_USER_PIN_TO_BE_CHANGED"),
    ("so_pin_count_low", "CKF_SO_PIN_COUNT_LOW"),
    ("so_pin_final_try", "CKF_SO_PIN_FINAL_TRY"),
    ("so_pin_locked", "CKF_SO_PIN_LOCKED"),
    ("so_pin_to_be_changed", "CKF_SO_PIN_TO_BE_CHANGED"),
];

/// The last day of an X.509 certificate (RFC 5280 4.1).
fn not_after(certificate: &[u8]) -> Option<Day> {
    let (outer, _) = der::first(0x30, certificate)?;
    let (tbs, _) = der::first(0x30, outer)?;
    // version [0], absent in the first; serial number, signature, issuer, validity.
    let rest = der::first(0xa0, tbs).map_or(tbs, |(_, rest)| rest);
    let (_, rest) = der::first(2, rest)?;
    let (_, rest) = der::first(0x30, rest)?;
    let (_, rest) = der::first(0x30, rest)?;
    let (validity, _) = der::first(0x30, rest)?;
    let after_first = der::first(0x17, validity)
        .or_else(|| der::first(0x18, validity))?
        .1;
    match der::first(0x17, after_first) {
        Some((time, _)) => {
            let year = time.get(..2).and_then(digits)?;
            let century: &[u8] = if year < 50 { b"20" } else { b"19" };
            Day::compact(&[century, time.get(..6)?].concat())
        }
        None => Day::compact(der::first(0x18, after_first)?.0.get(..8)?),
    }
}

fn digits(bytes: &[u8]) -> Option<u32> {
    std::str::from_utf8(bytes).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_keys_are_read_from_their_bytes() {
        assert_eq!(bit_length(&[0, 0, 0x80, 0]), Some(16));
        assert_eq!(bit_length(&[1]), Some(1));
        assert_eq!(bit_length(&[0, 0]), None);
        assert_eq!(whole(&[1, 0, 1]), Some(65537));
        assert_eq!(whole(&[0xff; 9]), Some(i64::MAX));
        assert_eq!(whole(&[0xfe; 9]), Some(i64::MAX - 1));
        assert_eq!(curve_of(&[6, 5, 0x2b, 0x81, 4, 0, 33]), ("p224", Some(224)));
        assert_eq!(curve_of(&[0x30, 0]), ("unknown", None));
    }

    #[test]
    fn what_is_no_certificate_has_no_end() {
        for bytes in [
            &b""[..],
            &[0x30, 0],
            &[0x30, 4, 0x30, 2, 2, 0],
            &[0x30, 0x80],
        ] {
            assert_eq!(not_after(bytes), None);
        }
    }
}
