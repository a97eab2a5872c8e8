//! JSON as a tree in which no member occurs twice, and which reads as records do.
//!
//! Two members of one name make a text that two readers understand differently, so they are refused. A
//! null stands for a figure that is not there: where a record wants a float it reads as "not a number",
//! which no output prints as a figure, and elsewhere the member counts as absent. Depth is limited by
//! `serde_json`.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{
    self, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};

use crate::plain;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(String),
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
}

impl Tree {
    /// The member of this name, if this is an object with one that is not null.
    pub(crate) fn member(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Map(members) => members
                .iter()
                .find(|(key, value)| key == name && *value != Self::Null)
                .map(|(_, value)| value),
            _ => None,
        }
    }

    /// With every text and name of at most `width` characters.
    pub(crate) fn shortened(self, width: usize) -> Self {
        match self {
            Self::Text(text) => Self::Text(plain::fitted(&text, width)),
            Self::List(list) => {
                Self::List(list.into_iter().map(|one| one.shortened(width)).collect())
            }
            Self::Map(members) => {
                let short = |(name, value): (String, Self)| {
                    (plain::fitted(&name, width), value.shortened(width))
                };
                Self::Map(members.into_iter().map(short).collect())
            }
            other => other,
        }
    }

    /// The text, if this is one.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Unsigned(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Signed(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Tree, E> {
        Ok(Tree::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = from.next_element()? {
            list.push(value);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Tree, A::Error> {
        let mut names = BTreeSet::new();
        let mut members = Vec::new();
        while let Some((name, value)) = from.next_entry::<String, Tree>()? {
            if !names.insert(name.clone()) {
                let name = plain::fitted(&name, 40);
                return Err(de::Error::custom(format_args!(
                    "the member {name:?} occurs twice"
                )));
            }
            members.push((name, value));
        }
        Ok(Tree::Map(members))
    }
}

impl IntoDeserializer<'_, serde_json::Error> for Tree {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Nulls wait for the type that is asked of them; see the module's text.
struct Members(std::vec::IntoIter<(String, Tree)>, Option<Tree>);

impl<'de> MapAccess<'de> for Members {
    type Error = serde_json::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Self::Error> {
        let Some((name, value)) = self.0.next() else {
            return Ok(None);
        };
        self.1 = Some(value);
        seed.deserialize(name.into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, Self::Error> {
        seed.deserialize(self.1.take().unwrap_or(Tree::Null))
    }
}

impl<'de> Deserializer<'de> for Tree {
    type Error = serde_json::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self {
            Self::Null => visitor.visit_unit(),
            Self::Bool(value) => visitor.visit_bool(value),
            Self::Unsigned(value) => visitor.visit_u64(value),
            Self::Signed(value) => visitor.visit_i64(value),
            Self::Float(value) => visitor.visit_f64(value),
            Self::Text(value) => visitor.visit_string(value),
            Self::List(list) => visitor.visit_seq(SeqDeserializer::new(list.into_iter())),
            Self::Map(members) => {
                let there = members
                    .into_iter()
                    .filter(|(_, value)| *value != Self::Null);
                visitor.visit_map(MapDeserializer::new(there))
            }
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self {
            Self::Null => visitor.visit_f64(f64::NAN),
            other => other.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self {
            Self::Null => visitor.visit_none(),
            other => visitor.visit_some(other),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        match self {
            Self::Text(text) => {
                let text: de::value::StringDeserializer<Self::Error> = text.into_deserializer();
                text.deserialize_enum(name, variants, visitor)
            }
            other => other.deserialize_any(visitor),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self {
            Self::Map(members) => visitor.visit_map(Members(members.into_iter(), None)),
            other => other.deserialize_any(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.deserialize_map(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 char str string bytes byte_buf unit
        unit_struct newtype_struct seq tuple tuple_struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Record {
        rate: f64,
        kept: Option<u64>,
        by_name: BTreeMap<String, f64>,
    }

    fn record(text: &str) -> Result<Record, serde_json::Error> {
        Record::deserialize(serde_json::from_str::<Tree>(text)?)
    }

    #[test]
    fn a_null_is_not_a_number_or_nothing_but_never_zero() {
        let read = record(r#"{"rate":null,"kept":null,"by_name":{"a":null,"b":1.5}}"#).unwrap();
        assert!(read.rate.is_nan() && read.by_name["a"].is_nan());
        assert_eq!((read.kept, read.by_name["b"]), (None, 1.5));
    }

    #[test]
    fn a_member_that_occurs_twice_is_refused_at_any_depth() {
        for text in [
            r#"{"a":1,"a":1}"#,
            r#"[{"b":{"c":1,"d":2,"c":3}}]"#,
            r#"{"a":1,"\u0061":2}"#,
        ] {
            let error = serde_json::from_str::<Tree>(text).unwrap_err();
            assert!(error.to_string().contains("occurs twice"), "{error}");
        }
    }

    #[test]
    fn what_is_of_the_wrong_kind_is_refused() {
        for text in [
            r#"{"rate":"1"}"#,
            r#"{"kept":-1}"#,
            r#"{"kept":1.5}"#,
            r#"{"by_name":[]}"#,
            "3",
        ] {
            assert!(record(text).is_err(), "{text}");
        }
    }
}
