//! Reading: a serde deserializer that borrows from the body and accepts one spelling of everything.

use keywright_encoding::Reader as Cursor;
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::{FALSE, Major, Malformed, NULL, TRUE};

/// A body that is being read.
pub(super) struct Reader<'de> {
    cursor: Cursor<'de>,
    /// Bytes of the whole.
    length: usize,
    /// Where the item begins that was looked at last.
    at: usize,
    /// Arrays and maps around the next item.
    depth: u8,
}

/// An item; of an array or a map its head, which says how many follow.
enum Head<'de> {
    Array(u64),
    Bool(bool),
    Bytes(&'de [u8]),
    Map(u64),
    Null,
    Number(u64),
    Text(&'de str),
}

/// A request has an item in a list in a map, and a map in it; answers of a newer service may have more.
const DEEPEST: u8 = 16;

impl<'de> Reader<'de> {
    pub(super) const fn new(bytes: &'de [u8]) -> Self {
        Self {
            cursor: Cursor::new(bytes),
            length: bytes.len(),
            at: 0,
            depth: 0,
        }
    }

    /// Where the item begins that could not be read.
    pub(super) const fn offset(&self) -> usize {
        self.at
    }

    /// One item, and nothing behind it.
    pub(super) fn whole<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, Malformed> {
        let value = seed.deserialize(&mut *self)?;
        self.at = self.position();
        match self.cursor.is_empty() {
            true => Ok(value),
            false => Err(Malformed),
        }
    }

    const fn position(&self) -> usize {
        self.length - self.cursor.rest().len()
    }

    fn head(&mut self) -> Result<Head<'de>, Malformed> {
        const NUMBER: u8 = Major::Number as u8;
        const BYTES: u8 = Major::Bytes as u8;
        const TEXT: u8 = Major::Text as u8;
        const ARRAY: u8 = Major::Array as u8;
        const MAP: u8 = Major::Map as u8;

        self.at = self.position();
        let first = self.cursor.u8()?;
        match first {
            FALSE => return Ok(Head::Bool(false)),
            TRUE => return Ok(Head::Bool(true)),
            NULL => return Ok(Head::Null),
            _ => {}
        }
        let argument = self.argument(first & 0x1F)?;
        match first & 0xE0 {
            NUMBER => Ok(Head::Number(argument)),
            BYTES => self.string(argument).map(Head::Bytes),
            TEXT => {
                let text = self.string(argument)?;
                let text = std::str::from_utf8(text).map_err(|_| Malformed)?;
                Ok(Head::Text(text))
            }
            ARRAY => Ok(Head::Array(argument)),
            MAP => Ok(Head::Map(argument)),
            // Negative numbers, tags, floating-point numbers, and simple values that no member takes.
            _ => Err(Malformed),
        }
    }

    /// RFC 8949, section 3: the number itself, or how many bytes of it follow. Never more of them than it needs.
    #[inline]
    fn argument(&mut self, additional: u8) -> Result<u64, Malformed> {
        let (argument, least) = match additional {
            0..=23 => (u64::from(additional), 0),
            24 => (u64::from(self.cursor.u8()?), 24),
            25 => (u64::from(self.cursor.u16()?), 1 << 8),
            26 => (u64::from(self.cursor.u32()?), 1 << 16),
            27 => (self.cursor.u64()?, 1 << 32),
            // 28 to 30 mean nothing yet, 31 is an indefinite length.
            _ => return Err(Malformed),
        };
        match argument >= least {
            true => Ok(argument),
            false => Err(Malformed),
        }
    }

    fn string(&mut self, length: u64) -> Result<&'de [u8], Malformed> {
        let length = usize::try_from(length).map_err(|_| Malformed)?;
        Ok(self.cursor.take(length)?)
    }

    /// The argument of a head that has to be of this kind. Nearly every item of a body is of a kind that is known
    /// before it is read, which spares the way through [`Head`].
    #[inline]
    fn head_of(&mut self, major: Major) -> Result<u64, Malformed> {
        self.at = self.position();
        let first = self.cursor.u8()?;
        if first & 0xE0 != major as u8 {
            return Err(Malformed);
        }
        self.argument(first & 0x1F)
    }

    /// The bytes of a text, which need not be one.
    #[inline]
    fn raw_text(&mut self) -> Result<&'de [u8], Malformed> {
        let length = self.head_of(Major::Text)?;
        self.string(length)
    }

    fn text(&mut self) -> Result<&'de str, Malformed> {
        std::str::from_utf8(self.raw_text()?).map_err(|_| Malformed)
    }

    #[inline]
    fn bytes(&mut self) -> Result<&'de [u8], Malformed> {
        let length = self.head_of(Major::Bytes)?;
        self.string(length)
    }

    /// What stands in an array or a map; all of it must be wanted.
    fn inside<T>(
        &mut self,
        count: u64,
        read: impl FnOnce(&mut Inside<'_, 'de>) -> Result<T, Malformed>,
    ) -> Result<T, Malformed> {
        if self.depth >= DEEPEST {
            return Err(Malformed);
        }
        self.depth += 1;
        let mut inside = Inside {
            reader: self,
            left: count,
        };
        let read = read(&mut inside)?;
        if inside.left > 0 {
            return Err(Malformed);
        }
        self.depth -= 1;
        Ok(read)
    }

    fn map<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Malformed> {
        let count = self.head_of(Major::Map)?;
        self.inside(count, |inside| visitor.visit_map(inside))
    }
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Malformed;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Malformed> {
        match self.head()? {
            Head::Array(count) => self.inside(count, |inside| visitor.visit_seq(inside)),
            Head::Bool(value) => visitor.visit_bool(value),
            Head::Bytes(bytes) => visitor.visit_borrowed_bytes(bytes),
            Head::Map(count) => self.inside(count, |inside| visitor.visit_map(inside)),
            Head::Null => visitor.visit_unit(),
            Head::Number(number) => visitor.visit_u64(number),
            Head::Text(text) => visitor.visit_borrowed_str(text),
        }
    }

    // Visitors of serde take bytes for texts, and lists for what has names.

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Malformed> {
        visitor.visit_borrowed_bytes(self.bytes()?)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Malformed> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Malformed> {
        visitor.visit_borrowed_str(self.text()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Malformed> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Malformed> {
        self.deserialize_str(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Malformed> {
        self.map(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Malformed> {
        self.map(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Malformed> {
        if self.cursor.rest().first() == Some(&NULL) {
            self.head()?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Malformed> {
        visitor.visit_newtype_struct(self)
    }

    /// Words of a closed set are texts.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Malformed> {
        visitor.visit_enum(StrDeserializer::new(self.text()?))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char
        unit unit_struct seq tuple tuple_struct ignored_any
    }
}

/// What is left of an array or a map.
struct Inside<'r, 'de> {
    reader: &'r mut Reader<'de>,
    left: u64,
}

impl Inside<'_, '_> {
    /// Whether there is one more, which is taken.
    const fn another(&mut self) -> bool {
        let more = self.left > 0;
        self.left -= more as u64;
        more
    }

    /// No more than can follow: a head is believed in nothing that takes memory.
    fn hint(&self) -> usize {
        let bytes = self.reader.cursor.rest().len();
        usize::try_from(self.left).map_or(bytes, |left| left.min(bytes))
    }
}

impl<'de> SeqAccess<'de> for &mut Inside<'_, 'de> {
    type Error = Malformed;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Malformed> {
        match self.another() {
            true => seed.deserialize(&mut *self.reader).map(Some),
            false => Ok(None),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.hint())
    }
}

impl<'de> MapAccess<'de> for &mut Inside<'_, 'de> {
    type Error = Malformed;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Malformed> {
        match self.another() {
            true => seed.deserialize(Name(&mut *self.reader)).map(Some),
            false => Ok(None),
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Malformed> {
        seed.deserialize(&mut *self.reader)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.hint())
    }
}

/// The name of a member, which is a text.
struct Name<'r, 'de>(&'r mut Reader<'de>);

impl<'de> Deserializer<'de> for Name<'_, 'de> {
    type Error = Malformed;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Malformed> {
        visitor.visit_borrowed_str(self.0.text()?)
    }

    /// As bytes, which is how a known name is compared. That it is a text shows soonest in ASCII, which all known names
    /// are.
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Malformed> {
        let name = self.0.raw_text()?;
        match name.is_ascii() || std::str::from_utf8(name).is_ok() {
            true => visitor.visit_borrowed_bytes(name),
            false => Err(Malformed),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum ignored_any
    }
}
