//! Objects whose first key says which of two forms they have.
//!
//! A request is one item or `items`; a result is an item or an `error`. Serde's own way to tell forms
//! apart copies the whole object first. Here the first key is read, and if it does not decide, it is put
//! back in front of the rest.

use std::borrow::Cow;

use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer, StrDeserializer};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess};

use crate::binary::TextVisitor;

/// A key, borrowed where it can be.
pub(crate) struct Key<'de>(pub(crate) Cow<'de, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor).map(Self)
    }
}

/// An object from which one key has been read already; `None` if there was none.
pub(crate) struct PutBack<'de, A> {
    first: Option<Cow<'de, str>>,
    rest: A,
}

impl<'de, A: MapAccess<'de>> PutBack<'de, A> {
    /// Reads the whole object, the first key included.
    pub(crate) fn read<T: Deserialize<'de>>(
        first: Option<Key<'de>>,
        rest: A,
    ) -> Result<T, A::Error> {
        let first = first.map(|key| key.0);
        T::deserialize(MapAccessDeserializer::new(Self { first, rest }))
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for PutBack<'de, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        match self.first.take() {
            Some(Cow::Borrowed(key)) => seed
                .deserialize(BorrowedStrDeserializer::new(key))
                .map(Some),
            Some(Cow::Owned(key)) => seed.deserialize(StrDeserializer::new(&key)).map(Some),
            None => self.rest.next_key_seed(seed),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.rest.next_value_seed(seed)
    }
}
