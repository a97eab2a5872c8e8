//! One JSON object of a vector file, read field by field.

use std::io::Read;

use keywright_encoding::hex;
use serde_json::{Map, Value};

use crate::Error;

/// A JSON object with a name for messages.
#[derive(Clone, Debug)]
pub struct Record {
    name: String,
    fields: Map<String, Value>,
}

impl Record {
    /// Takes an object.
    ///
    /// # Errors
    /// [`Error::Shape`] if the value is none.
    pub fn new(name: impl Into<String>, value: &Value) -> Result<Self, Error> {
        let name = name.into();
        match value.as_object() {
            Some(fields) => Ok(Self {
                name,
                fields: fields.clone(),
            }),
            None => Err(shape(&name, "(the case itself)")),
        }
    }

    /// The same fields under another name.
    #[must_use]
    pub fn renamed(self, name: String) -> Self {
        Self { name, ..self }
    }

    /// What the case is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A field as it stands, if it is there.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Value> {
        self.fields.get(name)
    }

    /// A field of text.
    ///
    /// # Errors
    /// [`Error::Shape`] if it is absent or of another type; so for the other readers.
    pub fn text(&self, name: &str) -> Result<&str, Error> {
        self.need(name, Value::as_str)
    }

    /// A field of hexadecimal bytes.
    ///
    /// # Errors
    /// As [`Record::text`].
    pub fn hex(&self, name: &str) -> Result<Vec<u8>, Error> {
        hex::decode(self.text(name)?).map_err(|_| shape(&self.name, name))
    }

    /// A field of exactly `N` hexadecimal bytes.
    ///
    /// # Errors
    /// As [`Record::text`].
    pub fn array<const N: usize>(&self, name: &str) -> Result<[u8; N], Error> {
        hex::decode_array(self.text(name)?).map_err(|_| shape(&self.name, name))
    }

    /// A field that is a number which fits `T`.
    ///
    /// # Errors
    /// As [`Record::text`].
    pub fn number<T: TryFrom<u64>>(&self, name: &str) -> Result<T, Error> {
        self.need(name, |value| {
            value.as_u64().and_then(|number| T::try_from(number).ok())
        })
    }

    /// A field that is true or false.
    ///
    /// # Errors
    /// As [`Record::text`].
    pub fn truth(&self, name: &str) -> Result<bool, Error> {
        self.need(name, Value::as_bool)
    }

    /// A field that is a list of objects.
    ///
    /// # Errors
    /// As [`Record::text`].
    pub fn list(&self, name: &str) -> Result<Vec<Self>, Error> {
        let items = self.need(name, Value::as_array)?;
        let named = (0_usize..).zip(items);
        named
            .map(|(index, item)| Self::new(format!("{}/{name}/{index}", self.name), item))
            .collect()
    }

    /// A field that is an object.
    ///
    /// # Errors
    /// As [`Record::text`].
    pub fn object(&self, name: &str) -> Result<Self, Error> {
        let value = self.need(name, Some)?;
        Self::new(format!("{}/{name}", self.name), value)
    }

    fn need<'a, T>(
        &'a self,
        name: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<T, Error> {
        self.fields
            .get(name)
            .and_then(read)
            .ok_or_else(|| shape(&self.name, name))
    }
}

/// Undoes the zlib compression that some files use for long ciphertexts.
///
/// # Errors
/// What the decoder says; also if the result is longer than 64 MiB.
pub fn inflate(compressed: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut out = Vec::new();
    let limit = 64 << 20;
    let decoder = flate2::read::ZlibDecoder::new(compressed);
    decoder.take(limit + 1).read_to_end(&mut out)?;
    match u64::try_from(out.len()) {
        Ok(length) if length <= limit => Ok(out),
        _ => Err(std::io::ErrorKind::FileTooLarge.into()),
    }
}

pub(crate) fn shape(case: &str, field: &str) -> Error {
    Error::Shape {
        case: case.to_owned(),
        field: field.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_field_of_another_type_is_an_error_and_never_a_default() {
        let value =
            json!({"text": "AB", "hex": "ab", "number": 300, "list": [1], "nested": {"x": true}});
        let record = Record::new("case", &value).unwrap();
        assert_eq!(record.hex("hex").unwrap(), [0xAB]);
        assert_eq!(record.number::<u16>("number").unwrap(), 300);
        assert!(record.object("nested").unwrap().truth("x").unwrap());
        assert!(record.hex("text").is_err(), "upper case");
        assert!(record.array::<2>("hex").is_err());
        assert!(record.number::<u8>("number").is_err());
        assert!(record.list("list").is_err());
        assert!(record.text("absent").is_err());
        assert!(Record::new("case", &json!(1)).is_err());
    }

    #[test]
    fn what_is_not_zlib_is_an_error() {
        assert!(inflate(b"no zlib").is_err());
    }
}
