//! A binary field: base64 in the JSON, decoded only where the bytes are needed.

use std::borrow::Cow;
use std::fmt;

use keywright_encoding::base64;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};

/// The text of a binary field, borrowed from the body wherever JSON allows it.
///
/// It may be a plaintext or a key: it prints its length only, and a copy that JSON's escapes forced is
/// wiped when dropped.
pub struct Binary<'a>(Cow<'a, str>);

impl<'a> Binary<'a> {
    /// The field that holds these bytes.
    #[must_use]
    pub fn encode(bytes: &[u8]) -> Self {
        Self(Cow::Owned(base64::encode(bytes)))
    }

    /// The field with this text, which need not be base64.
    #[must_use]
    pub const fn from_text(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }

    /// The text, which need not be base64.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The bytes.
    ///
    /// # Errors
    /// If the text is not standard base64 with padding.
    pub fn decode(&self) -> Result<Vec<u8>, base64::Malformed> {
        base64::decode(&self.0)
    }

    /// Appends the bytes to `out`, which is unchanged on failure.
    ///
    /// # Errors
    /// As [`Self::decode`].
    pub fn decode_into(&self, out: &mut Vec<u8>) -> Result<(), base64::Malformed> {
        base64::decode_into(&self.0, out)
    }

    /// At least as many bytes as the text can hold, for a limit before decoding.
    #[must_use]
    pub fn bytes_at_most(&self) -> usize {
        self.0.len() / 4 * 3
    }
}

impl Drop for Binary<'_> {
    fn drop(&mut self) {
        if let Cow::Owned(text) = &mut self.0 {
            keywright_secret::wipe(&mut std::mem::take(text).into_bytes());
        }
    }
}

impl fmt::Debug for Binary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Binary({} characters)", self.0.len())
    }
}

impl Serialize for Binary<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Binary<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor).map(Self)
    }
}

/// Borrows where serde's own `Cow` would copy: inside an `Option`, a list, or a key.
pub(crate) struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text")
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text))
    }
}

impl JsonSchema for Binary<'_> {
    fn schema_name() -> Cow<'static, str> {
        "Binary".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "Standard base64 with padding (RFC 4648 section 4).",
            "contentEncoding": "base64",
            "pattern": "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
        })
    }
}
