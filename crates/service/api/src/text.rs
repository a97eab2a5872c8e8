//! A text field that may be personal data: a value to make a token of, a token, a cell of another column.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::binary::TextVisitor;

/// A text, borrowed from the body wherever JSON allows it.
///
/// It prints its length only, and a copy that JSON's escapes forced is wiped when dropped.
pub struct Text<'a>(Cow<'a, str>);

impl<'a> Text<'a> {
    /// The field with this text.
    #[must_use]
    pub const fn new(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }

    /// The text.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl Drop for Text<'_> {
    fn drop(&mut self) {
        if let Cow::Owned(text) = &mut self.0 {
            keywright_secret::wipe(&mut std::mem::take(text).into_bytes());
        }
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Text({} bytes)", self.0.len())
    }
}

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor).map(Self)
    }
}

impl JsonSchema for Text<'_> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Text".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

/// Cells of other columns, each under its column's name; no name twice.
#[derive(Debug, Default)]
pub struct Tweak<'a>(Vec<(Text<'a>, Text<'a>)>);

impl<'a> Tweak<'a> {
    /// These cells.
    #[must_use]
    pub const fn new(cells: Vec<(Text<'a>, Text<'a>)>) -> Self {
        Self(cells)
    }

    /// The cells: name and text of each.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, cell)| (name.expose(), cell.expose()))
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Tweak<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, cell) in &self.0 {
            map.serialize_entry(name, cell)?;
        }
        map.end()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Tweak<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Cells;

        impl<'de> Visitor<'de> for Cells {
            type Value = Vec<(Text<'de>, Text<'de>)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut cells: Self::Value = Vec::new();
                while let Some((name, cell)) = map.next_entry::<Text<'de>, Text<'de>>()? {
                    let twice = cells.iter().any(|(other, _)| other.0 == name.0);
                    if twice || cells.len() >= MOST {
                        return Err(de::Error::custom("a column twice, or too many"));
                    }
                    cells.push((name, cell));
                }
                Ok(cells)
            }
        }

        deserializer.deserialize_map(Cells).map(Self)
    }
}

impl JsonSchema for Tweak<'_> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Tweak".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": { "type": "string" } })
    }
}

/// The most columns of one tweak.
const MOST: usize = 64;
