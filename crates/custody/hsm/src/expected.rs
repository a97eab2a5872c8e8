//! What a key is expected to be, from a file: names of attributes and their values.
//!
//! ```toml
//! CKA_KEY_TYPE = "CKK_AES"
//! CKA_VALUE_LEN = 32
//! CKA_EXTRACTABLE = false
//! CKA_ALLOWED_MECHANISMS = ["CKM_AES_GCM"]
//! CKA_END_DATE = "2030-12-31"
//! CKA_UNWRAP = "absent"
//! ```
//!
//! Values are written as [`inspect`](crate::inspection::inspect) shows them, by the type of the attribute: flags and
//! numbers as such, names of the header, bytes in hexadecimal; `absent` and `sensitive` stand for what cannot be read. What the file does not name
//! does not matter.
//!
//! Not here: reading the key, and the weight of a difference ([`crate::inspection`]).

use std::collections::BTreeMap;

use keywright_encoding::hex;
use keywright_pkcs11_names::{
    AttributeType, CertificateType, HardwareFeature, KeyType, MechanismType, Named, ObjectClass,
    Profile, ValueType,
};
use serde::Deserialize;
use toml::Spanned;

use crate::attribute::{Attribute, Secrets, digits, flag, number, numbers};
use crate::config::position;

/// What a key is expected to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    attributes: BTreeMap<AttributeType, ExpectedValue>,
}

/// Why a text says of no key what it is expected to be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
#[non_exhaustive]
pub struct ExpectedError {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// What is wrong there.
    pub message: String,
}

impl ExpectedError {
    fn at(text: &str, at: usize, message: String) -> Self {
        let (line, column) = position(text, at);
        Self {
            line,
            column,
            message,
        }
    }
}

/// A value as it may be written.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum ExpectedValue {
    Flag(bool),
    Number(u64),
    Text(String),
    Names(Vec<String>),
}

/// What stands for a value that cannot be read.
const UNREAD: [&str; 2] = ["absent", "sensitive"];

impl ExpectedValue {
    /// As attributes are shown; a secret only where it is asked for.
    pub(crate) fn shown(&self, of: &Attribute<'_>, secrets: Secrets) -> String {
        let is_word = matches!(self, Self::Text(text) if UNREAD.contains(&text.as_str()));
        if of.is_secret() && secrets == Secrets::Hide && !is_word {
            return "as in the file".to_owned();
        }
        match self {
            Self::Flag(flag) => flag.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
            Self::Names(names) => {
                let mut names = names.clone();
                names.sort_unstable();
                names.join(", ")
            }
        }
    }

    /// Whether what was read of an attribute is what was expected, by the type of its value.
    pub(crate) fn is_fitted_by(&self, read: &Attribute<'_>) -> bool {
        let Some(value) = read.reading.bytes() else {
            let word = read.shown(Secrets::Hide);
            return matches!(self, Self::Text(text) if *text == word);
        };
        match (read.kind.value_type(), self) {
            (Some(ValueType::Flag) | None, Self::Flag(wanted)) => flag(value) == Some(*wanted),
            (Some(ValueType::BigInteger), Self::Number(wanted)) => {
                digits(value) == digits(&wanted.to_be_bytes())
            }
            (_, Self::Number(wanted)) => number(value) == Some(*wanted),
            (Some(ValueType::Mechanisms), Self::Names(names)) => {
                let mut read = numbers(value).unwrap_or_default();
                let mut wanted: Vec<_> = names.iter().filter_map(|name| mechanism(name)).collect();
                read.sort_unstable();
                wanted.sort_unstable();
                wanted.len() == names.len() && read == wanted
            }
            (kind, Self::Text(wanted)) => is_text(kind, (read, value), wanted),
            (_, Self::Flag(_) | Self::Names(_)) => false,
        }
    }

    /// Refuses what no value of this attribute can be.
    fn check(&self, kind: AttributeType) -> Result<(), String> {
        let Some(value) = kind.value_type() else {
            return Ok(());
        };
        let is_word = matches!(self, Self::Text(text) if UNREAD.contains(&text.as_str()));
        let wanted = match (value, self) {
            _ if is_word => return Ok(()),
            (ValueType::Flag, Self::Flag(_)) => return Ok(()),
            (ValueType::Flag, Self::Text(text)) if matches!(text.as_str(), "true" | "false") => {
                return Ok(());
            }
            (ValueType::Flag, _) => "true or false",
            (ValueType::Mechanisms, Self::Names(_) | Self::Text(_)) => return Ok(()),
            (ValueType::Mechanisms, _) => "a list of names",
            (ValueType::Bytes, Self::Text(text)) if kind == AttributeType::EC_PARAMS => {
                return if text.is_empty() {
                    Err(format!("{kind} takes the name of a curve"))
                } else {
                    Ok(())
                };
            }
            (ValueType::Bytes, Self::Text(text)) if bytes(text).is_some() => return Ok(()),
            (ValueType::Bytes, _) => "hexadecimal digits in quotes, two for each byte",
            (ValueType::BigInteger, Self::Text(text)) if bytes(text).is_some() => return Ok(()),
            (ValueType::BigInteger, Self::Number(_)) => return Ok(()),
            (ValueType::BigInteger, _) => "a number, or hexadecimal digits in quotes",
            (ValueType::Text, Self::Text(_)) => return Ok(()),
            (ValueType::Text, _) => "a text in quotes",
            (ValueType::Date, Self::Text(_)) => return Ok(()),
            (ValueType::Date, _) => "a date in quotes, such as \"2030-12-31\"",
            (_, Self::Number(_) | Self::Text(_)) => return Ok(()),
            _ => "a number or a name in quotes",
        };
        Err(format!("{kind} takes {wanted}"))
    }
}

/// Digits may have colons between them and be capitals.
fn bytes(text: &str) -> Option<Vec<u8>> {
    hex::decode(&text.replace(':', "").to_ascii_lowercase()).ok()
}

fn mechanism(name: &str) -> Option<u64> {
    number_of::<MechanismType>(name)
}

/// The number of a name of the header, or of one in hexadecimal.
fn number_of<N: Named>(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("0x");
    let known = || N::names().iter().find(|(known, _)| *known == name);
    match digits {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => known().map(|(_, number)| *number),
    }
}

/// Whether a value is what this text says it is.
fn is_text(kind: Option<ValueType>, (read, value): (&Attribute<'_>, &[u8]), wanted: &str) -> bool {
    let is_number = |wanted: Option<u64>| wanted.is_some() && number(value) == wanted;
    let as_shown = || read.shown(Secrets::Reveal) == wanted;
    match kind {
        Some(ValueType::Text) => value == wanted.as_bytes() || as_shown(),
        Some(ValueType::BigInteger) => {
            bytes(wanted).is_some_and(|wanted| digits(&wanted) == digits(value))
        }
        Some(ValueType::Bytes) | None => {
            bytes(wanted).is_some_and(|wanted| wanted == value) || as_shown()
        }
        Some(ValueType::Date) => wanted.replace('-', "").as_bytes() == value || as_shown(),
        Some(ValueType::Mechanism) => is_number(mechanism(wanted)),
        Some(ValueType::CertificateType) => is_number(number_of::<CertificateType>(wanted)),
        Some(ValueType::HardwareFeature) => is_number(number_of::<HardwareFeature>(wanted)),
        Some(ValueType::KeyType) => is_number(number_of::<KeyType>(wanted)),
        Some(ValueType::ObjectClass) => is_number(number_of::<ObjectClass>(wanted)),
        Some(ValueType::Profile) => is_number(number_of::<Profile>(wanted)),
        _ => as_shown(),
    }
}

impl Expected {
    /// Reads a file of attributes.
    ///
    /// # Errors
    /// [`ExpectedError`] with the place: no TOML, a name that no attribute has, a value of another form, an attribute
    /// that stands twice, or none at all.
    pub fn read(text: &str) -> Result<Self, ExpectedError> {
        let file: BTreeMap<Spanned<String>, Spanned<ExpectedValue>> = toml::from_str(text)
            .map_err(|error| {
                let at = error.span().map_or(0, |span| span.start);
                let message = error.message().replace('\n', " ");
                let message = match message.contains("untagged") {
                    true => "write true or false, a number, a text, or a list of names".to_owned(),
                    false => message,
                };
                ExpectedError::at(text, at, message)
            })?;
        // In the order of the text, so that of two names the second is the one too many.
        let mut lines: Vec<_> = file.into_iter().collect();
        lines.sort_by_key(|(name, _)| name.span().start);
        let mut attributes = BTreeMap::new();
        for (name, wanted) in lines {
            let at = name.span().start;
            let kind = attribute(name.get_ref())
                .map_err(|message| ExpectedError::at(text, at, message))?;
            let place = wanted.span().start;
            let wanted = wanted.into_inner();
            wanted
                .check(kind)
                .map_err(|message| ExpectedError::at(text, place, message))?;
            if attributes.insert(kind, wanted).is_some() {
                let message = format!("{kind} stands twice, under two of its names");
                return Err(ExpectedError::at(text, at, message));
            }
        }
        if attributes.is_empty() {
            let message = "no attribute is named, so that every key would fit".to_owned();
            return Err(ExpectedError::at(text, 0, message));
        }
        Ok(Self { attributes })
    }

    pub(crate) fn attributes(&self) -> impl Iterator<Item = (AttributeType, &ExpectedValue)> {
        let all = self.attributes.iter();
        all.map(|(kind, wanted)| (*kind, wanted))
    }

    /// The class, where the file names one.
    pub(crate) fn class(&self) -> Option<ObjectClass> {
        let number = match self.attributes.get(&AttributeType::CLASS)? {
            ExpectedValue::Number(number) => Some(*number),
            ExpectedValue::Text(name) => number_of::<ObjectClass>(name),
            _ => None,
        };
        number.map(ObjectClass::new)
    }
}

/// The attribute of this name in the header, or of this number in hexadecimal, as vendors have their own.
fn attribute(name: &str) -> Result<AttributeType, String> {
    let digits = name.strip_prefix("0x");
    if let Some(number) = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()) {
        return Ok(AttributeType::new(number));
    }
    let known = AttributeType::names()
        .iter()
        .find(|(known, _)| *known == name);
    known
        .map(|(_, number)| AttributeType::new(*number))
        .ok_or_else(|| match AttributeType::nearest(name).as_slice() {
            [] => format!("no attribute is called {name:?}"),
            near => format!(
                "no attribute is called {name:?}; nearest: {}",
                near.join(", ")
            ),
        })
}

#[cfg(test)]
mod tests {
    use keywright_pkcs11::Reading;

    use super::*;

    #[test]
    fn values_are_written_as_they_are_shown() {
        let text = "CKA_SIGN = true\nCKA_VALUE_LEN = 32\nCKA_CLASS = \"CKO_SECRET_KEY\"\n\
            CKA_ALLOWED_MECHANISMS = [\"CKM_B\", \"CKM_A\"]\n0x80000001 = \"absent\"\n";
        let expected = Expected::read(text).unwrap();
        let shown = |(kind, wanted): (AttributeType, &ExpectedValue)| {
            let (reading, class) = (Reading::Absent, None);
            let attribute = Attribute {
                kind,
                reading: &reading,
                class,
            };
            wanted.shown(&attribute, Secrets::Hide)
        };
        let all: Vec<_> = expected.attributes().map(shown).collect();
        for value in ["true", "32", "CKO_SECRET_KEY", "CKM_A, CKM_B", "absent"] {
            assert!(all.iter().any(|one| one == value), "{value}: {all:?}");
        }
        assert_eq!(all.len(), 5);
        assert_eq!(expected.class(), Some(ObjectClass::SECRET_KEY));
        assert_eq!(Expected::read("CKA_SIGN = false\n").unwrap().class(), None);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (text, line, message) in [
            ("", 1, "every key would fit"),
            ("# nothing\n", 1, "every key would fit"),
            ("CKA_SIGN = \n", 1, ""),
            ("CKA_SIGN = true\nCKA_SING = true\n", 2, "nearest: CKA_SIGN"),
            ("sign = true\n", 1, "no attribute is called \"sign\""),
            ("CKA_SIGN = true\nCKA_SIGN = false\n", 2, "duplicate"),
            ("CKA_VALUE_LEN = -1\n", 1, ""),
            ("CKA_VALUE_LEN = 1.5\n", 1, "write true or false"),
            ("CKA_ID = [1, 2]\n", 1, "write true or false"),
            ("[CKA_ID]\na = 1\n", 1, "write true or false"),
            ("CKA_SIGN = true\n0x108 = true\n", 2, "stands twice"),
            ("0xzz = true\n", 1, "no attribute is called \"0xzz\""),
            (
                "CKA_SIGN = true\nCKA_ID = 1\n",
                2,
                "hexadecimal digits in quotes",
            ),
            ("CKA_ID = true\n", 1, "hexadecimal digits in quotes"),
            ("CKA_ID = \"1\"\n", 1, "hexadecimal digits in quotes"),
            ("CKA_SIGN = 1\n", 1, "true or false"),
            ("CKA_PUBLIC_EXPONENT = true\n", 1, "a number"),
            ("CKA_LABEL = 7\n", 1, "a text in quotes"),
            ("CKA_VALUE_LEN = true\n", 1, "a number or a name"),
        ] {
            let error = Expected::read(text).unwrap_err();
            assert_eq!(error.line, line, "{text}: {error}");
            assert!(error.message.contains(message), "{text}: {error}");
        }
    }

    fn fits(kind: AttributeType, value: &[u8], wanted: ExpectedValue) -> bool {
        let (reading, class) = (Reading::Value(value.to_vec()), None);
        let read = Attribute {
            kind,
            reading: &reading,
            class,
        };
        wanted.is_fitted_by(&read)
    }

    fn text(text: &str) -> ExpectedValue {
        ExpectedValue::Text(text.to_owned())
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table of types and values")]
    fn values_are_compared_by_type() {
        let number = |number: u64| number.to_ne_bytes();
        for (kind, value, wanted, is_fit) in [
            (AttributeType::ID, &[0x0a, 0x1b][..], text("0A:1B"), true),
            (AttributeType::ID, &[0x0a, 0x1b], text("0a1b"), true),
            (AttributeType::ID, &[1], text("01"), true),
            (AttributeType::ID, &[1], text("02"), false),
            (AttributeType::ID, &[1], ExpectedValue::Flag(true), false),
            (AttributeType::LABEL, b"a", text("a"), true),
            (AttributeType::LABEL, b"a", text("A"), false),
            (AttributeType::SIGN, &[1], ExpectedValue::Flag(false), false),
            (AttributeType::SIGN, &[1], text("true"), true),
            (
                AttributeType::PUBLIC_EXPONENT,
                &[3],
                ExpectedValue::Number(3),
                true,
            ),
            (
                AttributeType::PUBLIC_EXPONENT,
                &[3],
                ExpectedValue::Number(17),
                false,
            ),
            (
                AttributeType::PUBLIC_EXPONENT,
                &[17],
                ExpectedValue::Flag(true),
                false,
            ),
            (
                AttributeType::PUBLIC_EXPONENT,
                &[0, 1, 0, 1],
                ExpectedValue::Number(65_537),
                true,
            ),
            (
                AttributeType::PUBLIC_EXPONENT,
                &[1, 0, 1],
                text("010001"),
                true,
            ),
            (
                AttributeType::CLASS,
                &number(4),
                text("CKO_SECRET_KEY"),
                true,
            ),
            (AttributeType::KEY_TYPE, &number(3), text("CKK_ECDSA"), true),
            (AttributeType::KEY_TYPE, &number(3), text("0x3"), true),
            (
                AttributeType::CERTIFICATE_TYPE,
                &number(0),
                text("CKC_X_509"),
                true,
            ),
            (
                AttributeType::CERTIFICATE_TYPE,
                &number(0),
                text("CKC_WTLS"),
                false,
            ),
            (
                AttributeType::VALUE_LEN,
                &number(32),
                ExpectedValue::Number(32),
                true,
            ),
            (AttributeType::VALUE_LEN, &number(32), text("32"), true),
            (
                AttributeType::END_DATE,
                b"20301231",
                text("2030-12-31"),
                true,
            ),
            (
                AttributeType::new(0x8000_0001),
                &[1],
                ExpectedValue::Flag(true),
                true,
            ),
            (AttributeType::new(0x8000_0001), &[1, 2], text("0102"), true),
        ] {
            assert_eq!(
                fits(kind, value, wanted.clone()),
                is_fit,
                "{kind} {wanted:?}"
            );
        }
    }
}
