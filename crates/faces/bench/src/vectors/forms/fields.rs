//! One JSON object, read field by field: a field of another type is an error and never a default.

use std::rc::Rc;

use keywright_encoding::hex;
use keywright_fpe::{Alphabet, Error};
use serde_json::{Map, Value as Json};

use super::super::case::Value;

/// Why a file is not what it begins as.
#[derive(Debug, thiserror::Error)]
pub(super) enum Wrong {
    /// An alphabet that is none.
    #[error("{case}: {error}")]
    Alphabet {
        /// The case.
        case: String,
        /// Why.
        error: Error,
    },
    /// Another number of cases than it says.
    #[error("it says that it has {declared} cases and has {found}")]
    Count {
        /// What it says.
        declared: u64,
        /// What it has.
        found: u64,
    },
    /// A field is absent or of another type.
    #[error("{case}: {field} is missing or not what it has to be")]
    Field {
        /// The case.
        case: String,
        /// The field.
        field: String,
    },
    /// Neither the file nor its folder says which mode it is for.
    #[error("neither the file nor its folder says whether it is for FF1, FF3 or FF3-1")]
    Mode,
    /// Not JSON.
    #[error("it is not JSON")]
    NotJson,
    /// More than is read.
    #[error("it is larger than 256 MiB")]
    TooLarge,
}

/// An object with a name for messages.
pub(super) struct Fields<'a> {
    name: String,
    map: &'a Map<String, Json>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(name: impl Into<String>, json: &'a Json) -> Result<Self, Wrong> {
        let name = name.into();
        match json.as_object() {
            Some(map) => Ok(Self { name, map }),
            None => Err(field(&name, "the case itself")),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.map.contains_key(name)
    }

    pub(super) fn wrong(&self, name: &str) -> Wrong {
        field(&self.name, name)
    }

    pub(super) fn json(&self, name: &str) -> Result<&'a Json, Wrong> {
        self.map.get(name).ok_or_else(|| self.wrong(name))
    }

    pub(super) fn text(&self, name: &str) -> Result<&'a str, Wrong> {
        self.json(name)?.as_str().ok_or_else(|| self.wrong(name))
    }

    /// Hexadecimal digits of either case.
    pub(super) fn hex(&self, name: &str) -> Result<Vec<u8>, Wrong> {
        unhex(self.text(name)?).ok_or_else(|| self.wrong(name))
    }

    pub(super) fn number(&self, name: &str) -> Result<u64, Wrong> {
        self.json(name)?.as_u64().ok_or_else(|| self.wrong(name))
    }

    pub(super) fn radix(&self, name: &str) -> Result<u32, Wrong> {
        u32::try_from(self.number(name)?).map_err(|_| self.wrong(name))
    }

    pub(super) fn truth(&self, name: &str) -> Result<bool, Wrong> {
        self.json(name)?.as_bool().ok_or_else(|| self.wrong(name))
    }

    /// A list of objects, each named after this one and its place.
    pub(super) fn list(&self, name: &str) -> Result<Vec<Self>, Wrong> {
        let items = self
            .json(name)?
            .as_array()
            .ok_or_else(|| self.wrong(name))?;
        let named = items.iter().enumerate();
        named
            .map(|(place, item)| Self::new(format!("{}/{name}/{place}", self.name), item))
            .collect()
    }

    /// The same object under another name.
    pub(super) fn called(self, name: String) -> Self {
        Self { name, ..self }
    }

    /// A list of digits, of which none need lie below the radix.
    pub(super) fn digits(&self, name: &str) -> Result<Value, Wrong> {
        let items = self
            .json(name)?
            .as_array()
            .ok_or_else(|| self.wrong(name))?;
        let mut digits = Vec::with_capacity(items.len());
        for item in items {
            let Some(number) = item.as_i64() else {
                return Err(self.wrong(name));
            };
            match u32::try_from(number) {
                Ok(digit) => digits.push(digit),
                Err(_) => return Ok(Value::Never),
            }
        }
        Ok(Value::Digits(digits))
    }

    /// An alphabet of its symbols in order.
    pub(super) fn alphabet(&self, name: &str) -> Result<Rc<Alphabet>, Wrong> {
        alphabet(&self.name, self.text(name)?)
    }
}

pub(super) fn alphabet(case: &str, symbols: &str) -> Result<Rc<Alphabet>, Wrong> {
    let made = Alphabet::new(symbols).map_err(|error| Wrong::Alphabet {
        case: case.to_owned(),
        error,
    });
    made.map(Rc::new)
}

pub(super) fn field(case: &str, field: &str) -> Wrong {
    Wrong::Field {
        case: case.to_owned(),
        field: field.to_owned(),
    }
}

pub(super) fn unhex(text: &str) -> Option<Vec<u8>> {
    hex::decode(&text.to_ascii_lowercase()).ok()
}
