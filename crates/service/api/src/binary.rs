//! A binary field: base64 in JSON, decoded only where the bytes are needed; a byte string in CBOR.

use std::borrow::Cow;
use std::fmt;

use keywright_encoding::base64;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{self, Serialize, Serializer};

/// A binary field, borrowed from the body wherever its form allows it.
///
/// It may be a plaintext or a key: it prints its length only, and what it owns is wiped when dropped.
pub struct Binary<'a>(Content<'a>);

enum Content<'a> {
    /// The text of a field in JSON, which need not be base64.
    Base64(Cow<'a, str>),
    Bytes(Cow<'a, [u8]>),
}

impl<'a> Binary<'a> {
    /// The field that holds these bytes. It is put into the form of the body when it is written.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(Content::Bytes(Cow::Borrowed(bytes)))
    }

    /// The field that holds these bytes, as base64 of its own.
    #[must_use]
    pub fn encode(bytes: &[u8]) -> Self {
        Self(Content::Base64(Cow::Owned(base64::encode(bytes))))
    }

    /// The field with this text, which need not be base64.
    #[must_use]
    pub const fn from_text(text: &'a str) -> Self {
        Self(Content::Base64(Cow::Borrowed(text)))
    }

    /// The text in JSON, which need not be base64.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match &self.0 {
            Content::Base64(text) => Cow::Borrowed(text),
            Content::Bytes(bytes) => Cow::Owned(base64::encode(bytes)),
        }
    }

    /// The bytes.
    ///
    /// # Errors
    /// If it is a text that is not standard base64 with padding.
    pub fn decode(&self) -> Result<Vec<u8>, base64::Malformed> {
        match &self.0 {
            Content::Base64(text) => base64::decode(text),
            Content::Bytes(bytes) => Ok(bytes.to_vec()),
        }
    }

    /// Appends the bytes to `out`, which is unchanged on failure.
    ///
    /// # Errors
    /// As [`Self::decode`].
    pub fn decode_into(&self, out: &mut Vec<u8>) -> Result<(), base64::Malformed> {
        match &self.0 {
            Content::Base64(text) => base64::decode_into(text, out),
            Content::Bytes(bytes) => {
                out.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// At least as many bytes as the field can hold, for a limit before decoding.
    #[must_use]
    pub fn bytes_at_most(&self) -> usize {
        match &self.0 {
            Content::Base64(text) => text.len() / 4 * 3,
            Content::Bytes(bytes) => bytes.len(),
        }
    }
}

impl Drop for Binary<'_> {
    fn drop(&mut self) {
        match &mut self.0 {
            Content::Base64(Cow::Owned(text)) => {
                keywright_secret::wipe(&mut std::mem::take(text).into_bytes());
            }
            Content::Bytes(Cow::Owned(bytes)) => keywright_secret::wipe(bytes),
            Content::Base64(Cow::Borrowed(_)) | Content::Bytes(Cow::Borrowed(_)) => {}
        }
    }
}

impl fmt::Debug for Binary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Content::Base64(text) => write!(f, "Binary({} characters)", text.len()),
            Content::Bytes(bytes) => write!(f, "Binary({} bytes)", bytes.len()),
        }
    }
}

impl Serialize for Binary<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (&self.0, serializer.is_human_readable()) {
            (Content::Base64(text), true) => serializer.serialize_str(text),
            (Content::Bytes(bytes), false) => serializer.serialize_bytes(bytes),
            (Content::Bytes(bytes), true) => Binary::encode(bytes).serialize(serializer),
            (Content::Base64(_), false) => {
                let bytes = self.decode().map_err(ser::Error::custom)?;
                Binary(Content::Bytes(Cow::Owned(bytes))).serialize(serializer)
            }
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Binary<'a> {
    #[expect(
        clippy::inline_always,
        reason = "a field that comes back through memory is written in parts and read as a whole, which the processor waits for"
    )]
    #[inline(always)]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let content = match deserializer.is_human_readable() {
            true => deserializer
                .deserialize_str(TextVisitor)
                .map(Content::Base64),
            false => deserializer
                .deserialize_bytes(BytesVisitor)
                .map(Content::Bytes),
        };
        content.map(Self)
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

/// The same for bytes; a text is none.
struct BytesVisitor;

impl<'de> Visitor<'de> for BytesVisitor {
    type Value = Cow<'de, [u8]>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_borrowed_bytes<E: de::Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(bytes))
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(Cow::Owned(bytes.to_vec()))
    }

    fn visit_byte_buf<E: de::Error>(self, bytes: Vec<u8>) -> Result<Self::Value, E> {
        Ok(Cow::Owned(bytes))
    }
}

impl JsonSchema for Binary<'_> {
    fn schema_name() -> Cow<'static, str> {
        "Binary".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "Standard base64 with padding (RFC 4648 section 4); a byte string in application/cbor.",
            "contentEncoding": "base64",
            "pattern": "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
        })
    }
}
