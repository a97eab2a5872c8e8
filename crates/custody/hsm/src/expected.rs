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
//! Values are written as [`inspect`](crate::inspection::inspect) shows them: flags and numbers as such, names of the
//! header, bytes in hexadecimal; `absent` and `sensitive` stand for what cannot be read. What the file does not name
//! does not matter.
//!
//! Not here: reading the key, and the weight of a difference ([`crate::inspection`]).

use std::collections::BTreeMap;

use keywright_pkcs11_names::{AttributeType, Named as _, ObjectClass};
use serde::Deserialize;
use toml::Spanned;

use crate::config::position;

/// What a key is expected to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    attributes: BTreeMap<AttributeType, String>,
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
#[derive(Deserialize)]
#[serde(untagged)]
enum Wanted {
    Flag(bool),
    Number(u64),
    Text(String),
    Names(Vec<String>),
}

impl Wanted {
    /// As attributes are shown.
    fn shown(self) -> String {
        match self {
            Self::Flag(flag) => flag.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text,
            Self::Names(mut names) => {
                names.sort_unstable();
                names.join(", ")
            }
        }
    }
}

impl Expected {
    /// Reads a file of attributes.
    ///
    /// # Errors
    /// [`ExpectedError`] with the place: no TOML, a name that no attribute has, a value of another form, an attribute
    /// that stands twice, or none at all.
    pub fn read(text: &str) -> Result<Self, ExpectedError> {
        let file: BTreeMap<Spanned<String>, Spanned<Wanted>> =
            toml::from_str(text).map_err(|error| {
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
            if attributes
                .insert(kind, wanted.into_inner().shown())
                .is_some()
            {
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

    pub(crate) fn attributes(&self) -> impl Iterator<Item = (AttributeType, &str)> {
        let all = self.attributes.iter();
        all.map(|(kind, text)| (*kind, text.as_str()))
    }

    /// The class, where the file names one.
    pub(crate) fn class(&self) -> Option<ObjectClass> {
        let name = self.attributes.get(&AttributeType::CLASS)?;
        ObjectClass::all().find(|class| class.name() == Some(name.as_str()))
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

/// Whether what was read of an attribute is what was expected. Bytes may be written with colons and in capitals.
pub(crate) fn is_as(kind: AttributeType, read: &str, wanted: &str) -> bool {
    let text = matches!(kind, AttributeType::LABEL | AttributeType::APPLICATION);
    read == wanted || (!text && read == wanted.replace(':', "").to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_they_are_shown() {
        let text = "CKA_SIGN = true\nCKA_VALUE_LEN = 32\nCKA_CLASS = \"CKO_SECRET_KEY\"\n\
            CKA_ALLOWED_MECHANISMS = [\"CKM_B\", \"CKM_A\"]\n0x80000001 = \"absent\"\n";
        let expected = Expected::read(text).unwrap();
        let all: Vec<_> = expected
            .attributes()
            .map(|(_, value)| value.to_owned())
            .collect();
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
        ] {
            let error = Expected::read(text).unwrap_err();
            assert_eq!(error.line, line, "{text}: {error}");
            assert!(error.message.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn bytes_may_have_colons_and_capitals_and_labels_may_not() {
        assert!(is_as(AttributeType::ID, "0a1b", "0A:1B"));
        assert!(is_as(AttributeType::LABEL, "a", "a"));
        assert!(!is_as(AttributeType::LABEL, "a", "A"));
        assert!(!is_as(AttributeType::ID, "0a1b", "0a1"));
        assert!(!is_as(AttributeType::SIGN, "true", "false"));
        assert!(!is_as(AttributeType::SIGN, "absent", "false"));
    }
}
