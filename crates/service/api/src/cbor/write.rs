//! Writing: a buffer that puts heads before what they announce, and a serde serializer over it.

use serde::ser::{Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct, Serializer};

use super::{FALSE, Major, Malformed, NULL, TRUE, Truth};

/// CBOR under construction. It may hold plaintext and keys: what it leaves behind when it moves to a wider place, or
/// when it is dropped unfinished, is wiped.
pub(crate) struct Buffer(Vec<u8>);

impl Buffer {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    /// Makes room. A buffer that moves wipes the place it leaves.
    #[inline]
    pub(crate) fn reserve(&mut self, more: usize) {
        if self.0.capacity() - self.0.len() < more {
            self.move_to_wider(more);
        }
    }

    #[cold]
    fn move_to_wider(&mut self, more: usize) {
        let mut wider = Vec::with_capacity((self.0.len() + more).max(self.0.capacity() * 2));
        wider.extend_from_slice(&self.0);
        keywright_secret::wipe(&mut std::mem::replace(&mut self.0, wider));
    }

    pub(crate) fn map(&mut self, members: usize) {
        self.head(Major::Map, members as u64);
    }

    pub(crate) fn array(&mut self, items: usize) {
        self.head(Major::Array, items as u64);
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.string(Major::Bytes, bytes);
    }

    #[inline]
    pub(crate) fn text(&mut self, text: &str) {
        self.string(Major::Text, text.as_bytes());
    }

    pub(crate) fn number(&mut self, number: u64) {
        self.head(Major::Number, number);
    }

    pub(crate) fn truth(&mut self, truth: Truth) {
        self.reserve(1);
        self.0.push(match truth {
            Truth::False => FALSE,
            Truth::True => TRUE,
        });
    }

    /// Bytes that are CBOR already.
    pub(crate) fn written(&mut self, bytes: &[u8]) {
        self.reserve(bytes.len());
        self.0.extend_from_slice(bytes);
    }

    /// What was written from this place on.
    pub(crate) fn since(&self, place: usize) -> &[u8] {
        self.0.get(place..).unwrap_or_default()
    }

    pub(crate) const fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
    }

    #[inline]
    fn string(&mut self, major: Major, bytes: &[u8]) {
        self.reserve(bytes.len() + LONGEST_HEAD);
        self.head(major, bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// The shortest head of a number (RFC 8949, section 4.1). That of a name is known when this is compiled.
    #[inline]
    fn head(&mut self, major: Major, argument: u64) {
        match u8::try_from(argument) {
            Ok(small @ 0..=23) => {
                self.reserve(1);
                self.0.push(major as u8 | small);
            }
            _ => self.longer_head(major as u8, argument),
        }
    }

    fn longer_head(&mut self, major: u8, argument: u64) {
        self.reserve(LONGEST_HEAD);
        if let Ok(byte) = u8::try_from(argument) {
            self.0.extend_from_slice(&[major | 24, byte]);
        } else if let Ok(short) = u16::try_from(argument) {
            self.0.push(major | 25);
            self.0.extend_from_slice(&short.to_be_bytes());
        } else if let Ok(word) = u32::try_from(argument) {
            self.0.push(major | 26);
            self.0.extend_from_slice(&word.to_be_bytes());
        } else {
            self.0.push(major | 27);
            self.0.extend_from_slice(&argument.to_be_bytes());
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        keywright_secret::wipe(&mut self.0);
    }
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer({} bytes)", self.0.len())
    }
}

const LONGEST_HEAD: usize = 9;

impl<'b> Serializer for &'b mut Buffer {
    type Ok = ();
    type Error = Malformed;
    type SerializeSeq = &'b mut Buffer;
    type SerializeMap = &'b mut Buffer;
    type SerializeStruct = &'b mut Buffer;
    type SerializeTuple = Impossible<(), Malformed>;
    type SerializeTupleStruct = Impossible<(), Malformed>;
    type SerializeTupleVariant = Impossible<(), Malformed>;
    type SerializeStructVariant = Impossible<(), Malformed>;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_bool(self, value: bool) -> Result<(), Malformed> {
        self.truth(value.into());
        Ok(())
    }

    fn serialize_u8(self, value: u8) -> Result<(), Malformed> {
        self.serialize_u64(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<(), Malformed> {
        self.serialize_u64(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<(), Malformed> {
        self.serialize_u64(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<(), Malformed> {
        self.number(value);
        Ok(())
    }

    fn serialize_str(self, text: &str) -> Result<(), Malformed> {
        self.text(text);
        Ok(())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), Malformed> {
        self.bytes(bytes);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Malformed> {
        self.reserve(1);
        self.0.push(NULL);
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Malformed> {
        value.serialize(self)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        word: &'static str,
    ) -> Result<(), Malformed> {
        self.serialize_str(word)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Malformed> {
        value.serialize(self)
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self, Malformed> {
        self.array(length.ok_or(Malformed)?);
        Ok(self)
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Self, Malformed> {
        self.map(length.ok_or(Malformed)?);
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, members: usize) -> Result<Self, Malformed> {
        self.map(members);
        Ok(self)
    }

    // What no body has.

    fn serialize_i8(self, _: i8) -> Result<(), Malformed> {
        Err(Malformed)
    }

    fn serialize_i16(self, _: i16) -> Result<(), Malformed> {
        Err(Malformed)
    }

    fn serialize_i32(self, _: i32) -> Result<(), Malformed> {
        Err(Malformed)
    }

    fn serialize_i64(self, _: i64) -> Result<(), Malformed> {
        Err(Malformed)
    }

    fn serialize_f32(self, _: f32) -> Result<(), Malformed> {
        Err(Malformed)
    }

    fn serialize_f64(self, _: f64) -> Result<(), Malformed> {
        Err(Malformed)
    }

    fn serialize_char(self, _: char) -> Result<(), Malformed> {
        Err(Malformed)
    }

    fn serialize_unit(self) -> Result<(), Malformed> {
        Err(Malformed)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Malformed> {
        Err(Malformed)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), Malformed> {
        Err(Malformed)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Malformed> {
        Err(Malformed)
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, Malformed> {
        Err(Malformed)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Malformed> {
        Err(Malformed)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Malformed> {
        Err(Malformed)
    }
}

impl SerializeSeq for &mut Buffer {
    type Ok = ();
    type Error = Malformed;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Malformed> {
        value.serialize(&mut **self)
    }

    fn end(self) -> Result<(), Malformed> {
        Ok(())
    }
}

impl SerializeMap for &mut Buffer {
    type Ok = ();
    type Error = Malformed;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, name: &T) -> Result<(), Malformed> {
        name.serialize(&mut **self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Malformed> {
        value.serialize(&mut **self)
    }

    fn end(self) -> Result<(), Malformed> {
        Ok(())
    }
}

impl SerializeStruct for &mut Buffer {
    type Ok = ();
    type Error = Malformed;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Malformed> {
        self.text(name);
        value.serialize(&mut **self)
    }

    fn end(self) -> Result<(), Malformed> {
        Ok(())
    }
}
